/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refusal.h - a text that was not saved: NAME.rejected has it as it was typed, NAME.error says why.
 *
 * The reason is a file because shells, scripts and LibreOffice do not look at what close() returns.
 */
#ifndef ANIMFS_REFUSAL_H
#define ANIMFS_REFUSAL_H

#include "animfs/base.h"

/*
 * "path:14:6: what is wrong", the line with a caret under the fault, what would be accepted, and
 * where the text is kept (`kept`, or NULL when it is not). Appends to out.
 */
void refusal_explain(const char *path, struct bytes text, const struct err *err, const char *kept,
		     struct buf *out);

/*
 * Writes both files into `folder` for the view called `name`. A refusal that is there already with
 * another text stays, and this one becomes NAME.rejected.~2~ (~3~ ...), NAME.error the newest reason.
 * 0 or an errno.
 */
int refusal_write(int folder, const char *path, const char *name, struct bytes text,
		  const struct err *err);
/* Removes a view's refusals. True when there were any. */
bool refusal_remove(int folder, const char *name);

#endif
