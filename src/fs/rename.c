/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rename.c - names that move. A node follows its name: what was a temporary file and lands on a
 * view's name is that view from then on, and a view that is moved away becomes an ordinary file.
 */
#include "../slow.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct move {
	struct fs *fs;
	struct slot from, to;
	const char *name, *new_name;
	unsigned flags;
	struct node *node;      /* what moves; referenced */
	struct node *over;      /* what has the new name; referenced, or NULL */
	struct file *locked[2]; /* by lock_files, each once; NULL: none */
	struct caller *who;     /* access_caller; until a text is saved for him */
	struct changes changes;
};

static void relink(struct move *m)
{
	struct fs *fs = m->fs;

	nodes_lock(&fs->nodes);
	nodes_link(&fs->nodes, m->node, m->to.parent, m->new_name);
	if (nodes_by_name(&fs->nodes, m->from.parent, m->name) == m->node)
		nodes_unlink(&fs->nodes, m->from.parent, m->name);
	nodes_unlock(&fs->nodes);
}

static void unlock_files(struct move *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->locked); i++) {
		if (m->locked[i])
			fs_unlock_file(m->fs, m->locked[i]);
		m->locked[i] = NULL;
	}
}

/* The files that both folders belong to now, always locked in the same order. */
static void lock_files_once(struct move *m, struct file *a, struct file *b)
{
	bool swap = a > b;

	m->locked[0] = swap ? b : a;
	m->locked[1] = swap ? a : b;
	if (a == b && b) {
		fs_file_put(m->fs, b);
		m->locked[1] = NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(m->locked); i++) {
		if (m->locked[i])
			slow_lock(&m->locked[i]->lock);
	}
}

/* Of two nodes, where they belong to animation files: for as long they belong to them. */
static void lock_files_of(struct move *m, const struct node *from, const struct node *to)
{
	for (;;) {
		struct file *a = fs_file_of(m->fs, from), *b = to ? fs_file_of(m->fs, to) : NULL;

		lock_files_once(m, a, b);
		if (fs_belongs(m->fs, from, a) && (!to || fs_belongs(m->fs, to, b)))
			return;
		unlock_files(m);
	}
}

static void lock_files(struct move *m)
{
	lock_files_of(m, m->from.parent, m->to.parent);
}

/* The folder that holds the moving name; a virtual one has two. */
static int from_folder(struct move *m, struct folder *out)
{
	return fs_folder(m->fs, m->from.parent, (enum node_area)m->node->area, false, out);
}

/* For text_save, which takes him over. */
static struct caller *take_caller(struct move *m)
{
	struct caller *who = m->who;

	m->who = NULL;
	return who;
}

/* ---- a file lands on a view ---- */

/* The text is saved; the moving node is the view now, with the text as it was saved. */
static void become_view(struct move *m, struct draft *draft)
{
	struct fs *fs = m->fs;
	struct node *node = m->node;

	if (node->kind == NODE_VIEW)
		draft_free(node->draft);
	nodes_lock(&fs->nodes);
	nodes_leave_identity(&fs->nodes, node);
	node_leave_file(&fs->nodes, node);
	node_become_view(node, m->to.parent->file, m->to.place.view);
	node->shown_ino = fs_virtual_ino(m->to.parent, m->new_name);
	nodes_unlock(&fs->nodes);
	/* Who has the old text open reads on in it. */
	if (m->over && m->over->kind == NODE_VIEW) {
		nodes_lock(&fs->nodes);
		nodes_retire(&fs->nodes, m->over);
		m->over->moved_over = true;
		nodes_unlock(&fs->nodes);
	}
	node->draft = draft;
	handles_join(fs, node);
	file_clear_away(m->to.parent->file, &fs->nodes, m->to.parent, m->new_name);
	relink(m);
	changes_add(&m->changes, node); /* it has the view's attributes now */
	notify_data(fs, node);
}

