/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer vfs: the tree of a mount: nodes that the kernel knows, the things that they stand for,
 * names that come and go, open files, and the caches that the kernel must drop when something
 * changes. Requests are calls that return 0 or an errno, so that the layer runs without FUSE in
 * unit tests and in the simulation. It reads and saves animation files through store.
 *
 * Start reading here; then node.h, and io.c for how a call runs.
 *
 * May use: util text disk sandbox model skeleton view edit store
 */
/*
 * vfs.h - the tree of a mount: the kernel's requests as calls that do not depend on FUSE.
 *
 * Calls return 0 or an errno. Nodes are identified by their number, which the kernel has from an
 * entry and has not forgotten. All calls are thread-safe.
 *
 * The files of this folder are layers; each uses only those before it in this list, as
 * scripts/check-includes.sh reads it:
 *
 *   kernel: the four notifications that a mount sends to the kernel
 *   node: nodes, names and things
 *   mount_options: the options of a mount
 *   vfs: the mount: the state that all calls share
 *   deadline: timers
 *   gate: staged folders that become something: when, and which requests wait
 *   program: the program that makes a request; the work that is due when it ends
 *   folder entries: descriptors of the folders in use; the ordered listing of a folder
 *   invalidate: the caches that the kernel must drop, and when
 *   archive: archives as folders: where the things in them are
 *   handle pinned: open files; the memory of old versions and texts of open views
 *   known: the versions of an animation file that are known
 *   marks: names that are absent, or were given attributes
 *   animation: an animation file: which version is shown, absent names
 *   diagnostics: the list behind .animfs/errors
 *   upper: ordinary files beside views: where, how much
 *   acl plain backing: ordinary files and folders, and their permissions
 *   looked_up: the node that each thread has looked up last
 *   watching: which folders are watched
 *   view given: the text of a view; attributes that were given to it
 *   control: .animfs
 *   attr access: attributes; permissions
 *   lookup: names to nodes
 *   batches save: saving a text
 *   clips: clips as folders
 *   end: ends unfinished work after 2 s without a change
 *   staging_given staging_internal staging_texts: staged folders: the attributes that
 *     were given to them, and their texts
 *   staging_folder staging_clip: they become clips
 *   staging_file staging_place: or animation files
 *   staging: when
 *   settle: ends all unfinished work below a folder, at once
 *   sharing outside: changes by other programs
 *   dir xattr setattr open io: the requests for existing things,
 *   create remove link rename: and for adding, removing and moving names
 *   mount: makes a mount of all these
 */
#ifndef ANIMFS_VFS_VFS_H
#define ANIMFS_VFS_VFS_H

#include "kernel.h"
#include "mount_options.h"
#include "node.h"
#include "store/store.h"
#include "util/later.h"

#include <linux/limits.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#define CONTROL ".animfs"
#define TIMEOUT 1.0 /* seconds for which the kernel may cache an entry or attributes */
/* like TIMEOUT, for things whose changes the kernel is notified of */
#define TIMEOUT_WATCHED 86400.0

struct given;
struct guest;
struct handle;
struct look;

struct vfs {
	/* The fields from here to `guard` are constant once the mount serves. */
	const struct mount_options *options;
	const struct kernel *kernel;
	int root; /* descriptor of SOURCE */
	struct identity root_identity;
	bool read_only;
	int64_t since; /* when the mount was made, in ns since 1970 */
	/*
	 * unopened_folders: the kernel sends no open for folders; unopened_files: none for files
	 * either. It only asks for attributes, names and bytes, each once, and its requests have no
	 * handle. Set only if all changes are noticed and, for files, if nothing can be written.
	 * The kernel's first request sets them when the threads that notice changes are already
	 * running; before it the kernel knows no name, so nothing depends on these fields.
	 */
	_Atomic bool unopened_folders, unopened_files;
	bool acls;         /* whether the kernel checks ACLs */
	unsigned confined; /* CONFINED_... flags (confine.h), for .animfs/status */
	/*
	 * whether all changes by others in SOURCE's own filesystem, and in the state directory, are
	 * noticed
	 */
	bool watched;
	struct state *state;
	struct store *store;
	struct overlay *overlay; /* where loose files are (--overlay) */
	struct guard guard;      /* the rights checks of the store, if other users are let in */

