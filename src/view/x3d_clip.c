/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x3d_clip.c - clip.x3d: the clip as an animated X3D scene: nested Transforms for the bones, and
 * interpolators for what moves.
 *
 *   <TimeSensor DEF="clock" cycleInterval="0.5" loop="true"/>
 *   <Transform DEF="bone_hips" translation="0 1 0" rotation="0 1 0 0.5" scale="1 1 1">
 *   ...
 *   <PositionInterpolator DEF="translation_hips" key="0 0.5 1" keyValue="..."/>
 *   <ROUTE fromNode="clock" ... toNode="translation_hips" .../>
 *   <ROUTE fromNode="translation_hips" ... toNode="bone_hips" .../>
 *
 * A value that does not change is only in the Transform. A key that holds is repeated right before
 * the next one. Bones are drawn as marks, with lines from their parents, which follow if the bone
 * moves.
 *
 * X3D time is wall-clock time: a TimeSensor with startTime 0 that does not loop is over when the
 * scene is loaded. So a second one, which loops and is active at once, starts it.
 */
#include "figure.h"
#include "model/trig.h"
#include "own_digest.h"
#include "scene.h"
#include "text/num.h"
#include "views.h"

#include <math.h>
#include <string.h>

struct writing {
	const struct figure *f;
	const struct scene *scene;
	struct buf *out;
	/* a mark, and a line, has been written: later ones refer to its Appearance by USE */
	bool marked, lined;
};

/* ---- names ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_of_word(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/*
 * Writes a node's name for use in an ID, which allows few characters: the name or, if it has
 * others, the node's number and the allowed characters. It is unique, because names written as they
 * are begin with a letter.
 */
static void x3d_clip_write_name(const struct figure *f, uint32_t node, struct buf *out)
{
	const char *name = f->nodes[node].name;
	bool plain = is_letter(name[0]);

	for (const char *p = name; *p; p++)
		plain = plain && is_of_word(*p);
	if (!plain)
		buf_format(out, "%u_", (unsigned)node);
	for (const char *p = name; *p; p++)
		if (is_of_word(*p) || (*p & 0xc0) != 0x80) /* one '_' per other character */
			buf_char(out, is_of_word(*p) ? *p : '_');
}

/* Writes `before`, a name as in "rotation_hips", and `behind`. */
static void write_id(const struct writing *w, const char *before, const char *kind, uint32_t node,
		     const char *behind)
{
	buf_format(w->out, "%s%s_", before, kind);
	x3d_clip_write_name(w->f, node, w->out);
	buf_text(w->out, behind);
}

/* ---- values ---- */

/*
 * A rotation as an axis and an angle. For similar consecutive quaternions the axes are similar too:
 * the angle becomes negative rather than the axis reversed.
 */
struct turn {
	double axis[3];
	double angle;
};

static void turn_to(struct turn *t, const double q[4])
{
	double sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
	double along = q[0] * t->axis[0] + q[1] * t->axis[1] + q[2] * t->axis[2];

	if (along < 0)
		sine = -sine;
	t->angle = 2 * trig_atan2(sine, q[3]);
	for (unsigned axis = 0; axis < 3 && sine != 0; axis++)
		t->axis[axis] = q[axis] / sine;
}

static const struct turn no_turn = {{0, 1, 0}, 0};

static void x3d_clip_write_value(const struct channel *c, struct turn *turn, struct buf *out)
{
	double v[4];
	unsigned width = c->width;

	if (width == 4) {
		turn_to(turn, c->value);
		memcpy(v, turn->axis, sizeof(turn->axis));
		v[3] = turn->angle;
	} else {
		memcpy(v, c->value, sizeof(v));
	}
	for (unsigned axis = 0; axis < width; axis++) {
		if (axis > 0)
			buf_char(out, ' ');
		buf_f32_text(out, finite_f32(v[axis] + 0.0));
	}
}

/* ---- the figure ---- */

