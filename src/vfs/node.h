/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - what the kernel knows, and what it stands for.
 *
 * The kernel knows nodes: a number, names, and how often it was told the number. A node points to a
 * thing: a plain file or folder, a folder of an animation, or a view. What a thing is, which
 * animation it belongs to and where it lies never changes. A rename makes names point at other
 * nodes, and nodes at other things.
 *
 * Numbers come from a counter and are never used again. A node lives while the kernel remembers it
 * (lookups) or something here refers to it (references: names in it, handles, calls that are
 * working on it); in a table that keeps (-o noforget), also while it has a name. A thing lives
 * while a node points to it or a call works on it.
 *
 * A link is a name of a node. A plain file has as many as the mount has seen, anything else has
 * one, and what was removed while it is open has none.
 *
 * Everything here is guarded by the lock of the tree (vfs_class), but for what is constant.
 */
#ifndef ANIMFS_VFS_NODE_H
#define ANIMFS_VFS_NODE_H

#include "store/draft.h"
#include "util/lock_classes.h"
#include "util/slab.h"

#include <sys/stat.h>

enum thing_kind {
	THING_PLAIN,     /* a file or folder that exists as such: in SOURCE, or in the state */
	THING_ANIMATION, /* the folder that an animation file is shown as */
	THING_CLIP,      /* a clip's folder */
	THING_BONES,     /* its bones/ */
	THING_FRAMES,    /* its frames/ */
	THING_VIEW,
	THING_CONTROL, /* .animfs at the top, and what is in it */
};

/* Where a plain thing lies: below SOURCE, or, for a virtual folder, in the state directory. */
enum area { AREA_SOURCE, AREA_UPPER, AREA_REJECTED };

/* What tells one file from another, the next owner of an inode number included. */
struct identity {
	uint64_t dev, ino;
	int64_t born; /* nanoseconds; 0 where the filesystem does not say */
};

/* How a view's thing stands to its name. */
enum standing {
	STANDS,   /* it is what its name opens */
	REPLACED, /* its name opens another text by now; see nodes_retire */
	DETACHED, /* its name was removed, or given to another text: nothing is saved through it */
};

struct thing {
	/* Constant. */
	uint8_t kind; /* enum thing_kind */
	uint8_t area; /* PLAIN: enum area */
	bool folder;
	bool beside;                 /* ANIMATION: beside the file, by its name and a suffix */
	uint8_t view_at;             /* VIEW: its place in views[] */
	struct animation *animation; /* ANIMATION and below; a reference */

	uint32_t references GUARDED_BY(vfs_class);
	struct node *node GUARDED_BY(vfs_class); /* that points to it; NULL: none does any more */
	union {
		struct plain {
			struct identity identity;
			struct thing *next_identified;
			struct stat *last;  /* what it was when it lost its last name; or NULL */
			int16_t descriptor; /* a folder: its slot in struct folders, or -1 */
			bool identified, watched, staging;
		} plain GUARDED_BY(vfs_class);
		/*
		 * The text is draft's where there is one, else what the view says in `version`;
		 * where that is NULL, in the animation's latest version.
		 */
		struct view_state {
			struct draft *draft;     /* what people wrote; or NULL */
			struct version *version; /* while it is open: what it was opened with */
			struct place place;      /* of the view in it */
			struct text *rendered;   /* of it, while it is open; or NULL */
			uint64_t generation; /* of the version that `size` was told of; 0: none */
			uint64_t saved;      /* a draft that was saved: the same of what it left */
			uint32_t size;
			uint8_t standing; /* enum standing */
			bool mapped;      /* a mapping wrote since the last commit */
			bool held;        /* `version` counts: see held.h, */
			bool lost;        /* and was given up */
			uid_t uid;        /* of who opened it for writing last: .rejected is his */
			gid_t gid;
		} view GUARDED_BY(vfs_class);
	};
	/* CLIP to VIEW: the other things of the animation. */
	struct thing *next_member GUARDED_BY(vfs_class), **back_member GUARDED_BY(vfs_class);
};

struct link {
	struct node *parent; /* NULL: this is no name */
	bool further;        /* it lies in a struct further_link */
	bool retired;        /* nodes_by_name does not find it */
	uint8_t room;        /* in `name`, before its NUL */
	char name[];
};

struct node {
	uint64_t id;                                  /* constant */
	struct thing *thing GUARDED_BY(vfs_class);    /* never NULL once it has a name */
	struct handle *handles GUARDED_BY(vfs_class); /* open; see handle.h */
	struct node_more *more GUARDED_BY(vfs_class); /* what few nodes have; or NULL */
	uint64_t shown_ino GUARDED_BY(vfs_class);     /* st_ino of a virtual thing */
	uint64_t lookups GUARDED_BY(vfs_class);
	/*
	 * What the kernel may have pages of: of a view the generation whose text it is, of a folder
	 * its listing's hash. 0: nothing; CACHED_OTHER: a text that people wrote.
	 */
	uint64_t cached GUARDED_BY(vfs_class);
	uint32_t references GUARDED_BY(vfs_class);
	struct link own GUARDED_BY(vfs_class); /* a name; see node_link */
};

#define NODE_ROOT 1
#define CACHED_OTHER UINT64_MAX

