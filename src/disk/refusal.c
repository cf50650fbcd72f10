/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refusal.h"

#include "dirfd.h"
#include "portable.h"
#include "util/lock_classes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFUSAL_ENTRY 4096 /* bytes that each file counts for in addition to its content */
#define TRIES 100          /* attempts to write into a folder that another process may remove */

/* ---- the total size ---- */

/*
 * Sizes are added up as files are written. When the sum reaches the limit, all files are counted
 * again, since people remove some.
 */
struct refusals {
	struct state *state;
	uint64_t max;
	struct lock lock;
	uint64_t used GUARDED_BY(refusals_class); /* an upper bound for the size of all files */
	bool counted GUARDED_BY(refusals_class);
};

struct refusals *refusals_new(struct state *s, uint64_t max)
{
	struct refusals *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->state = s;
	r->max = max;
	lock_init(&r->lock);
	return r;
}

void refusals_free(struct refusals *r)
{
	if (!r)
		return;
	lock_destroy(&r->lock);
	free(r);
}

static uint64_t refusal_count_all(struct state *s)
{
	uint64_t sum = 0;
	int top;

	if (state_folder(s, STATE_REJECTED, "", false, &top))
		return 0;
	sum = dirfd_size(top, "", REFUSAL_ENTRY, REFUSAL_ENTRY);
	close(top);
	return sum;
}

static bool fits_limit(struct refusals *r, uint64_t bytes)
{
	bool fine;

	lock_acquire(&r->lock, &refusals_class);
	if (!r->counted || bytes > r->max || r->used > r->max - bytes) {
		r->used = refusal_count_all(r->state);
		r->counted = true;
	}
	fine = bytes <= r->max && r->used <= r->max - bytes;
	if (fine)
		r->used += bytes;
	lock_release(&r->lock, &refusals_class);
	return fine;
}

/* ---- writing and removing ---- */

/* The owner can always read and write it; until the owner is set, only we can. */
/* A view: its path from SOURCE, its name, and the folder for its refused texts. */
struct refused_view {
	const char *path, *name;
	int folder;
};

static int refusal_write_file(struct refusals *r, const struct refused_view *at, const char *name,
			      const struct refusal_owner *owner, struct bytes data)
{
	const struct state_owner as = {owner->uid, owner->gid, 0600 | (owner->mode & 0777), NULL};
	char stored[NAME_MAX + 1];
	int error = portable_name(name, stored);

	return error ? error
		     : state_put_below(r->state, STATE_REJECTED, at->path, at->folder, stored, &as,
				       data, STATE_PUT_SYNC);
}

static bool rejected_name(const char *name, unsigned version, char out[NAME_MAX + 1])
{
	int size = version < 2 ? snprintf(out, NAME_MAX + 1, "%s.rejected", name)
			       : snprintf(out, NAME_MAX + 1, "%s.rejected.~%u~", name, version);

	return size > 0 && size <= NAME_MAX;
}

/*
 * Does the file `name` have exactly this text? 0 if so, ENOENT if the file does not exist, or
 * another errno.
 */
static int compare_text(int folder, const char *name, struct bytes text, bool *same)
{
	char stored[NAME_MAX + 1];
	struct stat st;
	int fd, error = portable_name(name, stored);

	*same = false;
	if (error)
		return error;
	if (fstatat(folder, stored, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != text.size)
		return 0;
	error = dirfd_open(folder, stored, O_RDONLY | O_NONBLOCK, 0, &fd);
	if (error)
		return error;
	*same = !dirfd_compare(fd, text);
	close(fd);
	return 0;
}

/*
 * Chooses the file name for a refused text: with the number *own that the text has already, or else
 * the first that is free, which is stored in *own, or whose file has the same text.
 */
static int place_for(int folder, const char *name, struct bytes text, unsigned *own,
		     char out[NAME_MAX + 1])
{
	if (*own)
		return rejected_name(name, *own, out) ? 0 : ENAMETOOLONG;
	for (unsigned version = 1;; version++) {
		bool same;
		int error;

		if (!rejected_name(name, version, out))
			return ENAMETOOLONG;
		error = compare_text(folder, out, text, &same);
		if (error == ENOENT)
			*own = version;
		if (same || error == ENOENT)
			return 0;
		if (error == ENAMETOOLONG)
			return error;
	}
}

static int write_both(struct refusals *r, const struct refused_view *at, struct bytes text,
		      const struct err *err, const struct refusal_owner *owner, unsigned *own)
{
	char rejected[NAME_MAX + 1], reason[NAME_MAX + 1];
	struct buf explained = BUF_INIT;
	unsigned version = *own;
	int error = place_for(at->folder, at->name, text, &version, rejected);

	if (!error && snprintf(reason, sizeof(reason), "%s.error", at->name) > NAME_MAX)
		error = ENAMETOOLONG;
	if (error)
		return error;
	refusal_explain(at->path, text, err, rejected, &explained);
	if (explained.failed)
		error = ENOMEM;
	else if (!fits_limit(r, 2 * REFUSAL_ENTRY + text.size + explained.size))
		error = ENOSPC;
	if (!error)
		error = refusal_write_file(r, at, rejected, owner, text);
	if (!error) {
		*own = version;
		error = refusal_write_file(r, at, reason, owner, buf_bytes(&explained));
	}
	buf_release(&explained);
	return error;
}

int refusal_write(struct refusals *r, const char *path, struct bytes text, const struct err *err,
		  const struct refusal_owner *owner, unsigned *own)
{
	struct refused_view at = {.path = path};
	int error = ENOENT;

	/* Try again: an empty folder may be removed at any time, also by other processes. */
	for (unsigned i = 0; i < TRIES && error == ENOENT; i++) {
		error = state_parent(r->state, STATE_REJECTED, path, true, &at.name, &at.folder);
		if (error)
			continue;
		error = write_both(r, &at, text, err, owner, own);
		close(at.folder);
	}
	return error;
}

static bool refusal_remove_file(int folder, const char *name)
{
	char stored[NAME_MAX + 1];

	return portable_name(name, stored) == 0 && unlinkat(folder, stored, 0) == 0;
}

/* Is `file` the name of a refused text of the view `name`, with any number? */
static bool is_rejected(const char *file, const char *name)
{
	char right[NAME_MAX + 1];
	size_t length = strlen(name);
	unsigned version = 1;

	if (strncmp(file, name, length) != 0)
		return false;
	(void)sscanf(file + length, ".rejected.~%u~", &version);
	return rejected_name(name, version, right) && strcmp(file, right) == 0;
}

/* Removes the refused texts of all numbers; the user may have removed some in between. */
static bool remove_rejected(int folder, const char *name)
{
	struct dirent *entry;
	char file[NAME_MAX + 1];
	bool any = false;
	DIR *dir;

	if (dirfd_list(folder, "", &dir))
		return false;
	while ((entry = dirfd_next(dir))) {
		portable_read(entry->d_name, file);
		if (is_rejected(file, name))
			any |= unlinkat(folder, entry->d_name, 0) == 0;
	}
	closedir(dir);
	return any;
}

bool refusal_remove(struct refusals *r, const char *path)
{
	char file[NAME_MAX + 1];
	const char *name;
	bool any = false;
	int folder;

	if (state_parent(r->state, STATE_REJECTED, path, false, &name, &folder) != 0)
		return false;
	any = remove_rejected(folder, name);
	if (snprintf(file, sizeof(file), "%s.error", name) <= NAME_MAX)
		any |= refusal_remove_file(folder, file);
	close(folder);
	return any;
}