/* Writes the value of a node's field in the first frame. */
static void x3d_clip_write_pose(const struct writing *w, uint32_t node, enum role role)
{
	struct channel c = channel_of(w->f, node, role);
	struct turn turn = no_turn;

	channel_next(&c);
	buf_format(w->out, " %s=\"", role_names[role]);
	x3d_clip_write_value(&c, &turn, w->out);
	buf_char(w->out, '"');
}

static void write_mark(struct writing *w)
{
	double half = SCENE_MARK * w->scene->size;

	if (w->marked) {
		buf_text(w->out, "<Shape USE=\"mark\"/>\n");
		return;
	}
	w->marked = true;
	buf_text(w->out, "<Shape DEF=\"mark\"><Appearance><Material diffuseColor=\"1 0.6 0.2\"/>"
			 "</Appearance>\n <IndexedFaceSet solid=\"false\" coordIndex=\"0 2 4 -1 2 "
			 "1 4 -1 1 3 4 -1 "
			 "3 0 4 -1 2 0 5 -1 1 2 5 -1 3 1 5 -1 0 3 5 -1\"><Coordinate point=\"");
	for (unsigned i = 0; i < 6; i++) {
		double point[3] = {0, 0, 0};

		point[i / 2] = i % 2 ? -half : half;
		buf_text(w->out, i > 0 ? ", " : "");
		scene_write_point(point, w->out);
	}
	buf_text(w->out, "\"/></IndexedFaceSet></Shape>\n");
}

/* Draws a line from the parent to the bone's position in the first frame. */
static void x3d_clip_write_line(struct writing *w, uint32_t node)
{
	struct channel c = channel_of(w->f, node, ROLE_TRANSLATION);

	channel_next(&c);
	if (w->lined)
		buf_text(w->out, "<Shape><Appearance USE=\"line\"/>\n");
	else
		buf_text(w->out, "<Shape><Appearance DEF=\"line\">"
				 "<Material emissiveColor=\"1 0.5 0\"/></Appearance>\n");
	w->lined = true;
	buf_text(w->out, " <IndexedLineSet coordIndex=\"0 1 -1\">");
	write_id(w, "<Coordinate DEF=\"", "line", node, "\" point=\"0 0 0, ");
	scene_write_point(c.value, w->out);
	buf_text(w->out, "\"/></IndexedLineSet></Shape>\n");
}

static void x3d_clip_enter_node(void *user, uint32_t node, uint32_t depth)
{
	struct writing *w = user;

	if (depth > 0)
		x3d_clip_write_line(w, node);
	write_id(w, "<Transform DEF=\"", "bone", node, "\"");
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		x3d_clip_write_pose(w, node, (enum role)role);
	buf_text(w->out, ">\n");
	write_mark(w);
}

static void x3d_clip_leave_node(void *user, uint32_t node, uint32_t depth)
{
	const struct writing *w = user;

	(void)node;
	(void)depth;
	buf_text(w->out, "</Transform>\n");
}

/* ---- motion ---- */

static void x3d_clip_write_keys(const struct writing *w, struct channel c)
{
	const double last = w->f->clip->frames - 1;
	bool first = true;

	while (channel_next(&c)) {
		buf_text(w->out, first ? "" : " ");
		buf_f32_text(w->out, (float)(c.frame / last));
		if (c.step && !first) {
			buf_char(w->out, ' ');
			buf_f32_text(w->out, (float)(c.frame / last));
		}
		first = false;
	}
}

static void write_key_values(const struct writing *w, struct channel c, const char *before_each)
{
	struct channel before = c;
	struct turn turn = no_turn;
	bool first = true;

	while (channel_next(&c)) {
		buf_text(w->out, first ? "" : ", ");
		if (c.step && !first) {
			buf_text(w->out, before_each);
			x3d_clip_write_value(&before, &turn, w->out);
			buf_text(w->out, ", ");
		}
		buf_text(w->out, before_each);
		x3d_clip_write_value(&c, &turn, w->out);
		before = c;
		first = false;
	}
}

/*
 * An interpolator of the keys of a role, and the field of one of the bone's nodes that it drives.
 */
struct motion {
	enum role role;
	const char *element, *kind, *before_each;
	const char *moved, *field;
};

