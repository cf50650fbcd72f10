/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpk_table.h - the tables of a CPK archive: rows and named columns; each table chooses its
 * columns. cpk_table.c has the layout.
 */
#ifndef ANIMFS_CONTAINER_CPK_TABLE_H
#define ANIMFS_CONTAINER_CPK_TABLE_H

#include "animfs/container.h"

struct cpk_table {
	/* the table from its version on; all offsets in the table count from there */
	struct bytes src;
	uint64_t place; /* offset of the table in the archive, for errors */
	struct arena *arena;
	uint32_t rows;
	bool utf8; /* the strings of the table are UTF-8, otherwise CP932 */
	/* parts of src, as offsets */
	uint32_t row_begin, row_width;
	uint32_t strings, strings_end; /* the end of the strings, after the last NUL */
	uint32_t blobs;
	struct cpk_column *columns;
	uint16_t column_count;
};

/*
 * Reads a packet: its signature, its length and its table, which is unmasked. Memory is allocated
 * in the archive's arena, and counts towards the archive's limit.
 */
bool cpk_table_read(struct archive *a, uint64_t at, const char signature[5], struct cpk_table *out,
		    struct err *err);
/* Parses a table that is a blob in a row of another table. */
bool cpk_table_nested(struct archive *a, const struct cpk_table *outer, const char *column,
		      struct cpk_table *out, bool *found, struct err *err);

/* Returns the column of that name; NULL if there is none. */
const struct cpk_column *cpk_column(const struct cpk_table *t, const char *name);
/* Reads a number. False and err if the column is of another type. */
bool cpk_number(const struct cpk_table *t, const struct cpk_column *c, uint32_t row, uint64_t *out,
		struct err *err);
/* Reads a number; gives `otherwise` if the column is NULL or has no value in this row. */
bool cpk_optional(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		  uint64_t otherwise, uint64_t *out, struct err *err);
/* Reads a string, NUL-terminated, in the table's encoding. */
bool cpk_string(const struct cpk_table *t, const struct cpk_column *c, uint32_t row,
		const char **out, struct err *err);

#endif
