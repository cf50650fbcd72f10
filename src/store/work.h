/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.h - replacing a file: shared by commit.c, commit_skeleton.c and create.c.
 *
 * Each attempt runs between source_begin_work and its end; if another program was in the way, it is
 * repeated from the beginning.
 */
#ifndef ANIMFS_STORE_WORK_H
#define ANIMFS_STORE_WORK_H

#include "disk/attributes.h"
#include "disk/history.h"
#include "disk/replace.h"
#include "source.h"

struct committed;

struct work {
	struct source *source;
	const struct where *where;
	/* One attempt. Sets `obstacle` if it should be repeated. */
	bool (*attempt)(struct work *w, struct err *err);

	const struct codec *codec;
	const struct version *base;
	const struct anim *edited, *last;
	const struct committed *before; /* the same draft's last commit; NULL: commits only once */
	const struct bytes *whole;
	const struct clip_renamed *renamed;              /* new name of a clip of base; or NULL */
	const struct attributes *as;                     /* attributes of a new file; may be NULL */
	const struct skeleton *skeleton, *last_skeleton; /* instead of edited and last */
	const struct caller *who;                        /* skeleton: credentials for the guard */
	struct version *made, *made_from;                /* create.c */
	struct ready *ready; /* the new file, already written; or NULL: each attempt writes it */

	struct where here;                /* `where` during an attempt, with its folder open */
	struct version *current, *result; /* each with a reference */
	struct file_version stamp;        /* stamp of the file with the content `current` */
	/* the version that the edit is encoded over; referenced */
	struct version *ground;
	/* the model that result was made from, edited from ground's */
	struct anim *merged;
	struct buf bytes;          /* encoded bytes, until result is made */
	struct version **replaced; /* gets a reference to `current`; or NULL */
	bool is_grounded;          /* ground is the file without the draft's commits */
	bool has_lock;             /* the attempt has the lock of the state directory throughout */
	/* digests of current and result; or NULL */
	const struct history_digest *was_digest, *now_digest;
	enum obstacle {
		OBSTACLE_NONE,
		OBSTACLE_CHANGED, /* the file has changed */
		OBSTACLE_WRITER,  /* another program has it open for writing */
		OBSTACLE_LOCKED,  /* another process holds the lock of the state directory */
	} obstacle;
};

/*
 * Makes attempts until there is a result. An attempt takes the lock of the state directory only to
 * replace the file; after some attempts that found the file changed, it takes that lock at the
 * beginning, so that no other mount can get ahead of it again. *now: the file's version afterwards.
 * ground: NULL, or gets the new ground (struct committed).
 */
enum commit work_run(struct work *w, struct version **now, struct version **ground,
		     struct err *err);
void work_clear(struct work *w);

/*
 * Encodes a model that was edited from ground's into w->bytes, and checks that it decodes to the
 * same.
 */
bool work_encode(struct work *w, const struct anim *model, struct err *err);
/* Decodes bytes, which it takes over, with the file's name and options. */
struct version *work_decode_bytes(const struct work *w, struct buf *bytes, struct err *err);
/* Decodes w->bytes into w->result. */
bool work_decode_result(struct work *w, struct err *err);
/*
 * As work_decode_result, for bytes that were just encoded: if they do not decode, the format cannot
 * store the edit.
 */
bool work_decode(struct work *w, struct err *err);

/*
 * For a loose file that is to be written: makes and opens its folder, for the rest of the attempt.
 * False and err if that is impossible.
 */
bool work_make_folder(struct work *w, struct err *err);

/*
 * The lock of the state directory, which the attempt may have already. 0 or an errno, with the
 * obstacle set.
 */
int work_enter_state(struct work *w) TRY_ACQUIRE(0, replace_class);
void work_leave_state(const struct work *w) RELEASE(replace_class);

/* A temporary beside the file, noted in the state directory. */
struct temporary {
	char name[STATE_TEMPORARY_SIZE];
};
int temporary_begin(const struct work *w, struct temporary *t);
void temporary_end(const struct work *w, const struct temporary *t);

/*
 * Puts a prepared replacement, with the content `data`, in its place, under the lock of the state
 * directory. The old content is kept (history.h); `what` (or NULL) describes the change. 0 or an
 * errno; sets the obstacle.
 */
int work_place(struct work *w, struct replacement *r, struct bytes data, const struct buf *what,
	       struct file_version *now, bool *settled);
/* replace_prepare; if the disk is full, frees old versions and tries again. */
int work_prepare(struct work *w, struct replacement *r, struct bytes data);

/* A new file that is written, and has a temporary name. */
struct ready {
	struct temporary temporary;
	struct replacement replacement;
};
/* Writes w->made. If it is true, call work_end_ready. */
bool work_begin_ready(struct work *w, struct ready *r, struct err *err);
void work_end_ready(const struct work *w, struct ready *r);

/* The history's name for the file `name` in the folder of w's file. */
struct history_file work_file(const struct work *w, const char *name);
/* The note about the saving program and the change: `what` (or NULL) gets its NUL. */
struct history_note work_note(const struct work *w, struct buf *what);
/* Replaces the file by w->result. expect: the stamp it must have; NULL: it must not exist. */
bool work_put(struct work *w, const struct file_version *expect, struct err *err)
	REQUIRES(work_class);

#endif
