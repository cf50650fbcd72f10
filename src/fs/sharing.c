/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sharing.c - what other mounts of the same state directory put beside the texts: extras and
 * refusals are in the listings of virtual folders, which the kernel keeps. Every folder of them is
 * watched; there are as many as people have put something into.
 */
#include "../watch.h"
#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Cookies that are no nodes' numbers. */
#define STATE_COOKIE ((uint64_t)1 << 63)
#define COOKIE_ABOVE STATE_COOKIE       /* the folder that the state directory is in */
#define COOKIE_STATE (STATE_COOKIE | 1) /* the state directory */
#define COOKIE_FIRST (STATE_COOKIE | 2) /* folders[0] */

#define DEPTH_MAX 64

static const enum state_area areas[] = {STATE_EXTRA, STATE_REJECTED};

struct sharing {
	pthread_mutex_t lock; /* of the list */
	struct watched {
		enum state_area area;
		char *path; /* of the virtual folder, from the root */
	} * folders;
	size_t count, room;
};

struct sharing *sharing_new(void)
{
	struct sharing *b = calloc(1, sizeof(*b));

	if (b)
		pthread_mutex_init(&b->lock, NULL);
	return b;
}

void sharing_free(struct sharing *b)
{
	for (size_t i = 0; b && i < b->count; i++)
		free(b->folders[i].path);
	if (b)
		free(b->folders);
	free(b);
}

static bool append(struct sharing *b, enum state_area area, const char *path)
{
	struct watched *folders = array_room(b->folders, b->count, &b->room, sizeof(*folders));

	if (!folders)
		return false;
	b->folders = folders;
	folders[b->count] = (struct watched){area, strdup(path)};
	if (!folders[b->count].path)
		return false;
	b->count++;
	return true;
}

/* 0 when out of memory. */
static uint64_t cookie_of(struct sharing *b, enum state_area area, const char *path)
{
	uint64_t cookie = 0;
	size_t i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < b->count; i++) {
		if (b->folders[i].area == area && strcmp(b->folders[i].path, path) == 0)
			break;
	}
	if (i < b->count || append(b, area, path))
		cookie = COOKIE_FIRST + i;
	pthread_mutex_unlock(&b->lock);
	return cookie;
}

/* The caller frees it; NULL when out of memory. */
static char *path_of(struct sharing *b, uint64_t cookie, enum state_area *area)
{
	size_t index = (size_t)(cookie - COOKIE_FIRST);
	char *path = NULL;

	pthread_mutex_lock(&b->lock);
	if (index < b->count) {
		*area = b->folders[index].area;
		path = strdup(b->folders[index].path);
	}
	pthread_mutex_unlock(&b->lock);
	return path;
}

/* An animation file is there by its own name, its folder perhaps by that and a suffix. */
static struct node *find_step(struct nodes *t, const struct node *parent, const char *name)
{
	struct node *node = nodes_by_name(t, parent, name);
	char beside[NAME_MAX + 8];

	for (size_t i = 0; i < ARRAY_SIZE(beside_suffixes) && !(node && node->folder); i++) {
		snprintf(beside, sizeof(beside), "%s%s", name, beside_suffixes[i]);
		node = nodes_by_name(t, parent, beside);
	}
	return node;
}

/* What the kernel was told is in the virtual folder of this path may not be true any more. */
static void folder_changed(struct fs *fs, const char *path)
{
	char name[NAME_MAX + 1];
	struct file *file = NULL;
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, NODE_ROOT);
	while (node && *path) {
		size_t length = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		node = find_step(&fs->nodes, node, name);
		path += length + (path[length] == '/');
	}
	if (node && node_is_virtual(node)) {
		notify_data(fs, node);
		file = node->file;
		file->node->references++;
	}
	nodes_unlock(&fs->nodes);
	if (!file)
		return;
	file_tell_again(fs, file);
	fs_reference(fs, file->node, -1);
}

static bool is_folder(int parent, const struct dirent *entry)
{
	struct stat st;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(parent, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void watch_folder(struct fs *fs, enum state_area area, const char *path, int depth);

static void watch_inner(struct fs *fs, enum state_area area, const char *path, int folder,
			int depth)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char *inner;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (!is_folder(dirfd(dir), entry) ||
		    asprintf(&inner, "%s%s%s", path, *path ? "/" : "", entry->d_name) < 0)
			continue;
		watch_folder(fs, area, inner, depth + 1);
		free(inner);
	}
	closedir(dir);
}

/* With all below it; what is in it already may be news. */
static void watch_folder(struct fs *fs, enum state_area area, const char *path, int depth)
{
	uint64_t cookie = cookie_of(fs->sharing, area, path);
	int fd;

	if (!cookie || depth > DEPTH_MAX || state_folder(fs->state, area, path, false, &fd) != 0)
		return;
	watch_add(fs->watch, fd, cookie);
	folder_changed(fs, path);
	watch_inner(fs, area, path, fd, depth);
	close(fd);
}

bool sharing_watch(struct fs *fs)
{
	int fd, error = watch_add(fs->watch, state_above(fs->state), COOKIE_ABOVE);

	if (error)
		return false;
	error = state_open(fs->state, &fd);
	if (error)
		return error == ENOENT; /* it will be heard of */
	error = watch_add(fs->watch, fd, COOKIE_STATE);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++)
		watch_folder(fs, areas[i], "", 0);
	return error == 0;
}

bool sharing_changed(struct fs *fs, uint64_t cookie, const char *name, uint32_t mask)
{
	bool folder = (mask & IN_ISDIR) && (mask & (IN_CREATE | IN_MOVED_TO));
	enum state_area area;
	char *path, *inner;

	if (!(cookie & STATE_COOKIE))
		return false;
	if (cookie < COOKIE_FIRST) {
		if (folder)
			sharing_watch(fs);
		return true;
	}
	path = path_of(fs->sharing, cookie, &area);
	if (path && (!name || (mask & (IN_CREATE | IN_DELETE | IN_MOVE))))
		folder_changed(fs, path);
	if (path && name && folder &&
	    asprintf(&inner, "%s%s%s", path, *path ? "/" : "", name) >= 0) {
		watch_folder(fs, area, inner, 0);
		free(inner);
	}
	free(path);
	return true;
}
