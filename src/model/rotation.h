/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rotation.h - rotations in either form: Euler angles in degrees and quaternions.
 *
 * Angles x y z are R = Rz * Ry * Rx on column vectors, quaternions x y z w of any length but 0,
 * which is no rotation. Many triples of angles are one rotation (whole turns, and a second way
 * round), and so are a quaternion and its negative: of those the one nearest to a given one is
 * chosen. Numbers that are not finite have no other form; they become NaN.
 */
#ifndef ANIMFS_MODEL_ROTATION_H
#define ANIMFS_MODEL_ROTATION_H

#include "animfs/anim.h"

/*
 * Convert a rotation to the other form; of all equal results, to the one nearest to `near`, which
 * must be finite.
 */
void rotation_quaternion(const double euler[3], const double near[4], double out[4]);
void rotation_euler(const double quaternion[4], const double near[3], double out[3]);

/* Scales a quaternion to length 1. False if that is impossible; out is then unchanged. */
bool rotation_unit(const double from[4], double out[4]);

/*
 * Converts a rotation curve to the other kind: the same keys, each in the form nearest to the one
 * before, the first nearest to the identity. Not stored yet. NULL: no memory.
 */
struct curve *rotation_convert(const struct curve *c, enum curve_kind kind, struct arena *arena);

/*
 * The reverse, after `stored` was converted to `served` and that was edited: keys that are equal in
 * `served` get the values of `stored`, others the nearest to these, and those of new frames the
 * nearest to the key before. served and stored are NULL if there was no curve.
 */
struct curve *rotation_restore(const struct curve *edited, const struct curve *served,
			       const struct curve *stored, enum curve_kind kind,
			       struct arena *arena);

#endif
