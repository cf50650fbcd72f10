/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "folder.h"

#include "at.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int descriptors_end(void)
{
	struct rlimit limit;
	rlim_t end, quarter;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	end = limit.rlim_cur;
	quarter = end / 4;
	return (int)(end - (quarter < DESCRIPTORS_RESERVED ? quarter : DESCRIPTORS_RESERVED));
}

/* An eighth of what the process may have: open files and the work on them need the rest. */
static unsigned slots_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 8 >= FOLDERS_KEPT)
		return FOLDERS_KEPT;
	return limit.rlim_cur < 16 ? 2 : (unsigned)(limit.rlim_cur / 8);
}

void folders_init(struct folders *f, struct nodes *nodes, int root)
{
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&f->moves, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_mutex_init(&f->lock, NULL);
	f->end = descriptors_end();
	f->kept = slots_to_keep();
	f->nodes = nodes;
	f->root = root;
	f->hand = 0;
	for (unsigned i = 0; i < FOLDERS_KEPT; i++)
		f->slot[i] = (struct folder_slot){.fd = -1};
}

void folders_release(struct folders *f)
{
	for (unsigned i = 0; i < FOLDERS_KEPT; i++) {
		if (f->slot[i].fd >= 0)
			close(f->slot[i].fd);
	}
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->moves);
}

void folders_hold_still(struct folders *f)
{
	pthread_mutex_lock(&f->moves);
}

void folders_let_move(struct folders *f)
{
	pthread_mutex_unlock(&f->moves);
}

static struct timespec time_of(const struct statx_timestamp *t)
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
		.st_atim = time_of(&x->stx_atime),
		.st_mtim = time_of(&x->stx_mtime),
		.st_ctim = time_of(&x->stx_ctime),
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

bool identity_same(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born == b->born;
}

/* Appends the names from `node` up to, not including, `top`, each with its NUL, lowest first. */
static int names_below(const struct node *node, const struct node *top, struct buf *out)
{
	while (node != top && node->id != NODE_ROOT) {
		const struct link *link = node_link(node);
		const char *name;

		if (!link)
			return ENOENT;
		name = node->kind == NODE_FILE ? node->file->name : link->name;
		buf_add(out, name, strlen(name) + 1);
		node = link->parent;
	}
	return out->failed ? ENOMEM : 0;
}

/* Walks over names as names_below leaves them, from the last to the first. */
static const char *last_name(const struct buf *names, size_t *end)
{
	size_t begin;

	if (*end == 0)
		return NULL;
	begin = *end - 1;
	while (begin > 0 && names->data[begin - 1] != '\0')
		begin--;
	*end = begin;
	return (const char *)names->data + begin;
}

int node_path(const struct node *node, struct buf *out)
{
	struct buf names = BUF_INIT;
	int error = names_below(node, NULL, &names);
	size_t end = names.size;
	const char *name;

	while (!error && (name = last_name(&names, &end))) {
		buf_text(out, name);
		if (end > 0)
			buf_char(out, '/');
	}
	buf_char(out, '\0');
	buf_release(&names);
	return error ? error : out->failed ? ENOMEM : 0;
}

static bool slot_of(struct folders *f, const struct node *node, struct folder *out)
{
	struct folder_slot *slot;

	if (node->descriptor < 0)
		return false;
	slot = &f->slot[node->descriptor];
	if (slot->fd < 0 || slot->node != node->id)
		return false;
	slot->pins++;
	slot->used = true;
	*out = (struct folder){slot->fd, node->descriptor, false};
	return true;
}

/* The nearest folder above (or at) `node` that is at hand; *top is its node. */
static void nearest(struct folders *f, const struct node *node, const struct node **top,
		    struct folder *out)
{
	*out = (struct folder){f->root, -1, false};
	*top = NULL;
	while (node && node->id != NODE_ROOT) {
		if (slot_of(f, node, out)) {
			*top = node;
			return;
		}
		node = node_link(node) ? node_link(node)->parent : NULL;
	}
}

