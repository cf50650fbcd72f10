/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch.h"

#include "model/rotation.h"
#include "statement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NONE UINT32_MAX
#define NO_MEMBER (NONE - 1)

/* ---- a map of 64-bit hashes to places ---- */

struct slot {
	uint64_t key;
	uint32_t place; /* value for the hash; NONE: the slot is free */
};

struct map {
	struct slot *slots;
	size_t mask, count;
};

static struct slot *map_slot(const struct map *m, uint64_t key)
{
	size_t at = (size_t)(key ^ key >> 32) & m->mask;

	while (m->slots[at].place != NONE && m->slots[at].key != key)
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

static uint32_t map_find(const struct map *m, uint64_t key)
{
	return m->slots ? map_slot(m, key)->place : NONE;
}

static bool map_grow(struct map *m)
{
	struct map old = *m;

	m->mask = old.slots ? 2 * old.mask + 1 : 63;
	m->slots = malloc((m->mask + 1) * sizeof(*m->slots));
	if (!m->slots) {
		*m = old;
		return false;
	}
	memset(m->slots, 0xFF, (m->mask + 1) * sizeof(*m->slots));
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].place != NONE)
			*map_slot(m, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
	return true;
}

static bool map_put(struct map *m, uint64_t key, uint32_t place)
{
	if ((!m->slots || 2 * (m->count + 1) > m->mask) && !map_grow(m))
		return false;
	*map_slot(m, key) = (struct slot){key, place};
	m->count++;
	return true;
}

static void map_clear(struct map *m)
{
	free(m->slots);
	*m = (struct map){NULL, 0, 0};
}

/* ---- members ---- */

enum fate {
	FATE_COUNTS,
	FATE_COPY, /* the text equals the origin */
	FATE_TWIN, /* the older view of the same bone as a new text */
};

struct member {
	char *path;
	uint64_t draft;
	struct text *text;
	struct version *base, *whole;
	uint32_t number, since; /* numbers with the meaning of struct batch_text */
	struct place place;
	struct statement said;
	uint64_t *equals;   /* bit for each version up to the start that the text equals */
	bool is_old;        /* the text equals its view in a version */
	bool is_overtaken;  /* another program changed a unit of the text after it was opened */
	bool is_refused;    /* the text was refused when parsed against its base */
	bool is_noted;      /* the text is the noted one of a known version (digests_of_text) */
	bool as_rendered;   /* text of a known version; parsed with shown.as_rendered */
	bool is_silent;     /* returned by batch_next_silent */
	struct anim *loose; /* approximate values of a lossy text of no known version */
	enum fate fate;
};

/* The values that the texts have for one unit. */
struct unit_said {
	unit_id unit;
	struct digest first;  /* value in the first text with the unit, */
	struct digest stored; /* and as stored, rounded to the format's grid */
	const char *clip, *bone;
	uint32_t member;   /* the member that `first` is from */
	bool contradicted; /* two texts have different values */
};

enum mode { MODE_AGREE, MODE_ORIGIN, MODE_ORDER };

/* A unit that others changed: members before `since` do not count for it. */
struct muted {
	unit_id unit;
	size_t since;
	uint32_t number; /* number of the version in which the change was found */
};

struct ruling {
	enum mode mode;
	uint32_t origin;
};

struct batch {
	struct version *start, *ground, *left;
	uint32_t number; /* number of the version at the start */
	uint32_t origin; /* from batch_set_origin; 0: found by the rules */
	const struct digests *known;
	view_set listed;
	char *file_name;

	struct member *members; /* texts in the order in which they were saved */
	size_t count, room;
	size_t size;      /* memory in use; see batch_size */
	struct map paths; /* path of each saved view -> its member, or NO_MEMBER */
	bool generated;   /* a generated text was saved */
	/* common folder of all that was saved, with its slash; NULL: nothing saved yet */
	char *common;
	bool has_last; /* the last text added is a member */

	struct unit_said *said;
	size_t said_count, said_room;
	struct map units;      /* unit -> its index in `said` */
	size_t contradictions; /* number of contradicted units */
	size_t witness;        /* for `said` before this index, no unsaved view has another value */
	uint32_t *equal;       /* for each version: number of texts that equal it */

	struct ruling ruling;
	struct muted *muted;
	size_t muted_count, muted_room;
	struct kept *kept; /* models that the last outcome points into */

	struct anim *read; /* cached result of parsing a member again (batch_curve_of), or NULL */
	uint32_t reader;
};

struct kept {
	struct kept *next;
	struct anim *model;
};

static size_t set_words(const struct batch *b)
{
	return b->number / 64 + 1;
}

static bool equals(const struct member *m, uint32_t number)
{
	return m->equals[number / 64] >> number % 64 & 1;
}

static uint64_t path_hash(const char *path)
{
	return XXH3_64bits(path, strlen(path));
}

static void drop_kept(struct batch *b)
{
	while (b->kept) {
		struct kept *next = b->kept->next;

		anim_free(b->kept->model);
		free(b->kept);
		b->kept = next;
	}
}

static void member_release(struct member *m)
{
	anim_free(m->loose);
	statement_release(&m->said);
	free(m->equals);
	free(m->path);
	text_put(m->text);
	version_put(m->whole);
	version_put(m->base);
}

struct batch *batch_new(struct version *start, uint32_t number, const struct digests *known,
			view_set listed, const char *file_name)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->start = version_get(start);
	b->ground = version_get(start);
	b->left = version_get(start);
	b->number = number;
	b->known = known;
	b->listed = listed;
	b->file_name = strdup(file_name);
	b->equal = calloc((size_t)number + 1, sizeof(*b->equal));
	if (b->file_name && b->equal)
		return b;
	batch_free(b);
	return NULL;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	drop_kept(b);
	anim_free(b->read);
	for (size_t i = 0; i < b->count; i++)
		member_release(&b->members[i]);
	free(b->members);
	free(b->said);
	free(b->equal);
	free(b->muted);
	free(b->file_name);
	free(b->common);
	map_clear(&b->paths);
	map_clear(&b->units);
	version_put(b->left);
	version_put(b->ground);
	version_put(b->start);
	free(b);
}

void batch_set_origin(struct batch *b, uint32_t number)
{
	b->origin = number;
	b->ruling = (struct ruling){MODE_ORIGIN, number};
}

size_t batch_size(const struct batch *b)
{
	return b->size;
}

static size_t member_size(const struct member *m)
{
	return text_capacity(m->text) + m->said.room * sizeof(struct said_unit);
}

/* ---- the values of a text ---- */

static bool batch_is_generated(const struct view *view)
{
	return !view->whole && !view->parse && !view->parse_skeleton;
}

static bool is_lossy(const struct view *view)
{
	return strcmp(view->name, "gltf") == 0 || strcmp(view->name, "bvh") == 0;
}

