/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * end.h - ends what has been left unfinished: clips whose folders were removed leave the file,
 * other absent names come back, drafts that are still incomplete are refused.
 */
#ifndef ANIMFS_VFS_END_H
#define ANIMFS_VFS_END_H

#include "save.h"

/* All names below the animation that are absent are present again, and nothing is removed. */
void end_come_back(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Ends it now, except for drafts. 0, or an errno if clips could not be removed. */
int end_finish(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Ends everything now: drafts that nobody has open, absent names, batches. 0 or the first errno:
 * what was incomplete has been refused.
 */
int end_now(struct vfs *v, struct animation *a, struct changes *changes)
	EXCLUDES(vfs_class, writer_class);
/* Function of the animation's deadline `end`. */
void end_due(struct vfs *v, void *animation);

#endif
