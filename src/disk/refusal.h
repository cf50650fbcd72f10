/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refusal.h - a text that was not saved: NAME.rejected has its bytes, NAME.error the reason.
 *
 * The reason is a file because shells, scripts and LibreOffice ignore the result of close().
 */
#ifndef ANIMFS_DISK_REFUSAL_H
#define ANIMFS_DISK_REFUSAL_H

#include "state.h"
#include "util/explain.h"

/* The total size of refused texts in a state directory (--rejected-max). Thread-safe. */
struct refusals;
struct refusals *refusals_new(struct state *s, uint64_t max); /* NULL when out of memory */
void refusals_free(struct refusals *r);                       /* NULL is fine */

/*
 * Owner and mode of the files with a refused text: the user who wrote it, with the group and mode
 * of the view.
 */
struct refusal_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;
};

/*
 * Writes both files beside the view of this path from SOURCE, in STATE_REJECTED. An existing
 * NAME.rejected with another text is kept, and this one becomes NAME.rejected.~2~ (~3~ ...);
 * NAME.error has the newest reason. *own: number of the file that an earlier part of this same text
 * was written to, and may be replaced; 0: none. Set to the number of the file. 0 or an errno:
 * ENOSPC past the limit.
 */
int refusal_write(struct refusals *r, const char *path, struct bytes text, const struct err *err,
		  const struct refusal_owner *owner, unsigned *own);
/* Removes the refused texts of a view. Returns true if there were any. */
bool refusal_remove(struct refusals *r, const char *path);

#endif
