/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A packet is little-endian, the table in it big-endian:
 *
 *   packet      0x00  signature, 4 bytes
 *               0x04  u32 flags
 *               0x08  u64 n, bytes that follow
 *
 *   table       0x00  "@UTF"
 *               0x04  u32 size of what follows; all offsets count from here, 0x08:
 *               0x00  u16 version; its low byte is 0 where strings are Shift_JIS (CP932)
 *               0x02  u16 rows
 *               0x04  u32 strings, the first of which is "<NULL>"
 *               0x08  u32 blobs
 *               0x0C  u32 name of the table, in the strings
 *               0x10  u16 number of columns
 *               0x12  u16 width of a row
 *               0x14  u32 number of rows
 *               0x18  the columns
 *
 *   column            u8 storage and type, u32 name, and for storage 0x30 the value
 *
 * Storage 0x10: all rows have nothing; 0x30: all have the value that follows; 0x50: each row has
 * its own, in the order of the columns. Types: 0 to 7 are u8 s8 u16 s16 u32 s32 u64 s64, 8 f32, 9
 * f64, 10 a string (u32 offset in the strings), 11 a blob (u32 offset in the blobs, u32 size), 12
 * sixteen bytes.
 *
 * A table that does not begin with "@UTF" is masked: byte i is XORed with the low byte of k_i,
 * k_0 = 0x655F, k_i+1 = k_i * 0x4115.
 */
#include "cpk_table.h"

#define PACKET_SIZE 16
#define UTF_SIZE 8
#define HEADER_SIZE 0x18

enum storage { STORED_NOT = 0x10, STORED_ONCE = 0x30, STORED_IN_ROWS = 0x50 };
enum { TYPE_S64 = 7, TYPE_STRING = 10, TYPE_BLOB = 11, TYPE_COUNT = 13 };

struct cpk_column {
	const char *name;
	enum storage storage;
	unsigned type;
	/* offset of the column's values: in src if all rows share one, else in each row */
	uint32_t at;
};

static const uint8_t type_sizes[TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4, 8, 16};

static uint64_t get_be(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v = v << 8 | p[i];
	return v;
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be(p, 4);
}

/* Sets an error at an offset of the table. */
#define FAULT(t, offset, size, ...)                                                                \
	err_at(err, ERR_FORMAT, (size_t)((t)->place + (offset)), size, __VA_ARGS__)

/* ---- columns ---- */

static bool check_string(const struct cpk_table *t, uint32_t from, uint64_t offset,
			 const char **out, struct err *err)
{
	if (offset >= t->strings_end - t->strings)
		return FAULT(t, from, 4, "a string lies outside the table's strings");
	*out = (const char *)t->src.data + t->strings + offset;
	return true;
}

/*
 * Reads the description of a column at *at, and advances *at. *width is the size of the row so far.
 */
static bool read_column(const struct cpk_table *t, uint32_t *at, uint32_t *width,
			struct cpk_column *c, struct err *err)
{
	const uint8_t *p = t->src.data + *at;
	unsigned size;

	if (*at > t->row_begin || t->row_begin - *at < 5)
		return FAULT(t, *at, 0, "the columns do not fit before the rows");
	c->storage = (enum storage)(p[0] & 0xF0);
	c->type = p[0] & 0x0F;
	if (c->type >= TYPE_COUNT)
		return FAULT(t, *at, 1, "a column has type %u, which is unknown", c->type);
	if (c->storage != STORED_NOT && c->storage != STORED_ONCE && c->storage != STORED_IN_ROWS)
		return FAULT(t, *at, 1, "a column is stored in the unknown way 0x%02X", c->storage);
	if (!check_string(t, *at + 1, get_be32(p + 1), &c->name, err))
		return false;
	size = type_sizes[c->type];
	*at += 5;
	c->at = c->storage == STORED_IN_ROWS ? *width : *at;
	if (c->storage == STORED_ONCE && t->row_begin - *at < size)
		return FAULT(t, *at, 0, "the columns do not fit before the rows");
	*at += c->storage == STORED_ONCE ? size : 0;
	*width += c->storage == STORED_IN_ROWS ? size : 0;
	return *width <= t->row_width ||
	       FAULT(t, 0x12, 2, "the columns do not fit into rows of %u bytes", t->row_width);
}

