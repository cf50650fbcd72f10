/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dir.c - folders. A handle reads the whole folder when it is read from its beginning, and answers
 * from that, so that neither a change nor a second reader moves it.
 *
 * The kernel keeps what it was told and tells it again to whoever opens the folder next, if that is
 * still the same; so a folder that it knows is read when it is opened. Without handles it is told
 * when a folder changes.
 */
#include "entries.h"
#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- real folders ---- */

/* What a directory entry says of a name that may turn out to be a folder: nothing. */
static mode_t type_of(struct fs *fs, const struct dirent *entry, bool source)
{
	if (entry->d_type == DT_UNKNOWN)
		return 0;
	if (source && entry->d_type == DT_REG && fs_may_show(fs, entry->d_name, false))
		return 0;
	return (mode_t)DTTOIF(entry->d_type);
}

/* The state directory is the mount's own business. */
static bool is_state(struct fs *fs, const struct stat *folder, const struct dirent *entry)
{
	struct stat st = {.st_dev = folder->st_dev, .st_ino = entry->d_ino};

	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && state_is(fs->state, &st);
}

static int list_descriptor(struct fs *fs, int fd, bool source, bool dots, struct listing *l)
{
	struct dirent *entry;
	struct stat st;
	int error = 0;
	DIR *dir = fstat(fd, &st) == 0 ? fdopendir(fd) : NULL;

	if (!dir) {
		error = errno;
		close(fd);
		return error;
	}
	while (errno = 0, (entry = readdir(dir))) {
		bool dot = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;

		if ((dot && !dots) || (source && is_state(fs, &st, entry)))
			continue;
		if (!listing_add(l, entry->d_name, entry->d_ino, type_of(fs, entry, source))) {
			error = ENOMEM;
			break;
		}
	}
	if (!error)
		error = errno;
	closedir(dir);
	return error;
}

static int list_folder(struct fs *fs, struct node *node, enum node_area area, struct listing *l)
{
	struct folder folder;
	int fd, error = fs_folder(fs, node, area, false, &folder);

	if (error)
		return error;
	fd = openat(folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = fd < 0 ? errno : 0;
	folder_close(&fs->folders, &folder);
	return error ? error : list_descriptor(fs, fd, area == AREA_SOURCE, false, l);
}

/* Is this name, in this folder, the folder of an animation? Of one that cannot be read just now. */
static bool is_file_folder(struct fs *fs, struct node *node, const char *name)
{
	struct fuse_entry_param entry;
	int error = fs_lookup(fs, node, name, &entry);
	bool is;

	if (error)
		return error != ENOENT;
	is = fs_node(fs, entry.ino)->kind == NODE_FILE;
	fs_forget(fs, entry.ino, 1);
	return is;
}

/* The folders of animations that stay files, behind the files. A real entry of that name wins. */
static int list_beside(struct fs *fs, struct node *node, struct listing *l)
{
	size_t count = l->count;

	for (size_t i = 0; i < count; i++) {
		mode_t type = l->entries[i].type;
		char name[NAME_MAX + 8];

		if ((type && type != S_IFREG) || !fs_may_show(fs, listing_name(l, i), true))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(beside_suffixes); j++) {
			snprintf(name, sizeof(name), "%s%s", listing_name(l, i),
				 beside_suffixes[j]);
			if (strlen(name) > NAME_MAX || !is_file_folder(fs, node, name))
				continue;
			if (!listing_add(l, name, fs_virtual_ino(node, name), S_IFDIR))
				return ENOMEM;
			break;
		}
	}
	return 0;
}

/* ---- virtual folders ---- */

struct view_lister {
	struct fs *fs;
	struct node *node;
	struct listing *listing;
};

static bool add_place(void *closure, const char *name, const struct place *place)
{
	struct view_lister *lister = closure;

	if (!file_is_away(lister->node->file, lister->node, name))
		return listing_add_place(lister->listing, name, fs_virtual_ino(lister->node, name),
					 place->kind == PLACE_VIEW ? view_number(place->view) : -1);
	listing_pass_place(lister->listing);
	return true;
}

