/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.c - the kernel's side of /dev/fuse, as Linux 6.x has it in fs/fuse and fs/namei.c.
 *
 * What it knows, and how long it believes it:
 *   names        until their timeout; then, and for what is about to be replaced (rename) or
 *                retried (ESTALE), they are looked up again. What has another number by then is
 *                dropped with all below it.
 *   attributes   until their timeout; GETATTR has no handle. An answer that was asked for before a
 *                later change of the inode is not believed (attr_version).
 *   pages        4096 bytes each, by inode, until they are invalidated: by an open without
 *                KEEP_CACHE, by another size or mtime (AUTO_INVAL_DATA), by a notification. A page
 *                that is being read or written is locked, and who drops it waits.
 *   folders      what a READDIR said, where the file system allows it.
 *
 * Locks: a folder's inode is held by all that looks up (shared), makes, removes, renames or
 * invalidates names in it; a file's by what writes it or takes its name. A notification is sent
 * from the program's own thread and waits for these locks there, as it does in the kernel.
 *
 * An inode that nothing uses any more is forgotten; its number must mean nothing then.
 *
 * Not modelled: links and symbolic links, extended attributes, mappings that are written, locks of
 * files, interrupts, writeback cache.
 */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#define PAGE 4096
#define MAX_WRITE (128 << 10)
#define FIRST_PID 5000000 /* above what any system has: nobody is found in /proc */

/* A lock that many may share. */
struct rwsem {
	int writer; /* a thread's number + 1 */
	unsigned readers;
};

struct listing {
	struct {
		char *name;
		unsigned type;
	} * entries;
	size_t count;
	uint64_t mtime, version;
	uint32_t mtimensec;
};

struct inode {
	struct inode *next;
	uint64_t id, generation, lookups;
	unsigned refs;
	struct fuse_attr attr;
	int64_t attr_until;
	uint64_t attr_version, dir_version;
	bool bad, dead;
	struct rwsem lock;
	struct page {
		bool valid, locked;
		char data[PAGE];
	} * *pages;
	size_t page_count;
	struct listing *listing;
};

struct dentry {
	struct dentry *next, *parent;
	char name[NAME_MAX + 1];
	struct inode *inode; /* NULL: there is no such thing */
	int64_t until;
	unsigned refs; /* children count */
	bool hashed, in_lookup;
};

struct kfile {
	struct inode *inode;
	struct dentry *dentry;
	uint64_t handle;
	uint32_t open_flags;
	int flags;
	int64_t at;
	bool no_handle;
};

struct request {
	struct request *next;
	uint64_t unique;
	uint32_t opcode;
	char *in;
	size_t size;
	bool answered;
	bool unheard;       /* nobody waits for the answer */
	struct inode *hold; /* until it is answered */
	int error;
	char *out;
	size_t out_size;
};

struct forget {
	struct forget *next;
	struct fuse_forget_one one;
};

static struct {
	bool mounted, ended;
	int device;
	struct request *first, **last; /* not read yet */
	struct request *processing;
	struct forget *forgets, **last_forget;
	uint64_t unique, attr_version;
	uint32_t flags;
	bool no_open, no_opendir, no_flush;
	struct inode *inodes;
	struct dentry *dentries, *root;
	struct rwsem rename_lock;
	uint64_t *forgotten;
	size_t forgotten_count;
} k = {.device = -1, .last = &k.first, .last_forget = &k.forgets};

static const char *opcode_name(uint32_t opcode)
{
	static const char *const names[] = {
		[FUSE_LOOKUP] = "LOOKUP",     [FUSE_FORGET] = "FORGET",
		[FUSE_GETATTR] = "GETATTR",   [FUSE_SETATTR] = "SETATTR",
		[FUSE_MKDIR] = "MKDIR",       [FUSE_UNLINK] = "UNLINK",
		[FUSE_RMDIR] = "RMDIR",       [FUSE_RENAME] = "RENAME",
		[FUSE_OPEN] = "OPEN",         [FUSE_READ] = "READ",
		[FUSE_WRITE] = "WRITE",       [FUSE_RELEASE] = "RELEASE",
		[FUSE_FSYNC] = "FSYNC",       [FUSE_FLUSH] = "FLUSH",
		[FUSE_INIT] = "INIT",         [FUSE_OPENDIR] = "OPENDIR",
		[FUSE_READDIR] = "READDIR",   [FUSE_RELEASEDIR] = "RELEASEDIR",
		[FUSE_CREATE] = "CREATE",     [FUSE_BATCH_FORGET] = "BATCH_FORGET",
		[FUSE_RENAME2] = "RENAME2",   [FUSE_READDIRPLUS] = "READDIRPLUS",
		[FUSE_FSYNCDIR] = "FSYNCDIR",
	};

	return opcode < sizeof(names) / sizeof(names[0]) && names[opcode] ? names[opcode] : "?";
}

static void *must(void *memory)
{
	if (!memory)
		fail("out of memory");
	return memory;
}

/* ---- locks ---- */

static void lock_exclusive(struct rwsem *l, const char *what)
{
	while (l->writer || l->readers)
		sched_wait(l, NEVER, what);
	l->writer = sched_thread() + 1;
}

static void lock_shared(struct rwsem *l, const char *what)
{
	while (l->writer)
		sched_wait(l, NEVER, what);
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

/* ---- the device ---- */

bool kernel_owns(int fd);
ssize_t kernel_reply(int fd, struct iovec *parts, int count, void *userdata);
ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);

bool kernel_owns(int fd)
{
	return k.device >= 0 && fd == k.device;
}

/* The descriptor is ready for whoever waits for it, and for as long as there is something. */
static void ring(void)
{
	const uint64_t one = 1;

	(void)!__real_write(k.device, &one, sizeof(one));
	sched_wake(&k.device);
}

