/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_draft.c - texts being written, and when they become an edit of a real file. */
#include "draft.h"
#include "file.h"
#include "load.h"
#include "scratch.h"
#include "tree.h"

#define NAME "wiki512.canm"
#define VIEW "walk/bones/hip.csv"
#define LIMIT ((size_t)1 << 20)

static const char edited[] = "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,0.5000076,1,2.00001\n"
			     "2,,1,-1,2.65535\n";
static const char header[] = "frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz\n";

static struct buf sample; /* read before the working directory changes */
static struct state *state;
static struct store *store;
static struct source *source;
static struct snap *snap;
static struct tree tree;
static struct place place;
static struct draft *draft;

static void begin(void)
{
	struct store_options options = {.cache = LIMIT, .max_file = LIMIT};
	struct err err = {.code = ERR_NONE};
	FILE *file;

	sample = load_file("tests/data/canm/" NAME);
	scratch_begin();
	file = fopen(NAME, "wbe");
	ck_assert_uint_eq(fwrite(sample.data, 1, sample.size, file), sample.size);
	ck_assert_int_eq(fclose(file), 0);
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_msg(state != NULL, "%s", err.message);
	store = store_new(&options, state);
	source = source_new(store, "", NAME);
	snap = source_get(source, scratch_root, &err);
	ck_assert_msg(snap != NULL, "%s", err.message);
	tree = (struct tree){snap, NAME};
	ck_assert(tree_walk(&tree, VIEW, &place));
	draft = draft_new();
	draft_begin(draft, snap, &place);
}

static void end(void)
{
	draft_free(draft);
	snap_put(snap);
	source_free(source);
	store_free(store);
	state_free(state);
	buf_release(&sample);
	scratch_end();
}

static void type(const char *text)
{
	ck_assert_int_eq(draft_truncate(draft, NAME, 0, LIMIT), 0);
	ck_assert_int_eq(draft_write(draft, NAME, 0, text, strlen(text), LIMIT), 0);
}

static enum verdict commit(enum draft_event event)
{
	struct err err = {.code = ERR_NONE};

	return draft_commit(draft, event, source, scratch_root, NAME, &err);
}

static bool file_is_sample(void)
{
	struct buf now = load_file(NAME);
	bool same = bytes_equal(buf_bytes(&now), buf_bytes(&sample));

	buf_release(&now);
	return same;
}

static void ck_draft_text(const char *text)
{
	ck_assert(draft_load(draft, NAME));
	ck_assert(bytes_equal(buf_bytes(&draft->text), bytes_of(text)));
}

START_TEST(reading_shows_the_rendered_view)
{
	struct buf rendered = BUF_INIT;

	tree_render(&tree, &place, &rendered);
	buf_char(&rendered, '\0');
	ck_draft_text((const char *)rendered.data);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_NOTHING);
	buf_release(&rendered);
}
END_TEST

START_TEST(writing_in_place_keeps_the_rest)
{
	ck_assert(draft_load(draft, NAME));
	size_t size = draft->text.size;

	ck_assert_int_eq(draft_write(draft, NAME, 2, "XY", 2, LIMIT), 0);
	ck_assert_uint_eq(draft->text.size, size);
	ck_assert_int_eq(memcmp(draft->text.data, "frXYe,time", 10), 0);
	ck_assert_int_eq(draft_write(draft, NAME, size + 3, "Z", 1, LIMIT), 0);
	ck_assert_uint_eq(draft->text.size, size + 4);
	ck_assert_int_eq(memcmp(draft->text.data + size, "\0\0\0Z", 4), 0);
}
END_TEST

