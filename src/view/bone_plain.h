/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_plain.h - a fast path for reading a bone's CSV, and curves.csv. */
#ifndef ANIMFS_VIEW_BONE_PLAIN_H
#define ANIMFS_VIEW_BONE_PLAIN_H

#include "animfs/view.h"

/*
 * Parse a text whose header is the served one, and whose other lines are `rows`. They return the
 * model that the view's parse() would return; NULL where only the full parser can decide, as it
 * always does in formats that store keyframes.
 */
struct anim *bone_parse_plain(const struct shown *at, struct bytes rows);
struct anim *curves_parse_plain(const struct shown *at, struct bytes rows);

#endif
