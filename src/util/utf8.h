/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.h - characters of UTF-8 (RFC 3629: no surrogates, nothing longer than needed), and UTF-16.
 */
#ifndef ANIMFS_UTIL_UTF8_H
#define ANIMFS_UTIL_UTF8_H

#include "animfs/base.h"

bool utf_is_surrogate(uint32_t c);
/*
 * Decodes the character at the beginning of `left` bytes (at least 1) and returns its length;
 * surrogates count as characters. Returns 0 if the bytes are not UTF-8.
 */
size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *c);
size_t utf8_encode(uint32_t c, uint8_t out[4]);
/*
 * Decodes a pair of code units or a single unit, also a lone surrogate; returns the number of
 * units.
 */
size_t utf16_decode(const uint8_t *units, size_t left, uint32_t *c);

/*
 * Returns the size in bytes of the character at p; 0 if there is none. Surrogates and NUL do not
 * count as characters.
 */
size_t utf8_length(const uint8_t *p, size_t left);
/* Are the `left` bytes at p the beginning of a character that is cut off? */
bool utf8_is_cut(const uint8_t *p, size_t left);
/* Returns the offset of the first byte that is not part of a character; text.size if all are. */
size_t utf8_fault(struct bytes text);
/* Returns the size of the byte order mark that some editors write first; 0 if there is none. */
size_t utf8_mark(struct bytes text);

/*
 * Returns the encoding that an XML declaration at the beginning of the text names; empty if there
 * is no declaration.
 */
struct bytes utf8_declared(struct bytes text);
bool utf8_is_latin1(struct bytes encoding);

/*
 * Returns the text as UTF-8 without a byte order mark. UTF-16 with a byte order mark, and XML that
 * is declared as ISO-8859-1, are converted in `room`, whose `failed` is set when out of memory;
 * other texts are returned unchanged. A lone surrogate becomes bytes that are not UTF-8, and so
 * does a character that is cut off by the end of the text.
 */
struct bytes utf8_text(struct bytes text, struct buf *room);

#endif
