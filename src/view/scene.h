/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scene.h - a clip as X3D draws it: where its bones are, and where the camera stands.
 *
 *	struct scene s;
 *	if (scene_make(&s, at, &arena))
 *		scene_write_camera(&s, out);
 */
#ifndef ANIMFS_VIEW_SCENE_H
#define ANIMFS_VIEW_SCENE_H

#include "animfs/view.h"
#include "skeleton.h"

/* Half of a mark that grows with its bone, as a part of the whole figure. */
#define SCENE_MARK 0.015

struct scene {
	const struct clip *clip;
	const struct rig *rig;
	struct transform *world; /* of each bone, in the frame that was posed last */
	double size;             /* of the whole figure, above 0 */
	double growth;           /* of the bone that is scaled most */
	double camera[4];        /* how it is turned: a unit quaternion */
	struct bounds {
		double least[3], most[3];
	} seen; /* of the whole clip, along the camera's axes */
};

/* Posed in frame 0. The clip has bones and frames. False when out of memory. */
bool scene_make(struct scene *s, const struct shown *at, struct arena *arena);
void scene_pose(struct scene *s, uint32_t frame);
/* Where a bone is; never so far off that a viewer could not tell. */
void scene_position(const struct scene *s, uint32_t track, double out[3]);

/* Does any bone of the clip have another pose in another frame, or none? */
bool scene_is_moving(const struct clip *clip);

/* "1 2 3" */
void scene_write_point(const double point[3], struct buf *out);
/* The same one for all frames of a clip. */
void scene_write_camera(const struct scene *s, struct buf *out);

#endif
