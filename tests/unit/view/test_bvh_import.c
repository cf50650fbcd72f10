/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/rotation.h"
#include "odd.h"
#include "refused_edit.h"

static struct sample s;
static struct shown at;
static struct anim *model; /* a model without scales, in which only roots move */
static struct skeleton *skeleton;

/*
 * Makes a model of three frames whose bones have angles, with a skeleton that has a bone more than
 * the clip.
 */
static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
	skeleton = read_skeleton(odd_skeleton);
	model = anim_edit(s.anim);
	for (uint32_t track = 0; track < 4; track++)
		anim_edit_track(model, 0, track)->curve[ROLE_SCALE] = NULL;
	anim_edit_track(model, 0, 2)->curve[ROLE_TRANSLATION] = NULL;
	at.anim = model;
	at.skeleton = skeleton;
}

static void teardown(void)
{
	anim_free(model);
	skeleton_free(skeleton);
	sample_close(&s);
}

/* ---- as it was ---- */

START_TEST(its_own_text_changes_nothing)
{
	unsigned count = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		struct shown shown = sample_shown(&one, 0, NULL);

		shown.style.lossy_bvh = _i;
		for (; shown.clip < one.anim->clip_count; shown.clip++) {
			struct err err = {0};
			struct buf text, bytes = BUF_INIT;
			struct anim *same;

			if (!view_bvh.present(&shown))
				continue;
			text = view_text(&view_bvh, &shown);
			same = view_bvh.parse(&shown, buf_bytes(&text), &err);
			ck_assert_msg(same != NULL, "%s: %s", *name, err.message);
			ck_assert(model_same(same, one.anim));
			ck_assert(one.codec->encode(same, shown.raw, &bytes, &err));
			ck_assert(bytes_equal(buf_bytes(&bytes), shown.raw));
			anim_free(same);
			buf_release(&bytes);
			buf_release(&text);
			count++;
		}
		sample_close(&one);
	}
	ck_assert_uint_gt(count, _i ? 10 : 4);
}
END_TEST

START_TEST(numbers_of_any_kind_change_nothing)
{
	struct curve vectors = odd_curve(CURVE_VECTOR, 5, odd_numbers);
	struct curve euler = odd_curve(CURVE_EULER, 5, odd_numbers);
	struct curve quaternions = odd_curve(CURVE_QUATERNION, 5, odd_quaternions);
	const struct curve *const curves[][ROLE_COUNT] = {{&vectors, &euler, NULL},
							  {&vectors, &quaternions, NULL}};

	at.skeleton = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		struct anim *odd = odd_model(&s, 5, curves[i]);
		struct err err = {0};
		struct anim *same;
		struct buf text;

		anim_edit_track(odd, 0, 2)->curve[ROLE_SCALE] = NULL;
		at.anim = odd;
		text = view_text(&view_bvh, &at);
		same = view_bvh.parse(&at, buf_bytes(&text), &err);
		ck_assert_msg(same != NULL, "%s", err.message);
		ck_assert(model_same(same, odd));
		anim_free(same);
		anim_free(odd);
		buf_release(&text);
	}
}
END_TEST

/* Returns the text with each `was` replaced by `is`; the caller frees it. */
static char *all_edited(const char *text, const char *was, const char *is)
{
	struct buf out = BUF_INIT;
	const char *found;

	for (; (found = strstr(text, was)); text = found + strlen(was)) {
		buf_add(&out, text, (size_t)(found - text));
		buf_text(&out, is);
	}
	buf_text(&out, text);
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	return (char *)out.data;
}

static void assert_unchanged(const char *text)
{
	struct err err = {0};
	struct anim *same = view_bvh.parse(&at, bytes_of(text), &err);

	ck_assert_msg(same != NULL, "%s (%s)", err.message, err.accepted);
	ck_assert(model_same(same, model));
	anim_free(same);
}

START_TEST(spelling_changes_nothing)
{
	static const char *const pairs[][2] = {{"\n", "\r\n"},
					       {"  ", "\t"},
					       {"JOINT", "joint"},
					       {"Frame Time: 0.033333335", "Frame Time: 0.033333"},
					       {"OFFSET 1.5 -2 0.25", "OFFSET 15e-1 -2.000 +.25"},
					       {"-180", "180"}};
	struct buf text = view_text(&view_bvh, &at);

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		char *other = all_edited((char *)text.data, pairs[i][0], pairs[i][1]);

		ck_assert_msg(strcmp(other, (char *)text.data) != 0, "no %s", pairs[i][0]);
		assert_unchanged(other);
		free(other);
	}
	buf_release(&text);
}
END_TEST

