/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.c - `animfs diff`: prints the differences between two animation files, clips or bones. */
#include "diff.h"
#include "color.h"
#include "skeleton/difference.h"
#include "versions.h"

#include "edit/compare.h"
#include "view/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kind of things to compare. */
enum subject { A_FILE, A_CLIP, A_BONE, A_SKELETON };

static enum subject subject_of(const struct place *p)
{
	if (p->kind != PLACE_VIEW)
		return p->kind == PLACE_FILE ? A_FILE : A_CLIP;
	switch (p->view->place) {
	case VIEW_OF_FILE:
		return p->view->parse_skeleton ? A_SKELETON : A_FILE;
	case VIEW_OF_BONE:
		return A_BONE;
	default:
		return A_CLIP;
	}
}

static bool compare_places(const struct target *a, const struct target *b, struct buf *out)
{
	const struct anim *x = a->version->anim, *y = b->version->anim;
	const struct place *p = &a->place, *q = &b->place;

	switch (subject_of(p)) {
	case A_FILE:
		return compare_files(x, y, out);
	case A_CLIP:
		return compare_clips(x, p->clip, y, q->clip, out);
	case A_BONE:
		return compare_bones(x, p->clip, p->track, y, q->clip, q->track, out);
	case A_SKELETON:
		return skeleton_difference(shared_skeleton(a->version->skeleton),
					   shared_skeleton(b->version->skeleton), out);
	}
	return true;
}

/* ---- for people ---- */

static void diff_print_line(const uint8_t *line, size_t size, enum color color)
{
	printf("%s%.*s%s\n", color_begin(stdout, color), (int)size, (const char *)line,
	       color_end(stdout));
}

void diff_print(const struct buf *lines)
{
	static const enum color colors[256] = {['-'] = COLOR_REMOVED,
					       ['+'] = COLOR_ADDED,
					       [' '] = COLOR_HEAD,
					       ['b'] = COLOR_ABOUT,
					       ['c'] = COLOR_ABOUT};
	const uint8_t *at = lines->data, *end = at + lines->size;

	while (at < end) {
		const uint8_t *lf = memchr(at, '\n', (size_t)(end - at));

		diff_print_line(at, (size_t)(lf - at), colors[*at]);
		at = lf + 1;
	}
}

static void print_differences(char **paths, const struct buf *lines, bool brief)
{
	if (brief) {
		printf("Animations %s and %s differ\n", paths[0], paths[1]);
		return;
	}
	printf("%s--- %s%s\n", color_begin(stdout, COLOR_HEAD), paths[0], color_end(stdout));
	printf("%s+++ %s%s\n", color_begin(stdout, COLOR_HEAD), paths[1], color_end(stdout));
	diff_print(lines);
}

/* ---- for programs ---- */

static void write_member(struct buf *out, const char *name, const char *text)
{
	buf_format(out, "\"%s\": ", name);
	if (text)
		json_write_name(out, text);
	else
		buf_text(out, "null");
}

static void write_difference(struct buf *out, const char *clip, const char *bone, const char *line)
{
	write_member(out, "clip", clip);
	buf_text(out, ", ");
	write_member(out, "bone", bone);
	buf_format(out, ", \"in\": \"%s\", ", *line == '-' ? "a" : *line == '+' ? "b" : "both");
	line++;
	write_member(out, "line", line + strspn(line, " "));
	buf_char(out, '}');
}

/* Parses "bone CLIP/BONE" or "clip CLIP", the heading of the next lines. */
static void read_heading(char *line, const char **clip, const char **bone)
{
	char *slash = *line == 'b' ? strchr(line, '/') : NULL;

	*clip = line + strlen("clip ");
	*bone = slash ? slash + 1 : NULL;
	if (slash)
		*slash = '\0';
}

/* Writes the lines of compare.h as JSON; splits `lines` in place. */
static void write_differences(struct buf *out, struct buf *lines)
{
	const char *clip = NULL, *bone = NULL;
	bool first = true;
	char *rest;

	buf_char(lines, '\0');
	buf_text(out, ", \"differences\": [");
	for (char *line = lines->failed ? NULL : strtok_r((char *)lines->data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!strchr("-+ ", *line)) {
			read_heading(line, &clip, &bone);
			continue;
		}
		json_write_comma(out, &first, "\n  {");
		write_difference(out, clip, bone, line);
	}
	buf_text(out, first ? "]" : "\n]");
	out->failed |= lines->failed;
}

static void diff_write_json(char **paths, struct buf *lines, bool same, bool brief, struct buf *out)
{
	buf_text(out, "{\"format\": \"animfs.diff/1\", ");
	write_member(out, "a", paths[0]);
	buf_text(out, ", ");
	write_member(out, "b", paths[1]);
	buf_format(out, ", \"same\": %s", same ? "true" : "false");
	if (!brief)
		write_differences(out, lines);
	buf_text(out, "}\n");
}

