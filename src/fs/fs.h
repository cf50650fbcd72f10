/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fs.h - the mount: FUSE operations over nodes, files and drafts. Only src/fs knows FUSE, and only
 * here a failure becomes a -errno (by fuse_reply_err).
 *
 *   mount.c    the session: options, start, end; loop.c its threads
 *   confinement.c  what the process gives up then; unmounter.c another one, which unmounts
 *   lookup.c   names to nodes, nodes to attributes
 *   attr.c     getattr, setattr, statfs; xattr.c the extended ones; acl.c those that say who may;
 *              access.c who may have what lies beside an animation used, or written
 *   dir.c      folders: opendir to fsyncdir; entries.c what is told of one, asker.c who wants
 *              attributes with the names
 *   open.c     open, create, release
 *   io.c       read, write, flush, fsync and their kin
 *   change.c   making and removing names; rename.c moving them
 *   transfer.c texts between views and ordinary files
 *   clips.c    clips as folders
 *   filling.c  folders that are being filled, and become clips or files; fill_clip.c, fill_file.c
 *   texts.c    the texts in them
 *   extra.c    how much may be put beside the texts; mirrors.c where that lies
 *   burst.c    what is finished when nobody does more below a file
 *   save.c     what a draft's commit means to the mount: attributes, .rejected, .error
 *   control.c  .animfs at the top of the mount
 *   outside.c  changes that others make in SOURCE; sharing.c in the state directory
 *   notify.c   what the kernel is told later, and what time ends
 *
 * Functions return 0 or an errno.
 */
#ifndef ANIMFS_FS_H
#define ANIMFS_FS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "../draft.h"
#include "../file.h"
#include "../folder.h"
#include "../mount.h"
#include "../options.h"
#include "../recent.h"

#include <signal.h>

#define TIMEOUT 1.0           /* seconds that the kernel may believe an entry or attributes */
#define TIMEOUT_HEARD 86400.0 /* the same of what it is told about when it changes */
#define CONTROL ".animfs"

struct fs {
	const struct mount_options *options;
	struct fuse_session *session;
	int root;
	struct identity root_identity;
	bool read_only;
	/*
	 * Nothing of these is opened: the kernel asks for attributes, names and bytes alone, each
	 * once, and requests have no handle. Only where all changes are heard of, and files only
	 * where nothing can be written.
	 */
	_Atomic bool unopened_folders, unopened_files;
	_Atomic bool answering_init; /* see send_answer in mount.c */
	bool heard;                  /* see outside_is_heard */
	bool acls;                   /* the kernel asks for them */
	unsigned confined;           /* CONFINED_... */
	int unmounter;               /* see unmounter_start; -1: none */
	uint32_t stamp;              /* tells handles of this mount's nodes from those of others */
	unsigned threads;            /* that answer requests, at most */
	struct nodes nodes;
	struct folders folders;
	struct state *state;
	struct store *store;
	struct guard guard; /* the store's, where others are let in */
	struct notifier *notifier;
	struct journal *journal;
	struct watch *watch; /* NULL where there is none */
	struct sharing *sharing;
	struct fillings *fillings;
	struct extras *extras;
	struct listings *listings; /* unopened_folders: of those that are being read */
	struct asker *asker;
	/* The node that each thread looked up last and has not opened since: see fs_open. */
	_Atomic uint64_t looked_up[1024];
	struct recent *recent;  /* texts that were made to tell their size */
	_Atomic uint64_t texts; /* how many were made */
};

/* An open file or folder. `node` is referenced for as long. */
struct handle {
	struct node *node;
	struct handle *next_of_node; /* under the nodes' lock */
	struct file *file; /* of a view: it counts as open there, and its node is referenced */
	_Atomic int fd;    /* -1 for a view, until it becomes a real file */
	int flags;
	bool wrote;        /* views: since this handle's last flush */
	_Atomic bool busy; /* real: written or opened for writing, and not flushed since */
	bool counted;      /* views: it is among its draft's handles */
	/*
	 * Views: the version that it was opened with, which is the view's text until it is closed;
	 * NULL where the view's text is a draft, or follows the file. Under the nodes' lock.
	 */
	struct snap *version;
	struct place place;      /* of the view in it */
	bool follows;            /* it is not the view's text any more */
	struct file *closing;    /* views: it waits for the last word of this handle, and stays in
				    memory until then; or NULL */
	struct listing *listing; /* folders */
	bool caches;     /* folders: the kernel keeps what it is told through this handle, */
	uint32_t told;   /* the hash of which this is */
	struct buf text; /* what is in .animfs: rendered when opened */
};

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline _Atomic uint64_t *fs_looked_up(fuse_req_t req)
{
	struct fs *fs = fs_of(req);

	return &fs->looked_up[(unsigned)fuse_req_ctx(req)->pid % ARRAY_SIZE(fs->looked_up)];
}

