/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statement.h"

#include <stdlib.h>
#include <string.h>

void statement_release(struct statement *s)
{
	free(s->units);
	arena_release(&s->names);
	*s = (struct statement){.names = ARENA_INIT};
}

struct saying {
	struct statement *s;
	const struct digests *known;
	uint32_t number; /* number of the base */
	uint32_t then;   /* number of the version whose text this is; 0: use the text's values */
	const char *clip, *bone;
	bool own; /* the statement copies names, since the caller frees the model first */
};

static bool add_unit(struct saying *t, unit_id unit, struct digest digest, bool changed)
{
	struct statement *s = t->s;
	struct said_unit *units = array_room(s->units, s->count, &s->room, sizeof(*units));

	if (!units)
		return false;
	s->units = units;
	units[s->count++] = (struct said_unit){.unit = unit,
					       .digest = digest,
					       .clip = t->clip,
					       .bone = t->bone,
					       .changed = changed};
	return true;
}

/*
 * Adds a unit's value in version `then`. A curve that did not exist is left out, since its bone may
 * not have existed, and then the text has no value for it.
 */
static bool add_then(struct saying *t, unit_id unit)
{
	struct digest digest = digests_at(t->known, unit, t->then);

	return digest_is_none(digest) ||
	       add_unit(t, unit, digest,
			!digest_same(digest, digests_at(t->known, unit, t->number)));
}

static bool statement_add_value(void *closure, const struct unit_value *value)
{
	struct saying *t = closure;

	if (t->then)
		return add_then(t, value->unit);
	return add_unit(t, value->unit, value->digest,
			!digest_same(value->digest, digests_at(t->known, value->unit, t->number)));
}

/* ---- bones ---- */

/* Adds a value of the text. */
static bool statement_add_said(struct saying *t, unit_id unit, struct digest said)
{
	return add_unit(t, unit, digests_in_form(t->known, unit, said), true);
}

static bool statement_add_kept(struct saying *t, unit_id unit)
{
	return add_unit(t, unit, digests_at(t->known, unit, t->number), false);
}

/* Adds a bone's curves. `was`: the base's track, or NULL. */
static bool add_curves(struct saying *t, const char *clip, const struct track *was,
		       const struct track *now)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		unit_id unit = unit_of_curve(clip, now->label, role);
		const struct curve *c = now->curve[role];
		const struct digest none = {0, 0};
		bool fine;

		if (t->then)
			fine = add_then(t, unit);
		else if (was && c == was->curve[role])
			fine = statement_add_kept(t, unit);
		else
			fine = statement_add_said(t, unit, c ? c->said : none);
		if (!fine)
			return false;
	}
	return true;
}

static bool add_track(struct saying *t, const struct anim *a, const char *clip,
		      const struct track *was, const struct track *now)
{
	unit_id unit = unit_of_curve(clip, now->label, UNIT_KEYFRAMES);

	t->clip = clip;
	t->bone = was      ? was->label
		  : t->own ? arena_text(&t->s->names, now->label, strlen(now->label))
			   : now->label;
	if (!t->bone)
		return false;
	if (!a->format->keyframes)
		return add_curves(t, clip, was, now);
	if (t->then)
		return add_then(t, unit);
	return was && track_same(was, now) ? statement_add_kept(t, unit)
					   : statement_add_said(t, unit, now->said);
}

/* Adds all bones. A track of `now` that comes from one of `was` has its label from there. */
static bool add_tracks(struct saying *t, const struct anim *a, const struct clip *was,
		       const struct clip *now)
{
	for (uint32_t i = 0; i < now->track_count; i++) {
		const struct track *track = &now->tracks[i];
		const struct track *old =
			track->origin < was->track_count ? &was->tracks[track->origin] : NULL;

		if (!add_track(t, a, was->label, old, track))
			return false;
	}
	return true;
}

/* ---- views ---- */

static bool is_view(const struct place *place, const char *file)
{
	return strcmp(place->view->file, file) == 0;
}

/* Returns the set of a clip's own values that a view of a clip or of the file contains. */
static unsigned said_values(const struct place *place, const struct format *format)
{
	if (is_view(place, "clip.json"))
		return UNITS_LOOP | UNITS_OTHERS;
	if (is_view(place, "clip.kanim"))
		return UNITS_LOOP | UNITS_STILLS;
	if (is_view(place, "frames.csv"))
		return UNITS_STILLS;
	return is_view(place, "file.json") && format->stills ? UNITS_LOOP | UNITS_OTHERS : 0;
}

