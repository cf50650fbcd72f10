/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of a file that saves replaced: kept, bounded, found again. */
#include "disk/dirfd.h"
#include "disk/history.h"
#include "disk/history_room.h"
#include "disk/history_undo.h"
#include "disk/replace.h"
#include "scratch.h"

#include <time.h>

static struct state *state;
static struct history *history;
static int folder;
#define FILE_PATH "obj/a.canm"
static struct history_file file = {.dir = -1, .folder = "obj", .name = "a.canm"};

static void begin_with(uint64_t limit)
{
	struct err err = {.code = ERR_NONE};

	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_ptr_nonnull(state);
	history = history_new(state, limit);
}

static void begin(void)
{
	scratch_begin();
	ck_assert_int_eq(mkdir("obj", 0755), 0);
	folder = open("obj", O_PATH | O_DIRECTORY | O_CLOEXEC);
	file.dir = folder;
	begin_with(HISTORY_DEFAULT);
}

static void end(void)
{
	history_free(history);
	state_free(state);
	close(folder);
	scratch_end();
}

/* Opens the history again, with another limit or as the next mount does. */
static void again(uint64_t limit)
{
	history_free(history);
	state_free(state);
	begin_with(limit);
	ck_assert_int_eq(history_recover(state), 0);
}

/* ---- saves ---- */

static int save_bytes(struct bytes bytes, const struct history_note *note)
{
	char temporary[STATE_TEMPORARY_SIZE];
	struct buf there = BUF_INIT;
	struct history_save save;
	struct file_version now, expect;
	struct bytes was;
	struct stat st;
	bool exists;
	int error;

	ck_locks(state_lock(state));
	exists = dirfd_read(file.dir, file.name, SIZE_MAX, &there, &st) == 0;
	was = buf_bytes(&there);
	expect = file_version_of(&st);
	error = history_begin(history, &save, &file, exists ? &was : NULL, history_joins(note));
	ck_assert_int_eq(state_temporary(state, file.folder, temporary, sizeof(temporary)), 0);
	if (!error) {
		struct replacement r = {.dir = file.dir,
					.via = file.dir,
					.name = file.name,
					.temporary = temporary,
					.expect = exists ? &expect : NULL,
					.was = exists ? &was : NULL,
					.keep = history_keep,
					.keeper = &save};

		error = replace_prepare(&r, bytes);
		if (!error)
			error = replace_place(&r, &now, NULL);
		replace_end(&r);
	}
	if (error)
		history_cancel(&save);
	else
		history_end(&save, &bytes, note);
	state_temporary_gone(state, file.folder);
	state_unlock(state);
	buf_release(&there);
	return error;
}

static int save_in(const char *text, uint64_t batch)
{
	const struct history_note note = {.batch = batch, .what = text, .program = "test"};

	int error = save_bytes(bytes_of(text), &note);

	/*
	 * The link that a killed save left was removed, which changed the file's ctime: try again.
	 */
	return error == EAGAIN ? save_bytes(bytes_of(text), &note) : error;
}

static void save(const char *text)
{
	ck_assert_int_eq(save_in(text, 0), 0);
	ck_text(FILE_PATH, text);
}

static int remove_file(void)
{
	const struct history_note note = {.what = "removed"};
	struct buf there = BUF_INIT;
	struct history_save s;
	struct bytes was;
	struct stat st;
	int error;

	ck_locks(state_lock(state));
	ck_assert_int_eq(dirfd_read(file.dir, file.name, SIZE_MAX, &there, &st), 0);
	was = buf_bytes(&there);
	error = history_begin(history, &s, &file, &was, 0);
	if (!error)
		error = history_remove(&s);
	if (error)
		history_cancel(&s);
	else
		history_end(&s, NULL, &note);
	state_unlock(state);
	buf_release(&there);
	return error;
}

/* ---- the versions kept ---- */

/* Returns the versions as "1f one|2e two|3e -": number, kind, bytes; '-' if they are not kept. */
static const char *shown(void)
{
	static const char kinds[] = "emfrs";
	static char out[4096];
	struct history_book book;
	size_t at = 0;

	out[0] = '\0';
	if (history_open(state, &file, &book)) {
		history_release(&book);
		return "none";
	}
	for (size_t i = 0; i < book.log.count; i++) {
		const struct history_entry *e = &book.log.list[i];
		struct buf bytes = BUF_INIT;

		if (e->kept)
			ck_assert_int_eq(history_bytes(&book, i, &bytes, NULL), 0);
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%d%c %.*s", i ? "|" : "",
				       (int)e->number, kinds[e->kind],
				       e->kept ? (int)bytes.size : 1,
				       e->kept ? (const char *)bytes.data : "-");
		buf_release(&bytes);
	}
	history_release(&book);
	return out;
}

/* Returns the path of the only folder of versions. */
static const char *versions(void)
{
	static char path[128];
	DIR *dir = opendir(".animfs/history");
	struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	path[0] = '\0';
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && strlen(entry->d_name) == 32)
			snprintf(path, sizeof(path), ".animfs/history/%.40s", entry->d_name);
	}
	closedir(dir);
	return path;
}

static const char *version(int number)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%d", versions(), number);
	return path;
}

static int restore(enum history_way way, uint64_t number)
{
	const struct history_note note = {.program = "test"};
	const struct history_request request = {
		.way = way, .number = number, .batch = number, .note = &note};
	struct history_result result;
	int error = history_restore(history, &file, &request, &result);

	history_result_release(&result);
	return error;
}

static int undo(void)
{
	return restore(HISTORY_BACK, 0);
}
static int redo(void)
{
	return restore(HISTORY_FORTH, 0);
}

START_TEST(each_version_is_kept)
{
	put(FILE_PATH, "one");
	ck_assert_str_eq(shown(), "none");
	save("two");
	ck_assert_str_eq(shown(), "1f one|2e -");
	save("three");
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
	ck_assert_int_eq(count_entries("obj"), 1);
}
END_TEST

/* The kept version is the replaced file itself, not a copy, and never has two names. */
START_TEST(nothing_is_copied)
{
	ino_t ino;

	put(FILE_PATH, "one");
	ino = stat_of(FILE_PATH).st_ino;
	save("two");
	ck_assert_uint_eq(stat_of(version(1)).st_ino, ino);
	ck_assert_uint_eq(stat_of(version(1)).st_nlink, 1);
	ck_assert_uint_eq(stat_of(FILE_PATH).st_nlink, 1);
}
END_TEST

