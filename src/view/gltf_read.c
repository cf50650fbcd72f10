/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_read.h"

#include "motion_rate.h"
#include "util/nearest.h"

#include <math.h>
#include <string.h>

#define STILL 1e-5 /* smaller changes of a value are not motion */
/* tolerance of a rotation's length: components may be stored as bytes */
#define UNIT_TOLERANCE 0.05

struct reading {
	struct gltf_file *file;
	const struct gltf_nodes *nodes;
	struct gltf_list samplers;
	uint8_t *spoken; /* by track: a bit (1 << role) for each role that has a channel */
	struct motion_channel *channels;
	uint32_t count;
	struct err *err;
};

/* ---- choosing the animation ---- */

static bool is_named(const struct spot *animation, const char *name)
{
	const char *own = token_text(token_member(animation->value, "name"));

	return own && strcmp(own, name) == 0;
}

static bool refuse_animations(const struct spot *list, const char *label, struct err *err)
{
	struct buf names = BUF_INIT;
	size_t count = token_count(list->value);

	for (struct spot s = spot_first(list); s.value && s.index < 8; spot_next(&s)) {
		const char *name = token_text(token_member(s.value, "name"));

		buf_format(&names, "%s\"%.40s\"", s.index > 0 ? ", " : "", name ? name : "");
	}
	buf_char(&names, '\0');
	spot_refuse(list, err, ERR_TEXT, "none of the %zu animations is named \"%.100s\"", count,
		    label);
	if (!names.failed)
		err_accept(err, "one animation, or one of that name; these are %s",
			   (const char *)names.data);
	buf_release(&names);
	return false;
}

/* Chooses the animation named like the clip, else the only one. */
static bool choose_animation(const struct spot *list, const char *label, struct spot *out,
			     struct err *err)
{
	size_t count = token_count(list->value);

	if (count == 0)
		return spot_refuse(list, err, ERR_TEXT, "there is no animation");
	for (*out = spot_first(list); out->value; spot_next(out)) {
		if (count == 1 || is_named(out, label))
			return spot_object(out, err);
	}
	return refuse_animations(list, label, err);
}

/* ---- one channel ---- */

static bool read_interpolation(const struct spot *sampler, struct err *err,
			       enum motion_interpolation *out)
{
	static const char *const names[] = {"STEP", "LINEAR", "CUBICSPLINE"};
	struct spot s = spot_member(sampler, "interpolation");
	const char *text = names[MOTION_LINEAR];

	if (s.value && !spot_text(&s, err, &text))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*out = (enum motion_interpolation)i;
			return true;
		}
	spot_refuse(&s, err, ERR_TEXT, "there is no interpolation \"%.40s\"", text);
	return err_accept(err, "\"LINEAR\", \"STEP\" or \"CUBICSPLINE\"");
}

/* Reads the numbers of an accessor; refuses any that is not finite. */
static bool gltf_read_numbers(struct reading *r, const struct spot *index, unsigned width,
			      struct gltf_numbers *out)
{
	if (!gltf_numbers(r->file, index, width, out, r->err))
		return false;
	for (size_t i = 0; i < (size_t)out->count * width; i++)
		if (!isfinite(out->values[i]))
			return spot_refuse(index, r->err, ERR_TEXT,
					   "element %zu of this accessor is not a finite number",
					   i / width);
	return true;
}

static bool check_times(const struct spot *input, const struct gltf_numbers *times, struct err *err)
{
	for (uint32_t i = 1; i < times->count; i++)
		if (times->values[i] < times->values[i - 1])
			return spot_refuse(input, err, ERR_TEXT,
					   "time %u is less than the one before it", (unsigned)i);
	return true;
}

/* Normalises rotations, and scales their tangents alike. */
static bool make_unit(const struct reading *r, const struct motion_channel *c, double *values)
{
	unsigned parts = c->interpolation == MOTION_CUBIC ? 3 : 1;

	for (uint32_t key = 0; key < c->count; key++, values += 4 * parts) {
		const double *q = values + 4 * (parts / 2);
		double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

		if (!(fabs(length - 1) <= UNIT_TOLERANCE)) {
			err_at(r->err, ERR_TEXT, c->at, c->length,
			       "the rotation of key %u has length %.6g, not 1", (unsigned)key,
			       length);
			return false;
		}
		for (unsigned i = 0; i < 4 * parts; i++)
			values[i] /= length;
	}
	return true;
}

static bool read_values(struct reading *r, const struct spot *output, struct motion_channel *c)
{
	unsigned width = c->role == ROLE_ROTATION ? 4 : 3;
	uint64_t wanted = (uint64_t)c->count * (c->interpolation == MOTION_CUBIC ? 3 : 1);
	struct gltf_numbers numbers;
	double *values;

	if (!gltf_read_numbers(r, output, width, &numbers))
		return false;
	if (numbers.count != wanted)
		return spot_refuse(output, r->err, ERR_TEXT,
				   "there are %u values, and %llu are needed",
				   (unsigned)numbers.count, (unsigned long long)wanted);
	values = arena_alloc(&r->file->arena, numbers.count, width * sizeof(*values));
	if (!values)
		return err_memory(r->err);
	memcpy(values, numbers.values, (size_t)numbers.count * width * sizeof(*values));
	c->values = values;
	return c->role != ROLE_ROTATION || make_unit(r, c, values);
}

