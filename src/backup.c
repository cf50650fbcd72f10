/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "backup.h"

#include "at.h"
#include "replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUN_SECONDS 2
#define LAST "last"
#define NEXT "next"
#define RUN "run"
#define NUMBER_SIZE 24

/* ---- what there is ---- */

struct kept {
	char name[NUMBER_SIZE];
	struct stat st;
};

struct list {
	struct kept *kept;
	size_t count, room;
};

/* 0 for what is no number. */
static unsigned long number_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 10 && !name[digits] ? strtoul(name, NULL, 10) : 0;
}

static bool is_backup(const char *name)
{
	return number_of(name) || strcmp(name, LAST) == 0 || strcmp(name, NEXT) == 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->st.st_mtim;
	const struct timespec *y = &((const struct kept *)b)->st.st_mtim;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

static int add_kept(struct list *l, int dir, const char *name)
{
	struct kept *more, made;

	if (!is_backup(name) || fstatat(dir, name, &made.st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(made.st.st_mode))
		return 0;
	strcpy(made.name, name); /* the longest is one of nine digits */
	more = array_room(l->kept, l->count, &l->room, sizeof(*more));
	if (!more)
		return ENOMEM;
	l->kept = more;
	more[l->count++] = made;
	return 0;
}

static int read_list(int folder, struct list *l)
{
	struct dirent *entry;
	int fd, error = at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd);
	DIR *dir = error ? NULL : fdopendir(fd);

	*l = (struct list){.count = 0};
	if (error)
		return error;
	if (!dir) {
		error = errno;
		close(fd);
		return error;
	}
	while (!error && (entry = readdir(dir)))
		error = add_kept(l, dirfd(dir), entry->d_name);
	closedir(dir);
	if (l->count)
		qsort(l->kept, l->count, sizeof(*l->kept), newest_first);
	return error;
}

/* As GNU cp's "existing": by number where numbers are there. */
static unsigned long highest(const struct list *l)
{
	unsigned long most = 0;

	for (size_t i = 0; i < l->count; i++) {
		unsigned long number = number_of(l->kept[i].name);

		most = number > most ? number : most;
	}
	return most;
}

int backup_list(struct state *s, const char *path, backup_each *each, void *closure)
{
	struct list list = {.count = 0};
	int folder, error = state_folder(s, STATE_BACKUP, path, false, &folder);

	if (!error) {
		error = read_list(folder, &list);
		close(folder);
	}
	for (size_t i = 0; i < list.count; i++)
		each(closure, list.kept[i].name, &list.kept[i].st);
	free(list.kept);
	return error == ENOENT || (!error && !list.count) ? ENODATA : error;
}

/* ---- keeping ---- */

/* Does what is removed now belong to what was removed before? A clock that was set back says no. */
static bool in_run(int folder)
{
	struct timespec now, was;
	struct stat st;
	int64_t past;

	if (fstatat(folder, RUN, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	was = st.st_mtim;
	past = (int64_t)(now.tv_sec - was.tv_sec) * 1000000000 + (now.tv_nsec - was.tv_nsec);
	return past >= 0 && past < (int64_t)RUN_SECONDS * 1000000000;
}

static int name_number(int folder, bool numbered, char name[NUMBER_SIZE])
{
	struct list list;
	int error = read_list(folder, &list);

	snprintf(name, NUMBER_SIZE, "%lu", highest(&list) + 1);
	if (!numbered && !highest(&list))
		strcpy(name, NEXT);
	free(list.kept);
	return error;
}

/* By way of another folder: a kill leaves no half of a backup. */
static int write_kept(struct state *s, int folder, const char *name, int like, struct bytes bytes)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int via, error = state_partial(s, &via, temporary, sizeof(temporary));

	if (error)
		return error;
	error = replace_copy(folder, name, via, temporary, true, like, NULL, bytes);
	close(via);
	return error;
}

int backup_keep(struct state *s, enum backup_mode mode, const char *path, int like,
		struct bytes bytes)
{
	char name[NUMBER_SIZE] = LAST;
	int folder, error;

	if (mode == BACKUP_NONE)
		return 0;
	error = state_folder(s, STATE_BACKUP, path, true, &folder);
	if (error)
		return error;
	if (!in_run(folder)) {
		if (mode == BACKUP_NUMBERED)
			error = name_number(folder, true, name);
		if (!error)
			error = write_kept(s, folder, name, like, bytes);
	}
	close(folder);
	return error;
}

/* Where the time cannot be noted, what follows is kept on its own. */
void backup_removed(struct state *s, const char *path)
{
	int folder, fd;

	if (state_folder(s, STATE_BACKUP, path, false, &folder))
		return;
	if (!at_open(folder, RUN, O_WRONLY | O_CREAT, 0600, &fd)) {
		futimens(fd, (struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}});
		close(fd);
	}
	close(folder);
}

/* ---- the way back ---- */

struct undo {
	struct state *state;
	int dir;
	const char *folder, *name;
	int backups; /* the folder of this file's backups */
	int kept;    /* the backup, and its bytes */
	struct buf bytes;
	char kept_name[NUMBER_SIZE];
};

static int choose(struct undo *u, const char *which)
{
	struct list list;
	int error = read_list(u->backups, &list);

	if (!error && !list.count)
		error = ENODATA;
	if (!error && which && !is_backup(which))
		error = ENODATA;
	if (!error)
		snprintf(u->kept_name, sizeof(u->kept_name), "%s",
			 which ? which : list.kept[0].name);
	free(list.kept);
	return error;
}

static int read_kept(struct undo *u)
{
	struct stat st;
	int error = at_open(u->backups, u->kept_name, O_RDONLY | O_NONBLOCK, 0, &u->kept);

	if (!error)
		error = at_read(u->backups, u->kept_name, SIZE_MAX, &u->bytes, &st);
	return error == ENOENT ? ENODATA : error;
}

static int put_anew(struct undo *u)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int error = state_temporary(u->state, u->folder, temporary, sizeof(temporary));

	if (error)
		return error;
	error = replace_copy(u->dir, u->name, u->dir, temporary, false, u->kept, NULL,
			     buf_bytes(&u->bytes));
	state_temporary_gone(u->state, u->folder);
	return error;
}

