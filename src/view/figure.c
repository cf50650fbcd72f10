/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "figure.h"

#include "model/clip.h"
#include "model/rotation.h"
#include "model/sampled.h"
#include "views.h"

#include <math.h>
#include <string.h>

#define FARTHEST 1e30
/* limit of coordinates: farther from the origin, float32 is too coarse for a bone's direction */
#define FAR 1e6

float finite_f32(double v)
{
	return (float)fmin(fmax(v, -FARTHEST), FARTHEST);
}

bool figure_present(const struct shown *at)
{
	const struct clip *clip = clip_shown(at);

	if (!clip_has_bones(at))
		return false;
	for (uint32_t i = 0; i < clip->track_count; i++)
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *curve = clip->tracks[i].curve[role];

			if (curve && curve_shown(curve, clip->frames) > 0)
				return true;
		}
	return false;
}

void figure_explain(const struct shown *at, struct err *err)
{
	if (!clip_has_bones(at))
		err_set(err, ERR_STORE, "a clip of more than %d frames is shown only in tables",
			FRAMES_SHOWN);
	else if (!figure_present(at))
		err_set(err, ERR_STORE, "no bone of the clip has a key");
}

/* ---- nodes ---- */

struct making {
	struct figure *f;
	const struct joint *joints; /* the skeleton's joints */
	struct figure_node *nodes;
	uint32_t *node_of; /* by joint: its node plus 1; 0: it has none */
};

static uint32_t figure_add_node(struct making *m, const struct joint *joint)
{
	m->nodes[m->f->count] = (struct figure_node){.name = joint->bone, .joint = joint};
	m->node_of[joint - m->joints] = ++m->f->count;
	return m->f->count;
}

/*
 * Finds the parent of a node, and adds a node for it if needed. Added nodes are appended to the
 * list, and get their own parents in turn.
 */
static void find_parent(struct making *m, uint32_t node)
{
	const struct joint *joint = m->nodes[node].joint;
	uint32_t parent;

	m->nodes[node].parent = FIGURE_NONE;
	if (!joint || !m->joints || joint->parent == JOINT_ROOT)
		return;
	parent = m->node_of[joint->parent];
	if (!parent)
		parent = figure_add_node(m, &m->joints[joint->parent]);
	m->nodes[node].parent = parent - 1;
}

static void hang_nodes(struct making *m)
{
	m->f->first_root = FIGURE_NONE;
	for (uint32_t i = 0; i < m->f->count; i++)
		m->nodes[i].first_child = FIGURE_NONE;
	for (uint32_t i = m->f->count; i-- > 0;) {
		uint32_t parent = m->nodes[i].parent;
		uint32_t *first =
			parent == FIGURE_NONE ? &m->f->first_root : &m->nodes[parent].first_child;

		m->nodes[i].next_sibling = *first;
		*first = i;
	}
}

double figure_seconds(const struct shown *at)
{
	return fmin(fmax(anim_seconds_per_frame(at->anim, clip_shown(at)), 1e-30), 1e30);
}

bool figure_make(struct figure *f, const struct shown *at, struct arena *arena)
{
	const struct clip *clip = clip_shown(at);
	const size_t joints = at->skeleton ? at->skeleton->count : 0;
	struct making m = {.f = f, .joints = at->skeleton ? at->skeleton->joints : NULL};

	*f = (struct figure){.clip = clip_sampled(clip, arena),
			     .keyed = clip,
			     .rig = rig_make(at->skeleton, clip, arena),
			     .bones = clip->track_count,
			     .count = clip->track_count};
	f->seconds = figure_seconds(at);
	m.nodes = arena_alloc(arena, clip->track_count + joints, sizeof(*m.nodes));
	m.node_of = arena_alloc(arena, joints, sizeof(*m.node_of));
	if (arena->failed)
		return false;
	for (uint32_t i = 0; i < f->bones; i++) {
		m.nodes[i].name = clip->tracks[i].label;
		m.nodes[i].joint = f->rig->rest[i];
		if (m.nodes[i].joint)
			m.node_of[m.nodes[i].joint - m.joints] = i + 1;
	}
	for (uint32_t i = 0; i < f->count; i++)
		find_parent(&m, i);
	hang_nodes(&m);
	f->nodes = m.nodes;
	return true;
}

void figure_walk(const struct figure *f, const struct figure_walk *walk, void *user)
{
	uint32_t node = f->first_root, depth = 0;

	while (node != FIGURE_NONE) {
		walk->enter(user, node, depth);
		if (f->nodes[node].first_child != FIGURE_NONE) {
			node = f->nodes[node].first_child;
			depth++;
			continue;
		}
		walk->leave(user, node, depth);
		while (f->nodes[node].next_sibling == FIGURE_NONE && depth > 0) {
			node = f->nodes[node].parent;
			walk->leave(user, node, --depth);
		}
		node = f->nodes[node].next_sibling;
	}
}

