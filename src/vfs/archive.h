/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - an archive while the mount shows it: its folder, and the places of the things below
 * it.
 *
 * The folder of an archive is a thing of its own (THING_ARCHIVE); below it are the archive's
 * folders and files (THING_MEMBER), animations, and the folders of archives in it. None of these
 * things remembers its place in the archive: the place is found by the names of the nodes in the
 * present archive, like the place of a view in a version. So the nodes stay when the file is
 * replaced.
 */
#ifndef ANIMFS_VFS_ARCHIVE_H
#define ANIMFS_VFS_ARCHIVE_H

#include "folder.h"
#include "invalidate.h"
#include "vfs.h"

#include "store/archives.h"
#include "store/overlay.h"

struct overlay;

/* The archive of a THING_ARCHIVE; exists as long as such a thing or a call refers to it. */
struct shown_archive {
	/* the archive's file and tables; constant; has its own lock */
	struct archive_source *source;
	uint32_t references GUARDED_BY(vfs_class);
	/*
	 * Generation of the archive that `is_game` is known for. `is_game`: whether the archive
	 * belongs to a game (store/overlay.h).
	 */
	uint64_t settled GUARDED_BY(vfs_class);
	bool is_game GUARDED_BY(vfs_class);
};

/*
 * Makes a struct shown_archive with one reference, for the caller. Returns NULL when out of memory.
 */
struct shown_archive *shown_archive_new(struct vfs *v);
void shown_archive_get(struct shown_archive *s) REQUIRES(vfs_class);
void shown_archive_put(struct shown_archive *s) REQUIRES(vfs_class); /* NULL is fine */

/* An entry of an opened archive. */
struct spot {
	struct catalog *of; /* the archive; referenced */
	uint32_t entry;
	bool loose; /* whether members of the archive may have loose files; see spot_loose */
};
void spot_release(struct spot *s);
/*
 * Finds the entry of a THING_ARCHIVE or THING_MEMBER in the present archive. Returns 0 or an errno:
 * ENOENT if it is no longer there; EIO, with the reason in err, if the archive cannot be read.
 */
int spot_of(struct vfs *v, const struct node *node, struct spot *out, struct err *err)
	EXCLUDES(vfs_class);
/* The loose file of a member, and of the archives that contain it. */
struct loose_site {
	struct folder folder; /* folder of the outermost archive */
	char *path;           /* path of the outermost archive, from SOURCE */
	struct loose levels[ARCHIVES_DEPTH];
	unsigned depth;
	struct loose *loose; /* loose file of the member */
	int dir;             /* folder of the loose file; -1: there is none */
};
/*
 * Finds the loose file of a member of the archive that the node is in. Returns 0 or an errno.
 * `member` must stay valid until loose_site_close. Do not move *out in memory.
 */
int loose_site_open(struct vfs *v, const struct node *node, const struct spot *member,
		    struct loose_site *out, struct err *err) EXCLUDES(vfs_class);
void loose_site_close(struct vfs *v, struct loose_site *site);
/* Describes the loose file for the store; the result is valid as long as `site`. */
struct where loose_where(const struct loose_site *site);
/*
 * Opens the loose file that replaces a member. Returns 0 or an errno: ENOENT if there is none.
 * `spot` is from spot_of for the node, or in the same archive.
 */
int spot_loose(struct vfs *v, const struct node *node, const struct spot *spot, int *fd)
	EXCLUDES(vfs_class);
/*
 * Reads the attributes that an entry is shown with as a regular file: those of its loose file or,
 * if there is none, of the member.
 */
void spot_stat(struct vfs *v, const struct node *node, const struct spot *spot, struct stat *st)
	EXCLUDES(vfs_class);
/* Finds or makes the node for the entry `name` in a folder of an archive. *out has references. */
int spot_node(struct vfs *v, const struct target *parent, const char *name, bool folder,
	      const struct spot *spot, struct target *out) EXCLUDES(vfs_class);
/* Like spot_node, for the folder of an archive. */
int archive_node(struct vfs *v, const struct target *parent, const char *name,
		 struct shown_archive *s, struct target *out) EXCLUDES(vfs_class);
/* Returns the errno for an error that keeps an archive or member from being read. */
int spot_errno(const struct err *err);

/*
 * Reads the attributes of the archive of a THING_ARCHIVE as those of a regular file, without
 * opening a nested archive. Returns 0 or an errno.
 */
int archive_stat(struct vfs *v, const struct node *folder, struct stat *st) EXCLUDES(vfs_class);
/*
 * Opens, with O_PATH, the file on disk that contains a node in an archive, or that an archive's
 * folder is beside. Returns 0 or an errno.
 */
int archive_pin(struct vfs *v, const struct node *node, int *fd) EXCLUDES(vfs_class);
/* Invalidates all nodes of an archive that other programs have changed. */
void archive_changed(struct vfs *v, const struct node *folder, struct changes *changes)
	EXCLUDES(vfs_class);

#endif
