/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stills.h"

#include "util/clock.h"
#include "view/views.h"
#include "view/x3d_join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <xxhash.h>

#define SUFFIX ".x3d"
#define UP "../../" /* path from a clip's folder to the folder of the animation */

/* A still that was read, or was missing. */
struct seen {
	char *name;
	struct file_version version;
};

/* A clip's stills, read up to the first fault, which the clip then has. */
struct clip_stills {
	struct err why;
	char *folder;  /* path of the stills' folder from that of the animation: "" or "frames/" */
	char *leading; /* UP followed by `folder` */
	struct x3d_joined *joined;
	struct seen *seen;
	size_t seen_count, seen_room;
};

struct stills {
	struct clip_stills *clips;
	struct shown_stills *shown; /* for each clip, its stills */
	uint32_t clip_count;
	bool changed;                  /* the content of some stills has changed */
	bool settled;                  /* a later write to a still is sure to change its stamp */
	uint64_t hash;                 /* hash of all that was read */
	struct file_version animation; /* version of the animation file that the guard checked */
	struct timespec mtime;
	size_t size;
};

bool stills_claims(const char *name)
{
	size_t size = strlen(name), suffix = strlen(SUFFIX);

	return size > suffix && strcasecmp(name + size - suffix, SUFFIX) == 0;
}

/* ---- names ---- */

/*
 * Does the name of a still have only plain characters? The engine would interpret others, or find
 * no file.
 */
static bool stills_is_plain(const char *url)
{
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p < ' ' || strchr("\177%#:?\\", *p))
			return false;
	return true;
}

/* Is the path relative, without empty, "." or ".." parts? */
static bool leads_down(const char *url)
{
	for (;; url++) {
		size_t length = strcspn(url, "/");

		if (length == 0 || (length == 1 && url[0] == '.') ||
		    (length == 2 && url[0] == '.' && url[1] == '.'))
			return false;
		url += length;
		if (!*url)
			return true;
	}
}

static const char *without_dots(const char *url)
{
	while (url[0] == '.' && url[1] == '/')
		url += 2;
	return url;
}

static size_t folder_length(const char *url)
{
	const char *slash = strrchr(url, '/');

	return slash ? (size_t)(slash - url) + 1 : 0;
}

static bool stills_refuse_name(struct err *err, uint32_t frame, const char *what,
			       const char *accepted)
{
	err_set(err, ERR_TEXT, "frame %u: %s", (unsigned)frame, what);
	return err_accept(err, "%s", accepted);
}

/*
 * Checks the name of a still. One in the file itself has no name, and its folder is that of the
 * file.
 */
static bool stills_check_name(const char *url, uint32_t frame, struct err *err)
{
	if (!*url)
		return true;
	if (!stills_is_plain(url) || !leads_down(url))
		return stills_refuse_name(
			err, frame, "its url is no file that is read here",
			"a file in the folder of the animation or below it, without any "
			"of % # : ? \\ in its name");
	return stills_claims(url) ||
	       stills_refuse_name(
		       err, frame,
		       "its still is not joined, since its name does not end in " SUFFIX,
		       "X3D of the XML encoding, which tovrmlx3d --encoding xml makes of others");
}

static bool stills_check_names(const struct clip *clip, struct err *err)
{
	const char *first = without_dots(clip->stills[0].url);
	size_t length = folder_length(first);

	if (clip->frames > FRAMES_SHOWN)
		return err_set(err, ERR_TEXT, "%u frames are too many to be joined; accepted: %u",
			       (unsigned)clip->frames, FRAMES_SHOWN);
	for (uint32_t i = 0; i < clip->frames; i++) {
		const char *url = without_dots(clip->stills[i].url);

		if (!stills_check_name(url, i, err))
			return false;
		if (folder_length(url) != length || strncmp(url, first, length) != 0)
			return stills_refuse_name(err, i,
						  "its still is in another folder than that of "
						  "frame 0",
						  "stills of a clip in one folder");
	}
	return true;
}

/* ---- reading ---- */

struct reading {
	struct stills *s;
	const struct stills_of *of;
	struct timespec now; /* time before the first still was read */
	size_t left;
	struct buf text;
};

static struct reading begin_reading(struct stills *s, const struct stills_of *of)
{
	struct reading r = {.s = s, .of = of, .left = STILLS_BYTES_MAX};
	struct stat st;

