/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "odd.h"
#include "view/figure.h"

static struct sample s;
static struct shown at;
static struct skeleton *skeleton;

/* The sample without the scale of Bone01, which BVH cannot express. */
static struct anim *model;

static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
	skeleton = read_skeleton(odd_skeleton);
	model = anim_edit(s.anim);
	anim_edit_track(model, 0, 1)->curve[ROLE_SCALE] = NULL;
	at.anim = model;
}

static void teardown(void)
{
	anim_free(model);
	skeleton_free(skeleton);
	sample_close(&s);
}

/* A joint without children. */
#define AT_ORIGIN                                                                                  \
	"  {\n"                                                                                    \
	"    OFFSET 0 0 0\n"                                                                       \
	"    CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"             \
	"    End Site\n"                                                                           \
	"    {\n"                                                                                  \
	"      OFFSET 0 0.1 0\n"                                                                   \
	"    }\n"                                                                                  \
	"  }\n"

static const char roots[] =
	"HIERARCHY\n"
	"ROOT figure\n{\n  OFFSET 0 0 0\n  CHANNELS 0\n"
	"  JOINT Scene_Root\n" AT_ORIGIN "  JOINT Bone01\n" AT_ORIGIN "}\nMOTION\n"
	"Frames: 3\n"
	"Frame Time: 0.033333335\n"
	"0 0 0 0 0 0 1.5 -2 0.25 11.460703 5.729578 -180\n"
	"0 0 0 0 0 0 1.5 -2 0.25 11.460875 5.729578 -60.000004\n"
	"0 0 0 0 0 0 1.5 -2 0.25 22.723793 5.729578 180\n";

START_TEST(angles_stand_as_they_are_stored)
{
	struct buf text;

	anim_edit_clip(model, 0)->track_count = 2;
	ck_assert(view_bvh.present(&at));
	text = view_text(&view_bvh, &at);
	ck_assert_str_eq((const char *)text.data, roots);
	buf_release(&text);
}
END_TEST

/* Checks the text's only ROOT: programs stop reading at a second one. */
static void check_roots(const char *first, const char *names[2], bool y_down)
{
	struct format format = *model->format;
	struct anim *odd = anim_edit(model);
	struct shown shown = at;
	struct buf text;

	format.y_down = y_down;
	odd->format = &format;
	shown.anim = odd;
	anim_edit_clip(odd, 0)->track_count = names[1] ? 2 : 1;
	for (uint32_t i = 0; i < 2 && names[i]; i++)
		anim_edit_track(odd, 0, i)->label = names[i];
	text = view_text(&view_bvh, &shown);
	ck_assert_msg(strncmp((const char *)text.data, first, strlen(first)) == 0, "%.200s",
		      (const char *)text.data);
	ck_assert_ptr_null(strstr(strstr((const char *)text.data, "ROOT") + 1, "ROOT"));
	buf_release(&text);
	anim_free(odd);
}

START_TEST(there_is_one_root)
{
	check_roots("HIERARCHY\nROOT a\n{\n  OFFSET 0 0 0\n  CHANNELS 6 X",
		    (const char *[2]){"a", NULL}, false);
	check_roots("HIERARCHY\nROOT figure\n{\n  OFFSET 0 0 0\n  CHANNELS 6 X",
		    (const char *[2]){"figure", NULL}, false);
	check_roots("HIERARCHY\nROOT figure\n{\n  OFFSET 0 0 0\n  CHANNELS 0\n  JOINT a\n",
		    (const char *[2]){"a", "b"}, false);
	/* The bone keeps its name; the ROOT above gets another one. */
	check_roots("HIERARCHY\nROOT figure__\n{\n  OFFSET 0 0 0\n  CHANNELS 0\n  JOINT figure_\n",
		    (const char *[2]){"figure_", "figure"}, false);
	check_roots("HIERARCHY\nROOT figure\n{\n  OFFSET 0 0 0\n  CHANNELS 0\n  JOINT figure_\n",
		    (const char *[2]){"figure_", "figured"}, false);
	check_roots("HIERARCHY\nROOT figure\n{\n  OFFSET 0 0 0\n"
		    "  CHANNELS 3 Zrotation Yrotation Xrotation\n  JOINT a\n",
		    (const char *[2]){"a", NULL}, true);
}
END_TEST

/* ---- a BVH, taken apart ---- */

#define NODES 300

