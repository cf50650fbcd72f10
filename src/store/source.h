/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - an animation file of SOURCE through all its versions: how it is read.
 *
 * A source knows the latest version (version.h) and decodes again when the file changed. It keeps
 * neither the file's name nor its folder: each call says where the file is. Thread-safe. No call
 * here waits for a commit of the file (commit.h) as long as some version of it is at hand.
 */
#ifndef ANIMFS_SOURCE_H
#define ANIMFS_SOURCE_H

#include "../util/lock_classes.h"
#include "store.h"
#include "where.h"

struct source;

struct source *source_new(struct store *s);
void source_free(struct source *s); /* NULL is fine; versions live on with their holders */
/*
 * The file has another name, or is another file: it is read again, since another name may mean
 * another codec and other reserved names. What is the same in it keeps its age. Waits until nobody
 * reads or saves the file. A folder above it may be renamed at any time without this.
 */
void source_forget(struct source *s);
/*
 * The latest version, a holder for the caller. NULL and err: ERR_FORMAT where the file does not
 * decode, ERR_UNKNOWN where it is of no known format; this verdict is kept by version, so that
 * asking again costs one fstatat. ERR_SYSTEM where there is no regular file, or it cannot be read.
 * While the file is being replaced by a commit, the version before is the latest.
 */
struct version *source_get(struct source *s, const struct where *where, struct err *err);
/* The latest version that was asked for, if it is at hand; the file is not looked at. */
struct version *source_last(struct source *s);
/* The same as source_get, and what the file was just before; st_mode is 0 where there is none. */
struct version *source_look(struct source *s, const struct where *where, struct stat *st,
			    struct err *err);

/* What became of an attempt to replace it (commit.h). */
enum commit { COMMIT_SAME, COMMIT_DONE, COMMIT_REFUSED };

/*
 * ---- for commit.c and its kin ----
 *
 * One thread works on a source at a time. Readers that find a commit at work take the version that
 * is there.
 */

void source_begin_work(struct source *s, bool commit) ACQUIRE(work_class);
void source_end_work(struct source *s) RELEASE(work_class);
struct store *source_store(const struct source *s);

/* What was read of the file, and whether its version tells it from all that can follow. */
struct reading {
	struct rest rest;
	struct buf bytes;
	struct file_version version;
	bool settled;
};
/* A file that is too large has its version filled in all the same. */
bool source_read(const struct source *s, const struct where *where, struct reading *r,
		 struct err *err);
struct version *source_decode_reading(struct source *s, const struct where *where,
				      struct reading *r, struct err *err) REQUIRES(work_class);
/* A model beside the file says what a file does not that is incomplete; true where it was asked. */
bool source_ask_model(const struct source *s, const struct where *where, const struct codec *codec,
		      struct bytes bytes, struct decoding *how);
/* The version that is there, with its stamp; as source_get otherwise. */
struct version *source_latest(struct source *s, const struct where *where,
			      struct file_version *stamp, struct err *err) REQUIRES(work_class);
/* The next look reads the file, whatever its times say. */
void source_doubt(struct source *s);
/* Does the file hold these bytes, whatever its times say? */
bool source_holds(const struct where *where, struct bytes bytes);
/* The file is `version` now, of this stamp. `edit` is as in version_settle_ages. */
void source_publish(struct source *s, const struct file_version *stamp, bool settled,
		    struct version *version, const struct anim *edit) REQUIRES(work_class);
/* The text beside the file that its skeleton is from, as it was found. False: `name` is not it. */
struct rest_text {
	struct file_version version;
	uint64_t hash;
	bool faulty;
};
bool source_rest_text(struct source *s, const char *name, struct rest_text *text);
bool source_rest_bars(struct source *s, const char *name);

#endif
