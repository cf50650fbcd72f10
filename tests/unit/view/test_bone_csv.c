/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"
#include "text/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A bone of a sample. */
struct bone {
	struct sample file;
	struct shown at;
};

static struct bone bone_open(const char *name, const char *clip, const char *label)
{
	struct bone b = {.file = sample_open(name)};
	uint32_t i = 0;

	while (strcmp(b.file.anim->clips[i].label, clip) != 0)
		ck_assert_uint_lt(++i, b.file.anim->clip_count);
	b.at = sample_shown(&b.file, i, label);
	return b;
}

static void bone_close(struct bone *b)
{
	sample_close(&b->file);
}

static const struct track *track_in(const struct anim *a, const struct shown *at)
{
	return &a->clips[at->clip].tracks[at->track];
}

static struct anim *parse(const struct bone *b, const char *text, struct err *err)
{
	*err = (struct err){0};
	return view_bone_csv.parse(&b->at, bytes_of(text), err);
}

/*
 * Returns the text with the first `from` replaced. The result is static, and valid for three more
 * calls.
 */
static const char *replaced(const char *text, const char *from, const char *to)
{
	static char ring[4][2048];
	static unsigned turn;
	char *out = ring[turn++ % ARRAY_SIZE(ring)];
	const char *found = strstr(text, from);

	ck_assert_msg(found, "no \"%s\" in the text", from);
	ck_assert_int_lt(snprintf(out, sizeof(ring[0]), "%.*s%s%s", (int)(found - text), text, to,
				  found + strlen(from)),
			 (int)sizeof(ring[0]));
	return out;
}

/* Saves `text`, and returns the text that is read afterwards. The result is static. */
static const char *saved(const struct bone *b, const char *text)
{
	static struct buf out;
	struct shown now = b->at;
	struct err err;
	struct anim *edited = parse(b, text, &err);

	ck_assert_msg(edited, "%s", err.message);
	buf_release(&out);
	now.anim = edited;
	out = view_text(&view_bone_csv, &now);
	anim_free(edited);
	return (const char *)out.data;
}

#define BONE01_HEADER "frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
#define BONE01_0 "0,0,1.5,-2,0.25,-180,5.729578,11.460703,1,1,1\n"
#define BONE01_1 "1,0.033333,,,,-60.000002,5.729578,11.460875,1.5,1.5,1.5\n"
#define BONE01_2 "2,0.066667,,,,180,5.729578,22.723793,1.0000076,1.0000153,1.0000229\n"
#define BONE01 BONE01_HEADER BONE01_0 BONE01_1 BONE01_2

#define BODY_HEADER "frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz\n"
#define BODY_0 "0,0,0,1.002,2.006,0,0,0,1,0,1.002,2.006\n"
#define BODY_1 "1,0.016667,0.003,1.008,2.015,0,0.70710677,0,0.70710677,0.003,1.008,2.015\n"
#define BODY BODY_HEADER BODY_0 BODY_1

/* ---- rendering ---- */

static void expect_text(const struct view *view, const struct bone *b, const char *want)
{
	struct buf text = view_text(view, &b->at);

	ck_assert_str_eq((char *)text.data, want);
	buf_release(&text);
}

START_TEST(a_bone_is_a_table_with_a_row_for_each_frame)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	expect_text(&view_bone_csv, &b, BONE01);
	bone_close(&b);
	b = bone_open("edf6_768.canm", "turn", "body");
	expect_text(&view_bone_csv, &b, BODY);
	bone_close(&b);
}
END_TEST

#define BODY_EULER                                                                                 \
	BONE01_HEADER "0,0,0,1.002,2.006,0,0,0,0,1.002,2.006\n"                                    \
		      "1,0.016667,0.003,1.008,2.015,0,90,0,0.003,1.008,2.015\n"
#define BONE01_QUATERNION                                                                          \
	BODY_HEADER "0,0,1.5,-2,0.25,0.99375932,0.09972207,-0.04972941,0.004990306,1,1,1\n"        \
		    "1,0.033333,,,,0.5012014,0.0067948514,-0.11122784,-0.8581255,1.5,1.5,1.5\n"    \
		    "2,0.066667,,,,0.9791772,0.19675918,-0.048999704,0.009846138,"                 \
		    "1.0000076,1.0000153,1.0000229\n"

START_TEST(rotations_are_shown_in_the_form_that_is_asked_for)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");

	b.file.anim->rotations = ROTATIONS_QUATERNION;
	expect_text(&view_bone_csv, &b, BODY);
	b.file.anim->rotations = ROTATIONS_EULER;
	expect_text(&view_bone_csv, &b, BODY_EULER);
	bone_close(&b);
	b = bone_open("wiki512.canm", "walk", "Bone01");
	b.file.anim->rotations = ROTATIONS_EULER;
	expect_text(&view_bone_csv, &b, BONE01);
	b.file.anim->rotations = ROTATIONS_QUATERNION;
	expect_text(&view_bone_csv, &b, BONE01_QUATERNION);
	bone_close(&b);
}
END_TEST

START_TEST(a_clip_shows_rotations_in_the_form_that_is_asked_for)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");
	struct buf text;

	b.file.anim->rotations = ROTATIONS_EULER;
	text = view_text(&view_curves_csv, &b.at);
	ck_assert_ptr_nonnull(strstr((char *)text.data, "\nbody,rotation,1,0.016667,0,90,0,\n"));
	buf_release(&text);
	bone_close(&b);
}
END_TEST

START_TEST(a_bone_without_keys_is_a_header)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	struct track *track = anim_edit_track(b.file.anim, b.at.clip, b.at.track);

	memset(track->curve, 0, sizeof(track->curve));
	expect_text(&view_bone_csv, &b, BONE01_HEADER);
	track->roles = 1 << ROLE_ROTATION;
	expect_text(&view_bone_csv, &b, "frame,time,rx,ry,rz\n");
	track->rotation = CURVE_QUATERNION;
	expect_text(&view_bone_csv, &b, "frame,time,qx,qy,qz,qw\n");
	b.file.anim->rotations = ROTATIONS_EULER;
	expect_text(&view_bone_csv, &b, "frame,time,rx,ry,rz\n");
	bone_close(&b);
}
END_TEST

START_TEST(a_curve_that_covers_a_part_of_the_clip_has_rows_for_that_part)
{
	struct bone b = bone_open("odd512.canm", "dup~2", "zz");

	expect_text(&view_bone_csv, &b,
		    BONE01_HEADER "0,0,0,0,0,0,0,0,,,\n"
				  "1,0.016667,1,2,3,57.29578,114.59156,171.88734,,,\n"
				  "2,0.033333,2,4,6,114.59156,229.18312,343.7747,,,\n"
				  "3,0.05,3,6,9,171.88734,343.7747,515.662,,,\n"
				  "4,0.066667,4,8,12,229.18312,458.36624,687.5494,,,\n");
	bone_close(&b);
}
END_TEST

