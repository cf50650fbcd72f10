/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h - what is in a folder, in the order in which it is told, and from where one reads on.
 *
 * The kernel reads a folder piece by piece, and may come back for the rest when it has dropped what
 * it was told, and the folder has changed. So a name's offset says where it belongs in the order
 * whatever else is there: that of a place is its number in the file, that of any other name comes
 * from the name alone. What stays in the folder is then told once, whatever comes or goes.
 */
#ifndef ANIMFS_FS_ENTRIES_H
#define ANIMFS_FS_ENTRIES_H

#include "animfs/base.h"
#include <sys/stat.h>

struct listing_entry {
	size_t name; /* offset in names */
	uint64_t ino;
	uint64_t offset; /* 0 until listing_order */
	mode_t type;     /* S_IF...; 0: not known before it is looked up */
	int view;        /* its place in views[], or -1 */
};

struct listing {
	struct buf names;
	struct listing_entry *entries;
	size_t count, room;
	uint32_t places; /* how many have been passed, listed or not */
	bool has_views;
	bool fresh; /* read when the folder was opened, and not told to anybody yet */
};

/* False when out of memory. */
bool listing_add(struct listing *l, const char *name, uint64_t ino, mode_t type);
/*
 * The same for a place in an animation file's folder, with its view or -1; all of them, in order,
 * are to be passed.
 */
void listing_pass_place(struct listing *l);
bool listing_add_place(struct listing *l, const char *name, uint64_t ino, int view);
const char *listing_name(const struct listing *l, size_t i);
/* When all names are in it. */
void listing_order(struct listing *l);
/* The first entry behind an offset. */
size_t listing_behind(const struct listing *l, uint64_t offset);
/* What tells it from others; 0 where that does not matter. */
uint32_t listing_hash(const struct listing *l);
void listing_free(struct listing *l); /* NULL is fine */

/*
 * Listings of folders that are just being read by a kernel that opens none, so that not every piece
 * takes a new one. Thread-safe.
 */
struct listings;
struct listings *listings_new(void);
void listings_free(struct listings *l); /* NULL is fine */
/* Hands over that of a node, if one was put in a moment ago; NULL otherwise. */
struct listing *listings_take(struct listings *l, uint64_t node);
/* Takes it over. */
void listings_put(struct listings *l, uint64_t node, struct listing *listing);

#endif
