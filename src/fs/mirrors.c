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

/* What begins with a dot is somebody's own folder. */
static void remove_clips(int file)
{
	int fd = openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name != '.')
			remove_clip(file, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void remove_lost(int file, const struct snap *before, const struct snap *now)
{
	for (uint32_t i = 0; i < before->anim->clip_count; i++) {
		if (snap_clip(now, before->anim->clips[i].label) < 0)
			remove_clip(file, before->anim->clips[i].label);
	}
}

/* before NULL: all of them. */
static void remove_in(struct fs *fs, const struct file *file, struct node *parent,
		      const struct snap *before, const struct snap *now)
{
	struct buf path = BUF_INIT;
	int folder;

	if (fs_path(fs, parent, file->name, &path) != 0)
		path.size = 0;
	for (size_t i = 0; path.size && i < ARRAY_SIZE(areas); i++) {
		if (state_folder(fs->state, areas[i], (const char *)path.data, false, &folder) != 0)
			continue;
		if (before)
			remove_lost(folder, before, now);
		else
			remove_clips(folder);
		close(folder);
	}
	buf_release(&path);
}

void mirrors_of_file(struct fs *fs, const struct file *file, struct node *parent)
{
	if (fs->read_only)
		return;
	remove_in(fs, file, parent, NULL, NULL);
	mirrors_remove(fs, parent, file->name);
}

void mirrors_of_clips(struct fs *fs, const struct file *file, struct node *parent,
		      const struct snap *before, const struct snap *now)
{
	if (!fs->read_only)
		remove_in(fs, file, parent, before, now);
}
