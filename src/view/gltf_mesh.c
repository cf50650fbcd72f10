/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_NODES 65535 /* number of nodes that joint indices of 16 bits can name */
#define MOST_NARROW 255  /* number of nodes that joint indices of 8 bits can name */
#define MARK 0.02        /* half the size of a root's mark, as a fraction of the figure's size */
/* where an octahedron is widest, and half its width there, as fractions of its length */
#define WAIST 0.1
#define WIDEST 0.03 /* limit of an octahedron's half width, as a fraction of the figure's size */
/* bones shorter than this, as a fraction of the figure's size, are drawn like a root */
#define LEAST_LENGTH 1e-6
#define FARTHEST 1e30

struct making {
	struct gltf_mesh *mesh;
	const struct figure *figure;
	struct transform *world; /* by node: its place at rest, in model space */
	double (*local)[3];      /* by node, its position relative to its parent */
	double size;             /* size of the figure */
};

/* ---- the figure at rest ---- */

/* Returns the rest pose of a node as clip.gltf gives it. */
static struct pose gltf_mesh_rest_pose(const struct figure *f, uint32_t node)
{
	struct channel t = channel_placed(f, node, ROLE_TRANSLATION);
	struct channel r = channel_placed(f, node, ROLE_ROTATION);
	struct channel s = channel_placed(f, node, ROLE_SCALE);
	struct pose pose;

	for (unsigned axis = 0; axis < 4; axis++)
		pose.rotation[axis] = r.value[axis];
	for (unsigned axis = 0; axis < 3; axis++) {
		pose.translation[axis] = (double)finite_f32(t.value[axis]);
		pose.scale[axis] = (double)finite_f32(s.value[axis]);
	}
	return pose;
}

static void gltf_mesh_enter_node(void *user, uint32_t node, uint32_t depth)
{
	struct making *m = user;
	struct pose pose = gltf_mesh_rest_pose(m->figure, node);
	uint32_t parent = m->figure->nodes[node].parent;
	struct transform local = pose_transform(&pose);

	(void)depth;
	memcpy(m->local[node], pose.translation, sizeof(m->local[node]));
	m->world[node] =
		parent == FIGURE_NONE ? local : transform_product(&m->world[parent], &local);
}

static void gltf_mesh_leave_node(void *user, uint32_t node, uint32_t depth)
{
	(void)user, (void)node, (void)depth;
}

/* Returns the longest side of the bounding box of all nodes; 1 if the box is a point. */
static double find_size(const struct making *m)
{
	double size = 0;

	for (unsigned axis = 0; axis < 3; axis++) {
		double least = INFINITY, most = -INFINITY;

		for (uint32_t node = 0; node < m->mesh->count; node++) {
			least = fmin(least, m->world[node].m[axis][3]);
			most = fmax(most, m->world[node].m[axis][3]);
		}
		size = fmax(size, most - least);
	}
	return size > 0 ? fmin(size, FARTHEST) : 1;
}

/* ---- matrices ---- */

static bool fits_float32(const struct transform *t)
{
	for (unsigned i = 0; i < 12; i++)
		if (!(fabs(t->m[i / 4][i % 4]) <= FARTHEST))
			return false;
	return true;
}

static bool bind_node(struct making *m, uint32_t node)
{
	float *out = m->mesh->inverse[node];
	struct transform inverse;

	if (!transform_inverse(&m->world[node], &inverse) || !fits_float32(&m->world[node]) ||
	    !fits_float32(&inverse))
		return false;
	for (unsigned column = 0; column < 4; column++) {
		for (unsigned row = 0; row < 3; row++)
			out[4 * column + row] = (float)(inverse.m[row][column] + 0.0);
		out[4 * column + 3] = column == 3;
	}
	return true;
}

static bool bind_nodes(struct making *m)
{
	for (uint32_t node = 0; node < m->mesh->count; node++)
		if (!bind_node(m, node))
			return false;
	return true;
}

/* ---- octahedra ---- */

