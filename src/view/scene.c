/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scene.h"

#include "model/clip.h"
#include "model/rotation.h"
#include "model/trig.h"
#include "text/num.h"

#include <math.h>

/* limit of coordinates: beyond it, squares in a viewer's float32 overflow */
#define FARTHEST 4e18
/* limit of bones' coordinates; lower, since the camera is farther away than the bones */
#define FARTHEST_BONE 1e17
#define MOST_GROWN 100 /* largest scale that the camera makes room for */
/* frames that bounds are computed from, spread over the clip, at most */
#define BOUNDS_SAMPLES 64
/* limit of BOUNDS_SAMPLES times bones; at least two frames are sampled */
#define BOUNDS_POSES 2048
#define MARGIN 0.03    /* room around all bones, as a fraction of the figure's size */
#define AWAY 2.4142136 /* distance at which +-1 just fits into the default field of view */

void scene_pose(struct scene *s, uint32_t frame)
{
	rig_world(s->rig, s->clip, frame, s->world);
}

static double within(double v, double most)
{
	return fmin(fmax(v, -most), most);
}

void scene_position(const struct scene *s, uint32_t track, double out[3])
{
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = within(s->world[track].m[axis][3], FARTHEST_BONE);
}

static bool track_moves(const struct track *track)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if (track->curve[role] && track->curve[role]->keyed &&
		    track->curve[role]->count > 1)
			return true;
	return track->keyframes != NULL;
}

bool scene_is_moving(const struct clip *clip)
{
	for (uint32_t track = 0; track < clip->track_count; track++)
		if (track_moves(&clip->tracks[track]))
			return true;
	return false;
}

/*
 * Returns how many frames the bounds are computed from. Every still needs the bounds, so using all
 * frames would take quadratic time.
 */
static uint32_t bounds_samples(const struct clip *clip)
{
	uint32_t samples = BOUNDS_POSES / clip->track_count;

	if (clip->frames == 1 || !scene_is_moving(clip))
		return 1;
	samples = samples < 2 ? 2 : samples < BOUNDS_SAMPLES ? samples : BOUNDS_SAMPLES;
	return samples < clip->frames ? samples : clip->frames;
}

/* Rotates a vector by a unit quaternion, from the camera's axes to model space. */
static void turn_vector(const double q[4], const double v[3], double out[3])
{
	double t[3];

	for (unsigned axis = 0; axis < 3; axis++) {
		unsigned next = (axis + 1) % 3, last = (axis + 2) % 3;

		t[axis] = 2 * (q[next] * v[last] - q[last] * v[next]);
	}
	for (unsigned axis = 0; axis < 3; axis++) {
		unsigned next = (axis + 1) % 3, last = (axis + 2) % 3;

		out[axis] = v[axis] + q[3] * t[axis] + q[next] * t[last] - q[last] * t[next];
	}
}

static const struct bounds no_bounds = {{INFINITY, INFINITY, INFINITY},
					{-INFINITY, -INFINITY, -INFINITY}};

static void bounds_add(struct bounds *b, const double point[3])
{
	for (unsigned axis = 0; axis < 3; axis++) {
		b->least[axis] = fmin(b->least[axis], point[axis]);
		b->most[axis] = fmax(b->most[axis], point[axis]);
	}
}

/* Returns the length of the longest of the bone's axes, which is its largest scale. */
static double growth_of(const struct transform *t)
{
	double most = 0;

	for (unsigned axis = 0; axis < 3; axis++)
		most = fmax(most, t->m[0][axis] * t->m[0][axis] + t->m[1][axis] * t->m[1][axis] +
					  t->m[2][axis] * t->m[2][axis]);
	return sqrt(most);
}

/* Adds the bones' current positions to the bounds, in model space and along the camera's axes. */
static void add_pose(struct scene *s, struct bounds *bounds)
{
	const double back[4] = {-s->camera[0], -s->camera[1], -s->camera[2], s->camera[3]};

	for (uint32_t track = 0; track < s->rig->count; track++) {
		double point[3], seen[3];

		scene_position(s, track, point);
		bounds_add(bounds, point);
		turn_vector(back, point, seen);
		bounds_add(&s->seen, seen);
		s->growth = fmax(s->growth, growth_of(&s->world[track]));
	}
}

