/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"
#include "skeleton/skeleton.h"

#include <math.h>

static struct arena arena;

static void begin(void)
{
	arena = (struct arena)ARENA_INIT;
}

static void end(void)
{
	arena_release(&arena);
}

/* ---- the text ---- */

static struct skeleton *read_text(const char *text)
{
	struct err err = {0};
	struct skeleton *s = skeleton_read(bytes_of(text), NULL, &err);

	ck_assert_msg(s != NULL, "%s: %s", text, err.message);
	return s;
}

START_TEST(a_table_says_parents_and_rest)
{
	struct skeleton *s = read_text("\xef\xbb\xbf"
				       "ty;bone;parent;tx;sx;rz\r\n"
				       "2,5;\"leg\";hips;-1;2;\r\n"
				       "\r\n"
				       ";hips;;;;90;;\r\n");
	const struct joint *leg = skeleton_joint(s, "leg"), *hips = skeleton_joint(s, "hips");

	ck_assert_uint_eq(s->count, 2);
	ck_assert_ptr_eq(leg, &s->joints[0]);
	ck_assert_int_eq(leg->parent, 1);
	ck_assert_int_eq(hips->parent, JOINT_ROOT);
	ck_assert(leg->rest[ROLE_TRANSLATION][0] == -1 && leg->rest[ROLE_TRANSLATION][1] == 2.5);
	ck_assert(leg->rest[ROLE_SCALE][0] == 2 && leg->rest[ROLE_SCALE][1] == 1);
	ck_assert(hips->rest[ROLE_ROTATION][2] == 90 && hips->rest[ROLE_ROTATION][0] == 0);
	ck_assert_ptr_null(skeleton_joint(s, "le"));
	ck_assert_ptr_null(skeleton_joint(NULL, "leg"));
	skeleton_free(s);
	s = read_text("bone\n");
	ck_assert_uint_eq(s->count, 0);
	skeleton_free(s);
	skeleton_free(NULL);
}
END_TEST

/*
 * Models may have bones without a name, and of equal names with a character that is escaped: the
 * number follows the escaped name and is no part of it ("a ~2" needs no escape).
 */
START_TEST(bones_of_one_name_are_told_apart)
{
	struct skeleton *s = read_text("bone,parent\n%,\n%~2,%\na%20,\na%20~2,a%20\n");

	ck_assert_uint_eq(s->count, 4);
	ck_assert_int_eq(skeleton_joint(s, "%~2")->parent, 0);
	ck_assert_int_eq(skeleton_joint(s, "a%20~2")->parent, 2);
	skeleton_free(s);
}
END_TEST

static const struct {
	const char *text;
	size_t line, column;
	const char *words;
} refused[] = {
	{"bone,parent\na,b\nb,\nc,d\n", 4, 3, "there is no bone \"d\""},
	{"bone,parent\na,A\n", 2, 3, "there is no bone \"A\""},
	{"bone,parent\na,\nb,a\nc,\nb,c\n", 5, 1, "first in line 3"},
	{"bone,parent\na,a\n", 2, 3, "a is its own ancestor"},
	{"bone,parent\nx,a\na,b\nb,c\nc,a\n", 3, 3, "is its own ancestor"},
	{"parent,bone\n,a\na,\n", 3, 3, "names no bone"},
	{"bone,tx\na,1..5\n", 2, 3, "\"1..5\" is not a number"},
	{"bone,tx\na,nan\n", 2, 3, "not a number"},
	{"bone,tx\na,1e39\n", 2, 3, "not a number"},
	{"bone,sz\na,3-Jan\n", 2, 3, "looks like a date"},
	{"bone,tx\na,1,,2\n", 2, 6, "stands in a column without a name"},
	{"bone,qx\na,1\n", 1, 6, "\"qx\" is not a column"},
	{"bone,tx,tx\n", 1, 9, "listed twice"},
	{"parent,tx\n", 1, 1, "no column bone"},
	{"bone\n\"a\n", 2, 1, "never closed"},
	{"tx;bone\n;a,b\n", 2, 2, "no bone here is named \"a,b\""},
	{"bone\n%41\n", 2, 1, "no bone here is named"},
};

