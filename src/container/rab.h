/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rab.h - reading a RAB, for the container at the end of rab_write.c. */
#ifndef ANIMFS_CONTAINER_RAB_H
#define ANIMFS_CONTAINER_RAB_H

#include "animfs/container.h"

bool rab_list(struct archive *a, struct err *err);
bool rab_measure(const struct archive *a, struct member *m, struct err *err);
bool rab_read(const struct archive *a, const struct member *m, struct buf *out, struct err *err);

#endif
