/* SPDX-License-Identifier: GPL-3.0-or-later */
/* show.c - `animfs ls` and `animfs cat`. */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool print_name(void *closure, const char *name, const struct place *place)
{
	(void)closure;
	return printf("%s%s\n", name, place->kind == PLACE_VIEW ? "" : "/") >= 0;
}

static bool list(const char *path, const struct command *command)
{
	struct target t;
	bool fine = target_open(&t, path, command, 0);

	if (fine && t.place.kind == PLACE_VIEW)
		fine = printf("%s\n", path) >= 0;
	else if (fine)
		fine = tree_list(&t.tree, &t.place, VIEW_SET_ALL, print_name, NULL);
	target_release(&t);
	return fine;
}

static bool print_view(const char *path, const struct command *command)
{
	struct buf text = BUF_INIT;
	struct target t;
	bool fine = target_open(&t, path, command, 0);

	if (fine && t.place.kind != PLACE_VIEW) {
		fprintf(stderr, "animfs: %s: %s\n", path, strerror(EISDIR));
		fine = false;
	}
	if (fine) {
		tree_render(&t.tree, &t.place, &text);
		fine = !text.failed && fwrite(text.data, 1, text.size, stdout) == text.size;
		if (text.failed)
			fprintf(stderr, "animfs: %s: %s\n", path, strerror(ENOMEM));
	}
	buf_release(&text);
	target_release(&t);
	return fine;
}

/* Both commands: options, then paths, each shown in its turn even where one fails. */
static int show_all(int argc, char **argv, const char *usage,
		    bool (*show)(const char *path, const struct command *command))
{
	struct command command;
	bool fine = true;
	int status = 2;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	if (argc == 0) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	for (int i = 0; i < argc; i++)
		fine &= show(argv[i], &command);
	command_release(&command);
	return command_flush() && fine ? 0 : 1;
}

int cmd_ls(int argc, char **argv)
{
	return show_all(argc, argv,
			"Usage: animfs ls [--type GLOB=FORMAT] [--bvh lossy] FILE[/PATH]...\n"
			"Lists what a mount shows in an animation file; folders end in '/'.\n",
			list);
}

int cmd_cat(int argc, char **argv)
{
	return show_all(argc, argv,
			"Usage: animfs cat [--type GLOB=FORMAT] [--rate FORMAT=HZ] "
			"[--rotations FORM]\n"
			"                  [--bones SHAPE] [--bvh lossy] FILE/PATH...\n"
			"Prints views of an animation file, as reading them in a mount does.\n",
			print_view);
}