START_TEST(a_slip_is_refused_with_its_line)
{
	const char *text = refused[_i].text;
	struct err err = {0};

	ck_assert_ptr_null(skeleton_read(bytes_of(text), NULL, &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert(err.placed);
	ck_assert_msg(strstr(err.message, refused[_i].words), "%s: %s", text, err.message);
	ck_assert_uint_eq(err_locate(bytes_of(text), err.at).line, refused[_i].line);
	ck_assert_uint_eq(err_locate(bytes_of(text), err.at).column, refused[_i].column);
	ck_assert_ptr_null(skeleton_read(bytes_of(text), NULL, NULL));
}
END_TEST

START_TEST(no_text_is_no_skeleton)
{
	struct err err = {0};

	ck_assert_ptr_null(skeleton_read(bytes_of(""), NULL, &err));
	ck_assert_int_eq(err.code, ERR_EMPTY);
	err = (struct err){0};
	ck_assert_ptr_null(skeleton_read(bytes_of("bone\n\xff\n"), NULL, &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
}
END_TEST

static char *text_of(const struct skeleton *s, const struct anim *a)
{
	struct buf out = BUF_INIT;

	skeleton_text(s, a, &out);
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	return (char *)out.data;
}

START_TEST(every_bone_of_the_file_has_one_row)
{
	struct sample sample = sample_open("wiki512.canm");
	const char *head = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n";
	struct skeleton *s = read_text("bone,parent,ty,rz,sx\nBone01,pelvis,1.5,-0,2\n"
				       "pelvis,,0.1,,\n");
	char *text = text_of(s, sample.anim), *own;
	struct skeleton *again;

	ck_assert_ptr_eq(strstr(text, head), text);
	ck_assert_ptr_nonnull(strstr(text, "\nScene_Root,,,,,,,,,,\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nBone01,pelvis,0,1.5,0,0,0,-0,2,1,1\n"));
	ck_assert_ptr_null(strstr(strstr(text, "\nBone01") + 1, "\nBone01"));
	ck_assert_ptr_nonnull(strstr(text, "\npelvis,,0,0.1,0,0,0,0,1,1,1\n"));
	again = read_text(text);
	ck_assert_int_eq(skeleton_joint(again, "Bone01")->parent,
			 skeleton_joint(again, "pelvis") - again->joints);
	free(text);
	own = text_of(again, sample.anim);
	skeleton_free(s);
	s = read_text(own);
	text = text_of(s, sample.anim);
	ck_assert_str_eq(text, own);
	free(text);
	free(own);
	text = text_of(NULL, sample.anim);
	ck_assert_ptr_nonnull(strstr(text, "\nBone01,,,,,,,,,,\n"));
	free(text);
	skeleton_free(s);
	skeleton_free(again);
	sample_close(&sample);
}
END_TEST

START_TEST(a_row_of_blanks_says_nothing)
{
	struct skeleton *s = read_text("bone,parent,tx\nx,,\na,,\nleg,a,1\ny,,\nb,,0\n");

	ck_assert_uint_eq(s->count, 3);
	ck_assert_ptr_null(skeleton_joint(s, "x"));
	ck_assert_ptr_null(skeleton_joint(s, "y"));
	ck_assert_int_eq(skeleton_joint(s, "leg")->parent, skeleton_joint(s, "a") - s->joints);
	ck_assert_int_eq(skeleton_joint(s, "b")->parent, JOINT_ROOT);
	skeleton_free(s);
}
END_TEST

START_TEST(skeletons_are_the_same_by_what_they_say)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{"bone,parent,tx\na,b,0.1\nb,,0\n", "bone,parent,tx,ry\nb,,-0,\na,b,0.1,\n", true},
		{"bone,tx\na,0.1\n", "bone,tx\na,0.100000001\n", true},
		{"bone,tx\na,0.1\n", "bone,tx\na,0.10000001\n", false},
		{"bone,tx\na,0\n", "bone,tx\nb,0\n", false},
		{"bone,tx\na,0\n", "bone,tx\na,0\nb,0\n", false},
		{"bone,parent,tx\na,b,0\nb,,0\n", "bone,parent,tx\na,,0\nb,,0\n", false},
		{"bone,tx\na,\n", "bone\n", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct skeleton *a = read_text(pairs[i].a), *b = read_text(pairs[i].b);

		ck_assert_msg(skeleton_same(a, b) == pairs[i].same, "%s", pairs[i].a);
		ck_assert_msg(skeleton_same(b, a) == pairs[i].same, "%s", pairs[i].a);
		ck_assert(skeleton_same(a, a));
		ck_assert(skeleton_same(NULL, b) == (b->count == 0));
		skeleton_free(a);
		skeleton_free(b);
	}
	ck_assert(skeleton_same(NULL, NULL));
}
END_TEST

/* ---- saved texts: the file has Scene_Root, Bone01 and hip ---- */

#define KNOWN "bone,parent,tx,rz\nBone01,Scene_Root,1,90\nScene_Root,,0,\nfloor,,7,\n"

static const struct {
	const char *old, *text; /* old NULL: no skeleton is known yet */
	const char *result;     /* the expected result, as a text of its own; NULL: refused */
	enum err_code code;
	const char *words;
} saves[] = {
	{NULL, "bone,parent\nBone01,Scene_Root\nScene_Root,\n",
	 "bone,parent\nBone01,Scene_Root\nScene_Root,\n", ERR_NONE, ""},
	{NULL, "bone,tx\nhip,1\n", "bone,tx\nhip,1\n", ERR_NONE, ""},
	/* A missing column keeps the known values, an empty cell does not. */
	{KNOWN, "bone,tx\nBone01,2\nScene_Root,\nfloor,7\n",
	 "bone,parent,tx,rz\nBone01,Scene_Root,2,90\nScene_Root,,0,\nfloor,,7,\n", ERR_NONE, ""},
	{KNOWN, "bone,parent,rz\nBone01,,\nScene_Root,,\n", "bone,tx\nBone01,1\nScene_Root,0\n",
	 ERR_NONE, ""},
	{KNOWN, "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nBone01,,\nScene_Root,\n", "bone\n",
	 ERR_NONE, ""},
	/* A bone that no clip has may be left out without a warning. */
	{KNOWN, "bone,parent,tx,rz\nBone01,floor,1,90\nScene_Root,,0,\n", NULL, ERR_TEXT,
	 "no bone \"floor\""},
	{KNOWN, "bone,parent\nBone01,Scene_Root\n", NULL, ERR_TEXT,
	 "no row for the bone Scene_Root"},
	{KNOWN, "bone,tx\nBone01,1\n", NULL, ERR_TEXT, "no row for the bone Scene_Root"},
	{KNOWN, "bone,parent\n", NULL, ERR_EMPTY, "only a header"},
	{NULL, "bone\n", NULL, ERR_EMPTY, "only a header"},
	{NULL, "", NULL, ERR_EMPTY, "empty"},
	{NULL, "bone,parent,tx\nBone01", NULL, ERR_EARLY, "ends before its columns"},
	{NULL, "bone,parent,tx\nBone01,Sce", NULL, ERR_EARLY, "ends before its columns"},
	{NULL, "bone,tx\nBone01,1.", "bone,tx\nBone01,1\n", ERR_NONE, ""},
	{NULL, "bone,tx\nBone01,-", NULL, ERR_EARLY, "not a number"},
	{NULL, "bone,parent\nBone01,Sce", NULL, ERR_EARLY, "no bone \"Sce\""},
	{NULL, "bone,parent\nBone01,Sce\n", NULL, ERR_TEXT, "no bone \"Sce\""},
};

START_TEST(a_saved_text_is_an_edit_of_what_is_known)
{
	struct sample sample = sample_open("wiki512.canm");
	struct skeleton *old = saves[_i].old ? read_text(saves[_i].old) : NULL, *wanted, *now;
	struct err err = {0};

	now = skeleton_edit(old, sample.anim, bytes_of(saves[_i].text), &err);
	ck_assert_msg((now != NULL) == (saves[_i].result != NULL), "%s", err.message);
	ck_assert_int_eq(err.code, saves[_i].code);
	ck_assert_msg(strstr(err.message, saves[_i].words), "%s", err.message);
	wanted = now ? read_text(saves[_i].result) : NULL;
	ck_assert(skeleton_same(now, wanted));
	skeleton_free(wanted);
	skeleton_free(now);
	skeleton_free(old);
	sample_close(&sample);
}
END_TEST

START_TEST(its_own_text_is_no_edit)
{
	struct sample sample = sample_open("wiki512.canm");
	struct skeleton *old = _i ? read_text(KNOWN) : NULL, *now;
	char *text = text_of(old, sample.anim), *again;
	struct err err = {0};

	now = skeleton_edit(old, sample.anim, bytes_of(text), &err);
	ck_assert_msg(now != NULL, "%s", err.message);
	ck_assert(skeleton_same(old, now));
	again = text_of(now, sample.anim);
	ck_assert_str_eq(text, again);
	free(again);
	free(text);
	skeleton_free(now);
	skeleton_free(old);
	sample_close(&sample);
}
END_TEST

START_TEST(where_bones_are_flat_none_has_a_parent)
{
	const struct format flat = {.name = "flat", .flat = true};
	struct err err = {0};
	struct skeleton *s = skeleton_read(bytes_of("bone,parent,tx\na,,1\n"), &flat, &err);

	ck_assert_msg(s != NULL, "%s", err.message);
	skeleton_free(s);
	ck_assert_ptr_null(skeleton_read(bytes_of("bone,parent\na,\nb,a\n"), &flat, &err));
	ck_assert_str_eq(err.message, "b has a parent; flat files store none");
	ck_assert_uint_eq(err.at, 17);
}
END_TEST

/* ---- poses, against matrices made another way ---- */

struct matrix {
	double m[4][4];
};

static struct matrix product(struct matrix a, struct matrix b)
{
	struct matrix p = {{{0}}};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 4; j++)
			for (unsigned k = 0; k < 4; k++)
				p.m[i][j] += a.m[i][k] * b.m[k][j];
	return p;
}

static struct matrix diagonal(double x, double y, double z)
{
	return (struct matrix){{{x}, {0, y}, {0, 0, z}, {0, 0, 0, 1}}};
}

static struct matrix moved(double x, double y, double z)
{
	return (struct matrix){{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}, {0, 0, 0, 1}}};
}

/* Returns a rotation about one axis, by the textbook. */
static struct matrix turned(unsigned axis, double degrees)
{
	double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
	unsigned a = (axis + 1) % 3, b = (axis + 2) % 3;
	struct matrix m = diagonal(1, 1, 1);

	m.m[a][a] = m.m[b][b] = c;
	m.m[a][b] = -s;
	m.m[b][a] = s;
	return m;
}

static struct matrix local(const double t[3], const double r[3], const double s[3])
{
	struct matrix m = product(turned(2, r[2]), product(turned(1, r[1]), turned(0, r[0])));

	return product(moved(t[0], t[1], t[2]), product(m, diagonal(s[0], s[1], s[2])));
}

static void assert_transform(const struct transform *t, struct matrix m)
{
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 4; j++)
			ck_assert_msg(fabs(t->m[i][j] - m.m[i][j]) < 1e-9, "[%u][%u] %g is not %g",
				      i, j, t->m[i][j], m.m[i][j]);
}

