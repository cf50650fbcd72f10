/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curves with times and tangents: the values between keys, the tangents after edits of a table, and
 * how keys are matched. All files are JSON, whose numbers can be read here.
 */
#include "sample.h"

#include "model/sampled.h"

#include <math.h>

#define KEY(time, x, in, out)                                                                      \
	"{\"time\": " #time ", \"x\": " #x ", \"y\": 0, \"z\": 0, \"xInnerTangent\": " #in         \
	", \"xOuterTangent\": " #out "}"
#define FILE_OF(keys)                                                                              \
	"{\"frameRate\": 10, \"transform\": [{\"bone\": \"a\", \"localPosition\": [" keys "]}]}"

#define NOTED(time, x, number)                                                                     \
	"{\"time\": " #time ", \"x\": " #x ", \"y\": 0, \"z\": 0, \"note\": " #number "}"
#define QUATERNION(time, x, w)                                                                     \
	"{\"time\": " #time ", \"x\": " #x ", \"y\": 0, \"z\": 0, \"w\": " #w "}"
/* Two keys of one time, and a third. */
#define TURN(x, w)                                                                                 \
	"{\"frameRate\": 10, \"transform\": [{\"bone\": \"a\", \"localRotation\": [" QUATERNION(   \
		0.13, 0, 1) ", " QUATERNION(0.13, x, w) ", " QUATERNION(0.3, 0, 1) "]}]}"

static struct sample open_text(const char *text)
{
	struct buf bytes = BUF_INIT;

	buf_text(&bytes, text);
	return sample_decode("made.anim", bytes);
}

static const struct curve *curve_of(const struct anim *a)
{
	return a->clips[0].tracks[0].curve[ROLE_TRANSLATION];
}

static double sample_x(const struct curve *c, double frame)
{
	double pose[4];

	curve_sample(c, frame, pose);
	return pose[0];
}

/* Returns the file after the bone's CSV was saved with `was` replaced by `is`. */
static struct sample edit_csv(const struct sample *s, const char *was, const char *is)
{
	struct shown at = sample_shown(s, 0, "a");
	struct anim *edited = view_edit_ok(&view_bone_csv, &at, was, is);
	struct sample stored = sample_store(s, edited);

	anim_free(edited);
	return stored;
}

static void ck_tangents(const struct sample *s, uint32_t key, float in, float out)
{
	const struct curve *c = curve_of(s->anim);

	ck_assert_msg(fabsf(curve_tangent(c, key, TANGENT_IN, 0) - in) < 1e-4f &&
			      fabsf(curve_tangent(c, key, TANGENT_OUT, 0) - out) < 1e-4f,
		      "key %u: %g and %g, not %g and %g", key,
		      (double)curve_tangent(c, key, TANGENT_IN, 0),
		      (double)curve_tangent(c, key, TANGENT_OUT, 0), (double)in, (double)out);
}

/* Expected by hand: h00, h10, h01, h11 at a quarter are 27/32, 9/64, 5/32 and -3/64. */
START_TEST(between_keys_it_is_a_hermite_spline)
{
	struct sample s = open_text(FILE_OF(KEY(0, 0, 0, 6) ", " KEY(2, 4, -2, 0)));
	const struct curve *c = curve_of(s.anim);

	ck_assert_uint_eq(s.anim->clips[0].frames, 21);
	ck_assert_double_eq_tol(sample_x(c, 5),
				9.0 / 64 * 6 * 2 + 5.0 / 32 * 4 + -3.0 / 64 * -2 * 2, 1e-12);
	ck_assert_double_eq_tol(sample_x(c, -3), 0, 1e-12);
	ck_assert_double_eq_tol(sample_x(c, 25), 4, 1e-12);
	ck_assert_double_eq_tol(sample_x(c, 20), 4, 1e-12);
	sample_close(&s);
}
END_TEST

