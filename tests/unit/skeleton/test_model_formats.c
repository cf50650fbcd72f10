/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "load.h"
#include "skeleton/model_formats.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct buf file;

static void begin(void)
{
	file = (struct buf)BUF_INIT;
}

static void end(void)
{
	buf_release(&file);
}

/*
 * Reads the first bytes of a model from a block of exactly that size, so that a sanitizer detects
 * reads past the end.
 */
static struct skeleton *read_cut(const struct model_format *format, size_t size, struct err *err)
{
	uint8_t *copy = malloc(size + !size);
	struct skeleton *s;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, file.data, size);
	s = format->read((struct bytes){copy, size}, err);
	free(copy);
	return s;
}

static struct skeleton *read_whole(const struct model_format *format)
{
	struct err err = {0};
	struct skeleton *s = read_cut(format, file.size, &err);

	ck_assert_msg(s != NULL, "%s", err.message);
	return s;
}

static void assert_refused(const struct model_format *format, size_t at, const char *words)
{
	struct err err = {0};

	ck_assert_ptr_null(read_cut(format, file.size, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(strstr(err.message, words), "%s", err.message);
	ck_assert_uint_eq(err.at, at);
	ck_assert_ptr_null(read_cut(format, file.size, NULL));
}

/*
 * Checks that a model that is cut anywhere before `least` is refused with a reason, and that one
 * with any byte changed is refused or read.
 */
static void assert_robust(const struct model_format *format, size_t least)
{
	for (size_t size = 0; size < file.size; size++) {
		struct err err = {0};
		struct skeleton *s = read_cut(format, size, &err);

		ck_assert_msg((s != NULL) == (size >= least), "%zu bytes: %s", size, err.message);
		ck_assert(s || (err.code == ERR_FORMAT && err.at <= size));
		skeleton_free(s);
	}
	for (size_t at = 0; at < file.size; at++) {
		static const uint8_t changes[] = {0x01, 0x80, 0xff};

		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			struct err err = {0};
			struct skeleton *s;

			file.data[at] ^= changes[i];
			s = read_cut(format, file.size, &err);
			ck_assert(s || err.code == ERR_FORMAT);
			skeleton_free(s);
			file.data[at] ^= changes[i];
		}
	}
}

static void put_byte(size_t at, unsigned byte)
{
	ck_assert_uint_lt(at, file.size);
	file.data[at] = (uint8_t)byte;
}

/* ---- Final Fantasy IX ---- */

static void write_ff9(void)
{
	static const uint8_t bones[][4] = {
		{5, 0, 0, 0}, {0x9c, 0xff, 0, 0}, {7, 1, 0, 0}, {0, 0, 0, 2}};

	buf_zero(&file, 0x14);
	file.data[2] = ARRAY_SIZE(bones);
	buf_add(&file, bones, sizeof(bones));
}

START_TEST(lengths_and_parents_of_ff9)
{
	struct skeleton *s;

	write_ff9();
	s = read_whole(&model_ff9);
	ck_assert_uint_eq(s->count, 4);
	ck_assert_str_eq(s->joints[3].bone, "bone_003");
	ck_assert_int_eq(s->joints[0].parent, JOINT_ROOT);
	ck_assert_int_eq(s->joints[1].parent, 0);
	ck_assert_int_eq(s->joints[3].parent, 2);
	ck_assert(s->joints[1].rest[ROLE_TRANSLATION][2] == -100);
	ck_assert(s->joints[2].rest[ROLE_TRANSLATION][2] == 263);
	ck_assert(s->joints[2].rest[ROLE_TRANSLATION][0] == 0);
	ck_assert(s->joints[2].rest[ROLE_SCALE][1] == 1);
	skeleton_free(s);
	assert_robust(&model_ff9, file.size);
	put_byte(0x14 + 4 * 3 + 3, 3);
	assert_refused(&model_ff9, 0x14 + 4 * 3 + 3, "before its parent");
	put_byte(0x14 + 4 * 2 + 2, 1);
	assert_refused(&model_ff9, 0x14 + 4 * 2 + 2, "always 0");
	put_byte(2, 5);
	assert_refused(&model_ff9, file.size, "beyond the end");
	put_byte(2, 0);
	assert_refused(&model_ff9, 2, "without bones");
}
END_TEST

/* ---- Vib-Ribbon ---- */

START_TEST(objects_of_a_tmd)
{
	struct skeleton *s;

	buf_u32(&file, 0x41);
	buf_u32(&file, 0);
	buf_u32(&file, 3);
	buf_zero(&file, 3 * 28);
	s = read_whole(&model_ribbon);
	ck_assert_uint_eq(s->count, 3);
	ck_assert_str_eq(s->joints[2].bone, "object_002");
	ck_assert_int_eq(s->joints[2].parent, JOINT_ROOT);
	skeleton_free(s);
	assert_robust(&model_ribbon, file.size);
	put_byte(8, 4);
	assert_refused(&model_ribbon, file.size, "beyond the end");
	put_byte(9, 2);
	assert_refused(&model_ribbon, 8, "1 to 256 objects");
	put_byte(0, 0x40);
	assert_refused(&model_ribbon, 0, "not a TMD");
}
END_TEST

/* ---- Earth Defense Force ---- */

static const float at_rest[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

static void add_mdb_bone(uint32_t number, int32_t parent, uint32_t name, const float matrix[16])
{
	buf_u32(&file, number);
	buf_u32(&file, (uint32_t)parent);
	buf_zero(&file, 8);
	buf_u32(&file, name);
	buf_zero(&file, 12);
	for (unsigned i = 0; i < 16; i++)
		buf_f32(&file, matrix[i]);
	buf_zero(&file, 0x60);
}

#define NAMES_AT 0x30
#define BONES_AT 0x40

/* Writes a model with three names, of which one is empty and two bones have the same one. */
static void write_mdb(const float matrix[16])
{
	static const uint8_t names[] = {'h', 0, 'i', 0, 0, 0, 'a', 0, 0x53, 0x30, 0, 0};
	uint32_t end = BONES_AT + 3 * 0xC0;

	buf_text(&file, "MDB0");
	buf_u32(&file, 0x14);
	buf_u32(&file, 4);
	buf_u32(&file, NAMES_AT);
	buf_u32(&file, 3);
	buf_u32(&file, BONES_AT);
	buf_zero(&file, 0x18);
	buf_u32(&file, end - NAMES_AT);
	buf_u32(&file, 0);
	buf_u32(&file, end + 6 - (NAMES_AT + 8));
	buf_zero(&file, 4);
	add_mdb_bone(0, -1, 2, at_rest);
	add_mdb_bone(1, 0, 0, matrix);
	add_mdb_bone(2, 1, 0, at_rest);
	buf_add(&file, names, sizeof(names));
}

/* Makes the matrix T * Rz * Ry * Rx * S for column vectors, stored transposed. */
static void make_matrix(const double t[3], const double angles[3], const double scale[3],
			float out[16])
{
	double c[3], s[3];

	for (unsigned i = 0; i < 3; i++) {
		c[i] = cos(angles[i] * M_PI / 180);
		s[i] = sin(angles[i] * M_PI / 180);
	}
	const double r[3][3] = {
		{c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]},
		{s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]},
		{-s[1], c[1] * s[0], c[1] * c[0]},
	};

	memcpy(out, at_rest, sizeof(at_rest));
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 3; k++)
			out[4 * i + k] = (float)(r[k][i] * scale[i]);
		out[12 + i] = (float)t[i];
	}
}

