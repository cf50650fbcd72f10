/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - options, messages and exit statuses that all commands share. */
#include "cmd.h"
#include "color.h"

#include "options.h"
#include "util/nearest.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Options that every command accepts, even if they have no effect on it. */
enum {
	RATE,
	TYPE,
	ROTATIONS,
	BASE,
	BONES,
	BVH,
	GLTF,
	GLTF_RATE,
	HAND,
	TANGENTS,
	MAX_FILE,
	MAX_TEXT,
	HISTORY,
	SOURCE,
	STATE,
	OVERLAY,
	REBUILD,
	COLOR,
	HELP,
	VERSION,
	SHARED
};

static const struct option shared[SHARED] = {
	[RATE] = {"rate", required_argument, NULL, 0},
	[TYPE] = {"type", required_argument, NULL, 0},
	[ROTATIONS] = {"rotations", required_argument, NULL, 0},
	[BASE] = {"base", required_argument, NULL, 0},
	[BONES] = {"bones", required_argument, NULL, 0},
	[BVH] = {"bvh", required_argument, NULL, 0},
	[GLTF] = {"gltf", required_argument, NULL, 0},
	[GLTF_RATE] = {"gltf-rate", required_argument, NULL, 0},
	[HAND] = {"ff9clip-hand", required_argument, NULL, 0},
	[TANGENTS] = {"tangents", no_argument, NULL, 0},
	[MAX_FILE] = {"max-file", required_argument, NULL, 0},
	[MAX_TEXT] = {"max-text", required_argument, NULL, 0},
	[HISTORY] = {"history", required_argument, NULL, 0},
	[SOURCE] = {"source", required_argument, NULL, 0},
	[STATE] = {"state", required_argument, NULL, 0},
	[OVERLAY] = {"overlay", required_argument, NULL, 0},
	[REBUILD] = {"rebuild", no_argument, NULL, 0},
	[COLOR] = {"color", optional_argument, NULL, 0},
	[HELP] = {"help", no_argument, NULL, 0},
	[VERSION] = {"version", optional_argument, NULL, 0},
};

#define OWN_MAX 16

/* All options, in the form of getopt_long. */
struct options {
	struct option longs[SHARED + OWN_MAX + 1];
	char letters[2 * OWN_MAX + sizeof("hV")];
};

static bool has_letter(const struct command_option *own)
{
	return own->name[1] == ',';
}

static void list_options(const struct command_option *own, struct options *out)
{
	size_t count = SHARED;
	char *letter = out->letters;

	memcpy(out->longs, shared, sizeof(shared));
	for (; own && own->name && count < SHARED + OWN_MAX; own++) {
		out->longs[count++] =
			(struct option){own->name + (has_letter(own) ? 2 : 0),
					own->value ? required_argument : no_argument, NULL, 0};
		if (!has_letter(own))
			continue;
		*letter++ = own->name[0];
		if (own->value)
			*letter++ = ':';
	}
	memcpy(letter, "hV", sizeof("hV"));
	out->longs[count] = (struct option){NULL, 0, NULL, 0};
}

/* Returns the index in the list of long options of the option that getopt found. */
static int which_option(int found, int which, const struct command_option *own)
{
	if (found == 0)
		return which;
	if (found == 'h' || found == 'V')
		return found == 'h' ? HELP : VERSION;
	for (int i = 0; own && own[i].name; i++) {
		if (has_letter(&own[i]) && own[i].name[0] == found)
			return SHARED + i;
	}
	return -1;
}

static bool take_shared(struct command *c, int which, struct err *err)
{
	switch (which) {
	case RATE:
		return option_rate(&c->store, optarg, err);
	case TYPE:
		return option_type(&c->store, optarg, err);
	case ROTATIONS:
		return option_rotations(&c->store, optarg, err);
	case BASE:
		return option_base(&c->store, optarg, err);
	case BONES:
		return option_bones(&c->store, optarg, err);
	case BVH:
		return option_bvh(&c->store, optarg, err);
	case GLTF:
		return option_gltf(&c->store, optarg, err);
	case GLTF_RATE:
		return option_gltf_rate(&c->store, optarg, err);
	case HAND:
		return option_hand(&c->store, optarg, err);
	case TANGENTS:
		c->store.style.tangents = true;
		return true;
	case MAX_FILE:
		return option_size(optarg, &c->store.max_file, err);
	case MAX_TEXT:
		return option_max_text(optarg, &c->max_text, err);
	case HISTORY:
		return option_size(optarg, &c->store.history, err);
	case COLOR:
		return color_choose(optarg, err);
	case SOURCE:
		c->source = optarg;
		return true;
	case OVERLAY:
		c->overlay = optarg;
		return true;
	case REBUILD:
		c->rebuild = true;
		return true;
	default:
		c->state = optarg;
		return true;
	}
}

