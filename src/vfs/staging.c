/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging.c - which folders are staged, and when they become a clip or file.
 *
 * A staged folder is an ordinary one until it ends: when nothing has happened in it for END_MS, not
 * counting the time of requests (gate.h), and nothing in it is open for writing; or at once by
 * fsync, unless something in it is open for writing, or when the program that made the folder and
 * everything in it has ended. But the folder must not change under a program that walks through it
 * (rm -r): once another program has looked into it, only time ends it. A folder that cannot become
 * anything stays as it is, and is tried again after a change in it; one that could not be read or
 * stored is tried again after a while.
 */
#include "staging.h"
#include "access.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/portable.h"
#include "gate.h"
#include "handle.h"
#include "lookup.h"
#include "staging_internal.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stagings {
	struct lock turn;   /* staging_class: one folder ends at a time */
	_Atomic bool ended; /* the mount ends: nothing is tried again */
};

UNSHARED struct stagings *stagings_new(void)
{
	struct stagings *all = calloc(1, sizeof(*all));

	if (all)
		lock_init(&all->turn);
	return all;
}

UNSHARED void stagings_free(struct stagings *all)
{
	if (all)
		lock_destroy(&all->turn);
	free(all);
}

/* ---- notes in the state directory, so that the next mount continues after a kill ---- */

static int note_add(struct vfs *v, const char *path)
{
	char name[NAME_MAX + 1];
	int folder, fd, error = state_place(v->state, STATE_STAGING, path, true, name, &folder);

	if (error)
		return error;
	error = dirfd_open(folder, name, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600, &fd);
	if (!error)
		close(fd);
	close(folder);
	return error;
}

static void note_remove(struct vfs *v, const char *path)
{
	char name[NAME_MAX + 1];
	int folder;

	if (state_place(v->state, STATE_STAGING, path, false, name, &folder) != 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}

typedef void note_each(struct vfs *v, const char *path);

/*
 * Calls `each` for every note. Notes are files; empty folders are leftovers. `each` may add or
 * remove notes.
 */
static void each_note_in(struct vfs *v, int folder, const char *name, const char *path,
			 note_each *each)
{
	char called[NAME_MAX + 1], *below;
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(folder, name, &dir) != 0) {
		each(v, path);
		return;
	}
	while ((entry = dirfd_next(dir))) {
		portable_read(entry->d_name, called);
		if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", called) < 0)
			continue;
		each_note_in(v, dirfd(dir), entry->d_name, below, each);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		free(below);
	}
	closedir(dir);
}

static void notes_each(struct vfs *v, note_each *each)
{
	int folder;

	if (state_folder(v->state, STATE_STAGING, "", false, &folder) != 0)
		return;
	each_note_in(v, folder, "", "", each);
	close(folder);
}

/* ---- which there are ---- */

static void staging_put(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	if (--s->references)
		return;
	thing_put(&v->nodes, s->thing);
	node_put(&v->nodes, s->node);
	gifts_release(&s->gifts);
	free(s->who);
	free(s);
}

/* The staging of a plain folder; NULL: not staged. */
static struct staging *staging_of(const struct thing *thing) REQUIRES(vfs_class)
{
	return thing->kind == THING_PLAIN ? thing->plain.staging : NULL;
}

static bool has_ended(const struct staging *s) REQUIRES(vfs_class)
{
	return s->thing->plain.staging != s;
}

bool staging_wanted(struct vfs *v, const struct thing *parent, const char *name)
{
	const struct codec *codec;
	bool probe, staged;

	if (parent->kind == THING_ANIMATION)
		return name[0] != '.';
	if (parent->kind != THING_PLAIN || parent->area != AREA_SOURCE ||
	    !store_claims(v->store, name, &codec, &probe) || probe || codec->format->parts)
		return false;
	vfs_lock(v);
	staged = parent->node && staging_above(parent->node);
	vfs_unlock(v);
	return !staged;
}

static void staging_due(struct vfs *v, void *user);

static void wait_until(struct vfs *v, struct staging *s, int64_t when) REQUIRES(vfs_class)
{
	if (!has_ended(s) && deadline_set(v->deadlines, &s->end, when))
		s->references++;
}