/* The file has another name: a write by that must not change the kept version. */
START_TEST(a_file_with_other_names_is_copied)
{
	struct history_book book;

	put(FILE_PATH, "one");
	ck_assert_int_eq(link(FILE_PATH, "obj/other"), 0);
	save("two");
	ck_assert_int_eq(history_open(state, &file, &book), 0);
	ck_assert_str_eq(history_log_last(&book.log)->what,
			 "two (its other names stay as they were)");
	history_release(&book);
	put("obj/other", "ONE");
	ck_assert_str_eq(shown(), "1f one|2e -");
}
END_TEST

START_TEST(what_others_change_is_a_version)
{
	put(FILE_PATH, "one");
	save("two");
	put(FILE_PATH, "other");
	save("three");
	ck_assert_str_eq(shown(), "1f one|2e -|3f other|4e -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "other");
	ck_assert_int_eq(undo(), 0); /* version 2 was overwritten in place */
	ck_text(FILE_PATH, "one");
}
END_TEST

START_TEST(a_batch_is_one_version)
{
	put(FILE_PATH, "one");
	ck_assert_int_eq(save_in("two", 7), 0);
	ck_assert_int_eq(save_in("three", 7), 0);
	ck_assert_str_eq(shown(), "1f one|2e -");
	ck_assert_int_eq(save_in("four", 8), 0);
	ck_assert_str_eq(shown(), "1f one|2e three|3e -");
	ck_assert_int_eq(undo(), 0);
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "one");
}
END_TEST

/* Writes a log of `count` versions with large numbers, and a last line that is invalid. */
static void write_long_log(int dir, const char *line, unsigned count, unsigned last)
{
	FILE *log = fdopen(openat(dir, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600), "w");

	ck_assert_ptr_nonnull(log);
	for (unsigned i = 0; i < count; i++)
		fprintf(log, "%u%s", 1000000 + i, strchr(line, '\t'));
	fprintf(log, "%*s\n", (int)last, "");
	fclose(log);
}

START_TEST(a_line_that_is_cut_is_of_no_version)
{
	struct history_log log = HISTORY_LOG_INIT;
	char line[1000];
	FILE *real;
	int dir;

	save("one");
	save("two");
	dir = open(versions(), O_PATH | O_DIRECTORY);
	real = fdopen(openat(dir, "log", O_RDONLY), "r");
	ck_assert_ptr_nonnull(real);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), real));
	fclose(real);
	for (unsigned last = 0; last <= strlen(line) + 10; last++) {
		write_long_log(dir, line, 400, last);
		ck_assert_int_eq(history_log_read_end(dir, &log), 0);
		ck_assert_uint_gt(log.count, 20);
		ck_assert_uint_lt(log.count, 400);
		for (size_t i = 0; i < log.count; i++)
			ck_assert_uint_eq(log.list[i].number, 1000400 - log.count + i);
		history_log_release(&log);
	}
	close(dir);
}
END_TEST

START_TEST(a_batch_that_ends_is_not_unfinished)
{
	const struct history_note note = {.batch = 7, .unfinished = true};
	struct history_book book;

	put(FILE_PATH, "one");
	ck_assert_int_eq(save_bytes(bytes_of("two"), &note), 0);
	ck_assert_int_eq(history_open(state, &file, &book), 0);
	ck_assert(history_log_last(&book.log)->unfinished);
	history_release(&book);
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_set_unfinished(history, &file, 7, false), 0);
	state_unlock(state);
	ck_assert_int_eq(history_open(state, &file, &book), 0);
	ck_assert(!history_log_last(&book.log)->unfinished);
	ck_assert_uint_eq(book.log.count, 2);
	history_release(&book);
	/* Also test a batch that goes on after all. */
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_set_unfinished(history, &file, 7, true), 0);
	state_unlock(state);
	ck_assert_int_eq(history_open(state, &file, &book), 0);
	ck_assert(history_log_last(&book.log)->unfinished);
	ck_assert_uint_eq(book.log.count, 2);
	history_release(&book);
}
END_TEST

START_TEST(nothing_is_kept_with_a_limit_of_0)
{
	again(0);
	put(FILE_PATH, "one");
	save("two");
	ck_assert(!is_there(".animfs/history"));
	ck_assert_int_eq(undo(), ENODATA);
}
END_TEST

/* ---- the way back ---- */

START_TEST(undo_and_redo_go_back_and_forth)
{
	put(FILE_PATH, "one");
	save("two");
	save("three");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(undo(), 0);
		ck_text(FILE_PATH, "two");
		ck_assert_int_eq(undo(), 0);
		ck_text(FILE_PATH, "one");
		ck_assert_int_eq(undo(), ENODATA);
		ck_assert_int_eq(redo(), 0);
		ck_text(FILE_PATH, "two");
		ck_assert_int_eq(redo(), 0);
		ck_text(FILE_PATH, "three");
		ck_assert_int_eq(redo(), ENODATA);
	}
	ck_assert_int_eq(undo(), 0);
	save("four");
	ck_assert_int_eq(redo(), ENODATA);
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "two");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(count_entries("obj"), 1);
}
END_TEST

/* Undo and redo do not keep bytes that are kept already. */
START_TEST(a_version_is_kept_once)
{
	put(FILE_PATH, "one");
	save("two");
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(undo(), 0);
		ck_assert_int_eq(redo(), 0);
	}
	ck_assert_str_eq(shown(), "1f -|2e -|3s -|4s -|5s -|6s -|7s -|8s two|9s one|10s -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "one");
}
END_TEST

