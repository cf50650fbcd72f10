/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd.h"

#include "edit/structure.h"
#include "store/beside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t operand_file(const char *path)
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
	t->file_name =
		*name ? arena_text(&t->arena, name, strlen(name)) : "."; /* the path is "/" */
	return !t->arena.failed;
}

/*
 * Replaces the folder beside an archive, Root.cpk.d, which only a mount shows, by the archive
 * Root.cpk.
 */
static bool archive_beside(const char *file, char out[PATH_MAX])
{
	size_t length = beside_length(file, strlen(file));
	struct stat st;

	if (!length || strlen(file) >= PATH_MAX || lstat(file, &st) == 0)
		return false;
	snprintf(out, PATH_MAX, "%.*s", (int)length, file);
	return container_for_name(out) && stat(out, &st) == 0 && S_ISREG(st.st_mode);
}

/* Splits a path that is in no mount. */
static bool split_plain(struct target *t, const char *path)
{
	size_t length = operand_file(path), end = length;
	char *file, *target, beside[PATH_MAX];
	bool fine;

	while (end > 1 && path[end - 1] == '/')
		end--;
	file = strndup(path, end);
	if (file && archive_beside(file, beside)) {
		free(file);
		file = strdup(beside);
	}
	target = file ? operand_target(file) : NULL;
	fine = file && split_file(t, target ? target : file);

	free(target);
	free(file);
	length += strspn(path + length, "/");
	t->inside = arena_text(&t->arena, path + length, strlen(path + length));
	return fine && !t->arena.failed;
}

static bool split_path(struct target *t, const char *path, struct err *err)
{
	if (!mounted_find(path, &t->mounted, err))
		return false;
	return split_plain(t, t->mounted.path) || err_memory(err);
}

/* Returns the command's options, combined with those of the mount that the path is in. */
static struct command as_mounted(const struct target *t, const struct command *command)
{
	struct command c = *command;

	if (t->mounted.source && !c.source)
		c.source = t->mounted.source;
	if (t->mounted.state && !c.state)
		c.state = t->mounted.state;
	return c;
}

/*
 * Returns the length of the path of SOURCE: the nearest folder, upwards, with a state directory;
 * else the folder itself.
 */
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

/*
 * Checks SOURCE as given by --source, which must contain `folder`; *length: the length of its real
 * path.
 */
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

bool site_find(struct site *s, const char *folder, const struct command *command, bool write,
	       struct err *err)
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
	s->rebuild = command->rebuild;
	s->state = state_new(s->root, command->state, !write, err);
	s->overlay = s->state ? overlay_new(s->state, command->overlay, err) : NULL;
	if (s->overlay && write)
		history_clean(s->state);
	return s->overlay != NULL;
}

void site_release(struct site *s)
{
	overlay_free(s->overlay);
	state_free(s->state);
	if (s->root >= 0)
		close(s->root);
}

static void target_report_fault(void *closure, const char *path, const char *fault)
{
	(void)closure;
	if (fault)
		fprintf(stderr, "animfs: %s: not used: %s\n", path, fault);
}

static void target_report_names(void *closure, const char *fault)
{
	target_report_fault(closure, NAMING_FILE, fault);
}

/* Returns the path of the file's folder from the mount's SOURCE, or from /; NULL: unknown. */
static const char *path_above(struct target *t)
{
	const char *source = t->mounted.source;
	char path[PATH_MAX];
	size_t length = source ? strlen(source) : 0;

	if (!realpath(t->folder_path, path))
		return NULL;
	if (length && (strncmp(path, source, length) != 0 || (path[length] && path[length] != '/')))
		return NULL;
	return arena_text(&t->arena, path + length, strlen(path + length));
}

/* Makes the source of the file; reads nothing yet. */
static bool open_source(struct target *t, const struct command *command, unsigned how,
			struct err *err)
{
	const struct command c = as_mounted(t, command);
	bool write = how & TARGET_WRITE, archive = container_for_name(t->file_name) != NULL;

	/* Reading needs the site only for an archive, because of its loose files. */
	if ((write || archive) && !site_find(&t->site, t->folder_path, &c, write, err))
		return false;
	t->where = (struct where){.dir = t->folder,
				  .folder = t->site.folder,
				  .above = path_above(t),
				  .name = t->file_name,
				  .note = &command->note};
	t->store = store_new(&command->store, t->site.state);
	t->source = t->store ? source_new(t->store) : NULL;
	if (!t->source || !store_names(t->store, t->folder, target_report_names, NULL))
		return err_memory(err);
	store_report_skeletons(t->store, target_report_fault, NULL);
	return true;
}

