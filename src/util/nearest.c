/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct nearest nearest_to(const char *word, size_t length)
{
	return (struct nearest){.word = word, .length = length, .distance = SIZE_MAX};
}

static bool letters_same(char a, char b)
{
	return tolower((uint8_t)a) == tolower((uint8_t)b);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the number of typing mistakes between two names; two swapped neighbours count as one. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][NEAREST_LENGTH + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *spare = before;

		before = last;
		last = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = letters_same(a[i - 1], b[j - 1]);

			row[j] = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + !same);
			if (i > 1 && j > 1 && letters_same(a[i - 1], b[j - 2]) &&
			    letters_same(a[i - 2], b[j - 1]))
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
	}
	return row[b_length];
}

/*
 * Returns the number of typing mistakes between the word and `name`; SIZE_MAX if there are too many
 * for a suggestion.
 */
static size_t edit_distance(const struct nearest *n, const char *name)
{
	size_t length = strlen(name), limit = n->length > 3 ? 2 : 1, distance;

	if (n->length == 0 || n->length > NEAREST_LENGTH || length > NEAREST_LENGTH)
		return SIZE_MAX;
	if (n->length > 1 && length > n->length && strncasecmp(n->word, name, n->length) == 0)
		return 1;
	if (length + limit < n->length || n->length + limit < length)
		return SIZE_MAX;
	distance = distance_of(n->word, n->length, name, length);
	/*
	 * If every letter of a short word would have to change, or two of four, `name` is another
	 * word, not a mistyped one.
	 */
	if (distance > limit || distance >= n->length ||
	    (n->length == 4 && length == 4 && distance == 2))
		return SIZE_MAX;
	return distance;
}

static bool nearest_is_kept(const struct nearest *n, const char *name)
{
	for (unsigned i = 0; i < n->count; i++) {
		if (strcmp(n->names[i], name) == 0)
			return true;
	}
	return false;
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t distance = edit_distance(n, name);

	if (distance == SIZE_MAX || distance > n->distance || nearest_is_kept(n, name))
		return;
	if (distance < n->distance)
		n->count = 0;
	n->distance = distance;
	if (n->count < NEAREST_NAMES)
		memcpy(n->names[n->count++], name, strlen(name) + 1);
}

void nearest_text(const struct nearest *n, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (unsigned i = 0; i < n->count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s\"%s\"",
					 i ? " or " : "; did you mean ", n->names[i]);
	if (n->count && used < size)
		snprintf(out + used, size - used, "?");
}
