/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plain.c - finds plain things on disk, their attributes, and descriptors of them. */
#include "plain.h"

#include "acl.h"
#include "disk/dirfd.h"
#include "disk/portable.h"
#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* preferred I/O size (st_blksize): programs that follow it make one request per piece */
#define IO_BLOCK (128 << 10)

/* ---- places ---- */

enum area area_for(const struct thing *parent)
{
	return thing_is_virtual(parent) ? AREA_UPPER : (enum area)parent->area;
}

/*
 * Opens a folder of the state directory by the node's path. Holds off renames until the folder is
 * open; after that the descriptor follows them.
 */
static int state_path_folder(struct vfs *v, const struct node *node, enum area area, bool make,
			     struct folder *out)
{
	char *path;
	int error;

	folders_hold_still(v);
	error = path_of(v, node, NULL, &path);
	*out = (struct folder)FOLDER_NONE;
	if (!error)
		error = state_folder(v->state, area == AREA_UPPER ? STATE_UPPER : STATE_REJECTED,
				     path, make, &out->fd);
	folders_let_move(v);
	out->owned = !error;
	free(path);
	return error;
}

int plain_folder(struct vfs *v, const struct target *parent, enum area area, bool make,
		 struct folder *out)
{
	if (area != AREA_SOURCE)
		return state_path_folder(v, parent->node, area, make, out);
	/* ENOENT if a staged folder has become a virtual one meanwhile. */
	return thing_is_virtual(parent->thing) ? ENOENT : folder_open(v, parent->node, out);
}

int plain_name(enum area area, const char *name, char stored[NAME_MAX + 1])
{
	if (area != AREA_SOURCE)
		return portable_name(name, stored);
	if (strlen(name) > NAME_MAX)
		return ENAMETOOLONG;
	strcpy(stored, name);
	return 0;
}

/*
 * Checks that the file of this name is that of the thing; ESTALE if not. "": checks the file behind
 * the descriptor.
 */
static int check_identity(struct vfs *v, const struct thing *thing, int folder, const char *name,
			  struct stat *st)
{
	struct identity id;
	bool same;
	int error = identity_at(folder, name, &id, st);

	if (error)
		return error;
	vfs_lock(v);
	same = identity_same(&thing->plain.identity, &id);
	vfs_unlock(v);
	return same ? 0 : ESTALE;
}

/*
 * Returns the node's n-th name and its folder, with references. False if the node has no more
 * names.
 */
static bool nth_name(struct vfs *v, const struct node *node, unsigned n, char *name,
		     struct target *parent)
{
	const struct link *link;

	vfs_lock(v);
	for (link = node_link(node); link && n > 0; n--)
		link = node_next_link(node, link);
	if (link) {
		parent->node = node_get(link->parent);
		parent->thing = thing_get(link->parent->thing);
		strcpy(name, link->name);
	}
	vfs_unlock(v);
	return link != NULL;
}

static int try_names(struct vfs *v, const struct target *t, struct folder *folder, char *name,
		     struct stat *st)
{
	const enum area area = (enum area)t->thing->area;
	char called[NAME_MAX + 1];
	struct target parent;
	int error = ENOENT;

	for (unsigned n = 0; error && nth_name(v, t->node, n, called, &parent); n++) {
		error = plain_name(area, called, name);
		if (!error)
			error = plain_folder(v, &parent, area, false, folder);
		target_put(v, &parent);
		if (error)
			continue;
		error = check_identity(v, t->thing, folder->fd, name, st);
		if (error)
			folder_close(v, folder);
	}
	return error;
}

int plain_where(struct vfs *v, const struct target *t, struct folder *folder, char *name,
		struct stat *st)
{
	int error = try_names(v, t, folder, name, st);

	if (error != ENOENT && error != ESTALE)
		return error;
	folders_hold_still(v);
	error = try_names(v, t, folder, name, st);
	folders_let_move(v);
	return error == ENOENT && !target_stands(v, t) ? ESTALE : error;
}

/* ---- descriptors ---- */

int plain_borrow(struct vfs *v, const struct target *t)
{
	int fd = -1;

	/* Duplicate under the lock, since a handle may be closed at any time; dup never blocks. */
	vfs_lock(v);
	for (const struct handle *h = t->node->handles; h && fd < 0; h = h->next_of_node) {
		if (h->fd >= 0)
			fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	}
	vfs_unlock(v);
	return fd;
}

/*
 * Removes flags that the kernel has handled, or that would make the descriptor unusable. O_APPEND
 * is applied at each write instead, since pages of a mapping are written back through any
 * descriptor, at their offset.
 */
