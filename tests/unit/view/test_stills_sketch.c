/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_stills_sketch.c - the parts of a figure that a thumbnail keeps. */
#include "view/stills_sketch.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct x3d_joined *joined;
static struct arena arena;
static struct stills_figure figure;
static struct stills_sketch sketch;

static void setup(void)
{
	arena = (struct arena)ARENA_INIT;
	joined = NULL;
}

static void teardown(void)
{
	arena_release(&arena);
	x3d_join_free(joined);
}

static void make(uint32_t count, const char *const *nodes)
{
	joined = x3d_join_new(count);
	ck_assert_ptr_nonnull(joined);
	for (uint32_t i = 0; i < count; i++) {
		struct err err = {.code = ERR_NONE};
		struct buf text = BUF_INIT;
		struct x3d_still still;

		buf_format(&text, "<X3D><Scene>%s</Scene></X3D>", nodes[i]);
		still = (struct x3d_still){buf_bytes(&text), false};
		ck_assert_msg(x3d_join_add(joined, &still, &err), "%s", err.message);
		buf_release(&text);
	}
	ck_assert(stills_figure_make(&figure, joined, &arena));
	ck_assert(stills_sketch_make(&sketch, &figure, count, &arena));
}

static void make_one(const char *nodes)
{
	make(1, &nodes);
}

/* Returns the number of parts with that many different corners. */
static unsigned parts_of(unsigned corners)
{
	unsigned count = 0;

	for (unsigned i = 0; i < sketch.part_count; i++) {
		const uint8_t *c = sketch.parts[i].corners;
		const unsigned own =
			1u + (c[1] != c[0] ? 1u : 0u) + (c[2] != c[1] && c[2] != c[0] ? 1u : 0u);

		for (unsigned k = 0; k < 3; k++)
			ck_assert_uint_lt(c[k], sketch.point_count);
		count += own == corners;
	}
	return count;
}

static bool has_point(uint32_t still, float x, float y, float z)
{
	float at[SKETCH_POINTS][3];

	stills_sketch_pose(&sketch, still, at);
	for (unsigned i = 0; i < sketch.point_count; i++)
		if (fabsf(at[i][0] - x) + fabsf(at[i][1] - y) + fabsf(at[i][2] - z) < 1e-5f)
			return true;
	return false;
}

#define RED "<Appearance><Material diffuseColor='1 0 0'/></Appearance>"

START_TEST(a_small_figure_is_drawn_as_it_is)
{
	make_one("<Transform translation='5 0 0' rotation='0 0 1 1.5707963' center='1 0 0'>"
		 "<Shape>" RED "<Box size='2 4 6'/></Shape></Transform>");
	ck_assert_uint_eq(sketch.point_count, 8);
	ck_assert_uint_eq(sketch.part_count, 12);
	ck_assert_uint_eq(parts_of(3), 12);
	for (unsigned i = 0; i < 12; i++)
		ck_assert_mem_eq(sketch.parts[i].colour, ((uint8_t[]){255, 0, 0}), 3);
	/* The point (1, 2, 3), less the center, rotated, and the center added again. */
	ck_assert(has_point(0, 4, 0, 3));
	ck_assert(has_point(0, 8, -2, -3));
}
END_TEST

START_TEST(lines_and_points_stay_lines_and_points)
{
	make_one("<Shape><Appearance><Material emissiveColor='0 1 0'/></Appearance>"
		 "<IndexedLineSet coordIndex='0 1 2 -1 2 1'>"
		 "<Coordinate point='0 0 0 1 0 0 1 1 0'/></IndexedLineSet></Shape>"
		 "<Shape><PointSet><Coordinate point='7 7 7 8 8 8 8 8 8'/></PointSet></Shape>");
	ck_assert_uint_eq(sketch.point_count, 5);
	ck_assert_uint_eq(parts_of(2), 2);
	ck_assert_uint_eq(parts_of(1), 2);
	ck_assert_uint_eq(sketch.part_count, 4);
}
END_TEST

/* Adds a grid of 40 x 40 points, with a face for each four. */
static void add_grid(struct buf *out)
{
	buf_text(out, "<Shape><IndexedFaceSet coordIndex='");
	for (unsigned i = 0; i < 39 * 39; i++) {
		const unsigned at = i / 39 * 40 + i % 39;

		buf_format(out, "%u %u %u %u -1 ", at, at + 1, at + 41, at + 40);
	}
	buf_text(out, "'><Coordinate point='");
	for (unsigned i = 0; i < 1600; i++)
		buf_format(out, "%u %u 0 ", i % 40, i / 40);
	buf_text(out, "'/></IndexedFaceSet></Shape>");
}

