/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base64.h - bytes as letters (RFC 4648): written piece by piece, so that no copy of all is made,
 * and read.
 */
#ifndef ANIMFS_VIEW_BASE64_H
#define ANIMFS_VIEW_BASE64_H

#include "animfs/base.h"

struct base64 {
	struct buf *out;
	uint8_t held[3]; /* bytes that do not fill four letters yet */
	unsigned count;
};

void base64_add(struct base64 *b, const void *data, size_t size);
void base64_end(struct base64 *b); /* once, behind the last byte */

/* Into `out`, which has three bytes for each four letters begun. False: it is no base64. */
bool base64_read(struct bytes text, uint8_t *out, size_t *size);

#endif
