/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.h - turns requests of the kernel into calls of vfs.h. Only here an errno becomes a reply. */
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
	uint32_t stamp; /* in file handles: identifies this mount's nodes */
};

/* All operations but `init`. */
extern const struct fuse_lowlevel_ops vfs_operations;

/* Does this request release a handle (RELEASE, RELEASEDIR)? */
bool request_is_release(const struct fuse_in_header *request);
/* Does the kernel send this request only once, whatever the reply? */
bool request_is_final(const struct fuse_in_header *request);
/* Executes such a request after libfuse had no memory for it. The reply is not sent. */
void request_finish(struct vfs *v, const struct fuse_in_header *request);

#endif
