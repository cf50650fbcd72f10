/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intruder.c - LD_PRELOAD=intruder.so INTRUDER=PID:FILE animfs ...: makes the attempts of a daemon
 * that was taken over, on FILE, which is outside of the mount, and on a process.
 *
 * A symbolic link to "intruder" made in the mount starts the attempts; its target then lists those
 * that succeeded.
 */
#include "intruder.h"

#include <dlfcn.h>
#include <stdlib.h>

static struct intruder intruder;

__attribute__((constructor)) static void find_target(void)
{
	const char *target = getenv("INTRUDER");
	char *outside;

	if (!target)
		return;
	intruder.other = (pid_t)strtol(target, &outside, 10);
	intruder.outside = outside + 1;
}

int symlinkat(const char *target, int dir, const char *name)
{
	int (*next)(const char *, int, const char *);
	char done[128];

	*(void **)&next = dlsym(RTLD_NEXT, "symlinkat");
	if (strcmp(target, "intruder") != 0 || !intruder.outside)
		return next(target, dir, name);
	intruder_tries(&intruder);
	intruder_tells(&intruder, done, sizeof(done));
	return next(done, dir, name);
}
