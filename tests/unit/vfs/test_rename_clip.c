/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rename_clip.c - a clip's folder is renamed onto a folder of ordinary files. */
#include "mounted.h"

#include <errno.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* has a clip walk */
#define UPPER ".animfs/extra/" MOUNTED_FILE "/"
#define REJECTED ".animfs/rejected/" MOUNTED_FILE "/"

static struct request who;
static struct entry entry;

static int look_up(const char *name)
{
	return vfs_lookup(mounted.v, &who, mounted.folder.node->id, name, &entry);
}

static void begin(void)
{
	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	ck_assert_int_eq(look_up("walk"), 0);
}

static int make(const char *name)
{
	return vfs_mkdir(mounted.v, &who, mounted.folder.node->id, name, 0755, &entry);
}

static int rename_walk(const char *name)
{
	const uint64_t folder = mounted.folder.node->id;
	struct after *after;
	int error = vfs_rename(mounted.v, &who, folder, "walk", folder, name, 0, &after);

	vfs_after(mounted.v, after);
	return error;
}

static bool is_clip(const char *name)
{
	struct target t;
	bool is;

	ck_assert_int_eq(look_up(name), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &t), 0);
	is = t.thing->kind == THING_CLIP;
	target_put(mounted.v, &t);
	return is;
}

START_TEST(an_empty_folder_goes)
{
	ck_assert_int_eq(make("run"), 0);
	ck_assert(is_there(UPPER "run"));
	ck_assert_int_eq(rename_walk("run"), 0);
	ck_assert(is_clip("run"));
	ck_assert(!is_there(UPPER "run"));
}
END_TEST

START_TEST(what_is_beside_the_clip_s_texts_comes_along)
{
	ck_assert_int_eq(make("run"), 0);
	ck_assert_int_eq(mkdir(UPPER "walk", 0700), 0);
	put(UPPER "walk/note", "note");
	ck_assert_int_eq(rename_walk("run"), 0);
	ck_assert(is_clip("run"));
	ck_assert(is_there(UPPER "run/note"));
}
END_TEST

START_TEST(a_folder_with_a_file_stays)
{
	ck_assert_int_eq(make("run"), 0);
	put(UPPER "run/note", "note");
	ck_assert_int_eq(rename_walk("run"), ENOTEMPTY);
	ck_assert(is_there(UPPER "run/note"));
	ck_assert(is_clip("walk"));
}
END_TEST

/* Others removed a clip from the file. */
START_TEST(a_folder_of_refused_texts_is_one_like_any_other)
{
	int fd;

	ck_assert_int_eq(
		state_folder(mounted.state, STATE_REJECTED, MOUNTED_FILE "/run", true, &fd), 0);
	close(fd);
	put(REJECTED "run/curves.csv.rejected", "text");
	ck_assert(!is_clip("run"));
	ck_assert_int_eq(rename_walk("run"), ENOTEMPTY);
	ck_assert(is_there(REJECTED "run/curves.csv.rejected"));
	ck_assert_int_eq(unlink(REJECTED "run/curves.csv.rejected"), 0);
	ck_assert_int_eq(rename_walk("run"), 0);
	ck_assert(is_clip("run"));
	ck_assert(!is_there(REJECTED "run"));
}
END_TEST

START_TEST(a_folder_that_is_not_known_is_looked_up_first)
{
	ck_assert_int_eq(make("run"), 0);
	ck_assert_int_eq(mkdir(UPPER "other", 0700), 0);
	ck_assert_int_eq(rename(UPPER "other", UPPER "run"), 0);
	ck_assert_int_eq(rename_walk("run"), ESTALE);
	ck_assert(is_clip("walk"));
	ck_assert(!is_clip("run"));
	ck_assert_int_eq(rename_walk("run"), 0);
	ck_assert(is_clip("run"));
}
END_TEST

Suite *rename_clip_suite(void);

Suite *rename_clip_suite(void)
{
	Suite *s = suite_create("rename_clip");
	TCase *tc = tcase_create("a clip onto a folder");

	tcase_add_checked_fixture(tc, begin, mounted_end);
	tcase_add_test(tc, an_empty_folder_goes);
	tcase_add_test(tc, what_is_beside_the_clip_s_texts_comes_along);
	tcase_add_test(tc, a_folder_with_a_file_stays);
	tcase_add_test(tc, a_folder_of_refused_texts_is_one_like_any_other);
	tcase_add_test(tc, a_folder_that_is_not_known_is_looked_up_first);
	suite_add_tcase(s, tc);
	return s;
}
