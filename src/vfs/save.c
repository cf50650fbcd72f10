/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "save.h"
#include "acl.h"
#include "at.h"
#include "burst.h"
#include "diagnostics.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "plain.h"
#include "refusal.h"
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

static bool are_two(const struct animation *a, const struct animation *b)
{
	return a && b && a != b;
}

void writers_lock(struct animation *a, struct animation *b)
{
	lock_acquire_pair(a ? &a->writer : NULL, b ? &b->writer : NULL, &writer_class);
	if (are_two(a, b))
		a->paired = b->paired = true;
}

void writers_unlock(struct animation *a, struct animation *b)
{
	if (are_two(a, b))
		a->paired = b->paired = false;
	lock_release_pair(a ? &a->writer : NULL, b ? &b->writer : NULL, &writer_class);
}

/* Where the file is, to be written. While another process is waited for, others may go on. */
static int open_site(struct vfs *v, struct animation *a, struct site *site) REQUIRES(writer_class)
{
	int error = site_open(v, a, site);

	if (!error && !a->paired)
		site->where.turn = &site->turn;
	return error;
}

/* ---- errors ---- */

/* Programs misread these two from a rename: mv and LibreOffice lose text over them. */
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

/* A view as a save means it, wherever its node is by now. */
struct saving {
	struct vfs *v;
	struct animation *a;
	const struct thing *thing; /* NULL: it has none yet */
	struct buf path;           /* from SOURCE, with a NUL */
	const char *in_file;       /* the same from the animation's folder */
	struct refusal_owner owner;
	struct changes *changes;
};

static const char *path_of(const struct saving *s)
{
	return (const char *)s->path.data;
}

static const char *name_of(const struct saving *s)
{
	return strrchr(path_of(s), '/') + 1;
}

/* As the view `name` of this folder. */
static int find_path(struct saving *s, const struct node *parent, const char *name)
	REQUIRES(vfs_class)
{
	struct buf top = BUF_INIT;
	int error = ENOENT;

	if (s->a->folder && s->a->folder->node)
		error = node_path(s->a->folder->node, &top);
	if (!error)
		error = node_path_of(parent, name, &s->path);
	/* Behind the NUL of the one is what the other has behind a slash. */
	if (!error)
		s->in_file = path_of(s) + top.size;
	buf_release(&top);
	return error;
}

/* The folder of the refusals, as a descriptor. */
static int refusal_folder(const struct saving *s, bool make, int *fd)
{
	size_t length = (size_t)(name_of(s) - path_of(s)) - 1;
	char *folder = strndup(path_of(s), length);
	int error = folder ? state_folder(s->v->state, STATE_REJECTED, folder, make, fd) : ENOMEM;

	free(folder);
	return error;
}

/* The node of the view's folder, where one is known; no reference. */
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

/* NAME.rejected and NAME.error came, went, or say something else. */
static void refusals_changed(const struct saving *s)
{
	static const char *const suffixes[] = {".rejected", ".error"};
	struct node *folder, *child;
	char name[NAME_MAX + 16];

	vfs_lock(s->v);
	folder = known_folder(s);
	for (size_t i = 0; folder && i < ARRAY_SIZE(suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", name_of(s), suffixes[i]);
		child = nodes_by_name(&s->v->nodes, folder, name);
		if (child)
			changes_data(s->changes, child);
		changes_name(s->changes, folder, name, false);
	}
	if (folder)
		changes_data(s->changes, folder);
	vfs_unlock(s->v);
}

/* Both in the log and in .animfs/errors: the text itself stays where it was. */
static void note_unkept(const struct saving *s, const struct err *err, int error)
{
	char reason[2 * sizeof(err->message)];

	snprintf(reason, sizeof(reason),
		 "%s; the text is not saved and cannot be put beside the view: %s", err->message,
		 strerror(error));
	diagnose(s->v, path_of(s), "not saved", reason);
}

/*
 * Puts what was refused, and why, beside the view. An errno where it cannot be put: then the draft
 * is the only place that has the text, and keeps it.
 */
static int keep_refusal(const struct saving *s, struct attempt *attempt, const struct err *err)
{
	int fd, error = refusal_folder(s, true, &fd);

	if (!error) {
		error = refusal_write(s->v->refusals, fd, path_of(s), name_of(s),
				      text_bytes(attempt->text), err, &s->owner,
				      &attempt->rejected);
		close(fd);
		refusals_changed(s);
	}
	log_warning("%s: %s", path_of(s), err->message);
	if (error)
		note_unkept(s, err, error);
	else
		diagnose(s->v, path_of(s), NULL, NULL); /* .error says it */
	return error;
}

/* The text was saved, or says what is there; `files`: what was put beside the view goes, too. */
static void drop_refusals(const struct saving *s, bool files)
{
	int fd;

	diagnose(s->v, path_of(s), NULL, NULL);
	if (!files || refusal_folder(s, false, &fd) != 0)
		return;
	if (refusal_remove(fd, name_of(s)))
		refusals_changed(s);
	close(fd);
}

/* ---- clips that get another name ---- */

/* What lies beside a clip's texts goes with its name. */
static void move_upper(struct vfs *v, struct animation *a, const struct relabel *relabel)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int error = ENOENT;

	vfs_lock(v);
	if (a->folder && a->folder->node)
		error = node_path_of(a->folder->node, relabel->from, &from);
	if (!error)
		error = node_path_of(a->folder->node, relabel->to, &to);
	vfs_unlock(v);
	if (!error)
		upper_move(v, (const char *)from.data, (const char *)to.data);
	buf_release(&from);
	buf_release(&to);
}