/* Finds the member's place in another version, by labels. */
static bool batch_place_in(const struct batch *b, const struct member *m, const struct version *v,
			   struct place *out)
{
	const struct tree was = {m->base, b->file_name}, now = {v, b->file_name};

	return tree_again(&now, &was, &m->place, out);
}

static bool says_another(const struct statement *s)
{
	bool changed = false;

	for (size_t i = 0; i < s->count; i++)
		changed |= s->units[i].changed;
	return changed;
}

/*
 * A lossy text is parsed against the start: against the current version it would be an edit of the
 * batch's own changes, and only approximate.
 */
static bool say_lossy(const struct batch *b, struct member *m, const struct anim *edited)
{
	struct version *over = m->base;
	struct place place = m->place, at_start;
	uint32_t number = m->number;
	struct tree tree;
	struct shown at;

	if (m->base == b->start) {
		if (!statement_of_text(&m->said, b->known, over, number, &place, edited))
			return false;
		if (!says_another(&m->said))
			return true;
		statement_release(&m->said);
	} else if (batch_place_in(b, m, b->start, &at_start)) {
		over = b->start;
		number = b->number;
		place = at_start;
	}
	tree = (struct tree){over, b->file_name};
	at = tree_shown(&tree, &place);
	m->loose = place.view->parse(&at, text_bytes(m->text), NULL);
	return !m->loose || statement_of_text(&m->said, b->known, over, number, &place, m->loose);
}

/*
 * Parses a text against its base, as one that is known to be complete. *parsed: NULL if that
 * fails.
 */
static void parse_as_rendered(const struct batch *b, const struct member *m, struct anim **parsed)
{
	const struct tree tree = {m->base, b->file_name};
	struct shown at = tree_shown(&tree, &m->place);

	at.as_rendered = true;
	*parsed = NULL;
	if (m->place.view->parse && !is_lossy(m->place.view))
		*parsed = m->place.view->parse(&at, text_bytes(m->text), NULL);
}

static bool batch_say_text(const struct batch *b, struct member *m, const struct anim *edited)
{
	uint32_t then;

	if (m->whole)
		return statement_of_version(&m->said, b->known, m->number, m->whole);
	then = !edited || m->as_rendered || is_lossy(m->place.view)
		       ? digests_of_text(b->known, m->path, text_bytes(m->text))
		       : 0;
	m->is_noted = then != 0;
	if (then)
		return statement_of_noted(&m->said, b->known, m->base, m->number, &m->place, then);
	if (!edited)
		return true;
	if (is_lossy(m->place.view))
		return say_lossy(b, m, edited);
	return statement_of_text(&m->said, b->known, m->base, m->number, &m->place, edited);
}

/* Finds the versions that have all values of the text. */
static bool find_equals(const struct batch *b, struct member *m)
{
	uint32_t first = digests_first(b->known);

	m->equals = calloc(set_words(b), sizeof(*m->equals));
	if (!m->equals)
		return false;
	for (uint32_t i = first; i <= b->number; i++)
		m->equals[i / 64] |= (uint64_t)1 << i % 64;
	if (m->whole)
		digests_match_bytes(b->known, buf_bytes(&m->whole->bytes), m->equals, b->number);
	for (size_t i = 0; i < m->said.count && !m->whole; i++)
		digests_match(b->known, m->said.units[i].unit, m->said.units[i].digest, m->equals,
			      b->number);
	m->is_old = false;
	for (uint32_t i = first; i <= b->number; i++)
		m->is_old |= equals(m, i);
	return true;
}

/*
 * A saved text is served as saved, even if the format had to round its values. If this one is a
 * noted copy of such a text, takes the values of the version that the save made.
 */
static bool know_as_saved(const struct batch *b, struct member *m)
{
	uint32_t then = m->is_old || m->whole || m->is_refused
				? 0
				: digests_of_text(b->known, m->path, text_bytes(m->text));

	if (!then)
		return true;
	statement_release(&m->said);
	free(m->equals);
	m->equals = NULL;
	return statement_of_noted(&m->said, b->known, m->base, m->number, &m->place, then) &&
	       find_equals(b, m);
}

static bool is_same_since(const struct batch *b, const struct member *m, unit_id unit,
			  uint32_t number)
{
	return m->since >= number || digest_same(digests_at(b->known, unit, m->since),
						 digests_at(b->known, unit, number));
}

/* Have others changed the unit since the text was opened? */
static bool is_overtaken(const struct batch *b, const struct member *m, unit_id unit)
{
	if (!m->since)
		return false;
	for (size_t i = 0; i < b->muted_count; i++) {
		if (b->muted[i].unit == unit && !is_same_since(b, m, unit, b->muted[i].number))
			return true;
	}
	return !is_same_since(b, m, unit, b->number);
}

/*
 * Parses a refused text again, as one that was rendered as a whole. It counts as rendered only if a
 * known version has all its values.
 */
static bool say_refused(const struct batch *b, struct member *m)
{
	struct anim *rendered;
	bool fine;

	parse_as_rendered(b, m, &rendered);
	m->as_rendered = rendered != NULL;
	fine = batch_say_text(b, m, rendered) && find_equals(b, m);
	anim_free(rendered);
	m->as_rendered &= m->is_noted || m->is_old;
	m->is_refused = !m->as_rendered;
	if (m->is_refused && !m->is_noted)
		statement_release(&m->said);
	return fine;
}

static bool say(const struct batch *b, struct member *m, const struct anim *edited)
{
	if (!edited && !m->whole)
		return say_refused(b, m);
	return batch_say_text(b, m, edited) && find_equals(b, m);
}

static bool batch_describe(const struct batch *b, struct member *m, const struct anim *edited)
{
	if (!say(b, m, edited) || !know_as_saved(b, m))
		return false;
	for (size_t i = 0; i < m->said.count; i++) {
		struct said_unit *u = &m->said.units[i];

		u->changed = !digest_same(u->digest, digests_at(b->known, u->unit, m->number));
		u->overtaken = is_overtaken(b, m, u->unit);
		m->is_overtaken |= u->overtaken;
	}
	return true;
}

/* ---- the values of all texts ---- */

static bool agrees(const struct unit_said *s, struct digest digest)
{
	return digest_same(s->first, digest) ||
	       (!digest_is_none(s->stored) && digest_same(s->stored, digest));
}

/*
 * Values in a lossy text are approximate, so digests do not match: it agrees with texts whose curve
 * is near.
 */
#define NEAR_ANGLE (0.03 / 180 * M_PI / 2) /* as the sine of half the angle */
#define NEAR_LENGTH 3e-5
#define NEAR_PART 3e-6