START_TEST(a_clip_is_a_table_of_all_its_keys)
{
	struct bone b = bone_open("wiki512.canm", "walk", NULL);

	expect_text(&view_curves_csv, &b,
		    "bone,channel,frame,time,x,y,z,w\n"
		    "Scene_Root,translation,0,0,0,0,0,\n"
		    "Scene_Root,rotation,0,0,0,0,0,\n"
		    "Bone01,translation,0,0,1.5,-2,0.25,\n"
		    "Bone01,rotation,0,0,-180,5.729578,11.460703,\n"
		    "Bone01,rotation,1,0.033333,-60.000002,5.729578,11.460875,\n"
		    "Bone01,rotation,2,0.066667,180,5.729578,22.723793,\n"
		    "Bone01,scale,0,0,1,1,1,\n"
		    "Bone01,scale,1,0.033333,1.5,1.5,1.5,\n"
		    "Bone01,scale,2,0.066667,1.0000076,1.0000153,1.0000229,\n"
		    "hip,translation,0,0,0,-1,2,\n"
		    "hip,translation,1,0.033333,0.5000076,1,2.00001,\n"
		    "hip,translation,2,0.066667,1,-1,2.65535,\n"
		    "hip,rotation,0,0,-180,5.729578,11.460703,\n"
		    "hip,rotation,1,0.033333,-60.000002,5.729578,11.460875,\n"
		    "hip,rotation,2,0.066667,180,5.729578,22.723793,\n"
		    "\xe5\x8f\xb3\xe6\x89\x8b,,,,,,,\n");
	bone_close(&b);
	b = bone_open("edf6_768.canm", "turn", NULL);
	expect_text(&view_curves_csv, &b,
		    "bone,channel,frame,time,x,y,z,w\n"
		    "Scene_Root,translation,0,0,0,0,0,\n"
		    "Scene_Root,quaternion,0,0,0,0,0,1\n"
		    "body,translation,0,0,0,1.002,2.006,\n"
		    "body,translation,1,0.016667,0.003,1.008,2.015,\n"
		    "body,quaternion,0,0,0,0,0,1\n"
		    "body,quaternion,1,0.016667,0,0.70710677,0,0.70710677\n"
		    "body,scale,0,0,0,1.002,2.006,\n"
		    "body,scale,1,0.016667,0.003,1.008,2.015,\n");
	bone_close(&b);
}
END_TEST

/* ---- texts that change nothing ---- */

static void expect_unchanged(const struct bone *b, struct bytes text)
{
	struct err err = {0};
	struct anim *edited = view_bone_csv.parse(&b->at, text, &err);
	/* the message buffer of Check has no room for more */
	int shown = text.size < 500 ? (int)text.size : 500;

	ck_assert_msg(edited, "%s in:\n%.*s", err.message, shown, (const char *)text.data);
	for (int r = 0; r < ROLE_COUNT; r++)
		ck_assert_msg(track_in(edited, &b->at)->curve[r] ==
				      track_in(b->at.anim, &b->at)->curve[r],
			      "the %s changed in:\n%.*s", role_names[r], shown,
			      (const char *)text.data);
	anim_free(edited);
}

/* Changes that spreadsheets make to a text that was not edited. */
enum {
	QUOTED_HEADER = 1,
	SEMICOLONS = 2,
	CRLF_AND_BOM = 4,
	TRAILING_BLANKS = 8,
	SHORT_NUMBERS = 16, /* 15 digits at most, no -0, exponents for more than 20 digits */
	BLANK_NONFINITE = 32,
	ALL_REWRITES = 64,
};

static void rewrite_number(const char *cell, size_t size, unsigned how, struct buf *out)
{
	char number[400];
	double v;

	if (!num_parse(cell, size, '.', &v)) {
		buf_add(out, cell, size);
		return;
	}
	if (!isfinite(v)) {
		if (!(how & BLANK_NONFINITE))
			buf_add(out, cell, size);
		return;
	}
	snprintf(number, sizeof(number), "%.*s", (int)size, cell);
	if (how & SHORT_NUMBERS)
		snprintf(number, sizeof(number), fabs(v) < 1e20 ? "%.15g" : "%.14E",
			 v == 0 ? 0 : v);
	for (char *p = number; *p; p++)
		buf_char(out, how & SEMICOLONS && *p == '.' ? ',' : *p);
}

static void rewrite(struct bytes text, unsigned how, struct buf *out)
{
	const char *p = (const char *)text.data, *end = p + text.size;
	bool header = true;

	if (how & CRLF_AND_BOM)
		buf_text(out, "\xef\xbb\xbf");
	while (p < end) {
		size_t size = strcspn(p, ",\n");

		if (header)
			buf_format(out, how & QUOTED_HEADER ? "\"%.*s\"" : "%.*s", (int)size, p);
		else
			rewrite_number(p, size, how, out);
		p += size;
		header = header && *p == ',';
		if (*p++ == ',') {
			buf_char(out, how & SEMICOLONS ? ';' : ',');
			continue;
		}
		for (int i = 0; i < 3000 && how & TRAILING_BLANKS; i++)
			buf_char(out, how & SEMICOLONS ? ';' : ',');
		buf_text(out, how & CRLF_AND_BOM ? "\r\n" : "\n");
	}
	for (int i = 0; i < 3000 && how & TRAILING_BLANKS; i++)
		buf_text(out, i % 2 ? "\n" : how & SEMICOLONS ? ";;;\n" : ",,,\n");
}

/* Calls `check` for every bone of every sample. */
static void each_bone(void (*check)(const struct bone *b), enum rotations form)
{
	for (const char *const *name = sample_names; *name; name++) {
		struct bone b = {.file = sample_open(*name)};

		b.file.anim->rotations = form;
		for (uint32_t clip = 0; clip < b.file.anim->clip_count; clip++) {
			b.at = sample_shown(&b.file, clip, NULL);
			for (; b.at.track < b.file.anim->clips[clip].track_count; b.at.track++)
				check(&b);
		}
		bone_close(&b);
	}
}

static void check_own_text(const struct bone *b)
{
	struct buf text = view_text(&view_bone_csv, &b->at);

	expect_unchanged(b, buf_bytes(&text));
	buf_release(&text);
}

START_TEST(saving_a_views_own_text_changes_nothing)
{
	each_bone(check_own_text, (enum rotations)_i);
}
END_TEST

static void check_rewrites(const struct bone *b)
{
	struct buf text = view_text(&view_bone_csv, &b->at);

	for (unsigned how = 0; how < ALL_REWRITES; how++) {
		struct buf out = BUF_INIT;

		rewrite(buf_bytes(&text), how, &out);
		expect_unchanged(b, buf_bytes(&out));
		buf_release(&out);
	}
	buf_release(&text);
}

START_TEST(what_a_spreadsheet_does_to_a_text_changes_nothing)
{
	each_bone(check_rewrites, (enum rotations)_i);
}
END_TEST

