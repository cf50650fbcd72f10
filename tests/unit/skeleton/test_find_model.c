/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scratch.h"
#include "skeleton/find_model.h"
#include "util/clock.h"

#include <sys/inotify.h>

/* Writes a model in which each bone is the child of the one before it. */
static void write_model(const char *name, uint8_t bones)
{
	uint8_t bytes[0x14 + 4 * 256] = {0};
	FILE *f = fopen(name, "we");

	ck_assert_ptr_nonnull(f);
	bytes[2] = bones;
	for (unsigned i = 1; i < bones; i++)
		bytes[0x14 + 4 * i + 3] = (uint8_t)(i - 1);
	ck_assert_uint_eq(fwrite(bytes, 1, 0x14 + 4u * bones, f), 0x14 + 4u * bones);
	ck_assert_int_eq(fclose(f), 0);
}

static void change(const char *name, long at, int byte)
{
	FILE *f = fopen(name, "r+e");

	ck_assert_ptr_nonnull(f);
	fseek(f, at, SEEK_SET);
	fputc(byte, f);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(the_model_of_the_same_name)
{
	ck_assert_uint_eq(model_bones(scratch_root, "walk.ff9anim", NULL), 0);
	write_model("walk.ff9model", 24);
	write_model("run.ff9model", 255);
	ck_assert_uint_eq(model_bones(scratch_root, "walk.ff9anim", NULL), 24);
	ck_assert_uint_eq(model_bones(scratch_root, "walk", NULL), 24);
	ck_assert_uint_eq(model_bones(scratch_root, "run.bin", NULL), 255);
	ck_assert_uint_eq(model_bones(scratch_root, "walk.x.ff9anim", NULL), 0);
}
END_TEST

START_TEST(the_only_model_of_the_folder)
{
	write_model("Zidane.FF9MODEL", 30);
	put("notes.txt", "");
	ck_assert_uint_eq(model_bones(scratch_root, "walk.ff9anim", NULL), 30);
	write_model("another.ff9model", 12);
	ck_assert_uint_eq(model_bones(scratch_root, "walk.ff9anim", NULL), 0);
	ck_assert_uint_eq(model_bones(scratch_root, "another.ff9anim", NULL), 12);
}
END_TEST

START_TEST(what_is_no_model_says_nothing)
{
	write_model("a.ff9model", 0);
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 0);
	write_model("a.ff9model", 9);
	change("a.ff9model", 0x14 + 4 * 8 + 3, 8); /* a bone that is its own parent */
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 0);
	change("a.ff9model", 0x14 + 4 * 8 + 3, 7);
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 9);
	change("a.ff9model", 2, 10); /* a number of bones that is one too large */
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 0);
	put("a.ff9model", "");
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 0);
	ck_assert_int_eq(unlink("a.ff9model"), 0);
	ck_assert_int_eq(mkdir("a.ff9model", 0700), 0);
	ck_assert_uint_eq(model_bones(scratch_root, "a.ff9anim", NULL), 0);
}
END_TEST

/* Until any later change gives another version: what changed just now is not kept. */
static void wait_until_settled(const char *path)
{
	struct file_version version;
	struct timespec now;
	struct stat st;

	do {
		usleep(1000);
		st = stat_of(path);
		version = file_version_of(&st);
		now = clock_wall();
	} while (!file_version_settled(&version, &now));
}

/* Looks for the model of each of many animations, and returns how often the folder was opened. */
static unsigned listings(const char *expected)
{
	char events[4096] __attribute__((aligned(8))), file_name[32], name[NAME_MAX + 1];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	unsigned count = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(inotify_add_watch(fd, scratch_path, IN_OPEN | IN_ONLYDIR), 0);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(file_name, sizeof(file_name), "Walk%u.ff9anim", i);
		ck_assert_int_eq(model_find(scratch_root, file_name, &model_ff9, NULL, name),
				 *expected != '\0');
		ck_assert_str_eq(name, expected);
		/* Read after each, since equal events that wait are merged. */
		count += read(fd, events, sizeof(events)) > 0;
	}
	close(fd);
	return count;
}

START_TEST(a_folder_is_listed_once)
{
	char name[NAME_MAX + 1];

	wait_until_settled(".");
	ck_assert_uint_eq(listings(""), 1);
	ck_assert_uint_eq(listings(""), 0);
	write_model("Zidane.FF9MODEL", 30);
	wait_until_settled(".");
	ck_assert_uint_eq(listings("Zidane.FF9MODEL"), 1);
	ck_assert_int_eq(rename("Zidane.FF9MODEL", "Vivi.FF9MODEL"), 0);
	wait_until_settled(".");
	ck_assert_uint_eq(listings("Vivi.FF9MODEL"), 1);
	write_model("another.ff9model", 12);
	wait_until_settled(".");
	ck_assert(!model_find(scratch_root, "walk", &model_ff9, NULL, name));
	ck_assert_str_eq(name, "another.ff9model");
	ck_assert(model_find(scratch_root, "vivi.ff9anim", &model_ff9, NULL, name));
	ck_assert_str_eq(name, "Vivi.FF9MODEL");
	/* of another format: listed for itself */
	ck_assert(!model_find(scratch_root, "vivi.cas", &model_mdb, NULL, name));
	ck_assert_str_eq(name, "");
}
END_TEST

Suite *find_model_suite(void);

Suite *find_model_suite(void)
{
	Suite *s = suite_create("find_model");
	TCase *tc = tcase_create("model");

	tcase_add_checked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, the_model_of_the_same_name);
	tcase_add_test(tc, the_only_model_of_the_folder);
	tcase_add_test(tc, what_is_no_model_says_nothing);
	tcase_add_test(tc, a_folder_is_listed_once);
	suite_add_tcase(s, tc);
	return s;
}
