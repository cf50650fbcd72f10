/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view.h"
#include "diagnostics.h"
#include "known.h"
#include "pinned.h"

#include "store/parts.h"
#include "store/recent.h"
#include "util/composed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sight_release(struct sight *s)
{
	version_put(s->version);
	s->version = NULL;
}

/* ---- places of views ---- */

static enum thing_kind view_kind_of(const struct place *place)
{
	static const enum thing_kind kinds[] = {[PLACE_FILE] = THING_ANIMATION,
						[PLACE_CLIP] = THING_CLIP,
						[PLACE_BONES] = THING_BONES,
						[PLACE_FRAMES] = THING_FRAMES,
						[PLACE_VIEW] = THING_VIEW};

	return kinds[place->kind];
}

/* Checks that an optional view is present in the version. Returns 0, ENOENT or ENOMEM. */
static int check_present(const struct version *version, const struct place *place)
{
	const struct tree tree = {version, version->file_name};
	const struct view *view = place->kind == PLACE_VIEW ? place->view : NULL;
	struct shown shown;

	if (!view || !(view->present || view->check))
		return 0;
	shown = tree_shown(&tree, place);
	if (view->check)
		return view->check(&shown);
	return view->present(&shown) ? 0 : ENOENT;
}

bool view_is_torn(const struct thing *thing, const struct version *version)
{
	return thing->kind == THING_VIEW && thing->animation->damaged &&
	       thing->view.generation > version->generation;
}

/*
 * Finds the place in a version that the caller has. Returns 0, ENOENT, EIO if the text would be
 * torn (view_is_torn), or ESTALE if the nodes already have the names of a later version, so that a
 * renamed clip would not be found.
 */
static int find_by_names(const struct target *t, const struct version *version, struct place *out)
	REQUIRES(vfs_class)
{
	const struct animation *a = t->thing->animation;

	if (t->thing->node != t->node || (version->generation < a->generation && !a->damaged))
		return ESTALE;
	if (view_is_torn(t->thing, version))
		return EIO;
	return place_by_names(t->node, version, out) ? 0 : ENOENT;
}

int place_in(struct vfs *v, const struct target *folder, const struct version *version,
	     const char *name, struct place *out)
{
	struct tree tree = {version, version->file_name};
	struct place above;
	int error;

	vfs_lock(v);
	error = find_by_names(folder, version, &above);
	vfs_unlock(v);
	if (!error)
		error = check_present(version, &above);
	return error ? error : tree_find(&tree, &above, name, out);
}

int place_find(struct vfs *v, const struct target *folder, const char *name, struct place *out,
	       bool *found)
{
	struct version *version;
	struct stat st;
	unsigned tries = 0;
	int error;

	do {
		error = animation_look(v, folder->thing->animation, &version, &st);
		if (error)
			return error;
		diagnose_stills(v, folder->thing->animation, version);
		error = place_in(v, folder, version, name, out);
		version_put(version);
	} while (target_retry(v, folder, error, &tries));
	*found = !error;
	return error == ENOENT ? 0 : error;
}

static struct node *new_place(struct vfs *v, struct node *parent, struct animation *a,
			      const char *name, const struct place *place) REQUIRES(vfs_class)
{
	struct nodes *t = &v->nodes;
	struct thing *thing = place->kind == PLACE_VIEW ? thing_view(t, a, place->view)
							: thing_of(t, view_kind_of(place), a);
	struct node *node = thing ? nodes_add(t, thing, name) : NULL;

	thing_put(t, thing);
	if (!node)
		return NULL;
	node->shown_ino = virtual_ino(parent, name);
	if (nodes_link(t, node, parent, name))
		return node;
	node_put(t, node);
	return NULL;
}

