/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confinement.c - the mount keeps what serving it takes: SOURCE, the state directory, and the log.
 */
#include "fs.h"

#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* Descriptors of folders as paths of the same namespace. */
static bool path_of(int fd, char path[PATH_MAX])
{
	char link[AT_PROC_SIZE];
	ssize_t size = -1;

	if (at_proc_path(fd, NULL, link, sizeof(link)) == 0)
		size = readlink(link, path, PATH_MAX);
	if (size < 0 || size >= PATH_MAX)
		return false;
	path[size] = '\0';
	return true;
}

/* The path of what the state directory is in, from SOURCE; false where it is not below SOURCE. */
static bool is_in_source(struct fs *fs, char below[PATH_MAX])
{
	char source[PATH_MAX], path[PATH_MAX];
	size_t length;

	if (!path_of(fs->root, source) || !path_of(state_above(fs->state), path))
		return false;
	length = strcmp(source, "/") == 0 ? 0 : strlen(source);
	if (strncmp(path, source, length) != 0 || (path[length] && path[length] != '/'))
		return false;
	snprintf(below, PATH_MAX, "%s", path + length + (path[length] == '/'));
	return true;
}

/* The state directory as the process reaches it. */
struct held {
	bool in_source;
	char below[PATH_MAX]; /* the folder that it is in, from SOURCE */
	int fd;               /* elsewhere: itself, or that folder */
	bool itself;
};

/*
 * Below SOURCE it stays one of its folders, so that names can move between them. Elsewhere it is
 * made now, since it cannot be later; where only others may make it, what is above it can be read.
 */
static int hold_state(struct fs *fs, struct held *held)
{
	int error;

	*held = (struct held){.fd = -1, .in_source = is_in_source(fs, held->below)};
	if (held->in_source)
		return 0;
	error = state_hold(fs->state, &held->fd);
	held->itself = !error;
	if (error != ENOENT)
		return error;
	held->fd = fcntl(state_above(fs->state), F_DUPFD_CLOEXEC, 0);
	return held->fd < 0 ? errno : 0;
}

static bool same_folder(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* No descriptor of a folder as it was seen from outside may stay. */
static int move_state(struct fs *fs, const struct held *held)
{
	int fd, error;

	if (!held->in_source)
		return state_move(fs->state, held->fd, held->itself);
	error = at_walk(fs->root, held->below, O_PATH | O_DIRECTORY, &fd);
	if (error)
		return error;
	error = same_folder(fd, state_above(fs->state)) ? state_move(fs->state, fd, false) : ESTALE;
	close(fd);
	return error;
}

static bool limit(struct fs *fs, struct err *err)
{
	struct confine_place places[CONFINE_PLACES_MAX];
	struct held held;
	int error = hold_state(fs, &held);
	bool fine;

	if (error)
		return err_system(err, error, fs->options->state);
	places[0] = (struct confine_place){fs->root, !fs->read_only};
	places[1] = (struct confine_place){held.fd, !fs->read_only};
	fine = confine(places, ARRAY_SIZE(places), &fs->confined, err);
	if (fine && fs->confined & CONFINED_TREE) {
		error = move_state(fs, &held);
		fine = !error || err_system(err, error, "the state directory");
	}
	if (held.fd >= 0)
		close(held.fd);
	return fine;
}

/* Only root is promised that. */
static void warn_of_tree(const struct fs *fs)
{
	if (geteuid() == 0 && !(fs->confined & CONFINED_TREE) && !CONFINE_SANITIZED)
		fprintf(stderr,
			"animfs: warning: the process keeps its view of folders other than %s; see "
			"SECURITY in animfs(1)\n",
			fs->options->source);
}

/* The system log's socket, and its time zone: neither can be opened later. */
static void hold_log(void)
{
	tzset();
	openlog("animfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

bool fs_confine(struct fs *fs, bool background)
{
	struct err err = {.code = ERR_NONE};
	int error;

	if (background)
		hold_log();
	if (fs->options->unconfined)
		return true;
	error = unmounter_start(fs, &fs->unmounter);
	if (error)
		err_system(&err, error, "the unmounter");
	else if (limit(fs, &err)) {
		warn_of_tree(fs);
		return true;
	}
	fprintf(stderr, "animfs: cannot be confined: %s\n", err.message);
	return false;
}
