/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip_json.h - a clip.json that is being read: what its parts, each a file of its own, share. */
#ifndef ANIMFS_VIEW_CLIP_JSON_H
#define ANIMFS_VIEW_CLIP_JSON_H

#include "clip.h"
#include "json.h"

struct clip_text {
	const struct shown *at;
	struct doc doc;
	struct spot root;
	json_t *served;
	struct anim *edited;
	struct clip *clip; /* in edited */
	struct err *err;
};

/* A member that the text gives and that is not what was served. */
bool clip_text_changed(const struct clip_text *p, const struct spot *s);

/* "clip": what the clip is called from now on. */
bool clip_text_rename(struct clip_text *p);

/* clip_bones.c: the list of bones. */
bool clip_text_bones(struct clip_text *p);

/*
 * clip_copy.c: the text of a clip of another format, saved here. It says its name, loop, length,
 * and the order of bones; the rest is about a file that this is not.
 */
bool clip_text_is_copy(const struct clip_text *p);
bool clip_text_copy(struct clip_text *p);

#endif
