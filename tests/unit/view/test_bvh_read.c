/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refused_edit.h"
#include "text/num.h"
#include "view/bvh_read.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct err err;
static struct bvh b;

static void setup(void)
{
	arena = (struct arena)ARENA_INIT;
	err_clear(&err);
}

static void teardown(void)
{
	arena_release(&arena);
}

#define CELLS 16

/* Reads the whole text; `cells` gets the last row. */
static bool read_all(struct bytes text, struct bvh_cell *cells)
{
	bool fine = bvh_open(&b, text, &arena, &err);

	ck_assert(!fine || b.cells <= CELLS);
	for (uint32_t i = 0; fine && i < b.frames; i++)
		fine = bvh_row(&b, cells);
	return fine && bvh_close(&b);
}

static const char plain[] =
	"HIERARCHY\n"
	"ROOT hips\n"
	"{\n"
	"\tOFFSET 0 1 2\n"
	"\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
	"\tJOINT leg\n"
	"\t{\n"
	"\t\tOFFSET 3 4 5\n"
	"\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n"
	"\t\tEnd Site\n"
	"\t\t{\n"
	"\t\t\tOFFSET 6 7 8\n"
	"\t\t}\n"
	"\t}\n"
	"}\n"
	"MOTION\n"
	"Frames: 2\n"
	"Frame Time: 0.033333\n"
	"1 2 3 4 5 6 7 8 9\n"
	"10 20 30 40 50 60 70 80 90\n";

static const char odd[] = "\xef\xbb\xbf\r\n hierarchy root hips { offset -0 +1.0 2e0 channels 6 "
			  "XPOSITION yposition Zposition Zrotation\r\nYrotation Xrotation\r\n"
			  "Joint\tleg { OFFSET 3 4. 5 CHANNELS 3 Zrotation Xrotation Yrotation "
			  "end site toe { OFFSET 6 7 8 } }\f}\v"
			  "Motion\r\rFRAMES:2\r\nFrame\tTime:.033333\r\n\r\n"
			  " 1 2 3\t4 5 6 7 8 9  \r\n\r\n"
			  "1E1 2.0e+1 300e-1 40 50 60.000 7e1 80 90";

START_TEST(any_spelling_says_the_same)
{
	static const uint8_t hips[] = {BVH_X_POSITION, BVH_Y_POSITION, BVH_Z_POSITION,
				       BVH_Z_ROTATION, BVH_Y_ROTATION, BVH_X_ROTATION};
	static const uint8_t leg[] = {BVH_Z_ROTATION, BVH_X_ROTATION, BVH_Y_ROTATION};
	struct bytes text = bytes_of(_i ? odd : plain);
	struct bvh_cell cells[CELLS];

	ck_assert_msg(read_all(text, cells), "%s", err.message);
	ck_assert_uint_eq(b.count, 2);
	ck_assert(bytes_equal(b.joints[0].name, bytes_of("hips")));
	ck_assert(bytes_equal(b.joints[1].name, bytes_of("leg")));
	ck_assert_uint_eq(b.joints[0].parent, BVH_NONE);
	ck_assert_uint_eq(b.joints[1].parent, 0);
	ck_assert_uint_eq(b.joints[0].count, 6);
	ck_assert_uint_eq(b.joints[1].count, 3);
	ck_assert_mem_eq(b.joints[0].channels, hips, sizeof(hips));
	ck_assert_mem_eq(b.joints[1].channels, leg, sizeof(leg));
	ck_assert_uint_eq(b.joints[1].first, 6);
	ck_assert(!b.joints[0].has_end && b.joints[1].has_end);
	for (unsigned axis = 0; axis < 3; axis++) {
		ck_assert(b.joints[0].offset[axis].value == axis);
		ck_assert(b.joints[1].offset[axis].value == 3 + axis);
		ck_assert(b.joints[1].end[axis] == 6 + axis);
	}
	ck_assert_uint_eq(b.frames, 2);
	ck_assert(b.frame_time.value == 0.033333);
	for (unsigned i = 0; i < 9; i++) {
		ck_assert(cells[i].value == 10.0 * (i + 1));
		ck_assert_uint_le(cells[i].at + cells[i].length, text.size);
	}
}
END_TEST

