/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lookup.h"
#include "attr.h"
#include "control.h"
#include "diagnostics.h"
#include "handle.h"
#include "looked_up.h"
#include "plain.h"
#include "watching.h"

#include "store/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names ---- */

bool child_of(struct vfs *v, const struct node *parent, const char *name, struct target *out)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	if (node)
		*out = (struct target){node_get(node), thing_get(node->thing)};
	vfs_unlock(v);
	return node != NULL;
}

struct node *folder_of(struct vfs *v, struct animation *a)
{
	struct node *node;

	vfs_lock(v);
	node = a->folder && a->folder->node ? node_get(a->folder->node) : NULL;
	vfs_unlock(v);
	return node;
}

struct staging *staging_above(const struct node *node)
{
	while (node && node->thing->kind == THING_PLAIN && !node->thing->plain.staging)
		node = node_link(node) ? node_link(node)->parent : NULL;
	return node && node->thing->kind == THING_PLAIN ? node->thing->plain.staging : NULL;
}

bool is_staged(struct vfs *v, const struct node *node)
{
	bool staged;

	vfs_lock(v);
	staged = staging_above(node) != NULL;
	vfs_unlock(v);
	return staged;
}

/* ---- animations ---- */

bool stays_file(const struct vfs *v, const struct codec *codec)
{
	return v->options->beside || codec->format->beside;
}

bool name_may_show(struct vfs *v, const char *name, bool beside)
{
	const struct codec *codec;
	bool probe;

	if (beside && archive_has_name(v->store, name))
		return true;
	if (!store_claims(v->store, name, &codec, &probe))
		return false;
	return probe ? beside || !v->options->beside : stays_file(v, codec) == beside;
}

static bool lookup_is_there(int folder, const char *name, mode_t *type)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*type = st.st_mode & S_IFMT;
	return true;
}

/*
 * Notes in the folder that it has a file which lists others: when those change, the list's
 * animation may change.
 */
static void note_list(struct vfs *v, const struct target *folder, const char *name)
{
	const struct codec *codec;
	bool probe;

	if (!store_claims(v->store, name, &codec, &probe) || probe || !codec->format->parts)
		return;
	vfs_lock(v);
	folder->thing->plain.lists = true;
	vfs_unlock(v);
}

/*
 * If `name` is "x.canm.d" (or "x.canm.d~2", if "x.canm.d" exists in SOURCE), sets `base` to
 * "x.canm", the file that such a folder is beside, and *end to the part of the file's name that the
 * folder's name lacks (format.beside). Else returns false.
 */
static bool lookup_beside_name(struct vfs *v, const struct target *parent, int folder,
			       const char *name, char base[NAME_MAX + 1], const char **end)
{
	unsigned which = beside_which(name);
	char own[NAME_MAX + 1];
	mode_t type;

	for (unsigned i = 0; beside_file(name, i, base, end); i++) {
		if (!lookup_is_there(folder, base, &type) || !S_ISREG(type) ||
		    !name_may_show(v, base, true) || !beside_folder(v->store, base, which, own) ||
		    strcmp(own, name) != 0)
			continue;
		note_list(v, parent, base);
		return which == 0 || (beside_folder(v->store, base, 0, own) &&
				      lookup_is_there(folder, own, &type));
	}
	return false;
}

/* Returns whether the file is open for writing through the mount. */
static bool being_written(struct vfs *v, const struct identity *id)
{
	const struct thing *thing;
	bool busy = false;

	vfs_lock(v);
	thing = nodes_by_identity(&v->nodes, id);
	for (const struct handle *h = thing && thing->node ? thing->node->handles : NULL; h;
	     h = h->next_of_node)
		busy |= h->busy;
	vfs_unlock(v);
	return busy;
}

/*
 * Returns the errno for a file that cannot be read as an animation: ENOTDIR, so that it is shown as
 * a file, if the reason will not go away by itself; otherwise the error itself, since a file in
 * place of a folder would mislead programs.
 */
