/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include "num.h"
#include "util/nearest.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static bool table_is_line_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

/* A first line "sep=;" sets the separator; it may be quoted, or be followed by blank cells. */
static bool read_separator(struct table *t)
{
	const char *p = (const char *)t->text.data + t->next;
	size_t left = t->text.size - t->next, i = left > 0 && *p == '"';

	if (left < i + 5 || strncasecmp(p + i, "sep=", 4) != 0 || !strchr(",;\t|", p[i + 4]))
		return false;
	t->separator = p[i + 4];
	i += 5;
	while (i < left && (p[i] == t->separator || p[i] == '"'))
		i++;
	if (i < left && !table_is_line_end((uint8_t)p[i]))
		return false;
	t->next += i;
	return true;
}

static char find_separator(struct bytes text, size_t at)
{
	while (at < text.size && table_is_line_end(text.data[at]))
		at++;
	for (; at < text.size && !table_is_line_end(text.data[at]); at++)
		if (text.data[at] == ',' || text.data[at] == ';' || text.data[at] == '\t')
			return (char)text.data[at];
	return ',';
}

static bool check_encoding(struct bytes text, struct err *err)
{
	size_t at = utf8_fault(text), end = at;

	if (at == text.size)
		return true;
	if (text.data[at] == 0)
		return err_at(err, ERR_TEXT, at, 1, "there is a NUL byte in the text");
	while (end < text.size && text.data[end] >= 0x80)
		end++;
	err_at(err, ERR_TEXT, at, end - at, "this is not UTF-8");
	return err_accept(err, "text saved as UTF-8, or as UTF-16 with a byte order mark");
}

bool table_open(struct table *t, struct bytes text, struct err *err)
{
	*t = (struct table){.decoded = BUF_INIT};
	t->text = utf8_text(text, &t->decoded);
	if (t->decoded.failed)
		return err_memory(err);
	if (!check_encoding(t->text, err))
		return false;
	t->next = utf8_mark(t->text);
	if (!read_separator(t))
		t->separator = find_separator(t->text, t->next);
	t->stops[(uint8_t)t->separator] = true;
	t->stops['\n'] = t->stops['\r'] = t->stops['"'] = true;
	return true;
}

void table_close(struct table *t)
{
	free(t->cells);
	buf_release(&t->content);
	buf_release(&t->decoded);
	*t = (struct table){.done = true};
}

/* ---- cells ---- */

static bool table_is_space(const struct table *t, uint8_t c)
{
	return c == ' ' || (c == '\t' && t->separator != '\t');
}

/*
 * Limit of cells in a row, more than any spreadsheet has: a text of only separators would otherwise
 * take all memory.
 */
#define CELLS_MAX (8 * sizeof(((struct table *)0)->named))

static bool add_cell(struct table *t, const struct cell *cell, struct err *err)
{
	struct cell *cells;

	if (t->count == CELLS_MAX)
		return err_at(err, ERR_TEXT, t->cells[CELLS_MAX - 1].at, 0,
			      "this row has more than %zu cells", CELLS_MAX);
	cells = array_room(t->cells, t->count, &t->room, sizeof(*cells));
	if (!cells)
		return err_memory(err);
	t->cells = cells;
	cells[t->count++] = *cell;
	return true;
}

static bool add_plain(struct table *t, size_t begin, size_t end, struct err *err)
{
	const uint8_t *data = t->text.data;
	struct cell cell;

	while (begin < end && table_is_space(t, data[begin]))
		begin++;
	while (begin < end && table_is_space(t, data[end - 1]))
		end--;
	cell = (struct cell){.text = (const char *)data + begin,
			     .size = end - begin,
			     .at = begin,
			     .length = end - begin};
	return add_cell(t, &cell, err);
}

static bool refuse_quote(size_t at, struct err *err)
{
	err_at(err, ERR_TEXT, at, 1, "a quote or a text behind one inside a cell");
	return err_accept(err, "numbers need no quotes");
}

