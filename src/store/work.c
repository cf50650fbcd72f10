/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- encoding ---- */

struct version *work_decode_bytes(const struct work *w, struct buf *bytes, struct err *err)
{
	struct decoding how = store_decoding(source_store(w->source), w->where->name, w->codec);
	struct version *version;

	source_ask_model(w->source, w->where, w->codec, buf_bytes(bytes), &how);
	how.rest = w->current ? w->current->rest : NULL;
	version = version_of_bytes(w->codec, bytes, w->where->name, &how, err);
	naming_table_put(how.names);
	return version;
}

bool work_decode_result(struct work *w, struct err *err)
{
	w->result = work_decode_bytes(w, &w->bytes, err);
	return w->result != NULL;
}

bool work_decode(struct work *w, struct err *err)
{
	struct err why = {.code = ERR_NONE};

	if (work_decode_result(w, &why))
		return true;
	return why.code == ERR_MEMORY
		       ? err_memory(err)
		       : err_set(err, ERR_STORE,
				 "the format cannot hold this edit exactly: the result does not "
				 "decode: %s",
				 why.message);
}

bool work_encode(struct work *w, const struct anim *model, struct err *err)
{
	const struct version *ground = w->ground;

	if (!w->codec->encode(model, buf_bytes(&ground->bytes), &w->bytes, err))
		return w->bytes.failed ? err_memory(err) : false;
	if (bytes_equal(buf_bytes(&w->bytes), buf_bytes(&w->current->bytes))) {
		w->result = version_get(w->current);
	} else {
		if (!work_decode(w, err))
			return false;
		w->result->lineage = w->current->lineage;
	}
	return anim_stored(model, ground->anim, w->result->anim, err);
}

/* ---- putting it in its place ---- */

int temporary_begin(const struct work *w, struct temporary *t)
{
	return state_temporary(store_state(source_store(w->source)), w->where->folder, t->name,
			       sizeof(t->name));
}

