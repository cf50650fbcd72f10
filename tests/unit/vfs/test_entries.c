/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_entries.c - the order of a folder's listing while names come and go. */
#include "vfs/entries.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes a listing of files f0, f1 and so on, of which every `step`-th exists, between the dots and
 * some other entries.
 */
static struct listing *make(unsigned files, unsigned step, unsigned away)
{
	static const char *const places[] = {"b.csv", "a.csv", "c.csv"};
	struct listing *l = calloc(1, sizeof(*l));
	char name[16];

	ck_assert_ptr_nonnull(l);
	ck_assert(listing_add(l, ".", 0, S_IFDIR));
	ck_assert(listing_add(l, "..", 0, S_IFDIR));
	for (unsigned i = 0; i < 3; i++) {
		if (i == away)
			listing_pass_place(l);
		else
			ck_assert(listing_add_place(l, places[i], i, i == 1 ? S_IFDIR : S_IFREG));
	}
	for (unsigned i = 0; i < files; i += step) {
		snprintf(name, sizeof(name), "f%u", i);
		ck_assert(listing_add(l, name, i, S_IFREG));
	}
	listing_order(l);
	return l;
}

static uint64_t offset_of(const struct listing *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(listing_name(l, i), name) == 0)
			return l->entries[i].offset;
	}
	ck_abort_msg("%s is not there", name);
	return 0;
}

START_TEST(dots_and_places_come_first_in_their_order)
{
	static const char *const first[] = {".", "..", "b.csv", "a.csv", "c.csv"};
	struct listing *l = make(10, 1, 3);

	ck_assert_uint_eq(l->count, 15);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(listing_name(l, i), first[i]);
	ck_assert_uint_eq(l->entries[2].type, S_IFREG);
	ck_assert_uint_eq(l->entries[3].type, S_IFDIR);
	listing_free(l);
}
END_TEST

START_TEST(offsets_grow_and_lead_on)
{
	struct listing *l = make(1000, 1, 3);

	ck_assert_uint_eq(listing_behind(l, 0), 0);
	for (size_t i = 0; i < l->count; i++) {
		ck_assert_uint_le(l->entries[i].offset, INT64_MAX);
		ck_assert_uint_eq(listing_behind(l, l->entries[i].offset), i + 1);
	}
	listing_free(l);
}
END_TEST

/*
 * Half of the folder is read, then most of it is removed, then the rest is read: remaining names
 * appear once.
 */
START_TEST(what_stays_is_told_once)
{
	struct listing *before = make(1000, 1, 3), *after = make(1000, 5, 3);
	uint64_t place = before->entries[before->count / 2].offset;
	unsigned told[1000] = {0};

	for (size_t i = 0; i <= before->count / 2; i++) {
		if (*listing_name(before, i) == 'f')
			told[before->entries[i].ino]++;
	}
	for (size_t i = listing_behind(after, place); i < after->count; i++)
		told[after->entries[i].ino]++;
	for (unsigned i = 0; i < 1000; i += 5)
		ck_assert_uint_eq(told[i], 1);
	listing_free(before);
	listing_free(after);
}
END_TEST

START_TEST(a_place_that_is_away_moves_no_other)
{
	struct listing *all = make(0, 1, 3), *without = make(0, 1, 1);

	ck_assert_uint_eq(without->count, 4);
	ck_assert_uint_eq(offset_of(all, "c.csv"), offset_of(without, "c.csv"));
	listing_free(all);
	listing_free(without);
}
END_TEST

START_TEST(a_listing_is_told_from_others)
{
	struct listing *a = make(100, 1, 3), *b = make(100, 1, 3), *c = make(99, 1, 3);

	ck_assert_uint_ne(listing_hash(a), 0);
	ck_assert_uint_eq(listing_hash(a), listing_hash(b));
	ck_assert_uint_ne(listing_hash(a), listing_hash(c));
	listing_free(a);
	listing_free(b);
	listing_free(c);
}
END_TEST

START_TEST(the_latest_listing_of_a_node_is_the_one_that_goes_on)
{
	struct listings *l = listings_new();
	struct listing *old = make(1, 1, 3), *now = make(2, 1, 3), *taken;

	ck_assert_ptr_nonnull(l);
	ck_assert_ptr_null(listings_take(l, 5));
	listings_put(l, 5, old);
	listings_put(l, 5, now);
	taken = listings_take(l, 5);
	ck_assert_ptr_eq(taken, now);
	ck_assert_ptr_null(listings_take(l, 5));
	listings_put(l, 5, taken);
	for (uint64_t other = 100; other < 200; other++)
		listings_put(l, other, make(1, 1, 3));
	ck_assert_ptr_null(listings_take(l, 5));
	listings_free(l);
}
END_TEST

Suite *entries_suite(void);
Suite *entries_suite(void)
{
	Suite *suite = suite_create("entries");
	TCase *tc = tcase_create("entries");

	tcase_add_test(tc, dots_and_places_come_first_in_their_order);
	tcase_add_test(tc, offsets_grow_and_lead_on);
	tcase_add_test(tc, what_stays_is_told_once);
	tcase_add_test(tc, a_place_that_is_away_moves_no_other);
	tcase_add_test(tc, a_listing_is_told_from_others);
	tcase_add_test(tc, the_latest_listing_of_a_node_is_the_one_that_goes_on);
	suite_add_tcase(suite, tc);
	return suite;
}
