/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_rest.h"

#include "gltf_mesh.h"
#include "model/rotation.h"

#include <math.h>
#include <string.h>

/*
 * Tolerance of a bone's rest position, relative to the distances from its parent and from the
 * origin.
 */
#define PLACE_PART 1e-2
#define WORLD_PART 1e-5
#define PLACE_LEAST 1e-4
#define AXES_PART 1e-2 /* tolerance of the length of axes and of right angles between them */
#define TURN_PART 4e-3 /* tolerance of the direction of axes */

static const struct pose no_pose = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};

/* ---- transforms and rotations ---- */

/* Converts a matrix of glTF: sixteen numbers, column-major. */
static struct transform from_columns(const double m[16])
{
	struct transform t;

	for (unsigned row = 0; row < 3; row++)
		for (unsigned column = 0; column < 4; column++)
			t.m[row][column] = m[4 * column + row];
	return t;
}

static void gltf_rest_multiply(const double a[4], const double b[4], double out[4])
{
	const double q[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
			     a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
			     a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
			     a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};

	memcpy(out, q, sizeof(q));
}

/*
 * Converts orthonormal axes to a quaternion. Its largest component is computed first, to divide the
 * others by.
 */
static void to_quaternion(const struct transform *t, double out[4])
{
	const double(*m)[4] = t->m;
	double trace = m[0][0] + m[1][1] + m[2][2];
	unsigned most = 3;

	for (unsigned i = 0; i < 3; i++)
		if (m[i][i] > (most == 3 ? trace : m[most][most]))
			most = i;
	for (unsigned i = 0; i < 3; i++) {
		unsigned j = (i + 1) % 3, k = (i + 2) % 3;

		out[i] = most == 3 ? m[k][j] - m[j][k] : m[most][i] + m[i][most];
		if (i == most) {
			out[i] = 1 + 2 * m[i][i] - trace;
			out[3] = m[k][j] - m[j][k];
		}
	}
	if (most == 3)
		out[3] = 1 + trace;
	rotation_unit(out, out);
}

/* ---- the rest pose of the file ---- */

/* How a program changed the axes of a node of the figure. */
struct axes {
	bool known;            /* the bone is at its rest position */
	double turn[4];        /* rotates from the bone's own axes to those in the file */
	struct transform is;   /* rest pose of the bone in the file */
	struct transform back; /* transforms a pose in the file into one in the bone's own axes */
};

struct rest {
	struct gltf_file *file;
	const struct gltf_nodes *nodes;
	const struct figure *figure;
	const struct gltf_mesh *mesh;
	bool *bound; /* by node of the file: the skin has an inverse bind matrix for it */
	const double **inverse; /* by node of the file: its inverse bind matrix, column-major */
	struct transform *bind;
	uint32_t *node_of; /* by node of the figure: the file's node, or GLTF_NONE */
	struct axes *axes; /* by node of the figure: the change of its axes */
	bool found;
	struct err *err;
};

static bool read_skin(struct rest *r, const struct spot *skin)
{
	struct spot index = spot_member(skin, "inverseBindMatrices");
	struct spot joints = spot_member(skin, "joints");
	size_t count = token_count(joints.value);
	struct gltf_numbers matrices;

	if (!index.value)
		return true;
	if (!gltf_numbers(r->file, &index, 16, &matrices, r->err))
		return false;
	if (matrices.count < count)
		return spot_refuse(&index, r->err, ERR_TEXT,
				   "%u matrices are too few for %zu joints",
				   (unsigned)matrices.count, count);
	for (struct spot joint = spot_first(&joints); joint.value; spot_next(&joint)) {
		/* gltf_read_nodes has checked that the joints are valid nodes. */
		uint32_t node = (uint32_t)token_number(joint.value, 0);
		struct transform inverse = from_columns(matrices.values + 16 * joint.index);

		r->inverse[node] = matrices.values + 16 * joint.index;
		r->bound[node] = transform_inverse(&inverse, &r->bind[node]);
		r->found |= r->bound[node];
	}
	return true;
}

static bool gltf_rest_read_skins(struct rest *r)
{
	struct spot skins = spot_member(&r->file->root, "skins");

	for (struct spot skin = spot_first(&skins); skin.value; spot_next(&skin))
		if (!read_skin(r, &skin))
			return false;
	return true;
}

/* Reads a list of `count` numbers; without one, `out` keeps its value. */
static bool gltf_rest_read_list(const struct token *node, const char *name, size_t count,
				double *out)
{
	const struct token *list = token_member(node, name);

	if (!token_is(list, TOKEN_LIST) || token_count(list) != count)
		return false;
	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		*out++ = token_number(t, 0);
	return true;
}

static struct transform node_transform(const struct rest *r, uint32_t node)
{
	const struct token *object = r->file->nodes.elements[node];
	struct pose pose = no_pose;
	double matrix[16];

	if (gltf_rest_read_list(object, "matrix", 16, matrix))
		return from_columns(matrix);
	gltf_rest_read_list(object, "translation", 3, pose.translation);
	gltf_rest_read_list(object, "rotation", 4, pose.rotation);
	gltf_rest_read_list(object, "scale", 3, pose.scale);
	return pose_transform(&pose);
}

