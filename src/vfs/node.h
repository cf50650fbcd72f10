/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - nodes, which the kernel knows, and the things that they stand for.
 *
 * The kernel knows nodes: a number, names, and a count of lookups. A node points to a thing: a
 * plain file or folder, a folder of an animation, or a view. A thing's kind, area and animation
 * never change. A rename makes names point to other nodes, and nodes to other things.
 *
 * Numbers come from a counter and are never reused. A node exists while the kernel remembers it
 * (lookups) or something in animfs refers to it (references: names in it, handles, calls that work
 * on it). A thing exists while a node points to it or a call works on it.
 *
 * A link is a name of a node. A plain file has as many links as the mount has seen; any other thing
 * has one, or none after it was removed while open.
 *
 * Everything here is guarded by the lock of the tree (vfs_class), except constants.
 */
#ifndef ANIMFS_VFS_NODE_H
#define ANIMFS_VFS_NODE_H

#include "store/draft.h"
#include "util/lock_classes.h"
#include "util/slab.h"

#include <sys/stat.h>

struct shown_archive;

enum thing_kind {
	THING_PLAIN,     /* an ordinary file or folder, in SOURCE or in the state directory */
	THING_ANIMATION, /* the folder as which an animation file is shown */
	THING_CLIP,      /* a clip's folder */
	THING_BONES,     /* the folder bones/ of a clip */
	THING_FRAMES,    /* the folder frames/ of a clip */
	THING_VIEW,
	THING_CONTROL, /* .animfs at the top, and its files */
	THING_ARCHIVE, /* the folder beside an archive; see archive.h */
	THING_MEMBER,  /* a folder or file in an archive */
};

/*
 * Where the file of a plain thing is: in SOURCE or, if the thing is in a virtual folder, in the
 * state directory.
 */
enum area { AREA_SOURCE, AREA_UPPER, AREA_REJECTED };

/* Identifies a file, even if its inode number is reused. */
struct identity {
	uint64_t dev, ino;
	int64_t born; /* birth time in ns; 0 if the filesystem has none */
};

/* The relation of a view's thing to its name. */
enum standing {
	STANDS,   /* opening the name gives this thing */
	REPLACED, /* opening the name gives another text; see nodes_retire */
	/* the name was removed or given to another text: writes to this thing are not saved */
	DETACHED,
};

struct thing {
	/* The fields up to `animation` are constant. */
	uint8_t kind; /* value of enum thing_kind */
	uint8_t area; /* for THING_PLAIN: value of enum area */
	bool folder;
	/* for THING_ANIMATION: as in struct animation */
	const char *beside;
	uint8_t view_at;             /* for THING_VIEW: index in views[] */
	struct animation *animation; /* for THING_ANIMATION to THING_VIEW; referenced */

	uint32_t references GUARDED_BY(vfs_class);
	/* the node that points to this thing; NULL: none any more */
	struct node *node GUARDED_BY(vfs_class);
	union {
		struct plain {
			struct identity identity;
			/* attributes that a file had when it lost its last name; or NULL */
			struct stat *last;
			/*
			 * for an animation file that does not decode: its source, which knows why;
			 * or NULL
			 */
			struct source *source;
			int16_t descriptor; /* for a folder: its slot in struct folders, or -1 */
			bool identified, watched;
			bool lists; /* a file in this folder lists others (format.parts) */
			/*
			 * a text in a staged folder that has become a clip or animation: the text
			 * is now a view of that
			 */
			bool taken;
			/* for a staged folder: its staging (staging.h); or NULL */
			struct staging *staging;
		} plain GUARDED_BY(vfs_class);
		/*
		 * The text of the view is that of the draft if there is one; else it is rendered
		 * from `version` or, if that is NULL, from the animation's latest version.
		 */
		struct view_state {
			struct draft *draft; /* draft with the text that was written; or NULL */
			/* while the view is open: the version that it was opened with */
			struct version *version;
			struct place place;         /* place of the view in `version` */
			struct open_text *rendered; /* text of the open view (pinned.h); or NULL */
			/* generation of the version that has a text of `size` bytes; 0: none */
			uint64_t generation;
			/* with a saved draft: generation of the version that its save made */
			uint64_t saved;
			uint32_t size;
			uint8_t standing; /* value of enum standing */
			/* the view was written to through mmap since the last commit */
			bool mapped;
			/*
			 * Others changed the text while the draft was unsaved, or an old copy was
			 * renamed onto the view.
			 */
			bool outdated;
			bool pinned; /* `version` counts as pinned (pinned.h) */
			bool lost;   /* the pinned version was dropped to save memory */
			uid_t uid;   /* last user to open the view for writing; owns .rejected */
			gid_t gid;
			/*
			 * The program that the view's saves belong to, while the view is open for
			 * writing or has an unsettled draft: the program whose handle wrote last
			 * (while none has written, the first opener), or the one that renamed a
			 * text onto the view.
			 */
			struct program *program;
		} view GUARDED_BY(vfs_class);
		/* for THING_ARCHIVE; referenced */
		struct shown_archive *archive GUARDED_BY(vfs_class);
		/* For a member: its entry in the archive of this generation. */
		struct member_state {
			uint64_t generation;
			uint32_t entry;
		} member GUARDED_BY(vfs_class);
		/*
		 * For THING_CLIP: a removal of the clip, as long as texts in it are absent since a
		 * thread began to remove them.
		 */
		struct removal {
			/* the version when the removal began; referenced; or NULL */
			struct version *base;
			pid_t by;
		} removal GUARDED_BY(vfs_class);
	};
	/* For THING_CLIP to THING_VIEW: links in the animation's list `members`. */
	struct thing *next_member GUARDED_BY(vfs_class), **back_member GUARDED_BY(vfs_class);
};

