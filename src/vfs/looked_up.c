/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "looked_up.h"
#include "deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct looked_ups {
	/* the last lookup of each thread, in the slot of the thread's id modulo the size */
	struct looked_up last[1024] GUARDED_BY(vfs_class);
	struct deadline end;
};

static struct looked_up *last_of(struct vfs *v, const struct request *who) REQUIRES(vfs_class)
{
	struct looked_ups *l = v->looked_ups;

	return &l->last[(unsigned)who->pid % ARRAY_SIZE(l->last)];
}

/* Closes descriptors that were kept for a request that has not come in time. */
static void looked_ups_drop(struct vfs *v, void *looked_ups)
{
	struct looked_ups *l = looked_ups;

	for (size_t i = 0; i < ARRAY_SIZE(l->last); i++) {
		int kept = -1;

		vfs_lock(v);
		if (l->last[i].again <= clock_ms()) {
			kept = l->last[i].kept;
			l->last[i].kept = -1;
		}
		vfs_unlock(v);
		if (kept >= 0)
			close(kept);
	}
}

UNSHARED struct looked_ups *looked_ups_new(void)
{
	struct looked_ups *l = malloc(sizeof(*l));

	if (!l)
		return NULL;
	l->end = (struct deadline){.due = looked_ups_drop, .user = l};
	for (size_t i = 0; i < ARRAY_SIZE(l->last); i++)
		l->last[i] = LOOKED_UP_NOTHING;
	return l;
}

UNSHARED void looked_ups_free(struct looked_ups *l)
{
	for (size_t i = 0; l && i < ARRAY_SIZE(l->last); i++) {
		if (l->last[i].kept >= 0)
			close(l->last[i].kept);
	}
	free(l);
}

bool looks_again(struct vfs *v, const struct request *who)
{
	return last_of(v, who)->again > clock_ms();
}

int looked_up(struct vfs *v, const struct request *who, uint64_t node)
{
	struct looked_up *last = last_of(v, who);
	int before = last->kept;

	last->kept = -1;
	last->view.st_mode = 0;
	if (node)
		last->node = node;
	return before;
}

void looked_up_keep(struct vfs *v, const struct request *who, uint64_t node, int fd)
{
	struct looked_up *last;
	int before;

	vfs_lock(v);
	last = last_of(v, who);
	before = last->kept;
	*last = (struct looked_up){.node = node, .again = clock_ms() + END_MS, .kept = fd};
	deadline_set(v->deadlines, &v->looked_ups->end, last->again);
	vfs_unlock(v);
	if (before >= 0)
		close(before);
}

void looked_up_keep_view(struct vfs *v, const struct request *who, uint64_t node,
			 const struct stat *st)
{
	struct looked_up *last;

	vfs_lock(v);
	last = last_of(v, who);
	if (last->node == node)
		last->view = *st;
	vfs_unlock(v);
}

bool looked_up_view(struct vfs *v, const struct request *who, const struct node *node,
		    struct stat *st)
{
	bool found;

	vfs_lock(v);
	found = was_looked_up(v, who, node) && last_of(v, who)->view.st_mode;
	if (found)
		*st = last_of(v, who)->view;
	vfs_unlock(v);
	return found;
}

int looked_up_borrow(struct vfs *v, const struct request *who, const struct node *node)
{
	int fd = -1;

	/*
	 * Duplicate under the lock, since the descriptor may be closed at any time; dup never
	 * blocks.
	 */
	vfs_lock(v);
	if (was_looked_up(v, who, node) && last_of(v, who)->kept >= 0)
		fd = fcntl(last_of(v, who)->kept, F_DUPFD_CLOEXEC, 0);
	vfs_unlock(v);
	return fd;
}

bool was_looked_up(struct vfs *v, const struct request *who, const struct node *node)
{
	return last_of(v, who)->node == node->id;
}

struct looked_up looked_up_take(struct vfs *v, const struct request *who, uint64_t node)
{
	struct looked_up last;

	vfs_lock(v);
	last = *last_of(v, who);
	if (!looks_again(v, who))
		last.again = 0;
	*last_of(v, who) = LOOKED_UP_NOTHING;
	vfs_unlock(v);
	if (last.node == node)
		return last;
	/*
	 * The slot has another thread's lookup, or the kernel had the name cached and looked
	 * nothing up.
	 */
	if (last.kept >= 0)
		close(last.kept);
	return LOOKED_UP_NOTHING;
}

int looked_up_end(struct vfs *v, const struct request *who, uint64_t node, int error)
{
	int before;

	if (error != ESTALE)
		return error;
	vfs_lock(v);
	before = last_of(v, who)->kept;
	*last_of(v, who) =
		(struct looked_up){.node = node, .again = clock_ms() + END_MS, .kept = -1};
	vfs_unlock(v);
	if (before >= 0)
		close(before);
	return error;
}