/* Sets a corner that moves with a node; `at` is in the space of that node. */
static void set_corner(struct making *m, struct gltf_corner *corner, uint32_t node,
		       const double at[3])
{
	const struct transform *world = &m->world[node];

	corner->node = node;
	for (unsigned axis = 0; axis < 3; axis++) {
		double v = at[axis];

		if (m->mesh->bound)
			v = world->m[axis][0] * at[0] + world->m[axis][1] * at[1] +
			    world->m[axis][2] * at[2] + world->m[axis][3];
		corner->at[axis] = finite_f32(v + 0.0);
	}
}

/* Appends the six corners of an octahedron: one end, four around the waist, the other end. */
static void add_mark(struct making *m, uint32_t node, struct gltf_corner *corners)
{
	static const int8_t ways[GLTF_MESH_CORNERS][3] = {{0, 0, -1}, {1, 0, 0},  {0, 1, 0},
							  {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}};

	for (unsigned i = 0; i < GLTF_MESH_CORNERS; i++) {
		double at[3];

		for (unsigned axis = 0; axis < 3; axis++)
			at[axis] = ways[i][axis] * MARK * m->size;
		set_corner(m, &corners[i], node, at);
	}
}

/* Finds two directions at right angles to a vector and to each other. */
static void gltf_mesh_find_across(const double along[3], double out[2][3])
{
	unsigned least = 0;
	double length = 0;

	for (unsigned axis = 1; axis < 3; axis++)
		if (fabs(along[axis]) < fabs(along[least]))
			least = axis;
	for (unsigned axis = 0; axis < 3; axis++) {
		out[0][axis] = (axis == least) - along[least] * along[axis];
		length += out[0][axis] * out[0][axis];
	}
	for (unsigned axis = 0; axis < 3; axis++)
		out[0][axis] /= sqrt(length);
	for (unsigned axis = 0; axis < 3; axis++)
		out[1][axis] = along[(axis + 1) % 3] * out[0][(axis + 2) % 3] -
			       along[(axis + 2) % 3] * out[0][(axis + 1) % 3];
}

static void gltf_mesh_add_bone(struct making *m, uint32_t node, double length,
			       struct gltf_corner *corners)
{
	static const double here[3] = {0, 0, 0};
	const uint32_t parent = m->figure->nodes[node].parent;
	const double radius = fmin(WAIST * length, WIDEST * m->size);
	double along[3], across[2][3], at[3];

	for (unsigned axis = 0; axis < 3; axis++)
		along[axis] = m->local[node][axis] / length;
	gltf_mesh_find_across(along, across);
	set_corner(m, &corners[0], parent, here);
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned axis = 0; axis < 3; axis++)
			at[axis] = radius * (along[axis] + (i < 2 ? 1 : -1) * across[i % 2][axis]);
		set_corner(m, &corners[1 + i], parent, at);
	}
	set_corner(m, &corners[5], node, here);
}

static void gltf_mesh_add_octahedron(struct making *m, uint32_t node)
{
	struct gltf_corner *corners = m->mesh->corners + (size_t)node * GLTF_MESH_CORNERS;
	const double *way = m->local[node];
	double length = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);

	if (m->figure->nodes[node].parent == FIGURE_NONE || !(length > LEAST_LENGTH * m->size))
		add_mark(m, node, corners);
	else
		gltf_mesh_add_bone(m, node, length, corners);
}

static void gltf_mesh_find_bounds(struct gltf_mesh *m)
{
	memcpy(m->least, m->corners->at, sizeof(m->least));
	memcpy(m->most, m->corners->at, sizeof(m->most));
	for (size_t i = 1; i < (size_t)m->count * GLTF_MESH_CORNERS; i++)
		for (unsigned axis = 0; axis < 3; axis++) {
			m->least[axis] = fminf(m->least[axis], m->corners[i].at[axis]);
			m->most[axis] = fmaxf(m->most[axis], m->corners[i].at[axis]);
		}
}

/* ---- all together ---- */

static bool gltf_mesh_is_taken(const struct figure *f, const char *name)
{
	for (uint32_t node = 0; node < f->count; node++)
		if (strcmp(f->nodes[node].name, name) == 0)
			return true;
	return false;
}

static void find_name(struct gltf_mesh *m, const struct figure *f)
{
	snprintf(m->name, sizeof(m->name), "figure");
	for (unsigned i = 2; gltf_mesh_is_taken(f, m->name); i++)
		snprintf(m->name, sizeof(m->name), "figure~%u", i);
}