static bool refuse_open_quote(const struct table *t, size_t quote, struct err *err)
{
	struct position place = err_locate(t->text, quote);

	err_at(err, ERR_TEXT, quote, place.end - quote,
	       "the quote that begins here is never closed");
	return err_accept(err, "numbers need no quotes");
}

/* A doubled quote inside quotes is one quote. */
static bool join_quotes(struct table *t, struct cell *cell, struct err *err)
{
	const char *from = cell->text, *end = from + cell->size;
	uint8_t *to;

	/* Reserve room for all cells at once, so that the text of earlier cells does not move. */
	if (!buf_reserve(&t->content, t->content.size ? cell->size : t->text.size))
		return err_memory(err);
	cell->text = (const char *)t->content.data + t->content.size;
	to = t->content.data + t->content.size;
	for (; from < end; from++) {
		*to++ = (uint8_t)*from;
		from += *from == '"';
	}
	cell->size = (size_t)((char *)to - cell->text);
	t->content.size += cell->size;
	return true;
}

/*
 * Adds a quoted cell that begins at `begin`, with its first quote at `quote`; *at gets the end of
 * the cell.
 */
static bool add_quoted(struct table *t, size_t begin, size_t quote, size_t *at, struct err *err)
{
	const uint8_t *data = t->text.data, *end = data + t->text.size, *p = data + quote + 1;
	struct cell cell = {.text = (const char *)p, .at = quote, .quoted = true};
	bool doubled = false;

	while (begin < quote && table_is_space(t, data[begin]))
		begin++;
	if (begin < quote)
		return refuse_quote(quote, err);
	for (;; p += 2, doubled = true) {
		p = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
		if (!p)
			return refuse_open_quote(t, quote, err);
		if (p + 1 == end || p[1] != '"')
			break;
	}
	cell.size = (size_t)((const char *)p - cell.text);
	cell.length = cell.size + 2;
	for (*at = quote + cell.length; *at < t->text.size && table_is_space(t, data[*at]);)
		++*at;
	if (*at < t->text.size && (!t->stops[data[*at]] || data[*at] == '"'))
		return refuse_quote(*at, err);
	return (!doubled || join_quotes(t, &cell, err)) && add_cell(t, &cell, err);
}

/* ---- rows ---- */

static bool read_cells(struct table *t, struct err *err)
{
	const uint8_t *data = t->text.data;
	size_t size = t->text.size, at = t->next;

	t->count = 0;
	t->content.size = 0;
	for (;; at++) {
		size_t begin = at;

		while (at < size && !t->stops[data[at]])
			at++;
		if (!(at < size && data[at] == '"' ? add_quoted(t, begin, at, &at, err)
						   : add_plain(t, begin, at, err)))
			return false;
		if (at == size || data[at] != (uint8_t)t->separator)
			break;
	}
	t->row_end = at;
	t->next = at < size ? at + 1 : at;
	t->blank = (struct cell){.text = "", .at = at};
	return true;
}

/* Blanks the cells of first columns that only count the rows. */
static void drop_index(struct table *t)
{
	bool counted = false;
	uint32_t number;

	for (size_t i = 0; i < t->indexes && i < t->count; i++) {
		if (!table_frame(t, &t->cells[i], &number))
			continue;
		if (t->index == 0 && number == 1 && !counted)
			t->index = 1; /* as R counts */
		if (number != t->index)
			continue;
		t->cells[i].size = 0;
		counted = true;
	}
	t->index += counted;
}

static bool is_blank_row(const struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->cells[i].size)
			return false;
	return true;
}

/* Refuses a cell in a column that has no name, since it would not be read. */
static bool check_named(const struct table *t, struct err *err)
{
	if (!t->form || t->form->may & TABLE_OTHERS)
		return true;
	for (size_t i = t->unnamed; i < t->count; i++) {
		const struct cell *cell = &t->cells[i];

		if (cell->size == 0 || t->named[i / 64] & UINT64_C(1) << i % 64)
			continue;
		err_at(err, ERR_TEXT, cell->at, cell->length,
		       "\"%s\" stands in a column without a name", cell_excerpt(cell).text);
		return err_accept(err, "as many cells as the first line has; between commas, "
				       "decimals have a point or stand in quotes");
	}
	return true;
}

