/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.c - names to nodes, nodes to attributes. */
#include "../slow.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define VIRTUAL_BLOCK 4096
#define VIRTUAL_DEPTH 3 /* names from an animation file's folder to a view: CLIP/bones/VIEW */
/* What programs best read and write at once: each such piece is a request. */
#define IO_BLOCK (128 << 10)

struct node *fs_node(struct fs *fs, fuse_ino_t ino)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, ino);
	nodes_unlock(&fs->nodes);
	return node;
}

struct node *fs_node_of(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *fi)
{
	return handle_of(fi) ? handle_of(fi)->node : fs_node(fs_of(req), ino);
}

struct file *fs_file_of(struct fs *fs, const struct node *node)
{
	struct file *file;

	nodes_lock(&fs->nodes);
	file = node->file;
	if (file)
		file->node->references++;
	nodes_unlock(&fs->nodes);
	return file;
}

void fs_file_put(struct fs *fs, struct file *file)
{
	fs_reference(fs, file->node, -1);
}

bool fs_belongs(struct fs *fs, const struct node *node, const struct file *file)
{
	bool belongs;

	nodes_lock(&fs->nodes);
	belongs = node->file == file;
	nodes_unlock(&fs->nodes);
	return belongs;
}

struct file *fs_lock_file(struct fs *fs, const struct node *node)
{
	struct file *file;

	while ((file = fs_file_of(fs, node))) {
		file_lock(file);
		if (fs_belongs(fs, node, file))
			return file;
		fs_unlock_file(fs, file);
	}
	return NULL;
}

struct file *fs_trylock_file(struct fs *fs, const struct node *node)
{
	struct file *file = fs_file_of(fs, node);

	if (!file)
		return NULL;
	if (!file_trylock(file)) {
		fs_file_put(fs, file);
		return NULL;
	}
	if (fs_belongs(fs, node, file))
		return file;
	fs_unlock_file(fs, file);
	return NULL;
}

void fs_unlock_file(struct fs *fs, struct file *file)
{
	file_unlock(file);
	fs_file_put(fs, file);
}

bool node_is_virtual(const struct node *node)
{
	return node->kind == NODE_FILE || node->kind == NODE_CLIP || node->kind == NODE_BONES ||
	       node->kind == NODE_FRAMES;
}

void fs_reference(struct fs *fs, struct node *node, int by)
{
	nodes_lock(&fs->nodes);
	if (by > 0)
		node->references += (uint32_t)by;
	else
		nodes_drop(&fs->nodes, node, 0, (uint32_t)-by);
	nodes_unlock(&fs->nodes);
}

/* ---- where things are ---- */

enum node_area fs_area_for(const struct node *parent)
{
	return node_is_virtual(parent) ? AREA_EXTRA : (enum node_area)parent->area;
}

static int state_path_folder(struct fs *fs, const struct node *node, enum node_area area, bool make,
			     struct folder *out)
{
	struct buf path = BUF_INIT;
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(node, &path);
	nodes_unlock(&fs->nodes);
	*out = (struct folder)FOLDER_NONE;
	if (!error)
		error = state_folder(fs->state, area == AREA_EXTRA ? STATE_EXTRA : STATE_REJECTED,
				     (const char *)path.data, make, &out->fd);
	out->owned = !error;
	buf_release(&path);
	return error;
}

int fs_folder(struct fs *fs, struct node *node, enum node_area area, bool make, struct folder *out)
{
	if (area == AREA_SOURCE)
		return folder_open(&fs->folders, node, out);
	return state_path_folder(fs, node, area, make, out);
}

struct node *fs_parent(struct fs *fs, const struct node *node, unsigned n, char name[NAME_MAX + 1])
{
	const struct link *link;
	struct node *parent = NULL;

	nodes_lock(&fs->nodes);
	for (link = node_link(node); link && n > 0; n--)
		link = node_next_link(node, link);
	if (link) {
		parent = link->parent;
		parent->references++;
	}
	if (link && name)
		strcpy(name, link->name);
	nodes_unlock(&fs->nodes);
	return parent;
}

static int check_name(int folder, const char *name, const struct node *node, struct stat *st)
{
	struct identity id;
	int error = identity_at(folder, name, &id, st);

	return error ? error : identity_same(&id, node_identity(node)) ? 0 : ESTALE;
}

static int try_names(struct fs *fs, struct node *node, struct folder *folder, char *name,
		     struct stat *st)
{
	struct node *parent;
	int error = ENOENT;

	for (unsigned n = 0; error && (parent = fs_parent(fs, node, n, name)); n++) {
		error = fs_folder(fs, parent, (enum node_area)node->area, false, folder);
		fs_reference(fs, parent, -1);
		if (error)
			continue;
		error = check_name(folder->fd, name, node, st);
		if (error)
			folder_close(&fs->folders, folder);
	}
	return error;
}

int fs_where(struct fs *fs, struct node *node, struct folder *folder, char *name, struct stat *st)
{
	int error = try_names(fs, node, folder, name, st);

	if (error != ENOENT && error != ESTALE)
		return error;
	folders_hold_still(&fs->folders);
	error = try_names(fs, node, folder, name, st);
	folders_let_move(&fs->folders);
	return error;
}

