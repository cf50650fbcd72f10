/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging.h - folders that people make and fill with texts: in an animation's folder to make a
 * clip, elsewhere, under the name of an animation file, to make that.
 */
#ifndef ANIMFS_VFS_STAGING_H
#define ANIMFS_VFS_STAGING_H

#include "staging_given.h"

struct stagings *stagings_new(struct vfs *v); /* NULL: no memory */
void stagings_free(struct stagings *list);    /* NULL is fine */
/* Is a plain folder of this name, made here, one that texts come into? */
bool staging_wanted(struct vfs *v, const struct thing *parent, const char *name)
	EXCLUDES(vfs_class);
/* The folder was just made, or got its name. Where it cannot be noted, an errno: it stays plain. */
int staging_begin(struct vfs *v, const struct target *folder) EXCLUDES(vfs_class);
/* It is gone, or has another name; its path was `path`. */
void staging_forget(struct vfs *v, const struct target *folder, const char *path)
	EXCLUDES(vfs_class);
/* Something happens to a plain thing: if it is in such a folder, that one is not full yet. */
void staging_touch(struct vfs *v, const struct node *node) EXCLUDES(vfs_class);
/*
 * What was given to such a folder, or to a file in it: bits (1 << GIVEN_...). The file that the
 * folder becomes gets that. staging_touch, too.
 */
void staging_given(struct vfs *v, const struct request *who, const struct node *node, unsigned what)
	EXCLUDES(vfs_class);
/*
 * All below a folder, which the kernel may have locked for the request, or all there are (NULL: the
 * mount ends), now. The first errno.
 */
int stagings_finish(struct vfs *v, const struct node *above) EXCLUDES(vfs_class);
/* Those that an earlier mount left. */
void stagings_resume(struct vfs *v);

#endif
