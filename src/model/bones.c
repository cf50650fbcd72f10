/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bones.h"
#include "text/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bone {
	uint32_t number;
	const char *name;
	size_t at, length; /* position and length of the bone's row in the text */
};

struct bone_names {
	struct arena arena;
	size_t count, room;
	struct bone *by_number,
		*by_name; /* the bones of the table twice, sorted by number and by name */
};

/* ---- numbers and names without a table ---- */

/* Reads digits only, below 2^32. */
static bool read_digits(const char *text, size_t size, unsigned base, uint32_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
							: base;

		value = value * base + digit;
		if (digit >= base || value > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)value;
	return size > 0;
}

#define PLAIN_NAME_MAX 64

/*
 * Writes "bone_%04X" without a NUL; the pattern ends in %0Nu or %0NX. printf would take as long as
 * everything else that is done for a bone.
 */
static size_t plain_name(char out[PLAIN_NAME_MAX], const char *pattern, uint32_t number)
{
	size_t size = strcspn(pattern, "%");
	unsigned width = (unsigned)(pattern[size + 2] - '0'), count = 0;
	unsigned base = pattern[size + 3] == 'X' ? 16 : 10;
	char digits[16];

	memcpy(out, pattern, size);
	for (; number || count < width; number /= base)
		digits[count++] = "0123456789ABCDEF"[number % base];
	while (count)
		out[size++] = digits[--count];
	return size;
}

/* The reverse of plain_name. */
static bool plain_number(const struct format *format, const char *name, uint32_t *number)
{
	const char *pattern = format->bone_name;
	size_t head = strcspn(pattern, "%"), length = strlen(name);
	char again[PLAIN_NAME_MAX];

	return length > head &&
	       read_digits(name + head, length - head, pattern[head + 3] == 'X' ? 16 : 10,
			   number) &&
	       plain_name(again, pattern, *number) == length && memcmp(again, name, length) == 0;
}

/* ---- the table ---- */

