/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.c - `animfs export`: writes the texts of a whole tree to a disk, as a mount shows them. */
#include "cmd.h"
#include "export_copy.h"
#include "export_folder.h"
#include "export_hive.h"
#include "export_list.h"
#include "export_site.h"
#include "gather.h"
#include "progress.h"

#include "disk/dirfd.h"
#include "options.h"
#include "shard.h"
#include "skeleton/naming.h"
#include "store/beside.h"
#include "store/digests_kept.h"
#include "util/jobs.h"

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
	bool site; /* --views names pages, which share a player and get an index */
	int jobs;
	view_set listed;
	enum packing packing;
	struct shard shard;

	const char *source_path, *dir_path;
	int source, dir; /* descriptors of SOURCE and DIR */
	struct stat dir_stat;
	struct store *store;
	struct state *state; /* state directory; NULL: versions cannot be noted */
	struct export_list list;
	struct site around; /* site of SOURCE, with loose files */
	struct progress progress;
	char *options; /* all options that the texts depend on */
	_Atomic size_t exported, current, copied, failed;
	_Atomic bool trouble; /* something could not be read or written */
};

/* ---- which files ---- */

/* Is the entry the state directory, or the folder exported into? */
static bool is_left_out(const struct export *x, const FTSENT *entry)
{
	return strcmp(entry->fts_name, ".animfs") == 0 ||
	       (entry->fts_statp->st_dev == x->dir_stat.st_dev &&
		entry->fts_statp->st_ino == x->dir_stat.st_ino);
}

static enum gather export_filter_entry(void *closure, const FTSENT *entry, const char *path)
{
	const struct export *x = closure;
	const struct codec *codec;
	bool probe, wanted;

	if (entry->fts_info == FTS_D)
		return is_left_out(x, entry) ? GATHER_PASS : GATHER_ENTER;
	/* Take any archive: its members are assigned to shards one by one. */
	if (entry->fts_info == FTS_F && store_container(x->store, entry->fts_name))
		return GATHER_TAKE;
	wanted = x->all ? entry->fts_info == FTS_F || entry->fts_info == FTS_SL ||
				  entry->fts_info == FTS_SLNONE
			: entry->fts_info == FTS_F &&
				  store_claims(x->store, entry->fts_name, &codec, &probe);
	return wanted && shard_has(&x->shard, path) ? GATHER_TAKE : GATHER_PASS;
}

/* ---- one file ---- */

struct one {
	struct export *x;
	const char *path, *name; /* path of the file from SOURCE, and its name */
	char *folder;            /* path of the folder above the file */
	int from, to;   /* descriptors of the file's folder, and of the matching folder in DIR */
	bool is_member; /* a member of an archive: `from` is -1; `st` is as of archived_stat */
	struct stat st;
	size_t bytes;
};

/* Describes everything that the file's texts are made from, for the stamp. */
static void describe_inputs(const struct one *one, const struct format *format,
			    const struct version *version, struct buf *out)
{
	struct found_skeleton found = {.looked = false};

	buf_format(out, "%lld %lld.%09ld %s", (long long)one->st.st_size,
		   (long long)one->st.st_mtim.tv_sec, one->st.st_mtim.tv_nsec, one->x->options);
	if (!format->stills && !one->is_member)
		shared_skeleton_put(find_skeleton(&found, one->from, one->name,
						  format_stored(format), NULL, NULL, NULL));
	if (version && version->stills)
		buf_format(out, " %016llx", (unsigned long long)stills_hash(version->stills));
	if (found.name)
		buf_format(out, " %lld %lld.%09ld", (long long)found.file.size,
			   (long long)found.file.mtime.tv_sec, found.file.mtime.tv_nsec);
	found_skeleton_release(&found);
	buf_char(out, '\0');
}

/* Names the folder for the file's texts; one beside the file avoids an existing name. */
static bool folder_name(const struct one *one, const struct codec *codec, char name[NAME_MAX + 1])
{
	struct stat st;

	if (!codec->format->beside)
		return snprintf(name, NAME_MAX + 1, "%s", one->name) <= NAME_MAX;
	return beside_folder(one->x->store, one->name, 0, name) &&
	       (fstatat(one->from, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		beside_folder(one->x->store, one->name, 1, name));
}

static bool report_failure(const struct one *one, const struct err *err)
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
		progress_message(p, (const char *)line.data);
	buf_release(&line);
	/* Stop the export: the other files would fail as well. */
	if (err->code == ERR_SYSTEM &&
	    (err->number == ENOSPC || err->number == EDQUOT || err->number == EROFS))
		progress_stop(p);
	return false;
}

static bool fail_system(const struct one *one, int error, const char *what)
{
	struct err err = {.code = ERR_NONE};

	err_system(&err, error, what);
	return report_failure(one, &err);
}

