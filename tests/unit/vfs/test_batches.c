/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_batches.c - which save belongs to which batch, and when a batch ends. The result of its
 * texts is tested in store/test_batch.c.
 */
#include "mounted.h"
#include "vfs/batches.h"

#include "disk/history.h"
#include "store/draft.h"

#include <fcntl.h>
#include <sys/file.h>

#define SAMPLE "tests/data/canm/wiki512.canm"
#define CSV "walk/bones/Bone01.csv"
#define JSON "walk/bones/Bone01.json"
#define OTHER "walk/bones/Scene_Root.csv"

static struct program *one, *two;
static pid_t first, second;

static void begin(void)
{
	first = mounted_process();
	second = mounted_process();
	mounted_begin_in(SAMPLE);
	one = mounted_program(first);
	two = mounted_program(second);
}

/* Begins a mount whose file only the test looks at, since it counts references to versions. */
static void begin_alone(void)
{
	mounted_unwatched = true;
	begin();
	mounted_unwatched = false;
}

static void end(void)
{
	writer_lock(mounted.a);
	batches_end(mounted.v, mounted.a, BATCHES_LAST);
	writer_unlock(mounted.a);
	program_put(one);
	program_put(two);
	if (first)
		mounted_kill(first);
	mounted_kill(second);
	mounted_end();
}

static void open_file(struct site *site)
{
	ck_assert_int_eq(site_open(mounted.v, mounted.a, site), 0);
}

static struct version *current(void)
{
	struct version *now;
	struct site site;

	open_file(&site);
	now = source_get(mounted.a->source, &site.where, NULL);
	site_close(mounted.v, &site);
	ck_assert_ptr_nonnull(now);
	return now;
}

/* Returns the view's text in this version. */
static struct buf text_of(struct version *v, const char *path)
{
	const struct tree tree = {v, MOUNTED_FILE};
	struct buf text = BUF_INIT;
	struct place place;

	ck_assert(tree_walk(&tree, path, &place));
	ck_assert_int_eq(tree_render(&tree, &place, &text), 0);
	return text;
}

/* Returns the current text with the first number of the translation in frame 0 replaced. */
static struct buf with_x(const char *path, const char *x)
{
	struct version *now = current();
	struct buf was = text_of(now, path), text = BUF_INIT;
	const char *all = (const char *)was.data, *from = strchr(all, '\n');

	from = strchr(strchr(from, ',') + 1, ',') + 1;
	buf_add(&text, all, (size_t)(from - all));
	buf_text(&text, x);
	from += strcspn(from, ",");
	buf_add(&text, from, was.size - (size_t)(from - all));
	ck_assert(!text.failed);
	buf_release(&was);
	version_put(now);
	return text;
}

static bool shows(const char *path, const struct buf *text)
{
	struct version *now = current();
	struct buf is = text_of(now, path);
	bool same = bytes_equal(buf_bytes(&is), buf_bytes(text));

	buf_release(&is);
	version_put(now);
	return same;
}

static struct buf copy_of(const struct buf *text)
{
	struct buf copy = BUF_INIT;

	buf_add(&copy, text->data, text->size);
	ck_assert(!copy.failed);
	return copy;
}

/* Stores the effect that batches_add returned, as save.c does. */
static void store(struct batches_save *s, enum batch_effect effect) REQUIRES(writer_class)
{
	struct err err = {.code = ERR_NONE};

	if (effect == BATCH_SAVE) {
		if (attempt_store(s->attempt, s->a->source, s->where, &err) == VERDICT_REFUSED)
			batches_take_back(s);
		else
			batches_saved(s);
	} else if (effect == BATCH_REWRITE) {
		ck_assert_msg(batches_rewrite(s, &err) != VERDICT_REFUSED, "%s", err.message);
	} else if (effect == BATCH_REFUSED) {
		batches_take_back(s);
	}
}

