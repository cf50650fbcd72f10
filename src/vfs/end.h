/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * end.h - what ends when nobody goes on with it: clips whose folders were removed leave the file,
 * names that are absent come back, drafts that stayed pending are refused.
 */
#ifndef ANIMFS_VFS_END_H
#define ANIMFS_VFS_END_H

#include "save.h"

/* Ends what time would end, but for drafts. An errno where clips stay. */
int end_finish(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* The animation's `end` deadline. */
void end_due(struct vfs *v, void *animation);

#endif
