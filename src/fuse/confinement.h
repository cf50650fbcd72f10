/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confinement.h - the mount keeps what serving it takes: SOURCE, the state directory, the log. */
#ifndef ANIMFS_FUSE_CONFINEMENT_H
#define ANIMFS_FUSE_CONFINEMENT_H

#include "disk/state.h"
#include "vfs/mount_options.h"

/*
 * From here on the process can do no more than serve the mount (confine.h); before there are
 * threads. `root` is SOURCE, `overlay` the folder that --overlay is in, or -1. *confined:
 * CONFINED_... Warns on standard error where root keeps more than he is promised.
 */
bool mount_confine(const struct mount_options *o, int root, struct state *state, int overlay,
		   unsigned *confined, struct err *err);

#endif