START_TEST(numbers_that_are_hard_on_spreadsheets_are_unchanged)
{
	static const float hard[] = {0x1p-149f, -0x1.fffffep127f, -0.0f, 1e-8f,
				     0.1f,      16777216,         1e20f};
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	struct track *track = anim_edit_track(b.file.anim, b.at.clip, b.at.track);
	uint8_t stored[12] = {0};
	struct curve c = *track->curve[ROLE_TRANSLATION];

	c.stored = stored;
	for (unsigned axis = 0; axis < 3; axis++)
		c.lane[axis] = (struct lane){.form = LANE_FLOAT, .unit = 1};
	track->curve[ROLE_TRANSLATION] = &c;
	for (size_t i = 0; i < ARRAY_SIZE(hard); i++) {
		put_f32(stored, hard[i]);
		put_f32(stored + 8, -hard[i]);
		check_rewrites(&b);
	}
	bone_close(&b);
}
END_TEST

START_TEST(columns_and_rows_may_come_in_any_order_and_be_missing)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	expect_unchanged(&b, bytes_of("frame\n0\n"));
	expect_unchanged(&b, bytes_of("ty,frame\n-2,0\n"));
	expect_unchanged(&b, bytes_of("rz,frame,ry\n22.723793,2,5.729578\n11.460703,0,5.729578\n"
				      "11.460875,1,5.729578\n"));
	expect_unchanged(&b, bytes_of(BONE01_HEADER BONE01_2 BONE01_0 BONE01_1));
	expect_unchanged(&b, bytes_of("frame,,tx\n0,,1.5\n"));
	expect_unchanged(&b, bytes_of("frame,tx\n0,1.5"));
	expect_unchanged(&b, bytes_of(" frame ;  tx\n 0,0 ; 1,50 \n"));
	bone_close(&b);
}
END_TEST

START_TEST(stale_times_are_ignored_beside_an_edit)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	ck_assert_str_eq(saved(&b, replaced(BONE01, "0.033333,,,,-60.000002", "9,,,,-61")),
			 replaced(BONE01, "-60.000002", "-61"));
	expect_unchanged(&b, bytes_of(replaced(BONE01, "0.033333", "")));
	bone_close(&b);
}
END_TEST

/* ---- a saved text is read back ---- */

/* Puts random values into random cells, where the format accepts any, and checks the saved text. */
static void check_edits(const struct bone *b)
{
	struct buf text = view_text(&view_bone_csv, &b->at);
	bool quaternion = strstr((char *)text.data, "qx") != NULL;

	for (int round = 0; round < 40 && !b->at.anim->format->lanes[ROLE_TRANSLATION]; round++) {
		struct buf edited = BUF_INIT;
		unsigned column = 0, row = 0;

		for (const char *p = (char *)text.data; *p;) {
			size_t size = strcspn(p, ",\n");
			bool rotation = quaternion && column >= 5 && column < 9;

			if (row > 0 && column > 1 && size > 0 && !rotation && rand() % 8 == 0) {
				double v = ldexp(rand() % 65536 - 32768, rand() % 8 - 12);

				buf_f32_text(&edited, (float)v);
			} else {
				buf_add(&edited, p, size);
			}
			p += size;
			column = *p == ',' ? column + 1 : 0;
			row += *p == '\n';
			buf_char(&edited, *p++);
		}
		buf_char(&edited, '\0');
		if (row > 1)
			ck_assert_str_eq(saved(b, (char *)edited.data), (char *)edited.data);
		buf_release(&edited);
	}
	buf_release(&text);
}

START_TEST(what_is_saved_is_what_is_read)
{
	srand(1);
	each_bone(check_edits, ROTATIONS_STORED);
}
END_TEST

static void expect_saved(const char *sample, const char *clip, const char *bone, const char *text,
			 const char *want)
{
	struct bone b = bone_open(sample, clip, bone);

	ck_assert_str_eq(saved(&b, text), want);
	bone_close(&b);
}

START_TEST(cells_that_were_not_edited_keep_their_bits)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	struct err err;
	struct anim *edited = parse(&b, replaced(BONE01, "-60.000002", "-61.5"), &err);
	const struct curve *old = track_in(b.file.anim, &b.at)->curve[ROLE_ROTATION];
	const struct curve *now;

	ck_assert_ptr_nonnull(edited);
	now = track_in(edited, &b.at)->curve[ROLE_ROTATION];
	ck_assert_ptr_eq(track_in(edited, &b.at)->curve[ROLE_SCALE],
			 track_in(b.file.anim, &b.at)->curve[ROLE_SCALE]);
	for (uint32_t key = 0; key < 3; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert(f64_same(curve_value(now, key, axis),
					   key == 1 && axis == 0 ? -61.5
								 : curve_value(old, key, axis)));
	ck_assert_mem_eq(now->lane, old->lane, sizeof(now->lane));
	anim_free(edited);
	bone_close(&b);
}
END_TEST

START_TEST(a_static_curve_is_edited_in_the_first_row)
{
	expect_saved("wiki512.canm", "walk", "Bone01", replaced(BONE01, "1.5,-2", "1.5,-2.5"),
		     replaced(BONE01, "1.5,-2", "1.5,-2.5"));
}
END_TEST

START_TEST(more_keys_make_a_static_curve_keyed)
{
	expect_saved(
		"wiki512.canm", "walk", "Bone01",
		replaced(BONE01, "2,0.066667,,,", "2,0.066667,2.5,-4,0.25"),
		BONE01_HEADER BONE01_0
		"1,0.033333,2,-3,0.25,-60.000002,5.729578,11.460875,1.5,1.5,1.5\n"
		"2,0.066667,2.5,-4,0.25,180,5.729578,22.723793,1.0000076,1.0000153,1.0000229\n");
	expect_saved(
		"wiki512.canm", "walk", "Bone01", "frame,ty\n2,-4\n0,-2\n",
		BONE01_HEADER BONE01_0
		"1,0.033333,1.5,-3,0.25,-60.000002,5.729578,11.460875,1.5,1.5,1.5\n"
		"2,0.066667,1.5,-4,0.25,180,5.729578,22.723793,1.0000076,1.0000153,1.0000229\n");
}
END_TEST

START_TEST(a_keyed_curve_stays_keyed_when_its_values_are_equal)
{
	const char *same = BONE01_HEADER "0,0,1.5,-2,0.25,1,1,1,1,1,1\n"
					 "1,0.033333,,,,1,1,1,1,1,1\n"
					 "2,0.066667,,,,1,1,1,1,1,1\n";

	expect_saved("wiki512.canm", "walk", "Bone01", same, same);
}
END_TEST

