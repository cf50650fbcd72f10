/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "put_sample.h"
#include "store/source.h"

static const struct format format = {.name = "ff9anim"}, flat = {.name = "ribbon", .flat = true};

static struct found_skeleton rest;
static char named[300], fault[1024];
static unsigned told;

static void note(void *closure, const char *name, const char *why)
{
	ck_assert_ptr_eq(closure, &rest);
	snprintf(named, sizeof(named), "%s", name);
	snprintf(fault, sizeof(fault), "%s", why ? why : "");
	told++;
}

static void begin(void)
{
	scratch_begin();
	rest = (struct found_skeleton){.looked = false};
	fault[0] = named[0] = '\0';
	told = 0;
}

static void end(void)
{
	found_skeleton_release(&rest);
	scratch_end();
}

/* Returns the first bone of the skeleton that is found for the file now, or NULL. */
static const char *first_bone(const struct format *of)
{
	static char bone[64];
	struct shared_skeleton *r =
		find_skeleton(&rest, scratch_root, "walk.x", of, NULL, note, &rest);
	const struct skeleton *s = shared_skeleton(r);

	snprintf(bone, sizeof(bone), "%s", s && s->count ? s->joints[0].bone : "");
	shared_skeleton_put(r);
	return s ? bone : NULL;
}

static bool is_same(void)
{
	return found_skeleton_same(&rest, scratch_root, "walk.x", &format, NULL);
}

static void put_model(const char *name)
{
	static const uint8_t bytes[0x18] = {0, 0, 1};
	FILE *f = fopen(name, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(the_nearest_file_says_it)
{
	ck_assert(!is_same());
	ck_assert_ptr_null(first_bone(&format));
	ck_assert(is_same());
	put("skeleton.csv", "bone,sx\nfolder,1\n");
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "folder");
	ck_assert(is_same());
	put_model("WALK.ff9model");
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "bone_000");
	put("walk.x.skeleton.csv", "bone,sx\nown,1\n");
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "own");
	put("skeleton.csv", "bone,sx\nother,1\n");
	ck_assert(is_same());
	ck_assert_int_eq(unlink("walk.x.skeleton.csv"), 0);
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&flat), "other");
	ck_assert_uint_eq(told, 1); /* the first search reports that there is no fault */
	ck_assert_str_eq(fault, "");
}
END_TEST

START_TEST(another_version_is_another_skeleton)
{
	put("skeleton.csv", "bone,sx\na,1\n");
	ck_assert_str_eq(first_bone(&format), "a");
	put("skeleton.csv", "bone,sx\nb,1\n");
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "b");
	put("other", "bone,sx\nc,1\n");
	ck_assert(is_same());
	ck_assert_int_eq(rename("other", "skeleton.csv"), 0);
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "c");
	put("skeleton.csv", "bone,sx\nc,1\n");
	ck_assert(is_same());
	ck_assert(is_same());
}
END_TEST

START_TEST(a_file_that_cannot_be_used_is_told_and_stands_in_the_way)
{
	put("skeleton.csv", "bone,sx\nfolder,1\n");
	put("walk.x.skeleton.csv", "bone,parent\na,\na,\n");
	ck_assert_ptr_null(first_bone(&format));
	ck_assert_str_eq(named, "walk.x.skeleton.csv");
	ck_assert_msg(strstr(fault, "line 3: the bone a is listed twice"), "%s", fault);
	ck_assert(is_same());
	ck_assert_int_eq(unlink("walk.x.skeleton.csv"), 0);
	ck_assert_str_eq(first_bone(&format), "folder");
	ck_assert_str_eq(named, "walk.x.skeleton.csv");
	ck_assert_str_eq(fault, "");
	ck_assert_uint_eq(told, 2);
	put("skeleton.csv", "bone,parent\na,\nb,a\n");
	ck_assert_ptr_null(first_bone(&flat));
	ck_assert_msg(strstr(fault, "b has a parent"), "%s", fault);
	ck_assert_str_eq(first_bone(&format), "a");
	ck_assert_str_eq(fault, "");
	put("walk.ff9model", "no model");
	ck_assert_ptr_null(first_bone(&format));
	ck_assert_msg(strstr(fault, "byte "), "%s", fault);
}
END_TEST