/* ---- as other programs write it ---- */

/*
 * A text as Blender exports it: positions for all bones, six decimals, and channels in another
 * order.
 */
static const char exported[] =
	"HIERARCHY\nROOT __0\n{\n\tOFFSET 0.0 0.0 0.0\n\tCHANNELS 0\n"
	"\tJOINT Scene_Root\n\t{\n\t\tOFFSET 0.000000 0.000000 0.000000\n"
	"\t\tCHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation\n"
	"\t\tJOINT Bone01\n\t\t{\n\t\t\tOFFSET 1.500000 %s\n"
	"\t\t\tCHANNELS 6 Zrotation Yrotation Xrotation Xposition Yposition Zposition\n"
	"\t\t\tEnd Site\n\t\t\t{\n\t\t\t\tOFFSET 0 0 0\n\t\t\t}\n\t\t}\n\t}\n}\n"
	"MOTION\nFrames: 3\nFrame Time: 0.041667\n%s";

static const char upright[] =
	"0 0 0 0 0 0 11.460703 5.729578 -180.000000 1.500000 -2.000000 0.250001 \n"
	"0 0 0 0 0 0 11.460875 5.729578 -60.000004 1.500000 -2.000000 0.250000 \n"
	"0 0 0 0 0 0 22.723793 5.729578 180.000000 1.500000 -2.000000 0.250000 \n";

START_TEST(what_blender_exports_changes_nothing)
{
	char text[2000];
	char *timed;

	snprintf(text, sizeof(text), exported, "-2.000000 0.250000", upright);
	timed = text_edit(text, "0.041667", "0.033333");
	assert_unchanged(timed);
	free(timed);
}
END_TEST

/* Converts x y z to what Blender shows when it rotates an import: x -z y. */
static void turn_z_up(double v[3])
{
	double y = v[1];

	v[1] = -v[2];
	v[2] = y;
}

START_TEST(what_was_turned_to_have_z_up_is_turned_back)
{
	static const double angles[][3] = {{-180, 5.729578, 11.460703},
					   {-60.000004, 5.729578, 11.460875},
					   {180, 5.729578, 22.723793}};
	static const double none[4] = {0, 0, 0, 1};
	struct buf rows = BUF_INIT;
	char text[2000];
	char *timed;

	for (unsigned frame = 0; frame < 3; frame++) {
		double q[4], turned[3];

		rotation_quaternion(angles[frame], none, q);
		turn_z_up(q);
		rotation_euler(q, none, turned);
		buf_format(&rows, "0 0 0 0 0 0 %f %f %f 1.5 -0.25 -2\n", turned[2], turned[1],
			   turned[0]);
	}
	buf_char(&rows, '\0');
	snprintf(text, sizeof(text), exported, "-0.25 -2", (char *)rows.data);
	timed = text_edit(text, "0.041667", "0.033333");
	assert_unchanged(timed);
	free(timed);
	buf_release(&rows);
}
END_TEST

/* ---- the root above the bones ---- */

static void assert_refused(const char *text, enum err_code code, const char *words)
{
	struct err err = {0};
	struct anim *edited = view_bvh.parse(&at, bytes_of(text), &err);

	ck_assert_msg(edited == NULL, "accepted");
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words), "%s (%s)",
		      err.message, err.accepted);
}

/* The text is as Blender exports a root of its own: with all channels. */
START_TEST(the_root_above_the_bones_does_not_move)
{
	static const struct {
		const char *channels, *cells, *refused;
	} roots[] = {
		{"CHANNELS 0", "", NULL},
		{"CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation",
		 "0.000000 0.000000 -0.000000 0 -0 0.000000 ", NULL},
		{"CHANNELS 3 Zrotation Yrotation Xrotation", "0 0 5 ",
		 "root above the bones moves"},
		{"CHANNELS 1 Yposition", "0.1 ", "root above the bones moves"},
	};

	at.skeleton = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		struct buf text = view_text(&view_bvh, &at);
		char row[100], *first, *all;
		struct err err = {0};
		struct anim *edited;

		first = text_edit((char *)text.data, "CHANNELS 0", roots[i].channels);
		snprintf(row, sizeof(row), "\n%s0 0 0 0 0 0 1.5 ", roots[i].cells);
		all = all_edited(first, "\n0 0 0 0 0 0 1.5 ", row);
		edited = view_bvh.parse(&at, bytes_of(all), &err);
		ck_assert_msg(!edited == !!roots[i].refused, "%zu: %s", i, err.message);
		ck_assert(edited || strstr(err.message, roots[i].refused));
		ck_assert(!edited || model_same(edited, model));
		anim_free(edited);
		free(first);
		free(all);
		buf_release(&text);
	}
}
END_TEST

