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
#include <sys/stat.h>
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
	printf("\narchives");
	for (unsigned i = 0; containers[i]; i++)
		printf(" %s", containers[i]->name);
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

/* The path that a line of .animfs/errors begins with. */
struct named {
	const char *line;
	size_t size; /* 0: it is not there any more */
};

/* Names hold blanks and colons, so it is the longest path that exists. */
static struct named report_path(const char *mountpoint, const char *line)
{
	struct named found = {line, 0};
	char path[2 * PATH_MAX];
	struct stat st;

	for (const char *end = strchr(line, ':'); end; end = strchr(end + 1, ':')) {
		if (snprintf(path, sizeof(path), "%s/%.*s", mountpoint, (int)(end - line), line) <
			    (int)sizeof(path) &&
		    lstat(path, &st) == 0)
			found.size = (size_t)(end - line);
	}
	return found;
}

/* Fixed names in the folder of a file, which are words of messages, too. */
static bool is_fixed(const char *name, size_t size)
{
	static const char *const names[] = {"bones",  "frames", "clip",
					    "curves", "file",   "skeleton"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return true;
	return false;
}

/* Is the word a part of the path, with or without an extension: a file, a clip, a bone? */
static bool is_part(const struct named *n, const char *word, size_t size)
{
	const char *end = n->line + n->size;

	for (const char *part = n->line; part < end;) {
		const char *slash = memchr(part, '/', (size_t)(end - part));
		size_t length = (size_t)((slash ? slash : end) - part);
		const char *dot = memrchr(part, '.', length);

		if ((length == size || (dot && dot == part + size)) &&
		    memcmp(part, word, size) == 0)
			return !is_fixed(word, size);
		part += length + 1;
	}
	return false;
}

/* Could only names have it? */
static bool is_odd(const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((uint8_t)word[i] >= 0x80 || word[i] == '_' || word[i] == '/')
			return true;
	return false;
}

/* Appends one word; of a name only its extension, since names are nobody's business. */
static void report_word(const struct named *n, const char *word, size_t size, struct buf *out)
{
	const char *slash = memrchr(word, '/', size), *dot = memrchr(word, '.', size);
	bool extended = dot && dot > word && dot + 1 < word + size && isalpha((uint8_t)dot[1]);

	if (!extended && !is_odd(word, size) && !is_part(n, word, size)) {
		buf_add(out, word, size);
		return;
	}
	buf_char(out, '*');
	if (extended && (!slash || dot > slash))
		buf_add(out, dot, (size_t)(word + size - dot));
}

/* Appends the message without what is quoted in it and without names. */
static void add_message(const struct named *n, const char *message, struct buf *out)
{
	while (*message && *message != '\n') {
		size_t size = 0;

		if (*message == '"') {
			const char *end = strchr(message + 1, '"');

			buf_text(out, "\"*\"");
			message = end ? end + 1 : message + strlen(message);
			continue;
		}
		while (!is_word_end(message[size]) && message[size] != '"')
			size++;
		report_word(n, message, size, out);
		message += size;
		if (*message && *message != '"' && *message != '\n')
			buf_char(out, *message++);
	}
}

/* Appends a line of .animfs/errors without names; of something that is gone, nothing else is known.
 */
static void add_nameless(const char *mountpoint, const char *line, struct buf *out)
{
	struct named n = report_path(mountpoint, line);
	const char *dot = n.size ? memrchr(line, '.', n.size) : NULL;

	buf_char(out, '*');
	if (dot && !memchr(dot, '/', (size_t)(line + n.size - dot)) &&
	    !memchr(dot, ' ', (size_t)(line + n.size - dot)))
		buf_add(out, dot, (size_t)(line + n.size - dot));
	if (n.size)
		add_message(&n, line + n.size, out);
	else
		buf_text(out, ": it is not there any more");
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

/* Do its values name no path, file or clip? */
static bool is_public_option(const char *name, size_t size)
{
	static const char *const names[] = {"views",       "rate",      "rotations", "bones",
					    "bvh",         "gltf",      "gltf-rate", "ff9clip-hand",
					    "cache",       "max-file",  "max-text",  "drafts-max",
					    "held-max",    "extra-max", "history",   "max_threads",
					    "rejected-max"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return true;
	return false;
}

/* Prints "--rate=canm=30", or "--state=*": an option without dashes, or a part of -o. */
static void print_option(const char *dashes, const char *option, size_t size)
{
	const char *value = memchr(option, '=', size);
	size_t name = value ? (size_t)(value - option) : size;

	if (value && !is_public_option(option, name))
		printf(" %s%.*s=*", dashes, (int)name, option);
	else
		printf(" %s%.*s", dashes, (int)size, option);
}

/* The list of -o. */
static void print_option_list(const char *list)
{
	for (; *list; list += strspn(list, ",")) {
		size_t size = strcspn(list, ",");

		print_option("-o ", list, size);
		list += size;
	}
}

/* The options that the mount was given. Operands, and values that follow an option, are paths. */
static void print_options(long pid)
{
	char path[64], args[4096];
	FILE *file;
	size_t size;
	bool list = false;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	file = fopen(path, "re");
	size = file ? fread(args, 1, sizeof(args) - 1, file) : 0;
	if (file)
		fclose(file);
	args[size] = '\0';
	printf("  options");
	for (const char *arg = args; arg < args + size; arg += strlen(arg) + 1) {
		if (list)
			print_option_list(arg);
		else if (strncmp(arg, "-o", 2) == 0)
			print_option_list(arg + 2);
		else if (strncmp(arg, "--", 2) == 0)
			print_option("--", arg + 2, strlen(arg + 2));
		else if (*arg == '-')
			printf(" %s", arg);
		list = strcmp(arg, "-o") == 0;
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

/*
 * Problems and events, whose newest come first, and then refused texts, in no order. Of many lines,
 * the first and the last are printed.
 */
static void print_errors_of(const char *mountpoint)
{
	FILE *file = report_open(mountpoint, "errors");
	struct buf shown[2 * ERRORS_SHOWN] = {BUF_INIT};
	char *line = NULL;
	size_t room = 0, count = 0;

	for (; file && getline(&line, &room, file) > 0; count++) {
		struct buf *to =
			&shown[count < ERRORS_SHOWN ? count : ERRORS_SHOWN + count % ERRORS_SHOWN];

		buf_clear(to);
		buf_text(to, "    ");
		add_nameless(mountpoint, line, to);
	}
	printf("  errors %zu\n", count);
	for (size_t i = 0; i < ERRORS_SHOWN; i++)
		command_print(&shown[i]);
	for (size_t i = 0; i < ERRORS_SHOWN; i++)
		command_print(&shown[ERRORS_SHOWN + (count + i) % ERRORS_SHOWN]);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		buf_release(&shown[i]);
	free(line);
	if (file)
		fclose(file);
}

static bool report_mount(void *closure, const char *mountpoint, const char *source)
{
	printf("mount%s\n", strcmp(mountpoint, source) == 0 ? " over its source" : "");
	print_status(mountpoint);
	print_errors_of(mountpoint);
	*(bool *)closure = true;
	return true;
}

/* ---- the command ---- */

static const char usage[] =
	"Usage: animfs bug-report [OPTION]...\n"
	"Print what a report of a fault needs, to be pasted into it: versions, what this\n"
	"machine has for mounts, and of each mount its options, its limits and up to 20\n"
	"of its errors. Names and what is quoted are left out, but read it before you\n"
	"paste it: a message may name another bone.\n"
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
