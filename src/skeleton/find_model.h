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
 * Finds the name of an animation file's model in its folder; returns false if there is none. Then
 * `name` is one of several models none of which has the animation's name, or "". Reads the names in
 * the folder only if the guard allows it, and not again while the folder is unchanged. The caller
 * must ask the guard about reading the model. Thread-safe.
 */
bool model_find(int dir, const char *file_name, const struct model_format *format,
		const struct guard *guard, char name[NAME_MAX + 1]);
/*
 * Finds a model as model_find does, among names that are not in a folder on disk: call
 * model_choose, then model_offer for each name. The model is the last name for which model_offer
 * returned true, if `same` is set (the names match) or `count` is 1.
 */
struct model_choice {
	char wanted[2 * NAME_MAX];
	const char *extension;
	bool same;
	unsigned count;
};
void model_choose(struct model_choice *c, const char *file_name, const struct model_format *format);
bool model_offer(struct model_choice *c, const char *name);
/* Returns whether a file name is that of a model of any known format. */
bool model_has_name(const char *name);
/*
 * Returns the number of bones in an animation file's Final Fantasy IX model; 0 if none can be read.
 */
uint32_t model_bones(int dir, const char *file_name, const struct guard *guard);

/* Size limit of a model, which may contain the geometry, too (MDB). */
#define MODEL_LIMIT ((size_t)64 << 20)

#endif
