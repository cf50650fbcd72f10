/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_mesh.h - the body of a glTF figure: an octahedron for each bone, in one skinned mesh.
 *
 * A bone with a parent is an octahedron from the parent's position to its own; the far corner
 * follows the bone, the others follow its parent. A root, or a bone at its parent's position, is a
 * small octahedron around itself. All octahedra are in the rest pose.
 *
 * Corners are in model space, and inverse bind matrices lead back to the bones. If any matrix has
 * no inverse, or one that float32 cannot hold (a rest scale of 0), there are no matrices, and each
 * corner is in the space of the bone that moves it, as glTF defines for a skin without them.
 */
#ifndef ANIMFS_VIEW_GLTF_MESH_H
#define ANIMFS_VIEW_GLTF_MESH_H

#include "base64.h"
#include "figure.h"

#define GLTF_MESH_CORNERS 6
#define GLTF_MESH_INDICES 24

struct gltf_corner {
	uint32_t node; /* the node that the corner moves with */
	float at[3];
};

struct gltf_mesh {
	uint32_t count;       /* number of the figure's nodes; 0: too many for a mesh */
	char name[64];        /* name of the mesh, which no bone has */
	bool bound;           /* `inverse` is valid */
	float (*inverse)[16]; /* inverse bind matrix of each node, column-major */
	struct gltf_corner *corners;
	float least[3], most[3];
	/* joint indices take 2 bytes, not 1; corner indices 4, not 2 */
	bool wide_joints, wide_indices;
};

/* Builds the mesh of a figure. Returns false when out of memory. */
bool gltf_mesh_make(struct gltf_mesh *m, const struct figure *f, struct arena *arena);

/* Sizes in bytes, multiples of 4, in the order of the buffer. */
unsigned gltf_mesh_stride(const struct gltf_mesh *m);
size_t gltf_mesh_corners_size(const struct gltf_mesh *m);
size_t gltf_mesh_indices_size(const struct gltf_mesh *m);
size_t gltf_mesh_matrices_size(const struct gltf_mesh *m);
void gltf_mesh_write(const struct gltf_mesh *m, struct base64 *b);

#endif
