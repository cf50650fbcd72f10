/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rename.c - rename. A node moves with its name, and may then stand for another thing: a temporary
 * file that is renamed onto a view becomes that view, and a view that is moved away becomes an
 * ordinary file.
 */
#include "access.h"
#include "clips.h"
#include "diagnostics.h"
#include "end.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "plain.h"
#include "program.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct move {
	struct vfs *v;
	const struct request *who;
	struct slot from, to;
	const char *name, *new_name;
	unsigned flags;
	struct target node; /* the node to rename */
	struct guest guest; /* makes this thread a guest in the folder of the renamed node */
	/* the renamed node is a view that was replaced: the kernel has another node for its name */
	bool overtaken;
	struct target over; /* the target that has the new name so far; {NULL, NULL}: none */
	/* `over` is the same file as `node`, by another spelling of its name */
	bool respells;
	/* credentials from access_caller; NULL once text_save has taken them over */
	struct caller *caller;
	struct changes changes;
};

/*
 * Gives the renamed node its new name, unless the new parent is the node itself or below it: then
 * another program has moved that folder meanwhile, and the kernel must look the name up again.
 */
static void link_moved(struct nodes *t, struct node *node, struct node *parent, const char *name)
	REQUIRES(vfs_class)
{
	if (node_is_below(parent, node))
		nodes_unlink(t, parent, name);
	else
		nodes_link(t, node, parent, name);
}

static void relink(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;

	link_moved(t, m->node.node, m->to.parent.node, m->new_name);
	if (nodes_by_name(t, m->from.parent.node, m->name) == m->node.node)
		nodes_unlink(t, m->from.parent.node, m->name);
}

/*
 * Returns whether all nodes still stand for the same things. A staged folder may have become a
 * clip.
 */
static bool stands(const struct move *m)
{
	return target_stands(m->v, &m->node) && target_stands(m->v, &m->from.parent) &&
	       target_stands(m->v, &m->to.parent);
}

static struct animation *rename_animation_from(const struct move *m)
{
	return m->from.parent.thing->animation;
}

static struct animation *animation_to(const struct move *m)
{
	return m->to.parent.thing->animation;
}

/* A name in its stored form, and the folder that has it. */
struct place_on_disk {
	struct folder folder;
	char name[NAME_MAX + 1];
};

static int rename_open_place(struct move *m, const struct target *parent, enum area area,
			     const char *name, bool make, struct place_on_disk *out)
{
	int error = plain_name(area, name, out->name);

	return error ? error : plain_folder(m->v, parent, area, make, &out->folder);
}

/* Opens the folder of the old name, in the area that the renamed file is in. */
static int open_from(struct move *m, struct place_on_disk *out)
{
	return rename_open_place(m, &m->from.parent, (enum area)m->node.thing->area, m->name, false,
				 out);
}

static int open_to(struct move *m, bool make, struct place_on_disk *out)
{
	return rename_open_place(m, &m->to.parent, area_for(m->to.parent.thing), m->new_name, make,
				 out);
}

/* Passes m->caller on to text_save, which takes it over. */
static struct caller *take_caller(struct move *m)
{
	struct caller *caller = m->caller;

	m->caller = NULL;
	return caller;
}

/* ---- a text is renamed onto a view ---- */

/*
 * Detaches the view `over`, which is replaced: its open handles read on, but save nothing. If it is
 * not open, the kernel may be about to open it after an earlier lookup: then it shows the text of
 * `view`, which replaces it.
 */
static void rename_detach_view(struct vfs *v, struct thing *over, const struct thing *view)
	REQUIRES(vfs_class)
{
	if (over->kind != THING_VIEW)
		return;
	over->view.standing = DETACHED;
	if (!over->view.version && view->view.version) {
		over->view.version = version_get(view->view.version);
		over->view.place = view->view.place;
	}
	/*
	 * Without handles, no program can read the draft of the replaced view any more. This may
	 * free the node.
	 */
	if (over->node && !over->node->handles)
		view_closed(v, over->node);
}

/*
 * Detaches the view that has the new name, and the one in the table, which differs if the save has
 * replaced its node.
 */
