/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "access.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/portable.h"
#include "disk/refusal.h"
#include "folder.h"
#include "staging_internal.h"
#include "store/tree.h"
#include "text/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- read ---- */

struct texts_reading {
	struct vfs *v;
	const struct caller *who;
	bool (*wants)(const char *path);
	struct texts *t;
	const char *inside; /* "", "bones" or "frames" */
};

/*
 * Reads a text, which its maker must be allowed to read: a user that may write to a folder can move
 * any file into it. Anything but a regular file is not a text, whatever its name.
 */
static int read_staged_text(const struct texts_reading *r, int folder, const char *name,
			    struct text_name *to)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int fd, error;

	if (!S_ISREG(to->st.st_mode) || !r->wants(to->path))
		return 0;
	error = dirfd_open(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);
	if (error)
		return error;
	error = access_check_read(r->v, r->who, fd);
	if (!error)
		error = dirfd_read_open(fd, r->v->options->max_text, &text, &st);
	close(fd);
	if (error)
		buf_release(&text);
	to->text = buf_bytes(&text);
	to->read = !error;
	return error;
}

/* Adds an entry. 0 also if the file is gone by now. */
static int staging_texts_add_entry(struct texts_reading *r, int folder, const char *name)
{
	struct texts *t = r->t;
	struct text_name *names = array_room(t->names, t->count, &t->room, sizeof(*names)), *to;
	char called[NAME_MAX + 1];
	int error;

	if (!names)
		return ENOMEM;
	t->names = names;
	to = &names[t->count];
	*to = (struct text_name){.path = NULL};
	if (t->stored)
		portable_read(name, called);
	error = identity_at(folder, name, &to->id, &to->st);
	if (!error && asprintf(&to->path, "%s%s%s", r->inside, *r->inside ? "/" : "",
			       t->stored ? called : name) < 0)
		error = ENOMEM;
	if (!error) {
		error = read_staged_text(r, folder, name, to);
		if (error)
			free(to->path);
	}
	t->count += !error;
	return error == ENOENT ? 0 : error;
}

/* Reads a folder. A file named like an inner folder is an ordinary file. */
static bool staging_texts_read_folder(struct texts_reading *r, int folder, struct err *err)
{
	struct dirent *entry;
	DIR *dir;
	int error = dirfd_list(folder, r->inside, &dir);

	if (*r->inside && (error == ENOENT || error == ENOTDIR || error == ELOOP))
		return true;
	if (error)
		return err_system(err, error, *r->inside ? r->inside : "the folder");
	while (!error && (entry = dirfd_next(dir))) {
		error = staging_texts_add_entry(r, dirfd(dir), entry->d_name);
		if (error)
			err_system(err, error, entry->d_name);
	}
	if (!error && errno) {
		error = errno;
		err_system(err, error, "the folder");
	}
	closedir(dir);
	return !error;
}

static int by_birth(const void *pa, const void *pb)
{
	const struct text_name *a = pa, *b = pb;

	if (a->id.born != b->id.born)
		return a->id.born < b->id.born ? -1 : 1;
	return strcmp(a->path, b->path);
}

bool texts_read(struct vfs *v, const struct caller *who, int folder,
		bool (*wants)(const char *path), struct texts *t, struct err *err)
{
	struct texts_reading r = {v, who, wants, t, ""};
	bool fine = staging_texts_read_folder(&r, folder, err);

	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders) && fine; i++) {
		r.inside = tree_inner_folders[i];
		fine = staging_texts_read_folder(&r, folder, err);
	}
	if (!fine)
		return false;
	if (t->count)
		qsort(t->names, t->count, sizeof(*t->names), by_birth);
	t->list = calloc(t->count + 1, sizeof(*t->list));
	for (size_t i = 0; i < t->count && t->list; i++) {
		t->list[i].path = S_ISREG(t->names[i].st.st_mode) ? t->names[i].path : "";
		t->list[i].text = t->names[i].text;
	}
	return t->list || err_memory(err);
}

void texts_release(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free((void *)(uintptr_t)t->names[i].text.data); /* allocated by read_staged_text */
		free(t->names[i].path);
	}
	free(t->list);
	free(t->names);
	*t = (struct texts){.stored = t->stored};
}

/* ---- as edits of a file that is there ---- */

static bool is_read(const char *folder, const char *path)
{
	return *path && (*folder ? assembly_reads(path) : assembly_reads_of_file(path));
}

