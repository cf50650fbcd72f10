/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.c - the kernel's side of a mount, as Linux 6.x has it in fs/fuse and fs/namei.c, on the
 * calls of vfs.h.
 *
 * Requests wait in a queue, and threads of this file make the calls, as those of libfuse do. The
 * seed chooses how many, at least one. No thread waits for a RELEASE or a FORGET. struct kernel is
 * the other direction: notifications, on the threads of the program.
 *
 * What the kernel knows, and how long it believes it:
 *   names        until their timeout; then, and for what is about to be replaced (rename) or
 *                retried (ESTALE), they are looked up again. What has another number by then is
 *                dropped with all below it.
 *   attributes   until their timeout; GETATTR has no handle. An answer that was asked for before a
 *                later change of the inode is not believed (attr_version).
 *   pages        4096 bytes each, by inode, until they are invalidated: by an open without
 *                KEEP_CACHE, by another size or mtime (AUTO_INVAL_DATA), by a notification. A page
 *                that is being read or written is locked, and a thread that drops it waits.
 *   folders      what a READDIR said, where the file system allows it.
 *
 * Locks: a folder's inode is held by all that looks up (shared), makes, removes, renames or
 * invalidates names in it; a file's by what writes it or takes its name. A notification waits for
 * these locks.
 *
 * An inode that nothing uses any more is forgotten; its number must mean nothing then. At any
 * moment memory may be short: names and pages that are not in use are dropped then, one or all of
 * them.
 *
 * Not modelled: symbolic links, extended attributes, locks of files, interrupts, writeback cache.
 */
#include "sim.h"

#include "disk/process.h"
#include "vfs/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096
#define MAX_WRITE (128 << 10)
#define WORKERS_MAX 10

/* A lock that readers share. */
struct rwsem {
	int writer; /* number of the writing thread plus 1; 0: none */
	unsigned readers;
};

struct names {
	struct {
		char *name;
		unsigned type;
	} * entries;
	size_t count;
	struct timespec mtime;
	uint64_t version;
};

struct inode {
	struct inode *next;
	uint64_t id, lookups;
	unsigned refs;
	struct stat attr;
	int64_t attr_until;
	uint64_t attr_version, dir_version;
	bool bad, dead;
	struct rwsem lock;
	struct page {
		bool valid, locked;
		char data[PAGE];
	} * *pages;
	size_t page_count;
	struct names *names;
};

struct dentry {
	struct dentry *next, *parent;
	char name[NAME_MAX + 1];
	struct inode *inode; /* NULL: the name does not exist */
	int64_t until;
	unsigned refs; /* users of the dentry, including its children */
	bool hashed, in_lookup;
};

struct kfile {
	struct inode *inode;
	struct dentry *dentry;
	struct opened opened;
	int flags;
	int64_t at;
	/* the file is written through a mapping: all that is written comes from pages */
	bool mapped;
};

/* A request: the arguments of a call of vfs.h, and its results. */
struct call {
	struct call *next;
	const char *what;
	void (*serve)(struct call *c);
	bool answered;
	bool unawaited;     /* no thread waits for the answer; the call is freed after it */
	struct inode *hold; /* an inode that is kept until the answer */
	int64_t sent, taken;
	struct request who;
	uint64_t node, other;
	char name[NAME_MAX + 1], other_name[NAME_MAX + 1];
	struct handle *handle;
	int flags;
	mode_t mode;
	off_t at;
	void *data; /* bytes to write, or room for those that are read */
	size_t size;
	uint64_t lookups;
	bool plus, mapped;

	int error;
	size_t got;
	struct entry entry;
	struct opened opened;
	struct stat st;
	double timeout;
	struct told {
		char name[NAME_MAX + 1];
		struct entry entry;
		off_t next;
	} * told;
	size_t told_count;
	struct after *after;
};

static struct {
	struct vfs *vfs;
	bool ended;
	unsigned workers, serving, releases;
	struct call *first, **last;
	struct call *forgets, **last_forget;
	uint64_t attr_version;
	/* features that kernels differ in: READDIRPLUS, and names that expire */
	bool plus, expires;
	unsigned pressure; /* one request in this many finds that memory is short; 0: none does */
	struct inode *inodes;
	struct dentry *dentries, *root;
	struct rwsem rename_lock;
	uint64_t *forgotten;
	size_t forgotten_count;
} k = {.last = &k.first, .last_forget = &k.forgets};

static void *must(void *memory)
{
	if (!memory)
		fail("out of memory");
	return memory;
}

/* ---- processes ---- */

/*
 * A simulated thread is a process with one thread. When it ends, the thread goes on as another. The
 * program holds a descriptor of each process: one end of a pipe, whose other end is closed when the
 * process ends.
 */
#define RUN_PIDS 1000

static struct run {
	unsigned number;
	int64_t delay; /* time that system calls waited (kernel_delay) */
	int *ends;     /* ends of the pipes whose other ends the program has */
	size_t count;
} runs[RUN_PIDS];

static pid_t pid_of_thread(void)
{
	return (pid_t)(runs[sched_thread()].number * RUN_PIDS + (unsigned)sched_thread() + 1);
}

void __wrap_process_of_thread(pid_t thread, struct process *out);
void __wrap_process_of_thread(pid_t thread, struct process *out)
{
	sched_point("process_of_thread");
	*out = (struct process){.pid = thread, .start = 1, .name = "simulated"};
}

int __wrap_process_open(const struct process *p, int *fd);
int __wrap_process_open(const struct process *p, int *fd)
{
	struct run *run = &runs[(unsigned)(p->pid - 1) % RUN_PIDS];
	int fds[2];

	if ((unsigned)(p->pid - 1) / RUN_PIDS != run->number)
		fail("a descriptor is asked for of a process that has ended");
	*fd = -1;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	run->ends = must(realloc(run->ends, (run->count + 1) * sizeof(*run->ends)));
	run->ends[run->count++] = fds[1];
	*fd = fds[0];
	return 0;
}

enum process_end __wrap_process_how_ended(int fd);
enum process_end __wrap_process_how_ended(int fd)
{
	(void)fd;
	return PROCESS_EXITED;
}

void kernel_process_ends(void)
{
	struct run *run = &runs[sched_thread()];

	trace("process %d ends", (int)pid_of_thread());
	for (size_t i = 0; i < run->count; i++)
		close(run->ends[i]);
	free(run->ends);
	*run = (struct run){.number = run->number + 1};
	sched_point("the end of a process");
}

int64_t kernel_delay(void)
{
	return runs[sched_thread()].delay;
}

int kernel_process(void)
{
	return (int)pid_of_thread();
}

/* ---- locks ---- */

/*
 * Waits for another thread in the kernel. This time counts as kernel_delay, not as the file
 * system's.
 */
static void wait_for(const void *channel, const char *what)
{
	int64_t since = sched_now();

	sched_wait(channel, NEVER, what);
	runs[sched_thread()].delay += sched_now() - since;
}

static void lock_exclusive(struct rwsem *l, const char *what)
{
	while (l->writer || l->readers)
		wait_for(l, what);
	l->writer = sched_thread() + 1;
}

static void lock_shared(struct rwsem *l, const char *what)
{
	while (l->writer)
		wait_for(l, what);
	l->readers++;
}

static void unlock(struct rwsem *l)
{
	if (l->writer)
		l->writer = 0;
	else
		l->readers--;
	sched_wake(l);
}

/* ---- requests ---- */

static void put_inode(struct inode *inode);

static void enqueue(struct call *c, struct call ***last)
{
	c->who = (struct request){geteuid(), getegid(), pid_of_thread(), 022};
	c->sent = sched_now();
	**last = c;
	*last = &c->next;
	trace("-> %s of %llu %s", c->what, (unsigned long long)c->node, c->name);
	sched_wake(&k.first);
}

/* Sends a request to a thread that calls `serve`, and waits for the answer. */
static int call(struct call *c, void (*serve)(struct call *), const char *what, uint64_t node,
		const char *name)
{
	c->serve = serve;
	c->what = what;
	c->node = node;
	snprintf(c->name, sizeof(c->name), "%s", name);
	enqueue(c, &k.last);
	while (!c->answered)
		sched_wait(c, NEVER, what);
	runs[sched_thread()].delay += c->taken - c->sent;
	return c->error;
}

