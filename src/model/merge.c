/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.c - applies an edit to a model that others have changed too, and checks that a stored model
 * has the edit.
 */
#include "animfs/anim.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * One clip in all models of a merge. `last`, the last committed edit, equals `base` if there is
 * none.
 */
struct versions {
	const struct clip *base, *edited, *last, *current;
};

static bool text_same(const char *a, const char *b)
{
	return a == b || strcmp(a, b) == 0;
}

/* ---- comparing with the stored form ---- */

/* The distance within which numbers are the same float32 as v. */
static double float_width(double v)
{
	float f = fabsf((float)v);

	return 2 * (double)(f - nextafterf(f, 0));
}

/*
 * Is `stored` as near to `wanted` as its lane allows? There is some slack for the rounding of unit
 * conversions and of base + k * step: a value half-way between two k is near to both. A value that
 * moves into a new grid because of an edited one is stored by its text (quant.c), which is the same
 * float32.
 */
static bool value_near(double wanted, double stored, const struct lane *lane)
{
	double want, got, hair, half;

	if (f64_same(wanted, stored) || (float)wanted == (float)stored)
		return true;
	if (lane->turn > 0)
		wanted = stored + remainder(remainder(wanted, lane->turn) - stored, lane->turn);
	want = wanted / lane->unit;
	got = stored / lane->unit;
	hair = 4 * DBL_EPSILON *
	       (fabs(want) + fabs((double)lane->base) + 65535 * fabs((double)lane->step));
	half = fabs((double)lane->step) / 2 + float_width(wanted) / lane->unit;
	if (lane->form == LANE_GRID && fabs(want - got) <= half + hair)
		return true;
	return (float)got >= (float)(want - hair) && (float)got <= (float)(want + hair);
}

static bool curve_alike(const struct curve *a, const struct curve *b)
{
	return a->kind == b->kind && a->interpolation == b->interpolation && a->keyed == b->keyed &&
	       a->count == b->count;
}

/*
 * Compares a value that is packed as a whole: q equals -q. An unedited value must be bit-exact,
 * even if it is not a rotation.
 */
static bool code_near(const struct curve *wanted, const struct curve *stored, uint32_t key)
{
	double sum = 0, difference = 0;

	for (unsigned axis = 0; axis < curve_width(wanted); axis++) {
		double want = curve_value(wanted, key, axis), got = curve_value(stored, key, axis);

		sum = fmax(sum, fabs(want + got));
		difference = fmax(difference, fabs(want - got));
	}
	return fmin(sum, difference) <= (double)stored->lane[0].step;
}

static bool key_near(const struct curve *wanted, const struct curve *stored, uint32_t key)
{
	if (stored->lane[0].form == LANE_CODE)
		return code_near(wanted, stored, key);
	for (unsigned axis = 0; axis < curve_width(wanted); axis++) {
		if (!value_near(curve_value(wanted, key, axis), curve_value(stored, key, axis),
				&stored->lane[axis]))
			return false;
	}
	return true;
}

/* Compares times and tangents, which are stored exactly. */
static bool place_same(const struct curve *wanted, const struct curve *stored, uint32_t key)
{
	size_t size = 8 * (size_t)curve_width(wanted);

	if (!wanted->timing || !stored->timing)
		return curve_frame(wanted, key) == curve_frame(stored, key);
	return f32_bits(curve_time(wanted, key)) == f32_bits(curve_time(stored, key)) &&
	       (!wanted->timing->tangents || !stored->timing->tangents ||
		memcmp(wanted->timing->tangents + size * key, stored->timing->tangents + size * key,
		       size) == 0);
}

/* Compares keys of two curves of the same form; *key gets the first difference. */
static bool keys_near(const struct curve *wanted, const struct curve *stored, uint32_t *key)
{
	for (*key = 0; *key < wanted->count; ++*key) {
		if (!place_same(wanted, stored, *key) || !key_near(wanted, stored, *key))
			return false;
	}
	return true;
}

/* Is the curve `stored` what storing `wanted` gives? Either may be NULL. */
static bool curve_holds(const struct curve *stored, const struct curve *wanted)
{
	uint32_t key;

	if (!stored || !wanted)
		return stored == wanted;
	return curve_alike(stored, wanted) && keys_near(wanted, stored, &key);
}

