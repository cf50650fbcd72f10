/* SPDX-License-Identifier: GPL-3.0-or-later */
/* create.h - creates and removes animation files. */
#ifndef ANIMFS_STORE_CREATE_H
#define ANIMFS_STORE_CREATE_H

#include "disk/attributes.h"
#include "source.h"

/*
 * Creates the file, which must not exist (ERR_CONFLICT), from a new model (anim_blank). False and
 * err as source_commit.
 */
bool source_create(struct source *s, const struct where *where, const struct codec *codec,
		   const struct anim *made, struct err *err);
/*
 * The steps of source_create, for callers that need the version first. Each returns the version of
 * the future file, with a reference for the caller: from bytes; from a model edited from base's;
 * from a new model. NULL and err as source_commit.
 */
struct version *source_decode(struct source *s, const struct where *where, struct bytes bytes,
			      struct err *err);
struct version *source_edited(struct source *s, const struct where *where, struct version *base,
			      const struct anim *edited, struct err *err);
struct version *source_made(struct source *s, const struct where *where, const struct codec *codec,
			    const struct anim *made, struct err *err);
/*
 * Creates the file from that version, with these attributes (replace.h; NULL: the folder's
 * defaults). base: the version that it was edited from, kept in history as its predecessor; or
 * NULL.
 */
bool source_put_new(struct source *s, const struct where *where, struct version *base,
		    struct version *made, const struct attributes *as, struct err *err);

/* Removes the file, keeping it in history. 0 or an errno. */
int source_remove(struct source *s, const struct where *where);

#endif
