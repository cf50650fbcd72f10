/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compose.h - shows additive clips on top of another clip of the file, their base.
 *
 * Bone by bone, at each frame of the additive clip and at the base's pose at that time, in a loop
 * if the base loops: translation = base + additive; rotation = base * additive; each only where the
 * additive clip has that curve, otherwise the base's. A curve that the base lacks is the
 * additive's. Scale is the base's. Files do not record which clips are additive, so the user gives
 * rules.
 */
#ifndef ANIMFS_MODEL_COMPOSE_H
#define ANIMFS_MODEL_COMPOSE_H

#include "animfs/anim.h"

#define COMPOSE_NONE UINT32_MAX

/*
 * A rule: in files that have a clip `clip`, clips whose name matches `pattern` (fnmatch) are shown
 * on it.
 */
struct base_rule {
	char *pattern, *clip;
};

/*
 * Returns the index of the base for a clip, by the first rule that the clip matches, or
 * COMPOSE_NONE.
 */
uint32_t compose_base(const struct anim *a, uint32_t clip, const struct base_rule *rules,
		      unsigned count);
/*
 * Returns the number of samples that composing the clip with the base may take, each up to 64
 * bytes.
 */
uint64_t compose_cost(const struct anim *a, uint32_t clip, uint32_t base);
/*
 * Returns a model with clips shown on their bases; it points into `a`. `bases` has the base of each
 * clip of `a`. A composed clip has its own bones, then those that only the base has. NULL when out
 * of memory.
 */
struct anim *compose(const struct anim *a, const uint32_t *bases);
/*
 * Converts an edit of composed clips back to the additive clips: `edited` was made from `composed`,
 * and the result is an edit of `stored` that owns its new parts. NULL and err if the edit changes a
 * part that comes from the base.
 */
struct anim *compose_take_back(const struct anim *stored, const struct anim *composed,
			       const struct anim *edited, uint32_t clip, uint32_t base,
			       struct err *err);

#endif
