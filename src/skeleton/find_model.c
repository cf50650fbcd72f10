/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "find_model.h"
#include "disk/dirfd.h"
#include "model/names.h"

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

void model_choose(struct model_choice *c, const char *file_name, const struct model_format *format)
{
	*c = (struct model_choice){.extension = format->extension};
	snprintf(c->wanted, sizeof(c->wanted), "%.*s%s", (int)name_stem(file_name), file_name,
		 format->extension);
}

bool model_offer(struct model_choice *c, const char *name)
{
	if (!has_extension(name, c->extension))
		return false;
	c->same = strcasecmp(name, c->wanted) == 0;
	c->count++;
	return true;
}

/*
 * Finds the model with the wanted name in a folder, in upper or lower case; or else the only model
 * there.
 */
static bool find_model_search_folder(int dir, struct model_choice *c, char name[NAME_MAX + 1])
{
	struct dirent *entry;
	DIR *folder;

	if (dirfd_list(dir, "", &folder) != 0)
		return false;
	while (!c->same && (entry = dirfd_next(folder))) {
		if (model_offer(c, entry->d_name))
			snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	}
	closedir(folder);
	return c->same || c->count == 1;
}

bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1])
{
	struct file_version folder;
	struct model_choice choice;
	struct stat st;

	model_choose(&choice, file_name, format);
	if (strlen(choice.wanted) <= NAME_MAX &&
	    fstatat(dir, choice.wanted, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		strcpy(name, choice.wanted);
		return true;
	}
	return guard_lets_read(guard, dir, file_name, ".", &folder) &&
	       find_model_search_folder(dir, &choice, name);
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
		    dirfd_read(dir, name, MODEL_LIMIT, &bytes, &st) == 0;

	read = fine ? file_version_of(&st) : (struct file_version){.dev = 0};
	if (fine && (!guard || file_version_same(&let, &read)))
		s = model_ff9.read(buf_bytes(&bytes), NULL);
	count = s ? s->count : 0;
	skeleton_free(s);
	buf_release(&bytes);
	return count;
}
