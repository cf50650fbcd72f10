/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.c - `animfs export`: the texts of a whole tree, as a mount shows it, on a disk. */
#include "cmd.h"
#include "export_copy.h"
#include "export_folder.h"
#include "export_hive.h"
#include "gather.h"
#include "progress.h"

#include "../at.h"
#include "../jobs.h"
#include "../naming.h"
#include "../options.h"
#include "../shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define STATUS_INTERRUPTED 130

struct export
{
	struct command command;
	bool update, force, all, hive;
	int jobs;
	view_set listed;
	enum packing packing;
	struct shard shard;

	const char *source_path, *dir_path;
	int source, dir; /* folders */
	struct stat dir_stat;
	struct store *store;
	struct gathered files;
	struct progress progress;
	char *options; /* what the texts depend on beside the file */
	_Atomic size_t exported, current, copied, failed;
	_Atomic bool trouble; /* something could not be read or written */
};

/* ---- which files ---- */

/* The state directory, and what is exported into, are no part of the tree. */
static bool is_left_out(const struct export *x, const FTSENT *entry)
{
	return strcmp(entry->fts_name, ".animfs") == 0 ||
	       (entry->fts_statp->st_dev == x->dir_stat.st_dev &&
		entry->fts_statp->st_ino == x->dir_stat.st_ino);
}

static enum gather ask(void *closure, const FTSENT *entry, const char *path)
{
	const struct export *x = closure;
	const struct codec *codec;
	bool probe, wanted;

	if (entry->fts_info == FTS_D)
		return is_left_out(x, entry) ? GATHER_PASS : GATHER_ENTER;
	wanted = x->all ? entry->fts_info == FTS_F || entry->fts_info == FTS_SL ||
				  entry->fts_info == FTS_SLNONE
			: entry->fts_info == FTS_F &&
				  store_claims(x->store, entry->fts_name, &codec, &probe);
	return wanted && shard_has(&x->shard, path) ? GATHER_TAKE : GATHER_PASS;
}

/* ---- one file ---- */

struct one {
	struct export *x;
	const char *path, *name; /* from SOURCE */
	char *folder;            /* and that of its folder */
	int from, to;            /* its folder, and the one that it is exported into */
	struct stat st;
	size_t bytes;
};

/* All that its texts are made of; the skeleton is known when somebody has looked for it. */
static void describe(const struct one *one, const struct format *format, struct buf *out)
{
	struct rest rest = {.looked = false};

	buf_format(out, "%lld %lld.%09ld %s", (long long)one->st.st_size,
		   (long long)one->st.st_mtim.tv_sec, one->st.st_mtim.tv_nsec, one->x->options);
	if (!format->stills)
		rest_skeleton_put(rest_load(&rest, one->from, one->name, format, NULL, NULL, NULL));
	if (rest.name)
		buf_format(out, " %lld %lld.%09ld", (long long)rest.file.size,
			   (long long)rest.file.mtime.tv_sec, rest.file.mtime.tv_nsec);
	rest_release(&rest);
	buf_char(out, '\0');
}

