/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base64.h - base64 (RFC 4648): written piece by piece, so that the bytes need not be copied into
 * one block first, and read.
 */
#ifndef ANIMFS_VIEW_BASE64_H
#define ANIMFS_VIEW_BASE64_H

#include "animfs/base.h"

struct base64 {
	struct buf *out;
	uint8_t rest[3]; /* bytes not written yet: fewer than the three that make four letters */
	unsigned count;
};

void base64_add(struct base64 *b, const void *data, size_t size);
/* Writes the bytes that are left, with padding. Call it once, after the last byte. */
void base64_end(struct base64 *b);

/*
 * Decodes into `out`, which has room for 3 bytes per 4 letters, rounded up. Returns false if the
 * text is not base64.
 */
bool base64_read(struct bytes text, uint8_t *out, size_t *size);

#endif
