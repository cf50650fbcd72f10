/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mounted.h"
#include "vfs/known.h"

#include "store/commit.h"
#include "store/create.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define SAMPLE "tests/data/canm/wiki512.canm"

static struct site site;
static struct known *k;
static struct version *first;

static void load(void) REQUIRES(writer_class)
{
	k = known_load(mounted.v, &site.where);
	ck_assert_ptr_nonnull(k);
}

static void begin(void)
{
	mounted_begin_in(SAMPLE);
	writer_lock(mounted.a);
	ck_assert_int_eq(site_open(mounted.v, mounted.a, &site), 0);
	load();
	first = source_get(mounted.a->source, &site.where, NULL);
	ck_assert_ptr_nonnull(first);
	writer_unlock(mounted.a);
}

static void end(void)
{
	version_put(first);
	known_free(k);
	site_close(mounted.v, &site);
	mounted_end();
}

static struct version *current(void)
{
	struct version *v = source_get(mounted.a->source, &site.where, NULL);

	ck_assert_ptr_nonnull(v);
	return v;
}

/* Makes the n-th version, in which a value of a clip differs. */
static struct version *edited(struct version *from, unsigned n)
{
	struct anim *model = anim_edit(from->anim);
	struct clip *clip = model ? anim_edit_clip(model, 0) : NULL;
	struct err err = {.code = ERR_NONE};
	struct version *made;

	ck_assert_ptr_nonnull(clip);
	clip->frame_time = 0.01f * (float)(n + 1);
	made = source_edited(mounted.a->source, &site.where, from, model, &err);
	ck_assert_msg(made != NULL, "%s", err.message);
	anim_free(model);
	return made;
}

START_TEST(nothing_is_known_at_first)
{
	ck_assert_uint_eq(digests_last(known_digests(k)), 0);
	ck_assert(!known_is_changed(k));
	ck_assert_ptr_null(known_save_of(k, 1));
}
END_TEST

START_TEST(the_current_version_is_added_once)
{
	ck_assert_uint_eq(known_look(k, mounted.a->source, first), 1);
	ck_assert(known_is_changed(k));
	ck_assert_uint_eq(known_look(k, mounted.a->source, first), 1);
	ck_assert_uint_eq(known_number(k, first), 1);
	ck_assert_uint_eq(digests_last(known_digests(k)), 1);
}
END_TEST

START_TEST(a_save_is_known_by_its_number)
{
	struct program *self = mounted_program(getpid());
	struct version *second = edited(first, 1);
	const struct known_save *save;

	known_look(k, mounted.a->source, first);
	ck_assert_uint_eq(known_add(k, second, first, self, "w.canm/walk/clip.json"), 2);
	save = known_save_of(k, 2);
	ck_assert_ptr_nonnull(save);
	ck_assert_str_eq(save->path, "w.canm/walk/clip.json");
	ck_assert_str_eq(save->name, self->process.name);
	ck_assert_uint_eq(save->program, self->id);
	ck_assert_ptr_null(known_save_of(k, 1));
	/* The version from before is found, and does not count as new. */
	ck_assert_uint_eq(known_number(k, first), 1);
	/* A save that restores an old version makes a new one. */
	ck_assert_uint_eq(known_add(k, first, second, NULL, "w.canm/raw.canm"), 3);
	save = known_save_of(k, 3);
	ck_assert_uint_eq(save->program, 0);
	ck_assert_str_eq(save->name, "");
	ck_assert_uint_eq(known_number(k, first), 3);
	version_put(second);
	program_put(self);
}
END_TEST

START_TEST(who_saved_is_known_of_the_last_256)
{
	struct version *before = version_get(first);

	known_look(k, mounted.a->source, first);
	for (unsigned i = 1; i <= 257; i++) {
		struct version *next = edited(first, i);

		ck_assert_uint_eq(known_add(k, next, before, NULL, "path"), i + 1);
		version_put(before);
		before = next;
	}
	ck_assert_ptr_null(known_save_of(k, 2));
	ck_assert_ptr_nonnull(known_save_of(k, 3));
	ck_assert_ptr_nonnull(known_save_of(k, 258));
	version_put(before);
}
END_TEST

