/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - the program's commands, a line for each. Without one it mounts. */
#include "cmd/cmd.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *operands, *summary;
} commands[] = {
	{"mount", cmd_mount, "SOURCE MOUNTPOINT", "the same as no command: mount a folder"},
	{"umount", cmd_umount, "MOUNTPOINT", "unmount, and wait until all is saved"},
	{"ls", cmd_ls, "FILE[/PATH]...", "list what a mount shows there"},
	{"cat", cmd_cat, "FILE/PATH...", "print views"},
	{"put", cmd_put, "FILE/PATH [TEXT]", "save a text, or standard input, as a view"},
	{"check", cmd_check, "PATH...", "decode, encode again and compare"},
	{"export", cmd_export, "SOURCE DIR", "write the texts of a whole tree"},
	{"import", cmd_import, "DIR SOURCE", "save those that were edited since"},
	{"diff", cmd_diff, "A B", "what differs between two animations, key by key"},
	{"text", cmd_text, "FILE", "every clip as one text, for git diff"},
	{"undo", cmd_undo, "FILE", "put back what was removed from a file"},
	{"clip", cmd_clip, "VERB FILE/CLIP...", "rename, remove, copy or make clips"},
	{"bone", cmd_bone, "VERB FILE BONE...", "rename, remove or add bones"},
	{"formats", cmd_formats, "[FILE...]", "the formats, or those of some files"},
};

static const char help_begin[] =
	"Usage: animfs [OPTION]... SOURCE MOUNTPOINT\n"
	"  or:  animfs COMMAND [OPTION]... OPERAND...\n"
	"Mount a folder of binary game animation files: each appears as a folder of CSV\n"
	"and JSON curves; save an edit, and the binary is encoded anew. The other\n"
	"commands do the same without a mount.\n"
	"\n"
	"Commands:\n";
static const char help_end[] =
	"\n"
	"Options:\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n"
	"\n"
	"'animfs help COMMAND' tells more of each, 'animfs help mount' of the options of\n"
	"a mount, and the manual animfs(1) of all.\n"
	"\n"
	"Exit status:\n"
	"  0  all is well\n"
	"  1  something differs, fails a check, or was refused\n"
	"  2  the call was wrong, or there was trouble\n";

static void print_help(void)
{
	printf("%s", help_begin);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-8s%-20s%s\n", commands[i].name, commands[i].operands,
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

#define WORD_MAX 16

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters have to be put in, taken out or replaced to make the one of the other. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t above = row[j + 1];

			row[j + 1] = least(least(above, row[j]) + 1, corner + (a[i] != b[j]));
			corner = above;
		}
	}
	return row[length];
}

static bool is_near(const char *word, const char *name)
{
	size_t length = strlen(word);

	return strlen(name) <= WORD_MAX && ((length > 1 && strncmp(word, name, length) == 0) ||
					    distance(word, name) <= (length > 3 ? 2 : 1));
}

static int say_unknown(const char *word)
{
	unsigned found = 0;

	fprintf(stderr, "animfs: '%s' is neither a command nor a folder.", word);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (is_near(word, commands[i].name))
			fprintf(stderr, "%s'%s'", found++ ? " or " : " Did you mean ",
				commands[i].name);
	}
	fprintf(stderr, "%s\nTry 'animfs --help' for more information.\n", found ? "?" : "");
	return STATUS_TROUBLE;
}

/* A word that is no path with folders in it, and no folder that could be mounted. */
static bool is_unknown(const char *word)
{
	struct stat st;

	return *word != '-' && !strchr(word, '/') && !(stat(word, &st) == 0 && S_ISDIR(st.st_mode));
}

static int help(int argc, char **argv)
{
	const struct verb *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (command)
		return command->run(2, (char *[]){argv[1], "--help", NULL});
	if (argc > 1 && *argv[1] != '-')
		return say_unknown(argv[1]);
	print_help();
	return command_flush() ? STATUS_FINE : STATUS_TROUBLE;
}

int main(int argc, char **argv)
{
	const struct verb *command = argc > 1 ? find_command(argv[1]) : NULL;

	xmlInitParser(); /* before there are threads */
	if (command)
		return command->run(argc - 1, argv + 1);
	if (argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
			 strcmp(argv[1], "-h") == 0))
		return help(argc - 1, argv + 1);
	if (argc > 1 && is_unknown(argv[1]))
		return say_unknown(argv[1]);
	return cmd_mount(argc, argv);
}
