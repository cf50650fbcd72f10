/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_classes.h - every class of lock in the program, in the order in which a thread may take
 * them: a lock of a later line may be taken while one of an earlier line is held, never the other
 * way round. The ranks leave room between them.
 */
#ifndef ANIMFS_UTIL_LOCK_CLASSES_H
#define ANIMFS_UTIL_LOCK_CLASSES_H

#include "lock.h"

/*           class              rank  guards */
#define LOCK_CLASSES(X)                                                                            \
	X(naming_class, 700) /* the table of bones' names */                                       \
	X(cache_class, 900)  /* which versions nobody holds */                                     \
	X(recent_class, 910) /* the texts that were made last */

#define LOCK_CLASS_DECLARE(class, rank) extern struct lock_class class;
LOCK_CLASSES(LOCK_CLASS_DECLARE)

#endif
