/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount_options.h - the options of a mount. */
#ifndef ANIMFS_VFS_MOUNT_OPTIONS_H
#define ANIMFS_VFS_MOUNT_OPTIONS_H

#include "store/store.h"
#include "store/tree.h"

struct mount_options {
	char *source, *mountpoint; /* absolute paths of SOURCE and the mountpoint */
	char *state;               /* argument of --state, or NULL */
	char *overlay;             /* argument of --overlay, or NULL */
	bool rebuild;              /* whether --rebuild is given */
	/* argument of -o: options for libfuse and mount(2), as given; or NULL */
	char *passed;
	view_set listed;
	bool beside;
	bool read_only;
	bool allow_other;
	bool nonempty;
	bool unconfined;    /* --unconfined: do not drop privileges; for debuggers */
	bool stopped_clock; /* for tests: the clock is moved only by writing to .animfs/clock */
	bool foreground;
	bool debug; /* -d: print every request, and stay in the foreground */
	struct store_options store;
	size_t max_text;     /* limit of the size of one text, in bytes */
	size_t upper_max;    /* --extra-max: limit of the size of all ordinary files beside views */
	size_t drafts_max;   /* --drafts-max: limit of the memory of all drafts */
	size_t rejected_max; /* --rejected-max: limit of the size of all refused texts */
	size_t pinned_max;   /* --held-max: limit of the memory of old versions that are open */
	int uid, gid, umask; /* -1: owner, group or mode are shown as in SOURCE */
	int threads;         /* -o max_threads: limit of threads that serve requests */
};

#endif
