/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/layout.h"

#include <check.h>
#include <string.h>

static struct arena arena;
static struct layout l;

static void begin(const char *old)
{
	arena = (struct arena)ARENA_INIT;
	ck_assert(layout_init(&l, &arena, bytes_of(old), 10));
}

/* Adds a part of the old file whose content is unchanged. */
static struct part *keep(unsigned rank, size_t align, size_t at, size_t size)
{
	struct part *p = layout_add(&l, rank, align, at, size);

	p->data = l.old.data + at;
	p->size = size;
	p->old_order = p->order = at;
	return p;
}

static struct part *set(struct part *p, const char *text)
{
	p->data = (const uint8_t *)text;
	p->size = strlen(text);
	return p;
}

static struct part *fresh(unsigned rank, size_t align, size_t order, const char *text)
{
	struct part *p = set(layout_add(&l, rank, align, LAYOUT_NEW, 0), text);

	p->order = order;
	return p;
}

static void expect(const char *text)
{
	struct buf out = BUF_INIT;
	size_t i;

	layout_write(&l, &out);
	ck_assert_uint_eq(out.size, l.size);
	for (i = 0; i < out.size; i++)
		if (out.data[i] == 0)
			out.data[i] = '_';
	buf_char(&out, 0);
	ck_assert_str_eq((char *)out.data, text);
	buf_release(&out);
	arena_release(&arena);
}

static void expect_packed(const char *text)
{
	struct err err = {.code = ERR_NONE};

	ck_assert(!layout_stay(&l) || layout_clash(&l));
	ck_assert(layout_pack(&l, &err));
	expect(text);
}

START_TEST(test_all_stay)
{
	begin("HHaabbcc..");
	keep(0, 1, 0, 2);
	set(keep(1, 4, 2, 2), "AA"); /* the part is misaligned and stays so */
	keep(2, 1, 6, 2);
	ck_assert(layout_stay(&l));
	ck_assert(!layout_clash(&l));
	expect("HHAAbbcc..");
}
END_TEST

START_TEST(test_growth_moves_what_follows)
{
	begin("HHaabbcc..");
	keep(0, 1, 0, 2);
	set(keep(1, 1, 2, 2), "AAAA");
	keep(2, 1, 6, 2);
	expect_packed("HHAAAAbbcc..");
}
END_TEST

START_TEST(test_gone_part_leaves_no_hole)
{
	begin("HHaabbcc..");
	keep(0, 1, 0, 2);
	layout_add(&l, 1, 1, 2, 2);
	keep(2, 1, 6, 2);
	expect_packed("HHbbcc..");
}
END_TEST

START_TEST(test_new_parts_by_rank)
{
	begin("HHaabbcc..");
	keep(0, 1, 0, 2);
	keep(1, 1, 2, 2);
	keep(3, 1, 6, 2);
	fresh(2, 1, 1, "2");
	fresh(2, 1, 0, "1");
	fresh(1, 1, 0, "a");
	fresh(3, 1, 0, "c");
	fresh(7, 1, 0, "z");
	expect_packed("HHaaa12bbcccz..");
}
END_TEST

START_TEST(test_padding_follows_alignment)
{
	static const char old[] = "HHaa\0\0\0\0bbbbcc";

	arena = (struct arena)ARENA_INIT;
	ck_assert(layout_init(&l, &arena, (struct bytes){(const uint8_t *)old, 14}, 10));
	keep(0, 1, 0, 2);
	set(keep(1, 1, 2, 2), "aaa");
	keep(2, 4, 8, 4);
	keep(3, 4, 12, 2);
	/* Three of the four zeros can be padding; the first belongs to a part. */
	expect_packed("HHaaa___bbbbcc");
}
END_TEST

START_TEST(test_unknown_bytes_are_kept)
{
	begin("HHxxxaayyybbzz");
	keep(0, 1, 0, 2);
	set(keep(1, 4, 5, 2), "A");
	keep(2, 2, 10, 2);
	/* A misaligned part is aligned when it has to move, and only then. */
	expect_packed("HHxxxAyyy_bbzz");
}
END_TEST

START_TEST(test_run_in_order)
{
	begin("HHaacceeNN");
	l.ordered = 1u << 1;
	keep(0, 1, 0, 2);
	keep(1, 1, 2, 2)->order = 0;
	keep(1, 1, 4, 2)->order = 2;
	keep(1, 1, 6, 2)->order = 4;
	keep(2, 1, 8, 2);
	fresh(1, 1, 3, "dd");
	fresh(1, 1, 9, "ff");
	expect_packed("HHaaccddeeffNN");
}
END_TEST

