/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9clip_json.c - the JSON form of a clip, as the mods of Final Fantasy IX read it.
 *
 *   {"name": "x", "frameRate": 30, "transform": [
 *     {"bone": "bone000/bone001",
 *      "localRotation": [{"time": 0, "x": 0, ..., "xInnerTangent": 0, ..., "wOuterTangent": 0}],
 *      "localPosition": [...], "localScale": [...]}]}
 *
 * The brace must be the first byte, otherwise the game takes the file for the binary form. All
 * members may be missing: the rate is 30 then, a tangent 0. Entries without "bone" and keys without
 * "time" are skipped, unknown members ignored; numbers may be strings. A component that a key lacks
 * has no key there. If a bone is named twice, the later list of a kind counts.
 */
#include "ff9clip_file.h"

#include "text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT 0x7FC00000u

const char *const ff9clip_json_roles[ROLE_COUNT] = {"localPosition", "localRotation", "localScale"};

const char *ff9clip_json_name(unsigned part, unsigned axis)
{
	static const char *const names[3][4] = {
		{"x", "y", "z", "w"},
		{"xInnerTangent", "yInnerTangent", "zInnerTangent", "wInnerTangent"},
		{"xOuterTangent", "yOuterTangent", "zOuterTangent", "wOuterTangent"},
	};

	return names[part][axis];
}

/* Reads a number, or a string that contains one, as float32. */
static bool ff9clip_json_number(const struct token *t, float *out)
{
	if (token_is(t, TOKEN_NUMBER))
		return num_parse_f32(t->text, t->length, '.', out) && isfinite(*out);
	return token_is(t, TOKEN_STRING) && num_parse_f32(t->text, strlen(t->text), '.', out) &&
	       isfinite(*out);
}

static bool ff9clip_json_refuse(const struct ff9clip *f, const struct token *t, const char *member,
				const char *what, struct err *err)
{
	struct spot s = {.doc = &f->doc, .value = t};
	size_t length, at = spot_place(&s, &length);

	return err_at(err, ERR_FORMAT, at, length, "\"%s\" is not %s", member, what);
}

/* Reads a member's number into `to`; does nothing if the member is missing. */
static bool ff9clip_json_read_number(const struct ff9clip *f, const struct token *object,
				     const char *member, uint8_t *to, bool *there, struct err *err)
{
	const struct token *t = token_member(object, member);
	float number = 0;

	*there = t != NULL;
	if (!t)
		return true;
	if (!ff9clip_json_number(t, &number))
		return ff9clip_json_refuse(f, t, member, "a number that a float32 can hold", err);
	put_f32(to, number);
	return true;
}

/* ---- keys ---- */

static bool ff9clip_json_read_key(const struct ff9clip *f, struct clip_curve *c, uint32_t key,
				  struct err *err)
{
	const struct token *object = c->keys[key];
	unsigned width = clip_width(c->role);
	uint8_t *value = c->values + 4 * (size_t)key * width;
	uint8_t *tangents = c->tangents + 8 * (size_t)key * width;
	bool there;

	if (!ff9clip_json_read_number(f, object, "time", c->times + 4 * (size_t)key, &there, err))
		return false;
	for (unsigned axis = 0; axis < width; axis++) {
		uint8_t *in = tangents + 4 * (size_t)axis, *out = in + 4 * (size_t)width;

		if (!ff9clip_json_read_number(f, object, ff9clip_json_name(1, axis), in, &there,
					      err) ||
		    !ff9clip_json_read_number(f, object, ff9clip_json_name(2, axis), out, &there,
					      err) ||
		    !ff9clip_json_read_number(f, object, ff9clip_json_name(0, axis),
					      value + 4 * (size_t)axis, &there, err))
			return false;
		if (there)
			continue;
		put_u32(value + 4 * (size_t)axis, ABSENT);
		c->absent[key] |= (uint8_t)(1u << axis);
	}
	return true;
}

static bool ff9clip_json_is_key(const struct token *t)
{
	return token_is(t, TOKEN_OBJECT) && token_member(t, "time");
}

