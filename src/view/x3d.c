/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x3d.c - frames/frame_NNNNN.x3d: the pose in one frame, all bones in one shape.
 *
 * Viewers play stills as an animation only if they differ in nothing but coordinates, and draw one
 * shape a hundred times faster than one per bone. So every still of a clip has the same faces or
 * lines, and the same viewpoint; only the points' coordinates, in model space, differ. A bone that
 * is not drawn shrinks to a point.
 *
 * If the bones' parents are known, each bone is an octahedron from its parent to itself, as
 * modelling programs draw them, and a root is a small one. Otherwise, and with --bones=lines, bones
 * are small crosses with a line to the parent.
 */
#include "own_digest.h"
#include "scene.h"
#include "text/num.h"
#include "views.h"
#include <math.h>
#include <string.h>

#define CROSS 0.02 /* half the size of a cross, as a fraction of the figure's size */
/* where an octahedron is widest, and half its width there, as fractions of its length */
#define WAIST 0.1
#define WIDEST 0.03 /* limit of an octahedron's half width, as a fraction of the figure's size */

static const struct clip *x3d_shown_clip(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

bool clip_has_stills(const struct shown *at)
{
	const struct clip *clip = x3d_shown_clip(at);

	return clip->frames > 0 && clip->frames <= FRAMES_SHOWN && clip->track_count > 0;
}

static bool frame_present(const struct shown *at)
{
	return clip_has_stills(at) && at->frame < x3d_shown_clip(at)->frames;
}

/*
 * Returns whether a bone is drawn in a frame: in formats that store keyframes, only if it has one
 * there.
 */
static bool x3d_is_drawn(const struct track *track, uint32_t frame)
{
	uint32_t first = 0;

	return !track->keyframes || keyframes_find(track->keyframes, frame, 0, &first) >= 0;
}

/* ---- text ---- */

/* The state of writing the points of the shape. */
struct points {
	struct buf *out;
	bool any;
};

static void add_point(struct points *p, const double point[3])
{
	buf_text(p->out, p->any ? ", " : "");
	p->any = true;
	scene_write_point(point, p->out);
}

/* Writes the indices of a line or face, `count` corners relative to `first`, and -1. */
static void x3d_write_indices(uint64_t first, const uint8_t *corners, unsigned count,
			      struct buf *out)
{
	for (unsigned i = 0; i < count; i++) {
		buf_unsigned(out, first + corners[i]);
		buf_char(out, ' ');
	}
	buf_text(out, "-1");
}

/* ---- lines ---- */

#define CROSS_POINTS 6 /* the ends of three lines */

static void write_line_indices(const struct scene *s, struct buf *out)
{
	static const uint8_t ends[] = {0, 1};
	uint64_t point = 0;

	for (uint32_t track = 0; track < s->rig->count; track++) {
		unsigned points = CROSS_POINTS + (s->rig->parents[track] == JOINT_ROOT ? 0 : 2);

		for (unsigned i = 0; i < points; i += 2, point += 2) {
			buf_text(out, point > 0 ? " " : "");
			x3d_write_indices(point, ends, 2, out);
		}
	}
}

static void add_cross(struct points *p, const double centre[3], double half)
{
	for (unsigned i = 0; i < CROSS_POINTS; i++) {
		double end[3] = {centre[0], centre[1], centre[2]};

		end[i / 2] += i % 2 ? half : -half;
		add_point(p, end);
	}
}

static void x3d_add_lines(const struct scene *s, uint32_t track, bool drawn, struct points *p)
{
	int32_t parent = s->rig->parents[track];
	double at[3], from[3];

	scene_position(s, track, at);
	add_cross(p, at, drawn ? CROSS * s->size : 0);
	if (parent == JOINT_ROOT)
		return;
	scene_position(s, drawn ? (uint32_t)parent : track, from);
	add_point(p, from);
	add_point(p, at);
}

static void write_lines(const struct scene *s, uint32_t frame, struct buf *out)
{
	struct points points = {.out = out};

	buf_text(out, "<Shape><Appearance><Material emissiveColor=\"1 0.5 0\"/></Appearance>\n"
		      " <IndexedLineSet coordIndex=\"");
	write_line_indices(s, out);
	buf_text(out, "\"><Coordinate point=\"");
	for (uint32_t track = 0; track < s->rig->count; track++)
		x3d_add_lines(s, track, x3d_is_drawn(&s->clip->tracks[track], frame), &points);
	buf_text(out, "\"/></IndexedLineSet></Shape>\n");
}

/* ---- octahedra ---- */

#define OCTAHEDRON_POINTS 6 /* both ends, and four around the waist */

static double dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Normalises a vector. Returns false if it has no direction. */
static bool normalise(double v[3])
{
	double length = sqrt(dot(v, v));

	if (!(length > 1e-12))
		return false;
	for (unsigned axis = 0; axis < 3; axis++)
		v[axis] /= length;
	return true;
}

/*
 * Computes the component of v at right angles to `along`, normalised. Returns false if it has no
 * direction.
 */
static bool normalise_across(double v[3], const double along[3])
{
	double part = dot(v, along);

	for (unsigned axis = 0; axis < 3; axis++)
		v[axis] -= part * along[axis];
	return normalise(v);
}

/*
 * Finds a direction at right angles to the bone that rotates with its parent, so that the
 * octahedron does not twist from frame to frame: the part at right angles of that parent's axis
 * which is most perpendicular to the bone at rest.
 */
static void x3d_find_across(const struct scene *s, uint32_t track, uint32_t parent,
			    const double along[3], double out[3])
{
	const struct joint *joint = s->rig->rest[track];
	unsigned least = 0;

	for (unsigned axis = 1; axis < 3; axis++)
		if (fabs(joint->rest[ROLE_TRANSLATION][axis]) <
		    fabs(joint->rest[ROLE_TRANSLATION][least]))
			least = axis;
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = s->world[parent].m[axis][least];
	if (normalise(out) && normalise_across(out, along))
		return;
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = fabs(along[axis]) < 0.6;
	if (!normalise_across(out, along))
		memset(out, 0, 3 * sizeof(*out));
}

/*
 * An octahedron: both ends, the middle of the waist, and the two directions in which the waist
 * extends.
 */
struct octahedron {
	double tail[3], head[3], waist[3], side[2][3], radius;
};

static void x3d_add_octahedron(const struct octahedron *o, struct points *p)
{
	add_point(p, o->tail);
	for (unsigned i = 0; i < 4; i++) {
		double point[3];

		for (unsigned axis = 0; axis < 3; axis++)
			point[axis] = o->waist[axis] +
				      (i < 2 ? o->radius : -o->radius) * o->side[i % 2][axis];
		add_point(p, point);
	}
	add_point(p, o->head);
}

/*
 * Returns the octahedron of a root, which extends along the bone's own axes; not along an axis of
 * no length.
 */
static struct octahedron root_octahedron(const struct scene *s, uint32_t track, double radius)
{
	struct octahedron o = {.radius = radius};
	double own[3][3];

	scene_position(s, track, o.waist);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned axis = 0; axis < 3; axis++)
			own[i][axis] = s->world[track].m[axis][i];
		if (!normalise(own[i]))
			memset(own[i], 0, sizeof(own[i]));
	}
	memcpy(o.side, own, sizeof(o.side));
	for (unsigned axis = 0; axis < 3; axis++) {
		o.tail[axis] = o.waist[axis] - radius * own[2][axis];
		o.head[axis] = o.waist[axis] + radius * own[2][axis];
	}
	return o;
}

