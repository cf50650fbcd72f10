/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view.h"
#include "held.h"

#include "store/recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sight_release(struct sight *s)
{
	version_put(s->version);
	s->version = NULL;
}

/* ---- places ---- */

static enum thing_kind kind_of(const struct place *place)
{
	static const enum thing_kind kinds[] = {[PLACE_FILE] = THING_ANIMATION,
						[PLACE_CLIP] = THING_CLIP,
						[PLACE_BONES] = THING_BONES,
						[PLACE_FRAMES] = THING_FRAMES,
						[PLACE_VIEW] = THING_VIEW};

	return kinds[place->kind];
}

/* Has a view that is not always there something to say? 0, ENOENT or ENOMEM. */
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

/* The place in a version that the caller has. */
static int place_of(struct vfs *v, const struct target *t, const struct version *version,
		    struct place *out)
{
	bool found;

	vfs_lock(v);
	found = t->thing->node == t->node && place_by_names(t->node, version, out);
	vfs_unlock(v);
	return found ? check_present(version, out) : ENOENT;
}

int place_in(struct vfs *v, const struct target *folder, const struct version *version,
	     const char *name, struct place *out)
{
	struct tree tree = {version, version->file_name};
	struct place above;
	int error = place_of(v, folder, version, &above);

	return error ? error : tree_find(&tree, &above, name, out);
}

static struct node *new_place(struct vfs *v, struct node *parent, struct animation *a,
			      const char *name, const struct place *place) REQUIRES(vfs_class)
{
	struct nodes *t = &v->nodes;
	struct thing *thing = place->kind == PLACE_VIEW ? thing_view(t, a, place->view)
							: thing_of(t, kind_of(place), a);
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
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == kind_of(place))
		node_get(node);
	else
		node = new_place(v, parent->node, parent->thing->animation, name, place);
	if (node)
		*out = (struct target){node, thing_get(node->thing)};
	vfs_unlock(v);
	return node ? 0 : ENOMEM;
}

/* ---- of which version ---- */

/* What an open view was opened with; EIO where that was given up, ENOENT where it is the latest. */
static int pinned_sight(struct vfs *v, const struct target *t, struct sight *out)
{
	const struct view_state *view = &t->thing->view;
	int error = ENOENT;

	*out = (struct sight){.version = NULL};
	vfs_lock(v);
	if (t->thing->kind == THING_VIEW && view->version) {
		error = 0;
		out->version = version_get(view->version);
		out->place = view->place;
	} else if (t->thing->kind == THING_VIEW && view->lost) {
		error = EIO;
	}
	vfs_unlock(v);
	return error;
}

int sight_of(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
{
	struct animation *a = t->thing->animation;
	struct version *latest;
	int error;

	error = pinned_sight(v, t, out);
	if (error != ENOENT) {
		if (error || animation_stat(v, a, st) != 0)
			*st = (struct stat){.st_mode = 0};
		return error;
	}
	error = animation_look(v, a, &out->version, st);
	if (error)
		return error;
	/* Looking may have found a new version, and pinned the view to the one before. */
	latest = out->version;
	error = pinned_sight(v, t, out);
	if (error != ENOENT) {
		version_put(latest);
		return error;
	}
	out->version = latest;
	error = place_of(v, t, latest, &out->place);
	if (error)
		sight_release(out);
	return error;
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

	/* Nobody can read what was written there any more, and nothing saves it. */
	if (node->thing->view.standing == DETACHED && draft && !draft->committing)
		view_drop_draft(v, node);
	if (!v->unopened_files && node->thing->view.standing == STANDS)
		view_unpin(v, node->thing);
}

/* ---- the text ---- */

/* What is at hand: people's own, or the rendered one. */
static struct text *known_text(struct vfs *v, const struct target *t)
{
	const struct view_state *view = &t->thing->view;
	struct text *text;

	vfs_lock(v);
	text = text_get(view->draft ? view->draft->text : view->rendered);
	if (view->draft && !text) {
		struct buf empty = BUF_INIT;

		text = text_new(&empty);
	}
	vfs_unlock(v);
	return text;
}

static int render(struct vfs *v, const struct sight *s, struct text **out)
{
	struct tree tree = sight_tree(s);
	struct buf text = BUF_INIT;
	int error = tree_render(&tree, &s->place, &text);

	v->rendered++;
	if (error) {
		buf_release(&text);
		return error;
	}
	*out = text_new(&text);
	return *out ? 0 : ENOMEM;
}

/* Rendered in this sight, or remembered. */
static int sight_text(struct vfs *v, const struct node *node, const struct sight *s,
		      struct text **out)
{
	struct tree tree = sight_tree(s);
	uint64_t since = tree_since(&tree, &s->place);
	int error;

	*out = recent_get(v->recent, node->id, since);
	if (*out)
		return 0;
	error = render(v, s, out);
	if (!error)
		recent_put(v->recent, node->id, since, *out);
	return error;
}

/* For those who have it open in this sight of it. */
static void keep_text(struct vfs *v, const struct target *t, const struct sight *s,
		      struct text *text)
{
	struct view_state *view = &t->thing->view;

	vfs_lock(v);
	if (view->version == s->version && !view->rendered && !view->draft)
		view->rendered = text_get(text);
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

/* ---- its size ---- */

/* The kernel is told this size now: by it the text is known to be of this version. */
static void note_size(struct thing *thing, const struct sight *s, uint64_t size) REQUIRES(vfs_class)
{
	struct view_state *view = &thing->view;

	if (view->generation >= s->version->generation)
		return;
	view->generation = s->version->generation;
	view->size = (uint32_t)size;
}

/* Known from before, or from another still of a clip in which nothing moves. */
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

/* The size of what was rendered; what people write meanwhile has its own. */
static void note_rendered(struct vfs *v, const struct target *t, const struct sight *s,
			  uint64_t size)
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
	struct text *text;
	int error;

	if (known_size(v, t, s, out))
		return 0;
	error = sight_text(v, t->node, s, &text);
	if (error)
		return error;
	*out = text_bytes(text).size;
	note_rendered(v, t, s, *out);
	keep_text(v, t, s, text);
	text_put(text);
	return 0;
}

/* ---- what else is known of it ---- */

bool view_is_fixed(const struct view *view, const struct version *version)
{
	return version->anim->read_only && !view->whole && !view->parse_skeleton;
}

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

void view_facts(const struct sight *s, struct stat *st)
{
	const struct view *view = s->place.view;
	int64_t track = view->place == VIEW_OF_BONE ? (int64_t)s->place.track : -1;
	struct timespec changed;

	if (view_is_fixed(view, s->version))
		st->st_mode &= ~(mode_t)0222;
	if (view->place != VIEW_OF_FILE && s->version->ages.at)
		st->st_mtim = st->st_ctim = version_time(s->version, s->place.clip, track);
	changed = view->posed ? rest_skeleton_mtime(s->version->rest) : (struct timespec){0, 0};
	/* What is drawn with a skeleton changed when that did, too. */
	if (is_later(changed, st->st_mtim))
		st->st_mtim = st->st_ctim = changed;
}
