/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source.h"
#include "model.h"
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MILLISECOND ((int64_t)1000000) /* in ns */

/* ---- the store ---- */

struct store {
	struct store_options options;
	struct state *state;
	struct cache *cache;
	struct naming *naming; /* may be NULL */
};

struct store *store_new(const struct store_options *options, struct state *state)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *options;
	s->state = state;
	s->cache = cache_new(options->cache);
	if (s->cache)
		return s;
	free(s);
	return NULL;
}

bool store_names(struct store *s, int folder, naming_told *told, void *closure)
{
	naming_free(s->naming);
	s->naming = naming_new(folder, told, closure);
	return s->naming != NULL;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	naming_free(s->naming);
	cache_free(s->cache);
	free(s);
}

size_t store_cached(const struct store *s)
{
	return cache_size(s->cache);
}

/* The first of the options' patterns that fits, or NULL. */
static const struct pattern *find_pattern(const struct store *s, const char *file_name)
{
	for (unsigned i = 0; i < s->options.pattern_count; i++) {
		if (fnmatch(s->options.patterns[i].glob, file_name, FNM_CASEFOLD) == 0)
			return &s->options.patterns[i];
	}
	return NULL;
}

bool store_claims(const struct store *s, const char *file_name, const struct codec **codec,
		  bool *probe)
{
	const struct pattern *pattern = find_pattern(s, file_name);

	*codec = pattern ? pattern->codec : codec_for_name(file_name);
	*probe = pattern && !pattern->codec;
	return *codec || *probe;
}

/*
 * What the options and the table of names say about a file of this name and format; codec NULL: of
 * any. The caller puts how.names down.
 */
static struct decoding store_decoding(const struct store *s, const char *file_name,
				      const struct codec *codec)
{
	struct decoding how = {.rotations = s->options.rotations};
	const struct pattern *pattern = find_pattern(s, file_name);

	for (unsigned i = 0; codec && i < s->options.rate_count; i++) {
		if (s->options.rates[i].format == codec->format)
			how.rate = s->options.rates[i].hz;
	}
	if (pattern)
		how.hints.bones = pattern->bones;
	if (codec)
		how.names = naming_get(s->naming, codec->format);
	how.hints.bone_names = naming_table_names(how.names);
	return how;
}

/* ---- a file ---- */

struct source {
	struct store *store;
	pthread_mutex_t work;  /* held while the file is read and decoded, or replaced */
	pthread_mutex_t facts; /* of what follows, held for moments */
	char *folder, *name;
	/* What `current` and `verdict` are about, where either is there. */
	struct file_version version;
	bool settled; /* a later write would show as another version */
	struct err *verdict;
	struct snap *current; /* the cache's: cache_take, cache_settle */
};

static bool copy_names(const char *folder, const char *name, char **folder_copy, char **name_copy)
{
	*folder_copy = strdup(folder);
	*name_copy = strdup(name);
	if (*folder_copy && *name_copy)
		return true;
	free(*folder_copy);
	free(*name_copy);
	return false;
}

struct source *source_new(struct store *store, const char *folder, const char *name)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (!copy_names(folder, name, &s->folder, &s->name)) {
		free(s);
		return NULL;
	}
	s->store = store;
	pthread_mutex_init(&s->work, NULL);
	pthread_mutex_init(&s->facts, NULL);
	return s;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	cache_settle(s->store->cache, &s->current, NULL);
	pthread_mutex_destroy(&s->work);
	pthread_mutex_destroy(&s->facts);
	free(s->verdict);
	free(s->folder);
	free(s->name);
	free(s);
}

/* Another name may mean another codec and other reserved names, so nothing known stays true. */
bool source_renamed(struct source *s, const char *folder, const char *name)
{
	char *new_folder, *new_name;

	if (!copy_names(folder, name, &new_folder, &new_name))
		return false;
	pthread_mutex_lock(&s->work);
	pthread_mutex_lock(&s->facts);
	free(s->folder);
	free(s->name);
	s->folder = new_folder;
	s->name = new_name;
	free(s->verdict);
	s->verdict = NULL;
	cache_settle(s->store->cache, &s->current, NULL);
	pthread_mutex_unlock(&s->facts);
	pthread_mutex_unlock(&s->work);
	return true;
}

/* ---- reading ---- */

