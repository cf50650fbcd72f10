/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "archives.h"

#include "beside.h"
#include "disk/dirfd.h"
#include "member.h"
#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * the share of the cache that an open file is charged: so at most this many unused archives stay
 * open
 */
#define DESCRIPTORS_KEPT 256
#define UNPACKERS 8

struct catalog {
	struct cached cached; /* the first member */
	struct store *store;
	uint64_t generation;
	struct archive *archive;
	struct contents *contents;
	int fd; /* descriptor of the archive file; -1: this archive is a member of another */
	struct stat st;
	unsigned depth;
	struct buf bytes;      /* bytes of an archive that is packed in another */
	struct catalog *outer; /* archive that contains this one, referenced; NULL: it is a file */
	uint32_t entry;        /* entry of this archive in `outer` */
	/*
	 * By member: home of its unpacked bytes. A member is unpacked under one of the locks
	 * `unpacking`, chosen by its number, so that parallel readers unpack it once.
	 */
	struct cached **homes;
	_Atomic bool *refused; /* by member: whether it is an archive that cannot be entered */
	struct lock unpacking[UNPACKERS];
};

struct unpacked {
	struct cached cached; /* the first member */
	struct buf bytes;
};

/* ---- opening ---- */

static void catalog_free(struct cached *cached)
{
	struct catalog *o = (struct catalog *)cached;

	for (uint32_t i = 0; o->homes && i < o->archive->count; i++)
		cache_settle(store_cache(o->store), &o->homes[i], NULL);
	for (size_t i = 0; i < UNPACKERS; i++)
		lock_destroy(&o->unpacking[i]);
	free(o->homes);
	free(o->refused);
	contents_free(o->contents);
	archive_close(o->archive);
	buf_release(&o->bytes);
	if (o->fd >= 0)
		close(o->fd);
	catalog_put(o->outer);
	free(o);
}

static struct catalog *catalog_new(struct store *store, int fd)
{
	static _Atomic uint64_t generations;
	struct catalog *o = calloc(1, sizeof(*o));

	if (!o) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	o->cached.references = 1;
	o->cached.free = catalog_free;
	o->store = store;
	o->generation = ++generations;
	o->fd = fd;
	for (size_t i = 0; i < UNPACKERS; i++)
		lock_init(&o->unpacking[i]);
	return o;
}

static size_t archives_size_of(const struct catalog *o)
{
	const struct contents *c = o->contents;
	size_t size = sizeof(*o) + o->archive->arena.total + c->arena.total +
		      c->room * sizeof(*c->entries) + o->archive->count * (sizeof(*o->homes) + 1) +
		      (c->labels.mask + c->stored.mask) * sizeof(*c->labels.slots) +
		      o->bytes.capacity;

	return o->fd < 0 ? size : size + cache_limit(store_cache(o->store)) / DESCRIPTORS_KEPT;
}

/* Reads the tables; if that fails, drops the catalog and returns NULL. */
static struct catalog *read_tables(struct catalog *o, const struct container *container,
				   const struct input *in, struct err *err)
{
	o->archive = archive_open(container, in, ARCHIVE_LIST_MAX, err);
	o->contents = o->archive ? contents_new(o->archive, err) : NULL;
	o->homes = o->contents ? calloc(o->archive->count + 1, sizeof(struct cached *)) : NULL;
	o->refused = o->homes ? calloc(o->archive->count + 1, sizeof(*o->refused)) : NULL;
	if (o->refused) {
		o->cached.size = archives_size_of(o);
		return o;
	}
	if (o->contents)
		err_memory(err);
	catalog_put(o);
	return NULL;
}

struct catalog *catalog_open(struct store *store, int dir, const char *name, struct err *err)
{
	const struct container *container = store_container(store, name);
	struct input in;
	struct catalog *o;
	int fd, error;

	if (!container) {
		err_set(err, ERR_UNKNOWN, "it is not named like an archive");
		return NULL;
	}
	error = dirfd_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);
	if (error) {
		err_system(err, error, name);
		return NULL;
	}
	o = catalog_new(store, fd);
	if (!o)
		err_memory(err);
	else if (fstat(fd, &o->st) != 0)
		err_system(err, errno, name);
	else if (input_of_file(fd, &in, err))
		return read_tables(o, container, &in, err);
	catalog_put(o);
	return NULL;
}

