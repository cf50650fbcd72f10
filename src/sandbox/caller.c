/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "caller.h"

#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <string.h>

struct caller *caller_new(uid_t uid, gid_t gid, const gid_t *more, size_t count)
{
	struct caller *c = malloc(sizeof(*c) + (count + 1) * sizeof(c->groups[0]));

	if (!c)
		return NULL;
	c->uid = uid;
	c->makes = false;
	c->count = count + 1;
	c->groups[0] = gid;
	if (count)
		memcpy(c->groups + 1, more, count * sizeof(*more));
	return c;
}

struct caller *caller_copy(const struct caller *c)
{
	struct caller *copy = caller_new(c->uid, c->groups[0], c->groups + 1, c->count - 1);

	if (copy)
		copy->makes = c->makes;
	return copy;
}

bool caller_same(const struct caller *a, const struct caller *b)
{
	if (!a || !b)
		return a == b;
	return a->uid == b->uid && a->makes == b->makes && a->count == b->count &&
	       memcmp(a->groups, b->groups, a->count * sizeof(a->groups[0])) == 0;
}

bool caller_in_group(const struct caller *c, gid_t group)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->groups[i] == group)
			return true;
	}
	return false;
}

/* ---- one caller, one file ---- */

struct entry {
	unsigned tag, perm;
	uint32_t id;
};

static size_t entry_count(const struct rights *r)
{
	const size_t head = sizeof(struct posix_acl_xattr_header);

	return r->acl.size < head ? 0 : (r->acl.size - head) / sizeof(struct posix_acl_xattr_entry);
}

static struct entry entry_at(const struct rights *r, size_t i)
{
	struct posix_acl_xattr_entry stored;

	memcpy(&stored, r->acl.data + sizeof(struct posix_acl_xattr_header) + i * sizeof(stored),
	       sizeof(stored));
	return (struct entry){.tag = le16toh(stored.e_tag),
			      .perm = le16toh(stored.e_perm),
			      .id = le32toh(stored.e_id)};
}

static bool mode_lets(const struct caller *c, const struct rights *r, unsigned what)
{
	unsigned perm = caller_in_group(c, r->gid) ? r->mode >> 3 : r->mode;

	return (perm & what) == what;
}

static bool entry_applies(const struct entry *e, const struct caller *c, const struct rights *r)
{
	switch (e->tag) {
	case ACL_USER:
		return e->id == c->uid;
	case ACL_GROUP_OBJ:
		return caller_in_group(c, r->gid);
	case ACL_GROUP:
		return caller_in_group(c, e->id);
	default:
		return false;
	}
}

/*
 * Returns whether the ACL grants the access. Entries are stored in the order in which they are
 * checked. The group bits of the mode are the mask.
 */
static bool acl_lets(const struct caller *c, const struct rights *r, unsigned what)
{
	const unsigned mask = (r->mode >> 3) & 7;
	const size_t count = entry_count(r);
	bool concerned = false;

	for (size_t i = 0; i < count; i++) {
		const struct entry e = entry_at(r, i);
		bool lets = (e.perm & mask & what) == what;

		if (!entry_applies(&e, c, r))
			continue;
		if (lets || e.tag == ACL_USER)
			return lets;
		concerned = true;
	}
	return !concerned && (r->mode & what) == what;
}

bool caller_may(const struct caller *c, const struct rights *r, unsigned what)
{
	if (c->uid == 0)
		return true;
	if (c->uid == r->uid)
		return ((r->mode >> 6) & what) == what;
	return entry_count(r) ? acl_lets(c, r, what) : mode_lets(c, r, what);
}

/* ---- all users, two files ---- */

/* stands for all other users or groups: no real id has this number */
#define NOBODY ((uint32_t)-1)
#define ENTRIES_MAX 16 /* limit of entries in an ACL; longer ones are not compared */

static bool lets_everybody_read(const struct rights *r)
{
	const mode_t all = S_IRUSR | S_IRGRP | S_IROTH;
	const size_t count = entry_count(r);
	bool lets = (r->mode & all) == all;

	for (size_t i = 0; i < count && lets; i++)
		lets = entry_at(r, i).perm & MAY_READ;
	return lets;
}

/*
 * Lists the ids to test: those in entries of this tag, the owning user or group, and NOBODY for all
 * others.
 */
static size_t list_named(const struct rights *r, unsigned tag, uint32_t owner, uint32_t *out)
{
	size_t n = 0, count = entry_count(r);

	out[n++] = NOBODY;
	out[n++] = owner;
	for (size_t i = 0; i < count; i++) {
		const struct entry e = entry_at(r, i);

		if (e.tag == tag)
			out[n++] = e.id;
	}
	return n;
}

/*
 * Returns whether a user who can read `file` can read `other`, too. Users in one or two groups are
 * enough to test. If some user can read `file` through a group but not `other`, the same is true of
 * a user in that group only, or only in it and in the group whose entry denies `other`.
 */
static bool covers_user(const struct rights *other, const struct rights *file, uint32_t uid)
{
	uint32_t by[ENTRIES_MAX + 2], denied[ENTRIES_MAX + 2];
	size_t by_count = list_named(file, ACL_GROUP, file->gid, by);
	size_t denied_count = list_named(other, ACL_GROUP, other->gid, denied);
	struct caller *c = caller_new(uid, NOBODY, (gid_t[]){NOBODY}, 1);
	bool fine = c != NULL;

	for (size_t i = 0; i < by_count && fine; i++) {
		for (size_t j = 0; j < denied_count && fine; j++) {
			c->groups[0] = by[i];
			c->groups[1] = denied[j];
			fine = !caller_may(c, file, MAY_READ) || caller_may(c, other, MAY_READ);
		}
	}
	free(c);
	return fine;
}

bool rights_cover(const struct rights *other, const struct rights *file)
{
	uint32_t users[2 * (ENTRIES_MAX + 2)];
	size_t count;
	bool fine = true;

	if (lets_everybody_read(other))
		return true;
	if (entry_count(other) > ENTRIES_MAX || entry_count(file) > ENTRIES_MAX)
		return false;
	count = list_named(other, ACL_USER, other->uid, users);
	count += list_named(file, ACL_USER, file->uid, users + count);
	for (size_t i = 0; i < count && fine; i++)
		fine = covers_user(other, file, users[i]);
	return fine;
}
