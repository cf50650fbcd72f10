/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digests_kept.h - stores the digests of the versions of a file (digests.h) in the state directory,
 * beside the file's history, for all mounts and commands.
 *
 *	d = digests_load(state, &file);
 *	... digests_add(), digests_note_text() ...
 *	if (state_lock(state) == 0) {
 *		digests_store(state, &file, d);
 *		state_unlock(state);
 *	}
 *
 * The last process to store wins. Digests that another process stored meanwhile are lost, which is
 * harmless; a command that adds versions holds the lock from digests_load to digests_store.
 */
#ifndef ANIMFS_STORE_DIGESTS_KEPT_H
#define ANIMFS_STORE_DIGESTS_KEPT_H

#include "digests.h"
#include "disk/history.h"
#include "source.h"

/*
 * Loads stored digests. The result is empty if nothing is stored or it is damaged, and empty and
 * partial if it cannot be read. NULL when out of memory.
 */
struct digests *digests_load(struct state *state, const struct history_file *file);
/*
 * Replaces the stored digests. 0 or an errno: EIO if `d` is partial. Call it with the lock of the
 * state directory.
 */
int digests_store(struct state *state, const struct history_file *file, const struct digests *d)
	REQUIRES(replace_class);
/*
 * Adds the latest versions of the file's history that are unknown. They were made by another mount
 * or command, which may have shown their texts before it stores their digests. Versions that cannot
 * be read or decoded are left out.
 */
void digests_learn(struct digests *d, struct state *state, const struct where *where,
		   struct source *source);

#endif
