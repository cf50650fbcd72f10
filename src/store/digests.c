/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "digests.h"

#include "model/curve_edit.h"
#include "model/rotation.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NONE UINT32_MAX

/* The value of a unit from one version on, until the unit's next entry. */
struct entry {
	unit_id unit;
	struct digest digest, other;
	uint32_t number; /* number of the version */
	uint32_t before; /* the unit's previous entry, or NONE */
};

struct noted {
	struct digest text; /* digest of the path and the text */
	uint32_t number;
};

struct digests {
	uint32_t first, last; /* numbers of versions; last is 0 if there are none */
	uint32_t in_form; /* the version for which digests of rotations in the other form are known,
			     or 0 */
	struct digest *bytes; /* digests of whole files, by number - first */
	size_t bytes_room;
	struct entry *entries; /* sorted by number */
	size_t count, room;
	uint32_t *newest; /* hash table: for each unit its last entry, or NONE; open addressing */
	size_t mask;
	struct noted *texts; /* noted texts; a ring once it is full */
	size_t text_count, text_room, text_next;
	bool is_partial; /* not all stored digests could be read (digests_set_partial) */
};

struct digests *digests_new(void)
{
	struct digests *d = calloc(1, sizeof(*d));

	if (d)
		d->first = 1;
	return d;
}

void digests_set_partial(struct digests *d)
{
	d->is_partial = true;
}

bool digests_is_partial(const struct digests *d)
{
	return d->is_partial;
}

void digests_free(struct digests *d)
{
	if (!d)
		return;
	free(d->bytes);
	free(d->entries);
	free(d->newest);
	free(d->texts);
	free(d);
}

uint32_t digests_last(const struct digests *d)
{
	return d->last;
}

uint32_t digests_first(const struct digests *d)
{
	return d->first;
}

static struct digest digest_bytes(const void *data, size_t size, uint64_t seed)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, seed);

	return (struct digest){hash.low64, hash.high64};
}

/* ---- names of units ---- */

static uint64_t hash_name(const char *name, uint64_t seed)
{
	return XXH3_64bits_withSeed(name, strlen(name), seed);
}

static unit_id unit_of_role(uint64_t clip, const char *bone, unsigned role)
{
	return (hash_name(bone, clip) & ~(uint64_t)3) | role;
}

unit_id unit_of_curve(const char *clip, const char *bone, unsigned role)
{
	return unit_of_role(hash_name(clip, 1), bone, role);
}

unit_id unit_of_value(const char *clip, const char *name)
{
	return hash_name(name, hash_name(clip, 2));
}

unit_id unit_of_field(const char *clip, const char *name)
{
	return hash_name(name, hash_name(clip, 3));
}

/* Returns the id of a value of the file: "version", "clips", "bones". */
static unit_id unit_of_file(const char *name)
{
	return hash_name(name, 4);
}

static unit_id unit_of_file_field(const char *name)
{
	return hash_name(name, 5);
}

/* ---- the contents of a model ---- */

static bool say_unit(unit_each *each, void *closure, unit_id unit, const void *data, size_t size)
{
	const struct unit_value value = {.unit = unit, .digest = digest_bytes(data, size, 1)};

	return each(closure, &value);
}

static bool say_number(unit_each *each, void *closure, unit_id unit, uint64_t number)
{
	uint64_t stored = htole64(number);

	return say_unit(each, closure, unit, &stored, sizeof(stored));
}

static bool digests_say_text(unit_each *each, void *closure, unit_id unit, const char *text)
{
	return say_unit(each, closure, unit, text, strlen(text));
}

static bool say_field(unit_each *each, void *closure, unit_id unit, const struct field *field)
{
	uint64_t bits;

	if (field->type == FIELD_TEXT)
		return digests_say_text(each, closure, unit, field->text);
	memcpy(&bits, &field->real, sizeof(bits));
	return say_number(each, closure, unit,
			  field->type == FIELD_REAL ? bits : (uint64_t)field->integer);
}

/* Appends a name with its NUL. */
static void digests_add_name(struct buf *names, const char *name)
{
	buf_add(names, name, strlen(name) + 1);
}

