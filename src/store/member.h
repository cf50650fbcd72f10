/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * member.h - an animation that is a member of an archive: reading it.
 *
 * Its skeleton comes from the archive, too: from the members of its folder, as from the files
 * beside a file (find_skeleton.h), and from the archives among them with its name: a model's parts
 * are in NAME.MRAB beside NAME.CAS.
 */
#ifndef ANIMFS_STORE_MEMBER_H
#define ANIMFS_STORE_MEMBER_H

#include "container/contents.h"
#include "store.h"
#include "version.h"

#include <sys/stat.h>

struct member_of {
	const struct archive *archive;
	const struct contents *contents; /* index of the archive that contains the member */
	uint32_t entry;                  /* entry of the member in `contents` */
	const struct stat
		*st; /* attributes of the archive's file, or of the file that contains it */
};

/*
 * Could the member be an animation that can be read from an archive? Decided by its stored name;
 * *codec and *probe as of store_claims. Formats whose files refer to others beside them cannot be
 * read so.
 */
bool member_claims(const struct store *s, const struct member_of *m, const struct codec **codec,
		   bool *probe);
/* Can a file of this format be read from an archive? True if `codec` is NULL. */
bool member_can_be(const struct codec *codec, struct err *err);
/* Returns the kind of archive that the member's stored name implies; NULL: none. */
const struct container *member_container(const struct store *s, const struct member_of *m);
/*
 * The attributes of a member: those of the archive, but read-only, with the member's size and time.
 */
void member_stat(const struct member_of *m, struct stat *st);
/*
 * Finds the inputs of decoding these bytes in the archive: the skeleton (the caller drops it) and,
 * if the bytes are incomplete, the bones. False when out of memory.
 */
bool member_decoding(const struct store *s, const struct member_of *m, const struct codec *codec,
		     struct bytes bytes, struct decoding *how);
/*
 * Finds the skeleton of the animation FOLDER/NAME in another archive: among the models in the
 * archives of that folder which have its name, in any case. `top`: any entry of the archive.
 */
struct shared_skeleton *member_model(const struct store *s, const struct member_of *top,
				     const char *folder, const char *name,
				     const struct format *format);
/* Decodes the member; returns it with a reference for the caller. NULL and err as source_get. */
struct version *member_version(struct store *s, const struct member_of *m, struct err *err);

/* Returns the kind of archive that a file of this name is shown as; NULL if it is not. */
const struct container *store_container(const struct store *s, const char *file_name);

/* Limit of the memory for the list of an archive's entries. */
#define ARCHIVE_LIST_MAX ((size_t)1 << 30)

#endif
