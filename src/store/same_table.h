/* SPDX-License-Identifier: GPL-3.0-or-later */
/* same_table.h - do two texts hold one table, whatever the digits of its numbers? */
#ifndef ANIMFS_SAME_TABLE_H
#define ANIMFS_SAME_TABLE_H

#include "animfs/base.h"

/* False also of texts that cannot be read, and out of memory. */
bool same_table_csv(struct bytes a, struct bytes b);
bool same_table_json(struct bytes a, struct bytes b);

#endif
