/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "staging_given.h"
#include "access.h"
#include "given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GIFTS_MAX 320  /* files in a folder whose attributes are remembered */
#define FILE_MODE 0666 /* a folder's mode without x */

/* A file's gift, or with `add` a new one if it has none. NULL: none, or no room. */
static struct gift *gift_of(struct gifts *g, const struct identity *file, bool add)
{
	struct gift *list;
	size_t i = 0;

	while (i < g->count && !identity_same(&g->list[i].file, file))
		i++;
	if (i < g->count)
		return &g->list[i];
	list = add && i < GIFTS_MAX ? array_room(g->list, i, &g->room, sizeof(*list)) : NULL;
	if (!list)
		return NULL;
	g->list = list;
	list[g->count++] = (struct gift){.file = *file};
	return &list[i];
}

void gifts_add(struct gifts *g, const struct identity *file, unsigned what, pid_t by)
{
	struct gift *gift = file ? gift_of(g, file, what) : &g->folder;

	/* The attributes noted so far are those of an earlier file with this inode number. */
	if (gift && what & 1u << GIVEN_MADE)
		*gift = (struct gift){.file = gift->file};
	for (unsigned i = 0; gift && i < GIVEN_COUNT; i++) {
		if (what & 1u << i)
			gift->given[i] = (struct given_by){++g->order, by};
	}
}

void gifts_release(struct gifts *g)
{
	free(g->list);
}

/*
 * The later one, except that a program which sets both means raw.*. The mode that raw.* was created
 * with counts as well, but not against an earlier chmod by another process.
 */
static enum say decide(const struct gift *folder, const struct gift *raw, enum staging_given what)
{
	const struct given_by by = folder->given[what];
	struct given_by by_raw = raw->given[what];

	if (what == GIVEN_MODE && by.order && !by_raw.order) {
		by_raw = raw->given[GIVEN_MADE];
		if (by_raw.by != by.by && by_raw.order > by.order)
			return SAY_NOBODY;
	}
	if (!by.order || !by_raw.order)
		return by_raw.order ? SAY_RAW : by.order ? SAY_FOLDER : SAY_NOBODY;
	return by_raw.by != by.by && by.order > by_raw.order ? SAY_FOLDER : SAY_RAW;
}

void gifts_say(struct gifts *g, const struct identity *raw, enum say out[GIVEN_COUNT])
{
	static const struct gift nothing;
	const struct gift *file = raw ? gift_of(g, raw, false) : NULL;

	for (unsigned i = 0; i < GIVEN_COUNT; i++)
		out[i] = decide(&g->folder, file ? file : &nothing, (enum staging_given)i);
}

/* ---- a clip's folder ---- */

/* Failing to remember an attribute is not an error. */
void gifts_carry_over(struct vfs *v, const enum say says[GIVEN_COUNT], const struct attributes *as,
		      struct node *clip)
{
	bool rights = says[GIVEN_MODE] == SAY_FOLDER;
	bool owner = says[GIVEN_OWNER] == SAY_FOLDER, group = says[GIVEN_GROUP] == SAY_FOLDER;
	struct given *given = NULL;
	struct bytes value;
	const char *name;
	size_t at = 0;

	if (rights || owner || group || as->xattrs.size)
		given = given_need(v, clip);
	if (!given)
		return;
	while (attributes_next(as, &at, &name, &value))
		(void)given_set_xattr(v, given, name, value, 0);
	if (rights && as->acl.size)
		(void)given_set_xattr(v, given, ACL_ACCESS, buf_bytes(&as->acl), 0);
	if (rights)
		given_mode(given, as->mode);
	given->has_uid |= owner;
	given->has_gid |= group;
	given->uid = as->uid;
	given->gid = as->gid;
}

/* ---- a file ---- */

/* The folder's mode bits, with r and w for each class that has x: raw.* is restricted to those. */
static mode_t let_in(mode_t folder)
{
	return (folder & 0777) | (folder & 0111) << 1 | (folder & 0111) << 2;
}

/* Combines the attributes of both as decided; of extended ones, those of raw.* win. */
static void staging_given_choose_attributes(const enum say says[GIVEN_COUNT],
					    const struct attributes *raw, struct attributes *as)
{
	enum say mode = says[GIVEN_MODE];

	if (says[GIVEN_OWNER] == SAY_RAW)
		as->uid = raw->uid;
	if (says[GIVEN_GROUP] == SAY_RAW)
		as->gid = raw->gid;
	if (says[GIVEN_TIME] != SAY_FOLDER)
		as->mtime = raw->mtime;
	as->has_mtime = true;
	if (mode == SAY_RAW || (mode == SAY_NOBODY && raw->acl.size)) {
		buf_clear(&as->acl);
		buf_add(&as->acl, raw->acl.data, raw->acl.size);
	}
	as->mode = mode == SAY_FOLDER ? as->mode & FILE_MODE
		   : mode == SAY_RAW  ? raw->mode
				      : let_in(as->mode) & raw->mode;
	buf_add(&as->xattrs, raw->xattrs.data, raw->xattrs.size);
}

int gifts_for_file(const enum say says[GIVEN_COUNT], bool own_mode, int raw, struct attributes *as)
{
	struct attributes of_raw = ATTRIBUTES_INIT;
	int error = attributes_read(raw, &of_raw);

	if (own_mode)
		acl_for_file(&as->acl);
	if (!error)
		staging_given_choose_attributes(says, &of_raw, as);
	attributes_release(&of_raw);
	return error ? error : as->acl.failed || as->xattrs.failed ? ENOMEM : 0;
}
