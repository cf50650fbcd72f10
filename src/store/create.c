/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "create.h"

#include "overlay.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the file as it would be ---- */

struct version *source_decode(struct source *s, const struct where *where, struct bytes bytes,
			      struct err *err)
{
	struct reading r = {.bytes = BUF_INIT};
	struct version *version = NULL;

	buf_add(&r.bytes, bytes.data, bytes.size);
	if (r.bytes.failed) {
		err_memory(err);
	} else {
		source_begin_work(s);
		version = source_decode_reading(s, where, &r, err);
		source_end_work(s);
	}
	buf_release(&r.bytes);
	return version;
}

struct version *source_edited(struct source *s, const struct where *where, struct version *base,
			      const struct anim *edited, struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .codec = base->codec,
			 .current = version_get(base),
			 .ground = version_get(base)};
	struct version *result = NULL;

	if (work_encode(&w, edited, err))
		result = version_get(w.result);
	work_clear(&w);
	return result;
}

static bool encode_made(struct work *w, const struct anim *made, struct err *err)
{
	if (!w->codec->encode(made, (struct bytes){NULL, 0}, &w->bytes, err))
		return w->bytes.failed ? err_memory(err) : false;
	return work_decode(w, err) && anim_stored(made, NULL, w->result->anim, err);
}

struct version *source_made(struct source *s, const struct where *where, const struct codec *codec,
			    const struct anim *made, struct err *err)
{
	struct work w = {.source = s, .where = where, .codec = codec};
	struct version *result = NULL;

	if (encode_made(&w, made, err))
		result = version_get(w.result);
	work_clear(&w);
	return result;
}

/* ---- making and removing ---- */

static bool put_new(struct work *w, struct err *err) REQUIRES(work_class)
{
	struct stat st;

	if (!fstatat(w->where->dir, w->where->name, &st, AT_SYMLINK_NOFOLLOW))
		return err_set(err, ERR_CONFLICT, "there is a file of this name already");
	w->result = version_get(w->made);
	w->current = w->made_from ? version_get(w->made_from) : NULL;
	return work_put(w, NULL, err);
}

/* Writes the file before the caller's turn begins, and gives it its name within the turn. */
static bool put_in_turn(struct work *w, struct version **now, struct err *err)
{
	const struct turn *turn = w->where->turn;
	struct ready ready;
	bool done;
	int error;

	if (!work_begin_ready(w, &ready, err))
		return false;
	w->ready = &ready;
	error = turn->acquire(turn->closure);
	done = error ? err_system(err, error, w->where->name)
		     : work_run(w, now, NULL, err) != COMMIT_REFUSED;
	work_end_ready(w, &ready);
	return done;
}

bool source_put_new(struct source *s, const struct where *where, struct version *base,
		    struct version *made, const struct attributes *as, struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = put_new,
			 .as = as,
			 .made = made,
			 .made_from = base};
	struct version *now = NULL;
	bool done = where->turn ? put_in_turn(&w, &now, err)
				: work_run(&w, &now, NULL, err) != COMMIT_REFUSED;

	version_put(now);
	return done;
}

bool source_create(struct source *s, const struct where *where, const struct codec *codec,
		   const struct anim *made, struct err *err)
{
	struct version *result = source_made(s, where, codec, made, err);
	bool done = result && source_put_new(s, where, NULL, result, NULL, err);

	version_put(result);
	return done;
}

static int remove_locked(struct work *w, struct bytes was) REQUIRES(replace_class)
{
	const struct history_file file = work_file(w, w->where->name);
	struct history_note note = work_note(w, NULL);
	struct history_save save;
	int error = history_begin(store_history(source_store(w->source)), &save, &file, &was,
				  history_joins(&note));

	note.what = "removed";
	if (!error)
		error = history_remove(&save);
	if (error)
		history_cancel(&save);
	else
		history_end(&save, NULL, &note);
	return error;
}

static int create_remove_file(struct work *w, const struct reading *r)
{
	const struct bytes was = buf_bytes(&r->bytes);
	int error = work_enter_state(w);

	if (error)
		return error;
	error = source_holds(w->where, was) ? remove_locked(w, was) : EAGAIN;
	work_leave_state(w);
	if (error == EAGAIN)
		w->obstacle = OBSTACLE_CHANGED;
	return error;
}

static bool read_and_remove(struct work *w, struct err *err) REQUIRES(work_class)
{
	const struct loose *loose = w->where->loose;
	struct reading r = {.bytes = BUF_INIT};
	bool done = source_read(w->source, w->where, &r, err);
	/* A member cannot be removed, only the loose file that replaces it. */
	int error = done && loose && (loose->rab || w->where->dir < 0) ? EROFS
		    : done                                             ? create_remove_file(w, &r)
								       : 0;

	buf_release(&r.bytes);
	return error ? err_system(err, error, w->where->name) : done;
}

int source_remove(struct source *s, const struct where *where)
{
	struct work w = {.source = s, .where = where, .attempt = read_and_remove};
	struct err err = {.code = ERR_NONE};
	struct version *now;

	if (work_run(&w, &now, NULL, &err) != COMMIT_REFUSED)
		return 0;
	return err.number ? err.number : err.code == ERR_FORMAT ? EFBIG : EBUSY;
}