static bool say_names(unit_each *each, void *closure, unit_id unit, struct buf *names)
{
	bool fine = !names->failed && say_unit(each, closure, unit, names->data, names->size);

	buf_release(names);
	return fine;
}

static bool say_bones(const struct clip *clip, const char *label, unit_each *each, void *closure)
{
	struct buf names = BUF_INIT;

	for (uint32_t i = 0; i < clip->track_count; i++)
		digests_add_name(&names, clip->tracks[i].label);
	return say_names(each, closure, unit_of_value(label, "bones"), &names);
}

static bool say_stills(const struct clip *clip, const char *label, unit_each *each, void *closure)
{
	struct buf names = BUF_INIT;

	for (uint32_t i = 0; clip->stills && i < clip->frames; i++) {
		uint32_t time = htole32(f32_bits(clip->stills[i].time));

		buf_add(&names, &time, sizeof(time));
		digests_add_name(&names, clip->stills[i].url);
	}
	return say_names(each, closure, unit_of_value(label, "stills"), &names);
}

static bool say_others(const struct anim *a, const struct clip *c, const char *label,
		       unit_each *each, void *closure)
{
	for (uint32_t i = 0; i < c->field_count; i++) {
		if (!say_field(each, closure, unit_of_field(label, c->fields[i].name),
			       &c->fields[i]))
			return false;
	}
	if (!digests_say_text(each, closure, unit_of_value(label, "name"), c->name) ||
	    !say_number(each, closure, unit_of_value(label, "frame_time"),
			f32_bits(c->frame_time)) ||
	    !say_number(each, closure, unit_of_value(label, "duration"), f32_bits(c->duration)))
		return false;
	return a->format->stills ||
	       (say_number(each, closure, unit_of_value(label, "frames"), c->frames) &&
		say_bones(c, label, each, closure));
}

bool units_of_clip(const struct anim *a, const struct clip *c, const char *label, unsigned which,
		   unit_each *each, void *closure)
{
	if ((which & UNITS_LOOP) &&
	    !say_number(each, closure, unit_of_value(label, "loop"), c->loop))
		return false;
	if ((which & UNITS_STILLS) && a->format->stills && !say_stills(c, label, each, closure))
		return false;
	return !(which & UNITS_OTHERS) || say_others(a, c, label, each, closure);
}

bool units_of_file(const struct anim *a, unit_each *each, void *closure)
{
	struct buf names = BUF_INIT;

	if (!say_number(each, closure, unit_of_file("version"), a->version))
		return false;
	for (uint32_t i = 0; i < a->field_count; i++) {
		if (!say_field(each, closure, unit_of_file_field(a->fields[i].name), &a->fields[i]))
			return false;
	}
	for (uint32_t i = 0; i < a->clip_count; i++)
		digests_add_name(&names, a->clips[i].label);
	if (!say_names(each, closure, unit_of_file("clips"), &names))
		return false;
	for (uint32_t i = 0; i < a->bone_count; i++)
		digests_add_name(&names, a->bones[i]);
	return say_names(each, closure, unit_of_file("bones"), &names);
}

/* ---- curves, of which files share some ---- */

struct shared {
	const void *curve;
	uint32_t frames;
	struct digest digest, other;
};

/* Curves that were already hashed: a hostile file may share one among all bones. */
struct memo {
	struct shared *slots;
	size_t mask, count;
};

static struct shared *memo_find(const struct memo *m, const void *curve, uint32_t frames)
{
	size_t at = (size_t)XXH3_64bits_withSeed(&curve, sizeof(curve), frames) & m->mask;

	while (m->slots[at].curve && (m->slots[at].curve != curve || m->slots[at].frames != frames))
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

/* Makes room for one more curve; false when out of memory. */
static bool memo_room(struct memo *m)
{
	struct memo old = *m;

	if (m->slots && 2 * (m->count + 1) <= m->mask)
		return true;
	m->mask = m->slots ? 2 * m->mask + 1 : 255;
	m->slots = calloc(m->mask + 1, sizeof(*m->slots));
	if (!m->slots) {
		*m = old;
		return false;
	}
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].curve)
			*memo_find(m, old.slots[i].curve, old.slots[i].frames) = old.slots[i];
	}
	free(old.slots);
	return true;
}