/*
 * Computes a node's transform in the space of the file, starting from the nearest ancestor with a
 * matrix.
 */
static struct transform node_world(const struct rest *r, uint32_t node)
{
	struct transform world = pose_transform(&no_pose);

	/* Limit the number of steps, since the hierarchy may have cycles. */
	for (uint32_t steps = 0; node != GLTF_NONE && steps < r->nodes->count; steps++) {
		struct transform local = r->bound[node] ? r->bind[node] : node_transform(r, node);

		world = transform_product(&local, &world);
		if (r->bound[node])
			break;
		node = r->nodes->nodes[node].parent;
	}
	return world;
}

/* ---- the bones' own axes ---- */

static struct pose gltf_rest_pose(const struct figure *f, uint32_t node)
{
	struct pose pose = no_pose;
	struct channel translation = channel_placed(f, node, ROLE_TRANSLATION);
	struct channel rotation = channel_placed(f, node, ROLE_ROTATION);

	memcpy(pose.translation, translation.value, sizeof(pose.translation));
	memcpy(pose.rotation, rotation.value, sizeof(pose.rotation));
	return pose;
}

/* Returns whether the axes of a transform are orthonormal. */
static bool is_rigid(const struct transform *t)
{
	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++) {
			double dot = t->m[0][a] * t->m[0][b] + t->m[1][a] * t->m[1][b] +
				     t->m[2][a] * t->m[2][b];

			if (!(fabs(dot - (a == b)) <= AXES_PART))
				return false;
		}
	return transform_determinant(t) > 0;
}

static double length(double x, double y, double z)
{
	return sqrt(x * x + y * y + z * z);
}

static bool is_in_place(const struct transform *is, const struct transform *wanted,
			const struct transform *world)
{
	double off = length(is->m[0][3] - wanted->m[0][3], is->m[1][3] - wanted->m[1][3],
			    is->m[2][3] - wanted->m[2][3]);
	double way = length(wanted->m[0][3], wanted->m[1][3], wanted->m[2][3]);
	double far = length(world->m[0][3], world->m[1][3], world->m[2][3]);

	return off <= PLACE_PART * way + WORLD_PART * far + PLACE_LEAST;
}

static struct transform turn_transform(const double turn[4], bool back)
{
	struct pose pose = no_pose;

	for (unsigned i = 0; i < 4; i++)
		pose.rotation[i] = back && i < 3 ? -turn[i] : turn[i];
	return pose_transform(&pose);
}

/* Rounds a rotation that permutes the axes to the exact one; false if it does not permute them. */
static bool round_to_axes(double turn[4])
{
	struct transform t = turn_transform(turn, false);

	for (unsigned i = 0; i < 9; i++) {
		double *v = &t.m[i / 3][i % 3];

		if (fabs(*v - rint(*v)) > TURN_PART)
			return false;
		*v = rint(*v);
	}
	to_quaternion(&t, turn);
	return true;
}

/*
 * Returns whether the file has exactly the inverse bind matrix that animfs writes, in which case
 * its numbers are in the bone's own axes.
 */
static bool is_own(const struct rest *r, uint32_t node)
{
	const double *inverse = r->inverse[r->node_of[node]];

	if (!r->mesh->bound)
		return false;
	for (unsigned i = 0; i < 16; i++)
		if (inverse[i] != (double)r->mesh->inverse[node][i])
			return false;
	return true;
}

/*
 * Finds the bone's rest pose in the file, relative to its parent. False if there is none, or if
 * is_own() makes it unnecessary.
 */
static bool gltf_rest_find_place(const struct rest *r, uint32_t node, struct transform *is)
{
	uint32_t above = r->figure->nodes[node].parent, of = r->node_of[node];
	struct transform world, inverse;

	if (of == GLTF_NONE || !r->bound[of] || is_own(r, node))
		return false;
	if (above != FIGURE_NONE && r->node_of[above] != r->nodes->nodes[of].parent)
		return false;
	world = node_world(r, r->nodes->nodes[of].parent);
	if (!transform_inverse(&world, &inverse))
		return false;
	*is = transform_product(&inverse, &r->bind[of]);
	return is_rigid(is);
}

/*
 * Finds the change of a bone's axes. A pose of the bone in the file is turn(parent)^-1 * pose *
 * turn, up to the difference between the file's rest pose and turn(parent)^-1 * rest * turn.
 */
static void gltf_rest_find_axes(struct rest *r, uint32_t node)
{
	uint32_t above = r->figure->nodes[node].parent;
	struct axes *a = &r->axes[node];
	struct pose rest = gltf_rest_pose(r->figure, node);
	struct transform own = pose_transform(&rest), wanted = own, turn, inverse;

	if (!gltf_rest_find_place(r, node, &a->is))
		return;
	if (above != FIGURE_NONE && r->axes[above].known) {
		turn = turn_transform(r->axes[above].turn, true);
		wanted = transform_product(&turn, &own);
	}
	if (!is_in_place(&a->is, &wanted, &r->bind[r->node_of[node]]) ||
	    !transform_inverse(&wanted, &inverse))
		return;
	turn = transform_product(&inverse, &a->is);
	to_quaternion(&turn, a->turn);
	a->known = round_to_axes(a->turn) && transform_inverse(&a->is, &inverse);
	if (!a->known)
		return;
	turn = turn_transform(a->turn, false);
	own = transform_product(&own, &turn);
	a->back = transform_product(&own, &inverse);
}

