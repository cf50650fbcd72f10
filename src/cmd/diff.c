/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.c - `animfs diff`: what differs between two animation files, clips or bones. */
#include "cmd.h"
#include "color.h"

#include "../compare.h"
#include "../view/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is compared. */
enum subject { A_FILE, A_CLIP, A_BONE, A_SKELETON };

static enum subject subject(const struct place *p)
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

	switch (subject(p)) {
	case A_FILE:
		return compare_files(x, y, out);
	case A_CLIP:
		return compare_clips(x, p->clip, y, q->clip, out);
	case A_BONE:
		return compare_bones(x, p->clip, p->track, y, q->clip, q->track, out);
	case A_SKELETON:
		return compare_skeletons(rest_skeleton(a->version->rest),
					 rest_skeleton(b->version->rest), out);
	}
	return true;
}

/* ---- for people ---- */

static void print_line(const uint8_t *line, size_t size, enum color color)
{
	printf("%s%.*s%s\n", color_begin(stdout, color), (int)size, (const char *)line,
	       color_end(stdout));
}

static void print_lines(const struct buf *lines)
{
	static const enum color colors[256] = {['-'] = COLOR_REMOVED,
					       ['+'] = COLOR_ADDED,
					       [' '] = COLOR_HEAD,
					       ['b'] = COLOR_ABOUT,
					       ['c'] = COLOR_ABOUT};
	const uint8_t *at = lines->data, *end = at + lines->size;

	while (at < end) {
		const uint8_t *lf = memchr(at, '\n', (size_t)(end - at));

		print_line(at, (size_t)(lf - at), colors[*at]);
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
	print_lines(lines);
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

/* "bone CLIP/BONE" or "clip CLIP", which the next lines are about. */
static void read_heading(char *line, const char **clip, const char **bone)
{
	char *slash = *line == 'b' ? strchr(line, '/') : NULL;

	*clip = line + strlen("clip ");
	*bone = slash ? slash + 1 : NULL;
	if (slash)
		*slash = '\0';
}

/* The lines as compare.h has them, which are ended in this. */
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

static void write_json(char **paths, struct buf *lines, bool same, bool brief, struct buf *out)
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

	write_json(paths, lines, same, brief, &out);
	fine = !out.failed;
	if (fine)
		command_print(&out);
	buf_release(&out);
	return fine;
}

/* ---- the command ---- */

struct choice {
	bool brief, json;
};

static int compare_targets(const struct target *a, const struct target *b, char **paths,
			   const struct choice *choice)
{
	struct buf lines = BUF_INIT;
	bool same, fine;

	if (subject(&a->place) != subject(&b->place)) {
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

static int run(const struct command *command, char **paths, const struct choice *choice)
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
	"Print what differs between two animation files, or clips (FILE/CLIP) or bones\n"
	"(FILE/CLIP/bones/BONE.csv) of them, key by key, or skeletons\n"
	"(FILE/skeleton.csv), bone by bone. Files of different formats hold other\n"
	"numbers for the same movement: they are compared in the frames that have keys,\n"
	"to within the steps of the two.\n"
	"\n"
	"Options:\n"
	"  -q, --brief             only whether they differ\n"
	"      --json              one JSON document, animfs.diff/1 (see animfs(1))\n" HELP_READS
		HELP_TIMES HELP_COLOR HELP_END "\n"
	"Exit status:\n"
	"  0  nothing differs\n"
	"  1  something does\n"
	"  2  the call was wrong, or they cannot be compared\n";

int cmd_diff(int argc, char **argv)
{
	struct choice choice = {.brief = false};
	const struct command_option own[] = {
		{"q,brief", &choice.brief, NULL}, {"json", &choice.json, NULL}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 2, 2))
		status = run(&command, argv, &choice);
	return command_end(&command, status);
}
