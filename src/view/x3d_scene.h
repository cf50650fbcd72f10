/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x3d_scene.h - an X3D scene as a list of its nodes, each with the fields that its tag gives. */
#ifndef ANIMFS_VIEW_X3D_SCENE_H
#define ANIMFS_VIEW_X3D_SCENE_H

#include "animfs/base.h"
#include "text/xml.h"

/*
 * Limit of the number of fields of a node. Those of X3D have fewer; each is looked for among the
 * others, so a high limit would be slow.
 */
#define X3D_ATTRIBUTES_MAX 256

struct x3d_attribute {
	struct bytes name, value; /* in the scene's arena, each followed by a NUL byte */
	size_t at, length;        /* place of the value as written, in the scene's text */
};

struct x3d_node {
	struct bytes name;
	struct bytes def; /* the node's DEF; data NULL: none */
	unsigned depth;
	bool in_prototype;
	bool shares_def; /* another node has the same DEF */
	/* places in the scene's text: start and end of the start tag, and end of its name */
	size_t begin, name_end, end;
	size_t first, count; /* range of the node's attributes */
};

/*
 * What a scene says of the component Interpolation, and where a declaration could be inserted.
 * Places are in the scene's text; a length of 0 is a place between two bytes.
 */
struct x3d_interpolation {
	bool level3; /* level 3 is declared, by a component or by the profile */
	/* place of the component's level; level_size 0: the scene declares no component */
	size_t level, level_size;
	/* where a component belongs; length of the empty <head/> to be replaced there */
	size_t head, head_size;
	bool in_head; /* the place `head` is inside a <head> */
};

struct x3d_scene {
	struct xml xml;
	struct arena arena;
	struct x3d_node *nodes; /* in the order in which they begin; the first is <Scene> */
	struct x3d_attribute *attributes;
	size_t node_count, node_room, attribute_count, attribute_room;
	size_t begin, end; /* start and end of the element <X3D> */
	size_t scene_end;  /* place after the end of <Scene> */
	struct x3d_interpolation interpolation;

	/* private to x3d_scene.c */
	bool framed;
	unsigned root;      /* depth of <X3D> */
	unsigned skipped;   /* depth plus 1 of the open element that is being skipped; 0: none */
	unsigned prototype; /* depth plus 1 of the open prototype declaration; 0: none */
};

/*
 * Reads the nodes of a text whose root is <X3D> or, if `framed`, an element around <X3D>. The text
 * must outlive the scene. WorldInfo is left out, and the head except for the component
 * Interpolation. False and err on failure. Call x3d_scene_release in either case.
 */
bool x3d_scene_read(struct x3d_scene *s, struct bytes text, bool framed, struct err *err);
void x3d_scene_release(struct x3d_scene *s);
/* Marks nodes whose DEF other nodes have, too. Returns false when out of memory. */
bool x3d_scene_mark_shared(struct x3d_scene *s);
/* Returns the size of the scene's memory, without the text. */
size_t x3d_scene_size(const struct x3d_scene *s);

/* Finds a field of a node by its name. Returns NULL if the tag does not have it. */
const struct x3d_attribute *x3d_attribute_find(const struct x3d_scene *s,
					       const struct x3d_node *node, struct bytes name);

struct x3d_numbers {
	size_t count, room;
	double *values; /* numbers; the caller frees them with free() */
};
/*
 * Reads the numbers in the value of a field, which must fit into float32. False if they are not
 * numbers, with err unchanged, or when out of memory, with err set.
 */
bool x3d_numbers_read(struct bytes text, struct x3d_numbers *out, struct err *err);

#endif