/* Keeps a descriptor for the node if a slot can be had; otherwise it is the borrower's to close. */
static void keep(struct folders *f, struct node *node, int fd, struct folder *out)
{
	*out = (struct folder){fd, -1, true};
	for (unsigned tries = 0; tries < 2 * f->kept && fd < f->end; tries++) {
		struct folder_slot *slot = &f->slot[f->hand];
		unsigned index = f->hand;

		f->hand = (f->hand + 1) % f->kept;
		if (slot->pins)
			continue;
		if (slot->used) {
			slot->used = false;
			continue;
		}
		if (slot->fd >= 0)
			close(slot->fd);
		*slot = (struct folder_slot){fd, node->id, 1, true};
		node->descriptor = (int16_t)index;
		*out = (struct folder){fd, (int)index, false};
		return;
	}
}

static int walk(int from, const struct buf *names, int *fd)
{
	size_t end = names->size;
	const char *name;
	int at = -1, error = 0;

	while (!error && (name = last_name(names, &end))) {
		int next = -1;

		error = at_open(at >= 0 ? at : from, name, O_PATH | O_DIRECTORY, 0, &next);
		if (at >= 0)
			close(at);
		at = next;
	}
	*fd = at;
	return error;
}

static int check_identity(int fd, const struct node *node)
{
	struct identity id = {0, 0, 0};
	struct stat st;
	int error = identity_at(fd, "", &id, &st);

	return error ? error : identity_same(&id, node_identity(node)) ? 0 : ESTALE;
}

/* By the names that the table has now. */
static int open_by_names(struct folders *f, struct node *node, struct folder *out)
{
	struct buf names = BUF_INIT;
	struct folder start;
	const struct node *top;
	int error, fd = -1;

	nodes_lock(f->nodes);
	pthread_mutex_lock(&f->lock);
	nearest(f, node, &top, &start);
	pthread_mutex_unlock(&f->lock);
	error = names_below(node, top, &names);
	nodes_unlock(f->nodes);
	if (!error && names.size == 0) {
		*out = start;
		goto done;
	}
	if (!error)
		error = walk(start.fd, &names, &fd);
	if (!error)
		error = check_identity(fd, node);
	folder_close(f, &start);
	if (error) {
		if (fd >= 0)
			close(fd);
		goto done;
	}
	pthread_mutex_lock(&f->lock);
	keep(f, node, fd, out);
	pthread_mutex_unlock(&f->lock);
done:
	buf_release(&names);
	return error;
}

int folder_open(struct folders *f, struct node *node, struct folder *out)
{
	int error = open_by_names(f, node, out);

	if (error != ENOENT && error != ENOTDIR && error != ELOOP && error != ESTALE)
		return error;
	folders_hold_still(f);
	error = open_by_names(f, node, out);
	folders_let_move(f);
	/* Something else stands where a folder was: the kernel is to look the path up again. */
	return error == ENOTDIR || error == ELOOP ? ESTALE : error;
}

void folder_close(struct folders *f, struct folder *folder)
{
	if (folder->owned)
		close(folder->fd);
	if (folder->slot >= 0) {
		pthread_mutex_lock(&f->lock);
		f->slot[folder->slot].pins--;
		pthread_mutex_unlock(&f->lock);
	}
	*folder = (struct folder)FOLDER_NONE;
}

void folder_forget(struct folders *f, const struct node *node)
{
	pthread_mutex_lock(&f->lock);
	if (node->descriptor >= 0) {
		struct folder_slot *slot = &f->slot[node->descriptor];

		if (slot->node == node->id && slot->pins == 0 && slot->fd >= 0) {
			close(slot->fd);
			*slot = (struct folder_slot){.fd = -1};
		}
	}
	pthread_mutex_unlock(&f->lock);
}
