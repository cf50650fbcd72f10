/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watching.h - which folders of SOURCE are watched. */
#ifndef ANIMFS_VFS_WATCHING_H
#define ANIMFS_VFS_WATCHING_H

#include "vfs.h"

/* The plain folder, open as fd, is in use: its changes are noticed from now on, if they can be. */
void folder_watch(struct vfs *v, const struct target *folder, int fd) EXCLUDES(vfs_class);
/* Its node goes. */
void folder_unwatch(struct vfs *v, uint64_t node, const struct thing *folder) REQUIRES(vfs_class);

#endif
