/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * programs.c - structures that are programs beside the savers: copying the texts of a whole file
 * back, and `animfs undo`. Neither may lose a save made meanwhile.
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN_MS 3000 /* longest time, in ms, until a mount shows an undo made in SOURCE */

static unsigned mine; /* a curve that no saver has, edited by the structure */
static char view[PATH_MAX];

static bool is_saved(unsigned curve)
{
	for (unsigned i = 0; i < now.task_count; i++) {
		const struct task *task = &now.tasks[i];

		if (task->curve == curve ||
		    (task->kind == KIND_CURVES && curves[task->curve].clip == curves[curve].clip))
			return true;
	}
	return false;
}

/* Chooses a curve for `mine`, in a file that a saver uses. */
static bool deal_mine(void)
{
	unsigned file = clips[curves[now.tasks[below(now.task_count)].curve].clip].file;
	unsigned first = below(curve_count);

	for (unsigned i = 0; i < curve_count; i++) {
		mine = (first + i) % curve_count;
		if (clips[curves[mine].clip].file == file && !is_saved(mine)) {
			snprintf(view, sizeof(view), "%s",
				 curves[mine].path[below(2) ? KIND_CSV : KIND_JSON]);
			return true;
		}
	}
	return false;
}

static const struct habit *habit_named(const char *name)
{
	const struct habit *habit = habits;

	while (strcmp(habit->name, name) != 0)
		habit++;
	return habit;
}

/* Makes a new text of `view` from the copy, with another value in `mine`. */
static void edit_mine(struct text *text, long value)
{
	const struct curve *curve = &curves[mine];

	text_set(text, curve->text[strcmp(view, curve->path[KIND_CSV]) ? KIND_JSON : KIND_CSV],
		 value);
}

static long next_value(void)
{
	return atomic_fetch_add(&shared->issued[mine], 1) + 1;
}

static void acknowledged(long value)
{
	atomic_store(&shared->sure[mine], value);
	atomic_store(&shared->least[mine], value);
}

/* ---- a copy of the texts comes back ---- */

struct copied {
	const char *path;
	const struct text *text;
};

static struct copied copies[CURVES_MAX * KINDS];
static unsigned copy_count;

static void add_copy(const char *path, const struct text *text)
{
	for (unsigned i = 0; i < copy_count; i++) {
		if (strcmp(copies[i].path, path) == 0)
			return; /* curves.csv has all curves of the clip */
	}
	copies[copy_count++] = (struct copied){path, text};
}

/* Reads all texts that the file has, which belong to one version. */
static void take_copies(unsigned file)
{
	copy_count = 0;
	for (unsigned i = 0; i < curve_count; i++) {
		for (unsigned kind = 0; kind < KINDS; kind++) {
			if (clips[curves[i].clip].file == file)
				add_copy(curves[i].path[kind], curves[i].text[kind]);
		}
	}
}

static void shuffle_copies(void)
{
	for (unsigned i = copy_count; i > 1; i--) {
		unsigned j = below(i);
		struct copied copied = copies[j];

		copies[j] = copies[i - 1];
		copies[i - 1] = copied;
	}
}

bool deal_tree_back(void)
{
	if (options.bare || !deal_mine())
		return false;
	take_copies(clips[curves[mine].clip].file);
	add_prefix(&now.stirred, files[clips[curves[mine].clip].file]);
	return true;
}

/*
 * Longest pause in a batch, in ms. A batch ends when its program has saved nothing for 2 s, or
 * after 10 s; copying half of an old version in it would restore that half.
 */
#define PAUSE_MS 1500
#define COPY_MS 8000

static bool save_copy(const struct habit *habit, const char *path, const struct text *text)
{
	const struct task *task = task_of(path);
	atomic_ulong *crossed = task ? &shared->crossed[task - now.tasks] : NULL;
	bool saved;

	if (crossed)
		atomic_fetch_add(crossed, 1);
	saved = habit->save(path, text);
	if (crossed)
		atomic_fetch_add(crossed, 1);
	return saved;
}

/*
 * Copies a working copy back, in which one text was edited, like cp -r or rsync. The other texts
 * must have no effect.
 */
void change_tree_back(void)
{
	static struct text text;
	const struct habit *habit = habit_named(below(2) ? "cp" : "rsync");
	long value = next_value(), began = milliseconds(), last = began, done;
	bool saved = false, slow = false;

	if (habit->flags & IN_PLACE)
		atomic_store(&shared->copies_in_place, true);
	edit_mine(&text, value);
	shuffle_copies();
	for (unsigned i = 0; i < copy_count; i++) {
		if (strcmp(copies[i].path, view) == 0)
			saved = habit->save(view, &text);
		else
			save_copy(habit, copies[i].path, copies[i].text);
		done = milliseconds();
		slow |= done - last > PAUSE_MS;
		last = done;
	}
	if (slow || last - began > COPY_MS)
		atomic_store(&shared->slow, true);
	if (saved)
		acknowledged(value);
	else
		complain("the one edit of a copy is refused: %s", view);
	usleep(below(50000));
}

/* ---- animfs undo ---- */

bool deal_undo(void)
{
	return options.animfs && deal_mine();
}

static int run_undo(void)
{
	int status = -1;
	pid_t child;

	call_begins(OP_RENAME, view);
	child = fork();
	if (child == 0) {
		execl(options.animfs, "animfs", "undo", view, (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	call_ends(OP_RENAME, view, 0);
	return status;
}

static long value_shown(long wanted)
{
	static struct text text;
	long end = milliseconds() + SHOWN_MS, value;

	while ((value = read_text(view, &text) ? text_value(&text, NULL) : NO_VALUE) != wanted &&
	       milliseconds() < end)
		usleep(2000);
	return value;
}

/* Saves twice and undoes the second save: then the first one must be there. */
void change_undo(void)
{
	static struct text text;
	const struct habit *habit = habit_named(below(2) ? "tee" : "sed");
	long first = next_value(), second, shown;
	int status;

	edit_mine(&text, first);
	if (!habit->save(view, &text))
		return;
	acknowledged(first);
	second = next_value();
	edit_mine(&text, second);
	if (!habit->save(view, &text))
		return;
	status = run_undo();
	if (status != 0) {
		complain("animfs undo %s ended with wait status %#x", view, (unsigned)status);
		return;
	}
	shown = value_shown(first);
	if (shown != first)
		complain("%s holds %ld after the undo of %ld, and %ld was saved before", view,
			 shown, second, first);
	usleep(below(20000));
}