START_TEST(a_component_goes_from_key_to_key_of_its_own)
{
	struct sample s = open_text("{\"frameRate\": 10, \"transform\": [{\"bone\": \"a\", "
				    "\"localPosition\": [{\"time\": 0, \"x\": 0, \"y\": 1}, "
				    "{\"time\": 0.5, \"y\": 2}, {\"time\": 1, \"x\": 8}]}]}");
	const struct curve *c = curve_of(s.anim);
	double pose[4];

	/* With slopes of 0, half-way in time is half-way in value. */
	curve_sample(c, 5, pose);
	ck_assert_double_eq_tol(pose[0], 4, 1e-12);
	ck_assert_double_eq_tol(pose[1], 2, 1e-12);
	ck_assert(isnan(pose[2]));
	curve_sample(c, 10, pose);
	ck_assert_double_eq_tol(pose[0], 8, 1e-12);
	ck_assert_double_eq_tol(pose[1], 2, 1e-12);
	sample_close(&s);
}
END_TEST

START_TEST(a_sampled_curve_has_its_value_in_each_frame)
{
	struct sample s = open_text(FILE_OF(KEY(0, 0, 0, 6) ", " KEY(2, 4, -2, 0)));
	struct arena arena = ARENA_INIT;
	const struct clip *made = clip_sampled(&s.anim->clips[0], &arena);
	const struct curve *c = made->tracks[0].curve[ROLE_TRANSLATION];

	ck_assert_uint_eq(c->count, 21);
	ck_assert(!c->timing && !c->frames);
	for (uint32_t frame = 0; frame < c->count; frame++)
		ck_assert(f64_same(curve_value(c, frame, 0), sample_x(curve_of(s.anim), frame)));
	ck_assert(clip_sampled(made, &arena) == made);
	arena_release(&arena);
	sample_close(&s);
}
END_TEST

/* Keys 0.1 s apart, with central differences: 10, 15, 25, 30. */
#define CENTRAL                                                                                    \
	KEY(0, 0, 10, 10)                                                                          \
	", " KEY(0.1, 1, 15, 15) ", " KEY(0.2, 3, 25, 25) ", " KEY(0.3, 6, 30, 30)
/* A file with keys of the values of CENTRAL, but without tangents: lines between keys. */
#define LINES                                                                                      \
	KEY(0, 0, 10, 10)                                                                          \
	", " KEY(0.1, 1, 10, 20) ", " KEY(0.2, 3, 20, 30) ", " KEY(0.3, 6, 30, 30)
#define OWN                                                                                        \
	KEY(0, 0, 1, 2)                                                                            \
	", " KEY(0.1, 1, 3, 4) ", " KEY(0.2, 3, 5, 6) ", " KEY(0.3, 6, 7, 8)

static const struct {
	const char *file, *was, *is;
	uint32_t key;
	float in, out; /* tangents expected of the edited key */
	uint32_t kept; /* another key, whose tangents must stay */
	float kept_in, kept_out;
} edits[] = {
	{FILE_OF(CENTRAL), "\n2,0.2,3,", "\n2,0.2,5,", 2, 25, 25, 1, 15, 15},
	{FILE_OF(CENTRAL), "\n2,0.2,3,", "\n2,0.2,9,", 2, 25, 25, 3, 30, 30},
	{FILE_OF(CENTRAL), "\n3,0.3,6,", "\n3,0.3,4,", 3, 10, 10, 2, 25, 25},
	{FILE_OF(LINES), "\n2,0.2,3,", "\n2,0.2,5,", 2, 40, 10, 1, 10, 20},
	{FILE_OF(OWN), "\n2,0.2,3,", "\n2,0.2,5,", 2, 5, 6, 1, 3, 4},
	/* a new key: the frame after the last */
	{FILE_OF(CENTRAL), "\n3,0.3,6,", "\n4,0.4,8,0,0,,,,,,,\n3,0.3,6,", 4, 20, 20, 3, 30, 30},
	{FILE_OF(OWN), "\n3,0.3,6,", "\n4,0.4,8,0,0,,,,,,,\n3,0.3,6,", 4, 20, 20, 3, 7, 8},
};

