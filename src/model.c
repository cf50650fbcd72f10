/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"
#include "at.h"
#include "names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool has_extension(const char *name, const char *extension)
{
	size_t size = strlen(name), length = strlen(extension);

	return size > length && strcasecmp(name + size - length, extension) == 0;
}

bool model_has_name(const char *name)
{
	for (const struct model_format *const *format = model_formats; *format; format++) {
		if (has_extension(name, (*format)->extension))
			return true;
	}
	return false;
}

/* Finds the model called so in any case, or else the only one of the folder. */
static bool search(int dir, const char *wanted, const char *extension, char name[NAME_MAX + 1])
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	bool same = false;
	unsigned found = 0;
	struct dirent *entry;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!same && (entry = readdir(folder))) {
		if (!has_extension(entry->d_name, extension))
			continue;
		same = strcasecmp(entry->d_name, wanted) == 0;
		snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
		found++;
	}
	closedir(folder);
	return same || found == 1;
}

bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1])
{
	struct file_version folder;
	int stem = (int)name_stem(file_name);
	char wanted[2 * NAME_MAX];
	struct stat st;

	snprintf(wanted, sizeof(wanted), "%.*s%s", stem, file_name, format->extension);
	if (strlen(wanted) <= NAME_MAX && fstatat(dir, wanted, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		strcpy(name, wanted);
		return true;
	}
	return guard_lets_read(guard, dir, file_name, ".", &folder) &&
	       search(dir, wanted, format->extension, name);
}

uint32_t model_bones(int dir, const char *file_name, const struct guard *guard)
{
	struct file_version let, read;
	struct buf bytes = BUF_INIT;
	struct skeleton *s = NULL;
	char name[NAME_MAX + 1];
	uint32_t count;
	struct stat st;
	bool fine = model_find(dir, file_name, &model_ff9, guard, name) &&
		    guard_lets_read(guard, dir, file_name, name, &let) &&
		    at_read(dir, name, MODEL_LIMIT, &bytes, &st) == 0;

	read = fine ? file_version_of(&st) : (struct file_version){.dev = 0};
	if (fine && (!guard || file_version_same(&let, &read)))
		s = model_ff9.read(buf_bytes(&bytes), NULL);
	count = s ? s->count : 0;
	skeleton_free(s);
	buf_release(&bytes);
	return count;
}