static int list_places(struct fs *fs, struct node *node, struct listing *l)
{
	struct view_lister lister = {fs, node, l};
	struct place place;
	struct file *file;
	struct snap *snap;
	struct tree tree;
	struct stat st;
	int error = fs_lock_shown(fs, node, &file, &snap, &st);

	if (error) {
		if (file)
			fs_unlock_file(fs, file);
		return error;
	}
	tree = (struct tree){snap, file->name};
	error = fs_place(fs, snap, node, &place);
	if (!error && !tree_list(&tree, &place, fs->options->listed, add_place, &lister))
		error = ENOMEM;
	fs_unlock_file(fs, file);
	snap_put(snap);
	return error;
}

/*
 * Folders of other clips and folders inside one are mirrored in extra/ too: what is listed already,
 * as a view, a clip or an extra, is not listed a second time.
 */
static void drop_doubles(struct listing *l, size_t before)
{
	size_t kept = before;

	for (size_t i = before; i < l->count; i++) {
		bool twice = false;

		for (size_t j = 0; j < before && !twice; j++)
			twice = strcmp(listing_name(l, i), listing_name(l, j)) == 0;
		if (!twice)
			l->entries[kept++] = l->entries[i];
	}
	l->count = kept;
}

static int list_virtual(struct fs *fs, struct node *node, struct listing *l)
{
	static const enum node_area areas[] = {AREA_EXTRA, AREA_REJECTED};
	int error;

	if (!listing_add(l, ".", 0, S_IFDIR) || !listing_add(l, "..", 0, S_IFDIR))
		return ENOMEM;
	error = list_places(fs, node, l);
	for (size_t i = 0; i < ARRAY_SIZE(areas) && !error; i++) {
		size_t before = l->count;

		error = list_folder(fs, node, areas[i], l);
		if (error == ENOENT || error == ENOTDIR)
			error = 0;
		if (!error)
			drop_doubles(l, before);
	}
	return error;
}

int fs_check_empty(struct fs *fs, struct node *node)
{
	struct listing l = {.count = 0};
	int error = list_virtual(fs, node, &l);

	if (!error && l.count > 2)
		error = ENOTEMPTY;
	buf_release(&l.names);
	free(l.entries);
	return error;
}

/* ---- all ---- */