	struct lock lock; /* lock of the tree; its class is vfs_class */
	struct nodes nodes GUARDED_BY(vfs_class);
	struct gate { /* keeps staged folders unchanged while they are turned into clips or files:
			 see gate.h */
		const struct node *closed;
		struct guest *guests;
		struct look *looks;
		struct quiet *quiets; /* the end of the wait of each staged folder, as a list */
		pthread_cond_t moved;
	} gate GUARDED_BY(vfs_class);
	_Atomic unsigned staged;     /* number of staged folders */
	_Atomic unsigned gate_turns; /* number of times that the gate was closed or opened */
	_Atomic unsigned moves;      /* number of renames that the table has seen */
	struct folders *folders;
	struct deadlines *deadlines;
	struct programs *programs;
	struct invalidator *invalidator;
	struct diagnostics *diagnostics;
	struct pinned *pinned;
	struct control *control;
	struct watch *watch; /* watches folders of SOURCE with inotify; NULL: nothing is watched */
	struct sharing *sharing;
	struct stagings *stagings;
	struct upper *upper;
	struct looked_ups *looked_ups;
	/* listings that are being read; used if unopened_folders is set */
	struct listings *listings;
	struct recent *recent;     /* the texts that were rendered last */
	_Atomic uint64_t rendered; /* number of texts rendered so far, for .animfs/status */
	struct budget drafts;      /* memory of drafts, limited by --drafts-max */
	struct refusals *refusals; /* size of refused texts, limited by --rejected-max */
	/*
	 * Number of closes that the kernel has sent and that are not done yet: close() does not
	 * wait for us.
	 */
	_Atomic unsigned releases;
	struct budget given; /* memory of attributes that were given to views */
	void (*given_free)(struct vfs *v, struct given *given);
	/* called when the deadline `end` of an animation is due */
	void (*animation_ends)(struct vfs *v, void *animation);
	/* called when the deadline `look` of an animation is due */
	void (*animation_looks)(struct vfs *v, void *animation);
};

/* Locks the tree. Memory that is dropped under the lock is freed when it is released. */
static inline void vfs_lock(struct vfs *v) ACQUIRE(vfs_class)
{
	lock_acquire(&v->lock, &vfs_class);
	later_begin();
}

static inline void vfs_unlock(struct vfs *v) RELEASE(vfs_class)
{
	lock_release(&v->lock, &vfs_class);
	later_end();
}

/*
 * The caller of a request. pid: that of the thread, in our pid namespace; 0: the thread is in
 * another one.
 */
struct request {
	uid_t uid;
	gid_t gid;
	pid_t pid;
	mode_t umask;
};

/* An answer to the kernel that counts as one lookup of the node. */
struct entry {
	uint64_t node;
	struct stat st;
	double attr_timeout, entry_timeout;
};

/* The node that a request is about, and the thing that it stood for; each with a reference. */
struct target {
	struct node *node;
	struct thing *thing;
};
/*
 * Finds the node with this number and its thing. ESTALE if there is no such node, which happens
 * only with file handles.
 */
int target_get(struct vfs *v, uint64_t node, struct target *out) EXCLUDES(vfs_class);
void target_put(struct vfs *v, struct target *t) EXCLUDES(vfs_class);
/*
 * Returns whether the node still stands for that thing. If a rename has pointed it to another
 * thing, the request must be about that one.
 */
bool target_stands(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);
/*
 * Puts the target of a request that ended with `error`. Returns true if the error is ESTALE because
 * the node now stands for another thing, for example since its staged folder became a clip: then
 * the request gets its target again. *tries, 0 at first, limits the number of attempts.
 */
