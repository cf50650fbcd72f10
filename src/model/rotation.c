/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rotation.h"

#include "tangents.h"
#include "trig.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define DEGREES_PER_RADIAN (180 / M_PI)

/*
 * Angles further from 0 than this many degrees are not used to choose among equivalent angles: a
 * float32, and most formats, would lose the digits of the degrees.
 */
#define FAR 65536.0

/*
 * At ry = 90 and -90 only the sum or the difference of rx and rz is defined. This near to 90, the
 * other of the two is noise in a float32 quaternion.
 */
#define LOCKED 0x1p-22

/* ---- one rotation ---- */

/* sin and cos of half the angle; exact at multiples of a half turn, which radians are not. */
static void half_angle(double degrees, double *sine, double *cosine)
{
	int quadrant = 0;
	double rest = remquo(degrees / 2, 90, &quadrant) / DEGREES_PER_RADIAN;
	double s = trig_sin(rest), c = trig_cos(rest);

	*sine = quadrant & 1 ? c : s;
	*cosine = quadrant & 1 ? -s : c;
	if (quadrant & 2) {
		*sine = -*sine;
		*cosine = -*cosine;
	}
}

void rotation_quaternion(const double euler[3], const double near[4], double out[4])
{
	double s[3], c[3], dot = 0, q[4];

	for (unsigned axis = 0; axis < 3; axis++)
		half_angle(euler[axis], &s[axis], &c[axis]);
	q[0] = s[0] * c[1] * c[2] - c[0] * s[1] * s[2];
	q[1] = c[0] * s[1] * c[2] + s[0] * c[1] * s[2];
	q[2] = c[0] * c[1] * s[2] - s[0] * s[1] * c[2];
	q[3] = c[0] * c[1] * c[2] + s[0] * s[1] * s[2];
	for (unsigned axis = 0; axis < 4; axis++)
		dot += q[axis] * near[axis];
	/* Adding 0 turns -0 into 0, which is what should be shown. */
	for (unsigned axis = 0; axis < 4; axis++)
		out[axis] = isnan(dot) ? (double)NAN : (dot < 0 ? -q[axis] : q[axis]) + 0.0;
}

/* Scales before taking the length, since squares of stored numbers may overflow. */
bool rotation_unit(const double from[4], double out[4])
{
	double most = 0, length = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (!isfinite(from[i]))
			return false;
		most = fmax(most, fabs(from[i]));
	}
	if (most == 0)
		return false;
	for (unsigned i = 0; i < 4; i++)
		length += from[i] / most * (from[i] / most);
	for (unsigned i = 0; i < 4; i++)
		out[i] = from[i] / most / sqrt(length);
	return true;
}

/* Returns the angle nearest to `near` that differs from `angle` by a multiple of `turn`. */
static double nearest_turn(double angle, double near, double turn)
{
	return angle + turn * rint((near - angle) / turn);
}

/*
 * Moves a triple of angles by whole turns to be nearest to another triple; returns the squared
 * distance.
 */
static double approach_angles(double angles[3], const double near[3])
{
	double far = 0;

	for (unsigned axis = 0; axis < 3; axis++) {
		angles[axis] = nearest_turn(angles[axis], near[axis], 360);
		far += (angles[axis] - near[axis]) * (angles[axis] - near[axis]);
	}
	return far;
}

static double rotation_degrees_of(double sine, double cosine)
{
	return trig_atan2(sine, cosine) * DEGREES_PER_RADIAN;
}

/* Half the sum and half the difference of angles rx and rz, and the angle ry. */
struct halves {
	double sum, difference, y;
};

/*
 * With cos and sin of half the angles, w + y and x - z are (cos ry/2 + sin ry/2) times cos and sin
 * of half the difference, w - y and x + z are (cos ry/2 - sin ry/2) times those of half the sum.
 * So nothing cancels, and the length of the quaternion does not matter.
 */
static struct halves halves_of(const double q[4], const double near[3])
{
	double plus = trig_hypot(q[3] + q[1], q[0] - q[2]),
	       minus = trig_hypot(q[3] - q[1], q[0] + q[2]);
	struct halves h = {.sum = rotation_degrees_of(q[0] + q[2], q[3] - q[1]),
			   .difference = rotation_degrees_of(q[0] - q[2], q[3] + q[1])};

	if (plus == 0 && minus == 0)
		return (struct halves){0, 0, 0};
	h.y = 2 * rotation_degrees_of(plus - minus, plus + minus);
	if (minus <= LOCKED * plus) {
		h.sum = (near[0] + near[2]) / 2;
		h.difference = nearest_turn(h.difference, (near[0] - near[2]) / 2, 180);
	} else if (plus <= LOCKED * minus) {
		h.difference = (near[0] - near[2]) / 2;
		h.sum = nearest_turn(h.sum, (near[0] + near[2]) / 2, 180);
	}
	return h;
}

void rotation_euler(const double quaternion[4], const double near[3], double out[3])
{
	double from[3];
	struct halves h;

	for (unsigned axis = 0; axis < 3; axis++)
		from[axis] = fabs(near[axis]) <= FAR ? near[axis] : 0;
	h = halves_of(quaternion, from);

	double one[3] = {h.sum + h.difference, h.y, h.sum - h.difference};
	double other[3] = {one[0] + 180, 180 - one[1], one[2] + 180};
	const double *best =
		approach_angles(other, from) < approach_angles(one, from) ? other : one;

	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = isnan(h.sum + h.difference + h.y) ? (double)NAN : best[axis] + 0.0;
}

