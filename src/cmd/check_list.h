/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check_list.h - the files that `animfs check` checks. */
#ifndef ANIMFS_CMD_CHECK_LIST_H
#define ANIMFS_CMD_CHECK_LIST_H

#include "cmd.h"
#include "shard.h"

struct check_item {
	char *path;
	char *target; /* path of the file itself, for an operand that is a link or in a mount; else
			 NULL */
	int missing;  /* errno of the failed stat, or 0 */
	bool named;   /* an operand, and not found in a folder */
	/*
	 * For a member of an archive: the offset of the path inside the archive, in path and in
	 * target; else 0.
	 */
	size_t inside, target_inside;
	struct err *err; /* why the file cannot be read; or NULL */
};

struct check_list {
	struct check_item *items;
	size_t count, room;
	bool fine; /* every folder could be read */
};

/*
 * Adds a file, or the animation files below a folder, sorted by name, with those in archives. A
 * path in a mount is looked up in its SOURCE. Adds only files of the shard, by the path below the
 * folder, or the name of the file. Folders that cannot be read are reported on stderr. False when
 * out of memory.
 */
bool check_list_add(struct check_list *l, const char *path, struct store *store,
		    const struct shard *shard);
/*
 * Adds the names in a file, "-" for standard input; each ends in NUL. Prints an error and returns
 * false if it cannot be read, or a name is empty.
 */
bool check_list_read(struct check_list *l, const char *from, struct store *store,
		     const struct shard *shard);
void check_list_release(struct check_list *l);

#endif
