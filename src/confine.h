/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.h - what a process that serves a mount gives up, for as long as it lives: it reads files
 * that anybody may have written, and whoever takes it over by one is to gain little.
 *
 *   tree          nothing but the places has a name, by which its owner, mode, times or attributes
 * could be changed, either; of root's processes (enclose.h)
 *   namespace     with that, mounts of its own: no folder that is moved away leads elsewhere
 *   files         what lies below the places alone can be opened, made, moved or removed
 * (landlock); no device can be made, and where the kernel can tell no signal leaves the process
 *   calls         what serving a mount never needs is EPERM: programs, sockets, mounts, modules,
 *                 tracing, keys, namespaces ... (seccomp)
 *   capabilities  none but those that acting on other people's files takes
 *   privileges    no program gives new ones (no_new_privs)
 *   memory        none that was written becomes code (PR_SET_MDWE)
 *   core          none is dumped
 *
 * Threads that are started afterwards, and children, are confined alike.
 */
#ifndef ANIMFS_CONFINE_H
#define ANIMFS_CONFINE_H

#include "animfs/base.h"

struct confine_place {
	int fd; /* a folder; O_PATH will do. -1: none */
	bool writable;
};
#define CONFINE_PLACES_MAX 2

/* Sanitizers read /proc at any time, and LeakSanitizer traces its own process from a clone. */
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
 * Closes what whoever started the program left open, and opens 0, 1 and 2 where they are not, or
 * are folders: a file must not be taken for standard output, and a folder leads to others.
 */
bool confine_descriptors(struct err *err);
/*
 * All of the above, while there is one thread. What the kernel does not have is left out of *held,
 * and so is the tree where the process has no right to change it; false and err when something else
 * fails, and then nothing more should be done.
 *
 * With CONFINED_TREE the places' descriptors have become ones of the same folders, seen from
 * within, and "/" and the current folder are others: enclose.h.
 */
bool confine(const struct confine_place *places, size_t count, unsigned *held, struct err *err);
/*
 * For the process that unmounts: of root's capabilities those that takes, and calls as above but
 * for the unmount. Who is not root runs fusermount3, which calls and privileges would prevent: he
 * has no capabilities afterwards, and that is all.
 */
bool confine_unmounter(struct err *err);
/* The words above for each that is held, with spaces between; "no" for none. */
void confine_tell(unsigned held, struct buf *out);

#endif
