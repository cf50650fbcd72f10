/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handle.h - open files and folders. A handle belongs to a node, and acts on the thing that the
 * node stands for when a request comes: after a file is renamed onto a view, its handles act on the
 * view.
 */
#ifndef ANIMFS_VFS_HANDLE_H
#define ANIMFS_VFS_HANDLE_H

#include "archive.h"
#include "program.h"
#include "vfs.h"

#include <fcntl.h>

struct handle {
	struct node *node; /* node that the handle belongs to; constant; referenced */
	int flags;         /* constant */
	/* constant; the program that opened the file for writing, referenced; else NULL */
	struct program *program;
	struct handle *next_of_node GUARDED_BY(vfs_class);
	/* descriptor of a plain thing; -1: opened on first use */
	int fd GUARDED_BY(vfs_class);
	/* for views: the handle has written since its last flush */
	bool wrote GUARDED_BY(vfs_class);
	bool has_written GUARDED_BY(vfs_class); /* for views: the handle has written at all */
	/* for views: the text was refused, and the opener has not got the error yet */
	bool owed GUARDED_BY(vfs_class);
	bool released GUARDED_BY(vfs_class); /* for views: the kernel has released the handle */
	/* for views of the skeleton: credentials of the opener for writing; else NULL */
	struct caller *who GUARDED_BY(vfs_class);
	/* for plain files: open for writing, or written to, and not flushed since */
	bool busy GUARDED_BY(vfs_class);
	/*
	 * For files in an archive: the member, and its bytes once read. `of` is NULL for all other
	 * files.
	 */
	struct member_handle {
		struct catalog *of;
		uint32_t entry;
		struct member_bytes bytes;
	} member GUARDED_BY(vfs_class);
	/*
	 * for folders: the listing that is read; not locked, since the kernel makes one call at a
	 * time
	 */
	struct listing *listing;
	/* for folders: the kernel caches the listing that this handle reads */
	bool caches;
	uint32_t listed; /* for folders: hash of the listing that was read last */
	/* for files in .animfs: the text, rendered when the file was opened */
	struct buf text;
};

static inline bool handle_writes(const struct handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY;
}

/*
 * Makes a handle of the node. `who`: the request's caller; may be NULL if the handle neither writes
 * nor truncates. Takes over the descriptor (-1: none) even on failure. Returns NULL when out of
 * memory.
 */
struct handle *handle_new(struct vfs *v, const struct request *who, struct node *node, int flags,
			  int fd) EXCLUDES(vfs_class);
/*
 * Returns the archive member that the handle was opened for. 0, or EIO if it was opened for another
 * kind of file.
 */
int handle_spot(struct vfs *v, const struct handle *h, struct spot *out) EXCLUDES(vfs_class);
/*
 * Takes the handle from its node, to which the caller has a reference. The caller has committed the
 * written text, and frees the handle without the lock, since that closes a file.
 */
void handle_leave(struct vfs *v, struct handle *h) REQUIRES(vfs_class);
void handle_free(struct handle *h);
/* Frees all handles of a node that is being freed. */
void handles_free(struct node *node) REQUIRES(vfs_class);
/* Returns the node and thing that the handle acts on now, with references. */
void handle_target(struct vfs *v, const struct handle *h, struct target *out) EXCLUDES(vfs_class);
/*
 * Checks a descriptor that is to be kept for an open file. If it is one of those reserved for
 * requests (DESCRIPTORS_RESERVED), closes it, sets *fd to -1 and returns EMFILE; else returns 0.
 */
int handle_keep(struct vfs *v, int *fd);
/*
 * Makes the next save of the view belong to the program that opened the handle, since that handle
 * wrote last. Two programs that have a view open share its draft, and the last to write has the
 * text, as in any file.
 */
void view_save_for(struct view_state *view, const struct handle *h) REQUIRES(vfs_class);
/* Returns the number of the node's handles that are open for writing. */
unsigned node_writers(const struct node *node) REQUIRES(vfs_class);

#endif
