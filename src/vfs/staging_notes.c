/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "at.h"
#include "staging_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the note about `path`, and its name there, which points into path. */
static int open_folder(struct vfs *v, const char *path, bool make, const char **name, int *fd)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	int error = folder ? state_folder(v->state, STATE_FILLING, folder, make, fd) : ENOMEM;

	*name = slash ? slash + 1 : path;
	free(folder);
	return error;
}

int note_add(struct vfs *v, const char *path)
{
	const char *name;
	int folder, fd, error = open_folder(v, path, true, &name, &folder);

	if (error)
		return error;
	error = at_open(folder, name, O_WRONLY | O_CREAT, 0600, &fd);
	if (!error)
		close(fd);
	close(folder);
	return error;
}

void note_remove(struct vfs *v, const char *path)
{
	const char *name;
	int folder;

	if (open_folder(v, path, false, &name, &folder) != 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}

void note_set_aside(struct vfs *v, const char *path)
{
	char aside[NAME_MAX + sizeof(ASIDE)];
	const char *name;
	int folder;

	if (open_folder(v, path, false, &name, &folder) != 0)
		return;
	snprintf(aside, sizeof(aside), "%.*s%s", NAME_MAX, name, ASIDE);
	if (renameat(folder, name, folder, aside) != 0)
		unlinkat(folder, name, 0);
	close(folder);
}

void note_remove_aside(struct vfs *v, const char *path)
{
	char *aside;

	if (asprintf(&aside, "%s%s", path, ASIDE) < 0)
		return;
	note_remove(v, aside);
	free(aside);
}

/* ---- what an earlier mount left ---- */

typedef void note_each(struct vfs *v, const char *path, bool aside);

static void pass_note(struct vfs *v, char *path, note_each *each)
{
	size_t length = strlen(path), suffix = strlen(ASIDE);
	bool aside = length > suffix && strcmp(path + length - suffix, ASIDE) == 0;

	if (aside)
		path[length - suffix] = '\0';
	each(v, path, aside);
}

/* Notes are files; folders without one are left over. Closes the folder. */
static void each_in(struct vfs *v, int folder, const char *path, note_each *each)
{
	DIR *dir = fdopendir(folder);
	struct dirent *entry;
	char *below;
	int fd;

	if (!dir) {
		close(folder);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    asprintf(&below, "%s%s%s", path, *path ? "/" : "", entry->d_name) < 0)
			continue;
		if (at_open(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY, 0, &fd) == 0) {
			each_in(v, fd, below, each);
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		} else {
			pass_note(v, below, each);
		}
		free(below);
	}
	closedir(dir);
}

void notes_each(struct vfs *v, note_each *each)
{
	int folder, fd = -1;

	if (state_folder(v->state, STATE_FILLING, "", false, &folder) != 0)
		return;
	(void)at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd);
	close(folder);
	if (fd >= 0)
		each_in(v, fd, "", each);
}
