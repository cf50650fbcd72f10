/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_read.h - what a glTF file says that the bones of a clip do.
 *
 * Bones are the nodes of their names; of two nodes of one name the joint of a skin. Everything else
 * of the file counts for nothing: other nodes as long as no bone is moved along with them, other
 * animations, meshes, extras.
 */
#ifndef ANIMFS_VIEW_GLTF_READ_H
#define ANIMFS_VIEW_GLTF_READ_H

#include "gltf_file.h"
#include "motion.h"

#define GLTF_NONE UINT32_MAX

struct gltf_node {
	uint32_t track;  /* of the clip; or GLTF_NONE */
	uint32_t parent; /* or GLTF_NONE */
	bool joint;      /* of a skin */
	bool above;      /* a bone hangs from it */
};

/* The nodes of a file, seen from a clip. */
struct gltf_nodes {
	const struct clip *clip;
	uint32_t count;
	struct gltf_node *nodes;
	const uint32_t *of_track; /* the node of each bone, or GLTF_NONE */
};

/* Both live in the file's arena. False and err (positions in the JSON) when refused. */
bool gltf_read_nodes(struct gltf_file *f, const struct clip *clip, struct gltf_nodes *out,
		     struct err *err);
bool gltf_read_motion(struct gltf_file *f, const struct gltf_nodes *nodes, struct motion *out,
		      struct err *err);

#endif
