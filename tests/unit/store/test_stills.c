/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stills.c - which files are stills, when they are read again, and the messages about files
 * that are not.
 */
#include "scratch.h"
#include "store/source.h"
#include "store/tree.h"
#include "view/own_digest.h"

#include <sys/sysmacros.h>

#define KANIM "walk.kanim"

static struct store *store;
static struct source *source;
static struct guard guard;
static char barred[64];
static struct err err;

/* A guard that lets every user read a file, except for one name. */
static bool lets_read(const struct guard *g, int dir, const char *file, const char *name,
		      struct file_version *version)
{
	struct stat st;

	(void)g;
	ck_assert_str_eq(file, KANIM);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*version = file_version_of(&st);
	return strcmp(name, barred) != 0;
}

static void setup(void)
{
	const struct store_options options = {.cache = 1 << 20, .max_file = 1 << 20};

	scratch_begin();
	err = (struct err){.code = ERR_NONE};
	guard = (struct guard){.lets_read = lets_read};
	*barred = '\0';
	store = store_new(&options, NULL);
	ck_assert_ptr_nonnull(store);
	source = source_new(store);
	ck_assert_ptr_nonnull(source);
}

static void teardown(void)
{
	source_free(source);
	store_free(store);
	scratch_end();
}

static void make_old(const char *path)
{
	const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put_still(const char *path, const char *nodes)
{
	char text[1000];

	snprintf(text, sizeof(text), "<X3D>\n<Scene>%s</Scene></X3D>", nodes);
	put(path, text);
}

static void put_kanim(const char *frames)
{
	char text[1000];

	snprintf(text, sizeof(text), "<animation>%s</animation>", frames);
	put(KANIM, text);
}

static struct version *look(void)
{
	const struct where where = {.dir = scratch_root, .folder = "", .name = KANIM};
	struct version *version = source_get(source, &where, &err);

	ck_assert_msg(version, "%s", err.message);
	return version;
}

/* Returns clip.x3d of the file, or the reason why it is absent. */
static struct buf shown(struct version *version)
{
	const struct tree tree = {version, KANIM};
	struct buf text = BUF_INIT;
	struct place place;

	err_clear(&err);
	if (tree_walk(&tree, "%/clip.x3d", &place)) {
		ck_assert_int_eq(tree_render(&tree, &place, &text), 0);
		ck_assert(own_digest_valid(buf_bytes(&text)));
	} else {
		ck_assert(!tree_walk(&tree, "%", &place));
		tree_explain(&tree, "%/clip.x3d", &err);
		buf_text(&text, err.message);
	}
	buf_char(&text, '\0');
	return text;
}

static void assert_shown(struct version *version, const char *part)
{
	struct buf text = shown(version);

	ck_assert_msg(strstr((char *)text.data, part), "%s", (char *)text.data);
	buf_release(&text);
}

static void assert_looks(const char *part)
{
	struct version *version = look();

	assert_shown(version, part);
	version_put(version);
}

static void assert_refused(const char *message)
{
	struct version *version = look();
	struct buf text = shown(version);

	ck_assert_str_eq((char *)text.data, message);
	buf_release(&text);
	version_put(version);
}

#define FRAMES "<frame url='a.x3d' time='0'/><frame url='b.x3d' time='1'/>"
#define MOVED(x) "<Transform translation='" x " 0 0'/>"

static void put_walk(void)
{
	put_kanim(FRAMES);
	put_still("a.x3d", MOVED("0"));
	put_still("b.x3d", MOVED("1"));
}

START_TEST(stills_are_joined)
{
	put_walk();
	assert_looks("keyValue=\" 0 0 0 1 0 0\"");
}
END_TEST

START_TEST(a_version_is_what_its_stills_were)
{
	struct version *before, *now;

	put_walk();
	make_old("a.x3d");
	make_old("b.x3d");
	before = look();
	put_still("b.x3d", MOVED("2"));
	/* Ask twice: the second answer depends on the stored result of the first. */
	for (unsigned i = 0; i < 2; i++) {
		now = look();
		ck_assert_uint_gt(now->generation, before->generation);
		assert_shown(now, "keyValue=\" 0 0 0 2 0 0\"");
		version_put(now);
	}
	assert_shown(before, "keyValue=\" 0 0 0 1 0 0\"");
	version_put(before);
}
END_TEST

/* A change of a still counts with its own time. */
START_TEST(times_outlive_a_version_with_stills)
{
	const struct store_options options = {.cache = 0, .max_file = 1 << 20};
	struct version *version;
	struct timespec time;

	source_free(source);
	store_free(store);
	store = store_new(&options, NULL);
	source = source_new(store);
	put_walk();
	version = look();
	time = version_time(version, 0, -1);
	version_put(version);
	ck_assert_ptr_null(source_last(source));
	make_old(KANIM);
	version = look();
	ck_assert_int_eq(version->mtime.tv_sec, 1000000000);
	ck_assert_int_eq(version_time(version, 0, -1).tv_sec, time.tv_sec);
	ck_assert_int_eq(version_time(version, 0, -1).tv_nsec, time.tv_nsec);
	version_put(version);
}
END_TEST

/* Times change by chmod, touch or a write of the same bytes; or they are too new to be trusted. */
START_TEST(other_times_are_no_other_stills)
{
	struct version *before, *now;

	put_walk();
	before = look();
	for (unsigned i = 0; i < 3; i++) {
		if (i == 1)
			make_old("a.x3d");
		if (i == 2)
			put_still("b.x3d", MOVED("1"));
		now = look();
		ck_assert_ptr_eq(now, before);
		version_put(now);
	}
	version_put(before);
}
END_TEST

START_TEST(stills_come_and_go)
{
	put_walk();
	ck_assert_int_eq(unlink("b.x3d"), 0);
	assert_refused("b.x3d: No such file or directory");
	put_still("b.x3d", MOVED("3"));
	assert_looks("keyValue=\" 0 0 0 3 0 0\"");
	ck_assert_int_eq(rename("b.x3d", "c.x3d"), 0);
	ck_assert_int_eq(symlink("c.x3d", "b.x3d"), 0);
	assert_refused("b.x3d: Too many levels of symbolic links");
	ck_assert_int_eq(unlink("b.x3d"), 0);
	ck_assert_int_eq(mkfifo("b.x3d", 0600), 0);
	assert_refused("b.x3d: Invalid argument");
}
END_TEST

START_TEST(the_place_of_what_differs_is_said)
{
	put_walk();
	put_still("b.x3d", "<Group/>");
	assert_refused("b.x3d:2:8: frame 1: Group stands where frame 0 has Transform");
	ck_assert_str_eq(err.accepted,
			 "frames that have the same nodes, in the same order, with the same names");
	put("a.x3d", "<X3D><Scene>");
	assert_refused("a.x3d:1:13: the text ends before its XML does");
}
END_TEST

START_TEST(stills_may_stand_in_the_file)
{
	put("a.x3d", "<X3D><Scene><Transform/></Scene></X3D>");
	put_kanim("<frame url='a.x3d' time='0'/>\n<frame time='1'><X3D><Scene>" MOVED(
		"5") "</Scene></X3D></frame>");
	assert_looks("keyValue=\" 0 0 0 5 0 0\"");
	put_kanim("<frame url='a.x3d' time='0'/>\n<frame time='1'><X3D><Scene><Group/></Scene>"
		  "</X3D></frame>");
	assert_refused(KANIM ":2:29: frame 1: Group stands where frame 0 has Transform");
}
END_TEST

START_TEST(stills_may_lie_in_a_folder)
{
	ck_assert_int_eq(mkdir("poses", 0700), 0);
	put_kanim("<frame url='./poses/a.x3d' time='0'/><frame url='poses/b.x3d' time='1'/>");
	put_still("poses/a.x3d", MOVED("0") "<Inline url='c.x3d'/>");
	put_still("poses/b.x3d", MOVED("7") "<Inline url='c.x3d'/>");
	assert_looks("keyValue=\" 0 0 0 7 0 0\"");
	assert_looks("<Inline url='../../poses/c.x3d'/>");
	store_guard(store, &guard);
	put("poses/b.x3d", "");
	assert_refused("stills in another folder are not read where others are let in");
}
END_TEST

/*
 * A user that may read the animation must not learn from its views about files that the user may
 * not read.
 */
START_TEST(a_still_that_not_everybody_may_read_is_none)
{
	store_guard(store, &guard);
	put_walk();
	assert_looks("keyValue=\" 0 0 0 1 0 0\"");
	strcpy(barred, "b.x3d");
	ck_assert_int_eq(chmod("b.x3d", 0600), 0);
	assert_refused("b.x3d: Permission denied");
}
END_TEST

static const struct {
	const char *url, *message;
} names[] = {
	{"../b.x3d", "frame 1: its url is no file that is read here"},
	{"/b.x3d", "frame 1: its url is no file that is read here"},
	{"x//b.x3d", "frame 1: its url is no file that is read here"},
	{"x/", "frame 1: its url is no file that is read here"},
	{"b%41.x3d", "frame 1: its url is no file that is read here"},
	{"b.x3d#a", "frame 1: its url is no file that is read here"},
	{"http://host/b.x3d", "frame 1: its url is no file that is read here"},
	{"b&#10;.x3d", "frame 1: its url is no file that is read here"},
	{"b.wrl", "frame 1: its still is not joined, since its name does not end in .x3d"},
	{".x3d", "frame 1: its still is not joined, since its name does not end in .x3d"},
	{"x/b.x3d", "frame 1: its still is in another folder than that of frame 0"},
};

START_TEST(other_names_are_refused)
{
	char frames[300];

	put_still("a.x3d", MOVED("0"));
	snprintf(frames, sizeof(frames), "<frame url='a.x3d' time='0'/><frame url='%s' time='1'/>",
		 names[_i].url);
	put_kanim(frames);
	assert_refused(names[_i].message);
	ck_assert_str_ne(err.accepted, "");
}
END_TEST

/* A large still counts each time that it is named. */
START_TEST(so_much_is_read_and_no_more)
{
	struct buf frames = BUF_INIT;
	FILE *f;

	for (unsigned i = 0; i < 20; i++)
		buf_format(&frames, "<frame url='a.x3d' time='%u'/>", i);
	buf_char(&frames, '\0');
	put_kanim((char *)frames.data);
	f = fopen("a.x3d", "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "<X3D><Scene>%*s</Scene></X3D>", 4 << 20, "");
	ck_assert_int_eq(fclose(f), 0);
	assert_refused("a.x3d: its stills up to this one have more than 67108864 bytes");
	buf_release(&frames);
}
END_TEST

START_TEST(its_memory_is_counted)
{
	struct version *version;
	size_t size;

	put_kanim(FRAMES);
	version = look();
	size = version->cached.size;
	version_put(version);
	put_walk();
	version = look();
	ck_assert_uint_gt(version->cached.size, size);
	version_put(version);
}
END_TEST

Suite *stills_suite(void);

Suite *stills_suite(void)
{
	Suite *suite = suite_create("stills");
	TCase *tc = tcase_create("stills");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, stills_are_joined);
	tcase_add_test(tc, a_version_is_what_its_stills_were);
	tcase_add_test(tc, times_outlive_a_version_with_stills);
	tcase_add_test(tc, other_times_are_no_other_stills);
	tcase_add_test(tc, stills_come_and_go);
	tcase_add_test(tc, the_place_of_what_differs_is_said);
	tcase_add_test(tc, stills_may_stand_in_the_file);
	tcase_add_test(tc, stills_may_lie_in_a_folder);
	tcase_add_test(tc, a_still_that_not_everybody_may_read_is_none);
	tcase_add_loop_test(tc, other_names_are_refused, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, so_much_is_read_and_no_more);
	tcase_add_test(tc, its_memory_is_counted);
	return suite;
}
