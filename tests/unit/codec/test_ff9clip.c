/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The codec of Final Fantasy IX's clips (Steam). The contents of the samples stand beside them,
 * written by their maker, which shares no code with the codec.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "model/clip.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const samples[] = {"walk",      "odd",        "floats",  "no_tail",
				      "walk_json", "walk_json6", "json_odd"};
static const char *const bad[] = {"bad_bom", "bad_curves", "bad_cut", "bad_json", "bad_packed"};

static const struct codec *codec(void)
{
	return codec_named("ff9clip");
}

static struct buf load_sample(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/data/ff9clip/%s.anim", name);
	return load_file(path);
}

static json_t *load_expected(const char *name)
{
	char path[128];
	json_error_t error;
	json_t *wanted;

	snprintf(path, sizeof(path), "tests/data/ff9clip/%s.expect.json", name);
	wanted = json_load_file(path, 0, &error);
	ck_assert_msg(wanted != NULL, "%s: %s", path, error.text);
	return wanted;
}

/* ---- the contents of the samples ---- */

static void ck_number(float is, const json_t *wanted, const char *what)
{
	const char *text = json_string_value(wanted);
	float number = (float)json_number_value(wanted);

	if (text)
		number = strtof(text, NULL);
	ck_assert_msg(isnan(is) ? isnan(number) : f32_bits(is) == f32_bits(number),
		      "%s: %.9g, not %.9g", what, (double)is, (double)number);
}

/* Checks a key: the time, value and tangents, in the order of the file. */
static void ck_key(const struct curve *c, uint32_t key, const json_t *wanted, const char *path)
{
	unsigned width = curve_width(c);

	ck_assert_uint_eq(json_array_size(wanted), 1 + 3 * width);
	ck_number(curve_time(c, key), json_array_get(wanted, 0), path);
	for (unsigned axis = 0; axis < width; axis++) {
		ck_number((float)curve_value(c, key, axis), json_array_get(wanted, 1 + axis), path);
		ck_number(curve_tangent(c, key, TANGENT_IN, axis),
			  json_array_get(wanted, 1 + width + axis), path);
		ck_number(curve_tangent(c, key, TANGENT_OUT, axis),
			  json_array_get(wanted, 1 + 2 * width + axis), path);
	}
}

static const struct track *track_of(const struct anim *a, const char *path)
{
	for (uint32_t i = 0; i < a->clips->track_count; i++)
		if (strcmp(a->clips->tracks[i].name, path) == 0)
			return &a->clips->tracks[i];
	ck_abort_msg("no bone \"%s\"", path);
}

static void ck_curves(const struct anim *a, const json_t *list, enum role role)
{
	size_t i, k;
	json_t *wanted, *key;

	json_array_foreach(list, i, wanted)
	{
		const char *path = json_string_value(json_object_get(wanted, "path"));
		const json_t *keys = json_object_get(wanted, "keys");
		const struct curve *c = track_of(a, path)->curve[role];

		ck_assert_msg(json_array_size(keys) == (c ? c->count : 0), "%s: %zu keys", path,
			      json_array_size(keys));
		json_array_foreach(keys, k, key) ck_key(c, (uint32_t)k, key, path);
	}
}

static const struct field *field_of(const struct anim *a, const char *name)
{
	for (uint32_t i = 0; i < a->clips->field_count; i++)
		if (strcmp(a->clips->fields[i].name, name) == 0)
			return &a->clips->fields[i];
	return NULL;
}

static bool is_between(const struct anim *a)
{
	bool between = false;

	for (uint32_t i = 0; i < a->clips->track_count; i++)
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = a->clips->tracks[i].curve[role];

			between |= c && c->timing->between;
		}
	return between;
}

