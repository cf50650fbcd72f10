/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the files beside an animation file that were read along with it: their names and
 * versions, and whether these are current.
 *
 * With a guard, only files that every reader of the animation may read count.
 */
#ifndef ANIMFS_STORE_PARTS_H
#define ANIMFS_STORE_PARTS_H

#include "animfs/codec.h"
#include "disk/dirfd.h"
#include "sandbox/guard.h"

/* The files that were read; all zero: none. */
struct parts {
	struct part_read *list;
	size_t count, room;
	bool unsettled; /* a later change of one may not show in its version */
	/* With a guard: the version of the animation file whose permissions were checked. */
	struct file_version animation;
};
void parts_release(struct parts *p);
/*
 * Would they be the same if they were read again, up to `max` bytes in all? Costs one fstatat each
 * if none has changed; a new version with the same bytes is no change.
 */
bool parts_same(struct parts *p, int dir, const char *file_name, const struct guard *guard,
		size_t max);
static inline bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec ? a.tv_nsec > b.tv_nsec : a.tv_sec > b.tv_sec;
}
static inline struct timespec later_time(struct timespec a, struct timespec b)
{
	return is_later(a, b) ? a : b;
}
/* Returns the latest mtime of all files; {0} if there are none. */
struct timespec parts_mtime(const struct parts *p);

/* Reads files beside an animation for a codec, which names them by `neighbours`. */
struct parts_reader {
	struct neighbours neighbours;
	struct parts *parts;
	int dir;
	const char *file_name;
	const struct guard *guard;
	size_t room; /* number of bytes that all further files may have */
};
/*
 * Files that are read are noted in `parts`, which is {0}; their bytes stay until parts_drop_bytes.
 */
void parts_begin(struct parts_reader *r, struct parts *parts, int dir, const char *file_name,
		 const struct guard *guard, size_t max);
void parts_drop_bytes(struct parts *p);

#endif
