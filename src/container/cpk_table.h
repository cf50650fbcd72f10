/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpk_table.h - the tables of a CPK archive: rows and named columns; each table chooses its
 * columns. cpk_table.c has the layout.
 */
#ifndef ANIMFS_CONTAINER_CPK_TABLE_H
#define ANIMFS_CONTAINER_CPK_TABLE_H

#include "animfs/container.h"

struct cpk_table {
	struct bytes src; /* from the version on, which all offsets in it count from */
	uint64_t place;   /* offset of the table in the archive, for errors */
	struct arena *arena;
	uint32_t rows;
	bool utf8; /* strings of the table are UTF-8; otherwise CP932 */
	/* parts of src */
	uint32_t row_begin, row_width;
	uint32_t strings, strings_end; /* the end: behind the last NUL */
	uint32_t blobs;
	struct cpk_column *columns;
	uint16_t column_count;
};

/*
 * Reads a packet: its signature, its length and its table, which is unmasked. Memory is of the
 * archive's arena, and counts for its limit.
 */
bool cpk_table_read(struct archive *a, uint64_t at, const char signature[5], struct cpk_table *out,
		    struct err *err);
/* A table in a blob of another. */
bool cpk_table_nested(struct archive *a, const struct cpk_table *outer, const char *column,
		      struct cpk_table *out, bool *found, struct err *err);

/* NULL: there is no such column. */
const struct cpk_column *cpk_column(const struct cpk_table *t, const char *name);
/* False and err where the column is of another type. */
bool cpk_number(const struct cpk_table *t, const struct cpk_column *c, uint32_t row, uint64_t *out,
		struct err *err);
/* Reads a number; `otherwise` if the column is NULL, or has no value in this row. */
bool cpk_optional(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		  uint64_t otherwise, uint64_t *out, struct err *err);
/* The stored string, NUL-terminated. */
bool cpk_string(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		const char **out, struct err *err);

#endif