/* ---- curves ---- */

static void convert_value(enum curve_kind kind, const double from[4], const double near[4],
			  double out[4])
{
	if (kind == CURVE_QUATERNION)
		rotation_quaternion(from, near, out);
	else
		rotation_euler(from, near, out);
}

static void get_key(const struct curve *c, uint32_t key, double out[4])
{
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		out[axis] = curve_value(c, key, axis);
}

static bool is_finite(const double *value, unsigned width)
{
	for (unsigned axis = 0; axis < width; axis++)
		if (!isfinite(value[axis]))
			return false;
	return true;
}

static bool rotation_key_same(const struct curve *a, uint32_t a_key, const struct curve *b,
			      uint32_t b_key)
{
	for (unsigned axis = 0; axis < curve_width(a); axis++)
		if (!f64_same(curve_value(a, a_key, axis), curve_value(b, b_key, axis)))
			return false;
	return true;
}

static struct curve *rotation_new_curve(const struct curve *like, enum curve_kind kind,
					struct arena *arena)
{
	struct curve *made = arena_alloc(arena, 1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct curve){.kind = kind,
			       .interpolation = like->interpolation,
			       .keyed = like->keyed,
			       .count = like->count,
			       .frames = like->frames};
	if (like->timing) {
		made->timing = tangents_times(like, arena);
		if (!made->timing)
			return NULL;
	}
	for (unsigned axis = 0; axis < curve_width(made); axis++)
		made->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	made->values = arena_alloc(arena, made->count, curve_width(made) * sizeof(*made->values));
	return made->values ? made : NULL;
}

/*
 * The state of match_key, which is called for the edited keys in ascending order, in formats
 * without times.
 */
struct matched {
	uint32_t group; /* the first edited key in the frame of the current key */
	uint32_t first; /* the first served key at or after that frame */
};

/* Returns the served key of the same frame and occurrence as an edited key, or -1. */
static int64_t match_key(const struct curve *edited, uint32_t key, const struct curve *served,
			 struct matched *m)
{
	double frame = curve_moment(edited, key);

	if (!served)
		return -1;
	if (curve_moment(edited, m->group) < frame)
		m->group = key;
	while (m->first < served->count && curve_moment(served, m->first) < frame)
		m->first++;
	if (key - m->group >= served->count - m->first ||
	    curve_moment(served, m->first + (key - m->group)) > frame)
		return -1;
	return (int64_t)m->first + (key - m->group);
}

/* Converts the keys of an edited curve back to the stored kind. */
struct way_back {
	const struct curve *edited, *served, *stored;
	enum curve_kind kind;
	unsigned width; /* number of values in a key of the stored kind */
	struct matched matched;
	int64_t *from;  /* for each key its served key, or -1; NULL: match_key finds it */
	double near[4]; /* the last finite key, to which equivalent values are chosen near */
};

/* Converts one key to `out`; the previous key is at out - width. */
static void restore_key(struct way_back *w, uint32_t key, double *out)
{
	int64_t old = w->from ? w->from[key] : match_key(w->edited, key, w->served, &w->matched);
	double from[4], was[4] = {(double)NAN};

	if (old >= 0)
		get_key(w->stored, (uint32_t)old, was);
	get_key(w->edited, key, from);
	if (old >= 0 && rotation_key_same(w->edited, key, w->served, (uint32_t)old))
		memcpy(out, was, w->width * sizeof(*out));
	else if (is_finite(was, w->width))
		convert_value(w->kind, from, was, out);
	else if (key > 0 && rotation_key_same(w->edited, key, w->edited, key - 1))
		memcpy(out, out - w->width,
		       w->width * sizeof(*out)); /* repeat the previous key bit for bit */
	else
		convert_value(w->kind, from, w->near, out);
	if (is_finite(out, w->width))
		memcpy(w->near, out, w->width * sizeof(*out));
}

struct curve *rotation_restore(const struct curve *edited, const struct curve *served,
			       const struct curve *stored, enum curve_kind kind,
			       struct arena *arena)
{
	struct way_back w = {.edited = edited, .served = served, .stored = stored, .kind = kind};
	struct curve *made = rotation_new_curve(edited, kind, arena);
	double *out = made ? (double *)made->values : NULL;

	assert((edited->kind == CURVE_QUATERNION) != (kind == CURVE_QUATERNION));
	if (!made)
		return NULL;
	if (served && served->timing && edited->timing) {
		w.from = arena_alloc(arena, made->count, sizeof(*w.from));
		if (!w.from)
			return NULL;
		tangents_match(edited, served, w.from);
	}
	w.width = curve_width(made);
	w.near[3] = kind == CURVE_QUATERNION;
	for (uint32_t key = 0; key < made->count; key++, out += w.width)
		restore_key(&w, key, out);
	return made;
}

struct curve *rotation_convert(const struct curve *c, enum curve_kind kind, struct arena *arena)
{
	return rotation_restore(c, NULL, NULL, kind, arena);
}
