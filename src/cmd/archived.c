/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "archived.h"

#include "disk/dirfd.h"
#include "store/beside.h"
#include "store/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* ---- archives in archives ---- */

const struct archived_level *archived_level(const struct archived *a)
{
	return &a->levels[a->depth - 1];
}

static bool push(struct archived *a, const struct container *container, const struct input *in,
		 struct err *err)
{
	struct archived_level *l = &a->levels[a->depth++];

	l->from = a->entry;
	l->archive = archive_open(container, in, ARCHIVE_LIST_MAX, err);
	l->contents = l->archive ? contents_new(l->archive, err) : NULL;
	a->entry = CONTENTS_TOP;
	return l->contents != NULL;
}

static void clear_level(struct archived_level *l)
{
	contents_free(l->contents);
	archive_close(l->archive);
	buf_release(&l->bytes);
	loose_release(&l->loose);
	free(l->path);
	*l = (struct archived_level){.bytes = BUF_INIT};
}

static void pop(struct archived *a)
{
	struct archived_level *l = &a->levels[--a->depth];
	uint32_t from = l->from;

	clear_level(l);
	a->entry = from;
}

/* Opens the folder of a loose file; *dir is -1 if it does not exist. */
static bool archived_open_loose(const struct loose *l, int *dir, struct err *err)
{
	int error = loose_folder(l, false, dir);

	if (error)
		*dir = -1;
	return !error || error == ENOENT || error == ENOTDIR || err_system(err, error, l->shown);
}

static bool read_loose(const struct archived *a, const struct loose *l, struct buf *out,
		       struct stat *st, struct err *err)
{
	int dir;
	bool fine = archived_open_loose(l, &dir, err) &&
		    loose_read(l, dir, store_settings(a->store)->max_file, out, st, err);

	if (dir >= 0)
		close(dir);
	return fine;
}

/*
 * Finds the archive's place, where loose files of it and its members are looked for. If the archive
 * itself has a loose file, *in becomes that.
 */
static bool archived_find_place(struct archived *a, int dir, const char *name, struct input *in,
				struct err *err)
{
	struct archived_level *l = &a->levels[0];

	if (asprintf(&a->path, "%s%s%s", a->site->folder, *a->site->folder ? "/" : "", name) < 0) {
		a->path = NULL;
		return err_memory(err);
	}
	if (dirfd_walk(dir, "", O_RDONLY | O_DIRECTORY, &a->dir) != 0)
		return err_system(err, errno, name);
	a->place = (struct archive_place){.dir = a->dir, .path = a->path, .st = a->st};
	archive_place_settle(&a->place, a->site->overlay);
	l->st = a->st;
	if (!loose_find_file(&l->loose, a->site->overlay, &a->place, err))
		return false;
	if (!l->loose.is_there)
		return true;
	if (!read_loose(a, &l->loose, &l->bytes, &l->st, err))
		return false;
	*in = input_of_bytes(buf_bytes(&l->bytes));
	return true;
}

bool archived_open(struct archived *a, struct store *store, const struct site *site, int dir,
		   const char *name, struct err *err)
{
	const struct container *container = store_container(store, name);
	struct input in;
	int error;

	*a = (struct archived){.store = store, .site = site, .fd = -1, .dir = -1};
	error = dirfd_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &a->fd);
	if (error)
		return err_set(err, ERR_SYSTEM, "%s", strerror(error));
	if (!input_of_file(a->fd, &in, err))
		return false;
	if (fstat(a->fd, &a->st) != 0)
		return err_system(err, errno, name);
	return (!site || archived_find_place(a, dir, name, &in, err)) &&
	       push(a, container, &in, err);
}

void archived_release(struct archived *a)
{
	while (a->depth > 0)
		pop(a);
	clear_level(&a->levels[0]);
	if (a->fd >= 0)
		close(a->fd);
	if (a->path && a->dir >= 0)
		close(a->dir);
	free(a->path);
	a->path = NULL;
	a->fd = a->dir = -1;
}