	r.now = clock_wall();
	s->settled = true;
	s->hash = 0;
	if (of->guard && fstatat(of->dir, of->file_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		s->animation = file_version_of(&st);
	return r;
}

static void note_bytes(struct reading *r, const void *data, size_t size)
{
	r->s->hash = XXH3_64bits_withSeed(data, size, r->s->hash);
}

static struct file_version stills_version_at(int folder, const char *name)
{
	struct stat st;

	if (folder < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return (struct file_version){.dev = 0};
	return file_version_of(&st);
}

/* Reads the file of a still. 0 or an errno. */
static int stills_read_file(struct reading *r, int folder, struct seen *seen)
{
	struct file_version let;
	struct stat st;
	int error;

	buf_clear(&r->text);
	seen->version = stills_version_at(folder, seen->name);
	if (!guard_lets_read(r->of->guard, folder, r->of->file_name, seen->name, &let))
		return EACCES;
	error = dirfd_read(folder, seen->name, r->left, &r->text, &st);
	if (error)
		return error;
	seen->version = file_version_of(&st);
	/* Try again: the name now belongs to another file, whose permissions were not checked. */
	return r->of->guard && !file_version_same(&seen->version, &let) ? EAGAIN : 0;
}

/* stills_read_file(), with the result added to the hash. */
static int read_seen(struct reading *r, int folder, struct seen *seen)
{
	int error = folder < 0 ? ENOENT : stills_read_file(r, folder, seen);

	r->s->settled = r->s->settled && file_version_settled(&seen->version, &r->now);
	if (error)
		note_bytes(r, &error, sizeof(error));
	else
		note_bytes(r, r->text.data, r->text.size);
	r->left -= error ? 0 : r->text.size;
	return error;
}

/* Opens the folder of the clip's stills; -1: it does not exist, or must not be read. */
static int stills_open_folder(const struct stills_of *of, const struct clip_stills *c)
{
	size_t length = strlen(c->folder);
	char *path;
	int fd = -1;

	if (of->guard && length > 0)
		return -1;
	path = strndup(c->folder, length > 0 ? length - 1 : 0);
	if (!path || dirfd_walk(of->dir, path, O_PATH | O_DIRECTORY, &fd) != 0)
		fd = -1;
	free(path);
	return fd;
}

/* ---- joining ---- */

static struct seen *add_seen(struct clip_stills *c, const char *name)
{
	struct seen *seen = array_room(c->seen, c->seen_count, &c->seen_room, sizeof(*seen));

	if (!seen)
		return NULL;
	c->seen = seen;
	seen += c->seen_count;
	*seen = (struct seen){.name = strdup(name)};
	c->seen_count += seen->name != NULL;
	return seen->name ? seen : NULL;
}

/* Sets c->why. The still begins at byte `at` of `text`, the content of the file `name`. */
static bool explain_stills(struct clip_stills *c, const char *name, struct bytes text, size_t at,
			   const struct err *err)
{
	struct position place;

	if (err->code == ERR_MEMORY || !err->placed) {
		c->why = *err;
		return false;
	}
	place = err_locate(text, at + err->at);
	err_set(&c->why, ERR_TEXT, "%.120s:%zu:%zu: %s", name, place.line, place.column,
		err->message);
	return err_accept(&c->why, "%s", err->accepted);
}

/* Joins a still in the file itself. Faults in it have places only if the file has its bytes. */
static bool join_inner(struct reading *r, struct clip_stills *c, const struct still *still)
{
	const struct x3d_still framed = {still->written, true};
	const uint8_t *file = r->of->bytes.data;
	struct err err = {.code = ERR_NONE};
	bool is_there =
		still->written.data >= file && still->written.data < file + r->of->bytes.size;

	if (still->written.size > r->left)
		return err_set(&c->why, ERR_TEXT, "its stills have more than %zu bytes",
			       STILLS_BYTES_MAX);
	r->left -= still->written.size;
	if (x3d_join_add(c->joined, &framed, &err))
		return true;
	if (is_there)
		return explain_stills(c, r->of->file_name, r->of->bytes,
				      (size_t)(still->written.data - file), &err);
	err.placed = false;
	return explain_stills(c, "", still->written, 0, &err);
}

static bool join_file(struct reading *r, struct clip_stills *c, int folder, const char *url)
{
	struct seen *seen = add_seen(c, url + folder_length(url));
	struct x3d_still still;
	struct err err = {.code = ERR_NONE};
	int error;

	if (!seen)
		return err_memory(&c->why);
	error = read_seen(r, folder, seen);
	if (error == EFBIG)
		return err_set(&c->why, ERR_TEXT,
			       "%.120s: its stills up to this one have more than %zu bytes", url,
			       STILLS_BYTES_MAX);
	if (error)
		return err_system(&c->why, error, url);
	if (seen->version.mtime.tv_sec > r->s->mtime.tv_sec ||
	    (seen->version.mtime.tv_sec == r->s->mtime.tv_sec &&
	     seen->version.mtime.tv_nsec > r->s->mtime.tv_nsec))
		r->s->mtime = seen->version.mtime;
	still = (struct x3d_still){buf_bytes(&r->text), false};
	return x3d_join_add(c->joined, &still, &err) ||
	       explain_stills(c, url, buf_bytes(&r->text), 0, &err);
}

static bool join_all(struct reading *r, struct clip_stills *c, const struct clip *clip)
{
	int folder = stills_open_folder(r->of, c);
	bool fine = true;

	c->joined = x3d_join_new(clip->frames);
	if (!c->joined)
		fine = err_memory(&c->why);
	if (r->of->guard && *c->folder)
		fine = err_set(&c->why, ERR_TEXT,
			       "stills in another folder are not read where others are let in");
	for (uint32_t i = 0; fine && i < clip->frames; i++) {
		const struct still *still = &clip->stills[i];

		fine = *still->url ? join_file(r, c, folder, without_dots(still->url))
				   : join_inner(r, c, still);
	}
	if (folder >= 0)
		close(folder);
	return fine;
}

/* Reads and joins the stills of a clip. False when out of memory. */
static bool load_clip(struct reading *r, struct clip_stills *c, const struct clip *clip,
		      struct shown_stills *shown)
{
	const char *first = without_dots(clip->stills[0].url);

	c->folder = strndup(first, folder_length(first));
	if (!c->folder || asprintf(&c->leading, UP "%s", c->folder) < 0)
		return false;
	*shown = (struct shown_stills){.why = &c->why, .folder = c->leading};
	if (stills_check_names(clip, &c->why) && join_all(r, c, clip)) {
		shown->joined = c->joined;
		shown->why = NULL;
		r->s->size += x3d_join_size(c->joined);
		return true;
	}
	x3d_join_free(c->joined);
	c->joined = NULL;
	return c->why.code != ERR_MEMORY;
}

struct stills *stills_load(const struct stills_of *of)
{
	struct stills *s = calloc(1, sizeof(*s));
	struct reading r;
	bool fine = true;

	if (!s)
		return NULL;
	s->clips = calloc(of->anim->clip_count, sizeof(*s->clips));
	s->shown = calloc(of->anim->clip_count, sizeof(*s->shown));
	if (!s->clips || !s->shown) {
		stills_free(s);
		return NULL;
	}
	s->clip_count = of->anim->clip_count;
	s->size = sizeof(*s) + s->clip_count * (sizeof(*s->clips) + sizeof(*s->shown));
	r = begin_reading(s, of);
	for (uint32_t i = 0; fine && i < s->clip_count; i++) {
		fine = load_clip(&r, &s->clips[i], &of->anim->clips[i], &s->shown[i]);
		s->size += s->clips[i].seen_room * sizeof(*s->clips[i].seen);
	}
	buf_release(&r.text);
	if (fine)
		return s;
	stills_free(s);
	return NULL;
}

void stills_free(struct stills *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->clip_count; i++) {
		struct clip_stills *c = &s->clips[i];

		for (size_t k = 0; k < c->seen_count; k++)
			free(c->seen[k].name);
		free(c->seen);
		free(c->folder);
		free(c->leading);
		x3d_join_free(c->joined);
	}
	free(s->clips);
	free(s->shown);
	free(s);
}

/* ---- are they unchanged? ---- */

static bool stills_is_untouched(const struct stills *s, const struct stills_of *of)
{
	struct file_version now;
	bool same = s->settled;

	if (of->guard) {
		now = stills_version_at(of->dir, of->file_name);
		same = same && file_version_same(&now, &s->animation);
	}
	for (uint32_t i = 0; same && i < s->clip_count; i++) {
		const struct clip_stills *c = &s->clips[i];
		int folder = c->seen_count > 0 ? stills_open_folder(of, c) : -1;

		for (size_t k = 0; same && k < c->seen_count; k++) {
			now = stills_version_at(folder, c->seen[k].name);
			same = file_version_same(&now, &c->seen[k].version);
		}
		if (folder >= 0)
			close(folder);
	}
	return same;
}

static void stills_read_again(struct stills *s, const struct stills_of *of)
{
	struct reading r = begin_reading(s, of);

	for (uint32_t i = 0; i < s->clip_count; i++) {
		struct clip_stills *c = &s->clips[i];
		int folder = c->seen_count > 0 ? stills_open_folder(of, c) : -1;

		for (size_t k = 0; k < c->seen_count; k++)
			(void)read_seen(&r, folder, &c->seen[k]);
		if (folder >= 0)
			close(folder);
	}
	buf_release(&r.text);
}

bool stills_same(struct stills *s, const struct stills_of *of)
{
	const uint64_t hash = s->hash;

	if (s->changed || stills_is_untouched(s, of))
		return !s->changed;
	stills_read_again(s, of);
	s->changed = s->hash != hash;
	return !s->changed;
}

/* ---- the result ---- */

const struct shown_stills *stills_of_clip(const struct stills *s, uint32_t clip)
{
	return clip < s->clip_count ? &s->shown[clip] : NULL;
}

struct timespec stills_mtime(const struct stills *s)
{
	return s->mtime;
}

bool stills_apart(const struct stills *s)
{
	for (uint32_t i = 0; i < s->clip_count; i++)
		if (*s->clips[i].folder)
			return true;
	return false;
}

size_t stills_size(const struct stills *s)
{
	return s->size;
}

uint64_t stills_hash(const struct stills *s)
{
	return s->hash;
}
