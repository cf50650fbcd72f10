/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history_room.h - how much space all versions take, and which to drop. With the lock (state.h). */
#ifndef ANIMFS_DISK_HISTORY_ROOM_H
#define ANIMFS_DISK_HISTORY_ROOM_H

#include "history_log.h"
#include "state.h"

/* Returns the space that a version counts for: its blocks, and one block for its log line. */
static inline uint64_t history_cost(uint64_t size)
{
	return (size + 4095) / 4096 * 4096 + 4096;
}

/* Running batches, whose versions from before them are never dropped. 0: none. */
struct history_running {
	const uint64_t *batches;
	size_t count;
};

/*
 * Thins out versions by age, then drops some until at most `target` bytes are left: the oldest of
 * the file that uses most, a file's newest last. *left: bytes left. 0 or an errno.
 */
int history_make_room(struct state *state, uint64_t target, const struct history_running *running,
		      uint64_t *left);
/*
 * Drops versions with `size` bytes in total, only those of `owner` unless it is NULL. If not enough
 * may be dropped, drops none and sets *made to false. 0 or an errno.
 */
int history_free_room(struct state *state, uint64_t size, const uid_t *owner,
		      const struct history_running *running, bool *made);
/* Thins out one file's versions by age. `folder` contains them. */
void history_thin(struct state *state, int folder);

#endif
