/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "save.h"
#include "acl.h"
#include "attr.h"
#include "batches.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/refusal.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "pinned.h"
#include "plain.h"
#include "program.h"
#include "store/create.h"
#include "text/table.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- the writer's lock ---- */

void writers_lock(struct animation *a, struct animation *b)
{
	lock_acquire_pair(a ? &a->writer : NULL, b ? &b->writer : NULL, &writer_class);
}

void writers_unlock(struct animation *a, struct animation *b)
{
	lock_release_pair(a ? &a->writer : NULL, b ? &b->writer : NULL, &writer_class);
}

/*
 * Finds where the file is, to write it. While the commit waits for another process it keeps the
 * writer's lock, for which other saves, renames and removals wait.
 */
static int open_site(struct vfs *v, struct animation *a, struct site *site) REQUIRES(writer_class)
{
	int error = site_open(v, a, site);

	if (error)
		return error;
	site->where.hook = &site->hook;
	return error;
}

/* ---- errors ---- */

/*
 * Maps errnos of a rename() that mv and LibreOffice would misinterpret, so that they lose the text.
 */
static int errno_for_rename(int error)
{
	return error == EINVAL || error == EXDEV ? EIO : error;
}

int errno_of(const struct err *err)
{
	switch (err->code) {
	case ERR_MEMORY:
		return ENOMEM;
	case ERR_SYSTEM:
		return errno_for_rename(err->number);
	default:
		return EBADMSG;
	}
}

/* ---- refusals ---- */

/* The view that a save is about, independent of which node stands for it now. */
struct saving {
	struct vfs *v;
	struct animation *a;
	const struct thing *thing; /* the view's thing; NULL: there is none yet */
	char *path;                /* path of the view from SOURCE */
	/* path of the view from the animation's folder; points into `path` */
	const char *in_file;
	char clip[NAME_MAX + 1]; /* name of the view's clip; set by save_find_clip */
	struct refusal_owner owner;
	struct program *program; /* program that saves; referenced; or NULL */
	struct changes *changes;
};

static const char *save_name_of(const struct saving *s)
{
	return strrchr(s->in_file, '/') ? strrchr(s->in_file, '/') + 1 : s->in_file;
}

/* Sets `path` and `in_file`, for the view `name` of this folder. */
static int find_path(struct saving *s, const struct node *parent, const char *name)
	REQUIRES(vfs_class)
{
	struct buf top = BUF_INIT, path = BUF_INIT;
	int error = ENOENT;

	if (s->a->folder && s->a->folder->node)
		error = node_path(s->a->folder->node, &top);
	if (!error)
		error = node_path_of(parent, name, &path);
	s->path = (char *)path.data;
	/* Skip the path of the animation's folder, and the slash. */
	s->in_file = error ? NULL : s->path + top.size;
	buf_release(&top);
	return error;
}

/* Stores the name of the view's clip in s->clip. Returns false if the view is in no clip. */
static bool save_find_clip(struct saving *s)
{
	size_t length = strcspn(s->in_file, "/");

	snprintf(s->clip, sizeof(s->clip), "%.*s", (int)length, s->in_file);
	return s->in_file[length] != '\0';
}

/* Returns the node of the view's folder, without a reference; NULL if it is not known. */
static struct node *known_folder(const struct saving *s) REQUIRES(vfs_class)
{
	struct node *node = s->a->folder ? s->a->folder->node : NULL;
	char name[NAME_MAX + 1];
	const char *at = s->in_file, *slash;

	while (node && (slash = strchr(at, '/'))) {
		snprintf(name, sizeof(name), "%.*s", (int)(slash - at), at);
		node = nodes_by_name(&s->v->nodes, node, name);
		at = slash + 1;
	}
	return node;
}

