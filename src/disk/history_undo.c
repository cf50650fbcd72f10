/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_undo.h"

#include "dirfd.h"
#include "replace.h"
#include "util/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct restoring {
	struct history *history;
	struct state *state;
	const struct history_file *file;
	const struct history_request *request;
	struct history_result *result;
	struct stat st;
};

void history_result_release(struct history_result *r)
{
	history_release(&r->book);
	buf_release(&r->there);
	buf_release(&r->bytes);
}

/* ---- which version ---- */

static bool same_as_last(void *log, size_t i)
{
	const struct history_log *l = log;
	const struct history_entry *a = &l->list[i], *b = &l->list[l->count - 1];

	return (a->kind == HISTORY_REMOVED) == (b->kind == HISTORY_REMOVED) && a->size == b->size &&
	       history_digest_same(&a->digest, &b->digest);
}

static bool has_bytes(void *log, size_t i)
{
	return history_kept(log, i) != SIZE_MAX;
}

static bool has_bytes_or_none(void *log, size_t i)
{
	const struct history_log *l = log;

	return l->list[i].kind == HISTORY_REMOVED || has_bytes(log, i);
}

/* Can an undo remove the file, because its first save made it? */
static bool can_unmake(const struct history_log *l)
{
	struct history_scope scope = {"", same_as_last, has_bytes, (void *)(uintptr_t)l};
	size_t at = history_position(l, &scope, l->count - 1);

	return history_log_last(l)->kind != HISTORY_REMOVED && l->list[at].kind == HISTORY_MADE;
}

/*
 * Chooses the version of an undo or redo. *to is SIZE_MAX if the step removes the file: an undo if
 * can_unmake(), or the redo of a removal.
 */
static int choose_step(struct history_log *l, bool back, bool unmakes, size_t *to)
{
	struct history_scope scope = {"", same_as_last, back ? has_bytes : has_bytes_or_none, l};

	*to = back ? history_undo(l, &scope) : history_redo(l, &scope);
	if (*to == SIZE_MAX)
		return back && unmakes && can_unmake(l) ? 0 : ENODATA;
	if (l->list[*to].kind == HISTORY_REMOVED)
		*to = SIZE_MAX;
	return 0;
}

static int go_to(struct history_log *l, uint64_t number, size_t *to)
{
	*to = history_log_find(l, number);
	return *to == SIZE_MAX || !has_bytes(l, *to) ? ENODATA : 0;
}

/* Finds the version from before the batch's first save. */
static int go_before(struct history_log *l, uint64_t batch, size_t *to)
{
	struct history_scope scope = {"", same_as_last, has_bytes, l};
	size_t last = l->count, first, now = history_position(l, &scope, l->count - 1);

	while (last > 0 && l->list[last - 1].batch != batch)
		last--;
	if (last == 0)
		return ENOENT;
	first = --last;
	while (first > 0 && l->list[first - 1].batch == batch)
		first--;
	if (first == 0 && l->list[first].kind == HISTORY_REMOVED)
		return EALREADY; /* the batch made the file and removed it */
	for (size_t i = 0; i < first; i++) {
		if (l->list[i].batch == batch)
			return ESTALE; /* other programs saved between the batch's saves */
	}
	/* Lines of versions that are not kept may have been dropped. */
	if (l->list[first].kind != HISTORY_MADE &&
	    (first == 0 || l->list[first - 1].number + 1 != l->list[first].number))
		return ENODATA;
	*to = l->list[first].kind == HISTORY_MADE ? SIZE_MAX : first - 1;
	if (now < first || (*to == SIZE_MAX && l->list[now].kind == HISTORY_REMOVED))
		return EALREADY;
	if (now > last)
		return ESTALE;
	return *to != SIZE_MAX && !has_bytes(l, *to) ? ENODATA : 0;
}

/* Does the file still have the content that its last version has? */
static bool is_as_noted(const struct restoring *r)
{
	const struct history_result *result = r->result;
	const struct history_entry *last = history_log_last(&result->book.log);
	struct history_digest now = history_digest_of(buf_bytes(&result->there));

	if (!result->was_there || last->kind == HISTORY_REMOVED)
		return !result->was_there && last->kind == HISTORY_REMOVED;
	return history_digest_same(&now, &last->digest);
}

static int choose_version(struct restoring *r)
{
	const struct history_request *request = r->request;
	struct history_result *result = r->result;
	struct history_log *log = &result->book.log;
	struct history_scope scope = {"", same_as_last, has_bytes, log};

	result->from = history_position(log, &scope, log->count - 1);
	if (request->way == HISTORY_TO)
		return go_to(log, request->number, &result->to);
	if (!is_as_noted(r))
		return ESTALE;
	return request->way == HISTORY_OUT ? go_before(log, request->batch, &result->to)
					   : choose_step(log, request->way == HISTORY_BACK,
							 request->unmakes, &result->to);
}

/* ---- the present file and the version ---- */

static int history_undo_read_file(struct restoring *r)
{
	struct history_result *result = r->result;
	int error;

	buf_clear(&result->there);
	error = r->file->dir < 0
			? ENOENT
			: dirfd_read(r->file->dir, r->file->name, SIZE_MAX, &result->there, &r->st);
	result->was_there = !error;
	return error == ENOENT ? 0 : error;
}

static int read_version(struct restoring *r, int *fd)
{
	struct history_result *result = r->result;

	*fd = -1;
	buf_clear(&result->bytes);
	return result->to == SIZE_MAX
		       ? 0
		       : history_bytes(&result->book, history_kept(&result->book.log, result->to),
				       &result->bytes, fd);
}

