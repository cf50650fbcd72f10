/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_log.h"

#include "dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

struct history_digest history_digest_of(struct bytes bytes)
{
	XXH128_hash_t hash = XXH3_128bits(bytes.data, bytes.size);

	return (struct history_digest){hash.high64, hash.low64};
}

bool history_digest_same(const struct history_digest *a, const struct history_digest *b)
{
	return a->high == b->high && a->low == b->low;
}

/* ---- lines ---- */

/*
 * Fields of a line, separated by tabs: number, kind, unfinished, batch, time, size, mtime, dev,
 * ino, uid, digest, back, view, program, what. Control characters and '%' in texts are stored as
 * "%XX".
 */
#define FIELDS 15

static const char kind_letters[HISTORY_KINDS + 1] = "emfrs";

static void history_log_write_text(const char *text, struct buf *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == '%' || c == 0x7f)
			buf_format(out, "%%%02X", c);
		else
			buf_char(out, *text);
	}
}

void history_log_line(const struct history_entry *e, struct buf *out)
{
	buf_format(out, "%" PRIu64 "\t%c\t%d\t%" PRIx64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRId64,
		   e->number, kind_letters[e->kind], e->unfinished, e->batch, e->time, e->size,
		   e->mtime);
	buf_format(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%016" PRIx64 "%016" PRIx64,
		   e->dev, e->ino, e->uid, e->digest.high, e->digest.low);
	buf_format(out, "\t%" PRIu64 "\t", e->back);
	history_log_write_text(e->view, out);
	buf_char(out, '\t');
	history_log_write_text(e->program, out);
	buf_char(out, '\t');
	history_log_write_text(e->what, out);
	buf_char(out, '\n');
}

static int history_log_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Unescapes a text in place. */
static const char *history_log_read_text(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool escaped = *from == '%' && history_log_hex_digit(from[1]) >= 0 &&
			       history_log_hex_digit(from[2]) >= 0;

		*to++ = escaped ? (char)(history_log_hex_digit(from[1]) * 16 +
					 history_log_hex_digit(from[2]))
				: *from;
		from += escaped ? 2 : 0;
	}
	*to = '\0';
	return text;
}

static bool read_unsigned(const char *text, int base, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, base);
	return end != text && !*end && *text != '-';
}

static bool read_signed(const char *text, int64_t *out)
{
	char *end;

	*out = strtoll(text, &end, 10);
	return end != text && !*end;
}

static bool read_digest(char *text, struct history_digest *out)
{
	char high[17];

	if (strlen(text) != 32)
		return false;
	memcpy(high, text, 16);
	high[16] = '\0';
	return read_unsigned(high, 16, &out->high) && read_unsigned(text + 16, 16, &out->low);
}

static bool history_log_read_kind(const char *text, enum history_kind *out)
{
	const char *at = *text ? strchr(kind_letters, *text) : NULL;

	*out = at ? (enum history_kind)(at - kind_letters) : HISTORY_EDIT;
	return at && !text[1];
}

/* Parses a line that ends in NUL, in place. */
static bool history_log_read_line(char *line, struct history_entry *e)
{
	char *field[FIELDS];
	uint64_t uid;

	for (unsigned i = 0; i < FIELDS; i++) {
		field[i] = strsep(&line, "\t");
		if (!field[i])
			return false;
	}
	*e = (struct history_entry){.unfinished = strcmp(field[2], "1") == 0};
	if (line || !read_unsigned(field[0], 10, &e->number) || !e->number ||
	    !history_log_read_kind(field[1], &e->kind) || !read_unsigned(field[3], 16, &e->batch) ||
	    !read_signed(field[4], &e->time) || !read_unsigned(field[5], 10, &e->size) ||
	    !read_signed(field[6], &e->mtime) || !read_unsigned(field[7], 10, &e->dev) ||
	    !read_unsigned(field[8], 10, &e->ino) || !read_unsigned(field[9], 10, &uid) ||
	    !read_digest(field[10], &e->digest) || !read_unsigned(field[11], 10, &e->back))
		return false;
	e->uid = (uint32_t)uid;
	e->view = history_log_read_text(field[12]);
	e->program = history_log_read_text(field[13]);
	e->what = history_log_read_text(field[14]);
	return true;
}

/* ---- the list ---- */

