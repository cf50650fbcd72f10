/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readers.c - how programs read while others save. A text that a reader opens by name and reads
 * from that descriptor must be whole if savers replace it by a rename, and never older than the
 * last save that was acknowledged before the open.
 */
#include "storm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct task *some_task(void)
{
	return &now.tasks[below(now.task_count)];
}

static int open_to_read(const char *path)
{
	return (int)CALL(OP_OPEN, path, open(path, O_RDONLY | O_CLOEXEC));
}

static void close_reader(int fd, const char *path)
{
	CALL(OP_CLOSE, path, close(fd));
}

static bool read_all(int fd, const char *path, struct text *text)
{
	long got;

	text->length = 0;
	do {
		got = CALL(OP_READ, path,
			   read(fd, text->bytes + text->length, TEXT_MAX - 1 - text->length));
		if (got > 0)
			text->length += (size_t)got;
	} while (got > 0);
	text->bytes[text->length] = '\0';
	return got == 0;
}

/* ---- cat ---- */

static void check_read(const struct task *task, const struct text *text, long least)
{
	const struct curve *curve = &curves[task->curve];
	const char *bone = task->kind == KIND_CURVES ? curve->bone : NULL;
	long value = text_value(text, bone);
	bool whole =
		value > 0 && text_slots(text, bone) == text_slots(curve->text[task->kind], bone);

	if (below_any(&now.voided, task_path(task)))
		return;
	if (!is_written_in_place(task) && !whole)
		complain("a text that is only ever replaced is read in part: %s: %zu bytes, value "
			 "%ld",
			 task_path(task), text->length, value);
	else if (value > 0 && value < least && !below_any(&now.stirred, task_path(task)))
		complain("an old text is read: %s (%s): %ld, and %ld had been saved before",
			 task_path(task), task->habit->name, value, least);
	else if (value > 0 && value > atomic_load(&shared->issued[task->curve]))
		complain("%s holds %ld, which nobody wrote", task_path(task), value);
}

static void read_cat(void)
{
	static struct text text;
	const struct task *task = some_task();
	long least = atomic_load(&shared->least[task->curve]);
	int fd = open_to_read(task_path(task));

	if (fd < 0)
		return;
	if (read_all(fd, task_path(task), &text))
		check_read(task, &text, least);
	close_reader(fd, task_path(task));
}

/* ---- a descriptor that is kept ---- */

static void read_kept(void)
{
	static char bytes[TEXT_MAX];
	const char *path = task_path(some_task());
	int fd = open_to_read(path);
	struct stat st;

	if (fd < 0)
		return;
	for (unsigned i = 0; i < 20 && !atomic_load(&shared->stop); i++) {
		CALL(OP_FSTAT, path, fstat(fd, &st));
		CALL(OP_READ, path, pread(fd, bytes, sizeof(bytes), 0));
		usleep(below(1000));
	}
	close_reader(fd, path);
}

/* ---- a mapping ---- */

struct seen {
	const unsigned char *at;
	size_t length;
	unsigned sum;
};

static void add_up(void *context)
{
	struct seen *seen = context;

	for (size_t i = 0; i < seen->length; i++)
		seen->sum += seen->at[i];
}

static void look_at_mapping(struct seen *seen, int fd, const char *path)
{
	struct stat st;

	for (unsigned i = 0; i < 20 && !atomic_load(&shared->stop); i++) {
		call_begins(OP_MAPPED, path);
		bool whole = without_sigbus(add_up, seen);
		call_ends(OP_MAPPED, path, 0);
		if (!whole)
			account(OP_MAPPED, path, NUMBER_SIGBUS);
		/* Drop the pages, so that the kernel asks for them again. */
		madvise((void *)(uintptr_t)seen->at, seen->length, MADV_DONTNEED);
		CALL(OP_FSTAT, path, fstat(fd, &st));
		usleep(below(1000));
	}
}

static void read_mapped(void)
{
	const char *path = task_path(some_task());
	int fd = open_to_read(path);
	struct seen seen = {0};
	struct stat st;
	void *at;

	if (fd < 0)
		return;
	if (CALL(OP_FSTAT, path, fstat(fd, &st)) == 0 && st.st_size > 0) {
		seen.length = (size_t)st.st_size;
		at = mmap(NULL, seen.length, PROT_READ, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED) {
			account(OP_MMAP, path, errno);
		} else {
			seen.at = at;
			look_at_mapping(&seen, fd, path);
			munmap(at, seen.length);
		}
	}
	close_reader(fd, path);
}

/* ---- folders ---- */

typedef void visit_fn(const char *path, bool folder);

static void walk(const char *folder, visit_fn *visit)
{
	DIR *dir;
	const struct dirent *entry;
	char path[PATH_MAX];

	call_begins(OP_OPENDIR, folder);
	dir = opendir(folder);
	call_ends(OP_OPENDIR, folder, dir ? 0 : -1);
	while (dir && !atomic_load(&shared->stop)) {
		call_begins(OP_READDIR, folder);
		errno = 0;
		entry = readdir(dir);
		call_ends(OP_READDIR, folder, entry || !errno ? 0 : -1);
		if (!entry)
			break;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    entry->d_type == DT_LNK)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
			visit(path, entry->d_type == DT_DIR);
	}
	if (dir)
		closedir(dir);
}

static void grep_visit(const char *path, bool folder)
{
	static struct text text;
	int fd;

	if (folder) {
		walk(path, grep_visit);
		return;
	}
	fd = (int)CALL(OP_OPEN, path, open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (fd < 0)
		return;
	read_all(fd, path, &text);
	close_reader(fd, path);
}

/* Reads all texts of one file's folder, like grep -r. */
static void read_grep(void)
{
	grep_visit(files[below(file_count)], true);
}

static void ls_visit(const char *path, bool folder)
{
	struct stat st;

	CALL(OP_STAT, path, lstat(path, &st));
	if (folder)
		walk(path, ls_visit);
}

static void read_ls(void)
{
	walk(options.top, ls_visit);
}

static void read_statx(void)
{
	const char *path = task_path(some_task());
	struct statx stx;

	CALL(OP_STAT, path, statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx));
}

const struct reader readers[] = {
	{"cat", read_cat},   {"grep", read_grep}, {"mapping", read_mapped},
	{"kept", read_kept}, {"ls", read_ls},     {"statx", read_statx},
	{NULL, NULL},
};
