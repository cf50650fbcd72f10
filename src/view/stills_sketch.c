/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stills_sketch.h"

#include "figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* limit of points to choose from; of larger figures only every n-th point is considered */
#define CANDIDATES_MAX 50000
#define FOUND_MAX 4096
/* the number of stills in which points must be near each other to be drawn as one */
#define COMPARED 3

static const uint8_t node_colour[3] = {142, 158, 185};

struct candidate {
	struct sketch_point point;
	float at[COMPARED][3];
	double distance; /* squared distance to the nearest chosen point */
	unsigned nearest;
};

struct found_part {
	struct sketch_part part;
	unsigned order;
	double area;
};

struct sketching {
	struct stills_sketch *s;
	const struct stills_figure *f;
	struct arena arena; /* temporary memory */
	struct candidate *candidates;
	size_t count, step;
	size_t chosen[SKETCH_POINTS];
	struct found_part *found;
	unsigned found_count;
	uint8_t *known; /* the sets of corners that were added, a bit for each */
};

/* ---- where points are ---- */

static void pose_nodes(struct stills_sketch *s, uint32_t still)
{
	for (uint32_t i = 0; i < s->figure->node_count; i++) {
		const struct stills_node *n = &s->figure->nodes[i];
		const struct pose pose = stills_node_pose(n, still);
		const struct transform own = pose_transform(&pose);

		s->world[i] = n->parent == STILLS_NONE
				      ? own
				      : transform_product(&s->world[n->parent], &own);
	}
}

static void stills_sketch_place_of(const struct stills_sketch *s, const struct sketch_point *p,
				   uint32_t still, float out[3])
{
	const struct transform *t = &s->world[p->node];
	const float *own = p->points ? stills_value(p->points, still) + 3 * p->number : NULL;

	for (unsigned axis = 0; axis < 3; axis++) {
		double place = t->m[axis][3];

		for (unsigned i = 0; own && i < 3; i++)
			place += t->m[axis][i] * (double)own[i];
		out[axis] = finite_f32(place);
	}
}

void stills_sketch_pose(struct stills_sketch *s, uint32_t still, float (*out)[3])
{
	pose_nodes(s, still);
	for (unsigned i = 0; i < s->point_count; i++)
		stills_sketch_place_of(s, &s->points[i], still, out[i]);
}

/* ---- points ---- */

static bool is_seen(const struct stills_shape *shape)
{
	const struct stills_values *t = &shape->transparency;

	return shape->points.values && (!t->values || t->moves || t->values[0] < 1);
}

static size_t count_points(const struct stills_figure *f)
{
	size_t count = 0;

	for (uint32_t i = 0; i < f->shape_count; i++)
		count += is_seen(&f->shapes[i]) ? f->shapes[i].points.width / 3 : 0;
	return count;
}

static bool find_candidates(struct sketching *k, uint32_t stills)
{
	const size_t all = count_points(k->f);
	size_t number = 0;

	k->step = 1 + all / CANDIDATES_MAX;
	k->candidates = arena_alloc(&k->arena, all / k->step + 1, sizeof(*k->candidates));
	if (!k->candidates)
		return false;
	for (uint32_t i = 0; i < k->f->shape_count; i++) {
		const struct stills_shape *shape = &k->f->shapes[i];

		if (!is_seen(shape))
			continue;
		for (size_t p = 0; p < shape->points.width / 3; p++, number++)
			if (number % k->step == 0)
				k->candidates[k->count++].point =
					(struct sketch_point){shape->node, &shape->points, p};
	}
	for (unsigned i = 0; i < COMPARED; i++) {
		const uint32_t still = (uint32_t)((uint64_t)(stills - 1) * i / (COMPARED - 1));

		pose_nodes(k->s, still);
		for (size_t c = 0; c < k->count; c++)
			stills_sketch_place_of(k->s, &k->candidates[c].point, still,
					       k->candidates[c].at[i]);
	}
	return true;
}

static double distance(const struct candidate *a, const struct candidate *b)
{
	double sum = 0;

	for (unsigned i = 0; i < COMPARED; i++)
		for (unsigned axis = 0; axis < 3; axis++) {
			const double d = (double)a->at[i][axis] - (double)b->at[i][axis];

			sum += d * d;
		}
	return sum;
}

