/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mounted.h - maps paths in a mount to paths in its SOURCE. */
#ifndef ANIMFS_CMD_MOUNTED_H
#define ANIMFS_CMD_MOUNTED_H

#include "animfs/base.h"

#include <sys/types.h>

struct mounted {
	char *path;   /* path in SOURCE; the path itself if it is in no mount */
	char *source; /* SOURCE of the mount; NULL: the path is in no mount */
	char *state;  /* --state of the mount; NULL: the state directory is in SOURCE */
};

/*
 * Finds the mount of animfs that the path is in; the path need not exist. If the mount is mounted
 * over its SOURCE, this process looks below it, which only root may. False and err if it may not,
 * or when out of memory. Release it in either case.
 */
bool mounted_find(const char *path, struct mounted *m, struct err *err);
void mounted_release(struct mounted *m);

/* Calls `visit` for every visible animfs mount. False: out of memory, or `visit` returned false. */
typedef bool mounted_visit(void *closure, const char *mountpoint, const char *source);
bool mounted_each(mounted_visit *visit, void *closure);
/*
 * Finds the mountpoint and SOURCE of the mount that contains the path; false if there is none. The
 * caller frees both.
 */
bool mounted_point(const char *path, char **mountpoint, char **source);
/* Returns the id of the process that serves the mount; 0 if the path is not an animfs mount. */
pid_t mounted_daemon(const char *mountpoint);
/*
 * Completes the removal of clips at once: in a mount, clips whose folders were removed leave the
 * animation file only after a pause. The path is of the animation or of something in it.
 */
void mounted_settle(const char *path);

#endif
