/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf.h - UTF-8 and UTF-16, with lone surrogates as three bytes each (WTF-8), since games store
 * names that are no valid UTF-16.
 */
#ifndef ANIMFS_TEXT_UTF_H
#define ANIMFS_TEXT_UTF_H

#include "util/utf8.h"

/* Converts `count` UTF-16LE code units (2 * count bytes). NULL when out of memory. */
char *utf8_from_utf16(struct arena *arena, const uint8_t *units, size_t count);
/* Appends a text as UTF-16LE; a byte that is not UTF-8 becomes U+FFFD, as in utf8_printable. */
void utf8_to_utf16(const char *text, struct buf *out);
/* Appends a text as valid UTF-8 for people and JSON: lone surrogates become U+FFFD. */
void utf8_printable(const char *text, struct buf *out);

#endif
