/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settle.h - for fsync of a folder: ends at once the work that would end after END_MS without a
 * change.
 */
#ifndef ANIMFS_VFS_SETTLE_H
#define ANIMFS_VFS_SETTLE_H

#include "vfs.h"

/*
 * Ends everything unfinished below a folder, which the kernel has locked for this request: staged
 * folders, drafts without an opener, absent names, batches. For a folder of an animation, ends
 * everything of its file. Returns 0 or the first errno, EBADMSG for a text that is refused because
 * it is incomplete.
 */
int settle_below(struct vfs *v, const struct target *folder) EXCLUDES(vfs_class);

#endif
