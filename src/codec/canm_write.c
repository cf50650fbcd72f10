/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "canm_edit.h"
#include "codecs.h"

#include <stdlib.h>
#include <string.h>

enum rank {
	RANK_HEADER,
	RANK_CHANNELS,
	RANK_VECTORS,
	RANK_QUATERNIONS,
	RANK_CLIPS,
	RANK_ROWS,
	RANK_NAMES,
	RANK_STRINGS,
};

/* ---- the new file's parts ---- */

static size_t clips_end(const struct canm *f)
{
	return f->clips.at + (size_t)f->clips.count * CLIP_SIZE;
}

/* Returns the offset at which an old empty table may grow; LAYOUT_NEW if it has none. */
static size_t table_place(const struct canm *f, const struct table *t)
{
	size_t at;

	if (t->count)
		return t->at;
	if (f->src.size == 0 || !canm_follow(f->src, 0, t->offset, &at) || at < HEADER_SIZE)
		return LAYOUT_NEW;
	return at;
}

static bool add_piece(struct edit *e, enum rank rank, size_t align, size_t old_at, size_t old_size,
		      size_t size, struct piece *piece)
{
	piece->bytes = edit_alloc(e, size, 1);
	if (!piece->bytes)
		return false;
	piece->part = layout_add(&e->layout, rank, align, old_at, old_size);
	piece->part->data = piece->bytes;
	piece->part->size = size;
	return true;
}

static bool canm_write_add_table(struct edit *e, enum rank rank, size_t align,
				 const struct table *old, size_t entry, size_t count,
				 struct piece *piece)
{
	size_t place = table_place(&e->old, old);

	/* An empty table with an invalid offset keeps it. */
	if (e->old.src.size && place == LAYOUT_NEW && count == 0)
		return true;
	return add_piece(e, rank, align, place, old->count * entry, count * entry, piece);
}

static bool add_tables(struct edit *e)
{
	bool is_old = e->old.src.size > 0;

	return add_piece(e, RANK_HEADER, 1, is_old ? 0 : LAYOUT_NEW, is_old ? HEADER_SIZE : 0,
			 HEADER_SIZE, &e->header) &&
	       canm_write_add_table(e, RANK_CHANNELS, 16, &e->old.channels,
				    canm_channel_size(e->version), e->channel_count,
				    &e->channels) &&
	       canm_write_add_table(e, RANK_CLIPS, 4, &e->old.clips, CLIP_SIZE, e->a->clip_count,
				    &e->clips) &&
	       canm_write_add_table(e, RANK_NAMES, 4, &e->old.names, NAME_SIZE, e->bone_count,
				    &e->names);
}

/* The keys of an old channel; channels may share them. */
struct block {
	size_t at, size;
	uint32_t kind, record;
	bool kept;
};

struct blocks {
	struct block *list; /* the blocks, sorted by offset */
	size_t count;
	size_t parts; /* number of parts in the layout */
};

static int by_block(const void *a, const void *b)
{
	const struct block *p = a, *q = b;

	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	if (p->size != q->size)
		return p->size < q->size ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return p->record < q->record ? -1 : p->record > q->record;
}

/* Are the blocks in order already? Those of the game's own files are. */
static bool canm_write_in_order(const struct blocks *keys)
{
	size_t i;

	for (i = 1; i < keys->count; i++)
		if (by_block(&keys->list[i - 1], &keys->list[i]) > 0)
			return false;
	return true;
}

static bool same_block(const struct block *p, const struct block *q)
{
	return p->at == q->at && p->size == q->size && p->kind == q->kind;
}

static enum rank keys_rank(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? RANK_QUATERNIONS : RANK_VECTORS;
}

static size_t keys_align(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? 16 : 2;
}

/* Places a record's keys in a part; `at` is their offset there. */
static void give_keys(struct record *r, struct part *part, size_t at)
{
	r->keys = part;
	r->keys_at = at;
}