static void gltf_rest_enter_node(void *user, uint32_t node, uint32_t depth)
{
	(void)depth;
	gltf_rest_find_axes(user, node);
}

static void gltf_rest_leave_node(void *user, uint32_t node, uint32_t depth)
{
	(void)user, (void)node, (void)depth;
}

/* ---- the motion in them ---- */

static void restore_vector(const struct transform *back, bool is_place, double v[3])
{
	double from[3] = {v[0], v[1], v[2]};

	for (unsigned row = 0; row < 3; row++) {
		v[row] = is_place ? back->m[row][3] : 0;
		for (unsigned i = 0; i < 3; i++)
			v[row] += back->m[row][i] * from[i];
	}
}

static void restore_rotation(const struct axes *a, double q[4])
{
	double back[4], turn[4] = {-a->turn[0], -a->turn[1], -a->turn[2], a->turn[3]};

	to_quaternion(&a->back, back);
	gltf_rest_multiply(back, q, q);
	gltf_rest_multiply(q, turn, q);
}

/*
 * Undoes the change of axes in a scale. Permuted axes permute the components. The program's axes
 * are not exactly of length 1, and scales are multiplied by that length, which is undone.
 */
static void restore_scale(const struct axes *a, double s[3])
{
	const double(*m)[4] = a->is.m;
	struct transform t = turn_transform(a->turn, false);
	double from[3];

	for (unsigned i = 0; i < 3; i++)
		from[i] = s[i] / length(m[0][i], m[1][i], m[2][i]);
	for (unsigned row = 0; row < 3; row++) {
		s[row] = 0;
		for (unsigned i = 0; i < 3; i++)
			s[row] += t.m[row][i] * t.m[row][i] * from[i];
	}
}

static void restore_channel(const struct axes *a, const struct motion_channel *c)
{
	/* The values were allocated by gltf_read_motion, so they may be written to. */
	double *values = (double *)(uintptr_t)c->values;
	unsigned width = c->role == ROLE_ROTATION ? 4 : 3;
	bool cubic = c->interpolation == MOTION_CUBIC;

	for (size_t i = 0; i < (size_t)c->count * (cubic ? 3 : 1); i++, values += width) {
		if (c->role == ROLE_ROTATION)
			restore_rotation(a, values);
		else if (c->role == ROLE_SCALE)
			restore_scale(a, values);
		else
			restore_vector(&a->back, !cubic || i % 3 == 1, values);
	}
}

/* ---- all together ---- */

/* Matches nodes of the figure that are not bones of the clip by name. */
static void find_nodes(struct rest *r)
{
	for (uint32_t i = 0; i < r->figure->count; i++) {
		r->node_of[i] = i < r->figure->bones ? r->nodes->of_track[i] : GLTF_NONE;
		for (uint32_t node = 0; i >= r->figure->bones && node < r->nodes->count; node++) {
			const char *name =
				token_text(token_member(r->file->nodes.elements[node], "name"));

			if (name && strcmp(name, r->figure->nodes[i].name) == 0)
				r->node_of[i] = node;
		}
	}
}

static bool restore_motion(struct rest *r, struct motion *motion)
{
	static const struct figure_walk walk = {gltf_rest_enter_node, gltf_rest_leave_node};
	struct arena *arena = &r->file->arena;

	r->bound = arena_alloc(arena, r->nodes->count, sizeof(*r->bound));
	r->bind = arena_alloc(arena, r->nodes->count, sizeof(*r->bind));
	r->inverse = arena_alloc(arena, r->nodes->count, sizeof(*r->inverse));
	r->node_of = arena_alloc(arena, r->figure->count, sizeof(*r->node_of));
	r->axes = arena_alloc(arena, r->figure->count, sizeof(*r->axes));
	if (arena->failed)
		return err_memory(r->err);
	if (!gltf_rest_read_skins(r))
		return false;
	if (!r->found)
		return true;
	find_nodes(r);
	figure_walk(r->figure, &walk, r);
	for (uint32_t i = 0; i < motion->count; i++) {
		const struct motion_channel *c = &motion->channels[i];

		if (r->axes[c->track].known)
			restore_channel(&r->axes[c->track], c);
	}
	return true;
}

bool gltf_rest_restore(struct gltf_file *f, const struct gltf_nodes *nodes, const struct shown *at,
		       struct motion *motion, struct err *err)
{
	struct figure figure;
	struct gltf_mesh mesh;
	struct rest r = {.file = f, .nodes = nodes, .figure = &figure, .mesh = &mesh, .err = err};

	if (!figure_make(&figure, at, &f->arena) || !gltf_mesh_make(&mesh, &figure, &f->arena))
		return err_memory(err);
	return restore_motion(&r, motion);
}
