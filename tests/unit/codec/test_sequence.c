/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of Vib-Ribbon files: which lists are refused, and the clips that join the files of valid
 * lists.
 */
#include "animfs/codec.h"
#include "load.h"
#include "model/join.h"

#include <check.h>
#include <string.h>

/* ---- files beside the list ---- */

/*
 * A file of `objects` objects, each with a keyframe in every frame, whose position x is `x` plus
 * the frame.
 */
struct beside {
	const char *name;
	unsigned frames, objects, x;
	struct buf bytes;
};

static struct beside files[] = {
	{.name = "a.anm", .frames = 2, .objects = 1, .x = 10},
	{.name = "b c.anm", .frames = 3, .objects = 3, .x = 20},
	{.name = "none.anm"},
	{.name = "all.anm", .frames = 1, .objects = 256, .x = 5},
};

static void make(struct beside *f)
{
	f->bytes = (struct buf)BUF_INIT;
	buf_u16(&f->bytes, 0x8000);
	buf_u16(&f->bytes, 1);
	buf_u16(&f->bytes, (uint16_t)f->frames);
	for (unsigned i = 0; i <= f->frames; i++)
		buf_u16(&f->bytes, (uint16_t)(4 + f->frames + 4 * f->objects * i));
	for (unsigned i = 0; i < f->frames * f->objects; i++) {
		/* Write the last object first, since files have no order of objects. */
		buf_char(&f->bytes, (char)(f->objects - 1 - i % f->objects));
		buf_char(&f->bytes, (char)0x84);
		buf_u16(&f->bytes, (uint16_t)(f->x + i / f->objects));
		buf_u16(&f->bytes, 0);
		buf_u16(&f->bytes, (uint16_t)-1);
	}
	ck_assert(!f->bytes.failed);
}

static void make_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		make(&files[i]);
}

static void free_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		buf_release(&files[i].bytes);
}

static bool read_beside(void *closure, const char *name, struct bytes *out, struct err *err)
{
	unsigned *reads = closure;

	(*reads)++;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		*out = buf_bytes(&files[i].bytes);
		return true;
	}
	if (strcmp(name, "memory.anm") == 0)
		return err_memory(err);
	return err_set(err, ERR_SYSTEM, "it is not there");
}

static unsigned reads;

static struct anim *decode_bytes(struct bytes list, struct err *err)
{
	const struct neighbours neighbours = {read_beside, &reads};
	const struct hints hints = {.neighbours = &neighbours};

	reads = 0;
	return codec_named("sequence")->decode(list, &hints, err);
}

static struct anim *decode(const char *list)
{
	struct err err = {.code = ERR_NONE};
	struct anim *a = decode_bytes(bytes_of(list), &err);

	ck_assert_msg(a != NULL, "at %zu: %s", err.at, err.message);
	return a;
}

static const struct track *find(const struct anim *a, const char *name)
{
	const struct clip *clip = &a->clips[0];

	for (uint32_t i = 0; i < clip->track_count; i++) {
		if (strcmp(clip->tracks[i].name, name) == 0)
			return &clip->tracks[i];
	}
	ck_abort_msg("no %s", name);
}

/* ---- the joined clip ---- */

START_TEST(frames_are_counted_through)
{
	struct anim *a = decode("file\nb c.anm\na.anm\nb c.anm\n");
	const struct track *t = find(a, "object_000");
	const struct curve *c = t->curve[ROLE_TRANSLATION];
	static const double x[] = {20, 21, 22, 10, 11, 20, 21, 22};

	ck_assert_uint_eq(a->clip_count, 1);
	ck_assert_uint_eq(a->clips[0].frames, 8);
	ck_assert_uint_eq(c->count, 8);
	ck_assert_uint_eq(t->keyframes->count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(c->frames[i], i);
		ck_assert_uint_eq(t->keyframes->frames[i], i);
		ck_assert_uint_eq(t->keyframes->flags[i], 0x80);
		ck_assert_uint_eq(t->keyframes->roles[i], 1 << ROLE_TRANSLATION);
		ck_assert_double_eq(curve_value(c, i, 0), x[i]);
		ck_assert_double_eq(curve_value(c, i, 2), -1);
	}
	ck_assert_ptr_null(t->curve[ROLE_ROTATION]);
	ck_assert_str_eq(a->parts[1].file, "a.anm");
	ck_assert_uint_eq(a->parts[1].first, 3);
	ck_assert_uint_eq(a->parts[1].frames, 2);
	ck_assert_uint_eq(a->part_count, 3);
	anim_free(a);
}
END_TEST

