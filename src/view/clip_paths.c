/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip_paths.c - "bones" of clip.json in formats whose names of bones are paths.
 *
 * "name" can be edited there: it is the path, and "bone" is the file-name form of its last part. If
 * you rename a bone, or move it to another path, the bones below it follow, except those whose
 * "name" has another path.
 */
#include "clip_text.h"
#include "model/clip.h"
#include "model/names.h"
#include "text/utf.h"
#include "util/composed.h"
#include "util/string_map.h"

#include <string.h>

/* Returns whether the text is the form in which this stored name is shown. */
static bool says_name(struct clip_text *p, const char *text, const char *name)
{
	struct buf printable = BUF_INIT;
	bool same;

	utf8_printable(name, &printable);
	buf_char(&printable, '\0');
	same = !printable.failed && composed_same((const char *)printable.data, text);
	p->edited->arena.failed |= printable.failed;
	buf_release(&printable);
	return same;
}

/* Returns whether this is the label of a bone at this path; labels may end in a number. */
static bool is_label_of(struct clip_text *p, const char *label, const char *path)
{
	struct buf form = BUF_INIT;
	size_t size;
	bool same;

	name_escape(name_of_bone(p->at->anim->format, path), NAME_LIMIT - NAME_SUFFIX_ROOM, &form);
	size = form.size;
	same = !form.failed && strncmp(label, (const char *)form.data, size) == 0 &&
	       (label[size] == '\0' || label[size] == '~');
	p->edited->arena.failed |= form.failed;
	buf_release(&form);
	return same;
}

bool clip_path_read(struct clip_text *p, const struct spot *entry, const char *label,
		    const char *old, struct track *track, bool *moved)
{
	struct spot s = spot_member(entry, "name");
	const char *text;

	*moved = false;
	if (!s.value)
		return true;
	if (!spot_text(&s, p->err, &text))
		return false;
	if (old && says_name(p, text, old))
		return !p->edited->arena.failed || err_memory(p->err);
	if (!is_label_of(p, label, text)) {
		spot_refuse(&s, p->err, ERR_TEXT, "this path does not end in \"%s\"", label);
		return err_accept(p->err, "a path such as \"root/%s\"", label);
	}
	*moved = true;
	track->name = arena_text(&p->edited->arena, text, strlen(text));
	return track->name || err_memory(p->err);
}

/* ---- the bones below ---- */

struct paths {
	struct clip_text *p;
	struct track *tracks;
	uint32_t count;
	const bool *moved;
	const char **settled;   /* new paths, by track; NULL: not determined yet */
	struct string_map olds; /* tracks, by their old paths */
};

static const char *old_path(const struct paths *s, uint32_t i)
{
	const struct clip *clip = clip_shown(s->p->at);

	return s->tracks[i].origin == ANIM_NEW ? NULL : clip->tracks[s->tracks[i].origin].name;
}

/*
 * Finds the nearest bone above that path, and the length of that bone's path. Returns -1 if there
 * is none.
 */
static int64_t bone_above(struct paths *s, const char *path, size_t *length)
{
	char *above = arena_text(&s->p->edited->arena, path, strlen(path));

	for (char *slash = above ? strrchr(above, '/') : NULL; slash; slash = strrchr(above, '/')) {
		int64_t number;

		*slash = '\0';
		number = string_map_find(&s->olds, above);
		*length = (size_t)(slash - above);
		if (number >= 0)
			return number;
	}
	*length = 0;
	return -1;
}

/*
 * Determines the new path of a bone: the path of the bone above, if it moved, with the rest of the
 * old path.
 */
static const char *view_clip_paths_settle(struct paths *s, uint32_t i)
{
	const char *old = old_path(s, i), *name = s->tracks[i].name, *last, *above;
	struct arena *arena = &s->p->edited->arena;
	size_t length = 0;
	int64_t bone;

	if (s->settled[i] || !old || s->moved[i])
		return s->settled[i] ? s->settled[i] : name;
	last = strrchr(old, '/');
	bone = bone_above(s, old, &length);
	above = bone >= 0 ? view_clip_paths_settle(s, (uint32_t)bone) : "";
	/*
	 * Keep the parts of the path between the bone above and this one, then add this one's own
	 * part.
	 */
	s->settled[i] = !above ? NULL
			: last ? arena_format(arena, "%s%.*s%s", above,
					      (int)(last + 1 - old - (ptrdiff_t)length),
					      old + length, name == old ? last + 1 : name)
			       : name;
	return s->settled[i];
}

bool clip_paths_settle(struct clip_text *p, struct track *tracks, uint32_t count, const bool *moved)
{
	struct paths s = {.p = p, .tracks = tracks, .count = count, .moved = moved};
	bool any = false, fine = true;

	for (uint32_t i = 0; i < count; i++)
		any |= moved[i] || (old_path(&s, i) && tracks[i].name != old_path(&s, i));
	if (!any)
		return true;
	s.settled = arena_alloc(&p->edited->arena, count, sizeof(*s.settled));
	for (uint32_t i = 0; i < count && fine; i++)
		fine = s.settled &&
		       (!old_path(&s, i) || string_map_add(&s.olds, old_path(&s, i), i) >= 0);
	for (uint32_t i = 0; i < count && fine; i++)
		fine = view_clip_paths_settle(&s, i) != NULL;
	for (uint32_t i = 0; i < count && fine; i++)
		tracks[i].name = view_clip_paths_settle(&s, i);
	string_map_release(&s.olds);
	return fine || err_memory(p->err);
}