START_TEST(a_text_has_a_limit)
{
	ck_assert_int_eq(draft_write(draft, NAME, LIMIT, "x", 1, LIMIT), EFBIG);
	ck_assert_int_eq(draft_write(draft, NAME, UINT64_MAX, "x", 1, LIMIT), EFBIG);
	ck_assert_int_eq(draft_truncate(draft, NAME, LIMIT + 1, LIMIT), EFBIG);
	ck_assert_int_eq(draft_truncate(draft, NAME, LIMIT, LIMIT), 0);
	ck_assert_uint_eq(draft->text.size, LIMIT);
}
END_TEST

START_TEST(a_save_changes_the_file_and_stays_as_typed)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_assert(!file_is_sample());
	ck_draft_text(edited);
	ck_assert_int_eq(commit(DRAFT_CLOSE), VERDICT_NOTHING);
}
END_TEST

START_TEST(a_gap_may_fall_half_way_between_two_stored_values)
{
	type("frame,time,tx,ty,tz,rx,ry,rz\n0,0,0,-1,2,-180,5.729578,11.46070875\n"
	     "2,0.066667,1,-1,2.65535,180,5.729579,22.723793\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
}
END_TEST

/* hip's translation is keyed in the sample; one value and blank rows to the end make it static. */
START_TEST(one_value_and_blank_rows_make_a_keyed_curve_static)
{
	struct err err = {.code = ERR_NONE};
	const struct curve *curve;
	struct snap *now;

	type("frame,time,tx,ty,tz\n0,,0,-1,2\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED); /* it may have been cut short */
	type("frame,time,tx,ty,tz\n0,,0,-1,2\n1,,,,\n2,,,,\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	now = source_get(source, scratch_root, &err);
	curve = now->anim->clips[place.clip].tracks[place.track].curve[ROLE_TRANSLATION];
	ck_assert(!curve->keyed);
	ck_assert(curve_value(curve, 0, 1) == -1);
	snap_put(now);
}
END_TEST

START_TEST(its_own_text_changes_nothing)
{
	struct buf rendered = BUF_INIT;
	struct stat before = stat_of(NAME), after;

	tree_render(&tree, &place, &rendered);
	draft_replace(draft, &rendered);
	ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_SAME);
	after = stat_of(NAME);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}
END_TEST

START_TEST(a_second_save_is_computed_from_the_base)
{
	struct buf rendered = BUF_INIT;

	tree_render(&tree, &place, &rendered);
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	draft_replace(draft, &rendered);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_assert_int_eq(commit(DRAFT_CLOSE), VERDICT_NOTHING);
	/* The edit took the curve out of the channel it shared; what it says is as before. */
	struct err err = {.code = ERR_NONE};
	struct snap *now = source_get(source, scratch_root, &err);
	struct tree again = {now, NAME};
	struct place there;
	struct buf text = BUF_INIT, was = BUF_INIT;

	ck_assert(tree_walk(&again, VIEW, &there));
	tree_render(&again, &there, &text);
	tree_render(&tree, &place, &was);
	ck_assert(bytes_equal(buf_bytes(&text), buf_bytes(&was)));
	buf_release(&text);
	buf_release(&was);
	snap_put(now);
}
END_TEST

START_TEST(half_written_text_is_pending_at_a_flush)
{
	static const char *const texts[] = {"", header,
					    "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,1,1,1\n2,,1,-"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		type(texts[i]);
		ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_PENDING);
		ck_assert(draft->pending);
		ck_assert(file_is_sample());
	}
	ck_assert_int_eq(draft_write(draft, NAME, 0, edited, strlen(edited), LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_assert(!draft->pending);
}
END_TEST

START_TEST(half_written_text_is_no_save_on_demand)
{
	static const char *const texts[] = {"", header,
					    "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,1,1,1\n2,,1,-"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		type(texts[i]);
		ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_REFUSED);
		ck_assert(file_is_sample());
	}
}
END_TEST

START_TEST(half_written_text_stays_after_the_last_close)
{
	type("");
	ck_assert_int_eq(commit(DRAFT_CLOSE), VERDICT_NOTHING);
	draft_end(draft);
	ck_assert(draft->pending);
	draft_begin(draft, snap, &place);
	ck_draft_text("");
	type(header);
	ck_assert_int_eq(commit(DRAFT_CLOSE), VERDICT_REFUSED);
	draft_end(draft);
	ck_assert(draft->pending);
	ck_assert(draft_update(draft, &tree, &place));
	ck_draft_text(header);
	draft_begin(draft, snap, &place);
	ck_assert_int_eq(draft_write(draft, NAME, 0, edited, strlen(edited), LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
}
END_TEST

/* As of a file that is renamed onto the view and written on. */
START_TEST(a_writer_that_came_with_saved_text_edits_what_is_there)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_SAVED);
	draft_end(draft);
	draft_expire(draft); /* by and by */
	draft->writers++;
	snap_put(snap);
	snap = source_get(source, scratch_root, NULL);
	tree.snap = snap;
	ck_assert(draft_update(draft, &tree, &place));
	ck_assert_ptr_eq(draft->base, snap);
	ck_assert(draft->written);
	type(edited);
	ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_SAME);
}
END_TEST

/* As when the file could not be reached at the last close. */
START_TEST(text_that_nobody_saved_keeps_its_base)
{
	type(edited);
	draft_end(draft);
	draft_begin(draft, snap, &place);
	ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_SAVED);
}
END_TEST