static int open_folder_of(struct fs *fs, const struct file *file, struct folder *out)
{
	struct node *parent = fs_parent(fs, file->node, 0, NULL);
	int error;

	if (!parent)
		return ENOENT;
	error = folder_open(&fs->folders, parent, out);
	fs_reference(fs, parent, -1);
	return error;
}

int fs_source_folder(struct fs *fs, const struct file *file, struct folder *out)
{
	int error = open_folder_of(fs, file, out);

	if (error != ENOENT && error != ESTALE)
		return error;
	/* A folder above it was perhaps just being renamed. */
	folders_hold_still(&fs->folders);
	error = open_folder_of(fs, file, out);
	folders_let_move(&fs->folders);
	return error;
}

int fs_source_stat(struct fs *fs, const struct file *file, struct stat *st)
{
	struct folder folder;
	int error = fs_source_folder(fs, file, &folder);

	if (error)
		return error;
	error = fstatat(folder.fd, file->name, st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
	folder_close(&fs->folders, &folder);
	return error;
}

/*
 * What an open view says although its file does not decode any more, or is gone: saves are refused
 * then, but nobody reads nonsense. NULL when nothing in it is open.
 */
static struct snap *last_good(struct fs *fs, struct file *file)
{
	struct snap *snap = NULL;

	nodes_lock(&fs->nodes);
	if (file->good)
		snap = snap_get(file->good);
	nodes_unlock(&fs->nodes);
	return snap;
}

/* The one before it may be what the kernel was told of until now. */
static void keep_good(struct fs *fs, struct file *file, struct snap *snap)
{
	struct snap *old = NULL;
	bool needed;

	nodes_lock(&fs->nodes);
	needed = file->open || (fs->unopened_files && file->damaged);
	if (file->good != snap) {
		old = file->good;
		file->good = needed ? snap_get(snap) : NULL;
	}
	nodes_unlock(&fs->nodes);
	if (old)
		source_keep(file->source, old);
	snap_put(old);
}

/*
 * The last one that decoded, as far as is known. Where the file was read without a look, and does
 * not decode any more, that is what the kernel was told of.
 */
static struct snap *last_known(struct fs *fs, struct file *file)
{
	struct snap *snap = source_last(file->source);

	if (!snap)
		snap = last_good(fs, file);
	return snap ? snap : source_replaced(file->source, (uint32_t)file->generation);
}

/* The latest version; the last one that decoded is kept where somebody may still read it. */
static struct snap *look_in(struct fs *fs, struct file *file, int folder, struct stat *st,
			    struct err *err)
{
	struct snap *before = fs->unopened_files ? last_known(fs, file) : NULL;
	struct snap *now = source_look(file->source, folder, st, err);

	file->linked = st->st_nlink > 1;
	file->damaged = !now;
	if (now || before)
		keep_good(fs, file, now ? now : before);
	snap_put(before);
	return now;
}

/*
 * Without a word of what is open, whoever still asks for what is in a folder that is gone has it
 * open: new ones do not find it.
 */
static bool say_last(struct fs *fs, struct file *file, struct snap **out, struct stat *st)
{
	*out = fs->unopened_files ? last_good(fs, file) : NULL;
	*st = (struct stat){.st_mode = 0};
	return *out != NULL;
}

int fs_look(struct fs *fs, struct file *file, struct snap **out, struct stat *st)
{
	struct err err = {.code = ERR_NONE};
	struct folder folder;
	int error = fs_source_folder(fs, file, &folder);

	if (error)
		return say_last(fs, file, out, st) ? 0 : error;
	*out = look_in(fs, file, folder.fd, st, &err);
	folder_close(&fs->folders, &folder);
	if (!*out)
		*out = last_good(fs, file);
	if (*out)
		return 0;
	return err.code == ERR_MEMORY ? ENOMEM : err.code == ERR_SYSTEM ? err.number : EIO;
}

int fs_snap(struct fs *fs, struct file *file, struct snap **out)
{
	struct stat st;

	return fs_look(fs, file, out, &st);
}

/* Is it heard when others change the file? Wants the nodes' lock. */
static bool is_heard(const struct file *file)
{
	const struct link *link = node_link(file->node);

	return link && link->parent->watched && !file->linked;
}

/* What is shown of it may change without a word. Wants the nodes' lock. */
static bool is_unheard(const struct file *file)
{
	return file->damaged || !is_heard(file);
}

/* In place of one that the kernel was not told of yet, the one that it was told of. */
static struct snap *told_version(const struct file *file, struct snap *latest)
{
	struct snap *told = source_replaced(file->source, (uint32_t)file->generation);

	if (!told)
		return latest;
	snap_put(latest);
	return told;
}

/* The version that a replaced view stays for those who have it open; NULL: it follows the file. */
static struct snap *version_before(struct fs *fs, const struct node *node)
{
	const struct handle *opened;
	struct snap *before = NULL;

	if (node->kind != NODE_VIEW)
		return NULL;
	nodes_lock(&fs->nodes);
	if (node_is_retired(node)) {
		opened = handles_version(node);
		before = opened ? opened->version : node_version(node);
	}
	if (before)
		snap_get(before);
	nodes_unlock(&fs->nodes);
	return before;
}

/*
 * The version that all views are of, where it is at hand and changes of the file will be heard of.
 * One that was damaged shows what it was, until it is heard to be whole again.
 */
static struct snap *shown(struct fs *fs, struct file *file)
{
	struct snap *last;
	bool heard;

	nodes_lock(&fs->nodes);
	heard = is_heard(file);
	nodes_unlock(&fs->nodes);
	if (!heard)
		return NULL;
	last = source_last(file->source);
	if (last)
		keep_good(fs, file, last);
	else if (file->damaged)
		last = last_good(fs, file);
	return last;
}

/* The latest version, told or not. */
static int latest_shown(struct fs *fs, struct file *file, struct snap **out, struct stat *st)
{
	*out = shown(fs, file);
	if (*out && fs_source_stat(fs, file, st) == 0)
		return 0;
	snap_put(*out);
	return fs_look(fs, file, out, st);
}

/* Is the file, of which *st is what the disk has, another than the kernel was told? */
static bool is_news(struct file *file, const struct stat *st)
{
	return !file->generation || !source_is_read(file->source, st) || file_is_replaced(file);
}

void fs_catch_up(struct fs *fs, struct file *file)
{
	struct stat st;

	if (fs_source_stat(fs, file, &st) == 0 && is_news(file, &st))
		file_look_now(fs, file);
}

int fs_shown(struct fs *fs, const struct node *node, struct snap **out, struct stat *st)
{
	int error;

	*out = version_before(fs, node);
	if (*out && fs_source_stat(fs, node->file, st) != 0)
		*st = (struct stat){.st_mode = 0};
	if (*out)
		return 0;
	error = latest_shown(fs, node->file, out, st);
	if (!error)
		*out = told_version(node->file, *out);
	return error;
}

int fs_lock_shown(struct fs *fs, const struct node *node, struct file **file, struct snap **out,
		  struct stat *st)
{
	int error;

	*file = fs_lock_file(fs, node);
	if (!*file)
		return ESTALE;
	error = fs_shown(fs, node, out, st);
	if (error || !is_news(*file, st))
		return error;
	snap_put(*out);
	file_unlock(*file);
	file_look_now(fs, *file);
	fs_file_put(fs, *file);
	*file = fs_lock_file(fs, node);
	return *file ? fs_shown(fs, node, out, st) : ESTALE;
}

/* ---- attributes ---- */

static uint64_t fold_device(const struct fs *fs, uint64_t dev, uint64_t ino)
{
	/* Files of the root's device keep their numbers; others must not meet them. */
	return dev == fs->root_identity.dev ? ino : ino ^ (dev << 40 | dev >> 24);
}

static void apply_owner(const struct fs *fs, struct stat *st)
{
	if (fs->options->uid >= 0)
		st->st_uid = (uid_t)fs->options->uid;
	if (fs->options->gid >= 0)
		st->st_gid = (gid_t)fs->options->gid;
	if (fs->options->umask >= 0)
		st->st_mode &= ~(mode_t)(fs->options->umask & 0777);
}

static mode_t folder_mode(mode_t file_mode)
{
	mode_t read = file_mode & 0444;

	return S_IFDIR | (file_mode & 0666) | read >> 2;
}

/* What a virtual folder or view takes over from the animation file: owner, mode, times. */
static void virtual_attributes(const struct fs *fs, const struct node *node, struct stat *st)
{
	mode_t mode = st->st_mode;

	st->st_ino = node->shown_ino;
	st->st_nlink = 1;
	st->st_rdev = 0;
	if (node->kind == NODE_VIEW) {
		st->st_mode = S_IFREG | (mode & 0666);
	} else {
		st->st_mode = folder_mode(mode);
		st->st_size = VIRTUAL_BLOCK;
	}
	if (fs->read_only)
		st->st_mode &= ~(mode_t)0222;
	st->st_blocks = (st->st_size + 511) / 512;
	st->st_blksize = node->kind == NODE_VIEW ? IO_BLOCK : VIRTUAL_BLOCK;
	apply_owner(fs, st);
}

/* What is drawn with a skeleton changed when that did, too. */
static void follow_skeleton(const struct rest_skeleton *rest, struct stat *st)
{
	struct timespec changed = rest_skeleton_mtime(rest);

	if (changed.tv_sec < st->st_mtim.tv_sec ||
	    (changed.tv_sec == st->st_mtim.tv_sec && changed.tv_nsec <= st->st_mtim.tv_nsec))
		return;
	st->st_mtim = st->st_ctim = changed;
}

void fs_view_facts(const struct node *node, const struct snap *snap, const struct place *place,
		   struct stat *st)
{
	if (view_is_fixed(node_view(node), snap))
		st->st_mode &= ~(mode_t)0222;
	if (place && place->view->place != VIEW_OF_FILE && snap->ages.at) {
		st->st_mtim =
			ages_of(&snap->ages, place->clip,
				place->view->place == VIEW_OF_BONE ? (int64_t)place->track : -1);
		st->st_ctim = st->st_mtim;
	}
	if (node_view(node)->posed)
		follow_skeleton(snap->rest, st);
}

/*
 * Of a virtual thing, in a version of its file, of which *st is what the disk has. A view whose
 * file is gone is still readable where it is open; snap NULL: it says what it said last. place
 * NULL: it is not there any more. Wants the file's lock.
 */
static int attributes_in(struct fs *fs, struct node *node, const struct snap *snap,
			 const struct place *place, struct stat *st)
{
	bool view = node->kind == NODE_VIEW;
	const struct draft *draft;
	uint64_t size = 0;
	int error = 0;

	if (!st->st_mode && !(view && (node->draft || fs->unopened_files)))
		return ENOENT;
	if (!st->st_mode)
		*st = (struct stat){.st_mode = S_IFREG | 0600};
	if (view && !node->draft && !place)
		return ENOENT;
	if (view)
		error = node->draft ? view_size(fs, node, &size)
				    : view_count(fs, node, snap, place, &size);
	if (error)
		return error;
	draft = node->draft;
	node->edited =
		draft && (draft->writers || draft->dirty || draft->pending || draft->refused);
	st->st_size = (off_t)size;
	if (view && snap)
		fs_view_facts(node, snap, place, st);
	virtual_attributes(fs, node, st);
	memo_apply(node_memo(node), st);
	return 0;
}

static int view_attributes(struct fs *fs, struct node *node, struct stat *st)
{
	struct snap *snap = NULL;
	struct place place;
	struct file *file;
	bool there;
	int error;

	st->st_mode = 0;
	error = fs_lock_shown(fs, node, &file, &snap, st);
	if (!file)
		return error;
	there = !error && fs_place(fs, snap, node, &place) == 0;
	if (!error || node->draft)
		error = attributes_in(fs, node, snap, there ? &place : NULL, st);
	fs_unlock_file(fs, file);
	snap_put(snap);
	return error;
}

/* Few folders have one: the others do not wait for the file's lock. */
static void apply_folder_memo(struct fs *fs, const struct node *node, struct stat *st)
{
	struct file *file;
	bool given;

	nodes_lock(&fs->nodes);
	given = node_memo(node) != NULL;
	nodes_unlock(&fs->nodes);
	if (!given)
		return;
	file = fs_lock_file(fs, node);
	if (!file)
		return;
	memo_apply(node_memo(node), st);
	fs_unlock_file(fs, file);
}

/* Of a folder of an animation file, or of one of its clips. */
static int folder_attributes(struct fs *fs, struct node *node, struct stat *st)
{
	struct file *file = fs_file_of(fs, node);
	int error = file ? fs_source_stat(fs, file, st) : ESTALE;

	/* It was perhaps just being renamed, which is done with the lock. */
	if (error == ENOENT) {
		file_lock(file);
		error = fs_source_stat(fs, file, st);
		file_unlock(file);
	}
	if (!error) {
		file->linked = st->st_nlink > 1;
		virtual_attributes(fs, node, st);
		apply_folder_memo(fs, node, st);
	}
	if (file)
		fs_file_put(fs, file);
	return error;
}

void fs_show_real(const struct fs *fs, struct stat *st)
{
	st->st_ino = fold_device(fs, st->st_dev, st->st_ino);
	if (S_ISDIR(st->st_mode) && st->st_nlink)
		st->st_nlink = 1;
	if (S_ISREG(st->st_mode) && st->st_blksize < IO_BLOCK)
		st->st_blksize = IO_BLOCK;
	apply_owner(fs, st);
}

void fs_lost_name(struct fs *fs, struct node *node, const struct stat *st)
{
	nodes_lock(&fs->nodes);
	if (node->kind == NODE_REAL && !node_link(node) && !node_last(node) &&
	    node_need_more(node)) {
		node->more->last = malloc(sizeof(*st));
		if (node->more->last) {
			*node->more->last = *st;
			node->more->last->st_nlink -= node->folder ? st->st_nlink : 1;
		}
	}
	/*
	 * Its inode number may be another's in a moment, unless an open file keeps it. A folder is
	 * dead to the kernel whatever happens: should it still be somewhere, it needs a new node.
	 */
	if (node->kind == NODE_REAL && (node->folder || (!node_link(node) && !node->handles)))
		nodes_leave_identity(&fs->nodes, node);
	nodes_unlock(&fs->nodes);
}

static bool last_attributes(struct fs *fs, const struct node *node, struct stat *st)
{
	bool known;

	nodes_lock(&fs->nodes);
	known = !node_link(node) && node_last(node);
	if (known)
		*st = *node_last(node);
	nodes_unlock(&fs->nodes);
	return known;
}

static int real_attributes(struct fs *fs, struct node *node, struct stat *st)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	int error, fd;

	if (node->id == NODE_ROOT) {
		error = fstat(fs->root, st) == 0 ? 0 : errno;
	} else {
		error = fs_where(fs, node, &folder, name, st);
		if (!error)
			folder_close(&fs->folders, &folder);
	}
	/* Removed, but still open somewhere: ask that descriptor. */
	if (error && (fd = handle_borrow(fs, node)) >= 0) {
		error = fstat(fd, st) == 0 ? 0 : errno;
		close(fd);
	} else if (error) {
		error = last_attributes(fs, node, st) ? 0 : error;
	}
	if (!error)
		fs_show_real(fs, st);
	return error;
}

