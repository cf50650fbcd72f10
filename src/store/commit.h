/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commit.h - how an animation file is replaced by what was made of one of its versions.
 *
 * The lock of the state directory (state.h) is held only from the check of the file's bytes to the
 * rename. Where another process has it, the commit gives up all that it holds, where->turn too,
 * waits for at most ten seconds, and starts from the beginning.
 */
#ifndef ANIMFS_COMMIT_H
#define ANIMFS_COMMIT_H

#include "source.h"

/* What a draft committed last, to be replaced by its next commit. {0}: nothing yet. */
struct committed {
	struct anim *edited;    /* what was committed, edited from the draft's base */
	struct version *saved;  /* the version that it left */
	struct version *ground; /* the file without it: source_commit_draft; NULL: not known */
};
void committed_clear(struct committed *c);

/*
 * Saves `edited` (made from base->anim by anim_edit), or for raw.* `whole` in place of it.
 * `last` is what the same writer committed before, or NULL: for `edited` the model that was
 * `edited` then, from the same base; for `whole` the model of the version that it left.
 *
 * Merges with what others saved, encodes, decodes again, compares, keeps the old file where keys,
 * bones or clips are removed from it (--backup), replaces. ERR_CONFLICT when others changed the
 * same; ERR_STORE when the format cannot hold it; ERR_SYSTEM when nothing can be written.
 * COMMIT_SAME: nothing had to be written. *now gets a holder of the version that is there
 * afterwards (NULL when refused).
 */
enum commit source_commit(struct source *s, const struct where *where, struct version *base,
			  const struct anim *edited, const struct anim *last,
			  const struct bytes *whole, struct version **now, struct err *err);

/*
 * The same for a draft that may commit more than once. What is stored depends on `base`, `edited`
 * and what others saved, and not on what the draft committed before, to the byte: a text that
 * arrives in pieces is stored as one that comes at once, also where the format stores equal values
 * in more than one way (the order of keys, the grid of a curve, bits that no value needs).
 *
 * For that, `edited` is not stored over the bytes that the last commit left but over the `ground`:
 * the file as it would be had the draft committed nothing. That is the version before its first
 * commit, with all that others saved since: the difference between the models of c->saved and of
 * the file, which is stored over the ground. That is all of it where the versions between came of
 * edits in this process (version.h, lineage). Where another program changed the file it is taken
 * for all only if the draft's last commit leads from the new ground to the file, byte for byte.
 * Else, and where others changed what the draft has, or added and removed bones, the ground is
 * lost: this commit and later ones are stored over what is there, and equal in value alone.
 *
 * Success replaces what is in *c and takes `edited` over.
 */
enum commit source_commit_draft(struct source *s, const struct where *where, struct version *base,
				struct anim *edited, const struct bytes *whole, struct committed *c,
				struct err *err);

#endif