/* A descriptor of its own: it is still that folder when its name is gone. */
static int open_real_folder(struct fs *fs, struct node *node, int *fd)
{
	struct folder folder;
	int error = fs_folder(fs, node, (enum node_area)node->area, false, &folder);

	if (error) {
		*fd = handle_borrow(fs, node);
		return *fd < 0 ? error : 0;
	}
	*fd = openat(folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = *fd < 0 ? errno : 0;
	folder_close(&fs->folders, &folder);
	return error;
}

static int list_real(struct fs *fs, struct node *node, const struct handle *handle,
		     struct listing *l)
{
	int fd, error = 0;

	if (!handle || handle->fd < 0)
		error = open_real_folder(fs, node, &fd);
	else if ((fd = openat(handle->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		error = errno;
	if (error)
		return error;
	if (node->area == AREA_SOURCE)
		outside_watch(fs, node, fd); /* before it is read, or a change gets lost */
	return list_descriptor(fs, fd, node->area == AREA_SOURCE, true, l);
}

static int fill(struct fs *fs, struct node *node, const struct handle *handle, struct listing *l)
{
	int error;

	if (node->kind == NODE_CONTROL) {
		static const char *const names[] = {".", "..", "status", "formats", "errors"};

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			listing_add(l, names[i], 0, i < 2 ? S_IFDIR : S_IFREG);
		return l->names.failed ? ENOMEM : 0;
	}
	if (node_is_virtual(node))
		return list_virtual(fs, node, l);
	error = list_real(fs, node, handle, l);
	if (!error && node->area == AREA_SOURCE && !filling_has(fs, node))
		error = list_beside(fs, node, l);
	return error;
}

static int listing_make(struct fs *fs, struct node *node, const struct handle *handle,
			struct listing **out)
{
	int error;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return ENOMEM;
	error = fill(fs, node, handle, *out);
	if (!error)
		listing_order(*out);
	if (error) {
		listing_free(*out);
		*out = NULL;
	}
	return error;
}

static int refill(struct fs *fs, struct handle *handle)
{
	listing_free(handle->listing);
	return listing_make(fs, handle->node, handle, &handle->listing);
}

/* What the kernel keeps comes from one handle at a time, so that it is of one reading. */
static bool is_only_handle(struct fs *fs, const struct handle *handle)
{
	bool only;

	nodes_lock(&fs->nodes);
	only = handle->node->handles == handle && !handle->next_of_node;
	nodes_unlock(&fs->nodes);
	return only;
}

/* May the kernel tell again what it was told, and may it keep what it is told now? */
static void open_listing(struct fs *fs, struct handle *handle, struct fuse_file_info *fi)
{
	struct node *node = handle->node;

	fi->cache_readdir = node->kind != NODE_CONTROL && is_only_handle(fs, handle);
	handle->caches = fi->cache_readdir;
	if (!node->cached || refill(fs, handle) != 0)
		return;
	handle->listing->fresh = true;
	fi->keep_cache = listing_hash(handle->listing) == node->cached;
}

/* Of two readings that differ the kernel would keep a part each. */
static void note_told(struct handle *handle)
{
	uint32_t hash = listing_hash(handle->listing);

	if (handle->told && handle->told != hash)
		handle->caches = false;
	handle->told = hash;
	handle->node->cached = handle->caches ? hash : 0;
}

static int read_listing(struct fs *fs, struct handle *handle)
{
	int error = 0;

	if (!handle->listing || !handle->listing->fresh)
		error = refill(fs, handle);
	if (error)
		return error;
	handle->listing->fresh = false;
	if (handle->caches)
		note_told(handle);
	return 0;
}

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	struct handle *handle;
	int fd = -1, error = 0;

	if (fs->unopened_folders)
		error = ENOSYS;
	else if (node->kind == NODE_REAL)
		error = open_real_folder(fs, node, &fd);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	/* A folder is read without one as well, as long as it has its name. */
	if (fd >= 0)
		(void)handle_keep(fs, &fd);
	handle = handle_new(fs, node, fi->flags, fd);
	if (!handle) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	fi->fh = (uintptr_t)handle;
	open_listing(fs, handle, fi);
	fuse_reply_open(req, fi);
}

/*
 * With attributes, except for views whose size nobody seems to want. Such an entry has no node, and
 * the kernel looks it up when it is wanted after all.
 */
static size_t add_plus(fuse_req_t req, struct fs *fs, struct node *node, const struct listing *l,
		       size_t i, view_set told, char *at, size_t room)
{
	struct fuse_entry_param entry = {.ino = 0};
	const char *name = listing_name(l, i);
	bool dot = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	int view = l->entries[i].view;
	size_t size = fuse_add_direntry_plus(req, NULL, 0, name, NULL, 0);

	if (size > room)
		return size;
	if (!dot && (view < 0 || asker_is_told(fs->asker, told, (unsigned)view)) &&
	    fs_lookup(fs, node, name, &entry) != 0)
		entry.ino = 0;
	/* The type would be kept with the names, and be wrong when it is a folder after all. */
	if (entry.ino && !l->entries[i].type && S_ISREG(entry.attr.st_mode)) {
		fs_forget(fs, entry.ino, 1);
		entry = (struct fuse_entry_param){.ino = 0};
	}
	if (!entry.ino) {
		entry.attr.st_ino = l->entries[i].ino ? l->entries[i].ino : 1;
		entry.attr.st_mode = l->entries[i].type;
	}
	return fuse_add_direntry_plus(req, at, room, name, &entry, (off_t)l->entries[i].offset);
}

static size_t add_plain(fuse_req_t req, const struct listing *l, size_t i, char *at, size_t room)
{
	struct stat st = {.st_ino = l->entries[i].ino ? l->entries[i].ino : 1,
			  .st_mode = l->entries[i].type};

	return fuse_add_direntry(req, at, room, listing_name(l, i), &st,
				 (off_t)l->entries[i].offset);
}

/* As many entries as there is room for. */
static size_t add_entries(fuse_req_t req, struct node *node, const struct listing *l, off_t behind,
			  char *buf, size_t size, bool plus)
{
	struct fs *fs = fs_of(req);
	pid_t pid = fuse_req_ctx(req)->pid;
	view_set told = 0;
	size_t used = 0;

	if (plus && l->has_views)
		told = behind ? asker_goes_on(fs->asker, pid) : asker_begin(fs->asker, pid);
	for (size_t i = listing_behind(l, (uint64_t)behind); i < l->count; i++) {
		size_t more;

		if (node->id == NODE_ROOT && strcmp(listing_name(l, i), CONTROL) == 0)
			continue; /* it answers by name only */
		more = plus ? add_plus(req, fs, node, l, i, told, buf + used, size - used)
			    : add_plain(req, l, i, buf + used, size - used);
		if (more > size - used)
			break;
		used += more;
	}
	return used;
}

static int read_handle(fuse_req_t req, struct handle *handle, off_t off, char *buf, size_t size,
		       bool plus, size_t *used)
{
	int error = off == 0 || !handle->listing ? read_listing(fs_of(req), handle) : 0;

	if (!error)
		*used = add_entries(req, handle->node, handle->listing, off, buf, size, plus);
	return error;
}

static int read_unopened(fuse_req_t req, struct node *node, off_t off, char *buf, size_t size,
			 bool plus, size_t *used)
{
	struct fs *fs = fs_of(req);
	struct listing *l = off ? listings_take(fs->listings, node->id) : NULL;
	int error = l ? 0 : listing_make(fs, node, NULL, &l);

	if (error)
		return error;
	*used = add_entries(req, node, l, off, buf, size, plus);
	listings_put(fs->listings, node->id, l);
	return 0;
}

static void read_folder(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			struct fuse_file_info *fi, bool plus)
{
	struct handle *handle = handle_of(fi);
	char *buf = malloc(size);
	size_t used = 0;
	int error;

	if (!buf)
		error = ENOMEM;
	else if (handle)
		error = read_handle(req, handle, off, buf, size, plus, &used);
	else
		error = read_unopened(req, fs_node(fs_of(req), ino), off, buf, size, plus, &used);
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_buf(req, buf, used);
	free(buf);
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	read_folder(req, ino, size, off, fi, false);
}

void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	read_folder(req, ino, size, off, fi, true);
}

/* Ends what time would end, and tells how that went. */
static int sync_file(struct fs *fs, const struct node *folder)
{
	struct changes changes = CHANGES_NONE;
	struct file *file = fs_file_of(fs, folder);
	int filled, error;

	if (!file)
		return ESTALE;
	filled = fillings_finish(fs, file->node);
	file_lock(file);
	error = burst_finish(fs, file, &changes);
	fs_unlock_file(fs, file);
	changes_tell(fs, &changes);
	return filled ? filled : error;
}

static int sync_real(struct fs *fs, struct node *node, const struct handle *handle, int datasync)
{
	int opened = -1, fd = handle ? handle->fd : -1, error = 0;

	if (fd < 0) {
		error = open_real_folder(fs, node, &opened);
		fd = opened;
	}
	if (!error && (datasync ? fdatasync(fd) : fsync(fd)) != 0)
		error = errno;
	if (opened >= 0)
		close(opened);
	return error;
}

void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct node *node = fs_node_of(req, ino, fi);
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	int error = 0;

	if (node_is_virtual(node))
		error = sync_file(fs, node);
	else if (node->filling)
		error = fillings_finish(fs, node);
	else if (node->kind == NODE_REAL)
		error = sync_real(fs, node, handle, datasync);
	fuse_reply_err(req, error);
}
