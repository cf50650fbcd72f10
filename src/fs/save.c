/* SPDX-License-Identifier: GPL-3.0-or-later */
/* save.c - the text of views, and what saving it means to the mount. */
#include "../refusal.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- what a view says ---- */

/* Brings the node's draft, made when there is none, to a version. */
static int draft_at(struct fs *fs, struct node *node, struct snap *snap)
{
	struct tree tree = {snap, node->file->name};
	struct place place;
	int error = fs_place(fs, snap, node, &place);

	/* A view that is no more (its name is gone, or its clip) says what it said last. */
	if (error)
		return node->draft->have_text ? 0 : error;
	return draft_update(node->draft, &tree, &place) ? 0 : ENOMEM;
}

static int need_draft(struct node *node, struct draft **out)
{
	if (!node->draft)
		node->draft = draft_new();
	*out = node->draft;
	return node->draft ? 0 : ENOMEM;
}

int view_draft(struct fs *fs, struct node *node, struct draft **out)
{
	struct snap *snap;
	struct stat st;
	int error = need_draft(node, out);

	if (error)
		return error;
	error = fs_shown(fs, node, &snap, &st);
	if (error)
		return node->draft->have_text ? 0 : error;
	error = draft_at(fs, node, snap);
	snap_put(snap);
	return error;
}

int view_begin(struct fs *fs, struct node *node, struct caller *who, bool append)
{
	struct place place;
	struct snap *snap;
	struct stat st;
	int error = fs_shown(fs, node, &snap, &st);

	if (error) {
		free(who);
		return error;
	}
	error = view_is_fixed(node_view(node), snap) ? EACCES : fs_place(fs, snap, node, &place);
	if (!error) {
		if (!append || !draft_continue(node->draft, snap))
			draft_begin(node->draft, snap, &place);
		draft_save_for(node->draft, who);
	} else {
		free(who);
	}
	snap_put(snap);
	return error;
}

static int load_text(struct fs *fs, struct node *node, struct draft *draft)
{
	if (draft->have_text ||
	    (draft->have_text =
		     recent_take(fs->recent, node->id, draft->base->generation, &draft->text)))
		return 0;
	fs->texts++;
	return draft_load(draft, node->file->name) ? 0 : ENOMEM;
}

int view_text(struct fs *fs, struct node *node, struct draft **out)
{
	int error = view_draft(fs, node, out);

	return error ? error : load_text(fs, node, *out);
}

/* The text of a version that is not the latest, for those who have it open. */
static int version_text(struct fs *fs, struct node *node, struct snap *snap,
			const struct place *place, struct draft **out)
{
	struct tree tree = {snap, node->file->name};
	int error = need_draft(node, out);

	if (error)
		return error;
	return draft_update(*out, &tree, place) ? load_text(fs, node, *out) : ENOMEM;
}

/* Without handles: of the version that the kernel was told the size of, if it is still at hand. */
static int counted_text(struct fs *fs, struct node *node, struct draft **out)
{
	struct snap *told = fs_is_retired(fs, node)
				    ? NULL
				    : source_replaced(node->file->source, node->generation);
	int error;

	if (!told)
		return view_text(fs, node, out);
	error = need_draft(node, out);
	if (!error)
		error = draft_at(fs, node, told);
	snap_put(told);
	/* Who opens it next is to ask for the text that is there now. */
	node->cached = CACHED_OTHER;
	return error ? error : load_text(fs, node, *out);
}

/* Is the view's text what people write, or wrote? */
static bool is_drafted(const struct node *node)
{
	return node->draft && (node->draft->writers || node->draft->written);
}

int view_told_text(struct fs *fs, struct node *node, struct draft **out)
{
	const struct handle *opened;
	struct snap *version = NULL;
	struct place place;
	int error;

	if (is_drafted(node))
		return view_text(fs, node, out);
	nodes_lock(&fs->nodes);
	opened = handles_version(node);
	if (opened) {
		version = snap_get(opened->version);
		place = opened->place;
	}
	nodes_unlock(&fs->nodes);
	if (!version)
		return counted_text(fs, node, out);
	error = version_text(fs, node, version, &place, out);
	snap_put(version);
	return error;
}

/* What the kernel is told now. */
static void note_size(struct node *node, const struct snap *snap, uint64_t size)
{
	node->size = (uint32_t)size;
	node->generation = size > UINT32_MAX ? 0 : node_generation(snap->generation);
}

