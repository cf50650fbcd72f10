/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip_bones.c - reads "bones" of clip.json: which bones there are, their order and their names. */
#include "clip_text.h"
#include "model/clip.h"
#include "model/label.h"
#include "text/utf.h"
#include "util/composed.h"
#include "util/string_map.h"

#include <string.h>

/*
 * Labels of bones: the old ones with their indices, those that the list has used, and the new ones.
 */
struct bones {
	struct string_map old, taken, made;
	/* the old labels by composed_copy(); made when first needed */
	struct string_map apart;
	bool has_apart;
};

/*
 * Finds the bone whose label differs only in the form of composed characters, if there is none of
 * this label: its own label stays.
 */
static bool find_alike_bone(struct clip_text *p, struct bones *b, const char **label, int64_t *old)
{
	const struct clip *clip = p->clip;
	const char *apart;

	if (*old >= 0 || !composed_may_differ(*label))
		return true;
	for (uint32_t i = 0; !b->has_apart && i < clip->track_count; i++) {
		apart = composed_copy(clip->tracks[i].label, &p->edited->arena);
		if (!apart || string_map_add(&b->apart, apart, i) < 0)
			return err_memory(p->err);
	}
	b->has_apart = true;
	apart = composed_copy(*label, &p->edited->arena);
	if (!apart)
		return err_memory(p->err);
	*old = string_map_find(&b->apart, apart);
	if (*old >= 0)
		*label = clip->tracks[*old].label;
	return true;
}

/* Records a label as used. False and err if the list has used it already. */
static bool note_label(const struct clip_text *p, struct string_map *labels, const char *label,
		       size_t entry, const struct spot *s)
{
	int64_t first = string_map_add(labels, label, (uint32_t)entry);

	if (first < 0)
		return err_memory(p->err);
	if ((size_t)first == entry)
		return true;
	spot_refuse(s, p->err, ERR_TEXT, "\"%s\" is in the list twice", label);
	return err_accept(p->err, "each bone once, each under a name of its own");
}

/* Checks "name", which is read-only: it must be the stored name of the entry's bone. */
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
	utf8_printable(name, &printable);
	buf_char(&printable, '\0');
	same = !printable.failed && composed_same((const char *)printable.data, text);
	failed = printable.failed;
	buf_release(&printable);
	if (failed)
		return err_memory(p->err);
	if (same)
		return true;
	spot_refuse(&s, p->err, ERR_TEXT, "\"name\" cannot be changed here");
	return err_accept(p->err, "another \"bone\", with \"was\" to say which bone is renamed");
}

/* Reads an entry of "bones": an old bone, a renamed one (with "was"), or a new one. */
static bool read_clip_bone(struct clip_text *p, struct bones *b, const struct spot *entry,
			   struct track *track, bool *moved)
{
	struct spot bone = spot_member(entry, "bone"), was = spot_member(entry, "was");
	const struct spot *from = was.value ? &was : &bone;
	const bool paths = p->at->anim->format->paths;
	const char *label, *old_label;
	size_t at, length;
	int64_t old;

	if (!spot_text(&bone, p->err, &label) || !spot_text(from, p->err, &old_label))
		return false;
	old = string_map_find(&b->old, old_label);
	if (!find_alike_bone(p, b, &old_label, &old))
		return false;
	if (!was.value)
		label = old_label;
	if (!note_label(p, &b->made, label, entry->index, &bone))
		return false;
	if (was.value && old < 0) {
		spot_refuse(&was, p->err, ERR_TEXT, "the clip has no bone \"%s\"", old_label);
		return err_accept(p->err,
				  "the name that the bone has now; a new bone has no \"was\"");
	}
	if (old >= 0 && !note_label(p, &b->taken, old_label, entry->index, from))
		return false;
	*track = old >= 0 ? p->clip->tracks[old] : clip_new_track(p->at->anim, p->clip);
	if (old >= 0 && !paths && !check_stored_name(p, entry, track->name))
		return false;
	if (old >= 0 && strcmp(label, old_label) == 0)
		return !paths || clip_path_read(p, entry, label, track->name, track, moved);
	at = spot_place(&bone, &length);
	track->label = arena_text(&p->edited->arena, label, strlen(label));
	track->name = label_bone(p->edited, label, at, length, p->err);
	if (!track->name)
		return false;
	if (!track->label)
		return err_memory(p->err);
	if (paths && !clip_path_read(p, entry, label, old >= 0 ? p->clip->tracks[old].name : NULL,
				     track, moved))
		return false;
	if (old >= 0)
		return true;
	if (!paths && !check_stored_name(p, entry, track->name))
		return false;
	if (clip_begin_track(p->edited, p->clip, track, p->err))
		return true;
	if (p->err) {
		p->err->placed = true;
		p->err->at = at;
		p->err->length = length;
	}
	return false;
}

static bool hash_bones(const struct clip_text *p, struct bones *b)
{
	for (uint32_t i = 0; i < p->clip->track_count; i++)
		if (string_map_add(&b->old, p->clip->tracks[i].label, i) < 0)
			return err_memory(p->err);
	return true;
}

static bool read_bones(struct clip_text *p, struct bones *b, const struct spot *list)
{
	static const char *const members[] = {"bone", "name", "was", NULL};
	size_t count = token_count(list->value);
	struct track *tracks = arena_alloc(&p->edited->arena, count + 1, sizeof(*tracks));
	bool *moved = arena_alloc(&p->edited->arena, count + 1, sizeof(*moved));
	struct spot s;

	if (!tracks || !moved || !hash_bones(p, b))
		return err_memory(p->err);
	for (s = spot_first(list); s.value; spot_next(&s))
		if (!spot_object(&s, p->err) || !spot_known(&s, members, NULL, p->err) ||
		    !read_clip_bone(p, b, &s, &tracks[s.index], &moved[s.index]))
			return false;
	if (p->at->anim->format->paths && !clip_paths_settle(p, tracks, (uint32_t)count, moved))
		return false;
	p->clip->tracks = tracks;
	p->clip->tracks_own = true;
	p->clip->track_count = (uint32_t)count;
	return true;
}

bool clip_text_bones(struct clip_text *p)
{
	struct spot list = spot_member(&p->root, "bones");
	struct bones b = {.old = {.slots = NULL}};
	bool fine;

	if (!clip_text_changed(p, &list))
		return true;
	if (!spot_array(&list, p->err))
		return false;
	fine = read_bones(p, &b, &list);
	string_map_release(&b.old);
	string_map_release(&b.taken);
	string_map_release(&b.made);
	string_map_release(&b.apart);
	return fine;
}
