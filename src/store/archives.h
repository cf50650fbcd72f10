/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archives.h - archives that are opened once and shared: their entries, and the bytes of members.
 *
 * An opened archive is immutable, and keeps reading the file that it was opened from, even if
 * another file has its name now. Unreferenced archives and unpacked members stay in the store's
 * cache. An archive in an archive is opened, and unpacked if it is packed, when it is entered.
 * Thread-safe.
 */
#ifndef ANIMFS_STORE_ARCHIVES_H
#define ANIMFS_STORE_ARCHIVES_H

#include "cache.h"
#include "store.h"

#include <limits.h>
#include <sys/stat.h>

struct member_of;
struct catalog; /* an opened archive: its tables, and the place of its bytes */

/* Nesting limit for entering archives in archives. */
#define ARCHIVES_DEPTH 4

/* An archive in all its versions over time: a file, or a member of another archive. */
struct archive_source;
struct archive_source *archive_source_new(struct store *s); /* NULL when out of memory */
void archive_source_free(struct archive_source *a);         /* NULL is fine */
/* Could a file of this name be an archive? */
bool archive_has_name(const struct store *s, const char *file_name);
/*
 * Returns the present archive of a file, with a reference. NULL and err: ERR_FORMAT if its tables
 * are damaged, which is remembered; ERR_SYSTEM if it is not a regular file, or cannot be read. The
 * result for a file that has just changed is valid for half a second.
 */
struct catalog *archive_look(struct archive_source *a, int dir, const char *name, struct err *err);
/* Like archive_look, for a loose file, which replaces a member of an archive (overlay.h). */
struct catalog *archive_look_loose(struct archive_source *a, struct catalog *outer, uint32_t entry,
				   int dir, const char *name, struct err *err);
/* Like archive_look, for an archive that is a member of another one. */
struct catalog *archive_enter(struct archive_source *a, struct catalog *outer, uint32_t entry,
			      struct err *err);

/* Opens an archive, which only the caller has then. NULL and err as of archive_look. */
struct catalog *catalog_open(struct store *store, int dir, const char *name, struct err *err);

struct catalog *catalog_get(struct catalog *o);
void catalog_put(struct catalog *o); /* drops a reference; NULL is ignored */
uint64_t catalog_generation(
	const struct catalog *o); /* number that is unique among opened archives; never 0 */
const struct stat *catalog_stat(
	const struct catalog *o); /* stat of the archive's file, or of the file that contains it */

/* Returns the archive that contains `o`, and its entry there; NULL: `o` is a file. */
struct catalog *catalog_outer(const struct catalog *o, uint32_t *entry);

/* ---- entries ---- */

#define CATALOG_TOP 0u
#define CATALOG_NONE UINT32_MAX

enum member_kind { MEMBER_FOLDER, MEMBER_ARCHIVE, MEMBER_ANIMATION, MEMBER_FILE };

/* Entries of a folder, in the order of the archive; CATALOG_NONE at the end. */
uint32_t catalog_first(const struct catalog *o, uint32_t folder);
uint32_t catalog_next(const struct catalog *o, uint32_t entry);
uint32_t catalog_find(const struct catalog *o, uint32_t folder, const char *name);
const char *catalog_name(const struct catalog *o, uint32_t entry); /* its file name */
/* Is it an archive that was entered, and found to be damaged? */
bool catalog_was_refused(const struct catalog *o, uint32_t entry);
/* Returns the kind of an entry that its name implies. */
enum member_kind catalog_kind(const struct catalog *o, uint32_t entry);
/*
 * Returns the name of the folder beside an archive entry: "X.MRAB.d", or "X.MRAB.d~2" if the first
 * is itself an entry. False if it is too long for a name.
 */
bool catalog_beside(const struct catalog *o, uint32_t entry, char out[NAME_MAX + 1]);
/* Returns the archive entry whose folder has this name; CATALOG_NONE: none. */
uint32_t catalog_beside_which(const struct catalog *o, uint32_t folder, const char *name);
/* Returns where a member is; valid as long as the archive. */
struct member_of catalog_member(const struct catalog *o, uint32_t entry);
/* Attributes of a folder or member, as a regular file; see member_stat. */
void catalog_attributes(const struct catalog *o, uint32_t entry, struct stat *st);
/* Gets the unpacked size of a member; false if it is not known. */
bool catalog_measure(const struct catalog *o, uint32_t entry, uint64_t *size);
/*
 * Reads the member, and decodes or lists it if it is named like an animation or an archive; false
 * and err.
 */
bool catalog_check(struct catalog *o, uint32_t entry, struct err *err);

/* ---- bytes ---- */

/* The place of a member's bytes: in a file, or in memory (fd -1). */
struct member_bytes {
	struct cached *whole; /* reference to the memory that contains the bytes */
	int fd;
	uint64_t at, size;
	const uint8_t *data;
};
/*
 * Gets the bytes of a member. A packed member is unpacked into memory; one of more than max_file
 * bytes is refused. False, with err set, on failure.
 */
bool catalog_bytes(struct catalog *o, uint32_t entry, struct member_bytes *out, struct err *err);
void member_bytes_release(struct member_bytes *b);

#endif
