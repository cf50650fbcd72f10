/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9clip: an animation clip of Final Fantasy IX on Steam (Unity 5.2), as its mods load it.
 *
 * A file is one clip: curves of rotations, positions and scales of bones, which are named by their
 * paths below the model's root, "bone000/bone001". A key stands at a time in seconds and has a
 * value and two tangents: between keys, each component is a cubic Hermite spline. There are two
 * forms, binary and JSON (ff9clip_json.c), with the same extension.
 *
 * All numbers are little-endian. Strings have a u32 length and bytes, and are padded with zeros to
 * a multiple of 4, as counted from the beginning of the file.
 *
 *   string  name; the game goes by the file's name
 *   u8[4]   legacy, compressed, high-quality curves, padding
 *   list    rotation curves (of 4 components)
 *   u32     compressed rotation curves: 0
 *   list    position curves, scale curves (3)
 *   list    float curves, pointer curves; usually none
 *   f32     frames a second
 *           Here a file may end: the game reads no further.
 *   i32     wrap mode: 0 default, 1 once, 2 loop, 4 ping-pong, 8 clamp
 *   tail    f32[6] bounds, u32 size of the muscle clip, muscle clip; three lists: bindings, pointer
 *           bindings, events. It is kept as it is.
 *
 *   list    u32 count, then that many
 *   curve   u32 number of keys, keys, i32 motion before the first, i32 after the last, string
 *           path
 *   key     f32 time, f32[n] value, f32[n] slope in, f32[n] slope out
 *
 * A float curve has keys with n = 1, then before, after, strings attribute and path, and 16 bytes;
 * a pointer curve u32 count, keys of 16 bytes, two strings and 16 bytes. Both are kept.
 *
 * Keys and frames: a key is at the frame nearest to its time if all keys of the clip are within
 * 0.001 frames of theirs, which ascend; otherwise at time * rate, in full.
 *
 * There is no magic number. Writing keeps everything that is not in the model: order, flags, the
 * bytes between the scale curves and the rate, and those from the wrap mode to the end.
 */
#include "ff9clip_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS 4
#define FLOAT_KEY 16
#define POINTER_KEY 16
#define BINDING_SIZE 24
#define POINTER_BINDING_SIZE 12
#define NAME_PROBED 256 /* longest name of a clip that is recognised by content */

static const struct lane value_lane = {.form = LANE_FLOAT, .unit = 1};

const struct format ff9clip_format = {
	.name = "ff9clip",
	.suffix = "anim",
	.sparse = true,
	.timed = true,
	.paths = true,
	.y_down = true,
	.length = "game unit",
	.nameless = true,
	.rate_field = "rate",
	.bones_sorted = true,
	.quaternions = true,
	.lanes = {&value_lane, &value_lane, &value_lane},
	.max_frames = CLIP_FRAMES_MAX,
};

double ff9clip_rate(float stored)
{
	return isfinite(stored) && stored >= CLIP_RATE_LEAST ? (double)stored : CLIP_RATE;
}

/* ---- the binary form ---- */

/* The position while a file is read from beginning to end. */
struct walk {
	struct ff9clip *f;
	struct bytes src;
	size_t at;
	struct err *err;
};

static bool ff9clip_refuse_end(const struct walk *w, const char *what)
{
	return err_at(w->err, ERR_FORMAT, w->at, 0, "%s does not fit into the file", what);
}

static bool has(const struct walk *w, uint64_t count, uint64_t size)
{
	return bytes_hold(w->src, w->at, count, size);
}

/* Counts elements of at least `size` bytes. */
static bool take_count(struct walk *w, size_t size, const char *what, uint32_t *count)
{
	*count = 0;
	if (!has(w, 1, 4))
		return ff9clip_refuse_end(w, what);
	*count = get_u32(w->src.data + w->at);
	w->at += 4;
	if (has(w, *count, size))
		return true;
	w->at -= 4;
	return err_at(w->err, ERR_FORMAT, w->at, 4, "%u %s do not fit into the file", *count, what);
}