static struct curve keys(enum curve_kind kind, uint32_t count, const double *values)
{
	struct curve c = {.kind = kind, .keyed = count > 1, .count = count, .values = values};

	for (unsigned i = 0; i < 4; i++)
		c.lane[i].unit = 1;
	return c;
}

static const double moves[] = {1, 2, 3, 3, 2, 1}, angles[] = {10, 20, 30, 50, -40, 130},
		    stretch[] = {1, 2, 0.5, 1, -1, 3};

START_TEST(bones_stand_where_matrices_say)
{
	struct curve move = keys(CURVE_VECTOR, 2, moves), turn = keys(CURVE_EULER, 2, angles),
		     scale = keys(CURVE_VECTOR, 2, stretch);
	struct track tracks[] = {
		{.label = "hand", .curve = {NULL, &turn, NULL}},
		{.label = "root", .curve = {&move, &turn, &scale}},
		{.label = "arm", .curve = {NULL, NULL, &scale}},
		{.label = "stranger", .curve = {&move, NULL, NULL}},
	};
	struct clip clip = {.frames = 2, .track_count = 4, .tracks = tracks};
	/* Of these bones, world, chest, elbow and tail are not in the clip. */
	struct skeleton *s = read_text("bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
				       "hand,elbow,0,1,0,,,,,,\nelbow,arm,,0.5,,45,,,,,2\n"
				       "arm,chest,1,0,0,10,20,30,1,1,1\ntail,root,9,9,9,,,,,,\n"
				       "chest,root,0,3,0,0,0,90,,,\nroot,world,,,,,,,,,\n"
				       "world,,0,0,7,-90,,,,,\n");
	const struct rig *rig = rig_make(s, &clip, &arena);
	struct transform world[4];
	static const double one[] = {1, 1, 1}, none[] = {0, 0, 0};

	ck_assert_ptr_nonnull(rig);
	ck_assert_uint_eq(rig->count, 4);
	ck_assert_int_eq(rig->parents[0], 2);
	ck_assert_int_eq(rig->parents[1], JOINT_ROOT);
	ck_assert_int_eq(rig->parents[2], 1);
	ck_assert_int_eq(rig->parents[3], JOINT_ROOT);
	ck_assert_ptr_null(rig->rest[3]);
	for (unsigned frame = 0; frame < 2; frame++) {
		const double *r = angles + 3 * frame, *m = moves + 3 * frame,
			     *z = stretch + 3 * frame;
		struct matrix root = product(local((double[]){0, 0, 7}, (double[]){-90, 0, 0}, one),
					     local(m, r, z));
		struct matrix chest =
			product(root, local((double[]){0, 3, 0}, (double[]){0, 0, 90}, one));
		struct matrix arm =
			product(chest, local((double[]){1, 0, 0}, (double[]){10, 20, 30}, z));
		struct matrix elbow =
			product(arm, local((double[]){0, 0.5, 0}, (double[]){45, 0, 0},
					   (double[]){1, 1, 2}));

		rig_world(rig, &clip, frame, world);
		assert_transform(&world[1], root);
		assert_transform(&world[2], arm);
		assert_transform(&world[0], product(elbow, local((double[]){0, 1, 0}, r, one)));
		assert_transform(&world[3], local(m, none, one));
	}
	skeleton_free(s);
}
END_TEST