static bool ff9clip_json_read_keys(struct ff9clip *f, struct clip_curve *c, struct err *err)
{
	uint32_t key = 0;

	c->keys = arena_alloc(&f->arena, c->count, sizeof(struct token *));
	c->absent = arena_alloc(&f->arena, c->count, 1);
	if (!c->keys || !c->absent)
		return err_memory(err);
	for (const struct token *t = token_first(c->list); t; t = token_next(c->list, t)) {
		if (!token_is(t, TOKEN_OBJECT))
			return ff9clip_json_refuse(f, t, ff9clip_json_roles[c->role],
						   "a list of objects", err);
		if (!ff9clip_json_is_key(t))
			continue;
		c->keys[key] = t;
		if (!ff9clip_json_read_key(f, c, key++, err))
			return false;
	}
	return true;
}

static uint32_t ff9clip_json_count_keys(const struct token *list)
{
	uint32_t count = 0;

	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		count += ff9clip_json_is_key(t);
	return count;
}

/* ---- bones ---- */

static bool ff9clip_json_read_list(struct ff9clip *f, const struct token *entry, enum role role,
				   struct err *err)
{
	const struct token *list = token_member(entry, ff9clip_json_roles[role]);
	struct spot s = {.doc = &f->doc, .value = list};
	struct clip_curve *c;
	size_t length;

	if (!list)
		return true;
	if (!token_is(list, TOKEN_LIST))
		return ff9clip_json_refuse(f, list, ff9clip_json_roles[role], "a list", err);
	c = ff9clip_add(f, role, ff9clip_json_count_keys(list));
	if (!c)
		return err_memory(err);
	c->path = token_text(token_member(entry, "bone"));
	c->list = list;
	c->at = spot_place(&s, &length);
	c->end = c->at + length;
	return ff9clip_json_read_keys(f, c, err);
}

static bool ff9clip_json_add_entry(struct ff9clip *f, const struct token *entry)
{
	struct clip_entry *entries =
		array_room(f->entries, f->entry_count, &f->entry_room, sizeof(*entries));

	if (!entries)
		return false;
	f->entries = entries;
	entries[f->entry_count++] = (struct clip_entry){.token = entry};
	return true;
}

static bool ff9clip_json_read_entry(struct ff9clip *f, const struct token *entry, struct err *err)
{
	const struct token *bone = token_member(entry, "bone");

	if (!token_is(entry, TOKEN_OBJECT))
		return ff9clip_json_refuse(f, entry, "transform", "a list of objects", err);
	if (!bone)
		return true;
	if (!token_is(bone, TOKEN_STRING))
		return ff9clip_json_refuse(f, bone, "bone", "a text", err);
	if (!ff9clip_json_add_entry(f, entry))
		return err_memory(err);
	for (enum role role = 0; role < ROLE_COUNT; role++)
		if (!ff9clip_json_read_list(f, entry, role, err))
			return false;
	return true;
}

static int ff9clip_json_by_bone(const void *pa, const void *pb)
{
	const struct clip_curve *a = pa, *b = pb;
	int order = strcmp(a->path, b->path);

	if (order == 0)
		order = (int)a->role - (int)b->role;
	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

/* Drops the earlier lists of a bone and role; only the last list is a curve. */
static void drop_replaced(struct ff9clip *f)
{
	uint32_t kept = 0;

	if (f->count)
		qsort(f->curves, f->count, sizeof(*f->curves), ff9clip_json_by_bone);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct clip_curve *c = &f->curves[i];

		if (i + 1 < f->count && c[1].role == c->role && strcmp(c[1].path, c->path) == 0)
			continue;
		f->curves[kept++] = *c;
	}
	f->count = kept;
}

static bool read_rate(struct ff9clip *f, struct err *err)
{
	uint8_t rate[4];

	put_f32(rate, CLIP_RATE);
	if (!ff9clip_json_read_number(f, f->doc.root, "frameRate", rate, &f->has_rate, err))
		return false;
	f->rate = get_f32(rate);
	return true;
}

bool ff9clip_read_json(struct ff9clip *f, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	const struct token *list;

	if (!doc_read(&f->doc, f->src, &why)) {
		if (why.code == ERR_MEMORY)
			return err_memory(err);
		return err_at(err, ERR_FORMAT, why.placed ? why.at : 0, why.length,
			      "this is not JSON: %s", why.message);
	}
	list = token_member(f->doc.root, "transform");
	f->name = token_text(token_member(f->doc.root, "name"));
	if (!read_rate(f, err))
		return false;
	if (list && !token_is(list, TOKEN_LIST))
		return ff9clip_json_refuse(f, list, "transform", "a list", err);
	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		if (!ff9clip_json_read_entry(f, t, err))
			return false;
	drop_replaced(f);
	return true;
}
