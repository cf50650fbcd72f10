/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - a model beside an animation file, for what the animation does not say itself.
 *
 * Final Fantasy IX keeps both in one archive (DB chunk types 0x02 and 0x03). A model's file is
 * called NAME.ff9model; it belongs to the animation NAME.*, and where it is the only one in its
 * folder, to all of them.
 */
#ifndef ANIMFS_MODEL_H
#define ANIMFS_MODEL_H

#include "animfs/base.h"

/* How many bones the model of this animation file has; 0: there is none that can be read. */
uint32_t model_bones(int dir, const char *file_name);

#endif
