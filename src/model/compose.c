/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compose.h"

#include "rotation.h"

#include <fnmatch.h>
#include <math.h>

/* An additive clip and the base clip that it is shown on. */
struct pair {
	const struct clip *clip, *base;
	double pace; /* frames of the base per frame of the clip */
	struct arena *arena;
};

uint32_t compose_base(const struct anim *a, uint32_t clip, const struct base_rule *rules,
		      unsigned count)
{
	const char *label = a->clips[clip].label;

	for (unsigned i = 0; i < count; i++) {
		const struct clip *base = clip_labelled(a, 0, rules[i].clip);

		if (base && base != &a->clips[clip] && fnmatch(rules[i].pattern, label, 0) == 0)
			return (uint32_t)(base - a->clips);
	}
	return COMPOSE_NONE;
}

static struct pair pair_of(const struct anim *a, uint32_t clip, uint32_t base, struct arena *arena)
{
	struct pair p = {&a->clips[clip], &a->clips[base], 1, arena};

	p.pace = anim_seconds_per_frame(a, p.clip) / anim_seconds_per_frame(a, p.base);
	return p;
}

/*
 * Returns the frame of the base at a frame of the additive clip. After its last frame, a looping
 * base starts again; others hold.
 */
static double base_frame(const struct pair *p, uint32_t frame)
{
	double at = frame * p->pace, last = p->base->frames ? p->base->frames - 1 : 0;

	if (at <= last)
		return at;
	return p->base->loop && last > 0 ? fmod(at, last) : last;
}

/* ---- samples ---- */

/* Samples a curve; gives the identity if there is no curve or the value is not finite. */
static void compose_sample_curve(const struct curve *c, enum role role, double frame, double out[4])
{
	static const double none[4] = {0, 0, 0, 1};
	double value[4] = {0, 0, 0, 0};

	memcpy(out, none, sizeof(none));
	if (!c)
		return;
	curve_sample(c, frame, value);
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		if (!isfinite(value[axis]))
			return;
	}
	if (role != ROLE_ROTATION)
		memcpy(out, value, 3 * sizeof(*out));
	else if (c->kind == CURVE_QUATERNION)
		rotation_unit(value, out);
	else
		rotation_quaternion(value, none, out);
}

static void quat_multiply(const double a[4], const double b[4], double out[4])
{
	out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
	out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
	out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
	out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* Applies the additive value to the base, or with `back` removes the base from `value`. */
static void combine_values(enum role role, const double base[4], const double value[4], bool back,
			   double out[4])
{
	const double inverse[4] = {-base[0], -base[1], -base[2], base[3]};

	if (role == ROLE_ROTATION) {
		quat_multiply(back ? inverse : base, value, out);
		return;
	}
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = value[axis] + (back ? -base[axis] : base[axis]);
}

/* Stores q or -q, whichever is nearer to the key before. */
static void store_key(struct curve *c, uint32_t key, const double value[4])
{
	double *out = (double *)c->values + (size_t)key * curve_width(c), dot = 0;

	memcpy(out, value, curve_width(c) * sizeof(*out));
	if (c->kind != CURVE_QUATERNION || key == 0)
		return;
	for (unsigned axis = 0; axis < 4; axis++)
		dot += out[axis] * out[(int)axis - 4];
	for (unsigned axis = 0; dot < 0 && axis < 4; axis++)
		out[axis] = -out[axis];
}

static struct curve *compose_new_curve(enum role role, bool keyed, uint32_t count,
				       struct arena *arena)
{
	struct curve *c = arena_alloc(arena, 1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct curve){.kind = role == ROLE_ROTATION ? CURVE_QUATERNION : CURVE_VECTOR,
			    .keyed = keyed,
			    .count = count};
	for (unsigned axis = 0; axis < 4; axis++)
		c->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	c->values = arena_alloc(arena, count, curve_width(c) * sizeof(*c->values));
	return c->values ? c : NULL;
}

/* ---- composing ---- */

static bool compose_curve(const struct pair *p, enum role role, const struct curve *base,
			  const struct curve *additive, const struct curve **out)
{
	bool keyed = (base && base->keyed) || (additive && additive->keyed);
	uint32_t count = keyed ? p->clip->frames : 1;
	struct curve *c;

	if (role == ROLE_SCALE)
		additive = NULL;
	*out = base ? base : additive;
	if (!base || (!additive && !base->keyed))
		return true;
	c = compose_new_curve(role, keyed, count, p->arena);
	if (!c)
		return false;
	for (uint32_t key = 0; key < count; key++) {
		double was[4], value[4], both[4];

		compose_sample_curve(base, role, base_frame(p, key), was);
		compose_sample_curve(additive, role, key, value);
		combine_values(role, was, value, false, both);
		store_key(c, key, both);
	}
	*out = c;
	return true;
}

static bool compose_track(const struct pair *p, const struct track *base, struct track *track,
			  bool only_base)
{
	static const struct track none;

	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const struct curve *additive = only_base ? NULL : track->curve[role];

		if (!compose_curve(p, role, base ? base->curve[role] : none.curve[role], additive,
				   &track->curve[role]))
			return false;
	}
	return true;
}

