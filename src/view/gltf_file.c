/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_file.h"

#include "base64.h"
#include "text/num.h"

#include <math.h>
#include <string.h>

/*
 * Limit of all numbers read from a file, since accessors may refer to the same bytes again and
 * again.
 */
#define NUMBERS_MAX ((size_t)1 << 26)

/* ---- a .glb ---- */

#define GLB_MAGIC 0x46546c67
#define GLB_JSON 0x4e4f534a
#define GLB_BINARY 0x004e4942
#define GLB_HEADER 12

static bool gltf_file_refuse_early(struct err *err)
{
	err_set(err, ERR_EARLY, "the .glb ends before it should");
	return err_accept(err, "the whole file");
}

/* Reads the next chunk of a .glb if it has that type. */
static bool read_chunk(struct reader *r, uint32_t type, struct bytes *out)
{
	struct reader ahead = *r;
	uint32_t size = read_u32(&ahead);

	if (read_u32(&ahead) != type || ahead.bad || !bytes_hold(r->src, ahead.at, size, 1))
		return false;
	*out = (struct bytes){r->src.data + ahead.at, size};
	*r = reader_at(r->src, ahead.at + size);
	return true;
}

static bool open_binary(struct gltf_file *f, struct bytes text, struct err *err)
{
	struct reader r = reader_at(text, 4);
	uint32_t version = read_u32(&r), size = read_u32(&r);

	f->is_binary = true;
	if (r.bad || size > text.size)
		return gltf_file_refuse_early(err);
	if (version != 2 || size < GLB_HEADER)
		return err_set(err, ERR_TEXT, "this is not a .glb of version 2");
	r.src.size = size;
	if (!read_chunk(&r, GLB_JSON, &f->json))
		return err_set(err, ERR_TEXT, "the .glb does not begin with its JSON");
	read_chunk(&r, GLB_BINARY, &f->binary);
	return true;
}

static bool open_chunks(struct gltf_file *f, struct bytes text, struct err *err)
{
	f->json = text;
	return text.size < 4 || get_u32(text.data) != GLB_MAGIC || open_binary(f, text, err);
}

/* ---- opening ---- */

bool gltf_list(struct gltf_file *f, const struct spot *up, const char *name, struct err *err,
	       struct gltf_list *out)
{
	const struct token *list;
	size_t count;

	*out = (struct gltf_list){.list = spot_member(up, name)};
	list = out->list.value;
	count = token_count(list);
	if (list && !spot_array(&out->list, err))
		return false;
	out->elements = arena_alloc(&f->arena, count, sizeof(struct token *));
	if (!out->elements)
		return err_memory(err);
	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		out->elements[out->count++] = t;
	return true;
}

struct spot gltf_element(const struct gltf_list *list, size_t index)
{
	return (struct spot){list->list.doc, &list->list, NULL, index, list->elements[index]};
}

bool gltf_open(struct gltf_file *f, struct bytes text, struct err *err)
{
	*f = (struct gltf_file){.left = NUMBERS_MAX};
	if (!open_chunks(f, text, err) || !doc_read(&f->doc, f->json, err))
		return false;
	f->root = spot_root(&f->doc);
	if (!gltf_list(f, &f->root, "buffers", err, &f->buffers) ||
	    !gltf_list(f, &f->root, "bufferViews", err, &f->views) ||
	    !gltf_list(f, &f->root, "accessors", err, &f->accessors) ||
	    !gltf_list(f, &f->root, "nodes", err, &f->nodes))
		return false;
	f->buffer = arena_alloc(&f->arena, f->buffers.count, sizeof(*f->buffer));
	f->numbers = arena_alloc(&f->arena, f->accessors.count, sizeof(*f->numbers));
	return !f->arena.failed || err_memory(err);
}

void gltf_close(struct gltf_file *f)
{
	doc_release(&f->doc);
	arena_release(&f->arena);
}

/* ---- whole numbers ---- */

bool gltf_index(const struct spot *s, size_t count, struct err *err, uint32_t *out)
{
	int64_t index;

	if (count == 0)
		return spot_refuse(s, err, ERR_TEXT, "this index is out of range");
	if (!spot_integer(s, 0, (int64_t)count - 1, err, &index))
		return false;
	*out = (uint32_t)index;
	return true;
}

/* Reads a size or offset in bytes; returns `otherwise` if it is missing. */
static bool read_size(const struct spot *object, const char *name, size_t otherwise,
		      struct err *err, size_t *out)
{
	struct spot s = spot_member(object, name);
	int64_t value = 0;

