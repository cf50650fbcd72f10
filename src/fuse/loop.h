/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_FUSE_LOOP_H
#define ANIMFS_FUSE_LOOP_H

/* Include libfuse by fuse/lowlevel.h, which chooses the version of the interface. */
#include "lowlevel.h"

/*
 * Answers the kernel's requests until the session ends (unmounted, or fuse_session_exit, which a
 * signal may call), with as many threads as needed, at most `most`. Returns 0, or a negative errno:
 * the connection failed, or no thread could be started.
 *
 * fuse_session_loop_mt() ends when a thread has no memory for its buffer, and drops a request that
 * another thread has just read. loop_run has that thread try again, and the others continue.
 */
int loop_run(struct fuse_session *fuse, unsigned most);

#endif
