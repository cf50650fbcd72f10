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

/*
 * Makes a text of the bytes, which it takes over even if it fails. NULL when out of memory, or if
 * bytes->failed.
 */
struct text *text_new(struct buf *bytes);
struct text *text_get(struct text *t);         /* takes a reference; NULL is fine */
void text_put(struct text *t);                 /* drops a reference; NULL is fine */
struct bytes text_bytes(const struct text *t); /* returns no bytes for NULL */
size_t text_capacity(const struct text *t);    /* returns the memory in bytes; 0 for NULL */

/*
 * Returns the text's bytes for changing. If there are other references, *t is first replaced by a
 * copy, with room for `room` bytes. NULL when out of memory; then *t is unchanged.
 */
struct buf *text_writable(struct text **t, size_t room);
bool text_is_shared(const struct text *t);
struct text *text_copy(const struct text *t); /* returns NULL when out of memory */

#endif
