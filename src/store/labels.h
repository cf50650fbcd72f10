/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.h - finds clips and tracks of a labelled model by name, hashed. */
#ifndef ANIMFS_LABELS_H
#define ANIMFS_LABELS_H

#include "animfs/anim.h"

struct labels;

/* *size: its memory. NULL when out of memory. */
struct labels *labels_new(const struct anim *a, size_t *size);
void labels_free(struct labels *l); /* NULL is fine */
/* -1 when there is none. `a` is the model that it was made of. */
int64_t labels_clip(const struct labels *l, const struct anim *a, const char *label);
int64_t labels_track(const struct labels *l, const struct anim *a, uint32_t clip,
		     const char *label);

#endif
