/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A name of a node that has others, or whose own room is too small for it. */
struct further_link {
	struct further_link *next;
	struct node *node;
	struct link link;
};

#define OWN_NAME (offsetof(struct node, own) + offsetof(struct link, name))

static struct further_link *further_of(const struct link *link)
{
	return (struct further_link *)((char *)(uintptr_t)link -
				       offsetof(struct further_link, link));
}

static struct node *node_of(const struct link *link)
{
	if (link->further)
		return further_of(link)->node;
	return (struct node *)((char *)(uintptr_t)link - offsetof(struct node, own));
}

/* ---- sets ---- */

#define FIRST_SIZE 1024 /* slots; always a power of two */

typedef uint64_t hash_of(const void *element);

static bool set_init(struct node_set *s)
{
	s->size = FIRST_SIZE;
	s->slots = calloc(s->size, sizeof(*s->slots));
	return s->slots != NULL;
}

static size_t set_next(const struct node_set *s, size_t at)
{
	return (at + 1) & (s->size - 1);
}

static void set_put(struct node_set *s, void *element, uint64_t hash)
{
	size_t at = (size_t)hash & (s->size - 1);

	while (s->slots[at])
		at = set_next(s, at);
	s->slots[at] = element;
	s->count++;
}

static bool set_grow(struct node_set *s, hash_of *hash)
{
	struct node_set bigger = {.size = 2 * s->size};

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < s->size; i++) {
		if (s->slots[i])
			set_put(&bigger, s->slots[i], hash(s->slots[i]));
	}
	free(s->slots);
	*s = bigger;
	return true;
}

/* A failed growth only makes it slower, for as long as there is a free slot left behind it. */
static bool set_add(struct node_set *s, void *element, hash_of *hash)
{
	if (4 * (s->count + 1) > 3 * s->size && !set_grow(s, hash) && s->count + 2 > s->size)
		return false;
	set_put(s, element, hash(element));
	return true;
}

/* What stands behind it moves up where it would not be found any more. */
static void set_remove(struct node_set *s, const void *element, hash_of *hash)
{
	size_t hole = (size_t)hash(element) & (s->size - 1);

	while (s->slots[hole] != element)
		hole = set_next(s, hole);
	for (size_t at = set_next(s, hole); s->slots[at]; at = set_next(s, at)) {
		size_t home = (size_t)hash(s->slots[at]) & (s->size - 1);

		if (((at - home) & (s->size - 1)) < ((at - hole) & (s->size - 1)))
			continue;
		s->slots[hole] = s->slots[at];
		hole = at;
	}
	s->slots[hole] = NULL;
	s->count--;
}

/* ---- what they are found by ---- */

static uint64_t id_hash(uint64_t id)
{
	return (id * 0x9E3779B97F4A7C15U) >> 24;
}

static uint64_t name_hash(const struct node *parent, const char *name)
{
	return XXH3_64bits_withSeed(name, strlen(name), parent->id);
}

static uint64_t hash_node(const void *node)
{
	return id_hash(((const struct node *)node)->id);
}

static uint64_t hash_identity(const void *node)
{
	return XXH3_64bits(node_identity(node), sizeof(struct identity));
}

static uint64_t hash_link(const void *element)
{
	const struct link *link = element;

	return name_hash(link->parent, link->name);
}

struct node *nodes_by_id(struct nodes *t, uint64_t id)
{
	const struct node_set *s = &t->by_id;
	size_t at = (size_t)id_hash(id) & (s->size - 1);
	struct node *node;

	while ((node = s->slots[at]) && node->id != id)
		at = set_next(s, at);
	return node;
}

struct node *nodes_by_identity(struct nodes *t, const struct identity *real)
{
	const struct node_set *s = &t->by_identity;
	size_t at = (size_t)XXH3_64bits(real, sizeof(*real)) & (s->size - 1);
	struct node *node;

	while ((node = s->slots[at]) && memcmp(node_identity(node), real, sizeof(*real)) != 0)
		at = set_next(s, at);
	return node;
}

static struct link *find_link(struct nodes *t, const struct node *parent, const char *name)
{
	const struct node_set *s = &t->by_name;
	size_t at = (size_t)name_hash(parent, name) & (s->size - 1);
	struct link *link;

	while ((link = s->slots[at]) && (link->parent != parent || strcmp(link->name, name) != 0))
		at = set_next(s, at);
	return link;
}

struct node *nodes_by_name(struct nodes *t, const struct node *parent, const char *name)
{
	const struct link *link = find_link(t, parent, name);

	return link ? node_of(link) : NULL;
}

struct node *nodes_next(const struct nodes *t, size_t *at)
{
	struct node *node = NULL;