#define CALL(c, operation, node, name) call(c, serve_##operation, #operation, node, name)

static struct call *take_call(struct call **first, struct call ***last)
{
	struct call *c = *first;

	*first = c->next;
	if (!c->next)
		*last = first;
	return c;
}

/* Waits for the next request. Returns NULL if the mount has ended. */
static struct call *next_call(void)
{
	while (!k.first && !k.forgets) {
		if (k.ended)
			return NULL;
		sched_idle(&k.first, "a request");
	}
	if (k.forgets && (!k.first || rnd_one_in(4)))
		return take_call(&k.forgets, &k.last_forget);
	return take_call(&k.first, &k.last);
}

static void answer(struct call *c)
{
	sched_point("answer");
	if (c->error < 0 || c->error >= 512)
		fail("the answer %d to %s is none", c->error, c->what);
	trace("<- %s of %llu %s: %s", c->what, (unsigned long long)c->node, c->name,
	      c->error ? strerrorname_np(c->error) : "fine");
	if (!c->unawaited) {
		c->answered = true;
		sched_wake(c);
		return;
	}
	if (c->hold) {
		put_inode(c->hold);
		k.releases--;
	}
	free(c);
}

static void reclaim(void);

/*
 * Disturbs a request: memory may be short at any moment, and a thread may be slow with a request
 * that no one waits for.
 */
static void disturb(const struct call *c)
{
	if (k.pressure && rnd_one_in(k.pressure))
		reclaim();
	if (c->unawaited && rnd_one_in(8))
		sched_sleep((int64_t)rnd_below(300) * MS);
}

/*
 * Checks that an open view has the version that it was opened with, or has lost it because memory
 * was short.
 */
static void check_pinned(const struct handle *handle)
{
	const struct thing *thing;

	if (!handle)
		return;
	vfs_lock(k.vfs);
	thing = handle->node->thing;
	if (thing->kind == THING_VIEW && !thing->view.version && !thing->view.lost)
		fail("a view that is open is not pinned");
	vfs_unlock(k.vfs);
}

static void work(void *unused)
{
	struct call *c;

	(void)unused;
	while ((c = next_call())) {
		struct after *after;

		c->taken = sched_now();
		k.serving++;
		disturb(c);
		sched_point(c->what);
		c->serve(c);
		if (!c->unawaited)
			check_pinned(c->handle ? c->handle : c->opened.handle);
		after = c->after;
		answer(c);
		vfs_after(k.vfs, after);
		k.serving--;
	}
	k.workers--;
	sched_wake(&k.workers);
}

static bool is_idle(void)
{
	return !k.first && !k.forgets && !k.serving;
}

/* ---- the calls of vfs.h ---- */

#define SERVE(operation, result)                                                                   \
	static void serve_##operation(struct call *c)                                              \
	{                                                                                          \
		c->error = (result);                                                               \
	}

SERVE(lookup, vfs_lookup(k.vfs, &c->who, c->node, c->name, &c->entry))
SERVE(getattr, vfs_getattr(k.vfs, &c->who, c->node, NULL, &c->st, &c->timeout))
SERVE(truncate,
      vfs_setattr(k.vfs, &c->who, c->node, c->handle, &(struct stat){.st_size = (off_t)c->size},
		  SET_SIZE, &c->st, &c->timeout))
SERVE(chmod, vfs_setattr(k.vfs, &c->who, c->node, NULL, &(struct stat){.st_mode = c->mode},
			 SET_MODE, &c->st, &c->timeout))
SERVE(link, vfs_link(k.vfs, &c->who, c->node, c->other, c->other_name, &c->entry))
SERVE(open, vfs_open(k.vfs, &c->who, c->node, c->flags, &c->opened))
SERVE(create,
      vfs_create(k.vfs, &c->who, c->node, c->name, c->mode, c->flags, &c->entry, &c->opened))
SERVE(flush, vfs_flush(k.vfs, &c->who, c->handle))
SERVE(fsync, vfs_fsync(k.vfs, &c->who, c->handle, false))
SERVE(unlink, vfs_unlink(k.vfs, &c->who, c->node, c->name))
SERVE(rmdir, vfs_rmdir(k.vfs, &c->who, c->node, c->name))
SERVE(mkdir, vfs_mkdir(k.vfs, &c->who, c->node, c->name, c->mode, &c->entry))
SERVE(rename, vfs_rename(k.vfs, &c->who, c->node, c->name, c->other, c->other_name,
			 (unsigned)c->flags, &c->after))
SERVE(opendir, vfs_opendir(k.vfs, &c->who, c->node, c->flags, &c->opened))

/* Checks what the program knows; this is no request, but begins some. */
static void serve_known(struct call *c)
{
	struct target t;

	c->error = target_get(k.vfs, c->node, &t);
	if (!c->error)
		target_put(k.vfs, &t);
}

static void serve_release(struct call *c)
{
	vfs_release(k.vfs, c->handle);
}

static void serve_forget(struct call *c)
{
	vfs_forget(k.vfs, c->node, c->lookups);
}

static void serve_read(struct call *c)
{
	struct read_part part;
	ssize_t got;

	c->error = vfs_read(k.vfs, c->node, c->handle, c->size, c->at, &part);
	if (c->error)
		return;
	got = (ssize_t)part.part.size;
	if (part.fd >= 0)
		got = pread(part.fd, c->data, c->size, c->at);
	else if (part.part.size > c->size)
		fail("the answer to a read is too long");
	else if (got)
		memcpy(c->data, part.part.data, part.part.size);
	c->error = got < 0 ? errno : 0;
	c->got = got < 0 ? 0 : (size_t)got;
	read_part_end(&part);
}

static void serve_write(struct call *c)
{
	ssize_t got = vfs_write(k.vfs, c->handle, (struct bytes){c->data, c->size}, c->at, c->flags,
				c->mapped);

	if (got > (ssize_t)c->size)
		fail("a write of %zu bytes wrote %zd", c->size, got);
	c->error = got < 0 ? (int)-got : 0;
	c->got = got < 0 ? 0 : (size_t)got;
}

/* Adds an entry to an answer if there is room, counting the size that entries have in /dev/fuse. */
static bool add_told(void *call, const char *name, const struct entry *entry, off_t next)
{
	struct call *c = call;
	struct told *told = &c->told[c->told_count];
	size_t length = strlen(name), size = (24 + length + 7) / 8 * 8 + (c->plus ? 128 : 0);

	if (length > NAME_MAX || !length)
		fail("an entry of a folder has a name of %zu bytes", length);
	if (c->got + size > c->size)
		return false;
	*told = (struct told){.entry = *entry, .next = next};
	snprintf(told->name, sizeof(told->name), "%s", name);
	c->told_count++;
	c->got += size;
	return true;
}

SERVE(readdir, vfs_readdir(k.vfs, &c->who, c->node, c->handle, c->at, c->plus, add_told, c))

static void forget(uint64_t id, uint64_t lookups)
{
	struct call *c = must(calloc(1, sizeof(*c)));

	c->serve = serve_forget;
	c->what = "forget";
	c->unawaited = true;
	c->node = id;
	c->lookups = lookups;
	enqueue(c, &k.last_forget);
}

static void release(struct inode *inode, struct handle *handle)
{
	struct call *c = must(calloc(1, sizeof(*c)));

	c->serve = serve_release;
	c->what = "release";
	c->unawaited = true;
	c->node = inode->id;
	k.releases++;
	c->handle = handle;
	c->hold = inode;
	inode->refs++;
	enqueue(c, &k.last);
}

/* ---- inodes ---- */

static int64_t until(double seconds)
{
	return seconds > 1000000 ? NEVER : sched_now() + (int64_t)(seconds * (double)SECOND);
}

static bool is_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_folder(const struct inode *inode)
{
	return S_ISDIR(inode->attr.st_mode);
}

