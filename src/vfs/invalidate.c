/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "invalidate.h"
#include "deadline.h"

#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A notification that the invalidation thread sends; also a list of notifications that are sent
 * after a reply.
 */
struct after {
	struct after *next;
	uint64_t node;
	uint64_t behind; /* a node whose attributes to invalidate after the name; 0: none */
	bool counted;    /* whether this counts as done already, so that no sender waits for it */
	bool drop;       /* drop the name and everything below it */
	char name[];     /* name in the folder `node`; "": the attributes and pages of `node` */
};

struct change {
	uint64_t node;       /* a node whose attributes to invalidate at once; 0: none */
	bool listing;        /* `node` is a folder: also invalidate its listing */
	struct after *later; /* notifications that the invalidation thread sends; or NULL */
};

struct queue {
	struct after *first, **last;
};

struct invalidator {
	const struct kernel *kernel;
	pthread_t thread;
	bool started;
	struct lock lock;
	pthread_cond_t wake, progress;
	bool ending GUARDED_BY(invalidate_class);
	bool silent GUARDED_BY(invalidate_class);
	struct queue queue GUARDED_BY(invalidate_class);
	/* Number of notifications queued, and number of those sent or kept back. */
	uint64_t asked GUARDED_BY(invalidate_class), done GUARDED_BY(invalidate_class);
	/* folder of the name that is being sent; 0: none */
	uint64_t folder GUARDED_BY(invalidate_class);
	/* names that are kept back since their folder is in `folders` */
	struct queue kept GUARDED_BY(invalidate_class);
	struct kept_folder {
		uint64_t node;
		unsigned count;
	} * folders GUARDED_BY(invalidate_class);
	size_t folder_count GUARDED_BY(invalidate_class), folder_room GUARDED_BY(invalidate_class);
};

/* ---- the queue ---- */

static void queue_init(struct queue *q)
{
	*q = (struct queue){NULL, &q->first};
}

static void queue_put(struct queue *q, struct after *one)
{
	one->next = NULL;
	*q->last = one;
	q->last = &one->next;
}

static struct after *queue_take(struct queue *q)
{
	struct after *first = q->first;

	if (!first)
		return NULL;
	q->first = first->next;
	if (!q->first)
		q->last = &q->first;
	return first;
}

static struct after *after_new(uint64_t node, const char *name, bool drop)
{
	size_t size = strlen(name) + 1;
	struct after *one = malloc(sizeof(*one) + size);

	if (!one)
		return NULL;
	*one = (struct after){.node = node, .drop = drop};
	memcpy(one->name, name, size);
	return one;
}

static void after_free(struct after *list)
{
	while (list) {
		struct after *next = list->next;

		free(list);
		list = next;
	}
}

/*
 * Queues a list of notifications, which it takes over, and wakes the invalidation thread unless the
 * list is empty.
 */
static void invalidate_enqueue(struct invalidator *n, struct after *list)
{
	if (!list)
		return;
	lock_acquire(&n->lock, &invalidate_class);
	while (list) {
		struct after *next = list->next;

		queue_put(&n->queue, list);
		n->asked++;
		list = next;
	}
	lock_release(&n->lock, &invalidate_class);
	/* Signal after unlocking, or the thread would wake up only to wait for the lock. */
	pthread_cond_signal(&n->wake);
}

void invalidate_data(struct vfs *v, uint64_t node)
{
	invalidate_enqueue(v->invalidator, after_new(node, "", false));
}

void invalidate_name(struct vfs *v, uint64_t folder, const char *name)
{
	invalidate_enqueue(v->invalidator, after_new(folder, name, false));
}

/* ---- names that are kept back ---- */

/* Returns the entry of a folder whose names are kept back; NULL if they are not. */
static struct kept_folder *find_kept_folder(const struct invalidator *n, uint64_t node)
	REQUIRES(invalidate_class)
{
	for (size_t i = 0; i < n->folder_count; i++) {
		if (n->folders[i].node == node)
			return &n->folders[i];
	}
	return NULL;
}

static struct kept_folder *add_kept_folder(struct invalidator *n, uint64_t node)
	REQUIRES(invalidate_class)
{
	struct kept_folder *list =
		array_room(n->folders, n->folder_count, &n->folder_room, sizeof(*list));

	if (!list)
		return NULL;
	n->folders = list;
	list[n->folder_count] = (struct kept_folder){node, 0};
	return &list[n->folder_count++];
}

void names_keep(struct vfs *v, uint64_t folder)
{
	struct invalidator *n = v->invalidator;
	struct kept_folder *kept;

	lock_acquire(&n->lock, &invalidate_class);
	kept = find_kept_folder(n, folder);
	if (!kept)
		kept = add_kept_folder(n, folder);
	if (kept)
		kept->count++;
	lock_release(&n->lock, &invalidate_class);
}

