/* SPDX-License-Identifier: GPL-3.0-or-later */
/* show.c - `animfs ls` and `animfs cat`. */
#include "color.h"
#include "versions.h"

#include "view/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- ls ---- */

struct listed {
	bool json, null, several;
	bool first;       /* no path, or no entry of the current one, has been written yet */
	const char *path; /* path of the current folder */
	struct buf out;   /* output as JSON */
};

static const char *is_editable(const struct place *place)
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
			   place->view->name, is_editable(place));
	else
		buf_text(&l->out, ", \"type\": \"folder\"}");
}

/* Prints a path that cat and put accept. */
static void print_path(const char *folder, const char *name, bool is_view)
{
	size_t length = strlen(folder);

	printf("%s%s%s%s%c", folder, length && folder[length - 1] == '/' ? "" : "/", name,
	       is_view ? "" : "/", '\0');
}

static bool show_add_name(void *closure, const char *name, const struct place *place)
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

static void show_list_folder(struct listed *l, const struct target *t)
{
	if (l->json)
		buf_text(&l->out, "\"type\": \"folder\", \"entries\": [");
	tree_list(&t->tree, &t->place, VIEW_SET_ALL, show_add_name, l);
	if (l->json)
		buf_text(&l->out, l->first ? "]}" : "\n  ]}");
}

static void list_view(struct listed *l, const struct target *t)
{
	if (l->json)
		buf_format(&l->out, "\"type\": \"view\", \"view\": \"%s\", \"editable\": %s}",
			   t->place.view->name, is_editable(&t->place));
	else
		printf("%s%c", l->path, l->null ? '\0' : '\n');
}

/* ---- ls in an archive ---- */

/*
 * Adds an entry of an archive. Everything except plain files can be listed, and is shown with a '/'
 * after it.
 */
static void show_add_entry(struct listed *l, const char *name, enum archived_kind kind)
{
	if (l->json) {
		json_write_comma(&l->out, &l->first, "\n    ");
		buf_text(&l->out, "{\"name\": ");
		json_write_name(&l->out, name);
		buf_format(&l->out, ", \"type\": \"%s\"}",
			   kind == ARCHIVED_FILE ? "file" : "folder");
	} else if (l->null) {
		print_path(l->path, name, kind == ARCHIVED_FILE);
	} else if (kind == ARCHIVED_FILE) {
		puts(name);
	} else {
		printf("%s%s%s/\n", color_begin(stdout, COLOR_FOLDER), name, color_end(stdout));
	}
}

static void list_entries(struct listed *l, const struct archived *a)
{
	const struct contents_entry *entries = archived_level(a)->contents->entries;

	if (l->json)
		buf_text(&l->out, "\"type\": \"folder\", \"entries\": [");
	for (uint32_t i = entries[a->entry].first; i != CONTENTS_NONE; i = entries[i].next)
		show_add_entry(l, entries[i].label, archived_kind_of(a, i));
	if (l->json)
		buf_text(&l->out, l->first ? "]}" : "\n  ]}");
}

static void list_archived(struct listed *l, const char *path, const struct archived *a)
{
	bool is_file = archived_kind(a) == ARCHIVED_FILE;

	if (!is_file || l->json)
		begin_path(l, path);
	l->path = path;
	if (!is_file)
		list_entries(l, a);
	else if (l->json)
		buf_text(&l->out, "\"type\": \"file\"}");
	else
		printf("%s%c", path, l->null ? '\0' : '\n');
}

/* ---- ls ---- */

static void list_failure(struct listed *l, const char *path, const struct err *err)
{
	command_error(path, err);
	if (!l->json)
		return;
	begin_path(l, path);
	buf_text(&l->out, "\"error\": ");
	json_write_name(&l->out, command_message(path, err));
	buf_char(&l->out, '}');
}

