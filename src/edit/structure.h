/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer edit: clips, bones and folders of texts as wholes, and what differs between two models or
 * three files. Like the model it is memory only, and knows no files and no formats.
 *
 * Start reading here; assembly.h makes a clip of the texts of a folder, compare.h lists what
 * differs.
 *
 * May use: util text model
 */
/*
 * structure.h - clips and bones as wholes: renamed, removed, copied, made; within a file, between
 * files, and between formats.
 *
 *   struct anim *edited = anim_edit(version->anim);
 *   if (!anim_clip_remove(edited, clip, &err)) ...
 *   source_commit(source, &where, version, edited, ...);
 *
 * Each changes a model that anim_edit or anim_blank made; several may follow each other before it
 * is stored. False and err when refused or out of memory, and then the model is of no use any more.
 *
 * Clips and bones are identified by their place in the model at that moment, new names are in their
 * file-name form (names.h). What the format itself forbids (a scale in an FF9 block, a clip that a
 * CAS refers to) is refused when the model is stored, by its codec.
 */
#ifndef ANIMFS_EDIT_STRUCTURE_H
#define ANIMFS_EDIT_STRUCTURE_H

#include "animfs/anim.h"

/*
 * A model without clips, for a file that is to be made. `names` may be NULL and stays the caller's.
 * NULL when out of memory. It is stored with no old bytes.
 */
struct anim *anim_blank(const struct format *format, const struct bone_names *names);

/* The clip keeps its place among the others. */
bool anim_clip_rename(struct anim *a, uint32_t clip, const char *label, struct err *err);
/* Those behind it move up. */
bool anim_clip_remove(struct anim *a, uint32_t clip, struct err *err);
/*
 * A copy of clip `clip` of `from`, called `label`, behind the clips of `a`; `a` then points into
 * `from`, which may be the model that `a` was edited from. Where the formats differ, rotations take
 * the form that `a` stores, keys stand where it has them, and times keep their seconds; what it has
 * no room for (a loop, the flags of keyframes, a bone's name) is refused by name. In a blank model
 * the copy brings what the format stores about the whole file, too. The name does not matter where
 * the format stores none.
 */
bool anim_clip_copy(struct anim *a, const struct anim *from, uint32_t clip, const char *label,
		    struct err *err);
/* A clip of so many frames without bones, behind the others; its frame time is that of the rate. */
bool anim_clip_new(struct anim *a, const char *label, uint32_t frames, struct err *err);

/* Only in this clip. */
bool anim_bone_rename(struct anim *a, uint32_t clip, uint32_t track, const char *label,
		      struct err *err);
bool anim_bone_remove(struct anim *a, uint32_t clip, uint32_t track, struct err *err);
/* A bone without keys, or at rest where the format has a key in every frame, behind the others. */
bool anim_bone_add(struct anim *a, uint32_t clip, const char *label, struct err *err);

#endif