/* Invalidates NAME.rejected and NAME.error, which were added, removed or changed. */
static void refusals_changed(const struct saving *s)
{
	static const char *const suffixes[] = {".rejected", ".error"};
	struct node *folder, *child;
	char name[NAME_MAX + 16];

	vfs_lock(s->v);
	folder = known_folder(s);
	for (size_t i = 0; folder && i < ARRAY_SIZE(suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", save_name_of(s), suffixes[i]);
		child = nodes_by_name(&s->v->nodes, folder, name);
		if (child)
			changes_data(s->changes, child);
		changes_name(s->changes, folder, name, false);
	}
	if (folder)
		changes_data(s->changes, folder);
	vfs_unlock(s->v);
}

/* Reports a refused text that could not be put into .rejected and so stays in the draft. */
static void note_unkept(const struct saving *s, const struct err *err, int error)
{
	char reason[2 * sizeof(err->message)];

	snprintf(reason, sizeof(reason),
		 "%s; the text is not saved and cannot be put beside the view: %s", err->message,
		 strerror(error));
	diagnose(s->v, s->path, "not saved", reason);
}

/*
 * Writes .rejected and .error beside the view. If that fails (an errno), the draft keeps the text,
 * since nothing else has it.
 */
static int keep_refusal(const struct saving *s, struct attempt *attempt, const struct err *err)
{
	int error = refusal_write(s->v->refusals, s->path, text_bytes(attempt->text), err,
				  &s->owner, &attempt->rejected);

	if (!error)
		refusals_changed(s);
	if (!error || !attempt->unkept)
		log_warning("%s: %s", s->path, err->message);
	if (error)
		note_unkept(s, err, error);
	else
		/* NAME.error has the reason, so the path needs no entry */
		diagnose(s->v, s->path, NULL, NULL);
	return error;
}

/*
 * Replaces the view's entry in .animfs/errors, after its text was saved or changed nothing: the new
 * entry lists the parts that were ignored, if any. With `files`, also removes .rejected and .error.
 */
static void drop_refusals(const struct saving *s, const struct attempt *attempt, bool files)
{
	diagnose(s->v, s->path, "saved", table_ignored(s->path, text_bytes(attempt->text)));
	if (files && refusal_remove(s->v->refusals, s->path))
		refusals_changed(s);
}

/* ---- clips that get another name by a save ---- */

/* Moves the ordinary files beside a renamed clip's texts. */
static void save_move_upper(struct vfs *v, struct animation *a, const struct relabel *relabel)
{
	struct node *folder = folder_of(v, a);

	if (folder)
		upper_move(v, folder, relabel->from, folder, relabel->to);
	node_release(v, folder);
}

/* Moves the attributes that were set on a renamed clip. */
static void move_given(struct vfs *v, struct animation *a, const struct relabel *relabel)
{
	struct node *folder = folder_of(v, a), *clip;

	vfs_lock(v);
	clip = folder ? nodes_by_name(&v->nodes, folder, relabel->to) : NULL;
	if (clip)
		given_move(v, folder, relabel->from, clip);
	node_put(&v->nodes, folder);
	vfs_unlock(v);
}

static void publish_saved(struct vfs *v, struct animation *a, struct version *now,
			  const struct thing *saved, const struct relabel *relabels, size_t count,
			  struct changes *changes) REQUIRES(writer_class)
{
	/*
	 * Keep lookups out, so that programs that create a file there see disk and table change
	 * together.
	 */
	if (count)
		folders_hold_still(v);
	for (size_t i = 0; i < count; i++)
		save_move_upper(v, a, &relabels[i]);
	animation_publish(v, a, now, saved, relabels, count, changes);
	if (count)
		folders_let_move(v);
	for (size_t i = 0; i < count; i++)
		move_given(v, a, &relabels[i]);
}

void clip_follow(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		 struct version *now, struct changes *changes)
{
	const struct relabel relabel = {label, new_label};

	publish_saved(v, a, now, NULL, &relabel, 1, changes);
}

/* ---- commits ---- */

static uint64_t hash_text(const struct saving *s, const struct attempt *attempt)
{
	struct bytes text = text_bytes(attempt->text);
	uint64_t seed = XXH3_64bits(s->in_file, strlen(s->in_file));

	return XXH3_64bits_withSeed(text.data, text.size, seed);
}

/* Returns whether this is the text that was saved last, saved again. */
static bool is_once_more(const struct saving *s, const struct attempt *attempt,
			 const struct version *now) REQUIRES(writer_class)
{
	const struct last_text *last = &s->a->last_text;

	return draft_hangs_together(attempt->place.view) && now->generation == last->generation &&
	       hash_text(s, attempt) == last->hash;
}

static bool has_other_names(const struct site *site)
{
	struct stat st;

	return fstatat(site->where.dir, site->where.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_nlink > 1;
}

/*
 * Finds the clip's new name, if its text has renamed it. Returns how many clips were renamed: 0 or
 * 1.
 */
static size_t find_relabel(const struct attempt *attempt, struct relabel *out)
{
	const struct place *place = &attempt->place;
	const struct version *now = attempt->last.saved;

	if (place->view->place != VIEW_OF_CLIP || !attempt->last.edited)
		return 0;
	*out = (struct relabel){attempt->called ? attempt->called
						: attempt->base->anim->clips[place->clip].label,
				attempt->last.edited->clips[place->clip].label};
	/*
	 * No rename if the text has no name, or has the name from before others renamed the clip.
	 */
	return version_clip(now, out->from) < 0 && version_clip(now, out->to) >= 0;
}

static void save_note_saved(const struct saving *s, const struct attempt *attempt)
	REQUIRES(writer_class)
{
	struct version *saved = attempt->last.saved;
	struct relabel relabel;
	size_t count = find_relabel(attempt, &relabel);

	s->a->last_text = (struct last_text){.hash = hash_text(s, attempt),
					     .generation = saved->generation,
					     .as_said = attempt->as_said};
	drop_refusals(s, attempt, true);
	publish_saved(s->v, s->a, saved, s->thing, &relabel, count, s->changes);
	s->changes->saved = true;
}

/* The result of an attempt. */
struct outcome {
	enum verdict verdict;
	bool dropped; /* whether the draft must be dropped, so that the text is rendered again */
	/* whether only the draft has the text, since .rejected could not be written */
	bool unkept;
};

/* Publishes the result, and updates .rejected and .animfs/errors. */
static void save_note_verdict(const struct saving *s, struct attempt *attempt, enum verdict verdict)
	REQUIRES(writer_class)
{
	if (verdict == VERDICT_SAVED)
		save_note_saved(s, attempt);
	else if (verdict == VERDICT_SAME)
		/* Keep texts of other programs that were refused. */
		drop_refusals(s, attempt, attempt->rejected == 1);
	else if (attempt_is_stored_otherwise(attempt))
		/* Other texts of the batch were stored. */
		publish_saved(s->v, s->a, attempt->last.saved, NULL, NULL, 0, s->changes);
	animation_touch(s->v, s->a);
	if (verdict == VERDICT_SAVED || verdict == VERDICT_SAME)
		attempt->rejected = 0;
}

/*
 * Decodes the text of a raw.*. Returns NULL for any other view, or if the text does not decode;
 * then it is refused only if it counts.
 */
static struct version *save_read_whole(const struct saving *s, const struct attempt *attempt,
				       const struct site *site, struct version *now,
				       struct err *err)
{
	const struct bytes text = text_bytes(attempt->text);

	if (!attempt->place.view->whole)
		return NULL;
	if (bytes_equal(text, buf_bytes(&now->bytes)))
		return version_get(now);
	return source_decode(s->a->source, &site->where, text, err);
}

/*
 * Commits the text as part of its program's batch. err: why it was refused by itself, if it was.
 * *silent: set if the file was not given the values of this text.
 */
static enum verdict commit_in_batch(struct batches_save *b, struct version *whole, bool *silent,
				    struct err *err) EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct err why = {.code = ERR_NONE};
	enum verdict verdict;

	switch (batches_add(b, whole, &why)) {
	case BATCH_SAVE:
		verdict = attempt_store(b->attempt, b->a->source, b->where, err);
		if (verdict == VERDICT_SAVED || verdict == VERDICT_SAME)
			batches_saved(b);
		else
			batches_take_back(b);
		return verdict;
	case BATCH_REWRITE:
		*silent = true;
		verdict = batches_rewrite(b, &why);
		if (verdict == VERDICT_REFUSED)
			batches_take_back(b);
		if (verdict != VERDICT_REFUSED || why.code)
			*err = why;
		return verdict;
	case BATCH_NOTHING:
		*silent = true;
		*err = why;
		return VERDICT_SAME;
	case BATCH_REFUSED:
	case BATCH_ANOTHER:
		break;
	case BATCH_FAILED:
		*err = why;
		return VERDICT_REFUSED;
	}
	return VERDICT_REFUSED;
}

/*
 * Returns whether the text is saved as part of a batch. Not if it is a skeleton, is empty, or was
 * generated and refused.
 */
static bool save_is_of_batch(const struct attempt *attempt, enum verdict read)
{
	const struct view *view = attempt->place.view;
	bool generated = !view->whole && !view->parse && !view->parse_skeleton;

	return !view->parse_skeleton && text_bytes(attempt->text).size > 0 &&
	       !(generated && read == VERDICT_REFUSED);
}

/* Commits the text in a batch, which decides by `now`, the current version. */
static enum verdict store_in_batch(const struct saving *s, struct attempt *attempt,
				   struct site *site, struct version *now, bool *silent,
				   struct err *err) EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct batches_save b = {.v = s->v,
				 .a = s->a,
				 .program = s->program,
				 .where = &site->where,
				 .path = s->path,
				 .in_file = s->in_file,
				 .attempt = attempt};
	struct version *whole;
	enum verdict verdict;

	if (!batches_begin(&b, now, err))
		return VERDICT_REFUSED;
	whole = save_read_whole(s, attempt, site, now, err);
	verdict = commit_in_batch(&b, whole, silent, err);
	version_put(whole);
	batches_finish(&b);
	return verdict;
}

