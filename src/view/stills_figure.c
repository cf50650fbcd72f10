/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stills_figure.h"

#include "util/string_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* limit of nodes and shapes; a node that is used twice counts twice. A browser draws no more */
#define PARTS_MAX 20000
#define DEPTH_MAX 300
/* limit of visits to nodes, even if none of them is drawn */
#define VISITS_MAX 1000000
/* limit of the characters of points and corners in one still: as many as all stills may have */
#define LETTERS_MAX ((size_t)64 << 20)

struct making {
	const struct x3d_joined *j;
	const struct x3d_scene *scene;
	struct string_map names; /* the nodes that have a DEF, by it */
	size_t *ends;            /* by node: the index after its last descendant */
	struct arena *arena;     /* memory of the figure; NULL: only counts */
	struct stills_figure *f;

	unsigned depth, visits;
	size_t letters;
	struct x3d_numbers numbers;
	struct err *err;
};

static bool stills_figure_fail(struct making *m, const char *what)
{
	return err_set(m->err, ERR_TEXT, "%s", what);
}

/* ---- the scene ---- */

/*
 * Finds for each node the index after its last descendant, in one pass from the last node to the
 * first.
 */
static bool find_ends(struct making *m)
{
	const struct x3d_scene *s = m->scene;
	size_t *open = calloc(s->node_count, sizeof(*open)), count = 0;

	m->ends = calloc(s->node_count, sizeof(*m->ends));
	for (size_t i = 0; open && m->ends && i < s->node_count; i++) {
		while (count > 0 && s->nodes[open[count - 1]].depth >= s->nodes[i].depth)
			m->ends[open[--count]] = i;
		open[count++] = i;
	}
	while (open && m->ends && count > 0)
		m->ends[open[--count]] = s->node_count;
	free(open);
	return m->ends != NULL && open != NULL;
}

static bool stills_figure_find_names(struct making *m)
{
	for (size_t i = 0; i < m->scene->node_count; i++)
		if (m->scene->nodes[i].def.data &&
		    string_map_add(&m->names, (const char *)m->scene->nodes[i].def.data,
				   (uint32_t)i) < 0)
			return false;
	return true;
}

static bool is(const struct making *m, size_t node, const char *name)
{
	return xml_is(m->scene->nodes[node].name, name);
}

static const struct x3d_attribute *field_of(const struct making *m, size_t node, const char *name)
{
	return x3d_attribute_find(m->scene, &m->scene->nodes[node], bytes_of(name));
}

/* Returns the node itself, or the node that it refers to by USE. */
static size_t used(const struct making *m, size_t node)
{
	const struct x3d_attribute *use = field_of(m, node, "USE");
	int64_t named = use ? string_map_find(&m->names, (const char *)use->value.data) : -1;

	return named < 0 ? node : (size_t)named;
}

/* Returns the next sibling of a node. */
static size_t behind(struct making *m, size_t node)
{
	m->visits++;
	return m->ends[node];
}

/* Returns the first child with that name; 0 if there is none. */
static size_t child(struct making *m, size_t node, const char *name)
{
	for (size_t i = node + 1; i < m->ends[node]; i = behind(m, i))
		if (is(m, i, name))
			return used(m, i);
	return 0;
}

/* ---- values ---- */

static const float *copy_numbers(struct making *m)
{
	float *out = arena_alloc(m->arena, m->numbers.count + 1, sizeof(*out));

	for (size_t i = 0; out && i < m->numbers.count; i++)
		out[i] = (float)m->numbers.values[i];
	return out;
}

/*
 * Returns the values of a field with `width` numbers each (0: any). `usual` is the value of a
 * missing or malformed field.
 */
