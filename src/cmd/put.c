/* SPDX-License-Identifier: GPL-3.0-or-later */
/* put.c - `animfs put`: saves a text as a view, as writing it in a mount does. */
#include "cmd.h"
#include "color.h"

#include "disk/refusal.h"
#include "options.h"
#include "store/draft.h"
#include "text/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool put_read_all(FILE *in, size_t limit, struct buf *out)
{
	uint8_t part[65536];
	size_t size;

	errno = 0;
	while ((size = fread(part, 1, sizeof(part), in)) > 0 && out->size <= limit)
		buf_add(out, part, size);
	return !out->failed && !ferror(in) && out->size <= limit;
}

/* Reads standard input if `from` is "-" or NULL. */
static bool put_read_text(const char *from, size_t limit, struct buf *out)
{
	bool standard = !from || strcmp(from, "-") == 0;
	FILE *in = standard ? stdin : fopen(from, "re");
	bool fine;

	if (in)
		errno = 0;
	fine = in && put_read_all(in, limit, out);
	if (!fine)
		command_fail(standard ? "standard input" : from, strerror(errno ? errno : EFBIG));
	if (in && !standard)
		fclose(in);
	return fine;
}

/* Prints a refusal with its first line, which has place and reason, in colour. */
static void print_refusal(const struct buf *reason)
{
	const uint8_t *end = memchr(reason->data, '\n', reason->size);
	size_t first = end ? (size_t)(end - reason->data) : reason->size;

	fprintf(stderr, "%s%.*s%s", color_begin(stderr, COLOR_ERROR), (int)first,
		(const char *)reason->data, color_end(stderr));
	fwrite(reason->data + first, 1, reason->size - first, stderr);
}

static void put_print_reason(const char *text_name, struct bytes text, const struct err *err)
{
	struct buf reason = BUF_INIT;

	refusal_explain(text_name, text, err, NULL, &reason);
	if (!reason.failed)
		print_refusal(&reason);
	buf_release(&reason);
}

/* Saves the text, which it takes over. */
static int put_save_text(struct target *t, const char *text_name, struct buf *text)
{
	struct err err = {.code = ERR_NONE};
	struct attempt attempt = {.text = text_new(text), .event = DRAFT_SAVE};
	enum verdict verdict = VERDICT_REFUSED;
	const char *ignored;

	attempt.base = version_get(t->version);
	attempt.place = t->place;
	if (attempt.text)
		verdict = attempt_commit(&attempt, t->source, &t->where, &err);
	else
		err_memory(&err);
	if (verdict == VERDICT_REFUSED)
		put_print_reason(text_name, text_bytes(attempt.text), &err);
	else if ((ignored = table_ignored(t->place.view->file, text_bytes(attempt.text))))
		command_fail(text_name, ignored);
	attempt_release(&attempt);
	return verdict == VERDICT_REFUSED ? command_status(&err) : STATUS_FINE;
}

static int put_text(const struct command *command, const char *path, const char *from)
{
	struct buf text = BUF_INIT;
	struct target t;
	int status = STATUS_TROUBLE;
	bool fine = target_open(&t, path, command, TARGET_WRITE);

	if (fine && target_is_view(&t, path) && put_read_text(from, command->max_text, &text))
		status = put_save_text(&t, from && strcmp(from, "-") != 0 ? from : path, &text);
	buf_release(&text);
	target_release(&t);
	return status;
}

static const char usage[] =
	"Usage: animfs put [OPTION]... FILE/PATH [TEXT]\n"
	"Save the file TEXT as a view of an animation file. Without TEXT, or if it is -,\n"
	"save standard input. A text with a mistake is refused with TEXT:LINE:COLUMN: and\n"
	"the reason on standard error.\n"
	"\n"
	"Options:\n" HELP_MAX_TEXT HELP_PICTURES HELP_INTERCHANGE COMMAND_WRITES;

int cmd_put(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 2))
		status = put_text(&command, argv[0], argc > 1 ? argv[1] : NULL);
	return command_end(&command, status);
}
