/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "folder.h"

#include "deadline.h"
#include "disk/dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FOLDERS_KEPT 256

struct folder_slot {
	int fd; /* cached descriptor; -1: the slot is free */
	/* NULL: the thing was forgotten; the descriptor is closed when no longer borrowed */
	struct thing *thing;
	unsigned pins; /* number of borrowers */
	bool used;
};

struct folders {
	struct lock moves;
	int root;      /* descriptor of SOURCE; not closed here */
	int end;       /* limit of descriptor numbers, from descriptors_end */
	unsigned kept; /* number of slots in use; fewer if the process's limit is low */
	unsigned hand GUARDED_BY(vfs_class);
	struct folder_slot slots[FOLDERS_KEPT] GUARDED_BY(vfs_class);
	struct deadline
		/*
		 * closes descriptors that folder_forget left, since it must not close under the
		 * lock
		 */
		close;
};

/* ---- how many to keep ---- */

static int first_not_kept(void)
{
	struct rlimit limit;
	rlim_t end, quarter;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	end = limit.rlim_cur;
	quarter = end / 4;
	return (int)(end - (quarter < DESCRIPTORS_RESERVED ? quarter : DESCRIPTORS_RESERVED));
}

/*
 * Returns how many folders to keep open: an eighth of the process's limit of descriptors; the rest
 * is for open files and for requests.
 */
static unsigned slots_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 8 >= FOLDERS_KEPT)
		return FOLDERS_KEPT;
	return limit.rlim_cur < 16 ? 2 : (unsigned)(limit.rlim_cur / 8);
}

/* Takes the descriptor out of a forgotten slot. Returns -1 if it has none, or is borrowed. */
static int folder_empty_slot(struct folder_slot *slot)
{
	int fd = slot->fd;

	if (slot->thing || slot->pins)
		return -1;
	slot->fd = -1;
	return fd;
}

static void close_forgotten(struct vfs *v, void *folders)
{
	struct folders *f = folders;

	for (unsigned i = 0; i < f->kept; i++) {
		int fd;

		vfs_lock(v);
		fd = folder_empty_slot(&f->slots[i]);
		vfs_unlock(v);
		if (fd >= 0)
			close(fd);
	}
}

UNSHARED struct folders *folders_new(int root)
{
	struct folders *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	lock_init(&f->moves);
	f->root = root;
	f->end = first_not_kept();
	f->kept = slots_to_keep();
	f->close = (struct deadline){.due = close_forgotten, .user = f};
	for (unsigned i = 0; i < f->kept; i++)
		f->slots[i].fd = -1;
	return f;
}

UNSHARED void folders_free(struct folders *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->kept; i++) {
		if (f->slots[i].fd >= 0)
			close(f->slots[i].fd);
	}
	lock_destroy(&f->moves);
	free(f);
}

int descriptors_end(const struct folders *f)
{
	return f->end;
}

/* ---- moves of names ---- */

static _Thread_local unsigned holding; /* how often this thread has called folders_hold_still */

LOCK_ATTRIBUTE(no_thread_safety_analysis) void folders_hold_still(struct vfs *v)
{
	if (holding++ == 0)
		lock_acquire(&v->folders->moves, &moves_class);
}

LOCK_ATTRIBUTE(no_thread_safety_analysis) void folders_let_move(struct vfs *v)
{
	if (--holding == 0)
		lock_release(&v->folders->moves, &moves_class);
}

/* ---- identities of files ---- */

static struct timespec folder_time_of(const struct statx_timestamp *t)
{
	return (struct timespec){(time_t)t->tv_sec, (long)t->tv_nsec};
}

