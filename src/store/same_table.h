/* SPDX-License-Identifier: GPL-3.0-or-later */
/* same_table.h - compares two texts as tables, regardless of the digits of numbers. */
#ifndef ANIMFS_STORE_SAME_TABLE_H
#define ANIMFS_STORE_SAME_TABLE_H

#include "animfs/base.h"

/* Also false if a text cannot be parsed, and when out of memory. */
bool same_table_csv(struct bytes a, struct bytes b);
bool same_table_json(struct bytes a, struct bytes b);

#endif
