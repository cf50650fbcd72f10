/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owanim_write.c - writes a clip back into an Overwatch file; and the codec.
 *
 * First all keys are collected, each with the bytes of its value: the old bytes if key and value
 * are unchanged. Then every list is assembled in its stored order; a new key goes before the first
 * larger index. Finally the arrays are put into their places (layout.h): if none changed its size,
 * all stay in their old places.
 */
#include "codecs.h"
#include "layout.h"
#include "model/bones.h"
#include "owanim_file.h"
#include "smallest3.h"
#include "text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEW UINT32_MAX
#define BONES_MAX 0xFFFFu
#define DATA_MAX 12

/* kind in the header of new files */
#define USUAL_KIND 160
#define USUAL_RATE 30

enum rank { RANK_HEADER, RANK_BONES, RANK_TABLE, RANK_ARRAYS };

/* A key of the new file. */
struct element {
	size_t list;    /* number of the list: entry * LIST_COUNT + kind */
	uint32_t place; /* index of the key in the old list, or NEW */
	uint32_t order; /* order among the new keys of the list */
	uint32_t index;
	uint8_t data[DATA_MAX];
};

/* One of the two arrays of a list. */
struct array {
	const uint8_t *bytes;
	size_t size;
	struct part *part;
};

enum { INDICES, VALUES };
#define ARRAY_COUNT 2

struct edit {
	const struct anim *a;
	const struct clip *clip;
	struct owanim old; /* the old file; src.size 0: there is none */
	struct owkeys keys;
	struct owfit fit; /* interpretation of the new file */
	uint32_t bones, entries, old_entries;
	uint32_t *origins; /* for each entry: its old entry, or NEW */
	struct element *elements;
	size_t element_count;
	uint32_t *counts;     /* for each list: number of keys */
	struct array *arrays; /* ARRAY_COUNT arrays for each list */
	struct layout layout;
	uint8_t *header, *ids, *table;
	struct part *header_part, *ids_part, *table_part; /* parts of the layout; NULL if empty */
	struct err *err;
};

static void *edit_alloc(struct edit *e, size_t count, size_t size)
{
	void *p = arena_alloc(&e->old.arena, count, size);

	if (!p)
		err_memory(e->err);
	return p;
}

/* ---- values ---- */

struct place {
	const struct track *track;
	enum role role;
	uint32_t frame;
};

static bool owanim_write_refuse_value(const struct edit *e, const struct place *p, const char *what)
{
	return err_set(e->err, ERR_STORE, "%s, %s, frame %u: the %s %s", e->clip->label,
		       p->track->label, p->frame, role_names[p->role], what);
}

/* Stores a position; unchanged components keep their bits. */
static bool store_position(const struct edit *e, const struct place *p, const double *value,
			   const uint8_t *was, uint8_t *data)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		if (was && f64_same(value[axis], (double)get_f32(was + 4 * axis))) {
			memcpy(data + 4 * axis, was + 4 * axis, 4);
			continue;
		}
		if (!isfinite((float)value[axis])) {
			owanim_write_refuse_value(e, p, "cannot become infinite or nan");
			return err_accept(e->err, "finite numbers that a float32 can hold");
		}
		put_f32(data + 4 * axis, (float)value[axis]);
	}
	return true;
}

static bool store_scale(const struct edit *e, const struct place *p, const double *value,
			uint8_t *data)
{
	const struct curve grid = owanim_curve(LIST_SCALES);
	const double step = (double)grid.lane[0].step;

	for (unsigned axis = 0; axis < 3; axis++) {
		uint32_t k = num_nearest_k(value[axis], &grid.lane[0]);

		if (!(fabs(value[axis] - k * step) <= step / 2)) {
			owanim_write_refuse_value(e, p, "is out of range");
			return err_accept(e->err, "factors from 0 to %.10g", INDEX_MAX * step);
		}
		put_u16(data + 2 * axis, (uint16_t)k);
	}
	return true;
}

/*
 * Tolerance for the length of a quaternion. One further from 1 than rounding explains is not a
 * rotation; views show such values unchanged.
 */
#define UNIT_TOLERANCE 1e-6

