/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ages.h"

#include "model/curve_edit.h"

#include <stdlib.h>
#include <string.h>

static uint32_t count_of(const struct anim *anim)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < anim->clip_count; i++)
		count += 1 + anim->clips[i].track_count;
	return count;
}

/*
 * Are the texts of two bones equal apart from their keys: name and possible columns? (The labels
 * are equal, since the track was found by its label.)
 */
static bool head_same(const struct track *a, const struct track *b)
{
	return a->roles == b->roles && a->rotation == b->rotation && strcmp(a->name, b->name) == 0;
}

/*
 * Do both lanes show values with the same number of digits, which depends on how values are
 * stored?
 */
static bool lane_same(const struct lane *a, const struct lane *b)
{
	return a->form == b->form && a->exact == b->exact && f64_same(a->unit, b->unit) &&
	       f64_same(a->turn, b->turn) && f64_same((double)a->base, (double)b->base) &&
	       f64_same((double)a->step, (double)b->step);
}

/* Compare all bytes first, since usually all are equal. */
static bool curve_lanes_same(const struct curve *a, const struct curve *b)
{
	unsigned width = curve_width(a);

	if (memcmp(a->lane, b->lane, width * sizeof(a->lane[0])) == 0)
		return true;
	for (unsigned i = 0; i < width; i++) {
		if (!lane_same(&a->lane[i], &b->lane[i]))
			return false;
	}
	return true;
}

/* Are curves with the same values also stored the same? */
static bool ages_lanes_same(const struct track *a, const struct track *b)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *x = a->curve[role], *y = b->curve[role];

		if (!x != !y)
			return false;
		if (x && x != y && !curve_lanes_same(x, y))
			return false;
	}
	return true;
}

/* Compares everything of a clip except its tracks. */
static bool ages_clip_same(const struct clip *a, const struct clip *b)
{
	return a->frames == b->frames && a->loop == b->loop && a->track_count == b->track_count &&
	       f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
	       f32_bits(a->duration) == f32_bits(b->duration) && strcmp(a->name, b->name) == 0 &&
	       fields_same(a->fields, a->field_count, b->fields, b->field_count);
}

/* Returns the index of the track in the previous version, usually `hint`; -1: it is new. */
static int64_t track_before(const struct aged *before, uint32_t clip, uint32_t hint,
			    const char *label)
{
	const struct clip *old = &before->anim->clips[clip];

	if (hint < old->track_count && strcmp(old->tracks[hint].label, label) == 0)
		return hint;
	return labels_track(before->labels, before->anim, clip, label);
}

/*
 * So many keys of changed rotations are looked at for angles. With more, which a small file can
 * have that shares one curve among many bones, the lists count as changed.
 */
#define ANGLES_MAX (1 << 22)

/* Two versions of a clip, and their ages. */
struct heirs {
	const struct clip *now, *old;
	struct age *at;
	const struct age *old_at;
	bool tracks_kept; /* no track was edited */
	bool same_frames; /* number of frames and duration are unchanged; if not, every text of the
			     clip changed */
	bool texts_kept;  /* everything else that the clip's texts depend on is unchanged */
	size_t *keys;     /* keys that lists_angles may still look at */
};

/* Does file.json list this track as one without angles? */
static bool lists_angles(const struct heirs *h, const struct track *track)
{
	const struct curve *c = track->curve[ROLE_ROTATION];
	size_t count = c && c->kind == CURVE_QUATERNION ? c->count : 0;

	*h->keys = *h->keys > count ? *h->keys - count : 0;
	return !*h->keys || curve_edit_lacks_angles(c);
}

/*
 * Do both versions of the track at `index` either have angles, or lack them under the same label?
 * `same`: the rotations are equal.
 */
static bool angles_same(const struct heirs *h, uint32_t index, bool moved, bool same)
{
	if (!moved && same)
		return true;
	if (index >= h->old->track_count)
		return false;
	return lists_angles(h, &h->now->tracks[index]) == lists_angles(h, &h->old->tracks[index]) &&
	       *h->keys && (!moved || !lists_angles(h, &h->now->tracks[index]));
}

static void inherit_track(const struct heirs *h, uint32_t index, int64_t track, bool *time,
			  bool *texts)
{
	const struct track *now = &h->now->tracks[index], *old = &h->old->tracks[track];
	bool head = head_same(now, old);

	*time = h->tracks_kept || (head && track_same(now, old));
	*texts = *time && head && h->texts_kept && ages_lanes_same(now, old);
	if (*time && h->same_frames)
		h->at[1 + index].time = h->old_at[1 + track].time;
	if (*texts && h->same_frames)
		h->at[1 + index].since = h->old_at[1 + track].since;
}

