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

struct gifts {
	struct gift *list; /* latest last; NULL: none */
	size_t count;
};

/* to: a file, or NULL for the folder; what: bits (1 << GIVEN_...). */
void gifts_add(struct gifts *g, const struct identity *to, unsigned what, pid_t by);
void gifts_release(struct gifts *g);

/*
 * Decides for each attribute whether that of the folder or of its raw.* (NULL: none) counts. A
 * copying program sets both, the folder's last, and means raw.*; otherwise the last one set counts.
 */
enum say { SAY_NOBODY, SAY_FOLDER, SAY_RAW };
void gifts_say(const struct gifts *g, const struct identity *raw, enum say out[GIVEN_COUNT]);

/* Moves the folder's attributes (`as`), except its mtime, to the clip. */
void gifts_carry_over(struct vfs *v, const enum say says[GIVEN_COUNT], const struct attributes *as,
		      struct node *clip) REQUIRES(vfs_class);
/*
 * Makes the attributes of a file: `as` has the folder's, and gets the file's. raw: a descriptor of
 * raw.*, or -1. 0 or an errno.
 */
int gifts_for_file(const enum say says[GIVEN_COUNT], bool own_mode, int raw, struct attributes *as);

#endif
