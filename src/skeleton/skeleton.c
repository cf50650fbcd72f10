/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "skeleton.h"

#include "model/names.h"
#include "text/num.h"
#include "text/table.h"
#include "util/string_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool skeleton_read_bone(void *reading, const struct cell *cell, unsigned what);
static bool read_parent(void *reading, const struct cell *cell, unsigned what);
static bool read_rest(void *reading, const struct cell *cell, unsigned what);
static void skeleton_write_bone(const void *written, unsigned what, struct buf *out);
static void skeleton_write_parent(const void *written, unsigned what, struct buf *out);
static void skeleton_write_rest(const void *written, unsigned what, struct buf *out);

/* The columns of the text. In those of the rest pose, the last member is 3 * role + axis. */
static const struct column columns[] = {
	{"bone", skeleton_read_bone, skeleton_write_bone, 0},
	{"parent", read_parent, skeleton_write_parent, 0},
	{"tx", read_rest, skeleton_write_rest, 0},
	{"ty", read_rest, skeleton_write_rest, 1},
	{"tz", read_rest, skeleton_write_rest, 2},
	{"rx", read_rest, skeleton_write_rest, 3},
	{"ry", read_rest, skeleton_write_rest, 4},
	{"rz", read_rest, skeleton_write_rest, 5},
	{"sx", read_rest, skeleton_write_rest, 6},
	{"sy", read_rest, skeleton_write_rest, 7},
	{"sz", read_rest, skeleton_write_rest, 8},
};
#define ALL_COLUMNS ((1u << ARRAY_SIZE(columns)) - 1)
static const struct table_form form = {columns, ARRAY_SIZE(columns), ALL_COLUMNS, ALL_COLUMNS, 1};

/* ---- finding joints ---- */

/* Compares indices of joints by bone, for qsort_r. */
static int skeleton_by_bone(const void *a, const void *b, void *joints)
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

const char *skeleton_parent(const void *skeleton, const char *bone)
{
	const struct skeleton *s = skeleton;
	const struct joint *joint = skeleton_joint(s, bone);

	return joint && joint->parent != JOINT_ROOT ? s->joints[joint->parent].bone : NULL;
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
	qsort_r(by_name, count, sizeof(*by_name), skeleton_by_bone, (void *)joints);
	*s = (struct skeleton){*arena, count, joints, by_name};
	*arena = (struct arena)ARENA_INIT;
	return s;
}

static const char *skeleton_parent_of(const struct skeleton *s, const struct joint *joint)
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
	return strcmp(skeleton_parent_of(a, x), skeleton_parent_of(b, y)) == 0;
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

/* A joint that is being read, and its place in the text. */
struct row {
	struct joint joint;
	const char *parent; /* name of the parent; "": the bone is a root */
	bool silent;        /* all cells of the row except the bone's name are blank */
	size_t bone_at, parent_at;
	uint16_t bone_length, parent_length;
};

struct reading {
	struct table table;
	struct arena arena;
	struct row *rows;
	uint32_t count;
	size_t room;
	struct row row;              /* the row that is being read */
	const struct joint *known;   /* the same bone in `old`; NULL: `old` lacks it */
	const struct skeleton *old;  /* values for missing columns; may be NULL */
	const struct format *format; /* may be NULL */
	struct err *err;
};

static struct row *skeleton_new_row(struct reading *r)
{
	struct row *rows = r->count == INT32_MAX
				   ? NULL
				   : array_room(r->rows, r->count, &r->room, sizeof(*rows));

	if (!rows)
		return NULL;
	r->rows = rows;
	return &rows[r->count++];
}

/*
 * Returns the length of the suffix that numbers bones of equal names: "%~2" is the second bone
 * without a name.
 */
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

/* Refuses a name that is not in file-name form. */
static bool skeleton_check_name(struct reading *r, const struct cell *cell, const char *name)
{
	struct buf right = BUF_INIT;
	bool good = is_name(&r->arena, name);

	if (!good)
		name_escape(name, NAME_LIMIT, &right);
	buf_char(&right, '\0');
	if (r->arena.failed || right.failed) {
		err_memory(r->err);
	} else if (!good) {
		err_at(r->err, ERR_TEXT, cell->at, cell->length, "no bone here is named \"%s\"",
		       cell_excerpt(cell).text);
		err_accept(r->err, "\"%s\"", (const char *)right.data);
	}
	buf_release(&right);
	return good;
}