/* Makes a part that contains only the record's keys. */
static void canm_write_fill_keys(struct record *r, struct part *part)
{
	part->data = r->is.keys;
	part->size = keys_size(&r->is);
	give_keys(r, part, 0);
}

/*
 * Does a block continue the part before it? Kept keys that directly follow other kept keys form one
 * part with them; that is most of a file.
 */
static bool continues_block(const struct block *b, const struct block *before)
{
	return b->kept && before->kept && keys_rank(b->kind) == keys_rank(before->kind) &&
	       before->at + before->size == b->at;
}

static size_t block_end(const struct blocks *keys, size_t i)
{
	size_t next = i + 1;

	while (next < keys->count && same_block(&keys->list[i], &keys->list[next]))
		next++;
	return next;
}

static bool block_stays(const struct edit *e, const struct block *b)
{
	return edit_keeps(e, b->record) && !e->records[b->record].changed;
}

/* Finds the blocks that stay: a block stays if one of its channels keeps its keys. */
static void find_kept(const struct edit *e, struct blocks *keys)
{
	size_t i, k, next;

	for (i = 0; i < keys->count; i = next) {
		bool kept = false;

		next = block_end(keys, i);
		for (k = i; k < next; k++)
			kept |= block_stays(e, &keys->list[k]);
		for (k = i; k < next; k++)
			keys->list[k].kept = kept;
		keys->parts += i == 0 || !continues_block(&keys->list[i], &keys->list[i - 1]);
	}
}

static bool find_blocks(struct edit *e, struct blocks *keys)
{
	uint32_t i;

	*keys = (struct blocks){.list = edit_alloc(e, e->old.channels.count, sizeof(*keys->list))};
	if (!keys->list)
		return false;
	for (i = 0; i < e->old.channels.count; i++) {
		struct channel c = canm_channel(&e->old, i);

		if (kind_is_keyed(c.kind))
			keys->list[keys->count++] =
				(struct block){(size_t)(c.keys - e->old.src.data), keys_size(&c),
					       c.kind, i, false};
	}
	if (!canm_write_in_order(keys))
		qsort(keys->list, keys->count, sizeof(*keys->list), by_block);
	find_kept(e, keys);
	return true;
}

/*
 * For `count` old channels that shared keys which none of them keeps: chooses one whose new keys
 * are written there.
 */
static void reuse_block(struct edit *e, const struct block *b, size_t count)
{
	struct part *part =
		layout_add(&e->layout, keys_rank(b->kind), keys_align(b->kind), b->at, b->size);
	size_t i;

	for (i = 0; i < count && !part->data; i++) {
		struct record *r = &e->records[b[i].record];

		if (r->changed && r->is.kind == b->kind)
			canm_write_fill_keys(r, part);
	}
}

static void add_old_keys(struct edit *e, const struct blocks *keys)
{
	struct part *part = NULL;
	size_t i, k, next;

	for (i = 0; i < keys->count; i = next) {
		const struct block *b = &keys->list[i];

		next = block_end(keys, i);
		if (!b->kept) {
			reuse_block(e, b, next - i);
			continue;
		}
		if (i == 0 || !continues_block(b, b - 1)) {
			part = layout_add(&e->layout, keys_rank(b->kind), keys_align(b->kind),
					  b->at, 0);
			part->data = canm_bytes(&e->old, b->at);
		}
		part->old_size += b->size;
		part->size = part->old_size;
		for (k = i; k < next; k++)
			if (block_stays(e, &keys->list[k]))
				give_keys(&e->records[keys->list[k].record], part,
					  b->at - part->old_at);
	}
}

static void add_new_keys(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->record_count; i++) {
		struct record *r = &e->records[i];
		struct part *part;

		if (r->keys || !kind_is_keyed(r->is.kind) || !edit_keeps(e, i))
			continue;
		part = layout_add(&e->layout, keys_rank(r->is.kind), keys_align(r->is.kind),
				  LAYOUT_NEW, 0);
		part->order = i;
		canm_write_fill_keys(r, part);
	}
}

