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
		HISTORY_OUT,   /* the state before batch `batch` */
	} way;
	uint64_t number, batch;
	bool only_look; /* only find the version, and write nothing */
	/*
	 * The file replaces something that exists without it (a loose file, store/overlay.h): undo
	 * of the save that made it removes it.
	 */
	bool unmakes;
	/* The program and a batch of its own. The description is set by this module. */
	const struct history_note *note;
};

struct history_result {
	struct history_book book; /* the log before the undo or redo */
	size_t from, to; /* indices in the log of the versions before and after the step; `to` is
			    SIZE_MAX if there was no file */
	struct buf there, bytes; /* old and new content of the file */
	bool was_there;
};

/*
 * Puts a version in the place of the file. Owner, mode and other attributes stay; if there is no
 * file, it is made with those of the version. The lock is taken and released here. Release the
 * result in either case. 0, or
 *
 *   ENODATA   there is no version to undo or redo to, or it is not kept
 *   ENOENT    the batch did nothing with this file
 *   ESTALE    the file differs from its last version; for HISTORY_OUT also if there were
 *             others after the batch
 *   EALREADY  the file has this content already
 *   EBUSY     another program has the file open for writing
 *   EAGAIN    other programs keep changing the file
 */
int history_restore(struct history *h, const struct history_file *file,
		    const struct history_request *request, struct history_result *result);
void history_result_release(struct history_result *result);

#endif
