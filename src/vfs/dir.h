/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dir.h - listing folders. */
#ifndef ANIMFS_VFS_DIR_H
#define ANIMFS_VFS_DIR_H

#include "entries.h"
#include "lookup.h"

/* Returns 0, or ENOTEMPTY if a virtual folder has a view that is not absent, or ordinary files. */
int folder_check_empty(struct vfs *v, const struct target *folder) EXCLUDES(vfs_class);

#endif