/* ---- a clip's own values ---- */

enum value {
	VALUE_NAME,
	VALUE_LOOP,
	VALUE_FRAMES,
	VALUE_FRAME_TIME,
	VALUE_DURATION,
	VALUE_FIELDS,
	VALUE_STILLS,
};
#define VALUE_COUNT 7

static const char *const value_names[VALUE_COUNT] = {
	"name",           "loop",     "number of frames",
	"frame time",     "duration", "format's own fields",
	"list of frames",
};

static bool merge_stills_same(const struct clip *a, const struct clip *b)
{
	if (a->stills == b->stills || !a->stills || !b->stills)
		return a->stills == b->stills;
	for (uint32_t i = 0; a->frames == b->frames && i < a->frames; i++) {
		if (f32_bits(a->stills[i].time) != f32_bits(b->stills[i].time) ||
		    !text_same(a->stills[i].url, b->stills[i].url))
			return false;
	}
	return a->frames == b->frames;
}

static bool merge_value_same(enum value which, const struct clip *a, const struct clip *b)
{
	switch (which) {
	case VALUE_NAME:
		return text_same(a->name, b->name);
	case VALUE_LOOP:
		return a->loop == b->loop;
	case VALUE_FRAMES:
		return a->frames == b->frames;
	case VALUE_FRAME_TIME:
		return f32_bits(a->frame_time) == f32_bits(b->frame_time);
	case VALUE_DURATION:
		return f32_bits(a->duration) == f32_bits(b->duration);
	case VALUE_FIELDS:
		return fields_same(a->fields, a->field_count, b->fields, b->field_count);
	case VALUE_STILLS:
		return merge_stills_same(a, b);
	}
	return true;
}

static void value_take(enum value which, struct clip *to, const struct clip *from)
{
	switch (which) {
	case VALUE_NAME:
		to->name = from->name;
		to->label = from->label;
		break;
	case VALUE_LOOP:
		to->loop = from->loop;
		break;
	case VALUE_FRAMES:
		to->frames = from->frames;
		break;
	case VALUE_FRAME_TIME:
		to->frame_time = from->frame_time;
		break;
	case VALUE_DURATION:
		to->duration = from->duration;
		break;
	case VALUE_FIELDS:
		to->field_count = from->field_count;
		to->fields = from->fields;
		break;
	case VALUE_STILLS:
		to->frames = from->frames;
		to->stills = from->stills;
		break;
	}
}

static bool clip_values_same(const struct clip *a, const struct clip *b)
{
	for (enum value which = 0; which < VALUE_COUNT; which++) {
		if (!merge_value_same(which, a, b))
			return false;
	}
	return true;
}

/*
 * Merges the list of stills of `edited` into that of `current`: base's stills, or, with `ours`,
 * last's, some of which may be missing in base and count as new.
 */
static bool take_stills(const struct versions *v, bool ours, struct clip *to, struct arena *arena)
{
	const struct clip *now = ours ? v->last : v->base;
	struct still *stills = arena_alloc(arena, v->edited->frames, sizeof(*stills));
	uint32_t *places = arena_alloc(arena, v->base->frames, sizeof(*places));

	if (!stills || !places)
		return false;
	for (uint32_t i = 0; i < v->base->frames; i++)
		places[i] = ANIM_NEW;
	for (uint32_t i = 0; i < now->frames; i++)
		if (now->stills[i].origin != ANIM_NEW)
			places[now->stills[i].origin] = i;
	for (uint32_t i = 0; i < v->edited->frames; i++) {
		stills[i] = v->edited->stills[i];
		if (stills[i].origin != ANIM_NEW)
			stills[i].origin = places[stills[i].origin];
	}
	to->stills = stills;
	return true;
}

