/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * models.h - what the bytes of a model say about its bones, in the formats of the games whose
 * animations are read here.
 *
 * No byte is trusted: a model is understood or refused with ERR_FORMAT, the byte offset and the
 * reason.
 */
#ifndef ANIMFS_MODELS_H
#define ANIMFS_MODELS_H

#include "skeleton.h"

struct model_format {
	const char *extension;  /* of its files' names, with the dot */
	const char *formats[3]; /* the names of the animations' formats; ends with NULL */
	struct skeleton *(*read)(struct bytes bytes, struct err *err);
};

extern const struct model_format *const model_formats[]; /* ends with NULL */
/* Of the models of these animations; NULL when none is read. */
const struct model_format *model_format_of(const struct format *format);

extern const struct model_format model_ff9;    /* Final Fantasy IX: NAME.ff9model */
extern const struct model_format model_mdb;    /* Earth Defense Force: NAME.mdb */
extern const struct model_format model_ribbon; /* Vib-Ribbon: NAME.tmd, which has no parents */

#endif
