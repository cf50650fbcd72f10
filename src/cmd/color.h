/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * color.h - colours on terminals, and nowhere else unless --color=always says so. NO_COLOR in the
 * environment, with any value but the empty one, turns off what --color=always does not ask for.
 */
#ifndef ANIMFS_CMD_COLOR_H
#define ANIMFS_CMD_COLOR_H

#include "animfs/base.h"
#include <stdio.h>

/* --color=WHEN of this process; NULL is --color alone, which means always. */
bool color_choose(const char *when, struct err *err);

enum color { COLOR_HEAD, COLOR_ADDED, COLOR_REMOVED, COLOR_ABOUT, COLOR_FOLDER, COLOR_ERROR };

/* What begins and ends the colour on this stream: "" where it has none. */
const char *color_begin(FILE *out, enum color color);
const char *color_end(FILE *out);

#endif
