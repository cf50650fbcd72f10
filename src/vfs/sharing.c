/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sharing.c - ordinary files and refusals that other mounts with the same state directory put
 * beside views. They are listed in virtual folders, and the kernel caches listings. So each folder
 * of the state directory that holds such files is watched; only virtual folders with such files
 * have a folder there.
 */
#include "sharing.h"
#include "disk/portable.h"
#include "lookup.h"
#include "store/beside.h"

#include "disk/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <xxhash.h>

/*
 * The first watch cookie of this file, distinct from node numbers; folders get consecutive cookies.
 */
#define STATE_COOKIE ((uint64_t)1 << 63)
#define COOKIE_ABOVE STATE_COOKIE       /* cookie of the parent of the state directory */
#define COOKIE_STATE (STATE_COOKIE | 1) /* cookie of the state directory */
#define COOKIE_FIRST (STATE_COOKIE | 2)

#define DEPTH_MAX 64

static const enum state_area areas[] = {STATE_UPPER, STATE_REJECTED};

struct watched {
	uint64_t cookie;
	uint64_t hash; /* hash of `path` and `area`, for finding a folder */
	enum state_area area;
	char *path; /* path of the virtual folder, from the root */
};

struct sharing {
	struct lock lock;
	struct watched *list GUARDED_BY(sharing_class);
	size_t count GUARDED_BY(sharing_class), room GUARDED_BY(sharing_class);
	uint64_t next GUARDED_BY(sharing_class); /* cookie for the next folder */
};

/* ---- the list of watched folders ---- */

UNSHARED struct sharing *sharing_new(void)
{
	struct sharing *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	lock_init(&s->lock);
	s->next = COOKIE_FIRST;
	return s;
}

UNSHARED void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].path);
	free(s->list);
	lock_destroy(&s->lock);
	free(s);
}

/* Adds a folder to the list. Returns its cookie; 0 when out of memory. */
static uint64_t sharing_add(struct sharing *s, enum state_area area, const char *path,
			    uint64_t hash) REQUIRES(sharing_class)
{
	struct watched *list = array_room(s->list, s->count, &s->room, sizeof(*list));
	char *copy = list ? strdup(path) : NULL;

	if (list)
		s->list = list;
	if (!copy)
		return 0;
	list[s->count++] = (struct watched){s->next, hash, area, copy};
	return s->next++;
}

/* Returns the cookie of the folder, a new one if necessary; 0 when out of memory. */
static uint64_t cookie_of(struct sharing *s, enum state_area area, const char *path)
{
	uint64_t hash = XXH3_64bits_withSeed(path, strlen(path), area), cookie = 0;

	lock_acquire(&s->lock, &sharing_class);
	for (size_t i = 0; i < s->count && !cookie; i++) {
		if (s->list[i].hash == hash && s->list[i].area == area &&
		    strcmp(s->list[i].path, path) == 0)
			cookie = s->list[i].cookie;
	}
	if (!cookie)
		cookie = sharing_add(s, area, path, hash);
	lock_release(&s->lock, &sharing_class);
	return cookie;
}

static struct watched *find_watched(struct sharing *s, uint64_t cookie) REQUIRES(sharing_class)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].cookie == cookie)
			return &s->list[i];
	}
	return NULL;
}

/*
 * Returns the path of the folder with this cookie, to be freed; NULL when out of memory, or if the
 * folder is no longer known.
 */
static char *watched_path(struct sharing *s, uint64_t cookie, enum state_area *area)
{
	const struct watched *watched;
	char *path = NULL;

	lock_acquire(&s->lock, &sharing_class);
	watched = find_watched(s, cookie);
	if (watched) {
		*area = watched->area;
		path = strdup(watched->path);
	}
	lock_release(&s->lock, &sharing_class);
	return path;
}

static void forget(struct vfs *v, uint64_t cookie)
{
	struct sharing *s = v->sharing;
	struct watched *watched;

	watch_drop(v->watch, cookie);
	lock_acquire(&s->lock, &sharing_class);
	watched = find_watched(s, cookie);
	if (watched) {
		free(watched->path);
		*watched = s->list[--s->count];
	}
	lock_release(&s->lock, &sharing_class);
}

static bool sharing_is_below(const struct watched *watched, enum state_area area, const char *path)
{
	size_t size = strlen(path);

	return watched->area == area && strncmp(watched->path, path, size) == 0 &&
	       (watched->path[size] == '\0' || watched->path[size] == '/');
}

/* Forgets a folder and those below; after a move they are added again by their new paths. */
static void forget_below(struct vfs *v, enum state_area area, const char *path)
{
	struct sharing *s = v->sharing;
	struct buf cookies = BUF_INIT;
	uint64_t cookie;

	lock_acquire(&s->lock, &sharing_class);
	for (size_t i = 0; i < s->count; i++) {
		if (sharing_is_below(&s->list[i], area, path))
			buf_add(&cookies, &s->list[i].cookie, sizeof(cookie));
	}
	lock_release(&s->lock, &sharing_class);
	for (size_t at = 0; at < cookies.size; at += sizeof(cookie)) {
		memcpy(&cookie, cookies.data + at, sizeof(cookie));
		forget(v, cookie);
	}
	buf_release(&cookies);
}

