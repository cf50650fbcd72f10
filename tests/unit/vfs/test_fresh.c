/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fresh.c - a reader gets the text that was on disk when the reader opened the view, or a
 * later text.
 */
#include "mounted.h"

#include "store/create.h"

#include <errno.h>
#include <fcntl.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk with a bone hip */

static struct request who;

static void begin(void)
{
	mounted_unwatched = true;
	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .pid = getpid()};
}

static uint64_t look_up(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

static uint64_t look_up_bone(void)
{
	uint64_t clip = look_up(mounted.folder.node->id, "walk");

	return look_up(look_up(clip, "bones"), "hip.csv");
}

/* Opens a name as the kernel does: after ESTALE it looks the name up again, once. */
static struct handle *open_name(uint64_t *node)
{
	struct opened opened;
	int error = vfs_open(mounted.v, &who, *node, O_RDONLY, &opened);

	if (error == ESTALE) {
		*node = look_up_bone();
		error = vfs_open(mounted.v, &who, *node, O_RDONLY, &opened);
	}
	ck_assert_int_eq(error, 0);
	return opened.handle;
}

static void read_text(uint64_t node, struct handle *h, char *out, size_t size)
{
	struct read_part part;

	ck_assert_int_eq(vfs_read(mounted.v, node, h, size - 1, 0, &part), 0);
	memcpy(out, part.part.data, part.part.size);
	out[part.part.size] = '\0';
	read_part_end(&part);
}

/* Replaces the file, as another program: a clip has other times. */
static void store_outside(void)
{
	struct version *was;
	struct anim *model;
	struct site site;

	ck_assert_int_eq(site_open(mounted.v, mounted.a, &site), 0);
	was = source_get(mounted.a->source, &site.where, NULL);
	site_close(mounted.v, &site);
	ck_assert_ptr_nonnull(was);
	model = anim_edit(was->anim);
	anim_edit_clip(model, 0)->frame_time *= 2;
	mounted_replace(was, model);
	anim_free(model);
	version_put(was);
}

START_TEST(a_name_opens_what_is_there_although_it_is_open)
{
	char before[4096], still[4096], now[4096];
	uint64_t node = look_up_bone(), first_node = node;
	struct handle *first = open_name(&node), *second;

	read_text(node, first, before, sizeof(before));
	store_outside();
	second = open_name(&node);
	read_text(node, second, now, sizeof(now));
	read_text(first_node, first, still, sizeof(still));
	ck_assert_str_ne(now, before);
	ck_assert_str_eq(still, before);
	vfs_release(mounted.v, first);
	vfs_release(mounted.v, second);
}
END_TEST

/*
 * While a save is not published, another thread's look at the file cannot know which view was
 * saved.
 */
START_TEST(a_look_during_a_save_finds_what_the_save_replaced_or_what_is_newer)
{
	struct version *was, *made, *seen;
	struct stat st;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &was, &st), 0);
	store_outside();
	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &made, &st), 0);
	ck_assert_ptr_ne(made, was);
	animation_committed(mounted.v, mounted.a, was, made);
	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &seen, &st), 0);
	ck_assert_ptr_eq(seen, was);
	version_put(seen);
	store_outside();
	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &seen, &st), 0);
	ck_assert_ptr_ne(seen, was);
	ck_assert_ptr_ne(seen, made);
	version_put(seen);
	writer_lock(mounted.a);
	animation_settled(mounted.v, mounted.a);
	writer_unlock(mounted.a);
	version_put(was);
	version_put(made);
}
END_TEST

/* ---- a file that is damaged while an older version of it is open ---- */

static void damage(void)
{
	static const uint8_t nothing[] = "nothing";

	mounted_put("outside", (struct bytes){nothing, sizeof(nothing)});
	ck_assert_int_eq(rename("outside", MOUNTED_FILE), 0);
}

/* The old version is kept, but not the text whose size the kernel was given. */
START_TEST(what_was_shown_of_a_newer_version_is_not_opened_in_an_older_one)
{
	char before[4096], still[4096];
	uint64_t node = look_up_bone(), clip = look_up(mounted.folder.node->id, "walk"), other;
	struct handle *first = open_name(&node);
	struct opened opened;
	struct entry entry;
	struct stat st;
	double timeout;

	read_text(node, first, before, sizeof(before));
	store_outside();
	other = look_up(clip, "curves.csv");
	damage();
	ck_assert_int_eq(vfs_open(mounted.v, &who, other, O_RDONLY, &opened), EIO);
	ck_assert_int_eq(vfs_getattr(mounted.v, &who, other, NULL, &st, &timeout), EIO);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip, "curves.csv", &entry), EIO);
	read_text(node, first, still, sizeof(still));
	ck_assert_str_eq(still, before);
	vfs_release(mounted.v, first);
}
END_TEST

START_TEST(what_was_not_is_opened_in_it)
{
	char now[4096], before[4096];
	uint64_t node = look_up_bone(), clip = look_up(mounted.folder.node->id, "walk");
	struct handle *first = open_name(&node), *other;
	struct opened opened;
	struct entry entry;

	read_text(node, first, before, sizeof(before));
	store_outside();
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip, "clip.json", &entry), 0);
	damage();
	node = look_up_bone();
	ck_assert_int_eq(vfs_open(mounted.v, &who, node, O_RDONLY, &opened), 0);
	other = opened.handle;
	read_text(node, other, now, sizeof(now));
	ck_assert_str_eq(now, before);
	vfs_release(mounted.v, other);
	vfs_release(mounted.v, first);
}
END_TEST

/* A valid file that replaces the damaged one can be opened again. */
START_TEST(a_file_that_is_no_longer_damaged_is_opened)
{
	uint64_t node = look_up_bone(), clip = look_up(mounted.folder.node->id, "walk"), other;
	struct handle *first = open_name(&node);
	struct opened opened;

	store_outside();
	other = look_up(clip, "curves.csv");
	damage();
	ck_assert_int_eq(vfs_open(mounted.v, &who, other, O_RDONLY, &opened), EIO);
	mounted_put(MOUNTED_FILE, buf_bytes(&mounted.sample));
	ck_assert_int_eq(vfs_open(mounted.v, &who, other, O_RDONLY, &opened), 0);
	vfs_release(mounted.v, opened.handle);
	vfs_release(mounted.v, first);
}
END_TEST

Suite *fresh_suite(void);

Suite *fresh_suite(void)
{
	Suite *s = suite_create("fresh");
	TCase *t = tcase_create("fresh");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_test(t, a_name_opens_what_is_there_although_it_is_open);
	tcase_add_test(t, a_look_during_a_save_finds_what_the_save_replaced_or_what_is_newer);
	tcase_add_test(t, what_was_shown_of_a_newer_version_is_not_opened_in_an_older_one);
	tcase_add_test(t, what_was_not_is_opened_in_it);
	tcase_add_test(t, a_file_that_is_no_longer_damaged_is_opened);
	suite_add_tcase(s, t);
	return s;
}