/* Returns the first index whose number is not less than `number`. */
static size_t history_log_find_place(const struct history_log *l, uint64_t number)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->list[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t history_log_find(const struct history_log *l, uint64_t number)
{
	size_t at = history_log_find_place(l, number);

	return at < l->count && l->list[at].number == number ? at : SIZE_MAX;
}

const struct history_entry *history_log_last(const struct history_log *l)
{
	return l->count ? &l->list[l->count - 1] : NULL;
}

static bool history_log_add_entry(struct history_log *l, const struct history_entry *e)
{
	size_t at = history_log_find_place(l, e->number);
	struct history_entry *more;

	if (at < l->count && l->list[at].number == e->number) {
		l->list[at] = *e;
		return true;
	}
	more = array_room(l->list, l->count, &l->room, sizeof(*more));
	if (!more)
		return false;
	l->list = more;
	memmove(more + at + 1, more + at, (l->count - at) * sizeof(*more));
	more[at] = *e;
	l->count++;
	return true;
}

bool history_log_parse(struct history_log *l, struct buf *text)
{
	char *at, *end, *lf;
	bool fine = true;

	l->torn = text->size && text->data[text->size - 1] != '\n';
	buf_char(text, '\0');
	if (text->failed)
		return false;
	l->text = *text;
	*text = (struct buf)BUF_INIT;
	at = (char *)l->text.data;
	end = at + l->text.size - 1;
	while (fine && (lf = memchr(at, '\n', (size_t)(end - at)))) {
		struct history_entry entry;

		*lf = '\0';
		if (history_log_read_line(at, &entry))
			fine = history_log_add_entry(l, &entry);
		at = lf + 1;
	}
	return fine;
}

void history_log_release(struct history_log *l)
{
	free(l->list);
	buf_release(&l->text);
	*l = (struct history_log)HISTORY_LOG_INIT;
}

/* ---- files ---- */

#define LOG_MAX ((size_t)256 << 20)
#define TAIL 16384 /* bytes at the end of a log that always contain the last line */

void history_name(uint64_t number, char out[HISTORY_NAME_SIZE])
{
	snprintf(out, HISTORY_NAME_SIZE, "%" PRIu64, number);
}

bool history_log_keeps(int folder, uint64_t number)
{
	char name[HISTORY_NAME_SIZE];

	history_name(number, name);
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int history_log_read(int folder, struct history_log *out)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int error = dirfd_read(folder, HISTORY_LOG, LOG_MAX, &text, &st);

	*out = (struct history_log)HISTORY_LOG_INIT;
	if (!error && !history_log_parse(out, &text))
		error = ENOMEM;
	buf_release(&text);
	for (size_t i = 0; i < out->count; i++)
		out->list[i].kept = history_log_keeps(folder, out->list[i].number);
	return error == ENOENT ? 0 : error;
}

/*
 * Reads at most the last `most` bytes, from the beginning of a line: a line cut at its start could
 * be taken for another version's.
 */
static int history_log_read_lines(int fd, off_t most, struct buf *out)
{
	const uint8_t *line;
	struct stat st;
	size_t cut;
	ssize_t got;
	off_t at;

	if (fstat(fd, &st))
		return errno;
	/* Read one byte more: if it is a newline, the first line is whole. */
	at = st.st_size > most ? st.st_size - most - 1 : 0;
	if (!buf_reserve(out, (size_t)(st.st_size - at)))
		return ENOMEM;
	got = pread(fd, out->data, (size_t)(st.st_size - at), at);
	if (got < 0)
		return errno;
	out->size = (size_t)got;
	if (!at)
		return 0;
	line = memchr(out->data, '\n', out->size);
	cut = line ? (size_t)(line + 1 - out->data) : out->size;
	out->size -= cut;
	memmove(out->data, out->data + cut, out->size);
	return 0;
}

int history_log_read_end(int folder, struct history_log *out)
{
	struct buf text = BUF_INIT;
	int fd, error = dirfd_open(folder, HISTORY_LOG, O_RDONLY | O_NONBLOCK, 0, &fd);

	if (error)
		return error == ENOENT ? 0 : error;
	error = history_log_read_lines(fd, TAIL, &text);
	if (!error && !history_log_parse(out, &text))
		error = ENOMEM;
	buf_release(&text);
	close(fd);
	return error;
}

/* ---- undo and redo ---- */

static bool is_step(const struct history_log *l, const struct history_scope *s, size_t i)
{
	const struct history_entry *e = &l->list[i];

	return e->kind == HISTORY_STEP && (*s->view || !*e->view);
}

/* Did an undo remove the file? That happens only to loose files (`unmakes`, history_undo.h). */
static bool history_is_unmade(const struct history_entry *e)
{
	return e->kind == HISTORY_REMOVED && e->back != 0;
}

/*
 * Returns the index of the version that version i equals within the scope. If i is an undo or redo
 * of this view or of the whole file, that is the version it restored. A step of another view
 * changes nothing in this scope, so it equals the version before it.
 */
size_t history_position(const struct history_log *l, const struct history_scope *s, size_t i)
{
	while (is_step(l, s, i)) {
		const struct history_entry *e = &l->list[i];
		bool about = !*e->view || strcmp(e->view, s->view) == 0;
		size_t back = about ? history_log_find(l, e->back) : i - 1;

		if (back >= i)
			break;
		i = back;
	}
	return i;
}

/*
 * Returns the version that version i was made from; SIZE_MAX if it made the file. For a step to a
 * version that was dropped, returns the next older one.
 */
static size_t previous_version(const struct history_log *l, const struct history_scope *s, size_t i)
{
	size_t next = is_step(l, s, i) ? history_log_find_place(l, l->list[i].back) : i;

	return next == 0 || l->list[i].kind == HISTORY_MADE ? SIZE_MAX
							    : history_position(l, s, next - 1);
}

static bool leads_there(const struct history_scope *s, size_t i)
{
	return !s->same(s->closure, i) && s->there(s->closure, i);
}

size_t history_undo(const struct history_log *l, const struct history_scope *s)
{
	const size_t last = l->count - 1;
	size_t at = history_is_unmade(&l->list[last])
			    ? SIZE_MAX
			    : previous_version(l, s, history_position(l, s, last));

	while (at != SIZE_MAX && !leads_there(s, at))
		at = previous_version(l, s, at);
	return at;
}

/* Returns the version from which the last sequence of undo and redo started. */
static size_t first_position(const struct history_log *l, const struct history_scope *s)
{
	size_t i = l->count - 1;

	while (i > 0 && (is_step(l, s, i) || history_is_unmade(&l->list[i])))
		i--;
	return history_position(l, s, i);
}

size_t history_redo(const struct history_log *l, const struct history_scope *s)
{
	const struct history_entry *last = history_log_last(l);
	size_t now = history_position(l, s, l->count - 1), next = SIZE_MAX;

	if (history_is_unmade(last)) {
		next = history_log_find(l, last->back);
		return next != SIZE_MAX && s->there(s->closure, next) ? next : SIZE_MAX;
	}

	for (size_t at = first_position(l, s); at != SIZE_MAX && at != now;
	     at = previous_version(l, s, at)) {
		if (leads_there(s, at))
			next = at;
	}
	return next;
}
