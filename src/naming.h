/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naming.h - bone-names.csv: the table of bones' names (bones.h) that lies in a folder, or not.
 *
 * It is read when it is asked for and has changed. Whoever got a version of it holds that, however
 * often the file changes. Thread-safe.
 */
#ifndef ANIMFS_NAMING_H
#define ANIMFS_NAMING_H

#include "bones.h"
#include "guard.h"

#define NAMING_FILE "bone-names.csv"

/* One version of the table. */
struct naming_table;
const struct bone_names *naming_table_names(const struct naming_table *t); /* NULL has none */
struct naming_table *naming_table_get(struct naming_table *t); /* one more holder; NULL is fine */
void naming_table_put(struct naming_table *t);                 /* one less; NULL is fine */

/*
 * Called when the file begins to be one that cannot be used, with the place and the reason; and
 * with NULL when it no longer is. It must not ask the naming.
 */
typedef void naming_told(void *closure, const char *fault);

struct naming;
/* `folder` stays the caller's and stays open. NULL when out of memory. */
struct naming *naming_new(int folder, naming_told *told, void *closure);
/* The table is used only if the guard lets everybody read it; NULL is fine for both. */
void naming_guard(struct naming *n, const struct guard *guard);
void naming_free(struct naming *n); /* tables live on with their holders; NULL is fine */
/* Are the bones of this format called by such a table? Only where their numbers mean the same in
 * every file. */
bool naming_concerns(const struct format *format);
/* The latest table, a holder for the caller. NULL: there is none that can be used; n may be NULL.
 */
struct naming_table *naming_get(struct naming *n, const struct format *format);

#endif