	while (!node && *at < t->by_id.size)
		node = t->by_id.slots[(*at)++];
	return node;
}

/* ---- the table ---- */

bool nodes_init(struct nodes *t, void (*gone)(struct node *node))
{
	struct node *root;

	*t = (struct nodes){.next_id = NODE_ROOT, .gone = gone};
	pthread_mutex_init(&t->lock, NULL);
	if (!set_init(&t->by_id) || !set_init(&t->by_identity) || !set_init(&t->by_name))
		return false;
	root = nodes_add(t, NODE_REAL, NULL);
	if (!root)
		return false;
	root->folder = true;
	root->lookups = 1;
	return true;
}

/* With room for its first name. */
static size_t size_of(size_t room)
{
	size_t size = OWN_NAME + room + 1;

	return size < sizeof(struct node) ? sizeof(struct node) : size;
}

static void node_free(struct nodes *t, struct node *node)
{
	while (node->more && node->more->links) {
		struct further_link *next = node->more->links->next;

		free(node->more->links);
		node->more->links = next;
	}
	nodes_settle(node);
	free(node->more);
	slab_put(&t->slab, node, size_of(node->own.room));
}

void nodes_release(struct nodes *t)
{
	struct node *node;
	size_t at = 0;

	t->ending = true;
	while (t->by_id.slots && (node = nodes_next(t, &at)))
		t->gone(node);
	at = 0;
	while (t->by_id.slots && (node = nodes_next(t, &at)))
		node_free(t, node);
	slab_release(&t->slab);
	free(t->by_id.slots);
	free(t->by_identity.slots);
	free(t->by_name.slots);
	pthread_mutex_destroy(&t->lock);
}

void nodes_lock(struct nodes *t)
{
	pthread_mutex_lock(&t->lock);
}

void nodes_unlock(struct nodes *t)
{
	pthread_mutex_unlock(&t->lock);
}

struct node *nodes_add(struct nodes *t, enum node_kind kind, const char *name)
{
	size_t room = name ? strlen(name) : 0;
	struct node *node = slab_get(&t->slab, size_of(room));

	if (!node)
		return NULL;
	node->id = t->next_id;
	node->kind = (uint8_t)kind;
	node->descriptor = -1;
	node->own.room = (uint8_t)room;
	if (!set_add(&t->by_id, node, hash_node)) {
		slab_put(&t->slab, node, size_of(room));
		return NULL;
	}
	t->next_id++;
	t->count++;
	return node;
}

struct node_more *node_need_more(struct node *node)
{
	if (!node->more)
		node->more = calloc(1, sizeof(*node->more));
	return node->more;
}

/* ---- identities ---- */

const struct identity *node_identity(const struct node *node)
{
	static const struct identity none;

	return node->more ? &node->more->real : &none;
}

bool nodes_identify(struct nodes *t, struct node *node, const struct identity *real)
{
	struct node_more *more = node_need_more(node);

	if (!more)
		return false;
	nodes_leave_identity(t, node);
	more->real = *real;
	more->identified = set_add(&t->by_identity, node, hash_identity);
	return more->identified;
}

void nodes_leave_identity(struct nodes *t, struct node *node)
{
	if (!node->more || !node->more->identified)
		return;
	set_remove(&t->by_identity, node, hash_identity);
	node->more->identified = false;
}

/* ---- names ---- */

const struct link *node_link(const struct node *node)
{
	const struct node_more *more = node->more;

	if (more && more->links && (more->own_last || !node->own.parent))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
		return &more->links->link;
	return node->own.parent ? &node->own : NULL;
}

const struct link *node_next_link(const struct node *node, const struct link *link)
{
	const struct node_more *more = node->more;
	const struct further_link *next;

	if (!more)
		return NULL;
	next = link->further ? further_of(link)->next : more->own_last ? NULL : more->links;
	if (next)
		return &next->link;
	return link->further && more->own_last && node->own.parent ? &node->own : NULL;
}

static void take_further(struct node *node, const struct further_link *link)
{
	struct further_link **at = &node->more->links;

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
}

static void put_further(struct node *node, struct further_link *link)
{
	link->next = node->more->links;
	node->more->links = link;
	node->more->own_last = true;
}

static void drop_link(struct link *link)
{
	link->parent = NULL;
	link->retired = false;
	if (!link->further)
		return;
	take_further(node_of(link), further_of(link));
	free(further_of(link));
}

/* Takes a link out of its node and out of the table; the parent keeps its reference. */
static struct node *take_link(struct nodes *t, struct link *link)
{
	struct node *parent = link->parent;

