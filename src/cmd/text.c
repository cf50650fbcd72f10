/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - `animfs text`: every clip of a file as one text, for git to compare. */
#include "cmd.h"

#include "edit/listing.h"

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

static void text_print_reason(const struct err *err)
{
	printf("not decoded: %s", err->message);
	if (err->line)
		printf(" (in line %zu, column %zu)", err->line, err->column);
	else if (err->placed)
		printf(" (at byte %zu)", err->at);
	putchar('\n');
}

/*
 * Prints the text of a file; of one that cannot be decoded, the reason: if the program failed, git
 * would stop, even if other versions of the file are fine.
 */
static bool print_text(const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = true;

	if (target_read(&t, path, command, TARGET_ANY, &err))
		fine = *t.inside
			       ? command_fail(path, "expected only FILE; animfs cat prints a view")
			       : print_listing(&t, path);
	else if (err.code == ERR_FORMAT || err.code == ERR_UNKNOWN)
		text_print_reason(&err);
	else
		fine = command_error(path, &err);
	target_release(&t);
	return fine;
}

static const char usage[] =
	"Usage: animfs text [OPTION]... FILE\n"
	"Print an animation file as one text with a line for each key. For git:\n"
	"  git config diff.animation.textconv 'animfs text'\n"
	"  echo '*.canm diff=animation' >> .gitattributes\n"
	"For a file that does not decode, print one line with the reason.\n"
	"\n"
	"Options:\n" HELP_READS HELP_TIMES HELP_SITE HELP_END "\n"
	"Exit status:\n"
	"  0  the file was printed\n"
	"  2  usage error, or the file cannot be read\n";

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
