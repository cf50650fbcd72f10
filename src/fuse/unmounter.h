/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unmounter.h - the unmounter: a process that unmounts when the serving process is about to end, or
 * was killed. The serving process is confined (confine.h) and can neither unmount nor run
 * fusermount3. An unconfined one needs the unmounter, too: a thread that is killed while it
 * notifies the kernel may wait for a program that waits for a reply, until the connection is
 * aborted.
 */
#ifndef ANIMFS_FUSE_UNMOUNTER_H
#define ANIMFS_FUSE_UNMOUNTER_H

struct fuse_session;

/*
 * Starts the unmounter process. As long as it exists, the filesystems of SOURCE (`root`) and of the
 * state directory cannot be unmounted; a serving process in a mount namespace of its own does not
 * prevent unmounting. Returns 0 or an errno, and stores a pipe to the unmounter in *to.
 */
int unmounter_start(struct fuse_session *session, const char *mountpoint, int root, int *to);
/*
 * Makes the unmounter watch the calling thread, which must be the one that will call unmounter_end:
 * if the thread ends earlier, the process was killed.
 */
void unmounter_watch(int to);
/* Waits until the unmounter has unmounted; after that, fuse_session_unmount only frees memory. */
void unmounter_end(struct fuse_session *session, int to);

#endif
