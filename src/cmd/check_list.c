/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check_list.h"
#include "gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds an item and takes over its paths; on failure frees them. */
static bool check_list_add_item(struct check_list *l, const struct check_item *item)
{
	struct check_item *items =
		item->path ? array_room(l->items, l->count, &l->room, sizeof(*items)) : NULL;

	if (!items) {
		free(item->path);
		free(item->target);
		free(item->err);
		return false;
	}
	l->items = items;
	items[l->count++] = *item;
	return true;
}

struct asked {
	struct store *store;
	const struct shard *shard;
};

static enum gather check_list_filter_entry(void *closure, const FTSENT *entry, const char *path)
{
	const struct asked *asked = closure;
	const struct codec *codec;
	bool probe;

	if (entry->fts_info == FTS_D)
		return GATHER_ENTER;
	if (entry->fts_info != FTS_F)
		return GATHER_PASS;
	/* Take any archive: its members are assigned to shards one by one. */
	if (store_container(asked->store, entry->fts_name))
		return GATHER_TAKE;
	return store_claims(asked->store, entry->fts_name, &codec, &probe) &&
			       shard_has(asked->shard, path)
		       ? GATHER_TAKE
		       : GATHER_PASS;
}

static char *check_list_join_path(const char *folder, const char *name)
{
	bool slash = *folder && folder[strlen(folder) - 1] == '/';
	char *path;

	return asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0 ? NULL : path;
}

/* ---- archives ---- */

/* Adding the members of an archive that are below one place in it. */
struct expanding {
	struct check_list *l;
	const char *path, *there; /* path of the archive, as it was named and in SOURCE */
	const char *shown;        /* path of the archive from which shards are computed */
	const char *inside;       /* the place in the archive, as it was named */
	const struct shard *shard;
	bool named; /* the user named this member, not a folder above it */
};

static char *join_inside(const char *file, const char *inside, const char *below)
{
	size_t size = strlen(inside);
	char *path;

	while (size > 0 && inside[size - 1] == '/')
		size--;
	return asprintf(&path, "%s%s%.*s%s%s", file, size || *below ? "/" : "", (int)size, inside,
			size && *below ? "/" : "", below) < 0
		       ? NULL
		       : path;
}

static bool check_list_add_member(void *closure, const char *below, const struct err *why)
{
	const struct expanding *x = closure;
	struct check_item item = {.named = x->named};
	char *shown = join_inside(x->shown, x->inside, below);
	bool has = shown && shard_has(x->shard, shown), room = shown != NULL;

	free(shown);
	if (!room || !has)
		return room;
	item.path = join_inside(x->path, x->inside, below);
	item.inside = strlen(x->path) + 1;
	if (x->there != x->path)
		item.target = join_inside(x->there, x->inside, below);
	item.target_inside = strlen(x->there) + 1;
	item.err = why ? malloc(sizeof(*why)) : NULL;
	if (item.err)
		*item.err = *why;
	room = (x->there == x->path || item.target) && (!why || item.err);
	return check_list_add_item(x->l, &item) && room;
}