static inline struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* ---- loop.c ---- */

/*
 * Answers requests with up to fs->threads until the session ends. Signals that end it are
 * blocked by the caller in all threads; while it waits, the caller's have this mask. 0 or -errno.
 */
int fs_loop(struct fs *fs, const sigset_t *while_waiting);

/* ---- confinement.c, unmounter.c ---- */

/*
 * From here on the process can do no more than serve the mount (confine.h), and starts the one that
 * unmounts. Before there are threads. False when it failed; standard error says why.
 */
bool fs_confine(struct fs *fs, bool background);
/*
 * Starts a process that unmounts when it is told to, or when this one has ended. As long as it
 * lives it also keeps the filesystems of SOURCE and of the state directory from being unmounted, as
 * the one that serves the mount no longer does in a namespace of its own. 0 or an errno, and the
 * descriptor to tell it by.
 */
int unmounter_start(struct fs *fs, int *tell);
/* By the thread that will tell it: if that one ends before, the process was killed. */
void unmounter_watch(int tell);
/* Tells it, and waits until it has; fuse_session_unmount only releases things afterwards. */
void unmounter_end(struct fuse_session *session, int tell);

/* ---- lookup.c ---- */

/*
 * A rename can turn a view into an ordinary file, or give it or its folder to another animation
 * file, while others wait for the lock of the file that it belonged to. So that lock is taken
 * through these: the file that is returned is the one that the node belongs to for as long as it
 * is locked, and the one to unlock. NULL, and nothing locked: the node belongs to none. The file
 * stays in memory until fs_unlock_file.
 */
struct file *fs_lock_file(struct fs *fs, const struct node *node);
struct file *fs_trylock_file(struct fs *fs, const struct node *node);
void fs_unlock_file(struct fs *fs, struct file *file);
/* The same without locking, until fs_file_put: the node may belong to another one by then. */
struct file *fs_file_of(struct fs *fs, const struct node *node);
bool fs_belongs(struct fs *fs, const struct node *node, const struct file *file);
void fs_file_put(struct fs *fs, struct file *file);

/* The node of a number the kernel has; it stays while the kernel has it. */
struct node *fs_node(struct fs *fs, fuse_ino_t ino);
/* The same of a request that may have a handle. */
struct node *fs_node_of(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *fi);
bool node_is_virtual(const struct node *node); /* a folder of an animation file, or below it */
/* What `name` is in a folder: the entry counts as one lookup. ENOENT when there is nothing. */
int fs_lookup(struct fs *fs, struct node *parent, const char *name, struct fuse_entry_param *entry);
/*
 * The same for a number that the kernel kept in a handle (of NFS, or name_to_handle_at): the node
 * itself, or the folder it is in. ESTALE when the node was forgotten, or what it stands for is
 * gone.
 */
int fs_lookup_handle(struct fs *fs, fuse_ino_t ino, bool above, struct fuse_entry_param *entry);
/* An entry for a node that was just made or found; counts as one lookup. */
int fs_entry(struct fs *fs, struct node *node, struct fuse_entry_param *entry);
void fs_forget(struct fs *fs, fuse_ino_t ino, uint64_t count);
int fs_attributes(struct fs *fs, struct node *node, struct stat *st);
/* How long the kernel may believe what it was just told of the node, its name included. */
double fs_timeout(struct fs *fs, const struct node *node);
/*
 * The version of a file that the kernel was told of, where others could not have changed the file
 * unheard since, and it is at hand. NULL: look for it.
 */
struct snap *fs_told(struct fs *fs, struct file *file);
/*
 * A real node lost a name, of which `st` says what it was: kept when it was the last one, since a
 * FIFO, a working directory or an O_PATH descriptor is in use without being open here.
 */
void fs_lost_name(struct fs *fs, struct node *node, const struct stat *st);
/* The attributes of a real thing as the mount shows them. */
void fs_show_real(const struct fs *fs, struct stat *st);
/* An entry for a real thing that was just seen under this name. */
int fs_entry_found(struct fs *fs, struct node *parent, enum node_area area, const char *name,
		   const struct identity *id, struct stat *st, struct fuse_entry_param *entry);
/* For something that was made under this name a moment ago in `folder`. */
int fs_entry_real(struct fs *fs, struct node *parent, enum node_area area, int folder,
		  const char *name, struct fuse_entry_param *entry);
