/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9clip_write.c - writes a clip: plans the curves for both forms, and writes the binary form; and
 * the codec.
 *
 * An unchanged curve keeps its bytes, and an unchanged key its numbers; keys that did not ascend
 * keep their order. New curves follow the others of their kind.
 */
#include "codecs.h"
#include "ff9clip_file.h"

#include "model/tangents.h"
#include "util/string_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static float key_time(const struct clip_edit *e, const struct curve *c, uint32_t key)
{
	return c->timing ? curve_time(c, key)
			 : (float)(curve_frame(c, key) / ff9clip_rate(e->rate));
}

/* Finds the old key of each new one, by time; equal times match in their order. */
static void ff9clip_write_match_keys(const struct clip_write *w, const struct curve *was)
{
	const struct curve *c = w->track->curve[w->role];
	const struct clip_curve *old = w->old;
	uint32_t next = 0;

	if (was && c->timing) {
		tangents_match(c, was, w->from);
		for (uint32_t i = 0; i < w->count; i++)
			if (w->from[i] >= 0)
				w->from[i] = clip_key(old, (uint32_t)w->from[i]);
		return;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		float time = get_f32(w->times + 4 * (size_t)i);

		while (old && next < old->count && clip_time(old, clip_key(old, next)) < time)
			next++;
		w->from[i] = -1;
		if (old && next < old->count && clip_time(old, clip_key(old, next)) <= time)
			w->from[i] = clip_key(old, next++);
	}
}

static bool ff9clip_write_refuse_value(const struct clip_edit *e, const struct clip_write *w,
				       uint32_t key, unsigned axis)
{
	err_set(e->err, ERR_STORE, "%c of the %s of %s in frame %u is no number that can be stored",
		"xyzw"[axis], role_names[w->role], w -> track -> label,
		curve_frame(w->track->curve[w->role], key));
	return err_accept(e->err, "a number from -3.4e38 to 3.4e38");
}

/* Stores one component: the old bits if the value is unchanged. */
static bool put_value(const struct clip_edit *e, const struct clip_write *w, uint32_t key,
		      unsigned axis)
{
	const struct curve *c = w->track->curve[w->role];
	unsigned width = clip_width(w->role);
	double value = curve_value(c, key, axis);
	uint8_t *to = w->values + 4 * ((size_t)key * width + axis);

	if (w->from[key] >= 0) {
		const uint8_t *was = w->old->values + 4 * ((size_t)w->from[key] * width + axis);

		if (f64_same(value, (double)get_f32(was))) {
			memcpy(to, was, 4);
			return true;
		}
	}
	put_f32(to, (float)value);
	return isfinite((float)value) || ff9clip_write_refuse_value(e, w, key, axis);
}

/* Returns the slope from the previous key, if it is finite. */
static float ff9clip_write_slope(const struct clip_write *w, uint32_t key, unsigned axis)
{
	unsigned width = clip_width(w->role);
	const uint8_t *to = w->values + 4 * ((size_t)key * width + axis);
	const uint8_t *time = w->times + 4 * (size_t)key;
	double way = (double)get_f32(to) - (double)get_f32(to - 4 * (size_t)width);
	double seconds = (double)get_f32(time) - (double)get_f32(time - 4);
	float value = (float)(way / seconds);

	return isfinite(value) ? value : 0;
}

/* Sets a key's tangents so that the curve is linear between keys, for a curve without tangents. */
static void put_linear(const struct clip_write *w, uint32_t key)
{
	unsigned width = clip_width(w->role);
	uint8_t *in = w->tangents + 8 * (size_t)key * width, *out = in + 4 * (size_t)width;

	for (unsigned axis = 0; axis < width; axis++) {
		float before = key > 0 ? ff9clip_write_slope(w, key, axis) : 0;
		float after = key + 1 < w->count ? ff9clip_write_slope(w, key + 1, axis) : before;

		put_f32(in + 4 * (size_t)axis, key > 0 ? before : after);
		put_f32(out + 4 * (size_t)axis, after);
	}
}