START_TEST(the_samples_hold_what_stands_beside_them)
{
	const char *name = samples[_i];
	struct buf file = load_sample(name);
	struct anim *a = decode_labelled(codec(), buf_bytes(&file));
	json_t *wanted = load_expected(name), *grid = json_object_get(wanted, "on_grid");
	const json_t *wrap = json_object_get(wanted, "wrap");
	const char *tail = json_string_value(json_object_get(wanted, "tail"));
	const char *inner = json_string_value(json_object_get(wanted, "name"));

	ck_assert_str_eq(field_of(a, "form")->text,
			 json_string_value(json_object_get(wanted, "form")));
	ck_assert_str_eq(field_of(a, "name")->text, inner ? inner : "");
	ck_number((float)field_of(a, "rate")->real, json_object_get(wanted, "rate"), "rate");
	if (json_is_integer(wrap))
		ck_assert_int_eq(field_of(a, "wrap")->integer, json_integer_value(wrap));
	if (tail)
		ck_assert_str_eq(field_of(a, "tail")->text,
				 strcmp(tail, "default") == 0 ? "usual" : tail);
	ck_curves(a, json_object_get(wanted, "rotation"), ROLE_ROTATION);
	ck_curves(a, json_object_get(wanted, "position"), ROLE_TRANSLATION);
	ck_curves(a, json_object_get(wanted, "scale"), ROLE_SCALE);
	if (grid)
		ck_assert_int_eq(is_between(a), !json_is_true(grid));
	ck_assert_str_eq(field_of(a, "grid")->text, is_between(a) ? "times" : "frames");
	ck_assert(a->read_only == NULL);
	json_decref(wanted);
	anim_free(a);
	buf_release(&file);
}
END_TEST

static void ck_comes_back(struct bytes file)
{
	struct anim *a = decode_labelled(codec(), file);
	struct buf out = encode_ok(codec(), a, file);

	ck_assert(bytes_equal(buf_bytes(&out), file));
	buf_release(&out);
	anim_free(a);
}

START_TEST(what_nobody_edited_comes_back)
{
	struct buf file = load_sample(samples[_i]);

	ck_comes_back(buf_bytes(&file));
	buf_release(&file);
}
END_TEST

START_TEST(bad_files_are_refused)
{
	struct buf file = load_sample(bad[_i]);
	struct err err = {.code = ERR_NONE};

	ck_assert(codec()->decode(buf_bytes(&file), NULL, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert(err.placed && err.at <= file.size);
	ck_assert(!codec()->probe(buf_bytes(&file)));
	buf_release(&file);
}
END_TEST

START_TEST(samples_are_recognised)
{
	struct buf file = load_sample(samples[_i]);

	ck_assert(codec_probe(buf_bytes(&file)) == codec());
	buf_release(&file);
}
END_TEST

/*
 * Decodes bytes from a block of exactly their size, so that a sanitizer detects reads past the end.
 */
static void try_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + !size);
	struct bytes src = {copy, size};
	struct err err = {.code = ERR_NONE};
	struct anim *a;

	if (size)
		memcpy(copy, data, size);
	a = codec()->decode(src, NULL, &err);
	codec()->probe(src);
	if (a) {
		ck_comes_back(src);
		anim_free(a);
	} else {
		ck_assert_int_ne(err.code, ERR_NONE);
	}
	free(copy);
}

START_TEST(a_file_cut_anywhere_is_refused_or_whole)
{
	struct buf file = load_sample(samples[_i]);

	for (size_t size = 0; size < file.size; size++)
		try_bytes(file.data, size);
	buf_release(&file);
}
END_TEST

START_TEST(a_file_with_any_byte_changed_is_refused_or_whole)
{
	static const uint8_t values[] = {0, 1, 0x7F, 0xFF};
	struct buf file = load_sample(samples[_i]);

	for (size_t at = 0; at < file.size; at++) {
		uint8_t was = file.data[at];

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			file.data[at] = v == 1 ? was ^ 1 : values[v];
			try_bytes(file.data, file.size);
		}
		file.data[at] = was;
	}
	buf_release(&file);
}
END_TEST

/* ---- edits ---- */

