/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digests_kept.h - stores what is known of the versions of a file (digests.h) in the state
 * directory, beside the file's history, for all mounts and commands.
 *
 *	d = digests_load(state, &file);
 *	... digests_add(), digests_note_text() ...
 *	if (state_lock(state) == 0) {
 *		digests_store(state, &file, d);
 *		state_unlock(state);
 *	}
 *
 * The last to store wins. What another process stored meanwhile is lost, which is no worse than if
 * it had never been known; a command that adds versions holds the lock from digests_load to
 * digests_store.
 */
#ifndef ANIMFS_STORE_DIGESTS_KEPT_H
#define ANIMFS_STORE_DIGESTS_KEPT_H

#include "digests.h"
#include "disk/history.h"
#include "source.h"

/*
 * Empty if nothing is stored, or it is damaged; also, and then partial, if it cannot be read. NULL
 * when out of memory.
 */
struct digests *digests_load(struct state *state, const struct history_file *file);
/* Replaces what is stored. 0 or an errno: EIO if it is partial. Call it with the lock of the state
 * directory. */
int digests_store(struct state *state, const struct history_file *file, const struct digests *d)
	REQUIRES(replace_class);
/*
 * Adds the latest versions of the file's history that are not known. Another mount or a command
 * made them, which may have shown their texts and not stored yet what it knows of them. What cannot
 * be read or decoded is left out.
 */
void digests_learn(struct digests *d, struct state *state, const struct where *where,
		   struct source *source);

#endif
