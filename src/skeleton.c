/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "skeleton.h"

#include "names.h"
#include "num.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum column { COLUMN_BONE, COLUMN_PARENT, COLUMN_REST };
#define COLUMN_COUNT (COLUMN_REST + 3 * ROLE_COUNT)

static const char *const column_names[COLUMN_COUNT] = {"bone", "parent", "tx", "ty", "tz", "rx",
						       "ry",   "rz",     "sx", "sy", "sz"};

/* ---- finding joints ---- */

/* For qsort_r: places of joints, by their bones. */
static int by_bone(const void *a, const void *b, void *joints)
{
	const struct joint *all = joints;

	return strcmp(all[*(const uint32_t *)a].bone, all[*(const uint32_t *)b].bone);
}

static int64_t find_joint(const struct skeleton *s, const char *bone)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(bone, s->joints[s->by_name[middle]].bone);

		if (order == 0)
			return s->by_name[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

const struct joint *skeleton_joint(const struct skeleton *s, const char *bone)
{
	int64_t place = s ? find_joint(s, bone) : -1;

	return place < 0 ? NULL : &s->joints[place];
}

struct skeleton *skeleton_new(struct arena *arena, const struct joint *joints, uint32_t count)
{
	uint32_t *by_name = arena_alloc(arena, (size_t)count + 1, sizeof(*by_name));
	struct skeleton *s = by_name ? malloc(sizeof(*s)) : NULL;

	if (!s) {
		arena_release(arena);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		by_name[i] = i;
	qsort_r(by_name, count, sizeof(*by_name), by_bone, (void *)joints);
	*s = (struct skeleton){*arena, count, joints, by_name};
	*arena = (struct arena)ARENA_INIT;
	return s;
}

static const char *parent_of(const struct skeleton *s, const struct joint *joint)
{
	return joint->parent == JOINT_ROOT ? "" : s->joints[joint->parent].bone;
}

bool joint_same(const struct skeleton *a, const struct joint *x, const struct skeleton *b,
		const struct joint *y)
{
	for (unsigned i = 0; i < 3 * ROLE_COUNT; i++) {
		if ((float)x->rest[i / 3][i % 3] != (float)y->rest[i / 3][i % 3])
			return false;
	}
	return strcmp(parent_of(a, x), parent_of(b, y)) == 0;
}

bool skeleton_same(const struct skeleton *a, const struct skeleton *b)
{
	uint32_t count = a ? a->count : 0;

	if (count != (b ? b->count : 0))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct joint *x = &a->joints[i], *y = skeleton_joint(b, x->bone);

		if (!y || !joint_same(a, x, b, y))
			return false;
	}
	return true;
}

void skeleton_free(struct skeleton *s)
{
	if (!s)
		return;
	arena_release(&s->arena);
	free(s);
}

/* ---- reading ---- */

/* A joint on its way, and where the text says it. */
struct row {
	struct joint joint;
	const char *parent; /* "": a root */
	bool silent;        /* it says nothing of its bone */
	size_t bone_at, parent_at;
	uint16_t bone_length, parent_length;
};

struct reading {
	struct table table;
	size_t place[COLUMN_COUNT]; /* of the columns */
	struct arena arena;
	struct row *rows;
	uint32_t count;
	size_t room;
	bool cut; /* the last row has no line end and fewer cells than the header */
	const struct skeleton *old;  /* what a missing column leaves; may be NULL */
	const struct format *format; /* may be NULL */
	struct err *err;
};

static const struct cell *cell_of(const struct reading *r, unsigned column)
{
	return table_cell(&r->table, r->place[column]);
}

static bool has_column(const struct reading *r, unsigned column)
{
	return r->place[column] != TABLE_NOWHERE;
}

static bool read_number(const struct reading *r, unsigned column, double *out)
{
	const struct cell *cell = cell_of(r, column);

	if (cell->size == 0)
		return true;
	if (table_number(&r->table, cell, out) && isfinite((float)*out))
		return true;
	table_refuse_number(cell, "number", r->err);
	return err_accept(r->err, "a decimal number such as 12.5, or nothing");
}

/* `old` is what was known of the bone, or NULL. */
static bool read_rest(struct reading *r, const struct joint *old, struct row *row)
{
	for (unsigned i = 0; i < 3 * ROLE_COUNT; i++) {
		double *to = &row->joint.rest[i / 3][i % 3];

		if (old && !has_column(r, COLUMN_REST + i))
			*to = old->rest[i / 3][i % 3];
		else if (!read_number(r, COLUMN_REST + i, to))
			return false;
		row->silent &= cell_of(r, COLUMN_REST + i)->size == 0;
	}
	return true;
}

static struct row *new_row(struct reading *r)
{
	struct row *rows = r->count == INT32_MAX
				   ? NULL
				   : array_room(r->rows, r->count, &r->room, sizeof(*rows));

	if (!rows)
		return NULL;
	r->rows = rows;
	return &rows[r->count++];
}

/* A cell that no column is above says what nobody would read. */
static bool check_width(struct reading *r)
{
	for (size_t i = 0; i < r->table.count; i++) {
		const struct cell *cell = &r->table.cells[i];
		bool named = cell->size == 0;

		for (unsigned column = 0; !named && column < COLUMN_COUNT; column++)
			named = r->place[column] == i;
		if (named)
			continue;
		return err_at(r->err, ERR_TEXT, cell->at, cell->length,
			      "\"%s\" stands in no column that has a name",
			      cell_excerpt(cell).text);
	}
	return true;
}

/* The number of a bone whose name others have, too: "%~2" is the second one without a name. */
static size_t number_length(const char *name)
{
	const char *number = strrchr(name, '~');
	size_t digits = number ? strspn(number + 1, "0123456789") : 0;

	return digits > 0 && number[1 + digits] == '\0' ? 1 + digits : 0;
}

static bool is_name(struct arena *arena, const char *name)
{
	size_t number = number_length(name);
	struct buf stored = BUF_INIT;
	bool good = name_unescape(name, &stored);
	const char *shared;

	if (!good && number > 0 && !stored.failed) {
		shared = arena_text(arena, name, strlen(name) - number);
		good = !shared || name_unescape(shared, &stored);
	}
	arena->failed |= stored.failed;
	buf_release(&stored);
	return good && !arena->failed;
}

/* The file-name form of no name could not be written again without quotes. */
static bool check_name(struct reading *r, const struct cell *cell, const char *name)
{
	struct buf right = BUF_INIT;
	bool good = is_name(&r->arena, name);

	if (!good)
		name_escape(name, NAME_LIMIT, &right);
	buf_char(&right, '\0');
	if (r->arena.failed || right.failed) {
		err_memory(r->err);
	} else if (!good) {
		err_at(r->err, ERR_TEXT, cell->at, cell->length, "no bone is called \"%s\" here",
		       cell_excerpt(cell).text);
		err_accept(r->err, "\"%s\"", (const char *)right.data);
	}
	buf_release(&right);
	return good;
}

/* Of which bone and parent. Out of memory the arena says so. */
static struct row begin_row(struct reading *r)
{
	const struct cell *bone = cell_of(r, COLUMN_BONE), *parent = cell_of(r, COLUMN_PARENT);

	return (struct row){
		.joint = {.bone = arena_text(&r->arena, bone->text, bone->size),
			  .rest = {[ROLE_SCALE] = {1, 1, 1}}},
		.parent = arena_text(&r->arena, parent->text, parent->size),
		.silent = parent->size == 0,
		.bone_at = bone->at,
		.bone_length = cell_length(bone),
		.parent_at = parent->at,
		.parent_length = cell_length(parent),
	};
}

static bool read_row(struct reading *r)
{
	const struct cell *bone = cell_of(r, COLUMN_BONE);
	const struct joint *old;
	struct row row, *to;

	if (bone->size == 0)
		return err_at(r->err, ERR_TEXT, bone->at, 0, "this row names no bone");
	row = begin_row(r);
	if (r->arena.failed)
		return err_memory(r->err);
	old = skeleton_joint(r->old, row.joint.bone);
	if (old && !has_column(r, COLUMN_PARENT))
		row.parent = parent_of(r->old, old);
	if (!check_width(r) || !read_rest(r, old, &row) || !check_name(r, bone, row.joint.bone))
		return false;
	/* What another column would say is known all the same. */
	for (unsigned column = COLUMN_PARENT; old && column < COLUMN_COUNT; column++)
		row.silent &= has_column(r, column);
	to = new_row(r);
	if (!to)
		return err_memory(r->err);
	*to = row;
	return true;
}

static bool read_rows(struct reading *r)
{
	size_t width;

	if (!table_header(&r->table, column_names, COLUMN_COUNT, 1u << COLUMN_BONE, r->place,
			  r->err))
		return false;
	width = r->table.count;
	for (;;) {
		if (!table_row(&r->table, r->err))
			return false;
		if (r->table.count == 0)
			return true;
		r->cut = r->table.row_end == r->table.text.size && r->table.count < width;
		if (!read_row(r))
			return false;
	}
}

static size_t line_of(const struct reading *r, size_t at)
{
	return err_locate(r->table.text, at).line;
}

/* Of equal names the sort may have swapped the rows: the later one is at fault. */
static bool check_twice(const struct reading *r, const struct skeleton *s)
{
	for (uint32_t i = 1; i < s->count; i++) {
		uint32_t a = s->by_name[i - 1], b = s->by_name[i];
		const struct row *first = &r->rows[a < b ? a : b];
		const struct row *second = &r->rows[a < b ? b : a];

		if (strcmp(s->joints[a].bone, s->joints[b].bone) != 0)
			continue;
		err_at(r->err, ERR_TEXT, second->bone_at, second->bone_length,
		       "the bone %.80s is there twice, first in line %zu", first->joint.bone,
		       line_of(r, first->bone_at));
		return false;
	}
	return true;
}

static bool refuse_parent(const struct reading *r, const struct row *row)
{
	if (r->format && r->format->flat)
		return err_at(r->err, ERR_TEXT, row->parent_at, row->parent_length,
			      "%.80s has a parent, and in %s nothing has", row->joint.bone,
			      r->format->name);
	err_at(r->err, ERR_TEXT, row->parent_at, row->parent_length,
	       "there is no bone \"%.80s\" here", row->parent);
	return err_accept(r->err, "the name of another row's bone, or nothing for a root");
}

static bool find_parents(struct reading *r, const struct skeleton *s, struct joint *joints)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct row *row = &r->rows[i];
		int64_t parent = *row->parent ? find_joint(s, row->parent) : JOINT_ROOT;

		joints[i].parent = (int32_t)parent;
		if (parent >= 0)
			r->rows[parent].silent = false;
		if (*row->parent && (parent < 0 || (r->format && r->format->flat)))
			return refuse_parent(r, row);
	}
	return true;
}