static bool ff9clip_write_fill_keys(const struct clip_edit *e, const struct clip_write *w,
				    const struct curve *was)
{
	const struct curve *c = w->track->curve[w->role];
	size_t size = 8 * (size_t)clip_width(w->role);

	for (uint32_t key = 0; key < w->count; key++)
		put_f32(w->times + 4 * (size_t)key, key_time(e, c, key));
	ff9clip_write_match_keys(w, was);
	for (uint32_t key = 0; key < w->count; key++)
		for (unsigned axis = 0; axis < clip_width(w->role); axis++)
			if (!put_value(e, w, key, axis))
				return false;
	if (c->timing && c->timing->tangents) {
		if (w->count)
			memcpy(w->tangents, c->timing->tangents, size * w->count);
		return true;
	}
	for (uint32_t key = 0; key < w->count; key++)
		put_linear(w, key);
	return true;
}

/*
 * Returns the order in which to store keys if the old ones do not ascend: the old order, with each
 * new key before the first later one.
 */
static uint32_t *stored_order(const struct clip_edit *e, const struct clip_write *w)
{
	uint32_t *order = arena_alloc((struct arena *)&e->arena, w->count, sizeof(*order));
	uint32_t *now = arena_alloc((struct arena *)&e->arena, w->old->count, sizeof(*now));
	uint32_t count = 0;

	if (!order || !now)
		return NULL;
	for (uint32_t i = 0; i < w->count; i++)
		if (w->from[i] >= 0)
			now[w->from[i]] = i + 1;
	for (uint32_t i = 0; i < w->old->count; i++)
		if (now[i])
			order[count++] = now[i] - 1;
	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t at = 0;

		if (w->from[i] >= 0)
			continue;
		while (at < count && get_f32(w->times + 4 * (size_t)order[at]) <=
					     get_f32(w->times + 4 * (size_t)i))
			at++;
		memmove(order + at + 1, order + at, (count++ - at) * sizeof(*order));
		order[at] = i;
	}
	return order;
}

static bool permute(struct clip_edit *e, uint8_t **numbers, size_t size, const uint32_t *order,
		    uint32_t count)
{
	uint8_t *to = arena_alloc(&e->arena, count, size);

	for (uint32_t i = 0; to && i < count; i++)
		memcpy(to + i * size, *numbers + order[i] * size, size);
	*numbers = to;
	return to != NULL;
}

static bool restore_order(struct clip_edit *e, struct clip_write *w)
{
	size_t size = 4 * (size_t)clip_width(w->role);
	uint32_t *order;

	if (!w->old || !w->old->order)
		return true;
	order = stored_order(e, w);
	return (order && permute(e, &w->times, 4, order, w->count) &&
		permute(e, &w->values, size, order, w->count) &&
		permute(e, &w->tangents, 2 * size, order, w->count) &&
		permute(e, (uint8_t **)&w->from, sizeof(*w->from), order, w->count)) ||
	       err_memory(e->err);
}

/* ---- curves ---- */

static bool ff9clip_write_check_curve(const struct clip_edit *e, const struct clip_write *w)
{
	const struct curve *c = w->track->curve[w->role];

	if (c->kind == (w->role == ROLE_ROTATION ? CURVE_QUATERNION : CURVE_VECTOR) &&
	    (c->timing || c->count <= CLIP_FRAMES_MAX))
		return true;
	return err_set(e->err, ERR_STORE, "the %s of %s is in a form that cannot be stored",
		       role_names[w->role], w->track->label);
}

static bool plan_keys(struct clip_edit *e, struct clip_write *w)
{
	const struct curve *c = w->track->curve[w->role];
	const struct curve *was =
		w->old ? e->model->clips[0].tracks[w->old->track].curve[w->role] : NULL;
	size_t size = 4 * (size_t)clip_width(w->role);

	w->same = w->old && (c ? curve_same(c, was) : w->old->count == 0);
	if (w->same || !c)
		return true;
	w->count = c->count;
	w->times = arena_alloc(&e->arena, w->count, 4);
	w->values = arena_alloc(&e->arena, w->count, size);
	w->tangents = arena_alloc(&e->arena, w->count, 2 * size);
	w->from = arena_alloc(&e->arena, w->count, sizeof(*w->from));
	if (e->arena.failed)
		return err_memory(e->err);
	return ff9clip_write_check_curve(e, w) && ff9clip_write_fill_keys(e, w, was) &&
	       restore_order(e, w);
}

