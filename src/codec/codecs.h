/* SPDX-License-Identifier: GPL-3.0-or-later */
/* codecs.h - what codecs[] lists: one entry a format, at the end of its file. */
#ifndef ANIMFS_CODECS_H
#define ANIMFS_CODECS_H

#include "animfs/codec.h"

extern const struct codec canm_codec;

#endif