static void take_own(const struct command_option *own)
{
	if (own->value)
		*own->value = optarg;
	else
		*own->flag = true;
}

/* Suggests the nearest long option. */
static void suggest_option(const char *arg, const struct option *longs)
{
	struct nearest near = nearest_to(arg + 2, strcspn(arg + 2, "="));

	for (; longs->name; longs++)
		nearest_offer(&near, longs->name);
	if (near.count)
		fprintf(stderr, "Did you mean '--%s'?\n", near.names[0]);
}

static int try_help(const struct command *command)
{
	fprintf(stderr, "Try '%s --help' for more information.\n", command->name);
	return STATUS_TROUBLE;
}

static int say_wrong_value(const struct command *command, int which, const struct err *err)
{
	return command_misuse(command, "--%s=%s: %s", shared[which].name, optarg ? optarg : "",
			      err->message);
}

/* Takes --version=N if the command has that option and a value is given; else false. */
static bool command_take_version(const struct command_option *own)
{
	for (; optarg && own && own->name; own++) {
		if (strcmp(own->name, "version") != 0)
			continue;
		*own->value = optarg;
		return true;
	}
	return false;
}

int command_unknown(const struct command *command, char **argv, const struct option *longs)
{
	/* optopt is only set for a known option that lacks a value or has an extra one. */
	if (!optopt && strncmp(argv[optind - 1], "--", 2) == 0)
		suggest_option(argv[optind - 1], longs);
	return try_help(command);
}

/* Handles one option; false ends the parsing. */
static bool take_option(struct command *command, const struct command_option *own, int which,
			const char *usage, int *status)
{
	struct err err = {.code = ERR_NONE};

	if (which == VERSION && command_take_version(own))
		return true;
	if (which == VERSION && optarg)
		*status = command_misuse(command, "--version takes no value here");
	else if (which == HELP || which == VERSION)
		*status = STATUS_FINE;
	else if (which < SHARED && !take_shared(command, which, &err))
		*status = say_wrong_value(command, which, &err);
	else if (which < SHARED)
		return true;
	else
		take_own(&own[which - SHARED]);
	if (which == HELP)
		printf("%s", usage);
	if (which == VERSION && !optarg)
		command_version();
	return which >= SHARED;
}

bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status)
{
	struct options options = {.letters = ""};
	int found, which = 0;

	*command = (struct command){.store = {.max_file = DEFAULT_MAX_FILE,
					      .cache = DEFAULT_MAX_FILE,
					      .rotations = ROTATIONS_IN_TABLES,
					      .history = HISTORY_DEFAULT},
				    .max_text = DEFAULT_MAX_TEXT};
	snprintf(command->name, sizeof(command->name), "animfs %s", **argv);
	command->note.program = command->name;
	while (!command->note.batch &&
	       getrandom(&command->note.batch, sizeof(command->note.batch), 0) > 0)
		;
	**argv = command->name; /* getopt begins its messages with this name */
	list_options(own, &options);
	optind = 0;
	while ((found = getopt_long(*argc, *argv, options.letters, options.longs, &which)) != -1) {
		if (found == '?')
			*status = command_unknown(command, *argv, options.longs);
		else if (take_option(command, own, which_option(found, which, own), usage, status))
			continue;
		*status = command_end(command, *status);
		return false;
	}
	*argc -= optind;
	*argv += optind;
	return true;
}

int command_misuse(const struct command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", command->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return try_help(command);
}

bool command_operands(const struct command *command, int argc, char **argv, int least, int most)
{
	if (argc >= least && argc <= most)
		return true;
	if (argc > most)
		command_misuse(command, "extra operand '%s'", argv[most]);
	else if (argc > 0)
		command_misuse(command, "missing operand after '%s'", argv[argc - 1]);
	else
		command_misuse(command, "missing operand");
	return false;
}

/* Writes the names of verbs as a list: "rename, remove or add". */
static void list_verbs(const struct command_verb *verbs, const char *last, struct buf *out)
{
	for (size_t i = 0; verbs[i].name; i++) {
		buf_text(out, i == 0 ? "" : verbs[i + 1].name ? ", " : last);
		buf_text(out, verbs[i].name);
	}
	buf_char(out, '\0');
}

