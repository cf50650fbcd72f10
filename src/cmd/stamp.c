/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stamp.h"

#include "disk/dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_LINE "animfs export 1"
#define TEMPORARY STAMP_FILE "~"
#define SIZE_MAX_OF_STAMP ((size_t)1 << 30)
#define HASH_DIGITS 32
#define SAME "= " /* stands for a second hash that equals the first */
#define VERSION "version "
#define IMPORTED "@"

/* ---- writing ---- */

bool stamp_add(struct stamp *s, const char *path, text_hash hash)
{
	struct stamp_text *texts = array_room(s->texts, s->count, &s->room, sizeof(*texts));

	if (!texts)
		return false;
	s->texts = texts;
	texts[s->count] =
		(struct stamp_text){arena_text(&s->arena, path, strlen(path)), hash, hash, {0, 0}};
	return texts[s->count++].path != NULL;
}

static void put_hash(struct buf *out, text_hash hash)
{
	buf_format(out, "%016llx%016llx ", (unsigned long long)hash.high64,
		   (unsigned long long)hash.low64);
}

static void stamp_put_version(struct buf *out, struct digest version)
{
	buf_format(out, "%016llx%016llx", (unsigned long long)version.high,
		   (unsigned long long)version.low);
}

/*
 * Writes the line of a text. A path that a line cannot hold is left out; its text counts as edited
 * on import.
 */
static void stamp_put_text(struct buf *out, const struct stamp_text *text)
{
	if (strchr(text->path, '\n'))
		return;
	put_hash(out, text->text);
	if (XXH128_isEqual(text->text, text->said))
		buf_text(out, SAME);
	else
		put_hash(out, text->said);
	if (!digest_is_none(text->version)) {
		buf_text(out, IMPORTED);
		stamp_put_version(out, text->version);
		buf_char(out, ' ');
	}
	buf_text(out, text->path);
	buf_char(out, '\n');
}

static int stamp_put_file(int folder, struct bytes text)
{
	int fd, error = dirfd_make(folder, TEMPORARY, 0666, &fd);

	if (error)
		return error;
	error = dirfd_write(fd, text);
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error && renameat(folder, TEMPORARY, folder, STAMP_FILE) != 0)
		error = errno;
	if (error)
		unlinkat(folder, TEMPORARY, 0);
	return error;
}

int stamp_write(int folder, const struct stamp *s)
{
	struct buf out = BUF_INIT;
	int error;

	buf_format(&out, FIRST_LINE "\nfile %s\nmade of %s\n", s->file, s->made_of);
	if (!digest_is_none(s->version)) {
		buf_text(&out, VERSION);
		stamp_put_version(&out, s->version);
		buf_char(&out, '\n');
	}
	for (size_t i = 0; i < s->count; i++)
		stamp_put_text(&out, &s->texts[i]);
	error = out.failed ? ENOMEM : stamp_put_file(folder, buf_bytes(&out));
	buf_release(&out);
	return error;
}

/* ---- reading ---- */

