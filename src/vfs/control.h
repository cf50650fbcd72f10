/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.h - the folder .animfs at the top of the mount, whose files show the mount's status. It
 * can be opened by name, but is not listed, so that grep -r and rsync do not find it.
 */
#ifndef ANIMFS_VFS_CONTROL_H
#define ANIMFS_VFS_CONTROL_H

#include "vfs.h"

struct control *control_new(void);    /* NULL: no memory */
void control_free(struct control *c); /* NULL is fine */

/*
 * Finds `name`: .animfs in the root, or a file in .animfs. *out has references. Returns 0, ENOENT
 * or ENOMEM.
 */
int control_find(struct vfs *v, const struct target *parent, const char *name, struct target *out)
	EXCLUDES(vfs_class);
void control_attributes(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/*
 * Renders the text of a file in .animfs. `as_sent`, for a kernel that opens no files: returns the
 * text whose size was sent last.
 */
void control_text(struct vfs *v, const struct target *t, bool as_sent, struct buf *out)
	EXCLUDES(vfs_class);
/*
 * Returns whether the file can be written: only "clock", in a mount whose clock a test has stopped.
 * control_write moves the clock on by the number of milliseconds in `text`, and returns when all
 * work that was due by then is done and the kernel is notified. It returns 0 or an errno.
 */
bool control_is_writable(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);
int control_write(struct vfs *v, const struct target *t, struct bytes text) EXCLUDES(vfs_class);
/* Returns the name with this index, from 0, in .animfs; NULL if there are no more. */
const char *control_name(unsigned index);

#endif
