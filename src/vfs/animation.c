/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animation.h"
#include "handle.h"
#include "known.h"
#include "pinned.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the object ---- */

UNSHARED struct animation *animation_new(struct vfs *v, const char *beside, bool archived)
{
	struct animation *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->source = source_new(v->store);
	if (!a->source) {
		free(a);
		return NULL;
	}
	a->references = 1;
	a->beside = beside;
	a->archived = archived;
	a->end = (struct deadline){.due = v->animation_ends, .user = a};
	a->look = (struct deadline){.due = v->animation_looks, .user = a};
	lock_init(&a->writer);
	return a;
}

void animation_get(struct animation *a)
{
	a->references++;
}

UNSHARED static void animation_free(struct vfs *v, struct animation *a)
{
	known_free(a->known);
	version_put(a->good);
	version_put(a->seen);
	source_free(a->source);
	lock_destroy(&a->writer);
	(void)v;
	free(a);
}

void animation_put(struct vfs *v, struct animation *a)
{
	if (!a || --a->references)
		return;
	marks_release(v, &a->absent);
	marks_release(v, &a->given);
	animation_free(v, a);
}

/* ---- where the file is ---- */

bool animation_name(const struct animation *a, char name[NAME_MAX + 1])
{
	const struct link *link = a->folder && a->folder->node ? node_link(a->folder->node) : NULL;

	if (!link)
		return false;
	strcpy(name, link->name);
	if (a->beside)
		strcpy(strrchr(name, '.'), a->beside);
	return true;
}

/*
 * Finds the node of the file's folder (*parent, referenced), the path of that folder, and the
 * file's name.
 */
static int site_names(struct vfs *v, struct animation *a, struct site *site, struct node **parent)
{
	struct buf path = BUF_INIT;
	int error = 0;

	vfs_lock(v);
	if (!animation_name(a, site->name))
		error = ENOENT;
	if (!error)
		*parent = node_get(node_link(a->folder->node)->parent);
	if (!error) {
		error = node_path(*parent, &path);
		if (error)
			node_put(&v->nodes, *parent);
	}
	vfs_unlock(v);
	site->folder_path = (char *)path.data;
	if (error)
		buf_release(&path);
	return error;
}

/* Finds the animation file in its archive: sets the spot and the loose file in `site`. */
static int animation_find_member(struct vfs *v, const struct node *parent, struct site *site)
{
	int error = spot_of(v, parent, &site->spot, NULL);

	if (error)
		return error;
	site->spot.entry = catalog_find(site->spot.of, site->spot.entry, site->name);
	if (site->spot.entry != CATALOG_NONE &&
	    catalog_kind(site->spot.of, site->spot.entry) == MEMBER_ANIMATION)
		error = loose_site_open(v, parent, &site->spot, &site->loose, NULL);
	else
		error = ENOENT;
	if (error)
		spot_release(&site->spot);
	return error;
}

static int site_try(struct vfs *v, struct animation *a, struct site *site)
{
	struct node *parent;
	int error;

	site->folder = (struct folder)FOLDER_NONE;
	site->spot = (struct spot){NULL, CATALOG_NONE, false};
	site->loose = (struct loose_site){.folder = FOLDER_NONE, .dir = -1};
	error = site_names(v, a, site, &parent);
	if (error)
		return error;
	error = a->archived ? animation_find_member(v, parent, site)
			    : folder_open(v, parent, &site->folder);
	vfs_lock(v);
	node_put(&v->nodes, parent);
	vfs_unlock(v);
	if (error)
		free(site->folder_path);
	return error;
}

static void site_committed(void *closure, struct version *was, struct version *made)
{
	const struct site *site = closure;

	animation_committed(site->vfs, site->animation, was, made);
}

