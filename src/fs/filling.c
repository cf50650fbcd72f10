/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filling.c - folders that people make and fill with texts: in a file's folder to make a clip,
 * elsewhere, under the name of an animation file, to make that.
 *
 * While texts come such a folder is an ordinary one. When nobody did anything in it for two seconds
 * and nothing in it is open for writing, it becomes what its texts say. Those that cannot become
 * anything stay as they are, and are tried again after something in them was changed.
 *
 * Each is noted in the state directory, so that the next mount goes on where one was killed.
 */
#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was given to one of the files in the folder, or to the folder itself. */
struct gift {
	struct identity to;
	struct {
		uint64_t turn; /* 0: it was not; otherwise a later one has a higher number */
		pid_t by;
	} given[GIVEN_COUNT];
};

/* So many files are remembered, the latest: raw.* is among the first few of any folder. */
#define GIFTS_MAX 64

struct filling {
	struct filling *next;
	struct node *node; /* referenced */
	int64_t touched; /* when something happened there last; 0: it failed, and waits for that */
	uint64_t turns;
	struct gift own;
	struct gift *gifts; /* of files, the oldest first; NULL: none was given anything */
	size_t gift_count;
};

struct fillings {
	pthread_mutex_t work; /* one is finished after the other */
	pthread_mutex_t lock; /* of what follows */
	struct filling *first;
	_Atomic unsigned count;
};

struct fillings *fillings_new(void)
{
	struct fillings *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->work, NULL);
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void fillings_free(struct fillings *f)
{
	while (f && f->first) {
		struct filling *next = f->first->next;

		free(f->first->gifts);
		free(f->first);
		f->first = next;
	}
	free(f);
}

/* ---- the notes in the state directory ---- */

/* The folder of the note about `path`, and its name there, which points into path. */
static int open_notes(struct fs *fs, const char *path, bool make, const char **name, int *fd)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	int error = folder ? state_folder(fs->state, STATE_FILLING, folder, make, fd) : ENOMEM;

	*name = slash ? slash + 1 : path;
	free(folder);
	return error;
}

static int note(struct fs *fs, const char *path)
{
	const char *name;
	int folder, fd, error = open_notes(fs, path, true, &name, &folder);

	if (error)
		return error;
	error = at_open(folder, name, O_WRONLY | O_CREAT, 0600, &fd);
	if (!error)
		close(fd);
	close(folder);
	return error;
}