START_TEST(without_a_skeleton_bones_are_roots)
{
	struct curve move = keys(CURVE_VECTOR, 2, moves);
	struct track tracks[] = {{.label = "a", .curve = {&move}}, {.label = "b"}};
	struct clip clip = {.frames = 2, .track_count = 2, .tracks = tracks};
	struct clip empty = {.frames = 1};
	const struct rig *rig = rig_make(NULL, &clip, &arena);
	struct transform world[2];

	rig_world(rig, &clip, 0.5, world);
	assert_transform(&world[0], moved(2, 2, 2));
	assert_transform(&world[1], diagonal(1, 1, 1));
	ck_assert_int_eq(rig->parents[0], JOINT_ROOT);
	rig = rig_make(NULL, &empty, &arena);
	ck_assert_uint_eq(rig->count, 0);
	rig_world(rig, &empty, 0, world);
}
END_TEST

/*
 * A number that is not finite counts as absent: each number of a skeleton on its own, but a
 * quaternion as a whole.
 */
START_TEST(numbers_that_are_none_leave_the_rest_pose)
{
	static const double move[] = {NAN, 5, INFINITY}, turn[] = {NAN, 0, 90},
			    quaternion[] = {0, NAN, 0, 1}, nothing[] = {0, 0, 0, 0},
			    large[] = {3e200, 0, 0, -4e200};
	struct curve curves[] = {keys(CURVE_VECTOR, 1, move), keys(CURVE_EULER, 1, turn),
				 keys(CURVE_QUATERNION, 1, quaternion),
				 keys(CURVE_QUATERNION, 1, nothing),
				 keys(CURVE_QUATERNION, 1, large)};
	struct track track = {.label = "a", .curve = {&curves[0], &curves[1], &curves[0]}};
	struct clip clip = {.frames = 1, .track_count = 1, .tracks = &track};
	struct skeleton *s = read_text("bone,tx,rx,sz\na,7,180,3\n");
	const struct rig *rig = rig_make(s, &clip, &arena);
	struct pose p = rig_pose(rig, &clip, 0, 0);

	ck_assert(p.translation[0] == 7 && p.translation[1] == 5 && p.translation[2] == 0);
	ck_assert(p.scale[0] == 1 && p.scale[1] == 5 && p.scale[2] == 3);
	ck_assert_double_eq_tol(p.rotation[0] * p.rotation[0], 0.5, 1e-12);
	ck_assert_double_eq_tol(p.rotation[1] * p.rotation[1], 0.5, 1e-12);
	for (unsigned i = 2; i < 4; i++) {
		track.curve[ROLE_ROTATION] = &curves[i];
		p = rig_pose(rig, &clip, 0, 0);
		ck_assert_double_eq_tol(fabs(p.rotation[0]), 1, 1e-12);
	}
	track.curve[ROLE_ROTATION] = &curves[4];
	p = rig_pose(rig, &clip, 0, 0);
	ck_assert_double_eq_tol(p.rotation[0], 0.6, 1e-12);
	ck_assert_double_eq_tol(p.rotation[3], -0.8, 1e-12);
	skeleton_free(s);
}
END_TEST

