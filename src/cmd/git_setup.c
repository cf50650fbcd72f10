/* SPDX-License-Identifier: GPL-3.0-or-later */
/* git_setup.c - `animfs git-setup`: sets up a repository to diff and merge animations. */
#include "cmd.h"

#include "animfs/codec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- git ---- */

static int spawn_git(char **words, int out, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(child, "git", &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static void git_setup_read_line(int fd, char out[PATH_MAX])
{
	size_t size = 0;
	ssize_t got;

	while (size < PATH_MAX - 1 && (got = read(fd, out + size, PATH_MAX - 1 - size)) > 0)
		size += (size_t)got;
	out[size] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/*
 * Runs git -C FOLDER WORD... and reads the one line that it prints (unless out is NULL). git prints
 * its own errors.
 */
static bool run_git(const char *folder, const char *const *words, char out[PATH_MAX])
{
	char *all[8] = {(char *)"git", (char *)"-C", (char *)folder};
	char ignored[PATH_MAX];
	int ends[2], status = -1, error;
	pid_t child;

	for (size_t i = 0; words[i]; i++)
		all[3 + i] = (char *)words[i];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		command_fail("git", strerror(errno));
		return false;
	}
	error = spawn_git(all, ends[1], &child);
	close(ends[1]);
	if (!error)
		git_setup_read_line(ends[0], out ? out : ignored);
	close(ends[0]);
	if (!error && waitpid(child, &status, 0) < 0)
		error = errno;
	if (error)
		command_fail("git", strerror(error));
	return !error && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool configure_git(const char *top)
{
	static const char *const settings[][2] = {
		{"diff.animation.textconv", "animfs text"},
		{"merge.animation.name", "animations, curve by curve"},
		{"merge.animation.driver", "animfs git-merge %O %A %B %P"}};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *const words[] = {"config", settings[i][0], settings[i][1], NULL};

		if (!run_git(top, words, NULL))
			return false;
		printf("git config %s '%s'\n", settings[i][0], settings[i][1]);
	}
	return true;
}

/* ---- lines of files ---- */

static bool git_setup_read_all(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;

	if (fd < 0)
		return errno == ENOENT;
	while (buf_reserve(out, 4096) &&
	       (got = read(fd, out->data + out->size, out->capacity - out->size)) > 0)
		out->size += (size_t)got;
	close(fd);
	return got == 0 && !out->failed;
}

static bool has_line(const struct buf *text, const char *line)
{
	const char *at = (const char *)text->data, *end = at + text->size;
	size_t length = strlen(line);

	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((lf ? lf : end) - at);

		if (size == length && memcmp(at, line, size) == 0)
			return true;
		at = lf ? lf + 1 : end;
	}
	return false;
}

static bool append_lines(const char *path, const struct buf *more)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	bool fine = fd >= 0 && write(fd, more->data, more->size) == (ssize_t)more->size;

	if (fd >= 0 && close(fd) != 0)
		fine = false;
	return fine;
}

/* Appends the lines that the file does not have yet. */
static bool git_setup_add_lines(const char *path, const struct buf *lines)
{
	struct buf there = BUF_INIT, more = BUF_INIT;
	bool fine = lines->data && !lines->failed && git_setup_read_all(path, &there);
	char *copy = fine ? strndup((const char *)lines->data, lines->size) : NULL, *rest = NULL;

	if (there.size && there.data[there.size - 1] != '\n')
		buf_char(&more, '\n');
	for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (has_line(&there, line))
			continue;
		buf_format(&more, "%s\n", line);
		printf("%s: %s\n", path, line);
	}
	if (fine && more.size > 1)
		fine = !more.failed && append_lines(path, &more);
	if (!fine || !copy)
		command_fail(path, strerror(errno ? errno : ENOMEM));
	free(copy);
	buf_release(&there);
	buf_release(&more);
	return fine && copy;
}

/*
 * Writes a pattern in any case, such as "*.[cC][aA][sS]": animfs ignores the case of patterns, git
 * may not.
 */
static void write_pattern(const char *pattern, struct buf *out)
{
	for (; *pattern; pattern++) {
		if (isalpha((unsigned char)*pattern))
			buf_format(out, "[%c%c]", tolower((unsigned char)*pattern),
				   toupper((unsigned char)*pattern));
		else
			buf_char(out, *pattern);
	}
}

/* Writes the attributes of formats; those that are text need no driver. */
static void git_setup_write_attributes(struct buf *out)
{
	for (const struct codec *const *c = codecs; *c; c++) {
		for (const char *const *p = (*c)->patterns; !(*c)->format->text && *p; p++) {
			write_pattern(*p, out);
			buf_text(out, " -text diff=animation merge=animation\n");
		}
	}
}

static bool git_setup_add_attributes(const char *top)
{
	struct buf lines = BUF_INIT;
	char path[PATH_MAX + 32];
	bool fine;

	snprintf(path, sizeof(path), "%s/.gitattributes", top);
	git_setup_write_attributes(&lines);
	fine = git_setup_add_lines(path, &lines);
	buf_release(&lines);
	return fine;
}

/*
 * Adds ignore rules that keep `git add -A` away from the state directory and tables of
 * conflicts.
 */
static bool add_exclude(const char *top)
{
	static const char *const words[] = {"rev-parse", "--git-path", "info/exclude", NULL};
	struct buf line = BUF_INIT;
	char found[PATH_MAX], path[2 * PATH_MAX], *slash;
	bool fine;

	if (!run_git(top, words, found))
		return false;
	snprintf(path, sizeof(path), "%s%s%s", *found == '/' ? "" : top, *found == '/' ? "" : "/",
		 found);
	slash = strrchr(path, '/');
	*slash = '\0';
	mkdir(path, 0777); /* a repository made without git's template lacks this folder */
	*slash = '/';
	buf_text(&line, ".animfs/\n*.conflicts.csv\n");
	fine = git_setup_add_lines(path, &line);
	buf_release(&line);
	return fine;
}

static bool set_up(const char *folder)
{
	static const char *const words[] = {"rev-parse", "--show-toplevel", NULL};
	char top[PATH_MAX];

	return run_git(folder, words, top) && configure_git(top) && git_setup_add_attributes(top) &&
	       add_exclude(top);
}

static const char usage[] =
	"Usage: animfs git-setup [OPTION]... [REPOSITORY]\n"
	"Set up the git repository of a game's folder, here or in REPOSITORY: git diff\n"
	"and git log show the curves of animations (animfs text), and git merge merges\n"
	"two edits of one file curve by curve (animfs git-merge). Adds lines to\n"
	".gitattributes, which is to be committed; the settings are in the repository's\n"
	"own folder, so run it once in each clone. Prints the settings.\n"
	"\n"
	"Options:\n" HELP_END "\n"
	"Exit status:\n"
	"  0  it is set up, or already was\n"
	"  2  usage error, no repository, or it cannot be written\n";

int cmd_git_setup(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 0, 1) && set_up(argc ? argv[0] : "."))
		status = STATUS_FINE;
	return command_end(&command, status);
}
