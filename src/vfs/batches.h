/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batches.h - the batches of saves below an animation (store/batch.h): assigns saves to batches,
 * ends batches, and reports stale texts in .animfs/errors.
 *
 * A batch belongs to one program. It ends with that program, END_MS after its last save was done,
 * at fsync of a folder, when a view is saved in it again, when others added or removed clips or
 * bones, or when its texts exceed the unused part of --drafts-max. The result of its saves so far
 * stays.
 *
 *	batches_begin(&save, &err);
 *	effect = batches_add(&save, whole, &err);
 *	... BATCH_SAVE: attempt_store, batches_saved
 *	... BATCH_REWRITE: batches_rewrite
 *	... a refused text: batches_take_back
 *	batches_finish(&save);
 *
 * Between the first and the last call the batch belongs to that save.
 */
#ifndef ANIMFS_VFS_BATCHES_H
#define ANIMFS_VFS_BATCHES_H

#include "animation.h"

#include "disk/history.h"
#include "store/batch.h"

struct batches_save {
	/* These fields are set by the caller, and stay valid until batches_finish. */
	struct vfs *v;
	struct animation *a;
	struct program *program; /* the program that saves; NULL: unknown */
	struct where *where;     /* gets a note of the batch, for history */
	const char *path;        /* path of the view from SOURCE */
	const char *in_file;     /* path of the view from the animation's folder */
	struct attempt *attempt;
	/* These fields are private to batches.c. */
	struct program_batch *batch;
	struct history_note note;
	struct version *now; /* the version that is current when the save begins */
	uint32_t number, base, since;
	bool alone; /* save the text by itself, since its clip has been renamed */
};

/*
 * Begins a save. `now`: the current version. Returns false when out of memory: then call none of
 * the other functions.
 */
bool batches_begin(struct batches_save *s, struct version *now, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Adds the attempt's text to the batch. `whole`: of raw.*, the decoded file; NULL if it does not
 * decode. A text whose clip others have renamed since the text was opened is saved as an edit in a
 * batch of its own, since known values are identified by the names of clips.
 */
enum batch_effect batches_add(struct batches_save *s, struct version *whole, struct err *err)
	REQUIRES(writer_class);
/* Notes in the batch that the attempt was stored. */
void batches_saved(struct batches_save *s) EXCLUDES(vfs_class) REQUIRES(writer_class);
/*
 * Makes the file the outcome of all texts of the batch. Returns VERDICT_REFUSED also if the
 * attempt's text was refused and would count; err then has the reason.
 */
enum verdict batches_rewrite(struct batches_save *s, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Removes the attempt's text from the batch, since it was refused. */
void batches_take_back(struct batches_save *s) REQUIRES(writer_class);
/* Ends the save, and updates .animfs/errors. */
void batches_finish(struct batches_save *s) EXCLUDES(vfs_class) REQUIRES(writer_class);

/*
 * Ends the batches that are due; if nothing has been saved for END_MS, also stores the known
 * versions of the file in the state directory. `when`: BATCHES_SYNC ends all batches now;
 * BATCHES_LAST does so at the end of the mount; BATCHES_QUIET means that END_MS have passed since
 * the last save. Returns the time at which to call it again; 0: nothing is left.
 */
enum batches_when { BATCHES_BUSY, BATCHES_QUIET, BATCHES_SYNC, BATCHES_LAST };
int64_t batches_end(struct vfs *v, struct animation *a, enum batches_when when) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

#endif
