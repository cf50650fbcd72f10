/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rename_clip.c - a clip is renamed onto a folder of ordinary files, or into another file. */
#include "mounted.h"

#include "edit/structure.h"
#include "store/create.h"
#include "vfs/save.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */
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

static void begin_unwatched(void)
{
	mounted_unwatched = true;
	begin();
	mounted_unwatched = false;
}

static int make(const char *name)
{
	return vfs_mkdir(mounted.v, &who, mounted.folder.node->id, name, 0755, &entry);
}

static int rename_into(const char *old, uint64_t folder, const char *name)
{
	struct after *after;
	int error =
		vfs_rename(mounted.v, &who, mounted.folder.node->id, old, folder, name, 0, &after);

	vfs_after(mounted.v, after);
	return error;
}

static int rename_walk(const char *name)
{
	return rename_into("walk", mounted.folder.node->id, name);
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

/* Another program removed a clip from the file. */
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

/* ---- into another file, and back ---- */

START_TEST(into_another_file_texts_are_copied)
{
	uint64_t other;

	mounted_put("other.canm", buf_bytes(&mounted.sample));
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "other.canm", &entry), 0);
	other = entry.node;
	ck_assert_int_eq(rename_into("walk", other, "stroll"), EXDEV);
	ck_assert_int_eq(rename_into("walk", other, "walk"), ENOTEMPTY);
	ck_assert(is_clip("walk"));
}
END_TEST

/* The folder stands for the copy of a clip before it becomes one. */
START_TEST(a_copy_takes_the_place_of_a_clip_that_was_removed)
{
	struct version *now;
	struct stat st;

	ck_assert_int_eq(make("run"), 0);
	vfs_lock(mounted.v);
	ck_assert(name_set_absent(mounted.v, mounted.a, mounted.folder.node, "walk", NULL));
	vfs_unlock(mounted.v);
	ck_assert_int_eq(rename_into("run", mounted.folder.node->id, "walk"), 0);
	ck_assert(!is_clip("walk"));
	ck_assert(is_there(UPPER "walk"));
	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &now, &st), 0);
	ck_assert_int_lt(version_clip(now, "walk"), 0);
	version_put(now);
}
END_TEST

/* ---- others change the list of clips at the same time ---- */

static uint64_t found(const char *name)
{
	ck_assert_int_eq(look_up(name), 0);
	return entry.node;
}

/* Removes the first clip as another program. */
static void remove_outside(struct version *was)
{
	struct anim *model = anim_edit(was->anim);

	ck_assert(anim_clip_remove(model, 0, NULL));
	mounted_replace(was, model);
	anim_free(model);
}

/* All clips have another index then, but only one has another name. */
START_TEST(a_clip_whose_place_has_changed_keeps_its_node)
{
	struct changes changes = CHANGES_INIT;
	struct err err = {.code = ERR_NONE};
	uint64_t idle = found("Idle"), last = found("empty");
	struct version *base;
	struct anim *edited;
	struct stat st;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &base, &st), 0);
	remove_outside(base);
	edited = anim_edit(base->anim);
	ck_assert(anim_clip_rename(edited, (uint32_t)version_clip(base, "Idle"), "run", &err));
	writer_lock(mounted.a);
	ck_assert_int_eq(edit_commit(mounted.v, mounted.a, base, edited, NULL, &changes, &err), 0);
	writer_unlock(mounted.a);
	changes_send_all(mounted.v, &changes);
	ck_assert_uint_eq(found("run"), idle);
	ck_assert_uint_eq(found("empty"), last);
	ck_assert_int_eq(look_up("walk"), ENOENT);
	ck_assert_int_eq(look_up("Idle"), ENOENT);
	anim_free(edited);
	version_put(base);
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
	tc = tcase_create("another file");
	tcase_add_checked_fixture(tc, begin, mounted_end);
	tcase_add_test(tc, into_another_file_texts_are_copied);
	tcase_add_test(tc, a_copy_takes_the_place_of_a_clip_that_was_removed);
	suite_add_tcase(s, tc);
	tc = tcase_create("meanwhile");
	tcase_add_checked_fixture(tc, begin_unwatched, mounted_end);
	tcase_add_test(tc, a_clip_whose_place_has_changed_keeps_its_node);
	suite_add_tcase(s, tc);
	return s;
}
