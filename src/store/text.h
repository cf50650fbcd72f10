/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - the text of a view, shared by all who need it.
 *
 * It never changes while more than one holds it. Thread-safe.
 */
#ifndef ANIMFS_TEXT_H
#define ANIMFS_TEXT_H

#include "animfs/base.h"

struct text;

/* Takes the bytes over, failing or not. NULL when out of memory, or when `bytes` failed. */
struct text *text_new(struct buf *bytes);
struct text *text_get(struct text *t);         /* one more holder; NULL is fine */
void text_put(struct text *t);                 /* one less; NULL is fine */
struct bytes text_bytes(const struct text *t); /* of NULL none */
size_t text_capacity(const struct text *t);    /* its memory; 0 of NULL */

/*
 * Its bytes, to be changed by the one who holds it in *t: where others hold it, too, *t becomes a
 * copy first, with room for `room` bytes. NULL when out of memory; then *t is as it was.
 */
struct buf *text_writable(struct text **t, size_t room);
bool text_is_shared(const struct text *t);

#endif