START_TEST(any_version_can_be_had)
{
	put(FILE_PATH, "one");
	save("two");
	save("three");
	ck_assert_int_eq(restore(HISTORY_TO, 1), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(restore(HISTORY_TO, 1), EALREADY);
	ck_assert_int_eq(restore(HISTORY_TO, 9), ENODATA);
	ck_assert_int_eq(undo(), 0); /* undoes the undo */
	ck_text(FILE_PATH, "three");
}
END_TEST

START_TEST(a_file_that_others_changed_is_left_alone)
{
	put(FILE_PATH, "one");
	save("two");
	put(FILE_PATH, "theirs");
	ck_assert_int_eq(undo(), ESTALE);
	ck_assert_int_eq(undo(), ESTALE);
	ck_text(FILE_PATH, "theirs");
	ck_assert_int_eq(restore(HISTORY_TO, 1), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "theirs");
	ck_assert_int_eq(unlink(FILE_PATH), 0);
	ck_assert_int_eq(undo(), ESTALE);
	ck_assert_int_eq(restore(HISTORY_TO, 1), 0);
	ck_text(FILE_PATH, "one");
}
END_TEST

START_TEST(the_file_keeps_what_is_its_own)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(chmod(FILE_PATH, 0640), 0);
	ck_assert_int_eq(undo(), 0);
	ck_assert_int_eq(stat_of(FILE_PATH).st_mode & 07777, 0640);
}
END_TEST

START_TEST(a_removed_file_comes_back_as_it_was)
{
	put(FILE_PATH, "one");
	ck_assert_int_eq(chmod(FILE_PATH, 0604), 0);
	save("two");
	ck_assert_int_eq(remove_file(), 0);
	ck_assert(!is_there(FILE_PATH));
	ck_assert_str_eq(shown(), "1f one|2e two|3r -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "two");
	ck_assert_int_eq(stat_of(FILE_PATH).st_mode & 07777, 0604);
	ck_assert_int_eq(redo(), 0);
	ck_assert(!is_there(FILE_PATH));
	ck_assert_int_eq(undo(), 0);
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(count_entries("obj"), 1);
}
END_TEST

START_TEST(a_batch_is_taken_back)
{
	put(FILE_PATH, "one");
	ck_assert_int_eq(save_in("two", 7), 0);
	ck_assert_int_eq(save_in("three", 7), 0);
	ck_assert_int_eq(restore(HISTORY_OUT, 8), ENOENT);
	ck_assert_int_eq(restore(HISTORY_OUT, 7), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(restore(HISTORY_OUT, 7), EALREADY);
	ck_assert_int_eq(redo(), 0);
	ck_text(FILE_PATH, "three");
	save("four");
	ck_assert_int_eq(restore(HISTORY_OUT, 7), ESTALE);
}
END_TEST

/* Saves a view again, in the same batch. */
static void save_again(const char *text, uint64_t batch)
{
	const struct history_note note = {.batch = batch, .apart = true, .what = text};

	ck_assert_int_eq(save_bytes(bytes_of(text), &note), 0);
	ck_text(FILE_PATH, text);
}

START_TEST(a_batch_of_several_versions_is_taken_back)
{
	put(FILE_PATH, "one");
	save_again("two", 7);
	save_again("three", 7);
	ck_assert_int_eq(save_in("four", 7), 0);
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "two");
	ck_assert_int_eq(restore(HISTORY_OUT, 7), 0);
	ck_text(FILE_PATH, "one");
	ck_assert_int_eq(restore(HISTORY_OUT, 7), EALREADY);
}
END_TEST

START_TEST(a_batch_that_others_interrupted_stays)
{
	put(FILE_PATH, "one");
	save_again("two", 7);
	save_again("three", 8);
	save_again("four", 7);
	ck_assert_int_eq(restore(HISTORY_OUT, 7), ESTALE);
	ck_text(FILE_PATH, "four");
	ck_assert_int_eq(restore(HISTORY_OUT, 8), ESTALE);
	ck_assert_int_eq(undo(), 0);
	ck_assert_int_eq(restore(HISTORY_OUT, 8), 0);
	ck_text(FILE_PATH, "two");
}
END_TEST

START_TEST(a_file_that_a_batch_made_goes_with_it)
{
	ck_assert_int_eq(save_in("one", 7), 0);
	ck_assert_int_eq(undo(), ENODATA); /* undo must not remove the file */
	ck_assert_int_eq(restore(HISTORY_OUT, 7), 0);
	ck_assert(!is_there(FILE_PATH));
	ck_assert_int_eq(restore(HISTORY_OUT, 7), EALREADY);
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "one");
}
END_TEST

START_TEST(a_file_in_use_stays_as_it_is)
{
	int fd;

	put(FILE_PATH, "one");
	save("two");
	fd = open(FILE_PATH, O_WRONLY | O_CLOEXEC);
	if (undo() == EBUSY) { /* not every filesystem has leases */
		ck_text(FILE_PATH, "two");
		ck_assert_str_eq(shown(), "1f one|2e -");
	}
	close(fd);
}
END_TEST

/* ---- names and owners ---- */

START_TEST(versions_go_where_the_file_goes)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(rename("obj/a.canm", "obj/b.canm"), 0);
	history_rename(state, "obj/a.canm", "obj/b.canm");
	ck_assert_str_eq(shown(), "none");
	file.name = "b.canm";
	ck_assert_str_eq(shown(), "1f one|2e -");
	ck_assert_int_eq(rename("obj", "new"), 0);
	history_rename(state, "obj", "new");
	ck_assert_str_eq(shown(), "none");
	file.folder = "new";
	ck_assert_str_eq(shown(), "1f one|2e -");
	file.folder = "obj";
	file.name = "a.canm";
}
END_TEST

static void replace_name(const char *first, const char *second)
{
	file.name = "b.canm";
	put("obj/b.canm", first);
	ck_assert_int_eq(save_in(second, 0), 0);
	ck_assert_int_eq(rename("obj/b.canm", FILE_PATH), 0);
	history_rename(state, "obj/b.canm", FILE_PATH);
	file.name = "a.canm";
}

START_TEST(an_earlier_file_of_the_name_comes_back)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(remove_file(), 0);
	replace_name("x", "y");
	ck_assert_str_eq(shown(), "1f x|2e -");
	file.name = "a~1~.canm";
	ck_assert_str_eq(shown(), "1f one|2e two|3r -");
	ck_assert_int_eq(undo(), 0);
	ck_text("obj/a~1~.canm", "two");
	file.name = "a.canm";
	ck_assert_int_eq(remove_file(), 0);
	replace_name("v", "w");
	ck_assert_str_eq(shown(), "1f v|2e -");
	file.name = "a~2~.canm";
	ck_assert_str_eq(shown(), "1f x|2e y|3r -");
	file.name = "a.canm";
}
END_TEST