/* The folder in which a node's real children of an area are. ENOENT where there is none and !make.
 */
int fs_folder(struct fs *fs, struct node *node, enum node_area area, bool make, struct folder *out);
/* Where a new real thing under this parent goes. */
enum node_area fs_area_for(const struct node *parent);
/*
 * A folder and name under which a real node is now; ENOENT when it has no name, ESTALE when other
 * things stand there. name has NAME_MAX + 1 bytes.
 */
int fs_where(struct fs *fs, struct node *node, struct folder *folder, char *name, struct stat *st);
/* The folder in which an animation file itself lies. */
int fs_source_folder(struct fs *fs, const struct file *file, struct folder *out);
int fs_source_stat(struct fs *fs, const struct file *file, struct stat *st);
/*
 * The version that a virtual node is of: all of a file are of one, until the kernel is told that
 * the file was replaced, but for those that were being read then. And what the file is on disk,
 * which may be more by then. Wants the file's lock.
 */
int fs_shown(struct fs *fs, const struct node *node, struct snap **out, struct stat *st);
/*
 * The same, and the kernel is told first if it was. *file is locked, also where it fails, for
 * fs_unlock_file: for so long the version is the one that is shown. ESTALE and NULL where the node
 * belongs to no file any more.
 */
int fs_lock_shown(struct fs *fs, const struct node *node, struct file **file, struct snap **out,
		  struct stat *st);
/* Looks whether the file was replaced, before it is heard. Takes the file's lock. */
void fs_catch_up(struct fs *fs, struct file *file);
/* The latest version of an animation file. */
int fs_snap(struct fs *fs, struct file *file, struct snap **out);
/* The same, and what the file is on disk; st_mode is 0 where it is gone. */
int fs_look(struct fs *fs, struct file *file, struct snap **out, struct stat *st);
/* What a virtual node stands for in a version. */
int fs_place(struct fs *fs, const struct snap *snap, const struct node *node, struct place *out);
/* A view's node by name, made when it is not known; one reference for the caller. */
int fs_view_node(struct fs *fs, struct node *parent, const char *name, const struct place *place,
		 struct node **out);
/* The view, or folder, of this name (away or not): 0, ENOENT or ENOMEM. Wants the file's lock. */
int fs_find_view(struct fs *fs, const struct snap *snap, struct node *parent, const char *name,
		 struct place *place);
bool fs_is_view(struct fs *fs, const struct snap *snap, struct node *parent, const char *name,
		struct place *place);
uint8_t view_number(const struct view *view); /* its place in views[] */
/* Makes a node one in the folder of a file, or a view there, or none. Want the nodes' lock. */
void node_join_file(struct node *node, struct file *file);
void node_become_view(struct node *node, struct file *file, const struct view *view);
void node_leave_file(struct nodes *t, struct node *node);
/* Those of a file's members that are wanted, each referenced; ends with NULL, or is it. */
struct node **file_members(struct fs *fs, const struct file *file,
			   bool (*wanted)(const struct node *node, const void *user),
			   const void *user);
/* The inode number that a virtual name is shown with. */
uint64_t fs_virtual_ino(const struct node *parent, const char *name);
/* The path of a name from the root; appends to out. */
int fs_path(struct fs *fs, const struct node *parent, const char *name, struct buf *out);
/* The node that a name is known to have, referenced; NULL when none is. */
struct node *fs_child(struct fs *fs, struct node *parent, const char *name);
void fs_reference(struct fs *fs, struct node *node, int by);
/* The folder of the node's n-th name, referenced, and that name (or NULL). NULL: it has no more. */
struct node *fs_parent(struct fs *fs, const struct node *node, unsigned n, char name[NAME_MAX + 1]);
/* A name is gone; st: what was there, when it was something real. */
void fs_lose_name(struct fs *fs, struct node *parent, const char *name, const struct stat *st);

/* Does an animation of this format stay the file it is, with its folder beside it (x.canm.d)? */
static inline bool stays_file(const struct fs *fs, const struct codec *codec)
{
	return fs->options->beside || codec->format->stills;
}

/* What is behind the file's name in that folder's; the second where something real has the first.
 */
extern const char *const beside_suffixes[2];

/* Could a file of this name be an animation that is a folder by its own name, or with one beside?
 */
bool fs_may_show(struct fs *fs, const char *name, bool beside);

/*
 * Can no text of this view be saved? The file is not understood, though its bytes can be replaced,
 * and a skeleton put beside it.
 */