static const struct {
	double angles[3], scale[3], read[3];
} turns[] = {
	{{10, 20, 30}, {1, 1, 1}, {10, 20, 30}},  {{-170, -80, 45}, {2, 0.5, 3}, {-170, -80, 45}},
	{{0, 0, 0}, {1, 1, 1}, {0, 0, 0}},        {{25, 90, 10}, {1, 1, 1}, {15, 90, 0}},
	{{25, -90, 10}, {1, 1, 1}, {35, -90, 0}}, {{40, 50, 60}, {-1, 1, 1}, {40, 50, 60}},
};

START_TEST(rest_of_an_mdb)
{
	static const double t[] = {1.5, -2, 0.25};
	float matrix[16];
	struct skeleton *s;

	make_matrix(t, turns[_i].angles, turns[_i].scale, matrix);
	write_mdb(matrix);
	s = read_whole(&model_mdb);
	ck_assert_uint_eq(s->count, 3);
	ck_assert_str_eq(s->joints[0].bone, "a\xe3\x81\x93");
	ck_assert_str_eq(s->joints[1].bone, "hi");
	ck_assert_str_eq(s->joints[2].bone, "hi~2");
	ck_assert_int_eq(s->joints[0].parent, JOINT_ROOT);
	ck_assert_int_eq(s->joints[2].parent, 1);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(s->joints[1].rest[ROLE_TRANSLATION][i] == t[i]);
		ck_assert_double_eq_tol(s->joints[1].rest[ROLE_ROTATION][i], turns[_i].read[i],
					2e-4);
		ck_assert_double_eq_tol(s->joints[1].rest[ROLE_SCALE][i], turns[_i].scale[i], 1e-6);
	}
	skeleton_free(s);
}
END_TEST

