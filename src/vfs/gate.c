/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate.h"

#include "util/clock.h"
#include "util/timing.h"

#include <errno.h>

/* ---- guests ---- */

/* Returns whether this thread (`self`), or any other thread, is a guest in the folder. */
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

/* ---- looks ---- */

void quiet_begin(struct vfs *v, struct quiet *q)
{
	q->next = v->gate.quiets;
	q->back = &v->gate.quiets;
	if (q->next)
		q->next->back = &q->next;
	v->gate.quiets = q;
	v->staged++;
}

void quiet_end(struct vfs *v, struct quiet *q)
{
	*q->back = q->next;
	if (q->next)
		q->next->back = q->back;
	v->staged--;
}

static bool quiet_is_broken_by(const struct quiet *q, const struct look *l) REQUIRES(vfs_class)
{
	return (q->maker && q->maker == l->pid) || node_is_below(l->node, q->folder);
}

bool quiet_is_over(const struct vfs *v, const struct quiet *q)
{
	for (const struct look *l = v->gate.looks; l; l = l->next) {
		if (quiet_is_broken_by(q, l))
			return false;
	}
	return clock_ms() >= q->at;
}

void look_begin(struct vfs *v, const struct request *who, uint64_t node, struct look *l)
{
	struct node *found;

	l->node = NULL;
	if (!v->staged)
		return;
	vfs_lock(v);
	found = nodes_by_id(&v->nodes, node);
	if (found) {
		*l = (struct look){.node = node_get(found),
				   .pid = who->pid,
				   .began = clock_ms(),
				   .next = v->gate.looks,
				   .back = &v->gate.looks};
		if (l->next)
			l->next->back = &l->next;
		v->gate.looks = l;
	}
	vfs_unlock(v);
}

void look_end(struct vfs *v, struct look *l)
{
	int64_t now = clock_ms();

	if (!l->node)
		return;
	vfs_lock(v);
	*l->back = l->next;
	if (l->next)
		l->next->back = l->back;
	for (struct quiet *q = v->gate.quiets; q; q = q->next) {
		int64_t since = q->at - END_MS > l->began ? q->at - END_MS : l->began;

		if (quiet_is_broken_by(q, l))
			q->at += now - since;
	}
	node_put(&v->nodes, l->node);
	vfs_unlock(v);
}

/* ---- waiting ---- */

/*
 * Returns whether the node is the parent of the closed folder, or was before that folder was moved
 * aside.
 */
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
	/* If an unrelated folder stays closed, do not look again. */
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