static int save_real(struct move *m)
{
	struct fs *fs = m->fs;
	struct buf text = BUF_INIT;
	struct draft *draft;
	struct folder folder;
	struct stat st = {.st_mtim = {0, 0}};
	int error = node_text(fs, m->node, &text);

	if (error)
		return error == ELOOP || error == EINVAL ? EBADMSG : error;
	lock_files(m);
	error = text_save(fs, m->to.parent, m->new_name, &text, take_caller(m), &draft,
			  &m->changes);
	if (!error) {
		if (from_folder(m, &folder) == 0) {
			if (fstatat(folder.fd, m->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
				clock_gettime(CLOCK_REALTIME, &st.st_mtim);
			unlinkat(folder.fd, m->name, 0);
			folder_close(&fs->folders, &folder);
		}
		become_view(m, draft);
		memo_time(fs, m->node, st.st_mtim); /* rsync compares it the next time */
	}
	unlock_files(m);
	buf_release(&text);
	return error;
}

/* The view that moves is away where it was. */
static void view_goes(struct move *m)
{
	struct file *file = m->from.parent->file;

	file_set_away(file, &m->fs->nodes, m->from.parent, m->name);
	file_touch(m->fs, file);
}

/* One view moved onto another: its text is saved there, and it is away here for a moment. */
static int save_view(struct move *m)
{
	struct fs *fs = m->fs;
	struct buf text = BUF_INIT;
	struct draft *draft;
	int error = node_text(fs, m->node, &text);

	lock_files(m);
	if (!error)
		error = text_save(fs, m->to.parent, m->new_name, &text, take_caller(m), &draft,
				  &m->changes);
	if (!error) {
		view_goes(m);
		become_view(m, draft);
	}
	unlock_files(m);
	buf_release(&text);
	return error;
}

/* ---- a view is moved away ---- */

/*
 * Handles on the view are handles on the file from now on, whatever happens to its name next: it
 * may be removed before they are used again. Wants the nodes' lock.
 */
static void give_descriptors(struct node *node, int fd)
{
	for (struct handle *h = node->handles; h; h = h->next_of_node) {
		h->counted = false;
		if (h->fd < 0 && fd >= 0)
			h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
}

/* fd: of the file, or -1. */
static void become_real(struct move *m, const struct identity *id, int fd)
{
	struct fs *fs = m->fs;
	struct node *node = m->node;

	draft_free(node->draft);
	node->draft = NULL;
	nodes_lock(&fs->nodes);
	node_leave_file(&fs->nodes, node);
	node->area = (uint8_t)fs_area_for(m->to.parent);
	node->kind = NODE_REAL;
	node->file = NULL;
	nodes_identify(&fs->nodes, node, id);
	give_descriptors(node, fd);
	nodes_unlock(&fs->nodes);
	relink(m);
}

static int move_view_away(struct move *m)
{
	struct fs *fs = m->fs;
	struct folder folder;
	struct identity id;
	struct stat st;
	int fd = -1, error;

	lock_files(m);
	error = view_write_out(fs, m->node, m->to.parent, m->new_name, m->flags & RENAME_NOREPLACE);
	if (!error)
		error = fs_folder(fs, m->to.parent, fs_area_for(m->to.parent), false, &folder);
	if (!error) {
		error = identity_at(folder.fd, m->new_name, &id, &st);
		/* A handle that finds none opens the file when it is used. */
		if (!error && at_open(folder.fd, m->new_name, O_RDWR, 0, &fd) != 0)
			fd = -1;
		folder_close(&fs->folders, &folder);
	}
	if (!error) {
		view_goes(m);
		become_real(m, &id, fd);
	}
	unlock_files(m);
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- animation files and clips ---- */

/* What people put into virtual folders goes where the file, or the folder above it, goes. */
static void move_state(struct move *m)
{
	struct buf from = BUF_INIT, to = BUF_INIT;

	if (fs_path(m->fs, m->from.parent, m->name, &from) == 0 &&
	    fs_path(m->fs, m->to.parent, m->new_name, &to) == 0)
		state_rename(m->fs->state, (const char *)from.data, (const char *)to.data);
	buf_release(&from);
	buf_release(&to);
}

/* Is it the folder, or in it? Wants the nodes' lock. */
static bool is_below(const struct node *node, const struct node *folder)
{
	while (node && node != folder)
		node = node_link(node) ? node_link(node)->parent : NULL;
	return node != NULL;
}

/* The path of the folder that a file is in. */
static int path_above(struct fs *fs, const struct file *file, struct buf *path)
{
	int error = ENOENT;

	nodes_lock(&fs->nodes);
	if (node_link(file->node))
		error = node_path(node_link(file->node)->parent, path);
	nodes_unlock(&fs->nodes);
	return error;
}

/* The animation files below a folder, each referenced; ends with NULL, or is it. */
static struct file **files_below(struct fs *fs, const struct node *folder)
{
	const struct node *n;
	struct file **list;
	size_t count = 0, at = 0;

	nodes_lock(&fs->nodes);
	list = calloc(fs->nodes.count + 1, sizeof(*list));
	while (list && (n = nodes_next(&fs->nodes, &at))) {
		if (n->kind != NODE_FILE || !is_below(n, folder))
			continue;
		n->file->node->references++;
		list[count++] = n->file;
	}
	nodes_unlock(&fs->nodes);
	return list;
}

/* Messages and temporaries of the files below a moved folder have their new path. */
static void move_sources(struct fs *fs, const struct node *folder)
{
	struct file **list = files_below(fs, folder);

	for (size_t i = 0; list && list[i]; i++) {
		struct buf path = BUF_INIT;

		if (path_above(fs, list[i], &path) == 0)
			source_moved(list[i]->source, (const char *)path.data);
		buf_release(&path);
		fs_file_put(fs, list[i]);
	}
	free(list);
}

static void rename_source(struct fs *fs, const struct file *file)
{
	struct buf path = BUF_INIT;

	if (path_above(fs, file, &path) == 0)
		source_renamed(file->source, (const char *)path.data, file->name);
	buf_release(&path);
}

static bool is_drafted_below(const struct node *node, const void *clip)
{
	return node->draft && is_below(node, clip);
}

/* What the views of a clip are edited from says the clip's old name: now it is this version. */
static void rebase_drafts(struct fs *fs, const struct node *clip)
{
	struct node **list = file_members(fs, clip->file, is_drafted_below, clip);
	struct snap *snap = NULL;
	struct place place;

	if (list && list[0] && fs_snap(fs, clip->file, &snap) != 0)
		snap = NULL;
	for (size_t i = 0; list && list[i]; i++) {
		if (snap && list[i]->draft && fs_place(fs, snap, list[i], &place) == 0)
			draft_rebase(list[i]->draft, snap, &place);
		fs_reference(fs, list[i], -1);
	}
	snap_put(snap);
	free(list);
}

void clip_follow(struct fs *fs, struct node *clip, const char *label)
{
	struct move m = {.fs = fs, .new_name = label, .node = clip};
	char name[NAME_MAX + 1];

	m.from.parent = m.to.parent = fs_parent(fs, clip, 0, name);
	if (!m.from.parent)
		return; /* it has just been removed */
	m.name = name;
	relink(&m);
	move_state(&m);
	clip->shown_ino = fs_virtual_ino(m.to.parent, label);
	notify_entry(fs, m.from.parent, name);
	notify_listing(fs, m.from.parent);
	fs_reference(fs, m.from.parent, -1);
	rebase_drafts(fs, clip);
}

/* Is a text of the clip open, or not saved yet? */
static bool is_in_use(struct fs *fs, const struct node *clip)
{
	bool used = false;

	nodes_lock(&fs->nodes);
	for (struct node *node = clip->file->members; node; node = node->next_in_file)
		used |= node->draft &&
			(node->draft->handles || node->draft->dirty || node->draft->pending) &&
			is_below(node, clip);
	nodes_unlock(&fs->nodes);
	return used;
}

/* The folders and views of a clip are another file's now. Wants the nodes' lock. */
static void give_nodes(struct nodes *t, struct node *clip, struct file *to)
{
	struct file *from = clip->file;
	struct node *n;
	size_t at = 0;

	while ((n = nodes_next(t, &at))) {
		if (n->file != from || n->kind == NODE_FILE || !is_below(n, clip))
			continue;
		node_leave_file(t, n);
		if (n->kind == NODE_VIEW) {
			draft_free(n->draft);
			n->draft = NULL;
			node_become_view(n, to, node_view(n));
		} else {
			node_join_file(n, to);
		}
	}
}

/* Into another file. A text that is open is edited from a version of this one: mv then copies. */
static int move_clip(struct move *m)
{
	struct file *from = m->from.parent->file, *to = m->to.parent->file;
	struct fs *fs = m->fs;
	int error = is_in_use(fs, m->node)
			    ? EXDEV
			    : clip_move(fs, from, m->name, to, m->new_name, &m->changes);

	if (error)
		return error;
	nodes_lock(&fs->nodes);
	give_nodes(&fs->nodes, m->node, to);
	nodes_unlock(&fs->nodes);
	relink(m);
	move_state(m);
	m->node->shown_ino = fs_virtual_ino(m->to.parent, m->new_name);
	file_changed(fs, to, 0, &m->changes);
	return 0;
}

static int rename_clip(struct move *m)
{
	struct file *from = m->from.parent->file;
	int error = 0;

	if (m->to.parent->kind != NODE_FILE)
		return node_is_virtual(m->to.parent) ? EPERM : EXDEV;
	if (m->from.place.kind != PLACE_CLIP)
		return EPERM;
	if (m->to.present)
		return ENOTEMPTY;
	lock_files(m);
	/* The clip of that name was removed a moment ago. */
	if (m->to.is_view)
		error = burst_finish(m->fs, m->to.parent->file, &m->changes);
	if (!error)
		error = m->from.parent != m->to.parent
				? move_clip(m)
				: clip_rename(m->fs, from, m->name, m->new_name, &m->changes);
	unlock_files(m);
	return error;
}

/* ---- real things ---- */

/*
 * The text of an animation's skeleton goes with it, where there is none for the new name. That
 * whoever moves the animation may write both folders' names was checked for the animation's own.
 */
static void move_skeleton(struct move *m, const struct folder *from, const struct folder *to,
			  bool beside)
{
	char name[NAME_MAX + 1], new_name[NAME_MAX + 1];

	if (!(m->flags & RENAME_EXCHANGE) && fs_may_show(m->fs, m->name, beside) &&
	    fs_may_show(m->fs, m->new_name, beside) && rest_own_name(m->name, name) &&
	    rest_own_name(m->new_name, new_name) && access_may_move(m->fs, m->who, from->fd, name))
		at_rename(from->fd, name, to->fd, new_name, RENAME_NOREPLACE);
}

static void exchange_links(struct move *m)
{
	struct fs *fs = m->fs;

	nodes_lock(&fs->nodes);
	nodes_unlink(&fs->nodes, m->from.parent, m->name);
	nodes_link(&fs->nodes, m->node, m->to.parent, m->new_name);
	if (m->over)
		nodes_link(&fs->nodes, m->over, m->from.parent, m->name);
	nodes_unlock(&fs->nodes);
}

/* On disk and in the table, as one for those who look for what moves. */
static int move_real(struct move *m, const struct folder *from, const struct folder *to)
{
	struct identity id;
	struct stat over;
	bool replaces;
	int held = -1, error;

	folders_hold_still(&m->fs->folders);
	replaces = m->over && identity_at(to->fd, m->new_name, &id, &over) == 0;
	if (replaces && m->over->folder && !(m->flags & RENAME_EXCHANGE))
		held = folder_hold(m->fs, to->fd, m->new_name);
	error = at_rename(from->fd, m->name, to->fd, m->new_name, m->flags);
	folder_let_go(m->fs, error ? NULL : m->to.parent, m->new_name, held);
	if (!error && (m->flags & RENAME_EXCHANGE)) {
		exchange_links(m);
	} else if (!error) {
		m->node->area = (uint8_t)fs_area_for(m->to.parent);
		relink(m);
		if (replaces)
			fs_lost_name(m->fs, m->over, &over);
	}
	folders_let_move(&m->fs->folders);
	return error;
}

/* A folder that is to become something does so under its new name, if that is such a name. */
static void refill(struct move *m, bool filling)
{
	struct buf path = BUF_INIT;

	filling_touch(m->fs, m->from.parent);
	filling_touch(m->fs, m->to.parent);
	if (filling && fs_path(m->fs, m->from.parent, m->name, &path) == 0)
		filling_forget(m->fs, m->node, (const char *)path.data);
	buf_release(&path);
	if (m->node->folder && filling_wanted(m->fs, m->to.parent, m->new_name))
		filling_begin(m->fs, m->node);
}

static int rename_real(struct move *m)
{
	struct fs *fs = m->fs;
	enum node_area area = fs_area_for(m->to.parent);
	bool filling = m->node->filling;
	struct folder from, to;
	struct stat st;
	int error = 0;

	if (m->node->folder && m->node->area != area)
		return EXDEV; /* folders below would not know that they moved to another root */
	if (m->node->folder && m->to.parent->kind == NODE_FILE && m->new_name[0] != '.')
		error = clip_check_new(fs, m->to.parent->file, m->new_name);
	if (!error)
		error = from_folder(m, &from);
	if (error)
		return error;
	if (m->node->area != area && fstatat(from.fd, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		error = extra_grow(fs, area, (uint64_t)st.st_size + EXTRA_ENTRY);
	if (!error)
		error = fs_folder(fs, m->to.parent, area, true, &to);
	if (!error) {
		error = move_real(m, &from, &to);
		if (!error && !m->node->folder && area == AREA_SOURCE)
			move_skeleton(m, &from, &to, true);
		folder_close(&fs->folders, &to);
	}
	folder_close(&fs->folders, &from);
	if (error)
		return error;
	refill(m, filling);
	if (m->node->folder && area == AREA_SOURCE) {
		move_state(m);
		move_sources(fs, m->node);
	} else if (area == AREA_SOURCE && !(m->flags & RENAME_EXCHANGE) &&
		   fs_may_show(fs, m->name, true) && fs_may_show(fs, m->new_name, true)) {
		move_state(m); /* of the folder beside it */
	}
	return 0;
}

static bool is_beside(const struct node *node, const char *name)
{
	return node && node->kind == NODE_FILE && strcmp(node->file->name, name) != 0;
}

/* The name that the one clip of a file has, where it has none but the file's. */
static bool clip_by_file(struct fs *fs, struct file *file, char label[NAME_MAX + 1])
{
	struct snap *snap;
	bool nameless;

	if (fs_snap(fs, file, &snap) != 0)
		return false;
	nameless = snap->anim->format->nameless && snap->anim->clip_count > 0;
	if (nameless)
		snprintf(label, NAME_MAX + 1, "%s", snap->anim->clips[0].label);
	snap_put(snap);
	return nameless;
}

/* The folder of a clip that is called as its file goes with the file's name. */
static void clip_by_file_follows(struct fs *fs, struct file *file, const char *was)
{
	char label[NAME_MAX + 1];
	struct node *clip = fs_child(fs, file->node, was);
	struct move m = {.fs = fs,
			 .from = {.parent = file->node},
			 .to = {.parent = file->node},
			 .name = was,
			 .new_name = label};

	if (clip_by_file(fs, file, label) && strcmp(label, was) != 0) {
		if (clip && clip->kind == NODE_CLIP)
			clip_follow(fs, clip, label);
		else
			move_state(&m);
	}
	if (clip)
		fs_reference(fs, clip, -1);
}

/*
 * On disk and in the table. With the locks of the files: nobody looks for one under the name that
 * it has no more.
 */
static int rename_locked_file(struct move *m)
{
	struct fs *fs = m->fs;
	char clip[NAME_MAX + 1];
	struct folder from, to;
	bool by_file;
	int error;

	by_file = m->node->kind == NODE_FILE && clip_by_file(fs, m->node->file, clip);
	error = folder_open(&fs->folders, m->from.parent, &from);
	if (error)
		return error;
	error = folder_open(&fs->folders, m->to.parent, &to);
	if (!error) {
		error = at_rename(from.fd, m->name, to.fd, m->new_name, m->flags);
		if (!error)
			move_skeleton(m, &from, &to, false);
		folder_close(&fs->folders, &to);
	}
	folder_close(&fs->folders, &from);
	if (error)
		return error;
	if (m->flags & RENAME_EXCHANGE) {
		nodes_lock(&fs->nodes);
		nodes_unlink(&fs->nodes, m->from.parent, m->name);
		nodes_unlink(&fs->nodes, m->to.parent, m->new_name);
		nodes_unlock(&fs->nodes);
		notify_entry(fs, m->from.parent, m->name);
		return 0;
	}
	move_state(m);
	if (m->node->kind == NODE_FILE) {
		file_rename(m->node->file, m->new_name);
		relink(m);
		rename_source(fs, m->node->file);
		if (by_file)
			clip_by_file_follows(fs, m->node->file, clip);
		file_changed(fs, m->node->file, 0, &m->changes); /* texts say its name */
	}
	return 0;
}

/* The folder of an animation file moves as the file does; under another name it may be no folder.
 */
static int rename_file(struct move *m)
{
	int error;

	if (m->over && m->over->kind == NODE_FILE && !(m->flags & RENAME_EXCHANGE))
		return ENOTEMPTY;
	if (node_is_virtual(m->to.parent) || m->to.parent->area != AREA_SOURCE)
		return EPERM;
	if (is_beside(m->node, m->name) || is_beside(m->over, m->new_name))
		return EPERM; /* it is the file beside it that is moved */
	lock_files_of(m, m->node, m->over);
	error = rename_locked_file(m);
	unlock_files(m);
	return error;
}

/* ---- the choice ---- */

static bool may_be_animation(struct fs *fs, const char *name)
{
	const struct codec *codec;
	bool probe;

	return store_claims(fs->store, name, &codec, &probe);
}

/* Will somebody read there what it says? */
static bool takes_text(const struct move *m)
{
	return m->to.is_view || m->node->kind == NODE_VIEW ||
	       (!m->node->folder &&
		(node_is_virtual(m->to.parent) || filling_has(m->fs, m->to.parent)));
}

static int choose(struct move *m)
{
	bool onto_view = m->to.is_view && m->to.place.kind == PLACE_VIEW;
	bool is_view = m->node->kind == NODE_VIEW;

	if ((m->flags & RENAME_NOREPLACE) && m->to.present)
		return EEXIST;
	if ((m->flags & RENAME_EXCHANGE) && (is_view || m->to.present || m->from.present))
		return EINVAL;
	if (m->node->kind == NODE_CLIP || m->node->kind == NODE_BONES ||
	    m->node->kind == NODE_FRAMES)
		return rename_clip(m);
	if (m->to.present && m->to.place.kind != PLACE_VIEW)
		return m->node->folder ? ENOTEMPTY : EISDIR;
	if (m->to.is_view && !onto_view)
		return EPERM;
	if (onto_view && m->node->folder)
		return ENOTDIR;
	if (onto_view)
		return is_view ? save_view(m) : save_real(m);
	if (is_view)
		return move_view_away(m);
	if (m->node->kind == NODE_FILE || (m->over && m->over->kind == NODE_FILE))
		return rename_file(m);
	if (m->node->kind == NODE_REAL)
		return rename_real(m);
	return EPERM;
}

/* What has moved on the disk is not to be left without a name here. */
static bool make_ready(const struct move *m)
{
	struct nodes *nodes = &m->fs->nodes;
	bool ready;

	nodes_lock(nodes);
	ready = nodes_ready(m->node) && (!m->over || nodes_ready(m->over));
	nodes_unlock(nodes);
	return ready;
}

static void let_go(struct fs *fs, struct node *node)
{
	if (!node)
		return;
	nodes_lock(&fs->nodes);
	nodes_settle(node);
	nodes_drop(&fs->nodes, node, 0, 1);
	nodes_unlock(&fs->nodes);
}

/* What is known to have the new name; a file that others took away may still be known. */
static void find_over(struct move *m)
{
	struct fs *fs = m->fs;
	struct node *over = fs_child(fs, m->to.parent, m->new_name);
	struct stat st;

	if (over && over->kind == NODE_FILE && fs_source_stat(fs, over->file, &st) == ENOENT) {
		fs_lose_name(fs, m->to.parent, m->new_name, NULL);
		mirrors_of_file(fs, over->file, m->to.parent);
		fs_reference(fs, over, -1);
		over = NULL;
	}
	m->over = over;
}

void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned flags)
{
	struct fs *fs = fs_of(req);
	struct move m = {.fs = fs, .name = name, .new_name = new_name, .flags = flags};
	int error = fs_slot(fs, parent, name, &m.from);

	if (!error)
		error = fs_slot(fs, new_parent, new_name, &m.to);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	m.node = fs_child(fs, m.from.parent, name);
	find_over(&m);
	error = m.node ? access_caller(req, &m.who) : ENOENT;
	if (!error && takes_text(&m))
		error = acl_check_read(req, m.node);
	if (!error && !make_ready(&m))
		error = ENOMEM;
	if (!error)
		error = choose(&m);
	free(m.who);
	m.changes.locked[0] = parent;
	m.changes.locked[1] = new_parent;
	changes_tell(fs, &m.changes);
	fuse_reply_err(req, error);
	changes_tell_rest(fs, &m.changes);
	/* What is called as an animation is may be a folder now, or was one. */
	if (!error && (may_be_animation(fs, name) || may_be_animation(fs, new_name)))
		notify_entry(fs, m.to.parent, new_name);
	let_go(fs, m.over);
	let_go(fs, m.node);
}