/* The next text whose content is read, beginning with text *k of folder *i. */
static struct assembly_text *next_text(const struct texts_in *in, size_t count, size_t *i,
				       size_t *k)
{
	for (; *i < count; ++*i, *k = 0) {
		for (; *k < in[*i].texts->count; ++*k) {
			if (is_read(in[*i].path, in[*i].texts->list[*k].path))
				return &in[*i].texts->list[(*k)++];
		}
	}
	return NULL;
}

/* Lists the texts with paths relative to the file's folder. */
static bool list_texts(struct copied *c, const struct texts_in *in, size_t count)
{
	size_t i = 0, k = 0, room = 0;
	struct assembly_text *text;

	while ((text = next_text(in, count, &i, &k))) {
		struct copied_text *texts = array_room(c->texts, c->count, &room, sizeof(*texts));
		char *path;

		if (!texts)
			return false;
		c->texts = texts;
		if (asprintf(&path, "%s%s%s", in[i].path, *in[i].path ? "/" : "", text->path) < 0)
			return false;
		texts[c->count++] = (struct copied_text){.path = path, .text = text->text};
	}
	return true;
}

/* Sets the fate of texts whose content is not needed. */
static void begin_texts(const struct texts_in *in)
{
	for (size_t i = 0; i < in->texts->count; i++) {
		struct assembly_text *text = &in->texts->list[i];

		if (*text->path)
			text->fate = assembly_fate_of(text->path, !*in->path);
	}
}

/* A stale text counts as used, since the file or its history already has its values. */
static enum assembly_fate fate_of(const struct copied_text *text)
{
	switch (text->fate) {
	case COPIED_OTHER:
		return ASSEMBLY_UPPER;
	case COPIED_GENERATED:
	case COPIED_SKELETON:
		return ASSEMBLY_GENERATED;
	case COPIED_REFUSED:
		return ASSEMBLY_REFUSED;
	default:
		return ASSEMBLY_USED;
	}
}

bool texts_edit(struct copied *c, const struct texts_in *in, size_t count, struct err *err)
{
	bool fine = list_texts(c, in, count) ? copied_read(c, err) : err_memory(err);
	size_t i = 0, k = 0;

	for (size_t n = 0; n < count; n++)
		begin_texts(&in[n]);

	for (size_t at = 0; at < c->count; at++) {
		struct assembly_text *text = fine ? next_text(in, count, &i, &k) : NULL;

		if (text) {
			text->fate = fate_of(&c->texts[at]);
			text->err = c->texts[at].err;
		}
		free((char *)(uintptr_t)c->texts[at].path);
	}
	free(c->texts);
	c->texts = NULL;
	c->count = 0;
	return fine;
}

/* ---- removing texts whose fate is known ---- */

/* Lists in .animfs/errors the parts that were ignored in a text that was used. */
static void note_ignored(struct vfs *v, const char *path, const struct assembly_text *text)
{
	const char *ignored = table_ignored(text->path, text->text);
	char *full;

	if (!ignored || asprintf(&full, "%s/%s", path, text->path) < 0)
		return;
	diagnose(v, full, "saved", ignored);
	free(full);
}

/*
 * Writes .rejected and .error beside where the view is or would be, with the owner and permissions
 * of the text.
 */
static int keep_refused(struct vfs *v, const char *path, const struct stat *st,
			const struct assembly_text *text)
{
	const struct refusal_owner owner = {st->st_uid, st->st_gid, 0600 | (st->st_mode & 0666)};
	unsigned own = 0;
	char *full;
	int error;

	if (asprintf(&full, "%s/%s", path, text->path) < 0)
		return ENOMEM;
	log_warning("%s: %s", full, text->err.message);
	error = refusal_write(v->refusals, full, text->text, &text->err, &owner, &own);
	free(full);
	return error;
}

/*
 * A text that must not be lost would be hidden by the view of its name: gives it a similar unused
 * name, and reports it. `stored`: its name on disk.
 */
static int set_text_apart(struct vfs *v, int folder, const char *stored, const char *path,
			  const char *inside, const char *reason)
{
	char name[NAME_MAX + 1], *full;
	int error = dirfd_rename_apart(folder, stored, folder, stored, name);

	if (error == ENOENT || asprintf(&full, "%s/%s", path, inside) < 0)
		return error;
	diagnose(v, full, error ? "hidden by its view" : "kept under another name",
		 error ? strerror(error) : reason);
	free(full);
	return error;
}

static const char came_meanwhile[] =
	"it was written while its folder became a clip or a file; save it again";

/* Compares bytes: not every filesystem has inode numbers and times that show every change. */
static bool is_as_read(int folder, const char *stored, struct bytes text)
{
	int fd, error = dirfd_open(folder, stored, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);

	if (error)
		return error == ENOENT;
	error = dirfd_compare(fd, text);
	close(fd);
	return !error;
}

