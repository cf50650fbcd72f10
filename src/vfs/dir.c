/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dir.c - folders. A handle reads the whole folder when it is read from its beginning, and answers
 * from that, so that neither a change nor a second reader moves it.
 *
 * The kernel keeps a listing and serves it to the next opener if the folder is still the same, so a
 * folder of which it has one is read when it is opened. Without handles the kernel is notified when
 * a folder changes.
 */
#include "dir.h"

#include "asker.h"
#include "control.h"
#include "end.h"
#include "handle.h"
#include "plain.h"
#include "staging.h"
#include "watching.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool list_dots(struct listing *l)
{
	return listing_add(l, ".", 0, S_IFDIR) && listing_add(l, "..", 0, S_IFDIR);
}

/* ---- plain folders ---- */

/* 0 for a name that may turn out to be an animation's folder. */
static mode_t type_of(struct vfs *v, const struct dirent *entry, bool source)
{
	if (entry->d_type == DT_UNKNOWN)
		return 0;
	if (source && entry->d_type == DT_REG && name_may_show(v, entry->d_name, false))
		return 0;
	return (mode_t)DTTOIF(entry->d_type);
}

/* The state directory is the mount's own business. */
static bool is_state(struct vfs *v, const struct stat *folder, const struct dirent *entry)
{
	struct stat st = {.st_dev = folder->st_dev, .st_ino = entry->d_ino};

	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && state_is(v->state, &st);
}

/* The descriptor is closed. */
static int list_descriptor(struct vfs *v, int fd, bool source, bool dots, struct listing *l)
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
		if ((!dots && is_dot(entry->d_name)) || (source && is_state(v, &st, entry)))
			continue;
		if (!listing_add(l, entry->d_name, entry->d_ino, type_of(v, entry, source))) {
			error = ENOMEM;
			break;
		}
	}
	if (!error)
		error = errno;
	closedir(dir);
	return error;
}