	*out = otherwise;
	if (!s.value)
		return true;
	if (!spot_integer(&s, 0, UINT32_MAX, err, &value))
		return false;
	*out = (size_t)value;
	return true;
}

/* ---- buffers ---- */

static bool refuse_uri(const struct spot *uri, struct err *err)
{
	spot_refuse(uri, err, ERR_TEXT, "the buffer is in another file, or not base64");
	return err_accept(err, "a glTF with its buffer in it: \"glTF Embedded\" or \"glTF Binary\" "
			       "where Blender exports");
}

static bool read_uri(struct gltf_file *f, const struct spot *uri, struct bytes *out,
		     struct err *err)
{
	static const char mark[] = ";base64,";
	const char *text, *data;
	uint8_t *bytes;

	if (!spot_text(uri, err, &text))
		return false;
	data = strncmp(text, "data:", 5) == 0 ? strstr(text, mark) : NULL;
	if (!data)
		return refuse_uri(uri, err);
	data += strlen(mark);
	bytes = arena_alloc(&f->arena, strlen(data) / 4 + 1, 3);
	if (!bytes)
		return err_memory(err);
	out->data = bytes;
	return base64_read(bytes_of(data), bytes, &out->size) || refuse_uri(uri, err);
}

/*
 * Refuses a buffer without bytes. With EXT_meshopt_compression a buffer only reserves a place for
 * unpacked data.
 */
static bool refuse_empty(const struct gltf_file *f, const struct spot *buffer, struct err *err)
{
	struct spot list = spot_member(&f->root, "extensionsUsed");

	spot_refuse(buffer, err, ERR_TEXT, "the buffer has no bytes");
	for (struct spot s = spot_first(&list); s.value; spot_next(&s)) {
		const char *name = token_text(s.value);

		if (name && strcmp(name, "EXT_meshopt_compression") == 0)
			return err_accept(err, "glTF without EXT_meshopt_compression");
	}
	return false;
}

static bool read_buffer(struct gltf_file *f, const struct spot *index, struct bytes *out,
			struct err *err)
{
	struct spot buffer, uri;
	uint32_t number = 0;
	size_t size;

	if (!gltf_index(index, f->buffers.count, err, &number))
		return false;
	*out = f->buffer[number];
	if (out->data)
		return true;
	buffer = gltf_element(&f->buffers, number);
	uri = spot_member(&buffer, "uri");
	if (!spot_object(&buffer, err) || !read_size(&buffer, "byteLength", 0, err, &size))
		return false;
	if (!uri.value && number == 0 && f->binary.data)
		*out = f->binary;
	else if (!uri.value)
		return refuse_empty(f, &buffer, err);
	else if (!read_uri(f, &uri, out, err))
		return false;
	if (size > out->size)
		return spot_refuse(&buffer, err, ERR_TEXT,
				   "the buffer has %zu bytes, and not \"byteLength\"", out->size);
	f->buffer[number] = *out;
	return true;
}

/* ---- components ---- */

enum component {
	COMPONENT_BYTE = 5120,
	COMPONENT_UNSIGNED_BYTE = 5121,
	COMPONENT_SHORT = 5122,
	COMPONENT_UNSIGNED_SHORT = 5123,
	COMPONENT_UNSIGNED_INT = 5125,
	COMPONENT_FLOAT = 5126,
};