/*
 * Notes the version and its texts, so that edited texts are recognized on import (store/copied.h).
 * Failure to do so is harmless.
 */
static void note_version(const struct one *one, const struct history_file *file,
			 const struct digests *known, uint32_t before)
{
	struct digests *now;

	if (state_lock(one->x->state) != 0)
		return;
	now = digests_load(one->x->state, file);
	if (now && !digests_is_partial(now) && digests_last(now) == before)
		(void)digests_store(one->x->state, file, known);
	digests_free(now);
	state_unlock(one->x->state);
}

static bool export_write_folder(struct one *one, struct folder_export *folder,
				struct version *version, struct err *err)
{
	const struct history_file file = {
		.dir = one->from, .folder = one->folder, .name = one->name};
	struct digests *known =
		one->x->state && !one->is_member ? digests_load(one->x->state, &file) : NULL;
	uint32_t before = known ? digests_last(known) : 0;
	bool fine;

	folder->number = known ? digests_add(known, version, NULL) : 0;
	folder->known = folder->number ? known : NULL;
	fine = export_folder(folder, err);
	if (fine && (folder->known || folder->number > before))
		note_version(one, &file, known, before);
	digests_free(known);
	return fine;
}

/* The depth of the file's folder below DIR. */
static unsigned folder_depth(const char *above)
{
	unsigned depth = *above ? 2 : 1;

	for (; *above; above++)
		depth += *above == '/';
	return depth;
}

static bool write_version(struct one *one, struct version *version, const char *name,
			  const char *made_of)
{
	struct export *x = one->x;
	struct err err = {.code = ERR_NONE};
	const char *file_name = one->is_member ? version->file_name : one->name;
	struct folder_export folder = {.tree = {version, file_name},
				       .listed = x->listed,
				       .mtime = one->st.st_mtim,
				       .made_of = made_of,
				       .parent = one->to,
				       .name = name,
				       .force = x->force,
				       .site_depth = x->site ? folder_depth(one->folder) : 0,
				       .progress = &x->progress};
	bool fine;

	/* --layout=hive: stills have no tables. */
	if (x->hive && version->codec->format->stills)
		return true;
	fine = x->hive ? export_hive(&folder, x->dir, one->path, x->packing, &err)
		       : export_write_folder(one, &folder, version, &err);

	if (!fine)
		return report_failure(one, &err);
	one->bytes = folder.bytes;
	x->exported++;
	return true;
}

/* With --all, copies the file as it is. */
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

	describe_inputs(one, version->codec->format, version, &made_of);
	if (made_of.failed || !folder_name(one, version->codec, name))
		fine = fail_system(one, made_of.failed ? ENOMEM : ENAMETOOLONG, one->name);
	else
		fine = write_version(one, version, name, (const char *)made_of.data);
	buf_release(&made_of);
	return fine && (!version->codec->format->beside || export_other(one));
}

/* Reads a file of stills, since they are known only then; NULL for other formats. */
static struct version *read_stills(struct one *one, const struct codec *codec)
{
	const struct where where = {.dir = one->from, .folder = one->folder, .name = one->name};
	struct source *source = codec->format->stills ? source_new(one->x->store) : NULL;
	struct version *version = source ? source_look(source, &where, &one->st, NULL) : NULL;

	source_free(source);
	return version;
}

/* For --update: are the texts up to date? */
static bool cmd_export_is_current(struct one *one, const struct codec *codec)
{
	struct buf made_of = BUF_INIT;
	struct version *version;
	char name[NAME_MAX + 1];
	bool current;

	/* The other files of a list are known only after reading it. */
	if (!one->x->update || !codec || codec->format->parts)
		return false;
	version = read_stills(one, codec);
	describe_inputs(one, codec->format, version, &made_of);
	version_put(version);
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
	const struct where where = {.dir = one->from, .folder = one->folder, .name = one->name};
	struct err err = {.code = ERR_NONE};
	struct source *source;
	struct version *version;

	if (cmd_export_is_current(one, codec)) {
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
		/* --type '*=auto' tries files of any name: no message if one is no animation. */
		if (err.code != ERR_UNKNOWN)
			report_failure(one, &err);
		export_other(one);
	}
	version_put(version);
	source_free(source);
}

static bool open_folders(struct one *one)
{
	int error = dirfd_walk(one->x->source, one->folder, O_RDONLY | O_DIRECTORY, &one->from);

	if (!error && fstatat(one->from, one->name, &one->st, AT_SYMLINK_NOFOLLOW) != 0)
		error = errno;
	if (error)
		return fail_system(one, error, "read");
	if (one->x->hive)
		return true;
	error = export_make_folders(one->x->dir, one->folder, &one->to);
	return !error || fail_system(one, error, one->x->dir_path);
}