int site_open(struct vfs *v, struct animation *a, struct site *out)
{
	int error = site_try(v, a, out);

	/* A folder above may just have been renamed: wait for the rename, and try again. */
	if (error == ENOENT || error == ESTALE) {
		folders_hold_still(v);
		error = site_try(v, a, out);
		folders_let_move(v);
	}
	if (error)
		return error;
	out->hook = (struct commit_hook){site_committed, out};
	out->vfs = v;
	out->animation = a;
	out->where = a->archived ? loose_where(&out->loose)
				 : (struct where){.dir = out->folder.fd,
						  .folder = out->folder_path,
						  .name = out->name};
	return 0;
}

void site_close(struct vfs *v, struct site *site)
{
	folder_close(v, &site->folder);
	loose_site_close(v, &site->loose);
	spot_release(&site->spot);
	free(site->folder_path);
}

/*
 * Clears the write bits of a file that cannot be edited. Only for members of nested archives: for
 * others finding out takes long.
 */
static void show_editable(const struct site *site, struct stat *st)
{
	if (site->loose.depth > 1 && !loose_check(site->loose.loose, NULL))
		st->st_mode &= ~(mode_t)0222;
}

int site_stat(const struct site *site, struct stat *st)
{
	const struct where *where = &site->where;
	int error = 0;

	if (where->loose)
		error = loose_stat(where->loose, where->dir, st);
	else if (fstatat(where->dir, where->name, st, AT_SYMLINK_NOFOLLOW) != 0)
		error = errno;
	show_editable(site, st);
	return error;
}

int animation_stat(struct vfs *v, struct animation *a, struct stat *st)
{
	struct site site;
	int error = site_open(v, a, &site);

	if (error)
		return error;
	error = site_stat(&site, st);
	site_close(v, &site);
	return error;
}

int animation_check(struct vfs *v, struct animation *a, struct err *err)
{
	struct site site;
	int error;

	if (!a->archived)
		return 0;
	error = site_open(v, a, &site);
	if (error)
		return error;
	error = loose_check(site.where.loose, err) ? 0 : EROFS;
	site_close(v, &site);
	return error;
}

/* ---- places by name ---- */

/* Returns the index of the clip whose folder `folder` is, or is in; -1 if there is none. */
static int64_t animation_clip_of(const struct node *folder, const struct version *version)
	REQUIRES(vfs_class)
{
	const struct link *link;

	if (folder->thing->kind == THING_BONES || folder->thing->kind == THING_FRAMES) {
		link = node_link(folder);
		if (!link)
			return -1;
		folder = link->parent;
	}
	link = node_link(folder);
	return folder->thing->kind == THING_CLIP && link ? version_clip(version, link->name) : -1;
}

static bool bone_by_name(const char *name, const struct view *view, const struct version *version,
			 struct place *out)
{
	size_t length = strlen(name), suffix = strlen(view->file);
	char label[NAME_MAX + 1];
	int64_t track;

	if (length < suffix)
		return false;
	memcpy(label, name, length - suffix);
	label[length - suffix] = '\0';
	track = version_track(version, out->clip, label);
	out->track = (uint32_t)track;
	return track >= 0;
}

static bool view_by_name(const struct link *link, const struct view *view,
			 const struct version *version, struct place *out) REQUIRES(vfs_class)
{
	int64_t clip;

	*out = (struct place){.kind = PLACE_VIEW, .view = view};
	if (view->place == VIEW_OF_FILE)
		return true;
	clip = animation_clip_of(link->parent, version);
	if (clip < 0)
		return false;
	out->clip = (uint32_t)clip;
	if (view->place == VIEW_OF_BONE)
		return bone_by_name(link->name, view, version, out);
	if (view->place != VIEW_OF_FRAME)
		return true;
	out->frame = (uint32_t)strtoul(link->name + strlen("frame_"), NULL, 10);
	return out->frame < version->anim->clips[out->clip].frames;
}

bool place_by_names(const struct node *node, const struct version *version, struct place *out)
{
	static const enum place_kind kinds[] = {[THING_ANIMATION] = PLACE_FILE,
						[THING_CLIP] = PLACE_CLIP,
						[THING_BONES] = PLACE_BONES,
						[THING_FRAMES] = PLACE_FRAMES};
	const struct thing *thing = node->thing;
	const struct link *link = node_link(node);
	int64_t clip = 0;

	if (!link)
		return false;
	if (thing->kind == THING_VIEW)
		return view_by_name(link, view_of(thing), version, out);
	if (thing->kind != THING_ANIMATION)
		clip = animation_clip_of(node, version);
	*out = (struct place){.kind = kinds[thing->kind], .clip = (uint32_t)clip};
	return clip >= 0;
}