START_TEST(what_is_no_mdb_is_refused)
{
	struct skeleton *s;

	write_mdb(at_rest);
	assert_robust(&model_mdb, file.size);
	put_byte(BONES_AT + 0xC0 + 0x20 + 3, 0x7f);
	put_byte(BONES_AT + 0xC0 + 0x20 + 2, 0x80);
	assert_refused(&model_mdb, BONES_AT + 0xC0 + 0x20, "not a number");
	put_byte(BONES_AT + 0xC0 + 0x10, 1);
	assert_refused(&model_mdb, NAMES_AT + 4, "lies nowhere");
	put_byte(BONES_AT + 0xC0 + 0x10, 4);
	assert_refused(&model_mdb, BONES_AT + 0xC0 + 0x10, "no name 4");
	put_byte(BONES_AT + 0xC0 + 4, 1);
	assert_refused(&model_mdb, BONES_AT + 0xC0 + 4, "before its parent");
	put_byte(BONES_AT + 0xC0, 2);
	assert_refused(&model_mdb, BONES_AT + 0xC0, "not its index");
	put_byte(0x11, 1);
	assert_refused(&model_mdb, 0x14, "bones go beyond");
	put_byte(0x0b, 0x40);
	assert_refused(&model_mdb, 0x08, "names go beyond");
	put_byte(4, 0x15);
	assert_refused(&model_mdb, 4, "version 0x15");
	put_byte(4, 0x20);
	put_byte(0, 'm');
	assert_refused(&model_mdb, 0, "not an MDB");
	buf_clear(&file);
	write_mdb((float[16]){0}); /* axes without length */
	s = read_whole(&model_mdb);
	ck_assert(s->joints[1].rest[ROLE_SCALE][0] == 0 &&
		  s->joints[1].rest[ROLE_ROTATION][0] == 0);
	skeleton_free(s);
	file.data[file.size - 2] = 1; /* the last name is not terminated */
	assert_refused(&model_mdb, NAMES_AT + 8, "no end");
}
END_TEST

START_TEST(models_by_format)
{
	static const struct format canm = {.name = "canm"}, cas = {.name = "cas"},
				   owanim = {.name = "owanim"};

	ck_assert_ptr_eq(model_format_of(&canm), &model_mdb);
	ck_assert_ptr_eq(model_format_of(&cas), &model_mdb);
	ck_assert_ptr_null(model_format_of(&owanim));
}
END_TEST

Suite *model_formats_suite(void);

Suite *model_formats_suite(void)
{
	Suite *suite = suite_create("model_formats");
	TCase *t = tcase_create("models");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, lengths_and_parents_of_ff9);
	tcase_add_test(t, objects_of_a_tmd);
	tcase_add_loop_test(t, rest_of_an_mdb, 0, (int)ARRAY_SIZE(turns));
	tcase_add_test(t, what_is_no_mdb_is_refused);
	tcase_add_test(t, models_by_format);
	return suite;
}
