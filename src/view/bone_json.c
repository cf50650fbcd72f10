/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bone_json.c - NAME.json: the curves of one bone, a key a line.
 *
 *   "channels": {
 *     "rotation": { "unit": "degree", "order": "XYZ", "interpolation": "linear", "static": false,
 * "keys": [
 *       {"frame": 0, "time": 0, "value": [-180, 5.729578, 11.460703]},
 *
 * "parent" is the bone's parent, and "rest" its rest pose relative to it, if a skeleton gives them.
 * The file does not store them: they are read-only here, and edited in skeleton.csv.
 *
 * A role without keys has no member. A component that is not finite is null, and then "raw" after
 * the value holds the float32 bits of all components, eight hex digits each.
 */
#include "bone_edit.h"
#include "bone_json_parts.h"
#include "model/curve_edit.h"
#include "text/num.h"
#include "views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const tangent_names[] = {"in", "out"};

static double key_seconds(const struct shown *at, double frame)
{
	return frame * anim_seconds_per_frame(at->anim, &at->anim->clips[at->clip]);
}

/*
 * Returns the kind in which a role's values are shown. A role without a curve has the kind that a
 * new curve would have.
 */
static enum curve_kind role_kind(const struct shown *at, enum role role)
{
	return role == ROLE_ROTATION ? curve_edit_shown_rotation(at->anim, bone_json_track(at))
				     : CURVE_VECTOR;
}

static unsigned kind_width(enum curve_kind kind)
{
	return kind == CURVE_QUATERNION ? 4 : 3;
}

/* ---- render ---- */

static bool key_is_finite(const struct curve *c, uint32_t key)
{
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		if (!isfinite(curve_value(c, key, axis)))
			return false;
	return true;
}

static void write_raw(const struct curve *c, uint32_t key, struct buf *out)
{
	bool first = true;

	buf_text(out, ", \"raw\": [");
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		json_write_comma(out, &first, axis ? " " : "");
		buf_format(out, "\"%08x\"", f32_bits((float)curve_value(c, key, axis)));
	}
	buf_char(out, ']');
}

/*
 * Writes a member "in" or "out", the key's tangent; and the bits of its numbers if one of them is
 * not finite.
 */
static void write_tangent(const struct curve *c, uint32_t key, enum tangent side, struct buf *out)
{
	bool finite = true;

	buf_format(out, ", \"%s\": [", tangent_names[side]);
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		float v = curve_tangent(c, key, side, axis);

		buf_text(out, axis ? ", " : "");
		json_write_f32(out, v);
		finite = finite && isfinite(v);
	}
	buf_char(out, ']');
	if (finite)
		return;
	buf_format(out, ", \"raw_%s\": [", tangent_names[side]);
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		buf_format(out, "%s\"%08x\"", axis ? ", " : "",
			   f32_bits(curve_tangent(c, key, side, axis)));
	buf_char(out, ']');
}

static void write_moment(const struct curve *c, uint32_t key, struct buf *out)
{
	if (c->timing && c->timing->between) {
		struct lane lane = curve_edit_moment_lane(c->timing->rate);

		buf_lane_text(out, curve_moment(c, key), &lane);
		return;
	}
	buf_unsigned(out, curve_frame(c, key));
}

static void bone_json_write_key(const struct shown *at, const struct curve *c, uint32_t key,
				struct buf *out)
{
	buf_text(out, "{\"frame\": ");
	write_moment(c, key, out);
	buf_text(out, ", \"time\": ");
	buf_seconds(out, key_seconds(at, curve_moment(c, key)));
	buf_text(out, ", \"value\": ");
	bone_json_write_values(c, key, out);
	if (!key_is_finite(c, key))
		write_raw(c, key, out);
	if (c->timing && c->timing->tangents) {
		write_tangent(c, key, TANGENT_IN, out);
		write_tangent(c, key, TANGENT_OUT, out);
	}
	buf_char(out, '}');
}

static void write_unit(enum role role, enum curve_kind kind, const char *length, struct buf *out)
{
	if (kind == CURVE_EULER)
		buf_text(out, "\"unit\": \"degree\", \"order\": \"XYZ\"");
	else if (kind == CURVE_QUATERNION)
		buf_text(out, "\"unit\": \"quaternion\", \"order\": \"XYZW\"");
	else
		buf_format(out, "\"unit\": \"%s\"", role == ROLE_SCALE ? "1" : length);
}

static uint32_t bone_json_shown_keys(const struct shown *at, enum role role)
{
	const struct curve *c = bone_json_track(at)->curve[role];

	return c ? curve_shown(c, at->anim->clips[at->clip].frames) : 0;
}

static void write_channel(const struct shown *at, enum role role, const struct curve *c,
			  uint32_t keys, struct buf *out)
{
	bool first = true;

	buf_format(out, "\"%s\": { ", role_names[role]);
	write_unit(role, role_kind(at, role), at->anim->format->length, out);
	buf_format(out, ", \"interpolation\": \"%s\", \"static\": %s, \"keys\": [",
		   at->anim->format->timed                       ? "cubic"
		   : c && c->interpolation == INTERPOLATION_STEP ? "step"
								 : "linear",
		   c && c->keyed ? "false" : "true");
	for (uint32_t key = 0; key < keys; key++) {
		json_write_comma(out, &first, "\n      ");
		bone_json_write_key(at, c, key, out);
	}
	buf_text(out, keys > 0 ? "\n    ]}" : "]}");
}

static void bone_json_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct track track;
	bool first = true;

	if (at->anim->format->keyframes) {
		keyframes_json_render(at, out);
		return;
	}
	track = curve_edit_shown(at->anim, bone_json_track(at), &arena);
	bone_json_write_head(at, out);
	buf_text(out, "  \"channels\": {");
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		uint32_t keys = bone_json_shown_keys(at, role);

		if (keys == 0)
			continue;
		json_write_comma(out, &first, "\n    ");
		write_channel(at, role, track.curve[role], keys, out);
	}
	buf_text(out, first ? "}\n}\n" : "\n  }\n}\n");
	out->failed |= arena.failed;
	arena_release(&arena);
}

