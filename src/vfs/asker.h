/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.h - guesses, from what a program has asked for, whether it will ask for the attributes of
 * the views in a folder it lists.
 */
#ifndef ANIMFS_VFS_ASKER_H
#define ANIMFS_VFS_ASKER_H

#include "store/tree.h"
#include <sys/types.h>

struct asker *asker_new(void); /* free() releases it */
/* The program looked up a view; `view` is its index in views[]. */
void asker_asked(struct asker *a, pid_t pid, unsigned view);
/* The program begins to list a folder with views: returns the views to send with attributes. */
view_set asker_begin(struct asker *a, pid_t pid);
view_set asker_goes_on(const struct asker *a, pid_t pid); /* the same, for the rest of the folder */
/* Is this one sent with attributes? Call it once for each view listed. */
bool asker_is_sent(struct asker *a, view_set sent, unsigned view);

#endif