/*
 * Returns whether a raw.* was refused because other programs changed the file after its batch had
 * decided. Then *now becomes the version that the file has now, by which the batch may decide
 * otherwise.
 */
static bool take_overtaken(const struct saving *s, const struct attempt *attempt,
			   const struct site *site, struct version **now, struct err *err)
{
	struct version *before = *now;
	bool overtaken;

	if (!attempt->place.view->whole || err->code != ERR_CONFLICT)
		return false;
	*now = source_get(s->a->source, &site->where, NULL);
	overtaken = *now && *now != before;
	version_put(before);
	if (overtaken)
		err_clear(err);
	return overtaken;
}

#define OVERTAKEN_TRIES 16 /* as many as source_commit tries a commit again */

static enum verdict store(const struct saving *s, struct attempt *attempt, struct site *site,
			  struct version *now, enum verdict read, bool *silent, struct err *err)
	EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct version *by = version_get(now);
	enum verdict verdict = read;
	struct history_note note;
	unsigned tries = 0;

	if (save_is_of_batch(attempt, read)) {
		do
			verdict = store_in_batch(s, attempt, site, by, silent, err);
		while (verdict == VERDICT_REFUSED && ++tries < OVERTAKEN_TRIES &&
		       take_overtaken(s, attempt, site, &by, err));
	} else if (read == VERDICT_SAVED) {
		note = program_note(s->program);
		site->where.note = &note;
		verdict = attempt_store(attempt, s->a->source, &site->where, err);
		site->where.note = NULL;
	}
	version_put(by);
	return verdict;
}