/* Walks up from each joint until a known one; meeting the walk's own way again is a circle. */
static bool check_circles(const struct reading *r, const struct skeleton *s)
{
	uint32_t *walk = calloc((size_t)s->count + 1, sizeof(*walk));
	bool good = walk != NULL;

	if (!walk)
		return err_memory(r->err);
	for (uint32_t i = 0; good && i < s->count; i++) {
		int32_t at = (int32_t)i;

		for (; at != JOINT_ROOT && walk[at] == 0; at = s->joints[at].parent)
			walk[at] = i + 1;
		if (at == JOINT_ROOT || walk[at] != i + 1)
			continue;
		err_at(r->err, ERR_TEXT, r->rows[at].parent_at, r->rows[at].parent_length,
		       "%.80s hangs from itself, by way of its parents", s->joints[at].bone);
		good = false;
	}
	free(walk);
	return good;
}

/* Silent rows are as if they were not there. */
static bool drop_silent(const struct reading *r, struct skeleton *s, struct joint *joints,
			uint32_t *by_name)
{
	uint32_t *place = calloc((size_t)s->count + 1, sizeof(*place));
	uint32_t count = 0, named = 0;

	if (!place)
		return err_memory(r->err);
	for (uint32_t i = 0; i < s->count; i++) {
		place[i] = count;
		if (!r->rows[i].silent)
			joints[count++] = joints[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		if (joints[i].parent != JOINT_ROOT)
			joints[i].parent = (int32_t)place[joints[i].parent];
	}
	for (uint32_t i = 0; i < s->count; i++) {
		if (!r->rows[by_name[i]].silent)
			by_name[named++] = place[by_name[i]];
	}
	s->count = count;
	free(place);
	return true;
}

/* Which of the model's bones were known and have no row any more. */
static bool check_missing(const struct reading *r, const struct skeleton *s, const struct anim *a)
{
	for (uint32_t c = 0; r->old && c < a->clip_count; c++) {
		for (uint32_t t = 0; t < a->clips[c].track_count; t++) {
			const char *bone = a->clips[c].tracks[t].label;

			if (find_joint(s, bone) >= 0 || !skeleton_joint(r->old, bone))
				continue;
			err_set(r->err, ERR_TEXT, "there is no row for the bone %.80s", bone);
			return err_accept(r->err, "a row for each bone of the file; with blank "
						  "cells nothing is known of it");
		}
	}
	return true;
}

/* a: the model that the text is saved for, or NULL. */
static struct skeleton *join(struct reading *r, const struct anim *a)
{
	struct joint *joints = arena_alloc(&r->arena, (size_t)r->count + 1, sizeof(*joints));
	struct skeleton *s;

	for (uint32_t i = 0; joints && i < r->count; i++)
		joints[i] = r->rows[i].joint;
	s = joints ? skeleton_new(&r->arena, joints, r->count) : NULL;
	if (!s) {
		err_memory(r->err);
		return NULL;
	}
	if (check_twice(r, s) && (!a || check_missing(r, s, a)) && find_parents(r, s, joints) &&
	    check_circles(r, s) && drop_silent(r, s, joints, (uint32_t *)s->by_name))
		return s;
	skeleton_free(s);
	return NULL;
}

/* A header alone, or a row that has not got all its cells yet. */
static bool check_end(const struct reading *r, const struct anim *a)
{
	bool any = r->old && r->old->count > 0;

	for (uint32_t c = 0; c < a->clip_count; c++)
		any |= a->clips[c].track_count > 0;
	if (any && r->count == 0)
		return err_set(r->err, ERR_EMPTY, "the text is a header alone");
	if (r->cut)
		return err_at(r->err, ERR_EARLY, r->table.text.size, 0,
			      "the last row ends before its columns do");
	return true;
}

static struct skeleton *read_text(struct reading *r, const struct anim *a, struct bytes text)
{
	struct skeleton *s = NULL;

	if (table_open(&r->table, text, r->err) && read_rows(r) && (!a || check_end(r, a)))
		s = join(r, a);
	if (!s)
		table_tell_place(&r->table, r->err);
	table_close(&r->table);
	arena_release(&r->arena);
	free(r->rows);
	return s;
}

struct skeleton *skeleton_read(struct bytes text, const struct format *format, struct err *err)
{
	struct reading r = {.arena = ARENA_INIT, .format = format, .err = err};

	return read_text(&r, NULL, text);
}

struct skeleton *skeleton_edit(const struct skeleton *old, const struct anim *a, struct bytes text,
			       struct err *err)
{
	struct reading r = {.arena = ARENA_INIT, .old = old, .format = a->format, .err = err};

	return read_text(&r, a, text);
}

/* ---- writing ---- */

/* Names that were written. Open addressing; at most half of the slots are taken. */
struct names {
	const char **slots;
	size_t mask, count;
};

static const char **names_slot(const struct names *n, const char *name)
{
	size_t at = (size_t)XXH3_64bits(name, strlen(name)) & n->mask;

	while (n->slots[at] && strcmp(n->slots[at], name) != 0)
		at = (at + 1) & n->mask;
	return &n->slots[at];
}

static bool names_grow(struct names *n)
{
	struct names larger = {.mask = n->slots ? 2 * n->mask + 1 : 255, .count = n->count};

	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; n->slots && i <= n->mask; i++)
		if (n->slots[i])
			*names_slot(&larger, n->slots[i]) = n->slots[i];
	free(n->slots);
	*n = larger;
	return true;
}

