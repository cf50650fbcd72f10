/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tree.c - the names in an animation's folder, over every sample. */
#include "sample.h"
#include "tree.h"

static struct snap *open_snap(const char *name)
{
	struct err err = {.code = ERR_NONE};
	struct snap *snap;
	struct buf bytes;
	char path[128];

	const struct codec *codec = codec_for_name(name);

	snprintf(path, sizeof(path), "tests/data/%s/%s", codec->format->name, name);
	bytes = load_file(path);
	snap = snap_of_bytes(codec, &bytes, name, NULL, &err);
	ck_assert_msg(snap != NULL, "%s", err.message);
	return snap;
}

/* Every name that is listed is found, is the same place, and renders. */
struct walk {
	struct tree tree;
	struct place folder;
	unsigned seen;
};

static bool check_place(void *closure, const char *name, const struct place *place)
{
	struct walk *walk = closure, below = {walk->tree, *place, 0};
	struct place found;

	walk->seen++;
	ck_assert_msg(tree_lookup(&walk->tree, &walk->folder, name, &found), "%s", name);
	ck_assert_int_eq(found.kind, place->kind);
	ck_assert_ptr_eq(found.view, place->view);
	ck_assert_uint_eq(found.clip, place->clip);
	ck_assert_uint_eq(found.track, place->track);
	ck_assert_uint_eq(found.frame, place->frame);
	if (place->kind == PLACE_VIEW) {
		struct buf text = BUF_INIT;

		tree_render(&walk->tree, place, &text);
		ck_assert(!text.failed);
		ck_assert_uint_gt(text.size, 0);
		buf_release(&text);
	} else {
		ck_assert(tree_list(&walk->tree, place, VIEW_SET_ALL, check_place, &below));
		walk->seen += below.seen;
	}
	return true;
}

START_TEST(what_is_listed_is_found)
{
	for (const char *const *name = sample_names; *name; name++) {
		struct snap *snap = open_snap(*name);
		struct walk walk = {{snap, *name}, {PLACE_FILE, NULL, 0, 0, 0}, 0};

		ck_assert(tree_list(&walk.tree, &walk.folder, VIEW_SET_ALL, check_place, &walk));
		ck_assert_uint_gt(walk.seen, 5);
		snap_put(snap);
	}
}
END_TEST

START_TEST(paths_lead_to_places)
{
	static const struct {
		const char *path;
		int kind; /* -1: no such place */
	} cases[] = {
		{"", PLACE_FILE},
		{"file.json", PLACE_VIEW},
		{"raw.canm", PLACE_VIEW},
		{"raw.cas", -1},
		{"walk", PLACE_CLIP},
		{"walk/", PLACE_CLIP},
		{"/walk//bones", PLACE_BONES},
		{"walk/frames", PLACE_FRAMES},
		{"walk/bones/hip.csv", PLACE_VIEW},
		{"walk/bones/\xE5\x8F\xB3\xE6\x89\x8B.json", PLACE_VIEW},
		{"Idle/bones/%.csv", PLACE_VIEW},
		{"walk/bones/hip", -1},
		{"walk/bones/.csv", -1},
		{"walk/bones/nobody.csv", -1},
		{"walk/frames/frame_00002.x3d", PLACE_VIEW},
		{"walk/frames/frame_00003.x3d", -1},
		{"walk/frames/frame_2.x3d", -1},
		{"walk/frames/frame_-0001.x3d", -1},
		{"walk/frames/frame_4294967296.x3d", -1},
		{"walk/clip.json", PLACE_VIEW},
		{"walk/clip.json/x", -1},
		{"empty/frames", -1},
		{"nothing", -1},
		{"..", -1},
	};
	struct snap *snap = open_snap("wiki512.canm");
	struct tree tree = {snap, "wiki512.canm"};
	struct place place;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool found = tree_walk(&tree, cases[i].path, &place);

		ck_assert_msg(found == (cases[i].kind >= 0), "%s", cases[i].path);
		if (found)
			ck_assert_int_eq((int)place.kind, cases[i].kind);
	}
	snap_put(snap);
}
END_TEST

