/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "staging_texts.h"
#include "at.h"
#include "diagnostics.h"
#include "folder.h"
#include "refusal.h"
#include "store/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- read ---- */

static bool add_name(struct texts *t, const char *inside, const char *name,
		     const struct identity *id, const struct stat *st)
{
	struct text_name *names = array_room(t->names, t->count, &t->room, sizeof(*names));
	struct text_name *to;

	if (!names)
		return false;
	t->names = names;
	to = &names[t->count];
	*to = (struct text_name){.born = id->born, .st = *st};
	if (asprintf(&to->path, "%s%s%s", inside, *inside ? "/" : "", name) < 0)
		return false;
	t->count++;
	return true;
}

static bool add_entry(struct texts *t, const char *inside, int folder, const char *name,
		      struct err *err)
{
	struct identity id;
	struct stat st;
	int error;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	error = identity_at(folder, name, &id, &st);
	if (error)
		return error == ENOENT || err_system(err, error, name);
	return add_name(t, inside, name, &id, &st) || err_memory(err);
}

static bool add_entries(struct texts *t, const char *inside, DIR *dir, struct err *err)
{
	struct dirent *entry;

	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return !errno || err_system(err, errno, "the folder");
		if (!add_entry(t, inside, dirfd(dir), entry->d_name, err))
			return false;
	}
}

/* What is named like an inner folder, and is none, is an extra. */
static bool list_names(struct texts *t, int folder, const char *inside, struct err *err)
{
	int fd, error = at_walk(folder, inside, O_RDONLY | O_DIRECTORY, &fd);
	bool fine;
	DIR *dir;

	if (*inside && (error == ENOENT || error == ENOTDIR || error == ELOOP))
		return true;
	if (error)
		return err_system(err, error, *inside ? inside : "the folder");
	dir = fdopendir(fd);
	if (!dir) {
		err_system(err, errno, "the folder");
		close(fd);
		return false;
	}
	fine = add_entries(t, inside, dir, err);
	closedir(dir);
	return fine;
}

static int by_birth(const void *pa, const void *pb)
{
	const struct text_name *a = pa, *b = pb;

	if (a->born != b->born)
		return a->born < b->born ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* The folder of a text, and its name there, which points into path. */
static int open_inner(int folder, const char *path, const char **name, int *fd)
{
	const char *slash = strchr(path, '/');
	char inner[NAME_MAX + 1];

	snprintf(inner, sizeof(inner), "%.*s", slash ? (int)(slash - path) : 0, path);
	*name = slash ? slash + 1 : path;
	return at_walk(folder, inner, O_PATH | O_DIRECTORY, fd);
}

static int read_text(struct vfs *v, int folder, const char *path, struct bytes *out)
{
	struct buf text = BUF_INIT;
	const char *name;
	struct stat st;
	int fd, error = open_inner(folder, path, &name, &fd);

	if (error)
		return error;
	error = at_read(fd, name, v->options->max_text, &text, &st);
	close(fd);
	if (error)
		buf_release(&text);
	*out = buf_bytes(&text);
	return error;
}

/* What is no regular file is no text, whatever its name. */
static bool read_texts(struct vfs *v, int folder, bool (*wants)(const char *path), struct texts *t,
		       struct err *err)
{
	int error;

	t->list = calloc(t->count + 1, sizeof(*t->list));
	if (!t->list)
		return err_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		struct fill_text *text = &t->list[i];

		text->path = S_ISREG(t->names[i].st.st_mode) ? t->names[i].path : "";
		error = wants(text->path) ? read_text(v, folder, text->path, &text->text) : 0;
		if (error && error != ENOENT)
			return err_system(err, error, text->path);
		if (error)
			text->path = "";
	}
	return true;
}

bool texts_read(struct vfs *v, int folder, bool (*wants)(const char *path), struct texts *t,
		struct err *err)
{
	bool fine = list_names(t, folder, "", err);

	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders) && fine; i++)
		fine = list_names(t, folder, tree_inner_folders[i], err);
	if (fine && t->count)
		qsort(t->names, t->count, sizeof(*t->names), by_birth);
	return fine && read_texts(v, folder, wants, t, err);
}

void texts_release(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list)
			free((void *)(uintptr_t)t->list[i].text.data); /* read_text's buffer */
		free(t->names[i].path);
	}
	free(t->list);
	free(t->names);
	*t = (struct texts)TEXTS_INIT;
}

/* ---- put away ---- */

static int write_refusal(struct vfs *v, const char *full, const struct stat *st,
			 const struct fill_text *text)
{
	/* Who may read the text may read why it was refused. */
	const struct refusal_owner owner = {st->st_uid, st->st_gid, 0600 | (st->st_mode & 0666)};
	const char *name = strrchr(full, '/') + 1;
	char *folder = strndup(full, (size_t)(name - 1 - full));
	unsigned own = 0;
	int fd, error = ENOMEM;

	if (folder)
		error = state_folder(v->state, STATE_REJECTED, folder, true, &fd);
	free(folder);
	if (error)
		return error;
	error = refusal_write(v->refusals, fd, full, name, text->text, &text->err, &owner, &own);
	close(fd);
	return error;
}

/* Beside where the view is, or would be. */
static bool keep_refused(struct vfs *v, const char *path, const struct stat *st,
			 const struct fill_text *text)
{
	char *full;
	int error;

	if (asprintf(&full, "%s/%s", path, text->path) < 0)
		return false;
	log_warning("%s: %s", full, text->err.message);
	error = write_refusal(v, full, st, text);
	if (error)
		diagnose(v, full, "refused, and not kept as .rejected", strerror(error));
	free(full);
	return !error;
}

static void unlink_text(int folder, const char *path)
{
	const char *name;
	int fd;

	if (open_inner(folder, path, &name, &fd) != 0)
		return;
	unlinkat(fd, name, 0);
	close(fd);
}

void texts_keep_refused(struct vfs *v, int folder, const char *path, struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct fill_text *text = &t->list[i];

		if (text->fate != FILL_REFUSED)
			continue;
		text->fate = FILL_EXTRA; /* it is nowhere else */
		if (keep_refused(v, path, &t->names[i].st, text)) {
			text->fate = FILL_GENERATED;
			unlink_text(folder, text->path);
		}
	}
}

void texts_put_away(int folder, struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].fate != FILL_EXTRA)
			unlink_text(folder, t->list[i].path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders); i++)
		unlinkat(folder, tree_inner_folders[i], AT_REMOVEDIR);
}
