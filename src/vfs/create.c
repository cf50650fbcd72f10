/* SPDX-License-Identifier: GPL-3.0-or-later */
/* create.c - mknod, mkdir, symlink. */
#include "acl.h"
#include "clips.h"
#include "disk/dirfd.h"
#include "lookup.h"
#include "open.h"
#include "plain.h"
#include "save.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- plain things ---- */

/* The thing to make, and the place for it; mode includes the type. */
struct creation {
	struct vfs *v;
	const struct request *who;
	const struct target *parent;
	const char *name;
	mode_t mode;
	dev_t device;
	const char *target; /* target of a symbolic link */
	char stored[NAME_MAX + 1];
	bool staging; /* whether to make a staged folder */
};

static int create_make_file(const struct creation *c, int folder, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL;
	int fd, error = dirfd_open(folder, c->stored, flags, mode & 07777, &fd);

	if (error)
		return error;
	plain_own(c->who, folder, fd);
	close(fd);
	return 0;
}

static bool is_empty_folder(int fd)
{
	bool empty;
	DIR *list;

	if (dirfd_list(fd, "", &list) != 0)
		return false;
	empty = !dirfd_next(list);
	closedir(list);
	return empty;
}

static bool is_link_to(int fd, const char *target)
{
	char now[PATH_MAX];
	ssize_t size = readlinkat(fd, "", now, sizeof(now));

	return size == (ssize_t)strlen(target) && memcmp(now, target, (size_t)size) == 0;
}

/*
 * Returns whether the file behind `fd` is the thing that was made: ours, of this type, and empty.
 * No call both makes such a thing and opens it, and another program may have put its own there
 * meanwhile.
 */
static bool is_as_made(const struct creation *c, int fd)
{
	const mode_t type = c->target ? S_IFLNK : c->mode & S_IFMT;
	struct stat st;

	if (fstat(fd, &st) != 0 || (st.st_mode & S_IFMT) != type || st.st_uid != geteuid())
		return false;
	if (c->target)
		return is_link_to(fd, c->target);
	if (S_ISDIR(type))
		return is_empty_folder(fd);
	return !(S_ISCHR(type) || S_ISBLK(type)) || st.st_rdev == c->device;
}

static void own_made(const struct creation *c, int folder)
{
	int fd;

	if (dirfd_open(folder, c->stored, O_PATH, 0, &fd) != 0)
		return;
	if (is_as_made(c, fd))
		plain_own(c->who, folder, fd);
	close(fd);
}

static int make_in(const struct creation *c, int folder)
{
	mode_t mode = c->target ? 0 : acl_mode(c->v, c->who, folder, c->mode);
	int failed;

	if (!c->target && S_ISREG(c->mode))
		return create_make_file(c, folder, mode);
	if (c->target)
		failed = symlinkat(c->target, folder, c->stored);
	else if (S_ISDIR(c->mode))
		failed = mkdirat(folder, c->stored, mode & 07777);
	else
		failed = mknodat(folder, c->stored, mode, c->device);
	if (failed)
		return errno;
	own_made(c, folder);
	return 0;
}

/* Passes the new node to staging.c, since it may be a staged folder or be in one. */
static int note_made(const struct creation *c, uint64_t node)
{
	struct target made;
	int error = target_get(c->v, node, &made);

	if (error)
		return error;
	if (c->staging)
		error = staging_begin(c->v, c->who, &made);
	else
		staging_given(c->v, c->who, made.node, 1u << GIVEN_MADE);
	target_put(c->v, &made);
	if (!error)
		staging_touch(c->v, c->parent->node);
	return error;
}

static int enter_made(const struct creation *c, enum area area, int folder, struct entry *out)
{
	int error = plain_entry(c->v, c->parent, area, folder, c->name, out);

	if (!error) {
		error = note_made(c, out->node);
		if (error)
			vfs_forget(c->v, out->node, 1);
	}
	/* Remove the new folder if it could not be staged: the caller did not want a plain one. */
	if (error && c->staging)
		unlinkat(folder, c->stored, AT_REMOVEDIR);
	return error;
}

static int create_plain(struct creation *c, struct entry *out)
{
	enum area area = area_for(c->parent->thing);
	struct folder folder;
	int error = plain_name(area, c->name, c->stored);

	if (!error)
		error = upper_grow(c->v, area, UPPER_ENTRY);
	if (!error)
		error = plain_folder(c->v, c->parent, area, true, &folder);
	if (error)
		return error;
	error = make_in(c, folder.fd);
	if (!error)
		error = enter_made(c, area, folder.fd, out);
	folder_close(c->v, &folder);
	return error;
}

