/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sharing.h - notices changes in the state directory that are made by other mounts which share it.
 */
#ifndef ANIMFS_VFS_SHARING_H
#define ANIMFS_VFS_SHARING_H

#include "animation.h"

struct sharing *sharing_new(void);
void sharing_free(struct sharing *s); /* NULL is fine */
/* Watches the folders of the state directory. Returns false if changes could go unnoticed. */
bool sharing_watch(struct vfs *v);
/* Handles an event of v->watch. Returns false if the event was not about the state directory. */
bool sharing_changed(struct vfs *v, uint64_t cookie, const char *name, uint32_t mask);

#endif
