/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rename.c - names that move. A node goes with its name; what it stands for may be another thing
 * then: a temporary file that lands on a view's name is that view, and a view that is moved away is
 * an ordinary file.
 */
#include "access.h"
#include "clips.h"
#include "end.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "plain.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct move {
	struct vfs *v;
	const struct request *who;
	struct slot from, to;
	const char *name, *new_name;
	unsigned flags;
	struct target node;    /* what moves */
	struct target over;    /* what has the new name; or {NULL, NULL} */
	struct caller *caller; /* access_caller; until a text is saved for him */
	struct changes changes;
};

static void relink(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;

	nodes_link(t, m->node.node, m->to.parent.node, m->new_name);
	if (nodes_by_name(t, m->from.parent.node, m->name) == m->node.node)
		nodes_unlink(t, m->from.parent.node, m->name);
}

static struct animation *animation_from(const struct move *m)
{
	return m->from.parent.thing->animation;
}

static struct animation *animation_to(const struct move *m)
{
	return m->to.parent.thing->animation;
}

/* The folder that holds the moving name; a virtual one has two. */
static int from_folder(struct move *m, struct folder *out)
{
	return plain_folder(m->v, &m->from.parent, (enum area)m->node.thing->area, false, out);
}

/* For text_save, which takes him over. */
static struct caller *take_caller(struct move *m)
{
	struct caller *caller = m->caller;

	m->caller = NULL;
	return caller;
}

/* ---- a text lands on a view ---- */

/*
 * Who has the old text open reads on in it; nothing is saved through it any more. Where nobody has,
 * the kernel may be about to open it by a name that it looked up before: then it says what `view`
 * says.
 */
static void detach(struct vfs *v, struct thing *over, const struct thing *view) REQUIRES(vfs_class)
{
	if (over->kind != THING_VIEW)
		return;
	over->view.standing = DETACHED;
	if (!over->view.version && view->view.version) {
		over->view.version = version_get(view->view.version);
		over->view.place = view->view.place;
	}
	/* What was written there is nobody's any more; the node may go. */
	if (over->node && !over->node->handles)
		view_closed(v, over->node);
}

/* Where the save replaced what had the name, it may have been looked up again since. */
static void detach_over(struct move *m, const struct thing *view) REQUIRES(vfs_class)
{
	struct node *named = nodes_by_name(&m->v->nodes, m->to.parent.node, m->new_name);

	if (m->over.node && m->over.node->thing == m->over.thing)
		detach(m->v, m->over.thing, view);
	if (named && named != m->node.node)
		detach(m->v, named->thing, view);
}

/* The moving node is the view now, with the text as it was saved. */
static void become_view(struct move *m, struct thing *view)
{
	struct vfs *v = m->v;
	struct node *node = m->node.node;
	struct draft *draft;

	vfs_lock(v);
	draft = view->view.draft;
	view->view.draft = NULL;
	if (m->node.thing->kind == THING_PLAIN)
		thing_leave_identity(&v->nodes, m->node.thing);
	else
		view_drop_draft(v, node);
	detach_over(m, view);
	node_point(&v->nodes, node, view);
	node->shown_ino = virtual_ino(m->to.parent.node, m->new_name);
	node->cached = CACHED_OTHER;
	if (draft)
		view_give_draft(node, draft);
	name_set_present(v, animation_to(m), m->to.parent.node, m->new_name);
	relink(m);
	if (!node_writers(node))
		view_settle(v, node, &m->changes);
	if (!node->handles)
		view_closed(v, node);
	changes_data(&m->changes, node); /* it has the view's attributes now */
	vfs_unlock(v);
}

/* The view that moves is absent where it was. */
static void leave_name(struct move *m)
{
	struct animation *a = animation_from(m);

	vfs_lock(m->v);
	name_set_absent(m->v, a, m->from.parent.node, m->name, NULL);
	vfs_unlock(m->v);
	animation_touch(m->v, a);
}

