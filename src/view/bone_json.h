/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_json.h - what the two forms of a bone's JSON share: channels with keys, and keyframes. */
#ifndef ANIMFS_VIEW_BONE_JSON_H
#define ANIMFS_VIEW_BONE_JSON_H

#include "animfs/view.h"
#include "json.h"
#include "lens.h"

static inline const struct track *bone_json_track(const struct shown *at)
{
	return &at->anim->clips[at->clip].tracks[at->track];
}

/* All members up to what the bone does, with a comma and a line end behind them. */
void bone_json_write_head(const struct shown *at, struct buf *out);
/*
 * Are the members of a text those that are served, but for `content`? What the text of another file
 * says of where it comes from does not matter: it is copied here. `served` may get members.
 */
bool bone_json_check_head(const struct spot *root, json_t *served, const char *content, bool *copy,
			  struct err *err);
/* "[1, 2, 3]" */
void bone_json_write_values(const struct curve *c, uint32_t key, struct buf *out);
/* The same read back: into key, as numbers, or `raw` as the bits of a float32 each. */
bool bone_json_read_components(const struct spot *list, bool raw, unsigned width,
			       struct lens_key *key, struct err *err);

/* keyframes_json.c: of a bone whose keyframes are data. */
void keyframes_json_render(const struct shown *at, struct buf *out);
struct anim *keyframes_json_parse(const struct shown *at, struct bytes text, struct err *err);

#endif
