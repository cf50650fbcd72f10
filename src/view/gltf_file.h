/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_file.h - a glTF 2.0 file that somebody made: its JSON and the numbers of its accessors.
 *
 * Either the JSON text with its buffers in it, or a .glb. No byte of it is trusted.
 */
#ifndef ANIMFS_VIEW_GLTF_FILE_H
#define ANIMFS_VIEW_GLTF_FILE_H

#include "json.h"

/* All numbers of an accessor, normalised where it says so; or none. */
struct gltf_numbers {
	uint32_t count;
	unsigned width;
	const double *values; /* count * width */
};

struct gltf_file {
	struct doc doc;
	struct bytes json, binary; /* of a .glb its chunks; otherwise all of it, and nothing */
	bool is_binary;
	size_t left; /* numbers that may still be read */
	uint32_t buffer_count, accessor_count;
	struct bytes *buffers;          /* those that were read */
	struct gltf_numbers *accessors; /* the same */
	struct arena arena;
};

/* False and err (positions in the JSON) when it is none. gltf_close is right after either. */
bool gltf_open(struct gltf_file *f, struct bytes text, struct err *err);
void gltf_close(struct gltf_file *f);

/* The index that stands there, of something of which there are so many. */
bool gltf_index(const struct spot *s, size_t count, struct err *err, uint32_t *out);
/* The numbers of the accessor whose index stands there; so many make an element. */
bool gltf_numbers(struct gltf_file *f, const struct spot *index, unsigned width,
		  struct gltf_numbers *out, struct err *err);

#endif
