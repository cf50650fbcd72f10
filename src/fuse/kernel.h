/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.h - sends the notifications of vfs/kernel.h to the kernel through libfuse. */
#ifndef ANIMFS_FUSE_KERNEL_H
#define ANIMFS_FUSE_KERNEL_H

#include "vfs/kernel.h"

struct fuse_session;

/*
 * Returns the four notification calls. *session may still be NULL, but must be set before the first
 * call.
 */
struct kernel kernel_of(struct fuse_session **session);

#endif
