/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/options.h"

#include <check.h>
#include <stdlib.h>

START_TEST(sizes)
{
	static const struct {
		const char *text;
		bool fine;
		size_t size;
	} cases[] = {
		{"0", true, 0},
		{"256M", true, (size_t)256 << 20},
		{"1g", true, (size_t)1 << 30},
		{"12k", true, 12288},
		{"", false, 0},
		{"M", false, 0},
		{"-1", false, 0},
		{"1MB", false, 0},
		{"1.5M", false, 0},
		{"99999999999G", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {.code = ERR_NONE};
		size_t size = 1;

		ck_assert_msg(option_size(cases[i].text, &size, &err) == cases[i].fine, "%s",
			      cases[i].text);
		if (cases[i].fine)
			ck_assert_uint_eq(size, cases[i].size);
		else
			ck_assert_int_ne(err.code, ERR_NONE);
	}
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		const char *text;
		int base;
		bool fine;
		int number;
	} cases[] = {
		{"0", 10, true, 0},
		{"1000", 10, true, 1000},
		{"022", 8, true, 18},
		{"", 10, false, 0},
		{"-1", 10, false, 0},
		{" 1", 10, false, 0},
		{"nobody", 10, false, 0},
		{"1x", 10, false, 0},
		{"9", 8, false, 0},
		{"2147483648", 10, false, 0},
		{"99999999999999999999", 10, false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int number = -1;

		ck_assert_msg(option_number(cases[i].text, cases[i].base, &number, NULL) ==
				      cases[i].fine,
			      "%s", cases[i].text);
		ck_assert_int_eq(number, cases[i].fine ? cases[i].number : -1);
	}
}
END_TEST

START_TEST(rates)
{
	struct store_options o = {.rate_count = 0};
	static const char *const wrong[] = {"canm",     "canm=", "canm=0", "canm=-3",
					    "canm=nan", "x=3",   "=3"};

	ck_assert(option_rate(&o, "canm=29.97", NULL));
	ck_assert_uint_eq(o.rate_count, 1);
	ck_assert(o.rates[0].hz == 29.97);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_rate(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_ne(err.code, ERR_NONE);
	}
	ck_assert_uint_eq(o.rate_count, 1);
}
END_TEST

START_TEST(types)
{
	struct store_options o = {.pattern_count = 0};
	static const char *const wrong[] = {"", "*.bin", "=canm", "*.bin=", "*.bin=gif"};

	ck_assert(option_type(&o, "*.bin=canm", NULL));
	ck_assert(option_type(&o, "a=b*=auto", NULL));
	ck_assert_uint_eq(o.pattern_count, 2);
	ck_assert_str_eq(o.patterns[0].glob, "*.bin");
	ck_assert_ptr_eq(o.patterns[0].codec, codec_named("canm"));
	ck_assert_str_eq(o.patterns[1].glob, "a=b*");
	ck_assert_ptr_null(o.patterns[1].codec);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_type(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_ne(err.code, ERR_NONE);
	}
	option_release(&o);
}
END_TEST

START_TEST(rotations)
{
	struct store_options o = {.rotations = ROTATIONS_STORED};
	static const char *const wrong[] = {"", "Euler", "quaternions", "degrees"};

	ck_assert(option_rotations(&o, "euler", NULL) && o.rotations == ROTATIONS_EULER);
	ck_assert(option_rotations(&o, "stored", NULL) && o.rotations == ROTATIONS_STORED);
	ck_assert(option_rotations(&o, "quaternion", NULL) && o.rotations == ROTATIONS_QUATERNION);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_rotations(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_eq(err.code, ERR_TEXT);
	}
	ck_assert(o.rotations == ROTATIONS_QUATERNION);
}
END_TEST

START_TEST(bones)
{
	struct store_options o = {.rate_count = 0};
	static const char *const wrong[] = {"", "line", "Lines", "boxes"};

	ck_assert(option_bones(&o, "lines", NULL) && o.style.lines);
	ck_assert(option_bones(&o, "octahedra", NULL) && !o.style.lines);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_bones(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_eq(err.code, ERR_TEXT);
	}
}
END_TEST

START_TEST(bvhs)
{
	struct store_options o = {.rate_count = 0};
	static const char *const wrong[] = {"", "Lossy", "all", "loss"};

	ck_assert(option_bvh(&o, "lossy", NULL) && o.style.lossy_bvh);
	ck_assert(option_bvh(&o, "lossless", NULL) && !o.style.lossy_bvh);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_bvh(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_eq(err.code, ERR_TEXT);
	}
}
END_TEST

START_TEST(gltfs)
{
	struct store_options o = {.rate_count = 0};
	static const char *const wrong[] = {"", "Plain", "mesh", "figures"};

	ck_assert(option_gltf(&o, "plain", NULL) && o.style.plain_gltf);
	ck_assert(option_gltf(&o, "figure", NULL) && !o.style.plain_gltf);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_gltf(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_eq(err.code, ERR_TEXT);
	}
}
END_TEST

START_TEST(frame_rates_of_gltfs)
{
	struct store_options o = {.rate_count = 0};
	static const char *const wrong[] = {"", "Match", "24", "resampled"};

	ck_assert(option_gltf_rate(&o, "resample", NULL) && o.style.resample);
	ck_assert(option_gltf_rate(&o, "match", NULL) && !o.style.resample);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = {.code = ERR_NONE};

		ck_assert_msg(!option_gltf_rate(&o, wrong[i], &err), "%s", wrong[i]);
		ck_assert_int_eq(err.code, ERR_TEXT);
	}
}
END_TEST

Suite *options_suite(void);
Suite *options_suite(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, sizes);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, rates);
	tcase_add_test(tc, types);
	tcase_add_test(tc, rotations);
	tcase_add_test(tc, bones);
	tcase_add_test(tc, bvhs);
	tcase_add_test(tc, gltfs);
	tcase_add_test(tc, frame_rates_of_gltfs);
	suite_add_tcase(suite, tc);
	return suite;
}
