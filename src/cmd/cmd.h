/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd.h - the commands that need no mount. Each gets its own name as argv[0] and returns an exit
 * status: 0 done, 1 something failed or was refused (said on stderr), 2 the call itself was wrong.
 */
#ifndef ANIMFS_CMD_H
#define ANIMFS_CMD_H

#include "../state.h"
#include "../tree.h"

int cmd_ls(int argc, char **argv);
int cmd_cat(int argc, char **argv);
int cmd_put(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_umount(int argc, char **argv);

/*
 * What a path through an animation file names: ranger.canm/walk/bones/hips.csv is the view
 * walk/bones/hips.csv of the file ranger.canm. Symbolic links in folders are followed, as a shell does.
 */
struct target {
	int folder;       /* the file's folder */
	char *folder_path;
	char *file_name;
	char *inside;     /* what is behind the file, without a leading '/' */
	struct store_options options;
	int root;            /* to write: SOURCE, or -1; and its state */
	struct state *state;
	struct store *store;
	struct source *source;
	struct snap *snap;
	struct tree tree;
	struct place place;
};

/*
 * Opens the file and finds the place. Says on stderr what is wrong and returns false when there is
 * no such file, it does not decode, or it has no such place. Release it in either case. To write,
 * SOURCE is the nearest folder above the file with a state directory, and its own folder where
 * there is none: what is saved here and what a mount saves then wait for each other.
 */
bool target_open(struct target *t, const char *path, const struct store_options *options,
		 bool to_write);
void target_release(struct target *t);

/* The options that commands share (--rate, --type): to be parsed before the operands. */
bool command_options(int *argc, char ***argv, struct store_options *options, const char *usage,
		     int *status);

#endif
