/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_html.c - the pages that play: their sizes, which texts can reach their markup, and that they
 * stay small. Their looks are tested in browsers (scripts/test-player.sh).
 */
#include "sample.h"
#include "skeleton/skeleton.h"
#include "view/own_digest.h"
#include "view/page.h"
#include "view/x3d_join.h"

#define DATA_BEGIN "id=\"data\">"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

/* Hostile names for bones, clips and files. */
static const char *const hostile[] = {
	"</script><script>alert(1)</script>",
	"\"><img src=x onerror=alert(1)>",
	"<!--<script>",
	"]]>&lt;&#60;",
	"javascript:alert(1)",
	"",
	"\xe2\x80\xa8\xe2\x80\xae'`${alert(1)}",
};

static size_t parts_of(const struct buf *page, struct bytes *data, const char **behind)
{
	const char *text = (const char *)page->data, *begin = strstr(text, DATA_BEGIN);

	ck_assert_ptr_nonnull(begin);
	begin += strlen(DATA_BEGIN);
	data->data = (const uint8_t *)begin;
	data->size = strspn(begin, LETTERS);
	*behind = begin + data->size;
	return (size_t)(begin - text);
}

static struct buf decoded(const struct buf *page)
{
	struct buf out = BUF_INIT;
	struct bytes letters;
	const char *behind;

	parts_of(page, &letters, &behind);
	ck_assert(buf_reserve(&out, letters.size + 3));
	ck_assert(base64_read(letters, out.data, &out.size));
	return out;
}

static bool holds(const struct buf *data, const char *text)
{
	return memmem(data->data, data->size, text, strlen(text)) != NULL;
}

/* ---- sizes ---- */

static unsigned pages;

static void law_size(const struct view *view, const struct shown *at)
{
	struct buf text = view_text(view, at);
	uint64_t size;

	if (view->size) {
		ck_assert(view->size(at, &size));
		ck_assert_msg(size == text.size, "%s: %s: %llu is not %zu", at->file_name,
			      view->file, (unsigned long long)size, text.size);
		pages++;
	}
	buf_release(&text);
}

START_TEST(the_size_is_known_without_the_text)
{
	pages = 0;
	for (const char *const *name = sample_names; *name; name++) {
		struct sample s = sample_open(*name);

		for_each_text(&s, law_size);
		sample_close(&s);
	}
	ck_assert_uint_gt(pages, 25);
}
END_TEST

START_TEST(and_with_a_skeleton)
{
	struct sample s = sample_open("wiki512.canm");
	struct shown at = sample_shown(&s, 0, NULL);
	struct err err = {0};
	struct skeleton *skeleton = skeleton_read(
		bytes_of("bone,parent,tx\nhip,far,1\nfar,above,2\nabove,,3\nBone01,hip,4\n"), NULL,
		&err);
	struct buf without = view_text(&view_clip_html, &at), with, data;

	ck_assert_msg(skeleton != NULL, "%s", err.message);
	at.skeleton = skeleton;
	law_size(&view_clip_html, &at);
	law_size(&view_file_html, &at);
	with = view_text(&view_clip_html, &at);
	data = decoded(&with);
	ck_assert_msg(holds(&data, "above"), "bones that only the skeleton has are there");
	ck_assert_uint_gt(with.size, without.size);
	buf_release(&data);
	buf_release(&with);
	buf_release(&without);
	skeleton_free(skeleton);
	sample_close(&s);
}
END_TEST

/* ---- how small ---- */

/* A clip of `bones` bones with keys in all frames: two roles on a grid, as in CANM. */
struct made {
	struct anim anim;
	struct curve curve;
	struct track *tracks;
	struct clip *clips;
};

static struct made make(const struct sample *like, uint32_t clips, uint32_t bones, uint32_t frames)
{
	struct made m = {.anim = *like->anim, .curve = *like->anim->clips[0].tracks[1].curve[1]};

	ck_assert(m.curve.stored && m.curve.lane[0].form == LANE_GRID);
	m.curve.stored = calloc(frames, 6);
	m.curve.count = frames;
	m.tracks = calloc(bones, sizeof(*m.tracks));
	m.clips = calloc(clips, sizeof(*m.clips));
	ck_assert(m.curve.stored && m.tracks && m.clips);
	m.anim.clips = m.clips;
	m.anim.clip_count = clips;
	return m;
}

