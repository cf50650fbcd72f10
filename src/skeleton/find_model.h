/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * find_model.h - finds the game's 3D model beside an animation file: it has the bones' parents and
 * rest pose, which the animation file does not store.
 *
 * A model (model_formats.h) belongs to the animation with the same name except for the extension;
 * if it is the only one of its format in the folder, it belongs to all animations there.
 */
#ifndef ANIMFS_SKELETON_FIND_MODEL_H
#define ANIMFS_SKELETON_FIND_MODEL_H

#include "model_formats.h"
#include "sandbox/guard.h"
#include <limits.h>

/*
 * Finds the name of this animation file's model; false if there is none. Reads names in the folder
 * only if the guard allows it. The caller must ask the guard about reading the model.
 */
bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1]);
/*
 * As model_find, for names from another source than a folder: call model_choose, then model_offer
 * for each. The model is the one that was taken (true) last, if it has the `same` name or `count`
 * is 1.
 */
struct model_choice {
	char wanted[2 * NAME_MAX];
	const char *extension;
	bool same;
	unsigned count;
};
void model_choose(struct model_choice *c, const char *file_name, const struct model_format *format);
bool model_offer(struct model_choice *c, const char *name);
/* Is this the name of a model of any known format? */
bool model_has_name(const char *name);
/* The number of bones in the Final Fantasy IX model of this file; 0 if none can be read. */
uint32_t model_bones(int dir, const char *file_name, const struct guard *guard);

/* Larger models are refused. An MDB also contains the geometry. */
#define MODEL_LIMIT ((size_t)64 << 20)

#endif
