/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ribbon_write.c - writes a model as a Vib-Ribbon file; and the codec. */
#include "codecs.h"
#include "model/bones.h"
#include "ribbon.h"
#include "text/num.h"

#include <string.h>

#define WORD2_USUAL 30

/* A track, and the number of its keyframes that are written. */
struct cursor {
	const struct track *track;
	uint32_t keyframe, key[ROLE_COUNT];
};

struct encoder {
	const struct anim *a;
	const struct clip *clip;
	struct ribbon old;              /* the old file, without frames if there is none */
	struct cursor cursors[OBJECTS]; /* for each object: its track, if there is one */
	struct cursor *became[OBJECTS]; /* present track of an old object; NULL: it was removed */
	uint8_t old_objects[OBJECTS];   /* objects of the old file, in the order in which they occur
					   there */
	unsigned old_count;
	size_t size; /* size of all keyframes in bytes */
	struct buf *out;
	struct err *err;
};

static const char *ribbon_write_clip_word(const struct encoder *e)
{
	return e->clip->label ? e->clip->label : e->clip->name;
}

static const char *ribbon_write_track_word(const struct track *track)
{
	return track->label ? track->label : track->name;
}

static void find_old_objects(struct encoder *e)
{
	bool there[OBJECTS] = {false};
	struct keyframe k;
	size_t at;

	if (!e->old.frames)
		return;
	at = frame_place(&e->old, 0);
	while (ribbon_next(&e->old, &at, e->old.end, &k))
		there[k.object] = true;
	for (unsigned i = 0; i < OBJECTS; i++) {
		if (there[i])
			e->old_objects[e->old_count++] = (uint8_t)i;
	}
}

/* ---- checks ---- */

static bool ribbon_write_check_keyframes(struct encoder *e, const struct track *track)
{
	const struct keyframes *k = track->keyframes;

	for (uint32_t i = 0; i < k->count; i++) {
		if (k->frames[i] >= e->clip->frames || (i > 0 && k->frames[i] < k->frames[i - 1]))
			return err_set(e->err, ERR_STORE,
				       "%s of %s has a keyframe in frame %u, which is not in its "
				       "place or past the end",
				       ribbon_write_track_word(track), ribbon_write_clip_word(e),
				       k->frames[i]);
		if (k->flags[i] & PART_BITS) {
			err_set(e->err, ERR_STORE, "flags of %u for %s in frame %u of %s",
				k->flags[i], ribbon_write_track_word(track), k->frames[i],
				ribbon_write_clip_word(e));
			return err_accept(e->err, "a multiple of 8 up to 248; the lowest three "
						  "bits follow from the parts that there are");
		}
		e->size += keyframe_size(k->roles[i]);
	}
	return true;
}

/* Does the curve have exactly the keys of the keyframes? */
static bool ribbon_write_check_curve(const struct encoder *e, const struct track *track,
				     enum role role)
{
	const struct keyframes *k = track->keyframes;
	const struct curve *c = track->curve[role];
	uint32_t count = c ? c->count : 0, key = 0, i = 0;

	for (; i < k->count; i++) {
		if (!(k->roles[i] & 1u << role))
			continue;
		if (key == count || curve_frame(c, key) != k->frames[i])
			break;
		key++;
	}
	if (i == k->count && key == count &&
	    (!c ||
	     (c->kind == ribbon_kind(role) && c->keyed && c->interpolation == INTERPOLATION_STEP)))
		return true;
	return err_set(e->err, ERR_STORE,
		       "the %s of %s in %s has not the keys that its keyframes say",
		       role_names[role], ribbon_write_track_word(track), ribbon_write_clip_word(e));
}

static bool find_object(struct encoder *e, const struct track *track, uint32_t *number)
{
	const struct track *other;

	if (!bone_number(e->a->format, e->a->bone_names, track->name, number) ||
	    *number >= OBJECTS) {
		err_set(e->err, ERR_STORE, "\"%s\" of %s cannot be stored: bones are numbers here",
			track->name, ribbon_write_clip_word(e));
		return err_accept(e->err, "object_000 to object_255");
	}
	other = e->cursors[*number].track;
	return !other || err_set(e->err, ERR_STORE, "%s and %s of %s are the same object",
				 ribbon_write_track_word(other), ribbon_write_track_word(track),
				 ribbon_write_clip_word(e));
}

