/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_motion.h"

#include <math.h>

#define NUMBER 4 /* bytes of a float32 */

/*
 * Times are rounded up, never down: a program that multiplies a time by its frame rate must not end
 * up just before the frame.
 */
/* Returns a frame's time in seconds, as written to the buffer. */
static float gltf_motion_time(const struct gltf_motion *m, uint32_t frame)
{
	double exact = frame * m->figure->seconds;
	float seconds = (float)exact;

	return (double)seconds < exact ? nextafterf(seconds, INFINITY) : seconds;
}

float gltf_input_time(const struct gltf_motion *m, const struct gltf_input *input, bool last)
{
	if (input->spline)
		return curve_time(input->spline, last ? input->count - 1 : 0);
	return gltf_motion_time(m, last ? input->last : input->first);
}

/* ---- inputs and samplers ---- */

static uint32_t add_input(struct gltf_motion *m, const struct gltf_input *input)
{
	m->inputs[m->input_count] = *input;
	return m->input_count++;
}

/*
 * Returns an input with keys at frames 0 to n - 1. by_count[n] is the number of such an input plus
 * 1; 0 if there is none yet.
 */
static uint32_t dense_input(struct gltf_motion *m, uint32_t node, const struct channel *c,
			    uint32_t *by_count)
{
	uint32_t count = channel_count(c);

	if (by_count[count] == 0)
		by_count[count] = 1 + add_input(m, &(struct gltf_input){.node = node,
									.dense = true,
									.count = count,
									.last = count - 1});
	if (count > m->dense)
		m->dense = count;
	return by_count[count] - 1;
}

/*
 * Returns an input for keys that are not at frames 0, 1, 2 and so on. A bone's curves often have
 * keys at the same frames, and share one.
 */
static uint32_t sparse_input(struct gltf_motion *m, uint32_t node, enum role role,
			     const struct channel *c)
{
	struct channel first = *c;

	for (uint32_t i = m->input_count; i-- > 0 && m->inputs[i].node == node;) {
		struct channel other = channel_of(m->figure, node, m->inputs[i].role);

		if (!m->inputs[i].dense && !m->inputs[i].spline && channel_same_frames(&other, c))
			return i;
	}
	channel_next(&first);
	return add_input(m, &(struct gltf_input){.node = node,
						 .role = role,
						 .count = channel_count(c),
						 .first = first.frame,
						 .last = channel_last(c)});
}

static bool gltf_motion_is_unit(const struct curve *c, uint32_t key)
{
	double sum = 0;

	for (unsigned axis = 0; axis < 4; axis++)
		sum += curve_value(c, key, axis) * curve_value(c, key, axis);
	return fabs(sum - 1) <= 1e-4;
}

/*
 * Returns whether a key is valid in glTF: its numbers are finite, its time is after the previous
 * key's, and a rotation has length 1.
 */
static bool is_spline_key(const struct curve *c, uint32_t key)
{
	bool fine = key > 0 ? curve_time(c, key) > curve_time(c, key - 1) : curve_time(c, 0) >= 0;

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		fine = fine && isfinite(curve_value(c, key, axis)) &&
		       isfinite(curve_tangent(c, key, TANGENT_IN, axis)) &&
		       isfinite(curve_tangent(c, key, TANGENT_OUT, axis)) &&
		       f64_same(curve_value(c, key, axis),
				(double)finite_f32(curve_value(c, key, axis)));
	}
	return fine && (c->kind != CURVE_QUATERNION || gltf_motion_is_unit(c, key));
}

/* Returns the curve with its tangents if glTF can express it as it is, else NULL. */
static const struct curve *spline_of(const struct figure *f, uint32_t node, enum role role)
{
	const struct curve *c = f->keyed->tracks[node].curve[role];

	if (!c || !c->timing || !c->timing->tangents || c->count < 2)
		return NULL;
	for (uint32_t key = 0; key < c->count; key++)
		if (!is_spline_key(c, key))
			return NULL;
	return c;
}

static void add_spline(struct gltf_motion *m, uint32_t node, enum role role, const struct curve *c)
{
	struct gltf_input input = {.node = node,
				   .role = role,
				   .spline = c,
				   .count = c->count,
				   .first = curve_frame(c, 0),
				   .last = curve_frame(c, c->count - 1)};

	m->samplers[m->sampler_count++] = (struct gltf_sampler){.node = node,
								.role = role,
								.spline = c,
								.width = curve_width(c),
								.count = 3 * c->count,
								.input = add_input(m, &input)};
}

static void gltf_motion_add_channel(struct gltf_motion *m, uint32_t node, enum role role,
				    uint32_t *by_count)
{
	struct channel c = channel_of(m->figure, node, role);
	struct gltf_sampler *s = &m->samplers[m->sampler_count];
	const struct curve *spline = spline_of(m->figure, node, role);

	if (channel_count(&c) == 0)
		return;
	if (spline) {
		add_spline(m, node, role, spline);
		return;
	}
	if (channel_count(&c) > 1 && m->figure->keyed->tracks[node].curve[role]->timing)
		m->sampled = true;
	m->sampler_count++;
	*s = (struct gltf_sampler){.node = node,
				   .role = role,
				   .step = c.step,
				   .width = c.width,
				   .count = channel_count(&c)};
	s->input = channel_is_dense(&c) ? dense_input(m, node, &c, by_count)
					: sparse_input(m, node, role, &c);
}

