/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "texts.h"
#include "../refusal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- read ---- */

static bool add_name(struct texts *t, const char *inside, const char *name, int64_t born,
		     bool folder)
{
	struct text_name *names = array_room(t->names, t->count, &t->room, sizeof(*names));
	struct text_name *to;

	if (!names)
		return false;
	t->names = names;
	to = &names[t->count];
	*to = (struct text_name){.born = born, .folder = folder};
	if (asprintf(&to->path, "%s%s%s", inside, *inside ? "/" : "", name) < 0)
		return false;
	t->count++;
	return true;
}

static int add_entry(struct texts *t, const char *inside, int folder, const char *name)
{
	struct identity id;
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (identity_at(folder, name, &id, &st) != 0)
		return 0; /* it went just now */
	return add_name(t, inside, name, id.born, S_ISDIR(st.st_mode)) ? 0 : ENOMEM;
}

static int list_names(struct texts *t, int folder, const char *inside)
{
	int fd, error = at_walk(folder, inside, O_RDONLY | O_DIRECTORY, &fd);
	struct dirent *entry;
	DIR *dir;

	if (error)
		return *inside && (error == ENOENT || error == ENOTDIR || error == ELOOP) ? 0
											  : error;
	dir = fdopendir(fd);
	if (!dir) {
		error = errno;
		close(fd);
		return error;
	}
	while (!error && (entry = readdir(dir)))
		error = add_entry(t, inside, dirfd(dir), entry->d_name);
	closedir(dir);
	return error;
}

static int by_birth(const void *pa, const void *pb)
{
	const struct text_name *a = pa, *b = pb;

	if (a->born != b->born)
		return a->born < b->born ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int read_text(struct fs *fs, int folder, const char *path, struct bytes *out)
{
	const char *slash = strchr(path, '/');
	struct buf text = BUF_INIT;
	char inner[NAME_MAX + 1];
	struct stat st;
	int fd, error;

	snprintf(inner, sizeof(inner), "%.*s", slash ? (int)(slash - path) : 0, path);
	error = at_walk(folder, inner, O_PATH | O_DIRECTORY, &fd);
	if (error)
		return error;
	error = at_read(fd, slash ? slash + 1 : path, fs->options->max_text, &text, &st);
	close(fd);
	if (error)
		buf_release(&text);
	*out = buf_bytes(&text);
	return error;
}

/* What is no regular file, or cannot be read, is no text whatever its name: it stays. */
static int read_texts(struct fs *fs, int folder, bool (*wants)(const char *path), struct texts *t)
{
	int error;

	t->list = calloc(t->count + 1, sizeof(*t->list));
	if (!t->list)
		return ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		struct fill_text *text = &t->list[i];

		text->path = t->names[i].folder ? "" : t->names[i].path;
		error = wants(text->path) ? read_text(fs, folder, text->path, &text->text) : 0;
		if (error == ENOMEM)
			return error;
		if (error)
			text->path = "";
	}
	return 0;
}

int texts_read(struct fs *fs, int folder, bool (*wants)(const char *path), struct texts *t)
{
	int error = list_names(t, folder, "");

	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders) && !error; i++)
		error = list_names(t, folder, tree_inner_folders[i]);
	if (error)
		return error;
	if (t->count)
		qsort(t->names, t->count, sizeof(*t->names), by_birth);
	return read_texts(fs, folder, wants, t);
}

void texts_release(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list)
			free((void *)t->list[i].text.data); /* the buffer of read_text */
		free(t->names[i].path);
	}
	free(t->list);
	free(t->names);
	*t = (struct texts){NULL, NULL, 0, 0};
}

/* ---- put away ---- */

/* Beside where the view is, or would be. True when it is kept there. */
static bool keep_refused(struct fs *fs, const char *path, const struct fill_text *text)
{
	const char *slash = strchr(text->path, '/');
	const char *name = slash ? slash + 1 : text->path;
	char *full = NULL, *folder = NULL;
	unsigned own = 0;
	int fd, error = ENOMEM;

	if (asprintf(&full, "%s/%s", path, text->path) >= 0 &&
	    (folder = strndup(full, strlen(full) - strlen(name) - 1)))
		error = state_folder(fs->state, STATE_REJECTED, folder, true, &fd);
	if (!error) {
		error = refusal_write(fs->state, fd, full, name, text->text, &text->err, &own);
		close(fd);
	}
	if (full)
		fuse_log(FUSE_LOG_WARNING, "animfs: %s: %s\n", full, text->err.message);
	free(folder);
	free(full);
	return error == 0;
}

static void unlink_text(int folder, const char *path)
{
	const char *slash = strchr(path, '/');
	char inner[NAME_MAX + 1];
	int fd;

	snprintf(inner, sizeof(inner), "%.*s", slash ? (int)(slash - path) : 0, path);
	if (at_walk(folder, inner, O_PATH | O_DIRECTORY, &fd) != 0)
		return;
	unlinkat(fd, slash ? slash + 1 : path, 0);
	close(fd);
}

void texts_keep_refused(struct fs *fs, int folder, const char *path, struct texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].fate != FILL_REFUSED)
			continue;
		t->list[i].fate = FILL_EXTRA; /* it is nowhere else */
		if (keep_refused(fs, path, &t->list[i])) {
			t->list[i].fate = FILL_GENERATED;
			unlink_text(folder, t->list[i].path);
		}
	}
}

void texts_put_away(struct fs *fs, int folder, const char *path, struct texts *t)
{
	texts_keep_refused(fs, folder, path, t);
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].fate != FILL_EXTRA)
			unlink_text(folder, t->list[i].path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tree_inner_folders); i++)
		unlinkat(folder, tree_inner_folders[i], AT_REMOVEDIR);
}
