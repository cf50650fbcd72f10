/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer fuse: the interface to libfuse. Requests become calls of vfs.h, an errno becomes a reply,
 * and the four calls of vfs/kernel.h become notifications. No other layer includes <fuse*>. It also
 * starts and ends a mount: options, privileges, signals, and the process that unmounts after a
 * kill.
 *
 * Start reading in ops.c, which has a function for each request.
 *
 * May use: util disk sandbox vfs
 */
/* session.h - a mount, from its options to its end. */
#ifndef ANIMFS_FUSE_SESSION_H
#define ANIMFS_FUSE_SESSION_H

#include "vfs/mount_options.h"

/*
 * Mounts, in the background unless the options say otherwise, and returns when the mount has ended.
 * The mount is read-only if the state directory cannot be written. Returns an exit status; errors
 * are printed on standard error.
 */
int mount_serve(struct mount_options *o);
/* The version of libfuse. */
const char *mount_library(void);

#endif
