/* SPDX-License-Identifier: GPL-3.0-or-later */
/* git_merge.c - `animfs git-merge`: the merge driver for git. */
#include "cmd.h"
#include "gather.h"

#include "disk/dirfd.h"
#include "edit/merge_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE, OURS, THEIRS, FILES };

struct merging {
	const struct command *command;
	const char *path; /* path of the file in the repository, which decides about its format and
			     the files beside it */
	struct store *store;
	struct source *source;
	struct where where;
	struct version *versions[FILES];
};

/* Opens the folder that contains a path; *name gets its last part. -1 and errno on failure. */
static int git_merge_open_above(const char *path, const char **name)
{
	char *folder = NULL;
	int fd = -1;

	*name = path_cut(path, &folder);
	if (folder)
		fd = open(*folder        ? folder
			  : *path == '/' ? "/"
					 : ".",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	return fd;
}

static bool git_merge_read_file(const char *path, size_t limit, struct buf *out, struct err *err)
{
	const char *name;
	int dir = git_merge_open_above(path, &name);
	struct stat st;
	int error = dir < 0 ? errno : dirfd_read(dir, name, limit, out, &st);

	if (dir >= 0)
		close(dir);
	return error == 0 || err_system(err, error, path);
}

static bool decode_file(struct merging *m, const char *path, struct version **out, struct err *err)
{
	struct buf bytes = BUF_INIT;

	if (git_merge_read_file(path, m->command->store.max_file, &bytes, err))
		*out = source_decode(m->source, &m->where, buf_bytes(&bytes), err);
	buf_release(&bytes);
	return *out != NULL;
}

/*
 * If the path's folder is not in the work tree, uses the current folder: git runs the driver there.
 */
static bool git_merge_open_folder(struct merging *m, struct err *err)
{
	m->where.folder = "";
	m->where.dir = git_merge_open_above(m->path, &m->where.name);
	if (m->where.dir < 0)
		m->where.dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return m->where.dir >= 0 || err_system(err, errno, m->path);
}

static void git_merge_report_names(void *closure, const char *fault)
{
	(void)closure;
	if (fault)
		fprintf(stderr, "animfs: %s: not used: %s\n", NAMING_FILE, fault);
}

static bool open_all(struct merging *m, char **paths, struct err *err)
{
	m->store = store_new(&m->command->store, NULL);
	m->source = m->store ? source_new(m->store) : NULL;
	if (!m->source) {
		err_memory(err);
		return false;
	}
	if (!git_merge_open_folder(m, err))
		return false;
	if (!store_names(m->store, m->where.dir, git_merge_report_names, NULL)) {
		err_memory(err);
		return false;
	}
	for (unsigned i = 0; i < FILES; i++) {
		if (!decode_file(m, paths[i], &m->versions[i], err))
			return false;
	}
	if (m->versions[BASE]->codec != m->versions[OURS]->codec ||
	    m->versions[BASE]->codec != m->versions[THEIRS]->codec)
		return err_set(err, ERR_CONFLICT, "the three files are of different formats");
	return !m->versions[BASE]->codec->format->stills ||
	       err_set(err, ERR_CONFLICT, "it is text, which git merges itself");
}

static int git_merge_write_new(const char *path, const struct buf *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int error = fd < 0 ? errno : dirfd_write(fd, buf_bytes(bytes));

	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	return error;
}

/* Writes the result; on failure leaves the file as it was, since git takes it as the result. */
static bool git_merge_write_file(const char *path, const struct buf *bytes, struct err *err)
{
	char *fresh = NULL;
	int error =
		asprintf(&fresh, "%s.new", path) < 0 ? ENOMEM : git_merge_write_new(fresh, bytes);

	if (!error && rename(fresh, path) != 0)
		error = errno;
	if (error && fresh)
		unlink(fresh);
	free(fresh);
	return error == 0 || err_system(err, error, path);
}

static bool write_conflicts(const struct merging *m, struct err *err)
{
	struct buf table = BUF_INIT;
	char path[PATH_MAX];
	bool fine;

	snprintf(path, sizeof(path), "%s.conflicts.csv", m->path);
	merge_conflicts(m->versions[BASE]->anim, m->versions[OURS]->anim, m->versions[THEIRS]->anim,
			&table);
	fine = table.failed ? err_memory(err) : git_merge_write_file(path, &table, err);
	if (fine)
		fprintf(stderr,
			"animfs: %s: both sides changed the same; ours stays, %s lists it\n",
			m->path, path);
	buf_release(&table);
	return fine;
}

static int merge_files(struct merging *m, const char *ours, struct err *err)
{
	struct version **v = m->versions, *result = NULL;
	struct anim *edited = merge_edit(v[BASE]->anim, v[THEIRS]->anim), *merged = NULL;
	int status = STATUS_REFUSED;

	if (edited)
		merged = anim_merge(v[BASE]->anim, edited, NULL, v[OURS]->anim, NULL, err);
	else
		err_memory(err);
	if (merged)
		result = source_edited(m->source, &m->where, v[OURS], merged, err);
	if (result && git_merge_write_file(ours, &result->bytes, err))
		status = STATUS_FINE;
	if (!merged && err->code == ERR_CONFLICT) {
		err_clear(err);
		write_conflicts(m, err);
	}
	version_put(result);
	anim_free(merged);
	anim_free(edited);
	return status;
}

static int run_merge(const struct command *command, char **paths)
{
	struct merging m = {.command = command, .path = paths[FILES], .where = {.dir = -1}};
	struct err err = {.code = ERR_NONE};
	int status = STATUS_REFUSED;

	if (open_all(&m, paths, &err))
		status = merge_files(&m, paths[OURS], &err);
	if (err.code != ERR_NONE)
		command_error(m.path, &err);
	for (unsigned i = 0; i < FILES; i++)
		version_put(m.versions[i]);
	source_free(m.source);
	if (m.store)
		store_free(m.store);
	if (m.where.dir >= 0)
		close(m.where.dir);
	return status;
}

static const char usage[] =
	"Usage: animfs git-merge [OPTION]... BASE OURS THEIRS PATH\n"
	"Merge two edits of an animation file, curve by curve, into the file OURS. Git\n"
	"calls it in a repository set up by animfs git-setup; PATH is the file's path in\n"
	"the repository. Where both sides changed the same curve, in different ways, OURS\n"
	"stays as it is, and PATH.conflicts.csv lists clips, bones, roles and frames.\n"
	"\n"
	"Options:\n" HELP_READS HELP_TIMES HELP_END "\n"
	"Exit status:\n"
	"  0  OURS is the merged file\n"
	"  1  a conflict, or a file that cannot be read; OURS has not changed\n"
	"  2  usage error\n";

int cmd_git_merge(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, FILES + 1, FILES + 1))
		status = run_merge(&command, argv);
	return command_end(&command, status);
}
