/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upper.c - ordinary files beside views: their limit (--extra-max), and the folders of the state
 * directory that hold them. An empty folder of the state directory must be removed with its virtual
 * folder, or the mount would show the empty folder under that name.
 *
 * Only additions are counted. When the count reaches the limit, everything is counted again, to
 * notice files removed meanwhile.
 */
#include "upper.h"

#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/history.h"
#include "disk/portable.h"
#include "store/beside.h"
#include "store/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 128 /* how deep folders are searched for orphans */

struct upper {
	struct lock lock;
	uint64_t used GUARDED_BY(upper_class); /* an upper bound of the used bytes */
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

/* ---- the total size ---- */

static uint64_t upper_count_all(struct vfs *v)
{
	uint64_t sum;
	int folder;

	if (state_folder(v->state, STATE_UPPER, "", false, &folder) != 0)
		return 0;
	sum = dirfd_size(folder, "", UPPER_ENTRY, UPPER_ENTRY);
	close(folder);
	return sum;
}

int upper_grow(struct vfs *v, enum area area, uint64_t bytes)
{
	const uint64_t max = v->options->upper_max;
	struct upper *u = v->upper;
	bool fits;

	if (area != AREA_UPPER)
		return 0;
	lock_acquire(&u->lock, &upper_class);
	if (!u->counted || bytes > max || u->used > max - bytes) {
		u->used = upper_count_all(v);
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

/* ---- orphans: files beside views of animations that are gone ---- */

static void list_orphans(int parent, const char *name, int source, const char *path, unsigned depth,
			 struct buf *out);

/*
 * Returns whether the name exists in SOURCE, or the file does whose folder has that name. *st: the
 * attributes of what exists.
 */
static bool upper_is_in_source(int source, const char *name, struct stat *st)
{
	char file[NAME_MAX + 1];
	bool found = fstatat(source, name, st, AT_SYMLINK_NOFOLLOW) == 0;

	for (unsigned i = 0; !found && beside_file(name, i, file, NULL); i++)
		found = fstatat(source, file, st, AT_SYMLINK_NOFOLLOW) == 0;
	return found;
}

static void report_orphan(const char *path, struct buf *out)
{
	buf_line(out,
		 "%s: there is no such file any more; what was put beside its texts is kept in "
		 "extra/%s of the state directory",
		 path, path);
}

static void list_orphan(int upper, int source, const char *path, const char *stored, unsigned depth,
			struct buf *out)
{
	char name[NAME_MAX + 1];
	struct stat st;
	char *below;
	int to;

	portable_read(stored, name);
	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return;
	if (!upper_is_in_source(source, name, &st)) {
		if (dirfd_size(upper, stored, UPPER_ENTRY, 0) > 0)
			report_orphan(below, out);
	} else if (S_ISDIR(st.st_mode) &&
		   dirfd_open(source, name, O_PATH | O_DIRECTORY, 0, &to) == 0) {
		list_orphans(upper, stored, to, below, depth + 1, out);
		close(to);
	}
	free(below);
}

static void list_orphans(int parent, const char *name, int source, const char *path, unsigned depth,
			 struct buf *out)
{
	struct dirent *entry;
	DIR *dir;

	if (depth > DEPTH_MAX || dirfd_list(parent, name, &dir) != 0)
		return;
	while ((entry = dirfd_next(dir)))
		list_orphan(dirfd(dir), source, path, entry->d_name, depth, out);
	closedir(dir);
}

void upper_list_orphans(struct vfs *v, struct buf *out)
{
	int folder;

	if (state_folder(v->state, STATE_UPPER, "", false, &folder) != 0)
		return;
	list_orphans(folder, "", v->root, "", 0, out);
	close(folder);
}

/* ---- folders in the areas ---- */

static const enum state_area areas[] = {STATE_UPPER, STATE_REJECTED, STATE_STAGING};

typedef void with_folder(int folder, const void *user);

/*
 * Calls `each` in each area for a name in the folder or, if `name` is NULL, for the folder itself.
 */
static void in_each_area(struct vfs *v, const struct node *parent, const char *name,
			 with_folder *each, const void *user)
{
	char *path;
	int folder, error = path_of(v, parent, name, &path);

	for (size_t i = 0; !error && i < ARRAY_SIZE(areas); i++) {
		if (state_folder(v->state, areas[i], path, false, &folder) != 0)
			continue;
		each(folder, user);
		close(folder);
	}
	free(path);
}

static void vfs_upper_remove_folder(int folder, const void *name)
{
	char stored[NAME_MAX + 1];

	if (portable_name(name, stored) == 0)
		unlinkat(folder, stored, AT_REMOVEDIR);
}

void upper_remove_folder(struct vfs *v, const struct node *parent, const char *name)
{
	in_each_area(v, parent, NULL, vfs_upper_remove_folder, name);
}

/*
 * Removes a clip's upper folder, by its stored name, if it has nothing in it but empty bones/ and
 * frames/.
 */
static void upper_remove_clip(int folder, const char *stored)
{
	int clip = openat(folder, stored, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (clip < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders); i++)
		unlinkat(clip, tree_inner_folders[i], AT_REMOVEDIR);
	close(clip);
	unlinkat(folder, stored, AT_REMOVEDIR);
}

/* Removes empty upper folders of clips. Skips names that begin with a dot, which no clip has. */
static void remove_clips(int folder, const void *unused)
{
	struct dirent *entry;
	DIR *dir;

	(void)unused;
	if (dirfd_list(folder, "", &dir) != 0)
		return;
	while ((entry = dirfd_next(dir))) {
		if (*entry->d_name != '.')
			upper_remove_clip(folder, entry->d_name);
	}
	closedir(dir);
}

struct change_of_clips {
	const struct version *before, *now;
};

static void remove_lost_clips(int folder, const void *change)
{
	const struct change_of_clips *c = change;
	const struct anim *before = c->before->anim;
	char stored[NAME_MAX + 1];

	for (uint32_t i = 0; i < before->clip_count; i++) {
		const char *label = before->clips[i].label;

		if (version_clip(c->now, label) < 0 && portable_name(label, stored) == 0)
			upper_remove_clip(folder, stored);
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

void upper_move(struct vfs *v, const struct node *parent, const char *name,
		const struct node *new_parent, const char *new_name)
{
	char *path, *new_path = NULL;
	int error = path_of(v, parent, name, &path);

	if (!error)
		error = path_of(v, new_parent, new_name, &new_path);
	if (!error) {
		error = state_rename(v->state, path, new_path);
		history_rename(v->state, path, new_path);
	}
	/*
	 * Only report the error: the virtual folder of these files has moved, and that cannot be
	 * undone.
	 */
	if (error && path)
		diagnose_event(v, path, "files beside its views stay under this name",
			       strerror(error));
	free(path);
	free(new_path);
}