/* Encodes an edit and checks that the new file holds it. */
static struct buf store(const struct anim *edited, const struct anim *old, struct bytes file)
{
	struct buf out = encode_ok(codec(), edited, file);
	struct anim *stored = decode_labelled(codec(), buf_bytes(&out));
	struct err err = {.code = ERR_NONE};

	ck_assert_msg(anim_stored(edited, old, stored, &err), "%s", err.message);
	anim_free(stored);
	return out;
}

static void ck_stores(struct anim *edited, const struct anim *a, const struct buf *file)
{
	struct buf out = store(edited, a, buf_bytes(file));

	ck_comes_back(buf_bytes(&out));
	buf_release(&out);
}

static size_t first_difference(const struct buf *a, const struct buf *b)
{
	size_t at = 0;

	while (at < a->size && at < b->size && a->data[at] == b->data[at])
		at++;
	return at;
}

START_TEST(a_field_changes_its_own_bytes)
{
	static const struct {
		const char *sample, *field;
		double value;
		size_t bytes; /* number of bytes that may differ, from the first difference on */
	} cases[] = {{"walk", "rate", 25, 4},
		     {"walk", "wrap", 4, 4},
		     {"odd", "rate", 60, 4},
		     {"no_tail", "rate", 1, 4}};
	struct buf file = load_sample(cases[_i].sample), out;
	struct anim *a = decode_labelled(codec(), buf_bytes(&file)), *edited = anim_edit(a);
	struct clip *clip = anim_edit_clip(edited, 0);
	bool found;
	struct field *field = clip_edit_field(edited, clip, cases[_i].field, &found);
	size_t at;

	ck_assert(found && field);
	field->integer = (int64_t)cases[_i].value;
	field->real = cases[_i].value;
	out = store(edited, a, buf_bytes(&file));
	at = first_difference(&out, &file);
	ck_assert_uint_eq(out.size, file.size);
	ck_assert_uint_lt(at, file.size);
	at += cases[_i].bytes;
	ck_assert(at >= file.size || memcmp(out.data + at, file.data + at, file.size - at) == 0);
	buf_release(&out);
	anim_free(edited);
	anim_free(a);
	buf_release(&file);
}
END_TEST

/* Both forms of a file, binary and JSON, have the same content after a bone is removed. */
START_TEST(a_bone_is_removed_from_either_form)
{
	struct buf file = load_sample(samples[_i]);
	struct anim *a = decode_labelled(codec(), buf_bytes(&file));

	for (uint32_t gone = 0; gone < a->clips->track_count; gone++) {
		struct anim *edited = anim_edit(a);
		struct clip *clip = anim_edit_clip(edited, 0);
		struct track *tracks = (struct track *)clip->tracks;

		memmove(tracks + gone, tracks + gone + 1,
			(--clip->track_count - gone) * sizeof(*tracks));
		ck_stores(edited, a, &file);
		anim_free(edited);
	}
	anim_free(a);
	buf_release(&file);
}
END_TEST

/*
 * Without json_odd: the first bone of that has keys that lack components, which no new curve can
 * have.
 */
START_TEST(bones_are_added_and_renamed_in_either_form)
{
	struct buf file = load_sample(samples[_i]);
	struct anim *a = decode_labelled(codec(), buf_bytes(&file)), *edited = anim_edit(a);
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track added[2] = {clip_new_track(edited, clip), clip_new_track(edited, clip)};

	added[0].name = added[0].label = "z\"new";
	added[1].name = "zz/new";
	added[1].label = "new";
	added[1].curve[ROLE_ROTATION] = a->clips->tracks[0].curve[ROLE_ROTATION];
	((struct track *)clip->tracks)[clip->track_count - 1].name = "y/other";
	ck_assert(clip_add_tracks(edited, clip, added, 2));
	ck_stores(edited, a, &file);
	anim_free(edited);
	anim_free(a);
	buf_release(&file);
}
END_TEST

