/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source.h"

#include "disk/dirfd.h"
#include "overlay.h"
#include "siblings.h"
#include "skeleton/find_model.h"
#include "util/clock.h"
#include "util/lock_classes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reason why a file cannot be decoded, with the name it had, which may determine the codec. */
struct verdict {
	struct err err;
	char file_name[];
};

struct source {
	struct store *store;
	/*
	 * Held by the thread that reads and decodes the file, or replaces it. Threads take turns by
	 * `working`, so that others can wait for the end of the work.
	 */
	struct lock work;
	struct lock facts; /* guards the facts about the file; not held while the file is read or
			      decoded */
	pthread_cond_t progress; /* signalled when work ends */
	bool working GUARDED_BY(facts_class);
	/* The stamp of the file that `current` or `verdict` is about. */
	struct file_version stamp GUARDED_BY(facts_class);
	bool settled GUARDED_BY(facts_class); /* a later write is sure to change the stamp */
	struct verdict *verdict GUARDED_BY(facts_class);
	/* The latest version; owned by the cache: version_take, cache_settle. */
	struct cached *current;
	/* Where the skeleton of `current` was found. */
	struct found_skeleton found GUARDED_BY(facts_class);
	/* Models in the archive beside the file, if the skeleton is not found otherwise. */
	struct model_archive models GUARDED_BY(facts_class);
	/* Archives in which the model was looked for; 0: it was not. */
	siblings_state siblings GUARDED_BY(facts_class);
	/* The files that were read along with the animation file. */
	struct parts parts GUARDED_BY(facts_class);
	struct trace trace GUARDED_BY(work_class); /* facts about the last version */
	struct version *replaced[REPLACED_MAX] GUARDED_BY(facts_class);
	size_t replaced_count GUARDED_BY(facts_class);
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
	found_skeleton_release(&s->found);
	model_archive_release(&s->models);
	parts_release(&s->parts);
	for (size_t i = 0; i < s->replaced_count; i++)
		version_put(s->replaced[i]);
	trace_release(&s->trace);
	free(s->verdict);
	free(s);
}

struct store *source_store(const struct source *s)
{
	return s->store;
}

/* ---- one thread at a time ---- */

void source_begin_work(struct source *s)
{
	lock_acquire(&s->facts, &facts_class);
	while (s->working)
		lock_wait(&s->facts, &facts_class, &s->progress);
	s->working = true;
	lock_release(&s->facts, &facts_class);
	lock_acquire(&s->work, &work_class);
}

void source_end_work(struct source *s)
{
	lock_release(&s->work, &work_class);
	lock_acquire(&s->facts, &facts_class);
	s->working = false;
	pthread_cond_broadcast(&s->progress);
	lock_release(&s->facts, &facts_class);
}

void source_forget(struct source *s)
{
	source_begin_work(s);
	lock_acquire(&s->facts, &facts_class);
	free(s->verdict);
	s->verdict = NULL;
	s->settled = false;
	found_skeleton_release(&s->found);
	lock_release(&s->facts, &facts_class);
	source_end_work(s);
}

/* ---- reading ---- */

static bool source_file_stat(const struct where *where, struct stat *st, struct err *err)
{
	int error = where->loose ? loose_stat(where->loose, where->dir, st) : 0;

	if (!where->loose && fstatat(where->dir, where->name, st, AT_SYMLINK_NOFOLLOW))
		error = errno;
	if (error) {
		*st = (struct stat){.st_mode = 0};
		return err_system(err, error, where->name);
	}
	if (!S_ISREG(st->st_mode))
		return err_system(err, S_ISDIR(st->st_mode) ? EISDIR : EINVAL, where->name);
	return true;
}

/* Reads the file. Returns true with *error EFBIG if it is too large, unless it is a loose file. */
static bool source_read_bytes(const struct where *where, size_t max, struct buf *out,
			      struct stat *st, int *error, struct err *err)
{
	*error = 0;
	if (where->loose)
		return loose_read(where->loose, where->dir, max, out, st, err);
	*error = dirfd_read(where->dir, where->name, max, out, st);
	return !*error || *error == EFBIG || err_system(err, *error, where->name);
}