static bool skip(struct walk *w, uint64_t count, uint64_t size, const char *what)
{
	if (!has(w, count, size))
		return ff9clip_refuse_end(w, what);
	w->at += (size_t)(count * size);
	return true;
}

static bool skip_list(struct walk *w, size_t size, const char *what)
{
	uint32_t count;

	return take_count(w, size, what, &count) && skip(w, count, size, what);
}

/* Skips a string; *text gets the offset of its first byte, behind its length. */
static bool take_string(struct walk *w, const char *what, size_t *text, uint32_t *size)
{
	if (!take_count(w, 1, what, size))
		return false;
	*text = w->at;
	return skip(w, *size, 1, what) && skip(w, (4 - w->at % 4) % 4, 1, what);
}

static bool skip_string(struct walk *w, const char *what)
{
	size_t text;
	uint32_t size;

	return take_string(w, what, &text, &size);
}

static bool ff9clip_take_path(struct walk *w, struct clip_curve *c)
{
	uint32_t size;
	size_t text;

	c->path_at = w->at;
	if (!take_string(w, "bytes of a path", &text, &size))
		return false;
	if (memchr(w->src.data + text, 0, size))
		return err_at(w->err, ERR_FORMAT, text, size, "there is a zero byte in a path");
	c->path = arena_text(&w->f->arena, (const char *)w->src.data + text, size);
	return c->path || err_memory(w->err);
}

static void copy_keys(struct clip_curve *c, const uint8_t *from)
{
	size_t size = 4 * (size_t)clip_width(c->role);

	for (size_t i = 0; i < c->count; i++, from += 4 + 3 * size) {
		memcpy(c->times + 4 * i, from, 4);
		memcpy(c->values + size * i, from + 4, size);
		memcpy(c->tangents + 2 * size * i, from + 4 + size, 2 * size);
	}
}

static bool take_curve(struct walk *w, enum role role)
{
	size_t at = w->at, size = 4 + 12 * (size_t)clip_width(role), keys;
	struct clip_curve *c;
	uint32_t count;

	if (!take_count(w, size, "keys", &count))
		return false;
	keys = w->at;
	if (!skip(w, count, size, "a curve") || !has(w, 2, 4))
		return ff9clip_refuse_end(w, "a curve");
	c = ff9clip_add(w->f, role, count);
	if (!c)
		return err_memory(w->err);
	copy_keys(c, w->src.data + keys);
	c->before = (int32_t)get_u32(w->src.data + w->at);
	c->after = (int32_t)get_u32(w->src.data + w->at + 4);
	w->at += 8;
	c->at = at;
	if (!ff9clip_take_path(w, c))
		return false;
	c->end = w->at;
	return true;
}

