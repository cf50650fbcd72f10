/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_draft.c - texts being written, and when they become an edit of a real file. */
#include "edit/structure.h"
#include "load.h"
#include "scratch.h"
#include "store/draft.h"
#include "util/timing.h"
#include <math.h>
#include <sys/wait.h>

#define NAME "wiki512.canm"
#define VIEW "walk/bones/hip.csv"
#define LIMIT ((size_t)1 << 20)

static const char edited[] = "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,0.5000076,1,2.00001\n"
			     "2,,1,-1,2.65535\n";
static const char header[] = "frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz\n";

static struct buf sample; /* the sample's bytes, read before the working directory changes */
static struct state *state;
static struct store *store;
static struct source *source;
static struct where where;
static struct version *version;
static struct tree tree;
static struct place place;
static struct draft *draft;
static struct err err;

static struct text *rendered(void)
{
	struct buf bytes = BUF_INIT;

	ck_assert_int_eq(tree_render(&tree, &place, &bytes), 0);
	return text_new(&bytes);
}

/* Opens the view at this path, and begins a draft for a first write. */
static void open_view(const char *path)
{
	struct text *text;

	draft_free(draft);
	ck_assert(tree_walk(&tree, path, &place));
	text = rendered();
	draft = draft_new(version, &place, text, NULL);
	text_put(text);
}

static void begin(void)
{
	struct store_options options = {.cache = LIMIT, .max_file = LIMIT};
	FILE *file;

	err_clear(&err);
	sample = load_file("tests/data/canm/" NAME);
	scratch_begin();
	where = (struct where){.dir = scratch_root, .folder = "", .name = NAME};
	file = fopen(NAME, "wbe");
	ck_assert_uint_eq(fwrite(sample.data, 1, sample.size, file), sample.size);
	ck_assert_int_eq(fclose(file), 0);
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_msg(state != NULL, "%s", err.message);
	store = store_new(&options, state);
	source = source_new(store);
	version = source_get(source, &where, &err);
	ck_assert_msg(version != NULL, "%s", err.message);
	tree = (struct tree){version, NAME};
	draft = NULL;
	open_view(VIEW);
}

static void end(void)
{
	draft_free(draft);
	version_put(version);
	source_free(source);
	store_free(store);
	state_free(state);
	buf_release(&sample);
	scratch_end();
}

static int put_at(uint64_t at, const char *text)
{
	return draft_write(draft, at, bytes_of(text), LIMIT);
}

static void type(const char *text)
{
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	ck_assert_int_eq(put_at(0, text), 0);
}

static size_t size_of(const struct draft *d)
{
	return text_bytes(d->text).size;
}

static enum verdict commit_of(struct draft *d, enum draft_event event)
{
	struct attempt attempt;
	enum verdict verdict;

	err_clear(&err);
	ck_assert(draft_attempt(d, event, &attempt));
	verdict = attempt_commit(&attempt, source, &where, &err);
	draft_conclude(d, &attempt, verdict);
	attempt_release(&attempt);
	return verdict;
}

static enum verdict commit(enum draft_event event)
{
	return commit_of(draft, event);
}

static bool has_nothing_to_save(enum draft_event event)
{
	struct attempt attempt;

	return !draft_attempt(draft, event, &attempt);
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
	ck_assert(bytes_equal(text_bytes(draft->text), bytes_of(text)));
}

START_TEST(writing_in_place_keeps_the_rest)
{
	size_t size = size_of(draft);

	ck_assert_int_eq(put_at(2, "XY"), 0);
	ck_assert_uint_eq(size_of(draft), size);
	ck_assert_int_eq(memcmp(text_bytes(draft->text).data, "frXYe,time", 10), 0);
	ck_assert_int_eq(put_at(size + 3, "Z"), 0);
	ck_assert_uint_eq(size_of(draft), size + 4);
	ck_assert_int_eq(memcmp(text_bytes(draft->text).data + size, "\0\0\0Z", 4), 0);
}
END_TEST