static int find_verb(const struct command *command, const struct command_verb *verbs,
		     const char *name)
{
	struct nearest near = nearest_to(name, strlen(name));
	struct buf names = BUF_INIT;
	char meant[128];

	for (int i = 0; verbs[i].name; i++) {
		if (strcmp(name, verbs[i].name) == 0)
			return i;
		nearest_offer(&near, verbs[i].name);
	}
	nearest_text(&near, meant, sizeof(meant));
	list_verbs(verbs, " nor ", &names);
	if (!names.failed)
		command_misuse(command, "'%s' is neither %s%s", name, (char *)names.data, meant);
	buf_release(&names);
	return -1;
}

int command_verb(const struct command *command, const struct command_verb *verbs, int before,
		 int argc, char **argv)
{
	struct buf names = BUF_INIT;
	int i, least;

	if (argc == 0) {
		list_verbs(verbs, " or ", &names);
		if (!names.failed)
			command_misuse(command, "missing operand: %s", (char *)names.data);
		buf_release(&names);
		return -1;
	}
	i = find_verb(command, verbs, argv[0]);
	if (i < 0)
		return -1;
	least = 1 + before + (verbs[i].operands < 0 ? 1 : verbs[i].operands);
	return command_operands(command, argc, argv, least, verbs[i].operands < 0 ? argc : least)
		       ? i
		       : -1;
}

void command_version(void)
{
	printf("animfs %s\n"
	       "License GPLv3+: GNU GPL version 3 or later <https://gnu.org/licenses/gpl.html>.\n"
	       "This is free software: you are free to change and redistribute it.\n"
	       "There is NO WARRANTY, to the extent permitted by law.\n",
	       ANIMFS_VERSION);
}

bool command_flush(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	perror("animfs: standard output");
	return false;
}

void command_print(const struct buf *text)
{
	if (text->size)
		fwrite(text->data, 1, text->size, stdout);
}

int command_end(struct command *command, int status)
{
	option_release(&command->store);
	return command_flush() ? status : STATUS_TROUBLE;
}

static void say_error(const char *program, const char *what)
{
	fprintf(stderr, "%s%s%s%s\n", color_begin(stderr, COLOR_ERROR), program, what,
		color_end(stderr));
}

bool command_fail(const char *what, const char *why)
{
	struct err err = {.code = ERR_NONE};

	err_set(&err, ERR_TEXT, "%s", why);
	return command_error(what, &err);
}

struct shown_at {
	const char *source;
	char mountpoint[PATH_MAX];
};

static bool find_shown(void *closure, const char *mountpoint, const char *source)
{
	struct shown_at *s = closure;

	if (strcmp(source, s->source) == 0)
		snprintf(s->mountpoint, sizeof(s->mountpoint), "%s", mountpoint);
	return true;
}

int command_no_mount(const char *path)
{
	char real[PATH_MAX], why[PATH_MAX + 64];
	struct shown_at s = {real, ""};

	if (!realpath(path, real) && errno == ENOENT) {
		command_fail(path, strerror(ENOENT));
		return STATUS_TROUBLE;
	}
	mounted_each(find_shown, &s);
	snprintf(why, sizeof(why), "not a mount of animfs%s%s",
		 *s.mountpoint ? "; it is mounted at " : "", s.mountpoint);
	command_fail(path, why);
	return STATUS_REFUSED;
}

const char *command_message(const char *what, const struct err *err)
{
	const char *slash = strrchr(what, '/'), *name = slash ? slash + 1 : what;
	size_t length = strlen(name);
	bool named = strncmp(err->message, name, length) == 0 &&
		     strncmp(err->message + length, ": ", 2) == 0;

	return err->message + (err->code == ERR_SYSTEM && named ? length + 2 : 0);
}

void command_describe(const char *what, const struct err *err, struct buf *out)
{
	if (err->line)
		buf_format(out, "%s:%zu:%zu: %s", what, err->line, err->column, err->message);
	else if (err->placed && err->code == ERR_FORMAT)
		buf_format(out, "%s:0x%zx: %s", what, err->at, err->message);
	else
		buf_format(out, "%s: %s", what, command_message(what, err));
}

bool command_error(const char *what, const struct err *err)
{
	struct buf said = BUF_INIT;

	command_describe(what, err, &said);
	buf_char(&said, '\0');
	say_error("animfs: ", said.failed ? what : (const char *)said.data);
	if (*err->accepted)
		fprintf(stderr, "accepted here: %s\n", err->accepted);
	buf_release(&said);
	return false;
}

int command_status(const struct err *err)
{
	switch (err->code) {
	case ERR_SYSTEM:
	case ERR_MEMORY:
	case ERR_OPERAND:
		return STATUS_TROUBLE;
	default:
		return STATUS_REFUSED;
	}
}
