/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.h - what a mount is asked to be; all that the rest of the program knows of FUSE. */
#ifndef ANIMFS_MOUNT_H
#define ANIMFS_MOUNT_H

#include "source.h"
#include "tree.h"

struct mount_options {
	char *source, *mountpoint;
	char *state; /* --state, or NULL */
	view_set listed;
	bool beside;
	bool read_only;
	bool allow_other;
	bool unconfined; /* keeps all that the process could do: for debuggers */
	bool noforget;   /* node numbers last as long as the mount */
	struct store_options store;
	size_t max_text;     /* bytes of one text */
	size_t extra_max;    /* bytes of all that people put beside texts */
	int uid, gid, umask; /* -1: as the source has it */
};

/* `animfs [options] SOURCE MOUNTPOINT`: does not return before the mount ended. An exit status. */
int mount_main(int argc, char **argv);

#endif