START_TEST(blanks_between_keys_are_filled_in)
{
	expect_saved("wiki512.canm", "walk", "hip",
		     "frame,tx,ty,tz\n0,0,-1,2\n1,,,\n2,1,-1,2.65535\n",
		     BONE01_HEADER "0,0,0,-1,2,-180,5.729578,11.460703,,,\n"
				   "1,0.033333,0.5,-1,2.327675,-60.000002,5.729578,11.460875,,,\n"
				   "2,0.066667,1,-1,2.65535,180,5.729578,22.723793,,,\n");
	expect_saved("wiki512.canm", "walk", "Bone01",
		     replaced(BONE01, "-60.000002,5.729578,11.460875", "-60.000002,5.729578,"),
		     replaced(BONE01, "11.460875", "17.092248"));
	expect_saved("odd512.canm", "dup", "zz",
		     BONE01_HEADER "0,0,0,0,0,0,0,0,,,\n2,0,2,4,9,,,,,,\n",
		     BONE01_HEADER "0,0,0,0,0,0,0,0,,,\n"
				   "1,0.016667,1,2,4.5,,,,,,\n"
				   "2,0.033333,2,4,9,,,,,,\n");
}
END_TEST

START_TEST(a_role_that_is_blank_in_all_rows_is_removed)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	ck_assert_str_eq(saved(&b, "frame,tx,ty,tz\n0,,,\n"),
			 replaced(BONE01, "1.5,-2,0.25", ",,"));
	ck_assert_str_eq(saved(&b, "frame,rx,ry,rz,sx,sy,sz,tx,ty,tz\n0\n1\n2\n"), BONE01_HEADER);
	bone_close(&b);
}
END_TEST

START_TEST(a_role_that_was_not_there_is_added)
{
	struct bone b = bone_open("wiki512.canm", "walk", "hip");
	const struct curve *scale;
	struct anim *edited;
	struct err err;

	edited = parse(&b, "frame,sx,sy,sz\n0,1,2,0.1\n2,2,4,0.1\n", &err);
	ck_assert_ptr_nonnull(edited);
	scale = track_in(edited, &b.at)->curve[ROLE_SCALE];
	ck_assert(scale->keyed && scale->count == 3 && scale->lane[0].form == LANE_DOUBLE);
	ck_assert(curve_value(scale, 1, 0) == 1.5 && curve_value(scale, 1, 1) == 3);
	anim_free(edited);
	edited = parse(&b, "frame,sx,sy,sz\n0,1,2,0.1\n", &err);
	ck_assert_ptr_nonnull(edited);
	scale = track_in(edited, &b.at)->curve[ROLE_SCALE];
	ck_assert(!scale->keyed && scale->count == 1);
	anim_free(edited);
	bone_close(&b);
}
END_TEST

START_TEST(keys_past_the_end_of_the_clip_survive_an_edit)
{
	struct bone b = bone_open("odd512.canm", "dup", "zz");
	const struct curve *old = track_in(b.file.anim, &b.at)->curve[ROLE_TRANSLATION], *now;
	struct err err;
	struct anim *edited = parse(&b, "frame,tx,ty,tz\n0,0,0,0\n1,7,2,3\n2,2,4,6\n", &err);

	ck_assert_ptr_nonnull(edited);
	ck_assert_uint_eq(old->count, 5);
	now = track_in(edited, &b.at)->curve[ROLE_TRANSLATION];
	ck_assert_uint_eq(now->count, 5);
	for (uint32_t key = 0; key < 5; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert(curve_value(now, key, axis) ==
				  (key == 1 && axis == 0 ? 7 : curve_value(old, key, axis)));
	anim_free(edited);
	bone_close(&b);
}
END_TEST

START_TEST(a_curve_over_a_part_of_the_clip_may_be_made_longer)
{
	struct bone b = bone_open("odd512.canm", "dup~2", "zz");
	struct buf text = view_text(&view_bone_csv, &b.at);

	buf_text(&text, "6,0.1,8,8,8,,,,,,\n");
	buf_char(&text, '\0');
	ck_assert_ptr_nonnull(strstr(saved(&b, (char *)text.data), "\n5,0.083333,6,8,10,,,,,,\n"
								   "6,0.1,8,8,8,,,,,,\n"));
	buf_release(&text);
	bone_close(&b);
}
END_TEST

START_TEST(quaternions_are_filled_in_the_shorter_way)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");
	struct clip *clip = anim_edit_clip(b.file.anim, b.at.clip);
	struct curve c = *clip->tracks[b.at.track].curve[ROLE_ROTATION];
	struct track *track = anim_edit_track(b.file.anim, b.at.clip, b.at.track);
	const struct curve *now;
	struct anim *edited;
	struct err err;

	/*
	 * A rotation from the rest pose to a quarter turn about y, with the signs of the quaternion
	 * reversed.
	 */
	clip->frames = 3;
	c.keyed = false;
	c.count = 1;
	track->curve[ROLE_ROTATION] = &c;
	edited = parse(&b, "frame,qx,qy,qz,qw\n0,0,0,0,1\n2,0,-0.70710677,0,-0.70710677\n", &err);
	ck_assert_ptr_nonnull(edited);
	now = track_in(edited, &b.at)->curve[ROLE_ROTATION];
	ck_assert_uint_eq(now->count, 3);
	ck_assert(fabs(fabs(curve_value(now, 1, 1)) - sin(atan(1) / 2)) < 1e-7);
	ck_assert(fabs(fabs(curve_value(now, 1, 3)) - cos(atan(1) / 2)) < 1e-7);
	ck_assert(curve_value(now, 1, 1) * curve_value(now, 1, 3) > 0);
	anim_free(edited);
	bone_close(&b);
}
END_TEST

START_TEST(float_quaternions_near_unit_length_are_stored_as_typed)
{
	expect_saved("edf6_768.canm", "turn", "body",
		     replaced(BODY, "0,0.70710677,0,0.70710677", "0,0.71,0,0.705"),
		     replaced(BODY, "0,0.70710677,0,0.70710677", "0,0.71,0,0.705"));
}
END_TEST

/* A mount reads texts of both rotation forms, regardless of the form that it shows. */
START_TEST(texts_of_either_form_are_read_in_any_form)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");

	b.file.anim->rotations = (enum rotations)_i;
	expect_unchanged(&b, bytes_of(BODY));
	expect_unchanged(&b, bytes_of(BODY_EULER));
	expect_unchanged(&b, bytes_of("frame,ry\n0,0\n1,90\n"));
	bone_close(&b);
	b = bone_open("wiki512.canm", "walk", "Bone01");
	b.file.anim->rotations = (enum rotations)_i;
	expect_unchanged(&b, bytes_of(BONE01));
	expect_unchanged(&b, bytes_of(BONE01_QUATERNION));
	bone_close(&b);
}
END_TEST