static void detach_over(struct move *m, const struct thing *view) REQUIRES(vfs_class)
{
	struct node *named = nodes_by_name(&m->v->nodes, m->to.parent.node, m->new_name);

	if (m->over.node && m->over.node->thing == m->over.thing)
		rename_detach_view(m->v, m->over.thing, view);
	if (named && named != m->node.node)
		rename_detach_view(m->v, named->thing, view);
}

/* Points the renamed node to the view, whose draft is the text as saved. */
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
		view_leave_draft(v, node);
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
	else if (draft && draft->state == DRAFT_SAVED_STALE)
		view_part(v, node, &m->changes); /* From now on the name shows the file's text. */
	if (!node->handles)
		view_closed(v, node);
	view_catch_up(v, node, &m->changes);
	changes_data(&m->changes, node); /* The kernel has attributes of the old thing. */
	vfs_unlock(v);
}

/* Makes the old name of a moved view absent. */
static void rename_leave_name(struct move *m)
{
	struct animation *a = rename_animation_from(m);

	vfs_lock(m->v);
	name_set_absent(m->v, a, m->from.parent.node, m->name, NULL);
	vfs_unlock(m->v);
	animation_touch(m->v, a);
}

/*
 * Removes the plain file whose text has been saved, unless another program has put a file of its
 * own there. *mtime: the mtime of the removed file.
 */
static void rename_remove_plain(struct move *m, struct timespec *mtime)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	struct stat st;

	*mtime = clock_wall();
	if (plain_where(m->v, &m->node, &folder, name, &st) != 0)
		return;
	*mtime = st.st_mtim;
	unlinkat(folder.fd, name, 0);
	folder_close(m->v, &folder);
}

/* Gives the view the mtime of the file, which rsync compares when it runs again. */
static void keep_mtime(struct move *m, struct timespec mtime)
{
	struct target now;

	if (target_get(m->v, m->node.node->id, &now) != 0)
		return;
	given_mtime(m->v, &now, mtime);
	target_put(m->v, &now);
}

static int rename_save_text(struct move *m)
{
	bool plain = m->node.thing->kind == THING_PLAIN;
	struct timespec mtime;
	struct thing *view;
	struct text *text;
	int error = node_text(m->v, &m->node, &text);

	if (error)
		return error == ELOOP || error == EINVAL ? EBADMSG : error;
	writers_lock(rename_animation_from(m), animation_to(m));
	error = !stands(m) ? ESTALE
			   : text_save(m->v, m->who, &m->to.parent, m->new_name, text,
				       take_caller(m), &view, &m->changes);
	if (!error) {
		if (plain)
			rename_remove_plain(m, &mtime);
		else
			rename_leave_name(m);
		become_view(m, view);
		vfs_lock(m->v);
		thing_put(&m->v->nodes, view);
		vfs_unlock(m->v);
		if (plain)
			keep_mtime(m, mtime);
		animation_touch(m->v, animation_to(m));
	}
	writers_unlock(rename_animation_from(m), animation_to(m));
	text_put(text);
	return error;
}

/* ---- a view is moved away ---- */

/*
 * Gives handles of the view descriptors of the file that it becomes, now, since the file may be
 * removed before the handles are used again. A handle that has a descriptor, of a file that had
 * become the view, gets the new one under the same number (dup3), which a request may be using.
 */
static void give_descriptors(struct node *node, int fd) REQUIRES(vfs_class)
{
	for (struct handle *h = node->handles; fd >= 0 && h; h = h->next_of_node) {
		if (h->fd < 0)
			h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		else
			dup3(fd, h->fd, O_CLOEXEC);
	}
}

/* Points the node to a plain thing. fd: descriptor of its file, or -1. */
static int become_plain(struct move *m, const struct identity *id, int fd)
{
	struct vfs *v = m->v;
	struct node *node = m->node.node;
	struct thing *plain;

	vfs_lock(v);
	plain = thing_plain(&v->nodes, area_for(m->to.parent.thing), false, id);
	if (plain) {
		view_leave_draft(v, node);
		m->node.thing->view.standing = DETACHED;
		node_point(&v->nodes, node, plain);
		thing_put(&v->nodes, plain);
		give_descriptors(node, fd);
		relink(m);
		changes_data(&m->changes, node); /* The kernel has attributes of the view. */
	}
	vfs_unlock(v);
	return plain ? 0 : ENOMEM;
}

