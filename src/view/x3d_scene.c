/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "x3d_scene.h"

#include "text/num.h"
#include "util/string_map.h"

#include <math.h>
#include <stdlib.h>

static bool copy_to_scene(struct x3d_scene *s, struct bytes from, struct bytes *to)
{
	to->data = (const uint8_t *)arena_text(&s->arena, (const char *)from.data, from.size);
	to->size = from.size;
	return to->data || err_memory(s->xml.err);
}

static bool x3d_scene_add_attributes(struct x3d_scene *s, const struct xml_tag *tag,
				     struct x3d_node *node)
{
	if (tag->attribute_count > X3D_ATTRIBUTES_MAX)
		return xml_refuse_tag(&s->xml, tag, "no more fields than X3D has",
				      "this node has too many attributes");
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const struct xml_attribute *from = &tag->attributes[i];
		struct x3d_attribute *to = array_room(s->attributes, s->attribute_count,
						      &s->attribute_room, sizeof(*to));

		if (!to)
			return err_memory(s->xml.err);
		s->attributes = to;
		to += s->attribute_count++;
		*to = (struct x3d_attribute){.at = from->at, .length = from->length};
		if (!copy_to_scene(s, from->name, &to->name) ||
		    !copy_to_scene(s, from->value, &to->value))
			return false;
		if (xml_is(to->name, "DEF"))
			node->def = to->value;
		node->count++;
	}
	return true;
}

static bool open_node(struct x3d_scene *s, const struct xml_tag *tag)
{
	struct x3d_node *node = array_room(s->nodes, s->node_count, &s->node_room, sizeof(*node));

	if (!node)
		return err_memory(s->xml.err);
	s->nodes = node;
	node += s->node_count++;
	*node = (struct x3d_node){
		.depth = tag->depth - s->root,
		.in_prototype = s->prototype > 0,
		.begin = tag->begin,
		.name_end = tag->begin + 1 + tag->name.size,
		.end = tag->end,
		.first = s->attribute_count,
	};
	if (!s->prototype &&
	    (xml_is(tag->name, "ProtoDeclare") || xml_is(tag->name, "ProtoInstance")))
		s->prototype = tag->depth + 1;
	return copy_to_scene(s, tag->name, &node->name) && x3d_scene_add_attributes(s, tag, node);
}

/* Returns the attribute of that name, or NULL if the tag has none. */
static const struct xml_attribute *tag_attribute(const struct xml_tag *tag, const char *name)
{
	for (size_t i = 0; i < tag->attribute_count; i++)
		if (xml_is(tag->attributes[i].name, name))
			return &tag->attributes[i];
	return NULL;
}

static bool tag_says(const struct xml_tag *tag, const char *name, const char *value)
{
	const struct xml_attribute *attribute = tag_attribute(tag, name);

	return attribute && xml_is(attribute->value, value);
}

static bool x3d_scene_open_root(struct x3d_scene *s, const struct xml_tag *tag)
{
	s->begin = tag->begin;
	s->interpolation.level3 = tag_says(tag, "profile", "Full");
	s->interpolation.head = tag->end;
	return xml_is(tag->name, "X3D") ||
	       xml_refuse_tag(&s->xml, tag, "<X3D>, of the XML encoding",
			      "this is not an X3D scene");
}

static void note_head(struct x3d_scene *s, const struct xml_tag *tag)
{
	const bool empty = s->xml.text.data[tag->end - 2] == '/';

	s->interpolation.in_head = !empty;
	s->interpolation.head = empty ? tag->begin : tag->end;
	s->interpolation.head_size = empty ? tag->end - tag->begin : 0;
}

static void note_component(struct x3d_scene *s, const struct xml_tag *tag)
{
	const struct xml_attribute *level = tag_attribute(tag, "level");

	if (!level || !xml_is(tag->name, "component") || !tag_says(tag, "name", "Interpolation"))
		return;
	s->interpolation.level = level->at;
	s->interpolation.level_size = level->length;
	s->interpolation.level3 |= level->value.size == 1 && level->value.data[0] >= '3';
}

/*
 * Returns whether an element is skipped: any but <X3D> in the framing element, any but <Scene> in
 * <X3D>, and WorldInfo.
 */
static bool is_skipped(const struct x3d_scene *s, const struct xml_tag *tag)
{
	if (tag->depth == s->root)
		return !xml_is(tag->name, "X3D");
	return xml_is(tag->name, "WorldInfo") ||
	       (tag->depth == s->root + 1 && !xml_is(tag->name, "Scene"));
}