START_TEST(a_file_says_nothing_of_an_object_that_it_has_not)
{
	struct anim *a = decode("file\na.anm\nb c.anm\na.anm\n");
	const struct track *t = find(a, "object_002");

	ck_assert_uint_eq(a->clips[0].track_count, 3);
	ck_assert_uint_eq(t->keyframes->count, 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(t->keyframes->frames[i], 2 + i);
	anim_free(a);
}
END_TEST

START_TEST(objects_are_in_the_order_of_their_numbers)
{
	struct anim *a = decode("file\na.anm\nall.anm\nb c.anm\n");
	char name[16];

	ck_assert_uint_eq(a->clips[0].track_count, 256);
	for (uint32_t i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "object_%03u", i);
		ck_assert_str_eq(a->clips[0].tracks[i].name, name);
		ck_assert_uint_eq(a->clips[0].tracks[i].origin, i);
	}
	anim_free(a);
}
END_TEST

START_TEST(one_file_and_files_without_frames)
{
	struct anim *one = decode("file\na.anm\n"), *none = decode("file\nnone.anm\nnone.anm\n");
	struct anim *between = decode("file\na.anm\nnone.anm\na.anm\n");

	ck_assert_uint_eq(one->clips[0].frames, 2);
	ck_assert_uint_eq(none->clips[0].frames, 0);
	ck_assert_uint_eq(none->clips[0].track_count, 0);
	ck_assert_uint_eq(between->clips[0].frames, 4);
	ck_assert_uint_eq(between->parts[2].first, 2);
	anim_free(one);
	anim_free(none);
	anim_free(between);
}
END_TEST

START_TEST(a_clip_outlives_the_files)
{
	struct anim *a = decode("file\na.anm\nb c.anm\n");

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		memset(files[i].bytes.data, 0xFF, files[i].bytes.size);
	ck_assert_double_eq(curve_value(find(a, "object_001")->curve[ROLE_TRANSLATION], 0, 0), 20);
	anim_free(a);
}
END_TEST

