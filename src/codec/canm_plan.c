/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "canm_edit.h"
#include "quant.h"
#include "text/utf.h"

#include <math.h>
#include <string.h>

#define PENDING UINT32_MAX
#define SOME 64 /* bytes at each end of the keys that are hashed */

void *edit_alloc(struct edit *e, size_t count, size_t size)
{
	void *memory = arena_alloc(&e->old.arena, count, size);

	if (!memory)
		err_memory(e->err);
	return memory;
}

/* Gets the track's row in the old file. False if the track is new. */
static bool old_row(const struct edit *e, const struct target *t, const struct track *track,
		    struct row *row)
{
	if (t->was == ANIM_NEW || track->origin >= t->old.row_count)
		return false;
	*row = canm_row(&e->old, &t->old, track->origin);
	return true;
}

static const char *canm_plan_track_word(const struct track *track)
{
	return track->label ? track->label : track->name;
}

/* ---- animations ---- */

static const struct field *find_loop(const struct clip *clip)
{
	uint32_t i;

	for (i = 0; i < clip->field_count; i++)
		if (strcmp(clip->fields[i].name, "loop") == 0)
			return &clip->fields[i];
	return NULL;
}

/*
 * Chooses the stored loop number. If both the number and the boolean were changed, the number
 * counts.
 */
static bool choose_loop(const struct edit *e, struct target *t)
{
	const struct field *field = find_loop(t->clip);
	bool is_new = t->was == ANIM_NEW;

	t->loop = is_new ? t->clip->loop : t->old.loop;
	if (field &&
	    (is_new ? (field->integer == 1) == t->clip->loop : field->integer != t->old.loop)) {
		if (field->integer < INT32_MIN || field->integer > INT32_MAX)
			return err_set(e->err, ERR_STORE, "loop is a number of 32 bits");
		t->loop = (int32_t)field->integer;
	} else if (t->clip->loop != (t->loop == 1)) {
		t->loop = t->clip->loop;
	}
	return true;
}

static bool canm_plan_check_time(const struct edit *e, const struct target *t, float now, float old,
				 const char *what)
{
	if (isfinite(now) || (t->was != ANIM_NEW && f32_bits(now) == f32_bits(old)))
		return true;
	return err_set(e->err, ERR_STORE, "the %s must be a finite number", what);
}

static bool canm_plan_check_frames(const struct edit *e, const struct clip *clip)
{
	uint32_t i;
	unsigned role;

	if (clip->frames < 1 || clip->frames > INT32_MAX)
		return err_set(e->err, ERR_STORE, "an animation cannot have %u frames",
			       clip->frames);
	for (i = 0; clip->frames > COUNT_MAX && i < clip->track_count; i++)
		for (role = 0; role < ROLE_COUNT; role++)
			if (clip->tracks[i].curve[role] && clip->tracks[i].curve[role]->keyed)
				return err_set(e->err, ERR_STORE,
					       "an animation with keys has at most %u frames",
					       COUNT_MAX);
	return true;
}

static bool plan_clip(struct edit *e, uint32_t i)
{
	const struct clip *clip = &e->a->clips[i];
	struct target *t = &e->targets[i];

	*t = (struct target){.clip = clip, .was = ANIM_NEW, .first = e->track_count};
	if (clip->origin < e->old.clips.count) {
		t->was = clip->origin;
		t->old = canm_entry(&e->old, t->was);
	}
	e->track_count += clip->track_count;
	return canm_plan_check_frames(e, clip) && choose_loop(e, t) &&
	       canm_plan_check_time(e, t, clip->frame_time, t->old.frame_time, "frame time") &&
	       canm_plan_check_time(e, t, clip->duration, t->old.duration, "duration");
}

static bool plan_clips(struct edit *e)
{
	uint32_t i;

	e->targets = edit_alloc(e, e->a->clip_count, sizeof(*e->targets));
	if (!e->targets)
		return false;
	for (i = 0; i < e->a->clip_count; i++)
		if (!plan_clip(e, i))
			return false;
	return true;
}