static enum curve_kind other_kind(enum curve_kind kind)
{
	return kind == CURVE_EULER ? CURVE_QUATERNION : CURVE_EULER;
}

/*
 * Computes the digest of a curve, and its digest in the other form if rotations are shown in
 * that.
 */
static bool hash_curve(const struct curve *c, enum curve_kind shown, uint32_t frames,
		       struct shared *out)
{
	struct arena arena = ARENA_INIT;
	const struct curve *other = NULL;

	out->digest = said_curve(c, frames);
	out->other = (struct digest){0, 0};
	if (c->kind == CURVE_VECTOR || c->kind == shown)
		return true;
	other = rotation_convert(c, other_kind(c->kind), &arena);
	out->other = said_curve(other, frames);
	arena_release(&arena);
	return other != NULL;
}

/* hash_curve() with a memo, or without if m is NULL. */
static bool digest_curve(struct memo *m, const struct curve *c, enum curve_kind shown,
			 uint32_t frames, struct shared *out)
{
	struct shared *known;

	*out = (struct shared){.curve = c, .frames = frames};
	if (!c)
		return true;
	if (!m)
		return hash_curve(c, shown, frames, out);
	if (!memo_room(m))
		return false;
	known = memo_find(m, c, frames);
	if (!known->curve) {
		if (!hash_curve(c, shown, frames, out))
			return false;
		*known = *out;
		m->count++;
	}
	*out = *known;
	return true;
}

static bool say_keyframes(const struct anim *a, const struct clip *clip, const struct track *track,
			  unit_each *each, void *closure)
{
	const struct curve *rotation = track->curve[ROLE_ROTATION];
	struct arena arena = ARENA_INIT;
	struct unit_value value = {.unit = unit_of_curve(clip->label, track->label, UNIT_KEYFRAMES),
				   .digest = said_track(track),
				   .track = track};
	struct track other;
	bool fine;

	if (rotation && curve_edit_table_rotation(a, track) != rotation->kind) {
		other = curve_edit_shown_as(track, other_kind(rotation->kind), &arena);
		value.other = said_track(&other);
	}
	fine = !arena.failed && each(closure, &value);
	arena_release(&arena);
	return fine;
}

static bool say_curves(struct memo *m, const struct anim *a, const struct clip *clip,
		       const struct track *track, unit_each *each, void *closure)
{
	uint64_t seed = hash_name(clip->label, 1);

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		struct unit_value value = {.unit = unit_of_role(seed, track->label, role),
					   .track = track};
		struct shared curve;

		if (!digest_curve(m, track->curve[role], curve_edit_table_rotation(a, track),
				  clip->frames, &curve))
			return false;
		value.digest = curve.digest;
		value.other = curve.other;
		if (!each(closure, &value))
			return false;
	}
	return true;
}

static bool say_track(struct memo *m, const struct anim *a, const struct clip *clip,
		      const struct track *track, unit_each *each, void *closure)
{
	return a->format->keyframes ? say_keyframes(a, clip, track, each, closure)
				    : say_curves(m, a, clip, track, each, closure);
}

bool units_of_track(const struct anim *a, const struct clip *c, const struct track *track,
		    unit_each *each, void *closure)
{
	return say_track(NULL, a, c, track, each, closure);
}

/* ---- entries ---- */

/* Returns the slot of the unit's newest entry, or a free slot for it. */
static uint32_t *digests_slot_of(const struct digests *d, unit_id u)
{
	size_t at = (size_t)(u ^ u >> 32) & d->mask;

	while (d->newest[at] != NONE && d->entries[d->newest[at]].unit != u)
		at = (at + 1) & d->mask;
	return &d->newest[at];
}

/* Returns the unit's entry that holds in version `number`; NULL: none. */
static struct entry *digests_find_entry(const struct digests *d, unit_id u, uint32_t number)
{
	uint32_t at = d->newest ? *digests_slot_of(d, u) : NONE;

	while (at != NONE && d->entries[at].number > number)
		at = d->entries[at].before;
	return at == NONE ? NULL : &d->entries[at];
}

