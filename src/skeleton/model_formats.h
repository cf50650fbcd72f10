/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_formats.h - reads bones, parents and rest poses from the 3D models of the games whose
 * animations are supported.
 *
 * The input is untrusted: a model that is not understood is refused with ERR_FORMAT, the byte
 * offset and the reason.
 */
#ifndef ANIMFS_SKELETON_MODEL_FORMATS_H
#define ANIMFS_SKELETON_MODEL_FORMATS_H

#include "skeleton.h"

struct model_format {
	const char *extension; /* extension of the format's file names, with the dot */
	/* names of the animation formats that the models belong to; ends with NULL */
	const char *formats[3];
	struct skeleton *(*read)(struct bytes bytes, struct err *err);
};

extern const struct model_format *const model_formats[]; /* ends with NULL */
/* Returns the model format that belongs to an animation format; NULL if none is supported. */
const struct model_format *model_format_of(const struct format *format);

extern const struct model_format model_ff9;    /* Final Fantasy IX: NAME.ff9model */
extern const struct model_format model_mdb;    /* Earth Defense Force: NAME.mdb */
extern const struct model_format model_ribbon; /* Vib-Ribbon: NAME.tmd, which has no parents */

#endif
