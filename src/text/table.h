/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - reads a CSV text of any dialect that a spreadsheet writes, by the names of its
 * columns.
 *
 * UTF-8 with or without a byte order mark, or UTF-16 with one; rows end in LF, CRLF or CR; the
 * separator is that of a first line "sep=;", or the first of comma, semicolon and TAB in the first
 * row; cells may be quoted and may have spaces around them; first columns without a name that count
 * the rows from 0 (pandas' index) or 1 (row names of R) are blank, and so is a number that is NA.
 *
 *	struct table t;
 *	bool fine = table_open(&t, text, err) && table_header(&t, &form, err);
 *
 *	while (fine && table_row(&t, err) && !t.done)
 *		fine = table_read(&t, &row);
 *	table_close(&t);
 *
 * Only the current row is held, so memory does not grow with the text.
 */
#ifndef ANIMFS_TEXT_TABLE_H
#define ANIMFS_TEXT_TABLE_H

#include "animfs/base.h"

struct cell {
	const char *text; /* text of the cell without quotes and surrounding spaces; not
			     NUL-terminated */
	size_t size;
	size_t at, length; /* position of the cell in the whole text, including quotes */
	bool quoted;
};

/* A column that a kind of text has. */
struct column {
	const char *name;
	/*
	 * reads the cell of a row, or NULL if the text has no such column; NULL: the column is
	 * ignored
	 */
	bool (*read)(void *row, const struct cell *cell, unsigned what);
	/* appends the cell of a row; NULL: rows are written by other means */
	void (*write)(const void *row, unsigned what, struct buf *out);
	unsigned what; /* argument for `read` and `write`, which may serve several columns */
};

#define TABLE_BIT(column) (UINT64_C(1) << (column))
/* The columns of a kind of text. The masks have a bit for each. */
#define TABLE_COLUMNS 40
#define TABLE_OTHERS TABLE_BIT(63) /* bit in `may`: columns with unknown names are ignored */
struct table_form {
	const struct column *columns;
	size_t count;      /* number of columns, at most TABLE_COLUMNS */
	uint64_t may;      /* columns that are read */
	uint64_t shown;    /* columns that are written, and named in errors */
	uint64_t required; /* columns that the header must have */
};

struct table {
	struct bytes text; /* UTF-8; byte offsets of errors are relative to this */
	char separator;
	bool done;          /* there are no more rows */
	bool cut;           /* the row has fewer cells than the header, and the text ends with it */
	struct cell *cells; /* cells of the current row; valid until the next row is read */
	size_t count;
	size_t row_end;    /* byte offset of the end of the current row's last cell */
	struct cell blank; /* stands for the missing cells of a short row; has the position of the
			      row's end */
	uint64_t columns;  /* columns that the header has */

	/* fields below are private to table.c */
	const struct table_form *form;
	const char *name; /* name of the column being read */
	size_t width;     /* number of cells of the header */
	size_t unnamed;   /* first column of the header without a name, or the number of columns */
	uint64_t named[1024]; /* bit mask of the columns that have a name */
	size_t place[TABLE_COLUMNS];
	size_t room;
	size_t next;        /* byte offset of the next row */
	bool stops[256];    /* bytes that end an unquoted cell, or begin a quoted one */
	size_t indexes;     /* number of first columns that may only count the rows */
	uint32_t index;     /* number that such a column has in the next row */
	struct buf content; /* unescaped quoted cells; reserved once, so that they do not move */
	struct buf decoded; /* the text as UTF-8, if it was UTF-16 */
};

/*
 * Opens a text. False if it is not UTF-8, or contains NUL bytes. Call table_close in either
 * case.
 */
bool table_open(struct table *t, struct bytes text, struct err *err);
/*
 * Reads the first row as names of columns, in any case. Refuses unknown and repeated names, and a
 * text without a required column. ERR_EMPTY if there is no row.
 */
bool table_header(struct table *t, const struct table_form *form, struct err *err);
/*
 * Reads the next row that is not blank; at the end of the text count is 0. After the header, a cell
 * in a column without a name is refused.
 */
bool table_row(struct table *t, struct err *err);
/* Calls the columns' functions with the row's cells, in order. */
bool table_read(struct table *t, void *row);
void table_close(struct table *t);
/*
 * A sentence for the author of a text of this file name, which was read without an error, about the
 * parts that were ignored. NULL: none, or it is not a .csv.
 */
const char *table_ignored(const char *name, struct bytes text);

/* Write the names of the shown columns, or a row of cells in their order. */
void table_write_names(const struct table_form *form, const char *between, struct buf *out);
void table_write_row(const struct table_form *form, const void *row, struct buf *out);
/*
 * Takes the header from the text if it is, byte by byte, the one that table_write_names writes with
 * commas; returns whether it is.
 */
bool table_take_names(const struct table_form *form, struct bytes *text);

/* Returns the i-th cell; a blank cell if the row is shorter. */
static inline const struct cell *table_cell(const struct table *t, size_t i)
{
	return i < t->count ? &t->cells[i] : &t->blank;
}

/* Returns the cell of a column of the form. */
static inline const struct cell *table_of(const struct table *t, unsigned column)
{
	return table_cell(t, t->place[column]);
}

/* Returns the length of a cell, limited to the UINT16_MAX that errors and keys can store. */
static inline uint16_t cell_length(const struct cell *cell)
{
	return (uint16_t)(cell->length < UINT16_MAX ? cell->length : UINT16_MAX);
}

static inline bool cell_is(const struct cell *cell, const char *text)
{
	return cell->size == strlen(text) && memcmp(cell->text, text, cell->size) == 0;
}

/* Has a cell for a number no number? It is empty, or R's NA. */
static inline bool cell_is_blank(const struct cell *cell)
{
	return cell->size == 0 || (!cell->quoted && cell_is(cell, "NA"));
}

/* Does the cell equal the name of a column, ignoring case? */
static inline bool cell_names(const struct cell *cell, const char *name)
{
	return cell->size == strlen(name) && strncasecmp(cell->text, name, cell->size) == 0;
}

/*
 * Reads a cell as a double that rounds to the same float32 as the text. Where commas do not
 * separate cells, and in quotes, they may be decimal points.
 */
bool table_number(const struct table *t, const struct cell *cell, double *out);
bool table_frame(const struct table *t, const struct cell *cell, uint32_t *out);
/*
 * Refuses a cell that is not a `what`; recognizes dates and truths made of numbers, and numbers
 * with commas between thousands. Returns false.
 */
bool table_refuse_number(const struct table *t, const struct cell *cell, const char *what,
			 struct err *err);

/*
 * Completes the error of a refused text: names the cell (err->cell, err->heading). A fault at the
 * very end of the text becomes ERR_EARLY, since the text may have been cut off there.
 */
void table_finish_error(const struct table *t, struct err *err);
/* Like table_finish_error, for a row that is cut off and changes a value. Returns false. */
bool table_refuse_cut(const struct table *t, struct err *err);

/* Text of a cell for messages: short, without control bytes, cut between characters. */
struct excerpt {
	char text[48];
};
struct excerpt cell_excerpt(const struct cell *cell);

#endif
