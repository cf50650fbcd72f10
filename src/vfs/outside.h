/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.h - reacts to changes by others in SOURCE and in the state directory, as reported by
 * inotify.
 */
#ifndef ANIMFS_VFS_OUTSIDE_H
#define ANIMFS_VFS_OUTSIDE_H

#include "animation.h"

/*
 * Starts watching, and sets v->watch and v->watched. Starts a thread: call it after the daemon has
 * forked.
 */
void outside_start(struct vfs *v);
void outside_end(struct vfs *v);
/* Function of the animation's deadline `look`: looks at the file, and notifies the kernel. */
void outside_due(struct vfs *v, void *animation);

#endif
