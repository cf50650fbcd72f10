/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "put_sample.h"
#include "skeleton/naming.h"
#include "store/source.h"

static const struct format format = {.name = "owanim", .bone_name = "bone_%04X"};

static struct naming *naming;
static struct arena arena;
static char fault[1024];
static unsigned told;

static void note(void *closure, const char *why)
{
	ck_assert_ptr_eq(closure, &naming);
	snprintf(fault, sizeof(fault), "%s", why ? why : "");
	told++;
}

static void begin(void)
{
	scratch_begin();
	arena = (struct arena)ARENA_INIT;
	fault[0] = '\0';
	told = 0;
	naming = naming_new(scratch_root, note, &naming);
	ck_assert_ptr_nonnull(naming);
}

static void end(void)
{
	naming_free(naming);
	arena_release(&arena);
	scratch_end();
}

/* Returns the present name of bone 1. */
static const char *first_bone(void)
{
	struct naming_table *t = naming_get(naming, &format);
	const char *name = bone_name(&format, naming_table_names(t), &arena, 1);

	name = arena_text(&arena, name, strlen(name));
	naming_table_put(t);
	return name;
}

START_TEST(test_a_table_comes_changes_and_goes)
{
	ck_assert_str_eq(first_bone(), "bone_0001");
	put(NAMING_FILE, "id,name\n1,hips\n");
	ck_assert_str_eq(first_bone(), "hips");
	put(NAMING_FILE, "id,name\n1,head\n");
	ck_assert_str_eq(first_bone(), "head");
	put("other", "id,name\n1,foot\n");
	ck_assert_int_eq(rename("other", NAMING_FILE), 0);
	ck_assert_str_eq(first_bone(), "foot");
	ck_assert_int_eq(unlink(NAMING_FILE), 0);
	ck_assert_str_eq(first_bone(), "bone_0001");
	put(NAMING_FILE, "id,name\n1,foot\n");
	ck_assert_str_eq(first_bone(), "foot");
	ck_assert_uint_eq(told, 0);
}
END_TEST

/* An unchanged table is the same pointer, so that nothing is decoded again. */
START_TEST(test_a_table_is_read_once)
{
	struct naming_table *first, *again;

	put(NAMING_FILE, "id,name\n1,hips\n");
	first = naming_get(naming, &format);
	again = naming_get(naming, &format);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_eq(first, again);
	naming_table_put(again);
	put(NAMING_FILE, "id,name\n1,hips\n");
	again = naming_get(naming, &format);
	ck_assert_ptr_eq(first, again);
	naming_table_put(again);
	naming_table_put(first);
}
END_TEST

START_TEST(test_a_version_outlives_the_file)
{
	struct naming_table *old;

	put(NAMING_FILE, "id,name\n1,hips\n");
	old = naming_get(naming, &format);
	put(NAMING_FILE, "id,name\n1,head\n");
	ck_assert_str_eq(first_bone(), "head");
	ck_assert_str_eq(bone_name(&format, naming_table_names(old), &arena, 1), "hips");
	naming_table_put(naming_table_get(old));
	naming_table_put(old);
	naming_table_put(NULL);
	ck_assert_ptr_null(naming_table_names(NULL));
}
END_TEST

START_TEST(test_a_bad_table_is_told_once_and_not_used)
{
	put(NAMING_FILE, "id,name\n1,hips\nx,head\n");
	ck_assert_str_eq(first_bone(), "bone_0001");
	ck_assert_msg(strstr(fault, "line 3: \"x\" is not the number of a bone"), "%s", fault);
	first_bone();
	ck_assert_uint_eq(told, 1);
	put(NAMING_FILE, "id,name\n1,hips\n2,head\n");
	ck_assert_str_eq(first_bone(), "hips");
	ck_assert_uint_eq(told, 2);
	ck_assert_str_eq(fault, "");
	put(NAMING_FILE, "name\n");
	first_bone();
	ck_assert_msg(strstr(fault, "line 1: "), "%s", fault);
	ck_assert_int_eq(unlink(NAMING_FILE), 0);
	first_bone();
	ck_assert_str_eq(fault, "");
	ck_assert_uint_eq(told, 4);
}
END_TEST

START_TEST(test_what_cannot_be_read)
{
	ck_assert_int_eq(mkdir(NAMING_FILE, 0700), 0);
	ck_assert_str_eq(first_bone(), "bone_0001");
	first_bone();
	ck_assert_uint_eq(told, 1);
	ck_assert_str_eq(fault, "Is a directory");
	ck_assert_int_eq(rmdir(NAMING_FILE), 0);
	put(NAMING_FILE, "id,name\n1,hips\n");
	ck_assert_str_eq(first_bone(), "hips");
	ck_assert_str_eq(fault, "");
}
END_TEST

