/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naming.h - bone-names.csv: an optional table of bones' names (model/bones.h) in a folder.
 *
 * The file is read when it is needed and has changed. Each caller keeps the version it got, however
 * often the file changes. Thread-safe.
 */
#ifndef ANIMFS_SKELETON_NAMING_H
#define ANIMFS_SKELETON_NAMING_H

#include "model/bones.h"
#include "sandbox/guard.h"

#define NAMING_FILE "bone-names.csv"

/* One version of the table of bone names (bone-names.csv). */
struct naming_table;
const struct bone_names *
naming_table_names(const struct naming_table *t); /* returns NULL if t is NULL */
struct naming_table *
naming_table_get(struct naming_table *t);      /* takes a reference; t may be NULL */
void naming_table_put(struct naming_table *t); /* drops a reference; t may be NULL */

/*
 * Called with the place and the reason when the file becomes unusable, and with NULL when it is
 * usable again. It is called under naming_class, so it must not call the functions below.
 */
typedef void naming_reporter(void *closure, const char *fault);

/* The table that this text is. NULL and err: it is none, or out of memory. */
struct naming_table *naming_table_read(struct bytes text, const struct format *format,
				       struct err *err);

struct naming;
/*
 * Makes the table of a folder. The descriptor `folder` is not closed, and must stay open until
 * naming_free. Returns NULL when out of memory.
 */
struct naming *naming_new(int folder, naming_reporter *report, void *closure);
/*
 * Sets a guard: the table is used only if the guard allows all users to read it. n and guard may be
 * NULL.
 */
void naming_guard(struct naming *n, const struct guard *guard);
/* Frees n, which may be NULL. Tables live until their references are dropped. */
void naming_free(struct naming *n);
/*
 * Returns whether the table can name the bones of a format: only if a bone's number means the same
 * bone in every file.
 */
bool naming_concerns(const struct format *format);
/*
 * Returns the latest table, with a reference for the caller. NULL if none can be used; n may be
 * NULL.
 */
struct naming_table *naming_get(struct naming *n, const struct format *format);

#endif
