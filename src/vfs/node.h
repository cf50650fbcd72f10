/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - nodes, which the kernel knows, and the things that they stand for.
 *
 * The kernel knows nodes: a number, names, and a count of lookups. A node points to a thing: a
 * plain file or folder, a folder of an animation, or a view. A thing's kind, area and animation
 * never change. A rename makes names point to other nodes, and nodes to other things.
 *
 * Numbers come from a counter and are never reused. A node lives while the kernel remembers it
 * (lookups) or something here refers to it (references: names in it, handles, calls that work on
 * it). A thing lives while a node points to it or a call works on it.
 *
 * A link is a name of a node. A plain file has as many as the mount has seen; anything else has
 * one, or none after it was removed while open.
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
	THING_BONES,     /* its bones/ */
	THING_FRAMES,    /* its frames/ */
	THING_VIEW,
	THING_CONTROL, /* .animfs at the top, and its files */
	THING_ARCHIVE, /* the folder beside an archive; see archive.h */
	THING_MEMBER,  /* a folder or file in an archive */
};

/* Where a plain thing is: in SOURCE or, if it is in a virtual folder, in the state directory. */
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
	DETACHED, /* the name was removed or given to another text: writes to this are not saved */
};

struct thing {
	/* Constant. */
	uint8_t kind; /* enum thing_kind */
	uint8_t area; /* THING_PLAIN: enum area */
	bool folder;
	/* THING_ANIMATION: see struct animation */
	const char *beside;
	uint8_t view_at;             /* THING_VIEW: index in views[] */
	struct animation *animation; /* THING_ANIMATION and below; referenced */

	uint32_t references GUARDED_BY(vfs_class);
	/* the node that points to it; NULL: none any more */
	struct node *node GUARDED_BY(vfs_class);
	union {
		struct plain {
			struct identity identity;
			/* attributes of a file when it lost its last name; or NULL */
			struct stat *last;
			/* of an animation file that does not decode: knows why; or NULL */
			struct source *source;
			int16_t descriptor; /* of a folder: its slot in struct folders, or -1 */
			bool identified, watched;
			bool lists; /* a file in this folder lists others (format.parts) */
			/* a staged folder became something, and this text is now a view of it */
			bool taken;
			struct staging *staging; /* of a staged folder; or NULL */
		} plain GUARDED_BY(vfs_class);
		/*
		 * The text is the draft's if there is one; else it is rendered from `version` or,
		 * if that is NULL, from the animation's latest version.
		 */
		struct view_state {
			struct draft *draft; /* the text written; or NULL */
			/* while it is open: the version it was opened with */
			struct version *version;
			struct place place;         /* the view's place in `version` */
			struct open_text *rendered; /* text of the open view (pinned.h); or NULL */
			uint64_t generation;        /* of the version that `size` is of; 0: none */
			/* with a saved draft: generation of the version that the save made */
			uint64_t saved;
			uint32_t size;
			uint8_t standing; /* enum standing */
			bool mapped;      /* written to through mmap since the last commit */
			/*
			 * Others changed the text while the draft was unsaved, or an old copy was
			 * renamed onto the view.
			 */
			bool outdated;
			bool pinned; /* `version` counts as pinned (pinned.h) */
			bool lost;   /* the pinned version was dropped to save memory */
			uid_t uid;   /* last writer to open it; owns .rejected */
			gid_t gid;
			/*
			 * The program that its saves belong to, while it is open for writing or has
			 * an unsettled draft: the one whose handle wrote last (the first one while
			 * none has written), or that renamed a text onto it.
			 */
			struct program *program;
		} view GUARDED_BY(vfs_class);
		struct shown_archive *archive GUARDED_BY(vfs_class); /* referenced */
		/* A member: its entry in the archive of this generation. */
		struct member_state {
			uint64_t generation;
			uint32_t entry;
		} member GUARDED_BY(vfs_class);
		/* THING_CLIP: texts in it are absent since a thread began to remove them. */
		struct removal {
			struct version *base; /* the file then; referenced; or NULL */
			pid_t by;
		} removal GUARDED_BY(vfs_class);
	};
	/* THING_CLIP to THING_VIEW: links in the list of the animation's things. */
	struct thing *next_member GUARDED_BY(vfs_class), **back_member GUARDED_BY(vfs_class);
};

struct link {
	struct node *parent; /* NULL: unused */
	bool further;        /* this link is in a struct further_link */
	bool retired;        /* nodes_by_name does not find it */
	uint8_t room;        /* capacity of `name`, without the NUL */
	char name[];
};

