/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "structure.h"

#include "model/bones.h"
#include "model/clip.h"
#include "model/label.h"
#include "model/names.h"
#include "model/rotation.h"
#include "util/string_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_RATE 30  /* frames per second of a new file whose format stores the rate */
#define SAME_TIME 1e-6 /* tolerance, in frames, for a time that is stored as a float32 */

/* ---- files ---- */

struct anim *anim_blank(const struct format *format, const struct bone_names *names)
{
	struct anim *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->format = format;
	a->rate = format->rate > 0 ? format->rate : USUAL_RATE;
	a->bone_names = names;
	return a;
}

static bool is_blank(const struct anim *a)
{
	return a->clip_count == 0 && a->version == 0 && a->field_count == 0;
}

/* ---- the list of clips ---- */

static struct clip *structure_add_clip(struct anim *a, const struct clip *clip, struct err *err)
{
	struct clip *clips;

	if (!a->format->many_clips && a->clip_count > 0) {
		err_set(err, ERR_STORE, "%s files hold one clip, and this one has \"%s\"",
			a->format->name, a->clips[0].label);
		err_accept(err, "a new file for the other one");
		return NULL;
	}
	clips = arena_alloc(&a->arena, (size_t)a->clip_count + 1, sizeof(*clips));
	if (!clips) {
		err_memory(err);
		return NULL;
	}
	if (a->clip_count)
		memcpy(clips, a->clips, a->clip_count * sizeof(*clips));
	clips[a->clip_count] = *clip;
	a->clips = clips;
	return &clips[a->clip_count++];
}

/*
 * Removes the place from an error about a name: there is no text here that it could point into.
 * Returns false.
 */
static bool without_place(struct err *err)
{
	if (err)
		err->placed = false;
	return false;
}

/*
 * Sets the label of `to`, and a stored name for it. `clip` is the index of the clip that is being
 * renamed, whose own name counts as free.
 */
static bool name_clip(struct anim *a, uint32_t clip, const char *label, struct clip *to,
		      struct err *err)
{
	const char *name = label_new_clip(a, clip, label, 0, 0, err);

	if (!name)
		return without_place(err);
	to->name = name;
	to->label = arena_text(&a->arena, label, strlen(label));
	return to->label || err_memory(err);
}

bool anim_clip_rename(struct anim *a, uint32_t clip, const char *label, struct err *err)
{
	struct clip *c = anim_edit_clip(a, clip);

	if (!c)
		return err_memory(err);
	if (!a->format->nameless)
		return name_clip(a, clip, label, c, err);
	err_set(err, ERR_STORE, "%s files store no name for their clip", a->format->name);
	return err_accept(err, "another name for the file");
}

bool anim_clip_remove(struct anim *a, uint32_t clip, struct err *err)
{
	struct clip *clips = (struct clip *)a->clips; /* anim_edit made the array for this model */

	if (!a->format->many_clips) {
		err_set(err, ERR_STORE, "%s files always have one clip", a->format->name);
		return err_accept(err, "to remove the file");
	}
	a->clip_count--;
	memmove(clips + clip, clips + clip + 1, (a->clip_count - clip) * sizeof(*clips));
	return true;
}

/* ---- times ---- */

static bool set_field(struct anim *a, struct clip *c, const char *name, double value)
{
	bool found;
	struct field *field = clip_edit_field(a, c, name, &found);

	if (!found)
		field = arena_alloc(&a->arena, 1, sizeof(*field));
	if (!field)
		return false;
	if (!found) {
		*field = (struct field){.name = name, .type = FIELD_REAL, .editable = true};
		c->fields = field;
		c->field_count = 1;
	}
	field->real = (double)(float)value;
	return true;
}

/* Sets the frame time in seconds. */
static bool set_seconds(struct anim *a, struct clip *c, double seconds, struct err *err)
{
	const struct format *format = a->format;

	c->frame_time = 1;
	c->duration = 0;
	if (format->has_frame_time) {
		c->frame_time = (float)(seconds * a->rate);
	} else if (format->rate_field) {
		if (!set_field(a, c, format->rate_field, 1 / seconds))
			return err_memory(err);
		a->rate = (double)(float)(1 / seconds);
	} else if (!format->stills && c->frames > 1 && fabs(seconds * a->rate - 1) > SAME_TIME) {
		err_set(err, ERR_STORE, "frames of %s files take 1/%g s, those of this clip %g s",
			format->name, a->rate, seconds);
		return err_accept(err, "a clip with that frame time");
	}
	clip_follow_duration(a, c);
	return true;
}

