/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf.c - clip.gltf: the clip as an animated glTF 2.0 skeleton, with an embedded buffer.
 *
 *   nodes        number 0 is the whole figure, turned upside down where the format's Y points down;
 *                the others are the bones in file order, in rest pose (where none is known: placed
 *                and turned as in the first frame); the last one has the mesh
 *   meshes       one, of octahedra, so that the clip can be seen; none with --gltf=plain
 *   skins        one over all bones; also without a mesh, or else Blender, Godot and three.js take
 *                the bones for empty objects
 *   animations   one: a key where the clip stores one; curves with one value have one key
 *
 * Facts that glTF cannot express are in the animation's "extras".
 *
 * Saving it applies the motion of the bones; see gltf_read.h.
 */
#include "gltf_mesh.h"
#include "gltf_motion.h"
#include "gltf_read.h"
#include "gltf_rest.h"
#include "model/clip.h"
#include "model/compose.h"
#include "text/num.h"
#include "views.h"

#include <stdio.h>

/* The code of float32 as a glTF component type. */
#define COMPONENT_TYPE "5126"
enum { UNSIGNED_BYTE = 5121, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125 };

static const char *const type_names[] = {[1] = "SCALAR", [3] = "VEC3", [4] = "VEC4"};

/* The parts to be written; mesh.count is 0 without a mesh. */
struct text {
	const struct shown *at;
	struct figure figure;
	struct gltf_motion motion;
	struct gltf_mesh mesh;
};

/* ---- nodes ---- */

/* Writes the children of a node. Node n of the figure is node n + 1 of the file. */
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

static void gltf_write_pose(const struct figure *f, uint32_t node, enum role role, struct buf *out)
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

static void gltf_write_nodes(const struct text *t, struct buf *out)
{
	const struct shown *at = t->at;
	const struct figure *f = &t->figure;

	buf_text(out, "  \"nodes\": [\n    {\"name\": ");
	json_write_name(out, at->file_name);
	if (at->anim->format->y_down && at->anim->format->timed && at->style.left_hand)
		buf_text(out, ", \"scale\": [1, -1, 1]");
	else if (at->anim->format->y_down)
		buf_text(out, ", \"rotation\": [1, 0, 0, 0]");
	write_children(f, f->first_root, out);
	for (uint32_t node = 0; node < f->count; node++) {
		buf_text(out, "},\n    {\"name\": ");
		json_write_name(out, f->nodes[node].name);
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			gltf_write_pose(f, node, (enum role)role, out);
		write_children(f, f->nodes[node].first_child, out);
	}
	if (t->mesh.count > 0)
		buf_format(out, "},\n    {\"name\": \"%s\", \"mesh\": 0, \"skin\": 0",
			   t->mesh.name);
	buf_text(out, "}\n  ],\n");
}

/*
 * Returns the number of the mesh's first accessor. The mesh has the last ones of the file:
 * positions, joints, weights, indices, and matrices if `bound`.
 */
static unsigned mesh_accessor(const struct text *t)
{
	return t->motion.input_count + t->motion.sampler_count;
}

static unsigned matrices_accessor(const struct text *t)
{
	return mesh_accessor(t) + 4;
}

static void write_mesh(const struct text *t, struct buf *out)
{
	unsigned first = mesh_accessor(t);

	if (t->mesh.count == 0)
		return;
	buf_format(out,
		   "  \"meshes\": [{\"name\": \"%s\", \"primitives\": [{\"attributes\": "
		   "{\"POSITION\": %u, \"JOINTS_0\": %u, \"WEIGHTS_0\": %u}, \"indices\": %u, "
		   "\"material\": 0}]}],\n",
		   t->mesh.name, first, first + 1, first + 2, first + 3);
	buf_text(out, "  \"materials\": [{\"name\": \"figure\", \"doubleSided\": true, "
		      "\"pbrMetallicRoughness\": {\"baseColorFactor\": [1, 0.6, 0.2, 1], "
		      "\"metallicFactor\": 0, \"roughnessFactor\": 0.8}}],\n");
}

static void write_skin(const struct text *t, struct buf *out)
{
	const struct figure *f = &t->figure;
	bool first = true;

	buf_text(out, "  \"skins\": [{\"name\": ");
	json_write_name(out, t->at->file_name);
	if (t->mesh.bound)
		buf_format(out, ", \"inverseBindMatrices\": %u", matrices_accessor(t));
	buf_text(out, ", \"skeleton\": 0, \"joints\": [");
	for (uint32_t node = 0; node < f->count; node++) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_unsigned(out, node + 1);
	}
	buf_text(out, "]}],\n");
}