/*
 * Returns whether the view has changed since the version that the draft started from, or that its
 * last commit left; `generation` is that of the latter.
 */
static bool has_moved(const struct attempt *attempt, const struct version *now, uint64_t generation)
{
	const struct tree was = {attempt->base, NULL}, is = {now, NULL};
	struct place place;

	return !tree_again(&is, &was, &attempt->place, &place) ||
	       tree_since(&is, &place) > generation;
}

static enum verdict try_commit(const struct saving *s, struct attempt *attempt, struct site *site,
			       bool *dropped, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class)
{
	struct version *now = source_get(s->a->source, &site->where, err);
	uint64_t left = attempt->last.saved ? attempt->last.saved->generation : 0;
	enum verdict verdict = VERDICT_SAME;
	bool linked, silent = false;

	*dropped = false;
	if (!now)
		return VERDICT_REFUSED;
	if (left < attempt->base->generation)
		left = attempt->base->generation;
	/*
	 * Nothing to do if the text that was saved last is saved again. If that save stored just
	 * what the text says (as_said), go on: the text then gets the file's values in the batch of
	 * another program, too.
	 */
	if (is_once_more(s, attempt, now) &&
	    !(s->a->last_text.as_said && attempt_read_as(attempt, now))) {
		version_put(now);
		animation_touch(s->v, s->a);
		*dropped = true;
		return VERDICT_SAME;
	}
	linked = !attempt->place.view->parse_skeleton && has_other_names(site);
	verdict = attempt->once_more ? VERDICT_SAVED : attempt_read(attempt, &site->where, err);
	if (verdict != VERDICT_PENDING)
		verdict = store(s, attempt, site, now, verdict, &silent, err);
	save_note_verdict(s, attempt, verdict);
	/*
	 * If the text changed nothing, but the view has changed meanwhile, do not keep the text as
	 * saved: the view now renders differently.
	 */
	silent |= verdict == VERDICT_SAME && has_moved(attempt, now, left);
	version_put(now);
	if (verdict == VERDICT_SAVED && linked)
		log_warning("%s: saved under this name only; its other hard links stay as they "
			    "were",
			    site->name);
	animation_settled(s->v, s->a);
	/* The draft of an incomplete text stays, since its program may continue it. */
	attempt->is_silent = silent;
	*dropped = (silent && attempt->event != DRAFT_FLUSH_OTHER) ||
		   (attempt->once_more && verdict == VERDICT_SAME);
	return verdict;
}

/*
 * Sets owner and mode of .rejected: it belongs to the writer, with the file's group, and is
 * readable by all users that may read the file and the view. If the file has an ACL, the group bits
 * of its mode are not those of the group, so the group gets nothing.
 */
