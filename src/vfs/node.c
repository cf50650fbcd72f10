/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A further name of a node with several names, or a name that does not fit into the node. */
struct further_link {
	struct further_link *next;
	struct node *node;
	struct link link;
};

#define OWN_NAME (offsetof(struct node, own) + offsetof(struct link, name))

/* Fields that few nodes need. */
struct node_more {
	struct further_link *links; /* names that are not in the node itself */
	/*
	 * the name in the node itself comes after `links`: it was seen earlier than the first of
	 * these
	 */
	bool own_last;
	/* memory for one more name, reserved by node_ready for nodes_link; or NULL */
	struct further_link *spare;
};

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

/* ---- hash sets ---- */

#define FIRST_SIZE 1024 /* slots of a new set; always a power of two */

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

/*
 * Adds an element. If the set cannot grow, it only gets slower, as long as one slot stays free.
 * Returns false if there is none.
 */
static bool set_add(struct node_set *s, void *element, hash_of *hash)
{
	if (4 * (s->count + 1) > 3 * s->size && !set_grow(s, hash) && s->count + 2 > s->size)
		return false;
	set_put(s, element, hash(element));
	return true;
}

/* Removes an element, and moves up later elements that would no longer be found. */
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

/* ---- hashes ---- */

static uint64_t id_hash(uint64_t id)
{
	return (id * 0x9E3779B97F4A7C15U) >> 24;
}

static uint64_t name_hash(const struct node *parent, const char *name)
{
	return XXH3_64bits_withSeed(name, strlen(name), parent->id);
}

static uint64_t identity_hash(const struct identity *id)
{
	return XXH3_64bits(id, sizeof(*id));
}

static uint64_t hash_node(const void *node)
{
	return id_hash(((const struct node *)node)->id);
}