/* ---- absent views and folders ---- */

static int create_view(struct vfs *v, const struct request *who, const struct slot *slot,
		       const char *name, struct entry *out)
{
	struct opened opened;
	int error = view_create(v, who, &slot->parent, name, &slot->place, O_WRONLY | O_CREAT,
				&opened, out);

	if (!error)
		vfs_release(v, opened.handle);
	return error;
}

/*
 * Makes an absent name present again; absent names in its folder stay absent. Returns false if the
 * name is not absent.
 */
static bool set_present(struct vfs *v, struct animation *a, const struct target *parent,
			const char *name, struct node *now)
{
	const struct node *was;
	bool absent;

	vfs_lock(v);
	absent = name_is_absent(a, parent->node, name);
	was = name_folder(a, parent->node, name);
	if (was)
		names_move(v, a, was, now);
	name_set_present(v, a, parent->node, name);
	vfs_unlock(v);
	return absent;
}

/*
 * Brings back a virtual folder that was removed, for mkdir. Takes the writer's lock, since the
 * folder may be that of a clip that is just being removed from the file: then ESTALE makes the
 * kernel look up the name again.
 */
static int bring_back(struct vfs *v, const struct slot *slot, const char *name, struct entry *out)
{
	struct animation *a = slot->parent.thing->animation;
	struct target now;
	int error;

	writer_lock(a);
	error = place_node(v, &slot->parent, name, &slot->place, &now);
	if (!error) {
		error = set_present(v, a, &slot->parent, name, now.node) ? 0 : ESTALE;
		target_put(v, &now);
	}
	writer_unlock(a);
	if (!error)
		animation_touch(v, a);
	return error ? error : lookup_in(v, &slot->parent, name, out);
}

/* ---- mknod, mkdir, symlink ---- */

/*
 * Creates a view or a plain file, without opening it. Programs may create a text this way before
 * they write it: tar --xattrs sets attributes first.
 */
int vfs_mknod(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	      mode_t mode, dev_t rdev, struct entry *out)
{
	struct slot slot;
	struct creation c = {v, who, &slot.parent, name, mode, rdev, NULL, "", false};
	int error = slot_find(v, parent, name, &slot);

	if (!error && slot.present)
		error = EEXIST;
	if (!error && slot.is_view && slot.place.kind != PLACE_VIEW)
		error = EPERM;
	if (!error && thing_is_virtual(slot.parent.thing) && !S_ISREG(mode))
		error = EPERM;
	if (!error)
		error = slot.is_view ? create_view(v, who, &slot, name, out)
				     : create_plain(&c, out);
	slot_release(v, &slot);
	return error;
}

static int create_folder(struct creation *c, struct entry *out)
{
	const struct thing *parent = c->parent->thing;
	int error = 0;

	c->staging = staging_wanted(c->v, parent, c->name);
	if (c->staging && parent->kind == THING_ANIMATION)
		error = clip_check_new(c->v, parent->animation, c->name);
	return error ? error : create_plain(c, out);
}

int vfs_mkdir(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	      mode_t mode, struct entry *out)
{
	struct slot slot;
	const mode_t folder = S_IFDIR | (mode & 07777);
	struct creation c = {v, who, &slot.parent, name, folder, 0, NULL, "", false};
	int error = slot_find(v, parent, name, &slot);

	if (!error && slot.present)
		error = EEXIST;
	else if (!error && !slot.is_view)
		error = create_folder(&c, out);
	else if (!error)
		error = slot.place.kind == PLACE_VIEW ? EPERM : bring_back(v, &slot, name, out);
	slot_release(v, &slot);
	return error;
}

int vfs_symlink(struct vfs *v, const struct request *who, const char *target, uint64_t parent,
		const char *name, struct entry *out)
{
	struct slot slot;
	struct creation c = {v, who, &slot.parent, name, S_IFLNK, 0, target, "", false};
	int error = slot_find(v, parent, name, &slot);

	if (!error && slot.present)
		error = EEXIST;
	if (!error && slot.is_view)
		error = EPERM;
	if (!error)
		error = create_plain(&c, out);
	slot_release(v, &slot);
	return error;
}