static bool merge_values(const struct versions *v, struct clip *to, struct arena *arena,
			 struct err *err)
{
	for (enum value which = 0; which < VALUE_COUNT; which++) {
		bool ours = !merge_value_same(which, v->last, v->base) &&
			    merge_value_same(which, v->current, v->last);

		if (merge_value_same(which, v->edited, v->base) && !ours)
			continue;
		if (!ours && !merge_value_same(which, v->current, v->base) &&
		    !merge_value_same(which, v->current, v->edited))
			return err_set(err, ERR_CONFLICT,
				       "another program changed the %s of %s in the meantime",
				       value_names[which], v->base->label);
		if (which == VALUE_STILLS && merge_value_same(which, v->current, v->edited))
			continue;
		value_take(which, to, v->edited);
		if (which == VALUE_STILLS && to->stills && !take_stills(v, ours, to, arena))
			return err_memory(err);
	}
	return true;
}

/* ---- tracks ---- */

/*
 * Compares everything of a bone that edits can change, including the form that its rotations are to
 * be stored in.
 */
static bool bone_same(const struct track *a, const struct track *b)
{
	return a->rotation == b->rotation && track_same(a, b);
}

/* Does `edited` have the same tracks as `base`, in the same order? */
static bool bones_kept(const struct clip *base, const struct clip *edited)
{
	if (base->track_count != edited->track_count)
		return false;
	for (uint32_t i = 0; base->tracks != edited->tracks && i < base->track_count; i++) {
		if (edited->tracks[i].origin != i ||
		    !text_same(base->tracks[i].name, edited->tracks[i].name))
			return false;
	}
	return true;
}

static bool bones_same(const struct clip *a, const struct clip *b)
{
	if (a->track_count != b->track_count)
		return false;
	for (uint32_t i = 0; i < a->track_count; i++) {
		if (!text_same(a->tracks[i].label, b->tracks[i].label))
			return false;
	}
	return true;
}

static bool tracks_same(const struct clip *a, const struct clip *b)
{
	if (!bones_same(a, b))
		return false;
	for (uint32_t i = 0; i < a->track_count; i++) {
		if (!bone_same(&a->tracks[i], &b->tracks[i]))
			return false;
	}
	return true;
}

static bool merge_clip_same(const struct clip *a, const struct clip *b)
{
	return clip_values_same(a, b) && tracks_same(a, b);
}

/* Is the track `stored` what storing `wanted` gives? */
static bool track_holds(const struct track *stored, const struct track *wanted)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		if (!curve_holds(stored->curve[role], wanted->curve[role]))
			return false;
	}
	return keyframes_same(stored->keyframes, wanted->keyframes);
}

/* Merges keyframes and curves together, since keyframes determine which curves have keys. */
static bool merge_keyframes(const struct versions *v, const struct track *base,
			    const struct track *edited, struct track *to, struct err *err)
{
	const struct track *last = &v->last->tracks[base->origin];
	bool ours = !bone_same(last, base) && track_holds(to, last);

	if (bone_same(edited, ours ? last : base))
		return true;
	if (!ours && !bone_same(to, base) && !bone_same(to, edited))
		return err_set(err, ERR_CONFLICT,
			       "another program changed %s in %s in the meantime", base->label,
			       v->base->label);
	memcpy(to->curve, edited->curve, sizeof(to->curve));
	to->keyframes = edited->keyframes;
	return true;
}

/* Merges the edited curves of one bone into `to`, a copy of the current track. */
static bool merge_curves(const struct versions *v, const struct track *base,
			 const struct track *edited, struct track *to, struct err *err)
{
	const struct track *last = &v->last->tracks[base->origin];

	if (edited->keyframes)
		return merge_keyframes(v, base, edited, to, err);
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *was = base->curve[role], *now = to->curve[role];
		const struct curve *wanted = edited->curve[role], *before = last->curve[role];
		bool ours = !curve_same(before, was) && curve_holds(now, before);

		/* Skip an unchanged value, which could move on its grid if it were stored again. */
		if (curve_same(wanted, ours ? before : was))
			continue;
		if (!ours && !curve_same(now, was) && !curve_same(now, wanted))
			return err_set(err, ERR_CONFLICT,
				       "another program changed the %s of %s in %s in the meantime",
				       role_names[role], base->label, v->base->label);
		to->curve[role] = wanted;
	}
	if (edited->rotation != base->rotation)
		to->rotation = edited->rotation;
	return true;
}