	if (!link->retired)
		set_remove(&t->by_name, link, hash_link);
	t->links--;
	drop_link(link);
	return parent;
}

static void remove_link(struct nodes *t, struct link *link)
{
	nodes_drop(t, take_link(t, link), 0, 1);
}

/* The same, and the node goes where only that name kept it. */
static void lose_link(struct nodes *t, struct link *link)
{
	struct node *node = node_of(link);

	remove_link(t, link);
	nodes_drop(t, node, 0, 0);
}

/* The name that was seen last goes before the others. */
static void move_to_front(struct link *link)
{
	struct node *node = node_of(link);

	if (link->further) {
		take_further(node, further_of(link));
		put_further(node, further_of(link));
	} else if (node->more) {
		node->more->own_last = false;
	}
}

/* A link of the node that is not in use, its own if that has the room. */
static struct link *new_link(struct node *node, const char *name)
{
	size_t size = strlen(name);
	struct further_link *link;

	if (!node->own.parent && size <= node->own.room) {
		if (node->more)
			node->more->own_last = false;
		return &node->own;
	}
	link = node_need_more(node) ? malloc(sizeof(*link) + size + 1) : NULL;
	if (!link && node->more) {
		link = node->more->spare;
		node->more->spare = NULL;
	}
	if (!link)
		return NULL;
	link->node = node;
	link->link.further = true;
	link->link.retired = false;
	put_further(node, link);
	return &link->link;
}

bool nodes_ready(struct node *node)
{
	struct node_more *more = node_need_more(node);

	if (more && !more->spare)
		more->spare = malloc(sizeof(*more->spare) + NAME_MAX + 1);
	return more && more->spare;
}

void nodes_settle(struct node *node)
{
	if (!node->more)
		return;
	free(node->more->spare);
	node->more->spare = NULL;
}

bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name)
{
	struct link *old = find_link(t, parent, name), *link;

	if (old && node_of(old) == node) {
		move_to_front(old);
		return true;
	}
	link = new_link(node, name);
	if (!link)
		return false;
	link->parent = parent;
	strcpy(link->name, name);
	if (!set_add(&t->by_name, link, hash_link)) {
		drop_link(link);
		return false;
	}
	parent->references++;
	t->links++;
	if (old)
		lose_link(t, old);
	return true;
}

void nodes_unlink(struct nodes *t, struct node *parent, const char *name)
{
	struct link *link = find_link(t, parent, name);

	if (link)
		lose_link(t, link);
}

/* The node's first, to be changed. */
static struct link *first_link(struct node *node)
{
	return (struct link *)(uintptr_t)node_link(node);
}

void nodes_unlink_all(struct nodes *t, struct node *node)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
	while (first_link(node))
		remove_link(t, first_link(node));
}

void nodes_retire(struct nodes *t, struct node *node)
{
	struct link *link = first_link(node);

	if (!link || link->retired)
		return;
	set_remove(&t->by_name, link, hash_link);
	link->retired = true;
}

bool node_is_retired(const struct node *node)
{
	const struct link *link = node_link(node);

	return link && link->retired;
}

static bool is_needed(const struct nodes *t, const struct node *node)
{
	bool kept = t->keeps || (node->kind != NODE_REAL && node_memo(node));

	return node->references || node->lookups || node->id == NODE_ROOT ||
	       (kept && node_link(node) && !node_is_retired(node));
}

/*
 * A node that nothing needs any more is out of its file, whose list has its neighbours: only then
 * next_in_file is free to hold those that are still to be buried together.
 */
static void orphan(struct nodes *t, struct node *node, struct node **orphaned)
{
	nodes_leave_identity(t, node);
	t->gone(node);
	node->next_in_file = *orphaned;
	*orphaned = node;
}

static void bury(struct nodes *t, struct node *node, struct node **orphaned)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
	while (first_link(node)) {
		struct node *parent = take_link(t, first_link(node));

		parent->references--;
		if (!is_needed(t, parent))
			orphan(t, parent, orphaned);
	}
	set_remove(&t->by_id, node, hash_node);
	t->count--;
	node_free(t, node);
}

void nodes_drop(struct nodes *t, struct node *node, uint64_t lookups, uint32_t references)
{
	struct node *orphaned = NULL;

	if (t->ending)
		return; /* each is freed in its turn */
	assert(node->lookups >= lookups && node->references >= references);
	node->lookups -= lookups;
	node->references -= references;
	if (is_needed(t, node))
		return;
	orphan(t, node, &orphaned);
	/* A loop: folders may lie deeper in one another than a stack is. */
	while (orphaned) {
		node = orphaned;
		orphaned = node->next_in_file;
		bury(t, node, &orphaned);
	}
}