/* ---- drafts ---- */

void view_give_draft(struct node *node, struct draft *draft)
{
	node->thing->view.draft = draft;
	node_get(node);
}

void view_drop_program(struct node *node)
{
	struct view_state *view = &node->thing->view;

	if (node_writers(node))
		return;
	program_put(view->program);
	view->program = NULL;
}

void view_release_draft(struct vfs *v, struct node *node)
{
	view_drop_program(node);
	node_put(&v->nodes, node);
}

void view_drop_draft(struct vfs *v, struct node *node)
{
	struct draft *draft = node->thing->view.draft;
	bool begun = draft && draft->base;

	draft_free(draft);
	node->thing->view.draft = NULL;
	node->thing->view.outdated = false;
	view_drop_program(node);
	if (begun)
		node_put(&v->nodes, node);
}

void view_leave_draft(struct vfs *v, struct node *node)
{
	const struct draft *draft = node->thing->view.draft;

	if (draft && draft->base)
		node_put(&v->nodes, node);
}

/* Counts the old version that is kept for a view that is open but has lost its name. */
static void count_old(struct vfs *v, struct thing *thing, uint64_t latest) REQUIRES(vfs_class)
{
	const struct version *version = thing->view.version;

	if (version && version->generation < latest)
		pinned_add(v, thing, &thing->animation->members);
}

void view_part(struct vfs *v, struct node *node, struct changes *changes)
{
	struct thing *thing = node->thing;

	if (!node->handles) {
		view_drop_draft(v, node);
		if (thing->view.standing == STANDS)
			view_unpin(v, thing);
		changes_data(changes, node);
		return;
	}
	if (thing->view.standing != STANDS)
		return;
	thing->view.standing = REPLACED;
	changes_names(changes, node, true);
	nodes_retire(&v->nodes, node);
	count_old(v, thing, thing->animation->generation);
}

/*
 * Returns whether the view has an unsaved draft, which then is its text, whatever the file
 * contains.
 */
static bool animation_is_unsaved(const struct thing *thing) REQUIRES(vfs_class)
{
	const struct draft *draft = thing->view.draft;

	return draft && (draft_is_unsaved(draft) || draft->state == DRAFT_REFUSED);
}

void view_catch_up(struct vfs *v, struct node *node, struct changes *changes)
{
	struct view_state *view = &node->thing->view;

	if (view->saved && node->thing->animation->generation > view->saved)
		view->outdated = true;
	if (view->outdated && view->saved && !animation_is_unsaved(node->thing))
		view_part(v, node, changes);
}

bool view_settle(struct vfs *v, struct node *node, struct changes *changes)
{
	struct draft *draft = node->thing->view.draft;
	bool outdated = node->thing->view.outdated;

	if (!draft)
		return false;
	if (!draft_settle(draft, clock_ms())) {
		view_drop_draft(v, node);
		changes_data(changes, node);
		if (outdated)
			view_part(v, node, changes);
		return false;
	}
	if (!draft_is_committing(draft) &&
	    (draft_is_contradictory(draft) || (outdated && !animation_is_unsaved(node->thing))))
		view_part(v, node, changes);
	return node->thing->view.draft != NULL;
}

/* ---- a new version ---- */

struct advance {
	struct vfs *v;
	struct animation *a;
	struct version *before, *now; /* `before` is NULL if not available, or not needed */
	const struct thing *saved;
	const struct relabel *relabels;
	size_t relabel_count;
	struct changes *changes;
	bool names; /* whether names in the animation's folders have changed */
};

/* if more clips are renamed, the kernel looks those beyond this number up again */
#define RELABELS_MAX 64

