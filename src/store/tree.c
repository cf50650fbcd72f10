/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree.h"

#include "model/names.h"
#include "text/num.h"
#include "util/composed.h"
#include "util/nearest.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BONES "bones"
#define FRAMES "frames"
#define FRAME_PREFIX "frame_"
#define FRAME_DIGITS 5

const char *const tree_inner_folders[2] = {BONES, FRAMES};

void tree_raw_name(const char *file_name, const struct format *format, char out[NAME_MAX + 1])
{
	snprintf(out, NAME_MAX + 1, "raw.%s", file_extension(file_name, format));
}

view_set view_set_usual(void)
{
	view_set usual = 0;

	for (unsigned i = 0; views[i]; i++) {
		if (!views[i]->unlisted)
			usual |= (view_set)1 << i;
	}
	return usual;
}

/* Do several views share this name ("csv"), and is this one not the first? */
static bool is_named_before(unsigned index)
{
	for (unsigned i = 0; i < index; i++) {
		if (strcmp(views[i]->name, views[index]->name) == 0)
			return true;
	}
	return false;
}

static bool refuse_view(const char *name, size_t length, struct err *err)
{
	struct nearest near = nearest_to(name, length);
	char meant[128], all[128] = "";
	size_t used = 0;

	for (unsigned i = 0; views[i]; i++) {
		if (is_named_before(i))
			continue;
		nearest_offer(&near, views[i]->name);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used ? ", " : "", views[i]->name);
	}
	nearest_offer(&near, "all");
	nearest_text(&near, meant, sizeof(meant));
	return err_set(err, ERR_TEXT, "\"%.*s\" is not a view%s the views are %s, or all",
		       (int)(length < 64 ? length : 64), name, *meant ? meant : ";", all);
}

