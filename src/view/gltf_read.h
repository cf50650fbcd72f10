/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_read.h - reads the motion of a clip's bones from a glTF file.
 *
 * A bone is the node with its name; of two such nodes, the one that is a joint of a skin. A bone
 * without one is the animated node whose name is nearly its own (motion_names_key), if there is one
 * such node and one such bone. Everything else is ignored: other animations, meshes, extras, and
 * other nodes, unless they move a bone with them, or move while a bone has no node.
 */
#ifndef ANIMFS_VIEW_GLTF_READ_H
#define ANIMFS_VIEW_GLTF_READ_H

#include "gltf_file.h"
#include "motion.h"

struct gltf_node {
	uint32_t track;  /* the bone of the clip that the node stands for, or GLTF_NONE */
	uint32_t parent; /* the parent node, or GLTF_NONE */
	bool joint;      /* the node is a joint of a skin */
	bool above;      /* the node is an ancestor of a bone */
	bool animated;   /* an animation has a channel for the node */
};

/* The nodes of a file, matched to the bones of a clip. */
struct gltf_nodes {
	const struct clip *clip;
	uint32_t count;
	struct gltf_node *nodes;
	const uint32_t *of_track; /* by track: the bone's node, or GLTF_NONE */
	bool lacks_some;          /* some bone has no node */
};

/*
 * Matches the nodes of a file to the bones of a clip, and reads their motion. Results are allocated
 * in the file's arena. False and err (with a position in the JSON) when refused.
 */
bool gltf_read_nodes(struct gltf_file *f, const struct clip *clip, struct gltf_nodes *out,
		     struct err *err);
bool gltf_read_motion(struct gltf_file *f, const struct gltf_nodes *nodes, const char *base,
		      struct motion *out, struct err *err);
/*
 * Refuses keys written at another frame rate than the clip's, whose frames take `seconds`
 * (motion_rate.h).
 */
bool gltf_read_check_rate(struct gltf_file *f, const struct gltf_nodes *nodes,
			  const struct motion *motion, double seconds, struct err *err);

#endif