/* ---- fields besides curves ---- */

/*
 * Returns the number that a loop is stored as, which another format with loops has, too; or NULL.
 */
static const struct field *stored_loop(const struct anim *a, const struct clip *from)
{
	for (uint32_t i = 0; a->format->has_loop && i < from->field_count; i++) {
		if (strcmp(from->fields[i].name, "loop") == 0 && from->fields[i].type == FIELD_INT)
			return &from->fields[i];
	}
	return NULL;
}

/*
 * Gives `to` the fields of clips of `a`, with the values of `from`. A new file has no clip from
 * which to take the list of fields.
 */
static bool structure_take_fields(struct anim *a, const struct clip *from, struct clip *to)
{
	const struct clip *like = a->clip_count > 0 ? &a->clips[0] : NULL;
	struct field *fields;

	if (!like) {
		to->fields = stored_loop(a, from);
		to->field_count = to->fields != NULL;
		return true;
	}

	to->field_count = like->field_count;
	to->fields = NULL;
	fields = arena_alloc(&a->arena, to->field_count, sizeof(*fields));
	if (!fields)
		return false;
	for (uint32_t i = 0; i < to->field_count; i++) {
		fields[i] = like->fields[i];
		for (uint32_t j = 0; j < from->field_count; j++) {
			if (strcmp(fields[i].name, from->fields[j].name) == 0)
				fields[i] = from->fields[j];
		}
	}
	to->fields = fields;
	return true;
}

static bool take_loop(struct anim *a, const struct clip *from, struct clip *to, struct err *err)
{
	bool same = false;

	if (from->loop && !a->format->has_loop) {
		err_set(err, ERR_STORE, "%s loops, and %s files store no loop", from->label,
			a->format->name);
		return err_accept(err, "a clip that does not loop: \"loop\" in its clip.json");
	}
	for (uint32_t i = 0; i < to->field_count; i++) {
		same |= strcmp(to->fields[i].name, "loop") == 0 &&
			(to->fields[i].integer == 1) == from->loop;
	}
	return !a->format->has_loop || same || clip_set_loop(a, to, from->loop) || err_memory(err);
}

/* ---- curves ---- */

/* A clip being copied to another format. */
struct copy {
	struct anim *a;
	const struct anim *from;
	const struct clip *clip;           /* the clip of `from` that is copied */
	bool convert;                      /* rotations are converted to the form that `a` uses */
	const struct hierarchy *hierarchy; /* of the bones of `clip`; or NULL */
	struct string_map labels;          /* labels of the clip's tracks, if names become paths */
	struct err *err;
};

static struct curve *structure_new_curve(struct anim *a, const struct curve *like, uint32_t count)
{
	struct curve *made = arena_alloc(&a->arena, 1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct curve){.kind = like->kind,
			       .interpolation = a->format->keyframes ? INTERPOLATION_STEP
								     : INTERPOLATION_LINEAR,
			       .keyed = true,
			       .count = count};
	for (unsigned axis = 0; axis < 4; axis++)
		made->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	made->values = arena_alloc(&a->arena, count, curve_width(made) * sizeof(*made->values));
	return made->values ? made : NULL;
}

/*
 * Samples a curve: makes a key in each of `count` frames from `first` on. In sparse formats the
 * curve also lists the frames.
 */
static struct curve *structure_sample_curve(struct anim *a, const struct curve *c, uint32_t first,
					    uint32_t count)
{
	struct curve *made = structure_new_curve(a, c, count);
	uint32_t *frames = NULL;
	double value[4];

	if (made && a->format->sparse)
		made->frames = frames = arena_alloc(&a->arena, count, sizeof(*frames));
	if (!made || (a->format->sparse && !frames))
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		unsigned width = curve_width(c);

		curve_sample(c, first + i, value);
		memcpy((double *)made->values + (size_t)i * width, value, width * sizeof(*value));
		if (frames)
			frames[i] = first + i;
	}
	return made;
}

/* Does the curve have keys in the frames where the format of `a` stores them? */
static bool is_laid_out(const struct copy *p, const struct curve *c)
{
	const struct format *to = p->a->format, *from = p->from->format;

	if (to->full)
		return c->keyed && !c->frames && c->count == p->clip->frames;
	return to->sparse == from->sparse && to->keyframes == from->keyframes &&
	       to->timed == from->timed;
}