/* Orders bones by number; of equal numbers, the first in the text comes first. */
static int by_number(const void *a, const void *b)
{
	const struct bone *p = a, *q = b;

	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

static int by_name(const void *a, const void *b)
{
	const struct bone *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	return order ? order : p->at < q->at ? -1 : p->at > q->at;
}

/* The state while the text of a table is read. */
struct reading {
	const struct format *format;
	struct table table;
	struct bone bone; /* bone of the current row */
	struct bone_names *names;
	struct err *err;
};

/* Refuses a cell; `why` is a format with one %s, for the text of the cell. */
static bool bones_refuse_cell(const struct reading *r, const struct cell *cell, const char *why)
{
	return err_at(r->err, ERR_TEXT, cell->at, cell->length, why, cell_excerpt(cell).text);
}

/*
 * Parses an id: a decimal number, which may be negative if it fits 32 bits, or 0x and hex
 * digits.
 */
static bool bones_read_number(const struct table *t, const struct cell *cell, uint32_t *number)
{
	double value;

	if (cell->size > 2 && cell->text[0] == '0' && (cell->text[1] | 0x20) == 'x')
		return read_digits(cell->text + 2, cell->size - 2, 16, number);
	if (!table_number(t, cell, &value) || value != floor(value) || value < INT32_MIN ||
	    value > UINT32_MAX)
		return false;
	*number = (uint32_t)(int64_t)value;
	return true;
}

static bool bones_read_id(void *row, const struct cell *cell, unsigned what)
{
	struct reading *r = row;

	(void)what;
	r->bone = (struct bone){.at = cell->at, .length = cell->length};
	if (bones_read_number(&r->table, cell, &r->bone.number))
		return true;
	bones_refuse_cell(r, cell, "\"%s\" is not the number of a bone");
	return err_accept(r->err, "a number of 32 bits such as 3888 or 0xF30");
}

static bool bones_read_name(void *row, const struct cell *cell, unsigned what)
{
	struct reading *r = row;
	uint32_t other;

	(void)what;
	if (cell->size == 0)
		return bones_refuse_cell(r, cell, "\"%s\" is not a name");
	r->bone.name = arena_text(&r->names->arena, cell->text, cell->size);
	if (!r->bone.name)
		return err_memory(r->err);
	if (plain_number(r->format, r->bone.name, &other) && other != r->bone.number)
		return bones_refuse_cell(r, cell, "\"%s\" is the name of another number");
	return true;
}

static const struct column columns[] = {
	{"id", bones_read_id, NULL, 0},
	{"name", bones_read_name, NULL, 0},
};

static const struct table_form form = {columns, ARRAY_SIZE(columns), TABLE_OTHERS | 3, 3, 3};

static bool bones_add(struct bone_names *names, struct bone bone)
{
	struct bone *list = array_room(names->by_number, names->count, &names->room, sizeof(*list));

	if (!list)
		return false;
	names->by_number = list;
	list[names->count++] = bone;
	return true;
}

static bool bones_refuse_twice(const struct reading *r, const struct bone *first,
			       const struct bone *second, const char *what)
{
	err_at(r->err, ERR_TEXT, second->at, second->length,
	       "the %s of bone 0x%X is listed twice, first in line %zu", what, second->number,
	       err_locate(r->table.text, first->at).line);
	return false;
}

static bool sort_names(const struct reading *r)
{
	struct bone_names *n = r->names;
	size_t size = n->count * sizeof(struct bone);

	if (n->count == 0)
		return true;
	n->by_name = malloc(size);
	if (!n->by_name)
		return err_memory(r->err);
	memcpy(n->by_name, n->by_number, size);
	qsort(n->by_number, n->count, sizeof(struct bone), by_number);
	qsort(n->by_name, n->count, sizeof(struct bone), by_name);
	for (size_t i = 1; i < n->count; i++) {
		const struct bone *a = &n->by_number[i - 1], *b = &n->by_name[i - 1];

		if (a[0].number == a[1].number)
			return bones_refuse_twice(r, &a[0], &a[1], "number");
		if (strcmp(b[0].name, b[1].name) == 0)
			return bones_refuse_twice(r, &b[0], &b[1], "name");
	}
	return true;
}

static bool bones_read_table(struct reading *r)
{
	if (!table_header(&r->table, &form, r->err))
		return false;
	while (table_row(&r->table, r->err) && !r->table.done) {
		if (!table_read(&r->table, r))
			return false;
		if (!bones_add(r->names, r->bone))
			return err_memory(r->err);
	}
	return r->table.done && sort_names(r);
}

struct bone_names *bone_names_read(struct bytes text, const struct format *format, struct err *err)
{
	struct reading r = {.format = format, .err = err};
	bool fine;

	r.names = calloc(1, sizeof(*r.names));
	if (!r.names) {
		err_memory(err);
		return NULL;
	}
	fine = table_open(&r.table, text, err) && bones_read_table(&r);
	table_close(&r.table);
	if (fine)
		return r.names;
	bone_names_free(r.names);
	return NULL;
}

void bone_names_free(struct bone_names *names)
{
	if (!names)
		return;
	arena_release(&names->arena);
	free(names->by_number);
	free(names->by_name);
	free(names);
}

/* ---- asking ---- */

static int compare_number(const void *key, const void *element)
{
	uint32_t number = *(const uint32_t *)key, other = ((const struct bone *)element)->number;

	return number < other ? -1 : number > other;
}

static int compare_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct bone *)element)->name);
}

static const struct bone *find_number(const struct bone_names *names, uint32_t number)
{
	if (!names || names->count == 0)
		return NULL;
	return bsearch(&number, names->by_number, names->count, sizeof(struct bone),
		       compare_number);
}

const char *bone_name(const struct format *format, const struct bone_names *names,
		      struct arena *arena, uint32_t number)
{
	const struct bone *bone = find_number(names, number);

	char name[PLAIN_NAME_MAX];

	if (bone)
		return bone->name;
	return arena_text(arena, name, plain_name(name, format->bone_name, number));
}

bool bone_number(const struct format *format, const struct bone_names *names, const char *name,
		 uint32_t *number)
{
	const struct bone *bone = NULL;

	if (names && names->count > 0)
		bone = bsearch(name, names->by_name, names->count, sizeof(struct bone),
			       compare_name);
	if (bone) {
		*number = bone->number;
		return true;
	}
	return plain_number(format, name, number) && !find_number(names, *number);
}
