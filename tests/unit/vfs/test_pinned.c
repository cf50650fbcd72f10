/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_pinned.c - the limit of memory for the texts of open views. */
#include "mounted.h"

#include "vfs/pinned.h"
#include "vfs/view.h"

#include <fcntl.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */
#define VIEWS 3

static struct request who;
static struct target views_of[VIEWS];
static struct handle *handles[VIEWS];

static uint64_t find(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

/* Begins a mount with this --cache, and opens three views of a clip. */
static void begin_with(size_t cache)
{
	static const char *const names[VIEWS] = {"clip.json", "curves.csv", "clip.kanim"};
	struct opened opened;
	uint64_t clip;

	mounted_begin_in(SAMPLE);
	mounted_down();
	mounted.options.store.cache = cache;
	mounted_up();
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	clip = find(mounted.folder.node->id, "walk");
	for (unsigned i = 0; i < VIEWS; i++) {
		uint64_t node = find(clip, names[i]);

		ck_assert_int_eq(target_get(mounted.v, node, &views_of[i]), 0);
		ck_assert_int_eq(vfs_open(mounted.v, &who, node, O_RDONLY, &opened), 0);
		handles[i] = opened.handle;
	}
}

static void end(void)
{
	for (unsigned i = 0; i < VIEWS; i++) {
		vfs_release(mounted.v, handles[i]);
		target_put(mounted.v, &views_of[i]);
	}
	mounted_end();
}

static struct text *read_view(unsigned i)
{
	struct text *text;

	ck_assert_int_eq(view_text(mounted.v, &views_of[i], &text), 0);
	return text;
}

static bool is_kept(unsigned i)
{
	bool kept;

	vfs_lock(mounted.v);
	kept = views_of[i].thing->view.rendered != NULL;
	vfs_unlock(mounted.v);
	return kept;
}

START_TEST(texts_of_open_views_are_kept)
{
	begin_with(MOUNTED_MEMORY);
	for (unsigned i = 0; i < VIEWS; i++)
		text_put(read_view(i));
	for (unsigned i = 0; i < VIEWS; i++)
		ck_assert(is_kept(i));
	end();
}
END_TEST

START_TEST(beyond_the_limit_only_the_one_that_was_read_last_is_kept)
{
	begin_with(1);
	for (unsigned i = 0; i < VIEWS; i++) {
		text_put(read_view(i));
		for (unsigned j = 0; j < VIEWS; j++)
			ck_assert(is_kept(j) == (j == i));
	}
	end();
}
END_TEST

START_TEST(the_one_that_was_read_first_makes_room)
{
	struct text *texts[VIEWS];
	size_t room = 0;

	begin_with(MOUNTED_MEMORY);
	for (unsigned i = 0; i < VIEWS; i++)
		texts[i] = read_view(i);
	/* A cache that is one byte too small for all three views. */
	for (unsigned i = 0; i < VIEWS; i++)
		room += text_capacity(texts[i]);
	end();
	begin_with(room - 1);
	text_put(read_view(0));
	text_put(read_view(1));
	text_put(read_view(0));
	text_put(read_view(2));
	ck_assert(is_kept(0) && !is_kept(1) && is_kept(2));
	for (unsigned i = 0; i < VIEWS; i++) {
		struct text *again = read_view(i);

		ck_assert(bytes_equal(text_bytes(again), text_bytes(texts[i])));
		text_put(again);
		text_put(texts[i]);
	}
	end();
}
END_TEST

static struct cached large = {.references = 1};
static bool is_freed;

static void free_large(struct cached *c)
{
	ck_assert_ptr_eq(c, &large);
	ck_assert_int_eq(pthread_mutex_trylock(&mounted.v->lock.mutex), 0);
	pthread_mutex_unlock(&mounted.v->lock.mutex);
	is_freed = true;
}

/* Freeing much memory takes time, during which others would wait for the lock. */
START_TEST(what_is_dropped_under_the_lock_is_freed_without_it)
{
	begin_with(MOUNTED_MEMORY);
	large = (struct cached){.references = 1, .free = free_large};
	is_freed = false;
	vfs_lock(mounted.v);
	cached_put(&large);
	ck_assert(!is_freed);
	vfs_unlock(mounted.v);
	ck_assert(is_freed);
	end();
}
END_TEST

Suite *pinned_suite(void);

Suite *pinned_suite(void)
{
	Suite *s = suite_create("pinned");
	TCase *tc = tcase_create("pinned");

	tcase_add_test(tc, texts_of_open_views_are_kept);
	tcase_add_test(tc, beyond_the_limit_only_the_one_that_was_read_last_is_kept);
	tcase_add_test(tc, the_one_that_was_read_first_makes_room);
	tcase_add_test(tc, what_is_dropped_under_the_lock_is_freed_without_it);
	suite_add_tcase(s, tc);
	return s;
}