START_TEST(an_edit_in_the_other_form_is_stored_as_the_bone_stores_it)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");

	ck_assert_str_eq(saved(&b, replaced(BODY_EULER, ",0,90,0,", ",180,0,0,")),
			 replaced(BODY, "0,0.70710677,0,0.70710677", "1,0,0,0"));
	bone_close(&b);
	b = bone_open("wiki512.canm", "walk", "Bone01");
	/* 180 is as near as -180, and is not changed. */
	ck_assert_str_eq(
		saved(&b, replaced(BONE01_QUATERNION,
				   "0.9791772,0.19675918,-0.048999704,0.009846138", "1,0,0,0")),
		replaced(BONE01, "180,5.729578,22.723793", "180,0,0"));
	bone_close(&b);
}
END_TEST

START_TEST(a_table_of_a_bone_of_the_other_form_is_converted)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");
	struct bone euler = bone_open("wiki512.canm", "walk", "Bone01");

	ck_assert_str_eq(saved(&b, BONE01_HEADER "0,0,1,2,3,0,0,0,1,1,1\n1,0,1,2,3,90,0,0,2,2,2\n"),
			 BODY_HEADER "0,0,1,2,3,0,0,0,1,1,1,1\n"
				     "1,0.016667,1,2,3,0.70710677,0,0,0.70710677,2,2,2\n");
	ck_assert_str_eq(saved(&euler, BODY_HEADER "0,0,1,2,3,-0.70710677,0,0,0.70710677,1,1,1\n"
						   "2,0,,,,1,0,0,0,1,1,1\n"),
			 BONE01_HEADER "0,0,1,2,3,-90,0,0,1,1,1\n1,0.033333,,,,-135,0,0,1,1,1\n"
				       "2,0.066667,,,,180,0,0,1,1,1\n");
	bone_close(&euler);
	bone_close(&b);
}
END_TEST

/* The text is as Excel, Google Sheets, pandas or an old Mac writes it. */
START_TEST(what_spreadsheets_make_of_a_text_is_read)
{
	static const char *const texts[] = {
		"sep=;\r\nFrame;TX;TY;TZ\r\n0;2,5;-2;0,25\r\n",
		"FRAME,tx,ty,tz\n0,\"2,5\",-2,\"0,25\"\n",
		",frame,tx,ty,tz\n0,0,2.5,-2.0,0.25\n",
		"frame\ttx\tty\ttz\r0\t2,5\t-2\t0,25\r",
		"\"sep=;\"\n\"frame\";\"tx\";\"ty\";\"tz\"\n\"0\";\"2,5\";\"-2\";\"0.25\"\n",
	};
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	struct buf wide = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_ptr_nonnull(strstr(saved(&b, texts[i]), "\n0,0,2.5,-2,0.25,"));
	/* Excel's "Unicode text" is UTF-16; cut after half a character, it ends early. */
	buf_text(&wide, "\xff\xfe");
	for (const char *c = texts[3]; *c; c++)
		buf_u16(&wide, (uint8_t)*c);
	for (size_t size = wide.size - 1; size <= wide.size; size++) {
		struct err err = {0};
		struct anim *edited =
			view_bone_csv.parse(&b.at, (struct bytes){wide.data, size}, &err);

		ck_assert(!edited == (size < wide.size));
		ck_assert_int_eq(err.code, edited ? ERR_NONE : ERR_EARLY);
		anim_free(edited);
	}
	buf_release(&wide);
	bone_close(&b);
}
END_TEST

/* ---- refused texts ---- */

static void expect_refused(const struct bone *b, const char *text, enum err_code code, size_t line,
			   size_t column, const char *message, const char *accepted)
{
	struct err err;
	struct anim *edited = parse(b, text, &err);
	struct position place = err_locate(bytes_of(text), err.at);

	ck_assert_msg(!edited, "accepted: %s", text);
	ck_assert_str_eq(err.message, message);
	ck_assert_int_eq(err.code, code);
	ck_assert_str_eq(err.accepted, accepted);
	if (line == 0)
		return;
	ck_assert(err.placed && err.at + err.length <= strlen(text));
	ck_assert_uint_eq(place.line, line);
	ck_assert_uint_eq(place.column, column);
}

#define NUMBER_ACCEPTED "a decimal number such as 12.5, or nothing where there is no key"
#define DEGREES_ACCEPTED "a decimal number such as 12.5 (degrees), or nothing where there is no key"
#define COLUMNS_ACCEPTED "frame, time, tx, ty, tz, rx, ry, rz, sx, sy, sz"
#define TIME_ACCEPTED "another frame_time in clip.json; a key is moved by its frame"
#define ENDS_ACCEPTED(role)                                                                        \
	"a key there (gaps between keys are filled in), or no key at all (that removes the " role  \
	"); a clip gets shorter in clip.json"

