/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commit.h - replaces an animation file by an edit of one of its versions.
 *
 * The lock of the state directory (state.h) is held from the check of the file's bytes to the
 * rename, or, once others have changed the file first a few times, for a whole attempt (work.h). If
 * another process holds it, the commit releases the source, so that the file can be read, and calls
 * where->turn's release; waits for at most ten seconds; and starts from the beginning.
 */
#ifndef ANIMFS_STORE_COMMIT_H
#define ANIMFS_STORE_COMMIT_H

#include "source.h"

/* The last commit of a draft, which the draft's next commit replaces. {0}: none yet. */
struct committed {
	struct anim *edited;   /* the model, edited from the draft's base */
	struct version *saved; /* the version that resulted */
	/* the file without this edit, see source_commit_draft; NULL: unknown */
	struct version *ground;
	struct version *was; /* the version that the commit replaced; the caller may drop it */
};
void committed_clear(struct committed *c);

/*
 * Saves `edited` (made from base->anim by anim_edit) or, for raw.*, the bytes `whole` instead.
 * `last`: the last commit of the same writer, or NULL: with `edited`, the model that was `edited`
 * then, from the same base; with `whole`, the model of the version that resulted.
 *
 * Merges with saves by others, encodes, decodes the result, compares, replaces the file, and keeps
 * the old one (history.h). ERR_CONFLICT: another program changed the same values; ERR_STORE: the
 * format cannot store the edit; ERR_SYSTEM: the file cannot be written. COMMIT_SAME: nothing had to
 * be written. *now gets a reference to the version of the file afterwards (NULL when refused).
 */
enum commit source_commit(struct source *s, const struct where *where, struct version *base,
			  const struct anim *edited, const struct anim *last,
			  const struct bytes *whole, struct version **now, struct err *err);

/*
 * Like source_commit, for a draft that may commit more than once. The stored bytes depend on
 * `base`, `edited` and saves by others, but not on the draft's earlier commits: a text that arrives
 * in pieces is stored exactly like one that arrives at once, even if the format can store equal
 * values in several ways (order of keys, a curve's grid, unused bits).
 *
 * To achieve this, `edited` is encoded not over the result of the last commit but over the
 * `ground`: the file as it would be if the draft had committed nothing. That is the version before
 * its first commit, plus later saves by others, which are the difference between the models of
 * c->saved and of the current file. The difference is complete if the versions between came from
 * edits in this process (version.h, lineage). If another program changed the file, it is accepted
 * only if the draft's last commit, applied to the new ground, gives the file byte for byte.
 * Otherwise, or if others changed the same values, or added or removed bones, the ground is lost:
 * this commit and later ones are encoded over the current file, and then only values, not bytes,
 * are guaranteed.
 *
 * `renamed`: the current name of the base's clip that is edited; NULL: unchanged. On success *c is
 * replaced, and `edited` taken over.
 */
enum commit source_commit_draft(struct source *s, const struct where *where, struct version *base,
				struct anim *edited, const struct bytes *whole,
				const struct clip_renamed *renamed, struct committed *c,
				struct err *err);

#endif
