/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source.h"
#include "loss.h"
#include "model.h"
#include "replace.h"
#include "slow.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define MILLISECOND ((int64_t)1000000) /* in ns */

/* ---- the store ---- */

struct store {
	struct store_options options;
	struct state *state;
	struct cache *cache;
	struct naming *naming; /* may be NULL */
	rest_told *rest_told;  /* may be NULL */
	void *rest_closure;
	const struct guard *guard; /* may be NULL */
	bool keeps_replaced;
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
	naming_guard(s->naming, s->guard);
	return s->naming != NULL;
}

void store_rests(struct store *s, rest_told *told, void *closure)
{
	s->rest_told = told;
	s->rest_closure = closure;
}

void store_guard(struct store *s, const struct guard *guard)
{
	s->guard = guard;
	naming_guard(s->naming, guard);
}

void store_keep_replaced(struct store *s)
{
	s->keeps_replaced = true;
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
	struct decoding how = {.rotations = s->options.rotations, .style = s->options.style};
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

#define KEPT_MAX 64
#define KEPT_SIZE ((size_t)16 << 20) /* of all together; the last one stays whatever its size */

struct source {
	struct store *store;
	pthread_mutex_t work;  /* held while the file is read and decoded, or replaced */
	pthread_mutex_t facts; /* of what follows, held for moments */
	char *folder;
	char *name; /* changes with `work` held, too */
	/* What `current` and `verdict` are about, where either is there. */
	struct file_version version;
	bool settled; /* a later write would show as another version */
	struct err *verdict;
	struct snap *current; /* the cache's: cache_take, cache_settle */
	/* Those before it, the latest last, where the store keeps them. */
	struct snap **kept;
	size_t kept_room;
	_Atomic unsigned kept_count; /* nearly always 0, which is asked for often */
	struct rest rest;            /* where the skeleton of `current` was found */
};

/* What has to go for it, in gone; returns how many. With `facts` held. */
static unsigned keep_replaced(struct source *s, struct snap *replaced, struct snap **gone)
{
	size_t size = replaced->size;
	unsigned first = s->kept_count;
	struct snap **kept = array_room(s->kept, s->kept_count, &s->kept_room, sizeof(*kept));

	if (!kept) {
		gone[0] = replaced;
		return 1;
	}
	s->kept = kept;
	while (first && s->kept_count - first < KEPT_MAX - 1 &&
	       size + s->kept[first - 1]->size <= KEPT_SIZE)
		size += s->kept[--first]->size;
	for (unsigned i = 0; i < first; i++)
		gone[i] = s->kept[i];
	s->kept_count -= first;
	memmove(s->kept, s->kept + first, s->kept_count * sizeof(*s->kept));
	s->kept[s->kept_count++] = replaced;
	return first;
}

struct snap *source_replaced(struct source *s, uint32_t generation)
{
	struct snap *snap = NULL;

	if (!s->kept_count)
		return NULL;
	pthread_mutex_lock(&s->facts);
	for (unsigned i = 0; i < s->kept_count && !snap; i++) {
		if ((uint32_t)s->kept[i]->generation == generation)
			snap = snap_get(s->kept[i]);
	}
	pthread_mutex_unlock(&s->facts);
	return snap;
}

void source_keep(struct source *s, struct snap *replaced)
{
	struct snap *gone[KEPT_MAX];
	unsigned at = 0, count = 0;

	pthread_mutex_lock(&s->facts);
	while (at < s->kept_count && s->kept[at] != replaced)
		at++;
	if (at == s->kept_count && s->store->keeps_replaced)
		count = keep_replaced(s, snap_get(replaced), gone);
	pthread_mutex_unlock(&s->facts);
	while (count)
		snap_put(gone[--count]);
}

void source_told(struct source *s, uint64_t generation)
{
	struct snap *gone[KEPT_MAX];
	unsigned count = 0, left = 0;

	if (!s->kept_count)
		return;
	pthread_mutex_lock(&s->facts);
	for (unsigned i = 0; i < s->kept_count; i++) {
		if (s->kept[i]->generation == generation)
			s->kept[left++] = s->kept[i];
		else
			gone[count++] = s->kept[i];
	}
	s->kept_count = left;
	if (!left) {
		free(s->kept);
		s->kept = NULL;
		s->kept_room = 0;
	}
	pthread_mutex_unlock(&s->facts);
	while (count)
		snap_put(gone[--count]);
}

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
	source_told(s, 0);
	cache_settle(s->store->cache, &s->current, NULL);
	pthread_mutex_destroy(&s->work);
	pthread_mutex_destroy(&s->facts);
	rest_release(&s->rest);
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
	slow_lock(&s->work);
	pthread_mutex_lock(&s->facts);
	free(s->folder);
	free(s->name);
	s->folder = new_folder;
	s->name = new_name;
	free(s->verdict);
	s->verdict = NULL;
	rest_release(&s->rest);
	cache_settle(s->store->cache, &s->current, NULL);
	pthread_mutex_unlock(&s->facts);
	pthread_mutex_unlock(&s->work);
	return true;
}