/* *is_new tells whether the name was not there. False when out of memory. */
static bool names_add(struct names *n, const char *name, bool *is_new)
{
	const char **slot;

	if ((!n->slots || n->count > n->mask / 2) && !names_grow(n))
		return false;
	slot = names_slot(n, name);
	*is_new = !*slot;
	n->count += *is_new;
	*slot = name;
	return true;
}

void skeleton_row(const struct skeleton *s, const char *bone, struct buf *out)
{
	const struct joint *joint = skeleton_joint(s, bone);

	buf_text(out, bone);
	buf_char(out, ',');
	if (joint)
		buf_text(out, parent_of(s, joint));
	for (unsigned i = 0; i < 3 * ROLE_COUNT; i++) {
		buf_char(out, ',');
		if (joint)
			buf_f32_text(out, (float)joint->rest[i / 3][i % 3]);
	}
	buf_char(out, '\n');
}

static void write_new(const struct skeleton *s, const char *bone, struct names *written,
		      struct buf *out)
{
	bool is_new = false;

	if (!names_add(written, bone, &is_new))
		out->failed = true;
	else if (is_new)
		skeleton_row(s, bone, out);
}

void skeleton_text(const struct skeleton *s, const struct anim *a, struct buf *out)
{
	struct names written = {.slots = NULL};

	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		buf_format(out, "%s%s", i > 0 ? "," : "", column_names[i]);
	buf_char(out, '\n');
	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t t = 0; t < a->clips[c].track_count; t++)
			write_new(s, a->clips[c].tracks[t].label, &written, out);
	for (uint32_t i = 0; s && i < s->count; i++)
		write_new(s, s->joints[i].bone, &written, out);
	free(written.slots);
}
