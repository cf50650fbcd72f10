/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer view: the texts of a mount. Each view is a const struct view (include/animfs/view.h): it
 * renders a model as text and, if the text can be saved, parses it into an edited model. A view
 * does not depend on formats, only on struct format, which has their limits. It opens no files; a
 * skeleton is passed to it.
 *
 * Start reading in animfs/view.h; then parts_csv.c, which is short, and bone_csv.c.
 *
 * May use: util text model skeleton
 */
/* views.h - declares the views; view.c lists them. */
#ifndef ANIMFS_VIEW_VIEWS_H
#define ANIMFS_VIEW_VIEWS_H

#include "animfs/view.h"

extern const struct view view_raw;
extern const struct view view_file_json;
extern const struct view view_skeleton_csv;
extern const struct view view_frames_csv;
extern const struct view view_parts_csv;
extern const struct view view_clip_json;
extern const struct view view_curves_csv;
extern const struct view view_kanim;
extern const struct view view_x3d_frame;
extern const struct view view_x3d_clip;
extern const struct view view_gltf;
extern const struct view view_bvh;
extern const struct view view_bone_csv;
extern const struct view view_bone_json;
extern const struct view view_clip_svg;
extern const struct view view_bone_svg;
extern const struct view view_clip_html;
extern const struct view view_file_html;
extern const struct view view_stills_x3d;
extern const struct view view_stills_html;

/* A clip with more frames is shown as clip.json and curves.csv only. */
#define FRAMES_SHOWN 65535
/* Returns whether the clip has a folder bones/, with files for each bone. */
bool clip_has_bones(const struct shown *at);
/*
 * Returns whether the clip has a folder frames/ with a still for each frame, and the kanim that
 * plays them.
 */
bool clip_has_stills(const struct shown *at);

#endif