static struct octahedron bone_octahedron(const struct scene *s, uint32_t track, uint32_t parent)
{
	struct octahedron o = {.radius = 0};
	double along[3], length;

	scene_position(s, parent, o.tail);
	scene_position(s, track, o.head);
	for (unsigned axis = 0; axis < 3; axis++)
		along[axis] = o.head[axis] - o.tail[axis];
	length = sqrt(dot(along, along));
	memcpy(o.waist, o.tail, sizeof(o.waist));
	if (!normalise(along))
		return o;
	o.radius = fmin(WAIST * length, WIDEST * s->size);
	for (unsigned axis = 0; axis < 3; axis++)
		o.waist[axis] += o.radius * along[axis];
	x3d_find_across(s, track, parent, along, o.side[0]);
	for (unsigned axis = 0; axis < 3; axis++)
		o.side[1][axis] = along[(axis + 1) % 3] * o.side[0][(axis + 2) % 3] -
				  along[(axis + 2) % 3] * o.side[0][(axis + 1) % 3];
	return o;
}

static void write_face_indices(uint32_t bones, struct buf *out)
{
	static const uint8_t faces[][3] = {{0, 2, 1}, {0, 3, 2}, {0, 4, 3}, {0, 1, 4},
					   {5, 1, 2}, {5, 2, 3}, {5, 3, 4}, {5, 4, 1}};

	for (uint32_t bone = 0; bone < bones; bone++) {
		for (unsigned i = 0; i < ARRAY_SIZE(faces); i++) {
			buf_text(out, bone > 0 || i > 0 ? " " : "");
			x3d_write_indices((uint64_t)bone * OCTAHEDRON_POINTS, faces[i], 3, out);
		}
	}
}

static void write_octahedra(const struct scene *s, uint32_t frame, struct buf *out)
{
	struct points points = {.out = out};

	buf_text(out, "<Shape><Appearance><Material diffuseColor=\"1 0.6 0.2\"/></Appearance>\n"
		      " <IndexedFaceSet solid=\"false\" coordIndex=\"");
	write_face_indices(s->rig->count, out);
	buf_text(out, "\"><Coordinate point=\"");
	for (uint32_t track = 0; track < s->rig->count; track++) {
		int32_t parent = s->rig->parents[track];
		bool drawn = x3d_is_drawn(&s->clip->tracks[track], frame);
		struct octahedron o =
			drawn && parent != JOINT_ROOT
				? bone_octahedron(s, track, (uint32_t)parent)
				: root_octahedron(s, track, drawn ? CROSS * s->size : 0);

		x3d_add_octahedron(&o, &points);
	}
	buf_text(out, "\"/></IndexedFaceSet></Shape>\n");
}

/* ---- the view ---- */

static void x3d_write_scene(struct scene *s, const struct shown *at, struct buf *out)
{
	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<X3D version=\"3.2\" profile=\"Interchange\"><Scene>\n");
	scene_write_camera(s, out);
	scene_pose(s, at->frame);
	if (at->skeleton && !at->style.lines)
		write_octahedra(s, at->frame, out);
	else
		write_lines(s, at->frame, out);
	buf_text(out, "</Scene></X3D>\n");
	own_digest_add(out);
}

static void frame_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct scene s;

	if (scene_make(&s, at, &arena))
		x3d_write_scene(&s, at, out);
	else
		out->failed = true;
	arena_release(&arena);
}

static bool frames_alike(const struct shown *at)
{
	return !scene_is_moving(x3d_shown_clip(at));
}

const struct view view_x3d_frame = {
	.name = "kanim",
	.place = VIEW_OF_FRAME,
	.file = ".x3d",
	.present = frame_present,
	.render = frame_render,
	.alike = frames_alike,
	.posed = true,
	.composed = true,
};
