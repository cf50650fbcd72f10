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

/* Clips whose name matches `pattern` (fnmatch) are shown on `clip`, in files that have one. */
struct base_rule {
	char *pattern, *clip;
};

/* The base of a clip by the first rule that it matches, or COMPOSE_NONE. */
uint32_t compose_base(const struct anim *a, uint32_t clip, const struct base_rule *rules,
		      unsigned count);
/* The samples that composing the clip with that base may take, each up to 64 bytes of memory. */
uint64_t compose_cost(const struct anim *a, uint32_t clip, uint32_t base);
/*
 * A model that shows such clips on their bases: the clip's bones, and behind them those that only
 * the base has. It points into `a`. bases: of each clip of it. NULL when out of memory.
 */
struct anim *compose(const struct anim *a, const uint32_t *bases);
/*
 * Converts an edit of the composed clip back to the additive clip: `edited` was edited from
 * `composed`, and the result is edited from `stored`. It owns its new parts. NULL and err if the
 * edit changes a part that is the base's.
 */
struct anim *compose_take_back(const struct anim *stored, const struct anim *composed,
			       const struct anim *edited, uint32_t clip, uint32_t base,
			       struct err *err);

#endif
