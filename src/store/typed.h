/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed.h - what a text that was typed over a view asks for.
 *
 * Knows no files: a draft stores what comes of it in one, a page keeps it.
 */
#ifndef ANIMFS_STORE_TYPED_H
#define ANIMFS_STORE_TYPED_H

#include "animfs/view.h"

enum typed {
	TYPED_EDIT,
	TYPED_NOTHING, /* a generated text as it was rendered, of whichever version */
	TYPED_WRONG,   /* err says what */
};

/*
 * Parses the text. *edited: the model that it asks for; NULL for a whole file or a skeleton, which
 * only storing it reads.
 */
enum typed typed_read(const struct view *view, const struct shown *at, struct bytes text,
		      struct anim **edited, struct err *err);

/* Does the text follow from others, so that it cannot be edited? */
bool typed_is_generated(const struct view *view);
/* Refuses a text of such a view: sets err and returns false. */
bool typed_refuse_generated(bool stills, struct err *err);

#endif