/* Reads the file once; *whole: no program wrote to it meanwhile. */
static bool source_read_once(const struct source *s, const struct where *where, struct reading *r,
			     bool *whole, struct err *err)
{
	const size_t max = store_settings(s->store)->max_file;
	struct file_version after;
	struct timespec now;
	struct stat st, st_after;
	int error;

	now = clock_wall();
	if (!source_read_bytes(where, max, &r->bytes, &st, &error, err) ||
	    !source_file_stat(where, &st_after, err))
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
		if (!source_read_once(s, where, r, &whole, err))
			return false;
		if (whole)
			return true;
	}
	return err_system(err, EAGAIN, where->name);
}

/* Sets all facts at once; takes over the verdict or the version, whichever is given. */
static void publish_facts(struct source *s, const struct file_version *stamp, bool settled,
			  struct verdict *verdict, struct version *version) EXCLUDES(facts_class)
{
	lock_acquire(&s->facts, &facts_class);
	s->stamp = *stamp;
	s->settled = settled;
	free(s->verdict);
	s->verdict = verdict;
	cache_settle(store_cache(s->store), &s->current, version ? &version->cached : NULL);
	lock_release(&s->facts, &facts_class);
}

bool source_has_replaced(struct source *s)
{
	bool has;

	lock_acquire(&s->facts, &facts_class);
	has = s->replaced_count > 0;
	lock_release(&s->facts, &facts_class);
	return has;
}

size_t source_replaced(struct source *s, struct version *out[REPLACED_MAX])
{
	size_t count;

	lock_acquire(&s->facts, &facts_class);
	count = s->replaced_count;
	memcpy(out, s->replaced, count * sizeof(*out));
	s->replaced_count = 0;
	lock_release(&s->facts, &facts_class);
	return count;
}

void source_publish(struct source *s, const struct file_version *stamp, bool settled,
		    struct version *version, const struct anim *edit)
{
	struct version *before = version_take(store_cache(s->store), &s->current);

	if (before != version) {
		version_settle_ages(version, later_time(stamp->mtime, version->parts_mtime), before,
				    edit);
		if (!before)
			version_resume(version, &s->trace);
		version_leave_trace(version, &s->trace);
	}
	/* The version has the same bytes, decoded under another name or with another skeleton. */
	if (before && before != version && version_same_bytes(before, version))
		version->lineage = before->lineage;
	version_put(before);
	publish_facts(s, stamp, settled, NULL, version);
}

/*
 * Keeps a version that other programs replaced; if there are too many, only the newest. `now` is
 * NULL if the file does not decode.
 */
static void keep_replaced(struct source *s, const struct version *now) EXCLUDES(facts_class)
{
	struct version *before = version_take(store_cache(s->store), &s->current), *oldest = NULL;

	if (!before || !before->is_served || (now && version_same_bytes(before, now))) {
		version_put(before);
		return;
	}
	lock_acquire(&s->facts, &facts_class);
	if (s->replaced_count == REPLACED_MAX) {
		oldest = s->replaced[0];
		memmove(&s->replaced[0], &s->replaced[1],
			(REPLACED_MAX - 1) * sizeof(s->replaced[0]));
		s->replaced_count--;
	}
	s->replaced[s->replaced_count++] = before;
	lock_release(&s->facts, &facts_class);
	version_put(oldest);
}

/*
 * Notes that the file does not decode. Not after a failed allocation, so that the next call tries
 * again.
 */
static void note_refusal(struct source *s, const struct where *where, const struct reading *r,
			 const struct err *why)
{
	const char *name = where_label(where);
	bool lasting = why->code == ERR_FORMAT || why->code == ERR_UNKNOWN;
	struct verdict *verdict = lasting ? malloc(sizeof(*verdict) + strlen(name) + 1) : NULL;

	if (!verdict)
		return;
	verdict->err = *why;
	strcpy(verdict->file_name, name);
	keep_replaced(s, NULL);
	publish_facts(s, &r->version, r->settled, verdict, NULL);
}

