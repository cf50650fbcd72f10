/* SPDX-License-Identifier: GPL-3.0-or-later */
/* change.c - names that come and go. */
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fs_own(fuse_req_t req, int folder, const char *name)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	char path[AT_PROC_SIZE];
	struct stat parent, st;
	gid_t gid = ctx->gid;
	int fd;

	if (geteuid() != 0 || (ctx->uid == 0 && ctx->gid == 0) ||
	    at_open(folder, name, O_PATH, 0, &fd) != 0)
		return;
	if (fstat(folder, &parent) == 0 && (parent.st_mode & S_ISGID))
		gid = parent.st_gid;
	/* A change of owner takes set-id bits away; programs are set-gid only to one's own groups.
	 */
	if (fstat(fd, &st) == 0 && fchownat(fd, "", ctx->uid, gid, AT_EMPTY_PATH) == 0 &&
	    S_ISREG(st.st_mode) && (st.st_mode & (S_ISUID | S_ISGID)) &&
	    at_proc_path(fd, NULL, path, sizeof(path)) == 0) {
		if ((st.st_mode & S_IXGRP) && !acl_in_group(req, gid))
			st.st_mode &= ~(mode_t)S_ISGID;
		chmod(path, st.st_mode & 07777);
	}
	close(fd);
}

int fs_slot(struct fs *fs, fuse_ino_t parent, const char *name, struct slot *slot)
{
	struct file *file;
	struct snap *snap;
	int error;

	*slot = (struct slot){.parent = fs_node(fs, parent)};
	if (fs->read_only)
		return EROFS;
	if (slot->parent->kind == NODE_CONTROL ||
	    (slot->parent->id == NODE_ROOT && strcmp(name, CONTROL) == 0))
		return EPERM;
	if (!node_is_virtual(slot->parent))
		return 0;
	file = fs_lock_file(fs, slot->parent);
	if (!file)
		return ESTALE;
	error = fs_snap(fs, file, &snap);
	if (!error) {
		error = fs_find_view(fs, snap, slot->parent, name, &slot->place);
		slot->is_view = error == 0;
		slot->present = slot->is_view && !file_is_away(file, slot->parent, name);
		error = error == ENOMEM ? ENOMEM : 0;
		snap_put(snap);
	}
	fs_unlock_file(fs, file);
	return error;
}

/* For things that cannot stand under a view's name. */
static int slot_for_other(struct fs *fs, fuse_ino_t parent, const char *name, struct slot *slot)
{
	int error = fs_slot(fs, parent, name, slot);

	if (error)
		return error;
	return slot->present ? EEXIST : slot->is_view ? EPERM : 0;
}

/* fill: it is a folder that is to become something. */
static void reply_made(fuse_req_t req, struct fs *fs, struct node *parent, enum node_area area,
		       struct folder *folder, const char *name, int error, bool fill)
{
	struct fuse_entry_param entry;
	bool made = !error;

	if (!error)
		error = fs_entry_real(fs, parent, area, folder->fd, name, &entry);
	if (!error && fill) {
		error = filling_begin(fs, fs_node(fs, entry.ino));
		if (error)
			fs_forget(fs, entry.ino, 1);
	}
	/* An ordinary folder is not what was asked for. */
	if (error && made && fill)
		unlinkat(folder->fd, name, AT_REMOVEDIR);
	folder_close(&fs->folders, folder);
	if (!error)
		filling_touch(fs, parent);
	if (!error && !fill)
		filling_given(req, fs_node(fs, entry.ino), 1u << GIVEN_MADE);
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &entry);
}

static int make_node(fuse_req_t req, struct fs *fs, struct node *parent, const char *name,
		     mode_t mode, dev_t rdev, struct folder *folder)
{
	enum node_area area = fs_area_for(parent);
	int error = node_is_virtual(parent) && !S_ISREG(mode) ? EPERM : 0;

	if (!error)
		error = extra_grow(fs, area, EXTRA_ENTRY);
	if (!error)
		error = fs_folder(fs, parent, area, true, folder);
	if (error)
		return error;
	if (mknodat(folder->fd, name, acl_mode(req, folder->fd, mode), rdev) != 0)
		return errno;
	fs_own(req, folder->fd, name);
	return 0;
}

