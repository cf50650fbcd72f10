/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source.h"

#include "../at.h"
#include "../model.h"
#include "../util/lock_classes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct source {
	struct store *store;
	/*
	 * Held by the thread that reads and decodes the file, or replaces it. Who that is, is
	 * decided by `working`, so that others can wait for a version as well as for the end.
	 */
	struct lock work;
	struct lock facts;       /* held for moments */
	pthread_cond_t progress; /* work ended, or there is a version */
	bool working GUARDED_BY(facts_class);
	bool committing GUARDED_BY(facts_class); /* `working` is a commit */
	/* What `current` and `verdict` are about, where either is there. */
	struct file_version stamp GUARDED_BY(facts_class);
	bool settled GUARDED_BY(facts_class); /* a later write would show as another stamp */
	struct err *verdict GUARDED_BY(facts_class);
	struct version *current;                  /* the cache's: cache_take, cache_settle */
	struct rest rest GUARDED_BY(facts_class); /* where the skeleton of `current` was found */
};

struct source *source_new(struct store *store)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->store = store;
	lock_init(&s->work);
	lock_init(&s->facts);
	lock_condition_init(&s->progress);
	return s;
}

UNSHARED void source_free(struct source *s)
{
	if (!s)
		return;
	cache_settle(store_cache(s->store), &s->current, NULL);
	lock_destroy(&s->work);
	lock_destroy(&s->facts);
	pthread_cond_destroy(&s->progress);
	rest_release(&s->rest);
	free(s->verdict);
	free(s);
}

struct store *source_store(const struct source *s)
{
	return s->store;
}

/* ---- one thread at a time ---- */

/* With facts held, which are released. */
static void start_work(struct source *s, bool commit) RELEASE(facts_class) ACQUIRE(work_class)
{
	s->working = true;
	s->committing = commit;
	lock_release(&s->facts, &facts_class);
	lock_acquire(&s->work, &work_class);
}

void source_begin_work(struct source *s, bool commit)
{
	lock_acquire(&s->facts, &facts_class);
	while (s->working)
		lock_wait(&s->facts, &facts_class, &s->progress);
	start_work(s, commit);
}

void source_end_work(struct source *s)
{
	lock_release(&s->work, &work_class);
	lock_acquire(&s->facts, &facts_class);
	s->working = s->committing = false;
	pthread_cond_broadcast(&s->progress);
	lock_release(&s->facts, &facts_class);
}

void source_forget(struct source *s)
{
	source_begin_work(s, false);
	lock_acquire(&s->facts, &facts_class);
	free(s->verdict);
	s->verdict = NULL;
	s->settled = false;
	rest_release(&s->rest);
	lock_release(&s->facts, &facts_class);
	source_end_work(s);
}

/* ---- reading ---- */

static bool file_stat(int dir, const char *name, struct stat *st, struct err *err)
{
	if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW)) {
		*st = (struct stat){.st_mode = 0};
		return err_system(err, errno, name);
	}
	if (!S_ISREG(st->st_mode))
		return err_system(err, S_ISDIR(st->st_mode) ? EISDIR : EINVAL, name);
	return true;
}

/* Once through the file; *whole tells whether nobody wrote meanwhile. */
static bool read_once(const struct source *s, const struct where *where, struct reading *r,
		      bool *whole, struct err *err)
{
	const size_t max = store_settings(s->store)->max_file;
	struct file_version after;
	struct timespec now;
	struct stat st, st_after;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	error = at_read(where->dir, where->name, max, &r->bytes, &st);
	if (error && error != EFBIG)
		return err_system(err, error, where->name);
	if (!file_stat(where->dir, where->name, &st_after, err))
		return false;
	after = file_version_of(&st_after);
	r->version = file_version_of(&st);
	r->settled = file_version_settled(&r->version, &now);
	*whole = file_version_same(&r->version, &after);
	if (error && *whole)
		return err_set(err, ERR_FORMAT, "the file is larger than %zu bytes, the limit",
			       max);
	return true;
}

#define READ_TRIES 8

bool source_read(const struct source *s, const struct where *where, struct reading *r,
		 struct err *err)
{
	for (unsigned i = 0; i < READ_TRIES; i++) {
		bool whole = false;

		buf_clear(&r->bytes);
		if (!read_once(s, where, r, &whole, err))
			return false;
		if (whole)
			return true;
	}
	return err_system(err, EAGAIN, where->name);
}

/* All facts at once; verdict and version are taken over, and one of them may be there. */
static void publish(struct source *s, const struct file_version *stamp, bool settled,
		    struct err *verdict, struct version *version) EXCLUDES(facts_class)
{
	lock_acquire(&s->facts, &facts_class);
	s->stamp = *stamp;
	s->settled = settled;
	free(s->verdict);
	s->verdict = verdict;
	cache_settle(store_cache(s->store), &s->current, version);
	pthread_cond_broadcast(&s->progress);
	lock_release(&s->facts, &facts_class);
}

