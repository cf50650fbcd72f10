/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * listing.h - an animation file as lines of text with one fact each, for programs that compare
 * lines:
 *
 *   canm 512
 *   clip walk
 *     loop true
 *     frames 31
 *     ...
 *   bone walk/hips
 *     translation 0 0.026471192 0.002816195 -0.011471758
 *     scale all 1 1 1
 *     ...
 *
 * A curve with one value for the whole clip has it for "all" frames. Numbers are those of the CSVs.
 */
#ifndef ANIMFS_EDIT_LISTING_H
#define ANIMFS_EDIT_LISTING_H

#include "animfs/anim.h"

/*
 * The lines of a listing as one text, and for each line the frame that it describes. LISTING_INIT
 * is an empty listing.
 */
struct listing {
	struct buf text;
	struct buf rows; /* array of struct listing_row, one for each line */
};
struct listing_row {
	uint32_t frame;
	size_t at, size; /* offset and size of the line in the text, including its LF */
};
#define LISTING_INIT                                                                               \
	{                                                                                          \
		BUF_INIT, BUF_INIT                                                                 \
	}

void listing_release(struct listing *l);
bool listing_failed(const struct listing *l); /* Returns whether an allocation failed. */
size_t listing_count(const struct listing *l);
const struct listing_row *listing_row(const struct listing *l, size_t i);
/* Returns the text of line i, including its LF. */
struct bytes listing_line(const struct listing *l, size_t i);

/*
 * Append parts of a model: listing_header the format and the fields of the file header;
 * listing_values a clip's own values and its stills.
 */
void listing_header(struct listing *l, const struct anim *a);
void listing_values(struct listing *l, const struct anim *a, const struct clip *clip);
/* Appends the keys of a bone's curve in one role; `c` may be NULL. */
void listing_curve(struct listing *l, enum role role, const struct curve *c);
/* Appends the keyframes of a bone in a format with keyframes, one per line. */
void listing_keyframes(struct listing *l, const struct track *track);
/* Appends an interpolated value of a curve as one line, in the form of listing_curve. */
void listing_sample(struct listing *l, enum role role, const struct curve *c, uint32_t frame);

/* Appends the whole file. */
void listing_anim(struct listing *l, const struct anim *a);

#endif