static int own_flags(int flags)
{
	return flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECT | O_NOFOLLOW | O_NOCTTY);
}

int plain_open_again(int opened, int flags, int *fd)
{
	char path[DIRFD_PROC_SIZE];
	int error = dirfd_proc_path(opened, NULL, path, sizeof(path));

	if (error)
		return error;
	*fd = open(path, own_flags(flags) | O_CLOEXEC);
	return *fd < 0 ? errno : 0;
}

/*
 * Opens a file that another program has a lease on, as soon as that program gives up the lease.
 * Waits for this very file: a FIFO that has taken its place meanwhile would block forever.
 */
static int open_leased(struct vfs *v, const struct target *t, int folder, const char *name,
		       int flags, int *fd)
{
	struct stat st;
	int pinned, error = dirfd_open(folder, name, O_PATH, 0, &pinned);

	if (error)
		return error;
	error = check_identity(v, t->thing, pinned, "", &st);
	if (!error)
		error = S_ISREG(st.st_mode) ? plain_open_again(pinned, flags, fd) : ESTALE;
	close(pinned);
	return error;
}

/*
 * Opens the file that the node stands for; ESTALE if another program has just put another file in
 * its place.
 */
static int open_named(struct vfs *v, const struct target *t, int flags, int *fd)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	struct stat st;
	int error = plain_where(v, t, &folder, name, &st);

	if (error)
		return error;
	/* O_NONBLOCK in case a FIFO just took the name. */
	error = dirfd_open(folder.fd, name, flags | O_NONBLOCK, 0, fd);
	if (error == EWOULDBLOCK && !(flags & O_NONBLOCK))
		error = open_leased(v, t, folder.fd, name, flags, fd);
	folder_close(v, &folder);
	if (error)
		return error == ELOOP || error == ENXIO ? ESTALE : error;
	error = check_identity(v, t->thing, *fd, "", &st);
	if (error)
		close(*fd);
	return error;
}

int plain_open(struct vfs *v, const struct target *t, int flags, int *fd)
{
	int opened, error = open_named(v, t, own_flags(flags), fd);

	if (error != ENOENT && error != ESTALE)
		return error;
	opened = plain_borrow(v, t);
	if (opened < 0)
		return error;
	error = plain_open_again(opened, flags, fd);
	close(opened);
	return error;
}

int handle_descriptor(struct vfs *v, struct handle *h)
{
	struct target t;
	int fd, opened = -1;

	vfs_lock(v);
	fd = h->fd;
	vfs_unlock(v);
	if (fd >= 0)
		return fd;
	handle_target(v, h, &t);
	if (t.thing->kind == THING_PLAIN && plain_open(v, &t, h->flags & ~O_TRUNC, &opened) != 0)
		opened = -1;
	target_put(v, &t);
	vfs_lock(v);
	if (h->fd < 0) {
		h->fd = opened;
		opened = -1;
	}
	fd = h->fd;
	vfs_unlock(v);
	if (opened >= 0)
		close(opened);
	return fd;
}

int plain_pin(struct vfs *v, const struct target *t, int *fd)
{
	int error;

	if (t->node->id == NODE_ROOT) {
		*fd = fcntl(v->root, F_DUPFD_CLOEXEC, 0);
		return *fd < 0 ? errno : 0;
	}
	error = open_named(v, t, O_PATH, fd);
	if (!error)
		return 0;
	*fd = plain_borrow(v, t);
	return *fd < 0 ? error : 0;
}

/* ---- pages ---- */

/* Hashes the file's version. Returns 0 if a later write might not change the version. */
static uint64_t hash_of(const struct stat *st, const struct timespec *now)
{
	const struct file_version version = file_version_of(st);
	const uint64_t facts[] = {(uint64_t)version.size, (uint64_t)version.mtime.tv_sec,
				  (uint64_t)version.mtime.tv_nsec, (uint64_t)version.ctime.tv_sec,
				  (uint64_t)version.ctime.tv_nsec};

	return file_version_settled(&version, now) ? XXH3_64bits(facts, sizeof(facts)) : 0;
}

bool plain_keeps_pages(struct vfs *v, struct node *node, const struct stat *st,
		       const struct timespec *now)
{
	uint64_t hash = hash_of(st, now);
	bool keeps;

	vfs_lock(v);
	keeps = hash && node->cached == hash;
	node->cached = hash;
	vfs_unlock(v);
	return keeps;
}

/* ---- attributes ---- */