static struct catalog *archives_open_member(struct catalog *outer, uint32_t entry, struct err *err)
{
	const struct member_of m = catalog_member(outer, entry);
	const struct container *container = member_container(outer->store, &m);
	struct input in;
	struct catalog *o;

	if (outer->depth + 1 == ARCHIVES_DEPTH) {
		err_set(err, ERR_FORMAT, "archives in archives are read %d deep, no deeper",
			ARCHIVES_DEPTH);
		return NULL;
	}
	o = catalog_new(outer->store, -1);
	if (!o) {
		err_memory(err);
		return NULL;
	}
	o->depth = outer->depth + 1;
	o->st = outer->st;
	o->outer = catalog_get(outer);
	o->entry = entry;
	if (archive_input(outer->archive, m.contents->entries[entry].member,
			  store_settings(outer->store)->max_file, &o->bytes, &in, err))
		return read_tables(o, container, &in, err);
	catalog_put(o);
	return NULL;
}

struct catalog *catalog_get(struct catalog *o)
{
	cached_get(&o->cached);
	return o;
}

void catalog_put(struct catalog *o)
{
	cached_put(o ? &o->cached : NULL);
}

uint64_t catalog_generation(const struct catalog *o)
{
	return o->generation;
}

const struct stat *catalog_stat(const struct catalog *o)
{
	return &o->st;
}

/* ---- an archive through its versions ---- */

struct archive_source {
	struct store *store;
	struct lock lock; /* opening_class: guards all below; held during opening, too */
	struct cached *current;
	struct err *verdict; /* why the archive could not be opened; or NULL */
	/* Stamp of the file that was opened or refused, and whether any later write changes it. */
	struct file_version stamp;
	bool settled;
	int64_t since; /* when it was looked at, in ms */
	/* the member that it is, or that its file replaces; `outer` 0: it is a file of SOURCE. */
	uint64_t outer; /* generation of the archive that contains the member */
	uint32_t entry;
	bool is_file;
};

struct archive_source *archive_source_new(struct store *s)
{
	struct archive_source *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->store = s;
	lock_init(&a->lock);
	return a;
}

UNSHARED void archive_source_free(struct archive_source *a)
{
	if (!a)
		return;
	cache_settle(store_cache(a->store), &a->current, NULL);
	free(a->verdict);
	lock_destroy(&a->lock);
	free(a);
}

bool archive_has_name(const struct store *s, const char *file_name)
{
	return store_container(s, file_name) != NULL;
}

/* Remembers the archive or error for the stamp in `a`. Takes no reference. */
static void note(struct archive_source *a, struct catalog *now, const struct err *why)
	REQUIRES(opening_class)
{
	bool lasting = !now && (why->code == ERR_FORMAT || why->code == ERR_UNKNOWN);

	free(a->verdict);
	a->verdict = lasting ? malloc(sizeof(*a->verdict)) : NULL;
	if (a->verdict)
		*a->verdict = *why;
	cache_settle(store_cache(a->store), &a->current, now ? &now->cached : NULL);
}

/*
 * Returns whether the result for the stamp in `a` is known. Then *now is the archive, or NULL and
 * err is set.
 */
static bool recall(struct archive_source *a, struct catalog **now, struct err *err)
	REQUIRES(opening_class)
{
	*now = NULL;
	if (a->verdict) {
		err_copy(err, a->verdict);
		return true;
	}
	*now = (struct catalog *)cache_take(store_cache(a->store), &a->current);
	return *now != NULL;
}

static bool is_about(const struct archive_source *a, const struct catalog *outer, uint32_t entry,
		     bool file) REQUIRES(opening_class)
{
	return a->outer == (outer ? outer->generation : 0) && a->entry == entry &&
	       a->is_file == file;
}

static void set_about(struct archive_source *a, const struct catalog *outer, uint32_t entry,
		      bool file) REQUIRES(opening_class)
{
	a->outer = outer ? outer->generation : 0;
	a->entry = entry;
	a->is_file = file;
}

static bool archives_is_known(const struct archive_source *a, const struct file_version *stamp)
	REQUIRES(opening_class)
{
	return file_version_same(stamp, &a->stamp) &&
	       (a->settled || clock_real_ms() - a->since < FRESH_MS);
}

