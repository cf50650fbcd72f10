/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edit/listing.h"
#include "sample.h"

static char *text_of(const struct anim *a)
{
	struct listing l = LISTING_INIT;
	char *text;

	listing_anim(&l, a);
	ck_assert(!listing_failed(&l));
	text = strndup((const char *)l.text.data, l.text.size);
	listing_release(&l);
	return text;
}

static void ck_says(const char *file, const char *part)
{
	struct sample s = sample_open(file);
	char *text = text_of(s.anim);

	ck_assert_msg(strstr(text, part), "\"%s\" is not in\n%s", part, text);
	free(text);
	sample_close(&s);
}

START_TEST(a_fact_a_line)
{
	ck_says("wiki512.canm", "canm 512\nclip walk\n  frames 3\n  loop true\n");
	ck_says("wiki512.canm", "bone walk/Bone01\n  translation all 1.5 -2 0.25\n"
				"  rotation 0 -180 5.729578 11.460703\n");
	ck_says("flags7.anm", "  keyframe ");
	ck_says("stick.kanim", "  frame 1 1 frame_1.x3d\n");
	ck_says("small.006", "  fps 30\n");
}
END_TEST

START_TEST(rows_tell_the_lines)
{
	struct sample s = sample_open("wiki512.canm");
	const struct curve *c = s.anim->clips[0].tracks[1].curve[ROLE_ROTATION];
	struct listing l = LISTING_INIT;

	listing_curve(&l, ROLE_ROTATION, c);
	ck_assert_uint_eq(listing_count(&l), c->count);
	ck_assert_uint_eq(listing_row(&l, 2)->frame, 2);
	ck_assert(bytes_equal(listing_line(&l, 2),
			      bytes_of("  rotation 2 180 5.729578 22.723793\n")));
	listing_release(&l);
	sample_close(&s);
}
END_TEST

/*
 * The listing depends on the file only: those of two versions differ in the edited line, and
 * nowhere else.
 */
START_TEST(an_edit_changes_its_line_alone)
{
	struct sample s = sample_open("wiki512.canm"), now;
	struct shown at = sample_shown(&s, 0, "hip");
	struct anim *edited = view_edit_ok(&view_bone_csv, &at, "0.5000076", "0.25");
	char *before, *after, *rest[2], *x, *y;
	unsigned lines = 0;

	now = sample_store(&s, edited);
	before = text_of(s.anim);
	after = text_of(now.anim);
	x = strtok_r(before, "\n", &rest[0]);
	y = strtok_r(after, "\n", &rest[1]);
	for (; x && y; x = strtok_r(NULL, "\n", &rest[0]), y = strtok_r(NULL, "\n", &rest[1]))
		lines += strcmp(x, y) != 0;
	ck_assert(!x && !y);
	ck_assert_uint_eq(lines, 1);
	free(before);
	free(after);
	anim_free(edited);
	sample_close(&now);
	sample_close(&s);
}
END_TEST

Suite *listing_suite(void);
Suite *listing_suite(void)
{
	Suite *s = suite_create("listing");
	TCase *tc = tcase_create("listing");

	tcase_add_test(tc, a_fact_a_line);
	tcase_add_test(tc, rows_tell_the_lines);
	tcase_add_test(tc, an_edit_changes_its_line_alone);
	suite_add_tcase(s, tc);
	return s;
}
