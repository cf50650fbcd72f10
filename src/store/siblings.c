/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "siblings.h"

#include "archives.h"
#include "disk/dirfd.h"
#include "member.h"
#include "overlay.h"
#include "util/clock.h"
#include "util/lock_classes.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <xxhash.h>

#define MODS "Mods"

/* ---- where to look ---- */

/* The folder of the archives, and the place of the animation in their tree. */
struct bound {
	int dir;
	bool opened;        /* `dir` must be closed */
	const char *own;    /* name of the archive that contains the animation; NULL: none */
	const char *folder; /* as stored in archives */
	const char *name;
};

static bool siblings_is_bound(const char *archive)
{
	for (const char *const *a = game_archives; *a; a++) {
		if (strcasecmp(*a, archive) == 0)
			return true;
	}
	return false;
}

static bool find_own(const struct loose *l, struct bound *out)
{
	const char *slash = strrchr(l->archive.path, '/');
	const struct member_of *m = &l->member;
	const struct member *member;

	if (!m->archive || m->archive->container->replace)
		return false;
	member = &m->archive->members[m->contents->entries[m->entry].member];
	*out = (struct bound){.dir = l->archive.dir,
			      .own = slash ? slash + 1 : l->archive.path,
			      .folder = member->folder,
			      .name = member->name};
	return siblings_is_bound(out->own);
}

/* Returns the part of a folder's path that begins with its last component Mods; NULL: none. */
static const char *below_mods(const char *path)
{
	const char *found = NULL;

	for (const char *at = path; *at; at += strspn(at, "/")) {
		const size_t size = strcspn(at, "/");

		if (size == strlen(MODS) && strncasecmp(at, MODS, size) == 0)
			found = at;
		at += size;
	}
	return found;
}

/*
 * Opens the folder that contains Mods. It is reached upwards, over as many folders as the path has,
 * and must lead down to the same folder again: it may have been moved.
 */
static bool open_above(const struct where *where, const char *mods, int *fd)
{
	char up[PATH_MAX] = "..";
	bool same = false;
	int down;

	for (const char *at = mods; (at = strchr(at, '/')); at++) {
		if (strlen(up) + 4 > sizeof(up))
			return false;
		strcat(up, "/..");
	}
	*fd = openat(where->dir, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return false;
	if (dirfd_walk(*fd, mods, O_PATH | O_DIRECTORY, &down) == 0) {
		same = dirfd_same_file(down, where->dir);
		close(down);
	}
	if (!same)
		close(*fd);
	return same;
}

static bool bound_open(const struct where *where, struct bound *out)
{
	const char *mods;

	if (where->loose)
		return find_own(where->loose, out);
	mods = where->dir < 0 ? NULL : below_mods(where->above ? where->above : where->folder);
	if (!mods || !open_above(where, mods, &out->dir))
		return false;
	mods += strlen(MODS);
	*out = (struct bound){.dir = out->dir,
			      .opened = true,
			      .folder = mods + (*mods == '/'),
			      .name = where->name};
	return true;
}

static void bound_close(const struct bound *b)
{
	if (b->opened)
		close(b->dir);
}

/* Gets the version of an archive that may be read. */
static bool siblings_version(const struct store *s, const struct bound *b, const char *archive,
			     struct file_version *out)
{
	const struct guard *guard = store_guarded(s);

	return (!b->own || strcasecmp(archive, b->own) != 0) &&
	       (guard ? guard_lets_read(guard, b->dir, NULL, archive, out)
		      : file_version_at(b->dir, archive, out));
}

siblings_state siblings_look(const struct store *s, const struct where *where)
{
	struct timespec now = clock_wall();
	siblings_state state = 2;
	struct bound b;

	if (!bound_open(where, &b))
		return state;
	for (const char *const *a = game_archives; *a && state != SIBLINGS_UNSETTLED; a++) {
		struct file_version v;

		if (!siblings_version(s, &b, *a, &v))
			continue;
		const uint64_t facts[] = {
			(uint64_t)(a - game_archives),
			v.dev,
			v.ino,
			(uint64_t)v.size,
			(uint64_t)v.mtime.tv_sec,
			(uint64_t)v.mtime.tv_nsec,
			(uint64_t)v.ctime.tv_sec,
			(uint64_t)v.ctime.tv_nsec,
		};

		state = XXH3_64bits_withSeed(facts, sizeof(facts), state) | 2;
		if (!file_version_settled(&v, &now))
			state = SIBLINGS_UNSETTLED;
	}
	bound_close(&b);
	return state;
}

/* ---- opened archives ---- */

/* Opens an archive, or takes the one that was opened for another animation. */
static struct catalog *siblings_open(struct store *s, int dir, const char *name,
				     const struct file_version *version)
{
	struct opened_archives *opened = store_opened(s);
	const struct timespec now = clock_wall();
	struct catalog *o = NULL;
	struct file_version read;
	unsigned i = 0;

	lock_acquire(&opened->lock, &siblings_class);
	while (i < OPENED_ARCHIVES && !file_version_same(&opened->slots[i].version, version))
		i++;
	if (i < OPENED_ARCHIVES)
		o = (struct catalog *)cache_take(store_cache(s), &opened->slots[i].home);
	if (!o && !(i < OPENED_ARCHIVES && opened->slots[i].refused)) {
		o = catalog_open(s, dir, name, NULL);
		read = o ? file_version_of(catalog_stat(o)) : *version;
		/* Another file may have the name now, which the guard was not asked about. */
		if (!file_version_same(&read, version)) {
			catalog_put(o);
			o = NULL;
		} else if (file_version_settled(version, &now)) {
			if (i == OPENED_ARCHIVES)
				i = opened->next++ % OPENED_ARCHIVES;
			opened->slots[i].version = *version;
			opened->slots[i].refused = !o;
			cache_settle(store_cache(s), &opened->slots[i].home, (struct cached *)o);
		}
	}
	lock_release(&opened->lock, &siblings_class);
	return o;
}

struct shared_skeleton *siblings_skeleton(struct store *s, const struct where *where,
					  const struct format *format)
{
	struct shared_skeleton *skeleton = NULL;
	struct bound b;

	if (!bound_open(where, &b))
		return NULL;
	for (const char *const *a = game_archives; *a && !skeleton; a++) {
		struct file_version version;
		struct catalog *o = siblings_version(s, &b, *a, &version)
					    ? siblings_open(s, b.dir, *a, &version)
					    : NULL;

		if (o) {
			const struct member_of top = catalog_member(o, CATALOG_TOP);

			skeleton = member_model(s, &top, b.folder, b.name, format);
		}
		catalog_put(o);
	}
	bound_close(&b);
	return skeleton;
}
