/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount_options.h - the options of a mount. */
#ifndef ANIMFS_VFS_MOUNT_OPTIONS_H
#define ANIMFS_VFS_MOUNT_OPTIONS_H

#include "store/store.h"
#include "store/tree.h"

struct mount_options {
	char *source, *mountpoint; /* absolute paths */
	char *state;               /* --state, or NULL */
	char *overlay;             /* --overlay, or NULL */
	bool rebuild;              /* --rebuild */
	char *passed;              /* of -o: options for libfuse and mount(2), as given; or NULL */
	view_set listed;
	bool beside;
	bool read_only;
	bool allow_other;
	bool nonempty;
	bool unconfined;    /* --unconfined: do not drop privileges; for debuggers */
	bool stopped_clock; /* for tests: the clock only moves by .animfs/clock */
	bool foreground;
	bool debug; /* print every request; stay in the foreground */
	struct store_options store;
	size_t max_text;     /* limit, in bytes, of one text */
	size_t upper_max;    /* limit of all ordinary files beside views */
	size_t drafts_max;   /* limit of all drafts, in memory */
	size_t rejected_max; /* limit of all refused texts */
	size_t pinned_max;   /* limit of old versions that are open */
	int uid, gid, umask; /* -1: as in SOURCE */
	int threads;         /* limit of threads that serve requests */
};

#endif
