/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * acl.c - who may do what. The kernel decides, by owner, mode and ACL (default_permissions); here
 * is what it is told of ACLs, and what it does not ask since on other filesystems a name that moves
 * takes no text with it.
 *
 * What an animation file is shown as has the file's ACL, with the mode that it is shown with: a
 * folder's x goes with r, and what cannot be written is nobody's to write.
 */
#include "fs.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL_DEFAULT "system.posix_acl_default"
#define READ_WRITE (ACL_READ | ACL_WRITE)

typedef struct posix_acl_xattr_entry acl_entry;

bool acl_is_name(const char *name)
{
	return strcmp(name, ACL_ACCESS) == 0 || strcmp(name, ACL_DEFAULT) == 0;
}

static acl_entry *entries_of(struct buf *acl, size_t *count)
{
	const size_t head = sizeof(struct posix_acl_xattr_header);

	*count = acl->size < head ? 0 : (acl->size - head) / sizeof(acl_entry);
	return (acl_entry *)(void *)(acl->data + head);
}

static unsigned shown_perm(const acl_entry *entry, mode_t mode)
{
	unsigned perm = le16toh(entry->e_perm) & READ_WRITE;

	switch (le16toh(entry->e_tag)) {
	case ACL_USER_OBJ:
		return (mode >> 6) & 7;
	case ACL_MASK:
		return (mode >> 3) & 7;
	case ACL_OTHER:
		return mode & 7;
	default:
		return S_ISDIR(mode) && (perm & ACL_READ) ? perm | ACL_EXECUTE : perm;
	}
}

static void show_as(struct buf *acl, mode_t mode)
{
	size_t count;
	acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++)
		entries[i].e_perm = htole16((uint16_t)shown_perm(&entries[i], mode));
}

/* The entry that the group's bits of a mode are about: the mask, where there is one. */
static unsigned group_tag(struct buf *acl)
{
	size_t count;
	const acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++) {
		if (le16toh(entries[i].e_tag) == ACL_MASK)
			return ACL_MASK;
	}
	return ACL_GROUP_OBJ;
}

/* Where the entry's bits are in a mode, or -1: it says more than a mode can. */
static int mode_shift(const acl_entry *entry, unsigned group)
{
	unsigned tag = le16toh(entry->e_tag);

	return tag == ACL_USER_OBJ ? 6 : tag == group ? 3 : tag == ACL_OTHER ? 0 : -1;
}

bool acl_read_mode(struct buf *acl, mode_t *mode)
{
	unsigned group = group_tag(acl);
	bool whole = true;
	size_t count;
	const acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++) {
		int shift = mode_shift(&entries[i], group);

		if (shift >= 0)
			*mode = (*mode & ~((mode_t)7 << shift)) |
				(mode_t)(le16toh(entries[i].e_perm) & 7) << shift;
		whole = whole && shift >= 0;
	}
	return whole;
}

void acl_write_mode(struct buf *acl, mode_t mode)
{
	unsigned group = group_tag(acl);
	size_t count;
	acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++) {
		int shift = mode_shift(&entries[i], group);

		if (shift >= 0)
			entries[i].e_perm = htole16((uint16_t)(mode >> shift & 7));
	}
}

void acl_for_file(struct buf *acl)
{
	size_t count;
	acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++)
		entries[i].e_perm &= htole16(READ_WRITE);
}

static int read_acl(struct fs *fs, struct node *node, const char *name, struct buf *out)
{
	ssize_t size;

	if (!buf_reserve(out, XATTR_SIZE_MAX))
		return ENOMEM;
	size = xattr_real(fs, node, name, out->data, XATTR_SIZE_MAX);
	if (size < 0)
		return size == -EOPNOTSUPP ? ENODATA : (int)-size;
	out->size = (size_t)size;
	return 0;
}

