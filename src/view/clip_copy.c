/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clip_text.h"
#include "model/clip.h"

#include <math.h>
#include <string.h>

/* half the precision of times in a text, which are rounded to a microsecond */
#define TOLD 0.5000001e-6

bool clip_text_is_copy(const struct clip_text *p)
{
	struct spot file = spot_member(&p->root, "file");
	struct spot own = spot_member(&p->root, p->at->anim->format->name);

	return !own.value && clip_text_changed(p, &file);
}

static bool copy_loop(struct clip_text *p)
{
	struct spot s = spot_member(&p->root, "loop");
	bool loop = false;

	if (!s.value)
		return true;
	if (!spot_bool(&s, p->err, &loop))
		return false;
	if (loop && !p->at->anim->format->has_loop)
		return spot_refuse(&s, p->err, ERR_STORE, "%s files store no \"loop\"",
				   p->at->anim->format->name);
	return !p->at->anim->format->has_loop || clip_set_loop(p->edited, p->clip, loop) ||
	       err_memory(p->err);
}

static bool clip_copy_frames(struct clip_text *p)
{
	struct spot s = spot_member(&p->root, "frames");
	int64_t frames;

	/* In a timed format the number of frames follows from the keys. */
	if (!s.value || p->edited->format->timed)
		return true;
	if (!spot_integer(&s, 1, p->at->anim->format->max_frames, p->err, &frames))
		return false;
	if (frames == p->clip->frames)
		return true;
	if (!clip_set_frames(p->edited, p->at->clip, (uint32_t)frames))
		return err_memory(p->err);
	clip_follow_duration(p->edited, p->clip);
	return true;
}

/* Rounds v to a whole number if that is within `tolerance`, the precision of the text. */
static double plain(double v, double tolerance)
{
	return fabs(v - round(v)) <= tolerance ? round(v) : v;
}

/* Sets the frame rate, if the format's files store one. */
static bool set_rate(struct clip_text *p, double seconds)
{
	double rate = (p->clip->frames - 1) / seconds;
	bool found;
	struct field *field =
		clip_edit_field(p->edited, p->clip, p->edited->format->rate_field, &found);

	if (!field)
		return err_memory(p->err);
	field->real = (double)(float)plain(rate, rate * TOLD / seconds);
	p->edited->rate = field->real;
	clip_follow_duration(p->edited, p->clip);
	return true;
}

static void clip_copy_set_frame_time(struct clip_text *p, double seconds)
{
	double rate = p->edited->rate, steps = p->clip->frames - 1;

	p->clip->frame_time = (float)plain(seconds * rate / steps, TOLD * rate / steps);
	clip_follow_duration(p->edited, p->clip);
}

static bool copy_seconds(struct clip_text *p)
{
	struct spot s = spot_member(&p->root, "seconds");
	const struct format *format = p->edited->format;
	double seconds, own;

	if (!s.value || p->clip->frames < 2 || p->edited->format->timed)
		return true;
	if (!spot_real(&s, p->err, &seconds))
		return false;
	own = (p->clip->frames - 1) * anim_seconds_per_frame(p->edited, p->clip);
	if (fabs(seconds - own) <= TOLD)
		return true;
	if (!(seconds > 0) || !isfinite(seconds)) {
		spot_refuse(&s, p->err, ERR_TEXT, "\"seconds\" must be more than 0");
		return err_accept(p->err, "how long the clip takes, such as %.6f", own);
	}
	if (format->has_frame_time) {
		clip_copy_set_frame_time(p, seconds);
		return true;
	}
	if (format->rate_field)
		return set_rate(p, seconds);
	spot_refuse(&s, p->err, ERR_STORE,
		    "%u frames of %s files take %.6f seconds, and no other time is stored",
		    (unsigned)p->clip->frames, format->name, own);
	return err_accept(p->err, "other \"frames\", or a text without \"seconds\"");
}

/* Moves the bone with that label to index `to`, if the bone is at a higher index. */
static bool move_bone(struct track *tracks, uint32_t count, const char *label, uint32_t to)
{
	for (uint32_t i = to; i < count; i++) {
		struct track moved = tracks[i];

		if (strcmp(moved.label, label) != 0)
			continue;
		memmove(&tracks[to + 1], &tracks[to], (i - to) * sizeof(*tracks));
		tracks[to] = moved;
		return true;
	}
	return false;
}

/* Reorders the bones: first those that the text names too, in its order, then the others. */
static bool copy_order(struct clip_text *p)
{
	struct spot list = spot_member(&p->root, "bones"), s;
	const struct format *format = p->at->anim->format;
	uint32_t to = 0;

	if (!list.value || format->bones_counted || format->bones_sorted)
		return true;
	if (!spot_array(&list, p->err))
		return false;
	for (s = spot_first(&list); s.value; spot_next(&s)) {
		const char *label = token_text(token_member(s.value, "bone"));

		if (label &&
		    move_bone((struct track *)p->clip->tracks, p->clip->track_count, label, to))
			to++;
	}
	return true;
}

bool clip_text_copy(struct clip_text *p)
{
	return copy_loop(p) && clip_copy_frames(p) && copy_seconds(p) && copy_order(p);
}