/*
 * Puts all names that were kept back at the front of the queue, in order; the thread keeps those
 * back again whose folder is still in `folders`.
 */
static void put_back(struct invalidator *n) REQUIRES(invalidate_class)
{
	if (!n->kept.first)
		return;
	*n->kept.last = n->queue.first;
	if (!n->queue.first)
		n->queue.last = n->kept.last;
	n->queue.first = n->kept.first;
	queue_init(&n->kept);
	pthread_cond_signal(&n->wake);
}

void names_release(struct vfs *v, uint64_t folder)
{
	struct invalidator *n = v->invalidator;
	struct kept_folder *kept;

	lock_acquire(&n->lock, &invalidate_class);
	kept = find_kept_folder(n, folder);
	if (kept && --kept->count == 0) {
		*kept = n->folders[--n->folder_count];
		put_back(n);
	}
	lock_release(&n->lock, &invalidate_class);
}

/* ---- the invalidation thread ---- */

/* Counts a notification as done: sent, or kept back. */
static void count_done(struct invalidator *n, bool counted) REQUIRES(invalidate_class)
{
	if (counted)
		return;
	n->done++;
	pthread_cond_broadcast(&n->progress);
}

static struct after *take_next(struct invalidator *n) REQUIRES(invalidate_class)
{
	struct after *one;

	while ((one = queue_take(&n->queue)) && *one->name && find_kept_folder(n, one->node)) {
		queue_put(&n->kept, one);
		count_done(n, one->counted);
		one->counted = true;
	}
	return one;
}

/*
 * Sends a notification, in the invalidation thread. For most names the kernel is only asked to look
 * the name up again: dropping it would break processes whose working directory is below. Kernels
 * before 6.2 can only drop a name.
 */
static void send_later(const struct kernel *k, const struct after *one)
{
	if (!*one->name)
		k->inval_node(k->closure, one->node, true);
	else if (one->drop || k->expire_name(k->closure, one->node, one->name) == ENOSYS)
		k->inval_name(k->closure, one->node, one->name);
	if (one->behind)
		k->inval_node(k->closure, one->behind, false);
}

static void *run_invalidator(void *closure)
{
	struct invalidator *n = closure;

	lock_acquire(&n->lock, &invalidate_class);
	while (!n->ending) {
		struct after *one = take_next(n);
		bool silent = n->silent, counted;

		if (!one) {
			lock_wait(&n->lock, &invalidate_class, &n->wake);
			continue;
		}
		n->folder = *one->name ? one->node : 0;
		pthread_cond_broadcast(&n->progress);
		lock_release(&n->lock, &invalidate_class);
		if (!silent)
			send_later(n->kernel, one);
		counted = one->counted;
		free(one);
		lock_acquire(&n->lock, &invalidate_class);
		n->folder = 0;
		count_done(n, counted);
	}
	lock_release(&n->lock, &invalidate_class);
	return NULL;
}

static bool is_locked(const struct changes *c, uint64_t folder)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->locked); i++) {
		if (folder && folder == c->locked[i])
			return true;
	}
	return false;
}

/*
 * Waits until all notifications queued so far are sent or kept back, unless the thread is blocked
 * by a folder that our request has locked in the kernel.
 */
static void wait_sent(struct invalidator *n, const struct changes *c)
{
	struct timespec until = clock_until(clock_real_ms() + SENT_WAIT_MS);
	uint64_t asked;

	lock_acquire(&n->lock, &invalidate_class);
	asked = n->asked;
	while (n->done < asked && !n->ending && !is_locked(c, n->folder) &&
	       lock_wait_until(&n->lock, &invalidate_class, &n->progress, &until))
		;
	lock_release(&n->lock, &invalidate_class);
}

int invalidate_settle(struct vfs *v)
{
	struct timespec until = clock_until(clock_real_ms() + ADVANCE_LIMIT_MS);
	struct invalidator *n = v->invalidator;
	uint64_t asked;
	bool sent;

	lock_acquire(&n->lock, &invalidate_class);
	asked = n->asked;
	while (n->started && n->done < asked && !n->ending &&
	       lock_wait_until(&n->lock, &invalidate_class, &n->progress, &until))
		;
	sent = !n->started || n->done >= asked;
	lock_release(&n->lock, &invalidate_class);
	return sent ? 0 : ETIMEDOUT;
}

/*
 * Invalidates a node's attributes, in the calling thread. Returns false if the kernel did not know
 * the node.
 */
static bool send_now(struct invalidator *n, uint64_t node, bool listing)
{
	const struct kernel *k = n->kernel;
	bool silent;

	lock_acquire(&n->lock, &invalidate_class);
	silent = n->silent;
	lock_release(&n->lock, &invalidate_class);
	return silent || k->inval_node(k->closure, node, listing) != ENOENT;
}

/* ---- collecting changes ---- */

