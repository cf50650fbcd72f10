/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves.h - the rows of curves.csv, of one bone at a time. */
#ifndef ANIMFS_VIEW_CURVES_H
#define ANIMFS_VIEW_CURVES_H

#include "animfs/view.h"
#include "lens.h"

/* Channels that are no role. */
#define CHANNEL_NONE ROLE_COUNT        /* a keyframe that says no role */
#define CHANNEL_BLANK (ROLE_COUNT + 1) /* a bone without keys */

/* A row: one key of one channel. */
struct curves_row {
	struct lens_key key;
	uint32_t bone;   /* which of those that the text names */
	uint8_t channel; /* a role, or one of the above */
	struct lens_flags flags;
};

/* The rows of one bone; one at least. */
struct curves_rows {
	struct curves_row *first;
	size_t count;
};

/* What their text is, and where the curves go. */
struct curves_bone {
	const struct shown *at;
	struct bytes text;
	uint8_t axes; /* bit per column x y z w that it has */
	struct arena *arena;
	struct err *err;
};

/* The curves, and keyframes, of `track` as the rows say them, into `now`, which is a copy of it. */
bool curves_read_track(const struct curves_bone *p, const struct track *track,
		       struct curves_rows rows, struct track *now);

#endif
