/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "typed.h"

#include "view/own_digest.h"

bool typed_is_generated(const struct view *view)
{
	return !view->whole && !view->parse && !view->parse_skeleton;
}

bool typed_refuse_generated(bool stills, struct err *err)
{
	err_at(err, ERR_TEXT, 0, 0,
	       "this text is generated from the %s, and was changed by hand: its last line is not "
	       "its digest",
	       stills ? "stills" : "curves");
	return err_accept(err, "edits of %s; this view follows them",
			  stills ? "the stills, frames.csv or file.json"
				 : "bones/*.csv, bones/*.json or clip.json");
}

enum typed typed_read(const struct view *view, const struct shown *at, struct bytes text,
		      struct anim **edited, struct err *err)
{
	if (!text.size) {
		err_set(err, ERR_EMPTY, "the text is empty");
		err_accept(err, "the whole text; in a bone's CSV, blank cells remove keys");
		return TYPED_WRONG;
	}
	/* Copying a whole folder writes it back as it is. */
	if (typed_is_generated(view))
		return own_digest_recognized(text) ||
				       typed_refuse_generated(at->anim->format->stills, err)
			       ? TYPED_NOTHING
			       : TYPED_WRONG;
	if (view->whole || view->parse_skeleton)
		return TYPED_EDIT;
	*edited = view->parse(at, text, err);
	return *edited ? TYPED_EDIT : TYPED_WRONG;
}
