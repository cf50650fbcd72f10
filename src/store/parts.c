/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

struct part_read {
	char *name;
	int error; /* errno of reading the file; 0: it was read */
	struct file_version version;
	uint64_t hash; /* hash of the file's bytes */
	struct buf bytes;
};

void parts_drop_bytes(struct parts *p)
{
	for (size_t i = 0; i < p->count; i++)
		buf_release(&p->list[i].bytes);
}

void parts_release(struct parts *p)
{
	parts_drop_bytes(p);
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].name);
	free(p->list);
	*p = (struct parts){.list = NULL};
}

struct timespec parts_mtime(const struct parts *p)
{
	struct timespec latest = {0, 0};

	for (size_t i = 0; i < p->count; i++)
		latest = later_time(latest, p->list[i].version.mtime);
	return latest;
}

/* ---- reading ---- */

/*
 * Reads a file once. 0 or an errno; EAGAIN if the file changed meanwhile: it may be
 * half-written.
 */
static int parts_read_once(struct parts_reader *r, struct part_read *part)
{
	struct file_version let = {0};
	struct timespec now;
	struct stat st;
	int error;

	now = clock_wall();
	if (!guard_lets_read(r->guard, r->dir, r->file_name, part->name, &let))
		return faccessat(r->dir, part->name, F_OK, AT_SYMLINK_NOFOLLOW) ? errno : EACCES;
	buf_clear(&part->bytes);
	error = dirfd_read(r->dir, part->name, r->room, &part->bytes, &st);
	if (error)
		return error;
	part->version = file_version_of(&st);
	if (!file_version_is_at(r->dir, part->name, &part->version) ||
	    (r->guard && !file_version_same(&part->version, &let)))
		return EAGAIN;
	r->parts->unsettled |= !file_version_settled(&part->version, &now);
	return 0;
}

#define READ_TRIES 8

static void parts_read_one(struct parts_reader *r, struct part_read *part)
{
	part->error = EAGAIN;
	for (unsigned i = 0; i < READ_TRIES && part->error == EAGAIN; i++)
		part->error = parts_read_once(r, part);
	part->hash = XXH3_64bits(part->bytes.data, part->bytes.size);
	if (!part->error)
		r->room -= part->bytes.size;
}

static struct part_read *find_part(const struct parts *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->list[i].name, name) == 0)
			return &p->list[i];
	}
	return NULL;
}

static struct part_read *parts_add(struct parts *p, const char *name)
{
	struct part_read *list = array_room(p->list, p->count, &p->room, sizeof(*list));
	char *copy = list ? strdup(name) : NULL;

	if (list)
		p->list = list;
	if (!copy)
		return NULL;
	list[p->count] = (struct part_read){.name = copy, .bytes = BUF_INIT};
	return &list[p->count++];
}

static bool read_named(void *closure, const char *name, struct bytes *out, struct err *err)
{
	struct parts_reader *r = closure;
	struct part_read *part = find_part(r->parts, name);

	if (!part) {
		part = parts_add(r->parts, name);
		if (!part)
			return err_memory(err);
		parts_read_one(r, part);
	}
	*out = buf_bytes(&part->bytes);
	if (part->error == ENOMEM)
		return err_memory(err);
	if (part->error == EFBIG)
		return err_set(err, ERR_FORMAT, "the files of the list are too large together");
	if (part->error == EACCES && r->guard)
		return err_set(err, ERR_SYSTEM, "not everybody who may read %s may read it",
			       r->file_name);
	return !part->error || err_set(err, ERR_SYSTEM, "%s", strerror(part->error));
}

void parts_begin(struct parts_reader *r, struct parts *parts, int dir, const char *file_name,
		 const struct guard *guard, size_t max)
{
	*parts = (struct parts){.list = NULL};
	*r = (struct parts_reader){
		.neighbours = {read_named, r},
		.parts = parts,
		.dir = dir,
		.file_name = file_name,
		.guard = guard,
		.room = max,
	};
	if (guard && !file_version_at(dir, file_name, &parts->animation))
		parts->unsettled = true;
}

/* ---- again ---- */

static bool parts_is_untouched(const struct parts *p, int dir, const char *file_name,
			       const struct guard *guard)
{
	if (p->unsettled)
		return false;
	/* The permissions of the animation file decide which other files may be read for it. */
	if (p->count && guard && !file_version_is_at(dir, file_name, &p->animation))
		return false;
	for (size_t i = 0; i < p->count; i++) {
		if (!file_version_is_at(dir, p->list[i].name, &p->list[i].version))
			return false;
	}
	return true;
}

/* Reads the same files again, recording their versions in `now`. */
static bool reads_the_same(const struct parts *p, struct parts_reader *r, struct parts *now)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct part_read *was = &p->list[i];
		struct part_read *part = parts_add(now, was->name);

		if (!part)
			return false;
		parts_read_one(r, part);
		buf_release(&part->bytes);
		if (part->error != was->error || part->hash != was->hash)
			return false;
	}
	return true;
}

bool parts_same(struct parts *p, int dir, const char *file_name, const struct guard *guard,
		size_t max)
{
	struct parts_reader r;
	struct parts now, other;
	bool same;

	if (parts_is_untouched(p, dir, file_name, guard))
		return true;
	parts_begin(&r, &now, dir, file_name, guard, max);
	same = reads_the_same(p, &r, &now);
	other = same ? *p : now;
	if (same)
		*p = now;
	parts_release(&other);
	return same;
}
