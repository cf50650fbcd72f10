/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h - a mount, from its options to its end. */
#ifndef ANIMFS_FUSE_SESSION_H
#define ANIMFS_FUSE_SESSION_H

#include "mount.h"

/*
 * Does not return before the mount has ended; in the background, unless the options say otherwise.
 * Makes it read-only where nothing can be written. An exit status; standard error says what failed.
 */
int mount_serve(struct mount_options *o);

#endif
