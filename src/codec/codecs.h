/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer codec: the formats. Each is a const struct codec (include/animfs/codec.h) in a file or
 * family of its own: it turns bytes into a model, and a model and the old bytes into new bytes, and
 * keeps the stored form of everything that is equal. A codec opens no file and trusts no byte.
 * Codecs and views do not know each other, so N formats and M views take N + M files. skel.c is the
 * template of a new one.
 *
 * Start reading in animfs/codec.h; then skel.c, and canm.c for a format of a game.
 *
 * May use: util text model
 */
/*
 * codecs.h - declares the entries of codecs[], one for each format; each is at the end of X.c or
 * X_write.c.
 */
#ifndef ANIMFS_CODEC_CODECS_H
#define ANIMFS_CODEC_CODECS_H

#include "animfs/codec.h"

extern const struct codec canm_codec;
extern const struct codec owanim_codec;
extern const struct codec cas_codec;
extern const struct codec ff9anim_codec;
extern const struct codec ff9clip_codec;
extern const struct codec ribbon_codec;
extern const struct codec kanim_codec;
extern const struct codec sequence_codec;
/* The template for new formats; not in the list. */
extern const struct codec skel_codec;

#endif
