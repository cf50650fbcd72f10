/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "same_table.h"

#include "../json_load.h"
#include "../num.h"
#include "../table.h"

#include <jansson.h>
#include <string.h>

/* With a decimal point: a comma is another dialect. */
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

static bool same_value(json_t *a, json_t *b);

static bool same_object(json_t *a, json_t *b)
{
	const char *name;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach(a, name, value)
	{
		json_t *other = json_object_get(b, name);

		if (!other || !same_value(value, other))
			return false;
	}
	return true;
}

static bool same_array(json_t *a, json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		if (!same_value(json_array_get(a, i), json_array_get(b, i)))
			return false;
	}
	return true;
}

/* No deeper than jansson's parser goes. */
static bool same_value(json_t *a, json_t *b) /* NOLINT(misc-no-recursion) */
{
	if (json_is_number(a) && json_is_number(b))
		return true;
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_object(a))
		return same_object(a, b);
	if (json_is_array(a))
		return same_array(a, b);
	return json_equal(a, b);
}

bool same_table_json(struct bytes a, struct bytes b)
{
	struct json_fault fault;
	json_t *x = json_load_bytes(a, JSON_REJECT_DUPLICATES, &fault);
	json_t *y = x ? json_load_bytes(b, JSON_REJECT_DUPLICATES, &fault) : NULL;
	bool same = y && same_value(x, y);

	json_decref(x);
	json_decref(y);
	return same;
}