int acl_get(struct fs *fs, struct node *node, const char *name, struct buf *out)
{
	struct stat st;
	int error;

	if (node->kind == NODE_REAL)
		return read_acl(fs, node, name, out);
	if (xattr_remembered(fs, node, name, out))
		return out->failed ? ENOMEM : 0;
	if (strcmp(name, ACL_ACCESS) != 0 || node->kind == NODE_CONTROL)
		return ENODATA;
	error = read_acl(fs, node, name, out);
	if (!error) {
		error = fs_attributes(fs, node, &st);
		show_as(out, st.st_mode);
	}
	return error;
}

mode_t acl_mode(fuse_req_t req, int folder, mode_t mode)
{
	char path[AT_PROC_SIZE];

	if (!fs_of(req)->acls)
		return mode; /* the kernel did it */
	/* Who may do what with new things in this folder is the folder's to say. */
	if (at_proc_path(folder, NULL, path, sizeof(path)) == 0 &&
	    getxattr(path, ACL_DEFAULT, NULL, 0) > 0)
		return mode;
	return mode & ~fuse_req_ctx(req)->umask;
}

/* ---- who asks ---- */

struct groups {
	gid_t *list;
	size_t count;
};

static bool add_group(struct groups *g, gid_t group)
{
	gid_t *more = realloc(g->list, (g->count + 1) * sizeof(*more));

	if (!more)
		return false;
	g->list = more;
	g->list[g->count++] = group;
	return true;
}

/* A line "Groups:" of /proc/PID/status; others say nothing. */
static bool add_groups(struct groups *g, const char *line)
{
	unsigned group;
	int length;

	if (strncmp(line, "Groups:", 7) != 0)
		return true;
	for (line += 7; sscanf(line, "%u%n", &group, &length) == 1; line += length) {
		if (!add_group(g, group))
			return false;
	}
	return true;
}

/*
 * fuse_req_getgroups reads "/proc", which is not there (enclose.h). None where the process has
 * ended, or is of another PID namespace.
 */
static bool add_groups_of(struct groups *g, pid_t thread)
{
	char path[64], *line = NULL;
	bool fine = true;
	size_t size = 0;
	FILE *status;
	int fd;

	snprintf(path, sizeof(path), "%d/status", (int)thread);
	if (at_proc_open(path, &fd) != 0)
		return true;
	status = fdopen(fd, "r");
	if (!status)
		close(fd);
	while (fine && status && getline(&line, &size, status) >= 0)
		fine = add_groups(g, line);
	free(line);
	if (status)
		fclose(status);
	return fine;
}

int acl_caller(fuse_req_t req, struct caller **out)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct groups groups = {NULL, 0};

	*out = NULL;
	if (add_groups_of(&groups, ctx->pid))
		*out = caller_new(ctx->uid, ctx->gid, groups.list, groups.count);
	free(groups.list);
	return *out ? 0 : ENOMEM;
}

bool acl_in_group(fuse_req_t req, gid_t group)
{
	struct caller *who;
	bool has;

	if (fuse_req_ctx(req)->gid == group)
		return true;
	if (acl_caller(req, &who) != 0)
		return false;
	has = caller_in_group(who, group);
	free(who);
	return has;
}

int acl_check_read(fuse_req_t req, struct node *node)
{
	struct fs *fs = fs_of(req);
	struct buf acl = BUF_INIT;
	struct rights rights;
	struct caller *who;
	struct stat st;
	int error;

	if (fuse_req_ctx(req)->uid == 0)
		return 0;
	error = fs_attributes(fs, node, &st);
	if (!error)
		error = acl_caller(req, &who);
	if (error)
		return error;
	error = fs->acls ? acl_get(fs, node, ACL_ACCESS, &acl) : ENODATA;
	rights = (struct rights){st.st_uid, st.st_gid, st.st_mode, buf_bytes(&acl)};
	if (!error || error == ENODATA)
		error = caller_may(who, &rights, MAY_READ) ? 0 : EACCES;
	free(who);
	buf_release(&acl);
	return error;
}
