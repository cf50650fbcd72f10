/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bvh_read.h - takes a BVH text apart, whoever wrote it: any spaces and line ends, capitals or not,
 * channels in any order, exponents.
 *
 *	struct bvh b;
 *	bool fine = bvh_open(&b, text, &arena, err);
 *	for (uint32_t i = 0; fine && i < b.frames; i++)
 *		fine = bvh_row(&b, cells);
 *	fine = fine && bvh_close(&b);
 *
 * Only the hierarchy is held. Errors are at a place of the text; ERR_EARLY where its one fault is
 * that it ends.
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

/* A number, and where the text has it. */
struct bvh_cell {
	double value; /* finite, also as float32 */
	size_t at, length;
};

struct bvh_joint {
	struct bytes name; /* in the text: one word */
	uint32_t parent;   /* an earlier joint, or BVH_NONE */
	struct bvh_cell offset[3];
	bool has_end; /* an end site, which is no joint */
	double end[3];
	uint8_t count, channels[BVH_CHANNELS]; /* each once, in the text's order */
	size_t first; /* of its cells in a row, which has those of all joints, one after another */
};

struct bvh {
	const struct bvh_joint *joints;
	uint32_t count;
	size_t cells; /* of a row */
	uint32_t frames;
	struct bytes frames_text; /* in the text */
	struct bvh_cell frame_time;

	/* private */
	struct arena *arena;
	struct err *err;
	struct bytes text;
	size_t at;
	uint32_t row;
};

/* Reads up to the rows. The joints live in the arena. */
bool bvh_open(struct bvh *b, struct bytes text, struct arena *arena, struct err *err);
/* The next row, which there must be. */
bool bvh_row(struct bvh *b, struct bvh_cell *cells);
/* Nothing may follow. */
bool bvh_close(struct bvh *b);

#endif