static struct shown made_shown(struct made *m, uint32_t bones, uint32_t frames, const char *label)
{
	for (uint32_t i = 0; i < bones; i++) {
		m->tracks[i] = (struct track){.name = label, .label = label, .roles = 7};
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			m->tracks[i].curve[role] = &m->curve;
	}
	for (uint32_t i = 0; i < m->anim.clip_count; i++)
		m->clips[i] = (struct clip){.name = label,
					    .label = label,
					    .frames = frames,
					    .frame_time = 1,
					    .track_count = bones,
					    .tracks = m->tracks};
	return (struct shown){.anim = &m->anim, .file_name = "made.canm"};
}

static void made_free(struct made *m)
{
	free((void *)m->curve.stored);
	free(m->tracks);
	free(m->clips);
}

START_TEST(a_page_of_24_bones_and_31_frames_is_at_most_100_kB)
{
	struct sample s = sample_open("wiki512.canm");
	struct made m = make(&s, 1, 24, 31);
	struct shown at = made_shown(&m, 24, 31, "a_bone_with_a_name");
	struct buf text = view_text(&view_clip_html, &at);

	law_size(&view_clip_html, &at);
	ck_assert_uint_le(text.size, 100000);
	ck_assert_uint_le(page_size(0), 48000);
	buf_release(&text);
	made_free(&m);
	sample_close(&s);
}
END_TEST

/*
 * 40 clips of 200 bones, and numbers of clips for which there are fewer poses, no poses, or not all
 * clips.
 */
START_TEST(the_page_of_a_file_is_at_most_2_MB)
{
	static const uint32_t counts[] = {1, 40, 400, 4000, 60000};
	struct sample s = sample_open("wiki512.canm");

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct made m = make(&s, counts[i], 200, 60);
		struct shown at = made_shown(&m, 200, 60, "one_of_many_clips");
		struct buf text = view_text(&view_file_html, &at);

		law_size(&view_file_html, &at);
		ck_assert_uint_le(text.size, 2000000);
		ck_assert_uint_gt(text.size, counts[i] < 100 ? 50000 : 1000000);
		buf_release(&text);
		made_free(&m);
	}
	sample_close(&s);
}
END_TEST

/* ---- texts in the markup ---- */

/* Checks that two pages are the same byte for byte, except for the data, which must be base64. */
static void assert_same_markup(const struct buf *a, const struct buf *b)
{
	struct bytes data[2];
	const char *behind[2];
	const size_t line = 67;
	const size_t begins = parts_of(a, &data[0], &behind[0]);
	const size_t rest = strlen(behind[0]) - line;

	ck_assert_uint_eq(begins, parts_of(b, &data[1], &behind[1]));
	ck_assert_int_eq(memcmp(a->data, b->data, begins), 0);
	ck_assert_uint_eq(strlen(behind[1]) - line, rest);
	ck_assert_int_eq(memcmp(behind[0], behind[1], rest), 0);
	ck_assert_int_eq(strncmp(behind[1], "</script>\n<script>", 18), 0);
}

START_TEST(no_name_reaches_the_markup)
{
	struct sample s = sample_open("wiki512.canm");
	struct shown plain = sample_shown(&s, 0, NULL);
	struct buf own = view_text(&view_clip_html, &plain);
	struct buf of_file = view_text(&view_file_html, &plain);

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct made m = make(&s, 2, 3, 4);
		struct shown at = made_shown(&m, 3, 4, hostile[i]);
		struct buf text[2], data;

		at.file_name = hostile[i];
		text[0] = view_text(&view_clip_html, &at);
		text[1] = view_text(&view_file_html, &at);
		assert_same_markup(&own, &text[0]);
		assert_same_markup(&of_file, &text[1]);
		data = decoded(&text[0]);
		ck_assert_msg(holds(&data, hostile[i]), "it is there all the same");
		buf_release(&data);
		buf_release(&text[0]);
		buf_release(&text[1]);
		made_free(&m);
	}
	buf_release(&own);
	buf_release(&of_file);
	sample_close(&s);
}
END_TEST

START_TEST(a_page_allows_no_script_but_its_own)
{
	struct sample s = sample_open("small.006");
	struct shown at = sample_shown(&s, 0, NULL);
	struct buf text = view_text(&view_clip_html, &at);
	const char *page = (const char *)text.data;

	ck_assert_ptr_nonnull(strstr(page, "default-src 'none'; script-src 'sha256-"));
	ck_assert_ptr_nonnull(strstr(page, "; style-src 'sha256-"));
	ck_assert_ptr_null(strstr(page, "unsafe"));
	ck_assert_ptr_null(strstr(page, "://"));
	ck_assert_ptr_null(strstr(page_script, "innerHTML"));
	ck_assert_ptr_null(strstr(page_script, "document.write"));
	buf_release(&text);
	sample_close(&s);
}
END_TEST