bool gltf_mesh_make(struct gltf_mesh *m, const struct figure *f, struct arena *arena)
{
	static const struct figure_walk walk = {gltf_mesh_enter_node, gltf_mesh_leave_node};
	struct making making = {.mesh = m, .figure = f};

	*m = (struct gltf_mesh){.count = f->count <= MOST_NODES ? f->count : 0};
	if (m->count == 0)
		return true;
	m->wide_joints = m->count - 1 > MOST_NARROW;
	m->wide_indices = (size_t)m->count * GLTF_MESH_CORNERS > UINT16_MAX;
	m->inverse = arena_alloc(arena, m->count, sizeof(*m->inverse));
	m->corners = arena_alloc(arena, m->count, GLTF_MESH_CORNERS * sizeof(*m->corners));
	making.world = arena_alloc(arena, m->count, sizeof(*making.world));
	making.local = arena_alloc(arena, m->count, sizeof(*making.local));
	if (arena->failed)
		return false;
	find_name(m, f);
	figure_walk(f, &walk, &making);
	making.size = find_size(&making);
	m->bound = bind_nodes(&making);
	for (uint32_t node = 0; node < m->count; node++)
		gltf_mesh_add_octahedron(&making, node);
	gltf_mesh_find_bounds(m);
	return true;
}

/* ---- the buffer ---- */

unsigned gltf_mesh_stride(const struct gltf_mesh *m)
{
	return 3 * 4 + (m->wide_joints ? 8 : 4) + 4;
}

size_t gltf_mesh_corners_size(const struct gltf_mesh *m)
{
	return (size_t)m->count * GLTF_MESH_CORNERS * gltf_mesh_stride(m);
}

size_t gltf_mesh_indices_size(const struct gltf_mesh *m)
{
	return (size_t)m->count * GLTF_MESH_INDICES * (m->wide_indices ? 4 : 2);
}

size_t gltf_mesh_matrices_size(const struct gltf_mesh *m)
{
	return m->bound ? (size_t)m->count * sizeof(*m->inverse) : 0;
}

/*
 * Writes a corner: position, four joints, and four weights as bytes. The first joint has all the
 * weight.
 */
static void write_corner(const struct gltf_mesh *m, const struct gltf_corner *c, struct base64 *b)
{
	uint8_t bytes[3 * 4 + 8 + 4] = {0}, *p = bytes;

	for (unsigned axis = 0; axis < 3; axis++, p += 4)
		put_f32(p, c->at[axis]);
	if (m->wide_joints)
		put_u16(p, (uint16_t)c->node);
	else
		*p = (uint8_t)c->node;
	p += m->wide_joints ? 8 : 4;
	*p = UINT8_MAX;
	base64_add(b, bytes, gltf_mesh_stride(m));
}

static void gltf_mesh_write_indices(const struct gltf_mesh *m, uint32_t node, struct base64 *b)
{
	/* Front faces have their corners counter-clockwise. */
	static const uint8_t faces[GLTF_MESH_INDICES] = {0, 2, 1, 0, 3, 2, 0, 4, 3, 0, 1, 4,
							 5, 1, 2, 5, 2, 3, 5, 3, 4, 5, 4, 1};

	for (unsigned i = 0; i < GLTF_MESH_INDICES; i++) {
		uint32_t corner = node * GLTF_MESH_CORNERS + faces[i];
		uint8_t bytes[4];

		if (m->wide_indices)
			put_u32(bytes, corner);
		else
			put_u16(bytes, (uint16_t)corner);
		base64_add(b, bytes, m->wide_indices ? 4 : 2);
	}
}

void gltf_mesh_write(const struct gltf_mesh *m, struct base64 *b)
{
	for (size_t i = 0; i < (size_t)m->count * GLTF_MESH_CORNERS; i++)
		write_corner(m, &m->corners[i], b);
	for (uint32_t node = 0; node < m->count; node++)
		gltf_mesh_write_indices(m, node, b);
	for (uint32_t node = 0; m->bound && node < m->count; node++)
		for (unsigned i = 0; i < 16; i++) {
			uint8_t bytes[4];

			put_f32(bytes, m->inverse[node][i]);
			base64_add(b, bytes, sizeof(bytes));
		}
}
