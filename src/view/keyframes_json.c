/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keyframes_json.c - NAME.json in formats that store keyframes, one keyframe per line:
 *
 *   "keyframes": [
 *     {"frame": 0, "flags": 0, "rotation": [0, 90, 0], "scale": [1, 1, 1], "position": [0, 0, 0]},
 *
 * A role that a keyframe has no value for has no member. A frame may have several keyframes.
 */
#include "bone_edit.h"
#include "bone_json_parts.h"
#include "csv.h"

#include <stdlib.h>

/* The parts of a keyframe, in the order in which they are written. */
static const struct part {
	const char *member;
	enum role role;
} parts[ROLE_COUNT] = {
	{"rotation", ROLE_ROTATION},
	{"scale", ROLE_SCALE},
	{"position", ROLE_TRANSLATION},
};

/* ---- render ---- */

void keyframes_json_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct track track = curve_edit_shown(at->anim, bone_json_track(at), &arena);
	const struct keyframes *k = track.keyframes;
	uint32_t next[ROLE_COUNT] = {0, 0, 0}, count = k ? k->count : 0;

	bone_json_write_head(at, out);
	buf_text(out, "  \"keyframes\": [");
	for (uint32_t i = 0; i < count && !out->failed; i++) {
		buf_format(out, "%s\n    {\"frame\": %u, \"flags\": %u", i ? "," : "",
			   (unsigned)k->frames[i], (unsigned)k->flags[i]);
		for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
			enum role role = parts[p].role;

			if (!(k->roles[i] & 1u << role))
				continue;
			buf_format(out, ", \"%s\": ", parts[p].member);
			bone_json_write_values(track.curve[role], next[role]++, out);
		}
		buf_char(out, '}');
	}
	buf_text(out, count ? "\n  ]\n}\n" : "]\n}\n");
	out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- parse ---- */

struct parse {
	const struct shown *at;
	struct doc doc, own; /* `own` is the text as served */
	struct curve_edit_role roles[ROLE_COUNT];
	struct curve_edit_key *keys; /* keys of all roles that were read so far */
	struct curve_edit_row *rows;
	struct anim *edited;
	struct err *err;
};

/*
 * Reads the value of one role. Rotations may be Euler angles or quaternions: the first one in the
 * text decides which, for all.
 */
static bool keyframes_json_read_part(struct parse *p, const struct spot *s, enum role role,
				     uint32_t row)
{
	struct curve_edit_role *text = &p->roles[role];

	if (!s->value)
		return true;
	if (text->at == 0 && role == ROLE_ROTATION && token_count(s->value) == 4) {
		text->kind = CURVE_QUATERNION;
		text->columns = 15;
	}
	if (text->at == 0)
		text->at = spot_name_place(s, &text->length);
	return bone_json_read_components(s, false, text->kind == CURVE_QUATERNION ? 4 : 3,
					 &text->keys[row], p->err);
}

static bool keyframes_json_read_flags(struct parse *p, const struct spot *s,
				      struct curve_edit_row *row)
{
	uint8_t settable = p->at->anim->format->flags;
	int64_t flags;

	if (!s->value)
		return true;
	if (!spot_integer(s, 0, UINT8_MAX, p->err, &flags))
		return false;
	row->flags = (struct curve_edit_flags){.given = true, .value = (uint8_t)flags};
	if (!(row->flags.value & ~settable))
		return true;
	spot_refuse(s, p->err, ERR_TEXT, "%u are no flags", (unsigned)row->flags.value);
	return csv_accept_flags(settable, p->err);
}

static bool read_keyframe(struct parse *p, const struct spot *s, uint32_t i)
{
	static const char *const members[] = {"frame", "flags",    "rotation",
					      "scale", "position", NULL};
	struct curve_edit_row *row = &p->rows[i];
	struct spot frame = spot_member(s, "frame"), flags = spot_member(s, "flags");
	int64_t number;
	size_t length;

	if (!spot_object(s, p->err) || !spot_known(s, members, NULL, p->err) ||
	    !spot_integer(&frame, 0, UINT32_MAX, p->err, &number))
		return false;
	row->frame = (uint32_t)number;
	row->row_at = spot_place(&frame, &length);
	row->row_length = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX);
	for (size_t r = 0; r < ROLE_COUNT; r++) {
		struct curve_edit_key *key = &p->roles[r].keys[i];

		key->frame = row->frame;
		key->row_at = row->row_at;
		key->row_length = row->row_length;
	}
	for (size_t n = 0; n < ARRAY_SIZE(parts); n++) {
		struct spot part = spot_member(s, parts[n].member);

		if (!keyframes_json_read_part(p, &part, parts[n].role, i))
			return false;
	}
	return keyframes_json_read_flags(p, &flags, row);
}

static bool begin_keyframes(struct parse *p, size_t count)
{
	p->rows = calloc(count + 1, sizeof(*p->rows));
	p->keys = calloc(count + 1, ROLE_COUNT * sizeof(*p->keys));
	if (!p->rows || !p->keys)
		return err_memory(p->err);
	for (enum role role = 0; role < ROLE_COUNT; role++)
		p->roles[role] = (struct curve_edit_role){
			.role = role,
			.kind = role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR,
			.columns = 7,
			.is_static = -1,
			.count = (uint32_t)count,
			.keys = p->keys + role * count,
			.text = p->doc.text,
		};
	return true;
}

static bool read_keyframes(struct parse *p, const struct spot *list)
{
	size_t count;
	struct spot s;

	if (!spot_array(list, p->err))
		return false;
	count = token_count(list->value);
	if (count == 0 && bone_json_track(p->at)->keyframes) {
		spot_refuse(list, p->err, ERR_TEXT, "there is no keyframe in the list");
		return err_accept(p->err, "one at least; the list of bones is edited in clip.json");
	}
	if (!begin_keyframes(p, count))
		return false;
	for (s = spot_first(list); s.value; spot_next(&s))
		if (!read_keyframe(p, &s, (uint32_t)s.index))
			return false;
	return true;
}

static bool set_track(struct parse *p)
{
	struct curve_edit_rows text = {p->roles[0].count, p->rows, p->roles, p->doc.text};
	const struct track *old = bone_json_track(p->at);
	struct track now = *old;
	bool changed;

	return bone_edit_read(p->at, old, &text, &p->edited->arena, &now, p->err) &&
	       bone_edit_put(p->at, p->edited, p->at->track, &now, &changed, p->err);
}

static bool keyframes_json_read_bone(struct parse *p, struct bytes text)
{
	struct buf own = BUF_INIT;
	struct spot root, list;
	bool copy, fine;

	if (!doc_read(&p->doc, text, p->err))
		return false;
	bone_json_write_head(p->at, &own);
	buf_text(&own, "\"keyframes\": []}");
	fine = doc_served(&p->own, &own, p->err);
	buf_release(&own);
	p->edited = anim_edit(p->at->anim);
	if (!fine || !p->edited)
		return err_memory(p->err);
	root = spot_root(&p->doc);
	list = spot_member(&root, "keyframes");
	return bone_json_check_head(&root, p->own.root, "keyframes", &copy, p->err) &&
	       read_keyframes(p, &list) && set_track(p);
}

struct anim *keyframes_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct parse p = {.at = at, .err = err};

	if (!keyframes_json_read_bone(&p, text)) {
		anim_free(p.edited);
		p.edited = NULL;
	}
	doc_release(&p.doc);
	doc_release(&p.own);
	free(p.keys);
	free(p.rows);
	return p.edited;
}