int view_size(struct fs *fs, struct node *node, uint64_t *out)
{
	struct draft *draft;
	int error = view_text(fs, node, &draft);

	if (!error)
		*out = draft->text.size;
	if (!error && !draft->written)
		note_size(node, draft->base, draft->text.size);
	view_settle(fs, node);
	return error;
}

/*
 * A small file can claim many frames in which nothing moves: one of their stills tells how long the
 * others are.
 */
static bool still_is_counted(const struct file *file, const struct snap *snap,
			     const struct place *place)
{
	return place->view->place == VIEW_OF_FRAME && file->still.clip == place->clip &&
	       file->still.generation == snap->generation;
}

static int count_text(struct fs *fs, struct node *node, const struct snap *snap,
		      const struct place *place, uint64_t *out)
{
	struct file *file = node->file;
	struct tree tree = {snap, file->name};
	struct buf text = BUF_INIT;
	int error;

	fs->texts++;
	error = tree_render(&tree, place, &text);
	if (error) {
		buf_release(&text);
		return error;
	}
	*out = text.size;
	if (tree_alike(&tree, place)) {
		file->still.generation = snap->generation;
		file->still.clip = place->clip;
		file->still.size = text.size;
	}
	recent_put(fs->recent, node->id, snap->generation, &text);
	return 0;
}

int view_count(struct fs *fs, struct node *node, const struct snap *snap, const struct place *place,
	       uint64_t *out)
{
	int error = 0;

	*out = node->size;
	if (node->generation == node_generation(snap->generation))
		return 0;
	if (still_is_counted(node->file, snap, place))
		*out = node->file->still.size;
	else
		error = count_text(fs, node, snap, place, out);
	if (!error)
		note_size(node, snap, *out);
	return error;
}

void view_settle(struct fs *fs, struct node *node)
{
	struct draft *draft = node->draft;

	if (!draft || draft->handles || draft->written || draft_awaits_more(draft))
		return;
	if (draft->have_text && draft->base)
		recent_put(fs->recent, node->id, draft->base->generation, &draft->text);
	draft_free(draft);
	node->draft = NULL;
}

/* ---- what changed ---- */

void changes_add(struct changes *c, const struct node *node)
{
	struct change *nodes = array_room(c->nodes, c->count, &c->room, sizeof(*nodes));

	if (!nodes)
		return;
	c->nodes = nodes;
	nodes[c->count++] = (struct change){node->id, node->folder};
}

void changes_drop_names(struct changes *c, const struct node *node)
{
	for (const struct link *link = node_link(node); link; link = node_next_link(node, link)) {
		size_t size = strlen(link->name) + 1;
		struct dropped_name *name = malloc(sizeof(*name) + size);

		if (!name)
			return;
		name->parent = link->parent->id;
		memcpy(name->name, link->name, size);
		name->next = c->dropped;
		c->dropped = name;
	}
}

static bool is_locked(const struct changes *c, const struct dropped_name *name)
{
	return name->parent == c->locked[0] || name->parent == c->locked[1];
}

/* Those in locked folders, or the others. True when there were some. */
static bool drop_names(struct fs *fs, struct changes *c, bool locked)
{
	struct dropped_name **at = &c->dropped, *name;
	bool dropped = false;

	while ((name = *at)) {
		if (is_locked(c, name) != locked) {
			at = &name->next;
			continue;
		}
		notify_drop(fs, name->parent, name->name);
		*at = name->next;
		free(name);
		dropped = true;
	}
	return dropped;
}

void changes_tell(struct fs *fs, struct changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		fuse_lowlevel_notify_inval_inode(fs->session, c->nodes[i].node,
						 c->nodes[i].folder ? 0 : -1, 0);
	free(c->nodes);
	c->nodes = NULL;
	c->count = c->room = 0;
	if (drop_names(fs, c, false) && c->saved)
		notifier_wait(fs->notifier);
}

void changes_tell_rest(struct fs *fs, struct changes *c)
{
	drop_names(fs, c, true);
}

void changes_release(struct changes *c)
{
	while (c->dropped) {
		struct dropped_name *next = c->dropped->next;

		free(c->dropped);
		c->dropped = next;
	}
	free(c->nodes);
	*c = (struct changes)CHANGES_NONE;
}

