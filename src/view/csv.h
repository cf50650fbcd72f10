/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - the cells that a bone's CSV and curves.csv share: frames, times, values, flags. */
#ifndef ANIMFS_VIEW_CSV_H
#define ANIMFS_VIEW_CSV_H

#include "animfs/view.h"
#include "model/curve_edit.h"
#include "text/num.h"
#include "text/table.h"

#include <math.h>
#include <string.h>

/*
 * ---- writing ----
 *
 * `out` is memory that the caller has reserved, of the size that the constant before each function
 * gives. The functions return how many bytes they have written, and may overwrite all of that size.
 */

/* Writes "12,0.4": a frame and its time. */
#define CSV_TIME_MAX (2 * NUM_MAX + 1)
size_t csv_put_time(char *out, uint32_t frame, double seconds_per_frame);
/* Writes the frame and time of a key, as csv_put_time does; the key may be between frames. */
size_t csv_put_moment(char *out, const struct curve *c, uint32_t key, double seconds_per_frame);
/* Writes the cells of one key, each with a comma before it. */
#define CSV_KEY_MAX (4 * (NUM_MAX + 1))
size_t csv_put_key(char *out, const struct curve *c, uint32_t key);
/* Writes the cells of one key's tangents, first in and then out, each with a comma before it. */
#define CSV_TANGENTS_MAX (2 * CSV_KEY_MAX)
size_t csv_put_tangents(char *out, const struct curve *c, uint32_t key);
/* Writes a text as a cell, in quotes if it needs them. */
void csv_write_text(const char *text, struct buf *out);
/* Writes `count` blank cells, at most CSV_BLANKS_MAX. Overwrites CSV_BLANKS_MAX bytes. */
#define CSV_BLANKS_MAX 8
static inline size_t csv_put_blanks(char *out, unsigned count)
{
	memcpy(out, ",,,,,,,,", CSV_BLANKS_MAX);
	return count;
}

/*
 * Returns the kind in which tables show a bone's rotations. Rotations with tangents are shown as
 * they are stored.
 */
enum curve_kind csv_rotation(const struct shown *at, const struct track *track);

/* ---- reading: false and err when a cell is refused ---- */

bool csv_read_frame(const struct table *t, const struct cell *cell, uint32_t *frame,
		    struct err *err);
/* Reads the frame of a key, which must be whole unless the format stores times. */
bool csv_read_moment(const struct table *t, const struct cell *cell, const struct format *format,
		     struct curve_edit_key *key, struct err *err);
/* Reads one component of a key's value. A blank cell leaves it out of key->given. */
bool csv_read_value(const struct table *t, const struct cell *cell, enum curve_kind kind,
		    unsigned axis, struct curve_edit_key *key, struct err *err);
/* Reads one component of a key's tangent on one side. A blank cell leaves it out. */
bool csv_read_tangent(const struct table *t, const struct cell *cell, enum tangent side,
		      unsigned axis, struct curve_edit_key *key, struct arena *arena,
		      struct err *err);
/*
 * Reads a cell of "flags": only bits of `settable` are accepted; a blank cell means that none are
 * given.
 */
bool csv_read_flags(const struct table *t, const struct cell *cell, uint8_t settable,
		    struct curve_edit_flags *out, struct err *err);
bool csv_accept_flags(uint8_t settable, struct err *err); /* Adds the accepted flags to an error. */

/* Place of the first cell of the column "time" that differs from what is served. */
struct csv_retimed {
	bool found;
	struct cell cell;
};
/* Returns whether `time` is `exact` rounded to a microsecond, as served times are. */
static inline bool csv_is_served_time(double time, double exact)
{
	return fabs(time - exact) <= 0.5000001e-6 + exact * 1e-14;
}
void csv_read_time(const struct table *t, const struct cell *cell, double served,
		   struct csv_retimed *retimed);
/* Refuses a text that changes nothing but times; call it only when nothing else has changed. */
bool csv_check_retimed(const struct csv_retimed *retimed, const struct format *format,
		       struct err *err);

#endif
