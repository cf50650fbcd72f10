/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stills_figure.h - joined stills in a form that can be drawn: a hierarchy of Transforms, and
 * shapes of points, lines and faces in them.
 *
 * Drawn are IndexedFaceSet, IndexedLineSet, IndexedTriangleSet, TriangleSet and PointSet; Box,
 * Sphere, Cone and Cylinder as few faces. Colours are those of the material. Inlines, prototypes,
 * hidden children of a Switch or LOD, and other nodes are not drawn.
 */
#ifndef ANIMFS_VIEW_STILLS_FIGURE_H
#define ANIMFS_VIEW_STILLS_FIGURE_H

#include "skeleton/skeleton.h"
#include "x3d_join.h"

/* One value for all stills, or one for each. */
struct stills_values {
	const float *values; /* NULL: none */
	size_t width;
	bool moves;
};

/*
 * A node of the figure. `translation` leads from the parent to the node's center; the node is
 * rotated and scaled around that.
 */
struct stills_node {
	const char *name;
	uint32_t parent; /* STILLS_NONE: none */
	struct stills_values translation, center, rotation, scale;
	bool less_center; /* the node only moves back by the center of its parent */
};
#define STILLS_NONE UINT32_MAX

enum stills_kind { STILLS_POINTS, STILLS_LINES, STILLS_FACES };

struct stills_shape {
	uint32_t node;
	enum stills_kind kind;
	struct stills_values colour, transparency, points;
	const int32_t *index; /* of points; -1 ends a line or face. None for STILLS_POINTS */
	size_t index_count;
};

struct stills_figure {
	struct stills_node *nodes; /* the first is the scene; parents before children */
	struct stills_shape *shapes;
	uint32_t node_count, shape_count;
};

/* The value for a still; v->values is not NULL. */
const float *stills_value(const struct stills_values *v, uint32_t still);
/* Relative to the parent. */
struct pose stills_node_pose(const struct stills_node *n, uint32_t still);

/* Is there something to draw, and can it be? */
bool stills_figure_present(const struct x3d_joined *j, struct err *err);
/* In the arena. False when out of memory. */
bool stills_figure_make(struct stills_figure *f, const struct x3d_joined *j, struct arena *arena);

#endif
