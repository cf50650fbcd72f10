/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "work.h"

#include "encoded.h"
#include "model/summary.h"
#include "overlay.h"
#include "util/clock.h"
#include "util/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- encoding ---- */

struct version *work_decode_bytes(const struct work *w, struct buf *bytes, struct err *err)
{
	struct decoding how =
		store_decoding(source_store(w->source), where_label(w->where), w->codec);
	struct version *version;

	source_ask_model(w->source, w->where, w->codec, buf_bytes(bytes), &how);
	how.where = w->where;
	how.from = w->where->loose ? w->where->loose->shown : NULL;
	how.guard = store_guarded(source_store(w->source));
	how.skeleton = w->current ? w->current->skeleton : NULL;
	version = version_of_bytes(w->codec, bytes, where_label(w->where), &how, err);
	naming_table_put(how.names);
	return version;
}

static struct version *work_decode_again(void *closure, struct buf *bytes, struct err *err)
{
	return work_decode_bytes(closure, bytes, err);
}

static struct encoding work_encoding(struct work *w)
{
	return (struct encoding){.codec = w->codec,
				 .ground = w->ground,
				 .current = w->current,
				 .max = store_settings(source_store(w->source))->max_file,
				 .decode = work_decode_again,
				 .closure = w};
}

bool work_decode_result(struct work *w, struct err *err)
{
	const struct encoding e = work_encoding(w);

	w->result = encoded_given(&e, &w->bytes, err);
	return w->result != NULL;
}

bool work_decode(struct work *w, struct err *err)
{
	const struct encoding e = work_encoding(w);

	w->result = encoded_decode(&e, &w->bytes, err);
	return w->result != NULL;
}

bool work_encode(struct work *w, const struct anim *model, struct err *err)
{
	const struct encoding e = work_encoding(w);

	w->result = encoded_edit(&e, model, err);
	return w->result != NULL;
}

/* ---- putting it in its place ---- */

int temporary_begin(const struct work *w, struct temporary *t)
{
	return state_temporary(store_state(source_store(w->source)), w->where->folder, t->name,
			       sizeof(t->name));
}

