/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "archive.h"

#include "disk/dirfd.h"
#include "store/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the object ---- */

UNSHARED struct shown_archive *shown_archive_new(struct vfs *v)
{
	struct shown_archive *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->references = 1;
	s->source = archive_source_new(v->store);
	if (s->source)
		return s;
	free(s);
	return NULL;
}

void shown_archive_get(struct shown_archive *s)
{
	s->references++;
}

void shown_archive_put(struct shown_archive *s)
{
	if (!s || --s->references)
		return;
	archive_source_free(s->source);
	free(s);
}

/* ---- where things are in an archive ---- */

int spot_errno(const struct err *err)
{
	return err->code == ERR_SYSTEM ? err->number : err->code == ERR_MEMORY ? ENOMEM : EIO;
}

void spot_release(struct spot *s)
{
	catalog_put(s->of);
	s->of = NULL;
}

/*
 * Returns the folder of the archive that a node is in, or the node itself if it is such a folder.
 * NULL: the node is in no archive, or has no name.
 */
static struct node *archive_above(struct node *node) REQUIRES(vfs_class)
{
	while (node && node->thing->kind != THING_ARCHIVE)
		node = node_link(node) ? node_link(node)->parent : NULL;
	return node;
}

/* The place of an archive's folder, and the archive that the folder shows. */
struct site_of_archive {
	struct node *parent; /* parent of the folder; referenced */
	struct shown_archive *shown;
	bool nested;
	char file[NAME_MAX + 1];
};

static int find_site(struct vfs *v, const struct node *folder, struct site_of_archive *out)
{
	const struct link *link;
	int error = ENOENT;

	vfs_lock(v);
	link = node_link(folder);
	if (link && folder->thing->kind == THING_ARCHIVE &&
	    beside_file(link->name, 0, out->file, NULL)) {
		out->parent = node_get(link->parent);
		out->nested = link->parent->thing->kind != THING_PLAIN;
		out->shown = folder->thing->archive;
		shown_archive_get(out->shown);
		error = 0;
	}
	vfs_unlock(v);
	return error;
}

static void site_end(struct vfs *v, struct site_of_archive *site)
{
	vfs_lock(v);
	node_put(&v->nodes, site->parent);
	shown_archive_put(site->shown);
	vfs_unlock(v);
}

/*
 * Returns the folder of the outermost archive around the node, referenced: only that archive is a
 * file on disk. NULL: the node is in no archive.
 */
static struct node *outermost(struct vfs *v, const struct node *node)
{
	struct node *folder = NULL;

	vfs_lock(v);
	for (; node; node = node_link(node) ? node_link(node)->parent : NULL) {
		if (node->thing->kind == THING_ARCHIVE)
			folder = (struct node *)(uintptr_t)node;
	}
	if (folder)
		node_get(folder);
	vfs_unlock(v);
	return folder;
}

/* ---- loose files ---- */

/* Finds out whether the archive belongs to a game, once for each generation of the archive. */
static void settle_place(struct vfs *v, struct shown_archive *shown, uint64_t generation,
			 struct archive_place *place)
{
	bool known;

	vfs_lock(v);
	known = shown->settled == generation;
	place->is_game = shown->is_game;
	vfs_unlock(v);
	if (known)
		return;
	archive_place_settle(place, v->overlay);
	vfs_lock(v);
	shown->settled = generation;
	shown->is_game = place->is_game;
	vfs_unlock(v);
}

/*
 * Lists the member and, if its archive is nested, the archives that contain it as members; the
 * outermost last. Returns their number.
 */
static unsigned find_levels(const struct spot *member, struct spot levels[ARCHIVES_DEPTH])
{
	struct spot at = *member;
	unsigned count = 0;

	do {
		levels[count++] = at;
		at.of = catalog_outer(at.of, &at.entry);
	} while (at.of && count < ARCHIVES_DEPTH);
	return count;
}

static bool archive_find_loose(struct vfs *v, struct loose_site *site,
			       const struct archive_place *place, const struct spot *spots,
			       unsigned count, struct err *err)
{
	bool fine = true;

	for (unsigned i = 0; fine && i < count; i++) {
		const struct spot *spot = &spots[count - 1 - i];
		const struct member_of m = catalog_member(spot->of, spot->entry);
		struct loose *l = &site->levels[site->depth++];

		fine = i == 0 ? loose_find(l, v->overlay, place, &m, err)
			      : loose_find_inner(l, l - 1, catalog_stat(spot->of), &m,
						 v->options->rebuild, err);
		site->loose = l;
	}
	return fine;
}