static struct stat stat_of(const struct statx *x)
{
	return (struct stat){
		.st_dev = makedev(x->stx_dev_major, x->stx_dev_minor),
		.st_ino = x->stx_ino,
		.st_mode = x->stx_mode,
		.st_nlink = x->stx_nlink,
		.st_uid = x->stx_uid,
		.st_gid = x->stx_gid,
		.st_rdev = makedev(x->stx_rdev_major, x->stx_rdev_minor),
		.st_size = (off_t)x->stx_size,
		.st_blksize = (blksize_t)x->stx_blksize,
		.st_blocks = (blkcnt_t)x->stx_blocks,
		.st_atim = folder_time_of(&x->stx_atime),
		.st_mtim = folder_time_of(&x->stx_mtime),
		.st_ctim = folder_time_of(&x->stx_ctime),
	};
}

int identity_at(int folder, const char *name, struct identity *id, struct stat *st)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
	struct statx x;

	if (statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x) != 0)
		return errno;
	*st = stat_of(&x);
	*id = (struct identity){.dev = st->st_dev, .ino = st->st_ino};
	if (x.stx_mask & STATX_BTIME)
		id->born = x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
	return 0;
}

/* ---- descriptors ---- */

static bool folder_slot_of(struct folders *f, const struct thing *thing, struct folder *out)
	REQUIRES(vfs_class)
{
	struct folder_slot *slot;

	if (thing->kind != THING_PLAIN || thing->plain.descriptor < 0)
		return false;
	slot = &f->slots[thing->plain.descriptor];
	if (slot->thing != thing)
		return false;
	slot->pins++;
	slot->used = true;
	*out = (struct folder){slot->fd, thing->plain.descriptor, false};
	return true;
}

/*
 * Returns the nearest folder above (or at) `node` with an open descriptor. NULL if a node on the
 * way has no name.
 */
static const struct node *nearest(struct folders *f, const struct node *node, struct folder *out)
	REQUIRES(vfs_class)
{
	while (node->id != NODE_ROOT && !folder_slot_of(f, node->thing, out)) {
		if (!node_link(node))
			return NULL;
		node = node_link(node)->parent;
	}
	if (node->id == NODE_ROOT)
		*out = (struct folder){f->root, -1, false};
	return node;
}

/*
 * Takes a slot that was not used recently (clock algorithm). *old is the slot's descriptor so far
 * or -1, for the caller to close. Returns NULL if all slots are borrowed.
 */
static struct folder_slot *folder_take_slot(struct folders *f, int *old) REQUIRES(vfs_class)
{
	for (unsigned tries = 0; tries < 2 * f->kept; tries++) {
		struct folder_slot *slot = &f->slots[f->hand];

		f->hand = (f->hand + 1) % f->kept;
		if (slot->pins)
			continue;
		if (slot->used) {
			slot->used = false;
			continue;
		}
		*old = slot->fd;
		return slot;
	}
	return NULL;
}

static void put_in_slot(struct folder_slot *slot, int index, struct thing *thing, int fd,
			struct folder *out) REQUIRES(vfs_class)
{
	*slot = (struct folder_slot){fd, thing, 1, true};
	thing->plain.descriptor = (int16_t)index;
	*out = (struct folder){fd, index, false};
}

/* Caches a descriptor if there is a slot; otherwise folder_close closes it. */
static void keep_descriptor(struct vfs *v, struct thing *thing, int fd, struct folder *out)
{
	struct folders *f = v->folders;
	struct folder_slot *slot;
	int old = -1;

	*out = (struct folder){fd, -1, true};
	if (fd >= f->end)
		return;
	vfs_lock(v);
	if (folder_slot_of(f, thing, out)) {
		old = fd; /* another thread has cached a descriptor meanwhile: close ours */
	} else {
		slot = folder_take_slot(f, &old);
		if (slot)
			put_in_slot(slot, (int)(slot - f->slots), thing, fd, out);
	}
	vfs_unlock(v);
	if (old >= 0)
		close(old);
}

/* Where to start opening a folder from, and the path to it. */
struct way {
	struct thing *thing; /* the thing of the folder to open; referenced */
	struct identity identity;
	struct folder start;
	/* path of the folder from the root, with a NUL; empty: `start` is the folder itself */
	struct buf path;
	size_t start_size; /* length of the part of the path that leads to `start` */
};

