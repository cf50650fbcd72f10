/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figure.h - a clip in the form of interchange formats (glTF, BVH, X3D): a hierarchy of nodes, and
 * keys for each.
 *
 * The first nodes are the clip's bones, in file order. After them come bones that only the skeleton
 * has, if they are an ancestor of a bone of the clip.
 */
#ifndef ANIMFS_VIEW_FIGURE_H
#define ANIMFS_VIEW_FIGURE_H

#include "animfs/view.h"
#include "skeleton/skeleton.h"

#define FIGURE_NONE UINT32_MAX

struct figure_node {
	const char *name;          /* in file-name form (model/names.h) */
	const struct joint *joint; /* the node's rest pose; NULL: unknown */
	uint32_t parent;
	uint32_t first_child, next_sibling; /* nodes, in ascending order; or FIGURE_NONE */
};

struct figure {
	/* the clip; a curve with tangents is replaced by one with a key in every frame */
	const struct clip *clip;
	const struct clip *keyed; /* the clip with its own keys and tangents */
	const struct rig *rig;
	/*
	 * Seconds per frame, within limits so that the times of frames differ and are finite in
	 * float32.
	 */
	double seconds;
	uint32_t bones, count;
	const struct figure_node *nodes;
	uint32_t first_root; /* the first node without a parent; the others are its siblings */
};

/* Returns the seconds per frame for struct figure. */
double figure_seconds(const struct shown *at);
/* Builds the figure of the shown clip. Returns false when out of memory. */
bool figure_make(struct figure *f, const struct shown *at, struct arena *arena);

/*
 * Walks a hierarchy depth first: enter(node), its descendants, leave(node). The depth of a root is
 * 0.
 */
struct figure_walk {
	void (*enter)(void *user, uint32_t node, uint32_t depth);
	void (*leave)(void *user, uint32_t node, uint32_t depth);
};
void figure_walk(const struct figure *f, const struct figure_walk *walk, void *user);

/* Returns whether the clip has bones and keys, and at most FRAMES_SHOWN frames. */
bool figure_present(const struct shown *at);
void figure_explain(const struct shown *at, struct err *err);

/*
 * The keys of one role of a node, as interchange formats can express them: frames ascend (of
 * several keys at one frame, the effective one is given); values that are not finite are replaced
 * by the rest pose; rotations are unit quaternions, with the sign that makes the path from the
 * previous key the short one.
 *
 *	struct channel c = channel_of(figure, node, role);
 *	while (channel_next(&c))
 *		... c.frame, c.value ...
 */
struct channel {
	uint32_t frame;
	/* the current key's value; before the first channel_next(), the rest pose */
	double value[4];
	unsigned width; /* components of a value: 3, or 4 for rotations: x y z w */
	bool step;      /* a key's value holds until the next key */

	/* private to figure.c */
	const struct curve *curve;
	uint32_t keys, next;
	double rest[4], rest_angles[3];
};

struct channel channel_of(const struct figure *f, uint32_t node, enum role role);
/*
 * Like channel_of, but value[] begins as the node's own transform in the text: the rest pose or,
 * where that is unknown, the first frame, unless it is farther away than float32 can handle. Since
 * programs divide by the rest scale, a scale is 1 unless a skeleton gives another.
 */
struct channel channel_placed(const struct figure *f, uint32_t node, enum role role);
bool channel_next(struct channel *c);
/*
 * channel_count returns the number of keys that channel_next() will still return; channel_last the
 * last frame with a key.
 */
uint32_t channel_count(const struct channel *c);
uint32_t channel_last(const struct channel *c);
/*
 * channel_is_dense returns whether the keys are at frames 0, 1, 2 and so on. channel_same_frames
 * returns whether two channels that are not dense have keys at the same frames.
 */
bool channel_is_dense(const struct channel *c);
bool channel_same_frames(const struct channel *a, const struct channel *b);

/*
 * Returns the nearest float32, limited in size so that products of it that a program computes stay
 * finite.
 */
float finite_f32(double v);

#endif