void plain_show(const struct vfs *v, struct stat *st)
{
	/*
	 * Files on the root's device keep their inode numbers. The numbers of files on other
	 * devices are changed so that they hardly collide with those, with each other, or with
	 * those of views (virtual_ino).
	 */
	if (st->st_dev != v->root_identity.dev) {
		st->st_ino ^= st->st_dev << 38 | st->st_dev >> 24;
		st->st_ino &= ((uint64_t)1 << 62) - 1;
	}
	if (S_ISDIR(st->st_mode) && st->st_nlink)
		st->st_nlink = 1;
	if (S_ISREG(st->st_mode) && st->st_blksize < IO_BLOCK)
		st->st_blksize = IO_BLOCK;
	if (v->options->uid >= 0)
		st->st_uid = (uid_t)v->options->uid;
	if (v->options->gid >= 0)
		st->st_gid = (gid_t)v->options->gid;
	if (v->options->umask >= 0)
		st->st_mode &= ~(mode_t)(v->options->umask & 0777);
}

static bool last_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	bool known;

	vfs_lock(v);
	known = !node_link(t->node) && t->thing->plain.last;
	if (known)
		*st = *t->thing->plain.last;
	vfs_unlock(v);
	return known;
}

static int named_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	int error;

	if (t->node->id == NODE_ROOT)
		return fstat(v->root, st) == 0 ? 0 : errno;
	error = plain_where(v, t, &folder, name, st);
	if (!error)
		folder_close(v, &folder);
	return error;
}

int plain_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	int fd, error = named_attributes(v, t, st);

	/* If the file was removed, but is still open, use a handle's descriptor. */
	if (error && (fd = plain_borrow(v, t)) >= 0) {
		error = fstat(fd, st) == 0 ? 0 : errno;
		close(fd);
	} else if (error && last_attributes(v, t, st)) {
		error = 0;
	}
	if (!error)
		plain_show(v, st);
	return error;
}

/* ---- entries ---- */

/*
 * Returns the thing with this identity, made if necessary. If the known thing is of another kind or
 * area, it loses the identity.
 */
static struct thing *thing_there(struct nodes *t, enum area area, bool folder,
				 const struct identity *id) REQUIRES(vfs_class)
{
	struct thing *thing = nodes_by_identity(t, id);

	if (thing && thing->folder == folder && thing->area == area)
		return thing_get(thing);
	if (thing)
		thing_leave_identity(t, thing);
	return thing_plain(t, area, folder, id);
}

/*
 * Takes the names of a folder's node away before it gets the name `name`: a folder has one name,
 * the one under which it was seen last.
 */
static void leave_names(struct vfs *v, struct node *node, const struct node *parent,
			const char *name) REQUIRES(vfs_class)
{
	if (node_link(node) && nodes_by_name(&v->nodes, parent, name) != node)
		folder_moved(v, node);
	nodes_unlink_all(&v->nodes, node);
}

/*
 * Returns the node for a plain thing under this name, made if necessary; with a reference. NULL
 * when out of memory.
 */
static struct node *node_there(struct vfs *v, struct node *parent, enum area area, const char *name,
			       const struct identity *id, bool folder) REQUIRES(vfs_class)
{
	struct nodes *t = &v->nodes;
	struct thing *thing = thing_there(t, area, folder, id);
	struct node *node;

	if (!thing)
		return NULL;
	node = thing->node ? node_get(thing->node) : nodes_add(t, thing, name);
	thing_put(t, thing);
	if (node && folder)
		leave_names(v, node, parent, name);
	if (!node || nodes_link(t, node, parent, name))
		return node;
	node_put(t, node);
	return NULL;
}

/*
 * Checks that a folder is not seen below itself: either it is mounted there again (ELOOP), or
 * others have moved names above, which must be looked up first (ESTALE). The table must never have
 * such a loop, or a walk up from there would not reach the root.
 */
static int check_not_above(struct vfs *v, const struct node *parent, const struct identity *id)
	REQUIRES(vfs_class)
{
	const struct thing *thing = nodes_by_identity(&v->nodes, id);

	if (!thing || !thing->folder || !thing->node || !node_is_below(parent, thing->node))
		return 0;
	return thing->node == parent || thing->node->id == NODE_ROOT ? ELOOP : ESTALE;
}

