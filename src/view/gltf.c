/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.gltf: the clip as a glTF 2.0 skeleton that moves, with its buffer in the text.
 *
 *   nodes        number 0 is the whole figure, turned upside down where the format's Y points down;
 *                the others are the bones in file order, in rest pose (where none is known: placed
 *                and turned as in the first frame)
 *   skins        one over all bones; nothing wears it, but without it Blender, Godot and three.js
 *                take the bones for empty objects
 *   animations   one: a key where the clip stores one; curves with one value have one key
 *
 * What glTF has no word for is in the animation's "extras".
 *
 * What comes back is the motion of the bones; gltf_read.h says what of it.
 */
#include "clip.h"
#include "gltf_motion.h"
#include "gltf_read.h"
#include "gltf_rest.h"
#include "num.h"
#include "views.h"

/* Of the format: a number is a float32. */
#define COMPONENT_TYPE "5126"

static const char *const type_names[] = {[1] = "SCALAR", [3] = "VEC3", [4] = "VEC4"};

/* ---- nodes ---- */

/* Those of the figure come behind node 0. */
static void write_children(const struct figure *f, uint32_t first_child, struct buf *out)
{
	bool first = true;

	if (first_child == FIGURE_NONE)
		return;
	buf_text(out, ", \"children\": [");
	for (uint32_t node = first_child; node != FIGURE_NONE; node = f->nodes[node].next_sibling) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_unsigned(out, node + 1);
	}
	buf_char(out, ']');
}

static void write_pose(const struct figure *f, uint32_t node, enum role role, struct buf *out)
{
	struct channel c = channel_placed(f, node, role);
	bool first = true;

	buf_format(out, ", \"%s\": [", role_names[role]);
	for (unsigned axis = 0; axis < c.width; axis++) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_f32_text(out, finite_f32(c.value[axis]));
	}
	buf_char(out, ']');
}

static void write_nodes(const struct shown *at, const struct figure *f, struct buf *out)
{
	buf_text(out, "  \"nodes\": [\n    {\"name\": ");
	json_write_name(out, at->file_name);
	if (at->anim->format->y_down)
		buf_text(out, ", \"rotation\": [1, 0, 0, 0]");
	write_children(f, f->first_root, out);
	for (uint32_t node = 0; node < f->count; node++) {
		buf_text(out, "},\n    {\"name\": ");
		json_write_name(out, f->nodes[node].name);
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			write_pose(f, node, (enum role)role, out);
		write_children(f, f->nodes[node].first_child, out);
	}
	buf_text(out, "}\n  ],\n");
}

static void write_skin(const struct shown *at, const struct figure *f, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"skins\": [{\"name\": ");
	json_write_name(out, at->file_name);
	buf_text(out, ", \"skeleton\": 0, \"joints\": [");
	for (uint32_t node = 0; node < f->count; node++) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_unsigned(out, node + 1);
	}
	buf_text(out, "]}],\n");
}

/* ---- the animation ---- */

static void write_extras(const struct shown *at, const struct gltf_motion *m, struct buf *out)
{
	buf_text(out, "\"extras\": {\"fps\": ");
	buf_f32_text(out, (float)(1 / m->figure->seconds));
	buf_text(out, ", \"frames\": ");
	buf_unsigned(out, m->figure->clip->frames);
	if (at->anim->format->has_loop)
		buf_format(out, ", \"loop\": %s", m->figure->clip->loop ? "true" : "false");
	if (m->figure->clip->field_count > 0) {
		buf_text(out, ", ");
		json_write_fields(out, at->anim->format->name, m->figure->clip->fields,
				  m->figure->clip->field_count);
	}
	buf_char(out, '}');
}

