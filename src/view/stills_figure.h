/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stills_figure.h - joined stills in a form that can be drawn: a hierarchy of Transforms, and
 * shapes of points, lines and faces in them.
 *
 * IndexedFaceSet, IndexedLineSet, IndexedTriangleSet, TriangleSet and PointSet are drawn, and Box,
 * Sphere, Cone and Cylinder with few faces, in the colours of their materials. Inlines, prototypes,
 * hidden children of a Switch or LOD, and other nodes are not drawn.
 */
#ifndef ANIMFS_VIEW_STILLS_FIGURE_H
#define ANIMFS_VIEW_STILLS_FIGURE_H

#include "skeleton/skeleton.h"
#include "x3d_join.h"

/* A field of a node: one value for all stills, or one for each. */
struct stills_values {
	const float *values; /* numbers of the values; NULL: none */
	size_t width;
	bool moves;
};

/*
 * A node of the figure. `translation` leads from the parent to the node's center; the node is
 * rotated and scaled around that.
 */
struct stills_node {
	const char *name;
	uint32_t parent; /* index of the parent; STILLS_NONE: none */
	struct stills_values translation, center, rotation, scale;
	bool less_center; /* this node only moves back by the center of its parent */
};
#define STILLS_NONE UINT32_MAX

enum stills_kind { STILLS_POINTS, STILLS_LINES, STILLS_FACES };

struct stills_shape {
	uint32_t node;
	enum stills_kind kind;
	struct stills_values colour, transparency, points;
	/* indices of points; -1 ends a line or face. NULL for STILLS_POINTS */
	const int32_t *index;
	size_t index_count;
};

struct stills_figure {
	struct stills_node *nodes; /* the first is the scene; parents come before children */
	struct stills_shape *shapes;
	uint32_t node_count, shape_count;
};

/* Returns the value for a still; v->values must not be NULL. */
const float *stills_value(const struct stills_values *v, uint32_t still);
/* Returns the pose of a node in a still, relative to its parent. */
struct pose stills_node_pose(const struct stills_node *n, uint32_t still);

/*
 * Returns whether the figure has something to draw, within the limits. If not, err is the reason.
 */
bool stills_figure_present(const struct x3d_joined *j, struct err *err);
/* Makes the figure of joined stills, allocated in the arena. Returns false when out of memory. */
bool stills_figure_make(struct stills_figure *f, const struct x3d_joined *j, struct arena *arena);

#endif
