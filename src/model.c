/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"
#include "at.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODEL_LIMIT ((size_t)16 << 20)
#define EXTENSION ".ff9model"

/*
 * A model begins with: u8 at 0x02 the number of bones, at 0x14 the bones, each s16 length, u8 0,
 * u8 parent. A parent stands before its children.
 */
static uint32_t count_bones(struct bytes model)
{
	uint32_t count = model.size > 2 ? model.data[2] : 0;

	if (!bytes_hold(model, 0x14, count, 4))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bone = model.data + 0x14 + 4 * (size_t)i;

		if (bone[2] != 0 || (i == 0 ? bone[3] != 0 : bone[3] >= i))
			return 0;
	}
	return count;
}

/* 0: there is no model of this name. */
static uint32_t read_bones(int dir, const char *name)
{
	struct buf bytes = BUF_INIT;
	uint32_t count = 0;
	struct stat st;

	if (at_read(dir, name, MODEL_LIMIT, &bytes, &st) == 0)
		count = count_bones(buf_bytes(&bytes));
	buf_release(&bytes);
	return count;
}

/* The name of the only model in the folder. */
static bool only_model(int dir, char name[NAME_MAX + 1])
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	unsigned found = 0;
	struct dirent *entry;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (found < 2 && (entry = readdir(folder))) {
		if (fnmatch("*" EXTENSION, entry->d_name, FNM_CASEFOLD) != 0)
			continue;
		snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
		found++;
	}
	closedir(folder);
	return found == 1;
}

uint32_t model_bones(int dir, const char *file_name)
{
	const char *dot = strrchr(file_name, '.');
	int stem = (int)(dot && dot != file_name ? (size_t)(dot - file_name) : strlen(file_name));
	char name[NAME_MAX + 1];
	uint32_t count = 0;

	if (snprintf(name, sizeof(name), "%.*s" EXTENSION, stem, file_name) < (int)sizeof(name))
		count = read_bones(dir, name);
	if (count == 0 && only_model(dir, name))
		count = read_bones(dir, name);
	return count;
}
