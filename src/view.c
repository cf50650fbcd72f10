/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.c - which views there are, in the order in which they are listed: one line each. */
#include "view/views.h"

/* clang-format off: a line for each */
const struct view *const views[] = {
	&view_raw,       &view_file_json,  &view_skeleton_csv, &view_frames_csv,
	&view_clip_json, &view_curves_csv, &view_kanim,        &view_x3d_clip,
	&view_gltf,      &view_bvh,        &view_clip_svg,     &view_x3d_frame,
	&view_bone_csv,  &view_bone_json,  &view_bone_svg,     NULL,
};
