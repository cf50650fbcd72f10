/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skeleton_csv.c - skeleton.csv: the bones' parents and rest pose, as far as they are known; every
 * bone of the file has a row. The animation file does not store them: a save writes a file beside
 * it.
 */
#include "skeleton/skeleton.h"
#include "views.h"

static bool skeleton_present(const struct shown *at)
{
	return !at->anim->format->stills;
}

static void skeleton_render(const struct shown *at, struct buf *out)
{
	skeleton_text(at->skeleton, at->anim, out);
}

static struct skeleton *skeleton_parse(const struct shown *at, struct bytes text, struct err *err)
{
	return skeleton_edit(at->skeleton, at->anim, text, err);
}

const struct view view_skeleton_csv = {
	.name = "skeleton",
	.place = VIEW_OF_FILE,
	.file = "skeleton.csv",
	.present = skeleton_present,
	.render = skeleton_render,
	.parse_skeleton = skeleton_parse,
	.posed = true,
};