struct link {
	struct node *parent; /* folder that has the name; NULL: the link is unused */
	bool further;        /* this link is in a struct further_link */
	bool retired;        /* nodes_by_name does not find the node by this name */
	uint8_t room;        /* capacity of `name`, without the NUL */
	char name[];
};

struct node {
	uint64_t id;                                  /* constant */
	struct thing *thing GUARDED_BY(vfs_class);    /* never NULL once the node has a name */
	struct handle *handles GUARDED_BY(vfs_class); /* handles that are open; see handle.h */
	struct node_more *more GUARDED_BY(vfs_class); /* fields that few nodes need; or NULL */
	uint64_t shown_ino GUARDED_BY(vfs_class);     /* inode number (st_ino) of a virtual thing */
	uint64_t lookups GUARDED_BY(vfs_class);
	/*
	 * The content that the kernel's page cache may hold: for a view the generation of the text,
	 * for a folder the hash of its listing, for a plain file see plain_keeps_pages. 0: nothing,
	 * or unknown; CACHED_OTHER: a text that was written.
	 */
	uint64_t cached GUARDED_BY(vfs_class);
	uint32_t references GUARDED_BY(vfs_class);
	/* first name of the node, unless node_link finds another one */
	struct link own GUARDED_BY(vfs_class);
};

#define NODE_ROOT 1
#define CACHED_OTHER UINT64_MAX

/* A hash set of nodes, things or links, with open addressing. */
struct node_set {
	void **slots;
	size_t size, count; /* number of slots, a power of two, and number of elements */
};

struct nodes {
	uint64_t next_id;
	size_t count, links;
	struct node_set by_id, by_identity, by_name;
	struct slab slab; /* allocates nodes and things */
	bool ending;
	/*
	 * Functions that are called when a thing of an animation has been made (which adds it to
	 * the animation's list and takes a reference); before a thing is freed, to free its data;
	 * and before a node is freed. `closure` is the mount. Set after nodes_init; NULL: not
	 * called.
	 */
	void (*thing_made)(void *closure, struct thing *thing);
	void (*thing_gone)(void *closure, struct thing *thing);
	void (*node_gone)(void *closure, struct node *node);
	void *closure;
};

/* Makes a table with the root, a plain folder. False when out of memory. */
bool nodes_init(struct nodes *t);
/* Frees all nodes and things, whatever refers to them. */
void nodes_release(struct nodes *t);

