/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip_bones.c - "bones" of clip.json: the order of bones, which there are, and their names. */
#include "clip.h"
#include "clip_json.h"
#include "label.h"
#include "names.h"

#include <string.h>

/* Labels of bones, hashed: of the old ones with their place, of the new ones to find doubles. */
struct bones {
	json_t *old, *taken, *made;
	json_t *members; /* that an entry of the list may have */
};

/* Notes a label; false and err when the list has it already. */
static bool note_label(const struct clip_text *p, json_t *labels, const char *label,
		       const struct spot *s)
{
	if (json_object_get(labels, label)) {
		spot_refuse(s, p->err, ERR_TEXT, "\"%s\" is in the list twice", label);
		return err_accept(p->err, "each bone once, each under a name of its own");
	}
	return json_object_set_new_nocheck(labels, label, json_true()) == 0 || err_memory(p->err);
}

/* "name" is for reading: what is stored for the bone that the entry says. */
static bool check_stored_name(const struct clip_text *p, const struct spot *entry, const char *name)
{
	struct spot s = spot_member(entry, "name");
	struct buf printable = BUF_INIT;
	const char *text;
	bool same, failed;

	if (!s.value)
		return true;
	if (!spot_text(&s, p->err, &text))
		return false;
	name_printable(name, &printable);
	same = bytes_equal(buf_bytes(&printable), bytes_of(text));
	failed = printable.failed;
	buf_release(&printable);
	if (failed)
		return err_memory(p->err);
	if (same)
		return true;
	spot_refuse(&s, p->err, ERR_TEXT, "\"name\" cannot be changed here");
	return err_accept(p->err, "another \"bone\", with \"was\" to say which bone is renamed");
}

/* One entry: an old bone, an old bone under a new name, or a new bone. */
static bool read_bone(struct clip_text *p, struct bones *b, const struct spot *entry,
		      struct track *track)
{
	struct spot bone = spot_member(entry, "bone"), was = spot_member(entry, "was");
	const struct spot *from = was.value ? &was : &bone;
	const char *label, *old_label;
	const json_t *old;
	size_t at, length;

	if (!spot_text(&bone, p->err, &label) || !spot_text(from, p->err, &old_label) ||
	    !note_label(p, b->made, label, &bone))
		return false;
	old = json_object_get(b->old, old_label);
	if (was.value && !old) {
		spot_refuse(&was, p->err, ERR_TEXT, "the clip has no bone \"%s\"", old_label);
		return err_accept(p->err,
				  "the name that the bone has now; a new bone has no \"was\"");
	}
	if (old && !note_label(p, b->taken, old_label, from))
		return false;
	*track = old ? p->clip->tracks[json_integer_value(old)]
		     : clip_new_track(p->at->anim, p->clip);
	if (old && !check_stored_name(p, entry, track->name))
		return false;
	if (old && strcmp(label, old_label) == 0)
		return true;
	at = spot_place(&bone, &length);
	track->label = arena_text(&p->edited->arena, label, strlen(label));
	track->name = label_bone(p->edited, label, at, length, p->err);
	if (!track->name)
		return false;
	if (!track->label)
		return err_memory(p->err);
	if (old)
		return true;
	if (!check_stored_name(p, entry, track->name))
		return false;
	if (clip_begin_track(p->edited, p->clip, track, p->err))
		return true;
	p->err->placed = true;
	p->err->at = at;
	p->err->length = length;
	return false;
}

static bool hash_bones(const struct clip_text *p, struct bones *b)
{
	b->old = json_object();
	b->taken = json_object();
	b->made = json_object();
	b->members = json_pack("{s:n, s:n, s:n}", "bone", "name", "was");
	if (!b->old || !b->taken || !b->made || !b->members)
		return err_memory(p->err);
	for (uint32_t i = 0; i < p->clip->track_count; i++)
		if (json_object_set_new_nocheck(b->old, p->clip->tracks[i].label, json_integer(i)))
			return err_memory(p->err);
	return true;
}

static bool read_bones(struct clip_text *p, struct bones *b, const struct spot *list)
{
	size_t count = json_array_size(list->value);
	struct track *tracks = arena_alloc(&p->edited->arena, count + 1, sizeof(*tracks));
	struct spot s;

	if (!tracks || !hash_bones(p, b))
		return err_memory(p->err);
	for (s = spot_first(list); s.value; spot_next(&s))
		if (!spot_object(&s, p->err) || !spot_known(&s, b->members, p->err) ||
		    !read_bone(p, b, &s, &tracks[s.index]))
			return false;
	p->clip->tracks = tracks;
	p->clip->tracks_own = true;
	p->clip->track_count = (uint32_t)count;
	return true;
}

bool clip_text_bones(struct clip_text *p)
{
	struct spot list = spot_member(&p->root, "bones");
	struct bones b = {0};
	bool fine;

	if (!clip_text_changed(p, &list))
		return true;
	if (!spot_array(&list, p->err))
		return false;
	fine = read_bones(p, &b, &list);
	json_decref(b.old);
	json_decref(b.taken);
	json_decref(b.made);
	json_decref(b.members);
	return fine;
}
