/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lint.c - `animfs lint`: reports suspicious curves in animation files, one per line. */
#include "check_list.h"

#include "model/lint.h"
#include "text/num.h"
#include "view/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct linting {
	const struct command *command;
	struct lint_limits limits;
	bool json;
	const char *path; /* path of the current file */
	const struct anim *anim;
	struct buf line;
	size_t files, findings, unreadable;
};

/* ---- findings ---- */

static void lint_write_number(const char *name, double value, struct buf *out)
{
	char digits[NUM_MAX];
	float v = (float)value;

	buf_format(out, ", \"%s\": ", name);
	if (isfinite(v))
		buf_add(out, digits, num_f32(digits, v));
	else
		buf_text(out, "null");
}

static void lint_write_frames(const struct lint *found, struct buf *out)
{
	bool first = true;

	buf_text(out, ", \"frames\": [");
	for (uint32_t i = 0; i < found->count; i++) {
		json_write_comma(out, &first, " ");
		buf_unsigned(out, found->frames[i]);
	}
	buf_char(out, ']');
}

static void lint_write_json(const struct linting *l, const struct lint *found,
			    const struct track *track, struct buf *out)
{
	buf_text(out, "{\"format\": \"animfs.lint/1\", \"path\": ");
	json_write_name(out, l->path);
	buf_text(out, ", \"clip\": ");
	json_write_name(out, l->anim->clips[found->clip].label);
	buf_text(out, ", \"bone\": ");
	json_write_name(out, track->label);
	buf_format(out, ", \"role\": \"%s\", \"kind\": \"%s\"", role_names[found->role],
		   lint_names[found->kind]);
	lint_write_frames(found, out);
	lint_write_number("value", found->value, out);
	lint_write_number("usual", found->usual, out);
	buf_text(out, ", \"message\": \"");
	lint_describe(found, l->anim, out);
	buf_text(out, "\"}\n");
}

static bool print_finding(void *closure, const struct lint *found)
{
	struct linting *l = closure;
	const struct clip *clip = &l->anim->clips[found->clip];
	const struct track *track = &clip->tracks[found->track];

	l->findings++;
	buf_clear(&l->line);
	if (l->json) {
		lint_write_json(l, found, track, &l->line);
	} else {
		buf_format(&l->line, "%s/%s/bones/%s.csv: %s: %s: ", l->path, clip->label,
			   track->label, lint_names[found->kind], role_names[found->role]);
		lint_describe(found, l->anim, &l->line);
		buf_char(&l->line, '\n');
	}
	command_print(&l->line);
	return !l->line.failed;
}

static void lint_file(struct linting *l, const struct check_item *item)
{
	struct err err = {.code = ERR_NONE};
	struct target t = {.folder = -1, .site = {.root = -1}};

	l->path = item->path;
	if (item->missing)
		err_set(&err, ERR_SYSTEM, "%s", strerror(item->missing));
	else if (item->err)
		err = *item->err;
	else if (target_read(&t, item->target ? item->target : item->path, l->command, TARGET_ANY,
			     &err)) {
		l->files++;
		l->anim = t.version->anim;
		if (!lint_anim(l->anim, &l->limits, print_finding, l))
			err_memory(&err);
	}
	if (err.code != ERR_NONE) {
		l->unreadable++;
		command_error(item->path, &err);
	}
	target_release(&t);
}

/* ---- the command ---- */

static void lint_print_sum(const struct linting *l)
{
	if (l->json)
		printf("{\"format\": \"animfs.lint/1\", \"files\": %zu, \"findings\": %zu, "
		       "\"unreadable\": %zu}\n",
		       l->files, l->findings, l->unreadable);
	else
		fprintf(stderr, "%zu files, %zu findings\n", l->files, l->findings);
}

