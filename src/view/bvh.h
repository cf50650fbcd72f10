/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bvh.h - what clip.bvh says of a figure, for those who write it and who read it back. */
#ifndef ANIMFS_VIEW_BVH_H
#define ANIMFS_VIEW_BVH_H

#include "figure.h"

/* Is nothing lost? Else err says which bone, and what of it. */
bool bvh_is_lossless(const struct figure *f, struct err *err);
bool bvh_is_root(const struct figure *f, uint32_t node);
/* The name of a node as one word. */
void bvh_word(const char *name, struct buf *out);
/* What stands as OFFSET of a node; and of the end of one from which nothing hangs. */
void bvh_offset(const struct figure *f, uint32_t node, double out[3]);
void bvh_end(const struct figure *f, uint32_t node, double out[3]);

/* The way back: what the text of a figure without losses moves, as an edit of the clip. */
struct anim *bvh_import(const struct shown *at, struct bytes text, struct err *err);

#endif