/* Returns whether the same tracks lack angles. */
static bool inherit_clip(const struct heirs *h, const struct aged *before, uint32_t old_index)
{
	bool times = ages_clip_same(h->now, h->old), texts = times && h->texts_kept;
	bool angles = true;

	for (uint32_t i = 0; i < h->now->track_count; i++) {
		int64_t track = track_before(before, old_index, i, h->now->tracks[i].label);
		bool time = false, text = false;

		if (track >= 0)
			inherit_track(h, i, track, &time, &text);
		times = times && time && track == i;
		texts = texts && text && track == i;
		angles = angles && angles_same(h, i, track != i, time);
	}
	if (times)
		h->at[0].time = h->old_at[0].time;
	if (texts)
		h->at[0].since = h->old_at[0].since;
	return angles;
}

/*
 * Computes the ages of a clip. `edit` is the edited clip that was stored, or NULL. Returns whether
 * the same tracks lack angles as in the clip of the previous version.
 */
static bool inherit_ages(struct ages *ages, uint32_t index, const struct clip *clip,
			 const struct aged *before, bool kept, const struct clip *edit,
			 size_t *keys)
{
	int64_t old_index = labels_clip(before->labels, before->anim, clip->label);
	struct heirs h = {.now = clip, .at = &ages->at[ages->first[index]], .keys = keys};

	if (old_index < 0)
		return false;
	h.old = &before->anim->clips[old_index];
	h.old_at = &before->ages->at[before->ages->first[old_index]];
	h.tracks_kept = edit && edit->tracks == h.old->tracks;
	h.same_frames = clip->frames == h.old->frames &&
			f32_bits(clip->frame_time) == f32_bits(h.old->frame_time);
	h.texts_kept = kept;
	return inherit_clip(&h, before, (uint32_t)old_index);
}

/* Do both models list the same clips and bones, in the same order? */
static bool list_same(const struct anim *a, const struct anim *b)
{
	if (a->clip_count != b->clip_count || a->bone_count != b->bone_count ||
	    strcmp(a->read_only ? a->read_only : "", b->read_only ? b->read_only : "") != 0)
		return false;
	for (uint32_t i = 0; i < a->clip_count; i++) {
		if (strcmp(a->clips[i].label, b->clips[i].label) != 0 ||
		    !ages_clip_same(&a->clips[i], &b->clips[i]))
			return false;
	}
	for (uint32_t i = 0; i < a->bone_count; i++) {
		if (strcmp(a->bones[i], b->bones[i]) != 0)
			return false;
	}
	return true;
}

bool ages_init(struct ages *ages, const struct anim *anim, struct age now,
	       const struct aged *before, bool kept, const struct anim *edit)
{
	uint32_t count = count_of(anim), next = 0;
	bool listed = before && kept && before->ages->at && list_same(anim, before->anim);
	size_t keys = ANGLES_MAX;

	*ages = (struct ages){.first = calloc(anim->clip_count + 1, sizeof(*ages->first)),
			      .at = calloc(count + 1, sizeof(*ages->at)),
			      .count = count,
			      .size = (anim->clip_count + 1) * sizeof(*ages->first) +
				      ((size_t)count + 1) * sizeof(*ages->at),
			      .listed = now};
	if (!ages->first || !ages->at) {
		ages_release(ages);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		ages->at[i] = now;
	for (uint32_t i = 0; i < anim->clip_count; i++) {
		ages->first[i] = next;
		next += 1 + anim->clips[i].track_count;
		if (before && before->ages->at &&
		    !inherit_ages(ages, i, &anim->clips[i], before, kept,
				  edit ? &edit->clips[i] : NULL, &keys))
			listed = false;
	}
	if (listed)
		ages->listed = before->ages->listed;
	return true;
}

void ages_release(struct ages *ages)
{
	free(ages->first);
	free(ages->at);
	*ages = (struct ages){.size = 0};
}

static bool age_same(struct age a, struct age b)
{
	return a.since == b.since && a.time.tv_sec == b.time.tv_sec &&
	       a.time.tv_nsec == b.time.tv_nsec;
}

static bool all_as_listed(const struct ages *ages)
{
	for (size_t i = 0; i < ages->count; i++) {
		if (!age_same(ages->at[i], ages->listed))
			return false;
	}
	return true;
}

bool ages_remember(struct ages *to, const struct ages *from)
{
	*to = (struct ages){.listed = from->listed};
	if (!from->at)
		return false;
	if (all_as_listed(from))
		return true;
	to->at = malloc(from->count * sizeof(*to->at));
	if (!to->at)
		return false;
	to->count = from->count;
	to->size = from->count * sizeof(*to->at);
	memcpy(to->at, from->at, to->size);
	return true;
}

static struct age resume(struct age now, struct age was, bool kept)
{
	return (struct age){was.time, kept ? was.since : now.since};
}

void ages_resume(struct ages *ages, const struct ages *was, bool kept)
{
	for (size_t i = 0; i < ages->count; i++)
		ages->at[i] = resume(ages->at[i], i < was->count ? was->at[i] : was->listed, kept);
	ages->listed = resume(ages->listed, was->listed, kept);
}

struct age ages_of(const struct ages *ages, uint32_t clip, int64_t track)
{
	return ages->at[ages->first[clip] + (uint32_t)(track + 1)];
}

struct age ages_listed(const struct ages *ages)
{
	return ages->listed;
}
