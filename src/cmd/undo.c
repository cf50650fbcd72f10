/* SPDX-License-Identifier: GPL-3.0-or-later */
/* undo.c - `animfs undo`: puts the last backup of an animation file back. */
#include "cmd.h"

#include "../backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The path of a file, cut in two. */
struct parts {
	char *folder;
	const char *name; /* in the path itself */
};

static bool cut(const char *path, struct parts *out)
{
	const char *slash = strrchr(path, '/');

	out->name = slash ? slash + 1 : path;
	out->folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	return out->folder != NULL;
}

static char *join(const char *a, const char *b)
{
	char *joined;

	return asprintf(&joined, "%s%s", a, b) < 0 ? NULL : joined;
}

/* A skeleton is kept as what it is: a file beside the animation. The caller frees it. */
static char *kept_path(const char *path)
{
	static const char view[] = "/" REST_FILE;
	size_t length = strlen(path), end = length - (sizeof(view) - 1);
	bool skeleton = length >= sizeof(view) && strcmp(path + end, view) == 0;
	char *file = strndup(path, skeleton ? end : length);
	char *target = file ? operand_target(file) : NULL, *kept = NULL;
	struct stat st;

	if (skeleton && file && !(stat(file, &st) == 0 && S_ISREG(st.st_mode)))
		kept = strdup(path);
	else if (file)
		kept = join(target ? target : file, skeleton ? "." REST_FILE : "");
	free(target);
	free(file);
	return kept;
}

static void print_backup(void *closure, const char *which, const struct stat *st)
{
	char when[64] = "";
	struct tm local;

	(void)closure;
	if (localtime_r(&st->st_mtime, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	printf("%-6s %s %10lld bytes\n", which, when, (long long)st->st_size);
}

static bool list(const struct site *site, const struct parts *file, int *error)
{
	char *path;

	if (asprintf(&path, "%s%s%s", site->folder, *site->folder ? "/" : "", file->name) < 0) {
		*error = ENOMEM;
		return false;
	}
	*error = backup_list(site->state, path, print_backup, NULL);
	free(path);
	return *error == 0;
}

static bool put_back(const struct site *site, const struct parts *file, const char *which,
		     int *error)
{
	int folder = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0) {
		*error = errno;
		return false;
	}
	*error = backup_undo(site->state, folder, site->folder, file->name, which);
	close(folder);
	return *error == 0;
}

/* Is it refused, or is there trouble? */
static int explain(const char *path, const char *which, int error)
{
	struct stat st;

	switch (error) {
	case ENODATA:
		if (which)
			command_fail(path, "there is no backup of that number; --list shows those "
					   "there are");
		else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			command_fail(path, "a folder; name the animation file itself, in the "
					   "folder that is mounted");
		else
			command_fail(path, "there is no backup: nothing was removed from it, or it "
					   "was with --backup=none");
		return STATUS_REFUSED;
	case EALREADY:
		command_fail(path, "nothing to undo: the file is as the backup has it");
		return STATUS_REFUSED;
	case EBUSY:
		command_fail(path, "another program has the file open for writing");
		return STATUS_REFUSED;
	case EAGAIN:
		command_fail(path, "other programs keep changing the file");
		return STATUS_REFUSED;
	default:
		command_fail(path, strerror(error));
		return STATUS_TROUBLE;
	}
}

static int undo(const char *path, const struct command *command, bool only_list, const char *which)
{
	struct err err = {.code = ERR_NONE};
	struct site site = {.root = -1};
	char *kept = kept_path(path);
	struct parts file = {.folder = NULL};
	int error = 0, status = STATUS_FINE;

	if (!kept || !cut(kept, &file)) {
		free(kept);
		command_fail(path, strerror(ENOMEM));
		return STATUS_TROUBLE;
	}
	if (!site_find(&site, file.folder, command, &err)) {
		command_tell(path, &err);
		status = STATUS_TROUBLE;
	} else if (!(only_list ? list(&site, &file, &error)
			       : put_back(&site, &file, which, &error))) {
		status = explain(path, which, error);
	}
	site_release(&site);
	free(file.folder);
	free(kept);
	return status;
}

static const char usage[] =
	"Usage: animfs undo [OPTION]... FILE\n"
	"Put the last backup of an animation file, or of its skeleton\n"
	"(FILE/skeleton.csv), back: as it was before keys, bones, clips or the file\n"
	"itself were removed. What was there becomes the last backup, so that a second\n"
	"undo undoes the first.\n"
	"\n"
	"Options:\n"
	"      --list              show the backups there are, the newest first\n"
	"      --number=N          put that one back in place of the newest\n" HELP_SITE HELP_END
	"\n"
	"Exit status:\n"
	"  0  it is put back, or was listed\n"
	"  1  there is nothing to put back, or the file is in use\n"
	"  2  the call was wrong, or something cannot be read or written\n";

int cmd_undo(int argc, char **argv)
{
	bool only_list = false;
	const char *which = NULL;
	const struct command_option own[] = {
		{"list", &only_list, NULL}, {"number", NULL, &which}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1))
		status = undo(argv[0], &command, only_list, which);
	return command_end(&command, status);
}
