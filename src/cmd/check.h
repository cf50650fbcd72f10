/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.h - the parts of `animfs check`: which files it is about, and one of them. */
#ifndef ANIMFS_CMD_CHECK_H
#define ANIMFS_CMD_CHECK_H

#include "../shard.h"
#include "cmd.h"

/* ---- check_list.c ---- */

struct check_item {
	char *path;
	char *target; /* of an operand that is a link: the file, else NULL */
	int missing;  /* the errno with which it cannot be looked at, or 0 */
};

struct check_list {
	struct check_item *items;
	size_t count, room;
	bool fine; /* every folder could be read */
};

/*
 * Adds a file, or the animation files below a folder, by their names and in the order of these.
 * Of the shard alone: by the path below the folder, or the name of the file. Folders that cannot be
 * read are told on stderr. False when out of memory.
 */
bool check_list_add(struct check_list *l, const char *path, const struct store *store,
		    const struct shard *shard);
/*
 * Adds what a file names, "-" standard input; each name ends in NUL. False when it cannot be read,
 * or a name is empty: said on stderr.
 */
bool check_list_read(struct check_list *l, const char *from, const struct store *store,
		     const struct shard *shard);
void check_list_release(struct check_list *l);

/* ---- check_file.c ---- */

enum check_outcome {
	CHECK_FINE,
	CHECK_NONE,   /* it is no animation */
	CHECK_FAILED, /* it does not decode, or encodes to something else */
	CHECK_TROUBLE /* it cannot be read */
};

/* What is said of a file. */
struct checked {
	enum check_outcome outcome;
	const char *format; /* its name, or NULL */
	struct err err;     /* of a failure or trouble */
	struct buf text;    /* of a file that is text itself: where the failure is */
	struct buf notes;   /* lines about other files, which could not be used to read it */
};

/* What reads files one after the other, and faster where they lie in one folder. */
struct checker;
struct checker *checker_new(const struct command *command); /* NULL when out of memory */
void checker_free(struct checker *c);                       /* NULL is fine */
/* *out ends with checked_release. */
void checker_check(struct checker *c, const char *path, struct checked *out);
void checked_release(struct checked *c);

#endif