/* Saves a text, which a program copied, over the version that it was opened with. */
static enum batch_effect save_over(struct version *base, struct program *program, const char *path,
				   const struct buf *text)
{
	const struct tree tree = {base, MOUNTED_FILE};
	struct buf copy = copy_of(text);
	struct attempt attempt;
	struct place place;
	struct draft *draft;
	char full[256];
	struct site site;
	struct batches_save s = {.v = mounted.v,
				 .a = mounted.a,
				 .program = program,
				 .where = &site.where,
				 .path = full,
				 .in_file = path,
				 .attempt = &attempt};
	struct err err = {.code = ERR_NONE};
	enum batch_effect effect;
	struct version *now = current();

	snprintf(full, sizeof(full), MOUNTED_FILE "/%s", path);
	ck_assert(tree_walk(&tree, path, &place));
	draft = draft_new(base, &place, NULL, NULL);
	draft_replace(draft, text_new(&copy));
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	open_file(&site);
	(void)attempt_read(&attempt, &site.where, &err);
	writer_lock(mounted.a);
	ck_assert(batches_begin(&s, now, &err));
	effect = batches_add(&s, NULL, &err);
	store(&s, effect);
	batches_finish(&s);
	writer_unlock(mounted.a);
	draft_conclude(draft, &attempt, VERDICT_SAVED);
	attempt_release(&attempt);
	draft_free(draft);
	site_close(mounted.v, &site);
	version_put(now);
	return effect;
}

static enum batch_effect save(struct program *program, const char *path, const struct buf *text)
{
	struct version *now = current();
	enum batch_effect effect = save_over(now, program, path, text);

	version_put(now);
	return effect;
}

static bool says(const char *words)
{
	struct buf text = BUF_INIT;
	bool found;

	diagnostics_render(mounted.v, &text);
	buf_char(&text, '\0');
	found = strstr((const char *)text.data, words) != NULL;
	buf_release(&text);
	return found;
}

static int64_t end_batches(enum batches_when when)
{
	int64_t next;

	writer_lock(mounted.a);
	next = batches_end(mounted.v, mounted.a, when);
	writer_unlock(mounted.a);
	return next;
}

static bool has_batches(void)
{
	bool any;

	writer_lock(mounted.a);
	any = mounted.a->batches != NULL;
	writer_unlock(mounted.a);
	return any;
}

/* ---- programs and their batches ---- */

/* Saves the same two texts by two programs: a new Bone01.csv and an old Bone01.json. */
static void save_both(struct program *a, struct program *b, enum batch_effect wanted)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), old = text_of(was, JSON);

	ck_assert_int_eq(save(a, CSV, &new), BATCH_SAVE);
	ck_assert_int_eq(save(b, JSON, &old), wanted);
	ck_assert(
		shows(wanted == BATCH_NOTHING ? CSV : JSON, wanted == BATCH_NOTHING ? &new : &old));
	buf_release(&new);
	buf_release(&old);
	version_put(was);
}

START_TEST(two_texts_of_one_program_are_one_batch)
{
	save_both(one, one, BATCH_NOTHING);
	ck_assert(says(MOUNTED_FILE "/" JSON ": stale: "));
	ck_assert(!says("went back"));
}
END_TEST

START_TEST(two_programs_are_two)
{
	save_both(one, two, BATCH_SAVE);
	ck_assert(!says("stale"));
	ck_assert(says(MOUNTED_FILE "/" JSON ": went back: "));
	ck_assert(says("walk Bone01 as before " MOUNTED_FILE "/" CSV));
}
END_TEST

START_TEST(saves_of_nobody_are_each_one)
{
	save_both(NULL, NULL, BATCH_SAVE);
	ck_assert(!says("stale"));
}
END_TEST