/* The name on disk of one with this path, and its folder; a link there is not followed. */
static int open_inner(const struct texts *t, int folder, const char *path, char *stored, int *fd)
{
	const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : path;
	char inner[NAME_MAX + 1];
	int error = 0;

	snprintf(inner, sizeof(inner), "%.*s", slash ? (int)(slash - path) : 0, path);
	if (t->stored)
		error = portable_name(name, stored);
	else
		snprintf(stored, NAME_MAX + 1, "%s", name);
	return error ? error : dirfd_walk(folder, inner, O_PATH | O_DIRECTORY, fd);
}

/*
 * Removes a text if it has not changed since it was read and `unkept` is 0; otherwise gives it
 * another name (set_text_apart). False if it still has its name.
 */
static bool put_text_away(struct vfs *v, const struct texts *t, size_t i, int folder,
			  const char *path, int unkept)
{
	const struct assembly_text *text = &t->list[i];
	char stored[NAME_MAX + 1], reason[128];
	int fd, error = open_inner(t, folder, text->path, stored, &fd);

	if (error)
		return false;
	snprintf(reason, sizeof(reason), "it was refused, and cannot be kept as .rejected: %s",
		 strerror(unkept));
	if (!unkept && (!t->names[i].read || is_as_read(fd, stored, text->text)))
		error = unlinkat(fd, stored, 0) == 0 || errno == ENOENT ? 0 : errno;
	else
		error = set_text_apart(v, fd, stored, path, text->path,
				       unkept ? reason : came_meanwhile);
	close(fd);
	return !error;
}

void texts_report(struct vfs *v, int folder, const char *path, struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct assembly_text *text = &t->list[i];
		int error;

		if (text->fate == ASSEMBLY_USED)
			note_ignored(v, path, text);
		if (text->fate != ASSEMBLY_REFUSED)
			continue;
		error = keep_refused(v, path, &t->names[i].st, text);
		text->fate = put_text_away(v, t, i, folder, path, error) ? ASSEMBLY_GENERATED
									 : ASSEMBLY_UPPER;
	}
}

/* The text with this path; t->count: none. */
static size_t find_listed(const struct texts *t, const char *path)
{
	size_t i = 0;

	while (i < t->count && strcmp(t->names[i].path, path) != 0)
		i++;
	return i;
}

/* Does the content of a file with this path count? raw: as for texts_put_away. */
static bool staging_texts_counts(const char *path, const char *raw)
{
	return raw ? strcmp(path, raw) == 0 || assembly_reads_of_file(path) : assembly_reads(path);
}

/* Sets a text apart that has come since the folder was read. */
static void set_new_apart(struct vfs *v, const struct texts *t, const char *path, const char *raw,
			  int folder, const char *stored, const char *inside)
{
	char name[NAME_MAX + 1], *called;
	struct stat st;

	snprintf(name, sizeof(name), "%s", stored);
	if (t->stored)
		portable_read(stored, name);
	if (asprintf(&called, "%s%s%s", inside, *inside ? "/" : "", name) < 0)
		return;
	if (staging_texts_counts(called, raw) && find_listed(t, called) == t->count &&
	    fstatat(folder, stored, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		(void)set_text_apart(v, folder, stored, path, called, came_meanwhile);
	free(called);
}

static void set_all_new_apart(struct vfs *v, const struct texts *t, const char *path,
			      const char *raw, int folder, const char *inside)
{
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(folder, inside, &dir) != 0)
		return;
	while ((entry = dirfd_next(dir)))
		set_new_apart(v, t, path, raw, dirfd(dir), entry->d_name, inside);
	closedir(dir);
}

void texts_put_away(struct vfs *v, int folder, const char *path, const char *raw,
		    const struct texts *t)
{
	const size_t first = raw ? find_listed(t, raw) : t->count;

	if (first < t->count && t->list[first].fate != ASSEMBLY_UPPER)
		(void)put_text_away(v, t, first, folder, path, 0);
	for (size_t i = 0; i < t->count; i++) {
		if (i != first && t->list[i].fate != ASSEMBLY_UPPER)
			(void)put_text_away(v, t, i, folder, path, 0);
	}
	set_all_new_apart(v, t, path, raw, folder, "");
	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders); i++) {
		if (!raw)
			set_all_new_apart(v, t, path, raw, folder, tree_inner_folders[i]);
		unlinkat(folder, tree_inner_folders[i], AT_REMOVEDIR);
	}
}
