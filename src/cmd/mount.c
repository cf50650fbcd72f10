/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.c - `animfs mount`; also runs without a command. */
#include "cmd.h"

#include "fuse/session.h"
#include "options.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CACHE ((size_t)256 << 20)
#define DEFAULT_UPPER_MAX ((size_t)4 << 30)
#define DEFAULT_PINNED_MAX ((size_t)1 << 30)
#define DEFAULT_THREADS 256

static const char usage[] =
	"Usage: animfs mount [OPTION]... SOURCE MOUNTPOINT\n"
	"  or:  animfs [OPTION]... SOURCE MOUNTPOINT\n"
	"Mount a folder of binary game animation files. Each one appears as a folder of\n"
	"CSV, JSON and other texts; when you save an edited text, the file is encoded\n"
	"again.\n"
	"\n"
	"Options:\n"
	"  -o OPT[,OPT]...         mount options: ro, allow_other, uid=N, gid=N, umask=M,\n"
	"                            nonempty, unconfined, max_threads=N, and\n"
	"                            every long option below, with ':' in lists\n"
	"  -f                      stay in the foreground\n"
	"  -d                      stay in the foreground and print every request\n"
	"  -s                      use one thread\n"
	"      --views=LIST        list only these views (csv,json), or all, pages too\n"
	/* clang-format off: a line for each */
	HELP_TYPE HELP_TIMES HELP_PICTURES HELP_INTERCHANGE
	/* clang-format on */
	"      --beside            keep each animation file and show the folder beside it\n"
	"                            (x.canm.d)\n"
	"      --cache=SIZE        memory for decoded files that are not in use (256M)\n"
	"      --max-file=SIZE     show larger files as they are (256M)\n"
	/* clang-format off */
	HELP_MAX_TEXT
	/* clang-format on */
	"      --drafts-max=SIZE   memory for all texts that are being written (1G)\n"
	"      --held-max=SIZE     memory for old versions that are still open (1G)\n"
	"      --extra-max=SIZE    space for ordinary files beside the texts (4G)\n"
	"      --rejected-max=SIZE space for refused texts (256M)\n"
	/* clang-format off */
	HELP_HISTORY
	/* clang-format on */
	"      --state=DIR         directory for extra files, refused texts and old\n"
	"                            versions (default: SOURCE/.animfs)\n"
	/* clang-format off */
	HELP_OVERLAY HELP_REBUILD HELP_END
	/* clang-format on */
	"\n"
	"Exit status:\n"
	"  0  mounted; with -f: mounted, and ended without error\n"
	"  1  it cannot be mounted\n"
	"  2  usage error, or a path does not exist\n";

/* ---- the options ---- */

#define AT(member) offsetof(struct mount_options, member)