/*
 * Names apply to formats in which a number means the same bone in every file; numbers are read in
 * the format's own form.
 */
START_TEST(test_formats)
{
	static const struct format named = {.name = "canm"};
	static const struct format counted = {
		.name = "ff9anim", .bone_name = "bone_%03u", .bones_counted = true};
	static const struct format other = {.name = "other", .bone_name = "b%01u"};
	struct naming_table *t;

	put(NAMING_FILE, "id,name\n1,b2\n");
	ck_assert_ptr_null(naming_get(naming, &named));
	ck_assert_ptr_null(naming_get(naming, &counted));
	ck_assert_ptr_null(naming_get(NULL, &format));
	ck_assert_str_eq(first_bone(), "b2");
	t = naming_get(naming, &other);
	ck_assert_ptr_null(t);
	ck_assert_msg(strstr(fault, "name of another number"), "%s", fault);
	ck_assert_str_eq(first_bone(), "b2");
	ck_assert_str_eq(fault, "");
}
END_TEST

/* ---- files that are named by it ---- */

static const char *name_in(const struct version *v)
{
	return v->anim->clips[0].tracks[0].name;
}

START_TEST(test_files_follow_the_table)
{
	const struct store_options options = {.cache = 1 << 20, .max_file = 1 << 20};
	struct store *store = store_new(&options, NULL);
	struct err err = {0};
	struct source *source;
	const struct where where = {.dir = scratch_root, .folder = "", .name = "a.006"};
	struct version *plain, *named, *again;

	ck_assert(store_names(store, scratch_root, note, &naming));
	put_sample("a.006", "owanim/small.006");
	source = source_new(store);
	plain = source_get(source, &where, &err);
	ck_assert_msg(plain != NULL, "%s", err.message);
	ck_assert_str_eq(name_in(plain), "bone_0E7A");
	put(NAMING_FILE, "id,name\n0xE7A,hips\n");
	named = source_get(source, &where, &err);
	ck_assert_msg(named != NULL, "%s", err.message);
	ck_assert_str_eq(name_in(named), "hips");
	ck_assert(named->generation != plain->generation);
	again = source_get(source, &where, &err);
	ck_assert_ptr_eq(again, named);
	version_put(again);
	ck_assert_int_eq(unlink(NAMING_FILE), 0);
	again = source_get(source, &where, &err);
	ck_assert_str_eq(name_in(again), "bone_0E7A");
	version_put(again);
	source_free(source);
	store_free(store);
	/* A holder of an older version keeps the names of that version. */
	ck_assert_str_eq(name_in(named), "hips");
	version_put(named);
	version_put(plain);
}
END_TEST

/*
 * The notes on a version that the cache dropped keep its table alive, so that the next one has
 * another address: with a table that names more bones than the file has, only that differs.
 */
START_TEST(test_a_dropped_version_is_not_one_of_another_table)
{
	const struct store_options options = {.cache = 0, .max_file = 1 << 20};
	struct store *store = store_new(&options, NULL);
	const struct where where = {.dir = scratch_root, .folder = "", .name = "a.006"};
	struct source *source = source_new(store);
	uint64_t last = 0;

	ck_assert(store_names(store, scratch_root, note, &naming));
	put_sample("a.006", "owanim/small.006");
	for (unsigned i = 0; i < 8; i++) {
		struct version *version;
		char table[64];

		snprintf(table, sizeof(table), "id,name\n0xE7A,hips\n1,name%u\n", i);
		put(NAMING_FILE, table);
		version = source_get(source, &where, NULL);
		ck_assert_ptr_nonnull(version);
		ck_assert_uint_gt(version->generation, last);
		last = version->generation;
		version_put(version);
	}
	source_free(source);
	store_free(store);
}
END_TEST

Suite *naming_suite(void);
Suite *naming_suite(void)
{
	Suite *s = suite_create("naming");
	TCase *tc = tcase_create("naming");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, test_a_table_comes_changes_and_goes);
	tcase_add_test(tc, test_a_table_is_read_once);
	tcase_add_test(tc, test_a_version_outlives_the_file);
	tcase_add_test(tc, test_a_bad_table_is_told_once_and_not_used);
	tcase_add_test(tc, test_what_cannot_be_read);
	tcase_add_test(tc, test_formats);
	tcase_add_test(tc, test_files_follow_the_table);
	tcase_add_test(tc, test_a_dropped_version_is_not_one_of_another_table);
	suite_add_tcase(s, tc);
	return s;
}