/* Opens the bytes of the current entry, which is an archive in this one. */
static bool read_archived(struct archived *a, struct input *in, struct err *err)
{
	const struct archived_level *from = archived_level(a);
	struct archived_level *l = &a->levels[a->depth];

	if (a->site) {
		if (!archived_loose(a, &l->loose, err))
			return false;
		if (l->loose.is_there) {
			if (!read_loose(a, &l->loose, &l->bytes, &l->st, err))
				return false;
			*in = input_of_bytes(buf_bytes(&l->bytes));
			return true;
		}
		loose_stat(&l->loose, -1, &l->st);
	}
	return archive_input(from->archive, from->contents->entries[a->entry].member,
			     store_settings(a->store)->max_file, &l->bytes, in, err);
}

bool archived_enter(struct archived *a, struct err *err)
{
	const struct member_of m = archived_member(a, a->entry);
	struct buf path = BUF_INIT;
	struct input in;

	if (a->depth == ARCHIVED_DEPTH)
		return err_set(err, ERR_OPERAND, "archives in archives are read %d deep, no deeper",
			       ARCHIVED_DEPTH);
	if (!read_archived(a, &in, err)) {
		clear_level(&a->levels[a->depth]);
		return false;
	}
	archived_path(a, false, &path);
	buf_char(&path, '\0');
	a->levels[a->depth].path = (char *)path.data;
	if (push(a, member_container(a->store, &m), &in, err) && !path.failed)
		return true;
	pop(a);
	return err_memory(err);
}

/* ---- entries ---- */

struct member_of archived_member(const struct archived *a, uint32_t entry)
{
	const struct archived_level *l = archived_level(a);

	return (struct member_of){l->archive, l->contents, entry, &a->st};
}

enum archived_kind archived_kind_of(const struct archived *a, uint32_t entry)
{
	const struct member_of m = archived_member(a, entry);
	const struct codec *codec;
	bool probe;

	if (m.contents->entries[entry].member == CONTENTS_NONE)
		return ARCHIVED_FOLDER;
	if (member_container(a->store, &m))
		return ARCHIVED_ARCHIVE;
	return member_claims(a->store, &m, &codec, &probe) ? ARCHIVED_ANIMATION : ARCHIVED_FILE;
}

enum archived_kind archived_kind(const struct archived *a)
{
	return archived_kind_of(a, a->entry);
}

bool archived_loose(const struct archived *a, struct loose *out, struct err *err)
{
	const struct archived_level *l = archived_level(a);
	const struct member_of m = archived_member(a, a->entry);

	if (a->depth == 1 && a->entry == CONTENTS_TOP)
		return loose_find_file(out, a->site->overlay, &a->place, err);
	if (a->depth > 1 || l->archive->container->replace)
		return loose_find_inner(out, &l->loose, &l->st, &m, a->site->rebuild, err);
	return loose_find(out, a->site->overlay, &a->place, &m, err);
}

bool archived_read(const struct archived *a, struct buf *out, struct err *err)
{
	const struct archived_level *l = archived_level(a);
	struct loose loose = {.folder = NULL};
	struct stat st;
	bool fine;

	if (!a->site)
		return archive_read(l->archive, l->contents->entries[a->entry].member,
				    store_settings(a->store)->max_file, out, err);
	fine = archived_loose(a, &loose, err) && read_loose(a, &loose, out, &st, err);
	loose_release(&loose);
	return fine;
}

bool archived_stat(const struct archived *a, struct stat *st, struct err *err)
{
	struct loose loose = {.folder = NULL};
	int dir = -1, error;
	bool fine = !a->site ||
		    (archived_loose(a, &loose, err) && archived_open_loose(&loose, &dir, err));

	*st = a->st;
	if (fine && a->site) {
		error = loose_stat(&loose, dir, st);
		fine = !error || err_system(err, error, loose.shown);
	}
	if (dir >= 0)
		close(dir);
	loose_release(&loose);
	return fine;
}

