/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h - a folder's listing, with offsets from which a reader can resume.
 *
 * The kernel reads a folder piece by piece, and may ask for the rest after it dropped its cache and
 * the folder changed. So a name's offset does not depend on the folder's other entries: a clip,
 * bone or view has its index in the file as the offset, any other entry a hash of its name.
 * Whatever stays in the folder is listed exactly once.
 */
#ifndef ANIMFS_VFS_ENTRIES_H
#define ANIMFS_VFS_ENTRIES_H

#include "animfs/base.h"
#include <sys/stat.h>

struct listing_entry {
	size_t name; /* where the name begins in listing.names */
	uint64_t ino;
	uint64_t offset; /* offset for readdir; 0 until listing_order */
	mode_t type;     /* file type (S_IF...); 0: unknown until the entry is looked up */
};

struct listing {
	struct buf names;
	struct listing_entry *entries;
	size_t count, room;
	uint32_t places; /* number of places counted so far, listed or not */
	/* the listing was read when the folder was opened, and has not been used yet */
	bool fresh;
};

/* Adds a name that has no place in an animation file. Returns false when out of memory. */
bool listing_add(struct listing *l, const char *name, uint64_t ino, mode_t type);
/*
 * Count a place of an animation file: listing_add_place adds a clip, bone, still or view to the
 * listing, listing_pass_place skips one that is not listed. Call one of the two for each place, in
 * order. listing_add_place returns false when out of memory.
 */
void listing_pass_place(struct listing *l);
bool listing_add_place(struct listing *l, const char *name, uint64_t ino, mode_t type);
const char *listing_name(const struct listing *l, size_t i);
/* Sorts the listing; call it when all names have been added. */
void listing_order(struct listing *l);
/* Returns the index of the first entry after an offset. */
size_t listing_behind(const struct listing *l, uint64_t offset);
/* Returns a hash of the listing's names; 0 for a listing that the kernel may not cache. */
uint32_t listing_hash(const struct listing *l);
void listing_free(struct listing *l); /* NULL is fine */

/*
 * Keeps the listings that are being read, so that not every piece needs a new one. For a kernel
 * that does not open folders. Thread-safe.
 */
struct listings;
struct listings *listings_new(void);
void listings_free(struct listings *l); /* NULL is fine */
/*
 * Takes out the listing of a node, if one was put in a moment ago. Returns NULL if there is none.
 */
struct listing *listings_take(struct listings *l, uint64_t node);
/* Puts in the listing of a node, which is taken over. */
void listings_put(struct listings *l, uint64_t node, struct listing *listing);

#endif