static bool take_curves(struct walk *w, enum role role, const char *what)
{
	uint32_t count;

	w->f->section[role] = w->at;
	if (!take_count(w, 16, what, &count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!take_curve(w, role))
			return false;
	w->f->section_end[role] = w->at;
	return true;
}

static bool take_compressed(struct walk *w)
{
	if (!has(w, 1, 4))
		return ff9clip_refuse_end(w, "the number of compressed curves");
	if (get_u32(w->src.data + w->at))
		return err_at(w->err, ERR_FORMAT, w->at, 4,
			      "there are %u compressed rotation curves, which the game's mods "
			      "cannot read",
			      get_u32(w->src.data + w->at));
	w->at += 4;
	return true;
}

static bool skip_float_curve(struct walk *w)
{
	return skip_list(w, FLOAT_KEY, "keys of a float curve") && skip(w, 2, 4, "a float curve") &&
	       skip_string(w, "bytes of an attribute") && skip_string(w, "bytes of a path") &&
	       skip(w, 4, 4, "a float curve");
}

static bool skip_pointer_curve(struct walk *w)
{
	return skip_list(w, POINTER_KEY, "keys of a pointer curve") &&
	       skip_string(w, "bytes of an attribute") && skip_string(w, "bytes of a path") &&
	       skip(w, 4, 4, "a pointer curve");
}

static bool skip_other_curves(struct walk *w)
{
	uint32_t count;

	if (!take_count(w, 36, "float curves", &count))
		return false;
	w->f->others = count > 0;
	for (; count; count--)
		if (!skip_float_curve(w))
			return false;
	if (!take_count(w, 28, "pointer curves", &count))
		return false;
	w->f->others |= count > 0;
	for (; count; count--)
		if (!skip_pointer_curve(w))
			return false;
	return true;
}

/* ---- its tail ---- */

#define XFORM 48
#define BOUNDS 24

static bool skip_hand(struct walk *w)
{
	return skip(w, 1, XFORM, "a hand") && skip_list(w, 4, "a hand") && skip(w, 4, 4, "a hand");
}

static bool skip_pose(struct walk *w)
{
	return skip(w, 1, XFORM + 32, "a pose") && skip_list(w, XFORM + 28, "goals") &&
	       skip_hand(w) && skip_hand(w) && skip_list(w, 4, "muscles") &&
	       skip_list(w, 16, "muscles");
}

static bool skip_muscle_clip(struct walk *w)
{
	uint32_t none;

	return skip_pose(w) && skip(w, 1, 3 * XFORM + 16, "a muscle clip") &&
	       skip_list(w, 4, "streamed numbers") && skip(w, 1, 4 + 16, "a muscle clip") &&
	       skip_list(w, 4, "sampled numbers") && skip_list(w, 4, "constants") &&
	       take_count(w, 1, "bindings", &none) && none == 0 && skip(w, 6, 4, "a muscle clip") &&
	       skip_list(w, 4, "muscle indices") && skip_list(w, 8, "muscle values") &&
	       skip(w, 12, 1, "a muscle clip");
}

static bool skip_events(struct walk *w)
{
	uint32_t count;

	if (!take_count(w, 36, "events", &count))
		return false;
	for (; count; count--)
		if (!skip(w, 1, 4, "an event") || !skip_string(w, "an event") ||
		    !skip_string(w, "an event") || !skip(w, 24, 1, "an event"))
			return false;
	return true;
}

static bool skip_tail(struct walk *w)
{
	return skip(w, 1, BOUNDS + 4, "the bounds") && skip_muscle_clip(w) &&
	       skip_list(w, BINDING_SIZE, "bindings") &&
	       skip_list(w, POINTER_BINDING_SIZE, "pointer bindings") && skip_events(w);
}

static void put_ones(uint8_t *tail, size_t at, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_f32(tail + at + 4 * (size_t)i, 1);
}

void ff9clip_usual_tail(uint8_t *tail)
{
	static const uint16_t transforms[] = {28, 112, 188, 264, 340, 416, 564, 1040, 1088, 1136};
	static const uint16_t counts[][2] = {{108, 4},  {464, 20}, {612, 20},
					     {712, 52}, {924, 7},  {1260, 155}};

	for (size_t i = 0; i < ARRAY_SIZE(transforms); i++)
		put_ones(tail, transforms[i] + 28u, 5); /* w of the rotation, and the scale */
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		put_u32(tail + counts[i][0], counts[i][1]);
	put_ones(tail, 1240, 1);
	memset(tail + 1264, 0xFF, 155 * 4);
	tail[1895] = 1;
}

static bool is_usual_tail(struct bytes tail)
{
	uint8_t usual[USUAL_TAIL];

	memset(usual, 0, sizeof(usual));
	ff9clip_usual_tail(usual);
	return tail.size == sizeof(usual) && memcmp(tail.data, usual, sizeof(usual)) == 0;
}

static bool take_tail(struct walk *w)
{
	struct walk tail = *w;

	if (w->at == w->src.size)
		return true;
	if (!has(w, 1, 4)) {
		w->f->tail = TAIL_OTHER;
		w->f->read_only = "it ends inside its wrap mode";
		return true;
	}
	w->f->wrap = (int32_t)get_u32(w->src.data + w->at);
	w->at += 4;
	tail.at = w->at;
	tail.err = NULL;
	w->f->tail = is_usual_tail((struct bytes){w->src.data + w->at, w->src.size - w->at})
			     ? TAIL_USUAL
			     : TAIL_OTHER;
	if (w->f->tail == TAIL_OTHER && w->at < w->src.size && !skip_tail(&tail))
		w->f->read_only = "the bytes after its wrap mode are not understood";
	return true;
}

static bool read_binary(struct ff9clip *f, struct err *err)
{
	struct walk w = {.f = f, .src = f->src, .err = err};
	uint32_t size;
	size_t text;

	if (!take_string(&w, "bytes of the name", &text, &size))
		return false;
	f->name = arena_text(&f->arena, (const char *)f->src.data + text, size);
	if (!f->name)
		return err_memory(err);
	if (!has(&w, 1, FLAGS))
		return ff9clip_refuse_end(&w, "the flags");
	memcpy(f->flags, f->src.data + w.at, FLAGS);
	w.at += FLAGS;
	if (!take_curves(&w, ROLE_ROTATION, "rotation curves") || !take_compressed(&w) ||
	    !take_curves(&w, ROLE_TRANSLATION, "position curves") ||
	    !take_curves(&w, ROLE_SCALE, "scale curves") || !skip_other_curves(&w))
		return false;
	f->rate_at = w.at;
	if (!skip(&w, 1, 4, "the frame rate"))
		return false;
	f->rate = get_f32(f->src.data + f->rate_at);
	f->has_rate = true;
	return take_tail(&w);
}

/* ---- both forms: keys ---- */

struct timed_key {
	float time;
	uint32_t key;
};

static int ff9clip_by_time(const void *pa, const void *pb)
{
	const struct timed_key *a = pa, *b = pb;

	if (a->time < b->time || a->time > b->time)
		return a->time < b->time ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static bool ff9clip_sort_keys(struct ff9clip *f, struct clip_curve *c)
{
	struct timed_key *keys = calloc((size_t)c->count + 1, sizeof(*keys));

	c->order = arena_alloc(&f->arena, c->count, sizeof(*c->order));
	for (uint32_t i = 0; keys && i < c->count; i++)
		keys[i] = (struct timed_key){clip_time(c, i), i};
	if (keys)
		qsort(keys, c->count, sizeof(*keys), ff9clip_by_time);
	for (uint32_t i = 0; keys && c->order && i < c->count; i++)
		c->order[i] = keys[i].key;
	free(keys);
	return keys && c->order;
}

/* Orders the keys of a curve; those at no time are dropped, which makes the file read-only. */
static bool order_keys(struct ff9clip *f, struct clip_curve *c)
{
	uint32_t kept = 0;
	bool ascend = true;

	for (uint32_t i = 0; i < c->count; i++)
		kept += isfinite(clip_time(c, i)) != 0;
	if (kept < c->count) {
		f->read_only = "a key has a time that is no number";
		c->count = 0;
		return true;
	}
	for (uint32_t i = 1; i < c->count; i++)
		ascend &= clip_time(c, i - 1) <= clip_time(c, i);
	return ascend || ff9clip_sort_keys(f, c);
}

/* Is each key at a frame of its own? */
static bool is_on_grid(const struct clip_curve *c, double rate)
{
	double before = -1;

	for (uint32_t i = 0; i < c->count; i++) {
		double moment = (double)clip_time(c, clip_key(c, i)) * rate;
		double frame = floor(moment + 0.5);

		if (!(frame > before) || fabs(moment - frame) > CLIP_GRID)
			return false;
		before = frame;
	}
	return true;
}

static uint32_t ff9clip_frame_of(double moment)
{
	double frame = floor(moment + 0.5);

	return frame > 0 ? (uint32_t)fmin(frame, CLIP_FRAMES_SHOWN - 1) : 0;
}

/* Counts the frames up to the curve's last key. */
static void ff9clip_count_frames(struct ff9clip *f, const struct clip_curve *c, double rate)
{
	double last;
	uint32_t frames;

	if (c->count == 0)
		return;
	last = (double)clip_time(c, clip_key(c, c->count - 1)) * rate;
	if (!(fabs(last) < CLIP_FRAMES_SHOWN - 1) ||
	    !(fabs((double)clip_time(c, clip_key(c, 0)) * rate) < CLIP_FRAMES_SHOWN - 1))
		f->read_only = "a key stands more than 16777214 frames from the beginning";
	frames = ff9clip_frame_of(f->between ? ceil(last - CLIP_GRID) : last) + 1;
	if (frames > f->frames)
		f->frames = frames;
}

static bool settle_keys(struct ff9clip *f, struct err *err)
{
	double rate = ff9clip_rate(f->rate);

	for (uint32_t i = 0; i < f->count; i++) {
		if (!order_keys(f, &f->curves[i]))
			return err_memory(err);
		f->between |= !is_on_grid(&f->curves[i], rate);
	}
	f->frames = 1;
	for (uint32_t i = 0; i < f->count; i++)
		ff9clip_count_frames(f, &f->curves[i], rate);
	return true;
}

/* ---- both forms: bones ---- */

/* A curve, or an entry without one, with the path that it is sorted by. */
struct placed {
	const char *path;
	int role; /* role of the curve; -1 for an entry */
	uint32_t index;
};

static int ff9clip_by_path(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;
	int order = strcmp(a->path, b->path);

	if (order)
		return order;
	if (a->role != b->role)
		return a->role - b->role;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Makes a track for each path; a second curve of a role gets a track of its own. */
static void make_tracks(struct ff9clip *f, const struct placed *placed, size_t count)
{
	uint32_t first = 0, of_role = 0;

	for (size_t i = 0; i < count; i++) {
		const struct placed *p = &placed[i];
		uint32_t track;

		if (i == 0 || strcmp(p->path, p[-1].path) != 0) {
			first = f->track_count;
			of_role = 0;
		} else {
			of_role = p->role == p[-1].role && p->role >= 0 ? of_role + 1 : 0;
		}
		track = first + of_role;
		if (of_role)
			f->read_only = "a bone has two curves of a kind";
		while (f->track_count <= track)
			f->paths[f->track_count++] = p->path;
		if (p->role < 0)
			f->entries[p->index].track = track;
		else
			f->curves[p->index].track = track;
	}
}

static bool settle_tracks(struct ff9clip *f, struct err *err)
{
	size_t count = f->count + f->entry_count;
	struct placed *placed = calloc(count + 1, sizeof(*placed));

	f->paths = arena_alloc(&f->arena, count, sizeof(*f->paths));
	if (placed && f->paths) {
		for (uint32_t i = 0; i < f->count; i++)
			placed[i] = (struct placed){f->curves[i].path, (int)f->curves[i].role, i};
		for (uint32_t i = 0; i < f->entry_count; i++)
			placed[f->count + i] = (struct placed){
				token_text(token_member(f->entries[i].token, "bone")), -1, i};
		qsort(placed, count, sizeof(*placed), ff9clip_by_path);
		make_tracks(f, placed, count);
	}
	free(placed);
	return (placed && f->paths) || err_memory(err);
}

/*
 * Reads either form. A binary file whose name has 123 bytes begins like JSON, so both may have to
 * be tried.
 */
static bool read_either(struct ff9clip *f, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct ff9clip other;

	f->json = f->src.size > 0 && f->src.data[0] == '{';
	if (!f->json && f->src.size > 3 && memcmp(f->src.data, "\xEF\xBB\xBF{", 4) == 0)
		return err_at(err, ERR_FORMAT, 0, 3,
			      "there is a byte order mark before the JSON, so that the game takes "
			      "it for a binary file");
	if (!f->json)
		return read_binary(f, err);
	if (ff9clip_read_json(f, &why))
		return true;
	other = (struct ff9clip){.arena = ARENA_INIT, .src = f->src};
	if (why.code != ERR_MEMORY && f->src.size >= 4 && get_u32(f->src.data) == '{' &&
	    read_binary(&other, NULL)) {
		ff9clip_release(f);
		*f = other;
		return true;
	}
	ff9clip_release(&other);
	err_copy(err, &why);
	return false;
}

bool ff9clip_read(struct ff9clip *f, struct bytes src, struct err *err)
{
	*f = (struct ff9clip){.arena = ARENA_INIT, .src = src};
	return read_either(f, err) && settle_keys(f, err) && settle_tracks(f, err);
}

/* ---- decode ---- */

static uint8_t *sorted(struct anim *a, const struct clip_curve *c, const uint8_t *from, size_t size)
{
	uint8_t *to = arena_alloc(&a->arena, c->count, size);

	for (uint32_t i = 0; to && i < c->count; i++)
		memcpy(to + i * size, from + clip_key(c, i) * size, size);
	return to;
}

static bool decode_keys(struct anim *a, const struct ff9clip *f, const struct clip_curve *from,
			struct curve *c)
{
	size_t size = 4 * (size_t)clip_width(from->role);
	struct curve_timing *timing = arena_alloc(&a->arena, 1, sizeof(*timing));
	uint32_t *frames = arena_alloc(&a->arena, from->count, sizeof(*frames));

	if (!timing || !frames)
		return false;
	*timing = (struct curve_timing){.times = sorted(a, from, from->times, 4),
					.tangents = sorted(a, from, from->tangents, 2 * size),
					.rate = a->rate,
					.between = f->between};
	c->stored = sorted(a, from, from->values, size);
	c->timing = timing;
	c->frames = frames;
	if (a->arena.failed)
		return false;
	for (uint32_t i = 0; i < from->count; i++)
		frames[i] = ff9clip_frame_of((double)curve_time(c, i) * a->rate);
	return true;
}

static const struct curve *ff9clip_decode_curve(struct anim *a, const struct ff9clip *f,
						const struct clip_curve *from)
{
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct curve){.kind = from->role == ROLE_ROTATION ? CURVE_QUATERNION : CURVE_VECTOR,
			    .keyed = true,
			    .count = from->count};
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		c->lane[axis] = value_lane;
	return decode_keys(a, f, from, c) ? c : NULL;
}

static bool decode_tracks(struct anim *a, const struct ff9clip *f, struct track *tracks)
{
	for (uint32_t i = 0; i < f->track_count; i++) {
		tracks[i] = (struct track){
			.name = arena_text(&a->arena, f->paths[i], strlen(f->paths[i])),
			.origin = i,
			.roles = (1u << ROLE_COUNT) - 1,
			.rotation = CURVE_QUATERNION};
		if (!tracks[i].name)
			return false;
	}
	for (uint32_t i = 0; i < f->count; i++) {
		const struct clip_curve *from = &f->curves[i];
		struct track *t = &tracks[from->track];

		if (from->count == 0)
			continue;
		t->curve[from->role] = ff9clip_decode_curve(a, f, from);
		if (!t->curve[from->role])
			return false;
	}
	return true;
}

/*
 * Gets the motion before or after their keys that all curves have; false if they differ, or there
 * are none.
 */
static bool common_hold(const struct ff9clip *f, bool after, int32_t *hold)
{
	for (uint32_t i = 0; i < f->count; i++) {
		int32_t own = after ? f->curves[i].after : f->curves[i].before;

		if (i > 0 && own != *hold)
			return false;
		*hold = own;
	}
	return f->count > 0;
}

static void add_integer(struct clip *clip, struct field *fields, const char *name, int64_t value,
			bool editable)
{
	fields[clip->field_count++] = (struct field){
		.name = name, .type = FIELD_INT, .integer = value, .editable = editable};
}

static void ff9clip_add_text(struct clip *clip, struct field *fields, const char *name,
			     const char *text)
{
	fields[clip->field_count++] =
		(struct field){.name = name, .type = FIELD_TEXT, .text = text};
}

static void ff9clip_add_storage(struct clip *clip, struct field *fields, const char *name,
				const char *text)
{
	ff9clip_add_text(clip, fields, name, text);
	fields[clip->field_count - 1].storage = true;
}

static void binary_fields(const struct ff9clip *f, struct clip *clip, struct field *fields)
{
	static const char *const tails[] = {"none", "usual", "other"};
	int32_t hold = CLIP_HOLD;

	if (f->tail != TAIL_NONE)
		add_integer(clip, fields, "wrap", f->wrap, true);
	if (common_hold(f, false, &hold))
		add_integer(clip, fields, "before", hold, true);
	if (common_hold(f, true, &hold))
		add_integer(clip, fields, "after", hold, true);
	add_integer(clip, fields, "legacy", f->flags[0], false);
	add_integer(clip, fields, "compressed", f->flags[1], false);
	add_integer(clip, fields, "high_quality", f->flags[2], false);
	ff9clip_add_storage(clip, fields, "tail", tails[f->tail]);
}

#define FIELDS_MAX 12
/* What is kept as it is. */
#define OTHERS "its float and pointer curves"
#define OTHER_TAIL "the bytes behind its wrap mode: bounds, muscle clip, bindings, events"

static bool ff9clip_decode_fields(struct anim *a, const struct ff9clip *f, struct clip *clip)
{
	struct field *fields = arena_alloc(&a->arena, FIELDS_MAX, sizeof(*fields));
	const char *name = f->name ? arena_text(&a->arena, f->name, strlen(f->name)) : "";

	if (!fields || !name)
		return false;
	clip->fields = fields;
	ff9clip_add_storage(clip, fields, "form", f->json ? "json" : "binary");
	ff9clip_add_text(clip, fields, "name", name);
	fields[clip->field_count++] = (struct field){
		.name = "rate", .type = FIELD_REAL, .real = (double)f->rate, .editable = true};
	if (!f->json)
		binary_fields(f, clip, fields);
	ff9clip_add_storage(clip, fields, "tangents", "kept");
	ff9clip_add_storage(clip, fields, "grid", f->between ? "times" : "frames");
	fields[clip->field_count - 1].derived = true;
	return true;
}

static bool ff9clip_decode_all(struct anim *a, const struct ff9clip *f)
{
	struct track *tracks = arena_alloc(&a->arena, f->track_count, sizeof(*tracks));
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));

	if (!tracks || !clip)
		return false;
	*clip = (struct clip){.name = "",
			      .frames = f->frames,
			      .frame_time = 1,
			      .track_count = f->track_count,
			      .tracks = tracks};
	a->format = &ff9clip_format;
	a->rate = ff9clip_rate(f->rate);
	a->read_only = f->read_only;
	a->beyond = f->others && f->tail == TAIL_OTHER ? OTHERS ", and " OTHER_TAIL
		    : f->others                        ? OTHERS
		    : f->tail == TAIL_OTHER            ? OTHER_TAIL
						       : NULL;
	a->clip_count = 1;
	a->clips = clip;
	return ff9clip_decode_fields(a, f, clip) && decode_tracks(a, f, tracks);
}

