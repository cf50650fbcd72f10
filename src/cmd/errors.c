/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * errors.c - `animfs errors`: prints the refusals of a mount, for programs that do not show errors.
 */
#include "cmd.h"
#include "util/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 200

/* Lines of the list; sorted if they are to be searched. */
struct lines {
	char **list;
	size_t count, room;
};

static void release_lines(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->list[i]);
	free(l->list);
	*l = (struct lines){NULL, 0, 0};
}

static bool add_line(struct lines *l, char *line)
{
	char **more = array_room(l->list, l->count, &l->room, sizeof(*more));

	if (!more)
		return false;
	l->list = more;
	l->list[l->count++] = line;
	return true;
}

static int errors_read_lines(const char *mountpoint, struct lines *out)
{
	char path[PATH_MAX + 32], *line = NULL;
	size_t size = 0;
	FILE *file;
	int error = 0;

	snprintf(path, sizeof(path), "%s/.animfs/errors", mountpoint);
	file = fopen(path, "re");
	if (!file)
		return errno;
	while (!error && getline(&line, &size, file) > 0) {
		if (add_line(out, line))
			line = NULL;
		else
			error = ENOMEM;
		size = 0;
	}
	if (!error && ferror(file))
		error = errno;
	free(line);
	fclose(file);
	return error;
}

static int errors_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints the lines of `now` that `before` lacks. */
static void print_new(const struct lines *now, const struct lines *before)
{
	for (size_t i = 0; i < now->count; i++) {
		if (!before->count || !bsearch(&now->list[i], before->list, before->count,
					       sizeof(*before->list), errors_by_text))
			fputs(now->list[i], stdout);
	}
	fflush(stdout);
}

/* Prints the list; with `follows`, also new lines until the mount ends. */
static int print_errors(const char *mountpoint, bool follows)
{
	struct lines before = {NULL, 0, 0}, now = {NULL, 0, 0};
	int error = errors_read_lines(mountpoint, &now);
	bool first = true;

	while (!error && !ferror(stdout)) {
		print_new(&now, &before);
		release_lines(&before);
		before = now;
		now = (struct lines){NULL, 0, 0};
		first = false;
		if (!follows)
			break;
		if (before.count)
			qsort(before.list, before.count, sizeof(*before.list), errors_by_text);
		clock_sleep(POLL_MS);
		error = errors_read_lines(mountpoint, &now);
	}
	release_lines(&before);
	release_lines(&now);
	return first ? error : 0;
}

static int run_errors(const char *path, bool follows)
{
	char *mountpoint, *source;
	int error, status = STATUS_FINE;

	if (!mounted_point(path, &mountpoint, &source))
		return command_no_mount(path);
	error = print_errors(mountpoint, follows);
	if (error) {
		command_fail(mountpoint, strerror(error));
		status = STATUS_TROUBLE;
	}
	free(mountpoint);
	free(source);
	return status;
}

static const char usage[] =
	"Usage: animfs errors [OPTION]... MOUNTPOINT\n"
	"Print the problems of a mount, one per line: texts that were refused, stale\n"
	"copies that changed nothing, skeletons that cannot be used. A path inside the\n"
	"mount will do.\n"
	"\n"
	"Options:\n"
	"  -f, --follow            print new lines as they come, until the mount ends\n" HELP_END
	"\n"
	"Exit status:\n"
	"  0  the lines were printed\n"
	"  1  it is not a mount of animfs\n"
	"  2  usage or I/O error\n";

int cmd_errors(int argc, char **argv)
{
	bool follows = false;
	const struct command_option own[] = {{"f,follow", &follows, NULL}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1))
		status = run_errors(argv[0], follows);
	return command_end(&command, status);
}
