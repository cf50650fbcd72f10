/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * extra.c - how much people may put beside the texts (--extra-max).
 *
 * Only what is added is counted as it comes. When that reaches the limit all is counted anew, and
 * so whatever was removed in the meantime, by whom ever, is free again.
 */
#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 128 /* folders in one another that are counted */

struct extras {
	pthread_mutex_t lock;
	uint64_t used; /* at least as much as there is */
	bool counted;
};

struct extras *extras_new(void)
{
	struct extras *e = calloc(1, sizeof(*e));

	if (e)
		pthread_mutex_init(&e->lock, NULL);
	return e;
}

void extras_free(struct extras *e)
{
	free(e);
}

/* `folder`: what one counts for; other things are an entry and their bytes. */
static uint64_t count_in(int parent, const char *name, uint64_t folder, unsigned depth)
{
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;
	DIR *dir;
	int fd;

	if (depth > DEPTH_MAX)
		return 0;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			sum += folder + count_in(dirfd(dir), entry->d_name, folder, depth + 1);
		else
			sum += EXTRA_ENTRY + (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t count_all(struct fs *fs)
{
	uint64_t sum = 0;
	int folder;

	if (state_folder(fs->state, STATE_EXTRA, "", false, &folder) != 0)
		return 0;
	sum = count_in(folder, ".", EXTRA_ENTRY, 0);
	close(folder);
	return sum;
}

int extra_grow(struct fs *fs, enum node_area area, uint64_t bytes)
{
	const uint64_t max = fs->options->extra_max;
	struct extras *e = fs->extras;
	bool fits;

	if (area != AREA_EXTRA)
		return 0;
	pthread_mutex_lock(&e->lock);
	if (!e->counted || bytes > max || e->used > max - bytes) {
		e->used = count_all(fs);
		e->counted = true;
	}
	fits = bytes <= max && e->used <= max - bytes;
	if (fits)
		e->used += bytes;
	pthread_mutex_unlock(&e->lock);
	return fits ? 0 : ENOSPC;
}

int extra_grow_to(struct fs *fs, const struct node *node, int fd, uint64_t size)
{
	struct stat st;

	if (node->area != AREA_EXTRA || fstat(fd, &st) != 0 || size <= (uint64_t)st.st_size)
		return 0;
	return extra_grow(fs, AREA_EXTRA, size - (uint64_t)st.st_size);
}

/* ---- what belongs to nothing any more ---- */

static void tell_orphans(int extra, int source, const char *path, unsigned depth, struct buf *out);

static void tell_orphan(int extra, int source, const char *path, const char *name, unsigned depth,
			struct buf *out)
{
	struct stat st;
	char *below;
	int from, to;

	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return;
	if (fstatat(source, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		if (count_in(extra, name, 0, 0) > 0)
			buf_format(out,
				   "%s: there is no such file any more; what was put beside its "
				   "texts is kept in extra/%s of the state directory\n",
				   below, below);
	} else if (S_ISDIR(st.st_mode) &&
		   at_open(extra, name, O_RDONLY | O_DIRECTORY, 0, &from) == 0) {
		if (at_open(source, name, O_PATH | O_DIRECTORY, 0, &to) == 0) {
			tell_orphans(from, to, below, depth + 1, out);
			close(to);
		} else {
			close(from);
		}
	}
	free(below);
}

/* `extra` is taken over. */
static void tell_orphans(int extra, int source, const char *path, unsigned depth, struct buf *out)
{
	DIR *dir = fdopendir(extra);
	struct dirent *entry;

	if (!dir) {
		close(extra);
		return;
	}
	while (depth < DEPTH_MAX && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			tell_orphan(dirfd(dir), source, path, entry->d_name, depth, out);
	}
	closedir(dir);
}

void extra_tell_orphans(struct fs *fs, struct buf *out)
{
	int folder, fd;

	if (state_folder(fs->state, STATE_EXTRA, "", false, &folder) != 0)
		return;
	if (at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd) == 0)
		tell_orphans(fd, fs->root, "", 0, out);
	close(folder);
}
