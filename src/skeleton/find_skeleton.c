/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "find_skeleton.h"
#include "find_model.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- a skeleton and its holders ---- */

struct shared_skeleton {
	_Atomic unsigned references;
	struct skeleton *skeleton;
	struct timespec mtime;
};

const struct skeleton *shared_skeleton(const struct shared_skeleton *r)
{
	return r ? r->skeleton : NULL;
}

struct shared_skeleton *shared_skeleton_get(struct shared_skeleton *r)
{
	if (r)
		r->references++;
	return r;
}

void shared_skeleton_put(struct shared_skeleton *r)
{
	if (!r || --r->references > 0)
		return;
	skeleton_free(r->skeleton);
	free(r);
}

size_t shared_skeleton_size(const struct shared_skeleton *r)
{
	return r ? sizeof(*r) + sizeof(*r->skeleton) + r->skeleton->arena.total : 0;
}

struct timespec shared_skeleton_mtime(const struct shared_skeleton *r)
{
	return r ? r->mtime : (struct timespec){0, 0};
}

static struct shared_skeleton *shared_skeleton_new(struct skeleton *s,
						   const struct file_version *file)
{
	struct shared_skeleton *r = s ? malloc(sizeof(*r)) : NULL;

	if (!r) {
		skeleton_free(s);
		return NULL;
	}
	r->references = 1;
	r->skeleton = s;
	r->mtime = file->mtime;
	return r;
}

struct shared_skeleton *shared_skeleton_made(struct skeleton *s)
{
	static const struct file_version none;

	return shared_skeleton_new(s, &none);
}

/* ---- looking ---- */

void found_skeleton_release(struct found_skeleton *r)
{
	for (unsigned i = 0; i < r->barred_count; i++)
		free(r->barred[i].name);
	free(r->name);
	free(r->rival);
	*r = (struct found_skeleton){.looked = false};
}