/*
 * Gives renamed clips their new names. Takes all old names away before giving new ones: two clips
 * may have exchanged names.
 */
static void relabel_clips(const struct advance *d, struct node *folder) REQUIRES(vfs_class)
{
	struct nodes *t = &d->v->nodes;
	struct node *clips[RELABELS_MAX] = {NULL};
	size_t count = d->relabel_count < RELABELS_MAX ? d->relabel_count : RELABELS_MAX;

	for (size_t i = 0; i < count; i++) {
		struct node *clip = nodes_by_name(t, folder, d->relabels[i].from);

		changes_name(d->changes, folder, d->relabels[i].from, false);
		if (!clip || clip->thing->kind != THING_CLIP)
			continue;
		clips[i] = node_get(clip);
		nodes_unlink(t, folder, d->relabels[i].from);
	}
	for (size_t i = 0; i < count; i++) {
		if (!clips[i])
			continue;
		nodes_link(t, clips[i], folder, d->relabels[i].to);
		clips[i]->shown_ino = virtual_ino(folder, d->relabels[i].to);
		node_put(t, clips[i]);
	}
}

/*
 * Returns whether the kernel's text of the view equals that in the new version. With a draft,
 * compares the text that the draft started from, or was saved as.
 */
static bool animation_says_the_same(const struct advance *d, const struct thing *thing,
				    const struct place *place) REQUIRES(vfs_class)
{
	const struct view_state *view = &thing->view;
	uint64_t shown = view->generation;
	const struct tree tree = {d->now, NULL};

	if (view->draft && view->draft->base && view->draft->base->generation > view->saved)
		shown = view->draft->base->generation;
	else if (view->draft)
		shown = view->saved;
	else if (view->version && view->version->generation > shown)
		shown = view->version->generation;
	return shown && tree_since(&tree, place) <= shown;
}

/*
 * Moves a view whose text is unchanged on to the new version, so that older ones can be freed. An
 * open for writing begins from the latest version anyway (draft_begin).
 */
static void keep_up(const struct advance *d, const struct node *node, const struct place *place)
	REQUIRES(vfs_class)
{
	struct view_state *view = &node->thing->view;

	if (view->draft && view->draft->base && !node_writers(node))
		draft_begin(view->draft, d->now, place, true);
	if (!view->version)
		return;
	version_put(view->version);
	view->version = version_get(d->now);
	view->place = *place;
}

/*
 * Keeps the previous version for a view that the kernel may have open. If the kernel opens no
 * files, that is any node that it knows. Returns false if none is kept.
 */
static bool pin_version(const struct advance *d, struct node *node) REQUIRES(vfs_class)
{
	struct view_state *view = &node->thing->view;

	if (!d->v->unopened_files || !d->before || !view->generation ||
	    !place_by_names(node, d->before, &view->place))
		return false;
	view->version = version_get(d->before);
	return true;
}

/*
 * Separates the view's node from its name: open handles keep the old text, and the name gets
 * another node. Returns false if the node need not be replaced.
 */
static bool replace_view(const struct advance *d, struct node *node, bool gone) REQUIRES(vfs_class)
{
	if (!node->thing->view.version && !pin_version(d, node))
		return false;
	changes_names(d->changes, node, true);
	node->thing->view.standing = gone ? DETACHED : REPLACED;
	if (gone)
		nodes_unlink_all(&d->v->nodes, node);
	else
		nodes_retire(&d->v->nodes, node);
	count_old(d->v, node->thing, d->now->generation);
	return true;
}

/*
 * Moves a view that has no version of its own on to the new version. place: NULL if the view no
 * longer exists.
 */
static void animation_follow_file(const struct advance *d, struct node *node,
				  const struct place *place) REQUIRES(vfs_class)
{
	struct view_state *view = &node->thing->view;
	bool gone = !place;

	view_drop_draft(d->v, node);
	view_unpin(d->v, node->thing);
	if (node->handles && place) {
		view->version = version_get(d->now);
		view->place = *place;
	}
	changes_data(d->changes, node);
	if (gone || d->names || view_of(node->thing)->present || view_of(node->thing)->check)
		changes_names(d->changes, node, gone);
}