START_TEST(an_edit_follows_the_rule_of_the_keys_around_it)
{
	struct sample s = open_text(edits[_i].file);
	struct sample stored = edit_csv(&s, edits[_i].was, edits[_i].is);

	ck_tangents(&stored, edits[_i].key, edits[_i].in, edits[_i].out);
	ck_tangents(&stored, edits[_i].kept, edits[_i].kept_in, edits[_i].kept_out);
	sample_close(&stored);
	sample_close(&s);
}
END_TEST

START_TEST(tangents_that_are_given_count)
{
	struct sample s = open_text(FILE_OF(CENTRAL)), stored;
	struct shown at = sample_shown(&s, 0, "a");
	struct anim *edited;

	at.style.tangents = true;
	edited = view_edit_ok(&view_bone_csv, &at, ",15,0,0,15,0,0", ",-1,0,0,2.5,0,0");
	stored = sample_store(&s, edited);
	ck_tangents(&stored, 1, -1, 2.5f);
	ck_tangents(&stored, 2, 25, 25);
	sample_close(&stored);
	anim_free(edited);
	at.style.tangents = false;
	edited = view_edit_ok(&view_bone_json, &at, "\"out\": [15, 0, 0]", "\"out\": [7, 0, 0]");
	stored = sample_store(&s, edited);
	ck_tangents(&stored, 1, 15, 7);
	sample_close(&stored);
	anim_free(edited);
	at.style.tangents = true;
	edited = view_edit_ok(&view_curves_csv, &at, ",15,0,0,,15,0,0,", ",15,0,0,,-8,0,0,");
	stored = sample_store(&s, edited);
	ck_tangents(&stored, 1, 15, -8);
	sample_close(&stored);
	anim_free(edited);
	view_edit_refused(&view_bone_csv, &at, ",15,0,0,15,0,0", ",15,0,0,inf,0,0", ERR_TEXT, 3, 27,
			  "cannot become infinite");
	sample_close(&s);
}
END_TEST