static void hush(void)
{
	uint64_t count;

	if (!k.first && !k.forgets && !k.ended)
		(void)!__real_read(k.device, &count, sizeof(count));
}

static struct request *enqueue(uint32_t opcode, uint64_t node, const struct iovec *args, int count)
{
	struct request *r = must(calloc(1, sizeof(*r)));
	struct fuse_in_header *header;
	size_t at = sizeof(*header);

	for (int i = 0; i < count; i++)
		at += args[i].iov_len;
	r->in = must(malloc(at));
	r->size = at;
	r->opcode = opcode;
	r->unique = k.unique += 2;
	header = (void *)r->in;
	*header = (struct fuse_in_header){.len = (uint32_t)at,
					  .opcode = opcode,
					  .unique = r->unique,
					  .nodeid = node,
					  .uid = geteuid(),
					  .gid = getegid(),
					  .pid = (uint32_t)(FIRST_PID + sched_thread())};
	at = sizeof(*header);
	for (int i = 0; i < count; i++) {
		memcpy(r->in + at, args[i].iov_base, args[i].iov_len);
		at += args[i].iov_len;
	}
	*k.last = r;
	k.last = &r->next;
	trace("-> %llu %s of %llu%s%s", (unsigned long long)r->unique, opcode_name(opcode),
	      (unsigned long long)node, opcode == FUSE_LOOKUP || opcode == FUSE_UNLINK ? " " : "",
	      opcode == FUSE_LOOKUP || opcode == FUSE_UNLINK ? (char *)args[0].iov_base : "");
	ring();
	return r;
}

static void free_request(struct request *r)
{
	free(r->in);
	free(r->out);
	free(r);
}

/* Sends a request and waits; `size` bytes of the answer are copied. 0 or an errno. */
static int call_sized(uint32_t opcode, uint64_t node, const struct iovec *args, int count,
		      void *out, size_t room, size_t *size)
{
	struct request *r = enqueue(opcode, node, args, count);
	int error;

	while (!r->answered)
		sched_wait(r, NEVER, opcode_name(opcode));
	error = r->error;
	if (!error && r->out_size > room)
		fail("the answer to %s is too long", opcode_name(opcode));
	if (!error && r->out_size)
		memcpy(out, r->out, r->out_size);
	if (size)
		*size = error ? 0 : r->out_size;
	else if (!error && r->out_size != room)
		fail("the answer to %s has %zu bytes, not %zu", opcode_name(opcode), r->out_size,
		     room);
	free_request(r);
	return error;
}

static int call(uint32_t opcode, uint64_t node, const struct iovec *args, int count, void *out,
		size_t room)
{
	return call_sized(opcode, node, args, count, out, room, NULL);
}

#define ARG(object) ((struct iovec){&(object), sizeof(object)})
#define NAME(text) ((struct iovec){(void *)(uintptr_t)(text), strlen(text) + 1})
#define ARGS(...)                                                                                  \
	(const struct iovec[]){__VA_ARGS__},                                                       \
		sizeof((struct iovec[]){__VA_ARGS__}) / sizeof(struct iovec)

static void forget(uint64_t id, uint64_t lookups)
{
	struct forget *f = must(calloc(1, sizeof(*f)));

	f->one = (struct fuse_forget_one){id, lookups};
	*k.last_forget = f;
	k.last_forget = &f->next;
	ring();
}

static struct forget *take_forget(void)
{
	struct forget *f = k.forgets;

	k.forgets = f->next;
	if (!k.forgets)
		k.last_forget = &k.forgets;
	return f;
}

static ssize_t read_forget(char *data)
{
	struct fuse_in_header *header = (void *)data;
	struct fuse_forget_in one;
	struct forget *f = take_forget();

	trace("FORGET %llu", (unsigned long long)f->one.nodeid);
	*header = (struct fuse_in_header){.len = sizeof(*header) + sizeof(one),
					  .opcode = FUSE_FORGET,
					  .unique = k.unique += 2,
					  .nodeid = f->one.nodeid};
	one.nlookup = f->one.nlookup;
	memcpy(header + 1, &one, sizeof(one));
	free(f);
	return header->len;
}

static ssize_t read_forgets(char *data)
{
	struct fuse_in_header *header = (void *)data;
	struct fuse_batch_forget_in batch = {.count = 0};
	size_t at = sizeof(*header) + sizeof(batch);

	while (k.forgets && batch.count < 16) {
		struct forget *f = take_forget();

		trace("FORGET %llu", (unsigned long long)f->one.nodeid);
		memcpy(data + at, &f->one, sizeof(f->one));
		at += sizeof(f->one);
		batch.count++;
		free(f);
	}
	*header = (struct fuse_in_header){
		.len = (uint32_t)at, .opcode = FUSE_BATCH_FORGET, .unique = k.unique += 2};
	memcpy(header + 1, &batch, sizeof(batch));
	return (ssize_t)at;
}

static ssize_t device_read(int fd, void *data, size_t room, void *userdata)
{
	struct request *r;
	ssize_t size;

	(void)userdata;
	sched_point("read the device");
	while (!k.first && !k.forgets && !k.ended) {
		if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
			sched_pass(5000 + rnd_below(20000)); /* who spins is not faster for it */
			errno = EAGAIN;
			return -1;
		}
		sched_wait(&k.device, NEVER, "a request");
	}
	if (!k.first && !k.forgets) {
		errno = ENODEV;
		return -1;
	}
	if (k.forgets && (!k.first || rnd_one_in(4))) {
		size = k.forgets->next ? read_forgets(data) : read_forget(data);
		hush();
		return size;
	}
	r = k.first;
	if (r->size > room) {
		errno = EIO;
		return -1;
	}
	k.first = r->next;
	if (!k.first)
		k.last = &k.first;
	memcpy(data, r->in, r->size);
	size = (ssize_t)r->size;
	r->next = k.processing;
	k.processing = r;
	hush();
	return size;
}