static const struct field *ff9clip_write_find_field(const struct clip *clip, const char *name)
{
	for (uint32_t i = 0; i < clip->field_count; i++)
		if (strcmp(clip->fields[i].name, name) == 0)
			return &clip->fields[i];
	return NULL;
}

/*
 * Returns the motion before or after the keys that the clip has for all its curves, if it has
 * one.
 */
static int32_t hold_of(const struct clip_edit *e, const char *name, bool has_old, int32_t old)
{
	const struct field *f = ff9clip_write_find_field(e->clip, name);

	return f ? (int32_t)f->integer : has_old ? old : CLIP_HOLD;
}

static const struct clip_curve *ff9clip_write_old_curve(const struct clip_edit *e,
							const struct track *t, enum role role)
{
	return t->origin < e->old.track_count ? e->old_curves[(size_t)t->origin * ROLE_COUNT + role]
					      : NULL;
}

/* Of several curves of a track and role, the first. */
static bool index_old_curves(struct clip_edit *e)
{
	size_t count = (size_t)e->old.track_count * ROLE_COUNT;

	e->old_curves = arena_alloc(&e->arena, count + 1, sizeof(*e->old_curves));
	if (!e->old_curves)
		return err_memory(e->err);
	for (size_t i = 0; i < count; i++)
		e->old_curves[i] = NULL;
	for (uint32_t i = e->old.count; i-- > 0;) {
		const struct clip_curve *c = &e->old.curves[i];

		e->old_curves[(size_t)c->track * ROLE_COUNT + c->role] = c;
	}
	return true;
}

/*
 * Must a track have a stored curve of this role? In the binary form a bone without keys needs an
 * empty curve, the only place for its name; JSON has an entry for it.
 */
static bool ff9clip_write_is_wanted(const struct clip_edit *e, const struct track *t,
				    enum role role, const struct clip_curve *old)
{
	bool any = false;

	if (t->curve[role] || (old && old->count == 0))
		return true;
	for (enum role other = 0; other < ROLE_COUNT; other++) {
		const struct clip_curve *c = ff9clip_write_old_curve(e, t, other);

		any |= t->curve[other] || (c && c->count == 0);
	}
	return e->old.json ? old != NULL : !any && role == ROLE_ROTATION;
}

static bool plan_curve(struct clip_edit *e, const struct track *t, enum role role)
{
	struct clip_write *w = &e->curves[e->count];
	const struct clip_curve *old = ff9clip_write_old_curve(e, t, role);

	if (!ff9clip_write_is_wanted(e, t, role, old))
		return true;
	e->count++;
	*w = (struct clip_write){.track = t,
				 .old = old,
				 .role = role,
				 .before = hold_of(e, "before", old, old ? old->before : 0),
				 .after = hold_of(e, "after", old, old ? old->after : 0)};
	return plan_keys(e, w);
}

static bool plan_curves(struct clip_edit *e)
{
	if (!index_old_curves(e))
		return false;
	e->curves = arena_alloc(&e->arena, (size_t)e->clip->track_count * ROLE_COUNT,
				sizeof(*e->curves));
	if (!e->curves)
		return err_memory(e->err);
	for (uint32_t i = 0; i < e->clip->track_count; i++)
		for (enum role role = 0; role < ROLE_COUNT; role++)
			if (!plan_curve(e, &e->clip->tracks[i], role))
				return false;
	return true;
}

/* ---- the binary form ---- */

static void ff9clip_write_string(struct buf *out, const char *text)
{
	buf_u32(out, (uint32_t)strlen(text));
	buf_text(out, text);
	buf_align(out, 4);
}