static void add_change(struct changes *c, struct change change)
{
	struct change *list = array_room(c->list, c->count, &c->room, sizeof(*list));

	if (!list) {
		free(change.later);
		return;
	}
	c->list = list;
	list[c->count++] = change;
}

void changes_attributes(struct changes *c, const struct node *node)
{
	add_change(c, (struct change){.node = node->id});
}

void changes_data(struct changes *c, const struct node *node)
{
	bool folder = node->thing->folder;

	add_change(c, (struct change){node->id, folder,
				      folder ? NULL : after_new(node->id, "", false)});
}

void changes_name(struct changes *c, const struct node *folder, const char *name, bool drop)
{
	add_change(c, (struct change){.later = after_new(folder->id, name, drop)});
}

void changes_names(struct changes *c, const struct node *node, bool drop)
{
	for (const struct link *link = node_link(node); link; link = node_next_link(node, link))
		changes_name(c, link->parent, link->name, drop);
}

/*
 * Queues an invalidation of the node's attributes after that of its name. Used if the kernel does
 * not know the node yet: the reply to its first lookup is in flight, with attributes from before
 * the change. The lookup holds the kernel's lock of the folder, for which the name waits, so after
 * the name the kernel knows the node.
 */
static void send_again(struct vfs *v, struct changes *c, uint64_t id)
{
	struct after *name = NULL;
	const struct link *link;
	const struct node *node;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, id);
	link = node && node->lookups ? node_link(node) : NULL;
	if (link)
		name = after_new(link->parent->id, link->name, false);
	vfs_unlock(v);
	if (!name)
		return;
	name->behind = id;
	add_change(c, (struct change){.later = name});
}

/*
 * Divides the thread's notifications into those to send soon, and those that must wait for the
 * reply (names in locked folders).
 */
static void sort_changes(const struct changes *c, struct queue *soon, struct queue *locked)
{
	for (size_t i = 0; i < c->count; i++) {
		struct after *one = c->list[i].later;

		if (one)
			queue_put(*one->name && is_locked(c, one->node) ? locked : soon, one);
	}
}

static bool has_names(const struct after *list)
{
	while (list && !*list->name)
		list = list->next;
	return list != NULL;
}

struct after *changes_send(struct vfs *v, struct changes *c)
{
	struct invalidator *n = v->invalidator;
	struct queue soon, locked;
	bool wait;

	if (!c->count) {
		c->saved = false;
		return NULL;
	}
	queue_init(&soon);
	queue_init(&locked);
	/*
	 * Invalidate all attributes before any pages, so that a reader that sees one changed text
	 * sees all.
	 */
	for (size_t i = 0; i < c->count; i++) {
		if (c->list[i].node && !send_now(n, c->list[i].node, c->list[i].listing))
			send_again(v, c, c->list[i].node);
	}
	sort_changes(c, &soon, &locked);
	wait = c->saved && n->started && has_names(soon.first);
	invalidate_enqueue(n, soon.first);
	if (wait)
		wait_sent(n, c);
	free(c->list);
	c->list = NULL;
	c->count = c->room = 0;
	c->saved = false;
	return locked.first;
}

void after_send(struct vfs *v, struct after *after)
{
	invalidate_enqueue(v->invalidator, after);
}

void changes_send_all(struct vfs *v, struct changes *c)
{
	after_send(v, changes_send(v, c));
}

void changes_discard(struct changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].later);
	free(c->list);
	*c = (struct changes)CHANGES_INIT;
}

/* ---- start and end ---- */

UNSHARED struct invalidator *invalidator_new(const struct kernel *kernel)
{
	struct invalidator *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->kernel = kernel;
	queue_init(&n->queue);
	queue_init(&n->kept);
	lock_init(&n->lock);
	lock_condition_init(&n->wake);
	lock_condition_init(&n->progress);
	return n;
}

bool invalidator_start(struct invalidator *n)
{
	n->started = thread_start(&n->thread, run_invalidator, n) == 0;
	return n->started;
}

void invalidator_silence(struct invalidator *n)
{
	lock_acquire(&n->lock, &invalidate_class);
	n->silent = true;
	lock_release(&n->lock, &invalidate_class);
}

static void stop_thread(struct invalidator *n)
{
	lock_acquire(&n->lock, &invalidate_class);
	n->ending = true;
	pthread_cond_signal(&n->wake);
	pthread_cond_broadcast(&n->progress);
	lock_release(&n->lock, &invalidate_class);
	if (n->started)
		pthread_join(n->thread, NULL);
}

UNSHARED void invalidator_free(struct invalidator *n)
{
	if (!n)
		return;
	stop_thread(n);
	after_free(n->queue.first);
	after_free(n->kept.first);
	free(n->folders);
	pthread_cond_destroy(&n->wake);
	pthread_cond_destroy(&n->progress);
	lock_destroy(&n->lock);
	free(n);
}
