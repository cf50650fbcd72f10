/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xattr.c - extended attributes: a file's own, those that were set on views, and user.animfs.error.
 */
#include "access.h"
#include "attr.h"
#include "backing.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "gate.h"
#include "given.h"
#include "plain.h"
#include "staging.h"
#include "store/source.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ERROR_XATTR "user.animfs.error"
#define FROM_XATTR "user.animfs.from"

/*
 * Returns whether attributes of the thing are those of a file: a plain thing, an animation's
 * folder, or raw.*. A member of an archive has none.
 */
static bool is_backed(const struct thing *thing)
{
	return thing->kind != THING_CONTROL && !given_is_for(thing) && !thing_is_member(thing) &&
	       !(thing->animation && thing->animation->archived);
}

/* Sets err to why an archive is not shown as a folder; leaves it unchanged if it is shown. */
static void archive_fault(struct vfs *v, int folder, const char *name, struct err *err)
{
	struct archive_source *source = archive_source_new(v->store);

	if (source)
		catalog_put(archive_look(source, folder, name, err));
	archive_source_free(source);
}

/* Returns whether a file in an archive is damaged, of whatever kind it is. Then err says how. */
static bool member_fault_of(struct vfs *v, const struct target *t, struct err *err)
{
	struct spot spot;

	if (spot_of(v, t->node, &spot, err) != 0)
		return false;
	catalog_check(spot.of, spot.entry, err);
	spot_release(&spot);
	return err->code == ERR_FORMAT;
}

/* Exchanges the source that a plain file keeps, so that only one thread uses the source. */
static struct source *exchange_source(struct vfs *v, struct thing *thing, struct source *source)
{
	struct source *was;

	vfs_lock(v);
	was = thing->plain.source;
	thing->plain.source = source;
	vfs_unlock(v);
	return was;
}

/*
 * Sets err to the reason why an animation file does not decode, if it does not; then the file keeps
 * its source, which remembers the reason. Sources of other files are not kept, since they would
 * hold decoded models.
 */
static void decode_fault(struct vfs *v, struct thing *thing, const struct where *where,
			 struct err *err)
{
	struct source *source = exchange_source(v, thing, NULL);
	struct version *version;

	if (!source)
		source = source_new(v->store);
	version = source ? source_get(source, where, err) : NULL;
	version_put(version);
	if (!version && err->code == ERR_FORMAT)
		source = exchange_source(v, thing, source);
	source_free(source);
}

/*
 * Returns whether the file has the name of an animation or archive but is shown as a plain file, or
 * is a damaged file in an archive. Then err says why.
 */
static bool error_text(struct vfs *v, const struct target *t, struct err *err)
{
	struct thing *thing = t->thing;
	char name[NAME_MAX + 1];
	const struct codec *codec;
	struct folder folder;
	struct stat st;
	bool probe;

	if (thing->kind == THING_MEMBER && !thing->folder)
		return member_fault_of(v, t, err);
	if (thing->kind != THING_PLAIN || thing->folder || thing->area != AREA_SOURCE ||
	    plain_where(v, t, &folder, name, &st) != 0)
		return false;
	if (archive_has_name(v->store, name)) {
		archive_fault(v, folder.fd, name, err);
	} else if (store_claims(v->store, name, &codec, &probe) && !probe) {
		const struct where where = {.dir = folder.fd, .folder = "", .name = name};

		decode_fault(v, thing, &where, err);
	}
	folder_close(v, &folder);
	return err->code == ERR_FORMAT;
}

/*
 * Returns the errno for an attribute that a virtual thing does not have. EOPNOTSUPP for security
 * labels and ACLs, so that programs (ls -l) do not ask again for every file.
 */
static int absent_errno(const char *name)
{
	return strncmp(name, "user.", 5) == 0 || strncmp(name, "trusted.", 8) == 0 ? ENODATA
										   : EOPNOTSUPP;
}

static int get_virtual(struct vfs *v, const struct target *t, const char *name, struct buf *out)
{
	int error = given_is_for(t->thing) ? given_xattr(v, t, name, out) : ENODATA;

	return error == ENODATA ? absent_errno(name) : error;
}

static bool add_from(const struct loose_site *site, struct buf *out)
{
	if (site->loose->is_there)
		buf_text(out, site->loose->shown);
	return site->loose->is_there;
}

