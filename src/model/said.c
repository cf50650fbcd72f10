/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "said.h"

#include <endian.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#define CARRIED 4
#define ON_FRAME 0.001 /* tolerance, in frames, for a time to count as being at a frame */

static struct digest said_digest_of(const struct said *s)
{
	XXH128_hash_t hash = XXH3_128bits(s->words, s->count * sizeof(*s->words));

	return (struct digest){hash.low64, hash.high64};
}

static void carry_word(struct said *s)
{
	struct digest digest = said_digest_of(s);
	uint64_t halves[2] = {htole64(digest.low), htole64(digest.high)};

	memcpy(s->words, halves, sizeof(halves));
	s->count = CARRIED;
}

static void put_word(struct said *s, uint32_t word)
{
	if (s->count == ARRAY_SIZE(s->words))
		carry_word(s);
	s->words[s->count++] = htole32(word);
}

void said_begin(struct said *s, enum curve_kind kind)
{
	memset(s->words, 0, CARRIED * sizeof(*s->words));
	s->count = CARRIED;
	s->any = false;
	put_word(s, (uint32_t)kind);
}

static void said_put_values(struct said *s, unsigned given, const double *values)
{
	for (unsigned axis = 0; given >> axis; axis++) {
		float value = (float)values[axis];

		if (given & 1u << axis)
			put_word(s, f32_bits(value == 0 ? 0 : value));
	}
}

static unsigned finite_of(unsigned given, const double *values)
{
	unsigned finite = 0;

	for (unsigned axis = 0; given >> axis; axis++) {
		if ((given & 1u << axis) && isfinite((float)values[axis]))
			finite |= 1u << axis;
	}
	return finite;
}

void said_key(struct said *s, uint32_t frame, unsigned given, const double *values)
{
	given = finite_of(given, values);
	if (!given)
		return;
	s->any = true;
	put_word(s, frame);
	put_word(s, given);
	said_put_values(s, given, values);
}

uint32_t said_moment(double frame, float time)
{
	double near = floor(frame + 0.5);

	if (near >= 0 && near <= INT32_MAX && fabs(frame - near) <= ON_FRAME)
		return (uint32_t)near;
	return f32_bits(time);
}

struct digest said_more(struct digest said, const void *bytes, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, said.low ^ said.high);

	return (struct digest){hash.low64, hash.high64};
}

struct digest said_end(struct said *s)
{
	return s->any ? said_digest_of(s) : (struct digest){0, 0};
}

static void curve_values(const struct curve *c, uint32_t key, double out[4])
{
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		out[axis] = curve_value(c, key, axis);
}

static unsigned all_axes(const struct curve *c)
{
	return (1u << curve_width(c)) - 1;
}

static uint32_t frame_said(const struct curve *c, uint32_t key)
{
	float time;

	if (!c->timing)
		return curve_frame(c, key);
	time = curve_time(c, key);
	return said_moment((double)time * c->timing->rate, time);
}

struct digest said_curve(const struct curve *c, uint32_t frames)
{
	uint32_t shown = c ? curve_shown(c, frames) : 0;
	struct said s;

	if (!shown)
		return (struct digest){0, 0};
	said_begin(&s, c->kind);
	for (uint32_t key = 0; key < shown; key++) {
		double values[4];

		curve_values(c, key, values);
		said_key(&s, frame_said(c, key), all_axes(c), values);
	}
	return said_end(&s);
}

void said_keyframe(struct said *s, uint32_t frame, bool flags_given, uint8_t flags)
{
	s->any = true;
	put_word(s, frame);
	put_word(s, 1u << 31 | (unsigned)flags_given << 8 | (flags_given ? flags : 0u));
}

struct digest said_track(const struct track *track)
{
	const struct keyframes *k = track->keyframes;
	const struct curve *rotation = track->curve[ROLE_ROTATION];
	uint32_t keys[ROLE_COUNT] = {0};
	struct said s;

	said_begin(&s, rotation ? rotation->kind : track->rotation);
	for (uint32_t i = 0; k && i < k->count; i++) {
		said_keyframe(&s, k->frames[i], true, k->flags[i]);
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = track->curve[role];
			double values[4];

			if (!c || !(k->roles[i] & 1u << role))
				continue;
			curve_values(c, keys[role]++, values);
			said_key(&s, role, all_axes(c), values);
		}
	}
	return said_end(&s);
}