/* Gives the track its cursor. */
static bool take_track(struct encoder *e, const struct track *track)
{
	uint32_t number;

	if (!find_object(e, track, &number))
		return false;
	if (!track->keyframes || !track->keyframes->count) {
		err_set(e->err, ERR_STORE,
			"%s of %s has no keyframe, and an object exists only by its keyframes",
			ribbon_write_track_word(track), ribbon_write_clip_word(e));
		return err_accept(e->err, "rows for it in curves.csv, to add it; a list of bones "
					  "without it in clip.json, to remove it");
	}
	e->cursors[number].track = track;
	if (track->origin < e->old_count)
		e->became[e->old_objects[track->origin]] = &e->cursors[number];
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		if (!ribbon_write_check_curve(e, track, role))
			return false;
	}
	return ribbon_write_check_keyframes(e, track);
}

static bool ribbon_write_take_tracks(struct encoder *e)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < e->clip->track_count; i++) {
		const struct track *track = &e->clip->tracks[i];

		if (track->origin != ANIM_NEW && track->origin < last)
			return err_set(e->err, ERR_STORE,
				       "%s of %s cannot be moved: no order of the bones is stored, "
				       "they stand by their numbers",
				       ribbon_write_track_word(track), ribbon_write_clip_word(e));
		if (track->origin != ANIM_NEW)
			last = track->origin;
		if (!take_track(e, track))
			return false;
	}
	return true;
}

static bool ribbon_write_check_clip(const struct encoder *e)
{
	if (e->clip->frames > FRAMES_MAX) {
		err_set(e->err, ERR_STORE, "%s cannot have %u frames", ribbon_write_clip_word(e),
			e->clip->frames);
		return err_accept(e->err, "up to %u, with hardly a keyframe", FRAMES_MAX);
	}
	if (e->clip->loop)
		return err_set(e->err, ERR_STORE, "%s: a ribbon file stores no loop",
			       ribbon_write_clip_word(e));
	if (f32_bits(e->clip->frame_time) != f32_bits(1) || f32_bits(e->clip->duration) != 0)
		return err_set(e->err, ERR_STORE, "%s: a ribbon file stores no times",
			       ribbon_write_clip_word(e));
	return true;
}

static bool find_word2(const struct encoder *e, uint16_t *word2)
{
	*word2 = e->old.src.size ? get_u16(e->old.src.data + 2) : WORD2_USUAL;
	for (uint32_t i = 0; i < e->clip->field_count; i++) {
		const struct field *field = &e->clip->fields[i];

		if (strcmp(field->name, "word2") != 0)
			continue;
		if (field->integer < 0 || field->integer > UINT16_MAX) {
			err_set(e->err, ERR_STORE, "word2 of %s cannot be %lld",
				ribbon_write_clip_word(e), (long long)field->integer);
			return err_accept(e->err, "0 to 65535");
		}
		*word2 = (uint16_t)field->integer;
	}
	return true;
}

/* ---- writing it ---- */

static bool ribbon_write_refuse_value(const struct encoder *e, const struct track *track,
				      enum role role, uint32_t key, double value)
{
	const struct lane *lane = ribbon_format.lanes[role];
	double least = lane->unit * (double)lane->base;
	double most = lane->unit * ((double)lane->base + UINT16_MAX * (double)lane->step);
	char text[NUM_MAX];
	int size = (int)num_f32(text, (float)value);

	err_set(e->err, ERR_STORE, "the %s of %s in frame %u of %s cannot be %.*s",
		role_names[role], ribbon_write_track_word(track),
		curve_frame(track->curve[role], key), ribbon_write_clip_word(e), size, text);
	return err_accept(e->err, "%.9g to %.9g%s", least, most,
			  role == ROLE_ROTATION ? " degrees" : "");
}

static bool put_key(const struct encoder *e, const struct track *track, enum role role,
		    uint32_t key)
{
	const struct curve *c = track->curve[role];
	const struct lane *lane = ribbon_format.lanes[role];

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		double value = curve_value(c, key, axis), stored = value / lane->unit;
		double place = (stored - (double)lane->base) / (double)lane->step;

		/* Written so that a NaN is refused, too. */
		if (!(place >= -0.5 && place <= UINT16_MAX + 0.5))
			return ribbon_write_refuse_value(e, track, role, key, value);
		buf_u16(e->out, (uint16_t)(num_nearest_k(stored, lane) ^ 0x8000));
	}
	return true;
}