/* Refuses two keys of a curve in one frame, which only the format of `from` can store. */
static bool structure_check_repeats(const struct copy *p, const struct track *track, enum role role)
{
	const struct curve *c = track->curve[role];

	for (uint32_t key = 1; !c->timing && key < c->count; key++) {
		if (curve_frame(c, key) == curve_frame(c, key - 1))
			return err_set(p->err, ERR_STORE,
				       "the %s of %s in %s has two keys in frame %u, and %s files "
				       "can have one",
				       role_names[role], track->label, p->clip->label,
				       curve_frame(c, key), p->a->format->name);
	}
	return true;
}

/*
 * Returns a curve of the same motion that has keys in the frames where the format of `a` stores
 * them.
 */
static const struct curve *structure_lay_out(const struct copy *p, const struct curve *c)
{
	const struct format *format = p->a->format;
	uint32_t frames = p->clip->frames, shown = c->keyed ? curve_shown(c, frames) : 1, first;
	struct curve *made;

	if (format->full)
		return structure_sample_curve(p->a, c, 0, frames);
	if (!format->sparse) {
		made = structure_sample_curve(p->a, c, 0, c->count == 1 ? 1 : frames);
		if (made)
			made->keyed = c->count > 1;
		return made;
	}
	first = c->keyed && shown ? curve_frame(c, 0) : 0;
	return structure_sample_curve(p->a, c, first,
				      shown ? curve_frame(c, shown - 1) - first + 1 : 0);
}

/*
 * Gives each quaternion the sign that is nearer to the one before: with tangents, each component is
 * interpolated by itself.
 */
static const struct curve *turn_to_sides(struct anim *a, const struct curve *c)
{
	struct curve *made = structure_new_curve(a, c, c->count);
	double *values = made ? (double *)made->values : NULL;

	if (!made)
		return NULL;
	made->keyed = c->keyed;
	made->frames = c->frames;
	for (uint32_t key = 0; key < c->count; key++, values += 4) {
		double dot = 0;

		for (unsigned axis = 0; axis < 4; axis++)
			values[axis] = curve_value(c, key, axis);
		for (unsigned axis = 0; key > 0 && axis < 4; axis++)
			dot += values[axis] * (values - 4)[axis];
		for (unsigned axis = 0; dot < 0 && axis < 4; axis++)
			values[axis] = -values[axis];
	}
	return made;
}

static bool copy_curve(const struct copy *p, const struct track *from, enum role role,
		       struct track *to)
{
	const struct curve *c = from->curve[role];

	if (!c)
		return true;
	if (!is_laid_out(p, c)) {
		if (!structure_check_repeats(p, from, role))
			return false;
		c = structure_lay_out(p, c);
	}
	if (c && role == ROLE_ROTATION && c->kind != to->rotation)
		c = rotation_convert(c, to->rotation, &p->a->arena);
	if (c && p->a->format->timed && c->kind == CURVE_QUATERNION && !c->timing)
		c = turn_to_sides(p->a, c);
	to->curve[role] = c;
	return c || err_memory(p->err);
}

/* ---- keyframes ---- */

/* Refuses keyframes with flags, which other formats cannot store. */
static bool structure_check_keyframes(const struct copy *p, const struct track *track)
{
	const struct keyframes *k = track->keyframes;

	for (uint32_t i = 0; i < k->count; i++) {
		if (k->flags[i] || !k->roles[i]) {
			err_set(p->err, ERR_STORE,
				"the keyframe of %s in frame %u of %s has %s, which %s files "
				"cannot store",
				track->label, k->frames[i], p->clip->label,
				k->flags[i] ? "flags" : "no part", p->a->format->name);
			return err_accept(p->err, "keyframes with parts, and 0 as their flags");
		}
	}
	return true;
}

/*
 * Returns bits of the roles that have a key in the frame; `next` has the index of the next key of
 * each role.
 */
static uint8_t roles_at(const struct track *track, uint32_t frame, uint32_t next[ROLE_COUNT])
{
	uint8_t roles = 0;

	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const struct curve *c = track->curve[role];

		if (!c || next[role] >= c->count || curve_frame(c, next[role]) != frame)
			continue;
		roles |= (uint8_t)(1u << role);
		next[role]++;
	}
	return roles;
}