/* A text that changes only a tangent is an edit. */
START_TEST(a_tangent_by_itself_is_another_statement)
{
	struct sample s = open_text(FILE_OF(CENTRAL));
	struct shown at = sample_shown(&s, 0, "a");
	struct anim *edited =
		view_edit_ok(&view_bone_json, &at, "\"in\": [15, 0, 0]", "\"in\": [0, 0, 0]");
	const struct curve *now = curve_of(edited), *was = curve_of(s.anim);
	struct digest said = now->said;

	ck_assert(now != was && !curve_same(now, was));
	edited->clips = s.anim->clips;
	anim_free(edited);
	edited = view_edit_ok(&view_bone_json, &at, "\"in\": [15, 0, 0]", "\"in\": [15, 0, 0]");
	ck_assert(curve_of(edited) == was);
	ck_assert(said.low || said.high);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(frames_that_are_not_whole_stay_as_they_are)
{
	struct sample s = open_text(FILE_OF(KEY(-0.25, 1, 0, 0) ", " KEY(0.13, 2, 0, 0) ", " KEY(
		0.13, 3, 0, 0) ", " KEY(0.3, 4, 0, 0)));
	struct sample stored = edit_csv(&s, "\n1.3,0.13,3,", "\n1.3,0.13,9,");
	const struct curve *c = curve_of(stored.anim);

	ck_assert_uint_eq(c->count, 4);
	ck_assert(c->timing->between);
	for (uint32_t key = 0; key < 4; key++)
		ck_assert(f32_bits(curve_time(c, key)) ==
			  f32_bits(curve_time(curve_of(s.anim), key)));
	ck_assert_double_eq_tol(curve_value(c, 1, 0), 2, 1e-12);
	ck_assert_double_eq_tol(curve_value(c, 2, 0), 9, 1e-12);
	sample_close(&stored);
	stored = edit_csv(&s, "\n-2.5,-0.25,1,0,0", "\n-2.5,-0.25,1,0,0\n2.125,,5,0,0");
	c = curve_of(stored.anim);
	ck_assert_uint_eq(c->count, 5);
	ck_assert(f32_bits(curve_time(c, 3)) == f32_bits(0.2125f));
	sample_close(&stored);
	sample_close(&s);
}
END_TEST

/* Divided by the rate, the float32 of this frame is another time. */
START_TEST(a_frame_that_was_kept_as_a_float_is_the_same)
{
	static const char *const floats[] = {"4.46916533", "4.469165325164795", "4.4691655"};
	struct sample s = open_text(FILE_OF(KEY(0, 1, 0, 0) ", " KEY(0.44691655, 2, 7, 8)));
	struct shown at = sample_shown(&s, 0, "a");

	for (size_t i = 0; i < ARRAY_SIZE(floats); i++) {
		struct buf row = BUF_INIT, key = BUF_INIT;
		struct anim *same;

		buf_format(&row, "\n%s,0.446917,2.0,", floats[i]);
		buf_char(&row, '\0');
		same = view_edit_ok(&view_bone_csv, &at, "\n4.4691655,0.446917,2,",
				    (const char *)row.data);
		ck_assert(anim_is_unedited(same, s.anim));
		anim_free(same);
		buf_format(&key, "{\"frame\": %s, \"time\": 0.446917, ", floats[i]);
		buf_char(&key, '\0');
		same = view_edit_ok(&view_bone_json, &at,
				    "{\"frame\": 4.4691655, \"time\": 0.446917, ",
				    (const char *)key.data);
		ck_assert(anim_is_unedited(same, s.anim));
		anim_free(same);
		buf_release(&key);
		buf_release(&row);
	}
	sample_close(&s);
}
END_TEST

/*
 * Without the key between frames, the clip has keys at frames, of which one is a little beside its
 * frame: the text that removed the key still says so.
 */
START_TEST(a_frame_that_became_whole_is_the_same)
{
	struct sample s = open_text(
		FILE_OF(KEY(0, 1, 0, 0) ", " KEY(0.13, 2, 0, 0) ", " KEY(0.20003, 3, 0, 0)));
	struct sample whole = edit_csv(&s, "\n1.3,0.13,2,0,0,,,,,,", "");
	struct shown at = sample_shown(&whole, 0, "a");
	struct anim *same;

	ck_assert(curve_of(s.anim)->timing->between && !curve_of(whole.anim)->timing->between);
	same = view_edit_ok(&view_bone_csv, &at, "\n2,0.2,", "\n2.0003,0.20003,");
	ck_assert(anim_is_unedited(same, whole.anim));
	anim_free(same);
	view_edit_refused(&view_bone_csv, &at, "\n2,0.2,", "\n2.0004,0.20004,", ERR_TEXT, 3, 1,
			  "whole frames");
	sample_close(&whole);
	sample_close(&s);
}
END_TEST

/* Of two keys of one time, the one whose row is still there stays, with its tangents. */
START_TEST(the_first_of_two_keys_of_a_time_can_be_removed)
{
	struct sample s = open_text(FILE_OF(KEY(0, 1, 5, 6) ", " KEY(0.13, 2, 7, 8) ", " KEY(
		0.13, 3, 9, 10) ", " KEY(0.3, 4, 11, 12)));
	struct sample stored = edit_csv(&s, "\n1.3,0.13,2,0,0,,,,,,", "");

	ck_assert_uint_eq(curve_of(stored.anim)->count, 3);
	ck_assert_double_eq_tol(curve_value(curve_of(stored.anim), 1, 0), 3, 1e-12);
	ck_tangents(&stored, 1, 9, 10);
	sample_close(&stored);
	stored = edit_csv(&s, "\n1.3,0.13,3,0,0,,,,,,", "");
	ck_assert_double_eq_tol(curve_value(curve_of(stored.anim), 1, 0), 2, 1e-12);
	ck_tangents(&stored, 1, 7, 8);
	sample_close(&stored);
	sample_close(&s);
}
END_TEST

/* The quaternion that stays is too long to be typed; as angles it would get other bits. */
START_TEST(a_quaternion_stays_beside_a_removed_key)
{
	static const struct {
		enum rotations rotations;
		const char *columns, *row;
	} forms[] = {
		{ROTATIONS_STORED, "qx,qy,qz,qw", "\n1.3,0.13,,,,0,0,0,1,,,"},
		{ROTATIONS_EULER, "rx,ry,rz", "\n1.3,0.13,,,,0,0,0,,,"},
	};
	struct sample s = open_text(_i ? TURN(0.6, 0.7995) : TURN(1.2, 1.6)), stored;
	const struct curve *was = s.anim->clips[0].tracks[0].curve[ROLE_ROTATION], *is;
	struct shown at = sample_shown(&s, 0, "a");
	struct buf text;

	s.anim->rotations = forms[_i].rotations;
	text = view_text(&view_bone_csv, &at);
	ck_assert(strstr((const char *)text.data, forms[_i].columns) != NULL);
	buf_release(&text);
	stored = edit_csv(&s, forms[_i].row, "");
	is = stored.anim->clips[0].tracks[0].curve[ROLE_ROTATION];
	ck_assert_uint_eq(is->count, 2);
	for (unsigned axis = 0; axis < 4; axis++)
		ck_assert(f64_same(curve_value(is, 0, axis), curve_value(was, 1, axis)));
	sample_close(&stored);
	sample_close(&s);
}
END_TEST

/* A member of a key that the format does not know goes with its key. */
START_TEST(unknown_members_stay_beside_a_removed_key)
{
	struct sample s = open_text(FILE_OF(KEY(0, 1, 0, 0) ", " NOTED(0.13, 2, 7) ", " NOTED(
		0.13, 3, 8) ", " KEY(0.3, 4, 0, 0)));
	struct sample stored = edit_csv(&s, "\n1.3,0.13,2,0,0,,,,,,", "");
	struct bytes text = buf_bytes(&stored.bytes);

	ck_assert(memmem(text.data, text.size, "\"note\": 8", 9) != NULL);
	ck_assert(memmem(text.data, text.size, "\"note\": 7", 9) == NULL);
	sample_close(&stored);
	sample_close(&s);
}
END_TEST

/*
 * These times are near the middle between two microseconds: computed from the frame as it is
 * written, with the digits of a float32, the time is rounded to the other one.
 */
START_TEST(the_time_of_a_frame_that_is_not_whole_is_the_served_one)
{
	static const struct {
		const struct view *view;
		const char *was, *is;
	} texts[] = {
		{&view_bone_json, "\"channels\": {", "\"channels\":{"},
		{&view_bone_csv, "frame,time,", "frame,TIME,"},
		{&view_curves_csv, "frame,time,", "frame,TIME,"},
	};
	struct sample s = open_text(
		"{\"frameRate\": 29.97, \"transform\": [{\"bone\": \"a\", \"localPosition\": [" KEY(
			0.2865735, 1, 0, 0) ", " KEY(0.3186835, 2, 0, 0) ", " KEY(0.3906965, 3, 0,
										  0) "]}]}");
	struct shown at = sample_shown(&s, 0, "a");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct anim *same = view_edit_ok(texts[i].view, &at, texts[i].was, texts[i].is);

		ck_assert(anim_is_unedited(same, s.anim));
		anim_free(same);
	}
	sample_close(&s);
}
END_TEST