/* What is to be a text is often made so first: tar --xattrs gives attributes before the bytes. */
void fs_mknod(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode, dev_t rdev)
{
	struct fs *fs = fs_of(req);
	struct folder folder = FOLDER_NONE;
	struct fuse_entry_param entry;
	struct slot slot;
	int error = fs_slot(fs, ino, name, &slot);

	if (!error && slot.present)
		error = EEXIST;
	if (!error && slot.is_view && (!S_ISREG(mode) || slot.place.kind != PLACE_VIEW))
		error = EPERM;
	if (!error && slot.is_view) {
		error = fs_make_view(req, slot.parent, name, &slot.place, &entry);
		if (!error) {
			fuse_reply_entry(req, &entry);
			return;
		}
	}
	if (!error)
		error = make_node(req, fs, slot.parent, name, mode, rdev, &folder);
	reply_made(req, fs, slot.parent, fs_area_for(slot.parent), &folder, name, error, false);
}

/* A folder that was removed, made anew: it is there again, and what is away in it stays so. */
static void bring_back(fuse_req_t req, struct fs *fs, struct node *parent, const char *name)
{
	struct file *file = fs_lock_file(fs, parent);
	struct fuse_entry_param entry;
	struct node *was;
	int error;

	if (!file) {
		fuse_reply_err(req, ESTALE);
		return;
	}
	was = file_folder_away(file, parent, name);
	if (was)
		fs_reference(fs, was, 1);
	file_clear_away(file, &fs->nodes, parent, name);
	file_unlock(file);
	error = fs_lookup(fs, parent, name, &entry);
	if (was && !error) {
		file_lock(file);
		file_move_away(file, &fs->nodes, was, fs_node(fs, entry.ino));
		file_touch(fs, file);
		file_unlock(file);
	}
	if (was)
		fs_reference(fs, was, -1);
	fs_file_put(fs, file);
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &entry);
}

void fs_mkdir(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct folder folder = FOLDER_NONE;
	enum node_area area;
	struct slot slot;
	int error = fs_slot(fs, ino, name, &slot);
	bool fill;

	if (!error && slot.is_view && !slot.present && slot.place.kind != PLACE_VIEW) {
		bring_back(req, fs, slot.parent, name);
		return;
	}
	if (!error && slot.is_view)
		error = slot.present ? EEXIST : EPERM;
	fill = !error && filling_wanted(fs, slot.parent, name);
	if (fill && slot.parent->kind == NODE_FILE)
		error = clip_check_new(fs, slot.parent->file, name);
	area = fs_area_for(slot.parent);
	if (!error)
		error = extra_grow(fs, area, EXTRA_ENTRY);
	if (!error)
		error = fs_folder(fs, slot.parent, area, true, &folder);
	if (!error) {
		mode = acl_mode(req, folder.fd, mode);
		error = mkdirat(folder.fd, name, mode) == 0 ? 0 : errno;
		if (!error)
			fs_own(req, folder.fd, name);
	}
	reply_made(req, fs, slot.parent, area, &folder, name, error, fill);
}

void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t ino, const char *name)
{
	struct fs *fs = fs_of(req);
	struct folder folder = FOLDER_NONE;
	enum node_area area;
	struct slot slot;
	int error = slot_for_other(fs, ino, name, &slot);

	area = fs_area_for(slot.parent);
	if (!error)
		error = extra_grow(fs, area, EXTRA_ENTRY);
	if (!error)
		error = fs_folder(fs, slot.parent, area, true, &folder);
	if (!error) {
		error = symlinkat(target, folder.fd, name) == 0 ? 0 : errno;
		if (!error)
			fs_own(req, folder.fd, name);
	}
	reply_made(req, fs, slot.parent, area, &folder, name, error, false);
}

/* ---- link ---- */

static int link_real(struct fs *fs, struct node *node, struct node *parent, const char *name,
		     struct fuse_entry_param *entry)
{
	enum node_area area = fs_area_for(parent);
	char old_name[NAME_MAX + 1];
	struct folder from, to;
	struct stat st;
	int error = fs_where(fs, node, &from, old_name, &st);

	if (error)
		return error;
	error = fs_folder(fs, parent, area, true, &to);
	if (!error) {
		error = linkat(from.fd, old_name, to.fd, name, 0) == 0 ? 0 : errno;
		if (!error)
			error = fs_entry_real(fs, parent, area, to.fd, name, entry);
		folder_close(&fs->folders, &to);
	}
	folder_close(&fs->folders, &from);
	return error;
}

/* A view has no second name: what is made is a copy of its text. */
static int link_view(fuse_req_t req, struct fs *fs, struct node *node, struct node *parent,
		     const char *name, struct fuse_entry_param *entry)
{
	struct file *file = fs_lock_file(fs, node);
	struct folder folder;
	int error;

	if (!file)
		return ESTALE;
	error = view_write_out(fs, node, parent, name, true);
	fs_unlock_file(fs, file);
	if (!error)
		error = fs_folder(fs, parent, fs_area_for(parent), false, &folder);
	if (error)
		return error;
	fs_own(req, folder.fd, name);
	error = fs_entry_real(fs, parent, fs_area_for(parent), folder.fd, name, entry);
	folder_close(&fs->folders, &folder);
	return error;
}