static void advance_view(const struct advance *d, struct node *node) REQUIRES(vfs_class)
{
	struct thing *thing = node->thing;
	struct place place;
	bool found, same;

	if (thing == d->saved) {
		changes_attributes(d->changes, node);
		return;
	}
	if (thing->view.standing != STANDS) {
		count_old(d->v, thing, d->now->generation);
		return;
	}
	found = place_by_names(node, d->now, &place);
	same = found && animation_says_the_same(d, thing, &place);
	if (animation_is_unsaved(thing))
		thing->view.outdated |= !same;
	else if (same)
		keep_up(d, node, &place);
	else if (!replace_view(d, node, !found))
		animation_follow_file(d, node, found ? &place : NULL);
}

static void advance_member(const struct advance *d, struct node *node) REQUIRES(vfs_class)
{
	if (node->thing->kind == THING_VIEW) {
		advance_view(d, node);
	} else if (d->names) {
		changes_data(d->changes, node);
		changes_names(d->changes, node, false);
	} else {
		changes_attributes(d->changes, node);
	}
}

/*
 * Moves all members on to the new version. Each is referenced meanwhile, since taking its name may
 * free it, and its neighbours in the list.
 */
static void advance_members(const struct advance *d) REQUIRES(vfs_class)
{
	struct nodes *t = &d->v->nodes;
	struct thing *thing = d->a->members, *next;

	if (thing)
		thing_get(thing);
	for (; thing; thing = next) {
		struct node *node = thing->node;

		if (node) {
			node_get(node);
			advance_member(d, node);
			node_put(t, node);
		}
		next = thing->next_member;
		if (next)
			thing_get(next);
		thing_put(t, thing);
	}
}

static void note_stills(struct animation *a, const struct version *now) REQUIRES(vfs_class)
{
	a->stills = now->stills != NULL;
	a->apart = now->stills && stills_apart(now->stills);
}

static void advance_animation(struct advance *d) REQUIRES(vfs_class)
{
	struct animation *a = d->a;
	struct node *folder = a->folder ? a->folder->node : NULL;

	d->names = version_outline(d->now) != a->names || a->damaged;
	if (folder)
		relabel_clips(d, folder);
	advance_members(d);
	if (folder) {
		changes_attributes(d->changes, folder);
		if (d->names)
			changes_data(d->changes, folder);
		if (node_link(folder))
			changes_attributes(d->changes, node_link(folder)->parent);
	}
	a->generation = d->now->generation;
	a->names = version_outline(d->now);
	note_stills(a, d->now);
	a->damaged = false;
	a->rights.ctime = (struct timespec){0, 0};
}

static void set_commit(struct animation *a, struct version *was, struct version *made)
	REQUIRES(vfs_class)
{
	struct shown_commit before = a->commit;

	a->commit = (struct shown_commit){was ? version_get(was) : NULL,
					  made ? version_get(made) : NULL};
	version_put(before.was);
	version_put(before.made);
}

/*
 * Publishes the version `d->now`, unless it is outdated. found: the version that a look has read,
 * replaced if another one is to be shown; NULL after a save.
 */
static void publish_version(struct advance *d, struct version **found)
{
	struct animation *a = d->a;

	vfs_lock(d->v);
	if (!found) {
		set_commit(a, NULL, NULL);
	} else if (a->commit.made && *found == a->commit.made) {
		version_put(*found);
		d->now = *found = version_get(a->commit.was);
	}
	if (d->now->generation > a->generation || a->damaged) {
		if (a->good)
			d->before = a->good;
		else if (d->before && d->before->generation != a->generation)
			/* not the published version, since another one came between */
			d->before = NULL;
		advance_animation(d);
		version_put(a->good);
		a->good = NULL;
	}
	vfs_unlock(d->v);
}

