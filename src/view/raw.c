/* SPDX-License-Identifier: GPL-3.0-or-later */
/* raw.c - raw.*: the file's own bytes. A saved text is decoded, not parsed. */
#include "views.h"

static void raw_render(const struct shown *at, struct buf *out)
{
	buf_add(out, at->raw.data, at->raw.size);
}

const struct view view_raw = {
	.name = "raw",
	.place = VIEW_OF_FILE,
	.file = "raw.",
	.render = raw_render,
	.whole = true,
};