static bool source_is_known(const struct source *s, const struct file_version *stamp)
	REQUIRES(facts_class)
{
	return s->settled && file_version_same(stamp, &s->stamp);
}

static bool has_same_names(const struct source *s, const struct version *version)
{
	struct naming_table *names;
	bool same;

	if (!naming_concerns(version->codec->format))
		return true;
	names = store_naming(s->store, format_stored(version->codec->format));
	same = names == version->names;
	naming_table_put(names);
	return same;
}

static bool has_same_stills(const struct source *s, const struct where *where,
			    const struct version *version)
{
	const struct stills_of of = {where->dir, where->name, buf_bytes(&version->bytes),
				     version->anim, store_guarded(s->store)};

	return version->stills && stills_same(version->stills, &of);
}

/*
 * Are other files of the folder read, too? Not without a folder, or if a loose file is an
 * archive.
 */
static bool looks_beside(const struct where *where)
{
	return where->dir >= 0 && (!where->loose || !where->loose->rab);
}

/* Does a model in an archive beside it count? Those that were found otherwise come first. */
static bool asks_archives(const struct found_skeleton *found, const struct format *format)
{
	return model_format_of(format) && (!found->name || strcmp(found->name, SKELETON_FILE) == 0);
}

static bool has_same_skeleton(struct source *s, const struct where *where,
			      const struct version *version) REQUIRES(facts_class)
{
	const struct format *format = format_stored(version->codec->format);

	if (version->codec->format->stills)
		return has_same_stills(s, where, version);
	if (!looks_beside(where))
		return !s->found.looked;
	return found_skeleton_same(&s->found, where->dir, where->name, format,
				   store_guarded(s->store)) &&
	       (!asks_archives(&s->found, format) ||
		model_archive_same(&s->models, where->dir, where->name, store_guarded(s->store)));
}

static bool has_same_siblings(const struct source *s, const struct where *where)
	REQUIRES(facts_class)
{
	return !s->siblings ||
	       (s->siblings != SIBLINGS_UNSETTLED && siblings_look(s->store, where) == s->siblings);
}

static bool has_same_parts(struct source *s, const struct where *where,
			   const struct version *version) REQUIRES(facts_class)
{
	return !version->codec->format->parts ||
	       parts_same(&s->parts, where->dir, where->name, store_guarded(s->store),
			  store_settings(s->store)->max_file);
}

/*
 * Returns the current version, with a reference, if the file's name, the bones' names, the skeleton
 * and the parts are still those that it was decoded with.
 */
static struct version *take_current(struct source *s, const struct where *where)
	REQUIRES(facts_class)
{
	struct version *version = version_take(store_cache(s->store), &s->current);

	if (version && strcmp(version->file_name, where_label(where)) == 0 &&
	    has_same_names(s, version) && has_same_skeleton(s, where, version) &&
	    has_same_siblings(s, where) && has_same_parts(s, where, version))
		return version;
	version_put(version);
	return NULL;
}

/* Returns true if the result is known without reading the file: a version, or NULL and err. */
static bool recall_version(struct source *s, const struct where *where, struct version **version,
			   struct stat *st, struct err *err) REQUIRES(facts_class)
{
	struct file_version stamp;

	*version = NULL;
	if (!source_file_stat(where, st, err))
		return true;
	stamp = file_version_of(st);
	if (!source_is_known(s, &stamp))
		return false;
	if (!s->verdict)
		return (*version = take_current(s, where)) != NULL;
	if (strcmp(s->verdict->file_name, where_label(where)) != 0)
		return false;
	err_copy(err, &s->verdict->err);
	return true;
}