/* What was read of the file, and whether its version tells it from all that can follow. */
struct reading {
	struct buf bytes;
	struct file_version version;
	bool settled;
};

static bool file_stat(int dir, const char *name, struct file_version *version, struct err *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_system(err, errno, name);
	if (!S_ISREG(st.st_mode))
		return err_system(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, name);
	*version = file_version_of(&st);
	return true;
}

/* Once through the file; *whole tells whether nobody wrote meanwhile. */
static bool read_once(const struct source *s, int dir, struct reading *r, bool *whole,
		      struct err *err)
{
	struct file_version after;
	struct timespec now;
	struct stat st;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	error = at_read(dir, s->name, s->store->options.max_file, &r->bytes, &st);
	if (error && error != EFBIG)
		return err_system(err, error, s->name);
	if (!file_stat(dir, s->name, &after, err))
		return false;
	r->version = file_version_of(&st);
	r->settled = file_version_settled(&r->version, &now);
	*whole = file_version_same(&r->version, &after);
	if (error && *whole)
		return err_set(err, ERR_FORMAT, "the file is larger than %zu bytes, the limit",
			       s->store->options.max_file);
	return true;
}

#define READ_TRIES 8

/* A file that is too large has its version filled in all the same. */
static bool read_file(const struct source *s, int dir, struct reading *r, struct err *err)
{
	for (unsigned i = 0; i < READ_TRIES; i++) {
		bool whole = false;

		buf_clear(&r->bytes);
		if (!read_once(s, dir, r, &whole, err))
			return false;
		if (whole)
			return true;
	}
	return err_system(err, EAGAIN, s->name);
}

/*
 * When its curves last changed, told from the version before where that is still known. Out of
 * memory the views only look younger than they are.
 */
static void set_ages(struct source *s, struct snap *snap, struct timespec mtime)
{
	struct snap *before = cache_take(s->store->cache, &s->current);

	if (before != snap)
		ages_init(&snap->ages, snap->anim, mtime, before);
	snap_put(before);
}

/* All facts at once; verdict and snap are taken over, and one of them may be there. */
static void publish(struct source *s, const struct file_version *version, bool settled,
		    struct err *verdict, struct snap *snap)
{
	if (snap && !snap->ages.at)
		set_ages(s, snap, version->mtime);
	pthread_mutex_lock(&s->facts);
	s->version = *version;
	s->settled = settled;
	free(s->verdict);
	s->verdict = verdict;
	cache_settle(s->store->cache, &s->current, snap);
	pthread_mutex_unlock(&s->facts);
}

static void tell(struct err *to, const struct err *from)
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

static bool is_known(const struct source *s, const struct file_version *version)
{
	return s->settled && file_version_same(version, &s->version);
}

/* What is known of this version, if its bones are still called so. */
static struct snap *take_current(struct source *s)
{
	struct snap *snap = cache_take(s->store->cache, &s->current);
	struct naming_table *names;
	bool same;

	if (!snap || !naming_concerns(snap->codec->format))
		return snap;
	names = naming_get(s->store->naming, snap->codec->format);
	same = names == snap->names;
	naming_table_put(names);
	if (same)
		return snap;
	snap_put(snap);
	return NULL;
}

/* True when there is an answer without reading the file: a snap, or NULL and err. */
static bool recall(struct source *s, int dir, struct snap **snap, struct err *err)
{
	struct file_version version;
	bool answer = true;

	*snap = NULL;
	pthread_mutex_lock(&s->facts);
	if (!file_stat(dir, s->name, &version, err))
		goto done;
	if (is_known(s, &version) && s->verdict)
		tell(err, s->verdict);
	else if (is_known(s, &version))
		answer = (*snap = take_current(s)) != NULL;
	else
		answer = false;
done:
	pthread_mutex_unlock(&s->facts);
	return answer;
}

/* True when the file does not say all that reading it takes: then a model beside it is asked. */
static bool ask_model(const struct source *s, int dir, const struct codec *codec,
		      struct bytes bytes, struct decoding *how)
{
	if (how->hints.bones || !codec || !codec->incomplete || !codec->incomplete(bytes))
		return false;
	how->hints.bones = model_bones(dir, s->name);
	return true;
}