/* The corners of the grid are kept, all of it is covered, and no part occurs twice. */
START_TEST(of_a_large_one_what_is_left_covers_it)
{
	struct buf nodes = BUF_INIT;
	float at[SKETCH_POINTS][3];
	double area = 0;

	add_grid(&nodes);
	buf_char(&nodes, '\0');
	make_one((const char *)nodes.data);
	ck_assert_uint_eq(sketch.point_count, SKETCH_POINTS);
	ck_assert_uint_eq(parts_of(3), sketch.part_count);
	for (unsigned corner = 0; corner < 4; corner++)
		ck_assert(has_point(0, corner & 1 ? 39 : 0, corner & 2 ? 39 : 0, 0));
	stills_sketch_pose(&sketch, 0, at);
	for (unsigned i = 0; i < sketch.part_count; i++) {
		const uint8_t *c = sketch.parts[i].corners;
		const float *a = at[c[0]], *b = at[c[1]], *d = at[c[2]];

		area += fabs((double)((b[0] - a[0]) * (d[1] - a[1]) -
				      (d[0] - a[0]) * (b[1] - a[1]))) /
			2;
	}
	ck_assert_msg(area > 39 * 39 * 0.9 && area < 39 * 39 * 1.5, "the parts have an area of %g",
		      area);
	buf_release(&nodes);
}
END_TEST

/* The points are at one place in the first still, and apart in the last. */
START_TEST(what_parts_later_is_not_one_point)
{
	static const char *const nodes[] = {
		"<Shape><IndexedLineSet coordIndex='0 1'><Coordinate point='0 0 0 0 0 0'/>"
		"</IndexedLineSet></Shape>",
		"<Shape><IndexedLineSet coordIndex='0 1'><Coordinate point='0 0 0 0 3 0'/>"
		"</IndexedLineSet></Shape>",
	};

	make(2, nodes);
	ck_assert_uint_eq(sketch.point_count, 2);
	ck_assert_uint_eq(parts_of(2), 1);
	ck_assert(!has_point(0, 0, 3, 0));
	ck_assert(has_point(1, 0, 3, 0));
}
END_TEST

/* 100 boxes, each smaller than the distance between chosen points. */
START_TEST(what_is_small_is_a_dot)
{
	struct buf nodes = BUF_INIT;

	for (unsigned i = 0; i < 100; i++)
		buf_format(&nodes,
			   "<Transform translation='%u 0 0'><Shape><Box size='.1 .1 .1'/></Shape>"
			   "</Transform>",
			   i * 10);
	buf_char(&nodes, '\0');
	make_one((const char *)nodes.data);
	ck_assert_uint_eq(sketch.point_count, SKETCH_POINTS);
	ck_assert_uint_eq(parts_of(1), SKETCH_POINTS);
	buf_release(&nodes);
}
END_TEST

START_TEST(what_is_not_seen_takes_no_point)
{
	make_one("<Shape><Appearance><Material transparency='1'/></Appearance>"
		 "<Box size='100 100 100'/></Shape><Shape><Box/></Shape>"
		 "<Shape><IndexedFaceSet coordIndex='0 1 2'/></Shape>"
		 "<Shape><IndexedFaceSet><Coordinate point='50 0 0'/></IndexedFaceSet></Shape>");
	ck_assert_uint_eq(sketch.part_count, 12);
	ck_assert(!has_point(0, 50, 50, 50));
}
END_TEST

/* The node of the scene itself is not drawn. */
START_TEST(without_shapes_transforms_are_drawn)
{
	make_one("<Transform translation='0 1 0'><Transform translation='0 1 0'/></Transform>"
		 "<Transform translation='5 0 0'/>");
	ck_assert_uint_eq(sketch.point_count, 3);
	ck_assert_uint_eq(parts_of(2), 1);
	ck_assert_uint_eq(parts_of(1), 2);
	ck_assert(has_point(0, 0, 2, 0));
	ck_assert(!has_point(0, 0, 0, 0));
}
END_TEST

START_TEST(of_many_points_some_are_looked_at)
{
	struct buf nodes = BUF_INIT;

	buf_text(&nodes, "<Shape><PointSet><Coordinate point='");
	for (unsigned i = 0; i < 120001; i++)
		buf_format(&nodes, "%u 0 0 ", i);
	buf_text(&nodes, "'/></PointSet></Shape><Shape><Box/></Shape>");
	buf_char(&nodes, '\0');
	make_one((const char *)nodes.data);
	ck_assert_uint_eq(sketch.point_count, SKETCH_POINTS);
	ck_assert_uint_ge(parts_of(1), SKETCH_POINTS - 4);
	buf_release(&nodes);
}
END_TEST

Suite *stills_sketch_suite(void);

Suite *stills_sketch_suite(void)
{
	Suite *suite = suite_create("stills_sketch");
	TCase *t = tcase_create("stills_sketch");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_small_figure_is_drawn_as_it_is);
	tcase_add_test(t, lines_and_points_stay_lines_and_points);
	tcase_add_test(t, of_a_large_one_what_is_left_covers_it);
	tcase_add_test(t, what_parts_later_is_not_one_point);
	tcase_add_test(t, what_is_small_is_a_dot);
	tcase_add_test(t, what_is_not_seen_takes_no_point);
	tcase_add_test(t, without_shapes_transforms_are_drawn);
	tcase_add_test(t, of_many_points_some_are_looked_at);
	return suite;
}
