/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x3d_scene.h - an X3D scene as a list of its nodes, each with the fields that its tag gives. */
#ifndef ANIMFS_VIEW_X3D_SCENE_H
#define ANIMFS_VIEW_X3D_SCENE_H

#include "animfs/base.h"
#include "text/xml.h"

/* Fields that a node can have: those of X3D have fewer, and each is looked for among the others. */
#define X3D_ATTRIBUTES_MAX 256

struct x3d_attribute {
	struct bytes name, value; /* in the scene's arena, each with a NUL behind it */
	size_t at, length;        /* as written, in the scene's text */
};

struct x3d_node {
	struct bytes name;
	struct bytes def; /* data NULL: none */
	unsigned depth;
	bool in_prototype;
	bool shares_def;             /* another node has the same */
	size_t begin, name_end, end; /* of the start tag, in the scene's text */
	size_t first, count;         /* range of its attributes */
};

/*
 * What a scene says of the component Interpolation, and where it could say more. Places are in the
 * scene's text; a length of 0 is a place between two bytes.
 */
struct x3d_interpolation {
	bool level3;              /* is declared, by a component or by the profile */
	size_t level, level_size; /* the component's level; level_size 0: there is no component */
	size_t head, head_size;   /* where a component belongs; what an empty <head/> takes */
	bool in_head;             /* that place is in a <head> */
};

struct x3d_scene {
	struct xml xml;
	struct arena arena;
	struct x3d_node *nodes; /* in the order in which they begin; the first is <Scene> */
	struct x3d_attribute *attributes;
	size_t node_count, node_room, attribute_count, attribute_room;
	size_t begin, end; /* of <X3D> */
	size_t scene_end;  /* behind <Scene> */
	struct x3d_interpolation interpolation;

	/* private */
	bool framed;
	unsigned root;      /* depth of <X3D> */
	unsigned skipped;   /* depth plus 1 of the open element that is being skipped; 0: none */
	unsigned prototype; /* depth plus 1 of the open prototype declaration; 0: none */
};

/*
 * `text` is a scene whose root is <X3D>, or where it is `framed` an element around one, and stays
 * the caller's. WorldInfo is left out, and of the head all but the component Interpolation. False
 * and err. Call x3d_scene_release in either case.
 */
bool x3d_scene_read(struct x3d_scene *s, struct bytes text, bool framed, struct err *err);
void x3d_scene_release(struct x3d_scene *s);
/* Marks nodes whose DEF others have, too. False when out of memory. */
bool x3d_scene_mark_shared(struct x3d_scene *s);
/* memory that the scene takes, without its text */
size_t x3d_scene_size(const struct x3d_scene *s);

/* NULL if the tag does not have the field. */
const struct x3d_attribute *x3d_attribute_find(const struct x3d_scene *s,
					       const struct x3d_node *node, struct bytes name);

struct x3d_numbers {
	size_t count, room;
	double *values; /* free() it */
};
/*
 * The numbers in a field's value, which float32 can hold. False if they are not numbers, with err
 * unchanged, or when out of memory, with err set.
 */
bool x3d_numbers_read(struct bytes text, struct x3d_numbers *out, struct err *err);

#endif