START_TEST(the_name_of_an_earlier_file)
{
	static const char *const names[][2] = {
		{"a.canm", "a~7~.canm"},
		{"o.d/a.canm.skeleton.csv", "o.d/a~7~.canm.skeleton.csv"},
		{"o.d/.a.b", "o.d/.a~7~.b"},
		{"o.d/a", "o.d/a~7~"}};
	char out[PATH_MAX], name[NAME_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert(history_earlier(names[i][0], 7, out));
		ck_assert_str_eq(out, names[i][1]);
	}
	memset(name, 'x', sizeof(name));
	name[NAME_MAX - 2] = '\0';
	ck_assert(!history_earlier(name, 7, out));
}
END_TEST

/* A save opened the versions' folder before that was renamed. */
START_TEST(versions_stay_together_while_a_folder_is_renamed)
{
	put(FILE_PATH, "one");
	save("two");
	history_begin_move(history);
	ck_assert_int_eq(rename("obj", "new"), 0);
	history_rename(state, "obj", "new");
	history_end_move(history);
	ck_assert_int_eq(save_in("three", 0), 0);
	ck_assert_str_eq(shown(), "none");
	file.folder = "new";
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
	file.folder = "obj";
}
END_TEST

START_TEST(nothing_is_called_like_an_animation)
{
	put(FILE_PATH, "one");
	save("two");
	ck_text(".animfs/history/.gitignore", "*\n");
	ck_assert_uint_eq(stat_of(".animfs/history").st_mode & 07777, 0700);
	ck_assert_int_eq(system("test -z \"$(find .animfs -name '*.canm*')\""), 0);
}
END_TEST

START_TEST(another_owners_file_has_none_of_it)
{
	if (getuid())
		return;
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(chown(FILE_PATH, 1000, 1000), 0);
	ck_assert_str_eq(shown(), "1f one|2e -"); /* the versions still belong to the file */
	save("three");
	ck_assert_int_eq(remove_file(), 0);
	put(FILE_PATH, "mine");
	ck_assert_str_eq(shown(), "none");
	ck_assert_int_eq(undo(), ENODATA);
	save("mine, too");
	ck_assert_str_eq(shown(), "1f mine|2e -");
	/* NUMBER, NUMBER-1, .count and .gitignore */
	ck_assert_int_eq(count_entries(".animfs/history"), 4);
}
END_TEST

/*
 * Makes the history take a file for the one that was removed, as if the inode number had been used
 * again much later.
 */
static void take_for_the_last(const char *path)
{
	struct history_book book;
	struct history_entry last;
	struct stat st = stat_of(path);
	struct buf text = BUF_INIT;
	char log[200];

	ck_assert_int_eq(
		history_open(state, &(struct history_file){-1, "obj", "a.canm", NULL, NULL}, &book),
		0);
	for (size_t i = 0; i < book.log.count; i++) {
		last = book.log.list[i];
		last.dev = st.st_dev;
		last.ino = st.st_ino;
		last.time -= (int64_t)3600 * 1000000000;
		history_log_line(&last, &text);
	}
	buf_char(&text, '\0');
	snprintf(log, sizeof(log), "%s/log", versions());
	put(log, (const char *)text.data);
	buf_release(&text);
	history_release(&book);
}

START_TEST(another_owners_file_has_none_of_it_by_its_inode)
{
	if (getuid())
		return;
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(unlink(FILE_PATH), 0);
	put(FILE_PATH, "mine");
	ck_assert_int_eq(chown(FILE_PATH, 1000, 1000), 0);
	take_for_the_last(FILE_PATH);
	ck_assert_str_eq(shown(), "none");
	ck_assert_int_eq(undo(), ENODATA);
	save("mine, too");
	ck_assert_str_eq(shown(), "1f mine|2e -");
}
END_TEST

START_TEST(forgotten_is_forgotten)
{
	put(FILE_PATH, "one");
	save("two");
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_forget(state, &file), 0);
	ck_assert_int_eq(history_forget(state, &file), ENODATA);
	state_unlock(state);
	ck_assert_str_eq(shown(), "none");
	ck_assert_int_eq(count_entries(".animfs/history"), 2);
	ck_text(FILE_PATH, "two");
}
END_TEST

START_TEST(a_blob_is_kept_with_the_file)
{
	struct buf out = BUF_INIT;

	put(FILE_PATH, "one");
	ck_assert_int_eq(history_blob_get(state, &file, &out), ENODATA);
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_blob_put(state, &file, bytes_of("digests")), 0);
	state_unlock(state);
	ck_assert_int_eq(history_blob_get(state, &file, &out), 0);
	ck_assert(bytes_equal(buf_bytes(&out), bytes_of("digests")));
	save("two");
	buf_clear(&out);
	ck_assert_int_eq(history_blob_get(state, &file, &out), 0);
	ck_assert(bytes_equal(buf_bytes(&out), bytes_of("digests")));
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_blob_put(state, &file, (struct bytes){NULL, 0}), 0);
	state_unlock(state);
	ck_assert_int_eq(history_blob_get(state, &file, &out), ENODATA);
	buf_release(&out);
}
END_TEST

/* ---- room ---- */

/* Saves 4096 bytes of text, and as many of notes. */
static void save_block(const char *path, char c)
{
	static char text[4097];
	const struct history_note note = {.what = "block"};

	memset(text, c, 4096);
	file.name = path;
	ck_assert_int_eq(save_bytes(bytes_of(text), &note), 0);
	file.name = "a.canm";
}

static int count_kept(const char *name)
{
	struct history_book book;
	int count = 0;

	file.name = name;
	if (!history_open(state, &file, &book)) {
		for (size_t i = 0; i < book.log.count; i++)
			count += book.log.list[i].kept;
	}
	history_release(&book);
	file.name = "a.canm";
	return count;
}

START_TEST(all_of_it_takes_no_more_than_the_limit)
{
	again(32 * 8192);
	for (int i = 0; i < 100; i++) {
		save_block("a.canm", (char)('a' + i % 26));
		ck_assert_int_le(count_kept("a.canm"), 32);
	}
	ck_assert_int_ge(count_kept("a.canm"), 28);
	ck_assert_int_eq(undo(), 0);
}
END_TEST