static bool skeleton_read_bone(void *reading, const struct cell *cell, unsigned what)
{
	struct reading *r = reading;

	(void)what;
	if (cell->size == 0)
		return err_at(r->err, ERR_TEXT, cell->at, 0, "this row names no bone");
	r->row = (struct row){
		.joint = {.bone = arena_text(&r->arena, cell->text, cell->size),
			  .rest = {[ROLE_SCALE] = {1, 1, 1}}},
		.parent = "",
		/*
		 * A row counts as blank until one of its cells is not: values that are taken from
		 * `old`, for columns that the text does not have, do not count.
		 */
		.silent = true,
		.bone_at = cell->at,
		.bone_length = cell_length(cell),
	};
	if (!r->row.joint.bone)
		return err_memory(r->err);
	r->known = skeleton_joint(r->old, r->row.joint.bone);
	r->row.silent = !r->known || r->table.columns == ALL_COLUMNS;
	return skeleton_check_name(r, cell, r->row.joint.bone);
}

static bool read_parent(void *reading, const struct cell *cell, unsigned what)
{
	struct reading *r = reading;

	(void)what;
	if (!cell && r->known)
		r->row.parent = skeleton_parent_of(r->old, r->known);
	if (!cell || cell->size == 0)
		return true;
	r->row.parent = arena_text(&r->arena, cell->text, cell->size);
	r->row.silent = false;
	r->row.parent_at = cell->at;
	r->row.parent_length = cell_length(cell);
	return r->row.parent || err_memory(r->err);
}

static bool read_rest(void *reading, const struct cell *cell, unsigned what)
{
	struct reading *r = reading;
	double *to = &r->row.joint.rest[what / 3][what % 3];

	if (!cell && r->known)
		*to = r->known->rest[what / 3][what % 3];
	if (!cell || cell_is_blank(cell))
		return true;
	r->row.silent = false;
	if (table_number(&r->table, cell, to) && isfinite((float)*to))
		return true;
	table_refuse_number(&r->table, cell, "number", r->err);
	return err_accept(r->err, "a decimal number such as 12.5, or nothing");
}

static bool skeleton_read_rows(struct reading *r)
{
	if (!table_header(&r->table, &form, r->err))
		return false;
	while (table_row(&r->table, r->err) && !r->table.done) {
		struct row *to;

		if (!table_read(&r->table, r))
			return false;
		to = skeleton_new_row(r);
		if (!to)
			return err_memory(r->err);
		*to = r->row;
	}
	return r->table.done;
}

static size_t skeleton_line_of(const struct reading *r, size_t at)
{
	return err_locate(r->table.text, at).line;
}

/*
 * Refuses a bone that is listed twice. Sorting may have swapped the rows: the error is at the later
 * one.
 */
static bool check_twice(const struct reading *r, const struct skeleton *s)
{
	for (uint32_t i = 1; i < s->count; i++) {
		uint32_t a = s->by_name[i - 1], b = s->by_name[i];
		const struct row *first = &r->rows[a < b ? a : b];
		const struct row *second = &r->rows[a < b ? b : a];

		if (strcmp(s->joints[a].bone, s->joints[b].bone) != 0)
			continue;
		err_at(r->err, ERR_TEXT, second->bone_at, second->bone_length,
		       "the bone %.80s is listed twice, first in line %zu", first->joint.bone,
		       skeleton_line_of(r, first->bone_at));
		return false;
	}
	return true;
}

static bool refuse_parent(const struct reading *r, const struct row *row)
{
	if (r->format && r->format->flat)
		return err_at(r->err, ERR_TEXT, row->parent_at, row->parent_length,
			      "%.80s has a parent; %s files store none", row->joint.bone,
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

/*
 * Refuses cycles. Walks up from each joint until one that was checked before; meeting a joint of
 * the same walk again is a cycle.
 */
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
		       "%.80s is its own ancestor", s->joints[at].bone);
		good = false;
	}
	free(walk);
	return good;
}

