/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replace.h - puts new bytes in the place of a file, whole or not at all.
 *
 * A new file beside the old one gets the bytes, the old one's mode, owner, xattrs and ACLs; fsync;
 * then RENAME_EXCHANGE where the filesystem has it: the file that comes out must still be the
 * checked version, otherwise both are exchanged back and the result is EAGAIN. Elsewhere a plain
 * rename follows the check: a file that another program puts there in between is lost. The folder
 * is fsynced. A reader sees the old file or the new one.
 *
 * Whether another program has the old file open for writing is asked by a lease (F_SETLEASE), which
 * the kernel gives to the file's owner and to root, on local filesystems; elsewhere writers go
 * unnoticed.
 */
#ifndef ANIMFS_DISK_REPLACE_H
#define ANIMFS_DISK_REPLACE_H

#include "attributes.h"
#include "dirfd.h"

/*
 * Replaces a file in two steps, so that a lock is held only from the check of the old file to the
 * rename:
 *
 *	struct replacement r = {.dir = ..., .via = ..., .name = ..., .temporary = ..., ...};
 *	error = replace_prepare(&r, data);
 *	... lock ...
 *	if (!error)
 *		error = replace_place(&r, &now, &settled);
 *	... unlock ...
 *	replace_end(&r);
 *
 * After replace_prepare the temporary has its bytes and attributes and is on disk. replace_place
 * compares the old file, and renames. Both return 0 or an errno: EAGAIN if the file is not the
 * expected version, EBUSY if another program has it open for writing (found before anything is
 * written, so that trying again is cheap). If something fails after the rename, such as the
 * folder's fsync, the old file is put back, or the new one removed if there was none. Where that
 * cannot be done, as without RENAME_EXCHANGE, the new file stays although the result is an error: a
 * save that a power cut may undo has not succeeded. *now is the version of the file afterwards;
 * *settled (or NULL) says whether any later write is sure to change it.
 */
struct replace_owner {
	uid_t uid;
	gid_t gid;
};

struct replacement {
	int dir, via;                 /* folder of the file, and folder of the temporary */
	const char *name, *temporary; /* name of the file, and a free name for the temporary, which
					 is free again afterwards */
	const struct file_version
		*expect; /* version that the old file must have; NULL: there must be no file */
	const struct bytes
		*was; /* content that it must have, in case its times are coarse; or NULL */
	/*
	 * Attributes of a new file: these; or those of `like`, with this owner; or 0666 less umask.
	 */
	const struct attributes *as;
	bool has_like;
	int like; /* descriptor of the file to take attributes from, if has_like */
	const struct replace_owner *owner; /* NULL: that of `like` */
	/*
	 * The user who wrote the bytes: if that is neither the owner nor root, set-id bits and
	 * capabilities are dropped. NULL: the owner, or unknown.
	 */
	const uid_t *writer;
	/*
	 * Called to keep the old file, `name` in `dir`; NULL: it is removed. `spare`: it was
	 * replaced and may be moved. Otherwise it still has its own name and is about to be
	 * replaced; only a link to it may be made. 0; on an errno nothing is replaced.
	 */
	int (*keep)(void *keeper, int dir, const char *name, bool spare);
	void *keeper;

	uid_t payer; /* the user whose quota is full, if replace_prepare returns EDQUOT */

	/* fields below are private to replace.c */
	bool prepared;
	int old, fresh;
	struct file_version
		written; /* version of the new file before it was visible under its name */
	bool settled;    /* no later write can leave its mtime unchanged */
	bool is_stuck;   /* the temporary name is another program's file, which is not removed */
};

int replace_prepare(struct replacement *r, struct bytes data);
int replace_place(struct replacement *r, struct file_version *now, bool *settled);
void replace_end(struct replacement *r); /* removes the temporary */

/*
 * Puts a copy under a name; EAGAIN if the name exists. It gets the attributes of the file `like`;
 * -1: mode 0600. It belongs to `owner`, or to the owner of `like` (NULL); with another group than
 * that of `like` the group has others' rights, and there is no ACL. `temporary` is a free name in
 * the folder.
 */
int replace_copy(int dir, const char *name, const char *temporary, int like,
		 const struct replace_owner *owner, struct bytes data);

#endif
