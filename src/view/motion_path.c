/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion_path.h"

#include "model/rotation.h"
#include "model/trig.h"

#include <math.h>
#include <string.h>

/* Returns the last key at or before the frame; 0 if there is none. */
static uint32_t key_before(const struct path *p, double frame)
{
	uint32_t low = 0, high = p->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->frames[middle] <= frame + p->near)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : 0;
}

static const double *key_value(const struct path *p, uint32_t key)
{
	size_t i = p->interpolation == MOTION_CUBIC ? 3 * (size_t)key + 1 : key;

	return p->values + i * p->width;
}

/* Computes the weights of two rotations in the interpolated one. */
static void weigh(const struct path *p, double dot, double t, double *from, double *to)
{
	double angle = trig_acos(fmin(fabs(dot), 1));

	*from = 1 - t;
	*to = t;
	/*
	 * For nearly equal rotations linear interpolation is as good, and avoids dividing by a tiny
	 * sine.
	 */
	if (!p->straight && angle > 1e-4) {
		*from = trig_sin((1 - t) * angle) / trig_sin(angle);
		*to = trig_sin(t * angle) / trig_sin(angle);
	}
	if (dot < 0)
		*to = -*to;
}

static void blend(const struct path *p, uint32_t key, double t, double out[4])
{
	const double *a = key_value(p, key), *b = key_value(p, key + 1);
	double from = 1 - t, to = t, dot = 0;

	for (unsigned axis = 0; axis < p->width; axis++)
		dot += a[axis] * b[axis];
	if (p->width == 4)
		weigh(p, dot, t, &from, &to);
	for (unsigned axis = 0; axis < p->width; axis++)
		out[axis] = from * a[axis] + to * b[axis];
}

/*
 * Interpolates a cubic Hermite spline from a key to the next, by the key's out-tangent and the next
 * key's in-tangent.
 */
static void bend(const struct path *p, uint32_t key, double t, double out[4])
{
	const double *a = key_value(p, key), *b = key_value(p, key + 1);
	const double *leave = a + p->width, *arrive = b - p->width;
	double seconds = (p->frames[key + 1] - p->frames[key]) * p->seconds;
	double t2 = t * t, t3 = t2 * t;

	for (unsigned axis = 0; axis < p->width; axis++)
		out[axis] = (2 * t3 - 3 * t2 + 1) * a[axis] +
			    (t3 - 2 * t2 + t) * seconds * leave[axis] +
			    (3 * t2 - 2 * t3) * b[axis] + (t3 - t2) * seconds * arrive[axis];
}

void path_value(const struct path *p, double frame, double out[4])
{
	uint32_t key = key_before(p, frame);
	bool holds = p->interpolation == MOTION_STEP || key + 1 == p->count ||
		     frame <= p->frames[key] + p->near;

	out[3] = 0;
	memcpy(out, key_value(p, key), p->width * sizeof(*out));
	if (!holds) {
		double way = p->frames[key + 1] - p->frames[key];
		double t = (frame - p->frames[key]) / way;

		if (p->interpolation == MOTION_CUBIC)
			bend(p, key, t, out);
		else
			blend(p, key, t, out);
	}
	if (p->width == 4 && !rotation_unit(out, out))
		memcpy(out, key_value(p, key), 4 * sizeof(*out));
}
