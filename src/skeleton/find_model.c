/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "find_model.h"
#include "disk/dirfd.h"
#include "model/names.h"
#include "util/clock.h"
#include "util/lock_classes.h"

#include <dirent.h>
#include <errno.h>
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

/* ---- names of models that were listed ---- */

/*
 * The models' names in the folders that were listed last, so that a folder with many animations is
 * not listed for each. They hold for as long as the folder's version stays the same.
 */
struct listed {
	struct file_version folder;
	const struct model_format *format; /* NULL: nothing is kept here */
	struct buf names;                  /* each with its NUL */
};

#define LISTED 4
#define LISTED_MAX ((size_t)1 << 20)

static struct lock listed_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct listed listed[LISTED] GUARDED_BY(models_class);
static unsigned listed_next GUARDED_BY(models_class);

/*
 * Offers a name of the folder. `name` becomes the model: the one with the wanted name, in upper or
 * lower case, or else the last in the order of strcmp.
 */
static void find_model_offer(struct model_choice *c, const char *offered, char name[NAME_MAX + 1])
{
	if (!c->same && model_offer(c, offered) && (c->same || strcmp(offered, name) > 0))
		snprintf(name, NAME_MAX + 1, "%s", offered);
}

static bool listed_search(const struct file_version *folder, const struct model_format *format,
			  struct model_choice *c, char name[NAME_MAX + 1])
{
	bool found = false;

	lock_acquire(&listed_lock, &models_class);
	for (unsigned i = 0; i < LISTED && !found; i++) {
		const struct listed *l = &listed[i];
		const char *at = (const char *)l->names.data;

		found = l->format == format && file_version_same(&l->folder, folder);
		for (size_t left = found ? l->names.size : 0; left > 0;) {
			const size_t size = strlen(at) + 1;

			find_model_offer(c, at, name);
			at += size;
			left -= size;
		}
	}
	lock_release(&listed_lock, &models_class);
	return found;
}

/* Takes over the names. */
static void listed_keep(const struct file_version *folder, const struct model_format *format,
			struct buf *names)
{
	struct listed *l;
	struct buf old;

	lock_acquire(&listed_lock, &models_class);
	l = &listed[listed_next];
	listed_next = (listed_next + 1) % LISTED;
	old = l->names;
	*l = (struct listed){*folder, format, *names};
	lock_release(&listed_lock, &models_class);
	*names = old;
}

/* Finds the model among the names in the folder, by model_offer. False if it cannot be listed. */
static bool find_model_search_folder(int dir, const struct model_format *format,
				     struct model_choice *c, char name[NAME_MAX + 1])
{
	/* Before the version, so that any change after the listing begins gives another one. */
	const struct timespec now = clock_wall();
	struct buf names = BUF_INIT;
	struct file_version version;
	struct dirent *entry;
	struct stat st;
	DIR *folder;
	bool keep;

	if (fstatat(dir, ".", &st, 0) != 0)
		return false;
	version = file_version_of(&st);
	keep = file_version_settled(&version, &now);
	if (keep && listed_search(&version, format, c, name))
		return true;
	if (dirfd_list(dir, "", &folder) != 0)
		return false;
	while ((keep || !c->same) && (entry = dirfd_next(folder))) {
		if (!has_extension(entry->d_name, format->extension))
			continue;
		find_model_offer(c, entry->d_name, name);
		if (keep)
			buf_add(&names, entry->d_name, strlen(entry->d_name) + 1);
		keep = keep && !names.failed && names.size <= LISTED_MAX;
	}
	if (keep && errno == 0)
		listed_keep(&version, format, &names);
	closedir(folder);
	buf_release(&names);
	return true;
}

bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1])
{
	struct file_version folder;
	struct model_choice choice;
	struct stat st;

	name[0] = '\0';
	model_choose(&choice, file_name, format);
	if (strlen(choice.wanted) <= NAME_MAX &&
	    fstatat(dir, choice.wanted, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		strcpy(name, choice.wanted);
		return true;
	}
	return guard_lets_read(guard, dir, file_name, ".", &folder) &&
	       find_model_search_folder(dir, format, &choice, name) &&
	       (choice.same || choice.count == 1);
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