/* ---- curves: which keep their channels, and the places of the others ---- */

static bool canm_plan_lanes_same(const struct curve *a, const struct curve *b)
{
	unsigned i;

	for (i = 0; i < curve_width(a); i++)
		if (a->lane[i].form != b->lane[i].form ||
		    f32_bits(a->lane[i].base) != f32_bits(b->lane[i].base) ||
		    f32_bits(a->lane[i].step) != f32_bits(b->lane[i].step))
			return false;
	return true;
}

static bool canm_plan_is_unchanged(const struct edit *e, const struct curve *want, uint32_t was,
				   enum role role)
{
	struct curve old;

	if (was == NONE)
		return false;
	old = canm_curve(&e->old, was, role);
	if (want->stored == old.stored && want->kind == old.kind && want->keyed == old.keyed &&
	    want->count == old.count && canm_plan_lanes_same(want, &old))
		return true;
	return curve_same(want, &old);
}

static const char *const kind_words[] = {"vector", "set of Euler angles", "quaternion"};

static bool canm_plan_check_curve(const struct edit *e, const struct track *track, enum role role)
{
	const struct curve *c = track->curve[role];
	const char *bone = canm_plan_track_word(track), *word = role_names[role];

	if (role == ROLE_ROTATION ? c->kind == CURVE_VECTOR : c->kind != CURVE_VECTOR)
		return err_set(e->err, ERR_STORE, "%s: its %s cannot be stored as a %s", bone, word,
			       kind_words[c->kind]);
	if (c->kind == CURVE_QUATERNION && e->version == VERSION_EDF5) {
		err_set(e->err, ERR_STORE, "%s: version 0x200 has Euler angles and no quaternions",
			bone);
		return err_accept(e->err, "angles in degrees, which --rotations=euler shows");
	}
	if (c->frames || c->interpolation != INTERPOLATION_LINEAR)
		return err_set(e->err, ERR_STORE,
			       "%s: its %s needs a key in every frame and linear interpolation",
			       bone, word);
	if (c->count < 1 || (c->keyed && c->count > COUNT_MAX && e->version == VERSION_EDF5) ||
	    c->count > INT32_MAX)
		return err_set(e->err, ERR_STORE, "%s: its %s cannot have %u keys", bone, word,
			       c->count);
	return true;
}

static bool same_pair(const void *owner, uint32_t number, const void *key)
{
	const struct pair *a = (const struct pair *)owner + number, *b = key;

	return a->want == b->want && a->was == b->was && a->role == b->role;
}

/*
 * Does the curve equal this old channel in that role? The result is cached for tracks that share a
 * curve.
 */
static bool stays_channel(struct edit *e, const struct curve *want, uint32_t was, enum role role)
{
	struct compared *c;

	if (was == NONE)
		return false;
	c = &e->compared[role == ROLE_ROTATION][was];
	if (c->equal == want || c->other == want)
		return c->equal == want;
	if (canm_plan_is_unchanged(e, want, was, role))
		c->equal = want;
	else
		c->other = want;
	return c->equal == want;
}

/* Returns the old channels of a track; NONE if the track is new. */
static struct row old_channels(const struct edit *e, const struct target *t,
			       const struct track *track)
{
	struct row row;

	if (!old_row(e, t, track, &row))
		row = (struct row){0, {NONE, NONE, NONE}};
	return row;
}

/* Assigns unchanged curves to their channels; *changed: number of the others. */
static void plan_kept(struct edit *e, const struct target *t, size_t *changed)
{
	uint32_t track;
	unsigned role;

	for (track = 0; track < t->clip->track_count; track++) {
		const struct track *tr = &t->clip->tracks[track];
		uint32_t *slots = &e->slots[(t->first + track) * ROLE_COUNT];
		struct row row = old_channels(e, t, tr);

		for (role = 0; role < ROLE_COUNT; role++) {
			const struct curve *want = tr->curve[role];

			slots[role] = EMPTY;
			if (!want)
				continue;
			if (stays_channel(e, want, row.channel[role], role)) {
				slots[role] = row.channel[role];
			} else {
				slots[role] = SLOT_PAIR;
				++*changed;
			}
		}
	}
}