static void free_names(struct inode *inode)
{
	struct names *l = inode->names;

	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free(l->entries[i].name);
	free(l->entries);
	free(l);
	inode->names = NULL;
}

static void wait_for_page(const struct page *page)
{
	while (page->locked)
		wait_for(page, "a page that is locked");
}

/* Drops the pages of an inode from page `from` on; waits for pages that are being read. */
static void drop_pages(struct inode *inode, size_t from)
{
	inode->refs++;
	for (size_t i = from; i < inode->page_count; i++) {
		if (!inode->pages[i])
			continue;
		wait_for_page(inode->pages[i]);
		inode->pages[i]->valid = false;
	}
	if (is_folder(inode))
		free_names(inode);
	put_inode(inode);
}

static void truncate_pages(struct inode *inode, size_t size)
{
	size_t last = size / PAGE;

	drop_pages(inode, (size + PAGE - 1) / PAGE);
	if (size % PAGE && last < inode->page_count && inode->pages[last])
		memset(inode->pages[last]->data + size % PAGE, 0, PAGE - size % PAGE);
}

static struct page *page_of(struct inode *inode, size_t index)
{
	if (index >= inode->page_count) {
		size_t count = index + 16;

		inode->pages = must(realloc(inode->pages, count * sizeof(*inode->pages)));
		memset(inode->pages + inode->page_count, 0,
		       (count - inode->page_count) * sizeof(*inode->pages));
		inode->page_count = count;
	}
	if (!inode->pages[index])
		inode->pages[index] = must(calloc(1, sizeof(*inode->pages[index])));
	return inode->pages[index];
}

static void note_forgotten(uint64_t id)
{
	k.forgotten = must(realloc(k.forgotten, (k.forgotten_count + 1) * sizeof(*k.forgotten)));
	k.forgotten[k.forgotten_count++] = id;
}

static void put_inode(struct inode *inode)
{
	struct inode **at = &k.inodes;

	if (--inode->refs)
		return;
	while (*at != inode)
		at = &(*at)->next;
	*at = inode->next;
	if (inode->id != NODE_ROOT && inode->lookups) {
		note_forgotten(inode->id);
		forget(inode->id, inode->lookups);
	}
	free_names(inode);
	for (size_t i = 0; i < inode->page_count; i++)
		free(inode->pages[i]);
	free(inode->pages);
	free(inode);
}

static struct inode *find_inode(uint64_t id)
{
	for (struct inode *i = k.inodes; i; i = i->next) {
		if (i->id == id && !i->bad)
			return i;
	}
	return NULL;
}

static void invalidate_attr(struct inode *inode)
{
	inode->attr_until = 0;
}

static void set_attr(struct inode *inode, const struct stat *attr, int64_t valid)
{
	inode->attr_version = ++k.attr_version;
	inode->attr = *attr;
	inode->attr_until = valid;
}

/* Sets a size that the kernel knows by itself, without an answer. */
static void set_size(struct inode *inode, uint64_t size)
{
	inode->attr_version = ++k.attr_version;
	inode->attr.st_size = (off_t)size;
}

static uint64_t size_of(const struct inode *inode)
{
	return (uint64_t)inode->attr.st_size;
}

/* Takes attributes over from an answer. `asked` is the attr_version when the request was sent. */
static void change_attr(struct inode *inode, const struct stat *attr, int64_t valid, uint64_t asked)
{
	struct stat old = inode->attr;

	if (asked && inode->attr_version > asked) {
		invalidate_attr(inode);
		return;
	}
	set_attr(inode, attr, valid);
	if (!S_ISREG(attr->st_mode))
		return;
	if (old.st_size != attr->st_size) {
		truncate_pages(inode, (size_t)attr->st_size);
		drop_pages(inode, 0);
	} else if (!is_same(old.st_mtim, attr->st_mtim)) {
		drop_pages(inode, 0);
	}
}

static bool is_stale(const struct inode *inode, const struct stat *attr)
{
	return (inode->attr.st_mode & S_IFMT) != (attr->st_mode & S_IFMT);
}

/* Returns the inode that an answer names, with a reference. */
static struct inode *get_inode(const struct entry *entry, uint64_t asked)
{
	struct inode *inode = find_inode(entry->node);

	if (inode && is_stale(inode, &entry->st)) {
		inode->bad = true;
		inode = NULL;
	}
	if (!inode) {
		inode = must(calloc(1, sizeof(*inode)));
		inode->id = entry->node;
		inode->attr = entry->st;
		inode->next = k.inodes;
		k.inodes = inode;
	}
	inode->refs++;
	inode->lookups++;
	change_attr(inode, &entry->st, until(entry->attr_timeout), asked);
	return inode;
}

/*
 * Asks for the attributes of an inode. `st` gets those of the answer, even if the inode does not
 * take them; or is NULL.
 */
static int get_attr(struct inode *inode, struct stat *st)
{
	struct call c = {.next = NULL};
	uint64_t asked = k.attr_version;
	int error = CALL(&c, getattr, inode->id, "");

	if (error)
		return error;
	if (is_stale(inode, &c.st)) {
		inode->bad = true;
		return EIO;
	}
	change_attr(inode, &c.st, until(c.timeout), asked);
	if (st)
		*st = c.st;
	return 0;
}

static int update_attr(struct inode *inode)
{
	if (inode->bad)
		return EIO;
	return inode->attr_until > sched_now() ? 0 : get_attr(inode, NULL);
}

/* Returns the attributes of an inode, as stat(2) does. */
static int stat_inode(struct inode *inode, struct stat *st)
{
	if (inode->bad)
		return EIO;
	if (inode->attr_until <= sched_now())
		return get_attr(inode, st);
	*st = inode->attr;
	return 0;
}

/*
 * Checks the mode of an inode (default_permissions). The user of the run may do all that it allows.
 */
static int permission(struct inode *inode)
{
	return update_attr(inode);
}

static void dir_changed(struct inode *dir)
{
	invalidate_attr(dir);
	dir->dir_version++;
}

/* ---- names ---- */

static struct dentry *new_dentry(struct dentry *parent, const char *name)
{
	struct dentry *d = must(calloc(1, sizeof(*d)));

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->parent = parent;
	d->hashed = true;
	d->refs = 1;
	if (parent)
		parent->refs++;
	d->next = k.dentries;
	k.dentries = d;
	return d;
}

static void put_dentry(struct dentry *d);

static void free_dentry(struct dentry *d)
{
	struct dentry **at = &k.dentries;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	if (d->inode)
		put_inode(d->inode);
	if (d->parent)
		put_dentry(d->parent);
	free(d);
}

static void put_dentry(struct dentry *d)
{
	d->refs--;
	if (!d->refs && !d->hashed)
		free_dentry(d);
}

static struct dentry *find_dentry(const struct dentry *parent, const char *name)
{
	for (struct dentry *d = k.dentries; d; d = d->next) {
		if (d->hashed && d->parent == parent && strcmp(d->name, name) == 0)
			return d;
	}
	return NULL;
}

/* Returns an unused dentry that has nothing below it. */
static struct dentry *find_unused(const struct dentry *below, unsigned skip)
{
	for (struct dentry *d = k.dentries; d; d = d->next) {
		const struct dentry *up = d;

		while (up && up != below)
			up = up->parent;
		if (up && d != below && d->hashed && !d->refs && !skip--)
			return d;
	}
	return NULL;
}

static void unhash(struct dentry *d)
{
	d->refs++;
	d->hashed = false;
	put_dentry(d);
}

/* Drops a dentry with all unused dentries below it. */
static void invalidate(struct dentry *d)
{
	struct dentry *unused;

	d->refs++;
	while ((unused = find_unused(d, 0)))
		unhash(unused);
	d->hashed = false;
	put_dentry(d);
}

/*
 * Drops all unused names, children first. Each inode goes to the queue of FORGETs as it is freed.
 */
static void drop_names(void)
{
	struct dentry *d;

	while ((d = find_unused(k.root, 0)))
		unhash(d);
}