/* Finds the file that the view's text was written to. *fd: its descriptor, or -1. */
static int find_written(struct move *m, struct identity *id, int *fd)
{
	struct place_on_disk to;
	struct identity opened;
	struct stat st;
	int error = open_to(m, false, &to);

	*fd = -1;
	if (error)
		return error;
	error = identity_at(to.folder.fd, to.name, id, &st);
	/* Without a descriptor here, a handle opens the file when it is used. */
	if (!error && dirfd_open(to.folder.fd, to.name, O_RDWR | O_NONBLOCK | O_NOCTTY, 0, fd) != 0)
		*fd = -1;
	if (*fd >= 0 && (identity_at(*fd, "", &opened, &st) != 0 || !identity_same(&opened, id))) {
		close(*fd);
		*fd = -1;
	}
	folder_close(m->v, &to.folder);
	return error;
}

static int move_view_away(struct move *m)
{
	struct animation *a = rename_animation_from(m);
	struct identity id;
	int fd = -1, error;

	writer_lock(a);
	error = !stands(m) ? ESTALE
			   : view_write_out(m->v, m->who, &m->node, &m->to.parent, m->new_name,
					    m->flags & RENAME_NOREPLACE);
	if (!error)
		error = find_written(m, &id, &fd);
	if (!error)
		error = become_plain(m, &id, fd);
	if (!error)
		rename_leave_name(m);
	writer_unlock(a);
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- clips are renamed ---- */

/* Moves ordinary files beside views along with a clip, an animation file or a folder above. */
static void rename_move_upper(const struct move *m)
{
	upper_move(m->v, m->from.parent.node, m->name, m->to.parent.node, m->new_name);
}

/* The empty folder that a clip's folder replaces. */
struct vacant {
	struct stat st;
	int kept; /* descriptor of the folder, from plain_keep_folder */
};

/*
 * Checks that the folder which a clip is to replace is empty, as on any filesystem, and keeps it
 * open.
 */
static int find_vacant(struct move *m, struct vacant *out)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	DIR *dir;
	int error = plain_where(m->v, &m->over, &folder, name, &out->st);

	if (error)
		return error;
	error = dirfd_list(folder.fd, name, &dir);
	if (!error) {
		error = dirfd_next(dir) ? ENOTEMPTY : 0;
		closedir(dir);
	}
	if (!error)
		out->kept = plain_keep_folder(m->v, folder.fd, name);
	folder_close(m->v, &folder);
	return error;
}

/*
 * Removes the empty folder that the clip has replaced, since all users that may write the animation
 * file must be able to write to the clip's upper folder. Keeps it if it is that upper folder by
 * now, with the files beside the clip's texts.
 */
static void replace_vacant(struct move *m, const struct vacant *was)
{
	upper_remove_folder(m->v, m->to.parent.node, m->new_name);
	vfs_lock(m->v);
	plain_lost_name(m->v, m->over.node, &was->st);
	folder_forget(m->v, m->over.thing);
	vfs_unlock(m->v);
	staging_forget(m->v, &m->over, m->to.parent.node, m->new_name);
	diagnose_gone(m->v, m->to.parent.node, m->new_name);
}