/* What its folder is called: stills have theirs beside them, and a real one of that name wins. */
static bool folder_name(const struct one *one, const struct codec *codec, char name[NAME_MAX + 1])
{
	struct stat st;
	int size =
		snprintf(name, NAME_MAX + 1, "%s%s", one->name, codec->format->stills ? ".d" : "");

	if (codec->format->stills && size <= NAME_MAX &&
	    fstatat(one->from, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		size = snprintf(name, NAME_MAX + 1, "%s.d~2", one->name);
	return size <= NAME_MAX;
}

static bool fail(const struct one *one, const struct err *err)
{
	struct progress *p = &one->x->progress;
	struct buf line = BUF_INIT;

	if (err->code == ERR_SYSTEM && err->number == EINTR && progress_stopped(p))
		return false;
	one->x->failed++;
	if (command_status(err) == STATUS_TROUBLE)
		one->x->trouble = true;
	command_describe(one->path, err, &line);
	buf_char(&line, '\0');
	if (!line.failed)
		progress_tell(p, (const char *)line.data);
	buf_release(&line);
	/* What is full stays full. */
	if (err->code == ERR_SYSTEM &&
	    (err->number == ENOSPC || err->number == EDQUOT || err->number == EROFS))
		progress_stop(p);
	return false;
}

static bool fail_system(const struct one *one, int error, const char *what)
{
	struct err err = {.code = ERR_NONE};

	err_system(&err, error, what);
	return fail(one, &err);
}

static bool write_version(struct one *one, struct version *version, const char *name,
			  const char *made_of)
{
	struct export *x = one->x;
	struct err err = {.code = ERR_NONE};
	struct folder_export folder = {.tree = {version, one->name},
				       .listed = x->listed,
				       .mtime = one->st.st_mtim,
				       .made_of = made_of,
				       .parent = one->to,
				       .name = name,
				       .force = x->force,
				       .progress = &x->progress};
	bool fine;

	/* Stills have no tables. */
	if (x->hive && version->codec->format->stills)
		return true;
	fine = x->hive ? export_hive(&folder, x->dir, one->path, x->packing, &err)
		       : export_folder(&folder, &err);

	if (!fine)
		return fail(one, &err);
	one->bytes = folder.bytes;
	x->exported++;
	return true;
}

/* What does not decode is shown as it is. */
static bool export_other(struct one *one)
{
	int error;

	if (!one->x->all)
		return true;
	error = export_copy(one->from, one->to, one->name, &one->st, one->x->update,
			    &one->x->progress);
	if (error)
		return fail_system(one, error, "copy");
	one->x->copied++;
	return true;
}

static bool export_version(struct one *one, struct version *version)
{
	struct buf made_of = BUF_INIT;
	char name[NAME_MAX + 1];
	bool fine;

	describe(one, version->codec->format, &made_of);
	if (made_of.failed || !folder_name(one, version->codec, name))
		fine = fail_system(one, made_of.failed ? ENOMEM : ENAMETOOLONG, one->name);
	else
		fine = write_version(one, version, name, (const char *)made_of.data);
	buf_release(&made_of);
	return fine && (!version->codec->format->stills || export_other(one));
}

/* --update: is there nothing to do? */
static bool is_current(const struct one *one, const struct codec *codec)
{
	struct buf made_of = BUF_INIT;
	char name[NAME_MAX + 1];
	bool current;

	if (!one->x->update || !codec)
		return false;
	describe(one, codec->format, &made_of);
	current = !made_of.failed && folder_name(one, codec, name) &&
		  (one->x->hive ? export_hive_is_current(one->x->dir, one->path, codec->format,
							 (const char *)made_of.data)
				: export_is_current(one->to, name, one->name,
						    (const char *)made_of.data));
	buf_release(&made_of);
	return current;
}

static void export_animation(struct one *one, const struct codec *codec)
{
	const struct where where = {one->from, one->folder, one->name, NULL};
	struct err err = {.code = ERR_NONE};
	struct source *source;
	struct version *version;

	if (is_current(one, codec)) {
		one->x->current++;
		return;
	}
	source = source_new(one->x->store);
	version = source ? source_look(source, &where, &one->st, &err) : NULL;
	if (version) {
		export_version(one, version);
	} else {
		if (!source)
			err_memory(&err);
		/* That a file of any name is no animation is nothing to tell. */
		if (err.code != ERR_UNKNOWN)
			fail(one, &err);
		export_other(one);
	}
	version_put(version);
	source_free(source);
}

static bool open_folders(struct one *one)
{
	int error = at_walk(one->x->source, one->folder, O_RDONLY | O_DIRECTORY, &one->from);

	if (!error && fstatat(one->from, one->name, &one->st, AT_SYMLINK_NOFOLLOW) != 0)
		error = errno;
	if (error)
		return fail_system(one, error, "read");
	if (one->x->hive)
		return true;
	error = export_make_folders(one->x->dir, one->folder, &one->to);
	return !error || fail_system(one, error, one->x->dir_path);
}

static void export_one(void *closure, size_t i)
{
	struct export *x = closure;
	struct one one = {.x = x, .path = x->files.paths[i], .from = -1, .to = -1};
	const struct codec *codec;
	bool probe;

	if (progress_stopped(&x->progress))
		return;
	one.name = path_cut(one.path, &one.folder);
	if (!one.folder)
		fail_system(&one, ENOMEM, "read");
	else if (!open_folders(&one))
		;
	else if (S_ISREG(one.st.st_mode) && store_claims(x->store, one.name, &codec, &probe))
		export_animation(&one, codec);
	else
		export_other(&one);
	if (one.from >= 0)
		close(one.from);
	if (one.to >= 0)
		close(one.to);
	free(one.folder);
	progress_step(&x->progress, one.bytes);
}

/* ---- all of them ---- */

/* Whatever changes the texts of every file, as one word. */
static bool describe_options(struct export *x)
{
	const struct store_options *o = &x->command.store;
	struct buf out = BUF_INIT;
	struct stat st = {.st_size = 0};

	buf_format(&out, ANIMFS_VERSION " %llx %d %d %d %d", (unsigned long long)x->listed,
		   (int)o->rotations, o->style.lines, o->style.lossy_bvh, (int)x->packing);
	for (unsigned i = 0; i < o->rate_count; i++)
		buf_format(&out, " %s=%.17g", o->rates[i].format->name, o->rates[i].hz);
	for (unsigned i = 0; i < o->pattern_count; i++)
		buf_format(&out, " %s=%s:%u", o->patterns[i].glob,
			   o->patterns[i].codec ? o->patterns[i].codec->format->name : "auto",
			   o->patterns[i].bones);
	if (fstatat(x->source, NAMING_FILE, &st, 0) == 0)
		buf_format(&out, " %lld %lld.%09ld", (long long)st.st_size,
			   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (!out.failed && asprintf(&x->options, "%016llx",
				    (unsigned long long)XXH3_64bits(out.data, out.size)) < 0)
		x->options = NULL;
	buf_release(&out);
	return x->options != NULL;
}

static void tell_rest(void *closure, const char *path, const char *fault)
{
	struct export *x = closure;
	struct buf line = BUF_INIT;

	if (!fault)
		return;
	buf_format(&line, "%s: not used: %s", path, fault);
	buf_char(&line, '\0');
	if (!line.failed)
		progress_tell(&x->progress, (const char *)line.data);
	buf_release(&line);
}

static void tell_names(void *closure, const char *fault)
{
	tell_rest(closure, NAMING_FILE, fault);
}

static int summarise(const struct export *x, bool walked, bool interrupted)
{
	size_t done = x->exported + x->current + x->copied + x->failed;
	bool whole = !interrupted && !x->progress.stop;

	fprintf(stderr, "%zu exported, ", x->exported);
	if (x->update)
		fprintf(stderr, "%zu up to date, ", x->current);
	if (x->all)
		fprintf(stderr, "%zu copied, ", x->copied);
	fprintf(stderr, "%zu failed\n", x->failed);
	if (!whole)
		fprintf(stderr, "%s: %s after %zu of %zu files; --update goes on from here\n",
			x->command.name, interrupted ? "interrupted" : "stopped", done,
			x->files.count);
	if (interrupted)
		return STATUS_INTERRUPTED;
	return !whole || !walked || x->trouble ? STATUS_TROUBLE
	       : x->failed                     ? STATUS_REFUSED
					       : STATUS_FINE;
}

static bool open_trees(struct export *x, struct err *err)
{
	struct stat st;

	x->source = open(x->source_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->source < 0)
		return err_system(err, errno, x->source_path);
	if (mkdir(x->dir_path, 0777) != 0 && errno != EEXIST)
		return err_system(err, errno, x->dir_path);
	x->dir = open(x->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->dir < 0 || fstat(x->dir, &x->dir_stat) != 0 || fstat(x->source, &st) != 0)
		return err_system(err, errno, x->dir_path);
	if (st.st_dev == x->dir_stat.st_dev && st.st_ino == x->dir_stat.st_ino)
		return err_set(err, ERR_TEXT,
			       "the texts cannot be where the animation files are; another "
			       "folder is wanted");
	x->store = store_new(&x->command.store, NULL);
	if (!x->store || !store_names(x->store, x->source, tell_names, x) || !describe_options(x))
		return err_memory(err);
	store_rests(x->store, tell_rest, x);
	return true;
}

static int export_all(struct export *x)
{
	bool walked = gather(x->source_path, ask, x, &x->files), interrupted;

	progress_begin(&x->progress, x->command.name, x->files.count);
	if (!jobs_run((unsigned)x->jobs, x->files.count, export_one, x)) {
		x->failed++;
		progress_stop(&x->progress);
	}
	interrupted = progress_end(&x->progress);
	return summarise(x, walked, interrupted);
}

static int run(struct export *x, char **argv)
{
	struct err err = {.code = ERR_NONE};
	int status;

	x->source_path = argv[0];
	x->dir_path = argv[1];
	x->source = x->dir = -1;
	if (open_trees(x, &err)) {
		status = export_all(x);
	} else {
		command_tell(x->command.name, &err);
		status = STATUS_TROUBLE;
	}
	gathered_release(&x->files);
	free(x->options);
	store_free(x->store);
	if (x->source >= 0)
		close(x->source);
	if (x->dir >= 0)
		close(x->dir);
	return status;
}

/* ---- the command line ---- */

struct values {
	const char *jobs, *views, *shard, *layout, *compress;
};

static bool take_layout(struct export *x, const struct values *v, struct err *err)
{
	x->hive = v->layout && strcmp(v->layout, "hive") == 0;
	if (v->layout && !x->hive && strcmp(v->layout, "tree") != 0)
		return err_set(err, ERR_TEXT, "\"%s\" is no layout; tree or hive is wanted",
			       v->layout);
	if (v->compress && !packing_parse(&x->packing, v->compress, err))
		return false;
	if (x->packing && !x->hive)
		return err_set(err, ERR_TEXT, "--compress is for --layout=hive alone");
	return !x->hive || (!v->views && !x->all) ||
	       err_set(err, ERR_TEXT, "--layout=hive has one table, and no --views or --all");
}

static bool take_values(struct export *x, const struct values *v, struct err *err)
{
	x->listed = VIEW_SET_ALL;
	if (v->jobs && (!option_number(v->jobs, 10, &x->jobs, err) || x->jobs < 1))
		return err_set(err, ERR_TEXT, "-j takes a number from 1");
	return (!v->views || view_set_parse(v->views, &x->listed, err)) &&
	       (!v->shard || shard_parse(&x->shard, v->shard, err)) && take_layout(x, v, err);
}

static const char usage[] =
	"Usage: animfs export [OPTION]... SOURCE DIR\n"
	"Write the texts of all animation files below SOURCE into DIR, as a mount shows\n"
	"them.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs=N            so many at a time (default: one for each processor)\n"
	"  -u, --update            pass over files whose texts are as they would be\n"
	"  -f, --force             replace texts that were edited since, too\n"
	"      --views=LIST        write these views only, such as csv,json\n"
	"      --all               copy all other files, too\n"
	"      --shard=I/N         the I-th of N parts of the files, by their paths\n"
	"      --layout=hive       one table for each clip, in partitions:\n"
	"                            DIR/format=FORMAT/file=PATH/clip=CLIP/part.csv\n"
	"      --compress=HOW      of such tables: gzip or zstd\n" HELP_READS HELP_MAX_TEXT
		HELP_TIMES HELP_PICTURES HELP_BVH HELP_END "\n"
	"Exit status:\n"
	"  0  all is exported\n"
	"  1  some files are not: they do not decode, or their texts were edited\n"
	"  2  the call was wrong, or something cannot be read or written\n";

int cmd_export(int argc, char **argv)
{
	struct export x = {.files = GATHERED_INIT};
	struct values v = {.jobs = NULL};
	const struct command_option own[] = {
		{"j,jobs", NULL, &v.jobs},   {"u,update", &x.update, NULL},
		{"f,force", &x.force, NULL}, {"views", NULL, &v.views},
		{"all", &x.all, NULL},       {"shard", NULL, &v.shard},
		{"layout", NULL, &v.layout}, {"compress", NULL, &v.compress},
		{NULL, NULL, NULL}};
	struct err err = {.code = ERR_NONE};
	int status = STATUS_TROUBLE;

	if (!command_begin(&argc, &argv, &x.command, own, usage, &status))
		return status;
	if (!take_values(&x, &v, &err))
		status = command_misuse(&x.command, "%s", err.message);
	else if (command_operands(&x.command, argc, argv, 2, 2))
		status = run(&x, argv);
	return command_end(&x.command, status);
}