int place_node(struct vfs *v, const struct target *parent, const char *name,
	       const struct place *place, struct target *out)
{
	struct animation *a = parent->thing->animation;
	struct node *node = NULL;
	bool stands;

	vfs_lock(v);
	stands = parent->node->thing == parent->thing;
	if (stands)
		node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == view_kind_of(place) && node->thing->animation == a)
		node_get(node);
	else if (stands)
		node = new_place(v, parent->node, a, name, place);
	if (node)
		*out = (struct target){node, thing_get(node->thing)};
	vfs_unlock(v);
	return node ? 0 : stands ? ENOMEM : ESTALE;
}

/* ---- the version that a view shows ---- */

/*
 * Returns in *out the version that an open view was opened with; EIO if that was dropped, ENOENT if
 * the view shows the latest.
 */
static int take_pinned(const struct target *t, struct sight *out) REQUIRES(vfs_class)
{
	const struct view_state *view = &t->thing->view;

	*out = (struct sight){.version = NULL};
	if (t->thing->kind != THING_VIEW || !(view->version || view->lost))
		return ENOENT;
	if (!view->version)
		return EIO;
	out->version = version_get(view->version);
	out->place = view->place;
	return 0;
}

static int pinned_sight(struct vfs *v, const struct target *t, struct sight *out)
{
	int error;

	vfs_lock(v);
	error = take_pinned(t, out);
	vfs_unlock(v);
	return error;
}

/*
 * Finds the view's place in the latest version. If the view has a pinned version by then, for
 * example because animation_look has found a new version that replaced the view, returns the pinned
 * version. ESTALE: the latest version is already outdated.
 */