/* Makes a keyframe for each frame in which a curve has a key. */
static bool make_keyframes(const struct copy *p, struct track *track)
{
	uint32_t next[ROLE_COUNT] = {0}, count = p->clip->frames;
	struct keyframes *made = arena_alloc(&p->a->arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(&p->a->arena, count, sizeof(*frames));
	uint8_t *roles = arena_alloc(&p->a->arena, count, 1);
	uint8_t *flags = arena_alloc(&p->a->arena, count, 1);

	if (!made || !frames || !roles || !flags)
		return err_memory(p->err);
	*made = (struct keyframes){.frames = frames, .flags = flags, .roles = roles};
	for (uint32_t frame = 0; frame < count; frame++) {
		roles[made->count] = roles_at(track, frame, next);
		frames[made->count] = frame;
		made->count += roles[made->count] != 0;
	}
	track->keyframes = made;
	return true;
}

static bool copy_keyframes(const struct copy *p, const struct track *from, struct track *to)
{
	bool had = p->from->format->keyframes, has = p->a->format->keyframes;

	if (had == has)
		return true;
	to->keyframes = NULL;
	return has ? make_keyframes(p, to) : structure_check_keyframes(p, from);
}

/* ---- bones ---- */

static bool name_as(struct track *to, const char *name, struct err *err)
{
	to->name = to->label = name;
	return name || err_memory(err);
}

/* Parses the number in a label like "bone012", where "bone" is the prefix. */
static bool structure_number(const char *label, const char *prefix, uint32_t *number)
{
	size_t size = strlen(prefix);

	if (strncmp(label, prefix, size) != 0 || strspn(label + size, "0123456789") != 3 ||
	    label[size + 3] != '\0')
		return false;
	*number = (uint32_t)strtoul(label + size, NULL, 10);
	return true;
}

/* Parses the number in the form of names in Final Fantasy IX on Steam. */
static bool path_number(const char *label, uint32_t *number)
{
	return structure_number(label, "bone", number);
}

/*
 * Returns the part of a path that stands for the bone with this label in the format copied from.
 * The bone may be one of the skeleton that the clip lacks. "bone_012" of a numbered bone becomes
 * "bone012". NULL when out of memory.
 */
static const char *part_of_path(const struct copy *p, const char *label)
{
	int64_t known = string_map_find(&p->labels, label);
	struct arena *arena = &p->a->arena;
	struct buf name = BUF_INIT;
	const char *part;
	uint32_t number;

	if (structure_number(label, "bone_", &number))
		return arena_format(arena, "bone%03u", number);
	if (known >= 0)
		return p->clip->tracks[known].name;
	if (name_unescape(label, &name))
		part = arena_text(arena, (const char *)name.data, name.size);
	else
		part = name.failed ? NULL : arena_text(arena, label, strlen(label));
	buf_release(&name);
	return part;
}

#define PATH_PARTS_MAX 64

/* Names a bone by a path: the bones above it, then the bone. */
static bool name_as_path(const struct copy *p, struct track *to)
{
	const struct hierarchy *h = p->hierarchy;
	const char *part = part_of_path(p, to->label), *path = part, *above = to->label;

	to->label = part;
	for (unsigned parts = 1; path && h && (above = h->parent(h->closure, above)); parts++) {
		if (parts == PATH_PARTS_MAX)
			return err_set(p->err, ERR_STORE,
				       "%s is below more than %u other bones, which is too long "
				       "for a path",
				       to->label, PATH_PARTS_MAX - 1);
		part = part_of_path(p, above);
		path = part ? arena_format(&p->a->arena, "%s/%s", part, path) : NULL;
	}
	to->name = path;
	return path || err_memory(p->err);
}

/*
 * Names the copy of a bone. Between a format whose bones are numbered and one whose bones are
 * paths, "bone_012" becomes "bone012". Other formats get the last part of a path. Otherwise the
 * stored name is kept; a format that stores numbers needs a name that stands for a number.
 */
static bool structure_copy_name(const struct copy *p, struct track *to)
{
	uint32_t number;

	if (p->a->format->paths && !p->from->format->paths)
		return name_as_path(p, to);
	if (!p->a->format->paths)
		to->name = name_of_bone(p->from->format, to->name);
	if (!p->a->format->bone_name ||
	    bone_number(p->a->format, p->a->bone_names, to->name, &number))
		return true;
	if (p->a->format->bones_counted && path_number(to->label, &number))
		return name_as(to, bone_name(p->a->format, NULL, &p->a->arena, number), p->err);
	label_bone(p->a, to->label, 0, 0, p->err);
	return without_place(p->err);
}

/* Notes the labels of the clip's tracks, if names become paths. */
static bool structure_note_labels(struct copy *p)
{
	if (!p->a->format->paths || p->from->format->paths)
		return true;
	for (uint32_t i = 0; i < p->clip->track_count; i++)
		if (string_map_add(&p->labels, p->clip->tracks[i].label, i) < 0)
			return err_memory(p->err);
	return true;
}

static bool copy_track(const struct copy *p, const struct track *from, const struct clip *clip,
		       struct track *to)
{
	struct track usual = clip_new_track(p->a, clip);

	*to = *from;
	to->origin = ANIM_NEW;
	if (p->convert) {
		to->roles = usual.roles;
		to->rotation = usual.rotation;
	} else if (from->curve[ROLE_ROTATION]) {
		to->rotation = from->curve[ROLE_ROTATION]->kind;
	}
	if (!structure_copy_name(p, to))
		return false;
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		if (!copy_curve(p, from, role, to))
			return false;
	}
	if (p->a->format->full && !clip_rest_curves(p->a, clip, to))
		return err_memory(p->err);
	return copy_keyframes(p, from, to);
}

