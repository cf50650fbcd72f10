/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree.h"

#include "../names.h"
#include "../num.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BONES "bones"
#define FRAMES "frames"
#define FRAME_PREFIX "frame_"
#define FRAME_DIGITS 5

const char *const tree_inner_folders[2] = {BONES, FRAMES};

void tree_raw_name(const char *file_name, const struct format *format, char out[NAME_MAX + 1])
{
	snprintf(out, NAME_MAX + 1, "raw.%s", file_extension(file_name, format));
}

bool view_set_parse(const char *list, view_set *out, struct err *err)
{
	*out = 0;
	while (*list) {
		size_t length = strcspn(list, ",:");
		bool known = false;

		for (unsigned i = 0; views[i]; i++) {
			if (strlen(views[i]->name) != length ||
			    strncmp(views[i]->name, list, length) != 0)
				continue;
			*out |= (view_set)1 << i;
			known = true;
		}
		if (!known)
			return err_set(err, ERR_TEXT, "\"%.*s\" is not a view", (int)length, list);
		list += length;
		list += *list != '\0';
	}
	return true;
}

static void view_file_name(const struct tree *t, const struct view *view, char out[NAME_MAX + 1])
{
	if (view->whole)
		tree_raw_name(t->file_name, t->version->codec->format, out);
	else
		snprintf(out, NAME_MAX + 1, "%s", view->file);
}

static bool is_view_file(const struct tree *t, const struct view *view, const char *name)
{
	char file[NAME_MAX + 1];

	if (!view->whole)
		return strcmp(view->file, name) == 0;
	view_file_name(t, view, file);
	return strcmp(file, name) == 0;
}

struct shown tree_shown(const struct tree *t, const struct place *place)
{
	return (struct shown){
		.anim = t->version->anim,
		.raw = buf_bytes(&t->version->bytes),
		.file_name = t->file_name,
		.skeleton = rest_skeleton(t->version->rest),
		.style = t->version->style,
		.clip = place->clip,
		.track = place->track,
		.frame = place->frame,
	};
}

/* 0, ENOENT, or ENOMEM when out of memory. */
static int place_check(const struct tree *t, const struct place *place)
{
	struct shown at = tree_shown(t, place);

	if (place->view->check)
		return place->view->check(&at);
	return !place->view->present || place->view->present(&at) ? 0 : ENOENT;
}

bool tree_alike(const struct tree *t, const struct place *place)
{
	struct shown at = tree_shown(t, place);

	return place->view->alike && place->view->alike(&at);
}

static atomic_size_t text_limit = DEFAULT_MAX_TEXT;

void tree_text_limit(size_t bytes)
{
	text_limit = bytes < TEXT_MAX ? bytes : TEXT_MAX;
}

/* The shortest text that a key can have in a view of all keys. */
#define KEY_LENGTH 4

/* Is it known without rendering that the text would be longer than its limit? */
static bool is_too_long(const struct shown *at, const struct view *view, size_t limit)
{
	const struct clip *clip = at->anim->clips + at->clip;
	uint64_t keys = 0;

	for (uint32_t i = 0; view->every_key && i < clip->track_count; i++) {
		for (int role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = clip->tracks[i].curve[role];

			keys += c ? curve_shown(c, clip->frames) : 0;
		}
	}
	return keys > limit / KEY_LENGTH;
}

int tree_render(const struct tree *t, const struct place *place, struct buf *out)
{
	struct shown at = tree_shown(t, place);

	out->limit = place->view->whole ? 0 : text_limit;
	if (is_too_long(&at, place->view, text_limit))
		out->failed = out->full = true;
	else
		place->view->render(&at, out);
	out->limit = 0;
	if (!out->failed)
		return 0;
	return out->full ? EFBIG : ENOMEM;
}

/*
 * The view of the kind that a folder holds which has this name, for the file and clip folders.
 * ENOENT, and the view in *out, where it is not present; none where no view has the name.
 */
