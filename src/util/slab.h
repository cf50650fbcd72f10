/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slab.h - an allocator for many small objects that come and go. They have no header each, and do
 * not fragment the heap between large allocations. Freed memory is reused for objects of the same
 * size, and returned to the system with the whole slab. Not locked: the owner must serialize calls.
 */
#ifndef ANIMFS_UTIL_SLAB_H
#define ANIMFS_UTIL_SLAB_H

#include <stddef.h>

#define SLAB_STEP                                                                                  \
	8 /* object sizes are rounded up to this many bytes, and objects are aligned to it */
#define SLAB_MAX 512 /* largest object, in bytes */

struct slab {
	void *free[SLAB_MAX / SLAB_STEP + 1]; /* lists of free objects by size */
	struct slab_block *blocks;            /* all blocks; only the first has room */
};

/* Allocates `size` bytes (1 to SLAB_MAX), all 0. Returns NULL when out of memory. */
void *slab_get(struct slab *s, size_t size);
/* Frees an object that slab_get returned for the same size; NULL is ignored. */
void slab_put(struct slab *s, void *thing, size_t size);
void slab_release(struct slab *s);

#endif