static struct snap *decode(const struct source *s, int dir, struct reading *r, struct err *err)
{
	const struct codec *codec = NULL;
	struct decoding how;
	struct snap *snap;
	bool probe;

	if (!store_claims(s->store, s->name, &codec, &probe) || probe)
		codec = codec_probe(buf_bytes(&r->bytes));
	how = store_decoding(s->store, s->name, codec);
	/* A model may come at any time: a refusal for the lack of it is not for good. */
	if (ask_model(s, dir, codec, buf_bytes(&r->bytes), &how))
		r->settled = false;
	snap = snap_of_bytes(codec, &r->bytes, s->name, &how, err);
	naming_table_put(how.names);
	return snap;
}

/*
 * A file whose bytes stayed (chmod, link, rename, a write of the same) is no other version: what
 * was decoded stays, and with it what the kernel remembers.
 */
static struct snap *unchanged(struct source *s, const struct reading *r)
{
	struct snap *snap = take_current(s);

	if (snap && bytes_equal(buf_bytes(&snap->bytes), buf_bytes(&r->bytes)))
		return snap;
	snap_put(snap);
	return NULL;
}

/* With `work` held, whatever is known. */
static struct snap *read_again(struct source *s, int dir, struct err *err)
{
	struct reading r = {.bytes = BUF_INIT};
	struct err why = {.code = ERR_NONE};
	struct snap *snap = NULL;

	if (read_file(s, dir, &r, &why)) {
		snap = unchanged(s, &r);
		if (!snap)
			snap = decode(s, dir, &r, &why);
	}
	if (snap)
		publish(s, &r.version, r.settled, NULL, snap);
	else
		condemn(s, &r, &why);
	tell(err, &why);
	buf_release(&r.bytes);
	return snap;
}

/* With `work` held. */
static struct snap *latest(struct source *s, int dir, struct err *err)
{
	struct snap *snap;

	return recall(s, dir, &snap, err) ? snap : read_again(s, dir, err);
}

struct snap *source_get(struct source *s, int dir, struct err *err)
{
	struct snap *snap;

	if (recall(s, dir, &snap, err))
		return snap;
	pthread_mutex_lock(&s->work);
	snap = latest(s, dir, err);
	pthread_mutex_unlock(&s->work);
	return snap;
}

/* ---- committing ---- */

struct commit_job {
	struct source *source;
	int dir;
	const struct snap *base;
	const struct anim *edited, *last;
	const struct bytes *whole;
	struct snap *current, *result; /* each with a holder */
	struct buf bytes;              /* of result, until it is made */
	int wait;                      /* errno of replace_file that says: try again */
};

/* The bytes are result's own, and result is named and decoded as the file will be. */
static bool decode_result(struct commit_job *job, struct err *err)
{
	const struct source *s = job->source;
	const struct codec *codec = job->current->codec;
	struct decoding how = store_decoding(s->store, s->name, codec);

	ask_model(s, job->dir, codec, buf_bytes(&job->bytes), &how);
	job->result = snap_of_bytes(codec, &job->bytes, s->name, &how, err);
	naming_table_put(how.names);
	return job->result != NULL;
}

static bool encode_merged(struct commit_job *job, const struct anim *merged, struct err *err)
{
	const struct snap *current = job->current;
	struct err why = {.code = ERR_NONE};

	if (!current->codec->encode(merged, buf_bytes(&current->bytes), &job->bytes, err))
		return job->bytes.failed ? err_memory(err) : false;
	if (bytes_equal(buf_bytes(&job->bytes), buf_bytes(&current->bytes)))
		job->result = snap_get(job->current);
	else if (!decode_result(job, &why))
		return why.code == ERR_MEMORY ? err_memory(err)
					      : err_set(err, ERR_STORE,
							"the format cannot hold this edit exactly: "
							"the result does not decode: %s",
							why.message);
	return anim_stored(merged, current->anim, job->result->anim, err);
}

static bool prepare_edit(struct commit_job *job, struct err *err)
{
	struct anim *merged =
		anim_merge(job->base->anim, job->edited, job->last, job->current->anim, err);
	bool done;

	if (!merged)
		return false;
	done = encode_merged(job, merged, err);
	anim_free(merged);
	return done;
}