static bool statement_add_clip(struct saying *t, const struct place *place, const struct anim *a,
			       const struct clip *was, const struct clip *now)
{
	unsigned values = said_values(place, a->format);

	t->clip = was->label;
	t->bone = NULL;
	return (!values || units_of_clip(a, now, was->label, values, statement_add_value, t)) &&
	       (values || place->view->place != VIEW_OF_CLIP || add_tracks(t, a, was, now));
}

static bool statement_add_file(struct saying *t, const struct place *place,
			       const struct version *base, const struct anim *edited)
{
	if (is_view(place, "file.json") && !units_of_file(edited, statement_add_value, t))
		return false;
	for (uint32_t i = 0; i < base->anim->clip_count; i++) {
		if (!statement_add_clip(t, place, edited, &base->anim->clips[i], &edited->clips[i]))
			return false;
	}
	return true;
}

static int by_unit(const void *pa, const void *pb)
{
	const struct said_unit *a = pa, *b = pb;

	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static bool finish_statement(struct statement *s, bool fine)
{
	if (s->count)
		qsort(s->units, s->count, sizeof(*s->units), by_unit);
	if (!fine)
		statement_release(s);
	return fine;
}

static bool statement_say_text(struct saying *t, const struct version *base,
			       const struct place *place, const struct anim *edited)
{
	const struct clip *was, *now;

	*t->s = (struct statement){.names = ARENA_INIT};
	if (place->view->place == VIEW_OF_FILE)
		return finish_statement(t->s, statement_add_file(t, place, base, edited));
	was = &base->anim->clips[place->clip];
	now = &edited->clips[place->clip];
	if (place->view->place == VIEW_OF_BONE)
		return finish_statement(t->s,
					add_track(t, edited, was->label, &was->tracks[place->track],
						  &now->tracks[place->track]));
	return finish_statement(t->s, statement_add_clip(t, place, edited, was, now));
}

bool statement_of_text(struct statement *s, const struct digests *known, const struct version *base,
		       uint32_t number, const struct place *place, const struct anim *edited)
{
	struct saying t = {.s = s, .known = known, .number = number, .own = true};

	return statement_say_text(&t, base, place, edited);
}

bool statement_of_noted(struct statement *s, const struct digests *known,
			const struct version *base, uint32_t number, const struct place *place,
			uint32_t then)
{
	struct saying t = {.s = s, .known = known, .number = number, .then = then};

	return statement_say_text(&t, base, place, base->anim);
}

bool statement_of_version(struct statement *s, const struct digests *known, uint32_t number,
			  const struct version *whole)
{
	struct saying t = {.s = s,
			   .known = known,
			   .number = number,
			   .then = digests_of_bytes(known, buf_bytes(&whole->bytes))};
	bool fine;

	*s = (struct statement){.names = ARENA_INIT};
	fine = units_of_file(whole->anim, statement_add_value, &t);
	for (uint32_t i = 0; fine && i < whole->anim->clip_count; i++) {
		const struct clip *c = &whole->anim->clips[i];

		t.clip = c->label;
		t.bone = NULL;
		fine = units_of_clip(whole->anim, c, c->label, ~0u, statement_add_value, &t);
		for (uint32_t j = 0; fine && j < c->track_count; j++) {
			const struct track *track = &c->tracks[j];

			t.bone = track->label;
			fine = t.then ? add_track(&t, whole->anim, c->label, NULL, track)
				      : units_of_track(whole->anim, c, track, statement_add_value,
						       &t);
		}
	}
	return finish_statement(s, fine);
}

/* ---- asking ---- */

const struct said_unit *statement_find(const struct statement *s, unit_id unit)
{
	const struct said_unit key = {.unit = unit};

	return s->count ? bsearch(&key, s->units, s->count, sizeof(key), by_unit) : NULL;
}

bool statement_covers(const struct statement *b, const struct statement *a)
{
	size_t at = 0;

	for (size_t i = 0; i < a->count; i++) {
		while (at < b->count && b->units[at].unit < a->units[i].unit)
			at++;
		if (at == b->count || b->units[at].unit != a->units[i].unit)
			return false;
	}
	return true;
}
