/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recent.h - the texts that were made last, in bounded memory. A text is made to tell its size, and
 * whoever asked for that often reads it next.
 *
 * A text belongs to a node in a version of its file (snap.h), which say what it is once and for
 * all. Thread-safe.
 */
#ifndef ANIMFS_RECENT_H
#define ANIMFS_RECENT_H

#include "animfs/base.h"

struct recent;

struct recent *recent_new(size_t limit); /* bytes; NULL when out of memory */
void recent_free(struct recent *r);      /* NULL is fine */

/* Takes `text` over, and lets others go for it. */
void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct buf *text);
/* Hands it over, to an empty `text`; false when it is not there any more. */
bool recent_take(struct recent *r, uint64_t node, uint64_t generation, struct buf *text);

#endif