int fs_attributes(struct fs *fs, struct node *node, struct stat *st)
{
	int error;

	switch ((enum node_kind)node->kind) {
	case NODE_REAL:
		return real_attributes(fs, node, st);
	case NODE_CONTROL:
		control_attributes(fs, node, st);
		return 0;
	case NODE_VIEW:
		error = view_attributes(fs, node, st);
		/* It was renamed away while we waited for its file. */
		return error == ESTALE && node->kind == NODE_REAL ? real_attributes(fs, node, st)
								  : error;
	default:
		return folder_attributes(fs, node, st);
	}
}

double fs_timeout(struct fs *fs, const struct node *node)
{
	bool short_lived;

	if (node->kind == NODE_CONTROL)
		return 0;
	if (node->kind == NODE_REAL || node->edited)
		return TIMEOUT;
	nodes_lock(&fs->nodes);
	short_lived = !node->file || is_unheard(node->file);
	nodes_unlock(&fs->nodes);
	return short_lived ? TIMEOUT : TIMEOUT_HEARD;
}

struct snap *fs_told(struct fs *fs, struct file *file)
{
	struct snap *snap;
	bool unheard;

	nodes_lock(&fs->nodes);
	unheard = is_unheard(file);
	nodes_unlock(&fs->nodes);
	if (unheard)
		return NULL;
	snap = source_last(file->source);
	if (snap && snap->generation == file->generation) {
		keep_good(fs, file, snap);
		return snap;
	}
	snap_put(snap);
	return NULL;
}