/* Returns the point that is farthest from all chosen points. */
static size_t farthest(const struct sketching *k)
{
	size_t found = 0;

	for (size_t i = 1; i < k->count; i++)
		if (k->candidates[i].distance > k->candidates[found].distance)
			found = i;
	return found;
}

static void choose(struct sketching *k, size_t number)
{
	const unsigned chosen = k->s->point_count++;

	k->chosen[chosen] = number;
	k->s->points[chosen] = k->candidates[number].point;
	for (size_t i = 0; i < k->count; i++) {
		struct candidate *c = &k->candidates[i];
		const double d = distance(c, &k->candidates[number]);

		if (chosen == 0 || d < c->distance) {
			c->distance = d;
			c->nearest = chosen;
		}
	}
}

static void choose_points(struct sketching *k)
{
	if (k->count == 0)
		return;
	for (size_t i = 0; i < k->count; i++)
		k->candidates[i].distance = distance(&k->candidates[i], &k->candidates[0]);
	choose(k, farthest(k));
	while (k->s->point_count < SKETCH_POINTS) {
		const size_t next = farthest(k);

		if (!(k->candidates[next].distance > 0))
			break;
		choose(k, next);
	}
}

/* ---- lines and faces between them ---- */

static void swap_to_order(unsigned *a, unsigned *b)
{
	const unsigned least = *a < *b ? *a : *b;

	*b = *a < *b ? *b : *a;
	*a = least;
}

/* Returns whether a set of corners is new, and records it. */
static bool note_corners(struct sketching *k, unsigned a, unsigned b, unsigned c)
{
	size_t bit;
	bool is_new;

	swap_to_order(&a, &b);
	if (b == c || a == c)
		c = b;
	swap_to_order(&b, &c);
	swap_to_order(&a, &b);
	bit = ((size_t)a * SKETCH_POINTS + b) * SKETCH_POINTS + c;
	is_new = !(k->known[bit / 8] >> bit % 8 & 1);
	k->known[bit / 8] |= (uint8_t)(1u << bit % 8);
	return is_new;
}

/* Returns the area of a part, or the length of a line, summed over all compared stills. */
static double area_of(const struct sketching *k, const uint8_t corners[3])
{
	const struct candidate *a = &k->candidates[k->chosen[corners[0]]];
	const struct candidate *b = &k->candidates[k->chosen[corners[1]]];
	const struct candidate *c = &k->candidates[k->chosen[corners[2]]];
	const double ab = distance(a, b), bc = distance(b, c), ca = distance(c, a);
	/* Heron's formula, for the squares of the sides. */
	const double squared = 2 * (ab * bc + bc * ca + ca * ab) - (ab * ab + bc * bc + ca * ca);

	return corners[1] == corners[2] ? ab : sqrt(squared > 0 ? squared : 0) / 4;
}

static uint8_t shade(float v)
{
	return v > 0 ? (uint8_t)lrintf(255 * (v < 1 ? v : 1)) : 0;
}

static void stills_sketch_add_part(struct sketching *k, const struct stills_shape *shape,
				   unsigned a, unsigned b, unsigned c)
{
	struct found_part *part = &k->found[k->found_count];
	const float *colour = shape->colour.values;

	if (k->found_count == FOUND_MAX || !note_corners(k, a, b, c))
		return;
	part->part = (struct sketch_part){
		.corners = {(uint8_t)a, (uint8_t)b, (uint8_t)c},
	};
	for (unsigned i = 0; i < 3; i++)
		part->part.colour[i] = colour ? shade(colour[i]) : 255;
	part->order = k->found_count++;
	part->area = area_of(k, part->part.corners);
}

/*
 * Returns the chosen point that represents a point of a shape. `first` is the index of the shape's
 * first point.
 */
static unsigned nearest_to_point(const struct sketching *k, size_t first, size_t point)
{
	return k->candidates[(first + point) / k->step].nearest;
}

