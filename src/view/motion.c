/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion.h"

#include <math.h>

struct span {
	double first, last; /* the first and last frame with a key */
	const struct motion_channel *from, *to;
	bool moves; /* some channel has more than one key */
};

static struct span motion_span(const struct applying *a, const struct motion *m)
{
	struct span s = {
		.first = INFINITY, .last = -INFINITY, .from = m->channels, .to = m->channels};

	for (uint32_t i = 0; i < m->count; i++) {
		const struct motion_channel *c = &m->channels[i];
		double first = c->times[0] / a->figure->seconds;
		double last = c->times[c->count - 1] / a->figure->seconds;

		s.moves |= c->count > 1;
		if (first < s.first) {
			s.first = first;
			s.from = c;
		}
		if (last > s.last) {
			s.last = last;
			s.to = c;
		}
	}
	return s;
}

/*
 * Returns the span of the served keys: the first and last frame with a key. A key between frames is
 * served at its own time or, if the curve is sampled, at the frames beside it: the shorter span
 * counts.
 */
static struct span served_span(const struct applying *a)
{
	const struct clip *stored = &a->at->anim->clips[a->at->clip];
	struct span s = {.first = INFINITY, .last = 0};

	for (uint32_t bone = 0; bone < a->figure->bones; bone++)
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			struct channel c = channel_of(a->figure, bone, (enum role)role);
			const struct curve *keys = bone < stored->track_count
							   ? stored->tracks[bone].curve[role]
							   : NULL;
			double first, last = channel_last(&c);

			if (!channel_next(&c))
				continue;
			first = c.frame;
			/* A clip that is shown on another one has curves that are not its own. */
			if (keys && keys->count > 0 && keys->timing) {
				first = fmax(first, curve_moment(keys, 0));
				last = fmin(last, curve_moment(keys, keys->count - 1));
			}
			s.first = fmin(s.first, first);
			s.last = fmax(s.last, last);
		}
	return s;
}

static bool refuse_span(const struct applying *a, const struct motion_channel *c, const char *what,
			double frame)
{
	double seconds = a->figure->seconds;
	unsigned last = a->figure->clip->frames - 1;

	err_at(a->err, ERR_TEXT, c->at, c->length, "the motion %s at %.6g s, in frame %.6g", what,
	       frame * seconds, frame);
	return err_accept(
		a->err,
		"keys from 0 to %.6g s, the frames 0 to %u of %.9g a second; how many there "
		"are is edited in clip.json",
		last * seconds, last, 1 / seconds);
}

/*
 * Refuses a motion that ends before the served keys do. It was cut: programs leave out frames
 * outside the range that they play. A motion without movement is valid for all frames.
 */
static bool check_span(const struct applying *a, const struct motion *m)
{
	struct span now = motion_span(a, m), was = served_span(a);

	if (m->count == 0)
		return true;
	if (now.first < -0.5 || (now.moves && now.first > was.first + 0.5))
		return refuse_span(a, now.from, "begins", now.first);
	if (now.last > a->figure->clip->frames - 0.5 || (now.moves && now.last < was.last - 0.5))
		return refuse_span(a, now.to, "ends", now.last);
	return true;
}

static double reach_of(const struct figure *f)
{
	double reach = 0;

	for (uint32_t bone = 0; bone < f->bones; bone++) {
		struct channel c = channel_of(f, bone, ROLE_TRANSLATION);

		while (reach < REACH_MAX && channel_next(&c))
			for (unsigned axis = 0; axis < 3; axis++)
				reach = fmax(reach, fabs(c.value[axis]));
	}
	return fmin(reach, REACH_MAX);
}

static bool apply_channels(struct applying *a, const struct motion *m)
{
	a->reach = reach_of(a->figure);
	if (!check_span(a, m))
		return false;
	for (uint32_t i = 0; i < m->count; i++)
		if (!motion_role(a, &m->channels[i]))
			return false;
	return true;
}

struct anim *motion_apply(const struct shown *at, const struct motion *m, struct bytes text,
			  struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct figure figure;
	struct applying a = {.at = at,
			     .figure = &figure,
			     .text = text,
			     .edited = anim_edit(at->anim),
			     .err = err};
	bool fine = false;

	if (!figure_present(at))
		figure_explain(at, err);
	else if (!a.edited || !figure_make(&figure, at, &arena))
		err_memory(err);
	else
		fine = apply_channels(&a, m);
	arena_release(&arena);
	if (fine)
		return a.edited;
	anim_free(a.edited);
	return NULL;
}