static bool plan_pair(struct edit *e, uint32_t clip, uint32_t track, enum role role)
{
	const struct target *t = &e->targets[clip];
	const struct track *tr = &t->clip->tracks[track];
	struct pair pair = {.want = tr->curve[role],
			    .was = old_channels(e, t, tr).channel[role],
			    .is = PENDING,
			    .clip = clip,
			    .track = track,
			    .role = role};
	uint64_t hash = index_mix(index_mix(index_mix(0, (uintptr_t)pair.want), pair.was), role);
	uint32_t number;

	if (!index_find(&e->pair_index, hash, same_pair, e->pairs, &pair, &number)) {
		if (!canm_plan_check_curve(e, tr, role))
			return false;
		number = e->pair_count++;
		e->pairs[number] = pair;
		index_put(&e->pair_index, hash, number);
	}
	e->slots[(t->first + track) * ROLE_COUNT + role] = SLOT_PAIR | number;
	return true;
}

static bool plan_changed(struct edit *e, size_t changed)
{
	uint32_t clip, track;
	unsigned role;

	e->pairs = edit_alloc(e, changed, sizeof(*e->pairs));
	if (!index_init(&e->pair_index, &e->old.arena, changed) || !e->pairs)
		return err_memory(e->err);
	for (clip = 0; clip < e->a->clip_count; clip++)
		for (track = 0; track < e->a->clips[clip].track_count; track++)
			for (role = 0; role < ROLE_COUNT; role++)
				if (e->slots[(e->targets[clip].first + track) * ROLE_COUNT +
					     role] == SLOT_PAIR &&
				    !plan_pair(e, clip, track, role))
					return false;
	return true;
}

static bool plan_slots(struct edit *e)
{
	size_t changed = 0;
	uint32_t i;

	e->slots = edit_alloc(e, e->track_count * ROLE_COUNT, sizeof(*e->slots));
	for (i = 0; i < 2; i++)
		e->compared[i] = edit_alloc(e, e->old.channels.count, sizeof(**e->compared));
	if (e->old.arena.failed)
		return false;
	for (i = 0; i < e->a->clip_count; i++)
		plan_kept(e, &e->targets[i], &changed);
	return changed == 0 || plan_changed(e, changed);
}

uint32_t edit_record(const struct edit *e, uint32_t slot)
{
	return slot != EMPTY && slot & SLOT_PAIR ? e->pairs[slot & ~SLOT_PAIR].is : slot;
}

/* Returns how many numbers of a channel's base are used. */
static unsigned base_width(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? 0 : kind == KIND_QUATERNION ? 4 : 3;
}

static unsigned step_width(uint32_t kind)
{
	return kind == KIND_VECTORS ? 3 : 0;
}

static bool same_channel(const void *owner, uint32_t number, const void *key)
{
	const struct channel *a = &((const struct record *)owner + number)->is, *b = key;

	if (a->kind != b->kind || memcmp(a->base, b->base, 4 * base_width(a->kind)) != 0 ||
	    memcmp(a->step, b->step, 4 * step_width(a->kind)) != 0)
		return false;
	if (!kind_is_keyed(a->kind))
		return true;
	return a->count == b->count &&
	       (a->keys == b->keys || memcmp(a->keys, b->keys, keys_size(a)) == 0);
}

static uint64_t hash_channel(const struct channel *c)
{
	size_t size = keys_size(c);
	uint64_t hash = index_mix(index_mix(0, c->kind), size);
	unsigned i;

	for (i = 0; i < base_width(c->kind); i++)
		hash = index_mix(hash, c->base[i]);
	for (i = 0; i < step_width(c->kind); i++)
		hash = index_mix(hash, c->step[i]);
	/* Hashing some of the keys is enough. */
	if (size <= 2 * SOME)
		return index_bytes(hash, c->keys, size);
	hash = index_bytes(hash, c->keys, SOME);
	return index_bytes(hash, c->keys + size - SOME, SOME);
}