/* Renames a clip. EXDEV into another file, after which mv copies the texts. */
static int rename_clip(struct move *m)
{
	struct animation *a = rename_animation_from(m);
	struct vacant vacant = {.kept = -1};
	bool replaces = m->over.node && m->over.thing->kind == THING_PLAIN;
	struct program *by;
	int error = 0;

	if (m->to.parent.thing->kind != THING_ANIMATION)
		return thing_is_virtual(m->to.parent.thing) ? EPERM : EXDEV;
	if (m->from.place.kind != PLACE_CLIP)
		return m->from.is_view ? EPERM : ESTALE; /* the target was made after its lookup */
	if (m->to.present)
		return ENOTEMPTY;
	if (a != animation_to(m))
		return EXDEV;
	by = program_of(m->v, m->who);
	writer_lock(a);
	if (replaces)
		error = find_vacant(m, &vacant);
	/* If a clip of that name was just removed, remove it from the file now. */
	if (!error && m->to.is_view)
		error = end_finish(m->v, a, &m->changes);
	if (!error)
		error = clip_rename(m->v, a, m->name, m->new_name, by, &m->changes);
	if (!error && replaces)
		replace_vacant(m, &vacant);
	writer_unlock(a);
	program_put(by);
	plain_let_go(m->v, error ? NULL : m->over.node, vacant.kept);
	return error;
}

/* ---- on disk and in the table ---- */

/* Moves the history along with the file. */
static void move_history(const struct move *m, const char *name, const char *new_name)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int error;

	vfs_lock(m->v);
	error = node_path_of(m->from.parent.node, name, &from);
	if (!error)
		error = node_path_of(m->to.parent.node, new_name, &to);
	vfs_unlock(m->v);
	if (!error)
		history_rename(m->v->state, (const char *)from.data, (const char *)to.data);
	buf_release(&from);
	buf_release(&to);
}

/*
 * Moves the animation's skeleton file (NAME.skeleton.csv) along, unless the new name has one. The
 * caller's permission to write both folders was checked for the animation itself.
 */
static void move_skeleton(struct move *m, const struct folder *from, const struct folder *to,
			  bool beside)
{
	char name[NAME_MAX + 1], new_name[NAME_MAX + 1];

	if (!(m->flags & RENAME_EXCHANGE) && name_may_show(m->v, m->name, beside) &&
	    name_may_show(m->v, m->new_name, beside) && skeleton_own_name(m->name, name) &&
	    skeleton_own_name(m->new_name, new_name) &&
	    access_may_move(m->v, m->caller, from->fd, name) &&
	    dirfd_rename(from->fd, name, to->fd, new_name, RENAME_NOREPLACE) == 0)
		move_history(m, name, new_name);
}

static void exchange_links(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;

	nodes_unlink(t, m->from.parent.node, m->name);
	link_moved(t, m->node.node, m->to.parent.node, m->new_name);
	if (m->over.node)
		link_moved(t, m->over.node, m->from.parent.node, m->name);
}

/* Points the node of a file that has moved to another area to a thing of that area. */
static void change_area(struct move *m) REQUIRES(vfs_class)
{
	struct nodes *t = &m->v->nodes;
	enum area area = area_for(m->to.parent.thing);
	struct identity id;
	struct thing *thing;

	if (m->node.thing->kind != THING_PLAIN || m->node.thing->area == area)
		return;
	id = m->node.thing->plain.identity;
	thing_leave_identity(t, m->node.thing);
	thing = thing_plain(t, area, m->node.thing->folder, &id);
	if (!thing)
		return;
	node_point(t, m->node.node, thing);
	thing_put(t, thing);
}

/* Returns whether either name is that of an animation file. */
static bool moves_file(const struct move *m)
{
	return m->node.thing->kind == THING_ANIMATION ||
	       (m->over.node && m->over.thing->kind == THING_ANIMATION);
}

/*
 * Returns whether the state directory can have files for the renamed thing, or for the folder
 * beside it.
 */
static bool has_upper(const struct move *m)
{
	if (area_for(m->to.parent.thing) != AREA_SOURCE ||
	    (moves_file(m) && (m->flags & RENAME_EXCHANGE)))
		return false;
	return m->node.thing->folder ||
	       (!(m->flags & RENAME_EXCHANGE) && name_may_show(m->v, m->name, true) &&
		name_may_show(m->v, m->new_name, true));
}

/* Takes both names from their nodes, so that the kernel looks them up. */
static void unlink_both(struct move *m) REQUIRES(vfs_class)
{
	nodes_unlink(&m->v->nodes, m->from.parent.node, m->name);
	nodes_unlink(&m->v->nodes, m->to.parent.node, m->new_name);
	changes_name(&m->changes, m->from.parent.node, m->name, false);
}

