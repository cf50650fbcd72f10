/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stills.h - shared by the views of clips of stills. */
#ifndef ANIMFS_VIEW_STILLS_H
#define ANIMFS_VIEW_STILLS_H

#include "animfs/view.h"
#include "x3d_join.h"

/*
 * Returns whether the stills can be joined to one scene. If not, stills_explain sets err to the
 * reason.
 */
bool stills_present(const struct shown *at);
void stills_explain(const struct shown *at, struct err *err);
/* Returns how the clip is played. */
struct x3d_play stills_play(const struct shown *at);

#endif