static bool count(void *closure, const char *name, const struct place *place)
{
	(void)name;
	(void)place;
	++*(unsigned *)closure;
	return true;
}

START_TEST(views_that_are_not_listed_are_still_found)
{
	struct snap *snap = open_snap("wiki512.canm");
	struct tree tree = {snap, "wiki512.canm"};
	struct place bones, clip, place;
	struct err err = {.code = ERR_NONE};
	unsigned listed = 0;
	view_set set;

	ck_assert(view_set_parse("csv", &set, &err));
	ck_assert(tree_walk(&tree, "walk", &clip));
	ck_assert(tree_list(&tree, &clip, set, count, &listed));
	ck_assert_uint_eq(listed, 1); /* bones/ alone */
	ck_assert(tree_lookup(&tree, &clip, "clip.kanim", &place));
	ck_assert(tree_walk(&tree, "walk/bones", &bones));
	listed = 0;
	ck_assert(tree_list(&tree, &bones, set, count, &listed));
	ck_assert_uint_eq(listed, 4); /* one CSV a bone */
	snap_put(snap);
}
END_TEST

START_TEST(a_clip_of_too_many_frames_has_two_views)
{
	struct buf bytes = load_file("tests/data/canm/wiki512.canm");
	struct err err = {.code = ERR_NONE};
	struct tree tree = {NULL, "wiki512.canm"};
	struct place clip = {PLACE_CLIP, NULL, 2, 0, 0}, place;
	struct snap *snap;
	unsigned listed = 0;

	put_u32(bytes.data + 0x140, 65536); /* the frames of the third clip, which has no keys */
	snap = snap_of_bytes(codec_named("canm"), &bytes, tree.file_name, NULL, &err);
	ck_assert_msg(snap != NULL, "%s", err.message);
	tree.snap = snap;
	ck_assert_uint_eq(snap->anim->clips[2].frames, 65536);
	ck_assert(tree_list(&tree, &clip, VIEW_SET_ALL, count, &listed));
	ck_assert_uint_eq(listed, 2);
	ck_assert(tree_lookup(&tree, &clip, "clip.json", &place));
	ck_assert(tree_lookup(&tree, &clip, "curves.csv", &place));
	ck_assert(!tree_lookup(&tree, &clip, "bones", &place));
	ck_assert(!tree_lookup(&tree, &clip, "clip.kanim", &place));
	snap_put(snap);
}
END_TEST

/* Rendered as far as the limit, or not at all where the keys tell that it is too long. */
START_TEST(a_text_beyond_the_limit_is_not_made)
{
	struct snap *snap = open_snap("wiki512.canm");
	struct tree tree = {snap, "wiki512.canm"};
	struct place place;
	struct buf text = BUF_INIT;

	ck_assert(tree_walk(&tree, "walk/curves.csv", &place));
	for (size_t limit = 1; limit < 400; limit += 133) {
		tree_text_limit(limit);
		tree_render(&tree, &place, &text);
		ck_assert(text.failed && text.full);
		ck_assert_uint_le(text.size, limit);
		ck_assert_uint_eq(text.size > 0, limit > 1);
		buf_release(&text);
	}
	tree_text_limit(DEFAULT_MAX_TEXT);
	tree_render(&tree, &place, &text);
	ck_assert(!text.failed && !text.full);
	ck_assert_uint_gt(text.size, 400);
	buf_release(&text);
	snap_put(snap);
}
END_TEST

START_TEST(lists_of_views_are_read)
{
	struct err err = {.code = ERR_NONE};
	view_set a, b;

	ck_assert(view_set_parse("csv,json", &a, &err));
	ck_assert(view_set_parse("json:csv", &b, &err));
	ck_assert_uint_eq(a, b);
	ck_assert_uint_ne(a, 0);
	ck_assert(!view_set_parse("csv,pictures", &a, &err));
	ck_assert_str_eq(err.message, "\"pictures\" is not a view");
}
END_TEST

