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

static double rest_of_nothing(unsigned role)
{
	return role == ROLE_SCALE;
}

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
	const char *parent; /* NULL: a root */
	size_t bone_at, parent_at;
	uint16_t bone_length, parent_length;
};

struct reading {
	struct table table;
	size_t place[COLUMN_COUNT]; /* of the columns */
	struct arena arena;
	struct row *rows;
	uint32_t count, capacity;
	struct err *err;
};

static const struct cell *cell_of(const struct reading *r, unsigned column)
{
	return table_cell(&r->table, r->place[column]);
}

/* The error just set lies in this column. */
static bool in_column(const struct reading *r, unsigned column)
{
	if (r->err)
		r->err->column = r->place[column] + 1;
	return false;
}

static bool read_number(const struct reading *r, unsigned column, double *out)
{
	const struct cell *cell = cell_of(r, column);

	if (cell->size == 0)
		return true;
	if (table_number(&r->table, cell, out) && isfinite((float)*out))
		return true;
	table_refuse_number(cell, "number", r->err);
	err_accept(r->err, "a decimal number such as 12.5, or nothing");
	return in_column(r, column);
}

static bool read_rest(struct reading *r, struct joint *joint)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		for (unsigned axis = 0; axis < 3; axis++) {
			joint->rest[role][axis] = rest_of_nothing(role);
			if (!read_number(r, COLUMN_REST + 3 * role + axis,
					 &joint->rest[role][axis]))
				return false;
		}
	}
	return true;
}

static struct row *new_row(struct reading *r)
{
	if (r->count == r->capacity) {
		uint32_t capacity = r->capacity ? 2 * r->capacity : 64;
		struct row *rows = capacity > INT32_MAX
					   ? NULL
					   : reallocarray(r->rows, capacity, sizeof(*rows));

		if (!rows)
			return NULL;
		r->rows = rows;
		r->capacity = capacity;
	}
	return &r->rows[r->count++];
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
		err_at(r->err, ERR_TEXT, cell->at, cell->length,
		       "\"%s\" stands in no column that has a name", cell_excerpt(cell).text);
		if (r->err)
			r->err->column = i + 1;
		return false;
	}
	return true;
}

/* The file-name form of no name could not be written again without quotes. */
static bool check_name(const struct reading *r, const struct cell *cell, const char *name)
{
	struct buf stored = BUF_INIT, right = BUF_INIT;
	bool good = name_unescape(name, &stored);

	if (!good)
		name_escape(name, NAME_LIMIT, &right);
	buf_char(&right, '\0');
	if (stored.failed || right.failed) {
		err_memory(r->err);
	} else if (!good) {
		err_at(r->err, ERR_TEXT, cell->at, cell->length, "no bone is called \"%s\" here",
		       cell_excerpt(cell).text);
		err_accept(r->err, "\"%s\"", (const char *)right.data);
		in_column(r, COLUMN_BONE);
	}
	buf_release(&stored);
	buf_release(&right);
	return good;
}

static bool read_row(struct reading *r)
{
	const struct cell *bone = cell_of(r, COLUMN_BONE), *parent = cell_of(r, COLUMN_PARENT);
	struct row row = {.bone_at = bone->at,
			  .bone_length = cell_length(bone),
			  .parent_at = parent->at,
			  .parent_length = cell_length(parent)};
	struct row *to;

	if (bone->size == 0) {
		err_at(r->err, ERR_TEXT, bone->at, 0, "this row names no bone");
		return in_column(r, COLUMN_BONE);
	}
	if (!check_width(r) || !read_rest(r, &row.joint))
		return false;
	row.joint.bone = arena_text(&r->arena, bone->text, bone->size);
	if (row.joint.bone && !check_name(r, bone, row.joint.bone))
		return false;
	if (parent->size)
		row.parent = arena_text(&r->arena, parent->text, parent->size);
	to = new_row(r);
	if (r->arena.failed || !to)
		return err_memory(r->err);
	*to = row;
	return true;
}

static bool read_rows(struct reading *r)
{
	if (!table_header(&r->table, column_names, COLUMN_COUNT, 1u << COLUMN_BONE, r->place,
			  r->err))
		return false;
	for (;;) {
		if (!table_row(&r->table, r->err))
			return false;
		if (r->table.count == 0)
			return true;
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
		return in_column(r, COLUMN_BONE);
	}
	return true;
}

static bool find_parents(const struct reading *r, const struct skeleton *s, struct joint *joints)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct row *row = &r->rows[i];
		int64_t parent = row->parent ? find_joint(s, row->parent) : JOINT_ROOT;

		joints[i].parent = (int32_t)parent;
		if (parent >= 0 || !row->parent)
			continue;
		err_at(r->err, ERR_TEXT, row->parent_at, row->parent_length,
		       "there is no bone \"%.80s\" here", row->parent);
		err_accept(r->err, "the name of another row's bone, or nothing for a root");
		return in_column(r, COLUMN_PARENT);
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
		good = in_column(r, COLUMN_PARENT);
	}
	free(walk);
	return good;
}

static struct skeleton *join(struct reading *r)
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
	if (check_twice(r, s) && find_parents(r, s, joints) && check_circles(r, s))
		return s;
	skeleton_free(s);
	return NULL;
}

struct skeleton *skeleton_read(struct bytes text, struct err *err)
{
	struct reading r = {.arena = ARENA_INIT, .err = err};
	struct skeleton *s = NULL;

	if (table_open(&r.table, text, err) && read_rows(&r))
		s = join(&r);
	table_close(&r.table);
	arena_release(&r.arena);
	free(r.rows);
	return s;
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

static void write_bone(const struct skeleton *s, const char *bone, struct buf *out)
{
	const struct joint *joint = skeleton_joint(s, bone);

	buf_text(out, bone);
	buf_char(out, ',');
	if (joint && joint->parent != JOINT_ROOT)
		buf_text(out, s->joints[joint->parent].bone);
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
		write_bone(s, bone, out);
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