static void find_readers(struct saving *s, const struct site *site)
{
	struct stat st = {.st_mode = 0600, .st_gid = s->owner.gid};
	const struct given *given = NULL;
	char path[DIRFD_PROC_SIZE];

	(void)site_stat(site, &st);
	vfs_lock(s->v);
	if (s->thing->node)
		given = given_find(s->thing->node);
	if (given && given->has_mode)
		st.st_mode &= given->mode;
	vfs_unlock(s->v);
	s->owner.gid = st.st_gid;
	s->owner.mode = 0600 | (st.st_mode & 0666);
	if (dirfd_proc_path(site->where.dir, site->where.name, path, sizeof(path)) == 0 &&
	    lgetxattr(path, ACL_ACCESS, NULL, 0) > 0)
		s->owner.mode &= ~(mode_t)060;
}

/* Commits an attempt, and notes the verdict. Returns 0 or the errno of the refusal. */
static int commit_attempt(struct saving *s, struct attempt *attempt, struct site *site,
			  struct outcome *out) EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct err err = {.code = ERR_NONE};
	int error;

	site->where.writer = s->program ? &s->program->uid : &s->owner.uid;
	find_readers(s, site);
	out->unkept = false;
	out->verdict = try_commit(s, attempt, site, &out->dropped, &err);
	if (out->verdict != VERDICT_REFUSED)
		return 0;
	error = keep_refusal(s, attempt, &err);
	out->unkept = error != 0;
	return !error || err.code == ERR_SYSTEM ? errno_of(&err) : errno_for_rename(error);
}

/*
 * Pins the view to the saved version, which the view's open handles show if the draft is dropped.
 */
static void pin_saved(struct vfs *v, const struct target *t, struct version *saved)
	REQUIRES(vfs_class)
{
	struct view_state *view = &t->thing->view;
	struct place place;

	view->saved = saved->generation;
	if (!view->version || view->standing != STANDS || !place_by_names(t->node, saved, &place))
		return;
	version_put(view->version);
	view->version = version_get(saved);
	view->place = place;
	pinned_drop_text(v, t->thing);
}

/*
 * Stops keeping the text as it was saved: drops it now, or when the last writer has closed the
 * view. Until then the view's name shows the file, if the text differs.
 */
static void save_drop_text(const struct saving *s, struct node *node, struct draft *draft)
	REQUIRES(vfs_class)
{
	if (!node_writers(node)) {
		view_drop_draft(s->v, node);
		changes_data(s->changes, node);
	} else if (draft->state == DRAFT_SAVED_STALE) {
		view_part(s->v, node, s->changes);
	} else {
		draft_drop_on_close(draft);
	}
}

/* Updates the view's draft after a commit. */
static void conclude_draft(const struct saving *s, const struct target *t, struct attempt *attempt,
			   const struct outcome *came)
{
	bool saved = came->verdict == VERDICT_SAVED || came->verdict == VERDICT_SAME, stands;
	struct draft *draft;

	vfs_lock(s->v);
	stands = t->node->thing == t->thing;
	draft = t->thing->view.draft;
	if (saved && stands && attempt->last.saved)
		pin_saved(s->v, t, attempt->last.saved);
	draft_conclude(draft, attempt, came->verdict);
	if (came->unkept)
		draft_keep_unsaved(draft);
	if (stands && !t->node->handles)
		view_closed(s->v, t->node);
	if (saved && stands)
		view_catch_up(s->v, t->node, s->changes);
	draft = t->thing->view.draft;
	if (came->dropped && draft && !draft_is_written(draft) && stands)
		save_drop_text(s, t->node, draft);
	vfs_unlock(s->v);
}

/*
 * Returns the name under which the view's draft is committed; NULL if the view has no draft, or no
 * longer a name.
 */
static const struct link *link_of_draft(const struct target *t) REQUIRES(vfs_class)
{
	const struct view_state *view = &t->thing->view;

	if (!view->draft || view->standing == DETACHED || t->node->thing != t->thing)
		return NULL;
	return node_link(t->node);
}

/* Begins a commit. ENODATA: there is nothing to commit, or the view no longer has a name. */
static int begin_attempt(struct vfs *v, const struct target *t, enum draft_event event,
			 struct saving *s, struct attempt *attempt)
{
	struct view_state *view = &t->thing->view;
	const struct link *link;
	int error = ENODATA;

	vfs_lock(v);
	link = link_of_draft(t);
	if (link)
		error = find_path(s, link->parent, link->name);
	if (!error && !draft_attempt(view->draft, event, attempt))
		error = ENODATA;
	if (!error && save_find_clip(s))
		attempt->called = s->clip;
	if (!error)
		view->mapped = false;
	s->owner = (struct refusal_owner){view->uid, view->gid, 0};
	s->program = !error && view->program ? program_get(view->program) : NULL;
	vfs_unlock(v);
	return error;
}