bool target_again(struct vfs *v, struct target *t, int error, unsigned *tries) EXCLUDES(vfs_class);
/*
 * Returns true if the request should try again with the same target, which is not put: the error is
 * ESTALE though the node still stands for the thing (unlike target_again), because the data that
 * the request has used is outdated, as a version is after a save.
 */
bool target_retry(struct vfs *v, const struct target *t, int error, unsigned *tries)
	EXCLUDES(vfs_class);
/* Like target_retry, for a request that has no target yet. */
bool may_retry(int error, unsigned *tries);
/* Calls node_put under the lock. NULL is fine. */
void node_release(struct vfs *v, struct node *node) EXCLUDES(vfs_class);
/*
 * Waits for closes that are in progress (`releases`). Returns false if that takes longer than `ms`.
 */
bool vfs_await_releases(const struct vfs *v, int64_t ms);
/*
 * Returns the path of a node, or of a name in it (unless NULL), as from node_path; free() it. 0 or
 * an errno.
 */
int path_of(struct vfs *v, const struct node *node, const char *name, char **out)
	EXCLUDES(vfs_class);

/* ---- the mount: mount.c ---- */

/*
 * Makes a mount. `fd` is SOURCE; `fd`, `state` and `options` stay the caller's, and must outlive
 * the mount. Returns NULL on failure, with a message on standard error. Starts no threads:
 * vfs_watch does.
 */
struct vfs *vfs_new(const struct mount_options *options, const struct kernel *kernel, int fd,
		    struct state *state, bool read_only);
bool vfs_watch(struct vfs *v);
/*
 * Returns the descriptor of the parent folder of --overlay, which the caller must not close; -1:
 * none was given.
 */
int vfs_overlay_above(const struct vfs *v);
/* Completes work that earlier mounts left unfinished. */
void vfs_resume(struct vfs *v);
/* Makes sure that nothing is sent to the kernel from now on. */
void vfs_silence(struct vfs *v);
/* Saves all unsaved texts. No requests may follow. */
void vfs_finish(struct vfs *v);
void vfs_free(struct vfs *v);

/* ---- lookup.c, attr.c ---- */

int vfs_lookup(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       struct entry *out);
void vfs_forget(struct vfs *v, uint64_t node, uint64_t lookups);
/* `handle`: NULL if the request has none */
int vfs_getattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		struct stat *st, double *timeout);

/* ---- setattr.c ---- */

/* The attributes to set, as bits; they have the values of FUSE_SET_ATTR_... */
enum {
	SET_MODE = 1,
	SET_UID = 2,
	SET_GID = 4,
	SET_SIZE = 8,
	SET_ATIME = 16,
	SET_MTIME = 32,
	SET_ATIME_NOW = 128,
	SET_MTIME_NOW = 256,
	SETS_RIGHTS = SET_MODE | SET_UID | SET_GID,
	SETS_TIME = SET_ATIME | SET_MTIME | SET_ATIME_NOW | SET_MTIME_NOW,
};
int vfs_setattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		const struct stat *attr, int to_set, struct stat *st, double *timeout);
int vfs_readlink(struct vfs *v, uint64_t node, char target[PATH_MAX + 1]);
int vfs_statfs(struct vfs *v, struct statvfs *st);

/* ---- xattr.c ---- */

/* vfs_getxattr appends the value to `out`, vfs_listxattr the list of names. */
int vfs_getxattr(struct vfs *v, uint64_t node, const char *name, struct buf *out);
int vfs_listxattr(struct vfs *v, uint64_t node, struct buf *out);
int vfs_setxattr(struct vfs *v, const struct request *who, uint64_t node, const char *name,
		 struct bytes value, int flags);
int vfs_removexattr(struct vfs *v, const struct request *who, uint64_t node, const char *name);

/* ---- dir.c ---- */