bool found_skeleton_bars(const struct found_skeleton *r, const char *name)
{
	for (unsigned i = 0; i < r->barred_count; i++) {
		if (strcmp(r->barred[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool find_skeleton_is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool skeleton_own_name(const char *file_name, char name[NAME_MAX + 1])
{
	return snprintf(name, NAME_MAX + 1, "%s." SKELETON_FILE, file_name) <= NAME_MAX;
}

bool skeleton_is_own_name(const char *name, size_t *length)
{
	static const char suffix[] = "." SKELETON_FILE;
	size_t size = strlen(name);

	if (size < sizeof(suffix) || strcmp(name + size - (sizeof(suffix) - 1), suffix) != 0)
		return false;
	*length = size - (sizeof(suffix) - 1);
	return true;
}

bool skeleton_is_shared_name(const char *name)
{
	return strcmp(name, SKELETON_FILE) == 0 || model_has_name(name);
}

static bool is_model(const char *name)
{
	size_t size = strlen(name), length = strlen(SKELETON_FILE);

	return size < length || strcmp(name + size - length, SKELETON_FILE) != 0;
}

/* Reads the found file, and stores its version and hash in `seen`. Returns 0 or an errno. */
static int read_found(int dir, const struct guard *guard, struct found_skeleton *seen,
		      struct buf *bytes)
{
	size_t limit = is_model(seen->name) ? MODEL_LIMIT : SKELETON_TEXT_MAX;
	const struct file_version let = seen->file;
	struct timespec now;
	struct stat st;
	int error;

	now = clock_wall();
	(void)file_version_at(dir, seen->name, &seen->file);
	error = dirfd_read(dir, seen->name, limit, bytes, &st);
	if (!error)
		seen->file = file_version_of(&st);
	seen->settled = seen->settled && file_version_settled(&seen->file, &now);
	/* Refuse another file that has got the name meanwhile: the guard was not asked about it. */
	if (!error && guard && !file_version_same(&seen->file, &let))
		error = EAGAIN;
	seen->hash = error ? (uint64_t)error : XXH3_64bits(bytes->data, bytes->size);
	return error;
}

/* A search for the skeleton of one animation. */
struct search {
	int dir;
	const char *file_name;
	const struct format *format;
	const struct guard *guard;
};

/*
 * Records a file as found, or as barred by the guard. Returns true if it was found, which ends the
 * search.
 */
static bool take_file(const struct search *s, const char *name, struct found_skeleton *seen)
{
	struct barred_skeleton named = {.name = strdup(name)};
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

static void find_skeleton_file(const struct search *s, struct found_skeleton *seen)
{
	const struct model_format *model = model_format_of(s->format);
	char name[NAME_MAX + 1], rival[NAME_MAX + 1] = "";

	if (skeleton_own_name(s->file_name, name) && find_skeleton_is_there(s->dir, name) &&
	    take_file(s, name, seen))
		return;
	if (model && model_find(s->dir, s->file_name, model, s->guard, name)) {
		if (take_file(s, name, seen))
			return;
	} else if (model) {
		strcpy(rival, name);
	}
	if (find_skeleton_is_there(s->dir, SKELETON_FILE) && take_file(s, SKELETON_FILE, seen))
		return;
	if (rival[0]) {
		seen->rival = strdup(rival);
		seen->looked &= seen->rival != NULL;
	}
}

static void find_skeleton_note_file(struct found_skeleton *seen, bool there,
				    const struct file_version *version, const struct timespec *now)
{
	seen->settled = seen->settled && there && file_version_settled(version, now);
}

/*
 * Finds the file of the skeleton, without reading it. Returns false when out of memory. The caller
 * releases `seen` in either case.
 */
static bool look_for_file(const struct search *s, struct found_skeleton *seen)
{
	struct timespec now;

	*seen = (struct found_skeleton){.looked = true, .settled = true};
	now = clock_wall();
	find_skeleton_note_file(seen, file_version_at(s->dir, ".", &seen->folder), &seen->folder,
				&now);
	if (s->guard)
		find_skeleton_note_file(seen,
					file_version_at(s->dir, s->file_name, &seen->animation),
					&seen->animation, &now);
	find_skeleton_file(s, seen);
	for (unsigned i = 0; i < seen->barred_count; i++)
		find_skeleton_note_file(seen, true, &seen->barred[i].version, &now);
	return seen->looked;
}

/*
 * Returns whether no file of the search has changed, by their versions, which also change with the
 * owner, the mode and the ACL.
 */
static bool find_skeleton_is_untouched(const struct found_skeleton *r, const struct search *s)
{
	bool still = r->settled && file_version_is_at(s->dir, ".", &r->folder);

	if (still && s->guard)
		still = file_version_is_at(s->dir, s->file_name, &r->animation);
	for (unsigned i = 0; i < r->barred_count && still; i++)
		still = file_version_is_at(s->dir, r->barred[i].name, &r->barred[i].version);
	return still && (!r->name || file_version_is_at(s->dir, r->name, &r->file));
}

static bool same_barred(const struct found_skeleton *a, const struct found_skeleton *b)
{
	bool same = a->barred_count == b->barred_count;

	for (unsigned i = 0; i < a->barred_count && same; i++)
		same = found_skeleton_bars(b, a->barred[i].name);
	return same;
}

static bool same_rival(const struct found_skeleton *a, const struct found_skeleton *b)
{
	return a->rival && b->rival ? strcmp(a->rival, b->rival) == 0 : !a->rival && !b->rival;
}

/*
 * Returns whether the file's text is unchanged, although its version differs. `seen` then has the
 * new version.
 */
static bool find_skeleton_says_the_same(const struct found_skeleton *r, const struct search *s,
					struct found_skeleton *seen)
{
	struct buf bytes = BUF_INIT;
	bool same;

	if (!same_barred(r, seen) || !same_rival(r, seen))
		return false;
	seen->rival_told = r->rival_told;
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

bool found_skeleton_same(struct found_skeleton *r, int dir, const char *file_name,
			 const struct format *format, const struct guard *guard)
{
	const struct search s = {dir, file_name, format, guard};
	struct found_skeleton seen, other;
	bool same;

	if (!r->looked)
		return false;
	if (find_skeleton_is_untouched(r, &s))
		return true;
	same = look_for_file(&s, &seen) && find_skeleton_says_the_same(r, &s, &seen);
	other = seen;
	if (same) {
		other = *r;
		*r = seen;
	}
	found_skeleton_release(&other);
	return same;
}

/* ---- reading ---- */

static struct skeleton *parse_skeleton(const char *name, struct bytes bytes,
				       const struct format *format, struct err *err)
{
	return is_model(name) ? model_format_of(format)->read(bytes, err)
			      : skeleton_read(bytes, format, err);
}

static void find_skeleton_report_fault(const struct found_skeleton *r, struct bytes bytes,
				       const struct err *err, skeleton_reporter *report,
				       void *closure)
{
	char place[64] = "", fault[sizeof(err->message) + sizeof(err->accepted) + 96];

	if (err->placed && is_model(r->name))
		snprintf(place, sizeof(place), "byte %zu: ", err->at);
	else if (err->placed)
		snprintf(place, sizeof(place), "line %zu: ", err_locate(bytes, err->at).line);
	snprintf(fault, sizeof(fault), "%s%s%s%s", place, err->message,
		 err->accepted[0] ? "; accepted: " : "", err->accepted);
	report(closure, r->name, fault);
}

void skeleton_report_barred(const char *name, const char *file_name, skeleton_reporter *report,
			    void *closure)
{
	char fault[NAME_MAX + 64];

	snprintf(fault, sizeof(fault), "not everybody who may read %s may read it", file_name);
	report(closure, name, fault);
}

/* Reports files that the guard bars since this search, and files that it no longer bars. */
static void report_barred(const struct found_skeleton *before, const struct found_skeleton *now,
			  const char *file_name, skeleton_reporter *report, void *closure)
{
	for (unsigned i = 0; i < before->barred_count; i++) {
		if (!found_skeleton_bars(now, before->barred[i].name))
			report(closure, before->barred[i].name, NULL);
	}
	for (unsigned i = 0; i < now->barred_count; i++)
		skeleton_report_barred(now->barred[i].name, file_name, report, closure);
}

/*
 * Reports the result of the first search, or of the first after its result was dropped. An earlier
 * fault of the animation's own file may still be listed, so report that it is gone. (The fault of a
 * shared file may have been reported for another animation.)
 */
static void report_first(const struct found_skeleton *now, const char *file_name,
			 skeleton_reporter *report, void *closure)
{
	char name[NAME_MAX + 1];

	if (skeleton_own_name(file_name, name) && !found_skeleton_bars(now, name) &&
	    !(now->faulty && strcmp(now->name, name) == 0))
		report(closure, name, NULL);
}

#define READ_TRIES 8

/*
 * Finds the file of the skeleton and reads it. Returns false when out of memory; *error is an errno
 * if the file cannot be read.
 */
static bool find_and_read(const struct search *s, struct found_skeleton *seen, struct buf *bytes,
			  int *error)
{
	for (unsigned i = 0; i < READ_TRIES; i++) {
		if (!look_for_file(s, seen))
			return false;
		buf_clear(bytes);
		*error = seen->name ? read_found(s->dir, s->guard, seen, bytes) : 0;
		if (*error != EAGAIN || i + 1 == READ_TRIES)
			break;
		found_skeleton_release(seen);
	}
	return true;
}

struct shared_skeleton *find_skeleton(struct found_skeleton *r, int dir, const char *file_name,
				      const struct format *format, const struct guard *guard,
				      skeleton_reporter *report, void *closure)
{
	const struct search search = {dir, file_name, format, guard};
	struct buf bytes = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct skeleton *s = NULL;
	struct found_skeleton seen;
	int error = 0;

	if (!find_and_read(&search, &seen, &bytes, &error)) {
		found_skeleton_release(&seen);
		buf_release(&bytes);
		return NULL;
	}
	if (error)
		err_set(&err, ERR_SYSTEM, "%s", strerror(error));
	else if (seen.name)
		s = parse_skeleton(seen.name, buf_bytes(&bytes), format, &err);
	seen.faulty = err.code && err.code != ERR_MEMORY;
	/* After a failed allocation, the next call searches again. */
	seen.looked = err.code != ERR_MEMORY;
	if (report && r->faulty && (!seen.faulty || strcmp(r->name, seen.name) != 0))
		report(closure, r->name, NULL);
	if (report && !r->looked)
		report_first(&seen, file_name, report, closure);
	if (report)
		report_barred(r, &seen, file_name, report, closure);
	seen.rival_told = r->rival_told && same_rival(r, &seen);
	if (report && r->rival_told && !seen.rival_told)
		report(closure, r->rival, NULL);
	if (report && seen.faulty)
		find_skeleton_report_fault(&seen, buf_bytes(&bytes), &err, report, closure);
	buf_release(&bytes);
	found_skeleton_release(r);
	*r = seen;
	return shared_skeleton_new(s, &r->file);
}

/* ---- several models ---- */

static void report_rival(const char *rival, const char *file_name, skeleton_reporter *report,
			 void *closure)
{
	char fault[2 * NAME_MAX + 128];

	snprintf(fault, sizeof(fault),
		 "it is one of several models beside %.255s, none of which has its name; saving "
		 "its skeleton.csv settles which counts",
		 file_name);
	report(closure, rival, fault);
}

void found_skeleton_tell_rival(struct found_skeleton *r, const char *file_name, bool elsewhere,
			       skeleton_reporter *report, void *closure)
{
	if (!r->rival)
		return;
	if (!elsewhere)
		report_rival(r->rival, file_name, report, closure);
	else if (r->rival_told)
		report(closure, r->rival, NULL);
	r->rival_told = !elsewhere;
}

/* ---- in an archive ---- */

#define NO_FILE SIZE_MAX

static size_t find_named(const struct skeleton_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++) {
		if (strcmp(files->name(files->closure, i), name) == 0)
			return i;
	}
	return NO_FILE;
}

/*
 * Finds the model of an animation among the files of an archive. *rival is NULL, or the last of
 * several models none of which has the animation's name.
 */
static size_t find_model(const struct skeleton_files *files, const char *file_name,
			 const struct model_format *format, const char **rival)
{
	struct model_choice choice;
	size_t found = NO_FILE;

	model_choose(&choice, file_name, format);
	for (size_t i = 0; i < files->count && !choice.same; i++) {
		if (model_offer(&choice, files->name(files->closure, i)))
			found = i;
	}
	*rival = NULL;
	if (choice.same || choice.count == 1)
		return found;
	if (choice.count)
		*rival = files->name(files->closure, found);
	return NO_FILE;
}

/* Finds the skeleton among the files of an archive, in the order of find_skeleton_file. */
static size_t find_in(const struct skeleton_files *files, const char *file_name,
		      const struct format *format, const char **rival)
{
	const struct model_format *model = model_format_of(format);
	char name[NAME_MAX + 1];
	size_t found = NO_FILE;

	*rival = NULL;
	if (skeleton_own_name(file_name, name))
		found = find_named(files, name);
	if (found == NO_FILE && model)
		found = find_model(files, file_name, model, rival);
	return found != NO_FILE ? found : find_named(files, SKELETON_FILE);
}

struct shared_skeleton *find_skeleton_in(const struct skeleton_files *files, const char *file_name,
					 const struct format *format, skeleton_reporter *report,
					 void *closure)
{
	const struct file_version none = {.dev = 0};
	const char *rival;
	size_t found = find_in(files, file_name, format, &rival);
	struct buf bytes = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct found_skeleton seen = {.looked = true};
	struct skeleton *s = NULL;
	size_t limit;

	if (rival && report && found == NO_FILE)
		report_rival(rival, file_name, report, closure);
	if (found == NO_FILE)
		return NULL;
	seen.name = (char *)files->name(files->closure, found);
	limit = is_model(seen.name) ? MODEL_LIMIT : SKELETON_TEXT_MAX;
	if (files->read(files->closure, found, limit, &bytes, &err))
		s = parse_skeleton(seen.name, buf_bytes(&bytes), format, &err);
	if (report && err.code && err.code != ERR_MEMORY)
		find_skeleton_report_fault(&seen, buf_bytes(&bytes), &err, report, closure);
	buf_release(&bytes);
	return shared_skeleton_new(s, &none);
}

uint32_t model_bones_in(const struct skeleton_files *files, const char *file_name)
{
	const char *rival;
	size_t found = find_model(files, file_name, &model_ff9, &rival);
	struct buf bytes = BUF_INIT;
	struct skeleton *s = NULL;
	uint32_t count;

	if (found != NO_FILE && files->read(files->closure, found, MODEL_LIMIT, &bytes, NULL))
		s = model_ff9.read(buf_bytes(&bytes), NULL);
	count = s ? s->count : 0;
	skeleton_free(s);
	buf_release(&bytes);
	return count;
}
