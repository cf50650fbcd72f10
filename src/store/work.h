/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.h - what commit.c, commit_skeleton.c and create.c share: how a file is replaced.
 *
 * A try runs with the work on its source begun; it is repeated from the beginning where another
 * program was in the way.
 */
#ifndef ANIMFS_WORK_H
#define ANIMFS_WORK_H

#include "../attributes.h"
#include "../replace.h"
#include "source.h"

struct committed;

struct work {
	struct source *source;
	const struct where *where;
	/* One try, with the work begun. It sets `obstacle` where it is to be made again. */
	bool (*attempt)(struct work *w, struct err *err);

	const struct codec *codec;
	const struct version *base;
	const struct anim *edited, *last;
	const struct committed *before; /* by the same draft; NULL for one that commits once */
	const struct bytes *whole;
	const struct attributes *as;                     /* of a file that is made; may be NULL */
	const struct skeleton *skeleton, *last_skeleton; /* in place of edited and last */
	const struct caller *who;                        /* skeleton: of the guard */
	struct version *made, *made_from;                /* create.c */

	struct version *current, *result; /* each with a holder */
	struct file_version stamp;        /* of the file as it is current */
	struct version *ground;           /* what the edit is stored over, with a holder */
	struct anim *merged;              /* what result was made of, edited from ground's model */
	struct buf bytes;                 /* of result, until it is made */
	bool is_grounded;                 /* ground is the file without what the draft committed */
	bool loses;  /* keys, bones or clips, on the way from current to result */
	bool is_new; /* skeleton: the text was not there before */
	enum obstacle {
		OBSTACLE_NONE,
		OBSTACLE_CHANGED, /* the file is another one by now */
		OBSTACLE_WRITER,  /* another program has it open for writing */
		OBSTACLE_LOCKED,  /* another process holds the lock of the state directory */
	} obstacle;
};

/*
 * Makes tries until there is an outcome. *now: the version that is there then. *ground, where it is
 * not NULL: as of struct committed.
 */
enum commit work_run(struct work *w, struct version **now, struct version **ground,
		     struct err *err);
void work_clear(struct work *w);

/* Encodes a model that was edited from ground's, and checks what comes back. */
bool work_encode(struct work *w, const struct anim *model, struct err *err);
/* The bytes are taken over; the version is named and decoded as the file will be. */
struct version *work_decode_bytes(const struct work *w, struct buf *bytes, struct err *err);
/* The bytes in w->bytes, to w->result. */
bool work_decode_result(struct work *w, struct err *err);
/* The same of bytes that were encoded. What cannot be read again is not what was wanted. */
bool work_decode(struct work *w, struct err *err);

/* A temporary beside the file, noted in the state directory. */
struct temporary {
	char name[STATE_TEMPORARY_SIZE];
};
int temporary_begin(const struct work *w, struct temporary *t);
void temporary_end(const struct work *w, const struct temporary *t);

/* What is to be kept before it is replaced: the file `name`, which holds these bytes. */
struct backup {
	const char *name;
	struct bytes bytes;
};
/*
 * Puts what is prepared in its place, under the lock of the state directory. `backup` may be NULL.
 * 0 or an errno; sets the obstacle.
 */
int work_place(struct work *w, struct replacement *r, const struct backup *backup,
	       struct file_version *now, bool *settled);
/* Of an errno of replace_prepare or replace_place. */
enum obstacle work_obstacle(int error);
/* Keeps it, with the lock; `path` is that of the file from SOURCE, which the caller frees. */
int work_keep(const struct work *w, const struct backup *b, char **path);
/* Makes result the file's content. expect NULL: there is no file yet. */
bool work_put(struct work *w, const struct file_version *expect, struct err *err)
	REQUIRES(work_class);

#endif