static struct track *merge_copy_tracks(struct arena *arena, const struct clip *c)
{
	struct track *tracks = arena_alloc(arena, c->track_count, sizeof(*tracks));

	if (tracks && c->track_count)
		memcpy(tracks, c->tracks, c->track_count * sizeof(*tracks));
	return tracks;
}

/* The edit kept all bones; others may have moved, added or removed some. */
static bool merge_kept_bones(const struct versions *v, struct track *to, struct err *err)
{
	for (uint32_t i = 0; i < v->base->track_count; i++) {
		const struct track *base = &v->base->tracks[i], *edited = &v->edited->tracks[i];
		const struct track *now;

		if (bone_same(base, edited) && bone_same(base, &v->last->tracks[i]))
			continue;
		now = track_labelled(v->current, i, base->label);
		if (!now)
			return err_set(err, ERR_CONFLICT,
				       "another program removed %s from %s in the meantime",
				       base->label, v->base->label);
		if (!merge_curves(v, base, edited, &to[now - v->current->tracks], err))
			return false;
	}
	return true;
}

/* The edit changed the list of bones, and no other program did: takes over the edit's list. */
static bool merge_new_bones(const struct versions *v, struct track *to, struct err *err)
{
	for (uint32_t i = 0; i < v->edited->track_count; i++) {
		const struct track *edited = &v->edited->tracks[i];

		to[i] = *edited;
		if (edited->origin == ANIM_NEW)
			continue;
		memcpy(to[i].curve, v->current->tracks[edited->origin].curve, sizeof(to[i].curve));
		to[i].keyframes = v->current->tracks[edited->origin].keyframes;
		if (!merge_curves(v, &v->base->tracks[edited->origin], edited, &to[i], err))
			return false;
	}
	return true;
}

/* Returns ERR_CONFLICT if the edit removes a bone that another program has changed. */
static bool check_removed_bones(const struct versions *v, struct arena *arena, struct err *err)
{
	bool *kept = arena_alloc(arena, v->base->track_count, sizeof(*kept));

	if (!kept)
		return err_memory(err);
	for (uint32_t i = 0; i < v->edited->track_count; i++) {
		if (v->edited->tracks[i].origin != ANIM_NEW)
			kept[v->edited->tracks[i].origin] = true;
	}
	for (uint32_t i = 0; i < v->base->track_count; i++) {
		if (!kept[i] && !bone_same(&v->base->tracks[i], &v->current->tracks[i]))
			return err_set(err, ERR_CONFLICT,
				       "another program changed %s in %s, which this removes",
				       v->base->tracks[i].label, v->base->label);
	}
	return true;
}

static bool merge_tracks(struct versions *v, struct clip *to, struct arena *arena, struct err *err)
{
	bool kept = bones_kept(v->base, v->edited) && bones_kept(v->base, v->last);
	struct track *tracks;

	if (v->edited->tracks == v->base->tracks && v->last->tracks == v->base->tracks)
		return true;
	if (!kept && !bones_same(v->base, v->current))
		return err_set(err, ERR_CONFLICT,
			       "the list of bones of %s was changed in the meantime",
			       v->base->label);
	tracks = merge_copy_tracks(arena, kept ? v->current : v->edited);
	if (!tracks)
		return err_memory(err);
	to->tracks = tracks;
	to->tracks_own = true;
	if (kept)
		return merge_kept_bones(v, tracks, err);
	if (!bones_kept(v->base, v->last))
		v->last = v->base;
	to->track_count = v->edited->track_count;
	return check_removed_bones(v, arena, err) && merge_new_bones(v, tracks, err);
}

/* ---- clips ---- */

static bool clips_kept(const struct anim *base, const struct anim *edited)
{
	if (base->clip_count != edited->clip_count)
		return false;
	for (uint32_t i = 0; i < base->clip_count; i++) {
		if (edited->clips[i].origin != i)
			return false;
	}
	return true;
}

static bool clip_lists_same(const struct anim *a, const struct anim *b)
{
	if (a->clip_count != b->clip_count)
		return false;
	for (uint32_t i = 0; i < a->clip_count; i++) {
		if (!text_same(a->clips[i].label, b->clips[i].label))
			return false;
	}
	return true;
}

