/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.c - `animfs log` and `animfs forget`: lists and removes the versions of a file. */
#include "util/clock.h"
#include "versions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define POLL_MS 200
#define GAP_MAX 32 /* earlier files in a row whose versions were forgotten */

/* ---- of a view ---- */

/* Did the view change in this version? `before`: the digest of its previous text. */
static bool changes_view(struct versions *v, size_t i, struct history_digest *before)
{
	struct history_digest now = {0, 0};
	struct err err = {.code = ERR_NONE};
	struct buf text = BUF_INIT;
	bool changed;

	if (versions_text(v, i, &text, &err))
		now = history_digest_of(buf_bytes(&text));
	changed = !history_digest_same(&now, before);
	*before = now;
	buf_release(&text);
	return changed;
}

/* Returns which versions to list; the caller frees the array. NULL when out of memory. */
static bool *choose_versions(struct versions *v)
{
	const struct history_log *log = &v->book.log;
	struct history_digest said = {0, 0};
	bool *listed = calloc(log->count + 1, sizeof(*listed));

	for (size_t i = 0; listed && i < log->count; i++) {
		bool last = i + 1 == log->count;

		listed[i] = last || log->list[i].kind == HISTORY_REMOVED || versions_have(v, i);
		if (listed[i] && *v->t.inside)
			listed[i] = versions_have(v, i) && changes_view(v, i, &said);
	}
	return listed;
}

struct listing {
	const struct command *command;
	const char *path;
	bool follow, json;
};

static bool list_version(const struct listing *l, const struct versions *v, size_t i)
{
	struct buf line = BUF_INIT;
	bool fine;

	if (!l->json) {
		versions_print(v, i);
		return true;
	}
	versions_write_json(v, i, l->path, &line);
	fine = !line.failed;
	if (fine)
		command_print(&line);
	buf_release(&line);
	return fine;
}

static bool print_all(const struct listing *l, struct versions *v, struct err *err)
{
	bool *listed = choose_versions(v), any = false, fine = listed != NULL;

	for (size_t i = v->book.log.count; fine && i-- > 0;) {
		if (listed[i])
			fine = list_version(l, v, i);
		any |= listed[i];
	}
	free(listed);
	return fine ? any || versions_check_view(v, err) : err_memory(err);
}

/* ---- --follow ---- */

/* Prints the versions after `number`, and sets `number` to the last. */
static bool print_newer(const struct listing *l, struct versions *v, uint64_t *number)
{
	const struct history_log *log = &v->book.log;
	bool *listed, fine;

	if (history_log_last(log)->number <= *number)
		return true;
	listed = choose_versions(v);
	fine = listed != NULL;
	for (size_t i = 0; fine && i < log->count; i++) {
		if (listed[i] && log->list[i].number > *number)
			fine = list_version(l, v, i);
	}
	free(listed);
	fflush(stdout);
	*number = history_log_last(log)->number;
	return fine;
}

/* Prints new versions until a signal, or until the reader of a pipe has gone. */
static int follow_log(const struct listing *l)
{
	uint64_t number = 0;
	bool first = true;

	while (!ferror(stdout)) {
		struct err err = {.code = ERR_NONE};
		struct versions v;
		bool fine = versions_open(&v, l->path, l->command, &err);

		if (fine && first)
			number = history_log_last(&v.book.log)->number;
		if (fine && !print_newer(l, &v, &number))
			fine = err_memory(&err);
		versions_release(&v);
		if (!fine && err.number != ENODATA) {
			command_error(l->path, &err);
			return STATUS_TROUBLE;
		}
		first = false;
		clock_sleep(POLL_MS);
	}
	return STATUS_FINE;
}

/* ---- log ---- */

/* Is the file that is there now, if any, its owner's, too? */
static bool is_for_owner(const struct versions *v, const struct history_book *earlier)
{
	struct stat st;

	return !v->is_there || (!fstatat(v->file.dir, v->file.name, &st, AT_SYMLINK_NOFOLLOW) &&
				history_log_last(&earlier->log)->uid == st.st_uid);
}