/*
 * Makes the animation as long as the clip. It would end at its last key: if no bone has a key in
 * the last frame, the topmost node gets one, which holds it in place.
 */
static void hold_to_end(struct gltf_motion *m)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < m->input_count; i++)
		if (m->inputs[i].last > last)
			last = m->inputs[i].last;
	if (last + 1 >= m->figure->clip->frames)
		return;
	m->samplers[m->sampler_count++] = (struct gltf_sampler){
		.node = FIGURE_NONE,
		.role = ROLE_TRANSLATION,
		.step = true,
		.width = 3,
		.input = add_input(m,
				   &(struct gltf_input){
					   .node = FIGURE_NONE,
					   .count = 2,
					   .last = m->figure->clip->frames - 1,
				   }),
		.count = 2};
}

static void gltf_motion_lay_out(struct gltf_motion *m)
{
	m->size = (size_t)m->dense * NUMBER;
	for (uint32_t i = 0; i < m->input_count; i++) {
		if (m->inputs[i].dense)
			continue;
		m->inputs[i].at = m->size;
		m->size += (size_t)m->inputs[i].count * NUMBER;
	}
	for (uint32_t i = 0; i < m->sampler_count; i++) {
		m->samplers[i].at = m->size;
		m->size += (size_t)m->samplers[i].count * m->samplers[i].width * NUMBER;
	}
}

bool gltf_motion_make(struct gltf_motion *m, const struct figure *figure, struct arena *arena)
{
	const size_t most = (size_t)figure->bones * ROLE_COUNT + 1;
	uint32_t *by_count =
		arena_alloc(arena, (size_t)figure->clip->frames + 1, sizeof(*by_count));

	*m = (struct gltf_motion){.figure = figure};
	m->inputs = arena_alloc(arena, most, sizeof(*m->inputs));
	m->samplers = arena_alloc(arena, most, sizeof(*m->samplers));
	if (arena->failed)
		return false;
	for (uint32_t bone = 0; bone < figure->bones; bone++)
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			gltf_motion_add_channel(m, bone, (enum role)role, by_count);
	hold_to_end(m);
	gltf_motion_lay_out(m);
	return true;
}

/* ---- the buffer ---- */

static void gltf_motion_write_number(struct base64 *b, float v)
{
	uint8_t bytes[NUMBER];

	put_f32(bytes, v);
	base64_add(b, bytes, sizeof(bytes));
}

static void write_input(const struct gltf_motion *m, const struct gltf_input *input,
			struct base64 *b)
{
	if (input->node == FIGURE_NONE) {
		gltf_motion_write_number(b, gltf_motion_time(m, input->first));
		gltf_motion_write_number(b, gltf_motion_time(m, input->last));
		return;
	}
	for (uint32_t key = 0; input->spline && key < input->count; key++)
		gltf_motion_write_number(b, curve_time(input->spline, key));
	if (input->spline)
		return;
	for (struct channel c = channel_of(m->figure, input->node, input->role); channel_next(&c);)
		gltf_motion_write_number(b, gltf_motion_time(m, c.frame));
}

/* Writes a spline's keys: of each the in-tangent, the value and the out-tangent. */
static void write_spline(const struct curve *c, struct base64 *b)
{
	for (uint32_t key = 0; key < c->count; key++) {
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			gltf_motion_write_number(b, curve_tangent(c, key, TANGENT_IN, axis));
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			gltf_motion_write_number(b, (float)curve_value(c, key, axis));
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			gltf_motion_write_number(b, curve_tangent(c, key, TANGENT_OUT, axis));
	}
}

static void gltf_motion_write_values(const struct gltf_motion *m, const struct gltf_sampler *s,
				     struct base64 *b)
{
	if (s->node == FIGURE_NONE) {
		for (unsigned i = 0; i < s->count * s->width; i++)
			gltf_motion_write_number(b, 0);
		return;
	}
	if (s->spline) {
		write_spline(s->spline, b);
		return;
	}
	for (struct channel c = channel_of(m->figure, s->node, s->role); channel_next(&c);)
		for (unsigned axis = 0; axis < c.width; axis++)
			gltf_motion_write_number(b, finite_f32(c.value[axis]));
}

void gltf_motion_write(const struct gltf_motion *m, struct base64 *b)
{
	for (uint32_t frame = 0; frame < m->dense; frame++)
		gltf_motion_write_number(b, gltf_motion_time(m, frame));
	for (uint32_t i = 0; i < m->input_count; i++)
		if (!m->inputs[i].dense)
			write_input(m, &m->inputs[i], b);
	for (uint32_t i = 0; i < m->sampler_count && !b->out->failed; i++)
		gltf_motion_write_values(m, &m->samplers[i], b);
}
