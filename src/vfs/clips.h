/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clips.h - renaming and removing clips as folders. All functions return 0 or an errno. `by`: the
 * program that renames the clip; NULL: not known.
 */
#ifndef ANIMFS_VFS_CLIPS_H
#define ANIMFS_VFS_CLIPS_H

#include "save.h"

/*
 * Renames a clip. Names are in file-name form. The clip's node and the nodes below it get the new
 * name.
 */
int clip_rename(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		struct program *by, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Checks whether a clip with this name can be made. EPERM if files of the format have exactly one
 * clip.
 */
int clip_check_new(struct vfs *v, struct animation *a, const char *label) EXCLUDES(vfs_class);
/* Removes from the file the clips whose folders are absent. */
int clips_take_out(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

#endif
