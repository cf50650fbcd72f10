/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unmounter.h - a process that unmounts when the one that serves the mount is about to end, or was
 * killed. That one is confined by then (confine.h) and can neither unmount nor run fusermount3. One
 * that is not confined needs it, too: a thread that was killed while it notified the kernel of a
 * folder waits for a program that waits for a reply, until somebody aborts the connection.
 */
#ifndef ANIMFS_FUSE_UNMOUNTER_H
#define ANIMFS_FUSE_UNMOUNTER_H

struct fuse_session;

/*
 * Starts it. As long as it lives it also keeps the filesystems of SOURCE (`root`) and of the state
 * directory from being unmounted, as the one that serves the mount no longer does in a namespace of
 * its own. 0 or an errno, and a pipe to it.
 */
int unmounter_start(struct fuse_session *session, const char *mountpoint, int root, int *to);
/* By the thread that will call unmounter_end: if that one ends before, the process was killed. */
void unmounter_watch(int to);
/* Waits until it has unmounted; fuse_session_unmount only releases things afterwards. */
void unmounter_end(struct fuse_session *session, int to);

#endif