bool source_moved(struct source *s, const char *folder)
{
	char *copy = strdup(folder), *old;

	if (!copy)
		return false;
	pthread_mutex_lock(&s->facts);
	old = s->folder;
	s->folder = copy;
	pthread_mutex_unlock(&s->facts);
	free(old);
	return true;
}

/* The path of its folder as it is now; the caller frees it. NULL when out of memory. */
static char *folder_of(struct source *s)
{
	char *folder;

	pthread_mutex_lock(&s->facts);
	folder = strdup(s->folder);
	pthread_mutex_unlock(&s->facts);
	return folder;
}

/* Of a file beside it, from SOURCE; the caller frees it. */
static char *path_of(struct source *s, const char *name)
{
	char *folder = folder_of(s), *path;

	if (!folder || asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		path = NULL;
	free(folder);
	return path;
}

/* ---- reading ---- */

/* What was read of the file, and whether its version tells it from all that can follow. */
struct reading {
	struct rest rest;
	struct buf bytes;
	struct file_version version;
	bool settled;
};

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
static bool read_once(const struct source *s, int dir, struct reading *r, bool *whole,
		      struct err *err)
{
	struct file_version after;
	struct timespec now;
	struct stat st, st_after;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	error = at_read(dir, s->name, s->store->options.max_file, &r->bytes, &st);
	if (error && error != EFBIG)
		return err_system(err, error, s->name);
	if (!file_stat(dir, s->name, &st_after, err))
		return false;
	after = file_version_of(&st_after);
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
 * When its curves last changed, told from the version before where that is still known, and from
 * the edit of it that was stored, if that is known. Out of memory the views only look younger than
 * they are.
 */
static void set_ages(struct source *s, struct snap *snap, struct timespec mtime,
		     const struct anim *edit)
{
	struct snap *before = cache_take(s->store->cache, &s->current);

	if (before != snap && ages_init(&snap->ages, snap->anim, mtime, before, edit))
		snap->size += snap->ages.size;
	if (before && before != snap && edit && snap->rest == before->rest &&
	    edit->fields == before->anim->fields)
		snap->ages.since = before->generation;
	snap_put(before);
}

/* All facts at once; verdict and snap are taken over, and one of them may be there. */
static void publish(struct source *s, const struct file_version *version, bool settled,
		    struct err *verdict, struct snap *snap)
{
	struct snap *before = NULL, *gone[KEPT_MAX];
	unsigned count = 0;

	if (snap && !snap->ages.at)
		set_ages(s, snap, version->mtime, NULL);
	pthread_mutex_lock(&s->facts);
	s->version = *version;
	s->settled = settled;
	free(s->verdict);
	s->verdict = verdict;
	if (s->store->keeps_replaced)
		before = cache_take(s->store->cache, &s->current);
	cache_settle(s->store->cache, &s->current, snap);
	if (before == snap)
		gone[count++] = before;
	else if (before)
		count = keep_replaced(s, before, gone);
	pthread_mutex_unlock(&s->facts);
	while (count)
		snap_put(gone[--count]);
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

static bool has_same_names(const struct source *s, const struct snap *snap)
{
	struct naming_table *names;
	bool same;

	if (!naming_concerns(snap->codec->format))
		return true;
	names = naming_get(s->store->naming, snap->codec->format);
	same = names == snap->names;
	naming_table_put(names);
	return same;
}

static bool has_same_rest(struct source *s, int dir, const struct snap *snap)
{
	const struct format *format = snap->codec->format;

	return format->stills || rest_same(&s->rest, dir, s->name, format, s->store->guard);
}

/*
 * What is known of this version, if its bones are still called so and rest so. With `facts` held.
 */
static struct snap *take_current(struct source *s, int dir)
{
	struct snap *snap = cache_take(s->store->cache, &s->current);

	if (snap && has_same_names(s, snap) && has_same_rest(s, dir, snap))
		return snap;
	snap_put(snap);
	return NULL;
}

/* True when there is an answer without reading the file: a snap, or NULL and err. */
static bool recall(struct source *s, int dir, struct snap **snap, struct stat *st, struct err *err)
{
	struct file_version version;
	bool answer = true;

	*snap = NULL;
	pthread_mutex_lock(&s->facts);
	if (!file_stat(dir, s->name, st, err))
		goto done;
	version = file_version_of(st);
	if (is_known(s, &version) && s->verdict)
		tell(err, s->verdict);
	else if (is_known(s, &version))
		answer = (*snap = take_current(s, dir)) != NULL;
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
	how->hints.bones = model_bones(dir, s->name, s->store->guard);
	return true;
}

static void tell_rest(void *closure, const char *name, const char *fault)
{
	struct source *s = closure;
	char *path = path_of(s, name);

	if (path)
		s->store->rest_told(s->store->rest_closure, path, fault);
	free(path);
}

/* Whoever asks for the source meanwhile finds that it is to be read again, and waits for that. */
static void load_rest(struct source *s, int dir, const struct codec *codec, struct reading *r,
		      struct decoding *how)
{
	const struct guard *guard = s->store->guard;

	if (!codec || codec->format->stills)
		return;
	pthread_mutex_lock(&s->facts);
	r->rest = s->rest;
	s->rest = (struct rest){.looked = false};
	pthread_mutex_unlock(&s->facts);
	how->rest = rest_load(&r->rest, dir, s->name, codec->format, guard,
			      s->store->rest_told ? tell_rest : NULL, s);
	/* What was asked is who may read the file that has the name now, which is not this one. */
	if (guard && !file_version_same(&r->rest.animation, &r->version)) {
		rest_skeleton_put(how->rest);
		how->rest = NULL;
		r->rest.looked = false;
	}
}

static void keep_rest(struct source *s, struct reading *r)
{
	pthread_mutex_lock(&s->facts);
	rest_release(&s->rest);
	s->rest = r->rest;
	pthread_mutex_unlock(&s->facts);
}

static struct snap *decode(struct source *s, int dir, struct reading *r, struct err *err)
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
	load_rest(s, dir, codec, r, &how);
	snap = snap_of_bytes(codec, &r->bytes, s->name, &how, err);
	keep_rest(s, r);
	rest_skeleton_put(how.rest);
	naming_table_put(how.names);
	return snap;
}

/*
 * A file whose bytes stayed (chmod, link, rename, a write of the same) is no other version: what
 * was decoded stays, and with it what the kernel remembers.
 */
static struct snap *unchanged(struct source *s, int dir, const struct reading *r)
{
	struct snap *snap;

	pthread_mutex_lock(&s->facts);
	snap = take_current(s, dir);
	pthread_mutex_unlock(&s->facts);
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
		snap = unchanged(s, dir, &r);
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
static struct snap *latest_seen(struct source *s, int dir, struct stat *st, struct err *err)
{
	struct snap *snap;

	return recall(s, dir, &snap, st, err) ? snap : read_again(s, dir, err);
}

static struct snap *latest(struct source *s, int dir, struct err *err)
{
	struct stat st;

	return latest_seen(s, dir, &st, err);
}

/* The next look reads the file, whatever its times say. */
static void forget_version(struct source *s)
{
	pthread_mutex_lock(&s->facts);
	s->settled = false;
	s->rest.settled = false;
	pthread_mutex_unlock(&s->facts);
}

/* Does the file hold these bytes, whatever its times say? */
static bool holds(const struct source *s, int dir, struct bytes bytes)
{
	int fd, error = at_open(dir, s->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);

	if (error)
		return false;
	error = at_compare(fd, bytes);
	close(fd);
	return !error;
}

bool source_is_read(struct source *s, const struct stat *st)
{
	struct file_version version = file_version_of(st);
	bool same;

	pthread_mutex_lock(&s->facts);
	same = is_known(s, &version);
	pthread_mutex_unlock(&s->facts);
	return same;
}

struct snap *source_last(struct source *s)
{
	struct snap *snap;

	pthread_mutex_lock(&s->facts);
	snap = cache_take(s->store->cache, &s->current);
	pthread_mutex_unlock(&s->facts);
	return snap;
}

struct snap *source_look(struct source *s, int dir, struct stat *st, struct err *err)
{
	struct snap *snap;

	if (recall(s, dir, &snap, st, err))
		return snap;
	slow_begin();
	pthread_mutex_lock(&s->work);
	snap = latest_seen(s, dir, st, err);
	pthread_mutex_unlock(&s->work);
	slow_end();
	return snap;
}

bool source_is_known(struct source *s, int dir)
{
	struct snap *snap;
	struct stat st;
	bool known = recall(s, dir, &snap, &st, NULL);

	snap_put(snap);
	return known;
}

struct snap *source_get(struct source *s, int dir, struct err *err)
{
	struct stat st;

	return source_look(s, dir, &st, err);
}

/* ---- committing ---- */

struct commit_job {
	struct source *source;
	int dir;
	const struct codec *codec;
	const struct snap *base;
	const struct anim *edited, *last;
	const struct committed *before; /* by the same draft; NULL for one that commits once */
	const struct bytes *whole;
	const struct attributes *as;                     /* of a file that is made; may be NULL */
	const struct skeleton *skeleton, *last_skeleton; /* in place of edited and last */
	const struct caller *who;                        /* skeleton: of the guard */
	struct snap *current, *result;                   /* each with a holder */
	struct snap *ground; /* what the edit is stored over, with a holder */
	struct anim *merged; /* what result was made of, edited from ground's model */
	struct buf bytes;    /* of result, until it is made */
	bool is_grounded;    /* ground is the file without what the draft committed */
	bool loses;          /* keys, bones or clips, on the way from current to result */
	bool made;           /* skeleton: the text is new */
	int wait;            /* errno of replace_file that says: try again */
};

/* The bytes are taken over; the snap is named and decoded as the file will be. */
static struct snap *decode_bytes(const struct commit_job *job, struct buf *bytes, struct err *err)
{
	const struct source *s = job->source;
	struct decoding how = store_decoding(s->store, s->name, job->codec);
	struct snap *snap;

	ask_model(s, job->dir, job->codec, buf_bytes(bytes), &how);
	how.rest = job->current ? job->current->rest : NULL;
	snap = snap_of_bytes(job->codec, bytes, s->name, &how, err);
	naming_table_put(how.names);
	return snap;
}

static bool decode_result(struct commit_job *job, struct err *err)
{
	job->result = decode_bytes(job, &job->bytes, err);
	return job->result != NULL;
}

/* What cannot be read again is not what was wanted. */
static bool decode_encoded(struct commit_job *job, struct err *err)
{
	struct err why = {.code = ERR_NONE};

	if (decode_result(job, &why))
		return true;
	return why.code == ERR_MEMORY
		       ? err_memory(err)
		       : err_set(err, ERR_STORE,
				 "the format cannot hold this edit exactly: the result does not "
				 "decode: %s",
				 why.message);
}

static bool same_bytes(const struct snap *a, const struct snap *b)
{
	return a == b || bytes_equal(buf_bytes(&a->bytes), buf_bytes(&b->bytes));
}

/* Of a model that was edited from ground's. */
static bool encode_model(struct commit_job *job, const struct anim *model, struct err *err)
{
	const struct snap *ground = job->ground;

	if (!job->codec->encode(model, buf_bytes(&ground->bytes), &job->bytes, err))
		return job->bytes.failed ? err_memory(err) : false;
	if (bytes_equal(buf_bytes(&job->bytes), buf_bytes(&job->current->bytes))) {
		job->result = snap_get(job->current);
	} else {
		if (!decode_encoded(job, err))
			return false;
		job->result->lineage = job->current->lineage;
	}
	return anim_stored(model, ground->anim, job->result->anim, err);
}

/* ---- what an edit of a draft is stored over ---- */

/* The edit that leads from `base` to `edited`, made in `on`. False where it cannot be. */
static bool apply(const struct commit_job *job, const struct anim *base, const struct anim *edited,
		  const struct snap *on, struct buf *bytes)
{
	struct err why = {.code = ERR_NONE};
	struct anim *merged = anim_merge(base, edited, NULL, on->anim, &why);
	bool done = merged && job->codec->encode(merged, buf_bytes(&on->bytes), bytes, &why) &&
		    !bytes->failed;

	anim_free(merged);
	return done;
}

/* Is the file what the draft's last commit makes of this ground? */
static bool leads_to_current(const struct commit_job *job, const struct snap *ground)
{
	struct buf bytes = BUF_INIT;
	bool same = apply(job, job->base->anim, job->before->edited, ground, &bytes) &&
		    bytes_equal(buf_bytes(&bytes), buf_bytes(&job->current->bytes));

	buf_release(&bytes);
	return same;
}

/*
 * What others saved since the draft's last commit, made in its ground. NULL where that cannot be
 * told: a model says all that changed where it was edits of models that changed the file; else the
 * file itself must be what comes of it.
 */
static struct snap *move_ground(const struct commit_job *job)
{
	const struct committed *before = job->before;
	struct err why = {.code = ERR_NONE};
	struct buf bytes = BUF_INIT;
	struct snap *ground = NULL;

	if (anim_same_names(before->saved->anim, job->current->anim) &&
	    apply(job, before->saved->anim, job->current->anim, before->ground, &bytes))
		ground = decode_bytes(job, &bytes, &why);
	buf_release(&bytes);
	if (ground && before->saved->lineage != job->current->lineage &&
	    !leads_to_current(job, ground)) {
		snap_put(ground);
		return NULL;
	}
	if (ground)
		ground->lineage = job->current->lineage;
	return ground;
}

/* With a holder; NULL where the draft has committed, and what was there without it is lost. */
static struct snap *find_ground(const struct commit_job *job)
{
	const struct committed *before = job->before;

	if (!before || !before->saved)
		return job->last ? NULL : snap_get(job->current);
	if (!before->ground || before->ground->codec != job->codec)
		return NULL;
	if (same_bytes(job->current, before->saved))
		return snap_get(before->ground);
	if (same_bytes(before->ground, before->saved))
		return snap_get(job->current);
	return move_ground(job);
}

static bool prepare_edit(struct commit_job *job, struct err *err)
{
	const struct anim *last = NULL;

	job->ground = find_ground(job);
	job->is_grounded = job->ground != NULL;
	if (!job->ground) {
		job->ground = snap_get(job->current);
		last = job->last;
	}
	job->merged = anim_merge(job->base->anim, job->edited, last, job->ground->anim, err);
	if (!job->merged || !encode_model(job, job->merged, err))
		return false;
	job->loses = job->ground == job->current
			     ? anim_loses(job->current->anim, job->merged, true)
			     : anim_loses(job->current->anim, job->result->anim, false);
	return true;
}

/* All of the file at once: nothing of what others saved would be left. */
static bool prepare_whole(struct commit_job *job, struct err *err)
{
	struct bytes now = buf_bytes(&job->current->bytes);

	if (bytes_equal(*job->whole, now)) {
		job->result = snap_get(job->current);
		return true;
	}
	if (!bytes_equal(now, buf_bytes(&job->base->bytes)) && job->last != job->current->anim &&
	    !(job->before && job->before->saved && same_bytes(job->current, job->before->saved)))
		return err_set(err, ERR_CONFLICT, "somebody else changed the file in the meantime");
	buf_add(&job->bytes, job->whole->data, job->whole->size);
	if (job->bytes.failed)
		return err_memory(err);
	if (!decode_result(job, err))
		return false;
	job->loses = anim_loses(job->current->anim, job->result->anim, false);
	return true;
}

/* ---- what is removed is kept ---- */

/* Attributes that cannot be read are not kept. */
static int keep(const struct source *s, int dir, const char *name, const char *path,
		struct bytes bytes)
{
	const struct store *store = s->store;
	int like = -1, error;

	(void)at_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &like);
	error = backup_keep(store->state, store->options.backup, path, like, bytes);
	if (like >= 0)
		close(like);
	return error;
}

/* Puts the result in the place of this version of the file; NULL: where none is. */
static bool put_result(struct commit_job *job, const struct file_version *expect, struct err *err)
{
	struct source *s = job->source;
	struct state *state = s->store->state;
	struct bytes was = {NULL, 0};
	char temporary[STATE_TEMPORARY_SIZE];
	char *folder = folder_of(s);
	struct file_version now;
	bool settled;
	int error = folder ? state_temporary(state, folder, temporary, sizeof(temporary)) : ENOMEM;

	if (error) {
		free(folder);
		return err_system(err, error, "the state directory");
	}
	if (expect)
		was = buf_bytes(&job->current->bytes);
	error = expect ? replace_file(job->dir, s->name, expect, &was, temporary,
				      buf_bytes(&job->result->bytes), &now, &settled)
		       : replace_new(job->dir, s->name, job->as, temporary,
				     buf_bytes(&job->result->bytes), &now, &settled);
	/* One that could not be removed stays listed, and a later mount removes it. */
	if (faccessat(job->dir, temporary, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		state_temporary_gone(state, folder);
	free(folder);
	if (error == EAGAIN || error == EBUSY)
		job->wait = error;
	if (error)
		return err_system(err, error, s->name);
	set_ages(s, job->result, now.mtime, job->ground == job->current ? job->merged : NULL);
	publish(s, &now, settled, NULL, job->result);
	return true;
}

static bool put_with_backup(struct commit_job *job, const struct file_version *expect,
			    struct err *err)
{
	struct source *s = job->source;
	char *path = path_of(s, s->name);
	int error =
		path ? keep(s, job->dir, s->name, path, buf_bytes(&job->current->bytes)) : ENOMEM;
	bool done = error ? err_system(err, error, "the backup in the state directory")
			  : put_result(job, expect, err);

	if (done)
		backup_removed(s->store->state, path);
	free(path);
	return done;
}

/*
 * Times tell the versions of a file apart only if they are fine enough and nobody sets them back;
 * bytes do. replace_file compares them, too, but where times are coarse it had better not be needed
 * for that.
 */
static struct snap *latest_by_bytes(struct source *s, int dir, struct err *err)
{
	struct snap *snap = latest(s, dir, err);

	if (!snap || !file_version_coarse(&s->version) || holds(s, dir, buf_bytes(&snap->bytes)))
		return snap;
	snap_put(snap);
	forget_version(s);
	return latest(s, dir, err);
}

/* With the locks held. A verdict about bytes that are there no more is none. */
static bool commit_file(struct commit_job *job, struct err *err)
{
	bool fine;

	job->current = latest_by_bytes(job->source, job->dir, err);
	if (!job->current)
		return false;
	job->codec = job->current->codec;
	fine = job->whole ? prepare_whole(job, err) : prepare_edit(job, err);
	if (fine && job->result != job->current)
		return job->loses ? put_with_backup(job, &job->source->version, err)
				  : put_result(job, &job->source->version, err);
	if (holds(job->source, job->dir, buf_bytes(&job->current->bytes)))
		return fine;
	job->wait = EAGAIN;
	return false;
}

/* ---- the skeleton beside it ---- */

/* Is a joint of `old` not known any more? */
static bool skeleton_loses(const struct skeleton *old, const struct skeleton *now)
{
	for (uint32_t i = 0; old && i < old->count; i++) {
		if (!skeleton_joint(now, old->joints[i].bone))
			return true;
	}
	return false;
}

/*
 * Who a new one belongs to. Where somebody else asks for it than the owner of `like`, it is his,
 * and of the group of `like` if he, or the folder, could give it that.
 */
static int choose_owner(const struct commit_job *job, int like, struct replace_owner *owner)
{
	const struct caller *who = job->who;
	struct stat st, folder;

	if (fstat(like, &st) || fstat(job->dir, &folder))
		return errno;
	*owner = (struct replace_owner){st.st_uid, st.st_gid};
	if (!who || who->uid == 0)
		return 0;
	owner->uid = who->uid;
	if (!caller_in_group(who, st.st_gid))
		owner->gid = folder.st_mode & S_ISGID ? folder.st_gid : who->groups[0];
	return 0;
}

/* A new one is as the file is to everybody: mode, ACLs, and owner where that can be. */
static int put_new_text(const struct commit_job *job, const char *name, const char *temporary)
{
	struct replace_owner owner;
	int like, error = at_open(job->dir, job->source->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				  &like);

	if (error)
		return error;
	error = choose_owner(job, like, &owner);
	if (!error)
		error = replace_copy(job->dir, name, job->dir, temporary, false, like, &owner,
				     buf_bytes(&job->bytes));
	close(like);
	return error;
}

/* The text that is there, as `latest` found it. */
struct text_there {
	struct file_version version;
	uint64_t hash;
	bool faulty;
};

/* Over `old`, which holds the bytes `was`; NULL: there is none. */
static int put_text(struct commit_job *job, const char *name, const struct text_there *old,
		    const struct bytes *was)
{
	struct source *s = job->source;
	char temporary[STATE_TEMPORARY_SIZE];
	char *folder = folder_of(s);
	struct file_version now;
	int error = folder ? state_temporary(s->store->state, folder, temporary, sizeof(temporary))
			   : ENOMEM;

	if (error) {
		free(folder);
		return error;
	}
	error = old ? replace_file(job->dir, name, &old->version, was, temporary,
				   buf_bytes(&job->bytes), &now, NULL)
		    : put_new_text(job, name, temporary);
	if (faccessat(job->dir, temporary, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		state_temporary_gone(s->store->state, folder);
	free(folder);
	if (error == EAGAIN || error == EBUSY)
		job->wait = error;
	return error;
}

/* False: there is none. */
static bool find_text(struct source *s, const char *name, struct text_there *text)
{
	bool found;

	pthread_mutex_lock(&s->facts);
	found = s->rest.name && strcmp(s->rest.name, name) == 0;
	*text = (struct text_there){s->rest.file, s->rest.hash, s->rest.faulty};
	pthread_mutex_unlock(&s->facts);
	return found;
}

/* The bytes of the text, if it is still what `latest` found. */
static int read_text(struct commit_job *job, const char *name, const struct text_there *old,
		     struct buf *bytes)
{
	struct stat st;
	int error = at_read(job->dir, name, REST_TEXT_MAX, bytes, &st);

	if (!error && XXH3_64bits(bytes->data, bytes->size) != old->hash)
		error = job->wait = EAGAIN;
	return error;
}

/* What is there is kept before bones go from it. */
static int put_over_text(struct commit_job *job, const char *name, const struct text_there *old)
{
	struct source *s = job->source;
	bool loses = skeleton_loses(rest_skeleton(job->current->rest), job->skeleton);
	char *path = path_of(s, name);
	struct buf there = BUF_INIT;
	struct bytes was;
	int error = path ? read_text(job, name, old, &there) : ENOMEM;

	was = buf_bytes(&there);
	if (!error && loses)
		error = keep(s, job->dir, name, path, was);
	if (!error)
		error = put_text(job, name, old, &was);
	if (!error && loses)
		backup_removed(s->store->state, path);
	buf_release(&there);
	free(path);
	return error;
}

static bool is_barred(struct source *s, const char *name)
{
	bool barred;

	pthread_mutex_lock(&s->facts);
	barred = rest_bars(&s->rest, name);
	pthread_mutex_unlock(&s->facts);
	return barred;
}

/* Saved in it, the skeleton would be shown to nobody. */
static bool refuse_barred(const struct source *s, const char *name, struct err *err)
{
	err_set(err, ERR_SYSTEM, "not everybody who may read %.120s may read %.120s", s->name,
		name);
	err->number = EACCES;
	return err_accept(err, "the same once they may, or that file is removed");
}

/* May who asks write the text, of the version `old`, or make it? 0 or an errno. */
static int check_writer(struct commit_job *job, const char *name, const struct file_version *old)
{
	const struct guard *guard = job->source->store->guard;
	struct file_version asked;
	int error;

	if (!guard)
		return 0;
	if (!job->who)
		return EACCES;
	error = guard->check_write(guard, job->who, job->dir, old ? name : NULL, &asked);
	if (!error && old && !file_version_same(&asked, old))
		error = job->wait = EAGAIN;
	return error;
}

static bool put_skeleton(struct commit_job *job, const char *name, struct err *err)
{
	struct text_there old;
	bool found = find_text(job->source, name, &old);
	int error;

	if (is_barred(job->source, name))
		return refuse_barred(job->source, name, err);
	error = check_writer(job, name, found ? &old.version : NULL);
	if (error)
		return err_system(err, error, name);
	if (!found) {
		error = put_text(job, name, NULL, NULL);
		job->made = !error;
	} else if (old.faulty) {
		err_set(err, ERR_CONFLICT, "%.120s, which is there, cannot be read", name);
		return err_accept(err, "the same once that file is mended or removed");
	} else {
		error = put_over_text(job, name, &old);
	}
	return error ? err_system(err, error, name) : true;
}

static bool write_skeleton(struct commit_job *job, struct err *err)
{
	char name[NAME_MAX + 1];

	if (!rest_own_name(job->source->name, name))
		return err_set(err, ERR_STORE, "the name of its file, %.80s..., would be too long",
			       name);
	skeleton_text(job->skeleton, job->current->anim, &job->bytes);
	if (job->bytes.failed)
		return err_memory(err);
	if (job->bytes.size > REST_TEXT_MAX)
		return err_set(err, ERR_STORE, "the text of all bones is longer than %zu bytes",
			       REST_TEXT_MAX);
	return put_skeleton(job, name, err);
}

/*
 * One that was made is not to stay where it does not count: its owner is not the animation's, and
 * may not give the animation's readers what they need.
 */
static bool check_made(struct commit_job *job, struct err *err)
{
	char name[NAME_MAX + 1];

	if (!job->made || !rest_own_name(job->source->name, name) || !is_barred(job->source, name))
		return true;
	unlinkat(job->dir, name, 0);
	err_set(err, ERR_SYSTEM,
		"%.120s, made by user %u, would not be for everybody who may read %.120s", name,
		(unsigned)job->who->uid, job->source->name);
	err->number = EACCES;
	return false;
}

/* With the locks held. What comes of it is what is read then. */
static bool commit_skeleton(struct commit_job *job, struct err *err)
{
	const struct skeleton *now;

	forget_version(job->source); /* the text beside it is read by the same */
	job->current = latest(job->source, job->dir, err);
	if (!job->current)
		return false;
	now = rest_skeleton(job->current->rest);
	if (skeleton_same(job->skeleton, now)) {
		job->result = snap_get(job->current);
		return true;
	}
	if (!skeleton_same(now, rest_skeleton(job->base->rest)) &&
	    !(job->last_skeleton && skeleton_same(now, job->last_skeleton)))
		return err_set(err, ERR_CONFLICT,
			       "somebody else changed the skeleton in the meantime");
	if (!write_skeleton(job, err))
		return false;
	job->result = latest(job->source, job->dir, err);
	return job->result && check_made(job, err);
}

/* ---- all of it ---- */

static enum commit commit_once(struct commit_job *job, struct err *err)
{
	struct source *s = job->source;
	enum commit outcome = COMMIT_REFUSED;
	int error;

	job->wait = 0;
	slow_begin();
	pthread_mutex_lock(&s->work);
	error = state_lock(s->store->state);
	if (error) {
		err_system(err, error, "the state directory");
	} else {
		if (job->skeleton ? commit_skeleton(job, err) : commit_file(job, err))
			outcome = job->result == job->current ? COMMIT_SAME : COMMIT_DONE;
		state_unlock(s->store->state);
	}
	if (job->wait == EAGAIN)
		forget_version(s);
	pthread_mutex_unlock(&s->work);
	slow_end();
	return outcome;
}

static void job_clear(struct commit_job *job)
{
	anim_free(job->merged);
	snap_put(job->current);
	snap_put(job->result);
	snap_put(job->ground);
	job->merged = NULL;
	job->current = job->result = job->ground = NULL;
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

/* *now: the version that is there then. *ground, where it is not NULL: as of struct committed. */
static enum commit commit(struct commit_job *job, struct snap **now, struct snap **ground,
			  struct err *err)
{
	const int64_t begin = clock_now();
	struct err why = {.code = ERR_NONE};
	enum commit outcome = COMMIT_REFUSED;

	*now = NULL;
	if (!job->source->store->state) {
		err_system(err, EROFS, job->source->name);
		return COMMIT_REFUSED;
	}
	for (unsigned tries = 1;; tries++) {
		outcome = commit_once(job, &why);
		if (outcome != COMMIT_REFUSED || !job->wait)
			break;
		err_clear(&why);
		job_clear(job);
		if (!try_again(job->wait, begin, tries, &why))
			break;
	}
	if (outcome != COMMIT_REFUSED) {
		*now = snap_get(job->result);
		if (ground && job->is_grounded)
			*ground = snap_get(job->ground);
	}
	job_clear(job);
	tell(err, &why);
	return outcome;
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

	return commit(&job, now, NULL, err);
}

void committed_clear(struct committed *c)
{
	anim_free(c->edited);
	snap_put(c->saved);
	snap_put(c->ground);
	*c = (struct committed){NULL, NULL, NULL};
}

enum commit source_commit_draft(struct source *s, int dir, struct snap *base, struct anim *edited,
				const struct bytes *whole, struct committed *c, struct err *err)
{
	struct commit_job job = {.source = s,
				 .dir = dir,
				 .base = base,
				 .edited = edited,
				 .last = c->edited,
				 .before = c,
				 .whole = whole};
	struct snap *now, *ground = NULL;
	enum commit outcome = commit(&job, &now, &ground, err);

	if (outcome == COMMIT_REFUSED)
		return outcome;
	committed_clear(c);
	*c = (struct committed){edited, now, ground};
	return outcome;
}

enum commit source_commit_skeleton(struct source *s, int dir, struct snap *base,
				   const struct skeleton *edited, const struct skeleton *last,
				   const struct caller *who, struct snap **now, struct err *err)
{
	struct commit_job job = {.source = s,
				 .dir = dir,
				 .base = base,
				 .skeleton = edited,
				 .last_skeleton = last,
				 .who = who};

	return commit(&job, now, NULL, err);
}

/* ---- making and removing ---- */

struct snap *source_decode(struct source *s, int dir, struct bytes bytes, struct err *err)
{
	struct reading r = {.bytes = BUF_INIT};
	struct snap *snap = NULL;

	buf_add(&r.bytes, bytes.data, bytes.size);
	if (r.bytes.failed) {
		err_memory(err);
	} else {
		slow_begin();
		pthread_mutex_lock(&s->work);
		snap = decode(s, dir, &r, err);
		pthread_mutex_unlock(&s->work);
		slow_end();
	}
	buf_release(&r.bytes);
	return snap;
}

struct snap *source_edited(struct source *s, int dir, struct snap *base, const struct anim *edited,
			   struct err *err)
{
	struct commit_job job = {
		.source = s, .dir = dir, .codec = base->codec, .current = snap_get(base),
		.ground = snap_get(base)};
	struct snap *result = NULL;

	slow_begin();
	pthread_mutex_lock(&s->work);
	if (encode_model(&job, edited, err))
		result = snap_get(job.result);
	pthread_mutex_unlock(&s->work);
	slow_end();
	job_clear(&job);
	return result;
}

static bool encode_made(struct commit_job *job, const struct anim *made, struct err *err)
{
	if (!job->codec->encode(made, (struct bytes){NULL, 0}, &job->bytes, err))
		return job->bytes.failed ? err_memory(err) : false;
	return decode_encoded(job, err) && anim_stored(made, NULL, job->result->anim, err);
}

struct snap *source_made(struct source *s, int dir, const struct codec *codec,
			 const struct anim *made, struct err *err)
{
	struct commit_job job = {.source = s, .dir = dir, .codec = codec};
	struct snap *result = NULL;

	slow_begin();
	pthread_mutex_lock(&s->work);
	if (encode_made(&job, made, err))
		result = snap_get(job.result);
	pthread_mutex_unlock(&s->work);
	slow_end();
	job_clear(&job);
	return result;
}

static bool put_new_locked(struct commit_job *job, struct err *err)
{
	struct stat st;

	if (!fstatat(job->dir, job->source->name, &st, AT_SYMLINK_NOFOLLOW))
		return err_set(err, ERR_CONFLICT, "there is a file of this name already");
	if (job->current && anim_loses(job->current->anim, job->result->anim, true))
		return put_with_backup(job, NULL, err);
	return put_result(job, NULL, err);
}

bool source_put_new(struct source *s, int dir, struct snap *base, struct snap *made,
		    const struct attributes *as, struct err *err)
{
	struct commit_job job = {.source = s,
				 .dir = dir,
				 .as = as,
				 .codec = made->codec,
				 .current = base ? snap_get(base) : NULL,
				 .result = snap_get(made)};
	bool done = false;
	int error;

	if (!s->store->state) {
		err_system(err, EROFS, s->name);
	} else {
		slow_begin();
		pthread_mutex_lock(&s->work);
		error = state_lock(s->store->state);
		if (error) {
			err_system(err, error, "the state directory");
		} else {
			done = put_new_locked(&job, err);
			state_unlock(s->store->state);
		}
		pthread_mutex_unlock(&s->work);
		slow_end();
	}
	job_clear(&job);
	return done;
}

bool source_create(struct source *s, int dir, const struct codec *codec, const struct anim *made,
		   struct err *err)
{
	struct snap *result = source_made(s, dir, codec, made, err);
	bool done = result && source_put_new(s, dir, NULL, result, NULL, err);

	snap_put(result);
	return done;
}

static int remove_locked(struct source *s, int dir)
{
	struct reading r = {.bytes = BUF_INIT};
	struct err err = {.code = ERR_NONE};
	char *path = path_of(s, s->name);
	int error = path ? 0 : ENOMEM;

	if (!error && !read_file(s, dir, &r, &err))
		error = err.code == ERR_SYSTEM ? err.number : EFBIG;
	if (!error)
		error = keep(s, dir, s->name, path, buf_bytes(&r.bytes));
	if (!error && unlinkat(dir, s->name, 0))
		error = errno;
	if (!error)
		backup_removed(s->store->state, path);
	buf_release(&r.bytes);
	free(path);
	return error;
}

int source_remove(struct source *s, int dir)
{
	int error;

	if (!s->store->state)
		return EROFS;
	slow_begin();
	pthread_mutex_lock(&s->work);
	error = state_lock(s->store->state);
	if (!error) {
		error = remove_locked(s, dir);
		state_unlock(s->store->state);
	}
	pthread_mutex_unlock(&s->work);
	slow_end();
	return error;
}
