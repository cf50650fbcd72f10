/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_svg.c - pictures: clip.svg and NAME.svg of a bone. The lines of charts are tested in
 * test_plot.c.
 */
#define FIRST_CLIP_OF "edf6_768.canm"
#include "first_clip.h"
#include "skeleton/skeleton.h"
#include "text/xml.h"
#include "view/svg.h"

#include <math.h>

/* ---- rules for every picture ---- */

static bool check_tag(void *user, const struct xml_tag *tag)
{
	unsigned *tags = user;

	++*tags;
	for (size_t i = 0; i < tag->attribute_count; i++) {
		struct bytes value = tag->attributes[i].value;

		ck_assert_ptr_null(memmem(value.data, value.size, "nan", 3));
		ck_assert_ptr_null(memmem(value.data, value.size, "inf", 3));
	}
	return true;
}

static unsigned check_picture(const struct buf *text)
{
	const struct xml_events events = {.open = check_tag};
	struct err err = {0};
	struct xml x;
	unsigned tags = 0;

	ck_assert_msg(xml_open(&x, buf_bytes(text), &err) && xml_read(&x, &events, &tags), "%s",
		      err.message);
	xml_release(&x);
	ck_assert_ptr_null(strstr((const char *)text->data, ">nan<"));
	ck_assert_ptr_null(strstr((const char *)text->data, "inf<"));
	return tags;
}

/* Checks all pictures of a model; returns how many there are. */
static unsigned check_pictures(const struct shown *of)
{
	struct shown now = *of;
	unsigned pictures = 0;

	for (now.clip = 0; now.clip < now.anim->clip_count; now.clip++) {
		const struct clip *clip = &now.anim->clips[now.clip];
		bool any = false;
		struct buf text;

		for (now.track = 0; now.track < clip->track_count; now.track++) {
			if (!view_bone_svg.present(&now))
				continue;
			text = view_text(&view_bone_svg, &now);
			ck_assert_uint_ge(check_picture(&text), 9);
			ck_assert_uint_le(text.size, 200000);
			buf_release(&text);
			any = true;
			pictures++;
		}
		now.track = 0;
		ck_assert_int_eq(view_clip_svg.present(&now), any);
		if (!any)
			continue;
		text = view_text(&view_clip_svg, &now);
		ck_assert_uint_gt(check_picture(&text), 10);
		buf_release(&text);
	}
	return pictures;
}

START_TEST(pictures_of_all_samples_are_xml)
{
	unsigned pictures = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		struct shown all = sample_shown(&one, 0, NULL);

		pictures += check_pictures(&all);
		sample_close(&one);
	}
	ck_assert_uint_gt(pictures, 40);
}
END_TEST

/* ---- words ---- */