static int history_undo_read_state(struct restoring *r, int *kept)
{
	struct history_result *result = r->result;
	int error = history_undo_read_file(r);

	*kept = -1;
	history_release(&result->book);
	if (!error)
		error = history_open(r->state, r->file, &result->book);
	if (!error)
		error = choose_version(r);
	if (!error)
		error = read_version(r, kept);
	if (!error && result->was_there == (result->to != SIZE_MAX) &&
	    bytes_equal(buf_bytes(&result->there), buf_bytes(&result->bytes)))
		error = EALREADY;
	return error;
}

/* ---- putting it in its place ---- */

static int put_over(struct restoring *r, struct history_save *save, const char *temporary)
{
	const struct bytes was = buf_bytes(&r->result->there);
	const struct file_version expect = file_version_of(&r->st);
	struct replacement replacement = {.dir = r->file->dir,
					  .via = r->file->dir,
					  .name = r->file->name,
					  .temporary = temporary,
					  .expect = &expect,
					  .was = &was,
					  .keep = history_keep,
					  .keeper = save};
	struct file_version now;
	int error = replace_prepare(&replacement, buf_bytes(&r->result->bytes));

	if (!error)
		error = replace_place(&replacement, &now, NULL);
	replace_end(&replacement);
	return error;
}

static int history_undo_put_version(struct restoring *r, struct history_save *save, int kept)
	REQUIRES(replace_class)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int error;

	if (r->result->to == SIZE_MAX)
		return history_remove(save);
	error = state_temporary(r->state, r->file->folder, temporary, sizeof(temporary));
	if (error)
		return error;
	if (r->result->was_there)
		error = put_over(r, save, temporary);
	else
		error = replace_copy(r->file->dir, r->file->name, temporary, kept, NULL,
				     buf_bytes(&r->result->bytes));
	state_temporary_gone(r->state, r->file->folder);
	return error;
}

static void describe_restore(const struct restoring *r, struct buf *out)
{
	const struct history_result *result = r->result;
	const struct history_log *log = &result->book.log;

	switch (r->request->way) {
	case HISTORY_BACK:
	case HISTORY_OUT:
		buf_format(out, "undo: %s", log->list[result->from].what);
		break;
	case HISTORY_FORTH:
		buf_format(out, "redo: %s",
			   result->to == SIZE_MAX ? "removed" : log->list[result->to].what);
		break;
	case HISTORY_TO:
		buf_format(out, "as version %" PRIu64, log->list[result->to].number);
		break;
	}
	buf_char(out, '\0');
}

static int put_noted(struct restoring *r, int kept) REQUIRES(replace_class)
{
	const struct history_result *result = r->result;
	const struct bytes was = buf_bytes(&result->there), now = buf_bytes(&result->bytes);
	struct history_note note = *r->request->note;
	struct history_save save;
	struct buf what = BUF_INIT;
	int error = history_begin(r->history, &save, r->file, result->was_there ? &was : NULL, 0);

	if (error)
		return error;
	describe_restore(r, &what);
	note.what = what.failed ? NULL : (const char *)what.data;
	note.step = r->request->way != HISTORY_TO && result->to != SIZE_MAX;
	/* An undo that removes the file refers to the version that made it. */
	note.back = note.step ? result->book.log.list[result->to].number
		    : r->request->unmakes && result->to == SIZE_MAX
			    ? result->book.log.list[result->from].number
			    : 0;
	error = history_undo_put_version(r, &save, kept);
	if (error)
		history_cancel(&save);
	else
		history_end(&save, result->to == SIZE_MAX ? NULL : &now, &note);
	buf_release(&what);
	return error;
}

/* Adds the line of a save that was killed before it could write the line. */
static int history_undo_catch_up(struct restoring *r) REQUIRES(replace_class)
{
	const struct history_result *result = r->result;
	const struct history_entry *last = history_log_last(&result->book.log);
	const struct bytes was = buf_bytes(&result->there);
	struct history_save save;
	int error;

	if (!last || !last->kept)
		return 0;
	error = history_begin(r->history, &save, r->file, result->was_there ? &was : NULL, 0);
	if (!error)
		history_cancel(&save);
	return error;
}

static int restore_locked(struct restoring *r, int *kept) REQUIRES(replace_class)
{
	int error = history_undo_read_file(r);

	if (!error)
		error = history_open(r->state, r->file, &r->result->book);
	if (!error)
		error = history_undo_catch_up(r);
	if (!error)
		error = history_undo_read_state(r, kept);
	return error ? error : put_noted(r, *kept);
}

static int restore_once(struct restoring *r)
{
	int kept = -1, error;

	if (r->request->only_look) {
		error = history_undo_read_state(r, &kept);
	} else {
		/* Check before state_lock(), which would make a missing state directory. */
		error = history_open(r->state, r->file, &r->result->book);
		history_release(&r->result->book);
		if (error)
			return error;
		error = state_lock(r->state);
		if (error)
			return error;
		error = restore_locked(r, &kept);
		state_unlock(r->state);
	}
	if (kept >= 0)
		close(kept);
	return error;
}

#define TRIES 50
#define STEP_MS 20 /* milliseconds between two attempts */

int history_restore(struct history *h, const struct history_file *file,
		    const struct history_request *request, struct history_result *result)
{
	struct restoring r = {.history = h,
			      .state = history_state(h),
			      .file = file,
			      .request = request,
			      .result = result};
	int error = EAGAIN;

	*result = (struct history_result){.book = HISTORY_BOOK_INIT};
	for (unsigned i = 0; i < TRIES && (error == EAGAIN || error == EBUSY); i++) {
		if (i > 0)
			clock_sleep(STEP_MS);
		history_release(&result->book);
		error = restore_once(&r);
	}
	return error;
}