/* All curves of all bones are removed, one by one; the bones stay. */
START_TEST(curves_are_removed_and_bones_stay)
{
	struct buf file = load_sample(samples[_i]);
	struct anim *a = decode_labelled(codec(), buf_bytes(&file)), *edited = anim_edit(a);

	for (uint32_t i = 0; i < a->clips->track_count; i++) {
		struct track *t = anim_edit_track(edited, 0, i);

		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			t->curve[role] = NULL;
			ck_stores(edited, a, &file);
		}
	}
	anim_free(edited);
	anim_free(a);
	buf_release(&file);
}
END_TEST

/* A curve without tangents, as copied from other formats, is linear between keys. */
START_TEST(a_curve_without_tangents_is_linear)
{
	static const uint32_t frames[] = {0, 3, 4};
	static const double values[] = {0, 0, 0, 3, 6, -3, 3, 5, 0};
	struct curve c = {.kind = CURVE_VECTOR,
			  .keyed = true,
			  .count = 3,
			  .frames = frames,
			  .values = values};
	struct track track = {.name = "a/b",
			      .label = "b",
			      .origin = ANIM_NEW,
			      .roles = 7,
			      .rotation = CURVE_QUATERNION,
			      .curve = {[ROLE_TRANSLATION] = &c}};
	struct clip clip = {.name = "",
			    .label = "new",
			    .origin = ANIM_NEW,
			    .frames = 5,
			    .frame_time = 1,
			    .track_count = 1,
			    .tracks = &track};
	struct anim made = {.format = codec()->format, .rate = 10, .clip_count = 1, .clips = &clip};
	struct buf out = store(&made, NULL, (struct bytes){NULL, 0});
	struct anim *a = decode_labelled(codec(), buf_bytes(&out));
	const struct curve *got = a->clips->tracks[0].curve[ROLE_TRANSLATION];
	double pose[4];

	ck_assert_str_eq(field_of(a, "tail")->text, "usual");
	ck_assert_uint_eq(a->clips->frames, 5);
	ck_assert_float_eq_tol(curve_tangent(got, 1, TANGENT_IN, 0), 10, 1e-5f);
	ck_assert_float_eq_tol(curve_tangent(got, 1, TANGENT_OUT, 1), -10, 1e-5f);
	curve_sample(got, 1.5, pose);
	ck_assert_double_eq_tol(pose[0], 1.5, 1e-6);
	ck_assert_double_eq_tol(pose[1], 3, 1e-6);
	ck_comes_back(buf_bytes(&out));
	anim_free(a);
	buf_release(&out);
}
END_TEST

/* Only the numbers that changed are rewritten. */
START_TEST(json_keeps_its_text)
{
	static const char text[] =
		"{\"frameRate\": \"30.0\", \"more\": [1, {}],\n\"transform\": "
		"[ {\"bone\":\"a\",  \"localScale\" : [ {\"time\":0.0,\"x\": 1.00, "
		"\"y\":1, \"z\": 1e0}, {\"x\": 3}, {\"time\": 1, \"x\": 2, \"y\": "
		"2.50, \"z\": 2} ]} ]}\n";
	struct bytes file = bytes_of(text);
	struct anim *a = decode_labelled(codec(), file), *edited = anim_edit(a);
	struct track *t = anim_edit_track(edited, 0, 0);
	struct curve c = *t->curve[ROLE_SCALE];
	double values[6] = {1, 1, 1, 2, 0.25, 2};
	struct buf out;
	char *wanted;

	c.stored = NULL;
	c.values = values;
	t->curve[ROLE_SCALE] = &c;
	out = store(edited, a, file);
	buf_char(&out, '\0');
	wanted = strstr((char *)out.data, "0.25");
	ck_assert_msg(wanted != NULL, "%s", (char *)out.data);
	memmove(wanted + 4, wanted + 4, strlen(wanted + 4) + 1);
	ck_assert_uint_eq(strlen((char *)out.data), strlen(text));
	memcpy(wanted, "2.50", 4);
	ck_assert_str_eq((char *)out.data, text);
	buf_release(&out);
	anim_free(edited);
	anim_free(a);
}
END_TEST

