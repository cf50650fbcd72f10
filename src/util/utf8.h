/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.h - characters of UTF-8 (RFC 3629: no surrogates, nothing longer than needed), and UTF-16.
 */
#ifndef ANIMFS_UTIL_UTF8_H
#define ANIMFS_UTIL_UTF8_H

#include "animfs/base.h"

bool utf_is_surrogate(uint32_t c);
/*
 * The character at the beginning of `left` bytes (at least 1) and its length; surrogates are
 * characters here. 0 when the bytes are not UTF-8.
 */
size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *c);
size_t utf8_encode(uint32_t c, uint8_t out[4]);
/* A code unit pair or a single unit, lone surrogates included; returns how many units it took. */
size_t utf16_decode(const uint8_t *units, size_t left, uint32_t *c);

/* Bytes of the character at p; 0 when there is none. Surrogates and NUL are none here. */
size_t utf8_length(const uint8_t *p, size_t left);
/* Do the `left` bytes at p begin a character that is cut off? */
bool utf8_is_cut(const uint8_t *p, size_t left);
/* The byte offset of the first byte that is no part of a character; text.size: there is none. */
size_t utf8_fault(struct bytes text);
/* Bytes of the byte order mark that some editors write first; 0 where there is none. */
size_t utf8_mark(struct bytes text);

/* The encoding that a declaration at the beginning of the text names, as XML has it; or no data. */
struct bytes utf8_declared(struct bytes text);
bool utf8_is_latin1(struct bytes encoding);

/*
 * The text itself; for UTF-16 with a byte order mark, or for XML that is declared to be ISO-8859-1,
 * its UTF-8, in `room`, whose `failed` is set when there was no memory for it. The mark is left
 * out. Half a surrogate pair becomes bytes that are not UTF-8; at the end of the text, bytes that
 * are the beginning of a character.
 */
struct bytes utf8_text(struct bytes text, struct buf *room);

#endif