/* Undo in an editor counts as an edit. */
START_TEST(a_view_saved_again_begins_another)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), last = with_x(CSV, "3.5");
	struct buf old = text_of(was, CSV), json = text_of(was, JSON);

	ck_assert_int_eq(save(one, CSV, &new), BATCH_SAVE);
	ck_assert_int_eq(save(one, CSV, &old), BATCH_SAVE);
	ck_assert(shows(CSV, &old));
	ck_assert_int_eq(save(one, CSV, &last), BATCH_SAVE);
	ck_assert_int_eq(save(one, JSON, &json), BATCH_NOTHING);
	ck_assert(shows(CSV, &last));
	buf_release(&last);
	buf_release(&new);
	buf_release(&old);
	buf_release(&json);
	version_put(was);
}
END_TEST

/* ---- others ---- */

START_TEST(what_others_save_in_between_stays)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), other = with_x(OTHER, "7.5");
	struct buf old = text_of(was, JSON), curves = text_of(was, "walk/curves.csv");

	ck_assert_int_eq(save(one, "walk/curves.csv", &curves), BATCH_SAVE);
	ck_assert_int_eq(save(one, JSON, &old), BATCH_SAVE);
	ck_assert_int_eq(save(two, OTHER, &other), BATCH_SAVE);
	ck_assert_int_eq(save(one, CSV, &new), BATCH_REWRITE);
	ck_assert(shows(CSV, &new));
	ck_assert(shows(OTHER, &other));
	buf_release(&new);
	buf_release(&other);
	buf_release(&old);
	buf_release(&curves);
	version_put(was);
}
END_TEST

/* The values were saved by another program while the text was open. */
START_TEST(an_old_value_gives_way_and_a_new_one_conflicts)
{
	struct buf old = with_x(OTHER, "3.5"), now = with_x(OTHER, "5.5");
	struct buf others = with_x(OTHER, "7.5"), new = with_x(OTHER, "9.5");
	struct version *was;

	ck_assert_int_eq(save(two, OTHER, &old), BATCH_SAVE);
	ck_assert_int_eq(save(two, OTHER, &now), BATCH_SAVE);
	was = current();
	ck_assert_int_eq(save(two, OTHER, &others), BATCH_SAVE);
	ck_assert_int_eq(save_over(was, one, OTHER, &old), BATCH_REWRITE);
	ck_assert(shows(OTHER, &others));
	ck_assert(says("what that changed stays"));
	/* Stored as a save of its own, the text is refused. */
	ck_assert_int_eq(save_over(was, one, OTHER, &new), BATCH_SAVE);
	ck_assert(shows(OTHER, &others));
	buf_release(&old);
	buf_release(&now);
	buf_release(&others);
	buf_release(&new);
	version_put(was);
}
END_TEST

START_TEST(a_refused_text_is_none_of_the_batch)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), wrong = with_x(CSV, "x"), old = text_of(was, JSON);

	ck_assert_int_eq(save(one, CSV, &wrong), BATCH_REFUSED);
	/* Another program, or this would be the same view once more. */
	ck_assert_int_eq(save(one, CSV, &new), BATCH_SAVE);
	ck_assert_int_eq(save(one, JSON, &old), BATCH_NOTHING);
	buf_release(&new);
	buf_release(&wrong);
	buf_release(&old);
	version_put(was);
}
END_TEST

/* ---- the end ---- */

static void end_killed(pid_t *child)
{
	mounted_kill(*child);
	*child = 0;
	for (int i = 0; has_batches(); i++) {
		ck_assert_int_lt(i, 20000);
		usleep(10000);
		end_batches(BATCHES_BUSY);
	}
}

START_TEST(a_batch_ends_with_its_program)
{
	int64_t next;

	save_both(one, one, BATCH_NOTHING);
	next = end_batches(BATCHES_BUSY);
	ck_assert(has_batches());
	ck_assert_int_gt(next, clock_ms());
	ck_assert_int_le(next, clock_ms() + END_MS);
	end_killed(&first);
	ck_assert_int_eq(end_batches(BATCHES_QUIET), 0);
	writer_lock(mounted.a);
	ck_assert_ptr_null(mounted.a->known);
	ck_assert_ptr_null(mounted.a->kept);
	writer_unlock(mounted.a);
}
END_TEST

