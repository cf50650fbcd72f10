/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_view.c - rules for every view, over every sample. */
#include "model/label.h"
#include "sample.h"

#include <math.h>

static void for_each_sample(void (*law)(const struct view *view, const struct shown *at))
{
	for (const char *const *name = sample_names; *name; name++) {
		struct sample s = sample_open(*name);

		for_each_text(&s, law);
		sample_close(&s);
	}
}

START_TEST(views_are_listed_with_what_they_need)
{
	ck_assert_ptr_eq(views[0], &view_raw);
	for (const struct view *const *v = views; *v; v++) {
		ck_assert_ptr_nonnull((*v)->name);
		ck_assert_ptr_nonnull((*v)->file);
		ck_assert_ptr_nonnull((*v)->render);
		for (const struct view *const *w = views; w < v; w++)
			ck_assert((*v)->place != (*w)->place || (*v)->stills != (*w)->stills ||
				  strcmp((*v)->file, (*w)->file) != 0);
	}
}
END_TEST

/* model/label.c has a list of these names of its own, since it is below the layer of views. */
START_TEST(no_clip_is_named_like_a_file_beside_it)
{
	const char *const *name = label_view_files;
	unsigned files = 0;

	for (const struct view *const *v = views; *v; v++) {
		if ((*v)->place != VIEW_OF_FILE)
			continue;
		for (name = label_view_files; *name && strcmp(*name, (*v)->file) != 0;)
			name++;
		ck_assert_msg(*name != NULL, "%s is missing in label_view_files", (*v)->file);
		ck_assert_int_eq((*v)->whole, (*name)[strlen(*name) - 1] == '.');
		files++;
	}
	for (name = label_view_files; *name; name++)
		files--;
	ck_assert_uint_eq(files, 0);
}
END_TEST

static void law_same_text(const struct view *view, const struct shown *at)
{
	struct buf first = view_text(view, at), second = view_text(view, at);

	ck_assert(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
	ck_assert_uint_gt(first.size, 0);
	buf_release(&first);
	buf_release(&second);
}

START_TEST(the_same_text_comes_every_time)
{
	for_each_sample(law_same_text);
}
END_TEST

static void law_plain_text(const struct view *view, const struct shown *at)
{
	struct buf text = view_text(view, at);

	if (!view->whole) {
		ck_assert_int_eq(text.data[text.size - 1], '\n');
		ck_assert_ptr_null(memchr(text.data, '\r', text.size));
		ck_assert_ptr_null(memchr(text.data, '\0', text.size));
	}
	buf_release(&text);
}

START_TEST(texts_are_lines)
{
	for_each_sample(law_plain_text);
}
END_TEST

static void law_get_put(const struct view *view, const struct shown *at)
{
	struct buf text = view_text(view, at), bytes = BUF_INIT;
	struct err err = {0};
	struct anim *edited;

	if (view->parse) {
		edited = view->parse(at, buf_bytes(&text), &err);
		ck_assert_msg(edited != NULL, "%s: %s, clip %u, track %u: %s", at->file_name,
			      view->file, at->clip, at->track, err.message);
		ck_assert_msg(model_same(edited, at->anim), "%s: %s, clip %u, track %u",
			      at->file_name, view->file, at->clip, at->track);
		ck_assert(
			codec_named(at->anim->format->name)->encode(edited, at->raw, &bytes, &err));
		ck_assert(bytes_equal(buf_bytes(&bytes), at->raw));
		anim_free(edited);
	}
	buf_release(&bytes);
	buf_release(&text);
}

START_TEST(saving_a_views_own_text_changes_nothing)
{
	for_each_sample(law_get_put);
}
END_TEST

/* Returns whether a cut is evident in the text: in JSON and XML it is, in a table not. */
static bool closes_itself(const struct view *view)
{
	return view->parse && (strstr(view->file, "json") || strstr(view->file, "kanim"));
}

static void law_beginnings(const struct view *view, const struct shown *at)
{
	struct buf text = view_text(view, at);

	for (size_t size = 0; closes_itself(view) && size + 1 < text.size; size++) {
		struct err err = {0};
		uint8_t *exact = malloc(size + 1);

		ck_assert_ptr_nonnull(exact);
		memcpy(exact, text.data, size);
		exact = realloc(exact, size ? size : 1);
		ck_assert_ptr_null(view->parse(at, (struct bytes){exact, size}, &err));
		ck_assert_msg(err.code == (size ? ERR_EARLY : ERR_EMPTY), "%s: %s cut at %zu: %s",
			      at->file_name, view->file, size, err.message);
		free(exact);
	}
	buf_release(&text);
}

START_TEST(the_beginning_of_a_text_is_no_save)
{
	for_each_sample(law_beginnings);
}
END_TEST

/*
 * Damages the text at random: it is refused with a reason and a place in the text, or gives a model
 * that can be shown.
 */
static void law_damage(const struct view *view, const struct shown *at)
{
	static const char alphabet[] =
		"{}[]\"':,;<>/=&0123456789.-+eEnulltruefalse \n\t\xC3\xA9\xFF";
	struct buf text = view_text(view, at);

	for (int round = 0; view->parse && round < 60; round++) {
		struct err err = {0};
		size_t size = text.size, at_byte = (size_t)rand() % size;
		uint8_t *copy = malloc(size);
		struct anim *edited;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text.data, size);
		for (int i = rand() % 3; i >= 0; i--)
			copy[(at_byte + (size_t)rand() % 8) % size] =
				(uint8_t)alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		edited = view->parse(at, (struct bytes){copy, size}, &err);
		if (edited) {
			struct shown now = *at;
			struct buf out;

			now.anim = edited;
			out = view_text(view, &now);
			buf_release(&out);
		} else {
			ck_assert(err.code != ERR_NONE && err.code != ERR_MEMORY);
			ck_assert(err.message[0]);
			ck_assert_uint_le(err.at, size);
		}
		anim_free(edited);
		free(copy);
	}
	buf_release(&text);
}

START_TEST(damaged_texts_are_refused_or_mean_something)
{
	srand((unsigned)_i);
	for_each_sample(law_damage);
}
END_TEST

START_TEST(raw_is_the_file_itself)
{
	struct sample s = sample_open("odd512.canm");
	struct shown at = sample_shown(&s, 0, NULL);
	struct buf out = BUF_INIT;

	view_raw.render(&at, &out);
	ck_assert(bytes_equal(buf_bytes(&out), buf_bytes(&s.bytes)));
	ck_assert(view_raw.whole);
	ck_assert_ptr_null(view_raw.parse);
	buf_release(&out);
	sample_close(&s);
}
END_TEST

Suite *view_suite(void);

Suite *view_suite(void)
{
	Suite *s = suite_create("view");
	TCase *t = tcase_create("view");

	suite_add_tcase(s, t);
	tcase_add_test(t, views_are_listed_with_what_they_need);
	tcase_add_test(t, no_clip_is_named_like_a_file_beside_it);
	tcase_add_test(t, the_same_text_comes_every_time);
	tcase_add_test(t, texts_are_lines);
	tcase_add_test(t, saving_a_views_own_text_changes_nothing);
	tcase_add_test(t, the_beginning_of_a_text_is_no_save);
	tcase_add_loop_test(t, damaged_texts_are_refused_or_mean_something, 0, 4);
	tcase_add_test(t, raw_is_the_file_itself);
	return s;
}