/* Merges an edited clip into `to`, a copy of the current clip. */
static bool merge_clip(struct versions *v, struct clip *to, struct arena *arena, struct err *err)
{
	return merge_values(v, to, arena, err) && merge_tracks(v, to, arena, err);
}

struct merge {
	const struct anim *base, *edited, *last,
		*current; /* models of the merge; `last` may be the same as `base` */
	const struct clip_renamed *renamed; /* the clips that were renamed; or NULL */
	struct anim *result;                /* the merged model, first a copy of `current` */
	struct clip *clips;                 /* writable clips of `result` */
};

/* Compares pointers, which are equal if anim_edit_clip was never called for the clip. */
static bool clip_untouched(const struct clip *edited, const struct clip *base)
{
	return edited->tracks == base->tracks && clip_values_same(edited, base);
}

static const struct clip *current_clip(const struct merge *m, uint32_t clip)
{
	bool renamed = m->renamed && m->renamed->clip == clip;

	return clip_labelled(m->current, clip,
			     renamed ? m->renamed->label : m->base->clips[clip].label);
}

static bool merge_kept_clips(struct merge *m, struct err *err)
{
	for (uint32_t i = 0; i < m->base->clip_count; i++) {
		struct versions v = {.base = &m->base->clips[i],
				     .edited = &m->edited->clips[i],
				     .last = &m->last->clips[i]};

		if (clip_untouched(v.edited, v.base) && clip_untouched(v.last, v.base))
			continue;
		v.current = current_clip(m, i);
		if (!v.current)
			return err_set(err, ERR_CONFLICT,
				       "another program removed %s in the meantime", v.base->label);
		if (!merge_clip(&v, &m->clips[v.current - m->current->clips], &m->result->arena,
				err))
			return false;
	}
	return true;
}

static bool check_removed_clips(struct merge *m, struct err *err)
{
	bool *kept = arena_alloc(&m->result->arena, m->base->clip_count, sizeof(*kept));

	if (!kept)
		return err_memory(err);
	for (uint32_t i = 0; i < m->edited->clip_count; i++) {
		if (m->edited->clips[i].origin != ANIM_NEW)
			kept[m->edited->clips[i].origin] = true;
	}
	for (uint32_t i = 0; i < m->base->clip_count; i++) {
		if (!kept[i] && !merge_clip_same(&m->base->clips[i], &m->current->clips[i]))
			return err_set(err, ERR_CONFLICT,
				       "another program changed %s, which this removes",
				       m->base->clips[i].label);
	}
	return true;
}

static bool merge_new_clip(struct merge *m, const struct clip *edited, struct clip *to,
			   struct err *err)
{
	struct versions v = {.edited = edited};

	if (edited->origin == ANIM_NEW) {
		*to = *edited;
		to->tracks_own = false;
		return true;
	}
	v.base = &m->base->clips[edited->origin];
	v.last = clips_kept(m->base, m->last) ? &m->last->clips[edited->origin] : v.base;
	v.current = &m->current->clips[edited->origin];
	*to = *v.current;
	to->tracks_own = false;
	to->label = edited->label;
	return merge_clip(&v, to, &m->result->arena, err);
}

/*
 * Takes over the edit's list of clips. ERR_CONFLICT if another program has changed the list, too.
 */
static bool merge_new_clips(struct merge *m, struct err *err)
{
	if (!clip_lists_same(m->base, m->current))
		return err_set(err, ERR_CONFLICT, "the list of clips was changed in the meantime");
	if (!check_removed_clips(m, err))
		return false;
	m->clips = arena_alloc(&m->result->arena, m->edited->clip_count, sizeof(*m->clips));
	if (!m->clips)
		return err_memory(err);
	m->result->clips = m->clips;
	m->result->clip_count = m->edited->clip_count;
	for (uint32_t i = 0; i < m->edited->clip_count; i++) {
		if (!merge_new_clip(m, &m->edited->clips[i], &m->clips[i], err))
			return false;
	}
	return true;
}