static int lookup_view(const struct tree *t, const struct place *folder, enum view_place of,
		       const char *name, struct place *out)
{
	out->view = NULL;
	for (unsigned i = 0; views[i]; i++) {
		if (views[i]->place != of || !is_view_file(t, views[i], name))
			continue;
		*out = (struct place){PLACE_VIEW, views[i], folder->clip, 0, 0};
		return place_check(t, out);
	}
	return ENOENT;
}

/* A clip of stills is shown in the texts of its file. */
static bool has_clip_folders(const struct tree *t)
{
	return !t->version->codec->format->stills;
}

static int lookup_in_file(const struct tree *t, const struct place *folder, const char *name,
			  struct place *out)
{
	int error = lookup_view(t, folder, VIEW_OF_FILE, name, out);
	int64_t clip;

	if (error != ENOENT)
		return error;
	clip = has_clip_folders(t) ? version_clip(t->version, name) : -1;
	if (clip < 0)
		return ENOENT;
	*out = (struct place){PLACE_CLIP, NULL, (uint32_t)clip, 0, 0};
	return 0;
}

static const struct view *frame_view(const struct tree *t, uint32_t clip)
{
	for (unsigned i = 0; views[i]; i++) {
		struct place first = {PLACE_VIEW, views[i], clip, 0, 0};

		if (views[i]->place == VIEW_OF_FRAME && place_check(t, &first) == 0)
			return views[i];
	}
	return NULL;
}

/* A clip without a bone still has the folder for them. */
static bool has_bones(const struct tree *t, uint32_t clip)
{
	for (unsigned i = 0; views[i]; i++) {
		struct place first = {PLACE_VIEW, views[i], clip, 0, 0};

		if (views[i]->place == VIEW_OF_BONE && place_check(t, &first) == 0)
			return true;
	}
	return false;
}

static int lookup_in_clip(const struct tree *t, const struct place *folder, const char *name,
			  struct place *out)
{
	int error = lookup_view(t, folder, VIEW_OF_CLIP, name, out);

	if (error != ENOENT)
		return error;
	if (strcmp(name, BONES) == 0 && has_bones(t, folder->clip))
		*out = (struct place){PLACE_BONES, NULL, folder->clip, 0, 0};
	else if (strcmp(name, FRAMES) == 0 && frame_view(t, folder->clip))
		*out = (struct place){PLACE_FRAMES, NULL, folder->clip, 0, 0};
	else
		return ENOENT;
	return 0;
}

static int lookup_in_bones(const struct tree *t, const struct place *folder, const char *name,
			   struct place *out)
{
	char label[NAME_MAX + 1];
	size_t length = strlen(name);

	for (unsigned i = 0; views[i]; i++) {
		size_t suffix = strlen(views[i]->file);
		int64_t track;

		if (views[i]->place != VIEW_OF_BONE || length < suffix ||
		    length - suffix > NAME_MAX ||
		    strcmp(name + length - suffix, views[i]->file) != 0)
			continue;
		memcpy(label, name, length - suffix);
		label[length - suffix] = '\0';
		track = version_track(t->version, folder->clip, label);
		if (track < 0)
			continue;
		*out = (struct place){PLACE_VIEW, views[i], folder->clip, (uint32_t)track, 0};
		return place_check(t, out);
	}
	return ENOENT;
}

static void frame_name(const struct view *view, uint32_t frame, char out[NAME_MAX + 1])
{
	snprintf(out, NAME_MAX + 1, FRAME_PREFIX "%0*u%s", FRAME_DIGITS, frame, view->file);
}

static int lookup_in_frames(const struct tree *t, const struct place *folder, const char *name,
			    struct place *out)
{
	const struct view *view = frame_view(t, folder->clip);
	char canonical[NAME_MAX + 1];
	uint32_t frame;

	if (!view || strncmp(name, FRAME_PREFIX, strlen(FRAME_PREFIX)) != 0)
		return ENOENT;
	frame = (uint32_t)strtoul(name + strlen(FRAME_PREFIX), NULL, 10);
	frame_name(view, frame, canonical);
	if (strcmp(name, canonical) != 0)
		return ENOENT;
	*out = (struct place){PLACE_VIEW, view, folder->clip, 0, frame};
	return place_check(t, out);
}