/* A clip's folder, and whether nothing below it changed. */
struct kept_clip {
	const struct node *folder;
	int64_t clip; /* in the version that is there now, or -1 */
	bool kept;
};

static bool bone_kept(const struct snap *snap, int64_t clip, const struct node *node)
{
	size_t length = strlen(node_link(node)->name), suffix = strlen(node_view(node)->file);
	char label[NAME_MAX + 1];
	int64_t track;

	if (clip < 0 || length < suffix)
		return false;
	memcpy(label, node_link(node)->name, length - suffix);
	label[length - suffix] = '\0';
	track = snap_track(snap, (uint32_t)clip, label);
	return track >= 0 && ages_kept(&snap->ages, (uint32_t)clip, track);
}

/*
 * Does the view say what it said in the version before? Most of them do, and the kernel may know
 * thousands. Views of one clip mostly follow each other. With the nodes' lock.
 */
static bool view_kept(const struct snap *snap, const struct node *node, struct kept_clip *last)
{
	const struct node *folder = node_link(node) ? node_link(node)->parent : NULL;

	if (folder && (folder->kind == NODE_BONES || folder->kind == NODE_FRAMES))
		folder = node_link(folder) ? node_link(folder)->parent : NULL;
	if (!folder || folder->kind != NODE_CLIP || !node_link(folder))
		return false;
	if (folder != last->folder) {
		last->folder = folder;
		last->clip = snap_clip(snap, node_link(folder)->name);
		last->kept = last->clip >= 0 && ages_kept(&snap->ages, (uint32_t)last->clip, -1);
	}
	return last->kept ||
	       (node_view(node)->place == VIEW_OF_BONE && bone_kept(snap, last->clip, node));
}

/* Wants the nodes' lock. */
static void member_changed(struct fs *fs, struct node *node, fuse_ino_t saved, enum news news,
			   struct changes *changes)
{
	bool view = node->kind == NODE_VIEW;

	if (view && node->id != saved && view_replaced(fs, node, changes))
		return;
	changes_add(changes, node);
	if (view && node->id != saved)
		notify_data(fs, node);
	if (news >= NEWS_NAMES || (view && node_view(node)->present))
		notify_names_of(fs, node);
}

void file_changed(struct fs *fs, struct file *file, fuse_ino_t saved, struct changes *changes)
{
	struct kept_clip last = {.folder = NULL};
	uint64_t before = file->generation;
	enum news news = file_news(fs, file);
	struct snap *snap = NULL;
	bool told;

	if (fs_snap(fs, file, &snap) != 0)
		snap = NULL;
	/* The kernel was told of all that came before this version. */
	told = snap && snap->ages.since && snap->ages.since == before;
	if (news >= NEWS_NAMES)
		file->tell_names = 2;
	nodes_lock(&fs->nodes);
	changes_add(changes, file->node);
	if (node_link(file->node))
		changes_add(changes, node_link(file->node)->parent);
	for (struct node *node = file->members; node; node = node->next_in_file) {
		if (node->kind != NODE_VIEW || !told || !view_kept(snap, node, &last))
			member_changed(fs, node, saved, news, changes);
	}
	nodes_unlock(&fs->nodes);
	changes->saved = true;
	source_told(file->source, file->generation);
	snap_put(snap);
	file_touch(fs, file);
}

/* ---- refusals ---- */

static bool path_of(struct fs *fs, const struct node *parent, const char *name, struct buf *path)
{
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(parent, path);
	nodes_unlock(&fs->nodes);
	if (error)
		return false;
	path->data[path->size - 1] = '/';
	buf_add(path, name, strlen(name) + 1);
	return !path->failed;
}

/* Whoever has read NAME.error is to read the new reason. */
static void reason_changed(struct fs *fs, struct node *parent, const char *name,
			   struct changes *changes)
{
	char reason[NAME_MAX + sizeof(".error")];
	struct node *node;

	snprintf(reason, sizeof(reason), "%s.error", name);
	notify_entry(fs, parent, reason);
	node = fs_child(fs, parent, reason);
	if (!node)
		return;
	changes_add(changes, node);
	fs_reference(fs, node, -1);
}

