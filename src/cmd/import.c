/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import.c - `animfs import`: exported texts that were edited, saved into the animation files. */
#include "cmd.h"
#include "gather.h"
#include "import_file.h"
#include "progress.h"

#include "../at.h"
#include "../jobs.h"
#include "../options.h"
#include "../shard.h"
#include "../view/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_INTERRUPTED 130
#define JSON_FORMAT "animfs.import/1"

struct import {
	struct command command;
	bool existing, dry_run, json;
	int jobs;
	struct shard shard;

	const char *dir_path;
	int dir;
	struct stat source_stat;
	struct site site;
	struct store *store;
	struct gathered folders;
	struct progress progress;
	_Atomic size_t files, changed, rejected;
	_Atomic bool trouble; /* something could not be read or written */
};

/* ---- which folders ---- */

static const char *const beside[] = {"", ".d", ".d~2"};

/*
 * The path of the animation file that a folder of texts is of, from SOURCE: its own name, or what
 * stands before ".d". False when it can be none. A file of any name must be there.
 */
static bool file_of(const struct import *m, const char *path, char out[PATH_MAX], bool *there)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		size_t suffix = strlen(beside[i]);
		const struct codec *codec;
		const char *name;
		struct stat st;
		bool probe;

		if (length <= suffix || length - suffix >= PATH_MAX ||
		    strcmp(path + length - suffix, beside[i]) != 0)
			continue;
		snprintf(out, PATH_MAX, "%.*s", (int)(length - suffix), path);
		name = strrchr(out, '/');
		name = name ? name + 1 : out;
		if (!store_claims(m->store, name, &codec, &probe))
			continue;
		*there = fstatat(m->site.root, out, &st, AT_SYMLINK_NOFOLLOW) == 0;
		if (*there ? S_ISREG(st.st_mode) : codec && suffix == 0)
			return true;
	}
	return false;
}

static enum gather ask(void *closure, const FTSENT *entry, const char *path)
{
	const struct import *m = closure;
	char file[PATH_MAX];
	bool there;

	if (entry->fts_info != FTS_D || entry->fts_name[0] == '.' ||
	    (entry->fts_statp->st_dev == m->source_stat.st_dev &&
	     entry->fts_statp->st_ino == m->source_stat.st_ino))
		return GATHER_PASS;
	if (!file_of(m, path, file, &there))
		return GATHER_ENTER;
	return (there || !m->existing) && shard_has(&m->shard, file) ? GATHER_TAKE : GATHER_PASS;
}

/* ---- one of them ---- */

static const char *const outcomes[] = {
	[IMPORT_SAME] = "same",
	[IMPORT_CHANGED] = "changed",
	[IMPORT_MADE] = "made",
	[IMPORT_REJECTED] = "rejected",
};

/* Files that stay as they are have no line. */
static void print_outcome(struct import *m, const struct import_file *f,
			  enum import_outcome outcome)
{
	struct buf line = BUF_INIT;

	if (m->json && outcome != IMPORT_SAME) {
		buf_text(&line, "{\"format\": \"" JSON_FORMAT "\", \"path\": ");
		json_write_name(&line, f->path);
		buf_format(&line, ", \"outcome\": \"%s\", \"rejects\": [", outcomes[outcome]);
		if (f->rejects.size)
			buf_add(&line, f->rejects.data + 2, f->rejects.size - 2);
		buf_text(&line, "]}\n");
	} else if (outcome == IMPORT_CHANGED || outcome == IMPORT_MADE) {
		buf_format(&line, "%s %s\n", outcomes[outcome], f->path);
	}
	if (!m->json && f->messages.size)
		progress_print(&m->progress, buf_bytes(&f->messages));
	progress_output(&m->progress, buf_bytes(&line));
	buf_release(&line);
}

static void count(struct import *m, struct import_file *f, enum import_outcome outcome)
{
	m->files++;
	m->changed += outcome == IMPORT_CHANGED || outcome == IMPORT_MADE;
	m->rejected += outcome == IMPORT_REJECTED;
	if (f->err.code) {
		if (command_status(&f->err) == STATUS_TROUBLE)
			m->trouble = true;
		import_reject(f, f->path, (struct bytes){NULL, 0}, &f->err);
		buf_text(&f->messages, "animfs: ");
		command_describe(f->path, &f->err, &f->messages);
		buf_char(&f->messages, '\n');
		if (f->err.accepted[0])
			buf_format(&f->messages, "accepted here: %s\n", f->err.accepted);
	}
	print_outcome(m, f, outcome);
	/* What is full stays full. */
	if (f->err.code == ERR_SYSTEM &&
	    (f->err.number == ENOSPC || f->err.number == EDQUOT || f->err.number == EROFS))
		progress_stop(&m->progress);
}

static void import_one(void *closure, size_t i)
{
	struct import *m = closure;
	struct import_file f = {.store = m->store,
				.state = m->site.state,
				.source = m->site.root,
				.texts = -1,
				.dry_run = m->dry_run,
				.max_text = m->command.max_text,
				.max_file = m->command.store.max_file,
				.messages = BUF_INIT,
				.rejects = BUF_INIT};
	enum import_outcome outcome = IMPORT_REJECTED;
	char file[PATH_MAX], shown[2 * PATH_MAX], *folder = NULL;
	bool there;
	int error;

	if (progress_stopped(&m->progress) || !file_of(m, m->folders.paths[i], file, &there))
		return;
	snprintf(shown, sizeof(shown), "%s/%s", m->dir_path, m->folders.paths[i]);
	f.path = file;
	f.shown = shown;
	f.name = path_cut(file, &folder);
	f.folder = folder;
	error = folder ? at_walk(m->dir, m->folders.paths[i], O_RDONLY | O_DIRECTORY, &f.texts)
		       : ENOMEM;
	if (error)
		err_system(&f.err, error, shown);
	else
		outcome = import_file(&f);
	count(m, &f, outcome);
	if (f.texts >= 0)
		close(f.texts);
	buf_release(&f.messages);
	buf_release(&f.rejects);
	free(folder);
	progress_step(&m->progress, f.read);
}