static void sample(const struct curve *c, uint32_t frame, double out[4])
{
	static const double near[4] = {0, 0, 0, 1};
	double pose[4] = {0};

	curve_sample(c, frame, pose);
	if (c->kind == CURVE_EULER)
		rotation_quaternion(pose, near, out);
	else
		memcpy(out, pose, sizeof(pose));
}

static bool batch_is_near(const struct curve *a, const struct curve *b, uint32_t frames)
{
	for (uint32_t frame = 0; a && b && frame < frames; frame++) {
		double x[4], y[4], sum = 0, difference = 0, length = 0;

		sample(a, frame, x);
		sample(b, frame, y);
		for (unsigned axis = 0; axis < 4; axis++) {
			difference += (x[axis] - y[axis]) * (x[axis] - y[axis]);
			sum += (x[axis] + y[axis]) * (x[axis] + y[axis]);
			length += x[axis] * x[axis];
		}
		if (a->kind == CURVE_VECTOR
			    ? sqrt(difference) > fmax(NEAR_LENGTH, NEAR_PART * sqrt(length))
			    : sqrt(fmin(sum, difference)) > NEAR_ANGLE)
			return false;
	}
	return a && b;
}

static void batch_read_member(struct batch *b, uint32_t place)
{
	const struct member *m = &b->members[place];
	const struct tree tree = {m->base, b->file_name};
	const struct shown at = tree_shown(&tree, &m->place);

	anim_free(b->read);
	b->read = m->place.view->parse(&at, text_bytes(m->text), NULL);
	b->reader = place;
}

/*
 * Returns the model that a member's text gives with its base; the text is parsed again unless the
 * model is cached.
 */
static const struct anim *model_of(struct batch *b, uint32_t place)
{
	const struct member *m = &b->members[place];

	if (m->loose)
		return m->loose;
	if (m->whole)
		return m->whole->anim;
	if (b->read && b->reader == place)
		return b->read;
	batch_read_member(b, place);
	return b->read;
}

/* Returns a member's curve for a unit; NULL if there is none, or the text cannot be parsed. */
static const struct curve *batch_curve_of(struct batch *b, uint32_t place,
					  const struct said_unit *u, uint32_t *frames)
{
	const struct anim *a = model_of(b, place);
	const struct clip *clip = a ? clip_labelled(a, 0, u->clip) : NULL;
	const struct track *track = clip ? track_labelled(clip, 0, u->bone) : NULL;

	*frames = clip ? clip->frames : 0;
	return track && (u->unit & 3) < ROLE_COUNT ? track->curve[u->unit & 3] : NULL;
}

/* Are the values nearly equal, given that at least one is from a lossy text? */
static bool agrees_about(struct batch *b, const struct unit_said *s, const struct said_unit *u,
			 uint32_t place)
{
	uint32_t frames, other_frames;
	const struct curve *c, *other;

	if (!u->bone || !(b->members[place].loose || b->members[s->member].loose))
		return false;
	c = batch_curve_of(b, place, u, &frames);
	other = batch_curve_of(b, s->member, u, &other_frames);
	return frames == other_frames && batch_is_near(c, other, frames);
}

static bool batch_add_said(struct batch *b, const struct said_unit *u, uint32_t place)
{
	struct unit_said *said = array_room(b->said, b->said_count, &b->said_room, sizeof(*said));

	if (!said)
		return false;
	b->said = said;
	said[b->said_count] = (struct unit_said){.unit = u->unit,
						 .first = u->digest,
						 .clip = u->clip,
						 .bone = u->bone,
						 .member = place};
	return map_put(&b->units, u->unit, (uint32_t)b->said_count++);
}

/*
 * Returns the values of the texts for a unit; NULL if there are none, or if memory ran out before
 * they were noted.
 */
static struct unit_said *find_said(const struct batch *b, const struct said_unit *u)
{
	uint32_t at = map_find(&b->units, u->unit);

	return at == NONE ? NULL : &b->said[at];
}

static bool is_contradicted_unit(const struct batch *b, const struct said_unit *u)
{
	const struct unit_said *said = find_said(b, u);

	return said && said->contradicted;
}

static bool note_unit(struct batch *b, const struct said_unit *u, uint32_t place)
{
	struct unit_said *said = find_said(b, u);

	if (!said)
		return batch_add_said(b, u, place);
	if (said->contradicted || agrees(said, u->digest))
		return true;
	if (!agrees_about(b, said, u, place)) {
		said->contradicted = true;
		b->contradictions++;
	} else if (!b->members[place].loose) {
		said->first = u->digest; /* use the exact value, not the approximate one */
		said->member = place;
	}
	return true;
}

static bool note_member(struct batch *b, uint32_t place)
{
	const struct member *m = &b->members[place];

	if (!map_put(&b->paths, path_hash(m->path), place))
		return false;
	for (size_t i = 0; i < m->said.count; i++) {
		if (!note_unit(b, &m->said.units[i], place))
			return false;
	}
	for (uint32_t i = digests_first(b->known); i <= b->number; i++)
		b->equal[i] += equals(m, i);
	return true;
}

/* Keeps only the paths that do not belong to members. */
static bool keep_paths(struct batch *b)
{
	struct map old = b->paths;
	bool fine = true;

	b->paths = (struct map){NULL, 0, 0};
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].place == NO_MEMBER)
			fine = fine && map_put(&b->paths, old.slots[i].key, NO_MEMBER);
	}
	free(old.slots);
	return fine;
}

/* Recomputes everything after a member was removed. */
static bool batch_note_all(struct batch *b)
{
	map_clear(&b->units);
	if (!keep_paths(b))
		return false;
	anim_free(b->read);
	b->read = NULL;
	b->said_count = b->contradictions = b->witness = 0;
	memset(b->equal, 0, ((size_t)b->number + 1) * sizeof(*b->equal));
	for (uint32_t i = 0; i < b->count; i++) {
		if (!note_member(b, i))
			return false;
	}
	return true;
}

/* ---- views that were not saved ---- */

/* Notes a saved view without a member, since its text has no values to compare. */
static bool note_path(struct batch *b, const char *path)
{
	return map_find(&b->paths, path_hash(path)) != NONE ||
	       map_put(&b->paths, path_hash(path), NO_MEMBER);
}

static bool batch_is_listed(const struct batch *b, const struct view *view)
{
	for (unsigned i = 0; views[i]; i++) {
		if (views[i] == view)
			return b->listed >> i & 1;
	}
	return false;
}

/*
 * Is there a listed view with this path at the start that was not saved? If not, the path is noted
 * as if saved, since finding out whether a view is present can be as slow as rendering it.
 */
