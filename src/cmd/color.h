/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * color.h - colours on terminals, elsewhere only with --color=always. NO_COLOR in the environment,
 * with any value but the empty one, turns colours off, except with --color=always.
 */
#ifndef ANIMFS_CMD_COLOR_H
#define ANIMFS_CMD_COLOR_H

#include "animfs/base.h"
#include <stdio.h>

/* Sets --color=WHEN for this process. NULL: --color without WHEN, which means always. */
bool color_choose(const char *when, struct err *err);

enum color { COLOR_HEAD, COLOR_ADDED, COLOR_REMOVED, COLOR_ABOUT, COLOR_FOLDER, COLOR_ERROR };

/* The escape sequences that begin and end a colour on this stream; "" if it is not coloured. */
const char *color_begin(FILE *out, enum color color);
const char *color_end(FILE *out);

#endif
