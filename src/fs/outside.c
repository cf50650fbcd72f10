/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.c - changes that other programs make in SOURCE, seen by a watch on every folder in use.
 *
 * What is below an animation file is believed by the kernel until it is told otherwise, wherever
 * the file's folder is watched. Everything else is believed for TIMEOUT only, so that changes show
 * as well; but pages that somebody has mapped, or holds open, are dropped only when we say so.
 */
#include "../watch.h"
#include "fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#define CONTENT (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
#define NAMES (IN_CREATE | IN_DELETE | IN_MOVE)

void outside_watch(struct fs *fs, struct node *folder, int fd)
{
	if (!fs->watch || folder->watched)
		return;
	folder->watched = watch_add(fs->watch, fd, folder->id) == 0;
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
	if (error || !identity_same(&id, node_identity(node)))
		notify_entry(fs, parent, name);
	else if ((mask & CONTENT) && !has_writer(fs, node))
		notify_data(fs, node);
}

/*
 * What has the name is not known here, but two lookups at once, of which one found half a file, may
 * have left the kernel with a folder that has lost it.
 */
static void unknown_changed(struct fs *fs, uint64_t folder, const char *name, uint32_t mask)
{
	const struct node *parent;

	if (!(mask & (NAMES | IN_CLOSE_WRITE)) || !fs_may_show(fs, name, false))
		return;
	nodes_lock(&fs->nodes);
	parent = nodes_by_id(&fs->nodes, folder);
	if (parent)
		notify_entry(fs, parent, name);
	nodes_unlock(&fs->nodes);
}

static void name_changed(struct fs *fs, uint64_t cookie, const char *name, uint32_t mask)
{
	struct node *parent, *node = find_child(fs, cookie, name, &parent);

	if (!node) {
		unknown_changed(fs, cookie, name, mask);
		return;
	}
	if (node->kind == NODE_FILE && (mask & NAMES))
		notify_entry(fs, parent, name);
	if (node->kind == NODE_FILE)
		file_look(fs, node->file);
	else if (node->kind == NODE_REAL)
		real_changed(fs, parent, node, name, mask);
	fs_reference(fs, node, -1);
	fs_reference(fs, parent, -1);
}

/* With its folder, where that stands beside it. */
static void animation_changed(struct fs *fs, uint64_t folder, const char *name, uint32_t mask)
{
	char beside[NAME_MAX + 8];

	name_changed(fs, folder, name, mask);
	for (size_t i = 0; i < ARRAY_SIZE(beside_suffixes) && fs_may_show(fs, name, true); i++) {
		snprintf(beside, sizeof(beside), "%s%s", name, beside_suffixes[i]);
		name_changed(fs, folder, beside, mask);
	}
}

/* The animation files of a folder, or all there are (0), of which views are known; referenced. */
static struct node **shown_files(struct fs *fs, uint64_t folder)
{
	struct node **list, *n;
	size_t count = 0, at = 0;

	nodes_lock(&fs->nodes);
	list = calloc(fs->nodes.count + 1, sizeof(*list));
	while (list && (n = nodes_next(&fs->nodes, &at))) {
		if (n->kind != NODE_FILE || !n->file->members ||
		    (folder && (!node_link(n) || node_link(n)->parent->id != folder)))
			continue;
		n->references++;
		list[count++] = n;
	}
	nodes_unlock(&fs->nodes);
	return list;
}

static void look_at_files(struct fs *fs, uint64_t folder)
{
	struct node **list = shown_files(fs, folder);

	for (size_t i = 0; list && list[i]; i++) {
		file_look(fs, list[i]->file);
		fs_reference(fs, list[i], -1);
	}
	free(list);
}

/* Anything may have: nobody knows what was missed. */
static void everything_changed(struct fs *fs)
{
	struct node *n;
	size_t at = 0;

	nodes_lock(&fs->nodes);
	while ((n = nodes_next(&fs->nodes, &at))) {
		notify_data(fs, n);
		notify_names_of(fs, n);
	}
	nodes_unlock(&fs->nodes);
	look_at_files(fs, 0);
}

/* Nothing is heard of a folder any more: what is in it is not to be believed for long. */
static void unheard(struct fs *fs, uint64_t folder)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, folder);
	if (node)
		node->watched = false;
	nodes_unlock(&fs->nodes);
	look_at_files(fs, folder);
}

/* What files are shown with is in others beside them: texts and models of skeletons, bones' names.
 */
static void beside_changed(struct fs *fs, uint64_t folder, const char *name)
{
	char own[NAME_MAX + 1];
	size_t length;

	if (rest_is_shared(name)) {
		look_at_files(fs, folder);
	} else if (rest_is_own(name, &length)) {
		snprintf(own, sizeof(own), "%.*s", (int)length, name);
		animation_changed(fs, folder, own, 0);
	} else if (folder == NODE_ROOT && strcmp(name, NAMING_FILE) == 0) {
		look_at_files(fs, 0);
	}
}

/* The names in a folder are not what they were, for a kernel that remembers them. */
static void folder_changed(struct fs *fs, uint64_t folder)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, folder);
	if (node)
		notify_data(fs, node);
	nodes_unlock(&fs->nodes);
}

static void changed(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	struct fs *fs = closure;

	if (sharing_changed(fs, cookie, name, mask))
		return;
	if (!cookie)
		everything_changed(fs);
	else if (mask & IN_IGNORED)
		unheard(fs, cookie);
	/* Who may list a folder says whether models in it are found for everybody. */
	if (cookie && !name && (mask & IN_ATTRIB) && fs->options->allow_other)
		look_at_files(fs, cookie);
	if (!cookie || !name)
		return;
	if (fs->unopened_folders && ((mask & NAMES) || fs_may_show(fs, name, true)))
		folder_changed(fs, cookie);
	animation_changed(fs, cookie, name, mask);
	beside_changed(fs, cookie, name);
}

void outside_start(struct fs *fs)
{
	fs->watch = watch_new(changed, fs);
	if (!fs->watch)
		fuse_log(FUSE_LOG_WARNING,
			 "animfs: no inotify (%s): mapped files may show changes late\n",
			 strerror(errno));
	if (!fs->watch)
		return;
	outside_watch(fs, fs_node(fs, NODE_ROOT), fs->root);
	fs->heard = sharing_watch(fs) && fs_node(fs, NODE_ROOT)->watched;
}

bool outside_is_heard(const struct fs *fs)
{
	return fs->heard;
}

void outside_end(struct fs *fs)
{
	watch_free(fs->watch);
	fs->watch = NULL;
}
