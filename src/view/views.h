/* SPDX-License-Identifier: GPL-3.0-or-later */
/* views.h - the views there are; view.c lists them. */
#ifndef ANIMFS_VIEW_VIEWS_H
#define ANIMFS_VIEW_VIEWS_H

#include "animfs/view.h"

extern const struct view view_raw;
extern const struct view view_file_json;
extern const struct view view_skeleton_csv;
extern const struct view view_frames_csv;
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

/* Above so many frames nothing is shown of a clip but clip.json and curves.csv. */
#define FRAMES_SHOWN 65535
/* Is a clip shown bone by bone (bones/)? */
bool clip_has_bones(const struct shown *at);
/* Is a clip shown as stills (frames/) and as the kanim over them? */
bool clip_has_stills(const struct shown *at);

#endif