int view_commit_locked(struct vfs *v, const struct target *t, enum draft_event event,
		       struct changes *changes)
{
	struct saving s = {.v = v, .a = t->thing->animation, .thing = t->thing, .changes = changes};
	struct attempt attempt;
	struct outcome came;
	struct site site;
	bool named;
	int error;

	/*
	 * A view that was removed with its file has nothing to save, and its folder may be gone,
	 * too.
	 */
	vfs_lock(v);
	named = link_of_draft(t) != NULL;
	vfs_unlock(v);
	if (!named)
		return 0;
	error = open_site(v, s.a, &site);
	if (error)
		return error;
	error = begin_attempt(v, t, event, &s, &attempt);
	if (!error) {
		error = commit_attempt(&s, &attempt, &site, &came);
		conclude_draft(&s, t, &attempt, &came);
		attempt_release(&attempt);
	}
	site_close(v, &site);
	program_put(s.program);
	free(s.path);
	return error == ENODATA ? 0 : error;
}

int view_commit(struct vfs *v, const struct target *t, enum draft_event event,
		struct changes *changes)
{
	struct animation *a = t->thing->animation;
	bool unsaved;
	int error;

	vfs_lock(v);
	unsaved = t->thing->view.draft != NULL;
	vfs_unlock(v);
	if (!unsaved)
		return 0;
	writer_lock(a);
	error = view_commit_locked(v, t, event, changes);
	writer_unlock(a);
	return error;
}

/* ---- a whole text at once ---- */

/* Makes a thing for the view with this text as its draft. No node points to the thing yet. */
static int new_view(struct vfs *v, const struct request *who, const struct target *parent,
		    const char *name, const struct site *site, struct text *text,
		    struct caller *caller, struct thing **out)
{
	struct animation *a = parent->thing->animation;
	struct version *now = source_get(a->source, &site->where, NULL);
	struct program *program = program_of(v, who);
	struct draft *draft = NULL;
	struct place place;
	int error = now ? place_in(v, parent, now, name, &place) : EIO;

	if (!error && place.kind != PLACE_VIEW)
		error = ENOENT;
	if (!error)
		draft = draft_new(now, &place, NULL, &v->drafts);
	if (!error && !(draft && program))
		error = ENOMEM;
	if (error) {
		free(caller);
		draft_free(draft);
		program_put(program);
		version_put(now);
		return error;
	}
	draft_save_for(draft, caller);
	draft_replace(draft, text_get(text));
	vfs_lock(v);
	*out = thing_view(&v->nodes, a, place.view);
	if (*out) {
		(*out)->view.draft = draft;
		(*out)->view.version = now;
		(*out)->view.place = place;
		(*out)->view.uid = who->uid;
		(*out)->view.gid = who->gid;
		(*out)->view.program = program;
	}
	vfs_unlock(v);
	if (*out)
		return 0;
	draft_free(draft);
	program_put(program);
	version_put(now);
	return ENOMEM;
}

/* Pins the new view to the version that the save made. */
static void show_saved(struct thing *view, const struct attempt *attempt, const char *file_name)
	REQUIRES(vfs_class)
{
	const struct tree was = {attempt->base, file_name}, now = {attempt->last.saved, file_name};
	struct place place;

	view->view.saved = now.version->generation;
	if (!tree_again(&now, &was, &attempt->place, &place))
		return;
	version_put(view->view.version);
	view->view.version = version_get(attempt->last.saved);
	view->view.place = place;
}

/* Begins to commit the draft of a new view. On an error the draft is dropped. */
static int text_save_begin(struct saving *s, const struct target *parent, const char *name,
			   struct thing *view, struct attempt *attempt)
{
	int error;

	s->thing = view;
	vfs_lock(s->v);
	error = find_path(s, parent->node, name);
	s->program = view->view.program ? program_get(view->view.program) : NULL;
	if (!error)
		draft_attempt(view->view.draft, DRAFT_SAVE, attempt);
	else
		thing_put(&s->v->nodes, view);
	vfs_unlock(s->v);
	return error;
}

/* Commits the draft of a new view. Returns 0, or the errno of the refusal. */
static int text_save_commit(struct saving *s, struct thing *view, struct attempt *attempt,
			    struct site *site) EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct outcome came;
	int error = commit_attempt(s, attempt, site, &came);

	vfs_lock(s->v);
	if (attempt->last.saved)
		show_saved(view, attempt, site->name);
	draft_conclude(view->view.draft, attempt, came.verdict);
	view->view.outdated = came.dropped;
	if (error)
		thing_put(&s->v->nodes, view);
	vfs_unlock(s->v);
	attempt_release(attempt);
	return error;
}

