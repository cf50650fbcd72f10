/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stills_x3d.c - clip.x3d of a clip of stills: all of them as one scene that plays (x3d_join.h). */
#include "stills.h"
#include "views.h"

#include <string.h>

bool stills_present(const struct shown *at)
{
	return at->stills && at->stills->joined;
}

void stills_explain(const struct shown *at, struct err *err)
{
	if (err && at->stills && at->stills->why)
		*err = *at->stills->why;
}

static bool has_field(const struct clip *clip, const char *name)
{
	for (uint32_t i = 0; i < clip->field_count; i++)
		if (strcmp(clip->fields[i].name, name) == 0)
			return clip->fields[i].integer != 0;
	return false;
}

struct x3d_play stills_play(const struct shown *at)
{
	const struct clip *clip = &at->anim->clips[at->clip];

	return (struct x3d_play){
		.stills = clip->stills,
		.loop = clip->loop,
		.backwards = has_field(clip, "backwards"),
		.folder = at->stills->folder,
	};
}

static void stills_render(const struct shown *at, struct buf *out)
{
	const struct x3d_play play = stills_play(at);

	x3d_join_write(at->stills->joined, &play, out);
}

const struct view view_stills_x3d = {
	.name = "x3d",
	.place = VIEW_OF_CLIP,
	.file = "clip.x3d",
	.stills = true,
	.present = stills_present,
	.explain = stills_explain,
	.render = stills_render,
};