static int latest_sight(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
{
	struct animation *a = t->thing->animation;
	struct version *latest;
	bool pinned;
	int error = animation_look(v, a, &latest, st);

	if (error)
		return error;
	diagnose_stills(v, a, latest);
	vfs_lock(v);
	error = take_pinned(t, out);
	pinned = error != ENOENT;
	if (!pinned)
		error = find_by_names(t, latest, &out->place);
	vfs_unlock(v);
	if (!pinned && !error)
		error = check_present(latest, &out->place);
	if (!pinned && !error)
		out->version = version_get(latest);
	version_put(latest);
	return error;
}

int sight_in(struct vfs *v, const struct target *t, const struct sight *latest, struct sight *out)
{
	int error;

	vfs_lock(v);
	error = take_pinned(t, out);
	if (error == ENOENT)
		error = view_is_torn(t->thing, latest->version) ? EIO : 0;
	if (!error && !out->version)
		*out = (struct sight){version_get(latest->version), latest->place};
	vfs_unlock(v);
	return error;
}

int sight_of(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
{
	int error = pinned_sight(v, t, out);
	unsigned tries = 0;

	if (error != ENOENT) {
		if (error || animation_stat(v, t->thing->animation, st) != 0)
			*st = (struct stat){.st_mode = 0};
		return error;
	}
	do
		error = latest_sight(v, t, out, st);
	while (target_retry(v, t, error, &tries));
	return error;
}

/* Is it a name like that of a bone's text? Editors make ".x" and "x.csv~". */
static bool is_like_bone(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name && name[0] != '.' &&
	       (strcmp(dot, ".csv") == 0 || strcmp(dot, ".json") == 0);
}

/*
 * Writes a warning if the folder has a text whose name looks the same, in another form of composed
 * characters.
 */
static void warn_of_alike(struct vfs *v, const struct target *folder, const char *name, char *out,
			  size_t size)
{
	char path[TREE_PATH_MAX], points[NAME_MAX + 1], others[NAME_MAX + 1];
	struct sight s;
	struct place place;
	struct tree tree;
	struct stat st;

	*out = '\0';
	if (!composed_may_differ(name) || sight_of(v, folder, &s, &st) != 0)
		return;
	tree = sight_tree(&s);
	if (tree_find_alike(&tree, &s.place, name, &place)) {
		tree_path(&tree, &place, path);
		composed_points(name, points, sizeof(points));
		composed_points(strrchr(path, '/') + 1, others, sizeof(others));
		snprintf(
			out, size,
			"its name looks like that of a bone's text, but is written %s and not %s; ",
			points, others);
	}
	sight_release(&s);
}

void view_diagnose_no_bone(struct vfs *v, const struct target *folder, const char *name)
{
	char alike[2 * NAME_MAX + 128], reason[sizeof(alike) + 128], *path = NULL;

	if (folder->thing->kind != THING_BONES || !is_like_bone(name) ||
	    path_of(v, folder->node, name, &path) != 0)
		return;
	warn_of_alike(v, folder, name, alike, sizeof(alike));
	snprintf(reason, sizeof(reason),
		 "%sit is an ordinary file, kept beside the texts; animfs bone add makes a bone, "
		 "animfs bone rename renames one",
		 alike);
	diagnose(v, path, "no bone", reason);
	free(path);
}

void view_pin(struct node *node, const struct sight *s)
{
	struct view_state *view = &node->thing->view;

	if (view->version)
		return;
	view->version = version_get(s->version);
	view->place = s->place;
}

void view_closed(struct vfs *v, struct node *node)
{
	const struct draft *draft = node->thing->view.draft;

	/* No program can read or save the draft of a detached view any more. */
	if (node->thing->view.standing == DETACHED && draft && !draft_is_committing(draft))
		view_drop_draft(v, node);
	if (!node->thing->view.draft)
		view_drop_program(node);
	if (!v->unopened_files && node->thing->view.standing == STANDS)
		view_unpin(v, node->thing);
}

/* ---- the text ---- */

/*
 * Returns the text that is in memory, with a reference: that of the draft, or the rendered one; or
 * NULL.
 */
static struct text *known_text(struct vfs *v, const struct target *t)
{
	const struct view_state *view = &t->thing->view;
	struct text *text;

	vfs_lock(v);
	text = view->draft ? text_get(view->draft->text) : pinned_text(v, t->thing);
	if (view->draft && !text) {
		struct buf empty = BUF_INIT;

		text = text_new(&empty);
	}
	vfs_unlock(v);
	return text;
}

static int view_render(struct vfs *v, const struct sight *s, struct text **out)
{
	struct tree tree = sight_tree(s);
	struct buf text = BUF_INIT;
	int error = tree_render(&tree, &s->place, &text);

	v->rendered++;
	if (error) {
		buf_release(&text);
		return error;
	}
	if (!v->read_only)
		known_serve(s->version, &s->place, buf_bytes(&text));
	*out = text_new(&text);
	return *out ? 0 : ENOMEM;
}

/* Returns the text in this sight: renders it, or gets it from recent.h. */
static int sight_text(struct vfs *v, const struct node *node, const struct sight *s,
		      struct text **out)
{
	struct tree tree = sight_tree(s);
	uint64_t since = tree_since(&tree, &s->place);
	int error;

	*out = recent_get(v->recent, node->id, since);
	if (*out)
		return 0;
	error = view_render(v, s, out);
	if (!error)
		recent_put(v->recent, node->id, since, *out);
	return error;
}

/* Keeps the text with the view, if the view is open in this version. */
static void keep_text(struct vfs *v, const struct target *t, const struct sight *s,
		      struct text *text)
{
	const struct view_state *view = &t->thing->view;

	vfs_lock(v);
	if (view->version == s->version && !view->draft)
		pinned_keep_text(v, t->thing, text);
	vfs_unlock(v);
}

int view_text(struct vfs *v, const struct target *t, struct text **out)
{
	struct sight s;
	struct stat st;
	int error;

	*out = known_text(v, t);
	if (*out)
		return 0;
	error = sight_of(v, t, &s, &st);
	if (error)
		return error;
	error = sight_text(v, t->node, &s, out);
	if (!error)
		keep_text(v, t, &s, *out);
	sight_release(&s);
	return error;
}

/* ---- the size of a text ---- */

/*
 * Notes the size of the view's text that the kernel was sent, and the version that it belongs to.
 */
static void note_size(struct thing *thing, const struct sight *s, uint64_t size) REQUIRES(vfs_class)
{
	struct view_state *view = &thing->view;

	if (view->generation >= s->version->generation)
		return;
	view->generation = s->version->generation;
	view->size = (uint32_t)size;
}

/*
 * Returns whether the size is known, from an earlier text or from another still of a clip whose
 * stills are all alike, and the size in *out.
 */
static bool known_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t *out)
{
	const struct view_state *view = &t->thing->view;
	const struct animation *a = t->thing->animation;
	struct tree tree = sight_tree(s);
	uint64_t since = tree_since(&tree, &s->place);
	bool known = true;

	vfs_lock(v);
	if (view->draft)
		*out = text_bytes(view->draft->text).size;
	else if (view->generation >= since)
		*out = view->size;
	else if (s->place.view->place == VIEW_OF_FRAME && a->still.clip == s->place.clip &&
		 a->still.generation == s->version->generation)
		*out = a->still.size;
	else
		known = false;
	if (known && !view->draft)
		note_size(t->thing, s, *out);
	vfs_unlock(v);
	return known;
}

void view_note_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t size)
{
	struct animation *a = t->thing->animation;
	struct tree tree = sight_tree(s);
	bool alike = tree_alike(&tree, &s->place);

	vfs_lock(v);
	if (!t->thing->view.draft)
		note_size(t->thing, s, size);
	if (alike) {
		a->still.generation = s->version->generation;
		a->still.clip = s->place.clip;
		a->still.size = (uint32_t)size;
	}
	vfs_unlock(v);
}

