/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * structure.c - names that change while others save and read below them. Each structure changes
 * something and changes it back, so that the next round finds the same state as this one.
 */
#include "storm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char from[PATH_MAX], to[PATH_MAX];

static void pause_a_little(void)
{
	usleep(below(3000));
}

static bool rename_path(const char *old, const char *new)
{
	return CALL(OP_RENAME, old, rename(old, new)) == 0;
}

static void there_and_back(void)
{
	if (!rename_path(from, to))
		return;
	pause_a_little();
	/* Try often: if the name is not moved back, the next rounds lack it. */
	for (unsigned i = 0; i < 100 && !rename_path(to, from); i++)
		usleep(50000);
}

static void moves(const char *old, const char *new)
{
	snprintf(from, sizeof(from), "%s", old);
	snprintf(to, sizeof(to), "%s", new);
	add_prefix(&now.moved, from);
	add_prefix(&now.moved, to);
}

static bool deal_none(void)
{
	return true;
}

static void change_nothing(void)
{
	usleep(10000);
}

/* Returns a clip that a saver is using. */
static unsigned busy_clip(void)
{
	return curves[now.tasks[below(now.task_count)].curve].clip;
}

static bool deal_clip_rename(void)
{
	char new[PATH_MAX];
	const char *old = clips[busy_clip()].path;

	snprintf(new, sizeof(new), "%s", old);
	strncat(new, "_2", sizeof(new) - strlen(new) - 1);
	moves(old, new);
	return true;
}

static void insert_in_name(char path[PATH_MAX], const char *old, const char *word)
{
	const char *name = strrchr(old, '/') + 1;

	if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(name - old), old, word, name) >= PATH_MAX)
		die("a name is too long");
}

static bool deal_file_rename(void)
{
	char new[PATH_MAX];
	const char *old = files[clips[busy_clip()].file];

	insert_in_name(new, old, "moved-");
	moves(old, new);
	return true;
}