/* Both from the log and in .animfs/errors: the text itself stays where it was. */
static void note_unkept(struct fs *fs, const char *path, const struct err *err, int error)
{
	char reason[2 * sizeof(err->message)];

	snprintf(reason, sizeof(reason),
		 "%s; the text is not saved and cannot be put beside the view: %s", err->message,
		 strerror(error));
	journal_note(fs, path, "not saved", reason);
}

/*
 * Puts what was refused, and why, beside the view. An errno where it cannot be put: then the draft
 * is the only place that has the text, and keeps it.
 */
static int keep_refusal(struct fs *fs, struct node *parent, const char *name, struct draft *draft,
			const struct err *err, struct changes *changes)
{
	struct buf path = BUF_INIT;
	struct folder folder;
	int error = path_of(fs, parent, name, &path) ? 0 : ENOMEM;
	const char *word = path.data ? (const char *)path.data : name;

	if (!error)
		error = fs_folder(fs, parent, AREA_REJECTED, true, &folder);
	if (!error) {
		error = refusal_write(fs->state, folder.fd, word, name, buf_bytes(&draft->text),
				      err, &draft->rejected);
		folder_close(&fs->folders, &folder);
		reason_changed(fs, parent, name, changes);
		notify_listing(fs, parent);
	}
	fuse_log(FUSE_LOG_WARNING, "animfs: %s: %s\n", word, err->message);
	if (error)
		note_unkept(fs, word, err, error);
	else
		journal_note(fs, word, NULL, NULL); /* .error says it */
	buf_release(&path);
	return error;
}

/* Of a text that could not be kept, and is no more. */
static void drop_note(struct fs *fs, const struct node *parent, const char *name)
{
	struct buf path = BUF_INIT;

	if (path_of(fs, parent, name, &path))
		journal_note(fs, (const char *)path.data, NULL, NULL);
	buf_release(&path);
}

static void drop_refusals(struct fs *fs, struct node *parent, const char *name)
{
	char gone[2 * NAME_MAX];
	struct folder folder;

	drop_note(fs, parent, name);
	if (fs_folder(fs, parent, AREA_REJECTED, false, &folder) != 0)
		return;
	if (refusal_remove(folder.fd, name)) {
		snprintf(gone, sizeof(gone), "%s.rejected", name);
		notify_entry(fs, parent, gone);
		snprintf(gone, sizeof(gone), "%s.error", name);
		notify_entry(fs, parent, gone);
		notify_listing(fs, parent);
	}
	folder_close(&fs->folders, &folder);
}

/* ---- saving ---- */

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

/* The name that the clip of a saved text has now, where it is another. */
static const char *new_clip_name(const struct draft *draft, const struct node *parent)
{
	const char *label;

	if (parent->kind != NODE_CLIP || !draft->last.edited)
		return NULL;
	label = draft->last.edited->clips[draft->place.clip].label;
	return strcmp(label, node_link(parent)->name) == 0 ? NULL : label;
}

static bool has_other_names(const struct folder *folder, const char *name)
{
	struct stat st;

	return fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 1;
}

static uint64_t hash_text(const struct node *parent, const char *name, const struct buf *text)
{
	return XXH3_64bits_withSeed(text->data, text->size, fs_virtual_ino(parent, name));
}

/*
 * Is it the text, once more, that was saved last? Of one that is made anew then, the second time
 * each member that followed from another would be read as an edit back.
 */
static bool is_again(struct fs *fs, const struct draft *draft, struct file *file, uint64_t hash)
{
	struct snap *now;
	bool same;

	if (hash != file->text.hash || draft_stays_as_saved(draft) || fs_snap(fs, file, &now) != 0)
		return false;
	same = now->generation == file->text.generation;
	snap_put(now);
	return same;
}

/* The text says what was there before: what is there now stays, and is what the view says. */
static void pass_over(struct fs *fs, struct draft *draft, struct file *file, struct node *saved,
		      struct changes *changes)
{
	draft_forget(draft);
	file_touch(fs, file);
	if (!saved)
		return;
	changes_add(changes, saved);
	notify_data(fs, saved);
}

/*
 * The text says what is there. What this very draft was refused before was on the way to it; what
 * others were refused stays.
 */
static void note_same(struct fs *fs, struct draft *draft, struct node *parent, const char *name)
{
	if (draft->rejected == 1)
		drop_refusals(fs, parent, name);
	else
		drop_note(fs, parent, name);
	draft->rejected = 0;
}

