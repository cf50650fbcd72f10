/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - the inode table of a mount: which number stands for which thing, and where it is.
 *
 * A node is a thing; a link is one of its names. A real file has as many links as the mount has
 * seen names of it, everything else has one, and what was removed while open has none. Numbers come
 * from a counter and are never used again.
 *
 * A node lives while the kernel remembers it (lookups), while something in here refers to it
 * (references: children, open handles), and not longer; or, in a table that keeps, and where a view
 * was given attributes, while it has a name.
 *
 * There are as many as the kernel remembers inodes, so they are small: what few nodes have is
 * apart, and the first name lies in the node itself.
 *
 * All functions lock the table by themselves. A node's `links`, and the names in them, change under
 * nodes_lock; hold it to walk them.
 */
#ifndef ANIMFS_NODE_H
#define ANIMFS_NODE_H

#include "animfs/view.h"
#include "slab.h"
#include <pthread.h>
#include <sys/stat.h>

enum node_kind {
	NODE_REAL,    /* a file or folder that exists as such: in SOURCE, or an extra */
	NODE_FILE,    /* the folder in which an animation file is shown */
	NODE_CLIP,    /* a clip's folder */
	NODE_BONES,   /* its bones/ */
	NODE_FRAMES,  /* its frames/ */
	NODE_VIEW,    /* a view */
	NODE_CONTROL, /* .animfs at the top, and what is in it */
};

/* Where a real thing is. In virtual folders, extras and refusals are real things of other roots. */
enum node_area { AREA_SOURCE, AREA_EXTRA, AREA_REJECTED };

/* What tells one real file from another, a reused inode number from its first owner included. */
struct identity {
	uint64_t dev, ino;
	int64_t born; /* nanoseconds; 0 where the filesystem does not say */
};

struct link {
	struct node *parent; /* NULL: this is no name */
	bool further : 1;    /* it lies in a struct further_link */
	bool retired : 1;    /* nodes_by_name does not find it */
	uint8_t room;        /* in `name`, before its NUL */
	char name[];
};

/* What few nodes have. */
struct node_more {
	struct identity real; /* NODE_REAL */
	bool identified;      /* it is found by `real` */
	struct stat *last;    /* NODE_REAL: what it was when it lost its last name, or NULL */
	struct memo *memo;    /* attributes given to a view; under the file's lock */
	/* Of a replaced view of a mount that sees no handles: the version that it stays; or NULL.
	 */
	struct snap *version;
	struct further_link *links; /* names that are not in the node */
	bool own_last;              /* the one that is was seen before the first of them */
	struct further_link *spare; /* for nodes_link, by nodes_ready; or NULL */
};

struct node {
	uint64_t id;
	struct node *next_in_file, **back_in_file; /* NODE_CLIP to NODE_VIEW: its file's members */
	struct node_more *more;                    /* or NULL */
	struct file *file;                         /* NODE_FILE and below */
	struct draft *draft;        /* NODE_VIEW: see draft.h; under the file's lock */
	struct handle *handles;     /* open handles; under nodes_lock */
	_Atomic uint64_t shown_ino; /* st_ino */
	uint64_t lookups;
	uint32_t references;
	uint32_t size; /* NODE_VIEW: of its text, and */
	_Atomic uint32_t
		generation; /* the snap that it was counted from, by its lower bits; 0: none */
	/*
	 * What the kernel may have pages of: of a NODE_VIEW the generation whose text it is, of a
	 * folder its listing's hash. 0: nothing; CACHED_OTHER: a text that people wrote.
	 */
	_Atomic uint32_t cached;
	_Atomic uint8_t
		kind; /* changes when a save turns a file into a view, or a view is renamed away */
	_Atomic uint8_t area;    /* changes when it is renamed from one root to another */
	_Atomic bool watched;    /* a real folder: changes made by others are heard of */
	_Atomic bool moved_over; /* NODE_VIEW: another text was moved onto its name */
	_Atomic bool edited;     /* NODE_VIEW: its text is not what the file says */
	_Atomic bool filling;    /* a real folder that is to become a clip or an animation file */
	bool folder;             /* a directory */
	union {
		uint8_t view;       /* NODE_VIEW: its place in views[] */
		int16_t descriptor; /* a folder: slot in the cache of descriptors, or -1 */
	};
	struct link own; /* a name; see node_link */
};