int tree_find(const struct tree *t, const struct place *folder, const char *name, struct place *out)
{
	switch (folder->kind) {
	case PLACE_FILE:
		return lookup_in_file(t, folder, name, out);
	case PLACE_CLIP:
		return lookup_in_clip(t, folder, name, out);
	case PLACE_BONES:
		return lookup_in_bones(t, folder, name, out);
	case PLACE_FRAMES:
		return lookup_in_frames(t, folder, name, out);
	case PLACE_VIEW:
		break;
	}
	return ENOENT;
}

bool tree_lookup(const struct tree *t, const struct place *folder, const char *name,
		 struct place *out)
{
	return tree_find(t, folder, name, out) == 0;
}

bool tree_walk(const struct tree *t, const char *path, struct place *out)
{
	char name[NAME_MAX + 1];

	*out = (struct place){PLACE_FILE, NULL, 0, 0, 0};
	for (;;) {
		struct place folder = *out;
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 0)
			return true;
		if (length > NAME_MAX)
			return false;
		memcpy(name, path, length);
		name[length] = '\0';
		if (!tree_lookup(t, &folder, name, out))
			return false;
		path += length;
	}
}

void tree_explain(const struct tree *t, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/');
	struct place folder, place;
	char *parent = strndup(path, name ? (size_t)(name - path) : 0);

	if (parent && tree_walk(t, parent, &folder) && folder.kind == PLACE_CLIP &&
	    lookup_view(t, &folder, VIEW_OF_CLIP, name ? name + 1 : path, &place) != 0 &&
	    place.view && place.view->explain) {
		const struct shown at = tree_shown(t, &place);

		place.view->explain(&at, err);
	}
	free(parent);
}

static bool has_clip(const struct place *place)
{
	return place->kind != PLACE_FILE &&
	       !(place->kind == PLACE_VIEW && place->view->place == VIEW_OF_FILE);
}

bool tree_again(const struct tree *t, const struct tree *was, const struct place *place,
		struct place *out)
{
	const struct clip *clip;
	int64_t found;

