/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * said.h - a digest of what a text says of a curve, by which a text of an older version is known
 * again when nothing but digests is left of that version.
 *
 * It is of the cells of the text: the frames, which components are given, each rounded to a
 * float32. So it is the same whatever the text looks like (separators, digits that make no
 * difference, the order of its rows), whichever view it is of, and whatever model it is read over.
 * It depends on the form of rotations: as Euler angles and as a quaternion a curve has two digests.
 *
 * A curve that is served has the digest of the text in which it is served: curves are served so
 * that each number rounds to the float32 nearest to the stored value. What is not finite is served
 * blank (JSON has its bits beside it), and is here not given. -0 is 0, as in spreadsheets.
 */
#ifndef ANIMFS_MODEL_SAID_H
#define ANIMFS_MODEL_SAID_H

#include "animfs/anim.h"

static inline bool digest_same(struct digest a, struct digest b)
{
	return a.low == b.low && a.high == b.high;
}

/* All zero: there are no keys. */
static inline bool digest_is_none(struct digest d)
{
	return !d.low && !d.high;
}

/* Made key by key, in the order of frames. */
struct said {
	uint32_t words[256]; /* little-endian; the first four are a digest of what was before */
	size_t count;
	bool any; /* has it a key? */
};

void said_begin(struct said *s, enum curve_kind kind);
/*
 * What stands for the frame of a key that has a time: its frame, if it stands at one, or the time.
 * That does not depend on the other keys of its clip.
 */
uint32_t said_moment(double frame, float time);
/* given: a bit per axis. A key of which nothing is given is none. */
void said_key(struct said *s, uint32_t frame, unsigned given, const double *values);
struct digest said_end(struct said *s);

/* Of that and of some bytes beside it, such as tangents that a text changes. */
struct digest said_more(struct digest said, const void *bytes, size_t size);

/* Of the keys that a clip of `frames` frames shows. NULL is fine: none. */
struct digest said_curve(const struct curve *c, uint32_t frames);
/*
 * Of all that a bone with keyframes says, which counts as one. A text's keyframes are said with
 * their flags; flags_given false where it has no such column.
 */
void said_keyframe(struct said *s, uint32_t frame, bool flags_given, uint8_t flags);
struct digest said_track(const struct track *track);

#endif
