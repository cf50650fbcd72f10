/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "staging_given.h"
#include "access.h"
#include "given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Only the latest are remembered. */
#define GIFTS_MAX 320
#define FILE_MODE 0666 /* a folder's mode without x */

struct gift {
	struct identity to; /* {0}: the folder */
	enum staging_given what;
	pid_t by;
};

static const struct identity folder_itself;

static void remove_gift(struct gifts *g, size_t at)
{
	memmove(g->list + at, g->list + at + 1, (--g->count - at) * sizeof(*g->list));
}

/*
 * Removes older entries for the same attribute. If the file was just made, removes all its entries:
 * they are of an earlier file that had its inode number.
 */
static void remove_older(struct gifts *g, const struct identity *to, enum staging_given what)
{
	for (size_t i = g->count; i-- > 0;) {
		if (identity_same(&g->list[i].to, to) &&
		    (what == GIVEN_MADE || g->list[i].what == what))
			remove_gift(g, i);
	}
}

static void staging_given_make_room(struct gifts *g)
{
	size_t oldest = 0;

	while (identity_same(&g->list[oldest].to, &folder_itself))
		oldest++;
	remove_gift(g, oldest);
}

/* Out of memory the attribute counts as unknown, as after a kill. */
void gifts_add(struct gifts *g, const struct identity *to, unsigned what, pid_t by)
{
	if (!g->list)
		g->list = calloc(GIFTS_MAX, sizeof(*g->list));
	for (unsigned i = 0; g->list && i < GIVEN_COUNT; i++) {
		const struct gift gift = {to ? *to : folder_itself, (enum staging_given)i, by};

		if (!(what & 1u << i))
			continue;
		remove_older(g, &gift.to, gift.what);
		if (g->count == GIFTS_MAX)
			staging_given_make_room(g);
		g->list[g->count++] = gift;
	}
}

void gifts_release(struct gifts *g)
{
	free(g->list);
	*g = (struct gifts){NULL, 0};
}

/* NULL: not set, or no such file. */
static const struct gift *find_gift(const struct gifts *g, const struct identity *to,
				    enum staging_given what)
{
	for (size_t i = 0; to && i < g->count; i++) {
		if (g->list[i].what == what && identity_same(&g->list[i].to, to))
			return &g->list[i];
	}
	return NULL;
}

static enum say decide(const struct gifts *g, const struct identity *raw, enum staging_given what)
{
	const struct gift *folder = find_gift(g, &folder_itself, what);
	const struct gift *file = find_gift(g, raw, what);

	/*
	 * The mode that raw.* was created with counts as well, but not against an earlier chmod by
	 * another process.
	 */
	if (what == GIVEN_MODE && folder && !file) {
		file = find_gift(g, raw, GIVEN_MADE);
		if (file && file->by != folder->by && file > folder)
			return SAY_NOBODY;
	}
	if (!folder || !file)
		return file ? SAY_RAW : folder ? SAY_FOLDER : SAY_NOBODY;
	return file->by != folder->by && folder > file ? SAY_FOLDER : SAY_RAW;
}

void gifts_say(const struct gifts *g, const struct identity *raw, enum say out[GIVEN_COUNT])
{
	for (unsigned i = 0; i < GIVEN_COUNT; i++)
		out[i] = decide(g, raw, (enum staging_given)i);
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