static void put_inode(struct inode *inode);
static int notify(int code, const char *data, size_t size);

static ssize_t answer(const struct fuse_out_header *header, const char *data, size_t size)
{
	struct request **at = &k.processing, *r;

	while (*at && (*at)->unique != header->unique)
		at = &(*at)->next;
	r = *at;
	if (!r)
		fail("an answer to %llu, which was not asked or is answered already",
		     (unsigned long long)header->unique);
	if (header->error > 0 || header->error <= -512 || (header->error && size))
		fail("the answer %d to %s is none", header->error, opcode_name(r->opcode));
	*at = r->next;
	r->error = -header->error;
	trace("<- %llu %s: %s, %zu bytes", (unsigned long long)r->unique, opcode_name(r->opcode),
	      r->error ? strerrorname_np(r->error) : "fine", size);
	if (r->unheard) {
		if (r->hold)
			put_inode(r->hold);
		free_request(r);
		return 0;
	}
	r->out = must(malloc(size + 1));
	memcpy(r->out, data, size);
	r->out_size = size;
	r->answered = true;
	sched_wake(r);
	return 0;
}

/* All that the program writes: answers, and notifications (their number is 0). */
ssize_t kernel_reply(int fd, struct iovec *parts, int count, void *userdata)
{
	struct fuse_out_header *header;
	size_t size = 0;
	int error = 0;
	char *data;

	(void)fd;
	(void)userdata;
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	data = must(malloc(size + 1));
	size = 0;
	for (int i = 0; i < count; i++) {
		memcpy(data + size, parts[i].iov_base, parts[i].iov_len);
		size += parts[i].iov_len;
	}
	header = (void *)data;
	if (size < sizeof(*header) || header->len != size)
		fail("the program writes %zu bytes and says %u", size, header->len);
	sched_point(header->unique ? "answer" : "notify");
	if (k.ended)
		error = ENOENT;
	else if (header->unique)
		answer(header, data + sizeof(*header), size - sizeof(*header));
	else
		error = notify(header->error, data + sizeof(*header), size - sizeof(*header));
	free(data);
	if (!error)
		return (ssize_t)size;
	errno = error;
	return -1;
}

/* ---- inodes ---- */

static int64_t until(uint64_t seconds, uint32_t ns)
{
	return seconds > 1000000 ? NEVER : sched_now() + (int64_t)seconds * SECOND + (int64_t)ns;
}

static bool is_folder(const struct inode *inode)
{
	return S_ISDIR(inode->attr.mode);
}

static void free_listing(struct inode *inode)
{
	struct listing *l = inode->listing;

	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free(l->entries[i].name);
	free(l->entries);
	free(l);
	inode->listing = NULL;
}

static void wait_for_page(const struct page *page)
{
	while (page->locked)
		sched_wait(page, NEVER, "a page that is locked");
}

/* Pages from this one on; those that are being read are waited for. */
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
		free_listing(inode);
	put_inode(inode);
}

static void truncate_pages(struct inode *inode, uint64_t size)
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
	if (inode->id != FUSE_ROOT_ID && inode->lookups) {
		note_forgotten(inode->id);
		forget(inode->id, inode->lookups);
	}
	free_listing(inode);
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

static void set_attr(struct inode *inode, const struct fuse_attr *attr, int64_t valid)
{
	inode->attr_version = ++k.attr_version;
	inode->attr = *attr;
	inode->attr_until = valid;
}

/* asked: the version when the request was sent. */
static void change_attr(struct inode *inode, const struct fuse_attr *attr, int64_t valid,
			uint64_t asked)
{
	struct fuse_attr old = inode->attr;

	if (asked && inode->attr_version > asked) {
		invalidate_attr(inode);
		return;
	}
	set_attr(inode, attr, valid);
	if (!S_ISREG(attr->mode))
		return;
	if (old.size != attr->size) {
		truncate_pages(inode, attr->size);
		if (k.flags & FUSE_AUTO_INVAL_DATA)
			drop_pages(inode, 0);
	} else if ((k.flags & FUSE_AUTO_INVAL_DATA) &&
		   (old.mtime != attr->mtime || old.mtimensec != attr->mtimensec)) {
		drop_pages(inode, 0);
	}
}

static bool is_stale(const struct inode *inode, uint64_t generation, const struct fuse_attr *attr)
{
	return inode->generation != generation ||
	       (inode->attr.mode & S_IFMT) != (attr->mode & S_IFMT);
}

/* The inode of an answer, referenced. */
static struct inode *get_inode(const struct fuse_entry_out *entry, uint64_t asked)
{
	struct inode *inode = find_inode(entry->nodeid);

	if (inode && is_stale(inode, entry->generation, &entry->attr)) {
		inode->bad = true;
		inode = NULL;
	}
	if (!inode) {
		inode = must(calloc(1, sizeof(*inode)));
		inode->id = entry->nodeid;
		inode->generation = entry->generation;
		inode->attr = entry->attr;
		inode->next = k.inodes;
		k.inodes = inode;
	}
	inode->refs++;
	inode->lookups++;
	change_attr(inode, &entry->attr, until(entry->attr_valid, entry->attr_valid_nsec), asked);
	return inode;
}

static int get_attr(struct inode *inode)
{
	struct fuse_getattr_in in = {.getattr_flags = 0};
	struct fuse_attr_out out;
	uint64_t asked = k.attr_version;
	int error = call(FUSE_GETATTR, inode->id, ARGS(ARG(in)), &out, sizeof(out));

	if (error)
		return error;
	if ((out.attr.mode & S_IFMT) != (inode->attr.mode & S_IFMT)) {
		inode->bad = true;
		return EIO;
	}
	change_attr(inode, &out.attr, until(out.attr_valid, out.attr_valid_nsec), asked);
	return 0;
}

