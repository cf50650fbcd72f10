/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "acl.h"

#include "disk/dirfd.h"

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
	return *count ? (acl_entry *)(void *)(acl->data + head) : NULL;
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

void acl_for_shown(struct buf *acl, mode_t mode)
{
	size_t count;
	acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++)
		entries[i].e_perm = htole16((uint16_t)shown_perm(&entries[i], mode));
}

void acl_for_file(struct buf *acl)
{
	size_t count;
	acl_entry *entries = entries_of(acl, &count);

	for (size_t i = 0; i < count; i++)
		entries[i].e_perm &= htole16(READ_WRITE);
}

/*
 * Returns the tag of the ACL entry that the group bits of a mode stand for: the mask if there is
 * one, else the owning group.
 */
static unsigned group_tag(const acl_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (le16toh(entries[i].e_tag) == ACL_MASK)
			return ACL_MASK;
	}
	return ACL_GROUP_OBJ;
}

/*
 * Returns how far the bits of the ACL entry are shifted in a mode; -1 if a mode cannot express the
 * entry.
 */
static int mode_shift(const acl_entry *entry, unsigned group)
{
	unsigned tag = le16toh(entry->e_tag);

	return tag == ACL_USER_OBJ ? 6 : tag == group ? 3 : tag == ACL_OTHER ? 0 : -1;
}

bool acl_read_mode(struct buf *acl, mode_t *mode)
{
	bool whole = true;
	size_t count;
	const acl_entry *entries = entries_of(acl, &count);
	unsigned group = group_tag(entries, count);

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
	size_t count;
	acl_entry *entries = entries_of(acl, &count);
	unsigned group = group_tag(entries, count);

	for (size_t i = 0; i < count; i++) {
		int shift = mode_shift(&entries[i], group);

		if (shift >= 0)
			entries[i].e_perm = htole16((uint16_t)(mode >> shift & 7));
	}
}

mode_t acl_mode(const struct vfs *v, const struct request *who, int folder, mode_t mode)
{
	char path[DIRFD_PROC_SIZE];

	if (!v->acls)
		return mode; /* without ACLs the kernel has applied the umask already */
	/* If the folder has a default ACL, that replaces the umask. */
	if (dirfd_proc_path(folder, NULL, path, sizeof(path)) == 0 &&
	    getxattr(path, ACL_DEFAULT, NULL, 0) > 0)
		return mode;
	return mode & ~who->umask;
}

/* ---- credentials of callers ---- */

/* facts about a thread, from /proc/TID/status */
struct status {
	pid_t process;
	gid_t *groups;
	size_t count, room;
	bool failed;
};

static void add_groups(struct status *s, const char *list)
{
	unsigned group;
	int length;

	for (; sscanf(list, "%u%n", &group, &length) == 1; list += length) {
		gid_t *groups = array_room(s->groups, s->count, &s->room, sizeof(*groups));

		s->failed = !groups;
		if (!groups)
			return;
		s->groups = groups;
		groups[s->count++] = group;
	}
}

/*
 * Reads the facts of a thread into *s. If the thread has ended, or is in another PID namespace, *s
 * has no groups, and the thread counts as its own process. fuse_req_getgroups cannot be used: it
 * opens "/proc", which is not accessible (sandbox/enclose.h).
 */
static void acl_read_status(pid_t thread, struct status *s)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *status;
	int fd;

	*s = (struct status){.process = thread};
	snprintf(path, sizeof(path), "%d/status", (int)thread);
	if (dirfd_proc_open(path, &fd) != 0)
		return;
	status = fdopen(fd, "r");
	if (!status)
		close(fd);
	while (status && getline(&line, &size, status) >= 0) {
		(void)sscanf(line, "Tgid: %d", &s->process);
		if (strncmp(line, "Groups:", 7) == 0)
			add_groups(s, line + 7);
	}
	free(line);
	if (status)
		fclose(status);
}

int acl_caller(const struct request *who, struct caller **out)
{
	struct status s;

	acl_read_status(who->pid, &s);
	*out = s.failed ? NULL : caller_new(who->uid, who->gid, s.groups, s.count);
	free(s.groups);
	return *out ? 0 : ENOMEM;
}

bool acl_in_group(const struct request *who, gid_t group)
{
	struct caller *caller;
	bool has;

	if (who->gid == group)
		return true;
	if (acl_caller(who, &caller) != 0)
		return false;
	has = caller_in_group(caller, group);
	free(caller);
	return has;
}

pid_t process_of(pid_t thread)
{
	struct status s;

	acl_read_status(thread, &s);
	free(s.groups);
	return s.process;
}
