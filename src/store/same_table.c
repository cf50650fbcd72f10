/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "same_table.h"

#include "text/json.h"
#include "text/num.h"
#include "text/table.h"

#include <string.h>

/* Numbers have a decimal point; a comma is another dialect. */
static bool is_number(const struct cell *cell)
{
	double value;

	return num_parse_value(cell->text, cell->size, '.', &value);
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	if (a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0))
		return true;
	return is_number(a) && is_number(b);
}

static bool same_row(const struct table *a, const struct table *b)
{
	if (a->count != b->count || a->done != b->done)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!same_cell(&a->cells[i], &b->cells[i]))
			return false;
	}
	return true;
}

bool same_table_csv(struct bytes a, struct bytes b)
{
	struct table x, y;
	bool same = table_open(&x, a, NULL);

	same = table_open(&y, b, NULL) && same;
	while (same && !(x.done && y.done))
		same = table_row(&x, NULL) && table_row(&y, NULL) && same_row(&x, &y) &&
		       x.separator == y.separator;
	table_close(&x);
	table_close(&y);
	return same;
}

static bool same_value(const struct token *a, const struct token *b);

static bool same_list(const struct token *a, const struct token *b)
{
	const struct token *other = token_first(b);

	for (const struct token *t = token_first(a); t; t = token_next(a, t)) {
		if (!other || !same_value(t, other))
			return false;
		other = token_next(b, other);
	}
	return !other;
}

static bool same_object(const struct token *a, const struct token *b)
{
	for (const struct token *t = token_first(a); t; t = token_next(a, t)) {
		const struct token *other = token_member(b, token_name(t));

		if (!other || !same_value(t, other))
			return false;
	}
	return token_count(a) == token_count(b);
}

/* The parser limits the depth. */
static bool same_value(const struct token *a, /* NOLINT(misc-no-recursion) */
		       const struct token *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == TOKEN_OBJECT)
		return same_object(a, b);
	if (a->type == TOKEN_LIST)
		return same_list(a, b);
	return a->type != TOKEN_STRING || strcmp(a->text, b->text) == 0;
}

bool same_table_json(struct bytes a, struct bytes b)
{
	struct doc x, y;
	bool same = doc_read(&x, a, NULL);

	same = doc_read(&y, b, NULL) && same;
	same = same && same_value(x.root, y.root);
	doc_release(&x);
	doc_release(&y);
	return same;
}
