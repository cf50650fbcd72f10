/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_list.h - the list of files to process, with the members of archives in their place; and
 * the open archives.
 */
#ifndef ANIMFS_CMD_EXPORT_LIST_H
#define ANIMFS_CMD_EXPORT_LIST_H

#include "archived.h"
#include "gather.h"
#include "shard.h"

#include <pthread.h>

struct export_item {
	char *path;      /* path of the file from SOURCE */
	size_t inside;   /* offset in `path` of the path inside an archive; 0: the item is a file */
	bool plain;      /* the item is a file that is copied without looking into it */
	char *shown;     /* member: path of its folder in DIR */
	struct err *err; /* why the item cannot be read; or NULL */
};

struct open_archive;
struct export_list {
	struct store *store;
	const struct site *site; /* site of SOURCE */
	const struct shard *shard;
	bool all; /* archives are copied, too */
	struct export_item *items;
	size_t count, room;
	pthread_mutex_t lock;
	struct open_archive *idle; /* archives that no thread uses */
};

void export_list_init(struct export_list *l, struct store *store, const struct site *site);
/* Makes the list from the files that were found in SOURCE. False when out of memory. */
bool export_list_make(struct export_list *l, const struct gathered *files);
void export_list_release(struct export_list *l);

/*
 * Opens the archive of this path, of `size` bytes, with the entry at the path `inside` it as its
 * current one. One thread uses it until it gives it back. NULL, with err set, on failure.
 */
struct open_archive *export_list_open(struct export_list *l, const char *path, size_t size,
				      const char *inside, struct err *err);
const struct archived *open_archive_at(const struct open_archive *o);
void export_list_close(struct export_list *l, struct open_archive *o);

#endif
