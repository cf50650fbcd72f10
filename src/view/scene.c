/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scene.h"

#include "clip.h"
#include "num.h"

#include <math.h>

#define FARTHEST 1e18     /* further off, a viewer's float32 squares overflow */
#define BOUNDS_SAMPLES 64 /* frames that the camera looks at, spread over the clip, at most */
#define BOUNDS_POSES 2048 /* and no more than so many poses of bones, two frames excepted */
#define DISTANCE 1.5      /* of the camera: a little more than the default field of view needs */

void scene_pose(struct scene *s, uint32_t frame)
{
	rig_world(s->rig, s->clip, frame, s->world);
}

static double within_sight(double v)
{
	return fmin(fmax(v, -FARTHEST), FARTHEST);
}

void scene_position(const struct scene *s, uint32_t track, double out[3])
{
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = within_sight(s->world[track].m[axis][3]);
}

static bool is_moving(const struct clip *clip)
{
	for (uint32_t track = 0; track < clip->track_count; track++)
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			if (clip->tracks[track].curve[role] &&
			    clip->tracks[track].curve[role]->keyed)
				return true;
	return false;
}

/* Looking at every frame anew for each still would take frames * frames. */
static uint32_t bounds_samples(const struct clip *clip)
{
	uint32_t samples = BOUNDS_POSES / clip->track_count;

	if (clip->frames == 1 || !is_moving(clip))
		return 1;
	samples = samples < 2 ? 2 : samples < BOUNDS_SAMPLES ? samples : BOUNDS_SAMPLES;
	return samples < clip->frames ? samples : clip->frames;
}

static void bounds_add(struct bounds *b, const double point[3])
{
	for (unsigned axis = 0; axis < 3; axis++) {
		b->least[axis] = fmin(b->least[axis], point[axis]);
		b->most[axis] = fmax(b->most[axis], point[axis]);
	}
}

static void find_bounds(struct scene *s)
{
	uint32_t last = s->clip->frames - 1, samples = bounds_samples(s->clip);

	s->bounds =
		(struct bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	for (uint32_t i = 0; i < samples; i++) {
		uint32_t frame = samples > 1 ? (uint32_t)((uint64_t)last * i / (samples - 1)) : 0;

		scene_pose(s, frame);
		for (uint32_t track = 0; track < s->rig->count; track++) {
			double point[3];

			scene_position(s, track, point);
			bounds_add(&s->bounds, point);
		}
	}
	for (unsigned axis = 0; axis < 3; axis++)
		s->size = fmax(s->size, s->bounds.most[axis] - s->bounds.least[axis]);
	if (s->size <= 0)
		s->size = 1;
}

bool scene_make(struct scene *s, const struct shown *at, struct arena *arena)
{
	const struct clip *clip = clip_shown(at);

	*s = (struct scene){.clip = clip,
			    .rig = rig_make(at->skeleton, clip, arena),
			    .y_down = at->anim->format->y_down};
	s->world = arena_alloc(arena, clip->track_count, sizeof(*s->world));
	if (!s->rig || !s->world)
		return false;
	find_bounds(s);
	scene_pose(s, 0);
	return true;
}

/* ---- text ---- */

void scene_write_point(const double point[3], struct buf *out)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		if (axis > 0)
			buf_char(out, ' ');
		buf_f32_text(out, (float)within_sight(point[axis]));
	}
}

void scene_write_viewpoint(const struct scene *s, struct buf *out)
{
	double centre[3], camera[3];

	for (unsigned axis = 0; axis < 3; axis++)
		camera[axis] = centre[axis] = (s->bounds.least[axis] + s->bounds.most[axis]) / 2;
	camera[2] = s->y_down ? s->bounds.least[2] - DISTANCE * s->size
			      : s->bounds.most[2] + DISTANCE * s->size;
	buf_text(out, "<Viewpoint description=\"skeleton\" position=\"");
	scene_write_point(camera, out);
	buf_text(out, "\" centerOfRotation=\"");
	scene_write_point(centre, out);
	/* Half a turn about X: a figure that would stand on its head is seen upright. */
	buf_text(out, s->y_down ? "\" orientation=\"1 0 0 3.1415927\"/>\n" : "\"/>\n");
}