/* Texts of a bone of three frames, each with one mistake. */
static const struct slip {
	const char *from, *to;
	size_t line, column;
	const char *message, *accepted;
} slips[] = {
	{"-60.000002", "-60..2", 3, 15, "rx: \"-60..2\" is not a number", DEGREES_ACCEPTED},
	{"1.5,-2", "1.5,x", 2, 9, "ty: \"x\" is not a number", NUMBER_ACCEPTED},
	{"1.5,-2", "01/05/26,-2", 2, 5,
	 "tx: \"01/05/26\" looks like a date that a spreadsheet made of a number", NUMBER_ACCEPTED},
	{"11.460875", "11:46:08", 3, 35,
	 "rz: \"11:46:08\" looks like a clock time that a spreadsheet made of a number",
	 DEGREES_ACCEPTED},
	{"1.5,-2", "nan,-2", 2, 5, "tx cannot become infinite or nan", "a finite number"},
	{"1.5,-2", "1.5,-inf", 2, 9, "ty cannot become infinite or nan", "a finite number"},
	{"1.5,-2", "1e39,-2", 2, 5, "this number is too large to be stored",
	 "a number from -3.4e38 to 3.4e38"},
	{"-60.000002", "1e41", 3, 15, "this number is too large to be stored",
	 "a number from -1.9e40 to 1.9e40"},
	{",rx,", ",rotx,", 1, 21, "\"rotx\" is not a column; did you mean \"tx\" or \"rx\"?",
	 COLUMNS_ACCEPTED},
	{"frame", "fram", 1, 1, "\"fram\" is not a column; did you mean \"frame\"?",
	 COLUMNS_ACCEPTED},
	{"time", "ttime", 1, 7, "\"ttime\" is not a column; did you mean \"time\"?",
	 COLUMNS_ACCEPTED},
	{",rz,", ",tz2,", 1, 27, "\"tz2\" is not a column; did you mean \"tz\"?", COLUMNS_ACCEPTED},
	{",rz,", ",z,", 1, 27, "\"z\" is not a column", COLUMNS_ACCEPTED},
	{",sz\n", ",sz,sx\n", 1, 39, "the column sx is listed twice", ""},
	{",sx,", ",qx,", 1, 30, "there are Euler and quaternion columns in one text", "rx, ry, rz"},
	{",rx,ry,rz,", ",qx,qy,qz,", 2, 17, "the quaternion has length 180.455, not 1",
	 "-0.997476011, 0.031750648, 0.063509868, 0.000027654; or angles in degrees, which "
	 "--rotations=euler shows"},
	{",rx,", ",QQ,", 1, 21, "\"QQ\" is not a column; did you mean \"qx\" or \"qy\" or \"qz\"?",
	 COLUMNS_ACCEPTED},
	{"frame", "", 1, 1, "there is no column frame", COLUMNS_ACCEPTED},
	{"\n1,", "\n1.5,", 3, 1, "frame: \"1.5\" is not a frame number",
	 "a whole number such as 12"},
	{"\n1,", "\n-1,", 3, 1, "frame: \"-1\" is not a frame number", "a whole number such as 12"},
	{"\n1,", "\n,", 3, 1, "there is no frame in this row",
	 "a whole number such as 12, or an empty row"},
	{"\n2,", "\n3,", 4, 1, "frame 3 is not in the clip, which has 3 frames",
	 "a frame from 0 to 2; the number of frames is edited in clip.json"},
	{"\n2,", "\n0,", 4, 1, "frame 0 is given twice, first in line 2", "each frame once"},
	{",0.066667,,,,", ",0.066667,,2,,", 4, 12,
	 "tx of frame 2 is blank, but another part of its translation is given",
	 "tx, ty and tz together, or none of them"},
	{"1.5,-2,", "1.5,,", 2, 9,
	 "ty of frame 0 is blank, but another part of its translation is given",
	 "tx, ty and tz together, or none of them"},
	{"0.033333,,,,", "0.033333,1,2,3,", 4, 12,
	 "tx is blank in frame 2, the last that the translation needs",
	 ENDS_ACCEPTED("translation")},
	{"180,5.729578,22.723793", "180,,22.723793", 4, 19,
	 "ry is blank in frame 2, the last that the rotation needs", ENDS_ACCEPTED("rotation")},
	{"-180,5.729578,11.460703", ",,", 2, 17,
	 "rx is blank in frame 0, the first that the rotation needs", ENDS_ACCEPTED("rotation")},
	{BONE01_2, "", 3, 1, "frame 2 is missing, the last that the rotation needs",
	 ENDS_ACCEPTED("rotation")},
	{"\n0,0,1.5,-2,0.25,-180", "\n0,0,1.5,-2,0.25,", 2, 17,
	 "rx is blank in frame 0, the first that the rotation needs", ENDS_ACCEPTED("rotation")},
	{"0.033333", "0.04", 3, 3, "only the time was changed, and time is read-only",
	 TIME_ACCEPTED},
	{"0.033333", "00:00:04", 3, 3, "only the time was changed, and time is read-only",
	 TIME_ACCEPTED},
	{"1,1,1\n", "1,1,1,,,7\n", 2, 49, "\"7\" stands in a column without a name",
	 "as many cells as the first line has; between commas, decimals have a point or stand in "
	 "quotes"},
	{"1.5,-2", "\"1.5,-2", 2, 5, "the quote that begins here is never closed",
	 "numbers need no quotes"},
	{"1.5,-2", "\"1.5\"2,-2", 2, 10, "a quote or a text behind one inside a cell",
	 "numbers need no quotes"},
	{"1.5,-2", "1.5\xff,-2", 2, 8, "this is not UTF-8",
	 "text saved as UTF-8, or as UTF-16 with a byte order mark"},
};

START_TEST(a_slip_is_refused_where_it_stands)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	const struct slip *slip = &slips[_i];

	expect_refused(&b, replaced(BONE01, slip->from, slip->to), ERR_TEXT, slip->line,
		       slip->column, slip->message, slip->accepted);
	bone_close(&b);
}
END_TEST

START_TEST(a_row_missing_at_the_beginning_is_refused)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	expect_refused(&b, BONE01_HEADER BONE01_1 BONE01_2, ERR_TEXT, 2, 1,
		       "frame 0 is missing, the first that the rotation needs",
		       ENDS_ACCEPTED("rotation"));
	bone_close(&b);
}
END_TEST

START_TEST(a_curve_over_a_part_of_the_clip_ends_with_its_own_last_key)
{
	struct bone b = bone_open("odd512.canm", "dup~2", "zz");
	struct buf text = view_text(&view_bone_csv, &b.at);

	expect_refused(&b, replaced((char *)text.data, "4,0.066667,4,8,12,", "4,0.066667,,,,"),
		       ERR_TEXT, 6, 12,
		       "tx is blank in frame 4, the last that the translation needs",
		       ENDS_ACCEPTED("translation"));
	buf_release(&text);
	bone_close(&b);
}
END_TEST

START_TEST(a_quaternion_is_one_value)
{
	struct bone b = bone_open("edf6_768.canm", "turn", "body");

	expect_refused(&b, replaced(BODY, "0,0.70710677,0,0.70710677", "0,0.7,0,0.6"), ERR_TEXT, 3,
		       30, "the quaternion has length 0.921954, not 1",
		       "0.000000000, 0.759256584, 0.000000000, 0.650791395; or angles in degrees, "
		       "which --rotations=euler shows");
	expect_refused(&b, replaced(BODY, "0,0.70710677,0,0.70710677", "0,0.7,,0.7"), ERR_TEXT, 3,
		       36, "qz of frame 1 is blank, but another part of its rotation is given",
		       "qx, qy, qz and qw together, or none of them");
	expect_refused(&b, replaced(BODY, "0,0.70710677,0,0.70710677", "0,0,0,0"), ERR_TEXT, 3, 30,
		       "the quaternion has length 0, not 1",
		       "four numbers whose squares add up to 1, such as 0, 0, 0, 1; or angles in "
		       "degrees, which --rotations=euler shows");
	expect_refused(&b, "frame,qw,qx,qy,rz\n", ERR_TEXT, 1, 16,
		       "there are Euler and quaternion columns in one text", "qx, qy, qz, qw");
	expect_refused(&b, "frame,qw\n0,half\n", ERR_TEXT, 2, 3, "qw: \"half\" is not a number",
		       "a decimal number such as 0.25 (-1 to 1), or nothing where there is no key");
	bone_close(&b);
}
END_TEST

START_TEST(a_part_of_a_role_removes_nothing)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	expect_refused(&b, "frame,tx\n0,\n", ERR_TEXT, 1, 7,
		       "a part of the translation is blank in all rows",
		       "blanks in all rows of tx, ty and tz, which remove the translation");
	bone_close(&b);
	b = bone_open("wiki512.canm", "walk", "hip");
	expect_refused(&b, "frame,sx\n0,1\n", ERR_TEXT, 2, 1,
		       "frame 0 gets a new key, but there is no column sy",
		       "sx, sy and sz together, or none of them");
	bone_close(&b);
}
END_TEST