/* Grows the table so that at most half of the slots are used. */
static bool slots_room(struct digests *d)
{
	size_t slots = d->newest ? d->mask + 1 : 64;

	if (d->newest && 2 * (d->count + 1) <= slots)
		return true;
	while (slots < 2 * (d->count + 1))
		slots *= 2;
	slots *= 2;
	free(d->newest);
	d->newest = malloc(slots * sizeof(*d->newest));
	if (!d->newest)
		return false;
	d->mask = slots - 1;
	memset(d->newest, 0xFF, slots * sizeof(*d->newest));
	for (uint32_t i = 0; i < d->count; i++)
		*digests_slot_of(d, d->entries[i].unit) = i;
	return true;
}

static bool digests_add_entry(struct digests *d, const struct unit_value *value, uint32_t number)
{
	struct entry *entries = array_room(d->entries, d->count, &d->room, sizeof(*entries));
	uint32_t *slot;

	if (!entries)
		return false;
	d->entries = entries;
	if (!slots_room(d))
		return false;
	slot = digests_slot_of(d, value->unit);
	entries[d->count] = (struct entry){.unit = value->unit,
					   .digest = value->digest,
					   .other = value->other,
					   .number = number,
					   .before = *slot};
	*slot = (uint32_t)d->count++;
	return true;
}

/* ---- forgetting ---- */

/* Makes `first` the oldest version: keeps older entries only if they still hold in it. */
static void forget_before(struct digests *d, uint32_t first)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < d->count; i++) {
		struct entry e = d->entries[i];

		/*
		 * digests_find_entry() only reaches entries that have not been renumbered: those at
		 * index i and after.
		 */
		if (e.number < first) {
			const struct entry *holds = digests_find_entry(d, e.unit, first);

			if (holds != &d->entries[i])
				e.number = 0;
		}
		d->entries[i].number = e.number;
	}
	for (uint32_t i = 0; i < d->count; i++) {
		if (d->entries[i].number)
			d->entries[kept++] = d->entries[i];
	}
	d->count = kept;
	memmove(d->bytes, d->bytes + (first - d->first), (d->last + 1 - first) * sizeof(*d->bytes));
	d->first = first;
	memset(d->newest, 0xFF, (d->mask + 1) * sizeof(*d->newest));
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t *slot = digests_slot_of(d, d->entries[i].unit);

		if (d->entries[i].number < first)
			d->entries[i].number = first;
		d->entries[i].before = *slot;
		*slot = i;
	}
}

/*
 * Keeps the digests within their limits. Forgets a quarter at once, so that this is rarely done;
 * never the newest version.
 */
static void keep_bounds(struct digests *d)
{
	uint32_t versions = d->last + 1 - d->first;

	if (!d->newest && !slots_room(d))
		return; /* without memory now, forget when the next version is added */
	while (versions > 1 && (versions > DIGESTS_VERSIONS_MAX || d->count > DIGESTS_UNITS_MAX)) {
		forget_before(d, d->first + (versions + 3) / 4);
		versions = d->last + 1 - d->first;
	}
}

/* ---- adding versions ---- */

struct adding {
	struct digests *d;
	uint32_t number;
	struct memo memo;
};

static bool digests_add_value(void *closure, const struct unit_value *value)
{
	struct adding *a = closure;
	struct entry *now = digests_find_entry(a->d, value->unit, a->number);

	if (now && digest_same(now->digest, value->digest)) {
		if (!digest_is_none(value->other))
			now->other = value->other;
		return true;
	}
	return (!now && digest_is_none(value->digest)) || digests_add_entry(a->d, value, a->number);
}

/* Is the track unchanged since the version `before`, which has been added? */
static bool digests_is_kept(const struct version *v, const struct version *before, uint32_t clip,
			    int64_t track)
{
	return before && v->ages.at && before->ages.at &&
	       version_since(v, clip, track) <= before->generation;
}