/* Restarts the wait after a change. */
static void wait_for_end(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	s->quiet.at = clock_ms() + END_MS;
	wait_until(v, s, s->quiet.at);
	program_end_hasten(&s->maker);
}

static void staging_end(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	if (has_ended(s))
		return;
	program_end_clear(&s->maker);
	s->thing->plain.staging = NULL;
	quiet_end(v, &s->quiet);
	if (deadline_clear(v->deadlines, &s->end))
		s->references--;
	staging_put(v, s);
}

/* Stages a folder. False: no memory. Takes over `who` if it returns true. */
static bool staging_add(struct vfs *v, struct node *node, struct program *maker, pid_t thread,
			struct caller *who) REQUIRES(vfs_class)
{
	struct staging *s = calloc(1, sizeof(*s));

	if (!s)
		return false;
	s->node = node_get(node);
	s->thing = thing_get(node->thing);
	s->end = (struct deadline){.due = staging_due, .user = s};
	s->references = 1;
	s->who = who;
	s->thing->plain.staging = s;
	s->quiet = (struct quiet){.folder = node, .maker = thread};
	quiet_begin(v, &s->quiet);
	if (maker)
		program_end_await(&s->maker, maker, &s->end);
	wait_for_end(v, s);
	return true;
}

int staging_begin(struct vfs *v, const struct request *who, const struct target *folder)
{
	struct program *maker;
	struct caller *caller = NULL;
	const struct thing *thing;
	char *path;
	int error = path_of(v, folder->node, NULL, &path);

	if (!error)
		error = note_add(v, path);
	free(path);
	if (!error && who)
		error = access_caller(v, who, &caller);
	if (error)
		return error;
	if (caller)
		caller->makes = true; /* it has made the folder */
	maker = who ? program_of(v, who) : NULL;
	vfs_lock(v);
	thing = folder->node->thing;
	if (thing->kind == THING_PLAIN && !staging_of(thing)) {
		if (staging_add(v, folder->node, maker, who ? who->pid : 0, caller))
			caller = NULL;
		else
			error = ENOMEM;
	}
	vfs_unlock(v);
	program_put(maker);
	free(caller);
	return error;
}

void staging_forget(struct vfs *v, const struct target *folder, const struct node *parent,
		    const char *name)
{
	struct staging *s;
	char *path;

	vfs_lock(v);
	s = staging_of(folder->thing);
	if (s)
		staging_end(v, s);
	vfs_unlock(v);
	if (!s)
		return;
	if (path_of(v, parent, name, &path) == 0)
		note_remove(v, path);
	free(path);
}

void staging_note_touch(struct vfs *v, const struct node *node)
{
	struct staging *s = staging_above(node);

	if (s)
		wait_for_end(v, s);
}

void staging_touch(struct vfs *v, const struct node *node)
{
	if (!v->staged)
		return;
	vfs_lock(v);
	staging_note_touch(v, node);
	vfs_unlock(v);
}

/* Notes a visit: if it is not by the maker, the maker's end no longer ends the staging. */
static void note_visit(struct staging *s, const struct program *p) REQUIRES(vfs_class)
{
	if (s->maker.program && s->maker.program != p)
		program_end_clear(&s->maker);
}

void staging_visit(struct vfs *v, const struct request *who, uint64_t folder)
{
	struct program *p;
	struct staging *s;
	struct guest guest;

	if (!v->staged)
		return;
	p = program_of(v, who);
	gate_enter(v, folder, &guest);
	vfs_lock(v);
	s = guest.node ? staging_above(guest.node) : NULL;
	if (s)
		note_visit(s, p);
	vfs_unlock(v);
	gate_leave(v, &guest);
	program_put(p);
}

/* Notes attributes that were set. Files deeper down are texts, whose attributes do not matter. */
static void give_to(struct staging *s, const struct node *node, unsigned what, pid_t by)
	REQUIRES(vfs_class)
{
	const struct link *link = node_link(node);

	if (node == s->node)
		gifts_add(&s->gifts, NULL, what, by);
	else if (link && link->parent == s->node && !node->thing->folder)
		gifts_add(&s->gifts, &node->thing->plain.identity, what, by);
}

