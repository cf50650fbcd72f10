/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replace.h - puts new bytes in the place of a file, whole or not at all.
 *
 * A new file beside the old one gets the bytes, the old one's mode, owner, xattrs and ACLs; fsync;
 * then RENAME_EXCHANGE where the filesystem has it: what comes out must still be the version that
 * was checked, otherwise both are exchanged back and the answer is EAGAIN. Elsewhere a plain rename
 * right after the check: what another program puts there between the two is lost.
 * The folder is fsynced. A reader sees the old file or the new one.
 *
 * Whether another program has the old file open for writing is asked by a lease (F_SETLEASE), which
 * the kernel gives to the file's owner and to root, on local filesystems; elsewhere nobody is seen.
 */
#ifndef ANIMFS_REPLACE_H
#define ANIMFS_REPLACE_H

#include "at.h"
#include "attributes.h"

/*
 * dir and name: the file. expect: the version it must still have (NULL: the file must not exist,
 * and gets mode 0666 less umask). was: the bytes that it must still hold, since times can be too
 * coarse to tell (NULL: the version is enough). temporary: a free name in dir, of the caller's
 * choosing; it is gone afterwards. now: the version that is there afterwards; *settled tells
 * whether any later write will show as another (may be NULL). Returns 0 or an errno: EAGAIN when
 * the file is not the expected version any more, EBUSY when another program has it open for writing
 * (found out before anything is written, so that asking again costs little). When the folder's
 * fsync fails, the old file is put back where it was exchanged.
 */
int replace_file(int dir, const char *name, const struct file_version *expect,
		 const struct bytes *was, const char *temporary, struct bytes data,
		 struct file_version *now, bool *settled);

/*
 * A file that does not exist yet, which has these attributes before it can be seen; otherwise as
 * replace_file without `expect`.
 */
int replace_new(int dir, const char *name, const struct attributes *as, const char *temporary,
		struct bytes data, struct file_version *now, bool *settled);

/*
 * The same in two steps, for who holds a lock only from the check of the old file to the rename:
 *
 *	struct replacement r = {.dir = ..., .via = ..., .name = ..., .temporary = ..., ...};
 *	error = replace_prepare(&r, data);
 *	... lock ...
 *	if (!error)
 *		error = replace_place(&r, &now, &settled);
 *	... unlock ...
 *	replace_end(&r);
 *
 * The temporary gets its bytes and attributes and is on disk after replace_prepare; the old file is
 * compared by replace_place.
 */
struct replace_owner {
	uid_t uid;
	gid_t gid;
};

struct replacement {
	int dir, via;                      /* the folders of the file and of the temporary */
	const char *name, *temporary;      /* each as of replace_file */
	const struct file_version *expect; /* NULL: there must be no file */
	const struct bytes *was;           /* what `expect` holds; NULL: the version is enough */
	/* Of a new file: these attributes; or those of the file `like`, for this owner; or none. */
	const struct attributes *as;
	bool has_like;
	int like;                          /* with has_like, a descriptor */
	const struct replace_owner *owner; /* NULL: that of `like` */

	/* private */
	bool prepared;
	int old, fresh;
	struct file_version written; /* the new file before anybody else can reach it */
	bool settled;                /* and its mtime is one that no later write leaves behind */
};

int replace_prepare(struct replacement *r, struct bytes data);
int replace_place(struct replacement *r, struct file_version *now, bool *settled);
void replace_end(struct replacement *r); /* removes the temporary */

/*
 * Puts a file under a name without looking at what it replaces (`over`), or where there is none yet
 * (EAGAIN). It gets the attributes of the file `like`; -1: mode 0600. It belongs to `owner`, or to
 * the owner of `like` (NULL); another group than that of `like` has others' rights, and no ACL.
 * `temporary` is a free name in the folder `via`, of the same filesystem.
 */
int replace_copy(int dir, const char *name, int via, const char *temporary, bool over, int like,
		 const struct replace_owner *owner, struct bytes data);

#endif
