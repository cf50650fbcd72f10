/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outside.h - changes that others make in SOURCE, and in the state directory, seen by watches. */
#ifndef ANIMFS_VFS_OUTSIDE_H
#define ANIMFS_VFS_OUTSIDE_H

#include "animation.h"

/* After the process has detached. Sets v->watch and v->watched. */
void outside_start(struct vfs *v);
void outside_end(struct vfs *v);
/* The animation's `look` deadline: looks at its file, and has the kernel notified. */
void outside_due(struct vfs *v, void *animation);

#endif
