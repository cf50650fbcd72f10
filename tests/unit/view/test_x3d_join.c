/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_x3d_join.c - joins stills to one scene that plays. scripts/test-kanim.sh plays such scenes.
 */
#include "sample.h"
#include "view/own_digest.h"
#include "view/x3d_fields.h"
#include "view/x3d_join.h"
#include "view/x3d_scene.h"

#define STILLS_MAX 4

static struct x3d_still stills[STILLS_MAX];
static struct still times[STILLS_MAX];
static uint32_t count, at; /* number of stills; index of the still that is added */
static struct x3d_play play;
static struct buf out;
static struct err err;

static void setup(void)
{
	play = (struct x3d_play){.stills = times, .folder = ""};
	count = 0;
	err = (struct err){.code = ERR_NONE};
}

static void teardown(void)
{
	buf_release(&out);
}

static void add_still(float time, const char *text)
{
	times[count] = (struct still){.time = time};
	stills[count++] = (struct x3d_still){bytes_of(text), false};
}

static bool join(void)
{
	struct x3d_joined *j = x3d_join_new(count);
	bool fine = true;

	ck_assert_ptr_nonnull(j);
	for (at = 0; fine && at < count; at++)
		fine = x3d_join_add(j, &stills[at], &err);
	at -= !fine;
	if (fine)
		x3d_join_write(j, &play, &out);
	x3d_join_free(j);
	return fine;
}

/* Returns the joined text without its declaration and its digest. */
static const char *joined(void)
{
	static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	char *digest;

	ck_assert_msg(join(), "%s", err.message);
	ck_assert(own_digest_valid(buf_bytes(&out)));
	buf_char(&out, '\0');
	digest = strstr((char *)out.data, "<!-- animfs");
	ck_assert_ptr_nonnull(digest);
	*digest = '\0';
	ck_assert_int_eq(strncmp((const char *)out.data, head, strlen(head)), 0);
	return (const char *)out.data + strlen(head);
}

static void assert_refused(uint32_t still, size_t place, const char *message)
{
	ck_assert(!join());
	ck_assert_str_eq(err.message, message);
	ck_assert_uint_eq(at, still);
	ck_assert(err.placed);
	ck_assert_uint_eq(err.at, place);
	ck_assert_int_ne(err.accepted[0], '\0');
	ck_assert_uint_eq(out.size, 0);
}

/* Returns the place of `what` in a still. */
static size_t place_of(uint32_t still, const char *what)
{
	const char *text = (const char *)stills[still].text.data;

	ck_assert_ptr_nonnull(strstr(text, what));
	return (size_t)(strstr(text, what) - text);
}

#define SCENE(nodes) "<X3D version=\"3.2\" profile=\"Interchange\"><Scene>" nodes "</Scene></X3D>"
#define ROUTES(i, node, field)                                                                     \
	"<ROUTE fromNode=\"join_clock\" fromField=\"fraction_changed\" toNode=\"join_move" i       \
	"\" toField=\"set_fraction\"/>\n<ROUTE fromNode=\"join_move" i                             \
	"\" fromField=\"value_changed\" toNode=\"" node "\" toField=\"set_" field "\"/>\n"

START_TEST(a_field_that_moves_has_an_interpolator)
{
	add_still(1, SCENE("<Transform DEF='hip' translation='0 1 0'/>"));
	add_still(2, SCENE("<!-- later --><Transform  translation='0,2.5,0' DEF='hip'/>"));
	add_still(5, SCENE("<Transform DEF='hip'/>"));
	ck_assert_str_eq(joined(),
			 "<X3D version=\"3.2\" profile=\"Interchange\"><Scene>"
			 "<Transform DEF='hip' translation='0 1 0'/>"
			 "<TimeSensor DEF=\"join_clock\" cycleInterval=\"4\" loop=\"false\"/>\n"
			 "<PositionInterpolator DEF=\"join_move0\" key=\" 0 0.25 1\" "
			 "keyValue=\" 0 1 0 0 2.5 0 0 0 0\"/>\n" ROUTES(
				 "0", "hip", "translation") "</Scene></X3D>\n");
}
END_TEST

