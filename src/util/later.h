/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * later.h - memory that is dropped under a lock that must be held briefly, and freed after it.
 *
 * Freeing much takes time: pages are unmapped, descriptors of archives closed. So between
 * later_begin and later_end of a thread, later_free only notes what is to be freed.
 */
#ifndef ANIMFS_UTIL_LATER_H
#define ANIMFS_UTIL_LATER_H

/* Member of each object that later_free can free; {0} at first. */
struct later {
	struct later *next;
	void (*free)(struct later *l);
};

/*
 * Brackets a critical section: call later_begin after taking the lock, and later_end after
 * releasing it. Cannot be nested.
 */
void later_begin(void);
void later_end(void);
/* Calls `free` for the object: at once, or in later_end. No reference to the object may remain. */
void later_free(struct later *l, void (*free)(struct later *l));

#endif