/* Without that root, or if the root does not rotate, the figure would be upside down. */
START_TEST(a_figure_whose_y_points_down_is_turned)
{
	static const char own[] = "CHANNELS 3 Zrotation Yrotation Xrotation";
	struct format format = *model->format;
	struct buf text;
	char *edited, *rows;

	at.skeleton = NULL;
	format.y_down = true;
	model->format = &format;
	text = view_text(&view_bvh, &at);
	assert_unchanged((char *)text.data);
	rows = all_edited((char *)text.data, "\n0 0 180 ", "\n-180 180 0 ");
	assert_unchanged(rows);
	free(rows);
	rows = all_edited((char *)text.data, "\n0 0 180 ", "\n0 180 0 ");
	assert_refused(rows, ERR_TEXT, "root above the bones moves in frame 0");
	free(rows);
	edited = text_edit((char *)text.data, own, "CHANNELS 0");
	rows = all_edited(edited, "\n0 0 180 ", "\n");
	assert_refused(rows, ERR_TEXT, "does not turn them upright");
	free(rows);
	free(edited);
	assert_refused(
		"HIERARCHY ROOT Bone01 { OFFSET 0 0 0 CHANNELS 1 Xrotation } MOTION Frames: 3 "
		"Frame Time: 0.033333335\n0\n0\n0\n",
		ERR_TEXT, "the parent of \"Bone01\" is nothing here, and the figure");
	buf_release(&text);
}
END_TEST

static char *below_another_root(const struct buf *text)
{
	char *begun =
		text_edit((char *)text->data, "ROOT ", "ROOT all { OFFSET 0 0 0 CHANNELS 0 JOINT ");
	char *whole = text_edit(begun, "MOTION", "} MOTION");

	free(begun);
	return whole;
}

/* Programs put a ROOT of their own, without channels, above everything. */
START_TEST(a_root_without_channels_may_be_above_all)
{
	struct format format = *model->format;

	at.skeleton = NULL;
	for (unsigned i = 0; i < 2; i++) {
		struct buf text;
		char *whole, *moved;

		format.y_down = i > 0;
		model->format = &format;
		text = view_text(&view_bvh, &at);
		whole = below_another_root(&text);
		assert_unchanged(whole);
		moved = text_edit(whole, "all { OFFSET 0 0 0", "all { OFFSET 0 1 0");
		assert_refused(moved, ERR_TEXT, "no bone of this clip has this name");
		free(moved);
		free(whole);
		buf_release(&text);
	}
}
END_TEST

/* Checks that all curves but one role of a bone are the same pointers. */
static void assert_others(const struct anim *edited, uint32_t bone, enum role role)
{
	for (uint32_t track = 0; track < 4; track++)
		for (unsigned i = 0; i < ROLE_COUNT; i++)
			ck_assert((edited->clips[0].tracks[track].curve[i] ==
				   model->clips[0].tracks[track].curve[i]) !=
				  (track == bone && i == role));
}

/*
 * At a right angle of the middle rotation, the outer two are about one axis: in float32 each is off
 * by some noise.
 */
START_TEST(outer_turns_may_be_off_where_the_middle_one_is_a_right_angle)
{
	static const double middle[] = {89.99, -90.01, 45};
	double angles[3] = {10, middle[_i], 20};
	struct curve curve = odd_curve(CURVE_EULER, 1, angles);
	struct err err = {0};
	struct anim *edited;

	at.skeleton = NULL;
	anim_edit_track(model, 0, 1)->curve[ROLE_ROTATION] = &curve;
	edited = view_edit(&view_bvh, &at, "0 0 0 1.5 -2 0.25 20 ", "0 0 0 1.5 -2 0.25 20.02 ",
			   &err);
	ck_assert_msg(edited != NULL, "%s", err.message);
	ck_assert(model_same(edited, model) == (_i < 2));
	anim_free(edited);
	edited = view_edit_ok(&view_bvh, &at, "0 0 0 1.5 -2 0.25 20 ", "0 0 0 1.5 -2 0.25 22 ");
	assert_others(edited, 1, ROLE_ROTATION);
	anim_free(edited);
}
END_TEST