/* Updates the table after the rename on disk. `over`: attributes of the replaced file, or NULL. */
static void move_links(struct move *m, const struct stat *over) REQUIRES(vfs_class)
{
	m->v->moves++;
	if (m->flags & RENAME_EXCHANGE) {
		if (moves_file(m))
			unlink_both(m);
		else
			exchange_links(m);
		return;
	}
	change_area(m);
	relink(m);
	if (over)
		plain_lost_name(m->v, m->over.node, over);
}

/*
 * Renames in two steps, by a third name, since on a case-insensitive filesystem a rename that only
 * changes case may do nothing.
 */
static int rename_by_way(const struct move *m, int folder, const char *path)
{
	struct state *s = m->v->state;
	char way[NAME_MAX + 1];
	int error = state_on_its_way(s, path, m->new_name, way);

	if (error)
		return error;
	error = dirfd_rename(folder, m->name, folder, way, RENAME_NOREPLACE);
	if (!error) {
		error = dirfd_rename(folder, way, folder, m->new_name, RENAME_NOREPLACE);
		if (error)
			dirfd_rename(folder, way, folder, m->name, RENAME_NOREPLACE);
	}
	state_temporary_gone(s, path);
	return error;
}

static int rename_there(const struct move *m, const struct place_on_disk *from,
			const struct place_on_disk *to)
{
	char *path;
	int error;

	if (!m->respells)
		return dirfd_rename(from->folder.fd, from->name, to->folder.fd, to->name, m->flags);
	error = path_of(m->v, m->from.parent.node, NULL, &path);
	if (!error)
		error = rename_by_way(m, from->folder.fd, path);
	free(path);
	return error;
}

/* Renames on disk and in the table, atomically for lookups. */
static int rename_move_names(struct move *m, const struct place_on_disk *from,
			     const struct place_on_disk *to)
{
	struct vfs *v = m->v;
	struct identity id;
	struct stat over;
	bool replaces;
	int kept = -1, error;

	folders_hold_still(v);
	history_begin_move(store_history(v->store));
	replaces = m->over.node && m->over.thing->kind != THING_ANIMATION &&
		   identity_at(to->folder.fd, to->name, &id, &over) == 0;
	if (replaces && m->over.thing->folder && !(m->flags & RENAME_EXCHANGE))
		kept = plain_keep_folder(v, to->folder.fd, to->name);
	error = rename_there(m, from, to);
	plain_let_go(v, error ? NULL : m->over.node, kept);
	if (!error && (moves_file(m) ||
		       (!m->node.thing->folder && area_for(m->to.parent.thing) == AREA_SOURCE)))
		move_skeleton(m, &from->folder, &to->folder, !moves_file(m));
	vfs_lock(v);
	if (!error)
		move_links(m, replaces ? &over : NULL);
	vfs_unlock(v);
	if (!error && has_upper(m))
		rename_move_upper(m);
	history_end_move(store_history(v->store));
	folders_let_move(v);
	return error;
}