static const struct motion motions[] = {
	{ROLE_TRANSLATION, "<PositionInterpolator", "translation", "", "bone", "translation"},
	{ROLE_ROTATION, "<OrientationInterpolator", "rotation", "", "bone", "rotation"},
	{ROLE_SCALE, "<PositionInterpolator", "scale", "", "bone", "scale"},
	{ROLE_TRANSLATION, "<CoordinateInterpolator", "stretch", "0 0 0 ", "line", "point"},
};

static void write_route(const struct writing *w, uint32_t node, const struct motion *m)
{
	write_id(w, "<ROUTE fromNode=\"clock\" fromField=\"fraction_changed\" toNode=\"", m->kind,
		 node, "\" toField=\"set_fraction\"/>\n");
	write_id(w, "<ROUTE fromNode=\"", m->kind, node, "\" fromField=\"value_changed\"");
	write_id(w, " toNode=\"", m->moved, node, "\"");
	buf_format(w->out, " toField=\"%s\"/>\n", m->field);
}

static void x3d_clip_write_motion(const struct writing *w, uint32_t node, const struct motion *m)
{
	const struct channel c = channel_of(w->f, node, m->role);

	if (channel_count(&c) < 2)
		return;
	buf_text(w->out, m->element);
	write_id(w, " DEF=\"", m->kind, node, "\" key=\"");
	x3d_clip_write_keys(w, c);
	buf_text(w->out, "\" keyValue=\"");
	write_key_values(w, c, m->before_each);
	buf_text(w->out, "\"/>\n");
	write_route(w, node, m);
}

static void write_motions(const struct writing *w, uint32_t node)
{
	bool has_line = w->f->nodes[node].parent != FIGURE_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(motions); i++)
		if (has_line || strcmp(motions[i].moved, "line") != 0)
			x3d_clip_write_motion(w, node, &motions[i]);
}

static const char start[] = "<TimeSensor DEF=\"loading\" loop=\"true\"/>\n"
			    "<TimeTrigger DEF=\"start\"/>\n"
			    "<ROUTE fromNode=\"loading\" fromField=\"isActive\" toNode=\"start\" "
			    "toField=\"set_boolean\"/>\n"
			    "<ROUTE fromNode=\"start\" fromField=\"triggerTime\" toNode=\"clock\" "
			    "toField=\"startTime\"/>\n";

static void write_clock(const struct writing *w)
{
	uint32_t steps = w->f->clip->frames > 1 ? w->f->clip->frames - 1 : 1;

	buf_text(w->out, "<TimeSensor DEF=\"clock\" cycleInterval=\"");
	buf_f32_text(w->out, (float)(steps * w->f->seconds));
	buf_format(w->out, "\" loop=\"%s\"/>\n", w->f->clip->loop ? "true" : "false");
	if (!w->f->clip->loop)
		buf_text(w->out, start);
}

static void x3d_clip_write_scene(struct writing *w)
{
	static const struct figure_walk figure = {x3d_clip_enter_node, x3d_clip_leave_node};

	buf_text(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			 "<X3D version=\"3.2\" profile=\"Interactive\"><Scene>\n");
	scene_write_camera(w->scene, w->out);
	write_clock(w);
	figure_walk(w->f, &figure, w);
	for (uint32_t bone = 0; bone < w->f->bones && !w->out->failed; bone++)
		write_motions(w, bone);
	buf_text(w->out, "</Scene></X3D>\n");
	own_digest_add(w->out);
}

static void clip_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct figure figure;
	struct scene scene;
	struct writing w = {.f = &figure, .scene = &scene, .out = out};

	if (figure_make(&figure, at, &arena) && scene_make(&scene, at, &arena))
		x3d_clip_write_scene(&w);
	out->failed |= arena.failed;
	arena_release(&arena);
}

const struct view view_x3d_clip = {
	.name = "x3d",
	.place = VIEW_OF_CLIP,
	.file = "clip.x3d",
	.present = figure_present,
	.explain = figure_explain,
	.render = clip_render,
	.every_key = true,
	.posed = true,
	.composed = true,
};
