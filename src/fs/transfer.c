/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transfer.c - texts that move between views and ordinary files. */
#include "fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_real(struct fs *fs, struct node *node, struct buf *text)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	struct stat st;
	int error = fs_where(fs, node, &folder, name, &st);

	if (error)
		return error;
	error = at_read(folder.fd, name, fs->options->max_text, text, &st);
	folder_close(&fs->folders, &folder);
	return error;
}

int node_text(struct fs *fs, struct node *node, struct buf *text)
{
	struct draft *draft;
	struct file *file;
	int error;

	if (node->kind != NODE_REAL && node->kind != NODE_VIEW)
		return EPERM;
	file = node->kind == NODE_VIEW ? fs_lock_file(fs, node) : NULL;
	if (!file)
		return read_real(fs, node, text);
	error = view_text(fs, node, &draft);
	if (!error) {
		buf_add(text, draft->text.data, draft->text.size);
		error = text->failed ? ENOMEM : 0;
	}
	view_settle(fs, node);
	fs_unlock_file(fs, file);
	return error;
}

int text_save(struct fs *fs, struct node *parent, const char *name, struct buf *text,
	      struct caller *who, struct draft **out, struct changes *changes)
{
	struct place place;
	struct snap *snap;
	int error = fs_snap(fs, parent->file, &snap);

	*out = error ? NULL : draft_new();
	if (*out)
		draft_save_for(*out, who);
	else
		free(who);
	if (error)
		return error;
	if (!*out)
		error = ENOMEM;
	else if (!fs_is_view(fs, snap, parent, name, &place) || place.kind != PLACE_VIEW)
		error = ENOENT;
	if (!error) {
		draft_begin(*out, snap, &place);
		draft_replace(*out, text);
		error = draft_save(fs, *out, DRAFT_DEMAND, parent, name, NULL, changes);
		if (error)
			buf_add(text, (*out)->text.data, (*out)->text.size);
		draft_end(*out);
	}
	snap_put(snap);
	if (error) {
		draft_free(*out);
		*out = NULL;
	}
	return error;
}

/* Into a folder of SOURCE, or what belongs to a virtual one. */
static int put_text(struct fs *fs, const struct node *parent, int folder, const char *name,
		    mode_t mode, struct bytes text, unsigned how)
{
	struct buf path = BUF_INIT;
	int error = 0;

	if (fs_area_for(parent) == AREA_SOURCE) {
		nodes_lock(&fs->nodes);
		error = node_path(parent, &path);
		nodes_unlock(&fs->nodes);
	}
	if (!error)
		error = state_put(fs->state, folder, (const char *)path.data, name, mode, text,
				  how);
	buf_release(&path);
	return error;
}

int view_write_out(struct fs *fs, struct node *node, struct node *parent, const char *name,
		   bool exclusive)
{
	struct draft *draft;
	struct folder folder;
	struct stat st;
	int error = view_text(fs, node, &draft);

	if (error)
		return error;
	if (fs_source_stat(fs, node->file, &st) != 0)
		st.st_mode = 0600;
	memo_apply(node_memo(node), &st);
	error = extra_grow(fs, fs_area_for(parent), draft->text.size + EXTRA_ENTRY);
	if (!error)
		error = fs_folder(fs, parent, fs_area_for(parent), true, &folder);
	if (error)
		return error;
	error = put_text(fs, parent, folder.fd, name, st.st_mode & 0666, buf_bytes(&draft->text),
			 exclusive ? STATE_PUT_NEW : 0);
	folder_close(&fs->folders, &folder);
	return error;
}