struct opened {
	struct handle *handle;
	bool keep_cache, cache_readdir, direct_io, noflush;
};
int vfs_opendir(struct vfs *v, const struct request *who, uint64_t node, int flags,
		struct opened *out);
/*
 * Called for each entry of a reply; adds it. `next`: the offset after the entry. `entry`, for
 * readdirplus: its attributes (entry->node 0: without attributes), which count as a lookup. Returns
 * false if there is no room; then the lookup does not count.
 */
typedef bool dir_add(void *closure, const char *name, const struct entry *entry, off_t next);
/*
 * Adds the entries after an offset until `add` returns false. handle NULL: the kernel opens no
 * folders.
 */
int vfs_readdir(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		off_t behind, bool plus, dir_add *add, void *closure);
int vfs_fsyncdir(struct vfs *v, uint64_t node, struct handle *handle, bool datasync);

/* ---- open.c ---- */

/*
 * Opens a file. ENOSYS: the kernel need not open files. ESTALE: the name now has another node,
 * which a lookup finds.
 */
int vfs_open(struct vfs *v, const struct request *who, uint64_t node, int flags,
	     struct opened *out);
int vfs_create(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       mode_t mode, int flags, struct entry *entry, struct opened *out);
/* Closes a file or folder, and frees the handle. */
void vfs_release(struct vfs *v, struct handle *handle);

/* ---- io.c ---- */

/* The result of a read: a part of a text, or of a file, whichever is set. */
struct cached;
struct read_part {
	struct text *text; /* the text that has the bytes; referenced; or NULL */
	/* the unpacked archive member that has the bytes; referenced; or NULL */
	struct cached *whole;
	struct bytes part; /* the bytes, in `text` or `whole` */
	int fd;            /* the file that has the bytes, at the offset `at`; -1: none */
	off_t at;
	size_t size;
	bool own_fd; /* read_part_end closes `fd` */
};
int vfs_read(struct vfs *v, uint64_t node, struct handle *handle, size_t size, off_t at,
	     struct read_part *out);
void read_part_end(struct read_part *r);
/*
 * Writes data to a file. by_mapping: the kernel writes back mmapped pages. Returns the number of
 * bytes, or -errno.
 */
ssize_t vfs_write(struct vfs *v, struct handle *handle, struct bytes data, off_t at, int flags,
		  bool by_mapping);
int vfs_flush(struct vfs *v, const struct request *who, struct handle *handle);
int vfs_fsync(struct vfs *v, const struct request *who, struct handle *handle, bool datasync);
int vfs_fallocate(struct vfs *v, struct handle *handle, int mode, off_t at, off_t length);
int vfs_lseek(struct vfs *v, uint64_t node, struct handle *handle, off_t at, int whence,
	      off_t *out);
ssize_t vfs_copy(struct vfs *v, struct handle *from, off_t from_at, struct handle *to, off_t to_at,
		 size_t size, unsigned flags);

/* ---- create.c, remove.c, link.c, rename.c ---- */

int vfs_mknod(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	      mode_t mode, dev_t rdev, struct entry *out);
int vfs_mkdir(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	      mode_t mode, struct entry *out);
int vfs_symlink(struct vfs *v, const struct request *who, const char *target, uint64_t parent,
		const char *name, struct entry *out);
int vfs_link(struct vfs *v, const struct request *who, uint64_t node, uint64_t parent,
	     const char *name, struct entry *out);
int vfs_unlink(struct vfs *v, const struct request *who, uint64_t parent, const char *name);
int vfs_rmdir(struct vfs *v, const struct request *who, uint64_t parent, const char *name);
/*
 * Removes or renames in two steps: call vfs_after with *after when the kernel has the reply, since
 * only then the kernel releases its locks of the folders.
 */
struct after;
int vfs_rename(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned flags, struct after **after);
void vfs_after(struct vfs *v, struct after *after); /* NULL is fine */

#endif