static void drop_all_pages(void)
{
	for (struct inode *inode = k.inodes; inode; inode = inode->next) {
		for (size_t i = 0; i < inode->page_count; i++) {
			if (inode->pages[i] && !inode->pages[i]->locked)
				inode->pages[i]->valid = false;
		}
		if (is_folder(inode))
			free_names(inode);
	}
}

/*
 * Drops caches of the kernel, as writing 1, 2 or 3 to /proc/sys/vm/drop_caches does; which of them,
 * the seed chooses.
 */
static void reclaim(void)
{
	unsigned what = 1 + rnd_below(3);

	trace("reclaim %u", what);
	if (what & 1)
		drop_all_pages();
	if (what & 2)
		drop_names();
}

enum { REVAL = 1, EXCLUSIVE = 2, TARGET = 4 };

/* Returns 1 if the name still stands for the same inode, 0 if it does not, or a negated errno. */
static int revalidate(struct dentry *d, int flags)
{
	struct call c = {.next = NULL};
	uint64_t asked = k.attr_version;
	int error;

	if (d->inode && d->inode->bad)
		return 0;
	if (d->until > sched_now() && !(flags & (REVAL | EXCLUSIVE | TARGET)))
		return 1;
	if (!d->inode)
		return 0;
	error = CALL(&c, lookup, d->parent->inode->id, d->name);
	if (error == ENOMEM || error == EINTR)
		return -error;
	if (error || !c.entry.node)
		return 0;
	if (c.entry.node != d->inode->id) {
		forget(c.entry.node, 1);
		return 0;
	}
	d->inode->lookups++;
	if (is_stale(d->inode, &c.entry.st))
		return 0;
	change_attr(d->inode, &c.entry.st, until(c.entry.attr_timeout), asked);
	d->until = until(c.entry.entry_timeout);
	return 1;
}

/*
 * Gives a dentry its inode. A folder has only one dentry: if it has another one, even a dropped
 * one, that one is moved here.
 */
static struct dentry *give_inode(struct dentry *d, struct inode *inode)
{
	struct dentry *alias = NULL;

	for (struct dentry *at = k.dentries; at && is_folder(inode); at = at->next) {
		if (at != d && at->inode == inode)
			alias = at;
	}
	if (!alias) {
		d->inode = inode;
		return d;
	}
	for (const struct dentry *up = d->parent; up; up = up->parent) {
		if (up == alias)
			return NULL; /* the folder would be below itself */
	}
	put_inode(inode);
	alias->refs++;
	d->parent->refs++;
	put_dentry(alias->parent);
	alias->parent = d->parent;
	snprintf(alias->name, sizeof(alias->name), "%s", d->name);
	alias->hashed = true;
	d->hashed = false;
	return alias;
}

static int look_up_new(struct dentry *d, struct dentry **out)
{
	struct call c = {.next = NULL};
	uint64_t asked = k.attr_version;
	struct dentry *result = d;
	int error;

	d->in_lookup = true;
	error = CALL(&c, lookup, d->parent->inode->id, d->name);
	if (!error && c.entry.node) {
		result = give_inode(d, get_inode(&c.entry, asked));
		error = result ? 0 : ELOOP;
	}
	if (!error)
		result->until = until(c.entry.entry_timeout);
	if (error == ENOENT)
		error = 0; /* a name that does not exist, with a timeout of 0 */
	d->in_lookup = false;
	sched_wake(d);
	if (error)
		d->hashed = false;
	if (error || result != d)
		put_dentry(d);
	*out = error ? NULL : result;
	return error;
}

/*
 * Looks up a name in a folder. Returns its dentry with a reference; the inode is NULL if there is
 * none.
 */
static int look_up(struct dentry *parent, const char *name, int flags, bool locked,
		   struct dentry **out)
{
	*out = NULL;
	for (;;) {
		struct dentry *d = find_dentry(parent, name);
		int error;

		if (d) {
			int valid;

			d->refs++;
			while (d->in_lookup)
				wait_for(d, "a lookup");
			valid = d->hashed ? revalidate(d, flags) : 0;
			if (valid > 0) {
				*out = d;
				return 0;
			}
			if (valid == 0)
				invalidate(d);
			put_dentry(d);
			if (valid < 0)
				return -valid;
			continue;
		}
		if (!locked) {
			lock_shared(&parent->inode->lock, "a folder, to look up a name");
			if (find_dentry(parent, name)) {
				unlock(&parent->inode->lock);
				continue;
			}
		}
		error = parent->inode->dead ? ENOENT : look_up_new(new_dentry(parent, name), out);
		if (!locked)
			unlock(&parent->inode->lock);
		return error;
	}
}

/*
 * Finds the folder that the last name of a path is in. Returns it with a reference, and that name.
 */
static int walk_to_parent(const char *path, int flags, struct dentry **out, char name[NAME_MAX + 1])
{
	struct dentry *at = k.root, *next;
	int error = 0;

	at->refs++;
	while (!error) {
		size_t length = strcspn(path, "/");

		error = permission(at->inode);
		snprintf(name, NAME_MAX + 1, "%.*s", (int)length, path);
		if (error || !path[length])
			break;
		path += length + 1;
		error = look_up(at, name, flags, false, &next);
		if (error)
			break;
		put_dentry(at);
		at = next;
		if (!at->inode)
			error = ENOENT;
		else if (!is_folder(at->inode))
			error = ENOTDIR;
	}
	if (error)
		put_dentry(at);
	else
		*out = at;
	return error;
}

static int walk(const char *path, int flags, struct dentry **out)
{
	struct dentry *parent;
	char name[NAME_MAX + 1];
	int error;

	if (!*path) {
		k.root->refs++;
		*out = k.root;
		return 0;
	}
	error = walk_to_parent(path, flags, &parent, name);
	if (error)
		return error;
	error = look_up(parent, name, flags, false, out);
	put_dentry(parent);
	if (!error && !(*out)->inode) {
		put_dentry(*out);
		error = ENOENT;
	}
	return error;
}

/* Evaluates a system call; if it ends with ESTALE, once more with every name looked up again. */
#define RETRIED(result, expression)                                                                \
	do {                                                                                       \
		int reval = 0;                                                                     \
                                                                                                   \
		(result) = (expression);                                                           \
		if ((result) == ESTALE) {                                                          \
			reval = REVAL;                                                             \
			(result) = (expression);                                                   \
		}                                                                                  \
	} while (0)

/* ---- attributes ---- */

static int try_stat(const char *path, int flags, struct stat *st)
{
	struct dentry *d;
	int error = walk(path, flags, &d);

	if (error)
		return error;
	error = stat_inode(d->inode, st);
	put_dentry(d);
	return error;
}

int k_stat(const char *path, struct stat *st)
{
	int error;

	RETRIED(error, try_stat(path, reval, st));
	return error;
}

int k_fstat(struct kfile *file, struct stat *st)
{
	return stat_inode(file->inode, st);
}

static int try_chmod(const char *path, int flags, mode_t mode)
{
	struct call c = {.mode = 0};
	struct dentry *d;
	int error = walk(path, flags, &d);

	if (error)
		return error;
	lock_exclusive(&d->inode->lock, "a file, to change its mode");
	c.mode = (d->inode->attr.st_mode & S_IFMT) | mode;
	error = CALL(&c, chmod, d->inode->id, "");
	if (!error)
		set_attr(d->inode, &c.st, until(c.timeout));
	unlock(&d->inode->lock);
	put_dentry(d);
	return error;
}

int k_chmod(const char *path, mode_t mode)
{
	int error;

	RETRIED(error, try_chmod(path, reval, mode));
	return error;
}

/* ---- opening and closing ---- */

static void finish_open(struct kfile *f, bool truncated)
{
	struct inode *inode = f->inode;

	if (truncated) {
		set_size(inode, 0);
		invalidate_attr(inode);
		drop_pages(inode, 0);
	} else if (!f->opened.keep_cache && !f->opened.direct_io) {
		drop_pages(inode, 0);
	}
}

static struct kfile *new_file(struct dentry *d, int flags, const struct opened *opened)
{
	struct kfile *f = must(calloc(1, sizeof(*f)));

