/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bones.h"
#include "text/table.h"

#include <stdlib.h>
#include <string.h>

struct bone {
	uint32_t number;
	const char *name;
	size_t at, length; /* of its row in the text */
};

struct bone_names {
	struct arena arena;
	size_t count, room;
	struct bone *by_number, *by_name; /* the same bones, sorted */
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

/* Ascending; of equal ones the first in the text. */
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

/* The text being read, and its two columns. */
struct reading {
	const struct format *format;
	struct table table;
	size_t number_column, name_column;
	struct bone_names *names;
	struct err *err;
};

/* `why` has one %s, for the cell's text. */
static bool bones_refuse_cell(const struct reading *r, const struct cell *cell, const char *why)
{
	return err_at(r->err, ERR_TEXT, cell->at, cell->length, why, cell_excerpt(cell).text);
}

static bool bones_read_header(struct reading *r)
{
	r->number_column = r->name_column = SIZE_MAX;
	if (!table_row(&r->table, r->err))
		return false;
	for (size_t i = 0; i < r->table.count; i++) {
		if (cell_names(&r->table.cells[i], "id"))
			r->number_column = i;
		if (cell_names(&r->table.cells[i], "name"))
			r->name_column = i;
	}
	if (r->number_column != SIZE_MAX && r->name_column != SIZE_MAX)
		return true;
	err_at(r->err, ERR_TEXT, 0, 0, "the first line does not name the columns id and name");
	return err_accept(r->err, "id,name");
}

/* Decimal, hexadecimal after 0x, or the decimal form of a signed 32-bit number. */
static bool bones_read_number(const struct cell *cell, uint32_t *number)
{
	const char *text = cell->text;
	size_t size = cell->size;

	if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return read_digits(text + 2, size - 2, 16, number);
	if (size == 0 || text[0] != '-')
		return read_digits(text, size, 10, number);
	if (!read_digits(text + 1, size - 1, 10, number) || *number > (uint32_t)INT32_MAX + 1)
		return false;
	*number = -*number;
	return true;
}

static bool bones_add(struct bone_names *names, struct bone bone)
{
	struct bone *list = array_room(names->by_number, names->count, &names->room, sizeof(*list));

	if (!list)
		return false;
	names->by_number = list;
	list[names->count++] = bone;
	return true;
}

static bool bones_read(struct reading *r)
{
	const struct cell *number = table_cell(&r->table, r->number_column);
	const struct cell *name = table_cell(&r->table, r->name_column);
	struct bone bone = {.at = number->at, .length = number->length};
	uint32_t other;

	if (!bones_read_number(number, &bone.number)) {
		bones_refuse_cell(r, number, "\"%s\" is not the number of a bone");
		return err_accept(r->err, "a number of 32 bits such as 3888 or 0xF30");
	}
	if (name->size == 0)
		return bones_refuse_cell(r, name, "\"%s\" is not a name");
	bone.name = arena_text(&r->names->arena, name->text, name->size);
	if (!bone.name)
		return err_memory(r->err);
	if (plain_number(r->format, bone.name, &other) && other != bone.number)
		return bones_refuse_cell(r, name, "\"%s\" is the name of another number");
	return bones_add(r->names, bone) || err_memory(r->err);
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
	if (!bones_read_header(r))
		return false;
	while (table_row(&r->table, r->err) && !r->table.done) {
		if (!bones_read(r))
			return false;
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
