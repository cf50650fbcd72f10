/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convert.h - what of a file another format can store.
 *
 *	struct anim *reduced = convert_reduce(from, to, &lost, &err);
 *
 *	for (uint32_t i = 0; i < reduced->clip_count; i++)
 *		anim_clip_copy(to, reduced, i, reduced->clips[i].label, hierarchy, &err);
 */
#ifndef ANIMFS_EDIT_CONVERT_H
#define ANIMFS_EDIT_CONVERT_H

#include "animfs/anim.h"

/*
 * A model edited from `from` without what `to`, a blank model (anim_blank), has no room for; for
 * each such thing a line is appended to `lost`. NULL: no memory.
 *
 * Numbers are not looked at: they are rounded to what the format stores, or refused by its codec.
 * Within a format nothing is lost, since then the bytes are copied.
 */
struct anim *convert_reduce(const struct anim *from, const struct anim *to, struct buf *lost,
			    struct err *err);

#endif