/* Returns the size of a component type in bytes; 0 if there is no such type. */
static size_t component_size(int64_t component)
{
	switch (component) {
	case COMPONENT_BYTE:
	case COMPONENT_UNSIGNED_BYTE:
		return 1;
	case COMPONENT_SHORT:
	case COMPONENT_UNSIGNED_SHORT:
		return 2;
	case COMPONENT_UNSIGNED_INT:
	case COMPONENT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static double get_component(const uint8_t *p, enum component component, bool normalized)
{
	switch (component) {
	case COMPONENT_BYTE:
		return normalized ? fmax((int8_t)*p / 127.0, -1) : (int8_t)*p;
	case COMPONENT_UNSIGNED_BYTE:
		return *p / (normalized ? 255.0 : 1);
	case COMPONENT_SHORT:
		return normalized ? fmax((int16_t)get_u16(p) / 32767.0, -1) : (int16_t)get_u16(p);
	case COMPONENT_UNSIGNED_SHORT:
		return get_u16(p) / (normalized ? 65535.0 : 1);
	case COMPONENT_UNSIGNED_INT:
		return get_u32(p);
	default:
		return (double)get_f32(p);
	}
}

/* ---- accessors ---- */

/* Elements of an accessor in a buffer, `stride` bytes apart. */
struct elements {
	const uint8_t *data;
	size_t count, stride;
	enum component component;
	unsigned width;
	bool normalized;
};

static bool gltf_file_read_component(const struct spot *object, struct err *err,
				     enum component *out)
{
	struct spot s = spot_member(object, "componentType");
	int64_t value;

	if (!spot_integer(&s, COMPONENT_BYTE, COMPONENT_FLOAT, err, &value))
		return false;
	if (component_size(value) == 0)
		return spot_refuse(&s, err, ERR_TEXT, "there is no component type %d", (int)value);
	*out = (enum component)value;
	return true;
}

/*
 * Finds the bytes of e->count elements in the buffer view that `object` refers to; data is NULL if
 * it refers to none.
 */
static bool find_elements(struct gltf_file *f, const struct spot *object, struct elements *e,
			  struct err *err)
{
	struct spot index = spot_member(object, "bufferView"), view, buffer;
	size_t element = component_size(e->component) * e->width, at, view_at, view_size;
	struct bytes bytes;
	uint32_t number = 0;

	if (!index.value)
		return true;
	if (!gltf_index(&index, f->views.count, err, &number))
		return false;
	view = gltf_element(&f->views, number);
	buffer = spot_member(&view, "buffer");
	if (!read_buffer(f, &buffer, &bytes, err) ||
	    !read_size(object, "byteOffset", 0, err, &at) ||
	    !read_size(&view, "byteOffset", 0, err, &view_at) ||
	    !read_size(&view, "byteLength", 0, err, &view_size) ||
	    !read_size(&view, "byteStride", element, err, &e->stride))
		return false;
	if (!bytes_hold(bytes, view_at, view_size, 1))
		return spot_refuse(&view, err, ERR_TEXT,
				   "the view goes past the end of its buffer");
	bytes = (struct bytes){bytes.data + view_at, view_size};
	if (e->stride < element || !bytes_hold(bytes, at, 1, element) ||
	    !bytes_hold(bytes, at + element, e->count - 1, e->stride))
		return spot_refuse(object, err, ERR_TEXT,
				   "%zu elements go past the end of their buffer view", e->count);
	e->data = bytes.data + at;
	return true;
}

static double element_component(const struct elements *e, size_t element, unsigned axis)
{
	const uint8_t *p = e->data + element * e->stride + axis * component_size(e->component);

	return get_component(p, e->component, e->normalized);
}

static void copy_elements(const struct elements *e, double *out)
{
	for (size_t i = 0; e->data && i < e->count; i++)
		for (unsigned axis = 0; axis < e->width; axis++)
			out[i * e->width + axis] = element_component(e, i, axis);
}

/*
 * Applies a sparse accessor: its own list of indices, and the values that replace those elements.
 */
static bool replace_elements(struct gltf_file *f, const struct spot *accessor,
			     const struct elements *all, double *out, struct err *err)
{
	struct spot sparse = spot_member(accessor, "sparse");
	struct spot indices = spot_member(&sparse, "indices"), values;
	struct elements places = {.width = 1}, e = *all;

	if (!sparse.value)
		return true;
	values = spot_member(&sparse, "values");
	if (!spot_object(&sparse, err) || !read_size(&sparse, "count", 0, err, &e.count) ||
	    !gltf_file_read_component(&indices, err, &places.component))
		return false;
	if (e.count == 0 || e.count > all->count)
		return spot_refuse(&sparse, err, ERR_TEXT, "\"count\" cannot be %zu", e.count);
	e.data = NULL;
	places.count = e.count;
	if (!find_elements(f, &indices, &places, err) || !find_elements(f, &values, &e, err))
		return false;
	if (!places.data || !e.data)
		return spot_refuse(&sparse, err, ERR_TEXT, "there are no indices and values");
	for (size_t i = 0; i < e.count; i++) {
		double place = element_component(&places, i, 0);

		if (!(place >= 0 && place < (double)all->count))
			return spot_refuse(&indices, err, ERR_TEXT, "an index is not below %zu",
					   all->count);
		for (unsigned axis = 0; axis < e.width; axis++)
			out[(size_t)place * e.width + axis] = element_component(&e, i, axis);
	}
	return true;
}

static unsigned type_width(const char *type)
{
	static const struct {
		const char *name;
		unsigned width;
	} types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4},
		     {"MAT2", 4},   {"MAT3", 9}, {"MAT4", 16}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(type, types[i].name) == 0)
			return types[i].width;
	return 0;
}