START_TEST(refused_text_goes_with_the_last_close)
{
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	ck_assert(draft->written);
	draft_end(draft);
	ck_assert(!draft->written);
	ck_assert(draft_update(draft, &tree, &place));
	ck_assert(draft_load(draft, NAME));
	ck_assert_int_eq(memcmp(draft->text.data, header, strlen(header)), 0);
	ck_assert(file_is_sample());
}
END_TEST

/* What was saved before is still what the view says, to the byte. */
START_TEST(a_refused_text_leaves_the_saved_one)
{
	static const char *const bad[] = {"frame,tx\n0,nonsense\n", "frame,tx\n0,1e99\n", header};

	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		type(bad[i]);
		ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_REFUSED);
		ck_draft_text(bad[i]); /* for who has it open */
		draft_end(draft);
		ck_draft_text(edited);
		draft_begin(draft, snap, &place);
	}
	ck_assert_int_eq(draft_write(draft, NAME, 0, "?", 1, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	ck_assert_int_eq(draft_write(draft, NAME, 0, "!", 1, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	draft_end(draft);
	ck_draft_text(edited);
	ck_assert(!draft->dirty && !draft->refused);
}
END_TEST

START_TEST(a_text_given_up_half_written_leaves_the_saved_one)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	type(header);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_PENDING);
	draft_end(draft);
	ck_draft_text(header);
	draft_give_up(draft);
	ck_draft_text(edited);
}
END_TEST

START_TEST(a_refused_text_that_is_nowhere_else_stays)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	draft_keep_unsaved(draft);
	draft_end(draft);
	ck_assert(draft_update(draft, &tree, &place));
	ck_draft_text("frame,tx\n0,nonsense\n");
	draft_begin(draft, snap, &place);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	draft_end(draft);
	ck_draft_text(edited);
}
END_TEST

START_TEST(a_saved_text_goes_when_the_view_says_something_else)
{
	struct err err = {.code = ERR_NONE};
	struct snap *now;
	struct tree later;
	struct place there;

	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	draft_end(draft);
	now = source_get(source, scratch_root, &err);
	later = (struct tree){now, NAME};
	ck_assert(tree_walk(&later, VIEW, &there));
	ck_assert(draft_update(draft, &later, &there));
	ck_draft_text(edited); /* it says what the file says */
	ck_assert(draft_update(draft, &tree, &place));
	ck_assert(draft_load(draft, NAME)); /* the first version again: other curves */
	ck_assert_int_eq(memcmp(draft->text.data, header, strlen(header)), 0);
	snap_put(now);
}
END_TEST

