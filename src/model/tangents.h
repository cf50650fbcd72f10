/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tangents.h - the tangents of keys that were changed or added, in formats that have tangents.
 *
 * A key with unchanged values and time keeps its tangents. A changed or new one gets them by the
 * rule that the unchanged keys around it follow: central differences of their neighbours, or the
 * slopes of straight lines. If they follow none, a changed key keeps its tangents, and a new one
 * gets central differences. A curve without unchanged keys gets straight lines. The tangents of the
 * keys around never change.
 */
#ifndef ANIMFS_MODEL_TANGENTS_H
#define ANIMFS_MODEL_TANGENTS_H

#include "animfs/anim.h"

/*
 * Copies the times of a curve without its tangents, for a curve whose values are of another kind.
 * NULL: no memory.
 */
const struct curve_timing *tangents_times(const struct curve *c, struct arena *arena);
/*
 * Finds the old key of each key of an edited curve: the one of its time, or -1. Both curves have
 * times. Of several old keys of a time, the n-th key of that time is the n-th; but if some were
 * removed, it is the next one with the same values, if there is one among the next
 * TANGENTS_REMOVED_MAX.
 */
#define TANGENTS_REMOVED_MAX 16u
void tangents_match(const struct curve *made, const struct curve *old, int64_t *from);
/*
 * Sets the tangents of `made`, which has times. `old` is the curve before the edit, or NULL. False
 * when out of memory.
 */
bool tangents_derive(struct curve *made, const struct curve *old, struct arena *arena);

#endif
