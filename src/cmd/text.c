/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - `animfs text`: every clip of a file as one text, for git to compare. */
#include "cmd.h"

#include "../listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool print_listing(const struct target *t, const char *path)
{
	struct listing l = LISTING_INIT;
	bool fine;

	listing_anim(&l, t->version->anim);
	fine = !listing_failed(&l);
	if (fine)
		command_print(&l.text);
	else
		command_fail(path, strerror(ENOMEM));
	listing_release(&l);
	return fine;
}

/*
 * A file that is there and cannot be decoded has its reason as its text: git gives up where a
 * program fails, though other versions of the file may be fine.
 */
static bool print_text(const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = true;

	if (target_read(&t, path, command, TARGET_ANY, &err))
		fine = *t.inside ? command_fail(path, strerror(ENOTDIR)) : print_listing(&t, path);
	else if (err.code == ERR_FORMAT || err.code == ERR_UNKNOWN)
		printf("not decoded: %s (at byte %zu)\n", err.message, err.at);
	else
		fine = command_tell(path, &err);
	target_release(&t);
	return fine;
}

static const char usage[] =
	"Usage: animfs text [OPTION]... FILE\n"
	"Print every clip of an animation file as one text, a line for each key. For git:\n"
	"  git config diff.animation.textconv 'animfs text'\n"
	"  echo '*.canm diff=animation' >> .gitattributes\n"
	"A file that does not decode is one line that says why.\n"
	"\n"
	"Options:\n" HELP_READS HELP_TIMES HELP_END "\n"
	"Exit status:\n"
	"  0  it was printed\n"
	"  2  the call was wrong, or there is no such file, or it cannot be read\n";

int cmd_text(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1) && print_text(argv[0], &command))
		status = STATUS_FINE;
	return command_end(&command, status);
}
