/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_file_json.c - file.json: for a kanim, attributes can be edited; for other files, nothing. */
#include "sample.h"

static struct sample s;
static struct shown at;

static void setup(void)
{
	s = sample_open("frames.castle-anim-frames");
	at = sample_shown(&s, 0, NULL);
}

static void setup_canm(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
}

static void teardown(void)
{
	sample_close(&s);
}

START_TEST(attributes_are_members)
{
	struct buf text = view_text(&view_file_json, &at);

	ck_assert_str_eq(
		(const char *)text.data,
		"{\n"
		"  \"format\": \"animfs.file/1\",\n"
		"  \"file\": \"frames.castle-anim-frames\", \"type\": \"kanim\",\n"
		"  \"editable\": [\"name\", \"loop\", \"backwards\", \"scenes_per_time\", "
		"\"equality_epsilon\"],\n"
		"  \"animations\": [\n"
		"    {\"animation\": \"walk\", \"name\": \"walk\", \"loop\": true, \"backwards\": "
		"false, \"scenes_per_time\": 30, \"equality_epsilon\": 0.0001, \"frames\": 3},\n"
		"    {\"animation\": \"run\", \"name\": \"run\", \"loop\": false, \"backwards\": "
		"true, \"scenes_per_time\": 0, \"equality_epsilon\": 0.001, \"frames\": 2}\n"
		"  ]\n"
		"}\n");
	buf_release(&text);
}
END_TEST

static const struct {
	const char *was, *is, *from, *to;
} edits[] = {
	{"\"loop\": true", "\"loop\": false", "loop='TRUE'", "loop='false'"},
	{"\"name\": \"run\"", "\"name\": \"r'\\u00e9\"", "'run'", "'r&#39;\xe9'"},
	{"\"scenes_per_time\": 0", "\"scenes_per_time\": 12.0", "\"0\"", "\"12\""},
	{"0.0001", "0.5", "1e-4", "0.5"},
	{"0.001", "7.038531e-26", "scenes_per_time=\"0\"",
	 "scenes_per_time=\"0\" equality_epsilon=\"0.00000000000000000000000007038531\""},
	{"\"backwards\": true", "\"backwards\": false", "backwards=\"1\"", "backwards=\"false\""},
	{"\"backwards\": false, ", "\"backwards\": true, ", "\"1e-4\"",
	 "\"1e-4\"\n             backwards=\"true\""},
	{"0.0001", "0.00010", "1e-4", "1e-4"},
};

START_TEST(an_edit_changes_just_its_bytes)
{
	struct anim *edited = view_edit_ok(&view_file_json, &at, edits[_i].was, edits[_i].is);
	struct sample now = sample_store(&s, edited);
	char *old = strndup((const char *)s.bytes.data, s.bytes.size);
	char *wanted = text_edit(old, edits[_i].from, edits[_i].to);

	ck_assert_msg(bytes_equal(buf_bytes(&now.bytes), bytes_of(wanted)), "%.*s",
		      (int)now.bytes.size, now.bytes.data);
	free(wanted);
	free(old);
	sample_close(&now);
	anim_free(edited);
}
END_TEST

static void refused(const char *was, const char *is, enum err_code code, size_t line, size_t column,
		    const char *words)
{
	view_edit_refused(&view_file_json, &at, was, is, code, line, column, words);
}

START_TEST(what_cannot_be_edited_is_refused)
{
	refused("\"frames\": 3", "\"frames\": 4", ERR_TEXT, 6, 138, "frames");
	refused("\"animation\": \"walk\"", "\"animation\": \"w\"", ERR_TEXT, 6, 19, "animation");
	refused("\"name\": \"walk\"", "\"name\": \"\"", ERR_TEXT, 6, 35, "lose its name");
	refused("\"name\": \"walk\"", "\"name\": 1", ERR_TEXT, 6, 35, "text");
	refused("\"loop\": true", "\"loop\": 1", ERR_TEXT, 6, 51, "true or false");
	refused("\"scenes_per_time\": 30", "\"scenes_per_time\": 29.97", ERR_TEXT, 6, 96,
		"whole number");
	refused("\"scenes_per_time\": 30", "\"scenes_per_time\": 2147483648", ERR_TEXT, 6, 96,
		"2147483647");
	refused("0.0001", "1e39", ERR_STORE, 6, 120, "float32");
	refused("\"frames\": 3", "\"keys\": 3", ERR_TEXT, 6, 128, "keys");
	refused("\"frames\": 2}\n", "\"frames\": 2},\n{}\n", ERR_TEXT, 5, 17, "added or removed");
	refused("\"type\": \"kanim\"", "\"type\": \"canm\"", ERR_TEXT, 3, 48, "type");
	refused("\"animations\": [", "\"animations\": 1, \"x\": [", ERR_TEXT, 5, 20, "x");
}
END_TEST