/* Adds a line or a face as parts: lines or triangles between its corners. */
static void add_corners(struct sketching *k, const struct stills_shape *shape, size_t first,
			const int32_t *index, size_t count)
{
	unsigned begin, before, at;

	if (count < 2)
		return;
	begin = nearest_to_point(k, first, (size_t)index[0]);
	before = nearest_to_point(k, first, (size_t)index[1]);
	if (shape->kind == STILLS_LINES && begin != before)
		stills_sketch_add_part(k, shape, begin, before, before);
	for (size_t i = 2; i < count; i++, before = at) {
		at = nearest_to_point(k, first, (size_t)index[i]);
		if (shape->kind == STILLS_LINES && before != at)
			stills_sketch_add_part(k, shape, before, at, at);
		if (shape->kind == STILLS_FACES && begin != before && before != at && at != begin)
			stills_sketch_add_part(k, shape, begin, before, at);
	}
}

/* Adds the parts of a shape. A shape that has shrunk to a single point is drawn as a dot. */
static void stills_sketch_add_shape(struct sketching *k, const struct stills_shape *shape,
				    size_t first)
{
	const size_t points = shape->points.width / 3;
	const unsigned before = k->found_count;
	unsigned dot;

	if (points == 0)
		return;
	for (size_t i = 0, end; i < shape->index_count; i = end + 1) {
		for (end = i; end < shape->index_count && shape->index[end] >= 0; end++)
			;
		add_corners(k, shape, first, shape->index + i, end - i);
	}
	for (size_t i = 0; shape->kind == STILLS_POINTS && i < points; i++) {
		dot = nearest_to_point(k, first, i);
		stills_sketch_add_part(k, shape, dot, dot, dot);
	}
	if (k->found_count > before || (shape->kind != STILLS_POINTS && shape->index_count == 0))
		return;
	dot = nearest_to_point(k, first, 0);
	stills_sketch_add_part(k, shape, dot, dot, dot);
}

static int by_area(const void *a, const void *b)
{
	const struct found_part *x = a, *y = b;

	if (x->area < y->area || x->area > y->area)
		return x->area < y->area ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

/* Keeps only the largest parts, as many as fit. */
static void keep_parts(struct sketching *k)
{
	qsort(k->found, k->found_count, sizeof(*k->found), by_area);
	while (k->s->part_count < k->found_count && k->s->part_count < SKETCH_PARTS) {
		k->s->parts[k->s->part_count] = k->found[k->s->part_count].part;
		k->s->part_count++;
	}
}

static bool stills_sketch_add_shapes(struct sketching *k)
{
	size_t first = 0;

	k->found = arena_alloc(&k->arena, FOUND_MAX, sizeof(*k->found));
	k->known = arena_alloc(&k->arena, SKETCH_POINTS * SKETCH_POINTS, SKETCH_POINTS / 8);
	if (!k->found || !k->known)
		return false;
	for (uint32_t i = 0; i < k->f->shape_count; i++) {
		if (!is_seen(&k->f->shapes[i]))
			continue;
		stills_sketch_add_shape(k, &k->f->shapes[i], first);
		first += k->f->shapes[i].points.width / 3;
	}
	keep_parts(k);
	return true;
}

/* ---- a figure without shapes ---- */

/*
 * Adds a line for each node, for a figure without shapes. The first node is the scene, whose place
 * is irrelevant.
 */
static void stills_sketch_add_nodes(struct stills_sketch *s)
{
	for (uint32_t i = 1; i < s->figure->node_count && s->point_count < SKETCH_POINTS; i++) {
		const uint8_t at = (uint8_t)s->point_count;
		const uint32_t parent = s->figure->nodes[i].parent;
		const uint8_t from = parent > 0 ? (uint8_t)(parent - 1) : at;
		struct sketch_part *part = &s->parts[s->part_count++];

		s->points[s->point_count++] = (struct sketch_point){.node = i};
		*part = (struct sketch_part){.corners = {from, at, at}};
		memcpy(part->colour, node_colour, sizeof(node_colour));
	}
}

bool stills_sketch_make(struct stills_sketch *s, const struct stills_figure *f, uint32_t stills,
			struct arena *arena)
{
	struct sketching k = {.s = s, .f = f, .arena = ARENA_INIT};
	bool fine;

	*s = (struct stills_sketch){.figure = f};
	s->world = arena_alloc(arena, f->node_count, sizeof(*s->world));
	if (!s->world)
		return false;
	if (f->shape_count == 0) {
		stills_sketch_add_nodes(s);
		return true;
	}
	fine = find_candidates(&k, stills);
	if (fine)
		choose_points(&k);
	fine = fine && stills_sketch_add_shapes(&k);
	arena_release(&k.arena);
	return fine;
}