static bool store_rotation(const struct edit *e, const struct place *p, const double *value,
			   const uint8_t *was, uint8_t *data)
{
	double q[4], length;

	if (was) {
		smallest3_decode(was, q);
		memcpy(data, was, SMALLEST3_SIZE);
		if (memcmp(q, value, sizeof(q)) == 0)
			return true;
	}
	length = sqrt(value[0] * value[0] + value[1] * value[1] + value[2] * value[2] +
		      value[3] * value[3]);
	if (!(fabs(length - 1) <= UNIT_TOLERANCE)) {
		owanim_write_refuse_value(e, p, "is no quaternion of length 1");
		return err_accept(e->err, "x, y, z and w whose squares add up to 1; or angles in "
					  "degrees, which --rotations=euler shows");
	}
	for (unsigned axis = 0; axis < 4; axis++)
		q[axis] = value[axis] / length;
	smallest3_encode(q, was, data);
	return true;
}

static bool store_value(const struct edit *e, const struct place *p, const struct curve *c,
			uint32_t key, const uint8_t *was, uint8_t *data)
{
	double value[4];

	for (unsigned axis = 0; axis < curve_width(c); axis++)
		value[axis] = curve_value(c, key, axis);
	if (p->role == ROLE_TRANSLATION)
		return store_position(e, p, value, was, data);
	if (p->role == ROLE_SCALE)
		return store_scale(e, p, value, data);
	return store_rotation(e, p, value, was, data);
}

/* ---- keys ---- */

static void add_element(struct edit *e, uint32_t bone, enum list_kind kind, uint32_t frame,
			uint32_t place, const uint8_t *data)
{
	bool by_frame = e->fit.by_frame;
	struct element *to = &e->elements[e->element_count];

	to->list = (size_t)(by_frame ? frame : bone) * LIST_COUNT + kind;
	to->place = place;
	to->order = (uint32_t)e->element_count++;
	to->index = by_frame ? bone : frame;
	memcpy(to->data, data, owanim_data_size(kind));
}

/* Returns the old keys of a track; none for a new bone. */
static const struct owkey *old_keys(const struct edit *e, const struct track *t, enum role role,
				    size_t *count)
{
	size_t list = (size_t)t->origin * LIST_COUNT + owanim_kind(role);

	*count = 0;
	if (t->origin == ANIM_NEW || e->old.src.size == 0)
		return NULL;
	*count = e->keys.first[list + 1] - e->keys.first[list];
	return e->keys.keys + e->keys.first[list];
}

static bool owanim_write_check_curve(const struct edit *e, const struct track *t, enum role role)
{
	const struct curve *c = t->curve[role];
	const struct place p = {t, role, curve_frame(c, 0)};
	enum curve_kind kind = role == ROLE_ROTATION ? CURVE_QUATERNION : CURVE_VECTOR;

	if (c->kind != kind) {
		owanim_write_refuse_value(e, &p, "is not a quaternion, which is what is stored");
		return err_accept(e->err, "quaternions, which --rotations=quaternion shows");
	}
	if (!c->keyed)
		return owanim_write_refuse_value(
			e, &p, "is one value for the whole clip; only keys are stored");
	if (c->interpolation != INTERPOLATION_LINEAR)
		return owanim_write_refuse_value(
			e, &p, "holds its keys; only linear interpolation can be stored");
	return true;
}

static bool owanim_write_add_curve(struct edit *e, uint32_t bone, enum role role)
{
	const struct track *t = &e->clip->tracks[bone];
	const struct curve *c = t->curve[role];
	enum list_kind kind = owanim_kind(role);
	size_t count, next = 0;
	const struct owkey *was = old_keys(e, t, role, &count);

	if (!c || c->count == 0)
		return true;
	if (!owanim_write_check_curve(e, t, role))
		return false;
	for (uint32_t key = 0; key < c->count; key++) {
		const struct place p = {t, role, curve_frame(c, key)};
		uint8_t data[DATA_MAX];
		bool kept;

		if (p.frame >= e->clip->frames)
			return owanim_write_refuse_value(e, &p,
							 "has a key past the end of the clip");
		while (next < count && was[next].frame < p.frame)
			next++;
		kept = next < count && was[next].frame == p.frame;
		if (!store_value(e, &p, c, key, kept ? was[next].data : NULL, data))
			return false;
		add_element(e, bone, kind, p.frame, kept ? was[next].place : NEW, data);
		next += kept;
	}
	return true;
}

