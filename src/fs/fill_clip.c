/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fill_clip.c - a folder of texts in an animation file's folder becomes a clip of that file. */
#include "texts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What is called so in the folder is something else now, or gone. */
static void forget_name(struct fs *fs, struct node *folder, const char *name)
{
	struct stat none = {.st_nlink = 1};
	struct node *node = fs_child(fs, folder, name);

	if (!node)
		return;
	fs_lose_name(fs, folder, name, node->kind == NODE_REAL ? &none : NULL);
	notify_entry(fs, folder, name);
	fs_reference(fs, node, -1);
}

/* bones/ and frames/, if somebody knows them: whoever is in them stays there. */
static void adopt_inner(struct fs *fs, struct node *clip, const char *name, enum node_kind kind,
			const struct texts *texts)
{
	struct node *folder = fs_child(fs, clip, name);
	size_t length = strlen(name);

	if (!folder)
		return;
	nodes_lock(&fs->nodes);
	if (folder->kind == NODE_REAL && folder->folder)
		node_become_folder(fs, folder, kind, clip->file);
	nodes_unlock(&fs->nodes);
	for (size_t i = 0; i < texts->count; i++) {
		const char *path = texts->names[i].path;

		if (texts->list[i].fate != FILL_EXTRA && strncmp(path, name, length) == 0 &&
		    path[length] == '/')
			forget_name(fs, folder, path + length + 1);
	}
	notify_listing(fs, folder);
	fs_reference(fs, folder, -1);
}

void fill_adopt_clip(struct fs *fs, struct node *folder, struct file *file,
		     const struct texts *texts)
{
	nodes_lock(&fs->nodes);
	node_become_folder(fs, folder, NODE_CLIP, file);
	nodes_unlock(&fs->nodes);
	for (size_t i = 0; i < texts->count; i++) {
		if (texts->list[i].fate != FILL_EXTRA && !strchr(texts->names[i].path, '/'))
			forget_name(fs, folder, texts->names[i].path);
	}
	adopt_inner(fs, folder, "bones", NODE_BONES, texts);
	adopt_inner(fs, folder, "frames", NODE_FRAMES, texts);
	notify_listing(fs, folder);
}

/* The edit that the texts come to, saved. */
static int commit(struct fs *fs, struct file *file, const char *name, struct texts *texts,
		  struct changes *changes, struct err *err)
{
	struct fill *fill = NULL;
	struct snap *base;
	int error = fs_snap(fs, file, &base);

	if (error)
		return error;
	fill = fill_new(base->anim, file->name);
	if (!fill)
		error = ENOMEM;
	else if (!fill_clip(fill, name, texts->list, texts->count, err))
		error = errno_of(err);
	else
		error = file_commit(fs, file, base, fill_model(fill), changes, err);
	fill_free(fill);
	snap_put(base);
	return error;
}

/* With the file's lock. */
static int make(struct fs *fs, struct node *folder, const char *name, int fd, const char *path,
		struct changes *changes)
{
	struct file *file = node_link(folder)->parent->file;
	struct err err = {.code = ERR_NONE};
	struct texts texts = {NULL, NULL, 0, 0};
	int error = texts_read(fs, fd, fill_reads, &texts);

	if (!error)
		error = commit(fs, file, name, &texts, changes, &err);
	if (!error) {
		texts_put_away(fs, fd, path, &texts);
		fill_adopt_clip(fs, folder, file, &texts);
	}
	file_note(fs, file, name, "not a clip yet", error && err.code ? err.message : NULL);
	texts_release(&texts);
	return error;
}

int fill_make_clip(struct fs *fs, struct node *folder, struct changes *changes)
{
	struct file *file = NULL;
	struct buf path = BUF_INIT;
	char name[NAME_MAX + 1];
	int fd, error;

	nodes_lock(&fs->nodes);
	error = node_path(folder, &path);
	if (!error) {
		strcpy(name, node_link(folder)->name);
		file = node_link(folder)->parent->file;
	}
	nodes_unlock(&fs->nodes);
	if (!error)
		error = state_folder(fs->state, STATE_EXTRA, (const char *)path.data, false, &fd);
	if (!error) {
		file_lock(file);
		error = make(fs, folder, name, fd, (const char *)path.data, changes);
		file_unlock(file);
		close(fd);
	}
	buf_release(&path);
	return error;
}
