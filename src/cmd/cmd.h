/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd.h - the commands that need no mount. Each gets its own name as argv[0] and returns an exit
 * status: 0 all is well; 1 something differs, fails a check or was refused; 2 the call was wrong,
 * or there was trouble: a file that cannot be read or written. What is wrong is said on stderr.
 */
#ifndef ANIMFS_CMD_H
#define ANIMFS_CMD_H

#include "../state.h"
#include "../store/commit.h"
#include "../store/create.h"
#include "../store/tree.h"

enum { STATUS_FINE, STATUS_REFUSED, STATUS_TROUBLE };

int cmd_mount(int argc, char **argv);
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
int cmd_formats(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);

/* The options that commands share. */
struct command {
	char name[32];              /* "animfs ls", as messages have it */
	struct store_options store; /* --rate, --type, --rotations and the others that it has */
	size_t max_text;            /* --max-text */
	const char *source;         /* --source: the folder that is, or would be, mounted */
	const char *state;          /* --state: its state directory */
};
/*
 * One of a command's own options; without a value where `value` is NULL. "j,jobs" is --jobs, and -j
 * for short. Lists end with {0}.
 */
struct command_option {
	const char *name;
	bool *flag;
	const char **value;
};
/*
 * Takes the options off the arguments; `own` may be NULL. False when the command is over, with its
 * exit status: --help prints `usage`, --version the version, or the call was wrong. Ends with
 * command_release when true.
 */
bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status);
void command_release(struct command *command);
/* Says what is wrong with the call, and where to read more. Returns STATUS_TROUBLE. */
int command_misuse(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same when there are not `least` to `most` operands; false. */
bool command_operands(const struct command *command, int argc, char **argv, int least, int most);
/* The text of --version. */
void command_version(void);

/*
 * What --help says in all commands alike: lines "Usage: ...", what it does, "Options:", and
 * "Exit status:". The options' own texts begin in column 26.
 */
#define HELP_TYPE                                                                                  \
	"      --type=GLOB=FORMAT  files of this name are of this format; auto looks at\n"         \
	"                            the content\n"
/* Of commands alone: a mount shows what it does not read. */
#define HELP_READS HELP_TYPE "      --max-file=SIZE     larger files are not read (256M)\n"
#define HELP_MAX_TEXT "      --max-text=SIZE     larger texts are refused (256M)\n"
#define HELP_TIMES                                                                                 \
	"      --rate=FORMAT=HZ    game frames a second of a format that counts in frames\n"       \
	"      --rotations=FORM    euler or quaternion, whatever is stored\n"
#define HELP_PICTURES                                                                              \
	"      --bones=SHAPE       draw bones as octahedra (the default) or as lines\n"
#define HELP_BVH "      --bvh=lossy         clip.bvh also where it leaves something out\n"
#define HELP_SITE                                                                                  \
	"      --source=DIR        the folder that is, or would be, mounted (default: the\n"       \
	"                            nearest one above FILE with a folder .animfs, or\n"           \
	"                            FILE's own)\n"                                                \
	"      --state=DIR         the state directory, as it is given to the mount\n"
#define HELP_COLOR                                                                                 \
	"      --color[=WHEN]      always (without WHEN), never or auto, the default:\n"           \
	"                            on a terminal alone\n"
#define HELP_END                                                                                   \
	"  -h, --help              this text\n"                                                    \
	"  -V, --version           the version\n"
#define HELP_BACKUP                                                                                \
	"      --backup=MODE       keep files before something is removed from them:\n"            \
	"                            simple (the last one, the default), numbered\n"               \
	"                            (each), none\n"
/* The options of those that write, and all that follows. */
#define COMMAND_WRITES                                                                             \
	HELP_READS HELP_TIMES HELP_BACKUP HELP_SITE HELP_END                                       \
		"\n"                                                                               \
		"Exit status:\n"                                                                   \
		"  0  it is saved, or was so already\n"                                            \
		"  1  it was refused; the file is as it was\n"                                     \
		"  2  the call was wrong, or the file cannot be read or written\n"

/* To standard output; what cannot be written shows at the end. */
void command_print(const struct buf *text);
/* Was all of standard output written? Says on stderr when not. */
bool command_flush(void);
/* The exit status, or that of trouble when standard output could not be written. */
int command_end(struct command *command, int status);
/* A message about a path or another thing, on stderr. Returns false. */
bool command_fail(const char *what, const char *why);
/* The same for an error, with its place in a file of bytes, and with what would be accepted. */
bool command_tell(const char *what, const struct err *err);
/* "what:0x1c: message", of a place in a file of bytes, or "what: message". */
void command_describe(const char *what, const struct err *err, struct buf *out);
/* The message alone, without the name of the file where that is the last part of `what`. */
const char *command_message(const char *what, const struct err *err);
/* Of something that was not done: was it refused, or is there trouble? */
int command_status(const struct err *err);

/* SOURCE, and its state directory. */
struct site {
	int root;
	struct state *state;
	char folder[PATH_MAX]; /* the path of `folder` from SOURCE; "" is SOURCE itself */
};

/*
 * An operand that is a symbolic link stands for the file that it leads to, with that one's name and
 * folder: its path, which the caller frees. NULL of what is no link, or leads nowhere.
 */
char *operand_target(const char *path);

/*
 * What a path through an animation file names: ranger.canm/walk/bones/hips.csv is the view
 * walk/bones/hips.csv of the file ranger.canm, or of the one that this is a link to.
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
	struct where where;
	struct version *version;
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
	TARGET_NEW = 4, /* of target_read: the file need not be there; version is NULL then */
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
 * be done to whatever is there. An exit status; what is wrong is said on stderr.
 */
typedef bool target_change(void *closure, struct target *t, struct anim *edited, struct err *err);
int target_edit(const char *path, const struct command *command, unsigned how,
		target_change *change, void *closure);

/* For a file in `folder`, as TARGET_WRITE says. */
bool site_find(struct site *s, const char *folder, const struct command *command, struct err *err);
void site_release(struct site *s);

#endif