void animation_committed(struct vfs *v, struct animation *a, struct version *was,
			 struct version *made)
{
	vfs_lock(v);
	/*
	 * With a second commit of one save, keep showing the version from before the first, which
	 * was not published.
	 */
	set_commit(a, a->commit.made == was ? a->commit.was : was, made);
	vfs_unlock(v);
}

void animation_settled(struct vfs *v, struct animation *a)
{
	vfs_lock(v);
	set_commit(a, NULL, NULL);
	vfs_unlock(v);
}

void animation_publish(struct vfs *v, struct animation *a, struct version *now,
		       const struct thing *saved, const struct relabel *relabels, size_t count,
		       struct changes *changes)
{
	struct advance d = {v, a, NULL, now, saved, relabels, count, changes, false};

	publish_version(&d, NULL);
}

static struct shown_rights rights_of(const struct stat *st)
{
	return (struct shown_rights){st->st_mode, st->st_uid, st->st_gid, st->st_ctim};
}

void animation_begin(struct animation *a, const struct version *now, const struct stat *st)
{
	a->generation = now->generation;
	a->names = version_outline(now);
	note_stills(a, now);
	a->linked = st->st_nlink > 1;
	a->rights = rights_of(st);
	a->lists = now->codec->format->parts != NULL;
}

/* ---- looking at the file ---- */

/*
 * Returns the version to show although the file is damaged or gone: the newest of `good` and the
 * versions of open views.
 */
static struct version *last_good(const struct animation *a) REQUIRES(vfs_class)
{
	struct version *good = a->good;

	for (const struct thing *thing = a->members; thing; thing = thing->next_member) {
		struct version *pinned =
			thing->kind == THING_VIEW && thing->view.standing != DETACHED
				? thing->view.version
				: NULL;

		if (pinned && (!good || pinned->generation > good->generation))
			good = pinned;
	}
	return good ? version_get(good) : NULL;
}

static bool animation_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/*
 * Compares the file's mode, owner, group and ctime with those noted. If they changed, notes the new
 * ones and invalidates the attributes of all views, which have the rights of the file.
 */
static void note_rights(struct animation *a, const struct stat *st, struct changes *changes)
	REQUIRES(vfs_class)
{
	const struct shown_rights *old = &a->rights;
	bool other = old->mode != st->st_mode || old->uid != st->st_uid || old->gid != st->st_gid;

	a->linked = st->st_nlink > 1;
	if (old->ctime.tv_sec && !animation_same_time(old->ctime, st->st_ctim))
		other = true;
	a->rights = rights_of(st);
	if (!other)
		return;
	for (const struct thing *thing = a->members; thing; thing = thing->next_member) {
		if (thing->node)
			changes_attributes(changes, thing->node);
	}
	if (a->folder && a->folder->node)
		changes_attributes(changes, a->folder->node);
}

/*
 * Notes that the file no longer decodes: invalidates names of texts that are not open, which cannot
 * be opened any more.
 */
static void note_damage(struct vfs *v, struct animation *a, struct changes *changes)
	REQUIRES(vfs_class)
{
	if (a->damaged)
		return;
	a->damaged = true;
	for (const struct thing *thing = a->members; thing; thing = thing->next_member) {
		if (!thing->node)
			continue;
		if (!v->unopened_files)
			changes_attributes(changes, thing->node);
		changes_names(changes, thing->node, false);
	}
	if (!a->folder || !a->folder->node)
		return;
	changes_data(changes, a->folder->node);
	changes_names(changes, a->folder->node, false);
}

static int errno_of_look(const struct err *err)
{
	return err->code == ERR_MEMORY ? ENOMEM : err->code == ERR_SYSTEM ? err->number : EIO;
}

/*
 * Reads the latest version. On failure *out is NULL, and either an errno is returned, since the
 * file's folder or archive could not be opened, or *err says why the file cannot be read.
 */
static int read_latest(struct vfs *v, struct animation *a, struct version **out, struct stat *st,
		       struct err *err)
{
	struct site site;
	int error = site_open(v, a, &site);

	*out = NULL;
	*st = (struct stat){.st_mode = 0};
	if (error)
		return error;
	*out = source_look(a->source, &site.where, st, err);
	show_editable(&site, st);
	site_close(v, &site);
	return 0;
}

