/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_given.h - what was given to a staged folder, or to a file in it: owner, group, mode,
 * time, and by whom. What the folder becomes gets that.
 */
#ifndef ANIMFS_VFS_STAGING_GIVEN_H
#define ANIMFS_VFS_STAGING_GIVEN_H

#include "attributes.h"
#include "vfs.h"

/* GIVEN_MADE: the file was made, with its mode. */
enum staging_given { GIVEN_MADE, GIVEN_OWNER, GIVEN_GROUP, GIVEN_MODE, GIVEN_TIME };
#define GIVEN_COUNT 5

/* To the folder itself, or to one of the files in it. */
struct gift {
	struct identity to;
	struct {
		uint64_t turn; /* 0: it was not; otherwise a later one has a higher number */
		pid_t by;
	} given[GIVEN_COUNT];
};

struct gifts {
	uint64_t turns;
	struct gift own;
	struct gift *files; /* the oldest first; NULL: none was given anything */
	size_t count;
};

/* to: a file, or NULL: the folder; what: bits (1 << GIVEN_...). */
void gifts_add(struct gifts *g, const struct identity *to, unsigned what, pid_t by);
void gifts_release(struct gifts *g);

/*
 * Which of the folder and its raw.* (NULL: there is none) counts for one of these? A program that
 * copies gives both, the folder last, and means raw.*; otherwise what was given last counts.
 */
enum say { SAY_NOBODY, SAY_FOLDER, SAY_RAW };
enum say gifts_say(const struct gifts *g, const struct identity *raw, enum staging_given what);

/* What the folder was given is the clip's; `as`: the folder's attributes. Its mtime is left out. */
void gifts_carry_over(struct vfs *v, const struct gifts *g, const struct attributes *as,
		      struct node *clip) REQUIRES(vfs_class);

#endif
