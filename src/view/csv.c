/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "csv.h"

#include "text/num.h"

#include <math.h>
#include <stdio.h>

enum curve_kind csv_rotation(const struct shown *at, const struct track *track)
{
	return at->style.tangents && at->anim->format->timed
		       ? curve_edit_shown_rotation(at->anim, track)
		       : curve_edit_table_rotation(at->anim, track);
}

static bool needs_quotes(const char *text)
{
	size_t size = strlen(text);

	return strpbrk(text, ",;\t\r\n\"") || text[0] == ' ' || (size && text[size - 1] == ' ');
}

void csv_write_text(const char *text, struct buf *out)
{
	if (!needs_quotes(text)) {
		buf_text(out, text);
		return;
	}
	buf_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_char(out, '"');
		buf_char(out, *text);
	}
	buf_char(out, '"');
}

size_t csv_put_time(char *out, uint32_t frame, double seconds_per_frame)
{
	size_t size = num_unsigned(out, frame);

	out[size++] = ',';
	return size + num_seconds(out + size, frame * seconds_per_frame);
}

size_t csv_put_moment(char *out, const struct curve *c, uint32_t key, double seconds_per_frame)
{
	struct lane lane;
	size_t size;

	if (!c->timing || !c->timing->between)
		return csv_put_time(out, curve_frame(c, key), seconds_per_frame);
	lane = curve_edit_moment_lane(c->timing->rate);
	size = num_lane(out, curve_moment(c, key), &lane);
	out[size++] = ',';
	return size + num_seconds(out + size, (double)curve_time(c, key));
}

size_t csv_put_key(char *out, const struct curve *c, uint32_t key)
{
	size_t size = 0;

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		out[size++] = ',';
		if (c->timing && isnan(curve_value(c, key, axis)))
			continue; /* A component without a key stays blank. */
		size += num_value(out + size, curve_value(c, key, axis), &c->lane[axis], c->stored);
	}
	return size;
}

size_t csv_put_tangents(char *out, const struct curve *c, uint32_t key)
{
	size_t size = 0;

	for (enum tangent side = TANGENT_IN; side <= TANGENT_OUT; side++) {
		for (unsigned axis = 0; axis < curve_width(c); axis++) {
			out[size++] = ',';
			if (c->timing && c->timing->tangents)
				size += num_f32(out + size, curve_tangent(c, key, side, axis));
		}
	}
	return size;
}

bool csv_read_tangent(const struct table *t, const struct cell *cell, enum tangent side,
		      unsigned axis, struct curve_edit_key *key, struct arena *arena,
		      struct err *err)
{
	if (cell_is_blank(cell))
		return true;
	if (!key->tangents)
		key->tangents = arena_alloc(arena, 1, sizeof(*key->tangents));
	if (!key->tangents)
		return err_memory(err);
	key->tangents->at[side][axis] = cell->at;
	key->tangents->length[side][axis] = cell_length(cell);
	key->tangents->given[side] |= (uint8_t)(1u << axis);
	if (table_number(t, cell, &key->tangents->value[side][axis]))
		return true;
	table_refuse_number(t, cell, "number", err);
	return err_accept(err, "a slope such as 12.5 (value per second), or nothing");
}

bool csv_read_frame(const struct table *t, const struct cell *cell, uint32_t *frame,
		    struct err *err)
{
	if (cell_is_blank(cell)) {
		err_at(err, ERR_TEXT, cell->at, cell->length, "there is no frame in this row");
		return err_accept(err, "a whole number such as 12, or an empty row");
	}
	if (table_frame(t, cell, frame))
		return true;
	table_refuse_number(t, cell, "frame number", err);
	return err_accept(err, "a whole number such as 12");
}

bool csv_read_moment(const struct table *t, const struct cell *cell, const struct format *format,
		     struct curve_edit_key *key, struct err *err)
{
	double moment;

	key->row_at = cell->at;
	key->row_length = cell_length(cell);
	if (!format->timed || cell_is_blank(cell) || table_frame(t, cell, &key->frame))
		return csv_read_frame(t, cell, &key->frame, err);
	if (table_number(t, cell, &moment) && curve_edit_set_moment(key, moment))
		return true;
	table_refuse_number(t, cell, "frame number", err);
	return err_accept(err, "a number such as 12");
}

bool csv_read_value(const struct table *t, const struct cell *cell, enum curve_kind kind,
		    unsigned axis, struct curve_edit_key *key, struct err *err)
{
	key->at[axis] = cell->at;
	key->length[axis] = cell_length(cell);
	if (cell_is_blank(cell))
		return true;
	key->given |= (uint8_t)(1u << axis);
	if (table_number(t, cell, &key->value[axis]))
		return true;
	table_refuse_number(t, cell, "number", err);
	return err_accept(err, "a decimal number such as %s, or nothing where there is no key",
			  kind == CURVE_EULER        ? "12.5 (degrees)"
			  : kind == CURVE_QUATERNION ? "0.25 (-1 to 1)"
						     : "12.5");
}

/*
 * Sets err->accepted for a bad "flags" of a keyframe. Only the bits `settable` can be typed; the
 * other bits say which parts the keyframe has, and follow from its cells or members.
 */
bool csv_accept_flags(uint8_t settable, struct err *err)
{
	char bits[40] = "";
	size_t size = 0;

	for (unsigned bit = 1; bit < 256; bit <<= 1)
		if (settable & bit)
			size += (size_t)snprintf(bits + size, sizeof(bits) - size, "%s%u",
						 size ? ", " : "", bit);
	return err_accept(err, "0, or the sum of some of %s; the other flags follow from the cells",
			  bits);
}

bool csv_read_flags(const struct table *t, const struct cell *cell, uint8_t settable,
		    struct curve_edit_flags *out, struct err *err)
{
	uint32_t flags;

	if (cell_is_blank(cell))
		return true;
	if (!table_frame(t, cell, &flags) || flags & ~(uint32_t)settable) {
		err_at(err, ERR_TEXT, cell->at, cell->length, "\"%s\" are no flags",
		       cell_excerpt(cell).text);
		return csv_accept_flags(settable, err);
	}
	*out = (struct curve_edit_flags){true, (uint8_t)flags, cell->at, cell_length(cell)};
	return true;
}

void csv_read_time(const struct table *t, const struct cell *cell, double served,
		   struct csv_retimed *retimed)
{
	double time;

	if (retimed->found || cell_is_blank(cell))
		return;
	if (table_number(t, cell, &time) && curve_edit_is_time_of(time, served))
		return;
	*retimed = (struct csv_retimed){true, *cell};
}

bool csv_check_retimed(const struct csv_retimed *retimed, const struct format *format,
		       struct err *err)
{
	return !retimed->found ||
	       curve_edit_refuse_time(format, retimed->cell.at, retimed->cell.length, err);
}