int view_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t *out)
{
	struct tree tree = sight_tree(s);
	struct text *text;
	int error;

	if (known_size(v, t, s, out))
		return 0;
	error = tree_size(&tree, &s->place, out);
	if (!error)
		view_note_size(v, t, s, *out);
	if (error != ENOSYS)
		return error;
	error = sight_text(v, t->node, s, &text);
	if (error)
		return error;
	*out = text_bytes(text).size;
	view_note_size(v, t, s, *out);
	keep_text(v, t, s, text);
	text_put(text);
	return 0;
}

/* ---- other properties of views ---- */

bool view_is_fixed(const struct view *view, const struct version *version)
{
	const struct anim *a = version->anim;

	return a->read_only && (!view->whole || a->format->parts) && !view->parse_skeleton;
}

/*
 * Returns when the things that the text was made of have changed last, as far as they are other
 * files: a drawing with a skeleton, or a text made of stills, changes with those.
 */
static struct timespec made_of_since(const struct sight *s)
{
	const struct view *view = s->place.view;

	if (!view->posed && !view->stills)
		return (struct timespec){0, 0};
	return s->version->stills ? stills_mtime(s->version->stills)
				  : shared_skeleton_mtime(s->version->skeleton);
}

/* Advances the times in *st to `to`, unless they are later already. */
static void advance_times(struct stat *st, struct timespec to)
{
	if (is_later(to, st->st_mtim))
		st->st_mtim = st->st_ctim = to;
}

void view_facts(const struct sight *s, struct stat *st)
{
	const struct view *view = s->place.view;
	int64_t track = view->place == VIEW_OF_BONE ? (int64_t)s->place.track : -1;
	uint32_t base = view->composed ? version_base(s->version, s->place.clip) : COMPOSE_NONE;

	if (view_is_fixed(view, s->version))
		st->st_mode &= ~(mode_t)0222;
	if (s->version->ages.at && view->lists)
		st->st_mtim = st->st_ctim = ages_listed(&s->version->ages).time;
	else if (s->version->ages.at && view->place != VIEW_OF_FILE)
		st->st_mtim = st->st_ctim = version_time(s->version, s->place.clip, track);
	else if (!view->whole)
		advance_times(st, s->version->parts_mtime);
	if (base != COMPOSE_NONE && view->place != VIEW_OF_FILE && s->version->ages.at)
		advance_times(st, version_time(s->version, base, -1));
	advance_times(st, made_of_since(s));
}