struct node *nodes_by_id(struct nodes *t, uint64_t id) REQUIRES(vfs_class);
struct node *nodes_by_name(struct nodes *t, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/*
 * Iterates over all nodes, in no order: *at is 0 at first; returns NULL at the end. Nodes must not
 * be added or freed meanwhile.
 */
struct node *nodes_next(const struct nodes *t, size_t *at) REQUIRES(vfs_class);

/* ---- things ---- */

/*
 * Each of these makes a thing, with a reference for the caller; NULL when out of memory. An
 * animation's things take a reference to the animation, and are added to its members.
 */
struct thing *thing_plain(struct nodes *t, enum area area, bool folder,
			  const struct identity *identity) REQUIRES(vfs_class);
struct thing *thing_of(struct nodes *t, enum thing_kind kind, struct animation *animation)
	REQUIRES(vfs_class);
struct thing *thing_view(struct nodes *t, struct animation *animation, const struct view *view)
	REQUIRES(vfs_class);
struct thing *thing_member(struct nodes *t, bool folder) REQUIRES(vfs_class);
/* Takes over the caller's reference to the archive. */
struct thing *thing_archive(struct nodes *t, struct shown_archive *archive) REQUIRES(vfs_class);
struct thing *thing_get(struct thing *thing) REQUIRES(vfs_class);
void thing_put(struct nodes *t, struct thing *thing) REQUIRES(vfs_class); /* NULL is fine */
/* Returns the plain thing with this identity, without a reference; NULL if none is known. */
struct thing *nodes_by_identity(struct nodes *t, const struct identity *real) REQUIRES(vfs_class);
/* Makes nodes_by_identity no longer find the thing, whose file is gone for good. */
void thing_leave_identity(struct nodes *t, struct thing *thing) REQUIRES(vfs_class);

static inline const struct view *view_of(const struct thing *thing)
{
	return views[thing->view_at];
}

/* Returns whether the thing is the folder of an animation file, or something below it. */
static inline bool thing_is_virtual(const struct thing *thing)
{
	return thing->kind >= THING_ANIMATION && thing->kind <= THING_FRAMES;
}

/* Returns whether the thing is the folder of an archive, or a folder or file in one. */
static inline bool thing_is_member(const struct thing *thing)
{
	return thing->kind == THING_ARCHIVE || thing->kind == THING_MEMBER;
}

bool identity_same(const struct identity *a, const struct identity *b);

/* ---- nodes ---- */

/*
 * Makes a node that points to the thing, with a reference for the caller. The node has no name yet,
 * but room for the given one (or NULL). Returns NULL when out of memory.
 */
struct node *nodes_add(struct nodes *t, struct thing *thing, const char *name) REQUIRES(vfs_class);
/* Points the node to another thing. */
void node_point(struct nodes *t, struct node *node, struct thing *thing) REQUIRES(vfs_class);
struct node *node_get(struct node *node) REQUIRES(vfs_class);
void node_put(struct nodes *t, struct node *node) REQUIRES(vfs_class); /* NULL is fine */
/* Drops this many lookups of the kernel. Frees the node if nothing else keeps it. */
void node_forget(struct nodes *t, struct node *node, uint64_t lookups) REQUIRES(vfs_class);

/*
 * Gives the node the name, taking the name from the node that has it. Returns false when out of
 * memory.
 */
bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Reserves memory for one more name, until node_settle. Returns false when out of memory. */
bool node_ready(struct node *node) REQUIRES(vfs_class);
void node_settle(struct node *node) REQUIRES(vfs_class);
void nodes_unlink(struct nodes *t, struct node *parent, const char *name) REQUIRES(vfs_class);
void nodes_unlink_all(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/*
 * Hides the node from nodes_by_name, since its name is about to be another node's. For open handles
 * the node keeps its parent and name.
 */
void nodes_retire(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/*
 * node_link returns the node's first name, or NULL if it has none; node_next_link returns the name
 * after `link`, or NULL.
 */
const struct link *node_link(const struct node *node) REQUIRES(vfs_class);
const struct link *node_next_link(const struct node *node, const struct link *link)
	REQUIRES(vfs_class);
/*
 * Returns the inode number (st_ino) of a virtual name: a hash of its path below a plain folder and
 * of that folder's identity, so that the number is the same in the next mount. It is between 2^62,
 * which inode numbers of ordinary files hardly reach on SOURCE's device and never on others
 * (plain_show), and 2^63, the end of signed numbers.
 */
uint64_t virtual_ino(const struct node *parent, const char *name) REQUIRES(vfs_class);
/* Returns whether the node is the folder, or below it. */
bool node_is_below(const struct node *node, const struct node *folder) REQUIRES(vfs_class);
/*
 * Returns the path of a node from the root, without a leading slash, with a NUL; animation files by
 * their own name. 0, ENOMEM, or ENOENT if the node, or a folder above it, has no name.
 */
int node_path(const struct node *node, struct buf *out) REQUIRES(vfs_class);
/* Like node_path, for the name `name` in `folder`. */
int node_path_of(const struct node *folder, const char *name, struct buf *out) REQUIRES(vfs_class);

#endif
