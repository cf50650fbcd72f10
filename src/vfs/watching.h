/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watching.h - watches the folders of SOURCE that are in use. */
#ifndef ANIMFS_VFS_WATCHING_H
#define ANIMFS_VFS_WATCHING_H

#include "vfs.h"

/* Watches, if possible, a plain folder that is in use and open as fd. */
void folder_watch(struct vfs *v, const struct target *folder, int fd) EXCLUDES(vfs_class);
/* Ends the watch of a folder whose node is about to be freed. */
void folder_unwatch(struct vfs *v, uint64_t node, const struct thing *folder) REQUIRES(vfs_class);

#endif
