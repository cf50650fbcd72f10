/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_stills_html.c - the drawing of joined stills, and the page that shows it. */
#include "sample.h"
#include "view/own_digest.h"
#include "view/stills_figure.h"
#include "view/views.h"

static struct x3d_joined *joined;
static uint32_t count;
static struct arena arena;
static struct stills_figure figure;
static struct err err;

static void setup(void)
{
	arena = (struct arena)ARENA_INIT;
	err = (struct err){.code = ERR_NONE};
	joined = NULL;
	count = 0;
}

static void teardown(void)
{
	arena_release(&arena);
	x3d_join_free(joined);
}

/* Adds a still; `all` is the number of stills that are added in all. */
static void add_still(uint32_t all, const char *nodes)
{
	struct buf text = BUF_INIT;
	struct x3d_still still;

	if (!joined)
		joined = x3d_join_new(all);
	ck_assert_ptr_nonnull(joined);
	buf_format(&text, "<X3D><Scene>%s</Scene></X3D>", nodes);
	still = (struct x3d_still){buf_bytes(&text), false};
	ck_assert_msg(x3d_join_add(joined, &still, &err), "%s", err.message);
	buf_release(&text);
	count++;
}

static void make_figure(void)
{
	ck_assert_msg(stills_figure_present(joined, &err), "%s", err.message);
	ck_assert(stills_figure_make(&figure, joined, &arena));
}

static void assert_values(const struct stills_values *v, bool moves, const float *want,
			  size_t numbers)
{
	ck_assert_ptr_nonnull(v->values);
	ck_assert_uint_eq(v->moves, moves);
	ck_assert_uint_eq(v->width * (moves ? count : 1), numbers);
	for (size_t i = 0; i < numbers; i++)
		ck_assert_float_eq(v->values[i], want[i]);
}