static int update_attr(struct inode *inode)
{
	if (inode->bad)
		return EIO;
	return inode->attr_until > sched_now() ? 0 : get_attr(inode);
}

/* Modes are looked at (default_permissions); whoever runs this may do all that they allow. */
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

/* One that nobody uses and that has nothing below it. */
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

/* With all below it that nobody uses. */
static void invalidate(struct dentry *d)
{
	struct dentry *unused;

	d->refs++;
	while ((unused = find_unused(d, 0)))
		unhash(unused);
	d->hashed = false;
	put_dentry(d);
}

enum { REVAL = 1, EXCLUSIVE = 2, TARGET = 4 };

static int send_lookup(const struct dentry *parent, const char *name, struct fuse_entry_out *out)
{
	return call(FUSE_LOOKUP, parent->inode->id, ARGS(NAME(name)), out, sizeof(*out));
}

/* 1: the name is what it was; 0: it is not; or a negated errno. */
static int revalidate(struct dentry *d, int flags)
{
	struct fuse_entry_out entry;
	uint64_t asked = k.attr_version;
	int error;

	if (d->inode && d->inode->bad)
		return 0;
	if (d->until > sched_now() && !(flags & (REVAL | EXCLUSIVE | TARGET)))
		return 1;
	if (!d->inode)
		return 0;
	error = send_lookup(d->parent, d->name, &entry);
	if (error == ENOMEM || error == EINTR)
		return -error;
	if (error || !entry.nodeid)
		return 0;
	if (entry.nodeid != d->inode->id) {
		forget(entry.nodeid, 1);
		return 0;
	}
	d->inode->lookups++;
	if (is_stale(d->inode, entry.generation, &entry.attr))
		return 0;
	change_attr(d->inode, &entry.attr, until(entry.attr_valid, entry.attr_valid_nsec), asked);
	d->until = until(entry.entry_valid, entry.entry_valid_nsec);
	return 1;
}

/* A folder that has another name already is moved: it has one. */
static struct dentry *give_inode(struct dentry *d, struct inode *inode)
{
	struct dentry *alias = NULL;

	for (struct dentry *at = k.dentries; at && is_folder(inode); at = at->next) {
		if (at != d && at->hashed && at->inode == inode)
			alias = at;
	}
	if (!alias) {
		d->inode = inode;
		return d;
	}
	for (const struct dentry *up = d->parent; up; up = up->parent) {
		if (up == alias)
			return NULL; /* it would be below itself */
	}
	put_inode(inode);
	alias->refs++;
	d->parent->refs++;
	put_dentry(alias->parent);
	alias->parent = d->parent;
	snprintf(alias->name, sizeof(alias->name), "%s", d->name);
	d->hashed = false;
	return alias;
}

static int look_up_new(struct dentry *d, struct dentry **out)
{
	struct fuse_entry_out entry = {.nodeid = 0};
	uint64_t asked = k.attr_version;
	struct dentry *result = d;
	int error;

	d->in_lookup = true;
	error = send_lookup(d->parent, d->name, &entry);
	if (!error && entry.nodeid) {
		result = give_inode(d, get_inode(&entry, asked));
		error = result ? 0 : ELOOP;
	}
	if (!error)
		result->until = until(entry.entry_valid, entry.entry_valid_nsec);
	if (error == ENOENT)
		error = 0; /* known not to be there, for no time at all */
	d->in_lookup = false;
	sched_wake(d);
	if (error)
		d->hashed = false;
	if (error || result != d)
		put_dentry(d);
	*out = error ? NULL : result;
	return error;
}

/* What a name in a folder is, referenced; its inode is NULL if there is none. */
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
				sched_wait(d, NEVER, "a lookup");
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

/* The folder that the last name of a path is in, referenced, and that name. */
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

/* What ESTALE is the end of is tried once more, with every name looked up again. */
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

static void fill_stat(const struct fuse_attr *a, struct stat *st)
{
	*st = (struct stat){.st_ino = a->ino,
			    .st_mode = a->mode,
			    .st_nlink = a->nlink,
			    .st_size = (off_t)a->size,
			    .st_mtim = {(time_t)a->mtime, a->mtimensec},
			    .st_ctim = {(time_t)a->ctime, a->ctimensec}};
}

static int try_stat(const char *path, int flags, struct stat *st)
{
	struct dentry *d;
	int error = walk(path, flags, &d);

	if (error)
		return error;
	error = update_attr(d->inode);
	if (!error)
		fill_stat(&d->inode->attr, st);
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
	int error = update_attr(file->inode);

	if (!error)
		fill_stat(&file->inode->attr, st);
	return error;
}

/* ---- opening and closing ---- */

static void finish_open(struct kfile *f, bool truncated)
{
	struct inode *inode = f->inode;

	if (truncated) {
		inode->attr_version = ++k.attr_version;
		inode->attr.size = 0;
		invalidate_attr(inode);
		drop_pages(inode, 0);
	} else if (!(f->open_flags & (FOPEN_KEEP_CACHE | FOPEN_DIRECT_IO))) {
		drop_pages(inode, 0);
	}
}

static struct kfile *new_file(struct dentry *d, int flags, const struct fuse_open_out *out)
{
	struct kfile *f = must(calloc(1, sizeof(*f)));

	d->refs++;
	d->inode->refs++;
	f->dentry = d;
	f->inode = d->inode;
	f->flags = flags;
	f->handle = out->fh;
	f->open_flags = out->open_flags;
	return f;
}

