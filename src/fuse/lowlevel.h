/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lowlevel.h - includes libfuse, and chooses the version of its interface. */
#ifndef ANIMFS_FUSE_LOWLEVEL_H
#define ANIMFS_FUSE_LOWLEVEL_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

/*
 * Defined if libfuse can pass requests through our own read and write functions, which count
 * releases (`releases` in struct vfs).
 */
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 13)
#define COUNTS_RELEASES
#endif

#endif
