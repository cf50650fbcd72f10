/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crilayla.h - unpacks CRILAYLA, the compression of CPK members. */
#ifndef ANIMFS_CONTAINER_CRILAYLA_H
#define ANIMFS_CONTAINER_CRILAYLA_H

#include "animfs/container.h"

/*
 * Appends the `size` bytes of an unpacked member. Reads only as much of it as they can need. False
 * and err, whose place counts from the member's first byte.
 */
bool crilayla_read(const struct input *member, uint64_t size, struct buf *out, struct err *err);

#endif