/* Adds empty entries for the curves of bones and clips that are gone. */
static bool add_gone(struct adding *a, const struct version *v, const struct version *before)
{
	const struct anim *old = before->anim;
	const struct unit_value none = {.unit = 0};

	for (uint32_t i = 0; i < old->clip_count; i++) {
		const struct clip *c = &old->clips[i];
		int64_t clip = version_clip(v, c->label);

		if (clip >= 0 && digests_is_kept(v, before, (uint32_t)clip, -1))
			continue;
		for (uint32_t j = 0; j < c->track_count; j++) {
			struct unit_value value = none;
			const char *label = c->tracks[j].label;

			if (clip >= 0 && version_track(v, (uint32_t)clip, label) >= 0)
				continue;
			for (unsigned role = 0; role <= UNIT_KEYFRAMES; role++) {
				value.unit = unit_of_curve(c->label, label, role);
				if (!digests_add_value(a, &value))
					return false;
			}
		}
	}
	return true;
}

static bool digests_add_clip(struct adding *a, const struct version *v,
			     const struct version *before, uint32_t clip)
{
	const struct clip *c = &v->anim->clips[clip];

	if (digests_is_kept(v, before, clip, -1))
		return true;
	if (!units_of_clip(v->anim, c, c->label, ~0u, digests_add_value, a))
		return false;
	for (uint32_t i = 0; i < c->track_count; i++) {
		if (!digests_is_kept(v, before, clip, i) &&
		    !say_track(&a->memo, v->anim, c, &c->tracks[i], digests_add_value, a))
			return false;
	}
	return true;
}

static bool add_model(struct adding *a, const struct version *v, const struct version *before)
{
	for (uint32_t i = 0; i < v->anim->clip_count; i++) {
		if (!digests_add_clip(a, v, before, i))
			return false;
	}
	return units_of_file(v->anim, digests_add_value, a) && (!before || add_gone(a, v, before));
}

/* Undoes a version that was only partly added. */
static void digests_take_back(struct digests *d)
{
	while (d->count && d->entries[d->count - 1].number > d->last)
		d->count--;
	free(d->newest);
	d->newest = NULL;
	(void)slots_room(d);
}

struct digest digest_of_file(struct bytes bytes)
{
	return digest_bytes(bytes.data, bytes.size, 0);
}

uint32_t digests_add(struct digests *d, const struct version *v, const struct version *before)
{
	struct adding a = {.d = d, .number = d->last + 1};
	struct digest whole = digest_of_file(buf_bytes(&v->bytes));
	size_t count = d->last + 1 - d->first;
	struct digest *bytes;
	bool fine;

	if (d->last && digest_same(d->bytes[d->last - d->first], whole)) {
		if (v->anim->rotations != ROTATIONS_STORED && d->in_form != d->last) {
			a.number = d->last;
			d->in_form = add_model(&a, v, NULL) ? d->last : 0;
			free(a.memo.slots);
		}
		return d->last;
	}
	bytes = array_room(d->bytes, count, &d->bytes_room, sizeof(*bytes));
	if (!bytes || d->last == UINT32_MAX - 1)
		return 0;
	d->bytes = bytes;
	fine = add_model(&a, v, before);
	free(a.memo.slots);
	if (!fine) {
		digests_take_back(d);
		return 0;
	}
	bytes[count] = whole;
	d->last++;
	if (!before || d->in_form == d->last - 1)
		d->in_form = v->anim->rotations == ROTATIONS_STORED ? 0 : d->last;
	keep_bounds(d);
	return d->last;
}

uint32_t digests_of_bytes(const struct digests *d, struct bytes bytes)
{
	return digests_of_file(d, digest_of_file(bytes));
}

uint32_t digests_of_file(const struct digests *d, struct digest whole)
{
	for (uint32_t number = d->last; number >= d->first && number; number--) {
		if (digest_same(d->bytes[number - d->first], whole))
			return number;
	}
	return 0;
}

/* ---- asking ---- */

struct digest digests_at(const struct digests *d, unit_id u, uint32_t number)
{
	const struct entry *e = digests_find_entry(d, u, number);

	return e ? e->digest : (struct digest){0, 0};
}

uint32_t digests_since(const struct digests *d, unit_id u, uint32_t number)
{
	const struct entry *e = digests_find_entry(d, u, number);

	return e ? e->number : 0;
}

static bool digests_is_said(const struct entry *e, struct digest said)
{
	return digest_same(e->digest, said) ||
	       (!digest_is_none(said) && digest_same(e->other, said));
}