static int verdict_errno(const struct err *err)
{
	static const int lasting[] = {EACCES, EPERM, EAGAIN, ENOENT, ELOOP, EISDIR, EINVAL};

	if (err->code == ERR_MEMORY)
		return ENOMEM;
	if (err->code != ERR_SYSTEM)
		return ENOTDIR;
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		if (err->number == lasting[i])
			return ENOTDIR;
	}
	return err->number;
}

/*
 * Notes for .animfs/errors how the file is shown, and why. reason NULL: it is shown as it should
 * be.
 */
static void lookup_note_verdict(struct vfs *v, const struct target *parent, const char *name,
				const char *how, const char *reason)
{
	char *path;

	if (path_of(v, parent->node, name, &path) == 0)
		diagnose(v, path, how, reason);
	free(path);
}

/*
 * A name in a plain folder, or in a folder of an archive, that may be the name of an animation's
 * folder.
 */
struct candidate {
	const struct target *parent;
	int folder;       /* descriptor of the parent, or -1 */
	const char *path; /* path of the parent */
	const char *link; /* name of the animation's folder */
	const char *name; /* name of the animation file */
	/*
	 * end of the file's name that the folder's name replaces by ".d"; NULL: both names are the
	 * same
	 */
	const char *beside;
	const struct loose_site *loose; /* loose file of the archive member; NULL: not a member */
};

static struct where where_of(const struct candidate *c)
{
	return c->loose ? loose_where(c->loose)
			: (struct where){.dir = c->folder, .folder = c->path, .name = c->name};
}

static bool lookup_is_beside(const struct candidate *c)
{
	return c->beside != NULL;
}

/*
 * Adds the animation to the table, unless another call has done so meanwhile. Takes over the
 * animation.
 */
static int enter_animation(struct vfs *v, const struct candidate *c, struct animation *a,
			   const struct version *version, const struct stat *st, struct target *out)
{
	struct nodes *t = &v->nodes;
	struct thing *thing = NULL;
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(t, c->parent->node, c->link);
	if (node && node->thing->kind == THING_ANIMATION) {
		node_get(node);
	} else {
		thing = thing_of(t, THING_ANIMATION, a);
		node = thing ? nodes_add(t, thing, c->link) : NULL;
		if (node) {
			node->shown_ino = virtual_ino(c->parent->node, c->link);
			animation_begin(a, version, st);
		}
		if (node && !nodes_link(t, node, c->parent->node, c->link)) {
			node_put(t, node);
			node = NULL;
		}
		thing_put(t, thing);
	}
	if (node)
		*out = (struct target){node, thing_get(node->thing)};
	animation_put(v, a);
	vfs_unlock(v);
	return node ? 0 : ENOMEM;
}

/* Decides whether the name is that of an animation's folder. Returns 0 or an errno. */
static int judge_candidate(struct vfs *v, const struct candidate *c, const struct version *version,
			   const struct err *err)
{
	char reason[FAULT_SIZE];
	int error;

	if (version && stays_file(v, version->codec) != lookup_is_beside(c))
		return ENOTDIR; /* the animation's folder has another name */
	if (version) {
		/*
		 * A file that lists others is always read-only, which is no fault: its parts can be
		 * edited.
		 */
		lookup_note_verdict(v, c->parent, c->name, "read-only",
				    version->codec->format->parts ? NULL
								  : version->anim->read_only);
		return 0;
	}
	error = verdict_errno(err);
	fault_describe(err, reason, sizeof(reason));
	/* Do not report that a file is not an animation at all. */
	lookup_note_verdict(v, c->parent, c->name, error == ENOTDIR ? "shown as it is" : "not read",
			    err->code == ERR_UNKNOWN ? NULL : reason);
	return error;
}

