/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contents.h - the members of an archive as folders and files with valid file names
 * (model/names.h): a stored path such as ".." leads nowhere else, and equal names get ~2, ~3 ... in
 * the order of the archive.
 */
#ifndef ANIMFS_CONTAINER_CONTENTS_H
#define ANIMFS_CONTAINER_CONTENTS_H

#include "animfs/container.h"

#define CONTENTS_TOP 0u
#define CONTENTS_NONE UINT32_MAX

struct contents_entry {
	const char *label;  /* file name under which the entry is shown */
	const char *stored; /* name in the archive; that of a folder is not NUL-terminated */
	uint32_t label_size, stored_size;
	uint32_t parent;
	uint32_t member;      /* index in the archive; CONTENTS_NONE: the entry is a folder */
	uint32_t first, last; /* the entries of a folder; CONTENTS_NONE: the folder is empty */
	uint32_t next;  /* the next entry of the same folder; CONTENTS_NONE: this is the last one */
	uint32_t again; /* number to try for the next entry of the same stored name, as in NAME~2 */
};

/* The entries of an archive. Entry 0 is the top folder. */
struct contents {
	struct contents_entry *entries;
	uint32_t count;
	size_t room;
	struct arena arena;
	struct contents_index {
		struct contents_slot {
			uint32_t hash;
			uint32_t entry; /* index of an entry plus 1; 0: free */
		} * slots;
		size_t mask, used;
		/* labels: entries by parent and label; stored: folders by parent and stored name */
	} labels, stored;
	size_t limit;
};

/*
 * Makes the contents of an archive, which must outlive them. They take at most as much memory as
 * the list of the archive may take. NULL, with err set, on failure.
 */
struct contents *contents_new(const struct archive *a, struct err *err);
void contents_free(struct contents *c); /* c may be NULL */
/* Returns the entry with that label in a folder; CONTENTS_NONE if there is none. */
uint32_t contents_find(const struct contents *c, uint32_t folder, const char *label, size_t size);

#endif
