/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - splits a CSV text into rows of cells, whatever dialect a spreadsheet wrote.
 *
 * UTF-8 with or without a BOM; rows end in LF, CRLF or CR; the separator is the first of comma,
 * semicolon and TAB in the first row; cells may be quoted and may have spaces around them.
 *
 *	struct table t;
 *	bool ok = table_open(&t, text, err);
 *	while (ok && !t.done) {
 *		ok = table_row(&t, err);
 *		... t.cells[0 .. t.count - 1], none at the end of the text ...
 *	}
 *	table_close(&t);
 *
 * Only the current row is held, so memory does not grow with the text.
 */
#ifndef ANIMFS_VIEW_TABLE_H
#define ANIMFS_VIEW_TABLE_H

#include "animfs/base.h"
#include <string.h>

struct cell {
	const char *text; /* without quotes and the spaces around it; not NUL-terminated */
	size_t size;
	size_t at, length; /* where it stands in the whole text, quotes included */
};

struct table {
	struct bytes text;
	char separator;
	bool done;          /* there are no more rows */
	struct cell *cells; /* of the current row; valid until the next */
	size_t count;
	size_t row_end;    /* byte offset behind the current row's last cell */
	struct cell blank; /* stands there, for the cells that a short row has not */

	/* private */
	size_t room;
	size_t next;                 /* byte offset of the next row */
	bool stops[256];             /* bytes that end a run of a cell's own */
	struct table_quoted *quoted; /* libcsv, once a quote was met */
};

/* False when the text is not UTF-8 without NUL bytes. table_close is right after either. */
bool table_open(struct table *t, struct bytes text, struct err *err);
/* The next row that has a cell which is not blank; at the end of the text count is 0. */
bool table_row(struct table *t, struct err *err);
void table_close(struct table *t);
/*
 * The first row, as the names of columns: place[i] is where `names[i]` stands, or TABLE_NOWHERE,
 * which table_cell takes for a blank. A name that is not one of the `count`, or that is there
 * twice, is refused, and so is a text without one whose bit is set in `required`.
 */
#define TABLE_NOWHERE SIZE_MAX
bool table_header(struct table *t, const char *const *names, size_t count, unsigned required,
		  size_t *place, struct err *err);

/* As errors and keys keep it: of an absurdly long cell the beginning. */
static inline uint16_t cell_length(const struct cell *cell)
{
	return (uint16_t)(cell->length < UINT16_MAX ? cell->length : UINT16_MAX);
}

static inline bool cell_is(const struct cell *cell, const char *text)
{
	return cell->size == strlen(text) && memcmp(cell->text, text, cell->size) == 0;
}

/* The i-th cell; a blank one at the row's end where the row has fewer. */
static inline const struct cell *table_cell(const struct table *t, size_t i)
{
	return i < t->count ? &t->cells[i] : &t->blank;
}

/*
 * A cell's number, as a double that rounds to the same float32 as the text does. Where commas do
 * not separate cells they may be decimal points.
 */
bool table_number(const struct table *t, const struct cell *cell, double *out);
bool table_frame(const struct table *t, const struct cell *cell, uint32_t *out);
/* Refuses a cell that is not a `what`, and tells a date that was one. Returns false. */
bool table_refuse_number(const struct cell *cell, const char *what, struct err *err);

/* The column, from 1 as a spreadsheet counts, of the cell that stands at this byte offset. */
size_t table_column(const struct table *t, size_t at);

/*
 * Says in which column the fault is. One at the very end of a text, with no line end behind it, may
 * be no fault of the rest.
 */
void table_tell_place(const struct table *t, struct err *err);

/* A cell's text for a message: short, without control bytes, cut on a character. */
struct excerpt {
	char text[48];
};
struct excerpt cell_excerpt(const struct cell *cell);

#endif