static bool has_more(const struct cursor *c, uint32_t frame)
{
	return c->track && c->keyframe < c->track->keyframes->count &&
	       c->track->keyframes->frames[c->keyframe] == frame;
}

static bool put_keyframe(struct encoder *e, struct cursor *c)
{
	const struct keyframes *k = c->track->keyframes;
	unsigned roles = k->roles[c->keyframe], flags = k->flags[c->keyframe];

	for (unsigned bit = 0; bit < PART_COUNT; bit++)
		flags |= (roles >> part_roles[bit] & 1) << bit;
	buf_char(e->out, (char)(c - e->cursors));
	buf_char(e->out, (char)flags);
	for (unsigned bit = 0; bit < PART_COUNT; bit++) {
		enum role role = part_roles[bit];

		if ((flags & 1u << bit) && !put_key(e, c->track, role, c->key[role]++))
			return false;
	}
	c->keyframe++;
	return true;
}

static bool put_old_order(struct encoder *e, uint32_t frame)
{
	size_t at = frame_place(&e->old, frame), end = frame_place(&e->old, frame + 1);
	struct keyframe k;

	while (ribbon_next(&e->old, &at, end, &k)) {
		struct cursor *c = e->became[k.object];

		if (c && has_more(c, frame) && !put_keyframe(e, c))
			return false;
	}
	return true;
}

static bool ribbon_write_put_frame(struct encoder *e, uint32_t frame)
{
	if (frame < e->old.frames && !put_old_order(e, frame))
		return false;
	for (unsigned i = 0; i < OBJECTS; i++) {
		while (has_more(&e->cursors[i], frame)) {
			if (!put_keyframe(e, &e->cursors[i]))
				return false;
		}
	}
	return true;
}

static void put_place(const struct encoder *e, uint32_t frame)
{
	put_u16(e->out->data + place_field(frame), (uint16_t)(e->out->size / PLACE_UNIT));
}

/* Returns the bytes between the table and the first frame, and those behind the last frame. */
static struct bytes old_gap(const struct ribbon *old)
{
	if (!old->src.size)
		return (struct bytes){NULL, 0};
	return (struct bytes){old->src.data + old->table_end, frame_place(old, 0) - old->table_end};
}

static struct bytes old_rest(const struct ribbon *old)
{
	if (!old->src.size)
		return (struct bytes){NULL, 0};
	return (struct bytes){old->src.data + old->end, old->src.size - old->end};
}

static bool ribbon_write_put_file(struct encoder *e, uint16_t word2)
{
	struct bytes gap = old_gap(&e->old), rest = old_rest(&e->old);
	size_t table_end = place_field(e->clip->frames + 1), end = table_end + gap.size + e->size;

	if (end > PLACE_MAX)
		return err_set(e->err, ERR_STORE,
			       "%s would end at %zu; a ribbon file has %u bytes at most",
			       ribbon_write_clip_word(e), end, PLACE_MAX);
	if (!buf_reserve(e->out, end + rest.size))
		return err_memory(e->err);
	buf_u16(e->out, MAGIC);
	buf_u16(e->out, word2);
	buf_u16(e->out, (uint16_t)e->clip->frames);
	buf_zero(e->out, table_end - HEADER_SIZE);
	buf_add(e->out, gap.data, gap.size);
	for (uint32_t i = 0; i < e->clip->frames; i++) {
		put_place(e, i);
		if (!ribbon_write_put_frame(e, i))
			return false;
	}
	put_place(e, e->clip->frames);
	buf_add(e->out, rest.data, rest.size);
	return true;
}

static bool ribbon_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct encoder e = {.a = a, .clip = a->clips, .out = out, .err = err};
	uint16_t word2;

	if (a->clip_count != 1)
		return err_set(err, ERR_STORE, "a ribbon file has one clip and cannot have %u",
			       a->clip_count);
	if (old.size && !ribbon_read(&e.old, old, err))
		return false;
	find_old_objects(&e);
	return ribbon_write_check_clip(&e) && find_word2(&e, &word2) &&
	       ribbon_write_take_tracks(&e) && ribbon_write_put_file(&e, word2);
}

static const char *const ribbon_patterns[] = {"*.anm", NULL};

const struct codec ribbon_codec = {
	.format = &ribbon_format,
	.patterns = ribbon_patterns,
	.probe = ribbon_probe,
	.decode = ribbon_decode,
	.encode = ribbon_encode,
};
