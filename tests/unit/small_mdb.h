/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_TESTS_UNIT_SMALL_MDB_H
#define ANIMFS_TESTS_UNIT_SMALL_MDB_H

#include "animfs/base.h"

/* Appends an MDB model of one bone, which is named "a". */
static inline void small_mdb(struct buf *model)
{
	buf_text(model, "MDB0");
	for (size_t i = 0; i < 5; i++)
		buf_u32(model, (const uint32_t[]){0x14, 1, 0x30, 1, 0x40}[i]);
	buf_zero(model, 0x18);
	buf_u32(model, 0x40 + 0xC0 - 0x30);
	buf_zero(model, 16);
	buf_u32(model, UINT32_MAX);
	buf_zero(model, 0xC0 - 8);
	buf_text(model, "a");
	buf_zero(model, 3);
}

#endif
