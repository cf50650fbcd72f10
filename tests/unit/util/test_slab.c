/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/slab.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 5000

static struct slab slab;

static size_t size_of(unsigned i)
{
	return 1 + i * 37 % SLAB_MAX;
}

static unsigned char byte_of(unsigned i)
{
	return (unsigned char)(i % 251 + 1);
}

static bool all_are(const unsigned char *thing, unsigned i, unsigned char byte)
{
	return thing[0] == byte && memcmp(thing, thing + 1, size_of(i) - 1) == 0;
}

static unsigned char *made(unsigned i)
{
	unsigned char *thing = slab_get(&slab, size_of(i));

	ck_assert_ptr_nonnull(thing);
	ck_assert_uint_eq((uintptr_t)thing % SLAB_STEP, 0);
	ck_assert(all_are(thing, i, 0));
	memset(thing, byte_of(i), size_of(i));
	return thing;
}

static void put_back(unsigned i, unsigned char *thing)
{
	ck_assert(all_are(thing, i, byte_of(i)));
	slab_put(&slab, thing, size_of(i));
}

/* No memory is given out twice or overlaps another object; memory given out again is zero. */
START_TEST(things_are_apart)
{
	static unsigned char *things[COUNT];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < COUNT; i++) {
			if (!things[i])
				things[i] = made(i);
		}
		for (unsigned i = round; i < COUNT; i += 2 + round) {
			put_back(i, things[i]);
			things[i] = NULL;
		}
	}
	for (unsigned i = 0; i < COUNT; i++) {
		if (things[i])
			put_back(i, things[i]);
	}
	slab_release(&slab); /* unfreed blocks are reported by sanitizers */
}
END_TEST

START_TEST(nothing_can_be_given_back)
{
	slab_put(&slab, NULL, 8);
}
END_TEST

/* Released memory is used for the next object. */
START_TEST(room_is_used_again)
{
	void *things[8], *last;

	for (unsigned i = 0; i < 8; i++)
		ck_assert_ptr_nonnull(things[i] = slab_get(&slab, 64));
	last = things[3];
	slab_put(&slab, last, 64);
	ck_assert_ptr_eq(slab_get(&slab, 64), last);
	slab_release(&slab);
}
END_TEST

Suite *slab_suite(void);
Suite *slab_suite(void);
Suite *slab_suite(void);
Suite *slab_suite(void)
{
	Suite *s = suite_create("slab");
	TCase *t = tcase_create("slab");

	tcase_add_test(t, things_are_apart);
	tcase_add_test(t, nothing_can_be_given_back);
	tcase_add_test(t, room_is_used_again);
	suite_add_tcase(s, t);
	return s;
}
