/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ages.h"

#include "snap.h"

#include <stdlib.h>
#include <string.h>

static uint32_t count_of(const struct anim *anim)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < anim->clip_count; i++)
		count += 1 + anim->clips[i].track_count;
	return count;
}

/* All that the texts of a bone show: its names, the columns it can have, its keys. */
static bool texts_same(const struct track *a, const struct track *b)
{
	return strcmp(a->label, b->label) == 0 && strcmp(a->name, b->name) == 0 &&
	       a->roles == b->roles && a->rotation == b->rotation && track_same(a, b);
}

/* Everything that a clip says beside its tracks. */
static bool clip_same(const struct clip *a, const struct clip *b)
{
	return a->frames == b->frames && a->loop == b->loop && a->track_count == b->track_count &&
	       f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
	       f32_bits(a->duration) == f32_bits(b->duration) && strcmp(a->name, b->name) == 0 &&
	       fields_same(a->fields, a->field_count, b->fields, b->field_count);
}

/* What a track of the clip was before: at the same place in most cases. -1: it is new. */
static int64_t track_before(const struct snap *before, uint32_t clip, uint32_t hint,
			    const char *label)
{
	const struct clip *old = &before->anim->clips[clip];

	if (hint < old->track_count && strcmp(old->tracks[hint].label, label) == 0)
		return hint;
	return snap_track(before, clip, label);
}

/* `edit` is the clip as it was stored, or NULL. */
static void inherit(struct ages *ages, uint32_t index, const struct clip *clip,
		    const struct snap *before, const struct clip *edit)
{
	int64_t old_index = snap_clip(before, clip->label);
	struct timespec *at = &ages->at[ages->first[index]];
	const struct timespec *old_at;
	const struct clip *old;
	bool all_same, same_frames, kept;

	if (old_index < 0)
		return;
	old = &before->anim->clips[old_index];
	old_at = &before->ages.at[before->ages.first[old_index]];
	kept = edit && edit->tracks == old->tracks;
	/* Another frame count or frame time shows in every text of the clip. */
	same_frames = clip->frames == old->frames &&
		      f32_bits(clip->frame_time) == f32_bits(old->frame_time);
	all_same = clip_same(clip, old);
	for (uint32_t i = 0; i < clip->track_count; i++) {
		const struct track *now = &clip->tracks[i];
		int64_t track = track_before(before, (uint32_t)old_index, i, now->label);
		bool same = track >= 0 && (kept || texts_same(now, &old->tracks[track]));

		if (same && same_frames)
			at[1 + i] = old_at[1 + track];
		all_same = all_same && same && track == i;
	}
	if (all_same)
		at[0] = old_at[0];
}

bool ages_init(struct ages *ages, const struct anim *anim, struct timespec now,
	       const struct snap *before, const struct anim *edit)
{
	uint32_t count = count_of(anim), next = 0;

	*ages = (struct ages){.first = calloc(anim->clip_count + 1, sizeof(*ages->first)),
			      .at = calloc(count + 1, sizeof(*ages->at)),
			      .size = (anim->clip_count + 1) * sizeof(*ages->first) +
				      ((size_t)count + 1) * sizeof(*ages->at),
			      .now = now};
	if (!ages->first || !ages->at) {
		ages_release(ages);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		ages->at[i] = now;
	for (uint32_t i = 0; i < anim->clip_count; i++) {
		ages->first[i] = next;
		next += 1 + anim->clips[i].track_count;
		if (before && before->ages.at)
			inherit(ages, i, &anim->clips[i], before, edit ? &edit->clips[i] : NULL);
	}
	return true;
}

void ages_release(struct ages *ages)
{
	free(ages->first);
	free(ages->at);
	*ages = (struct ages){.since = 0};
}

struct timespec ages_of(const struct ages *ages, uint32_t clip, int64_t track)
{
	return ages->at[ages->first[clip] + (uint32_t)(track + 1)];
}

bool ages_kept(const struct ages *ages, uint32_t clip, int64_t track)
{
	struct timespec at = ages_of(ages, clip, track);

	return at.tv_sec != ages->now.tv_sec || at.tv_nsec != ages->now.tv_nsec;
}