static void count_users(struct edit *e)
{
	size_t slots = e->track_count * ROLE_COUNT, i;
	uint32_t clip, row;
	unsigned role;

	for (clip = 0; clip < e->old.clips.count; clip++) {
		struct entry entry = canm_entry(&e->old, clip);

		for (row = 0; row < entry.row_count; row++) {
			struct row r = canm_row(&e->old, &entry, row);

			for (role = 0; role < ROLE_COUNT; role++)
				if (r.channel[role] != NONE)
					e->records[r.channel[role]].had++;
		}
	}
	for (i = 0; i < slots; i++)
		if (!(e->slots[i] & SLOT_PAIR))
			e->records[e->slots[i]].users++;
}

static bool load_records(struct edit *e)
{
	uint32_t i;

	e->record_count = e->old.channels.count;
	e->records = edit_alloc(e, (size_t)e->record_count + e->pair_count, sizeof(*e->records));
	for (i = 0; e->records && i < e->record_count; i++)
		e->records[i].is = canm_channel(&e->old, i);
	return e->records != NULL;
}

/*
 * Builds the index of records, on demand: most edits change a channel in place and never search for
 * an equal one.
 */
static bool index_records(struct edit *e)
{
	uint32_t i;

	if (e->records_indexed)
		return true;
	if (!index_init(&e->record_index, &e->old.arena,
			(size_t)e->old.channels.count + e->pair_count))
		return err_memory(e->err);
	for (i = 0; i < e->old.channels.count && i < COUNT_MAX;
	     i++) { /* rows cannot refer to records with larger numbers */
		const struct channel *c = &e->records[i].is;

		if (!e->records[i].changed)
			index_add(&e->record_index, hash_channel(c), same_channel, e->records, c,
				  i);
	}
	for (i = 0; i < e->pair_count && e->pairs[i].is != PENDING; i++)
		index_put(&e->record_index, hash_channel(&e->records[e->pairs[i].is].is),
			  e->pairs[i].is);
	e->records_indexed = true;
	return true;
}

/* ---- curves: numbers to stored numbers ---- */

static uint32_t canm_plan_kind_of(const struct curve *c)
{
	if (c->kind == CURVE_QUATERNION)
		return c->keyed ? KIND_QUATERNIONS : KIND_QUATERNION;
	return c->keyed ? KIND_VECTORS : KIND_VECTOR;
}

/* Returns a new channel, whose unused fields are like those of the game's own files. */
static struct channel new_channel(uint32_t kind)
{
	struct channel c = {.kind = kind, .count = 1};

	if (!kind_is_quaternion(kind))
		c.base[3] = f32_bits(1);
	if (kind == KIND_VECTORS)
		c.step[3] = f32_bits(1);
	return c;
}

/* Are all values of the curve exactly representable by a channel of this kind? */
static bool is_stored_form(const struct curve *c, uint32_t kind)
{
	enum lane_form form = kind == KIND_VECTORS ? LANE_GRID : LANE_FLOAT;
	double unit = canm_unit(c->kind);
	unsigned axis;

	for (axis = 0; axis < curve_width(c); axis++)
		if (c->lane[axis].form != form || !f64_same(c->lane[axis].unit, unit))
			return false;
	return c->stored != NULL;
}

static void take_stored(const struct curve *want, struct channel *c)
{
	unsigned axis;

	if (kind_is_keyed(c->kind))
		c->keys = want->stored;
	else
		canm_get_words(want->stored, curve_width(want), c->base);
	for (axis = 0; axis < step_width(c->kind); axis++) {
		c->base[axis] = f32_bits(want->lane[axis].base);
		c->step[axis] = f32_bits(want->lane[axis].step);
	}
}

