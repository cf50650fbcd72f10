/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.h - what a mount is asked to be. */
#ifndef ANIMFS_MOUNT_H
#define ANIMFS_MOUNT_H

#include "store/store.h"
#include "store/tree.h"

struct mount_options {
	char *source, *mountpoint; /* absolute paths */
	char *state;               /* --state, or NULL */
	char *passed; /* of -o: what is for libfuse and mount(2), a list as it was given; or NULL */
	view_set listed;
	bool beside;
	bool read_only;
	bool allow_other;
	bool nonempty;
	bool unconfined; /* keeps all that the process could do: for debuggers */
	bool noforget;   /* node numbers last as long as the mount */
	bool foreground;
	bool debug; /* every request is printed, in the foreground */
	struct store_options store;
	size_t max_text;     /* bytes of one text */
	size_t extra_max;    /* bytes of all that people put beside texts */
	size_t drafts_max;   /* bytes of all texts that are being written, in memory */
	size_t rejected_max; /* bytes of all refused texts */
	size_t held_max;     /* bytes of old versions that are open */
	int uid, gid, umask; /* -1: as the source has it */
	int threads;         /* that answer requests, at most */
};

#endif
