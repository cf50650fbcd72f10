/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.h - why a text was refused, as its author reads it. */
#ifndef ANIMFS_UTIL_EXPLAIN_H
#define ANIMFS_UTIL_EXPLAIN_H

#include "animfs/base.h"

/*
 * "path:14:6: reason" (line 14, character 6), the line with a caret under the fault, the cell of a
 * table, the values that would be accepted, and where the text is kept (`kept`, or NULL when it is
 * not). Appends to out.
 */
void refusal_explain(const char *path, struct bytes text, const struct err *err, const char *kept,
		     struct buf *out);

#endif
