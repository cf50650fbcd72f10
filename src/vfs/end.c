/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "end.h"
#include "batches.h"
#include "clips.h"
#include "diagnostics.h"
#include "handle.h"

/* ---- absent names ---- */

/*
 * Returns whether the folder beside a file was removed. The file is still there, so the folder
 * comes back.
 */
static bool whole_folder_is_absent(const struct animation *a) REQUIRES(vfs_class)
{
	for (const struct mark *mark = a->absent.first; mark; mark = mark->next) {
		if (!thing_is_virtual(mark->parent->thing))
			return true;
	}
	return false;
}

/* Appends the path of a text of a bone, one for each folder. */
static void end_note_back(const struct node *parent, const char *name, const struct node **last,
			  struct buf *paths) REQUIRES(vfs_class)
{
	if (parent->thing->kind != THING_BONES || parent == *last)
		return;
	*last = parent;
	node_path_of(parent, name, paths); /* it has its NUL; nothing without a path */
}

static void end_say_back(struct vfs *v, const struct buf *paths)
{
	const char *path = (const char *)paths->data, *end = path + paths->size;

	for (; path < end && !paths->failed; path += strlen(path) + 1)
		diagnose_event(v, path, "came back",
			       "a bone is not removed with its texts; animfs bone remove removes "
			       "it, and so does its line under \"bones\" in clip.json");
}

void end_come_back(struct vfs *v, struct animation *a, struct changes *changes)
{
	const struct node *last = NULL;
	struct buf paths = BUF_INIT;
	bool whole;

	vfs_lock(v);
	whole = whole_folder_is_absent(a);
	while (a->absent.first) {
		const char *name = a->absent.first->name;
		struct node *parent = node_get(a->absent.first->parent);

		if (!whole)
			end_note_back(parent, name, &last, &paths);
		/*
		 * The kernel considers a removed folder dead: take the name from its node, so that
		 * the next lookup makes another one.
		 */
		if (!thing_is_virtual(parent->thing))
			nodes_unlink(&v->nodes, parent, name);
		changes_name(changes, parent, name, false);
		changes_data(changes, parent);
		name_set_present(v, a, parent, name);
		node_put(&v->nodes, parent);
	}
	vfs_unlock(v);
	end_say_back(v, &paths);
	buf_release(&paths);
}

int end_finish(struct vfs *v, struct animation *a, struct changes *changes)
{
	bool removed;
	int error = 0;

	vfs_lock(v);
	removed = a->absent.first && !whole_folder_is_absent(a);
	vfs_unlock(v);
	if (removed)
		error = clips_take_out(v, a, changes);
	end_come_back(v, a, changes);
	return error;
}

/* ---- drafts ---- */

/* What becomes of a saved text that no program has continued to edit. */
enum saved_text {
	TEXT_STAYS,
	TEXT_IS_OURS, /* the draft goes; the view renders the same text without it */
	TEXT_GOES,    /* the draft is dropped, and the view renders another text */
};

static enum saved_text judge_saved(const struct sight *s, struct bytes text)
{
	const struct tree tree = sight_tree(s);
	enum saved_text is = TEXT_GOES;
	struct buf own = BUF_INIT;

	if (tree_render(&tree, &s->place, &own) == 0) {
		if (bytes_equal(text, buf_bytes(&own)))
			is = TEXT_IS_OURS;
		else if (!draft_says_less(s->place.view, text, buf_bytes(&own)))
			is = TEXT_STAYS;
	}
	buf_release(&own);
	return is;
}

static void expire_draft(struct vfs *v, const struct target *t, const struct text *text,
			 enum saved_text is, struct changes *changes) REQUIRES(vfs_class)
{
	struct draft *draft = t->thing->view.draft;

	if (!draft || draft->text != text || node_writers(t->node) || t->node->thing != t->thing ||
	    !draft_expire(draft))
		return;
	view_release_draft(v, t->node);
	if (is == TEXT_IS_OURS)
		view_drop_draft(v, t->node);
	else if (is == TEXT_GOES)
		view_part(v, t->node, changes);
}

static void end_saved(struct vfs *v, const struct target *t, struct changes *changes)
{
	struct sight s = {.version = NULL};
	enum saved_text is = TEXT_GOES;
	struct text *text = NULL;
	struct stat st;

	vfs_lock(v);
	if (t->thing->view.draft)
		text = text_get(t->thing->view.draft->text);
	vfs_unlock(v);
	if (!text)
		return;
	if (sight_of(v, t, &s, &st) == 0)
		is = judge_saved(&s, text_bytes(text));
	vfs_lock(v);
	expire_draft(v, t, text, is, changes);
	vfs_unlock(v);
	if (is == TEXT_IS_OURS)
		view_note_size(v, t, &s, text_bytes(text).size);
	sight_release(&s);
	text_put(text);
}

