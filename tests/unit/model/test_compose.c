/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Additive clips on their base, compared with matrices multiplied here; and the way back from the
 * composed clip to the additive one.
 */
#include "model/compose.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define FRAMES 24
#define RADIANS (3.14159265358979323846 / 180)

static const struct format format = {.name = "test", .length = "m", .rate = 60, .has_loop = true};

/*
 * Two clips: 0 is the base, 1 is additive. Bones: with curves in both, in the base only, in the
 * additive clip only, and in neither.
 */
enum { BOTH, BASE, ADDED, BARE, BONES };
static const char *const labels[BONES] = {"both", "base", "added", "bare"};

static struct curve curves[2][BONES][ROLE_COUNT];
static double numbers[2][BONES][ROLE_COUNT][FRAMES * 4];
static struct track tracks[2][BONES];
static struct clip clips[2];
static struct anim anim;
static const uint32_t bases[2] = {COMPOSE_NONE, 0};

static void curve_make(unsigned clip, unsigned bone, unsigned role, uint32_t count, bool keyed)
{
	struct curve *c = &curves[clip][bone][role];
	double *out = numbers[clip][bone][role];

	*c = (struct curve){.kind = role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR,
			    .keyed = keyed,
			    .count = count,
			    .values = out};
	for (uint32_t key = 0; key < count; key++) {
		for (unsigned axis = 0; axis < 3; axis++) {
			double wave = sin(0.31 * key + clip + 2.0 * bone + axis);

			c->lane[axis].unit = 1;
			*out++ = role == ROLE_ROTATION ? 50 * wave
				 : role == ROLE_SCALE  ? 1.5 + 0.3 * wave
						       : wave;
		}
	}
	tracks[clip][bone].curve[role] = c;
}

static void clip_make(unsigned clip, const char *label, uint32_t frames, float frame_time)
{
	clips[clip] = (struct clip){.label = label,
				    .name = label,
				    .frames = frames,
				    .frame_time = frame_time,
				    .loop = true,
				    .track_count = BONES - 1,
				    .tracks = tracks[clip]};
}

static void setup(void)
{
	static const unsigned of[2][BONES - 1] = {{BOTH, BASE, BARE}, {BARE, ADDED, BOTH}};

	memset(tracks, 0, sizeof(tracks));
	for (unsigned clip = 0; clip < 2; clip++) {
		for (unsigned i = 0; i < BONES - 1; i++) {
			tracks[clip][i] = (struct track){.label = labels[of[clip][i]],
							 .name = labels[of[clip][i]],
							 .origin = i,
							 .roles = 7,
							 .rotation = CURVE_EULER};
		}
	}
	clip_make(0, "idle", 11, 2);
	clip_make(1, "nod_add", FRAMES, 1);
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		curve_make(0, 0, role, 11, true);
		curve_make(0, 1, role, role == ROLE_SCALE ? 1 : 11, role != ROLE_SCALE);
		curve_make(1, 1, role, FRAMES, true);
		curve_make(1, 2, role, FRAMES, true);
	}
	anim = (struct anim){.format = &format, .rate = 60, .clip_count = 2, .clips = clips};
}

/* ---- matrices ---- */

struct matrix {
	double m[3][3];
};

static struct matrix times(struct matrix a, struct matrix b)
{
	struct matrix c = {{{0}}};

	for (unsigned i = 0; i < 27; i++)
		c.m[i / 9][i / 3 % 3] += a.m[i / 9][i % 3] * b.m[i % 3][i / 3 % 3];
	return c;
}

static struct matrix around(unsigned axis, double degrees)
{
	double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);
	unsigned j = (axis + 1) % 3, k = (axis + 2) % 3;
	struct matrix r = {{{0}}};

	r.m[axis][axis] = 1;
	r.m[j][j] = r.m[k][k] = c;
	r.m[k][j] = s;
	r.m[j][k] = -s;
	return r;
}

static struct matrix of_euler(const double v[3])
{
	return times(around(2, v[2]), times(around(1, v[1]), around(0, v[0])));
}

static struct matrix of_curve(const struct curve *c, double frame)
{
	double v[4];

	curve_sample(c, frame, v);
	if (c->kind == CURVE_EULER)
		return of_euler(v);
	return (struct matrix){
		{{1 - 2 * (v[1] * v[1] + v[2] * v[2]), 2 * (v[0] * v[1] - v[3] * v[2]),
		  2 * (v[0] * v[2] + v[3] * v[1])},
		 {2 * (v[0] * v[1] + v[3] * v[2]), 1 - 2 * (v[0] * v[0] + v[2] * v[2]),
		  2 * (v[1] * v[2] - v[3] * v[0])},
		 {2 * (v[0] * v[2] - v[3] * v[1]), 2 * (v[1] * v[2] + v[3] * v[0]),
		  1 - 2 * (v[0] * v[0] + v[1] * v[1])}}};
}