/* A temporary that could not be removed stays noted, and a later mount removes it. */
void temporary_end(const struct work *w, const struct temporary *t)
{
	if (faccessat(w->where->dir, t->name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		state_temporary_gone(store_state(source_store(w->source)), w->where->folder);
}

struct history_file work_file(const struct work *w, const char *name)
{
	return (struct history_file){.dir = w->where->dir,
				     .folder = w->where->folder,
				     .name = name,
				     .was = w->was_digest,
				     .now = w->now_digest};
}

struct history_note work_note(const struct work *w, struct buf *what)
{
	struct history_note note = {.batch = 0};

	if (w->where->note)
		note = *w->where->note;
	if (what) {
		buf_char(what, '\0');
		note.what = what->failed ? NULL : (const char *)what->data;
	}
	return note;
}

/* Keeps the version that a new file was made from, if its bytes differ. */
static int keep_base(const struct work *w, struct history_save *save, struct bytes data)
	REQUIRES(replace_class)
{
	const struct history_note note = work_note(w, NULL);
	const struct bytes base = w->made_from ? buf_bytes(&w->made_from->bytes) : data;

	return bytes_equal(base, data) ? 0 : history_base(save, base, &note);
}

/* A batch is one version in history, with one line on the changes of all its saves. */
static void end_save(const struct work *w, struct history_save *save, struct bytes data,
		     const struct buf *what) REQUIRES(replace_class)
{
	struct buf line = BUF_INIT;
	struct history_note note;

	note = work_note(w, NULL);
	if (note.what)
		buf_format(&line, "%s: ", note.what);
	if (what)
		summary_join(history_line(save), what, &line);
	note = work_note(w, what ? &line : NULL);
	history_end(save, &data, &note);
	buf_release(&line);
}

static int work_place_file(struct work *w, struct replacement *r, struct bytes data,
			   const struct buf *what, struct file_version *now, bool *settled)
	REQUIRES(replace_class)
{
	const struct history_file file = work_file(w, r->name);
	const struct history_note note = work_note(w, NULL);
	struct history_save *save = r->keeper;
	int error = history_begin(store_history(source_store(w->source)), save, &file,
				  r->expect ? r->was : NULL, history_joins(&note));

	if (!error && !r->expect)
		error = keep_base(w, save, data);
	if (!error)
		error = replace_place(r, now, settled);
	if (error)
		history_cancel(save);
	else
		end_save(w, save, data, what);
	return error;
}

/* The obstacle that an errno of replace_prepare or replace_place means. */
static enum obstacle obstacle_of(int error)
{
	return error == EAGAIN  ? OBSTACLE_CHANGED
	       : error == EBUSY ? OBSTACLE_WRITER
				: OBSTACLE_NONE;
}

UNSHARED int work_enter_state(struct work *w)
{
	int error = w->has_lock ? 0 : state_trylock(store_state(source_store(w->source)));

	if (error)
		w->obstacle = error == EBUSY ? OBSTACLE_LOCKED : OBSTACLE_NONE;
	return error;
}

UNSHARED void work_leave_state(const struct work *w)
{
	if (!w->has_lock)
		state_unlock(store_state(source_store(w->source)));
}

int work_place(struct work *w, struct replacement *r, struct bytes data, const struct buf *what,
	       struct file_version *now, bool *settled)
{
	int error = work_enter_state(w);

	if (error)
		return error;
	error = work_place_file(w, r, data, what, now, settled);
	work_leave_state(w);
	w->obstacle = obstacle_of(error);
	return error;
}

/* If the error is a lack of space, frees old versions, so that the save succeeds. */
static bool work_make_room(struct work *w, int dir, uint64_t size, int error, uid_t payer)
{
	bool made;

	if (!history_needs_room(error) || work_enter_state(w) != 0)
		return false;
	made = history_yield(store_history(source_store(w->source)), error, dir, size, payer);
	work_leave_state(w);
	return made;
}

int work_prepare(struct work *w, struct replacement *r, struct bytes data)
{
	const int first = replace_prepare(r, data);
	int error;

	w->obstacle = obstacle_of(first);
	if (!history_needs_room(first))
		return first;
	replace_end(r); /* the bytes of the replacement do not count as used */
	if (!work_make_room(w, r->dir, data.size, first, r->payer))
		return first;
	error = replace_prepare(r, data);
	w->obstacle = obstacle_of(error);
	/* The first temporary could not be removed. */
	return error == EEXIST ? first : error;
}

/* Uses the edited model if it is known, which shares most data with the one before. */
static void summarise_work(const struct work *w, struct buf *what)
{
	const struct anim *after =
		w->merged && w->ground == w->current ? w->merged : w->result->anim;

	if (w->current)
		summary_files(w->current->anim, after, what);
	else
		buf_text(what, "made");
}

/* The file on disk that is to be replaced, and its replacement. */
struct exchange {
	const struct file_version *expect; /* NULL: there is nothing */
	struct bytes was, now;
	struct buf archive, rebuilt; /* for a member of a RAB: `was` and `now` point into them */
	struct stat st;              /* of the archive */
	struct file_version found;
};

/* A new loose file gets the attributes of the archive. */
static int like_archive(const struct work *w, struct replacement *r)
{
	int error = w->where->loose && !r->expect && !r->as
			    ? loose_open_archive(w->where->loose, &r->like)
			    : ENOENT;

	r->has_like = !error;
	return error == ENOENT ? 0 : error;
}

static struct replacement replacement_of(const struct work *w, const struct temporary *temporary)
{
	return (struct replacement){.dir = w->where->dir,
				    .via = w->where->dir,
				    .name = w->where->name,
				    .temporary = temporary->name,
				    .as = w->as,
				    .writer = w->where->writer,
				    .keep = history_keep};
}

static int put_prepared(struct work *w, struct replacement *r, struct bytes data,
			struct file_version *now, bool *settled)
{
	struct buf what = BUF_INIT;
	struct history_save save;
	int error;

	r->keeper = &save;
	summarise_work(w, &what);
	error = work_place(w, r, data, &what, now, settled);
	buf_release(&what);
	return error;
}

static int put_bytes(struct work *w, const struct exchange *x, const struct temporary *temporary,
		     struct file_version *now, bool *settled)
{
	struct replacement r = replacement_of(w, temporary);
	int error;

	r.expect = x->expect;
	r.was = x->expect ? &x->was : NULL;
	error = like_archive(w, &r);
	if (!error)
		error = work_prepare(w, &r, x->now);
	if (!error)
		error = put_prepared(w, &r, x->now, now, settled);
	replace_end(&r);
	if (r.has_like)
		close(r.like);
	return error;
}

/* Where the file follows on the same filesystem, there must be room for that as well. */
static int begin_in_room(struct work *w, uint64_t size, struct temporary *t)
{
	const struct history *h = store_history(source_store(w->source));
	int error = temporary_begin(w, t);

	if (work_make_room(w, -1, history_is_beside(h, w->where->dir) ? size : 0, error, geteuid()))
		error = temporary_begin(w, t);
	return error;
}

bool work_begin_ready(struct work *w, struct ready *r, struct err *err)
{
	const struct bytes data = buf_bytes(&w->made->bytes);
	int error = begin_in_room(w, data.size, &r->temporary);

	if (error)
		return err_system(err, error, "the state directory");
	r->replacement = replacement_of(w, &r->temporary);
	error = work_prepare(w, &r->replacement, data);
	if (!error)
		return true;
	work_end_ready(w, r);
	return err_system(err, error, w->where->name);
}

void work_end_ready(const struct work *w, struct ready *r)
{
	replace_end(&r->replacement);
	temporary_end(w, &r->temporary);
}

static bool put_exchange(struct work *w, const struct exchange *x, struct err *err)
	REQUIRES(work_class)
{
	struct temporary temporary;
	struct file_version now;
	bool settled;
	int error = w->ready ? 0 : begin_in_room(w, x->now.size, &temporary);

	if (error)
		return err_system(err, error, "the state directory");
	if (w->ready) {
		error = put_prepared(w, &w->ready->replacement, x->now, &now, &settled);
	} else {
		error = put_bytes(w, x, &temporary, &now, &settled);
		temporary_end(w, &temporary);
	}
	if (error)
		return err_system(err, error, w->where->name);
	if (w->current)
		where_committed(w->where, w->current, w->result);
	source_publish(w->source, &now, settled, w->result,
		       w->ground == w->current ? w->merged : NULL);
	return true;
}

bool work_make_folder(struct work *w, struct err *err)
{
	const struct loose *loose = w->where->loose;
	int error;

	if (!loose_check(loose, err))
		return false;
	error = w->here.dir < 0 ? loose_folder(loose, true, &w->here.dir) : 0;
	if (!error)
		return true;
	w->here.dir = -1;
	return err_system(err, error, loose->shown);
}

/*
 * Reads the archive that the member is in, as it is now, and rebuilds it with the new bytes. The
 * member is compared in that very archive, since another program may have replaced it.
 */
static bool read_rab(struct work *w, struct exchange *x, struct err *err)
{
	const struct where *where = w->where;
	struct buf member = BUF_INIT;
	bool fine, same;

	if (!loose_read(where->loose->rab, where->dir, SIZE_MAX, &x->archive, &x->st, err))
		return false;
	x->was = buf_bytes(&x->archive);
	fine = loose_read_from(where->loose, x->was, SIZE_MAX, &member, err);
	same = fine && bytes_equal(buf_bytes(&member), buf_bytes(&w->current->bytes));
	buf_release(&member);
	if (fine && !same) {
		w->obstacle = OBSTACLE_CHANGED;
		return err_system(err, EAGAIN, where->name);
	}
	return fine && loose_wrap(where->loose, x->was, x->now, &x->rebuilt, err);
}

/*
 * If the loose file does not exist, there is nothing to replace, and nothing to keep in history:
 * the old bytes are in the archive.
 */
static bool put_loose(struct work *w, struct exchange *x, struct err *err) REQUIRES(work_class)
{
	const struct loose *loose = w->where->loose;
	struct stat st;

	if (!work_make_folder(w, err) || (loose->rab && !read_rab(w, x, err)))
		return false;
	if (loose->rab) {
		x->found = file_version_of(&x->st);
		x->expect = &x->found;
		x->now = buf_bytes(&x->rebuilt);
		w->was_digest = w->now_digest = NULL;
	}
	if (fstatat(w->where->dir, w->where->name, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
	    errno == ENOENT) {
		x->expect = NULL;
		w->was_digest = NULL;
	}
	return put_exchange(w, x, err);
}

bool work_put(struct work *w, const struct file_version *expect, struct err *err)
{
	struct exchange x = {.expect = expect,
			     .was = w->current ? buf_bytes(&w->current->bytes)
					       : (struct bytes){NULL, 0},
			     .now = buf_bytes(&w->result->bytes),
			     .archive = BUF_INIT,
			     .rebuilt = BUF_INIT};
	bool fine;

	w->was_digest = w->current ? version_digest(w->current) : NULL;
	w->now_digest = version_digest(w->result);
	fine = w->where->loose ? put_loose(w, &x, err) : put_exchange(w, &x, err);
	buf_release(&x.archive);
	buf_release(&x.rebuilt);
	return fine;
}

/* ---- tries ---- */

/* One attempt, with the loose file's folder as it is now: other programs may have made it. */
static bool attempt_here(struct work *w, struct err *err) REQUIRES(work_class)
{
	const struct where *given = w->where;
	bool fine;

	w->here = *given;
	if (given->loose && given->dir < 0 && loose_folder(given->loose, false, &w->here.dir))
		w->here.dir = -1;
	w->where = &w->here;
	fine = w->attempt(w, err);
	w->where = given;
	if (w->here.dir >= 0 && w->here.dir != given->dir)
		close(w->here.dir);
	return fine;
}

/* An attempt that has the lock of the state directory from beginning to end. */
static UNSHARED bool attempt_locked(struct work *w, struct err *err)
{
	int error = work_enter_state(w);
	bool fine;

	if (error)
		return err_system(err, error, "the state directory");
	w->has_lock = true;
	fine = attempt_here(w, err);
	w->has_lock = false;
	work_leave_state(w);
	return fine;
}

static enum commit run_once(struct work *w, bool locked, struct err *err)
{
	bool fine;

	w->obstacle = OBSTACLE_NONE;
	source_begin_work(w->source);
	fine = locked ? attempt_locked(w, err) : attempt_here(w, err);
	if (w->obstacle == OBSTACLE_CHANGED)
		source_doubt(w->source);
	source_end_work(w->source);
	return !fine ? COMMIT_REFUSED : w->result == w->current ? COMMIT_SAME : COMMIT_DONE;
}

void work_clear(struct work *w)
{
	anim_free(w->merged);
	version_put(w->current);
	version_put(w->result);
	version_put(w->ground);
	w->merged = NULL;
	w->current = w->result = w->ground = NULL;
	w->was_digest = w->now_digest = NULL;
	w->is_grounded = false;
	buf_release(&w->bytes);
}

#define CHANGED_TRIES 16
#define CHANGED_UNLOCKED 3 /* of these without the lock of the state directory */

static void work_wait_for(struct state *state, enum obstacle obstacle, int64_t ms)
{
	if (obstacle == OBSTACLE_WRITER)
		clock_sleep(WRITER_STEP_MS);
	else
		state_wait(state, ms);
}

/* How long each obstacle has lasted: attempts, or time since the first. */
struct patience {
	unsigned changed;
	int64_t writer_begin, locked_begin; /* 0: not met yet */
};

static int64_t time_left(int64_t *begin, int64_t limit)
{
	int64_t now = clock_real_ms();

	if (!*begin)
		*begin = now;
	return *begin + limit - now;
}

static int64_t patience_left(struct patience *p, enum obstacle obstacle)
{
	switch (obstacle) {
	case OBSTACLE_LOCKED:
		return time_left(&p->locked_begin, LOCKED_LIMIT_MS);
	case OBSTACLE_WRITER:
		return time_left(&p->writer_begin, WRITER_LIMIT_MS);
	case OBSTACLE_CHANGED:
	case OBSTACLE_NONE:
		break;
	}
	return CHANGED_TRIES - (int64_t)++p->changed;
}

static bool give_up(const struct work *w, struct err *err)
{
	switch (w->obstacle) {
	case OBSTACLE_LOCKED:
		err_set(err, ERR_SYSTEM, "another process has held %.80s/lock for %d seconds",
			state_name(store_state(source_store(w->source))), LOCKED_LIMIT_MS / 1000);
		err->number = EBUSY;
		return false;
	case OBSTACLE_WRITER:
		return err_set(err, ERR_CONFLICT, "another program has the file open for writing");
	case OBSTACLE_CHANGED:
	case OBSTACLE_NONE:
		break;
	}
	return err_set(err, ERR_CONFLICT, "other programs keep changing the file");
}

/* Decides whether to try again after an obstacle. Waits, while others may read the file. */
static bool work_try_again(const struct work *w, struct patience *patience, struct err *err)
{
	const struct turn *turn = w->where->turn;
	int64_t left = patience_left(patience, w->obstacle);
	int error;

	if (left <= 0)
		return give_up(w, err);
	if (w->obstacle == OBSTACLE_CHANGED)
		return true;
	if (turn)
		turn->release(turn->closure);
	work_wait_for(store_state(source_store(w->source)), w->obstacle, left);
	error = turn ? turn->acquire(turn->closure) : 0;
	return !error || err_system(err, error, w->where->name);
}

static enum commit run_attempts(struct work *w, struct err *err)
{
	struct patience patience = {.changed = 0};
	enum commit outcome;

	for (;;) {
		outcome = run_once(w, patience.changed >= CHANGED_UNLOCKED, err);
		if (outcome != COMMIT_REFUSED || w->obstacle == OBSTACLE_NONE)
			return outcome;
		err_clear(err);
		work_clear(w);
		if (!work_try_again(w, &patience, err))
			return COMMIT_REFUSED;
	}
}

enum commit work_run(struct work *w, struct version **now, struct version **ground, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	enum commit outcome = COMMIT_REFUSED;

	*now = NULL;
	if (store_state(source_store(w->source)))
		outcome = run_attempts(w, &why);
	else
		err_system(&why, EROFS, w->where->name);
	if (outcome != COMMIT_REFUSED) {
		*now = w->result ? version_get(w->result) : NULL;
		if (ground && w->is_grounded)
			*ground = version_get(w->ground);
		if (w->replaced)
			*w->replaced = version_get(w->current);
	}
	work_clear(w);
	err_copy(err, &why);
	return outcome;
}