/* Adds keys of bones that are not in the file's list: no view shows them, but they must be kept. */
static void add_strays(struct edit *e)
{
	for (uint32_t i = 0; e->fit.by_frame && i < e->old_entries * LIST_COUNT; i++) {
		uint32_t frame = i / LIST_COUNT;
		enum list_kind kind = i % LIST_COUNT;
		struct owlist list = owanim_list(&e->old, frame, kind);

		for (uint32_t place = 0; frame < e->entries && place < list.count; place++) {
			uint32_t bone = owanim_index(&list, place);

			if (bone >= e->old.bones)
				add_element(e, bone, kind, frame, place,
					    list.data + place * owanim_data_size(kind));
		}
	}
}

static size_t owanim_write_count_keys(const struct edit *e)
{
	size_t count = 0;

	for (uint32_t bone = 0; bone < e->bones; bone++) {
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = e->clip->tracks[bone].curve[role];

			count += c ? c->count : 0;
		}
	}
	for (uint32_t i = 0; e->fit.by_frame && i < e->old_entries * LIST_COUNT; i++)
		count += owanim_list(&e->old, i / LIST_COUNT, i % LIST_COUNT).count;
	return count;
}

/* Orders elements by list; old keys in stored order, then new keys by index. */
static int by_list(const void *a, const void *b)
{
	const struct element *p = a, *q = b;

	if (p->list != q->list)
		return p->list < q->list ? -1 : 1;
	if (p->place != q->place)
		return p->place < q->place ? -1 : 1;
	if (p->index != q->index && p->place == NEW)
		return p->index < q->index ? -1 : 1;
	return p->order < q->order ? -1 : p->order > q->order;
}

static bool collect_keys(struct edit *e)
{
	if (!owanim_keys(&e->old, &e->keys))
		return err_memory(e->err);
	e->elements = edit_alloc(e, owanim_write_count_keys(e), sizeof(*e->elements));
	if (!e->elements)
		return false;
	for (uint32_t bone = 0; bone < e->bones; bone++) {
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			if (!owanim_write_add_curve(e, bone, role))
				return false;
		}
	}
	add_strays(e);
	qsort(e->elements, e->element_count, sizeof(*e->elements), by_list);
	return true;
}

/* ---- lists ---- */

