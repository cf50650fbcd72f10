/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - an archive while the mount shows it: its folder, and the places of the things below
 * it.
 *
 * The folder of an archive is a thing of its own (THING_ARCHIVE); below it are the archive's
 * folders and files (THING_MEMBER), animations, and the folders of archives in it. None of them
 * remembers its place in the archive: it is found by the names of the nodes in the present archive,
 * like the place of a view in a version. So the nodes stay when the file is replaced.
 */
#ifndef ANIMFS_VFS_ARCHIVE_H
#define ANIMFS_VFS_ARCHIVE_H

#include "folder.h"
#include "invalidate.h"
#include "vfs.h"

#include "store/archives.h"
#include "store/overlay.h"

struct overlay;

/* Of a THING_ARCHIVE; lives while such a thing or a call refers to it. */
struct shown_archive {
	struct archive_source *source; /* constant; locks itself */
	uint32_t references GUARDED_BY(vfs_class);
	/* Does it belong to a game (store/overlay.h)? Known for the archive of this generation. */
	uint64_t settled GUARDED_BY(vfs_class);
	bool is_game GUARDED_BY(vfs_class);
};

/* Makes one with a reference for the caller. NULL: no memory. */
struct shown_archive *shown_archive_new(struct vfs *v);
void shown_archive_get(struct shown_archive *s) REQUIRES(vfs_class);
void shown_archive_put(struct shown_archive *s) REQUIRES(vfs_class); /* NULL is fine */

/* An entry of an opened archive. */
struct spot {
	struct catalog *of; /* referenced */
	uint32_t entry;
	bool loose; /* members of that archive may have loose files; see spot_loose */
};
void spot_release(struct spot *s);
/*
 * Finds a THING_ARCHIVE or THING_MEMBER in the present archive. 0 or an errno: ENOENT if it is no
 * longer there; EIO, with the reason in err, if the archive cannot be read.
 */
int spot_of(struct vfs *v, const struct node *node, struct spot *out, struct err *err)
	EXCLUDES(vfs_class);
/* The loose file of a member, and of the archives that contain it. */
struct loose_site {
	struct folder folder; /* of the outermost archive */
	char *path;           /* of that archive, from SOURCE */
	struct loose levels[ARCHIVES_DEPTH];
	unsigned depth;
	struct loose *loose; /* the member's */
	int dir;             /* its folder; -1: there is none */
};
/*
 * Finds it for a member in the archive that the node is in. 0 or an errno. The spot must stay until
 * loose_site_close. Do not move it in memory.
 */
int loose_site_open(struct vfs *v, const struct node *node, const struct spot *member,
		    struct loose_site *out, struct err *err) EXCLUDES(vfs_class);
void loose_site_close(struct vfs *v, struct loose_site *site);
/* Valid as long as the site. */
struct where loose_where(const struct loose_site *site);
/*
 * Opens the loose file that replaces a member. ENOENT: there is none. The spot is from spot_of, or
 * in the same archive.
 */
int spot_loose(struct vfs *v, const struct node *node, const struct spot *spot, int *fd)
	EXCLUDES(vfs_class);
/* Attributes of an entry as it is shown, as a regular file: of its loose file or the member. */
void spot_stat(struct vfs *v, const struct node *node, const struct spot *spot, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * The node for the entry of this name in a folder of an archive, made if necessary, with
 * references.
 */
int spot_node(struct vfs *v, const struct target *parent, const char *name, bool folder,
	      const struct spot *spot, struct target *out) EXCLUDES(vfs_class);
/* As spot_node, for the folder of an archive. */
int archive_node(struct vfs *v, const struct target *parent, const char *name,
		 struct shown_archive *s, struct target *out) EXCLUDES(vfs_class);
/* The errno for an error that keeps an archive or member from being read. */
int spot_errno(const struct err *err);

/*
 * Attributes of the archive of a THING_ARCHIVE, as of a regular file; a nested archive is not
 * opened for them. 0 or an errno.
 */
int archive_stat(struct vfs *v, const struct node *folder, struct stat *st) EXCLUDES(vfs_class);
/* Opens the file that contains a node, or that its folder is beside, with O_PATH. 0 or an errno. */
int archive_pin(struct vfs *v, const struct node *node, int *fd) EXCLUDES(vfs_class);
/* Invalidates everything of an archive that others have changed. */
void archive_changed(struct vfs *v, const struct node *folder, struct changes *changes)
	EXCLUDES(vfs_class);

#endif