/*
 * Opens the folder of an archive file, and describes its place. The caller closes the folder and
 * frees the path, also on failure.
 */
static int archive_open_place(struct vfs *v, const struct site_of_archive *site,
			      const struct catalog *of, struct folder *folder, char **path,
			      struct archive_place *out)
{
	int error = folder_open(v, site->parent, folder);

	if (!error)
		error = path_of(v, site->parent, site->file, path);
	if (error)
		return error;
	*out = (struct archive_place){.dir = folder->fd, .path = *path, .st = *catalog_stat(of)};
	settle_place(v, site->shown, catalog_generation(of), out);
	return 0;
}

static int find_loose_site(struct vfs *v, const struct site_of_archive *archive,
			   const struct spot *member, struct loose_site *out, struct err *err)
{
	struct spot spots[ARCHIVES_DEPTH];
	unsigned count = find_levels(member, spots);
	struct archive_place place;
	int error = archive_open_place(v, archive, spots[count - 1].of, &out->folder, &out->path,
				       &place);

	if (error)
		return error;
	if (!archive_find_loose(v, out, &place, spots, count, err))
		return spot_errno(err);
	if (loose_folder(out->loose, false, &out->dir) != 0)
		out->dir = -1;
	return 0;
}

int spot_loose(struct vfs *v, const struct node *node, const struct spot *spot, int *fd)
{
	struct loose_site site;
	int error;

	if (!spot->loose)
		return ENOENT;
	error = loose_site_open(v, node, spot, &site, NULL);
	if (error)
		return error;
	error = site.depth > 1 || site.dir < 0 || !site.loose->is_there
			? ENOENT
			: dirfd_open(site.dir, site.loose->name, O_RDONLY | O_NONBLOCK | O_NOCTTY,
				     0, fd);
	loose_site_close(v, &site);
	return error;
}

void spot_stat(struct vfs *v, const struct node *node, const struct spot *spot, struct stat *st)
{
	int fd;

	catalog_attributes(spot->of, spot->entry, st);
	if (!spot->loose || catalog_kind(spot->of, spot->entry) == MEMBER_FOLDER ||
	    spot_loose(v, node, spot, &fd) != 0)
		return;
	if (fstat(fd, st) == 0)
		st->st_mode = S_IFREG | (st->st_mode & 0444);
	close(fd);
}

/* Returns whether members of this archive file can have loose files. */
static bool has_loose(struct vfs *v, const struct site_of_archive *site, const struct catalog *of)
{
	struct archive_place place;
	struct folder folder = FOLDER_NONE;
	char *path = NULL;
	bool may = archive_open_place(v, site, of, &folder, &path, &place) == 0 &&
		   loose_may_be(v->overlay, &place);

	free(path);
	folder_close(v, &folder);
	return may;
}

int loose_site_open(struct vfs *v, const struct node *node, const struct spot *member,
		    struct loose_site *out, struct err *err)
{
	struct node *top = outermost(v, node);
	struct err unused = {.code = ERR_NONE};
	struct site_of_archive archive;
	int error = top ? find_site(v, top, &archive) : ENOENT;

	*out = (struct loose_site){.folder = FOLDER_NONE, .dir = -1};
	node_release(v, top);
	if (error)
		return error;
	error = find_loose_site(v, &archive, member, out, err ? err : &unused);
	site_end(v, &archive);
	if (error)
		loose_site_close(v, out);
	return error;
}

struct where loose_where(const struct loose_site *site)
{
	return (struct where){.dir = site->dir,
			      .folder = site->loose->folder,
			      .name = site->loose->name,
			      .loose = site->loose};
}

void loose_site_close(struct vfs *v, struct loose_site *site)
{
	if (site->dir >= 0)
		close(site->dir);
	while (site->depth > 0)
		loose_release(&site->levels[--site->depth]);
	free(site->path);
	folder_close(v, &site->folder);
	*site = (struct loose_site){.folder = FOLDER_NONE, .dir = -1};
}

/* ---- opening ---- */

static int open_beside(struct vfs *v, const struct site_of_archive *site, struct catalog **out,
		       struct err *err)
{
	struct folder folder;
	int error = folder_open(v, site->parent, &folder);

