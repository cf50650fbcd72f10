/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip_text.c - which members of clip.json changed; the clip's name. */
#include "clip_text.h"
#include "model/label.h"

#include <string.h>

bool clip_text_changed(const struct clip_text *p, const struct spot *s)
{
	return s->value && !spot_unchanged(s, token_member(p->own.root, s->member), NULL, NULL);
}

bool clip_text_rename(struct clip_text *p)
{
	struct spot s = spot_member(&p->root, "clip");
	const struct anim *anim = p->at->anim;
	const char *text, *label, *name;
	size_t at, length;

	if (!clip_text_changed(p, &s))
		return true;
	if (anim->format->nameless) {
		spot_refuse(&s, p->err, ERR_STORE, "%s files store no name for their clip",
			    anim->format->name);
		return err_accept(p->err, "\"%s\", as the file is called",
				  anim->clips[p->at->clip].label);
	}
	if (!spot_text(&s, p->err, &text))
		return false;
	at = spot_place(&s, &length);
	name = label_new_clip(p->edited, p->at->clip, text, at, length, p->err);
	label = arena_text(&p->edited->arena, text, strlen(text));
	if (!name)
		return false;
	if (!label)
		return err_memory(p->err);
	p->clip->label = label;
	p->clip->name = name;
	return true;
}
