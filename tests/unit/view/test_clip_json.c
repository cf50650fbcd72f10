/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FIRST_CLIP_OF "wiki512.canm"
#include "first_clip.h"

#include <math.h>

static const char walk[] =
	"{\n"
	"  \"format\": \"animfs.clip/1\",\n"
	"  \"file\": \"wiki512.canm\", \"clip\": \"walk\", \"name\": \"walk\",\n"
	"  \"loop\": true, \"frames\": 3, \"frame_time\": 2, \"duration\": 4, \"time_unit\": "
	"\"1/60 s\", "
	"\"seconds\": 0.066667,\n"
	"  \"canm\": {\"loop\": 1},\n"
	"  \"bones\": [\n"
	"    {\"bone\": \"Scene_Root\", \"name\": \"Scene_Root\"},\n"
	"    {\"bone\": \"Bone01\", \"name\": \"Bone01\"},\n"
	"    {\"bone\": \"hip\", \"name\": \"hip\"},\n"
	"    {\"bone\": \"\xE5\x8F\xB3\xE6\x89\x8B\", \"name\": \"\xE5\x8F\xB3\xE6\x89\x8B\"}\n"
	"  ]\n"
	"}\n";

static struct anim *edit(const char *was, const char *is)
{
	return view_edit_ok(&view_clip_json, &at, was, is);
}

static void refused(const char *was, const char *is, size_t line, size_t column, const char *words)
{
	view_edit_refused(&view_clip_json, &at, was, is, ERR_TEXT, line, column, words);
}

/* Checks that the text of the edited model contains `wanted`. */
static void assert_reads(const struct anim *edited, const char *wanted)
{
	struct shown now = at;
	struct buf text;

	now.anim = edited;
	text = view_text(&view_clip_json, &now);
	ck_assert_msg(strstr((const char *)text.data, wanted) != NULL, "no \"%s\" in:\n%s", wanted,
		      (const char *)text.data);
	buf_release(&text);
}

/*
 * Saves an edit, and checks that the new text contains `wanted`, and that every curve and every
 * other clip is unchanged.
 */
static void reads_after(const char *was, const char *is, const char *wanted)
{
	struct anim *edited = edit(was, is);
	const struct clip *now = &edited->clips[at.clip], *old = &s.anim->clips[at.clip];

	assert_reads(edited, wanted);
	ck_assert_uint_eq(now->track_count, old->track_count);
	for (uint32_t i = 0; i < old->track_count; i++)
		ck_assert_mem_eq(now->tracks[i].curve, old->tracks[i].curve,
				 sizeof(old->tracks[i].curve));
	for (uint32_t i = 0; i < s.anim->clip_count; i++)
		ck_assert(i == at.clip || clip_same(&edited->clips[i], &s.anim->clips[i]));
	anim_free(edited);
}

/* ---- render ---- */

START_TEST(a_clip_is_shown_as_it_is_stored)
{
	struct buf text = view_text(&view_clip_json, &at);

	ck_assert_str_eq((const char *)text.data, walk);
	buf_release(&text);
}
END_TEST

START_TEST(a_clip_without_bones_or_time_is_shown)
{
	struct buf text;

	at.clip = 3;
	text = view_text(&view_clip_json, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "\n  \"bones\": []\n}\n"));
	buf_release(&text);
	at.clip = 2;
	text = view_text(&view_clip_json, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data,
				     "\"frames\": 1, \"frame_time\": 0, \"duration\": 0, "
				     "\"time_unit\": \"1/60 s\", \"seconds\": 0,\n"));
	buf_release(&text);
}
END_TEST

/* ---- loop ---- */