static bool deal_folder_rename(void)
{
	char folder[PATH_MAX], new[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", files[clips[busy_clip()].file]);
	*strrchr(folder, '/') = '\0';
	if (strcmp(folder, options.top) == 0)
		return false;
	insert_in_name(new, folder, "moved-");
	moves(folder, new);
	return true;
}

static const char *extension(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot : "";
}

/* ---- a view onto another ---- */

static void moves_view(const struct curve *old, const struct curve *new, enum kind kind)
{
	snprintf(from, sizeof(from), "%s", old->path[kind]);
	snprintf(to, sizeof(to), "%s", new->path[kind]);
	add_prefix(&now.moved, from);
	add_prefix(&now.onto, to);
	add_prefix(&now.voided, clips[old->clip].path);
	add_prefix(&now.voided, clips[new->clip].path);
}

static bool same_shape(const struct curve *a, const struct curve *b)
{
	return text_slots(a->text[KIND_CSV], NULL) == text_slots(b->text[KIND_CSV], NULL) &&
	       strcmp(extension(files[clips[a->clip].file]),
		      extension(files[clips[b->clip].file])) == 0;
}

static bool deal_view(bool across)
{
	const struct task *task = &now.tasks[below(now.task_count)];
	const struct curve *old = &curves[task->curve];
	unsigned first = below(curve_count);

	for (unsigned i = 0; i < curve_count; i++) {
		const struct curve *new = &curves[(first + i) % curve_count];

		if (new == old || (clips[new->clip].file != clips[old->clip].file) != across ||
		    strcmp(new->bone, old->bone) != 0 || !same_shape(old, new))
			continue;
		moves_view(old, new, task->kind);
		return true;
	}
	return false;
}

static bool deal_view_same(void)
{
	return deal_view(false);
}

static bool deal_view_across(void)
{
	return deal_view(true);
}

/* Waits for the replaced view, which comes back after a while or with the next save. */
static void change_view(void)
{
	rename_path(from, to);
	usleep(10000 + below(20000));
}

/* ---- the binary in SOURCE ---- */

static bool deal_outside(void)
{
	const char *file = files[clips[busy_clip()].file];

	if (!options.source)
		return false;
	if (snprintf(from, sizeof(from), "%s%s", options.source, file + strlen(options.top)) >=
	    (int)sizeof(from))
		return false;
	/* Makes a name that no mount takes for an animation. */
	insert_in_name(to, from, ".");
	strncat(to, "~", sizeof(to) - strlen(to) - 1);
	add_prefix(&now.voided, file);
	return true;
}

static bool copy_bytes(int in, int out)
{
	static char bytes[TEXT_MAX];
	ssize_t got;

	while ((got = read(in, bytes, sizeof(bytes))) > 0) {
		if (write(out, bytes, (size_t)got) != got)
			return false;
	}
	return got == 0;
}

static bool copy_binary(const char *source, const char *target)
{
	int in = open(source, O_RDONLY | O_CLOEXEC);
	int out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool copied = in >= 0 && out >= 0 && copy_bytes(in, out);

	close(in);
	close(out);
	return copied;
}

/*
 * Replaces a binary by an older copy of itself, as `cp x x.storm~; mv x.storm~ x` does: saves in
 * between are undone.
 */
static void replace_outside(void)
{
	if (copy_binary(from, to)) {
		usleep(below(20000));
		rename(to, from);
	}
	usleep(20000 + below(20000));
}

/* ---- cp -r of a file's folder ---- */

static bool deal_copy(void)
{
	snprintf(from, sizeof(from), "%s", files[clips[busy_clip()].file]);
	insert_in_name(to, from, "copy-");
	add_prefix(&now.moved, to);
	return true;
}

static void copy_file(const char *source, const char *target)
{
	int in = (int)CALL(OP_OPEN, source, open(source, O_RDONLY | O_CLOEXEC)), out;

	if (in < 0)
		return;
	out = (int)CALL(OP_OPEN, target,
			open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
	if (out >= 0) {
		copy_bytes(in, out);
		CALL(OP_CLOSE, target, close(out));
	}
	CALL(OP_CLOSE, source, close(in));
}

/* Copies everything below a folder, or removes the copies. */
static void each_below(const char *source, const char *target, bool copies);

static void each_entry(const char *source, const char *target, bool folder, bool copies)
{
	if (folder)
		each_below(source, target, copies);
	else if (copies)
		copy_file(source, target);
	else
		CALL(OP_UNLINK, source, unlink(source));
}

static void each_below(const char *source, const char *target, bool copies)
{
	char here[PATH_MAX], there[PATH_MAX];
	const struct dirent *entry;
	DIR *dir = opendir(source);

	if (copies)
		CALL(OP_MKDIR, target, mkdir(target, 0755));
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (snprintf(here, PATH_MAX, "%s/%s", source, entry->d_name) < PATH_MAX &&
		    snprintf(there, PATH_MAX, "%s/%s", target, entry->d_name) < PATH_MAX)
			each_entry(here, there, entry->d_type == DT_DIR, copies);
	}
	if (dir)
		closedir(dir);
	if (!copies)
		rmdir(source);
}

static void change_copy(void)
{
	struct stat st;

	if (stat(to, &st) == 0)
		return;
	each_below(from, to, true);
}

/* Removes what was copied: if a mount has made an animation file from the folder, that file. */
static void end_copy(void)
{
	char file[PATH_MAX];

	each_below(to, to, false);
	if (options.source && snprintf(file, sizeof(file), "%s%s", options.source,
				       to + strlen(options.top)) < (int)sizeof(file))
		unlink(file);
}

static void end_outside(void)
{
	unlink(to);
}

/* ---- rm -r of a file's folder, and the binary again ---- */

#define ENDS_MS 2500 /* longest time, in ms, until removed bones are gone from the binary */
#define SHOWN_MS 1500

static char removed[PATH_MAX], kept[PATH_MAX];

static bool deal_remove(void)
{
	if (!deal_outside())
		return false;
	if (snprintf(removed, sizeof(removed), "%s%s", options.top,
		     from + strlen(options.source)) >= (int)sizeof(removed))
		return false;
	insert_in_name(kept, to, "kept-");
	add_prefix(&now.moved, removed);
	return true;
}

static void put_back(void)
{
	if (!copy_binary(kept, to) || rename(to, from) != 0)
		complain("%s cannot be put back: %s", from, strerror(errno));
}

static void change_remove(void)
{
	if (access(kept, F_OK) != 0 && !copy_binary(from, kept))
		complain("%s cannot be kept: %s", from, strerror(errno));
	each_below(removed, removed, false);
	usleep(below(20000));
	put_back();
	usleep(20000 + below(20000));
}

/*
 * Ends the removal. A folder is not removed while a saver keeps its last name there; the clips in
 * it are, after 2 s.
 */
static void end_remove(void)
{
	usleep(ENDS_MS * 1000);
	put_back();
	unlink(kept);
	usleep(SHOWN_MS * 1000);
}

const struct structure structures[] = {
	{"none", deal_none, change_nothing, NULL, true},
	{"clip-rename", deal_clip_rename, there_and_back, NULL, false},
	{"file-rename", deal_file_rename, there_and_back, NULL, false},
	{"folder-rename", deal_folder_rename, there_and_back, NULL, false},
	{"view-same", deal_view_same, change_view, NULL, false},
	{"view-across", deal_view_across, change_view, NULL, false},
	{"outside", deal_outside, replace_outside, end_outside, true},
	{"remove", deal_remove, change_remove, end_remove, false},
	{"copy", deal_copy, change_copy, end_copy, true},
	{"tree-back", deal_tree_back, change_tree_back, NULL, true},
	{"undo", deal_undo, change_undo, NULL, true},
	{NULL, NULL, NULL, NULL, false},
};