int plain_entry_found(struct vfs *v, const struct target *parent, enum area area, const char *name,
		      const struct identity *id, struct stat *st, unsigned moves, struct entry *out)
{
	bool folder = S_ISDIR(st->st_mode);
	struct node *node = NULL;
	int error = 0;

	plain_show(v, st);
	*out = (struct entry){.st = *st, .attr_timeout = TIMEOUT, .entry_timeout = TIMEOUT};
	vfs_lock(v);
	if (folder)
		error = v->moves != moves ? ESTALE : check_not_above(v, parent->node, id);
	if (!error)
		node = node_there(v, parent->node, area, name, id, folder);
	if (node) {
		out->node = node->id;
		node->lookups++;
		node_put(&v->nodes, node);
	}
	vfs_unlock(v);
	return error || node ? error : ENOMEM;
}

int plain_entry(struct vfs *v, const struct target *parent, enum area area, int folder,
		const char *name, struct entry *out)
{
	char stored[NAME_MAX + 1];
	struct identity id;
	struct stat st;
	unsigned moves;
	int error = plain_name(area, name, stored);

	if (error)
		return error;
	do {
		moves = v->moves;
		error = identity_at(folder, stored, &id, &st);
		if (!error)
			error = plain_entry_found(v, parent, area, name, &id, &st, moves, out);
	} while (error == ESTALE && v->moves != moves);
	return error;
}

/* ---- lost names ---- */

/*
 * Keeps the last attributes of a thing that loses its last name. A FIFO, a working directory or an
 * O_PATH descriptor can be in use without a handle in animfs.
 */
static void keep_last(struct node *node, const struct stat *st) REQUIRES(vfs_class)
{
	struct thing *thing = node->thing;

	if (!thing->plain.last)
		thing->plain.last = malloc(sizeof(*st));
	if (!thing->plain.last)
		return;
	*thing->plain.last = *st;
	thing->plain.last->st_nlink -= thing->folder ? st->st_nlink : 1;
}

void plain_lost_name(struct vfs *v, struct node *node, const struct stat *st)
{
	bool nameless = !node_link(node);

	if (node->thing->kind != THING_PLAIN)
		return;
	if (nameless)
		keep_last(node, st);
	/*
	 * The inode number may be reused, unless an open file keeps it. A folder that still exists
	 * somewhere needs a new node, since the kernel considers a removed folder dead.
	 */
	if (node->thing->folder || (nameless && !node->handles))
		thing_leave_identity(&v->nodes, node->thing);
}

void name_lost(struct vfs *v, struct node *parent, const char *name, const struct stat *st)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	if (node) {
		node_get(node);
		nodes_unlink(&v->nodes, parent, name);
		if (st)
			plain_lost_name(v, node, st);
		if (node->thing->folder)
			folder_forget(v, node->thing);
		node_put(&v->nodes, node);
	}
	vfs_unlock(v);
}

int plain_keep_folder(struct vfs *v, int parent, const char *name)
{
	int fd;

	if (!v->unopened_folders || dirfd_open(parent, name, O_RDONLY | O_DIRECTORY, 0, &fd) != 0)
		return -1;
	(void)handle_keep(v, &fd);
	return fd;
}

void plain_let_go(struct vfs *v, struct node *node, int fd)
{
	struct handle *handle = fd >= 0 && node ? calloc(1, sizeof(*handle)) : NULL;

	if (!handle) {
		if (fd >= 0)
			close(fd);
		return;
	}
	vfs_lock(v);
	/* The handle has no reference to the node, and is freed with it. */
	handle->node = node;
	handle->fd = fd;
	handle->next_of_node = node->handles;
	node->handles = handle;
	vfs_unlock(v);
}

/* ---- owners ---- */

/*
 * Restores the set-id bits of a file that chown has dropped; set-gid only if the caller is in the
 * group.
 */
static void give_mode_back(const struct request *who, int fd, mode_t mode, gid_t gid)
{
	char path[DIRFD_PROC_SIZE];

	if (!S_ISREG(mode) || !(mode & (S_ISUID | S_ISGID)) ||
	    dirfd_proc_path(fd, NULL, path, sizeof(path)) != 0)
		return;
	if ((mode & S_IXGRP) && !acl_in_group(who, gid))
		mode &= ~(mode_t)S_ISGID;
	chmod(path, mode & 07777);
}

bool plain_owner(const struct request *who, int folder, uid_t *uid, gid_t *gid)
{
	struct stat parent;

	if (geteuid() != 0 || (who->uid == 0 && who->gid == 0))
		return false;
	*uid = who->uid;
	*gid = who->gid;
	if (fstat(folder, &parent) == 0 && (parent.st_mode & S_ISGID))
		*gid = parent.st_gid;
	return true;
}

void plain_own(const struct request *who, int folder, int fd)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (plain_owner(who, folder, &uid, &gid) && fstat(fd, &st) == 0 &&
	    fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == 0)
		give_mode_back(who, fd, st.st_mode, gid);
}