START_TEST(loop_and_its_stored_form_follow_each_other)
{
	struct anim *edited = edit("\"loop\": true", "\"loop\": false");

	ck_assert(!edited->clips[0].loop);
	ck_assert_int_eq(edited->clips[0].fields[0].integer, 0);
	anim_free(edited);
	edited = edit("{\"loop\": 1}", "{\"loop\": 2}");
	ck_assert(!edited->clips[0].loop);
	ck_assert_int_eq(edited->clips[0].fields[0].integer, 2);
	anim_free(edited);
	at.clip = 1;
	edited = edit("\"loop\": false", "\"loop\": true");
	ck_assert(edited->clips[1].loop);
	ck_assert_int_eq(edited->clips[1].fields[0].integer, 1);
	anim_free(edited);
}
END_TEST

/* Saves the clip's text with both edits. */
static struct anim *edit_loops(const char *loop, const char *stored, struct err *err)
{
	char *one = text_edit(walk, "\"loop\": true", loop);
	char *both = text_edit(one, "{\"loop\": 1}", stored);
	struct anim *edited = view_clip_json.parse(&at, bytes_of(both), err);

	free(one);
	free(both);
	return edited;
}

START_TEST(loop_and_its_stored_form_may_not_disagree)
{
	struct err err = {0};
	struct anim *edited = edit_loops("\"loop\": false", "{\"loop\": 7}", &err);

	ck_assert_ptr_nonnull(edited);
	ck_assert_int_eq(edited->clips[0].fields[0].integer, 7);
	anim_free(edited);
	at.clip = 1;
	view_edit_refused(&view_clip_json, &at, "\"loop\": false", "\"loop\": 1", ERR_TEXT, 4, 11,
			  "true or false");
	err_clear(&err);
	ck_assert_ptr_null(view_clip_json.parse(
		&at, bytes_of("{\"loop\": true, \"canm\": {\"loop\": 7}}"), &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_uint_eq(err.at, 32);
}
END_TEST

START_TEST(an_odd_loop_survives_another_edit)
{
	struct anim *edited;

	sample_close(&s);
	s = sample_open("odd512.canm");
	at = sample_shown(&s, 1, NULL);
	ck_assert_int_eq(s.anim->clips[1].fields[0].integer, 2);
	edited = edit("\"duration\": 8", "\"duration\": 16");
	ck_assert_int_eq(edited->clips[1].fields[0].integer, 2);
	ck_assert(!edited->clips[1].loop);
	anim_free(edited);
}
END_TEST

/* ---- times ---- */

START_TEST(one_time_makes_the_others_follow)
{
	reads_after("\"frame_time\": 2", "\"frame_time\": 1.5",
		    "\"frames\": 3, \"frame_time\": 1.5, \"duration\": 3,");
	reads_after("\"duration\": 4", "\"duration\": 1",
		    "\"frames\": 3, \"frame_time\": 0.5, \"duration\": 1,");
	reads_after("\"frames\": 3", "\"frames\": 5",
		    "\"frames\": 5, \"frame_time\": 2, \"duration\": 8,");
	reads_after("\"frame_time\": 2", "\"frame_time\": 0.1",
		    "\"frame_time\": 0.1, \"duration\": 0.2,");
	reads_after("\"frame_time\": 2", "\"frame_time\": 0",
		    "\"frame_time\": 0, \"duration\": 0,");
}
END_TEST

START_TEST(several_times_are_taken_as_they_are)
{
	reads_after("\"frames\": 3, \"frame_time\": 2, \"duration\": 4",
		    "\"frames\": 7, \"frame_time\": 2, \"duration\": 5",
		    "\"frames\": 7, \"frame_time\": 2, \"duration\": 5,");
	reads_after("\"frame_time\": 2, \"duration\": 4", "\"frame_time\": 3, \"duration\": 5",
		    "\"frames\": 3, \"frame_time\": 3, \"duration\": 5,");
}
END_TEST

START_TEST(float32_arithmetic_makes_the_duration)
{
	struct anim *edited = edit("\"frame_time\": 2", "\"frame_time\": 0.7");
	const struct clip *clip = &edited->clips[0];

	ck_assert(f32_bits(clip->frame_time) == f32_bits(0.7f));
	ck_assert(f32_bits(clip->duration) == f32_bits(0.7f * 2.0f));
	anim_free(edited);
}
END_TEST

START_TEST(a_clip_of_one_frame_keeps_its_frame_time)
{
	at.clip = 2;
	reads_after("\"duration\": 0", "\"duration\": 5", "\"frame_time\": 0, \"duration\": 5,");
}
END_TEST

START_TEST(a_time_that_is_not_finite_is_null_and_stays)
{
	struct anim *odd = anim_edit(s.anim), *edited;
	struct clip *clip = anim_edit_clip(odd, 0);

	clip->frame_time = f32_from_bits(0x7FC01234);
	clip->duration = -INFINITY;
	at.anim = odd;
	assert_reads(odd, "\"frame_time\": null, \"duration\": null,");
	edited = edit("\"loop\": true", "\"loop\": false");
	ck_assert_uint_eq(f32_bits(edited->clips[0].frame_time), 0x7FC01234);
	ck_assert(edited->clips[0].duration == -INFINITY);
	anim_free(edited);
	edited = edit("\"frame_time\": null", "\"frame_time\": 2");
	assert_reads(edited, "\"frame_time\": 2, \"duration\": 4,");
	anim_free(edited);
	anim_free(odd);
}
END_TEST

START_TEST(wrong_times_are_refused)
{
	refused("\"frames\": 3", "\"frames\": 0", 4, 27, "from 1 to");
	refused("\"frames\": 3", "\"frames\": 2.5", 4, 27, "whole number");
	refused("\"frame_time\": 2", "\"frame_time\": -2", 4, 44, "below zero");
	refused("\"frame_time\": 2", "\"frame_time\": null", 4, 44, "a number");
	refused("\"duration\": 4", "\"duration\": \"4\"", 4, 59, "a number");
	view_edit_refused(&view_clip_json, &at, "\"duration\": 4", "\"duration\": 1e40", ERR_STORE,
			  4, 59, "float32");
}
END_TEST

START_TEST(a_shorter_clip_loses_its_last_keys)
{
	struct anim *edited = edit("\"frames\": 3", "\"frames\": 2");
	const struct track *now = &edited->clips[0].tracks[1], *old = &s.anim->clips[0].tracks[1];
	const struct curve *scale = now->curve[ROLE_SCALE], *was = old->curve[ROLE_SCALE];

	assert_reads(edited, "\"frames\": 2, \"frame_time\": 2, \"duration\": 2,");
	ck_assert_ptr_eq(now->curve[ROLE_TRANSLATION], old->curve[ROLE_TRANSLATION]);
	ck_assert_uint_eq(scale->count, 2);
	for (uint32_t key = 0; key < 2; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert(f64_same(curve_value(scale, key, axis),
					   curve_value(was, key, axis)));
	ck_assert_uint_eq(was->count, 3);
	for (uint32_t i = 1; i < s.anim->clip_count; i++)
		ck_assert(clip_same(&edited->clips[i], &s.anim->clips[i]));
	anim_free(edited);
}
END_TEST

/* ---- the name ---- */

START_TEST(a_new_clip_is_a_new_name)
{
	struct anim *edited = edit("\"clip\": \"walk\"", "\"clip\": \"a%2Fb\"");

	ck_assert_str_eq(edited->clips[0].name, "a/b");
	ck_assert_str_eq(edited->clips[0].label, "a%2Fb");
	ck_assert_uint_eq(edited->clips[0].origin, 0);
	assert_reads(edited, "\"clip\": \"a%2Fb\", \"name\": \"a/b\"");
	anim_free(edited);
	reads_after("\"clip\": \"walk\"", "\"clip\": \"\xE8\xB5\xB0 1\"",
		    "\"name\": \"\xE8\xB5\xB0 1\"");
	reads_after("\"clip\": \"walk\"", "\"clip\": \"%\"", "\"clip\": \"%\", \"name\": \"\"");
}
END_TEST

START_TEST(wrong_names_are_refused)
{
	refused("\"clip\": \"walk\"", "\"clip\": \"Idle\"", 3, 35, "another clip");
	refused("\"clip\": \"walk\"", "\"clip\": \"a/b\"", 3, 35, "a%2Fb");
	refused("\"clip\": \"walk\"", "\"clip\": \".walk\"", 3, 35, "%2Ewalk");
	refused("\"clip\": \"walk\"", "\"clip\": \"\"", 3, 35, "%");
	refused("\"clip\": \"walk\"", "\"clip\": \"a%zz\"", 3, 35, "a%25zz");
	refused("\"clip\": \"walk\"", "\"clip\": \"file.json\"", 3, 35, "name of a view");
	refused("\"clip\": \"walk\"", "\"clip\": \"raw.canm\"", 3, 35, "name of a view");
	refused("\"clip\": \"walk\"", "\"clip\": 7", 3, 35, "a text");
	refused("\"name\": \"walk\"", "\"name\": \"run\"", 3, 51, "\"name\"");
}
END_TEST

/* ---- other members ---- */

START_TEST(what_cannot_be_edited_is_named)
{
	refused("\"loop\": true", "\"loops\": true", 4, 3, "\"loops\"");
	refused("{\"loop\": 1}", "{\"loop\": 1.5}", 5, 20, "whole number");
	refused("{\"loop\": 1}", "{\"loop\": 4294967296}", 5, 20, "from -2147483648");
	refused("{\"loop\": 1}", "{\"lop\": 1}", 5, 12, "\"lop\"");
	refused("{\"loop\": 1}", "[1]", 5, 11, "object");
	refused("\"canm\"", "\"owanim\"", 5, 3, "\"owanim\"");
	refused("\"seconds\": 0.066667", "\"seconds\": 1", 4, 96, "\"seconds\"");
	refused("\"time_unit\": \"1/60 s\"", "\"time_unit\": \"s\"", 4, 75, "\"time_unit\"");
}
END_TEST

START_TEST(what_the_format_lacks_is_refused_by_name)
{
	struct format format = *s.anim->format;
	struct anim *other = anim_edit(s.anim);
	struct err err = {0};

	format.has_loop = false;
	format.has_duration = false;
	other->format = &format;
	at.anim = other;
	ck_assert_ptr_null(view_clip_json.parse(&at, bytes_of("{\"loop\": true}"), &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_str_eq(err.message, "canm files store no \"loop\"");
	reads_after("\"frame_time\": 2", "\"frame_time\": 3", "\"frame_time\": 3, \"time_unit\"");
	anim_free(other);
}
END_TEST

/* The head of walk's text, with values of another file or of an edit. */
#define HEAD(file, clip, name, loop, unit, seconds)                                                \
	"\"file\": \"" file "\", \"clip\": \"" clip "\", \"name\": \"" name                        \
	"\",\n  \"loop\": " loop ", \"frames\": 3, \"frame_time\": 2, \"duration\": 4, "           \
	"\"time_unit\": \"" unit "\", \"seconds\": " seconds
#define OWN_HEAD HEAD("wiki512.canm", "walk", "walk", "true", "1/60 s", "0.066667")

/* The case that a clip was copied to another file, and is copied back. */
START_TEST(a_text_of_another_file_names_nothing)
{
	struct anim *edited =
		edit(OWN_HEAD, HEAD("b.canm", "run", "Run", "true", "1/60 s", "0.05"));

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	reads_after(OWN_HEAD, HEAD("b.canm", "run", "Run", "false", "1/60 s", "0.05"),
		    HEAD("wiki512.canm", "walk", "walk", "false", "1/60 s", "0.066667"));
	refused(OWN_HEAD, HEAD("b.canm", "run", "Run", "true", "s", "0.05"), 4, 75,
		"\"time_unit\"");
}
END_TEST

START_TEST(members_left_out_are_unchanged)
{
	struct err err = {0};
	struct anim *edited = view_clip_json.parse(&at, bytes_of("{\"loop\": true}"), &err);

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* ---- bones ---- */

static const char bones[] = "    {\"bone\": \"Scene_Root\", \"name\": \"Scene_Root\"},\n"
			    "    {\"bone\": \"Bone01\", \"name\": \"Bone01\"},\n";

START_TEST(bones_move_with_their_curves)
{
	struct anim *edited = edit(bones, "{\"bone\": \"Bone01\"}, {\"bone\": \"Scene_Root\"},");
	const struct clip *now = &edited->clips[0], *old = &s.anim->clips[0];

	ck_assert_uint_eq(now->track_count, 4);
	ck_assert_str_eq(now->tracks[0].label, "Bone01");
	ck_assert_uint_eq(now->tracks[0].origin, 1);
	ck_assert_mem_eq(now->tracks[0].curve, old->tracks[1].curve, sizeof(old->tracks[1].curve));
	ck_assert_mem_eq(now->tracks[1].curve, old->tracks[0].curve, sizeof(old->tracks[1].curve));
	anim_free(edited);
}
END_TEST

START_TEST(bones_left_out_go)
{
	struct anim *edited = edit(bones, "");

	ck_assert_uint_eq(edited->clips[0].track_count, 2);
	ck_assert_str_eq(edited->clips[0].tracks[0].label, "hip");
	ck_assert_uint_eq(edited->clips[0].tracks[0].origin, 2);
	anim_free(edited);
}
END_TEST

START_TEST(new_bones_have_no_keys)
{
	struct anim *edited = edit(bones, "{\"bone\": \"tail%3A1\", \"name\": \"tail:1\"},");
	const struct track *tail = &edited->clips[0].tracks[0];

	ck_assert_uint_eq(edited->clips[0].track_count, 3);
	ck_assert_str_eq(tail->name, "tail:1");
	ck_assert_uint_eq(tail->origin, ANIM_NEW);
	ck_assert_uint_eq(tail->roles, 7);
	for (enum role role = 0; role < ROLE_COUNT; role++)
		ck_assert_ptr_null(tail->curve[role]);
	anim_free(edited);
}
END_TEST

START_TEST(was_renames_a_bone)
{
	struct anim *edited =
		edit("{\"bone\": \"Bone01\", ", "{\"bone\": \"spine\", \"was\": \"Bone01\", ");
	const struct track *now = &edited->clips[0].tracks[1], *old = &s.anim->clips[0].tracks[1];

	ck_assert_str_eq(now->name, "spine");
	ck_assert_str_eq(now->label, "spine");
	ck_assert_uint_eq(now->origin, old->origin);
	ck_assert_mem_eq(now->curve, old->curve, sizeof(old->curve));
	anim_free(edited);
}
END_TEST

START_TEST(bones_may_swap_names)
{
	struct anim *edited = edit(bones, "{\"bone\": \"Bone01\", \"was\": \"Scene_Root\"},"
					  "{\"bone\": \"Scene_Root\", \"was\": \"Bone01\"},");

	ck_assert_str_eq(edited->clips[0].tracks[0].name, "Bone01");
	ck_assert_uint_eq(edited->clips[0].tracks[0].origin, 0);
	ck_assert_str_eq(edited->clips[0].tracks[1].name, "Scene_Root");
	anim_free(edited);
}
END_TEST

START_TEST(cut_curves_go_with_their_bones)
{
	char *cut = text_edit(walk, "\"frames\": 3", "\"frames\": 1");
	char *both = text_edit(cut, bones, "{\"bone\": \"Bone01\"},");
	struct err err = {0};
	struct anim *edited = view_clip_json.parse(&at, bytes_of(both), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	ck_assert_uint_eq(edited->clips[0].tracks[0].curve[ROLE_SCALE]->count, 1);
	anim_free(edited);
	free(cut);
	free(both);
}
END_TEST

START_TEST(wrong_bones_are_refused)
{
	refused("{\"bone\": \"hip\"", "{\"bone\": \"Bone01\"", 9, 14, "twice");
	refused("{\"bone\": \"hip\"", "{\"bone\": \"x\", \"was\": \"Bone01\"", 9, 26, "twice");
	refused("{\"bone\": \"hip\"", "{\"bone\": \"x\", \"was\": \"y\"", 9, 26, "no bone \"y\"");
	refused("{\"bone\": \"hip\"", "{\"bone\": \"x\"", 9, 27, "\"was\"");
	refused("{\"bone\": \"hip\"", "{\"bone\": \"a/b\", \"was\": \"hip\"", 9, 14, "a%2Fb");
	refused("{\"bone\": \"hip\"", "{\"bones\": \"hip\"", 9, 6, "bone, name, was");
	refused("{\"bone\": \"hip\", \"name\": \"hip\"}", "{\"name\": \"hip\"}, {\"bone\": \"x\"}",
		9, 5, "\"bone\" is missing");
	refused("{\"bone\": \"hip\", \"name\": \"hip\"}", "\"hip\"", 9, 5, "object");
	refused("\"name\": \"hip\"", "\"name\": \"hop\"", 9, 29, "\"name\"");
}
END_TEST

/* ---- into the file and back ---- */

static const struct {
	const char *was, *is;
} edits[] = {
	{"\"loop\": true", "\"loop\": false"},
	{"{\"loop\": 1}", "{\"loop\": -7}"},
	{"\"clip\": \"walk\"", "\"clip\": \"%2Ea\xE8\xB5\xB0\xF0\x9F\x98\x80\""},
	{"\"clip\": \"walk\"", "\"clip\": \"%\""},
	{"\"frame_time\": 2", "\"frame_time\": 0.1"},
	{"\"duration\": 4", "\"duration\": 1"},
	{"\"frames\": 3", "\"frames\": 1"},
	{"\"frames\": 3", "\"frames\": 2"},
	{"\"frames\": 3", "\"frames\": 100"},
	{bones, ""},
	{bones, "{\"bone\": \"Bone01\"}, {\"bone\": \"Scene_Root\"},"},
	{bones, "{\"bone\": \"tail%3A1\"}, {\"bone\": \"hand\", \"was\": \"Bone01\"},"},
	{bones, "{\"bone\": \"Bone01\", \"was\": \"Scene_Root\"},"
		"{\"bone\": \"Scene_Root\", \"was\": \"Bone01\"},"},
};

static void assert_same_text(const struct view *view, const struct shown *a, const struct shown *b)
{
	struct buf text = view_text(view, a), other = view_text(view, b);

	ck_assert_str_eq((const char *)text.data, (const char *)other.data);
	buf_release(&text);
	buf_release(&other);
}

START_TEST(edits_are_read_again_from_the_file)
{
	struct anim *edited = edit(edits[_i].was, edits[_i].is);
	struct sample stored = sample_store(&s, edited);
	struct shown wanted = at, now = sample_shown(&stored, 0, NULL);
	const struct clip *clip = &edited->clips[0];

	wanted.anim = edited;
	assert_same_text(&view_clip_json, &now, &wanted);
	for (wanted.track = 0; wanted.track < clip->track_count; wanted.track++) {
		now.track = wanted.track;
		assert_same_text(&view_bone_json, &now, &wanted);
	}
	sample_close(&stored);
	anim_free(edited);
}
END_TEST

/* ---- file.json ---- */

START_TEST(a_file_is_shown_in_file_order)
{
	static const char wanted[] =
		"{\n"
		"  \"format\": \"animfs.file/1\",\n"
		"  \"file\": \"wiki512.canm\", \"type\": \"canm\", \"version\": 512,\n"
		"  \"editable\": [],\n"
		"  \"clips\": [\n"
		"    {\"clip\": \"walk\", \"name\": \"walk\", \"frames\": 3, \"loop\": true, "
		"\"seconds\": 0.066667},\n"
		"    {\"clip\": \"Idle\", \"name\": \"Idle\", \"frames\": 3, \"loop\": false, "
		"\"seconds\": 0.166667},\n"
		"    {\"clip\": \"\xE6\x94\xBB\xE6\x92\x83_01\", "
		"\"name\": \"\xE6\x94\xBB\xE6\x92\x83_01\", \"frames\": 1, \"loop\": false, "
		"\"seconds\": 0},\n"
		"    {\"clip\": \"empty\", \"name\": \"empty\", \"frames\": 2, \"loop\": false, "
		"\"seconds\": 0.016667}\n"
		"  ],\n"
		"  \"bones\": [\n"
		"    \"Scene_Root\",\n"
		"    \"Bone01\",\n"
		"    \"hip\",\n"
		"    \"\xE5\x8F\xB3\xE6\x89\x8B\",\n"
		"    \"\"\n"
		"  ]\n"
		"}\n";
	struct buf text = view_text(&view_file_json, &at);

	ck_assert_str_eq((const char *)text.data, wanted);
	buf_release(&text);
}
END_TEST

START_TEST(nothing_of_a_file_can_be_edited)
{
	view_edit_refused(&view_file_json, &at, "512,", "768,", ERR_TEXT, 3, 54, "\"version\"");
	view_edit_refused(&view_file_json, &at, "\"loop\": false", "\"loop\": true", ERR_TEXT, 7,
			  59, "\"loop\"");
	view_edit_refused(&view_file_json, &at, "\"hip\"", "\"hop\"", ERR_TEXT, 14, 5, "\"bones\"");
	view_edit_refused(&view_file_json, &at, "\"hip\",", "", ERR_TEXT, 11, 12, "\"bones\"");
	view_edit_refused(&view_file_json, &at, "\"type\"", "\"tipe\"", ERR_TEXT, 3, 27,
			  "\"tipe\"");
}
END_TEST

Suite *clip_json_suite(void);

Suite *clip_json_suite(void)
{
	Suite *suite = suite_create("clip_json");
	TCase *t = tcase_create("clip_json");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_clip_is_shown_as_it_is_stored);
	tcase_add_test(t, a_clip_without_bones_or_time_is_shown);
	tcase_add_test(t, loop_and_its_stored_form_follow_each_other);
	tcase_add_test(t, loop_and_its_stored_form_may_not_disagree);
	tcase_add_test(t, an_odd_loop_survives_another_edit);
	tcase_add_test(t, one_time_makes_the_others_follow);
	tcase_add_test(t, several_times_are_taken_as_they_are);
	tcase_add_test(t, float32_arithmetic_makes_the_duration);
	tcase_add_test(t, a_clip_of_one_frame_keeps_its_frame_time);
	tcase_add_test(t, a_time_that_is_not_finite_is_null_and_stays);
	tcase_add_test(t, wrong_times_are_refused);
	tcase_add_test(t, a_shorter_clip_loses_its_last_keys);
	tcase_add_test(t, a_new_clip_is_a_new_name);
	tcase_add_test(t, wrong_names_are_refused);
	tcase_add_test(t, what_cannot_be_edited_is_named);
	tcase_add_test(t, what_the_format_lacks_is_refused_by_name);
	tcase_add_test(t, a_text_of_another_file_names_nothing);
	tcase_add_test(t, members_left_out_are_unchanged);
	tcase_add_test(t, bones_move_with_their_curves);
	tcase_add_test(t, bones_left_out_go);
	tcase_add_test(t, new_bones_have_no_keys);
	tcase_add_test(t, was_renames_a_bone);
	tcase_add_test(t, bones_may_swap_names);
	tcase_add_test(t, cut_curves_go_with_their_bones);
	tcase_add_test(t, wrong_bones_are_refused);
	tcase_add_loop_test(t, edits_are_read_again_from_the_file, 0, (int)ARRAY_SIZE(edits));
	tcase_add_test(t, a_file_is_shown_in_file_order);
	tcase_add_test(t, nothing_of_a_file_can_be_edited);
	return suite;
}
