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
	/* a node of the figure with keys at these times; FIGURE_NONE: the topmost node */
	uint32_t node;
	enum role role;
	bool dense;
	/* the curve that the times belong to, if it has tangents; else NULL */
	const struct curve *spline;
	uint32_t count, first, last; /* number of keys; frames of the first and last one */
	size_t at;                   /* offset of the times in the buffer */
};

struct gltf_sampler {
	uint32_t node; /* the animated node; FIGURE_NONE: the topmost node */
	enum role role;
	bool step;
	/* the curve of a sampler of type CUBICSPLINE, with three values per key; else NULL */
	const struct curve *spline;
	unsigned width;
	uint32_t input;
	uint32_t count;
	size_t at; /* offset of the sampler's values in the buffer */
};

struct gltf_motion {
	const struct figure *figure;
	uint32_t input_count, sampler_count;
	struct gltf_input *inputs;
	struct gltf_sampler *samplers;
	/* some curve has tangents that glTF cannot express, and has a key in every frame instead */
	bool sampled;
	uint32_t dense; /* number of times at the buffer's start */
	size_t size;    /* size of the buffer in bytes */
};

/* Plans the animation of a figure. Returns false when out of memory. */
bool gltf_motion_make(struct gltf_motion *m, const struct figure *figure, struct arena *arena);
/* Returns the time of an input's first or last key. */
float gltf_input_time(const struct gltf_motion *m, const struct gltf_input *input, bool last);
/* Writes the buffer, of m->size bytes. */
void gltf_motion_write(const struct gltf_motion *m, struct base64 *b);

#endif
