/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asleep.h - whether another thread of the test waits for something. */
#ifndef ANIMFS_TESTS_UNIT_ASLEEP_H
#define ANIMFS_TESTS_UNIT_ASLEEP_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

static inline bool is_asleep(pid_t thread)
{
	char path[64], in = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &in) != 1)
		in = 0;
	fclose(f);
	return in == 'S';
}

#endif
