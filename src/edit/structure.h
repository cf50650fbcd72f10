/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer edit: whole clips, bones and folders of texts, and the differences between two models or
 * three files. Like the model it works in memory only, and knows no files and no formats.
 *
 * Start reading here; assembly.h makes a clip of the texts of a folder, compare.h lists
 * differences.
 *
 * May use: util text model
 */
/*
 * structure.h - renames, removes, copies and makes whole clips and bones, within a file, between
 * files, and between formats.
 *
 *   struct anim *edited = anim_edit(version->anim);
 *   if (!anim_clip_remove(edited, clip, &err)) ...
 *   source_commit(source, &where, version, edited, ...);
 *
 * Each changes a model that anim_edit or anim_blank made; several may follow each other before it
 * is stored. False and err when refused or out of memory; then free the model.
 *
 * Clips and bones are identified by their present index in the model; new names are in their
 * file-name form (names.h). The codec refuses edits that the format forbids when the model is
 * stored (a scale in an FF9 block, removal of a clip that a CAS refers to).
 */
#ifndef ANIMFS_EDIT_STRUCTURE_H
#define ANIMFS_EDIT_STRUCTURE_H

#include "animfs/anim.h"

/*
 * Makes a model without clips, for a file to be created; encode it with no old bytes. `names` may
 * be NULL and remains the caller's. Returns NULL when out of memory.
 */
struct anim *anim_blank(const struct format *format, const struct bone_names *names);

/* Renames a clip, which keeps its place among the others. */
bool anim_clip_rename(struct anim *a, uint32_t clip, const char *label, struct err *err);
/* Removes a clip; the indices of later clips decrease by one. */
bool anim_clip_remove(struct anim *a, uint32_t clip, struct err *err);
/*
 * The hierarchy of a model's bones, as a skeleton has it: `parent` returns the label of the bone
 * above the one with this label, or NULL. It contains no circles.
 */
struct hierarchy {
	const char *(*parent)(const void *closure, const char *label);
	const void *closure;
};
/*
 * Appends a copy of clip `clip` of `from`, named `label`; `a` then points into `from`, which may be
 * the model that `a` was edited from. If the formats differ, rotations take the form that `a`
 * stores, keys are placed where it can store them, and times keep their seconds; anything that it
 * cannot store (a loop, the flags of keyframes, a bone's name) is refused by name. In a blank model
 * the copy also brings the fields of the whole file. The name is ignored if the format stores none.
 * If names become paths, `hierarchy` has the bones above each; NULL: none is known.
 */
bool anim_clip_copy(struct anim *a, const struct anim *from, uint32_t clip, const char *label,
		    const struct hierarchy *hierarchy, struct err *err);
/* Appends a clip of `frames` frames without bones; its frame time follows from the rate. */
bool anim_clip_new(struct anim *a, const char *label, uint32_t frames, struct err *err);

/* Renames a bone in one clip only. */
bool anim_bone_rename(struct anim *a, uint32_t clip, uint32_t track, const char *label,
		      struct err *err);
bool anim_bone_remove(struct anim *a, uint32_t clip, uint32_t track, struct err *err);
/* Appends a bone without keys, or with its rest pose if the format has a key in every frame. */
bool anim_bone_add(struct anim *a, uint32_t clip, const char *label, struct err *err);

#endif