/* And what was given to it. */
static void move_given(struct vfs *v, struct animation *a, const struct relabel *relabel)
{
	struct node *folder, *clip;

	vfs_lock(v);
	folder = a->folder ? a->folder->node : NULL;
	clip = folder ? nodes_by_name(&v->nodes, folder, relabel->to) : NULL;
	if (clip)
		given_move(v, folder, relabel->from, clip);
	vfs_unlock(v);
}

static void publish(struct vfs *v, struct animation *a, struct version *now,
		    const struct thing *saved, const struct relabel *relabels, size_t count,
		    struct changes *changes) REQUIRES(writer_class)
{
	/* On disk and in the table, as one for those who make something there. */
	if (count)
		folders_hold_still(v);
	for (size_t i = 0; i < count; i++)
		move_upper(v, a, &relabels[i]);
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

	publish(v, a, now, NULL, &relabel, 1, changes);
}

/* ---- commits ---- */

static uint64_t hash_text(const struct saving *s, const struct attempt *attempt)
{
	struct bytes text = text_bytes(attempt->text);
	uint64_t seed = XXH3_64bits(s->in_file, strlen(s->in_file));

	return XXH3_64bits_withSeed(text.data, text.size, seed);
}

/* Is it the text, once more, that was saved last, or one of what was there before the burst? */
static bool is_no_edit(const struct saving *s, const struct attempt *attempt, uint64_t hash,
		       const struct version *now) REQUIRES(writer_class)
{
	const struct burst *burst = &s->a->burst;

	if (draft_hangs_together(attempt->place.view) && hash == burst->hash &&
	    now->generation == burst->generation)
		return true;
	return burst_is_stale(s->v, s->a, s->in_file, now, text_bytes(attempt->text));
}

