/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/rotation.h"
#include "skeleton.h"

#include <math.h>
#include <string.h>

#define FARTHEST 1e100 /* limit of positions: the product of two such numbers is still finite */

static const struct pose no_pose = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
static const struct transform no_transform = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

/* ---- poses ---- */

struct pose joint_pose(const struct joint *joint)
{
	struct pose p = no_pose;

	if (!joint)
		return p;
	memcpy(p.translation, joint->rest[ROLE_TRANSLATION], sizeof(p.translation));
	rotation_quaternion(joint->rest[ROLE_ROTATION], no_pose.rotation, p.rotation);
	memcpy(p.scale, joint->rest[ROLE_SCALE], sizeof(p.scale));
	return p;
}

/* Replaces those components of `out` for which the curve has a finite value at the frame. */
static void sample_vector(const struct curve *c, double frame, double out[3])
{
	double value[4];

	if (!c)
		return;
	curve_sample(c, frame, value);
	for (unsigned axis = 0; axis < 3; axis++)
		if (isfinite(value[axis]))
			out[axis] = value[axis];
}

static void sample_rotation(const struct curve *c, const struct joint *joint, double frame,
			    double out[4])
{
	double value[4], angles[3] = {0, 0, 0};

	if (!c)
		return;
	if (c->kind == CURVE_QUATERNION) {
		curve_sample(c, frame, value);
		rotation_unit(value, out);
		return;
	}
	if (joint)
		memcpy(angles, joint->rest[ROLE_ROTATION], sizeof(angles));
	sample_vector(c, frame, angles);
	rotation_quaternion(angles, no_pose.rotation, out);
}

struct pose rig_pose(const struct rig *rig, const struct clip *clip, uint32_t track, double frame)
{
	const struct curve *const *curve = clip->tracks[track].curve;
	struct pose p = joint_pose(rig->rest[track]);

	sample_vector(curve[ROLE_TRANSLATION], frame, p.translation);
	sample_rotation(curve[ROLE_ROTATION], rig->rest[track], frame, p.rotation);
	sample_vector(curve[ROLE_SCALE], frame, p.scale);
	return p;
}

/* ---- transforms ---- */

static double within_the_world(double v)
{
	return fmin(fmax(v, -FARTHEST), FARTHEST);
}

