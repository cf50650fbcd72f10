/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batches.h - the batches of saves below an animation (store/batch.h): assigns saves to batches,
 * ends batches, and reports stale texts in .animfs/errors.
 *
 * A batch is one program's. It ends with that program, END_MS after its last save was done, at
 * fsync of a folder, when a view is saved in it again, when others added or removed clips or bones,
 * or when its texts exceed the unused part of --drafts-max. Its result so far stays.
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
	/* Set by the caller; valid until batches_finish. */
	struct vfs *v;
	struct animation *a;
	struct program *program; /* the program that saves; NULL: unknown */
	struct where *where;     /* gets a note of the batch */
	const char *path;        /* path of the view from SOURCE */
	const char *in_file;     /* path of the view from the animation's folder */
	struct attempt *attempt;
	/* Private to batches.c. */
	struct program_batch *batch;
	struct history_note note;
	struct version *now; /* the current version */
	uint32_t number, base, since;
	bool alone; /* save the text by itself: its clip has been renamed */
};

/* Begins a save; `now`: the current version. False when out of memory: do not call the others. */
bool batches_begin(struct batches_save *s, struct version *now, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Adds the attempt's text to the batch. `whole`: of raw.*, the decoded file; NULL if it does not
 * decode. A text whose clip others renamed since it was opened is saved as an edit in a batch of
 * its own, since known values are identified by the names of clips.
 */
enum batch_effect batches_add(struct batches_save *s, struct version *whole, struct err *err)
	REQUIRES(writer_class);
/* The attempt was stored. */
void batches_saved(struct batches_save *s) EXCLUDES(vfs_class) REQUIRES(writer_class);
/*
 * Makes the file the outcome of all texts of the batch. VERDICT_REFUSED also if the attempt's text
 * was refused and would count; then the caller sets err.
 */
enum verdict batches_rewrite(struct batches_save *s, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* The text was refused: removes it from the batch. */
void batches_take_back(struct batches_save *s) REQUIRES(writer_class);
/* Ends the save, and updates .animfs/errors. */
void batches_finish(struct batches_save *s) EXCLUDES(vfs_class) REQUIRES(writer_class);

/*
 * Ends the batches that are due; if nothing has been saved for END_MS, also stores the known
 * versions of the file in the state directory. BATCHES_SYNC: all are due now; BATCHES_LAST: and the
 * mount ends. Call it again at the returned time; 0: nothing is left.
 */
enum batches_when { BATCHES_BUSY, BATCHES_QUIET, BATCHES_SYNC, BATCHES_LAST };
int64_t batches_end(struct vfs *v, struct animation *a, enum batches_when when) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

#endif