static bool batch_is_unsaved(struct batch *b, const char *path)
{
	const struct tree tree = {b->start, b->file_name};
	struct place place;

	if (strncmp(path, b->common, strlen(b->common)) != 0 ||
	    map_find(&b->paths, path_hash(path)) != NONE)
		return false;
	if (tree_walk(&tree, path, &place) && place.kind == PLACE_VIEW &&
	    batch_is_listed(b, place.view))
		return true;
	(void)note_path(b, path);
	return false;
}

static bool is_unsaved_view(struct batch *b, const char *clip, const char *bone, const char *suffix)
{
	char path[3 * NAME_MAX];

	if (bone)
		snprintf(path, sizeof(path), "%s/bones/%s%s", clip, bone, suffix);
	else
		snprintf(path, sizeof(path), "%s%s%s", clip ? clip : "", clip ? "/" : "", suffix);
	return batch_is_unsaved(b, path);
}

/* Does a view that was not saved contain the unit? */
static bool has_unsaved(struct batch *b, const struct unit_said *s)
{
	static const char *const of_bone[] = {".csv", ".json"};
	static const char *const of_curves[] = {"curves.csv", "clip.gltf", "clip.bvh"};
	static const char *const of_clip[] = {"clip.json", "clip.kanim"};
	static const char *const of_file[] = {"file.json", "frames.csv"};
	char raw[NAME_MAX + 1];

	tree_raw_name(b->file_name, b->start->codec->format, raw);
	for (size_t i = 0; s->bone && i < ARRAY_SIZE(of_bone); i++) {
		if (is_unsaved_view(b, s->clip, s->bone, of_bone[i]))
			return true;
	}
	for (size_t i = 0; s->bone && i < ARRAY_SIZE(of_curves); i++) {
		if (is_unsaved_view(b, s->clip, NULL, of_curves[i]))
			return true;
	}
	for (size_t i = 0; !s->bone && s->clip && i < ARRAY_SIZE(of_clip); i++) {
		if (is_unsaved_view(b, s->clip, NULL, of_clip[i]))
			return true;
	}
	for (size_t i = 0; !s->bone && b->start->anim->format->stills && i < ARRAY_SIZE(of_file);
	     i++) {
		if (is_unsaved_view(b, NULL, NULL, of_file[i]))
			return true;
	}
	return is_unsaved_view(b, NULL, NULL, raw);
}

/*
 * Does a view that was not saved contradict the texts? Continues from `witness`, since saved views
 * stay saved.
 */
static bool is_contradicted_by_unsaved(struct batch *b)
{
	for (; b->witness < b->said_count; b->witness++) {
		const struct unit_said *s = &b->said[b->witness];

		if (!agrees(s, digests_at(b->known, s->unit, b->number)) && has_unsaved(b, s))
			return true;
	}
	return false;
}

/* ---- the rules ---- */

static struct ruling apply_rules(struct batch *b)
{
	struct ruling r = {MODE_ORDER, 0};

	if (b->origin)
		return (struct ruling){MODE_ORIGIN, b->origin};
	if (!b->contradictions && !(b->generated && is_contradicted_by_unsaved(b)))
		return (struct ruling){MODE_AGREE, 0};
	for (uint32_t i = digests_first(b->known); i <= b->number; i++) {
		if (b->equal[i] >= 2 && b->equal[i] >= b->equal[r.origin])
			r.origin = i;
	}
	if (r.origin)
		r.mode = MODE_ORIGIN;
	return r;
}

static bool contradict(const struct member *a, const struct member *b)
{
	for (size_t i = 0; i < a->said.count; i++) {
		const struct said_unit *u = statement_find(&b->said, a->said.units[i].unit);

		if (u && !digest_same(u->digest, a->said.units[i].digest))
			return true;
	}
	return false;
}

/* Does the bone's other view, which is listed and was not saved, contradict this text? */
static bool is_twin_of_unsaved(struct batch *b, const struct member *m)
{
	static const char *const suffixes[] = {".csv", ".json"};
	bool differs = false;

	if (!b->generated || m->whole || m->place.view->place != VIEW_OF_BONE || !m->said.count)
		return false;
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		differs |= !digest_same(u->digest, digests_at(b->known, u->unit, b->number));
	}
	for (size_t i = 0; differs && i < ARRAY_SIZE(suffixes); i++) {
		if (is_unsaved_view(b, m->said.units[0].clip, m->said.units[0].bone, suffixes[i]))
			return true;
	}
	return false;
}

static bool is_twin(struct batch *b, const struct member *m)
{
	if (!m->is_old)
		return false;
	for (size_t i = 0; i < b->count; i++) {
		const struct member *other = &b->members[i];

		if (!other->is_old && !other->is_refused &&
		    statement_covers(&other->said, &m->said) && contradict(m, other))
			return true;
	}
	return is_twin_of_unsaved(b, m);
}

static enum fate batch_find_fate(struct batch *b, const struct ruling *r, const struct member *m)
{
	if (r->mode == MODE_ORIGIN && equals(m, r->origin))
		return FATE_COPY;
	return r->mode == MODE_ORDER && is_twin(b, m) ? FATE_TWIN : FATE_COUNTS;
}

/* Does the member's value of the unit count? */
static bool is_applied(const struct batch *b, const struct ruling *r, enum fate fate,
		       const struct said_unit *u)
{
	return fate == FATE_COUNTS &&
	       !(r->mode == MODE_ORIGIN &&
		 digest_same(u->digest, digests_at(b->known, u->unit, r->origin)));
}

static bool batch_is_unit(const struct said_unit *u, const char *name)
{
	return u->unit == unit_of_value(u->clip, name);
}

/*
 * Does the unit decide which other units exist? Ignoring its value may also ignore values of new
 * units.
 */
static bool is_structure(const struct said_unit *u)
{
	return !u->clip || (!u->bone && (batch_is_unit(u, "frames") || batch_is_unit(u, "bones")));
}

/*
 * Does the unit keep the value of another program, not that of this text? Never true for the file's
 * own values (no clip).
 */
static bool gives_way(const struct member *m, const struct said_unit *u)
{
	return u->overtaken && u->clip && (m->is_old || !(u->changed || is_structure(u)));
}

/*
 * Does the member have a value that must not overwrite another program's value, and must not be
 * dropped?
 */
static bool clashes(const struct batch *b, const struct member *m)
{
	/* In a whole file, others may also have changed data that the model does not contain. */
	bool unknown = m->whole && !m->is_old && m->base->lineage != b->left->lineage;

	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (u->overtaken && is_applied(b, &b->ruling, m->fate, u) &&
		    (unknown || ((m->whole || u->changed) && !gives_way(m, u))))
			return true;
	}
	return false;
}

/* Do some values give way, so that the text cannot be stored as an edit by itself? */
static bool gives_way_in_part(const struct batch *b, const struct member *m)
{
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (gives_way(m, u) && (m->whole || u->changed) &&
		    is_applied(b, &b->ruling, m->fate, u))
			return !clashes(b, m);
	}
	return false;
}

