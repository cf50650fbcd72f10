/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rotation.h - rotations in either form: Euler angles in degrees and quaternions.
 *
 * Angles x y z are R = Rz * Ry * Rx on column vectors, quaternions x y z w of any length but 0,
 * which turns nothing. Many triples of angles are one rotation (whole turns, and a second way
 * round), and so are a quaternion and its negative: of those the one nearest to a given one is
 * chosen. Numbers that are not finite have no other form; they become NaN.
 */
#ifndef ANIMFS_MODEL_ROTATION_H
#define ANIMFS_MODEL_ROTATION_H

#include "animfs/anim.h"

/* The one nearest to `near`, which is finite. */
void rotation_quaternion(const double euler[3], const double near[4], double out[4]);
void rotation_euler(const double quaternion[4], const double near[3], double out[3]);

/* The same rotation of length 1. False, and out as it was: there is no such rotation. */
bool rotation_unit(const double from[4], double out[4]);

/*
 * A rotation curve in the other kind: the same keys, each nearest to the one before it, the first
 * to no rotation at all. Not stored yet. NULL: no memory.
 */
struct curve *rotation_convert(const struct curve *c, enum curve_kind kind, struct arena *arena);

/*
 * The way back, where `stored` was converted to `served` and that was edited: keys that are still
 * those of `served` have the values of `stored`, others the nearest to these, and those of new
 * frames the nearest to the key before. served and stored are NULL where there was nothing.
 */
struct curve *rotation_restore(const struct curve *edited, const struct curve *served,
			       const struct curve *stored, enum curve_kind kind,
			       struct arena *arena);

#endif