/* Composes all bones of the clip, and adds the bones of the base that the clip lacks. */
static bool compose_clip(const struct pair *p, struct clip *out)
{
	uint32_t count = p->clip->track_count;
	struct track *tracks =
		arena_alloc(p->arena, (size_t)count + p->base->track_count, sizeof(*tracks));

	if (!tracks)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		tracks[i] = p->clip->tracks[i];
		if (!compose_track(p, track_labelled(p->base, i, tracks[i].label), &tracks[i],
				   false))
			return false;
	}
	for (uint32_t i = 0; i < p->base->track_count; i++) {
		const struct track *base = &p->base->tracks[i];

		if (track_labelled(p->clip, i, base->label))
			continue;
		tracks[count] = *base;
		tracks[count].origin = ANIM_NEW;
		if (!compose_track(p, base, &tracks[count++], true))
			return false;
	}
	out->tracks = tracks;
	out->track_count = count;
	out->tracks_own = true;
	return true;
}

uint64_t compose_cost(const struct anim *a, uint32_t clip, uint32_t base)
{
	return (uint64_t)a->clips[clip].frames *
	       ((uint64_t)a->clips[clip].track_count + a->clips[base].track_count);
}

struct anim *compose(const struct anim *a, const uint32_t *bases)
{
	struct anim *made = anim_edit(a);

	for (uint32_t i = 0; made && i < a->clip_count; i++) {
		struct pair p;

		if (bases[i] == COMPOSE_NONE)
			continue;
		p = pair_of(a, i, bases[i], &made->arena);
		if (!compose_clip(&p, (struct clip *)&made->clips[i])) {
			anim_free(made);
			return NULL;
		}
	}
	return made;
}

/* ---- taking an edit back ---- */

/* The index of the key in a frame, or UINT32_MAX. */
static uint32_t key_at(const struct curve *c, uint32_t frame)
{
	uint32_t key = curve_keys_before(c, frame);

	return key < c->count && curve_frame(c, key) == frame ? key : UINT32_MAX;
}

/* Returns whether the edit left the key unchanged, so that the clip keeps its stored value. */
static bool key_stays(const struct curve *edited, uint32_t key, const struct curve *composed)
{
	uint32_t was = composed ? key_at(composed, curve_frame(edited, key)) : UINT32_MAX;

	if (was == UINT32_MAX || composed->kind != edited->kind)
		return false;
	for (unsigned axis = 0; axis < curve_width(edited); axis++) {
		if (!f64_same(curve_value(composed, was, axis), curve_value(edited, key, axis)))
			return false;
	}
	return true;
}

/* Copies the frames of an edited curve, since the edited model is freed before the result. */
static bool compose_copy_frames(struct curve *c, const struct curve *edited, struct arena *arena)
{
	uint32_t *frames;

	if (!edited->frames)
		return true;
	frames = arena_alloc(arena, edited->count, sizeof(*frames));
	if (frames)
		memcpy(frames, edited->frames, edited->count * sizeof(*frames));
	c->frames = frames;
	return frames != NULL;
}