/* Removes bones whose rows have only blank cells, unless a bone is the parent of another. */
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

/* Refuses a text without rows for bones that both the model and `old` have. */
static bool check_missing(const struct reading *r, const struct skeleton *s, const struct anim *a)
{
	for (uint32_t c = 0; r->old && c < a->clip_count; c++) {
		for (uint32_t t = 0; t < a->clips[c].track_count; t++) {
			const char *bone = a->clips[c].tracks[t].label;

			if (find_joint(s, bone) >= 0 || !skeleton_joint(r->old, bone))
				continue;
			err_set(r->err, ERR_TEXT, "there is no row for the bone %.80s", bone);
			return err_accept(r->err, "a row for each bone of the file, with blank "
						  "cells where nothing is known");
		}
	}
	return true;
}

/* Makes the skeleton. `a` is the model that the text is saved for, or NULL. */
static struct skeleton *join_rows(struct reading *r, const struct anim *a)
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

/* Refuses a header without rows, and a last row that is incomplete. */
static bool check_end(const struct reading *r, const struct anim *a)
{
	bool any = r->old && r->old->count > 0;

	for (uint32_t c = 0; c < a->clip_count; c++)
		any |= a->clips[c].track_count > 0;
	if (any && r->count == 0)
		return err_set(r->err, ERR_EMPTY, "the text is only a header");
	return !r->table.cut || table_refuse_cut(&r->table, r->err);
}

static struct skeleton *skeleton_read_text(struct reading *r, const struct anim *a,
					   struct bytes text)
{
	struct skeleton *s = NULL;

	if (table_open(&r->table, text, r->err) && skeleton_read_rows(r) && (!a || check_end(r, a)))
		s = join_rows(r, a);
	if (!s)
		table_finish_error(&r->table, r->err);
	table_close(&r->table);
	arena_release(&r->arena);
	free(r->rows);
	return s;
}

struct skeleton *skeleton_read(struct bytes text, const struct format *format, struct err *err)
{
	struct reading r = {.arena = ARENA_INIT, .format = format, .err = err};

	return skeleton_read_text(&r, NULL, text);
}

struct skeleton *skeleton_edit(const struct skeleton *old, const struct anim *a, struct bytes text,
			       struct err *err)
{
	struct reading r = {.arena = ARENA_INIT, .old = old, .format = a->format, .err = err};

	return skeleton_read_text(&r, a, text);
}

/* ---- writing ---- */

struct written {
	const struct skeleton *skeleton;
	const char *bone;
	const struct joint *joint; /* the bone's joint; NULL: the skeleton lacks the bone */
};

static void skeleton_write_bone(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	buf_text(out, w->bone);
}

static void skeleton_write_parent(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	if (w->joint)
		buf_text(out, skeleton_parent_of(w->skeleton, w->joint));
}

static void skeleton_write_rest(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	if (w->joint)
		buf_f32_text(out, (float)w->joint->rest[what / 3][what % 3]);
}

void skeleton_row(const struct skeleton *s, const char *bone, struct buf *out)
{
	const struct written written = {s, bone, skeleton_joint(s, bone)};

	table_write_row(&form, &written, out);
}

static void skeleton_write_new(const struct skeleton *s, const char *bone,
			       struct string_map *written, struct buf *out)
{
	uint32_t next = (uint32_t)written->count;
	int64_t number = string_map_add(written, bone, next);

	out->failed |= number < 0;
	if (number == next)
		skeleton_row(s, bone, out);
}

void skeleton_text(const struct skeleton *s, const struct anim *a, struct buf *out)
{
	struct string_map written = {.slots = NULL};

	table_write_names(&form, ",", out);
	buf_char(out, '\n');
	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t t = 0; t < a->clips[c].track_count; t++)
			skeleton_write_new(s, a->clips[c].tracks[t].label, &written, out);
	for (uint32_t i = 0; s && i < s->count; i++)
		skeleton_write_new(s, s->joints[i].bone, &written, out);
	string_map_release(&written);
}
