/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recent.h - the texts that were made last, in bounded memory. A text is made for its size to be
 * known, and often read next.
 *
 * A text belongs to a node in a version of its file (version.h), which say what it is once and for
 * all. Thread-safe.
 */
#ifndef ANIMFS_RECENT_H
#define ANIMFS_RECENT_H

#include "text.h"

struct recent;

struct recent *recent_new(size_t limit); /* bytes; NULL when out of memory */
void recent_free(struct recent *r);      /* NULL is fine */

/* Keeps it, with a holder of its own, and drops others for it; or not, where it is too long. */
void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct text *text);
/* With a holder for the caller; NULL when it is not there any more. */
struct text *recent_get(struct recent *r, uint64_t node, uint64_t generation);

#endif
