/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xattr.c - extended attributes: the source's own, those remembered for views, and the error's. */
#include "fs.h"
#include "memo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ERROR_XATTR "user.animfs.error"

/*
 * A path for the xattr calls, which have no *at form: the folder's descriptor and one name, used
 * with the l-calls, so that a symbolic link is itself. Removed but open: the descriptor alone.
 */
struct real_path {
	struct folder folder;
	int fd;
	char path[AT_PROC_SIZE];
};

static int real_path_open(struct fs *fs, struct node *node, struct real_path *p)
{
	struct file *file = node->kind == NODE_REAL ? NULL : fs_file_of(fs, node);
	char name[NAME_MAX + 1];
	struct stat st;
	int error;

	*p = (struct real_path){.folder = FOLDER_NONE, .fd = -1};
	if (node->id == NODE_ROOT) {
		at_proc_path(fs->root, ".", p->path, sizeof(p->path));
		return 0;
	}
	if (file) {
		error = fs_source_folder(fs, file, &p->folder);
		snprintf(name, sizeof(name), "%s", file->name);
		fs_file_put(fs, file);
	} else {
		error = fs_where(fs, node, &p->folder, name, &st);
	}
	if (!error) {
		at_proc_path(p->folder.fd, name, p->path, sizeof(p->path));
		return 0;
	}
	p->fd = handle_borrow(fs, node);
	if (p->fd < 0)
		return error;
	at_proc_path(p->fd, NULL, p->path, sizeof(p->path));
	return 0;
}

static void real_path_close(struct fs *fs, struct real_path *p)
{
	folder_close(&fs->folders, &p->folder);
	if (p->fd >= 0)
		close(p->fd);
}

/* /proc/self/fd/N is itself a link to follow; a name below it is not. */
static ssize_t get_at(const struct real_path *p, const char *name, void *value, size_t size)
{
	return p->fd >= 0 ? getxattr(p->path, name, value, size)
			  : lgetxattr(p->path, name, value, size);
}

static ssize_t list_at(const struct real_path *p, char *list, size_t size)
{
	return p->fd >= 0 ? listxattr(p->path, list, size) : llistxattr(p->path, list, size);
}

/* Has the binary's own attributes: what is real, a file's folder, and raw.*. */
static bool is_binary(const struct node *node)
{
	return node->kind == NODE_REAL || node->kind == NODE_FILE ||
	       (node->kind == NODE_VIEW && node_view(node)->whole);
}

/* Why a file that by its name should be an animation is shown as itself; false when it is not so.
 */
static bool error_text(struct fs *fs, struct node *node, struct err *err)
{
	char name[NAME_MAX + 1];
	const struct codec *codec;
	struct folder folder;
	struct source *source;
	struct snap *snap = NULL;
	struct stat st;
	bool probe;

	if (node->kind != NODE_REAL || node->folder || node->area != AREA_SOURCE ||
	    fs_where(fs, node, &folder, name, &st) != 0)
		return false;
	if (store_claims(fs->store, name, &codec, &probe) && !probe) {
		source = source_new(fs->store, "", name);
		snap = source ? source_get(source, folder.fd, err) : NULL;
		if (snap)
			snap_put(snap);
		if (source)
			source_free(source);
	}
	folder_close(&fs->folders, &folder);
	return !snap && err->code == ERR_FORMAT;
}

static void reply_value(fuse_req_t req, const void *value, size_t have, size_t size)
{
	if (size == 0)
		fuse_reply_xattr(req, have);
	else if (have > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, value, have);
}

