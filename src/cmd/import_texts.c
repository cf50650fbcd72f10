/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_texts.h"

#include "disk/dirfd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH_MAX 3 /* depth of the longest path, such as walk/bones/hips.csv */

static bool import_texts_add(struct import_texts *t, const struct import_text *text)
{
	struct import_text *list = array_room(t->list, t->count, &t->room, sizeof(*list));

	if (!list)
		return false;
	t->list = list;
	list[t->count++] = *text;
	return true;
}

static size_t limit_of(const struct import_texts *t, const char *path)
{
	return strncmp(path, "raw.", 4) == 0 && !strchr(path, '/') ? t->max_file : t->max_text;
}

static bool read_import_text(struct import_texts *t, int folder, const char *name, const char *path,
			     const struct stamp *stamp, struct err *err)
{
	struct import_text text = {.text = BUF_INIT, .noted = stamp_find(stamp, path)};
	struct stat st;
	int error = dirfd_read(folder, name, limit_of(t, path), &text.text, &st);

	t->read += text.text.size;
	if (error)
		err_system(err, error, path);
	if (error || (text.noted && !t->all &&
		      XXH128_isEqual(text.noted->text, text_hash_of(buf_bytes(&text.text))))) {
		buf_release(&text.text);
		return !error;
	}
	text.path = strdup(path);
	if (text.path && import_texts_add(t, &text))
		return true;
	free(text.path);
	buf_release(&text.text);
	return err_memory(err);
}

static bool import_texts_read_folder(struct import_texts *t, int folder, const char *path,
				     unsigned depth, const struct stamp *stamp, struct err *err);

static bool import_texts_read_entry(struct import_texts *t, int folder, const char *name,
				    const char *path, unsigned depth, const struct stamp *stamp,
				    struct err *err)
{
	struct stat st;
	bool fine;
	int fd, error;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || err_system(err, errno, path);
	if (S_ISREG(st.st_mode))
		return read_import_text(t, folder, name, path, stamp, err);
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
		return true;
	error = dirfd_open(folder, name, O_RDONLY | O_DIRECTORY, 0, &fd);
	if (error)
		return err_system(err, error, path);
	fine = import_texts_read_folder(t, fd, path, depth + 1, stamp, err);
	close(fd);
	return fine;
}

static bool import_texts_read_folder(struct import_texts *t, int folder, const char *path,
				     unsigned depth, const struct stamp *stamp, struct err *err)
{
	char below[PATH_MAX];
	struct dirent *entry;
	DIR *dir;
	int error = dirfd_list(folder, "", &dir);
	bool fine = true;

	if (error)
		return err_system(err, error, *path ? path : ".");
	while (fine && (entry = dirfd_next(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
				     entry->d_name) < sizeof(below))
			fine = import_texts_read_entry(t, folder, entry->d_name, below, depth,
						       stamp, err);
	}
	closedir(dir);
	return fine;
}

static int import_texts_by_path(const void *pa, const void *pb)
{
	const struct import_text *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

bool import_texts_read(struct import_texts *t, int folder, const struct stamp *stamp,
		       struct err *err)
{
	if (!import_texts_read_folder(t, folder, "", 1, stamp, err))
		return false;
	if (t->count)
		qsort(t->list, t->count, sizeof(*t->list), import_texts_by_path);
	return true;
}

void import_texts_release(struct import_texts *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->list[i].path);
		buf_release(&t->list[i].text);
	}
	free(t->list);
}
