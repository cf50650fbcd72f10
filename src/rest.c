/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rest.h"
#include "model.h"

#include <errno.h>
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
	for (unsigned i = 0; i < r->barred_count; i++)
		free(r->barred[i].name);
	free(r->name);
	*r = (struct rest){.looked = false};
}

bool rest_bars(const struct rest *r, const char *name)
{
	for (unsigned i = 0; i < r->barred_count; i++) {
		if (strcmp(r->barred[i].name, name) == 0)
			return true;
	}
	return false;
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
static int read_found(int dir, const struct guard *guard, struct rest *seen, struct buf *bytes)
{
	size_t limit = is_model(seen->name) ? MODEL_LIMIT : REST_TEXT_MAX;
	const struct file_version let = seen->file;
	struct timespec now;
	struct stat st;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	(void)version_at(dir, seen->name, &seen->file);
	error = at_read(dir, seen->name, limit, bytes, &st);
	if (!error)
		seen->file = file_version_of(&st);
	seen->settled = seen->settled && file_version_settled(&seen->file, &now);
	/* Another file has the name now, and nobody has asked who may read that. */
	if (!error && guard && !file_version_same(&seen->file, &let))
		error = EAGAIN;
	seen->hash = error ? (uint64_t)error : XXH3_64bits(bytes->data, bytes->size);
	return error;
}

/* What is looked for: the skeleton of this animation. */
struct search {
	int dir;
	const char *file_name;
	const struct format *format;
	const struct guard *guard;
};

/* Notes the name as the one, or as one that is as if it were not there. */
static bool take(const struct search *s, const char *name, struct rest *seen)
{
	struct rest_barred named = {.name = strdup(name)};
	bool lets = guard_lets_read(s->guard, s->dir, s->file_name, name, &named.version);

	seen->looked &= named.name != NULL;
	if (lets) {
		seen->name = named.name;
		seen->file = named.version;
	} else if (named.name) {
		seen->barred[seen->barred_count++] = named;
	}
	return lets;
}

static void find_file(const struct search *s, struct rest *seen)
{
	const struct model_format *model = model_format_of(s->format);
	char name[NAME_MAX + 1];

	if (rest_own_name(s->file_name, name) && is_there(s->dir, name) && take(s, name, seen))
		return;
	if (model && model_find(s->dir, s->file_name, model, s->guard, name) && take(s, name, seen))
		return;
	if (is_there(s->dir, REST_FILE))
		take(s, REST_FILE, seen);
}

static void settle(struct rest *seen, bool there, const struct file_version *version,
		   const struct timespec *now)
{
	seen->settled = seen->settled && there && file_version_settled(version, now);
}

/* Which file it is now, before it is read. False: no memory; `seen` is to be released. */
static bool look(const struct search *s, struct rest *seen)
{
	struct timespec now;

	*seen = (struct rest){.looked = true, .settled = true};
	clock_gettime(CLOCK_REALTIME, &now);
	settle(seen, version_at(s->dir, ".", &seen->folder), &seen->folder, &now);
	if (s->guard)
		settle(seen, version_at(s->dir, s->file_name, &seen->animation), &seen->animation,
		       &now);
	find_file(s, seen);
	for (unsigned i = 0; i < seen->barred_count; i++)
		settle(seen, true, &seen->barred[i].version, &now);
	return seen->looked;
}

static bool is_still(int dir, const char *name, const struct file_version *version)
{
	struct file_version now;

	return version_at(dir, name, &now) && file_version_same(&now, version);
}

/* A change of owner, mode or ACL shows in a version, too. */
static bool is_untouched(const struct rest *r, const struct search *s)
{
	bool still = r->settled && is_still(s->dir, ".", &r->folder);

	if (still && s->guard)
		still = is_still(s->dir, s->file_name, &r->animation);
	for (unsigned i = 0; i < r->barred_count && still; i++)
		still = is_still(s->dir, r->barred[i].name, &r->barred[i].version);
	return still && (!r->name || is_still(s->dir, r->name, &r->file));
}

static bool same_barred(const struct rest *a, const struct rest *b)
{
	bool same = a->barred_count == b->barred_count;

	for (unsigned i = 0; i < a->barred_count && same; i++)
		same = rest_bars(b, a->barred[i].name);
	return same;
}

/* Another version that says the same is no change; `seen` is what it is known by from now on. */
static bool says_the_same(const struct rest *r, const struct search *s, struct rest *seen)
{
	struct buf bytes = BUF_INIT;
	bool same;

	if (!same_barred(r, seen))
		return false;
	if (!r->name || !seen->name)
		return !r->name && !seen->name;
	if (strcmp(r->name, seen->name) != 0)
		return false;
	(void)read_found(s->dir, s->guard, seen, &bytes);
	same = seen->hash == r->hash;
	buf_release(&bytes);
	seen->faulty = r->faulty;
	return same;
}

bool rest_same(struct rest *r, int dir, const char *file_name, const struct format *format,
	       const struct guard *guard)
{
	const struct search s = {dir, file_name, format, guard};
	struct rest seen, other;
	bool same;

	if (!r->looked)
		return false;
	if (is_untouched(r, &s))
		return true;
	same = look(&s, &seen) && says_the_same(r, &s, &seen);
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

/* Those that are not used any more because of who may read them, and those that no longer are so.
 */
static void tell_barred(const struct rest *before, const struct rest *now, const char *file_name,
			rest_told *told, void *closure)
{
	char fault[NAME_MAX + 64];

	for (unsigned i = 0; i < before->barred_count; i++) {
		if (!rest_bars(now, before->barred[i].name))
			told(closure, before->barred[i].name, NULL);
	}
	snprintf(fault, sizeof(fault), "not everybody who may read %s may read it", file_name);
	for (unsigned i = 0; i < now->barred_count; i++)
		told(closure, now->barred[i].name, fault);
}

/*
 * Nobody has looked yet, or what was found then is forgotten: a fault of the file that is the
 * animation's own may still be told. (One of a shared file may be another animation's.)
 */
static void tell_first(const struct rest *now, const char *file_name, rest_told *told,
		       void *closure)
{
	char name[NAME_MAX + 1];

	if (rest_own_name(file_name, name) && !rest_bars(now, name) &&
	    !(now->faulty && strcmp(now->name, name) == 0))
		told(closure, name, NULL);
}

#define READ_TRIES 8

/* The file and its bytes. False: no memory. */
static bool find_and_read(const struct search *s, struct rest *seen, struct buf *bytes, int *error)
{
	for (unsigned i = 0; i < READ_TRIES; i++) {
		if (!look(s, seen))
			return false;
		buf_clear(bytes);
		*error = seen->name ? read_found(s->dir, s->guard, seen, bytes) : 0;
		if (*error != EAGAIN || i + 1 == READ_TRIES)
			break;
		rest_release(seen);
	}
	return true;
}

struct rest_skeleton *rest_load(struct rest *r, int dir, const char *file_name,
				const struct format *format, const struct guard *guard,
				rest_told *told, void *closure)
{
	const struct search search = {dir, file_name, format, guard};
	struct buf bytes = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct skeleton *s = NULL;
	struct rest seen;
	int error = 0;

	if (!find_and_read(&search, &seen, &bytes, &error)) {
		rest_release(&seen);
		buf_release(&bytes);
		return NULL;
	}
	if (error)
		err_set(&err, ERR_SYSTEM, "%s", strerror(error));
	else if (seen.name)
		s = parse(seen.name, buf_bytes(&bytes), format, &err);
	seen.faulty = err.code && err.code != ERR_MEMORY;
	/* Out of memory it is looked for again the next time. */
	seen.looked = err.code != ERR_MEMORY;
	if (told && r->faulty && (!seen.faulty || strcmp(r->name, seen.name) != 0))
		told(closure, r->name, NULL);
	if (told && !r->looked)
		tell_first(&seen, file_name, told, closure);
	if (told)
		tell_barred(r, &seen, file_name, told, closure);
	if (told && seen.faulty)
		tell_fault(&seen, buf_bytes(&bytes), &err, told, closure);
	buf_release(&bytes);
	rest_release(r);
	*r = seen;
	return new_holder(s, &r->file);
}