static bool has_other_names(const struct site *site)
{
	struct stat st;

	return fstatat(site->folder.fd, site->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_nlink > 1;
}

/* A clip's text may have given it another name: its folder has that from now on. */
static size_t find_relabel(const struct attempt *attempt, struct relabel *out)
{
	const struct place *place = &attempt->place;

	if (place->view->place != VIEW_OF_CLIP || !attempt->last.edited)
		return 0;
	*out = (struct relabel){attempt->base->anim->clips[place->clip].label,
				attempt->last.edited->clips[place->clip].label};
	return strcmp(out->from, out->to) != 0;
}

static void note_saved(const struct saving *s, const struct attempt *attempt, uint64_t hash)
	REQUIRES(writer_class)
{
	struct version *saved = attempt->last.saved;
	struct relabel relabel;
	size_t count = find_relabel(attempt, &relabel);

	s->a->burst.hash = hash;
	s->a->burst.generation = saved->generation;
	drop_refusals(s, true);
	burst_saved(s->a, s->in_file);
	publish(s->v, s->a, saved, s->thing, &relabel, count, s->changes);
	s->changes->saved = true;
	animation_touch(s->v, s->a);
}

/* What comes of an attempt; *dropped: it was no edit, and the text is to be rendered again. */
static enum verdict try_commit(const struct saving *s, struct attempt *attempt,
			       const struct site *site, bool *dropped, struct err *err)
	REQUIRES(writer_class)
{
	struct version *now = source_get(s->a->source, &site->where, err);
	uint64_t hash = hash_text(s, attempt);
	enum verdict verdict;
	bool linked;

	*dropped = false;
	if (!now)
		return VERDICT_REFUSED;
	burst_begin(s->v, s->a, now);
	*dropped = is_no_edit(s, attempt, hash, now);
	version_put(now);
	if (*dropped) {
		animation_touch(s->v, s->a);
		return VERDICT_SAME;
	}
	linked = !attempt->place.view->parse_skeleton && has_other_names(site);
	animation_show(s->v, s->a, source_last(s->a->source));
	verdict = attempt_commit(attempt, s->a->source, &site->where, err);
	if (verdict == VERDICT_SAVED && linked)
		log_warning("%s: saved under this name only; its other hard links stay as they "
			    "were",
			    site->name);
	if (verdict == VERDICT_SAVED) {
		note_saved(s, attempt, hash);
		attempt->rejected = 0;
	} else if (verdict == VERDICT_SAME) {
		/* What others were refused stays. */
		drop_refusals(s, attempt->rejected == 1);
		attempt->rejected = 0;
	} else {
		animation_touch(s->v, s->a);
	}
	animation_show(s->v, s->a, NULL);
	return verdict;
}

/*
 * What is refused is its writer's, and for those to read who may read the file and the view: its
 * group is the file's. Where there is an ACL, the mode does not say what that may.
 */
static void find_readers(struct saving *s, const struct site *site)
{
	struct stat st = {.st_mode = 0600, .st_gid = s->owner.gid};
	const struct given *given = NULL;
	char path[AT_PROC_SIZE];

	(void)fstatat(site->folder.fd, site->name, &st, AT_SYMLINK_NOFOLLOW);
	vfs_lock(s->v);
	if (s->thing->node)
		given = given_find(s->thing->node);
	if (given && given->has_mode)
		st.st_mode &= given->mode;
	vfs_unlock(s->v);
	s->owner.gid = st.st_gid;
	s->owner.mode = 0600 | (st.st_mode & 0666);
	if (at_proc_path(site->folder.fd, site->name, path, sizeof(path)) == 0 &&
	    lgetxattr(path, ACL_ACCESS, NULL, 0) > 0)
		s->owner.mode &= ~(mode_t)060;
}

/* 0 or the errno of the refusal. *unkept: the draft is the only place that has the text. */
static int commit_attempt(struct saving *s, struct attempt *attempt, const struct site *site,
			  enum verdict *verdict, bool *dropped, bool *unkept) REQUIRES(writer_class)
{
	struct err err = {.code = ERR_NONE};
	int error;

	find_readers(s, site);
	*verdict = try_commit(s, attempt, site, dropped, &err);
	*unkept = false;
	if (*verdict != VERDICT_REFUSED)
		return 0;
	error = keep_refusal(s, attempt, &err);
	*unkept = error != 0;
	return !error || err.code == ERR_SYSTEM ? errno_of(&err) : errno_for_rename(error);
}

/* Those who have it open see what they saved from now on, should the draft go. */
static void pin_saved(const struct target *t, struct version *saved) REQUIRES(vfs_class)
{
	struct view_state *view = &t->thing->view;
	struct place place;

	view->saved = saved->generation;
	if (!view->version || view->standing != STANDS || !place_by_names(t->node, saved, &place))
		return;
	version_put(view->version);
	view->version = version_get(saved);
	view->place = place;
}

/* What the view's draft is after a commit. */
static void conclude(const struct saving *s, const struct target *t, struct attempt *attempt,
		     enum verdict verdict, bool dropped, bool unkept)
{
	struct draft *draft;

	vfs_lock(s->v);
	draft = t->thing->view.draft;
	if ((verdict == VERDICT_SAVED || verdict == VERDICT_SAME) && attempt->last.saved &&
	    t->node->thing == t->thing)
		pin_saved(t, attempt->last.saved);
	draft_conclude(draft, attempt, verdict);
	if (unkept)
		draft_keep_unsaved(draft);
	if (t->node->thing == t->thing && !t->node->handles)
		view_closed(s->v, t->node);
	draft = t->thing->view.draft;
	if (dropped && draft && !draft->dirty && t->node->thing == t->thing) {
		view_drop_draft(s->v, t->node);
		changes_data(s->changes, t->node);
	}
	vfs_unlock(s->v);
}

/* ENODATA: there is nothing to commit, or its text has lost its name. */
static int begin_attempt(struct vfs *v, const struct target *t, enum draft_event event,
			 struct saving *s, struct attempt *attempt)
{
	struct view_state *view = &t->thing->view;
	const struct link *link;
	int error = ENODATA;

	vfs_lock(v);
	link = node_link(t->node);
	if (view->draft && view->standing != DETACHED && t->node->thing == t->thing && link)
		error = find_path(s, link->parent, link->name);
	if (!error && !draft_attempt(view->draft, event, attempt))
		error = ENODATA;
	if (!error)
		view->mapped = false;
	s->owner = (struct refusal_owner){view->uid, view->gid, 0};
	vfs_unlock(v);
	return error;
}

int view_commit_held(struct vfs *v, const struct target *t, enum draft_event event,
		     struct changes *changes)
{
	struct saving s = {.v = v,
			   .a = t->thing->animation,
			   .thing = t->thing,
			   .path = BUF_INIT,
			   .changes = changes};
	bool dropped, unkept;
	struct attempt attempt;
	enum verdict verdict;
	struct site site;
	int error = open_site(v, s.a, &site);

	if (error)
		return error;
	error = begin_attempt(v, t, event, &s, &attempt);
	if (!error) {
		error = commit_attempt(&s, &attempt, &site, &verdict, &dropped, &unkept);
		conclude(&s, t, &attempt, verdict, dropped, unkept);
		attempt_release(&attempt);
	}
	site_close(v, &site);
	buf_release(&s.path);
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
	error = view_commit_held(v, t, event, changes);
	writer_unlock(a);
	return error;
}

/* ---- a whole text at once ---- */

/* The thing of a view with this text as its draft, that no node points to yet. */
static int new_view(struct vfs *v, const struct request *who, const struct target *parent,
		    const char *name, const struct site *site, struct text *text,
		    struct caller *caller, struct thing **out)
{
	struct animation *a = parent->thing->animation;
	struct version *now = source_get(a->source, &site->where, NULL);
	struct draft *draft = NULL;
	struct place place;
	int error = now ? place_in(v, parent, now, name, &place) : EIO;

	if (!error && place.kind != PLACE_VIEW)
		error = ENOENT;
	if (!error)
		draft = draft_new(now, &place, NULL, &v->drafts);
	if (!error && !draft)
		error = ENOMEM;
	if (error) {
		free(caller);
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
	}
	vfs_unlock(v);
	if (*out)
		return 0;
	draft_free(draft);
	version_put(now);
	return ENOMEM;
}

/* The view is shown in the version that has the text. */
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

int text_save(struct vfs *v, const struct request *who, const struct target *parent,
	      const char *name, struct text *text, struct caller *caller, struct thing **out,
	      struct changes *changes)
{
	struct saving s = {.v = v,
			   .a = parent->thing->animation,
			   .path = BUF_INIT,
			   .owner = {who->uid, who->gid, 0},
			   .changes = changes};
	bool dropped, unkept;
	struct attempt attempt;
	enum verdict verdict;
	struct site site;
	int error = open_site(v, s.a, &site);

	*out = NULL;
	if (error) {
		free(caller);
		return error;
	}
	error = new_view(v, who, parent, name, &site, text, caller, out);
	if (!error) {
		s.thing = *out;
		vfs_lock(v);
		error = find_path(&s, parent->node, name);
		if (!error)
			draft_attempt((*out)->view.draft, DRAFT_SAVE, &attempt);
		else
			thing_put(&v->nodes, *out);
		vfs_unlock(v);
	}
	if (!error) {
		error = commit_attempt(&s, &attempt, &site, &verdict, &dropped, &unkept);
		vfs_lock(v);
		if (attempt.last.saved)
			show_saved(*out, &attempt, site.name);
		draft_conclude((*out)->view.draft, &attempt, verdict);
		if (error) {
			thing_put(&v->nodes, *out);
			*out = NULL;
		} else if (dropped) {
			draft_free((*out)->view.draft);
			(*out)->view.draft = NULL;
		}
		vfs_unlock(v);
		attempt_release(&attempt);
	}
	site_close(v, &site);
	buf_release(&s.path);
	return error;
}

/* ---- texts between views and plain files ---- */

static int read_plain(struct vfs *v, const struct target *t, struct text **out)
{
	char name[NAME_MAX + 1];
	struct buf text = BUF_INIT;
	struct folder folder;
	struct stat st;
	int error = plain_where(v, t, &folder, name, &st);

	if (error)
		return error;
	error = at_read(folder.fd, name, v->options->max_text, &text, &st);
	folder_close(v, &folder);
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
	return t->thing->kind == THING_PLAIN ? read_plain(v, t, out) : EPERM;
}

/* Into a folder of SOURCE, or what belongs to a virtual one. */
static int put_text(struct vfs *v, const struct target *parent, int folder, const char *name,
		    mode_t mode, struct bytes text, bool exclusive)
{
	struct buf path = BUF_INIT;
	int error = 0;

	if (area_for(parent->thing) == AREA_SOURCE) {
		vfs_lock(v);
		error = node_path(parent->node, &path);
		vfs_unlock(v);
	}
	if (!error)
		error = state_put(v->state, folder, (const char *)path.data, name, mode, text,
				  exclusive ? STATE_PUT_NEW : 0);
	buf_release(&path);
	return error;
}

int view_write_out(struct vfs *v, const struct target *t, const struct target *parent,
		   const char *name, bool exclusive)
{
	enum area area = area_for(parent->thing);
	struct folder folder;
	struct text *text;
	struct stat st;
	int error = view_text(v, t, &text);

	if (error)
		return error;
	if (animation_stat(v, t->thing->animation, &st) != 0)
		st.st_mode = 0600;
	vfs_lock(v);
	given_apply(given_find(t->node), &st);
	vfs_unlock(v);
	error = upper_grow(v, area, text_bytes(text).size + UPPER_ENTRY);
	if (!error)
		error = plain_folder(v, parent, area, true, &folder);
	if (!error) {
		error = put_text(v, parent, folder.fd, name, st.st_mode & 0666, text_bytes(text),
				 exclusive);
		folder_close(v, &folder);
	}
	text_put(text);
	return error;
}

/* ---- edits that no text asked for ---- */

/* Clips whose names are told from those of others (walk~2) may be called otherwise now. */
static size_t find_relabels(const struct anim *base, const struct anim *edited,
			    const struct anim *now, struct relabel *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < edited->clip_count && i < now->clip_count; i++) {
		uint32_t origin = edited->clips[i].origin;

		if (origin == ANIM_NEW ||
		    strcmp(base->clips[origin].label, now->clips[i].label) == 0)
			continue;
		out[count++] = (struct relabel){base->clips[origin].label, now->clips[i].label};
	}
	return count;
}

