/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dir.c - opendir, readdir, fsyncdir. A handle takes a listing of the whole folder when it is read
 * from the beginning, and answers from that listing, so that changes and other readers do not
 * disturb it.
 *
 * The kernel may cache a listing and serve it to the next opener. So a folder whose listing the
 * kernel has is read when it is opened, to see whether that listing is still right. A kernel that
 * opens no folders is notified of changes instead.
 */
#include "dir.h"

#include "control.h"
#include "diagnostics.h"
#include "disk/portable.h"
#include "handle.h"
#include "lookup.h"
#include "plain.h"
#include "settle.h"
#include "staging.h"
#include "store/beside.h"
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

/*
 * Returns the file type of an entry for the listing; 0 for a name that may be shown as an
 * animation's folder.
 */
static mode_t type_of(struct vfs *v, const struct dirent *entry, bool source)
{
	if (entry->d_type == DT_UNKNOWN)
		return 0;
	if (source && entry->d_type == DT_REG && name_may_show(v, entry->d_name, false))
		return 0;
	return (mode_t)DTTOIF(entry->d_type);
}

/* Returns whether the entry is the state directory, which is not shown. */
static bool is_state(struct vfs *v, const struct stat *folder, const struct dirent *entry)
{
	struct stat st = {.st_dev = folder->st_dev, .st_ino = entry->d_ino};

	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && state_is(v->state, &st);
}

/* Returns the name that an entry is shown with; in the buffer `name` if it must be decoded. */
static const char *dir_name_of(const struct dirent *entry, bool source, char name[NAME_MAX + 1])
{
	if (source || is_dot(entry->d_name))
		return entry->d_name;
	portable_read(entry->d_name, name);
	return name;
}

/* Lists the folder behind a descriptor, and closes it. */
static int list_descriptor(struct vfs *v, int fd, bool source, bool dots, struct listing *l)
{
	char name[NAME_MAX + 1];
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
		if (!listing_add(l, dir_name_of(entry, source, name), entry->d_ino,
				 type_of(v, entry, source))) {
			error = ENOMEM;
			break;
		}
	}
	if (!error)
		error = errno;
	closedir(dir);
	return error;
}

/* Opens a plain folder to list it, or the folder that an area has for a virtual folder. */
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

/* Opens a plain folder with a descriptor of its own, which stays valid when the name is gone. */
static int dir_open_plain(struct vfs *v, const struct target *t, int *fd)
{
	int error = open_area(v, t, (enum area)t->thing->area, fd);

	if (!error)
		return 0;
	*fd = plain_borrow(v, t);
	return *fd < 0 ? error : 0;
}

