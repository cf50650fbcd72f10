/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_TESTS_UNIT_VFS_ADD_NODE_H
#define ANIMFS_TESTS_UNIT_VFS_ADD_NODE_H

#include "vfs/vfs.h"

#include <check.h>

/*
 * Makes a node for the object, and takes over the reference to the object. The caller gets a
 * reference to the node.
 */
static inline struct node *add_node(struct vfs *v, struct node *parent, struct thing *thing,
				    const char *name) REQUIRES(vfs_class)
{
	struct node *node = thing ? nodes_add(&v->nodes, thing, name) : NULL;

	ck_assert_ptr_nonnull(node);
	thing_put(&v->nodes, thing);
	ck_assert(nodes_link(&v->nodes, node, parent, name));
	return node;
}

#endif
