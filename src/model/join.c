/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "join.h"

#include "bones.h"

#include <assert.h>
#include <stdlib.h>

bool join_add(struct join *j, const struct clip *clip, struct err *err)
{
	const struct clip **clips;
	uint64_t keyframes = j->keyframes;

	for (uint32_t i = 0; i < clip->track_count; i++)
		keyframes += clip->tracks[i].keyframes->count;
	if (clip->frames > UINT32_MAX - j->frames || keyframes > UINT32_MAX)
		return err_set(err, ERR_FORMAT, "together these are more than %u frames or keys",
			       UINT32_MAX);
	clips = array_room(j->clips, j->count, &j->room, sizeof(*clips));
	if (!clips)
		return err_memory(err);
	j->clips = clips;
	clips[j->count++] = clip;
	j->frames += clip->frames;
	j->keyframes = (uint32_t)keyframes;
	return true;
}

void join_release(struct join *j)
{
	free(j->clips);
	*j = (struct join){.format = NULL};
}

/* A track, and the first frame of its clip in the joined clip. */
struct piece {
	uint32_t number, first;
	const struct track *track;
};

static int join_by_number(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->number != b->number)
		return (a->number > b->number) - (a->number < b->number);
	return (a->first > b->first) - (a->first < b->first);
}

/* All tracks of all clips, sorted by name, then by clip. NULL: out of memory. */
static struct piece *sorted_pieces(const struct join *j, size_t *count)
{
	struct piece *pieces;
	uint32_t first = 0;

	*count = 0;
	for (size_t i = 0; i < j->count; i++)
		*count += j->clips[i]->track_count;
	pieces = calloc(*count + 1, sizeof(*pieces));
	*count = 0;
	for (size_t i = 0; pieces && i < j->count; i++) {
		for (uint32_t t = 0; t < j->clips[i]->track_count; t++) {
			struct piece *p = &pieces[(*count)++];

			*p = (struct piece){.first = first, .track = &j->clips[i]->tracks[t]};
			(void)bone_number(j->format, j->names, p->track->name, &p->number);
		}
		first += j->clips[i]->frames;
	}
	if (*count)
		qsort(pieces, *count, sizeof(*pieces), join_by_number);
	return pieces;
}

static size_t run_length(const struct piece *pieces, size_t count)
{
	size_t length = 1;

	while (length < count && pieces[length].number == pieces[0].number)
		length++;
	return length;
}

static void shift_frames(uint32_t *to, const uint32_t *frames, uint32_t count, uint32_t first)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = first + frames[i];
}

static const struct keyframes *join_keyframes(const struct piece *pieces, size_t count,
					      struct arena *arena)
{
	struct keyframes *k = arena_alloc(arena, 1, sizeof(*k));
	uint32_t *frames, all = 0, at = 0;
	uint8_t *flags, *roles;

	for (size_t i = 0; i < count; i++)
		all += pieces[i].track->keyframes->count;
	frames = arena_alloc(arena, all, sizeof(*frames));
	flags = arena_alloc(arena, all, 1);
	roles = arena_alloc(arena, all, 1);
	if (!k || !frames || !flags || !roles)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct keyframes *from = pieces[i].track->keyframes;

		shift_frames(frames + at, from->frames, from->count, pieces[i].first);
		memcpy(flags + at, from->flags, from->count);
		memcpy(roles + at, from->roles, from->count);
		at += from->count;
	}
	*k = (struct keyframes){all, frames, flags, roles};
	return k;
}

/* Joins the curves of one role; *out is NULL if no piece has such a curve. */
static const struct curve *join_curves(const struct piece *pieces, size_t count, enum role role,
				       struct arena *arena)
{
	const struct curve *from = NULL;
	uint32_t *frames, all = 0, at = 0;
	struct curve *whole;
	uint8_t *stored;
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		if (!pieces[i].track->curve[role])
			continue;
		from = pieces[i].track->curve[role];
		assert(from->keyed && from->frames && from->stored);
		all += from->count;
	}
	if (!from)
		return NULL;
	size = 2 * (size_t)curve_width(from);
	whole = arena_alloc(arena, 1, sizeof(*whole));
	frames = arena_alloc(arena, all, sizeof(*frames));
	stored = arena_alloc(arena, all, size);
	if (!whole || !frames || !stored)
		return NULL;
	*whole = *from;
	for (size_t i = 0; i < count; i++) {
		from = pieces[i].track->curve[role];
		if (!from)
			continue;
		shift_frames(frames + at, from->frames, from->count, pieces[i].first);
		memcpy(stored + at * size, from->stored, from->count * size);
		at += from->count;
	}
	whole->count = all;
	whole->frames = frames;
	whole->stored = stored;
	return whole;
}

static void join_track(const struct piece *pieces, size_t count, struct arena *arena,
		       struct track *out)
{
	const struct track *first = pieces[0].track;

	*out = (struct track){
		.name = arena_text(arena, first->name, strlen(first->name)),
		.origin = out->origin,
		.roles = first->roles,
		.rotation = first->rotation,
		.keyframes = join_keyframes(pieces, count, arena),
	};
	for (enum role role = 0; role < ROLE_COUNT; role++)
		out->curve[role] = join_curves(pieces, count, role, arena);
}

bool join_end(const struct join *j, struct arena *arena, struct clip *out)
{
	size_t count, length;
	struct piece *pieces = sorted_pieces(j, &count);
	struct track *tracks;
	uint32_t runs = 0;

	if (!pieces)
		return false;
	for (size_t i = 0; i < count; i += run_length(pieces + i, count - i))
		runs++;
	tracks = arena_alloc(arena, runs, sizeof(*tracks));
	*out = (struct clip){.frames = j->frames, .tracks = tracks, .track_count = runs};
	runs = 0;
	for (size_t i = 0; tracks && i < count; i += length) {
		length = run_length(pieces + i, count - i);
		tracks[runs].origin = runs;
		join_track(pieces + i, length, arena, &tracks[runs++]);
	}
	free(pieces);
	return !arena->failed;
}
