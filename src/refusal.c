/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refusal.h"

#include "at.h"
#include "util/lock_classes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SHOWN 160     /* bytes of a long line that are shown around the fault */
#define REFUSAL_ENTRY 4096 /* what each file counts for beside its bytes */
#define DEPTH_MAX 128      /* folders in one another that are counted */

/* The line at fault and a caret under the place; a long line is cut around it. */
static void explain_place(struct bytes text, const struct position *where, size_t at,
			  struct buf *out)
{
	size_t begin = where->begin, end = where->end;

	if (at > begin + LINE_SHOWN / 2)
		begin = at - LINE_SHOWN / 2;
	while (begin < at && (text.data[begin] & 0xC0) == 0x80)
		begin++;
	if (end - begin > LINE_SHOWN)
		end = begin + LINE_SHOWN;
	buf_text(out, "  ");
	buf_add(out, text.data + begin, end - begin);
	buf_text(out, "\n  ");
	for (size_t i = begin; i < at && i < end; i++) {
		if ((text.data[i] & 0xC0) != 0x80)
			buf_char(out, text.data[i] == '\t' ? '\t' : ' ');
	}
	buf_text(out, "^\n");
}

void refusal_explain(const char *path, struct bytes text, const struct err *err, const char *kept,
		     struct buf *out)
{
	size_t at = err->at < text.size ? err->at : text.size;

	if (err->code == ERR_FORMAT && err->placed) {
		/* Of bytes that are no text: an animation file written as a whole. */
		buf_format(out, "%s: byte %zu: %s\n", path, err->at, err->message);
	} else if (err->placed) {
		struct position where = err_locate(text, at);

		buf_format(out, "%s:%zu:%zu: %s\n", path, where.line,
			   err->column ? err->column : where.column, err->message);
		if (text.size)
			explain_place(text, &where, at, out);
	} else {
		buf_format(out, "%s: %s\n", path, err->message);
	}
	if (err->accepted[0])
		buf_format(out, "accepted here: %s\n", err->accepted);
	if (kept)
		buf_format(out, "the binary is unchanged; the text as you saved it is in %s\n",
			   kept);
}

/* ---- how much there is ---- */

/*
 * Only what is added is counted as it comes. When that reaches the limit all is counted anew, and
 * so whatever was removed in the meantime is free again.
 */
struct refusals {
	struct state *state;
	uint64_t max;
	struct lock lock;
	uint64_t used GUARDED_BY(refusals_class); /* at least as much as there is */
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

static uint64_t count_in(int folder, unsigned depth);

static uint64_t count_entry(int folder, const char *name, unsigned depth)
{
	uint64_t sum = REFUSAL_ENTRY;
	struct stat st;
	int below;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return sum + (uint64_t)st.st_size;
	if (!at_open(folder, name, O_RDONLY | O_DIRECTORY, 0, &below))
		sum += count_in(below, depth + 1);
	return sum;
}

/* `folder` is taken over. */
static uint64_t count_in(int folder, unsigned depth) /* NOLINT(misc-no-recursion) */
{
	DIR *dir = fdopendir(folder);
	struct dirent *entry;
	uint64_t sum = 0;

	if (!dir) {
		close(folder);
		return 0;
	}
	while (depth < DEPTH_MAX && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			sum += count_entry(dirfd(dir), entry->d_name, depth);
	}
	closedir(dir);
	return sum;
}

static uint64_t count_all(struct state *s)
{
	uint64_t sum = 0;
	int top, folder;

	if (state_folder(s, STATE_REJECTED, "", false, &top))
		return 0;
	if (!at_walk(top, "", O_RDONLY | O_DIRECTORY, &folder))
		sum = count_in(folder, 0);
	close(top);
	return sum;
}

static bool fits(struct refusals *r, uint64_t bytes)
{
	bool fine;

	lock_acquire(&r->lock, &refusals_class);
	if (!r->counted || bytes > r->max || r->used > r->max - bytes) {
		r->used = count_all(r->state);
		r->counted = true;
	}
	fine = bytes <= r->max && r->used <= r->max - bytes;
	if (fine)
		r->used += bytes;
	lock_release(&r->lock, &refusals_class);
	return fine;
}

/* ---- writing and removing ---- */

/* Nobody else is to read what the text of the view was to be. */
static int write_file(struct refusals *r, int folder, const char *name,
		      const struct refusal_owner *owner, struct bytes data)
{
	const struct state_owner as = {owner->uid, owner->gid, 0600 | (owner->mode & 0777)};

	return state_put_as(r->state, folder, NULL, name, &as, data, STATE_PUT_SYNC);
}

static bool rejected_name(const char *name, unsigned version, char out[NAME_MAX + 1])
{
	int size = version < 2 ? snprintf(out, NAME_MAX + 1, "%s.rejected", name)
			       : snprintf(out, NAME_MAX + 1, "%s.rejected.~%u~", name, version);

	return size > 0 && size <= NAME_MAX;
}

/* Does a file of this name hold this very text? 0, ENOENT where there is none, or another errno. */
static int compare_text(int folder, const char *name, struct bytes text, bool *same)
{
	struct stat st;
	int fd, error;

	*same = false;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != text.size)
		return 0;
	error = at_open(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd);
	if (error)
		return error;
	*same = !at_compare(fd, text);
	close(fd);
	return 0;
}

/*
 * Its own version, or the first that is free, or that holds this very text; a text ends in one
 * version only.
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
	}
}

int refusal_write(struct refusals *r, int folder, const char *path, const char *name,
		  struct bytes text, const struct err *err, const struct refusal_owner *owner,
		  unsigned *own)
{
	char rejected[NAME_MAX + 1], reason[NAME_MAX + 1];
	struct buf explained = BUF_INIT;
	unsigned version = *own;
	int error = place_for(folder, name, text, &version, rejected);

	if (!error && snprintf(reason, sizeof(reason), "%s.error", name) > NAME_MAX)
		error = ENAMETOOLONG;
	if (error)
		return error;
	refusal_explain(path, text, err, rejected, &explained);
	if (explained.failed)
		error = ENOMEM;
	else if (!fits(r, 2 * REFUSAL_ENTRY + text.size + explained.size))
		error = ENOSPC;
	if (!error)
		error = write_file(r, folder, rejected, owner, text);
	if (!error) {
		*own = version;
		error = write_file(r, folder, reason, owner, buf_bytes(&explained));
	}
	buf_release(&explained);
	return error;
}

bool refusal_remove(int folder, const char *name)
{
	char file[NAME_MAX + 1];
	bool any = false;

	for (unsigned version = 1; rejected_name(name, version, file); version++) {
		if (unlinkat(folder, file, 0) != 0)
			break;
		any = true;
	}
	if (snprintf(file, sizeof(file), "%s.error", name) <= NAME_MAX)
		any |= unlinkat(folder, file, 0) == 0;
	return any;
}