/*
 * Could the file differ without this value? If it differs from its base or from the start, or if
 * texts contradict each other about the unit.
 */
static bool may_differ(const struct batch *b, const struct said_unit *u)
{
	return u->changed || is_contradicted_unit(b, u) ||
	       !digest_same(u->digest, digests_at(b->known, u->unit, b->number));
}

/* Does the text count differently than before, in a way that changes the file? */
static bool is_otherwise(const struct batch *b, const struct member *m, const struct ruling *before,
			 enum fate fate, const struct ruling *after)
{
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (may_differ(b, u) &&
		    is_applied(b, before, m->fate, u) != is_applied(b, after, fate, u))
			return true;
	}
	return m->whole && (m->fate == FATE_COUNTS) != (fate == FATE_COUNTS);
}

/* Applies the rules. Returns whether any of the first old_count members now counts differently. */
static bool settle_fates(struct batch *b, size_t old_count)
{
	struct ruling before = b->ruling, after = apply_rules(b);
	bool moved = before.mode != after.mode || before.origin != after.origin;
	bool otherwise = false;

	for (size_t i = moved || after.mode == MODE_ORDER ? 0 : old_count; i < b->count; i++) {
		struct member *m = &b->members[i];
		enum fate fate = batch_find_fate(b, &after, m);

		if (i < old_count)
			otherwise |= is_otherwise(b, m, &before, fate, &after);
		m->fate = fate;
	}
	b->ruling = after;
	return otherwise;
}

/* ---- adding ---- */

/* Does the text count only in part, in a way that matters? */
static bool counts_in_part(const struct batch *b, const struct member *m)
{
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (u->changed && !is_applied(b, &b->ruling, m->fate, u))
			return true;
	}
	return false;
}

/* Could the text make others valid that were refused before? */
static bool changes_structure(const struct member *m)
{
	return says_another(&m->said) && (m->whole || m->place.view->place != VIEW_OF_BONE);
}

/*
 * Was the text refused though it counts? Not if it is a known version's text whose difference from
 * its base only other views can change: a file.json of a version in which a clip loops is refused
 * if the clip does not loop here, but only clip.json can change that.
 */
static bool is_open(const struct member *m)
{
	return m->is_refused && m->fate == FATE_COUNTS && (!m->is_noted || says_another(&m->said));
}

/* Are there earlier texts that count but were refused? */
static bool has_open(const struct batch *b, const struct member *m)
{
	for (const struct member *other = b->members; other < m; other++) {
		if (is_open(other))
			return true;
	}
	return false;
}

static enum batch_effect effect_of(const struct batch *b, const struct member *m, bool otherwise)
{
	if (otherwise || (changes_structure(m) && has_open(b, m)))
		return BATCH_REWRITE;
	if (is_open(m))
		return BATCH_REFUSED;
	if (m->is_refused)
		return BATCH_NOTHING;
	if (m->fate != FATE_COUNTS)
		return BATCH_NOTHING;
	return m->as_rendered || counts_in_part(b, m) || gives_way_in_part(b, m) ? BATCH_REWRITE
										 : BATCH_SAVE;
}

static enum batch_effect add_generated(struct batch *b, const struct batch_text *text,
				       struct err *err)
{
	if (!note_path(b, text->path)) {
		err_memory(err);
		return BATCH_FAILED;
	}
	b->generated = true;
	return settle_fates(b, b->count) ? BATCH_REWRITE : BATCH_NOTHING;
}

/*
 * Gives a unit the labels of the version at the start, as its own may be those of the base. False:
 * the start lacks one.
 */
static bool relabel_unit(const struct batch *b, struct said_unit *u)
{
	int64_t clip = u->clip ? version_clip(b->start, u->clip) : -1, track;

	if (!u->clip)
		return true;
	if (clip < 0)
		return false;
	track = u->bone ? version_track(b->start, (uint32_t)clip, u->bone) : -1;
	if (u->bone && track < 0)
		return false;
	u->clip = b->start->anim->clips[clip].label;
	if (u->bone)
		u->bone = b->start->anim->clips[clip].tracks[track].label;
	return true;
}

/*
 * Makes the start the base of the text, if the view was the same then, so that a program that saves
 * many views does not keep a version for each.
 */
static void base_on_start(const struct batch *b, struct member *m)
{
	const struct tree was = {m->base, b->file_name};
	struct place place;

	if (m->base->generation <= b->start->generation || m->whole ||
	    tree_since(&was, &m->place) > b->start->generation ||
	    !batch_place_in(b, m, b->start, &place))
		return;
	/*
	 * If this fails midway, earlier units stay changed, which is safe: the start outlives its
	 * members.
	 */
	for (size_t i = 0; i < m->said.count; i++) {
		if (!relabel_unit(b, &m->said.units[i]))
			return;
	}
	version_put(m->base);
	m->base = version_get(b->start);
	m->number = b->number;
	m->place = place;
}

static bool make_member(const struct batch *b, const struct batch_text *text, struct member *out)
{
	*out = (struct member){.path = strdup(text->path),
			       .draft = text->draft,
			       .text = text_get(text->text),
			       .base = version_get(text->base),
			       .whole = text->whole ? version_get(text->whole) : NULL,
			       .number = text->number,
			       .since = text->since,
			       .place = text->place};
	if (out->path && batch_describe(b, out, text->edited)) {
		base_on_start(b, out);
		return true;
	}
	member_release(out);
	return false;
}

static void remove_member(struct batch *b, size_t place)
{
	b->size -= member_size(&b->members[place]);
	member_release(&b->members[place]);
	memmove(&b->members[place], &b->members[place + 1],
		(b->count - place - 1) * sizeof(*b->members));
	b->count--;
}

/* Returns the member of the same draft, or NONE. *another: another draft saved the same view. */
static uint32_t find_draft(const struct batch *b, const struct batch_text *text, bool *another)
{
	uint32_t place = map_find(&b->paths, path_hash(text->path));

	*another = place < b->count && b->members[place].draft != text->draft;
	return place < b->count && !*another ? place : NONE;
}

/*
 * Does the text have no known values (a skeleton, or a refused text), so that it neither agrees nor
 * contradicts?
 */
static bool says_nothing_known(const struct member *m)
{
	return m->said.count == 0;
}

/*
 * Adds a text without known values. The fact that its view was saved may affect rule 4
 * (batch.h).
 */
static enum batch_effect add_other(struct batch *b, const struct batch_text *text,
				   enum batch_effect own, struct err *err)
{
	if (!note_path(b, text->path)) {
		err_memory(err);
		return BATCH_FAILED;
	}
	return settle_fates(b, b->count) ? BATCH_REWRITE : own;
}

