/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampled.h"

#include <string.h>

/*
 * Samples a curve with tangents at each frame. A curve without tangents is returned itself. NULL:
 * no memory.
 */
static const struct curve *curve_sampled(const struct curve *c, uint32_t frames,
					 struct arena *arena)
{
	struct curve *made;
	double *values;
	unsigned width;

	if (!c || !c->timing)
		return c;
	width = curve_width(c);
	made = arena_alloc(arena, 1, sizeof(*made));
	values = arena_alloc(arena, frames, width * sizeof(*values));
	if (!made || !values)
		return NULL;
	*made = (struct curve){.kind = c->kind,
			       .keyed = c->count > 1,
			       .count = c->count > 1 ? frames : 1,
			       .values = values};
	memcpy(made->lane, c->lane, sizeof(made->lane));
	for (uint32_t frame = 0; frame < made->count; frame++) {
		double value[4];

		curve_sample(c, frame, value);
		memcpy(values + (size_t)frame * width, value, width * sizeof(*value));
	}
	return made;
}

struct track track_sampled(const struct track *track, uint32_t frames, struct arena *arena)
{
	struct track made = *track;

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		made.curve[role] = curve_sampled(track->curve[role], frames, arena);
	return made;
}

static bool has_timing(const struct clip *clip)
{
	for (uint32_t i = 0; i < clip->track_count; i++)
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			if (clip->tracks[i].curve[role] && clip->tracks[i].curve[role]->timing)
				return true;
	return false;
}

const struct clip *clip_sampled(const struct clip *clip, struct arena *arena)
{
	struct clip *made;
	struct track *tracks;

	if (!has_timing(clip))
		return clip;
	made = arena_alloc(arena, 1, sizeof(*made));
	tracks = arena_alloc(arena, clip->track_count, sizeof(*tracks));
	if (!made || !tracks)
		return NULL;
	*made = *clip;
	made->tracks = tracks;
	for (uint32_t i = 0; i < clip->track_count; i++)
		tracks[i] = track_sampled(&clip->tracks[i], clip->frames, arena);
	return arena->failed ? NULL : made;
}
