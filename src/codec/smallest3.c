/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "smallest3.h"

#include <math.h>

#define SPAN 1.41421 /* constant of the readers; not quite the square root of 2 */

/* The grid of the i-th component that is kept: a, b or c. */
static const struct grid {
	uint16_t last;
	double middle;
} grids[3] = {{0x7FFF, 0x4000}, {0x7FFF, 0x4000}, {0xFFFF, 0x8000}};

static unsigned smallest3_slot_of(const uint8_t *code)
{
	return (unsigned)(get_u16(code + 2) >> 15 << 1 | get_u16(code) >> 15);
}

void smallest3_decode(const uint8_t *code, double q[4])
{
	unsigned slot = smallest3_slot_of(code), axis = 0;
	double rest = 1;

	for (unsigned i = 0; i < 3; i++, axis++) {
		const struct grid *g = &grids[i];
		double v = SPAN * ((get_u16(code + 2 * i) & g->last) - g->middle) / (2 * g->middle);

		axis += axis == slot;
		q[axis] = v;
		rest -= v * v;
	}
	q[slot] = rest > 0 ? sqrt(rest) : 0;
}

/*
 * Encodes a quaternion without the component `slot`. False if another component had to be
 * clamped.
 */
static bool encode_in_slot(const double q[4], unsigned slot, uint8_t *code)
{
	double sign = q[slot] < 0 ? -1 : 1;
	unsigned axis = 0;
	bool fits = true;

	for (unsigned i = 0; i < 3; i++, axis++) {
		const struct grid *g = &grids[i];
		double k;

		axis += axis == slot;
		k = floor(sign * q[axis] / SPAN * (2 * g->middle) + g->middle + 0.5);
		fits = fits && k >= 0 && k <= g->last;
		put_u16(code + 2 * i, (uint16_t)fmin(fmax(k, 0), g->last));
	}
	put_u16(code, (uint16_t)(get_u16(code) | slot << 15));
	put_u16(code + 2, (uint16_t)(get_u16(code + 2) | slot >> 1 << 15));
	return fits;
}

void smallest3_encode(const double q[4], const uint8_t *old, uint8_t *code)
{
	unsigned largest = 0;

	if (old && fabs(q[smallest3_slot_of(old)]) >= 0.5 &&
	    encode_in_slot(q, smallest3_slot_of(old), code))
		return;
	for (unsigned axis = 1; axis < 4; axis++) {
		if (fabs(q[axis]) > fabs(q[largest]))
			largest = axis;
	}
	encode_in_slot(q, largest, code);
}