/*
 * Sets the place of a channel's times in the text. Call it after reading the numbers of the input,
 * so that its index is valid.
 */
static void place_input(const struct reading *r, const struct spot *index, struct motion_channel *c)
{
	struct spot accessor;

	if (!gltf_index(index, r->file->accessors.count, NULL, &c->input))
		return;
	accessor = gltf_element(&r->file->accessors, c->input);
	c->input_at = spot_place(&accessor, &c->input_length);
}

static bool read_sampler(struct reading *r, const struct spot *channel, struct motion_channel *c)
{
	struct spot index = spot_member(channel, "sampler"), sampler, input, output;
	struct gltf_numbers times;
	uint32_t number = 0;

	if (!gltf_index(&index, r->samplers.count, r->err, &number))
		return false;
	sampler = gltf_element(&r->samplers, number);
	input = spot_member(&sampler, "input");
	output = spot_member(&sampler, "output");
	if (!read_interpolation(&sampler, r->err, &c->interpolation) ||
	    !gltf_read_numbers(r, &input, 1, &times) || !check_times(&input, &times, r->err))
		return false;
	c->count = times.count;
	c->times = times.values;
	place_input(r, &input, c);
	return read_values(r, &output, c);
}

/* ---- all channels ---- */

static bool moves(const struct motion_channel *c)
{
	unsigned width = c->role == ROLE_ROTATION ? 4 : 3;
	unsigned parts = c->interpolation == MOTION_CUBIC ? 3 : 1;

	for (uint32_t key = 1; key < c->count; key++)
		for (unsigned axis = 0; axis < width; axis++) {
			size_t first = (size_t)width * (parts / 2) + axis;
			double v = c->values[first + (size_t)key * parts * width];

			if (fabs(v - c->values[first]) > STILL)
				return true;
		}
	return false;
}

/*
 * Returns the bone whose name is most like this one, of those without a node; the first of several.
 */
static const char *missing_bone(const struct reading *r, const char *name)
{
	const struct clip *clip = r->nodes->clip;
	struct nearest near = nearest_to(name, strlen(name));
	const char *first = NULL;

	for (uint32_t i = 0; i < clip->track_count; i++) {
		const char *label = clip->tracks[i].label;

		if (r->nodes->of_track[i] != GLTF_NONE)
			continue;
		nearest_offer(&near, label);
		if (!first || (near.count == 1 && strcmp(near.names[0], label) == 0))
			first = label;
	}
	return first;
}

/* Refuses the motion of a node that may be the bone without a node under another name. */
static bool refuse_stranger(struct reading *r, const struct spot *channel, const char *name)
{
	const char *bone = missing_bone(r, name);

	spot_refuse(channel, r->err, ERR_TEXT,
		    "the node \"%.100s\" is animated and is no bone of the clip, and the bone "
		    "\"%.100s\" has no node",
		    name, bone);
	return err_accept(r->err,
			  "a node named \"%.100s\"; animated nodes beside those of all bones are "
			  "ignored",
			  bone);
}

/*
 * Returns whether a channel can be ignored. It cannot if it moves an ancestor of a bone, since no
 * curve could store that motion; nor if a bone has no node, since the channel's node may be that
 * bone.
 */
static bool can_ignore(struct reading *r, const struct spot *channel, struct motion_channel *c,
		       uint32_t node)
{
	const struct gltf_node *of = &r->nodes->nodes[node];
	const char *name = token_text(token_member(r->file->nodes.elements[node], "name"));

	if (!of->above && !r->nodes->lacks_some)
		return true;
	if (!read_sampler(r, channel, c))
		return false;
	if (!of->above && (moves(c) || of->joint))
		return refuse_stranger(r, channel, name ? name : "");
	if (!moves(c))
		return true;
	spot_refuse(channel, r->err, ERR_STORE,
		    "the node \"%.100s\" moves; it is the parent of a bone, and not a bone itself",
		    name ? name : "");
	return err_accept(r->err, "the motion of bones that the clip has");
}