static int new_animation(struct vfs *v, const struct candidate *c, struct target *out)
{
	const struct where where = where_of(c);
	struct animation *a = animation_new(v, c->beside, c->loose != NULL);
	struct err err = {.code = ERR_NONE};
	struct version *version;
	struct stat st;
	int error;

	if (!a)
		return ENOMEM;
	version = source_look(a->source, &where, &st, &err);
	error = judge_candidate(v, c, version, &err);
	if (!error) {
		error = enter_animation(v, c, a, version, &st, out);
		if (!error)
			diagnose_stills(v, out->thing->animation, version);
	} else {
		vfs_lock(v);
		animation_put(v, a);
		vfs_unlock(v);
	}
	version_put(version);
	return error;
}

/* Takes the name from its node, since the animation is no longer shown as a folder. */
static void lookup_leave_animation(struct vfs *v, const struct candidate *c, const struct target *t)
{
	vfs_lock(v);
	if (nodes_by_name(&v->nodes, c->parent->node, c->link) == t->node)
		nodes_unlink(&v->nodes, c->parent->node, c->link);
	vfs_unlock(v);
}

static int known_animation(struct vfs *v, const struct candidate *c, const struct target *t)
{
	struct animation *a = t->thing->animation;
	struct err err = {.code = ERR_NONE};
	struct version *version;
	bool absent, damaged;
	struct stat st;
	int error;

	vfs_lock(v);
	absent = lookup_is_beside(c) && name_is_absent(a, c->parent->node, c->link);
	vfs_unlock(v);
	if (absent)
		return ENOTDIR;
	error = animation_look(v, a, &version, &st);
	vfs_lock(v);
	damaged = a->damaged;
	vfs_unlock(v);
	/* The name of a damaged file is not found; open files below it are found by node. */
	if (damaged && v->unopened_files)
		error = EIO;
	if (!error && !damaged) {
		error = judge_candidate(v, c, version, &err);
	} else {
		const struct where where = where_of(c);
		struct version *again = source_get(a->source, &where, &err);

		/*
		 * Find out why the file is not shown, or is shown only to programs that have it
		 * open.
		 */
		if (again || error)
			error = judge_candidate(v, c, again, &err);
		else
			(void)judge_candidate(v, c, NULL, &err);
		version_put(again);
	}
	version_put(version);
	if (error == ENOTDIR)
		lookup_leave_animation(v, c, t);
	return error;
}

/* Finds the animation's folder. ENOTDIR if it is shown as a file. */
static int lookup_find_animation(struct vfs *v, struct candidate *c, struct target *out)
{
	bool known = child_of(v, c->parent->node, c->link, out);
	char *path;
	int error = path_of(v, c->parent->node, NULL, &path);

	c->path = error ? "" : path;
	names_keep(v, c->parent->node->id);
	if (known && out->thing->kind == THING_ANIMATION) {
		error = known_animation(v, c, out);
		if (error)
			target_put(v, out);
	} else {
		if (known)
			target_put(v, out);
		error = new_animation(v, c, out);
	}
	names_release(v, c->parent->node->id);
	free(path);
	return error;
}

static int entry_and_put(struct vfs *v, struct target *t, struct entry *out)
{
	int error = entry_of(v, t, out);

	target_put(v, t);
	return error;
}

/* ---- archives ---- */

/*
 * Returns the archive whose folder has this name, with a reference; a new archive if the table has
 * none.
 */
static int archive_by_name(struct vfs *v, const struct target *parent, const char *name,
			   struct shown_archive **out)
{
	struct node *node;

	*out = NULL;
	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == THING_ARCHIVE) {
		*out = node->thing->archive;
		shown_archive_get(*out);
	}
	vfs_unlock(v);
	if (!*out)
		*out = shown_archive_new(v);
	return *out ? 0 : ENOMEM;
}

/* Finds the archive's folder. ENOENT if the archive is shown only as a file. */
static int find_archive(struct vfs *v, const struct candidate *c, struct target *out)
{
	struct err err = {.code = ERR_NONE};
	char reason[FAULT_SIZE];
	struct shown_archive *s;
	struct catalog *o;
	int error = archive_by_name(v, c->parent, c->link, &s);

	if (error)
		return error;
	o = archive_look(s->source, c->folder, c->name, &err);
	error = o ? 0 : verdict_errno(&err);
	fault_describe(&err, reason, sizeof(reason));
	lookup_note_verdict(v, c->parent, c->name, "shown as it is", error ? reason : NULL);
	if (!error)
		error = archive_node(v, c->parent, c->link, s, out);
	catalog_put(o);
	vfs_lock(v);
	if (error && nodes_by_name(&v->nodes, c->parent->node, c->link))
		nodes_unlink(&v->nodes, c->parent->node, c->link);
	shown_archive_put(s);
	vfs_unlock(v);
	return error == ENOTDIR ? ENOENT : error;
}

