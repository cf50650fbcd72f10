/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - the table of commands. Without a command, mounts. */
#include "cmd.h"

#include "util/nearest.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *operands, *summary;
} commands[] = {
	{"mount", cmd_mount, "SOURCE MOUNTPOINT", "mount a folder; the same as no command"},
	{"umount", cmd_umount, "MOUNTPOINT", "unmount, and wait until everything is saved"},
	{"status", cmd_status, "[PATH]...", "list mounts, unsaved texts and changed files"},
	{"ls", cmd_ls, "FILE[/PATH]...", "list folders and views"},
	{"cat", cmd_cat, "FILE/PATH...", "print views"},
	{"view", cmd_view, "FILE[/CLIP]", "play it in the browser"},
	{"put", cmd_put, "FILE/PATH [TEXT]", "save a text, or standard input, as a view"},
	{"check", cmd_check, "PATH...", "decode, encode again, and compare"},
	{"lint", cmd_lint, "PATH...", "look for suspicious curves"},
	{"export", cmd_export, "SOURCE DIR", "write the texts of a whole tree"},
	{"import", cmd_import, "DIR SOURCE", "save the texts that were edited"},
	{"diff", cmd_diff, "A B", "compare two animations key by key"},
	{"text", cmd_text, "FILE", "print a file as one text, for git diff"},
	{"log", cmd_log, "FILE", "list the versions of a file and their changes"},
	{"undo", cmd_undo, "FILE", "restore the previous version"},
	{"redo", cmd_redo, "FILE", "take back an undo"},
	{"forget", cmd_forget, "FILE", "delete the old versions of a file"},
	{"errors", cmd_errors, "MOUNTPOINT", "print the refused texts of a mount"},
	{"clip", cmd_clip, "VERB FILE/CLIP...", "rename, remove, copy or make clips"},
	{"bone", cmd_bone, "VERB FILE BONE...", "rename, remove or add bones"},
	{"convert", cmd_convert, "FILE NEW", "make a file of another format"},
	{"git-setup", cmd_git_setup, "[REPOSITORY]", "have git show and merge animations"},
	{"git-merge", cmd_git_merge, "BASE OURS THEIRS PATH", "merge two edits; git calls it"},
	{"formats", cmd_formats, "[FILE...]", "list the formats, or those of files"},
	{"bug-report", cmd_bug_report, "", "print what a report of a fault needs"},
};

static const char help_begin[] =
	"Usage: animfs [OPTION]... SOURCE MOUNTPOINT\n"
	"  or:  animfs COMMAND [OPTION]... OPERAND...\n"
	"Edit binary game animation files as text. A mount shows each one as a folder of\n"
	"CSV, JSON and other texts; when you save an edited text, the file is encoded\n"
	"again. The commands do the same without a mount.\n"
	"\n"
	"Commands:\n";
static const char help_end[] =
	"\n"
	"Options:\n"
	"  -h, --help              print this text\n"
	"  -V, --version           print the version; with --verbose also of what it uses\n"
	"\n"
	"'animfs help COMMAND' explains a command, and 'animfs help mount' the options of\n"
	"a mount. The manual pages begin at animfs(1); animfs-save(7) explains saving.\n"
	"\n"
	"Exit status:\n"
	"  0  success\n"
	"  1  a difference, a failed check, or a refused edit\n"
	"  2  usage or I/O error\n";

static void print_help(void)
{
	printf("%s", help_begin);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-11s%-22s%s\n", commands[i].name, commands[i].operands,
		       commands[i].summary);
	printf("%s", help_end);
}

static const struct verb *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* ---- a name that is no command ---- */

/* Words of other programs for what commands of other names do. */
static const struct {
	const char *word, *command;
} synonyms[] = {
	{"info", "cat FILE/file.json"},
	{"show", "cat"},
	{"list", "ls"},
	{"dump", "text"},
	{"extract", "export"},
	{"pack", "import"},
	{"verify", "check"},
	{"revert", "undo"},
	{"history", "log"},
	{"rename", "clip rename"},
};

static int say_unknown(const char *word)
{
	struct nearest near = nearest_to(word, strlen(word));
	char meant[128];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		nearest_offer(&near, commands[i].name);
	nearest_text(&near, meant, sizeof(meant));
	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++) {
		if (strcmp(word, synonyms[i].word) == 0)
			snprintf(meant, sizeof(meant), "; did you mean \"%s\"?",
				 synonyms[i].command);
	}
	fprintf(stderr,
		"animfs: unknown command '%s'%s\nTry 'animfs --help' for a list of the commands.\n",
		word, meant);
	return STATUS_TROUBLE;
}

/* Is the word neither a path with folders nor a folder that could be mounted? */
static bool is_unknown(const char *word)
{
	struct stat st;

	return *word != '-' && !strchr(word, '/') && !(stat(word, &st) == 0 && S_ISDIR(st.st_mode));
}

static int print_command_help(int argc, char **argv)
{
	const struct verb *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (command)
		return command->run(2, (char *[]){argv[1], "--help", NULL});
	if (argc > 1 && *argv[1] != '-')
		return say_unknown(argv[1]);
	print_help();
	return command_flush() ? STATUS_FINE : STATUS_TROUBLE;
}

/* --version --verbose, in either order */
static bool asks_for_all(int argc, char **argv)
{
	bool version = false, verbose = false;

	for (int i = 1; i < argc; i++) {
		version |= strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0;
		verbose |= strcmp(argv[i], "--verbose") == 0;
	}
	return argc == 3 && version && verbose;
}

int main(int argc, char **argv)
{
	const struct verb *command = argc > 1 ? find_command(argv[1]) : NULL;

	xmlInitParser(); /* initialize libxml2 before there are threads */
	if (command)
		return command->run(argc - 1, argv + 1);
	if (argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
			 strcmp(argv[1], "-h") == 0))
		return print_command_help(argc - 1, argv + 1);
	if (asks_for_all(argc, argv)) {
		command_version_verbose();
		return command_flush() ? STATUS_FINE : STATUS_TROUBLE;
	}
	if (argc > 1 && is_unknown(argv[1]))
		return say_unknown(argv[1]);
	return cmd_mount(argc, argv);
}
