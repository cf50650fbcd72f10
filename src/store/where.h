/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.h - where an animation file is. Borrowed for the call that gets it. */
#ifndef ANIMFS_STORE_WHERE_H
#define ANIMFS_STORE_WHERE_H

/*
 * What the caller holds that a commit is to give up while it waits for another process. A commit
 * that has waited starts from the beginning, so nothing that was true before need be true then.
 */
struct turn {
	void (*release)(void *closure);
	void (*acquire)(void *closure);
	void *closure;
};

struct where {
	int dir;                 /* its folder's descriptor */
	const char *folder;      /* its folder's path from SOURCE, without slashes at the ends */
	const char *name;        /* its own name */
	const struct turn *turn; /* NULL: the caller holds nothing that others wait for */
};

#endif
