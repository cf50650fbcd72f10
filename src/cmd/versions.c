/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "versions.h"

#include "color.h"
#include "disk/dirfd.h"
#include "view/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the file ---- */

/*
 * Chooses the file whose versions are meant: a skeleton has versions of its own; raw.* has those of
 * the file.
 */
static void choose_file(struct versions *v)
{
	struct target *t = &v->t;
	bool skeleton = strcmp(t->inside, SKELETON_FILE) == 0;
	bool raw = strncmp(t->inside, "raw", 3) == 0 &&
		   (!t->inside[3] || (t->inside[3] == '.' && !strchr(t->inside, '/')));

	v->file = (struct history_file){
		.dir = t->folder, .folder = t->where.folder, .name = t->where.name};
	if (skeleton && skeleton_own_name(t->where.name, v->name))
		t->file_name = v->file.name = v->name;
	if (skeleton || raw)
		t->inside = "";
}

static bool explain_error(int error, const char *name, struct err *err)
{
	if (error == ENODATA)
		err_set(err, ERR_SYSTEM,
			"no versions are known of it: it was not saved yet, or with --history=0");
	else if (error == EACCES)
		err_set(err, ERR_SYSTEM, "its versions belong to the user who mounts it: %s",
			strerror(error));
	else
		return err_system(err, error, name);
	if (err)
		err->number = error;
	return false;
}

/* Reads the file and its log. */
static bool read_both(struct versions *v, struct err *err)
{
	struct stat st;
	int error;

	history_release(&v->book);
	buf_clear(&v->live);
	/* The folder of a loose file may not exist yet. */
	error = v->file.dir < 0 ? ENOENT
				: dirfd_read(v->file.dir, v->file.name, SIZE_MAX, &v->live, &st);
	v->is_there = !error;
	if (error == EISDIR)
		return target_refuse_folder(&v->t, err);
	if (error && error != ENOENT)
		return err_system(err, error, v->file.name);
	error = history_open(v->t.site.state, &v->file, &v->book);
	if (error == ENODATA && !v->is_there && !v->t.where.loose)
		error = ENOENT;
	return !error || explain_error(error, v->file.name, err);
}

bool versions_open(struct versions *v, const char *path, const struct command *command,
		   struct err *err)
{
	*v = (struct versions){.book = HISTORY_BOOK_INIT};
	if (!target_locate(&v->t, path, command, err))
		return false;
	choose_file(v);
	return read_both(v, err);
}

bool versions_settle(struct versions *v, struct err *err)
{
	int error = state_lock(v->t.site.state);
	bool fine;

	if (error)
		return err_system(err, error, v->file.name);
	fine = read_both(v, err);
	state_unlock(v->t.site.state);
	return fine;
}

void versions_release(struct versions *v)
{
	history_release(&v->book);
	buf_release(&v->live);
	target_release(&v->t);
}

/* ---- the content of versions ---- */

bool versions_current(const struct versions *v)
{
	const struct history_entry *last = history_log_last(&v->book.log);
	struct history_digest now;

	if (!v->is_there || last->kind == HISTORY_REMOVED)
		return !v->is_there && last->kind == HISTORY_REMOVED;
	now = history_digest_of(buf_bytes(&v->live));
	return history_digest_same(&now, &last->digest);
}

/* Is version i the one that is on disk? */
static bool is_live(const struct versions *v, size_t i)
{
	const struct history_entry *e = &v->book.log.list[i];
	struct history_digest now;

	if (!v->is_there || e->kind == HISTORY_REMOVED || e->size != v->live.size)
		return false;
	now = history_digest_of(buf_bytes(&v->live));
	return history_digest_same(&now, &e->digest);
}

bool versions_have(const struct versions *v, size_t i)
{
	return history_kept(&v->book.log, i) != SIZE_MAX || is_live(v, i);
}

bool versions_bytes(const struct versions *v, size_t i, struct buf *out, struct err *err)
{
	size_t kept = history_kept(&v->book.log, i);
	int error = 0;

	if (kept != SIZE_MAX)
		error = history_bytes(&v->book, kept, out, NULL);
	else
		buf_add(out, v->live.data, v->live.size);
	if (out->failed)
		return err_memory(err);
	return !error || err_system(err, error, v->file.name);
}

struct version *versions_decode(struct versions *v, size_t i, struct err *err)
{
	struct buf bytes = BUF_INIT;
	struct version *version = NULL;

	if (versions_bytes(v, i, &bytes, err))
		version = source_decode(v->t.source, &v->t.where, buf_bytes(&bytes), err);
	buf_release(&bytes);
	return version;
}

bool versions_text(struct versions *v, size_t i, struct buf *out, struct err *err)
{
	struct version *version = versions_decode(v, i, err);
	const struct tree tree = {version, version ? version->file_name : NULL};
	struct place place;
	int error = 0;
	bool found;

	if (!version)
		return false;
	found = tree_walk(&tree, v->t.inside, &place) && place.kind == PLACE_VIEW;
	if (found)
		error = tree_render(&tree, &place, out);
	version_put(version);
	return found && (!error || err_system(err, error, v->t.inside));
}

static bool versions_has_place(struct versions *v, size_t i)
{
	struct err err = {.code = ERR_NONE};
	struct version *version = versions_have(v, i) ? versions_decode(v, i, &err) : NULL;
	struct place place;
	bool has =
		version && tree_walk(&(struct tree){version, v->t.file_name}, v->t.inside, &place);

	version_put(version);
	return has;
}