/*
 * Finds the folder of an archive that is a member of another one. The nested archive is not opened
 * yet.
 */
static int find_nested(struct vfs *v, const struct target *parent, const struct spot *member,
		       const char *name, struct target *out)
{
	struct shown_archive *s;
	int error = catalog_was_refused(member->of, member->entry)
			    ? ENOENT
			    : archive_by_name(v, parent, name, &s);

	if (error)
		return error;
	error = archive_node(v, parent, name, s, out);
	vfs_lock(v);
	shown_archive_put(s);
	vfs_unlock(v);
	return error;
}

/* Looks up a member that may be shown as an animation's folder. ENOTDIR if it is not. */
static int lookup_animation(struct vfs *v, const struct target *parent, const struct spot *spot,
			    const char *name, bool beside, struct entry *out)
{
	struct loose_site loose;
	struct candidate c = {
		parent, -1, "", name, catalog_name(spot->of, spot->entry), beside ? "" : NULL,
		&loose};
	struct target t;
	int error = loose_site_open(v, parent->node, spot, &loose, NULL);

	if (error)
		return error;
	error = lookup_find_animation(v, &c, &t);
	loose_site_close(v, &loose);
	return error ? error : entry_and_put(v, &t, out);
}

/* Looks up the folder beside a member. */
static int lookup_beside_member(struct vfs *v, const struct target *parent, struct spot *spot,
				const char *name, struct entry *out)
{
	struct target t;
	int error = ENOENT;

	spot->entry = catalog_beside_which(spot->of, spot->entry, name);
	if (spot->entry == CATALOG_NONE)
		return ENOENT;
	if (catalog_kind(spot->of, spot->entry) == MEMBER_ARCHIVE) {
		error = find_nested(v, parent, spot, name, &t);
		if (!error)
			error = member_entry(v, &t, spot, out);
		if (!error)
			target_put(v, &t);
	} else if (v->options->beside && catalog_kind(spot->of, spot->entry) == MEMBER_ANIMATION) {
		error = lookup_animation(v, parent, spot, name, true, out);
	}
	return error == ENOTDIR ? ENOENT : error;
}

int lookup_member(struct vfs *v, const struct target *parent, const struct spot *folder,
		  const char *name, struct entry *out)
{
	struct spot spot = *folder; /* a copy without a reference of its own */
	enum member_kind kind;
	struct target t;
	int error;

	spot.entry = catalog_find(spot.of, spot.entry, name);
	if (spot.entry == CATALOG_NONE) {
		spot.entry = folder->entry;
		return lookup_beside_member(v, parent, &spot, name, out);
	}
	kind = catalog_kind(spot.of, spot.entry);
	if (kind == MEMBER_ANIMATION && !v->options->beside) {
		error = lookup_animation(v, parent, &spot, name, false, out);
		if (error != ENOTDIR)
			return error;
	}
	error = spot_node(v, parent, name, kind == MEMBER_FOLDER, &spot, &t);
	if (error)
		return error;
	error = member_entry(v, &t, &spot, out);
	target_put(v, &t);
	return error;
}

static int lookup_in_archive(struct vfs *v, const struct target *parent, const char *name,
			     struct entry *out)
{
	struct spot spot;
	int error = member_spot(v, parent->node, &spot);

	if (error)
		return error;
	error = lookup_member(v, parent, &spot, name, out);
	spot_release(&spot);
	return error;
}

/* ---- files and folders of SOURCE ---- */