static struct stills_values stills_figure_values_of(struct making *m, size_t node, const char *name,
						    size_t width, const char *usual)
{
	const struct x3d_attribute *field = field_of(m, node, name);
	struct stills_values v = {.moves = true};

	v.values = x3d_join_values(m->j, node, name, &v.width);
	if (v.values && (width == 0 || v.width == width))
		return v;
	v.moves = false;
	if ((!field || !x3d_numbers_read(field->value, &m->numbers, m->err) ||
	     (width > 0 && m->numbers.count != width)) &&
	    !x3d_numbers_read(bytes_of(usual), &m->numbers, m->err))
		m->numbers.count = 0;
	v.width = m->numbers.count;
	v.values = copy_numbers(m);
	return v;
}

static bool is_zero(const struct stills_values *v)
{
	for (size_t i = 0; i < v->width; i++)
		if (v->moves || v->values[i] < 0 || v->values[i] > 0)
			return false;
	return true;
}

static struct stills_values constant(struct making *m, const float *values, size_t width)
{
	float *out = arena_alloc(m->arena, width + 1, sizeof(*out));

	if (out)
		memcpy(out, values, width * sizeof(*out));
	return (struct stills_values){.values = out, .width = width};
}

/* ---- nodes ---- */

static bool stills_figure_add_node(struct making *m, const struct stills_node *node, uint32_t *out)
{
	if (m->f->node_count + m->f->shape_count >= PARTS_MAX)
		return stills_figure_fail(m, "it has more than 20000 Transforms and shapes");
	if (m->arena)
		m->f->nodes[m->f->node_count] = *node;
	*out = m->f->node_count++;
	return true;
}

static const char *stills_figure_name_of(struct making *m, size_t node, const char *behind)
{
	const struct x3d_node *n = &m->scene->nodes[node];
	const char *name;

	if (!m->arena)
		return "";
	name = n->def.data ? arena_format(m->arena, "%s%s", (const char *)n->def.data, behind)
			   : arena_format(m->arena, "%s %zu%s", (const char *)n->name.data, node,
					  behind);
	return name ? name : "";
}

/* Refuses a scale along axes other than the node's own, which the player cannot draw. */
static bool stills_figure_check_axes(struct making *m, size_t node)
{
	const struct x3d_attribute *axes = field_of(m, node, "scaleOrientation");
	size_t width;

	if (x3d_join_values(m->j, node, "scaleOrientation", &width) ||
	    (axes && x3d_numbers_read(axes->value, &m->numbers, m->err) && m->numbers.count == 4 &&
	     (m->numbers.values[3] < 0 || m->numbers.values[3] > 0)))
		return stills_figure_fail(m, "it has a Transform with a scaleOrientation");
	return true;
}

static bool has_center(struct making *m, size_t node)
{
	const struct x3d_attribute *center = field_of(m, node, "center");
	bool zero = true;
	size_t width;

	if (x3d_join_values(m->j, node, "center", &width))
		return true;
	if (!center || !x3d_numbers_read(center->value, &m->numbers, m->err))
		return false;
	for (size_t i = 0; i < m->numbers.count; i++)
		zero = zero && !(m->numbers.values[i] < 0) && !(m->numbers.values[i] > 0);
	return !zero && m->numbers.count == 3;
}

static bool add_transform(struct making *m, size_t node, uint32_t parent, uint32_t *out)
{
	struct stills_node n = {.parent = parent, .name = stills_figure_name_of(m, node, "")}, back;
	const bool centered = has_center(m, node);

	if (!stills_figure_check_axes(m, node))
		return false;
	if (m->arena) {
		n.translation = stills_figure_values_of(m, node, "translation", 3, "0 0 0");
		n.rotation = stills_figure_values_of(m, node, "rotation", 4, "0 0 1 0");
		n.scale = stills_figure_values_of(m, node, "scale", 3, "1 1 1");
		if (centered)
			n.center = stills_figure_values_of(m, node, "center", 3, "0 0 0");
	}
	if (!stills_figure_add_node(m, &n, out))
		return false;
	if (!centered)
		return true;
	back = (struct stills_node){.parent = *out,
				    .name = stills_figure_name_of(m, node, " center"),
				    .center = n.center,
				    .less_center = true};
	return stills_figure_add_node(m, &back, out);
}

