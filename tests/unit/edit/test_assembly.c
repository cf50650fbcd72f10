/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of texts: copies of clips within a file, in new files, with edits, cut short. */
#include "edit/assembly.h"
#include "edit/structure.h"
#include "sample.h"

#define TEXTS_MAX 4096

/* The texts of a clip's folder, as cp -r leaves them. */
struct folder_texts {
	struct assembly_text texts[TEXTS_MAX];
	size_t count;
};

static void add_text(struct folder_texts *f, const char *path, struct buf text)
{
	ck_assert_uint_lt(f->count, TEXTS_MAX);
	f->texts[f->count++] =
		(struct assembly_text){.path = strdup(path), .text = buf_bytes(&text)};
}

static struct folder_texts *copy_out(const struct sample *s, uint32_t clip)
{
	struct folder_texts *f = calloc(1, sizeof(*f));
	struct shown at = sample_shown(s, clip, NULL);
	char path[600];

	for (at.track = 0; at.track < s->anim->clips[clip].track_count; at.track++) {
		const char *label = s->anim->clips[clip].tracks[at.track].label;

		snprintf(path, sizeof(path), "bones/%s.json", label);
		add_text(f, path, view_text(&view_bone_json, &at));
		snprintf(path, sizeof(path), "bones/%s.csv", label);
		add_text(f, path, view_text(&view_bone_csv, &at));
	}
	add_text(f, "clip.json", view_text(&view_clip_json, &at));
	add_text(f, "curves.csv", view_text(&view_curves_csv, &at));
	add_text(f, "clip.kanim", view_text(&view_kanim, &at));
	return f;
}

static struct assembly_text *text_at(struct folder_texts *f, const char *path)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->texts[i].path, path) == 0)
			return &f->texts[i];
	ck_abort_msg("no %s", path);
	return NULL;
}

static void set_text(struct folder_texts *f, const char *path, const char *text)
{
	struct assembly_text *at = text_at(f, path);

	free((void *)at->text.data);
	at->text = bytes_of(strdup(text));
}

static void edit_text(struct folder_texts *f, const char *path, const char *was, const char *is)
{
	char *text = text_edit((const char *)text_at(f, path)->text.data, was, is);

	set_text(f, path, text);
	free(text);
}

static void drop_text(struct folder_texts *f, const char *path)
{
	struct assembly_text *at = text_at(f, path);

	free((void *)at->path);
	free((void *)at->text.data);
	*at = f->texts[--f->count];
}

static void free_texts(struct folder_texts *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free((void *)f->texts[i].path);
		free((void *)f->texts[i].text.data);
	}
	free(f);
}

static void all_are(const struct folder_texts *f, enum assembly_fate fate)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct assembly_text *t = &f->texts[i];

		ck_assert_msg(t->fate == fate || t->fate == ASSEMBLY_GENERATED, "%s: %d: %s",
			      t->path, t->fate, t->err.message);
	}
}

static void assemble(struct assembly *assembly, const char *label, struct folder_texts *f)
{
	struct err err = {0};

	ck_assert_msg(assembly_clip(assembly, label, f->texts, f->count, &err), "%s", err.message);
}

/* Stores the model that was filled from texts as a new file. */
static struct sample store_new(const struct sample *like, const struct assembly *assembly)
{
	struct buf bytes = BUF_INIT;
	struct err err = {0};
	struct sample stored;

	ck_assert_msg(like->codec->encode(assembly_model(assembly), (struct bytes){NULL, 0}, &bytes,
					  &err),
		      "%s: %s", like->name, err.message);
	stored = sample_decode(like->name, bytes);
	ck_assert_msg(anim_stored(assembly_model(assembly), NULL, stored.anim, &err), "%s: %s",
		      like->name, err.message);
	return stored;
}

static void texts_same(const struct view *view, const struct shown *a, const struct shown *b)
{
	struct buf x = view_text(view, a), y = view_text(view, b);

	ck_assert_str_eq((const char *)x.data, (const char *)y.data);
	buf_release(&x);
	buf_release(&y);
}

START_TEST(a_copy_in_the_file_has_the_stored_curves)
{
	struct sample s = sample_open(sample_names[_i]), stored;
	struct folder_texts *f = copy_out(&s, 0);
	struct assembly *assembly = assembly_new(s.anim, s.name);
	const struct clip *was = &s.anim->clips[0], *now;

	assemble(assembly, "a copy", f);
	all_are(f, ASSEMBLY_USED);
	stored = sample_store(&s, assembly_model(assembly));
	now = &stored.anim->clips[stored.anim->clip_count - 1];
	ck_assert_str_eq(now->name, "a copy");
	ck_assert_uint_eq(stored.anim->clip_count, s.anim->clip_count + 1);
	ck_assert_uint_eq(now->frames, was->frames);
	ck_assert(f32_bits(now->frame_time) == f32_bits(was->frame_time));
	ck_assert(f32_bits(now->duration) == f32_bits(was->duration));
	ck_assert_int_eq(now->loop, was->loop);
	ck_assert_uint_eq(now->track_count, was->track_count);
	for (uint32_t i = 0; i < was->track_count; i++) {
		ck_assert_str_eq(now->tracks[i].name, was->tracks[i].name);
		for (int role = 0; role < ROLE_COUNT; role++)
			ck_assert(
				curve_same(now->tracks[i].curve[role], was->tracks[i].curve[role]));
	}
	sample_close(&stored);
	assembly_free(assembly);
	free_texts(f);
	sample_close(&s);
}
END_TEST

