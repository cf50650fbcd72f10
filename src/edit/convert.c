/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "convert.h"

#include "model/bones.h"
#include "model/clip.h"
#include "model/names.h"
#include "structure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_TIME 1e-6     /* in frames: the error of a float32 time */
#define REST 1e-6          /* a value this near to that of no key says nothing */
#define SAME_DURATION 1e-3 /* in frames */
#define NAMED 3            /* bones that a line names */

/* A clip being reduced. */
struct reducing {
	struct anim *edited;
	const struct anim *to;
	uint32_t clip;
	struct buf *lost;
};

/* The bones that a line is about: how many, and the first of their names. */
struct losers {
	uint32_t count;
	struct buf names;
};

static const struct clip *reduced_clip(const struct reducing *r)
{
	return &r->edited->clips[r->clip];
}

static void add_loser(struct losers *l, const struct track *track)
{
	if (l->count < NAMED)
		buf_format(&l->names, "%s%s", l->count ? ", " : "", track->label);
	if (l->count++ == NAMED)
		buf_text(&l->names, " ...");
}

/* "walk: the scale of 12 bones (hips, spine, head ...)", if there are any. */
static bool say_losers(const struct reducing *r, const char *what, struct losers *l)
{
	if (l->count) {
		buf_char(&l->names, '\0');
		buf_format(r->lost, "%s: %s of %u bone%s (%s)\n", reduced_clip(r)->label, what,
			   (unsigned)l->count, l->count > 1 ? "s" : "",
			   l->names.failed ? "" : (const char *)l->names.data);
	}
	buf_release(&l->names);
	*l = (struct losers){.count = 0};
	return !r->lost->failed;
}

/* ---- what only one format has ---- */

/*
 * Is there anything to lose? `rate`: the name of the field that the time of a frame follows. `to`:
 * the other format, which stores a loop as the same number, if any.
 */
static bool says_something(const struct field *f, const char *rate, const struct format *to)
{
	if (f->derived || f->storage || (to->has_loop && strcmp(f->name, "loop") == 0))
		return false;
	if (f->type == FIELD_TEXT)
		return *f->text != '\0';
	if (f->type == FIELD_REAL && rate && strcmp(f->name, rate) == 0)
		return !(isfinite(f->real) && f->real > 0);
	if (f->type == FIELD_REAL)
		return f->real != 0;
	return strcmp(f->name, "loop") == 0 ? f->integer != 0 && f->integer != 1 : f->integer != 0;
}

static void convert_say_field(const struct field *f, struct buf *lost)
{
	size_t at = lost->size;

	if (f->type == FIELD_TEXT)
		buf_format(lost, "%s \"%s\"", f->name, f->text);
	else if (f->type == FIELD_REAL)
		buf_format(lost, "%s %g", f->name, f->real);
	else
		buf_format(lost, "%s %" PRId64, f->name, f->integer);
	buf_one_line(lost, at);
}

/* "walk: counter1 160, flag 4" */
static void say_fields(const struct field *fields, uint32_t count, const char *rate,
		       const struct format *to, const char *whose, struct buf *lost)
{
	const char *before = whose;

	for (uint32_t i = 0; i < count; i++) {
		if (!says_something(&fields[i], rate, to))
			continue;
		buf_format(lost, "%s%s", before, before == whose ? ": " : ", ");
		before = "";
		convert_say_field(&fields[i], lost);
	}
	if (before != whose)
		buf_char(lost, '\n');
}

static int by_address(const void *pa, const void *pb)
{
	const char *a = *(const char *const *)pa, *b = *(const char *const *)pb;

	return a < b ? -1 : a > b;
}