bool view_set_parse(const char *list, view_set *out, struct err *err)
{
	*out = 0;
	while (*list) {
		size_t length = strcspn(list, ",:");
		bool known = length == 3 && strncmp(list, "all", 3) == 0;

		if (known)
			*out = VIEW_SET_ALL;

		for (unsigned i = 0; views[i]; i++) {
			if (strlen(views[i]->name) != length ||
			    strncmp(views[i]->name, list, length) != 0)
				continue;
			*out |= (view_set)1 << i;
			known = true;
		}
		if (!known)
			return refuse_view(list, length, err);
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

static bool tree_is_view_file(const struct tree *t, const struct view *view, const char *name)
{
	char file[NAME_MAX + 1];

	if (!view->whole)
		return strcmp(view->file, name) == 0;
	view_file_name(t, view, file);
	return strcmp(file, name) == 0;
}

struct shown tree_shown(const struct tree *t, const struct place *place)
{
	const struct version *v = t->version;
	bool composed = v->composed && place->kind == PLACE_VIEW && place->view->composed;
	bool of_file = composed && place->view->place == VIEW_OF_FILE;
	uint32_t base = composed && !of_file ? version_base(v, place->clip) : COMPOSE_NONE;

	return (struct shown){
		.anim = of_file || base != COMPOSE_NONE ? v->composed : v->anim,
		.stored = base != COMPOSE_NONE ? v->anim : NULL,
		.base = base,
		.raw = buf_bytes(&t->version->bytes),
		.file_name = t->file_name,
		.from = v->from,
		.skeleton = shared_skeleton(t->version->skeleton),
		.stills =
			t->version->stills ? stills_of_clip(t->version->stills, place->clip) : NULL,
		.style = t->version->style,
		.clip = place->clip,
		.track = place->track,
		.frame = place->frame,
	};
}

bool tree_shown_model(const struct tree *t, const struct place *place, const struct anim *model,
		      struct shown *out, struct anim **made)
{
	const struct anim *own = t->version->anim;
	const struct clip *clip = NULL, *base = NULL;
	struct place there = *place;
	uint32_t *bases;

	if (place->view->place != VIEW_OF_FILE)
		clip = clip_labelled(own, place->clip, model->clips[place->clip].label);
	there.clip = clip ? (uint32_t)(clip - own->clips) : UINT32_MAX;
	*out = tree_shown(t, &there);
	if (out->stored)
		base = clip_labelled(model, out->base, own->clips[out->base].label);
	*made = NULL;
	out->anim = model;
	out->clip = place->clip;
	out->stored = base ? model : NULL;
	out->base = base ? (uint32_t)(base - model->clips) : COMPOSE_NONE;
	if (!base)
		return true;
	bases = malloc(model->clip_count * sizeof(*bases));
	for (uint32_t i = 0; bases && i < model->clip_count; i++)
		bases[i] = i == out->clip ? out->base : COMPOSE_NONE;
	*made = bases ? compose(model, bases) : NULL;
	free(bases);
	out->anim = *made;
	return *made != NULL;
}

/* May a folder of this kind have the view? Clips of stills have views of their own. */
static bool tree_is_of(const struct tree *t, const struct view *view, enum view_place of)
{
	return view->place == of &&
	       (of == VIEW_OF_FILE || view->stills == t->version->codec->format->stills);
}

/* Checks whether the view is present. 0, ENOENT or ENOMEM. */
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

/* least number of bytes that a key takes in a view with all keys */
#define KEY_LENGTH 4

/* Is it certain, without rendering, that the text would exceed the limit? */
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

int tree_size(const struct tree *t, const struct place *place, uint64_t *out)
{
	struct shown at = tree_shown(t, place);

	if (!place->view->size)
		return ENOSYS;
	if (is_too_long(&at, place->view, text_limit))
		return EFBIG;
	if (!place->view->size(&at, out))
		return ENOMEM;
	return *out > text_limit ? EFBIG : 0;
}

/*
 * Finds a view by name in the folder of a file or clip. ENOENT with the view in *out if it is not
 * present, without one if no view has the name.
 */
static int lookup_view(const struct tree *t, const struct place *folder, enum view_place of,
		       const char *name, struct place *out)
{
	*out = *folder;
	out->view = NULL;
	for (unsigned i = 0; views[i]; i++) {
		if (!tree_is_of(t, views[i], of) || !tree_is_view_file(t, views[i], name))
			continue;
		*out = (struct place){PLACE_VIEW, views[i], folder->clip, 0, 0};
		return place_check(t, out);
	}
	return ENOENT;
}

static int lookup_in_file(const struct tree *t, const struct place *folder, const char *name,
			  struct place *out)
{
	int error = lookup_view(t, folder, VIEW_OF_FILE, name, out);
	int64_t clip;

	if (error != ENOENT)
		return error;
	clip = version_clip(t->version, name);
	if (clip < 0 || !version_shows_clip(t->version, (uint32_t)clip))
		return ENOENT;
	*out = (struct place){PLACE_CLIP, NULL, (uint32_t)clip, 0, 0};
	return 0;
}

static const struct view *frame_view(const struct tree *t, uint32_t clip)
{
	for (unsigned i = 0; views[i]; i++) {
		struct place first = {PLACE_VIEW, views[i], clip, 0, 0};

		if (tree_is_of(t, views[i], VIEW_OF_FRAME) && place_check(t, &first) == 0)
			return views[i];
	}
	return NULL;
}

/* A clip without bones still has the folder bones/. */
static bool has_bones(const struct tree *t, uint32_t clip)
{
	for (unsigned i = 0; views[i]; i++) {
		struct place first = {PLACE_VIEW, views[i], clip, 0, 0};

		if (tree_is_of(t, views[i], VIEW_OF_BONE) && place_check(t, &first) == 0)
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

		if (!tree_is_of(t, views[i], VIEW_OF_BONE) || length < suffix ||
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

static bool offer_name(void *closure, const char *name, const struct place *place)
{
	(void)place;
	nearest_offer(closure, name);
	return true;
}

/* Refuses a path whose part after `folder` is no name there. */
static bool tree_refuse_name(const struct tree *t, const struct place *folder, const char *path,
			     const char *name, size_t length, struct err *err)
{
	const char *above = t->file_name;
	size_t before = (size_t)(name - path);
	struct nearest near = nearest_to(name, length);
	char meant[192], shown[65], hint[256];

	while (before > 0 && path[before - 1] == '/')
		before--;
	if (before > 0)
		above = path;
	else
		before = strlen(above);
	if (folder->kind == PLACE_VIEW)
		return err_set(err, ERR_OPERAND, "%.*s is a view and not a folder", (int)before,
			       above);
	tree_list(t, folder, VIEW_SET_ALL, offer_name, &near);
	nearest_text(&near, meant, sizeof(meant));
	snprintf(shown, sizeof(shown), "%.*s", (int)(length < 64 ? length : 64), name);
	composed_hint(shown, hint, sizeof(hint));
	return err_set(err, ERR_OPERAND, "there is no \"%s\"%s in %.*s%s", shown, hint, (int)before,
		       above, meant);
}

/* A name that is looked for among others, with its characters taken apart. */
struct alike {
	struct buf wanted, room;
	struct place *out;
	bool found;
};

static bool compare_alike(void *closure, const char *name, const struct place *place)
{
	struct alike *a = closure;

	if (!composed_may_differ(name))
		return true;
	buf_clear(&a->room);
	composed_apart(name, &a->room);
	a->found = !a->room.failed && bytes_equal(buf_bytes(&a->wanted), buf_bytes(&a->room));
	if (a->found)
		*a->out = *place;
	return !a->found;
}

bool tree_find_alike(const struct tree *t, const struct place *folder, const char *name,
		     struct place *out)
{
	struct alike a = {.wanted = BUF_INIT, .room = BUF_INIT, .out = out};

	if (!composed_may_differ(name))
		return false;
	composed_apart(name, &a.wanted);
	if (!a.wanted.failed)
		tree_list(t, folder, VIEW_SET_ALL, compare_alike, &a);
	buf_release(&a.wanted);
	buf_release(&a.room);
	return a.found;
}

bool tree_resolve(const struct tree *t, const char *path, struct place *out, struct err *err)
{
	const char *at = path;
	char name[NAME_MAX + 1];

	*out = (struct place){PLACE_FILE, NULL, 0, 0, 0};
	for (;;) {
		struct place folder = *out;
		size_t length;

		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (length == 0)
			return true;
		if (length <= NAME_MAX) {
			memcpy(name, at, length);
			name[length] = '\0';
		}
		if (length > NAME_MAX || (!tree_lookup(t, &folder, name, out) &&
					  !tree_find_alike(t, &folder, name, out))) {
			if (err)
				tree_explain(t, path, err);
			return err && tree_refuse_name(t, &folder, path, at, length, err);
		}
		at += length;
	}
}

bool tree_walk(const struct tree *t, const char *path, struct place *out)
{
	return tree_resolve(t, path, out, NULL);
}

void tree_path(const struct tree *t, const struct place *place, char out[TREE_PATH_MAX])
{
	const struct clip *clip = &t->version->anim->clips[place->clip];
	char file[NAME_MAX + 1];

	view_file_name(t, place->view, file);
	switch (place->view->place) {
	case VIEW_OF_FILE:
		snprintf(out, TREE_PATH_MAX, "%s", file);
		break;
	case VIEW_OF_CLIP:
		snprintf(out, TREE_PATH_MAX, "%s/%s", clip->label, file);
		break;
	case VIEW_OF_BONE:
		snprintf(out, TREE_PATH_MAX, "%s/" BONES "/%s%s", clip->label,
			 clip->tracks[place->track].label, file);
		break;
	case VIEW_OF_FRAME:
		frame_name(place->view, place->frame, file);
		snprintf(out, TREE_PATH_MAX, "%s/" FRAMES "/%s", clip->label, file);
		break;
	}
}

/* Finds the clip of a path, even if the clip has no folder. */
static bool tree_find_clip(const struct tree *t, const char *path, struct place *out)
{
	int64_t clip;

	if (tree_walk(t, path, out))
		return out->kind == PLACE_CLIP;
	clip = version_clip(t->version, path);
	*out = (struct place){PLACE_CLIP, NULL, clip < 0 ? 0 : (uint32_t)clip, 0, 0};
	return clip >= 0;
}

static void explain_view(const struct tree *t, const struct place *place, struct err *err)
{
	const struct shown at = tree_shown(t, place);

	if (place->view && place->view->explain)
		place->view->explain(&at, err);
}

void tree_explain(const struct tree *t, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/');
	struct place folder = {PLACE_FILE, NULL, 0, 0, 0}, place;
	char *parent = strndup(path, name ? (size_t)(name - path) : 0);

	if ((!name && lookup_view(t, &folder, VIEW_OF_FILE, path, &place) != 0 && place.view) ||
	    (parent && tree_find_clip(t, name ? parent : path, &folder) &&
	     lookup_view(t, &folder, VIEW_OF_CLIP, name ? name + 1 : "clip.x3d", &place) != 0))
		explain_view(t, &place, err);
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

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the generation when the clip's base, and with it the composed text, last changed. */
static uint64_t base_since(const struct version *v, uint32_t clip)
{
	uint32_t base = version_base(v, clip);

	return base == COMPOSE_NONE ? 0 : version_since(v, base, -1);
}

/*
 * Returns the generation when the text of a view last changed. The skeleton may show in the text,
 * or decide whether there is a view; so may the file's name.
 */
static uint64_t view_since(const struct version *v, const struct place *place)
{
	const struct view *view = place->view;
	uint64_t since;

	if (view->place == VIEW_OF_FILE && !(view->lists && v->ages.at))
		return v->generation;
	since = view->lists
			? ages_listed(&v->ages).since
			: version_since(v, place->clip,
					view->place == VIEW_OF_BONE ? (int64_t)place->track : -1);
	if (view->posed)
		since = later_of(since, v->skeleton_since);
	if (view->composed)
		since = later_of(since, base_since(v, place->clip));
	return view->names_file ? later_of(since, v->named_since) : since;
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
		return later_of(later_of(version_since(v, place->clip, -1), v->skeleton_since),
				base_since(v, place->clip));
	case PLACE_FILE:
		break;
	}
	return v->generation;
}

static bool list_views(const struct tree *t, const struct place *folder, enum view_place of,
		       view_set listed, tree_each *each, void *closure)
{
	char name[NAME_MAX + 1];

	for (unsigned i = 0; views[i]; i++) {
		struct place place = {PLACE_VIEW, views[i], folder->clip, 0, 0};
		int error;

		if (!tree_is_of(t, views[i], of) || !(listed >> i & 1))
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
	for (uint32_t i = 0; i < anim->clip_count; i++) {
		struct place place = {PLACE_CLIP, NULL, i, 0, 0};

		if (version_shows_clip(t->version, i) &&
		    !each(closure, anim->clips[i].label, &place))
			return false;
	}
	return true;
}

static bool tree_is_listed(view_set listed, enum view_place of)
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
	if (tree_is_listed(listed, VIEW_OF_FRAME) && frame_view(t, folder->clip) &&
	    !each(closure, FRAMES, &frames))
		return false;
	return !tree_is_listed(listed, VIEW_OF_BONE) || !has_bones(t, folder->clip) ||
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

			if (!tree_is_of(t, views[i], VIEW_OF_BONE) || !(listed >> i & 1) ||
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

static bool tree_list_frames(const struct tree *t, const struct place *folder, tree_each *each,
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
		return tree_list_frames(t, folder, each, closure);
	case PLACE_VIEW:
		break;
	}
	return true;
}