/* A link onto a view that is away saves the text. */
static int link_onto_view(fuse_req_t req, struct fs *fs, struct node *node, const struct slot *slot,
			  const char *name, struct fuse_entry_param *entry)
{
	struct changes changes = CHANGES_NONE;
	struct buf text = BUF_INIT;
	struct node *view = NULL;
	struct caller *who = NULL;
	struct draft *draft;
	struct file *file;
	int error = node_text(fs, node, &text);

	if (!error)
		error = access_caller(req, &who);
	file = error ? NULL : fs_lock_file(fs, slot->parent);
	if (!error && !file) {
		free(who);
		error = ESTALE;
	}
	if (!error) {
		error = text_save(fs, slot->parent, name, &text, who, &draft, &changes);
		if (!error) {
			file_clear_away(file, &fs->nodes, slot->parent, name);
			error = fs_view_node(fs, slot->parent, name, &slot->place, &view);
			if (error)
				draft_free(draft);
			else
				view->draft = draft;
		}
		fs_unlock_file(fs, file);
	}
	changes.locked[0] = slot->parent->id;
	changes_tell(fs, &changes);
	changes_tell_rest(fs, &changes); /* the notifier waits for the reply */
	buf_release(&text);
	if (error)
		return error;
	error = fs_entry(fs, view, entry);
	fs_reference(fs, view, -1);
	return error;
}

/* Will somebody read there what it says? */
static bool takes_text(struct fs *fs, const struct node *node, const struct slot *slot)
{
	return slot->is_view || node->kind == NODE_VIEW || node_is_virtual(slot->parent) ||
	       filling_has(fs, slot->parent);
}

void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t new_parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	struct fuse_entry_param entry;
	struct slot slot;
	int error = fs_slot(fs, new_parent, name, &slot);

	if (!error && slot.present)
		error = EEXIST;
	if (!error && slot.is_view && slot.place.kind != PLACE_VIEW)
		error = EPERM;
	if (!error && takes_text(fs, node, &slot))
		error = acl_check_read(req, node);
	if (error)
		;
	else if (slot.is_view)
		error = link_onto_view(req, fs, node, &slot, name, &entry);
	else if (node->kind == NODE_VIEW)
		error = link_view(req, fs, node, slot.parent, name, &entry);
	else if (node->kind == NODE_REAL)
		error = link_real(fs, node, slot.parent, name, &entry);
	else
		error = EPERM;
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &entry);
}

/* ---- unlink, rmdir ---- */

void fs_lose_name(struct fs *fs, struct node *parent, const char *name, const struct stat *st)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, name);
	if (node)
		node->references++;
	nodes_unlink(&fs->nodes, parent, name);
	nodes_unlock(&fs->nodes);
	if (!node)
		return;
	if (st)
		fs_lost_name(fs, node, st);
	if (node->folder)
		folder_forget(&fs->folders, node);
	fs_reference(fs, node, -1);
}

/* Is it still what the kernel means? Otherwise it is to look the name up again. */
static int check_known(struct fs *fs, struct node *parent, const char *name,
		       const struct identity *id)
{
	const struct node *node;
	bool known;

	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, name);
	known = node && (node->kind != NODE_REAL || identity_same(node_identity(node), id));
	nodes_unlock(&fs->nodes);
	return known ? 0 : ESTALE;
}

/* A folder that was to become something is removed. */
static void forget_filling(struct fs *fs, struct node *parent, const char *name)
{
	struct node *node = fs_child(fs, parent, name);
	struct buf path = BUF_INIT;

	if (node && node->filling && fs_path(fs, parent, name, &path) == 0)
		filling_forget(fs, node, (const char *)path.data);
	buf_release(&path);
	if (node)
		fs_reference(fs, node, -1);
}

/* The name's real file, in the first area that has it. */
static int unlink_real(struct fs *fs, struct node *parent, const char *name, int flags)
{
	static const enum node_area virtual_areas[] = {AREA_EXTRA, AREA_REJECTED};
	const enum node_area own = (enum node_area)parent->area;
	const enum node_area *areas = node_is_virtual(parent) ? virtual_areas : &own;
	size_t count = node_is_virtual(parent) ? ARRAY_SIZE(virtual_areas) : 1;
	struct identity id;
	struct stat st;
	int held = -1, error = ENOENT;

	for (size_t i = 0; i < count && error == ENOENT; i++) {
		struct folder folder;

		error = fs_folder(fs, parent, areas[i], false, &folder);
		if (error)
			continue;
		error = identity_at(folder.fd, name, &id, &st);
		if (!error)
			error = check_known(fs, parent, name, &id);
		if (!error && (flags & AT_REMOVEDIR))
			held = folder_hold(fs, folder.fd, name);
		if (!error)
			error = unlinkat(folder.fd, name, flags) == 0 ? 0 : errno;
		folder_close(&fs->folders, &folder);
	}
	folder_let_go(fs, error ? NULL : parent, name, held);
	if (!error) {
		filling_touch(fs, parent);
		forget_filling(fs, parent, name);
		fs_lose_name(fs, parent, name, &st);
	}
	return error;
}