static void fill_entry(struct fs *fs, struct node *node, const struct stat *st,
		       struct fuse_entry_param *entry)
{
	double timeout = fs_timeout(fs, node);

	*entry = (struct fuse_entry_param){.attr = *st,
					   .attr_timeout = timeout,
					   .entry_timeout = timeout,
					   .generation = node->id == NODE_ROOT ? 0 : fs->stamp,
					   .ino = node->id};
	nodes_lock(&fs->nodes);
	node->lookups++;
	nodes_unlock(&fs->nodes);
}

int fs_entry(struct fs *fs, struct node *node, struct fuse_entry_param *entry)
{
	struct stat st;
	int error = fs_attributes(fs, node, &st);

	if (!error)
		fill_entry(fs, node, &st, entry);
	return error;
}

void fs_forget(struct fs *fs, fuse_ino_t ino, uint64_t count)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, ino);
	if (node)
		nodes_drop(&fs->nodes, node, count, 0);
	nodes_unlock(&fs->nodes);
}

/* ---- real things ---- */

/* The node of a real file under this name, with one reference for the caller. */
static struct node *enter_real(struct fs *fs, struct node *parent, enum node_area area,
			       const char *name, const struct identity *id, mode_t mode)
{
	struct node *node;
	bool folder = S_ISDIR(mode);

	nodes_lock(&fs->nodes);
	node = nodes_by_identity(&fs->nodes, id);
	if (node && (node->kind != NODE_REAL || node->folder != folder || node->area != area)) {
		nodes_leave_identity(&fs->nodes, node);
		node = NULL;
	}
	if (!node) {
		node = nodes_add(&fs->nodes, NODE_REAL, name);
		if (node) {
			node->area = (uint8_t)area;
			node->folder = folder;
			nodes_identify(&fs->nodes, node, id);
		}
	}
	if (node) {
		node->references++;
		/* A folder has one name: the one it was last seen under. */
		if (folder)
			nodes_unlink_all(&fs->nodes, node);
		if (!nodes_link(&fs->nodes, node, parent, name)) {
			nodes_drop(&fs->nodes, node, 0, 1);
			node = NULL;
		}
	}
	nodes_unlock(&fs->nodes);
	return node;
}

