/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SKEL: the smallest complete codec, for a made-up format: a template for new ones (see
 * CONTRIBUTING.md). The tests run it; the program does not list it.
 *
 * A file is one clip, and in it every bone has a place in every frame.
 *
 * All numbers are little-endian.
 *
 *   header      0x00  "SKEL"
 *               0x04  u16 number of frames, at least 1
 *               0x06  u16 number of bones
 *
 *   bone        0x00  name, 16 bytes of ASCII, zeros behind it
 *               0x10  f32 x y z, for each frame
 *
 * Bytes behind the last bone are kept.
 *
 * Writing. The model has everything but those last bytes and the bits of numbers that are not
 * finite; quant.h keeps the bits of every number that stays the same.
 */
#include "codecs.h"
#include "quant.h"

#include <stdlib.h>

#define HEADER_SIZE 8
#define NAME_SIZE 16
#define KEY_SIZE 12
#define COUNT_MAX 0xFFFFu

static const struct lane place_lane = {.form = LANE_FLOAT, .unit = 1};

static const struct format skel_format = {
	.name = "skel",
	.suffix = "skel",
	.rate = 30,
	.full = true,
	.length = "m",
	.nameless = true,
	.roles = {1u << ROLE_TRANSLATION, 1u << ROLE_TRANSLATION},
	.lanes = {&place_lane, NULL, NULL},
	.max_frames = COUNT_MAX,
};

/* ---- the file ---- */

struct skel {
	struct bytes src;
	uint32_t frames, bones;
	size_t end; /* offset of the end of the last bone */
};

static size_t bone_place(const struct skel *f, uint32_t bone)
{
	return HEADER_SIZE + bone * (NAME_SIZE + (size_t)f->frames * KEY_SIZE);
}

static bool skel_check_name(const struct skel *f, uint32_t bone, struct err *err)
{
	const uint8_t *name = f->src.data + bone_place(f, bone);
	size_t size = strnlen((const char *)name, NAME_SIZE);

	for (size_t i = 0; i < NAME_SIZE; i++) {
		if (i < size ? name[i] < ' ' || name[i] > '~' : name[i] != 0)
			return err_at(err, ERR_FORMAT, bone_place(f, bone) + i, 1,
				      "the name of bone %u is not ASCII with zeros behind it",
				      bone);
	}
	return true;
}

/* Checks all counts and sizes before anything is made of them. */
static bool skel_read(struct skel *f, struct bytes src, struct err *err)
{
	*f = (struct skel){.src = src};
	if (src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, src.size, 0, "the file ends inside its header");
	if (memcmp(src.data, "SKEL", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with SKEL");
	f->frames = get_u16(src.data + 4);
	f->bones = get_u16(src.data + 6);
	if (f->frames == 0)
		return err_at(err, ERR_FORMAT, 4, 2, "there are no frames");
	if (!bytes_hold(src, HEADER_SIZE, f->bones, bone_place(f, 1) - HEADER_SIZE))
		return err_at(err, ERR_FORMAT, 6, 2,
			      "%u bones over %u frames do not fit into the file", f->bones,
			      f->frames);
	f->end = bone_place(f, f->bones);
	for (uint32_t i = 0; i < f->bones; i++) {
		if (!skel_check_name(f, i, err))
			return false;
	}
	return true;
}

static bool skel_probe(struct bytes src)
{
	struct skel f;

	return skel_read(&f, src, NULL);
}

/* ---- decode ---- */

static bool skel_make_track(struct anim *a, const struct skel *f, uint32_t bone, struct track *t)
{
	const uint8_t *at = f->src.data + bone_place(f, bone);
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));

	*t = (struct track){
		.name = arena_text(&a->arena, (const char *)at,
				   strnlen((const char *)at, NAME_SIZE)),
		.origin = bone,
		.roles = skel_format.roles[0],
		.rotation = CURVE_EULER,
		.curve[ROLE_TRANSLATION] = c,
	};
	if (!c || !t->name)
		return false;
	/* The keys of the curve stay where they are in the file. */
	*c = (struct curve){
		.kind = CURVE_VECTOR,
		.keyed = true,
		.count = f->frames,
		.lane = {place_lane, place_lane, place_lane},
		.stored = at + NAME_SIZE,
	};
	return true;
}

static bool skel_make_anim(struct anim *a, const struct skel *f)
{
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));
	struct track *tracks = arena_alloc(&a->arena, f->bones + 1, sizeof(*tracks));

	if (!clip || !tracks)
		return false;
	for (uint32_t i = 0; i < f->bones; i++) {
		if (!skel_make_track(a, f, i, &tracks[i]))
			return false;
	}
	*clip = (struct clip){.name = "",
			      .frames = f->frames,
			      .frame_time = 1,
			      .track_count = f->bones,
			      .tracks = tracks};
	a->format = &skel_format;
	a->rate = skel_format.rate;
	a->clip_count = 1;
	a->clips = clip;
	return true;
}

