/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_edit.h - applies what a text (CSV or JSON) gives for a bone to the bone's track. */
#ifndef ANIMFS_VIEW_BONE_EDIT_H
#define ANIMFS_VIEW_BONE_EDIT_H

#include "animfs/view.h"
#include "model/curve_edit.h"

/*
 * Computes the curves (and keyframes) that the text asks for into `now`, which the caller has made
 * a copy of the track. text->rows is used only for formats that store keyframes; in other formats
 * each role has its own number of keys. New keys live in the arena. False and err when refused.
 */
bool bone_edit_read(const struct shown *at, const struct track *track, struct curve_edit_rows *text,
		    struct arena *arena, struct track *now, struct err *err);
/*
 * Replaces a track of the shown clip in `edited` by `now`, if it differs; *changed says whether it
 * does.
 */
bool bone_edit_put(const struct shown *at, struct anim *edited, uint32_t track,
		   const struct track *now, bool *changed, struct err *err);

#endif