/* Looks up a name in a folder of SOURCE. moves: v->moves from before the lookup. */
static int find_in_source(struct vfs *v, const struct target *parent, const char *name,
			  unsigned moves, struct entry *out)
{
	struct candidate c = {parent, -1, "", name, name, NULL, NULL};
	char base[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct target t;
	struct stat st;
	int error = folder_open(v, parent->node, &folder);

	if (error)
		return error;
	c.folder = folder.fd;
	folder_watch(v, parent, folder.fd);
	error = identity_at(folder.fd, name, &id, &st);
	if (error == ENOENT && !is_staged(v, parent->node) &&
	    lookup_beside_name(v, parent, folder.fd, name, base, &c.beside)) {
		c.name = base;
		error = archive_has_name(v->store, base) ? find_archive(v, &c, &t)
							 : lookup_find_animation(v, &c, &t);
		error = error == ENOTDIR ? ENOENT : error;
		if (!error)
			error = entry_and_put(v, &t, out);
		goto done;
	}
	if (!error && state_is(v->state, &st))
		error = ENOENT;
	if (error)
		goto done;
	if (S_ISREG(st.st_mode) && name_may_show(v, name, false) && !being_written(v, &id) &&
	    !is_staged(v, parent->node)) {
		error = lookup_find_animation(v, &c, &t);
		if (!error)
			error = entry_and_put(v, &t, out);
		if (error != ENOTDIR)
			goto done;
	}
	error = plain_entry_found(v, parent, AREA_SOURCE, name, &id, &st, moves, out);
done:
	folder_close(v, &folder);
	return error;
}

static int lookup_in_source(struct vfs *v, const struct target *parent, const char *name,
			    struct entry *out)
{
	unsigned moves;
	int error;

	do {
		moves = v->moves;
		error = find_in_source(v, parent, name, moves, out);
	} while (error == ESTALE && v->moves != moves);
	return error;
}

/* ---- names inside an animation's folder ---- */

static int lookup_upper(struct vfs *v, const struct target *parent, const char *name,
			struct entry *out)
{
	static const enum area areas[] = {AREA_UPPER, AREA_REJECTED};
	struct folder folder;
	int error = ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(areas) && error == ENOENT; i++) {
		error = plain_folder(v, parent, areas[i], false, &folder);
		if (error)
			continue;
		error = plain_entry(v, parent, areas[i], folder.fd, name, out);
		folder_close(v, &folder);
	}
	return error == ENOTDIR || error == ENAMETOOLONG ? ENOENT : error;
}

/* Returns whether these attributes differ from those that the kernel was last notified of. */
static bool has_other_rights(const struct animation *a, const struct stat *st) REQUIRES(vfs_class)
{
	struct timespec ctime = a->rights.ctime;

	return ctime.tv_sec &&
	       (ctime.tv_sec != st->st_ctim.tv_sec || ctime.tv_nsec != st->st_ctim.tv_nsec);
}

/*
 * Returns whether the view was replaced, or its text or the file's rights changed, while the entry
 * was made.
 */
static bool lookup_is_outdated(struct vfs *v, const struct target *t, const struct seen *seen)
{
	const struct view_state *view = &t->thing->view;
	const struct animation *a = t->thing->animation;
	bool own, outdated; /* own: the view does not show the latest version */

	vfs_lock(v);
	own = t->thing->kind == THING_VIEW && (view->draft || view->version);
	outdated = (!own && seen->version->generation < a->generation) ||
		   has_other_rights(a, &seen->st);
	outdated &= !a->damaged;
	outdated |= t->thing->kind == THING_VIEW && view->standing != STANDS;
	vfs_unlock(v);
	return outdated;
}

/*
 * Makes the reply to a lookup of a virtual thing. If the file changes after the lookup began, the
 * reply still describes the older version, and the kernel must not cache it. The lookup is not
 * repeated: with a large text and steady saves, a second attempt would be outdated, too.
 */