static struct memo_xattr **find_memo(struct memo *memo, const char *name)
{
	struct memo_xattr **at = &memo->xattrs;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/*
 * Of what was not given to a virtual thing. That there are no labels and ACLs at all is told as it
 * is, for programs (ls -l) then do not ask about every other file.
 */
static int absent(const char *name)
{
	return strncmp(name, "user.", 5) == 0 || strncmp(name, "trusted.", 8) == 0 ? ENODATA
										   : EOPNOTSUPP;
}

void memo_mode(struct memo *memo, mode_t mode)
{
	struct memo_xattr *x = *find_memo(memo, ACL_ACCESS);
	struct buf acl = BUF_INIT;

	memo->has_mode = true;
	memo->mode = mode;
	if (!x)
		return;
	buf_add(&acl, x->value, x->size);
	acl_write_mode(&acl, mode);
	if (!acl.failed)
		memcpy(x->value, acl.data, x->size);
	buf_release(&acl);
}

static void get_remembered(fuse_req_t req, struct fs *fs, struct node *node, const char *name,
			   size_t size)
{
	struct file *file = fs_lock_file(fs, node);
	struct memo_xattr *x;

	if (!file) {
		fuse_reply_err(req, ESTALE);
		return;
	}
	x = node_memo(node) ? *find_memo(node_memo(node), name) : NULL;
	if (x)
		reply_value(req, x->value, x->size, size);
	else
		fuse_reply_err(req, absent(name));
	fs_unlock_file(fs, file);
}

ssize_t xattr_real(struct fs *fs, struct node *node, const char *name, void *value, size_t size)
{
	/* The kernel asks for one before each write: an open file need not be found again. */
	int open = node->kind == NODE_REAL ? handle_borrow(fs, node) : -1;
	struct real_path p;
	ssize_t have;
	int error = open < 0 ? real_path_open(fs, node, &p) : 0;

	if (error)
		return -error;
	have = open >= 0 ? fgetxattr(open, name, value, size) : get_at(&p, name, value, size);
	if (have < 0)
		have = -errno;
	if (open >= 0)
		close(open);
	else
		real_path_close(fs, &p);
	return have;
}

static void get_real(fuse_req_t req, struct fs *fs, struct node *node, const char *name,
		     size_t size)
{
	void *value = size ? malloc(size) : NULL;
	ssize_t have = size && !value ? -ENOMEM : xattr_real(fs, node, name, value, size);

	if (have < 0)
		fuse_reply_err(req, (int)-have);
	else if (size)
		fuse_reply_buf(req, value, (size_t)have);
	else
		fuse_reply_xattr(req, (size_t)have);
	free(value);
}

bool xattr_remembered(struct fs *fs, struct node *node, const char *name, struct buf *out)
{
	struct file *file = memo_is_for(node) ? fs_lock_file(fs, node) : NULL;
	const struct memo_xattr *x = NULL;

	if (!file)
		return false;
	if (node_memo(node))
		x = *find_memo(node_memo(node), name);
	if (x)
		buf_add(out, x->value, x->size);
	fs_unlock_file(fs, file);
	return x;
}

static void get_acl(fuse_req_t req, struct fs *fs, struct node *node, const char *name, size_t size)
{
	struct buf acl = BUF_INIT;
	int error = acl_get(fs, node, name, &acl);

	if (error)
		fuse_reply_err(req, error);
	else
		reply_value(req, acl.data, acl.size, size);
	buf_release(&acl);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct err err = {.code = ERR_NONE};
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);

	if (strcmp(name, ERROR_XATTR) == 0 && error_text(fs, node, &err))
		reply_value(req, err.message, strlen(err.message), size);
	else if (fs->acls && acl_is_name(name))
		get_acl(req, fs, node, name, size);
	else if (is_binary(node))
		get_real(req, fs, node, name, size);
	else if (memo_is_for(node))
		get_remembered(req, fs, node, name, size);
	else
		fuse_reply_err(req, absent(name));
}

static void list_remembered(struct fs *fs, struct node *node, struct buf *out)
{
	struct file *file = fs_lock_file(fs, node);

	if (!file)
		return;
	for (struct memo_xattr *x = node_memo(node) ? node_memo(node)->xattrs : NULL; x;
	     x = x->next)
		buf_add(out, x->name, strlen(x->name) + 1);
	fs_unlock_file(fs, file);
}

static int list_real(struct fs *fs, struct node *node, struct buf *out)
{
	struct err err = {.code = ERR_NONE};
	struct real_path p;
	ssize_t have;
	int error = real_path_open(fs, node, &p);

	if (error)
		return error;
	have = list_at(&p, NULL, 0);
	if (have > 0 && buf_reserve(out, (size_t)have))
		have = list_at(&p, (char *)out->data, (size_t)have);
	error = have < 0 ? errno : out->failed ? ENOMEM : 0;
	real_path_close(fs, &p);
	if (error)
		return error;
	out->size = (size_t)have;
	if (error_text(fs, node, &err))
		buf_add(out, ERROR_XATTR, sizeof(ERROR_XATTR));
	return 0;
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	struct buf list = BUF_INIT;
	int error = 0;

	if (is_binary(node))
		error = list_real(fs, node, &list);
	else if (memo_is_for(node))
		list_remembered(fs, node, &list);
	if (error || list.failed)
		fuse_reply_err(req, error ? error : ENOMEM);
	else
		reply_value(req, list.data, list.size, size);
	buf_release(&list);
}

static int remember(struct fs *fs, struct node *node, const char *name, const void *value,
		    size_t size, int flags)
{
	struct memo *memo = memo_of(fs, node);
	struct memo_xattr **at, *x;

	if (!memo)
		return ENOMEM;
	at = find_memo(memo, name);
	if (*at && (flags & XATTR_CREATE))
		return EEXIST;
	if (!*at && (flags & XATTR_REPLACE))
		return ENODATA;
	x = malloc(sizeof(*x) + strlen(name) + 1);
	if (!x)
		return ENOMEM;
	strcpy(x->name, name);
	x->size = size;
	x->value = malloc(size ? size : 1);
	if (!x->value) {
		free(x);
		return ENOMEM;
	}
	memcpy(x->value, value, size);
	x->next = *at ? (*at)->next : NULL;
	if (*at) {
		free((*at)->value);
		free(*at);
	}
	*at = x;
	return 0;
}