static bool same_rows(const void *owner, uint32_t number, const void *key)
{
	const struct target *a = (const struct target *)owner + number, *b = key;
	size_t size = (size_t)b->clip->track_count * ROW_SIZE;

	return a->place == b->place && a->old.row_count == b->old.row_count &&
	       a->clip->track_count == b->clip->track_count && memcmp(a->rows, b->rows, size) == 0;
}

static bool canm_write_fill_rows(struct edit *e, struct target *t)
{
	uint32_t track;
	unsigned role;

	t->rows = edit_alloc(e, t->clip->track_count, ROW_SIZE);
	for (track = 0; t->rows && track < t->clip->track_count; track++) {
		uint8_t *row = t->rows + (size_t)track * ROW_SIZE;
		size_t i = t->first + track;

		put_u16(row, (uint16_t)e->named[i]);
		for (role = 0; role < ROLE_COUNT; role++) {
			uint32_t is = edit_record(e, e->slots[i * ROLE_COUNT + role]);
			uint32_t number = is == EMPTY ? NONE : e->records[is].number;

			put_u16(row + 2 + 2 * role, (uint16_t)number);
		}
	}
	return t->rows != NULL;
}

/* Adds the rows of an animation; animations that shared equal rows still share them. */
static void add_rows(struct edit *e, uint32_t i)
{
	struct target *t = &e->targets[i];
	size_t size = (size_t)t->clip->track_count * ROW_SIZE;
	size_t old_size = t->was == ANIM_NEW ? 0 : (size_t)t->old.row_count * ROW_SIZE;
	uint64_t hash = index_mix(0, t->place);
	uint32_t twin;

	if (t->was != ANIM_NEW && t->place == LAYOUT_NEW && size == 0)
		return;
	if (t->place != LAYOUT_NEW && old_size &&
	    index_find(&e->row_index, hash, same_rows, e->targets, t, &twin)) {
		t->part = e->targets[twin].part;
		return;
	}
	t->part = layout_add(&e->layout, RANK_ROWS, 4, t->place, old_size);
	t->part->old_order = t->was;
	t->part->order = i;
	t->part->data = t->rows;
	t->part->size = size;
	if (t->place != LAYOUT_NEW && size == old_size &&
	    memcmp(t->rows, canm_bytes(&e->old, t->place), size) == 0)
		t->part->data = canm_bytes(&e->old, t->place);
	index_put(&e->row_index, hash, i);
}

/*
 * Returns the offsets of the old animations' rows. An animation without rows has an offset where
 * rows could be added, if it is a valid one; otherwise the offset stays unchanged.
 */
static size_t *find_row_places(struct edit *e)
{
	size_t *places = edit_alloc(e, e->old.clips.count, sizeof(*places));
	size_t next = clips_end(&e->old), at;
	uint32_t i;

	for (i = 0; places && i < e->old.clips.count; i++) {
		struct entry entry = canm_entry(&e->old, i);

		places[i] = LAYOUT_NEW;
		if (!canm_follow(e->old.src, canm_clip_place(&e->old, i), entry.row_offset, &at))
			continue;
		if (entry.row_count) {
			places[i] = at;
			next = at + (size_t)entry.row_count * ROW_SIZE;
		} else if (at == next) {
			places[i] = at;
		}
	}
	return places;
}

static void add_gone_rows(struct edit *e, const size_t *places)
{
	uint32_t i;

	for (i = 0; i < e->old.clips.count; i++) {
		struct entry entry = canm_entry(&e->old, i);

		if (places[i] == LAYOUT_NEW || entry.row_count == 0)
			continue;
		layout_add(&e->layout, RANK_ROWS, 4, places[i], (size_t)entry.row_count * ROW_SIZE)
			->old_order = i;
	}
}