/* Writers leave out a field with the default value, here pi / 4. */
START_TEST(a_field_of_view_may_be_left_out)
{
	add_still(0, SCENE("<Viewpoint DEF='v'/>"));
	add_still(1, SCENE("<Viewpoint DEF='v' fieldOfView='0.5'/>"));
	add_still(2, SCENE("<Viewpoint DEF='v'/>"));
	ck_assert_ptr_nonnull(strstr(
		joined(),
		"<ScalarInterpolator DEF=\"join_move0\" key=\" 0 0.5 1\" "
		"keyValue=\" 0.7853982 0.5 0.7853982\"/>\n" ROUTES("0", "v", "fieldOfView")));
}
END_TEST

/* Any number of nodes can move, each with any number of fields; nodes without a name get one. */
START_TEST(every_node_may_move)
{
	const char *text;

	add_still(0, SCENE("<Transform rotation='0 1 0 0' scale='1 1 1'><Shape><IndexedLineSet "
			   "coordIndex='0 1 -1'><Coordinate point='0 0 0, 1 0 0'/>"
			   "</IndexedLineSet></Shape></Transform><Viewpoint DEF='join_'/>"));
	add_still(2, SCENE("<Transform rotation='0 1 0 3' scale='2 1 1'><Shape><IndexedLineSet "
			   "coordIndex=' 0  1 -1 '><Coordinate point='0 0 0, 1 4 0' "
			   "containerField='coord'/></IndexedLineSet></Shape></Transform>"
			   "<Viewpoint DEF='join_' position='0 0 10.0'/>"));
	play.loop = true;
	text = joined();
	ck_assert_ptr_nonnull(strstr(text, "<Transform DEF=\"join2_1\" rotation='0 1 0 0' scale"));
	ck_assert_ptr_nonnull(strstr(text, "<Coordinate DEF=\"join2_4\" point='0 0 0, 1 0 0'/>"));
	ck_assert_ptr_nonnull(strstr(text, "cycleInterval=\"2\" loop=\"true\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<OrientationInterpolator DEF=\"join2_move0\" "
					   "key=\" 0 1\" keyValue=\" 0 1 0 0 0 1 0 3\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<PositionInterpolator DEF=\"join2_move1\" "
					   "key=\" 0 1\" keyValue=\" 1 1 1 2 1 1\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<CoordinateInterpolator DEF=\"join2_move2\" key=\" 0 "
					   "1\" keyValue=\" 0 0 0 1 0 0 0 0 0 1 4 0\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "toNode=\"join2_4\" toField=\"set_point\"/>"));
	ck_assert_ptr_null(strstr(text, "move3"));
}
END_TEST

START_TEST(back_and_forth)
{
	add_still(0, SCENE("<Transform DEF='a' translation='0 0 0'/>"));
	add_still(1, SCENE("<Transform DEF='a' translation='1 0 0'/>"));
	add_still(4, SCENE("<Transform DEF='a' translation='4 0 0'/>"));
	play.backwards = true;
	ck_assert_ptr_nonnull(strstr(
		joined(),
		"cycleInterval=\"8\" loop=\"false\"/>\n<PositionInterpolator DEF=\"join_move0\" "
		"key=\" 0 0.125 0.5 0.875 1\" keyValue=\" 0 0 0 1 0 0 4 0 0 1 0 0 0 0 0\"/>"));
}
END_TEST

/* X3D interpolates colours in HSV, and a kanim linearly in RGB, so colours get more keys. */
START_TEST(colours_have_close_keys)
{
	add_still(0, SCENE("<Material DEF='m' diffuseColor='1 0 0'/>"));
	add_still(1, SCENE("<Material DEF='m' diffuseColor='0 0 1'/>"));
	ck_assert_ptr_nonnull(strstr(
		joined(),
		"<ColorInterpolator DEF=\"join_move0\" key=\" 0 0.125 0.25 0.375 0.5 0.625 0.75 "
		"0.875 1\" keyValue=\" 1 0 0 0.875 0 0.125 0.75 0 0.25 0.625 0 0.375 0.5 0 0.5 "
		"0.375 0 0.625 0.25 0 0.75 0.125 0 0.875 0 0 1\"/>"));
}
END_TEST

#define CLOUD_AT(place) "<Scene><TextureTransform DEF='t' translation='" place "'/></Scene></X3D>"
#define LEVEL3 "<component name=\"Interpolation\" level=\"3\"/>"