static uint64_t hash_thing(const void *thing) REQUIRES(vfs_class)
{
	return identity_hash(&((const struct thing *)thing)->plain.identity);
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

bool identity_same(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born == b->born;
}

struct thing *nodes_by_identity(struct nodes *t, const struct identity *real)
{
	const struct node_set *s = &t->by_identity;
	size_t at = (size_t)identity_hash(real) & (s->size - 1);
	struct thing *thing;

	while ((thing = s->slots[at]) && !identity_same(&thing->plain.identity, real))
		at = set_next(s, at);
	return thing;
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

/* ---- things ---- */

static struct thing *thing_new(struct nodes *t, enum thing_kind kind, bool folder)
	REQUIRES(vfs_class)
{
	struct thing *thing = slab_get(&t->slab, sizeof(*thing));

	if (!thing)
		return NULL;
	thing->kind = (uint8_t)kind;
	thing->folder = folder;
	thing->references = 1;
	return thing;
}

struct thing *thing_plain(struct nodes *t, enum area area, bool folder,
			  const struct identity *identity)
{
	struct thing *thing = thing_new(t, THING_PLAIN, folder);

	if (!thing)
		return NULL;
	thing->area = (uint8_t)area;
	thing->plain.descriptor = -1;
	if (!identity)
		return thing;
	thing->plain.identity = *identity;
	thing->plain.identified = set_add(&t->by_identity, thing, hash_thing);
	if (thing->plain.identified)
		return thing;
	slab_put(&t->slab, thing, sizeof(*thing));
	return NULL;
}

static void join(struct nodes *t, struct thing *thing, struct animation *animation)
{
	thing->animation = animation;
	if (animation && t->thing_made)
		t->thing_made(t->closure, thing);
}

struct thing *thing_of(struct nodes *t, enum thing_kind kind, struct animation *animation)
{
	struct thing *thing = thing_new(t, kind, kind <= THING_FRAMES);

	if (thing)
		join(t, thing, animation);
	return thing;
}

struct thing *thing_view(struct nodes *t, struct animation *animation, const struct view *view)
{
	struct thing *thing = thing_new(t, THING_VIEW, false);

	if (!thing)
		return NULL;
	while (view_of(thing) != view)
		thing->view_at++;
	join(t, thing, animation);
	return thing;
}

struct thing *thing_member(struct nodes *t, bool folder)
{
	return thing_new(t, THING_MEMBER, folder);
}

struct thing *thing_archive(struct nodes *t, struct shown_archive *archive)
{
	struct thing *thing = thing_new(t, THING_ARCHIVE, true);

	if (thing)
		thing->archive = archive;
	return thing;
}

struct thing *thing_get(struct thing *thing)
{
	thing->references++;
	return thing;
}

void thing_leave_identity(struct nodes *t, struct thing *thing)
{
	if (thing->kind != THING_PLAIN || !thing->plain.identified)
		return;
	set_remove(&t->by_identity, thing, hash_thing);
	thing->plain.identified = false;
}

static void end_thing(struct nodes *t, struct thing *thing) REQUIRES(vfs_class)
{
	thing_leave_identity(t, thing);
	if (t->thing_gone)
		t->thing_gone(t->closure, thing);
	slab_put(&t->slab, thing, sizeof(*thing));
}

void thing_put(struct nodes *t, struct thing *thing)
{
	if (!thing || t->ending)
		return;
	assert(thing->references);
	if (--thing->references == 0)
		end_thing(t, thing);
}

/* ---- nodes ---- */

UNSHARED bool nodes_init(struct nodes *t)
{
	struct thing *thing;
	struct node *root;

	*t = (struct nodes){.next_id = NODE_ROOT};
	if (!set_init(&t->by_id) || !set_init(&t->by_identity) || !set_init(&t->by_name))
		return false;
	thing = thing_plain(t, AREA_SOURCE, true, NULL);
	root = thing ? nodes_add(t, thing, NULL) : NULL;
	if (!root)
		return false;
	root->lookups = 1;
	node_put(t, root);
	thing_put(t, thing);
	return true;
}

/* Returns the size of a node with room for a first name of that length. */
static size_t node_size_of(size_t room)
{
	size_t size = OWN_NAME + room + 1;

	return size < sizeof(struct node) ? sizeof(struct node) : size;
}

static void node_free(struct nodes *t, struct node *node) REQUIRES(vfs_class)
{
	while (node->more && node->more->links) {
		struct further_link *next = node->more->links->next;

		free(node->more->links);
		node->more->links = next;
	}
	node_settle(node);
	free(node->more);
	slab_put(&t->slab, node, node_size_of(node->own.room));
}

UNSHARED void nodes_release(struct nodes *t)
{
	struct node *node;
	size_t at = 0;

	t->ending = true;
	while (t->by_id.slots && (node = nodes_next(t, &at))) {
		if (t->node_gone)
			t->node_gone(t->closure, node);
	}
	at = 0;
	while (t->by_id.slots && (node = nodes_next(t, &at))) {
		/* Skip a thing that another node points to by now. */
		if (node->thing->node == node && t->thing_gone)
			t->thing_gone(t->closure, node->thing);
	}
	at = 0;
	while (t->by_id.slots && (node = nodes_next(t, &at)))
		node_free(t, node);
	slab_release(&t->slab);
	free(t->by_id.slots);
	free(t->by_identity.slots);
	free(t->by_name.slots);
}

static void leave_thing(struct nodes *t, struct node *node) REQUIRES(vfs_class)
{
	struct thing *thing = node->thing;

	node->thing = NULL;
	if (thing->node == node)
		thing->node = NULL;
	thing_put(t, thing);
}

struct node *nodes_add(struct nodes *t, struct thing *thing, const char *name)
{
	size_t room = name ? strlen(name) : 0;
	struct node *node = slab_get(&t->slab, node_size_of(room));

	if (!node)
		return NULL;
	node->id = t->next_id;
	node->references = 1;
	node->own.room = (uint8_t)room;
	if (!set_add(&t->by_id, node, hash_node)) {
		slab_put(&t->slab, node, node_size_of(room));
		return NULL;
	}
	node->thing = thing_get(thing);
	thing->node = node;
	t->next_id++;
	t->count++;
	return node;
}

void node_point(struct nodes *t, struct node *node, struct thing *thing)
{
	thing_get(thing);
	leave_thing(t, node);
	node->thing = thing;
	thing->node = node;
}

/* ---- names of nodes ---- */

const struct link *node_link(const struct node *node)
{
	const struct node_more *more = node->more;

	if (more && more->links && (more->own_last || !node->own.parent))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): freed links are unlinked first */
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

/* Returns the node's first link, for changing it. */
static struct link *first_link(struct node *node) REQUIRES(vfs_class)
{
	return (struct link *)(uintptr_t)node_link(node);
}

static void take_further(struct node *node, const struct further_link *link) REQUIRES(vfs_class)
{
	struct further_link **at = &node->more->links;

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
}

static void put_further(struct node *node, struct further_link *link) REQUIRES(vfs_class)
{
	link->next = node->more->links;
	node->more->links = link;
	node->more->own_last = true;
}

static void node_drop_link(struct link *link) REQUIRES(vfs_class)
{
	link->parent = NULL;
	link->retired = false;
	if (!link->further)
		return;
	take_further(node_of(link), further_of(link));
	free(further_of(link));
}

/*
 * Takes a link out of its node and the table. Returns the link's parent, whose reference is now the
 * caller's.
 */
static struct node *take_link(struct nodes *t, struct link *link) REQUIRES(vfs_class)
{
	struct node *parent = link->parent;

	if (!link->retired)
		set_remove(&t->by_name, link, hash_link);
	t->links--;
	node_drop_link(link);
	return parent;
}

static bool is_needed(const struct node *node) REQUIRES(vfs_class)
{
	return node->references || node->lookups || node->id == NODE_ROOT;
}

/*
 * Frees a node that nothing refers to, and then the folders above that only it kept alive. A loop,
 * since the tree may be deeper than the stack. Only files have several names.
 */
static void end_node(struct nodes *t, struct node *node) REQUIRES(vfs_class)
{
	while (node) {
		struct node *above = NULL, *parent;

		if (t->node_gone)
			t->node_gone(t->closure, node);
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): freed links are unlinked first */
		while (first_link(node)) {
			parent = take_link(t, first_link(node));
			parent->references--;
			if (is_needed(parent))
				continue;
			if (above)
				end_node(t, above);
			above = parent;
		}
		set_remove(&t->by_id, node, hash_node);
		t->count--;
		leave_thing(t, node);
		node_free(t, node);
		node = above;
	}
}

static void drop(struct nodes *t, struct node *node, uint64_t lookups, uint32_t references)
	REQUIRES(vfs_class)
{
	if (t->ending)
		return; /* the loop in end_node frees it */
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a link that was freed is no node */
	assert(node->lookups >= lookups && node->references >= references);
	node->lookups -= lookups;
	node->references -= references;
	if (!is_needed(node))
		end_node(t, node);
}

struct node *node_get(struct node *node)
{
	node->references++;
	return node;
}

void node_put(struct nodes *t, struct node *node)
{
	if (node)
		drop(t, node, 0, 1);
}

void node_forget(struct nodes *t, struct node *node, uint64_t lookups)
{
	drop(t, node, lookups, 0);
}

/* Removes a name of a node; frees the node if only that name kept it. */
static void lose_link(struct nodes *t, struct link *link) REQUIRES(vfs_class)
{
	struct node *node = node_of(link);

	node_put(t, take_link(t, link));
	drop(t, node, 0, 0);
}

/* Makes this link, which was seen last, the first of its node. */
static void move_to_front(struct link *link) REQUIRES(vfs_class)
{
	struct node *node = node_of(link);

	if (link->further) {
		take_further(node, further_of(link));
		put_further(node, further_of(link));
	} else if (node->more) {
		node->more->own_last = false;
	}
}

static struct node_more *need_more(struct node *node) REQUIRES(vfs_class)
{
	if (!node->more)
		node->more = calloc(1, sizeof(*node->more));
	return node->more;
}

/* Returns an unused link of the node: the one in the node itself, if the name fits. */
static struct link *new_link(struct node *node, const char *name) REQUIRES(vfs_class)
{
	size_t size = strlen(name);
	struct further_link *link;

	if (!node->own.parent && size <= node->own.room) {
		if (node->more)
			node->more->own_last = false;
		return &node->own;
	}
	link = need_more(node) ? malloc(sizeof(*link) + size + 1) : NULL;
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

bool node_ready(struct node *node)
{
	struct node_more *more = need_more(node);

	if (more && !more->spare)
		more->spare = malloc(sizeof(*more->spare) + NAME_MAX + 1);
	return more && more->spare;
}

void node_settle(struct node *node)
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
		node_drop_link(link);
		return false;
	}
	node_get(parent);
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

void nodes_retire(struct nodes *t, struct node *node)
{
	struct link *link = first_link(node);

	if (!link || link->retired)
		return;
	set_remove(&t->by_name, link, hash_link);
	link->retired = true;
}

void nodes_unlink_all(struct nodes *t, struct node *node)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): freed links are unlinked first */
	while (first_link(node))
		node_put(t, take_link(t, first_link(node)));
}