/* ---- shapes ---- */

/* Makes a ring of AROUND points around the Y axis for each pair of radius and height. */
#define AROUND 10

static bool add_rings(struct making *m, struct stills_shape *shape, const float (*rings)[2],
		      unsigned count)
{
	float *points = arena_alloc(m->arena, (size_t)count * AROUND * 3, sizeof(*points));
	int32_t *index = arena_alloc(m->arena, (size_t)count * AROUND * 5 + 2 * (AROUND + 1),
				     sizeof(*index)),
		*at = index;

	if (!points || !index)
		return false;
	for (unsigned ring = 0; ring < count; ring++) {
		for (unsigned i = 0; i < AROUND; i++) {
			const double angle = 2 * M_PI * i / AROUND;
			float *p = points + 3 * ((size_t)ring * AROUND + i);
			const int32_t a = (int32_t)(ring * AROUND + i),
				      b = (int32_t)(ring * AROUND + (i + 1) % AROUND);

			p[0] = (float)((double)rings[ring][0] * cos(angle));
			p[1] = rings[ring][1];
			p[2] = (float)((double)rings[ring][0] * sin(angle));
			if (ring == 0)
				continue;
			*at++ = a - AROUND;
			*at++ = a;
			*at++ = b;
			*at++ = b - AROUND;
			*at++ = -1;
		}
	}
	for (unsigned end = 0; end < 2; end++) {
		for (unsigned i = 0; i < AROUND; i++)
			*at++ = (int32_t)(end * (count - 1) * AROUND + i);
		*at++ = -1;
	}
	shape->kind = STILLS_FACES;
	shape->points =
		(struct stills_values){.values = points, .width = (size_t)count * AROUND * 3};
	shape->index = index;
	shape->index_count = (size_t)(at - index);
	return true;
}

#define BALL 7 /* number of rings of a sphere */

static bool add_ball(struct making *m, struct stills_shape *shape, float radius)
{
	float rings[BALL][2];

	for (unsigned i = 0; i < BALL; i++) {
		const double angle = M_PI * i / (BALL - 1);

		rings[i][0] = (float)((double)radius * sin(angle));
		rings[i][1] = (float)((double)-radius * cos(angle));
	}
	return add_rings(m, shape, rings, BALL);
}

static bool add_box(struct making *m, struct stills_shape *shape, const float *size)
{
	static const int32_t index[] = {0, 1, 3, 2, -1, 4, 6, 7, 5, -1, 0, 4, 5, 1, -1,
					2, 3, 7, 6, -1, 0, 2, 6, 4, -1, 1, 5, 7, 3, -1};
	float points[24];

	for (unsigned i = 0; i < 8; i++)
		for (unsigned axis = 0; axis < 3; axis++)
			points[3 * i + axis] = (i >> axis & 1 ? 0.5f : -0.5f) * size[axis];
	shape->kind = STILLS_FACES;
	shape->points = constant(m, points, 24);
	shape->index = index;
	shape->index_count = ARRAY_SIZE(index);
	return true;
}

static float stills_figure_number_of(struct making *m, size_t node, const char *name,
				     const char *usual)
{
	const struct stills_values v = stills_figure_values_of(m, node, name, 1, usual);

	return v.values ? v.values[0] : 0;
}

static bool add_solid(struct making *m, struct stills_shape *shape, size_t node)
{
	const bool cone = is(m, node, "Cone");
	struct stills_values size;
	float radius, half;

	if (is(m, node, "Box")) {
		size = stills_figure_values_of(m, node, "size", 3, "2 2 2");
		return size.values && add_box(m, shape, size.values);
	}
	radius = stills_figure_number_of(m, node, cone ? "bottomRadius" : "radius", "1");
	if (is(m, node, "Sphere"))
		return add_ball(m, shape, radius);
	half = stills_figure_number_of(m, node, "height", "2") / 2;
	return add_rings(m, shape, (const float[2][2]){{radius, -half}, {cone ? 0 : radius, half}},
			 2);
}