void staging_given(struct vfs *v, const struct request *who, const struct node *node, unsigned what)
{
	struct program *p;
	struct staging *s;
	pid_t by;

	if (!v->staged)
		return;
	by = what && who ? process_of(who->pid) : 0;
	p = who ? program_of(v, who) : NULL;
	vfs_lock(v);
	s = staging_above(node);
	if (s) {
		if (who)
			note_visit(s, p);
		give_to(s, node, what, by);
		s->has_file |= (what & 1u << GIVEN_MADE) && !node->thing->folder;
		wait_for_end(v, s);
	}
	vfs_unlock(v);
	program_put(p);
}

/* ---- the end ---- */

/* Is a file in it open for writing? */
static bool is_busy(struct vfs *v, const struct staging *s) REQUIRES(vfs_class)
{
	const struct node *node;
	size_t at = 0;

	while ((node = nodes_next(&v->nodes, &at))) {
		if (node->handles && node_writers(node) && staging_above(node) == s)
			return true;
	}
	return false;
}

/* The animation in whose folder it is, with a reference; NULL: it is to become a file. */
static struct animation *staging_find_animation(struct vfs *v, const struct staging *s)
{
	struct animation *a = NULL;
	const struct link *link;

	vfs_lock(v);
	link = node_link(s->node);
	if (link && link->parent->thing->kind == THING_ANIMATION)
		a = link->parent->thing->animation;
	if (a)
		animation_get(a);
	vfs_unlock(v);
	return a;
}

/* Sets the next attempt after a failure; wrong texts stay wrong until they are changed. */
static void staging_try_again(struct vfs *v, struct staging *s, int error) REQUIRES(staging_class)
{
	s->rest = s->rest ? 2 * s->rest : END_MS;
	if (s->rest > REST_MAX_MS)
		s->rest = REST_MAX_MS;
	vfs_lock(v);
	if (v->stagings->ended)
		staging_end(v, s); /* the next mount continues by the note */
	else if (error != EBADMSG)
		wait_until(v, s, clock_ms() + s->rest);
	vfs_unlock(v);
}

/* Why it is still a folder; NULL: nothing to report. */
static const char *staging_reason_of(int error, const struct err *err)
{
	if (err->code)
		return err->message;
	return !error || error == ENODATA || error == ENOENT ? NULL : strerror(error);
}

/*
 * Turns the folder into the clip or file that its texts describe; one without texts stays an
 * ordinary folder.
 */
static int finish_now(struct vfs *v, struct staging *s, struct changes *changes)
	REQUIRES(staging_class)
{
	struct staged f = STAGED_INIT(v);
	bool is_clip;
	int error;

	f.staging = s;
	f.changes = changes;
	f.animation = staging_find_animation(v, s);
	is_clip = f.animation != NULL;
	error = is_clip ? staging_make_clip(&f) : staging_make_file(&f);
	if (f.path)
		diagnose(v, f.path, is_clip ? "not a clip yet" : "not an animation yet",
			 staging_reason_of(error, &f.err));
	if (!error || error == ENODATA || error == ENOENT) {
		if (f.path)
			note_remove(v, f.path);
		vfs_lock(v);
		staging_end(v, s);
		vfs_unlock(v);
	} else {
		staging_try_again(v, s, error);
	}
	staged_release(&f);
	return error == ENODATA ? 0 : error;
}

/* Has its wait ended, or its maker, with no other program looking into it? */
static bool staging_is_due(struct vfs *v, const struct staging *s) REQUIRES(vfs_class)
{
	return !deadline_is_set(v->deadlines, &s->end) &&
	       ((s->has_file && program_end_has_come(&s->maker)) || quiet_is_over(v, &s->quiet));
}

/*
 * Why a folder ends: by itself, and not if something happened meanwhile; for an fsync; or with the
 * mount. Only with the mount does one end in which a file is open for writing: its text may be half
 * written.
 */
enum ending { ENDS_DUE, ENDS_SYNCED, ENDS_ALL };

