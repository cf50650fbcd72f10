/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_json_parts.c - the head, values and components of NAME.json. */
#include "bone_json_parts.h"
#include "skeleton/skeleton.h"
#include "text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bone_json_write_values(const struct curve *c, uint32_t key, struct buf *out)
{
	bool first = true;

	buf_char(out, '[');
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		double v = curve_value(c, key, axis);

		json_write_comma(out, &first, axis ? " " : "");
		if (isfinite(v))
			buf_lane_text(out, v, &c->lane[axis]);
		else
			buf_text(out, "null");
	}
	buf_char(out, ']');
}

static void bone_json_parts_write_parent(const struct skeleton *skeleton, const struct joint *joint,
					 struct buf *out)
{
	if (joint && joint->parent != JOINT_ROOT)
		json_write_name(out, skeleton->joints[joint->parent].bone);
	else
		buf_text(out, "null");
}

static void bone_json_parts_write_rest(const struct joint *joint, struct buf *out)
{
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		buf_format(out, "%s\"%s\": [", role == 0 ? "  \"rest\": {" : ", ",
			   role_names[role]);
		for (unsigned axis = 0; axis < 3; axis++) {
			buf_text(out, axis > 0 ? ", " : "");
			buf_f32_text(out, (float)joint->rest[role][axis]);
		}
		buf_char(out, ']');
	}
	buf_text(out, "},\n");
}

void bone_json_write_head(const struct shown *at, struct buf *out)
{
	const struct clip *clip = &at->anim->clips[at->clip];
	const struct track *track = bone_json_track(at);
	const struct joint *joint = skeleton_joint(at->skeleton, track->label);

	buf_text(out, "{\n  \"format\": \"animfs.bone/1\",\n  \"file\": ");
	json_write_name(out, at->file_name);
	buf_text(out, ", \"clip\": ");
	json_write_name(out, clip->label);
	buf_text(out, ", \"bone\": ");
	json_write_name(out, track->label);
	buf_text(out, ", \"name\": ");
	json_write_name(out, track->name);
	buf_text(out, ",\n  \"parent\": ");
	bone_json_parts_write_parent(at->skeleton, joint, out);
	buf_format(out, ", \"space\": \"%s\", \"seconds_per_frame\": ",
		   at->anim->format->flat ? "model" : "parent");
	buf_seconds(out, anim_seconds_per_frame(at->anim, clip));
	buf_text(out, ",\n");
	if (joint && !joint->bare)
		bone_json_parts_write_rest(joint, out);
}

/* Returns whether only one of the two texts was made while a skeleton was known. */
static bool skeletons_differ(const struct spot *root, const struct token *served)
{
	return !token_member(root->value, "rest") != !token_member(served, "rest");
}

/* Returns whether the text names another file or clip than the one that it is saved to. */
static bool is_from_elsewhere(const struct spot *root, const struct token *served)
{
	static const char *const places[] = {"file", "clip"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct spot s = spot_member(root, places[i]);

		if (s.value && !spot_unchanged(&s, token_member(served, places[i]), NULL, NULL))
			return true;
	}
	return false;
}

bool bone_json_check_head(const struct spot *root, const struct token *served, const char *content,
			  bool *copy, struct err *err)
{
	const char *const here[] = {content, NULL};
	const char *const elsewhen[] = {content, "parent", "rest", NULL};
	const char *const elsewhere[] = {content, "file",   "clip",  "bone",
					 "name",  "parent", "space", "seconds_per_frame",
					 "rest",  NULL};
	bool differ = skeletons_differ(root, served);

	*copy = is_from_elsewhere(root, served);
	return spot_unchanged(root, served, *copy ? elsewhere : differ ? elsewhen : here, err);
}

static bool read_bits(const struct spot *s, struct err *err, double *out)
{
	const char *text;

	if (!spot_text(s, err, &text))
		return false;
	if (strlen(text) != 8 || strspn(text, "0123456789abcdefABCDEF") != 8) {
		spot_refuse(s, err, ERR_TEXT, "these are not the bits of a float32");
		return err_accept(err, "eight hex digits such as \"3f800000\"");
	}
	*out = (double)f32_from_bits((uint32_t)strtoul(text, NULL, 16));
	return true;
}

static bool bone_json_parts_read_component(const struct spot *s, bool raw, unsigned axis,
					   struct curve_edit_key *key, struct err *err)
{
	size_t length;

	key->at[axis] = spot_place(s, &length);
	key->length[axis] = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX);
	if (!raw && token_is(s->value, TOKEN_NULL))
		return true;
	key->given |= (uint8_t)(1u << axis);
	if (!raw)
		return spot_real(s, err, &key->value[axis]);
	key->exact |= (uint8_t)(1u << axis);
	return read_bits(s, err, &key->value[axis]);
}

bool bone_json_read_components(const struct spot *list, bool raw, unsigned width,
			       struct curve_edit_key *key, struct err *err)
{
	if (!spot_array(list, err))
		return false;
	if (token_count(list->value) != width) {
		spot_refuse(list, err, ERR_TEXT, "\"%s\" must have %u components, not %zu",
			    list->member, width, token_count(list->value));
		return err_accept(err, "%u numbers between commas; decimals have a point", width);
	}
	for (struct spot s = spot_first(list); s.value; spot_next(&s))
		if (!bone_json_parts_read_component(&s, raw, (unsigned)s.index, key, err))
			return false;
	return true;
}
