/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bone_edit.h"

bool bone_edit_read(const struct shown *at, const struct track *track, struct curve_edit_rows *text,
		    struct arena *arena, struct track *now, struct err *err)
{
	const struct clip *clip = &at->anim->clips[at->clip];
	bool changed;

	if (at->anim->format->keyframes)
		return curve_edit_keyframes(at->anim, clip, track, text, arena, now, &changed, err);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (!curve_edit_curve(at->anim, clip, track, &text->roles[role], arena,
				      &now->curve[role], err))
			return false;
	return true;
}

bool bone_edit_put(const struct shown *at, struct anim *edited, uint32_t track,
		   const struct track *now, bool *changed, struct err *err)
{
	struct track *to;

	*changed = !track_same(now, &at->anim->clips[at->clip].tracks[track]);
	if (!*changed)
		return true;
	to = anim_edit_track(edited, at->clip, track);
	if (!to)
		return err_memory(err);
	*to = *now;
	return true;
}