/* ---- paths ---- */

bool node_is_below(const struct node *node, const struct node *folder)
{
	while (node != folder && node_link(node))
		node = node_link(node)->parent;
	return node == folder;
}

/*
 * Returns the node's part of a path, which is the file's name even if its folder is beside it:
 * `*length` bytes of the returned name, and then *end.
 */
static const char *own_name(const struct node *node, size_t *length, const char **end)
	REQUIRES(vfs_class)
{
	const char *name = node_link(node)->name, *beside = node->thing->beside;

	*length = beside ? (size_t)(strrchr(name, '.') - name) : strlen(name);
	*end = beside ? beside : "";
	return name;
}

/* Computes the size of the node's path, with slashes and the NUL. Returns 0 or ENOENT. */
static int path_size(const struct node *node, size_t *size) REQUIRES(vfs_class)
{
	const char *end;
	size_t length;

	*size = 0;
	for (; node->id != NODE_ROOT; node = node_link(node)->parent) {
		if (!node_link(node))
			return ENOENT;
		own_name(node, &length, &end);
		*size += length + strlen(end) + 1;
	}
	return 0;
}

int node_path(const struct node *node, struct buf *out)
{
	size_t size, length;
	const char *name, *end;
	uint8_t *at;

	if (path_size(node, &size) != 0)
		return ENOENT;
	if (!buf_reserve(out, size + 1))
		return ENOMEM;
	out->size += size ? size : 1;
	at = out->data + out->size;
	*--at = '\0';
	for (; node->id != NODE_ROOT; node = node_link(node)->parent) {
		name = own_name(node, &length, &end);
		at -= strlen(end);
		memcpy(at, end, strlen(end));
		at -= length;
		memcpy(at, name, length);
		if (node_link(node)->parent->id != NODE_ROOT)
			*--at = '/';
	}
	return 0;
}

int node_path_of(const struct node *folder, const char *name, struct buf *out)
{
	int error = node_path(folder, out);

	if (error)
		return error;
	if (folder->id == NODE_ROOT)
		out->size--;
	else
		out->data[out->size - 1] = '/';
	buf_add(out, name, strlen(name) + 1);
	return out->failed ? ENOMEM : 0;
}

uint64_t virtual_ino(const struct node *parent, const char *name)
{
	uint64_t seed = parent->shown_ino ? parent->shown_ino
					  : identity_hash(&parent->thing->plain.identity);

	return XXH3_64bits_withSeed(name, strlen(name), seed) >> 2 | (uint64_t)1 << 62;
}
