/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - what the command lines of all commands have in common. */
#include "cmd.h"

#include "../options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define MAX_FILE ((size_t)1 << 30)

/* What every command understands, where it means something to it or not. */
enum { RATE, TYPE, ROTATIONS, BONES, BVH, BACKUP, SOURCE, STATE, HELP, SHARED };

static const struct option shared[SHARED] = {
	[RATE] = {"rate", required_argument, NULL, 0},
	[TYPE] = {"type", required_argument, NULL, 0},
	[ROTATIONS] = {"rotations", required_argument, NULL, 0},
	[BONES] = {"bones", required_argument, NULL, 0},
	[BVH] = {"bvh", required_argument, NULL, 0},
	[BACKUP] = {"backup", required_argument, NULL, 0},
	[SOURCE] = {"source", required_argument, NULL, 0},
	[STATE] = {"state", required_argument, NULL, 0},
	[HELP] = {"help", no_argument, NULL, 0},
};

#define OWN_MAX 4

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
	case BACKUP:
		return option_backup(&c->store, optarg, err);
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

static void list_options(const struct command_option *own, struct option *longs)
{
	size_t count = SHARED;

	memcpy(longs, shared, sizeof(shared));
	for (; own && own->name && count < SHARED + OWN_MAX; own++)
		longs[count++] = (struct option){
			own->name, own->value ? required_argument : no_argument, NULL, 0};
	longs[count] = (struct option){NULL, 0, NULL, 0};
}

bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status)
{
	struct option longs[SHARED + OWN_MAX + 1];
	struct err err = {.code = ERR_NONE};
	int letter, which = 0;

	*command = (struct command){.store = {.max_file = MAX_FILE, .cache = MAX_FILE}};
	list_options(own, longs);
	*status = 2;
	optind = 0;
	while ((letter = getopt_long(*argc, *argv, "", longs, &which)) == 0) {
		if (which == HELP) {
			printf("%s", usage);
			*status = 0;
			break;
		}
		if (which >= SHARED)
			take_own(&own[which - SHARED]);
		else if (!take_shared(command, which, &err))
			break;
	}
	if (letter == -1) {
		*argc -= optind;
		*argv += optind;
		return true;
	}
	if (err.code)
		fprintf(stderr, "animfs: %s: %s\n", optarg, err.message);
	else if (*status)
		fprintf(stderr, "%s", usage);
	command_release(command);
	return false;
}

void command_release(struct command *command)
{
	option_release(&command->store);
}

bool command_flush(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	perror("animfs: standard output");
	return false;
}

bool command_fail(const char *what, const char *why)
{
	fprintf(stderr, "animfs: %s: %s\n", what, why);
	return false;
}

bool command_tell(const char *what, const struct err *err)
{
	command_fail(what, err->message);
	if (*err->accepted)
		fprintf(stderr, "accepted here: %s\n", err->accepted);
	return false;
}
