/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone.c - `animfs bone`: bones as wholes, in one clip or in every clip of a file. */
#include "cmd.h"

#include "../structure.h"

#include <stdio.h>
#include <string.h>

/* In one clip of an edit. bone: the place in it, where the verb is about one that is there. */
struct verb {
	const char *name;
	bool is_new;
	int operands; /* behind the file; -1: one or more */
	bool (*run)(struct anim *a, uint32_t clip, uint32_t bone, const char *name,
		    struct err *err);
};

static bool rename_bone(struct anim *a, uint32_t clip, uint32_t bone, const char *name,
			struct err *err)
{
	return anim_bone_rename(a, clip, bone, name, err);
}

static bool remove_bone(struct anim *a, uint32_t clip, uint32_t bone, const char *name,
			struct err *err)
{
	(void)name;
	return anim_bone_remove(a, clip, bone, err);
}

static bool add_bone(struct anim *a, uint32_t clip, uint32_t bone, const char *name,
		     struct err *err)
{
	(void)bone;
	return anim_bone_add(a, clip, name, err);
}

static const struct verb verbs[] = {
	{"rename", false, 2, rename_bone},
	{"remove", false, -1, remove_bone},
	{"add", true, -1, add_bone},
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	}
	return NULL;
}

/* The clips from `first` on, `count` of them, that have the bone; it must be in one. */
static bool edit_clips(const struct verb *verb, struct anim *a, uint32_t first, uint32_t count,
		       const char *bone, const char *name, struct err *err)
{
	bool found = verb->is_new;

	for (uint32_t clip = first; clip < first + count; clip++) {
		const struct clip *c = &a->clips[clip];
		const struct track *t = track_labelled(c, 0, bone);

		if (!verb->is_new && !t)
			continue;
		/* Once more over a part that has it already. */
		if (verb->is_new && t && count > 1)
			continue;
		found = true;
		if (!verb->run(a, clip, t ? (uint32_t)(t - c->tracks) : 0, name, err))
			return false;
	}
	return found || err_set(err, ERR_TEXT, "there is no bone \"%s\"", bone);
}

struct job {
	const struct verb *verb;
	char **bones;
	int count;
};

static bool change_bones(void *closure, struct target *t, struct anim *edited, struct err *err)
{
	const struct job *job = closure;
	uint32_t first = 0, clips = edited->clip_count;

	if (!target_find(t, err))
		return false;
	if (t->place.kind != PLACE_FILE && t->place.kind != PLACE_CLIP)
		return err_set(err, ERR_TEXT,
			       "FILE or FILE/CLIP is wanted, and the bone behind it");
	if (t->place.kind == PLACE_CLIP) {
		first = t->place.clip;
		clips = 1;
	}
	if (job->verb->operands == 2)
		return edit_clips(job->verb, edited, first, clips, job->bones[0], job->bones[1],
				  err);
	for (int i = 0; i < job->count; i++) {
		if (!edit_clips(job->verb, edited, first, clips, job->bones[i], job->bones[i], err))
			return false;
	}
	return true;
}

static const char usage[] =
	"Usage: animfs bone rename [OPTION]... FILE[/CLIP] BONE NAME\n"
	"  or:  animfs bone remove [OPTION]... FILE[/CLIP] BONE...\n"
	"  or:  animfs bone add [OPTION]... FILE[/CLIP] BONE...\n"
	"Rename, remove or add bones of a clip, or of every clip of the file that has\n"
	"them (add: that lacks them). All of it is saved at once, or nothing. Names are\n"
	"written as a mount shows them.\n"
	"\n"
	"Options:\n" COMMAND_WRITES;

static int run(const struct command *command, int argc, char **argv)
{
	const struct verb *verb;
	int operands;

	if (argc == 0)
		return command_misuse(command, "missing operand: rename, remove or add");
	verb = find_verb(argv[0]);
	if (!verb)
		return command_misuse(command, "'%s' is neither rename, remove nor add", argv[0]);
	operands = verb->operands < 0 ? 1 : verb->operands;
	if (!command_operands(command, argc, argv, 2 + operands,
			      verb->operands < 0 ? argc : 2 + operands))
		return STATUS_TROUBLE;
	return target_edit(argv[1], command, 0, change_bones,
			   &(struct job){verb, argv + 2, argc - 2});
}

int cmd_bone(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	return command_end(&command, run(&command, argc, argv));
}
