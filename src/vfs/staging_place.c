/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_place.c - puts the file that a staged folder becomes in the folder's place.
 *
 * When the new bytes are known, the folder is moved aside, and the file is put in its place. If
 * that fails, the folder is moved back; after a kill the next mount does so (state_on_its_way). If
 * a file has the name of the folder by then, the one made of it or another, the folder gets a
 * similar name. Files that other programs have put there are never replaced or removed.
 */
#include "clips.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/portable.h"
#include "lookup.h"
#include "staging_internal.h"
#include "store/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Renames within its folder of SOURCE; EEXIST rather than replace anything. */
static int staging_place_move_folder(const struct staged *f, const char *from, const char *to)
{
	return dirfd_rename(f->parent.fd, from, f->parent.fd, to, RENAME_NOREPLACE);
}

/* There is nothing aside any more, which the next mount would have to move back. */
static void leave_aside(struct staged *f)
{
	state_temporary_gone(f->v->state, f->above);
	f->is_aside = false;
}

/* A file has its name, which stays: gives the folder a similar unused name, and reports it. */
static void set_apart(struct staged *f)
{
	char name[NAME_MAX + 1], *path;
	int error = dirfd_rename_apart(f->parent.fd, f->aside, f->parent.fd, f->name, name);

	if (!error)
		leave_aside(f);
	if (asprintf(&path, "%s%s%s", f->above, f->above[0] ? "/" : "", error ? f->aside : name) <
	    0)
		return;
	diagnose(f->v, path, "not an animation yet", "a file has its name now");
	free(path);
}

/* ---- the rest of the folder ---- */

/* Moves a file to another filesystem. */
static void copy_upper(const struct staged *f, int from, const char *name, int to,
		       const char *stored)
{
	struct buf data = BUF_INIT;
	struct stat st;
	int fd, error = dirfd_read(from, name, f->v->options->store.max_file, &data, &st);

	if (!error)
		error = dirfd_open(to, stored, O_WRONLY | O_CREAT | O_EXCL, st.st_mode & 0777, &fd);
	if (!error) {
		if (fchown(fd, st.st_uid, st.st_gid) != 0)
			fchmod(fd, st.st_mode & S_IRWXU);
		error = dirfd_write(fd, buf_bytes(&data));
		close(fd);
		unlinkat(error ? to : from, error ? stored : name, 0);
	}
	buf_release(&data);
}

/*
 * Lists a folder's names, each with a NUL, before renaming any: readdir could show renamed ones
 * again.
 */
static void list_names(int folder, struct buf *out)
{
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(folder, "", &dir) != 0)
		return;
	while ((entry = dirfd_next(dir)))
		buf_add(out, entry->d_name, strlen(entry->d_name) + 1);
	closedir(dir);
}

#define DEPTH_MAX 64

/* Renames everything in a folder to the names used in the state directory. */
static void make_portable(int parent, const char *folder, unsigned depth)
{
	struct buf names = BUF_INIT;
	char stored[NAME_MAX + 1];
	const char *name;
	int fd;

	if (depth > DEPTH_MAX || dirfd_open(parent, folder, O_PATH | O_DIRECTORY, 0, &fd) != 0)
		return;
	list_names(fd, &names);
	for (size_t at = 0; at < names.size && !names.failed; at += strlen(name) + 1) {
		name = (const char *)names.data + at;
		if (portable_name(name, stored) != 0)
			continue;
		make_portable(fd, name, depth + 1);
		if (strcmp(stored, name) != 0)
			dirfd_rename(fd, name, fd, stored, RENAME_NOREPLACE);
	}
	buf_release(&names);
	close(fd);
}

static void keep_upper(const struct staged *f, int folder, const char *name, int to)
{
	char stored[NAME_MAX + 1];

	if (portable_name(name, stored) != 0)
		return;
	make_portable(folder, name, 0);
	if (renameat(folder, name, to, stored) != 0 && errno == EXDEV)
		copy_upper(f, folder, name, to, stored);
}

/* Moves all files but texts into the upper folder of that path. */
static void keep_all_upper(const struct staged *f, int folder, const char *path)
{
	struct dirent *entry;
	DIR *dir;
	int to;

	if (dirfd_list(folder, "", &dir) != 0)
		return;
	while ((entry = dirfd_next(dir))) {
		if (state_folder(f->v->state, STATE_UPPER, path, true, &to) != 0)
			continue;
		keep_upper(f, folder, entry->d_name, to);
		close(to);
	}
	closedir(dir);
}

/*
 * The file is in place. Removes used texts from the folder aside; the rest become ordinary files
 * beside the views, including whole folders that are not clips. If something cannot be moved there,
 * the folder stays, under a similar name.
 */
static void put_away(struct staged *f)
{
	char *path;

	texts_report(f->v, f->fd, f->path, &f->texts);
	texts_put_away(f->v, f->fd, f->path, f->raw_name, &f->texts);
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];

		if (!clip->made || asprintf(&path, "%s/%s", f->path, clip->label) < 0)
			continue;
		texts_report(f->v, clip->fd, path, &clip->texts);
		texts_put_away(f->v, clip->fd, path, NULL, &clip->texts);
		keep_all_upper(f, clip->fd, path);
		free(path);
		unlinkat(f->fd, clip->name, AT_REMOVEDIR);
	}
	keep_all_upper(f, f->fd, f->path);
	if (unlinkat(f->parent.fd, f->aside, AT_REMOVEDIR) == 0)
		leave_aside(f);
	else
		set_apart(f);
}