START_TEST(a_saved_text_goes_when_it_could_not_be_compared)
{
	struct err err = {.code = ERR_NONE};
	struct snap *now;

	type(edited);
	tree_text_limit(1); /* as out of memory: no view can be rendered */
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	tree_text_limit(DEFAULT_MAX_TEXT);
	draft_end(draft);
	now = source_get(source, scratch_root, &err);
	ck_assert(draft_update(draft, &(struct tree){now, NAME}, &place));
	ck_assert(draft_load(draft, NAME));
	ck_assert_ptr_nonnull(memmem(draft->text.data, draft->text.size, ",-1,2.65535,", 12));
	snap_put(now);
}
END_TEST

/* Somebody else saves another text; returns the version after it. */
static struct snap *save_other(const char *path, const char *text, size_t size)
{
	struct err err = {.code = ERR_NONE};
	struct draft *other = draft_new();
	struct snap *now = source_get(source, scratch_root, &err);
	struct tree latest = {now, NAME};
	struct buf bytes = BUF_INIT;
	struct place at;

	ck_assert(tree_walk(&latest, path, &at));
	draft_begin(other, now, &at);
	buf_add(&bytes, text, size);
	draft_replace(other, &bytes);
	ck_assert_int_eq(draft_commit(other, DRAFT_DEMAND, source, scratch_root, NAME, &err),
			 VERDICT_SAVED);
	draft_end(other);
	draft_free(other);
	snap_put(now);
	return source_get(source, scratch_root, &err);
}

static void update(struct snap *now, const char *path)
{
	struct tree latest = {now, NAME};
	struct place at;

	ck_assert(tree_walk(&latest, path, &at));
	ck_assert(draft_update(draft, &latest, &at));
	snap_put(now);
}

