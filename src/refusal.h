/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refusal.h - a text that was not saved: NAME.rejected has it as it was typed, NAME.error says why.
 *
 * The reason is a file because shells, scripts and LibreOffice do not look at what close() returns.
 */
#ifndef ANIMFS_REFUSAL_H
#define ANIMFS_REFUSAL_H

#include "state.h"

/*
 * "path:14:6: what is wrong" (of a table: line 14, cell 6), the line with a caret under the fault,
 * what would be accepted, and where the text is kept (`kept`, or NULL when it is not). Appends to
 * out.
 */
void refusal_explain(const char *path, struct bytes text, const struct err *err, const char *kept,
		     struct buf *out);

/* How much all refusals of a state directory may take together (--rejected-max). Thread-safe. */
struct refusals;
struct refusals *refusals_new(struct state *s, uint64_t max); /* NULL when out of memory */
void refusals_free(struct refusals *r);                       /* NULL is fine */

/* Who the files of a refusal belong to: the caller, with the group and mode of the view. */
struct refusal_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;
};

/*
 * Writes both files into `folder`, which is one of STATE_REJECTED, for the view called `name`. A
 * refusal that is there already with another text stays, and this one becomes NAME.rejected.~2~
 * (~3~ ...), NAME.error the newest reason. *own is the number of the one that is written over,
 * because it is this same text when less of it was there, or 0; a new one leaves its number there.
 * 0 or an errno: ENOSPC where it is more than there may be.
 */
int refusal_write(struct refusals *r, int folder, const char *path, const char *name,
		  struct bytes text, const struct err *err, const struct refusal_owner *owner,
		  unsigned *own);
/* Removes a view's refusals. True when there were any. */
bool refusal_remove(int folder, const char *name);

#endif
