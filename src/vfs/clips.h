/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clips.h - clips as folders: renamed, moved to another file, removed. */
#ifndef ANIMFS_VFS_CLIPS_H
#define ANIMFS_VFS_CLIPS_H

#include "save.h"

/* By the form that file names have. The clip's node and what lies in it go with it. */
int clip_rename(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		struct changes *changes) EXCLUDES(vfs_class) REQUIRES(writer_class);
/* EXDEV where a clip cannot be moved, though its texts may be copied. Nodes are left alone. */
int clip_move(struct vfs *v, struct animation *from, const char *label, struct animation *to,
	      const char *new_label, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Can a clip of that name be made? EPERM where the format has none but its one. */
int clip_check_new(struct vfs *v, struct animation *a, const char *label) EXCLUDES(vfs_class);
/* Takes the clips whose folders are absent out of the file. */
int clips_take_out(struct vfs *v, struct animation *a, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

#endif
