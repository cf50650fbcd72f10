/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FIRST_CLIP_OF "wiki512.canm"
#include "first_clip.h"

#include "model/said.h"
#include "random.h"
#include "view/bone_plain.h"

static void switch_to(const char *name)
{
	sample_close(&s);
	s = sample_open(name);
	at = sample_shown(&s, 0, NULL);
}

static const struct track *track_in(const struct anim *a, const char *label)
{
	const struct track *track = track_labelled(&a->clips[0], 0, label);

	ck_assert_msg(track != NULL, "there is no %s", label);
	return track;
}

static double value(const struct anim *a, const char *label, enum role role, uint32_t key,
		    unsigned axis)
{
	const struct curve *c = track_in(a, label)->curve[role];

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_lt(key, c->count);
	return curve_value(c, key, axis);
}

static struct anim *parse_ok(const char *text)
{
	struct err err = {0};
	struct anim *a = view_curves_csv.parse(&at, bytes_of(text), &err);

	ck_assert_msg(a != NULL, "%s", err.message);
	return a;
}

static void refused(const char *was, const char *is, enum err_code code, size_t line, size_t column,
		    const char *words)
{
	view_edit_refused(&view_curves_csv, &at, was, is, code, line, column, words);
}

/* Returns the sample after an edit of the text, stored and read again. */
static struct sample stored_after(const char *was, const char *is)
{
	struct anim *edited = view_edit_ok(&view_curves_csv, &at, was, is);
	struct sample now = sample_store(&s, edited);

	anim_free(edited);
	return now;
}

/* ---- the whole text ---- */

START_TEST(the_own_text_of_every_sample_changes_nothing)
{
	for (const char *const *name = sample_names; *name; name++) {
		switch_to(*name);
		for (at.clip = 0; at.clip < s.anim->clip_count; at.clip++) {
			struct buf text = view_text(&view_curves_csv, &at);
			struct anim *same = parse_ok((const char *)text.data);

			ck_assert_msg(model_same(same, s.anim), "%s, clip %u", *name, at.clip);
			anim_free(same);
			buf_release(&text);
		}
	}
}
END_TEST

/*
 * The text may be sorted by a spreadsheet: the rows of a bone are far from each other, and the last
 * row is first.
 */
START_TEST(rows_may_stand_in_any_order)
{
	struct buf text = view_text(&view_curves_csv, &at), turned = BUF_INIT;
	const char *begin = (const char *)text.data, *line = begin + text.size;
	const char *header = strchr(begin, '\n') + 1;
	struct anim *same;

	buf_add(&turned, begin, (size_t)(header - begin));
	while (line > header) {
		const char *end = line--;

		while (line > header && line[-1] != '\n')
			line--;
		buf_add(&turned, line, (size_t)(end - line));
	}
	buf_char(&turned, '\0');
	same = parse_ok((const char *)turned.data);
	ck_assert(model_same(same, s.anim));
	anim_free(same);
	buf_release(&turned);
	buf_release(&text);
}
END_TEST

START_TEST(one_text_edits_many_bones_and_no_other)
{
	struct anim *one =
		view_edit_ok(&view_curves_csv, &at, "Bone01,rotation,1,0.033333,-60.000002",
			     "Bone01,rotation,1,0.033333,-30");
	struct shown after = at;
	struct anim *two;
	struct sample now;

	after.anim = one;
	two = view_edit_ok(&view_curves_csv, &after, "Bone01,translation,0,0,1.5",
			   "Bone01,translation,0,0,2.5");
	now = sample_store(&s, two);
	ck_assert_double_eq_tol(value(now.anim, "Bone01", ROLE_ROTATION, 1, 0), -30, 1e-2);
	ck_assert_double_eq(value(now.anim, "Bone01", ROLE_TRANSLATION, 0, 0), 2.5);
	for (uint32_t i = 0; i < s.anim->clips[0].track_count; i++)
		for (int r = 0; r < ROLE_COUNT; r++)
			ck_assert(strcmp(s.anim->clips[0].tracks[i].label, "Bone01") == 0 ||
				  curve_same(s.anim->clips[0].tracks[i].curve[r],
					     now.anim->clips[0].tracks[i].curve[r]));
	sample_close(&now);
	anim_free(two);
	anim_free(one);
}
END_TEST

/* ---- which rows there are ---- */

