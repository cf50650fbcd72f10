/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_SIZE 1024 /* buckets; always a power of two */

static size_t id_bucket(const struct nodes *t, uint64_t id)
{
	return id & (t->id_size - 1);
}

static size_t identity_bucket(const struct nodes *t, const struct identity *real)
{
	return XXH3_64bits(real, sizeof(*real)) & (t->id_size - 1);
}

static size_t name_bucket(size_t size, const struct node *parent, const char *name)
{
	return XXH3_64bits_withSeed(name, strlen(name), parent->id) & (size - 1);
}

bool nodes_init(struct nodes *t, void (*gone)(struct node *node))
{
	struct node *root;

	*t = (struct nodes){.next_id = NODE_ROOT, .gone = gone};
	pthread_mutex_init(&t->lock, NULL);
	t->id_size = t->name_size = FIRST_SIZE;
	t->by_id = calloc(t->id_size, sizeof(*t->by_id));
	t->by_identity = calloc(t->id_size, sizeof(*t->by_identity));
	t->by_name = calloc(t->name_size, sizeof(*t->by_name));
	if (!t->by_id || !t->by_identity || !t->by_name)
		return false;
	root = nodes_add(t, NODE_REAL);
	if (!root)
		return false;
	root->folder = true;
	root->lookups = 1;
	return true;
}

void nodes_release(struct nodes *t)
{
	t->ending = true;
	for (size_t i = 0; t->by_name && i < t->name_size; i++) {
		while (t->by_name[i]) {
			struct link *link = t->by_name[i];

			t->by_name[i] = link->next_by_name;
			free(link);
		}
	}
	for (size_t i = 0; t->by_id && i < t->id_size; i++) {
		while (t->by_id[i]) {
			struct node *node = t->by_id[i];

			t->by_id[i] = node->next_by_id;
			t->gone(node);
			free(node);
		}
	}
	free(t->by_id);
	free(t->by_identity);
	free(t->by_name);
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

struct node *nodes_by_id(struct nodes *t, uint64_t id)
{
	struct node *node = t->by_id[id_bucket(t, id)];

	while (node && node->id != id)
		node = node->next_by_id;
	return node;
}

struct node *nodes_by_identity(struct nodes *t, const struct identity *real)
{
	struct node *node = t->by_identity[identity_bucket(t, real)];

	while (node && memcmp(&node->real, real, sizeof(*real)) != 0)
		node = node->next_by_identity;
	return node;
}

static struct link **find_link(struct nodes *t, const struct node *parent, const char *name)
{
	struct link **at = &t->by_name[name_bucket(t->name_size, parent, name)];

	while (*at && ((*at)->parent != parent || strcmp((*at)->name, name) != 0))
		at = &(*at)->next_by_name;
	return at;
}

struct node *nodes_by_name(struct nodes *t, const struct node *parent, const char *name)
{
	struct link *link = *find_link(t, parent, name);

	return link ? link->node : NULL;
}

/* A failed growth only makes the chains longer. */
static void grow_nodes(struct nodes *t)
{
	size_t old_size = t->id_size;
	struct node **by_id = calloc(2 * old_size, sizeof(*by_id));
	struct node **by_identity = calloc(2 * old_size, sizeof(*by_identity));
	struct node **old = t->by_id;

	if (!by_id || !by_identity) {
		free(by_id);
		free(by_identity);
		return;
	}
	free(t->by_identity);
	t->by_id = by_id;
	t->by_identity = by_identity;
	t->id_size = 2 * old_size;
	for (size_t i = 0; i < old_size; i++) {
		for (struct node *node = old[i], *next; node; node = next) {
			struct node **at = &t->by_id[id_bucket(t, node->id)];

			next = node->next_by_id;
			node->next_by_id = *at;
			*at = node;
			if (!node->identified)
				continue;
			at = &t->by_identity[identity_bucket(t, &node->real)];
			node->next_by_identity = *at;
			*at = node;
		}
	}
	free(old);
}

static void grow_links(struct nodes *t)
{
	size_t size = 2 * t->name_size;
	struct link **by_name = calloc(size, sizeof(*by_name));

	if (!by_name)
		return;
	for (size_t i = 0; i < t->name_size; i++) {
		for (struct link *link = t->by_name[i], *next; link; link = next) {
			struct link **at = &by_name[name_bucket(size, link->parent, link->name)];

			next = link->next_by_name;
			link->next_by_name = *at;
			*at = link;
		}
	}
	free(t->by_name);
	t->by_name = by_name;
	t->name_size = size;
}

struct node *nodes_add(struct nodes *t, enum node_kind kind)
{
	struct node *node = calloc(1, sizeof(*node));
	struct node **at;

	if (!node)
		return NULL;
	if (t->count >= t->id_size)
		grow_nodes(t);
	node->id = t->next_id++;
	node->kind = (uint8_t)kind;
	node->descriptor = -1;
	at = &t->by_id[id_bucket(t, node->id)];
	node->next_by_id = *at;
	*at = node;
	t->count++;
	return node;
}

void nodes_identify(struct nodes *t, struct node *node, const struct identity *real)
{
	struct node **at;

	nodes_leave_identity(t, node);
	node->real = *real;
	node->identified = true;
	at = &t->by_identity[identity_bucket(t, real)];
	node->next_by_identity = *at;
	*at = node;
}

void nodes_leave_identity(struct nodes *t, struct node *node)
{
	struct node **at;

	if (!node->identified)
		return;
	at = &t->by_identity[identity_bucket(t, &node->real)];
	while (*at && *at != node)
		at = &(*at)->next_by_identity;
	if (*at)
		*at = node->next_by_identity;
	node->next_by_identity = NULL;
	node->identified = false;
}

static struct link **in_node(struct link *link)
{
	struct link **at = &link->node->links;

	while (*at != link)
		at = &(*at)->next_of_node;
	return at;
}

/* Takes a link out of its node's list and out of the table; the parent keeps its reference. */
static struct node *take_link(struct nodes *t, struct link **in_table)
{
	struct link *link = *in_table;
	struct node *parent;

	assert(link);
	parent = link->parent;
	*in_node(link) = link->next_of_node;
	*in_table = link->next_by_name;
	free(link);
	t->links--;
	return parent;
}

static void remove_link(struct nodes *t, struct link **in_table)
{
	nodes_drop(t, take_link(t, in_table), 0, 1);
}

/* The name that was seen last goes before the others. */
static void move_to_front(struct link *link)
{
	*in_node(link) = link->next_of_node;
	link->next_of_node = link->node->links;
	link->node->links = link;
}

bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name)
{
	struct link **at = find_link(t, parent, name);
	size_t size = strlen(name) + 1;
	struct link *link;

	if (*at && (*at)->node == node) {
		move_to_front(*at);
		return true;
	}
	link = malloc(sizeof(*link) + size);
	if (!link)
		return false;
	if (*at)
		nodes_unlink(t, parent, name);
	if (t->links >= t->name_size)
		grow_links(t);
	link->node = node;
	link->parent = parent;
	memcpy(link->name, name, size);
	link->next_of_node = node->links;
	node->links = link;
	at = &t->by_name[name_bucket(t->name_size, parent, name)];
	link->next_by_name = *at;
	*at = link;
	parent->references++;
	t->links++;
	return true;
}

