/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crilayla.h - unpacks CRILAYLA, the compression of CPK members. */
#ifndef ANIMFS_CONTAINER_CRILAYLA_H
#define ANIMFS_CONTAINER_CRILAYLA_H

#include "animfs/container.h"

/*
 * Unpacks a member of `size` bytes, and appends the result to `out`. Reads only as much of the
 * member as unpacking can need. False and err on failure; places count from the member's first
 * byte.
 */
bool crilayla_read(const struct input *member, uint64_t size, struct buf *out, struct err *err);

#endif