START_TEST(a_clips_text_stays_while_it_is_open_and_says_what_is_there)
{
	struct err err = {.code = ERR_NONE};
	struct place curves;
	char *number;

	ck_assert(tree_walk(&tree, "walk/curves.csv", &curves));
	draft_end(draft);
	draft_begin(draft, snap, &curves);
	ck_assert(draft_load(draft, NAME));
	buf_char(&draft->text, '\n'); /* not as it is rendered */
	buf_char(&draft->text, '\0');
	number = strstr((char *)draft->text.data, "1.5,-2");
	ck_assert_ptr_nonnull(number);
	number[0] = '7';
	ck_assert_int_eq(draft_truncate(draft, NAME, draft->text.size - 1, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	update(source_get(source, scratch_root, &err), "walk/curves.csv");
	ck_assert(draft->written);

	/* The loop is not in this text. */
	update(save_other("walk/clip.json", "{\"loop\": false}", 15), "walk/curves.csv");
	ck_assert(draft->written);
	update(save_other(VIEW, edited, strlen(edited)), "walk/curves.csv");
	ck_assert(!draft->written);
}
END_TEST

START_TEST(generated_views_take_their_own_text_alone)
{
	struct err err = {.code = ERR_NONE};
	struct place picture;

	ck_assert(tree_walk(&tree, "walk/frames/frame_00001.x3d", &picture));
	draft_end(draft);
	draft_begin(draft, snap, &picture);
	ck_assert(draft_load(draft, NAME));
	ck_assert_int_eq(draft_write(draft, NAME, 0, "<", 1, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAME);
	ck_assert_int_eq(draft_write(draft, NAME, 0, "!", 1, LIMIT), 0);
	ck_assert_int_eq(draft_commit(draft, DRAFT_FLUSH, source, scratch_root, NAME, &err),
			 VERDICT_REFUSED);
	ck_assert_ptr_nonnull(strstr(err.message, "generated"));
	ck_assert_str_ne(err.accepted, "");
	ck_assert(file_is_sample());
}
END_TEST

START_TEST(raw_bytes_replace_the_file)
{
	struct place raw;
	struct buf other = BUF_INIT;

	ck_assert(tree_walk(&tree, "raw.canm", &raw));
	draft_end(draft);
	draft_begin(draft, snap, &raw);
	buf_add(&other, sample.data, sample.size);
	other.data[0xFC] = 2; /* walk's loop */
	draft_replace(draft, &other);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_assert(!file_is_sample());
	type("no animation");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_REFUSED);
	buf_add(&other, sample.data, sample.size);
	draft_replace(draft, &other);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_assert(file_is_sample());
}
END_TEST

/* Saves of a skeleton's text are as all others: pending, from the base, no edit. */
START_TEST(a_skeleton_is_saved_from_its_base)
{
	static const char wanted[] = "bone,parent,tx\nBone01,Scene_Root,2\nScene_Root,,\n";

	draft_free(draft);
	ck_assert(tree_walk(&tree, "skeleton.csv", &place));
	draft = draft_new();
	draft_begin(draft, snap, &place);
	ck_assert(draft_load(draft, NAME));
	ck_assert_int_eq(draft_write(draft, NAME, 0, "bone", 4, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAME);
	type("bone,parent,tx\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_PENDING);
	type("bone,parent,tx\nBone01,Sc");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_PENDING);
	ck_assert_int_ne(access(NAME ".skeleton.csv", F_OK), 0);
	type("bone,parent,tx\nBone01,Scene_Root,1\nScene_Root,,\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	type(wanted);
	ck_assert_int_eq(commit(DRAFT_FLUSH), VERDICT_SAVED);
	ck_draft_text(wanted);
	type("bone,parent,tx\nBone01,nobody,1\n");
	ck_assert_int_eq(commit(DRAFT_DEMAND), VERDICT_REFUSED);
	ck_assert(file_is_sample());
}
END_TEST

Suite *draft_suite(void);
Suite *draft_suite(void)
{
	Suite *suite = suite_create("draft");
	TCase *tc = tcase_create("draft");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, reading_shows_the_rendered_view);
	tcase_add_test(tc, writing_in_place_keeps_the_rest);
	tcase_add_test(tc, a_text_has_a_limit);
	tcase_add_test(tc, a_save_changes_the_file_and_stays_as_typed);
	tcase_add_test(tc, a_gap_may_fall_half_way_between_two_stored_values);
	tcase_add_test(tc, one_value_and_blank_rows_make_a_keyed_curve_static);
	tcase_add_test(tc, its_own_text_changes_nothing);
	tcase_add_test(tc, a_second_save_is_computed_from_the_base);
	tcase_add_test(tc, half_written_text_is_pending_at_a_flush);
	tcase_add_test(tc, half_written_text_is_no_save_on_demand);
	tcase_add_test(tc, half_written_text_stays_after_the_last_close);
	tcase_add_test(tc, a_writer_that_came_with_saved_text_edits_what_is_there);
	tcase_add_test(tc, text_that_nobody_saved_keeps_its_base);
	tcase_add_test(tc, refused_text_goes_with_the_last_close);
	tcase_add_test(tc, a_refused_text_leaves_the_saved_one);
	tcase_add_test(tc, a_text_given_up_half_written_leaves_the_saved_one);
	tcase_add_test(tc, a_refused_text_that_is_nowhere_else_stays);
	tcase_add_test(tc, a_saved_text_goes_when_the_view_says_something_else);
	tcase_add_test(tc, a_saved_text_goes_when_it_could_not_be_compared);
	tcase_add_test(tc, a_clips_text_stays_while_it_is_open_and_says_what_is_there);
	tcase_add_test(tc, generated_views_take_their_own_text_alone);
	tcase_add_test(tc, a_skeleton_is_saved_from_its_base);
	tcase_add_test(tc, raw_bytes_replace_the_file);
	suite_add_tcase(suite, tc);
	return suite;
}
