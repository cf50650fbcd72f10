/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check_file.h - the check of one file. */
#ifndef ANIMFS_CMD_CHECK_FILE_H
#define ANIMFS_CMD_CHECK_FILE_H

#include "cmd.h"

enum check_outcome {
	CHECK_FINE,
	CHECK_NONE,   /* the file is no animation */
	CHECK_FAILED, /* the file does not decode, or encodes to other bytes */
	CHECK_TROUBLE /* the file cannot be read */
};

/* The result for a file. */
struct checked {
	enum check_outcome outcome;
	const char *format; /* name of the format, or NULL */
	struct err err;     /* why the check or the read failed */
	struct buf text;    /* bytes of a text file, to quote the line of the failure */
	struct buf notes;   /* messages about other files that could not be used to read this one */
};

/* Checks one file after the other; faster if they are sorted by folder. */
struct checker;
struct checker *checker_new(const struct command *command); /* NULL when out of memory */
void checker_free(struct checker *c);                       /* NULL is fine */
/*
 * *out ends with checked_release. `inside`: where in the path the path in an archive begins; 0: it
 * is a file.
 */
void checker_check(struct checker *c, const char *path, size_t inside, struct checked *out);
void checked_release(struct checked *c);

#endif
