/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The template of a codec, put through the tests of every codec: texts saved as they are change no
 * byte, an edit changes its own bytes alone, and files that are cut or changed anywhere are refused
 * or still come back as they were.
 */
#include "sample.h"

#include "codec/codecs.h"

#include <stdlib.h>

enum { FRAMES = 3, BONES = 2, BONE_SIZE = 16 + FRAMES * 12, TAIL = 5 };
#define FILE_SIZE (8 + BONES * BONE_SIZE + TAIL)

static void put_bone(uint8_t *p, const char *name, float first)
{
	memcpy(p, name, strlen(name));
	for (unsigned i = 0; i < FRAMES * 3; i++)
		put_f32(p + 16 + i * 4, first + (float)i);
}

/* Makes a file. One of the numbers is a NaN with unusual bits. */
static struct buf made_file(void)
{
	struct buf b = BUF_INIT;
	uint8_t bytes[FILE_SIZE] = {'S', 'K', 'E', 'L', FRAMES, 0, BONES, 0};

	put_bone(bytes + 8, "hips", 0.5f);
	put_bone(bytes + 8 + BONE_SIZE, "spine", 10.25f);
	put_u32(bytes + 8 + BONE_SIZE + 16 + 4, 0xFFC12345);
	memcpy(bytes + FILE_SIZE - TAIL, "tail!", TAIL);
	buf_add(&b, bytes, sizeof(bytes));
	ck_assert(!b.failed);
	return b;
}

static struct sample open_bytes(struct buf bytes)
{
	struct err err = {0};
	struct sample s = {.name = "made.skel", .codec = &skel_codec};

	s.version = version_of_bytes(&skel_codec, &bytes, s.name, NULL, &err);
	ck_assert_msg(s.version != NULL, "%s", err.message);
	s.bytes = s.version->bytes;
	s.anim = s.version->anim;
	return s;
}

static struct buf encoded(const struct sample *s, const struct anim *edited)
{
	struct err err = {0};
	struct buf out = BUF_INIT;
	struct buf copy = BUF_INIT;
	struct sample stored;

	ck_assert_msg(skel_codec.encode(edited, buf_bytes(&s->bytes), &out, &err), "%s",
		      err.message);
	buf_add(&copy, out.data, out.size);
	stored = open_bytes(copy);
	ck_assert_msg(anim_stored(edited, s->anim, stored.anim, &err), "%s", err.message);
	sample_close(&stored);
	return out;
}

START_TEST(own_texts_change_no_byte)
{
	static const struct view *const some[] = {&view_bone_csv, &view_bone_json, &view_curves_csv,
						  &view_clip_json};
	struct sample s = open_bytes(made_file());

	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct shown at = sample_shown(&s, 0, "spine");
		struct buf text = view_text(some[i], &at);
		struct err err = {0};
		struct anim *edited = some[i]->parse(&at, buf_bytes(&text), &err);
		struct buf out;

		ck_assert_msg(edited != NULL, "view %zu: %s", i, err.message);
		out = encoded(&s, edited);
		ck_assert(bytes_equal(buf_bytes(&out), buf_bytes(&s.bytes)));
		buf_release(&out);
		anim_free(edited);
		buf_release(&text);
	}
	sample_close(&s);
}
END_TEST

