/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmpl.h - unpacks CMPL, the compression of RAB members. */
#ifndef ANIMFS_CONTAINER_CMPL_H
#define ANIMFS_CONTAINER_CMPL_H

#include "animfs/container.h"

#define CMPL_HEAD 8

bool cmpl_is(const uint8_t *head, size_t size);
/*
 * Reads the unpacked size of a member of `stored` bytes from its first CMPL_HEAD bytes, or from all
 * of a shorter member. False and err if the size is invalid; places count from the member's first
 * byte.
 */
bool cmpl_size(const uint8_t *head, uint64_t stored, uint64_t *size, struct err *err);
/* Unpacks a whole member, and appends the result to `out`. */
bool cmpl_read(struct bytes member, struct buf *out, struct err *err);

#endif