/* All of the file at once: nothing of what others saved would be left. */
static bool prepare_whole(struct commit_job *job, struct err *err)
{
	struct bytes now = buf_bytes(&job->current->bytes);

	if (bytes_equal(*job->whole, now)) {
		job->result = snap_get(job->current);
		return true;
	}
	if (!bytes_equal(now, buf_bytes(&job->base->bytes)) && job->last != job->current->anim)
		return err_set(err, ERR_CONFLICT, "somebody else changed the file in the meantime");
	buf_add(&job->bytes, job->whole->data, job->whole->size);
	if (job->bytes.failed)
		return err_memory(err);
	return decode_result(job, err);
}

/* Puts the result in the place of the current file. */
static bool put_result(struct commit_job *job, struct err *err)
{
	struct source *s = job->source;
	struct state *state = s->store->state;
	char temporary[STATE_TEMPORARY_SIZE];
	struct file_version now;
	int error = state_temporary(state, s->folder, temporary, sizeof(temporary));

	if (error)
		return err_system(err, error, "the state directory");
	error = replace_file(job->dir, s->name, &s->version, temporary,
			     buf_bytes(&job->result->bytes), &now);
	state_temporary_gone(state, s->folder);
	if (error == EAGAIN || error == EBUSY)
		job->wait = error;
	if (error)
		return err_system(err, error, s->name);
	publish(s, &now, false, NULL, job->result);
	return true;
}

/* With the locks held. */
static bool commit_locked(struct commit_job *job, struct err *err)
{
	job->current = latest(job->source, job->dir, err);
	if (!job->current)
		return false;
	if (job->whole ? !prepare_whole(job, err) : !prepare_edit(job, err))
		return false;
	return job->result == job->current || put_result(job, err);
}

static enum commit commit_once(struct commit_job *job, struct err *err)
{
	struct source *s = job->source;
	enum commit outcome = COMMIT_REFUSED;
	int error;

	job->wait = 0;
	pthread_mutex_lock(&s->work);
	error = state_lock(s->store->state);
	if (error) {
		err_system(err, error, "the state directory");
	} else {
		if (commit_locked(job, err))
			outcome = job->result == job->current ? COMMIT_SAME : COMMIT_DONE;
		state_unlock(s->store->state);
	}
	pthread_mutex_unlock(&s->work);
	return outcome;
}

static void job_clear(struct commit_job *job)
{
	snap_put(job->current);
	snap_put(job->result);
	job->current = job->result = NULL;
	buf_release(&job->bytes);
}

static int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 * MILLISECOND + now.tv_nsec;
}

#define COMMIT_TRIES 16
#define BUSY_LIMIT (1000 * MILLISECOND)
#define BUSY_STEP (20 * MILLISECOND)

/* After a try that met another program: is there to be one more? Waits, with no lock held. */
static bool try_again(int wait, int64_t begin, unsigned tries, struct err *err)
{
	const struct timespec step = {.tv_nsec = BUSY_STEP};

	if (wait == EAGAIN && tries < COMMIT_TRIES)
		return true;
	if (wait == EBUSY && clock_now() - begin < BUSY_LIMIT) {
		nanosleep(&step, NULL);
		return true;
	}
	return err_set(err, ERR_CONFLICT,
		       wait == EBUSY ? "another program has the file open for writing"
				     : "other programs keep changing the file");
}

enum commit source_commit(struct source *s, int dir, struct snap *base, const struct anim *edited,
			  const struct anim *last, const struct bytes *whole, struct snap **now,
			  struct err *err)
{
	struct commit_job job = {.source = s,
				 .dir = dir,
				 .base = base,
				 .edited = edited,
				 .last = last,
				 .whole = whole};
	const int64_t begin = clock_now();
	struct err why = {.code = ERR_NONE};
	enum commit outcome = COMMIT_REFUSED;

	*now = NULL;
	if (!s->store->state) {
		err_system(err, EROFS, s->name);
		return COMMIT_REFUSED;
	}
	for (unsigned tries = 1;; tries++) {
		outcome = commit_once(&job, &why);
		if (outcome != COMMIT_REFUSED || !job.wait)
			break;
		err_clear(&why);
		job_clear(&job);
		if (!try_again(job.wait, begin, tries, &why))
			break;
	}
	if (outcome != COMMIT_REFUSED)
		*now = snap_get(job.result);
	job_clear(&job);
	tell(err, &why);
	return outcome;
}