/* The names of all bones that have a track, by address; NULL: no memory. */
static const char **names_in_use(const struct anim *a, size_t *count)
{
	const char **names;

	*count = 0;
	for (uint32_t i = 0; i < a->clip_count; i++)
		*count += a->clips[i].track_count;
	names = malloc((*count + 1) * sizeof(*names));
	if (!names)
		return NULL;
	*count = 0;
	for (uint32_t i = 0; i < a->clip_count; i++)
		for (uint32_t j = 0; j < a->clips[i].track_count; j++)
			names[(*count)++] = a->clips[i].tracks[j].name;
	qsort(names, *count, sizeof(*names), by_address);
	return names;
}

/* Names in the file's list that no clip uses. Tracks have pointers to those of the list. */
static bool say_unused_bones(const struct anim *a, struct buf *lost)
{
	size_t count;
	const char **names = names_in_use(a, &count);
	uint32_t unused = 0;

	for (uint32_t i = 0; names && i < a->bone_count; i++)
		unused += !bsearch(&a->bones[i], names, count, sizeof(*names), by_address);
	if (unused)
		buf_format(lost, "the file: %u name%s of bones that no clip has\n",
			   (unsigned)unused, unused > 1 ? "s" : "");
	free(names);
	return names != NULL;
}

/* Numbers stay as they are, and mean something else. */
static void say_spaces(const struct format *from, const struct format *to, struct buf *lost)
{
	if (from->y_down != to->y_down)
		buf_format(lost,
			   "the file: that Y points %s: the values stay, in %s it points %s\n",
			   from->y_down ? "down" : "up", to->name, to->y_down ? "down" : "up");
	if (from->flat != to->flat)
		buf_format(
			lost,
			"the file: the space of its bones, %s: the values stay, in %s it is %s\n",
			from->flat ? "the model's" : "their parents'", to->name,
			to->flat ? "the model's" : "their parents'");
	if (strcmp(from->length, to->length) != 0)
		buf_format(lost,
			   "the file: its unit of length, %s: the values stay, in %s it is %s\n",
			   from->length, to->name, to->length);
}

static bool reduce_file(const struct reducing *r)
{
	const struct anim *a = r->edited;

	if (a->beyond)
		buf_format(r->lost, "the file: %s\n", a->beyond);
	if (a->part_count)
		buf_format(r->lost, "the file: the list of its %u files\n",
			   (unsigned)a->part_count);
	say_fields(a->fields, a->field_count, NULL, r->to->format, "the file", r->lost);
	say_spaces(a->format, r->to->format, r->lost);
	return say_unused_bones(a, r->lost) && !r->lost->failed;
}

static void reduce_fields(const struct reducing *r)
{
	const struct clip *clip = reduced_clip(r);

	say_fields(clip->fields, clip->field_count, r->edited->format->rate_field, r->to->format,
		   clip->label, r->lost);
}

/* ---- the clip ---- */

/* The new file gets the duration that follows from its frames. */
static void reduce_duration(const struct reducing *r)
{
	const struct anim *a = r->edited;
	const struct clip *clip = reduced_clip(r);
	double seconds = anim_seconds_per_frame(a, clip), unit = a->format->rate > 0 ? a->rate : 1;
	double stored = (double)clip->duration / unit,
	       length = clip->frames ? (clip->frames - 1) * seconds : 0;

	if (a->format->has_frame_time && !(clip->frame_time > 0 && isfinite(clip->frame_time)))
		buf_format(r->lost, "%s: its frame time, %g: frames get %g s\n", clip->label,
			   (double)clip->frame_time, seconds);
	if (a->format->has_duration &&
	    !(fabs(stored - length) <= SAME_DURATION * seconds + SAME_TIME * length))
		buf_format(r->lost, "%s: its duration, %g s: its frames take %g s\n", clip->label,
			   stored, length);
}

static bool reduce_loop(const struct reducing *r)
{
	struct clip *clip;

	if (!reduced_clip(r)->loop || r->to->format->has_loop)
		return true;
	buf_format(r->lost, "%s: that it loops\n", reduced_clip(r)->label);
	clip = anim_edit_clip(r->edited, r->clip);
	return clip && clip_set_loop(r->edited, clip, false);
}