struct digest digests_in_form(const struct digests *d, unit_id u, struct digest said)
{
	uint32_t at = d->newest ? *digests_slot_of(d, u) : NONE;

	for (; at != NONE; at = d->entries[at].before) {
		if (digests_is_said(&d->entries[at], said))
			return d->entries[at].digest;
	}
	return said;
}

static void clear_bits(uint64_t *set, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (i % 64 == 0 && to - i >= 64) {
			set[i / 64] = 0;
			i += 63;
		} else {
			set[i / 64] &= ~((uint64_t)1 << i % 64);
		}
	}
}

void digests_match(const struct digests *d, unit_id u, struct digest digest, uint64_t *set,
		   uint32_t last)
{
	uint32_t at = d->newest ? *digests_slot_of(d, u) : NONE, end = last + 1;

	for (; at != NONE; at = d->entries[at].before) {
		const struct entry *e = &d->entries[at];

		if (e->number >= end)
			continue;
		if (!digests_is_said(e, digest))
			clear_bits(set, e->number, end);
		end = e->number;
	}
	if (!digest_is_none(digest))
		clear_bits(set, 0, end);
}

void digests_match_bytes(const struct digests *d, struct bytes bytes, uint64_t *set, uint32_t last)
{
	struct digest whole = digest_of_file(bytes);

	clear_bits(set, 0, d->first < last + 1 ? d->first : last + 1);
	for (uint32_t i = d->first; i <= last; i++) {
		if (i > d->last || !digest_same(d->bytes[i - d->first], whole))
			clear_bits(set, i, i + 1);
	}
}

/* ---- texts ---- */

struct digest digests_text(const char *path, struct bytes text)
{
	return digest_bytes(text.data, text.size, hash_name(path, 6));
}

/* Is the text noted already? Texts of a version are rendered again and again. */
static bool is_noted(const struct digests *d, const struct noted *noted)
{
	for (size_t i = 0; i < d->text_count; i++) {
		if (d->texts[i].number == noted->number &&
		    digest_same(d->texts[i].text, noted->text))
			return true;
	}
	return false;
}

bool digests_note(struct digests *d, struct digest text, uint32_t number)
{
	struct noted noted = {text, number}, *texts;

	if (is_noted(d, &noted))
		return true;
	if (d->text_count == DIGESTS_TEXTS_MAX) {
		d->texts[d->text_next] = noted;
		d->text_next = (d->text_next + 1) % DIGESTS_TEXTS_MAX;
		return true;
	}
	texts = array_room(d->texts, d->text_count, &d->text_room, sizeof(*texts));
	if (!texts)
		return false;
	d->texts = texts;
	texts[d->text_count++] = noted;
	return true;
}

bool digests_note_text(struct digests *d, const char *path, struct bytes text, uint32_t number)
{
	return digests_note(d, digests_text(path, text), number);
}

uint32_t digests_of_text(const struct digests *d, const char *path, struct bytes text)
{
	struct digest digest = digests_text(path, text);
	uint32_t number = 0;

	for (size_t i = 0; i < d->text_count; i++) {
		if (digest_same(d->texts[i].text, digest) && d->texts[i].number > number)
			number = d->texts[i].number;
	}
	return number >= d->first ? number : 0;
}

/* ---- bytes ---- */

#define MAGIC "animfs digests 2"

static void digests_put_number(struct buf *out, uint64_t number, size_t size)
{
	uint64_t stored = htole64(number);

	buf_add(out, &stored, size);
}

static void put_digest(struct buf *out, struct digest digest)
{
	digests_put_number(out, digest.low, 8);
	digests_put_number(out, digest.high, 8);
}

/* Returns the number of a version after renumbering from 1; 0 for forgotten versions. */
static uint32_t number_again(const struct digests *d, uint32_t number)
{
	return number < d->first ? 0 : number - (d->first - 1);
}