/* Closes its gate. False: it does not end now. */
static bool close_staging(struct vfs *v, struct staging *s, enum ending why) REQUIRES(staging_class)
{
	const bool due = why == ENDS_DUE;
	int64_t now;
	bool ends;

	vfs_lock(v);
	gate_close(v, s->node);
	now = clock_ms();
	ends = !has_ended(s) && (!due || staging_is_due(v, s));
	if (why == ENDS_SYNCED && is_busy(v, s))
		ends = false; /* the close restarts the wait */
	if (due && (ends ? is_busy(v, s) : !deadline_is_set(v->deadlines, &s->end))) {
		/* A close or a look that is under way will restart the wait. */
		wait_until(v, s, s->quiet.at > now && !ends ? s->quiet.at : now + END_MS);
		ends = false;
	}
	vfs_unlock(v);
	return ends;
}

static int finish_closed(struct vfs *v, struct staging *s, struct changes *changes, enum ending why)
	REQUIRES(staging_class)
{
	int error = close_staging(v, s, why) ? finish_now(v, s, changes) : 0;

	vfs_lock(v);
	gate_open(v);
	vfs_unlock(v);
	return error;
}

/*
 * Ends the staging, and drops the caller's reference. above: the folder that the kernel has locked
 * for the request, or NULL.
 */
static int finish_staging(struct vfs *v, struct staging *s, const struct node *above,
			  enum ending why)
{
	struct changes changes = CHANGES_INIT;
	int error;

	changes.saved = true;
	changes.locked[0] = above ? above->id : 0;
	lock_acquire(&v->stagings->turn, &staging_class);
	error = finish_closed(v, s, &changes, why);
	lock_release(&v->stagings->turn, &staging_class);
	changes_send_all(v, &changes);
	vfs_lock(v);
	staging_put(v, s);
	vfs_unlock(v);
	return error;
}

static void staging_due(struct vfs *v, void *user)
{
	struct staging *s = user;

	finish_staging(v, s, NULL, ENDS_DUE);
}

/* Lists the stagings below a folder, each with a reference, ending in NULL. NULL: no memory. */
static struct staging **staging_list_below(struct vfs *v, const struct node *above)
{
	struct staging **list;
	size_t count = 0;

	vfs_lock(v);
	list = calloc(v->staged + 1, sizeof(struct staging *));
	for (const struct quiet *q = list ? v->gate.quiets : NULL; q; q = q->next) {
		struct staging *s = staging_of(q->folder->thing);

		if (!s || (above && !node_is_below(q->folder, above)))
			continue;
		s->references++;
		list[count++] = s;
	}
	vfs_unlock(v);
	return list;
}

int stagings_finish(struct vfs *v, const struct node *above)
{
	struct staging **list = staging_list_below(v, above);
	const enum ending why = v->stagings->ended ? ENDS_ALL : ENDS_SYNCED;
	int first = list ? 0 : ENOMEM;

	for (size_t i = 0; list && list[i]; i++) {
		int error = finish_staging(v, list[i], above, why);

		first = first ? first : error;
	}
	free(list);
	return first;
}

void stagings_end(struct vfs *v)
{
	v->stagings->ended = true;
	(void)stagings_finish(v, NULL);
}

/* ---- folders that an earlier mount left ---- */

/* Finds the node of a path, with references. */
static int find_target(struct vfs *v, const char *path, struct target *out)
{
	int error = target_get(v, NODE_ROOT, out);
	char name[NAME_MAX + 1];
	struct entry entry;

	while (!error && *path) {
		size_t length = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		path += length + (path[length] == '/');
		error = lookup_in(v, out, name, &entry);
		target_put(v, out);
		if (error)
			break;
		error = target_get(v, entry.node, out);
		vfs_forget(v, entry.node, 1);
	}
	return error;
}

static void resume_staging(struct vfs *v, const char *path)
{
	struct target folder;
	int error = find_target(v, path, &folder);

	if (!error && folder.thing->kind == THING_PLAIN && folder.thing->folder)
		(void)staging_begin(v, NULL, &folder);
	else if (!error || error == ENOENT)
		note_remove(v, path);
	if (!error)
		target_put(v, &folder);
}

void stagings_resume(struct vfs *v)
{
	if (v->read_only)
		return;
	notes_each(v, resume_staging);
	(void)stagings_finish(v, NULL);
}
