/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NONE                                                                                       \
	UINT32_MAX /* marks a free slot if it is the clip, and a clip's own entry if it is the     \
		      track */

struct slot {
	uint32_t clip, track;
};

/* A hash table with open addressing; at most half of the slots are used. */
struct labels {
	size_t mask;
	uint64_t outline;
	struct slot slots[];
};

static const char *slot_label(const struct anim *a, struct slot slot)
{
	const struct clip *clip = &a->clips[slot.clip];

	return slot.track == NONE ? clip->label : clip->tracks[slot.track].label;
}

/*
 * Labels of bones are unique only within a clip, so the clip's index is the seed; for clips it is
 * NONE.
 */
static uint64_t hash_label(uint32_t clip, const char *label)
{
	return XXH3_64bits_withSeed(label, strlen(label), clip);
}

static size_t hash_start(const struct labels *l, uint32_t clip, const char *label)
{
	return (size_t)hash_label(clip, label) & l->mask;
}

/* Adds a number to the hash of the outline; the order of the numbers matters. */
static void outline_add(struct labels *l, uint64_t fact)
{
	l->outline = (l->outline ^ fact) * 0x9E3779B97F4A7C15 + 1;
	l->outline ^= l->outline >> 32;
}

static void labels_add(struct labels *l, const struct anim *a, struct slot slot)
{
	uint32_t seed = slot.track == NONE ? NONE : slot.clip;
	uint64_t hash = hash_label(seed, slot_label(a, slot));
	size_t at = (size_t)hash & l->mask;

	outline_add(l, hash);
	while (l->slots[at].clip != NONE)
		at = (at + 1) & l->mask;
	l->slots[at] = slot;
}

struct labels *labels_new(const struct anim *a, size_t *size)
{
	size_t entries = a->clip_count, slots = 8;
	struct labels *l;

	for (uint32_t i = 0; i < a->clip_count; i++)
		entries += a->clips[i].track_count;
	while (slots < 2 * entries)
		slots *= 2;
	*size = sizeof(*l) + slots * sizeof(l->slots[0]);
	l = malloc(*size);
	if (!l)
		return NULL;
	l->mask = slots - 1;
	l->outline = a->clip_count;
	memset(l->slots, 0xFF, slots * sizeof(l->slots[0]));
	for (uint32_t i = 0; i < a->clip_count; i++) {
		labels_add(l, a, (struct slot){i, NONE});
		outline_add(l, a->clips[i].frames);
		for (uint32_t j = 0; j < a->clips[i].track_count; j++)
			labels_add(l, a, (struct slot){i, j});
	}
	return l;
}

void labels_free(struct labels *l)
{
	free(l);
}

uint64_t labels_outline(const struct labels *l)
{
	return l->outline;
}

int64_t labels_clip(const struct labels *l, const struct anim *a, const char *label)
{
	size_t at = hash_start(l, NONE, label);

	for (; l->slots[at].clip != NONE; at = (at + 1) & l->mask) {
		struct slot slot = l->slots[at];

		if (slot.track == NONE && strcmp(slot_label(a, slot), label) == 0)
			return slot.clip;
	}
	return -1;
}

int64_t labels_track(const struct labels *l, const struct anim *a, uint32_t clip, const char *label)
{
	size_t at = hash_start(l, clip, label);

	for (; l->slots[at].clip != NONE; at = (at + 1) & l->mask) {
		struct slot slot = l->slots[at];

		if (slot.clip == clip && slot.track != NONE &&
		    strcmp(slot_label(a, slot), label) == 0)
			return slot.track;
	}
	return -1;
}