static int send_open(struct dentry *d, int flags, struct kfile **file)
{
	struct fuse_open_in in = {.flags = (uint32_t)(flags & ~(O_CREAT | O_EXCL | O_NOCTTY)) |
					   O_LARGEFILE};
	struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE};
	struct inode *inode = d->inode;
	int error = 0;

	if (!k.no_open)
		error = call(FUSE_OPEN, inode->id, ARGS(ARG(in)), &out, sizeof(out));
	if (error == ENOSYS) {
		k.no_open = true;
		error = 0;
	}
	if (error)
		return error;
	*file = new_file(d, flags, &out);
	(*file)->no_handle = k.no_open;
	finish_open(*file, flags & O_TRUNC);
	return 0;
}

static int send_create(struct dentry *d, int flags, mode_t mode, struct kfile **file)
{
	struct fuse_create_in in = {.flags = (uint32_t)(flags & ~O_NOCTTY) | O_LARGEFILE,
				    .mode = S_IFREG | mode,
				    .umask = 022};
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out;
	struct inode *dir = d->parent->inode;
	uint64_t asked = k.attr_version;
	int error = call(FUSE_CREATE, dir->id, ARGS(ARG(in), NAME(d->name)), &out, sizeof(out));

	if (error)
		return error;
	if (!S_ISREG(out.entry.attr.mode) || !out.entry.nodeid)
		fail("CREATE made something else");
	d->inode = get_inode(&out.entry, asked);
	d->until = until(out.entry.entry_valid, out.entry.entry_valid_nsec);
	dir_changed(dir);
	*file = new_file(d, flags, &out.open);
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
	struct fuse_flush_in in = {.fh = f->handle, .lock_owner = 1};
	int error = 0;

	if (!k.no_flush && !(f->open_flags & FOPEN_NOFLUSH) && !f->no_handle)
		error = call(FUSE_FLUSH, f->inode->id, ARGS(ARG(in)), NULL, 0);
	if (error == ENOSYS) {
		k.no_flush = true;
		error = 0;
	}
	invalidate_attr(f->inode);
	return error;
}

int k_close(struct kfile *f)
{
	struct fuse_release_in in = {.fh = f->handle, .flags = (uint32_t)f->flags | O_LARGEFILE};
	int error = flush(f);

	if (!f->no_handle) {
		struct request *r = enqueue(FUSE_RELEASE, f->inode->id, ARGS(ARG(in)));

		r->unheard = true;
		r->hold = f->inode;
		f->inode->refs++;
	}
	put_inode(f->inode);
	put_dentry(f->dentry);
	free(f);
	return error;
}

/* ---- reading ---- */

static int send_read(struct kfile *f, uint64_t offset, size_t size, char *out, size_t *got)
{
	struct fuse_read_in in = {.fh = f->handle,
				  .offset = offset,
				  .size = (uint32_t)size,
				  .flags = (uint32_t)f->flags | O_LARGEFILE};

	return call_sized(FUSE_READ, f->inode->id, ARGS(ARG(in)), out, size, got);
}

