/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_mounts.h - a mount namespace for a test: its mounts are seen nowhere else, and it keeps no
 * copy of mounts that other tests make and unmount. A daemon goes on as long as there is a copy of
 * its mount anywhere.
 */
#ifndef ANIMFS_TESTS_TOOLS_OWN_MOUNTS_H
#define ANIMFS_TESTS_TOOLS_OWN_MOUNTS_H

#include <mntent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

/*
 * Makes mounts private; call it after unshare(). Where mounts are shared, an unmount elsewhere
 * would take effect in the new namespace, too.
 */
static inline bool own_mounts(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	bool fine = mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
	struct mntent *one;

	while (fine && mounts && (one = getmntent(mounts))) {
		if (strcmp(one->mnt_type, "fuse.animfs") == 0)
			(void)umount2(one->mnt_dir, MNT_DETACH);
	}
	if (mounts)
		endmntent(mounts);
	return fine;
}

#endif