/* In these clips a rate moves no key, so no other place is named for the time. */
START_TEST(a_time_alone_is_refused)
{
	struct sample s = open_text(FILE_OF(CENTRAL));
	struct shown at = sample_shown(&s, 0, "a");

	view_edit_refused(&view_bone_json, &at, "\"time\": 0.2,", "\"time\": 0.25,", ERR_TEXT, 9,
			  28, "only the time was changed");
	view_edit_refused(&view_bone_csv, &at, "\n2,0.2,", "\n2,0.25,", ERR_TEXT, 4, 3,
			  "the time as it was; a key is moved by its frame");
	sample_close(&s);
}
END_TEST

START_TEST(where_keys_stand_at_frames_new_ones_do_too)
{
	struct sample s = open_text(FILE_OF(CENTRAL));
	struct shown at = sample_shown(&s, 0, "a");

	view_edit_refused(&view_bone_csv, &at, "\n2,0.2,", "\n2.5,0.2,", ERR_TEXT, 4, 1,
			  "whole frames");
	view_edit_refused(&view_clip_json, &at, "\"frames\": 4", "\"frames\": 5", ERR_STORE, 4, 13,
			  "ends with its last key");
	sample_close(&s);
}
END_TEST

/* A frame of such a rate would last for hours or ages; keys could not be stored at most frames. */
START_TEST(a_rate_that_is_too_low_is_none)
{
	struct sample s = open_text(
		"{\"frameRate\": 1e-38, \"transform\": [{\"bone\": \"a\", \"localPosition\": [" KEY(
			0, 1, 0, 0) "]}]}");
	struct shown at = sample_shown(&s, 0, "a");
	struct anim *edited;

	ck_assert_double_eq(s.anim->rate, 30);
	edited = view_edit_ok(&view_bone_csv, &at, "\n0,0,1,0,0", "\n256,,1,0,0");
	ck_assert_float_eq(curve_time(edited->clips[0].tracks[0].curve[ROLE_TRANSLATION], 0),
			   256.0f / 30);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/* As when the text of another bone is copied, which has a curve that this bone lacks. */
START_TEST(a_new_channel_of_a_json_is_cubic)
{
	struct sample s = open_text(FILE_OF(CENTRAL)), stored;
	struct shown at = sample_shown(&s, 0, "a");
	struct anim *edited = view_edit_ok(
		&view_bone_json, &at, "\"channels\": {",
		"\"channels\": {\"scale\": {\"unit\": \"1\", \"interpolation\": \"cubic\", "
		"\"static\": false, \"keys\": [{\"frame\": 2, \"time\": 0.2, \"value\": [1, 2, 3], "
		"\"in\": [4, 5, 6], \"out\": [7, 8, 9]}]},");
	const struct curve *c;

	stored = sample_store(&s, edited);
	c = stored.anim->clips[0].tracks[0].curve[ROLE_SCALE];
	ck_assert_uint_eq(c->count, 1);
	ck_assert_double_eq_tol((double)curve_tangent(c, 0, TANGENT_IN, 2), 6, 1e-12);
	ck_assert_double_eq_tol((double)curve_tangent(c, 0, TANGENT_OUT, 0), 7, 1e-12);
	sample_close(&stored);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/* A stored time of six decimals stays, even if the new rate moves it to another frame. */
START_TEST(a_change_of_the_rate_moves_no_key)
{
	struct sample s = open_text(FILE_OF(CENTRAL)), stored;
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited = view_edit_ok(&view_clip_json, &at, "\"rate\": 10", "\"rate\": 20");

	stored = sample_store(&s, edited);
	ck_assert(curve_same(curve_of(stored.anim), curve_of(s.anim)));
	ck_assert_uint_eq(curve_frame(curve_of(stored.anim), 3), 6);
	ck_assert_uint_eq(stored.anim->clips[0].frames, 7);
	sample_close(&stored);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/*
 * clip.json shows whether keys are at frames. After a change of the rate that puts keys at frames,
 * a text may still have the old value; to edit only that value is refused.
 */
START_TEST(the_grid_follows_from_the_rate)
{
	struct sample s = open_text(FILE_OF(CENTRAL)), between, back;
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited = view_edit_ok(&view_clip_json, &at, "\"rate\": 10", "\"rate\": 9.9");

	between = sample_store(&s, edited);
	anim_free(edited);
	ck_assert(curve_of(between.anim)->timing->between);
	at = sample_shown(&between, 0, NULL);
	view_edit_refused(&view_clip_json, &at, "\"grid\": \"times\"", "\"grid\": \"frames\"",
			  ERR_TEXT, 5, 84, "\"grid\" cannot be changed here");
	edited = view_edit_ok(&view_clip_json, &at,
			      "\"rate\": 9.9, \"tangents\": \"kept\", \"grid\": \"times\"",
			      "\"rate\": 10, \"tangents\": \"kept\", \"grid\": \"frames\"");
	back = sample_store(&between, edited);
	anim_free(edited);
	ck_assert(!curve_of(back.anim)->timing->between);
	sample_close(&back);
	sample_close(&between);
	sample_close(&s);
}
END_TEST

/* An editor that changes the rate twice has the number of frames and the length from before. */
START_TEST(what_follows_from_the_rate_may_be_stale)
{
	static const char *const was =
		"\"frames\": 7, \"time_unit\": \"s\", \"seconds\": 0.3,\n"
		"  \"ff9clip\": {\"form\": \"json\", \"name\": \"\", \"rate\": 20,";
	struct sample s = open_text(FILE_OF(CENTRAL)), fast, slow;
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited = view_edit_ok(&view_clip_json, &at, "\"rate\": 10", "\"rate\": 20");

	fast = sample_store(&s, edited);
	anim_free(edited);
	at = sample_shown(&fast, 0, NULL);
	view_edit_refused(&view_clip_json, &at, "\"frames\": 7", "\"frames\": 4", ERR_STORE, 4, 13,
			  "ends with its last key");
	view_edit_refused(&view_clip_json, &at, "\"seconds\": 0.3", "\"seconds\": 0.27", ERR_TEXT,
			  4, 45, "\"seconds\" cannot be changed here");
	edited = view_edit_ok(&view_clip_json, &at, was,
			      "\"frames\": 4, \"time_unit\": \"s\", \"seconds\": 0.27,\n"
			      "  \"ff9clip\": {\"form\": \"json\", \"name\": \"\", \"rate\": 10,");
	slow = sample_store(&fast, edited);
	anim_free(edited);
	ck_assert_uint_eq(slow.anim->clips[0].frames, 4);
	sample_close(&slow);
	sample_close(&fast);
	sample_close(&s);
}
END_TEST

Suite *tangents_suite(void);

Suite *tangents_suite(void)
{
	Suite *s = suite_create("tangents");
	TCase *t = tcase_create("tangents");

	tcase_add_test(t, between_keys_it_is_a_hermite_spline);
	tcase_add_test(t, a_component_goes_from_key_to_key_of_its_own);
	tcase_add_test(t, a_sampled_curve_has_its_value_in_each_frame);
	tcase_add_loop_test(t, an_edit_follows_the_rule_of_the_keys_around_it, 0,
			    ARRAY_SIZE(edits));
	tcase_add_test(t, tangents_that_are_given_count);
	tcase_add_test(t, a_tangent_by_itself_is_another_statement);
	tcase_add_test(t, frames_that_are_not_whole_stay_as_they_are);
	tcase_add_test(t, a_frame_that_was_kept_as_a_float_is_the_same);
	tcase_add_test(t, a_frame_that_became_whole_is_the_same);
	tcase_add_test(t, the_first_of_two_keys_of_a_time_can_be_removed);
	tcase_add_loop_test(t, a_quaternion_stays_beside_a_removed_key, 0, 2);
	tcase_add_test(t, unknown_members_stay_beside_a_removed_key);
	tcase_add_test(t, the_time_of_a_frame_that_is_not_whole_is_the_served_one);
	tcase_add_test(t, a_time_alone_is_refused);
	tcase_add_test(t, where_keys_stand_at_frames_new_ones_do_too);
	tcase_add_test(t, a_rate_that_is_too_low_is_none);
	tcase_add_test(t, a_new_channel_of_a_json_is_cubic);
	tcase_add_test(t, a_change_of_the_rate_moves_no_key);
	tcase_add_test(t, the_grid_follows_from_the_rate);
	tcase_add_test(t, what_follows_from_the_rate_may_be_stale);
	suite_add_tcase(s, t);
	return s;
}
