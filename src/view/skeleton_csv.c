/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skeleton.csv: how the bones hang together and where they rest, as far as it is known; every bone
 * of the file has a row. The file itself says nothing of it.
 */
#include "skeleton.h"
#include "views.h"

static bool skeleton_present(const struct shown *at)
{
	return !at->anim->format->stills;
}

static void skeleton_render(const struct shown *at, struct buf *out)
{
	skeleton_text(at->skeleton, at->anim, out);
}

const struct view view_skeleton_csv = {
	.name = "skeleton",
	.place = VIEW_OF_FILE,
	.file = "skeleton.csv",
	.present = skeleton_present,
	.render = skeleton_render,
};