/* More frames than can be counted are refused before the clip is built. */
START_TEST(frames_that_cannot_be_counted)
{
	const struct clip half = {.frames = UINT32_MAX / 2 + 1}, rest = {.frames = UINT32_MAX / 2};
	const struct keyframes many = {.count = UINT32_MAX / 2 + 1};
	const struct track tracks[] = {{.keyframes = &many}, {.keyframes = &many}};
	const struct clip keys = {.tracks = tracks, .track_count = 1};
	const struct clip twice = {.tracks = tracks, .track_count = 2};
	struct err err = {.code = ERR_NONE};
	struct join j = {.format = codec_named("ribbon")->format};

	ck_assert(join_add(&j, &half, NULL));
	ck_assert(join_add(&j, &rest, NULL));
	ck_assert_uint_eq(j.frames, UINT32_MAX);
	ck_assert(!join_add(&j, &rest, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert(!join_add(&j, &twice, NULL));
	ck_assert(join_add(&j, &keys, NULL));
	ck_assert(!join_add(&j, &keys, NULL));
	ck_assert_uint_eq(j.count, 3);
	join_release(&j);
}
END_TEST

/* ---- lists ---- */

static const char *const dialects[] = {
	"file\r\na.anm\r\n\"b c.anm\"\r\n",
	"\xEF\xBB\xBF\"FILE\"\n a.anm \n\n\"b c.anm\"",
	"sep=;\nfile\na.anm\nb c.anm\n",
	",file\n0,a.anm\n1,b c.anm\n",
};

START_TEST(a_list_is_of_any_dialect)
{
	struct anim *a = decode(dialects[_i]);

	ck_assert_uint_eq(a->part_count, 2);
	ck_assert_uint_eq(a->clips[0].frames, 5);
	anim_free(a);
}
END_TEST

static const struct {
	const char *list, *why;
	size_t at;
	bool placed;
} bad[] = {
	{"", "the text is empty", 0, false},
	{"file\n", "the list names no file", 5, true},
	{"name\na.anm\n", "\"name\" is not a column", 0, true},
	{"file\nx.anm\n", "x.anm: it is not there", 5, true},
	{"file\na.anm\n../a.anm\n", "\"../a.anm\" is no file beside the list", 11, true},
	{"file\n/etc/passwd\n", "\"/etc/passwd\" is no file beside the list", 5, true},
	{"file\n..\n", "\"..\" is no file beside the list", 5, true},
	{"file\n.\n", "\".\" is no file beside the list", 5, true},
	{"file\na.anm,b\n", "\"b\" stands in a column without a name", 11, true},
	{"file\na\xFF.anm\n", "this is not UTF-8", 6, true},
};

START_TEST(lists_that_are_none)
{
	struct err err = {.code = ERR_NONE};

	ck_assert_ptr_null(decode_bytes(bytes_of(bad[_i].list), &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_str_eq(err.message, bad[_i].why);
	ck_assert_int_eq(err.placed, bad[_i].placed);
	ck_assert_uint_eq(err.at, bad[_i].at);
}
END_TEST

START_TEST(a_file_that_does_not_decode)
{
	struct err err = {.code = ERR_NONE};

	files[1].bytes.data[1] = 0;
	ck_assert_ptr_null(decode_bytes(bytes_of("file\na.anm\nb c.anm\n"), &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_str_eq(err.message, "b c.anm: byte 0: the file does not begin with 0x8000");
	ck_assert_uint_eq(err.at, 11);
	ck_assert_uint_eq(err.length, 7);
}
END_TEST

START_TEST(without_memory_or_files)
{
	struct err memory = {.code = ERR_NONE}, none = {.code = ERR_NONE};
	const struct bytes list = bytes_of("file\na.anm\n");

	ck_assert_ptr_null(decode_bytes(bytes_of("file\nmemory.anm\n"), &memory));
	ck_assert_int_eq(memory.code, ERR_MEMORY);
	ck_assert_ptr_null(codec_named("sequence")->decode(list, NULL, &none));
	ck_assert_int_eq(none.code, ERR_FORMAT);
	ck_assert_str_eq(none.message, "a.anm: the files beside the list are not at hand");
}
END_TEST

/* A short list may name many files, so their number is limited. */
START_TEST(a_list_has_1024_files_at_most)
{
	struct buf list = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct anim *a;

	buf_text(&list, "file\n");
	for (unsigned i = 0; i < 1024; i++)
		buf_text(&list, "all.anm\n");
	a = decode_bytes(buf_bytes(&list), NULL);
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->clips[0].frames, 1024);
	anim_free(a);
	buf_text(&list, "all.anm\n");
	ck_assert_ptr_null(decode_bytes(buf_bytes(&list), &err));
	ck_assert_uint_eq(reads, 1024);
	ck_assert_uint_eq(err.at, list.size - 8);
	ck_assert_str_eq(err.message, "the list has more than 1024 files");
	buf_release(&list);
}
END_TEST

START_TEST(cut_at_every_length)
{
	static const char list[] = "file\na.anm\n\"b c.anm\"\na.anm\n";

	for (size_t size = 0; size < sizeof(list) - 1; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		struct err err = {.code = ERR_NONE};
		struct anim *a;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, list, size);
		a = decode_bytes((struct bytes){copy, size}, &err);
		ck_assert_int_eq(err.code, a ? ERR_NONE : ERR_FORMAT);
		anim_free(a);
		free(copy);
	}
}
END_TEST

START_TEST(only_a_name_makes_a_list)
{
	const struct codec *codec = codec_for_name("x/Jump.Sequence.CSV");

	ck_assert_ptr_eq(codec, codec_named("sequence"));
	ck_assert_uint_eq(codec_stem(codec, "jump.sequence.csv"), 4);
	ck_assert_uint_eq(codec_stem(codec, "jump.csv"), 4);
	ck_assert_uint_eq(codec_stem(codec, ".sequence.csv"), 9);
	ck_assert_ptr_null(codec_for_name("jump.csv"));
	ck_assert_ptr_null(codec_probe(bytes_of("file\na.anm\n")));
}
END_TEST

START_TEST(nothing_is_written)
{
	struct anim *a = decode("file\na.anm\n");
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert(!codec_named("sequence")->encode(a, bytes_of("file\na.anm\n"), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_str_eq(err.message, a->read_only);
	ck_assert_uint_eq(out.size, 0);
	anim_free(a);
}
END_TEST

Suite *sequence_suite(void);

Suite *sequence_suite(void)
{
	Suite *suite = suite_create("sequence");
	TCase *t = tcase_create("sequence");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, make_files, free_files);
	tcase_add_test(t, frames_are_counted_through);
	tcase_add_test(t, a_file_says_nothing_of_an_object_that_it_has_not);
	tcase_add_test(t, objects_are_in_the_order_of_their_numbers);
	tcase_add_test(t, one_file_and_files_without_frames);
	tcase_add_test(t, a_clip_outlives_the_files);
	tcase_add_test(t, frames_that_cannot_be_counted);
	tcase_add_loop_test(t, a_list_is_of_any_dialect, 0, ARRAY_SIZE(dialects));
	tcase_add_loop_test(t, lists_that_are_none, 0, ARRAY_SIZE(bad));
	tcase_add_test(t, a_file_that_does_not_decode);
	tcase_add_test(t, without_memory_or_files);
	tcase_add_test(t, a_list_has_1024_files_at_most);
	tcase_add_test(t, cut_at_every_length);
	tcase_add_test(t, only_a_name_makes_a_list);
	tcase_add_test(t, nothing_is_written);
	return suite;
}