/* The folder of an area that belongs to a folder. */
static int open_area(struct vfs *v, const struct target *t, enum area area, int *fd)
{
	struct folder folder;
	int error = plain_folder(v, t, area, false, &folder);

	if (error)
		return error;
	*fd = openat(folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = *fd < 0 ? errno : 0;
	folder_close(v, &folder);
	return error;
}

/* A descriptor of its own: it is still that folder when its name is gone. */
static int open_plain(struct vfs *v, const struct target *t, int *fd)
{
	int error = open_area(v, t, (enum area)t->thing->area, fd);

	if (!error)
		return 0;
	*fd = plain_borrow(v, t);
	return *fd < 0 ? error : 0;
}

/* The handle's own descriptor, which stays the handle's; -1: there is none. */
static int descriptor_of(struct vfs *v, const struct handle *handle)
{
	int fd;

	vfs_lock(v);
	fd = handle ? handle->fd : -1;
	vfs_unlock(v);
	return fd;
}

static int list_plain(struct vfs *v, const struct target *t, const struct handle *handle,
		      struct listing *l)
{
	bool source = t->thing->area == AREA_SOURCE;
	int fd, error = 0, opened = descriptor_of(v, handle);

	if (opened < 0)
		error = open_plain(v, t, &fd);
	else if ((fd = openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		error = errno;
	if (error)
		return error;
	if (source)
		folder_watch(v, t, fd); /* before it is read, or a change gets lost */
	return list_descriptor(v, fd, source, true, l);
}

/* Is this name, in this folder, the folder of an animation? Of one that cannot be read just now. */
static bool is_animation(struct vfs *v, const struct target *parent, const char *name)
{
	struct target found;
	struct entry entry;
	int error = lookup_in(v, parent, name, &entry);
	bool is = false;

	if (error)
		return error != ENOENT;
	if (target_get(v, entry.node, &found) == 0) {
		is = found.thing->kind == THING_ANIMATION;
		target_put(v, &found);
	}
	vfs_forget(v, entry.node, 1);
	return is;
}

static uint64_t ino_of(struct vfs *v, const struct target *parent, const char *name)
{
	uint64_t ino;

	vfs_lock(v);
	ino = virtual_ino(parent->node, name);
	vfs_unlock(v);
	return ino;
}

/* The folders of animations that stay files, behind the files. A plain entry of that name wins. */
static int list_beside(struct vfs *v, const struct target *t, struct listing *l)
{
	size_t count = l->count;

	for (size_t i = 0; i < count; i++) {
		mode_t type = l->entries[i].type;
		char name[NAME_MAX + 8];

		if ((type && type != S_IFREG) || !name_may_show(v, listing_name(l, i), true))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(beside_suffixes); j++) {
			snprintf(name, sizeof(name), "%s%s", listing_name(l, i),
				 beside_suffixes[j]);
			if (strlen(name) > NAME_MAX || !is_animation(v, t, name))
				continue;
			if (!listing_add(l, name, ino_of(v, t, name), S_IFDIR))
				return ENOMEM;
			break;
		}
	}
	return 0;
}

/* ---- virtual folders ---- */

struct lister {
	struct vfs *v;
	const struct target *folder;
	struct listing *listing;
};

static bool add_place(void *closure, const char *name, const struct place *place)
{
	const struct lister *lister = closure;
	const struct node *node = lister->folder->node;
	struct vfs *v = lister->v;
	uint64_t ino;
	bool absent;

	vfs_lock(v);
	absent = name_is_absent(lister->folder->thing->animation, node, name);
	ino = virtual_ino(node, name);
	vfs_unlock(v);
	if (!absent)
		return listing_add_place(lister->listing, name, ino,
					 place->kind == PLACE_VIEW ? view_number(place->view) : -1);
	listing_pass_place(lister->listing);
	return true;
}

static int list_places(struct vfs *v, const struct target *t, struct listing *l)
{
	struct lister lister = {v, t, l};
	struct sight s;
	struct stat st;
	struct tree tree;
	int error = sight_of(v, t, &s, &st);

	if (error)
		return error;
	tree = sight_tree(&s);
	if (!tree_list(&tree, &s.place, v->options->listed, add_place, &lister))
		error = ENOMEM;
	sight_release(&s);
	return error;
}

/*
 * The upper folders also have those of clips, and of folders inside one: what is listed already, as
 * a view, a clip or an upper file, is not listed a second time.
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

static int list_virtual(struct vfs *v, const struct target *t, struct listing *l)
{
	static const enum area areas[] = {AREA_UPPER, AREA_REJECTED};
	int fd, error = list_dots(l) ? list_places(v, t, l) : ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(areas) && !error; i++) {
		size_t before = l->count;

		error = open_area(v, t, areas[i], &fd);
		if (!error)
			error = list_descriptor(v, fd, false, false, l);
		else if (error == ENOENT || error == ENOTDIR)
			error = 0;
		if (!error)
			drop_doubles(l, before);
	}
	return error;
}

int folder_check_empty(struct vfs *v, const struct target *folder)
{
	struct listing l = {.count = 0};
	int error = list_virtual(v, folder, &l);

	if (!error && l.count > 2)
		error = ENOTEMPTY;
	buf_release(&l.names);
	free(l.entries);
	return error;
}

/* ---- listings ---- */

static int list_control(struct listing *l)
{
	bool fine = list_dots(l);
	const char *name;

	for (unsigned i = 0; fine && (name = control_name(i)); i++)
		fine = listing_add(l, name, 0, S_IFREG);
	return fine ? 0 : ENOMEM;
}

static int list(struct vfs *v, const struct target *t, const struct handle *handle,
		struct listing *l)
{
	int error;

	if (t->thing->kind == THING_CONTROL)
		return list_control(l);
	if (thing_is_virtual(t->thing))
		return list_virtual(v, t, l);
	error = list_plain(v, t, handle, l);
	if (!error && t->thing->area == AREA_SOURCE && !is_staged(v, t->node))
		error = list_beside(v, t, l);
	return error;
}

static int listing_make(struct vfs *v, const struct target *t, const struct handle *handle,
			struct listing **out)
{
	int error;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return ENOMEM;
	error = list(v, t, handle, *out);
	if (!error) {
		listing_order(*out);
		return 0;
	}
	listing_free(*out);
	*out = NULL;
	return error;
}

static int refill(struct vfs *v, const struct target *t, struct handle *handle)
{
	listing_free(handle->listing);
	return listing_make(v, t, handle, &handle->listing);
}

/* ---- opening ---- */

/* May the kernel serve the listing that it has, and may it keep the one that it gets now? */
static void open_listing(struct vfs *v, const struct target *t, struct opened *o)
{
	struct handle *handle = o->handle;
	uint64_t cached;

	vfs_lock(v);
	/* What the kernel keeps comes from one handle at a time, so that it is of one reading. */
	o->cache_readdir = t->thing->kind != THING_CONTROL && t->node->handles == handle &&
			   !handle->next_of_node;
	cached = t->node->cached;
	vfs_unlock(v);
	handle->caches = o->cache_readdir;
	if (!cached || refill(v, t, handle) != 0)
		return;
	handle->listing->fresh = true;
	o->keep_cache = listing_hash(handle->listing) == cached;
}

static int open_folder(struct vfs *v, const struct target *t, int flags, struct opened *out)
{
	int fd = -1, error = t->thing->kind == THING_PLAIN ? open_plain(v, t, &fd) : 0;

	if (error)
		return error;
	/* A folder is read without one as well, as long as it has its name. */
	if (fd >= 0)
		(void)handle_keep(v, &fd);
	*out = (struct opened){.handle = handle_new(v, t->node, flags, fd)};
	if (!out->handle)
		return ENOMEM;
	open_listing(v, t, out);
	return 0;
}

int vfs_opendir(struct vfs *v, uint64_t node, int flags, struct opened *out)
{
	struct target t;
	int error = v->unopened_folders ? ENOSYS : target_get(v, node, &t);

	if (error)
		return error;
	error = open_folder(v, &t, flags, out);
	target_put(v, &t);
	return error;
}

/* ---- reading ---- */

struct dir_read {
	struct vfs *v;
	const struct target *folder;
	pid_t pid;
	bool plus;
	dir_add *add;
	void *closure;
};

/*
 * Not of views whose size nobody seems to want: such an entry has no node, and the kernel looks it
 * up when it is wanted after all.
 */
static void look_up(const struct dir_read *r, const struct listing *l, size_t i, view_set sent,
		    struct entry *out)
{
	const char *name = listing_name(l, i);
	int view = l->entries[i].view;

	if (is_dot(name) || (view >= 0 && !asker_is_sent(r->v->asker, sent, (unsigned)view)) ||
	    lookup_in(r->v, r->folder, name, out) != 0)
		out->node = 0;
	/* The type would be kept with the names, and be wrong when it is a folder after all. */
	if (out->node && !l->entries[i].type && S_ISREG(out->st.st_mode)) {
		vfs_forget(r->v, out->node, 1);
		out->node = 0;
	}
}

/* False: there is no room for it. */
static bool add_entry(const struct dir_read *r, const struct listing *l, size_t i, view_set sent)
{
	const struct listing_entry *e = &l->entries[i];
	struct entry entry = {.node = 0};
	bool added;

	if (r->plus)
		look_up(r, l, i, sent, &entry);
	if (!entry.node)
		entry.st = (struct stat){.st_ino = e->ino ? e->ino : 1, .st_mode = e->type};
	added = r->add(r->closure, listing_name(l, i), &entry, (off_t)e->offset);
	if (!added && entry.node)
		vfs_forget(r->v, entry.node, 1);
	return added;
}

/* As many entries as there is room for. */
static void add_entries(const struct dir_read *r, const struct listing *l, off_t behind)
{
	bool root = r->folder->node->id == NODE_ROOT;
	struct asker *asker = r->v->asker;
	view_set sent = 0;

	if (r->plus && l->has_views)
		sent = behind ? asker_goes_on(asker, r->pid) : asker_begin(asker, r->pid);
	for (size_t i = listing_behind(l, (uint64_t)behind); i < l->count; i++) {
		if (root && strcmp(listing_name(l, i), CONTROL) == 0)
			continue; /* it answers by name only */
		if (!add_entry(r, l, i, sent))
			break;
	}
}

/* Of two readings that differ the kernel would keep a part each. */
static void note_listed(struct vfs *v, const struct target *t, struct handle *handle)
{
	uint32_t hash = listing_hash(handle->listing);

	if (handle->listed && handle->listed != hash)
		handle->caches = false;
	handle->listed = hash;
	vfs_lock(v);
	t->node->cached = handle->caches ? hash : 0;
	vfs_unlock(v);
}

static int read_handle(const struct dir_read *r, struct handle *handle, off_t behind)
{
	bool begins = behind == 0 || !handle->listing;
	int error = 0;

	if (begins && !(handle->listing && handle->listing->fresh))
		error = refill(r->v, r->folder, handle);
	if (error)
		return error;
	handle->listing->fresh &= !begins;
	if (begins && handle->caches)
		note_listed(r->v, r->folder, handle);
	add_entries(r, handle->listing, behind);
	return 0;
}

static int read_unopened(const struct dir_read *r, off_t behind)
{
	uint64_t node = r->folder->node->id;
	struct listing *l = behind ? listings_take(r->v->listings, node) : NULL;
	int error = l ? 0 : listing_make(r->v, r->folder, NULL, &l);

	if (error)
		return error;
	add_entries(r, l, behind);
	listings_put(r->v->listings, node, l);
	return 0;
}

int vfs_readdir(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		off_t behind, bool plus, dir_add *add, void *closure)
{
	struct target t;
	struct dir_read r = {v, &t, who->pid, plus, add, closure};
	int error = target_get(v, node, &t);

	if (error)
		return error;
	error = handle ? read_handle(&r, handle, behind) : read_unopened(&r, behind);
	target_put(v, &t);
	return error;
}

/* ---- fsync ---- */

/* The folder that the animation is shown as, with a reference; NULL: it is not shown any more. */
static struct node *folder_of(struct vfs *v, struct animation *a)
{
	struct node *node;

	vfs_lock(v);
	node = a->folder ? a->folder->node : NULL;
	if (node)
		node_get(node);
	vfs_unlock(v);
	return node;
}

/* Ends what time would end, and returns how that went. */
static int sync_virtual(struct vfs *v, const struct target *t)
{
	struct animation *a = t->thing->animation;
	struct changes changes = CHANGES_INIT;
	struct node *folder = folder_of(v, a);
	int staged, error;

	if (!folder)
		return 0;
	changes.locked[0] = t->node->id;
	staged = stagings_finish(v, folder);
	writer_lock(a);
	error = end_finish(v, a, &changes);
	writer_unlock(a);
	changes_send_all(v, &changes);
	vfs_lock(v);
	node_put(&v->nodes, folder);
	vfs_unlock(v);
	return staged ? staged : error;
}

static int sync_plain(struct vfs *v, const struct target *t, const struct handle *handle,
		      bool datasync)
{
	int opened = -1, fd = descriptor_of(v, handle), error = 0;

	if (fd < 0) {
		error = open_plain(v, t, &opened);
		fd = opened;
	}
	if (!error && (datasync ? fdatasync(fd) : fsync(fd)) != 0)
		error = errno;
	if (opened >= 0)
		close(opened);
	return error;
}

static bool is_staging(struct vfs *v, const struct thing *thing)
{
	bool is;

	vfs_lock(v);
	is = thing->kind == THING_PLAIN && thing->plain.staging;
	vfs_unlock(v);
	return is;
}

int vfs_fsyncdir(struct vfs *v, uint64_t node, struct handle *handle, bool datasync)
{
	struct target t;
	int error = target_get(v, node, &t);

	if (error)
		return error;
	if (thing_is_virtual(t.thing))
		error = sync_virtual(v, &t);
	else if (is_staging(v, t.thing))
		error = stagings_finish(v, t.node);
	else if (t.thing->kind == THING_PLAIN)
		error = sync_plain(v, &t, handle, datasync);
	target_put(v, &t);
	return error;
}