/* A reader and a commit that hold the text keep the old one. */
START_TEST(a_text_that_others_hold_does_not_change)
{
	struct text *taken = text_get(draft->text);
	size_t size = text_bytes(taken).size;

	ck_assert_int_eq(put_at(2, "XY"), 0);
	ck_assert_ptr_ne(draft->text, taken);
	ck_assert_int_eq(memcmp(text_bytes(taken).data, "frame,time", 10), 0);
	text_put(taken);
	taken = text_get(draft->text);
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	ck_assert_uint_eq(text_bytes(taken).size, size);
	text_put(taken);
}
END_TEST

/* Saves the text, padded with blanks to this size. */
static void save_long(size_t size)
{
	size_t begin = size_of(draft);

	ck_assert_uint_lt(begin, size);
	ck_assert_int_eq(draft_truncate(draft, size, LIMIT), 0);
	memset((char *)(uintptr_t)text_bytes(draft->text).data + begin, ' ', size - begin);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
}

/* Memory that is copied in advance is not copied again by the write. */
START_TEST(a_long_text_that_others_hold_is_copied_ahead)
{
	struct text *was, *copy;

	open_view("walk/bones/hip.json");
	ck_assert(!draft_will_copy(draft));
	save_long(DRAFT_COPY_MAX);
	ck_assert(!draft_will_copy(draft));
	save_long(DRAFT_COPY_MAX + 1);
	ck_assert(draft_will_copy(draft)); /* the draft may have to return to that text */
	for (int i = 0; i < 2; i++) {
		was = text_get(draft->text);
		ck_assert(draft_will_copy(draft));
		copy = text_copy(was);
		draft_take_copy(draft, copy);
		ck_assert(!draft_will_copy(draft));
		ck_assert_int_eq(put_at(0, "?"), 0);
		ck_assert_ptr_eq(draft->text, copy);
		ck_assert_uint_eq(text_bytes(was).data[0], i ? '?' : '{');
		text_put(was);
	}
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(draft_settle(draft, 1));
	ck_assert_uint_eq(text_bytes(draft->text).data[0], '{');
}
END_TEST

START_TEST(a_text_has_a_limit)
{
	ck_assert_int_eq(put_at(LIMIT, "x"), EFBIG);
	ck_assert_int_eq(put_at(UINT64_MAX, "x"), EFBIG);
	ck_assert_int_eq(draft_truncate(draft, LIMIT + 1, LIMIT), EFBIG);
	ck_assert_int_eq(draft_truncate(draft, LIMIT, LIMIT), 0);
	ck_assert_uint_eq(size_of(draft), LIMIT);
}
END_TEST

START_TEST(all_drafts_together_have_a_limit)
{
	struct budget budget = {.limit = 10000};
	struct draft *first = draft_new(version, &place, NULL, &budget);
	struct draft *second = draft_new(version, &place, NULL, &budget);

	ck_assert_int_eq(draft_truncate(first, 9000, LIMIT), 0);
	ck_assert_int_eq(draft_truncate(second, 2000, LIMIT), ENOSPC);
	ck_assert_uint_eq(size_of(second), 0);
	ck_assert_int_eq(draft_write(second, 2000, bytes_of("x"), LIMIT), ENOSPC);
	ck_assert_int_eq(draft_write(second, 10, bytes_of("x"), LIMIT), 0);
	draft_free(first);
	ck_assert_int_eq(draft_truncate(second, 2000, LIMIT), 0);
	draft_free(second);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_save_changes_the_file_and_stays_as_typed)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	ck_assert(!file_is_sample());
	ck_draft_text(edited);
	ck_assert(has_nothing_to_save(DRAFT_SAVE));
}
END_TEST