START_TEST(a_role_that_the_format_cannot_store_is_refused)
{
	struct bone b = bone_open("wiki512.canm", "walk", "hip");
	struct track *track = anim_edit_track(b.file.anim, b.at.clip, b.at.track);

	track->roles = 1 << ROLE_TRANSLATION | 1 << ROLE_ROTATION;
	expect_refused(&b, "frame,sx,sy,sz\n0,,,\n1,1,1,1\n", ERR_STORE, 3, 3,
		       "canm stores no scale for this bone", "");
	expect_unchanged(&b, bytes_of("frame,sx,sy,sz\n0,,,\n"));
	bone_close(&b);
}
END_TEST

START_TEST(no_text_and_no_rows_say_nothing)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");
	const char *accepted = "rows; keys are removed by blank cells in the rows";

	expect_refused(&b, "", ERR_EMPTY, 0, 0, "the text is empty", "");
	expect_refused(&b, "\n,,,\n\n", ERR_EMPTY, 0, 0, "the text is empty", "");
	expect_refused(&b, BONE01_HEADER, ERR_EMPTY, 0, 0, "there is a header and no row",
		       accepted);
	expect_refused(&b, "frame,tx,ty", ERR_EMPTY, 0, 0, "there is a header and no row",
		       accepted);
	bone_close(&b);
	b = bone_open("wiki512.canm", "walk", "\xe5\x8f\xb3\xe6\x89\x8b");
	expect_unchanged(&b, bytes_of(BONE01_HEADER));
	expect_refused(&b, "", ERR_EMPTY, 0, 0, "the text is empty", "");
	bone_close(&b);
}
END_TEST

START_TEST(a_half_written_last_line_ends_too_early)
{
	static const char *const early[] = {
		"fra",
		"frame,time,t",
		BONE01_HEADER "0,0,1.5,-",
		BONE01_HEADER "0,0,1.5,",
		BONE01_HEADER "0,0,1.5,-2,0.25",
		BONE01_HEADER "0,0,1.5,-2,0.25,\"-18",
		BONE01_HEADER BONE01_0 BONE01_1 "2,0.066667,,,,180,5.729578,22.72",
		BONE01_HEADER BONE01_0 BONE01_1
		"2,0.066667,,,,180,5.729578,22.723793,1,1.0000153,-",
		"frame,time\n0,0\n\xe4\xbd",
	};
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	for (size_t i = 0; i < ARRAY_SIZE(early); i++) {
		struct err err;

		ck_assert_ptr_null(parse(&b, early[i], &err));
		ck_assert_msg(err.code == ERR_EARLY, "%s: %s", early[i], err.message);
	}
	expect_unchanged(&b, bytes_of(replaced(BONE01, "1.0000229\n", "1.0000229")));
	expect_refused(&b, BONE01_HEADER "0,0,x,-", ERR_TEXT, 2, 5, "tx: \"x\" is not a number",
		       NUMBER_ACCEPTED);
	expect_refused(&b, replaced(BONE01, BONE01_2, "2,0.066667,x\n"), ERR_TEXT, 4, 12,
		       "tx: \"x\" is not a number", NUMBER_ACCEPTED);
	expect_refused(&b,
		       replaced(BONE01_HEADER BONE01_0 BONE01_1, "1.5,1.5,1.5\n", "1.5,1.5,1.5"),
		       ERR_TEXT, 3, 1, "frame 2 is missing, the last that the rotation needs",
		       ENDS_ACCEPTED("rotation"));
	bone_close(&b);
}
END_TEST

/* A text that is cut anywhere is refused, or has everything that the whole one has. */
START_TEST(a_text_cut_short_removes_nothing)
{
	struct bone b = bone_open("wiki512.canm", "walk", "Bone01");

	for (size_t size = 0; size < strlen(BONE01); size++) {
		struct err err = {0};
		struct anim *edited = view_bone_csv.parse(
			&b.at, (struct bytes){(const uint8_t *)BONE01, size}, &err);

		ck_assert_msg(edited || err.code != ERR_NONE, "at %zu", size);
		for (int r = 0; edited && r < ROLE_COUNT; r++)
			ck_assert_msg(track_in(edited, &b.at)->curve[r], "at %zu", size);
		anim_free(edited);
	}
	bone_close(&b);
}
END_TEST

/* ---- any bytes ---- */

static void check_any_bytes(const struct bone *b)
{
	static const char letters[] = "0123456789.,-\n\r\"\t ;etxyzn\0\xff\xc3";
	struct buf text = view_text(&view_bone_csv, &b->at);

	for (int round = 0; round < 400; round++) {
		/*
		 * Use a block of exactly this size, so that a sanitizer detects reads past the end.
		 */
		size_t size = (size_t)rand() % (text.size + 1);
		uint8_t *copy = malloc(size + 1);
		struct bytes any = {copy + 1, size};
		struct err err = {0};
		struct anim *edited;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy + 1, text.data, size);
		for (int i = rand() % 6; size && i >= 0; i--)
			copy[1 + (size_t)rand() % size] =
				(uint8_t)letters[(size_t)rand() % (sizeof(letters) - 1)];
		edited = view_bone_csv.parse(&b->at, any, &err);
		ck_assert((edited != NULL) == (err.code == ERR_NONE));
		ck_assert(edited || err.message[0]);
		ck_assert(!err.placed || err.at + err.length <= size);
		anim_free(edited);
		free(copy);
	}
	buf_release(&text);
}

START_TEST(any_bytes_are_read_or_refused)
{
	srand(2);
	each_bone(check_any_bytes, (enum rotations)_i);
}
END_TEST

/* ---- the short way ---- */

/*
 * Parses a text by the long way: the fast path of bone_plain.c does not take a text with a byte
 * order mark.
 */
static struct anim *parse_long(const struct shown *at, const char *text, struct err *err)
{
	struct buf marked = BUF_INIT;
	struct anim *edited;

	buf_text(&marked, "\xef\xbb\xbf");
	buf_text(&marked, text);
	ck_assert(!marked.failed);
	edited = view_bone_csv.parse(at, buf_bytes(&marked), err);
	buf_release(&marked);
	return edited;
}

static void expect_both_ways(const struct shown *at, const char *text)
{
	struct err shorter = {0}, longer = {0};
	struct anim *a = view_bone_csv.parse(at, bytes_of(text), &shorter);
	struct anim *b = parse_long(at, text, &longer);

	ck_assert_msg(!a == !b, "%s\n%s: %s", text, a ? "accepted" : shorter.message,
		      b ? "accepted" : longer.message);
	ck_assert_msg(shorter.code == longer.code, "%s\n%s", text, shorter.message);
	for (int r = 0; a && r < ROLE_COUNT; r++) {
		const struct curve *x = track_in(a, at)->curve[r], *y = track_in(b, at)->curve[r];
		const struct curve *old = track_in(at->anim, at)->curve[r];

		ck_assert_msg((x == old) == (y == old) && curve_same(x, y), "%s of\n%s",
			      role_names[r], text);
	}
	anim_free(a);
	anim_free(b);
}

