/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import.c - `animfs import`: saves exported texts that were edited into the animation files. */
#include "cmd.h"
#include "export_list.h"
#include "gather.h"
#include "import_file.h"
#include "progress.h"

#include "disk/dirfd.h"
#include "options.h"
#include "shard.h"
#include "store/beside.h"
#include "store/overlay.h"
#include "util/jobs.h"
#include "view/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_INTERRUPTED 130
#define JSON_FORMAT "animfs.import/1"

struct import {
	struct command command;
	bool existing, dry_run, json, verbose;
	int jobs;
	struct shard shard;

	const char *dir_path;
	int dir;
	struct stat source_stat;
	struct site site;
	struct store *store;
	struct gathered folders;
	struct export_list archives; /* archives that are open */
	struct progress progress;
	_Atomic size_t files, changed, rejected, silent;
	_Atomic bool trouble; /* something could not be read or written */
};

/* ---- which folders ---- */

/*
 * Is it the path of an animation file, from SOURCE? beside: its folder has another name. A file
 * recognized by content, or with such a folder, must exist.
 */
static bool is_file(const struct import *m, const char *path, bool beside, bool *there)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const struct codec *codec;
	struct stat st;
	bool probe;

	if (!store_claims(m->store, name, &codec, &probe))
		return false;
	*there = fstatat(m->site.root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
	return *there ? S_ISREG(st.st_mode) : codec && !beside;
}

/* Finds the animation file that a folder of texts belongs to. False if it belongs to none. */
static bool file_of(const struct import *m, const char *path, char out[PATH_MAX], bool *there)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char file[NAME_MAX + 1];

	if (snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	if (is_file(m, out, false, there))
		return true;
	for (unsigned i = 0; beside_file(name, i, file, NULL); i++) {
		if (snprintf(out, PATH_MAX, "%.*s%s", (int)(name - path), path, file) < PATH_MAX &&
		    is_file(m, out, true, there))
			return true;
	}
	return false;
}

/*
 * Is the path below the folder beside an archive of SOURCE? Sets the archive's path, and the offset
 * of the path inside it.
 */
static bool is_archived(const struct import *m, const char *path, char file[PATH_MAX],
			const char **inside)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		if (!archived_beside(m->site.root, m->store, path, (size_t)(slash - path), file))
			continue;
		*inside = slash + 1;
		return true;
	}
	return false;
}

static enum gather import_filter_entry(void *closure, const FTSENT *entry, const char *path)
{
	const struct import *m = closure;
	char file[PATH_MAX], archive[PATH_MAX];
	const char *inside;
	bool there;

	if (entry->fts_info != FTS_D || entry->fts_name[0] == '.' ||
	    (entry->fts_statp->st_dev == m->source_stat.st_dev &&
	     entry->fts_statp->st_ino == m->source_stat.st_ino))
		return GATHER_PASS;
	if (!file_of(m, path, file, &there))
		return GATHER_ENTER;
	return (there || !m->existing || is_archived(m, path, archive, &inside)) &&
			       shard_has(&m->shard, file)
		       ? GATHER_TAKE
		       : GATHER_PASS;
}

/* ---- one of them ---- */

static const char *const outcomes[] = {
	[IMPORT_SAME] = "same",
	[IMPORT_CHANGED] = "changed",
	[IMPORT_MADE] = "made",
	[IMPORT_REJECTED] = "rejected",
};

/* Prints the outcome for a file; nothing if the file is unchanged. */
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

static void count_outcome(struct import *m, struct import_file *f, enum import_outcome outcome)
{
	m->files++;
	m->changed += outcome == IMPORT_CHANGED || outcome == IMPORT_MADE;
	m->rejected += outcome == IMPORT_REJECTED || f->rejected || f->err.code;
	m->silent += f->silent;
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
	/* Stop the import: the other files would fail as well. */
	if (f->err.code == ERR_SYSTEM &&
	    (f->err.number == ENOSPC || f->err.number == EDQUOT || f->err.number == EROFS))
		progress_stop(&m->progress);
}