static bool xattr_animation_from(struct vfs *v, struct animation *a, struct buf *out)
{
	struct site site;
	bool there;

	if (site_open(v, a, &site) != 0)
		return false;
	there = add_from(&site.loose, out);
	site_close(v, &site);
	return there;
}

/*
 * Appends the path of the loose file that is shown in place of a member. Returns 0, or ENODATA if
 * there is none.
 */
static int from_xattr(struct vfs *v, const struct target *t, struct buf *out)
{
	struct loose_site site;
	struct spot spot;
	bool there;

	if (t->thing->kind == THING_ANIMATION && t->thing->animation->archived)
		return xattr_animation_from(v, t->thing->animation, out) ? 0 : ENODATA;
	if (t->thing->kind != THING_MEMBER || t->thing->folder ||
	    spot_of(v, t->node, &spot, NULL) != 0)
		return ENODATA;
	there = spot.loose && loose_site_open(v, t->node, &spot, &site, NULL) == 0;
	if (there) {
		there = add_from(&site, out);
		loose_site_close(v, &site);
	}
	spot_release(&spot);
	return there ? 0 : ENODATA;
}

int vfs_getxattr(struct vfs *v, uint64_t node, const char *name, struct buf *out)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	int error = target_get(v, node, &t);

	if (error)
		return error;
	if (strcmp(name, FROM_XATTR) == 0)
		error = from_xattr(v, &t, out);
	else if (strcmp(name, ERROR_XATTR) == 0 && error_text(v, &t, &err))
		buf_text(out, err.message);
	else if (v->acls && acl_is_name(name))
		error = acl_get(v, &t, name, out);
	else if (is_backed(t.thing))
		error = backing_xattr(v, &t, name, out);
	else
		error = get_virtual(v, &t, name, out);
	target_put(v, &t);
	return error ? error : out->failed ? ENOMEM : 0;
}

int vfs_listxattr(struct vfs *v, uint64_t node, struct buf *out)
{
	struct err err = {.code = ERR_NONE};
	struct buf from = BUF_INIT;
	struct target t;
	int error = target_get(v, node, &t);

	if (error)
		return error;
	if (is_backed(t.thing))
		error = backing_xattr(v, &t, NULL, out);
	else if (given_is_for(t.thing))
		given_list_xattrs(v, &t, out);
	if (!error && error_text(v, &t, &err))
		buf_add(out, ERROR_XATTR, sizeof(ERROR_XATTR));
	if (!error && from_xattr(v, &t, &from) == 0)
		buf_add(out, FROM_XATTR, sizeof(FROM_XATTR));
	buf_release(&from);
	target_put(v, &t);
	return error ? error : out->failed ? ENOMEM : 0;
}

/* ---- changes of attributes ---- */

/* Sets an attribute of the file on disk; removes it if `value` is NULL. */
static int change_backing(struct vfs *v, const struct target *t, const char *name,
			  const struct buf *value, int flags)
{
	char path[DIRFD_PROC_SIZE];
	int fd, error = backing_pin(v, t, &fd);

	if (error)
		return error;
	dirfd_proc_path(fd, NULL, path, sizeof(path));
	if ((value ? setxattr(path, name, value->data, value->size, flags)
		   : removexattr(path, name)) != 0)
		error = errno;
	close(fd);
	return error;
}

/*
 * Looks at the animation again after its ACL may have changed the mode, and so the users that may
 * read it.
 */
static void backing_changed(struct vfs *v, const struct request *who, const struct target *t,
			    const char *name)
{
	bool rights = strcmp(name, ACL_ACCESS) == 0;

	staging_given(v, who, t->node, rights ? 1u << GIVEN_MODE : 0);
	if (rights)
		access_changed(v, t);
}

static int set_given(struct vfs *v, const struct target *t, const char *name, struct bytes value,
		     int flags)
{
	struct given *g;
	int error;

	vfs_lock(v);
	g = given_need(v, t->node);
	error = g ? given_set_xattr(v, g, name, value, flags) : node_link(t->node) ? ENOMEM : 0;
	vfs_unlock(v);
	return error;
}