START_TEST(new_names_are_new_bones)
{
	struct sample now = stored_after(
		"bone,channel,frame,time,x,y,z,w\n",
		"bone,channel,frame,time,x,y,z,w\ntail,,,,,,,\ntail2,translation,0,0,1,2,3,\n");
	const struct clip *clip = &now.anim->clips[0];

	ck_assert_uint_eq(clip->track_count, s.anim->clips[0].track_count + 2);
	ck_assert_str_eq(clip->tracks[clip->track_count - 2].label, "tail");
	ck_assert_str_eq(clip->tracks[clip->track_count - 1].label, "tail2");
	ck_assert_double_eq(value(now.anim, "tail2", ROLE_TRANSLATION, 0, 2), 3);
	for (int r = 0; r < ROLE_COUNT; r++)
		ck_assert_ptr_null(track_in(now.anim, "tail")->curve[r]);
	sample_close(&now);
	refused("w\n", "w\na/b,translation,0,0,1,2,3,\n", ERR_TEXT, 2, 1, "a%2Fb");
}
END_TEST

START_TEST(a_bone_or_channel_whose_rows_are_gone_is_refused)
{
	struct err err = {0};

	refused("Scene_Root,translation,0,0,0,0,0,\nScene_Root,rotation,0,0,0,0,0,\n", "",
		ERR_EARLY, 16, 1, "the rows of Scene_Root are gone");
	refused("Scene_Root,translation,0,0,0,0,0,\n", "", ERR_TEXT, 2, 21,
		"the rows of the translation of Scene_Root are gone");
	refused("Bone01,translation,0,0,1.5,-2,0.25,\n", "", ERR_TEXT, 4, 17,
		"the rows of the translation of Bone01 are gone");
	ck_assert_ptr_null(
		view_curves_csv.parse(&at, bytes_of("bone,channel,frame,time,x,y,z,w\n"), &err));
	ck_assert_int_eq(err.code, ERR_EMPTY);
	err_clear(&err);
	ck_assert_ptr_null(view_curves_csv.parse(&at, bytes_of(""), &err));
	ck_assert_int_eq(err.code, ERR_EMPTY);
}
END_TEST

START_TEST(blank_cells_remove_a_channel)
{
	struct sample now = stored_after("Bone01,translation,0,0,1.5,-2,0.25,\n",
					 "Bone01,translation,0,0,,,,\n");

	ck_assert_ptr_null(track_in(now.anim, "Bone01")->curve[ROLE_TRANSLATION]);
	ck_assert_ptr_nonnull(track_in(now.anim, "Bone01")->curve[ROLE_ROTATION]);
	sample_close(&now);
}
END_TEST

START_TEST(a_row_less_between_two_keys_is_filled)
{
	struct sample now = stored_after("Bone01,scale,1,0.033333,1.5,1.5,1.5,\n", "");

	ck_assert_double_eq_tol(value(now.anim, "Bone01", ROLE_SCALE, 1, 0), 1.0000038, 1e-5);
	sample_close(&now);
	refused("Bone01,scale,2,0.066667,1.0000076,1.0000153,1.0000229,\n", "", ERR_TEXT, 9, 14,
		"frame 2 is missing");
}
END_TEST

/* ---- cells ---- */

START_TEST(slips_are_refused_where_they_stand)
{
	refused("channel", "chanel", ERR_TEXT, 1, 6, "bone, channel, frame");
	refused("bone,", "y1,", ERR_TEXT, 1, 1, "is not a column");
	refused("time", "frame", ERR_TEXT, 1, 20, "twice");
	refused("Bone01,translation", "Bone01,position", ERR_TEXT, 4, 8, "translation, rotation");
	refused("Bone01,translation,0", "Bone01,translation,", ERR_TEXT, 4, 20, "no frame");
	refused("Bone01,translation,0,0,1.5", "Bone01,translation,0,0,1..5", ERR_TEXT, 4, 24,
		"\"1..5\"");
	refused("Bone01,translation,0", "Bone01,translation,9", ERR_TEXT, 4, 20, "frame 9");
	refused("Bone01,translation,0,0,1.5,-2,0.25,", "Bone01,translation,0,0,1.5,-2,0.25,1",
		ERR_TEXT, 4, 36, "has no w");
	refused("Bone01,translation", ",translation", ERR_TEXT, 4, 1, "does not name its bone");
	refused("Bone01,translation", "Bone01,", ERR_TEXT, 4, 8, "does not name its channel");
	refused("Bone01,translation,0,0,", "Bone01,translation,0,7,", ERR_TEXT, 4, 22,
		"only the time was changed");
}
END_TEST

START_TEST(a_column_that_is_missing_leaves_its_components_alone)
{
	struct buf own = view_text(&view_curves_csv, &at), text = BUF_INIT;
	struct anim *same;

	/* Remove the columns z and w. */
	for (const char *p = (const char *)own.data; *p;) {
		size_t size = strcspn(p, "\n"), cells = 0, end = 0;

		for (size_t i = 0; i < size && cells < 6; i++)
			if (p[i] == ',' && ++cells == 6)
				end = i;
		buf_format(&text, "%.*s\n", (int)(end ? end : size), p);
		p += size + 1;
	}
	buf_char(&text, '\0');
	same = parse_ok((const char *)text.data);
	ck_assert(model_same(same, s.anim));
	anim_free(same);
	buf_release(&text);
	buf_release(&own);
}
END_TEST