/* The curve with a key in each of `count` frames, each `step` of its own. */
static const struct curve *resample(struct anim *a, const struct curve *c, uint32_t count,
				    double step)
{
	struct curve *made = arena_alloc(&a->arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(&a->arena, count, sizeof(*frames));
	unsigned width = curve_width(c);
	double *values = arena_alloc(&a->arena, count, width * sizeof(*values)), value[4];

	if (!made || !frames || !values)
		return NULL;
	*made = (struct curve){.kind = c->kind,
			       .interpolation = c->interpolation,
			       .keyed = true,
			       .count = count,
			       .frames = c->frames ? frames : NULL,
			       .values = values};
	for (unsigned axis = 0; axis < 4; axis++)
		made->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	for (uint32_t i = 0; i < count; i++) {
		frames[i] = i;
		curve_sample(c, i * step, value);
		memcpy(values + (size_t)i * width, value, width * sizeof(*value));
	}
	return made;
}

static bool resample_track(const struct reducing *r, uint32_t track, uint32_t count, double step)
{
	struct track *t = anim_edit_track(r->edited, r->clip, track);

	for (unsigned role = 0; t && role < ROLE_COUNT; role++) {
		const struct curve *c = t->curve[role];

		if (!c || !c->keyed || c->count < 2)
			continue;
		t->curve[role] = resample(r->edited, c, count, step);
		if (!t->curve[role])
			return false;
	}
	return t != NULL;
}

/* A format whose frames all take the same time gets the motion at its own rate. */
static bool reduce_rate(const struct reducing *r)
{
	const struct format *format = r->to->format;
	const struct clip *was = reduced_clip(r);
	double seconds = anim_seconds_per_frame(r->edited, was);
	double step = 1 / (r->to->rate * seconds);
	struct clip *clip;
	uint32_t count;

	if (format->has_frame_time || format->rate_field || format->stills ||
	    r->edited->format->keyframes || was->frames < 2 || fabs(1 / step - 1) <= SAME_TIME ||
	    !isfinite(step) || (was->frames - 1) / step >= UINT32_MAX)
		return true;
	count = (uint32_t)((was->frames - 1) / step + SAME_TIME) + 1;
	buf_format(r->lost, "%s: its %u frames: %s files have %g a second, which are %u\n",
		   was->label, (unsigned)was->frames, format->name, r->to->rate, (unsigned)count);
	for (uint32_t i = 0; i < was->track_count; i++)
		if (!resample_track(r, i, count, step))
			return false;
	clip = anim_edit_clip(r->edited, r->clip);
	if (!clip)
		return false;
	clip->frames = count;
	clip->frame_time *= (float)step;
	return true;
}

/* ---- bones ---- */

/* Does the curve say nothing but what a bone without it does? */
static bool is_rest(const struct curve *c, enum role role)
{
	for (uint32_t key = 0; key < c->count; key++)
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			if (!(fabs(curve_value(c, key, axis) - (role == ROLE_SCALE)) <= REST))
				return false;
	return role != ROLE_ROTATION;
}

/* What only the first bone of a format can have, or none. */
static bool reduce_roles(const struct reducing *r, enum role role)
{
	const uint8_t *roles = r->to->format->roles;
	struct losers losers = {.count = 0};
	char what[32] = "the ";

	for (uint32_t i = 0; i < reduced_clip(r)->track_count; i++) {
		const struct track *was = &reduced_clip(r)->tracks[i];
		uint8_t can = roles[i > 0] ? roles[i > 0] : 7;
		struct track *track;

		if (!was->curve[role] || (can & 1u << role))
			continue;
		if (!is_rest(was->curve[role], role))
			add_loser(&losers, was);
		track = anim_edit_track(r->edited, r->clip, i);
		if (!track) {
			buf_release(&losers.names);
			return false;
		}
		track->curve[role] = NULL;
	}
	strcat(what, role_names[role]);
	return say_losers(r, what, &losers);
}

/* The least and the largest number that a grid of the format holds, and half its step. */
struct range {
	double least, most, half;
};

static bool is_beyond(const struct range *g, double value)
{
	return value < g->least - g->half || value > g->most + g->half;
}

static bool reaches_beyond(const struct curve *c, const struct range *g)
{
	for (uint32_t key = 0; key < c->count; key++)
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			if (is_beyond(g, curve_value(c, key, axis)))
				return true;
	return false;
}

/* The curve with the nearest numbers that the range has; NULL when out of memory. */
static const struct curve *within_range(struct anim *a, const struct curve *c,
					const struct range *g)
{
	struct curve *made = arena_alloc(&a->arena, 1, sizeof(*made));
	unsigned width = curve_width(c);
	double *values = arena_alloc(&a->arena, c->count, width * sizeof(*values));

	if (!made || !values)
		return NULL;
	*made = *c;
	made->stored = NULL;
	made->values = values;
	for (unsigned axis = 0; axis < width; axis++)
		made->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	for (uint32_t key = 0; key < c->count; key++)
		for (unsigned axis = 0; axis < width; axis++) {
			double value = curve_value(c, key, axis);

			if (is_beyond(g, value))
				value = value < g->least ? g->least : g->most;
			values[(size_t)key * width + axis] = value;
		}
	return made;
}

/*
 * Numbers past the ends of the target's grid become the end. A NaN stays, and is refused, as angles
 * are that only become too large in the other form.
 */
static bool reduce_range(const struct reducing *r, enum role role)
{
	const struct lane *lane = r->to->format->lanes[role];
	struct losers losers = {.count = 0};
	struct range g;
	char what[96];

	if (!lane || lane->form != LANE_GRID || lane->turn > 0)
		return true;
	g.least = lane->unit * (double)lane->base;
	g.most = lane->unit * ((double)lane->base + UINT16_MAX * (double)lane->step);
	g.half = lane->unit * (double)lane->step / 2;
	for (uint32_t i = 0; i < reduced_clip(r)->track_count; i++) {
		const struct curve *c = reduced_clip(r)->tracks[i].curve[role];
		struct track *track;

		if (!c || c->kind == CURVE_QUATERNION || !reaches_beyond(c, &g))
			continue;
		track = anim_edit_track(r->edited, r->clip, i);
		if (track)
			track->curve[role] = within_range(r->edited, c, &g);
		if (!track || !track->curve[role]) {
			buf_release(&losers.names);
			return false;
		}
		add_loser(&losers, track);
	}
	snprintf(what, sizeof(what), "the %s beyond %.9g to %.9g (the nearest end instead)",
		 role_names[role], g.least, g.most);
	return say_losers(r, what, &losers);
}

/* Do keys stand where the target stores them? Otherwise the curve gets a key in each frame. */
static bool keeps_keys(const struct reducing *r)
{
	const struct format *to = r->to->format, *from = r->edited->format;

	return !to->full && to->sparse == from->sparse && to->keyframes == from->keyframes &&
	       to->timed == from->timed;
}

/* The curve with only the last key of each frame. */
static const struct curve *without_repeats(struct anim *a, const struct curve *c)
{
	struct curve *made = arena_alloc(&a->arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(&a->arena, c->count, sizeof(*frames));
	unsigned width = curve_width(c);
	double *values = arena_alloc(&a->arena, c->count, width * sizeof(*values));

	if (!made || !frames || !values)
		return NULL;
	*made = *c;
	made->count = 0;
	made->frames = frames;
	made->stored = NULL;
	made->values = values;
	for (unsigned axis = 0; axis < 4; axis++)
		made->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	for (uint32_t key = 0; key < c->count; key++) {
		if (curve_last_in_frame(c, key) != key)
			continue;
		for (unsigned axis = 0; axis < width; axis++)
			values[(size_t)made->count * width + axis] = curve_value(c, key, axis);
		frames[made->count++] = c->frames[key];
	}
	return made;
}

static bool has_repeats(const struct curve *c)
{
	for (uint32_t key = 1; c->frames && !c->timing && key < c->count; key++)
		if (c->frames[key] == c->frames[key - 1])
			return true;
	return false;
}

static bool drop_repeats(const struct reducing *r, uint32_t track, struct losers *losers)
{
	struct track *t = NULL;

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *c = reduced_clip(r)->tracks[track].curve[role];

		if (!c || !has_repeats(c))
			continue;
		if (!t)
			t = anim_edit_track(r->edited, r->clip, track);
		if (!t)
			return false;
		t->curve[role] = without_repeats(r->edited, c);
		if (!t->curve[role])
			return false;
	}
	if (t)
		add_loser(losers, t);
	return true;
}

static bool reduce_repeats(const struct reducing *r)
{
	struct losers losers = {.count = 0};

	for (uint32_t i = 0; i < reduced_clip(r)->track_count && !keeps_keys(r); i++) {
		if (!drop_repeats(r, i, &losers)) {
			buf_release(&losers.names);
			return false;
		}
	}
	return say_losers(r, "all but the last of the keys that a frame has twice", &losers);
}

enum key_loss { LOSS_PAST_END, LOSS_TANGENTS, LOSS_GAPS, LOSS_COUNT };

/* Is a key made in a frame that had none: between the first and the last, or in all of the clip? */
static bool has_gaps(const struct curve *c, uint32_t frames, bool sparse)
{
	uint32_t shown = curve_shown(c, frames);

	if (!c->frames || shown == 0)
		return false;
	if (!sparse && c->count > 1)
		return shown < frames;
	return c->frames[shown - 1] - c->frames[0] > shown - 1 || (!sparse && c->frames[0] > 0);
}

static bool loses_keys(const struct reducing *r, const struct curve *c, enum key_loss loss)
{
	uint32_t frames = reduced_clip(r)->frames;

	switch (loss) {
	case LOSS_PAST_END:
		return c->keyed && curve_shown(c, frames) < c->count;
	case LOSS_TANGENTS:
		return c->timing && c->count > 1;
	default:
		return !c->timing && c->keyed && has_gaps(c, frames, r->to->format->sparse);
	}
}

/* Says what is lost of keys if the curve gets a key in each frame. */
static bool reduce_keys(const struct reducing *r, enum key_loss loss)
{
	static const char *const whats[LOSS_COUNT] = {"the keys past the end",
						      "the tangents (keys in all frames instead)",
						      "which frames have keys (all get one)"};
	bool past = r->to->format->full || r->to->format->sparse || r->edited->format->sparse;
	struct losers losers = {.count = 0};

	if (keeps_keys(r) || (loss == LOSS_PAST_END && !past))
		return true;
	for (uint32_t i = 0; i < reduced_clip(r)->track_count; i++) {
		const struct track *track = &reduced_clip(r)->tracks[i];
		bool lost = false;

		for (unsigned role = 0; role < ROLE_COUNT; role++)
			lost |= track->curve[role] && loses_keys(r, track->curve[role], loss);
		if (lost)
			add_loser(&losers, track);
	}
	return say_losers(r, whats[loss], &losers);
}

/* Is there a keyframe in each frame? A bone is drawn in those only. */
static bool is_always_drawn(const struct keyframes *k, uint32_t frames)
{
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < k->count; i++)
		drawn += i == 0 || k->frames[i] != k->frames[i - 1];
	return drawn == frames;
}