/*
 * Returns the effect of a text without known values. A file.json of another version is refused if a
 * clip loops there and not here, but only other views can change that: it counts as stale.
 */
static enum batch_effect effect_of_other(const struct member *m)
{
	if (!m->is_refused || m->place.view->parse_skeleton)
		return BATCH_SAVE;
	return m->is_noted ? BATCH_NOTHING : BATCH_REFUSED;
}

/* Widens the common folder. If it changes, views in it have not been considered yet. */
static bool widen_common(struct batch *b, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t same = 0;

	if (!b->common) {
		b->common = strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
		return b->common != NULL;
	}
	for (size_t i = 0; b->common[i] && b->common[i] == path[i]; i++)
		same = path[i] == '/' ? i + 1 : same;
	if (b->common[same])
		b->witness = 0;
	b->common[same] = '\0';
	return true;
}

enum batch_effect batch_add(struct batch *b, const struct batch_text *text, struct err *err)
{
	struct member member, *members;
	bool another, again, otherwise;
	size_t old_count;
	uint32_t old;

	drop_kept(b);
	b->has_last = false;
	old = find_draft(b, text, &another);
	if (another)
		return BATCH_ANOTHER;
	if (!widen_common(b, text->path)) {
		err_memory(err);
		return BATCH_FAILED;
	}
	if (batch_is_generated(text->place.view))
		return add_generated(b, text, err);
	members = array_room(b->members, b->count, &b->room, sizeof(*members));
	if (members)
		b->members = members;
	if (!members || !make_member(b, text, &member)) {
		err_memory(err);
		return BATCH_FAILED;
	}
	if (says_nothing_known(&member)) {
		enum batch_effect own = effect_of_other(&member);

		member_release(&member);
		return add_other(b, text, own, err);
	}
	again = old != NONE;
	if (again)
		remove_member(b, old);
	old_count = b->count;
	members[b->count++] = member;
	b->size += member_size(&member);
	if (!(again ? batch_note_all(b) : note_member(b, (uint32_t)old_count))) {
		remove_member(b, old_count);
		(void)batch_note_all(b);
		err_memory(err);
		return BATCH_FAILED;
	}
	b->has_last = true;
	otherwise = settle_fates(b, old_count);
	return effect_of(b, &b->members[old_count], otherwise);
}

struct version *batch_left(const struct batch *b)
{
	return b->left;
}

size_t batch_count(const struct batch *b)
{
	return b->paths.count;
}

/* Takes the last text back. When out of memory, values of the remaining texts may be forgotten. */
void batch_take_back(struct batch *b)
{
	if (!b->has_last || !b->count)
		return;
	b->has_last = false;
	remove_member(b, b->count - 1);
	if (batch_note_all(b))
		(void)settle_fates(b, b->count);
}

/* Does the version with this number have all values of the text? */
static bool is_as_said(const struct batch *b, const struct member *m, uint32_t number)
{
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];
		bool counts = is_applied(b, &b->ruling, m->fate, u) && !gives_way(m, u);

		if (!counts && !digest_same(u->digest, digests_at(b->known, u->unit, number)))
			return false;
	}
	return true;
}

bool batch_saved(struct batch *b, struct version *now, uint32_t number)
{
	const struct member *m = b->count ? &b->members[b->count - 1] : NULL;

	version_put(b->left);
	b->left = version_get(now);
	for (size_t i = 0; m && m->fate == FATE_COUNTS && i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];
		struct unit_said *said = find_said(b, u);

		if (said && u->changed && !said->contradicted && !gives_way(m, u))
			said->stored = digests_at(b->known, u->unit, number);
	}
	return !m || !b->has_last || is_as_said(b, m, number);
}

/* ---- the outcome ---- */

static struct anim *batch_keep_model(struct batch *b, struct anim *model)
{
	struct kept *kept = model ? malloc(sizeof(*kept)) : NULL;

	if (!kept) {
		anim_free(model);
		return NULL;
	}
	*kept = (struct kept){b->kept, model};
	b->kept = kept;
	return model;
}

static struct clip *batch_clip_of(struct anim *a, const char *label)
{
	const struct clip *c = clip_labelled(a, 0, label);

	return c ? anim_edit_clip(a, (uint32_t)(c - a->clips)) : NULL;
}

/* Restores a curve, or a bone with keyframes, from `from`. False when out of memory. */
static bool restore_track(struct anim *a, const struct anim *from, const struct said_unit *u,
			  bool *changed)
{
	unsigned role = u->unit & 3;
	const struct clip *clip = clip_labelled(a, 0, u->clip), *old;
	const struct track *now, *was;
	struct track *track;

	old = clip_labelled(from, 0, u->clip);
	now = clip ? track_labelled(clip, 0, u->bone) : NULL;
	was = old ? track_labelled(old, 0, u->bone) : NULL;
	if (!now || !was)
		return true;
	if (role == UNIT_KEYFRAMES ? track_same(now, was)
				   : curve_same(now->curve[role], was->curve[role]))
		return true;
	track = anim_edit_track(a, (uint32_t)(clip - a->clips), (uint32_t)(now - clip->tracks));
	if (!track)
		return false;
	*changed = true;
	if (role != UNIT_KEYFRAMES) {
		track->curve[role] = was->curve[role];
		return true;
	}
	memcpy(track->curve, was->curve, sizeof(track->curve));
	track->keyframes = was->keyframes;
	return true;
}

static bool restore_field(struct anim *a, struct clip *now, const struct clip *was,
			  const struct said_unit *u, bool *changed)
{
	struct field *fields;

	for (uint32_t i = 0; i < now->field_count && i < was->field_count; i++) {
		if (u->unit != unit_of_field(u->clip, now->fields[i].name) ||
		    strcmp(now->fields[i].name, was->fields[i].name) != 0 ||
		    fields_same(&now->fields[i], 1, &was->fields[i], 1))
			continue;
		*changed = true;
		fields = arena_alloc(&a->arena, now->field_count, sizeof(*fields));
		if (!fields)
			return false;
		memcpy(fields, now->fields, now->field_count * sizeof(*fields));
		fields[i] = was->fields[i];
		now->fields = fields;
		if (a->format->rate_field && strcmp(fields[i].name, a->format->rate_field) == 0)
			a->rate = fields[i].real;
	}
	return true;
}

static bool batch_same_bones(const struct clip *a, const struct clip *b)
{
	bool same = a->track_count == b->track_count;

	for (uint32_t i = 0; same && i < a->track_count; i++)
		same = strcmp(a->tracks[i].label, b->tracks[i].label) == 0;
	return same;
}

/* Restores curves that were lost with removed frames or bones. */
static void restore_tracks(struct clip *now, const struct clip *was, bool *changed)
{
	*changed = true;
	now->frames = was->frames;
	now->tracks = was->tracks;
	now->track_count = was->track_count;
	now->tracks_own = false;
}