static void scene_find_bounds(struct scene *s)
{
	uint32_t last = s->clip->frames - 1, samples = bounds_samples(s->clip);
	struct bounds bounds = no_bounds;

	s->seen = no_bounds;
	for (uint32_t i = 0; i < samples; i++) {
		scene_pose(s, samples > 1 ? (uint32_t)((uint64_t)last * i / (samples - 1)) : 0);
		add_pose(s, &bounds);
	}
	for (unsigned axis = 0; axis < 3; axis++)
		s->size = fmax(s->size, bounds.most[axis] - bounds.least[axis]);
	if (s->size <= 0)
		s->size = 1;
}

/*
 * Places the camera a little above and to the side: from the front a walk looks like standing. If
 * the format's Y points down, the camera is rotated by half a turn about X, so that the figure does
 * not stand on its head.
 */
static void turn_camera(struct scene *s, bool y_down)
{
	static const double no_turn[4] = {0, 0, 0, 1};
	static const double angles[] = {-12, 35, 0}, angles_y_down[] = {180 - 12, -35, 0};

	rotation_quaternion(y_down ? angles_y_down : angles, no_turn, s->camera);
}

bool scene_make(struct scene *s, const struct shown *at, struct arena *arena)
{
	const struct clip *clip = clip_shown(at);

	*s = (struct scene){.clip = clip, .rig = rig_make(at->skeleton, clip, arena)};
	s->world = arena_alloc(arena, clip->track_count, sizeof(*s->world));
	if (!s->rig || !s->world)
		return false;
	turn_camera(s, at->anim->format->y_down);
	scene_find_bounds(s);
	scene_pose(s, 0);
	return true;
}

/* ---- text ---- */

void scene_write_point(const double point[3], struct buf *out)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		if (axis > 0)
			buf_char(out, ' ');
		buf_f32_text(out, (float)within(point[axis], FARTHEST));
	}
}

static void write_turn(const double q[4], struct buf *out)
{
	double sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
	const double axis[3] = {q[0] / sine, q[1] / sine, q[2] / sine};

	scene_write_point(axis, out);
	buf_char(out, ' ');
	buf_f32_text(out, (float)(2 * trig_atan2(sine, q[3])));
}

/* Returns the centre of the bounds along one of the camera's axes. */
static double centre_along(const struct scene *s, unsigned axis)
{
	return (s->seen.least[axis] + s->seen.most[axis]) / 2;
}

/*
 * Returns half the extent of the bounds along one of the camera's axes, including the bones' marks.
 */
static double half_along(const struct scene *s, unsigned axis)
{
	double margin = fmax(MARGIN, SCENE_MARK * fmin(s->growth, MOST_GROWN)) * s->size;

	return (s->seen.most[axis] - s->seen.least[axis]) / 2 + margin;
}

/*
 * Writes the size of the viewer's avatar in proportion to the distance. Viewers assume a figure of
 * human size, and clip one that is much larger or smaller.
 */
static void write_reach(double distance, struct buf *out)
{
	const double avatar[3] = {0.02 * distance, 0.5 * distance, 0.25 * distance};

	buf_text(out, "<NavigationInfo type='\"EXAMINE\" \"ANY\"' avatarSize=\"");
	scene_write_point(avatar, out);
	buf_text(out, "\" visibilityLimit=\"");
	buf_f32_text(out, (float)(200 * distance));
	buf_text(out, "\"/>\n");
}

void scene_write_camera(const struct scene *s, struct buf *out)
{
	const double distance = half_along(s, 2) + AWAY * fmax(half_along(s, 0), half_along(s, 1));
	const double centre[3] = {centre_along(s, 0), centre_along(s, 1), centre_along(s, 2)};
	const double eye[3] = {centre[0], centre[1], centre[2] + distance};
	double point[3];

	turn_vector(s->camera, eye, point);
	buf_text(out, "<Viewpoint description=\"skeleton\" position=\"");
	scene_write_point(point, out);
	buf_text(out, "\" orientation=\"");
	write_turn(s->camera, out);
	turn_vector(s->camera, centre, point);
	buf_text(out, "\" centerOfRotation=\"");
	scene_write_point(point, out);
	buf_text(out, "\"/>\n");
	write_reach(distance, out);
}