/*
 * Checks the icon: without one, browsers ask a web server for /favicon.ico, and log that the policy
 * forbids it.
 */
static void check_icon(const struct buf *page)
{
	const char *text = (const char *)page->data, *head_end = strstr(text, "</head>");
	const char *policy = strstr(text, "; img-src data:; ");
	const char *icon = strstr(text, "\n<link rel=\"icon\" href=\"data:,\">\n");

	ck_assert(head_end && policy && icon);
	ck_assert(policy < icon && icon < head_end);
	ck_assert_ptr_null(strstr(policy + 3, "img-src"));
}

START_TEST(a_page_names_an_empty_icon_that_its_policy_allows)
{
	static const struct view *const kinds[] = {&view_clip_html, &view_file_html};
	struct sample s = sample_open("small.006");
	struct shown at = sample_shown(&s, 0, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct buf text = view_text(kinds[i], &at), shared = BUF_INIT;

		check_icon(&text);
		ck_assert(page_shared(buf_bytes(&text), 1, &shared));
		buf_char(&shared, '\0');
		check_icon(&shared);
		buf_release(&shared);
		buf_release(&text);
	}
	sample_close(&s);
}
END_TEST

/* ---- pages of a site ---- */

START_TEST(pages_can_share_the_player)
{
	struct sample s = sample_open("small.006");
	struct shown at = sample_shown(&s, 0, NULL);
	struct buf text = view_text(&view_clip_html, &at), out = BUF_INIT, data[2];

	ck_assert(page_shared(buf_bytes(&text), 2, &out));
	ck_assert(own_digest_valid(buf_bytes(&out)));
	buf_char(&out, '\0');
	out.size--;
	ck_assert_uint_lt(out.size + 40000, text.size);
	ck_assert_ptr_nonnull(
		strstr((char *)out.data, "<script src=\"../../player.js\"></script>"));
	ck_assert_ptr_nonnull(strstr((char *)out.data, "href=\"../../player.css\""));
	data[0] = decoded(&text);
	data[1] = decoded(&out);
	ck_assert(bytes_equal(buf_bytes(&data[0]), buf_bytes(&data[1])));
	for (unsigned i = 0; i < 2; i++)
		buf_release(&data[i]);
	buf_clear(&out);
	ck_assert(!page_shared(bytes_of("<!DOCTYPE html>\n"), 0, &out));
	text.data[text.size / 2] ^= 1;
	ck_assert(!page_shared(buf_bytes(&text), 0, &out));
	ck_assert_uint_eq(out.size, 0);
	buf_release(&out);
	buf_release(&text);
	sample_close(&s);
}
END_TEST

/* ---- where there is one ---- */

/* ---- stills ---- */

#define STILL(x)                                                                                   \
	"<X3D><Scene><Transform translation='" x " 0 0'><Shape><Box/></Shape></Transform>"         \
	"</Scene></X3D>"

static struct x3d_joined *join(const char *first, const char *second)
{
	struct x3d_joined *j = x3d_join_new(2);
	struct err err = {0};

	ck_assert_ptr_nonnull(j);
	ck_assert_msg(x3d_join_add(j, &(struct x3d_still){bytes_of(first), false}, &err) &&
			      x3d_join_add(j, &(struct x3d_still){bytes_of(second), false}, &err),
		      "%s", err.message);
	return j;
}