bool source_ask_model(const struct source *s, const struct where *where, const struct codec *codec,
		      struct bytes bytes, struct decoding *how)
{
	if (how->hints.bones || !codec || !codec->incomplete || !codec->incomplete(bytes))
		return false;
	if (looks_beside(where))
		how->hints.bones = model_bones(where->dir, where->name, store_guarded(s->store));
	return true;
}

/* Reports faults of skeletons by their path from SOURCE. */
struct faults {
	const struct store *store;
	const struct where *where;
};

static void source_pass_fault(void *closure, const char *name, const char *fault)
{
	const struct faults *f = closure;
	const char *folder = f->where->folder;
	char *path;

	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return;
	store_report_skeleton(f->store, path, fault);
	free(path);
}

/* A model in an archive beside the file takes the place of the folder's skeleton.csv. */
static void load_model(const struct source *s, const struct where *where,
		       const struct format *format, struct reading *r, struct decoding *how,
		       skeleton_reporter *report, void *closure)
{
	struct shared_skeleton *model;

	if (!asks_archives(&r->found, format)) {
		model_archive_drop(&r->models, report, closure);
		return;
	}
	model = model_archive_skeleton(&r->models, where->dir, where->name, format,
				       store_guarded(s->store), report, closure);
	if (!model)
		return;
	shared_skeleton_put(how->skeleton);
	how->skeleton = model;
}

/*
 * Detach s->found and s->models while loading: a concurrent recall_version() then misses and waits
 * for work.
 */
static void load_skeleton(struct source *s, const struct where *where, const struct codec *codec,
			  struct reading *r, struct decoding *how) EXCLUDES(facts_class)
{
	skeleton_reporter *report = store_reports_skeletons(s->store) ? source_pass_fault : NULL;
	const struct guard *guard = store_guarded(s->store);
	struct faults faults = {s->store, where};

	if (!codec || codec->format->stills)
		return;
	if (!looks_beside(where)) {
		r->found.looked = false;
		return;
	}
	lock_acquire(&s->facts, &facts_class);
	r->found = s->found;
	s->found = (struct found_skeleton){.looked = false};
	r->models = s->models;
	s->models = (struct model_archive){.looked = false};
	lock_release(&s->facts, &facts_class);
	how->skeleton = find_skeleton(&r->found, where->dir, where->name,
				      format_stored(codec->format), guard, report, &faults);
	load_model(s, where, format_stored(codec->format), r, how, report, &faults);
	if (report)
		found_skeleton_tell_rival(&r->found, where->name, how->skeleton != NULL, report,
					  &faults);
	/* The guard checked a newer file of this name than the one that was read. */
	if (guard && !file_version_same(&r->found.animation, &r->version)) {
		shared_skeleton_put(how->skeleton);
		how->skeleton = NULL;
		r->found.looked = false;
	}
}

static void keep_found(struct source *s, struct reading *r) EXCLUDES(facts_class)
{
	lock_acquire(&s->facts, &facts_class);
	found_skeleton_release(&s->found);
	s->found = r->found;
	model_archive_release(&s->models);
	s->models = r->models;
	s->siblings = r->siblings;
	parts_release(&s->parts);
	s->parts = r->parts;
	r->parts = (struct parts){.list = NULL};
	lock_release(&s->facts, &facts_class);
}

/* Decodes a file together with its parts, which are other files of the folder. */
static struct version *decode_with_parts(const struct source *s, const struct codec *codec,
					 const struct where *where, struct reading *r,
					 struct decoding *how, struct err *err)
{
	struct parts_reader reader;
	struct version *version;

	parts_begin(&reader, &r->parts, where->dir, where->name, store_guarded(s->store),
		    store_settings(s->store)->max_file);
	how->hints.neighbours = &reader.neighbours;
	version = version_of_bytes(codec, &r->bytes, where->name, how, err);
	parts_drop_bytes(&r->parts);
	/* A fault of a part may be mended at any time. */
	if (!version)
		r->settled = false;
	else
		version->parts_mtime = parts_mtime(&r->parts);
	return version;
}

