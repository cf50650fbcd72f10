/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handle.h - open files and folders. A handle belongs to a node, and acts on the thing that the
 * node stands for at the time: after a file is renamed onto a view, its handles act on the view.
 */
#ifndef ANIMFS_VFS_HANDLE_H
#define ANIMFS_VFS_HANDLE_H

#include "archive.h"
#include "program.h"
#include "vfs.h"

#include <fcntl.h>

struct handle {
	struct node *node; /* constant; a reference */
	int flags;         /* constant */
	/* constant; referenced: the program that opened it for writing; or NULL */
	struct program *program;
	struct handle *next_of_node GUARDED_BY(vfs_class);
	int fd GUARDED_BY(vfs_class);           /* of a plain thing; -1: opened on first use */
	bool wrote GUARDED_BY(vfs_class);       /* views: written to since the last flush */
	bool has_written GUARDED_BY(vfs_class); /* views: written to at all */
	bool owed GUARDED_BY(vfs_class);        /* views: the opener has not got a refusal yet */
	bool released GUARDED_BY(vfs_class);    /* views: the kernel has released it */
	/* views of the skeleton: credentials of the opener for writing; or NULL */
	struct caller *who GUARDED_BY(vfs_class);
	bool busy GUARDED_BY(vfs_class); /* plain: open for writing, and not flushed yet */
	/* files in an archive: the member, and its bytes once read; `of` NULL: another file */
	struct member_handle {
		struct catalog *of;
		uint32_t entry;
		struct member_bytes bytes;
	} member GUARDED_BY(vfs_class);
	struct listing *listing; /* folders; the kernel makes one call at a time */
	bool caches;             /* folders: the kernel caches the listing, */
	uint32_t listed;         /* whose hash this is */
	struct buf text;         /* files in .animfs: the text, rendered on open */
};

static inline bool handle_writes(const struct handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY;
}

/*
 * `who`: the request's caller; may be NULL if the handle neither writes nor truncates. Takes over
 * the descriptor (-1: none) even on failure. Returns NULL when out of memory.
 */
struct handle *handle_new(struct vfs *v, const struct request *who, struct node *node, int flags,
			  int fd) EXCLUDES(vfs_class);
/* The file in an archive that it was opened for. 0, or EIO: it is of another kind. */
int handle_spot(struct vfs *v, const struct handle *h, struct spot *out) EXCLUDES(vfs_class);
/*
 * Takes it from its node, to which the caller has a reference. The caller has committed the written
 * text, and frees the handle without the lock, since that closes a file.
 */
void handle_leave(struct vfs *v, struct handle *h) REQUIRES(vfs_class);
void handle_free(struct handle *h);
/* Frees all handles of a node that is being freed. */
void handles_free(struct node *node) REQUIRES(vfs_class);
/* The node and thing that it acts on now, with references. */
void handle_target(struct vfs *v, const struct handle *h, struct target *out) EXCLUDES(vfs_class);
/*
 * Call it before a descriptor is kept for an open file. If it is one of those reserved for requests
 * (DESCRIPTORS_RESERVED), closes it, sets *fd to -1 and returns EMFILE; else returns 0.
 */
int handle_keep(struct vfs *v, int *fd);
/*
 * The next save of the view belongs to the program that opened the handle, since it wrote last. Two
 * programs that have a view open share its draft, and the last to write has the text, as in any
 * file.
 */
void view_save_for(struct view_state *view, const struct handle *h) REQUIRES(vfs_class);
/* The number of the node's handles that are open for writing. */
unsigned node_writers(const struct node *node) REQUIRES(vfs_class);

#endif