/* Interpolators of number pairs are in the profile Full, or have to be declared. */
static const struct {
	const char *head, *declared;
} heads[] = {
	{"<X3D profile='Full'>", "<X3D profile='Full'>"},
	{"<X3D profile='Interchange'>", "<X3D profile='Interchange'><head>" LEVEL3 "</head>"},
	{"<X3D><head/>", "<X3D><head>" LEVEL3 "</head>"},
	{"<X3D><head><meta name='a' content='b'/></head>",
	 "<X3D><head>" LEVEL3 "<meta name='a' content='b'/></head>"},
	{"<X3D><head><component name='Interpolation' level='2'/></head>",
	 "<X3D><head><component name='Interpolation' level='3'/></head>"},
	{"<X3D><head><component name='Time' level='2'/>\n"
	 "<component level='4' name='Interpolation'/></head>",
	 "<X3D><head><component name='Time' level='2'/>\n"
	 "<component level='4' name='Interpolation'/></head>"},
};

START_TEST(interpolators_of_pairs_are_declared)
{
	char first[300], other[300], expected[700];

	snprintf(first, sizeof(first), "%s" CLOUD_AT("0 0"), heads[_i].head);
	snprintf(other, sizeof(other), "%s" CLOUD_AT("0.5 1"), heads[_i].head);
	snprintf(expected, sizeof(expected),
		 "%s<Scene><TextureTransform DEF='t' translation='0 0'/>"
		 "<TimeSensor DEF=\"join_clock\" cycleInterval=\"1\" loop=\"false\"/>\n"
		 "<PositionInterpolator2D DEF=\"join_move0\" key=\" 0 1\" keyValue=\" 0 0 0.5 "
		 "1\"/>\n" ROUTES("0", "t", "translation") "</Scene></X3D>\n",
		 heads[_i].declared);
	add_still(0, first);
	add_still(1, other);
	ck_assert_str_eq(joined(), expected);
}
END_TEST

START_TEST(places_in_textures_move)
{
	const char *text;

	add_still(0, SCENE("<TextureCoordinate DEF='c' point='0 0 1 1'/><TextureTransform "
			   "DEF='t'/>"));
	add_still(1, SCENE("<TextureCoordinate DEF='c' point='0 0 1 2'/><TextureTransform "
			   "DEF='t' center='1 2' scale='3 4'/>"));
	text = joined();
	ck_assert_ptr_nonnull(
		strstr(text, "<CoordinateInterpolator2D DEF=\"join_move0\" key=\" 0 "
			     "1\" keyValue=\" 0 0 1 1 0 0 1 2\"/>\n" ROUTES("0", "c", "point")));
	ck_assert_ptr_nonnull(strstr(text, "<PositionInterpolator2D DEF=\"join_move1\" key=\" 0 "
					   "1\" keyValue=\" 0 0 1 2\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<PositionInterpolator2D DEF=\"join_move2\" key=\" 0 "
					   "1\" keyValue=\" 1 1 3 4\"/>"));
}
END_TEST

START_TEST(what_does_not_move_is_as_it_was)
{
	static const char still[] =
		"<X3D><head><meta name='a' content='b'/></head><Scene><WorldInfo title='0'/>"
		"<Group DEF='g'><Inline url='\"part.x3d\"'/></Group><Group USE='g'/></Scene></X3D>";

	add_still(0, still);
	ck_assert_str_eq(joined(), "<X3D><head><meta name='a' content='b'/></head><Scene>"
				   "<WorldInfo title='0'/><Group DEF='g'><Inline url='\"part.x3d\"'"
				   "/></Group><Group USE='g'/></Scene></X3D>\n");
	buf_release(&out);
	add_still(1, "<X3D><Scene><Group DEF='g'><Inline url='\"part.x3d\"'/></Group>"
		     "<Group USE='g'/><WorldInfo title='1'/></Scene></X3D>");
	ck_assert_ptr_null(strstr(joined(), "TimeSensor"));
}
END_TEST

START_TEST(urls_lead_out_of_the_folder)
{
	add_still(0, SCENE("<ImageTexture url='\"a.png\" \"http://b/c.png\" \"/d.png\" \"\"'/>"
			   "<Inline url=\"&quot;e.x3d&quot; &quot;data:,x&quot;\"/>"
			   "<Anchor url='f.x3d'/><Anchor url='\"#view\" \"g.x3d#view\"'/>"));
	play.folder = "../../";
	ck_assert_str_eq(
		joined(),
		SCENE("<ImageTexture url='\"../../a.png\" \"http://b/c.png\" \"/d.png\" "
		      "\"\"'/><Inline url=\"&quot;../../e.x3d&quot; &quot;data:,x&quot;\"/>"
		      "<Anchor url='../../f.x3d'/>"
		      "<Anchor url='\"#view\" \"../../g.x3d#view\"'/>") "\n");
}
END_TEST