static void ff9clip_write_keys(const struct clip_write *w, struct buf *out)
{
	size_t size = 4 * (size_t)clip_width(w->role);

	buf_u32(out, w->count);
	for (size_t i = 0; i < w->count; i++) {
		buf_add(out, w->times + 4 * i, 4);
		buf_add(out, w->values + size * i, size);
		buf_add(out, w->tangents + 2 * size * i, 2 * size);
	}
}

static void ff9clip_write_curve(const struct clip_edit *e, const struct clip_write *w)
{
	const struct clip_curve *old = w->old;
	const uint8_t *src = e->old.src.data;

	if (w->same)
		buf_add(e->out, src + old->at, old->path_at - 8 - old->at);
	else
		ff9clip_write_keys(w, e->out);
	buf_u32(e->out, (uint32_t)w->before);
	buf_u32(e->out, (uint32_t)w->after);
	if (old && strcmp(old->path, w->track->name) == 0)
		buf_add(e->out, src + old->path_at, old->end - old->path_at);
	else
		ff9clip_write_string(e->out, w->track->name);
}

static int ff9clip_write_by_place(const void *pa, const void *pb)
{
	const struct clip_write *const *a = pa, *const *b = pb;
	size_t x = (*a)->old ? (*a)->old->at : SIZE_MAX, y = (*b)->old ? (*b)->old->at : SIZE_MAX;

	if (x != y)
		return x < y ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static bool write_section(struct clip_edit *e, enum role role)
{
	const struct clip_write **list =
		arena_alloc(&e->arena, e->count, sizeof(const struct clip_write *));
	uint32_t count = 0;

	if (!list)
		return err_memory(e->err);
	for (uint32_t i = 0; i < e->count; i++)
		if (e->curves[i].role == role)
			list[count++] = &e->curves[i];
	if (count)
		qsort(list, count, sizeof(const struct clip_write *), ff9clip_write_by_place);
	buf_u32(e->out, count);
	for (uint32_t i = 0; i < count; i++)
		ff9clip_write_curve(e, list[i]);
	return true;
}

/* Copies bytes of the old file. */
static void write_old(const struct clip_edit *e, size_t begin, size_t end)
{
	buf_add(e->out, e->old.src.data + begin, end - begin);
}

static void ff9clip_write_head(const struct clip_edit *e)
{
	static const uint8_t flags[4] = {1, 0, 1, 0};

	if (e->old.src.size) {
		write_old(e, 0, e->old.section[ROLE_ROTATION]);
		return;
	}
	ff9clip_write_string(e->out, e->clip->name);
	buf_add(e->out, flags, sizeof(flags));
}

static void ff9clip_write_end(const struct clip_edit *e)
{
	const struct ff9clip *old = &e->old;
	size_t begin = e->out->size;

	if (!old->src.size) {
		buf_zero(e->out, 4 + USUAL_TAIL); /* the wrap mode is the default one */
		if (!e->out->failed)
			ff9clip_usual_tail(e->out->data + begin + 4);
		return;
	}
	write_old(e, old->rate_at + 4, old->src.size);
	if (!e->out->failed && old->tail != TAIL_NONE && old->src.size - old->rate_at >= 8)
		put_u32(e->out->data + begin, (uint32_t)e->wrap);
}

static bool write_binary(struct clip_edit *e)
{
	const struct ff9clip *old = &e->old;

	ff9clip_write_head(e);
	if (!write_section(e, ROLE_ROTATION))
		return false;
	buf_u32(e->out, 0);
	if (!write_section(e, ROLE_TRANSLATION) || !write_section(e, ROLE_SCALE))
		return false;
	if (old->src.size)
		write_old(e, old->section_end[ROLE_SCALE], old->rate_at);
	else
		buf_zero(e->out, 8);
	buf_f32(e->out, e->rate);
	ff9clip_write_end(e);
	return true;
}

/* ---- encode ---- */

static bool ff9clip_write_check_clip(const struct anim *a, struct err *err)
{
	if (a->clip_count != 1)
		return err_set(err, ERR_STORE, "a file holds one clip, not %u", a->clip_count);
	if (a->clips->loop || a->clips->frame_time != 1)
		return err_set(err, ERR_STORE, "whether it loops and frame times cannot be stored");
	return true;
}

static bool keeps_path(const struct clip_edit *e, const struct track *t)
{
	return t->origin != ANIM_NEW && e->old.track_count > t->origin &&
	       strcmp(e->old.paths[t->origin], t->name) == 0;
}

/*
 * Refuses two bones of one path, since they could not be distinguished; if the old file has them,
 * they may stay.
 */
static bool ff9clip_write_check_paths(struct clip_edit *e)
{
	struct string_map paths = {.slots = NULL};
	bool fine = true;

	for (uint32_t i = 0; i < e->clip->track_count && fine; i++) {
		const struct track *t = &e->clip->tracks[i];
		int64_t known = string_map_add(&paths, t->name, i);

		if (known < 0)
			fine = err_memory(e->err);
		else if (known != i &&
			 !(keeps_path(e, t) && keeps_path(e, &e->clip->tracks[known])))
			fine = err_set(e->err, ERR_STORE, "two bones have the path \"%s\"",
				       t->name);
	}
	string_map_release(&paths);
	return fine;
}

static bool read_old(struct clip_edit *e, struct bytes old)
{
	if (!old.size)
		return true;
	if (!ff9clip_read(&e->old, old, e->err))
		return false;
	e->model = ff9clip_decode(old, NULL, e->err);
	return e->model != NULL;
}

static void read_fields(struct clip_edit *e)
{
	const struct field *rate = ff9clip_write_find_field(e->clip, "rate"),
			   *wrap = ff9clip_write_find_field(e->clip, "wrap");

	e->rate = rate ? (float)rate->real : e->old.src.size ? e->old.rate : (float)e->a->rate;
	/* Keep the bits, also of a NaN that the conversion to double makes quiet. */
	if (e->old.src.size && rate && f64_same(rate->real, (double)e->old.rate))
		e->rate = e->old.rate;
	e->wrap = wrap ? (int32_t)wrap->integer : e->old.wrap;
}

/* Is the model unchanged? Then the bytes stay unchanged, too. */
static bool is_unedited(const struct clip_edit *e)
{
	if (!e->old.src.size || e->count != e->old.count ||
	    e->clip->track_count != e->old.track_count ||
	    f32_bits(e->rate) != f32_bits(e->old.rate) || e->wrap != e->old.wrap)
		return false;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct clip_write *w = &e->curves[i];

		if (!w->same || w->before != w->old->before || w->after != w->old->after)
			return false;
	}
	for (uint32_t i = 0; i < e->clip->track_count; i++) {
		const struct track *t = &e->clip->tracks[i];

		if (t->origin == ANIM_NEW || strcmp(t->name, e->old.paths[t->origin]) != 0)
			return false;
	}
	return true;
}