bool table_row(struct table *t, struct err *err)
{
	do {
		t->done = t->next >= t->text.size;
		if (t->done)
			t->count = 0;
		if (t->done)
			return true;
		if (!read_cells(t, err))
			return false;
		drop_index(t);
	} while (is_blank_row(t));
	t->cut = t->row_end == t->text.size && t->count < t->width;
	return check_named(t, err);
}

bool table_read(struct table *t, void *row)
{
	for (unsigned i = 0; i < t->form->count; i++) {
		const struct column *c = &t->form->columns[i];

		t->name = c->name;
		if (c->read &&
		    !c->read(row, t->columns & TABLE_BIT(i) ? table_of(t, i) : NULL, c->what))
			return false;
	}
	t->name = NULL;
	return true;
}

/* ---- columns ---- */

/*
 * Does a cell of the header name a column? "Unnamed: 0" is the name that pandas gives a column
 * without one.
 */
static bool has_name(const struct cell *cell)
{
	static const char unnamed[] = "Unnamed: ";
	size_t size = sizeof(unnamed) - 1;

	return cell->size > 0 && !(cell->size > size && memcmp(cell->text, unnamed, size) == 0);
}

static size_t count_unnamed(const struct table *t)
{
	size_t count = 0;

	while (count < t->count && !has_name(&t->cells[count]))
		count++;
	return count;
}

/* Finds a column by name, in any case. Returns its index, or form->count if there is none. */
static size_t find_column(const struct table_form *form, const struct cell *cell)
{
	size_t i = 0;

	while (i < form->count &&
	       !((form->may & TABLE_BIT(i)) && cell_names(cell, form->columns[i].name)))
		i++;
	return i;
}

static bool accept_names(const struct table_form *form, struct err *err)
{
	struct buf list = BUF_INIT;

	table_write_names(form, ", ", &list);
	buf_char(&list, '\0');
	if (!list.failed)
		err_accept(err, "%s", (const char *)list.data);
	buf_release(&list);
	return false;
}

static bool refuse_column(const struct table_form *form, const struct cell *cell, struct err *err)
{
	struct nearest near = nearest_to(cell->text, cell->size);
	char meant[128];

	for (size_t i = 0; i < form->count; i++) {
		if (form->may & TABLE_BIT(i))
			nearest_offer(&near, form->columns[i].name);
	}
	nearest_text(&near, meant, sizeof(meant));
	err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a column%s",
	       cell_excerpt(cell).text, meant);
	return accept_names(form, err);
}

static bool table_read_name(struct table *t, const struct table_form *form, size_t i,
			    struct err *err)
{
	const struct cell *cell = &t->cells[i];
	size_t column = find_column(form, cell);