/* Computes the quaternion of rotations about axes, the first outermost. */
static void turns(const char *order, const double *angles, double q[4])
{
	q[0] = q[1] = q[2] = 0;
	q[3] = 1;
	for (unsigned i = 0; order[i]; i++) {
		unsigned x = (unsigned)(order[i] - 'X'), y = (x + 1) % 3, z = (x + 2) % 3;
		double sine = sin(angles[i] * M_PI / 360), cosine = cos(angles[i] * M_PI / 360);
		const double a[4] = {q[0], q[1], q[2], q[3]};

		q[3] = a[3] * cosine - a[x] * sine;
		q[x] = a[x] * cosine + a[3] * sine;
		q[y] = a[y] * cosine + a[z] * sine;
		q[z] = a[z] * cosine - a[y] * sine;
	}
}

static const char *const orders[] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "X", "Y", "ZX"};

START_TEST(channels_turn_in_their_order)
{
	static const double angles[3] = {20, -50, 110};
	const char *order = orders[_i];
	struct buf text = BUF_INIT;
	struct err err = {0};
	struct anim *edited;
	const struct curve *now;
	double want[4], q[4], euler[4], dot = 0;

	at.skeleton = NULL;
	buf_format(&text, "HIERARCHY ROOT Bone01 { OFFSET 0 0 0 CHANNELS %zu", strlen(order));
	for (const char *c = order; *c; c++)
		buf_format(&text, " %crotation", *c);
	buf_text(&text, " } MOTION Frames: 3 Frame Time: 0.033333\n");
	for (unsigned row = 0; row < 3; row++)
		for (unsigned i = 0; order[i]; i++)
			buf_format(&text, "%g%c", angles[i], order[i + 1] ? ' ' : '\n');
	edited = view_bvh.parse(&at, buf_bytes(&text), &err);
	ck_assert_msg(edited != NULL, "%s", err.message);
	now = edited->clips[0].tracks[1].curve[ROLE_ROTATION];
	curve_sample(now, 1, euler);
	turns(order, angles, want);
	rotation_quaternion(euler, want, q);
	for (unsigned axis = 0; axis < 4; axis++)
		dot += q[axis] * want[axis];
	ck_assert_double_eq_tol(dot, 1, 1e-12);
	ck_assert_ptr_eq(edited->clips[0].tracks[1].curve[ROLE_TRANSLATION],
			 model->clips[0].tracks[1].curve[ROLE_TRANSLATION]);
	anim_free(edited);
	buf_release(&text);
}
END_TEST

/* ---- edits ---- */