static bool ff9clip_write_clip(struct clip_edit *e)
{
	if (!ff9clip_write_check_paths(e) || !plan_curves(e))
		return false;
	if (is_unedited(e)) {
		buf_add(e->out, e->old.src.data, e->old.src.size);
		return !e->out->failed || err_memory(e->err);
	}
	if (e->old.read_only)
		return err_set(e->err, ERR_STORE, "this file is read-only: %s", e->old.read_only);
	if (!(e->old.json ? ff9clip_write_json(e) : write_binary(e)))
		return false;
	if (e->out->failed)
		return err_memory(e->err);
	return true;
}

static bool ff9clip_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct clip_edit e = {.old = {.arena = ARENA_INIT},
			      .a = a,
			      .clip = a->clips,
			      .arena = ARENA_INIT,
			      .out = out,
			      .err = err};
	bool done = ff9clip_write_check_clip(a, err) && read_old(&e, old);

	if (done) {
		read_fields(&e);
		done = ff9clip_write_clip(&e);
	}
	anim_free(e.model);
	arena_release(&e.arena);
	ff9clip_release(&e.old);
	return done;
}

static const char *const ff9clip_patterns[] = {"*.anim", NULL};

const struct codec ff9clip_codec = {
	.format = &ff9clip_format,
	.patterns = ff9clip_patterns,
	.probe = ff9clip_probe,
	.decode = ff9clip_decode,
	.encode = ff9clip_encode,
};
