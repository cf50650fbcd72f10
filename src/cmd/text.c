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

	listing_anim(&l, t->snap->anim);
	fine = !listing_failed(&l);
	if (fine)
		fwrite(l.text.data, 1, l.text.size, stdout);
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

int cmd_text(int argc, char **argv)
{
	static const char usage[] = "Usage: animfs text [--type GLOB=FORMAT] [--rate FORMAT=HZ] "
				    "[--rotations FORM] FILE\n"
				    "Prints every clip of an animation file as one text, a line "
				    "for each key. For git:\n"
				    "  git config diff.animation.textconv 'animfs text'\n"
				    "  echo '*.canm diff=animation' >> .gitattributes\n"
				    "A file that does not decode is one line that says why.\n";
	struct command command;
	int status;
	bool fine;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	if (argc != 1) {
		fprintf(stderr, "%s", usage);
		command_release(&command);
		return 2;
	}
	fine = print_text(argv[0], &command);
	command_release(&command);
	return command_flush() && fine ? 0 : 1;
}
