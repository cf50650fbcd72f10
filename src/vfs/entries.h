/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h - a folder's listing, with offsets from which a reader can resume.
 *
 * The kernel reads a folder piece by piece, and may ask for the rest after it dropped its cache and
 * the folder changed. So a name's offset does not depend on the folder's other entries: that of a
 * clip, bone or view is its index in the file, that of any other name is a hash of the name.
 * Whatever stays in the folder is listed exactly once.
 */
#ifndef ANIMFS_VFS_ENTRIES_H
#define ANIMFS_VFS_ENTRIES_H

#include "animfs/base.h"
#include <sys/stat.h>

struct listing_entry {
	size_t name; /* offset in listing.names */
	uint64_t ino;
	uint64_t offset; /* 0 until listing_order */
	mode_t type;     /* S_IF...; 0: unknown until it is looked up */
};

struct listing {
	struct buf names;
	struct listing_entry *entries;
	size_t count, room;
	uint32_t places; /* number of places passed, listed or not */
	bool fresh;      /* read when the folder was opened, and not used yet */
};

/* False when out of memory. */
bool listing_add(struct listing *l, const char *name, uint64_t ino, mode_t type);
/*
 * listing_add_place adds a clip, bone, still or view of an animation file; listing_pass_place
 * counts one that is not listed. Call one of the two for each place, in order. False when out of
 * memory.
 */
void listing_pass_place(struct listing *l);
bool listing_add_place(struct listing *l, const char *name, uint64_t ino, mode_t type);
const char *listing_name(const struct listing *l, size_t i);
/* Sorts the listing; call it when all names have been added. */
void listing_order(struct listing *l);
/* Index of the first entry after an offset. */
size_t listing_behind(const struct listing *l, uint64_t offset);
/* A hash of the listing's names; 0 for a listing that the kernel may not cache. */
uint32_t listing_hash(const struct listing *l);
void listing_free(struct listing *l); /* NULL is fine */

/*
 * For a kernel that does not open folders: keeps listings that are being read, so that not every
 * piece needs a new one. Thread-safe.
 */
struct listings;
struct listings *listings_new(void);
void listings_free(struct listings *l); /* NULL is fine */
/* Takes out the listing of a node, if one was put in a moment ago; else NULL. */
struct listing *listings_take(struct listings *l, uint64_t node);
/* Puts a listing in, and takes it over. */
void listings_put(struct listings *l, uint64_t node, struct listing *listing);

#endif
