/* SPDX-License-Identifier: GPL-3.0-or-later */
/* odd.h - models that no sample file holds, for the views that other programs read. */
#ifndef ANIMFS_TESTS_UNIT_ODD_H
#define ANIMFS_TESTS_UNIT_ODD_H

#include "sample.h"
#include "skeleton/skeleton.h"

#include <float.h>
#include <math.h>

/* Makes a model: clip 0 of wiki512.canm with these curves on its bone 1, and as many frames. */
static inline struct anim *odd_model(const struct sample *s, uint32_t frames,
				     const struct curve *const curves[ROLE_COUNT])
{
	struct anim *odd = anim_edit(s->anim);
	struct track *track = anim_edit_track(odd, 0, 1);

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		track->curve[role] = curves[role];
	anim_edit_clip(odd, 0)->frames = frames;
	return odd;
}

static inline struct curve odd_curve(enum curve_kind kind, uint32_t count, const double *values)
{
	struct curve c = {.kind = kind, .keyed = count > 1, .count = count, .values = values};

	for (unsigned axis = 0; axis < 4; axis++)
		c.lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	return c;
}

static const double odd_numbers[] = {NAN, 1,    2,      INFINITY, -INFINITY, 1e300, FLT_MAX, -1e38,
				     0,   -0.0, 1e-300, 370,      -90,       1e9,   5,       6};
static const double odd_quaternions[] = {NAN, 0, 0,     1,     0, 0,    0,   0, 1e300, 0,
					 0,   0, 1e-40, 1e-40, 0, 1e38, 0.6, 0, -0.8,  0};

/*
 * Checks that a clip of 65,535 frames without motion has a short text, and that a longer clip has
 * none.
 */
static inline void odd_still_is_short(const struct sample *s, struct shown *at,
				      const struct view *view)
{
	struct curve still = odd_curve(CURVE_VECTOR, 1, odd_numbers + 13);
	const struct curve *const curves[ROLE_COUNT] = {&still};
	struct anim *odd = odd_model(s, 65535, curves);
	struct buf text;

	at->anim = odd;
	text = view_text(view, at);
	ck_assert_uint_lt(text.size, 6000);
	buf_release(&text);
	anim_edit_clip(odd, 0)->frames = 65536;
	ck_assert(!view->present(at));
	anim_free(odd);
}

static inline struct skeleton *read_skeleton(const char *text)
{
	struct err err = {0};
	struct skeleton *s = skeleton_read(bytes_of(text), NULL, &err);

	ck_assert_msg(s != NULL, "%s", err.message);
	return s;
}

/* For the bones of wiki512.canm; the clips have no "mid". */
static const char odd_skeleton[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
				   "hip,mid,,,,,,,,,\n"
				   "mid,Bone01,0,2,0,0,0,90,1,1,1\n"
				   "Bone01,Scene_Root,1,2,3,10,20,30,1,1,1\n"
				   "Scene_Root,,,,,,,,,,\n"
				   "unused,hip,,,,,,,,,\n";

#endif