/* Options of -o; `lengthy` ones also have a form with "--". All except flags take a value. */
static const struct mount_option {
	const char *name;
	enum { FLAG, TEXT, SIZE, MAX_TEXT, NUMBER, MASK, VIEWS, OF_STORE } kind;
	bool lengthy;
	size_t at;
	bool (*read)(struct store_options *o, const char *value, struct err *err);
} mount_option_list[] = {
	{"views", VIEWS, true, AT(listed), NULL},
	{"rate", OF_STORE, true, 0, option_rate},
	{"type", OF_STORE, true, 0, option_type},
	{"rotations", OF_STORE, true, 0, option_rotations},
	{"base", OF_STORE, true, 0, option_base},
	{"bones", OF_STORE, true, 0, option_bones},
	{"bvh", OF_STORE, true, 0, option_bvh},
	{"gltf", OF_STORE, true, 0, option_gltf},
	{"gltf-rate", OF_STORE, true, 0, option_gltf_rate},
	{"ff9clip-hand", OF_STORE, true, 0, option_hand},
	{"tangents", FLAG, true, AT(store.style.tangents), NULL},
	{"history", SIZE, true, AT(store.history), NULL},
	{"cache", SIZE, true, AT(store.cache), NULL},
	{"max-file", SIZE, true, AT(store.max_file), NULL},
	{"max-text", MAX_TEXT, true, AT(max_text), NULL},
	{"drafts-max", SIZE, true, AT(drafts_max), NULL},
	{"held-max", SIZE, true, AT(pinned_max), NULL},
	{"extra-max", SIZE, true, AT(upper_max), NULL},
	{"rejected-max", SIZE, true, AT(rejected_max), NULL},
	{"state", TEXT, true, AT(state), NULL},
	{"overlay", TEXT, true, AT(overlay), NULL},
	{"rebuild", FLAG, true, AT(rebuild), NULL},
	{"beside", FLAG, true, AT(beside), NULL},
	{"debug", FLAG, true, AT(debug), NULL},
	{"ro", FLAG, false, AT(read_only), NULL},
	{"nonempty", FLAG, false, AT(nonempty), NULL},
	{"unconfined", FLAG, false, AT(unconfined), NULL},
	{"stopped_clock", FLAG, false, AT(stopped_clock),
	 NULL}, /* for tests; see CONTRIBUTING.md */
	{"allow_other", FLAG, false, AT(allow_other), NULL},
	{"uid", NUMBER, false, AT(uid), NULL},
	{"gid", NUMBER, false, AT(gid), NULL},
	{"umask", MASK, false, AT(umask), NULL},
	{"max_threads", NUMBER, false, AT(threads), NULL},
};

static const struct mount_option *find_option(const char *item)
{
	size_t length = strcspn(item, "=");

	for (size_t i = 0; i < ARRAY_SIZE(mount_option_list); i++) {
		const struct mount_option *option = &mount_option_list[i];

		if (strlen(option->name) == length && memcmp(option->name, item, length) == 0)
			return option;
	}
	return NULL;
}

static bool mount_set_text(char **out, const char *value, struct err *err)
{
	free(*out);
	*out = strdup(value);
	return *out || err_memory(err);
}

/* Sets an option; `value` is NULL if none is given. */
static bool set_option(struct mount_options *o, const struct mount_option *option,
		       const char *value, struct err *err)
{
	void *at = (char *)o + option->at;

	if (option->kind != FLAG && !value)
		return err_set(err, ERR_TEXT, "a value is missing");
	switch (option->kind) {
	case FLAG:
		*(bool *)at = true;
		return !value || err_set(err, ERR_TEXT, "it takes no value");
	case TEXT:
		return mount_set_text(at, value, err);
	case SIZE:
		return option_size(value, at, err);
	case MAX_TEXT:
		return option_max_text(value, at, err);
	case NUMBER:
		return option_number(value, 10, at, err);
	case MASK:
		return option_number(value, 8, at, err);
	case VIEWS:
		return view_set_parse(value, at, err);
	case OF_STORE:
		return option->read(&o->store, value, err);
	}
	return false;
}

static const char *value_in(const char *item)
{
	const char *equals = strchr(item, '=');

	return equals ? equals + 1 : NULL;
}

/* ---- the command line ---- */

static const struct command mount_command = {.name = "animfs mount"};

static bool misuse_item(const char *item, const char *why)
{
	command_misuse(&mount_command, "-o %s: %s", item, why);
	return false;
}

/* Returns the length of the first item of a list; a comma after '\' does not end the item. */
static size_t item_length(const char *list)
{
	size_t length = 0;

	while (list[length] && list[length] != ',')
		length += list[length] == '\\' && list[length + 1] ? 2 : 1;
	return length;
}

static void unescape_item(char *item)
{
	char *to = item;

	for (; *item; item++) {
		if (*item == '\\' && item[1])
			item++;
		*to++ = *item;
	}
	*to = '\0';
}

