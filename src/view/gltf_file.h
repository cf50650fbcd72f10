/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_file.h - reads a glTF 2.0 file by any program: its JSON and the numbers of its accessors.
 *
 * Either JSON with embedded buffers (data: URIs), or a .glb. The input is untrusted.
 */
#ifndef ANIMFS_VIEW_GLTF_FILE_H
#define ANIMFS_VIEW_GLTF_FILE_H

#include "json.h"

#define GLTF_NONE UINT32_MAX /* no node */

/*
 * All numbers of an accessor, converted to fractions if it is marked as normalised. `count` is 0
 * before it is read.
 */
struct gltf_numbers {
	uint32_t count;
	unsigned width;
	const double *values; /* count * width numbers */
};

/* An array of the JSON, indexed. `count` is 0 if the array is missing. */
struct gltf_list {
	struct spot list;
	uint32_t count;
	const struct token **elements;
};

struct gltf_file {
	struct doc doc;
	struct spot root;
	struct gltf_list buffers, views, accessors, nodes;
	struct bytes json, binary; /* the chunks of a .glb; of a JSON text, `json` is all of it */
	bool is_binary;
	/* how many numbers may still be read: the limit against small files that expand */
	size_t left;
	struct bytes *buffer; /* decoded buffers, by index; data NULL: not decoded yet */
	/* numbers of accessors, by index, filled in as they are read */
	struct gltf_numbers *numbers;
	struct arena arena;
};

/*
 * Parses the JSON of a glTF file. False and err (with a position in the JSON) if it is not glTF.
 * Call gltf_close in either case.
 */
bool gltf_open(struct gltf_file *f, struct bytes text, struct err *err);
void gltf_close(struct gltf_file *f);

/* Indexes the array `name` of an object; an object without it gives an empty list. */
bool gltf_list(struct gltf_file *f, const struct spot *up, const char *name, struct err *err,
	       struct gltf_list *out);
struct spot gltf_element(const struct gltf_list *list, size_t index);
/* Reads an index, which must be less than `count`. */
bool gltf_index(const struct spot *s, size_t count, struct err *err, uint32_t *out);
/*
 * Reads the numbers of the accessor with that index, whose elements must have `width` components.
 * They belong to the file's arena.
 */
bool gltf_numbers(struct gltf_file *f, const struct spot *index, unsigned width,
		  struct gltf_numbers *out, struct err *err);

/*
 * Finds out what a channel animates, also by KHR_animation_pointer. *node is GLTF_NONE or *role is
 * ROLE_COUNT if that is no translation, rotation or scale of a node.
 */
bool gltf_target(const struct spot *channel, uint32_t nodes, struct err *err, uint32_t *node,
		 unsigned *role);

#endif
