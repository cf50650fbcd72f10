/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint.h - finds suspicious curves in an animation, by the file only.
 *
 *   seam      a loop's last pose is further from its first than any two neighbours are
 *   jump      a curve moves further in one frame than it does nearly everywhere else
 *   flip      a quaternion changes its sign: between the two keys, a program that ignores this
 *             turns the long way round
 *   length    a quaternion is not of length 1
 *   constant  a curve has a key in many frames, and one value
 *   waste     the values of a component are few of those that its grid could hold
 *
 * A seam or jump is measured by the steps of its own curve: how far apart two neighbouring keys
 * are, in degrees, units of length, or of scale, for each frame. They are compared with the 99th
 * percentile of the steps elsewhere in the curve.
 */
#ifndef ANIMFS_MODEL_LINT_H
#define ANIMFS_MODEL_LINT_H

#include "animfs/anim.h"

enum lint_kind { LINT_SEAM, LINT_JUMP, LINT_FLIP, LINT_LENGTH, LINT_CONSTANT, LINT_WASTE };
#define LINT_KINDS 6

extern const char *const lint_names[LINT_KINDS];

struct lint_limits {
	unsigned kinds; /* bit (1 << kind): look for this kind */
	double seam;    /* smallest seam, as a multiple of the 99th percentile of steps */
	double jump;    /* smallest jump, as a multiple of the 99th percentile of steps */
	/*
	 * smallest seam or jump that is reported: in degrees, hundredths of the clip's longest
	 * translation, or hundredths of a scale
	 */
	double least;
	double length; /* largest difference of a quaternion's length from 1 that is not reported */
	double waste;  /* part of a grid (0 to 1); a component that uses more of its grid is not
			  reported as waste */
};
/* The defaults. */
#define LINT_LIMITS                                                                                \
	{                                                                                          \
		(1 << LINT_KINDS) - 1, 3, 5, 2, 0.01, 0.25                                         \
	}

/* One finding of a curve. */
struct lint {
	enum lint_kind kind;
	uint32_t clip, track;
	enum role role;
	uint32_t count; /* number of `frames` with the finding, each the later of two frames; 0: the
			   finding is about the whole curve */
	const uint32_t *frames; /* frames with the finding; valid during the call */
	double value, usual;    /* value at the worst frame, and the usual value there */
	uint32_t keys;          /* number of keys of the curve */
};

/* Called with each finding; returns false to stop. */
typedef bool lint_found(void *closure, const struct lint *found);
/*
 * Calls `found` for each finding, in the order of clips and bones. False when out of memory, or if
 * `found` returned false.
 */
bool lint_anim(const struct anim *a, const struct lint_limits *limits, lint_found *found,
	       void *closure);

/* Appends a sentence about the finding: "jumps by 45 degrees at frame 12; ..." */
void lint_describe(const struct lint *l, const struct anim *a, struct buf *out);

#endif