/* ---- the animation ---- */

/* Returns the label of the base clip that an additive clip is shown on, or NULL. */
static const char *base_label(const struct shown *at)
{
	return at->stored ? at->stored->clips[at->base].label : NULL;
}

static void write_extras(const struct shown *at, const struct gltf_motion *m, struct buf *out)
{
	buf_text(out, "\"extras\": {\"fps\": ");
	buf_f32_text(out, (float)(1 / m->figure->seconds));
	buf_text(out, ", \"frames\": ");
	buf_unsigned(out, m->figure->clip->frames);
	if (at->anim->format->has_loop)
		buf_format(out, ", \"loop\": %s", m->figure->clip->loop ? "true" : "false");
	if (m->sampled)
		buf_text(out, ", \"sampled\": true");
	if (at->stored) {
		buf_text(out, ", \"base\": ");
		json_write_name(out, base_label(at));
	}
	if (m->figure->clip->field_count > 0) {
		buf_text(out, ", ");
		json_write_fields(out, at->anim->format->name, m->figure->clip->fields,
				  m->figure->clip->field_count);
	}
	buf_char(out, '}');
}

static void gltf_write_animation(const struct shown *at, const struct gltf_motion *m,
				 struct buf *out)
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
			   m->samplers[i].spline ? "CUBICSPLINE"
			   : m->samplers[i].step ? "STEP"
						 : "LINEAR");
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

static void write_bounds(const char *name, const float bounds[3], struct buf *out)
{
	bool first = true;

	buf_format(out, ", \"%s\": [", name);
	for (unsigned axis = 0; axis < 3; axis++) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_f32_text(out, bounds[axis]);
	}
	buf_char(out, ']');
}

/* Writes the accessors of the mesh. Their buffer views are those that write_mesh_views() writes. */
static void write_mesh_accessors(const struct gltf_mesh *m, struct buf *out)
{
	const unsigned corners = m->count * GLTF_MESH_CORNERS;

	buf_format(out,
		   ",\n    {\"bufferView\": 1, \"componentType\": " COMPONENT_TYPE
		   ", \"count\": %u, \"type\": \"VEC3\"",
		   corners);
	write_bounds("min", m->least, out);
	write_bounds("max", m->most, out);
	buf_format(out,
		   "},\n    {\"bufferView\": 1, \"byteOffset\": 12, \"componentType\": %u, "
		   "\"count\": %u, \"type\": \"VEC4\"}",
		   m->wide_joints ? UNSIGNED_SHORT : UNSIGNED_BYTE, corners);
	buf_format(out,
		   ",\n    {\"bufferView\": 1, \"byteOffset\": %u, \"componentType\": %u, "
		   "\"normalized\": true, \"count\": %u, \"type\": \"VEC4\"}",
		   gltf_mesh_stride(m) - 4, UNSIGNED_BYTE, corners);
	buf_format(out,
		   ",\n    {\"bufferView\": 2, \"componentType\": %u, \"count\": %u, "
		   "\"type\": \"SCALAR\"}",
		   m->wide_indices ? UNSIGNED_INT : UNSIGNED_SHORT, m->count * GLTF_MESH_INDICES);
	if (m->bound)
		buf_format(out,
			   ",\n    {\"bufferView\": 3, \"componentType\": " COMPONENT_TYPE
			   ", \"count\": %u, \"type\": \"MAT4\"}",
			   (unsigned)m->count);
}

static void write_accessors(const struct text *t, struct buf *out)
{
	const struct gltf_motion *m = &t->motion;
	bool first = true;

	buf_text(out, "  \"accessors\": [");
	for (uint32_t i = 0; i < m->input_count; i++) {
		const struct gltf_input *input = &m->inputs[i];

		json_write_comma(out, &first, "\n    ");
		write_accessor(input->at, input->count, 1, out);
		buf_text(out, ", \"min\": [");
		buf_f32_text(out, gltf_input_time(m, input, false));
		buf_text(out, "], \"max\": [");
		buf_f32_text(out, gltf_input_time(m, input, true));
		buf_text(out, "]}");
	}
	for (uint32_t i = 0; i < m->sampler_count; i++) {
		json_write_comma(out, &first, "\n    ");
		write_accessor(m->samplers[i].at, m->samplers[i].count, m->samplers[i].width, out);
		buf_char(out, '}');
	}
	if (t->mesh.count > 0)
		write_mesh_accessors(&t->mesh, out);
	buf_text(out, "\n  ],\n");
}

