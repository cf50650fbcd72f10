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

struct asking {
	uid_t uid;
	gid_t *groups;
	int count;
};

static bool add_group(struct asking *who, gid_t group)
{
	gid_t *more = realloc(who->groups, ((size_t)who->count + 1) * sizeof(*more));

	if (!more)
		return false;
	who->groups = more;
	who->groups[who->count++] = group;
	return true;
}

/* A line "Groups:" of /proc/PID/status; others say nothing. */
static bool add_groups(struct asking *who, const char *line)
{
	unsigned group;
	int length;

	if (strncmp(line, "Groups:", 7) != 0)
		return true;
	for (line += 7; sscanf(line, "%u%n", &group, &length) == 1; line += length) {
		if (!add_group(who, group))
			return false;
	}
	return true;
}

/* None where the process has ended, or is of another PID namespace. */
static bool add_groups_of(struct asking *who, pid_t thread)
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
		fine = add_groups(who, line);
	free(line);
	if (status)
		fclose(status);
	return fine;
}

/* fuse_req_getgroups reads "/proc", which is not there (enclose.h). */
static int find_groups(fuse_req_t req, struct asking *who)
{
	const struct fuse_ctx *asked = fuse_req_ctx(req);

	*who = (struct asking){.uid = asked->uid};
	if (add_group(who, asked->gid) && add_groups_of(who, asked->pid))
		return 0;
	free(who->groups);
	return ENOMEM;
}

static bool has_group(const struct asking *who, gid_t group)
{
	for (int i = 0; i < who->count; i++) {
		if (who->groups[i] == group)
			return true;
	}
	return false;
}

bool acl_in_group(fuse_req_t req, gid_t group)
{
	struct asking who;
	bool has;

	if (fuse_req_ctx(req)->gid == group)
		return true;
	if (find_groups(req, &who) != 0)
		return false;
	has = has_group(&who, group);
	free(who.groups);
	return has;
}

static bool mode_lets_read(const struct asking *who, const struct stat *st)
{
	if (who->uid == st->st_uid)
		return st->st_mode & S_IRUSR;
	return st->st_mode & (has_group(who, st->st_gid) ? S_IRGRP : S_IROTH);
}

/* Is the entry about who asks? `group`: is it one of several that may let him? */
static bool concerns(const acl_entry *entry, const struct asking *who, const struct stat *st,
		     bool *group)
{
	unsigned tag = le16toh(entry->e_tag);

	*group = tag == ACL_GROUP_OBJ || tag == ACL_GROUP;
	switch (tag) {
	case ACL_USER:
		return le32toh(entry->e_id) == who->uid;
	case ACL_GROUP_OBJ:
		return has_group(who, st->st_gid);
	case ACL_GROUP:
		return has_group(who, le32toh(entry->e_id));
	default:
		return false;
	}
}

/* The entries are in the order in which they count; a mode's group bits are the mask. */
static bool acl_lets_read(struct buf *acl, const struct asking *who, const struct stat *st)
{
	bool masked = st->st_mode & S_IRGRP, concerned = false, group;
	size_t count;
	const acl_entry *entries = entries_of(acl, &count);

	if (who->uid == st->st_uid)
		return st->st_mode & S_IRUSR;
	for (size_t i = 0; i < count; i++) {
		bool reads = masked && (le16toh(entries[i].e_perm) & ACL_READ);

		if (!concerns(&entries[i], who, st, &group))
			continue;
		if (reads || !group)
			return reads;
		concerned = true;
	}
	return !concerned && (st->st_mode & S_IROTH);
}

int acl_check_read(fuse_req_t req, struct node *node)
{
	struct fs *fs = fs_of(req);
	struct buf acl = BUF_INIT;
	struct asking who;
	struct stat st;
	bool lets = false;
	int error;

	if (fuse_req_ctx(req)->uid == 0)
		return 0;
	error = fs_attributes(fs, node, &st);
	if (!error)
		error = find_groups(req, &who);
	if (error)
		return error;
	error = fs->acls ? acl_get(fs, node, ACL_ACCESS, &acl) : ENODATA;
	if (error == ENODATA)
		lets = mode_lets_read(&who, &st);
	else if (!error)
		lets = acl_lets_read(&acl, &who, &st);
	free(who.groups);
	buf_release(&acl);
	return lets ? 0 : error && error != ENODATA ? error : EACCES;
}
