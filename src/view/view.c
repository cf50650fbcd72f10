/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.c - the table of views, in the order in which folders list them. */
#include "views.h"

/* clang-format off: grouped by place */
const struct view *const views[] = {
	&view_raw,        &view_file_json,   &view_skeleton_csv,
	&view_frames_csv, &view_parts_csv,   &view_file_html,
	&view_clip_json,  &view_curves_csv,  &view_kanim,
	&view_x3d_clip,   &view_gltf,        &view_bvh,
	&view_clip_svg,   &view_clip_html,   &view_x3d_frame,
	&view_bone_csv,   &view_bone_json,   &view_bone_svg,
	&view_stills_x3d, &view_stills_html, NULL,
};