static inline bool view_is_fixed(const struct view *view, const struct snap *snap)
{
	return snap->anim->read_only && !view->whole && !view->parse_skeleton;
}

/*
 * Puts the time at which the view last changed, and whether it can be written, into *st, which is
 * that of its file. place NULL: it is not there any more.
 */
void fs_view_facts(const struct node *node, const struct snap *snap, const struct place *place,
		   struct stat *st);

/* ---- attr.c, xattr.c ---- */

struct memo; /* mode, owner, times and xattrs that were given to a view */
void memo_apply(const struct memo *memo, struct stat *st);
void memo_free(struct memo *memo);
/* The view has this mtime until it changes. Wants the file's lock. */
void memo_time(struct fs *fs, struct node *node, struct timespec mtime);
void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		struct fuse_file_info *fi);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);
void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
		 int flags);
void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

/* Of what is real, or of the animation file: its size or a negated errno. */
ssize_t xattr_real(struct fs *fs, struct node *node, const char *name, void *value, size_t size);

/* Appends what was given to a virtual thing that remembers it; false where nothing was. Takes the
 * file's lock. */
bool xattr_remembered(struct fs *fs, struct node *node, const char *name, struct buf *out);

/* ---- acl.c ---- */

#define ACL_ACCESS "system.posix_acl_access"

bool acl_is_name(const char *name);
/* ENODATA where there is none. Appends to out. */
int acl_get(struct fs *fs, struct node *node, const char *name, struct buf *out);
/* The mode that an ACL says, into the lower bits of *mode. True when it says no more than that. */
bool acl_read_mode(struct buf *acl, mode_t *mode);
/* The other way, as chmod does it. */
void acl_write_mode(struct buf *acl, mode_t mode);
/* What was given to an animation file's folder, as it is the file's. */
void acl_for_file(struct buf *acl);
/* The mode with which something new is to be made in a folder. */
mode_t acl_mode(fuse_req_t req, int folder, mode_t mode);
/* May who asks read this? 0, or EACCES. For what takes a text to another name. */
int acl_check_read(fuse_req_t req, struct node *node);
/* Is who asks in the group, by whichever of his? */
bool acl_in_group(fuse_req_t req, gid_t group);
/* Who asks, with all his groups. 0 or an errno; free() releases it. */
int acl_caller(fuse_req_t req, struct caller **out);

/* ---- access.c ---- */

/* Before the store is used. */
void access_start(struct fs *fs);
/* Who asks, where others are let in; elsewhere NULL, who may do what we may. 0 or an errno. */
int access_caller(fuse_req_t req, struct caller **out);
/* May he move this name, in a folder of which he may write the names, though that is sticky? */
bool access_may_move(struct fs *fs, const struct caller *who, int dir, const char *name);

/* ---- dir.c ---- */

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);
/* Is nothing in a virtual folder, no view, and nothing that people put there? Else ENOTEMPTY. */
int fs_check_empty(struct fs *fs, struct node *node);
void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);

/* ---- asker.c ---- */

struct asker *asker_new(void); /* free() releases it */
/* The program looked the node up. */
void asker_asked(struct asker *a, pid_t pid, const struct node *node);
/* It lists a folder that has views: which kinds are told with their attributes? */
view_set asker_begin(struct asker *a, pid_t pid);
view_set asker_goes_on(const struct asker *a, pid_t pid); /* the same for the rest of the folder */
/* Of one view, by its place in views[]; to be asked once about each. */
bool asker_is_told(struct asker *a, view_set told, unsigned view);

/* ---- open.c ---- */

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
/*
 * Will what is asked of a node without changing it be answered before another thread were awake?
 * And a release?
 */
bool fs_answers_at_once(struct fs *fs, fuse_ino_t ino);
bool fs_closes_at_once(const struct handle *handle);
/* Its release was read, and will be acted on: see file_begin_close. */
void fs_begin_release(struct fs *fs, struct handle *handle);
void fs_create(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode,
	       struct fuse_file_info *fi);
/* A view whose name was away is there again, empty until somebody writes it. */
int fs_make_view(fuse_req_t req, struct node *parent, const char *name, const struct place *place,
		 struct fuse_entry_param *entry);
/* Of a file or a folder. */
void fs_release(struct fs *fs, struct handle *handle);
/* Takes the descriptor over (-1: none), also when it fails. */
struct handle *handle_new(struct fs *fs, struct node *node, int flags, int fd);
/*
 * What a program has open keeps a descriptor of ours, but none of those that are for the work on
 * requests (DESCRIPTORS_RESERVED): closes such a one. EMFILE, and *fd is -1, or 0.
 */