static bool read_columns(struct cpk_table *t, struct err *err)
{
	uint32_t at = HEADER_SIZE, width = 0;

	/* A column description takes at least 5 bytes. */
	if (t->column_count > (t->row_begin - HEADER_SIZE) / 5)
		return FAULT(t, 0x10, 2, "%u columns do not fit before the rows", t->column_count);
	t->columns = arena_alloc(t->arena, t->column_count, sizeof(*t->columns));
	if (!t->columns)
		return err_memory(err);
	for (uint16_t i = 0; i < t->column_count; i++) {
		if (!read_column(t, &at, &width, &t->columns[i], err))
			return false;
	}
	return true;
}

/* ---- the table ---- */

static bool read_parts(struct cpk_table *t, struct err *err)
{
	const uint8_t *p = t->src.data;

	t->utf8 = p[1] != 0;
	t->row_begin = (uint32_t)get_be(p + 2, 2);
	t->strings = get_be32(p + 4);
	t->blobs = get_be32(p + 8);
	t->column_count = (uint16_t)get_be(p + 0x10, 2);
	t->row_width = (uint32_t)get_be(p + 0x12, 2);
	t->rows = get_be32(p + 0x14);
	if (t->row_begin < HEADER_SIZE || t->row_begin > t->strings)
		return FAULT(t, 2, 2, "the rows begin outside the table");
	if (t->strings > t->blobs || t->blobs > t->src.size)
		return FAULT(t, 4, 4, "the strings lie outside the table");
	if (t->rows > t->src.size)
		return FAULT(t, 0x14, 4, "%u rows do not fit into a table of %zu bytes", t->rows,
			     t->src.size);
	if ((uint64_t)t->rows * t->row_width > t->strings - t->row_begin)
		return FAULT(t, 0x14, 4, "%u rows of %u bytes do not fit before the strings",
			     t->rows, t->row_width);
	t->strings_end = t->blobs;
	while (t->strings_end > t->strings && p[t->strings_end - 1] != 0)
		t->strings_end--;
	return read_columns(t, err);
}

static void unmask(uint8_t *block, size_t size)
{
	uint32_t key = 0x655F;

	for (size_t i = 0; i < size; i++, key *= 0x4115)
		block[i] ^= (uint8_t)key;
}

/* Parses a table; `block` may have more bytes after it. */
static bool cpk_table_parse(struct cpk_table *t, uint8_t *block, size_t size, struct err *err)
{
	uint32_t stored;

	if (size < UTF_SIZE + HEADER_SIZE)
		return FAULT(t, 0, size, "a table of %zu bytes is too short", size);
	if (memcmp(block, "@UTF", 4) != 0)
		unmask(block, size);
	if (memcmp(block, "@UTF", 4) != 0)
		return FAULT(t, 0, 4, "a table does not begin with @UTF, plain or masked");
	stored = get_be32(block + 4);
	if (stored < HEADER_SIZE || stored > size - UTF_SIZE)
		return FAULT(t, 4, 4, "a table of %u bytes does not fit into its %zu", stored,
			     size - UTF_SIZE);
	t->src = (struct bytes){block + UTF_SIZE, stored};
	t->place += UTF_SIZE;
	return read_parts(t, err);
}

bool cpk_table_read(struct archive *a, uint64_t at, const char signature[5], struct cpk_table *out,
		    struct err *err)
{
	uint8_t packet[PACKET_SIZE], *block;
	const int length = (int)strcspn(signature, " ");
	uint64_t size;

