/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * siblings.h - the model of an animation in another archive of its game.
 *
 * Earth Defense Force binds Root.cpk, Chunk01.cpk, Chunk02.cpk and DX11.cpk, which lie in one
 * folder, as one tree, and files in Mods beside them take the place of members (overlay.h). So the
 * model of DIR/X.CAS may be in DIR/X.MRAB of another of these archives, and that of Mods/DIR/X.CAS
 * in any of them. It counts if no skeleton is found otherwise; the first of the archives that has
 * one is used. The game ignores case in DIR and X. With a guard, only archives that every user may
 * read count.
 */
#ifndef ANIMFS_STORE_SIBLINGS_H
#define ANIMFS_STORE_SIBLINGS_H

#include "store.h"
#include "where.h"

/*
 * The versions of the archives in which a model was looked for. 0: not looked for yet; UNSETTLED:
 * a later write may leave the versions as they are.
 */
typedef uint64_t siblings_state;
#define SIBLINGS_UNSETTLED ((siblings_state)1)

/* Returns the present state of the archives: if it was that before, the model is the same. */
siblings_state siblings_look(const struct store *s, const struct where *where);
/* Returns the skeleton, with a reference for the caller; NULL: none. Takes no lock but its own. */
struct shared_skeleton *siblings_skeleton(struct store *s, const struct where *where,
					  const struct format *format);

#endif