	d->refs++;
	d->inode->refs++;
	f->dentry = d;
	f->inode = d->inode;
	f->flags = flags;
	f->opened = *opened;
	return f;
}

static int send_open(struct dentry *d, int flags, struct kfile **file)
{
	struct call c = {.flags = flags & ~(O_CREAT | O_EXCL | O_NOCTTY)};
	int error = CALL(&c, open, d->inode->id, "");

	if (error)
		return error;
	*file = new_file(d, flags, &c.opened);
	finish_open(*file, flags & O_TRUNC);
	return 0;
}

static int send_create(struct dentry *d, int flags, mode_t mode, struct kfile **file)
{
	struct call c = {.flags = flags & ~O_NOCTTY, .mode = S_IFREG | (mode & ~022U)};
	struct inode *dir = d->parent->inode;
	uint64_t asked = k.attr_version;
	int error = CALL(&c, create, dir->id, d->name);

	if (error)
		return error;
	if (!S_ISREG(c.entry.st.st_mode) || !c.entry.node)
		fail("CREATE made something else");
	d->inode = get_inode(&c.entry, asked);
	d->until = until(c.entry.entry_timeout);
	dir_changed(dir);
	*file = new_file(d, flags, &c.opened);
	finish_open(*file, flags & O_TRUNC);
	return 0;
}

static int open_found(struct dentry *d, int flags, struct kfile **file)
{
	int error;

	if (is_folder(d->inode))
		return EISDIR;
	error = permission(d->inode);
	return error ? error : send_open(d, flags, file);
}

static int try_open(const char *path, int walk_flags, int flags, mode_t mode, struct kfile **file)
{
	struct dentry *parent, *d = NULL;
	char name[NAME_MAX + 1];
	bool creates = flags & O_CREAT, done = false;
	int error = walk_to_parent(path, walk_flags, &parent, name);

	if (error)
		return error;
	if (creates)
		lock_exclusive(&parent->inode->lock, "a folder, to create a file");
	error = look_up(parent, name, walk_flags | (flags & O_EXCL ? EXCLUSIVE : 0), creates, &d);
	if (!error && !d->inode) {
		done = true;
		error = creates ? send_create(d, flags, mode, file) : ENOENT;
	}
	if (creates)
		unlock(&parent->inode->lock);
	if (!error && !done)
		error = creates && (flags & O_EXCL) ? EEXIST : open_found(d, flags, file);
	if (d)
		put_dentry(d);
	put_dentry(parent);
	return error;
}

int k_open(const char *path, int flags, mode_t mode, struct kfile **file)
{
	int error;

	*file = NULL;
	RETRIED(error, try_open(path, reval, flags, mode, file));
	return error;
}

static int flush(struct kfile *f)
{
	struct call c = {.handle = f->opened.handle};
	int error = f->opened.noflush ? 0 : CALL(&c, flush, f->inode->id, "");

	invalidate_attr(f->inode);
	return error;
}

static void end_file(struct kfile *f)
{
	release(f->inode, f->opened.handle);
	put_inode(f->inode);
	put_dentry(f->dentry);
	free(f);
}

int k_close(struct kfile *f)
{
	int error = flush(f);

	end_file(f);
	return error;
}

void k_await_releases(void)
{
	while (k.releases)
		sched_sleep(10 * MS);
}

/* ---- reading ---- */

static int send_read(struct kfile *f, uint64_t offset, size_t size, char *out, size_t *got)
{
	struct call c = {
		.handle = f->opened.handle, .at = (off_t)offset, .data = out, .size = size};
	int error = CALL(&c, read, f->inode->id, "");

	*got = c.got;
	return error;
}

/* Reads pages that are not in the cache, and locks them meanwhile. */
static int read_pages(struct kfile *f, size_t first, size_t count)
{
	struct inode *inode = f->inode;
	uint64_t asked = k.attr_version, size = size_of(inode);
	size_t got = 0;
	char *data;
	int error;

	for (size_t i = 0; i < count; i++) {
		struct page *page = page_of(inode, first + i);

		if (i && (page->valid || page->locked)) {
			count = i;
			break;
		}
		page->locked = true;
	}
	data = must(calloc(count, PAGE));
	error = send_read(f, first * PAGE, count * PAGE, data, &got);
	/* A short answer shows where the file ends. */
	if (!error && got < count * PAGE && inode->attr_version <= asked &&
	    size_of(inode) == size && first * PAGE + got < size) {
		trace("short read: %llu ends at %zu, not %llu", (unsigned long long)inode->id,
		      first * PAGE + got, (unsigned long long)size);
		set_size(inode, first * PAGE + got);
	}
	for (size_t i = 0; i < count; i++) {
		struct page *page = inode->pages[first + i];

		if (!error) {
			memcpy(page->data, data + i * PAGE, PAGE);
			page->valid = true;
		}
		page->locked = false;
		sched_wake(page);
	}
	free(data);
	return error;
}

/* Reads a page unless it is cached. The page is valid when this returns 0, until the next step. */
static int fill_page(struct kfile *f, size_t index)
{
	int error = 0;

	for (unsigned tries = 0;; tries++) {
		struct page *page = page_of(f->inode, index);
		uint64_t pages = (size_of(f->inode) + PAGE - 1) / PAGE;
		size_t ahead = 1;

		wait_for_page(page);
		if (page->valid)
			return 0;
		if (tries == 0 && pages > index + 1)
			ahead = 1 + rnd_below((unsigned)(pages - index));
		if (error && tries > 1)
			return error;
		error = read_pages(f, index, ahead);
	}
}

static long read_cached(struct kfile *f, char *data, size_t size)
{
	struct inode *inode = f->inode;
	size_t done = 0;
	int error = update_attr(inode);

	while (!error && done < size && (uint64_t)f->at < size_of(inode)) {
		size_t offset = (size_t)f->at % PAGE, part = PAGE - offset;

		error = fill_page(f, (size_t)f->at / PAGE);
		if (error || (uint64_t)f->at >= size_of(inode))
			break;
		if (part > size - done)
			part = size - done;
		if (part > size_of(inode) - (uint64_t)f->at)
			part = size_of(inode) - (uint64_t)f->at;
		memcpy(data + done, inode->pages[(size_t)f->at / PAGE]->data + offset, part);
		done += part;
		f->at += (int64_t)part;
	}
	return done ? (long)done : -error;
}

long k_read(struct kfile *f, void *data, size_t size)
{
	size_t got = 0;
	int error;

	if (f->inode->bad)
		return -EIO;
	if (!f->opened.direct_io)
		return read_cached(f, data, size);
	error = send_read(f, (uint64_t)f->at, size, data, &got);
	f->at += (int64_t)got;
	return error ? -error : (long)got;
}

long k_read_mapped(struct kfile *f, int64_t offset, void *data, size_t size)
{
	struct inode *inode = f->inode;
	size_t done = 0;

	while (done < size) {
		size_t at = (size_t)offset + done, part = PAGE - at % PAGE;

		if (at / PAGE >= (size_of(inode) + PAGE - 1) / PAGE || inode->bad)
			return -EFAULT; /* the program would get SIGBUS */
		if (fill_page(f, at / PAGE) != 0)
			return -EFAULT;
		if (part > size - done)
			part = size - done;
		memcpy((char *)data + done, inode->pages[at / PAGE]->data + at % PAGE, part);
		done += part;
	}
	return (long)done;
}

/* ---- writing ---- */

/*
 * Writes one page or part of it. Missing bytes of the page are read first; a page that is known as
 * a whole stays cached.
 */
