/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bvh_text.h - shared by writing and reading clip.bvh. */
#ifndef ANIMFS_VIEW_BVH_TEXT_H
#define ANIMFS_VIEW_BVH_TEXT_H

#include "figure.h"

#define SAME 1e-5 /* relative: lengths and scales that are as good as equal in float32 */

/* Has the node no parent? In the text it may still be below the figure's root. */
bool bvh_is_root(const struct figure *f, uint32_t node);
/*
 * A text has one ROOT, since programs stop reading at a second. If the clip has several roots, or
 * its Y points down (`turned`), they are joints of a ROOT that is not a bone and does not move.
 */
bool bvh_has_figure(const struct figure *f, bool turned);
/* Appends its name: "figure", followed by as many "_" as no bone's name has. */
void bvh_figure_name(const struct figure *f, struct buf *out);
/* Writes the name of a node as one word. */
void bvh_word(const char *name, struct buf *out);
/* The OFFSET of a node; and of the End Site of a node without children. */
void bvh_offset(const struct figure *f, uint32_t node, double out[3]);
void bvh_end(const struct figure *f, uint32_t node, double out[3]);

/* bvh_import.c: reads a text back as an edit of the clip, all of whose motion BVH can store. */
struct anim *bvh_import(const struct shown *at, struct bytes text, struct err *err);

#endif
