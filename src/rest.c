/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rest.h"
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

/* ---- a skeleton and its holders ---- */

struct rest_skeleton {
	_Atomic unsigned references;
	struct skeleton *skeleton;
	struct timespec mtime;
};

const struct skeleton *rest_skeleton(const struct rest_skeleton *r)
{
	return r ? r->skeleton : NULL;
}

struct rest_skeleton *rest_skeleton_get(struct rest_skeleton *r)
{
	if (r)
		r->references++;
	return r;
}

void rest_skeleton_put(struct rest_skeleton *r)
{
	if (!r || --r->references > 0)
		return;
	skeleton_free(r->skeleton);
	free(r);
}

size_t rest_skeleton_size(const struct rest_skeleton *r)
{
	return r ? sizeof(*r) + sizeof(*r->skeleton) + r->skeleton->arena.total : 0;
}

struct timespec rest_skeleton_mtime(const struct rest_skeleton *r)
{
	return r ? r->mtime : (struct timespec){0, 0};
}

static struct rest_skeleton *new_holder(struct skeleton *s, const struct file_version *file)
{
	struct rest_skeleton *r = s ? malloc(sizeof(*r)) : NULL;

	if (!r) {
		skeleton_free(s);
		return NULL;
	}
	r->references = 1;
	r->skeleton = s;
	r->mtime = file->mtime;
	return r;
}

/* ---- looking ---- */

void rest_release(struct rest *r)
{
	free(r->name);
	*r = (struct rest){.looked = false};
}

static bool is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool rest_own_name(const char *file_name, char name[NAME_MAX + 1])
{
	return snprintf(name, NAME_MAX + 1, "%s." REST_FILE, file_name) <= NAME_MAX;
}

bool rest_is_own(const char *name, size_t *length)
{
	static const char suffix[] = "." REST_FILE;
	size_t size = strlen(name);

	if (size < sizeof(suffix) || strcmp(name + size - (sizeof(suffix) - 1), suffix) != 0)
		return false;
	*length = size - (sizeof(suffix) - 1);
	return true;
}

bool rest_is_shared(const char *name)
{
	return strcmp(name, REST_FILE) == 0 || model_has_name(name);
}

static bool find_file(int dir, const char *file_name, const struct format *format,
		      char name[NAME_MAX + 1])
{
	const struct model_format *model = model_format_of(format);

	if (rest_own_name(file_name, name) && is_there(dir, name))
		return true;
	if (model && model_find(dir, file_name, model, name))
		return true;
	strcpy(name, REST_FILE);
	return is_there(dir, name);
}

static bool version_at(int dir, const char *name, struct file_version *version)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	*version = file_version_of(&st);
	return true;
}

static bool is_model(const char *name)
{
	size_t size = strlen(name), length = strlen(REST_FILE);

	return size < length || strcmp(name + size - length, REST_FILE) != 0;
}

/* The bytes, and what is to be known of them in `seen`. 0 or an errno. */
static int read_found(int dir, struct rest *seen, struct buf *bytes)
{
	size_t limit = is_model(seen->name) ? MODEL_LIMIT : REST_TEXT_MAX;
	struct timespec now;
	struct stat st;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	(void)version_at(dir, seen->name, &seen->file);
	error = at_read(dir, seen->name, limit, bytes, &st);
	if (!error)
		seen->file = file_version_of(&st);
	seen->settled = seen->settled && file_version_settled(&seen->file, &now);
	seen->hash = error ? (uint64_t)error : XXH3_64bits(bytes->data, bytes->size);
	return error;
}

/* Which file it is now, before it is read. False: no memory. */
static bool look(int dir, const char *file_name, const struct format *format, struct rest *seen)
{
	char name[NAME_MAX + 1];
	struct timespec now;

	*seen = (struct rest){.looked = true};
	clock_gettime(CLOCK_REALTIME, &now);
	seen->settled =
		version_at(dir, ".", &seen->folder) && file_version_settled(&seen->folder, &now);
	if (!find_file(dir, file_name, format, name))
		return true;
	seen->name = strdup(name);
	return seen->name != NULL;
}

static bool is_untouched(const struct rest *r, int dir)
{
	struct file_version folder, file;

	if (!r->settled || !version_at(dir, ".", &folder) ||
	    !file_version_same(&folder, &r->folder))
		return false;
	return !r->name || (version_at(dir, r->name, &file) && file_version_same(&file, &r->file));
}

/* Another version that says the same is no change; `seen` is what it is known by from now on. */
static bool says_the_same(const struct rest *r, int dir, struct rest *seen)
{
	struct buf bytes = BUF_INIT;
	bool same;

	if (!r->name || !seen->name)
		return !r->name && !seen->name;
	if (strcmp(r->name, seen->name) != 0)
		return false;
	(void)read_found(dir, seen, &bytes);
	same = seen->hash == r->hash;
	buf_release(&bytes);
	seen->faulty = r->faulty;
	return same;
}

bool rest_same(struct rest *r, int dir, const char *file_name, const struct format *format)
{
	struct rest seen, other;
	bool same;

	if (!r->looked)
		return false;
	if (is_untouched(r, dir))
		return true;
	same = look(dir, file_name, format, &seen) && says_the_same(r, dir, &seen);
	other = seen;
	if (same) {
		other = *r;
		*r = seen;
	}
	rest_release(&other);
	return same;
}

/* ---- reading ---- */

static struct skeleton *parse(const char *name, struct bytes bytes, const struct format *format,
			      struct err *err)
{
	return is_model(name) ? model_format_of(format)->read(bytes, err)
			      : skeleton_read(bytes, format, err);
}

static void tell_fault(const struct rest *r, struct bytes bytes, const struct err *err,
		       rest_told *told, void *closure)
{
	char place[64] = "", fault[sizeof(err->message) + sizeof(err->accepted) + 96];

	if (err->placed && is_model(r->name))
		snprintf(place, sizeof(place), "byte %zu: ", err->at);
	else if (err->placed)
		snprintf(place, sizeof(place), "line %zu: ", err_locate(bytes, err->at).line);
	snprintf(fault, sizeof(fault), "%s%s%s%s", place, err->message,
		 err->accepted[0] ? "; accepted: " : "", err->accepted);
	told(closure, r->name, fault);
}

struct rest_skeleton *rest_load(struct rest *r, int dir, const char *file_name,
				const struct format *format, rest_told *told, void *closure)
{
	struct buf bytes = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct skeleton *s = NULL;
	struct rest seen;
	int error;

	if (!look(dir, file_name, format, &seen))
		return NULL;
	error = seen.name ? read_found(dir, &seen, &bytes) : 0;
	if (error)
		err_set(&err, ERR_SYSTEM, "%s", strerror(error));
	else if (seen.name)
		s = parse(seen.name, buf_bytes(&bytes), format, &err);
	seen.faulty = err.code && err.code != ERR_MEMORY;
	/* Out of memory it is looked for again the next time. */
	seen.looked = err.code != ERR_MEMORY;
	if (told && r->faulty && (!seen.faulty || strcmp(r->name, seen.name) != 0))
		told(closure, r->name, NULL);
	if (told && seen.faulty)
		tell_fault(&seen, buf_bytes(&bytes), &err, told, closure);
	buf_release(&bytes);
	rest_release(r);
	*r = seen;
	return new_holder(s, &r->file);
}
