/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * said.h - a digest of the values that a text gives a curve. By it, a text of an older version is
 * recognized when only digests are left of that version.
 *
 * It is of the cells of the text: the frames, which components are given, each rounded to a
 * float32. So it does not depend on the form of the text (separators, needless digits, the order of
 * its rows), on the view, or on the model that the text is read against. It depends on the form of
 * rotations: as Euler angles and as a quaternion a curve has two digests.
 *
 * A curve that is served has the digest of the text in which it is served: curves are served so
 * that each number rounds to the float32 nearest to the stored value. A number that is not finite
 * is served as a blank (JSON has its bits beside it), and counts as not given. -0 is 0, as in
 * spreadsheets.
 */
#ifndef ANIMFS_MODEL_SAID_H
#define ANIMFS_MODEL_SAID_H

#include "animfs/anim.h"

static inline bool digest_same(struct digest a, struct digest b)
{
	return a.low == b.low && a.high == b.high;
}

/* Returns whether the digest is all zero, which means that there are no keys. */
static inline bool digest_is_none(struct digest d)
{
	return !d.low && !d.high;
}

/* A digest while it is computed, key by key in the order of frames. */
struct said {
	uint32_t words[256]; /* words not yet hashed, little-endian; the first four are the digest
				of all earlier words */
	size_t count;
	bool any; /* at least one key was added */
};

void said_begin(struct said *s, enum curve_kind kind);
/*
 * Returns a number that stands for the moment of a key that has a time: its frame if the time is at
 * a frame, else the time. Other keys of the clip do not matter.
 */
uint32_t said_moment(double frame, float time);
/* Adds a key. `given` has a bit for each axis; a key without any given component does not count. */
void said_key(struct said *s, uint32_t frame, unsigned given, const double *values);
struct digest said_end(struct said *s);

/* The digest of `said` and further bytes, for example of tangents that a text changes. */
struct digest said_more(struct digest said, const void *bytes, size_t size);

/*
 * Returns the digest of the keys of a curve that a clip of `frames` frames shows; for NULL, the
 * digest of no keys.
 */
struct digest said_curve(const struct curve *c, uint32_t frames);
/*
 * Adds a keyframe of a bone; all keyframes of a bone have one digest. A text's keyframes are said
 * with their flags; flags_given false where it has no such column.
 */
void said_keyframe(struct said *s, uint32_t frame, bool flags_given, uint8_t flags);
struct digest said_track(const struct track *track);

#endif