/* Restores one of a clip's own values. */
static bool restore_value(struct anim *a, const struct anim *from, const struct said_unit *u,
			  bool *changed)
{
	const struct clip *was = clip_labelled(from, 0, u->clip);
	struct clip *now = batch_clip_of(a, u->clip);

	if (!now || !was)
		return !a->arena.failed;
	if (batch_is_unit(u, "frames") || batch_is_unit(u, "bones")) {
		if (batch_is_unit(u, "frames") ? now->frames != was->frames
					       : !batch_same_bones(now, was))
			restore_tracks(now, was, changed);
		return true;
	}
	if (batch_is_unit(u, "loop")) {
		*changed |= now->loop != was->loop;
		now->loop = was->loop;
	} else if (batch_is_unit(u, "name")) {
		*changed |= strcmp(now->name, was->name) != 0;
		now->name = was->name;
	} else if (batch_is_unit(u, "frame_time")) {
		*changed |= f32_bits(now->frame_time) != f32_bits(was->frame_time);
		now->frame_time = was->frame_time;
	} else if (batch_is_unit(u, "duration")) {
		*changed |= f32_bits(now->duration) != f32_bits(was->duration);
		now->duration = was->duration;
	} else if (batch_is_unit(u, "stills")) {
		*changed |= now->stills != was->stills;
		now->frames = was->frames;
		now->stills = was->stills;
	} else {
		return restore_field(a, now, was, u, changed);
	}
	return true;
}

/* Is this text's value of the unit ignored? */
static bool is_left(const struct batch *b, size_t place, const struct said_unit *u)
{
	if (!is_applied(b, &b->ruling, b->members[place].fate, u) ||
	    gives_way(&b->members[place], u))
		return true;
	for (size_t i = 0; i < b->muted_count; i++) {
		if (b->muted[i].unit == u->unit && place < b->muted[i].since)
			return true;
	}
	return false;
}

/*
 * Restores the text's values that do not count. Restores structure first, since that brings tracks
 * back.
 */
static bool restore_values(const struct batch *b, size_t place, struct anim *edited,
			   const struct anim *before, bool *changed)
{
	const struct member *m = &b->members[place];

	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (u->clip && !u->bone && is_left(b, place, u) &&
		    !restore_value(edited, before, u, changed))
			return false;
	}
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (u->bone && is_left(b, place, u) && !restore_track(edited, before, u, changed))
			return false;
	}
	return true;
}

struct folding {
	struct batch *b;
	struct version *over;
	const struct anim *model; /* the model so far; the model of `over` if nothing is edited */
	struct err *err;
};

static bool batch_find_place(const struct folding *f, const struct member *m, struct place *out)
{
	const struct clip *was, *clip;
	const struct track *track;

	*out = m->place;
	if (out->view->place == VIEW_OF_FILE)
		return true;
	was = &m->base->anim->clips[m->place.clip];
	clip = clip_labelled(f->model, m->place.clip, was->label);
	if (!clip)
		return false;
	out->clip = (uint32_t)(clip - f->model->clips);
	if (out->view->place != VIEW_OF_BONE)
		return true;
	track = track_labelled(clip, m->place.track, was->tracks[m->place.track].label);
	if (track)
		out->track = (uint32_t)(track - clip->tracks);
	return track != NULL;
}

/* Applies a text. *done: it could be parsed; if not, it may become valid after later texts. */
static bool fold_text(struct folding *f, size_t place, bool *done)
{
	const struct member *m = &f->b->members[place];
	const struct tree tree = {f->over, f->b->file_name};
	struct place at_place;
	struct anim *edited, *made;
	struct err why = {.code = ERR_NONE};
	struct shown at;
	bool changed = false;

	*done = false;
	if (!batch_find_place(f, m, &at_place))
		return true;
	if (!tree_shown_model(&tree, &at_place, f->model, &at, &made))
		return err_memory(f->err);
	at.as_rendered = m->as_rendered;
	edited = at_place.view->parse(&at, text_bytes(m->text), &why);
	anim_free(made);
	if (!edited)
		return why.code != ERR_MEMORY || err_memory(f->err);
	*done = true;
	if (!batch_keep_model(f->b, edited) ||
	    !restore_values(f->b, place, edited, f->model, &changed))
		return err_memory(f->err);
	f->model = edited;
	return true;
}

static bool fold_whole(struct folding *f, size_t place)
{
	const struct member *m = &f->b->members[place];
	struct anim *edited = batch_keep_model(f->b, anim_edit(m->whole->anim));
	bool changed = false;

	if (!edited || !restore_values(f->b, place, edited, f->model, &changed))
		return err_memory(f->err);
	f->over = m->whole;
	f->model = changed ? edited : m->whole->anim;
	return true;
}

static bool fold(struct folding *f, bool *open, bool first)
{
	bool left = false;

	for (size_t i = 0; i < f->b->count; i++) {
		struct member *m = &f->b->members[i];
		bool done = true;

		if (m->fate != FATE_COUNTS || !(first || open[i]))
			continue;
		if (!(m->whole ? fold_whole(f, i) : fold_text(f, i, &done)))
			return false;
		open[i] = !done;
		m->is_refused = !done;
		left |= !done;
	}
	return !first || !left || fold(f, open, false);
}

bool batch_outcome(struct batch *b, struct version **over, struct anim **edited, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct folding f = {b, b->ground, b->ground->anim, &why};
	bool *open = calloc(b->count + 1, sizeof(*open));
	bool fine = open && fold(&f, open, true);

	free(open);
	*over = f.over;
	*edited = NULL;
	if (fine && f.model != f.over->anim && !anim_is_unedited(f.model, f.over->anim))
		fine = (*edited = anim_edit(f.model)) != NULL;
	return fine || err_memory(err);
}

bool batch_is_refused(const struct batch *b)
{
	const struct member *m = b->count ? &b->members[b->count - 1] : NULL;

	return m && is_open(m);
}

bool batch_conflicts(const struct batch *b)
{
	return b->has_last && clashes(b, &b->members[b->count - 1]);
}

/* ---- all texts at once ---- */

/* Returns the member with this path; NULL: none. */
static const struct member *batch_find_member(const struct batch *b, const char *path)
{
	uint32_t place = map_find(&b->paths, path_hash(path));

	return place < b->count ? &b->members[place] : NULL;
}

enum batch_effect batch_fate(const struct batch *b, const char *path)
{
	const struct member *m = batch_find_member(b, path);

	if (!m)
		return BATCH_ANOTHER;
	if (m->fate != FATE_COUNTS)
		return BATCH_NOTHING;
	return m->is_refused ? BATCH_REFUSED : BATCH_SAVE;
}

