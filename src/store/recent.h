/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recent.h - caches the texts that were rendered last, in bounded memory. Often a text is first
 * rendered for its size, and then read.
 *
 * A text is identified by a node and the generation of a version (version.h), which determine it.
 * Thread-safe.
 */
#ifndef ANIMFS_STORE_RECENT_H
#define ANIMFS_STORE_RECENT_H

#include "text.h"

struct recent;

struct recent *recent_new(size_t limit); /* limit in bytes; returns NULL when out of memory */
void recent_free(struct recent *r);      /* NULL is fine */

/*
 * Caches a text, with a reference of its own, and drops others for it. A text that is too long is
 * not cached.
 */
void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct text *text);
/* Returns a cached text with a reference for the caller; NULL if it is not cached. */
struct text *recent_get(struct recent *r, uint64_t node, uint64_t generation);

#endif
