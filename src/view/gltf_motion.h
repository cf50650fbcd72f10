/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_motion.h - the animation of a glTF file: samplers, and the buffer with their numbers.
 *
 * The buffer begins with the times of the dense curves, 0, 1, 2 ... frames, of which each takes as
 * many as it has keys. Other times follow, then the values of each sampler. All are float32.
 */
#ifndef ANIMFS_VIEW_GLTF_MOTION_H
#define ANIMFS_VIEW_GLTF_MOTION_H

#include "figure.h"

/* The times of keys. */
struct gltf_input {
	uint32_t node; /* of the figure, whose they are; FIGURE_NONE: of what holds all nodes */
	enum role role;
	bool dense;
	uint32_t count, first, last; /* keys, and the frames of two of them */
	size_t at;                   /* in the buffer */
};

struct gltf_sampler {
	uint32_t node; /* the same */
	enum role role;
	bool step;
	unsigned width;
	uint32_t input;
	uint32_t count;
	size_t at; /* of its values in the buffer */
};

struct gltf_motion {
	const struct figure *figure;
	uint32_t input_count, sampler_count;
	struct gltf_input *inputs;
	struct gltf_sampler *samplers;
	uint32_t dense; /* times that the buffer begins with */
	size_t size;    /* of the buffer */
};

/* False when out of memory. */
bool gltf_motion_make(struct gltf_motion *m, const struct figure *figure, struct arena *arena);
/* Seconds, as the buffer has them. */
float gltf_motion_time(const struct gltf_motion *m, uint32_t frame);
/* The buffer in base64. */
void gltf_motion_write(const struct gltf_motion *m, struct buf *out);

#endif
