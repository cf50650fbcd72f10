/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.c - `animfs diff`: what differs between two animation files, clips or bones. */
#include "cmd.h"

#include "../compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SAME, DIFFERENT, TROUBLE };

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
	const struct anim *x = a->snap->anim, *y = b->snap->anim;
	const struct place *p = &a->place, *q = &b->place;

	switch (subject(p)) {
	case A_FILE:
		return compare_files(x, y, out);
	case A_CLIP:
		return compare_clips(x, p->clip, y, q->clip, out);
	case A_BONE:
		return compare_bones(x, p->clip, p->track, y, q->clip, q->track, out);
	case A_SKELETON:
		return compare_skeletons(rest_skeleton(a->snap->rest), rest_skeleton(b->snap->rest),
					 out);
	}
	return true;
}

static int compare_targets(const struct target *a, const struct target *b, char **paths, bool brief)
{
	struct buf out = BUF_INIT;
	int status = TROUBLE;

	if (subject(&a->place) != subject(&b->place)) {
		command_fail(paths[1], "a file, a clip, a bone or a skeleton is compared with "
				       "another such");
		return TROUBLE;
	}
	status = compare_places(a, b, &out) ? SAME : DIFFERENT;
	if (out.failed) {
		command_fail(paths[0], strerror(ENOMEM));
		status = TROUBLE;
	} else if (status == DIFFERENT && brief) {
		printf("Animations %s and %s differ\n", paths[0], paths[1]);
	} else if (status == DIFFERENT) {
		printf("--- %s\n+++ %s\n", paths[0], paths[1]);
		fwrite(out.data, 1, out.size, stdout);
	}
	buf_release(&out);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static const char usage[] =
		"Usage: animfs diff [OPTION]... A B\n"
		"Prints what differs between two animation files, or clips (FILE/CLIP) or bones\n"
		"(FILE/CLIP/bones/BONE.csv) of them, key by key, or skeletons "
		"(FILE/skeleton.csv),\n"
		"bone by bone. Exits with 0 when nothing does, 1 when something does, 2 when they\n"
		"cannot be compared.\n"
		"\n"
		"Files of different formats hold other numbers for the same movement: they are\n"
		"compared in the frames that have keys, to within the steps of the two.\n"
		"\n"
		"  --brief              only whether they differ\n"
		"  --type=GLOB=FORMAT   files of this name are of this format; auto looks at the "
		"content\n"
		"  --rate=FORMAT=HZ     game frames a second of a format that counts time in "
		"frames\n"
		"  --rotations=FORM     rotations as euler or as quaternion, whatever is stored\n"
		"  --help               this text\n";
	bool brief = false;
	const struct command_option own[] = {{"brief", &brief, NULL}, {NULL, NULL, NULL}};
	struct command command;
	struct target a, b = {.folder = -1, .site = {.root = -1}};
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	if (argc != 2) {
		fprintf(stderr, "%s", usage);
		command_release(&command);
		return TROUBLE;
	}
	status = TROUBLE;
	if (target_open(&a, argv[0], &command, TARGET_ANY) &&
	    target_open(&b, argv[1], &command, TARGET_ANY))
		status = compare_targets(&a, &b, argv, brief);
	target_release(&a);
	target_release(&b);
	command_release(&command);
	return command_flush() ? status : TROUBLE;
}