static size_t padded_size(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

struct writer {
	bool wide;
	size_t data_size;
	uint8_t *index, *data;
};

static void write_element(struct writer *w, const struct element *from)
{
	if (w->wide)
		put_u16(w->index, (uint16_t)from->index);
	else
		*w->index = (uint8_t)from->index;
	w->index += w->wide ? 2 : 1;
	memcpy(w->data, from->data, w->data_size);
	w->data += w->data_size;
}

static bool check_list(const struct edit *e, const struct element *from, size_t count, bool wide)
{
	if (count > INDEX_MAX)
		return err_set(e->err, ERR_STORE, "%s: a list of more than %u keys", e->clip->label,
			       INDEX_MAX);
	for (size_t i = 0; !wide && i < count; i++) {
		if (from[i].index > UINT8_MAX)
			return err_set(e->err, ERR_STORE,
				       "%s: the indices of this file are bytes and cannot be %u",
				       e->clip->label, from[i].index);
	}
	return true;
}

/* Makes a list of `count` keys, the first `kept` of which are old. */
static bool make_list(struct edit *e, const struct element *from, size_t count, size_t kept)
{
	struct array *arrays = &e->arrays[from->list * ARRAY_COUNT];
	bool wide = owanim_wide(&e->fit, (uint32_t)count);
	struct writer w = {.wide = wide, .data_size = owanim_data_size(from->list % LIST_COUNT)};
	size_t old = 0;

	if (!check_list(e, from, count, wide))
		return false;
	e->counts[from->list] = (uint32_t)count;
	arrays[INDICES].size = count * (wide ? 2 : 1);
	arrays[VALUES].size = count * w.data_size;
	w.index = edit_alloc(e, padded_size(arrays[INDICES].size), 1);
	w.data = edit_alloc(e, padded_size(arrays[VALUES].size), 1);
	if (!w.index || !w.data)
		return false;
	arrays[INDICES].bytes = w.index;
	arrays[VALUES].bytes = w.data;
	for (size_t i = kept; i < count; i++) {
		while (old < kept && from[old].index <= from[i].index)
			write_element(&w, &from[old++]);
		write_element(&w, &from[i]);
	}
	while (old < kept)
		write_element(&w, &from[old++]);
	return true;
}

static bool make_lists(struct edit *e)
{
	size_t lists = (size_t)e->entries * LIST_COUNT, next;

	e->counts = edit_alloc(e, lists, sizeof(*e->counts));
	e->arrays = edit_alloc(e, lists, ARRAY_COUNT * sizeof(*e->arrays));
	if (!e->counts || !e->arrays)
		return false;
	for (size_t i = 0; i < e->element_count; i = next) {
		size_t kept = 0;

		for (next = i; next < e->element_count; next++) {
			if (e->elements[next].list != e->elements[i].list)
				break;
			kept += e->elements[next].place != NEW;
		}
		if (!make_list(e, &e->elements[i], next - i, kept))
			return false;
	}
	return true;
}

/* ---- parts ---- */

/* A range of the old file and what uses it. */
struct claim {
	size_t at, size;
	size_t array; /* number of the old array: list * ARRAY_COUNT + which; or NONE */
};
#define NONE SIZE_MAX

static int by_claim(const void *a, const void *b)
{
	const struct claim *p = a, *q = b;

	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	if (p->size != q->size)
		return p->size < q->size ? -1 : 1;
	return p->array < q->array ? -1 : p->array > q->array;
}

static bool same_place(const struct claim *p, const struct claim *q)
{
	return p->at == q->at && p->size == q->size && (p->array == NONE) == (q->array == NONE);
}

/* The canonical order: three arrays of indices and three of values for each entry. */
static size_t canonical_rank(size_t array)
{
	size_t list = array / ARRAY_COUNT, which = array % ARRAY_COUNT;

	return (list / LIST_COUNT * ARRAY_COUNT + which) * LIST_COUNT + list % LIST_COUNT;
}

static void claim_array(const struct edit *e, size_t list, unsigned which, struct claim *claim)
{
	enum list_kind kind = list % LIST_COUNT;
	struct owlist is = owanim_list(&e->old, (uint32_t)(list / LIST_COUNT), kind);
	const uint8_t *first = which == INDICES ? is.index : is.data;
	size_t each = which == VALUES ? owanim_data_size(kind) : is.wide ? 2 : 1;

	*claim = (struct claim){(size_t)(first - e->old.src.data), is.count * each,
				list * ARRAY_COUNT + which};
}

/* Finds all used ranges of the old file, sorted by offset. */
static struct claim *find_claims(struct edit *e, size_t *count)
{
	size_t lists = (size_t)e->old_entries * LIST_COUNT, n = 0;
	struct claim *claims = edit_alloc(e, 3 + lists * ARRAY_COUNT, sizeof(*claims));

	if (!claims)
		return NULL;
	if (e->old.src.size)
		claims[n++] = (struct claim){0, HEADER_SIZE, NONE};
	if (e->old.bones)
		claims[n++] = (struct claim){(size_t)e->old.bones_at, e->old.bones * ID_SIZE, NONE};
	if (e->old_entries)
		claims[n++] = (struct claim){(size_t)e->old.table_at,
					     (size_t)e->old_entries * ENTRY_SIZE, NONE};
	for (size_t list = 0; list < lists; list++) {
		if (owanim_list(&e->old, (uint32_t)(list / LIST_COUNT), list % LIST_COUNT).count ==
		    0)
			continue;
		claim_array(e, list, INDICES, &claims[n++]);
		claim_array(e, list, VALUES, &claims[n++]);
	}
	qsort(claims, n, sizeof(*claims), by_claim);
	*count = n;
	return claims;
}

/*
 * Returns the end of an array with the zeros that pad it to a multiple of 4; `limit` is the start
 * of the next range.
 */
static size_t padded_end(const struct edit *e, size_t end, size_t limit)
{
	while (end < limit && (end - e->old.table_at) % 4 && e->old.src.data[end] == 0)
		end++;
	return end;
}

/*
 * Returns the alignment of arrays: 4, counted from the table. If the old parts are not aligned so,
 * no part needs to be: all sizes are multiples of 4, so parts move by such.
 */
static size_t array_alignment(const struct edit *e)
{
	return e->old_entries && e->old.table_at % 4 ? 1 : 4;
}

/*
 * Returns the new array for each old one; NULL: its entry is gone, or no longer has keys of that
 * kind.
 */
static struct array **find_heirs(struct edit *e)
{
	struct array **heirs =
		edit_alloc(e, (size_t)e->old_entries * LIST_COUNT * ARRAY_COUNT, sizeof(*heirs));

	for (uint32_t entry = 0; heirs && entry < e->entries; entry++) {
		size_t to = (size_t)entry * LIST_COUNT * ARRAY_COUNT;
		size_t from = (size_t)e->origins[entry] * LIST_COUNT * ARRAY_COUNT;

		for (unsigned i = 0; e->origins[entry] != NEW && i < LIST_COUNT * ARRAY_COUNT; i++)
			heirs[from + i] = e->arrays[to + i].size ? &e->arrays[to + i] : NULL;
	}
	return heirs;
}

static void give_array(const struct edit *e, struct array *array, struct part *part)
{
	part->data = array->bytes;
	part->size = padded_size(array->size);
	part->order = canonical_rank((size_t)(array - e->arrays));
	array->part = part;
}

/*
 * Adds the part for a range that `count` old arrays share: those with the same new bytes keep
 * sharing it; if none of them does, one may put its new bytes there.
 */
static void owanim_write_add_range(struct edit *e, const struct claim *c, size_t count, size_t end,
				   struct array **heirs)
{
	struct part *part =
		layout_add(&e->layout, RANK_ARRAYS, array_alignment(e), c->at, end - c->at);
	const uint8_t *was = e->old.src.data + c->at;

	part->old_order = part->order = canonical_rank(c->array);
	for (size_t i = 0; i < count; i++) {
		struct array *heir = heirs[c[i].array];

		if (!heir || heir->size != c->size || memcmp(heir->bytes, was, c->size) != 0)
			continue;
		if (!part->data)
			give_array(e, heir, part);
		heir->part = part;
		part->data = was;
		part->size = part->old_size;
	}
	for (size_t i = 0; i < count && !part->data; i++) {
		struct array *heir = heirs[c[i].array];

		if (!heir)
			continue;
		give_array(e, heir, part);
		if (heir->size == c->size)
			part->size = part->old_size;
	}
}

static bool add_old_arrays(struct edit *e)
{
	size_t count = 0, next;
	struct claim *claims = find_claims(e, &count);
	struct array **heirs = find_heirs(e);

	if (!claims || !heirs)
		return false;
	for (size_t i = 0; i < count; i = next) {
		size_t limit, end = claims[i].at + claims[i].size;

		for (next = i + 1; next < count && same_place(&claims[i], &claims[next]);)
			next++;
		limit = next < count ? claims[next].at : e->old.src.size;
		if (claims[i].array != NONE)
			owanim_write_add_range(e, &claims[i], next - i, padded_end(e, end, limit),
					       heirs);
	}
	return true;
}

static void add_new_arrays(struct edit *e)
{
	size_t count = (size_t)e->entries * LIST_COUNT * ARRAY_COUNT;

	for (size_t i = 0; i < count; i++) {
		if (e->arrays[i].size && !e->arrays[i].part)
			give_array(e, &e->arrays[i],
				   layout_add(&e->layout, RANK_ARRAYS, array_alignment(e),
					      LAYOUT_NEW, 0));
	}
}

/* Adds a table of `count` entries, which had `old_count` entries at offset `at`. */
static bool owanim_write_add_table(struct edit *e, enum rank rank, uint64_t at, size_t old_count,
				   size_t count, size_t size, uint8_t **bytes, struct part **part)
{
	*bytes = edit_alloc(e, count, size);
	if (!*bytes)
		return false;
	if (count == 0 && old_count == 0)
		return true;
	*part = layout_add(&e->layout, rank, array_alignment(e),
			   old_count ? (size_t)at : LAYOUT_NEW, old_count * size);
	(*part)->data = *bytes;
	(*part)->size = count * size;
	return true;
}

static bool owanim_write_add_parts(struct edit *e)
{
	size_t entries = (size_t)e->old_entries + e->entries;
	bool is_old = e->old.src.size > 0;

	if (!layout_init(&e->layout, &e->old.arena, e->old.src,
			 3 + entries * LIST_COUNT * ARRAY_COUNT))
		return err_memory(e->err);
	e->layout.ordered = 1u << RANK_ARRAYS;
	if (!owanim_write_add_table(e, RANK_HEADER, 0, is_old, 1, HEADER_SIZE, &e->header,
				    &e->header_part) ||
	    !owanim_write_add_table(e, RANK_BONES, e->old.bones_at, e->old.bones, e->bones, ID_SIZE,
				    &e->ids, &e->ids_part) ||
	    !owanim_write_add_table(e, RANK_TABLE, e->old.table_at, e->old_entries, e->entries,
				    ENTRY_SIZE, &e->table, &e->table_part) ||
	    !add_old_arrays(e))
		return false;
	add_new_arrays(e);
	return true;
}

/* ---- the bytes of parts with offsets ---- */

static bool owanim_write_put_offset(const struct edit *e, size_t entry_at, uint8_t *field,
				    const struct part *part)
{
	int64_t distance = (int64_t)part->at - (int64_t)entry_at;

	if (distance % 4)
		return err_set(e->err, ERR_STORE,
			       "%s: the arrays of this file stand so that they cannot be moved",
			       e->clip->label);
	if (distance / 4 < INT32_MIN || distance / 4 > INT32_MAX)
		return err_set(e->err, ERR_STORE, "the file would be larger than 8 GiB");
	put_u32(field, (uint32_t)(int32_t)(distance / 4));
	return true;
}

/* Writes a table entry. The offsets of a list that has no keys, and had none, stay unchanged. */
static bool put_entry(const struct edit *e, uint32_t entry)
{
	uint8_t *p = e->table + (size_t)entry * ENTRY_SIZE;
	size_t at = e->table_part->at + (size_t)entry * ENTRY_SIZE;

	if (e->origins[entry] != NEW)
		memcpy(p, owanim_entry(&e->old, e->origins[entry]), ENTRY_SIZE);
	for (unsigned kind = 0; kind < LIST_COUNT; kind++) {
		size_t list = (size_t)entry * LIST_COUNT + kind;
		const struct array *arrays = &e->arrays[list * ARRAY_COUNT];
		bool had_keys = get_u16(p + 2 * kind) > 0;

		put_u16(p + 2 * kind, (uint16_t)e->counts[list]);
		if (e->counts[list] > 0) {
			if (!owanim_write_put_offset(e, at, p + 8 + 4 * kind,
						     arrays[INDICES].part) ||
			    !owanim_write_put_offset(e, at, p + 20 + 4 * kind, arrays[VALUES].part))
				return false;
		} else if (had_keys) {
			put_u32(p + 8 + 4 * kind, 0);
			put_u32(p + 20 + 4 * kind, 0);
		}
	}
	return true;
}

static void put_u64(uint8_t *p, uint64_t v)
{
	put_u32(p, (uint32_t)v);
	put_u32(p + 4, (uint32_t)(v >> 32));
}

static const struct field *owanim_write_find_field(const struct edit *e, const char *name)
{
	for (uint32_t i = 0; i < e->clip->field_count; i++) {
		if (strcmp(e->clip->fields[i].name, name) == 0)
			return &e->clip->fields[i];
	}
	return NULL;
}

static bool owanim_write_put_number(struct edit *e, const char *name, unsigned at)
{
	const struct field *field = owanim_write_find_field(e, name);

	if (!field)
		return true;
	if (field->integer < 0 || field->integer > UINT16_MAX) {
		err_set(e->err, ERR_STORE, "%s: %s cannot be %lld", e->clip->label, name,
			(long long)field->integer);
		return err_accept(e->err, "a whole number from 0 to %u", UINT16_MAX);
	}
	put_u16(e->header + at, (uint16_t)field->integer);
	return true;
}

/* Adjusts an offset that points to the end of the data. */
static void put_end(struct edit *e, unsigned at)
{
	uint64_t end = owanim_u64(e->header + at);

	if (e->old.src.size == 0)
		put_u64(e->header + at, e->layout.size);
	else if (end >= HEADER_SIZE && end <= e->old.src.size)
		put_u64(e->header + at, end + e->layout.size - e->old.src.size);
}

static bool owanim_write_put_header(struct edit *e)
{
	const struct field *fps = owanim_write_find_field(e, "fps");
	uint8_t *p = e->header;

	if (e->old.src.size) {
		memcpy(p, e->old.src.data, HEADER_SIZE);
	} else {
		put_u16(p + AT_COUNTER, USUAL_KIND);
		put_f32(p + AT_FPS, USUAL_RATE);
		put_u64(p + AT_PADDING, UINT64_MAX);
	}
	if (!owanim_write_put_number(e, "counter1", AT_COUNTER) ||
	    !owanim_write_put_number(e, "flag", AT_FLAG))
		return false;
	if (fps && !f64_same(fps->real, (double)get_f32(p + AT_FPS)))
		put_f32(p + AT_FPS, (float)fps->real);
	put_f32(p + AT_DURATION, e->clip->duration);
	put_u16(p + AT_BONES, (uint16_t)e->bones);
	if (e->bones)
		put_u64(p + AT_BONE_LIST, e->ids_part->at);
	if (e->entries)
		put_u64(p + AT_TABLE, e->table_part->at);
	put_end(e, AT_END1);
	put_end(e, AT_END2);
	return true;
}

static bool owanim_write_put_tables(struct edit *e)
{
	if (!owanim_write_put_header(e))
		return false;
	for (uint32_t entry = 0; entry < e->entries; entry++) {
		if (!put_entry(e, entry))
			return false;
	}
	return true;
}

static bool put_ids(struct edit *e)
{
	for (uint32_t bone = 0; bone < e->bones; bone++) {
		const struct track *t = &e->clip->tracks[bone];
		uint32_t id;

		if (!bone_number(e->a->format, e->a->bone_names, t->name, &id)) {
			err_set(e->err, ERR_STORE, "%s: no bone can be called %s", e->clip->label,
				t->label);
			return err_accept(e->err, "bone_ and the number of the bone in hexadecimal "
						  "digits, as in bone_0F30, or its name in "
						  "bone-names.csv");
		}
		put_u32(e->ids + (size_t)bone * ID_SIZE, id);
	}
	return true;
}

static bool owanim_write_place_parts(struct edit *e)
{
	if (layout_stay(&e->layout)) {
		if (!owanim_write_put_tables(e))
			return false;
		if (!layout_clash(&e->layout))
			return true;
	}
	return layout_pack(&e->layout, e->err) && owanim_write_put_tables(e);
}

/* ---- encode ---- */

static bool owanim_write_check_clip(const struct edit *e)
{
	const struct clip *clip = e->clip;

	if (e->a->clip_count != 1)
		return err_set(e->err, ERR_STORE, "the file holds one clip, not %u",
			       e->a->clip_count);
	if (clip->frames < 1 || clip->frames > FRAMES_MAX) {
		err_set(e->err, ERR_STORE, "%s: there cannot be %u frames", clip->label,
			clip->frames);
		return err_accept(e->err, "1 to %u frames", FRAMES_MAX);
	}
	if (clip->track_count > BONES_MAX)
		return err_set(e->err, ERR_STORE, "%s: more than %u bones", clip->label, BONES_MAX);
	if (clip->loop)
		return err_set(e->err, ERR_STORE, "%s: whether it loops is not stored",
			       clip->label);
	return true;
}

/* Keeps the interpretation of the old file, except for the width if a limit is passed. */
static void plan_fit(struct edit *e)
{
	struct owfit *fit = &e->fit;
	uint32_t limit, old_limit;

	*fit = e->old.fit;
	fit->frames = e->clip->frames;
	e->bones = e->clip->track_count;
	e->entries = owanim_entries(fit, e->bones);
	if (e->old.src.size)
		e->old_entries = owanim_entries(&e->old.fit, e->old.bones);
	limit = fit->by_frame ? e->bones : fit->frames;
	old_limit = fit->by_frame ? e->old.bones : e->old.fit.frames;
	if (fit->rule == WIDTH_BY_LIMIT && limit != old_limit)
		fit->wide = limit > NARROW_MAX;
}

static bool find_origins(struct edit *e)
{
	e->origins = edit_alloc(e, e->entries, sizeof(*e->origins));
	for (uint32_t i = 0; e->origins && i < e->entries; i++) {
		e->origins[i] = e->fit.by_frame ? i : e->clip->tracks[i].origin;
		if (e->origins[i] >= e->old_entries)
			e->origins[i] = NEW;
	}
	return e->origins != NULL;
}

static bool owanim_write_begin_edit(struct edit *e, struct bytes old)
{
	if (old.size && !owanim_read(&e->old, old, e->err))
		return false;
	if (!owanim_write_check_clip(e))
		return false;
	plan_fit(e);
	return find_origins(e);
}

/* Does another width rule give the same widths? Then that interpretation is as good. */
static bool is_meant(const struct edit *e, const struct owfit *is)
{
	const struct owfit *fit = &e->fit;
	size_t lists = (size_t)e->entries * LIST_COUNT;

	if (is->by_frame != fit->by_frame || is->frames != fit->frames)
		return false;
	for (size_t i = 0; i < lists; i++) {
		uint32_t count = e->counts[i];

		if (count && owanim_wide(is, count) != owanim_wide(fit, count))
			return false;
	}
	return true;
}

/* Returns a duration near the wanted one that gives this number of frames with any rounding. */
static float fitting_duration(uint32_t frames, float fps)
{
	float duration = (float)((frames - 1) / (double)fps);

	while ((double)(fps * duration) < frames - 1)
		duration = nextafterf(duration, INFINITY);
	return duration;
}

/*
 * Checks that the result is interpreted as intended, since the file does not record its
 * interpretation.
 */
static bool check_fit(struct edit *e, struct bytes out)
{
	float fps = get_f32(out.data + AT_FPS), duration = get_f32(out.data + AT_DURATION);
	struct err why = {.code = ERR_NONE};
	struct owanim f;
	bool fine = owanim_read(&f, out, &why);
	struct owfit is = f.fit;

	arena_release(&f.arena);
	if (why.code == ERR_MEMORY)
		return err_memory(e->err);
	if (fine && is_meant(e, &is))
		return true;
	if (!fine || is.frames == e->fit.frames)
		return err_set(e->err, ERR_STORE,
			       "%s: with these keys it would be read in another way",
			       e->clip->label);
	err_set(e->err, ERR_STORE,
		"%s: a duration of %.9g s at %.9g frames a second would be read as %u frames, not "
		"%u",
		e->clip->label, (double)duration, (double)fps, is.frames, e->fit.frames);
	if (fps >= 1 && fps <= FRAMES_MAX)
		err_accept(e->err, "%u frames together with a duration of %.9g", e->fit.frames,
			   (double)fitting_duration(e->fit.frames, fps));
	return false;
}

static bool owanim_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct edit e = {.a = a, .clip = a->clips, .err = err};
	size_t start = out->size;
	bool ok = owanim_write_begin_edit(&e, old) && collect_keys(&e) && make_lists(&e) &&
		  owanim_write_add_parts(&e) && put_ids(&e) && owanim_write_place_parts(&e);

	if (ok) {
		layout_write(&e.layout, out);
		ok = !out->failed || err_memory(err);
	}
	ok = ok && check_fit(&e, (struct bytes){out->data + start, out->size - start});
	arena_release(&e.old.arena);
	return ok;
}

static const char *const owanim_patterns[] = {"*.006", "*.owanim", NULL};

const struct codec owanim_codec = {
	.format = &owanim_format,
	.patterns = owanim_patterns,
	.probe = owanim_probe,
	.decode = owanim_decode,
	.encode = owanim_encode,
};
