/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.h - a folder of its own for each test that needs real files.
 *
 * As a fixture: tcase_add_checked_fixture(tc, scratch_begin, scratch_end). In between it is the
 * working directory and its descriptor is scratch_root. Descriptors that the test leaves open are
 * a failure.
 */
#ifndef ANIMFS_TESTS_UNIT_SCRATCH_H
#define ANIMFS_TESTS_UNIT_SCRATCH_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Checks that a call which takes a lock returns 0, in a form that clang's check of locks can
 * follow.
 */
#define ck_locks(call)                                                                             \
	do {                                                                                       \
		if ((call) != 0)                                                                   \
			ck_abort_msg("%s", #call);                                                 \
	} while (0)

static int scratch_root = -1;
static int scratch_before; /* the working directory before the test */
static int scratch_descriptors;
static char scratch_path[4096];

static inline int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static inline void scratch_begin(void)
{
	const char *top = getenv("TMPDIR");

	scratch_descriptors = count_descriptors();
	snprintf(scratch_path, sizeof(scratch_path), "%s/animfs-test-XXXXXX", top ? top : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(scratch_path));
	scratch_before = open(".", O_PATH | O_CLOEXEC);
	ck_assert_int_eq(chdir(scratch_path), 0);
	scratch_root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(scratch_root, 0);
}

static inline int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void remove_all(const char *path)
{
	nftw(path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_end(void)
{
	ck_assert_int_eq(fchdir(scratch_before), 0);
	close(scratch_before);
	close(scratch_root);
	ck_assert_int_eq(count_descriptors(), scratch_descriptors);
	remove_all(scratch_path);
}

/* Makes or overwrites a file. */
static inline void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_msg(f, "%s: %s", path, strerror(errno));
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static inline void ck_text(const char *path, const char *expected)
{
	char got[4096] = "";
	FILE *f = fopen(path, "re");

	ck_assert_msg(f, "%s: %s", path, strerror(errno));
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	ck_assert_str_eq(got, expected);
}

static inline bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static inline struct stat stat_of(const char *path)
{
	struct stat st;

	ck_assert_msg(!lstat(path, &st), "%s: %s", path, strerror(errno));
	return st;
}

/* Returns the number of entries of a folder, without "." and "..". */
static inline int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

#endif