	if (error)
		return error;
	*out = archive_look(site->shown->source, folder.fd, site->file, err);
	folder_close(v, &folder);
	return *out ? 0 : spot_errno(err);
}

/*
 * Opens the loose file that replaces a member which is an archive. Returns false if there is no
 * loose file.
 */
static bool archive_open_loose(struct vfs *v, const struct site_of_archive *site,
			       const struct spot *member, struct catalog **out, struct err *err)
{
	struct loose_site loose;
	bool is;

	if (!member->loose || loose_site_open(v, site->parent, member, &loose, NULL) != 0)
		return false;
	is = loose.depth == 1 && loose.loose->is_there && loose.dir >= 0;
	if (is)
		*out = archive_look_loose(site->shown->source, member->of, member->entry, loose.dir,
					  loose.loose->name, err);
	loose_site_close(v, &loose);
	return is;
}

static int open_nested(struct vfs *v, const struct site_of_archive *site, struct catalog **out,
		       struct err *err)
{
	struct spot at;
	int error = spot_of(v, site->parent, &at, err);

	if (error)
		return error;
	at.entry = catalog_find(at.of, at.entry, site->file);
	if (at.entry == CATALOG_NONE || catalog_kind(at.of, at.entry) != MEMBER_ARCHIVE)
		error = ENOENT;
	else if (!archive_open_loose(v, site, &at, out, err))
		*out = archive_enter(site->shown->source, at.of, at.entry, err);
	/*
	 * A kernel that opens no folders has cached the parent's listing with this folder, which
	 * cannot be opened: invalidate it.
	 */
	if (!error && !*out && catalog_was_refused(at.of, at.entry))
		invalidate_data(v, site->parent->id);
	spot_release(&at);
	return error ? error : *out ? 0 : spot_errno(err);
}

/*
 * Opens the archive whose folder this is. Recursive for nested archives, by open_nested and
 * spot_of; ARCHIVES_DEPTH bounds the depth.
 */
static int open_catalog(struct vfs *v, const struct node *folder, struct catalog **out, bool *loose,
			struct err *err)
{
	struct site_of_archive site;
	int error = find_site(v, folder, &site);

	*out = NULL;
	if (error)
		return error;
	error = site.nested ? open_nested(v, &site, out, err) : open_beside(v, &site, out, err);
	*loose = !error && !site.nested && has_loose(v, &site, *out);
	site_end(v, &site);
	return error;
}

