/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handle.h - open files and folders. A handle is of a node, and acts on what the node stands for:
 * a file that is renamed onto a view is that view for all who have it open.
 */
#ifndef ANIMFS_VFS_HANDLE_H
#define ANIMFS_VFS_HANDLE_H

#include "vfs.h"

#include <fcntl.h>

struct handle {
	struct node *node; /* constant; a reference */
	int flags;         /* constant */
	pid_t opener;      /* constant; the process that opened it, where it writes to a view */
	struct handle *next_of_node GUARDED_BY(vfs_class);
	int fd GUARDED_BY(vfs_class);             /* of a plain thing; -1: opened when it is used */
	bool wrote GUARDED_BY(vfs_class);         /* views: since this handle's last flush */
	bool has_written GUARDED_BY(vfs_class);   /* views: at all */
	struct caller *who GUARDED_BY(vfs_class); /* views of the skeleton: who writes; or NULL */
	bool busy GUARDED_BY(vfs_class); /* plain: open for writing, and not flushed since */
	struct listing *listing;         /* folders; one call at a time works on it */
	bool caches;     /* folders: the kernel keeps what it is told through this handle, */
	uint32_t listed; /* the hash of which this is */
	struct buf text; /* what is in .animfs: rendered when opened */
};

static inline bool handle_writes(const struct handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY;
}

/* Takes the descriptor over (-1: none), also when it fails. NULL: no memory. */
struct handle *handle_new(struct vfs *v, struct node *node, int flags, int fd) EXCLUDES(vfs_class);
/* Only frees it: a view's last word is handle.c's caller's. */
void handle_free(struct vfs *v, struct handle *h) EXCLUDES(vfs_class);
/* All of a node's that is going. */
void handles_free(struct node *node) REQUIRES(vfs_class);
/* What it acts on now. */
void handle_target(struct vfs *v, const struct handle *h, struct target *out) EXCLUDES(vfs_class);
/*
 * What a program has open keeps a descriptor of ours, but none of those that are for the work on
 * requests (DESCRIPTORS_RESERVED): closes such a one. EMFILE, and *fd is -1; or 0.
 */
int handle_keep(struct vfs *v, int *fd);
/* How many of the node's handles are open for writing. */
unsigned node_writers(const struct node *node) REQUIRES(vfs_class);

#endif
