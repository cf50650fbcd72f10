/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vfs.h - the tree of a mount: requests of the kernel, as calls that know no FUSE.
 *
 * Calls return 0 or an errno. Nodes are meant by their number, which the kernel has from an entry
 * that it has not forgotten. Thread-safe, all of them at once.
 *
 * The files of this folder are layers; each uses only those before it in this list, as
 * scripts/check-includes.sh reads it:
 *
 *   kernel: the four calls that the kernel is sent unasked
 *   node: nodes, names and things
 *   vfs: the mount: what all calls share
 *   deadline: time: what ends when nobody goes on with it
 *   folder entries: descriptors of the folders in use; what is in a folder, in its order
 *   invalidate: what the kernel must forget, and when
 *   handle held: open files; old versions that are open: how much
 *   animation: an animation file: which version is shown, absent names
 *   diagnostics: the list behind .animfs/errors
 *   upper: ordinary files beside views: where, how much
 *   acl plain backing: files and folders that exist as such, and their rights
 *   watching asker: which folders are watched; which requests will come next
 *   view given: what a view says; attributes that were given to it
 *   control: .animfs
 *   attr access: attributes; who may do what
 *   lookup: names to nodes
 *   burst save: what saving a text means
 *   clips: clips as folders
 *   end: what is done after 2 s without a change
 *   staging_given staging_texts: what a folder that is being filled was given, and its texts
 *   staging_internal staging_notes: what is known of it, also by the next mount
 *   staging_adopt staging_clip: it becomes a clip
 *   staging_file staging_recover staging_place: or an animation file
 *   staging: when
 *   sharing outside: changes that others make
 *   dir xattr setattr open io: the requests for what is there,
 *   create remove link rename: and for names that come, go and move
 *   mount: all of it put together
 */
#ifndef ANIMFS_VFS_VFS_H
#define ANIMFS_VFS_VFS_H

#include "kernel.h"
#include "mount.h" /* struct mount_options */
#include "node.h"
#include "store/store.h"

#include <linux/limits.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#define CONTROL ".animfs"
#define TIMEOUT 1.0             /* seconds that the kernel may believe an entry or attributes */
#define TIMEOUT_WATCHED 86400.0 /* the same of what it is notified about when it changes */

struct given;
struct handle;

struct vfs {
	/* Constant once the mount serves. */
	const struct mount_options *options;
	const struct kernel *kernel;
	int root; /* SOURCE */
	struct identity root_identity;
	bool read_only;
	/*
	 * Nothing of these is opened: the kernel asks for attributes, names and bytes only, each
	 * once, and requests have no handle. Only where all changes are noticed, and files only
	 * where nothing can be written.
	 */
	bool unopened_folders, unopened_files;
	bool acls;         /* the kernel asks for them */
	unsigned confined; /* CONFINED_... (confine.h), for .animfs/status */
	bool watched; /* all that others do in SOURCE's own filesystem, and in the state, is noticed
		       */
	struct state *state;
	struct store *store;
	struct guard guard; /* the store's, where others are let in */

	struct lock lock; /* vfs_class */
	struct nodes nodes GUARDED_BY(vfs_class);
	struct folders *folders;
	struct deadlines *deadlines;
	struct invalidator *invalidator;
	struct diagnostics *diagnostics;
	struct held *held;
	struct control *control;
	struct watch *watch; /* NULL where there is none */
	struct sharing *sharing;
	struct stagings *stagings;
	struct upper *upper;
	struct listings *listings; /* unopened_folders: of those that are being read */
	struct asker *asker;
	struct recent *recent;     /* texts that were rendered last */
	_Atomic uint64_t rendered; /* how many were */
	struct budget drafts;      /* --drafts-max */
	struct refusals *refusals; /* --rejected-max */
	void (*given_free)(struct given *given);
	void (*animation_ends)(struct vfs *v, void *animation);  /* its deadline `end`, */
	void (*animation_looks)(struct vfs *v, void *animation); /* and `look` */
	/* The node that each thread looked up last and has not opened since: see vfs_open. */
	_Atomic uint64_t looked_up[1024];
};

static inline void vfs_lock(struct vfs *v) ACQUIRE(vfs_class)
{
	lock_acquire(&v->lock, &vfs_class);
}