static struct anim *skel_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct skel f;
	struct anim *a;

	(void)hints;
	if (!skel_read(&f, src, err))
		return NULL;
	a = calloc(1, sizeof(*a));
	if (a && skel_make_anim(a, &f))
		return a;
	anim_free(a);
	err_memory(err);
	return NULL;
}

/* ---- encode ---- */

struct edit {
	const struct clip *clip;
	struct anim *old; /* the model of the old bytes; NULL: the file is new */
	struct buf *out;
	struct err *err;
};

static bool skel_check_clip(const struct anim *a, struct err *err)
{
	const struct clip *c = a->clips;

	if (a->clip_count != 1)
		return err_set(err, ERR_STORE, "a file holds one clip, not %u", a->clip_count);
	if (c->frames < 1 || c->frames > COUNT_MAX || c->track_count > COUNT_MAX)
		return err_set(err, ERR_STORE,
			       "%u frames and %u bones: up to %u of each can be stored, and at "
			       "least one frame",
			       c->frames, c->track_count, COUNT_MAX);
	if (c->loop || c->frame_time != 1 || c->duration != 0)
		return err_set(err, ERR_STORE,
			       "whether it loops, frame times and durations cannot be stored");
	return true;
}

static bool check_track(const struct edit *e, const struct track *t)
{
	const struct curve *c = t->curve[ROLE_TRANSLATION];

	if (strlen(t->name) > NAME_SIZE)
		return err_set(e->err, ERR_STORE, "the name %s has more than %d bytes", t->name,
			       NAME_SIZE);
	for (const char *p = t->name; *p; p++) {
		if (*p < ' ' || *p > '~')
			return err_set(e->err, ERR_STORE, "the name %s is not ASCII", t->name);
	}
	if (t->curve[ROLE_ROTATION] || t->curve[ROLE_SCALE])
		return err_set(e->err, ERR_STORE, "%s: only translations can be stored", t->name);
	if (!c || !c->keyed || c->frames || c->count != e->clip->frames)
		return err_set(e->err, ERR_STORE, "%s needs a translation in every frame", t->name);
	return true;
}

static const struct curve *skel_old_curve(const struct edit *e, const struct track *t)
{
	if (!e->old || t->origin == ANIM_NEW)
		return NULL;
	return e->old->clips[0].tracks[t->origin].curve[ROLE_TRANSLATION];
}

static bool skel_write_track(const struct edit *e, const struct track *t)
{
	struct quant q = {
		.wanted = t->curve[ROLE_TRANSLATION], .old = skel_old_curve(e, t), .unit = 1};
	size_t size = strlen(t->name);

	buf_add(e->out, t->name, size);
	buf_zero(e->out, NAME_SIZE - size);
	for (uint32_t key = 0; key < q.wanted->count; key++) {
		for (unsigned axis = 0; axis < 3; axis++) {
			float value = 0;
			const char *why = quant_float(&q, key, axis, &value);

			if (why)
				return err_set(e->err, ERR_STORE, "frame %u of %s: %s", key,
					       t->name, why);
			buf_f32(e->out, value);
		}
	}
	return true;
}

static bool skel_write_clip(const struct edit *e)
{
	const struct clip *c = e->clip;

	buf_text(e->out, "SKEL");
	buf_u16(e->out, (uint16_t)c->frames);
	buf_u16(e->out, (uint16_t)c->track_count);
	for (uint32_t i = 0; i < c->track_count; i++) {
		if (!check_track(e, &c->tracks[i]) || !skel_write_track(e, &c->tracks[i]))
			return false;
	}
	return true;
}

static bool skel_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct edit e = {.clip = a->clips, .out = out, .err = err};
	struct skel f = {.end = 0};
	bool done = false;

	if (old.size && (!skel_read(&f, old, err) || !(e.old = skel_decode(old, NULL, err))))
		return false;
	if (skel_check_clip(a, err) && skel_write_clip(&e)) {
		if (old.size)
			buf_add(out, old.data + f.end, old.size - f.end);
		done = !out->failed || err_memory(err);
	}
	anim_free(e.old);
	return done;
}

static const char *const skel_patterns[] = {"*.skel", NULL};

const struct codec skel_codec = {
	.format = &skel_format,
	.patterns = skel_patterns,
	.probe = skel_probe,
	.decode = skel_decode,
	.encode = skel_encode,
};
