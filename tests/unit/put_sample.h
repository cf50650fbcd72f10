/* SPDX-License-Identifier: GPL-3.0-or-later */
/* put_sample.h - copies a file of tests/data into the scratch folder (scratch.h). */
#ifndef ANIMFS_TESTS_UNIT_PUT_SAMPLE_H
#define ANIMFS_TESTS_UNIT_PUT_SAMPLE_H

#include "load.h"
#include "scratch.h"

static inline void put_sample(const char *name, const char *sample)
{
	char path[128];
	struct buf bytes;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/tests/data/%s", scratch_before, sample);
	bytes = load_file(path);
	f = fopen(name, "wbe");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
	ck_assert_int_eq(fclose(f), 0);
	buf_release(&bytes);
}

#endif
