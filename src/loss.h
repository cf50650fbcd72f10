/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loss.h - does an edit take something away? Then the file as it was is worth keeping (backup.h).
 */
#ifndef ANIMFS_LOSS_H
#define ANIMFS_LOSS_H

#include "animfs/anim.h"

/*
 * Has `after` fewer keys, keyframes, stills, bones or clips than `before`? A value that changed, a
 * bone or clip that was renamed or moved, and a key that was added are no loss. edited: `after` was
 * edited from `before`, and origins say what became of what; otherwise labels do.
 */
bool anim_loses(const struct anim *before, const struct anim *after, bool edited);

#endif
