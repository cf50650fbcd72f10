/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FIRST_CLIP_OF "edf6_768.canm"
#include "first_clip.h"
#include "skeleton/skeleton.h"

#include <math.h>

static const char still[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<X3D version=\"3.2\" profile=\"Interchange\"><Scene>\n"
	"<Viewpoint description=\"skeleton\" position=\"1.4113897 1.0264784 3.0210311\" "
	"orientation=\"-0.3146799 0.94399804 0.09921819 0.64470744\" "
	"centerOfRotation=\"0.0015 0.504 1.0075\"/>\n"
	"<NavigationInfo type='\"EXAMINE\" \"ANY\"' avatarSize=\"0.050259646 1.2564912 "
	"0.6282456\" visibilityLimit=\"502.59647\"/>\n"
	"<Shape><Appearance><Material emissiveColor=\"1 0.5 0\"/></Appearance>\n"
	" <IndexedLineSet coordIndex=\"0 1 -1 2 3 -1 4 5 -1 6 7 -1 8 9 -1 10 11 -1\">"
	"<Coordinate point=\""
	"-0.0403 0 0, 0.0403 0 0, 0 -0.0403 0, 0 0.0403 0, 0 0 -0.0403, 0 0 0.0403, "
	"-0.037299998 1.008 2.015, 0.0433 1.008 2.015, 0.003 0.9677 2.015, 0.003 1.0483 2.015, "
	"0.003 1.008 1.9747, 0.003 1.008 2.0553\"/></IndexedLineSet></Shape>\n"
	"</Scene></X3D>\n"
	"<!-- animfs generated, digest 38baafbae66f4ffd16d9d845481512e2 -->\n";

START_TEST(a_still_is_one_line_set)
{
	struct buf text;

	at.frame = 1;
	text = view_text(&view_x3d_frame, &at);
	ck_assert_str_eq((const char *)text.data, still);
	buf_release(&text);
}
END_TEST

/*
 * Returns the still without its points and its digest; *numbers gets the number of the points'
 * coordinates.
 */
static char *without_points(const struct shown *shown, size_t *numbers)
{
	struct buf text = view_text(&view_x3d_frame, shown);
	char *begin = strstr((char *)text.data, "point=\"") + 7, *end = strchr(begin, '"');

	*numbers = 0;
	for (char *p = begin; p < end; (*numbers)++) {
		char *next;

		ck_assert(isfinite(strtof(p, &next)));
		ck_assert_ptr_ne(next, p);
		p = next + strspn(next, ", ");
	}
	*strstr(end, "<!--") = '\0';
	memmove(begin, end, strlen(end) + 1);
	ck_assert_ptr_null(strstr((char *)text.data, "nan"));
	ck_assert_ptr_null(strstr((char *)text.data, "inf"));
	return (char *)text.data;
}

/* Checks that stills differ in nothing but points: only then viewers play them smoothly. */
static void assert_alike(const struct anim *a)
{
	struct shown shown = at;

	shown.anim = a;
	for (shown.clip = 0; shown.clip < a->clip_count; shown.clip++) {
		const struct clip *clip = &a->clips[shown.clip];
		size_t numbers, first_numbers;
		char *text, *first;

		shown.frame = 0;
		if (!view_x3d_frame.present(&shown))
			continue;
		first = without_points(&shown, &first_numbers);
		if (!at.skeleton)
			ck_assert_uint_eq(first_numbers, clip->track_count * 18);
		for (shown.frame = 1; shown.frame < clip->frames; shown.frame++) {
			text = without_points(&shown, &numbers);
			ck_assert_str_eq(text, first);
			ck_assert_uint_eq(numbers, first_numbers);
			free(text);
		}
		free(first);
	}
}

START_TEST(stills_differ_in_their_points_alone)
{
	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);

		at = sample_shown(&one, 0, NULL);
		assert_alike(one.anim);
		sample_close(&one);
	}
}
END_TEST

/* All stills of a clip without motion are the same text; those of any other clip are not. */
START_TEST(only_what_stands_still_is_alike)
{
	unsigned resting = 0, moving = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);

		at = sample_shown(&one, 0, NULL);
		for (; at.clip < one.anim->clip_count; at.clip++) {
			struct buf first, text;

			at.frame = 0;
			if (!view_x3d_frame.present(&at))
				continue;
			first = view_text(&view_x3d_frame, &at);
			resting += view_x3d_frame.alike(&at);
			moving += !view_x3d_frame.alike(&at);
			for (; at.frame < one.anim->clips[at.clip].frames; at.frame++) {
				text = view_text(&view_x3d_frame, &at);
				ck_assert(!view_x3d_frame.alike(&at) ||
					  bytes_equal(buf_bytes(&text), buf_bytes(&first)));
				buf_release(&text);
			}
			buf_release(&first);
		}
		sample_close(&one);
	}
	ck_assert(resting > 0 && moving > 0);
}
END_TEST

