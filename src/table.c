/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include "num.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* A row with quotes in it, as libcsv reads it. */
struct table_quoted {
	struct csv_parser parser;
	struct buf content; /* the cells' texts; reserved once, so that pointers into it stay */
	struct table *table;
	size_t begin, at; /* byte offsets: of the current cell, and of the byte being read */
	bool row_ended, failed;
};

static bool is_line_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

static bool is_space(const struct table *t, uint8_t c)
{
	return c == ' ' || (c == '\t' && t->separator != '\t');
}

static inline void trim(const struct table *t, size_t *begin, size_t *end)
{
	while (*begin < *end && is_space(t, t->text.data[*begin]))
		++*begin;
	while (*begin < *end && is_space(t, t->text.data[*end - 1]))
		--*end;
}

/* How many bytes the UTF-8 character at p has, 0 when it is none: RFC 3629, surrogates are none. */
static size_t utf8_length(const uint8_t *p, size_t left)
{
	static const struct {
		uint8_t lead_from, lead_to, second_from, second_to, length;
	} forms[] = {
		{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t length = forms[i].length;

		if (p[0] < forms[i].lead_from || p[0] > forms[i].lead_to)
			continue;
		if (length > left)
			return 0;
		if (length > 1 && (p[1] < forms[i].second_from || p[1] > forms[i].second_to))
			return 0;
		for (size_t k = 2; k < length; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return length;
	}
	return 0;
}

/* Are the eight bytes at p all ASCII other than NUL? */
static bool is_plain_word(const uint8_t *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !((word | ((word - ones) & ~word)) & highs);
}

/* Of the run of bytes from `at` on that are not ASCII. */
static size_t foreign_length(struct bytes text, size_t at)
{
	size_t end = at;

	while (end < text.size && text.data[end] >= 0x80)
		end++;
	return end - at;
}

static bool check_encoding(struct bytes text, struct err *err)
{
	size_t at = 0;

	while (at < text.size) {
		size_t length;

		if (text.size - at >= 8 && is_plain_word(text.data + at)) {
			at += 8;
			continue;
		}
		length = utf8_length(text.data + at, text.size - at);
		if (!length && text.data[at] == 0)
			return err_at(err, ERR_TEXT, at, 1, "there is a NUL byte in the text");
		if (!length) {
			err_at(err, ERR_TEXT, at, foreign_length(text, at), "this is not UTF-8");
			return err_accept(err, "text saved as UTF-8");
		}
		at += length;
	}
	return true;
}

static char find_separator(struct bytes text, size_t at)
{
	while (at < text.size && is_line_end(text.data[at]))
		at++;
	for (; at < text.size && !is_line_end(text.data[at]); at++)
		if (text.data[at] == ',' || text.data[at] == ';' || text.data[at] == '\t')
			return (char)text.data[at];
	return ',';
}

bool table_open(struct table *t, struct bytes text, struct err *err)
{
	static const uint8_t bom[] = {0xef, 0xbb, 0xbf};

	*t = (struct table){.text = text};
	if (!check_encoding(text, err))
		return false;
	if (text.size >= sizeof(bom) && memcmp(text.data, bom, sizeof(bom)) == 0)
		t->next = sizeof(bom);
	t->separator = find_separator(text, t->next);
	t->stops[(uint8_t)t->separator] = true;
	t->stops['\n'] = t->stops['\r'] = t->stops['"'] = true;
	return true;
}

void table_close(struct table *t)
{
	if (t->quoted) {
		csv_free(&t->quoted->parser);
		buf_release(&t->quoted->content);
		free(t->quoted);
	}
	free(t->cells);
	*t = (struct table){.done = true};
}

/* No spreadsheet has more columns; a text of nothing but separators would take all memory. */
#define CELLS_MAX 65536u

static bool add_cell(struct table *t, struct cell cell)
{
	struct cell *cells;

	if (t->count == CELLS_MAX)
		return false;
	cells = array_room(t->cells, t->count, &t->room, sizeof(*cells));
	if (!cells)
		return false;
	t->cells = cells;
	cells[t->count++] = cell;
	return true;
}

/* Says why a cell could not be added. */
static bool refuse_cell(const struct table *t, struct err *err)
{
	if (t->count < CELLS_MAX)
		return err_memory(err);
	return err_at(err, ERR_TEXT, t->cells[CELLS_MAX - 1].at, 0,
		      "this row has more than %u cells", CELLS_MAX);
}

static bool add_plain_cell(struct table *t, size_t begin, size_t end)
{
	trim(t, &begin, &end);
	return add_cell(t, (struct cell){.text = (const char *)t->text.data + begin,
					 .size = end - begin,
					 .at = begin,
					 .length = end - begin});
}

/* Reads a row as long as it has no quotes; *quoted tells that one was met and nothing was read. */
static bool plain_row(struct table *t, bool *quoted, struct err *err)
{
	const uint8_t *data = t->text.data;
	size_t size = t->text.size;
	size_t begin = t->next, at = begin;

	for (;; begin = ++at) {
		while (at < size && !t->stops[data[at]])
			at++;
		*quoted = at < size && data[at] == '"';
		if (*quoted)
			return true;
		if (!add_plain_cell(t, begin, at))
			return refuse_cell(t, err);
		if (at == size || data[at] != (uint8_t)t->separator)
			break;
	}
	t->row_end = at;
	t->next = at < size ? at + 1 : at;
	return true;
}

static void on_cell(void *content, size_t size, void *user)
{
	struct table_quoted *q = user;
	struct table *t = q->table;
	size_t begin = q->begin, end = q->at, from = q->content.size;

	trim(t, &begin, &end);
	if (size)
		buf_add(&q->content, content, size);
	if (q->content.failed ||
	    !add_cell(t, (struct cell){.text = (const char *)q->content.data + from,
				       .size = size,
				       .at = begin,
				       .length = end - begin}))
		q->failed = true;
	q->begin = q->at + 1;
}

static void on_row(int end, void *user)
{
	struct table_quoted *q = user;

	(void)end;
	q->row_ended = true;
}

static bool quoted_new(struct table *t)
{
	struct table_quoted *q = calloc(1, sizeof(*q));

	if (!q)
		return false;
	/* Strict: a quote in the middle of a cell is a fault and not a part of the text. */
	if (csv_init(&q->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
		free(q);
		return false;
	}
	csv_set_delim(&q->parser, (unsigned char)t->separator);
	/* One cell may be the whole rest; growing by small blocks would take quadratic time. */
	csv_set_blk_size(&q->parser, t->text.size);
	q->table = t;
	t->quoted = q;
	return buf_reserve(&q->content, t->text.size);
}

/* Ends the last row of a text that has no line end. */
static bool quoted_finish(struct table *t, struct err *err)
{
	struct table_quoted *q = t->quoted;
	struct position place;

	if (csv_fini(&q->parser, on_cell, on_row, q) == 0)
		return true;
	if (csv_error(&q->parser) != CSV_EPARSE)
		return err_memory(err);
	place = err_locate(t->text, q->begin);
	err_at(err, ERR_TEXT, q->begin, place.end - q->begin,
	       "the quote that begins here is never closed");
	return err_accept(err, "numbers need no quotes");
}

/* Reads a row with quotes, which may go over several lines. */
static bool quoted_row(struct table *t, struct err *err)
{
	struct table_quoted *q;

	if (!t->quoted && !quoted_new(t))
		return err_memory(err);
	q = t->quoted;
	q->row_ended = false;
	q->begin = t->next;
	/* Byte by byte: a cell or row that ends does so at the byte just given. */
	for (q->at = t->next; q->at < t->text.size && !q->row_ended; q->at++) {
		if (csv_parse(&q->parser, t->text.data + q->at, 1, on_cell, on_row, q) == 1)
			continue;
		if (csv_error(&q->parser) != CSV_EPARSE)
			return err_memory(err);
		err_at(err, ERR_TEXT, q->at, 1, "a quote or a text behind one inside a cell");
		return err_accept(err, "numbers need no quotes");
	}
	t->next = q->at;
	t->row_end = q->row_ended ? q->at - 1 : q->at;
	if (!q->row_ended && !quoted_finish(t, err))
		return false;
	return !q->failed || refuse_cell(t, err);
}

static bool is_blank_row(const struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->cells[i].size)
			return false;
	return true;
}

bool table_row(struct table *t, struct err *err)
{
	do {
		bool quoted;

		t->count = 0;
		t->done = t->next >= t->text.size;
		if (t->done)
			return true;
		if (!plain_row(t, &quoted, err))
			return false;
		if (quoted) {
			t->count = 0;
			if (!quoted_row(t, err))
				return false;
		}
	} while (is_blank_row(t));
	t->blank = (struct cell){.text = "", .at = t->row_end};
	return true;
}

/* ---- what a cell says ---- */

struct excerpt cell_excerpt(const struct cell *cell)
{
	struct excerpt e;
	size_t size = cell->size;

	if (size >= sizeof(e.text))
		size = sizeof(e.text) - 1;
	while (size < cell->size && size > 0 && ((uint8_t)cell->text[size] & 0xc0) == 0x80)
		size--;
	for (size_t i = 0; i < size; i++)
		e.text[i] = (uint8_t)cell->text[i] < ' ' ? ' ' : cell->text[i];
	e.text[size] = '\0';
	return e;
}

/* The decimal point of a cell: a comma can be one where it does not separate cells. */
static char point_of(const struct table *t, const struct cell *cell)
{
	return t->separator != ',' && memchr(cell->text, ',', cell->size) ? ',' : '.';
}

bool table_number(const struct table *t, const struct cell *cell, double *out)
{
	return num_parse_value(cell->text, cell->size, point_of(t, cell), out);
}

static bool is_month(const char *text, size_t size)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";

	for (size_t i = 0; size >= 3 && i < sizeof(months) - 1; i += 3)
		if (strncasecmp(text, months + i, 3) == 0)
			return true;
	return false;
}

/* A day, month, year, hour ... in digits. */
static bool is_calendar_number(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return size == 1 || size == 2 || size == 4;
}

/*
 * "date" or "clock time" where a cell looks like one, otherwise NULL: 01/02/26, 2.1.2026, 3-Jan,
 * 12:30. Two numbers with a dot between them are no date, nor are numbers with nothing but spaces.
 */
static const char *calendar_look(const struct cell *cell)
{
	const char *end = cell->text + cell->size;
	unsigned parts = 0, months = 0, colons = 0, marks = 0;

	for (const char *p = cell->text; p < end; p++) {
		const char *part = p;

		while (p < end && !strchr("/:.- ", *p))
			p++;
		parts++;
		if (is_month(part, (size_t)(p - part)))
			months++;
		else if (!is_calendar_number(part, (size_t)(p - part)))
			return NULL;
		colons += p < end && *p == ':';
		marks += p < end && strchr("/-", *p) != NULL;
	}
	if (colons && parts > 1)
		return "clock time";
	return (months && parts > 1) || (marks && parts > 1) ||
			       (parts == 3 && !memchr(cell->text, ' ', cell->size))
		       ? "date"
		       : NULL;
}

static bool accept_names(const char *const *names, size_t count, struct err *err)
{
	struct buf list = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		buf_format(&list, "%s%s", i ? ", " : "", names[i]);
	buf_char(&list, '\0');
	if (!list.failed)
		err_accept(err, "%s", (const char *)list.data);
	buf_release(&list);
	return false;
}

static bool name_column(const struct table *t, size_t i, const char *const *names, size_t count,
			size_t *place, struct err *err)
{
	const struct cell *cell = &t->cells[i];
	size_t column = 0;

	if (cell->size == 0)
		return true;
	while (column < count && !cell_is(cell, names[column]))
		column++;
	if (column == count) {
		err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a column",
		       cell_excerpt(cell).text);
		return accept_names(names, count, err);
	}
	if (place[column] != TABLE_NOWHERE)
		return err_at(err, ERR_TEXT, cell->at, cell->length, "the column %s is there twice",
			      names[column]);
	place[column] = i;
	return true;
}