static struct catalog *look(struct archive_source *a, struct catalog *outer, uint32_t entry,
			    int dir, const char *name, const struct stat *st, struct err *err)
	REQUIRES(opening_class)
{
	const struct file_version stamp = file_version_of(st);
	struct err why = {.code = ERR_NONE};
	struct timespec now;
	struct catalog *o;

	if (is_about(a, outer, entry, true) && archives_is_known(a, &stamp) && recall(a, &o, err))
		return o;
	now = clock_wall();
	o = catalog_open(a->store, dir, name, &why);
	if (o && outer) {
		o->outer = catalog_get(outer);
		o->entry = entry;
		o->depth = outer->depth + 1;
	}
	set_about(a, outer, entry, true);
	a->stamp = o ? file_version_of(&o->st) : stamp;
	a->settled = file_version_settled(&a->stamp, &now);
	a->since = clock_real_ms();
	note(a, o, &why);
	if (!o)
		err_copy(err, &why);
	return o;
}

struct catalog *archive_look(struct archive_source *a, int dir, const char *name, struct err *err)
{
	return archive_look_loose(a, NULL, 0, dir, name, err);
}

struct catalog *archive_look_loose(struct archive_source *a, struct catalog *outer, uint32_t entry,
				   int dir, const char *name, struct err *err)
{
	struct catalog *o;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		err_system(err, errno, name);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		err_system(err, EINVAL, name);
		return NULL;
	}
	lock_acquire(&a->lock, &opening_class);
	o = look(a, outer, entry, dir, name, &st, err);
	lock_release(&a->lock, &opening_class);
	return o;
}

struct catalog *archive_enter(struct archive_source *a, struct catalog *outer, uint32_t entry,
			      struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct catalog *o;

	lock_acquire(&a->lock, &opening_class);
	if (!is_about(a, outer, entry, false) || !recall(a, &o, err)) {
		o = archives_open_member(outer, entry, &why);
		set_about(a, outer, entry, false);
		note(a, o, &why);
		if (a->verdict)
			outer->refused[outer->contents->entries[entry].member] = true;
		if (!o)
			err_copy(err, &why);
	}
	lock_release(&a->lock, &opening_class);
	return o;
}

struct catalog *catalog_outer(const struct catalog *o, uint32_t *entry)
{
	*entry = o->entry;
	return o->outer;
}

/* ---- entries ---- */

static const struct contents_entry *archives_entry_of(const struct catalog *o, uint32_t entry)
{
	return &o->contents->entries[entry];
}

uint32_t catalog_first(const struct catalog *o, uint32_t folder)
{
	return archives_entry_of(o, folder)->first;
}

uint32_t catalog_next(const struct catalog *o, uint32_t entry)
{
	return archives_entry_of(o, entry)->next;
}

uint32_t catalog_find(const struct catalog *o, uint32_t folder, const char *name)
{
	return contents_find(o->contents, folder, name, strlen(name));
}

const char *catalog_name(const struct catalog *o, uint32_t entry)
{
	return archives_entry_of(o, entry)->label;
}

struct member_of catalog_member(const struct catalog *o, uint32_t entry)
{
	return (struct member_of){o->archive, o->contents, entry, &o->st};
}

bool catalog_was_refused(const struct catalog *o, uint32_t entry)
{
	uint32_t member = archives_entry_of(o, entry)->member;

	return member != CONTENTS_NONE && o->refused[member];
}

enum member_kind catalog_kind(const struct catalog *o, uint32_t entry)
{
	const struct member_of m = catalog_member(o, entry);
	const struct codec *codec;
	bool probe;

	if (archives_entry_of(o, entry)->member == CONTENTS_NONE)
		return MEMBER_FOLDER;
	if (member_container(o->store, &m))
		return MEMBER_ARCHIVE;
	return member_claims(o->store, &m, &codec, &probe) ? MEMBER_ANIMATION : MEMBER_FILE;
}

bool catalog_beside(const struct catalog *o, uint32_t entry, char out[NAME_MAX + 1])
{
	const struct contents_entry *e = archives_entry_of(o, entry);

	return beside_folder(o->store, e->label, 0, out) &&
	       (catalog_find(o, e->parent, out) == CATALOG_NONE ||
		beside_folder(o->store, e->label, 1, out));
}

