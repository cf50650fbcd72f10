/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_read.h"

#include <stdlib.h>
#include <string.h>

/* bytes that Blender keeps of a name; fewer where it would cut a character */
#define CUT_NAME 63

struct reading {
	struct gltf_file *file;
	struct gltf_nodes *out;
	uint32_t *of_track;
	struct motion_names names;
	struct err *err;
};

static bool gltf_nodes_read_name(struct reading *r, const struct spot *node, uint32_t index)
{
	struct spot name = spot_member(node, "name");
	const char *text;
	uint32_t track;

	r->out->nodes[index].track = GLTF_NONE;
	if (!name.value)
		return true;
	if (!spot_text(&name, r->err, &text))
		return false;
	track = motion_names_find(&r->names, text);
	if (track == GLTF_NONE && strlen(text) > CUT_NAME - 4 && strlen(text) <= CUT_NAME)
		track = motion_names_find_cut(&r->names, text);
	r->out->nodes[index].track = track;
	return true;
}

static bool read_children(struct reading *r, const struct spot *node, uint32_t index)
{
	struct spot children = spot_member(node, "children");

	if (!children.value)
		return true;
	if (!spot_array(&children, r->err))
		return false;
	for (struct spot child = spot_first(&children); child.value; spot_next(&child)) {
		uint32_t to = 0;

		if (!gltf_index(&child, r->out->count, r->err, &to))
			return false;
		if (r->out->nodes[to].parent != GLTF_NONE)
			return spot_refuse(&child, r->err, ERR_TEXT, "node %u has two parents",
					   (unsigned)to);
		r->out->nodes[to].parent = index;
	}
	return true;
}

static bool read_nodes(struct reading *r)
{
	for (uint32_t i = 0; i < r->out->count; i++)
		r->out->nodes[i].parent = GLTF_NONE;
	for (uint32_t i = 0; i < r->out->count; i++) {
		struct spot node = gltf_element(&r->file->nodes, i);

		if (!spot_object(&node, r->err) || !gltf_nodes_read_name(r, &node, i) ||
		    !read_children(r, &node, i))
			return false;
	}
	return true;
}

static bool read_joints(struct reading *r, const struct spot *skin)
{
	struct spot joints = spot_member(skin, "joints");

	if (!spot_array(&joints, r->err))
		return false;
	for (struct spot joint = spot_first(&joints); joint.value; spot_next(&joint)) {
		uint32_t node = 0;

		if (!gltf_index(&joint, r->out->count, r->err, &node))
			return false;
		r->out->nodes[node].joint = true;
	}
	return true;
}

static bool gltf_nodes_read_skins(struct reading *r)
{
	struct spot skins = spot_member(&r->file->root, "skins");

	for (struct spot skin = spot_first(&skins); skin.value; spot_next(&skin))
		if (!read_joints(r, &skin))
			return false;
	return true;
}

/* ---- what is animated ---- */

/*
 * Marks the nodes that an animation has a channel for. Malformed channels are skipped here; they
 * are refused when their animation is read, if it is the chosen one.
 */
static void mark_animated(struct reading *r)
{
	struct spot animations = spot_member(&r->file->root, "animations");

	for (struct spot a = spot_first(&animations); a.value; spot_next(&a)) {
		struct spot channels = spot_member(&a, "channels");

		for (struct spot c = spot_first(&channels); c.value; spot_next(&c)) {
			uint32_t node;
			unsigned role;

			if (gltf_target(&c, r->out->count, NULL, &node, &role) && node != GLTF_NONE)
				r->out->nodes[node].animated = true;
		}
	}
}

/* ---- names that are nearly those of bones ---- */

/* A bone that no node is named like, or a node that is no bone. */
struct stranger {
	const char *key;
	uint32_t index;
	bool is_node;
};

static int by_key(const void *pa, const void *pb)
{
	return strcmp(((const struct stranger *)pa)->key, ((const struct stranger *)pb)->key);
}

static bool add_stranger(struct reading *r, struct stranger *list, size_t *count, const char *name,
			 uint32_t index, bool is_node, bool prefix)
{
	char *key = name ? motion_names_key(name, prefix, &r->file->arena) : NULL;

	if (key && *key)
		list[(*count)++] = (struct stranger){key, index, is_node};
	return key || !name;
}

static bool list_strangers(struct reading *r, bool prefix, struct stranger *list, size_t *count)
{
	const struct clip *clip = r->out->clip;
	bool fine = true;

	for (uint32_t i = 0; fine && i < clip->track_count; i++)
		if (r->of_track[i] == GLTF_NONE)
			fine = add_stranger(r, list, count, clip->tracks[i].label, i, false,
					    prefix);
	for (uint32_t i = 0; fine && i < r->out->count; i++) {
		const struct token *node = r->file->nodes.elements[i];

		if (r->out->nodes[i].track == GLTF_NONE && r->out->nodes[i].animated)
			fine = add_stranger(r, list, count, token_text(token_member(node, "name")),
					    i, true, prefix);
	}
	return fine;
}