static enum import_outcome import_member(struct import *m, struct import_file *f,
					 const char *archive, const char *inside)
{
	struct open_archive *o =
		export_list_open(&m->archives, archive, strlen(archive), inside, &f->err);
	enum import_outcome outcome = IMPORT_REJECTED;
	struct loose loose = {.folder = NULL};

	if (!o)
		return outcome;
	if (archived_loose(open_archive_at(o), &loose, &f->err)) {
		f->loose = &loose;
		outcome = import_file(f);
		f->loose = NULL;
	}
	loose_release(&loose);
	export_list_close(&m->archives, o);
	return outcome;
}

static void import_one(void *closure, size_t i)
{
	struct import *m = closure;
	struct import_file f = {.store = m->store,
				.state = m->site.state,
				.note = &m->command.note,
				.source = m->site.root,
				.texts = -1,
				.dry_run = m->dry_run,
				.verbose = m->verbose,
				.max_text = m->command.max_text,
				.max_file = m->command.store.max_file,
				.messages = BUF_INIT,
				.rejects = BUF_INIT};
	enum import_outcome outcome = IMPORT_REJECTED;
	char file[PATH_MAX], archive[PATH_MAX], shown[2 * PATH_MAX], *folder = NULL;
	const char *inside;
	bool there;
	int error;

	if (progress_stopped(&m->progress) || !file_of(m, m->folders.paths[i], file, &there))
		return;
	snprintf(shown, sizeof(shown), "%s/%s", m->dir_path, m->folders.paths[i]);
	f.path = file;
	f.shown = shown;
	f.name = path_cut(file, &folder);
	f.folder = folder;
	error = folder ? dirfd_walk(m->dir, m->folders.paths[i], O_RDONLY | O_DIRECTORY, &f.texts)
		       : ENOMEM;
	if (error)
		err_system(&f.err, error, shown);
	else
		outcome = is_archived(m, file, archive, &inside)
				  ? import_member(m, &f, archive, inside)
				  : import_file(&f);
	count_outcome(m, &f, outcome);
	if (f.texts >= 0)
		close(f.texts);
	buf_release(&f.messages);
	buf_release(&f.rejects);
	free(folder);
	progress_step(&m->progress, f.read);
}

/* ---- all of them ---- */

static void import_report_fault(void *closure, const char *path, const char *fault)
{
	struct import *m = closure;
	struct buf line = BUF_INIT;

	if (!fault)
		return;
	buf_format(&line, "animfs: %s: not used: %s\n", path, fault);
	progress_print(&m->progress, buf_bytes(&line));
	buf_release(&line);
}

static void import_report_names(void *closure, const char *fault)
{
	import_report_fault(closure, NAMING_FILE, fault);
}

static int import_print_summary(const struct import *m, bool walked, bool interrupted)
{
	bool whole = !interrupted && !m->progress.stop;

	fflush(stdout);
	if (m->json)
		printf("{\"format\": \"" JSON_FORMAT
		       "\", \"files\": %zu, \"changed\": %zu, \"rejected\": %zu}\n",
		       m->files, m->changed, m->rejected);
	fprintf(stderr, "%zu files, %zu %s, %zu rejected\n", m->files, m->changed,
		m->dry_run ? "would change" : "changed", m->rejected);
	if (m->silent)
		fprintf(stderr,
			"%zu old texts say nothing: they are copies, and others were edited%s\n",
			m->silent, m->verbose ? "" : " (-v names them)");
	if (m->changed && !m->dry_run && m->command.store.history)
		fprintf(stderr, "animfs undo --batch=%016" PRIx64 " %s takes this import back\n",
			m->command.note.batch, m->command.source);
	if (!whole)
		fprintf(stderr, "%s: %s after %zu of %zu files\n", m->command.name,
			interrupted ? "interrupted" : "stopped", m->files, m->folders.count);
	if (interrupted)
		return STATUS_INTERRUPTED;
	return !whole || !walked || m->trouble ? STATUS_TROUBLE
	       : m->rejected                   ? STATUS_REFUSED
					       : STATUS_FINE;
}