	if (!input_holds(&a->in, at, PACKET_SIZE))
		return err_at(err, ERR_FORMAT, (size_t)at, 0, "the file ends before its %.*s table",
			      length, signature);
	if (!input_read(&a->in, at, packet, sizeof(packet), err))
		return false;
	if (memcmp(packet, signature, 4) != 0)
		return err_at(err, ERR_FORMAT, (size_t)at, 4, "there is no %.*s table here", length,
			      signature);
	at += PACKET_SIZE;
	size = get_u32(packet + 8) | (uint64_t)get_u32(packet + 12) << 32;
	if (!input_holds(&a->in, at, size))
		return err_at(err, ERR_FORMAT, (size_t)at - 8, 8,
			      "the file ends inside its %.*s table", length, signature);
	if (size > a->limit || a->arena.total > a->limit - (size_t)size)
		return err_at(
			err, ERR_FORMAT, (size_t)at - 8, 8,
			"a %.*s table of %llu bytes takes more memory than %zu bytes, the limit",
			length, signature, (unsigned long long)size, a->limit);
	block = arena_alloc(&a->arena, (size_t)size, 1);
	if (!block)
		return err_memory(err);
	*out = (struct cpk_table){.place = at, .arena = &a->arena};
	return input_read(&a->in, at, block, (size_t)size, err) &&
	       cpk_table_parse(out, block, (size_t)size, err);
}

/* ---- values ---- */

const struct cpk_column *cpk_column(const struct cpk_table *t, const char *name)
{
	for (uint16_t i = 0; i < t->column_count; i++) {
		if (strcmp(t->columns[i].name, name) == 0)
			return &t->columns[i];
	}
	return NULL;
}

/* Returns where a value is in src; 0 if nothing is stored for it. */
static uint32_t value_place(const struct cpk_table *t, const struct cpk_column *c, uint32_t row)
{
	if (c->storage == STORED_NOT)
		return 0;
	return c->storage == STORED_ONCE ? c->at : t->row_begin + row * t->row_width + c->at;
}

bool cpk_number(const struct cpk_table *t, const struct cpk_column *c, uint32_t row, uint64_t *out,
		struct err *err)
{
	uint32_t at = value_place(t, c, row);

	*out = 0;
	if (c->type > TYPE_S64)
		return FAULT(t, at, 0, "the column %s has no whole numbers", c->name);
	if (at)
		*out = get_be(t->src.data + at, type_sizes[c->type]);
	return true;
}

bool cpk_optional(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		  uint64_t otherwise, uint64_t *out, struct err *err)
{
	uint64_t ones;

	*out = otherwise;
	if (!c)
		return true;
	if (!cpk_number(t, c, row, out, err))
		return false;
	ones = UINT64_MAX >> (64 - 8 * type_sizes[c->type]);
	if (*out == 0 || *out == ones)
		*out = otherwise;
	return true;
}

bool cpk_string(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		const char **out, struct err *err)
{
	uint32_t at = value_place(t, c, row);

	*out = "";
	if (c->type != TYPE_STRING)
		return FAULT(t, at, 0, "the column %s has no strings", c->name);
	return !at || check_string(t, at, get_be32(t->src.data + at), out, err);
}

bool cpk_table_nested(struct archive *a, const struct cpk_table *outer, const char *column,
		      struct cpk_table *out, bool *found, struct err *err)
{
	const struct cpk_column *c = cpk_column(outer, column);
	uint32_t at = c ? value_place(outer, c, 0) : 0, offset, size;
	uint8_t *copy;

	*found = false;
	if (!at)
		return true;
	if (c->type != TYPE_BLOB)
		return FAULT(outer, at, 0, "the column %s has no blobs", column);
	offset = get_be32(outer->src.data + at);
	size = get_be32(outer->src.data + at + 4);
	if (size == 0)
		return true;
	if (!bytes_hold(outer->src, (uint64_t)outer->blobs + offset, size, 1))
		return FAULT(outer, at, 8, "the table %s lies outside the blobs", column);
	copy = arena_alloc(&a->arena, size, 1);
	if (!copy)
		return err_memory(err);
	memcpy(copy, outer->src.data + outer->blobs + offset, size);
	*out = (struct cpk_table){.place = outer->place + outer->blobs + offset,
				  .arena = &a->arena};
	*found = true;
	return cpk_table_parse(out, copy, size, err);
}