/* What was a plain file is a text of the animation: the file itself goes. *mtime: what it had. */
static void remove_plain(struct move *m, struct timespec *mtime)
{
	struct folder folder;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, mtime);
	if (from_folder(m, &folder) != 0)
		return;
	if (fstatat(folder.fd, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*mtime = st.st_mtim;
	unlinkat(folder.fd, m->name, 0);
	folder_close(m->v, &folder);
}

/* rsync compares the time the next time. */
static void keep_mtime(struct move *m, struct timespec mtime)
{
	struct target now;

	if (target_get(m->v, m->node.node->id, &now) != 0)
		return;
	given_mtime(m->v, &now, mtime);
	target_put(m->v, &now);
}

static int save_text(struct move *m)
{
	bool plain = m->node.thing->kind == THING_PLAIN;
	struct timespec mtime;
	struct thing *view;
	struct text *text;
	int error = node_text(m->v, &m->node, &text);

	if (error)
		return error == ELOOP || error == EINVAL ? EBADMSG : error;
	writers_lock(animation_from(m), animation_to(m));
	error = text_save(m->v, m->who, &m->to.parent, m->new_name, text, take_caller(m), &view,
			  &m->changes);
	if (!error) {
		if (plain)
			remove_plain(m, &mtime);
		else
			leave_name(m);
		become_view(m, view);
		vfs_lock(m->v);
		thing_put(&m->v->nodes, view);
		vfs_unlock(m->v);
		if (plain)
			keep_mtime(m, mtime);
		animation_touch(m->v, animation_to(m));
	}
	writers_unlock(animation_from(m), animation_to(m));
	text_put(text);
	return error;
}

/* ---- a view is moved away ---- */

/*
 * Handles on the view are handles on the file from now on, whatever happens to its name next: it
 * may be removed before they are used again.
 */
static void give_descriptors(struct node *node, int fd) REQUIRES(vfs_class)
{
	for (struct handle *h = node->handles; h; h = h->next_of_node) {
		if (h->fd < 0 && fd >= 0)
			h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
}

/* fd: of the file, or -1. */
static int become_plain(struct move *m, const struct identity *id, int fd)
{
	struct vfs *v = m->v;
	struct node *node = m->node.node;
	struct thing *plain;

	vfs_lock(v);
	plain = thing_plain(&v->nodes, area_for(m->to.parent.thing), false, id);
	if (plain) {
		view_drop_draft(v, node);
		m->node.thing->view.standing = DETACHED;
		node_point(&v->nodes, node, plain);
		thing_put(&v->nodes, plain);
		give_descriptors(node, fd);
		relink(m);
	}
	vfs_unlock(v);
	return plain ? 0 : ENOMEM;
}

/* The file that the view's text was written to. *fd: of it, or -1. */
static int find_written(struct move *m, struct identity *id, int *fd)
{
	struct folder folder;
	struct stat st;
	int error = plain_folder(m->v, &m->to.parent, area_for(m->to.parent.thing), false, &folder);

	*fd = -1;
	if (error)
		return error;
	error = identity_at(folder.fd, m->new_name, id, &st);
	/* A handle that finds none opens the file when it is used. */
	if (!error && at_open(folder.fd, m->new_name, O_RDWR, 0, fd) != 0)
		*fd = -1;
	folder_close(m->v, &folder);
	return error;
}

static int move_view_away(struct move *m)
{
	struct animation *a = animation_from(m);
	struct identity id;
	int fd = -1, error;

	writer_lock(a);
	error = view_write_out(m->v, &m->node, &m->to.parent, m->new_name,
			       m->flags & RENAME_NOREPLACE);
	if (!error)
		error = find_written(m, &id, &fd);
	if (!error)
		error = become_plain(m, &id, fd);
	if (!error)
		leave_name(m);
	writer_unlock(a);
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- clips ---- */

/* What people put into virtual folders goes where the file, or the folder above it, goes. */
static void move_upper(struct move *m)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int error;

	vfs_lock(m->v);
	error = node_path_of(m->from.parent.node, m->name, &from);
	if (!error)
		error = node_path_of(m->to.parent.node, m->new_name, &to);
	vfs_unlock(m->v);
	if (!error)
		upper_move(m->v, (const char *)from.data, (const char *)to.data);
	buf_release(&from);
	buf_release(&to);
}

/* Is a text of the clip open, or not saved yet? */
static bool is_in_use(const struct move *m) REQUIRES(vfs_class)
{
	const struct node *clip = m->node.node;
	bool used = false;

	for (const struct thing *thing = animation_from(m)->members; thing;
	     thing = thing->next_member) {
		const struct draft *draft = thing->kind == THING_VIEW ? thing->view.draft : NULL;

		if (thing->node && thing->node != clip &&
		    (thing->node->handles || (draft && (draft->dirty || draft->pending))) &&
		    thing->kind == THING_VIEW && node_is_below(thing->node, clip))
			used = true;
	}
	return used;
}

/* False where the clip is in use. From here on nothing in it is opened, until end_moving. */
static bool begin_moving(const struct move *m)
{
	bool used;

	vfs_lock(m->v);
	used = is_in_use(m);
	if (!used)
		animation_from(m)->moving = m->node.node;
	vfs_unlock(m->v);
	return !used;
}

static void end_moving(const struct move *m)
{
	vfs_lock(m->v);
	animation_from(m)->moving = NULL;
	vfs_unlock(m->v);
}

/* A node below the clip that still stands for a thing of the file it came from. */
static struct node *next_below(const struct move *m) REQUIRES(vfs_class)
{
	for (const struct thing *thing = animation_from(m)->members; thing;
	     thing = thing->next_member) {
		if (thing->node && node_is_below(thing->node, m->node.node))
			return thing->node;
	}
	return NULL;
}

/* The folders and views of the clip are another file's now. */
static void give_nodes(struct move *m)
{
	struct nodes *t = &m->v->nodes;
	struct animation *to = animation_to(m);
	struct node *node;
	bool done = true;

	vfs_lock(m->v);
	while (done && (node = next_below(m))) {
		struct thing *was = node->thing;
		struct thing *now = was->kind == THING_VIEW
					    ? thing_view(t, to, view_of(was))
					    : thing_of(t, (enum thing_kind)was->kind, to);

		done = now != NULL;
		if (!done)
			break;
		node_get(node); /* its draft may have the last reference */
		if (was->kind == THING_VIEW)
			view_drop_draft(m->v, node);
		node_point(t, node, now);
		thing_put(t, now);
		changes_data(&m->changes, node);
		node_put(t, node);
	}
	relink(m);
	m->node.node->shown_ino = virtual_ino(m->to.parent.node, m->new_name);
	vfs_unlock(m->v);
}

/* Into another file. A text that is open is edited from a version of this one: mv then copies. */
static int move_clip(struct move *m) REQUIRES(writer_class)
{
	struct animation *from = animation_from(m), *to = animation_to(m);
	int error;

	if (!begin_moving(m))
		return EXDEV;
	error = clip_move(m->v, from, m->name, to, m->new_name, &m->changes);
	if (!error) {
		folders_hold_still(m->v);
		move_upper(m);
		give_nodes(m);
		folders_let_move(m->v);
	}
	end_moving(m);
	return error;
}

static int rename_clip(struct move *m)
{
	int error = 0;

	if (m->to.parent.thing->kind != THING_ANIMATION)
		return thing_is_virtual(m->to.parent.thing) ? EPERM : EXDEV;
	if (m->from.place.kind != PLACE_CLIP)
		return EPERM;
	if (m->to.present)
		return ENOTEMPTY;
	writers_lock(animation_from(m), animation_to(m));
	/* The clip of that name was removed a moment ago. */
	if (m->to.is_view)
		error = end_finish(m->v, animation_to(m), &m->changes);
	if (!error)
		error = animation_from(m) != animation_to(m)
				? move_clip(m)
				: clip_rename(m->v, animation_from(m), m->name, m->new_name,
					      &m->changes);
	writers_unlock(animation_from(m), animation_to(m));
	return error;
}

/* ---- plain things ---- */

/*
 * The text of an animation's skeleton goes with it, where there is none for the new name. That
 * whoever moves the animation may write both folders' names was checked for the animation's own.
 */
static void move_skeleton(struct move *m, const struct folder *from, const struct folder *to,
			  bool beside)
{
	char name[NAME_MAX + 1], new_name[NAME_MAX + 1];

	if (!(m->flags & RENAME_EXCHANGE) && name_may_show(m->v, m->name, beside) &&
	    name_may_show(m->v, m->new_name, beside) && rest_own_name(m->name, name) &&
	    rest_own_name(m->new_name, new_name) &&
	    access_may_move(m->v, m->caller, from->fd, name))
		at_rename(from->fd, name, to->fd, new_name, RENAME_NOREPLACE);
}

static void exchange_links(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;

	nodes_unlink(t, m->from.parent.node, m->name);
	nodes_link(t, m->node.node, m->to.parent.node, m->new_name);
	if (m->over.node)
		nodes_link(t, m->over.node, m->from.parent.node, m->name);
}

/* It lies in another root now, and so is another thing. */
static void change_area(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;
	enum area area = area_for(m->to.parent.thing);
	const struct identity id = m->node.thing->plain.identity;
	struct thing *thing;

	if (m->node.thing->area == area)
		return;
	thing_leave_identity(t, m->node.thing);
	thing = thing_plain(t, area, m->node.thing->folder, &id);
	if (!thing)
		return;
	node_point(t, m->node.node, thing);
	thing_put(t, thing);
}

/* Lies something in the state for it, or for the folder beside it? */
static bool has_upper(const struct move *m)
{
	if (area_for(m->to.parent.thing) != AREA_SOURCE)
		return false;
	return m->node.thing->folder ||
	       (!(m->flags & RENAME_EXCHANGE) && name_may_show(m->v, m->name, true) &&
		name_may_show(m->v, m->new_name, true));
}

/* On disk and in the table, as one for those who look for what moves. */
static int move_plain(struct move *m, const struct folder *from, const struct folder *to)
{
	struct vfs *v = m->v;
	struct identity id;
	struct stat over;
	bool replaces;
	int held = -1, error;

	folders_hold_still(v);
	replaces = m->over.node && identity_at(to->fd, m->new_name, &id, &over) == 0;
	if (replaces && m->over.thing->folder && !(m->flags & RENAME_EXCHANGE))
		held = plain_hold_folder(v, to->fd, m->new_name);
	error = at_rename(from->fd, m->name, to->fd, m->new_name, m->flags);
	plain_let_go(v, error ? NULL : m->to.parent.node, m->new_name, held);
	vfs_lock(v);
	if (!error && (m->flags & RENAME_EXCHANGE)) {
		exchange_links(m);
	} else if (!error) {
		change_area(m);
		relink(m);
		if (replaces)
			plain_lost_name(v, m->over.node, &over);
	}
	vfs_unlock(v);
	if (!error && has_upper(m))
		move_upper(m);
	folders_let_move(v);
	return error;
}

/* A folder that is to become something does so under its new name, if that is such a name. */
static void stage_again(struct move *m, bool staged)
{
	struct buf path = BUF_INIT;
	int error = 0;

	staging_touch(m->v, m->from.parent.node);
	staging_touch(m->v, m->to.parent.node);
	if (staged) {
		vfs_lock(m->v);
		error = node_path_of(m->from.parent.node, m->name, &path);
		vfs_unlock(m->v);
		if (!error)
			staging_forget(m->v, &m->node, (const char *)path.data);
	}
	buf_release(&path);
	if (m->node.thing->folder && staging_wanted(m->v, m->to.parent.thing, m->new_name))
		staging_begin(m->v, &m->node);
}

/* May it be there, and is there room? */
static int check_plain(struct move *m, const struct folder *from)
{
	enum area area = area_for(m->to.parent.thing);
	struct stat st;

	if (m->node.thing->area == area || fstatat(from->fd, m->name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return upper_grow(m->v, area, (uint64_t)st.st_size + UPPER_ENTRY);
}

static int rename_on_disk(struct move *m)
{
	enum area area = area_for(m->to.parent.thing);
	struct folder from, to;
	int error = from_folder(m, &from);

	if (error)
		return error;
	error = check_plain(m, &from);
	if (!error)
		error = plain_folder(m->v, &m->to.parent, area, true, &to);
	if (!error) {
		error = move_plain(m, &from, &to);
		if (!error && !m->node.thing->folder && area == AREA_SOURCE)
			move_skeleton(m, &from, &to, true);
		folder_close(m->v, &to);
	}
	folder_close(m->v, &from);
	return error;
}

static int rename_plain(struct move *m)
{
	const struct thing *thing = m->node.thing;
	enum area area = area_for(m->to.parent.thing);
	bool staged;
	int error = 0;

	if (thing->folder && thing->area != area)
		return EXDEV; /* folders below would not know that they moved to another root */
	if (thing->folder && m->to.parent.thing->kind == THING_ANIMATION && m->new_name[0] != '.')
		error = clip_check_new(m->v, animation_to(m), m->new_name);
	vfs_lock(m->v);
	staged = thing->plain.staging;
	vfs_unlock(m->v);
	/* A folder that becomes a clip keeps its name meanwhile. */
	writers_lock(animation_from(m), animation_to(m));
	if (!error)
		error = rename_on_disk(m);
	writers_unlock(animation_from(m), animation_to(m));
	if (error)
		return error;
	stage_again(m, staged);
	return 0;
}

/* ---- animation files ---- */

static bool is_beside(const struct target *t)
{
	return t->node && t->thing->kind == THING_ANIMATION && t->thing->animation->beside;
}

/* The name that the one clip of a file has, where it has none but the file's. */
static bool clip_by_file(struct vfs *v, struct animation *a, char label[NAME_MAX + 1])
{
	struct version *version;
	struct stat st;
	bool nameless;

	if (animation_look(v, a, &version, &st) != 0)
		return false;
	nameless = version->anim->format->nameless && version->anim->clip_count > 0;
	if (nameless)
		snprintf(label, NAME_MAX + 1, "%s", version->anim->clips[0].label);
	version_put(version);
	return nameless;
}

/* The file has another name: its texts say so, and the clip that is called as it is. */
static void file_renamed(struct move *m, bool by_file, const char *was) REQUIRES(writer_class)
{
	struct animation *a = m->node.thing->animation;
	char label[NAME_MAX + 1];
	struct version *now;
	struct stat st;

	source_forget(a->source);
	if (by_file) {
		const struct where *where;
		struct site site;

		if (site_open(m->v, a, &site) == 0) {
			where = &site.where;
			now = source_get(a->source, where, NULL);
			if (now && now->anim->clip_count > 0) {
				snprintf(label, sizeof(label), "%s", now->anim->clips[0].label);
				if (strcmp(label, was) != 0)
					clip_follow(m->v, a, was, label, now, &m->changes);
			}
			version_put(now);
			site_close(m->v, &site);
		}
	}
	if (animation_look(m->v, a, &now, &st) == 0)
		version_put(now);
}

static int rename_names(struct move *m)
{
	struct folder from, to;
	int error = folder_open(m->v, m->from.parent.node, &from);

	if (error)
		return error;
	error = folder_open(m->v, m->to.parent.node, &to);
	if (!error) {
		error = at_rename(from.fd, m->name, to.fd, m->new_name, m->flags);
		if (!error)
			move_skeleton(m, &from, &to, false);
		folder_close(m->v, &to);
	}
	folder_close(m->v, &from);
	return error;
}

/* Nobody looks for the file under the name that it has no more. */
static int rename_held(struct move *m) REQUIRES(writer_class)
{
	struct vfs *v = m->v;
	bool animation = m->node.thing->kind == THING_ANIMATION, by_file;
	char clip[NAME_MAX + 1];
	int error;

	by_file = animation && clip_by_file(v, m->node.thing->animation, clip);
	folders_hold_still(v);
	error = rename_names(m);
	if (!error && !(m->flags & RENAME_EXCHANGE))
		move_upper(m);
	vfs_lock(v);
	if (!error && (m->flags & RENAME_EXCHANGE)) {
		nodes_unlink(&v->nodes, m->from.parent.node, m->name);
		nodes_unlink(&v->nodes, m->to.parent.node, m->new_name);
		changes_name(&m->changes, m->from.parent.node, m->name, false);
	} else if (!error && animation) {
		relink(m);
	}
	vfs_unlock(v);
	folders_let_move(v);
	if (!error && animation && !(m->flags & RENAME_EXCHANGE))
		file_renamed(m, by_file, clip);
	return error;
}

/* The folder of an animation file moves as the file does; under another name it may be no folder.
 */
static int rename_file(struct move *m)
{
	bool onto = m->over.node && m->over.thing->kind == THING_ANIMATION;
	struct animation *a = m->node.thing->animation;
	struct animation *b = onto ? m->over.thing->animation : NULL;
	int error;

	if (onto && !(m->flags & RENAME_EXCHANGE))
		return ENOTEMPTY;
	if (thing_is_virtual(m->to.parent.thing) || m->to.parent.thing->area != AREA_SOURCE)
		return EPERM;
	if (is_beside(&m->node) || is_beside(&m->over))
		return EPERM; /* it is the file beside it that is moved */
	writers_lock(a, b);
	error = rename_held(m);
	writers_unlock(a, b);
	return error;
}

/* ---- the choice ---- */

static bool may_be_animation(struct vfs *v, const char *name)
{
	const struct codec *codec;
	bool probe;

	return store_claims(v->store, name, &codec, &probe);
}

/* Does this expose a text under another name? */
static bool takes_text(const struct move *m)
{
	return m->to.is_view || m->node.thing->kind == THING_VIEW ||
	       (!m->node.thing->folder &&
		(thing_is_virtual(m->to.parent.thing) || is_staged(m->v, m->to.parent.node)));
}

static int choose(struct move *m)
{
	bool onto_view = m->to.is_view && m->to.place.kind == PLACE_VIEW;
	enum thing_kind kind = (enum thing_kind)m->node.thing->kind;
	bool is_view = kind == THING_VIEW;

	if ((m->flags & RENAME_NOREPLACE) && m->to.present)
		return EEXIST;
	if ((m->flags & RENAME_EXCHANGE) && (is_view || m->to.present || m->from.present))
		return EINVAL;
	if (kind == THING_CLIP || kind == THING_BONES || kind == THING_FRAMES)
		return rename_clip(m);
	if (m->to.present && m->to.place.kind != PLACE_VIEW)
		return m->node.thing->folder ? ENOTEMPTY : EISDIR;
	if (m->to.is_view && !onto_view)
		return EPERM;
	if (onto_view && m->node.thing->folder)
		return ENOTDIR;
	if (onto_view)
		return save_text(m);
	if (is_view)
		return move_view_away(m);
	if (kind == THING_ANIMATION || (m->over.node && m->over.thing->kind == THING_ANIMATION))
		return rename_file(m);
	return kind == THING_PLAIN ? rename_plain(m) : EPERM;
}

/* What has moved on the disk is not to be left without a name here. */
static bool make_ready(const struct move *m)
{
	bool ready;

	vfs_lock(m->v);
	ready = node_ready(m->node.node) && (!m->over.node || node_ready(m->over.node));
	vfs_unlock(m->v);
	return ready;
}

static void let_go(struct vfs *v, struct target *t)
{
	if (!t->node)
		return;
	vfs_lock(v);
	node_settle(t->node);
	vfs_unlock(v);
	target_put(v, t);
}

/* What is known to have the new name; a file that others took away may still be known. */
static void find_over(struct move *m)
{
	struct vfs *v = m->v;
	struct stat st;

	if (!child_of(v, m->to.parent.node, m->new_name, &m->over))
		return;
	if (m->over.thing->kind != THING_ANIMATION ||
	    animation_stat(v, m->over.thing->animation, &st) != ENOENT)
		return;
	name_lost(v, m->to.parent.node, m->new_name, NULL);
	upper_remove_empty(v, m->to.parent.node, m->new_name);
	target_put(v, &m->over);
}

static int begin_move(struct move *m, uint64_t parent, uint64_t new_parent)
{
	int error = slot_find(m->v, parent, m->name, &m->from);

	if (!error)
		error = slot_find(m->v, new_parent, m->new_name, &m->to);
	if (error)
		return error;
	/* A view that was replaced just now: the kernel is to look its name up again. */
	if (!child_of(m->v, m->from.parent.node, m->name, &m->node))
		return m->from.present ? ESTALE : ENOENT;
	find_over(m);
	error = access_caller(m->v, m->who, &m->caller);
	if (!error && takes_text(m))
		error = acl_check_read(m->v, m->who, &m->node);
	return !error && !make_ready(m) ? ENOMEM : error;
}

int vfs_rename(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned flags, struct after **after)
{
	struct move m = {.v = v,
			 .who = who,
			 .name = name,
			 .new_name = new_name,
			 .flags = flags,
			 .changes = CHANGES_INIT};
	int error = begin_move(&m, parent, new_parent);

	if (!error)
		error = choose(&m);
	free(m.caller);
	/* What is called as an animation is may be a folder now, or was one. */
	if (!error && (may_be_animation(v, name) || may_be_animation(v, new_name))) {
		vfs_lock(v);
		changes_name(&m.changes, m.to.parent.node, new_name, false);
		vfs_unlock(v);
	}
	m.changes.locked[0] = parent;
	m.changes.locked[1] = new_parent;
	*after = changes_send(v, &m.changes);
	let_go(v, &m.over);
	let_go(v, &m.node);
	slot_release(v, &m.from);
	slot_release(v, &m.to);
	return error;
}

void vfs_after(struct vfs *v, struct after *after)
{
	after_send(v, after);
}