static void forget_note(struct fs *fs, const char *path)
{
	const char *name;
	int folder;

	if (open_notes(fs, path, false, &name, &folder) != 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}

static int path_of(struct fs *fs, const struct node *node, struct buf *path)
{
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(node, path);
	nodes_unlock(&fs->nodes);
	return error;
}

/* ---- which there are ---- */

/* The folder that the node is, or is in. Wants the nodes' lock. */
static struct node *find_above(const struct node *node)
{
	while (node && node->kind == NODE_REAL && !node->filling)
		node = node_link(node) ? node_link(node)->parent : NULL;
	return node && node->filling ? (struct node *)node : NULL;
}

bool filling_has(struct fs *fs, const struct node *node)
{
	bool has;

	if (!fs->fillings->count)
		return false;
	nodes_lock(&fs->nodes);
	has = find_above(node) != NULL;
	nodes_unlock(&fs->nodes);
	return has;
}

bool filling_wanted(struct fs *fs, const struct node *parent, const char *name)
{
	const struct codec *codec;
	bool probe;

	if (parent->kind == NODE_FILE)
		return name[0] != '.';
	return parent->kind == NODE_REAL && parent->area == AREA_SOURCE &&
	       store_claims(fs->store, name, &codec, &probe) && !probe && !filling_has(fs, parent);
}

int filling_begin(struct fs *fs, struct node *folder)
{
	struct filling *filling = calloc(1, sizeof(*filling));
	struct buf path = BUF_INIT;
	int error = filling ? path_of(fs, folder, &path) : ENOMEM;

	if (!error)
		error = note(fs, (const char *)path.data);
	buf_release(&path);
	if (error) {
		free(filling);
		return error;
	}
	filling->node = folder;
	filling->touched = clock_ms();
	folder->filling = true;
	fs_reference(fs, folder, 1);
	pthread_mutex_lock(&fs->fillings->lock);
	filling->next = fs->fillings->first;
	fs->fillings->first = filling;
	fs->fillings->count++;
	pthread_mutex_unlock(&fs->fillings->lock);
	notify_fillings(fs);
	return 0;
}

/* Takes it off the list. */
static void drop(struct fs *fs, struct node *folder)
{
	struct filling **at, *filling;

	pthread_mutex_lock(&fs->fillings->lock);
	for (at = &fs->fillings->first; *at && (*at)->node != folder; at = &(*at)->next)
		;
	filling = *at;
	if (filling) {
		*at = filling->next;
		fs->fillings->count--;
	}
	pthread_mutex_unlock(&fs->fillings->lock);
	folder->filling = false;
	if (filling) {
		fs_reference(fs, folder, -1);
		free(filling->gifts);
	}
	free(filling);
}

void filling_forget(struct fs *fs, struct node *folder, const char *path)
{
	if (!folder->filling)
		return;
	forget_note(fs, path);
	drop(fs, folder);
}

void filling_noted(struct fs *fs, const char *path)
{
	char aside[NAME_MAX + sizeof(FILLED)];
	const char *name;
	int notes;

	if (open_notes(fs, path, false, &name, &notes) == 0) {
		snprintf(aside, sizeof(aside), "%.*s%s", NAME_MAX, name, FILLED);
		if (renameat(notes, name, notes, aside) != 0)
			unlinkat(notes, name, 0);
		close(notes);
	}
}

void filling_made(struct fs *fs, struct node *folder, const char *path)
{
	filling_noted(fs, path);
	drop(fs, folder);
}

void filling_put_away(struct fs *fs, const char *path)
{
	char *aside;

	if (asprintf(&aside, "%s%s", path, FILLED) < 0)
		return;
	forget_note(fs, aside);
	free(aside);
}

static void touch(struct fs *fs, const struct node *folder, int64_t when)
{
	pthread_mutex_lock(&fs->fillings->lock);
	for (struct filling *f = fs->fillings->first; f; f = f->next) {
		if (f->node == folder)
			f->touched = when;
	}
	pthread_mutex_unlock(&fs->fillings->lock);
}

void filling_touch(struct fs *fs, const struct node *node)
{
	const struct node *folder;

	if (!fs->fillings->count)
		return;
	nodes_lock(&fs->nodes);
	folder = find_above(node);
	nodes_unlock(&fs->nodes);
	if (!folder)
		return;
	touch(fs, folder, clock_ms());
	notify_fillings(fs);
}

/* ---- what is given ---- */

static struct gift *find_gift(const struct filling *f, const struct identity *to)
{
	for (size_t i = 0; i < f->gift_count; i++) {
		if (identity_same(&f->gifts[i].to, to))
			return &f->gifts[i];
	}
	return NULL;
}

/* Where there is no memory nothing is known of it: as after a kill. */
static struct gift *need_gift(struct filling *f, const struct identity *to)
{
	struct gift *gift = find_gift(f, to);

	if (gift)
		return gift;
	if (!f->gifts)
		f->gifts = calloc(GIFTS_MAX, sizeof(*f->gifts));
	if (!f->gifts)
		return NULL;
	if (f->gift_count == GIFTS_MAX)
		memmove(f->gifts, f->gifts + 1, --f->gift_count * sizeof(*f->gifts));
	gift = &f->gifts[f->gift_count++];
	*gift = (struct gift){.to = *to};
	return gift;
}

static void give(struct filling *f, const struct identity *to, unsigned what, pid_t by)
{
	struct gift *gift = to ? need_gift(f, to) : &f->own;

	f->turns++;
	/* Its inode number may have been another's. */
	if (gift && (what & 1u << GIVEN_MADE))
		memset(gift->given, 0, sizeof(gift->given));
	for (unsigned i = 0; gift && i < GIVEN_COUNT; i++) {
		if (!(what & 1u << i))
			continue;
		gift->given[i].turn = f->turns;
		gift->given[i].by = by;
	}
}

/* Wants the list's lock. */
static struct filling *find_filling(const struct fs *fs, const struct node *folder)
{
	struct filling *f = fs->fillings->first;

	while (f && f->node != folder)
		f = f->next;
	return f;
}

void filling_given(fuse_req_t req, const struct node *node, unsigned what)
{
	struct fs *fs = fs_of(req);
	const struct node *folder;
	struct identity to = {0};
	struct filling *f;
	bool direct;

	if (!fs->fillings->count)
		return;
	nodes_lock(&fs->nodes);
	folder = find_above(node);
	direct = folder && node_link(node) && node_link(node)->parent == folder && !node->folder;
	if (direct)
		to = *node_identity(node);
	nodes_unlock(&fs->nodes);
	if (folder && (direct || folder == node)) {
		pthread_mutex_lock(&fs->fillings->lock);
		f = find_filling(fs, folder);
		if (f)
			give(f, direct ? &to : NULL, what, fuse_req_ctx(req)->pid);
		pthread_mutex_unlock(&fs->fillings->lock);
	}
	filling_touch(fs, node);
}

static enum say decide(const struct gift *folder, const struct gift *raw, enum given what)
{
	bool of_folder = folder->given[what].turn, of_raw = raw && raw->given[what].turn;
	enum given of = what;

	/* A mode with which raw.* was made is one, but not against who closed the folder before. */
	if (what == GIVEN_MODE && of_folder && !of_raw && raw) {
		of = GIVEN_MADE;
		of_raw = raw->given[of].turn;
		if (of_raw && folder->given[what].by != raw->given[of].by &&
		    folder->given[what].turn < raw->given[of].turn)
			return SAY_NOBODY;
	}
	if (!of_folder || !of_raw)
		return of_raw ? SAY_RAW : of_folder ? SAY_FOLDER : SAY_NOBODY;
	return folder->given[what].by != raw->given[of].by &&
			       folder->given[what].turn > raw->given[of].turn
		       ? SAY_FOLDER
		       : SAY_RAW;
}

enum say filling_say(struct fs *fs, const struct node *folder, const struct identity *raw,
		     enum given what)
{
	enum say say = SAY_NOBODY;
	struct filling *f;

	pthread_mutex_lock(&fs->fillings->lock);
	f = find_filling(fs, folder);
	if (f)
		say = decide(&f->own, raw ? find_gift(f, raw) : NULL, what);
	pthread_mutex_unlock(&fs->fillings->lock);
	return say;
}

/* ---- the end ---- */

void node_become_folder(struct fs *fs, struct node *node, enum node_kind kind, struct file *file)
{
	const struct link *link = node_link(node);

	nodes_leave_identity(&fs->nodes, node);
	folder_forget(&fs->folders, node);
	if (kind == NODE_FILE)
		node->file = file;
	else
		node_join_file(node, file);
	if (link)
		node->shown_ino = fs_virtual_ino(link->parent, link->name);
	node->kind = (uint8_t)kind;
}

/* Is a file in it open for writing? */
static bool is_busy(struct fs *fs, const struct node *folder)
{
	const struct node *n;
	bool busy = false;
	size_t at = 0;

	nodes_lock(&fs->nodes);
	while (!busy && (n = nodes_next(&fs->nodes, &at))) {
		for (struct handle *h = n->handles; h && !busy; h = h->next_of_node)
			busy = handle_writes(h) && find_above(n) == folder;
	}
	nodes_unlock(&fs->nodes);
	return busy;
}

/* The folder becomes what its texts say; one without texts is an ordinary one from now on. */
static int finish_now(struct fs *fs, struct node *folder)
{
	struct changes changes = CHANGES_NONE;
	struct buf path = BUF_INIT;
	struct node *parent = NULL;
	int error = path_of(fs, folder, &path);

	nodes_lock(&fs->nodes);
	if (node_link(folder))
		parent = node_link(folder)->parent;
	nodes_unlock(&fs->nodes);
	if (!error && parent)
		error = parent->kind == NODE_FILE ? fill_make_clip(fs, folder, &changes)
						  : fill_make_file(fs, folder);
	changes_tell(fs, &changes);
	if (!error || error == ENODATA || error == ENOENT) {
		if (path.data)
			forget_note(fs, (const char *)path.data);
		drop(fs, folder);
	} else {
		touch(fs, folder, 0);
	}
	buf_release(&path);
	return error == ENODATA ? 0 : error;
}

static int finish(struct fs *fs, struct node *folder)
{
	int error;

	pthread_mutex_lock(&fs->fillings->work);
	error = folder->filling ? finish_now(fs, folder) : 0;
	pthread_mutex_unlock(&fs->fillings->work);
	return error;
}

/* One that is due, referenced; `above`: that is in this folder, or is it. */
static struct node *next_due(struct fs *fs, int64_t before, const struct node *above)
{
	struct node *due = NULL;

	pthread_mutex_lock(&fs->fillings->lock);
	for (struct filling *f = fs->fillings->first; f && !due; f = f->next) {
		if (!f->touched || f->touched > before)
			continue;
		nodes_lock(&fs->nodes);
		if (!above || f->node == above ||
		    (node_link(f->node) && node_link(f->node)->parent == above)) {
			due = f->node;
			due->references++;
		}
		nodes_unlock(&fs->nodes);
	}
	pthread_mutex_unlock(&fs->fillings->lock);
	return due;
}

static bool are_waiting(struct fs *fs)
{
	bool waiting = false;

	pthread_mutex_lock(&fs->fillings->lock);
	for (struct filling *f = fs->fillings->first; f; f = f->next)
		waiting |= f->touched != 0;
	pthread_mutex_unlock(&fs->fillings->lock);
	return waiting;
}

bool fillings_end(struct fs *fs, int64_t now)
{
	struct node *folder;

	while ((folder = next_due(fs, now - BURST_MS, NULL))) {
		if (is_busy(fs, folder))
			touch(fs, folder, now);
		else
			finish(fs, folder);
		fs_reference(fs, folder, -1);
	}
	return are_waiting(fs);
}

int fillings_finish(struct fs *fs, const struct node *above)
{
	struct node *folder;
	int first = 0;

	while ((folder = next_due(fs, INT64_MAX, above))) {
		int error = finish(fs, folder);

		first = first ? first : error;
		fs_reference(fs, folder, -1);
	}
	return first;
}

/* ---- what an earlier mount left ---- */

/* "a.canm.animfs-filled~": a.canm was made. */
static bool resume_aside(struct fs *fs, const char *path)
{
	size_t length = strlen(path), behind = strlen(FILLED);
	char *made;

	if (length < behind || strcmp(path + length - behind, FILLED) != 0)
		return false;
	made = strndup(path, length - behind);
	if (made)
		fill_recover_rest(fs, made);
	free(made);
	return true;
}

static void resume(struct fs *fs, const char *path)
{
	struct node *node = nodes_by_id(&fs->nodes, NODE_ROOT);
	struct fuse_entry_param entry = {.ino = NODE_ROOT};
	char name[NAME_MAX + 1];
	fuse_ino_t above;

	if (resume_aside(fs, path))
		return;
	fill_recover(fs, path);
	fs_reference(fs, node, 1);
	for (const char *p = path; *p && node; p += strcspn(p, "/"), p += *p == '/') {
		struct node *next = NULL;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, "/"), p);
		if (fs_lookup(fs, node, name, &entry) == 0) {
			above = entry.ino;
			next = fs_node(fs, above);
			fs_reference(fs, next, 1);
			fs_forget(fs, above, 1);
		}
		fs_reference(fs, node, -1);
		node = next;
	}
	if (node && node->kind == NODE_REAL && node->folder)
		filling_begin(fs, node);
	else
		forget_note(fs, path);
	if (node)
		fs_reference(fs, node, -1);
}

/* Notes are files; folders without one are left over. */
static void resume_in(struct fs *fs, int folder, const char *path)
{
	DIR *dir = fdopendir(folder);
	struct dirent *entry;
	char *below;
	int fd;

	if (!dir) {
		close(folder);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    asprintf(&below, "%s%s%s", path, *path ? "/" : "", entry->d_name) < 0)
			continue;
		if (at_open(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY, 0, &fd) == 0) {
			resume_in(fs, fd, below);
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		} else {
			resume(fs, below);
		}
		free(below);
	}
	closedir(dir);
}

void fillings_resume(struct fs *fs)
{
	int folder, fd = -1;

	if (fs->read_only || state_folder(fs->state, STATE_FILLING, "", false, &folder) != 0)
		return;
	(void)at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd);
	close(folder);
	if (fd < 0)
		return;
	resume_in(fs, fd, "");
	fillings_finish(fs, NULL);
}