/* Of nodes, things or links, hashed: open addressing. */
struct node_set {
	void **slots;
	size_t size, count; /* the size is a power of two */
};

struct nodes {
	uint64_t next_id;
	size_t count, links;
	struct node_set by_id, by_identity, by_name;
	struct slab slab; /* the nodes and things themselves */
	bool keeps;       /* what has a name stays, also when the kernel has forgotten it */
	bool ending;
	/*
	 * Called when a thing of an animation is made, which then joins that and takes a reference;
	 * before a thing's memory goes, with all that it has; and before a node's. `closure` is the
	 * mount. Set after nodes_init; NULL: nothing is called.
	 */
	void (*thing_made)(void *closure, struct thing *thing);
	void (*thing_gone)(void *closure, struct thing *thing);
	void (*node_gone)(void *closure, struct node *node);
	void *closure;
};

/* With the root, a plain folder. False when out of memory. */
bool nodes_init(struct nodes *t);
/* All of them, whatever refers to them. */
void nodes_release(struct nodes *t);

struct node *nodes_by_id(struct nodes *t, uint64_t id) REQUIRES(vfs_class);
struct node *nodes_by_name(struct nodes *t, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* All of them, in no order: from *at = 0 on, until NULL. None may come or go meanwhile. */
struct node *nodes_next(const struct nodes *t, size_t *at) REQUIRES(vfs_class);

/* ---- things ---- */

/*
 * Each with a reference for the caller; NULL when out of memory. An animation's things take a
 * reference to it (animation.h counts them), and join its members.
 */
struct thing *thing_plain(struct nodes *t, enum area area, bool folder,
			  const struct identity *identity) REQUIRES(vfs_class);
struct thing *thing_of(struct nodes *t, enum thing_kind kind, struct animation *animation)
	REQUIRES(vfs_class);
struct thing *thing_view(struct nodes *t, struct animation *animation, const struct view *view)
	REQUIRES(vfs_class);
struct thing *thing_get(struct thing *thing) REQUIRES(vfs_class);
void thing_put(struct nodes *t, struct thing *thing) REQUIRES(vfs_class); /* NULL is fine */
/* The plain thing of this identity, without a reference; NULL: none is known. */
struct thing *nodes_by_identity(struct nodes *t, const struct identity *real) REQUIRES(vfs_class);
/* It is found by its identity no more: the file behind it is gone for good. */
void thing_leave_identity(struct nodes *t, struct thing *thing) REQUIRES(vfs_class);

static inline const struct view *view_of(const struct thing *thing)
{
	return views[thing->view_at];
}
uint8_t view_number(const struct view *view); /* its place in views[] */

/* A folder of an animation file, or below it. */
static inline bool thing_is_virtual(const struct thing *thing)
{
	return thing->kind >= THING_ANIMATION && thing->kind <= THING_FRAMES;
}

bool identity_same(const struct identity *a, const struct identity *b);

/* ---- nodes ---- */

/*
 * A node that points to the thing, without a name yet, but with room for this one (or NULL), and
 * with one reference for the caller. NULL when out of memory.
 */
struct node *nodes_add(struct nodes *t, struct thing *thing, const char *name) REQUIRES(vfs_class);
/* The node stands for another thing from now on. */
void node_point(struct nodes *t, struct node *node, struct thing *thing) REQUIRES(vfs_class);
struct node *node_get(struct node *node) REQUIRES(vfs_class);
void node_put(struct nodes *t, struct node *node) REQUIRES(vfs_class); /* NULL is fine */
/* The kernel has forgotten so many lookups. */
void node_forget(struct nodes *t, struct node *node, uint64_t lookups) REQUIRES(vfs_class);

/* Gives the node the name; whoever had it loses it. False when out of memory. */
bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Makes sure that the node can be given one more name, until node_settle. False: out of memory. */
bool node_ready(struct node *node) REQUIRES(vfs_class);
void node_settle(struct node *node) REQUIRES(vfs_class);
void nodes_unlink(struct nodes *t, struct node *parent, const char *name) REQUIRES(vfs_class);
void nodes_unlink_all(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/*
 * The name is to be another node's: looking for it does not find this one any more, which still
 * says what it was called, and where, for those who have it open.
 */
void nodes_retire(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/* The node's first name, or NULL when it has none any more; and the one behind a name. */
const struct link *node_link(const struct node *node) REQUIRES(vfs_class);
const struct link *node_next_link(const struct node *node, const struct link *link)
	REQUIRES(vfs_class);
/* The inode number that a virtual name is shown with. */
uint64_t virtual_ino(const struct node *parent, const char *name) REQUIRES(vfs_class);
/* Is it the folder, or in it? */
bool node_is_below(const struct node *node, const struct node *folder) REQUIRES(vfs_class);
/*
 * The path of a node from the root, without a leading slash and with a NUL; animation files by
 * their own name. 0, ENOMEM, or ENOENT when the node, or a folder above it, has no name any more.
 */
int node_path(const struct node *node, struct buf *out) REQUIRES(vfs_class);
/* The same of a name in the folder. */
int node_path_of(const struct node *folder, const char *name, struct buf *out) REQUIRES(vfs_class);

#endif