START_TEST(room_comes_from_the_file_that_uses_most)
{
	again(32 * 8192);
	for (int i = 0; i < 5; i++)
		save_block("b.canm", (char)('a' + i));
	for (int i = 0; i < 100; i++)
		save_block("a.canm", (char)('a' + i % 26));
	ck_assert_int_eq(count_kept("b.canm"), 4);
	ck_assert_int_le(count_kept("a.canm") + 4, 32);
}
END_TEST

START_TEST(the_newest_of_a_file_goes_last)
{
	char name[16];

	again(16 * 8192);
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "%d.canm", i);
		for (int j = 0; j < 3; j++)
			save_block(name, (char)('a' + j));
	}
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "%d.canm", i);
		ck_assert_int_ge(count_kept(name), 1);
	}
}
END_TEST

/* The version that undo returned to is as new as the undo, although its bytes were kept before. */
START_TEST(what_undo_led_to_goes_last)
{
	static char text[4096]; /* as large as the buffer of ck_text */

	memset(text, 'a', sizeof(text) - 1);
	again(16 * 8192);
	for (char c = 'a'; c < 'd'; c++)
		save_block("a.canm", c);
	ck_assert_int_eq(undo(), 0);
	ck_assert_int_eq(undo(), 0);
	save_block("a.canm", 'x');
	ck_assert_int_eq(count_kept("a.canm"), 3);
	again(9216);
	save_block("b.canm", 'a'); /* the limit has room for one version */
	ck_assert_int_eq(count_kept("a.canm"), 1);
	again(16 * 8192);
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, text);
}
END_TEST

/* Two programs each keep a count of the bytes of all versions. */
START_TEST(what_another_program_keeps_counts)
{
	struct history *other, *mine = history;

	again(16 * 8192);
	mine = history;
	other = history_new(state, 16 * 8192);
	for (int i = 0; i < 100; i++) {
		history = i % 3 ? other : mine;
		save_block("a.canm", (char)('a' + i % 26));
		ck_assert_int_le(count_kept("a.canm"), 16);
	}
	history_free(other);
	history = mine;
}
END_TEST

START_TEST(what_was_before_a_running_batch_stays)
{
	again(16 * 8192);
	save_block("b.canm", 'a');
	history_begin_batch(history, 7);
	file.name = "b.canm";
	ck_assert_int_eq(save_in("batch", 7), 0);
	file.name = "a.canm";
	again(2 * 8192);
	history_begin_batch(history, 7);
	for (int i = 0; i < 40; i++)
		save_block("a.canm", (char)('a' + i % 26));
	ck_assert_int_eq(count_kept("b.canm"), 1);
	history_end_batch(history, 7);
	again(1);
	for (int i = 0; i < 40; i++)
		save_block("a.canm", (char)('a' + i % 26));
	ck_assert_int_eq(count_kept("b.canm"), 0);
}
END_TEST

START_TEST(a_batch_runs_in_many_files)
{
	again(16 * 8192);
	save_block("b.canm", 'a');
	file.name = "b.canm";
	ck_assert_int_eq(save_in("batch", 7), 0);
	file.name = "a.canm";
	again(1);
	for (int i = 0; i < 100; i++)
		history_begin_batch(history, 8);
	history_begin_batch(history, 7);
	save_block("a.canm", 'a');
	save_block("a.canm", 'b');
	ck_assert_int_eq(count_kept("b.canm"), 1);
	for (int i = 0; i < 100; i++)
		history_end_batch(history, 8);
	save_block("a.canm", 'c');
	ck_assert_int_eq(count_kept("b.canm"), 1);
	history_end_batch(history, 7);
	save_block("a.canm", 'd');
	ck_assert_int_eq(count_kept("b.canm"), 0);
}
END_TEST

/* Keeps nine versions of 8192 bytes; a save needs 20480 and room for its own version. */
static void keep_nine(void)
{
	for (int i = 0; i < 10; i++)
		save_block("a.canm", (char)('a' + i));
	ck_assert_int_eq(count_kept("a.canm"), 9);
}

static bool yields_to(uid_t payer, int error, int dir, uint64_t size)
{
	bool made;

	ck_locks(state_lock(state));
	made = history_yield(history, error, dir, size, payer);
	state_unlock(state);
	return made;
}

static bool yields(int error, int dir, uint64_t size)
{
	return yields_to(geteuid(), error, dir, size);
}