static struct version *loose_version(const struct archived *a, const struct loose *l,
				     struct stat *st, struct err *err)
{
	struct where where = {.dir = -1, .folder = l->folder, .name = l->name, .loose = l};
	struct source *source = source_new(a->store);
	struct version *version = NULL;

	if (!source)
		err_memory(err);
	else if (archived_open_loose(l, &where.dir, err))
		version = source_look(source, &where, st, err);
	if (where.dir >= 0)
		close(where.dir);
	source_free(source);
	return version;
}

struct version *archived_version(const struct archived *a, struct stat *st, struct err *err)
{
	const struct member_of m = archived_member(a, a->entry);
	struct loose loose = {.folder = NULL};
	struct version *version = NULL;

	*st = a->st;
	if (!a->site)
		return member_version(a->store, &m, err);
	if (archived_loose(a, &loose, err))
		version = loose_version(a, &loose, st, err);
	loose_release(&loose);
	return version;
}

/* ---- paths ---- */

static bool archived_refuse_name(const struct archived *a, const char *name, size_t size,
				 struct err *err)
{
	const struct contents_entry *entries = archived_level(a)->contents->entries;
	uint32_t i = entries[a->entry].first;

	while (i != CONTENTS_NONE &&
	       (strncasecmp(entries[i].label, name, size) != 0 || strlen(entries[i].label) != size))
		i = entries[i].next;
	return err_set(err, ERR_OPERAND, "there is no \"%.*s\" here in the archive%s%s",
		       (int)(size < 255 ? size : 255), name, i != CONTENTS_NONE ? ", only " : "",
		       i != CONTENTS_NONE ? entries[i].label : "");
}

