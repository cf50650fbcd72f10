/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bvh_text.h - shared by writing and reading clip.bvh. */
#ifndef ANIMFS_VIEW_BVH_TEXT_H
#define ANIMFS_VIEW_BVH_TEXT_H

#include "figure.h"

/* relative tolerance: lengths and scales that differ less are equal in float32 */
#define SAME 1e-5

/*
 * Returns whether the node has no parent. In the text, a ROOT "figure" may still be above it
 * (bvh_has_figure).
 */
bool bvh_is_root(const struct figure *f, uint32_t node);
/*
 * Returns whether the text has a ROOT "figure", which is not a bone and does not move, above the
 * clip's roots. A text has only one ROOT, since programs stop reading at a second; so several
 * roots, or a Y that points down (`turned`), need one.
 */
bool bvh_has_figure(const struct figure *f, bool turned);
/*
 * Appends the name of the ROOT above several roots: "figure", followed by more "_" than any bone's
 * name has.
 */
void bvh_figure_name(const struct figure *f, struct buf *out);
/* Writes the name of a node as one word. */
void bvh_word(const char *name, struct buf *out);
/*
 * bvh_offset computes the OFFSET of a node; bvh_end that of the End Site of a node without
 * children.
 */
void bvh_offset(const struct figure *f, uint32_t node, double out[3]);
void bvh_end(const struct figure *f, uint32_t node, double out[3]);

/*
 * Implemented in bvh_import.c: reads a text back as an edit of the clip. BVH must be able to store
 * all of the clip's motion.
 */
struct anim *bvh_import(const struct shown *at, struct bytes text, struct err *err);

#endif
