/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack.h - compresses texts to .gz and .zst. */
#ifndef ANIMFS_TEXT_PACK_H
#define ANIMFS_TEXT_PACK_H

#include "animfs/base.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* Parses the name of a packing: "gzip", "zstd" or "none". */
bool packing_parse(enum packing *p, const char *value, struct err *err);
/* Returns the file name suffix of a packing: "", ".gz" or ".zst". */
const char *packing_suffix(enum packing p);
/*
 * Appends the packed text to `out`, which must be empty. The same text always gives the same bytes.
 * False when out of memory.
 */
bool pack_text(enum packing p, struct bytes text, struct buf *out);

#endif
