/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_json_parts.h - shared by the two forms of NAME.json: with channels, and with keyframes. */
#ifndef ANIMFS_VIEW_BONE_JSON_PARTS_H
#define ANIMFS_VIEW_BONE_JSON_PARTS_H

#include "animfs/view.h"
#include "json.h"
#include "model/curve_edit.h"

static inline const struct track *bone_json_track(const struct shown *at)
{
	return &at->anim->clips[at->clip].tracks[at->track];
}

/*
 * Writes the members before "channels" or "keyframes", with a comma and a newline after the last.
 */
void bone_json_write_head(const struct shown *at, struct buf *out);
/*
 * Checks that all members of a text but `content` are as served. A text that names another file or
 * clip is a copy, or its own file or clip was renamed after it was read: then *copy is set, and the
 * members that say where it comes from are not compared.
 */
bool bone_json_check_head(const struct spot *root, const struct token *served, const char *content,
			  bool *copy, struct err *err);
/* Writes the value of a key: "[1, 2, 3]". */
void bone_json_write_values(const struct curve *c, uint32_t key, struct buf *out);
/*
 * Reads a list of numbers into the components of a key. With `raw`, each element is the bits of a
 * float32 in hexadecimal.
 */
bool bone_json_read_components(const struct spot *list, bool raw, unsigned width,
			       struct curve_edit_key *key, struct err *err);

/* Implemented in keyframes_json.c: NAME.json for formats that store keyframes. */
void keyframes_json_render(const struct shown *at, struct buf *out);
struct anim *keyframes_json_parse(const struct shown *at, struct bytes text, struct err *err);

#endif