struct transform pose_transform(const struct pose *p)
{
	double x = p->rotation[0], y = p->rotation[1], z = p->rotation[2], w = p->rotation[3];
	const double r[3][3] = {
		{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
		{2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
		{2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
	};
	struct transform t;

	for (unsigned row = 0; row < 3; row++) {
		for (unsigned column = 0; column < 3; column++)
			t.m[row][column] = within_the_world(r[row][column] * p->scale[column]);
		t.m[row][3] = within_the_world(p->translation[row]);
	}
	return t;
}

struct transform transform_product(const struct transform *a, const struct transform *b)
{
	struct transform t;

	for (unsigned row = 0; row < 3; row++) {
		for (unsigned column = 0; column < 4; column++) {
			double sum = column == 3 ? a->m[row][3] : 0;

			for (unsigned i = 0; i < 3; i++)
				sum += a->m[row][i] * b->m[i][column];
			t.m[row][column] = within_the_world(sum);
		}
	}
	return t;
}

/* Returns the cofactor of a row and column: the determinant without them, with its sign. */
static double cofactor(const struct transform *t, unsigned row, unsigned column)
{
	unsigned r = (row + 1) % 3, s = (row + 2) % 3, c = (column + 1) % 3, d = (column + 2) % 3;

	return t->m[r][c] * t->m[s][d] - t->m[r][d] * t->m[s][c];
}

double transform_determinant(const struct transform *t)
{
	double sum = 0;

	for (unsigned i = 0; i < 3; i++)
		sum += t->m[0][i] * cofactor(t, 0, i);
	return sum;
}

bool transform_inverse(const struct transform *t, struct transform *out)
{
	double determinant = transform_determinant(t);

	if (!isnormal(determinant))
		return false;
	for (unsigned row = 0; row < 3; row++) {
		out->m[row][3] = 0;
		for (unsigned column = 0; column < 3; column++) {
			out->m[row][column] = cofactor(t, column, row) / determinant;
			out->m[row][3] -= out->m[row][column] * t->m[column][3];
		}
	}
	return true;
}

void rig_world(const struct rig *rig, const struct clip *clip, double frame, struct transform *out)
{
	for (uint32_t i = 0; i < rig->count; i++) {
		uint32_t track = rig->order[i];
		struct pose pose = rig_pose(rig, clip, track, frame);
		struct transform local = pose_transform(&pose);

		local = transform_product(&rig->between[track], &local);
		out[track] = rig->parents[track] == JOINT_ROOT
				     ? local
				     : transform_product(&out[rig->parents[track]], &local);
	}
}

/* ---- the hierarchy ---- */

/* A joint of the skeleton, related to the clip's tracks. */
struct hanger {
	/* the joint's track, or else that of its nearest ancestor with one */
	int32_t track;
	struct transform within; /* the joint's transform relative to `track` */
};

struct making {
	const struct skeleton *skeleton;
	uint32_t *order;        /* the skeleton's joints, parents before children */
	struct hanger *hangers; /* by joint: its relation to the clip's tracks */
	const struct joint **rest;
	int32_t *parents;
	struct transform *between;
};

/*
 * Orders the joints, parents first: goes up from each joint to an ancestor that is in the order
 * already, and appends the joints on the way.
 */
static void order_joints(const struct skeleton *s, uint32_t *order, bool *has_place)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t end;

		for (int32_t at = (int32_t)i; at != JOINT_ROOT && !has_place[at];
		     at = s->joints[at].parent)
			placed++;
		end = placed;
		for (int32_t at = (int32_t)i; at != JOINT_ROOT && !has_place[at];
		     at = s->joints[at].parent) {
			order[--end] = (uint32_t)at;
			has_place[at] = true;
		}
	}
}

/* Relates a joint to the clip's tracks. Its parent must have been done before. */
static void rig_hang_joint(struct making *m, uint32_t place)
{
	const struct joint *joint = &m->skeleton->joints[place];
	struct hanger *hanger = &m->hangers[place];
	struct hanger above = {JOINT_ROOT, no_transform};
	struct pose rest = joint_pose(joint);
	struct transform local = pose_transform(&rest);

	if (joint->parent != JOINT_ROOT)
		above = m->hangers[joint->parent];
	if (hanger->track == JOINT_ROOT) {
		*hanger = (struct hanger){above.track, transform_product(&above.within, &local)};
		return;
	}
	m->parents[hanger->track] = above.track;
	m->between[hanger->track] = above.within;
	hanger->within = no_transform;
}

/* Finds the joint of each track. Tracks without a joint are roots, and come first in `order`. */
static uint32_t find_joints(struct making *m, const struct clip *clip, uint32_t *order)
{
	uint32_t roots = 0;

	for (uint32_t i = 0; m->skeleton && i < m->skeleton->count; i++)
		m->hangers[i].track = JOINT_ROOT;
	for (uint32_t i = 0; i < clip->track_count; i++) {
		const struct joint *joint = skeleton_joint(m->skeleton, clip->tracks[i].label);

		m->rest[i] = joint;
		if (joint && m->skeleton) {
			m->hangers[joint - m->skeleton->joints].track = (int32_t)i;
			continue;
		}
		m->parents[i] = JOINT_ROOT;
		m->between[i] = no_transform;
		order[roots++] = i;
	}
	return roots;
}

static void hang_bones(struct making *m, const struct clip *clip, uint32_t *order)
{
	uint32_t placed = find_joints(m, clip, order);

	for (uint32_t i = 0; m->skeleton && i < m->skeleton->count; i++) {
		uint32_t place = m->order[i];
		int32_t track = m->hangers[place].track;

		rig_hang_joint(m, place);
		if (track != JOINT_ROOT)
			order[placed++] = (uint32_t)track;
	}
}

const struct rig *rig_make(const struct skeleton *skeleton, const struct clip *clip,
			   struct arena *arena)
{
	size_t tracks = clip->track_count, joints = skeleton ? skeleton->count : 0;
	struct rig *rig = arena_alloc(arena, 1, sizeof(*rig));
	uint32_t *order = arena_alloc(arena, tracks + 1, sizeof(*order));
	bool *has_place = arena_alloc(arena, joints + 1, sizeof(*has_place));
	struct making m = {
		.skeleton = skeleton,
		.order = arena_alloc(arena, joints + 1, sizeof(*m.order)),
		.hangers = arena_alloc(arena, joints + 1, sizeof(*m.hangers)),
		.rest = arena_alloc(arena, tracks + 1, sizeof(*m.rest)),
		.parents = arena_alloc(arena, tracks + 1, sizeof(*m.parents)),
		.between = arena_alloc(arena, tracks + 1, sizeof(*m.between)),
	};

	if (!rig || !order || !has_place || !m.order || !m.hangers || !m.rest || !m.parents ||
	    !m.between)
		return NULL;
	if (skeleton)
		order_joints(skeleton, m.order, has_place);
	hang_bones(&m, clip, order);
	*rig = (struct rig){clip->track_count, m.parents, order, m.rest, m.between};
	return rig;
}
