/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export_list.h"
#include "cmd.h"

#include "disk/dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- archives that are open ---- */

struct open_archive {
	struct open_archive *next;
	char *path; /* path of the archive from SOURCE */
	struct archived archived;
	struct site site; /* site of the list, with the archive's folder */
};

static void free_archive(struct open_archive *o)
{
	archived_release(&o->archived);
	free(o->path);
	free(o);
}

static bool export_list_open_file(const struct export_list *l, struct open_archive *o,
				  struct err *err)
{
	char *folder;
	const char *name = path_cut(o->path, &folder);
	int dir = -1,
	    error = folder ? dirfd_walk(l->site->root, folder, O_PATH | O_DIRECTORY, &dir) : ENOMEM;
	bool fine;

	o->site = *l->site;
	if (!error)
		snprintf(o->site.folder, sizeof(o->site.folder), "%s", folder);
	fine = error ? err_system(err, error, o->path)
		     : archived_open(&o->archived, l->store, &o->site, dir, name, err);
	if (dir >= 0)
		close(dir);
	free(folder);
	return fine;
}

static struct open_archive *open_archive(const struct export_list *l, const char *path, size_t size,
					 struct err *err)
{
	struct open_archive *o = calloc(1, sizeof(*o));

	if (!o) {
		err_memory(err);
		return NULL;
	}
	o->archived.fd = o->archived.dir = -1;
	o->path = strndup(path, size);
	if (o->path ? export_list_open_file(l, o, err) : err_memory(err))
		return o;
	free_archive(o);
	return NULL;
}

/*
 * Takes an idle archive. Items of an archive follow each other, so an idle archive of another path
 * is not needed again.
 */
static struct open_archive *take_idle(struct export_list *l, const char *path, size_t size)
{
	struct open_archive *o;

	pthread_mutex_lock(&l->lock);
	o = l->idle;
	if (o)
		l->idle = o->next;
	pthread_mutex_unlock(&l->lock);
	if (!o || (strlen(o->path) == size && strncmp(o->path, path, size) == 0))
		return o;
	free_archive(o);
	return NULL;
}

void export_list_close(struct export_list *l, struct open_archive *o)
{
	pthread_mutex_lock(&l->lock);
	o->next = l->idle;
	l->idle = o;
	pthread_mutex_unlock(&l->lock);
}

struct open_archive *export_list_open(struct export_list *l, const char *path, size_t size,
				      const char *inside, struct err *err)
{
	struct open_archive *o = take_idle(l, path, size);
	const char *rest;

	if (!o)
		o = open_archive(l, path, size, err);
	if (!o || archived_go(&o->archived, inside, &rest, err))
		return o;
	free_archive(o);
	return NULL;
}

const struct archived *open_archive_at(const struct open_archive *o)
{
	return &o->archived;
}

/* ---- the list ---- */

static void item_release(struct export_item *item)
{
	free(item->path);
	free(item->shown);
	free(item->err);
}

/* Adds an item and takes over what it owns, which is freed on failure. */
static bool export_list_add_item(struct export_list *l, struct export_item *item)
{
	struct export_item *items = array_room(l->items, l->count, &l->room, sizeof(*items));

	if (items)
		l->items = items;
	if (!items || !item->path || (item->inside && !item->shown)) {
		item_release(item);
		return false;
	}
	items[l->count++] = *item;
	return true;
}

static bool export_list_add_file(struct export_list *l, const char *path, bool plain,
				 const struct err *why)
{
	struct export_item item = {.path = strdup(path), .plain = plain};

	item.err = why ? malloc(sizeof(*why)) : NULL;
	if (item.err)
		*item.err = *why;
	return export_list_add_item(l, &item) && (!why || item.err);
}

/* An archive, whose members are added. */
struct adding {
	struct export_list *l;
	const char *path;   /* path of the archive from SOURCE */
	const char *beside; /* path of the folder beside the archive */
	const struct archived *archived;
};

static bool export_list_add_member(void *closure, const char *path, const struct err *why)
{
	const struct adding *a = closure;
	struct export_item item = {.inside = strlen(a->path) + 1};
	struct buf shown = BUF_INIT;

	if (asprintf(&item.path, "%s/%s", a->path, path) < 0)
		return false;
	if (!shard_has(a->l->shard, item.path)) {
		free(item.path);
		return true;
	}
	buf_text(&shown, a->beside);
	archived_path(a->archived, true, &shown);
	buf_char(&shown, '\0');
	if (shown.failed)
		buf_release(&shown);
	item.shown = (char *)shown.data;
	item.err = why ? malloc(sizeof(*why)) : NULL;
	if (item.err)
		*item.err = *why;
	return export_list_add_item(a->l, &item) && (!why || item.err);
}

/*
 * Returns the name of the folder beside an archive: "Root.cpk.d", or "Root.cpk.d~2" if SOURCE has
 * something of that name.
 */
static char *name_beside(const struct export_list *l, const char *path)
{
	struct stat st;
	char *beside;

	if (asprintf(&beside, "%s.d", path) < 0)
		return NULL;
	if (fstatat(l->site->root, beside, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return beside;
	free(beside);
	return asprintf(&beside, "%s.d~2", path) < 0 ? NULL : beside;
}

static bool export_list_add_archive(struct export_list *l, const char *path)
{
	struct err err = {.code = ERR_NONE};
	struct open_archive *o = open_archive(l, path, strlen(path), &err);
	char *beside = o ? name_beside(l, path) : NULL;
	bool fine = beside != NULL;

	if (!o)
		return !shard_has(l->shard, path) || export_list_add_file(l, path, false, &err);
	if (fine)
		fine = archived_visit(&o->archived, export_list_add_member,
				      &(struct adding){l, path, beside, &o->archived});
	free(beside);
	free_archive(o);
	return fine;
}

void export_list_init(struct export_list *l, struct store *store, const struct site *site)
{
	*l = (struct export_list){.store = store, .site = site};
	pthread_mutex_init(&l->lock, NULL);
}

bool export_list_make(struct export_list *l, const struct gathered *files)
{
	bool fine = true;

	for (size_t i = 0; fine && i < files->count; i++) {
		const char *path = files->paths[i], *slash = strrchr(path, '/');
		bool archive = store_container(l->store, slash ? slash + 1 : path) != NULL;

		if (!archive || (l->all && shard_has(l->shard, path)))
			fine = export_list_add_file(l, path, archive, NULL);
		if (fine && archive)
			fine = export_list_add_archive(l, path);
	}
	return fine;
}

void export_list_release(struct export_list *l)
{
	while (l->idle) {
		struct open_archive *o = l->idle;

		l->idle = o->next;
		free_archive(o);
	}
	for (size_t i = 0; i < l->count; i++)
		item_release(&l->items[i]);
	free(l->items);
}
