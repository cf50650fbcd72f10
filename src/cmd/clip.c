/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip.c - `animfs clip`: renames, removes, copies and adds clips. */
#include "cmd.h"

#include "edit/structure.h"
#include "model/names.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments of the verbs, and what remove reports. */
struct job {
	const char *name;          /* rename: the new label */
	uint32_t frames;           /* new: number of frames */
	const struct target *from; /* copy */
	/* remove: how many clips followed the removed one, and the label of the first of them. */
	uint32_t moved;
	char first[NAME_LIMIT + 1];
};

static bool find_clip(struct target *t, struct err *err)
{
	if (!target_find(t, err))
		return false;
	return t->place.kind == PLACE_CLIP ||
	       err_set(err, ERR_OPERAND, "not a clip; expected FILE/CLIP");
}

static bool relabel_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct job *job = closure;

	return find_clip(t, err) && anim_clip_rename(edited, t->place.clip, job->name, err);
}

static bool remove_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	struct job *job = closure;

	if (!find_clip(t, err) || !anim_clip_remove(edited, t->place.clip, err))
		return false;
	job->moved = edited->clip_count - t->place.clip;
	if (job->moved)
		snprintf(job->first, sizeof(job->first), "%s", edited->clips[t->place.clip].label);
	return true;
}

void clip_file_label(const char *file_name, struct buf *out)
{
	const char *dot = strrchr(file_name, '.');
	char *stem = dot && dot != file_name ? strndup(file_name, (size_t)(dot - file_name))
					     : strdup(file_name);

	if (stem)
		name_escape(stem, NAME_LIMIT, out);
	out->failed |= !stem;
	free(stem);
}

/* Returns the label of a new clip; `usual` if the path does not give one. */
static bool clip_new_label(const struct target *t, const struct anim *edited, const char *usual,
			   struct buf *out, struct err *err)
{
	if (edited->format->nameless && *t->inside)
		return err_set(err, ERR_OPERAND,
			       "%s files store no name for their clip; expected only FILE",
			       edited->format->name);
	if (!edited->format->nameless && !*t->inside && !usual)
		return err_set(err, ERR_OPERAND, "the new clip needs a name: expected FILE/CLIP");
	if (edited->format->nameless)
		clip_file_label(t->file_name, out);
	else
		buf_text(out, *t->inside ? t->inside : usual);
	buf_char(out, '\0');
	return !out->failed || err_memory(err);
}

static bool copy_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct target *from = ((const struct job *)closure)->from;
	const struct clip *clip = &from->version->anim->clips[from->place.clip];
	const struct hierarchy hierarchy = {skeleton_parent,
					    shared_skeleton(from->version->skeleton)};
	struct buf label = BUF_INIT;
	bool fine = clip_new_label(t, edited, clip->label, &label, err) &&
		    anim_clip_copy(edited, from->version->anim, from->place.clip,
				   (const char *)label.data, &hierarchy, err);

	buf_release(&label);
	return fine;
}

static bool new_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct job *job = closure;
	struct buf label = BUF_INIT;
	bool fine = clip_new_label(t, edited, NULL, &label, err) &&
		    anim_clip_new(edited, (const char *)label.data, job->frames, err);

	buf_release(&label);
	return fine;
}

/* ---- the verbs ---- */

static int run_rename(char **argv, const struct command *command, uint32_t frames)
{
	struct job job = {.name = argv[1], .frames = frames};

	return target_edit(argv[0], command, 0, relabel_clip, &job);
}

/* Warns that clips were renumbered: other files may refer to them by number. */
static int run_remove(char **argv, const struct command *command, uint32_t frames)
{
	struct job job = {.frames = frames};
	int status = target_edit(argv[0], command, 0, remove_clip, &job);

	if (status == STATUS_FINE && job.moved)
		fprintf(stderr,
			"animfs: %s: %u later clips moved up: those from %s on have another "
			"number\n",
			argv[0], job.moved, job.first);
	return status;
}

static int run_copy(char **argv, const struct command *command, uint32_t frames)
{
	struct err err = {.code = ERR_NONE};
	struct target from;
	struct job job = {.frames = frames, .from = &from};
	int status = STATUS_FINE;

	if (!target_read(&from, argv[0], command, 0, &err))
		status = STATUS_TROUBLE;
	else if (!find_clip(&from, &err))
		status = command_status(&err);
	if (status == STATUS_FINE)
		status = target_edit(argv[1], command, TARGET_NEW, copy_clip, &job);
	else
		command_error(argv[0], &err);
	target_release(&from);
	return status;
}

static int run_new(char **argv, const struct command *command, uint32_t frames)
{
	struct job job = {.frames = frames};

	return target_edit(argv[0], command, TARGET_NEW, new_clip, &job);
}

static const struct command_verb verbs[] = {
	{"rename", 2}, {"remove", -1}, {"copy", 2}, {"new", 1}, {NULL, 0}};
static int (*const actions[])(char **argv, const struct command *command,
			      uint32_t frames) = {run_rename, run_remove, run_copy, run_new};

static const char usage[] =
	"Usage: animfs clip rename [OPTION]... FILE/CLIP NAME\n"
	"  or:  animfs clip remove [OPTION]... FILE/CLIP...\n"
	"  or:  animfs clip copy [OPTION]... FILE/CLIP TO[/NAME]\n"
	"  or:  animfs clip new [OPTION]... FILE/CLIP\n"
	"Rename, remove, copy or make clips. A renamed clip keeps its place; a new one\n"
	"comes last. The file TO is made if it does not exist. It may have another\n"
	"format; anything that this cannot store is refused. Write names as a mount\n"
	"shows them.\n"
	"\n"
	"Options:\n"
	"      --frames=N          the length of a new clip (1)\n" COMMAND_WRITES;

/* Runs a verb. Several clips to remove are handled one after the other. */
static int run_verb(const struct command *command, int argc, char **argv, uint32_t frames)
{
	int verb = command_verb(command, verbs, 0, argc, argv), status = STATUS_FINE;

	if (verb < 0)
		return STATUS_TROUBLE;
	for (int i = 1; i < argc; i += verbs[verb].operands < 0 ? 1 : verbs[verb].operands) {
		int one = actions[verb](argv + i, command, frames);

		status = one > status ? one : status;
	}
	return status;
}

int cmd_clip(int argc, char **argv)
{
	const char *frames = "1";
	const struct command_option own[] = {{"frames", NULL, &frames}, {NULL, NULL, NULL}};
	struct err err = {.code = ERR_NONE};
	struct command command;
	int status, count;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	if (option_number(frames, 10, &count, &err))
		status = run_verb(&command, argc, argv, (uint32_t)count);
	else
		status = command_misuse(&command, "--frames=%s: %s", frames, err.message);
	return command_end(&command, status);
}