static const char *store_grid(struct edit *e, struct quant *q, unsigned *axis, struct channel *c)
{
	uint32_t count = c->count, i;
	uint8_t *keys = edit_alloc(e, count, 6);
	uint16_t *k = edit_alloc(e, count, sizeof(*k));

	if (!keys || !k)
		return "out of memory";
	c->keys = keys;
	for (*axis = 0; *axis < 3; ++*axis) {
		struct lane lane;
		const char *why = quant_grid(q, *axis, &lane, k);

		if (why)
			return why;
		c->base[*axis] = f32_bits(lane.base);
		c->step[*axis] = f32_bits(lane.step);
		for (i = 0; i < count; i++)
			put_u16(keys + 6 * (size_t)i + 2 * *axis, k[i]);
	}
	return NULL;
}

static const char *store_floats(struct edit *e, struct quant *q, unsigned *axis, struct channel *c)
{
	unsigned width = curve_width(q->wanted);
	bool keyed = kind_is_keyed(c->kind);
	uint32_t count = keyed ? c->count : 1, i;
	uint8_t *floats = edit_alloc(e, count, 4 * width);

	if (!floats)
		return "out of memory";
	for (i = 0; i < count; i++) {
		for (*axis = 0; *axis < width; ++*axis) {
			float value;
			const char *why = quant_float(q, i, *axis, &value);

			if (why)
				return why;
			put_f32(floats + 4 * ((size_t)i * width + *axis), value);
		}
	}
	if (keyed)
		c->keys = floats;
	else
		canm_get_words(floats, width, c->base);
	return NULL;
}

static bool make_channel(struct edit *e, const struct pair *pair, struct channel *c)
{
	uint32_t kind = canm_plan_kind_of(pair->want);
	struct quant q = {.wanted = pair->want, .unit = canm_unit(pair->want->kind)};
	const struct clip *clip = e->targets[pair->clip].clip;
	struct curve old;
	unsigned axis = 0;
	const char *why;

	*c = new_channel(kind);
	if (pair->was != NONE) {
		struct channel was = canm_channel(&e->old, pair->was);

		if (was.kind == kind)
			*c = was;
		old = canm_curve(&e->old, pair->was, pair->role);
		q.old = old.kind == pair->want->kind ? &old : NULL;
	}
	if (kind_is_keyed(kind))
		c->count = pair->want->count;
	if (is_stored_form(pair->want, kind)) {
		take_stored(pair->want, c);
		return true;
	}
	why = kind == KIND_VECTORS ? store_grid(e, &q, &axis, c) : store_floats(e, &q, &axis, c);
	if (!why)
		return true;
	return err_set(e->err, ERR_STORE, "%s: %s %c of frame %u: %s",
		       canm_plan_track_word(&clip->tracks[pair->track]), role_names[pair->role],
		       "xyzw"[axis], q.key, why);
}

/* Finds an equal record, or makes one. */
static bool find_record(struct edit *e, const struct channel *c, uint32_t *is)
{
	if (!index_records(e))
		return false;
	if (index_find(&e->record_index, hash_channel(c), same_channel, e->records, c, is))
		return true;
	*is = e->record_count++;
	e->records[*is] = (struct record){.is = *c, .changed = true};
	if (!kind_is_keyed(c->kind))
		e->records[*is].is.offset = 0;
	index_put(&e->record_index, hash_channel(c), *is);
	return true;
}

/* Assigns a record to an edited curve. */
static bool place_pair(struct edit *e, struct pair *pair)
{
	struct record *was = pair->was == NONE ? NULL : &e->records[pair->was];
	struct channel c;

	if (!make_channel(e, pair, &c))
		return false;
	if (was && !was->users) {
		pair->is = pair->was;
		was->is = c;
		was->changed = true;
		if (e->records_indexed)
			index_put(&e->record_index, hash_channel(&c), pair->is);
	} else if (!find_record(e, &c, &pair->is)) {
		return false;
	}
	e->records[pair->is].users++;
	return true;
}