START_TEST(a_full_quota_drops_the_oldest)
{
	keep_nine();
	ck_assert(yields(EDQUOT, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 6);
	ck_assert(!is_there(version(3)) && is_there(version(4)));
}
END_TEST

/*
 * The versions' filesystem does not show its limit, as remote ones and those with project quotas.
 */
START_TEST(a_limit_that_does_not_show_drops_the_oldest)
{
	keep_nine();
	ck_assert(yields(ENOSPC, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 6);
}
END_TEST

START_TEST(what_would_not_suffice_stays)
{
	keep_nine();
	ck_assert(!yields(EDQUOT, folder, 1 << 20));
	ck_assert(!yields(ENOSPC, folder, UINT64_MAX / 2));
	ck_assert_int_eq(count_kept("a.canm"), 9);
}
END_TEST

START_TEST(what_is_not_in_the_way_stays)
{
	int elsewhere = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	keep_nine();
	ck_assert(!yields(EDQUOT, elsewhere, 4096));
	ck_assert(!yields(EIO, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 9);
	close(elsewhere);
}
END_TEST

/* Versions of other owners count for other quotas, so they stay. */
START_TEST(versions_of_others_stay)
{
	if (getuid())
		return;
	keep_nine();
	for (int i = 1; i <= 6; i++)
		ck_assert_int_eq(chown(version(i), 1000, 1000), 0);
	ck_assert(!yields(EDQUOT, folder, 8192));
	ck_assert_int_eq(count_kept("a.canm"), 9);
	ck_assert(yields(EDQUOT, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 6);
	ck_assert(is_there(version(1)) && is_there(version(6)) && !is_there(version(7)));
	/* The new file was to be owned by the other user. */
	ck_assert(yields_to(1000, EDQUOT, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 3);
	ck_assert(!is_there(version(3)) && is_there(version(4)));
	ck_assert(!yields_to(1001, EDQUOT, folder, 4096));
	ck_assert_int_eq(count_kept("a.canm"), 3);
}
END_TEST

extern int chown_error; /* defined in test_replace.c */

/* A file with other links is copied, and the copy cannot be given to the file's owner. */
START_TEST(a_copy_takes_room_from_its_owners_versions)
{
	if (getuid())
		return;
	put(FILE_PATH, "first");
	ck_assert_int_eq(chown(FILE_PATH, 1000, 1000), 0);
	for (int i = 0; i < 9; i++)
		save_block("a.canm", (char)('a' + i));
	ck_assert_int_eq(count_kept("a.canm"), 9);
	for (int i = 1; i <= 5; i++)
		ck_assert_int_eq(chown(version(i), 0, 0), 0);
	ck_assert_int_eq(link(FILE_PATH, "obj/other"), 0);
	chown_error = EDQUOT;
	ck_assert_int_eq(remove_file(), 0);
	chown_error = 0;
	ck_assert(is_there(version(1)) && is_there(version(5)) && !is_there(version(6)));
}
END_TEST

START_TEST(a_running_batch_stays_on_a_full_disk)
{
	keep_nine();
	history_begin_batch(history, 7);
	ck_assert_int_eq(save_in("batch", 7), 0); /* replaces version 10, of the same batch */
	ck_assert(!yields(EDQUOT, folder, 10 * 8192 - 20480 + 1));
	ck_assert(yields(EDQUOT, folder, 9 * 8192 - 20480));
	ck_assert_int_eq(count_kept("a.canm"), 1);
	ck_assert(is_there(version(10)));
	history_end_batch(history, 7);
}
END_TEST

/* Writes a log of versions that were made the given numbers of hours ago. */
static void write_log(const int *hours, size_t count)
{
	struct buf text = BUF_INIT;
	struct timespec now;
	char path[200];

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < count; i++) {
		struct history_entry e = {.number = i + 1, .view = "", .program = "", .what = ""};

		/* Times are in the middle of an hour. */
		e.time = ((int64_t)now.tv_sec / 3600 - hours[i]) * 3600 * 1000000000 +
			 (int64_t)(i + 1) * 1000000000;
		history_log_line(&e, &text);
		put(version((int)i + 1), "x");
	}
	snprintf(path, sizeof(path), "%s/log", versions());
	buf_char(&text, '\0');
	put(path, (const char *)text.data);
	buf_release(&text);
}

START_TEST(versions_thin_out_with_age)
{
	/* Versions are kept by days, then by hours, then all: the last of each period stays. */
	static const int hours[] = {24 * 9, 24 * 9, 24 * 9, 24 * 5, 24 * 5, 5, 5, 5, 3, 3, 0, 0, 0};
	const uint64_t nobody = 0;
	const struct history_running running = {&nobody, 0};
	uint64_t left;

	put(FILE_PATH, "one");
	save("two");
	write_log(hours, ARRAY_SIZE(hours));
	ck_locks(state_lock(state));
	ck_assert_int_eq(history_make_room(state, UINT64_MAX, &running, &left), 0);
	state_unlock(state);
	ck_assert(!is_there(version(1)) && !is_there(version(2)) && is_there(version(3)));
	ck_assert(!is_there(version(4)) && is_there(version(5)));
	ck_assert(!is_there(version(6)) && !is_there(version(7)) && is_there(version(8)));
	ck_assert(!is_there(version(9)) && is_there(version(10)));
	ck_assert(is_there(version(11)) && is_there(version(12)) && is_there(version(13)));
}
END_TEST

/* ---- after a kill ---- */

/*
 * Leaves a temporary file of replace_place beside the file, with the name of a mount that has
 * ended.
 */
static void leave_temporary(const char *text)
{
	ck_assert_int_eq(mkdir(".animfs/mounts", 0700) && errno != EEXIST, 0);
	put("obj/.animfs-0123456789abcdef-1-0.tmp", text);
	put(".animfs/mounts/0123456789abcdef", "obj");
	/* the path with its NUL byte */
	ck_assert_int_eq(truncate(".animfs/mounts/0123456789abcdef", 4), 0);
}

START_TEST(killed_before_the_file_was_replaced)
{
	put(FILE_PATH, "one");
	save("two");
	leave_temporary("three");
	again(HISTORY_DEFAULT);
	ck_assert_int_eq(count_entries("obj"), 1);
	ck_assert_str_eq(shown(), "1f one|2e -");
	ck_text(FILE_PATH, "two");
}
END_TEST

START_TEST(killed_after_the_file_was_replaced)
{
	put(FILE_PATH, "one");
	save("two");
	leave_temporary("two");
	put("new", "three");
	ck_assert_int_eq(rename("new", FILE_PATH), 0);
	again(HISTORY_DEFAULT);
	ck_assert_int_eq(count_entries("obj"), 1);
	ck_assert_str_eq(shown(), "1f one|2e two|3f -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "two");
}
END_TEST

/* Another mount saves before the next history_recover. */
START_TEST(killed_before_another_mount_saved)
{
	put(FILE_PATH, "one");
	save("two");
	leave_temporary("two");
	put("new", "three");
	ck_assert_int_eq(rename("new", FILE_PATH), 0);
	save("four");
	save("five");
	ck_assert_str_eq(shown(), "1f one|2e -|3f three|4e four|5e -");
	again(HISTORY_DEFAULT);
	ck_assert_int_eq(count_entries("obj"), 1);
	ck_assert_str_eq(shown(), "1f one|2e two|3f three|4e four|5e -");
}
END_TEST

/* Text that was not moved into place, and equals the file, is no version. */
START_TEST(killed_before_a_file_was_replaced_by_the_same)
{
	put(FILE_PATH, "one");
	save("two");
	leave_temporary("two");
	again(HISTORY_DEFAULT);
	ck_assert_int_eq(count_entries("obj"), 1);
	ck_assert_str_eq(shown(), "1f one|2e -");
}
END_TEST

START_TEST(killed_after_the_old_file_was_moved)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(rename(FILE_PATH, version(2)), 0);
	put(FILE_PATH, "three");
	ck_assert_int_eq(undo(), 0); /* undo without a mount in between */
	ck_text(FILE_PATH, "two");
	ck_assert_str_eq(shown(), "1f one|2e two|3f three|4s -");
}
END_TEST

START_TEST(killed_between_the_link_and_the_rename)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(link(FILE_PATH, version(2)), 0);
	again(HISTORY_DEFAULT);
	ck_assert_str_eq(shown(), "1f one|2e -");
	ck_assert_uint_eq(stat_of(FILE_PATH).st_nlink, 1);
	ck_assert_int_eq(link(FILE_PATH, version(2)), 0);
	save("three");
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
}
END_TEST

START_TEST(killed_after_the_file_was_removed)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(rename(FILE_PATH, version(2)), 0);
	again(HISTORY_DEFAULT);
	ck_assert_str_eq(shown(), "1f one|2e two|3r -");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "two");
}
END_TEST

START_TEST(what_cannot_be_read_was_not_removed)
{
	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(rename(FILE_PATH, version(2)), 0);
	ck_assert_int_eq(mkfifo(FILE_PATH, 0600), 0);
	again(HISTORY_DEFAULT);
	ck_assert_str_eq(shown(), "1f one|2e two");
	ck_assert_int_eq(unlink(FILE_PATH), 0);
	again(HISTORY_DEFAULT);
	ck_assert_str_eq(shown(), "1f one|2e two|3r -");
}
END_TEST

START_TEST(killed_while_a_line_was_written)
{
	char path[200];
	FILE *f;

	put(FILE_PATH, "one");
	save("two");
	snprintf(path, sizeof(path), "%s/log", versions());
	f = fopen(path, "ae");
	fputs("3\te\t0\t0\t12", f);
	fclose(f);
	save("three");
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
}
END_TEST

START_TEST(killed_while_a_file_was_renamed)
{
	char path[200];

	put(FILE_PATH, "one");
	save("two");
	ck_assert_int_eq(rename("obj/a.canm", "obj/b.canm"), 0);
	snprintf(path, sizeof(path), "%s/path", versions());
	put(path, "obj/b.canm");
	again(HISTORY_DEFAULT);
	file.name = "b.canm";
	ck_assert_str_eq(shown(), "1f one|2e -");
	file.name = "a.canm";
}
END_TEST

/* Its path is an earlier file's already, but its folder still has the key of the present one. */
START_TEST(killed_while_an_earlier_file_was_renamed)
{
	char path[200];

	put(FILE_PATH, "one");
	save("two");
	snprintf(path, sizeof(path), "%s/path", versions());
	put(path, "obj/a~1~.canm");
	save("three");
	ck_assert_str_eq(shown(), "1f two|2e -");
	file.name = "a~1~.canm";
	ck_assert_str_eq(shown(), "1f one|2e -");
	file.name = "a.canm";
}
END_TEST

/* ---- the count of all versions ---- */

/* What .count says; then has it say `total`, counted at `when` (0: as it was). */
static uint64_t say_counted(uint64_t total, int64_t when)
{
	int fd = open(".animfs/history/.count", O_RDWR | O_CLOEXEC);
	unsigned long long said;
	long long counted;
	char text[256] = "";
	int size;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(pread(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_int_eq(sscanf(text, "%llu %lld", &said, &counted), 2);
	if (total) {
		size = snprintf(text, sizeof(text), "%020llu %020lld", (unsigned long long)total,
				when ? (long long)when : counted);
		ck_assert_int_eq(pwrite(fd, text, (size_t)size, 0), size);
	}
	close(fd);
	return said;
}

#define MANY ((uint64_t)1 << 20)

START_TEST(the_next_process_need_not_count)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	uint64_t one;

	put(FILE_PATH, "one");
	save("two");
	one = say_counted(MANY, 0);
	again(HISTORY_DEFAULT);
	save("three");
	ck_assert_uint_eq(say_counted(0, 0), MANY + one);
	/* The first version of another file has a folder of its own. */
	file.name = "b.canm";
	put("obj/b.canm", "one");
	ck_assert_int_eq(save_in("two", 0), 0);
	ck_assert_uint_eq(say_counted(0, 0), MANY + 2 * one);
	file.name = "a.canm";
	/* A program that does not know of the count. */
	ck_assert_int_eq(utimensat(AT_FDCWD, ".animfs/history", times, 0), 0);
	save("four");
	ck_assert_uint_eq(say_counted(MANY, 1), 4 * one);
	/* That is too long ago. */
	save("five");
	ck_assert_uint_eq(say_counted(0, 0), 5 * one);
	/* A count that was torn. */
	ck_assert_int_eq(truncate(".animfs/history/.count", 30), 0);
	save("six");
	ck_assert_uint_eq(say_counted(0, 0), 6 * one);
}
END_TEST

/* ---- after a power cut ---- */

/* The line of a version is lost, and those of the versions after it. */
START_TEST(bytes_without_a_line_are_not_overwritten)
{
	put(FILE_PATH, "one");
	save("two");
	put(version(3), "lost");
	put(version(4), "lost, too");
	save("three");
	save("four");
	ck_assert_str_eq(shown(), "1f one|2e two|5e three|6e -");
	ck_text(version(3), "lost");
	ck_text(version(4), "lost, too");
	ck_assert_int_eq(undo(), 0);
	ck_text(FILE_PATH, "three");
}
END_TEST

START_TEST(a_path_that_is_empty_is_written_anew)
{
	char path[200];

	put(FILE_PATH, "one");
	save("two");
	snprintf(path, sizeof(path), "%s/path", versions());
	ck_assert_int_eq(truncate(path, 0), 0);
	save("three");
	ck_text(path, FILE_PATH);
	ck_assert_str_eq(shown(), "1f one|2e two|3e -");
}
END_TEST

/* ---- lines ---- */

START_TEST(a_line_says_what_the_entry_says)
{
	const struct history_entry e = {.number = 18446744073709551615u,
					.kind = HISTORY_STEP,
					.unfinished = true,
					.batch = 0xfedcba9876543210,
					.time = -5,
					.size = 12,
					.mtime = 1234567890123456789,
					.dev = 3,
					.ino = 4,
					.uid = 4294967295u,
					.digest = {1, 0xabcdef},
					.back = 17,
					.view = "walk/bones/a\tb%41.csv",
					.program = "",
					.what = "line\nline \xc3\xa4 %"};
	struct history_log log = HISTORY_LOG_INIT;
	struct buf text = BUF_INIT;
	const struct history_entry *got;

	history_log_line(&e, &text);
	ck_assert_ptr_eq(memchr(text.data, '\n', text.size), text.data + text.size - 1);
	ck_assert(history_log_parse(&log, &text));
	ck_assert_uint_eq(log.count, 1);
	got = &log.list[0];
	ck_assert(got->number == e.number);
	ck_assert_int_eq(got->kind, e.kind);
	ck_assert(got->unfinished);
	ck_assert_uint_eq(got->batch, e.batch);
	ck_assert_int_eq(got->time, e.time);
	ck_assert_int_eq(got->mtime, e.mtime);
	ck_assert_uint_eq(got->uid, e.uid);
	ck_assert(history_digest_same(&got->digest, &e.digest));
	ck_assert_uint_eq(got->back, 17);
	ck_assert_str_eq(got->view, e.view);
	ck_assert_str_eq(got->what, e.what);
	history_log_release(&log);
}
END_TEST

/* A log that is cut anywhere has the entries of its whole lines. */
START_TEST(half_a_line_counts_for_nothing)
{
	struct buf whole = BUF_INIT;
	size_t first;

	for (uint64_t number = 1; number <= 2; number++) {
		const struct history_entry e = {
			.number = number, .view = "", .program = "p", .what = "what"};

		if (number == 2)
			first = whole.size;
		history_log_line(&e, &whole);
	}
	for (size_t size = 0; size <= whole.size; size++) {
		struct history_log log = HISTORY_LOG_INIT;
		struct buf text = BUF_INIT;

		buf_add(&text, whole.data, size);
		ck_assert(history_log_parse(&log, &text));
		ck_assert_uint_eq(log.count, (size >= first ? 1u : 0u) + (size == whole.size));
		ck_assert_int_eq(log.torn, size && size != first && size != whole.size);
		history_log_release(&log);
	}
	buf_release(&whole);
}
END_TEST

Suite *history_suite(void);
Suite *history_suite(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("history");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, each_version_is_kept);
	tcase_add_test(tc, nothing_is_copied);
	tcase_add_test(tc, a_file_with_other_names_is_copied);
	tcase_add_test(tc, what_others_change_is_a_version);
	tcase_add_test(tc, a_batch_is_one_version);
	tcase_add_test(tc, a_batch_that_ends_is_not_unfinished);
	tcase_add_test(tc, a_line_that_is_cut_is_of_no_version);
	tcase_add_test(tc, nothing_is_kept_with_a_limit_of_0);
	tcase_add_test(tc, undo_and_redo_go_back_and_forth);
	tcase_add_test(tc, a_version_is_kept_once);
	tcase_add_test(tc, any_version_can_be_had);
	tcase_add_test(tc, a_file_that_others_changed_is_left_alone);
	tcase_add_test(tc, the_file_keeps_what_is_its_own);
	tcase_add_test(tc, a_removed_file_comes_back_as_it_was);
	tcase_add_test(tc, a_batch_is_taken_back);
	tcase_add_test(tc, a_batch_of_several_versions_is_taken_back);
	tcase_add_test(tc, a_batch_that_others_interrupted_stays);
	tcase_add_test(tc, a_file_that_a_batch_made_goes_with_it);
	tcase_add_test(tc, a_file_in_use_stays_as_it_is);
	tcase_add_test(tc, versions_go_where_the_file_goes);
	tcase_add_test(tc, an_earlier_file_of_the_name_comes_back);
	tcase_add_test(tc, the_name_of_an_earlier_file);
	tcase_add_test(tc, versions_stay_together_while_a_folder_is_renamed);
	tcase_add_test(tc, nothing_is_called_like_an_animation);
	tcase_add_test(tc, another_owners_file_has_none_of_it);
	tcase_add_test(tc, another_owners_file_has_none_of_it_by_its_inode);
	tcase_add_test(tc, forgotten_is_forgotten);
	tcase_add_test(tc, a_blob_is_kept_with_the_file);
	tcase_add_test(tc, all_of_it_takes_no_more_than_the_limit);
	tcase_add_test(tc, room_comes_from_the_file_that_uses_most);
	tcase_add_test(tc, the_newest_of_a_file_goes_last);
	tcase_add_test(tc, what_undo_led_to_goes_last);
	tcase_add_test(tc, what_another_program_keeps_counts);
	tcase_add_test(tc, what_was_before_a_running_batch_stays);
	tcase_add_test(tc, a_batch_runs_in_many_files);
	tcase_add_test(tc, a_full_quota_drops_the_oldest);
	tcase_add_test(tc, a_limit_that_does_not_show_drops_the_oldest);
	tcase_add_test(tc, what_would_not_suffice_stays);
	tcase_add_test(tc, what_is_not_in_the_way_stays);
	tcase_add_test(tc, versions_of_others_stay);
	tcase_add_test(tc, a_copy_takes_room_from_its_owners_versions);
	tcase_add_test(tc, a_running_batch_stays_on_a_full_disk);
	tcase_add_test(tc, versions_thin_out_with_age);
	tcase_add_test(tc, killed_before_the_file_was_replaced);
	tcase_add_test(tc, killed_after_the_file_was_replaced);
	tcase_add_test(tc, killed_before_another_mount_saved);
	tcase_add_test(tc, killed_before_a_file_was_replaced_by_the_same);
	tcase_add_test(tc, killed_after_the_old_file_was_moved);
	tcase_add_test(tc, killed_between_the_link_and_the_rename);
	tcase_add_test(tc, killed_after_the_file_was_removed);
	tcase_add_test(tc, what_cannot_be_read_was_not_removed);
	tcase_add_test(tc, killed_while_a_line_was_written);
	tcase_add_test(tc, killed_while_a_file_was_renamed);
	tcase_add_test(tc, killed_while_an_earlier_file_was_renamed);
	tcase_add_test(tc, the_next_process_need_not_count);
	tcase_add_test(tc, bytes_without_a_line_are_not_overwritten);
	tcase_add_test(tc, a_path_that_is_empty_is_written_anew);
	tcase_add_test(tc, a_line_says_what_the_entry_says);
	tcase_add_test(tc, half_a_line_counts_for_nothing);
	suite_add_tcase(s, tc);
	return s;
}