struct bvh {
	struct node {
		char name[300];
		int parent, channels;
		double offset[3];
	} nodes[NODES];
	int count;
	bool turned; /* the figure is rotated by half a turn about X in every row */
	unsigned frames;
	double seconds;
	const char *rows;
};

/* Reads one word of the text, which must be `want` unless that is NULL. */
static const char *word(const char **p, const char *want)
{
	static char out[320];
	size_t length;

	*p += strspn(*p, " \n");
	length = strcspn(*p, " \n");
	ck_assert_uint_lt(length, sizeof(out));
	memcpy(out, *p, length);
	out[length] = '\0';
	*p += length;
	if (want)
		ck_assert_str_eq(out, want);
	return out;
}

static double real(const char **p)
{
	char *end, *text = (char *)(uintptr_t)word(p, NULL);
	double v = strtod(text, &end);

	ck_assert(end != text && *end == '\0' && isfinite((float)v));
	return v;
}

static void read_node(struct bvh *b, const char **p, int parent)
{
	static const char *const channels[] = {"Xposition", "Yposition", "Zposition",
					       "Zrotation", "Yrotation", "Xrotation"};
	int number = b->count++;
	struct node *n = &b->nodes[number];

	ck_assert_int_lt(number, NODES);
	n->parent = parent;
	strcpy(n->name, word(p, NULL));
	word(p, "{");
	word(p, "OFFSET");
	for (unsigned axis = 0; axis < 3; axis++)
		n->offset[axis] = real(p);
	word(p, "CHANNELS");
	n->channels = (int)real(p);
	ck_assert(n->channels == 6 || (n->channels == 3 && parent >= 0) ||
		  strcmp(n->name, "figure") == 0);
	for (int i = 6 - n->channels; i < 6; i++)
		word(p, channels[i]);
	for (;;) {
		const char *next = word(p, NULL);

		if (strcmp(next, "JOINT") == 0) {
			read_node(b, p, number);
		} else if (strcmp(next, "End") == 0) {
			word(p, "Site");
			word(p, "{");
			word(p, "OFFSET");
			for (unsigned axis = 0; axis < 3; axis++)
				real(p);
			word(p, "}");
		} else {
			ck_assert_str_eq(next, "}");
			return;
		}
	}
}

/* Removes the root above the bones from the list, since it is not a bone. */
static void leave_figure(struct bvh *b)
{
	if (b->nodes[0].channels == 6)
		return;
	b->turned = b->nodes[0].channels == 3;
	memmove(b->nodes, b->nodes + 1, (size_t)--b->count * sizeof(*b->nodes));
	for (int i = 0; i < b->count; i++)
		b->nodes[i].parent--;
}

static void bvh_read(struct bvh *b, const char *text)
{
	const char *p = text;

	memset(b, 0, sizeof(*b));
	word(&p, "HIERARCHY");
	word(&p, "ROOT");
	read_node(b, &p, -1);
	word(&p, "MOTION");
	leave_figure(b);
	word(&p, "Frames:");
	b->frames = (unsigned)real(&p);
	word(&p, "Frame");
	word(&p, "Time:");
	b->seconds = real(&p);
	b->rows = p;
}

/* Computes the quaternion of rotations about Z, Y and X, the first outermost. */
static void turn(const double zyx[3], double out[4])
{
	double q[4] = {0, 0, 0, 1};

	for (unsigned i = 0; i < 3; i++) {
		unsigned axis = 2 - i;
		double half = zyx[i] * M_PI / 360, t[4] = {0, 0, 0, cos(half)};
		double a[4] = {q[0], q[1], q[2], q[3]};

		t[axis] = sin(half);
		q[0] = a[3] * t[0] + a[0] * t[3] + a[1] * t[2] - a[2] * t[1];
		q[1] = a[3] * t[1] - a[0] * t[2] + a[1] * t[3] + a[2] * t[0];
		q[2] = a[3] * t[2] + a[0] * t[1] - a[1] * t[0] + a[2] * t[3];
		q[3] = a[3] * t[3] - a[0] * t[0] - a[1] * t[1] - a[2] * t[2];
	}
	memcpy(out, q, sizeof(q));
}

static int64_t track_of(const struct clip *clip, const char *name)
{
	for (uint32_t i = 0; i < clip->track_count; i++)
		if (strcmp(clip->tracks[i].label, name) == 0)
			return i;
	return -1;
}