/* ---- what has changed ---- */

/*
 * Finds the node for a component of a path. An animation's folder is found by the file's name, even
 * if the folder has a suffix.
 */
static struct node *find_step(struct vfs *v, const struct node *parent, const char *name)
	REQUIRES(vfs_class)
{
	struct nodes *t = &v->nodes;
	struct node *node = nodes_by_name(t, parent, name);
	char beside[NAME_MAX + 1];

	for (unsigned i = 0; i < BESIDE_NAMES; i++) {
		if (node && node->thing->folder)
			break;
		node = beside_folder(v->store, name, i, beside) ? nodes_by_name(t, parent, beside)
								: NULL;
	}
	return node;
}

/* Finds the node of the virtual folder with this path. NULL if the kernel does not know it. */
static struct node *sharing_find_folder(struct vfs *v, const char *path) REQUIRES(vfs_class)
{
	struct node *node = nodes_by_id(&v->nodes, NODE_ROOT);
	char name[NAME_MAX + 1];

	while (node && *path) {
		size_t length = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		node = find_step(v, node, name);
		path += length + (path[length] == '/');
	}
	return node;
}

/* Invalidates the virtual folder of this path. */
static void folder_changed(struct vfs *v, const char *path)
{
	const struct node *node;
	struct animation *a;

	vfs_lock(v);
	node = sharing_find_folder(v, path);
	if (node && thing_is_virtual(node->thing)) {
		a = node->thing->animation;
		invalidate_data(v, node->id);
		a->again = clock_ms() + TICK_MS;
		if (deadline_set(v->deadlines, &a->look, a->again))
			animation_get(a);
	}
	vfs_unlock(v);
}

static bool sharing_is_folder(int parent, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(parent, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void watch_folder(struct vfs *v, enum state_area area, const char *path, int depth);

static void watch_inner(struct vfs *v, enum state_area area, const char *path, int folder,
			int depth)
{
	char name[NAME_MAX + 1], *inner;
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(folder, "", &dir) != 0)
		return;
	while ((entry = dirfd_next(dir))) {
		if (!sharing_is_folder(dirfd(dir), entry))
			continue;
		portable_read(entry->d_name, name);
		if (asprintf(&inner, "%s%s%s", path, *path ? "/" : "", name) < 0)
			continue;
		watch_folder(v, area, inner, depth + 1);
		free(inner);
	}
	closedir(dir);
}

/*
 * Watches a folder and all below it, and invalidates their virtual folders, which may show new
 * files.
 */
static void watch_folder(struct vfs *v, enum state_area area, const char *path, int depth)
{
	int fd, error = depth > DEPTH_MAX ? ELOOP : state_folder(v->state, area, path, false, &fd);
	uint64_t cookie = error ? 0 : cookie_of(v->sharing, area, path);

	if (error)
		return;
	if (cookie && watch_add(v->watch, fd, cookie) != 0)
		forget(v, cookie);
	folder_changed(v, path);
	watch_inner(v, area, path, fd, depth);
	close(fd);
}

bool sharing_watch(struct vfs *v)
{
	int fd, error = watch_add(v->watch, state_above(v->state), COOKIE_ABOVE);

	if (error)
		return false;
	error = state_open(v->state, &fd);
	if (error)
		/*
		 * true if there is no state directory yet: the watch of its parent will report its
		 * creation
		 */
		return error == ENOENT;
	error = watch_add(v->watch, fd, COOKIE_STATE);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++)
		watch_folder(v, areas[i], "", 0);
	return error == 0;
}

/* Handles a stored name, perhaps of a folder, that was added to or removed from a folder. */
static void sharing_name_changed(struct vfs *v, enum state_area area, const char *path,
				 const char *stored, uint32_t mask)
{
	char name[NAME_MAX + 1], *inner;

	portable_read(stored, name);
	if (!(mask & IN_ISDIR) || asprintf(&inner, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return;
	if (mask & IN_MOVED_FROM)
		forget_below(v, area, inner);
	if (mask & (IN_CREATE | IN_MOVED_TO))
		watch_folder(v, area, inner, 0);
	free(inner);
}

bool sharing_changed(struct vfs *v, uint64_t cookie, const char *name, uint32_t mask)
{
	enum state_area area;
	char *path;

	if (!(cookie & STATE_COOKIE))
		return false;
	if (cookie < COOKIE_FIRST) {
		if ((mask & IN_ISDIR) && (mask & (IN_CREATE | IN_MOVED_TO)))
			sharing_watch(v);
		return true;
	}
	path = watched_path(v->sharing, cookie, &area);
	if (path && (!name || (mask & (IN_CREATE | IN_DELETE | IN_MOVE))))
		folder_changed(v, path);
	if (path && name)
		sharing_name_changed(v, area, path, name, mask);
	free(path);
	if (mask & IN_IGNORED)
		forget(v, cookie);
	return true;
}