static void export_file(struct one *one, bool plain)
{
	const struct codec *codec;
	bool probe;

	one->name = path_cut(one->path, &one->folder);
	if (!one->folder)
		fail_system(one, ENOMEM, "read");
	else if (!open_folders(one))
		;
	else if (!plain && S_ISREG(one->st.st_mode) &&
		 store_claims(one->x->store, one->name, &codec, &probe))
		export_animation(one, codec);
	else
		export_other(one);
}

/* Exports the current entry of an archive. */
static void export_entry(struct one *one, const struct archived *a)
{
	const struct member_of m = archived_member(a, a->entry);
	struct err err = {.code = ERR_NONE};
	const struct codec *codec = NULL;
	struct version *version;
	bool probe;

	if (!archived_stat(a, &one->st, &err)) {
		report_failure(one, &err);
		return;
	}
	if (member_claims(one->x->store, &m, &codec, &probe) && cmd_export_is_current(one, codec)) {
		one->x->current++;
		return;
	}
	version = archived_version(a, &one->st, &err);
	if (version)
		export_version(one, version);
	else if (err.code != ERR_UNKNOWN)
		report_failure(one, &err);
	version_put(version);
}

static void export_member(struct one *one, const struct export_item *item)
{
	struct err err = {.code = ERR_NONE};
	struct open_archive *o;
	int error = 0;

	one->is_member = true;
	one->name = path_cut(item->shown, &one->folder);
	if (!one->folder)
		error = ENOMEM;
	else if (!one->x->hive)
		error = export_make_folders(one->x->dir, one->folder, &one->to);
	if (error) {
		fail_system(one, error, one->x->dir_path);
		return;
	}
	o = export_list_open(&one->x->list, item->path, item->inside - 1, item->path + item->inside,
			     &err);
	if (o) {
		export_entry(one, open_archive_at(o));
		export_list_close(&one->x->list, o);
	} else {
		report_failure(one, &err);
	}
}

static void export_one(void *closure, size_t i)
{
	struct export *x = closure;
	const struct export_item *item = &x->list.items[i];
	struct one one = {.x = x, .path = item->path, .from = -1, .to = -1};

	if (progress_stopped(&x->progress))
		return;
	if (item->err)
		report_failure(&one, item->err);
	else if (item->inside)
		export_member(&one, item);
	else
		export_file(&one, item->plain);
	if (one.from >= 0)
		close(one.from);
	if (one.to >= 0)
		close(one.to);
	free(one.folder);
	progress_step(&x->progress, one.bytes);
}

/* ---- all of them ---- */

/* Describes all options that change texts. */
static bool describe_options(struct export *x)
{
	const struct store_options *o = &x->command.store;
	struct buf out = BUF_INIT;
	struct stat st = {.st_size = 0};

	buf_format(&out, ANIMFS_VERSION " %llx %d %d %d %d %d %d %d", (unsigned long long)x->listed,
		   (int)o->rotations, o->style.lines, o->style.lossy_bvh, o->style.plain_gltf,
		   o->style.left_hand, o->style.tangents, (int)x->packing);
	for (unsigned i = 0; i < o->rate_count; i++)
		buf_format(&out, " %s=%.17g", o->rates[i].format->name, o->rates[i].hz);
	for (unsigned i = 0; i < o->base_count; i++)
		buf_format(&out, " %s=%s", o->bases[i].pattern, o->bases[i].clip);
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

static void export_report_fault(void *closure, const char *path, const char *fault)
{
	struct export *x = closure;
	struct buf line = BUF_INIT;

	if (!fault)
		return;
	buf_format(&line, "%s: not used: %s", path, fault);
	buf_char(&line, '\0');
	if (!line.failed)
		progress_message(&x->progress, (const char *)line.data);
	buf_release(&line);
}

static void export_report_names(void *closure, const char *fault)
{
	export_report_fault(closure, NAMING_FILE, fault);
}

static int export_print_summary(const struct export *x, bool walked, bool interrupted)
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
		fprintf(stderr, "%s: %s after %zu of %zu files; --update continues from here\n",
			x->command.name, interrupted ? "interrupted" : "stopped", done,
			x->list.count);
	if (interrupted)
		return STATUS_INTERRUPTED;
	return !whole || !walked || x->trouble ? STATUS_TROUBLE
	       : x->failed                     ? STATUS_REFUSED
					       : STATUS_FINE;
}

/* Opens the state directory. A missing one is no error: an export creates nothing in SOURCE. */
static bool open_state(struct export *x, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	int fd = -1;

	if (x->hive)
		return true;
	x->state = state_new(x->source, x->command.state, false, &why);
	if (!x->state && x->command.state) {
		*err = why;
		return false;
	}
	if (x->state && (state_open(x->state, &fd) != 0 || state_writable(x->state) != 0)) {
		state_free(x->state);
		x->state = NULL;
	}
	if (fd >= 0)
		close(fd);
	return true;
}