static long write_part(struct kfile *f, uint64_t at, const char *data, size_t size)
{
	struct call c = {.handle = f->opened.handle,
			 .at = (off_t)at,
			 .data = (void *)(uintptr_t)data,
			 .size = size,
			 .flags = f->flags,
			 .mapped = f->mapped};
	struct inode *inode = f->inode;
	size_t first = at / PAGE, last = (at + size - 1) / PAGE;
	int error;

	for (size_t i = first; i <= last; i++) {
		struct page *page = page_of(inode, i);
		size_t from = i == first ? at % PAGE : 0;
		size_t to = i == last ? (at + size - 1) % PAGE + 1 : PAGE;

		wait_for_page(page);
		page->locked = true;
		memcpy(page->data + from, data + (i * PAGE + from - at), to - from);
		if (from == 0 && to == PAGE)
			page->valid = true;
	}
	error = CALL(&c, write, inode->id, "");
	set_size(inode, !error && at + c.got > size_of(inode) ? at + c.got : size_of(inode));
	invalidate_attr(inode);
	for (size_t i = first; i <= last; i++) {
		if (error || c.got < size)
			inode->pages[i]->valid = false;
		inode->pages[i]->locked = false;
		sched_wake(inode->pages[i]);
	}
	return error ? -error : (long)c.got;
}

long k_write(struct kfile *f, const void *data, size_t size)
{
	size_t done = 0;
	long got = 0;

	lock_exclusive(&f->inode->lock, "a file, to write it");
	if (f->flags & O_APPEND)
		f->at = f->inode->attr.st_size;
	while (done < size && got >= 0) {
		size_t part = size - done > MAX_WRITE ? MAX_WRITE : size - done;

		got = write_part(f, (uint64_t)f->at, (const char *)data + done, part);
		if (got > 0) {
			done += (size_t)got;
			f->at += got;
		}
		if (got >= 0 && (size_t)got < part)
			break;
	}
	unlock(&f->inode->lock);
	return done ? (long)done : got;
}

/*
 * Writes through a mapping after close(). Missing pages are read first. No program gets the errors
 * of the WRITE requests.
 */
int k_close_mapped(struct kfile *f, const char *data, size_t size)
{
	int error = flush(f);

	f->mapped = true;
	for (size_t at = 0; !error && at < size; at += PAGE) {
		size_t part = size - at < PAGE ? size - at : PAGE;

		if (at + part > size_of(f->inode) || f->inode->bad || fill_page(f, at / PAGE) != 0)
			error = EFAULT;
		else
			(void)write_part(f, at, data + at, part);
		if (rnd_one_in(4))
			sched_sleep((int64_t)rnd_below(30) * MS);
	}
	end_file(f);
	return error;
}

int k_seek(struct kfile *f, int64_t offset)
{
	f->at = offset;
	return 0;
}

int k_truncate(struct kfile *f, int64_t size)
{
	struct call c = {.handle = f->opened.handle, .size = (size_t)size};
	struct inode *inode = f->inode;
	uint64_t old, now;
	int error;

	lock_exclusive(&inode->lock, "a file, to cut it");
	error = CALL(&c, truncate, inode->id, "");
	if (!error) {
		old = size_of(inode);
		set_attr(inode, &c.st, until(c.timeout));
		now = size_of(inode);
		if (old != now)
			truncate_pages(inode, now < old ? now : old);
	}
	unlock(&inode->lock);
	return error;
}

int k_fsync(struct kfile *f)
{
	struct call c = {.handle = f->opened.handle};
	int error;

	lock_exclusive(&f->inode->lock, "a file, to sync it");
	error = CALL(&c, fsync, f->inode->id, "");
	unlock(&f->inode->lock);
	return error;
}

/* ---- removing and moving ---- */

static void entry_gone(struct dentry *d)
{
	struct inode *inode = d->inode;

	inode->attr_version = ++k.attr_version;
	if (is_folder(inode))
		inode->attr.st_nlink = 0;
	else if (inode->attr.st_nlink)
		inode->attr.st_nlink--;
	invalidate_attr(inode);
	invalidate(d);
}

static int try_remove(const char *path, int flags, bool folder)
{
	struct dentry *parent, *d;
	char name[NAME_MAX + 1];
	int error = walk_to_parent(path, flags, &parent, name);

	if (error)
		return error;
	lock_exclusive(&parent->inode->lock, "a folder, to remove a name");
	error = look_up(parent, name, flags, true, &d);
	if (!error && !d->inode)
		error = ENOENT;
	else if (!error && is_folder(d->inode) != folder)
		error = folder ? ENOTDIR : EISDIR;
	if (!error) {
		struct inode *inode = d->inode;
		struct call c = {.next = NULL};

		lock_exclusive(&inode->lock, "what is removed");
		error = folder ? CALL(&c, rmdir, parent->inode->id, name)
			       : CALL(&c, unlink, parent->inode->id, name);
		if (!error && folder)
			inode->dead = true;
		unlock(&inode->lock);
		if (!error) {
			dir_changed(parent->inode);
			entry_gone(d);
		} else if (error == EINTR || error == ENOENT) {
			d->until = 0;
		}
	}
	if (d)
		put_dentry(d);
	unlock(&parent->inode->lock);
	put_dentry(parent);
	return error;
}

int k_unlink(const char *path)
{
	int error;

	RETRIED(error, try_remove(path, reval, false));
	return error;
}

int k_rmdir(const char *path)
{
	int error;

	RETRIED(error, try_remove(path, reval, true));
	return error;
}

static int try_mkdir(const char *path, int flags, mode_t mode)
{
	struct call c = {.mode = S_IFDIR | (mode & ~022U)};
	struct dentry *parent, *d, *made;
	char name[NAME_MAX + 1];
	uint64_t asked;
	int error = walk_to_parent(path, flags, &parent, name);

	if (error)
		return error;
	lock_exclusive(&parent->inode->lock, "a folder, to make one in it");
	error = look_up(parent, name, flags | EXCLUSIVE, true, &d);
	if (!error && d->inode)
		error = EEXIST;
	asked = k.attr_version;
	if (!error)
		error = CALL(&c, mkdir, parent->inode->id, name);
	if (!error) {
		made = give_inode(d, get_inode(&c.entry, asked));
		if (!made)
			fail("MKDIR made a folder that is above itself");
		made->until = until(c.entry.entry_timeout);
		if (made != d)
			put_dentry(made);
		dir_changed(parent->inode);
	}
	if (d)
		put_dentry(d);
	unlock(&parent->inode->lock);
	put_dentry(parent);
	return error;
}

int k_mkdir(const char *path, mode_t mode)
{
	int error;

	RETRIED(error, try_mkdir(path, reval, mode));
	return error;
}

/* Sends a LINK. The new name gets the inode of the answer, which may be a copy. */
static int send_link(struct dentry *from, struct dentry *to)
{
	struct call c = {.other = to->parent->inode->id};
	uint64_t asked = k.attr_version;
	int error;

	snprintf(c.other_name, sizeof(c.other_name), "%s", to->name);
	lock_exclusive(&from->inode->lock, "what is linked");
	error = CALL(&c, link, from->inode->id, from->name);
	unlock(&from->inode->lock);
	if (error)
		return error;
	to->inode = get_inode(&c.entry, asked);
	to->until = until(c.entry.entry_timeout);
	dir_changed(to->parent->inode);
	invalidate_attr(from->inode);
	return 0;
}

static int try_link(const char *from, const char *to, int flags)
{
	struct dentry *d, *parent, *made = NULL;
	char name[NAME_MAX + 1];
	int error = walk(from, flags, &d);

	if (error)
		return error;
	error = walk_to_parent(to, flags, &parent, name);
	if (error) {
		put_dentry(d);
		return error;
	}
	lock_exclusive(&parent->inode->lock, "a folder, to make a link in it");
	error = look_up(parent, name, flags | EXCLUSIVE, true, &made);
	if (!error)
		error = made->inode ? EEXIST : send_link(d, made);
	unlock(&parent->inode->lock);
	if (made)
		put_dentry(made);
	put_dentry(parent);
	put_dentry(d);
	return error;
}

int k_link(const char *from, const char *to)
{
	int error;

	RETRIED(error, try_link(from, to, reval));
	return error;
}

static bool is_below(const struct dentry *d, const struct dentry *above)
{
	while (d && d != above)
		d = d->parent;
	return d;
}

static void move_dentry(struct dentry *d, struct dentry *parent, const char *name)
{
	parent->refs++;
	put_dentry(d->parent);
	d->parent = parent;
	snprintf(d->name, sizeof(d->name), "%s", name);
}

