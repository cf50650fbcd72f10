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

/* The curve to store, and the stored one. */
struct quant {
	const struct curve *wanted;
	const struct curve *old; /* of the same kind and unit; NULL: none */
	double unit;             /* value = unit * stored */
	uint32_t key;            /* of the error, if there is one */
};

/*
 * Finds the grid of one component and k of every key of `wanted`. lane gets form, base and step.
 *   a value within the old grid's range goes to the nearest k
 *   one that is between two k is first given a finer grid, if k has room for it: k << j on
 *   step / 2^j, which moves no other key
 *   one outside makes a new base and step, and all keys go to the nearest k
 * NULL, or the reason why it cannot be stored.
 */
const char *quant_grid(struct quant *q, unsigned axis, struct lane *lane, uint16_t *k);

/* Stores one component of one key as a float32. NULL, or the reason why it cannot be stored. */
const char *quant_float(struct quant *q, uint32_t key, unsigned axis, float *out);

#endif