static uint32_t random_state;

static uint32_t random_below(uint32_t end)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(random_state >> 8) * end >> 24);
}

/* Makes a new text for a cell whose old text is `was`. */
static void random_cell(char out[64], const char *was, size_t size)
{
	static const char *const odd[] = {"",    "0",    "-0",  "1",      "-1",    "0.5",  "1.50",
					  "nan", "-inf", "1e3", "12..5",  ".5",    "5.",   " 1",
					  "+2",  "007",  "-",   "999999", "1e-40", "4e38", "\"1\""};
	double value = 0;

	snprintf(out, 64, "%.*s", (int)size, was);
	sscanf(out, "%lf", &value);
	switch (random_below(5)) {
	case 0:
		snprintf(out, 64, "%s", odd[random_below(ARRAY_SIZE(odd))]);
		break;
	case 1: /* unchanged, or changed in a digit */
		snprintf(out, 64, "%.*g", (int)(5 + random_below(13)), value);
		break;
	case 2:
		snprintf(out, 64, "%.*f", (int)random_below(20), value);
		break;
	case 3:
		snprintf(out, 64, "%.9g", value * (1 + 1e-7 * random_below(20)));
		break;
	default:
		snprintf(out, 64, "%.7g", (int)random_below(2000) / 1000. - 1);
	}
}

/* Returns the text with a random cell changed. */
static void change_cell(const char *text, struct buf *out)
{
	size_t size = strlen(text), begin = random_below((uint32_t)size), end;
	char cell[64];

	while (begin > 0 && !strchr(",\n", text[begin - 1]))
		begin--;
	end = begin + strcspn(text + begin, ",\n");
	random_cell(cell, text + begin, end - begin);
	buf_clear(out);
	buf_add(out, text, begin);
	buf_text(out, cell);
	buf_text(out, text + end);
	buf_char(out, '\0');
	ck_assert(!out->failed);
}

START_TEST(both_ways_of_reading_say_the_same)
{
	struct sample s = sample_open(sample_names[_i]);
	struct buf changed[2] = {BUF_INIT, BUF_INIT};

	random_state = 17;
	for (uint32_t c = 0; c < s.anim->clip_count; c++) {
		for (uint32_t i = 0; i < s.anim->clips[c].track_count; i++) {
			struct shown at = sample_shown(&s, c, s.anim->clips[c].tracks[i].label);
			struct buf own = view_text(&view_bone_csv, &at);

			expect_both_ways(&at, (const char *)own.data);
			for (unsigned round = 0; round < 60; round++) {
				change_cell((const char *)own.data, &changed[0]);
				expect_both_ways(&at, (const char *)changed[0].data);
				change_cell((const char *)changed[0].data, &changed[1]);
				expect_both_ways(&at, (const char *)changed[1].data);
			}
			buf_release(&own);
		}
	}
	buf_release(&changed[0]);
	buf_release(&changed[1]);
	sample_close(&s);
}
END_TEST

Suite *bone_csv_suite(void);

Suite *bone_csv_suite(void)
{
	Suite *s = suite_create("bone_csv");
	TCase *render = tcase_create("render"), *same = tcase_create("same");
	TCase *edit = tcase_create("edit"), *refuse = tcase_create("refuse");

	tcase_add_test(render, a_bone_is_a_table_with_a_row_for_each_frame);
	tcase_add_test(render, rotations_are_shown_in_the_form_that_is_asked_for);
	tcase_add_test(render, a_clip_shows_rotations_in_the_form_that_is_asked_for);
	tcase_add_test(render, a_bone_without_keys_is_a_header);
	tcase_add_test(render, a_curve_that_covers_a_part_of_the_clip_has_rows_for_that_part);
	tcase_add_test(render, a_clip_is_a_table_of_all_its_keys);
	suite_add_tcase(s, render);
	tcase_add_loop_test(same, saving_a_views_own_text_changes_nothing, 0, 3);
	tcase_add_loop_test(same, what_a_spreadsheet_does_to_a_text_changes_nothing, 0, 3);
	tcase_add_test(same, numbers_that_are_hard_on_spreadsheets_are_unchanged);
	tcase_add_test(same, columns_and_rows_may_come_in_any_order_and_be_missing);
	tcase_add_test(same, stale_times_are_ignored_beside_an_edit);
	tcase_add_loop_test(same, both_ways_of_reading_say_the_same, 0,
			    (int)ARRAY_SIZE(sample_names) - 1);
	suite_add_tcase(s, same);
	tcase_add_test(edit, what_is_saved_is_what_is_read);
	tcase_add_test(edit, cells_that_were_not_edited_keep_their_bits);
	tcase_add_test(edit, a_static_curve_is_edited_in_the_first_row);
	tcase_add_test(edit, more_keys_make_a_static_curve_keyed);
	tcase_add_test(edit, a_keyed_curve_stays_keyed_when_its_values_are_equal);
	tcase_add_test(edit, blanks_between_keys_are_filled_in);
	tcase_add_test(edit, a_role_that_is_blank_in_all_rows_is_removed);
	tcase_add_test(edit, a_role_that_was_not_there_is_added);
	tcase_add_test(edit, keys_past_the_end_of_the_clip_survive_an_edit);
	tcase_add_test(edit, a_curve_over_a_part_of_the_clip_may_be_made_longer);
	tcase_add_test(edit, quaternions_are_filled_in_the_shorter_way);
	tcase_add_test(edit, float_quaternions_near_unit_length_are_stored_as_typed);
	tcase_add_loop_test(edit, texts_of_either_form_are_read_in_any_form, 0, 3);
	tcase_add_test(edit, an_edit_in_the_other_form_is_stored_as_the_bone_stores_it);
	tcase_add_test(edit, a_table_of_a_bone_of_the_other_form_is_converted);
	tcase_add_test(edit, what_spreadsheets_make_of_a_text_is_read);
	suite_add_tcase(s, edit);
	tcase_add_loop_test(refuse, a_slip_is_refused_where_it_stands, 0, ARRAY_SIZE(slips));
	tcase_add_test(refuse, a_row_missing_at_the_beginning_is_refused);
	tcase_add_test(refuse, a_curve_over_a_part_of_the_clip_ends_with_its_own_last_key);
	tcase_add_test(refuse, a_quaternion_is_one_value);
	tcase_add_test(refuse, a_part_of_a_role_removes_nothing);
	tcase_add_test(refuse, a_role_that_the_format_cannot_store_is_refused);
	tcase_add_test(refuse, no_text_and_no_rows_say_nothing);
	tcase_add_test(refuse, a_half_written_last_line_ends_too_early);
	tcase_add_test(refuse, a_text_cut_short_removes_nothing);
	tcase_add_loop_test(refuse, any_bytes_are_read_or_refused, 0, 3);
	suite_add_tcase(s, refuse);
	return s;
}