START_TEST(a_fault_that_was_told_before_all_was_forgotten_goes)
{
	put("walk.x.skeleton.csv", "bone,parent\na,\na,\n");
	ck_assert_ptr_null(first_bone(&format));
	ck_assert_str_ne(fault, "");
	found_skeleton_release(&rest);
	put("walk.x.skeleton.csv", "bone,sx\na,1\n");
	ck_assert_str_eq(first_bone(&format), "a");
	ck_assert_str_eq(named, "walk.x.skeleton.csv");
	ck_assert_str_eq(fault, "");
	ck_assert_uint_eq(told, 2);
}
END_TEST

START_TEST(what_cannot_be_read_is_no_change_either)
{
	ck_assert_int_eq(mkdir("skeleton.csv", 0700), 0);
	ck_assert_ptr_null(first_bone(&format));
	ck_assert_str_eq(fault, "Is a directory");
	ck_assert(is_same());
	ck_assert_int_eq(rmdir("skeleton.csv"), 0);
	ck_assert(!is_same());
}
END_TEST

/* ---- files that are shown with it ---- */

static struct version *get(struct source *source)
{
	struct err err = {0};
	const struct where where = {.dir = scratch_root, .folder = "sub", .name = "a.canm"};
	struct version *version = source_get(source, &where, &err);

	ck_assert_msg(version != NULL, "%s", err.message);
	return version;
}

START_TEST(files_follow_their_skeleton)
{
	const struct store_options options = {.cache = 1 << 20, .max_file = 1 << 20};
	struct store *store = store_new(&options, NULL);
	struct source *source = source_new(store);
	struct version *plain, *posed, *again;

	store_report_skeletons(store, note, &rest);
	put_sample("a.canm", "canm/wiki512.canm");
	plain = get(source);
	ck_assert_ptr_null(shared_skeleton(plain->skeleton));
	put("a.canm.skeleton.csv", "bone,sx\nScene_Root,1\n");
	posed = get(source);
	ck_assert(posed->generation != plain->generation);
	ck_assert_uint_eq(shared_skeleton(posed->skeleton)->count, 1);
	put("unrelated", "");
	again = get(source);
	ck_assert_ptr_eq(again, posed);
	version_put(again);
	put("a.canm.skeleton.csv", "bone\nScene_Root\nScene_Root\n");
	again = get(source);
	ck_assert_ptr_null(shared_skeleton(again->skeleton));
	ck_assert_str_eq(named, "sub/a.canm.skeleton.csv");
	version_put(again);
	/* A holder of an older version keeps its skeleton. */
	ck_assert_str_eq(shared_skeleton(posed->skeleton)->joints[0].bone, "Scene_Root");
	source_free(source);
	store_free(store);
	version_put(posed);
	version_put(plain);
}
END_TEST

/*
 * The guard bars the file of this name; another file may take its place right after the guard was
 * asked.
 */
static const char *barred;
static bool swaps;

static bool lets_read(const struct guard *g, int dir, const char *file, const char *name,
		      struct file_version *version)
{
	struct stat st;

	ck_assert_ptr_null(g->closure);
	ck_assert_str_eq(file, "walk.x");
	ck_assert_int_eq(fstatat(dir, name, &st, 0), 0);
	*version = file_version_of(&st);
	if (swaps && strcmp(name, ".") != 0) {
		put("swapped", "bone,sx\nsecret,1\n");
		ck_assert_int_eq(rename("swapped", name), 0);
	}
	return !barred || strcmp(name, barred) != 0;
}

static const struct guard guard = {.lets_read = lets_read};

static const char *guarded_bone(void)
{
	static char bone[64];
	struct shared_skeleton *r =
		find_skeleton(&rest, scratch_root, "walk.x", &format, &guard, note, &rest);
	const struct skeleton *s = shared_skeleton(r);

	snprintf(bone, sizeof(bone), "%s", s && s->count ? s->joints[0].bone : "");
	shared_skeleton_put(r);
	return s ? bone : "";
}

static bool is_guarded_same(void)
{
	return found_skeleton_same(&rest, scratch_root, "walk.x", &format, &guard);
}