/* Keys of other formats have no flags, and there are none that say nothing. */
static bool strip_keyframes(struct anim *a, struct track *track, uint32_t frames_of_clip,
			    bool *lost)
{
	const struct keyframes *k = track->keyframes;
	struct keyframes *made = arena_alloc(&a->arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(&a->arena, k->count, sizeof(*frames));
	uint8_t *flags = arena_alloc(&a->arena, k->count, 1);
	uint8_t *roles = arena_alloc(&a->arena, k->count, 1);

	if (!made || !frames || !flags || !roles)
		return false;
	*made = (struct keyframes){.frames = frames, .flags = flags, .roles = roles};
	*lost |= !is_always_drawn(k, frames_of_clip);
	for (uint32_t i = 0; i < k->count; i++) {
		*lost |= k->flags[i] || !k->roles[i];
		frames[made->count] = k->frames[i];
		roles[made->count] = k->roles[i];
		made->count += k->roles[i] != 0;
	}
	track->keyframes = made;
	return true;
}

static bool reduce_keyframes(const struct reducing *r)
{
	struct losers losers = {.count = 0};

	for (uint32_t i = 0; i < reduced_clip(r)->track_count && !r->to->format->keyframes; i++) {
		struct track *track;
		bool lost = false;

		if (!reduced_clip(r)->tracks[i].keyframes)
			continue;
		track = anim_edit_track(r->edited, r->clip, i);
		if (!track || !strip_keyframes(r->edited, track, reduced_clip(r)->frames, &lost)) {
			buf_release(&losers.names);
			return false;
		}
		if (lost)
			add_loser(&losers, track);
	}
	return say_losers(r, "the flags of keyframes, and in which frames they are drawn,",
			  &losers);
}

/* Does a curve of the bone reach from the first frame to the last? */
static bool gets_all_frames(const struct track *track, uint32_t frames)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *c = track->curve[role];
		uint32_t shown = c && c->keyed ? curve_shown(c, frames) : 0;

		if (shown && curve_frame(c, 0) == 0 && curve_frame(c, shown - 1) == frames - 1)
			return true;
	}
	return frames <= 1;
}

