/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * site.h - SOURCE with its state directory and its overlay: the surroundings of a command's file.
 */
#ifndef ANIMFS_CMD_SITE_H
#define ANIMFS_CMD_SITE_H

#include "disk/state.h"
#include "store/overlay.h"

struct command;

struct site {
	int root;
	struct state *state;
	struct overlay *overlay;
	bool rebuild;          /* value of --rebuild */
	char folder[PATH_MAX]; /* the path of the folder from SOURCE; "" is SOURCE itself */
};
#define SITE_INIT                                                                                  \
	{                                                                                          \
		.root = -1                                                                         \
	}

/*
 * Finds SOURCE for a file in `folder`: --source, or the nearest folder above the file with a state
 * directory, or its own folder where there is none. `write`: cleans up what killed programs left;
 * else nothing is ever written. Release it in either case.
 */
bool site_find(struct site *s, const char *folder, const struct command *command, bool write,
	       struct err *err);
void site_release(struct site *s);

#endif