/*
 * The index of the source's bone to copy to index `place`. If paths become numbered bones, that is
 * the bone whose path has this number.
 */
static uint32_t structure_place_of(const struct copy *p, uint32_t place)
{
	uint32_t number;

	for (uint32_t i = 0; p->a->format->bones_counted && i < p->clip->track_count; i++)
		if (path_number(p->clip->tracks[i].label, &number) && number == place)
			return i;
	return place;
}

/* Copies tracks in order, since what a new bone can store depends on the bones before it. */
static bool structure_copy_tracks(const struct copy *p, struct clip *to)
{
	struct track *tracks = arena_alloc(&p->a->arena, p->clip->track_count, sizeof(*tracks));

	if (!tracks)
		return err_memory(p->err);
	to->tracks = tracks;
	to->tracks_own = true;
	to->track_count = 0;
	for (uint32_t i = 0; i < p->clip->track_count; i++) {
		if (!copy_track(p, &p->clip->tracks[structure_place_of(p, i)], to, &tracks[i]))
			return false;
		to->track_count++;
	}
	return true;
}

/* ---- clips ---- */

static bool copy_stills(const struct copy *p, struct clip *to)
{
	struct still *stills;

	if (!p->a->format->stills)
		return true;
	stills = arena_alloc(&p->a->arena, to->frames, sizeof(*stills));
	if (!stills)
		return err_memory(p->err);
	for (uint32_t i = 0; i < to->frames; i++) {
		stills[i] = p->clip->stills[i];
		stills[i].origin = ANIM_NEW;
	}
	to->stills = stills;
	return true;
}

/* Copies the fields of the file. */
static void copy_header(struct anim *a, const struct anim *from)
{
	a->version = from->version;
	a->rate = from->rate;
	a->field_count = from->field_count;
	a->fields = from->fields;
}

static bool check_kinds(const struct copy *p)
{
	const struct format *to = p->a->format, *from = p->from->format;

	if (to->stills == from->stills)
		return true;
	return err_set(
		p->err, ERR_STORE,
		from->stills
			? "%s is a list of stills, as %s files have them, and %s files store curves"
			: "%s is made of curves, as %s files have them, and %s files list stills",
		p->clip->label, from->name, to->name);
}

/* Converts all values of the clip except its bones. */
static bool convert_values(const struct copy *p, struct clip *to)
{
	if (!structure_take_fields(p->a, p->clip, to))
		return err_memory(p->err);
	return set_seconds(p->a, to, anim_seconds_per_frame(p->from, p->clip), p->err) &&
	       take_loop(p->a, p->clip, to, p->err);
}

