/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "csv.h"

#include "num.h"

#include <math.h>
#include <stdio.h>

size_t csv_put_time(char *out, uint32_t frame, double seconds_per_frame)
{
	size_t size = num_unsigned(out, frame);

	out[size++] = ',';
	return size + num_seconds(out + size, frame * seconds_per_frame);
}

size_t csv_put_key(char *out, const struct curve *c, uint32_t key)
{
	size_t size = 0;

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		out[size++] = ',';
		size += num_value(out + size, c, key, axis);
	}
	return size;
}

bool csv_read_frame(const struct table *t, const struct cell *cell, uint32_t *frame,
		    struct err *err)
{
	if (cell->size == 0) {
		err_at(err, ERR_TEXT, cell->at, cell->length, "there is no frame in this row");
		return err_accept(err, "a whole number such as 12, or an empty row");
	}
	if (table_frame(t, cell, frame))
		return true;
	table_refuse_number(cell, "frame number", err);
	return err_accept(err, "a whole number such as 12");
}

bool csv_read_value(const struct table *t, const struct cell *cell, enum curve_kind kind,
		    unsigned axis, struct lens_key *key, struct err *err)
{
	key->at[axis] = cell->at;
	key->length[axis] = cell_length(cell);
	if (cell->size == 0)
		return true;
	key->given |= (uint8_t)(1u << axis);
	if (table_number(t, cell, &key->value[axis]))
		return true;
	table_refuse_number(cell, "number", err);
	return err_accept(err, "a decimal number such as %s, or nothing where there is no key",
			  kind == CURVE_EULER        ? "12.5 (degrees)"
			  : kind == CURVE_QUATERNION ? "0.25 (-1 to 1)"
						     : "12.5");
}

/* The other bits say which parts there are, and so do the cells or members. */
bool csv_accept_flags(uint8_t settable, struct err *err)
{
	char bits[40] = "";
	size_t size = 0;

	for (unsigned bit = 1; bit < 256; bit <<= 1)
		if (settable & bit)
			size += (size_t)snprintf(bits + size, sizeof(bits) - size, "%s%u",
						 size ? ", " : "", bit);
	return err_accept(
		err, "0, or the sum of some of %s; which parts there are is not said here", bits);
}

bool csv_read_flags(const struct table *t, const struct cell *cell, uint8_t settable,
		    struct lens_flags *out, struct err *err)
{
	uint32_t flags;

	if (cell->size == 0)
		return true;
	if (!table_frame(t, cell, &flags) || flags & ~(uint32_t)settable) {
		err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" are no flags",
		       cell_excerpt(cell).text);
		return csv_accept_flags(settable, err);
	}
	*out = (struct lens_flags){true, (uint8_t)flags, cell->at, cell_length(cell)};
	return true;
}

bool csv_refuse_surplus(const struct cell *cell, struct err *err)
{
	err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" stands in a column without a name",
	       cell_excerpt(cell).text);
	return err_accept(err, "as many cells as the first line has; between commas, decimals have "
			       "a point");
}

void csv_read_time(const struct table *t, const struct cell *cell, double served,
		   struct csv_retimed *retimed)
{
	double time;

	if (retimed->found || cell->size == 0)
		return;
	if (table_number(t, cell, &time) && csv_is_served_time(time, served))
		return;
	*retimed = (struct csv_retimed){true, *cell};
}

bool csv_check_retimed(const struct csv_retimed *retimed, struct err *err)
{
	if (!retimed->found)
		return true;
	err_at(err, ERR_TEXT, retimed->cell.at, retimed->cell.length,
	       "only the time was changed, and time is for reading");
	return err_accept(err, "another frame_time in clip.json; frame says where a key stands");
}
