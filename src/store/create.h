/* SPDX-License-Identifier: GPL-3.0-or-later */
/* create.h - animation files that are made, and removed. */
#ifndef ANIMFS_CREATE_H
#define ANIMFS_CREATE_H

#include "../attributes.h"
#include "source.h"

/*
 * Makes the file, which must not be there yet (ERR_CONFLICT), of a model that was not edited from
 * another's (anim_blank). False and err, as of source_commit.
 */
bool source_create(struct source *s, const struct where *where, const struct codec *codec,
		   const struct anim *made, struct err *err);
/*
 * The same in steps. What the file would be, with a holder for the caller: with these bytes; with a
 * model that was edited from base's; with one that was not. NULL and err, as of source_commit.
 */
struct version *source_decode(struct source *s, const struct where *where, struct bytes bytes,
			      struct err *err);
struct version *source_edited(struct source *s, const struct where *where, struct version *base,
			      const struct anim *edited, struct err *err);
struct version *source_made(struct source *s, const struct where *where, const struct codec *codec,
			    const struct anim *made, struct err *err);
/*
 * Makes the file of it, with these attributes (replace.h; NULL: the folder's usual ones). base:
 * what it was edited from, kept where something was removed; or NULL.
 */
bool source_put_new(struct source *s, const struct where *where, struct version *base,
		    struct version *made, const struct attributes *as, struct err *err);

/* Removes the file, and keeps it as --backup says. 0 or an errno. */
int source_remove(struct source *s, const struct where *where);

#endif