START_TEST(a_gap_may_fall_half_way_between_two_stored_values)
{
	type("frame,time,tx,ty,tz,rx,ry,rz\n0,0,0,-1,2,-180,5.729578,11.46070875\n"
	     "2,0.066667,1,-1,2.65535,180,5.729579,22.723793\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
}
END_TEST

/* hip's translation is keyed in the sample; one value and blank rows to the end make it static. */
START_TEST(one_value_and_blank_rows_make_a_keyed_curve_static)
{
	const struct curve *curve;
	struct version *now;

	type("frame,time,tx,ty,tz\n0,,0,-1,2\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER),
			 VERDICT_REFUSED); /* the text may have been cut short */
	type("frame,time,tx,ty,tz\n0,,0,-1,2\n1,,,,\n2,,,,\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	now = source_get(source, &where, &err);
	curve = now->anim->clips[place.clip].tracks[place.track].curve[ROLE_TRANSLATION];
	ck_assert(!curve->keyed);
	ck_assert(curve_value(curve, 0, 1) == -1);
	version_put(now);
}
END_TEST

START_TEST(its_own_text_changes_nothing)
{
	struct stat before = stat_of(NAME), after;

	draft_replace(draft, rendered());
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
	after = stat_of(NAME);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}
END_TEST

static const struct codec *encoder;
static unsigned encodes;

static bool count_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *e)
{
	encodes++;
	return encoder->encode(a, old, out, e);
}

/* Encoding a large file takes far longer than parsing one of its texts. */
START_TEST(it_is_found_out_without_an_encode)
{
	static struct codec counting;

	counting = *version->codec;
	encoder = version->codec;
	encodes = 0;
	counting.encode = count_encode;
	version->codec = &counting;
	draft_replace(draft, rendered());
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
	ck_assert_uint_eq(encodes, 0);
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert_uint_gt(encodes, 0);
	draft_free(draft);
	draft = NULL;
	version->codec = encoder;
}
END_TEST

START_TEST(a_second_save_is_computed_from_the_base)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	draft_replace(draft, rendered());
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	ck_assert(has_nothing_to_save(DRAFT_SAVE));
	/* The edit removed the curve from the channel that it shared; its values are unchanged. */
	struct version *now = source_get(source, &where, &err);
	struct tree again = {now, NAME};
	struct place there;
	struct buf text = BUF_INIT, was = BUF_INIT;

	ck_assert(tree_walk(&again, VIEW, &there));
	tree_render(&again, &there, &text);
	tree_render(&tree, &place, &was);
	ck_assert(bytes_equal(buf_bytes(&text), buf_bytes(&was)));
	buf_release(&text);
	buf_release(&was);
	version_put(now);
}
END_TEST