START_TEST(points_are_finite_whatever_is_stored)
{
	static const double values[] = {NAN,   1, 2, INFINITY, -INFINITY, 1e300, 0x1.fffffep127,
					-1e38, 0};
	struct anim *odd = anim_edit(s.anim);
	struct track *track = anim_edit_track(odd, 0, 1);
	struct curve curve = {.kind = CURVE_VECTOR,
			      .keyed = true,
			      .count = 3,
			      .values = values,
			      .lane = {{.unit = 1}, {.unit = 1}, {.unit = 1}}};

	track->curve[ROLE_TRANSLATION] = &curve;
	anim_edit_clip(odd, 0)->frames = 3;
	assert_alike(odd);
	track->curve[ROLE_TRANSLATION] = NULL;
	anim_edit_track(odd, 0, 0)->curve[ROLE_TRANSLATION] = NULL;
	assert_alike(odd);
	anim_free(odd);
}
END_TEST

/* Returns the first two points of each bone's cross, which are equal if the bone is not drawn. */
static void first_line(const struct shown *shown, unsigned bone, float out[2][3])
{
	struct buf text = view_text(&view_x3d_frame, shown);
	char *p = strstr((char *)text.data, "point=\"") + 7;

	for (unsigned i = 0; i < 18 * bone; i++)
		(void)strtof(p + strspn(p, ", "), &p);
	for (unsigned i = 0; i < 6; i++)
		out[i / 3][i % 3] = strtof(p + strspn(p, ", "), &p);
	buf_release(&text);
}

/* A bone without a keyframe in a frame is a single point in that still, at its last position. */
START_TEST(a_bone_without_a_keyframe_is_a_point)
{
	static const uint32_t frames[] = {1, 1, 3}, places[] = {1, 1};
	static const uint8_t flags[3], roles[] = {1, 1, 0};
	static const struct keyframes keyframes = {3, frames, flags, roles};
	static const double values[] = {9, 0, 0, 10, 0, 0};
	static const struct {
		uint32_t frame;
		bool drawn;
		float x;
	} stills[] = {{0, false, 10}, {1, true, 10}, {2, false, 10}, {3, true, 10}, {4, false, 10}};
	struct anim *odd = anim_edit(s.anim);
	struct track *track = anim_edit_track(odd, 0, 1);
	struct curve curve = {.kind = CURVE_VECTOR,
			      .interpolation = INTERPOLATION_STEP,
			      .keyed = true,
			      .count = 2,
			      .frames = places,
			      .values = values,
			      .lane = {{.unit = 1}, {.unit = 1}, {.unit = 1}}};
	struct shown now = at;
	float line[2][3];

	track->curve[ROLE_TRANSLATION] = &curve;
	track->keyframes = &keyframes;
	anim_edit_clip(odd, 0)->frames = 5;
	assert_alike(odd);
	now.anim = odd;
	for (size_t i = 0; i < ARRAY_SIZE(stills); i++) {
		now.frame = stills[i].frame;
		first_line(&now, 1, line);
		ck_assert_int_eq(line[0][0] < line[1][0], stills[i].drawn);
		ck_assert_float_eq_tol((line[0][0] + line[1][0]) / 2, stills[i].x, 1e-4f);
		first_line(&now, 0, line);
		ck_assert_float_lt(line[0][0], line[1][0]);
	}
	anim_free(odd);
}
END_TEST

/* ---- the camera ---- */

struct camera {
	double position[3], turn[4], centre[3]; /* turn: an axis and an angle */
	double nearest[1], farthest[1];         /* clip distances of the drawing */
};

static struct camera camera_of(const struct shown *shown)
{
	struct buf text = view_text(&view_x3d_frame, shown);
	struct camera c;
	double *const fields[] = {c.position, c.turn, c.centre, c.nearest, c.farthest};
	static const char *const names[] = {"<Viewpoint description=\"skeleton\" position=\"",
					    "\" orientation=\"", "\" centerOfRotation=\"",
					    "' avatarSize=\"", "\" visibilityLimit=\""};
	static const unsigned counts[] = {3, 4, 3, 1, 1};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *next = strstr((char *)text.data, names[i]) + strlen(names[i]);