START_TEST(a_joint_may_have_no_channels)
{
	struct bvh_cell cells[CELLS];

	ck_assert(
		read_all(bytes_of("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 0 JOINT b { OFFSET 0 "
				  "0 0 CHANNELS 1 Xrotation } } ROOT c { OFFSET 0 0 0 CHANNELS 0 } "
				  "MOTION Frames: 2 Frame Time: 1\n5\n6\n"),
			 cells));
	ck_assert_uint_eq(b.count, 3);
	ck_assert_uint_eq(b.joints[2].parent, BVH_NONE);
	ck_assert(b.cells == 1 && cells[0].value == 6);
	ck_assert(read_all(bytes_of("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 0 } MOTION Frames: 9 "
				    "Frame Time: 1\n"),
			   cells));
	ck_assert_uint_eq(b.cells, 0);
}
END_TEST

/* ---- refused texts ---- */

static const struct refused_edit refused[] = {
	{"HIERARCHY", "HIERARCHIE", 1, 1, "HIERARCHY"},
	{"ROOT hips", "JOINT hips", 2, 1, "ROOT"},
	{"ROOT hips", "ROOT left hips", 2, 11, "{"},
	{"OFFSET 0 1 2", "OFFSET 0 1", 5, 2, "a decimal number"},
	{"OFFSET 0 1 2", "OFFSET 0 1 nan", 4, 13, "a decimal number"},
	{"OFFSET 0 1 2", "OFFSET 0 1 1e39", 4, 13, "a decimal number"},
	{"OFFSET 3 4 5", "OFFSET 3 4 5 6", 8, 16, "CHANNELS"},
	{"CHANNELS 6 ", "CHANNELS 7 ", 5, 11, "from 0 to 6"},
	{"CHANNELS 6 ", "CHANNELS -1 ", 5, 11, "a number of them"},
	{"CHANNELS 6 ", "CHANNELS 5 ", 5, 63, "JOINT"},
	{"CHANNELS 3 ", "CHANNELS 4 ", 10, 3, "Xposition"},
	{"Xposition Y", "Wposition Y", 5, 13, "Xposition"},
	{"Yposition", "Xposition", 5, 23, "Xposition twice"},
	{"End Site", "End Point", 10, 7, "Site"},
	{"JOINT leg", "LIMB leg", 6, 2, "JOINT, End Site or }"},
	{"}\nMOTION", "MOTION", 15, 1, "JOINT, End Site or }"},
	{"MOTION", "MOTIONS", 16, 1, "ROOT or MOTION"},
	{"MOTION", "} MOTION", 16, 1, "ROOT or MOTION"},
	{"Frames: 2", "Frames: two", 17, 9, "a number of them"},
	{"Frames: 2", "Frames 2", 17, 1, "Frames:"},
	{"Frames: 2", "Frames: 1", 20, 1, "more rows than the 1"},
	{"Frame Time:", "Time:", 18, 1, "Frame"},
	{"0.033333", "0,033333", 18, 13, "a decimal number"},
	{"1 2 3 4", "1 2 x 4", 19, 5, "a decimal number"},
	{"1 2 3 4", "1 2 3 inf", 19, 7, "a decimal number"},
	{"1 2 3 4 ", "1 2 3 ", 19, 16, "the row of frame 0 ends after 8 numbers"},
	{"7 8 9\n", "7 8 9 1\n", 19, 19, "the row of frame 0 has more than 9 numbers"},
	{"7 8 9\n", "7 8 9 ", 19, 19, "the row of frame 0 has more than 9 numbers"},
};

static char *edited(const char *was, const char *is)
{
	const char *found = strstr(plain, was);
	struct buf out = BUF_INIT;

	ck_assert_ptr_nonnull(found);
	buf_add(&out, plain, (size_t)(found - plain));
	buf_text(&out, is);
	buf_text(&out, found + strlen(was));
	buf_char(&out, '\0');
	return (char *)out.data;
}