static bool gltf_read_channel(struct reading *r, const struct spot *channel)
{
	struct motion_channel c = {0};
	uint32_t node, track;
	unsigned role;

	if (!gltf_target(channel, r->nodes->count, r->err, &node, &role))
		return false;
	if (node == GLTF_NONE || role == ROLE_COUNT)
		return true;
	track = r->nodes->nodes[node].track;
	c = (struct motion_channel){.track = track, .role = (enum role)role};
	c.at = spot_place(channel, &c.length);
	if (track == GLTF_NONE)
		return can_ignore(r, channel, &c, node);
	if (r->spoken[track] & 1u << role)
		return spot_refuse(channel, r->err, ERR_TEXT, "the %s of \"%.100s\" is given twice",
				   role_names[role], r->nodes->clip->tracks[track].label);
	r->spoken[track] |= (uint8_t)(1u << role);
	if (!read_sampler(r, channel, &c))
		return false;
	r->channels[r->count++] = c;
	return true;
}

static bool gltf_read_channels(struct reading *r, const struct spot *animation)
{
	struct spot list = spot_member(animation, "channels");
	size_t most = (size_t)r->nodes->clip->track_count * ROLE_COUNT;

	if (!spot_array(&list, r->err) ||
	    !gltf_list(r->file, animation, "samplers", r->err, &r->samplers) ||
	    !spot_array(&r->samplers.list, r->err))
		return false;
	r->spoken = arena_alloc(&r->file->arena, r->nodes->clip->track_count, 1);
	r->channels = arena_alloc(&r->file->arena, most, sizeof(*r->channels));
	if (r->file->arena.failed)
		return err_memory(r->err);
	for (struct spot channel = spot_first(&list); channel.value; spot_next(&channel))
		if (!gltf_read_channel(r, &channel))
			return false;
	return true;
}

/*
 * Checks that the text is relative to the present base clip. A served text names its base; other
 * programs may drop the name, and the present base is assumed.
 */
static bool check_base(const struct spot *animation, const char *base, struct err *err)
{
	struct spot extras = spot_member(animation, "extras"), said = spot_member(&extras, "base");
	const char *text = token_text(said.value);

	if (text && base && strcmp(text, base) == 0)
		return true;
	if (text) {
		spot_refuse(&said, err, ERR_TEXT, "this is the motion on top of \"%.100s\"", text);
		return err_accept(
			err,
			base ? "the motion on top of \"%.100s\", which the clip is shown on"
			     : "the clip's own motion, or --base=CLIP",
			base);
	}
	if (!base || !token_member(extras.value, "frames"))
		return true;
	spot_refuse(&extras, err, ERR_TEXT, "this is the motion of a clip that is shown by itself");
	return err_accept(err, "the motion on top of \"%.100s\", which the clip is shown on", base);
}

bool gltf_read_motion(struct gltf_file *f, const struct gltf_nodes *nodes, const char *base,
		      struct motion *out, struct err *err)
{
	struct spot list = spot_member(&f->root, "animations"), animation;
	struct reading r = {.file = f, .nodes = nodes, .err = err};

	if (!spot_array(&list, err) ||
	    !choose_animation(&list, nodes->clip->label, &animation, err) ||
	    !check_base(&animation, base, err) || !gltf_read_channels(&r, &animation))
		return false;
	*out = (struct motion){r.count, r.channels};
	return true;
}

/* ---- the frame rate ---- */

/*
 * Lists the times of all channels for the check of the frame rate. Splines are left out: they
 * define the motion between their keys, so their keys may be at any time.
 */
static uint32_t list_times(const struct gltf_nodes *nodes, const struct motion *motion,
			   struct motion_times *times, uint32_t *channel)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < motion->count; i++) {
		const struct motion_channel *c = &motion->channels[i];

		if (c->interpolation == MOTION_CUBIC)
			continue;
		channel[count] = i;
		times[count++] = (struct motion_times){
			c->times, c->count, nodes->clip->tracks[c->track].curve[c->role]};
	}
	return count;
}

static bool refuse_rate(const struct motion_channel *c, const struct motion_rate *rate,
			double seconds, struct err *err)
{
	err_at(err, ERR_TEXT, c->input_at, c->input_length,
	       "these keys (accessor %u) were written at %.6g frames a second, and the clip has "
	       "%.6g: %u of %u keys are between its frames",
	       (unsigned)c->input, rate->hz, 1 / seconds, (unsigned)rate->off,
	       (unsigned)rate->keys);
	return err_accept(err,
			  "keys at %.6g frames a second: in Blender, set that under Output "
			  "Properties > Frame Rate and import clip.gltf again; or "
			  "--gltf-rate=resample, which interpolates between these keys",
			  1 / seconds);
}

bool gltf_read_check_rate(struct gltf_file *f, const struct gltf_nodes *nodes,
			  const struct motion *motion, double seconds, struct err *err)
{
	struct motion_times *times = arena_alloc(&f->arena, motion->count, sizeof(*times));
	uint32_t *channel = arena_alloc(&f->arena, motion->count, sizeof(*channel));
	struct motion_rate rate;
	uint32_t count;

	if (!times || !channel)
		return err_memory(err);
	count = list_times(nodes, motion, times, channel);
	return !motion_rate_other(times, count, seconds, &rate) ||
	       refuse_rate(&motion->channels[channel[rate.first_off]], &rate, seconds, err);
}