/* Checks that every number of a row is that of the pose. */
static void assert_frame(const struct bvh *b, const struct shown *shown, const struct rig *rig,
			 uint32_t frame, const char **p)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];

	ck_assert(b->turned == shown->anim->format->y_down);
	for (unsigned axis = 0; b->turned && axis < 3; axis++)
		ck_assert(real(p) == (axis == 2 ? 180 : 0));
	for (int i = 0; i < b->count; i++) {
		const struct node *n = &b->nodes[i];
		int64_t track = track_of(clip, n->name);
		struct pose pose = track >= 0
					   ? rig_pose(rig, clip, (uint32_t)track, frame)
					   : joint_pose(skeleton_joint(shown->skeleton, n->name));
		double angles[3], q[4], dot = 0;

		for (unsigned axis = 0; axis < 3; axis++) {
			double v = n->channels == 6 ? real(p) : n->offset[axis];

			double wanted = fmin(fmax(pose.translation[axis], -1e30), 1e30);

			ck_assert_double_eq_tol(v, wanted, 1e-5 + 1e-6 * fabs(v));
			if (n->parent < 0)
				ck_assert(n->offset[axis] == 0);
		}
		for (unsigned axis = 0; axis < 3; axis++)
			angles[axis] = real(p);
		turn(angles, q);
		for (unsigned axis = 0; axis < 4; axis++)
			dot += q[axis] * pose.rotation[axis];
		ck_assert_double_eq_tol(fabs(dot), 1, 1e-6);
	}
}

static int assert_sound(const struct shown *shown, int placed)
{
	struct arena arena = ARENA_INIT;
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct rig *rig = rig_make(shown->skeleton, clip, &arena);
	struct buf text = view_text(&view_bvh, shown);
	struct bvh b;

	bvh_read(&b, (const char *)text.data);
	ck_assert_int_ge(b.count, (int)clip->track_count);
	ck_assert_uint_eq(b.frames, clip->frames);
	ck_assert_float_eq((float)b.seconds, (float)anim_seconds_per_frame(shown->anim, clip));
	for (int i = 0; i < b.count; i++)
		placed -= b.nodes[i].parent >= 0 && b.nodes[i].channels == 6;
	ck_assert_int_eq(placed, 0);
	for (uint32_t frame = 0; frame < clip->frames; frame++)
		assert_frame(&b, shown, rig, frame, &b.rows);
	ck_assert_str_eq(b.rows, "\n");
	buf_release(&text);
	arena_release(&arena);
	return b.count;
}

START_TEST(every_sample_that_fits_is_posed_as_it_should)
{
	unsigned count = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		struct shown shown = sample_shown(&one, 0, NULL);

		for (; shown.clip < one.anim->clip_count; shown.clip++) {
			if (!view_bvh.present(&shown))
				continue;
			assert_sound(&shown, 0);
			count++;
		}
		sample_close(&one);
	}
	ck_assert_uint_gt(count, 4);
}
END_TEST

/* If several keys are in one frame, as in some Overwatch files, all views use the same one. */
START_TEST(a_key_that_counts_is_what_is_sampled)
{
	static const double values[] = {9, 9, 9, 1, 2, 3, 4, 5, 6, 9, 9, 9, 9, 9, 9, 7, 8, 0};
	static const uint32_t frames[] = {0, 0, 1, 3, 3, 3};
	struct curve curve = odd_curve(CURVE_VECTOR, 6, values);
	struct arena arena = ARENA_INIT;
	struct figure f;
	struct channel c;
	unsigned count = 0;

	curve.frames = frames;
	anim_edit_track(model, 0, 1)->curve[ROLE_TRANSLATION] = &curve;
	anim_edit_clip(model, 0)->frames = 4;
	assert_sound(&at, 0);
	ck_assert(figure_make(&f, &at, &arena));
	c = channel_of(&f, 1, ROLE_TRANSLATION);
	for (; channel_next(&c); count++) {
		double value[4];

		curve_sample(&curve, c.frame, value);
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert(value[axis] == c.value[axis] && value[axis] < 9);
	}
	ck_assert_uint_eq(count, 3);
	arena_release(&arena);
}
END_TEST

/* ---- clips that fit the format ---- */

