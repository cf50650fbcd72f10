/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nearest.h - suggests known names for a mistyped word.
 *
 *	struct nearest n = nearest_to(word, length);
 *
 *	for (...)
 *		nearest_offer(&n, name);
 *	nearest_text(&n, text, sizeof(text));
 */
#ifndef ANIMFS_UTIL_NEAREST_H
#define ANIMFS_UTIL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_NAMES 3
#define NEAREST_LENGTH 255 /* longer words and names get no suggestions */

struct nearest {
	const char *word;
	size_t length;
	size_t distance; /* typing mistakes between the word and the nearest name so far */
	unsigned count;
	char names[NEAREST_NAMES][NEAREST_LENGTH + 1];
};

/*
 * Starts a search for names near to a word. The word need not end in NUL, and must remain valid
 * while names are offered.
 */
struct nearest nearest_to(const char *word, size_t length);
/*
 * Keeps the name if it is nearer than those offered before. Insertions, deletions, changes and
 * swaps of neighbours count as mistakes, case does not. A word of up to three letters may have one
 * mistake, longer ones two. A name that begins with the word counts as one mistake.
 */
void nearest_offer(struct nearest *n, const char *name);
/* Writes the suggestion, such as "; did you mean "hips.csv"?", or "" if no name is near. */
void nearest_text(const struct nearest *n, char *out, size_t size);

#endif
