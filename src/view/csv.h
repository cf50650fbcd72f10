/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - the cells that a bone's CSV and curves.csv both have: frames, times, values, flags. */
#ifndef ANIMFS_VIEW_CSV_H
#define ANIMFS_VIEW_CSV_H

#include "lens.h"
#include "num.h"
#include "table.h"

#include <math.h>
#include <string.h>

/*
 * ---- writing ----
 *
 * Cells are put where the caller has reserved room for them; each says how many bytes it has
 * written, and may have overwritten all that it is said to need.
 */

/* "12,0.4": a frame and its time. */
#define CSV_TIME_MAX (2 * NUM_MAX + 1)
size_t csv_put_time(char *out, uint32_t frame, double seconds_per_frame);
/* The cells of one key, each with a comma before it. */
#define CSV_KEY_MAX (4 * (NUM_MAX + 1))
size_t csv_put_key(char *out, const struct curve *c, uint32_t key);
/* As many blank ones, at most CSV_BLANKS_MAX. */
#define CSV_BLANKS_MAX 8
static inline size_t csv_put_blanks(char *out, unsigned count)
{
	memcpy(out, ",,,,,,,,", CSV_BLANKS_MAX);
	return count;
}

/* ---- reading: false and err when a cell is refused ---- */

bool csv_read_frame(const struct table *t, const struct cell *cell, uint32_t *frame,
		    struct err *err);
/* One component; a blank cell is one that is not given. */
bool csv_read_value(const struct table *t, const struct cell *cell, enum curve_kind kind,
		    unsigned axis, struct lens_key *key, struct err *err);
/* Made of the bits of `settable`; a blank cell is none given. */
bool csv_read_flags(const struct table *t, const struct cell *cell, uint8_t settable,
		    struct lens_flags *out, struct err *err);
/* Refuses a cell that stands in a column without a name. Returns false. */
bool csv_accept_flags(uint8_t settable, struct err *err); /* after an error about flags */
bool csv_refuse_surplus(const struct cell *cell, struct err *err);

/* The first time in a text that is not what was served. */
struct csv_retimed {
	bool found;
	struct cell cell;
};
/* Is it within half a microsecond of the exact time? What is served is, and no other time. */
static inline bool csv_is_served_time(double time, double exact)
{
	return fabs(time - exact) <= 0.5000001e-6 + exact * 1e-14;
}
void csv_read_time(const struct table *t, const struct cell *cell, double served,
		   struct csv_retimed *retimed);
/* Refuses a text that changes times alone. */
bool csv_check_retimed(const struct csv_retimed *retimed, struct err *err);

#endif