/* What goes with a text that is in the binary now; `hash` is its own. */
static void note_saved(struct fs *fs, struct draft *draft, struct node *parent, const char *name,
		       uint64_t hash, const struct node *saved, struct changes *changes)
{
	struct file *file = parent->file;
	const char *label;

	file->text.hash = hash;
	file->text.generation = draft->last.saved->generation;
	drop_refusals(fs, parent, name);
	draft->rejected = 0;
	burst_saved(fs, parent, name);
	file_changed(fs, file, saved ? saved->id : 0, changes);
	label = new_clip_name(draft, parent);
	if (label)
		clip_follow(fs, parent, label);
}

/* The errno of a save that was refused. */
static int refuse(struct fs *fs, struct draft *draft, struct node *parent, const char *name,
		  const struct err *err, struct changes *changes)
{
	int error = keep_refusal(fs, parent, name, draft, err, changes);

	if (!error)
		return errno_of(err);
	draft_keep_unsaved(draft);
	return err->code == ERR_SYSTEM ? errno_of(err) : errno_for_rename(error);
}

int draft_save(struct fs *fs, struct draft *draft, enum draft_event event, struct node *parent,
	       const char *name, struct node *saved, struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	struct file *file = parent->file;
	struct folder folder;
	enum verdict verdict;
	uint64_t hash;
	bool linked;
	int error = fs_source_folder(fs, file, &folder);

	if (error)
		return error;
	burst_begin(fs, file);
	hash = hash_text(parent, name, &draft->text);
	if ((draft->dirty || draft->pending) &&
	    (is_again(fs, draft, file, hash) ||
	     burst_passes_over(fs, parent, name, &draft->text))) {
		pass_over(fs, draft, file, saved, changes);
		folder_close(&fs->folders, &folder);
		return 0;
	}
	linked = !draft->place.view->parse_skeleton && has_other_names(&folder, file->name);
	verdict = draft_commit(draft, event, file->source, folder.fd, file->name, &err);
	folder_close(&fs->folders, &folder);
	if (verdict == VERDICT_SAVED && linked)
		fuse_log(FUSE_LOG_WARNING,
			 "animfs: %s: saved under this name only; its other hard links stay as "
			 "they were\n",
			 file->name);
	if (verdict == VERDICT_SAVED)
		note_saved(fs, draft, parent, name, hash, saved, changes);
	if (verdict == VERDICT_SAME)
		note_same(fs, draft, parent, name);
	if (verdict == VERDICT_PENDING || verdict == VERDICT_REFUSED)
		file_touch(fs, file);
	return verdict == VERDICT_REFUSED ? refuse(fs, draft, parent, name, &err, changes) : 0;
}

int view_commit(struct fs *fs, struct node *node, enum draft_event event, struct changes *changes)
{
	char name[NAME_MAX + 1];
	struct node *parent;
	int error;

	/* What is written through a handle on it then is of a file without a name. */
	if (!node->draft || node->moved_over)
		return 0;
	parent = fs_parent(fs, node, 0, name);
	if (!parent)
		return 0; /* it carries no view's name any more */
	error = draft_save(fs, node->draft, event, parent, name, node, changes);
	fs_reference(fs, parent, -1);
	return error;
}

/* The views of all files that hold unsaved text, each with a reference; ends with NULL. */
static struct node **unsaved_views(struct fs *fs)
{
	struct node **list, *n;
	size_t count = 0, at = 0;

	nodes_lock(&fs->nodes);
	list = calloc(fs->nodes.count + 1, sizeof(*list));
	while (list && (n = nodes_next(&fs->nodes, &at))) {
		if (n->kind != NODE_VIEW || !n->draft || !n->draft->dirty)
			continue;
		n->references++;
		list[count++] = n;
	}
	nodes_unlock(&fs->nodes);
	return list;
}

void fs_commit_all(struct fs *fs)
{
	struct node **list = unsaved_views(fs);

	for (size_t i = 0; list && list[i]; i++) {
		struct changes changes = CHANGES_NONE;
		struct file *file = fs_lock_file(fs, list[i]);

		if (file) {
			view_commit(fs, list[i], DRAFT_CLOSE, &changes);
			fs_unlock_file(fs, file);
		}
		changes_release(&changes); /* nobody is there to be told */
		fs_reference(fs, list[i], -1);
	}
	free(list);
}