static void assert_matrix(struct matrix got, struct matrix want, const char *what, uint32_t frame)
{
	for (unsigned i = 0; i < 9; i++)
		ck_assert_msg(fabs(got.m[i / 3][i % 3] - want.m[i / 3][i % 3]) < 1e-9,
			      "%s in frame %u", what, frame);
}

static void assert_vector(const struct curve *got, double at, const struct curve *a, double a_at,
			  const struct curve *b, double b_at)
{
	double v[4], x[4] = {0, 0, 0}, y[4] = {0, 0, 0};

	curve_sample(got, at, v);
	curve_sample(a, a_at, x);
	if (b)
		curve_sample(b, b_at, y);
	for (unsigned axis = 0; axis < 3; axis++)
		ck_assert_double_eq_tol(v[axis], x[axis] + y[axis], 1e-12);
}

static const struct track *bone(const struct anim *a, unsigned which)
{
	const struct track *t = track_labelled(&a->clips[1], 0, labels[which]);

	ck_assert_msg(t != NULL, "no %s", labels[which]);
	return t;
}

/* ---- there ---- */

START_TEST(bones_move_as_base_and_additive_say_together)
{
	struct anim *made;

	setup();
	made = compose(&anim, bases);
	ck_assert_uint_eq(made->clips[1].track_count, BONES);
	ck_assert_uint_eq(made->clips[1].frames, FRAMES);
	/* The clip's bones keep their indices; bones that only the base has come after them. */
	ck_assert_ptr_eq(bone(made, BASE), &made->clips[1].tracks[3]);
	for (uint32_t f = 0; f < FRAMES; f++) {
		/* the base is half as fast, and loops */
		double at = f <= 20 ? f * 0.5 : f * 0.5 - 10;
		const struct curve *const *b = tracks[0][0].curve, *const *a = tracks[1][2].curve;
		const struct track *both = bone(made, BOTH);

		assert_vector(both->curve[ROLE_TRANSLATION], f, b[ROLE_TRANSLATION], at,
			      a[ROLE_TRANSLATION], f);
		assert_matrix(of_curve(both->curve[ROLE_ROTATION], f),
			      times(of_curve(b[ROLE_ROTATION], at), of_curve(a[ROLE_ROTATION], f)),
			      "both", f);
		assert_vector(both->curve[ROLE_SCALE], f, b[ROLE_SCALE], at, NULL, 0);
		assert_vector(bone(made, BASE)->curve[ROLE_TRANSLATION], f,
			      tracks[0][1].curve[ROLE_TRANSLATION], at, NULL, 0);
		assert_matrix(of_curve(bone(made, BASE)->curve[ROLE_ROTATION], f),
			      of_curve(tracks[0][1].curve[ROLE_ROTATION], at), "base", f);
	}
	ck_assert_ptr_eq(bone(made, ADDED)->curve[ROLE_ROTATION],
			 tracks[1][1].curve[ROLE_ROTATION]);
	ck_assert_ptr_null(bone(made, ADDED)->curve[ROLE_SCALE]);
	ck_assert_ptr_null(bone(made, BARE)->curve[ROLE_TRANSLATION]);
	/* The base clip is unchanged. */
	ck_assert_ptr_eq(made->clips[0].tracks, clips[0].tracks);
	anim_free(made);
}
END_TEST

START_TEST(a_base_that_does_not_loop_holds)
{
	struct anim *made;

	setup();
	clips[0].loop = false;
	made = compose(&anim, bases);
	assert_vector(bone(made, BASE)->curve[ROLE_TRANSLATION], 23,
		      tracks[0][1].curve[ROLE_TRANSLATION], 10, NULL, 0);
	anim_free(made);
}
END_TEST

START_TEST(rules_name_clips_by_pattern)
{
	struct base_rule rules[] = {{"*_add", "idle"}, {"*", "none"}};

	setup();
	ck_assert_uint_eq(compose_base(&anim, 1, rules, 2), 0);
	ck_assert_uint_eq(compose_base(&anim, 0, rules, 2), COMPOSE_NONE);
	rules[0].pattern = "*";
	/* A clip is never composed on itself. */
	ck_assert_uint_eq(compose_base(&anim, 0, rules, 1), COMPOSE_NONE);
	ck_assert_uint_eq(compose_base(&anim, 1, rules, 1), 0);
	ck_assert_uint_eq(compose_base(&anim, 1, rules + 1, 1), COMPOSE_NONE);
}
END_TEST

/* ---- and back ---- */