static void gltf_write_view(size_t at, size_t size, const char *more, struct buf *out)
{
	buf_format(out, ",\n    {\"buffer\": 0, \"byteOffset\": %zu, \"byteLength\": %zu%s}", at,
		   size, more);
}

/* Writes the buffer views of the mesh. Returns the offset of the end of the buffer. */
static size_t write_mesh_views(const struct gltf_mesh *m, size_t at, struct buf *out)
{
	const size_t corners = gltf_mesh_corners_size(m), indices = gltf_mesh_indices_size(m);
	char more[48];

	snprintf(more, sizeof(more), ", \"byteStride\": %u, \"target\": 34962",
		 gltf_mesh_stride(m));
	gltf_write_view(at, corners, more, out);
	gltf_write_view(at + corners, indices, ", \"target\": 34963", out);
	if (m->bound)
		gltf_write_view(at + corners + indices, gltf_mesh_matrices_size(m), "", out);
	return at + corners + indices + gltf_mesh_matrices_size(m);
}

static void write_buffer(const struct text *t, struct buf *out)
{
	struct base64 b = {.out = out};
	size_t size = t->motion.size;

	buf_format(out, "  \"bufferViews\": [{\"buffer\": 0, \"byteLength\": %zu}", size);
	if (t->mesh.count > 0)
		size = write_mesh_views(&t->mesh, size, out);
	buf_format(out,
		   "],\n  \"buffers\": [{\"byteLength\": %zu, \"uri\": "
		   "\"data:application/octet-stream;base64,",
		   size);
	gltf_motion_write(&t->motion, &b);
	if (t->mesh.count > 0)
		gltf_mesh_write(&t->mesh, &b);
	base64_end(&b);
	buf_text(out, "\"}]\n");
}

static bool make_text(struct text *t, struct arena *arena)
{
	return figure_make(&t->figure, t->at, arena) &&
	       gltf_motion_make(&t->motion, &t->figure, arena) &&
	       (t->at->style.plain_gltf || gltf_mesh_make(&t->mesh, &t->figure, arena));
}

static void gltf_write_all(const struct text *t, struct buf *out)
{
	buf_text(out, "{\n  \"asset\": {\"version\": \"2.0\", \"generator\": \"animfs\"},\n"
		      "  \"scene\": 0,\n  \"scenes\": [{\"nodes\": [0");
	if (t->mesh.count > 0)
		buf_format(out, ", %u", t->mesh.count + 1);
	buf_text(out, "]}],\n");
	gltf_write_nodes(t, out);
	write_mesh(t, out);
	write_skin(t, out);
	gltf_write_animation(t->at, &t->motion, out);
	write_accessors(t, out);
	write_buffer(t, out);
	buf_text(out, "}\n");
}

static void gltf_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct text text = {.at = at};

	if (make_text(&text, &arena))
		gltf_write_all(&text, out);
	out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- saving ---- */

/* Checks the frame rate. A text written by animfs may date from when the clip had another rate. */
static bool check_rate(struct gltf_file *f, const struct gltf_nodes *nodes, const struct shown *at,
		       const struct motion *motion, struct err *err)
{
	return at->style.resample || at->as_rendered ||
	       gltf_read_check_rate(f, nodes, motion, figure_seconds(at), err);
}

static struct anim *parse_file(struct gltf_file *f, const struct shown *at, struct bytes text,
			       struct err *err)
{
	struct gltf_nodes nodes;
	struct motion motion;

	if (!gltf_open(f, text, err) || !gltf_read_nodes(f, clip_shown(at), &nodes, err) ||
	    !gltf_read_motion(f, &nodes, base_label(at), &motion, err) ||
	    !check_rate(f, &nodes, at, &motion, err) ||
	    !gltf_rest_restore(f, &nodes, at, &motion, err))
		return NULL;
	return motion_apply(at, &motion, f->json, err);
}

/* Subtracts the base from the edit of a clip that is shown on one. Takes over the edit. */
static struct anim *without_base(const struct shown *at, struct anim *edited, struct err *err)
{
	struct anim *left;

	if (!edited || !at->stored)
		return edited;
	left = compose_take_back(at->stored, at->anim, edited, at->clip, at->base, err);
	anim_free(edited);
	return left;
}

/* Parses a text or a .glb. Positions in a .glb are given in bytes, since it has no lines. */
static struct anim *gltf_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct gltf_file file;
	struct anim *edited = without_base(at, parse_file(&file, at, text, err), err);

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
	.composed = true,
};