/* ---- differences ---- */

static const struct {
	const char *first, *other, *place, *message;
} refused[] = {
	{"<Group/>", "<Group/><Shape/>", "<Shape", "frame 2: Shape is not in frame 0"},
	{"<Group/><Shape DEF='s'/>", "<Group/>", "<Group",
	 "frame 2: Shape \"s\" of frame 0 is not there"},
	{"<Group/>", "<Shape/>", "<Shape", "frame 2: Shape stands where frame 0 has Group"},
	{"<Group DEF='a'/>", "<Group DEF='b'/>", "<Group",
	 "frame 2: Group \"b\" stands where frame 0 has Group \"a\""},
	{"<Group/>", "<Group DEF='b'/>", "<Group",
	 "frame 2: Group \"b\" stands where frame 0 has Group"},
	{"<Group/><Shape/>", "<Group><Shape/></Group>", "<Shape",
	 "frame 2: Shape stands where frame 0 has Shape, in another node"},
	{"<Group DEF='a'/><Group USE='a'/>", "<Group DEF='a'/><Group/>", "<Group/>",
	 "frame 2: USE of Group is left out, and in frame 0 it is not"},
	{"<Sphere DEF='ball' radius='1'/>", "<Sphere DEF='ball' radius='2'/>", "2'/>",
	 "frame 2: radius of Sphere \"ball\" differs from frame 0, and no interpolator can change "
	 "it"},
	{"<IndexedLineSet coordIndex='0 1 -1'/>", "<IndexedLineSet coordIndex='1 0 -1'/>", "1 0 -1",
	 "frame 2: coordIndex of IndexedLineSet differs from frame 0, and no interpolator can "
	 "change it"},
	{"<Switch whichChoice='0'/>", "<Switch/>", "<Switch",
	 "frame 2: whichChoice of Switch is left out, and in frame 0 it is not"},
	{"<Coordinate point='0 0 0'/>", "<Coordinate point='0 0 0 1 1 1'/>", "0 0 0 1 1 1",
	 "frame 2: point of Coordinate has not as many numbers as in frame 0, or as it must have"},
	{"<Transform translation='0 0'/>", "<Transform translation='0 1'/>", "0 1",
	 "frame 2: translation of Transform has not as many numbers as in frame 0, or as it must "
	 "have"},
	{"<Transform translation='0 0 0'/>", "<Transform translation='0 x 0'/>", "0 x 0",
	 "frame 2: translation of Transform differs from frame 0, and no interpolator can change "
	 "it"},
	{"<ProtoDeclare><Transform translation='0 0 0'/></ProtoDeclare>",
	 "<ProtoDeclare><Transform translation='1 0 0'/></ProtoDeclare>", "1 0 0",
	 "frame 2: translation of Transform differs from frame 0 in a prototype"},
	{"<Transform DEF='a' scale='1 1 1'/><Group DEF='a'/>",
	 "<Transform DEF='a' scale='2 1 1'/><Group DEF='a'/>", "2 1 1",
	 "frame 2: scale of Transform \"a\" differs from frame 0, and another node has its name"},
	{"<Script/>", "<Script>x</Script>", "x</Script>",
	 "text between tags cannot be interpolated"},
};

START_TEST(a_prototype_of_another_file_is_refused)
{
	add_still(0, SCENE("<ExternProtoDeclare name='p' url='\"p.x3d#p\"'/>"));
	add_still(1, SCENE("<ExternProtoDeclare name='p' url='\"p.x3d#p\"'/>"));
	assert_refused(0, place_of(0, "<ExternProtoDeclare"),
		       "what another file declares cannot be compared");
}
END_TEST

START_TEST(the_node_that_differs_is_named)
{
	char first[300], other[300];

	snprintf(first, sizeof(first), SCENE("%s"), refused[_i].first);
	snprintf(other, sizeof(other), SCENE("%s"), refused[_i].other);
	add_still(0, first);
	add_still(1, first);
	add_still(2, other);
	assert_refused(2, place_of(2, refused[_i].place), refused[_i].message);
}
END_TEST

