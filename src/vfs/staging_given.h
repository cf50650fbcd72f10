/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_given.h - attributes that were set on a staged folder, or on a file in it: owner, group,
 * mode, time, and the user that set them. The file that the folder becomes gets them.
 */
#ifndef ANIMFS_VFS_STAGING_GIVEN_H
#define ANIMFS_VFS_STAGING_GIVEN_H

#include "disk/attributes.h"
#include "vfs.h"

/* GIVEN_MADE: the file was created, with its mode. */
enum staging_given { GIVEN_MADE, GIVEN_OWNER, GIVEN_GROUP, GIVEN_MODE, GIVEN_TIME };
#define GIVEN_COUNT 5

struct gift {
	struct identity file;
	struct given_by {
		uint32_t order; /* 0: not set */
		pid_t by;
	} given[GIVEN_COUNT];
};

struct gifts {
	struct gift folder, *list; /* `list`: of files in it */
	size_t count, room;
	uint32_t order;
};

/*
 * file: NULL for the folder; what: bits (1 << GIVEN_...). Out of memory the attribute counts as
 * unknown, as after a kill.
 */
void gifts_add(struct gifts *g, const struct identity *file, unsigned what, pid_t by);
void gifts_release(struct gifts *g);

/*
 * Decides for each attribute whether that of the folder or of its raw.* (NULL: none) counts. A
 * copying program sets both, the folder's last, and means raw.*; otherwise the last one set counts.
 */
enum say { SAY_NOBODY, SAY_FOLDER, SAY_RAW };
void gifts_say(struct gifts *g, const struct identity *raw, enum say out[GIVEN_COUNT]);

/* Moves the folder's attributes (`as`), except its mtime, to the clip. */
void gifts_carry_over(struct vfs *v, const enum say says[GIVEN_COUNT], const struct attributes *as,
		      struct node *clip) REQUIRES(vfs_class);
/*
 * Makes the attributes of a file: `as` has the folder's, and gets the file's. raw: a descriptor of
 * raw.*. 0 or an errno.
 */
int gifts_for_file(const enum say says[GIVEN_COUNT], bool own_mode, int raw, struct attributes *as);

#endif