START_TEST(a_bone_below_another_may_not_move)
{
	static const double still[] = {0, 1, 2, 0, 1, 2.000001, 0, 1, 2};
	static const double moving[] = {0, 1, 2, 0, 1, 2.0001, 0, 1, 2};
	struct curve curve = odd_curve(CURVE_VECTOR, 3, still);
	struct track *hip = anim_edit_track(model, 0, 2);

	ck_assert(view_bvh.present(&at));
	at.skeleton = skeleton;
	ck_assert(!view_bvh.present(&at));
	hip->curve[ROLE_TRANSLATION] = &curve;
	ck_assert(view_bvh.present(&at));
	ck_assert_int_eq(assert_sound(&at, 0), 5);
	curve.values = moving;
	ck_assert(!view_bvh.present(&at));
}
END_TEST

START_TEST(no_bone_may_be_scaled)
{
	static const double values[] = {1, 1, 1, 1, 1.000001, 1, 1, 1, 1.0001};
	struct curve curve = odd_curve(CURVE_VECTOR, 2, values);
	struct skeleton *scaled = read_skeleton("bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
						"hip,,,,,,,,1,2,1\n");

	anim_edit_track(model, 0, 1)->curve[ROLE_SCALE] = &curve;
	ck_assert(view_bvh.present(&at));
	curve.count = 3;
	ck_assert(!view_bvh.present(&at));
	anim_edit_track(model, 0, 1)->curve[ROLE_SCALE] = NULL;
	ck_assert(view_bvh.present(&at));
	at.skeleton = scaled;
	ck_assert(!view_bvh.present(&at));
	skeleton_free(scaled);
}
END_TEST

static void assert_explained(const char *words, const char *accepted)
{
	struct err err = {0};

	ck_assert(!view_bvh.present(&at));
	view_bvh.explain(&at, &err);
	ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
	ck_assert_msg(strstr(err.accepted, accepted) != NULL, "%s", err.accepted);
}

START_TEST(a_lossy_one_leaves_scales_out_and_moves_any_bone)
{
	static const double moving[] = {0, 1, 2, 3, 1, 2, 0, 1, -2};
	struct curve curve = odd_curve(CURVE_VECTOR, 3, moving);
	struct buf text;

	at.anim = s.anim;
	at.skeleton = skeleton;
	anim_edit_track(model, 0, 2)->curve[ROLE_TRANSLATION] = &curve;
	ck_assert(!view_bvh.present(&at));
	at.style.lossy_bvh = true;
	ck_assert(view_bvh.present(&at));
	at.anim = model;
	ck_assert_int_eq(assert_sound(&at, 1), 5);
	text = view_text(&view_bvh, &at);
	ck_assert_ptr_nonnull(
		strstr((const char *)text.data,
		       "\n        JOINT hip\n        {\n          OFFSET 0 1 2\n"
		       "          CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation "
		       "Xrotation\n"));
	buf_release(&text);
}
END_TEST

START_TEST(without_keys_or_with_too_many_rows_there_is_no_lossy_one)
{
	at.style.lossy_bvh = true;
	anim_edit_clip(model, 0)->frames = 65536;
	assert_explained("65535 frames", "");
	anim_edit_clip(model, 0)->frames = 65535;
	assert_explained("nearly all 65535", "");
	anim_edit_clip(model, 0)->frames = 0;
	assert_explained("no bone", "");
}
END_TEST

START_TEST(the_reason_names_bone_and_frame)
{
	struct err err = {0};

	view_bvh.explain(&at, &err);
	ck_assert_int_eq(err.code, ERR_NONE);
	at.skeleton = skeleton;
	assert_explained("\"hip\" moves in frame 1", "--bvh=lossy");
	at.anim = s.anim;
	assert_explained("\"Bone01\" is scaled in frame 1", "--bvh=lossy");
	at.anim = model;
	anim_edit_clip(model, 0)->frames = 65536;
	assert_explained("65535 frames", "");
	anim_edit_clip(model, 0)->frames = 0;
	assert_explained("no bone", "");
}
END_TEST

START_TEST(rows_do_not_outgrow_the_keys)
{
	double *values = calloc(65535 * 3, sizeof(*values));
	struct curve curve = odd_curve(CURVE_VECTOR, 2, values);

	for (uint32_t track = 0; track < 4; track++)
		memset(anim_edit_track(model, 0, track)->curve, 0,
		       sizeof(model->clips[0].tracks->curve));
	ck_assert(!view_bvh.present(&at));
	anim_edit_track(model, 0, 3)->curve[ROLE_TRANSLATION] = &curve;
	anim_edit_clip(model, 0)->frames = 16384;
	ck_assert(view_bvh.present(&at));
	anim_edit_clip(model, 0)->frames = 16385;
	ck_assert(!view_bvh.present(&at));
	anim_edit_clip(model, 0)->frames = 65535;
	ck_assert(!view_bvh.present(&at));
	curve.count = 65535;
	ck_assert(view_bvh.present(&at));
	anim_edit_clip(model, 0)->frames = 65536;
	ck_assert(!view_bvh.present(&at));
	free(values);
}
END_TEST