static bool read_shape(const struct spot *accessor, struct elements *e, struct err *err)
{
	struct spot count = spot_member(accessor, "count"), type = spot_member(accessor, "type");
	struct spot normalized = spot_member(accessor, "normalized");
	const char *name;
	int64_t value;

	if (!spot_object(accessor, err) ||
	    !gltf_file_read_component(accessor, err, &e->component) ||
	    !spot_integer(&count, 1, UINT32_MAX, err, &value) || !spot_text(&type, err, &name) ||
	    (normalized.value && !spot_bool(&normalized, err, &e->normalized)))
		return false;
	e->count = (size_t)value;
	e->width = type_width(name);
	return e->width > 0 ||
	       spot_refuse(&type, err, ERR_TEXT, "there is no type \"%.20s\"", name);
}

static bool read_accessor(struct gltf_file *f, const struct spot *accessor,
			  struct gltf_numbers *out, struct err *err)
{
	struct elements e = {0};
	double *values;

	if (!read_shape(accessor, &e, err))
		return false;
	if (e.count > f->left / e.width)
		return spot_refuse(accessor, err, ERR_TEXT, "there are too many numbers in all");
	if (!find_elements(f, accessor, &e, err))
		return false;
	f->left -= e.count * e.width;
	values = arena_alloc(&f->arena, e.count * e.width, sizeof(*values));
	if (!values)
		return err_memory(err);
	copy_elements(&e, values);
	*out = (struct gltf_numbers){(uint32_t)e.count, e.width, values};
	return replace_elements(f, accessor, &e, values, err);
}

bool gltf_numbers(struct gltf_file *f, const struct spot *index, unsigned width,
		  struct gltf_numbers *out, struct err *err)
{
	struct spot accessor;
	uint32_t number = 0;

	if (!gltf_index(index, f->accessors.count, err, &number))
		return false;
	accessor = gltf_element(&f->accessors, number);
	if (!f->numbers[number].values && !read_accessor(f, &accessor, &f->numbers[number], err))
		return false;
	*out = f->numbers[number];
	return out->width == width ||
	       spot_refuse(&accessor, err, ERR_TEXT, "an element has %u numbers here, and not %u",
			   out->width, width);
}

/* ---- what a channel animates ---- */

static unsigned gltf_file_role(const char *text)
{
	unsigned role = 0;

	while (role < ROLE_COUNT && strcmp(text, role_names[role]) != 0)
		role++;
	return role;
}

/*
 * Parses a pointer like "/nodes/3/rotation" of KHR_animation_pointer. *node stays as it is if the
 * pointer names no node.
 */
static bool read_target_pointer(const struct spot *target, uint32_t nodes, struct err *err,
				uint32_t *node, unsigned *role)
{
	static const char begin[] = "/nodes/";
	struct spot extensions = spot_member(target, "extensions");
	struct spot extension = spot_member(&extensions, "KHR_animation_pointer");
	struct spot pointer = spot_member(&extension, "pointer");
	const char *text, *number;
	uint32_t index;
	size_t digits;

	if (!pointer.value)
		return true;
	if (!spot_text(&pointer, err, &text))
		return false;
	number = text + sizeof(begin) - 1;
	if (strncmp(text, begin, sizeof(begin) - 1) != 0)
		return true;
	digits = strspn(number, "0123456789");
	if (number[digits] != '/' || gltf_file_role(number + digits + 1) == ROLE_COUNT)
		return true;
	if (!num_parse_frame(number, digits, '.', &index) || index >= nodes)
		return spot_refuse(&pointer, err, ERR_TEXT, "there is no node \"%.40s\"", text);
	*node = index;
	*role = gltf_file_role(number + digits + 1);
	return true;
}

bool gltf_target(const struct spot *channel, uint32_t nodes, struct err *err, uint32_t *node,
		 unsigned *role)
{
	struct spot target = spot_member(channel, "target"), path = spot_member(&target, "path");
	struct spot index = spot_member(&target, "node");
	const char *text;

	*node = GLTF_NONE;
	*role = ROLE_COUNT;
	if (!spot_object(channel, err) || !spot_object(&target, err) ||
	    !spot_text(&path, err, &text))
		return false;
	if (strcmp(text, "pointer") == 0)
		return read_target_pointer(&target, nodes, err, node, role);
	*role = gltf_file_role(text);
	return !index.value || *role == ROLE_COUNT || gltf_index(&index, nodes, err, node);
}