/* Samples whose texts are complete, since all numbers are finite and all quaternions valid. */
static const char *const new_files[] = {"wiki512.canm",
					"odd512.canm",
					"small.006",
					"frames007_low.ff9anim",
					"frames008_nolow.ff9anim",
					"duplicate.anm",
					"empty_mid.anm"};

/* Texts of each kind, without the other kinds, give all curves. */
START_TEST(a_new_file_says_what_the_texts_said)
{
	static const char *const drops[] = {"", "csv", "json", "both"};
	struct sample s = sample_open(new_files[_i]), stored;
	struct anim *blank;

	for (size_t d = 0; d < ARRAY_SIZE(drops); d++) {
		struct folder_texts *f = copy_out(&s, 0);
		struct shown was = sample_shown(&s, 0, NULL), now;
		struct assembly *assembly;

		for (size_t i = f->count; *drops[d] && i-- > 0;) {
			const char *path = f->texts[i].path, *dot = strrchr(path, '.') + 1;

			if (strncmp(path, "bones/", 6) == 0 &&
			    (strcmp(drops[d], "both") == 0 || strcmp(drops[d], dot) == 0))
				drop_text(f, path);
		}
		blank = anim_blank(s.codec->format, NULL);
		assembly = assembly_new(blank, s.name);
		assemble(assembly, was.anim->clips[0].label, f);
		all_are(f, ASSEMBLY_USED);
		stored = store_new(&s, assembly);
		now = sample_shown(&stored, 0, NULL);
		texts_same(&view_clip_json, &was, &now);
		ck_assert_uint_eq(stored.anim->clips[0].track_count, s.anim->clips[0].track_count);
		sample_close(&stored);
		assembly_free(assembly);
		anim_free(blank);
		free_texts(f);
	}
	sample_close(&s);
}
END_TEST

static struct sample walk;
static struct folder_texts *folder;
static struct assembly *assembly;

static void setup(void)
{
	walk = sample_open("wiki512.canm");
	folder = copy_out(&walk, 0);
	assembly = assembly_new(walk.anim, walk.name);
}

static void teardown(void)
{
	assembly_free(assembly);
	free_texts(folder);
	sample_close(&walk);
}

static const struct clip *made(void)
{
	return &assembly_model(assembly)->clips[assembly_model(assembly)->clip_count - 1];
}

START_TEST(a_csv_goes_before_a_json_before_curves)
{
	edit_text(folder, "curves.csv", "0,0,1.5,-2,", "0,0,4,-2,");
	edit_text(folder, "bones/Bone01.json", "1.5", "3");
	assemble(assembly, "new", folder);
	all_are(folder, ASSEMBLY_USED);
	ck_assert(curve_value(made()->tracks[1].curve[0], 0, 0) == 1.5);
	drop_text(folder, "bones/Bone01.csv");
	assemble(assembly, "new2", folder);
	ck_assert(curve_value(made()->tracks[1].curve[0], 0, 0) == 3);
	drop_text(folder, "bones/Bone01.json");
	assemble(assembly, "new3", folder);
	ck_assert(curve_value(made()->tracks[1].curve[0], 0, 0) == 4);
}
END_TEST

START_TEST(what_is_refused_leaves_the_rest)
{
	edit_text(folder, "bones/Bone01.csv", "1.5", "1..5");
	edit_text(folder, "bones/hip.json", "{", "");
	assemble(assembly, "new", folder);
	ck_assert_int_eq(text_at(folder, "bones/Bone01.csv")->fate, ASSEMBLY_REFUSED);
	ck_assert_ptr_nonnull(strstr(text_at(folder, "bones/Bone01.csv")->err.message, "1..5"));
	ck_assert_int_eq(text_at(folder, "bones/hip.json")->fate, ASSEMBLY_REFUSED);
	ck_assert_uint_eq(made()->track_count, walk.anim->clips[0].track_count);
	ck_assert(curve_same(made()->tracks[1].curve[0], walk.anim->clips[0].tracks[1].curve[0]));
}
END_TEST

START_TEST(without_a_clip_json_the_texts_tell_the_length)
{
	struct sample stored;

	drop_text(folder, "clip.json");
	assemble(assembly, "new", folder);
	ck_assert_uint_eq(made()->frames, walk.anim->clips[0].frames);
	ck_assert(made()->frame_time == walk.anim->clips[0].frame_time);
	stored = sample_store(&walk, assembly_model(assembly));
	sample_close(&stored);
}
END_TEST

