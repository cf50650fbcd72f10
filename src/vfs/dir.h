/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dir.h - what is in folders. */
#ifndef ANIMFS_VFS_DIR_H
#define ANIMFS_VFS_DIR_H

#include "entries.h"
#include "lookup.h"

/* ENOTEMPTY where a virtual folder has a view, or something that people put there. */
int folder_check_empty(struct vfs *v, const struct target *folder) EXCLUDES(vfs_class);

#endif
