/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.h - differences as `animfs diff` prints them. */
#ifndef ANIMFS_CMD_DIFF_H
#define ANIMFS_CMD_DIFF_H

#include "cmd.h"

/* Prints lines of compare.h, coloured if wanted. */
void diff_print(const struct buf *lines);

#endif
