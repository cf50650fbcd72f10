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
	const char *stored; /* name in the archive; a folder's is not NUL-terminated */
	uint32_t stored_size;
	uint32_t parent;
	uint32_t member;      /* CONTENTS_NONE: it is a folder */
	uint32_t first, last; /* the entries of the folder; CONTENTS_NONE: it is empty */
	uint32_t next;        /* entry of the same folder; CONTENTS_NONE: it is the last */
	uint32_t again;       /* the number to try for the next entry of this name */
};

/* Entry 0 is the top. */
struct contents {
	struct contents_entry *entries;
	uint32_t count;
	size_t room;
	struct arena arena;
	struct contents_index {
		uint32_t *slots; /* entry + 1; 0: free */
		size_t mask, used;
	} labels, stored; /* by parent and label; folders by parent and stored name */
	size_t limit;
};

/*
 * The archive must outlive the result, which takes at most as much memory as the list of the
 * archive may take. NULL, with err set, on failure.
 */
struct contents *contents_new(const struct archive *a, struct err *err);
void contents_free(struct contents *c); /* NULL is fine */
/* The entry of a folder that has this label; CONTENTS_NONE if there is none. */
uint32_t contents_find(const struct contents *c, uint32_t folder, const char *label, size_t size);

#endif