/* One that could not be removed stays listed, and a later mount removes it. */
void temporary_end(const struct work *w, const struct temporary *t)
{
	if (faccessat(w->where->dir, t->name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		state_temporary_gone(store_state(source_store(w->source)), w->where->folder);
}

/* Attributes that cannot be read are not kept. */
int work_keep(const struct work *w, const struct backup *b, char **path)
{
	const struct store *store = source_store(w->source);
	const char *folder = w->where->folder;
	int like = -1, error;

	if (asprintf(path, "%s%s%s", folder, *folder ? "/" : "", b->name) < 0) {
		*path = NULL;
		return ENOMEM;
	}
	(void)at_open(w->where->dir, b->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &like);
	error = backup_keep(store_state(store), store_settings(store)->backup, *path, like,
			    b->bytes);
	if (like >= 0)
		close(like);
	return error;
}

static int place(struct work *w, struct replacement *r, const struct backup *backup,
		 struct file_version *now, bool *settled) REQUIRES(replace_class)
{
	char *path = NULL;
	int error = backup ? work_keep(w, backup, &path) : 0;

	if (!error)
		error = replace_place(r, now, settled);
	if (!error && backup)
		backup_removed(store_state(source_store(w->source)), path);
	free(path);
	return error;
}

enum obstacle work_obstacle(int error)
{
	return error == EAGAIN  ? OBSTACLE_CHANGED
	       : error == EBUSY ? OBSTACLE_WRITER
				: OBSTACLE_NONE;
}

int work_place(struct work *w, struct replacement *r, const struct backup *backup,
	       struct file_version *now, bool *settled)
{
	struct state *state = store_state(source_store(w->source));
	int error = state_trylock(state);

	if (error) {
		w->obstacle = error == EBUSY ? OBSTACLE_LOCKED : OBSTACLE_NONE;
		return error;
	}
	error = place(w, r, backup, now, settled);
	state_unlock(state);
	w->obstacle = work_obstacle(error);
	return error;
}

static int put_bytes(struct work *w, const struct file_version *expect,
		     const struct temporary *temporary, struct file_version *now, bool *settled)
{
	struct bytes was = w->current ? buf_bytes(&w->current->bytes) : (struct bytes){NULL, 0};
	const struct backup backup = {w->where->name, was};
	struct replacement r = {
		.dir = w->where->dir,
		.via = w->where->dir,
		.name = w->where->name,
		.temporary = temporary->name,
		.expect = expect,
		.was = expect ? &was : NULL,
		.as = w->as,
	};
	int error = replace_prepare(&r, buf_bytes(&w->result->bytes));

	w->obstacle = work_obstacle(error);
	if (!error)
		error = work_place(w, &r, w->loses ? &backup : NULL, now, settled);
	replace_end(&r);
	return error;
}

bool work_put(struct work *w, const struct file_version *expect, struct err *err)
{
	struct temporary temporary;
	struct file_version now;
	bool settled;
	int error = temporary_begin(w, &temporary);

	if (error)
		return err_system(err, error, "the state directory");
	error = put_bytes(w, expect, &temporary, &now, &settled);
	temporary_end(w, &temporary);
	if (error)
		return err_system(err, error, w->where->name);
	source_publish(w->source, &now, settled, w->result,
		       w->ground == w->current ? w->merged : NULL);
	return true;
}

/* ---- tries ---- */

static enum commit run_once(struct work *w, struct err *err)
{
	bool fine;

	w->obstacle = OBSTACLE_NONE;
	source_begin_work(w->source, true);
	fine = w->attempt(w, err);
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
	w->is_grounded = w->loses = w->is_new = false;
	buf_release(&w->bytes);
}

#define CHANGED_TRIES 16
#define WRITER_LIMIT_MS 1000
#define WRITER_STEP_MS 20
#define LOCKED_LIMIT_MS 10000

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_for(struct state *state, enum obstacle obstacle, int64_t ms)
{
	const struct timespec step = {.tv_nsec = WRITER_STEP_MS * 1000000};

	if (obstacle == OBSTACLE_WRITER)
		nanosleep(&step, NULL);
	else
		state_wait(state, ms);
}

/* How long each has lasted, in tries or since the first time. */
struct patience {
	unsigned changed;
	int64_t writer_begin, locked_begin; /* 0: not yet */
};

static int64_t time_left(int64_t *begin, int64_t limit)
{
	int64_t now = now_ms();

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

/* After a try that met another program: is there to be one more? Waits, with no lock held. */
static bool try_again(const struct work *w, struct patience *patience, struct err *err)
{
	const struct turn *turn = w->where->turn;
	int64_t left = patience_left(patience, w->obstacle);

	if (left <= 0)
		return give_up(w, err);
	if (w->obstacle == OBSTACLE_CHANGED)
		return true;
	if (turn)
		turn->release(turn->closure);
	wait_for(store_state(source_store(w->source)), w->obstacle, left);
	if (turn)
		turn->acquire(turn->closure);
	return true;
}

static void copy_error(struct err *to, const struct err *from)
{
	if (to && to->code == ERR_NONE)
		*to = *from;
}

static enum commit run(struct work *w, struct err *err)
{
	struct patience patience = {.changed = 0};
	enum commit outcome;

	for (;;) {
		outcome = run_once(w, err);
		if (outcome != COMMIT_REFUSED || w->obstacle == OBSTACLE_NONE)
			return outcome;
		err_clear(err);
		work_clear(w);
		if (!try_again(w, &patience, err))
			return COMMIT_REFUSED;
	}
}

enum commit work_run(struct work *w, struct version **now, struct version **ground, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	enum commit outcome = COMMIT_REFUSED;

	*now = NULL;
	if (store_state(source_store(w->source)))
		outcome = run(w, &why);
	else
		err_system(&why, EROFS, w->where->name);
	if (outcome != COMMIT_REFUSED) {
		*now = w->result ? version_get(w->result) : NULL;
		if (ground && w->is_grounded)
			*ground = version_get(w->ground);
	}
	work_clear(w);
	copy_error(err, &why);
	return outcome;
}