/* Matches strangers by motion_names_key, where only one bone and one node have a key. */
static bool match_strangers(struct reading *r, bool prefix)
{
	size_t most = (size_t)r->out->clip->track_count + r->out->count, count = 0, end;
	struct stranger *list = arena_alloc(&r->file->arena, most, sizeof(*list));

	if (!list || !list_strangers(r, prefix, list, &count))
		return err_memory(r->err);
	qsort(list, count, sizeof(*list), by_key);
	for (size_t i = 0; i < count; i = end) {
		const struct stranger *bone = &list[i], *node = &list[i];

		for (end = i; end < count && by_key(&list[end], &list[i]) == 0; end++)
			*(list[end].is_node ? &node : &bone) = &list[end];
		if (end != i + 2 || !node->is_node || bone->is_node)
			continue;
		r->out->nodes[node->index].track = bone->index;
		r->of_track[bone->index] = node->index;
	}
	return true;
}

static bool has_missing(const struct reading *r)
{
	uint32_t i = 0;

	while (i < r->out->clip->track_count && r->of_track[i] != GLTF_NONE)
		i++;
	return i < r->out->clip->track_count;
}

/* ---- which node is which bone ---- */

/* Makes a node a bone's node. Of two nodes with the bone's name, the joint of a skin is chosen. */
static bool settle_node(struct reading *r, uint32_t node)
{
	struct gltf_node *nodes = r->out->nodes;
	uint32_t *of = &r->of_track[nodes[node].track];
	struct spot spot = gltf_element(&r->file->nodes, node);

	if (*of != GLTF_NONE && nodes[*of].joint == nodes[node].joint) {
		spot_refuse(&spot, r->err, ERR_TEXT, "two nodes are named \"%.100s\"",
			    r->out->clip->tracks[nodes[node].track].label);
		return err_accept(r->err, "one node for each bone");
	}
	if (*of != GLTF_NONE && nodes[*of].joint) {
		nodes[node].track = GLTF_NONE;
		return true;
	}
	if (*of != GLTF_NONE)
		nodes[*of].track = GLTF_NONE;
	*of = node;
	return true;
}

/*
 * Marks the ancestors of a node. The number of steps is limited to that of the nodes, since the
 * hierarchy may have cycles.
 */
static void mark_above(struct gltf_nodes *out, uint32_t node)
{
	for (node = out->nodes[node].parent; node != GLTF_NONE && !out->nodes[node].above;
	     node = out->nodes[node].parent)
		out->nodes[node].above = true;
}

static bool refuse_strangers(struct reading *r)
{
	const struct clip *clip = r->out->clip;
	struct buf names = BUF_INIT;

	for (uint32_t i = 0; i < clip->track_count && i < 8; i++)
		buf_format(&names, "%s%s", i > 0 ? ", " : "", clip->tracks[i].label);
	if (clip->track_count > 8)
		buf_text(&names, ", ...");
	buf_char(&names, '\0');
	spot_refuse(&r->file->nodes.list, r->err, ERR_TEXT,
		    "no node has the name of a bone of the clip");
	if (!names.failed)
		err_accept(r->err, "nodes of these names: %s", (const char *)names.data);
	buf_release(&names);
	return false;
}

static bool settle_nodes(struct reading *r)
{
	bool found = false;

	for (uint32_t i = 0; i < r->out->clip->track_count; i++)
		r->of_track[i] = GLTF_NONE;
	for (uint32_t i = 0; i < r->out->count; i++)
		if (r->out->nodes[i].track != GLTF_NONE && !settle_node(r, i))
			return false;
	mark_animated(r);
	if (has_missing(r) && !(match_strangers(r, false) && match_strangers(r, true)))
		return false;
	r->out->lacks_some = has_missing(r);
	for (uint32_t i = 0; i < r->out->count; i++) {
		if (r->out->nodes[i].track == GLTF_NONE)
			continue;
		found = true;
		mark_above(r->out, i);
	}
	return found || refuse_strangers(r);
}

bool gltf_read_nodes(struct gltf_file *f, const struct clip *clip, struct gltf_nodes *out,
		     struct err *err)
{
	struct reading r = {.file = f, .out = out, .err = err};

	if (!spot_array(&f->nodes.list, err))
		return false;
	*out = (struct gltf_nodes){.clip = clip, .count = f->nodes.count};
	out->nodes = arena_alloc(&f->arena, out->count, sizeof(*out->nodes));
	out->of_track = r.of_track = arena_alloc(&f->arena, clip->track_count, sizeof(*r.of_track));
	if (!motion_names_make(&r.names, clip, &f->arena) || f->arena.failed)
		return err_memory(err);
	return read_nodes(&r) && gltf_nodes_read_skins(&r) && settle_nodes(&r);
}
