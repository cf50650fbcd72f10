/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_save.c - what views that were saved and closed keep in memory. */
#include "mounted.h"

#include <fcntl.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* has a clip walk */

static struct request who;
static uint64_t bones;

static uint64_t find(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

static void begin(void)
{
	mounted_unwatched = true; /* no timer ends a draft */
	mounted_begin_in(SAMPLE);
	mounted_unwatched = false;
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	bones = find(find(mounted.folder.node->id, "walk"), "bones");
}

static struct handle *open_view(const char *name, int flags)
{
	struct opened opened;

	ck_assert_int_eq(vfs_open(mounted.v, &who, find(bones, name), flags, &opened), 0);
	return opened.handle;
}

/* Saves the view with a key in frame 0 only, and closes it. */
static void save(const char *name)
{
	static const char text[] = "frame,time,tx,ty,tz\n0,0,7.5,0,0\n";
	struct handle *h = open_view(name, O_WRONLY | O_TRUNC);
	const struct bytes bytes = {(const uint8_t *)text, strlen(text)};

	ck_assert_int_eq(vfs_write(mounted.v, h, bytes, 0, 0, false), (ssize_t)bytes.size);
	ck_assert_int_eq(vfs_flush(mounted.v, &who, h), 0);
	vfs_release(mounted.v, h);
}

static struct version *latest(void)
{
	struct version *now;
	struct stat st;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &now, &st), 0);
	return now;
}

/* The state of a view, which stays as it is until the next request. */
static const struct view_state *state_of(const char *name)
{
	const struct view_state *view;
	struct target t;

	ck_assert_int_eq(target_get(mounted.v, find(bones, name), &t), 0);
	view = &t.thing->view;
	target_put(mounted.v, &t);
	return view;
}

START_TEST(a_closed_view_keeps_its_text_and_no_old_version)
{
	const struct view_state *view;
	struct version *first, *now;

	save("Bone01.csv");
	first = latest();
	save("Scene_Root.csv");
	now = latest();
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_nonnull(view->draft);
	ck_assert(view->draft->is_saved);
	ck_assert_ptr_eq(view->draft->base, now);
	ck_assert_ptr_null(view->draft->last.saved);
	ck_assert_ptr_null(view->draft->last.ground);
	vfs_unlock(mounted.v);
	ck_assert_ptr_ne(now, first);
	version_put(first);
	version_put(now);
}
END_TEST

START_TEST(nor_while_a_program_reads_it)
{
	const struct view_state *view;
	struct handle *reader;
	struct version *now;

	save("Bone01.csv");
	reader = open_view("Bone01.csv", O_RDONLY);
	save("Scene_Root.csv");
	now = latest();
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_nonnull(view->draft);
	ck_assert_ptr_eq(view->draft->base, now);
	ck_assert_ptr_eq(view->version, now);
	vfs_unlock(mounted.v);
	version_put(now);
	vfs_release(mounted.v, reader);
}
END_TEST

/* Every save of a writer is computed from the version that it opened. */
START_TEST(a_view_open_for_writing_keeps_its_base)
{
	const struct view_state *view;
	struct version *first = latest();
	struct handle *writer;

	writer = open_view("Bone01.csv", O_WRONLY | O_TRUNC);
	save("Scene_Root.csv");
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_eq(view->draft->base, first);
	vfs_unlock(mounted.v);
	version_put(first);
	vfs_release(mounted.v, writer);
}
END_TEST

static int64_t due(const char *name)
{
	const struct view_state *view = state_of(name);
	int64_t when;

	vfs_lock(mounted.v);
	when = draft_due(view->draft);
	vfs_unlock(mounted.v);
	return when;
}

/* RELEASE takes the writer away before it settles the draft, and what ends drafts may run between.
 */
START_TEST(what_is_open_for_writing_is_not_due)
{
	struct handle *writer = open_view("Bone01.csv", O_WRONLY | O_TRUNC);

	ck_assert_int_eq(due("Bone01.csv"), DRAFT_OPEN);
	vfs_release(mounted.v, writer);
	save("Bone01.csv");
	ck_assert_int_lt(due("Bone01.csv"), DRAFT_OPEN);
	writer = open_view("Bone01.csv", O_WRONLY);
	ck_assert_int_eq(due("Bone01.csv"), DRAFT_OPEN);
	vfs_release(mounted.v, writer);
	ck_assert_int_lt(due("Bone01.csv"), DRAFT_OPEN);
}
END_TEST

Suite *save_suite(void);

Suite *save_suite(void)
{
	Suite *s = suite_create("save");
	TCase *tc = tcase_create("save");

	tcase_add_checked_fixture(tc, begin, mounted_end);
	tcase_add_test(tc, a_closed_view_keeps_its_text_and_no_old_version);
	tcase_add_test(tc, nor_while_a_program_reads_it);
	tcase_add_test(tc, a_view_open_for_writing_keeps_its_base);
	tcase_add_test(tc, what_is_open_for_writing_is_not_due);
	suite_add_tcase(s, tc);
	return s;
}
