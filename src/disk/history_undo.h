/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history_undo.h - undo and redo: replaces a file by one of its versions. */
#ifndef ANIMFS_DISK_HISTORY_UNDO_H
#define ANIMFS_DISK_HISTORY_UNDO_H

#include "history.h"

struct history_request {
	enum history_way {
		HISTORY_BACK,  /* undo */
		HISTORY_FORTH, /* redo */
		HISTORY_TO,    /* version `number` */
		HISTORY_OUT,   /* what was there before batch `batch` */
	} way;
	uint64_t number, batch;
	bool only_look; /* only finds out; nothing is written */
	/*
	 * The file replaces something that exists without it (a loose file, store/overlay.h): undo
	 * of the save that made it removes it.
	 */
	bool unmakes;
	/* The program and a batch of its own. The description is set by this module. */
	const struct history_note *note;
};

struct history_result {
	struct history_book book; /* as it was before */
	size_t from, to;          /* places in its log; `to` is SIZE_MAX where there was no file */
	struct buf there, bytes;  /* what the file held, and holds */
	bool was_there;
};

/*
 * Puts a version in the place of the file. It keeps owner, mode and all else that is not its bytes;
 * where there is no file it is made as that version was. The lock is taken and released here.
 * Release the result in either case. 0, or
 *
 *   ENODATA   there is nothing to go back or forth to, or the version is not kept
 *   ENOENT    the batch did nothing with this file
 *   ESTALE    the file is not what its last version was; of HISTORY_OUT also where there were
 *             others after the batch
 *   EALREADY  it is what is there
 *   EBUSY     another program has the file open for writing
 *   EAGAIN    other programs keep changing the file
 */
int history_restore(struct history *h, const struct history_file *file,
		    const struct history_request *request, struct history_result *result);
void history_result_release(struct history_result *result);

#endif
