/* SPDX-License-Identifier: GPL-3.0-or-later */
/* show.c - `animfs ls` and `animfs cat`. */
#include "cmd.h"
#include "color.h"

#include "../view/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- ls ---- */

struct listed {
	bool json, null, several;
	bool first;       /* of all paths, or of the entries of one in JSON */
	const char *path; /* of the folder at hand */
	struct buf out;   /* JSON */
};

static const char *editable(const struct place *place)
{
	const struct view *view = place->view;

	return view->parse || view->parse_skeleton || view->whole ? "true" : "false";
}

static void add_json(struct listed *l, const char *name, const struct place *place)
{
	json_write_comma(&l->out, &l->first, "\n    ");
	buf_text(&l->out, "{\"name\": ");
	json_write_name(&l->out, name);
	if (place->kind == PLACE_VIEW)
		buf_format(&l->out, ", \"type\": \"view\", \"view\": \"%s\", \"editable\": %s}",
			   place->view->name, editable(place));
	else
		buf_text(&l->out, ", \"type\": \"folder\"}");
}

/* A path that cat and put take. */
static void print_path(const char *folder, const char *name, bool is_view)
{
	size_t length = strlen(folder);

	printf("%s%s%s%s%c", folder, length && folder[length - 1] == '/' ? "" : "/", name,
	       is_view ? "" : "/", '\0');
}

static bool add_name(void *closure, const char *name, const struct place *place)
{
	struct listed *l = closure;
	bool is_view = place->kind == PLACE_VIEW;

	if (l->json)
		add_json(l, name, place);
	else if (l->null)
		print_path(l->path, name, is_view);
	else if (is_view)
		puts(name);
	else
		printf("%s%s%s/\n", color_begin(stdout, COLOR_FOLDER), name, color_end(stdout));
	return true;
}

static void begin_path(struct listed *l, const char *path)
{
	if (l->json) {
		json_write_comma(&l->out, &l->first, "\n  ");
		buf_text(&l->out, "{\"path\": ");
		json_write_name(&l->out, path);
		buf_text(&l->out, ", ");
	} else if (l->several && !l->null) {
		printf("%s%s:\n", l->first ? "" : "\n", path);
	}
	l->path = path;
	l->first = l->json;
}

static void list_folder(struct listed *l, const struct target *t)
{
	if (l->json)
		buf_text(&l->out, "\"type\": \"folder\", \"entries\": [");
	tree_list(&t->tree, &t->place, VIEW_SET_ALL, add_name, l);
	if (l->json)
		buf_text(&l->out, l->first ? "]}" : "\n  ]}");
}

static void list_view(struct listed *l, const struct target *t)
{
	if (l->json)
		buf_format(&l->out, "\"type\": \"view\", \"view\": \"%s\", \"editable\": %s}",
			   t->place.view->name, editable(&t->place));
	else
		printf("%s%c", l->path, l->null ? '\0' : '\n');
}

static void list_failure(struct listed *l, const char *path, const struct err *err)
{
	command_tell(path, err);
	if (!l->json)
		return;
	begin_path(l, path);
	buf_text(&l->out, "\"error\": ");
	json_write_name(&l->out, command_message(path, err));
	buf_char(&l->out, '}');
}

static bool list(struct listed *l, const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = target_read(&t, path, command, 0, &err) && target_find(&t, &err);

	if (!fine) {
		list_failure(l, path, &err);
	} else if (t.place.kind == PLACE_VIEW && !l->json) {
		l->path = path;
		list_view(l, &t);
	} else {
		begin_path(l, path);
		if (t.place.kind == PLACE_VIEW)
			list_view(l, &t);
		else
			list_folder(l, &t);
	}
	target_release(&t);
	l->first = false;
	return fine;
}

static bool list_all(struct listed *l, char **paths, const struct command *command)
{
	bool fine = true;

	l->first = true;
	if (l->json)
		buf_text(&l->out, "{\"format\": \"animfs.ls/1\", \"paths\": [");
	for (; *paths; paths++)
		fine &= list(l, *paths, command);
	if (l->json)
		buf_text(&l->out, "\n]}\n");
	if (l->out.failed)
		return command_fail("ls", strerror(ENOMEM));
	command_print(&l->out);
	return fine;
}

static const char ls_usage[] =
	"Usage: animfs ls [OPTION]... FILE[/PATH]...\n"
	"List what a mount shows in animation files; folders end in '/'.\n"
	"\n"
	"Options:\n"
	"  -0, --null              whole paths, as cat takes them, each ended by NUL\n"
	"      --json              one JSON document, animfs.ls/1 (see animfs(1))\n" HELP_READS
		HELP_BVH HELP_COLOR HELP_END "\n"
	"Exit status:\n"
	"  0  all was listed\n"
	"  2  the call was wrong, or something could not be listed\n";

int cmd_ls(int argc, char **argv)
{
	struct listed l = {.out = BUF_INIT};
	const struct command_option own[] = {
		{"0,null", &l.null, NULL}, {"json", &l.json, NULL}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, ls_usage, &status))
		return status;
	l.several = argc > 1;
	status = STATUS_TROUBLE;
	if (l.json && l.null)
		command_misuse(&command, "--json and --null exclude each other");
	else if (command_operands(&command, argc, argv, 1, argc) && list_all(&l, argv, &command))
		status = STATUS_FINE;
	buf_release(&l.out);
	return command_end(&command, status);
}

/* ---- cat ---- */

static bool print_view(const char *path, const struct command *command)
{
	struct buf text = BUF_INIT;
	struct target t;
	bool fine = target_open(&t, path, command, 0);

	if (fine && t.place.kind != PLACE_VIEW)
		fine = command_fail(path, strerror(EISDIR));
	if (fine) {
		int error = tree_render(&t.tree, &t.place, &text);

		command_print(&text);
		fine = !error || command_fail(path, strerror(error));
	}
	buf_release(&text);
	target_release(&t);
	return fine;
}

static const char cat_usage[] =
	"Usage: animfs cat [OPTION]... FILE/PATH...\n"
	"Print views of animation files, as reading them in a mount does.\n"
	"\n"
	"Options:\n" HELP_READS HELP_MAX_TEXT HELP_TIMES HELP_PICTURES HELP_BVH HELP_END "\n"
	"Exit status:\n"
	"  0  all was printed\n"
	"  2  the call was wrong, or something could not be printed\n";

int cmd_cat(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, cat_usage, &status))
		return status;
	status = command_operands(&command, argc, argv, 1, argc) ? STATUS_FINE : STATUS_TROUBLE;
	for (int i = 0; i < argc; i++) {
		if (!print_view(argv[i], &command))
			status = STATUS_TROUBLE;
	}
	return command_end(&command, status);
}