int fs_entry_found(struct fs *fs, struct node *parent, enum node_area area, const char *name,
		   const struct identity *id, struct stat *st, struct fuse_entry_param *entry)
{
	struct node *node = enter_real(fs, parent, area, name, id, st->st_mode);

	if (!node)
		return ENOMEM;
	fs_show_real(fs, st);
	fill_entry(fs, node, st, entry);
	fs_reference(fs, node, -1);
	return 0;
}

int fs_entry_real(struct fs *fs, struct node *parent, enum node_area area, int folder,
		  const char *name, struct fuse_entry_param *entry)
{
	struct identity id;
	struct stat st;
	int error = identity_at(folder, name, &id, &st);

	return error ? error : fs_entry_found(fs, parent, area, name, &id, &st, entry);
}

/* ---- animation files ---- */

struct node *fs_child(struct fs *fs, struct node *parent, const char *name)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, name);
	if (node)
		node->references++;
	nodes_unlock(&fs->nodes);
	return node;
}

/* The node has this name no more, unless another has it already. */
static void forget_child(struct fs *fs, struct node *parent, const char *name,
			 const struct node *node)
{
	nodes_lock(&fs->nodes);
	if (nodes_by_name(&fs->nodes, parent, name) == node)
		nodes_unlink(&fs->nodes, parent, name);
	nodes_unlock(&fs->nodes);
}

uint64_t fs_virtual_ino(const struct node *parent, const char *name)
{
	uint64_t seed = parent->shown_ino ? parent->shown_ino : parent->id;

	return XXH3_64bits_withSeed(name, strlen(name), seed) | (uint64_t)1 << 63;
}

/* A new folder node for `file`, which it takes over. Wants the nodes' lock. */
static struct node *enter_file(struct fs *fs, struct node *parent, const char *link,
			       struct file *file)
{
	struct node *node = nodes_add(&fs->nodes, NODE_FILE, link);

	if (!node) {
		file_free(file);
		return NULL;
	}
	node->folder = true;
	node->file = file;
	node->shown_ino = fs_virtual_ino(parent, link);
	file->node = node;
	node->references++;
	if (nodes_link(&fs->nodes, node, parent, link))
		return node;
	nodes_drop(&fs->nodes, node, 0, 1); /* and the file */
	return NULL;
}