START_TEST(the_end_of_the_mount_ends_all)
{
	save_both(one, two, BATCH_SAVE);
	ck_assert_int_eq(end_batches(BATCHES_LAST), 0);
	ck_assert(!has_batches());
}
END_TEST

/* The digests outlive the mount: two texts of one version make that version the origin. */
START_TEST(what_is_known_is_there_in_the_next_mount)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), old = text_of(was, JSON);
	struct buf curves = text_of(was, "walk/curves.csv");

	ck_assert_int_eq(save(one, CSV, &new), BATCH_SAVE);
	version_put(was);
	end_batches(BATCHES_LAST);
	program_put(one);
	program_put(two);
	mounted_down();
	mounted_up();
	one = mounted_program(first);
	two = mounted_program(second);
	ck_assert_int_eq(save(one, JSON, &old), BATCH_SAVE);
	ck_assert_int_eq(save(one, "walk/curves.csv", &curves), BATCH_SAVE);
	ck_assert_int_eq(save(one, CSV, &new), BATCH_REWRITE);
	ck_assert(shows(CSV, &new));
	ck_assert(says(JSON ": stale: "));
	ck_assert(says("walk/curves.csv: stale: "));
	buf_release(&new);
	buf_release(&old);
	buf_release(&curves);
}
END_TEST

static bool is_unfinished(void)
{
	struct history_book book = HISTORY_BOOK_INIT;
	struct site site;
	struct history_file file;
	bool unfinished;

	open_file(&site);
	file = (struct history_file){
		.dir = site.where.dir, .folder = site.where.folder, .name = site.where.name};
	ck_assert_int_eq(history_open(mounted.state, &file, &book), 0);
	unfinished = history_log_last(&book.log)->unfinished;
	history_release(&book);
	site_close(mounted.v, &site);
	return unfinished;
}

/* A program that was killed might have had more to save, unless it saved a single text. */
START_TEST(history_says_what_is_unfinished)
{
	struct buf new = with_x(CSV, "3.5"), other = with_x(OTHER, "7.5");

	save_both(one, one, BATCH_NOTHING);
	ck_assert(is_unfinished());
	end_killed(&first);
	ck_assert(is_unfinished());
	/* The second program is not killed. */
	ck_assert_int_eq(save(two, CSV, &new), BATCH_SAVE);
	ck_assert(!is_unfinished());
	ck_assert_int_eq(save(two, OTHER, &other), BATCH_SAVE);
	ck_assert(is_unfinished());
	ck_assert_int_eq(end_batches(BATCHES_LAST), 0);
	ck_assert(!is_unfinished());
	buf_release(&new);
	buf_release(&other);
}
END_TEST

START_TEST(a_single_text_is_never_unfinished)
{
	struct buf new = with_x(CSV, "3.5");

	ck_assert_int_eq(save(one, CSV, &new), BATCH_SAVE);
	end_killed(&first);
	ck_assert(!is_unfinished());
	buf_release(&new);
}
END_TEST

/* ---- memory ---- */

START_TEST(a_batch_without_memory_ends)
{
	struct version *was = current();
	struct buf new = with_x(CSV, "2.5"), old = text_of(was, JSON);

	mounted.v->drafts.limit = 16;
	ck_assert_int_eq(save(one, CSV, &new), BATCH_SAVE);
	ck_assert_int_eq(save(one, JSON, &old), BATCH_SAVE);
	ck_assert(shows(JSON, &old));
	mounted.v->drafts.limit = MOUNTED_MEMORY;
	ck_assert_int_eq(end_batches(BATCHES_LAST), 0);
	ck_assert_uint_eq(mounted.v->drafts.used, 0);
	buf_release(&new);
	buf_release(&old);
	version_put(was);
}
END_TEST