/* ---- odd ones ---- */

START_TEST(a_name_is_one_word)
{
	struct buf text;

	anim_edit_track(model, 0, 0)->label =
		"Bip01 L  Arm\xe3\x80\x80\xc2\xa0\xe2\x80\x83<\xe5\x8f\xb3";
	text = view_text(&view_bvh, &at);
	ck_assert_ptr_nonnull(strstr((const char *)text.data,
				     "\n  JOINT Bip01%20L%20%20Arm%E3%80%80%C2%A0%E2%80%83<"
				     "\xe5\x8f\xb3\n  {"));
	buf_release(&text);
}
END_TEST

START_TEST(numbers_are_finite_whatever_is_stored)
{
	struct curve vectors = odd_curve(CURVE_VECTOR, 5, odd_numbers);
	struct curve euler = odd_curve(CURVE_EULER, 5, odd_numbers);
	struct curve quaternions = odd_curve(CURVE_QUATERNION, 5, odd_quaternions);
	const struct curve *const curves[][ROLE_COUNT] = {{&vectors, &euler, NULL},
							  {&vectors, &quaternions, NULL}};
	struct bvh b;

	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		struct anim *odd = odd_model(&s, 5, curves[i]);
		struct buf text;

		at.anim = odd;
		ck_assert(view_bvh.present(&at));
		text = view_text(&view_bvh, &at);
		bvh_read(&b, (const char *)text.data);
		for (unsigned cell = 0; cell < 5 * 4 * 6; cell++)
			real(&b.rows);
		ck_assert_str_eq(b.rows, "\n");
		buf_release(&text);
		anim_free(odd);
	}
}
END_TEST

START_TEST(a_deep_chain_is_no_deep_text)
{
	struct buf table = BUF_INIT, text;
	struct track *tracks = calloc(2000, sizeof(*tracks));
	struct skeleton *chain;
	struct arena names = ARENA_INIT;

	buf_text(&table, "bone,parent\n");
	for (unsigned i = 0; i < 2000; i++) {
		tracks[i].label = arena_format(&names, "b%u", i);
		if (i > 0)
			buf_format(&table, "b%u,b%u\n", i, i - 1);
		else
			buf_text(&table, "b0,\n");
	}
	buf_char(&table, '\0');
	tracks[1999].curve[ROLE_ROTATION] = model->clips[0].tracks[1].curve[ROLE_ROTATION];
	anim_edit_clip(model, 0)->tracks = tracks;
	anim_edit_clip(model, 0)->track_count = 2000;
	chain = read_skeleton((const char *)table.data);
	at.skeleton = chain;
	ck_assert(view_bvh.present(&at));
	text = view_text(&view_bvh, &at);
	ck_assert_uint_lt(text.size, 2000 * 600);
	skeleton_free(chain);
	buf_release(&text);
	buf_release(&table);
	arena_release(&names);
	free(tracks);
}
END_TEST

Suite *bvh_suite(void);

Suite *bvh_suite(void)
{
	Suite *suite = suite_create("bvh");
	TCase *t = tcase_create("bvh");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, angles_stand_as_they_are_stored);
	tcase_add_test(t, there_is_one_root);
	tcase_add_test(t, every_sample_that_fits_is_posed_as_it_should);
	tcase_add_test(t, a_key_that_counts_is_what_is_sampled);
	tcase_add_test(t, a_bone_below_another_may_not_move);
	tcase_add_test(t, no_bone_may_be_scaled);
	tcase_add_test(t, the_reason_names_bone_and_frame);
	tcase_add_test(t, a_lossy_one_leaves_scales_out_and_moves_any_bone);
	tcase_add_test(t, without_keys_or_with_too_many_rows_there_is_no_lossy_one);
	tcase_add_test(t, rows_do_not_outgrow_the_keys);
	tcase_add_test(t, a_name_is_one_word);
	tcase_add_test(t, numbers_are_finite_whatever_is_stored);
	tcase_add_test(t, a_deep_chain_is_no_deep_text);
	return suite;
}