START_TEST(an_angle_that_was_edited_arrives)
{
	struct anim *edited = view_edit_ok(&view_bvh, &at, "11.460875 5.729578", "21.5 5.729578");
	const struct curve *was = model->clips[0].tracks[1].curve[ROLE_ROTATION];
	const struct curve *now = edited->clips[0].tracks[1].curve[ROLE_ROTATION];

	assert_others(edited, 1, ROLE_ROTATION);
	ck_assert_uint_eq(now->count, 3);
	for (uint32_t key = 0; key < 3; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			if (key == 1 && axis == 2)
				ck_assert_double_eq_tol(curve_value(now, key, axis), 21.5, 1e-9);
			else
				ck_assert(curve_value(now, key, axis) ==
					  curve_value(was, key, axis));
	anim_free(edited);
}
END_TEST

START_TEST(a_root_that_was_moved_moves)
{
	struct anim *edited;
	const struct curve *now;

	at.skeleton = NULL;
	edited = view_edit_ok(&view_bvh, &at, "1.5 -2 0.25 11.460875", "7 8 9 11.460875");
	now = edited->clips[0].tracks[1].curve[ROLE_TRANSLATION];
	assert_others(edited, 1, ROLE_TRANSLATION);
	ck_assert(now->keyed && now->count == 3);
	for (unsigned axis = 0; axis < 3; axis++) {
		ck_assert(curve_value(now, 1, axis) == 7 + axis);
		ck_assert(curve_value(now, 2, axis) ==
			  curve_value(model->clips[0].tracks[1].curve[ROLE_TRANSLATION], 0, axis));
	}
	anim_free(edited);
}
END_TEST

START_TEST(a_name_of_many_words_is_found_again)
{
	struct anim *edited;

	anim_edit_track(model, 0, 1)->label = "Bip01 L\xe3\x80\x80"
					      "Arm";
	at.skeleton = NULL;
	edited = view_edit_ok(&view_bvh, &at, "11.460875 5.729578", "21.5 5.729578");
	assert_others(edited, 1, ROLE_ROTATION);
	anim_free(edited);
}
END_TEST

/* ---- refused texts ---- */

static const struct refused_edit refused[] = {
	{"JOINT hip", "JOINT hips", 18, 15, "no bone of this clip"},
	{"JOINT hip", "JOINT Bone01", 18, 15, "\"Bone01\" is listed twice"},
	{"JOINT \xe5\x8f\xb3\xe6\x89\x8b", "JOINT hip", 30, 9, "\"hip\" is listed twice"},
	{"JOINT mid", "JOINT hip", 14, 13, "the parent of \"hip\" is Bone01 here, and mid"},
	{"OFFSET 1.5 -2 0.25", "OFFSET 1.5 -2 0.26", 12, 14, "OFFSET 1.5 -2 0.25;"},
	{"Frames: 3", "Frames: 4", 41, 9, "clip.json"},
	{"Frame Time: 0.033333335", "Frame Time: 0.041667", 42, 13, "clip.json"},
	{"-180 90 0 0", "-180 91 0 0", 43, 37, "\"mid\" turns in frame 0"},
};

START_TEST(what_a_bvh_cannot_bring_back_is_refused)
{
	view_edit_refused(&view_bvh, &at, refused[_i].was, refused[_i].is, ERR_TEXT,
			  refused[_i].line, refused[_i].column, refused[_i].words);
}
END_TEST

START_TEST(no_bone_below_another_is_moved)
{
	char text[2000];
	char *moved;

	at.style.resample = true;
	snprintf(text, sizeof(text), exported, "-2.000000 0.250000", upright);
	moved = text_edit(text, "-60.000004 1.500000", "-60.000004 1.501000");
	assert_refused(moved, ERR_TEXT, "\"Bone01\" moves in frame 1");
	free(moved);
}
END_TEST

static struct anim *bvh_taken(const char *text)
{
	struct err err = {0};
	struct anim *edited = view_bvh.parse(&at, bytes_of(text), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

START_TEST(another_frame_time_is_refused)
{
	char text[2000];
	char *turned, *rounded;

	snprintf(text, sizeof(text), exported, "-2.000000 0.250000", upright);
	assert_refused(text, ERR_TEXT, "Update Scene FPS");
	turned = text_edit(text, "22.723793", "12.5");
	assert_refused(turned, ERR_TEXT, "23.9998 frames a second, and the clip has 30");
	free(turned);
	turned = text_edit(text, "Frames: 3", "Frames: 2");
	assert_refused(turned, ERR_TEXT, "--gltf-rate=resample");
	free(turned);
	/* Some programs round the frame time. */
	turned = text_edit(text, "0.041667", "0.033");
	rounded = text_edit(turned, "22.723793", "12.5");
	anim_free(bvh_taken(rounded));
	free(rounded);
	free(turned);
	/* The text may be rendered by animfs when the clip had another rate. */
	at.as_rendered = true;
	assert_refused(text, ERR_TEXT, "nothing but the time of a frame was changed");
}
END_TEST

static double turn_about_z(const struct curve *c, uint32_t key)
{
	double q[4];

	if (c->kind != CURVE_QUATERNION)
		return curve_value(c, key, 2);
	for (unsigned axis = 0; axis < 4; axis++)
		q[axis] = curve_value(c, key, axis);
	return 2 * atan2(q[2], q[3]) * 180 / M_PI;
}

/*
 * If there are as many rows as the clip has frames, rows are frames; otherwise the motion is read
 * at the times of frames.
 */
START_TEST(or_taken_where_that_is_asked_for)
{
	static const char rows[] =
		"0 0 0 0 0 0 0 0 0 1.5 -2 0.25\n0 0 0 0 0 0 10 0 0 1.5 -2 0.25\n"
		"0 0 0 0 0 0 20 0 0 1.5 -2 0.25\n0 0 0 0 0 0 30 0 0 1.5 -2 0.25\n";
	struct anim *edited;
	char text[2000], *turned, *faster;
	const struct curve *turn;

	at.style.resample = true;
	snprintf(text, sizeof(text), exported, "-2.000000 0.250000", upright);
	assert_unchanged(text);
	turned = text_edit(text, "22.723793", "12.5");
	edited = bvh_taken(turned);
	assert_others(edited, 1, ROLE_ROTATION);
	anim_free(edited);
	free(turned);

	snprintf(text, sizeof(text), exported, "-2.000000 0.250000", rows);
	turned = text_edit(text, "Frames: 3", "Frames: 4");
	faster = text_edit(turned, "0.041667", "0.0222222222");
	edited = bvh_taken(faster);
	turn = edited->clips[0].tracks[1].curve[ROLE_ROTATION];
	ck_assert_uint_eq(turn->count, 3);
	ck_assert_double_eq_tol(turn_about_z(turn, 1), 15, 0.01);
	ck_assert_double_eq_tol(turn_about_z(turn, 2), 30, 0.01);
	anim_free(edited);
	free(faster);
	/* More rows than the text has, or more than the clip has time for. */
	faster = text_edit(turned, "Frames: 4", "Frames: 4000000000");
	assert_refused(faster, ERR_TEXT, "clip.json");
	free(faster);
	faster = text_edit(turned, "0.041667", "1e30");
	assert_refused(faster, ERR_TEXT, "clip.json");
	free(faster);
	assert_refused(turned, ERR_TEXT, "clip.json");
	free(turned);
}
END_TEST

START_TEST(what_is_half_written_waits)
{
	struct buf text = view_text(&view_bvh, &at);

	((char *)text.data)[text.size - 20] = '\0';
	assert_refused((char *)text.data, ERR_EARLY, "ends");
	assert_refused("\n", ERR_EMPTY, "empty");
	buf_release(&text);
}
END_TEST

START_TEST(a_lossy_one_is_not_brought_back)
{
	struct buf text;
	struct err err = {0};
	struct anim *same;

	at.anim = s.anim;
	at.style.lossy_bvh = true;
	text = view_text(&view_bvh, &at);
	same = view_bvh.parse(&at, buf_bytes(&text), &err);
	ck_assert_ptr_nonnull(same);
	ck_assert(model_same(same, s.anim));
	anim_free(same);
	text.data[text.size - 2] = '5';
	assert_refused((char *)text.data, ERR_STORE, "\"Bone01\" is scaled in frame 1");
	at.style.lossy_bvh = false;
	assert_refused((char *)text.data, ERR_STORE, "\"Bone01\" is scaled in frame 1");
	buf_release(&text);
}
END_TEST

Suite *bvh_import_suite(void);

Suite *bvh_import_suite(void)
{
	Suite *suite = suite_create("bvh_import");
	TCase *t = tcase_create("bvh_import");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, its_own_text_changes_nothing, 0, 2);
	tcase_add_test(t, numbers_of_any_kind_change_nothing);
	tcase_add_test(t, spelling_changes_nothing);
	tcase_add_test(t, what_blender_exports_changes_nothing);
	tcase_add_test(t, what_was_turned_to_have_z_up_is_turned_back);
	tcase_add_loop_test(t, outer_turns_may_be_off_where_the_middle_one_is_a_right_angle, 0, 3);
	tcase_add_loop_test(t, channels_turn_in_their_order, 0, ARRAY_SIZE(orders));
	tcase_add_test(t, the_root_above_the_bones_does_not_move);
	tcase_add_test(t, a_figure_whose_y_points_down_is_turned);
	tcase_add_test(t, a_root_without_channels_may_be_above_all);
	tcase_add_test(t, an_angle_that_was_edited_arrives);
	tcase_add_test(t, a_root_that_was_moved_moves);
	tcase_add_test(t, a_name_of_many_words_is_found_again);
	tcase_add_loop_test(t, what_a_bvh_cannot_bring_back_is_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(t, no_bone_below_another_is_moved);
	tcase_add_test(t, another_frame_time_is_refused);
	tcase_add_test(t, or_taken_where_that_is_asked_for);
	tcase_add_test(t, what_is_half_written_waits);
	tcase_add_test(t, a_lossy_one_is_not_brought_back);
	return suite;
}