/* Passes an option that is not ours on to libfuse. */
static bool pass_item(struct mount_options *o, const char *item, size_t length, struct err *err)
{
	char *list;

	if (asprintf(&list, "%s%s%.*s", o->passed ? o->passed : "", o->passed ? "," : "",
		     (int)length, item) < 0)
		return err_memory(err);
	free(o->passed);
	o->passed = list;
	return true;
}

static bool take_item(struct mount_options *o, const char *given, size_t length)
{
	char *item = strndup(given, length);
	struct err err = {.code = ERR_NONE};
	const struct mount_option *option;
	bool fine;

	if (!item)
		return misuse_item(given, strerror(ENOMEM));
	unescape_item(item);
	option = find_option(item);
	fine = option ? set_option(o, option, value_in(item), &err)
		      : pass_item(o, given, length, &err);
	if (!fine)
		misuse_item(item, err.message);
	free(item);
	return fine;
}

static bool take_list(struct mount_options *o, const char *list)
{
	while (*list) {
		size_t length = item_length(list);

		if (length && !take_item(o, list, length))
			return false;
		list += length + (list[length] == ',');
	}
	return true;
}

static bool take_lengthy(struct mount_options *o, const struct mount_option *option)
{
	struct err err = {.code = ERR_NONE};

	if (set_option(o, option, optarg, &err))
		return true;
	command_misuse(&mount_command, "--%s=%s: %s", option->name, optarg ? optarg : "",
		       err.message);
	return false;
}

#define LENGTHY 256 /* what getopt_long finds: a letter, or this and the index of an option */

/* Lists the options with "--" in the form of getopt_long. */
static void list_lengthy(struct option *out)
{
	for (int i = 0; i < (int)ARRAY_SIZE(mount_option_list); i++) {
		const struct mount_option *option = &mount_option_list[i];

		if (option->lengthy)
			*out++ = (struct option){option->name,
						 option->kind == FLAG ? no_argument
								      : required_argument,
						 NULL, LENGTHY + i};
	}
	*out++ = (struct option){"help", no_argument, NULL, 'h'};
	*out++ = (struct option){"version", no_argument, NULL, 'V'};
	*out = (struct option){NULL, 0, NULL, 0};
}

/* Takes an option; false ends the parsing, with the exit status in *status. */
static bool take_found(struct mount_options *o, int found, int *status)
{
	*status = STATUS_FINE;
	if (found == 'h')
		printf("%s", usage);
	else if (found == 'V')
		command_version();
	else
		*status = STATUS_TROUBLE;
	o->foreground |= found == 'f';
	o->debug |= found == 'd';
	if (found == 's')
		o->threads = 1;
	if (found == 'o')
		return take_list(o, optarg);
	return found >= LENGTHY ? take_lengthy(o, &mount_option_list[found - LENGTHY])
				: strchr("fds", found) != NULL;
}

/* Options and operands may be mixed. False: the command is finished, with the status in *status. */
static bool parse_options(int argc, char **argv, struct mount_options *o, int *status)
{
	struct option longs[ARRAY_SIZE(mount_option_list) + 3];
	char name[sizeof(mount_command.name)];
	struct err err = {.code = ERR_NONE};
	int found;

	memcpy(name, mount_command.name, sizeof(name));
	argv[0] = name; /* getopt begins its messages with this name */
	list_lengthy(longs);
	optind = 0;
	while ((found = getopt_long(argc, argv, "o:fdshV", longs, NULL)) != -1) {
		if (found == '?')
			*status = command_unknown(&mount_command, argv, longs);
		if (found == '?' || !take_found(o, found, status))
			return false;
	}
	*status = STATUS_TROUBLE;
	if (argc - optind < 2) {
		command_misuse(&mount_command, "no %s given",
			       argc > optind ? "MOUNTPOINT" : "SOURCE");
		return false;
	}
	return command_operands(&mount_command, argc - optind, argv + optind, 2, 2) &&
	       ((mount_set_text(&o->source, argv[optind], &err) &&
		 mount_set_text(&o->mountpoint, argv[optind + 1], &err)) ||
		command_error(argv[optind], &err));
}