		for (unsigned axis = 0; axis < counts[i]; axis++)
			fields[i][axis] = strtod(next, &next);
	}
	buf_release(&text);
	return c;
}

/*
 * Converts a point to the camera's axes (right, up, behind): the inverse rotation about its axis,
 * after Rodrigues.
 */
static void seen_by(const struct camera *c, const double point[3], double out[3])
{
	const double *k = c->turn;
	double v[3], along = 0, sine = sin(-c->turn[3]), cosine = cos(-c->turn[3]);

	for (unsigned axis = 0; axis < 3; axis++) {
		v[axis] = point[axis] - c->position[axis];
		along += k[axis] * v[axis];
	}
	for (unsigned axis = 0; axis < 3; axis++) {
		unsigned next = (axis + 1) % 3, last = (axis + 2) % 3;

		out[axis] = v[axis] * cosine + (k[next] * v[last] - k[last] * v[next]) * sine +
			    k[axis] * along * (1 - cosine);
	}
}

/* Returns how far from the middle of the picture the bones reach; its rim is at 1. */
static double reach_of(const struct shown *shown)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct camera c = camera_of(shown);
	struct arena arena = ARENA_INIT;
	const struct rig *rig = rig_make(shown->skeleton, clip, &arena);
	struct transform *world = arena_alloc(&arena, clip->track_count, sizeof(*world));
	double most = 0;

	for (uint32_t frame = 0; frame < clip->frames; frame++) {
		rig_world(rig, clip, frame, world);
		for (uint32_t i = 0; i < clip->track_count; i++) {
			double point[3], seen[3];

			for (unsigned axis = 0; axis < 3; axis++)
				point[axis] = world[i].m[axis][3];
			seen_by(&c, point, seen);
			ck_assert_double_gt(-seen[2], c.nearest[0]);
			ck_assert_double_lt(-seen[2], c.farthest[0]);
			most = fmax(most, fmax(fabs(seen[0]), fabs(seen[1])) / -seen[2] /
						  tan(acos(-1) / 8));
		}
	}
	arena_release(&arena);
	return most;
}

/* The picture is as wide as it is high, with the default field of view. */
START_TEST(the_camera_sees_the_whole_clip)
{
	static const char *const names[] = {"wiki512.canm", "edf6_768.canm",
					    "frames007_low.ff9anim"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct sample one = sample_open(names[i]);

		at = sample_shown(&one, 0, NULL);
		ck_assert_double_le(reach_of(&at), 1);
		ck_assert_double_ge(reach_of(&at), 0.5);
		sample_close(&one);
	}
}
END_TEST

/* The camera is placed by spread samples of a long clip, which include its first and last frame. */
START_TEST(the_camera_sees_both_ends_of_a_long_clip)
{
	struct anim *odd = anim_edit(s.anim);
	struct track *track = anim_edit_track(odd, 0, 1);
	double *values = calloc(65535 * 3, sizeof(*values));
	struct curve curve = {
		.kind = CURVE_VECTOR, .keyed = true, .count = 65535, .values = values};
	struct shown now = at;
	struct camera camera;

	ck_assert_ptr_nonnull(values);
	values[65534 * 3] = 1000;
	for (unsigned axis = 0; axis < 3; axis++)
		curve.lane[axis].unit = 1;
	track->curve[ROLE_TRANSLATION] = &curve;
	anim_edit_clip(odd, 0)->frames = 65535;
	now.anim = odd;
	now.frame = 40000;
	camera = camera_of(&now);
	ck_assert_double_eq_tol(camera.centre[0], 500, 1e-3);
	ck_assert_double_eq_tol(camera.centre[1], 0, 1e-3);
	ck_assert_double_le(reach_of(&now), 1);
	anim_edit_clip(odd, 0)->frames = 65536;
	ck_assert(!view_x3d_frame.present(&now));
	ck_assert(!view_kanim.present(&now));
	anim_free(odd);
	free(values);
}
END_TEST

/* ---- with a skeleton ---- */

