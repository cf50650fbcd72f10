/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * smallest3.h - a unit quaternion in 48 bits: three of its components, the fourth follows.
 *
 *   u16 a, b, c     the components in their order x y z w, without the one that is dropped:
 *                   1.41421 * ((a & 0x7FFF) - 0x4000) / 0x8000, likewise b,
 *                   1.41421 * (c - 0x8000) / 0x10000
 *   slot            which is dropped: the high bit of a, and twice that of b
 *
 * The dropped component follows from the length 1 and is never negative. If the others are longer
 * than 1, it is 0 and the decoded length exceeds 1. It should be the largest component, but need
 * not be.
 */
#ifndef ANIMFS_CODEC_SMALLEST3_H
#define ANIMFS_CODEC_SMALLEST3_H

#include "animfs/base.h"

#define SMALLEST3_SIZE 6

/*
 * No component of a stored quaternion is further than this from the wanted one, or from its
 * negative. With h = 1.41421 / 0x10000, half of the wider grid, three components move by h, h and h
 * / 2 at most, together by 1.5 h; a dropped component w >= 0.5 makes up for that by at most 1.5 h *
 * sqrt(1 - w * w) / w <= 1.5 h * sqrt(3). A clamped component moves less.
 */
#define SMALLEST3_ERROR 5.61e-5f

void smallest3_decode(const uint8_t *code, double q[4]);
/*
 * Finds the nearest code for q, which has length 1. It drops the component that `old` drops, if
 * that is far from 0 and the others fit; otherwise the largest. `old` may be NULL.
 */
void smallest3_encode(const double q[4], const uint8_t *old, uint8_t *code);

#endif