#define NODE_ROOT 1
#define CACHED_OTHER UINT32_MAX

/* Of nodes or links, hashed: open addressing. */
struct node_set {
	void **slots;
	size_t size, count; /* the size is a power of two */
};

struct nodes {
	pthread_mutex_t lock;
	uint64_t next_id;
	size_t count, links;
	struct node_set by_id, by_identity, by_name;
	struct slab slab; /* the nodes themselves */
	bool keeps;       /* what has a name stays, also when the kernel has forgotten it */
	bool ending;
	void (*gone)(
		struct node *node); /* called, with the lock held, before a node's memory goes */
};

bool nodes_init(struct nodes *t, void (*gone)(struct node *node));
void nodes_release(struct nodes *t);
void nodes_lock(struct nodes *t);
void nodes_unlock(struct nodes *t);

/* These want the lock held. */
struct node *nodes_by_id(struct nodes *t, uint64_t id);
struct node *nodes_by_identity(struct nodes *t, const struct identity *real);
struct node *nodes_by_name(struct nodes *t, const struct node *parent, const char *name);
/* A node without a name yet, but with room for this one (or NULL). NULL when out of memory. */
struct node *nodes_add(struct nodes *t, enum node_kind kind, const char *name);
/* All of them, in no order: from *at = 0 on, until NULL. None may come or go meanwhile. */
struct node *nodes_next(const struct nodes *t, size_t *at);
/*
 * Enters a real node under its identity; leave_identity when the file behind it is gone for good,
 * which leaves `real` as it is. False when out of memory.
 */
bool nodes_identify(struct nodes *t, struct node *node, const struct identity *real);
void nodes_leave_identity(struct nodes *t, struct node *node);
/* Gives the node the name; whoever had it loses it. False when out of memory. */
bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name);
/* Makes sure that the node can be given one more name, until nodes_settle. False: out of memory. */
bool nodes_ready(struct node *node);
void nodes_settle(struct node *node);
void nodes_unlink(struct nodes *t, struct node *parent, const char *name);
void nodes_unlink_all(struct nodes *t, struct node *node);
/*
 * The node's name is found no more, and whoever looks for it gets a new node; this one still says
 * what it was called, for who has it open.
 */
void nodes_retire(struct nodes *t, struct node *node);
bool node_is_retired(const struct node *node);
/* Gives back `lookups` and `references`; frees the node when nothing is left. */
void nodes_drop(struct nodes *t, struct node *node, uint64_t lookups, uint32_t references);

/* The node's first name, or NULL when it has none any more; and the one behind a name. */
const struct link *node_link(const struct node *node);
const struct link *node_next_link(const struct node *node, const struct link *link);
/* What few nodes have, made when there is none. NULL when out of memory. */
struct node_more *node_need_more(struct node *node);
/* What is known of a real node; that of no file where nothing is. */
const struct identity *node_identity(const struct node *node);

static inline struct memo *node_memo(const struct node *node)
{
	return node->more ? node->more->memo : NULL;
}

static inline struct snap *node_version(const struct node *node)
{
	return node->more ? node->more->version : NULL;
}

static inline struct stat *node_last(const struct node *node)
{
	return node->more ? node->more->last : NULL;
}

static inline const struct view *node_view(const struct node *node)
{
	return views[node->view];
}

/* A text's size is remembered by the lower bits of its generation, which come again after years. */
static inline uint32_t node_generation(uint64_t generation)
{
	return (uint32_t)generation;
}

#endif