int text_save(struct vfs *v, const struct request *who, const struct target *parent,
	      const char *name, struct text *text, struct caller *caller, struct thing **out,
	      struct changes *changes)
{
	struct saving s = {.v = v,
			   .a = parent->thing->animation,
			   .owner = {who->uid, who->gid, 0},
			   .changes = changes};
	struct attempt attempt;
	struct site site;
	int error = open_site(v, s.a, &site);

	*out = NULL;
	if (error) {
		free(caller);
		return error;
	}
	error = new_view(v, who, parent, name, &site, text, caller, out);
	if (!error)
		error = text_save_begin(&s, parent, name, *out, &attempt);
	if (!error)
		error = text_save_commit(&s, *out, &attempt, &site);
	if (error)
		*out = NULL;
	site_close(v, &site);
	program_put(s.program);
	free(s.path);
	return error;
}

/* ---- texts between views and plain files ---- */

static int save_read_plain(struct vfs *v, const struct target *t, struct text **out)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int fd, error = plain_open(v, t, O_RDONLY, &fd);

	if (error)
		return error;
	error = dirfd_read_open(fd, v->options->max_text, &text, &st);
	close(fd);
	if (error) {
		buf_release(&text);
		return error;
	}
	*out = text_new(&text);
	return *out ? 0 : ENOMEM;
}

int node_text(struct vfs *v, const struct target *t, struct text **out)
{
	if (t->thing->kind == THING_VIEW)
		return view_text(v, t, out);
	return t->thing->kind == THING_PLAIN ? save_read_plain(v, t, out) : EPERM;
}

/*
 * Writes a file of the caller into a folder of SOURCE, or of an area of a virtual folder, with the
 * mode and mtime of `like`.
 */
static int save_put_text(struct vfs *v, const struct request *who, const struct target *parent,
			 int folder, const char *name, const struct stat *like, struct bytes text,
			 bool exclusive)
{
	struct state_owner as = {(uid_t)-1, (gid_t)-1, like->st_mode & 0666, &like->st_mtim};
	char *path = NULL;
	int error = 0;

	plain_owner(who, folder, &as.uid, &as.gid);
	if (area_for(parent->thing) == AREA_SOURCE)
		error = path_of(v, parent->node, NULL, &path);
	if (!error)
		error = state_put_as(v->state, folder, path, name, &as, text,
				     exclusive ? STATE_PUT_NEW : 0);
	free(path);
	return error;
}

int view_write_out(struct vfs *v, const struct request *who, const struct target *t,
		   const struct target *parent, const char *name, bool exclusive)
{
	enum area area = area_for(parent->thing);
	char stored[NAME_MAX + 1];
	struct folder folder;
	struct text *text;
	struct stat st;
	int error = plain_name(area, name, stored);

	if (!error)
		error = view_text(v, t, &text);
	if (error)
		return error;
	if (attributes_of(v, t, &st) != 0)
		st = (struct stat){.st_mode = 0600, .st_mtim = {.tv_nsec = UTIME_NOW}};
	error = upper_grow(v, area, text_bytes(text).size + UPPER_ENTRY);
	if (!error)
		error = plain_folder(v, parent, area, true, &folder);
	if (!error) {
		error = save_put_text(v, who, parent, folder.fd, stored, &st, text_bytes(text),
				      exclusive);
		folder_close(v, &folder);
	}
	text_put(text);
	return error;
}

/* ---- edits that no text asked for ---- */

static bool save_same_name(const struct clip *a, const struct clip *b)
{
	return a->name == b->name || strcmp(a->name, b->name) == 0;
}

/*
 * Returns the clip of version `now` that clip `i` of an edit stands for: the n-th of its name, if
 * both have as many clips of that name; else NULL. The index may be another one, since other
 * programs may have added and removed clips meanwhile.
 */
static const struct clip *find_committed(const struct anim *edited, uint32_t i,
					 const struct anim *now)
{
	const struct clip *clip = &edited->clips[i], *found = NULL;
	uint32_t before = 0, after = 0, count = 0;

	for (uint32_t j = 0; j < edited->clip_count; j++) {
		if (save_same_name(&edited->clips[j], clip))
			*(j < i ? &before : &after) += 1;
	}
	for (uint32_t j = 0; j < now->clip_count; j++) {
		if (save_same_name(&now->clips[j], clip) && count++ == before)
			found = &now->clips[j];
	}
	return count == before + after ? found : NULL;
}

/* Returns whether the clips of an edit have the same places in version `now`. */
static bool are_in_place(const struct anim *edited, const struct anim *now)
{
	uint32_t i = 0;

	if (edited->clip_count != now->clip_count)
		return false;
	while (i < now->clip_count && save_same_name(&edited->clips[i], &now->clips[i]))
		i++;
	return i == now->clip_count;
}