START_TEST(what_is_no_scene_is_refused)
{
	add_still(0, SCENE("<Group/>"));
	add_still(1, "<html><Scene/></html>");
	assert_refused(1, 0, "this is not an X3D scene");
	err_clear(&err);
	stills[1].text = bytes_of("<X3D><head/></X3D>");
	assert_refused(1, 0, "there is no scene in this");
	err_clear(&err);
	stills[1].text = bytes_of(" <X3D><Scene></Group></X3D>");
	ck_assert(!join());
	ck_assert_uint_eq(at, 1);
}
END_TEST

/* A still that is cut anywhere, in a block of exactly that size, gives an error and no crash. */
START_TEST(a_still_may_be_cut_anywhere)
{
	static const char whole[] = SCENE("<Transform DEF='a' translation='1 2 3'><Inline "
					  "url='\"a&quot;b\"'/></Transform>");

	add_still(0, SCENE("<Transform DEF='a'><Inline url='\"a&quot;b\"'/></Transform>"));
	add_still(1, whole);
	for (size_t size = 0; size < strlen(whole); size++) {
		uint8_t *block = malloc(size + !size);

		ck_assert_ptr_nonnull(block);
		memcpy(block, whole, size);
		stills[1].text = (struct bytes){block, size};
		err_clear(&err);
		ck_assert(!join());
		ck_assert_int_ne(err.code, ERR_NONE);
		free(block);
	}
}
END_TEST

/* In a castle-anim-frames file, scenes are elements of the file, beside other data. */
START_TEST(a_scene_may_stand_in_a_frame)
{
	add_still(0, SCENE("<Transform DEF='a' translation='1 2 3'/>"));
	add_still(1, "<frame time='1'><a/> <X3D><Scene><WorldInfo><b/></WorldInfo><Transform "
		     "DEF='a' translation='1 2 4'/></Scene></X3D><Shape/></frame>");
	stills[1].framed = true;
	ck_assert_ptr_nonnull(strstr(joined(), "keyValue=\" 1 2 3 1 2 4\""));
	buf_release(&out);
	stills[1].framed = false;
	assert_refused(1, 0, "this is not an X3D scene");
	stills[0] = (struct x3d_still){stills[1].text, true};
	count = 1;
	err_clear(&err);
	ck_assert_str_eq(joined(), "<X3D><Scene><WorldInfo><b/></WorldInfo><Transform DEF='a' "
				   "translation='1 2 4'/></Scene></X3D>\n");
}
END_TEST

/* The text must distinguish moves of two fields of one node, and of the same field of two nodes. */
START_TEST(moves_begin_and_end_at_any_still)
{
	const char *text;

	add_still(0, SCENE("<Transform DEF='a' translation='0 0 0' scale='1 1 1'/>"
			   "<Transform DEF='b'/>"));
	add_still(1, SCENE("<Transform DEF='a' scale='2 1 1'/><Transform DEF='b'/>"));
	add_still(2, SCENE("<Transform DEF='a' translation='3 0 0'/>"
			   "<Transform DEF='b' translation='4 0 0'/>"));
	add_still(3, SCENE("<Transform DEF='a'/><Transform DEF='b'/>"));
	text = joined();
	ck_assert_ptr_nonnull(strstr(text, "keyValue=\" 1 1 1 2 1 1 1 1 1 1 1 1\""));
	ck_assert_ptr_nonnull(strstr(text, "keyValue=\" 0 0 0 0 0 0 3 0 0 0 0 0\""));
	ck_assert_ptr_nonnull(strstr(text, "keyValue=\" 0 0 0 0 0 0 4 0 0 0 0 0\""));
	ck_assert_ptr_null(strstr(text, "move3"));
}
END_TEST

/* The names of added nodes begin in a way that no name of the scene does. */
START_TEST(names_are_not_taken)
{
	add_still(0, SCENE("<Transform DEF='join_a' scale='1 1 1'/><Group DEF='join7_'/>"
			   "<Group DEF='join9'/><Group DEF='join12x_'/>"));
	add_still(1, SCENE("<Transform DEF='join_a' scale='2 1 1'/><Group DEF='join7_'/>"
			   "<Group DEF='join9'/><Group DEF='join12x_'/>"));
	ck_assert_ptr_nonnull(strstr(joined(), "DEF=\"join8_clock\""));
}
END_TEST

/* A number beyond float32 is refused, since interpolators hold float32. */
START_TEST(a_number_too_large_is_none)
{
	add_still(0, SCENE("<Transform DEF='a' translation='0 0 0'/>"));
	add_still(1, SCENE("<Transform DEF='a' translation='0 1e39 0'/>"));
	assert_refused(1, place_of(1, "0 1e39 0"),
		       "frame 1: translation of Transform \"a\" differs from frame 0, and no "
		       "interpolator can change it");
}
END_TEST