/* Wants the file's lock. */
static int forget_remembered(struct node *node, const char *name)
{
	struct memo_xattr **at, *x;

	if (!node_memo(node))
		return ENODATA;
	at = find_memo(node_memo(node), name);
	x = *at;
	if (!x)
		return ENODATA;
	*at = x->next;
	free(x->value);
	free(x);
	return 0;
}

/*
 * Programs that copy write back what they read: nothing is remembered of an ACL that is shown
 * already, so that the view goes on to follow its file. One that says no more than a mode is one.
 */
static int give_acl(struct fs *fs, struct node *node, struct buf *acl)
{
	struct buf now = BUF_INIT;
	bool none, same, minimal;
	struct memo *memo = NULL;
	struct file *file;
	struct stat st;
	mode_t mode;
	int error = fs_attributes(fs, node, &st);

	if (error)
		return error;
	mode = st.st_mode;
	minimal = acl_read_mode(acl, &mode);
	if (fs->acls)
		error = acl_get(fs, node, ACL_ACCESS, &now);
	else
		error = xattr_remembered(fs, node, ACL_ACCESS, &now) ? 0 : ENODATA;
	none = error == ENODATA;
	same = !error && bytes_equal(buf_bytes(&now), buf_bytes(acl));
	buf_release(&now);
	if (error && !none)
		return error;
	if (mode == st.st_mode && (same || (none && minimal)))
		return 0;
	file = fs_lock_file(fs, node);
	if (!file)
		return ESTALE;
	error = none && minimal ? 0 : remember(fs, node, ACL_ACCESS, acl->data, acl->size, 0);
	if (!error)
		memo = memo_of(fs, node);
	if (memo)
		memo_mode(memo, mode);
	fs_unlock_file(fs, file);
	return error || memo ? error : ENOMEM;
}

static int set_remembered(struct fs *fs, struct node *node, const char *name, const char *value,
			  size_t size, int flags)
{
	struct buf acl = BUF_INIT;
	struct file *file;
	int error;

	if (strcmp(name, ACL_ACCESS) == 0) {
		buf_add(&acl, value, size);
		error = acl.failed ? ENOMEM : give_acl(fs, node, &acl);
		buf_release(&acl);
		return error;
	}
	file = fs_lock_file(fs, node);
	if (!file)
		return ESTALE;
	error = remember(fs, node, name, value, size, flags);
	fs_unlock_file(fs, file);
	return error;
}

static int set_at(const struct real_path *p, const char *name, const struct buf *value, int flags)
{
	int result = p->fd >= 0 ? setxattr(p->path, name, value->data, value->size, flags)
				: lsetxattr(p->path, name, value->data, value->size, flags);

	return result == 0 ? 0 : errno;
}

static int set_real(struct fs *fs, struct node *node, const char *name, const char *value,
		    size_t size, int flags)
{
	struct buf copy = BUF_INIT;
	struct real_path p;
	int error = real_path_open(fs, node, &p);

	if (error)
		return error;
	buf_add(&copy, value, size);
	if (node->kind != NODE_REAL && acl_is_name(name))
		acl_for_file(&copy);
	error = copy.failed ? ENOMEM : set_at(&p, name, &copy, flags);
	real_path_close(fs, &p);
	buf_release(&copy);
	return error;
}

/* Who may do what is said by mode and ACL together. */
static void xattr_changed(fuse_req_t req, const struct node *node, const char *name)
{
	filling_given(req, node, strcmp(name, ACL_ACCESS) == 0 ? 1u << GIVEN_MODE : 0);
}

void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
		 int flags)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	int error;

	if (fs->read_only || strcmp(name, ERROR_XATTR) == 0) {
		error = fs->read_only ? EROFS : EPERM;
	} else if (is_binary(node)) {
		error = set_real(fs, node, name, value, size, flags);
		if (!error)
			xattr_changed(req, node, name);
	} else if (memo_is_for(node)) {
		struct node *owner = memo_owner(fs, node);

		error = set_remembered(fs, owner, name, value, size, flags);
		fs_reference(fs, owner, -1);
	} else {
		error = EPERM;
	}
	fuse_reply_err(req, error);
}

void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	struct real_path p;
	struct file *file;
	int error;

	if (fs->read_only) {
		error = EROFS;
	} else if (is_binary(node)) {
		error = real_path_open(fs, node, &p);
		if (!error) {
			int result =
				p.fd >= 0 ? removexattr(p.path, name) : lremovexattr(p.path, name);
			error = result == 0 ? 0 : errno;
			real_path_close(fs, &p);
			if (!error)
				xattr_changed(req, node, name);
		}
	} else if (memo_is_for(node)) {
		file = fs_lock_file(fs, node);
		error = file ? forget_remembered(node, name) : ESTALE;
		if (file)
			fs_unlock_file(fs, file);
	} else {
		error = ENODATA;
	}
	fuse_reply_err(req, error);
}
