/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snap.h"
#include "animfs/view.h"
#include "names.h"
#include "util/lock_classes.h"

#include <linux/limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- finding clips and tracks ---- */

#define NONE UINT32_MAX /* as clip: a free slot; as track: the clip itself */

struct slot {
	uint32_t clip, track;
};

/* Open addressing; at most half of the slots are taken. */
struct snap_index {
	size_t mask;
	struct slot slots[];
};

static const char *slot_label(const struct anim *a, struct slot slot)
{
	const struct clip *clip = &a->clips[slot.clip];

	return slot.track == NONE ? clip->label : clip->tracks[slot.track].label;
}

/* Labels of bones are unique in their clip only: the clip is the seed. Clips have none. */
static size_t hash_start(const struct snap_index *index, uint32_t clip, const char *label)
{
	return (size_t)XXH3_64bits_withSeed(label, strlen(label), clip) & index->mask;
}

static void index_add(struct snap_index *index, const struct anim *a, struct slot slot)
{
	uint32_t seed = slot.track == NONE ? NONE : slot.clip;
	size_t at = hash_start(index, seed, slot_label(a, slot));

	while (index->slots[at].clip != NONE)
		at = (at + 1) & index->mask;
	index->slots[at] = slot;
}

static struct snap_index *index_new(const struct anim *a, size_t *size)
{
	size_t entries = a->clip_count, slots = 8;
	struct snap_index *index;

	for (uint32_t i = 0; i < a->clip_count; i++)
		entries += a->clips[i].track_count;
	while (slots < 2 * entries)
		slots *= 2;
	*size = sizeof(*index) + slots * sizeof(index->slots[0]);
	index = malloc(*size);
	if (!index)
		return NULL;
	index->mask = slots - 1;
	memset(index->slots, 0xFF, slots * sizeof(index->slots[0]));
	for (uint32_t i = 0; i < a->clip_count; i++) {
		index_add(index, a, (struct slot){i, NONE});
		for (uint32_t j = 0; j < a->clips[i].track_count; j++)
			index_add(index, a, (struct slot){i, j});
	}
	return index;
}

int64_t snap_clip(const struct snap *s, const char *label)
{
	const struct snap_index *index = s->index;
	size_t at = hash_start(index, NONE, label);

	for (; index->slots[at].clip != NONE; at = (at + 1) & index->mask) {
		struct slot slot = index->slots[at];

		if (slot.track == NONE && strcmp(slot_label(s->anim, slot), label) == 0)
			return slot.clip;
	}
	return -1;
}

int64_t snap_track(const struct snap *s, uint32_t clip, const char *label)
{
	const struct snap_index *index = s->index;
	size_t at = hash_start(index, clip, label);

	for (; index->slots[at].clip != NONE; at = (at + 1) & index->mask) {
		struct slot slot = index->slots[at];

		if (slot.clip == clip && slot.track != NONE &&
		    strcmp(slot_label(s->anim, slot), label) == 0)
			return slot.track;
	}
	return -1;
}

/* ---- making one ---- */

const char *file_extension(const char *file_name, const struct format *format)
{
	const char *dot = strrchr(file_name, '.');

	return dot && dot != file_name && dot[1] ? dot + 1 : format->suffix;
}

#define RESERVED_MAX 16

/* Clips stand beside the file's own views and must not take their names. */
static bool label_all(struct anim *a, const char *file_name)
{
	const char *reserved[RESERVED_MAX + 1] = {NULL};
	char raw[NAME_MAX + 1];
	unsigned count = 0;

	for (const struct view *const *view = views; *view && count < RESERVED_MAX; view++) {
		if ((*view)->place != VIEW_OF_FILE)
			continue;
		reserved[count++] = (*view)->file;
		if ((*view)->file[strlen((*view)->file) - 1] != '.')
			continue;
		snprintf(raw, sizeof(raw), "%s%s", (*view)->file,
			 file_extension(file_name, a->format));
		reserved[count - 1] = raw;
	}
	return names_label(a, reserved);
}

static void snap_free(struct snap *s)
{
	ages_release(&s->ages);
	anim_free(s->anim);
	naming_table_put(s->names);
	rest_skeleton_put(s->rest);
	buf_release(&s->bytes);
	free(s->index);
	free(s);
}

/* Of formats whose clips have no names of their own. */
static bool name_clips(struct anim *a, const char *file_name)
{
	const char *name = arena_text(&a->arena, file_name, name_stem(file_name));

	for (uint32_t i = 0; name && i < a->clip_count; i++)
		((struct clip *)&a->clips[i])->name = name;
	return name != NULL;
}

static bool snap_decode(struct snap *s, const char *file_name, const struct decoding *how,
			struct err *err)
{
	struct bytes src = buf_bytes(&s->bytes);
	size_t index_size;

