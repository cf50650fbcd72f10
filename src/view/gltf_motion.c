/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_motion.h"

#include "base64.h"

#include <math.h>

#define NUMBER 4 /* bytes */

/* Never early: programs that multiply it by their rate would find no such frame before their end.
 */
float gltf_motion_time(const struct gltf_motion *m, uint32_t frame)
{
	double exact = frame * m->figure->seconds;
	float seconds = (float)exact;

	return (double)seconds < exact ? nextafterf(seconds, INFINITY) : seconds;
}

/* ---- what there is ---- */

static uint32_t add_input(struct gltf_motion *m, const struct gltf_input *input)
{
	m->inputs[m->input_count] = *input;
	return m->input_count++;
}

/* by_count: the dense inputs there are by their count, plus 1. */
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

/* A bone's curves often have their keys in the same frames. */
static uint32_t sparse_input(struct gltf_motion *m, uint32_t node, enum role role,
			     const struct channel *c)
{
	struct channel first = *c;

	for (uint32_t i = m->input_count; i-- > 0 && m->inputs[i].node == node;) {
		struct channel other = channel_of(m->figure, node, m->inputs[i].role);

		if (!m->inputs[i].dense && channel_same_frames(&other, c))
			return i;
	}
	channel_next(&first);
	return add_input(m, &(struct gltf_input){.node = node,
						 .role = role,
						 .count = channel_count(c),
						 .first = first.frame,
						 .last = channel_last(c)});
}

static void add_channel(struct gltf_motion *m, uint32_t node, enum role role, uint32_t *by_count)
{
	struct channel c = channel_of(m->figure, node, role);
	struct gltf_sampler *s = &m->samplers[m->sampler_count];

	if (channel_count(&c) == 0)
		return;
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
 * An animation ends with its last key. Where the bones have none at the end of the clip, the figure
 * stays in its place until then.
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

static void lay_out(struct gltf_motion *m)
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
			add_channel(m, bone, (enum role)role, by_count);
	hold_to_end(m);
	lay_out(m);
	return true;
}

/* ---- the buffer ---- */

static void write_number(struct base64 *b, float v)
{
	uint8_t bytes[NUMBER];

	put_f32(bytes, v);
	base64_add(b, bytes, sizeof(bytes));
}

static void write_input(const struct gltf_motion *m, const struct gltf_input *input,
			struct base64 *b)
{
	if (input->node == FIGURE_NONE) {
		write_number(b, gltf_motion_time(m, input->first));
		write_number(b, gltf_motion_time(m, input->last));
		return;
	}
	for (struct channel c = channel_of(m->figure, input->node, input->role); channel_next(&c);)
		write_number(b, gltf_motion_time(m, c.frame));
}

static void write_values(const struct gltf_motion *m, const struct gltf_sampler *s,
			 struct base64 *b)
{
	if (s->node == FIGURE_NONE) {
		for (unsigned i = 0; i < s->count * s->width; i++)
			write_number(b, 0);
		return;
	}
	for (struct channel c = channel_of(m->figure, s->node, s->role); channel_next(&c);)
		for (unsigned axis = 0; axis < c.width; axis++)
			write_number(b, finite_f32(c.value[axis]));
}

void gltf_motion_write(const struct gltf_motion *m, struct buf *out)
{
	struct base64 b = {.out = out};

	for (uint32_t frame = 0; frame < m->dense; frame++)
		write_number(&b, gltf_motion_time(m, frame));
	for (uint32_t i = 0; i < m->input_count; i++)
		if (!m->inputs[i].dense)
			write_input(m, &m->inputs[i], &b);
	for (uint32_t i = 0; i < m->sampler_count && !out->failed; i++)
		write_values(m, &m->samplers[i], &b);
	base64_end(&b);
}
