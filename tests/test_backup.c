/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files as they were before something was removed, and the way back. */
#include "backup.h"
#include "scratch.h"

#include <sys/xattr.h>
#include <time.h>

static struct state *state;

static void begin(void)
{
	struct err err = {.code = ERR_NONE};

	scratch_begin();
	ck_assert_int_eq(mkdir("obj", 0755), 0);
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_ptr_nonnull(state);
}

static void end(void)
{
	state_free(state);
	scratch_end();
}

/* A commit that removes something: the file said `was` and says `is`. */
static int removal(enum backup_mode mode, const char *was, const char *is)
{
	int like = open("obj/a.canm", O_RDONLY | O_CLOEXEC), error;

	ck_locks(state_lock(state));
	error = backup_keep(state, mode, "obj/a.canm", like, bytes_of(was));
	if (!error) {
		put("obj/a.canm", is);
		backup_removed(state, "obj/a.canm");
	}
	state_unlock(state);
	if (like >= 0)
		close(like);
	return error;
}

#define KEPT ".animfs/backup/obj/a.canm/"

/* The last removal was 3 seconds ago. */
static void end_run(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= 3;
	ck_assert_int_eq(utimensat(AT_FDCWD, KEPT "run", (struct timespec[]){now, now}, 0), 0);
}

static int undo(const char *which)
{
	int folder = open("obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = backup_undo(state, folder, "obj", "a.canm", which);

	close(folder);
	return error;
}

START_TEST(the_last_one_is_kept)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	ck_text(KEPT "last", "one");
	end_run();
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "two", "three"), 0);
	ck_text(KEPT "last", "two");
	ck_assert_int_eq(count_entries(KEPT), 2);
}
END_TEST

START_TEST(removals_that_follow_each_other_are_one)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "two", "three"), 0);
	ck_text(KEPT "last", "one");
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "three", "four"), 0);
	ck_assert_int_eq(count_entries(KEPT), 2);
}
END_TEST

START_TEST(a_clock_that_was_set_back_makes_no_run)
{
	struct timespec later;

	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	clock_gettime(CLOCK_REALTIME, &later);
	later.tv_sec += 3600;
	ck_assert_int_eq(utimensat(AT_FDCWD, KEPT "run", (struct timespec[]){later, later}, 0), 0);
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "two", "three"), 0);
	ck_text(KEPT "last", "two");
}
END_TEST

START_TEST(numbered_ones_are_all_kept)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "one", "two"), 0);
	end_run();
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "two", "three"), 0);
	end_run();
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "three", "four"), 0);
	ck_text(KEPT "1", "one");
	ck_text(KEPT "2", "two");
	ck_text(KEPT "3", "three");
}
END_TEST

START_TEST(none_is_none)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_NONE, "one", "two"), 0);
	ck_assert(!is_there(KEPT));
	ck_assert_int_eq(undo(NULL), ENODATA);
	ck_text("obj/a.canm", "two");
}
END_TEST

START_TEST(nothing_but_the_backup_stays)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	end_run();
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "two", "three"), 0);
	ck_text(KEPT "last", "two");
	ck_assert_int_eq(count_entries(KEPT), 2); /* with "run" */
	ck_assert_int_eq(count_entries(".animfs/partial"), 0);
}
END_TEST

START_TEST(undo_of_an_undo)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(undo(NULL), 0);
		ck_text("obj/a.canm", "one");
		ck_assert_int_eq(undo(NULL), 0);
		ck_text("obj/a.canm", "two");
	}
	ck_assert_int_eq(count_entries(KEPT), 1);
	ck_assert_int_eq(count_entries("obj"), 1);
}
END_TEST

/* What was put back must not count as part of the run that it undid. */
START_TEST(an_undo_ends_the_run)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	ck_assert_int_eq(undo(NULL), 0);
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "three"), 0);
	ck_text(KEPT "last", "one");
}
END_TEST

START_TEST(undo_goes_on_in_numbers)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "one", "two"), 0);
	end_run();
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "two", "three"), 0);
	ck_assert_int_eq(undo(NULL), 0);
	ck_text("obj/a.canm", "two");
	ck_text(KEPT "3", "three");
	ck_assert_int_eq(undo("1"), 0);
	ck_text("obj/a.canm", "one");
	ck_text(KEPT "4", "two");
	ck_assert_int_eq(undo("9"), ENODATA);
	ck_assert_int_eq(undo("run"), ENODATA);
	ck_assert_int_eq(undo("../../lock"), ENODATA);
}
END_TEST

