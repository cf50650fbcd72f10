/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slab.h - memory for very many small things that come and go: without a header before each, and
 * apart from large things, among which they would leave holes that fit none of those.
 *
 * What is given back is for the next thing of its size; memory goes when all of it does. Not
 * locked: the owner does that.
 */
#ifndef ANIMFS_UTIL_SLAB_H
#define ANIMFS_UTIL_SLAB_H

#include <stddef.h>

#define SLAB_STEP 8  /* bytes; sizes are rounded up to it, and things are aligned to it */
#define SLAB_MAX 512 /* bytes of a thing at most */

struct slab {
	void *free[SLAB_MAX / SLAB_STEP + 1]; /* by size; each leads to the next */
	struct slab_block *blocks;            /* the first has room still */
};

/* size: 1 to SLAB_MAX. All bytes are 0. NULL when out of memory. */
void *slab_get(struct slab *s, size_t size);
/* What slab_get gave for this size; NULL is fine. */
void slab_put(struct slab *s, void *thing, size_t size);
void slab_release(struct slab *s);

#endif