	if (!has_name(cell))
		return true;
	if (column == form->count)
		return (form->may & TABLE_OTHERS) || refuse_column(form, cell, err);
	if (t->columns & TABLE_BIT(column))
		return err_at(err, ERR_TEXT, cell->at, cell->length,
			      "the column %s is listed twice", form->columns[column].name);
	t->columns |= TABLE_BIT(column);
	t->place[column] = i;
	t->named[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

bool table_header(struct table *t, const struct table_form *form, struct err *err)
{
	uint64_t missing;

	if (!table_row(t, err))
		return false;
	if (t->count == 0)
		return err_set(err, ERR_EMPTY, "the text is empty");
	for (size_t i = 0; i < form->count; i++)
		t->place[i] = SIZE_MAX;
	for (size_t i = 0; i < t->count; i++)
		if (!table_read_name(t, form, i, err))
			return false;
	t->width = t->count;
	t->form = form;
	t->indexes = count_unnamed(t);
	while (t->unnamed < t->width && has_name(&t->cells[t->unnamed]))
		t->unnamed++;
	missing = form->required & ~t->columns;
	if (!missing)
		return true;
	err_at(err, ERR_TEXT, t->cells[0].at, t->row_end - t->cells[0].at, "there is no column %s",
	       form->columns[__builtin_ctzll(missing)].name);
	return accept_names(form, err);
}

const char *table_ignored(const char *name, struct bytes text)
{
	size_t length = strlen(name);
	struct table t;

	if (length < 4 || strcmp(name + length - 4, ".csv") != 0)
		return NULL;
	if (table_open(&t, text, NULL) && table_row(&t, NULL))
		t.indexes = count_unnamed(&t);
	while (t.indexes && !t.index && !t.done && table_row(&t, NULL))
		;
	length = t.index;
	table_close(&t);
	return length ? "ignored the first column, which has no name and counts the rows; pandas "
			"writes none with to_csv(index=False), R none with row.names=FALSE"
		      : NULL;
}

void table_write_names(const struct table_form *form, const char *between, struct buf *out)
{
	bool first = true;

	for (size_t i = 0; i < form->count; i++) {
		if (!(form->shown & TABLE_BIT(i)))
			continue;
		buf_text(out, first ? "" : between);
		buf_text(out, form->columns[i].name);
		first = false;
	}
}

bool table_take_names(const struct table_form *form, struct bytes *text)
{
	const char *p = (const char *)text->data, *end = p + text->size;
	bool first = true;

	for (size_t i = 0; i < form->count; i++) {
		size_t size = strlen(form->columns[i].name);

		if (!(form->shown & TABLE_BIT(i)))
			continue;
		if ((size_t)(end - p) <= size + 1 || (!first && *p++ != ',') ||
		    memcmp(p, form->columns[i].name, size) != 0)
			return false;
		p += size;
		first = false;
	}
	if (p == end || *p++ != '\n')
		return false;
	*text = (struct bytes){(const uint8_t *)p, (size_t)(end - p)};
	return true;
}

void table_write_row(const struct table_form *form, const void *row, struct buf *out)
{
	for (size_t i = 0; i < form->count; i++) {
		if (i > 0)
			buf_char(out, ',');
		form->columns[i].write(row, form->columns[i].what, out);
	}
	buf_char(out, '\n');
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

/* Returns the decimal point of a cell: a comma if commas do not separate cells, else '.'. */
static char table_point_of(const struct table *t, const struct cell *cell)
{
	return (t->separator != ',' || cell->quoted) && memchr(cell->text, ',', cell->size) ? ','
											    : '.';
}

bool table_number(const struct table *t, const struct cell *cell, double *out)
{
	return num_parse_value(cell->text, cell->size, table_point_of(t, cell), out);
}

static bool is_month(const char *text, size_t size)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";

	for (size_t i = 0; size >= 3 && i < sizeof(months) - 1; i += 3)
		if (strncasecmp(text, months + i, 3) == 0)
			return true;
	return false;
}

/* Could the text be a day, month, year or hour in digits? */
static bool is_calendar_number(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return size == 1 || size == 2 || size == 4;
}

/*
 * "date" or "clock time" if the cell looks like one, else NULL: 01/02/26, 2.1.2026, 3-Jan, 12:30.
 * Two numbers with a dot between them are no date, nor are numbers separated by spaces only.
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

bool table_frame(const struct table *t, const struct cell *cell, uint32_t *out)
{
	return num_parse_frame(cell->text, cell->size, table_point_of(t, cell), out);
}

/*
 * "1,234.5" as a number, without its commas, and with the last of its marks as the point: false if
 * it is not both.
 */
static bool read_both_ways(const struct cell *cell, char without[32], char pointed[32])
{
	size_t a = 0, b = 0;
	double number;

	if (cell->size >= 32 || !memchr(cell->text, ',', cell->size) ||
	    !memchr(cell->text, '.', cell->size))
		return false;
	for (size_t i = 0; i < cell->size; i++) {
		char c = cell->text[i];

		if (c != ',')
			without[a++] = c;
		if (c != '.')
			pointed[b++] = c == ',' ? '.' : c;
	}
	without[a] = pointed[b] = '\0';
	return num_parse(without, a, '.', &number) && num_parse(pointed, b, '.', &number);
}

static bool is_truth(const struct cell *cell)
{
	return cell_names(cell, "true") || cell_names(cell, "false");
}

bool table_refuse_number(const struct table *t, const struct cell *cell, const char *what,
			 struct err *err)
{
	char without[32], pointed[32];
	const char *look = calendar_look(cell), *name = t->name ? t->name : "";
	const char *colon = *name ? ": " : "";

	if (look)
		return err_at(err, ERR_TEXT, cell->at, cell->length,
			      "%s%s\"%s\" looks like a %s that a spreadsheet made of a number",
			      name, colon, cell_excerpt(cell).text, look);
	if (is_truth(cell))
		return err_at(err, ERR_TEXT, cell->at, cell->length,
			      "%s%s\"%s\" is what csvkit makes of 0 and 1, but for -I", name, colon,
			      cell_excerpt(cell).text);
	if (read_both_ways(cell, without, pointed))
		return err_at(err, ERR_TEXT, cell->at, cell->length, "%s%s\"%s\" can be %s or %s",
			      name, colon, cell_excerpt(cell).text, without, pointed);
	return err_at(err, ERR_TEXT, cell->at, cell->length, "%s%s\"%s\" is not a %s", name, colon,
		      cell_excerpt(cell).text, what);
}

/* Names a cell like spreadsheets: letters "A" to "Z", "AA" ..., and the number of the row. */
static void name_cell(size_t column, size_t row, struct err *err)
{
	char letters[8];
	size_t at = sizeof(letters) - 1;

	letters[at] = '\0';
	for (column++; column > 0 && at > 0; column = (column - 1) / 26)
		letters[--at] = (char)('A' + (column - 1) % 26);
	snprintf(err->cell, sizeof(err->cell), "%.4s%zu", letters + at, row % 10000000);
}

/*
 * Returns the column of the cell with the error, in the row that begins at `begin`; SIZE_MAX: none,
 * or several.
 */
static size_t cell_around(struct table *t, size_t begin, const struct err *err)
{
	const struct cell *cell;
	size_t i = 0;
	bool whole;

	t->next = begin;
	whole = read_cells(t, NULL);
	while (i + 1 < t->count && t->cells[i + 1].at <= err->at)
		i++;
	cell = i < t->count ? t->cells + i : NULL;
	if (cell && err->at + err->length <= cell->at + cell->length &&
	    (err->length > 0 || cell->length == 0 || err->at < cell->at + cell->length))
		return i;
	/*
	 * If the next cell could not be read, because of a misplaced quote, the error is in none of
	 * those read.
	 */
	return whole || (cell && err->at < cell->at + cell->length) ? SIZE_MAX : t->count;
}

/*
 * Finds the cell with the error by reading the text again, since its row may no longer be in
 * memory.
 */
static void find_cell(struct table *t, struct err *err)
{
	struct position place = err_locate(t->text, err->at);
	size_t mark = utf8_mark(t->text), first = t->next, column, row = place.line;

	row -= first > mark &&
	       row > 1; /* do not count the line "sep=;", which spreadsheets do not show */
	column = cell_around(t, place.begin < first ? first : place.begin, err);
	if (column == SIZE_MAX)
		return;
	name_cell(column, row, err);
	t->next = first;
	if (table_row(t, NULL) && t->row_end < place.begin && column < t->count)
		snprintf(err->heading, sizeof(err->heading), "%s",
			 cell_excerpt(&t->cells[column]).text);
}

void table_finish_error(const struct table *t, struct err *err)
{
	struct table again;

	if (!err || !err->placed || err->code == ERR_MEMORY)
		return;
	if (err->code == ERR_TEXT && err->at + err->length >= t->text.size)
		err->code = ERR_EARLY;
	/* Only if the error is in a cell, and not at the end of the text. */
	if (!err->cell[0] && err->at < t->text.size && table_open(&again, t->text, NULL)) {
		find_cell(&again, err);
		table_close(&again);
	}
}

bool table_refuse_cut(const struct table *t, struct err *err)
{
	return err_at(err, ERR_EARLY, t->text.size, 0, "the last row ends before its columns do");
}