static bool show_list_path(struct listed *l, const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = target_read(&t, path, command, TARGET_MEMBER, &err);

	if (fine && t.is_archived && archived_kind(&t.archived) == ARCHIVED_ARCHIVE)
		fine = archived_enter(&t.archived, &err);
	if (fine && t.version)
		fine = target_find(&t, &err);
	if (!fine) {
		list_failure(l, path, &err);
	} else if (!t.version) {
		list_archived(l, path, &t.archived);
	} else if (t.place.kind == PLACE_VIEW && !l->json) {
		l->path = path;
		list_view(l, &t);
	} else {
		begin_path(l, path);
		if (t.place.kind == PLACE_VIEW)
			list_view(l, &t);
		else
			show_list_folder(l, &t);
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
		fine &= show_list_path(l, *paths, command);
	if (l->json)
		buf_text(&l->out, "\n]}\n");
	if (l->out.failed)
		return command_fail("ls", strerror(ENOMEM));
	command_print(&l->out);
	return fine;
}

static const char ls_usage[] =
	"Usage: animfs ls [OPTION]... FILE[/PATH]...\n"
	"List the folders and views of animation files, and the members of archives.\n"
	"Folders end in '/'.\n"
	"\n"
	"Options:\n"
	"  -0, --null              print whole paths, for cat, each ended by NUL\n"
	"      --json              print JSON, animfs.ls/1 (see animfs(1))\n" HELP_READS
		HELP_INTERCHANGE HELP_SITE HELP_COLOR HELP_END "\n"
	"Exit status:\n"
	"  0  everything was listed\n"
	"  2  usage or I/O error\n";

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
		command_misuse(&command, "--json and --null cannot be used together");
	else if (command_operands(&command, argc, argv, 1, argc) && list_all(&l, argv, &command))
		status = STATUS_FINE;
	buf_release(&l.out);
	return command_end(&command, status);
}

/* ---- cat ---- */

/* Runs --version: prints the text as it was in a version. */
static bool print_old(const char *path, const struct command *command, const char *number)
{
	struct err err = {.code = ERR_NONE};
	struct buf text = BUF_INIT;
	struct versions v;
	size_t i;
	bool fine = versions_open(&v, path, command, &err) && versions_number(&v, number, &i, &err);

	/* Without a path inside the file, or with raw.*, print the file's own bytes. */
	if (fine)
		fine = *v.t.inside ? versions_text(&v, i, &text, &err)
				   : versions_bytes(&v, i, &text, &err);
	if (fine)
		command_print(&text);
	else if (!err.code && versions_check_view(&v, &err))
		err_set(&err, ERR_OPERAND, "there was no such view in version %s", number);
	buf_release(&text);
	versions_release(&v);
	return fine || command_error(path, &err);
}

static bool show_print_text(struct target *t, const char *path)
{
	struct buf text = BUF_INIT;
	bool fine = target_is_view(t, path);

	if (fine) {
		int error = tree_render(&t->tree, &t->place, &text);

		command_print(&text);
		fine = !error || command_fail(path, strerror(error));
	}
	buf_release(&text);
	return fine;
}

/* Prints a member that is no animation, unpacked. */
static bool print_member(const struct archived *a, struct err *err)
{
	struct buf bytes = BUF_INIT;
	bool fine = archived_kind(a) != ARCHIVED_FOLDER
			    ? archived_read(a, &bytes, err)
			    : err_set(err, ERR_OPERAND, "a folder; animfs ls lists it");

	if (fine)
		command_print(&bytes);
	buf_release(&bytes);
	return fine;
}

static bool print_view(const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = target_read(&t, path, command, TARGET_MEMBER, &err);

	if (fine && !t.version)
		fine = print_member(&t.archived, &err);
	else if (fine && target_find(&t, &err))
		fine = show_print_text(&t, path);
	else
		fine = false;
	target_release(&t);
	return fine || (err.code && command_error(path, &err));
}

static const char cat_usage[] =
	"Usage: animfs cat [OPTION]... FILE/PATH...\n"
	"Print views of animation files, or members of archives.\n"
	"\n"
	"Options:\n"
	"      --version=N         print them as of version N (see animfs log)\n"
	/* clang-format off: a line for each */
	HELP_READS HELP_MAX_TEXT HELP_TIMES HELP_PICTURES HELP_INTERCHANGE HELP_SITE HELP_END
	/* clang-format on */
	"\n"
	"Exit status:\n"
	"  0  everything was printed\n"
	"  2  usage or I/O error\n";

int cmd_cat(int argc, char **argv)
{
	const char *version = NULL;
	const struct command_option own[] = {{"version", NULL, &version}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, cat_usage, &status))
		return status;
	status = command_operands(&command, argc, argv, 1, argc) ? STATUS_FINE : STATUS_TROUBLE;
	for (int i = 0; i < argc; i++) {
		if (!(version ? print_old(argv[i], &command, version)
			      : print_view(argv[i], &command)))
			status = STATUS_TROUBLE;
	}
	return command_end(&command, status);
}
