/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ops.h - turns requests of the kernel into calls of vfs.h. No other file turns an errno into a
 * reply.
 */
#ifndef ANIMFS_FUSE_OPS_H
#define ANIMFS_FUSE_OPS_H

#include "lowlevel.h"

#include <stdbool.h>
#include <stdint.h>

struct fuse_in_header;
struct vfs;

/* The user data of the FUSE session, which all operations get. */
struct served {
	struct vfs *vfs;
	uint32_t stamp; /* identifies this mount in file handles (NFS) */
};

/* all operations except `init` */
extern const struct fuse_lowlevel_ops vfs_operations;

/* Returns whether this request releases a handle (RELEASE, RELEASEDIR). */
bool request_is_release(const struct fuse_in_header *request);
/* Returns whether the kernel sends this request only once, whatever the reply. */
bool request_is_final(const struct fuse_in_header *request);
/*
 * Executes a request for which request_is_final is true, after libfuse had no memory for it. Sends
 * no reply.
 */
void request_finish(struct vfs *v, const struct fuse_in_header *request);

#endif