#define VALUES(v, moves, ...)                                                                      \
	assert_values(&(v), moves, (const float[]){__VA_ARGS__},                                   \
		      sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

static void assert_index(const struct stills_shape *s, const int32_t *want, size_t size)
{
	ck_assert_uint_eq(s->index_count, size);
	for (size_t i = 0; i < size; i++)
		ck_assert_int_eq(s->index[i], want[i]);
}

#define INDEX(s, ...)                                                                              \
	assert_index(&(s), (const int32_t[]){__VA_ARGS__},                                         \
		     sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

START_TEST(transforms_hang_from_each_other)
{
	add_still(2, "<Transform DEF='a' translation='1 2 3'><Group><Transform scale='2 2 2'/>"
		     "</Group></Transform><Viewpoint/>");
	add_still(2, "<Transform DEF='a' translation='1 2 4'><Group><Transform scale='2 2 2'/>"
		     "</Group></Transform><Viewpoint/>");
	make_figure();
	ck_assert_uint_eq(figure.node_count, 3);
	ck_assert_uint_eq(figure.nodes[0].parent, STILLS_NONE);
	ck_assert_str_eq(figure.nodes[1].name, "a");
	ck_assert_uint_eq(figure.nodes[1].parent, 0);
	VALUES(figure.nodes[1].translation, true, 1, 2, 3, 1, 2, 4);
	VALUES(figure.nodes[1].rotation, false, 0, 0, 1, 0);
	ck_assert_str_eq(figure.nodes[2].name, "Transform 3");
	ck_assert_uint_eq(figure.nodes[2].parent, 1);
	VALUES(figure.nodes[2].scale, false, 2, 2, 2);
	ck_assert_ptr_null(figure.nodes[2].center.values);
}
END_TEST

START_TEST(a_center_is_gone_back_from)
{
	add_still(2, "<Transform DEF='a' center='1 0 0'><Transform/></Transform>");
	add_still(2, "<Transform DEF='a' center='2 0 0'><Transform/></Transform>");
	make_figure();
	ck_assert_uint_eq(figure.node_count, 4);
	VALUES(figure.nodes[1].center, true, 1, 0, 0, 2, 0, 0);
	ck_assert(!figure.nodes[1].less_center);
	ck_assert_str_eq(figure.nodes[2].name, "a center");
	ck_assert(figure.nodes[2].less_center);
	ck_assert_uint_eq(figure.nodes[3].parent, 2);
}
END_TEST

#define SHAPE(looks, geometry) "<Shape><Appearance>" looks "</Appearance>" geometry "</Shape>"
#define POINTS(z) "<Coordinate DEF='c' point='0 0 " z ", 1 0 0, 1 1 0'/>"

START_TEST(shapes_are_points_lines_and_faces)
{
	static const char *const scene[] = {
		SHAPE("<Material diffuseColor='1 0 0' transparency='0.5'/>",
		      "<IndexedFaceSet coordIndex='0 1 2 -1 0,2,9'>" POINTS(
			      "0") "</IndexedFaceSet>"),
		SHAPE("<Material diffuseColor='1 0 0' transparency='0.5'/>",
		      "<IndexedFaceSet coordIndex='0 1 2 -1 0,2,9'>" POINTS(
			      "7") "</IndexedFaceSet>")};
	static const char rest[] =
		SHAPE("<Material emissiveColor='0 1 0'/>",
		      "<IndexedLineSet coordIndex='0 1'><Coordinate USE='c'/></IndexedLineSet>")
			SHAPE("", "<PointSet><Coordinate USE='c'/></PointSet>")
				SHAPE("", "<TriangleSet><Coordinate USE='c'/></TriangleSet>")
					SHAPE("<Material/>",
					      "<IndexedTriangleSet index='2 1 0 0 1 2'><Coordinate "
					      "USE='c'/></IndexedTriangleSet>") SHAPE("", "<Text/>")
						SHAPE("", "<Box/>");
	char text[2000];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s%s", scene[i], rest);
		add_still(2, text);
	}
	make_figure();
	ck_assert_uint_eq(figure.shape_count, 6);
	ck_assert_int_eq(figure.shapes[0].kind, STILLS_FACES);
	VALUES(figure.shapes[0].points, true, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 7, 1, 0, 0, 1, 1, 0);
	VALUES(figure.shapes[0].colour, false, 1, 0, 0);
	VALUES(figure.shapes[0].transparency, false, 0.5f);
	INDEX(figure.shapes[0], 0, 1, 2, -1, 0, 2, -1);
	ck_assert_int_eq(figure.shapes[1].kind, STILLS_LINES);
	VALUES(figure.shapes[1].colour, false, 0, 1, 0);
	ck_assert_uint_eq(figure.shapes[1].points.width, 9);
	ck_assert(figure.shapes[1].points.moves);
	ck_assert_int_eq(figure.shapes[2].kind, STILLS_POINTS);
	VALUES(figure.shapes[2].colour, false, 1, 1, 1);
	INDEX(figure.shapes[3], 0, 1, 2, -1);
	INDEX(figure.shapes[4], 2, 1, 0, -1, 0, 1, 2, -1);
	VALUES(figure.shapes[4].colour, false, 0.8f, 0.8f, 0.8f);
	ck_assert_uint_eq(figure.shapes[5].points.width, 24);
}
END_TEST

/* Each face of a solid has points that exist, at the solid's distance from its center. */
START_TEST(solids_are_faces)
{
	add_still(1, "<Shape><Sphere radius='2'/></Shape><Shape><Cone bottomRadius='3' height='4'/>"
		     "</Shape><Shape><Cylinder/></Shape>");
	make_figure();
	ck_assert_uint_eq(figure.shape_count, 3);
	for (uint32_t i = 0; i < figure.shape_count; i++) {
		const struct stills_shape *s = &figure.shapes[i];

		ck_assert_int_eq(s->index[s->index_count - 1], -1);
		for (size_t k = 0; k < s->index_count; k++)
			ck_assert(s->index[k] >= -1 &&
				  (size_t)(s->index[k] + 1) * 3 <= s->points.width);
	}
	for (size_t i = 0; i < figure.shapes[0].points.width; i += 3) {
		const float *p = figure.shapes[0].points.values + i;

		ck_assert_float_eq_tol(p[0] * p[0] + p[1] * p[1] + p[2] * p[2], 4, 1e-5f);
	}
}
END_TEST

START_TEST(what_is_used_again_is_drawn_again)
{
	add_still(1, "<Transform DEF='t'><Shape DEF='s'><Box/></Shape></Transform>"
		     "<Transform><Transform USE='t'/><Shape USE='s'/></Transform>"
		     "<Switch whichChoice='1'><Shape><Sphere/></Shape><Shape USE='s'/></Switch>"
		     "<Switch whichChoice='-1'><Shape USE='s'/></Switch><Switch/>"
		     "<LOD><Shape USE='s'/><Shape><Sphere/></Shape></LOD>"
		     "<ProtoDeclare><Shape USE='s'/></ProtoDeclare><Shape USE='none'/>");
	make_figure();
	ck_assert_uint_eq(figure.node_count, 4);
	ck_assert_uint_eq(figure.nodes[3].parent, 2);
	ck_assert_uint_eq(figure.shape_count, 5);
	for (uint32_t i = 0; i < figure.shape_count; i++)
		ck_assert_uint_eq(figure.shapes[i].points.width, 24);
	ck_assert_uint_eq(figure.shapes[1].node, 3);
}
END_TEST

static const struct {
	const char *nodes, *message;
} refused[] = {
	{"<Viewpoint/>", "it has neither Transforms nor shapes to be drawn"},
	{"<Shape><Text/></Shape>", "it has neither Transforms nor shapes to be drawn"},
	{"<Transform scaleOrientation='0 0 1 0.5' scale='1 2 1'/>",
	 "it has a Transform with a scaleOrientation"},
	{"<Group DEF='g'><Transform><Group USE='g'/></Transform></Group>",
	 "its nodes use each other too often"},
	{"<Group DEF='a'><Transform/><Transform/><Transform/><Transform/></Group>"
	 "<Group DEF='b'><Group USE='a'/><Group USE='a'/><Group USE='a'/><Group USE='a'/></Group>"
	 "<Group DEF='c'><Group USE='b'/><Group USE='b'/><Group USE='b'/><Group USE='b'/></Group>"
	 "<Group DEF='d'><Group USE='c'/><Group USE='c'/><Group USE='c'/><Group USE='c'/></Group>"
	 "<Group DEF='e'><Group USE='d'/><Group USE='d'/><Group USE='d'/><Group USE='d'/></Group>"
	 "<Group DEF='f'><Group USE='e'/><Group USE='e'/><Group USE='e'/><Group USE='e'/></Group>"
	 "<Group DEF='g'><Group USE='f'/><Group USE='f'/><Group USE='f'/><Group USE='f'/></Group>",
	 "it has more than 20000 Transforms and shapes"},
};

START_TEST(what_cannot_be_drawn_has_no_page)
{
	add_still(1, refused[_i].nodes);
	ck_assert(!stills_figure_present(joined, &err));
	ck_assert_str_eq(err.message, refused[_i].message);
}
END_TEST

/*
 * Each group contains the previous one twice, and the first is empty: 2^40 visits, and nothing to
 * draw.
 */
START_TEST(groups_that_double_are_not_walked_for_ever)
{
	struct buf nodes = BUF_INIT;

	buf_text(&nodes, "<Transform/><Group DEF='g0'/>");
	for (unsigned i = 1; i <= 40; i++)
		buf_format(&nodes, "<Group DEF='g%u'><Group USE='g%u'/><Group USE='g%u'/></Group>",
			   i, i - 1, i - 1);
	buf_char(&nodes, '\0');
	add_still(1, (const char *)nodes.data);
	ck_assert(!stills_figure_present(joined, &err));
	ck_assert_str_eq(err.message, "its nodes use each other too often");
	buf_release(&nodes);
}
END_TEST

/* A mesh with 100 kB of corners is used 1,000 times. */
START_TEST(a_shape_that_is_used_often_counts_as_often)
{
	struct buf nodes = BUF_INIT;

	buf_text(&nodes, "<Shape DEF='s'><IndexedFaceSet coordIndex='");
	for (unsigned i = 0; i < 10000; i++)
		buf_text(&nodes, "0 1 2 -1 ");
	buf_text(&nodes, "'><Coordinate point='0 0 0 1 0 0 0 1 0'/></IndexedFaceSet></Shape>");
	for (unsigned i = 0; i < 1000; i++)
		buf_text(&nodes, "<Shape USE='s'/>");
	buf_char(&nodes, '\0');
	add_still(1, (const char *)nodes.data);
	ck_assert(!stills_figure_present(joined, &err));
	ck_assert_str_eq(err.message, "its shapes have more than 64 MiB of points and corners");
	buf_release(&nodes);
}
END_TEST

/* ---- the page ---- */

static struct still times[3] = {{.time = 1}, {.time = 2}, {.time = 5}};

START_TEST(the_size_of_a_page_is_known)
{
	static const char *const moved[] = {"1", "2", "0"};
	const struct clip clip = {.label = "walk", .frames = 3, .stills = times};
	struct sample s = sample_open("wiki512.canm");
	struct anim anim = *s.version->anim;
	struct shown_stills stills = {.folder = ""};
	struct shown at = {.anim = &anim, .file_name = "walk.kanim", .stills = &stills};
	struct buf text = BUF_INIT;
	uint64_t size;
	char nodes[400];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(nodes, sizeof(nodes),
			 "<Transform DEF='a' translation='%s 0 0' rotation='0 1 0 %s' center='1 1 "
			 "1'>" SHAPE("<Material DEF='m' diffuseColor='%s 0 0'/>",
				     "<PointSet><Coordinate point='%s 0 0, 1 1 1'/></PointSet>")
				 SHAPE("", "<Sphere/>") "</Transform>",
			 moved[i], moved[i], moved[i], moved[i]);
		add_still(3, nodes);
	}
	anim.clips = &clip;
	anim.clip_count = 1;
	stills.joined = joined;
	ck_assert(view_stills_html.present(&at));
	view_stills_html.render(&at, &text);
	ck_assert(!text.failed);
	ck_assert(own_digest_valid(buf_bytes(&text)));
	ck_assert(view_stills_html.size(&at, &size));
	ck_assert_uint_eq(size, text.size);
	buf_release(&text);
	sample_close(&s);
}
END_TEST

Suite *stills_html_suite(void);

Suite *stills_html_suite(void)
{
	Suite *suite = suite_create("stills_html");
	TCase *t = tcase_create("stills_html");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, transforms_hang_from_each_other);
	tcase_add_test(t, a_center_is_gone_back_from);
	tcase_add_test(t, shapes_are_points_lines_and_faces);
	tcase_add_test(t, solids_are_faces);
	tcase_add_test(t, what_is_used_again_is_drawn_again);
	tcase_add_loop_test(t, what_cannot_be_drawn_has_no_page, 0, ARRAY_SIZE(refused));
	tcase_add_test(t, groups_that_double_are_not_walked_for_ever);
	tcase_add_test(t, a_shape_that_is_used_often_counts_as_often);
	tcase_add_test(t, the_size_of_a_page_is_known);
	return suite;
}
