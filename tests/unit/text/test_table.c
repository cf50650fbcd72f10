/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the rows of a text, each cell in brackets and each row followed by a bar; "!" if the text
 * is refused.
 */
static const char *rows_of(struct bytes text, struct err *err)
{
	static struct buf out;
	struct table t;
	bool ok = table_open(&t, text, err);

	buf_clear(&out);
	while (ok && !t.done) {
		ok = table_row(&t, err);
		for (size_t i = 0; ok && i < t.count; i++) {
			buf_char(&out, '[');
			buf_add(&out, t.cells[i].text, t.cells[i].size);
			buf_char(&out, ']');
		}
		if (ok && t.count)
			buf_char(&out, '|');
	}
	if (!ok)
		buf_char(&out, '!');
	buf_char(&out, '\0');
	table_close(&t);
	return (const char *)out.data;
}

static void expect_rows(const char *text, const char *rows)
{
	struct err err = {0};

	ck_assert_str_eq(rows_of(bytes_of(text), &err), rows);
}

START_TEST(rows_end_in_any_line_end)
{
	expect_rows("a,b\n1,2\n", "[a][b]|[1][2]|");
	expect_rows("a,b\r\n1,2\r\n", "[a][b]|[1][2]|");
	expect_rows("a,b\r1,2\r", "[a][b]|[1][2]|");
	expect_rows("a,b\n1,2", "[a][b]|[1][2]|");
	expect_rows("a,b\n1,", "[a][b]|[1][]|");
	expect_rows("a\n1", "[a]|[1]|");
}
END_TEST

START_TEST(the_first_row_tells_the_separator)
{
	expect_rows("a;b\n1,5;2\n", "[a][b]|[1,5][2]|");
	expect_rows("a\tb\n1,5\t;\n", "[a][b]|[1,5][;]|");
	expect_rows("\n\na;b\n1,5;2\n", "[a][b]|[1,5][2]|");
	expect_rows("\"a\";\"b\"\n1,5;2\n", "[a][b]|[1,5][2]|");
	expect_rows("a\n1;2\n", "[a]|[1;2]|");
}
END_TEST

START_TEST(blank_rows_are_no_rows)
{
	expect_rows("", "");
	expect_rows("\n\r\n , ,\n,,,,,,,\n", "");
	expect_rows("\n\na\n\n\r\n , ,\n1\n\n", "[a]|[1]|");
	expect_rows("a,b\n\"\",\"\"\n1,2\n", "[a][b]|[1][2]|");
	expect_rows("\xef\xbb\xbf", "");
}
END_TEST

START_TEST(marks_and_spaces_around_cells_are_dropped)
{
	expect_rows("\xef\xbb\xbf"
		    "a,b\n",
		    "[a][b]|");
	expect_rows(" a ,b\n1\t, 2 3 \n", "[a][b]|[1][2 3]|");
	expect_rows("a\t b\t\n", "[a][b][]|");
	expect_rows(" \"a\" ,\t\" b\"\n", "[a][ b]|");
}
END_TEST

START_TEST(quoted_cells_hold_anything)
{
	expect_rows("\"a\",b\n1,2\n", "[a][b]|[1][2]|");
	expect_rows("\"a,\"\"b\"\"\",\"c\nd\"\r\n1,2\n", "[a,\"b\"][c\nd]|[1][2]|");
	expect_rows("a,b\n1,\"2\"", "[a][b]|[1][2]|");
	expect_rows("a,b\n\"1\",2\n3,4\n5,\"6\"\n", "[a][b]|[1][2]|[3][4]|[5][6]|");
}
END_TEST

static void expect_cell(const struct table *t, size_t i, const char *text, size_t at, size_t length)
{
	const struct cell *cell = table_cell(t, i);

	ck_assert_uint_eq(cell->size, strlen(text));
	ck_assert_mem_eq(cell->text, text, cell->size);
	ck_assert_uint_eq(cell->at, at);
	ck_assert_uint_eq(cell->length, length);
}

