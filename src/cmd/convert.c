/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convert.c - `animfs convert`: a whole file in another format, and first what that loses. */
#include "cmd.h"

#include "edit/convert.h"
#include "edit/structure.h"

#include <stdio.h>

struct conversion {
	const char *path;
	const struct target *from;
	bool lossy;
	struct anim *reduced;
};

/* Lists what is lost; false unless that was agreed to. */
static bool accept_losses(const struct conversion *c, const struct target *t,
			  const struct buf *lost, struct err *err)
{
	if (lost->size == 0)
		return true;
	fprintf(stderr, "animfs: %s: %s cannot store\n%.*s", c->path, t->codec->format->name,
		(int)lost->size, (const char *)lost->data);
	if (c->lossy)
		return true;
	err_set(err, ERR_STORE, "not made, since that would be lost");
	return err_accept(err, "--lossy, which makes it without");
}

static bool convert_clips(const struct conversion *c, const struct target *t, struct anim *made,
			  struct err *err)
{
	const struct hierarchy hierarchy = {skeleton_parent,
					    shared_skeleton(c->from->version->skeleton)};
	const struct anim *reduced = c->reduced;
	struct buf label = BUF_INIT;
	bool fine = true;

	clip_file_label(t->file_name, &label);
	buf_char(&label, '\0');
	if (label.failed)
		fine = err_memory(err);
	for (uint32_t i = 0; fine && i < reduced->clip_count; i++)
		fine = anim_clip_copy(made, reduced, i,
				      made->format->nameless ? (const char *)label.data
							     : reduced->clips[i].label,
				      &hierarchy, err);
	buf_release(&label);
	return fine;
}

static bool convert_file(void *closure, struct target *t, struct anim *made, struct err *err)
{
	struct conversion *c = closure;
	struct buf lost = BUF_INIT;
	bool fine = false;

	if (t->version)
		return err_set(err, ERR_STORE, "there is such a file already");
	if (*t->inside)
		return err_set(err, ERR_OPERAND, "expected only the name of the new file");
	anim_free(c->reduced);
	c->reduced = convert_reduce(c->from->version->anim, made, &lost, err);
	if (c->reduced)
		fine = accept_losses(c, t, &lost, err) && convert_clips(c, t, made, err);
	buf_release(&lost);
	return fine;
}

/* Within a format, the new file is the old one, also where the model does not have it all. */
static bool copy_same(const struct conversion *c, struct target *t, struct err *err)
{
	struct version *made =
		source_decode(t->source, &t->where, buf_bytes(&c->from->version->bytes), err);
	bool fine = made && source_put_new(t->source, &t->where, NULL, made, NULL, err);

	version_put(made);
	return fine;
}

/* Is NEW a new file of the format of FILE? Then it is made. */
static bool try_same(const struct conversion *c, const char *to, const struct command *command,
		     int *status)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool same = target_read(&t, to, command, TARGET_WRITE | TARGET_NEW, &err) && !t.version &&
		    !*t.inside && t.codec == c->from->version->codec;

	*status = STATUS_FINE;
	if (same && !copy_same(c, &t, &err)) {
		*status = command_status(&err);
		command_error(to, &err);
	}
	target_release(&t);
	return same;
}

static int run_conversion(struct conversion *c, const char *to, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target from;
	int status = STATUS_TROUBLE;

	c->from = &from;
	if (!target_read(&from, c->path, command, 0, &err) ||
	    (*from.inside &&
	     !err_set(&err, ERR_OPERAND, "a part of a file; expected only the file"))) {
		command_error(c->path, &err);
	} else if (!try_same(c, to, command, &status)) {
		status = target_edit(to, command, TARGET_NEW, convert_file, c);
	}
	anim_free(c->reduced);
	target_release(&from);
	return status;
}

static const char usage[] =
	"Usage: animfs convert [OPTION]... FILE NEW\n"
	"Make NEW of all clips of FILE, in the format that the name NEW has. First lists\n"
	"what that format cannot store; if there is such, NEW is only made with --lossy.\n"
	"Numbers are rounded to what it stores; 'animfs diff FILE NEW' compares poses.\n"
	"In the format that FILE has, NEW is a copy.\n"
	"\n"
	"Options:\n"
	"      --lossy             leave out what the format cannot store\n" COMMAND_WRITES;

int cmd_convert(int argc, char **argv)
{
	struct conversion c = {.lossy = false};
	const struct command_option own[] = {{"lossy", &c.lossy, NULL}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	if (!command_operands(&command, argc, argv, 2, 2))
		return command_end(&command, STATUS_TROUBLE);
	c.path = argv[0];
	return command_end(&command, run_conversion(&c, argv[1], &command));
}
