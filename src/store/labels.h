/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.h - a hash index of a model's clips and tracks by label. */
#ifndef ANIMFS_STORE_LABELS_H
#define ANIMFS_STORE_LABELS_H

#include "animfs/anim.h"

struct labels;

/* Makes an index; *size gets its memory in bytes. NULL when out of memory. */
struct labels *labels_new(const struct anim *a, size_t *size);
void labels_free(struct labels *l); /* NULL is fine */
/*
 * A hash of the names in the model's folders: differs between models with other clips, bones or
 * frames. It does not reflect views that are present or not depending on curves.
 */
uint64_t labels_outline(const struct labels *l);
/*
 * Return the index of the clip or track, or -1. `a` is the model that the labels were indexed
 * from.
 */
int64_t labels_clip(const struct labels *l, const struct anim *a, const char *label);
int64_t labels_track(const struct labels *l, const struct anim *a, uint32_t clip,
		     const char *label);

#endif
