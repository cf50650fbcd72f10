/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames/frame_NNNNN.x3d: the pose of one frame, all bones in one line set.
 *
 * Viewers play the stills as an animation only when they are the same but for their coordinates,
 * and draw one shape a hundred times faster than one a bone. So every still of a clip has the same
 * points, lines and viewpoint; only where the points are differs. A bone is drawn as a small cross,
 * and where it is not drawn at all as one without size, where it was last.
 */
#include "num.h"
#include "views.h"
#include <math.h>

#define POINTS 6          /* of a cross: two ends of three lines */
#define FARTHEST 1e18     /* further off, a viewer's float32 squares overflow */
#define BOUNDS_SAMPLES 64 /* keys of a curve that the camera looks at, spread over the clip */
#define CROSS 0.02        /* half a cross, as a part of the whole figure */
#define DISTANCE 1.5      /* of the camera: a little more than the default field of view needs */

static const struct clip *shown_clip(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

bool clip_has_stills(const struct shown *at)
{
	const struct clip *clip = shown_clip(at);

	return clip->frames > 0 && clip->frames <= FRAMES_SHOWN && clip->track_count > 0;
}

static bool frame_present(const struct shown *at)
{
	return clip_has_stills(at) && at->frame < shown_clip(at)->frames;
}

/* Where a bone is in the world. Nothing is known of parents: its own translation. */
static void bone_position(const struct clip *clip, uint32_t track, uint32_t frame, double out[3])
{
	const struct curve *c = clip->tracks[track].curve[ROLE_TRANSLATION];
	double pose[4] = {0, 0, 0, 0};

	if (c)
		curve_sample(c, frame, pose);
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = isfinite(pose[axis]) ? fmin(fmax(pose[axis], -FARTHEST), FARTHEST) : 0;
}

/* Where keyframes are data, only those of the very frame count. */
static bool is_drawn(const struct track *track, uint32_t frame)
{
	uint32_t first = 0;

	return !track->keyframes || keyframes_find(track->keyframes, frame, 0, &first) >= 0;
}

struct bounds {
	double least[3], most[3];
};

static void bounds_add(struct bounds *b, const double point[3])
{
	for (unsigned axis = 0; axis < 3; axis++) {
		b->least[axis] = fmin(b->least[axis], point[axis]);
		b->most[axis] = fmax(b->most[axis], point[axis]);
	}
}

/* Of the whole clip. Looking at every frame anew for each still would take frames * frames. */
static struct bounds clip_bounds(const struct clip *clip)
{
	struct bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	uint32_t last = clip->frames - 1;
	uint32_t samples = clip->frames < BOUNDS_SAMPLES ? clip->frames : BOUNDS_SAMPLES;

	for (uint32_t track = 0; track < clip->track_count; track++) {
		const struct curve *c = clip->tracks[track].curve[ROLE_TRANSLATION];
		uint32_t count = c && c->keyed ? samples : 1;
		double point[3];

		for (uint32_t i = 0; i < count; i++) {
			uint32_t frame =
				count > 1 ? (uint32_t)((uint64_t)last * i / (count - 1)) : 0;

			bone_position(clip, track, frame, point);
			bounds_add(&b, point);
		}
	}
	return b;
}

static double bounds_size(const struct bounds *b)
{
	double size = 0;

	for (unsigned axis = 0; axis < 3; axis++)
		size = fmax(size, b->most[axis] - b->least[axis]);
	return size > 0 ? size : 1;
}

static void write_point(const double point[3], struct buf *out)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		if (axis > 0)
			buf_char(out, ' ');
		buf_f32_text(out, (float)point[axis]);
	}
}

static void write_viewpoint(const struct bounds *b, struct buf *out)
{
	double centre[3], camera[3];

	for (unsigned axis = 0; axis < 3; axis++)
		camera[axis] = centre[axis] = (b->least[axis] + b->most[axis]) / 2;
	camera[2] = b->most[2] + DISTANCE * bounds_size(b);
	buf_text(out, "<Viewpoint description=\"skeleton\" position=\"");
	write_point(camera, out);
	buf_text(out, "\" centerOfRotation=\"");
	write_point(centre, out);
	buf_text(out, "\"/>\n");
}

static void write_lines(uint32_t bones, struct buf *out)
{
	for (uint64_t point = 0; point < (uint64_t)bones * POINTS; point += 2) {
		buf_text(out, point > 0 ? " " : "");
		buf_unsigned(out, point);
		buf_char(out, ' ');
		buf_unsigned(out, point + 1);
		buf_text(out, " -1");
	}
}

static void write_cross(const double centre[3], double half, bool first, struct buf *out)
{
	for (unsigned i = 0; i < POINTS; i++) {
		double end[3] = {centre[0], centre[1], centre[2]};

		end[i / 2] += i % 2 ? half : -half;
		buf_text(out, first && i == 0 ? "" : ", ");
		write_point(end, out);
	}
}

static void frame_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = shown_clip(at);
	struct bounds bounds = clip_bounds(clip);
	double half = CROSS * bounds_size(&bounds);

	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<X3D version=\"3.2\" profile=\"Interchange\"><Scene>\n");
	write_viewpoint(&bounds, out);
	buf_text(out, "<Shape><Appearance><Material emissiveColor=\"1 1 0\"/></Appearance>\n"
		      " <IndexedLineSet coordIndex=\"");
	write_lines(clip->track_count, out);
	buf_text(out, "\"><Coordinate point=\"");
	for (uint32_t track = 0; track < clip->track_count; track++) {
		double point[3];

		bone_position(clip, track, at->frame, point);
		write_cross(point, is_drawn(&clip->tracks[track], at->frame) ? half : 0, track == 0,
			    out);
	}
	buf_text(out, "\"/></IndexedLineSet></Shape>\n</Scene></X3D>\n");
}

const struct view view_x3d_frame = {
	.name = "kanim",
	.place = VIEW_OF_FRAME,
	.file = ".x3d",
	.present = frame_present,
	.render = frame_render,
};