START_TEST(what_is_not_for_all_is_as_if_it_were_not_there)
{
	barred = "walk.x.skeleton.csv";
	swaps = false;
	put("walk.x", "");
	put("skeleton.csv", "bone,sx\nshared,1\n");
	put("walk.x.skeleton.csv", "bone,sx\nown,1\n");
	ck_assert_str_eq(guarded_bone(), "shared");
	ck_assert_str_eq(named, "walk.x.skeleton.csv");
	ck_assert_ptr_nonnull(strstr(fault, "not everybody who may read walk.x"));
	ck_assert(found_skeleton_bars(&rest, "walk.x.skeleton.csv"));
	ck_assert(!found_skeleton_bars(&rest, "skeleton.csv"));
	ck_assert(is_guarded_same());
	usleep(50000); /* so that any later change gives another version */
	ck_assert(is_guarded_same());
	ck_assert(is_guarded_same());
	barred = NULL;
	ck_assert_int_eq(chmod("walk.x.skeleton.csv", 0640), 0);
	ck_assert(!is_guarded_same());
	ck_assert_str_eq(guarded_bone(), "own");
	ck_assert_str_eq(fault, "");
	ck_assert(is_guarded_same());
	usleep(50000);
	ck_assert(is_guarded_same());
	barred = "walk.x.skeleton.csv";
	ck_assert_int_eq(chmod("walk.x", 0604), 0); /* other users may read it now */
	ck_assert(!is_guarded_same());
	ck_assert_str_eq(guarded_bone(), "shared");
}
END_TEST

START_TEST(what_nobody_was_asked_about_is_not_read)
{
	barred = NULL;
	swaps = true;
	put("walk.x", "");
	put("walk.x.skeleton.csv", "bone,sx\nown,1\n");
	ck_assert_str_eq(guarded_bone(), "");
	swaps = false;
	ck_assert(!is_guarded_same());
	ck_assert_str_eq(guarded_bone(), "secret");
}
END_TEST

/* As the store does after each search. */
static void tell(bool elsewhere)
{
	fault[0] = named[0] = '\0';
	found_skeleton_tell_rival(&rest, "walk.x", elsewhere, note, &rest);
}

START_TEST(several_models_without_its_name_are_told_of)
{
	put_model("arm.ff9model");
	ck_assert_str_eq(first_bone(&format), "bone_000");
	tell(false);
	ck_assert_str_eq(named, "");
	put_model("leg.ff9model");
	ck_assert(!is_same());
	ck_assert_ptr_null(first_bone(&format));
	tell(false);
	ck_assert_str_eq(named, "leg.ff9model");
	ck_assert_ptr_nonnull(strstr(fault, "one of several models beside walk.x"));
	ck_assert(is_same());
	tell(true); /* an archive has one now */
	ck_assert_str_eq(named, "leg.ff9model");
	ck_assert_str_eq(fault, "");
	tell(true);
	ck_assert_str_eq(named, "");
	tell(false);
	put_model("toe.ff9model");
	ck_assert(!is_same());
	ck_assert_ptr_null(first_bone(&format));
	ck_assert_str_eq(named, "leg.ff9model");
	ck_assert_str_eq(fault, "");
	tell(false);
	ck_assert_str_eq(named, "toe.ff9model");
	put("skeleton.csv", "bone,sx\nfolder,1\n");
	ck_assert(!is_same());
	ck_assert_str_eq(first_bone(&format), "folder");
	ck_assert_str_eq(fault, "");
	tell(true);
	ck_assert_str_eq(fault, "");
}
END_TEST

Suite *find_skeleton_suite(void);

Suite *find_skeleton_suite(void)
{
	Suite *s = suite_create("find_skeleton");
	TCase *tc = tcase_create("rest");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, the_nearest_file_says_it);
	tcase_add_test(tc, another_version_is_another_skeleton);
	tcase_add_test(tc, a_file_that_cannot_be_used_is_told_and_stands_in_the_way);
	tcase_add_test(tc, a_fault_that_was_told_before_all_was_forgotten_goes);
	tcase_add_test(tc, what_cannot_be_read_is_no_change_either);
	tcase_add_test(tc, files_follow_their_skeleton);
	tcase_add_test(tc, several_models_without_its_name_are_told_of);
	tcase_add_test(tc, what_is_not_for_all_is_as_if_it_were_not_there);
	tcase_add_test(tc, what_nobody_was_asked_about_is_not_read);
	suite_add_tcase(s, tc);
	return s;
}