void source_publish(struct source *s, const struct file_version *stamp, bool settled,
		    struct version *version, const struct anim *edit)
{
	struct version *before = cache_take(store_cache(s->store), &s->current);

	if (before != version)
		version_settle_ages(version, stamp->mtime, before, edit);
	/* It was decoded under another name, or with another skeleton. */
	if (before && before != version && version_same_bytes(before, version))
		version->lineage = before->lineage;
	version_put(before);
	publish(s, stamp, settled, NULL, version);
}

static void copy_error(struct err *to, const struct err *from)
{
	if (to && to->code == ERR_NONE)
		*to = *from;
}

/* A file that does not decode. Out of memory it is found out again the next time. */
static void condemn(struct source *s, const struct reading *r, const struct err *why)
{
	bool lasting = why->code == ERR_FORMAT || why->code == ERR_UNKNOWN;
	struct err *verdict = lasting ? malloc(sizeof(*verdict)) : NULL;

	if (!verdict)
		return;
	*verdict = *why;
	publish(s, &r->version, r->settled, verdict, NULL);
}

static bool is_known(const struct source *s, const struct file_version *stamp) REQUIRES(facts_class)
{
	return s->settled && file_version_same(stamp, &s->stamp);
}

static bool has_same_names(const struct source *s, const struct version *version)
{
	struct naming_table *names;
	bool same;

	if (!naming_concerns(version->codec->format))
		return true;
	names = store_naming(s->store, version->codec->format);
	same = names == version->names;
	naming_table_put(names);
	return same;
}

static bool has_same_rest(struct source *s, const struct where *where,
			  const struct version *version) REQUIRES(facts_class)
{
	const struct format *format = version->codec->format;

	return format->stills ||
	       rest_same(&s->rest, where->dir, where->name, format, store_guarded(s->store));
}

/* What is known of this version, if the file and its bones are still called so and rest so. */
static struct version *take_current(struct source *s, const struct where *where)
	REQUIRES(facts_class)
{
	struct version *version = cache_take(store_cache(s->store), &s->current);

	if (version && strcmp(version->file_name, where->name) == 0 && has_same_names(s, version) &&
	    has_same_rest(s, where, version))
		return version;
	version_put(version);
	return NULL;
}

/* True when there is an answer without reading the file: a version, or NULL and err. */
static bool recall(struct source *s, const struct where *where, struct version **version,
		   struct stat *st, struct err *err) REQUIRES(facts_class)
{
	struct file_version stamp;

	*version = NULL;
	if (!file_stat(where->dir, where->name, st, err))
		return true;
	stamp = file_version_of(st);
	if (!is_known(s, &stamp))
		return false;
	if (!s->verdict)
		return (*version = take_current(s, where)) != NULL;
	copy_error(err, s->verdict);
	return true;
}

bool source_ask_model(const struct source *s, const struct where *where, const struct codec *codec,
		      struct bytes bytes, struct decoding *how)
{
	if (how->hints.bones || !codec || !codec->incomplete || !codec->incomplete(bytes))
		return false;
	how->hints.bones = model_bones(where->dir, where->name, store_guarded(s->store));
	return true;
}

/* Faults of skeletons are said by their path from SOURCE. */
struct faults {
	const struct store *store;
	const struct where *where;
};

static void pass_fault(void *closure, const char *name, const char *fault)
{
	const struct faults *f = closure;
	const char *folder = f->where->folder;
	char *path;

	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return;
	store_rest_fault(f->store, path, fault);
	free(path);
}

/* Detach s->rest while loading, so that a concurrent recall() misses and waits for the work. */
static void load_rest(struct source *s, const struct where *where, const struct codec *codec,
		      struct reading *r, struct decoding *how) EXCLUDES(facts_class)
{
	const struct guard *guard = store_guarded(s->store);
	struct faults faults = {s->store, where};

	if (!codec || codec->format->stills)
		return;
	lock_acquire(&s->facts, &facts_class);
	r->rest = s->rest;
	s->rest = (struct rest){.looked = false};
	lock_release(&s->facts, &facts_class);
	how->rest = rest_load(&r->rest, where->dir, where->name, codec->format, guard,
			      store_wants_rests(s->store) ? pass_fault : NULL, &faults);
	/* What was asked is who may read the file that has the name now, which is not this one. */
	if (guard && !file_version_same(&r->rest.animation, &r->version)) {
		rest_skeleton_put(how->rest);
		how->rest = NULL;
		r->rest.looked = false;
	}
}

static void keep_rest(struct source *s, struct reading *r) EXCLUDES(facts_class)
{
	lock_acquire(&s->facts, &facts_class);
	rest_release(&s->rest);
	s->rest = r->rest;
	lock_release(&s->facts, &facts_class);
}

