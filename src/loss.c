/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loss.h"

#include <string.h>

/* One value for the whole clip is no key that a keyed curve could lack. */
static bool curve_loses(const struct curve *before, const struct curve *after)
{
	uint32_t next = 0;

	if (before == after || !before || before->count == 0)
		return false;
	if (!after || !before->keyed)
		return !after;
	if (!after->keyed)
		return before->count > 1;
	if (!before->frames && !after->frames)
		return after->count < before->count;
	for (uint32_t key = 0; key < before->count; key++, next++) {
		while (next < after->count && curve_frame(after, next) < curve_frame(before, key))
			next++;
		if (next == after->count || curve_frame(after, next) != curve_frame(before, key))
			return true;
	}
	return false;
}

/* Each must still be there, in its frame and before those behind it, with the parts it had. */
static bool keyframes_lose(const struct keyframes *before, const struct keyframes *after)
{
	uint32_t next = 0;

	if (before == after || !before)
		return false;
	for (uint32_t i = 0; i < before->count; i++, next++) {
		while (after && next < after->count &&
		       (after->frames[next] < before->frames[i] ||
			(after->frames[next] == before->frames[i] &&
			 (before->roles[i] & ~after->roles[next]))))
			next++;
		if (!after || next >= after->count || after->frames[next] != before->frames[i])
			return true;
	}
	return false;
}

static bool track_loses(const struct track *before, const struct track *after)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		if (curve_loses(before->curve[role], after->curve[role]))
			return true;
	}
	return keyframes_lose(before->keyframes, after->keyframes);
}

/* What became of number `i`: at the same place in most cases. */
static const struct track *track_after(const struct clip *before, uint32_t i,
				       const struct clip *after, bool edited)
{
	if (!edited)
		return track_labelled(after, i, before->tracks[i].label);
	for (uint32_t j = 0; j < after->track_count; j++) {
		uint32_t at = (uint32_t)(((uint64_t)i + j) % after->track_count);

		if (after->tracks[at].origin == i)
			return &after->tracks[at];
	}
	return NULL;
}

static const struct clip *clip_after(const struct anim *before, uint32_t i,
				     const struct anim *after, bool edited)
{
	if (!edited)
		return clip_labelled(after, i, before->clips[i].label);
	for (uint32_t j = 0; j < after->clip_count; j++) {
		uint32_t at = (uint32_t)(((uint64_t)i + j) % after->clip_count);

		if (after->clips[at].origin == i)
			return &after->clips[at];
	}
	return NULL;
}

/* Stills have no names: without origins their number tells. */
static bool stills_lose(const struct clip *before, const struct clip *after, bool edited)
{
	uint32_t kept = 0;

	if (!before->stills)
		return false;
	for (uint32_t i = 0; after->stills && i < after->frames; i++)
		kept += !edited || after->stills[i].origin != ANIM_NEW;
	return kept < before->frames;
}

static bool clip_loses(const struct clip *before, const struct clip *after, bool edited)
{
	if (stills_lose(before, after, edited))
		return true;
	if (edited && before->tracks == after->tracks)
		return false;
	for (uint32_t i = 0; i < before->track_count; i++) {
		const struct track *track = track_after(before, i, after, edited);

		if (!track || track_loses(&before->tracks[i], track))
			return true;
	}
	return false;
}

bool anim_loses(const struct anim *before, const struct anim *after, bool edited)
{
	for (uint32_t i = 0; i < before->clip_count; i++) {
		const struct clip *clip = clip_after(before, i, after, edited);

		if (!clip || clip_loses(&before->clips[i], clip, edited))
			return true;
	}
	return false;
}
