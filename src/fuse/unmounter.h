/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unmounter.h - a process that unmounts when the serving process is about to end, or was killed.
 * The serving process is confined (confine.h) and can neither unmount nor run fusermount3. An
 * unconfined one needs it, too: a thread that is killed while it notifies the kernel may wait for a
 * program that waits for a reply, until the connection is aborted.
 */
#ifndef ANIMFS_FUSE_UNMOUNTER_H
#define ANIMFS_FUSE_UNMOUNTER_H

struct fuse_session;

/*
 * Starts it. As long as it lives, the filesystems of SOURCE (`root`) and of the state directory
 * cannot be unmounted; a serving process in a namespace of its own does not prevent that. 0 or an
 * errno, and a pipe to it.
 */
int unmounter_start(struct fuse_session *session, const char *mountpoint, int root, int *to);
/*
 * Called by the thread that will call unmounter_end: if that thread ends before, the process was
 * killed.
 */
void unmounter_watch(int to);
/* Waits until it has unmounted; after that, fuse_session_unmount only frees memory. */
void unmounter_end(struct fuse_session *session, int to);

#endif