	*out = *place;
	if (t->version == was->version || !has_clip(place))
		return true;
	clip = &was->version->anim->clips[place->clip];
	found = version_clip(t->version, clip->label);
	if (found < 0)
		return false;
	out->clip = (uint32_t)found;
	if (place->kind != PLACE_VIEW)
		return true;
	if (place->view->place == VIEW_OF_BONE) {
		found = version_track(t->version, out->clip, clip->tracks[place->track].label);
		if (found < 0)
			return false;
		out->track = (uint32_t)found;
	}
	return place_check(t, out) != ENOENT;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The skeleton shows in the text, or decides whether there is one; so may the file's name. */
static uint64_t view_since(const struct version *v, const struct place *place)
{
	const struct view *view = place->view;
	uint64_t since;

	if (view->place == VIEW_OF_FILE)
		return v->generation;
	since = version_since(v, place->clip,
			      view->place == VIEW_OF_BONE ? (int64_t)place->track : -1);
	if (view->posed)
		since = later(since, v->rest_since);
	return view->names_file ? later(since, v->named_since) : since;
}

uint64_t tree_since(const struct tree *t, const struct place *place)
{
	const struct version *v = t->version;

	switch (place->kind) {
	case PLACE_VIEW:
		return view_since(v, place);
	case PLACE_CLIP:
	case PLACE_BONES:
	case PLACE_FRAMES:
		return later(version_since(v, place->clip, -1), v->rest_since);
	case PLACE_FILE:
		break;
	}
	return v->generation;
}

uint64_t tree_names(const struct version *version)
{
	const struct anim *anim = version->anim;
	uint64_t hash = anim->clip_count;

	for (uint32_t i = 0; i < anim->clip_count; i++) {
		const struct clip *clip = &anim->clips[i];

		hash = XXH3_64bits_withSeed(clip->label, strlen(clip->label), hash ^ clip->frames);
		for (uint32_t j = 0; j < clip->track_count; j++) {
			const char *label = clip->tracks[j].label;

			hash = XXH3_64bits_withSeed(label, strlen(label), hash);
		}
	}
	return hash;
}

static bool list_views(const struct tree *t, const struct place *folder, enum view_place of,
		       view_set listed, tree_each *each, void *closure)
{
	char name[NAME_MAX + 1];

	for (unsigned i = 0; views[i]; i++) {
		struct place place = {PLACE_VIEW, views[i], folder->clip, 0, 0};
		int error;

		if (views[i]->place != of || !(listed >> i & 1))
			continue;
		error = place_check(t, &place);
		if (error == ENOENT)
			continue;
		view_file_name(t, views[i], name);
		if (error || !each(closure, name, &place))
			return false;
	}
	return true;
}

static bool list_file(const struct tree *t, const struct place *folder, view_set listed,
		      tree_each *each, void *closure)
{
	const struct anim *anim = t->version->anim;

	if (!list_views(t, folder, VIEW_OF_FILE, listed, each, closure))
		return false;
	for (uint32_t i = 0; has_clip_folders(t) && i < anim->clip_count; i++) {
		struct place place = {PLACE_CLIP, NULL, i, 0, 0};

		if (!each(closure, anim->clips[i].label, &place))
			return false;
	}
	return true;
}

static bool is_listed(view_set listed, enum view_place of)
{
	for (unsigned i = 0; views[i]; i++) {
		if (views[i]->place == of && (listed >> i & 1))
			return true;
	}
	return false;
}

static bool list_clip(const struct tree *t, const struct place *folder, view_set listed,
		      tree_each *each, void *closure)
{
	struct place bones = {PLACE_BONES, NULL, folder->clip, 0, 0};
	struct place frames = {PLACE_FRAMES, NULL, folder->clip, 0, 0};

	if (!list_views(t, folder, VIEW_OF_CLIP, listed, each, closure))
		return false;
	if (is_listed(listed, VIEW_OF_FRAME) && frame_view(t, folder->clip) &&
	    !each(closure, FRAMES, &frames))
		return false;
	return !is_listed(listed, VIEW_OF_BONE) || !has_bones(t, folder->clip) ||
	       each(closure, BONES, &bones);
}

static bool list_bones(const struct tree *t, const struct place *folder, view_set listed,
		       tree_each *each, void *closure)
{
	const struct clip *clip = &t->version->anim->clips[folder->clip];
	char name[2 * NAME_MAX];

	for (uint32_t track = 0; track < clip->track_count; track++) {
		for (unsigned i = 0; views[i]; i++) {
			struct place place = {PLACE_VIEW, views[i], folder->clip, track, 0};

			if (views[i]->place != VIEW_OF_BONE || !(listed >> i & 1) ||
			    place_check(t, &place) != 0)
				continue;
			snprintf(name, sizeof(name), "%s%s", clip->tracks[track].label,
				 views[i]->file);
			if (!each(closure, name, &place))
				return false;
		}
	}
	return true;
}

static bool list_frames(const struct tree *t, const struct place *folder, tree_each *each,
			void *closure)
{
	const struct view *view = frame_view(t, folder->clip);
	uint32_t frames = t->version->anim->clips[folder->clip].frames;
	char name[NAME_MAX + 1];

	for (uint32_t i = 0; view && i < frames; i++) {
		struct place place = {PLACE_VIEW, view, folder->clip, 0, i};

		frame_name(view, i, name);
		if (!each(closure, name, &place))
			return false;
	}
	return true;
}

bool tree_list(const struct tree *t, const struct place *folder, view_set listed, tree_each *each,
	       void *closure)
{
	switch (folder->kind) {
	case PLACE_FILE:
		return list_file(t, folder, listed, each, closure);
	case PLACE_CLIP:
		return list_clip(t, folder, listed, each, closure);
	case PLACE_BONES:
		return list_bones(t, folder, listed, each, closure);
	case PLACE_FRAMES:
		return list_frames(t, folder, each, closure);
	case PLACE_VIEW:
		break;
	}
	return true;
}
