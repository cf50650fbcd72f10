/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refusal.h"

#include "at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_SHOWN 160 /* bytes of a long line that are shown around the fault */
#define VERSIONS 100

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

static int write_file(struct state *s, int folder, const char *name, struct bytes data)
{
	return state_put(s, folder, NULL, name, 0644, data, STATE_PUT_SYNC);
}

static bool rejected_name(const char *name, unsigned version, char out[NAME_MAX + 1])
{
	int size = version < 2 ? snprintf(out, NAME_MAX + 1, "%s.rejected", name)
			       : snprintf(out, NAME_MAX + 1, "%s.rejected.~%u~", name, version);

	return size > 0 && size <= NAME_MAX;
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
	for (unsigned version = 1; version <= VERSIONS; version++) {
		struct buf there = BUF_INIT;
		struct stat st;
		bool same;
		int error;

		if (!rejected_name(name, version, out))
			return ENAMETOOLONG;
		error = at_read(folder, out, text.size + 1, &there, &st);
		same = !error && bytes_equal(buf_bytes(&there), text);
		buf_release(&there);
		if (error == ENOENT)
			*own = version;
		if (same || error == ENOENT)
			return 0;
	}
	return ENOSPC; /* EEXIST would say that the save met a file in its way */
}

int refusal_write(struct state *s, int folder, const char *path, const char *name,
		  struct bytes text, const struct err *err, unsigned *own)
{
	char rejected[NAME_MAX + 1], reason[NAME_MAX + 1];
	struct buf explained = BUF_INIT;
	int error = place_for(folder, name, text, own, rejected);

	if (error)
		return error;
	if (snprintf(reason, sizeof(reason), "%s.error", name) > NAME_MAX)
		return ENAMETOOLONG;
	error = write_file(s, folder, rejected, text);
	if (error)
		return error;
	refusal_explain(path, text, err, rejected, &explained);
	error = explained.failed ? ENOMEM : write_file(s, folder, reason, buf_bytes(&explained));
	buf_release(&explained);
	return error;
}

bool refusal_remove(int folder, const char *name)
{
	char file[NAME_MAX + 1];
	bool any = false;

	for (unsigned version = 1; version <= VERSIONS && rejected_name(name, version, file);
	     version++) {
		if (unlinkat(folder, file, 0) != 0)
			break;
		any = true;
	}
	if (snprintf(file, sizeof(file), "%s.error", name) <= NAME_MAX)
		any |= unlinkat(folder, file, 0) == 0;
	return any;
}
