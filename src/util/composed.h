/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * composed.h - names that are the same to people, one with composed characters and one with marks
 * behind their letters, as macOS and some programs write them (NFC and NFD of Unicode).
 *
 * Marks are taken in the order in which they stand, as both forms have it.
 */
#ifndef ANIMFS_UTIL_COMPOSED_H
#define ANIMFS_UTIL_COMPOSED_H

#include "animfs/base.h"

/* Has the name a character that may be written in another way? */
bool composed_may_differ(const char *text);
/* Are they the same but for that? Also false when out of memory. */
bool composed_same(const char *a, const char *b);
/* Appends the name, without a NUL, with its characters taken apart: the same for all that are. */
void composed_apart(const char *text, struct buf *out);
/* Returns a copy of the name with its characters taken apart; NULL when out of memory. */
char *composed_copy(const char *text, struct arena *arena);
/*
 * Writes a name with the code points of all that may look like another: "Za<U+0308>hne". What does
 * not fit is left out.
 */
void composed_points(const char *text, char *out, size_t size);
/*
 * Writes " (hips<U+200B>)" for a name with characters that are not seen, or not as what they are:
 * marks apart, odd spaces, full-width letters. "" for other names.
 */
void composed_hint(const char *text, char *out, size_t size);

#endif