/*
 * A folder node for an animation file; one reference for the caller. Another request may have made
 * it meanwhile.
 */
static int new_file_node(struct fs *fs, struct node *parent, const char *link, const char *name,
			 struct node **out)
{
	struct buf path = BUF_INIT;
	struct file *file = NULL;
	struct node *node = NULL;
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(parent, &path);
	nodes_unlock(&fs->nodes);
	if (!error) {
		file = file_new(fs->store, (const char *)path.data, name);
		error = file ? 0 : ENOMEM;
	}
	buf_release(&path);
	if (error)
		return error;
	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, link);
	if (node && node->kind == NODE_FILE) {
		node->references++;
	} else {
		node = enter_file(fs, parent, link, file);
		file = NULL;
	}
	nodes_unlock(&fs->nodes);
	file_free(file);
	*out = node;
	return node ? 0 : ENOMEM;
}

/* Is somebody still writing the file of this name, through the mount? */
static bool being_written(struct fs *fs, const struct identity *id)
{
	struct node *node;
	bool busy = false;

	nodes_lock(&fs->nodes);
	node = nodes_by_identity(&fs->nodes, id);
	for (struct handle *h = node && node->kind == NODE_REAL ? node->handles : NULL; h;
	     h = h->next_of_node)
		busy |= h->busy;
	nodes_unlock(&fs->nodes);
	return busy;
}

int fs_path(struct fs *fs, const struct node *parent, const char *name, struct buf *out)
{
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(parent, out);
	nodes_unlock(&fs->nodes);
	if (error)
		return error;
	out->size--; /* the NUL */
	if (out->size)
		buf_char(out, '/');
	buf_add(out, name, strlen(name) + 1);
	return out->failed ? ENOMEM : 0;
}

/* For .animfs/errors: how the file is shown, and why so; reason NULL: as it should be. */
static void note_verdict(struct fs *fs, struct node *parent, const char *name, const char *how,
			 const char *reason)
{
	struct buf path = BUF_INIT;

	if (fs_path(fs, parent, name, &path) == 0)
		journal_note(fs, (const char *)path.data, how, reason);
	buf_release(&path);
}

/* A folder beside its file that was removed. */
static bool is_hidden(struct file *file, const struct node *parent, const char *link)
{
	bool hidden;

	file_lock(file);
	hidden = file_is_away(file, parent, link);
	file_unlock(file);
	return hidden;
}

/*
 * Of a file that cannot be read: ENOTDIR where that lasts, so that it is shown as it is; else its
 * errno: programs would take a file in the place of a folder for another thing.
 */
static int verdict_errno(const struct err *err)
{
	static const int lasting[] = {EACCES, EPERM, EAGAIN, ENOENT, ELOOP, EISDIR, EINVAL};

	if (err->code == ERR_MEMORY)
		return ENOMEM;
	if (err->code != ERR_SYSTEM)
		return ENOTDIR;
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		if (err->number == lasting[i])
			return ENOTDIR;
	}
	return err->number;
}

/* Is there anything that the kernel was told, perhaps before the file was gone for a while? */
static bool is_known(struct fs *fs, const struct file *file)
{
	bool known = file->generation;

	nodes_lock(&fs->nodes);
	known |= file->members != NULL;
	nodes_unlock(&fs->nodes);
	return known;
}

/*
 * The animation file `name` of a real folder, as a folder named `link`. ENOTDIR when it does not
 * decode (and then is an ordinary file); one reference for the caller.
 */
static int find_file_now(struct fs *fs, struct node *parent, int folder, const char *link,
			 const char *name, struct node **out)
{
	struct err err = {.code = ERR_NONE};
	struct node *node = fs_child(fs, parent, link);
	struct snap *snap;
	struct stat st;
	int error = 0;
	bool known;

	if (node && node->kind != NODE_FILE) {
		fs_reference(fs, node, -1);
		node = NULL;
	}
	if (node && strcmp(link, name) != 0 && is_hidden(node->file, parent, link)) {
		fs_reference(fs, node, -1);
		return ENOTDIR;
	}
	if (!node)
		error = new_file_node(fs, parent, link, name, &node);
	if (error)
		return error;
	known = is_known(fs, node->file);
	if (known)
		fs_catch_up(fs, node->file);
	snap = node->file->damaged ? NULL : shown(fs, node->file);
	if (!snap)
		snap = look_in(fs, node->file, folder, &st, &err);
	if (snap && stays_file(fs, snap->codec) != (strcmp(link, name) != 0)) {
		error = ENOTDIR; /* it is shown, but not under this name */
	} else if (snap) {
		note_verdict(fs, parent, name, "read-only", snap->anim->read_only);
		if (!known)
			node->file->generation = snap->generation;
	} else {
		error = verdict_errno(&err);
		/* That a file of any name is no animation is nothing to tell. */
		note_verdict(fs, parent, name, error == ENOTDIR ? "shown as it is" : "not read",
			     err.code == ERR_UNKNOWN ? NULL : err.message);
		snap = fs->unopened_files ? NULL : last_good(fs, node->file);
		error = snap ? 0 : error;
	}
	snap_put(snap);
	if (!error) {
		*out = node;
		return 0;
	}
	if (error == ENOTDIR)
		forget_child(fs, parent, link, node);
	fs_reference(fs, node, -1);
	return error;
}