START_TEST(what_is_wrong_is_said_with_its_place)
{
	char *text = edited(refused[_i].was, refused[_i].is);
	struct bvh_cell cells[CELLS];
	struct position p;

	ck_assert_msg(!read_all(bytes_of(text), cells), "accepted: %s", refused[_i].is);
	p = err_locate(bytes_of(text), err.at);
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert(err.placed);
	ck_assert_msg(p.line == refused[_i].line && p.column == refused[_i].column,
		      "%s: at %zu:%zu: %s", refused[_i].is, p.line, p.column, err.message);
	ck_assert_msg(strstr(err.message, refused[_i].words) ||
			      strstr(err.accepted, refused[_i].words),
		      "%s: %s (%s)", refused[_i].is, err.message, err.accepted);
	free(text);
}
END_TEST

START_TEST(a_text_that_ends_early_is_half_written)
{
	const size_t size = sizeof(plain) - 1;
	struct bvh_cell cells[CELLS];

	for (size_t end = 0; end <= size; end++) {
		uint8_t *part = malloc(end + 1);
		bool fine;

		ck_assert_ptr_nonnull(part);
		memcpy(part + 1, plain, end);
		setup();
		fine = read_all((struct bytes){part + 1, end}, cells);
		/*
		 * A text cut inside the last number, or right behind it, cannot be recognised as
		 * cut.
		 */
		ck_assert_msg(fine == (end >= size - 2), "%zu: %s", end, err.message);
		if (!fine)
			ck_assert_msg(err.code == (end ? ERR_EARLY : ERR_EMPTY), "%zu: %s", end,
				      err.message);
		teardown();
		free(part);
	}
	setup();
}
END_TEST

START_TEST(any_byte_may_be_another)
{
	static const uint8_t others[] = {0, ' ', '\n', '{', '}', '-', '9', 'e', 'R', 0xff};
	const size_t size = sizeof(plain) - 1;
	uint8_t *text = malloc(size);
	struct bvh_cell cells[1024];

	ck_assert_ptr_nonnull(text);
	memcpy(text, plain, size);
	for (size_t at = 0; at < size; at++)
		for (size_t i = 0; i < sizeof(others); i++) {
			uint8_t was = text[at];
			bool fine;

			setup();
			text[at] = others[i];
			fine = read_all((struct bytes){text, size}, cells);
			ck_assert(fine || (err.code && err.message[0] && err.at <= size));
			text[at] = was;
			teardown();
		}
	free(text);
	setup();
}
END_TEST

START_TEST(a_deep_chain_is_read)
{
	struct buf text = BUF_INIT;
	const unsigned depth = 50000;

	buf_text(&text, "HIERARCHY ");
	for (unsigned i = 0; i < depth; i++)
		buf_format(&text, "%s b%u { OFFSET 0 0 0 CHANNELS 0 ", i ? "JOINT" : "ROOT", i);
	for (unsigned i = 0; i < depth; i++)
		buf_char(&text, '}'), buf_char(&text, ' ');
	buf_text(&text, "MOTION Frames: 0 Frame Time: 1");
	ck_assert_msg(read_all(buf_bytes(&text), NULL), "%s", err.message);
	ck_assert_uint_eq(b.count, depth);
	ck_assert_uint_eq(b.joints[depth - 1].parent, depth - 2);
	buf_release(&text);
}
END_TEST

Suite *bvh_read_suite(void);

Suite *bvh_read_suite(void)
{
	Suite *suite = suite_create("bvh_read");
	TCase *t = tcase_create("bvh_read");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, any_spelling_says_the_same, 0, 2);
	tcase_add_test(t, a_joint_may_have_no_channels);
	tcase_add_loop_test(t, what_is_wrong_is_said_with_its_place, 0, ARRAY_SIZE(refused));
	tcase_add_test(t, a_text_that_ends_early_is_half_written);
	tcase_add_test(t, any_byte_may_be_another);
	tcase_add_test(t, a_deep_chain_is_read);
	return suite;
}
