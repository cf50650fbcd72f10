/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer sandbox: the privileges that a process gives up before it serves a mount, and the accesses
 * that the kernel would grant a caller. It knows nothing of animations: skeleton, store and vfs
 * choose the caller and the file.
 *
 * Start reading here; caller.h and guard.h are about callers.
 *
 * May use: util disk
 */
/*
 * confine.h - drops the privileges of a process that serves a mount, for good. It reads files from
 * untrusted sources, so an attacker who takes it over by such a file should gain little.
 *
 *   tree          the process only sees the folders of the places (enclose.h): it can open nothing
 *                 else, nor change an owner, a mode, times or attributes elsewhere. For root only.
 *   namespace     with "tree": a mount namespace of its own, so that a folder that another process
 *                 moves out of a place does not lead to the rest of the file tree
 *   files         the process can only open, make, move or remove files below the places
 *                 (landlock); it cannot make devices nor, where the kernel supports that, send
 *                 signals to other processes
 *   calls         EPERM for system calls that serving a mount never needs (seccomp): programs,
 *                 sockets, mounts, modules, tracing, keys, namespaces ...
 *   capabilities  only those that are needed to act on the files of other users
 *   privileges    no program that it starts gets more privileges (no_new_privs)
 *   memory        memory that was writable is never executable (PR_SET_MDWE)
 *   core          the process writes no core dump
 *
 * Threads that are started afterwards, and children, are confined in the same way.
 */
#ifndef ANIMFS_SANDBOX_CONFINE_H
#define ANIMFS_SANDBOX_CONFINE_H

#include "animfs/base.h"

struct confine_place {
	int fd; /* descriptor of a folder, possibly O_PATH; -1: none */
	bool writable;
};
#define CONFINE_PLACES_MAX 3

/*
 * 1 in builds with a sanitizer, which get weaker rules: sanitizers read /proc at any time, and
 * LeakSanitizer traces its own process from a clone.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#ifndef CONFINE_SANITIZED
#define CONFINE_SANITIZED 0
#endif

enum {
	CONFINED_FILES = 1,
	CONFINED_CALLS = 2,
	CONFINED_CAPABILITIES = 4,
	CONFINED_PRIVILEGES = 8,
	CONFINED_MEMORY = 16,
	CONFINED_CORE = 32,
	CONFINED_TREE = 64,
	CONFINED_NAMESPACE = 128,
};

/*
 * Closes inherited descriptors, and opens 0, 1 and 2 if they are closed or are folders: a file must
 * not become standard output by accident, and a folder leads to others.
 */
bool confine_descriptors(struct err *err);
/*
 * Confines the process in all ways of the table at the top; call it while there is one thread.
 * Features that the kernel lacks are left out of *confined, and so is the tree if the process may
 * not change it. False and err on another failure; then give up.
 *
 * With CONFINED_TREE the descriptors of the places are replaced by those of the same folders, seen
 * from within, and "/" and the current folder are others: enclose.h.
 */
bool confine(const struct confine_place *places, size_t count, unsigned *confined, struct err *err);
/*
 * Confines the process that unmounts. Root keeps only the capabilities for unmounting, and all
 * system calls that confine() refuses are refused, except umount. Other users run fusermount3,
 * which needs calls and privileges: for them only capabilities are dropped.
 */
bool confine_unmounter(struct err *err);
/*
 * Appends the words of the table at the top of this file for the bits of `confined`, separated by
 * spaces; "no" if no bit is set.
 */
void confine_describe(unsigned confined, struct buf *out);

#endif
