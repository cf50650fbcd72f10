/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * join.h - clips one after the other, as one clip.
 *
 * Frames are counted through: the first of a clip follows the last of the clip before it. A track
 * of the joined clip has the keyframes of all tracks of its name, and none in the frames of a clip
 * that lacks it.
 */
#ifndef ANIMFS_MODEL_JOIN_H
#define ANIMFS_MODEL_JOIN_H

#include "animfs/anim.h"

/* Clips to be joined. {0} is empty. */
struct join {
	const struct format *format; /* of all clips: one with keyframes, and numbers for names */
	const struct bone_names *names;
	const struct clip **clips; /* the caller's, until the end */
	size_t count, room;
	uint32_t frames, keyframes;
};

/* False and err: out of memory, or more frames or keyframes than can be counted. */
bool join_add(struct join *j, const struct clip *clip, struct err *err);
/*
 * The whole, with `frames`, `tracks` in the order of their numbers, and nothing else of the clips.
 * The arena owns all of it. False when out of memory.
 */
bool join_end(const struct join *j, struct arena *arena, struct clip *out);
void join_release(struct join *j);

#endif
