/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.h - .animfs at the top of the mount: what the mount knows about itself. It answers by
 * name and is not listed, so that grep -r and rsync do not meet it.
 */
#ifndef ANIMFS_VFS_CONTROL_H
#define ANIMFS_VFS_CONTROL_H

#include "vfs.h"

struct control *control_new(void);    /* NULL: no memory */
void control_free(struct control *c); /* NULL is fine */

/* What `name` is: .animfs in the root, or a file in it. With references. ENOENT, ENOMEM. */
int control_find(struct vfs *v, const struct target *parent, const char *name, struct target *out)
	EXCLUDES(vfs_class);
void control_attributes(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/* What it says now; or, where files are not opened, the text whose size was sent last. */
void control_text(struct vfs *v, const struct target *t, bool as_sent, struct buf *out)
	EXCLUDES(vfs_class);
/* The names in the folder, each once: index from 0 on; NULL: no more. */
const char *control_name(unsigned index);

#endif