/* Where bones are drawn only in frames with keyframes, one without keys at its end is not. */
static bool reduce_drawn(const struct reducing *r)
{
	bool drawn = r->to->format->keyframes && !r->edited->format->keyframes;
	struct losers losers = {.count = 0};

	for (uint32_t i = 0; drawn && i < reduced_clip(r)->track_count; i++)
		if (!gets_all_frames(&reduced_clip(r)->tracks[i], reduced_clip(r)->frames))
			add_loser(&losers, &reduced_clip(r)->tracks[i]);
	return say_losers(r, "the frames without keys, in which they are not drawn there,",
			  &losers);
}

static bool has_curves(const struct track *track)
{
	return track->curve[ROLE_TRANSLATION] || track->curve[ROLE_ROTATION] ||
	       track->curve[ROLE_SCALE];
}

/* Where a bone is its keyframes, there are none without. */
static bool reduce_bones(const struct reducing *r)
{
	bool all = !r->to->format->keyframes || r->edited->format->keyframes;
	struct losers losers = {.count = 0};

	for (uint32_t i = reduced_clip(r)->track_count; !all && i > 0; i--) {
		if (has_curves(&reduced_clip(r)->tracks[i - 1]))
			continue;
		add_loser(&losers, &reduced_clip(r)->tracks[i - 1]);
		if (!anim_bone_remove(r->edited, r->clip, i - 1, NULL)) {
			buf_release(&losers.names);
			return false;
		}
	}
	return say_losers(r, "all, since they have no keys,", &losers);
}