struct version *source_decode_reading(struct source *s, const struct where *where,
				      struct reading *r, struct err *err)
{
	const struct codec *codec = NULL;
	struct version *version;
	struct decoding how;
	bool probe;

	if (!store_claims(s->store, where->name, &codec, &probe) || probe)
		codec = codec_probe(buf_bytes(&r->bytes));
	how = store_decoding(s->store, where->name, codec);
	/* A model may come at any time: a refusal for the lack of it is not for good. */
	if (source_ask_model(s, where, codec, buf_bytes(&r->bytes), &how))
		r->settled = false;
	load_rest(s, where, codec, r, &how);
	version = version_of_bytes(codec, &r->bytes, where->name, &how, err);
	keep_rest(s, r);
	rest_skeleton_put(how.rest);
	naming_table_put(how.names);
	return version;
}

/*
 * A file whose bytes stayed (chmod, link, rename, a write of the same) is no other version: what
 * was decoded stays, and with it what the kernel remembers.
 */
static struct version *unchanged(struct source *s, const struct where *where,
				 const struct reading *r) EXCLUDES(facts_class)
{
	struct version *version;

	lock_acquire(&s->facts, &facts_class);
	version = take_current(s, where);
	lock_release(&s->facts, &facts_class);
	if (version && bytes_equal(buf_bytes(&version->bytes), buf_bytes(&r->bytes)))
		return version;
	version_put(version);
	return NULL;
}

/* Whatever is known. */
static struct version *read_again(struct source *s, const struct where *where, struct err *err)
	REQUIRES(work_class)
{
	struct reading r = {.bytes = BUF_INIT};
	struct err why = {.code = ERR_NONE};
	struct version *version = NULL;

	if (source_read(s, where, &r, &why)) {
		version = unchanged(s, where, &r);
		if (!version)
			version = source_decode_reading(s, where, &r, &why);
	}
	if (version)
		source_publish(s, &r.version, r.settled, version, NULL);
	else
		condemn(s, &r, &why);
	copy_error(err, &why);
	buf_release(&r.bytes);
	return version;
}

static struct version *look(struct source *s, const struct where *where, struct stat *st,
			    struct err *err) REQUIRES(work_class)
{
	struct version *version;
	bool known;

	lock_acquire(&s->facts, &facts_class);
	known = recall(s, where, &version, st, err);
	lock_release(&s->facts, &facts_class);
	return known ? version : read_again(s, where, err);
}

struct version *source_latest(struct source *s, const struct where *where,
			      struct file_version *stamp, struct err *err)
{
	struct stat st;
	struct version *version = look(s, where, &st, err);

	lock_acquire(&s->facts, &facts_class);
	*stamp = s->stamp;
	lock_release(&s->facts, &facts_class);
	return version;
}

void source_doubt(struct source *s)
{
	lock_acquire(&s->facts, &facts_class);
	s->settled = false;
	s->rest.settled = false;
	lock_release(&s->facts, &facts_class);
}

bool source_holds(const struct where *where, struct bytes bytes)
{
	int fd, error = at_open(where->dir, where->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);

	if (error)
		return false;
	error = at_compare(fd, bytes);
	close(fd);
	return !error;
}

bool source_rest_text(struct source *s, const char *name, struct rest_text *text)
{
	bool found;

	lock_acquire(&s->facts, &facts_class);
	found = s->rest.name && strcmp(s->rest.name, name) == 0;
	*text = (struct rest_text){s->rest.file, s->rest.hash, s->rest.faulty};
	lock_release(&s->facts, &facts_class);
	return found;
}

bool source_rest_bars(struct source *s, const char *name)
{
	bool barred;

	lock_acquire(&s->facts, &facts_class);
	barred = rest_bars(&s->rest, name);
	lock_release(&s->facts, &facts_class);
	return barred;
}

/* ---- for everybody ---- */

struct version *source_last(struct source *s)
{
	return cache_take(store_cache(s->store), &s->current);
}

/* While others work: NULL when they have ended, or what is there while they commit. */
static struct version *wait_for_work(struct source *s) REQUIRES(facts_class)
{
	struct version *version = NULL;

	while (s->working && !version) {
		if (s->committing)
			version = cache_take(store_cache(s->store), &s->current);
		if (!version)
			lock_wait(&s->facts, &facts_class, &s->progress);
	}
	return version;
}

struct version *source_look(struct source *s, const struct where *where, struct stat *st,
			    struct err *err)
{
	struct version *version;

	lock_acquire(&s->facts, &facts_class);
	if (!recall(s, where, &version, st, err) && !(version = wait_for_work(s))) {
		start_work(s, false);
		version = look(s, where, st, err);
		source_end_work(s);
		return version;
	}
	lock_release(&s->facts, &facts_class);
	return version;
}

struct version *source_get(struct source *s, const struct where *where, struct err *err)
{
	struct stat st;

	return source_look(s, where, &st, err);
}