static int unlink_view(struct fs *fs, struct node *parent, const char *name)
{
	struct file *file = fs_lock_file(fs, parent);
	int error = 0;

	if (!file)
		return ESTALE;
	if (!file_set_away(file, &fs->nodes, parent, name))
		error = ENOMEM;
	file_touch(fs, file);
	fs_unlock_file(fs, file);
	if (!error)
		fs_lose_name(fs, parent, name, NULL);
	return error;
}

void fs_unlink(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct fs *fs = fs_of(req);
	struct slot slot;
	int error = fs_slot(fs, ino, name, &slot);

	if (!error && slot.present)
		error = slot.place.kind == PLACE_VIEW ? unlink_view(fs, slot.parent, name) : EISDIR;
	else if (!error)
		error = unlink_real(fs, slot.parent, name, 0);
	fuse_reply_err(req, error);
}

/*
 * A folder can be removed when what is in it was. It is away then; a clip leaves the file when the
 * burst ends, bones/ and frames/ come back.
 */
static int rmdir_virtual(struct fs *fs, struct node *parent, const char *name)
{
	struct file *file;
	struct node *node;
	int error;

	node = fs_child(fs, parent, name);
	if (!node)
		return ENOENT;
	error = fs_check_empty(fs, node);
	if (!error)
		mirrors_remove(fs, parent, name);
	file = error ? NULL : fs_lock_file(fs, parent);
	if (!error && !file)
		error = ESTALE;
	if (!error) {
		error = file_set_folder_away(file, &fs->nodes, node, parent, name) ? 0 : ENOMEM;
		file_touch(fs, file);
		fs_unlock_file(fs, file);
	}
	if (!error)
		fs_lose_name(fs, parent, name, NULL);
	fs_reference(fs, node, -1);
	return error;
}

static int unlink_file(struct fs *fs, struct node *parent, const char *name, struct file *file)
{
	struct folder folder;
	int error = folder_open(&fs->folders, parent, &folder);

	if (error)
		return error;
	error = source_remove(file->source, folder.fd);
	folder_close(&fs->folders, &folder);
	if (!error)
		fs_lose_name(fs, parent, name, NULL);
	return error;
}

/*
 * The folder of an animation file, in which everything was removed: that removes the file. Beside
 * the file the folder is only away, for whoever removes both.
 */
static int rmdir_file(struct fs *fs, struct node *parent, const char *name, struct node *node)
{
	struct file *file = node->file;
	int error = fs_check_empty(fs, node);

	if (error)
		return error;
	mirrors_remove(fs, parent, file->name);
	if (strcmp(file->name, name) == 0)
		error = unlink_file(fs, parent, name, file);
	file_lock(file);
	if (strcmp(file->name, name) == 0 && !error)
		file_come_back(fs, file);
	else if (!error)
		error = file_set_folder_away(file, &fs->nodes, node, parent, name) ? 0 : ENOMEM;
	file_touch(fs, file);
	file_unlock(file);
	return error;
}

/* The folder of an animation file that is shown under this name; referenced, or NULL. */
static struct node *file_shown(struct fs *fs, struct node *parent, const char *name)
{
	struct node *node = parent->kind == NODE_REAL ? fs_child(fs, parent, name) : NULL;

	if (!node || node->kind == NODE_FILE)
		return node;
	fs_reference(fs, node, -1);
	return NULL;
}

void fs_rmdir(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct fs *fs = fs_of(req);
	struct node *node = NULL;
	struct slot slot;
	int error = fs_slot(fs, ino, name, &slot);

	if (!error)
		node = file_shown(fs, slot.parent, name);
	if (node)
		error = rmdir_file(fs, slot.parent, name, node);
	else if (!error && slot.present)
		error = slot.place.kind == PLACE_VIEW ? ENOTDIR
						      : rmdir_virtual(fs, slot.parent, name);
	else if (!error)
		error = unlink_real(fs, slot.parent, name, AT_REMOVEDIR);
	if (node)
		fs_reference(fs, node, -1);
	fuse_reply_err(req, error);
}