START_TEST(any_text_becomes_xml)
{
	static const struct {
		const char *text;
		unsigned limit;
		const char *escaped;
	} texts[] = {
		{"a<b>&\"c\"", 20, "a&lt;b&gt;&amp;&quot;c&quot;"},
		{"a\x01\n\tb", 20, "a���b"},
		{"\xed\xa0\x80 \xef\xbf\xbf \xef\xbf\xbe", 20, "� � �"},
		{"\xff\xc3", 20, "��"},
		{"右手", 4, "右手"},
		{"右手", 3, "右…"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcdef…"},
		{"é🦴", 3, "é🦴"},
		{"", 0, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct buf out = BUF_INIT;

		svg_escape(texts[i].text, texts[i].limit, &out);
		buf_char(&out, '\0');
		ck_assert_str_eq((const char *)out.data, texts[i].escaped);
		buf_release(&out);
	}
}
END_TEST

START_TEST(numbers_have_one_decimal)
{
	static const struct {
		double v;
		const char *text;
	} numbers[] = {{0, "0"}, {-0.04, "0"}, {1.26, "1.3"}, {31999.94, "31999.9"}, {-2, "-2"}};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct buf out = BUF_INIT;

		svg_number(numbers[i].v, &out);
		buf_char(&out, '\0');
		ck_assert_str_eq((const char *)out.data, numbers[i].text);
		buf_release(&out);
	}
}
END_TEST

static void assert_says(const struct view *view, const struct shown *now, const char *words)
{
	struct buf text = view_text(view, now);

	ck_assert_msg(strstr((const char *)text.data, words) != NULL, "no \"%s\" in %.500s", words,
		      (const char *)text.data);
	buf_release(&text);
}

START_TEST(a_picture_says_what_it_shows)
{
	struct sample one = sample_open("wiki512.canm");
	struct shown bone = sample_shown(&one, 0, "Bone01");

	assert_says(&view_bone_svg, &bone, ">Bone01</tspan> in walk<");
	assert_says(&view_bone_svg, &bone, "wiki512.canm, 3 frames of 0.033333 s<");
	assert_says(&view_bone_svg, &bone, "translation</tspan> (m), 1.5, -2, 0.25 in all frames<");
	assert_says(&view_bone_svg, &bone, "rotation</tspan> (degrees), 3 keys<");
	assert_says(&view_bone_svg, &bone, "scale</tspan> (factor), 3 keys, x ≈ y ≈ z<");
	assert_says(&view_clip_svg, &bone, ">walk</tspan> in wiki512.canm<");
	sample_close(&one);

	bone = sample_shown(&s, 0, "body");
	assert_says(&view_bone_svg, &bone, "rotation</tspan> (degrees, of quaternions), ");

	one = sample_open("empty_mid.anm");
	bone = sample_shown(&one, 0, NULL);
	assert_says(&view_clip_svg, &bone, "drawn where the bars are");
	sample_close(&one);
}
END_TEST

/*
 * A picture is readable on any background: a rectangle below everything has the size of the
 * picture, with and without the style.
 */
START_TEST(a_picture_has_a_ground_of_its_own)
{
	struct shown bone = sample_shown(&s, 0, "body");

	assert_says(&view_bone_svg, &bone, " color=\"#222\" fill=\"currentColor\"");
	assert_says(&view_bone_svg, &bone,
		    "<style>@media(prefers-color-scheme:dark)"
		    "{.animfs{color:#ddd}.animfs-paper{fill:#1b1b1b}}</style>\n"
		    "<rect class=\"animfs-paper\" fill=\"#fff\" width=\"760\" height=\"");
	assert_says(&view_clip_svg, &bone, "</style>\n<rect class=\"animfs-paper\" fill=\"#fff\" ");
}
END_TEST

static unsigned tag_count(const struct buf *text, const char *tag)
{
	unsigned count = 0;

	for (const char *p = (const char *)text->data; (p = strstr(p, tag)); p++)
		count++;
	return count;
}

START_TEST(a_picture_has_a_title_and_a_description)
{
	struct sample one = sample_open("wiki512.canm");
	struct shown bone = sample_shown(&one, 0, "Bone01");

	assert_says(&view_bone_svg, &bone,
		    ">\n<title>Bone01 in walk</title>\n<desc>Curves of one bone of wiki512.canm: "
		    "x, y and z of its translation, rotation, scale over 3 frames of 0.033333 s."
		    "</desc>\n<style>");
	assert_says(&view_clip_svg, &bone,
		    ">\n<title>walk in wiki512.canm</title>\n<desc>Curves of 3 bones, a row for "
		    "each: x, y and z of their translation, rotation, scale over 3 frames of "
		    "0.033333 s.</desc>\n<style>");
	sample_close(&one);
}
END_TEST

START_TEST(a_sheet_says_what_its_cells_are)
{
	struct sample one = sample_open("wiki512.canm");
	struct shown clip = sample_shown(&one, 0, "Bone01");

	assert_says(&view_clip_svg, &clip, ">1.5, -2, 0.25<");
	assert_says(&view_clip_svg, &clip, ">no keys<");
	assert_says(&view_clip_svg, &clip, ">x ≈ y ≈ z<"); /* the legend of the scale */
	assert_says(&view_bone_svg, &clip, "scale</tspan> (factor), 3 keys, x ≈ y ≈ z<");
	assert_says(&view_clip_svg, &clip, "rotation</tspan> (degrees)<");
	sample_close(&one);
	assert_says(&view_clip_svg, &at, "rotation</tspan> (degrees, of quaternions)<");
}
END_TEST

/* ---- order ---- */

/* Finds the name in the row of a bone, and its distance from the left. */
static const char *row_name(const struct buf *text, const char *bone, double *indent)
{
	char words[64];
	const char *found, *tag;

	snprintf(words, sizeof(words), ">%s</text>\n</svg>", bone);
	found = strstr((const char *)text->data, words);
	ck_assert_msg(found != NULL, "no row of %s", bone);
	for (tag = found; strncmp(tag, "<text x=\"", 9) != 0;)
		tag--;
	*indent = strtod(tag + 9, NULL);
	return found;
}

START_TEST(bones_stand_below_their_parents)
{
	static const char table[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
				    "hip,,0,0,0,0,0,0,1,1,1\nmid,hip,0,0,0,0,0,0,1,1,1\n"
				    "Bone01,,0,0,0,0,0,0,1,1,1\n"
				    "Scene_Root,mid,0,0,0,0,0,0,1,1,1\n";
	struct sample one = sample_open("wiki512.canm");
	struct shown clip = sample_shown(&one, 0, "Bone01");
	struct err err = {0};
	struct skeleton *skeleton = skeleton_read(
		(struct bytes){(const uint8_t *)table, sizeof(table) - 1}, NULL, &err);
	double root, bone, hip;
	struct buf text = view_text(&view_clip_svg, &clip);
	const char *at_root = row_name(&text, "Scene_Root", &root);
	const char *at_bone = row_name(&text, "Bone01", &bone), *at_hip;

	ck_assert(at_root < at_bone && at_bone < row_name(&text, "hip", &hip));
	ck_assert(root == bone && bone == hip);
	buf_release(&text);

	ck_assert_msg(skeleton != NULL, "%s", err.message);
	clip.skeleton = skeleton;
	text = view_text(&view_clip_svg, &clip);
	at_root = row_name(&text, "Scene_Root", &root);
	at_bone = row_name(&text, "Bone01", &bone);
	at_hip = row_name(&text, "hip", &hip);
	ck_assert(at_bone < at_hip && at_hip < at_root);
	/* "mid" has no row, and does not count in the indentation. */
	ck_assert(bone == hip && root == hip + 7);
	buf_release(&text);
	skeleton_free(skeleton);
	sample_close(&one);
}
END_TEST

/* ---- curves that stand still ---- */

static const double odd_values[] = {NAN,    1,    2, INFINITY, -INFINITY, 1e300, 0x1.fffffep127,
				    5e-324, -1e38};

static struct curve odd_curve(void)
{
	struct curve c = {.keyed = true, .count = 3, .values = odd_values};

	for (unsigned axis = 0; axis < 3; axis++)
		c.lane[axis].unit = 1;
	return c;
}

static double height_of(const struct buf *text)
{
	return strtod(strstr((const char *)text->data, " height=\"") + 9, NULL);
}

/* Makes a copy of the model whose first clip has `bones` bones, all with the same curves. */
static struct anim *alike_model(uint32_t bones, const struct curve *curve,
				const struct curve *turns)
{
	struct anim *odd = anim_edit(s.anim);
	struct clip *clip = anim_edit_clip(odd, 0);
	struct track *tracks = arena_alloc(&odd->arena, bones, sizeof(*tracks));

	ck_assert_ptr_nonnull(tracks);
	for (uint32_t i = 0; i < bones; i++) {
		tracks[i] = clip->tracks[0];
		for (int role = 0; role < ROLE_COUNT; role++)
			tracks[i].curve[role] = role == ROLE_ROTATION ? turns : curve;
	}
	clip->tracks = tracks;
	clip->track_count = bones;
	clip->frames = 3;
	return odd;
}

static void check_still(struct shown *now, bool still, const char *words)
{
	struct buf text = view_text(&view_clip_svg, now);

	check_picture(&text);
	if (still)
		ck_assert_double_lt(height_of(&text), 1400);
	else
		ck_assert_double_gt(height_of(&text), 4000);
	ck_assert_int_eq(tag_count(&text, words), still ? 120 : 0);
	buf_release(&text);
	text = view_text(&view_bone_svg, now);
	check_picture(&text);
	if (still)
		ck_assert_double_lt(height_of(&text), 200);
	buf_release(&text);
}

START_TEST(what_stands_still_is_a_line_of_numbers)
{
	/* q and -q are the same rotation. */
	static const double turned[] = {0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 1};
	double values[] = {1.5, -2, 0.25, 1.5, -2, 0.25, 1.5, -2, 0.25};
	struct curve curve = odd_curve(), turns = odd_curve();
	struct shown now = at;
	struct anim *odd;

	curve.values = values;
	turns.kind = CURVE_QUATERNION;
	turns.values = turned;
	turns.lane[3].unit = 1;
	odd = alike_model(60, &curve, &turns);
	now.anim = odd;
	now.track = 7;
	check_still(&now, true, ">1.5, -2, 0.25 (3 keys)<");
	assert_says(&view_clip_svg, &now, ">0, 0, 0 (3 keys)<");
	assert_says(&view_bone_svg, &now, "1.5, -2, 0.25 in all frames, 3 keys<");
	values[7] = -2.0001;
	check_still(&now, false, ">1.5, -2, 0.25 (3 keys)<");
	/* A gap is not a value, even at the beginning, and neither is an infinity. */
	values[7] = NAN;
	check_still(&now, false, ">1.5, -2, 0.25 (3 keys)<");
	values[1] = values[4] = NAN;
	check_still(&now, false, "in all frames");
	values[1] = values[4] = values[7] = INFINITY;
	check_still(&now, false, "in all frames");
	anim_free(odd);
}
END_TEST

/* ---- odd models ---- */

START_TEST(odd_names_and_numbers_are_shown)
{
	struct anim *odd = anim_edit(s.anim);
	struct clip *clip = anim_edit_clip(odd, 0);
	struct track *track = anim_edit_track(odd, 0, 1);
	struct curve curve = odd_curve(), one = odd_curve();
	struct shown now = at;

	clip->label = "<&>\x02\xed\xb0\x80";
	clip->frames = 3;
	clip->frame_time = -INFINITY;
	track->label = "]]>'\"&amp;\xff";
	track->curve[ROLE_TRANSLATION] = track->curve[ROLE_SCALE] = &curve;
	one.kind = CURVE_EULER;
	one.keyed = false;
	one.count = 1;
	track->curve[ROLE_ROTATION] = &one;
	now.anim = odd;
	now.file_name = "<nan>&\n\xfe.canm";
	ck_assert_uint_gt(check_pictures(&now), 0);
	now.track = 1;
	assert_says(&view_bone_svg, &now, "]]&gt;'&quot;&amp;amp;�");
	assert_says(&view_bone_svg, &now, "(degrees), one value for all frames<");
	clip->frame_time = 3e38f;
	ck_assert_uint_gt(check_pictures(&now), 0);
	clip->frame_time = 1e-45f;
	ck_assert_uint_gt(check_pictures(&now), 0);
	clip->frames = 1;
	ck_assert_uint_gt(check_pictures(&now), 0);
	anim_free(odd);
}
END_TEST

/* A picture of 65535 frames without stored keys takes no more room than one of three. */
START_TEST(frames_without_keys_cost_nothing)
{
	struct anim *odd = anim_edit(s.anim);
	struct clip *clip = anim_edit_clip(odd, 0);
	struct shown now = at;
	struct buf text;

	now.anim = odd;
	clip->frames = 65535;
	ck_assert_uint_gt(check_pictures(&now), 0);
	text = view_text(&view_clip_svg, &now);
	ck_assert_uint_lt(text.size, 20000);
	buf_release(&text);
	anim_free(odd);
}
END_TEST

START_TEST(where_nothing_is_there_is_no_picture)
{
	struct anim *odd = anim_edit(s.anim);
	struct clip *clip = anim_edit_clip(odd, 0);
	struct shown now = at;

	now.anim = odd;
	now.track = 1;
	ck_assert(view_bone_svg.present(&now) && view_clip_svg.present(&now));
	clip->frames = 65536;
	ck_assert(!view_bone_svg.present(&now) && !view_clip_svg.present(&now));
	clip->frames = 0;
	ck_assert(!view_bone_svg.present(&now) && !view_clip_svg.present(&now));
	clip->frames = 2;
	for (int role = 0; role < ROLE_COUNT; role++)
		anim_edit_track(odd, 0, 1)->curve[role] = NULL;
	ck_assert(!view_bone_svg.present(&now) && view_clip_svg.present(&now));
	for (int role = 0; role < ROLE_COUNT; role++)
		anim_edit_track(odd, 0, 0)->curve[role] = NULL;
	ck_assert(!view_clip_svg.present(&now));
	now.track = 0;
	clip->track_count = 0;
	ck_assert(!view_bone_svg.present(&now) && !view_clip_svg.present(&now));
	anim_free(odd);
}
END_TEST

/* ---- bounds ---- */

#define FRAMES 3000
#define BONES 1200

/* Makes a model of many bones whose curves are noise. */
static struct anim *noisy_model(uint32_t bones, const struct curve *curve)
{
	static struct curve turns;
	struct anim *odd;

	turns = *curve;
	turns.kind = CURVE_EULER;
	odd = alike_model(bones, curve, &turns);
	anim_edit_clip(odd, 0)->frames = FRAMES;
	return odd;
}

START_TEST(a_sheet_of_noise_has_a_bound)
{
	static const uint32_t bones[] = {1, 37, 255, 500, BONES};
	static double values[3 * FRAMES];
	struct curve curve = odd_curve();
	struct shown now = at;
	uint32_t state = 1;

	curve.values = values;
	curve.count = FRAMES;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		state = state * 1664525 + 1013904223;
		values[i] = state;
	}
	for (size_t i = 0; i < ARRAY_SIZE(bones); i++) {
		struct anim *odd = noisy_model(bones[i], &curve);
		struct buf text;
		double height;

		now.anim = odd;
		text = view_text(&view_clip_svg, &now);
		check_picture(&text);
		ck_assert_uint_le(text.size, 9000000);
		height = strtod(strstr((const char *)text.data, " height=\"") + 9, NULL);
		ck_assert_double_lt(height, 32767); /* cairo does not draw more */
		ck_assert_int_eq(strstr((const char *)text.data, "the first 1000") != NULL,
				 bones[i] > 1000);
		buf_release(&text);
		text = view_text(&view_bone_svg, &now);
		ck_assert_uint_le(text.size, 200000);
		buf_release(&text);
		anim_free(odd);
	}
}
END_TEST

Suite *svg_suite(void);

Suite *svg_suite(void)
{
	Suite *suite = suite_create("svg");
	TCase *t = tcase_create("svg");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, pictures_of_all_samples_are_xml);
	tcase_add_test(t, any_text_becomes_xml);
	tcase_add_test(t, numbers_have_one_decimal);
	tcase_add_test(t, a_picture_says_what_it_shows);
	tcase_add_test(t, a_picture_has_a_ground_of_its_own);
	tcase_add_test(t, a_picture_has_a_title_and_a_description);
	tcase_add_test(t, a_sheet_says_what_its_cells_are);
	tcase_add_test(t, bones_stand_below_their_parents);
	tcase_add_test(t, what_stands_still_is_a_line_of_numbers);
	tcase_add_test(t, odd_names_and_numbers_are_shown);
	tcase_add_test(t, frames_without_keys_cost_nothing);
	tcase_add_test(t, where_nothing_is_there_is_no_picture);
	tcase_add_test(t, a_sheet_of_noise_has_a_bound);
	return suite;
}
