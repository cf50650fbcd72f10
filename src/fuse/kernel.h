/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.h - sends notifications to the kernel (vfs/kernel.h) by libfuse. */
#ifndef ANIMFS_FUSE_KERNEL_H
#define ANIMFS_FUSE_KERNEL_H

#include "vfs/kernel.h"

struct fuse_session;

/* The session may be made later, but before the first call. */
struct kernel kernel_of(struct fuse_session **session);

#endif