/* Is the number in the name "bone012" of a path kept, where bones are counted? */
static bool keeps_path_number(const struct reducing *r, const struct track *track)
{
	unsigned number;
	int end = 0;

	return r->edited->format->paths && r->to->format->bones_counted &&
	       sscanf(track->label, "bone%3u%n", &number, &end) == 1 && track->label[end] == '\0';
}

static bool needs_number(const struct reducing *r, const struct track *track)
{
	const char *name = name_of_bone(r->edited->format, track->name);
	uint32_t number;

	return !bone_number(r->to->format, r->to->bone_names, name, &number) &&
	       !keeps_path_number(r, track);
}

/* Where bones are numbers, and one has a name, all are counted. */
static bool reduce_names(const struct reducing *r)
{
	struct losers losers = {.count = 0};
	uint32_t count = reduced_clip(r)->track_count;
	bool any = false;

	for (uint32_t i = 0; i < count && r->to->format->bone_name; i++)
		any |= needs_number(r, &reduced_clip(r)->tracks[i]);
	for (uint32_t i = 0; any && i < count; i++) {
		struct track *track = anim_edit_track(r->edited, r->clip, i);

		if (track) {
			add_loser(&losers, track);
			track->name = track->label =
				bone_name(r->to->format, NULL, &r->edited->arena, i);
		}
		if (!track || !track->name) {
			buf_release(&losers.names);
			return false;
		}
	}
	return say_losers(r, "the names, which are numbers there,", &losers);
}