/*
 * Opens SOURCE and the folder of texts. SOURCE is the folder that the user named, even if one above
 * it has a state directory.
 */
static bool import_open_trees(struct import *m, const char *source, struct err *err)
{
	m->command.source = source;
	m->dir = open(m->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->dir < 0)
		return err_system(err, errno, m->dir_path);
	if (!site_find(&m->site, source, &m->command, true, err))
		return false;
	if (fstat(m->site.root, &m->source_stat) != 0)
		return err_system(err, errno, source);
	m->store = store_new(&m->command.store, m->site.state);
	if (!m->store || !store_names(m->store, m->site.root, import_report_names, m))
		return err_memory(err);
	store_report_skeletons(m->store, import_report_fault, m);
	export_list_init(&m->archives, m->store, &m->site);
	return true;
}

static int import_all(struct import *m)
{
	bool walked = gather(m->dir_path, import_filter_entry, m, &m->folders), interrupted;

	progress_begin(&m->progress, m->command.name, m->folders.count);
	if (!jobs_run((unsigned)m->jobs, m->folders.count, import_one, m))
		progress_stop(&m->progress);
	interrupted = progress_end(&m->progress);
	return import_print_summary(m, walked, interrupted);
}

static int run_import(struct import *m, char **argv)
{
	struct err err = {.code = ERR_NONE};
	int status = STATUS_TROUBLE;

	m->dir_path = argv[0];
	m->dir = m->site.root = -1;
	if (import_open_trees(m, argv[1], &err))
		status = import_all(m);
	else
		command_error(m->command.name, &err);
	export_list_release(&m->archives);
	gathered_release(&m->folders);
	store_free(m->store);
	site_release(&m->site);
	if (m->dir >= 0)
		close(m->dir);
	return status;
}

static const char usage[] =
	"Usage: animfs import [OPTION]... DIR SOURCE\n"
	"Save the texts below DIR that were edited since 'animfs export' wrote them into\n"
	"the animation files below SOURCE: for each file all edited texts or none. Print\n"
	"the files that changed, and the texts that were refused, with the place.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs=N            process N files in parallel (default: all CPUs)\n"
	"  -n, --dry-run           save nothing; print the changes\n"
	"      --existing          make no new animation files\n"
	"      --json              one JSON object per line for each file, and a last one\n"
	"                            with the totals\n"
	"      --shard=I/N         only part I of N, by the paths of the files\n"
	"  -v, --verbose           name the old texts that say nothing, too\n" HELP_READS
		HELP_MAX_TEXT HELP_TIMES HELP_PICTURES HELP_INTERCHANGE HELP_HISTORY
	"      --state=DIR         the state directory, as given to the mount\n" HELP_OVERLAY
		HELP_REBUILD HELP_END "\n"
	"Exit status:\n"
	"  0  everything that was edited is saved\n"
	"  1  some texts were refused; their files have not changed\n"
	"  2  usage or I/O error\n";

int cmd_import(int argc, char **argv)
{
	struct import m = {.folders = GATHERED_INIT};
	const char *jobs = NULL, *shard = NULL;
	const struct command_option own[] = {{"j,jobs", NULL, &jobs},
					     {"n,dry-run", &m.dry_run, NULL},
					     {"existing", &m.existing, NULL},
					     {"json", &m.json, NULL},
					     {"shard", NULL, &shard},
					     {"v,verbose", &m.verbose, NULL},
					     {NULL, NULL, NULL}};
	struct err err = {.code = ERR_NONE};
	int status = STATUS_TROUBLE;

	if (!command_begin(&argc, &argv, &m.command, own, usage, &status))
		return status;
	if (!option_jobs(jobs, &m.jobs, &err) || !shard_parse(&m.shard, shard, &err))
		status = command_misuse(&m.command, "%s", err.message);
	else if (command_operands(&m.command, argc, argv, 2, 2))
		status = run_import(&m, argv);
	return command_end(&m.command, status);
}
