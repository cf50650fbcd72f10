/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.h - requests of the kernel as calls of vfs.h. Only here an errno becomes a reply. */
#ifndef ANIMFS_FUSE_OPS_H
#define ANIMFS_FUSE_OPS_H

#include "lowlevel.h"

#include <stdbool.h>
#include <stdint.h>

struct fuse_in_header;
struct vfs;

/* The user data of the session. */
struct served {
	struct vfs *vfs;
	uint32_t stamp; /* in file handles: of this mount's nodes and not of another's */
};

/* All but `init`. */
extern const struct fuse_lowlevel_ops vfs_operations;

/* Is this the end of a handle? */
bool request_is_release(const struct fuse_in_header *request);
/* Is this one that the kernel makes once, whatever the answer? */
bool request_is_final(const struct fuse_in_header *request);
/* Does such a one, which libfuse had no memory for. The reply is not sent. */
void request_finish(struct vfs *v, const struct fuse_in_header *request);

#endif