/* A path says which bone is the parent. */
static bool reduce_paths(const struct reducing *r)
{
	bool paths = r->edited->format->paths && !r->to->format->paths;
	struct losers losers = {.count = 0};

	for (uint32_t i = 0; paths && i < reduced_clip(r)->track_count; i++)
		if (strchr(reduced_clip(r)->tracks[i].name, '/'))
			add_loser(&losers, &reduced_clip(r)->tracks[i]);
	return say_losers(r, "the path, which says the parent,", &losers);
}

static bool is_before(const struct reducing *r, const struct track *a, const struct track *b)
{
	const struct format *to = r->to->format;
	uint32_t x, y;

	if (to->bone_name && bone_number(to, r->to->bone_names, a->name, &x) &&
	    bone_number(to, r->to->bone_names, b->name, &y))
		return x <= y;
	return strcmp(a->name, b->name) <= 0;
}

static void reduce_order(const struct reducing *r)
{
	const struct clip *clip = reduced_clip(r);
	bool sorted = true;

	for (uint32_t i = 1; i < clip->track_count && r->to->format->bones_sorted; i++)
		sorted = sorted && is_before(r, &clip->tracks[i - 1], &clip->tracks[i]);
	if (!sorted)
		buf_format(r->lost, "%s: the order of its bones\n", clip->label);
}

/* ---- all of it ---- */

static bool reduce_all_keys(const struct reducing *r)
{
	for (enum key_loss loss = 0; loss < LOSS_COUNT; loss++)
		if (!reduce_keys(r, loss))
			return false;
	return reduce_repeats(r) && reduce_keyframes(r);
}

static bool reduce_clip(const struct reducing *r)
{
	reduce_fields(r);
	for (enum role role = 0; role < ROLE_COUNT; role++)
		if (!reduce_roles(r, role) || !reduce_range(r, role))
			return false;
	reduce_duration(r);
	if (!reduce_loop(r) || !reduce_all_keys(r) || !reduce_rate(r) || !reduce_bones(r) ||
	    !reduce_drawn(r) || !reduce_paths(r) || !reduce_names(r))
		return false;
	reduce_order(r);
	return true;
}

/* Formats of one clip get the first. */
static void reduce_clips(struct anim *edited, const struct anim *to, struct buf *lost)
{
	for (uint32_t i = 1; i < edited->clip_count && !to->format->many_clips; i++)
		buf_format(lost, "%s: the clip: %s files hold one\n", edited->clips[i].label,
			   to->format->name);
	if (!to->format->many_clips && edited->clip_count > 1)
		edited->clip_count = 1;
}

struct anim *convert_reduce(const struct anim *from, const struct anim *to, struct buf *lost,
			    struct err *err)
{
	struct reducing r = {.edited = anim_edit(from), .to = to, .lost = lost};
	bool fine = r.edited != NULL;

	if (fine && to->format != from->format && !from->format->stills && !to->format->stills) {
		fine = reduce_file(&r);
		reduce_clips(r.edited, to, lost);
		for (; fine && r.clip < r.edited->clip_count; r.clip++)
			fine = reduce_clip(&r);
	}
	if (fine && !lost->failed)
		return r.edited;
	anim_free(r.edited);
	err_memory(err);
	return NULL;
}
