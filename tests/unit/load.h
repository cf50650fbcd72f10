/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.h - reads a file's bytes, and ends the program on failure. */
#ifndef ANIMFS_TESTS_UNIT_LOAD_H
#define ANIMFS_TESTS_UNIT_LOAD_H

#include "animfs/base.h"

#include <stdio.h>
#include <stdlib.h>

static inline struct buf load_file(const char *path)
{
	struct buf out = BUF_INIT;
	FILE *file = fopen(path, "rb");
	uint8_t block[4096];
	size_t got;

	if (!file) {
		perror(path);
		exit(1);
	}
	while ((got = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(&out, block, got);
	fclose(file);
	return out;
}

#endif