START_TEST(members_left_out_are_unchanged)
{
	struct err err = {0};
	static const char *const texts[] = {"{}", "{\"animations\": [{}, {}]}",
					    "{\"animations\": [{\"loop\": true}, {}]}"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct anim *edited = view_file_json.parse(&at, bytes_of(texts[i]), &err);
		struct sample now;

		ck_assert_msg(edited != NULL, "%s", err.message);
		now = sample_store(&s, edited);
		ck_assert(bytes_equal(buf_bytes(&now.bytes), buf_bytes(&s.bytes)));
		sample_close(&now);
		anim_free(edited);
	}
}
END_TEST

START_TEST(other_formats_can_be_read_only)
{
	struct buf text = view_text(&view_file_json, &at);
	struct anim *edited;
	struct err err = {0};

	ck_assert_ptr_nonnull(strstr((const char *)text.data, "\"editable\": [],\n"));
	edited = view_file_json.parse(&at, buf_bytes(&text), &err);
	ck_assert(edited && model_same(edited, s.anim));
	anim_free(edited);
	buf_release(&text);
	refused("\"editable\": []", "\"editable\": [], \"animations\": []", ERR_TEXT, 4, 19,
		"animations");
	refused("\"version\": 512", "\"version\": 768", ERR_TEXT, 3, 54, "version");
}
END_TEST

/* A quaternion that cannot be turned into angles. */
static const double nothing[4] = {0};
static const struct curve angleless = {.kind = CURVE_QUATERNION, .count = 1, .values = nothing};

START_TEST(bones_without_angles_are_listed)
{
	static const char listed[] = "  \"without_angles\": [\n"
				     "    {\"clip\": \"turn\", \"bone\": \"body\"}\n"
				     "  ],\n"
				     "  \"bones\": [\n";
	struct anim *edited = anim_edit(s.anim), *taken;
	struct buf text;
	struct err err = {0};
	char *older;

	edited->rotations = ROTATIONS_IN_TABLES;
	at.anim = edited;
	text = view_text(&view_file_json, &at);
	ck_assert_ptr_null(strstr((const char *)text.data, "without_angles"));
	buf_release(&text);

	anim_edit_track(edited, 0, 1)->curve[ROLE_ROTATION] = &angleless;
	text = view_text(&view_file_json, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data, listed));
	older = text_edit((const char *)text.data, "\"body\"}", "\"leg\"}");
	/* as of a version in which another bone had none */
	taken = view_file_json.parse(&at, bytes_of(older), &err);
	ck_assert(taken && model_same(taken, edited));
	anim_free(taken);
	free(older);
	buf_release(&text);

	edited->rotations = ROTATIONS_STORED;
	text = view_text(&view_file_json, &at);
	ck_assert_ptr_null(strstr((const char *)text.data, "without_angles"));
	buf_release(&text);
	anim_free(edited);
}
END_TEST

static void setup_quaternions(void)
{
	s = sample_open("edf6_768.canm");
	at = sample_shown(&s, 0, NULL);
}

Suite *file_json_suite(void);

Suite *file_json_suite(void)
{
	Suite *suite = suite_create("file_json");
	TCase *kanim = tcase_create("kanim"), *canm = tcase_create("canm");
	TCase *quaternions = tcase_create("quaternions");

	suite_add_tcase(suite, kanim);
	tcase_add_checked_fixture(kanim, setup, teardown);
	tcase_add_test(kanim, attributes_are_members);
	tcase_add_loop_test(kanim, an_edit_changes_just_its_bytes, 0, (int)ARRAY_SIZE(edits));
	tcase_add_test(kanim, what_cannot_be_edited_is_refused);
	tcase_add_test(kanim, members_left_out_are_unchanged);

	suite_add_tcase(suite, canm);
	tcase_add_checked_fixture(canm, setup_canm, teardown);
	tcase_add_test(canm, other_formats_can_be_read_only);

	suite_add_tcase(suite, quaternions);
	tcase_add_checked_fixture(quaternions, setup_quaternions, teardown);
	tcase_add_test(quaternions, bones_without_angles_are_listed);
	return suite;
}
