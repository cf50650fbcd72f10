/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "odd.h"
#include "refused_edit.h"

static const char bone01[] =
	"{\n"
	"  \"format\": \"animfs.bone/1\",\n"
	"  \"file\": \"wiki512.canm\", \"clip\": \"walk\", \"bone\": \"Bone01\", \"name\": "
	"\"Bone01\",\n"
	"  \"parent\": null, \"space\": \"parent\", \"seconds_per_frame\": 0.033333,\n"
	"  \"channels\": {\n"
	"    \"translation\": { \"unit\": \"m\", \"interpolation\": \"linear\", \"static\": true, "
	"\"keys\": [\n"
	"      {\"frame\": 0, \"time\": 0, \"value\": [1.5, -2, 0.25]}\n"
	"    ]},\n"
	"    \"rotation\": { \"unit\": \"degree\", \"order\": \"XYZ\", \"interpolation\": "
	"\"linear\", "
	"\"static\": false, \"keys\": [\n"
	"      {\"frame\": 0, \"time\": 0, \"value\": [-180, 5.729578, 11.460703]},\n"
	"      {\"frame\": 1, \"time\": 0.033333, \"value\": [-60.000002, 5.729578, 11.460875]},\n"
	"      {\"frame\": 2, \"time\": 0.066667, \"value\": [180, 5.729578, 22.723793]}\n"
	"    ]},\n"
	"    \"scale\": { \"unit\": \"1\", \"interpolation\": \"linear\", \"static\": false, "
	"\"keys\": [\n"
	"      {\"frame\": 0, \"time\": 0, \"value\": [1, 1, 1]},\n"
	"      {\"frame\": 1, \"time\": 0.033333, \"value\": [1.5, 1.5, 1.5]},\n"
	"      {\"frame\": 2, \"time\": 0.066667, \"value\": [1.0000076, 1.0000153, 1.0000229]}\n"
	"    ]}\n"
	"  }\n"
	"}\n";

static struct sample s;
static struct shown at;

static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, "Bone01");
}

static void teardown(void)
{
	sample_close(&s);
}

static void switch_to(const char *name, uint32_t clip, const char *bone)
{
	sample_close(&s);
	s = sample_open(name);
	at = sample_shown(&s, clip, bone);
}

static const struct curve *curve_of(const struct anim *a, enum role role)
{
	return a->clips[at.clip].tracks[at.track].curve[role];
}

static const struct curve *old_curve(enum role role)
{
	return curve_of(s.anim, role);
}

static void refused(const char *was, const char *is, enum err_code code, size_t line, size_t column,
		    const char *words)
{
	view_edit_refused(&view_bone_json, &at, was, is, code, line, column, words);
}

/* ---- render ---- */

START_TEST(a_bone_is_shown_a_key_a_line)
{
	struct buf text = view_text(&view_bone_json, &at);

	ck_assert_str_eq((const char *)text.data, bone01);
	buf_release(&text);
}
END_TEST

START_TEST(a_bone_without_curves_has_no_channels)
{
	struct buf text;

	at = sample_shown(&s, 0, "\xE5\x8F\xB3\xE6\x89\x8B");
	text = view_text(&view_bone_json, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "  \"channels\": {}\n}\n"));
	buf_release(&text);
}
END_TEST

START_TEST(quaternions_have_four_components)
{
	struct buf text;

	switch_to("edf6_768.canm", 0, "body");
	text = view_text(&view_bone_json, &at);
	ck_assert_ptr_nonnull(
		strstr((const char *)text.data,
		       "\"rotation\": { \"unit\": \"quaternion\", \"order\": \"XYZW\", "
		       "\"interpolation\": \"linear\", \"static\": false, \"keys\": [\n"
		       "      {\"frame\": 0, \"time\": 0, \"value\": [0, 0, 0, 1]},\n"
		       "      {\"frame\": 1, \"time\": 0.016667, \"value\": "
		       "[0, 0.70710677, 0, 0.70710677]}\n"));
	buf_release(&text);
}
END_TEST

START_TEST(a_rotation_says_in_which_form_it_is)
{
	struct anim *edited;

	switch_to("edf6_768.canm", 0, "body");
	s.anim->rotations = ROTATIONS_EULER;
	edited = view_edit_ok(&view_bone_json, &at,
			      "\"rotation\": { \"unit\": \"degree\", \"order\": \"XYZ\", ",
			      "\"rotation\": { ");
	ck_assert_ptr_eq(curve_of(edited, ROLE_ROTATION), old_curve(ROLE_ROTATION));
	anim_free(edited);
	edited = view_edit_ok(&view_bone_json, &at, "[0, 90, 0]", "[0, 0, 180]");
	ck_assert(curve_of(edited, ROLE_ROTATION)->kind == CURVE_QUATERNION);
	ck_assert(curve_value(curve_of(edited, ROLE_ROTATION), 1, 2) == 1);
	anim_free(edited);
}
END_TEST