/*
 * Renders the text with all channels empty; a text's members other than "channels" are compared
 * with it.
 */
static bool serve_without_keys(const struct shown *at, struct doc *own, struct err *err)
{
	struct buf text = BUF_INIT;
	bool first = true, fine;

	bone_json_write_head(at, &text);
	buf_text(&text, "\"channels\": {");
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		json_write_comma(&text, &first, "");
		write_channel(at, role, bone_json_track(at)->curve[role], 0, &text);
	}
	buf_text(&text, "}}");
	fine = doc_served(own, &text, err);
	buf_release(&text);
	return fine;
}

/* ---- parse ---- */

struct parse {
	const struct shown *at;
	struct doc doc, own; /* `own` is the text as served */
	struct anim *edited;
	struct err *err;
	bool changed;
	/* place of the first "time" that differs from the served one */
	size_t retimed_at, retimed_length;
};

static bool bone_json_read_time(struct parse *p, const struct spot *time, double frame)
{
	double given;

	if (!time->value)
		return true;
	if (!spot_real(time, p->err, &given))
		return false;
	if (p->retimed_length == 0 && !curve_edit_is_time_of(given, key_seconds(p->at, frame)))
		p->retimed_at = spot_place(time, &p->retimed_length);
	return true;
}

/* Reads the tangent "in" or "out" of a key. Either may be missing. */
static bool bone_json_read_tangent(struct parse *p, const struct spot *s, enum tangent side,
				   unsigned width, struct curve_edit_key *key)
{
	struct spot value = spot_member(s, tangent_names[side]);
	struct spot raw = spot_member(s, side == TANGENT_IN ? "raw_in" : "raw_out");
	struct curve_edit_key read = {.given = 0};

	if (!value.value && !raw.value)
		return true;
	if (!bone_json_read_components(raw.value ? &raw : &value, raw.value != NULL, width, &read,
				       p->err))
		return false;
	if (!key->tangents)
		key->tangents = arena_alloc(&p->edited->arena, 1, sizeof(*key->tangents));
	if (!key->tangents)
		return err_memory(p->err);
	key->tangents->given[side] = read.given;
	key->tangents->exact[side] = read.exact;
	memcpy(key->tangents->value[side], read.value, sizeof(read.value));
	memcpy(key->tangents->at[side], read.at, sizeof(read.at));
	memcpy(key->tangents->length[side], read.length, sizeof(read.length));
	return true;
}