static int send_rename(struct dentry *from, struct dentry *to, unsigned flags)
{
	struct call c = {.other = to->parent->inode->id, .flags = (int)flags};

	trace("rename %s to %s", from->name, to->name);
	snprintf(c.other_name, sizeof(c.other_name), "%s", to->name);
	return CALL(&c, rename, from->parent->inode->id, from->name);
}

/* Renames a name once both names are looked up and both folders locked. */
static int rename_found(struct dentry *from, struct dentry *to, unsigned flags)
{
	struct inode *source = from->inode, *target = to->inode;
	bool locks; /* locks the moved folder, too: only if it gets another parent */
	int error;

	if (!source)
		return ENOENT;
	if (target && (flags & RENAME_NOREPLACE))
		return EEXIST;
	if (source == target)
		return 0;
	if (target && is_folder(target) != is_folder(source))
		return is_folder(target) ? EISDIR : ENOTDIR;
	if (is_below(to, from))
		return EINVAL;
	if (target && is_below(from, to))
		return ENOTEMPTY;
	source->refs++;
	if (target)
		target->refs++;
	locks = !is_folder(source) || from->parent != to->parent;
	if (locks)
		lock_exclusive(&source->lock, "what is renamed");
	if (target)
		lock_exclusive(&target->lock, "what is replaced");
	error = send_rename(from, to, flags);
	if (target)
		unlock(&target->lock);
	if (locks)
		unlock(&source->lock);
	if (!error) {
		dir_changed(from->parent->inode);
		dir_changed(to->parent->inode);
		invalidate_attr(source);
		if (target)
			entry_gone(to);
		else
			unhash(to);
		if (target && is_folder(target))
			target->dead = true;
		move_dentry(from, to->parent, to->name);
	} else if (error == EINTR || error == ENOENT) {
		invalidate(from);
		if (target)
			to->until = 0;
	}
	if (target)
		put_inode(target);
	put_inode(source);
	return error;
}

static int try_rename(const char *from, const char *to, int walk_flags, unsigned flags)
{
	struct dentry *parent, *to_parent, *d = NULL, *to_d = NULL;
	char name[NAME_MAX + 1], to_name[NAME_MAX + 1];
	bool same, up;
	int error = walk_to_parent(from, walk_flags, &parent, name);

	if (error)
		return error;
	error = walk_to_parent(to, walk_flags, &to_parent, to_name);
	if (error) {
		put_dentry(parent);
		return error;
	}
	same = parent == to_parent;
	if (!same)
		lock_exclusive(&k.rename_lock, "renames between folders");
	up = !same && is_below(parent, to_parent);
	if (up)
		lock_exclusive(&to_parent->inode->lock, "the folder to rename to");
	lock_exclusive(&parent->inode->lock, "a folder, to rename in it");
	if (!same && !up)
		lock_exclusive(&to_parent->inode->lock, "the folder to rename to");
	error = look_up(parent, name, walk_flags, true, &d);
	if (!error)
		error = look_up(to_parent, to_name, walk_flags | TARGET, true, &to_d);
	if (!error)
		error = rename_found(d, to_d, flags);
	unlock(&parent->inode->lock);
	if (!same) {
		unlock(&to_parent->inode->lock);
		unlock(&k.rename_lock);
	}
	if (to_d)
		put_dentry(to_d);
	if (d)
		put_dentry(d);
	put_dentry(to_parent);
	put_dentry(parent);
	return error;
}

int k_rename(const char *from, const char *to, unsigned flags)
{
	int error;

	RETRIED(error, try_rename(from, to, reval, flags));
	return error;
}

/* ---- folders ---- */

static void link_plus(struct dentry *parent, const struct entry *entry, const char *name,
		      uint64_t asked)
{
	struct dentry *d, *made;

	if (!entry->node)
		return;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		fail("READDIRPLUS counts a lookup of %s", name);
	d = find_dentry(parent, name);
	if (d && d->in_lookup) {
		/* As in the kernel, the thread waits for that lookup, and uses its result. */
		d->refs++;
		while (d->in_lookup)
			wait_for(d, "a lookup");
		put_dentry(d);
		d = find_dentry(parent, name);
	}
	if (d && d->inode && d->inode->id == entry->node && !d->inode->bad &&
	    !is_stale(d->inode, &entry->st)) {
		d->inode->lookups++;
		change_attr(d->inode, &entry->st, until(entry->attr_timeout), asked);
		d->until = until(entry->entry_timeout);
		return;
	}
	if (d)
		invalidate(d);
	d = new_dentry(parent, name);
	made = give_inode(d, get_inode(entry, asked));
	if (made)
		made->until = until(entry->entry_timeout);
	else
		d->hashed = false;
	if (made && made != d)
		put_dentry(made);
	put_dentry(d);
}

static void add_name(struct names *l, const char *name, unsigned type)
{
	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(l->entries[i].name, name) == 0)
			fail("%s is twice in a folder", name);
	}
	l->entries = must(realloc(l->entries, (l->count + 1) * sizeof(l->entries[0])));
	l->entries[l->count].name = must(strdup(name));
	l->entries[l->count++].type = type;
}

/* Adds the entries of one answer to a list. Returns the offset after the last one. */
static off_t add_names(struct dentry *dir, struct names *l, const struct call *c, uint64_t asked)
{
	off_t offset = 0;

	for (size_t i = 0; i < c->told_count; i++) {
		const struct told *told = &c->told[i];

		if (strcmp(told->name, ".") != 0 && strcmp(told->name, "..") != 0)
			add_name(l, told->name, told->entry.st.st_mode >> 12 & 15);
		if (c->plus)
			link_plus(dir, &told->entry, told->name, asked);
		offset = told->next;
	}
	return offset;
}

static int read_folder(struct dentry *dir, struct handle *handle, struct names *l)
{
	struct told *told = must(calloc(PAGE / 32, sizeof(*told)));
	bool plus = k.plus && !rnd_one_in(3);
	size_t count = 1;
	off_t offset = 0;
	int error = 0;

	while (!error && count) {
		struct call c = {
			.handle = handle, .at = offset, .size = PAGE, .plus = plus, .told = told};
		uint64_t asked = k.attr_version;

		lock_shared(&dir->inode->lock, "a folder, to read it");
		error = CALL(&c, readdir, dir->inode->id, "");
		count = c.told_count;
		if (!error && count)
			offset = add_names(dir, l, &c, asked);
		unlock(&dir->inode->lock);
	}
	free(told);
	return error;
}

/*
 * Returns the names of a folder that the kernel has cached; NULL if the folder has changed since,
 * or none are cached.
 */
static struct names *cached(struct inode *dir)
{
	struct names *l;

	if (!dir->names || update_attr(dir) != 0)
		return NULL;
	l = dir->names;
	if (l && (l->version != dir->dir_version || !is_same(l->mtime, dir->attr.st_mtim))) {
		free_names(dir);
		l = NULL;
	}
	return l;
}

static void each_entry(struct inode *dir, void (*each)(void *, const char *, unsigned),
		       void *closure)
{
	struct names *l = dir->names;
	size_t count = l->count;
	struct {
		char *name;
		unsigned type;
	} *copy = must(calloc(count + 1, sizeof(*copy)));

	for (size_t i = 0; i < count; i++) {
		copy[i].name = must(strdup(l->entries[i].name));
		copy[i].type = l->entries[i].type;
	}
	for (size_t i = 0; i < count; i++) {
		each(closure, copy[i].name, copy[i].type);
		free(copy[i].name);
	}
	free(copy);
}

/*
 * Opens a folder. ENOSYS means that folders are not opened, and that the names of a READDIR stay
 * cached.
 */
static int open_folder(struct inode *dir, struct opened *opened)
{
	struct call c = {.flags = O_RDONLY | O_DIRECTORY};
	int error = CALL(&c, opendir, dir->id, "");

	*opened = error ? (struct opened){.keep_cache = true, .cache_readdir = true} : c.opened;
	return error == ENOSYS ? 0 : error;
}