static int folder_find_names(struct vfs *v, const struct node *node, struct way *way)
	REQUIRES(vfs_class)
{
	struct buf above = BUF_INIT;
	const struct node *top = nearest(v->folders, node, &way->start);
	int error;

	if (!top)
		return ENOENT;
	if (top == node)
		return 0;
	error = node_path(node, &way->path);
	if (!error)
		error = node_path(top, &above);
	way->start_size = above.size > 1 ? above.size : 0;
	buf_release(&above);
	return error;
}

static int find_way(struct vfs *v, const struct node *node, struct way *way)
{
	int error = ESTALE;

	vfs_lock(v);
	if (node->thing->kind == THING_PLAIN) {
		way->thing = thing_get(node->thing);
		way->identity = node->thing->plain.identity;
		error = folder_find_names(v, node, way);
	}
	vfs_unlock(v);
	return error;
}

static void end_way(struct vfs *v, struct way *way)
{
	folder_close(v, &way->start);
	buf_release(&way->path);
	vfs_lock(v);
	thing_put(&v->nodes, way->thing);
	vfs_unlock(v);
}

static int folder_walk(const struct way *way, int *fd)
{
	const char *path = (const char *)way->path.data + way->start_size;
	struct identity id;
	struct stat st;
	int error = dirfd_walk(way->start.fd, path, O_PATH | O_DIRECTORY, fd);

	if (error)
		return error;
	error = identity_at(*fd, "", &id, &st);
	if (!error && !identity_same(&id, &way->identity))
		error = ESTALE;
	if (error)
		close(*fd);
	return error;
}

/* Opens a folder by the present names of its node and the nodes above. */
static int open_by_names(struct vfs *v, struct node *node, struct folder *out)
{
	struct way way = {.start = FOLDER_NONE, .path = BUF_INIT};
	int error = find_way(v, node, &way), fd;

	if (!error && !way.path.data) {
		*out = way.start; /* the folder is already open */
		way.start = (struct folder)FOLDER_NONE;
	} else if (!error) {
		error = folder_walk(&way, &fd);
		if (!error)
			keep_descriptor(v, way.thing, fd, out);
	}
	end_way(v, &way);
	return error;
}

int folder_open(struct vfs *v, struct node *node, struct folder *out)
{
	int error = open_by_names(v, node, out);

	if (error != ENOENT && error != ENOTDIR && error != ELOOP && error != ESTALE)
		return error;
	folders_hold_still(v);
	error = open_by_names(v, node, out);
	folders_let_move(v);
	/* Something else is where a folder was: ESTALE makes the kernel look the path up again. */
	return error == ENOTDIR || error == ELOOP ? ESTALE : error;
}

void folder_close(struct vfs *v, struct folder *folder)
{
	int fd = folder->owned ? folder->fd : -1;

	if (folder->slot >= 0) {
		struct folder_slot *slot = &v->folders->slots[folder->slot];

		vfs_lock(v);
		slot->pins--;
		fd = folder_empty_slot(slot);
		vfs_unlock(v);
	}
	if (fd >= 0)
		close(fd);
	*folder = (struct folder)FOLDER_NONE;
}

void folder_forget(struct vfs *v, const struct thing *thing)
{
	struct folder_slot *slot;

	if (thing->kind != THING_PLAIN || thing->plain.descriptor < 0)
		return;
	slot = &v->folders->slots[thing->plain.descriptor];
	if (slot->thing != thing)
		return;
	slot->thing = NULL;
	slot->used = false;
	if (!slot->pins)
		deadline_set(v->deadlines, &v->folders->close, clock_ms());
}

void folder_moved(struct vfs *v, const struct node *node)
{
	const struct folders *f = v->folders;

	for (unsigned i = 0; i < f->kept; i++) {
		const struct thing *thing = f->slots[i].thing;

		if (thing && thing->node && node_is_below(thing->node, node))
			folder_forget(v, thing);
	}
}