static int stat_beside(struct vfs *v, const struct site_of_archive *site, struct stat *st)
{
	struct folder folder;
	int error = folder_open(v, site->parent, &folder);

	if (error)
		return error;
	error = fstatat(folder.fd, site->file, st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
	folder_close(v, &folder);
	return error;
}

static int stat_nested(struct vfs *v, const struct site_of_archive *site, struct stat *st)
{
	struct spot above;
	int error = spot_of(v, site->parent, &above, NULL);

	if (error)
		return error;
	above.entry = catalog_find(above.of, above.entry, site->file);
	if (above.entry == CATALOG_NONE)
		error = ENOENT;
	else
		spot_stat(v, site->parent, &above, st);
	spot_release(&above);
	return error;
}

int archive_stat(struct vfs *v, const struct node *folder, struct stat *st)
{
	struct site_of_archive site;
	int error = find_site(v, folder, &site);

	if (error)
		return error;
	error = site.nested ? stat_nested(v, &site, st) : stat_beside(v, &site, st);
	site_end(v, &site);
	return error;
}

int archive_pin(struct vfs *v, const struct node *node, int *fd)
{
	struct node *top = outermost(v, node);
	struct site_of_archive site;
	struct folder folder;
	int error = top ? find_site(v, top, &site) : ENOENT;

	node_release(v, top);
	if (error)
		return error;
	error = folder_open(v, site.parent, &folder);
	if (!error) {
		error = dirfd_open(folder.fd, site.file, O_PATH | O_NOFOLLOW, 0, fd);
		folder_close(v, &folder);
	}
	site_end(v, &site);
	return error;
}

/*
 * Collects the names that lead down from an archive's folder to a node in it, the last one first.
 */
static int names_below(const struct node *node, const struct node *folder, struct buf *out)
	REQUIRES(vfs_class)
{
	const struct link *link;

	for (; node != folder; node = link->parent) {
		link = node_link(node);
		if (!link)
			return ENOENT;
		buf_add(out, link->name, strlen(link->name) + 1);
	}
	return out->failed ? ENOMEM : 0;
}

static uint32_t follow_names(const struct catalog *o, const struct buf *names)
{
	const char *begin = (const char *)names->data;
	size_t at = names->size;
	uint32_t entry = CATALOG_TOP;

	while (at > 0 && entry != CATALOG_NONE) {
		for (at--; at > 0 && begin[at - 1]; at--)
			;
		entry = catalog_find(o, entry, begin + at);
	}
	return entry;
}

/*
 * Finds the archive entry of a node: the remembered entry if it is of this generation of the
 * archive, else by the node's names.
 */
static int find_spot(struct vfs *v, const struct node *node, const struct node *folder,
		     struct spot *out)
{
	struct buf names = BUF_INIT;
	struct thing *thing;
	uint32_t entry;
	bool known;
	int error = 0;

	vfs_lock(v);
	thing = node->thing;
	known = thing->kind == THING_MEMBER &&
		thing->member.generation == catalog_generation(out->of);
	if (known)
		out->entry = thing->member.entry;
	else
		error = names_below(node, folder, &names);
	vfs_unlock(v);
	if (!known && !error) {
		out->entry = entry = follow_names(out->of, &names);
		error = entry == CATALOG_NONE ? ENOENT : 0;
	}
	buf_release(&names);
	return error;
}

static void remember_spot(struct thing *thing, const struct spot *spot) REQUIRES(vfs_class)
{
	if (thing->kind != THING_MEMBER)
		return;
	thing->member.generation = catalog_generation(spot->of);
	thing->member.entry = spot->entry;
}

int spot_of(struct vfs *v, const struct node *node, struct spot *out, struct err *err)
{
	struct err unused = {.code = ERR_NONE};
	struct node *folder;
	int error;

	*out = (struct spot){NULL, CATALOG_TOP, false};
	err = err ? err : &unused;
	vfs_lock(v);
	folder = archive_above((struct node *)(uintptr_t)node);
	if (folder)
		node_get(folder);
	vfs_unlock(v);
	if (!folder)
		return ENOENT;
	error = open_catalog(v, folder, &out->of, &out->loose, err);
	if (!error && node != folder)
		error = find_spot(v, node, folder, out);
	vfs_lock(v);
	if (!error && node != folder)
		remember_spot(node->thing, out);
	node_put(&v->nodes, folder);
	vfs_unlock(v);
	if (error)
		spot_release(out);
	return error;
}

/* ---- nodes in archives ---- */

/* Makes a node named `name` for the thing, which is taken over. Returns NULL when out of memory. */
static struct node *name_node(struct vfs *v, const struct target *parent, const char *name,
			      struct thing *thing) REQUIRES(vfs_class)
{
	struct nodes *t = &v->nodes;
	struct node *node = thing ? nodes_add(t, thing, name) : NULL;

	thing_put(t, thing);
	if (node && !nodes_link(t, node, parent->node, name)) {
		node_put(t, node);
		node = NULL;
	}
	if (node)
		node->shown_ino = virtual_ino(parent->node, name);
	return node;
}

int spot_node(struct vfs *v, const struct target *parent, const char *name, bool folder,
	      const struct spot *spot, struct target *out)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == THING_MEMBER && node->thing->folder == folder)
		node_get(node);
	else
		node = name_node(v, parent, name, thing_member(&v->nodes, folder));
	if (node) {
		remember_spot(node->thing, spot);
		*out = (struct target){node, thing_get(node->thing)};
	}
	vfs_unlock(v);
	return node ? 0 : ENOMEM;
}

int archive_node(struct vfs *v, const struct target *parent, const char *name,
		 struct shown_archive *s, struct target *out)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == THING_ARCHIVE) {
		node_get(node);
	} else {
		shown_archive_get(s);
		node = name_node(v, parent, name, thing_archive(&v->nodes, s));
	}
	if (node)
		*out = (struct target){node, thing_get(node->thing)};
	vfs_unlock(v);
	return node ? 0 : ENOMEM;
}

/* ---- changes of archives ---- */

void archive_changed(struct vfs *v, const struct node *folder, struct changes *changes)
{
	struct node *node;
	size_t at = 0;

	vfs_lock(v);
	while ((node = nodes_next(&v->nodes, &at))) {
		if (!node_is_below(node, folder))
			continue;
		changes_data(changes, node);
		changes_names(changes, node, false);
	}
	vfs_unlock(v);
}