/* ---- keys ---- */

static void rest_value(const struct joint *joint, enum role role, struct channel *c)
{
	const struct pose rest = joint_pose(joint);

	if (role == ROLE_ROTATION)
		memcpy(c->rest, rest.rotation, sizeof(rest.rotation));
	else if (role == ROLE_TRANSLATION)
		memcpy(c->rest, rest.translation, sizeof(rest.translation));
	else
		memcpy(c->rest, rest.scale, sizeof(rest.scale));
	if (joint)
		memcpy(c->rest_angles, joint->rest[ROLE_ROTATION], sizeof(c->rest_angles));
	memcpy(c->value, c->rest, sizeof(c->value));
}

struct channel channel_of(const struct figure *f, uint32_t node, enum role role)
{
	struct channel c = {.width = role == ROLE_ROTATION ? 4 : 3};

	rest_value(f->nodes[node].joint, role, &c);
	if (node < f->bones)
		c.curve = f->clip->tracks[node].curve[role];
	if (!c.curve)
		return c;
	c.keys = curve_shown(c.curve, f->clip->frames);
	c.step = c.curve->interpolation == INTERPOLATION_STEP;
	return c;
}

struct channel channel_placed(const struct figure *f, uint32_t node, enum role role)
{
	struct channel c = channel_of(f, node, role);

	if ((f->nodes[node].joint && !f->nodes[node].joint->bare) || role == ROLE_SCALE ||
	    !channel_next(&c))
		return c;
	for (unsigned axis = 0; axis < c.width; axis++)
		if (fabs(c.value[axis]) > FAR)
			memcpy(c.value, c.rest, sizeof(c.value));
	return c;
}

/* Reads a vector. Components that are not finite are taken from `rest`. */
static void read_vector(const struct channel *c, const double rest[3], double out[3])
{
	for (unsigned axis = 0; axis < 3; axis++) {
		double v = curve_value(c->curve, c->next, axis);

		out[axis] = isfinite(v) ? v : rest[axis];
	}
}

/* Reads a rotation; the rest pose if the value is none. Turns -0 into 0. */
static void read_quaternion(const struct channel *c, double out[4])
{
	double stored[4], dot = 0;

	for (unsigned axis = 0; axis < 4; axis++)
		stored[axis] = curve_value(c->curve, c->next, axis);
	if (!rotation_unit(stored, out))
		memcpy(out, c->rest, sizeof(c->rest));
	for (unsigned axis = 0; axis < 4; axis++)
		dot += out[axis] * c->value[axis];
	for (unsigned axis = 0; axis < 4; axis++)
		out[axis] = (dot < 0 ? -out[axis] : out[axis]) + 0.0;
}

static void read_euler(const struct channel *c, double out[4])
{
	double angles[3];

	read_vector(c, c->rest_angles, angles);
	rotation_quaternion(angles, c->value, out);
}

bool channel_next(struct channel *c)
{
	double value[4] = {0};

	if (c->next >= c->keys)
		return false;
	c->next = curve_last_in_frame(c->curve, c->next);
	if (c->curve->kind == CURVE_QUATERNION)
		read_quaternion(c, value);
	else if (c->curve->kind == CURVE_EULER)
		read_euler(c, value);
	else
		read_vector(c, c->rest, value);
	memcpy(c->value, value, sizeof(value));
	c->frame = curve_frame(c->curve, c->next);
	c->next++;
	return true;
}

uint32_t channel_count(const struct channel *c)
{
	uint32_t count = 0;

	if (c->keys > 0 && !c->curve->frames)
		return c->keys - c->next;
	for (uint32_t key = c->next; key < c->keys; key = curve_last_in_frame(c->curve, key) + 1)
		count++;
	return count;
}

uint32_t channel_last(const struct channel *c)
{
	return c->keys > 0 ? curve_frame(c->curve, c->keys - 1) : 0;
}

bool channel_is_dense(const struct channel *c)
{
	return c->keys == 0 || !c->curve->frames || channel_last(c) == 0;
}

bool channel_same_frames(const struct channel *a, const struct channel *b)
{
	return a->keys == b->keys && !channel_is_dense(a) && !channel_is_dense(b) &&
	       memcmp(a->curve->frames, b->curve->frames, a->keys * sizeof(*a->curve->frames)) == 0;
}
