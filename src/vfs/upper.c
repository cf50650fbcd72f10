/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upper.c - ordinary files beside views: how much may be put there (--extra-max), and the folders
 * of the state directory that they lie in. Where a virtual folder is no more, an empty one of the
 * same path would be seen in its place.
 *
 * Only what is added is counted as it comes. When that reaches the limit all is counted anew: what
 * was removed in the meantime is free again.
 */
#include "upper.h"

#include "at.h"
#include "store/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH_MAX 128 /* folders in one another that are counted */

struct upper {
	struct lock lock;
	uint64_t used GUARDED_BY(upper_class); /* at least as much as there is */
	bool counted GUARDED_BY(upper_class);
};

struct upper *upper_new(void)
{
	struct upper *u = calloc(1, sizeof(*u));

	if (u)
		lock_init(&u->lock);
	return u;
}

void upper_free(struct upper *u)
{
	if (u)
		lock_destroy(&u->lock);
	free(u);
}

/* The next entry but "." and "..". */
static struct dirent *next_entry(DIR *dir)
{
	struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry;
}

/* name ".": the folder itself. NULL: it cannot be read. */
static DIR *open_list(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* ---- how much there is ---- */

/* `folder`: what one counts for; other things are an entry and their bytes. */
static uint64_t count_in(int parent, const char *name, uint64_t folder, unsigned depth)
{
	DIR *dir = depth > DEPTH_MAX ? NULL : open_list(parent, name);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;

	while (dir && (entry = next_entry(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			sum += folder + count_in(dirfd(dir), entry->d_name, folder, depth + 1);
		else
			sum += UPPER_ENTRY + (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t count_all(struct vfs *v)
{
	uint64_t sum;
	int folder;

	if (state_folder(v->state, STATE_EXTRA, "", false, &folder) != 0)
		return 0;
	sum = count_in(folder, ".", UPPER_ENTRY, 0);
	close(folder);
	return sum;
}

int upper_grow(struct vfs *v, enum area area, uint64_t bytes)
{
	const uint64_t max = v->options->extra_max;
	struct upper *u = v->upper;
	bool fits;

	if (area != AREA_UPPER)
		return 0;
	lock_acquire(&u->lock, &upper_class);
	if (!u->counted || bytes > max || u->used > max - bytes) {
		u->used = count_all(v);
		u->counted = true;
	}
	fits = bytes <= max && u->used <= max - bytes;
	if (fits)
		u->used += bytes;
	lock_release(&u->lock, &upper_class);
	return fits ? 0 : ENOSPC;
}

int upper_grow_to(struct vfs *v, const struct thing *thing, int fd, uint64_t size)
{
	struct stat st;

	if (thing->kind != THING_PLAIN || thing->area != AREA_UPPER || fstat(fd, &st) != 0 ||
	    size <= (uint64_t)st.st_size)
		return 0;
	return upper_grow(v, AREA_UPPER, size - (uint64_t)st.st_size);
}

/* ---- what belongs to nothing any more ---- */

static void list_orphans(DIR *upper, int source, const char *path, unsigned depth, struct buf *out);

static void list_orphan(int upper, int source, const char *path, const char *name, unsigned depth,
			struct buf *out)
{
	struct stat st;
	char *below;
	DIR *from;
	int to;

	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return;
	if (fstatat(source, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		if (count_in(upper, name, 0, 0) > 0)
			buf_format(out,
				   "%s: there is no such file any more; what was put beside its "
				   "texts is kept in extra/%s of the state directory\n",
				   below, below);
	} else if (S_ISDIR(st.st_mode) &&
		   at_open(source, name, O_PATH | O_DIRECTORY, 0, &to) == 0) {
		from = depth < DEPTH_MAX ? open_list(upper, name) : NULL;
		list_orphans(from, to, below, depth + 1, out);
		close(to);
	}
	free(below);
}

/* `upper` is taken over, and may be NULL. */
static void list_orphans(DIR *upper, int source, const char *path, unsigned depth, struct buf *out)
{
	struct dirent *entry;

	while (upper && (entry = next_entry(upper)))
		list_orphan(dirfd(upper), source, path, entry->d_name, depth, out);
	if (upper)
		closedir(upper);
}

void upper_list_orphans(struct vfs *v, struct buf *out)
{
	int folder;

	if (state_folder(v->state, STATE_EXTRA, "", false, &folder) != 0)
		return;
	list_orphans(open_list(folder, "."), v->root, "", 0, out);
	close(folder);
}

/* ---- where it lies ---- */

static const enum state_area areas[] = {STATE_EXTRA, STATE_REJECTED, STATE_FILLING};

typedef void with_folder(int folder, const void *user);

/* For what lies for a name in the folder, or, where that is NULL, for the folder itself. */
static void in_each_area(struct vfs *v, const struct node *parent, const char *name,
			 with_folder *each, const void *user)
{
	struct buf path = BUF_INIT;
	int folder, error;

	vfs_lock(v);
	error = name ? node_path_of(parent, name, &path) : node_path(parent, &path);
	vfs_unlock(v);
	for (size_t i = 0; !error && i < ARRAY_SIZE(areas); i++) {
		if (state_folder(v->state, areas[i], (const char *)path.data, false, &folder) != 0)
			continue;
		each(folder, user);
		close(folder);
	}
	buf_release(&path);
}

static void remove_folder(int folder, const void *name)
{
	unlinkat(folder, name, AT_REMOVEDIR);
}

void upper_remove_folder(struct vfs *v, const struct node *parent, const char *name)
{
	in_each_area(v, parent, NULL, remove_folder, name);
}

/* A clip's, if nothing is in it but what is its own. */
static void remove_clip(int folder, const char *name)
{
	int clip = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (clip < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders); i++)
		unlinkat(clip, tree_inner_folders[i], AT_REMOVEDIR);
	close(clip);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* What begins with a dot is somebody's own folder. */
static void remove_clips(int folder, const void *unused)
{
	DIR *dir = open_list(folder, ".");
	struct dirent *entry;

	(void)unused;
	while (dir && (entry = next_entry(dir))) {
		if (*entry->d_name != '.')
			remove_clip(folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

struct change_of_clips {
	const struct version *before, *now;
};

static void remove_lost_clips(int folder, const void *change)
{
	const struct change_of_clips *c = change;
	const struct anim *before = c->before->anim;

	for (uint32_t i = 0; i < before->clip_count; i++) {
		if (version_clip(c->now, before->clips[i].label) < 0)
			remove_clip(folder, before->clips[i].label);
	}
}

void upper_remove_empty(struct vfs *v, const struct node *parent, const char *name)
{
	if (v->read_only)
		return;
	in_each_area(v, parent, name, remove_clips, NULL);
	upper_remove_folder(v, parent, name);
}

void upper_remove_clips(struct vfs *v, const struct node *parent, const char *name,
			const struct version *before, const struct version *now)
{
	const struct change_of_clips change = {before, now};

	if (!v->read_only)
		in_each_area(v, parent, name, remove_lost_clips, &change);
}

void upper_move(struct vfs *v, const char *path, const char *new_path)
{
	state_rename(v->state, path, new_path);
}