/*
 * Converts an edited curve back. `own` is the additive clip's curve in the kind of the result; may
 * be NULL.
 */
static const struct curve *take_back_curve(const struct pair *p, enum role role,
					   const struct curve *base, const struct curve *composed,
					   const struct curve *edited, const struct curve *own)
{
	struct curve *c = compose_new_curve(role, edited->keyed, edited->count, p->arena);

	if (!c || !compose_copy_frames(c, edited, p->arena))
		return NULL;
	c->interpolation = edited->interpolation;
	for (uint32_t key = 0; key < c->count; key++) {
		uint32_t frame = curve_frame(edited, key);
		double was[4], value[4], left[4];

		compose_sample_curve(base, role, base_frame(p, frame), was);
		compose_sample_curve(edited, role, frame, value);
		combine_values(role, was, value, true, left);
		if (own && key_stays(edited, key, composed))
			curve_sample(own, frame, left);
		store_key(c, key, left);
	}
	return c;
}

/* Converts the edited curve of a role back, to the form in which the clip stores rotations. */
static const struct curve *take_back_role(const struct pair *p, const struct track *base,
					  const struct track *composed, const struct track *edited,
					  const struct track *stored, enum role role)
{
	const struct curve *own = stored->curve[role], *turned = own, *made;
	const struct curve *under = base ? base->curve[role] : NULL;
	enum curve_kind kind = own ? own->kind : stored->rotation;

	if (role != ROLE_ROTATION || kind == CURVE_QUATERNION)
		return take_back_curve(p, role, under, composed->curve[role], edited->curve[role],
				       own);
	if (own)
		turned = rotation_convert(own, CURVE_QUATERNION, p->arena);
	if (own && !turned)
		return NULL;
	made = take_back_curve(p, role, under, composed->curve[role], edited->curve[role], turned);
	return made ? rotation_restore(made, turned, own, kind, p->arena) : NULL;
}

static bool compose_refuse_key(const struct pair *p, const struct track *track, bool is_scale,
			       struct err *err)
{
	if (is_scale)
		err_set(err, ERR_STORE,
			"the scale of %s is that of %s, on which %s is shown: an additive clip "
			"scales nothing",
			track->label, p->base->label, p->clip->label);
	else
		err_set(err, ERR_STORE,
			"%s is not in %s: it moves as in %s, on which that is shown", track->label,
			p->clip->label, p->base->label);
	return err_accept(err, is_scale ? "the scales that were served"
					: "what was served for this bone, or the bone in the clip "
					  "first (animfs bone add)");
}

static bool take_back_track(const struct pair *p, const struct track *composed,
			    const struct track *edited, struct anim *out, uint32_t clip,
			    uint32_t track, struct err *err)
{
	const struct track *base = track_labelled(p->base, track, composed->label);

	for (enum role role = 0; role < ROLE_COUNT; role++) {
		struct track *to;

		if (edited->curve[role] == composed->curve[role] || !edited->curve[role])
			continue;
		if (track >= p->clip->track_count || role == ROLE_SCALE)
			return compose_refuse_key(p, composed, track < p->clip->track_count, err);
		to = anim_edit_track(out, clip, track);
		if (!to)
			return err_memory(err);
		to->curve[role] =
			take_back_role(p, base, composed, edited, &p->clip->tracks[track], role);
		if (!to->curve[role])
			return err_memory(err);
	}
	return true;
}

struct anim *compose_take_back(const struct anim *stored, const struct anim *composed,
			       const struct anim *edited, uint32_t clip, uint32_t base,
			       struct err *err)
{
	struct anim *out = anim_edit(stored);
	const struct clip *was = &composed->clips[clip], *now = &edited->clips[clip];
	bool fine = out || err_memory(err);

	for (uint32_t i = 0; fine && i < was->track_count; i++) {
		const struct pair p = pair_of(stored, clip, base, &out->arena);

		fine = take_back_track(&p, &was->tracks[i], &now->tracks[i], out, clip, i, err);
	}
	if (fine)
		return out;
	anim_free(out);
	return NULL;
}