uint32_t catalog_beside_which(const struct catalog *o, uint32_t folder, const char *name)
{
	char own[NAME_MAX + 1];
	uint32_t entry;

	for (unsigned i = 0; beside_file(name, i, own, NULL); i++) {
		entry = catalog_find(o, folder, own);
		if (entry != CATALOG_NONE && catalog_kind(o, entry) != MEMBER_FOLDER &&
		    catalog_beside(o, entry, own) && strcmp(own, name) == 0)
			return entry;
	}
	return CATALOG_NONE;
}

void catalog_attributes(const struct catalog *o, uint32_t entry, struct stat *st)
{
	const struct member_of m = catalog_member(o, entry);

	if (archives_entry_of(o, entry)->member != CONTENTS_NONE) {
		member_stat(&m, st);
		return;
	}
	*st = o->st;
	st->st_mode = S_IFREG | (st->st_mode & 0444);
}

bool catalog_measure(const struct catalog *o, uint32_t entry, uint64_t *size)
{
	return archive_measure(o->archive, archives_entry_of(o, entry)->member, size, NULL);
}

/* ---- bytes ---- */

static void unpacked_free(struct cached *cached)
{
	struct unpacked *u = (struct unpacked *)cached;

	buf_release(&u->bytes);
	free(u);
}

static struct unpacked *unpacked_new(struct buf *bytes)
{
	struct unpacked *u = calloc(1, sizeof(*u));

	if (!u) {
		buf_release(bytes);
		return NULL;
	}
	u->cached.references = 1;
	u->cached.free = unpacked_free;
	u->cached.size = sizeof(*u) + bytes->capacity;
	u->bytes = *bytes;
	return u;
}

static void use_unpacked(struct cached *cached, struct member_bytes *out)
{
	const struct buf *bytes = &((const struct unpacked *)cached)->bytes;

	*out = (struct member_bytes){
		.whole = cached, .fd = -1, .size = bytes->size, .data = bytes->data};
}

/*
 * Returns a member's bytes from the archive's own file or memory, or those that were unpacked into
 * `room`.
 */
static bool use_input(struct catalog *o, struct buf *room, const struct input *in, bool unpacked,
		      struct cached **home, struct member_bytes *out, struct err *err)
{
	struct unpacked *u;

	if (!unpacked) {
		*out = (struct member_bytes){
			.whole = &catalog_get(o)->cached,
			.fd = in->fd,
			.at = in->at,
			.size = in->size,
			.data = in->data,
		};
		return true;
	}
	u = unpacked_new(room);
	if (!u)
		return err_memory(err);
	cache_settle(store_cache(o->store), home, &u->cached);
	use_unpacked(&u->cached, out);
	return true;
}

bool catalog_bytes(struct catalog *o, uint32_t entry, struct member_bytes *out, struct err *err)
{
	const uint32_t member = archives_entry_of(o, entry)->member;
	struct lock *lock = &o->unpacking[member % UNPACKERS];
	struct cached **home = &o->homes[member];
	struct buf room = BUF_INIT;
	struct cached *known;
	struct input in;
	bool fine;

	*out = (struct member_bytes){.fd = -1};
	lock_acquire(lock, &unpacking_class);
	known = cache_take(store_cache(o->store), home);
	if (known)
		use_unpacked(known, out);
	fine = known || archive_input(o->archive, member, store_settings(o->store)->max_file, &room,
				      &in, err);
	if (fine && !known)
		fine = use_input(o, &room, &in, room.data != NULL, home, out, err);
	else
		buf_release(&room);
	lock_release(lock, &unpacking_class);
	return fine;
}

void member_bytes_release(struct member_bytes *b)
{
	cached_put(b->whole);
	*b = (struct member_bytes){.fd = -1};
}

bool catalog_check(struct catalog *o, uint32_t entry, struct err *err)
{
	const struct member_of m = catalog_member(o, entry);
	struct member_bytes bytes;
	struct version *version;
	struct catalog *inner;
	bool fine;

	switch (catalog_kind(o, entry)) {
	case MEMBER_ANIMATION:
		version = member_version(o->store, &m, err);
		fine = version != NULL;
		version_put(version);
		return fine;
	case MEMBER_ARCHIVE:
		inner = archives_open_member(o, entry, err);
		fine = inner != NULL;
		catalog_put(inner);
		return fine;
	case MEMBER_FILE:
		fine = catalog_bytes(o, entry, &bytes, err);
		if (fine)
			member_bytes_release(&bytes);
		return fine;
	case MEMBER_FOLDER:
		break;
	}
	return true;
}
