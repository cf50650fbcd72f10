/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - an animation file of SOURCE through all its versions: reading it.
 *
 * A source knows the latest version (version.h), and decodes the file again when it has changed. It
 * stores neither the file's name nor its folder: each call gets them. Thread-safe.
 * A look waits for a commit of the file (commit.h) only if the file no longer contains the known
 * version.
 */
#ifndef ANIMFS_STORE_SOURCE_H
#define ANIMFS_STORE_SOURCE_H

#include "model_archive.h"
#include "parts.h"
#include "store.h"
#include "util/lock_classes.h"
#include "where.h"

struct source;

struct source *source_new(struct store *s);
/* NULL is fine; versions live until their references are dropped */
void source_free(struct source *s);
/*
 * Makes the source read the file again, since it has a new name, or is another file: the name may
 * determine the codec and reserved names. Unchanged parts keep their ages. Waits for threads that
 * read or save the file. Not needed when a folder above is renamed.
 */
void source_forget(struct source *s);
/*
 * The latest version, with a reference for the caller. NULL and err: ERR_FORMAT if the file does
 * not decode, ERR_UNKNOWN if its format is not known (this verdict is remembered, so asking again
 * costs one fstatat); ERR_SYSTEM if it is not a regular file, or cannot be read. It is the content
 * of the file at the time of the call, or later.
 */
struct version *source_get(struct source *s, const struct where *where, struct err *err);
/* Returns the last version that was read, if it is still in memory; does not look at the file. */
struct version *source_last(struct source *s);
/*
 * Takes the versions that others replaced after texts of them had been read (version.h: is_served),
 * oldest first, with references for the caller. The source keeps the last REPLACED_MAX.
 */
#define REPLACED_MAX 4
size_t source_replaced(struct source *s, struct version *out[REPLACED_MAX]);
bool source_has_replaced(struct source *s);
/* As source_get; `st`: the file's attributes just before; st_mode is 0 if there is no file. */
struct version *source_look(struct source *s, const struct where *where, struct stat *st,
			    struct err *err);

/* The result of an attempt to replace the file (commit.h). */
enum commit { COMMIT_SAME, COMMIT_DONE, COMMIT_REFUSED };

/*
 * ---- for commit.c and the other files that save ----
 *
 * One thread at a time works on a source. Readers do not wait for a commit while the file contains
 * the known version. Once it does not, they wait and then read it: another program may have stored
 * it meanwhile.
 */

void source_begin_work(struct source *s) ACQUIRE(work_class);
void source_end_work(struct source *s) RELEASE(work_class);
struct store *source_store(const struct source *s);

/* A reading of the file, and whether any later write is sure to change its stamp. */
struct reading {
	struct found_skeleton found;
	struct model_archive models;
	uint64_t siblings; /* siblings_state */
	struct parts parts;
	struct buf bytes;
	struct file_version version;
	bool settled;
};
/* Reads the file; fills in r->version even if the file is too large. */
bool source_read(const struct source *s, const struct where *where, struct reading *r,
		 struct err *err);
struct version *source_decode_reading(struct source *s, const struct where *where,
				      struct reading *r, struct err *err) REQUIRES(work_class);
/*
 * Asks a model beside the file for facts that the file itself does not store; returns true if there
 * was a model to ask.
 */
bool source_ask_model(const struct source *s, const struct where *where, const struct codec *codec,
		      struct bytes bytes, struct decoding *how);
/* Like source_get; also returns the file's stamp. */
struct version *source_latest(struct source *s, const struct where *where,
			      struct file_version *stamp, struct err *err) REQUIRES(work_class);
/* Reads the file after a commit that changed a file beside it; `was`: the version before. */
struct version *source_result(struct source *s, const struct where *where, struct version *was,
			      struct file_version *stamp, struct err *err) REQUIRES(work_class);
/* Makes the next look read the file, even if its times are unchanged. */
void source_doubt(struct source *s);
/* Reads the file, and returns whether it contains exactly these bytes. */
bool source_holds(const struct where *where, struct bytes bytes);
/* Sets the latest version and its stamp after a commit. `edit`: see version_settle_ages. */
void source_publish(struct source *s, const struct file_version *stamp, bool settled,
		    struct version *version, const struct anim *edit) REQUIRES(work_class);
/*
 * The text beside the file that the skeleton was read from, as found then. False: `name` is not
 * that text.
 */
struct skeleton_file {
	struct file_version version;
	uint64_t hash;
	bool faulty;
};
bool source_skeleton_file(struct source *s, const char *name, struct skeleton_file *text);
bool source_bars_skeleton(struct source *s, const char *name);

#endif