/* ---- edits ---- */

START_TEST(a_changed_value_changes_its_curve_alone)
{
	struct anim *edited =
		view_edit_ok(&view_bone_json, &at, "[1.5, 1.5, 1.5]", "[1.25, 1.5, 1.5]");
	const struct curve *scale = curve_of(edited, ROLE_SCALE);

	ck_assert_ptr_eq(curve_of(edited, ROLE_TRANSLATION), old_curve(ROLE_TRANSLATION));
	ck_assert_ptr_eq(curve_of(edited, ROLE_ROTATION), old_curve(ROLE_ROTATION));
	ck_assert_ptr_ne(scale, old_curve(ROLE_SCALE));
	ck_assert_uint_eq(scale->count, 3);
	ck_assert_double_eq(curve_value(scale, 1, 0), 1.25);
	for (uint32_t key = 0; key < 3; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			if (key != 1 || axis != 0)
				ck_assert(f64_same(curve_value(scale, key, axis),
						   curve_value(old_curve(ROLE_SCALE), key, axis)));
	for (uint32_t i = 1; i < s.anim->clip_count; i++)
		ck_assert(clip_same(&edited->clips[i], &s.anim->clips[i]));
	anim_free(edited);
}
END_TEST

START_TEST(text_written_by_others_is_the_same_text)
{
	static const char other[] =
		"{\"channels\":{\"scale\":{\"keys\":[{\"value\":[1.0000076,1.0000153,1.0000229],"
		"\"frame\":2},{\"frame\":0.0,\"value\":[1.0,1e0,1]},{\"frame\":1,\"value\":"
		"[1.5,1.5,1.5]}]},\"translation\":{\"keys\":[{\"frame\":0,\"value\":[1.5,-2.0,0."
		"250]}]"
		"},\"rotation\":{\"keys\":[{\"frame\":0,\"value\":[-180,5.729578,11.460703]},{"
		"\"frame\""
		":1,\"value\":[-60.000002,5.729578,11.460875]},{\"frame\":2,\"value\":[180,5."
		"729578,"
		"22.723793]}]}}}";
	struct err err = {0};
	struct anim *edited = view_bone_json.parse(&at, bytes_of(other), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

static const struct {
	const char *was, *is;
} removals[] = {
	{"[\n      {\"frame\": 0, \"time\": 0, \"value\": [1.5, -2, 0.25]}\n    ]", "[]"},
	{"\"translation\": { \"unit\": \"m\", \"interpolation\": \"linear\", \"static\": true, "
	 "\"keys\": [\n      {\"frame\": 0, \"time\": 0, \"value\": [1.5, -2, 0.25]}\n    ]},\n",
	 ""},
};

START_TEST(a_role_without_keys_goes)
{
	struct anim *edited = view_edit_ok(&view_bone_json, &at, removals[_i].was, removals[_i].is);

	ck_assert_ptr_null(curve_of(edited, ROLE_TRANSLATION));
	ck_assert_ptr_eq(curve_of(edited, ROLE_ROTATION), old_curve(ROLE_ROTATION));
	ck_assert_ptr_eq(curve_of(edited, ROLE_SCALE), old_curve(ROLE_SCALE));
	anim_free(edited);
}
END_TEST

START_TEST(a_new_member_is_a_new_role)
{
	struct anim *edited;
	const struct curve *scale;

	at = sample_shown(&s, 0, "hip");
	ck_assert_ptr_null(old_curve(ROLE_SCALE));
	edited = view_edit_ok(&view_bone_json, &at, "\"channels\": {",
			      "\"channels\": {\"scale\": {\"unit\": \"1\", \"keys\": "
			      "[{\"frame\": 0, \"value\": [2, 3, 4]}]},");
	scale = curve_of(edited, ROLE_SCALE);
	ck_assert_ptr_nonnull(scale);
	ck_assert(!scale->keyed);
	ck_assert_double_eq(curve_value(scale, 0, 2), 4);
	ck_assert_ptr_eq(curve_of(edited, ROLE_ROTATION), old_curve(ROLE_ROTATION));
	anim_free(edited);
}
END_TEST

START_TEST(static_makes_a_curve_static)
{
	struct anim *edited = view_edit_ok(
		&view_bone_json, &at,
		"\"static\": false, \"keys\": [\n"
		"      {\"frame\": 0, \"time\": 0, \"value\": [1, 1, 1]},\n"
		"      {\"frame\": 1, \"time\": 0.033333, \"value\": [1.5, 1.5, 1.5]},\n"
		"      {\"frame\": 2, \"time\": 0.066667, \"value\": [1.0000076, 1.0000153, "
		"1.0000229]}\n",
		"\"static\": true, \"keys\": [{\"frame\": 0, \"value\": [1, 1, 1]}\n");

	ck_assert(!curve_of(edited, ROLE_SCALE)->keyed);
	ck_assert_uint_eq(curve_of(edited, ROLE_SCALE)->count, 1);
	anim_free(edited);
}
END_TEST

/* ---- read-only members ---- */

static const struct refused_edit read_only[] = {
	{"\"bone\": \"Bone01\"", "\"bone\": 1", 3, 51, "\"bone\""},
	{"\"name\": \"Bone01\"", "\"name\": \"b\"", 3, 69, "\"name\""},
	{"\"parent\": null", "\"parent\": \"hip\"", 4, 13, "\"parent\""},
	{"\"space\": \"parent\"", "\"space\": \"world\"", 4, 28, "\"space\""},
	{"0.033333,\n", "0.04,\n", 4, 59, "\"seconds_per_frame\""},
	{"animfs.bone/1", "animfs.bone/2", 2, 13, "\"format\""},
	{"\"unit\": \"m\"", "\"unit\": \"cm\"", 6, 30, "\"unit\""},
	{"\"unit\": \"degree\"", "\"unit\": \"radian\"", 9, 27, "\"degree\""},
	{"\"XYZ\"", "\"ZYX\"", 9, 46, "\"order\""},
	{"\"linear\"", "\"step\"", 6, 52, "\"interpolation\""},
};

START_TEST(read_only_members_cannot_be_changed)
{
	refused(read_only[_i].was, read_only[_i].is, ERR_TEXT, read_only[_i].line,
		read_only[_i].column, read_only[_i].words);
}
END_TEST

START_TEST(what_another_file_says_of_itself_does_not_matter)
{
	struct anim *edited = view_edit_ok(
		&view_bone_json, &at,
		"\"file\": \"wiki512.canm\", \"clip\": \"walk\", \"bone\": \"Bone01\", \"name\": "
		"\"Bone01\",\n"
		"  \"parent\": null, \"space\": \"parent\", \"seconds_per_frame\": 0.033333",
		"\"file\": \"x.006\", \"clip\": \"run\", \"bone\": \"a\", \"name\": \"b\",\n"
		"  \"parent\": \"c\", \"space\": \"parent\", \"seconds_per_frame\": 1");

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	refused("\"file\": \"wiki512.canm\", \"clip\"", "\"file\": \"x\", \"clips\"", ERR_TEXT, 3,
		16, "\"clips\"");
}
END_TEST

/* The text is saved after its clip was renamed, or for another clip. */
START_TEST(what_a_clip_was_called_does_not_matter)
{
	struct anim *edited =
		view_edit_ok(&view_bone_json, &at,
			     "\"clip\": \"walk\", \"bone\": \"Bone01\", \"name\": \"Bone01\"",
			     "\"clip\": \"stroll\", \"bone\": \"Bone01\", \"name\": \"Bone01\"");

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	edited = view_edit_ok(&view_bone_json, &at, "\"walk\"", "\"run\"");
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	refused("\"clip\": \"walk\"", "\"clip\": \"run\", \"loop\": true", ERR_TEXT, 3, 42,
		"\"loop\"");
}
END_TEST

static void assert_changes_nothing(const struct shown *shown, const struct buf *text)
{
	struct err err = {0};
	struct anim *edited = view_bone_json.parse(shown, buf_bytes(text), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}

static const char hung[] = "bone,parent,tx,ry,sz\nhip,Scene_Root,,,\nBone01,hip,0.5,-90,2\n"
			   "Scene_Root,,,,\n";

START_TEST(a_skeleton_gives_parent_and_rest)
{
	struct shown without = at;
	struct skeleton *skeleton = read_skeleton(hung);
	struct buf alone = view_text(&view_bone_json, &at), text;

	at.skeleton = skeleton;
	text = view_text(&view_bone_json, &at);
	ck_assert_ptr_nonnull(
		strstr((char *)text.data, "\n  \"parent\": \"hip\", \"space\": \"parent\""));
	ck_assert_ptr_nonnull(strstr((char *)text.data,
				     "\n  \"rest\": {\"translation\": [0.5, 0, 0], \"rotation\": "
				     "[0, -90, 0], \"scale\": [1, 1, 2]},\n"));
	/* Each of the two texts can be saved in the place of the other. */
	assert_changes_nothing(&at, &text);
	assert_changes_nothing(&at, &alone);
	assert_changes_nothing(&without, &text);
	refused("\"hip\"", "\"hop\"", ERR_TEXT, 4, 13, "\"parent\"");
	refused("-90", "-9", ERR_TEXT, 5, 56, "\"rotation\"");
	buf_release(&text);
	buf_release(&alone);
	skeleton_free(skeleton);
}
END_TEST

START_TEST(unknown_members_are_named)
{
	refused("\"space\"", "\"spaces\"", ERR_TEXT, 4, 19, "\"spaces\"");
	refused("\"scale\"", "\"scales\"", ERR_TEXT, 14, 5, "translation, rotation, scale");
	refused("\"static\"", "\"statics\"", ERR_TEXT, 6, 62, "\"statics\"");
	refused("\"value\"", "\"values\"", ERR_TEXT, 7, 31, "frame, time, value, raw");
}
END_TEST

/* ---- keys ---- */

START_TEST(wrong_keys_have_their_place)
{
	refused("\"frame\": 1, ", "\"frame\": 3, ", ERR_TEXT, 11, 17, "frame 3");
	refused("\"frame\": 1, ", "\"frame\": 2, ", ERR_TEXT, 12, 17, "twice");
	refused("\"frame\": 1, ", "\"frame\": 0.5, ", ERR_TEXT, 11, 17, "whole number");
	refused("\"frame\": 1, ", "", ERR_TEXT, 11, 7, "\"frame\" is missing");
	refused(", \"value\": [1.5, -2, 0.25]", "", ERR_TEXT, 7, 7, "\"value\" is missing");
	refused("[1.5, -2, 0.25]", "[1.5, -2]", ERR_TEXT, 7, 40, "3 components");
	refused("[1.5, -2, 0.25]", "[1.5, \"x\", 0.25]", ERR_TEXT, 7, 46, "a number");
	refused("[1.5, -2, 0.25]", "[1.5, -2, null]", ERR_TEXT, 7, 50, "tz");
	refused("{\"frame\": 0, \"time\": 0, \"value\": [1.5, -2, 0.25]}", "7", ERR_TEXT, 7, 7,
		"object");
	refused("[1.5, -2, 0.25]", "[1e39, -2, 0.25]", ERR_TEXT, 7, 41, "too large");
}
END_TEST

START_TEST(channels_must_be_there_and_be_lists_of_keys)
{
	struct err err = {0};

	ck_assert_ptr_null(view_bone_json.parse(&at, bytes_of("{}"), &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_str_eq(err.message, "\"channels\" is missing");
	refused(removals[1].was, "    \"translation\": [],\n", ERR_TEXT, 6, 24, "object");
	refused("\"static\": true", "\"static\": 1", ERR_TEXT, 6, 72, "true or false");
	refused("\"keys\": [\n      {\"frame\": 0, \"time\": 0, \"value\": [1.5, -2, 0.25]}\n    ]",
		"\"keys\": null", ERR_TEXT, 6, 86, "list");
}
END_TEST

START_TEST(a_dense_curve_needs_its_last_key)
{
	refused(",\n      {\"frame\": 2, \"time\": 0.066667, \"value\": [180, 5.729578, "
		"22.723793]}",
		"", ERR_TEXT, 11, 17, "frame 2");
}
END_TEST

/* ---- time ---- */

START_TEST(time_alone_is_edited_in_clip_json)
{
	refused("\"time\": 0.066667", "\"time\": 0.07", ERR_TEXT, 12, 28, "clip.json");
	refused("\"time\": 0.066667", "\"time\": \"x\"", ERR_TEXT, 12, 28, "a number");
}
END_TEST

START_TEST(stale_times_beside_an_edit_are_ignored)
{
	struct anim *edited =
		view_edit_ok(&view_bone_json, &at, "\"time\": 0.033333, \"value\": [1.5, 1.5, 1.5]",
			     "\"time\": 7, \"value\": [1.5, 1.5, 1.25]");

	ck_assert_double_eq(curve_value(curve_of(edited, ROLE_SCALE), 1, 2), 1.25);
	anim_free(edited);
}
END_TEST

/* ---- values that are not finite ---- */

/* Finds the first key of the sample that has a component that is not finite. */
static bool find_not_finite(enum role *role, uint32_t *key, unsigned *axis)
{
	for (at.clip = 0; at.clip < s.anim->clip_count; at.clip++)
		for (at.track = 0; at.track < s.anim->clips[at.clip].track_count; at.track++)
			for (*role = 0; *role < ROLE_COUNT; ++*role)
				for (*key = 0; old_curve(*role) && *key < old_curve(*role)->count;
				     ++*key)
					for (*axis = 0; *axis < curve_width(old_curve(*role));
					     ++*axis)
						if (!isfinite(curve_value(old_curve(*role), *key,
									  *axis)))
							return true;
	return false;
}

START_TEST(raw_has_the_bits_of_what_is_not_finite)
{
	enum role role;
	uint32_t key;
	unsigned axis;
	struct buf text;
	char bits[16];

	switch_to("nan512.canm", 0, NULL);
	ck_assert(find_not_finite(&role, &key, &axis));
	text = view_text(&view_bone_json, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "null"));
	snprintf(bits, sizeof(bits), "\"%08x\"",
		 f32_bits((float)curve_value(old_curve(role), key, axis)));
	ck_assert_ptr_nonnull(strstr((const char *)text.data, bits));
	buf_release(&text);
}
END_TEST

START_TEST(raw_wins)
{
	struct anim *edited = view_edit_ok(&view_bone_json, &at, "\"value\": [1.5, -2, 0.25]",
					   "\"value\": [9, 9, 9], \"raw\": "
					   "[\"3FC00000\", \"c0000000\", \"3f000000\"]");
	const struct curve *c = curve_of(edited, ROLE_TRANSLATION);

	ck_assert_double_eq(curve_value(c, 0, 0), 1.5);
	ck_assert_double_eq(curve_value(c, 0, 1), -2);
	ck_assert_double_eq(curve_value(c, 0, 2), 0.5);
	anim_free(edited);
	edited = view_edit_ok(&view_bone_json, &at, "\"value\": [1.5, -2, 0.25]",
			      "\"raw\": [\"3fc00000\", \"c0000000\", \"3e800000\"]");
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

START_TEST(raw_is_eight_hex_digits_a_component)
{
	refused("\"value\": [1.5, -2, 0.25]", "\"raw\": [\"3fc00000\", \"c000000\", \"3f000000\"]",
		ERR_TEXT, 7, 51, "eight hex digits");
	refused("\"value\": [1.5, -2, 0.25]", "\"raw\": [\"3fc00000\", \"0xc00000\", \"3f000000\"]",
		ERR_TEXT, 7, 51, "eight hex digits");
	refused("\"value\": [1.5, -2, 0.25]", "\"raw\": [\"3fc00000\", 7, \"3f000000\"]", ERR_TEXT,
		7, 51, "a text");
	refused("\"value\": [1.5, -2, 0.25]", "\"raw\": [\"3fc00000\"]", ERR_TEXT, 7, 38,
		"3 components");
}
END_TEST

Suite *bone_json_suite(void);

Suite *bone_json_suite(void)
{
	Suite *suite = suite_create("bone_json");
	TCase *t = tcase_create("bone_json");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_bone_is_shown_a_key_a_line);
	tcase_add_test(t, a_bone_without_curves_has_no_channels);
	tcase_add_test(t, quaternions_have_four_components);
	tcase_add_test(t, a_rotation_says_in_which_form_it_is);
	tcase_add_test(t, a_changed_value_changes_its_curve_alone);
	tcase_add_test(t, text_written_by_others_is_the_same_text);
	tcase_add_loop_test(t, a_role_without_keys_goes, 0, (int)ARRAY_SIZE(removals));
	tcase_add_test(t, a_new_member_is_a_new_role);
	tcase_add_test(t, static_makes_a_curve_static);
	tcase_add_loop_test(t, read_only_members_cannot_be_changed, 0, (int)ARRAY_SIZE(read_only));
	tcase_add_test(t, what_another_file_says_of_itself_does_not_matter);
	tcase_add_test(t, what_a_clip_was_called_does_not_matter);
	tcase_add_test(t, a_skeleton_gives_parent_and_rest);
	tcase_add_test(t, unknown_members_are_named);
	tcase_add_test(t, wrong_keys_have_their_place);
	tcase_add_test(t, channels_must_be_there_and_be_lists_of_keys);
	tcase_add_test(t, a_dense_curve_needs_its_last_key);
	tcase_add_test(t, time_alone_is_edited_in_clip_json);
	tcase_add_test(t, stale_times_beside_an_edit_are_ignored);
	tcase_add_test(t, raw_has_the_bits_of_what_is_not_finite);
	tcase_add_test(t, raw_wins);
	tcase_add_test(t, raw_is_eight_hex_digits_a_component);
	return suite;
}
