/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history_room.h - how much space all versions take, and which to drop. With the lock (state.h). */
#ifndef ANIMFS_DISK_HISTORY_ROOM_H
#define ANIMFS_DISK_HISTORY_ROOM_H

#include "history_log.h"
#include "state.h"

/* The space that a version is counted with: its blocks, and one for its line. */
static inline uint64_t history_cost(uint64_t size)
{
	return (size + 4095) / 4096 * 4096 + 4096;
}

/* Versions that are never dropped: those from before these batches. 0: none. */
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
 * Drops versions with `size` bytes; those of `owner` only, unless NULL. If that many may not be
 * dropped, drops none and *made is false. 0 or an errno.
 */
int history_free_room(struct state *state, uint64_t size, const uid_t *owner,
		      const struct history_running *running, bool *made);
/* Thins out one file's versions by age. `folder` contains them. */
void history_thin(struct state *state, int folder);

#endif