/*
 * Finds clips whose label has changed, perhaps because it depends on the names of others (walk~2).
 */
static size_t find_relabels(const struct anim *base, const struct anim *edited,
			    const struct anim *now, struct relabel *out)
{
	bool in_place = are_in_place(edited, now);
	size_t count = 0;

	for (uint32_t i = 0; i < edited->clip_count; i++) {
		uint32_t origin = edited->clips[i].origin;
		const struct clip *clip =
			in_place ? &now->clips[i] : find_committed(edited, i, now);

		if (origin == ANIM_NEW || !clip ||
		    strcmp(base->clips[origin].label, clip->label) == 0)
			continue;
		out[count++] = (struct relabel){base->clips[origin].label, clip->label};
	}
	return count;
}

int edit_commit(struct vfs *v, struct animation *a, struct version *base, const struct anim *edited,
		struct program *by, struct changes *changes, struct err *err)
{
	const struct history_note note = program_note(by);
	struct version *now;
	enum commit commit;
	struct site site;
	int error = open_site(v, a, &site);

	if (error) {
		err_system(err, error, "the animation's folder");
		return error;
	}
	site.where.note = &note;
	commit = source_commit(a->source, &site.where, base, edited, NULL, NULL, &now, err);
	site_close(v, &site);
	if (commit == COMMIT_REFUSED)
		return errno_of(err);
	if (commit == COMMIT_DONE) {
		struct relabel *relabels = calloc(edited->clip_count + 1, sizeof(*relabels));
		size_t count =
			relabels ? find_relabels(base->anim, edited, now->anim, relabels) : 0;

		publish_saved(v, a, now, NULL, relabels, count, changes);
		changes->saved = true;
		animation_touch(v, a);
		free(relabels);
	}
	animation_settled(v, a);
	version_put(now);
	return 0;
}

/* ---- room for texts ---- */

/*
 * Returns whether the view is closed, with a saved text that is kept only to show it as saved.
 * `expired`: whether its draft must have expired, too (draft_expire).
 */
static bool is_only_kept(const struct node *node, bool expired) REQUIRES(vfs_class)
{
	const struct thing *thing = node->thing;
	const struct draft *draft = thing->kind == THING_VIEW ? thing->view.draft : NULL;

	return draft && draft_is_saved(draft) && !node->handles && (!expired || !draft->base);
}

/*
 * Drops kept texts of `size` bytes, or as many as there are. Returns how many bytes were dropped.
 */
static size_t drop_kept_texts(struct vfs *v, size_t size, bool expired, struct changes *changes)
{
	struct node *node;
	size_t at = 0, dropped = 0;

	vfs_lock(v);
	while (dropped < size && (node = nodes_next(&v->nodes, &at))) {
		if (!is_only_kept(node, expired))
			continue;
		dropped += node->thing->view.draft->charged;
		node_get(node);
		view_part(v, node, changes);
		node_put(&v->nodes, node);
	}
	vfs_unlock(v);
	return dropped;
}

bool drafts_make_room(struct vfs *v, size_t size)
{
	struct changes changes = CHANGES_INIT;
	size_t dropped = drop_kept_texts(v, size, true, &changes);

	if (dropped < size)
		dropped += drop_kept_texts(v, size - dropped, false, &changes);
	changes_send_all(v, &changes);
	return dropped > 0;
}

/* ---- the end of the mount ---- */

/* Finds the next view with an unsaved text; with references. */
static bool next_unsaved(struct vfs *v, struct target *out)
{
	const struct draft *draft;
	struct node *node;
	size_t at = 0;

	vfs_lock(v);
	while ((node = nodes_next(&v->nodes, &at))) {
		draft = node->thing->kind == THING_VIEW ? node->thing->view.draft : NULL;
		if (draft && draft_is_unsaved(draft) && node->thing->view.standing != DETACHED)
			break;
	}
	if (node)
		*out = (struct target){node_get(node), thing_get(node->thing)};
	vfs_unlock(v);
	return node != NULL;
}

void drafts_commit_all(struct vfs *v)
{
	struct changes changes = CHANGES_INIT;
	struct target t;

	while (next_unsaved(v, &t)) {
		view_commit(v, &t, DRAFT_END, &changes);
		/* A text that can be kept neither in the file nor in .rejected is lost. */
		vfs_lock(v);
		if (t.thing->view.draft)
			draft_give_up(t.thing->view.draft);
		vfs_unlock(v);
		target_put(v, &t);
	}
	changes_discard(&changes); /* the mount has ended, so nothing is sent */
}