static bool take_index(struct making *m, struct stills_shape *shape, size_t node, const char *name,
		       bool triangles)
{
	const struct x3d_attribute *field = field_of(m, node, name);
	const size_t points = shape->points.width / 3;
	int32_t *index;
	size_t count = 0;

	if (!field || !x3d_numbers_read(field->value, &m->numbers, m->err))
		m->numbers.count = 0;
	index = arena_alloc(m->arena, 2 * m->numbers.count + 1, sizeof(*index));
	for (size_t i = 0; index && i < m->numbers.count; i++) {
		const double n = m->numbers.values[i];

		/* An index that names no point ends the line or face. */
		index[count++] = n >= 0 && n < (double)points ? (int32_t)n : -1;
		if (triangles && i % 3 == 2)
			index[count++] = -1;
	}
	shape->index = index;
	shape->index_count = count;
	return index != NULL;
}

static bool take_triangles(struct making *m, struct stills_shape *shape)
{
	const size_t points = shape->points.width / 3;
	int32_t *index = arena_alloc(m->arena, 2 * points + 1, sizeof(*index));
	size_t count = 0;

	for (size_t i = 0; index && i < points; i++) {
		index[count++] = (int32_t)i;
		if (i % 3 == 2)
			index[count++] = -1;
	}
	shape->index = index;
	shape->index_count = count;
	return index != NULL;
}

static const char *const solids[] = {"Box", "Sphere", "Cone", "Cylinder"};
static const struct {
	const char *name, *index;
	enum stills_kind kind;
	bool triangles;
} meshes[] = {
	{"IndexedFaceSet", "coordIndex", STILLS_FACES, false},
	{"IndexedLineSet", "coordIndex", STILLS_LINES, false},
	{"IndexedTriangleSet", "index", STILLS_FACES, true},
	{"TriangleSet", NULL, STILLS_FACES, true},
	{"PointSet", NULL, STILLS_POINTS, false},
};

static bool take_geometry(struct making *m, struct stills_shape *shape, size_t node, size_t mesh)
{
	const size_t points = child(m, node, "Coordinate");

	if (mesh == ARRAY_SIZE(meshes))
		return add_solid(m, shape, node);
	shape->kind = meshes[mesh].kind;
	if (points)
		shape->points = stills_figure_values_of(m, points, "point", 0, "");
	shape->points.width -= shape->points.width % 3;
	if (meshes[mesh].index)
		return take_index(m, shape, node, meshes[mesh].index, meshes[mesh].triangles);
	return shape->kind == STILLS_POINTS || take_triangles(m, shape);
}

static bool says(struct making *m, size_t node, const char *name)
{
	size_t width;

	return field_of(m, node, name) || x3d_join_values(m->j, node, name, &width);
}

/* Sets the colour of a shape. Lit faces have the diffuse colour, others the emissive one. */
static void take_looks(struct making *m, struct stills_shape *shape, size_t node)
{
	static const float white[3] = {1, 1, 1}, none = 0;
	const size_t appearance = child(m, node, "Appearance");
	const size_t material = appearance ? child(m, appearance, "Material") : 0;

	shape->transparency = constant(m, &none, 1);
	shape->colour = constant(m, white, 3);
	if (!material)
		return;
	shape->transparency = stills_figure_values_of(m, material, "transparency", 1, "0");
	shape->colour = stills_figure_values_of(m, material, "diffuseColor", 3, "0.8 0.8 0.8");
	if (shape->kind != STILLS_FACES || (shape->colour.values && is_zero(&shape->colour)) ||
	    (!says(m, material, "diffuseColor") && says(m, material, "emissiveColor")))
		shape->colour = stills_figure_values_of(m, material, "emissiveColor", 3, "0 0 0");
}