/* Keeps a channel that was never used; drops one that is no longer used. */
bool edit_keeps(const struct edit *e, uint32_t i)
{
	const struct record *r = &e->records[i];

	return i >= e->old.channels.count || r->had == 0 || r->users > 0;
}

static void number_records(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->record_count; i++)
		if (edit_keeps(e, i))
			e->records[i].number = e->channel_count++;
}

static bool place_pairs(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->pair_count; i++)
		if (!place_pair(e, &e->pairs[i]))
			return false;
	number_records(e);
	if (e->channel_count > COUNT_MAX && e->record_count > e->old.channels.count)
		return err_set(e->err, ERR_STORE, "a file can have at most %u channels", COUNT_MAX);
	return true;
}

/* ---- names ---- */

static bool same_string(const void *owner, uint32_t number, const void *key)
{
	return strcmp(((const struct string *)owner + number)->name, key) == 0;
}

/* Returns an upper limit on the number of names: most clips share those of the clip before. */
static size_t count_names(const struct anim *a)
{
	size_t count = 0;
	uint32_t clip, i;

	for (clip = 0; clip < a->clip_count; clip++) {
		const struct clip *c = &a->clips[clip], *before = clip ? c - 1 : NULL;

		for (i = 0; i < c->track_count; i++)
			count += !before || i >= before->track_count ||
				 before->tracks[i].name != c->tracks[i].name;
	}
	return count;
}

static bool load_strings(struct edit *e)
{
	size_t room = e->old.text_count + e->a->clip_count + e->name_count, i;
	const char **names = canm_texts(&e->old, &e->old.arena);

	e->strings = edit_alloc(e, room, sizeof(*e->strings));
	if (!names || !e->strings || !index_init(&e->string_index, &e->old.arena, room))
		return err_memory(e->err);
	e->string_count = e->old.text_count;
	for (i = 0; i < e->string_count; i++) {
		const struct text *t = &e->old.texts[i];

		e->strings[i] = (struct string){.name = names[i],
						.units = canm_bytes(&e->old, t->at),
						.size = 2 * t->units + 2};
		index_add(&e->string_index, index_text(names[i]), same_string, e->strings, names[i],
			  (uint32_t)i);
	}
	return true;
}

static bool has_unit_zero(const struct buf *units)
{
	size_t i;

	for (i = 0; i + 1 < units->size; i += 2)
		if (get_u16(units->data + i) == 0)
			return true;
	return false;
}

/* Refuses a name that is not UTF-8: other bytes would not read back the same from UTF-16. */
static bool canm_plan_check_text(const struct edit *e, const char *name, const struct buf *units)
{
	struct arena scratch = ARENA_INIT;
	char *again = utf8_from_utf16(&scratch, units->data, units->size / 2);
	bool same = again && strcmp(again, name) == 0;

	if (!again)
		err_memory(e->err);
	else if (!same)
		err_set(e->err, ERR_STORE, "a name must be text: this one is not UTF-8");
	arena_release(&scratch);
	return same;
}

static bool add_string(struct edit *e, const char *name)
{
	struct string *s = &e->strings[e->string_count];
	struct buf units = BUF_INIT;
	uint8_t *copy = NULL;
	bool ok = false;

	utf8_to_utf16(name, &units);
	if (has_unit_zero(&units)) {
		err_set(e->err, ERR_STORE, "a name cannot hold a zero character");
		goto done;
	}
	if (!units.failed && !canm_plan_check_text(e, name, &units))
		goto done;
	buf_u16(&units, 0);
	copy = units.failed ? NULL : edit_alloc(e, units.size, 1);
	if (!copy) {
		err_memory(e->err);
		goto done;
	}
	memcpy(copy, units.data, units.size);
	*s = (struct string){.name = name, .units = copy, .size = units.size};
	index_put(&e->string_index, index_text(name), (uint32_t)e->string_count++);
	ok = true;
done:
	buf_release(&units);
	return ok;
}