START_TEST(times_that_are_no_numbers_make_a_file_read_only)
{
	struct buf file = load_sample("walk"), out = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct anim *a, *edited;
	size_t at = 4 + 20 + 4 + 4 + 4; /* offset of the time of the first key */

	put_u32(file.data + at, 0x7FC00001);
	ck_comes_back(buf_bytes(&file));
	a = decode_labelled(codec(), buf_bytes(&file));
	ck_assert(a->read_only != NULL);
	edited = anim_edit(a);
	anim_edit_track(edited, 0, 1)->curve[ROLE_ROTATION] = NULL;
	ck_assert(!codec()->encode(edited, buf_bytes(&file), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, "read-only"), "%s", err.message);
	buf_release(&out);
	anim_free(edited);
	anim_free(a);
	buf_release(&file);
}
END_TEST

/* Keys that are stored out of order stay in this order when one of them is removed. */
START_TEST(the_order_of_keys_stays)
{
	static const char text[] = "{\"transform\": [{\"bone\": \"a\", \"localScale\": ["
				   "{\"time\": 2, \"x\": 1}, {\"time\": 0, \"x\": 2}, "
				   "{\"time\": 1, \"x\": 3}]}]}";
	static const char wanted[] = "{\"transform\": [{\"bone\": \"a\", \"localScale\": ["
				     "{\"time\": 2, \"x\": 1}, {\"time\": 1, \"x\": 3}]}]}";
	struct bytes file = bytes_of(text);
	struct anim *a = decode_labelled(codec(), file), *edited = anim_edit(a);
	struct track *t = anim_edit_track(edited, 0, 0);
	struct curve c = *t->curve[ROLE_SCALE];
	struct curve_timing timing = *c.timing;
	struct buf out;

	ck_assert_uint_eq(c.count, 3);
	ck_assert(f64_same(curve_value(&c, 0, 0), 2) && f64_same(curve_value(&c, 2, 0), 1));
	timing.times += 4;
	timing.tangents += 24;
	c.timing = &timing;
	c.stored += 12;
	c.frames++;
	c.count--;
	t->curve[ROLE_SCALE] = &c;
	out = store(edited, a, file);
	ck_assert(bytes_equal(buf_bytes(&out), bytes_of(wanted)));
	buf_release(&out);
	anim_free(edited);
	anim_free(a);
}
END_TEST

Suite *ff9clip_suite(void);

Suite *ff9clip_suite(void)
{
	Suite *s = suite_create("ff9clip");
	TCase *t = tcase_create("ff9clip");
	int count = ARRAY_SIZE(samples);

	tcase_add_loop_test(t, the_samples_hold_what_stands_beside_them, 0, count);
	tcase_add_loop_test(t, what_nobody_edited_comes_back, 0, count);
	tcase_add_loop_test(t, bad_files_are_refused, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(t, samples_are_recognised, 0, count);
	tcase_add_loop_test(t, a_file_cut_anywhere_is_refused_or_whole, 0, count);
	tcase_add_loop_test(t, a_file_with_any_byte_changed_is_refused_or_whole, 0, count);
	tcase_add_loop_test(t, a_field_changes_its_own_bytes, 0, 4);
	tcase_add_loop_test(t, a_bone_is_removed_from_either_form, 0, count);
	tcase_add_loop_test(t, bones_are_added_and_renamed_in_either_form, 0, count - 1);
	tcase_add_loop_test(t, curves_are_removed_and_bones_stay, 0, count);
	tcase_add_test(t, a_curve_without_tangents_is_linear);
	tcase_add_test(t, json_keeps_its_text);
	tcase_add_test(t, times_that_are_no_numbers_make_a_file_read_only);
	tcase_add_test(t, the_order_of_keys_stays);
	suite_add_tcase(s, t);
	return s;
}
