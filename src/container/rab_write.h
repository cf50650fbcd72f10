/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rab_write.h - replaces one member of a RAB. */
#ifndef ANIMFS_CONTAINER_RAB_WRITE_H
#define ANIMFS_CONTAINER_RAB_WRITE_H

#include "animfs/base.h"

/*
 * Appends the archive `rab` with other bytes for member `number` (in the order of the file table).
 * Everything else keeps its bytes: names, flags, times and order, and the stored form of the other
 * members. The new bytes are stored as they are, not packed, unless they are the member's own: then
 * nothing changes at all.
 *
 * ERR_STORE if the archive is not laid out as the game's own are, so that a new one could not be
 * made without losing something, with the place; or if it would be too large. ERR_FORMAT if
 * archive_open refuses the archive; `limit` is passed to it.
 */
bool rab_replace(struct bytes rab, size_t limit, uint32_t number, struct bytes bytes,
		 struct buf *out, struct err *err);

#endif