/* ---- where ---- */

/* Is the folder empty? One that cannot be read counts as empty. */
static bool is_empty(DIR *dir)
{
	struct dirent *entry;
	bool empty = true;

	while (dir && (entry = readdir(dir)))
		empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	return empty;
}

static bool check_folder(const char *mountpoint, bool nonempty)
{
	DIR *dir = opendir(mountpoint);
	bool empty;

	if (!dir && errno == ENOTDIR)
		return command_fail(mountpoint, strerror(ENOTDIR));
	empty = is_empty(dir);
	if (dir)
		closedir(dir);
	return nonempty || empty ||
	       command_fail(mountpoint, "the mountpoint is not empty (-o nonempty mounts over it)");
}

static bool make_absolute(char **path)
{
	char *absolute = realpath(*path, NULL);

	if (!absolute)
		return command_fail(*path, strerror(errno));
	free(*path);
	*path = absolute;
	return true;
}

/* Refuses a second mount in the same place, which would hide the first. */
static bool check_unmounted(const struct mount_options *o)
{
	char *mountpoint, *source, *why;
	bool mounted;

	if (!mounted_point(o->mountpoint, &mountpoint, &source))
		return true;
	mounted = strcmp(mountpoint, o->mountpoint) == 0;
	if (mounted && asprintf(&why, "already shows %s (animfs, pid %d)", source,
				(int)mounted_daemon(mountpoint)) >= 0) {
		command_fail(o->mountpoint, why);
		free(why);
	}
	free(mountpoint);
	free(source);
	return !mounted;
}

/* Checks SOURCE and MOUNTPOINT, which may be the same, but MOUNTPOINT must not be below SOURCE. */
static bool mount_check_paths(const struct mount_options *o)
{
	bool over_source = strcmp(o->source, o->mountpoint) == 0;
	size_t length;

	if ((over_source || !o->nonempty) && !check_unmounted(o))
		return false;
	if (over_source) {
		fprintf(stderr,
			"animfs: %s: mounted over itself: until it is unmounted, every program "
			"sees the texts there in place of the animation files\n",
			o->source);
		return true;
	}
	length = strcmp(o->source, "/") == 0 ? 0 : strlen(o->source);
	if (strncmp(o->source, o->mountpoint, length) == 0 && o->mountpoint[length] == '/')
		return command_fail(o->mountpoint, "the mountpoint lies inside SOURCE; use that "
						   "itself, or a folder outside");
	return check_folder(o->mountpoint, o->nonempty);
}

/* ---- the command ---- */

int cmd_mount(int argc, char **argv)
{
	struct mount_options o = {.listed = view_set_usual(),
				  .store = {.cache = DEFAULT_CACHE,
					    .rotations = ROTATIONS_IN_TABLES,
					    .max_file = DEFAULT_MAX_FILE,
					    .history = HISTORY_DEFAULT},
				  .max_text = DEFAULT_MAX_TEXT,
				  .upper_max = DEFAULT_UPPER_MAX,
				  .drafts_max = DEFAULT_DRAFTS_MAX,
				  .rejected_max = DEFAULT_REJECTED_MAX,
				  .pinned_max = DEFAULT_PINNED_MAX,
				  .uid = -1,
				  .gid = -1,
				  .umask = -1,
				  .threads = DEFAULT_THREADS};
	int status;

	if (parse_options(argc, argv, &o, &status) && make_absolute(&o.source) &&
	    make_absolute(&o.mountpoint))
		status = mount_check_paths(&o) ? mount_serve(&o) : 1;
	option_release(&o.store);
	free(o.source);
	free(o.mountpoint);
	free(o.state);
	free(o.overlay);
	free(o.passed);
	return command_flush() ? status : STATUS_TROUBLE;
}