/* Explains that version i lacks a place; if that was removed from the file, says when. */
static void explain_removed(struct versions *v, size_t i, struct err *err)
{
	size_t had = i;

	while (had > 0 && !versions_has_place(v, had - 1))
		had--;
	if (had == 0)
		return;
	err_clear(err);
	err_set(err, ERR_OPERAND,
		"version %" PRIu64 " removed it: undo of the whole file brings it back",
		v->book.log.list[had].number);
}

bool versions_check_view(struct versions *v, struct err *err)
{
	struct version *version;
	struct place place;
	size_t i = v->book.log.count;
	bool found;

	while (i > 0 && !versions_have(v, i - 1))
		i--;
	version = *v->t.inside && i > 0 ? versions_decode(v, i - 1, err) : NULL;
	if (!version)
		return !err->code;
	found = tree_resolve(&(struct tree){version, v->t.file_name}, v->t.inside, &place, err);
	if (found && place.kind != PLACE_VIEW)
		found = err_set(err, ERR_OPERAND, "a folder; expected a file or a view");
	else if (!found)
		explain_removed(v, i - 1, err);
	version_put(version);
	return found;
}

bool versions_number(const struct versions *v, const char *number, size_t *i, struct err *err)
{
	char *end;
	uint64_t n = strtoull(number, &end, 10);

	*i = *number >= '0' && *number <= '9' && !*end ? history_log_find(&v->book.log, n)
						       : SIZE_MAX;
	if (*i != SIZE_MAX && versions_have(v, *i))
		return true;
	return err_set(err, ERR_OPERAND,
		       "no version %.20s is kept; animfs log lists those that are", number);
}

/* ---- for people ---- */

/* Formats ns since 1970 as "2026-11-23 14:50:01". */
static void versions_time(int64_t time, char out[64])
{
	time_t seconds = (time_t)(time / 1000000000);
	struct tm local;

	out[0] = '\0';
	if (localtime_r(&seconds, &local))
		strftime(out, 64, "%Y-%m-%d %H:%M:%S", &local);
}

static bool is_present(const struct versions *v, size_t i)
{
	return i + 1 == v->book.log.count && versions_current(v);
}

void versions_print(const struct versions *v, size_t i)
{
	const struct history_entry *e = &v->book.log.list[i];
	char when[64];

	versions_time(e->time, when);
	printf("%s%c%5" PRIu64 "%s  %s  %s", color_begin(stdout, COLOR_HEAD),
	       is_present(v, i) ? '*' : ' ', e->number, color_end(stdout), when,
	       *e->what ? e->what : "saved");
	if (*e->view)
		printf(" (%s)", e->view);
	if (e->unfinished)
		printf(" (unfinished)");
	if (*e->program)
		printf("  [%s]", e->program);
	if (e->batch)
		printf("  batch %016" PRIx64, e->batch);
	putchar('\n');
}

/* ---- for programs ---- */

static void versions_write_bool(struct buf *out, const char *name, bool value)
{
	buf_format(out, ", \"%s\": %s", name, value ? "true" : "false");
}

/* Writes a text; "" means that it is not known. */
static void versions_write_text(struct buf *out, const char *name, const char *text)
{
	buf_format(out, ", \"%s\": ", name);
	if (*text)
		json_write_name(out, text);
	else
		buf_text(out, "null");
}

/*
 * Writes the version that an undo or redo leads to, which is the same in the view, or in the file
 * if `view` is "".
 */
static void versions_write_step(struct buf *out, const struct history_entry *e)
{
	buf_format(out, ", \"to\": %" PRIu64, e->back);
	versions_write_text(out, "view", e->view);
}

void versions_write_json(const struct versions *v, size_t i, const char *path, struct buf *out)
{
	static const char *const kinds[HISTORY_KINDS] = {[HISTORY_EDIT] = "edit",
							 [HISTORY_MADE] = "made",
							 [HISTORY_FOUND] = "found",
							 [HISTORY_REMOVED] = "removed",
							 [HISTORY_STEP] = "step"};
	const struct history_entry *e = &v->book.log.list[i];
	const int64_t ms = e->time / 1000000;

	buf_text(out, "{\"format\": \"animfs.log/1\", \"path\": ");
	json_write_name(out, path);
	buf_format(out, ", \"number\": %" PRIu64 ", \"time\": %s%" PRId64 ".%03d", e->number,
		   ms < 0 ? "-" : "", ms < 0 ? -(ms / 1000) : ms / 1000,
		   (int)(ms < 0 ? -(ms % 1000) : ms % 1000));
	buf_format(out, ", \"kind\": \"%s\"", kinds[e->kind]);
	versions_write_text(out, "what", e->what);
	if (e->kind == HISTORY_STEP)
		versions_write_step(out, e);
	versions_write_text(out, "program", e->program);
	if (e->batch)
		buf_format(out, ", \"batch\": \"%016" PRIx64 "\"", e->batch);
	else
		buf_text(out, ", \"batch\": null");
	buf_format(out, ", \"size\": %" PRIu64, e->size);
	versions_write_bool(out, "unfinished", e->unfinished);
	versions_write_bool(out, "kept", versions_have(v, i));
	versions_write_bool(out, "current", is_present(v, i));
	buf_text(out, "}\n");
}