START_TEST(a_quaternion_has_a_w_and_angles_have_none)
{
	struct anim *edited;

	switch_to("edf6_768.canm");
	edited = view_edit_ok(&view_curves_csv, &at, "body,quaternion,0,0,0,0,0,1",
			      "body,quaternion,0,0,0,0,1,0");
	ck_assert_double_eq(value(edited, "body", ROLE_ROTATION, 0, 2), 1);
	ck_assert_int_eq(track_in(edited, "body")->curve[ROLE_ROTATION]->kind, CURVE_QUATERNION);
	anim_free(edited);
	refused("body,quaternion,0,0,0,0,0,1", "body,quaternion,0,0,0,0,0,", ERR_TEXT, 6, 27,
		"qw of frame 0 is blank");
}
END_TEST

/* ---- the fast path ---- */

static struct bytes after_header(struct bytes text)
{
	const uint8_t *line = memchr(text.data, '\n', text.size);

	ck_assert_ptr_nonnull(line);
	return (struct bytes){line + 1, text.size - (size_t)(line + 1 - text.data)};
}

/* Only the full parser takes a text with these ends of lines. */
static struct anim *parse_fully(struct bytes text)
{
	struct buf full = BUF_INIT;
	struct err err = {0};
	struct anim *a;

	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == '\n')
			buf_char(&full, '\r');
		buf_char(&full, (char)text.data[i]);
	}
	a = view_curves_csv.parse(&at, buf_bytes(&full), &err);
	buf_release(&full);
	err_clear(&err);
	return a;
}

/* The same curves, to the digests by which a text is known again; those that stay are shared. */
static bool same_edit(const struct curve *a, const struct curve *b, const struct curve *old)
{
	return curve_same(a, b) && (a == old) == (b == old) &&
	       (!a || digest_same(a->said, b->said));
}

static void same_edits(const struct anim *a, const struct anim *b)
{
	const struct clip *x = &a->clips[at.clip], *y = &b->clips[at.clip];

	ck_assert_uint_eq(x->track_count, y->track_count);
	for (uint32_t t = 0; t < x->track_count; t++)
		for (int r = 0; r < ROLE_COUNT; r++)
			ck_assert_msg(same_edit(x->tracks[t].curve[r], y->tracks[t].curve[r],
						s.anim->clips[at.clip].tracks[t].curve[r]),
				      "%s, %s of %s", s.name, role_names[r], x->tracks[t].label);
}

/* Replaces a random cell below the header by another number, or by what is none. */
static void edit_cell(struct buf text, struct buf *out)
{
	static const char *const cells[] = {
		"0.5",  "-1.25", "12",         "1", "0.0001234",      "-0",
		"1e-3", "",      "0.70710677", "x", "0.1234567890123"};
	size_t header = strcspn((const char *)text.data, "\n"), end;
	size_t at_byte = header + below((uint32_t)(text.size - header));

	while (text.data[at_byte] != ',' && text.data[at_byte] != '\n')
		at_byte--;
	for (end = at_byte + 1; end < text.size && text.data[end] != ',' && text.data[end] != '\n';)
		end++;
	buf_clear(out);
	buf_add(out, text.data, at_byte + 1);
	buf_text(out, cells[below(ARRAY_SIZE(cells))]);
	buf_add(out, text.data + end, text.size - end);
}

START_TEST(the_fast_path_reads_as_the_full_parser)
{
	unsigned taken = 0;
	struct buf edit = BUF_INIT;

	random_state = 19;
	for (const char *const *name = sample_names; *name; name++) {
		struct buf text;

		switch_to(*name);
		text = view_text(&view_curves_csv, &at);
		text.size = strlen((const char *)text.data);
		for (int i = 0; i < 50 && text.size < 100000; i++) {
			struct anim *fast, *full;

			edit_cell(text, &edit);
			fast = curves_parse_plain(&at, after_header(buf_bytes(&edit)));
			full = parse_fully(buf_bytes(&edit));
			ck_assert_msg(!fast || full, "%s: %.*s", *name, (int)edit.size, edit.data);
			if (fast && full)
				same_edits(fast, full);
			taken += fast != NULL;
			anim_free(fast);
			anim_free(full);
		}
		buf_release(&text);
	}
	/* Most samples are of formats, or most edits such, that only the full parser reads. */
	ck_assert_uint_gt(taken, 50);
	buf_release(&edit);
}
END_TEST

