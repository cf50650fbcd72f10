/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bvh_read.h - a parser of BVH texts by any program: any white space and line ends, keywords in
 * upper or lower case, channels in any order, numbers with exponents.
 *
 *	struct bvh b;
 *	bool fine = bvh_open(&b, text, &arena, err);
 *	for (uint32_t i = 0; fine && i < b.frames; i++)
 *		fine = bvh_row(&b, cells);
 *	fine = fine && bvh_close(&b);
 *
 * Only the hierarchy is kept in memory. Errors have a place in the text; ERR_EARLY if the only
 * fault is that the text ends too early.
 */
#ifndef ANIMFS_VIEW_BVH_READ_H
#define ANIMFS_VIEW_BVH_READ_H

#include "animfs/base.h"

#define BVH_NONE UINT32_MAX

enum bvh_channel {
	BVH_X_POSITION,
	BVH_Y_POSITION,
	BVH_Z_POSITION,
	BVH_X_ROTATION,
	BVH_Y_ROTATION,
	BVH_Z_ROTATION,
	BVH_CHANNELS
};

/* A number of the text, and its place there. */
struct bvh_cell {
	double value; /* finite, also when converted to float32 */
	size_t at, length;
};

struct bvh_joint {
	struct bytes name; /* the joint's name, one word; points into the text */
	uint32_t parent;   /* index of the parent, which comes before the joint, or BVH_NONE */
	struct bvh_cell offset[3];
	bool has_end; /* the joint ends in an End Site, which is not a joint itself */
	double end[3];
	/* the joint's channels in the text's order, each at most once */
	uint8_t count, channels[BVH_CHANNELS];
	/* index of the joint's first cell in a row, which holds the cells of all joints in order */
	size_t first;
};

struct bvh {
	const struct bvh_joint *joints;
	uint32_t count;
	size_t cells; /* number of cells in a row */
	uint32_t frames;
	struct bytes frames_text; /* the number of frames, as the text writes it */
	struct bvh_cell frame_time;

	/* private to bvh_read.c */
	struct arena *arena;
	struct err *err;
	struct bytes text;
	size_t at;
	uint32_t row;
};

/* Reads everything before the rows. The joints are allocated in the arena. */
bool bvh_open(struct bvh *b, struct bytes text, struct arena *arena, struct err *err);
/* Reads the next row; call it b->frames times. */
bool bvh_row(struct bvh *b, struct bvh_cell *cells);
/* Checks that nothing follows the last row. */
bool bvh_close(struct bvh *b);

#endif