/* 65,536 times 300 numbers exceed the limit; nothing is allocated for them. */
START_TEST(too_many_numbers_are_refused)
{
	struct buf first = BUF_INIT, other = BUF_INIT;
	struct x3d_joined *j = x3d_join_new(65536);
	struct x3d_still still = {.framed = false};

	buf_text(&first, "<X3D><Scene><Coordinate point='");
	buf_text(&other, "<X3D><Scene><Coordinate point='");
	for (unsigned i = 0; i < 100; i++) {
		buf_text(&first, "0 0 0 ");
		buf_text(&other, "0 0 1 ");
	}
	buf_text(&first, "'/></Scene></X3D>");
	buf_text(&other, "'/></Scene></X3D>");
	still.text = buf_bytes(&first);
	ck_assert(x3d_join_add(j, &still, &err));
	ck_assert_uint_lt(x3d_join_size(j), 65536);
	still.text = buf_bytes(&other);
	ck_assert(!x3d_join_add(j, &still, &err));
	ck_assert_str_eq(err.message, "frame 1: point of Coordinate differs from frame 0, and "
				      "with all other moving fields is too much");
	x3d_join_free(j);
	buf_release(&first);
	buf_release(&other);
}
END_TEST

/* Messages are one line of whole characters, whatever bytes a name has. */
START_TEST(names_of_any_kind_are_said)
{
	struct buf def = BUF_INIT;
	char scene[400];

	for (unsigned i = 0; i < 30; i++)
		buf_text(&def, "\xe2\x82\xac");
	buf_char(&def, '\0');
	snprintf(scene, sizeof(scene), SCENE("<Group DEF='&#10;%s'/>"), (const char *)def.data);
	add_still(0, SCENE("<Group/>"));
	add_still(1, scene);
	ck_assert(!join());
	ck_assert_ptr_null(strchr(err.message, '\n'));
	ck_assert_ptr_nonnull(strstr(err.message, "Group \" \xe2\x82\xac"));
	ck_assert_ptr_nonnull(strstr(err.message, "\xe2\x82\xac\" stands where frame 0"));
	buf_release(&def);
}
END_TEST

START_TEST(a_node_has_not_any_number_of_fields)
{
	struct buf text = BUF_INIT;

	buf_text(&text, "<X3D><Scene><Group");
	for (unsigned i = 0; i <= X3D_ATTRIBUTES_MAX; i++)
		buf_format(&text, " a%u=''", i);
	buf_text(&text, "/></Scene></X3D>");
	stills[0].text = buf_bytes(&text);
	count = 1;
	ck_assert(!join());
	ck_assert_str_eq(err.message, "this node has too many attributes");
	buf_release(&text);
}
END_TEST

Suite *x3d_join_suite(void);

Suite *x3d_join_suite(void)
{
	Suite *suite = suite_create("x3d_join");
	TCase *t = tcase_create("x3d_join");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_field_that_moves_has_an_interpolator);
	tcase_add_test(t, a_field_of_view_may_be_left_out);
	tcase_add_test(t, every_node_may_move);
	tcase_add_test(t, back_and_forth);
	tcase_add_test(t, colours_have_close_keys);
	tcase_add_loop_test(t, interpolators_of_pairs_are_declared, 0, ARRAY_SIZE(heads));
	tcase_add_test(t, places_in_textures_move);
	tcase_add_test(t, what_does_not_move_is_as_it_was);
	tcase_add_test(t, urls_lead_out_of_the_folder);
	tcase_add_test(t, a_prototype_of_another_file_is_refused);
	tcase_add_loop_test(t, the_node_that_differs_is_named, 0, ARRAY_SIZE(refused));
	tcase_add_test(t, what_is_no_scene_is_refused);
	tcase_add_test(t, a_still_may_be_cut_anywhere);
	tcase_add_test(t, a_scene_may_stand_in_a_frame);
	tcase_add_test(t, moves_begin_and_end_at_any_still);
	tcase_add_test(t, names_are_not_taken);
	tcase_add_test(t, a_number_too_large_is_none);
	tcase_add_test(t, too_many_numbers_are_refused);
	tcase_add_test(t, names_of_any_kind_are_said);
	tcase_add_test(t, a_node_has_not_any_number_of_fields);
	return suite;
}