START_TEST(nothing_makes_an_empty_clip)
{
	struct sample stored;

	while (folder->count)
		drop_text(folder, folder->texts[0].path);
	assemble(assembly, "new", folder);
	ck_assert_uint_eq(made()->frames, 1);
	ck_assert_uint_eq(made()->track_count, 0);
	stored = sample_store(&walk, assembly_model(assembly));
	ck_assert_str_eq(stored.anim->clips[stored.anim->clip_count - 1].label, "new");
	sample_close(&stored);
}
END_TEST

START_TEST(a_name_that_is_taken_or_impossible_is_refused)
{
	struct err err = {0};

	ck_assert(!assembly_clip(assembly, "a:b", folder->texts, folder->count, &err));
	ck_assert_ptr_nonnull(strstr(err.accepted, "a%3Ab"));
	ck_assert_ptr_eq(assembly_model(assembly), walk.anim);
	err_clear(&err);
	ck_assert(!assembly_clip(assembly, "file.json", folder->texts, folder->count, &err));
}
END_TEST

START_TEST(clip_json_counts_as_a_save)
{
	edit_text(folder, "clip.json", "\"loop\": true", "\"loop\": false");
	edit_text(folder, "clip.json", "\"frames\": 3", "\"frames\": 5");
	assemble(assembly, "new", folder);
	all_are(folder, ASSEMBLY_USED);
	ck_assert(!made()->loop);
	ck_assert_uint_eq(made()->frames, 5);
}
END_TEST

START_TEST(the_order_is_that_of_clip_json)
{
	char *first = strdup("{\"bone\": \"Scene_Root\", \"name\": \"Scene_Root\"},\n    "
			     "{\"bone\": \"Bone01\", \"name\": \"Bone01\"}");

	edit_text(folder, "clip.json", first,
		  "{\"bone\": \"Bone01\", \"name\": \"Bone01\"},\n    "
		  "{\"bone\": \"Scene_Root\", \"name\": \"Scene_Root\"}");
	free(first);
	assemble(assembly, "new", folder);
	all_are(folder, ASSEMBLY_USED);
	ck_assert_str_eq(made()->tracks[0].label, "Bone01");
	ck_assert_str_eq(made()->tracks[1].label, "Scene_Root");
}
END_TEST

/*
 * The texts of every format become a new clip of a CANM: keys keep their frames, and their values
 * are held.
 */
static const char *const foreign[] = {"small.006", "frames007_low.ff9anim", "empty_mid.anm"};

START_TEST(texts_of_another_format_are_converted)
{
	struct sample from = sample_open(foreign[_i]), stored;
	struct folder_texts *f = copy_out(&from, 0);
	const struct clip *was = &from.anim->clips[0];
	double seconds = (was->frames - 1) * anim_seconds_per_frame(from.anim, was);

	assemble(assembly, "new", f);
	stored = sample_store(&walk, assembly_model(assembly));
	ck_assert_uint_eq(made()->frames, was->frames);
	ck_assert_uint_eq(made()->track_count, was->track_count);
	ck_assert_double_eq_tol((made()->frames - 1) * anim_seconds_per_frame(walk.anim, made()),
				seconds, 1e-6);
	for (uint32_t i = 0; i < was->track_count; i++) {
		const struct curve *a = was->tracks[i].curve[ROLE_TRANSLATION];
		const struct curve *b = made()->tracks[i].curve[ROLE_TRANSLATION];

		ck_assert_str_eq(was->tracks[i].label, made()->tracks[i].label);
		ck_assert((a != NULL) == (b != NULL));
		for (uint32_t key = 0; a && key < a->count; key++) {
			double value[4];

			curve_sample(b, curve_frame(a, key), value);
			ck_assert_double_eq_tol(value[0], curve_value(a, key, 0), 1e-6);
		}
	}
	sample_close(&stored);
	free_texts(f);
	sample_close(&from);
}
END_TEST

Suite *assembly_suite(void)
{
	Suite *s = suite_create("assembly");
	TCase *tc = tcase_create("assembly");

	/*
	 * Loops over the CANM samples except the one whose times are NaN: a new clip needs times.
	 */
	tcase_add_loop_test(tc, a_copy_in_the_file_has_the_stored_curves, 0, 3);
	tcase_add_loop_test(tc, a_new_file_says_what_the_texts_said, 0, (int)ARRAY_SIZE(new_files));
	suite_add_tcase(s, tc);
	tc = tcase_create("one clip");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, texts_of_another_format_are_converted, 0, (int)ARRAY_SIZE(foreign));
	tcase_add_test(tc, a_csv_goes_before_a_json_before_curves);
	tcase_add_test(tc, what_is_refused_leaves_the_rest);
	tcase_add_test(tc, without_a_clip_json_the_texts_tell_the_length);
	tcase_add_test(tc, nothing_makes_an_empty_clip);
	tcase_add_test(tc, a_name_that_is_taken_or_impossible_is_refused);
	tcase_add_test(tc, clip_json_counts_as_a_save);
	tcase_add_test(tc, the_order_is_that_of_clip_json);
	suite_add_tcase(s, tc);
	return s;
}
