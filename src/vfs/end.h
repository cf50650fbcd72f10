/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * end.h - ends unfinished work: removes clips whose folders were removed from the file, brings
 * other absent names back, and refuses drafts that are still incomplete.
 */
#ifndef ANIMFS_VFS_END_H
#define ANIMFS_VFS_END_H

#include "save.h"

/* Makes all absent names below the animation present again; removes nothing. */
void end_come_back(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Ends unfinished work now, except for drafts. Returns 0, or an errno if clips could not be
 * removed.
 */
int end_finish(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Ends everything now: drafts without an opener, absent names, batches. Returns 0 or the first
 * errno, for example of an incomplete text that was refused.
 */
int end_now(struct vfs *v, struct animation *a, struct changes *changes)
	EXCLUDES(vfs_class, writer_class);
/* Ends what is due; called for the animation's deadline `end`. */
void end_due(struct vfs *v, void *animation);

#endif
