/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sharing.h - changes that other mounts make in the same state directory. */
#ifndef ANIMFS_VFS_SHARING_H
#define ANIMFS_VFS_SHARING_H

#include "animation.h"

struct sharing *sharing_new(void);
void sharing_free(struct sharing *s); /* NULL is fine */
/* Looks for folders that are to be watched. False where changes would not be noticed. */
bool sharing_watch(struct vfs *v);
/* An event of v->watch: true when it was about the state directory. */
bool sharing_changed(struct vfs *v, uint64_t cookie, const char *name, uint32_t mask);

#endif