static int give_mode(struct vfs *v, const struct target *t, mode_t mode)
{
	struct given *g;
	int error;

	vfs_lock(v);
	g = given_need(v, t->node);
	error = g || !node_link(t->node) ? 0 : ENOMEM;
	if (g)
		given_mode(g, mode);
	vfs_unlock(v);
	return error;
}

/*
 * Sets an ACL of a view. An ACL equal to the one shown is not remembered, so that the view keeps
 * following its file: copying programs write back what they read. An ACL that a mode can express is
 * stored as the mode.
 */
static int give_acl(struct vfs *v, const struct target *t, struct buf *acl)
{
	struct buf now = BUF_INIT;
	bool none, same, minimal;
	struct stat st;
	mode_t mode;
	int error = attributes_of(v, t, &st);

	if (error)
		return error;
	mode = st.st_mode;
	minimal = acl_read_mode(acl, &mode);
	error = v->acls ? acl_get(v, t, ACL_ACCESS, &now) : given_xattr(v, t, ACL_ACCESS, &now);
	none = error == ENODATA;
	same = !error && bytes_equal(buf_bytes(&now), buf_bytes(acl));
	buf_release(&now);
	if (error && !none)
		return error;
	if (mode == st.st_mode && (same || (none && minimal)))
		return 0;
	error = none && minimal ? 0 : set_given(v, t, ACL_ACCESS, buf_bytes(acl), 0);
	return error ? error : give_mode(v, t, mode);
}

static int set_xattr(struct vfs *v, const struct request *who, const struct target *t,
		     const char *name, struct buf *value, int flags)
{
	int error;

	if (given_is_for(t->thing))
		return strcmp(name, ACL_ACCESS) == 0
			       ? give_acl(v, t, value)
			       : set_given(v, t, name, buf_bytes(value), flags);
	if (!is_backed(t->thing))
		return EPERM;
	if (t->thing->kind != THING_PLAIN && acl_is_name(name))
		acl_for_file(value);
	error = change_backing(v, t, name, value, flags);
	if (!error)
		backing_changed(v, who, t, name);
	return error;
}

/*
 * Finds the target of a request that changes attributes, and makes the thread a guest in its folder
 * (gate.h).
 */
static int xattr_begin(struct vfs *v, uint64_t node, struct guest *guest, struct target *t)
{
	int error;

	if (v->read_only)
		return EROFS;
	gate_enter(v, node, guest);
	error = target_get(v, node, t);
	if (!error && thing_is_member(t->thing)) {
		error = refuse_in_archive(v, t->node, NULL, NULL);
		target_put(v, t);
	}
	if (error)
		gate_leave(v, guest);
	return error;
}

static void xattr_end(struct vfs *v, struct guest *guest, struct target *t)
{
	gate_leave(v, guest);
	target_put(v, t);
}

int vfs_setxattr(struct vfs *v, const struct request *who, uint64_t node, const char *name,
		 struct bytes value, int flags)
{
	struct buf copy = BUF_INIT;
	struct guest guest;
	struct target t;
	int error = xattr_begin(v, node, &guest, &t);

	if (error)
		return error;
	buf_add(&copy, value.data, value.size);
	if (strcmp(name, ERROR_XATTR) == 0 || strcmp(name, FROM_XATTR) == 0)
		error = EPERM;
	else
		error = copy.failed ? ENOMEM : set_xattr(v, who, &t, name, &copy, flags);
	buf_release(&copy);
	xattr_end(v, &guest, &t);
	return error;
}

static int remove_given(struct vfs *v, const struct target *t, const char *name)
{
	struct given *g;
	int error;

	vfs_lock(v);
	g = given_find(t->node);
	error = g ? given_remove_xattr(v, g, name) : ENODATA;
	vfs_unlock(v);
	return error;
}

int vfs_removexattr(struct vfs *v, const struct request *who, uint64_t node, const char *name)
{
	struct guest guest;
	struct target t;
	int error = xattr_begin(v, node, &guest, &t);

	if (error)
		return error;
	if (given_is_for(t.thing))
		error = remove_given(v, &t, name);
	else
		error = is_backed(t.thing) ? change_backing(v, &t, name, NULL, 0) : ENODATA;
	if (!error && is_backed(t.thing))
		backing_changed(v, who, &t, name);
	xattr_end(v, &guest, &t);
	return error;
}
