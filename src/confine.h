/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.h - what a process that serves a mount gives up, for as long as it lives: it reads files
 * that anybody may have written, and whoever takes it over by one is to gain little.
 *
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
	int fd; /* a folder, or a file; O_PATH will do. -1: none */
	bool writable;
};

enum {
	CONFINED_FILES = 1,
	CONFINED_CALLS = 2,
	CONFINED_CAPABILITIES = 4,
	CONFINED_PRIVILEGES = 8,
	CONFINED_MEMORY = 16,
	CONFINED_CORE = 32,
};

/*
 * Closes what whoever started the program left open, and opens 0, 1 and 2 where they are not: a
 * file must not be taken for standard output.
 */
bool confine_descriptors(struct err *err);
/*
 * All of the above, while there is one thread. What the kernel does not have is left out of *held;
 * false and err when something else fails, and then nothing more should be done.
 */
bool confine(const struct confine_place *places, size_t count, unsigned *held, struct err *err);
/* The words above for each that is held, with spaces between; "no" for none. */
void confine_tell(unsigned held, struct buf *out);

#endif
