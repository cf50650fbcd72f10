/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compose.h - additive clips, as they look on top of another clip of the file, their base.
 *
 * Bone by bone, at each frame of the additive clip and at the base's pose at that time, in a loop
 * if the base loops: translation = base + additive; rotation = base * additive; each only where the
 * additive clip has that curve, otherwise the base's. Where the base has none, the additive's
 * alone. Scale is the base's. Nothing in a file says which clips are additive: rules do.
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
/* Samples that showing the clip on that base may take; each takes up to 64 bytes of memory. */
uint64_t compose_cost(const struct anim *a, uint32_t clip, uint32_t base);
/*
 * A model that shows such clips on their bases: the clip's bones, and behind them those that only
 * the base has. It points into `a`. bases: of each clip of it. NULL when out of memory.
 */
struct anim *compose(const struct anim *a, const uint32_t *bases);
/*
 * The way back, of one clip: `edited` was edited from `composed`. The model with those curves as
 * the additive clip has to have them, edited from `stored`; it owns what is new. NULL and err when
 * the edit is about a part that is the base's.
 */
struct anim *compose_take_back(const struct anim *stored, const struct anim *composed,
			       const struct anim *edited, uint32_t clip, uint32_t base,
			       struct err *err);

#endif