static int list_folder(struct dentry *d, const struct opened *opened,
		       void (*each)(void *, const char *, unsigned), void *closure)
{
	struct inode *dir = d->inode;
	int error = 0;

	if (!opened->keep_cache)
		free_names(dir);
	if (!opened->cache_readdir || !cached(dir)) {
		struct names *l = must(calloc(1, sizeof(*l)));

		l->version = dir->dir_version;
		error = read_folder(d, opened->handle, l);
		free_names(dir);
		l->mtime = dir->attr.st_mtim;
		dir->names = l;
	}
	if (!error)
		each_entry(dir, each, closure);
	if (error || !opened->cache_readdir)
		free_names(dir);
	return error;
}

static int try_list(const char *path, int flags, void (*each)(void *, const char *, unsigned),
		    void *closure)
{
	struct opened opened;
	struct dentry *d;
	int error = walk(path, flags, &d);

	if (error)
		return error;
	error = is_folder(d->inode) ? permission(d->inode) : ENOTDIR;
	if (!error)
		error = open_folder(d->inode, &opened);
	if (!error) {
		error = list_folder(d, &opened, each, closure);
		if (opened.handle)
			release(d->inode, opened.handle);
	}
	put_dentry(d);
	return error;
}

int k_list(const char *path, void (*each)(void *closure, const char *name, unsigned type),
	   void *closure)
{
	int error;

	RETRIED(error, try_list(path, reval, each, closure));
	return error;
}

/* ---- notifications ---- */

/* Begins a notification. Returns ENOENT if the mount has ended. */
static int begin_notification(void)
{
	sched_point("notify");
	return k.ended ? ENOENT : 0;
}

static int inval_node(void *unused, uint64_t node, bool pages)
{
	int error = begin_notification();
	struct inode *inode = error ? NULL : find_inode(node);

	(void)unused;
	if (!inode)
		return ENOENT;
	trace("invalidate %llu%s", (unsigned long long)node, pages ? " and its pages" : "");
	inode->attr_version = ++k.attr_version;
	invalidate_attr(inode);
	if (pages)
		drop_pages(inode, 0);
	return 0;
}

/* Returns the dentry of a folder, which has exactly one, even if its name was dropped. */
static struct dentry *alias_of(const struct inode *inode)
{
	for (struct dentry *d = k.dentries; d; d = d->next) {
		if (d->inode == inode)
			return d;
	}
	return NULL;
}

static int drop_entry(uint64_t folder, const char *name, bool expire)
{
	int error = begin_notification();
	struct inode *dir = error ? NULL : find_inode(folder);
	struct dentry *above, *d;

	if (!dir)
		return ENOENT;
	trace("%s %s in %llu", expire ? "expire" : "drop", name, (unsigned long long)folder);
	dir->refs++;
	lock_exclusive(&dir->lock, "a folder, to drop a name in it");
	above = alias_of(dir);
	d = above ? find_dentry(above, name) : NULL;
	if (d && !d->in_lookup) {
		d->refs++;
		if (expire) {
			d->until = 0;
		} else {
			dir_changed(dir);
			invalidate(d);
		}
		put_dentry(d);
	}
	error = d ? 0 : ENOENT;
	unlock(&dir->lock);
	put_inode(dir);
	return error;
}

static int inval_name(void *unused, uint64_t folder, const char *name)
{
	(void)unused;
	return drop_entry(folder, name, false);
}

static int expire_name(void *unused, uint64_t folder, const char *name)
{
	(void)unused;
	return k.expires ? drop_entry(folder, name, true) : ENOSYS;
}

/* Stores bytes in the cache: all whole pages, and the last page of the file. */
static int store(void *unused, uint64_t node, struct bytes text)
{
	int error = begin_notification();
	struct inode *inode = error ? NULL : find_inode(node);

	(void)unused;
	if (!inode)
		return ENOENT;
	trace("store %zu bytes of %llu", text.size, (unsigned long long)node);
	inode->refs++;
	if (text.size > size_of(inode))
		set_size(inode, text.size);
	for (size_t at = 0; at < text.size; at += PAGE) {
		struct page *page = page_of(inode, at / PAGE);
		size_t part = text.size - at < PAGE ? text.size - at : PAGE;

		wait_for_page(page);
		memcpy(page->data, text.data + at, part);
		if (part == PAGE || text.size == size_of(inode))
			page->valid = true;
	}
	put_inode(inode);
	return 0;
}

const struct kernel sim_kernel = {inval_node, inval_name, expire_name, store, NULL};

/* ---- begin and end ---- */

/* Starts a kernel that may lack features, as the seed chooses. */
void kernel_start(struct vfs *v)
{
	struct inode *root = must(calloc(1, sizeof(*root)));

	k.vfs = v;
	k.plus = !rnd_one_in(4);
	k.expires = !rnd_one_in(4);
	k.pressure = rnd_one_in(2) ? 4U << rnd_below(6) : 0;
	v->unopened_folders = v->watched && !rnd_one_in(3);
	root->id = NODE_ROOT;
	root->attr.st_mode = S_IFDIR;
	root->refs = 1;
	root->next = k.inodes;
	k.inodes = root;
	k.root = new_dentry(NULL, "");
	k.root->inode = root;
	k.root->until = NEVER;
	k.workers = 1 + rnd_below(WORKERS_MAX);
	for (unsigned i = 0; i < k.workers; i++) {
		char name[24];

		snprintf(name, sizeof(name), "worker%u", i + 1);
		sched_spawn(name, work, NULL, true);
	}
}

void kernel_shrink(void)
{
	struct dentry *d = find_unused(k.root, rnd_below(20));

	if (d)
		unhash(d);
}

void kernel_drop_caches(void)
{
	struct dentry *d;

	k.pressure = 0; /* names that are looked up from this point on stay cached */
	drop_names();
	/* Wait until the program has got all FORGETs. */
	while (!is_idle())
		sched_sleep(MS);
	for (d = k.dentries; d; d = d->next) {
		if (d != k.root)
			fail("the model still uses %s", d->name);
	}
	for (struct inode *i = k.inodes; i; i = i->next) {
		if (i != k.root->inode)
			fail("the model still uses %llu", (unsigned long long)i->id);
	}
}

static bool is_in(const uint64_t *list, size_t count, uint64_t id)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == id)
			return true;
	}
	return false;
}

/* Returns the numbers of all inodes, unsorted. The caller frees the list. */
static uint64_t *known_numbers(size_t *count)
{
	uint64_t *list = NULL;

	*count = 0;
	for (struct inode *i = k.inodes; i; i = i->next) {
		list = must(realloc(list, (*count + 1) * sizeof(*list)));
		list[(*count)++] = i->id;
	}
	return list;
}

static bool is_unknown(uint64_t id)
{
	struct call c = {.next = NULL};

	return CALL(&c, known, id, "") != 0;
}

/* Removes inodes that no longer exist from the list of those that the program asked to forget. */
static void ask_for_forgotten(void)
{
	size_t left = 0;

	for (size_t i = 0; i < k.forgotten_count; i++) {
		if (!is_in(k.forgotten, left, k.forgotten[i]) && !is_unknown(k.forgotten[i]))
			k.forgotten[left++] = k.forgotten[i];
	}
	k.forgotten_count = left;
}

void kernel_check_forgotten(void (*look_up_all)(void))
{
	size_t count;
	uint64_t *named;

	ask_for_forgotten();
	if (!k.forgotten_count)
		return;
	look_up_all();
	named = known_numbers(&count);
	kernel_drop_caches();
	ask_for_forgotten();
	for (size_t i = 0; i < k.forgotten_count; i++) {
		if (!is_in(named, count, k.forgotten[i]))
			fail("%llu is forgotten and has no name, and the program has it",
			     (unsigned long long)k.forgotten[i]);
	}
	free(named);
}

void kernel_unmount(void)
{
	while (!is_idle())
		sched_sleep(MS);
	k.ended = true;
	sched_wake(&k.first);
	while (k.workers)
		sched_wait(&k.workers, NEVER, "the last requests");
	unhash(k.root);
	k.root->refs = 0;
	free_dentry(k.root);
	free(k.forgotten);
}
