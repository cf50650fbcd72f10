/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enclose.h - confines a process to a few folders of the file tree.
 *
 * Landlock controls opening, making, moving and removing files. It does not cover chmod, chown,
 * utimensat, setxattr and stat, nor O_PATH and "..", by which a descriptor of any folder leads to
 * all others. So the first folder becomes the process's root, and each of the others the root of a
 * mount without a parent. The current folder is an instance of /proc with processes only, which
 * dirfd_proc_path() then uses.
 *
 * Two ways, since mounts that are made below the first folder later must be seen:
 *
 *   own namespace   where the first folder is on a shared mount: a copy of the mounts from it down,
 *                   which follows the original's. Nothing else is mounted in that namespace, so it
 *                   keeps no filesystem from being unmounted elsewhere.
 *   chroot          where it is not: a copy would not see later mounts. A folder that another
 *                   process moves out of the first one while this process has it open leads to
 *                   all others again.
 */
#ifndef ANIMFS_SANDBOX_ENCLOSE_H
#define ANIMFS_SANDBOX_ENCLOSE_H

#include <stdbool.h>
#include <stddef.h>

struct enclosed {
	/*
	 * enclose() replaces the descriptor by one of the same folder, reached from the new root;
	 * -1: none
	 */
	int fd;
	/* false: make the folder's mount read-only; without effect on the first folder */
	bool writable;
};

/*
 * Encloses the process. Needs CAP_SYS_ADMIN, CAP_SYS_CHROOT, one thread, and no other open
 * descriptors of folders. Returns 0; an errno if nothing has changed; or a negated errno if the
 * process could not return to its old root, and must exit. *apart: the process has a mount
 * namespace of its own.
 */
int enclose(struct enclosed *folders, size_t count, bool *apart);
/* Returns the descriptor of the /proc instance that enclose() mounted; -1 unless it succeeded. */
int enclose_proc(void);
/*
 * Restores what fuse_daemonize() changed: it makes "/" the current folder and, in the background,
 * does not find /dev/null. Call it afterwards. Does nothing unless enclosed.
 */
void enclose_settle(bool background);

#endif
