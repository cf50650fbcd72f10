/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clip.h"

#include <math.h>
#include <string.h>

struct field *clip_edit_field(struct anim *a, struct clip *c, const char *name, bool *found)
{
	struct field *fields;
	uint32_t i = 0;

	while (i < c->field_count && strcmp(c->fields[i].name, name) != 0)
		i++;
	*found = i < c->field_count;
	if (!*found)
		return NULL;
	fields = arena_alloc(&a->arena, c->field_count, sizeof(*fields));
	if (!fields)
		return NULL;
	memcpy(fields, c->fields, c->field_count * sizeof(*fields));
	c->fields = fields;
	return &fields[i];
}

bool clip_set_loop(struct anim *a, struct clip *c, bool loop)
{
	bool found;
	struct field *field = clip_edit_field(a, c, "loop", &found);

	if (found && !field)
		return false;
	if (field)
		field->integer = loop;
	c->loop = loop;
	return true;
}

struct track clip_new_track(const struct anim *anim, const struct clip *clip)
{
	const uint8_t roles = anim->format->roles[clip->track_count > 0];
	struct track track = {.origin = ANIM_NEW,
			      .roles = (1u << ROLE_COUNT) - 1,
			      .rotation =
				      anim->format->quaternions ? CURVE_QUATERNION : CURVE_EULER};

	for (uint32_t i = 0; clip->track_count == 0 && i < anim->clip_count; i++)
		if (anim->clips[i].track_count > 0)
			clip = &anim->clips[i];
	if (clip->track_count > 0) {
		track.roles = clip->tracks[clip->track_count - 1].roles;
		track.rotation = clip->tracks[clip->track_count - 1].rotation;
	}
	if (roles)
		track.roles = roles;
	return track;
}

bool clip_add_tracks(struct anim *a, struct clip *c, const struct track *added, uint32_t count)
{
	struct track *tracks =
		arena_alloc(&a->arena, (size_t)c->track_count + count, sizeof(*tracks));

	if (!tracks)
		return false;
	if (c->track_count)
		memcpy(tracks, c->tracks, c->track_count * sizeof(*tracks));
	memcpy(tracks + c->track_count, added, count * sizeof(*tracks));
	c->track_count += count;
	c->tracks = tracks;
	c->tracks_own = true;
	return true;
}

/* Returns a copy of the curve with `keys` keys; additional keys repeat the last value. */
static const struct curve *resize_curve(struct anim *a, const struct curve *old, uint32_t keys)
{
	struct curve *made = arena_alloc(&a->arena, 1, sizeof(*made));
	unsigned width = curve_width(old);
	double *values;

	if (!made)
		return NULL;
	*made = *old;
	made->count = keys;
	if (keys <= old->count)
		return made;
	values = arena_alloc(&a->arena, keys, width * sizeof(*values));
	if (!values)
		return NULL;
	for (uint32_t key = 0; key < keys; key++)
		for (unsigned axis = 0; axis < width; axis++)
			values[key * width + axis] =
				curve_value(old, key < old->count ? key : old->count - 1, axis);
	made->stored = NULL;
	made->values = values;
	return made;
}

static bool resize_keyframes(struct anim *a, struct track *track, uint32_t frames)
{
	struct keyframes *made = arena_alloc(&a->arena, 1, sizeof(*made));

	if (!made)
		return false;
	*made = *track->keyframes;
	while (made->count > 0 && made->frames[made->count - 1] >= frames)
		made->count--;
	track->keyframes = made;
	return true;
}

static bool resize_track(struct anim *a, struct track *track, uint32_t frames)
{
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const struct curve *old = track->curve[role];
		uint32_t keys = old ? curve_shown(old, frames) : 0;

		if (a->format->full)
			keys = frames;
		if (!old || !old->keyed || keys == old->count)
			continue;
		track->curve[role] = keys > 0 ? resize_curve(a, old, keys) : NULL;
		if (keys > 0 && !track->curve[role])
			return false;
	}
	return !track->keyframes || resize_keyframes(a, track, frames);
}

/* Drops tracks without keyframes, for formats in which a bone exists only if it has keyframes. */
static void drop_empty_tracks(struct clip *c, struct track *tracks)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->track_count; i++)
		if (!tracks[i].keyframes || tracks[i].keyframes->count > 0)
			tracks[kept++] = tracks[i];
	c->track_count = kept;
}

bool clip_set_frames(struct anim *a, uint32_t clip, uint32_t frames)
{
	struct clip *c = anim_edit_clip(a, clip);

	if (!c)
		return false;
	for (uint32_t i = 0; i < c->track_count; i++) {
		struct track *track = anim_edit_track(a, clip, i);

		if (!track ||
		    ((frames < c->frames || a->format->full) && !resize_track(a, track, frames)))
			return false;
	}
	c->frames = frames;
	if (a->format->keyframes)
		drop_empty_tracks(c, (struct track *)c->tracks);
	return true;
}

bool clip_rest_curves(struct anim *a, const struct clip *c, struct track *track)
{
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const struct lane *lane = a->format->lanes[role];
		struct curve *curve = arena_alloc(&a->arena, 1, sizeof(*curve));

		if (!curve)
			return false;
		if (!(track->roles & 1u << role) || track->curve[role])
			continue;
		curve->kind = role == ROLE_ROTATION ? track->rotation : CURVE_VECTOR;
		curve->keyed = true;
		curve->count = c->frames;
		for (unsigned axis = 0; lane && axis < 4; axis++)
			curve->lane[axis] = *lane;
		curve->values = arena_alloc(&a->arena, c->frames,
					    curve_width(curve) * sizeof(*curve->values));
		if (!curve->values)
			return false;
		track->curve[role] = curve;
	}
	return true;
}

bool clip_begin_track(struct anim *a, const struct clip *c, struct track *track, struct err *err)
{
	const struct format *format = a->format;

	if (format->keyframes) {
		err_set(err, ERR_STORE,
			"a %s file stores no bone without keyframes, and \"%s\" has none",
			format->name, track->label);
		return err_accept(err, "a new bone by its rows in curves.csv");
	}
	return !format->full || clip_rest_curves(a, c, track) || err_memory(err);
}

void clip_follow_duration(const struct anim *a, struct clip *c)
{
	float duration = a->format->has_frame_time ? c->frame_time * (float)(c->frames - 1)
						   : (float)((c->frames - 1) / a->rate);

	if (a->format->has_duration && c->frames > 0 && isfinite(duration))
		c->duration = duration;
}

void clip_follow_frame_time(const struct anim *a, struct clip *c)
{
	if (a->format->has_frame_time && a->format->has_duration && c->frames > 1)
		c->frame_time = c->duration / (float)(c->frames - 1);
}