static bool add_all_rows(struct edit *e)
{
	size_t *places = find_row_places(e);
	uint32_t i;

	if (!places || !index_init(&e->row_index, &e->old.arena, e->a->clip_count))
		return err_memory(e->err);
	for (i = 0; i < e->a->clip_count; i++) {
		struct target *t = &e->targets[i];

		t->place = t->was == ANIM_NEW ? LAYOUT_NEW : places[t->was];
		if (!canm_write_fill_rows(e, t))
			return false;
		add_rows(e, i);
	}
	for (i = 0; i < e->a->clip_count; i++)
		if (e->targets[i].was != ANIM_NEW)
			places[e->targets[i].was] = LAYOUT_NEW;
	add_gone_rows(e, places);
	return true;
}

static bool is_scene_root(const struct string *s)
{
	return strcmp(s->name, "Scene_Root") == 0;
}

static int by_units(const void *a, const void *b)
{
	const struct string *p = *(struct string *const *)a, *q = *(struct string *const *)b;
	size_t i;

	if (is_scene_root(p) != is_scene_root(q))
		return is_scene_root(p) ? -1 : 1;
	for (i = 0; i < p->size && i < q->size; i += 2) {
		uint16_t x = get_u16(p->units + i), y = get_u16(q->units + i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return p < q ? -1 : p > q;
}

static bool sort_strings(struct edit *e)
{
	struct string **sorted = edit_alloc(e, e->string_count, sizeof(struct string *));
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < e->string_count; i++)
		sorted[i] = &e->strings[i];
	qsort(sorted, e->string_count, sizeof(struct string *), by_units);
	for (i = 0; i < e->string_count; i++)
		sorted[i]->order = i;
	return true;
}

static bool add_strings(struct edit *e)
{
	size_t i;

	if (!sort_strings(e))
		return false;
	for (i = 0; i < e->bone_count; i++)
		e->strings[e->bones[i].text].used = true;
	for (i = 0; i < e->a->clip_count; i++)
		e->strings[e->targets[i].text].used = true;
	for (i = 0; i < e->string_count; i++) {
		struct string *s = &e->strings[i];
		bool is_old = i < e->old.text_count;

		if (!s->used && !is_old)
			continue;
		s->part =
			layout_add(&e->layout, RANK_STRINGS, 2,
				   is_old ? e->old.texts[i].at : LAYOUT_NEW, is_old ? s->size : 0);
		s->part->old_order = s->part->order = s->order;
		s->part->data = s->units;
		s->part->size = s->used ? s->size : 0;
	}
	return true;
}

static size_t count_changed(const struct edit *e)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < e->record_count; i++)
		count += e->records[i].changed;
	return count;
}

static bool canm_write_add_parts(struct edit *e)
{
	struct blocks keys;
	size_t room;

	if (!find_blocks(e, &keys))
		return false;
	room = 4 + keys.parts + count_changed(e) + e->a->clip_count + e->old.clips.count +
	       e->string_count;
	if (!layout_init(&e->layout, &e->old.arena, e->old.src, room))
		return err_memory(e->err);
	e->layout.ordered = 1u << RANK_ROWS | 1u << RANK_STRINGS;
	if (!add_tables(e))
		return false;
	add_old_keys(e, &keys);
	add_new_keys(e);
	return add_all_rows(e) && add_strings(e);
}

/* ---- the bytes of parts with offsets ---- */

/* Writes the offset of a place in the new file, relative to the table entry at `entry`. */
static void canm_write_put_offset(struct edit *e, const struct piece *piece, size_t entry,
				  size_t field, size_t to)
{
	int64_t offset = (int64_t)to - (int64_t)(piece->part->at + entry);

	if (offset < INT32_MIN || offset > INT32_MAX)
		e->too_far = true;
	put_u32(piece->bytes + entry + field, (uint32_t)offset);
}

static void canm_write_put_table(struct edit *e, size_t field, uint32_t count,
				 const struct piece *piece, const struct table *old)
{
	put_u32(e->header.bytes + field, count);
	if (piece->part)
		canm_write_put_offset(e, &e->header, 0, field + 4, piece->part->at);
	else
		put_u32(e->header.bytes + field + 4, (uint32_t)old->offset);
}