/* ---- all of them ---- */

static void tell_rest(void *closure, const char *path, const char *fault)
{
	struct import *m = closure;
	struct buf line = BUF_INIT;

	if (!fault)
		return;
	buf_format(&line, "animfs: %s: not used: %s\n", path, fault);
	progress_print(&m->progress, buf_bytes(&line));
	buf_release(&line);
}

static void tell_names(void *closure, const char *fault)
{
	tell_rest(closure, NAMING_FILE, fault);
}

static int summarise(const struct import *m, bool walked, bool interrupted)
{
	bool whole = !interrupted && !m->progress.stop;

	fflush(stdout);
	if (m->json)
		printf("{\"format\": \"" JSON_FORMAT
		       "\", \"files\": %zu, \"changed\": %zu, \"rejected\": %zu}\n",
		       m->files, m->changed, m->rejected);
	fprintf(stderr, "%zu files, %zu %s, %zu rejected\n", m->files, m->changed,
		m->dry_run ? "would change" : "changed", m->rejected);
	if (!whole)
		fprintf(stderr, "%s: %s after %zu of %zu files\n", m->command.name,
			interrupted ? "interrupted" : "stopped", m->files, m->folders.count);
	if (interrupted)
		return STATUS_INTERRUPTED;
	return !whole || !walked || m->trouble ? STATUS_TROUBLE
	       : m->rejected                   ? STATUS_REFUSED
					       : STATUS_FINE;
}

/* SOURCE is what is given, and not what may lie around it. */
static bool open_trees(struct import *m, const char *source, struct err *err)
{
	m->command.source = source;
	m->dir = open(m->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->dir < 0)
		return err_system(err, errno, m->dir_path);
	if (!site_find(&m->site, source, &m->command, err))
		return false;
	if (fstat(m->site.root, &m->source_stat) != 0)
		return err_system(err, errno, source);
	m->store = store_new(&m->command.store, m->site.state);
	if (!m->store || !store_names(m->store, m->site.root, tell_names, m))
		return err_memory(err);
	store_rests(m->store, tell_rest, m);
	return true;
}

static int import_all(struct import *m)
{
	bool walked = gather(m->dir_path, ask, m, &m->folders), interrupted;

	progress_begin(&m->progress, m->command.name, m->folders.count);
	if (!jobs_run((unsigned)m->jobs, m->folders.count, import_one, m))
		progress_stop(&m->progress);
	interrupted = progress_end(&m->progress);
	return summarise(m, walked, interrupted);
}

static int run(struct import *m, char **argv)
{
	struct err err = {.code = ERR_NONE};
	int status = STATUS_TROUBLE;

	m->dir_path = argv[0];
	m->dir = m->site.root = -1;
	if (open_trees(m, argv[1], &err))
		status = import_all(m);
	else
		command_tell(m->command.name, &err);
	gathered_release(&m->folders);
	store_free(m->store);
	site_release(&m->site);
	if (m->dir >= 0)
		close(m->dir);
	return status;
}

static const char usage[] =
	"Usage: animfs import [OPTION]... DIR SOURCE\n"
	"Save the texts below DIR, where 'animfs export' wrote them, that were edited\n"
	"since into the animation files below SOURCE: all edited texts of a file, or none\n"
	"of them. Print the files that changed, and what was refused, with its place.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs=N            so many at a time (default: one for each processor)\n"
	"  -n, --dry-run           save nothing; print what would be done\n"
	"      --existing          make no new animation files\n"
	"      --json              a JSON object a line for each file, and one of numbers\n"
	"      --shard=I/N         the I-th of N parts of the files, by their paths\n" HELP_READS
		HELP_MAX_TEXT HELP_TIMES HELP_PICTURES HELP_BVH HELP_BACKUP
	"      --state=DIR         the state directory, as it is given to the mount\n" HELP_END "\n"
	"Exit status:\n"
	"  0  all that was edited is saved\n"
	"  1  some files were rejected; they are as they were\n"
	"  2  the call was wrong, or something cannot be read or written\n";

int cmd_import(int argc, char **argv)
{
	struct import m = {.folders = GATHERED_INIT};
	const char *jobs = NULL, *shard = NULL;
	const struct command_option own[] = {
		{"j,jobs", NULL, &jobs},         {"n,dry-run", &m.dry_run, NULL},
		{"existing", &m.existing, NULL}, {"json", &m.json, NULL},
		{"shard", NULL, &shard},         {NULL, NULL, NULL}};
	struct err err = {.code = ERR_NONE};
	int status = STATUS_TROUBLE;

	if (!command_begin(&argc, &argv, &m.command, own, usage, &status))
		return status;
	if (jobs && (!option_number(jobs, 10, &m.jobs, &err) || m.jobs < 1))
		status = command_misuse(&m.command, "-j takes a number from 1");
	else if (shard && !shard_parse(&m.shard, shard, &err))
		status = command_misuse(&m.command, "%s", err.message);
	else if (command_operands(&m.command, argc, argv, 2, 2))
		status = run(&m, argv);
	return command_end(&m.command, status);
}