START_TEST(the_own_text_is_read_by_the_fast_path)
{
	struct buf text = view_text(&view_curves_csv, &at);
	struct anim *same;

	text.size = strlen((const char *)text.data);
	same = curves_parse_plain(&at, after_header(buf_bytes(&text)));
	ck_assert_ptr_nonnull(same);
	for (uint32_t i = 0; i < s.anim->clips[0].track_count; i++)
		ck_assert_ptr_eq(same->clips[0].tracks[i].curve[ROLE_ROTATION],
				 s.anim->clips[0].tracks[i].curve[ROLE_ROTATION]);
	anim_free(same);
	/* Nor does it take one that ends early, or goes on. */
	text.size--;
	ck_assert_ptr_null(curves_parse_plain(&at, after_header(buf_bytes(&text))));
	buf_text(&text, "\nmore,,,,,,,\n");
	ck_assert_ptr_null(curves_parse_plain(&at, after_header(buf_bytes(&text))));
	buf_release(&text);
}
END_TEST

/* ---- keyframes as data ---- */

static const char made[] = "bone,channel,frame,time,x,y,z,w,flags,occurrence\n"
			   "object_002,rotation,0,0,0,90,0,,8,0\n"
			   "object_002,rotation,0,0,0,180,0,,0,1\n"
			   "object_002,scale,0,0,1,1,1,,8,0\n"
			   "object_002,none,0,0,,,,,16,2\n"
			   "object_007,translation,0,0,1,2,3,,0,0\n";

START_TEST(a_keyframe_is_all_rows_of_its_occurrence)
{
	struct sample now;
	struct anim *edited;
	struct buf text;
	struct shown after;

	switch_to("duplicate.anm");
	edited = parse_ok(made);
	now = sample_store(&s, edited);
	after = sample_shown(&now, 0, NULL);
	text = view_text(&view_curves_csv, &after);
	ck_assert_str_eq((const char *)text.data, made);
	buf_release(&text);
	sample_close(&now);
	anim_free(edited);
}
END_TEST

static void made_refused(const char *was, const char *is, size_t at_line, const char *words)
{
	char *text = text_edit(made, was, is);
	struct err err = {0};

	ck_assert_ptr_null(view_curves_csv.parse(&at, bytes_of(text), &err));
	ck_assert_uint_eq(err_locate(bytes_of(text), err.at).line, at_line);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words), "%s (%s)",
		      err.message, err.accepted);
	free(text);
}

START_TEST(rows_of_one_keyframe_agree)
{
	switch_to("duplicate.anm");
	made_refused("1,1,1,,8,0", "1,1,1,,16,0", 4, "the flags of this keyframe are 8");
	made_refused("1,1,1,,8,0", "1,1,1,,7,0", 4, "some of 8, 16, 32, 64, 128");
	made_refused("180,0,,0,1", "180,0,,8,0", 3, "given twice");
	made_refused("none,0,0,,,,,16,2", "none,0,0,1,,,,16,2", 5, "no values");
	made_refused("none,0,0,,,,,16,2", "none,0,0,,,,,8,0", 5, "given twice");
	made_refused("none,0,0,,,,,16,2", "none,0,0,,,,,16,x", 5, "0 for the first");
}
END_TEST

Suite *curves_csv_suite(void);

START_TEST(no_clip_has_more_bones_than_can_be_counted)
{
	struct buf text = view_text(&view_curves_csv, &at);
	struct err err = {0};

	for (unsigned i = 0; i < 65536; i++)
		buf_format(&text, "b%u,scale,0,0,1,1,1,\n", i);
	ck_assert_ptr_null(view_curves_csv.parse(&at, buf_bytes(&text), &err));
	ck_assert_str_eq(err.message, "a clip has at most 65535 bones");
	buf_release(&text);
}
END_TEST

Suite *curves_csv_suite(void)
{
	Suite *suite = suite_create("curves_csv");
	TCase *t = tcase_create("curves.csv");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_own_text_of_every_sample_changes_nothing);
	tcase_add_test(t, the_own_text_is_read_by_the_fast_path);
	tcase_add_test(t, the_fast_path_reads_as_the_full_parser);
	tcase_add_test(t, rows_may_stand_in_any_order);
	tcase_add_test(t, one_text_edits_many_bones_and_no_other);
	tcase_add_test(t, new_names_are_new_bones);
	tcase_add_test(t, a_bone_or_channel_whose_rows_are_gone_is_refused);
	tcase_add_test(t, blank_cells_remove_a_channel);
	tcase_add_test(t, a_row_less_between_two_keys_is_filled);
	tcase_add_test(t, slips_are_refused_where_they_stand);
	tcase_add_test(t, a_column_that_is_missing_leaves_its_components_alone);
	tcase_add_test(t, a_quaternion_has_a_w_and_angles_have_none);
	tcase_add_test(t, a_keyframe_is_all_rows_of_its_occurrence);
	tcase_add_test(t, rows_of_one_keyframe_agree);
	tcase_add_test(t, no_clip_has_more_bones_than_can_be_counted);
	return suite;
}
