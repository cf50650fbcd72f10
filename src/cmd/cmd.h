/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer cmd: the command line: one file for each command and one line for each in main.c. A
 * command works on store as the mount does, so that both wait for each other and save the same
 * bytes. Errors become messages and exit statuses here and nowhere else. `mount` is one of the
 * commands and hands over to fuse.
 *
 * Start reading in main.c; then text.c, which is short.
 *
 * May use: util text disk sandbox model skeleton view container edit store fuse/session.h
 * vfs/mount_options.h
 */
/*
 * cmd.h - the commands, and their shared parts. Each gets its own name as argv[0] and returns an
 * exit status: 0 success; 1 a difference, a failed check or a refused edit; 2 usage or I/O error.
 * Messages go to stderr.
 */
#ifndef ANIMFS_CMD_CMD_H
#define ANIMFS_CMD_CMD_H

#include "archived.h"
#include "disk/state.h"
#include "mounted.h"
#include "site.h"
#include "store/commit.h"
#include "store/create.h"
#include "store/tree.h"

enum { STATUS_FINE, STATUS_REFUSED, STATUS_TROUBLE };

int cmd_mount(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_cat(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_put(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_lint(int argc, char **argv);
int cmd_umount(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_text(int argc, char **argv);
int cmd_diff(int argc, char **argv); /* the exit status is like that of diff(1) */
int cmd_undo(int argc, char **argv);
int cmd_redo(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_forget(int argc, char **argv);
int cmd_errors(int argc, char **argv);
int cmd_bug_report(int argc, char **argv);
int cmd_convert(int argc, char **argv);
/* Appends, without a NUL, the label of the only clip in formats that store no name. */
void clip_file_label(const char *file_name, struct buf *out);
int cmd_clip(int argc, char **argv);
int cmd_bone(int argc, char **argv);
int cmd_formats(int argc, char **argv);
int cmd_git_setup(int argc, char **argv);
int cmd_git_merge(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);

/* Options that commands share. */
struct command {
	char name[32]; /* name for messages, such as "animfs ls" */
	struct store_options
		store; /* --rate, --type, --rotations and other options of struct store_options */
	struct history_note note; /* for history: the program's name, and a new batch */
	size_t max_text;          /* limit from --max-text */
	const char *source;       /* --source: the folder that is, or would be, mounted */
	const char *state;        /* --state: the state directory of `source` */
	const char *overlay;      /* --overlay: where edited members of archives go */
	bool rebuild;             /* --rebuild: archives as loose files, with an edited member */
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
 * Parses the options and removes them from the arguments; `own` may be NULL. Returns false if the
 * command is finished, with its exit status in *status: after --help (prints `usage`), --version
 * or a usage error. After true, call command_end.
 */
bool command_begin(int *argc, char ***argv, struct command *command,
		   const struct command_option *own, const char *usage, int *status);
/* Prints a usage error, and where to read more. Returns STATUS_TROUBLE. */
int command_misuse(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * After getopt_long has found an unknown option or a wrong one, and said so: suggests the nearest,
 * and prints where to read more. Returns STATUS_TROUBLE.
 */
struct option;
int command_unknown(const struct command *command, char **argv, const struct option *longs);
/* Prints an error if there are not `least` to `most` operands; false then. */
bool command_operands(const struct command *command, int argc, char **argv, int least, int most);
/* A verb of a command such as `clip`: its first operand. Lists end with {0}. */
struct command_verb {
	const char *name;
	int operands; /* number of operands after `before` others; -1: one or more */
};
/*
 * Returns the index of the verb in argv[0]; -1 after an error: no such verb, or a wrong number of
 * operands.
 */
int command_verb(const struct command *command, const struct command_verb *verbs, int before,
		 int argc, char **argv);
/* Prints the text of --version. */
void command_version(void);
/* Also of what the program uses, for reports. */
void command_version_verbose(void);

/*
 * The parts that all help texts share: lines "Usage: ...", what it does, "Options:", and "Exit
 * status:". The descriptions of options begin in column 26.
 */
#define HELP_TYPE                                                                                  \
	"      --type=GLOB=FORMAT  files with such names have this format; auto: look at\n"        \
	"                            their content\n"
/* Only for commands: a mount shows files beyond the limit as plain files. */
#define HELP_READS HELP_TYPE "      --max-file=SIZE     do not read larger files (256M)\n"
#define HELP_MAX_TEXT "      --max-text=SIZE     refuse larger texts (256M)\n"
#define HELP_TIMES                                                                                 \
	"      --rate=FORMAT=HZ    frames per second of a format that counts in frames\n"          \
	"      --rotations=FORM    show all as euler, quaternion or stored (default:\n"            \
	"                            degrees in tables, as stored in JSON)\n"
#define HELP_BASE                                                                                  \
	"      --base=CLIP         show other clips, or with PATTERN=CLIP those, on\n"             \
	"                            top of it, in pictures, player, X3D and glTF\n"
#define HELP_PICTURES                                                                              \
	HELP_BASE                                                                                  \
	"      --bones=SHAPE       draw bones as octahedra (the default) or as lines\n"
#define HELP_INTERCHANGE                                                                           \
	"      --bvh=lossy         clip.bvh even if it leaves something out\n"                     \
	"      --gltf=plain        clip.gltf without a mesh, bones only\n"                         \
	"      --gltf-rate=HOW     match (the default), or resample: take a glTF or\n"             \
	"                            BVH that was written at another frame rate\n"                 \
	"      --ff9clip-hand=HAND the space of ff9clip in clip.gltf: right or left\n"             \
	"      --tangents          tables with the tangents of keys, where there are any\n"
#define HELP_SITE                                                                                  \
	"      --source=DIR        the folder that is, or would be, mounted (default: the\n"       \
	"                            nearest one above FILE that contains .animfs, or\n"           \
	"                            FILE's own)\n"                                                \
	"      --state=DIR         the state directory, as given to the mount\n" HELP_OVERLAY
/* Help on where members of archives are read and written. */
#define HELP_OVERLAY                                                                               \
	"      --overlay=DIR       DIR has the edited members of archives (default: the\n"         \
	"                            game's Mods, else overlay in the state directory)\n"
#define HELP_REBUILD                                                                               \
	"      --rebuild           save a member of a RAB by writing that archive again,\n"        \
	"                            as a loose file\n"
#define HELP_COLOR                                                                                 \
	"      --color[=WHEN]      always (without WHEN), never, or auto (the default):\n"         \
	"                            only on a terminal\n"
#define HELP_END                                                                                   \
	"  -h, --help              print this text\n"                                              \
	"  -V, --version           print the version\n"
#define HELP_HISTORY "      --history=SIZE      space for old versions of files (1G; 0: none)\n"
/* The options of commands that write, and all that follow. */
#define COMMAND_WRITES                                                                             \
	HELP_READS HELP_TIMES HELP_HISTORY HELP_SITE HELP_REBUILD HELP_END                         \
		"\n"                                                                               \
		"Exit status:\n"                                                                   \
		"  0  it is saved, or already was\n"                                               \
		"  1  it was refused; the file has not changed\n"                                  \
		"  2  usage error, or the file cannot be read or written\n"

/* Writes to standard output; errors show in command_flush and command_end. */
void command_print(const struct buf *text);
/* Returns whether all of standard output was written; if not, prints an error. */
bool command_flush(void);
/*
 * Ends the command; returns the exit status, or STATUS_TROUBLE if standard output could not be
 * written.
 */
int command_end(struct command *command, int status);
/* Prints a message about a path on stderr. Returns false. */
bool command_fail(const char *what, const char *why);
/* Prints that the path should be a mount; returns the exit status. */
int command_no_mount(const char *path);
/* Prints an error with its place in a binary file and what would be accepted. Returns false. */
bool command_error(const char *what, const struct err *err);
/*
 * Appends "what:0x1c: message" for a place in bytes, "what:2:7: message" in a text, else "what:
 * message".
 */
void command_describe(const char *what, const struct err *err, struct buf *out);
/* Returns the message of an error, without a file name if that is the last part of `what`. */
const char *command_message(const char *what, const struct err *err);
/* Returns the exit status for an error: refused, or trouble. */
int command_status(const struct err *err);

/*
 * Returns the path of the file that a symbolic link leads to: such an operand stands for that file,
 * with its name and folder. The caller frees the path; NULL if the operand is not a link, or a
 * dangling one.
 */
char *operand_target(const char *path);
/*
 * Returns the length of the part of the path that names the animation file or archive: up to the
 * first component that is not a folder.
 */
size_t operand_file(const char *path);

/*
 * The target of a path through an animation file: ranger.canm/walk/bones/hips.csv is the view
 * walk/bones/hips.csv of the file ranger.canm, or of the one that this is a link to. In a mount it
 * is that of the file in SOURCE.
 *
 * In an archive it may be a member: Root.cpk/OBJECT/X.CAS/walk/bones/hips.csv is the view
 * walk/bones/hips.csv of the member OBJECT/X.CAS. It is read from its loose file where there is
 * one, and saved to that (store/overlay.h): folder and file_name are those of the loose file.
 */
struct target {
	const char *typed;  /* the path as it was given */
	struct arena arena; /* memory for the parts of the path */
	struct mounted mounted;
	int folder; /* descriptor of the file's folder */
	const char *folder_path;
	const char *file_name;
	const char *inside;        /* the path inside the file, without a leading '/' */
	const struct codec *codec; /* format by the file's name; NULL: by its content */
	struct site site;          /* the site to save to, when opened for writing */
	struct store *store;
	struct source *source;
	struct where where;
	bool is_archived;         /* the file is an archive: */
	struct archived archived; /* the named entry in it */
	struct loose loose;       /* loose file of the member */
	struct version *version;  /* the file, decoded; NULL: see TARGET_NEW, TARGET_MEMBER */
	struct tree tree;
	struct place place;
};

/*
 * Opens the file and finds the place. Prints an error and returns false if there is no such file,
 * it does not decode, or it has no such place. Release it in either case.
 *
 * TARGET_WRITE: SOURCE is --source, or the nearest folder above the file with a state directory, or
 * its own folder if there is none, so that this and a mount wait for each other.
 */
enum {
	TARGET_WRITE = 1,
	TARGET_ANY = 2,    /* accept any file name: the content decides about the format */
	TARGET_NEW = 4,    /* of target_read: the file need not be there; version is NULL then */
	TARGET_MEMBER = 8, /* anything in an archive; without a version if it is no animation */
};
bool target_open(struct target *t, const char *path, const struct command *command, unsigned how);
/* Opens the file without finding the place, and prints nothing. */
bool target_read(struct target *t, const char *path, const struct command *command, unsigned how,
		 struct err *err);
/* Refuses an ordinary folder, and names a file in it as an example. */
bool target_refuse_folder(const struct target *t, struct err *err);
/* Prepares to find or save the file, which need not exist. */
bool target_locate(struct target *t, const char *path, const struct command *command,
		   struct err *err);
/* Finds the place named by the path inside the file. */
bool target_find(struct target *t, struct err *err);
/* Returns whether the place is a view; if not, prints an error that names one. */
bool target_is_view(const struct target *t, const char *path);
void target_release(struct target *t);

/*
 * Opens the file, calls `change`, and saves the file, or makes it if there is none (TARGET_NEW).
 * Repeats that if the file was changed in the meantime, so `change` must work on any state of it.
 * Returns the exit status; prints errors on stderr.
 */
typedef bool target_change(void *closure, struct target *t, struct anim *edited, struct err *err);
int target_edit(const char *path, const struct command *command, unsigned how,
		target_change *change, void *closure);

#endif