/* Finds the entry of a geometry node in `meshes`. False if the node is not drawn. */
static bool find_geometry(const struct making *m, size_t node, size_t *mesh)
{
	for (*mesh = 0; *mesh < ARRAY_SIZE(meshes); ++*mesh)
		if (is(m, node, meshes[*mesh].name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(solids); i++)
		if (is(m, node, solids[i]))
			return true;
	return false;
}

/*
 * Counts the characters of a mesh each time it is used, since a short text can use a long mesh many
 * times.
 */
static bool count_letters(struct making *m, size_t node, size_t mesh)
{
	const size_t points = child(m, node, "Coordinate");
	const struct x3d_attribute *fields[2] = {NULL, NULL};

	if (points)
		fields[0] = field_of(m, points, "point");
	if (mesh < ARRAY_SIZE(meshes) && meshes[mesh].index)
		fields[1] = field_of(m, node, meshes[mesh].index);
	for (unsigned i = 0; i < 2; i++) {
		const size_t size = fields[i] ? fields[i]->value.size : 0;

		if (size > LETTERS_MAX - m->letters)
			return stills_figure_fail(
				m, "its shapes have more than 64 MiB of points and corners");
		m->letters += size;
	}
	return true;
}

static bool stills_figure_add_shape(struct making *m, size_t node, uint32_t parent)
{
	struct stills_shape *shape;
	size_t mesh = 0, geometry = 0;

	for (size_t i = node + 1; i < m->ends[node] && geometry == 0; i = behind(m, i))
		if (find_geometry(m, used(m, i), &mesh))
			geometry = used(m, i);
	if (geometry == 0)
		return true;
	if (m->f->node_count + m->f->shape_count >= PARTS_MAX)
		return stills_figure_fail(m, "it has more than 20000 Transforms and shapes");
	m->f->shape_count++;
	if (!m->arena)
		return count_letters(m, geometry, mesh);
	shape = &m->f->shapes[m->f->shape_count - 1];
	*shape = (struct stills_shape){.node = parent};
	if (!take_geometry(m, shape, geometry, mesh))
		return err_memory(m->err);
	take_looks(m, shape, node);
	return !m->arena->failed || err_memory(m->err);
}

/* ---- all of it ---- */

static bool stills_figure_walk(struct making *m, size_t node, uint32_t parent);

static bool walk_children(struct making *m, size_t node, uint32_t parent)
{
	for (size_t i = node + 1; i < m->ends[node]; i = behind(m, i))
		if (!stills_figure_walk(m, i, parent))
			return false;
	return true;
}

/* Visits only the child with that index, if there is one. */
static bool walk_choice(struct making *m, size_t node, uint32_t parent, double choice)
{
	double number = 0;

	for (size_t i = node + 1; i < m->ends[node]; i = behind(m, i), number++)
		if (!(number < choice) && !(number > choice))
			return stills_figure_walk(m, i, parent);
	return true;
}

static bool walk_switch(struct making *m, size_t node, uint32_t parent)
{
	const struct x3d_attribute *field = field_of(m, node, "whichChoice");

	if (!field || !x3d_numbers_read(field->value, &m->numbers, m->err) || m->numbers.count != 1)
		return true;
	return walk_choice(m, node, parent, m->numbers.values[0]);
}

static bool walk_node(struct making *m, size_t node, uint32_t parent)
{
	static const char *const groups[] = {"Scene",     "Group",  "StaticGroup",
					     "Collision", "Anchor", "Billboard"};
	uint32_t transform;

	if (is(m, node, "Transform"))
		return add_transform(m, node, parent, &transform) &&
		       walk_children(m, node, transform);
	if (is(m, node, "Shape"))
		return stills_figure_add_shape(m, node, parent);
	if (is(m, node, "Switch"))
		return walk_switch(m, node, parent);
	if (is(m, node, "LOD"))
		return walk_choice(m, node, parent, 0);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (is(m, node, groups[i]))
			return walk_children(m, node, parent);
	return true;
}

/*
 * Visits a node and its descendants. Groups that use each other are visited as often as they are
 * used; a group that uses itself would never end.
 */
static bool stills_figure_walk(struct making *m, size_t node, uint32_t parent)
{
	bool fine = (m->depth < DEPTH_MAX && m->visits++ < VISITS_MAX) ||
		    stills_figure_fail(m, "its nodes use each other too often");

	m->depth++;
	fine = fine && walk_node(m, used(m, node), parent);
	m->depth--;
	return fine;
}

static bool walk_all(struct making *m)
{
	const struct stills_node scene = {.name = "Scene", .parent = STILLS_NONE};
	uint32_t root = 0;

	return stills_figure_add_node(m, &scene, &root) && walk_children(m, 0, root);
}

const float *stills_value(const struct stills_values *v, uint32_t still)
{
	return v->values + (v->moves ? still * v->width : 0);
}

/* Converts a rotation around an axis to a quaternion. */
static void turn_of(const float turn[4], double out[4])
{
	const double x = (double)turn[0], y = (double)turn[1], z = (double)turn[2];
	const double length = sqrt(x * x + y * y + z * z);
	const double half = (double)turn[3] / 2, sine = length > 0 ? sin(half) / length : 0;

	out[0] = x * sine;
	out[1] = y * sine;
	out[2] = z * sine;
	out[3] = length > 0 ? cos(half) : 1;
}

struct pose stills_node_pose(const struct stills_node *n, uint32_t still)
{
	struct pose pose = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
	const float *from = n->translation.values ? stills_value(&n->translation, still) : NULL;
	const float *center = n->center.values ? stills_value(&n->center, still) : NULL;
	const float *scale = n->scale.values ? stills_value(&n->scale, still) : NULL;

	for (unsigned axis = 0; axis < 3; axis++) {
		const double way = center ? (double)center[axis] : 0;

		pose.translation[axis] =
			(from ? (double)from[axis] : 0) + (n->less_center ? -way : way);
		if (scale)
			pose.scale[axis] = (double)scale[axis];
	}
	if (n->rotation.values)
		turn_of(stills_value(&n->rotation, still), pose.rotation);
	return pose;
}

static bool stills_figure_begin(struct making *m, const struct x3d_joined *j,
				struct stills_figure *f, struct err *err)
{
	*m = (struct making){.j = j, .scene = x3d_join_scene(j), .f = f, .err = err};
	*f = (struct stills_figure){.nodes = NULL};
	return (find_ends(m) && stills_figure_find_names(m)) || err_memory(err);
}

static void end(struct making *m)
{
	free(m->ends);
	free(m->numbers.values);
	string_map_release(&m->names);
}

bool stills_figure_present(const struct x3d_joined *j, struct err *err)
{
	struct err ignored = {.code = ERR_NONE};
	struct stills_figure f;
	struct making m;
	bool fine = stills_figure_begin(&m, j, &f, err ? err : &ignored) && walk_all(&m) &&
		    !m.err->code;

	end(&m);
	if (fine && f.node_count + f.shape_count == 1)
		fine = err_set(err, ERR_TEXT, "it has neither Transforms nor shapes to be drawn");
	return fine;
}

bool stills_figure_make(struct stills_figure *f, const struct x3d_joined *j, struct arena *arena)
{
	struct err err = {.code = ERR_NONE};
	struct stills_figure counted;
	struct making m;
	bool fine = stills_figure_begin(&m, j, &counted, &err) && walk_all(&m);

	if (fine) {
		*f = (struct stills_figure){
			.nodes = arena_alloc(arena, counted.node_count, sizeof(*f->nodes)),
			.shapes = arena_alloc(arena, counted.shape_count + 1, sizeof(*f->shapes)),
		};
		m.arena = arena;
		m.f = f;
		m.visits = 0;
		fine = !arena->failed && walk_all(&m);
	}
	end(&m);
	return fine && !arena->failed && !err.code;
}
