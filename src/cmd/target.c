/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd.h"

#include "../options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE ((size_t)1 << 30)

/* How much of the path is the animation file: up to the first part that is no folder. */
static size_t file_part(const char *path)
{
	char *part = strdup(path);
	size_t length = 0, whole = strlen(path);
	struct stat st;

	while (part && length < whole) {
		length += strspn(path + length, "/");
		length += strcspn(path + length, "/");
		memcpy(part, path, length);
		part[length] = '\0';
		if (stat(part, &st) != 0 || !S_ISDIR(st.st_mode))
			break;
	}
	free(part);
	return length;
}

static bool split(struct target *t, const char *path)
{
	size_t length = file_part(path), name = length;

	while (name > 0 && path[name - 1] != '/')
		name--;
	t->folder_path = name ? strndup(path, name) : strdup(".");
	t->file_name = strndup(path + name, length - name);
	t->inside = strdup(path + length + strspn(path + length, "/"));
	return t->folder_path && t->file_name && t->inside;
}

static bool fail(const char *path, const char *why)
{
	fprintf(stderr, "animfs: %s: %s\n", path, why);
	return false;
}

/* The length of the path of SOURCE, which begins the file's folder. */
static size_t source_length(const char *folder)
{
	char state[PATH_MAX + sizeof("/.animfs")];
	struct stat st;

	for (size_t length = strlen(folder);; length--) {
		if (folder[length] && folder[length] != '/')
			continue;
		snprintf(state, sizeof(state), "%.*s/.animfs", (int)length, folder);
		if (stat(state, &st) == 0 && S_ISDIR(st.st_mode))
			return length;
		if (length == 0)
			return strlen(folder);
	}
}

/* *below is the path from SOURCE to the file's folder, in `folder`, which has PATH_MAX bytes. */
static bool open_state(struct target *t, char *folder, const char **below, struct err *err)
{
	size_t length;

	if (!realpath(t->folder_path, folder))
		return err_system(err, errno, t->folder_path);
	length = source_length(folder);
	*below = folder + length + (folder[length] == '/');
	folder[length] = '\0';
	t->root = open(length ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->root < 0)
		return err_system(err, errno, folder);
	t->state = state_new(t->root, NULL, false, err);
	return t->state != NULL;
}

static void tell_names(void *closure, const char *fault)
{
	(void)closure;
	if (fault)
		fprintf(stderr, "animfs: %s: not used: %s\n", NAMING_FILE, fault);
}

bool target_open(struct target *t, const char *path, const struct store_options *options,
		 bool to_write)
{
	char folder[PATH_MAX];
	const char *below = "";
	struct err err = {.code = ERR_NONE};
	const struct codec *codec;
	bool probe;

	*t = (struct target){.folder = -1, .root = -1, .options = *options};
	if (!split(t, path))
		return fail(path, strerror(ENOMEM));
	t->folder = open(t->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->folder < 0)
		return fail(t->folder_path, strerror(errno));
	if (faccessat(t->folder, t->file_name, R_OK, 0) != 0)
		return fail(path, strerror(errno));
	if (to_write && !open_state(t, folder, &below, &err))
		return fail(path, err.message);
	t->store = store_new(&t->options, t->state);
	t->source = t->store ? source_new(t->store, below, t->file_name) : NULL;
	if (!t->source || !store_names(t->store, t->folder, tell_names, NULL))
		return fail(path, strerror(ENOMEM));
	if (!store_claims(t->store, t->file_name, &codec, &probe))
		return fail(path, "no format has this name; --type '*=auto' looks at the content");
	t->snap = source_get(t->source, t->folder, &err);
	if (!t->snap)
		return fail(path, err.message);
	t->tree = (struct tree){t->snap, t->file_name};
	if (!tree_walk(&t->tree, t->inside, &t->place))
		return fail(path, strerror(ENOENT));
	return true;
}

void target_release(struct target *t)
{
	if (t->snap)
		snap_put(t->snap);
	if (t->source)
		source_free(t->source);
	if (t->store)
		store_free(t->store);
	state_free(t->state);
	if (t->root >= 0)
		close(t->root);
	if (t->folder >= 0)
		close(t->folder);
	free(t->folder_path);
	free(t->file_name);
	free(t->inside);
}

bool command_options(int *argc, char ***argv, struct store_options *options, const char *usage,
		     int *status)
{
	static const struct option longs[] = {{"rate", required_argument, NULL, 'r'},
					      {"type", required_argument, NULL, 't'},
					      {"rotations", required_argument, NULL, 'q'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	struct err err = {.code = ERR_NONE};
	int option;

	*options = (struct store_options){.max_file = MAX_FILE, .cache = MAX_FILE};
	optind = 0;
	while ((option = getopt_long(*argc, *argv, "+", longs, NULL)) != -1) {
		if (option == 'h') {
			printf("%s", usage);
			*status = 0;
			return false;
		}
		if ((option == 'r' && option_rate(options, optarg, &err)) ||
		    (option == 't' && option_type(options, optarg, &err)) ||
		    (option == 'q' && option_rotations(options, optarg, &err)))
			continue;
		if (err.code)
			fprintf(stderr, "animfs: %s: %s\n", optarg, err.message);
		else
			fprintf(stderr, "%s", usage);
		*status = 2;
		return false;
	}
	*argc -= optind;
	*argv += optind;
	return true;
}
