/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves.h - turns the rows that curves.csv has for one bone into the bone's curves. */
#ifndef ANIMFS_VIEW_CURVES_H
#define ANIMFS_VIEW_CURVES_H

#include "animfs/view.h"
#include "model/curve_edit.h"

/* Values of curves_row.channel that are not a role. */
#define CHANNEL_NONE ROLE_COUNT        /* a keyframe with no value for any role */
#define CHANNEL_BLANK (ROLE_COUNT + 1) /* a bone without keys */

/* The channel of a rotation that is not in degrees. */
#define CHANNEL_QUATERNION "quaternion"

/* A row of curves.csv: one key of one channel. */
struct curves_row {
	struct curve_edit_key key;
	uint32_t bone;   /* index among the bones that the text names */
	uint8_t channel; /* a role, CHANNEL_NONE or CHANNEL_BLANK */
	bool quaternion; /* a rotation, given as the channel "quaternion" */
	struct curve_edit_flags flags;
};

/* The rows of one bone; at least one. */
struct curves_rows {
	struct curves_row *first;
	size_t count;
};

/* The text that the rows belong to, and the arena for new curves. */
struct curves_bone {
	const struct shown *at;
	struct bytes text;
	uint8_t axes; /* a bit for each of the columns x y z w that are present */
	struct arena *arena;
	struct err *err;
};

/* Computes the curves (and keyframes) that the rows give for `track` into `now`, a copy of it. */
bool curves_read_track(const struct curves_bone *p, const struct track *track,
		       struct curves_rows rows, struct track *now);

#endif
