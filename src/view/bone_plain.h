/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_plain.h - a bone's CSV, read the short way. */
#ifndef ANIMFS_VIEW_BONE_PLAIN_H
#define ANIMFS_VIEW_BONE_PLAIN_H

#include "animfs/view.h"

/*
 * What the view's parse would make of a text whose first line is the one that is served and whose
 * `rows` are these, or NULL where that must be asked. Not for formats with keyframes.
 */
struct anim *bone_parse_plain(const struct shown *at, struct bytes rows);

#endif