START_TEST(a_cell_knows_where_it_stands)
{
	/* Offsets: 0123 45678 9 0123456789 0 123456 */
	const char *text = "a,b\n1, 22\r\n3,\" 4\"\"\" \r5,\"6\"";
	struct err err = {0};
	struct table t;

	ck_assert(table_open(&t, bytes_of(text), &err));
	ck_assert(table_row(&t, &err));
	expect_cell(&t, 1, "b", 2, 1);
	ck_assert_uint_eq(t.row_end, 3);
	ck_assert(table_row(&t, &err));
	expect_cell(&t, 0, "1", 4, 1);
	expect_cell(&t, 1, "22", 7, 2);
	expect_cell(&t, 2, "", 9, 0);
	ck_assert(table_row(&t, &err));
	expect_cell(&t, 0, "3", 11, 1);
	expect_cell(&t, 1, " 4\"", 13, 6);
	ck_assert_uint_eq(t.row_end, 20);
	ck_assert(table_row(&t, &err));
	expect_cell(&t, 0, "5", 21, 1);
	expect_cell(&t, 1, "6", 23, 3);
	ck_assert_uint_eq(t.row_end, 26);
	ck_assert(table_row(&t, &err));
	ck_assert(t.done);
	table_close(&t);
}
END_TEST

static void expect_refused(struct bytes text, size_t at, const char *message)
{
	struct err err = {0};
	const char *rows = rows_of(text, &err);

	ck_assert_int_eq(rows[strlen(rows) - 1], '!');
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_str_eq(err.message, message);
	ck_assert_uint_eq(err.at, at);
}

START_TEST(misplaced_quotes_are_refused)
{
	expect_refused(bytes_of("a,b\n1,2\"5\n"), 7, "a quote or a text behind one inside a cell");
	expect_refused(bytes_of("a,b\n1,\"2\"5\n"), 9,
		       "a quote or a text behind one inside a cell");
	expect_refused(bytes_of("a,b\n1,\"2\n3,4\n"), 6,
		       "the quote that begins here is never closed");
}
END_TEST