int handle_keep(struct fs *fs, int *fd);
/*
 * A folder that is about to lose its name may be open without our knowing: a descriptor of it, or
 * -1. Then the name is gone, and the folder's node gets the descriptor for as long as it lives; or
 * it is not, and parent is NULL.
 */
int folder_hold(struct fs *fs, int parent, const char *name);
void folder_let_go(struct fs *fs, struct node *parent, const char *name, int fd);
void handle_free(struct fs *fs, struct handle *handle);
/* Those that were never released, at the end of the mount. */
void handles_free(struct node *node);
bool handle_writes(const struct handle *handle);
/* A descriptor of any open handle of the node, duplicated; -1 when there is none. */
int handle_borrow(struct fs *fs, const struct node *node);
/* A descriptor of a real node for reading. 0 or an errno. */
int node_open(struct fs *fs, struct node *node, int *fd);
/*
 * Is its name another node's by now (nodes_retire)? Then what is to change the view by its name
 * ends with ESTALE, and the kernel looks the name up again.
 */
bool fs_is_retired(struct fs *fs, const struct node *node);
/* Counts a node's open handles in its draft, after the node became a view. */
void handles_join(struct fs *fs, struct node *node);
/* The handle, of those that hold a version, that tells the view's; or NULL. With the nodes' lock.
 */
const struct handle *handles_version(const struct node *node);
/* The view follows the file from now on, for those who have it open too. With the nodes' lock. */
void handles_follow(struct node *node);
/* The same of a view that was just written to: its text is what was written. */
void view_written(struct fs *fs, struct node *node);

/* ---- io.c ---- */

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
		  struct fuse_file_info *fi);
void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t length,
		  struct fuse_file_info *fi);
void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi);
void fs_copy_file_range(fuse_req_t req, fuse_ino_t in, off_t off_in, struct fuse_file_info *fi_in,
			fuse_ino_t out, off_t off_out, struct fuse_file_info *fi_out, size_t size,
			int flags);
/* The descriptor of a real node's handle, opened now if a rename made a view real. */
int handle_descriptor(struct fs *fs, struct handle *handle);

/* ---- change.c, rename.c ---- */

/* What stands where a name is, or is to be made. */
struct slot {
	struct node *parent;
	bool is_view; /* the name is one that the animation file shows */
	bool present; /* and it is not away */
	struct place place;
};

/* EROFS or EPERM where nothing can be changed at all. Takes the file's lock. */
int fs_slot(struct fs *fs, fuse_ino_t parent, const char *name, struct slot *slot);

void fs_mknod(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode, dev_t rdev);
void fs_mkdir(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode);
void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t ino, const char *name);
void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void fs_unlink(fuse_req_t req, fuse_ino_t ino, const char *name);
void fs_rmdir(fuse_req_t req, fuse_ino_t ino, const char *name);
void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned flags);
/* A clip's text gave it another name: the node, and what people put there, go with it. */
void clip_follow(struct fs *fs, struct node *clip, const char *label);
/* Gives what the caller makes to the caller, where the daemon is not the caller. */
void fs_own(fuse_req_t req, int folder, const char *name);

/* ---- save.c ---- */

/* What must be told to the kernel once no lock is held, before the reply. */
struct changes {
	struct change {
		fuse_ino_t node;
		bool folder;
	} * nodes;
	size_t count, room;
	/*
	 * Names of views that were replaced while they are open. Whoever looks for them after the
	 * reply is to find others, so the reply waits a moment until they are dropped; but not for
	 * names in the folders that the kernel has locked for the request.
	 */
	struct dropped_name {
		struct dropped_name *next;
		fuse_ino_t parent;
		char name[];
	} * dropped;
	fuse_ino_t locked[2]; /* 0: none */
	bool saved;           /* it is a save that the caller waits for; others change it unasked */
};
#define CHANGES_NONE                                                                               \
	{                                                                                          \
		NULL, 0, 0, NULL, {0, 0}, false                                                    \
	}

/* The view's draft, at the version that is shown; made when there is none. Wants the file's lock.
 */
int view_draft(struct fs *fs, struct node *node, struct draft **out);
/*
 * One writer more on the view's draft, which is there: its base is the version that is there now,
 * unless the draft goes on. What is saved is saved for `who` (access_caller), who is taken over,
 * failing or not.
 */