bool anim_is_unedited(const struct anim *edited, const struct anim *base)
{
	return edited->clip_count == base->clip_count && edited->version == base->version &&
	       edited->fields == base->fields && edited->bones == base->bones &&
	       memcmp(edited->clips, base->clips, base->clip_count * sizeof(*base->clips)) == 0;
}

bool anim_same_names(const struct anim *a, const struct anim *b)
{
	if (!clip_lists_same(a, b))
		return false;
	for (uint32_t i = 0; i < a->clip_count; i++) {
		if (!bones_same(&a->clips[i], &b->clips[i]))
			return false;
	}
	return true;
}

static bool bone_lists_same(const struct anim *a, const struct anim *b)
{
	if (a->bone_count != b->bone_count)
		return false;
	for (uint32_t i = 0; a->bones != b->bones && i < a->bone_count; i++) {
		if (!text_same(a->bones[i], b->bones[i]))
			return false;
	}
	return true;
}

static bool headers_same(const struct anim *a, const struct anim *b)
{
	return a->version == b->version &&
	       fields_same(a->fields, a->field_count, b->fields, b->field_count);
}

/* Merges the fields of the file. */
static bool merge_file(struct merge *m, struct err *err)
{
	struct anim *to = m->result;

	if (!headers_same(m->edited, m->base)) {
		if (!headers_same(m->current, m->base) && !headers_same(m->current, m->last))
			return err_set(err, ERR_CONFLICT,
				       "another program changed the header in the meantime");
		to->version = m->edited->version;
		to->field_count = m->edited->field_count;
		to->fields = m->edited->fields;
	}
	if (!bone_lists_same(m->edited, m->base)) {
		if (!bone_lists_same(m->current, m->base))
			return err_set(err, ERR_CONFLICT,
				       "another program changed the file's bones in the meantime");
		to->bone_count = m->edited->bone_count;
		to->bones = m->edited->bones;
	}
	return true;
}

struct anim *anim_merge(const struct anim *base, const struct anim *edited, const struct anim *last,
			const struct anim *current, const struct clip_renamed *renamed,
			struct err *err)
{
	struct merge m = {.base = base,
			  .edited = edited,
			  .last = last ? last : base,
			  .current = current,
			  .renamed = renamed};
	bool kept, done;

	m.result = anim_edit(current == base ? edited : current);
	if (!m.result) {
		err_memory(err);
		return NULL;
	}
	if (current == base)
		return m.result;
	m.clips = (struct clip *)m.result->clips; /* anim_edit made the array for this model */
	kept = clips_kept(base, edited) && clips_kept(base, m.last);
	done = kept ? merge_kept_clips(&m, err) : merge_new_clips(&m, err);
	if (done && merge_file(&m, err))
		return m.result;
	anim_free(m.result);
	return NULL;
}

/* ---- checking the stored model ---- */

#define CANNOT "the format cannot hold this edit exactly: "

static bool stored_curve(const struct clip *clip, const struct track *track, unsigned role,
			 const struct curve *old, const struct curve *stored, struct err *err)
{
	const struct curve *wanted = track->curve[role];
	uint32_t key;

	if (wanted == old) {
		if (curve_same(wanted, stored))
			return true;
		return err_set(err, ERR_STORE,
			       CANNOT "it would change the %s of %s in %s, which was not edited",
			       role_names[role], track->label, clip->label);
	}
	if (!wanted && !stored)
		return true;
	if (!wanted || !stored || !curve_alike(wanted, stored))
		return err_set(err, ERR_STORE,
			       CANNOT "the %s of %s in %s comes back in another form",
			       role_names[role], track->label, clip->label);
	if (!keys_near(wanted, stored, &key))
		return err_set(err, ERR_STORE,
			       CANNOT "the %s of %s in %s comes back different in frame %u",
			       role_names[role], track->label, clip->label,
			       curve_frame(wanted, key));
	return true;
}

