/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - the program's commands. Without one it mounts. */
#include "cmd/cmd.h"
#include "mount.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"umount", cmd_umount}, {"ls", cmd_ls},     {"cat", cmd_cat},   {"put", cmd_put},
	{"check", cmd_check},   {"text", cmd_text}, {"diff", cmd_diff}, {"undo", cmd_undo},
	{"clip", cmd_clip},     {"bone", cmd_bone},
};

static const char help[] =
	"Usage: animfs [OPTION]... SOURCE MOUNTPOINT\n"
	"       animfs COMMAND ...            (animfs COMMAND --help tells more)\n"
	"\n"
	"Mounts a folder of binary game animation files; each appears as a folder of CSV and JSON\n"
	"curves. Save an edit and the binary is re-encoded.\n"
	"\n"
	"  -o OPT[,OPT]...      mount options: ro, allow_other, uid=N, gid=N, umask=M, nonempty,\n"
	"                       max_threads=N, and every long option below, with ':' in lists\n"
	"  -f                   stay in the foreground\n"
	"  -d                   foreground, with every request printed\n"
	"  -s                   one thread\n"
	"      --views=LIST     the views that folders list, such as csv,json (default: all)\n"
	"      --rate=FMT=HZ    game frames a second of a format that counts time in frames\n"
	"      --type=GLOB=FMT  files of this name are of this format; FMT may be auto\n"
	"      --rotations=FORM show all rotations as euler or as quaternion, whatever is stored\n"
	"      --bones=SHAPE    draw bones as octahedra (the default) or as lines\n"
	"      --bvh=lossy      show clip.bvh also where it leaves something out\n"
	"      --beside         keep each animation file, with its folder beside it (x.canm.d)\n"
	"      --cache=SIZE     memory for decoded files that nobody uses (default 256M)\n"
	"      --max-file=SIZE  larger files are shown as they are (default 1G)\n"
	"      --max-text=SIZE  larger texts are refused (default 1G)\n"
	"      --extra-max=SIZE ordinary files beside the texts hold no more (default 4G)\n"
	"      --backup=MODE    keep files before something is removed from them: simple (the "
	"last\n"
	"                       one, the default), numbered (each), none\n"
	"      --state=DIR      where extra files, refused texts and backups are kept\n"
	"                       (default SOURCE/.animfs)\n"
	"  -h, --help           this text\n"
	"  -V, --version        the version\n"
	"\n"
	"Commands:\n"
	"  mount                the same as no command\n"
	"  umount MOUNTPOINT    unmount, and wait until all is saved\n"
	"  ls FILE[/PATH]       what a mount shows there\n"
	"  cat FILE/PATH        print a view\n"
	"  put FILE/PATH        save standard input as a view\n"
	"  check PATH...        decode, re-encode and compare\n"
	"  diff A B             what differs between two animations, key by key\n"
	"  text FILE            every clip as one text, for git diff\n"
	"  undo FILE            put the file back as it was before something was removed from it\n"
	"  clip rename|remove|copy|new ...\n"
	"  bone rename|remove|add ...\n"
	"                       clips and bones as wholes\n";

static bool wants(int argc, char **argv, const char *shorter, const char *longer)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], shorter) == 0 || strcmp(argv[i], longer) == 0)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	xmlInitParser(); /* before there are threads */
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	if (wants(argc, argv, "-h", "--help")) {
		printf("%s", help);
		return 0;
	}
	if (wants(argc, argv, "-V", "--version")) {
		printf("animfs %s\n", ANIMFS_VERSION);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "mount") == 0) {
		argc--;
		argv++;
	}
	return mount_main(argc, argv);
}
