/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip_text.h - a text of clip.json while it is read, for clip_json.c and the files that it uses.
 */
#ifndef ANIMFS_VIEW_CLIP_TEXT_H
#define ANIMFS_VIEW_CLIP_TEXT_H

#include "json.h"
#include "model/clip.h"

struct clip_text {
	const struct shown *at;
	struct doc doc;
	struct spot root;
	struct doc own; /* the clip's text as it is served */
	struct anim *edited;
	struct clip *clip; /* the clip that is being edited, in `edited` */
	struct err *err;
};

/* Returns whether the text has this member, with another value than is served. */
bool clip_text_changed(const struct clip_text *p, const struct spot *s);

/* Applies the member "clip", the clip's name. */
bool clip_text_rename(struct clip_text *p);

/* Applies the list "bones" (clip_bones.c). */
bool clip_text_bones(struct clip_text *p);

/*
 * Reads "name" of the entry with that label, in a format whose names of bones are paths
 * (clip_paths.c). `old` is the stored name, or NULL for a new bone. Sets *moved if the text gives
 * another path.
 */
bool clip_path_read(struct clip_text *p, const struct spot *entry, const char *label,
		    const char *old, struct track *track, bool *moved);
/* Moves bones along with those above them whose path changed. */
bool clip_paths_settle(struct clip_text *p, struct track *tracks, uint32_t count,
		       const bool *moved);

/*
 * Implemented in clip_copy.c, for a text copied from a clip of another format: its loop, length and
 * order of bones are applied; the rest describes the other file and is ignored.
 */
bool clip_text_is_copy(const struct clip_text *p);
bool clip_text_copy(struct clip_text *p);

#endif
