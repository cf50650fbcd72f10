/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip.c - `animfs clip`: clips as wholes, in one file and from one file to another. */
#include "cmd.h"

#include "../names.h"
#include "../options.h"
#include "../structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is done to a clip, or where there will be one. */
struct job {
	const char *name;          /* rename: the new one */
	uint32_t frames;           /* new */
	const struct target *from; /* copy */
	/* remove: how many clips moved up, and the first of them. */
	uint32_t moved;
	char first[NAME_LIMIT + 1];
};

static bool find_clip(struct target *t, struct err *err)
{
	if (!target_find(t, err))
		return false;
	return t->place.kind == PLACE_CLIP ||
	       err_set(err, ERR_TEXT, "not a clip; FILE/CLIP is wanted");
}

static bool rename_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
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

/* What a clip of a file is called where the format stores no name. */
static void file_label(const char *file_name, struct buf *out)
{
	const char *dot = strrchr(file_name, '.');
	char *stem = dot && dot != file_name ? strndup(file_name, (size_t)(dot - file_name))
					     : strdup(file_name);

	if (stem)
		name_escape(stem, NAME_LIMIT, out);
	out->failed |= !stem;
	free(stem);
}

/* What a clip that comes into the file is to be called; `usual` where the path does not say it. */
static bool new_label(const struct target *t, const struct anim *edited, const char *usual,
		      struct buf *out, struct err *err)
{
	if (edited->format->nameless && *t->inside)
		return err_set(err, ERR_TEXT,
			       "%s files store no name for their clip; FILE alone is wanted",
			       edited->format->name);
	if (!edited->format->nameless && !*t->inside && !usual)
		return err_set(err, ERR_TEXT, "the new clip needs a name: FILE/CLIP is wanted");
	if (edited->format->nameless)
		file_label(t->file_name, out);
	else
		buf_text(out, *t->inside ? t->inside : usual);
	buf_char(out, '\0');
	return !out->failed || err_memory(err);
}

static bool copy_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct target *from = ((const struct job *)closure)->from;
	const struct clip *clip = &from->version->anim->clips[from->place.clip];
	struct buf label = BUF_INIT;
	bool fine = new_label(t, edited, clip->label, &label, err) &&
		    anim_clip_copy(edited, from->version->anim, from->place.clip,
				   (const char *)label.data, err);

	buf_release(&label);
	return fine;
}

static bool new_clip(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct job *job = closure;
	struct buf label = BUF_INIT;
	bool fine = new_label(t, edited, NULL, &label, err) &&
		    anim_clip_new(edited, (const char *)label.data, job->frames, err);

	buf_release(&label);
	return fine;
}

/* ---- the verbs ---- */

static int run_rename(char **argv, const struct command *command, uint32_t frames)
{
	struct job job = {.name = argv[1], .frames = frames};

	return target_edit(argv[0], command, 0, rename_clip, &job);
}

/* Other files may know clips by their number. */
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
		status = STATUS_REFUSED;
	if (status == STATUS_FINE)
		status = target_edit(argv[1], command, TARGET_NEW, copy_clip, &job);
	else
		command_tell(argv[0], &err);
	target_release(&from);
	return status;
}

static int run_new(char **argv, const struct command *command, uint32_t frames)
{
	struct job job = {.frames = frames};

	return target_edit(argv[0], command, TARGET_NEW, new_clip, &job);
}

static const struct verb {
	const char *name;
	int operands; /* -1: one or more, one after the other */
	int (*run)(char **argv, const struct command *command, uint32_t frames);
} verbs[] = {
	{"rename", 2, run_rename},
	{"remove", -1, run_remove},
	{"copy", 2, run_copy},
	{"new", 1, run_new},
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static const char usage[] =
	"Usage: animfs clip rename [OPTION]... FILE/CLIP NAME\n"
	"  or:  animfs clip remove [OPTION]... FILE/CLIP...\n"
	"  or:  animfs clip copy [OPTION]... FILE/CLIP TO[/NAME]\n"
	"  or:  animfs clip new [OPTION]... FILE/CLIP\n"
	"Rename, remove, copy or make clips. A renamed clip keeps its place among the\n"
	"others, a new one and a copy come last. The file TO, and that of a new clip, is\n"
	"made where there is none; it may be of another format, and what that cannot\n"
	"store is refused. Names are written as a mount shows them.\n"
	"\n"
	"Options:\n"
	"      --frames=N          how long a new clip is (1)\n" COMMAND_WRITES;

static int run(const struct command *command, int argc, char **argv, uint32_t frames)
{
	const struct verb *verb;
	int operands, status = STATUS_FINE;

	if (argc == 0)
		return command_misuse(command, "missing operand: rename, remove, copy or new");
	verb = find_verb(argv[0]);
	if (!verb)
		return command_misuse(command, "'%s' is neither rename, remove, copy nor new",
				      argv[0]);
	operands = verb->operands < 0 ? 1 : verb->operands;
	if (!command_operands(command, argc, argv, 1 + operands,
			      verb->operands < 0 ? argc : 1 + operands))
		return STATUS_TROUBLE;
	for (int i = 1; i < argc; i += operands) {
		int one = verb->run(argv + i, command, frames);

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
		status = run(&command, argc, argv, (uint32_t)count);
	else
		status = command_misuse(&command, "--frames=%s: %s", frames, err.message);
	return command_end(&command, status);
}
