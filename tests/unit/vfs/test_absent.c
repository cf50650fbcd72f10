/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_absent.c - names that are absent: finding them among many, and when they come back. */
#include "mounted.h"

#include "vfs/lookup.h"

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */
#define MANY 5000

static struct request who;
static struct target clip, other;

static void look_up(const char *name, struct target *out)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, mounted.folder.node->id, name, &entry), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, out), 0);
}

static void begin(void)
{
	mounted_unwatched = true;
	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .pid = getpid()};
	look_up("walk", &clip);
	look_up("raw.canm", &other);
}

static void end(void)
{
	target_put(mounted.v, &clip);
	target_put(mounted.v, &other);
	mounted_end();
}

static const char *nth(unsigned n)
{
	static char name[16];

	snprintf(name, sizeof(name), "name%u", n);
	return name;
}

static void remove_many(unsigned from, unsigned step) REQUIRES(vfs_class)
{
	for (unsigned i = from; i < MANY; i += step)
		ck_assert(name_set_absent(mounted.v, mounted.a, clip.node, nth(i), NULL));
}

static unsigned count(const struct animation *a, const struct node *folder) REQUIRES(vfs_class)
{
	unsigned found = 0;

	for (unsigned i = 0; i < MANY; i++)
		found += name_is_absent(a, folder, nth(i));
	return found;
}

START_TEST(each_of_many_names_is_found)
{
	vfs_lock(mounted.v);
	remove_many(0, 2);
	remove_many(0, 2);
	ck_assert_uint_eq(mounted.a->absent.count, MANY / 2);
	ck_assert_uint_eq(count(mounted.a, clip.node), MANY / 2);
	ck_assert_uint_eq(count(mounted.a, mounted.folder.node), 0);
	ck_assert(!name_is_absent(mounted.a, clip.node, nth(1)));
	for (unsigned i = 0; i < MANY; i += 4)
		name_set_present(mounted.v, mounted.a, clip.node, nth(i));
	ck_assert_uint_eq(count(mounted.a, clip.node), MANY / 4);
	name_set_present(mounted.v, mounted.a, clip.node, nth(1));
	ck_assert_uint_eq(mounted.a->absent.count, MANY / 4);
	vfs_unlock(mounted.v);
}
END_TEST

/* A lookup takes no longer with many absent names, since few share a slot of the table. */
START_TEST(few_names_share_a_slot)
{
	size_t longest = 0;

	vfs_lock(mounted.v);
	remove_many(0, 1);
	ck_assert_uint_ge(mounted.a->absent.mask + 1, MANY);
	for (size_t i = 0; i <= mounted.a->absent.mask; i++) {
		size_t length = 0;

		for (const struct mark *m = mounted.a->absent.slots[i]; m; m = m->next_of_hash)
			length++;
		longest = length > longest ? length : longest;
	}
	ck_assert_uint_lt(longest, 16);
	vfs_unlock(mounted.v);
}
END_TEST

START_TEST(they_move_with_their_folder)
{
	vfs_lock(mounted.v);
	remove_many(0, 1);
	names_move(mounted.v, mounted.a, clip.node, other.node);
	ck_assert_uint_eq(count(mounted.a, clip.node), 0);
	ck_assert_uint_eq(count(mounted.a, other.node), MANY);
	vfs_unlock(mounted.v);
}
END_TEST

/* Makes a pause that ended long ago. */
static void pause_long(void)
{
	vfs_lock(mounted.v);
	mounted.a->touched = clock_ms() - 100 * END_MS;
	vfs_unlock(mounted.v);
}

START_TEST(nothing_ends_while_a_request_is_under_way)
{
	struct slot slot;

	vfs_lock(mounted.v);
	ck_assert(name_set_absent(mounted.v, mounted.a, clip.node, "bones", NULL));
	vfs_unlock(mounted.v);
	pause_long();
	ck_assert(animation_is_quiet(mounted.v, mounted.a));
	ck_assert_int_eq(slot_find(mounted.v, clip.node->id, "frames", &slot), 0);
	ck_assert(!animation_is_quiet(mounted.v, mounted.a));
	slot_release(mounted.v, &slot);
	pause_long();
	ck_assert(animation_is_quiet(mounted.v, mounted.a));
}
END_TEST

/* A request that takes longer than a pause does not count as one. */
START_TEST(the_time_of_a_request_is_no_pause)
{
	int64_t began;

	vfs_lock(mounted.v);
	ck_assert(name_set_absent(mounted.v, mounted.a, clip.node, "bones", NULL));
	vfs_unlock(mounted.v);
	pause_long();
	began = request_begins(mounted.v, mounted.a) - 100 * END_MS;
	request_ends(mounted.v, mounted.a, began);
	ck_assert(!animation_is_quiet(mounted.v, mounted.a));
}
END_TEST

Suite *absent_suite(void);

Suite *absent_suite(void)
{
	Suite *s = suite_create("absent");
	TCase *t = tcase_create("absent");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, each_of_many_names_is_found);
	tcase_add_test(t, few_names_share_a_slot);
	tcase_add_test(t, they_move_with_their_folder);
	tcase_add_test(t, nothing_ends_while_a_request_is_under_way);
	tcase_add_test(t, the_time_of_a_request_is_no_pause);
	suite_add_tcase(s, t);
	return s;
}