static inline void vfs_unlock(struct vfs *v) RELEASE(vfs_class)
{
	lock_release(&v->lock, &vfs_class);
}

/* Who asks. pid: of the thread, in our namespace; 0: nobody in it. */
struct request {
	uid_t uid;
	gid_t gid;
	pid_t pid;
	mode_t umask;
};

static inline _Atomic uint64_t *looked_up_by(struct vfs *v, const struct request *who)
{
	return &v->looked_up[(unsigned)who->pid % ARRAY_SIZE(v->looked_up)];
}

/* An answer that counts as one lookup of the node. */
struct entry {
	uint64_t node;
	struct stat st;
	double attr_timeout, entry_timeout;
};

/* The node of a number that the kernel has, and its thing, each with a reference. */
struct target {
	struct node *node;
	struct thing *thing;
};
/* ESTALE: there is no such node, which a kernel asks for only by a handle of NFS. */
int target_get(struct vfs *v, uint64_t node, struct target *out) EXCLUDES(vfs_class);
void target_put(struct vfs *v, struct target *t) EXCLUDES(vfs_class);

/* ---- the mount: mount.c ---- */

/*
 * Starts to serve: `fd` is SOURCE, which stays the caller's, as do state and options. NULL when it
 * failed; standard error says why. `vfs_watch`: from here on there are threads.
 */
struct vfs *vfs_new(const struct mount_options *options, const struct kernel *kernel, int fd,
		    struct state *state, bool read_only);
bool vfs_watch(struct vfs *v);
/* What earlier mounts left half done. */
void vfs_resume(struct vfs *v);
/* The kernel is sent nothing any more. */
void vfs_silence(struct vfs *v);
/* Saves what is not saved; nothing is asked any more. */
void vfs_finish(struct vfs *v);
void vfs_free(struct vfs *v);

/* ---- lookup.c, attr.c ---- */

int vfs_lookup(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       struct entry *out);
/* The node itself, or the folder it is in, for a number that the kernel kept in a handle (NFS). */
int vfs_lookup_handle(struct vfs *v, uint64_t node, bool above, struct entry *out);
void vfs_forget(struct vfs *v, uint64_t node, uint64_t lookups);
/* handle: NULL where the request has none. */
int vfs_getattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		struct stat *st, double *timeout);

/* ---- setattr.c ---- */

/* What is to be set; the bits have the values of FUSE_SET_ATTR_... */
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

/* The value, or the list, is appended to `out`. */
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
int vfs_opendir(struct vfs *v, uint64_t node, int flags, struct opened *out);
/*
 * One entry: with `entry` where it is told with its attributes (entry->node is 0 where they are
 * not), and the offset behind it. False: there is no room for it, and an entry has not been
 * counted.
 */
typedef bool dir_add(void *closure, const char *name, const struct entry *entry, off_t next);
/* Those behind an offset, until `add` says no. handle NULL: the kernel opens no folders. */
int vfs_readdir(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		off_t behind, bool plus, dir_add *add, void *closure);
int vfs_fsyncdir(struct vfs *v, uint64_t node, struct handle *handle, bool datasync);

/* ---- open.c ---- */

/* ENOSYS: files are not opened. ESTALE: the name is another node's, which a lookup finds. */
int vfs_open(struct vfs *v, const struct request *who, uint64_t node, int flags,
	     struct opened *out);
int vfs_create(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       mode_t mode, int flags, struct entry *entry, struct opened *out);
/* Of a file or folder; the handle is gone then. */
void vfs_release(struct vfs *v, struct handle *handle);

/* ---- io.c ---- */

/* What was read: a part of a text, or of a descriptor. */
struct read_part {
	struct text *text; /* or NULL */
	struct bytes part; /* of it */
	int fd;            /* -1: none */
	bool own_fd;       /* it is closed by read_part_end */
};
int vfs_read(struct vfs *v, uint64_t node, struct handle *handle, size_t size, off_t at,
	     struct read_part *out);
void read_part_end(struct read_part *r);
/* by_mapping: the kernel writes pages back. The number of bytes, or a negated errno. */
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
 * In two steps: `after` is to be called when the kernel has the reply, since only then it lets go
 * of the folders' locks.
 */
struct after;
int vfs_rename(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned flags, struct after **after);
void vfs_after(struct vfs *v, struct after *after); /* NULL is fine */

#endif
