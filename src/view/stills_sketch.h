/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stills_sketch.h - a figure of stills (stills_figure.h) reduced to a thumbnail: a few of its
 * points, and triangles, lines and dots between them.
 *
 * The points are chosen far from each other in the first, the middle and the last still. Every
 * other point is drawn where the nearest of them is. A figure without shapes is drawn as its
 * Transforms, each with a line from its parent.
 */
#ifndef ANIMFS_VIEW_STILLS_SKETCH_H
#define ANIMFS_VIEW_STILLS_SKETCH_H

#include "skeleton/skeleton.h"
#include "stills_figure.h"

#define SKETCH_POINTS 64
#define SKETCH_PARTS 200

struct sketch_point {
	uint32_t node;
	/* values of the point's shape; NULL: the point is a node itself */
	const struct stills_values *points;
	size_t number; /* index of the point in `points` */
};

/* A triangle; a line has two equal corners, and a dot three. */
struct sketch_part {
	uint8_t corners[3], colour[3];
};

struct stills_sketch {
	const struct stills_figure *figure;
	unsigned point_count, part_count;
	struct sketch_point points[SKETCH_POINTS];
	struct sketch_part parts[SKETCH_PARTS];
	struct transform *world; /* transform of each node, in the still that was posed last */
};

/*
 * Makes a sketch of `stills` stills. Its memory is in the arena, and it uses the figure, which must
 * last. Returns false when out of memory.
 */
bool stills_sketch_make(struct stills_sketch *s, const struct stills_figure *f, uint32_t stills,
			struct arena *arena);
/* Computes where the points are in a still. */
void stills_sketch_pose(struct stills_sketch *s, uint32_t still, float (*out)[3]);

#endif