/*
 * Ends an incomplete or saved draft that no program has continued to edit. Returns 0, or an errno
 * if the text is refused.
 */
static int end_draft(struct vfs *v, const struct target *t, struct changes *changes)
	REQUIRES(writer_class)
{
	struct draft *draft;
	bool unsaved, stays = true;
	int error = 0;

	vfs_lock(v);
	draft = t->thing->view.draft;
	unsaved = draft && draft_is_unsaved(draft);
	vfs_unlock(v);
	if (unsaved)
		error = view_commit_locked(v, t, DRAFT_END, changes);
	vfs_lock(v);
	draft = t->thing->view.draft;
	if (draft && !node_writers(t->node) && t->node->thing == t->thing)
		stays = view_settle(v, t->node, changes);
	vfs_unlock(v);
	if (stays && !unsaved)
		end_saved(v, t, changes);
	return error;
}

/* Finds the next view with a draft that is due by `now`; *t has references. */
static bool next_draft(struct vfs *v, struct animation *a, int64_t now, struct thing **at,
		       struct target *out)
{
	struct thing *thing, *was = *at;

	vfs_lock(v);
	for (thing = was ? was->next_member : a->members; thing; thing = thing->next_member) {
		if (thing->kind == THING_VIEW && thing->view.draft && thing->view.draft->base &&
		    thing->view.standing != DETACHED && thing->node && !node_writers(thing->node) &&
		    draft_due(thing->view.draft) <= now)
			break;
	}
	*at = thing ? thing_get(thing) : NULL;
	if (thing)
		*out = (struct target){node_get(thing->node), thing_get(thing)};
	thing_put(&v->nodes, was);
	vfs_unlock(v);
	return thing != NULL;
}

/* Ends all drafts that are due by `now`. Returns 0 or the first errno. */
static int end_drafts(struct vfs *v, struct animation *a, int64_t now, struct changes *changes)
	REQUIRES(writer_class)
{
	struct thing *at = NULL;
	int first = 0, error;
	struct target t;

	while (next_draft(v, a, now, &at, &t)) {
		error = end_draft(v, &t, changes);
		first = first ? first : error;
		target_put(v, &t);
	}
	return first;
}

/* ---- the end of unfinished work ---- */

/* Returns when there is more to end (clock_ms); 0 if nothing is left. */
static int64_t next_end(const struct animation *a, int64_t now) REQUIRES(vfs_class)
{
	bool quiet = !a->absent.first && now - a->touched >= END_MS;
	int64_t next = quiet ? 0 : a->touched + END_MS;

	for (const struct thing *thing = a->members; thing; thing = thing->next_member) {
		const struct draft *draft = thing->kind == THING_VIEW ? thing->view.draft : NULL;

		if (!draft || !draft->base || !thing->node || node_writers(thing->node) ||
		    thing->view.standing == DETACHED)
			continue;
		if (!next || draft_due(draft) < next)
			next = draft_due(draft);
	}
	return next;
}

int end_now(struct vfs *v, struct animation *a, struct changes *changes)
{
	int refused, error;

	writer_lock(a);
	refused = end_drafts(v, a, INT64_MAX, changes);
	error = end_finish(v, a, changes);
	batches_end(v, a, BATCHES_SYNC);
	writer_unlock(a);
	return refused ? refused : error;
}

void end_due(struct vfs *v, void *animation)
{
	struct changes changes = CHANGES_INIT;
	struct animation *a = animation;
	int64_t now = clock_ms(), next, batches;
	bool quiet;

	vfs_lock(v);
	a->ends = 0;
	vfs_unlock(v);
	writer_lock(a);
	(void)end_drafts(v, a, now, &changes);
	quiet = animation_is_quiet(v, a);
	if (quiet)
		end_finish(v, a, &changes);
	batches = batches_end(v, a, quiet ? BATCHES_QUIET : BATCHES_BUSY);
	writer_unlock(a);
	changes_send_all(v, &changes);
	vfs_lock(v);
	next = next_end(a, now);
	if (batches && (!next || batches < next))
		next = batches;
	/* If a draft could not be ended, its time has passed: try again after END_MS. */
	if (next)
		animation_end_at(v, a, next > now ? next : now + END_MS);
	animation_put(v, a);
	vfs_unlock(v);
}
