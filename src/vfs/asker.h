/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asker.h - who will ask for the attributes of the views in a folder? A guess, by what was asked.
 */
#ifndef ANIMFS_VFS_ASKER_H
#define ANIMFS_VFS_ASKER_H

#include "store/tree.h"
#include <sys/types.h>

struct asker *asker_new(void); /* free() releases it */
/* The program looked up a view, by its place in views[]. */
void asker_asked(struct asker *a, pid_t pid, unsigned view);
/* It lists a folder that has views: which kinds are sent with their attributes? */
view_set asker_begin(struct asker *a, pid_t pid);
view_set asker_goes_on(const struct asker *a, pid_t pid); /* the same for the rest of the folder */
/* Of one view; to be asked once about each. */
bool asker_is_sent(struct asker *a, view_set sent, unsigned view);

#endif