/* Returns all numbers of a still's points; the caller frees them. */
static double *points_of(const struct shown *shown, size_t *count)
{
	struct buf text = view_text(&view_x3d_frame, shown);
	char *p = strstr((char *)text.data, "point=\"") + 7;
	double *points = malloc(text.size * sizeof(*points));

	ck_assert_ptr_nonnull(points);
	for (*count = 0; *p != '"'; p += strspn(p, ", "))
		points[(*count)++] = strtod(p, &p);
	buf_release(&text);
	return points;
}

static struct skeleton *skeleton_of(const char *text)
{
	struct err err = {0};
	struct skeleton *skeleton = skeleton_read(bytes_of(text), NULL, &err);

	ck_assert_msg(skeleton != NULL, "%s", err.message);
	return skeleton;
}

/* The bone "body" is 4 above the root. */
static const char two_bones[] = "bone,parent,tx,ty,tz\nbody,Scene_Root,0,4,0\nScene_Root,,,,\n";

static void two_curves(struct anim *odd, struct curve *turn, const double *values)
{
	*turn = (struct curve){.kind = CURVE_EULER,
			       .count = 2,
			       .keyed = true,
			       .values = values,
			       .lane = {{.unit = 1}, {.unit = 1}, {.unit = 1}}};
	ck_assert_str_eq(odd->clips[0].tracks[0].label, "Scene_Root");
	ck_assert_str_eq(odd->clips[0].tracks[1].label, "body");
	for (unsigned i = 0; i < 2; i++)
		memset(anim_edit_track(odd, 0, i)->curve, 0, sizeof(turn) * ROLE_COUNT);
	anim_edit_track(odd, 0, 0)->curve[ROLE_ROTATION] = turn;
	anim_edit_clip(odd, 0)->frames = 2;
}

/* Shows the two bones. Call skeleton_free((struct skeleton *)at.skeleton) at the end. */
static struct anim *show_two_bones(struct curve *turn, const double *values)
{
	struct anim *odd = anim_edit(s.anim);

	two_curves(odd, turn, values);
	at.anim = odd;
	at.skeleton = skeleton_of(two_bones);
	return odd;
}

static void assert_points(const double *got, const double *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(fabs(got[i] - wanted[i]) < 1e-6, "number %zu: %g is not %g", i,
			      got[i], wanted[i]);
}

START_TEST(bones_are_octahedra_from_their_parents)
{
	static const double values[] = {0, 0, 0, 90, 0, 0};
	/*
	 * Expected points (tail, four around the waist, head): of a root's octahedron, of one along
	 * y, then of one along z.
	 */
	static const double root[] = {0,    0, -.08, .08, 0,    0, 0, .08, 0,
				      -.08, 0, 0,    0,   -.08, 0, 0, 0,   .08};
	static const double along_y[] = {0,    0,   0, .12, .12, 0,   0, .12, -.12,
					 -.12, .12, 0, 0,   .12, .12, 0, 4,   0};
	static const double along_z[] = {0,    0, 0,   .12, 0,    .12, 0, .12, .12,
					 -.12, 0, .12, 0,   -.12, .12, 0, 0,   4};
	struct curve turn;
	struct anim *odd = show_two_bones(&turn, values);
	double *points;
	struct buf text;
	size_t count;

	points = points_of(&at, &count);
	ck_assert_uint_eq(count, 36);
	assert_points(points, root, 18);
	assert_points(points + 18, along_y, 18);
	free(points);
	at.frame = 1;
	points = points_of(&at, &count);
	assert_points(points + 18, along_z, 18);
	free(points);
	text = view_text(&view_x3d_frame, &at);
	ck_assert_ptr_nonnull(strstr((char *)text.data, "<IndexedFaceSet"));
	ck_assert_ptr_null(strstr((char *)text.data, "<IndexedLineSet"));
	buf_release(&text);
	assert_alike(odd);
	skeleton_free((struct skeleton *)at.skeleton);
	anim_free(odd);
}
END_TEST

START_TEST(bones_are_lines_where_that_is_asked_for)
{
	static const double values[] = {0, 0, 0, 90, 0, 0};
	static const double line[] = {0, 0, 0, 0, 0, 4};
	struct curve turn;
	struct anim *odd = show_two_bones(&turn, values);
	double *points;
	struct buf text;
	size_t count;

	at.style.lines = true;
	at.frame = 1;
	points = points_of(&at, &count);
	ck_assert_uint_eq(count, 42);
	assert_points(points + 36, line, 6);
	free(points);
	text = view_text(&view_x3d_frame, &at);
	ck_assert_ptr_nonnull(strstr((char *)text.data,
				     "coordIndex=\"0 1 -1 2 3 -1 4 5 -1 6 7 -1 8 9 -1 10 11 -1 "
				     "12 13 -1\""));
	buf_release(&text);
	assert_alike(odd);
	skeleton_free((struct skeleton *)at.skeleton);
	anim_free(odd);
}
END_TEST

