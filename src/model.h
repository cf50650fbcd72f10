/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - a model beside an animation file, for what the animation does not say itself.
 *
 * models.h says which models there are. One belongs to the animation of the same name but for the
 * extension; where it is the only one of its kind in its folder, to all of them.
 */
#ifndef ANIMFS_MODEL_H
#define ANIMFS_MODEL_H

#include "guard.h"
#include "models.h"
#include <limits.h>

/*
 * The name of the model of this animation file; false when there is none. The guard is asked for
 * the names in the folder, where these are read; whether the model may be is for the caller to ask.
 */
bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1]);
/* Is this the name of a model, of any format? */
bool model_has_name(const char *name);
/* How many bones the Final Fantasy IX model of this file has; 0: none that can be read. */
uint32_t model_bones(int dir, const char *file_name, const struct guard *guard);

/* No model is larger: an MDB has the geometry too. */
#define MODEL_LIMIT ((size_t)64 << 20)

#endif