int view_begin(struct fs *fs, struct node *node, struct caller *who, bool append);
/* The draft with its text in memory. */
int view_text(struct fs *fs, struct node *node, struct draft **out);
/*
 * The text that READ answers with: of the version that the view was opened with, whatever the file
 * is by now; without handles, of the version of which the kernel was told the size, where it still
 * is at hand. Wants the file's lock.
 */
int view_told_text(struct fs *fs, struct node *node, struct draft **out);
/* Exact size of a view's text. Wants the file's lock. */
int view_size(struct fs *fs, struct node *node, uint64_t *out);
/* The same for a view without a draft, at this version. */
int view_count(struct fs *fs, struct node *node, const struct snap *snap, const struct place *place,
	       uint64_t *out);
/* Gives the draft's memory back where nothing is in it and nobody has it open. */
void view_settle(struct fs *fs, struct node *node);
/* Saves. Wants the file's lock; call changes_tell without it, before the reply. */
int view_commit(struct fs *fs, struct node *node, enum draft_event event, struct changes *changes);
void changes_add(struct changes *changes, const struct node *node);
/* The node's names are dropped. Wants the nodes' lock. */
void changes_drop_names(struct changes *changes, const struct node *node);
/* Before the reply, but for the names in locked folders; and those after it. */
void changes_tell(struct fs *fs, struct changes *changes);
void changes_tell_rest(struct fs *fs, struct changes *changes);
/* Without telling anybody. */
void changes_release(struct changes *changes);
/* The same for a draft that is not in a node yet, as the view of this name. `saved` may be NULL. */
int draft_save(struct fs *fs, struct draft *draft, enum draft_event event, struct node *parent,
	       const char *name, struct node *saved, struct changes *changes);
int errno_of(const struct err *err);
/*
 * The binary was changed by us: every view of it, but `saved`, may say something else now. Wants
 * the file's lock.
 */
void file_changed(struct fs *fs, struct file *file, fuse_ino_t saved, struct changes *changes);
/* Leaves what was written, at the end of the mount. */
void fs_commit_all(struct fs *fs);

/* ---- clips.c ---- */

/* All want the locks of the files. */

/* Saves an edit of the version `base`. An errno, and err for people. */
int file_commit(struct fs *fs, struct file *file, struct snap *base, const struct anim *edited,
		struct changes *changes, struct err *err);
/* By the form that file names have. The clip's node and what people put there go with it. */
int clip_rename(struct fs *fs, struct file *file, const char *label, const char *new_label,
		struct changes *changes);
/* EXDEV where a clip cannot be moved, though its texts may be copied. Nodes are left alone. */
int clip_move(struct fs *fs, struct file *from, const char *label, struct file *to,
	      const char *new_label, struct changes *changes);
/* EILSEQ where no clip has such a name, or EPERM; what would be right is told in .animfs/errors. */
int clip_check_name(struct fs *fs, struct file *file, const char *label);
/* Can a clip of that name be made? EPERM where the format has none but its one. */
int clip_check_new(struct fs *fs, struct file *file, const char *label);
/* Takes the clips whose folders are away out of the binary. */
int clips_take_out(struct fs *fs, struct file *file, struct changes *changes);

/* ---- burst.c ---- */

/* Nothing is away any more. Wants the file's lock. */
void file_come_back(struct fs *fs, struct file *file);
/* Something is about to be saved in the file. */
void burst_begin(struct fs *fs, struct file *file);
/* The view was saved. */
void burst_saved(struct fs *fs, const struct node *parent, const char *name);
/* Is this text, to be saved as the view, no edit but what was there before the burst? */
bool burst_passes_over(struct fs *fs, struct node *parent, const char *name,
		       const struct buf *text);
/* Finishes what time would finish. Wants the file's lock. An errno where clips stay. */
int burst_finish(struct fs *fs, struct file *file, struct changes *changes);
bool burst_is_over(const struct file *file, int64_t now);
/* The same if it is time; true while there is something to wait for. */
bool burst_end(struct fs *fs, struct file *file, int64_t now, struct changes *changes);

/* ---- filling.c, fill_clip.c, fill_file.c ---- */

struct fillings *fillings_new(void);
void fillings_free(struct fillings *f);
/* Is a real folder of this name, made here, one that texts come into? */
bool filling_wanted(struct fs *fs, const struct node *parent, const char *name);
/* The folder was just made, or got its name. Where it cannot be noted, for the errno that is told,
 * it stays an ordinary one. */
int filling_begin(struct fs *fs, struct node *folder);
/* It is gone, or called otherwise; its path was `path`. */
void filling_forget(struct fs *fs, struct node *folder, const char *path);
/* It is what it says now; what is left of its texts stands aside, until it is put away, by the
 * next mount if not by this one. */