static int find_file(struct fs *fs, struct node *parent, int folder, const char *link,
		     const char *name, struct node **out)
{
	uint64_t before = slow_in(parent->id);
	int error = find_file_now(fs, parent, folder, link, name, out);

	slow_in(before);
	return error;
}

const char *const beside_suffixes[2] = {".d", ".d~2"};

bool fs_may_show(struct fs *fs, const char *name, bool beside)
{
	const struct codec *codec;
	bool probe;

	if (!store_claims(fs->store, name, &codec, &probe))
		return false;
	return probe ? beside || !fs->options->beside : stays_file(fs, codec) == beside;
}

/*
 * "x.canm.d": the file that this folder would stand beside; "x.canm.d~2" where something real is
 * called "x.canm.d". False for any other name.
 */
static bool beside_name(struct fs *fs, int folder, const char *name, char base[NAME_MAX + 1])
{
	struct stat st;
	char *end;

	strcpy(base, name);
	end = strrchr(base, '.');
	if (!end || (strcmp(end, beside_suffixes[0]) != 0 && strcmp(end, beside_suffixes[1]) != 0))
		return false;
	if (end[2]) {
		end[2] = '\0';
		if (fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return false;
	}
	*end = '\0';
	return fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       fs_may_show(fs, base, true);
}

static int entry_and_release(struct fs *fs, struct node *node, struct fuse_entry_param *entry)
{
	int error = fs_entry(fs, node, entry);

	fs_reference(fs, node, -1);
	return error;
}

static int lookup_in_source(struct fs *fs, struct node *parent, const char *name,
			    struct fuse_entry_param *entry)
{
	char base[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct node *node;
	struct stat st;
	int error = folder_open(&fs->folders, parent, &folder);

	if (error)
		return error;
	outside_watch(fs, parent, folder.fd);
	error = identity_at(folder.fd, name, &id, &st);
	if (error == ENOENT && !filling_has(fs, parent) && beside_name(fs, folder.fd, name, base)) {
		error = find_file(fs, parent, folder.fd, name, base, &node);
		error = error == ENOTDIR ? ENOENT : error;
		if (!error)
			error = entry_and_release(fs, node, entry);
		goto done;
	}
	if (!error && state_is(fs->state, &st))
		error = ENOENT;
	if (error)
		goto done;
	if (S_ISREG(st.st_mode) && fs_may_show(fs, name, false) && !being_written(fs, &id) &&
	    !filling_has(fs, parent)) {
		error = find_file(fs, parent, folder.fd, name, name, &node);
		if (!error)
			error = entry_and_release(fs, node, entry);
		if (error != ENOTDIR)
			goto done;
	}
	error = fs_entry_found(fs, parent, AREA_SOURCE, name, &id, &st, entry);
done:
	folder_close(&fs->folders, &folder);
	return error;
}

/* ---- what is inside an animation file's folder ---- */

/* Where a view was in the version that it was opened with, whatever its folder's name is now. */
static bool opened_place(struct fs *fs, const struct snap *snap, const struct node *node,
			 struct place *out)
{
	const struct handle *opened;
	bool is_this;

	if (node->kind != NODE_VIEW)
		return false;
	nodes_lock(&fs->nodes);
	opened = handles_version(node);
	is_this = opened && opened->version == snap;
	if (is_this)
		*out = opened->place;
	nodes_unlock(&fs->nodes);
	return is_this;
}

int fs_place(struct fs *fs, const struct snap *snap, const struct node *node, struct place *out)
{
	char names[VIRTUAL_DEPTH][NAME_MAX + 1];
	struct tree tree = {snap, NULL};
	unsigned depth = 0;
	int error = 0;

	if (opened_place(fs, snap, node, out))
		return 0;
	nodes_lock(&fs->nodes);
	while (node->kind != NODE_FILE && node_link(node) && depth < VIRTUAL_DEPTH) {
		strcpy(names[depth++], node_link(node)->name);
		node = node_link(node)->parent;
	}
	if (node->kind == NODE_FILE)
		tree.file_name = node->file->name;
	nodes_unlock(&fs->nodes);
	if (!tree.file_name)
		return ENOENT;
	*out = (struct place){PLACE_FILE, NULL, 0, 0, 0};
	while (depth > 0 && !error) {
		struct place folder = *out;

		error = tree_find(&tree, &folder, names[--depth], out);
	}
	return error;
}

uint8_t view_number(const struct view *view)
{
	uint8_t number = 0;

	while (views[number] != view)
		number++;
	return number;
}

void node_join_file(struct node *node, struct file *file)
{
	node->file = file;
	file->node->references++; /* one that lost its name may outlive the folder's */
	node->next_in_file = file->members;
	if (file->members)
		file->members->back_in_file = &node->next_in_file;
	node->back_in_file = &file->members;
	file->members = node;
}

void node_become_view(struct node *node, struct file *file, const struct view *view)
{
	node->kind = NODE_VIEW;
	node->view = view_number(view);
	node->generation = 0;
	node_join_file(node, file);
}

void node_leave_file(struct nodes *t, struct node *node)
{
	if (!node->back_in_file)
		return;
	*node->back_in_file = node->next_in_file;
	if (node->next_in_file)
		node->next_in_file->back_in_file = node->back_in_file;
	node->next_in_file = NULL;
	node->back_in_file = NULL;
	nodes_drop(t, node->file->node, 0, 1);
}

struct node **file_members(struct fs *fs, const struct file *file,
			   bool (*wanted)(const struct node *node, const void *user),
			   const void *user)
{
	struct node **list;
	size_t count = 0;

	nodes_lock(&fs->nodes);
	for (const struct node *n = file->members; n; n = n->next_in_file)
		count++;
	list = calloc(count + 1, sizeof(*list));
	count = 0;
	for (struct node *n = file->members; n && list; n = n->next_in_file) {
		if (!wanted(n, user))
			continue;
		n->references++;
		list[count++] = n;
	}
	nodes_unlock(&fs->nodes);
	return list;
}

static enum node_kind kind_of(const struct place *place)
{
	switch (place->kind) {
	case PLACE_CLIP:
		return NODE_CLIP;
	case PLACE_BONES:
		return NODE_BONES;
	case PLACE_FRAMES:
		return NODE_FRAMES;
	default:
		return NODE_VIEW;
	}
}

int fs_view_node(struct fs *fs, struct node *parent, const char *name, const struct place *place,
		 struct node **out)
{
	struct node *node;

	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, name);
	if (node && node->kind != kind_of(place))
		node = NULL;
	if (node) {
		node->references++;
		goto done;
	}
	node = nodes_add(&fs->nodes, kind_of(place), name);
	if (!node)
		goto done;
	node->references++;
	node->folder = place->kind != PLACE_VIEW;
	node->shown_ino = fs_virtual_ino(parent, name);
	if (node->folder)
		node_join_file(node, parent->file);
	else
		node_become_view(node, parent->file, place->view);
	if (!nodes_link(&fs->nodes, node, parent, name)) {
		nodes_drop(&fs->nodes, node, 0, 1);
		node = NULL;
	}
done:
	nodes_unlock(&fs->nodes);
	*out = node;
	return node ? 0 : ENOMEM;
}

int fs_find_view(struct fs *fs, const struct snap *snap, struct node *parent, const char *name,
		 struct place *place)
{
	struct tree tree = {snap, parent->file->name};
	struct place folder;
	int error = fs_place(fs, snap, parent, &folder);

	return error ? error : tree_find(&tree, &folder, name, place);
}

bool fs_is_view(struct fs *fs, const struct snap *snap, struct node *parent, const char *name,
		struct place *place)
{
	return fs_find_view(fs, snap, parent, name, place) == 0;
}

static int lookup_extra(struct fs *fs, struct node *parent, const char *name,
			struct fuse_entry_param *entry)
{
	static const enum node_area areas[] = {AREA_EXTRA, AREA_REJECTED};
	struct folder folder;
	int error = ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(areas) && error == ENOENT; i++) {
		error = fs_folder(fs, parent, areas[i], false, &folder);
		if (error)
			continue;
		error = fs_entry_real(fs, parent, areas[i], folder.fd, name, entry);
		folder_close(&fs->folders, &folder);
	}
	return error == ENOTDIR ? ENOENT : error;
}