static int stamp_by_path(const void *pa, const void *pb)
{
	const struct stamp_text *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

void stamp_sort(struct stamp *s)
{
	if (s->count)
		qsort(s->texts, s->count, sizeof(*s->texts), stamp_by_path);
}

/* Reads the digits of a hash, and moves *line after them. */
static bool take_digits(char **line, uint64_t *high, uint64_t *low)
{
	char half[HASH_DIGITS / 2 + 1] = "";

	if (strspn(*line, "0123456789abcdef") != HASH_DIGITS)
		return false;
	memcpy(half, *line, HASH_DIGITS / 2);
	*high = strtoull(half, NULL, 16);
	memcpy(half, *line + HASH_DIGITS / 2, HASH_DIGITS / 2);
	*low = strtoull(half, NULL, 16);
	*line += HASH_DIGITS;
	return true;
}

/* Reads a hash and the space after it. */
static bool take_hash(char **line, text_hash *hash)
{
	uint64_t high, low;

	if (!take_digits(line, &high, &low) || *(*line)++ != ' ')
		return false;
	*hash = (text_hash){.low64 = low, .high64 = high};
	return true;
}

static struct digest stamp_take_version(char **line)
{
	struct digest d = {0, 0};

	return take_digits(line, &d.high, &d.low) ? d : (struct digest){0, 0};
}

/* Returns the rest of a line that begins with these words, or NULL. */
static char *after_prefix(char *line, const char *words)
{
	return line && strncmp(line, words, strlen(words)) == 0 ? line + strlen(words) : NULL;
}

/* Reads the optional version that a text was imported into, such as "@5d0e...10 ". */
static struct digest take_imported(char **line)
{
	char *version = after_prefix(*line, IMPORTED);
	struct digest d = version ? stamp_take_version(&version) : (struct digest){0, 0};

	if (!digest_is_none(d) && *version == ' ')
		*line = version + 1;
	return d;
}

static bool stamp_read_line(struct stamp *s, char *line)
{
	char *version = after_prefix(line, VERSION), *path;
	struct digest imported;
	text_hash text, said;

	if (version)
		s->version = stamp_take_version(&version);
	if (!take_hash(&line, &text))
		return true;
	said = text;
	path = after_prefix(line, SAME);
	if (!path && !take_hash(&line, &said))
		return true;
	path = path ? path : line;
	imported = take_imported(&path);
	if (!stamp_add(s, path, text))
		return false;
	s->texts[s->count - 1].said = said;
	s->texts[s->count - 1].version = imported;
	return true;
}

static int parse_stamp(struct stamp *s, char *text, const char *file)
{
	char *line = strsep(&text, "\n"), *name, *made_of;

	if (!line || strcmp(line, FIRST_LINE) != 0)
		return 0;
	name = after_prefix(strsep(&text, "\n"), "file ");
	made_of = name ? after_prefix(strsep(&text, "\n"), "made of ") : NULL;
	if (!made_of || strcmp(name, file) != 0)
		return 0;
	while ((line = strsep(&text, "\n"))) {
		if (!stamp_read_line(s, line))
			return ENOMEM;
	}
	stamp_sort(s);
	s->made_of = arena_text(&s->arena, made_of, strlen(made_of));
	s->file = arena_text(&s->arena, name, strlen(name));
	return s->arena.failed ? ENOMEM : 0;
}

char *stamp_file_name(int folder)
{
	struct buf text = BUF_INIT;
	char *name = NULL, *line = NULL, *rest;
	struct stat st;

	if (dirfd_read(folder, STAMP_FILE, SIZE_MAX_OF_STAMP, &text, &st) == 0) {
		buf_char(&text, '\0');
		rest = text.failed ? NULL : (char *)text.data;
		if (rest && strcmp(strsep(&rest, "\n"), FIRST_LINE) == 0)
			line = after_prefix(strsep(&rest, "\n"), "file ");
		name = line ? strdup(line) : NULL;
	}
	buf_release(&text);
	return name;
}

int stamp_read(int folder, const char *file, struct stamp *s)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int error = dirfd_read(folder, STAMP_FILE, SIZE_MAX_OF_STAMP, &text, &st);

	if (!error) {
		buf_char(&text, '\0');
		error = text.failed ? ENOMEM : parse_stamp(s, (char *)text.data, file);
	} else if (error != ENOMEM) {
		error = 0;
	}
	buf_release(&text);
	return error;
}

void stamp_release(struct stamp *s)
{
	free(s->texts);
	arena_release(&s->arena);
	*s = (struct stamp)STAMP_INIT;
}

struct stamp_text *stamp_find(const struct stamp *s, const char *path)
{
	const struct stamp_text key = {.path = path};

	return s->count ? bsearch(&key, s->texts, s->count, sizeof(key), stamp_by_path) : NULL;
}