static int run_lint(struct linting *l, char **paths)
{
	struct store *store = store_new(&l->command->store, NULL);
	struct check_list list = {.fine = true};
	const struct shard all = {.count = 0};
	bool room = store != NULL;

	for (; room && *paths; paths++)
		room = check_list_add(&list, *paths, store, &all);
	for (size_t i = 0; room && i < list.count; i++)
		lint_file(l, &list.items[i]);
	if (room)
		lint_print_sum(l);
	else
		command_fail("lint", strerror(ENOMEM));
	store_free(store);
	check_list_release(&list);
	buf_release(&l->line);
	if (!room || !list.fine || l->unreadable)
		return STATUS_TROUBLE;
	return l->findings ? STATUS_REFUSED : STATUS_FINE;
}

/* Parses a list of kinds, such as "seam,jump". */
static bool read_kinds(const struct command *command, const char *list, unsigned *out)
{
	*out = 0;
	for (const char *word = list; word;
	     word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		size_t length = strcspn(word, ","), i = 0;

		while (i < LINT_KINDS && (strlen(lint_names[i]) != length ||
					  strncmp(lint_names[i], word, length) != 0))
			i++;
		if (i == LINT_KINDS) {
			command_misuse(command,
				       "--only=%s: \"%.*s\" is none of seam, jump, flip, length, "
				       "constant, waste",
				       list, (int)length, word);
			return false;
		}
		*out |= 1U << i;
	}
	return true;
}

static bool read_limit(const struct command *command, const char *name, const char *text,
		       double *out)
{
	double value;

	if (!text)
		return true;
	if (num_parse(text, strlen(text), '.', &value) && value >= 0 && isfinite(value)) {
		*out = value;
		return true;
	}
	command_misuse(command, "--%s=%s: expected a number from 0 on", name, text);
	return false;
}

static const char usage[] =
	"Usage: animfs lint [OPTION]... PATH...\n"
	"Look for suspicious curves in every animation file below the PATHs, and print a\n"
	"line for each finding:\n"
	"  seam      a loop's last pose is far from its first\n"
	"  jump      one frame moves much further than the others of its curve\n"
	"  flip      a quaternion changes its sign from one key to the next\n"
	"  length    a quaternion is not of length 1\n"
	"  constant  many keys have one value\n"
	"  waste     a component uses few of the steps that its 16 bits could tell apart\n"
	"The total is printed on standard error.\n"
	"\n"
	"Options:\n"
	"      --only=KIND,...     look for these only\n"
	"      --seam=TIMES        a seam is this many times the usual step, the 99th\n"
	"                            percentile of the curve's others (3)\n"
	"      --jump=TIMES        the same of a jump (5)\n"
	"      --least=N           seams and jumps are N degrees, N percent of the\n"
	"                            longest translation or of a scale, or more (2)\n"
	"      --length=N          so far from 1 is a wrong length (0.01)\n"
	"      --waste=PART        a component should use this part of its steps (0.25)\n"
	"      --json              one JSON object per line for each finding, and a last\n"
	"                            one with the totals: animfs.lint/1, see animfs(1)\n" HELP_READS
		HELP_TIMES HELP_SITE HELP_END "\n"
	"Exit status:\n"
	"  0  nothing is suspicious\n"
	"  1  something is\n"
	"  2  usage or I/O error, or a file does not decode\n";

int cmd_lint(int argc, char **argv)
{
	struct command command;
	struct linting l = {.command = &command, .limits = LINT_LIMITS, .line = BUF_INIT};
	const char *only = NULL, *seam = NULL, *jump = NULL, *least = NULL, *length = NULL;
	const char *waste = NULL;
	const struct command_option own[] = {{"only", NULL, &only},     {"seam", NULL, &seam},
					     {"jump", NULL, &jump},     {"least", NULL, &least},
					     {"length", NULL, &length}, {"waste", NULL, &waste},
					     {"json", &l.json, NULL},   {NULL, NULL, NULL}};
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, argc) &&
	    (!only || read_kinds(&command, only, &l.limits.kinds)) &&
	    read_limit(&command, "seam", seam, &l.limits.seam) &&
	    read_limit(&command, "jump", jump, &l.limits.jump) &&
	    read_limit(&command, "least", least, &l.limits.least) &&
	    read_limit(&command, "length", length, &l.limits.length) &&
	    read_limit(&command, "waste", waste, &l.limits.waste))
		status = run_lint(&l, argv);
	return command_end(&command, status);
}
