/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmpl.h - unpacks CMPL, as members of RAB archives are packed. */
#ifndef ANIMFS_CONTAINER_CMPL_H
#define ANIMFS_CONTAINER_CMPL_H

#include "animfs/container.h"

#define CMPL_HEAD 8

bool cmpl_is(const uint8_t *head, size_t size);
/*
 * The bytes that a member of `stored` bytes unpacks to, by its first CMPL_HEAD bytes, or fewer if
 * it has fewer. False and err where it cannot; places count from its first byte.
 */
bool cmpl_size(const uint8_t *head, uint64_t stored, uint64_t *size, struct err *err);
/* Appends a whole member unpacked. */
bool cmpl_read(struct bytes member, struct buf *out, struct err *err);

#endif
