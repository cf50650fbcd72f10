/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archived.h - paths into archives: Root.cpk/OBJECT/X.MRAB/MODEL/x.mdb. A member that has a loose
 * file (store/overlay.h) is read from that. Archives are only read.
 *
 * At any time one entry of the innermost archive that was entered is the current one: its top, a
 * folder, or a member. Not thread-safe; each thread opens its own.
 */
#ifndef ANIMFS_CMD_ARCHIVED_H
#define ANIMFS_CMD_ARCHIVED_H

#include "site.h"
#include "store/member.h"
#include "store/overlay.h"

#include <sys/stat.h>

/* limit of nesting, since an archive could contain itself */
#define ARCHIVED_DEPTH 4

struct archived {
	struct store *store;
	const struct site
		*site; /* site with the loose files; NULL: loose files are not looked for */
	int fd;
	struct stat st; /* attributes of the outermost archive's file */
	struct archive_place place;
	int dir; /* folder of the file, if `site` is set */
	char *path;
	struct archived_level {
		struct archive *archive;
		struct contents *contents;
		struct buf bytes;   /* bytes of an archive that is packed in another, or in a loose
				       file */
		struct loose loose; /* loose file of the archive */
		struct stat st;
		uint32_t from; /* index of this archive's entry in the archive above, */
		char *path;    /* and the path that leads there; NULL: this archive is the file */
	} levels[ARCHIVED_DEPTH];
	unsigned depth;
	uint32_t entry;
};

/*
 * Opens the file `name` of the folder, an archive. `site`: that of the folder, or NULL to read
 * members only from the archives. Release it in either case.
 */
bool archived_open(struct archived *a, struct store *store, const struct site *site, int dir,
		   const char *name, struct err *err);
void archived_release(struct archived *a);

/*
 * Is the path, of this length, that of the folder beside an archive, Root.cpk.d? If so, sets the
 * archive's path.
 */
bool archived_beside(int root, const struct store *store, const char *path, size_t length,
		     char file[PATH_MAX]);

/*
 * Goes down a path through archives and folders to a member; *rest is the path after that, which
 * only an animation may have. X.MRAB.d is X.MRAB, too, if nothing else has that name. False and
 * err; ERR_OPERAND if there is no such thing.
 */
bool archived_walk(struct archived *a, const char *path, const char **rest, struct err *err);

/* Like archived_walk, but from the top of the file. Archives on the way stay open. */
bool archived_go(struct archived *a, const char *path, const char **rest, struct err *err);

/* Is the current entry an archive that was not entered, a folder (or the top), or a member? */
enum archived_kind { ARCHIVED_FOLDER, ARCHIVED_ARCHIVE, ARCHIVED_ANIMATION, ARCHIVED_FILE };
enum archived_kind archived_kind(const struct archived *a);
/* Returns the kind of an entry of the current archive. */
enum archived_kind archived_kind_of(const struct archived *a, uint32_t entry);
/* Enters the current entry, an archive; its top becomes the current entry. */
bool archived_enter(struct archived *a, struct err *err);

const struct archived_level *archived_level(const struct archived *a);
struct member_of archived_member(const struct archived *a, uint32_t entry);
/* Appends the bytes of the current member, from its loose file if it has one. */
bool archived_read(const struct archived *a, struct buf *out, struct err *err);
/*
 * Gets the attributes of the file that the current member is read from: its loose file, or the
 * archive.
 */
bool archived_stat(const struct archived *a, struct stat *st, struct err *err);
/*
 * Decodes the current member; NULL, with err set, on failure. *st: attributes of the file that it
 * was read from.
 */
struct version *archived_version(const struct archived *a, struct stat *st, struct err *err);
/*
 * Finds the loose file of the current member; needs `site`. `a` must stay as long as the result is
 * used. Release it in either case.
 */
bool archived_loose(const struct archived *a, struct loose *out, struct err *err);

/*
 * Appends the path of the current entry from the top of the file, behind a '/' if `out` is not
 * empty. `beside`: with the names of the folders that stand beside archives, X.MRAB.d for X.MRAB.
 */
void archived_path(const struct archived *a, bool beside, struct buf *out);

/*
 * Calls `each` for every member below the current entry that could be an animation, and for those
 * archives that cannot be opened, with `why`; in order. `path` is relative to the current entry;
 * during the call, the member is the current entry. Returns false if `each` does, or when out of
 * memory.
 */
typedef bool archived_each(void *closure, const char *path, const struct err *why);
bool archived_visit(struct archived *a, archived_each *each, void *closure);

#endif