void filling_made(struct fs *fs, struct node *folder, const char *path);
void filling_noted(struct fs *fs, const char *path); /* the same, where it has no node yet */
void filling_put_away(struct fs *fs, const char *path);
/* Behind the name of a folder that stands aside, and of the note about it. */
#define FILLED ".animfs-filled~"
/* Something happens to a real thing: if it is in such a folder, that one is not full yet. */
void filling_touch(struct fs *fs, const struct node *node);
/*
 * What people gave to such a folder, or to a file in it, by who asks: bits (1 << GIVEN_...). The
 * file that the folder becomes gets that. GIVEN_MADE: the file was made, with its mode. Something
 * happened there, too (filling_touch).
 */
enum given { GIVEN_MADE, GIVEN_OWNER, GIVEN_GROUP, GIVEN_MODE, GIVEN_TIME };
#define GIVEN_COUNT 5
void filling_given(fuse_req_t req, const struct node *node, unsigned what);
/*
 * Who of the folder and its raw.* (NULL: there is none) has the say about one of these? A program
 * that copies gives both, the folder last, and means raw.*; otherwise what was given last counts.
 */
enum say { SAY_NOBODY, SAY_FOLDER, SAY_RAW };
enum say filling_say(struct fs *fs, const struct node *folder, const struct identity *raw,
		     enum given what);
/* Is it one, or in one? */
bool filling_has(struct fs *fs, const struct node *node);
/* Those that were left for two seconds. True while there are others. */
bool fillings_end(struct fs *fs, int64_t now);
/* All below a folder, or all there are (NULL), now. The first errno. */
int fillings_finish(struct fs *fs, const struct node *above);
/* Those that an earlier mount left. */
void fillings_resume(struct fs *fs);
/* The folder is one of an animation file, or of a clip, from now on. Wants the nodes' lock. */
void node_become_folder(struct fs *fs, struct node *node, enum node_kind kind, struct file *file);
/* 0 or an errno; ENODATA where there are no texts in it. */
int fill_make_clip(struct fs *fs, struct node *folder, struct changes *changes);
int fill_make_file(struct fs *fs, struct node *folder);
/*
 * What making a file of the folder left, when it was killed, is that folder again; or it is made,
 * if that is the file which has the name. Another file stays, and the folder gets a name beside it.
 */
void fill_recover(struct fs *fs, const char *path);
/* The file was made, and a killed mount has not put away all that was left of the folder. */
void fill_recover_rest(struct fs *fs, const char *path);

/* ---- extra.c ---- */

/* What a name counts, beside what is in it. */
#define EXTRA_ENTRY 4096
struct extras *extras_new(void);
void extras_free(struct extras *e);
/* So much more comes into this area. ENOSPC where it is limited, and full. */
int extra_grow(struct fs *fs, enum node_area area, uint64_t bytes);
/* The same for a file, open as fd, that is to have this size. */
int extra_grow_to(struct fs *fs, const struct node *node, int fd, uint64_t size);
/* A line for each file that has extras and is gone. */
void extra_tell_orphans(struct fs *fs, struct buf *out);

/* ---- transfer.c ---- */

/* A copy of what a view or a real file says. Takes the file's lock. */
int node_text(struct fs *fs, struct node *node, struct buf *text);
/*
 * Saves `text` (taken over, and given back when refused) as the view `name` of a folder, for `who`
 * (access_caller, taken over); *out is the draft that then is the view's. Wants the file's lock.
 */
int text_save(struct fs *fs, struct node *parent, const char *name, struct buf *text,
	      struct caller *who, struct draft **out, struct changes *changes);
/* Writes a view's text into a real file. Wants the view's file's lock. */
int view_write_out(struct fs *fs, struct node *node, struct node *parent, const char *name,
		   bool exclusive);

/* ---- control.c ---- */

int control_lookup(struct fs *fs, struct node *parent, const char *name,
		   struct fuse_entry_param *e);
void control_attributes(struct fs *fs, const struct node *node, struct stat *st);
void control_render(struct fs *fs, const struct node *node, struct buf *out);
/* The text whose size was told last. */
void control_text(struct fs *fs, const struct node *node, struct buf *out);
/* Notes how a file is shown that cannot be shown as it should be, or forgets it (reason NULL). */
void journal_note(struct fs *fs, const char *path, const char *how, const char *reason);
/* The same about a file, or about a name in its folder. */
void file_note(struct fs *fs, struct file *file, const char *name, const char *how,
	       const char *reason);