/* Reads the frame of a key, which must be whole unless the format stores times. */
static bool read_moment(struct parse *p, const struct spot *frame, struct curve_edit_key *key)
{
	double moment;
	int64_t number;

	if (p->at->anim->format->timed && frame->value) {
		if (!spot_real(frame, p->err, &moment))
			return false;
		return curve_edit_set_moment(key, moment) ||
		       spot_refuse(frame, p->err, ERR_TEXT, "this is too far from all frames");
	}
	if (!spot_integer(frame, 0, UINT32_MAX, p->err, &number))
		return false;
	key->frame = (uint32_t)number;
	return true;
}

static bool bone_json_read_key(struct parse *p, const struct spot *s, unsigned width,
			       struct curve_edit_key *key)
{
	static const char *const timed[] = {"frame", "time",   "value",   "raw", "in",
					    "out",   "raw_in", "raw_out", NULL};
	static const char *const members[] = {"frame", "time", "value", "raw", NULL};
	struct spot frame = spot_member(s, "frame"), time = spot_member(s, "time");
	struct spot value = spot_member(s, "value"), raw = spot_member(s, "raw");
	size_t length;

	if (!spot_object(s, p->err) ||
	    !spot_known(s, p->at->anim->format->timed ? timed : members, NULL, p->err) ||
	    !read_moment(p, &frame, key))
		return false;
	key->row_at = spot_place(&frame, &length);
	key->row_length = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX);
	return bone_json_read_time(p, &time, curve_edit_moment(key)) &&
	       bone_json_read_components(raw.value ? &raw : &value, raw.value != NULL, width, key,
					 p->err) &&
	       bone_json_read_tangent(p, s, TANGENT_IN, width, key) &&
	       bone_json_read_tangent(p, s, TANGENT_OUT, width, key);
}

static bool bone_json_read_keys(struct parse *p, const struct spot *list,
				struct curve_edit_role *role)
{
	unsigned width = kind_width(role->kind);
	struct spot s;

	if (!spot_array(list, p->err))
		return false;
	role->keys = calloc(token_count(list->value) + 1, sizeof(*role->keys));
	if (!role->keys)
		return err_memory(p->err);
	for (s = spot_first(list); s.value; spot_next(&s))
		if (!bone_json_read_key(p, &s, width, &role->keys[role->count++]))
			return false;
	return true;
}

/*
 * Reads the "unit" of a rotation, which says whether its values are Euler angles or a quaternion.
 */
static bool bone_json_read_kind(struct parse *p, const struct spot *channel, enum curve_kind *kind)
{
	struct spot unit = spot_member(channel, "unit"), order = spot_member(channel, "order");
	const char *text;

	*kind = role_kind(p->at, ROLE_ROTATION);
	if (unit.value) {
		if (!spot_text(&unit, p->err, &text))
			return false;
		*kind = strcmp(text, "quaternion") == 0 ? CURVE_QUATERNION : CURVE_EULER;
		if (*kind == CURVE_EULER && strcmp(text, "degree") != 0) {
			spot_refuse(&unit, p->err, ERR_TEXT, "\"unit\" cannot be \"%.40s\"", text);
			return err_accept(p->err, "\"degree\" or \"quaternion\"");
		}
	}
	if (!order.value)
		return true;
	if (!spot_text(&order, p->err, &text))
		return false;
	if (strcmp(text, *kind == CURVE_QUATERNION ? "XYZW" : "XYZ") == 0)
		return true;
	spot_refuse(&order, p->err, ERR_TEXT, "\"order\" cannot be \"%.40s\"", text);
	return err_accept(p->err, "\"XYZ\" with degrees, \"XYZW\" with quaternions");
}

