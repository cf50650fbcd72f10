/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer fuse: the border to libfuse: requests become calls of vfs.h, an errno becomes a reply, and
 * the four calls of vfs/kernel.h become notifications. The only layer that includes <fuse*>. It
 * also starts and ends a mount: options, privileges that are dropped, signals, and the process
 * that unmounts after a kill.
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
 * Does not return before the mount has ended; in the background, unless the options say otherwise.
 * Makes it read-only where nothing can be written. An exit status; standard error says what failed.
 */
int mount_serve(struct mount_options *o);

#endif
