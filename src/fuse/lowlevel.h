/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lowlevel.h - libfuse, in the version that we speak. */
#ifndef ANIMFS_FUSE_LOWLEVEL_H
#define ANIMFS_FUSE_LOWLEVEL_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#endif