/* ---- the tree ---- */

static void adopt_clips(struct staged *f) REQUIRES(vfs_class)
{
	struct node *folder = f->staging->node;

	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		struct node *node = nodes_by_name(&f->v->nodes, folder, clip->name);

		if (!clip->made || !node || !node->thing->folder)
			continue;
		node_get(node);
		adopt_clip(f->v, node, f->animation, f->changes);
		adopt_forget_texts(f->v, node, &clip->texts, true, f->changes);
		node_put(&f->v->nodes, node);
	}
	adopt_forget_texts(f->v, folder, &f->texts, true, f->changes);
}

/*
 * The file is shown as a file (with its folder beside it): takes the name from the folder's node.
 */
static void staging_place_leave_name(struct staged *f) REQUIRES(vfs_class)
{
	const struct link *link = node_link(f->staging->node);
	const struct stat st = {.st_mode = S_IFDIR | f->as.mode, .st_nlink = 1};

	if (link)
		adopt_forget(f->v, link->parent, f->name, &st, f->changes);
}

static void adopt_file(struct staged *f) REQUIRES(writer_class)
{
	bool stays = stays_file(f->v, f->made->codec);

	vfs_lock(f->v);
	if (stays) {
		staging_place_leave_name(f);
	} else {
		adopt_folder(f->v, f->staging->node, THING_ANIMATION, f->animation, f->changes);
		adopt_clips(f);
	}
	vfs_unlock(f->v);
	for (size_t i = 0; i < f->clip_count && !stays; i++) {
		const struct clip_folder *clip = &f->clips[i];

		if (clip->made && strcmp(clip->label, clip->name) != 0)
			clip_follow(f->v, f->animation, clip->name, clip->label, f->made,
				    f->changes);
	}
}

/* ---- the disk ---- */

/* Moves the folder aside; ENOENT if another program has moved it. */
static int move_aside(struct staged *f)
{
	struct identity read, there;
	struct stat st;
	int error = identity_at(f->fd, "", &read, &st);

	if (!error)
		error = identity_at(f->parent.fd, f->name, &there, &st);
	if (!error && !identity_same(&read, &there))
		error = ENOENT;
	if (!error)
		error = state_on_its_way(f->v->state, f->above, f->name, f->aside);
	if (error)
		return error;
	f->is_aside = true;
	error = staging_place_move_folder(f, f->name, f->aside);
	if (error)
		leave_aside(f);
	return error;
}

static int move_back(struct staged *f)
{
	int error = f->is_aside ? staging_place_move_folder(f, f->aside, f->name) : 0;

	if (f->is_aside && !error)
		leave_aside(f);
	return error;
}

/*
 * While the file is written, or waits for another process, the folder is in its place, and renames
 * may go on.
 */
static void turn_release(void *staged)
{
	struct staged *f = staged;

	f->error = move_back(f);
	f->is_still = false;
	folders_let_move(f->v);
}

static int turn_acquire(void *staged)
{
	struct staged *f = staged;

	folders_hold_still(f->v);
	f->is_still = true;
	if (!f->error)
		f->error = move_aside(f);
	return f->error;
}

/* Between the two renames nothing has the name: lookups wait. */
static int put_in_place(struct staged *f)
{
	const struct turn turn = {turn_release, turn_acquire, f};
	bool put;

	f->where.turn = &turn;
	/* If the file differs from raw.*, it gets a new mtime, which rsync sees. */
	if (f->base && !version_same_bytes(f->base, f->made))
		f->as.has_mtime = false;
	put = source_put_new(f->animation->source, &f->where, f->base, f->made, &f->as, &f->err);
	f->where.turn = NULL;
	if (put)
		return 0;
	if (move_back(f) == EEXIST) {
		set_apart(f);
		err_clear(&f->err);
		return ENOENT;
	}
	if (!f->error)
		return errno_of(&f->err);
	err_clear(&f->err); /* that of the turn */
	return f->error;
}

/* ---- all of it ---- */

static int staging_place_open_parent(struct staged *f)
{
	int error = folder_open(f->v, f->node_above, &f->parent);

	f->where = (struct where){.dir = f->parent.fd, .folder = f->above, .name = f->name};
	return error;
}

static int become_file(struct staged *f) REQUIRES(staging_class)
{
	struct history_note note;
	struct program *by;
	int error;

	if (!staged_make_file(f))
		return errno_of(&f->err);
	by = staged_maker(f);
	note = program_note(by);
	f->where.note = &note;
	writer_lock(f->animation);
	error = put_in_place(f);
	/* Saves the skeleton while the file's name cannot change. */
	if (!error) {
		adopt_file(f);
		staged_save_skeleton(f);
	}
	if (f->is_still)
		folders_let_move(f->v);
	writer_unlock(f->animation);
	f->where.note = NULL;
	program_put(by);
	return error;
}

int staging_make_file(struct staged *f)
{
	int error = staged_open(f);

	if (!error)
		error = staging_place_open_parent(f);
	if (!error)
		error = staged_read_file(f);
	if (!error)
		error = become_file(f);
	if (!error)
		put_away(f);
	return error;
}