void digests_write(const struct digests *d, struct buf *out)
{
	buf_add(out, MAGIC, sizeof(MAGIC));
	digests_put_number(out, 1, 4);
	digests_put_number(out, number_again(d, d->last), 4);
	digests_put_number(out, d->count, 4);
	digests_put_number(out, d->text_count, 4);
	for (uint32_t i = d->first; i <= d->last; i++)
		put_digest(out, d->bytes[i - d->first]);
	for (size_t i = 0; i < d->count; i++) {
		digests_put_number(out, d->entries[i].unit, 8);
		put_digest(out, d->entries[i].digest);
		put_digest(out, d->entries[i].other);
		digests_put_number(out, number_again(d, d->entries[i].number), 4);
	}
	/* Write the texts with the oldest first. */
	for (size_t i = 0; i < d->text_count; i++) {
		const struct noted *noted = &d->texts[(d->text_next + i) % d->text_count];

		put_digest(out, noted->text);
		digests_put_number(out, number_again(d, noted->number), 4);
	}
}

struct source_bytes {
	struct bytes left;
	bool bad;
};

static uint64_t digests_take_number(struct source_bytes *s, size_t size)
{
	uint64_t number = 0;

	if (s->bad || s->left.size < size) {
		s->bad = true;
		return 0;
	}
	memcpy(&number, s->left.data, size);
	s->left.data += size;
	s->left.size -= size;
	return le64toh(number);
}

static struct digest take_digest(struct source_bytes *s)
{
	uint64_t low = digests_take_number(s, 8), high = digests_take_number(s, 8);

	return (struct digest){low, high};
}

static bool read_versions(struct digests *d, struct source_bytes *s)
{
	for (uint32_t i = 0; i < d->last + 1 - d->first; i++) {
		struct digest *bytes = array_room(d->bytes, i, &d->bytes_room, sizeof(*bytes));

		if (!bytes)
			return false;
		d->bytes = bytes;
		bytes[i] = take_digest(s);
	}
	return !s->bad;
}

static bool read_entries(struct digests *d, struct source_bytes *s, uint64_t count)
{
	uint32_t before = d->first;

	for (uint64_t i = 0; i < count && !s->bad; i++) {
		struct unit_value value = {.unit = digests_take_number(s, 8)};
		uint32_t number;

		value.digest = take_digest(s);
		value.other = take_digest(s);
		number = (uint32_t)digests_take_number(s, 4);
		s->bad |= number < before || number > d->last;
		before = number;
		if (!s->bad && !digests_add_entry(d, &value, number))
			return false;
	}
	return !s->bad;
}

static bool digests_read_texts(struct digests *d, struct source_bytes *s, uint64_t count)
{
	for (uint64_t i = 0; i < count && !s->bad; i++) {
		struct noted *texts =
			array_room(d->texts, d->text_count, &d->text_room, sizeof(*texts));

		if (!texts)
			return false;
		d->texts = texts;
		texts[i].text = take_digest(s);
		texts[i].number = (uint32_t)digests_take_number(s, 4);
		s->bad |= texts[i].number > d->last;
		d->text_count++;
	}
	return !s->bad;
}

struct digests *digests_read(struct bytes bytes)
{
	struct source_bytes s = {bytes, false};
	struct digests *d = digests_new();
	uint64_t entries, texts;
	bool fine;

	if (!d || bytes.size < sizeof(MAGIC) || memcmp(bytes.data, MAGIC, sizeof(MAGIC)) != 0) {
		digests_free(d);
		return NULL;
	}
	s.left.data += sizeof(MAGIC);
	s.left.size -= sizeof(MAGIC);
	d->first = (uint32_t)digests_take_number(&s, 4);
	d->last = (uint32_t)digests_take_number(&s, 4);
	entries = digests_take_number(&s, 4);
	texts = digests_take_number(&s, 4);
	/* Check counts before they size anything. */
	fine = !s.bad && d->first >= 1 && d->last < UINT32_MAX - 1 && d->last + 1 >= d->first &&
	       d->last + 1 - d->first <= DIGESTS_VERSIONS_MAX && entries < NONE &&
	       texts <= DIGESTS_TEXTS_MAX && read_versions(d, &s) && read_entries(d, &s, entries) &&
	       digests_read_texts(d, &s, texts) && s.left.size == 0;
	if (fine)
		return d;
	digests_free(d);
	return NULL;
}