START_TEST(a_cell_is_its_own_bytes)
{
	struct sample s = open_bytes(made_file());
	struct shown at = sample_shown(&s, 0, "hips");
	struct anim *edited =
		view_edit_ok(&view_bone_csv, &at, "\n1,0.033333,3.5,", "\n1,0.033333,-0.1,");
	struct buf out = encoded(&s, edited);
	size_t place = 8 + 16 + 12;

	ck_assert_uint_eq(out.size, s.bytes.size);
	ck_assert(get_f32(out.data + place) == -0.1f);
	memcpy(out.data + place, s.bytes.data + place, 4);
	ck_assert(bytes_equal(buf_bytes(&out), buf_bytes(&s.bytes)));
	buf_release(&out);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(a_bone_that_goes_takes_its_bytes)
{
	struct sample s = open_bytes(made_file());
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited = view_edit_ok(&view_clip_json, &at,
					   "    {\"bone\": \"hips\", \"name\": \"hips\"},\n", "");
	struct buf out = encoded(&s, edited);

	ck_assert_uint_eq(out.size, FILE_SIZE - BONE_SIZE);
	ck_assert_mem_eq(out.data + 8, s.bytes.data + 8 + BONE_SIZE, BONE_SIZE + TAIL);
	buf_release(&out);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(what_it_cannot_store_is_refused)
{
	struct sample s = open_bytes(made_file());
	struct shown at = sample_shown(&s, 0, NULL);
	struct anim *edited =
		view_edit_ok(&view_clip_json, &at, "{\"bone\": \"hips\", \"name\": \"hips\"}",
			     "{\"bone\": \"a name of 17 char\", \"was\": \"hips\"}");
	struct buf out = BUF_INIT;
	struct err err = {0};

	ck_assert(!skel_codec.encode(edited, buf_bytes(&s.bytes), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_str_eq(err.message, "the name a name of 17 char has more than 16 bytes");
	buf_release(&out);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/*
 * Decodes from a heap block of exactly that size, so that sanitizers detect reads past the end.
 * Returns whether the bytes decode; if they do, they must encode to themselves.
 */
static bool decodes_and_comes_back(const uint8_t *data, size_t size)
{
	uint8_t *block = malloc(size ? size : 1);
	struct bytes src = {block, size};
	struct err err = {0};
	struct buf out = BUF_INIT;
	struct anim *a;
	bool decodes;

	ck_assert(block != NULL);
	memcpy(block, data, size);
	a = skel_codec.decode(src, NULL, &err);
	decodes = a != NULL;
	ck_assert_int_eq(err.code, decodes ? ERR_NONE : ERR_FORMAT);
	ck_assert(decodes == skel_codec.probe(src));
	if (a) {
		ck_assert_msg(skel_codec.encode(a, src, &out, &err), "%s", err.message);
		ck_assert(bytes_equal(buf_bytes(&out), src));
	}
	anim_free(a);
	buf_release(&out);
	free(block);
	return decodes;
}

START_TEST(files_cut_at_every_length)
{
	struct buf b = made_file();

	for (size_t size = 0; size <= b.size; size++)
		ck_assert(decodes_and_comes_back(b.data, size) == (size >= FILE_SIZE - TAIL));
	buf_release(&b);
}
END_TEST

START_TEST(files_with_every_byte_changed)
{
	struct buf b = made_file();
	unsigned good = 0;

	for (size_t at = 0; at < b.size; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[at] ^= (uint8_t)(1u << bit);
			good += decodes_and_comes_back(b.data, b.size);
			b.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	/* Every bit of a key and of the tail may change. */
	ck_assert_uint_ge(good, 8 * (BONES * FRAMES * 12 + TAIL));
	buf_release(&b);
}
END_TEST

START_TEST(it_is_no_format_of_the_program)
{
	ck_assert(codec_named("skel") == NULL);
	ck_assert(codec_for_name("made.skel") == NULL);
}
END_TEST

Suite *skel_suite(void);

Suite *skel_suite(void)
{
	Suite *s = suite_create("skel");
	TCase *t = tcase_create("skel");

	tcase_add_test(t, own_texts_change_no_byte);
	tcase_add_test(t, a_cell_is_its_own_bytes);
	tcase_add_test(t, a_bone_that_goes_takes_its_bytes);
	tcase_add_test(t, what_it_cannot_store_is_refused);
	tcase_add_test(t, files_cut_at_every_length);
	tcase_add_test(t, files_with_every_byte_changed);
	tcase_add_test(t, it_is_no_format_of_the_program);
	suite_add_tcase(s, t);
	return s;
}