static bool found_unit(const struct said_unit *u, const char **clip, const char **bone)
{
	*clip = u->clip;
	*bone = u->bone;
	return true;
}

/* Does another member that counts contradict this value of the unit? */
static bool is_contradicted(struct batch *b, const struct said_unit *u, uint32_t place)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct member *m = &b->members[i];
		const struct said_unit *other = statement_find(&m->said, u->unit);
		const struct unit_said said = {.member = i};

		if (other && i != place && is_applied(b, &b->ruling, m->fate, other) &&
		    !digest_same(other->digest, u->digest) && !agrees_about(b, &said, u, place))
			return true;
	}
	return false;
}

bool batch_contradicts(struct batch *b, const char *path, const char **clip, const char **bone)
{
	const struct member *m = batch_find_member(b, path);

	for (size_t i = 0; m && i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if (is_contradicted_unit(b, u) && is_applied(b, &b->ruling, m->fate, u) &&
		    is_contradicted(b, u, (uint32_t)(m - b->members)))
			return found_unit(u, clip, bone);
	}
	return false;
}

bool batch_overrules(const struct batch *b, const char *path, uint32_t since, const char **clip,
		     const char **bone)
{
	const struct member *m = batch_find_member(b, path);

	for (size_t i = 0; m && i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];
		struct digest now = digests_at(b->known, u->unit, b->number);

		if (is_applied(b, &b->ruling, m->fate, u) && !digest_same(u->digest, now) &&
		    !digest_same(digests_at(b->known, u->unit, since), now))
			return found_unit(u, clip, bone);
	}
	return false;
}

/* ---- changes by others ---- */

struct version *batch_ground(const struct batch *b)
{
	return b->ground;
}

static bool mute(struct batch *b, unit_id unit, uint32_t number)
{
	struct muted *muted = array_room(b->muted, b->muted_count, &b->muted_room, sizeof(*muted));

	if (!muted)
		return false;
	b->muted = muted;
	muted[b->muted_count++] = (struct muted){unit, b->count, number};
	return true;
}

struct following {
	struct batch *b;
	const struct anim *left, *now;
	uint32_t number; /* number of the version `now` */
	struct anim *ground;
	const char *clip, *bone;
};

/* Gives a unit the value in the file, which another program saved, whatever texts had before. */
static bool follow_unit(struct following *f, unit_id unit, bool is_track)
{
	const struct said_unit u = {.unit = unit, .clip = f->clip, .bone = f->bone};
	bool changed = false;

	return mute(f->b, unit, f->number) &&
	       (is_track ? restore_track(f->ground, f->now, &u, &changed)
			 : restore_value(f->ground, f->now, &u, &changed));
}

static bool follow_track(struct following *f, const struct track *was, const struct track *now)
{
	f->bone = now->label;
	if (f->now->format->keyframes)
		return track_same(was, now) ||
		       follow_unit(f, unit_of_curve(f->clip, f->bone, UNIT_KEYFRAMES), true);
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		if (!curve_same(was->curve[role], now->curve[role]) &&
		    !follow_unit(f, unit_of_curve(f->clip, f->bone, role), true))
			return false;
	}
	return true;
}

static bool follow_values(struct following *f, const struct clip *was, const struct clip *now)
{
	f->bone = NULL;
	if (was->loop != now->loop && !follow_unit(f, unit_of_value(f->clip, "loop"), false))
		return false;
	if (f32_bits(was->frame_time) != f32_bits(now->frame_time) &&
	    !follow_unit(f, unit_of_value(f->clip, "frame_time"), false))
		return false;
	if (f32_bits(was->duration) != f32_bits(now->duration) &&
	    !follow_unit(f, unit_of_value(f->clip, "duration"), false))
		return false;
	for (uint32_t i = 0; i < was->field_count && i < now->field_count; i++) {
		if (!fields_same(&was->fields[i], 1, &now->fields[i], 1) &&
		    !follow_unit(f, unit_of_field(f->clip, now->fields[i].name), false))
			return false;
	}
	return true;
}

static bool follow_clip(struct following *f, const struct clip *was, const struct clip *now)
{
	f->clip = now->label;
	if (was->frames != now->frames || was->stills != now->stills)
		return false;
	for (uint32_t i = 0; i < now->track_count; i++) {
		if (!follow_track(f, &was->tracks[i], &now->tracks[i]))
			return false;
	}
	return follow_values(f, was, now);
}

bool batch_follow(struct batch *b, struct version *now, uint32_t number, struct anim **ground)
{
	struct following f = {.b = b, .left = b->left->anim, .now = now->anim, .number = number};
	bool fine = anim_same_names(f.left, f.now) && anim_same_names(f.left, b->ground->anim);

	drop_kept(b);
	*ground = NULL;
	f.ground = fine ? anim_edit(b->ground->anim) : NULL;
	fine = f.ground != NULL;
	for (uint32_t i = 0; fine && i < f.now->clip_count; i++)
		fine = follow_clip(&f, &f.left->clips[i], &f.now->clips[i]);
	if (!fine) {
		anim_free(f.ground);
		return false;
	}
	version_put(b->left);
	b->left = version_get(now);
	*ground = f.ground;
	return true;
}

void batch_set_ground(struct batch *b, struct version *ground)
{
	version_get(ground);
	version_put(b->ground);
	b->ground = ground;
}

/* ---- ignored texts ---- */

/* Finds a value that the text would have given the file, and that is ignored. */
static const struct said_unit *find_silent(const struct batch *b, const struct member *m)
{
	uint32_t last = digests_last(b->known);

	if (m->fate == FATE_COUNTS && !m->is_overtaken)
		return NULL;
	for (size_t i = 0; i < m->said.count; i++) {
		const struct said_unit *u = &m->said.units[i];

		if ((m->fate != FATE_COUNTS || (gives_way(m, u) && u->changed)) &&
		    !digest_same(u->digest, digests_at(b->known, u->unit, last)))
			return u;
	}
	return NULL;
}

bool batch_next_silent(struct batch *b, struct batch_silent *out)
{
	uint32_t last = digests_last(b->known);

	for (size_t i = 0; i < b->count; i++) {
		struct member *m = &b->members[i];
		const struct said_unit *u = m->is_silent ? NULL : find_silent(b, m);

		m->is_silent |= u || m->fate != FATE_COUNTS;
		if (!u)
			continue;
		*out = (struct batch_silent){m->path, m->fate == FATE_COUNTS, u->clip, u->bone,
					     digests_since(b->known, u->unit, last)};
		return true;
	}
	return false;
}

const char *batch_next_counting(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct member *m = &b->members[i];

		if (m->fate != FATE_COUNTS || !m->is_silent || find_silent(b, m))
			continue;
		m->is_silent = false;
		return m->path;
	}
	return NULL;
}
