/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rest.h - where the skeleton of an animation file is found.
 *
 * In NAME.skeleton.csv beside it (NAME with the extension), else in a model beside it (model.h),
 * else in skeleton.csv, which is for all files of the folder. The first that is there is the one,
 * also when it cannot be used. One that the guard does not let everybody read is as if it were not
 * there.
 */
#ifndef ANIMFS_REST_H
#define ANIMFS_REST_H

#include "at.h"
#include "guard.h"
#include "skeleton.h"
#include <limits.h>

#define REST_FILE "skeleton.csv"
/* No longer text is read. */
#define REST_TEXT_MAX ((size_t)16 << 20)

/* NAME.skeleton.csv; false where that would be too long for a name. */
bool rest_own_name(const char *file_name, char name[NAME_MAX + 1]);

/* Is it the name of such a text? Then *length is that of NAME. */
bool rest_is_own(const char *name, size_t *length);
/* Is it one of a file that other files of its folder may have their skeleton from? */
bool rest_is_shared(const char *name);

/* A skeleton and its holders. Thread-safe. */
struct rest_skeleton;
const struct skeleton *rest_skeleton(const struct rest_skeleton *r); /* NULL has none */
struct rest_skeleton *
rest_skeleton_get(struct rest_skeleton *r);               /* one more holder; NULL is fine */
void rest_skeleton_put(struct rest_skeleton *r);          /* one less; NULL is fine */
size_t rest_skeleton_size(const struct rest_skeleton *r); /* all its memory */
/* When the file that says it was changed last; the beginning of time for NULL. */
struct timespec rest_skeleton_mtime(const struct rest_skeleton *r);

/* Which file it was found in, and which version of that. {0}: nobody has looked yet. */
struct rest {
	bool looked, settled; /* settled: a later change would show in the versions */
	struct file_version folder, file;
	char *name; /* of the file; NULL: there is none */
	uint64_t hash;
	bool faulty; /* it was told */
	/* With a guard, what it was asked about: the animation, and those that it did not let. */
	struct file_version animation;
	struct rest_barred {
		char *name;
		struct file_version version;
	} barred[3];
	unsigned barred_count;
};
void rest_release(struct rest *r);

/* Is this the name of one that is there, and that the guard does not let everybody read? */
bool rest_bars(const struct rest *r, const char *name);

/* Would the same be found again? A few fstatat while nothing in the folder changes. */
bool rest_same(struct rest *r, int dir, const char *file_name, const struct format *format,
	       const struct guard *guard);

/* Called with the reason when a file cannot be used, and with NULL when it can, or is gone. */
typedef void rest_told(void *closure, const char *name, const char *fault);
/* Looks for it and reads it, with a holder for the caller; NULL: there is none, or no memory. */
struct rest_skeleton *rest_load(struct rest *r, int dir, const char *file_name,
				const struct format *format, const struct guard *guard,
				rest_told *told, void *closure);

#endif
