/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enclose.h - a process sees a few folders, and nothing else of the file tree.
 *
 * Landlock decides what is opened, made, moved and removed. It does not ask about chmod, chown,
 * utimensat, setxattr and stat, nor about O_PATH and "..", by which a descriptor of any folder
 * leads to all others. So the first folder becomes the process's root, and each of the others the
 * root of a mount that nothing is above. The current folder is an instance of /proc with processes
 * only, which at_proc_path() then uses.
 *
 * Two ways, since mounts that are made below the first folder later must be seen:
 *
 *   own namespace   where the first folder is on a shared mount: a copy of the mounts from it down,
 *                   which follows the original's. Nothing else is mounted in that namespace, so it
 *                   keeps no filesystem from being unmounted elsewhere.
 *   chroot          where it is not: a copy would follow nothing. A folder that somebody moves out
 *                   of the first one while the process has it open leads to all others again.
 */
#ifndef ANIMFS_ENCLOSE_H
#define ANIMFS_ENCLOSE_H

#include <stdbool.h>
#include <stddef.h>

struct enclosed {
	int fd;        /* a folder, exchanged for the same one from within; -1: none */
	bool writable; /* else its mount is read-only; the first one's is what it was */
};

/*
 * Takes CAP_SYS_ADMIN and CAP_SYS_CHROOT, and a process with one thread. No other descriptor of a
 * folder may stay open. 0, or an errno, and then nothing has changed; a negated errno where the way
 * back failed, and the process must end. *apart: in a namespace of its own.
 */
int enclose(struct enclosed *folders, size_t count, bool *apart);
/* The /proc above, which stays open; -1 where enclose() has not succeeded. */
int enclose_proc(void);
/*
 * Once more after fuse_daemonize(), which makes "/" the current folder and does not find /dev/null
 * for the standard descriptors of a process in the background. Does nothing in one that is not
 * enclosed.
 */
void enclose_settle(bool background);

#endif
