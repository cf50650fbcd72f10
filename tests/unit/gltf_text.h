/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_text.h - glTF files as other programs write them, for the bone "hip" of wiki512.canm: part
 * by part, so that a test has one of its own.
 */
#ifndef ANIMFS_TESTS_UNIT_GLTF_TEXT_H
#define ANIMFS_TESTS_UNIT_GLTF_TEXT_H

#include "sample.h"
#include "view/base64.h"

#include <math.h>

static struct sample s;
static struct shown at;

#define GLTF_CHANNEL "{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"translation\"}}"
#define GLTF_SAMPLER "{\"input\": 0, \"output\": 1}"

/* The parts of a glTF text, as JSON; NULL: the part is missing. */
static struct gltf_parts {
	const char *nodes, *skins, *animations, *accessors, *views;
	const char *buffers; /* the array "buffers"; NULL: one buffer of `data` */
	struct buf data;
	bool binary; /* make a .glb */
} gltf;

/* Returns parts in which "hip" moves as in the sample: three keys with its values. */
static inline struct gltf_parts gltf_hip(void)
{
	static const float numbers[] = {0,           1 / 30.0f, 2 / 30.0f, 0, -1, 2,
					0.50000763f, 1,         2.00001f,  1, -1, 2.65535f};
	struct gltf_parts g = {
		.nodes = "[{\"name\": \"hip\"}]",
		.animations =
			"[{\"channels\": [" GLTF_CHANNEL "], \"samplers\": [" GLTF_SAMPLER "]}]",
		.accessors = "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, "
			     "\"type\": \"SCALAR\"}, {\"bufferView\": 0, \"byteOffset\": 12, "
			     "\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}]",
		.views = "[{\"buffer\": 0, \"byteLength\": 48}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		buf_f32(&g.data, numbers[i]);
	return g;
}

static inline void gltf_buffers(struct buf *out)
{
	struct base64 b = {.out = out};

	buf_format(out, ", \"buffers\": [{\"byteLength\": %zu", gltf.data.size);
	if (!gltf.binary) {
		buf_text(out, ", \"uri\": \"data:application/gltf-buffer;base64,");
		base64_add(&b, gltf.data.data, gltf.data.size);
		base64_end(&b);
		buf_char(out, '"');
	}
	buf_text(out, "}]");
}

static inline struct buf gltf_json(void)
{
	const struct {
		const char *name, *text;
	} parts[] = {{"nodes", gltf.nodes},           {"skins", gltf.skins},
		     {"animations", gltf.animations}, {"accessors", gltf.accessors},
		     {"bufferViews", gltf.views},     {"buffers", gltf.buffers}};
	struct buf out = BUF_INIT;

	buf_text(&out, "{\"asset\": {\"version\": \"2.0\"}");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].text)
			buf_format(&out, ", \"%s\": %s", parts[i].name, parts[i].text);
	if (!gltf.buffers)
		gltf_buffers(&out);
	buf_char(&out, '}');
	return out;
}

static inline struct buf gltf_text(void)
{
	struct buf json = gltf_json(), out = BUF_INIT;

	if (!gltf.binary)
		return json;
	while (json.size % 4)
		buf_char(&json, ' ');
	buf_text(&out, "glTF");
	buf_u32(&out, 2);
	buf_u32(&out, (uint32_t)(12 + 8 + json.size + 8 + gltf.data.size));
	buf_u32(&out, (uint32_t)json.size);
	buf_text(&out, "JSON");
	buf_add(&out, json.data, json.size);
	buf_u32(&out, (uint32_t)gltf.data.size);
	buf_add(&out, "BIN", 4);
	buf_add(&out, gltf.data.data, gltf.data.size);
	ck_assert(!out.failed);
	buf_release(&json);
	return out;
}

static inline struct anim *gltf_parse_text(struct err *err)
{
	struct buf text = gltf_text();
	struct anim *edited = view_gltf.parse(&at, buf_bytes(&text), err);

	buf_release(&text);
	return edited;
}

static inline struct anim *gltf_apply(void)
{
	struct err err = {0};
	struct anim *edited = gltf_parse_text(&err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

static inline struct err gltf_refuse(void)
{
	struct err err = {0};

	ck_assert_ptr_null(gltf_parse_text(&err));
	ck_assert_int_ne(err.code, ERR_NONE);
	return err;
}

static inline double hip_value(const struct anim *a, uint32_t key, unsigned axis)
{
	const struct curve *c = a->clips[0].tracks[2].curve[ROLE_TRANSLATION];

	ck_assert_uint_gt(c->count, key);
	return curve_value(c, key, axis);
}

#endif
