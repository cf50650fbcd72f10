/* SPDX-License-Identifier: GPL-3.0-or-later */
/* put.c - `animfs put`: saves standard input as a view, as writing it in a mount does. */
#include "cmd.h"

#include "../draft.h"
#include "../refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT ((size_t)1 << 30)

static bool read_all(FILE *in, struct buf *out)
{
	uint8_t part[65536];
	size_t size;

	while ((size = fread(part, 1, sizeof(part), in)) > 0 && out->size <= MAX_TEXT)
		buf_add(out, part, size);
	return !out->failed && !ferror(in) && out->size <= MAX_TEXT;
}

static bool save(struct target *t, const char *path, struct buf *text)
{
	struct err err = {.code = ERR_NONE};
	struct draft *draft = draft_new();
	struct buf reason = BUF_INIT;
	enum verdict verdict = VERDICT_REFUSED;

	if (draft) {
		draft_begin(draft, t->snap, &t->place);
		draft_replace(draft, text);
		verdict =
			draft_commit(draft, DRAFT_DEMAND, t->source, t->folder, t->file_name, &err);
	} else {
		err_memory(&err);
	}
	if (verdict == VERDICT_REFUSED) {
		refusal_explain(path, draft ? buf_bytes(&draft->text) : (struct bytes){NULL, 0},
				&err, NULL, &reason);
		fwrite(reason.data, 1, reason.size, stderr);
	}
	buf_release(&reason);
	draft_free(draft);
	return verdict != VERDICT_REFUSED;
}

int cmd_put(int argc, char **argv)
{
	static const char usage[] = "Usage: animfs put [OPTION]... FILE/PATH < TEXT\n"
				    "Saves standard input as a view: the file is re-encoded and "
				    "replaced.\n" COMMAND_WRITES;
	struct command command;
	struct buf text = BUF_INIT;
	struct target t;
	int status = 2;
	bool fine;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	if (argc != 1) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	fine = target_open(&t, argv[0], &command, TARGET_WRITE);
	if (fine && t.place.kind != PLACE_VIEW) {
		fprintf(stderr, "animfs: %s: %s\n", argv[0], strerror(EISDIR));
		fine = false;
	}
	if (fine && !read_all(stdin, &text)) {
		fprintf(stderr, "animfs: standard input: %s\n", strerror(errno ? errno : EFBIG));
		fine = false;
	}
	if (fine)
		fine = save(&t, argv[0], &text);
	buf_release(&text);
	target_release(&t);
	command_release(&command);
	return fine ? 0 : 1;
}