struct node {
	uint64_t id;                                  /* constant */
	struct thing *thing GUARDED_BY(vfs_class);    /* never NULL once it has a name */
	struct handle *handles GUARDED_BY(vfs_class); /* open; see handle.h */
	struct node_more *more GUARDED_BY(vfs_class); /* rarely needed fields; or NULL */
	uint64_t shown_ino GUARDED_BY(vfs_class);     /* st_ino of a virtual thing */
	uint64_t lookups GUARDED_BY(vfs_class);
	/*
	 * The content that the kernel's page cache may hold: for a view the generation of the text,
	 * for a folder the hash of its listing, for a plain file see plain_keeps_pages. 0: nothing,
	 * or unknown; CACHED_OTHER: a text that was written.
	 */
	uint64_t cached GUARDED_BY(vfs_class);
	uint32_t references GUARDED_BY(vfs_class);
	struct link own GUARDED_BY(vfs_class); /* the first name; see node_link */
};

#define NODE_ROOT 1
#define CACHED_OTHER UINT64_MAX

/* A hash set of nodes, things or links, with open addressing. */
struct node_set {
	void **slots;
	size_t size, count; /* size is a power of two */
};

struct nodes {
	uint64_t next_id;
	size_t count, links;
	struct node_set by_id, by_identity, by_name;
	struct slab slab; /* memory of nodes and things */
	bool ending;
	/*
	 * Called when a thing of an animation has been made (it joins the animation's list and
	 * takes a reference); before a thing is freed, to free its data; and before a node is
	 * freed. `closure` is the mount. Set after nodes_init; NULL: not called.
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
 * Each returns a thing with a reference for the caller; NULL when out of memory. An animation's
 * things take a reference to it, and join its members.
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
/* The plain thing with this identity, without a reference; NULL: none is known. */
struct thing *nodes_by_identity(struct nodes *t, const struct identity *real) REQUIRES(vfs_class);
/* The file is gone for good: nodes_by_identity no longer finds the thing. */
void thing_leave_identity(struct nodes *t, struct thing *thing) REQUIRES(vfs_class);

static inline const struct view *view_of(const struct thing *thing)
{
	return views[thing->view_at];
}

/* Is it the folder of an animation file, or something below it? */
static inline bool thing_is_virtual(const struct thing *thing)
{
	return thing->kind >= THING_ANIMATION && thing->kind <= THING_FRAMES;
}

/* Is it the folder of an archive, or a folder or file in one? */
static inline bool thing_is_member(const struct thing *thing)
{
	return thing->kind == THING_ARCHIVE || thing->kind == THING_MEMBER;
}

bool identity_same(const struct identity *a, const struct identity *b);

/* ---- nodes ---- */

/*
 * Makes a node that points to the thing, with a reference for the caller. It has no name yet, but
 * room for this one (or NULL). NULL when out of memory.
 */
struct node *nodes_add(struct nodes *t, struct thing *thing, const char *name) REQUIRES(vfs_class);
/* Points the node to another thing. */
void node_point(struct nodes *t, struct node *node, struct thing *thing) REQUIRES(vfs_class);
struct node *node_get(struct node *node) REQUIRES(vfs_class);
void node_put(struct nodes *t, struct node *node) REQUIRES(vfs_class); /* NULL is fine */
/* The kernel drops this many lookups. */
void node_forget(struct nodes *t, struct node *node, uint64_t lookups) REQUIRES(vfs_class);

/* Gives the node the name, and takes it from the node that has it. False when out of memory. */
bool nodes_link(struct nodes *t, struct node *node, struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Reserves memory for one more name, until node_settle. False: out of memory. */
bool node_ready(struct node *node) REQUIRES(vfs_class);
void node_settle(struct node *node) REQUIRES(vfs_class);
void nodes_unlink(struct nodes *t, struct node *parent, const char *name) REQUIRES(vfs_class);
void nodes_unlink_all(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/*
 * The name is about to be another node's: nodes_by_name no longer finds this one, but for open
 * handles the node keeps its parent and name.
 */
void nodes_retire(struct nodes *t, struct node *node) REQUIRES(vfs_class);
/* The node's first name, or NULL if it has none; and the name after `link`. */
const struct link *node_link(const struct node *node) REQUIRES(vfs_class);
const struct link *node_next_link(const struct node *node, const struct link *link)
	REQUIRES(vfs_class);
/*
 * The inode number (st_ino) of a virtual name: a hash of its path below a plain folder and of that
 * folder's identity, so that it is the same in the next mount; from 2^62, which those of ordinary
 * files on SOURCE's device hardly reach and others never (plain_show), to 2^63, the end of signed
 * numbers.
 */
uint64_t virtual_ino(const struct node *parent, const char *name) REQUIRES(vfs_class);
/* Is the node the folder, or below it? */
bool node_is_below(const struct node *node, const struct node *folder) REQUIRES(vfs_class);
/*
 * The path of a node from the root, without a leading slash, with a NUL; animation files by their
 * own name. 0, ENOMEM, or ENOENT if the node, or a folder above it, has no name.
 */
int node_path(const struct node *node, struct buf *out) REQUIRES(vfs_class);
/* As node_path, for the name `name` in `folder`. */
int node_path_of(const struct node *folder, const char *name, struct buf *out) REQUIRES(vfs_class);

#endif
