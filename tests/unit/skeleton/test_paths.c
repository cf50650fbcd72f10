/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parents from paths: of bones that are there, of those in between, and of the root. */
#include "sample.h"

#include "skeleton/find_skeleton.h"

static struct sample open_bones(const char *bones)
{
	struct buf bytes = BUF_INIT;

	buf_format(&bytes, "{\"transform\": [%s]}", bones);
	return sample_decode("made.anim", bytes);
}

/* Returns the name of a bone's parent; "" if there is none. */
static const char *parent_of(const struct sample *s, const char *bone)
{
	const struct skeleton *k = shared_skeleton(s->version->skeleton);
	const struct joint *joint = skeleton_joint(k, bone);

	ck_assert_msg(joint != NULL, "no bone \"%s\"", bone);
	ck_assert(joint->bare);
	return joint->parent == JOINT_ROOT ? "" : k->joints[joint->parent].bone;
}

START_TEST(the_parent_is_the_path_without_its_last_part)
{
	struct sample s = open_bones("{\"bone\": \"a/b\"}, {\"bone\": \"a\"}, "
				     "{\"bone\": \"a/b/c\"}, {\"bone\": \"d\"}");

	ck_assert_str_eq(parent_of(&s, "a"), "");
	ck_assert_str_eq(parent_of(&s, "b"), "a");
	ck_assert_str_eq(parent_of(&s, "c"), "b");
	ck_assert_str_eq(parent_of(&s, "d"), "");
	sample_close(&s);
}
END_TEST

/* Two bones have paths with the same last part, and a bone between them has no keys. */
START_TEST(bones_in_between_are_made)
{
	struct sample s = open_bones("{\"bone\": \"a/hand/thumb\"}, {\"bone\": \"hand\"}");

	ck_assert_str_eq(parent_of(&s, "thumb"), "hand~2");
	ck_assert_str_eq(parent_of(&s, "hand~2"), "a");
	ck_assert_str_eq(parent_of(&s, "a"), "");
	ck_assert_str_eq(parent_of(&s, "hand"), "");
	ck_assert_uint_eq(shared_skeleton(s.version->skeleton)->count, 4);
	sample_close(&s);
}
END_TEST

START_TEST(the_empty_path_is_above_all)
{
	struct sample s = open_bones("{\"bone\": \"\"}, {\"bone\": \"x/y\"}");

	ck_assert_str_eq(parent_of(&s, "%"), "");
	ck_assert_str_eq(parent_of(&s, "x"), "%");
	ck_assert_str_eq(parent_of(&s, "y"), "x");
	sample_close(&s);
}
END_TEST

/* A path of thousands of parts must not make thousands of bones. */
START_TEST(a_deep_path_has_no_parents)
{
	struct buf bone = BUF_INIT;
	struct sample s;

	buf_text(&bone, "{\"bone\": \"");
	for (unsigned i = 0; i < 5000; i++)
		buf_text(&bone, "p/");
	buf_text(&bone, "q\"}");
	buf_char(&bone, '\0');
	s = open_bones((const char *)bone.data);
	ck_assert_uint_eq(shared_skeleton(s.version->skeleton)->count, 1);
	ck_assert_str_eq(parent_of(&s, "q"), "");
	sample_close(&s);
	buf_release(&bone);
}
END_TEST

static const struct {
	const char *was, *is; /* the edit of clip.json */
	const char *names;    /* names of all bones after the edit */
} moves[] = {
	{"{\"bone\": \"b\"", "{\"bone\": \"x\", \"was\": \"b\"", "a a/x a/x/c d"},
	{"\"name\": \"a/b\"", "\"name\": \"d/b\"", "a d d/b d/b/c"},
	{"\"name\": \"a/b/c\"", "\"name\": \"c\"", "a a/b c d"},
	{"{\"bone\": \"a\"", "{\"bone\": \"z\", \"was\": \"a\"", "d z z/b z/b/c"},
	{"{\"bone\": \"d\", \"name\": \"d\"}",
	 "{\"bone\": \"d\", \"name\": \"d\"}, {\"bone\": \"e\", \"name\": \"a/b/e\"}",
	 "a a/b a/b/c a/b/e d"},
};

START_TEST(what_is_below_a_bone_goes_along)
{
	struct sample s = open_bones("{\"bone\": \"a\"}, {\"bone\": \"a/b\"}, "
				     "{\"bone\": \"a/b/c\"}, {\"bone\": \"d\"}");
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited = view_edit_ok(&view_clip_json, &at, moves[_i].was, moves[_i].is);
	struct sample stored = sample_store(&s, edited);
	struct buf names = BUF_INIT;

	for (uint32_t i = 0; i < stored.anim->clips[0].track_count; i++)
		buf_format(&names, "%s%s", i ? " " : "", stored.anim->clips[0].tracks[i].name);
	buf_char(&names, '\0');
	ck_assert_str_eq((const char *)names.data, moves[_i].names);
	buf_release(&names);
	sample_close(&stored);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(a_path_that_ends_otherwise_is_refused)
{
	struct sample s = open_bones("{\"bone\": \"a\"}, {\"bone\": \"a/b\"}");
	struct shown at = sample_shown(&s, 0, NULL);

	view_edit_refused(&view_clip_json, &at, "\"name\": \"a/b\"", "\"name\": \"a/q\"", ERR_TEXT,
			  8, 27, "does not end in \"b\"");
	view_edit_refused(&view_clip_json, &at, "{\"bone\": \"b\"",
			  "{\"bone\": \"x%2Fy\", \"was\": \"b\"", ERR_TEXT, 8, 14, "last part");
	sample_close(&s);
}
END_TEST

Suite *paths_suite(void);

Suite *paths_suite(void)
{
	Suite *s = suite_create("paths");
	TCase *t = tcase_create("paths");

	tcase_add_test(t, the_parent_is_the_path_without_its_last_part);
	tcase_add_test(t, bones_in_between_are_made);
	tcase_add_test(t, the_empty_path_is_above_all);
	tcase_add_test(t, a_deep_path_has_no_parents);
	tcase_add_loop_test(t, what_is_below_a_bone_goes_along, 0, ARRAY_SIZE(moves));
	tcase_add_test(t, a_path_that_ends_otherwise_is_refused);
	suite_add_tcase(s, t);
	return s;
}
