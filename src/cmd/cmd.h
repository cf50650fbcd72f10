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
int cmd_text(int argc, char **argv);
int cmd_diff(int argc, char **argv); /* its exit status is as diff's */
int cmd_undo(int argc, char **argv);
int cmd_clip(int argc, char **argv);
int cmd_bone(int argc, char **argv);

/* The options that commands share. */
struct command {
	struct store_options store; /* --rate, --type, --rotations, --bones, --bvh, --backup */
	const char *source;         /* --source: the folder that is, or would be, mounted */
	const char *state;          /* --state: its state directory */
};
/* One of a command's own options; without a value where `value` is NULL. Lists end with {0}. */
struct command_option {
	const char *name;
	bool *flag;
	const char **value;
};
/*
 * Takes the options off the arguments; `own` may be NULL. False when the command is over, with its
 * exit status: --help, or the call was wrong. Ends with command_release when true.
 */
bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status);
void command_release(struct command *command);
/* The end of the usage of those that write. */
#define COMMAND_WRITES                                                                             \
	"\n"                                                                                       \
	"  --type=GLOB=FORMAT   files of this name are of this format; auto looks at the "         \
	"content\n"                                                                                \
	"  --rate=FORMAT=HZ     game frames a second of a format that counts time in frames\n"     \
	"  --rotations=FORM     rotations as euler or as quaternion, whatever is stored\n"         \
	"  --bones=SHAPE        bones drawn as octahedra (the default) or lines\n"                 \
	"  --bvh=lossy          clip.bvh also where it leaves something out\n"                     \
	"  --backup=MODE        keep the file before something is removed from it: simple (the\n"  \
	"                       last one, the default), numbered (each), none\n"                   \
	"  --source=DIR         the folder that is, or would be, mounted (default: the nearest\n"  \
	"                       one above FILE with a folder .animfs, or FILE's own)\n"            \
	"  --state=DIR          the state directory, as it is given to the mount\n"                \
	"  --help               this text\n"
/* Was all of standard output written? Says on stderr when not. */
bool command_flush(void);
/* A message about a path or another thing, on stderr. Returns false. */
bool command_fail(const char *what, const char *why);
/* The same for an error, with what would be accepted. */
bool command_tell(const char *what, const struct err *err);

/* SOURCE, and its state directory. */
struct site {
	int root;
	struct state *state;
	char folder[PATH_MAX]; /* the path of `folder` from SOURCE; "" is SOURCE itself */
};

/*
 * What a path through an animation file names: ranger.canm/walk/bones/hips.csv is the view
 * walk/bones/hips.csv of the file ranger.canm. Symbolic links in folders are followed, as a shell
 * does.
 */
struct target {
	struct arena arena; /* of the parts of the path */
	int folder;         /* the file's folder */
	const char *folder_path;
	const char *file_name;
	const char *inside;        /* what is behind the file, without a leading '/' */
	const struct codec *codec; /* by its name; NULL: by its content */
	struct site site;          /* to write */
	struct store *store;
	struct source *source;
	struct snap *snap;
	struct tree tree;
	struct place place;
};

/*
 * Opens the file and finds the place. Says on stderr what is wrong and returns false when there is
 * no such file, it does not decode, or it has no such place. Release it in either case.
 *
 * TARGET_WRITE: SOURCE is --source, or the nearest folder above the file with a state directory, or
 * its own folder where there is none: what is saved here and what a mount saves then wait for each
 * other.
 */
enum {
	TARGET_WRITE = 1,
	TARGET_ANY = 2, /* whatever the file is called: it is looked into */
	TARGET_NEW = 4, /* of target_read: the file need not be there; snap is NULL then */
};
bool target_open(struct target *t, const char *path, const struct command *command, unsigned how);
/* The same without looking for the place, and in silence. */
bool target_read(struct target *t, const char *path, const struct command *command, unsigned how,
		 struct err *err);
/* Looks for the place, too. */
bool target_find(struct target *t, struct err *err);
void target_release(struct target *t);

/*
 * Opens the file, has it changed, and saves it, or makes it where there is none (TARGET_NEW). Does
 * all that again when others have changed the file in the meantime, since `change` says what is to
 * be done to whatever is there. False, said on stderr.
 */
typedef bool target_change(void *closure, struct target *t, struct anim *edited, struct err *err);
bool target_edit(const char *path, const struct command *command, unsigned how,
		 target_change *change, void *closure);

/* For a file in `folder`, as TARGET_WRITE says. */
bool site_open(struct site *s, const char *folder, const struct command *command, struct err *err);
void site_release(struct site *s);

#endif