static int virtual_entry(struct vfs *v, const struct target *t, const struct place *place,
			 const struct seen *seen, struct entry *out)
{
	const struct sight latest = {seen->version, *place};
	int error = entry_in(v, t, &latest, &seen->st, out);

	/* Changes after the lookup is counted invalidate it; check for changes before that. */
	if (!error && lookup_is_outdated(v, t, seen))
		out->attr_timeout = out->entry_timeout = 0;
	return error;
}

static int lookup_place(struct vfs *v, const struct target *parent, const char *name,
			const struct seen *seen, struct entry *out)
{
	struct place place;
	struct target t;
	bool absent;
	int error = place_in(v, parent, seen->version, name, &place);

	vfs_lock(v);
	absent = name_is_absent(parent->thing->animation, parent->node, name);
	vfs_unlock(v);
	if (error == ENOMEM || error == ESTALE)
		return error;
	if (error || absent)
		return lookup_upper(v, parent, name, out);
	error = place_node(v, parent, name, &place, &t);
	if (error)
		return error;
	error = virtual_entry(v, &t, &place, seen, out);
	target_put(v, &t);
	return error;
}

/* Looks at the animation of this folder, for *out. Returns what animation_look does. */
static int seen_look(struct vfs *v, const struct target *folder, struct seen *out)
{
	struct animation *a = folder->thing->animation;
	int error = animation_look(v, a, &out->version, &out->st);

	if (!error)
		diagnose_stills(v, a, out->version);
	return error;
}

void seen_release(struct seen *s)
{
	version_put(s->version);
	s->version = NULL;
}

int lookup_virtual(struct vfs *v, const struct target *parent, const char *name, struct seen *seen,
		   struct entry *out)
{
	int64_t began = request_begins(v, parent->thing->animation);
	unsigned tries = 0;
	int error;

	do {
		if (tries)
			seen_release(seen);
		error = seen->version ? 0 : seen_look(v, parent, seen);
		if (!error)
			error = lookup_place(v, parent, name, seen, out);
	} while (target_retry(v, parent, error, &tries));
	request_ends(v, parent->thing->animation, began);
	return error;
}

/* ---- lookup ---- */

int lookup_in(struct vfs *v, const struct target *parent, const char *name, struct entry *out)
{
	struct seen seen = {.version = NULL};
	struct folder folder;
	struct target t;
	int error;

	if (parent->thing->kind == THING_CONTROL ||
	    (parent->node->id == NODE_ROOT && strcmp(name, CONTROL) == 0)) {
		error = control_find(v, parent, name, &t);
		return error ? error : entry_and_put(v, &t, out);
	}
	if (thing_is_virtual(parent->thing)) {
		error = lookup_virtual(v, parent, name, &seen, out);
		seen_release(&seen);
		return error;
	}
	if (thing_is_member(parent->thing))
		return lookup_in_archive(v, parent, name, out);
	if (parent->thing->area == AREA_SOURCE)
		return lookup_in_source(v, parent, name, out);
	error = plain_folder(v, parent, (enum area)parent->thing->area, false, &folder);
	if (error)
		return error;
	error = plain_entry(v, parent, (enum area)parent->thing->area, folder.fd, name, out);
	folder_close(v, &folder);
	return error;
}

/*
 * Notes the node that the thread has looked up (0: none), for its next request. Returns whether to
 * keep the file, or the attributes of the view.
 */
static bool note_lookup(struct vfs *v, const struct request *who, uint64_t id)
{
	int before;
	bool again;

	vfs_lock(v);
	before = looked_up(v, who, id);
	again = id && looks_again(v, who);
	vfs_unlock(v);
	if (before >= 0)
		close(before);
	return again;
}

/*
 * Keeps a plain file or folder open, so that the thread's next request acts on it even if another
 * file has its name by then; keeps the attributes of a view. ESTALE if the file has no name.
 */