static bool string_for(struct edit *e, const char *name, size_t *text)
{
	uint32_t number;

	if (index_find(&e->string_index, index_text(name), same_string, e->strings, name,
		       &number)) {
		*text = number;
		return true;
	}
	*text = e->string_count;
	return add_string(e, name);
}

static bool canm_plan_name_clips(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->a->clip_count; i++) {
		struct target *t = &e->targets[i];

		if (t->was != ANIM_NEW) {
			t->text = canm_find_text(&e->old, t->old.name_at);
			if (strcmp(e->strings[t->text].name, t->clip->name) == 0)
				continue;
		}
		if (!string_for(e, t->clip->name, &t->text))
			return false;
	}
	return true;
}

static bool same_bone(const void *owner, uint32_t number, const void *key)
{
	const struct edit *e = owner;

	return strcmp(e->strings[e->bones[number].text].name, key) == 0;
}

static bool load_bones(struct edit *e)
{
	size_t room = e->old.names.count + e->name_count;
	uint32_t i;

	e->named = edit_alloc(e, e->track_count, sizeof(*e->named));
	e->bones = edit_alloc(e, room, sizeof(*e->bones));
	if (!e->named || !e->bones || !index_init(&e->bone_index, &e->old.arena, room))
		return err_memory(e->err);
	e->bone_count = e->old.names.count;
	for (i = 0; i < e->bone_count; i++) {
		size_t text = canm_find_text(&e->old, canm_name_place(&e->old, i));
		const char *name = e->strings[text].name;

		e->bones[i].text = text;
		if (i < COUNT_MAX)
			index_add(&e->bone_index, index_text(name), same_bone, e, name, i);
	}
	return true;
}

static bool keeps_bone(struct edit *e, const struct track *track, uint32_t was)
{
	struct bone *b = &e->bones[was];

	/* Tracks of one bone mostly share its name's pointer. */
	if (b->seen != track->name && !same_bone(e, was, track->name))
		return false;
	b->seen = track->name;
	return true;
}

/* Finds the bone for a name; `was` is the track's old bone, or PENDING. */
static bool bone_for(struct edit *e, const char *name, uint32_t was, uint32_t *number)
{
	uint64_t hash = index_text(name);

	if (index_find(&e->bone_index, hash, same_bone, e, name, number))
		return true;
	*number = was;
	if (was == PENDING || e->bones[was].users) {
		if (e->bone_count >= COUNT_MAX)
			return err_set(e->err, ERR_STORE, "a file can have at most %u bone names",
				       COUNT_MAX);
		*number = e->bone_count++;
	}
	index_put(&e->bone_index, hash, *number);
	return string_for(e, name, &e->bones[*number].text);
}

static bool name_track(struct edit *e, const struct target *t, uint32_t track, bool first)
{
	const struct track *tr = &t->clip->tracks[track];
	uint32_t *named = &e->named[t->first + track], was = PENDING;
	struct row row;

	if (!first && *named != PENDING)
		return true;
	if (old_row(e, t, tr, &row))
		was = row.name;
	*named = PENDING;
	if (first && was != PENDING && keeps_bone(e, tr, was))
		*named = was;
	else if (!first && !bone_for(e, tr->name, was, named))
		return false;
	if (*named != PENDING)
		e->bones[*named].users++;
	return true;
}

/* Assign unchanged names first, so that it is known which bones are free. */
static bool name_tracks(struct edit *e)
{
	uint32_t clip, track, pass;

	for (pass = 0; pass < 2; pass++) {
		for (clip = 0; clip < e->a->clip_count; clip++) {
			const struct target *t = &e->targets[clip];

			for (track = 0; track < t->clip->track_count; track++)
				if (!name_track(e, t, track, pass == 0))
					return false;
		}
	}
	return true;
}

bool edit_plan(struct edit *e)
{
	e->name_count = count_names(e->a);
	if (!plan_clips(e) || !plan_slots(e) || !load_records(e) || !load_strings(e) ||
	    !load_bones(e))
		return false;
	count_users(e);
	return place_pairs(e) && canm_plan_name_clips(e) && name_tracks(e);
}
