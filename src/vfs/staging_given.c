/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "staging_given.h"
#include "access.h"
#include "given.h"

#include <stdlib.h>
#include <string.h>

/* So many files are remembered, the latest: raw.* is among the first few of any folder. */
#define FILES_MAX 64

static struct gift *find_gift(const struct gifts *g, const struct identity *to)
{
	for (size_t i = 0; i < g->count; i++) {
		if (identity_same(&g->files[i].to, to))
			return &g->files[i];
	}
	return NULL;
}

/* Where there is no memory nothing is known of it: as after a kill. */
static struct gift *need_gift(struct gifts *g, const struct identity *to)
{
	struct gift *gift = find_gift(g, to);

	if (gift)
		return gift;
	if (!g->files)
		g->files = calloc(FILES_MAX, sizeof(*g->files));
	if (!g->files)
		return NULL;
	if (g->count == FILES_MAX)
		memmove(g->files, g->files + 1, --g->count * sizeof(*g->files));
	gift = &g->files[g->count++];
	*gift = (struct gift){.to = *to};
	return gift;
}

void gifts_add(struct gifts *g, const struct identity *to, unsigned what, pid_t by)
{
	struct gift *gift = to ? need_gift(g, to) : &g->own;

	g->turns++;
	/* Its inode number may have been another's. */
	if (gift && (what & 1u << GIVEN_MADE))
		memset(gift->given, 0, sizeof(gift->given));
	for (unsigned i = 0; gift && i < GIVEN_COUNT; i++) {
		if (!(what & 1u << i))
			continue;
		gift->given[i].turn = g->turns;
		gift->given[i].by = by;
	}
}

void gifts_release(struct gifts *g)
{
	free(g->files);
	*g = (struct gifts){.files = NULL};
}

static enum say decide(const struct gift *folder, const struct gift *raw, enum staging_given what)
{
	bool of_folder = folder->given[what].turn, of_raw = raw && raw->given[what].turn;
	enum staging_given of = what;

	/* The mode that raw.* was made with counts, but not against another's chmod before it. */
	if (what == GIVEN_MODE && of_folder && !of_raw && raw) {
		of = GIVEN_MADE;
		of_raw = raw->given[of].turn;
		if (of_raw && folder->given[what].by != raw->given[of].by &&
		    folder->given[what].turn < raw->given[of].turn)
			return SAY_NOBODY;
	}
	if (!of_folder || !of_raw)
		return of_raw ? SAY_RAW : of_folder ? SAY_FOLDER : SAY_NOBODY;
	return folder->given[what].by != raw->given[of].by &&
			       folder->given[what].turn > raw->given[of].turn
		       ? SAY_FOLDER
		       : SAY_RAW;
}

enum say gifts_say(const struct gifts *g, const struct identity *raw, enum staging_given what)
{
	return decide(&g->own, raw ? find_gift(g, raw) : NULL, what);
}

/* ---- a clip's folder ---- */

/* What cannot be remembered is no reason to fail. */
static void carry_xattrs(struct given *given, const struct attributes *as) REQUIRES(vfs_class)
{
	size_t at = 0;

	while (at < as->xattrs.size) {
		const char *name = (const char *)as->xattrs.data + at;
		uint32_t size;

		at += strlen(name) + 1;
		memcpy(&size, as->xattrs.data + at, sizeof(size));
		at += sizeof(size);
		(void)given_set_xattr(given, name, (struct bytes){as->xattrs.data + at, size}, 0);
		at += size;
	}
}

void gifts_carry_over(struct vfs *v, const struct gifts *g, const struct attributes *as,
		      struct node *clip)
{
	bool rights = gifts_say(g, NULL, GIVEN_MODE) == SAY_FOLDER;
	bool owner = gifts_say(g, NULL, GIVEN_OWNER) == SAY_FOLDER;
	bool group = gifts_say(g, NULL, GIVEN_GROUP) == SAY_FOLDER;
	struct given *given = NULL;

	if (rights || owner || group || as->xattrs.size)
		given = given_need(v, clip);
	if (!given)
		return;
	carry_xattrs(given, as);
	if (rights && as->acl.size)
		(void)given_set_xattr(given, ACL_ACCESS, buf_bytes(&as->acl), 0);
	if (rights)
		given_mode(given, as->mode);
	given->has_uid |= owner;
	given->has_gid |= group;
	given->uid = as->uid;
	given->gid = as->gid;
}