/*
 * Returns the path of the loose file that is read; NULL: it does not exist, or the file is no loose
 * file.
 */
static const char *loose_from(const struct where *where)
{
	const struct loose *l = where->loose;

	while (l && l->rab)
		l = l->rab;
	return l && l->is_there && where->dir >= 0 ? l->shown : NULL;
}

/* Looks for the model in other archives, if there is no skeleton yet. */
static void load_sibling(const struct source *s, const struct where *where,
			 const struct codec *codec, struct reading *r, struct decoding *how)
{
	const struct format *format = codec ? format_stored(codec->format) : NULL;

	r->siblings = 0;
	if (how->skeleton || !format || !model_format_of(format))
		return;
	r->siblings = siblings_look(s->store, where);
	how->skeleton = siblings_skeleton(s->store, where, format);
}

struct version *source_decode_reading(struct source *s, const struct where *where,
				      struct reading *r, struct err *err)
{
	const char *label = where_label(where);
	const struct codec *codec = NULL;
	struct version *version;
	struct decoding how;
	bool probe;

	if (!store_claims(s->store, label, &codec, &probe) || probe)
		codec = codec_probe(buf_bytes(&r->bytes));
	if (where->loose && !member_can_be(codec, err))
		return NULL;
	how = store_decoding(s->store, label, codec);
	/* A model may be added at any time, so this result must not be remembered. */
	if (source_ask_model(s, where, codec, buf_bytes(&r->bytes), &how))
		r->settled = false;
	load_skeleton(s, where, codec, r, &how);
	if (where->loose && !how.skeleton &&
	    !member_decoding(s->store, &where->loose->member, codec, buf_bytes(&r->bytes), &how)) {
		err_memory(err);
		keep_found(s, r);
		naming_table_put(how.names);
		return NULL;
	}
	load_sibling(s, where, codec, r, &how);
	how.where = where;
	how.from = loose_from(where);
	how.guard = store_guarded(s->store);
	version = codec && codec->format->parts
			  ? decode_with_parts(s, codec, where, r, &how, err)
			  : version_of_bytes(codec, &r->bytes, label, &how, err);
	keep_found(s, r);
	shared_skeleton_put(how.skeleton);
	naming_table_put(how.names);
	return version;
}

/*
 * Returns the decoded version if the bytes are unchanged (after chmod, link, rename, or a write of
 * the same), and so keeps the kernel's caches valid.
 */
static struct version *unchanged(struct source *s, const struct where *where,
				 const struct reading *r) EXCLUDES(facts_class)
{
	struct version *version;

	/* The skeleton of a loose file may be in the archive. */
	if (where->loose)
		return NULL;
	lock_acquire(&s->facts, &facts_class);
	version = take_current(s, where);
	lock_release(&s->facts, &facts_class);
	if (version && bytes_equal(buf_bytes(&version->bytes), buf_bytes(&r->bytes)))
		return version;
	version_put(version);
	return NULL;
}

/*
 * Reads and decodes the file, even if its content is known. `was` is the version that a commit
 * replaced, or NULL.
 */
static struct version *source_read_again(struct source *s, const struct where *where,
					 struct version *was, struct err *err) REQUIRES(work_class)
{
	struct reading r = {.bytes = BUF_INIT};
	struct err why = {.code = ERR_NONE};
	struct version *version = NULL;

	if (source_read(s, where, &r, &why)) {
		version = unchanged(s, where, &r);
		if (!version)
			version = source_decode_reading(s, where, &r, &why);
	}
	if (version) {
		keep_replaced(s, version);
		if (was)
			where_committed(where, was, version);
		source_publish(s, &r.version, r.settled, version, NULL);
	} else {
		note_refusal(s, where, &r, &why);
	}
	err_copy(err, &why);
	buf_release(&r.bytes);
	return version;
}

static struct version *source_look_at_file(struct source *s, const struct where *where,
					   struct stat *st, struct err *err) REQUIRES(work_class)
{
	struct version *version;
	bool known;