static bool print_json(char **paths, struct buf *lines, bool same, bool brief)
{
	struct buf out = BUF_INIT;
	bool fine;

	diff_write_json(paths, lines, same, brief, &out);
	fine = !out.failed;
	if (fine)
		command_print(&out);
	buf_release(&out);
	return fine;
}

/* ---- the command ---- */

struct choice {
	bool brief, json;
	const char *version; /* value of --version; NULL: two files are compared */
};

static int compare_targets(const struct target *a, const struct target *b, char **paths,
			   const struct choice *choice)
{
	struct buf lines = BUF_INIT;
	bool same, fine;

	if (subject_of(&a->place) != subject_of(&b->place)) {
		command_fail(paths[1], "a file, a clip, a bone or a skeleton is compared with "
				       "another such");
		return STATUS_TROUBLE;
	}
	same = compare_places(a, b, &lines);
	fine = !lines.failed;
	if (fine && choice->json)
		fine = print_json(paths, &lines, same, choice->brief);
	else if (fine && !same)
		print_differences(paths, &lines, choice->brief);
	if (!fine)
		command_fail(paths[0], strerror(ENOMEM));
	buf_release(&lines);
	return !fine ? STATUS_TROUBLE : same ? STATUS_FINE : STATUS_REFUSED;
}

/* ---- versions of one file ---- */

/* Makes *t, which owns nothing yet, a target for the version with this number. */
static bool diff_take_version(struct target *t, struct versions *v, const char *number,
			      struct err *err)
{
	size_t i;

	if (!versions_number(v, number, &i, err))
		return false;
	*t = (struct target){.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}};
	t->version = versions_decode(v, i, err);
	t->inside = v->t.inside;
	t->file_name = v->t.file_name;
	if (t->version)
		t->tree = (struct tree){t->version, t->file_name};
	return t->version && target_find(t, err);
}

/* Runs --version: "5" compares that version with the file, "5:7" two versions. */
static int run_versions(const struct command *command, char *path, const struct choice *choice)
{
	char *first = strdup(choice->version), *second = first ? strchr(first, ':') : NULL;
	struct target a = {.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}}, b = a;
	struct err err = {.code = ERR_NONE};
	char *paths[] = {path, path};
	struct versions v;
	int status = STATUS_TROUBLE;
	bool fine;

	if (second)
		*second++ = '\0';
	fine = versions_open(&v, path, command, &err) &&
	       diff_take_version(&a, &v, first ? first : "", &err) &&
	       (second ? diff_take_version(&b, &v, second, &err)
		       : target_read(&b, path, command, TARGET_ANY, &err) && target_find(&b, &err));
	if (fine)
		status = compare_targets(&a, &b, paths, choice);
	else
		command_error(path, &err);
	target_release(&a);
	target_release(&b);
	versions_release(&v);
	free(first);
	return status;
}

static int run_diff(const struct command *command, char **paths, const struct choice *choice)
{
	struct target a, b = {.folder = -1, .site = {.root = -1}};
	int status = STATUS_TROUBLE;

	if (target_open(&a, paths[0], command, TARGET_ANY) &&
	    target_open(&b, paths[1], command, TARGET_ANY))
		status = compare_targets(&a, &b, paths, choice);
	target_release(&a);
	target_release(&b);
	return status;
}

static const char usage[] =
	"Usage: animfs diff [OPTION]... A B\n"
	"  or:  animfs diff [OPTION]... --version=N[:M] FILE[/PATH]\n"
	"Print the differences between two animation files, clips (FILE/CLIP) or bones\n"
	"(FILE/CLIP/bones/BONE.csv) key by key, or between two skeletons\n"
	"(FILE/skeleton.csv) bone by bone. Files of different formats store different\n"
	"numbers for the same movement, so their poses are compared, in frames that have\n"
	"keys and within the steps of both formats.\n"
	"\n"
	"Options:\n"
	"  -q, --brief             only say whether they differ\n"
	"      --version=N[:M]     compare version N of one file with M, or with the\n"
	"                            present one (see animfs log)\n"
	"      --json              print JSON, animfs.diff/1 (see "
	"animfs(1))\n" HELP_READS HELP_TIMES HELP_SITE HELP_COLOR HELP_END "\n"
	"Exit status:\n"
	"  0  no difference\n"
	"  1  a difference\n"
	"  2  usage or I/O error, or they cannot be compared\n";

int cmd_diff(int argc, char **argv)
{
	struct choice choice = {.brief = false};
	const struct command_option own[] = {{"q,brief", &choice.brief, NULL},
					     {"json", &choice.json, NULL},
					     {"version", NULL, &choice.version},
					     {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (choice.version && command_operands(&command, argc, argv, 1, 1))
		status = run_versions(&command, argv[0], &choice);
	else if (!choice.version && command_operands(&command, argc, argv, 2, 2))
		status = run_diff(&command, argv, &choice);
	return command_end(&command, status);
}
