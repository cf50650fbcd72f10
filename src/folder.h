/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - a bounded number of descriptors for the folders of SOURCE that are in use.
 *
 * Every access to a real thing is by its folder's descriptor and one name. A mount knows more
 * folders than a process may have descriptors, so those used lately are kept and the others opened
 * again, component by component from the nearest one at hand; a folder that is not the one the node
 * stands for any more is ESTALE.
 *
 * Who moves a name holds folders_hold_still from before it moves on disk until the table knows, so
 * that whoever did not find a thing under the name it has in the table can look once more.
 */
#ifndef ANIMFS_FOLDER_H
#define ANIMFS_FOLDER_H

#include "node.h"

#define FOLDERS_KEPT 256

/*
 * Descriptors are of two kinds: those of one piece of work, and those that are kept, by programs
 * that have files open and by this table. So many stay free for the first kind, without which not
 * even a name could be looked up; a process that may have few keeps a quarter.
 */
#define DESCRIPTORS_RESERVED 64
/*
 * No descriptor of this number or a higher one is kept. The kernel gives the lowest that is free:
 * where it gives one of these, all below are in use.
 */
int descriptors_end(void);

struct folders {
	pthread_mutex_t lock, moves; /* moves: recursive; no file's lock is taken under it */
	struct nodes *nodes;
	int root;      /* SOURCE; not ours to close */
	int end;       /* descriptors_end, when this was made */
	unsigned kept; /* slots in use: fewer where a process may have few descriptors */
	unsigned hand;
	struct folder_slot {
		int fd; /* -1: free */
		uint64_t node;
		unsigned pins;
		bool used;
	} slot[FOLDERS_KEPT];
};

/* A descriptor on loan (O_PATH); give it back with folder_close. */
struct folder {
	int fd;
	int slot; /* -1: the root, or the borrower's own descriptor */
	bool owned;
};
#define FOLDER_NONE {-1, -1, false}

void folders_init(struct folders *f, struct nodes *nodes, int root);
void folders_release(struct folders *f);

void folders_hold_still(struct folders *f);
void folders_let_move(struct folders *f);

/*
 * What is in a folder under this name, not following links; "" is what the descriptor is of.
 * 0 or an errno.
 */
int identity_at(int folder, const char *name, struct identity *id, struct stat *st);
bool identity_same(const struct identity *a, const struct identity *b);

/* The descriptor of a real folder of SOURCE. 0 or an errno. Takes the nodes' lock. */
int folder_open(struct folders *f, struct node *node, struct folder *out);
void folder_close(struct folders *f, struct folder *folder);
/* The node is gone, or its folder: do not keep a descriptor for it. */
void folder_forget(struct folders *f, const struct node *node);

/*
 * The path of a node from the root, without a leading slash; animation files by their own name.
 * ENOENT when the node, or a folder above it, has no name any more. Wants the nodes' lock held.
 */
int node_path(const struct node *node, struct buf *out);

#endif