static bool target_open_folder(struct target *t, struct err *err)
{
	t->folder = open(t->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->folder >= 0 || err_set(err, ERR_SYSTEM, "%s", strerror(errno));
}

/* ---- ordinary folders ---- */

/* limit of the names that are examined to find an example */
#define EXAMPLE_LIMIT 20000

static int files_first(const FTSENT **a, const FTSENT **b)
{
	int order = ((*a)->fts_info == FTS_D) - ((*b)->fts_info == FTS_D);

	return order ? order : strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_example(const struct target *t, const FTSENT *entry, bool *archive)
{
	const struct codec *codec;
	bool probe;

	*archive = store_container(t->store, entry->fts_name) != NULL;
	return entry->fts_info == FTS_F &&
	       (*archive || (store_claims(t->store, entry->fts_name, &codec, &probe) && codec));
}

/*
 * Finds an animation or archive in the folder or below, and returns its path, which the caller
 * frees. *whole: all names were examined.
 */
static char *find_example(const struct target *t, char *folder, bool *archive, bool *whole)
{
	char *const roots[] = {folder, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, files_first);
	FTSENT *entry = NULL;
	char *found = NULL;

	for (unsigned i = 0; fts && !found && i < EXAMPLE_LIMIT; i++) {
		entry = fts_read(fts);
		if (!entry)
			break;
		if (entry->fts_level > 0 && *entry->fts_name == '.')
			fts_set(fts, entry, FTS_SKIP);
		else if (is_example(t, entry, archive))
			found = strdup(entry->fts_path + strlen(folder) + 1);
	}
	*whole = fts && !entry;
	if (fts)
		fts_close(fts);
	return found;
}

bool target_refuse_folder(const struct target *t, struct err *err)
{
	size_t typed = strlen(t->typed);
	bool archive = false, whole = false;
	char folder[PATH_MAX], *found = NULL;

	if (snprintf(folder, sizeof(folder), "%s/%s", t->folder_path, t->file_name) <
	    (int)sizeof(folder))
		found = find_example(t, folder, &archive, &whole);
	while (typed > 0 && t->typed[typed - 1] == '/')
		typed--;
	if (found)
		err_set(err, ERR_OPERAND,
			"an ordinary folder; expected an %s in it, such as %.*s/%s",
			archive ? "archive" : "animation file", (int)typed, t->typed, found);
	else
		err_set(err, ERR_OPERAND, "an ordinary folder; expected an animation file%s",
			whole ? ", and there is none in it: 'animfs formats' lists their names"
			      : "");
	free(found);
	return false;
}

/* ---- in archives ---- */

struct example_member {
	char *path;
};

static bool keep_member(void *closure, const char *path, const struct err *why)
{
	struct example_member *e = closure;

	if (!why)
		e->path = strdup(path);
	return why != NULL;
}

/* Refuses a folder or a plain file of an archive; names an animation in it, if any. */
static bool refuse_member(struct target *t, struct err *err)
{
	struct example_member e = {NULL};

	archived_visit(&t->archived, keep_member, &e);
	if (e.path && *e.path)
		err_set(err, ERR_OPERAND, "no animation; expected one in it, such as %s", e.path);
	else
		err_set(err, ERR_OPERAND, "no animation, and there is none in it");
	free(e.path);
	return false;
}

/* Makes the member's loose file the target's file. */
static bool use_loose(struct target *t, struct err *err)
{
	int error;

	if (!archived_loose(&t->archived, &t->loose, err))
		return false;
	close(t->folder);
	error = loose_folder(&t->loose, false, &t->folder);
	if (error)
		t->folder = -1;
	if (error && error != ENOENT && error != ENOTDIR)
		return err_system(err, error, t->loose.shown);
	t->file_name = t->loose.label;
	t->where.dir = t->folder;
	t->where.folder = t->loose.folder;
	t->where.name = t->loose.name;
	t->where.loose = &t->loose;
	return true;
}

/* Goes to the entry that the path names in the archive. */
static bool walk_archive(struct target *t, struct err *err)
{
	t->is_archived = true;
	return archived_open(&t->archived, t->store, &t->site, t->folder, t->file_name, err) &&
	       archived_walk(&t->archived, t->inside, &t->inside, err);
}

/* Finds the entry that the path names in the archive, and decodes it if it is an animation. */
static bool target_open_member(struct target *t, unsigned how, struct err *err)
{
	if (!walk_archive(t, err))
		return false;
	if (archived_kind(&t->archived) != ARCHIVED_ANIMATION)
		return (how & TARGET_MEMBER) || refuse_member(t, err);
	if (!use_loose(t, err))
		return false;
	t->version = source_get(t->source, &t->where, err);
	if (t->version)
		t->tree = (struct tree){t->version, t->version->file_name};
	return t->version != NULL;
}

static bool target_open_file(struct target *t, const struct command *command, unsigned how,
			     struct err *err)
{
	struct stat st;
	bool probe;

	if (!target_open_folder(t, err))
		return false;
	if (faccessat(t->folder, t->file_name, R_OK, 0) == 0)
		how &= ~(unsigned)TARGET_NEW;
	else if (errno != ENOENT || !(how & TARGET_NEW))
		return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
	if (!open_source(t, command, how, err))
		return false;
	if (fstatat(t->folder, t->file_name, &st, 0) == 0 && S_ISDIR(st.st_mode))
		return target_refuse_folder(t, err);
	if (store_container(t->store, t->file_name))
		return target_open_member(t, how, err);
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
	*t = (struct target){
		.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}, .typed = path};
	return split_path(t, path, err) && target_open_file(t, command, how, err);
}

/* Finds a member that has, or can have, a loose file; it need not be an animation. */
static bool locate_member(struct target *t, struct err *err)
{
	enum archived_kind kind;

	if (!walk_archive(t, err))
		return false;
	kind = archived_kind(&t->archived);
	if (t->archived.entry == CONTENTS_TOP
		    ? !archived_level(&t->archived)->archive->container->replace
		    : kind == ARCHIVED_FOLDER)
		return err_set(err, ERR_OPERAND,
			       "archives are only read, so only the members in them that were "
			       "edited have old versions");
	return use_loose(t, err) &&
	       (!t->loose.rab ||
		err_set(err, ERR_OPERAND, "its versions are those of the archive that it is in, %s",
			t->loose.shown));
}

/* Does the history have versions of a file with this path from SOURCE? */
static bool has_versions(const struct target *t, const char *folder, const char *name)
{
	const struct history_file file = {.dir = -1, .folder = folder, .name = name};
	struct history_book book;
	bool has = history_open_end(t->site.state, &file, &book) == 0;

	history_release(&book);
	return has;
}

/*
 * Handles a file that does not exist. Its name may be that of a folder, which was removed with the
 * file in it; then that file still has versions, and its folder's descriptor is -1.
 */
static void find_in_removed(struct target *t)
{
	const char *folder = t->site.folder, *name = t->file_name, *rest = t->inside;
	struct stat st;

	if (fstatat(t->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return;
	while (name && folder && *rest && !has_versions(t, folder, name)) {
		size_t length = strcspn(rest, "/");

		folder = arena_format(&t->arena, "%s%s%s", folder, *folder ? "/" : "", name);
		name = arena_text(&t->arena, rest, length);
		rest += length;
		rest += strspn(rest, "/");
	}
	if (!name || !folder || folder == t->site.folder || !has_versions(t, folder, name))
		return;
	close(t->folder);
	t->folder = t->where.dir = -1;
	t->where.folder = folder;
	t->file_name = t->where.name = name;
	t->inside = rest;
}

bool target_locate(struct target *t, const char *path, const struct command *command,
		   struct err *err)
{
	*t = (struct target){
		.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}, .typed = path};
	if (!split_path(t, path, err) || !target_open_folder(t, err) ||
	    !open_source(t, command, TARGET_WRITE, err))
		return false;
	find_in_removed(t);
	return !store_container(t->store, t->file_name) || locate_member(t, err);
}

bool target_find(struct target *t, struct err *err)
{
	return t->version ? tree_resolve(&t->tree, t->inside, &t->place, err)
			  : err_set(err, ERR_OPERAND, "%s", strerror(ENOENT));
}

struct example {
	char name[NAME_MAX + 1];
};

static bool keep_example(void *closure, const char *name, const struct place *place)
{
	struct example *e = closure;

	if (place->kind == PLACE_VIEW && !place->view->whole && !*e->name)
		snprintf(e->name, sizeof(e->name), "%s", name);
	return true;
}

bool target_is_view(const struct target *t, const char *path)
{
	struct example e = {""};
	struct err err = {.code = ERR_NONE};

	if (t->place.kind == PLACE_VIEW)
		return true;
	tree_list(&t->tree, &t->place, VIEW_SET_ALL, keep_example, &e);
	if (*e.name)
		err_set(&err, ERR_OPERAND, "a folder; expected a view in it, such as %s%s%s", path,
			path[strlen(path) - 1] == '/' ? "" : "/", e.name);
	else
		err_set(&err, ERR_OPERAND, "a folder; expected a view");
	return command_error(path, &err);
}

bool target_open(struct target *t, const char *path, const struct command *command, unsigned how)
{
	struct err err = {.code = ERR_NONE};

	return (target_read(t, path, command, how, &err) && target_find(t, &err)) ||
	       command_error(path, &err);
}

static bool commit_edit(struct target *t, const struct anim *edited, struct err *err)
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
		fine = edited ? change(closure, &t, edited, err) && commit_edit(&t, edited, err)
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
		command_error(path, &err);
	return status;
}

void target_release(struct target *t)
{
	if (t->version)
		version_put(t->version);
	loose_release(&t->loose);
	if (t->is_archived)
		archived_release(&t->archived);
	if (t->source)
		source_free(t->source);
	if (t->store)
		store_free(t->store);
	site_release(&t->site);
	if (t->folder >= 0)
		close(t->folder);
	mounted_release(&t->mounted);
	arena_release(&t->arena);
}
