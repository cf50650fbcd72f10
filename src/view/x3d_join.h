/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x3d_join.h - joins stills into one X3D scene that plays: the first still's scene, with an
 * interpolator for each field whose value differs in another.
 *
 * The stills must have the same structure, as Castle Game Engine requires too: the same nodes, DEF
 * and USE names, in the same order, and the same fields except for numbers that an X3D interpolator
 * can change. White space, comments, the head and WorldInfo do not count; a missing field has its
 * default value, if x3d_fields.c knows it.
 *
 * Not supported: changing colours per vertex (common X3D players do not interpolate them), fields
 * of number pairs, text between tags, and anything that changes inside a prototype.
 */
#ifndef ANIMFS_VIEW_X3D_JOIN_H
#define ANIMFS_VIEW_X3D_JOIN_H

#include "animfs/anim.h"
#include "x3d_scene.h"

struct x3d_still {
	/* an XML text whose root is <X3D> or, if `framed`, an element around <X3D> */
	struct bytes text;
	bool framed; /* the root of the text is an element around <X3D> */
};

/*
 * Joins stills one after the other, if they are structurally equal. A struct x3d_joined keeps no
 * pointers to the stills, and is immutable once all were added.
 *
 * 	j = x3d_join_new(count);
 * 	for (...)
 * 		fine = fine && x3d_join_add(j, &still, &err);
 * 	x3d_join_write(j, &play, &out);       where all are fine
 * 	x3d_join_free(j);
 */
struct x3d_joined;
/* Begins to join `count` stills, which must not be 0. Returns NULL when out of memory. */
struct x3d_joined *x3d_join_new(uint32_t count);
/*
 * Adds the next still. If its structure differs, returns false, and err names the node and its
 * place in the text of this still.
 */
bool x3d_join_add(struct x3d_joined *j, const struct x3d_still *still, struct err *err);
void x3d_join_free(struct x3d_joined *j);
size_t x3d_join_size(const struct x3d_joined *j); /* Returns the size of all memory that j uses. */

/* Returns the scene of the first still. */
const struct x3d_scene *x3d_join_scene(const struct x3d_joined *j);
/*
 * Returns the values that a field of a node has in each still, *width numbers for each; NULL if the
 * field does not change.
 */
const float *x3d_join_values(const struct x3d_joined *j, size_t node, const char *field,
			     size_t *width);

/* How joined stills are to be played. */
struct x3d_play {
	const struct still *stills; /* the stills' times, which ascend */
	bool loop, backwards;
	const char *folder; /* prefix for relative URLs, such as "../../"; or "" */
};

/*
 * Appends the text of the joined scene to `out`, which must be empty. A single still gives a scene
 * without motion.
 */
void x3d_join_write(const struct x3d_joined *j, const struct x3d_play *play, struct buf *out);

#endif