#define MANY 65535u

/* Makes a chain whose last bone is the root: parents come after their children. */
static char *long_chain(double scale)
{
	struct buf text = BUF_INIT;

	buf_text(&text, "bone,parent,tx,sx,sy,sz\n");
	for (unsigned i = 0; i < MANY; i++) {
		buf_format(&text, "b%u,", i);
		if (i + 1 < MANY)
			buf_format(&text, "b%u", i + 1);
		buf_format(&text, ",1,%g,%g,%g\n", scale, scale, scale);
	}
	buf_char(&text, '\0');
	ck_assert(!text.failed);
	return (char *)text.data;
}

/* Every second bone has no track. The depth must not use the stack. */
START_TEST(a_chain_of_65535_bones)
{
	static char names[MANY / 2 + 1][8];
	static struct track tracks[MANY / 2 + 1];
	static struct transform world[MANY / 2 + 1];
	struct clip clip = {.frames = 1, .track_count = MANY / 2 + 1, .tracks = tracks};
	char *text = long_chain(_i ? 1000 : 1);
	struct skeleton *s = read_text(text);
	const struct rig *rig;

	for (unsigned i = 0; i < clip.track_count; i++) {
		snprintf(names[i], sizeof(names[i]), "b%u", 2 * i);
		tracks[i].label = names[i];
	}
	rig = rig_make(s, &clip, &arena);
	ck_assert_ptr_nonnull(rig);
	rig_world(rig, &clip, 0, world);
	for (unsigned i = 0; i < clip.track_count; i++) {
		if (_i == 0)
			ck_assert(world[i].m[0][3] == MANY - 2 * i);
		for (unsigned k = 0; k < 12; k++)
			ck_assert(isfinite(world[i].m[k / 4][k % 4]));
		ck_assert_int_eq(rig->parents[i],
				 i + 1 < clip.track_count ? (int)i + 1 : JOINT_ROOT);
	}
	skeleton_free(s);
	free(text);
}
END_TEST

