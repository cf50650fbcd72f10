/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quant.h - stores numbers of a model as k on a grid base + k * step, or as float32.
 *
 * Unchanged values keep their stored form. Each component (axis) is stored by itself: a change of x
 * never moves y.
 */
#ifndef ANIMFS_CODEC_QUANT_H
#define ANIMFS_CODEC_QUANT_H

#include "animfs/anim.h"

/* The curve to store, and the stored curve. */
struct quant {
	const struct curve *wanted;
	const struct curve *old; /* the stored curve, of the same kind and unit; NULL: none */
	double unit;             /* unit of the curve: value = unit * stored */
	uint32_t key;            /* index of the key with the error, if there is an error */
};

/*
 * Finds the grid (base and step, put into *lane) for one component of the curve, and the k of every
 * key of `wanted` on it. If all values are in the range of the old grid, each is rounded to its
 * nearest k. If some value is not on the old grid, the grid is first made 2^j times finer, as far
 * as all k stay in range: each old k becomes k << j, and no other key moves. If a value is outside
 * the range, base and step are computed from all values. Returns NULL, or the reason why the curve
 * cannot be stored.
 */
const char *quant_grid(struct quant *q, unsigned axis, struct lane *lane, uint16_t *k);

/* Stores one component of one key as a float32. NULL, or the reason why it cannot be stored. */
const char *quant_float(struct quant *q, uint32_t key, unsigned axis, float *out);

#endif
