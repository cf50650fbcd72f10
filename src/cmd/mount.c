/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.c - `animfs mount`, or no command at all. */
#include "cmd.h"

#include "../mount.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
	"Usage: animfs mount [OPTION]... SOURCE MOUNTPOINT\n"
	"  or:  animfs [OPTION]... SOURCE MOUNTPOINT\n"
	"Mount a folder of binary game animation files. Each appears as a folder of CSV\n"
	"and JSON curves; save an edit, and the binary is encoded anew.\n"
	"\n"
	"Options:\n"
	"  -o OPT[,OPT]...         mount options: ro, allow_other, uid=N, gid=N, umask=M,\n"
	"                            nonempty, noforget, unconfined, max_threads=N, and\n"
	"                            every long option below, with ':' in lists\n"
	"  -f                      stay in the foreground\n"
	"  -d                      foreground, with every request printed\n"
	"  -s                      one thread\n"
	"      --views=LIST        list these views only, such as csv,json\n"
	/* clang-format off: a line for each */
	HELP_TYPE HELP_TIMES HELP_PICTURES HELP_BVH
	/* clang-format on */
	"      --beside            keep each animation file, with its folder beside it\n"
	"                            (x.canm.d)\n"
	"      --cache=SIZE        memory for decoded files that nobody uses (256M)\n"
	"      --max-file=SIZE     larger files are shown as they are (256M)\n"
	/* clang-format off */
	HELP_MAX_TEXT
	/* clang-format on */
	"      --extra-max=SIZE    ordinary files beside the texts hold no more (4G)\n"
	/* clang-format off */
	HELP_BACKUP
	/* clang-format on */
	"      --state=DIR         where extra files, refused texts and backups are kept\n"
	"                            (default: SOURCE/.animfs)\n" HELP_END "\n"
	"Exit status:\n"
	"  0  it was mounted, and with -f has ended well\n"
	"  1  it cannot be mounted\n"
	"  2  the call was wrong\n";

static bool wants(int argc, char **argv, const char *shorter, const char *longer)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], shorter) == 0 || strcmp(argv[i], longer) == 0)
			return true;
	}
	return false;
}

int cmd_mount(int argc, char **argv)
{
	if (wants(argc, argv, "-h", "--help"))
		printf("%s", usage);
	else if (wants(argc, argv, "-V", "--version"))
		command_version();
	else
		return mount_main(argc, argv);
	return command_flush() ? STATUS_FINE : STATUS_TROUBLE;
}