START_TEST(texts_are_noted)
{
	const struct bytes saved = {(const uint8_t *)"saved", 5},
			   served = {(const uint8_t *)"s", 1};
	const struct tree tree = {first, MOUNTED_FILE};
	struct place place;

	known_look(k, mounted.a->source, first);
	known_note(k, "walk/curves.csv", saved, 1);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/curves.csv", saved), 1);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/clip.json", saved), 0);
	/* A text that was served of a version is known once that version is looked at. */
	ck_assert(tree_walk(&tree, "walk/clip.json", &place));
	known_serve(first, &place, served);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/clip.json", served), 0);
	known_look(k, mounted.a->source, first);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/clip.json", served), 1);
	/* A generated text has its own digest. */
	ck_assert(tree_walk(&tree, "walk/clip.svg", &place));
	known_serve(first, &place, served);
	known_look(k, mounted.a->source, first);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/clip.svg", served), 0);
}
END_TEST

START_TEST(it_is_stored)
{
	const struct bytes text = {(const uint8_t *)"text", 4};
	struct version *second = edited(first, 1);

	known_look(k, mounted.a->source, first);
	known_note(k, "walk/curves.csv", text, 1);
	known_look(k, mounted.a->source, second);
	ck_assert_int_eq(known_store(k, mounted.v, &site.where), 0);
	ck_assert(!known_is_changed(k));
	known_free(k);
	writer_lock(mounted.a);
	load();
	writer_unlock(mounted.a);
	ck_assert(!known_is_changed(k));
	ck_assert_uint_eq(known_number(k, first), 1);
	ck_assert_uint_eq(known_number(k, second), 2);
	ck_assert_uint_eq(digests_of_text(known_digests(k), "walk/curves.csv", text), 1);
	version_put(second);
}
END_TEST

START_TEST(it_waits_for_the_lock_of_the_state_directory)
{
	int lock;

	known_look(k, mounted.a->source, first);
	ck_assert_int_eq(known_store(k, mounted.v, &site.where), 0);
	lock = openat(scratch_root, ".animfs/lock", O_RDWR);
	/* Lock as another process would: this thread must not take two locks of one class. */
	ck_assert_int_eq(flock(lock, LOCK_EX), 0);
	ck_assert_int_eq(known_store(k, mounted.v, &site.where), EBUSY);
	ck_assert(known_is_changed(k));
	close(lock);
	ck_assert_int_eq(known_store(k, mounted.v, &site.where), 0);
	ck_assert(!known_is_changed(k));
}
END_TEST

/*
 * After `animfs forget`, a later store must not restore the digests. But the history may have no
 * folder only because a save lacked room: then they are stored.
 */
START_TEST(it_is_not_stored_once_it_is_forgotten)
{
	struct version *second = edited(first, 1);

	known_look(k, mounted.a->source, first);
	known_add(k, second, first, NULL, "path");
	if (_i)
		known_kept(k);
	ck_assert_int_eq(known_store(k, mounted.v, &site.where), 0);
	known_free(k);
	writer_lock(mounted.a);
	load();
	writer_unlock(mounted.a);
	ck_assert_uint_eq(digests_last(known_digests(k)), _i ? 0 : 2);
	version_put(second);
}
END_TEST

START_TEST(versions_in_history_are_learned)
{
	struct version *now;

	for (unsigned i = 1; i <= 3; i++) {
		struct version *made = edited(first, i), *saved;
		struct bytes bytes = buf_bytes(&made->bytes);

		now = current();
		ck_assert_int_eq(source_commit(mounted.a->source, &site.where, now, NULL, NULL,
					       &bytes, &saved, NULL),
				 COMMIT_DONE);
		version_put(saved);
		version_put(made);
		version_put(now);
	}
	now = current();
	known_learn(k, mounted.v, &site.where, mounted.a->source, now);
	/* The first version and two that were replaced are stored; the last one is not yet. */
	ck_assert_uint_eq(known_number(k, first), 1);
	ck_assert_uint_ge(digests_last(known_digests(k)), 3);
	ck_assert_uint_eq(known_look(k, mounted.a->source, now), digests_last(known_digests(k)));
	version_put(now);
}
END_TEST

Suite *known_suite(void);

Suite *known_suite(void)
{
	Suite *s = suite_create("known");
	TCase *t = tcase_create("known");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, nothing_is_known_at_first);
	tcase_add_test(t, the_current_version_is_added_once);
	tcase_add_test(t, a_save_is_known_by_its_number);
	tcase_add_test(t, who_saved_is_known_of_the_last_256);
	tcase_add_test(t, texts_are_noted);
	tcase_add_test(t, it_is_stored);
	tcase_add_test(t, it_waits_for_the_lock_of_the_state_directory);
	tcase_add_loop_test(t, it_is_not_stored_once_it_is_forgotten, 0, 2);
	tcase_add_test(t, versions_in_history_are_learned);
	suite_add_tcase(s, t);
	return s;
}