static void canm_write_put_header(struct edit *e)
{
	memcpy(e->header.bytes, "CANM", 4);
	put_u32(e->header.bytes + 4, e->version);
	canm_write_put_table(e, 0x08, e->a->clip_count, &e->clips, &e->old.clips);
	canm_write_put_table(e, 0x10, e->channel_count, &e->channels, &e->old.channels);
	canm_write_put_table(e, 0x18, e->bone_count, &e->names, &e->old.names);
}

static void put_channel(struct edit *e, const struct record *r)
{
	size_t entry = r->number * canm_channel_size(e->version);

	canm_put_channel(e->version, &r->is, e->channels.bytes + entry);
	if (r->keys)
		canm_write_put_offset(e, &e->channels, entry,
				      e->version == VERSION_EDF5 ? 0x1C : 0x20,
				      r->keys->at + r->keys_at);
}

static void put_clip(struct edit *e, uint32_t i)
{
	const struct target *t = &e->targets[i];
	size_t at = (size_t)i * CLIP_SIZE;
	struct entry entry = {
		.loop = t->loop,
		.duration = t->clip->duration,
		.frame_time = t->clip->frame_time,
		.frames = (int32_t)t->clip->frames,
		.row_count = t->clip->track_count,
		.row_offset = t->old.row_offset,
	};

	canm_put_entry(&entry, e->clips.bytes + at);
	canm_write_put_offset(e, &e->clips, at, 4, e->strings[t->text].part->at);
	if (t->part)
		canm_write_put_offset(e, &e->clips, at, 0x18, t->part->at);
}

static void canm_write_put_tables(struct edit *e)
{
	uint32_t i;

	e->too_far = false;
	canm_write_put_header(e);
	for (i = 0; i < e->record_count; i++)
		if (edit_keeps(e, i))
			put_channel(e, &e->records[i]);
	for (i = 0; i < e->a->clip_count; i++)
		put_clip(e, i);
	for (i = 0; i < e->bone_count; i++)
		canm_write_put_offset(e, &e->names, (size_t)i * NAME_SIZE, 0,
				      e->strings[e->bones[i].text].part->at);
}

/* ---- encode ---- */

static bool canm_write_begin_edit(struct edit *e, struct bytes old)
{
	uint32_t version = e->a->version ? e->a->version : VERSION_EDF5;

	if (old.size == 0) {
		e->version = version;
		if (version != VERSION_EDF5 && version != VERSION_EDF6)
			return err_set(e->err, ERR_STORE, "version %u cannot be written", version);
		return true;
	}
	if (!canm_read(&e->old, old, e->err))
		return false;
	e->version = e->old.version;
	if (e->a->version && e->a->version != e->version)
		return err_set(e->err, ERR_STORE, "the version of a file cannot be changed");
	return true;
}

static bool canm_write_place_parts(struct edit *e)
{
	if (layout_stay(&e->layout)) {
		canm_write_put_tables(e);
		if (!layout_clash(&e->layout))
			return true;
	}
	if (!layout_pack(&e->layout, e->err))
		return false;
	canm_write_put_tables(e);
	return !e->too_far || err_set(e->err, ERR_STORE, "the file would be larger than 2 GiB");
}

static bool canm_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct edit e = {.a = a, .err = err};
	bool ok = canm_write_begin_edit(&e, old) && edit_plan(&e) && canm_write_add_parts(&e) &&
		  canm_write_place_parts(&e);

	if (ok) {
		layout_write(&e.layout, out);
		ok = !out->failed || err_memory(err);
	}
	arena_release(&e.old.arena);
	return ok;
}

static const char *const canm_patterns[] = {"*.canm", NULL};

const struct codec canm_codec = {
	.format = &canm_format,
	.patterns = canm_patterns,
	.probe = canm_probe,
	.decode = canm_decode,
	.encode = canm_encode,
};
