/* SPDX-License-Identifier: GPL-3.0-or-later */
/* codecs.h - what codecs[] lists: one entry a format, at the end of its file. */
#ifndef ANIMFS_CODECS_H
#define ANIMFS_CODECS_H

#include "animfs/codec.h"

extern const struct codec canm_codec;
extern const struct codec owanim_codec;
extern const struct codec cas_codec;
extern const struct codec ff9anim_codec;
extern const struct codec ribbon_codec;
extern const struct codec kanim_codec;
/* Not in the list: the template of a new one. */
extern const struct codec skel_codec;

#endif
