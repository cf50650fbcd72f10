/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crilayla.h - unpacks CRILAYLA, as members of CPK archives are packed. */
#ifndef ANIMFS_CONTAINER_CRILAYLA_H
#define ANIMFS_CONTAINER_CRILAYLA_H

#include "animfs/container.h"

/*
 * Appends the `size` bytes that a member unpacks to. Reads no more of it than these can take.
 * False and err, whose place counts from the member's first byte.
 */
bool crilayla_read(const struct input *member, uint64_t size, struct buf *out, struct err *err);

#endif
