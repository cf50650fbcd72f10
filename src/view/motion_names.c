/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion.h"

#include <stdlib.h>
#include <string.h>

static int by_label(const void *pa, const void *pb, void *clip)
{
	const struct track *tracks = ((const struct clip *)clip)->tracks;

	return strcmp(tracks[*(const uint32_t *)pa].label, tracks[*(const uint32_t *)pb].label);
}

bool motion_names_make(struct motion_names *names, const struct clip *clip, struct arena *arena)
{
	uint32_t *sorted = arena_alloc(arena, clip->track_count, sizeof(*sorted));

	*names = (struct motion_names){clip, sorted};
	if (!sorted)
		return false;
	for (uint32_t i = 0; i < clip->track_count; i++)
		sorted[i] = i;
	qsort_r(sorted, clip->track_count, sizeof(*sorted), by_label, (void *)(uintptr_t)clip);
	return true;
}

static const char *sorted_label(const struct motion_names *names, uint32_t place)
{
	return names->clip->tracks[names->sorted[place]].label;
}

/* The first index whose label does not sort before this one. */
static uint32_t motion_names_find_place(const struct motion_names *names, const char *label)
{
	uint32_t low = 0, high = names->clip->track_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(sorted_label(names, middle), label) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t motion_names_find(const struct motion_names *names, const char *label)
{
	uint32_t place = motion_names_find_place(names, label);

	return place < names->clip->track_count && strcmp(sorted_label(names, place), label) == 0
		       ? names->sorted[place]
		       : UINT32_MAX;
}

uint32_t motion_names_find_cut(const struct motion_names *names, const char *begin)
{
	uint32_t place = motion_names_find_place(names, begin), end = place;

	while (end < names->clip->track_count && end < place + 2 &&
	       strncmp(sorted_label(names, end), begin, strlen(begin)) == 0)
		end++;
	return end == place + 1 ? names->sorted[place] : UINT32_MAX;
}
