/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tree.c - the names in an animation's folder, over every sample. */
#include "random.h"
#include "sample.h"
#include "scratch.h"
#include "store/draft.h"

static struct version *open_version(const char *name)
{
	struct err err = {.code = ERR_NONE};
	struct version *version;
	struct buf bytes;
	char path[128];

	const struct codec *codec = codec_for_name(name);

	snprintf(path, sizeof(path), "tests/data/%s/%s", codec->format->name, name);
	bytes = load_file(path);
	version = version_of_bytes(codec, &bytes, name, NULL, &err);
	ck_assert_msg(version != NULL, "%s", err.message);
	return version;
}

/* A walk that checks that every listed name is found, is the same place, and renders. */
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
		struct version *version = open_version(*name);
		struct walk walk = {{version, *name}, {PLACE_FILE, NULL, 0, 0, 0}, 0};

		ck_assert(tree_list(&walk.tree, &walk.folder, VIEW_SET_ALL, check_place, &walk));
		ck_assert_uint_gt(walk.seen, 5);
		version_put(version);
	}
}
END_TEST

START_TEST(paths_lead_to_places)
{
	static const struct {
		const char *path;
		int kind; /* expected kind of the place; -1: it does not exist */
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
	struct version *version = open_version("wiki512.canm");
	struct tree tree = {version, "wiki512.canm"};
	struct place place;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool found = tree_walk(&tree, cases[i].path, &place);

		ck_assert_msg(found == (cases[i].kind >= 0), "%s", cases[i].path);
		if (found)
			ck_assert_int_eq((int)place.kind, cases[i].kind);
	}
	version_put(version);
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
	struct version *version = open_version("wiki512.canm");
	struct tree tree = {version, "wiki512.canm"};
	struct place bones, clip, place;
	struct err err = {.code = ERR_NONE};
	unsigned listed = 0;
	view_set set;

	ck_assert(view_set_parse("csv", &set, &err));
	ck_assert(tree_walk(&tree, "walk", &clip));
	ck_assert(tree_list(&tree, &clip, set, count, &listed));
	ck_assert_uint_eq(listed, 1); /* only bones/ */
	ck_assert(tree_lookup(&tree, &clip, "clip.kanim", &place));
	ck_assert(tree_walk(&tree, "walk/bones", &bones));
	listed = 0;
	ck_assert(tree_list(&tree, &bones, set, count, &listed));
	ck_assert_uint_eq(listed, 4); /* one CSV per bone */
	version_put(version);
}
END_TEST

START_TEST(a_clip_of_too_many_frames_has_two_views)
{
	struct buf bytes = load_file("tests/data/canm/wiki512.canm");
	struct err err = {.code = ERR_NONE};
	struct tree tree = {NULL, "wiki512.canm"};
	struct place clip = {PLACE_CLIP, NULL, 2, 0, 0}, place;
	struct version *version;
	unsigned listed = 0;

	/* number of frames of the third clip, which has no keys */
	put_u32(bytes.data + 0x140, 65536);
	version = version_of_bytes(codec_named("canm"), &bytes, tree.file_name, NULL, &err);
	ck_assert_msg(version != NULL, "%s", err.message);
	tree.version = version;
	ck_assert_uint_eq(version->anim->clips[2].frames, 65536);
	ck_assert(tree_list(&tree, &clip, VIEW_SET_ALL, count, &listed));
	ck_assert_uint_eq(listed, 2);
	ck_assert(tree_lookup(&tree, &clip, "clip.json", &place));
	ck_assert(tree_lookup(&tree, &clip, "curves.csv", &place));
	ck_assert(!tree_lookup(&tree, &clip, "bones", &place));
	ck_assert(!tree_lookup(&tree, &clip, "clip.kanim", &place));
	version_put(version);
}
END_TEST

/*
 * A text beyond the limit is rendered as far as the limit; or not at all, if the number of keys
 * shows that it is too long.
 */
START_TEST(a_text_beyond_the_limit_is_not_made)
{
	struct version *version = open_version("wiki512.canm");
	struct tree tree = {version, "wiki512.canm"};
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
	version_put(version);
}
END_TEST

#define VIEWS "raw, json, skeleton, csv, parts, html, curves, kanim, x3d, gltf, bvh, svg, or all"

START_TEST(lists_of_views_are_read)
{
	struct err err = {.code = ERR_NONE};
	view_set a, b;

	ck_assert(view_set_parse("csv,json", &a, &err));
	ck_assert(view_set_parse("json:csv", &b, &err));
	ck_assert_uint_eq(a, b);
	ck_assert_uint_ne(a, 0);
	ck_assert(view_set_parse("csv,all", &a, &err));
	ck_assert_uint_eq(a, VIEW_SET_ALL);
	ck_assert(view_set_parse("html", &b, &err));
	ck_assert_uint_ne(b, 0);
	ck_assert_uint_eq(view_set_usual() & b, 0);
	for (unsigned i = 0; views[i]; i++)
		ck_assert((view_set_usual() | b) >> i & 1);
	ck_assert(!view_set_parse("al", &a, NULL));
	ck_assert(!view_set_parse("csv,pictures", &a, &err));
	ck_assert_str_eq(err.message, "\"pictures\" is not a view; the views are " VIEWS);
	err_clear(&err);
	ck_assert(!view_set_parse("json:cvs", &a, &err));
	ck_assert_str_eq(err.message, "\"cvs\" is not a view; did you mean \"csv\"? the views "
				      "are " VIEWS);
}
END_TEST