static bool x3d_scene_on_open(void *user, const struct xml_tag *tag)
{
	struct x3d_scene *s = user;

	if (s->skipped == s->root + 2 && tag->depth == s->root + 2)
		note_component(s, tag);
	if (s->skipped || tag->depth < s->root)
		return true;
	if (tag->depth == s->root && !s->framed)
		return x3d_scene_open_root(s, tag);
	if (tag->depth == s->root + 1 && xml_is(tag->name, "head"))
		note_head(s, tag);
	if (is_skipped(s, tag)) {
		s->skipped = tag->depth + 1;
		return true;
	}
	if (xml_is(tag->name, "ExternProtoDeclare"))
		return xml_refuse_tag(&s->xml, tag, "<ProtoDeclare>, in the same file",
				      "what another file declares cannot be compared");
	return tag->depth == s->root ? x3d_scene_open_root(s, tag) : open_node(s, tag);
}

static bool x3d_scene_on_close(void *user, unsigned depth, size_t end)
{
	struct x3d_scene *s = user;

	if (s->skipped == depth + 1)
		s->skipped = 0;
	else if (depth == s->root + 1)
		s->scene_end = end;
	else if (depth == s->root)
		s->end = end;
	if (s->prototype == depth + 1)
		s->prototype = 0;
	return true;
}

static bool x3d_scene_on_text(void *user, size_t at, size_t length)
{
	struct x3d_scene *s = user;

	return s->skipped || xml_refuse(&s->xml, at, length, "nodes and their attributes",
					"text between tags cannot be interpolated");
}

bool x3d_scene_read(struct x3d_scene *s, struct bytes text, bool framed, struct err *err)
{
	static const struct xml_events events = {
		.open = x3d_scene_on_open, .close = x3d_scene_on_close, .text = x3d_scene_on_text};

	*s = (struct x3d_scene){.framed = framed, .root = framed};
	if (!xml_open(&s->xml, text, err) || !xml_read(&s->xml, &events, s))
		return false;
	return s->node_count > 0 ||
	       xml_refuse(&s->xml, s->begin, 4, "<Scene> in <X3D>", "there is no scene in this");
}

void x3d_scene_release(struct x3d_scene *s)
{
	xml_release(&s->xml);
	arena_release(&s->arena);
	free(s->nodes);
	free(s->attributes);
}

const struct x3d_attribute *x3d_attribute_find(const struct x3d_scene *s,
					       const struct x3d_node *node, struct bytes name)
{
	for (size_t i = 0; i < node->count; i++)
		if (bytes_equal(s->attributes[node->first + i].name, name))
			return &s->attributes[node->first + i];
	return NULL;
}

bool x3d_scene_mark_shared(struct x3d_scene *s)
{
	struct string_map names = {.slots = NULL};
	bool fine = true;

	for (size_t i = 0; fine && i < s->node_count; i++) {
		struct x3d_node *node = &s->nodes[i];
		int64_t first;

		if (!node->def.data)
			continue;
		first = string_map_add(&names, (const char *)node->def.data, (uint32_t)i);
		fine = first >= 0;
		if (fine && (size_t)first != i)
			node->shares_def = s->nodes[first].shares_def = true;
	}
	string_map_release(&names);
	return fine;
}

size_t x3d_scene_size(const struct x3d_scene *s)
{
	return s->arena.total + s->node_room * sizeof(*s->nodes) +
	       s->attribute_room * sizeof(*s->attributes) + s->xml.own.capacity;
}

/* ---- values ---- */

static bool is_separator(uint8_t c)
{
	return xml_is_space(c) || c == ',';
}

bool x3d_numbers_read(struct bytes text, struct x3d_numbers *out, struct err *err)
{
	out->count = 0;
	for (size_t at = 0, end; at < text.size; at = end) {
		double value = 0, *values;

		for (end = at; end < text.size && !is_separator(text.data[end]); end++)
			;
		if (end == at) {
			end++;
			continue;
		}
		if (!num_parse((const char *)text.data + at, end - at, '.', &value) ||
		    !isfinite((float)value))
			return false;
		values = array_room(out->values, out->count, &out->room, sizeof(*values));
		if (!values)
			return err_memory(err);
		out->values = values;
		values[out->count++] = value;
	}
	return true;
}