void nodes_unlink(struct nodes *t, struct node *parent, const char *name)
{
	struct link **at = find_link(t, parent, name);

	if (*at)
		remove_link(t, at);
}

void nodes_unlink_all(struct nodes *t, struct node *node)
{
	while (node->links) {
		struct link **at = find_link(t, node->links->parent, node->links->name);

		assert(*at == node->links);
		remove_link(t, at);
	}
}

/* A node that nothing needs any more; its parents are left with a reference too many, in
 * `orphaned`. */
static void bury(struct nodes *t, struct node *node, struct node **orphaned)
{
	struct node **at = &t->by_id[id_bucket(t, node->id)];

	while (node->links) {
		struct node *parent =
			take_link(t, find_link(t, node->links->parent, node->links->name));

		if (--parent->references || parent->lookups || parent->id == NODE_ROOT)
			continue;
		nodes_leave_identity(t, parent);
		parent->next_by_identity = *orphaned;
		*orphaned = parent;
	}
	while (*at != node)
		at = &(*at)->next_by_id;
	*at = node->next_by_id;
	t->count--;
	t->gone(node);
	free(node);
}

void nodes_drop(struct nodes *t, struct node *node, uint64_t lookups, uint32_t references)
{
	if (t->ending)
		return; /* each is freed in its turn */
	assert(node->lookups >= lookups && node->references >= references);
	node->lookups -= lookups;
	node->references -= references;
	if (node->lookups || node->references || node->id == NODE_ROOT)
		return;
	nodes_leave_identity(t, node);
	/* A loop: folders may lie deeper in one another than a stack is. */
	while (node) {
		struct node *next = node->next_by_identity;

		bury(t, node, &next);
		node = next;
	}
}

const struct link *node_link(const struct node *node)
{
	return node->links;
}
