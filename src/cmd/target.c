/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd.h"

#include "../structure.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

char *operand_target(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
}

static bool split_file(struct target *t, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	t->folder_path = slash ? arena_text(&t->arena, path, (size_t)(name - path)) : ".";
	t->file_name = arena_text(&t->arena, name, strlen(name));
	return !t->arena.failed;
}

static bool split(struct target *t, const char *path)
{
	size_t length = file_part(path);
	char *file = strndup(path, length), *target = file ? operand_target(file) : NULL;
	bool fine = file && split_file(t, target ? target : file);

	free(target);
	free(file);
	length += strspn(path + length, "/");
	t->inside = arena_text(&t->arena, path + length, strlen(path + length));
	return fine && !t->arena.failed;
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

/* --source, which must have the folder in it. */
static bool given_length(const char *source, const char *folder, size_t *length, struct err *err)
{
	char path[PATH_MAX];

	if (!realpath(source, path))
		return err_system(err, errno, source);
	*length = strcmp(path, "/") == 0 ? 0 : strlen(path);
	if (strncmp(path, folder, *length) == 0 && (!folder[*length] || folder[*length] == '/'))
		return true;
	return err_set(err, ERR_TEXT, "it is not in %s", source);
}

bool site_find(struct site *s, const char *folder, const struct command *command, struct err *err)
{
	char path[PATH_MAX];
	size_t length;

	if (!realpath(folder, path))
		return err_system(err, errno, folder);
	length = source_length(path);
	if (command->source && !given_length(command->source, path, &length, err))
		return false;
	strcpy(s->folder, path + length + (path[length] == '/'));
	path[length] = '\0';
	s->root = open(length ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->root < 0)
		return err_system(err, errno, path);
	s->state = state_new(s->root, command->state, false, err);
	return s->state != NULL;
}

void site_release(struct site *s)
{
	state_free(s->state);
	if (s->root >= 0)
		close(s->root);
}

static void tell_rest(void *closure, const char *path, const char *fault)
{
	(void)closure;
	if (fault)
		fprintf(stderr, "animfs: %s: not used: %s\n", path, fault);
}

static void tell_names(void *closure, const char *fault)
{
	tell_rest(closure, NAMING_FILE, fault);
}

/* The file in its store, which is not read yet. */
static bool open_source(struct target *t, const struct command *command, unsigned how,
			struct err *err)
{
	if ((how & TARGET_WRITE) && !site_find(&t->site, t->folder_path, command, err))
		return false;
	t->where = (struct where){t->folder, t->site.folder, t->file_name, NULL};
	t->store = store_new(&command->store, t->site.state);
	t->source = t->store ? source_new(t->store) : NULL;
	if (!t->source || !store_names(t->store, t->folder, tell_names, NULL))
		return err_memory(err);
	store_rests(t->store, tell_rest, NULL);
	return true;
}

static bool open_file(struct target *t, const struct command *command, unsigned how,
		      struct err *err)
{
	bool probe;

	t->folder = open(t->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->folder < 0)
		return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
	if (faccessat(t->folder, t->file_name, R_OK, 0) == 0)
		how &= ~(unsigned)TARGET_NEW;
	else if (errno != ENOENT || !(how & TARGET_NEW))
		return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
	if (!open_source(t, command, how, err))
		return false;
	if (!store_claims(t->store, t->file_name, &t->codec, &probe) && !(how & TARGET_ANY))
		return err_set(err, ERR_UNKNOWN,
			       "no format has this name; --type '*=auto' looks at the content");
	if (how & TARGET_NEW)
		return t->codec || err_set(err, ERR_UNKNOWN, "no format has this name");
	t->version = source_get(t->source, &t->where, err);
	if (t->version)
		t->tree = (struct tree){t->version, t->file_name};
	return t->version != NULL;
}

bool target_read(struct target *t, const char *path, const struct command *command, unsigned how,
		 struct err *err)
{
	*t = (struct target){.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}};
	return split(t, path) ? open_file(t, command, how, err) : err_memory(err);
}

bool target_find(struct target *t, struct err *err)
{
	if (t->version && tree_walk(&t->tree, t->inside, &t->place))
		return true;
	if (t->version)
		tree_explain(&t->tree, t->inside, err);
	return err_set(err, ERR_TEXT, "%s", strerror(ENOENT));
}

bool target_open(struct target *t, const char *path, const struct command *command, unsigned how)
{
	struct err err = {.code = ERR_NONE};

	return (target_read(t, path, command, how, &err) && target_find(t, &err)) ||
	       command_tell(path, &err);
}

static bool commit(struct target *t, const struct anim *edited, struct err *err)
{
	struct version *now = NULL;
	bool fine;

	if (!t->version)
		return source_create(t->source, &t->where, t->codec, edited, err);
	fine = source_commit(t->source, &t->where, t->version, edited, NULL, NULL, &now, err) !=
	       COMMIT_REFUSED;
	version_put(now);
	return fine;
}

static int edit_once(const char *path, const struct command *command, unsigned how,
		     target_change *change, void *closure, struct err *err)
{
	struct anim *edited = NULL;
	struct target t;
	int status = STATUS_TROUBLE;
	bool fine;

	if (target_read(&t, path, command, TARGET_WRITE | how, err)) {
		assert(t.version || t.codec);
		edited = t.version ? anim_edit(t.version->anim) : anim_blank(t.codec->format, NULL);
		fine = edited ? change(closure, &t, edited, err) && commit(&t, edited, err)
			      : err_memory(err);
		status = fine ? STATUS_FINE : command_status(err);
	}
	anim_free(edited);
	target_release(&t);
	return status;
}

#define EDIT_TRIES 16

int target_edit(const char *path, const struct command *command, unsigned how,
		target_change *change, void *closure)
{
	struct err err = {.code = ERR_NONE};
	int status = STATUS_FINE;

	for (unsigned i = 0; i < EDIT_TRIES; i++) {
		err_clear(&err);
		status = edit_once(path, command, how, change, closure, &err);
		if (status == STATUS_FINE || err.code != ERR_CONFLICT)
			break;
	}
	if (status != STATUS_FINE)
		command_tell(path, &err);
	return status;
}

void target_release(struct target *t)
{
	if (t->version)
		version_put(t->version);
	if (t->source)
		source_free(t->source);
	if (t->store)
		store_free(t->store);
	site_release(&t->site);
	if (t->folder >= 0)
		close(t->folder);
	arena_release(&t->arena);
}