/*
 * Waits for a rename in progress: until it ends, the file may have its new name on disk but not yet
 * in the table.
 */
static void await_rename(struct vfs *v)
{
	folders_hold_still(v);
	folders_let_move(v);
}

#define LOOK_TRIES 4

/*
 * Looks at the file as animation_look does. `before`: the version shown until now, if views may
 * still be open in it; else NULL.
 */
static int look_from(struct vfs *v, struct animation *a, struct version *before,
		     struct version **out, struct stat *st)
{
	struct changes changes = CHANGES_INIT;
	struct err err = {.code = ERR_NONE};
	int error = read_latest(v, a, out, st, &err);

	for (unsigned i = 1; i < LOOK_TRIES && err.code == ERR_SYSTEM && err.number == ENOENT;
	     i++) {
		await_rename(v);
		err_clear(&err);
		error = read_latest(v, a, out, st, &err);
	}
	if (*out) {
		struct advance d = {v, a, before, *out, NULL, NULL, 0, &changes, false};

		publish_version(&d, out);
	}
	vfs_lock(v);
	if (*out) {
		note_rights(a, st, &changes);
	} else if (err.code != ERR_MEMORY && (error == ENOENT || !error)) {
		if (before && !a->good)
			a->good = version_get(before);
		note_damage(v, a, &changes);
		*out = last_good(a);
	}
	/*
	 * Add the versions that other programs replaced to the known ones, even if nothing is
	 * saved.
	 */
	if (!v->read_only && source_has_replaced(a->source))
		animation_end_at(v, a, clock_ms() + END_MS);
	vfs_unlock(v);
	changes_send_all(v, &changes);
	if (*out)
		return 0;
	return error ? error : errno_of_look(&err);
}

int64_t request_begins(struct vfs *v, struct animation *a)
{
	vfs_lock(v);
	a->requests++;
	vfs_unlock(v);
	return clock_ms();
}

void request_ends(struct vfs *v, struct animation *a, int64_t began)
{
	int64_t now = clock_ms();

	vfs_lock(v);
	a->requests--;
	if (a->absent.first)
		a->touched += now - (began > a->touched ? began : a->touched);
	vfs_unlock(v);
}

int animation_look(struct vfs *v, struct animation *a, struct version **out, struct stat *st)
{
	int64_t began = request_begins(v, a);
	struct version *before;
	int error;

	if (!v->unopened_files) {
		error = look_from(v, a, NULL, out, st);
		request_ends(v, a, began);
		return error;
	}
	/*
	 * This lock only makes looks wait for each other: if the kernel opens no files, the mount
	 * is read-only, so no save holds it.
	 */
	writer_lock(a);
	before = source_last(a->source);
	error = look_from(v, a, before, out, st);
	writer_unlock(a);
	request_ends(v, a, began);
	version_put(before);
	return error;
}

bool animation_is_watched(const struct vfs *v, const struct animation *a)
{
	const struct link *link = a->folder && a->folder->node ? node_link(a->folder->node) : NULL;

	return v->watch && !a->archived && link && link->parent->thing->plain.watched &&
	       !a->linked && !a->apart && !a->damaged;
}

void animation_end_at(struct vfs *v, struct animation *a, int64_t when)
{
	if (a->ends && a->ends <= when)
		return;
	a->ends = when;
	if (deadline_set(v->deadlines, &a->end, when))
		animation_get(a);
}

void animation_touched(struct vfs *v, struct animation *a)
{
	a->touched = clock_ms();
	animation_end_at(v, a, a->touched + END_MS);
}

void animation_touch(struct vfs *v, struct animation *a)
{
	vfs_lock(v);
	animation_touched(v, a);
	vfs_unlock(v);
}

bool animation_is_quiet(struct vfs *v, const struct animation *a)
{
	bool quiet;

	vfs_lock(v);
	quiet = clock_ms() - a->touched >= END_MS && !(a->absent.first && a->requests);
	vfs_unlock(v);
	return quiet;
}

