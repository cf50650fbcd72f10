/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bone.c - `animfs bone`: renames, removes and adds bones, in one clip or in every clip of a file.
 */
#include "cmd.h"

#include "edit/structure.h"
#include "util/composed.h"
#include "util/nearest.h"

#include <stdio.h>
#include <string.h>

/*
 * An action on one clip of an edit. `bone` is the index of the bone if the action is about an
 * existing one.
 */
struct action {
	bool is_new, has_name;
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

static const struct command_verb verbs[] = {{"rename", 2}, {"remove", -1}, {"add", -1}, {NULL, 0}};
static const struct action actions[] = {
	{false, true, rename_bone}, {false, false, remove_bone}, {true, false, add_bone}};

static bool refuse_bone(const struct anim *a, uint32_t first, uint32_t count, const char *bone,
			struct err *err)
{
	struct nearest near = nearest_to(bone, strlen(bone));
	char meant[192], hint[256];

	for (uint32_t clip = first; clip < first + count; clip++) {
		for (uint32_t i = 0; i < a->clips[clip].track_count; i++)
			nearest_offer(&near, a->clips[clip].tracks[i].label);
	}
	nearest_text(&near, meant, sizeof(meant));
	composed_hint(bone, hint, sizeof(hint));
	return err_set(err, ERR_OPERAND, "there is no bone \"%.64s\"%s%s", bone, hint, meant);
}

/* Finds the bone of this name, or else the one whose name has its characters in another form. */
static const struct track *find_bone_named(const struct clip *c, const char *bone)
{
	const struct track *t = track_labelled(c, 0, bone);

	for (uint32_t i = 0; !t && i < c->track_count && composed_may_differ(bone); i++) {
		if (composed_same(c->tracks[i].label, bone))
			t = &c->tracks[i];
	}
	return t;
}

/*
 * Edits those of the `count` clips from `first` on that have the bone; at least one clip must. A
 * new bone is added to the clips that lack it.
 */
static bool edit_clips(const struct action *action, struct anim *a, uint32_t first, uint32_t count,
		       const char *bone, const char *name, struct err *err)
{
	bool found = action->is_new;

	for (uint32_t clip = first; clip < first + count; clip++) {
		const struct clip *c = &a->clips[clip];
		const struct track *t =
			action->is_new ? track_labelled(c, 0, bone) : find_bone_named(c, bone);

		if (!action->is_new && !t)
			continue;
		/* Clips that have the new bone already are skipped, if there are several. */
		if (action->is_new && t && count > 1)
			continue;
		found = true;
		if (!action->run(a, clip, t ? (uint32_t)(t - c->tracks) : 0, name, err))
			return false;
	}
	return found || refuse_bone(a, first, count, bone, err);
}

struct job {
	const struct action *action;
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
		return err_set(err, ERR_OPERAND,
			       "expected FILE or FILE/CLIP, followed by the bone");
	if (t->place.kind == PLACE_CLIP) {
		first = t->place.clip;
		clips = 1;
	}
	if (job->action->has_name)
		return edit_clips(job->action, edited, first, clips, job->bones[0], job->bones[1],
				  err);
	for (int i = 0; i < job->count; i++) {
		if (!edit_clips(job->action, edited, first, clips, job->bones[i], job->bones[i],
				err))
			return false;
	}
	return true;
}

static const char usage[] =
	"Usage: animfs bone rename [OPTION]... FILE[/CLIP] BONE NAME\n"
	"  or:  animfs bone remove [OPTION]... FILE[/CLIP] BONE...\n"
	"  or:  animfs bone add [OPTION]... FILE[/CLIP] BONE...\n"
	"Rename, remove or add bones of a clip, or of every clip of the file that has\n"
	"them (add: that lacks them). Either everything is saved or nothing. Write names\n"
	"as a mount shows them.\n"
	"\n"
	"Options:\n" COMMAND_WRITES;

int cmd_bone(int argc, char **argv)
{
	struct command command;
	int status, verb;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	verb = command_verb(&command, verbs, 1, argc, argv);
	if (verb >= 0)
		status = target_edit(argv[1], &command, 0, change_bones,
				     &(struct job){&actions[verb], argv + 2, argc - 2});
	return command_end(&command, status);
}
