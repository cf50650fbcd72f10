/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confinement.h - drops privileges that are not needed to serve the mount: the process keeps access
 * to SOURCE, the state directory and the log.
 */
#ifndef ANIMFS_FUSE_CONFINEMENT_H
#define ANIMFS_FUSE_CONFINEMENT_H

#include "disk/state.h"
#include "vfs/mount_options.h"

/*
 * Confines the process to serving the mount (confine.h). Call it before there are threads. `root`
 * is SOURCE, `overlay` the parent folder of --overlay, or -1. *confined is set to CONFINED_...
 * flags. Returns false on failure. Warns on standard error if a mount by root keeps more privileges
 * than the manual promises.
 */
bool mount_confine(const struct mount_options *o, int root, struct state *state, int overlay,
		   unsigned *confined, struct err *err);

#endif