static bool export_open_trees(struct export *x, struct err *err)
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
	if (!x->store || !store_names(x->store, x->source, export_report_names, x) ||
	    !describe_options(x))
		return err_memory(err);
	store_report_skeletons(x->store, export_report_fault, x);
	return site_find(&x->around, x->source_path, &x->command, false, err) && open_state(x, err);
}

static int export_all(struct export *x)
{
	struct gathered files = GATHERED_INIT;
	bool walked = gather(x->source_path, export_filter_entry, x, &files), made, interrupted;
	struct err err = {.code = ERR_NONE};

	export_list_init(&x->list, x->store, &x->around);
	x->list.shard = &x->shard;
	x->list.all = x->all;
	made = export_list_make(&x->list, &files);
	gathered_release(&files);
	progress_begin(&x->progress, x->command.name, x->list.count);
	if (!made || !jobs_run((unsigned)x->jobs, x->list.count, export_one, x)) {
		x->failed++;
		progress_stop(&x->progress);
	}
	interrupted = progress_end(&x->progress);
	if (x->site && !interrupted && !export_site(x->dir, &err)) {
		command_error(x->dir_path, &err);
		x->trouble = true;
	}
	return export_print_summary(x, walked, interrupted);
}

static int run_export(struct export *x, char **argv)
{
	struct err err = {.code = ERR_NONE};
	int status;

	x->source_path = x->command.source = argv[0];
	x->dir_path = argv[1];
	x->source = x->dir = x->around.root = -1;
	if (export_open_trees(x, &err)) {
		status = export_all(x);
	} else {
		command_error(x->command.name, &err);
		status = STATUS_TROUBLE;
	}
	export_list_release(&x->list);
	site_release(&x->around);
	free(x->options);
	store_free(x->store);
	state_free(x->state);
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
		return err_set(err, ERR_TEXT, "\"%s\" is not a layout; expected tree or hive",
			       v->layout);
	if (v->compress && !packing_parse(&x->packing, v->compress, err))
		return false;
	if (x->packing && !x->hive)
		return err_set(err, ERR_TEXT, "--compress needs --layout=hive");
	return !x->hive || (!v->views && !x->all) ||
	       err_set(err, ERR_TEXT,
		       "--layout=hive writes one table; it does not take --views or --all");
}

/* Sets the views. Pages that are named in --views make a site. */
static bool take_views(struct export *x, const struct values *v, struct err *err)
{
	view_set pages;

	if (!view_set_parse(v->views, &x->listed, err) || !view_set_parse("html", &pages, err))
		return false;
	x->site = (x->listed & pages) != 0;
	return !x->site || !x->all ||
	       err_set(err, ERR_TEXT, "--views=html makes a site, which has no place for --all");
}

static bool take_values(struct export *x, const struct values *v, struct err *err)
{
	x->listed = VIEW_SET_ALL;
	return option_jobs(v->jobs, &x->jobs, err) && (!v->views || take_views(x, v, err)) &&
	       shard_parse(&x->shard, v->shard, err) && take_layout(x, v, err);
}

static const char usage[] =
	"Usage: animfs export [OPTION]... SOURCE DIR\n"
	"Write the texts of all animation files below SOURCE into DIR, as a mount shows\n"
	"them; those of animations in archives into a folder beside each archive.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs=N            process N files in parallel (default: all CPUs)\n"
	"  -u, --update            skip files whose texts would not change\n"
	"  -f, --force             also replace texts that were edited\n"
	"      --views=LIST        only these views, such as csv,json; with html, DIR\n"
	"                            is a site, with an index.html\n"
	"      --all               also copy all other files\n"
	"      --shard=I/N         only part I of N, by the paths of the files\n"
	"      --layout=hive       one table for each clip, in partitions:\n"
	"                            DIR/format=FORMAT/file=PATH/clip=CLIP/part.csv\n"
	"      --compress=HOW      compress these tables: gzip or zstd\n" HELP_READS HELP_MAX_TEXT
		HELP_TIMES HELP_PICTURES HELP_INTERCHANGE
	"      --state=DIR         the state directory, as given to the mount\n" HELP_OVERLAY
		HELP_END "\n"
	"Exit status:\n"
	"  0  everything was exported\n"
	"  1  some files were not: they do not decode, or their texts were edited\n"
	"  2  usage or I/O error\n";

int cmd_export(int argc, char **argv)
{
	struct export x = {.all = false};
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
		status = run_export(&x, argv);
	return command_end(&x.command, status);
}
