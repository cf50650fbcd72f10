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
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Cookies that are no nodes' numbers; those of folders count on. */
#define STATE_COOKIE ((uint64_t)1 << 63)
#define COOKIE_ABOVE STATE_COOKIE       /* the folder that the state directory is in */
#define COOKIE_STATE (STATE_COOKIE | 1) /* the state directory */
#define COOKIE_FIRST (STATE_COOKIE | 2)

#define DEPTH_MAX 64

static const enum state_area areas[] = {STATE_EXTRA, STATE_REJECTED};

struct watched {
	uint64_t cookie;
	enum state_area area;
	const char *path; /* of the virtual folder, from the root */
};

struct sharing {
	pthread_mutex_t lock; /* of what follows */
	void *by_cookie;      /* tsearch: struct watched */
	void *by_path;        /* the same */
	uint64_t next;
};

static int compare_cookies(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

static int compare_paths(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;

	return x->area != y->area ? (x->area > y->area) - (x->area < y->area)
				  : strcmp(x->path, y->path);
}

struct sharing *sharing_new(void)
{
	struct sharing *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	b->next = COOKIE_FIRST;
	return b;
}

static void keep(void *watched)
{
	(void)watched;
}

void sharing_free(struct sharing *b)
{
	if (!b)
		return;
	tdestroy(b->by_path, keep);
	tdestroy(b->by_cookie, free);
	free(b);
}

/* One allocation with its path; NULL when out of memory. */
static struct watched *insert(struct sharing *b, enum state_area area, const char *path)
{
	size_t size = strlen(path) + 1;
	struct watched *w = malloc(sizeof(*w) + size);

	if (!w)
		return NULL;
	*w = (struct watched){b->next, area, memcpy(w + 1, path, size)};
	if (!tsearch(w, &b->by_cookie, compare_cookies)) {
		free(w);
		return NULL;
	}
	if (!tsearch(w, &b->by_path, compare_paths)) {
		tdelete(w, &b->by_cookie, compare_cookies);
		free(w);
		return NULL;
	}
	b->next++;
	return w;
}

/* 0 when out of memory. */
static uint64_t cookie_of(struct sharing *b, enum state_area area, const char *path)
{
	struct watched key = {0, area, path}, **found, *watched;
	uint64_t cookie;

	pthread_mutex_lock(&b->lock);
	found = tfind(&key, &b->by_path, compare_paths);
	watched = found ? *found : insert(b, area, path);
	cookie = watched ? watched->cookie : 0;
	pthread_mutex_unlock(&b->lock);
	return cookie;
}

static struct watched *find(struct sharing *b, uint64_t cookie)
{
	struct watched key = {cookie, STATE_EXTRA, ""};
	struct watched **found = tfind(&key, &b->by_cookie, compare_cookies);

	return found ? *found : NULL;
}

/* The caller frees it; NULL when out of memory, or when nothing is known of it any more. */
static char *path_of(struct sharing *b, uint64_t cookie, enum state_area *area)
{
	const struct watched *watched;
	char *path = NULL;

	pthread_mutex_lock(&b->lock);
	watched = find(b, cookie);
	if (watched) {
		*area = watched->area;
		path = strdup(watched->path);
	}
	pthread_mutex_unlock(&b->lock);
	return path;
}

static void forget(struct fs *fs, uint64_t cookie)
{
	struct sharing *b = fs->sharing;
	struct watched *watched;

	watch_drop(fs->watch, cookie);
	pthread_mutex_lock(&b->lock);
	watched = find(b, cookie);
	if (watched) {
		tdelete(watched, &b->by_path, compare_paths);
		tdelete(watched, &b->by_cookie, compare_cookies);
		free(watched);
	}
	pthread_mutex_unlock(&b->lock);
}

struct below {
	enum state_area area;
	const char *path;
	struct buf cookies; /* of the folder and of all below it */
};

static void collect_below(const void *node, VISIT visit, void *closure)
{
	const struct watched *watched = *(struct watched *const *)node;
	struct below *below = closure;
	size_t size = strlen(below->path);

	if ((visit == postorder || visit == leaf) && watched->area == below->area &&
	    strncmp(watched->path, below->path, size) == 0 &&
	    (watched->path[size] == '\0' || watched->path[size] == '/'))
		buf_add(&below->cookies, &watched->cookie, sizeof(watched->cookie));
}

/* What moved is found anew where it came to. */
static void forget_below(struct fs *fs, enum state_area area, const char *path)
{
	struct below below = {area, path, BUF_INIT};
	uint64_t cookie;

	pthread_mutex_lock(&fs->sharing->lock);
	twalk_r(fs->sharing->by_path, collect_below, &below);
	pthread_mutex_unlock(&fs->sharing->lock);
	for (size_t at = 0; at < below.cookies.size; at += sizeof(cookie)) {
		memcpy(&cookie, below.cookies.data + at, sizeof(cookie));
		forget(fs, cookie);
	}
	buf_release(&below.cookies);
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
	int fd, error = depth > DEPTH_MAX ? ELOOP : state_folder(fs->state, area, path, false, &fd);
	uint64_t cookie = error ? 0 : cookie_of(fs->sharing, area, path);

	if (error)
		return;
	if (cookie && watch_add(fs->watch, fd, cookie) != 0)
		forget(fs, cookie);
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

/* Something of this name, perhaps a folder, came to or went from a folder. */
static void name_changed(struct fs *fs, enum state_area area, const char *path, const char *name,
			 uint32_t mask)
{
	char *inner;

	if (!(mask & IN_ISDIR) || asprintf(&inner, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return;
	if (mask & IN_MOVED_FROM)
		forget_below(fs, area, inner);
	if (mask & (IN_CREATE | IN_MOVED_TO))
		watch_folder(fs, area, inner, 0);
	free(inner);
}

bool sharing_changed(struct fs *fs, uint64_t cookie, const char *name, uint32_t mask)
{
	enum state_area area;
	char *path;

	if (!(cookie & STATE_COOKIE))
		return false;
	if (cookie < COOKIE_FIRST) {
		if ((mask & IN_ISDIR) && (mask & (IN_CREATE | IN_MOVED_TO)))
			sharing_watch(fs);
		return true;
	}
	path = path_of(fs->sharing, cookie, &area);
	if (path && (!name || (mask & (IN_CREATE | IN_DELETE | IN_MOVE))))
		folder_changed(fs, path);
	if (path && name)
		name_changed(fs, area, path, name, mask);
	free(path);
	if (mask & IN_IGNORED)
		forget(fs, cookie);
	return true;
}