/* A program that saves every view of a clip must not keep as many versions in memory. */
START_TEST(no_version_is_kept_for_each_text)
{
	struct buf text = with_x(CSV, "2.5"), other, third;
	struct version *was;

	ck_assert_int_eq(save(one, CSV, &text), BATCH_SAVE);
	was = current();
	other = with_x(OTHER, "7.5");
	ck_assert_int_eq(save(one, OTHER, &other), BATCH_SAVE);
	third = with_x("walk/bones/hip.csv", "9.5");
	ck_assert_int_eq(save(one, "walk/bones/hip.csv", &third), BATCH_SAVE);
	ck_assert(has_batches());
	ck_assert_uint_eq(was->cached.references, 1);
	ck_assert(shows(CSV, &text) && shows(OTHER, &other));
	version_put(was);
	buf_release(&text);
	buf_release(&other);
	buf_release(&third);
}
END_TEST

START_TEST(an_ended_batch_keeps_neither_versions_nor_texts)
{
	struct version *was = current();
	struct buf text = with_x(CSV, "2.5"), again = with_x(CSV, "3.5");
	size_t charged;

	ck_assert_int_eq(save(one, CSV, &text), BATCH_SAVE);
	charged = mounted.v->drafts.used;
	ck_assert_int_eq(save(one, CSV, &again), BATCH_SAVE);
	ck_assert_int_eq(save(one, CSV, &text), BATCH_SAVE);
	ck_assert(has_batches());
	ck_assert_uint_eq(was->cached.references, 1);
	ck_assert_uint_eq(mounted.v->drafts.used, charged);
	version_put(was);
	buf_release(&text);
	buf_release(&again);
}
END_TEST

/* Another process has locked the state directory, so the batch's end cannot be recorded yet. */
START_TEST(nor_does_one_that_history_waits_for)
{
	struct version *was = current();
	struct buf text = with_x(CSV, "2.5"), other = with_x(OTHER, "7.5");
	int lock;

	ck_assert_int_eq(save(one, CSV, &text), BATCH_SAVE);
	ck_assert_int_eq(save(one, OTHER, &other), BATCH_SAVE);
	ck_assert(is_unfinished());
	lock = open(".animfs/lock", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(flock(lock, LOCK_EX), 0);
	ck_assert_int_ne(end_batches(BATCHES_SYNC), 0);
	ck_assert(has_batches());
	ck_assert_uint_eq(was->cached.references, 1);
	ck_assert_uint_eq(mounted.v->drafts.used, 0);
	close(lock);
	ck_assert_int_eq(end_batches(BATCHES_SYNC), 0);
	ck_assert(!is_unfinished());
	version_put(was);
	buf_release(&text);
	buf_release(&other);
}
END_TEST

Suite *batches_suite(void);

Suite *batches_suite(void)
{
	Suite *s = suite_create("batches");
	TCase *t = tcase_create("batches");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, two_texts_of_one_program_are_one_batch);
	tcase_add_test(t, two_programs_are_two);
	tcase_add_test(t, saves_of_nobody_are_each_one);
	tcase_add_test(t, a_view_saved_again_begins_another);
	tcase_add_test(t, what_others_save_in_between_stays);
	tcase_add_test(t, an_old_value_gives_way_and_a_new_one_conflicts);
	tcase_add_test(t, a_refused_text_is_none_of_the_batch);
	tcase_add_test(t, a_batch_ends_with_its_program);
	tcase_add_test(t, the_end_of_the_mount_ends_all);
	tcase_add_test(t, what_is_known_is_there_in_the_next_mount);
	tcase_add_test(t, history_says_what_is_unfinished);
	tcase_add_test(t, a_single_text_is_never_unfinished);
	tcase_add_test(t, a_batch_without_memory_ends);
	suite_add_tcase(s, t);
	t = tcase_create("memory");
	tcase_add_checked_fixture(t, begin_alone, end);
	tcase_add_test(t, no_version_is_kept_for_each_text);
	tcase_add_test(t, an_ended_batch_keeps_neither_versions_nor_texts);
	tcase_add_test(t, nor_does_one_that_history_waits_for);
	suite_add_tcase(s, t);
	return s;
}
