/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memo.h - attributes that people gave to a view, or to a clip's folder and those in it. They are
 * remembered while the mount lives, never a reason for a save to fail, and never passed to the
 * binary.
 */
#ifndef ANIMFS_MEMO_H
#define ANIMFS_MEMO_H

#include "fs.h"

struct memo_xattr {
	struct memo_xattr *next;
	size_t size;
	uint8_t *value;
	char name[];
};

struct memo {
	bool has_mode, has_uid, has_gid, has_atime, has_mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime;
	struct timespec age; /* of the view when mtime was given: when it changes, that is over */
	struct memo_xattr *xattrs;
};

/*
 * Is what is given to this node remembered? Otherwise it is the binary's own, or a real file's.
 * raw.* is remembered in nothing but its size.
 */
static inline bool memo_is_for(const struct node *node)
{
	switch ((enum node_kind)node->kind) {
	case NODE_CLIP:
	case NODE_BONES:
	case NODE_FRAMES:
		return true;
	case NODE_VIEW:
		return !node_view(node)->whole;
	default:
		return false;
	}
}

/*
 * The node's memo, made on first use; the node then stays for as long as it has a name. NULL when
 * out of memory.
 */
struct memo *memo_of(struct fs *fs, struct node *node);
/* The mode was given: a remembered ACL says it, too. */
void memo_mode(struct memo *memo, mode_t mode);
/*
 * What is given to a view that was replaced is its name's: the node that has that now, referenced;
 * or the node itself.
 */
struct node *memo_owner(struct fs *fs, struct node *node);
void memo_forget(struct fs *fs, struct node *node);
/* The same with the nodes' lock held. */
void memo_forget_locked(struct node *node);

#endif