/* Adds the members of an archive (see struct expanding). False when out of memory. */
static bool check_list_add_archive(struct check_list *l, const char *path, const char *there,
				   const char *shown, const char *inside, struct store *store,
				   const struct shard *shard)
{
	struct expanding x = {l, path, there, shown, inside + strspn(inside, "/"), shard, false};
	struct err err = {.code = ERR_NONE};
	char *folder;
	const char *name = path_cut(there, &folder), *rest;
	struct archived a = {.fd = -1};
	int fd = -1;
	bool fine;

	if (folder)
		fd = open(name == there ? "."
			  : *folder     ? folder
					: "/",
			  O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_system(&err, errno, path);
	if (fd >= 0 && archived_open(&a, store, NULL, fd, name, &err) &&
	    archived_walk(&a, inside, &rest, &err) && *rest)
		err_set(&err, ERR_SYSTEM, "%s", strerror(ENOTDIR));
	/* A member that the user named is checked whatever its name, and reported if missing. */
	x.named = err.code == ERR_OPERAND || err.code == ERR_SYSTEM ||
		  (!err.code && archived_kind(&a) == ARCHIVED_FILE);
	if (err.code || x.named)
		fine = check_list_add_member(&x, "", err.code ? &err : NULL);
	else
		fine = archived_visit(&a, check_list_add_member, &x);
	archived_release(&a);
	if (fd >= 0)
		close(fd);
	free(folder);
	return fine;
}

/* ---- folders and operands ---- */

/* Adds a file found in a folder; the path is relative to that folder. */
static bool add_found(struct check_list *l, const char *folder, const char *there,
		      const char *found, const struct asked *asked)
{
	struct check_item item = {.path = check_list_join_path(folder, found)};
	const char *slash = strrchr(found, '/');
	bool room;

	if (folder != there)
		item.target = check_list_join_path(there, found);
	room = item.path && (folder == there || item.target);
	if (!room || !store_container(asked->store, slash ? slash + 1 : found))
		return check_list_add_item(l, &item) && room;
	room = check_list_add_archive(l, item.path, item.target ? item.target : item.path, found,
				      "", asked->store, asked->shard);
	free(item.path);
	free(item.target);
	return room;
}

/*
 * Adds the files of a folder; `there` is the folder in SOURCE, or the same pointer as `folder` if
 * that is in no mount.
 */
static bool add_folder(struct check_list *l, const char *folder, const char *there,
		       struct store *store, const struct shard *shard)
{
	struct asked asked = {store, shard};
	struct gathered found = GATHERED_INIT;
	bool room = true;

	l->fine &= gather(there, check_list_filter_entry, &asked, &found);
	for (size_t i = 0; room && i < found.count; i++)
		room = add_found(l, folder, there, found.paths[i], &asked);
	gathered_release(&found);
	return room;
}

/* Adds an archive, or a path in one; false if it is neither. *room: false when out of memory. */
static bool add_archived(struct check_list *l, const char *path, const char *there,
			 struct store *store, const struct shard *shard, bool *room)
{
	size_t behind = strlen(there) - operand_file(there), length = strlen(path);
	char *file = strndup(there, strlen(there) - behind), *target = NULL, *named = NULL;
	const char *slash;
	struct stat st;
	bool is = false;

	*room = file != NULL;
	target = file ? operand_target(file) : NULL;
	slash = file ? strrchr(target ? target : file, '/') : NULL;
	if (file && behind <= length && stat(file, &st) == 0 && S_ISREG(st.st_mode))
		is = store_container(store, slash ? slash + 1 : target ? target : file) != NULL;
	if (is) {
		named = strndup(path, length - behind);
		slash = named ? strrchr(named, '/') : NULL;
		*room = named != NULL;
		if (named && !target && strcmp(file, named) == 0)
			*room = check_list_add_archive(l, named, named, slash ? slash + 1 : named,
						       path + length - behind, store, shard);
		else if (named)
			*room = check_list_add_archive(l, named, target ? target : file,
						       slash ? slash + 1 : named,
						       path + length - behind, store, shard);
	}
	free(named);
	free(target);
	free(file);
	return is;
}

static bool check_list_add_operand(struct check_list *l, const char *path, const char *there,
				   struct store *store, const struct shard *shard)
{
	const char *slash = strrchr(path, '/');
	struct check_item item = {.named = true};
	struct stat st;
	bool room;

	if (add_archived(l, path, there, store, shard, &room))
		return room;
	if (stat(there, &st) != 0)
		item.missing = errno;
	else if (S_ISDIR(st.st_mode))
		return add_folder(l, path, there, store, shard);
	if (!shard_has(shard, slash ? slash + 1 : path))
		return true;
	item.path = strdup(path);
	item.target = operand_target(there);
	if (there != path && !item.target)
		item.target = strdup(there);
	return check_list_add_item(l, &item);
}

bool check_list_add(struct check_list *l, const char *path, struct store *store,
		    const struct shard *shard)
{
	struct err err = {.code = ERR_NONE};
	struct mounted m;
	bool fine = true;

	if (mounted_find(path, &m, &err)) {
		fine = check_list_add_operand(l, path, m.source ? m.path : path, store, shard);
	} else {
		l->fine = command_error(path, &err);
		fine = err.code != ERR_MEMORY;
	}
	mounted_release(&m);
	return fine;
}

static bool check_list_read_names(struct check_list *l, FILE *in, const char *from,
				  struct store *store, const struct shard *shard)
{
	char *name = NULL;
	size_t room = 0;
	bool fine = true;

	while (fine && getdelim(&name, &room, '\0', in) > 0) {
		if (!*name)
			fine = command_fail(from, "a name is empty");
		else if (!check_list_add(l, name, store, shard))
			fine = command_fail(from, strerror(ENOMEM));
	}
	free(name);
	return fine && (feof(in) || command_fail(from, strerror(errno)));
}

bool check_list_read(struct check_list *l, const char *from, struct store *store,
		     const struct shard *shard)
{
	bool standard = strcmp(from, "-") == 0, fine;
	FILE *in = standard ? stdin : fopen(from, "re");

	if (!in)
		return command_fail(from, strerror(errno));
	fine = check_list_read_names(l, in, standard ? "standard input" : from, store, shard);
	if (!standard)
		fclose(in);
	return fine;
}

void check_list_release(struct check_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].path);
		free(l->items[i].target);
		free(l->items[i].err);
	}
	free(l->items);
}
