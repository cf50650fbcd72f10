/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - what a report of a fault needs: `animfs --version --verbose`, and `animfs bug-report`,
 * which adds the mounts, their options and what they refused last, without names of files.
 */
#include "cmd.h"

#include "fuse/session.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#ifndef ANIMFS_COMMIT
#define ANIMFS_COMMIT "unknown"
#endif

#define ERRORS_SHOWN 10

static void print_formats(void)
{
	printf("formats");
	for (unsigned i = 0; codecs[i]; i++)
		printf(" %s", codecs[i]->format->name);
	putchar('\n');
}

/* What a mount of this user needs beside the program. */
static void print_fuse(void)
{
	printf("libfuse %s\n/dev/fuse %s\nfusermount3 %s\n", mount_library(),
	       access("/dev/fuse", R_OK | W_OK) == 0 ? "yes" : "no",
	       access("/usr/bin/fusermount3", X_OK) == 0 || access("/bin/fusermount3", X_OK) == 0
		       ? "yes"
		       : "no");
}

void command_version_verbose(void)
{
	struct utsname system;

	printf("animfs %s\ncommit %s\n", ANIMFS_VERSION, ANIMFS_COMMIT);
	if (uname(&system) == 0)
		printf("system %s %s %s\n", system.sysname, system.release, system.machine);
#ifdef __GLIBC__
	printf("glibc %s\n", gnu_get_libc_version());
#endif
	print_fuse();
	print_formats();
	printf("user %s\n", geteuid() == 0 ? "root" : "not root");
}

/* ---- without names ---- */

static bool is_word_end(char c)
{
	return c == '\0' || strchr(" \t\n:,;()", c) != NULL;
}

/* Appends one word; of a path only its extension, since names are nobody's business. */
static void report_word(const char *word, size_t size, struct buf *out)
{
	const char *slash = memrchr(word, '/', size), *dot = memrchr(word, '.', size);

	if (!slash && !(dot && dot > word && dot + 1 < word + size && isalpha((uint8_t)dot[1]))) {
		buf_add(out, word, size);
		return;
	}
	buf_char(out, '*');
	if (dot && (!slash || dot > slash))
		buf_add(out, dot, (size_t)(word + size - dot));
}

/* Appends a line without what is quoted in it and without names of files. */
static void add_nameless(const char *line, struct buf *out)
{
	while (*line && *line != '\n') {
		size_t size = 0;

		if (*line == '"') {
			const char *end = strchr(line + 1, '"');

			buf_text(out, "\"*\"");
			line = end ? end + 1 : line + strlen(line);
			continue;
		}
		while (!is_word_end(line[size]) && line[size] != '"')
			size++;
		report_word(line, size, out);
		line += size;
		if (*line && *line != '"' && *line != '\n')
			buf_char(out, *line++);
	}
	buf_char(out, '\n');
}

/* ---- one mount ---- */

static FILE *report_open(const char *mountpoint, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/.animfs/%s", mountpoint, name);
	return fopen(path, "re");
}

/* Lines of .animfs/status that name no place. */
static bool is_public(const char *line)
{
	static const char *const names[] = {
		"version ", "pid ",      "read_only ", "confined ", "cache_", "held_",  "drafts_",
		"extra_",   "rejected_", "history_",   "nodes ",    "texts ", "since ", "pending "};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* A path, or names of clips and files. */
static bool report_has_names(const char *arg)
{
	return strchr(arg, '/') || strncmp(arg, "--base=", 7) == 0 ||
	       strncmp(arg, "--type=", 7) == 0;
}

/* The options that the mount was given; values with names are left out. */
static void print_options(long pid)
{
	char path[64], args[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	file = fopen(path, "re");
	size = file ? fread(args, 1, sizeof(args) - 1, file) : 0;
	if (file)
		fclose(file);
	args[size] = '\0';
	printf("  options");
	for (const char *arg = args; arg < args + size; arg += strlen(arg) + 1) {
		size_t shown = report_has_names(arg) ? strcspn(arg, "=") : strlen(arg);

		if (*arg == '-')
			printf(" %.*s%s", (int)shown, arg, arg[shown] ? "=*" : "");
	}
	printf("%s\n", size ? "" : " unknown");
}

static void print_status(const char *mountpoint)
{
	FILE *file = report_open(mountpoint, "status");
	char *line = NULL;
	size_t room = 0;
	long pid = 0;

	while (file && getline(&line, &room, file) > 0) {
		if (is_public(line))
			printf("  %s", line);
		if (strncmp(line, "pid ", 4) == 0)
			pid = strtol(line + 4, NULL, 10);
	}
	if (pid > 0)
		print_options(pid);
	else
		printf("  it does not answer\n");
	free(line);
	if (file)
		fclose(file);
}

/* The last lines, in the order in which they are there. */
static void print_last_errors(const char *mountpoint)
{
	FILE *file = report_open(mountpoint, "errors");
	struct buf last[ERRORS_SHOWN] = {BUF_INIT};
	char *line = NULL;
	size_t room = 0, count = 0;

	for (; file && getline(&line, &room, file) > 0; count++) {
		struct buf *to = &last[count % ERRORS_SHOWN];

		buf_clear(to);
		add_nameless(line, to);
	}
	printf("  errors %zu\n", count);
	for (size_t i = count > ERRORS_SHOWN ? count - ERRORS_SHOWN : 0; i < count; i++) {
		printf("    ");
		command_print(&last[i % ERRORS_SHOWN]);
	}
	for (size_t i = 0; i < ERRORS_SHOWN; i++)
		buf_release(&last[i]);
	free(line);
	if (file)
		fclose(file);
}

static bool report_mount(void *closure, const char *mountpoint, const char *source)
{
	printf("mount%s\n", strcmp(mountpoint, source) == 0 ? " over its source" : "");
	print_status(mountpoint);
	print_last_errors(mountpoint);
	*(bool *)closure = true;
	return true;
}

/* ---- the command ---- */

static const char usage[] =
	"Usage: animfs bug-report [OPTION]...\n"
	"Print what a report of a fault needs, to be pasted into it: versions, what this\n"
	"machine has for mounts, and of each mount its options, its limits and the last\n"
	"of its errors. Names of files and what is quoted are left out, but read it\n"
	"before you paste it: a message may name a clip or a bone.\n"
	"\n"
	"Options:\n" HELP_END "\n"
	"Exit status:\n"
	"  0  it was printed\n"
	"  2  usage or I/O error\n";

int cmd_bug_report(int argc, char **argv)
{
	struct command command;
	bool any = false;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	if (!command_operands(&command, argc, argv, 0, 0))
		return command_end(&command, STATUS_TROUBLE);
	command_version_verbose();
	status = mounted_each(report_mount, &any) ? STATUS_FINE : STATUS_TROUBLE;
	if (!any)
		printf("no mount\n");
	return command_end(&command, status);
}