	lock_acquire(&s->facts, &facts_class);
	known = recall_version(s, where, &version, st, err);
	lock_release(&s->facts, &facts_class);
	return known ? version : source_read_again(s, where, NULL, err);
}

static void get_stamp(struct source *s, struct file_version *stamp)
{
	lock_acquire(&s->facts, &facts_class);
	*stamp = s->stamp;
	lock_release(&s->facts, &facts_class);
}

struct version *source_latest(struct source *s, const struct where *where,
			      struct file_version *stamp, struct err *err)
{
	struct stat st;
	struct version *version = source_look_at_file(s, where, &st, err);

	get_stamp(s, stamp);
	return version;
}

struct version *source_result(struct source *s, const struct where *where, struct version *was,
			      struct file_version *stamp, struct err *err)
{
	struct version *version = source_read_again(s, where, was, err);

	get_stamp(s, stamp);
	return version;
}

void source_doubt(struct source *s)
{
	lock_acquire(&s->facts, &facts_class);
	s->settled = false;
	s->found.settled = false;
	s->models.settled = false;
	s->parts.unsettled = true;
	lock_release(&s->facts, &facts_class);
}

static bool file_holds(const struct where *where, struct bytes bytes)
{
	int fd, error = dirfd_open(where->dir, where->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				   &fd);

	if (error)
		return false;
	error = dirfd_compare(fd, bytes);
	close(fd);
	return !error;
}

static bool loose_holds(const struct where *where, struct bytes bytes)
{
	struct buf now = BUF_INIT;
	struct stat st;
	bool same = loose_read(where->loose, where->dir, SIZE_MAX, &now, &st, NULL) &&
		    bytes_equal(buf_bytes(&now), bytes);

	buf_release(&now);
	return same;
}

bool source_holds(const struct where *where, struct bytes bytes)
{
	if (where->loose)
		return loose_holds(where, bytes);
	return file_holds(where, bytes);
}

bool source_skeleton_file(struct source *s, const char *name, struct skeleton_file *text)
{
	bool found;

	lock_acquire(&s->facts, &facts_class);
	found = s->found.name && strcmp(s->found.name, name) == 0;
	*text = (struct skeleton_file){s->found.file, s->found.hash, s->found.faulty};
	lock_release(&s->facts, &facts_class);
	return found;
}

bool source_bars_skeleton(struct source *s, const char *name)
{
	bool barred;

	lock_acquire(&s->facts, &facts_class);
	barred = found_skeleton_bars(&s->found, name);
	lock_release(&s->facts, &facts_class);
	return barred;
}

/* ---- for all callers ---- */

struct version *source_last(struct source *s)
{
	return version_take(store_cache(s->store), &s->current);
}

/*
 * Returns the current version while another thread works, if the file still contains its bytes,
 * whatever its stamp. NULL: the content is unknown until the work ends.
 */
static struct version *current_by_bytes(struct source *s, const struct where *where)
	EXCLUDES(facts_class)
{
	struct version *version;

	lock_acquire(&s->facts, &facts_class);
	version = s->working ? take_current(s, where) : NULL;
	lock_release(&s->facts, &facts_class);
	if (version && source_holds(where, buf_bytes(&version->bytes)))
		return version;
	version_put(version);
	return NULL;
}

struct version *source_look(struct source *s, const struct where *where, struct stat *st,
			    struct err *err)
{
	struct version *version;
	bool known;

	lock_acquire(&s->facts, &facts_class);
	known = recall_version(s, where, &version, st, err);
	lock_release(&s->facts, &facts_class);
	if (!known && (version = current_by_bytes(s, where)))
		known = true;
	if (known)
		return version;
	source_begin_work(s);
	version = source_look_at_file(s, where, st, err);
	source_end_work(s);
	return version;
}

struct version *source_get(struct source *s, const struct where *where, struct err *err)
{
	struct stat st;

	return source_look(s, where, &st, err);
}