struct anim *ff9clip_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct anim *a = NULL;
	struct ff9clip f;

	(void)hints;
	if (ff9clip_read(&f, src, err)) {
		a = calloc(1, sizeof(*a));
		if (!a || !ff9clip_decode_all(a, &f)) {
			anim_free(a);
			a = NULL;
			err_memory(err);
		}
	}
	ff9clip_release(&f);
	return a;
}

/* ---- detection ---- */

/*
 * Recognizes a file: JSON must have the list "transform"; a binary file must fit this layout
 * exactly.
 */
bool ff9clip_probe(struct bytes src)
{
	struct ff9clip f;
	bool fine = ff9clip_read(&f, src, NULL);
	size_t size = fine && f.name ? strlen(f.name) : 0;

	if (fine && f.json)
		fine = token_member(f.doc.root, "transform") != NULL;
	else if (fine)
		fine = size >= 1 && size <= NAME_PROBED && size == get_u32(src.data) &&
		       f.flags[0] <= 1 && f.flags[1] <= 1 && f.flags[2] <= 1 && f.flags[3] == 0;
	for (size_t i = 0; fine && !f.json && i < size; i++)
		fine = (unsigned char)f.name[i] >= ' ' && f.name[i] != 0x7F;
	ff9clip_release(&f);
	return fine;
}
