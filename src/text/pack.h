/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack.h - texts compressed for programs that read them so: .gz, .zst. */
#ifndef ANIMFS_TEXT_PACK_H
#define ANIMFS_TEXT_PACK_H

#include "animfs/base.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* "gzip", "zstd" or "none". */
bool packing_parse(enum packing *p, const char *value, struct err *err);
/* "", ".gz", ".zst" */
const char *packing_suffix(enum packing p);
/* To an empty `out`; the same text is the same bytes each time. False when out of memory. */
bool pack_text(enum packing p, struct bytes text, struct buf *out);

#endif