bool table_header(struct table *t, const char *const *names, size_t count, unsigned required,
		  size_t *place, struct err *err)
{
	if (!table_row(t, err))
		return false;
	if (t->count == 0)
		return err_set(err, ERR_EMPTY, "the text is empty");
	for (size_t i = 0; i < count; i++)
		place[i] = TABLE_NOWHERE;
	for (size_t i = 0; i < t->count; i++)
		if (!name_column(t, i, names, count, place, err))
			return false;
	for (size_t i = 0; i < count; i++) {
		if (place[i] != TABLE_NOWHERE || !(required & 1u << i))
			continue;
		err_at(err, ERR_TEXT, t->cells[0].at, t->row_end - t->cells[0].at,
		       "there is no column %s", names[i]);
		return accept_names(names, count, err);
	}
	return true;
}

bool table_frame(const struct table *t, const struct cell *cell, uint32_t *out)
{
	return num_parse_frame(cell->text, cell->size, point_of(t, cell), out);
}

bool table_refuse_number(const struct cell *cell, const char *what, struct err *err)
{
	const char *look = calendar_look(cell);

	if (look)
		return err_at(err, ERR_TEXT, cell->at, cell->length,
			      "\"%s\" looks like a %s that a spreadsheet made of a number",
			      cell_excerpt(cell).text, look);
	return err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a %s",
		      cell_excerpt(cell).text, what);
}

size_t table_column(const struct table *t, size_t at)
{
	bool quoted = false;
	size_t column = 1;

	for (size_t i = 0; i < at && i < t->text.size; i++) {
		char c = (char)t->text.data[i];

		if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '\n' || c == '\r'))
			column = 1;
		else if (!quoted && c == t->separator)
			column++;
	}
	return column;
}

void table_tell_place(const struct table *t, struct err *err)
{
	if (!err || !err->placed)
		return;
	err->column = table_column(t, err->at);
	if (err->code == ERR_TEXT && err->at + err->length >= t->text.size)
		err->code = ERR_EARLY;
}
