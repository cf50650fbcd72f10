/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * encoded.h - the version that an edit makes: encoded, decoded again and compared.
 *
 * Knows no files: work.c puts the result in the place of one, a page keeps it.
 */
#ifndef ANIMFS_STORE_ENCODED_H
#define ANIMFS_STORE_ENCODED_H

#include "version.h"

struct encoding {
	const struct codec *codec;
	struct version *ground;  /* what is encoded over */
	struct version *current; /* the file as it is; NULL: there is none */
	size_t max;              /* bytes that a file may have */
	/* Decodes bytes, which it takes over, as the file's own. */
	struct version *(*decode)(void *closure, struct buf *bytes, struct err *err);
	void *closure;
};

/*
 * The version of a model that was edited from the ground's, with a reference: `current` if its
 * bytes are the same. NULL and err: ERR_STORE if the format cannot hold the edit.
 */
struct version *encoded_edit(const struct encoding *e, const struct anim *model, struct err *err);
/* The version of encoded bytes, which it takes over; ERR_STORE if they do not decode. */
struct version *encoded_decode(const struct encoding *e, struct buf *bytes, struct err *err);
/* The same of bytes that the caller was given: err says where and why they do not decode. */
struct version *encoded_given(const struct encoding *e, struct buf *bytes, struct err *err);

#endif