START_TEST(test_run_in_a_new_order)
{
	begin("HHaaccNN");
	l.ordered = 1u << 1;
	keep(0, 1, 0, 2);
	keep(1, 1, 2, 2)->order = 9;
	keep(1, 1, 4, 2)->order = 1;
	keep(2, 1, 6, 2);
	expect_packed("HHccaaNN");
}
END_TEST

START_TEST(test_no_run_no_order)
{
	/* The parts were not in order before, so they stay in their order. */
	begin("HHaaccNN");
	l.ordered = 1u << 1;
	keep(0, 1, 0, 2);
	keep(1, 1, 2, 2)->old_order = 9;
	keep(1, 1, 4, 2)->old_order = 1;
	keep(2, 1, 6, 2);
	fresh(1, 1, 0, "b");
	expect_packed("HHaaccbNN");
}
END_TEST

START_TEST(test_empty_parts_may_grow_where_they_are)
{
	begin("HHaaNN");
	l.ordered = 1u << 1;
	keep(0, 1, 0, 2);
	keep(1, 1, 2, 2)->order = 0;
	set(keep(1, 1, 4, 0), "bb")->order = 1;
	keep(2, 1, 4, 2);
	fresh(1, 1, 2, "cc");
	expect_packed("HHaabbccNN");
}
END_TEST

START_TEST(test_overlap_is_taken_apart)
{
	begin("HHabcd..");
	keep(0, 1, 0, 2);
	set(keep(1, 1, 2, 3), "ABC");
	keep(2, 1, 3, 3);
	ck_assert(layout_stay(&l));
	ck_assert(layout_clash(&l));
	expect_packed("HHABCbcd..");
}
END_TEST

START_TEST(test_overlap_stays_unless_it_changes)
{
	begin("HHabcd..");
	set(keep(0, 1, 0, 2), "hh");
	keep(1, 1, 2, 3);
	keep(2, 1, 3, 3);
	ck_assert(layout_stay(&l));
	ck_assert(!layout_clash(&l));
	expect("hhabcd..");
}
END_TEST

START_TEST(test_too_much_overlap)
{
	struct err err = {.code = ERR_NONE};
	unsigned i;

	begin("HHabcd");
	keep(0, 1, 0, 2);
	for (i = 0; i < 6; i++)
		keep(1, 1, 2, 4);
	fresh(1, 1, 0, "n");
	ck_assert(layout_init(&l, &arena, l.old, 10));
	for (i = 0; i < 7; i++)
		keep(1, 1, 2, 4);
	fresh(1, 1, 0, "n");
	ck_assert(!layout_pack(&l, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	arena_release(&arena);
}
END_TEST

START_TEST(test_new_file)
{
	arena = (struct arena)ARENA_INIT;
	ck_assert(layout_init(&l, &arena, (struct bytes){NULL, 0}, 10));
	fresh(3, 4, 0, "ccc");
	fresh(0, 1, 0, "HH");
	fresh(2, 1, 1, "b");
	fresh(2, 1, 0, "a");
	expect_packed("HHabccc");
}
END_TEST

Suite *layout_suite(void)
{
	Suite *suite = suite_create("layout");
	TCase *tc = tcase_create("layout");

	tcase_add_test(tc, test_all_stay);
	tcase_add_test(tc, test_growth_moves_what_follows);
	tcase_add_test(tc, test_gone_part_leaves_no_hole);
	tcase_add_test(tc, test_new_parts_by_rank);
	tcase_add_test(tc, test_padding_follows_alignment);
	tcase_add_test(tc, test_unknown_bytes_are_kept);
	tcase_add_test(tc, test_run_in_order);
	tcase_add_test(tc, test_run_in_a_new_order);
	tcase_add_test(tc, test_no_run_no_order);
	tcase_add_test(tc, test_empty_parts_may_grow_where_they_are);
	tcase_add_test(tc, test_overlap_is_taken_apart);
	tcase_add_test(tc, test_overlap_stays_unless_it_changes);
	tcase_add_test(tc, test_too_much_overlap);
	tcase_add_test(tc, test_new_file);
	suite_add_tcase(suite, tc);
	return suite;
}