/* A file of animations has poses; one of stills has none. */
START_TEST(the_page_of_a_file_of_stills)
{
	static const struct still times[] = {{.time = 1}, {.time = 3}};
	const struct clip clips[] = {{.label = "lost", .frames = 2, .stills = times},
				     {.label = "walk", .frames = 2, .stills = times, .loop = true},
				     {.label = "empty", .frames = 2, .stills = times}};
	struct x3d_joined *walk = join(STILL("0"), STILL("4"));
	struct x3d_joined *empty = join("<X3D><Scene/></X3D>", "<X3D><Scene/></X3D>");
	const struct err why = {.code = ERR_TEXT, .message = "no such still"};
	const struct shown_stills stills[] = {
		{.why = &why, .folder = ""}, {walk, NULL, ""}, {empty, NULL, ""}};
	const struct format format = {.name = "kanim", .stills = true, .has_loop = true};
	struct anim anim = {.format = &format, .clips = clips, .clip_count = 3};
	struct shown at = {.anim = &anim, .file_name = "a.kanim", .stills = stills};
	struct buf text, data;
	struct err err = {0};

	ck_assert(view_file_html.present(&at));
	law_size(&view_file_html, &at);
	text = view_text(&view_file_html, &at);
	data = decoded(&text);
	ck_assert_int_eq(data.data[0], 'G');
	/*
	 * The data of the clip: name, frames, 2 s, loop and page, 1 shape, 2 stills, 2 poses, 8
	 * points.
	 */
	ck_assert_ptr_nonnull(memmem(data.data, data.size,
				     "\4\0walk\2\0\0\0\0\0\0\0\0\0\0\100\3\1\0\0\0\2\0\0\0\2\10\14",
				     6 + 4 + 8 + 1 + 4 + 4 + 2 + 1));
	ck_assert_ptr_nonnull(memmem(data.data, data.size,
				     "\4\0lost\2\0\0\0\0\0\0\0\0\0\0\100\0\0\0\0\0\2\0\0\0\0\0",
				     6 + 4 + 8 + 1 + 4 + 4 + 2));
	buf_release(&data);
	buf_release(&text);
	anim.clip_count = 1;
	ck_assert(!view_file_html.present(&at));
	view_file_html.explain(&at, &err);
	ck_assert_str_eq(err.message, "no such still");
	x3d_join_free(walk);
	x3d_join_free(empty);
}
END_TEST

/*
 * Kanims with numbers of animations for which there are fewer poses, no poses, or not all
 * animations.
 */
START_TEST(the_page_of_a_file_of_stills_is_at_most_2_MB)
{
	static const struct still times[] = {{.time = 0}, {.time = 1}};
	static const uint32_t counts[] = {300, 3000, 60000};
	struct x3d_joined *walk = join(STILL("0"), STILL("4"));
	const struct format format = {.name = "kanim", .stills = true};
	const uint32_t count = counts[_i];
	struct clip *clips = calloc(count, sizeof(*clips));
	struct shown_stills *stills = calloc(count, sizeof(*stills));
	struct anim anim = {.format = &format, .clips = clips, .clip_count = count};
	struct shown at = {.anim = &anim, .file_name = "a.kanim", .stills = stills};
	struct buf text;

	ck_assert(clips && stills);
	for (uint32_t i = 0; i < count; i++) {
		clips[i] = (struct clip){.label = "walk", .frames = 2, .stills = times};
		stills[i] = (struct shown_stills){walk, NULL, ""};
	}
	law_size(&view_file_html, &at);
	text = view_text(&view_file_html, &at);
	ck_assert_uint_le(text.size, 2000000);
	ck_assert_uint_gt(text.size, count < 1000 ? 100000 : 500000);
	buf_release(&text);
	free(clips);
	free(stills);
	x3d_join_free(walk);
}
END_TEST

START_TEST(a_clip_that_would_say_nothing_has_none)
{
	struct sample s = sample_open("wiki512.canm");
	unsigned clips = 0;

	for (uint32_t i = 0; i < s.anim->clip_count; i++) {
		struct shown at = sample_shown(&s, i, NULL);

		ck_assert(view_clip_html.present(&at) == view_gltf.present(&at));
		clips += view_clip_html.present(&at);
	}
	ck_assert_uint_eq(clips, 3);
	sample_close(&s);
	s = sample_open("stick.kanim");
	ck_assert(!view_file_html.present(&(struct shown){.anim = s.anim}));
	sample_close(&s);
}
END_TEST

Suite *html_suite(void);

Suite *html_suite(void)
{
	Suite *suite = suite_create("html");
	TCase *t = tcase_create("pages");

	tcase_add_test(t, the_size_is_known_without_the_text);
	tcase_add_test(t, and_with_a_skeleton);
	tcase_add_test(t, a_page_of_24_bones_and_31_frames_is_at_most_100_kB);
	tcase_add_test(t, the_page_of_a_file_is_at_most_2_MB);
	tcase_add_test(t, no_name_reaches_the_markup);
	tcase_add_test(t, a_page_allows_no_script_but_its_own);
	tcase_add_test(t, a_page_names_an_empty_icon_that_its_policy_allows);
	tcase_add_test(t, pages_can_share_the_player);
	tcase_add_test(t, the_page_of_a_file_of_stills);
	tcase_add_loop_test(t, the_page_of_a_file_of_stills_is_at_most_2_MB, 0, 3);
	tcase_add_test(t, a_clip_that_would_say_nothing_has_none);
	suite_add_tcase(suite, t);
	return suite;
}