/*
 * The stills are checked for odd stored values and a deep hierarchy: the bones are a chain, and
 * none is at rest.
 */
START_TEST(stills_of_a_skeleton_are_alike_and_finite)
{
	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		const struct clip *clip = &one.anim->clips[0];
		struct skeleton *skeleton;
		struct buf text = BUF_INIT;

		buf_text(&text, "bone,parent,tx,ty,rx,sx,sy\n");
		for (uint32_t i = 0; i < clip->track_count; i++)
			buf_format(&text, "%s,%s,3e38,1,%u,-3e38,0\n", clip->tracks[i].label,
				   i > 0 ? clip->tracks[i - 1].label : "", i);
		buf_char(&text, '\0');
		skeleton = skeleton_of((const char *)text.data);
		at = sample_shown(&one, 0, NULL);
		at.skeleton = skeleton;
		assert_alike(one.anim);
		at.style.lines = true;
		assert_alike(one.anim);
		skeleton_free(skeleton);
		buf_release(&text);
		sample_close(&one);
	}
}
END_TEST

static double height_seen(const struct camera *c, double y)
{
	const double point[3] = {c->centre[0], c->centre[1] + y, c->centre[2]};
	double seen[3];

	seen_by(c, point, seen);
	return seen[1];
}

/* If Y points down, the camera is upside down, and on the other side. */
START_TEST(figures_are_seen_upright)
{
	struct sample one = sample_open("frames007_low.ff9anim");
	struct camera camera = camera_of(&at);

	ck_assert_double_gt(height_seen(&camera, 1), height_seen(&camera, 0));
	ck_assert_double_gt(camera.position[2], camera.centre[2]);
	at = sample_shown(&one, 0, NULL);
	camera = camera_of(&at);
	ck_assert_double_gt(height_seen(&camera, -1), height_seen(&camera, 0));
	ck_assert_double_lt(camera.position[2], camera.centre[2]);
	sample_close(&one);
}
END_TEST

/* A bone has an extreme scale, or an extreme position. */
START_TEST(the_camera_stands_nowhere_too_far)
{
	static const double values[][3] = {{1e30, 1, -1e30}, {-3e38, 3e38, 3e38}};

	for (unsigned role = ROLE_TRANSLATION; role < ROLE_COUNT; role += 2) {
		struct anim *odd = anim_edit(s.anim);
		struct curve curve = {.count = 1, .values = values[role == ROLE_TRANSLATION]};
		struct camera camera;
		double square = 0;

		for (unsigned axis = 0; axis < 3; axis++)
			curve.lane[axis].unit = 1;
		anim_edit_track(odd, 0, 1)->curve[role] = &curve;
		at.anim = odd;
		camera = camera_of(&at);
		for (unsigned axis = 0; axis < 3; axis++)
			square += camera.position[axis] * camera.position[axis];
		ck_assert(isfinite((float)square));
		if (role == ROLE_TRANSLATION)
			ck_assert_double_gt(camera.position[2], 1e17);
		else
			ck_assert_double_lt(camera.position[2], 100);
		anim_free(odd);
	}
}
END_TEST

Suite *x3d_suite(void);

Suite *x3d_suite(void)
{
	Suite *suite = suite_create("x3d");
	TCase *t = tcase_create("x3d");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_still_is_one_line_set);
	tcase_add_test(t, stills_differ_in_their_points_alone);
	tcase_add_test(t, only_what_stands_still_is_alike);
	tcase_add_test(t, points_are_finite_whatever_is_stored);
	tcase_add_test(t, a_bone_without_a_keyframe_is_a_point);
	tcase_add_test(t, the_camera_sees_the_whole_clip);
	tcase_add_test(t, the_camera_sees_both_ends_of_a_long_clip);
	tcase_add_test(t, bones_are_octahedra_from_their_parents);
	tcase_add_test(t, bones_are_lines_where_that_is_asked_for);
	tcase_add_test(t, stills_of_a_skeleton_are_alike_and_finite);
	tcase_add_test(t, figures_are_seen_upright);
	tcase_add_test(t, the_camera_stands_nowhere_too_far);
	return suite;
}