START_TEST(a_place_is_found_again_by_its_labels)
{
	struct snap *wiki = open_snap("wiki512.canm"), *odd = open_snap("odd512.canm");
	struct tree was = {wiki, "wiki512.canm"}, now = {odd, "odd512.canm"};
	struct place place, again;

	ck_assert(tree_walk(&was, "walk/bones/hip.csv", &place));
	ck_assert(tree_again(&was, &was, &place, &again));
	ck_assert_uint_eq(again.track, place.track);
	ck_assert(!tree_again(&now, &was, &place, &again));
	ck_assert(tree_walk(&was, "file.json", &place));
	ck_assert(tree_again(&now, &was, &place, &again));
	snap_put(wiki);
	snap_put(odd);
}
END_TEST

START_TEST(versions_with_other_names_are_told_apart)
{
	struct snap *wiki = open_snap("wiki512.canm"), *same = open_snap("wiki512.canm");
	struct snap *odd = open_snap("odd512.canm");

	ck_assert_uint_eq(tree_names(wiki), tree_names(same));
	ck_assert_uint_ne(tree_names(wiki), tree_names(odd));
	((struct clip *)same->anim->clips)[0].frames++; /* one still more */
	ck_assert_uint_ne(tree_names(wiki), tree_names(same));
	snap_put(wiki);
	snap_put(same);
	snap_put(odd);
}
END_TEST

START_TEST(raw_has_the_files_own_extension)
{
	static const char *const cases[][2] = {
		{"ranger.canm", "raw.canm"}, {"RANGER.CANM", "raw.CANM"}, {"a.b.bin", "raw.bin"},
		{"noext", "raw.canm"},       {"dot.", "raw.canm"},        {".hidden", "raw.canm"},
	};
	char name[NAME_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tree_raw_name(cases[i][0], codec_named("canm")->format, name);
		ck_assert_str_eq(name, cases[i][1]);
	}
}
END_TEST

static bool join(void *closure, const char *name, const struct place *place)
{
	(void)place;
	buf_format(closure, "%s ", name);
	return true;
}

START_TEST(clips_of_stills_are_no_folders)
{
	static const char file[] = "frames.castle-anim-frames";
	struct buf bytes = load_file("tests/data/kanim/frames.castle-anim-frames");
	struct snap *snap = snap_of_bytes(codec_named("kanim"), &bytes, file, NULL, NULL);
	struct tree tree = {snap, file};
	struct buf names = BUF_INIT;
	struct place folder, place;

	ck_assert_ptr_nonnull(snap);
	ck_assert(tree_walk(&tree, "", &folder));
	ck_assert(tree_list(&tree, &folder, VIEW_SET_ALL, join, &names));
	ck_assert(bytes_equal(buf_bytes(&names),
			      bytes_of("raw.castle-anim-frames file.json frames.csv ")));
	ck_assert(!tree_walk(&tree, "walk", &place));
	ck_assert(!tree_walk(&tree, "walk/clip.json", &place));
	buf_release(&names);
	snap_put(snap);
}
END_TEST

Suite *tree_suite(void);
Suite *tree_suite(void)
{
	Suite *suite = suite_create("tree");
	TCase *tc = tcase_create("tree");

	tcase_add_test(tc, what_is_listed_is_found);
	tcase_add_test(tc, paths_lead_to_places);
	tcase_add_test(tc, views_that_are_not_listed_are_still_found);
	tcase_add_test(tc, a_clip_of_too_many_frames_has_two_views);
	tcase_add_test(tc, a_text_beyond_the_limit_is_not_made);
	tcase_add_test(tc, lists_of_views_are_read);
	tcase_add_test(tc, a_place_is_found_again_by_its_labels);
	tcase_add_test(tc, versions_with_other_names_are_told_apart);
	tcase_add_test(tc, raw_has_the_files_own_extension);
	tcase_add_test(tc, clips_of_stills_are_no_folders);
	suite_add_tcase(suite, tc);
	return suite;
}
