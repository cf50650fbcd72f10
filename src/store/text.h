/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - a reference-counted text of a view.
 *
 * It is immutable while there are several references. Thread-safe.
 */
#ifndef ANIMFS_STORE_TEXT_H
#define ANIMFS_STORE_TEXT_H

#include "animfs/base.h"

struct text;

/* Takes over the bytes, even if it fails. NULL when out of memory, or if bytes->failed. */
struct text *text_new(struct buf *bytes);
struct text *text_get(struct text *t);         /* takes a reference; NULL is fine */
void text_put(struct text *t);                 /* drops a reference; NULL is fine */
struct bytes text_bytes(const struct text *t); /* empty for NULL */
size_t text_capacity(const struct text *t);    /* bytes of memory; 0 for NULL */

/*
 * The text's bytes, to be changed by the caller. If there are other references, *t is first
 * replaced by a copy, with room for `room` bytes. NULL when out of memory; then *t is unchanged.
 */
struct buf *text_writable(struct text **t, size_t room);
bool text_is_shared(const struct text *t);
struct text *text_copy(const struct text *t); /* NULL when out of memory */

#endif