/* Checks whether there is room for the file, if it moves to another area. */
static int rename_check_room(struct move *m, const struct place_on_disk *from)
{
	enum area area = area_for(m->to.parent.thing);
	struct stat st;

	if (m->node.thing->area == area ||
	    fstatat(from->folder.fd, from->name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return upper_grow(m->v, area, (uint64_t)st.st_size + UPPER_ENTRY);
}

static int rename_on_disk(struct move *m)
{
	struct place_on_disk from, to;
	int error = open_from(m, &from);

	if (error)
		return error;
	error = rename_check_room(m, &from);
	if (!error)
		error = open_to(m, true, &to);
	if (!error) {
		error = rename_move_names(m, &from, &to);
		folder_close(m->v, &to.folder);
	}
	folder_close(m->v, &from.folder);
	return error;
}

/* ---- plain things ---- */

/* Stages the renamed folder again, if the new name is one for staging. */
static void stage_again(struct move *m)
{
	staging_given(m->v, m->who, m->from.parent.node, 0);
	staging_given(m->v, m->who, m->to.parent.node, 0);
	staging_forget(m->v, &m->node, m->from.parent.node, m->name);
	if (m->node.thing->folder && staging_wanted(m->v, m->to.parent.thing, m->new_name))
		staging_begin(m->v, NULL, &m->node);
}

static int rename_plain(struct move *m)
{
	const struct thing *thing = m->node.thing;
	enum area area = area_for(m->to.parent.thing);
	int error = 0;

	if (thing->folder && thing->area != area)
		return EXDEV; /* Things below the folder would be in the wrong area. */
	if (thing->folder && m->to.parent.thing->kind == THING_ANIMATION && m->new_name[0] != '.')
		error = clip_check_new(m->v, animation_to(m), m->new_name);
	/* Renames wait here while a staged folder is turned into a clip. */
	writers_lock(rename_animation_from(m), animation_to(m));
	if (!error)
		error = rename_on_disk(m);
	writers_unlock(rename_animation_from(m), animation_to(m));
	if (error)
		return error;
	stage_again(m);
	return 0;
}

/*
 * Renames onto the absent name of a clip. The clip leaves the file now, so that a copy of it can
 * take its place, as if the clip itself had been renamed.
 */
static int rename_onto_absent(struct move *m)
{
	struct animation *a = animation_to(m);
	struct place place;
	bool stays;
	int error;

	writer_lock(a);
	error = end_finish(m->v, a, &m->changes);
	writer_unlock(a);
	if (!error)
		error = place_find(m->v, &m->to.parent, m->new_name, &place, &stays);
	if (error)
		return error;
	return stays ? ENOTEMPTY : rename_plain(m);
}

/* ---- animation files are renamed ---- */

static bool rename_is_beside(const struct target *t)
{
	return t->node && t->thing->kind == THING_ANIMATION && t->thing->animation->beside;
}

/*
 * Stores in `label` the label of the file's only clip, if the clip is named after the file. Else
 * returns false.
 */
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

/* Renames the node of the clip that is named after its file. */
static void rename_follow_file(struct move *m, struct animation *a, const char *was)
	REQUIRES(writer_class)
{
	char label[NAME_MAX + 1];
	struct version *now;
	struct site site;

	if (site_open(m->v, a, &site) != 0)
		return;
	now = source_get(a->source, &site.where, NULL);
	if (now && now->anim->clip_count > 0) {
		snprintf(label, sizeof(label), "%s", now->anim->clips[0].label);
		if (strcmp(label, was) != 0)
			clip_follow(m->v, a, was, label, now, &m->changes);
	}
	version_put(now);
	site_close(m->v, &site);
}

/*
 * Updates the texts that name the file, after it was renamed. clip: label of the clip that is named
 * after the file.
 */
static void file_renamed(struct move *m, const char *clip) REQUIRES(writer_class)
{
	struct animation *a = m->node.thing->animation;
	struct version *now;
	struct stat st;

	source_forget(a->source);
	if (clip)
		rename_follow_file(m, a, clip);
	if (animation_look(m->v, a, &now, &st) == 0)
		version_put(now);
}

/* Renames the file with the writers' locks held, and updates the texts that name it. */
static int rename_locked(struct move *m) REQUIRES(writer_class)
{
	bool animation = m->node.thing->kind == THING_ANIMATION, by_file;
	char clip[NAME_MAX + 1];
	int error;

	by_file = animation && clip_by_file(m->v, m->node.thing->animation, clip);
	error = rename_on_disk(m);
	if (!error && animation && !(m->flags & RENAME_EXCHANGE))
		file_renamed(m, by_file ? clip : NULL);
	return error;
}

/*
 * Renames an animation file by its folder. With the new name it may no longer be shown as a folder.
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
	if (rename_is_beside(&m->node) || rename_is_beside(&m->over))
		/* Not possible by the folder beside a file: the user must rename the file. */
		return EPERM;
	writers_lock(a, b);
	error = rename_locked(m);
	writers_unlock(a, b);
	return error;
}

/* ---- rename ---- */

static bool may_be_animation(struct vfs *v, const char *name)
{
	const struct codec *codec;
	bool probe;

	return store_claims(v->store, name, &codec, &probe);
}

/* Returns whether the rename exposes a view's text under another name. */
static bool rename_takes_text(const struct move *m)
{
	return m->to.is_view || m->node.thing->kind == THING_VIEW ||
	       (!m->node.thing->folder &&
		(thing_is_virtual(m->to.parent.thing) || is_staged(m->v, m->to.parent.node)));
}

static bool changes_area(const struct target *t, const struct target *parent)
{
	return t->thing->kind == THING_PLAIN && t->thing->area != (uint8_t)area_for(parent->thing);
}

/*
 * Checks whether two names can be exchanged: only those of ordinary files or folders in the same
 * area, or of two animation files. Otherwise both names would need a thing of another kind or area.
 */
static int check_exchange(const struct move *m)
{
	if (m->to.is_view || m->from.is_view || m->node.thing->kind == THING_VIEW)
		return EINVAL;
	if (m->over.node &&
	    (m->node.thing->kind == THING_ANIMATION) != (m->over.thing->kind == THING_ANIMATION))
		return EINVAL;
	return changes_area(&m->node, &m->to.parent) ||
			       (m->over.node && changes_area(&m->over, &m->from.parent))
		       ? EXDEV
		       : 0;
}

static int choose_rename(struct move *m)
{
	bool onto_view = m->to.is_view && m->to.place.kind == PLACE_VIEW;
	enum thing_kind kind = (enum thing_kind)m->node.thing->kind;
	bool is_view = kind == THING_VIEW;
	int error = m->flags & RENAME_EXCHANGE ? check_exchange(m) : 0;

	if (error)
		return error;
	if ((m->flags & RENAME_NOREPLACE) && m->to.present)
		return EEXIST;
	if (kind == THING_CLIP || kind == THING_BONES || kind == THING_FRAMES)
		return rename_clip(m);
	if (m->to.present && m->to.place.kind != PLACE_VIEW)
		return m->node.thing->folder ? ENOTEMPTY : EISDIR;
	if (m->to.is_view && !onto_view)
		return kind == THING_PLAIN && m->node.thing->folder &&
				       m->to.place.kind == PLACE_CLIP
			       ? rename_onto_absent(m)
			       : EPERM;
	if (onto_view && m->node.thing->folder)
		return ENOTDIR;
	if (onto_view)
		return rename_save_text(m);
	if (is_view)
		return move_view_away(m);
	if (kind == THING_ANIMATION || (m->over.node && m->over.thing->kind == THING_ANIMATION))
		return rename_file(m);
	return kind == THING_PLAIN ? rename_plain(m) : EPERM;
}

/*
 * Allocates before the rename on disk, so that updating the table cannot fail. Returns false when
 * out of memory.
 */
static bool make_ready(const struct move *m)
{
	bool ready;

	vfs_lock(m->v);
	ready = node_ready(m->node.node) && (!m->over.node || node_ready(m->over.node));
	vfs_unlock(m->v);
	return ready;
}

static void rename_let_go(struct vfs *v, struct target *t)
{
	if (!t->node)
		return;
	vfs_lock(v);
	node_settle(t->node);
	vfs_unlock(v);
	target_put(v, t);
}

/* Returns whether both names are of the same file, and differ only in case. */
static bool is_respelled(const struct move *m)
{
	struct folder folder;
	bool same;

	if (m->node.thing->kind != THING_ANIMATION || m->node.node == m->over.node ||
	    m->from.parent.node != m->to.parent.node || strcasecmp(m->name, m->new_name) != 0 ||
	    folder_open(m->v, m->from.parent.node, &folder) != 0)
		return false;
	same = dirfd_is_respelled(folder.fd, m->new_name);
	folder_close(m->v, &folder);
	return same;
}

/*
 * Finds the target that the table has for the new name, if any; another program may have removed it
 * on disk.
 */
static void find_over(struct move *m)
{
	struct vfs *v = m->v;
	struct stat st;

	if (!child_of(v, m->to.parent.node, m->new_name, &m->over))
		return;
	if (m->over.thing->kind != THING_ANIMATION)
		return;
	m->respells = !m->flags && is_respelled(m);
	if (!m->respells && animation_stat(v, m->over.thing->animation, &st) != ENOENT)
		return;
	name_lost(v, m->to.parent.node, m->new_name, NULL);
	if (!m->respells)
		upper_remove_empty(v, m->to.parent.node, m->new_name);
	target_put(v, &m->over);
}

/*
 * Finds the node to rename. A view that was just replaced has no new node yet. ESTALE would make
 * the kernel look it up again only once, and the view may be replaced again meanwhile; so a node is
 * made here, and the kernel's name is invalidated afterwards.
 */
static int rename_find_node(struct move *m)
{
	if (child_of(m->v, m->from.parent.node, m->name, &m->node))
		return 0;
	if (!m->from.present)
		return ENOENT;
	if (m->from.place.kind != PLACE_VIEW)
		return ESTALE;
	m->overtaken = true;
	return place_node(m->v, &m->from.parent, m->name, &m->from.place, &m->node);
}

static int begin_move(struct move *m, uint64_t parent, uint64_t new_parent)
{
	int error = slot_find(m->v, parent, m->name, &m->from);

	if (!error)
		error = slot_find(m->v, new_parent, m->new_name, &m->to);
	if (!error)
		error = rename_find_node(m);
	if (error)
		return error;
	error = gate_enter_target(m->v, &m->node, &m->guest);
	if (error)
		return error;
	find_over(m);
	error = access_caller(m->v, m->who, &m->caller);
	if (!error && rename_takes_text(m))
		error = acl_check_read(m->v, m->who, &m->node);
	return !error && !make_ready(m) ? ENOMEM : error;
}

/*
 * Tries to rename once. *overtaken: set if that failed because a node now stands for another thing.
 */
static int rename_once(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
		       uint64_t new_parent, const char *new_name, unsigned flags,
		       struct after **after, bool *overtaken)
{
	struct move m = {.v = v,
			 .who = who,
			 .name = name,
			 .new_name = new_name,
			 .flags = flags,
			 .changes = CHANGES_INIT};
	int error = begin_move(&m, parent, new_parent);

	if (!error)
		error = choose_rename(&m);
	if (!error && !m.from.is_view && !(flags & RENAME_EXCHANGE))
		diagnose_gone(v, m.from.parent.node, name);
	if (!error && !m.to.is_view)
		view_diagnose_no_bone(v, &m.to.parent, new_name);
	free(m.caller);
	if (!error && m.overtaken) {
		vfs_lock(v);
		changes_name(&m.changes, m.to.parent.node, new_name, true);
		vfs_unlock(v);
	}
	/*
	 * A name that an animation can have may be shown as a folder now, or have been shown as
	 * one.
	 */
	if (!error && (may_be_animation(v, name) || may_be_animation(v, new_name))) {
		vfs_lock(v);
		changes_name(&m.changes, m.to.parent.node, new_name, false);
		vfs_unlock(v);
	}
	m.changes.locked[0] = parent;
	m.changes.locked[1] = new_parent;
	m.changes.locked[2] = m.node.node && parent != new_parent ? m.node.node->id : 0;
	m.changes.locked[3] = m.over.node ? m.over.node->id : 0;
	*after = changes_send(v, &m.changes);
	*overtaken = error == ESTALE && m.node.node && !stands(&m);
	gate_leave(v, &m.guest);
	rename_let_go(v, &m.over);
	rename_let_go(v, &m.node);
	slot_release(v, &m.from);
	slot_release(v, &m.to);
	return error;
}

int vfs_rename(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned flags, struct after **after)
{
	unsigned tries = 0;
	bool overtaken;
	int error;

	*after = NULL;
	/*
	 * A rename of a name to itself does nothing. The kernel may send one when one of its
	 * lookups finds a node that was replaced.
	 */
	if (parent == new_parent && strcmp(name, new_name) == 0)
		return 0;
	do {
		vfs_after(v, *after);
		error = rename_once(v, who, parent, name, new_parent, new_name, flags, after,
				    &overtaken);
	} while (overtaken && may_retry(error, &tries));
	return error;
}

void vfs_after(struct vfs *v, struct after *after)
{
	after_send(v, after);
}
