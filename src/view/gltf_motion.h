/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_motion.h - the animation of a glTF file: samplers, and the buffer with their numbers.
 *
 * The buffer begins with the times of frames 0, 1, 2 ..., of which each dense curve uses as many as
 * it has keys. The times of other curves follow, then the values of each sampler. All are float32.
 */
#ifndef ANIMFS_VIEW_GLTF_MOTION_H
#define ANIMFS_VIEW_GLTF_MOTION_H

#include "base64.h"
#include "figure.h"

/* A sampler's input: the times of its keys. */
struct gltf_input {
	uint32_t node; /* the figure's node with these keys; FIGURE_NONE: the topmost node */
	enum role role;
	bool dense;
	const struct curve *spline;  /* the curve whose own times these are; or NULL */
	uint32_t count, first, last; /* number of keys; the first and last frame */
	size_t at;                   /* offset in the buffer */
};

struct gltf_sampler {
	uint32_t node; /* as above */
	enum role role;
	bool step;
	const struct curve *spline; /* CUBICSPLINE: three values a key; or NULL */
	unsigned width;
	uint32_t input;
	uint32_t count;
	size_t at; /* offset of its values in the buffer */
};

struct gltf_motion {
	const struct figure *figure;
	uint32_t input_count, sampler_count;
	struct gltf_input *inputs;
	struct gltf_sampler *samplers;
	bool sampled;   /* a curve has tangents that glTF cannot express */
	uint32_t dense; /* number of times at the buffer's start */
	size_t size;    /* of the buffer, in bytes */
};

/* False when out of memory. */
bool gltf_motion_make(struct gltf_motion *m, const struct figure *figure, struct arena *arena);
/* Of an input's first or last key. */
float gltf_input_time(const struct gltf_motion *m, const struct gltf_input *input, bool last);
/* Writes the buffer, of m->size bytes. */
void gltf_motion_write(const struct gltf_motion *m, struct base64 *b);

#endif
