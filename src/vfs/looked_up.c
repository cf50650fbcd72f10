/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "looked_up.h"
#include "deadline.h"

#include <stdlib.h>
#include <unistd.h>

struct looked_ups {
	struct looked_up last[1024] GUARDED_BY(vfs_class); /* by thread id, hashed */
	struct deadline end;
};

static struct looked_up *last_of(struct vfs *v, const struct request *who) REQUIRES(vfs_class)
{
	struct looked_ups *l = v->looked_ups;

	return &l->last[(unsigned)who->pid % ARRAY_SIZE(l->last)];
}

/* A thread that was to look up or open something again no longer does. */
static void forget_stale(struct vfs *v, void *looked_ups)
{
	struct looked_ups *l = looked_ups;

	for (size_t i = 0; i < ARRAY_SIZE(l->last); i++) {
		int kept;

		vfs_lock(v);
		kept = l->last[i].kept;
		l->last[i].kept = -1;
		l->last[i].again = false;
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
	l->end = (struct deadline){.due = forget_stale, .user = l};
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
	bool again;

	vfs_lock(v);
	again = last_of(v, who)->again;
	vfs_unlock(v);
	return again;
}

void looked_up(struct vfs *v, const struct request *who, uint64_t node, int kept)
{
	struct looked_up *last;
	int before;

	vfs_lock(v);
	last = last_of(v, who);
	before = last->kept;
	last->kept = kept;
	if (node)
		last->node = node;
	if (kept >= 0)
		deadline_set(v->deadlines, &v->looked_ups->end, clock_ms() + END_MS);
	vfs_unlock(v);
	if (before >= 0)
		close(before);
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
	*last_of(v, who) = LOOKED_UP_NOTHING;
	vfs_unlock(v);
	if (last.node == node)
		return last;
	/* It is another thread's, or the kernel knew what the name is. */
	if (last.kept >= 0)
		close(last.kept);
	return LOOKED_UP_NOTHING;
}

void looked_up_stale(struct vfs *v, const struct request *who, uint64_t node)
{
	int before;

	vfs_lock(v);
	before = last_of(v, who)->kept;
	*last_of(v, who) = (struct looked_up){node, true, -1};
	vfs_unlock(v);
	if (before >= 0)
		close(before);
}