/* Returns a curve with another value in one key. */
static struct curve *change(struct anim *a, unsigned which, enum role role, uint32_t key,
			    const double value[4])
{
	struct track *t = anim_edit_track(a, 1, (uint32_t)(bone(a, which) - a->clips[1].tracks));
	const struct curve *was = t->curve[role];
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));
	double *values = arena_alloc(&a->arena, was->count, 4 * sizeof(*values));

	for (uint32_t i = 0; i < was->count * curve_width(was); i++)
		values[i] = curve_value(was, i / curve_width(was), i % curve_width(was));
	memcpy(values + (size_t)key * curve_width(was), value, curve_width(was) * sizeof(*value));
	*c = *was;
	c->stored = NULL;
	c->values = values;
	t->curve[role] = c;
	return c;
}

START_TEST(an_edit_leaves_what_the_base_does_not_do)
{
	static const double turned[4] = {0.5, -0.5, 0.5, 0.5}, moved[4] = {3, 4, 5, 0};
	struct anim *made, *edited, *back, *again;
	struct err err = {0};

	setup();
	made = compose(&anim, bases);
	edited = anim_edit(made);
	change(edited, BOTH, ROLE_ROTATION, 7, turned);
	change(edited, BOTH, ROLE_TRANSLATION, 5, moved);
	change(edited, ADDED, ROLE_TRANSLATION, 6, moved);
	back = compose_take_back(&anim, made, edited, 1, 0, &err);
	ck_assert_msg(back != NULL, "%s", err.message);
	ck_assert_uint_eq(back->clips[1].track_count, BONES - 1);
	ck_assert_int_eq(back->clips[1].tracks[2].curve[ROLE_ROTATION]->kind, CURVE_EULER);
	again = compose(back, bases);
	assert_matrix(of_curve(bone(again, BOTH)->curve[ROLE_ROTATION], 7),
		      of_curve(bone(edited, BOTH)->curve[ROLE_ROTATION], 7), "edited", 7);
	assert_vector(bone(again, BOTH)->curve[ROLE_TRANSLATION], 5,
		      bone(edited, BOTH)->curve[ROLE_TRANSLATION], 5, NULL, 0);
	assert_vector(back->clips[1].tracks[1].curve[ROLE_TRANSLATION], 6,
		      bone(edited, ADDED)->curve[ROLE_TRANSLATION], 6, NULL, 0);
	/* All other keys have the bits that they had, and other curves are the same pointers. */
	for (uint32_t key = 0; key < FRAMES; key++) {
		for (unsigned axis = 0; axis < 3; axis++) {
			const struct curve *const *was = tracks[1][2].curve;
			const struct curve *const *now = back->clips[1].tracks[2].curve;

			ck_assert(key == 7 || f64_same(curve_value(was[ROLE_ROTATION], key, axis),
						       curve_value(now[ROLE_ROTATION], key, axis)));
			ck_assert(key == 5 ||
				  f64_same(curve_value(was[ROLE_TRANSLATION], key, axis),
					   curve_value(now[ROLE_TRANSLATION], key, axis)));
		}
	}
	ck_assert_ptr_eq(back->clips[1].tracks[1].curve[ROLE_ROTATION],
			 tracks[1][1].curve[ROLE_ROTATION]);
	ck_assert_ptr_eq(back->clips[0].tracks, clips[0].tracks);
	anim_free(again);
	anim_free(edited);
	anim_free(made);
	/* The result needs neither the composed model nor the base. */
	ck_assert_double_eq_tol(curve_value(back->clips[1].tracks[1].curve[ROLE_TRANSLATION], 6, 2),
				5, 1e-12);
	anim_free(back);
}
END_TEST

static void refused(unsigned which, enum role role, const char *words)
{
	static const double value[4] = {2, 2, 2, 0};
	struct anim *made = compose(&anim, bases), *edited = anim_edit(made);
	struct err err = {0};

	change(edited, which, role, 3, value);
	ck_assert_ptr_null(compose_take_back(&anim, made, edited, 1, 0, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
	anim_free(edited);
	anim_free(made);
}

START_TEST(what_is_the_bases_is_refused_by_name)
{
	setup();
	refused(BOTH, ROLE_SCALE, "the scale of both is that of idle");
	refused(BASE, ROLE_TRANSLATION, "base is not in nod_add: it moves as in idle");
}
END_TEST

Suite *compose_suite(void);

Suite *compose_suite(void)
{
	Suite *s = suite_create("compose");
	TCase *t = tcase_create("compose");

	tcase_add_test(t, bones_move_as_base_and_additive_say_together);
	tcase_add_test(t, a_base_that_does_not_loop_holds);
	tcase_add_test(t, rules_name_clips_by_pattern);
	tcase_add_test(t, an_edit_leaves_what_the_base_does_not_do);
	tcase_add_test(t, what_is_the_bases_is_refused_by_name);
	suite_add_tcase(s, t);
	return s;
}
