/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scene.h - shared by the X3D views: the places of a clip's bones, and of the camera.
 *
 *	struct scene s;
 *	if (scene_make(&s, at, &arena))
 *		scene_write_camera(&s, out);
 */
#ifndef ANIMFS_VIEW_SCENE_H
#define ANIMFS_VIEW_SCENE_H

#include "animfs/view.h"
#include "skeleton/skeleton.h"

/* Half the size of a bone's mark (which is scaled with the bone), as a fraction of scene.size. */
#define SCENE_MARK 0.015

struct scene {
	const struct clip *clip;
	const struct rig *rig;
	struct transform *world; /* transform of each bone, in the frame of the last scene_pose */
	double size;             /* size of the whole figure, above 0 */
	double growth;           /* the largest scale of any bone */
	double camera[4];        /* rotation of the camera, a unit quaternion */
	struct bounds {
		double least[3], most[3];
	} seen; /* bounds of the whole clip, along the camera's axes */
};

/* Makes a scene, posed in frame 0, of a clip with bones and frames. False when out of memory. */
bool scene_make(struct scene *s, const struct shown *at, struct arena *arena);
void scene_pose(struct scene *s, uint32_t frame);
/* Returns a bone's position, limited to what viewers can compute with. */
void scene_position(const struct scene *s, uint32_t track, double out[3]);

/* Returns whether a bone's pose, or whether it is drawn, differs between frames. */
bool scene_is_moving(const struct clip *clip);

/* Writes a point: "1 2 3". */
void scene_write_point(const double point[3], struct buf *out);
/* Writes the Viewpoint, which is the same for all frames of a clip. */
void scene_write_camera(const struct scene *s, struct buf *out);

#endif