bool anim_clip_copy(struct anim *a, const struct anim *from, uint32_t clip, const char *label,
		    const struct hierarchy *hierarchy, struct err *err)
{
	struct copy p = {.a = a,
			 .from = from,
			 .clip = &from->clips[clip],
			 .hierarchy = hierarchy,
			 .err = err};
	bool blank = is_blank(a);
	struct clip copied = *p.clip;
	struct clip *to;
	bool fine;

	copied.origin = ANIM_NEW;
	copied.tracks = NULL;
	copied.track_count = 0;
	if (!check_kinds(&p) || !name_clip(a, ANIM_NEW, label, &copied, err))
		return false;
	if (blank && a->format == from->format)
		copy_header(a, from);
	p.convert = a->format != from->format || a->version != from->version;
	if (a->format != from->format && !convert_values(&p, &copied))
		return false;
	to = structure_add_clip(a, &copied, err);
	fine = to && copy_stills(&p, to) && structure_note_labels(&p) &&
	       structure_copy_tracks(&p, to);
	string_map_release(&p.labels);
	return fine;
}

bool anim_clip_new(struct anim *a, const char *label, uint32_t frames, struct err *err)
{
	static const struct clip none;
	struct clip made = {.origin = ANIM_NEW, .frames = frames};

	if (frames < 1 || frames > a->format->max_frames) {
		err_set(err, ERR_STORE, "clips of %s files cannot have %u frames", a->format->name,
			frames);
		return err_accept(err, "1 to %u", a->format->max_frames);
	}
	if (!name_clip(a, ANIM_NEW, label, &made, err))
		return false;
	if (!structure_take_fields(a, &none, &made))
		return err_memory(err);
	return set_seconds(a, &made, 1 / a->rate, err) && take_loop(a, &none, &made, err) &&
	       structure_add_clip(a, &made, err);
}

/* ---- bones ---- */

static bool name_bone(struct anim *a, const struct clip *clip, const struct track *own,
		      const char *label, struct track *to, struct err *err)
{
	const struct track *other = track_labelled(clip, 0, label);
	const char *name = label_bone(a, label, 0, 0, err);

	if (!name)
		return without_place(err);
	if (other && other != own)
		return err_set(err, ERR_TEXT, "%s has a bone called \"%s\" already", clip->label,
			       label);
	to->name = name;
	to->label = arena_text(&a->arena, label, strlen(label));
	return to->label || err_memory(err);
}

/*
 * Where the names of bones are paths: puts the parent's path before the name of a renamed bone, and
 * the bone's new path into the names of all bones below it.
 */
static bool keep_path(struct anim *a, struct clip *c, struct track *t, const char *old)
{
	const char *slash = strrchr(old, '/');
	size_t size = strlen(old);

	if (slash)
		t->name = arena_format(&a->arena, "%.*s%s", (int)(slash + 1 - old), old, t->name);
	for (uint32_t i = 0; t->name && i < c->track_count; i++) {
		struct track *below = (struct track *)&c->tracks[i];

		if (below == t || strncmp(below->name, old, size) != 0 || below->name[size] != '/')
			continue;
		below->name = arena_format(&a->arena, "%s%s", t->name, below->name + size);
		if (!below->name)
			return false;
	}
	return t->name != NULL;
}

bool anim_bone_rename(struct anim *a, uint32_t clip, uint32_t track, const char *label,
		      struct err *err)
{
	struct track *t = anim_edit_track(a, clip, track);
	struct clip *c = anim_edit_clip(a, clip);
	const char *old;

	if (!t || !c)
		return err_memory(err);
	old = t->name;
	return name_bone(a, c, t, label, t, err) &&
	       (!a->format->paths || keep_path(a, c, t, old) || err_memory(err));
}

bool anim_bone_remove(struct anim *a, uint32_t clip, uint32_t track, struct err *err)
{
	struct clip *c = anim_edit_clip(a, clip);
	struct track *tracks;

	if (!c)
		return err_memory(err);
	tracks = (struct track *)c->tracks;
	c->track_count--;
	memmove(tracks + track, tracks + track + 1, (c->track_count - track) * sizeof(*tracks));
	return true;
}

bool anim_bone_add(struct anim *a, uint32_t clip, const char *label, struct err *err)
{
	struct clip *c = anim_edit_clip(a, clip);
	struct track added;

	if (!c)
		return err_memory(err);
	if (a->format->stills)
		return err_set(err, ERR_STORE, "%s files have no bones", a->format->name);
	added = clip_new_track(a, c);
	if (!name_bone(a, c, NULL, label, &added, err) || !clip_begin_track(a, c, &added, err))
		return false;
	return clip_add_tracks(a, c, &added, 1) || err_memory(err);
}