	s->names = naming_table_get(how->names);
	s->rest = rest_skeleton_get(how->rest);
	if (!s->codec)
		s->codec = codec_probe(src);
	if (!s->codec)
		return err_set(err, ERR_UNKNOWN, "this is no animation format that is known here");
	s->anim = s->codec->decode(src, &how->hints, err);
	if (!s->anim)
		return false;
	if (how->rate > 0)
		s->anim->rate = how->rate;
	s->anim->rotations = how->rotations;
	s->style = how->style;
	s->anim->bone_names = how->hints.bone_names;
	if ((s->anim->format->nameless && !name_clips(s->anim, file_name)) ||
	    !label_all(s->anim, file_name))
		return err_memory(err);
	s->index = index_new(s->anim, &index_size);
	if (!s->index)
		return err_memory(err);
	s->size = sizeof(*s) + s->bytes.capacity + s->anim->arena.total + index_size +
		  rest_skeleton_size(s->rest);
	return true;
}

struct snap *snap_of_bytes(const struct codec *codec, struct buf *bytes, const char *file_name,
			   const struct decoding *how, struct err *err)
{
	static const struct decoding usual;
	static _Atomic uint64_t generations;
	struct snap *s = calloc(1, sizeof(*s));

	if (!s) {
		buf_release(bytes);
		err_memory(err);
		return NULL;
	}
	s->references = 1;
	s->generation = ++generations;
	s->lineage = s->generation;
	s->codec = codec;
	s->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	if (snap_decode(s, file_name, how ? how : &usual, err))
		return s;
	snap_free(s);
	return NULL;
}

/* ---- the cache ---- */

/*
 * A snap with a home and without holders is on the list and counts. Going from no holder to one,
 * and back, happens under the mutex; between others the counter alone is enough.
 */
struct cache {
	struct lock lock;
	size_t limit;
	size_t size GUARDED_BY(cache_class);
	struct snap *newest GUARDED_BY(cache_class), *oldest GUARDED_BY(cache_class);
};

struct cache *cache_new(size_t limit)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->limit = limit;
	lock_init(&c->lock);
	return c;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	lock_destroy(&c->lock);
	free(c);
}

size_t cache_size(struct cache *c)
{
	size_t size;

	lock_acquire(&c->lock, &cache_class);
	size = c->size;
	lock_release(&c->lock, &cache_class);
	return size;
}

static void list_add(struct cache *c, struct snap *s) REQUIRES(cache_class)
{
	s->newer = NULL;
	s->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = s;
	c->newest = s;
	c->size += s->size;
}

static void list_remove(struct cache *c, struct snap *s) REQUIRES(cache_class)
{
	*(s->newer ? &s->newer->older : &c->newest) = s->older;
	*(s->older ? &s->older->newer : &c->oldest) = s->newer;
	c->size -= s->size;
}

/* Freed with no lock held: a large model takes its time. */
static bool drop_oldest(struct cache *c)
{
	struct snap *s;

	lock_acquire(&c->lock, &cache_class);
	s = c->size > c->limit ? c->oldest : NULL;
	if (s) {
		list_remove(c, s);
		*s->home = NULL;
	}
	lock_release(&c->lock, &cache_class);
	if (s)
		snap_free(s);
	return s != NULL;
}

struct snap *cache_take(struct cache *c, struct snap **home)
{
	struct snap *s;

	lock_acquire(&c->lock, &cache_class);
	s = *home;
	if (s && s->references++ == 0)
		list_remove(c, s);
	lock_release(&c->lock, &cache_class);
	return s;
}

/* Returns the old one when nobody holds it. */
static struct snap *move(struct cache *c, struct snap **home, struct snap *s) REQUIRES(cache_class)
{
	struct snap *old = *home;

	*home = s;
	if (s) {
		s->cache = c;
		s->home = home;
	}
	if (old)
		old->home = NULL;
	if (!old || old->references)
		return NULL;
	list_remove(c, old);
	return old;
}

void cache_settle(struct cache *c, struct snap **home, struct snap *s)
{
	struct snap *gone = NULL;

	lock_acquire(&c->lock, &cache_class);
	if (*home != s)
		gone = move(c, home, s);
	lock_release(&c->lock, &cache_class);
	if (gone)
		snap_free(gone);
}

struct snap *snap_get(struct snap *s)
{
	s->references++;
	return s;
}

/* Not the last holder? Then the counter is all there is to change. */
static bool put_one_of_many(struct snap *s)
{
	unsigned seen = s->references;

	while (seen > 1) {
		if (atomic_compare_exchange_weak(&s->references, &seen, seen - 1))
			return true;
	}
	return false;
}

static void put_last(struct cache *c, struct snap *s)
{
	bool last, homeless;

	lock_acquire(&c->lock, &cache_class);
	last = --s->references == 0;
	homeless = last && !s->home;
	if (last && s->home)
		list_add(c, s);
	lock_release(&c->lock, &cache_class);
	if (homeless)
		snap_free(s);
	else if (last)
		while (drop_oldest(c))
			;
}

void snap_put(struct snap *s)
{
	if (!s || put_one_of_many(s))
		return;
	if (s->cache)
		put_last(s->cache, s);
	else
		snap_free(s);
}