/* Returns the handle's descriptor, not to be closed; -1 if it has none. */
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
		error = dir_open_plain(v, t, &fd);
	else if ((fd = openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		error = errno;
	if (error)
		return error;
	if (source)
		folder_watch(v, t, fd); /* watch before reading, so as not to miss a change */
	return list_descriptor(v, fd, source, true, l);
}

/*
 * Returns whether this name is shown as the folder of an animation or archive; also if the file
 * cannot be read at the moment.
 */
static bool is_animation(struct vfs *v, const struct target *parent, const char *name)
{
	struct target found;
	struct entry entry;
	int error = lookup_in(v, parent, name, &entry);
	bool is = false;

	if (error)
		return error != ENOENT;
	if (target_get(v, entry.node, &found) == 0) {
		is = found.thing->kind == THING_ANIMATION || found.thing->kind == THING_ARCHIVE;
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

/*
 * Adds the folders that are shown beside animation files. A plain entry with such a name has
 * precedence.
 */
static int list_beside(struct vfs *v, const struct target *t, struct listing *l)
{
	size_t count = l->count;

	for (size_t i = 0; i < count; i++) {
		mode_t type = l->entries[i].type;
		char name[NAME_MAX + 1];

		if ((type && type != S_IFREG) || !name_may_show(v, listing_name(l, i), true))
			continue;
		for (unsigned j = 0; j < BESIDE_NAMES; j++) {
			if (!beside_folder(v->store, listing_name(l, i), j, name) ||
			    !is_animation(v, t, name))
				continue;
			if (!listing_add(l, name, ino_of(v, t, name), S_IFDIR))
				return ENOMEM;
			break;
		}
	}
	return 0;
}

/* ---- archives ---- */

/*
 * Returns the file type of an archive's member that is shown as an ordinary file or folder; 0 if
 * the member may be shown as the folder of an animation.
 */
static mode_t type_of_member(const struct vfs *v, enum member_kind kind)
{
	if (kind == MEMBER_FOLDER)
		return S_IFDIR;
	return kind == MEMBER_ANIMATION && !v->options->beside ? 0 : S_IFREG;
}

static bool stands_beside(struct vfs *v, const struct target *t, const struct spot *member,
			  const char *name)
{
	enum member_kind kind = catalog_kind(member->of, member->entry);

	if (kind == MEMBER_ARCHIVE)
		return !catalog_was_refused(member->of, member->entry);
	return kind == MEMBER_ANIMATION && v->options->beside && is_animation(v, t, name);
}

/*
 * Lists a folder of an archive. Reads nothing but the archive's tables, unless animations have
 * their folders beside them.
 */
static int dir_list_member(struct vfs *v, const struct target *t, const struct spot *spot,
			   struct listing *l)
{
	const struct catalog *o = spot->of;
	char name[NAME_MAX + 1];

	for (uint32_t i = catalog_first(o, spot->entry); i != CATALOG_NONE;
	     i = catalog_next(o, i)) {
		const struct spot member = {spot->of, i, spot->loose};
		enum member_kind kind = catalog_kind(o, i);

		if (!listing_add(l, catalog_name(o, i), ino_of(v, t, catalog_name(o, i)),
				 type_of_member(v, kind)))
			return ENOMEM;
		if ((kind == MEMBER_ARCHIVE || kind == MEMBER_ANIMATION) &&
		    catalog_beside(o, i, name) && stands_beside(v, t, &member, name) &&
		    !listing_add(l, name, ino_of(v, t, name), S_IFDIR))
			return ENOMEM;
	}
	return 0;
}

static int list_archive(struct vfs *v, const struct target *t, struct listing *l)
{
	struct spot spot;
	int error = list_dots(l) ? member_spot(v, t->node, &spot) : ENOMEM;

	if (error)
		return error;
	error = dir_list_member(v, t, &spot, l);
	spot_release(&spot);
	return error;
}

/* ---- virtual folders ---- */

struct lister {
	struct vfs *v;
	const struct target *folder;
	struct listing *listing;
};

static bool dir_add_place(void *closure, const char *name, const struct place *place)
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
					 place->kind == PLACE_VIEW ? S_IFREG : S_IFDIR);
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
	if (!tree_list(&tree, &s.place, v->options->listed, dir_add_place, &lister))
		error = ENOMEM;
	sight_release(&s);
	return error;
}

/*
 * Drops upper names that are already listed as a view, a clip or another upper file. An upper
 * folder also contains the upper folders of clips and of bones/ and frames/.
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
	int64_t began = request_begins(v, t->thing->animation);
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
	request_ends(v, t->thing->animation, began);
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

static int dir_list_folder(struct vfs *v, const struct target *t, const struct handle *handle,
			   struct listing *l)
{
	int error;

	if (t->thing->kind == THING_CONTROL)
		return list_control(l);
	if (thing_is_virtual(t->thing))
		return list_virtual(v, t, l);
	if (thing_is_member(t->thing))
		return list_archive(v, t, l);
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
	error = dir_list_folder(v, t, handle, *out);
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

/* ---- opendir ---- */

/*
 * Decides whether the kernel may use the listing that it has cached, and whether it may cache the
 * one that it gets now.
 */
static void open_listing(struct vfs *v, const struct target *t, struct opened *o)
{
	struct handle *handle = o->handle;
	uint64_t cached;

	vfs_lock(v);
	/*
	 * Let only one handle at a time fill the cache, so that the cached listing is consistent.
	 */
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

static int dir_open_folder(struct vfs *v, const struct target *t, int flags, struct opened *out)
{
	int fd = -1, error = t->thing->kind == THING_PLAIN ? dir_open_plain(v, t, &fd) : 0;

	if (error)
		return error;
	/* If there is no descriptor any more, the folder can still be read by its name. */
	if (fd >= 0)
		(void)handle_keep(v, &fd);
	*out = (struct opened){.handle = handle_new(v, NULL, t->node, flags, fd)};
	if (!out->handle)
		return ENOMEM;
	open_listing(v, t, out);
	return 0;
}

int vfs_opendir(struct vfs *v, const struct request *who, uint64_t node, int flags,
		struct opened *out)
{
	struct target t;
	struct look look;
	int error;

	if (v->unopened_folders)
		return ENOSYS;
	look_begin(v, who, node, &look);
	staging_visit(v, who, node);
	error = target_get(v, node, &t);
	if (!error) {
		error = dir_open_folder(v, &t, flags, out);
		target_put(v, &t);
	}
	look_end(v, &look);
	return error;
}

/* ---- readdir ---- */

struct dir_read {
	struct vfs *v;
	const struct target *folder;
	bool plus;
	dir_add *add;
	void *closure;
	/*
	 * What lookups in a virtual folder, or in one in an archive, share for all entries of a
	 * reply.
	 */
	struct seen seen;
	struct spot spot;
};

static int look_up_name(struct dir_read *r, const char *name, struct entry *out)
{
	int error = 0;

	if (thing_is_virtual(r->folder->thing))
		return lookup_virtual(r->v, r->folder, name, &r->seen, out);
	if (!thing_is_member(r->folder->thing))
		return lookup_in(r->v, r->folder, name, out);
	if (!r->spot.of)
		error = member_spot(r->v, r->folder->node, &r->spot);
	return error ? error : lookup_member(r->v, r->folder, &r->spot, name, out);
}

/*
 * The kernel always asks for attributes at the beginning of a folder, as many as one reply holds,
 * about 200. Programs that want those of a larger folder read all its names first, and look most of
 * them up anyway.
 */
#define ATTRIBUTES_MAX 256

/* Returns whether an entry is left without attributes, which would take long. */
static bool leaves_out(const struct dir_read *r, const struct listing *l, size_t i)
{
	const struct thing *folder = r->folder->thing;
	mode_t type = l->entries[i].type;

	if (thing_is_member(folder))
		return !type || (type == S_IFREG && l->count > ATTRIBUTES_MAX);
	return thing_is_virtual(folder) && type == S_IFREG;
}

/*
 * Looks up an entry for its attributes, unless that would take long: then the entry has no node,
 * and the kernel looks it up if needed. So listing an archive unpacks nothing, and listing views
 * renders none for its size.
 */
static void dir_look_up(struct dir_read *r, const struct listing *l, size_t i, struct entry *out)
{
	const char *name = listing_name(l, i);
	mode_t type = l->entries[i].type;

	if (is_dot(name) || leaves_out(r, l, i) || look_up_name(r, name, out) != 0)
		out->node = 0;
	/*
	 * Leave out a file that may become a folder: the kernel would cache the type with the name.
	 */
	if (out->node && !type && S_ISREG(out->st.st_mode)) {
		vfs_forget(r->v, out->node, 1);
		out->node = 0;
	}
}

/* Adds an entry to the reply. Returns false if there is no room for it. */
static bool dir_add_entry(struct dir_read *r, const struct listing *l, size_t i)
{
	const struct listing_entry *e = &l->entries[i];
	struct entry entry = {.node = 0};
	bool added;

	if (r->plus)
		dir_look_up(r, l, i, &entry);
	if (!entry.node)
		entry.st = (struct stat){.st_ino = e->ino ? e->ino : 1, .st_mode = e->type};
	added = r->add(r->closure, listing_name(l, i), &entry, (off_t)e->offset);
	if (!added && entry.node)
		vfs_forget(r->v, entry.node, 1);
	return added;
}

/* Adds as many entries as the reply has room for. */
static void add_entries(struct dir_read *r, const struct listing *l, off_t behind)
{
	bool root = r->folder->node->id == NODE_ROOT;

	for (size_t i = listing_behind(l, (uint64_t)behind); i < l->count; i++) {
		if (root && strcmp(listing_name(l, i), CONTROL) == 0)
			continue; /* .animfs can be opened, but is not listed */
		if (!dir_add_entry(r, l, i))
			break;
	}
	seen_release(&r->seen);
	spot_release(&r->spot);
}

/*
 * Notes the hash of the listing that the handle reads. If the handle has read a different listing
 * before, the kernel's cache could mix the two, so the next opener must not use the cache.
 */
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

static int read_handle(struct dir_read *r, struct handle *handle, off_t behind)
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

static int read_unopened(struct dir_read *r, off_t behind)
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
	struct dir_read r = {.v = v, .folder = &t, .plus = plus, .add = add, .closure = closure};
	unsigned tries = 0;
	struct look look;
	int error;

	look_begin(v, who, node, &look);
	staging_visit(v, who, node);
	do {
		error = target_get(v, node, &t);
		if (error)
			break;
		error = handle ? read_handle(&r, handle, behind) : read_unopened(&r, behind);
	} while (target_again(v, &t, error, &tries));
	look_end(v, &look);
	return error;
}

/* ---- fsyncdir ---- */

static int sync_plain(struct vfs *v, const struct target *t, const struct handle *handle,
		      bool datasync)
{
	int opened = -1, fd = descriptor_of(v, handle), error = 0;

	if (fd < 0) {
		error = dir_open_plain(v, t, &opened);
		fd = opened;
	}
	if (!error && (datasync ? fdatasync(fd) : fsync(fd)) != 0)
		error = errno;
	if (opened >= 0)
		close(opened);
	return error;
}

int vfs_fsyncdir(struct vfs *v, uint64_t node, struct handle *handle, bool datasync)
{
	struct target t;
	int error = target_get(v, node, &t), synced = 0;

	if (error)
		return error;
	error = settle_below(v, &t);
	/* Skip a staged folder that has become a clip or an animation by now. */
	if (t.thing->kind == THING_PLAIN && target_stands(v, &t))
		synced = sync_plain(v, &t, handle, datasync);
	target_put(v, &t);
	return error ? error : synced;
}