START_TEST(a_place_is_found_again_by_its_labels)
{
	struct version *wiki = open_version("wiki512.canm"), *odd = open_version("odd512.canm");
	struct tree was = {wiki, "wiki512.canm"}, now = {odd, "odd512.canm"};
	struct place place, again;

	ck_assert(tree_walk(&was, "walk/bones/hip.csv", &place));
	ck_assert(tree_again(&was, &was, &place, &again));
	ck_assert_uint_eq(again.track, place.track);
	ck_assert(!tree_again(&now, &was, &place, &again));
	ck_assert(tree_walk(&was, "file.json", &place));
	ck_assert(tree_again(&now, &was, &place, &again));
	version_put(wiki);
	version_put(odd);
}
END_TEST

START_TEST(versions_with_other_names_are_told_apart)
{
	struct version *wiki = open_version("wiki512.canm"), *same = open_version("wiki512.canm");
	struct version *odd = open_version("odd512.canm");
	struct labels *changed;
	size_t size;

	ck_assert_uint_eq(labels_outline(wiki->labels), labels_outline(same->labels));
	ck_assert_uint_ne(labels_outline(wiki->labels), labels_outline(odd->labels));
	((struct clip *)same->anim->clips)[0].frames++; /* one still more than in the other */
	changed = labels_new(same->anim, &size);
	ck_assert_uint_ne(labels_outline(wiki->labels), labels_outline(changed));
	labels_free(changed);
	version_put(wiki);
	version_put(same);
	version_put(odd);
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

START_TEST(clips_of_unknown_stills_are_no_folders)
{
	static const char file[] = "frames.castle-anim-frames";
	struct buf bytes = load_file("tests/data/kanim/frames.castle-anim-frames");
	struct version *version = version_of_bytes(codec_named("kanim"), &bytes, file, NULL, NULL);
	struct tree tree = {version, file};
	struct buf names = BUF_INIT;
	struct place folder, place;

	ck_assert_ptr_nonnull(version);
	ck_assert(tree_walk(&tree, "", &folder));
	ck_assert(tree_list(&tree, &folder, VIEW_SET_ALL, join, &names));
	ck_assert(bytes_equal(buf_bytes(&names),
			      bytes_of("raw.castle-anim-frames file.json frames.csv ")));
	ck_assert(!tree_walk(&tree, "walk", &place));
	ck_assert(!tree_walk(&tree, "walk/clip.json", &place));
	buf_release(&names);
	version_put(version);
}
END_TEST

/* ---- since when a text is the same ---- */

/*
 * A file that is edited at random, through its texts, its skeleton and by other programs, and its
 * versions.
 */
#define STEPS 60
#define PINNED 6
#define MAX_FRAMES 3

struct history {
	const char *name;
	struct store *store;
	struct source *source;
	struct where where;
	/* versions that stay in use, by step modulo PINNED; NULL: none yet */
	struct version *pinned[PINNED];
	struct version *now;
	/* number of texts that were the same as before, or not, by their age */
	unsigned same, other;
	char chosen[512]; /* a random view to be edited */
	unsigned views;
};

static bool names_of(void *closure, const char *name, const struct place *place)
{
	(void)place;
	buf_format(closure, "%s/", name);
	return true;
}

/* Returns a view's text, or a folder's names. */
static struct buf content(const struct tree *tree, const struct place *place)
{
	struct buf out = BUF_INIT;

	if (place->kind == PLACE_VIEW)
		tree_render(tree, place, &out);
	else
		tree_list(tree, place, VIEW_SET_ALL, names_of, &out);
	ck_assert(!out.failed);
	return out;
}

static void ck_since(struct history *h, const struct place *place, const char *path)
{
	const struct tree now = {h->now, h->name};
	const uint64_t since = tree_since(&now, place);
	struct buf text = content(&now, place);

	ck_assert_uint_le(since, h->now->generation);
	for (unsigned i = 0; i < PINNED && h->pinned[i]; i++) {
		const struct tree old = {h->pinned[i], h->name};
		struct place then;
		struct buf was;

		if (since > old.version->generation) {
			h->other++;
			continue;
		}
		h->same++;
		ck_assert_msg(tree_again(&old, &now, place, &then), "%s was not there", path);
		was = content(&old, &then);
		ck_assert_msg(bytes_equal(buf_bytes(&text), buf_bytes(&was)), "%s: %s is other",
			      h->name, path);
		buf_release(&was);
	}
	buf_release(&text);
}

struct visit {
	struct history *h;
	char prefix[300];
};

static bool visit_place(void *closure, const char *name, const struct place *place)
{
	const struct visit *visit = closure;
	struct history *h = visit->h;
	const struct tree now = {h->now, h->name};
	struct visit below_it = {.h = h};
	char path[600];

	snprintf(path, sizeof(path), "%s%s", visit->prefix, name);
	if (place->kind == PLACE_VIEW && place->view->place == VIEW_OF_FRAME &&
	    place->frame >= MAX_FRAMES)
		return true;
	ck_since(h, place, path);
	if (place->kind != PLACE_VIEW) {
		snprintf(below_it.prefix, sizeof(below_it.prefix), "%.297s/", path);
		return tree_list(&now, place, VIEW_SET_ALL, visit_place, &below_it);
	}
	if ((place->view->parse || place->view->parse_skeleton) && below(++h->views) == 0)
		snprintf(h->chosen, sizeof(h->chosen), "%.500s", path);
	return true;
}

static void look(struct history *h, unsigned step)
{
	const struct place top = {PLACE_FILE, NULL, 0, 0, 0};
	struct visit visit = {.h = h};
	struct err err = {.code = ERR_NONE};

	version_put(h->now);
	h->now = source_get(h->source, &h->where, &err);
	ck_assert_msg(h->now != NULL, "%s", err.message);
	h->views = 0;
	ck_since(h, &top, "");
	tree_list(&(struct tree){h->now, h->name}, &top, VIEW_SET_ALL, visit_place, &visit);
	version_put(h->pinned[step % PINNED]);
	h->pinned[step % PINNED] = version_get(h->now);
}

/* Changes a digit somewhere in the text of a view, and saves it; it may be refused. */
static void edit_text(struct history *h)
{
	const struct tree tree = {h->now, h->name};
	struct attempt attempt = {.base = version_get(h->now), .event = DRAFT_SAVE};
	struct err err = {.code = ERR_NONE};
	struct buf text;

	ck_assert(tree_walk(&tree, h->chosen, &attempt.place));
	text = content(&tree, &attempt.place);
	for (unsigned tries = 0; text.size && tries < 400; tries++) {
		uint8_t *c = &text.data[below((uint32_t)text.size)];

		if (*c < '0' || *c > '9')
			continue;
		*c = (uint8_t)('0' + below(10));
		break;
	}
	attempt.text = text_new(&text);
	attempt_commit(&attempt, h->source, &h->where, &err);
	attempt_release(&attempt);
}

/* Restores an old version or writes a skeleton, as another program. */
static void write_outside(struct history *h)
{
	const struct version *old = h->pinned[below(PINNED)];
	char skeleton[NAME_MAX + 1];
	const struct track *track;
	FILE *f;

	if (below(2) && h->now->anim->clips[0].track_count) {
		track = &h->now->anim->clips[0].tracks[0];
		ck_assert(skeleton_own_name(h->name, skeleton));
		f = fopen(skeleton, "we");
		fprintf(f, "bone,tx\n%s,%u\n", track->label, below(3));
	} else {
		f = fopen(h->name, "we");
		if (!old)
			old = h->now;
		ck_assert_uint_eq(fwrite(old->bytes.data, 1, old->bytes.size, f), old->bytes.size);
	}
	ck_assert_int_eq(fclose(f), 0);
}

static const char *const edited_samples[] = {"canm/wiki512.canm", "cas/v203.cas",
					     "owanim/small.006", "ribbon/flags0.anm",
					     "ff9anim/padnibble.ff9anim"};

START_TEST(what_is_said_to_be_the_same_text_is_the_same_text)
{
	const struct store_options options = {.cache = 1 << 20, .max_file = 1 << 24};
	struct history h = {.name = strrchr(edited_samples[_i], '/') + 1};
	struct err err = {.code = ERR_NONE};
	struct state *state;
	struct buf bytes;
	char path[128];
	FILE *f;

	random_state = (uint64_t)_i + 1;
	snprintf(path, sizeof(path), "tests/data/%s", edited_samples[_i]);
	bytes = load_file(path);
	scratch_begin();
	f = fopen(h.name, "we");
	ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
	ck_assert_int_eq(fclose(f), 0);
	state = state_new(scratch_root, NULL, false, &err);
	h.store = store_new(&options, state);
	h.source = source_new(h.store);
	h.where = (struct where){.dir = scratch_root, .folder = "", .name = h.name};
	for (unsigned step = 0; step < STEPS; step++) {
		look(&h, step);
		if (below(4))
			edit_text(&h);
		else
			write_outside(&h);
	}
	ck_assert_uint_gt(h.same, STEPS);
	ck_assert_uint_gt(h.other, STEPS);
	version_put(h.now);
	for (unsigned i = 0; i < PINNED; i++)
		version_put(h.pinned[i]);
	source_free(h.source);
	store_free(h.store);
	state_free(state);
	buf_release(&bytes);
	scratch_end();
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
	tcase_add_test(tc, clips_of_unknown_stills_are_no_folders);
	tcase_add_loop_test(tc, what_is_said_to_be_the_same_text_is_the_same_text, 0,
			    ARRAY_SIZE(edited_samples));
	suite_add_tcase(suite, tc);
	return suite;
}
