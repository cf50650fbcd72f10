/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate.h"

#include <errno.h>

/* Is this thread (`self`), or any other one, a guest in the folder? */
static bool has_guest(const struct vfs *v, const struct node *folder, bool self) REQUIRES(vfs_class)
{
	for (const struct guest *g = v->gate.guests; g; g = g->next) {
		if (pthread_equal(g->thread, pthread_self()) == self &&
		    node_is_below(g->node, folder))
			return true;
	}
	return false;
}

static bool is_closed(const struct vfs *v, const struct node *node) REQUIRES(vfs_class)
{
	const struct node *closed = v->gate.closed;

	return closed && node_is_below(node, closed) && !has_guest(v, closed, true);
}

void gate_enter(struct vfs *v, uint64_t id, struct guest *g)
{
	struct gate *gate = &v->gate;
	struct node *node;

	*g = (struct guest){.thread = pthread_self()};
	vfs_lock(v);
	while ((node = nodes_by_id(&v->nodes, id)) && is_closed(v, node))
		lock_wait(&v->lock, &vfs_class, &gate->moved);
	if (node) {
		g->node = node_get(node);
		g->next = gate->guests;
		g->back = &gate->guests;
		if (g->next)
			g->next->back = &g->next;
		gate->guests = g;
	}
	vfs_unlock(v);
}

int gate_enter_target(struct vfs *v, const struct target *t, struct guest *g)
{
	bool same;

	gate_enter(v, t->node->id, g);
	vfs_lock(v);
	same = t->node->thing == t->thing;
	vfs_unlock(v);
	return same ? 0 : ESTALE;
}

void gate_leave(struct vfs *v, struct guest *g)
{
	if (!g->node)
		return;
	vfs_lock(v);
	*g->back = g->next;
	if (g->next)
		g->next->back = g->back;
	node_put(&v->nodes, g->node);
	if (v->gate.closed)
		pthread_cond_broadcast(&v->gate.moved);
	vfs_unlock(v);
	g->node = NULL;
}

/* Is it the parent of the closed folder, or was it before that was moved aside? */
static bool has_closed(const struct vfs *v, const struct node *node) REQUIRES(vfs_class)
{
	const struct link *link = v->gate.closed ? node_link(v->gate.closed) : NULL;

	return link && link->parent == node && !has_guest(v, v->gate.closed, true);
}

bool gate_await(struct vfs *v, uint64_t id, unsigned turns)
{
	const struct node *node;

	if (turns == v->gate_turns && !(turns & 1))
		return false;
	vfs_lock(v);
	while ((node = nodes_by_id(&v->nodes, id)) && (is_closed(v, node) || has_closed(v, node)))
		lock_wait(&v->lock, &vfs_class, &v->gate.moved);
	vfs_unlock(v);
	/* If an unrelated folder stays closed, there is no reason to look again. */
	return turns != v->gate_turns;
}

void gate_close(struct vfs *v, const struct node *folder)
{
	v->gate.closed = folder;
	v->gate_turns++;
	while (has_guest(v, folder, false))
		lock_wait(&v->lock, &vfs_class, &v->gate.moved);
}

void gate_open(struct vfs *v)
{
	v->gate.closed = NULL;
	v->gate_turns++;
	pthread_cond_broadcast(&v->gate.moved);
}