int edit_commit(struct vfs *v, struct animation *a, struct version *base, const struct anim *edited,
		struct changes *changes, struct err *err)
{
	struct version *now;
	enum commit commit;
	struct site site;
	int error = open_site(v, a, &site);

	if (error) {
		err_system(err, error, "the animation's folder");
		return error;
	}
	animation_show(v, a, source_last(a->source));
	commit = source_commit(a->source, &site.where, base, edited, NULL, NULL, &now, err);
	site_close(v, &site);
	if (commit != COMMIT_DONE)
		animation_show(v, a, NULL);
	if (commit == COMMIT_REFUSED)
		return errno_of(err);
	if (commit == COMMIT_DONE) {
		struct relabel *relabels = calloc(edited->clip_count + 1, sizeof(*relabels));
		size_t count =
			relabels ? find_relabels(base->anim, edited, now->anim, relabels) : 0;

		publish(v, a, now, NULL, relabels, count, changes);
		changes->saved = true;
		animation_touch(v, a);
		free(relabels);
	}
	version_put(now);
	return 0;
}

/* ---- the end ---- */

/* The next view with text that is not saved; with references. */
static bool next_unsaved(struct vfs *v, struct target *out)
{
	const struct draft *draft;
	struct node *node;
	size_t at = 0;

	vfs_lock(v);
	while ((node = nodes_next(&v->nodes, &at))) {
		draft = node->thing->kind == THING_VIEW ? node->thing->view.draft : NULL;
		if (draft && draft->dirty && node->thing->view.standing != DETACHED)
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
		/* Where it cannot be kept, nothing is left to try. */
		vfs_lock(v);
		if (t.thing->view.draft)
			t.thing->view.draft->dirty = false;
		vfs_unlock(v);
		target_put(v, &t);
	}
	changes_discard(&changes); /* the kernel is not there any more */
}
