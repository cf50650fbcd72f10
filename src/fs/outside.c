/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.c - changes that other programs make in SOURCE, seen by a watch on every folder in use.
 *
 * Names and attributes are believed for TIMEOUT only, so without a watch changes show as well; but
 * pages that somebody has mapped, or holds open, are dropped only when we say so.
 */
#include "../watch.h"
#include "fs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

#define CONTENT (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

void outside_watch(struct fs *fs, struct node *folder, int fd)
{
	if (!fs->watch || folder->watched)
		return;
	folder->watched = true;
	watch_add(fs->watch, fd, folder->id);
}

void outside_forget(struct fs *fs, const struct node *folder)
{
	if (fs->watch && folder->watched)
		watch_drop(fs->watch, folder->id);
}

/* The child that the kernel may know under this name, and its folder; both referenced. */
static struct node *find_child(struct fs *fs, uint64_t cookie, const char *name,
			       struct node **parent)
{
	struct node *node = NULL;

	nodes_lock(&fs->nodes);
	*parent = nodes_by_id(&fs->nodes, cookie);
	if (*parent)
		node = nodes_by_name(&fs->nodes, *parent, name);
	if (node) {
		node->references++;
		(*parent)->references++;
	}
	nodes_unlock(&fs->nodes);
	return node;
}

/* Writing through the mount needs no word to the kernel, which did it. */
static bool has_writer(struct fs *fs, const struct node *node)
{
	bool writes = false;

	nodes_lock(&fs->nodes);
	for (const struct handle *h = node->handles; h; h = h->next_of_node)
		writes |= handle_writes(h);
	nodes_unlock(&fs->nodes);
	return writes;
}

static void real_changed(struct fs *fs, struct node *parent, struct node *node, const char *name,
			 uint32_t mask)
{
	struct folder folder;
	struct identity id;
	struct stat st;
	int error = folder_open(&fs->folders, parent, &folder);

	if (error)
		return;
	error = identity_at(folder.fd, name, &id, &st);
	folder_close(&fs->folders, &folder);
	if (error || !identity_same(&id, &node->real))
		notify_entry(fs, parent, name);
	else if ((mask & CONTENT) && !has_writer(fs, node))
		notify_data(fs, node);
}

static void everything_changed(struct fs *fs)
{
	nodes_lock(&fs->nodes);
	for (size_t i = 0; i < fs->nodes.id_size; i++) {
		for (struct node *n = fs->nodes.by_id[i]; n; n = n->next_by_id)
			notify_data(fs, n);
	}
	nodes_unlock(&fs->nodes);
}

static void name_changed(struct fs *fs, uint64_t cookie, const char *name, uint32_t mask)
{
	struct node *parent, *node = find_child(fs, cookie, name, &parent);

	if (!node)
		return;
	if (node->kind == NODE_FILE)
		file_look(fs, node->file);
	else if (node->kind == NODE_REAL)
		real_changed(fs, parent, node, name, mask);
	fs_reference(fs, node, -1);
	fs_reference(fs, parent, -1);
}

static void changed(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	struct fs *fs = closure;
	char beside[NAME_MAX + 8];

	if (!cookie)
		everything_changed(fs);
	if (!cookie || !name)
		return;
	name_changed(fs, cookie, name, mask);
	for (size_t i = 0; i < ARRAY_SIZE(beside_suffixes) && fs_may_show(fs, name, true); i++) {
		snprintf(beside, sizeof(beside), "%s%s", name, beside_suffixes[i]);
		name_changed(fs, cookie, beside, mask);
	}
}

void outside_start(struct fs *fs)
{
	fs->watch = watch_new(changed, fs);
	if (!fs->watch)
		fuse_log(FUSE_LOG_WARNING,
			 "animfs: no inotify (%s): mapped files may show changes late\n",
			 strerror(errno));
}

void outside_end(struct fs *fs)
{
	watch_free(fs->watch);
	fs->watch = NULL;
}