static int lookup_virtual(struct fs *fs, struct node *parent, const char *name,
			  struct fuse_entry_param *entry)
{
	struct node *node = NULL;
	struct place place;
	struct file *file;
	struct snap *snap;
	struct stat st;
	int error = fs_lock_shown(fs, parent, &file, &snap, &st);

	if (error) {
		if (file)
			fs_unlock_file(fs, file);
		return error;
	}
	error = fs_find_view(fs, snap, parent, name, &place);
	if (!error && !file_is_away(file, parent, name))
		error = fs_view_node(fs, parent, name, &place, &node);
	if (node)
		error = attributes_in(fs, node, snap, &place, &st);
	fs_unlock_file(fs, file);
	snap_put(snap);
	if (!node && error != ENOMEM)
		return lookup_extra(fs, parent, name, entry);
	if (!node)
		return error;
	if (!error)
		fill_entry(fs, node, &st, entry);
	fs_reference(fs, node, -1);
	return error;
}

int fs_lookup_handle(struct fs *fs, fuse_ino_t ino, bool above, struct fuse_entry_param *entry)
{
	struct node *node;
	int error;

	nodes_lock(&fs->nodes);
	node = nodes_by_id(&fs->nodes, ino);
	if (node && above && ino != NODE_ROOT)
		node = node_link(node) ? node_link(node)->parent : NULL;
	if (node)
		node->references++;
	nodes_unlock(&fs->nodes);
	if (!node)
		return ESTALE;
	error = entry_and_release(fs, node, entry);
	return error == ENOENT ? ESTALE : error;
}

int fs_lookup(struct fs *fs, struct node *parent, const char *name, struct fuse_entry_param *entry)
{
	struct folder folder;
	int error;

	if (parent->kind == NODE_CONTROL || (parent->id == NODE_ROOT && strcmp(name, CONTROL) == 0))
		return control_lookup(fs, parent, name, entry);
	if (node_is_virtual(parent))
		return lookup_virtual(fs, parent, name, entry);
	if (parent->area == AREA_SOURCE)
		return lookup_in_source(fs, parent, name, entry);
	error = fs_folder(fs, parent, (enum node_area)parent->area, false, &folder);
	if (error)
		return error;
	error = fs_entry_real(fs, parent, (enum node_area)parent->area, folder.fd, name, entry);
	folder_close(&fs->folders, &folder);
	return error;
}