static int put_over(struct undo *u, const struct file_version *version, struct bytes there)
{
	char temporary[STATE_TEMPORARY_SIZE];
	struct file_version now;
	int error = state_temporary(u->state, u->folder, temporary, sizeof(temporary));

	if (error)
		return error;
	error = replace_file(u->dir, u->name, version, &there, temporary, buf_bytes(&u->bytes),
			     &now, NULL);
	state_temporary_gone(u->state, u->folder);
	return error;
}

/* What is there is kept before it goes, and takes the old backup's place after. */
static int exchange(struct undo *u, int old, struct bytes there, const struct file_version *version)
{
	char name[NUMBER_SIZE];
	int error = name_number(u->backups, false, name);

	if (!error)
		error = write_kept(u->state, u->backups, name, old, there);
	if (error)
		return error;
	error = put_over(u, version, there);
	if (error)
		unlinkat(u->backups, name, 0);
	else if (strcmp(name, NEXT) == 0)
		renameat(u->backups, NEXT, u->backups, LAST);
	return error;
}

static int undo_locked(struct undo *u)
{
	struct buf there = BUF_INIT;
	struct file_version version;
	struct stat st;
	int old = -1, error = at_open(u->dir, u->name, O_RDONLY | O_NONBLOCK, 0, &old);

	if (error == ENOENT) {
		error = put_anew(u);
	} else if (!error) {
		error = at_read(u->dir, u->name, SIZE_MAX, &there, &st);
		version = file_version_of(&st);
		if (!error && bytes_equal(buf_bytes(&there), buf_bytes(&u->bytes)))
			error = EALREADY;
		if (!error)
			error = exchange(u, old, buf_bytes(&there), &version);
		close(old);
	}
	if (!error)
		unlinkat(u->backups, RUN, 0);
	buf_release(&there);
	return error;
}

static int undo_once(struct undo *u, const char *path, const char *which)
{
	/* Looked for first: the lock would make a state directory where there is none. */
	int error = state_folder(u->state, STATE_BACKUP, path, false, &u->backups);

	if (error)
		return error == ENOENT ? ENODATA : error;
	error = state_lock(u->state);
	if (!error) {
		error = choose(u, which);
		if (!error)
			error = read_kept(u);
		if (!error)
			error = undo_locked(u);
		state_unlock(u->state);
	}
	if (u->kept >= 0)
		close(u->kept);
	close(u->backups);
	buf_release(&u->bytes);
	return error;
}

#define TRIES 50
#define STEP 20000000 /* ns between two of them */

int backup_undo(struct state *s, int dir, const char *folder, const char *name, const char *which)
{
	const struct timespec step = {.tv_nsec = STEP};
	int error = EAGAIN;
	char *path;

	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return ENOMEM;
	for (unsigned i = 0; i < TRIES && (error == EAGAIN || error == EBUSY); i++) {
		struct undo u = {s, dir, folder, name, -1, -1, BUF_INIT, ""};

		if (i > 0)
			nanosleep(&step, NULL);
		error = undo_once(&u, path, which);
	}
	free(path);
	return error;
}