static int lookup_keep(struct vfs *v, const struct request *who, const struct entry *found)
{
	struct target t;
	int fd = -1, error = target_get(v, found->node, &t);

	if (error)
		return error;
	if (t.thing->kind == THING_PLAIN)
		error = plain_pin(v, &t, &fd);
	else if (t.thing->kind == THING_VIEW)
		looked_up_keep_view(v, who, found->node, &found->st);
	target_put(v, &t);
	if (fd >= 0 && handle_keep(v, &fd) == 0)
		looked_up_keep(v, who, found->node, fd);
	return error == ENOENT ? ESTALE : error;
}

static int look_up_child(struct vfs *v, uint64_t parent, const char *name, struct entry *out)
{
	unsigned tries = 0;
	struct target t;
	int error;

	do {
		error = target_get(v, parent, &t);
		if (error)
			return error;
		error = lookup_in(v, &t, name, out);
	} while (target_again(v, &t, error, &tries));
	return error;
}

static int look_up_in_turn(struct vfs *v, uint64_t parent, const char *name, struct entry *out)
{
	unsigned turns;
	int error;

	do {
		turns = v->gate_turns;
		error = look_up_child(v, parent, name, out);
	} while (error == ENOENT && gate_await(v, parent, turns));
	return error;
}

int vfs_lookup(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       struct entry *out)
{
	unsigned tries = 0;
	struct look look;
	int error;

	if (strlen(name) > NAME_MAX)
		return ENAMETOOLONG;
	look_begin(v, who, parent, &look);
	do {
		if (tries)
			vfs_forget(v, out->node, 1);
		error = look_up_in_turn(v, parent, name, out);
	} while (note_lookup(v, who, error ? 0 : out->node) &&
		 may_retry(lookup_keep(v, who, out), &tries));
	look_end(v, &look);
	return looked_up_end(v, who, 0, error);
}

void vfs_forget(struct vfs *v, uint64_t node, uint64_t lookups)
{
	struct node *found;

	vfs_lock(v);
	found = nodes_by_id(&v->nodes, node);
	if (found)
		node_forget(&v->nodes, found, lookups);
	vfs_unlock(v);
}

/* ---- slots: names that may not exist yet ---- */

static int slot_in_animation(struct vfs *v, const char *name, struct slot *out)
{
	const struct animation *a = out->parent.thing->animation;
	int error = place_find(v, &out->parent, name, &out->place, &out->is_view);

	vfs_lock(v);
	out->present = !error && out->is_view && !name_is_absent(a, out->parent.node, name);
	vfs_unlock(v);
	return error;
}

/* Returns whether the name is that of an archive's folder. */
static bool is_archive_folder(struct vfs *v, const struct node *parent, const char *name)
{
	const struct node *node;
	bool is;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	is = node && node->thing->kind == THING_ARCHIVE;
	vfs_unlock(v);
	return is;
}

static int try_slot(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
{
	int error;

	gate_enter(v, parent, &out->guest);
	error = target_get(v, parent, &out->parent);
	if (error)
		return error;
	if (v->read_only)
		return EROFS;
	if (out->parent.thing->kind == THING_CONTROL ||
	    (parent == NODE_ROOT && strcmp(name, CONTROL) == 0))
		return EPERM;
	if (thing_is_member(out->parent.thing) || is_archive_folder(v, out->parent.node, name))
		return refuse_in_archive(v, out->parent.node, name, NULL);
	if (!thing_is_virtual(out->parent.thing))
		return 0;
	error = check_editable(v, &out->parent, name);
	return error ? error : slot_in_animation(v, name, out);
}

int slot_find(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
{
	unsigned tries = 0;
	int error;

	*out = (struct slot){.present = false};
	do {
		slot_release(v, out);
		*out = (struct slot){.present = false};
		error = try_slot(v, parent, name, out);
		if (out->parent.node && out->parent.thing->animation)
			out->began = request_begins(v, out->parent.thing->animation);
	} while (out->parent.node && may_retry(error, &tries));
	return error;
}

void slot_release(struct vfs *v, struct slot *s)
{
	if (s->parent.node && s->parent.thing->animation)
		request_ends(v, s->parent.thing->animation, s->began);
	if (s->parent.node)
		target_put(v, &s->parent);
	gate_leave(v, &s->guest);
}
