/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.h - reacts to changes by other programs in SOURCE and in the state directory, which
 * inotify reports.
 */
#ifndef ANIMFS_VFS_OUTSIDE_H
#define ANIMFS_VFS_OUTSIDE_H

#include "animation.h"

/*
 * Starts watching, and sets v->watch and v->watched. Starts a thread, so call it after the daemon
 * has forked.
 */
void outside_start(struct vfs *v);
void outside_end(struct vfs *v);
/* Looks at the file and notifies the kernel; called for the animation's deadline `look`. */
void outside_due(struct vfs *v, void *animation);

#endif
