/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * join.h - appends clips to each other as one clip. Frames are numbered on: the first frame of a
 * clip follows the last of the clip before. A track of the joined clip has the keyframes of all
 * tracks of its name, and none in the frames of a clip that lacks it.
 */
#ifndef ANIMFS_MODEL_JOIN_H
#define ANIMFS_MODEL_JOIN_H

#include "animfs/anim.h"

/* Clips to be joined. {0} is empty. */
struct join {
	const struct format
		*format; /* format of all clips: it has keyframes, and numbers for names */
	const struct bone_names *names;
	const struct clip **clips; /* array of the clips, which remain the caller's and must live
				      until join_end */
	size_t count, room;
	uint32_t frames, keyframes;
};

/*
 * Appends a clip. False and err if out of memory, or if there are more frames or keyframes than can
 * be counted.
 */
bool join_add(struct join *j, const struct clip *clip, struct err *err);
/*
 * Fills `frames` and `tracks` of the joined clip, with tracks in the order of their numbers; other
 * fields of the clips are not joined. The arena owns the result. False when out of memory.
 */
bool join_end(const struct join *j, struct arena *arena, struct clip *out);
void join_release(struct join *j);

#endif
