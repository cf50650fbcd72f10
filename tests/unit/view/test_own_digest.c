/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_own_digest.c - generated texts are distinguished from edited ones, whichever version they
 * show.
 */
#include "sample.h"
#include "scratch.h"
#include "store/draft.h"
#include "view/own_digest.h"

#define LIMIT ((size_t)1 << 24)
#define LINE 67 /* size of the digest's line with its line end */

static bool is_generated(const struct view *view)
{
	return !view->parse && !view->parse_skeleton && !view->whole;
}

/* ---- the line ---- */

/*
 * Compares with reference values of XXH3_128: byte order and version of the library do not matter.
 */
START_TEST(the_digest_is_xxh3_of_what_stands_before)
{
	static const struct {
		const char *text, *line;
	} texts[] = {
		{"", "<!-- animfs generated, digest 99aa06d3014798d86001c324468d497f -->\n"},
		{"<a/>\n", "<!-- animfs generated, digest 9bd757e4940312cf34c074ceffd97917 -->\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct buf out = BUF_INIT;

		buf_text(&out, texts[i].text);
		own_digest_add(&out);
		ck_assert_uint_eq(out.size, strlen(texts[i].text) + LINE);
		ck_assert_int_eq(memcmp(out.data + out.size - LINE, texts[i].line, LINE), 0);
		ck_assert(own_digest_valid(buf_bytes(&out)));
		buf_release(&out);
	}
}
END_TEST

START_TEST(a_text_that_failed_gets_none)
{
	struct buf out = {.failed = true};

	own_digest_add(&out);
	ck_assert(out.failed);
	ck_assert_uint_eq(out.size, 0);
	ck_assert(!own_digest_valid(buf_bytes(&out)));
	buf_release(&out);
}
END_TEST

/* ---- every text of every sample ---- */

static unsigned generated; /* texts that were seen */
static struct buf before;  /* the previous text */

/* Changes the text in place, checks the digest, and restores the text. */
static bool valid_with(struct buf *text, size_t at, uint8_t flipped)
{
	bool valid;

	text->data[at] ^= flipped;
	valid = own_digest_valid(buf_bytes(text));
	text->data[at] ^= flipped;
	return valid;
}

static void check_changed_bytes(struct buf *text)
{
	size_t step = 1 + text->size / 256;

	for (size_t at = 0; at < text->size; at += at + LINE < text->size ? step : 1)
		for (unsigned bit = 0; bit < 8; bit++)
			ck_assert_msg(!valid_with(text, at, (uint8_t)(1 << bit)), "byte %zu", at);
}

static void check_cuts(const struct buf *text)
{
	for (size_t cut = 1; cut <= LINE + 1; cut++)
		ck_assert(!own_digest_valid((struct bytes){text->data, text->size - cut}));
	ck_assert(!own_digest_valid((struct bytes){text->data + 1, text->size - 1}));
}

static bool valid_in_two(struct bytes first, struct bytes second)
{
	struct buf text = BUF_INIT;
	bool valid;

	buf_add(&text, first.data, first.size);
	buf_add(&text, second.data, second.size);
	ck_assert(!text.failed);
	valid = own_digest_valid(buf_bytes(&text));
	buf_release(&text);
	return valid;
}

/* Checks that the line of the previous text is valid in this text only if both are the same. */
static void check_moved_line(const struct buf *text)
{
	const struct bytes own = {text->data, text->size - LINE};

	if (before.size)
		ck_assert_int_eq(
			valid_in_two(own, (struct bytes){before.data + before.size - LINE, LINE}),
			bytes_equal(buf_bytes(&before), buf_bytes(text)));
	ck_assert(!valid_in_two(buf_bytes(text), bytes_of("\n")));
	ck_assert(!valid_in_two(buf_bytes(text), bytes_of("<!-- edited -->\n")));
	ck_assert(!valid_in_two(bytes_of("\n"), buf_bytes(text)));
	buf_clear(&before);
	buf_add(&before, text->data, text->size);
}

static bool recognized(const char *begin, struct bytes text, const char *line_end, unsigned ends)
{
	struct buf came = BUF_INIT;
	bool known;

	buf_text(&came, begin);
	for (size_t i = 0; i + 1 < text.size; i++) {
		if (text.data[i] == '\n')
			buf_text(&came, line_end);
		else
			buf_char(&came, (char)text.data[i]);
	}
	while (ends--)
		buf_text(&came, line_end);
	ck_assert(!came.failed);
	known = own_digest_recognized(buf_bytes(&came));
	buf_release(&came);
	return known;
}

/* Changes the text as git, editors and copying by hand do. */
static void check_travelled(const struct buf *text)
{
	struct bytes whole = buf_bytes(text);

	ck_assert(recognized("", whole, "\n", 1));
	ck_assert(recognized("", whole, "\r\n", 1));
	ck_assert(recognized("\xef\xbb\xbf", whole, "\n", 1));
	ck_assert(recognized("\xef\xbb\xbf", whole, "\r\n", 0));
	ck_assert(recognized("", whole, "\n", 0));
	ck_assert(recognized("", whole, "\r\n", 2));
	ck_assert(!recognized(" ", whole, "\r\n", 1));
	ck_assert(!recognized("", whole, "\r", 1));
	ck_assert(!recognized("", whole, " \n", 1));
	ck_assert(!recognized("", (struct bytes){whole.data, whole.size - 1}, "\n", 1));
}

static void law_digest(const struct view *view, const struct shown *at)
{
	struct buf text = view_text(view, at);

	ck_assert_msg(own_digest_valid(buf_bytes(&text)) == is_generated(view), "%s: %s",
		      at->file_name, view->file);
	if (is_generated(view)) {
		check_changed_bytes(&text);
		check_cuts(&text);
		check_moved_line(&text);
		check_travelled(&text);
		generated++;
	}
	buf_release(&text);
}

START_TEST(generated_texts_end_in_their_digest_and_no_others_do)
{
	generated = 0;
	for (const char *const *name = sample_names; *name; name++) {
		struct sample s = sample_open(*name);

		for_each_text(&s, law_digest);
		sample_close(&s);
	}
	ck_assert_uint_gt(generated, 100);
	buf_release(&before);
}
END_TEST

/* ---- saved ---- */

static struct store *store;
static struct source *source;
static struct version *now;
static struct where where;

static void write_file(const char *name, const struct buf *bytes)
{
	FILE *file = fopen(name, "wbe");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
	ck_assert_int_eq(fclose(file), 0);
}

/* Saves a text. A generated text is dropped with its last writer, accepted or not. */
static enum verdict save(const struct place *place, const char *text, size_t size, struct err *err)
{
	struct draft *draft = draft_new(now, place, NULL, NULL);
	struct buf bytes = BUF_INIT;
	struct attempt attempt;
	enum verdict verdict;

	buf_add(&bytes, text, size);
	draft_replace(draft, text_new(&bytes));
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	verdict = attempt_commit(&attempt, source, &where, err);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	ck_assert(!is_generated(place->view) || !draft_settle(draft, 0) ||
		  draft_is_contradictory(draft));
	draft_free(draft);
	return verdict;
}

/* Writes a row with the cells [first, first + count) replaced. */
static void write_row(const char *row, size_t size, unsigned first, unsigned count,
		      const char *value, struct buf *out)
{
	unsigned cell = 0;

	for (size_t i = 0; i <= size; i++) {
		bool ends = i == size || row[i] == ',';

		if (ends && cell >= first && cell < first + count)
			buf_text(out, value);
		if (ends)
			cell++;
		if (i < size && (ends || cell < first || cell >= first + count))
			buf_char(out, row[i]);
	}
}

/*
 * Returns whether the table has that column, and changes something there if so. The four columns of
 * a quaternion are changed together.
 */
static bool edit_column(const struct place *place, const struct buf *table, const char *column)
{
	const char *text = (const char *)table->data, *found = strstr(text, column);
	const char *row = strchr(text, '\n') + 1, *end;
	unsigned first = 0, count = column[1] == 'q' ? 4 : 1;
	struct buf edited = BUF_INIT;
	struct err err = {0};
	bool saved;

	if (!found || found > row || !*row)
		return false;
	for (const char *p = text; p <= found; p++)
		first += *p == ',';
	end = strchr(row, '\n');
	buf_add(&edited, text, (size_t)(row - text));
	write_row(row, (size_t)(end - row), first, count, count == 4 ? "0.5" : "1", &edited);
	buf_text(&edited, end);
	ck_assert(!edited.failed);
	saved = save(place, (const char *)edited.data, edited.size, &err) == VERDICT_SAVED;
	buf_release(&edited);
	return saved;
}

/* Edits the first bone of the sample that can be edited, which makes version B of the file. */
static bool edited_any;

static void edit_bone(const struct view *view, const struct shown *at)
{
	static const char *const columns[] = {",tx", ",ry", ",qx", ",sx"};
	const struct place place = {PLACE_VIEW, view, at->clip, at->track, 0};
	struct buf table;

	if (view != &view_bone_csv || edited_any)
		return;
	table = view_text(view, at);
	for (size_t i = 0; !edited_any && i < ARRAY_SIZE(columns); i++)
		edited_any = edit_column(&place, &table, columns[i]);
	buf_release(&table);
}

static unsigned stale; /* texts of version A that version B would not have rendered */

static void law_older_text(const struct view *view, const struct shown *at)
{
	const struct place was = {PLACE_VIEW, view, at->clip, at->track, at->frame};
	const struct tree tree = {now, where.name};
	struct buf text, current = BUF_INIT;
	struct err err = {0};

	if (!is_generated(view))
		return;
	text = view_text(view, at);
	ck_assert_int_eq(tree_render(&tree, &was, &current), 0);
	stale += !bytes_equal(buf_bytes(&text), buf_bytes(&current));
	ck_assert_msg(save(&was, (char *)text.data, text.size, &err) == VERDICT_SAME, "%s: %s: %s",
		      where.name, view->file, err.message);
	text.data[text.size / 2] ^= 1;
	ck_assert_int_eq(save(&was, (char *)text.data, text.size, &err), VERDICT_REFUSED);
	text.data[text.size / 2] ^= 1;
	ck_assert_ptr_nonnull(strstr(err.message, "changed by hand"));
	ck_assert_ptr_nonnull(strstr(err.accepted, "bones/*.csv"));
	ck_assert_int_eq(save(&was, (char *)text.data, text.size - LINE, &err), VERDICT_REFUSED);
	buf_release(&text);
	buf_release(&current);
}

static void check_older_texts(const char *name, struct buf *bytes)
{
	struct err err = {0};
	struct sample sample;
	struct buf version;

	where = (struct where){.dir = scratch_root, .folder = "", .name = name};
	write_file(name, bytes);
	sample = sample_decode(name, *bytes);
	source = source_new(store);
	now = source_get(source, &where, &err);
	ck_assert_msg(now != NULL, "%s", err.message);
	edited_any = false;
	for_each_text(&sample, edit_bone);
	version_put(now);
	now = source_get(source, &where, &err);
	version = load_file(name);
	ck_assert_int_eq(bytes_equal(buf_bytes(&version), sample_shown(&sample, 0, NULL).raw),
			 !edited_any);
	buf_release(&version);
	for_each_text(&sample, law_older_text);
	version = load_file(name);
	ck_assert(bytes_equal(buf_bytes(&version), buf_bytes(&now->bytes)));
	buf_release(&version);
	version_put(now);
	source_free(source);
	sample_close(&sample);
}

START_TEST(texts_of_an_older_version_are_accepted_and_change_nothing)
{
	struct store_options options = {.cache = LIMIT, .max_file = LIMIT};
	struct buf samples[ARRAY_SIZE(sample_names)];
	struct err err = {0};
	struct state *state;
	unsigned edits = 0;

	for (size_t i = 0; sample_names[i]; i++) {
		struct sample s = sample_open(sample_names[i]);

		samples[i] = (struct buf)BUF_INIT;
		buf_add(&samples[i], s.bytes.data, s.bytes.size);
		sample_close(&s);
	}
	scratch_begin();
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_msg(state != NULL, "%s", err.message);
	store = store_new(&options, state);
	stale = 0;
	for (size_t i = 0; sample_names[i]; i++) {
		check_older_texts(sample_names[i], &samples[i]);
		edits += edited_any;
	}
	store_free(store);
	state_free(state);
	scratch_end();
	ck_assert_uint_ge(edits, 10);
	ck_assert_uint_gt(stale, 30);
}
END_TEST

Suite *own_digest_suite(void);

Suite *own_digest_suite(void)
{
	Suite *suite = suite_create("own_digest");
	TCase *tc = tcase_create("own_digest");

	tcase_add_test(tc, the_digest_is_xxh3_of_what_stands_before);
	tcase_add_test(tc, a_text_that_failed_gets_none);
	tcase_add_test(tc, generated_texts_end_in_their_digest_and_no_others_do);
	tcase_add_test(tc, texts_of_an_older_version_are_accepted_and_change_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
