/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stamp.h"

#include "../at.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_LINE "animfs export 1"
#define TEMPORARY STAMP_FILE "~"
#define SIZE_MAX_OF_STAMP ((size_t)1 << 30)
#define HASH_DIGITS 32
#define SAME "= " /* in place of a second hash */

/* ---- writing ---- */

bool stamp_add(struct stamp *s, const char *path, text_hash hash)
{
	struct stamp_text *texts = array_room(s->texts, s->count, &s->room, sizeof(*texts));

	if (!texts)
		return false;
	s->texts = texts;
	texts[s->count] =
		(struct stamp_text){arena_text(&s->arena, path, strlen(path)), hash, hash};
	return texts[s->count++].path != NULL;
}

static void put_hash(struct buf *out, text_hash hash)
{
	buf_format(out, "%016llx%016llx ", (unsigned long long)hash.high64,
		   (unsigned long long)hash.low64);
}

/* One that a line cannot hold is not noted, and compared with what the file says instead. */
static void put_text(struct buf *out, const struct stamp_text *text)
{
	if (strchr(text->path, '\n'))
		return;
	put_hash(out, text->text);
	if (XXH128_isEqual(text->text, text->said))
		buf_text(out, SAME);
	else
		put_hash(out, text->said);
	buf_text(out, text->path);
	buf_char(out, '\n');
}

static int put_file(int folder, struct bytes text)
{
	int fd, error = at_make(folder, TEMPORARY, 0666, &fd);

	if (error)
		return error;
	error = at_write(fd, text);
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
	for (size_t i = 0; i < s->count; i++)
		put_text(&out, &s->texts[i]);
	error = out.failed ? ENOMEM : put_file(folder, buf_bytes(&out));
	buf_release(&out);
	return error;
}

/* ---- reading ---- */

static int by_path(const void *pa, const void *pb)
{
	const struct stamp_text *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

void stamp_sort(struct stamp *s)
{
	if (s->count)
		qsort(s->texts, s->count, sizeof(*s->texts), by_path);
}

/* Moves *line behind a hash and its space. */
static bool take_hash(char **line, text_hash *hash)
{
	char half[HASH_DIGITS / 2 + 1] = "";
	size_t digits = strspn(*line, "0123456789abcdef");

	if (digits != HASH_DIGITS || (*line)[digits] != ' ')
		return false;
	memcpy(half, *line, HASH_DIGITS / 2);
	hash->high64 = strtoull(half, NULL, 16);
	memcpy(half, *line + HASH_DIGITS / 2, HASH_DIGITS / 2);
	hash->low64 = strtoull(half, NULL, 16);
	*line += HASH_DIGITS + 1;
	return true;
}

/* What a line says behind its first words, or NULL. */
static char *after(char *line, const char *words)
{
	return line && strncmp(line, words, strlen(words)) == 0 ? line + strlen(words) : NULL;
}

static bool read_line(struct stamp *s, char *line)
{
	char *path;
	text_hash text, said;

	if (!take_hash(&line, &text))
		return true;
	said = text;
	path = after(line, SAME);
	if (!path && !take_hash(&line, &said))
		return true;
	if (!stamp_add(s, path ? path : line, text))
		return false;
	s->texts[s->count - 1].said = said;
	return true;
}

static int parse(struct stamp *s, char *text, const char *file)
{
	char *line = strsep(&text, "\n"), *name, *made_of;

	if (!line || strcmp(line, FIRST_LINE) != 0)
		return 0;
	name = after(strsep(&text, "\n"), "file ");
	made_of = name ? after(strsep(&text, "\n"), "made of ") : NULL;
	if (!made_of || strcmp(name, file) != 0)
		return 0;
	while ((line = strsep(&text, "\n"))) {
		if (!read_line(s, line))
			return ENOMEM;
	}
	stamp_sort(s);
	s->made_of = arena_text(&s->arena, made_of, strlen(made_of));
	s->file = arena_text(&s->arena, name, strlen(name));
	return s->arena.failed ? ENOMEM : 0;
}

int stamp_read(int folder, const char *file, struct stamp *s)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int error = at_read(folder, STAMP_FILE, SIZE_MAX_OF_STAMP, &text, &st);

	if (!error) {
		buf_char(&text, '\0');
		error = text.failed ? ENOMEM : parse(s, (char *)text.data, file);
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

	return s->count ? bsearch(&key, s->texts, s->count, sizeof(key), by_path) : NULL;
}
