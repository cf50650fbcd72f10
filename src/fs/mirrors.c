/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mirrors.c - what people put into virtual folders, and what was refused there, lies in folders of
 * the same path in the state directory. Where the virtual one is no more, an empty mirror would be
 * seen in its place.
 */
#include "fs.h"

#include "../tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const enum state_area areas[] = {STATE_EXTRA, STATE_REJECTED, STATE_FILLING};

void mirrors_remove(struct fs *fs, struct node *parent, const char *name)
{
	struct buf path = BUF_INIT;
	int folder;

	nodes_lock(&fs->nodes);
	if (node_path(parent, &path) != 0)
		buf_release(&path);
	nodes_unlock(&fs->nodes);
	for (size_t i = 0; path.data && i < ARRAY_SIZE(areas); i++) {
		if (state_folder(fs->state, areas[i], (const char *)path.data, false, &folder) != 0)
			continue;
		unlinkat(folder, name, AT_REMOVEDIR);
		close(folder);
	}
	buf_release(&path);
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

/*
 * Is it the mirror of a clip that is no more? What begins with a dot is somebody's own folder, and
 * what there is a note about (filling.c) is going to be a clip. `notes` may be -1.
 */
static bool is_left(const char *name, int notes, const struct snap *snap)
{
	if (*name == '.' || (snap && snap_clip(snap, name) >= 0))
		return false;
	return notes < 0 || faccessat(notes, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

static void remove_clips(int file, int notes, const struct snap *snap)
{
	int fd = openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (is_left(entry->d_name, notes, snap))
			remove_clip(file, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void remove_all(struct fs *fs, const char *path, const struct snap *snap)
{
	int notes, file;

	if (state_folder(fs->state, STATE_FILLING, path, false, &notes) != 0)
		notes = -1;
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++) {
		if (areas[i] == STATE_FILLING ||
		    state_folder(fs->state, areas[i], path, false, &file) != 0)
			continue;
		remove_clips(file, notes, snap);
		close(file);
	}
	if (notes >= 0)
		close(notes);
}

void mirrors_prune(struct fs *fs, const struct file *file, struct node *parent,
		   const struct snap *snap)
{
	struct buf path = BUF_INIT;

	if (!fs->read_only && fs_path(fs, parent, file->name, &path) == 0) {
		remove_all(fs, (const char *)path.data, snap);
		if (!snap)
			mirrors_remove(fs, parent, file->name);
	}
	buf_release(&path);
}