static bool bone_json_read_channel(struct parse *p, const struct spot *channel,
				   struct curve_edit_role *role)
{
	static const char *const editable[] = {"static", "keys", NULL};
	static const char *const editable_rotation[] = {"unit", "order", "static", "keys", NULL};
	bool rotation = role->role == ROLE_ROTATION;
	const struct token *served =
		token_member(token_member(p->own.root, "channels"), role_names[role->role]);
	struct spot is_static = spot_member(channel, "static"), keys = spot_member(channel, "keys");
	bool value = false;

	if (!spot_object(channel, p->err) ||
	    !spot_unchanged(channel, served, rotation ? editable_rotation : editable, p->err) ||
	    (rotation && !bone_json_read_kind(p, channel, &role->kind)) ||
	    (is_static.value && !spot_bool(&is_static, p->err, &value)))
		return false;
	role->is_static = is_static.value ? value : -1;
	role->at = spot_name_place(channel, &role->length);
	return bone_json_read_keys(p, &keys, role);
}

/* Reads the channels. A role without keys, or without a member, is removed. */
static bool read_roles(struct parse *p, const struct spot *channels, struct curve_edit_role *roles)
{
	if (!spot_object(channels, p->err) ||
	    !spot_known(channels, NULL, token_member(p->own.root, "channels"), p->err))
		return false;
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		struct spot channel = spot_member(channels, role_names[role]);
		struct curve_edit_role *text = &roles[role];

		*text = (struct curve_edit_role){
			.role = role, .is_static = -1, .text = p->doc.text};
		text->kind = role_kind(p->at, role);
		if (channel.value && !bone_json_read_channel(p, &channel, text))
			return false;
		text->columns = (uint8_t)((1u << kind_width(text->kind)) - 1);
	}
	return true;
}

static bool bone_json_read_channels(struct parse *p, const struct spot *channels)
{
	struct curve_edit_role roles[ROLE_COUNT] = {{0}};
	struct curve_edit_rows text = {.roles = roles, .text = p->doc.text};
	struct track now = *bone_json_track(p->at);
	bool fine = read_roles(p, channels, roles) &&
		    bone_edit_read(p->at, bone_json_track(p->at), &text, &p->edited->arena, &now,
				   p->err) &&
		    bone_edit_put(p->at, p->edited, p->at->track, &now, &p->changed, p->err);

	for (int role = 0; role < ROLE_COUNT; role++)
		free(roles[role].keys);
	return fine;
}

static bool read_bone_json(struct parse *p, struct bytes text)
{
	struct spot root, channels;
	bool copy;

	if (!doc_read(&p->doc, text, p->err))
		return false;
	p->edited = anim_edit(p->at->anim);
	if (!p->edited || !serve_without_keys(p->at, &p->own, p->err))
		return err_memory(p->err);
	root = spot_root(&p->doc);
	channels = spot_member(&root, "channels");
	if (!bone_json_check_head(&root, p->own.root, "channels", &copy, p->err) ||
	    !bone_json_read_channels(p, &channels))
		return false;
	if (p->changed || copy || p->retimed_length == 0)
		return true;
	return curve_edit_refuse_time(p->at->anim->format, p->retimed_at, p->retimed_length,
				      p->err);
}

static struct anim *bone_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct parse p = {.at = at, .err = err};

	if (at->anim->format->keyframes)
		return keyframes_json_parse(at, text, err);
	if (!read_bone_json(&p, text)) {
		anim_free(p.edited);
		p.edited = NULL;
	}
	doc_release(&p.doc);
	doc_release(&p.own);
	return p.edited;
}

const struct view view_bone_json = {
	.name = "json",
	.place = VIEW_OF_BONE,
	.file = ".json",
	.present = clip_has_bones,
	.render = bone_json_render,
	.parse = bone_json_parse,
	.posed = true,
	.names_file = true,
};