static void write_animation(const struct shown *at, const struct gltf_motion *m, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"animations\": [{\n    \"name\": ");
	json_write_name(out, m->figure->clip->label);
	buf_text(out, ", ");
	write_extras(at, m, out);
	buf_text(out, ",\n    \"channels\": [");
	for (uint32_t i = 0; i < m->sampler_count; i++) {
		const struct gltf_sampler *s = &m->samplers[i];

		json_write_comma(out, &first, "\n      ");
		buf_format(out, "{\"sampler\": %u, \"target\": {\"node\": %u, \"path\": \"%s\"}}",
			   (unsigned)i, s->node == FIGURE_NONE ? 0 : (unsigned)s->node + 1,
			   role_names[s->role]);
	}
	buf_text(out, "\n    ],\n    \"samplers\": [");
	first = true;
	for (uint32_t i = 0; i < m->sampler_count; i++) {
		json_write_comma(out, &first, "\n      ");
		buf_format(out, "{\"input\": %u, \"output\": %u, \"interpolation\": \"%s\"}",
			   (unsigned)m->samplers[i].input, (unsigned)(m->input_count + i),
			   m->samplers[i].step ? "STEP" : "LINEAR");
	}
	buf_text(out, "\n    ]\n  }],\n");
}

static void write_accessor(size_t at, uint32_t count, unsigned width, struct buf *out)
{
	buf_format(out,
		   "{\"bufferView\": 0, \"byteOffset\": %zu, \"componentType\": " COMPONENT_TYPE
		   ", \"count\": %u, \"type\": \"%s\"",
		   at, (unsigned)count, type_names[width]);
}

static void write_accessors(const struct gltf_motion *m, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"accessors\": [");
	for (uint32_t i = 0; i < m->input_count; i++) {
		const struct gltf_input *input = &m->inputs[i];

		json_write_comma(out, &first, "\n    ");
		write_accessor(input->at, input->count, 1, out);
		buf_text(out, ", \"min\": [");
		buf_f32_text(out, gltf_motion_time(m, input->first));
		buf_text(out, "], \"max\": [");
		buf_f32_text(out, gltf_motion_time(m, input->last));
		buf_text(out, "]}");
	}
	for (uint32_t i = 0; i < m->sampler_count; i++) {
		json_write_comma(out, &first, "\n    ");
		write_accessor(m->samplers[i].at, m->samplers[i].count, m->samplers[i].width, out);
		buf_char(out, '}');
	}
	buf_text(out, "\n  ],\n");
}

static void write_buffer(const struct gltf_motion *m, struct buf *out)
{
	buf_format(out,
		   "  \"bufferViews\": [{\"buffer\": 0, \"byteLength\": %zu}],\n"
		   "  \"buffers\": [{\"byteLength\": %zu, \"uri\": "
		   "\"data:application/octet-stream;base64,",
		   m->size, m->size);
	gltf_motion_write(m, out);
	buf_text(out, "\"}]\n");
}

static void gltf_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct figure figure;
	struct gltf_motion motion;

	if (figure_make(&figure, at, &arena) && gltf_motion_make(&motion, &figure, &arena)) {
		buf_text(out, "{\n  \"asset\": {\"version\": \"2.0\", \"generator\": \"animfs\"},\n"
			      "  \"scene\": 0,\n  \"scenes\": [{\"nodes\": [0]}],\n");
		write_nodes(at, &figure, out);
		write_skin(at, &figure, out);
		write_animation(at, &motion, out);
		write_accessors(&motion, out);
		write_buffer(&motion, out);
		buf_text(out, "}\n");
	}
	out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- and back ---- */

static struct anim *parse_file(struct gltf_file *f, const struct shown *at, struct bytes text,
			       struct err *err)
{
	struct gltf_nodes nodes;
	struct motion motion;

	if (!gltf_open(f, text, err) || !gltf_read_nodes(f, clip_shown(at), &nodes, err) ||
	    !gltf_read_motion(f, &nodes, &motion, err) ||
	    !gltf_rest_restore(f, &nodes, at, &motion, err))
		return NULL;
	return motion_apply(at, &motion, f->json, err);
}

/* In a .glb no line and column can be told. */
static struct anim *gltf_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct gltf_file file;
	struct anim *edited = parse_file(&file, at, text, err);

	if (!edited && file.is_binary && err)
		err->placed = false;
	gltf_close(&file);
	return edited;
}

const struct view view_gltf = {
	.name = "gltf",
	.place = VIEW_OF_CLIP,
	.file = "clip.gltf",
	.present = figure_present,
	.explain = figure_explain,
	.render = gltf_render,
	.every_key = true,
	.parse = gltf_parse,
	.posed = true,
	.names_file = true,
};