struct journal *journal_new(void);
void journal_free(struct journal *j);

/* ---- notify.c ---- */

struct notifier *notifier_new(struct fs *fs);
/* From here on the kernel is told nothing: the connection to it is about to be closed. */
void notifier_silence(struct notifier *n);
/* It does nothing more, once the connection is gone: what it tells may wait for answers until then.
 */
void notifier_stop(struct notifier *n);
void notifier_free(struct notifier *n);
/* From a thread of its own, soon: drop the pages of a node, or a name. Nothing waits for it. */
void notify_data(struct fs *fs, const struct node *node);
void notify_entry(struct fs *fs, const struct node *parent, const char *name);
/* The same, and other than there the name is dropped with what is below it. */
void notify_drop(struct fs *fs, fuse_ino_t parent, const char *name);
/*
 * Waits until all that was asked for until now is done, but for names that are held (see
 * notify_hold_names), or for DROP_WAIT_MS. With no lock held.
 */
#define DROP_WAIT_MS 50
void notifier_wait(struct notifier *n);
/*
 * The view goes on saying what it says for those who have it open: its name is another node's from
 * now on. False where nobody has it open, or where it says what people write: then it follows the
 * file. Wants the nodes' lock.
 */
bool view_replaced(struct fs *fs, struct node *node, struct changes *changes);
/*
 * A request for a name in this folder takes its time, and the kernel has the folder locked
 * meanwhile: to tell it about names there would wait for that, and then all other requests for
 * names in there would wait for us. As often released as held.
 */
void notify_hold_names(struct fs *fs, fuse_ino_t folder);
void notify_release_names(struct fs *fs, fuse_ino_t folder);
/* What is new of a file since the kernel was told of it last; each has those before it. */
enum news {
	NEWS_NONE,
	NEWS_ATTRIBUTES, /* of the file itself: owner, mode, times */
	NEWS_TEXTS,
	NEWS_NAMES, /* other names are in its folder */
	NEWS_GONE,  /* there is no such folder any more */
};
/* The kernel will now be told. Wants the file's lock. */
enum news file_news(struct fs *fs, struct file *file);
/* Wants the nodes' lock. */
void notify_names_of(struct fs *fs, const struct node *node);
/*
 * The same for the listing of a folder, but at once: it never waits for a request. For what is in
 * it by our doing; the kernel knows what it asked for itself.
 */
void notify_listing(struct fs *fs, const struct node *folder);
/*
 * Of all folders of the file, soon: a listing that was made before something changed may reach the
 * kernel after it was told of the change.
 */
void file_tell_again(struct fs *fs, struct file *file);
/* The file may have been changed by others: what it is now will be looked at soon. */
void file_look(struct fs *fs, struct file *file);
/* The same at once. Takes the file's lock, and tells the kernel what it may be told in a request.
 */
void file_look_now(struct fs *fs, struct file *file);
/* Something happened below the file: its burst goes on, and its end will be looked after. */
void file_touch(struct fs *fs, struct file *file);
/* There is something to end in the file later, which does not make its burst go on. */
void file_watch(struct fs *fs, struct file *file);
/* There are folders to be looked after. */
void notify_fillings(struct fs *fs);

/* ---- outside.c ---- */

void outside_start(struct fs *fs); /* after the process has detached */
/* Is all heard of that others do in SOURCE's own filesystem, and in the state directory? */
bool outside_is_heard(const struct fs *fs);
void outside_end(struct fs *fs);
/* The real folder `folder`, open as fd, is in use. */
void outside_watch(struct fs *fs, struct node *folder, int fd);
void outside_forget(struct fs *fs, const struct node *folder);

/* ---- sharing.c ---- */

struct sharing *sharing_new(void);
void sharing_free(struct sharing *b); /* NULL is fine */
/* Looks for folders that are to be watched. False where changes would not be heard of. */
bool sharing_watch(struct fs *fs);
/* Something that the watch told: true when it was about the state directory. */
bool sharing_changed(struct fs *fs, uint64_t cookie, const char *name, uint32_t mask);

/* ---- mirrors.c ---- */

/* The virtual folder of this name is removed, and was empty. */
void mirrors_remove(struct fs *fs, struct node *parent, const char *name);
/*
 * Others took the file in this folder away, or those of its clips that are in `before` alone. What
 * is there is not touched: somebody may be about to put something into it.
 */
void mirrors_of_file(struct fs *fs, const struct file *file, struct node *parent);
void mirrors_of_clips(struct fs *fs, const struct file *file, struct node *parent,
		      const struct snap *before, const struct snap *now);

#endif