/* Returns the track that was stored for track `i` of `wanted`, or NULL. */
static const struct track *stored_track(const struct format *format, const struct clip *stored,
					uint32_t i, const char *name)
{
	if (text_same(stored->tracks[i].name, name))
		return &stored->tracks[i];
	for (uint32_t j = 0; format->bones_sorted && j < stored->track_count; j++) {
		if (text_same(stored->tracks[j].name, name))
			return &stored->tracks[j];
	}
	return NULL;
}

static bool stored_tracks(const struct format *format, const struct clip *wanted,
			  const struct clip *old, const struct clip *stored, struct err *err)
{
	static const struct track none;

	if (wanted->track_count != stored->track_count)
		return err_set(err, ERR_STORE, CANNOT "%s comes back with %u bones instead of %u",
			       wanted->label, stored->track_count, wanted->track_count);
	for (uint32_t i = 0; i < wanted->track_count; i++) {
		const struct track *track = &wanted->tracks[i], *was = &none;
		const struct track *now = stored_track(format, stored, i, track->name);

		if (!now)
			return err_set(err, ERR_STORE,
				       CANNOT "the name of %s in %s comes back different",
				       track->label, wanted->label);
		if (!keyframes_same(track->keyframes, now->keyframes))
			return err_set(err, ERR_STORE,
				       CANNOT "the keyframes of %s in %s come back different",
				       track->label, wanted->label);
		if (old && track->origin != ANIM_NEW)
			was = &old->tracks[track->origin];
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			if (!stored_curve(wanted, track, role, was->curve[role], now->curve[role],
					  err))
				return false;
		}
	}
	return true;
}

/* Checks the fields of a new clip; fields that it does not set have the format's default. */
static bool fields_hold(const struct clip *stored, const struct clip *wanted)
{
	for (uint32_t i = 0; i < wanted->field_count; i++) {
		uint32_t j = 0;

		while (j < stored->field_count &&
		       !fields_same(&wanted->fields[i], 1, &stored->fields[j], 1))
			j++;
		if (j == stored->field_count)
			return false;
	}
	return true;
}

/* Compares the fields that both clips have; some fields exist only while all curves agree. */
static bool fields_agree(const struct clip *stored, const struct clip *wanted)
{
	for (uint32_t i = 0; i < wanted->field_count; i++) {
		const struct field *field = &wanted->fields[i];

		for (uint32_t j = 0; field->editable && j < stored->field_count; j++)
			if (strcmp(stored->fields[j].name, field->name) == 0 &&
			    !fields_same(field, 1, &stored->fields[j], 1))
				return false;
	}
	return true;
}

static bool value_holds(const struct format *format, enum value which, const struct clip *stored,
			const struct clip *wanted)
{
	if (format->timed && which == VALUE_FRAMES)
		return true; /* the times of the keys determine the number of frames */
	if (format->timed && which == VALUE_FIELDS)
		return fields_agree(stored, wanted);
	if (which == VALUE_FIELDS && wanted->origin == ANIM_NEW)
		return fields_hold(stored, wanted);
	return merge_value_same(which, wanted, stored);
}

static bool stored_clip(const struct format *format, const struct clip *wanted,
			const struct clip *old, const struct clip *stored, struct err *err)
{
	for (enum value which = 0; which < VALUE_COUNT; which++) {
		if (!value_holds(format, which, stored, wanted))
			return err_set(err, ERR_STORE, CANNOT "the %s of %s comes back different",
				       value_names[which], wanted->label);
	}
	return stored_tracks(format, wanted, old, stored, err);
}

bool anim_stored(const struct anim *wanted, const struct anim *old, const struct anim *stored,
		 struct err *err)
{
	if (wanted->clip_count != stored->clip_count)
		return err_set(err, ERR_STORE, CANNOT "%u clips come back instead of %u",
			       stored->clip_count, wanted->clip_count);
	if (old && !headers_same(wanted, stored))
		return err_set(err, ERR_STORE, CANNOT "the header comes back different");
	for (uint32_t i = 0; i < wanted->clip_count; i++) {
		const struct clip *clip = &wanted->clips[i];
		const struct clip *was =
			!old || clip->origin == ANIM_NEW ? NULL : &old->clips[clip->origin];

		if (!stored_clip(stored->format, clip, was, &stored->clips[i], err))
			return false;
	}
	return true;
}