START_TEST(text_that_is_not_utf8_is_refused)
{
	static const struct {
		const char *text;
		size_t size, at;
	} bad[] = {
		{"ab\xff", 3, 2},
		{"0123456789\x80", 11, 10},
		{"a\xc3", 2, 1},
		{"\xc0\xaf", 2, 0},
		{"\xe0\x80\xaf", 3, 0},
		{"\xed\xa0\x80", 3, 0},
		{"\xf4\x90\x80\x80", 4, 0},
		{"0123456\xe4\xbd", 9, 7},
		{"\xe4\xbd\xa0\xe4\xbd", 5, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refused((struct bytes){(const uint8_t *)bad[i].text, bad[i].size}, bad[i].at,
			       "this is not UTF-8");
	expect_refused((struct bytes){(const uint8_t *)"12345678\0,", 10}, 8,
		       "there is a NUL byte in the text");
	expect_rows("\xe5\x8f\xb3,\xc3\xa4,\xf0\x9f\x99\x82\n",
		    "[\xe5\x8f\xb3][\xc3\xa4][\xf0\x9f\x99\x82]|");
}
END_TEST

/* Random cells, written without and with quotes, are read with the same result. */
START_TEST(plain_and_quoted_texts_are_read_alike)
{
	static const char letters[] = "0123456789.-+ex";

	srand(1);
	for (int round = 0; round < 300; round++) {
		struct buf plain = BUF_INIT, quoted = BUF_INIT, mixed = BUF_INIT, want = BUF_INIT;
		struct err err = {0};

		for (int row = 0; row < 1 + rand() % 5; row++) {
			for (int cell = 0; cell < 1 + rand() % 6; cell++) {
				const char *comma = cell ? "," : row ? "\n" : "";
				char text[8] = "#";
				bool quote = rand() % 2;

				for (int i = 0; i < rand() % 6; i++)
					text[i] = letters[rand() % (int)(sizeof(letters) - 1)];
				buf_format(&plain, "%s%s", comma, text);
				buf_format(&quoted, "%s\"%s\"", comma, text);
				buf_format(&mixed, quote ? "%s \"%s\" " : "%s %s ", comma, text);
				buf_format(&want, "%s[%s]", cell || !row ? "" : "|", text);
			}
		}
		buf_text(&want, "|");
		buf_char(&want, '\0');
		ck_assert_str_eq(rows_of(buf_bytes(&plain), &err), (char *)want.data);
		ck_assert_str_eq(rows_of(buf_bytes(&quoted), &err), (char *)want.data);
		ck_assert_str_eq(rows_of(buf_bytes(&mixed), &err), (char *)want.data);
		buf_release(&plain);
		buf_release(&quoted);
		buf_release(&mixed);
		buf_release(&want);
	}
}
END_TEST

static bool number_of(const char *text, char separator, double *out)
{
	struct table t = {.separator = separator};
	struct cell cell = {.text = text, .size = strlen(text)};

	return table_number(&t, &cell, out);
}

START_TEST(a_comma_is_a_point_where_it_separates_no_cells)
{
	double v;

	ck_assert(number_of("1,5", ';', &v) && v == 1.5);
	ck_assert(number_of("1.5", ';', &v) && v == 1.5);
	ck_assert(number_of("-1,5E+01", '\t', &v) && v == -15);
	ck_assert(!number_of("1,5", ',', &v));
	ck_assert(!number_of("1.000,5", ';', &v));
}
END_TEST

/*
 * 1 + 2^-24 is half-way between two floats; as a double, the text cannot show on which side it is.
 */
START_TEST(numbers_round_to_the_float_that_their_text_rounds_to)
{
	static const struct {
		const char *text;
		float want;
	} cases[] = {
		{"1.000000059604644775390625", 1},
		{"1.00000005960464477539062500000001", 0x1.000002p0f},
		{"1.00000017881393432617187499999999", 0x1.000002p0f},
		{"-1.00000005960464477539062500000001", -0x1.000002p0f},
		{"3.4028235677973366163753939545814e38", 0x1.fffffep127f},
		{"0.00000000000000000000000000000000000000000000070064923216240854", 0x1p-149f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double v;

		ck_assert(number_of(cases[i].text, ',', &v));
		ck_assert_uint_eq(f32_bits((float)v), f32_bits(cases[i].want));
	}
}
END_TEST

static void expect_look(const char *text, const char *message)
{
	struct cell cell = {.text = text, .size = strlen(text), .at = 3, .length = strlen(text)};
	struct table t = {.separator = ','};
	struct err err = {0};

	ck_assert(!table_refuse_number(&t, &cell, "number", &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_uint_eq(err.at, 3);
	ck_assert_uint_eq(err.length, strlen(text));
	ck_assert_str_eq(err.message, message);
}

START_TEST(dates_that_were_numbers_are_told)
{
	static const char *const dates[] = {"01/02/26", "1/2",   "2026-01-02",
					    "2.1.2026", "3-Jan", "May 7"};
	static const char *const clocks[] = {"12:30", "12:30:05", "01/02/26 12:30"};
	static const char *const neither[] = {"12..5",  "abc", "1 2 3", "1.234.567", "1,5", "--5",
					      "12-345", ":",   "12:",   "1e",        "5-",  "-5-3"};
	char message[128];

	for (size_t i = 0; i < ARRAY_SIZE(dates); i++) {
		snprintf(message, sizeof(message),
			 "\"%s\" looks like a date that a spreadsheet made of a number", dates[i]);
		expect_look(dates[i], message);
	}
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		snprintf(message, sizeof(message),
			 "\"%s\" looks like a clock time that a spreadsheet made of a number",
			 clocks[i]);
		expect_look(clocks[i], message);
	}
	for (size_t i = 0; i < ARRAY_SIZE(neither); i++) {
		snprintf(message, sizeof(message), "\"%s\" is not a number", neither[i]);
		expect_look(neither[i], message);
	}
}
END_TEST

START_TEST(excerpts_are_short_and_printable)
{
	const char *text = "\n2345678901234567890123456789012345678901234567\xe5\x8f\xb3tail";
	struct cell cell = {.text = text, .size = strlen(text)};

	ck_assert_str_eq(cell_excerpt(&cell).text,
			 " 2345678901234567890123456789012345678901234567");
	cell.text++;
	cell.size -= 2;
	ck_assert_str_eq(cell_excerpt(&cell).text,
			 "2345678901234567890123456789012345678901234567");
	cell = (struct cell){.text = "12..5", .size = 5};
	ck_assert_str_eq(cell_excerpt(&cell).text, "12..5");
}
END_TEST

START_TEST(a_row_has_room_for_a_spreadsheets_columns)
{
	const char *const rows[] = {"%s\n", "\"\"%s\n"};

	for (size_t i = 0; i < 2; i++) {
		struct buf text = BUF_INIT;
		char *commas = calloc(65537, 1);
		struct err err = {0};

		memset(commas, ',', 65536);
		commas[65535] = '1';
		buf_format(&text, rows[i], commas);
		ck_assert_ptr_nonnull(strchr(rows_of(buf_bytes(&text), &err), '1'));
		commas[65535] = ',';
		buf_clear(&text);
		buf_format(&text, rows[i], commas);
		ck_assert_str_eq(rows_of(buf_bytes(&text), &err), "!");
		ck_assert_str_eq(err.message, "this row has more than 65536 cells");
		free(commas);
		buf_release(&text);
	}
}
END_TEST

/* ---- columns ---- */

static bool take(void *row, const struct cell *cell, unsigned what)
{
	struct buf *out = row;

	buf_char(out, (char)what);
	if (cell)
		buf_format(out, "[%.*s]", (int)cell->size, cell->text);
	return !cell || !cell_is(cell, "stop");
}

static const struct column columns[] = {{"frame", take, NULL, 'f'},
					{"tx", take, NULL, 't'},
					{"Note", NULL, NULL, 0},
					{"flags", take, NULL, 'g'}};
static const struct table_form form = {columns, ARRAY_SIZE(columns), 7, 3, 1};

/* Returns the cells that the columns received, with a bar after each row; or the message. */
static const char *columns_of(const char *text, struct err *err)
{
	static struct buf out;
	struct table t;
	bool fine;

	*err = (struct err){.code = ERR_NONE};
	buf_clear(&out);
	fine = table_open(&t, bytes_of(text), err) && table_header(&t, &form, err);
	while (fine && table_row(&t, err) && !t.done) {
		fine = table_read(&t, &out);
		buf_char(&out, '|');
	}
	table_close(&t);
	if (err->code)
		return err->message;
	buf_char(&out, '\0');
	return (const char *)out.data;
}

START_TEST(columns_are_found_by_name)
{
	struct err err;

	ck_assert_str_eq(columns_of("frame,tx\n0,1\n", &err), "f[0]t[1]g|");
	ck_assert_str_eq(columns_of("TX;FRAME;\n1,5;0;\n", &err), "f[0]t[1,5]g|");
	ck_assert_str_eq(columns_of("note,\"Frame\"\nx,0\ny\n", &err), "f[0]tg|f[]tg|");
	ck_assert_str_eq(columns_of("frame,tx\nstop,1\n2,3\n", &err), "f[stop]|");
}
END_TEST

static const struct {
	const char *text, *message, *accepted;
	size_t at;
} headers[] = {
	{"", "the text is empty", "", 0},
	{"tx\n", "there is no column frame", "frame, tx", 0},
	{"frame,tx,TX\n", "the column tx is listed twice", "", 9},
	{"frame,ty\n", "\"ty\" is not a column; did you mean \"tx\"?", "frame, tx", 6},
	{"frame,time\n", "\"time\" is not a column", "frame, tx", 6},
	/* A column that this text does not have. */
	{"frame,flags\n", "\"flags\" is not a column", "frame, tx", 6},
	{"frame,\n0,1\n", "\"1\" stands in a column without a name",
	 "as many cells as the first line has; between commas, decimals have a point or stand in "
	 "quotes",
	 9},
	{"frame\n0,1\n", "\"1\" stands in a column without a name",
	 "as many cells as the first line has; between commas, decimals have a point or stand in "
	 "quotes",
	 8},
};

START_TEST(columns_that_there_are_not_are_refused)
{
	struct err err;

	ck_assert_str_eq(columns_of(headers[_i].text, &err), headers[_i].message);
	ck_assert_str_eq(err.accepted, headers[_i].accepted);
	ck_assert_uint_eq(err.at, headers[_i].at);
}
END_TEST

static const struct {
	const char *text;
	size_t at, length;
	const char *cell, *column;
} places[] = {
	{"frame,tx\n0,1..5\n", 11, 4, "B2", "tx"},
	{"frame,tx\n0,1..5\n", 13, 1, "B2", "tx"},
	{"frame,tx\n0,1..5\n", 9, 1, "A2", "frame"},
	{"frame,tx\n0,1..5\n", 6, 2, "B1", ""},
	{"frame,tx\n0,1..5\n", 9, 6, "", ""}, /* the error is at the whole row */
	/* the error is at the end of the row, which is the end of the text */
	{"frame,tx\n0,1..5\n", 16, 0, "", ""},
	{"frame,tx\n0\n1,2\n", 10, 0, "", ""}, /* the error is at a missing cell */
	{"frame,tx\n0,\n1,2\n", 11, 0, "B2", "tx"},
	{"sep=;\nframe;tx\n0;1..5\n", 17, 4, "B2", "tx"},
	{"sep=;\nframe;tx\n0;1..5\n", 12, 2, "B1", ""},
	{"\xEF\xBB\xBF"
	 "frame\ttx\r\n\r\n0\t 1..5\r\n",
	 18, 4, "B3", "tx"},
	{"frame,,\"t\nx\"\n0,1,2\n", 17, 1, "C3", "t x"},
	{"a,b\n1,\"x", 6, 2, "B2", "b"}, /* the quotes are open to the end of the text */
	{"a,b\n1,x\"\n", 7, 1, "B2", "b"},
	{",,,,,,,,,,,,,,,,,,,,,,,,,,,z\n", 27, 1, "AB1", ""},
};

START_TEST(a_fault_is_in_a_cell)
{
	struct err err = {.code = ERR_NONE};
	struct table t;

	err_at(&err, ERR_TEXT, places[_i].at, places[_i].length, "wrong");
	ck_assert(table_open(&t, bytes_of(places[_i].text), NULL));
	table_finish_error(&t, &err);
	ck_assert_str_eq(err.cell, places[_i].cell);
	ck_assert_str_eq(err.heading, places[_i].column);
	table_close(&t);
}
END_TEST

START_TEST(a_column_that_counts_the_rows_is_blank)
{
	struct err err;

	ck_assert_str_eq(columns_of(",frame\n0,5\n1,6\n2,7\n", &err), "f[5]tg|f[6]tg|f[7]tg|");
	ck_assert_str_eq(columns_of("\"\";frame\n\"0\";5\n1.0;6\n", &err), "f[5]tg|f[6]tg|");
	ck_assert_str_eq(columns_of(",Unnamed: 0,frame\n0,0,5\n1,1.0,6\n", &err), "f[5]tg|f[6]tg|");
	ck_assert_str_eq(columns_of("Unnamed: 0.1,frame,Unnamed: 9\n0,5,\n1,6,\n", &err),
			 "f[5]tg|f[6]tg|");
	ck_assert_str_eq(columns_of("frame,Unnamed: 1\n5,0\n", &err),
			 "\"0\" stands in a column without a name");
	/* R counts lines from 1, also in quotes. */
	ck_assert_str_eq(columns_of(",frame\n1,5\n", &err), "f[5]tg|");
	ck_assert_str_eq(columns_of("\"\",\"frame\"\n\"1\",5\n\"2\",6\n", &err), "f[5]tg|f[6]tg|");
	ck_assert_str_eq(columns_of(",frame\n1,5\n3,6\n", &err),
			 "\"3\" stands in a column without a name");
	ck_assert_str_eq(columns_of(",frame\n2,5\n", &err),
			 "\"2\" stands in a column without a name");
	ck_assert_str_eq(columns_of(",frame\n0,5\n2,6\n", &err),
			 "\"2\" stands in a column without a name");
	ck_assert_str_eq(columns_of("frame,\n5,0\n", &err),
			 "\"0\" stands in a column without a name");
}
END_TEST

START_TEST(an_ignored_column_is_named)
{
	static const char *const indexed[] = {
		",frame\n0,5\n",           ",frame\n1,5\n2,6\n",   "\"\";frame\n;5\n\"0\";6\n",
		"Unnamed: 0,frame\n0,5\n", "sep=;\n;frame\n0;5\n",
	};
	static const char *const others[] = {
		"frame\n0\n", ",frame\n,5\n", ",frame\n", "frame,\n0,\n", "", "\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(indexed); i++) {
		ck_assert_ptr_nonnull(table_ignored("bones/hips.csv", bytes_of(indexed[i])));
		ck_assert_ptr_null(table_ignored("clip.json", bytes_of(indexed[i])));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_ptr_null(table_ignored(".csv", bytes_of(others[i])));
}
END_TEST

START_TEST(a_first_line_can_tell_the_separator)
{
	static const char *const lines[] = {"sep=;", "SEP=;\r", "\"sep=;\"", "sep=;;;;"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct buf text = BUF_INIT;
		struct err err = {0};

		buf_format(&text, "%s\na,b;c\n", lines[i]);
		ck_assert_str_eq(rows_of(buf_bytes(&text), &err), "[a,b][c]|");
		buf_release(&text);
	}
	expect_rows("\xef\xbb\xbfsep=|\na,b|c\n", "[a,b][c]|");
	expect_rows("sep=\t\na,b\tc\n", "[a,b][c]|");
	expect_rows("sep=x\nab\n", "[sep=x]|[ab]|");
	expect_rows("sep=;x\nab\n", "[sep=][x]|[ab]|");
	expect_rows("sep=;", "");
	expect_rows("sep=", "[sep=]|");
}
END_TEST

START_TEST(a_number_in_quotes_may_have_a_comma)
{
	struct err err = {0};
	struct table t;
	uint32_t frame;
	double v;

	ck_assert(table_open(&t, bytes_of("\"1,5\",1.5,\"12,0\",\"1,2,3\"\n"), &err));
	ck_assert(table_row(&t, &err));
	ck_assert(table_number(&t, &t.cells[0], &v) && v == 1.5);
	ck_assert(table_number(&t, &t.cells[1], &v) && v == 1.5);
	ck_assert(table_frame(&t, &t.cells[2], &frame) && frame == 12);
	ck_assert(!table_number(&t, &t.cells[3], &v));
	table_close(&t);
}
END_TEST

static const char *refusal_of(const char *text)
{
	static struct err err;
	struct table t;

	err = (struct err){.code = ERR_NONE};
	ck_assert(table_open(&t, bytes_of(text), NULL) && table_row(&t, NULL));
	ck_assert(!table_refuse_number(&t, &t.cells[0], "number", &err));
	table_close(&t);
	return err.message;
}

/* The message explains what a program made of a number, and numbers that have two readings. */
START_TEST(a_refusal_says_what_it_may_be)
{
	ck_assert_str_eq(refusal_of("True,1\n"),
			 "\"True\" is what csvkit makes of 0 and 1, but for -I");
	ck_assert_str_eq(refusal_of("FALSE,1\n"),
			 "\"FALSE\" is what csvkit makes of 0 and 1, but for -I");
	ck_assert_str_eq(refusal_of("\"1,234.5\",1\n"), "\"1,234.5\" can be 1234.5 or 1.2345");
	ck_assert_str_eq(refusal_of("\"-1.234,5\",1\n"), "\"-1.234,5\" can be -1.2345 or -1234.5");
	ck_assert_str_eq(refusal_of("\"1,2,3\",1\n"), "\"1,2,3\" is not a number");
	ck_assert_str_eq(refusal_of("1.2.3,1\n"),
			 "\"1.2.3\" looks like a date that a spreadsheet made of a number");
}
END_TEST

START_TEST(na_is_a_blank_number)
{
	struct table t;

	ck_assert(table_open(&t, bytes_of("NA,\"NA\",,0,na\n"), NULL) && table_row(&t, NULL));
	ck_assert(cell_is_blank(&t.cells[0]));
	ck_assert(!cell_is_blank(&t.cells[1]));
	ck_assert(cell_is_blank(&t.cells[2]));
	ck_assert(!cell_is_blank(&t.cells[3]));
	ck_assert(!cell_is_blank(&t.cells[4]));
	table_close(&t);
}
END_TEST

/* Texts in UTF-16 of either byte order have the same rows; cut anywhere, they end early. */
START_TEST(texts_in_utf16_are_read)
{
	static const uint16_t units[] = {0xfeff, 'a', '\t', '"', 0xe4, '"',    '\r',
					 '\n',   '1', ',',  '5', '\t', 0xd83d, 0xde42};
	uint8_t forms[2][sizeof(units)];
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		put_u16(forms[0] + 2 * i, units[i]);
		put_u16(forms[1] + 2 * i, (uint16_t)(units[i] << 8 | units[i] >> 8));
	}
	for (int form_number = 0; form_number < 2; form_number++) {
		struct bytes text = {forms[form_number], sizeof(units)};

		ck_assert_str_eq(rows_of(text, &err), "[a][\xc3\xa4]|[1,5][\xf0\x9f\x99\x82]|");
		for (text.size = sizeof(units) - 3; text.size < sizeof(units); text.size++) {
			struct table t;

			err = (struct err){.code = ERR_NONE};
			ck_assert(table_open(&t, text, &err) == (text.size % 4 == 0));
			table_finish_error(&t, &err);
			ck_assert_int_eq(err.code, text.size % 4 ? ERR_EARLY : ERR_NONE);
			table_close(&t);
		}
		err = (struct err){.code = ERR_NONE};
	}
	/* The text ends after one half of a surrogate pair. */
	expect_refused((struct bytes){(const uint8_t *)"\xff\xfe,\0\x42\xde,\0", 8}, 1,
		       "this is not UTF-8");
}
END_TEST

Suite *table_suite(void);

Suite *table_suite(void)
{
	Suite *s = suite_create("table");
	TCase *rows = tcase_create("rows"), *cells = tcase_create("cells");

	tcase_add_test(rows, rows_end_in_any_line_end);
	tcase_add_test(rows, the_first_row_tells_the_separator);
	tcase_add_test(rows, blank_rows_are_no_rows);
	tcase_add_test(rows, marks_and_spaces_around_cells_are_dropped);
	tcase_add_test(rows, quoted_cells_hold_anything);
	tcase_add_test(rows, a_cell_knows_where_it_stands);
	tcase_add_test(rows, misplaced_quotes_are_refused);
	tcase_add_test(rows, a_first_line_can_tell_the_separator);
	tcase_add_test(rows, a_refusal_says_what_it_may_be);
	tcase_add_test(rows, na_is_a_blank_number);
	tcase_add_test(rows, texts_in_utf16_are_read);
	tcase_add_test(rows, a_row_has_room_for_a_spreadsheets_columns);
	tcase_add_test(rows, text_that_is_not_utf8_is_refused);
	tcase_add_test(rows, plain_and_quoted_texts_are_read_alike);
	suite_add_tcase(s, rows);
	tcase_add_test(cells, a_comma_is_a_point_where_it_separates_no_cells);
	tcase_add_test(cells, a_number_in_quotes_may_have_a_comma);
	tcase_add_test(cells, columns_are_found_by_name);
	tcase_add_loop_test(cells, columns_that_there_are_not_are_refused, 0,
			    (int)ARRAY_SIZE(headers));
	tcase_add_loop_test(cells, a_fault_is_in_a_cell, 0, ARRAY_SIZE(places));
	tcase_add_test(cells, a_column_that_counts_the_rows_is_blank);
	tcase_add_test(cells, an_ignored_column_is_named);
	tcase_add_test(cells, numbers_round_to_the_float_that_their_text_rounds_to);
	tcase_add_test(cells, dates_that_were_numbers_are_told);
	tcase_add_test(cells, excerpts_are_short_and_printable);
	suite_add_tcase(s, cells);
	return s;
}