/* Reads pages into the cache, locked meanwhile. Only those that are not there. */
static int read_pages(struct kfile *f, size_t first, size_t count)
{
	struct inode *inode = f->inode;
	uint64_t asked = k.attr_version, size = inode->attr.size;
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
	/* A short one tells where the file ends. */
	if (!error && got < count * PAGE && inode->attr_version <= asked &&
	    inode->attr.size == size && first * PAGE + got < size) {
		trace("short read: %llu ends at %zu, not %llu", (unsigned long long)inode->id,
		      first * PAGE + got, (unsigned long long)size);
		inode->attr_version = ++k.attr_version;
		inode->attr.size = first * PAGE + got;
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

/* The page is valid when this returns 0, until the next step. */
static int fill_page(struct kfile *f, size_t index)
{
	int error = 0;

	for (unsigned tries = 0;; tries++) {
		struct page *page = page_of(f->inode, index);
		uint64_t pages = (f->inode->attr.size + PAGE - 1) / PAGE;
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
	int error = 0;

	if ((k.flags & FUSE_AUTO_INVAL_DATA) || (uint64_t)f->at + size > inode->attr.size)
		error = update_attr(inode);
	while (!error && done < size && (uint64_t)f->at < inode->attr.size) {
		size_t offset = (size_t)f->at % PAGE, part = PAGE - offset;

		error = fill_page(f, (size_t)f->at / PAGE);
		if (error || (uint64_t)f->at >= inode->attr.size)
			break;
		if (part > size - done)
			part = size - done;
		if (part > inode->attr.size - (uint64_t)f->at)
			part = inode->attr.size - (uint64_t)f->at;
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
	if (!(f->open_flags & FOPEN_DIRECT_IO))
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

		if (at / PAGE >= (inode->attr.size + PAGE - 1) / PAGE || inode->bad)
			return -EFAULT; /* SIGBUS */
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

/* Pages are filled before they are sent, and stay if they were known as a whole. */
static long write_part(struct kfile *f, uint64_t at, const char *data, size_t size)
{
	struct fuse_write_in in = {.fh = f->handle,
				   .offset = at,
				   .size = (uint32_t)size,
				   .flags = (uint32_t)f->flags | O_LARGEFILE};
	struct inode *inode = f->inode;
	size_t first = at / PAGE, last = (at + size - 1) / PAGE;
	struct fuse_write_out out = {.size = 0};
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
	error = call(FUSE_WRITE, inode->id,
		     ARGS(ARG(in), ((struct iovec){(void *)(uintptr_t)data, size})), &out,
		     sizeof(out));
	if (!error && out.size > size)
		fail("WRITE of %zu bytes wrote %u", size, out.size);
	inode->attr_version = ++k.attr_version;
	if (!error && at + out.size > inode->attr.size)
		inode->attr.size = at + out.size;
	invalidate_attr(inode);
	for (size_t i = first; i <= last; i++) {
		if (error || out.size < size)
			inode->pages[i]->valid = false;
		inode->pages[i]->locked = false;
		sched_wake(inode->pages[i]);
	}
	return error ? -error : (long)out.size;
}

long k_write(struct kfile *f, const void *data, size_t size)
{
	size_t done = 0;
	long got = 0;

	lock_exclusive(&f->inode->lock, "a file, to write it");
	if (f->flags & O_APPEND)
		f->at = (int64_t)f->inode->attr.size;
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

int k_seek(struct kfile *f, int64_t offset)
{
	f->at = offset;
	return 0;
}

int k_truncate(struct kfile *f, int64_t size)
{
	struct fuse_setattr_in in = {
		.valid = FATTR_SIZE | FATTR_FH, .fh = f->handle, .size = (uint64_t)size};
	struct inode *inode = f->inode;
	struct fuse_attr_out out;
	uint64_t old;
	int error;

	lock_exclusive(&inode->lock, "a file, to cut it");
	error = call(FUSE_SETATTR, inode->id, ARGS(ARG(in)), &out, sizeof(out));
	if (!error) {
		old = inode->attr.size;
		set_attr(inode, &out.attr, until(out.attr_valid, out.attr_valid_nsec));
		if (old != out.attr.size)
			truncate_pages(inode, out.attr.size < old ? out.attr.size : old);
	}
	unlock(&inode->lock);
	return error;
}

int k_fsync(struct kfile *f)
{
	struct fuse_fsync_in in = {.fh = f->handle};
	int error;

	lock_exclusive(&f->inode->lock, "a file, to sync it");
	error = call(FUSE_FSYNC, f->inode->id, ARGS(ARG(in)), NULL, 0);
	unlock(&f->inode->lock);
	return error == ENOSYS ? 0 : error;
}

/* ---- removing and moving ---- */

static void entry_gone(struct dentry *d)
{
	struct inode *inode = d->inode;

	inode->attr_version = ++k.attr_version;
	if (is_folder(inode))
		inode->attr.nlink = 0;
	else if (inode->attr.nlink)
		inode->attr.nlink--;
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

		lock_exclusive(&inode->lock, "what is removed");
		error = call(folder ? FUSE_RMDIR : FUSE_UNLINK, parent->inode->id, ARGS(NAME(name)),
			     NULL, 0);
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
	struct fuse_mkdir_in in = {.mode = S_IFDIR | mode, .umask = 022};
	struct fuse_entry_out entry;
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
		error = call(FUSE_MKDIR, parent->inode->id, ARGS(ARG(in), NAME(name)), &entry,
			     sizeof(entry));
	if (!error) {
		made = give_inode(d, get_inode(&entry, asked));
		if (!made)
			fail("MKDIR made a folder that is above itself");
		made->until = until(entry.entry_valid, entry.entry_valid_nsec);
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
	struct fuse_rename2_in with_flags = {.newdir = to->parent->inode->id, .flags = flags};
	struct fuse_rename_in in = {.newdir = to->parent->inode->id};
	uint64_t dir = from->parent->inode->id;

	trace("rename %s to %s", from->name, to->name);
	if (flags)
		return call(FUSE_RENAME2, dir,
			    ARGS(ARG(with_flags), NAME(from->name), NAME(to->name)), NULL, 0);
	return call(FUSE_RENAME, dir, ARGS(ARG(in), NAME(from->name), NAME(to->name)), NULL, 0);
}

/* Both names looked up, both folders locked. */
static int rename_found(struct dentry *from, struct dentry *to, unsigned flags)
{
	struct inode *source = from->inode, *target = to->inode;
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
	lock_exclusive(&source->lock, "what is renamed");
	if (target)
		lock_exclusive(&target->lock, "what is replaced");
	error = send_rename(from, to, flags);
	if (target)
		unlock(&target->lock);
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

static void link_plus(struct dentry *parent, const struct fuse_entry_out *entry, const char *name,
		      uint64_t asked)
{
	struct dentry *d, *made;

	if (!entry->nodeid)
		return;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		fail("READDIRPLUS counts a lookup of %s", name);
	d = find_dentry(parent, name);
	if (d && d->in_lookup) {
		/* The kernel waits for that lookup, and uses what it found. */
		d->refs++;
		while (d->in_lookup)
			sched_wait(d, NEVER, "a lookup");
		put_dentry(d);
		d = find_dentry(parent, name);
	}
	if (d && d->inode && d->inode->id == entry->nodeid && !d->inode->bad &&
	    !is_stale(d->inode, entry->generation, &entry->attr)) {
		d->inode->lookups++;
		change_attr(d->inode, &entry->attr,
			    until(entry->attr_valid, entry->attr_valid_nsec), asked);
		d->until = until(entry->entry_valid, entry->entry_valid_nsec);
		return;
	}
	if (d)
		invalidate(d);
	d = new_dentry(parent, name);
	made = give_inode(d, get_inode(entry, asked));
	if (made)
		made->until = until(entry->entry_valid, entry->entry_valid_nsec);
	else
		d->hashed = false;
	if (made && made != d)
		put_dentry(made);
	put_dentry(d);
}

static void add_entry(struct listing *l, const char *name, unsigned type)
{
	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(l->entries[i].name, name) == 0)
			fail("%s is twice in a folder", name);
	}
	l->entries = must(realloc(l->entries, (l->count + 1) * sizeof(l->entries[0])));
	l->entries[l->count].name = must(strdup(name));
	l->entries[l->count++].type = type;
}

/* One answer's entries; the offset after the last. */
static uint64_t add_entries(struct dentry *dir, struct listing *l, const char *data, size_t size,
			    bool plus, uint64_t asked)
{
	uint64_t offset = 0;

	while (size) {
		const struct fuse_entry_out *entry = plus ? (const void *)data : NULL;
		const struct fuse_dirent *d = (const void *)(data + (plus ? sizeof(*entry) : 0));
		size_t length = plus ? FUSE_DIRENTPLUS_SIZE((const struct fuse_direntplus *)data)
				     : FUSE_DIRENT_SIZE(d);
		char name[NAME_MAX + 1];

		if (length > size || d->namelen > NAME_MAX || !d->namelen)
			fail("an entry of a folder is cut off");
		snprintf(name, sizeof(name), "%.*s", (int)d->namelen, d->name);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			add_entry(l, name, d->type);
		if (entry)
			link_plus(dir, entry, name, asked);
		offset = d->off;
		data += length;
		size -= length;
	}
	return offset;
}

static int read_folder(struct dentry *dir, uint64_t handle, struct listing *l)
{
	uint64_t offset = 0;
	bool plus = (k.flags & FUSE_DO_READDIRPLUS) && !rnd_one_in(3);
	size_t size = 1;
	int error = 0;

	while (!error && size) {
		struct fuse_read_in in = {
			.fh = handle, .offset = offset, .size = PAGE, .flags = O_LARGEFILE};
		_Alignas(8) char data[PAGE];
		uint64_t asked = k.attr_version;

		lock_shared(&dir->inode->lock, "a folder, to read it");
		error = call_sized(plus ? FUSE_READDIRPLUS : FUSE_READDIR, dir->inode->id,
				   ARGS(ARG(in)), data, sizeof(data), &size);
		if (!error && size)
			offset = add_entries(dir, l, data, size, plus, asked);
		unlock(&dir->inode->lock);
	}
	return error;
}

/* The names that the kernel has, if it may still believe them. */
static struct listing *cached(struct inode *dir)
{
	struct listing *l;

	if (!dir->listing || ((k.flags & FUSE_AUTO_INVAL_DATA) && update_attr(dir) != 0))
		return NULL;
	l = dir->listing;
	if (l && (l->version != dir->dir_version || l->mtime != dir->attr.mtime ||
		  l->mtimensec != dir->attr.mtimensec)) {
		free_listing(dir);
		l = NULL;
	}
	return l;
}

static void each_entry(struct inode *dir, void (*each)(void *, const char *, unsigned),
		       void *closure)
{
	struct listing *l = dir->listing;
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

static int try_list(const char *path, int flags, void (*each)(void *, const char *, unsigned),
		    void *closure)
{
	struct fuse_open_in in = {.flags = O_RDONLY | O_DIRECTORY | O_LARGEFILE};
	struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR};
	struct fuse_release_in release = {.fh = 0};
	struct listing *l;
	struct dentry *d;
	struct inode *dir;
	bool opened;
	int error = walk(path, flags, &d);

	if (error)
		return error;
	dir = d->inode;
	if (!is_folder(dir))
		error = ENOTDIR;
	if (!error)
		error = permission(dir);
	if (!error && !k.no_opendir)
		error = call(FUSE_OPENDIR, dir->id, ARGS(ARG(in)), &out, sizeof(out));
	if (error == ENOSYS) {
		k.no_opendir = true;
		error = 0;
	}
	if (error) {
		put_dentry(d);
		return error;
	}
	opened = !k.no_opendir;
	if (opened && !(out.open_flags & FOPEN_KEEP_CACHE))
		free_listing(dir);
	if (!(out.open_flags & FOPEN_CACHE_DIR) || !cached(dir)) {
		uint64_t version = dir->dir_version;

		l = must(calloc(1, sizeof(*l)));
		error = read_folder(d, out.fh, l);
		free_listing(dir);
		l->version = version;
		l->mtime = dir->attr.mtime;
		l->mtimensec = dir->attr.mtimensec;
		dir->listing = l;
	}
	dir->refs++;
	if (!error)
		each_entry(dir, each, closure);
	if (error || !(out.open_flags & FOPEN_CACHE_DIR))
		free_listing(dir);
	put_inode(dir);
	release.fh = out.fh;
	if (opened) {
		struct request *r = enqueue(FUSE_RELEASEDIR, dir->id, ARGS(ARG(release)));

		r->unheard = true;
		r->hold = dir;
		dir->refs++;
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

static int inval_inode(const struct fuse_notify_inval_inode_out *in)
{
	struct inode *inode = find_inode(in->ino);

	if (!inode)
		return ENOENT;
	trace("invalidate %llu%s", (unsigned long long)in->ino,
	      in->off < 0 ? "" : " and its pages");
	inode->attr_version = ++k.attr_version;
	invalidate_attr(inode);
	if (in->off >= 0)
		drop_pages(inode, (size_t)in->off / PAGE);
	return 0;
}

static struct dentry *alias_of(const struct inode *inode)
{
	for (struct dentry *d = k.dentries; d; d = d->next) {
		if (d->inode == inode && d->hashed)
			return d;
	}
	return NULL;
}

static int drop_entry(uint64_t parent, uint64_t child, const char *name, bool expire)
{
	struct inode *dir = find_inode(parent), *inode;
	struct dentry *above, *d;
	int error = ENOENT;

	if (!dir)
		return ENOENT;
	trace("%s %s in %llu", expire ? "expire" : "drop", name, (unsigned long long)parent);
	dir->refs++;
	lock_exclusive(&dir->lock, "a folder, to drop a name in it");
	above = alias_of(dir);
	d = above ? find_dentry(above, name) : NULL;
	if (d && !d->in_lookup) {
		d->refs++;
		inode = d->inode;
		error = 0;
		if (expire) {
			d->until = 0;
		} else {
			dir_changed(dir);
			invalidate(d);
			if (child && inode && inode->id == child)
				inode->attr.nlink = 0;
		}
		put_dentry(d);
	}
	unlock(&dir->lock);
	put_inode(dir);
	return error;
}

/* Bytes that the program gives: whole pages become known. */
static int store(const struct fuse_notify_store_out *out, const char *data, size_t size)
{
	struct inode *inode = find_inode(out->nodeid);
	uint64_t end = out->offset + out->size;

	if (!inode)
		return ENOENT;
	if (out->size != size)
		return EINVAL;
	inode->refs++;
	if (end > inode->attr.size) {
		inode->attr_version = ++k.attr_version;
		inode->attr.size = end;
	}
	for (uint64_t at = out->offset; at < end;) {
		struct page *page = page_of(inode, at / PAGE);
		uint64_t part = PAGE - at % PAGE;

		if (part > end - at)
			part = end - at;
		wait_for_page(page);
		memcpy(page->data + at % PAGE, data + (at - out->offset), part);
		if (at % PAGE == 0 && (part == PAGE || end == inode->attr.size))
			page->valid = true;
		at += part;
	}
	put_inode(inode);
	return 0;
}

static int notify(int code, const char *data, size_t size)
{
	const struct fuse_notify_inval_entry_out *entry = (const void *)data;
	const struct fuse_notify_delete_out *gone = (const void *)data;
	const struct fuse_notify_store_out *stored = (const void *)data;

	switch (code) {
	case FUSE_NOTIFY_INVAL_INODE:
		return inval_inode((const void *)data);
	case FUSE_NOTIFY_INVAL_ENTRY:
		return drop_entry(entry->parent, 0, data + sizeof(*entry),
				  entry->flags & FUSE_EXPIRE_ONLY);
	case FUSE_NOTIFY_DELETE:
		return drop_entry(gone->parent, gone->child, data + sizeof(*gone), false);
	case FUSE_NOTIFY_STORE:
		return store(stored, data + sizeof(*stored), size - sizeof(*stored));
	default:
		fail("notification %d", code);
	}
}

/* ---- begin and end ---- */

static const struct fuse_custom_io device_io = {.read = device_read, .writev = kernel_reply};

int __real_fuse_session_custom_io(struct fuse_session *session, const struct fuse_custom_io *io,
				  int fd);
int __wrap_fuse_session_custom_io(struct fuse_session *session, const struct fuse_custom_io *io,
				  int fd);

/* The program's own, by which it adds a flag to an answer (mount.c), is for a real device. */
int __wrap_fuse_session_custom_io(struct fuse_session *session, const struct fuse_custom_io *io,
				  int fd)
{
	(void)session;
	(void)io;
	(void)fd;
	return 0;
}

int __wrap_fuse_session_mount(struct fuse_session *session, const char *mountpoint);
int __wrap_fuse_session_mount(struct fuse_session *session, const char *mountpoint)
{
	(void)mountpoint;
	k.device = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* As open("/dev/fuse") leaves it; the program may change that. */
	fcntl(k.device, F_SETFL, fcntl(k.device, F_GETFL) & ~O_NONBLOCK);
	if (k.device < 0 || __real_fuse_session_custom_io(session, &device_io, k.device) != 0)
		fail("no device");
	k.mounted = true;
	sched_wake(&k.mounted);
	return 0;
}

bool kernel_is_mounted(void)
{
	return k.mounted;
}

/* A mount of a kernel without one feature or another. */
static uint32_t offered(void)
{
	uint32_t flags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_EXPORT_SUPPORT |
			 FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_AUTO_INVAL_DATA |
			 FUSE_PARALLEL_DIROPS | FUSE_POSIX_ACL | FUSE_MAX_PAGES | FUSE_INIT_EXT |
			 FUSE_NO_OPEN_SUPPORT;

	if (!rnd_one_in(4))
		flags |= FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO;
	if (!rnd_one_in(3))
		flags |= FUSE_NO_OPENDIR_SUPPORT;
	return flags;
}

void kernel_start(void)
{
	struct fuse_init_in in = {.major = FUSE_KERNEL_VERSION,
				  .minor = FUSE_KERNEL_MINOR_VERSION,
				  .max_readahead = 128 << 10,
				  .flags = offered(),
				  .flags2 = rnd_one_in(4) ? 0 : FUSE_HAS_EXPIRE_ONLY >> 32};
	struct fuse_init_out out;
	struct inode *root = must(calloc(1, sizeof(*root)));
	int error;

	while (!k.mounted)
		sched_wait(&k.mounted, NEVER, "the mount");
	error = call(FUSE_INIT, 0, ARGS(ARG(in)), &out, sizeof(out));
	if (error || out.major != FUSE_KERNEL_VERSION)
		fail("INIT: %s", strerror(error));
	k.flags = out.flags;
	root->id = FUSE_ROOT_ID;
	root->attr.mode = S_IFDIR;
	root->refs = 1;
	root->next = k.inodes;
	k.inodes = root;
	k.root = new_dentry(NULL, "");
	k.root->inode = root;
	k.root->until = NEVER;
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

	while ((d = find_unused(k.root, 0)))
		unhash(d);
	/* What was forgotten reaches the program. */
	while (k.first || k.forgets || k.processing)
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

/* Sorted by nothing; the caller frees it. */
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
	struct fuse_entry_out entry;
	int error = call(FUSE_LOOKUP, id, ARGS(NAME(".")), &entry, sizeof(entry));

	if (!error)
		forget(entry.nodeid, 1);
	else if (error != ESTALE && error != ENOENT)
		fail("LOOKUP of . in %llu: %s", (unsigned long long)id, strerrorname_np(error));
	return error;
}

/* Those that are no more are taken off the list. */
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
	while (k.first || k.forgets || k.processing)
		sched_sleep(MS);
	k.ended = true;
	ring();
	unhash(k.root);
	k.root->refs = 0;
	free_dentry(k.root);
	free(k.forgotten);
}