void animation_changed(struct vfs *v, struct animation *a)
{
	vfs_lock(v);
	if (deadline_set(v->deadlines, &a->look, clock_ms() + LOOK_MS))
		animation_get(a);
	vfs_unlock(v);
}

/* ---- names that are absent ---- */

bool name_is_absent(const struct animation *a, const struct node *parent, const char *name)
{
	return marks_find(&a->absent, parent, name) != NULL;
}

bool name_set_absent(struct vfs *v, struct animation *a, struct node *parent, const char *name,
		     struct node *folder)
{
	struct mark *mark;

	(void)v;
	if (name_is_absent(a, parent, name))
		return true;
	mark = marks_add(&a->absent, parent, name);
	if (mark)
		mark->folder = folder ? node_get(folder) : NULL;
	return mark != NULL;
}

/* Returns the clip whose folder `folder` is, or is in; NULL if there is none. */
static struct thing *thing_of_clip(const struct node *folder) REQUIRES(vfs_class)
{
	const struct link *link;

	if (folder->thing->kind == THING_BONES || folder->thing->kind == THING_FRAMES) {
		link = node_link(folder);
		folder = link ? link->parent : NULL;
	}
	return folder && folder->thing->kind == THING_CLIP ? folder->thing : NULL;
}

/*
 * Notes that the clip is no longer being removed, since a name in its folder `folder` is present
 * again.
 */
static void removal_forget(const struct node *folder) REQUIRES(vfs_class)
{
	struct thing *clip = thing_of_clip(folder);

	if (!clip)
		return;
	version_put(clip->removal.base);
	clip->removal = (struct removal){.base = NULL};
}

void name_set_present(struct vfs *v, struct animation *a, const struct node *parent,
		      const char *name)
{
	struct mark *mark = marks_find(&a->absent, parent, name);

	if (!mark)
		return;
	removal_forget(parent);
	marks_remove(v, &a->absent, mark);
}

void removal_begin(struct vfs *v, const struct request *who, const struct target *folder)
{
	struct version *base;
	struct thing *clip;
	struct stat st;
	bool begun;

	vfs_lock(v);
	clip = thing_of_clip(folder->node);
	begun = !clip || (clip->removal.base && clip->removal.by == who->pid);
	vfs_unlock(v);
	if (begun || animation_look(v, folder->thing->animation, &base, &st) != 0)
		return;
	vfs_lock(v);
	clip = thing_of_clip(folder->node);
	if (clip) {
		version_put(clip->removal.base);
		clip->removal = (struct removal){version_get(base), who->pid};
	}
	vfs_unlock(v);
	version_put(base);
}

void removal_end(struct vfs *v, const struct request *who, const struct target *parent,
		 const char *name, const struct target *clip)
{
	struct animation *a = parent->thing->animation;
	struct program *by = program_of(v, who);
	struct version *latest = NULL;
	struct mark *mark;
	struct stat st;

	/*
	 * A folder that is removed as a whole has no removal noted for its clip: note the latest
	 * version.
	 */
	if (animation_look(v, a, &latest, &st) != 0)
		latest = NULL;
	vfs_lock(v);
	mark = marks_find(&a->absent, parent->node, name);
	if (mark && !mark->base && clip->thing->kind == THING_CLIP) {
		mark->base =
			version_get(clip->thing->removal.base ? clip->thing->removal.base : latest);
		if (by && !mark->by)
			mark->by = program_get(by);
	}
	vfs_unlock(v);
	program_put(by);
	version_put(latest);
}

struct node *name_folder(const struct animation *a, const struct node *parent, const char *name)
{
	const struct mark *mark = marks_find(&a->absent, parent, name);

	return mark ? mark->folder : NULL;
}

void names_move(struct vfs *v, struct animation *a, const struct node *old, struct node *now)
{
	struct mark *mark = a->absent.first, *next;

	for (; mark; mark = next) {
		next = mark->next;
		if (mark->parent == old)
			marks_move(v, &a->absent, mark, now);
	}
}