START_TEST(half_written_text_is_pending_at_a_flush)
{
	static const char *const texts[] = {"", header,
					    "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,1,1,1\n2,,1,-"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		type(texts[i]);
		ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
		ck_assert_int_eq(draft->state, DRAFT_PENDING);
		ck_assert(file_is_sample());
	}
	ck_assert_int_eq(put_at(0, edited), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	ck_assert_int_ne(draft->state, DRAFT_PENDING);
}
END_TEST

/* A program sets the file to the size of its text, maps it, closes it, and writes. */
START_TEST(a_text_made_longer_is_pending_at_a_flush)
{
	ck_assert_int_eq(draft_truncate(draft, size_of(draft) + 9, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(file_is_sample());
	ck_assert_int_eq(draft_truncate(draft, strlen(edited), LIMIT), 0);
	ck_assert_int_eq(put_at(0, edited), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert_int_eq(draft_truncate(draft, size_of(draft) + 9, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
}
END_TEST

START_TEST(half_written_text_is_no_save_on_demand)
{
	static const char *const texts[] = {"", header,
					    "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,1,1,1\n2,,1,-"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		type(texts[i]);
		ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
		ck_assert(file_is_sample());
	}
}
END_TEST

START_TEST(half_written_text_stays_after_the_last_close)
{
	type("");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(has_nothing_to_save(DRAFT_FLUSH_OTHER)); /* not asked for again */
	ck_assert(draft_settle(draft, 1));
	draft_begin(draft, version, &place, true);
	ck_draft_text("");
	type(header);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(draft_settle(draft, 2));
	ck_draft_text(header);
	draft_begin(draft, version, &place, false);
	ck_assert_int_eq(put_at(0, edited), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
}
END_TEST

START_TEST(in_the_end_half_written_text_is_an_error_and_empty_text_is_nothing)
{
	type(header);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(draft_settle(draft, 1));
	ck_assert_int_eq(commit(DRAFT_END), VERDICT_REFUSED);
	ck_assert(!draft_settle(draft, 3));
	open_view(VIEW);
	type("");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(has_nothing_to_save(DRAFT_END));
	ck_assert(!draft_settle(draft, 3));
	open_view(VIEW);
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	type("");
	ck_assert(has_nothing_to_save(DRAFT_END));
	ck_assert(draft_settle(draft, 3));
	ck_draft_text(edited);
}
END_TEST

START_TEST(a_new_writer_edits_what_is_there)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(draft_settle(draft, 1));
	version_put(version);
	version = source_get(source, &where, NULL);
	draft->is_renamed = true; /* the rename was of another base's clip */
	draft_begin(draft, version, &place, false);
	ck_assert_ptr_eq(draft->base, version);
	ck_assert(!draft->is_renamed);
	ck_assert_ptr_null(draft->last.saved);
	ck_draft_text(edited);
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
}
END_TEST

START_TEST(one_who_appends_goes_on_with_the_draft_while_the_file_is_what_it_left)
{
	struct version *now, *base = draft->base;

	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(draft_settle(draft, 1));
	now = source_get(source, &where, NULL);
	draft_begin(draft, now, &place, true);
	ck_assert_ptr_eq(draft->base, base);
	ck_assert_ptr_nonnull(draft->last.saved);
	/* Begins again with the sample, which other programs saved. */
	draft_begin(draft, version, &place, true);
	ck_assert_ptr_null(draft->last.saved);
	version_put(now);
}
END_TEST

/* Renames a clip as another program does. */
static void rename_clip(const char *from, const char *to)
{
	struct version *base = source_get(source, &where, NULL), *now;
	struct anim *named = anim_edit(base->anim);

	ck_assert(anim_clip_rename(named, (uint32_t)version_clip(base, from), to, &err));
	ck_assert_int_eq(source_commit(source, &where, base, named, NULL, NULL, &now, &err),
			 COMMIT_DONE);
	version_put(now);
	anim_free(named);
	version_put(base);
}

static enum verdict commit_called(const char *called)
{
	struct attempt attempt;
	enum verdict verdict;

	err_clear(&err);
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	attempt.called = called;
	verdict = attempt_commit(&attempt, source, &where, &err);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	return verdict;
}

/* Returns whether the current file has that clip with this value. */
static bool clip_holds(const char *label, double tx)
{
	struct version *now = source_get(source, &where, NULL);
	int64_t clip = version_clip(now, label), track;
	const struct curve *c;
	bool holds = false;

	if (clip >= 0) {
		track = version_track(now, (uint32_t)clip, "hip");
		c = now->anim->clips[clip].tracks[track].curve[ROLE_TRANSLATION];
		holds = c && fabs(curve_value(c, 0, 0) - tx) < 1e-3;
	}
	version_put(now);
	return holds;
}

START_TEST(a_clip_that_others_renamed_is_saved_under_its_new_name)
{
	type(edited);
	rename_clip("walk", "stroll");
	rename_clip("Idle", "walk");
	ck_assert_int_eq(commit_called("stroll"), VERDICT_SAVED);
	ck_assert(clip_holds("stroll", 0.25));
	ck_assert(!clip_holds("walk", 0.25));
}
END_TEST

START_TEST(a_clip_may_be_renamed_between_two_saves)
{
	type(edited);
	ck_assert_int_eq(commit_called("walk"), VERDICT_SAVED);
	rename_clip("walk", "stroll");
	ck_assert_int_eq(put_at(sizeof("frame,time,tx,ty,tz\n0,,0.") - 1, "75"), 0);
	ck_assert_int_eq(commit_called("stroll"), VERDICT_SAVED);
	ck_assert(clip_holds("stroll", 0.75));
}
END_TEST

/* Replaces the text `was`, which must occur exactly once. */
static void replace_once(const char *was, const char *is)
{
	struct bytes text = text_bytes(draft->text);
	const char *at = memmem(text.data, text.size, was, strlen(was));
	struct buf other = BUF_INIT;

	ck_assert_ptr_nonnull(at);
	buf_add(&other, text.data, (size_t)((const uint8_t *)at - text.data));
	buf_text(&other, is);
	buf_add(&other, at + strlen(was),
		text.size - (size_t)((const uint8_t *)at - text.data) - strlen(was));
	draft_replace(draft, text_new(&other));
}

/* A text with the clip's name from when it was opened does not ask for that name. */
START_TEST(a_text_from_before_a_rename_does_not_take_it_back)
{
	struct version *now;
	int64_t clip;

	open_view("walk/clip.json");
	replace_once("\"loop\": true", "\"loop\": false");
	rename_clip("walk", "stroll");
	ck_assert_int_eq(commit_called("stroll"), VERDICT_SAVED);
	now = source_get(source, &where, NULL);
	clip = version_clip(now, "stroll");
	ck_assert_int_ge(clip, 0);
	ck_assert(!now->anim->clips[clip].loop);
	version_put(now);
}
END_TEST

START_TEST(a_clips_text_may_name_it_twice)
{
	struct version *now;

	open_view("walk/clip.json");
	replace_once("\"clip\": \"walk\"", "\"clip\": \"jog\"");
	ck_assert_int_eq(commit_called("walk"), VERDICT_SAVED);
	replace_once("\"clip\": \"jog\"", "\"clip\": \"stride\"");
	ck_assert_int_eq(commit_called("jog"), VERDICT_SAVED);
	now = source_get(source, &where, NULL);
	ck_assert_int_ge(version_clip(now, "stride"), 0);
	ck_assert_int_lt(version_clip(now, "jog"), 0);
	version_put(now);
}
END_TEST

/* The case that the file could not be reached at the last close. */
START_TEST(text_that_nobody_saved_keeps_its_base)
{
	type(edited);
	ck_assert(draft_settle(draft, 1));
	draft_begin(draft, version, &place, false);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
}
END_TEST

START_TEST(refused_text_goes_with_the_last_close)
{
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_draft_text("frame,tx\n0,nonsense\n");
	ck_assert(!draft_settle(draft, 1));
	ck_assert(file_is_sample());
}
END_TEST

/* The view still has the last saved text, byte for byte. */
START_TEST(a_refused_text_leaves_the_saved_one)
{
	static const char *const bad[] = {"frame,tx\n0,nonsense\n", "frame,tx\n0,1e99\n", header};

	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		type(bad[i]);
		ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
		ck_draft_text(bad[i]); /* open handles still see it */
		ck_assert(draft_settle(draft, 1));
		ck_draft_text(edited);
		draft_begin(draft, version, &place, false);
	}
	ck_assert_int_eq(put_at(0, "?"), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert_int_eq(put_at(0, "!"), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(draft_settle(draft, 1));
	ck_draft_text(edited);
	ck_assert_int_eq(draft->state, DRAFT_SAVED);
}
END_TEST

START_TEST(a_text_given_up_half_written_leaves_the_saved_one)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	type(header);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(draft_settle(draft, 1));
	ck_draft_text(header);
	ck_assert(draft_give_up(draft));
	ck_draft_text(edited);
}
END_TEST

START_TEST(a_refused_text_that_is_nowhere_else_stays)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert_int_eq(draft_due(draft), draft->closed + END_MS);
	draft_keep_unsaved(draft);
	ck_assert(draft_settle(draft, 1));
	ck_draft_text("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(draft_due(draft), 1 + 2 * END_MS);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_int_eq(commit(DRAFT_END), VERDICT_REFUSED);
		draft_keep_unsaved(draft);
		ck_assert(draft_settle(draft, 1));
	}
	ck_assert_int_eq(draft_due(draft), 1 + REST_MAX_MS);
	type("");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert(draft_settle(draft, 1));
	ck_assert_int_eq(draft_due(draft), 1 + END_MS);
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	draft_keep_unsaved(draft);
	draft_begin(draft, version, &place, false);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(draft_settle(draft, 1));
	ck_draft_text(edited);
	ck_assert_int_eq(draft_due(draft), 1 + END_MS);
}
END_TEST

/* ---- while a commit is running ---- */

START_TEST(a_write_during_a_commit_is_still_to_be_saved)
{
	struct attempt attempt, other;
	enum verdict verdict;

	type(edited);
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	ck_assert(!draft_attempt(draft, DRAFT_SAVE, &other));
	ck_assert_int_eq(draft->state, DRAFT_COMMITTING);
	type("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(draft->state, DRAFT_REWRITTEN);
	verdict = attempt_commit(&attempt, source, &where, &err);
	ck_assert_int_eq(verdict, VERDICT_SAVED);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	ck_assert_int_eq(draft->state, DRAFT_WRITTEN);
	ck_draft_text("frame,tx\n0,nonsense\n");
	ck_assert_int_eq(put_at(0, "F"), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(draft_settle(draft, 1));
	ck_draft_text(edited);
}
END_TEST

START_TEST(a_writer_who_comes_during_a_commit_goes_on_from_it)
{
	struct version *base = draft->base, *now;
	struct attempt attempt;
	enum verdict verdict;

	type(edited);
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	draft_begin(draft, version, &place, false);
	draft_replace(draft, rendered());
	verdict = attempt_commit(&attempt, source, &where, &err);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	ck_assert_int_eq(verdict, VERDICT_SAVED);
	ck_assert_ptr_eq(draft->base, base);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	now = source_get(source, &where, NULL);
	ck_assert(file_is_sample()); /* the file is as if the first text had never been saved */
	version_put(now);
}
END_TEST

/*
 * A draft must outlive the save of its text: the view would conclude the commit of a draft that is
 * gone.
 */
START_TEST(a_draft_does_not_go_while_its_text_is_saved)
{
	struct attempt attempt;
	enum verdict verdict;
	int status;
	pid_t child;

	type(edited);
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		fclose(stderr); /* hides the message of the assertion */
		draft_free(draft);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	verdict = attempt_commit(&attempt, source, &where, &err);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	ck_assert_int_eq(verdict, VERDICT_SAVED);
}
END_TEST

/* ---- what is served 2 s after the last close ---- */

static bool says_less(const char *path, const char *saved, const char *rendered)
{
	ck_assert(tree_walk(&tree, path, &place));
	return draft_says_less(place.view, bytes_of(saved), bytes_of(rendered));
}

START_TEST(a_saved_text_stays_unless_it_says_less)
{
	static const char csv[] = "frame,time,tx\n0,0,1.5\n1,0.1,2\n";
	static const char json[] = "{\"a\": [1.5, null], \"b\": \"x\"}";

	ck_assert(!says_less(VIEW, csv, csv));
	ck_assert(!says_less(VIEW, "frame,time,tx\n0,0,1.50000001\n1,.1,2e0\n", csv));
	ck_assert(!says_less(VIEW, "frame;time;tx\r\n0;0;1,5\r\n1;0,1;2", csv));
	ck_assert(!says_less(VIEW, "\"frame\"\t\"time\"\t\"tx\"\n0\t0\t1,5\n1\t0,1\t2\n", csv));
	ck_assert(!says_less(VIEW, "frame,time,tx\n0,0,\"1,5\"\n1,0.1,2\n", csv));
	ck_assert(!says_less(VIEW, "frame,tx,time\n0,1.5,0\n1,2,0.1\n", csv));
	ck_assert(says_less(VIEW, "frame,tx\n0,1.5\n1,2\n", csv));
	ck_assert(says_less(VIEW, "frame;tx\n0;1,5\n1;2,0\n", csv));
	ck_assert(says_less(VIEW, "frame,time,tx\n0,0,1.5\n", csv));
	ck_assert(says_less(VIEW, "frame,time,tx\n0,0,1.5\n1,,2\n", csv));
	ck_assert(!says_less("walk/bones/hip.json", "{\"b\":\"x\",\"a\":[1.50001,null]}", json));
	ck_assert(says_less("walk/bones/hip.json", "{\"a\": [1.5, null]}", json));
	ck_assert(says_less("walk/bones/hip.json", "{\"a\":[1.5,null,0]}", json));
	ck_assert(!says_less("skeleton.csv", "bone,tx\na,1.0\n", "bone,tx\na,1\n"));
	ck_assert(!says_less("raw.canm", "", json));
}
END_TEST

START_TEST(a_saved_text_that_nobody_goes_on_with_has_no_base)
{
	type(edited);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(draft_settle(draft, 1));
	ck_assert(draft_expire(draft));
	ck_assert_ptr_null(draft->base);
	ck_draft_text(edited);
	open_view(VIEW);
	type(edited);
	ck_assert(!draft_expire(draft));
	ck_assert_ptr_nonnull(draft->base);
}
END_TEST

/* The frames are listed in one member and counted in others. */
START_TEST(a_clips_text_that_was_saved_is_edited_from_its_own_base)
{
	struct version *now;

	open_view("walk/clip.json");
	type("{\"loop\": false}");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(draft_settle(draft, 1));
	now = source_get(source, &where, NULL);
	draft_begin(draft, now, &place, false);
	ck_assert_ptr_eq(draft->base, version);
	version_put(now);
}
END_TEST

/* Programs append rows to the table one by one, each opening it again. */
START_TEST(a_clips_table_as_it_is_rendered_is_appended_to_from_its_base)
{
	open_view("walk/curves.csv");
	draft_replace(draft, rendered());
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAME);
	ck_assert(draft_settle(draft, 1));
	ck_assert(!draft_is_contradictory(draft));
	draft_begin(draft, version, &place, true);
	ck_assert_ptr_nonnull(draft->last.saved);
	draft_begin(draft, version, &place, false);
	ck_assert_ptr_null(draft->last.saved);
	/* Without the last line feed, the text differs from the rendered one. */
	ck_assert_int_eq(draft_truncate(draft, size_of(draft) - 1, LIMIT), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
	ck_assert(draft_is_contradictory(draft));
}
END_TEST

/* The next reader gets a newly rendered text; to render it at each save would be a waste. */
START_TEST(a_clips_table_that_is_saved_whole_goes_when_it_is_closed)
{
	open_view("walk/curves.csv");
	draft_replace(draft, rendered());
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
	ck_assert(draft_is_contradictory(draft));
}
END_TEST

START_TEST(generated_views_take_their_own_text_alone)
{
	open_view("walk/frames/frame_00001.x3d");
	ck_assert_int_eq(put_at(0, "<"), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAME);
	/* The text stays only for open handles. */
	ck_assert(draft_settle(draft, 1));
	ck_assert(draft_is_contradictory(draft));
	ck_assert_int_eq(put_at(0, "!"), 0);
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(!draft_settle(draft, 2));
	ck_assert_ptr_nonnull(strstr(err.message, "generated"));
	ck_assert_str_ne(err.accepted, "");
	ck_assert(file_is_sample());
}
END_TEST

START_TEST(raw_bytes_replace_the_file)
{
	struct buf other = BUF_INIT;

	open_view("raw.canm");
	buf_add(&other, sample.data, sample.size);
	other.data[0xFC] = 2; /* the loop field of walk */
	draft_replace(draft, text_new(&other));
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(!file_is_sample());
	type("no animation");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	buf_add(&other, sample.data, sample.size);
	draft_replace(draft, text_new(&other));
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_SAVED);
	ck_assert(file_is_sample());
}
END_TEST

/*
 * Saves of a skeleton's text are like all others: pending at first, applied to the base, and no
 * edit if unchanged.
 */
START_TEST(a_skeleton_is_saved_from_its_base)
{
	static const char wanted[] = "bone,parent,tx\nBone01,Scene_Root,2\nScene_Root,,\n";

	open_view("skeleton.csv");
	ck_assert_int_eq(put_at(0, "bone"), 0);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAME);
	type("bone,parent,tx\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	type("bone,parent,tx\nBone01,Sc");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_PENDING);
	ck_assert_int_ne(access(NAME ".skeleton.csv", F_OK), 0);
	type("bone,parent,tx\nBone01,Scene_Root,1\nScene_Root,,\n");
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	type(wanted);
	ck_assert_int_eq(commit(DRAFT_FLUSH_OTHER), VERDICT_SAVED);
	ck_draft_text(wanted);
	type("bone,parent,tx\nBone01,nobody,1\n");
	ck_assert_int_eq(commit(DRAFT_SAVE), VERDICT_REFUSED);
	ck_assert(file_is_sample());
}
END_TEST

Suite *draft_suite(void);
Suite *draft_suite(void)
{
	Suite *suite = suite_create("draft");
	TCase *tc = tcase_create("draft");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, writing_in_place_keeps_the_rest);
	tcase_add_test(tc, a_text_that_others_hold_does_not_change);
	tcase_add_test(tc, a_long_text_that_others_hold_is_copied_ahead);
	tcase_add_test(tc, a_text_has_a_limit);
	tcase_add_test(tc, all_drafts_together_have_a_limit);
	tcase_add_test(tc, a_save_changes_the_file_and_stays_as_typed);
	tcase_add_test(tc, a_gap_may_fall_half_way_between_two_stored_values);
	tcase_add_test(tc, one_value_and_blank_rows_make_a_keyed_curve_static);
	tcase_add_test(tc, its_own_text_changes_nothing);
	tcase_add_test(tc, it_is_found_out_without_an_encode);
	tcase_add_test(tc, a_second_save_is_computed_from_the_base);
	tcase_add_test(tc, half_written_text_is_pending_at_a_flush);
	tcase_add_test(tc, a_text_made_longer_is_pending_at_a_flush);
	tcase_add_test(tc, half_written_text_is_no_save_on_demand);
	tcase_add_test(tc, half_written_text_stays_after_the_last_close);
	tcase_add_test(tc, in_the_end_half_written_text_is_an_error_and_empty_text_is_nothing);
	tcase_add_test(tc, a_new_writer_edits_what_is_there);
	tcase_add_test(tc, one_who_appends_goes_on_with_the_draft_while_the_file_is_what_it_left);
	tcase_add_test(tc, a_clip_that_others_renamed_is_saved_under_its_new_name);
	tcase_add_test(tc, a_clip_may_be_renamed_between_two_saves);
	tcase_add_test(tc, a_text_from_before_a_rename_does_not_take_it_back);
	tcase_add_test(tc, a_clips_text_may_name_it_twice);
	tcase_add_test(tc, text_that_nobody_saved_keeps_its_base);
	tcase_add_test(tc, refused_text_goes_with_the_last_close);
	tcase_add_test(tc, a_refused_text_leaves_the_saved_one);
	tcase_add_test(tc, a_text_given_up_half_written_leaves_the_saved_one);
	tcase_add_test(tc, a_refused_text_that_is_nowhere_else_stays);
	tcase_add_test(tc, a_write_during_a_commit_is_still_to_be_saved);
	tcase_add_test(tc, a_writer_who_comes_during_a_commit_goes_on_from_it);
	tcase_add_test(tc, a_draft_does_not_go_while_its_text_is_saved);
	tcase_add_test(tc, a_saved_text_stays_unless_it_says_less);
	tcase_add_test(tc, a_saved_text_that_nobody_goes_on_with_has_no_base);
	tcase_add_test(tc, a_clips_text_that_was_saved_is_edited_from_its_own_base);
	tcase_add_test(tc, a_clips_table_as_it_is_rendered_is_appended_to_from_its_base);
	tcase_add_test(tc, a_clips_table_that_is_saved_whole_goes_when_it_is_closed);
	tcase_add_test(tc, generated_views_take_their_own_text_alone);
	tcase_add_test(tc, raw_bytes_replace_the_file);
	tcase_add_test(tc, a_skeleton_is_saved_from_its_base);
	suite_add_tcase(suite, tc);
	return suite;
}
