/* SPDX-License-Identifier: GPL-3.0-or-later */
/* put.c - `animfs put`: saves a text as a view, as writing it in a mount does. */
#include "cmd.h"
#include "color.h"

#include "../options.h"
#include "../refusal.h"
#include "../store/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_all(FILE *in, size_t limit, struct buf *out)
{
	uint8_t part[65536];
	size_t size;

	errno = 0;
	while ((size = fread(part, 1, sizeof(part), in)) > 0 && out->size <= limit)
		buf_add(out, part, size);
	return !out->failed && !ferror(in) && out->size <= limit;
}

/* Standard input for "-" or NULL. */
static bool read_text(const char *from, size_t limit, struct buf *out)
{
	bool standard = !from || strcmp(from, "-") == 0;
	FILE *in = standard ? stdin : fopen(from, "re");
	bool fine;

	if (in)
		errno = 0;
	fine = in && read_all(in, limit, out);
	if (!fine)
		command_fail(standard ? "standard input" : from, strerror(errno ? errno : EFBIG));
	if (in && !standard)
		fclose(in);
	return fine;
}

/* Its first line says what and where; the others show it. */
static void print_refusal(const struct buf *reason)
{
	const uint8_t *end = memchr(reason->data, '\n', reason->size);
	size_t first = end ? (size_t)(end - reason->data) : reason->size;

	fprintf(stderr, "%s%.*s%s", color_begin(stderr, COLOR_ERROR), (int)first,
		(const char *)reason->data, color_end(stderr));
	fwrite(reason->data + first, 1, reason->size - first, stderr);
}

static void print_reason(const char *text_name, struct bytes text, const struct err *err)
{
	struct buf reason = BUF_INIT;

	refusal_explain(text_name, text, err, NULL, &reason);
	if (!reason.failed)
		print_refusal(&reason);
	buf_release(&reason);
}

/* The text is taken over. */
static int save(struct target *t, const char *text_name, struct buf *text)
{
	struct err err = {.code = ERR_NONE};
	struct attempt attempt = {.text = text_new(text), .event = DRAFT_SAVE};
	enum verdict verdict = VERDICT_REFUSED;

	attempt.base = version_get(t->version);
	attempt.place = t->place;
	if (attempt.text)
		verdict = attempt_commit(&attempt, t->source, &t->where, &err);
	else
		err_memory(&err);
	if (verdict == VERDICT_REFUSED)
		print_reason(text_name, text_bytes(attempt.text), &err);
	attempt_release(&attempt);
	return verdict == VERDICT_REFUSED ? command_status(&err) : STATUS_FINE;
}

static int put(const struct command *command, const char *path, const char *from)
{
	struct buf text = BUF_INIT;
	struct target t;
	int status = STATUS_TROUBLE;
	bool fine = target_open(&t, path, command, TARGET_WRITE);

	if (fine && t.place.kind != PLACE_VIEW)
		fine = command_fail(path, strerror(EISDIR));
	if (fine && read_text(from, command->max_text, &text))
		status = save(&t, from && strcmp(from, "-") != 0 ? from : path, &text);
	buf_release(&text);
	target_release(&t);
	return status;
}

static const char usage[] =
	"Usage: animfs put [OPTION]... FILE/PATH [TEXT]\n"
	"Save the file TEXT as a view of an animation file, which is encoded anew and\n"
	"replaced. Without TEXT, or when it is -, standard input is saved. A text that is\n"
	"wrong is refused with TEXT:LINE:COLUMN: and the reason on standard error.\n"
	"\n"
	"Options:\n" HELP_MAX_TEXT HELP_PICTURES HELP_BVH COMMAND_WRITES;

int cmd_put(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 2))
		status = put(&command, argv[0], argc > 1 ? argv[1] : NULL);
	return command_end(&command, status);
}
