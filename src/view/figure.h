/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figure.h - what interchange formats say of a clip: nodes that hang from each other, and the keys
 * of each.
 *
 * The first nodes are the bones of the clip, by their numbers. Bones of the skeleton that the clip
 * does not have follow, those that stand between one that it has and the root.
 */
#ifndef ANIMFS_VIEW_FIGURE_H
#define ANIMFS_VIEW_FIGURE_H

#include "animfs/view.h"
#include "skeleton.h"

#define FIGURE_NONE UINT32_MAX

struct figure_node {
	const char *name;          /* in file-name form */
	const struct joint *joint; /* rest pose; NULL: not known */
	uint32_t parent;
	uint32_t first_child, next_sibling; /* in the order of their numbers; or FIGURE_NONE */
};

struct figure {
	const struct clip *clip;
	const struct rig *rig;
	/* That a frame takes: kept where the times of all are apart and finite in float32. */
	double seconds;
	uint32_t bones, count;
	const struct figure_node *nodes;
	uint32_t first_root; /* the others are its siblings */
};

/* False when out of memory. */
bool figure_make(struct figure *f, const struct shown *at, struct arena *arena);

/* Every node: entered, then all below it, then left. `depth` of a root is 0. */
struct figure_walk {
	void (*enter)(void *user, uint32_t node, uint32_t depth);
	void (*leave)(void *user, uint32_t node, uint32_t depth);
};
void figure_walk(const struct figure *f, const struct figure_walk *walk, void *user);

/* Has the clip bones and keys, and few enough frames to be shown? */
bool figure_present(const struct shown *at);
void figure_explain(const struct shown *at, struct err *err);

/*
 * The keys of one role of a node, as interchange formats can say them: frames ascend (of the keys
 * in a frame there is the one that counts); what is not finite is as at rest; rotations are unit
 * quaternions, each on the side of the one before, so that the way between them is the short one
 * in any program.
 *
 *	struct channel c = channel_of(figure, node, role);
 *	while (channel_next(&c))
 *		... c.frame, c.value ...
 */
struct channel {
	uint32_t frame;
	double value[4]; /* before the first key: of the rest pose */
	unsigned width;  /* 3, or 4 for rotations: x y z w */
	bool step;       /* keys hold, and do not lead over to the next */

	/* private */
	const struct curve *curve;
	uint32_t keys, next;
	double rest[4], rest_angles[3];
};

struct channel channel_of(const struct figure *f, uint32_t node, enum role role);
/*
 * With the value that a text places the node by: at rest, or where that is not known as in the
 * first frame, unless that is too far away. Programs divide by the scale at rest: nothing but a
 * skeleton says one that is not 1.
 */
struct channel channel_placed(const struct figure *f, uint32_t node, enum role role);
bool channel_next(struct channel *c);
/* How many frames have keys, from here on; and the last one of all. */
uint32_t channel_count(const struct channel *c);
uint32_t channel_last(const struct channel *c);
/* Are the frames 0, 1, 2 ...? And those of two that are not, are they the same? */
bool channel_is_dense(const struct channel *c);
bool channel_same_frames(const struct channel *a, const struct channel *b);

/* The nearest float32 that programs can still multiply by others. */
float finite_f32(double v);

#endif
