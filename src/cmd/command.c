/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - what the command lines of all commands have in common. */
#include "cmd.h"
#include "color.h"

#include "../options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* What every command understands, where it means something to it or not. */
enum {
	RATE,
	TYPE,
	ROTATIONS,
	BONES,
	BVH,
	MAX_FILE,
	MAX_TEXT,
	BACKUP,
	SOURCE,
	STATE,
	COLOR,
	HELP,
	VERSION,
	SHARED
};

static const struct option shared[SHARED] = {
	[RATE] = {"rate", required_argument, NULL, 0},
	[TYPE] = {"type", required_argument, NULL, 0},
	[ROTATIONS] = {"rotations", required_argument, NULL, 0},
	[BONES] = {"bones", required_argument, NULL, 0},
	[BVH] = {"bvh", required_argument, NULL, 0},
	[MAX_FILE] = {"max-file", required_argument, NULL, 0},
	[MAX_TEXT] = {"max-text", required_argument, NULL, 0},
	[BACKUP] = {"backup", required_argument, NULL, 0},
	[SOURCE] = {"source", required_argument, NULL, 0},
	[STATE] = {"state", required_argument, NULL, 0},
	[COLOR] = {"color", optional_argument, NULL, 0},
	[HELP] = {"help", no_argument, NULL, 0},
	[VERSION] = {"version", no_argument, NULL, 0},
};

#define OWN_MAX 16

/* All options as getopt has them. */
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

/* The place among the long options of the one that was found. */
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
	case BONES:
		return option_bones(&c->store, optarg, err);
	case BVH:
		return option_bvh(&c->store, optarg, err);
	case MAX_FILE:
		return option_size(optarg, &c->store.max_file, err);
	case MAX_TEXT:
		return option_max_text(optarg, &c->max_text, err);
	case BACKUP:
		return option_backup(&c->store, optarg, err);
	case COLOR:
		return color_choose(optarg, err);
	case SOURCE:
		c->source = optarg;
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

/* An option: true when there may be more. */
static bool take(struct command *command, const struct command_option *own, int which,
		 const char *usage, int *status)
{
	struct err err = {.code = ERR_NONE};

	if (which < 0)
		*status = try_help(command);
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
	if (which == VERSION)
		command_version();
	return which >= SHARED;
}

bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status)
{
	struct options options;
	int found, which = 0;

	*command =
		(struct command){.store = {.max_file = DEFAULT_MAX_FILE, .cache = DEFAULT_MAX_FILE},
				 .max_text = DEFAULT_MAX_TEXT};
	snprintf(command->name, sizeof(command->name), "animfs %s", **argv);
	**argv = command->name; /* for getopt's messages */
	list_options(own, &options);
	optind = 0;
	while ((found = getopt_long(*argc, *argv, options.letters, options.longs, &which)) != -1) {
		if (take(command, own, which_option(found, which, own), usage, status))
			continue;
		*status = command_end(command, *status);
		return false;
	}
	*argc -= optind;
	*argv += optind;
	return true;
}

void command_release(struct command *command)
{
	option_release(&command->store);
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
	command_release(command);
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
	return command_tell(what, &err);
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
	if (err->placed && err->code == ERR_FORMAT)
		buf_format(out, "%s:0x%zx: %s", what, err->at, err->message);
	else
		buf_format(out, "%s: %s", what, command_message(what, err));
}

bool command_tell(const char *what, const struct err *err)
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
	return err->code == ERR_SYSTEM || err->code == ERR_MEMORY ? STATUS_TROUBLE : STATUS_REFUSED;
}