/* Names the removed files that had this name before another file got it. */
static void list_earlier(const struct versions *v)
{
	struct history_file file = {.dir = -1, .folder = v->file.folder};
	char name[PATH_MAX];
	unsigned listed = 0;

	for (unsigned i = 1, gap = 0; v->file.name && gap < GAP_MAX; i++, gap++) {
		struct history_book book;

		if (!history_earlier(v->file.name, i, name))
			break;
		file.name = name;
		if (!history_open_end(v->t.site.state, &file, &book)) {
			gap = 0;
			if (is_for_owner(v, &book))
				printf("%s %s",
				       listed++ ? "" : "earlier files of this name:", name);
		}
		history_release(&book);
	}
	if (listed)
		putchar('\n');
}

static int log_list_versions(const struct listing *l)
{
	struct err err = {.code = ERR_NONE};
	struct versions v;
	int status = STATUS_FINE;

	if (!versions_open(&v, l->path, l->command, &err)) {
		command_error(l->path, &err);
		status = err.number == ENODATA ? STATUS_REFUSED : STATUS_TROUBLE;
	} else if (!print_all(l, &v, &err)) {
		command_error(l->path, &err);
		status = STATUS_TROUBLE;
	}
	if (!l->json)
		list_earlier(&v);
	versions_release(&v);
	return status;
}

static const char log_usage[] =
	"Usage: animfs log [OPTION]... FILE[/PATH]\n"
	"List the versions of an animation file, or of one view of it, newest first:\n"
	"number, time, changes, and the program that saved it. '*' marks the version\n"
	"that the file is now. FILE may be in a mount.\n"
	"\n"
	"Options:\n"
	"      --follow            print new versions as they come, until interrupted\n"
	"      --json              one JSON object per line for each version:\n"
	"                            animfs.log/1, see animfs(1)\n" HELP_READS HELP_SITE HELP_COLOR
		HELP_END "\n"
	"Exit status:\n"
	"  0  the versions were listed\n"
	"  1  there are no versions\n"
	"  2  usage or I/O error\n";

int cmd_log(int argc, char **argv)
{
	struct command command;
	struct listing l = {.command = &command};
	const struct command_option own[] = {
		{"follow", &l.follow, NULL}, {"json", &l.json, NULL}, {NULL, NULL, NULL}};
	int status;

	if (!command_begin(&argc, &argv, &command, own, log_usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1)) {
		l.path = argv[0];
		status = l.follow ? follow_log(&l) : log_list_versions(&l);
	}
	return command_end(&command, status);
}

/* ---- forget ---- */

static bool forget_versions(const struct versions *v, struct err *err)
{
	int error = state_lock(v->t.site.state);

	if (error)
		return err_system(err, error, v->file.name);
	error = history_forget(v->t.site.state, &v->file);
	state_unlock(v->t.site.state);
	return !error || err_system(err, error, v->file.name);
}

static int forget_path(const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct versions v;
	bool fine = versions_open(&v, path, command, &err);

	if (fine && *v.t.inside) {
		err_set(&err, ERR_TEXT, "FILE has versions, a view has none of its own");
		err.number = EINVAL;
		fine = false;
	}
	if (fine)
		fine = forget_versions(&v, &err);
	else if (err.number == ENODATA)
		(void)forget_versions(
			&v, NULL); /* without versions, this deletes only leftover digests */
	versions_release(&v);
	if (fine)
		return STATUS_FINE;
	command_error(path, &err);
	return err.number == ENODATA ? STATUS_REFUSED : STATUS_TROUBLE;
}

static const char forget_usage[] =
	"Usage: animfs forget [OPTION]... FILE\n"
	"Delete all old versions of an animation file. This cannot be undone.\n"
	"\n"
	"Options:\n" HELP_SITE HELP_END "\n"
	"Exit status:\n"
	"  0  they are deleted\n"
	"  1  there were none\n"
	"  2  usage or I/O error\n";

int cmd_forget(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, forget_usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1))
		status = forget_path(argv[0], &command);
	return command_end(&command, status);
}