START_TEST(a_circle_of_65535_bones)
{
	char *text = long_chain(1), *last = strrchr(text, 'b');
	struct buf circle = BUF_INIT;
	struct err err = {0};

	buf_add(&circle, text, (size_t)(last - text));
	buf_format(&circle, "b%u,b1,1\n", MANY - 1);
	ck_assert_ptr_null(skeleton_read(buf_bytes(&circle), NULL, &err));
	ck_assert_ptr_nonnull(strstr(err.message, "b1 is its own ancestor"));
	buf_release(&circle);
	free(text);
}
END_TEST

Suite *skeleton_suite(void);

Suite *skeleton_suite(void)
{
	Suite *suite = suite_create("skeleton");
	TCase *t = tcase_create("skeleton");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, a_table_says_parents_and_rest);
	tcase_add_test(t, bones_of_one_name_are_told_apart);
	tcase_add_loop_test(t, a_slip_is_refused_with_its_line, 0, (int)ARRAY_SIZE(refused));
	tcase_add_test(t, no_text_is_no_skeleton);
	tcase_add_test(t, every_bone_of_the_file_has_one_row);
	tcase_add_test(t, a_row_of_blanks_says_nothing);
	tcase_add_test(t, skeletons_are_the_same_by_what_they_say);
	tcase_add_loop_test(t, a_saved_text_is_an_edit_of_what_is_known, 0, (int)ARRAY_SIZE(saves));
	tcase_add_loop_test(t, its_own_text_is_no_edit, 0, 2);
	tcase_add_test(t, where_bones_are_flat_none_has_a_parent);
	tcase_add_test(t, bones_stand_where_matrices_say);
	tcase_add_test(t, without_a_skeleton_bones_are_roots);
	tcase_add_test(t, numbers_that_are_none_leave_the_rest_pose);
	tcase_add_loop_test(t, a_chain_of_65535_bones, 0, 2);
	tcase_add_test(t, a_circle_of_65535_bones);
	return suite;
}