START_TEST(the_file_keeps_what_is_its_own)
{
	char value[8] = "";

	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	ck_assert_int_eq(chmod("obj/a.canm", 0640), 0);
	if (setxattr("obj/a.canm", "user.note", "mine", 4, 0))
		ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_int_eq(undo(NULL), 0);
	ck_assert_int_eq(stat_of("obj/a.canm").st_mode & 07777, 0640);
	if (getxattr("obj/a.canm", "user.note", value, sizeof(value)) > 0)
		ck_assert_str_eq(value, "mine");
}
END_TEST

START_TEST(a_file_that_is_gone_comes_back_as_it_was)
{
	put("obj/a.canm", "one");
	ck_assert_int_eq(chmod("obj/a.canm", 0604), 0);
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	ck_assert_int_eq(unlink("obj/a.canm"), 0);
	ck_assert_int_eq(undo(NULL), 0);
	ck_text("obj/a.canm", "one");
	ck_assert_int_eq(stat_of("obj/a.canm").st_mode & 07777, 0604);
	ck_assert_int_eq(undo(NULL), EALREADY);
	ck_text(KEPT "last", "one");
}
END_TEST

/* The newest by its time, whatever mode it was kept in. */
START_TEST(modes_may_change)
{
	struct timespec early = {.tv_sec = 1000};

	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "one", "two"), 0);
	end_run();
	ck_assert_int_eq(utimensat(AT_FDCWD, KEPT "1", (struct timespec[]){early, early}, 0), 0);
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "two", "three"), 0);
	ck_assert_int_eq(undo(NULL), 0);
	ck_text("obj/a.canm", "two");
}
END_TEST

struct listed {
	unsigned count;
	char names[64];
};

static void note(void *closure, const char *which, const struct stat *st)
{
	struct listed *l = closure;

	ck_assert_int_eq(st->st_size, 3);
	l->count++;
	strcat(strcat(l->names, which), " ");
}

START_TEST(backups_are_listed_newest_first)
{
	struct timespec early = {.tv_sec = 1000};
	struct listed l = {0, ""};

	ck_assert_int_eq(backup_list(state, "obj/a.canm", note, &l), ENODATA);
	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "one", "two"), 0);
	end_run();
	ck_assert_int_eq(utimensat(AT_FDCWD, KEPT "1", (struct timespec[]){early, early}, 0), 0);
	ck_assert_int_eq(removal(BACKUP_NUMBERED, "two", "three"), 0);
	ck_assert_int_eq(backup_list(state, "obj/a.canm", note, &l), 0);
	ck_assert_uint_eq(l.count, 2);
	ck_assert_str_eq(l.names, "2 1 ");
}
END_TEST

/* Nothing is lost where another program has the file open for writing. */
START_TEST(a_file_in_use_stays_and_so_does_its_backup)
{
	int fd;

	put("obj/a.canm", "one");
	ck_assert_int_eq(removal(BACKUP_SIMPLE, "one", "two"), 0);
	fd = open("obj/a.canm", O_WRONLY | O_CLOEXEC);
	if (undo(NULL) == EBUSY) { /* leases are not to be had everywhere */
		ck_text("obj/a.canm", "two");
		ck_text(KEPT "last", "one");
		ck_assert(!is_there(KEPT "next"));
	}
	close(fd);
}
END_TEST

Suite *backup_suite(void);
Suite *backup_suite(void)
{
	Suite *s = suite_create("backup");
	TCase *tc = tcase_create("backup");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, the_last_one_is_kept);
	tcase_add_test(tc, removals_that_follow_each_other_are_one);
	tcase_add_test(tc, a_clock_that_was_set_back_makes_no_run);
	tcase_add_test(tc, numbered_ones_are_all_kept);
	tcase_add_test(tc, none_is_none);
	tcase_add_test(tc, nothing_but_the_backup_stays);
	tcase_add_test(tc, undo_of_an_undo);
	tcase_add_test(tc, an_undo_ends_the_run);
	tcase_add_test(tc, undo_goes_on_in_numbers);
	tcase_add_test(tc, the_file_keeps_what_is_its_own);
	tcase_add_test(tc, a_file_that_is_gone_comes_back_as_it_was);
	tcase_add_test(tc, modes_may_change);
	tcase_add_test(tc, backups_are_listed_newest_first);
	tcase_add_test(tc, a_file_in_use_stays_and_so_does_its_backup);
	suite_add_tcase(s, tc);
	return s;
}