bool archived_beside(int root, const struct store *store, const char *path, size_t length,
		     char file[PATH_MAX])
{
	size_t size = beside_length(path, length);
	const char *slash;
	struct stat st;

	if (!size || snprintf(file, PATH_MAX, "%.*s", (int)length, path) >= PATH_MAX)
		return false;
	/* An existing entry of that name takes precedence over the folder beside an archive. */
	if (path[length - 1] == 'd' && fstatat(root, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return false;
	file[size] = '\0';
	slash = strrchr(file, '/');
	return store_container(store, slash ? slash + 1 : file) &&
	       fstatat(root, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Finds an entry by its name, or an archive by that of the folder beside it ("X.MRAB.d"). */
static uint32_t archived_find_entry(const struct archived *a, const char *name, size_t size)
{
	const struct contents *c = archived_level(a)->contents;
	uint32_t found = contents_find(c, a->entry, name, size);
	size_t beside = beside_length(name, size);

	if (found != CONTENTS_NONE || !beside)
		return found;
	found = contents_find(c, a->entry, name, beside);
	return found != CONTENTS_NONE && archived_kind_of(a, found) == ARCHIVED_ARCHIVE
		       ? found
		       : CONTENTS_NONE;
}

bool archived_walk(struct archived *a, const char *path, const char **rest, struct err *err)
{
	for (;;) {
		enum archived_kind kind = archived_kind(a);
		uint32_t next;
		size_t size;

		path += strspn(path, "/");
		*rest = path;
		size = strcspn(path, "/");
		if (size == 0 || kind == ARCHIVED_ANIMATION)
			return true;
		if (kind == ARCHIVED_FILE)
			return err_set(err, ERR_OPERAND,
				       "%s is no archive and no animation, and has nothing in it",
				       archived_level(a)->contents->entries[a->entry].label);
		if (kind == ARCHIVED_ARCHIVE && !archived_enter(a, err))
			return false;
		next = archived_find_entry(a, path, size);
		if (next == CONTENTS_NONE)
			return archived_refuse_name(a, path, size, err);
		a->entry = next;
		path += size;
	}
}

/* Is the path inside this level's archive? */
static bool leads_to(const struct archived_level *l, const char *path)
{
	size_t size = l->path ? strlen(l->path) : 0;

	return size == 0 || (strncmp(path, l->path, size) == 0 && path[size] == '/');
}

bool archived_go(struct archived *a, const char *path, const char **rest, struct err *err)
{
	const struct archived_level *l;

	while (!leads_to(archived_level(a), path))
		pop(a);
	l = archived_level(a);
	a->entry = CONTENTS_TOP;
	return archived_walk(a, path + (l->path ? strlen(l->path) : 0), rest, err);
}

/* Writes "X.MRAB.d", or "X.MRAB.d~2" if there is an entry with the first name. */
static void write_beside(const struct contents *c, uint32_t entry, struct buf *out)
{
	size_t begin = out->size;

	buf_text(out, c->entries[entry].label);
	buf_text(out, ".d");
	if (!out->failed &&
	    contents_find(c, c->entries[entry].parent, (const char *)out->data + begin,
			  out->size - begin) != CONTENTS_NONE)
		buf_text(out, "~2");
}

static void write_entries(const struct archived_level *l, uint32_t entry, bool beside,
			  struct buf *out)
{
	const struct contents_entry *e = &l->contents->entries[entry];

	if (entry == CONTENTS_TOP)
		return;
	write_entries(l, e->parent, false, out);
	if (out->size)
		buf_char(out, '/');
	if (beside)
		write_beside(l->contents, entry, out);
	else
		buf_text(out, e->label);
}

void archived_path(const struct archived *a, bool beside, struct buf *out)
{
	for (unsigned i = 0; i + 1 < a->depth; i++)
		write_entries(&a->levels[i], a->levels[i + 1].from, beside, out);
	write_entries(archived_level(a), a->entry, false, out);
}

/* ---- everything below ---- */

struct visit {
	struct archived *a;
	struct buf path;
	archived_each *each;
	void *closure;
};

static bool visit_below(struct visit *v);

static bool visit_archive(struct visit *v, bool *entered)
{
	struct err why = {.code = ERR_NONE};
	bool fine;

	*entered = archived_enter(v->a, &why);
	if (!*entered)
		return v->each(v->closure, (const char *)v->path.data, &why);
	fine = visit_below(v);
	pop(v->a);
	return fine;
}

/* Visits the current entry, whose path is in v->path. */
static bool archived_visit_entry(struct visit *v)
{
	bool entered;

	switch (archived_kind(v->a)) {
	case ARCHIVED_FOLDER:
		return visit_below(v);
	case ARCHIVED_ARCHIVE:
		return visit_archive(v, &entered);
	case ARCHIVED_ANIMATION:
		return v->each(v->closure, (const char *)v->path.data, NULL);
	case ARCHIVED_FILE:
		break;
	}
	return true;
}

static bool visit_below(struct visit *v)
{
	struct archived *a = v->a;
	const struct contents_entry *entries = archived_level(a)->contents->entries;
	uint32_t folder = a->entry;
	size_t length = v->path.size;
	bool fine = true;

	for (uint32_t i = entries[folder].first; fine && i != CONTENTS_NONE; i = entries[i].next) {
		if (length)
			buf_char(&v->path, '/');
		buf_text(&v->path, entries[i].label);
		buf_char(&v->path, '\0');
		v->path.size--;
		a->entry = i;
		fine = !v->path.failed && archived_visit_entry(v);
		v->path.size = length;
	}
	a->entry = folder;
	return fine;
}

bool archived_visit(struct archived *a, archived_each *each, void *closure)
{
	struct visit v = {a, BUF_INIT, each, closure};
	uint32_t entry = a->entry;
	bool entered = false, fine;

	buf_char(&v.path, '\0');
	if (v.path.failed)
		return false;
	v.path.size--;
	if (archived_kind(a) == ARCHIVED_ARCHIVE)
		fine = visit_archive(&v, &entered);
	else
		fine = archived_visit_entry(&v);
	a->entry = entry;
	buf_release(&v.path);
	return fine;
}
