/* SPDX-License-Identifier: GPL-3.0-or-later */
/* undo.c - `animfs undo` and `animfs redo`. */
#include "diff.h"
#include "versions.h"

#include "disk/dirfd.h"
#include "edit/compare.h"
#include "store/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct undo {
	struct command command;
	bool forth, dry_run, merge, list;
	bool *unchanged; /* undo of a batch: set if the batch did nothing in the file; else NULL */
	const char *number, *batch; /* number and batch as they were typed; may be NULL */
	uint64_t batch_id;
};

/* ---- refusals ---- */

static const char *undo_reason_of(const struct undo *u, int error)
{
	switch (error) {
	case ENODATA:
		return u->number ? "no version of that number is kept; animfs log lists those that "
				   "are"
		       : u->forth ? "there is nothing to redo"
		       : u->batch ? "the version before the batch is not kept"
				  : "there is nothing to undo";
	case ENOENT:
		return "no such batch saved it";
	case EALREADY:
		return u->number ? "it is that version already" : "it is as it was before";
	case ESTALE:
		return u->batch ? "it was saved after that batch, or changed by another program; "
				  "--merge takes back only the batch's changes"
				: "it differs from its last version, since another program "
				  "changed it; --number=N restores version N all the same";
	case EBUSY:
		return "another program has the file open for writing";
	case EAGAIN:
		return "other programs keep changing the file";
	case EACCES:
		return "its versions, or the file, belong to another user: Permission denied";
	default:
		return strerror(error);
	}
}

static int report_errno(const struct undo *u, const char *path, int error)
{
	static const int refusals[] = {ENODATA, ENOENT, EALREADY, ESTALE, EBUSY, EAGAIN};

	command_fail(path, undo_reason_of(u, error));
	if (u->number && error == ENODATA)
		return STATUS_TROUBLE; /* the version that the user named does not exist */
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		if (refusals[i] == error)
			return STATUS_REFUSED;
	}
	return STATUS_TROUBLE;
}

static int report_error(const struct undo *u, const char *path, const struct err *err)
{
	command_error(path, err);
	return err->number == ENODATA && !u->number ? STATUS_REFUSED : command_status(err);
}

/* ---- the changes ---- */

static void print_sizes(const char *path, const struct buf *was, const struct buf *now)
{
	printf("%s: %zu bytes become %zu\n", path, was->size, now->size);
}

/* Prints the differences; only the sizes if there are none, or one (a skeleton) does not decode. */
static void print_changes(struct versions *v, const char *path, const struct buf *was,
			  const struct buf *now)
{
	struct err err = {.code = ERR_NONE};
	struct version *a = source_decode(v->t.source, &v->t.where, buf_bytes(was), &err);
	struct version *b =
		a ? source_decode(v->t.source, &v->t.where, buf_bytes(now), &err) : NULL;
	struct buf lines = BUF_INIT;

	if (a && b && !compare_files(a->anim, b->anim, &lines) && !lines.failed)
		diff_print(&lines);
	else
		print_sizes(path, was, now);
	buf_release(&lines);
	version_put(a);
	version_put(b);
}

/* ---- whole files ---- */

/* Makes the folder of a file again, which was removed with the file. */
static int undo_make_folder(struct versions *v)
{
	char path[PATH_MAX];
	size_t length = 0;

	while (v->file.folder[length]) {
		length += strspn(v->file.folder + length, "/");
		length += strcspn(v->file.folder + length, "/");
		snprintf(path, sizeof(path), "%.*s", (int)length, v->file.folder);
		if (mkdirat(v->t.site.root, path, 0777) && errno != EEXIST)
			return errno;
	}
	return dirfd_walk(v->t.site.root, v->file.folder, O_RDONLY | O_DIRECTORY, &v->t.folder);
}

/*
 * Opens the folder of the file, or makes it if it does not exist. A folder that another program has
 * removed or renamed is made only for a version by its number.
 */
static int undo_open_folder(const struct undo *u, struct versions *v)
{
	const struct history_entry *last = history_log_last(&v->book.log);
	int error = 0;

	if (v->file.dir >= 0 || u->dry_run)
		return 0;
	if (v->t.where.loose)
		(void)loose_folder(&v->t.loose, true, &v->t.folder);
	else if (u->number || last->kind == HISTORY_REMOVED)
		error = undo_make_folder(v);
	v->file.dir = v->t.folder;
	return error;
}

static int restore_version(const struct undo *u, struct versions *v, const char *path)
{
	const struct history_note note = u->command.note;
	struct history_request request = {.way = u->number  ? HISTORY_TO
						 : u->batch ? HISTORY_OUT
						 : u->forth ? HISTORY_FORTH
							    : HISTORY_BACK,
					  .batch = u->batch_id,
					  .only_look = u->dry_run,
					  .unmakes = v->t.where.loose != NULL,
					  .note = &note};
	struct history_result result;
	int error;

	if (u->number)
		request.number = strtoull(u->number, NULL, 10);
	error = undo_open_folder(u, v);
	if (error) {
		command_fail(path, strerror(error));
		return STATUS_TROUBLE;
	}
	error = history_restore(store_history(v->t.store), &v->file, &request, &result);
	if (!error && u->dry_run)
		print_changes(v, path, &result.there, &result.bytes);
	history_result_release(&result);
	if (error == EALREADY && u->unchanged) {
		*u->unchanged = true;
		return STATUS_FINE;
	}
	return error ? report_errno(u, path, error) : STATUS_FINE;
}

/* ---- taking back one version's changes ---- */

/*
 * Finds the first and last version of the change to take back: of a batch, a number, or the last
 * save.
 */
static bool find_change(const struct undo *u, const struct versions *v, size_t *first, size_t *last,
			struct err *err)
{
	const struct history_log *log = &v->book.log;

	*last = log->count - 1;
	if (u->number && !versions_number(v, u->number, last, err))
		return false;
	while (u->batch && log->list[*last].batch != u->batch_id) {
		if (*last == 0)
			return err_set(err, ERR_TEXT, "no such batch saved it");
		--*last;
	}
	*first = *last;
	while (u->batch && *first > 0 && log->list[*first - 1].batch == u->batch_id)
		--*first;
	if (*first > 0 && versions_have(v, *first - 1) && versions_have(v, *last))
		return true;
	return err_set(err, ERR_TEXT,
		       "its changes are unknown: the version before or after it is not kept");
}

static bool commit_back(struct versions *v, struct version *after, struct version *before,
			struct err *err)
{
	struct version *now = NULL;
	enum commit commit;

	if (after->codec != before->codec || !anim_same_names(after->anim, before->anim))
		return err_set(err, ERR_CONFLICT,
			       "bones or clips came or went with it: that cannot be taken back by "
			       "itself");
	commit =
		source_commit(v->t.source, &v->t.where, after, before->anim, NULL, NULL, &now, err);
	version_put(now);
	return commit != COMMIT_REFUSED;
}

/* Applies the inverse edit to the file as it is now. */
static bool undo_take_back(const struct undo *u, struct versions *v, const char *path,
			   struct err *err)
{
	struct version *after = NULL, *before = NULL;
	struct history_note note = u->command.note;
	struct buf was = BUF_INIT, now = BUF_INIT;
	size_t first = 0, last = 0;
	char what[64];
	bool fine = find_change(u, v, &first, &last, err);

	if (fine && u->dry_run) {
		fine = versions_bytes(v, last, &was, err) &&
		       versions_bytes(v, first - 1, &now, err);
		if (fine)
			print_changes(v, path, &was, &now);
	} else if (fine) {
		snprintf(what, sizeof(what), "undo of %" PRIu64, v->book.log.list[last].number);
		note.what = what;
		v->t.where.note = &note;
		after = versions_decode(v, last, err);
		before = after ? versions_decode(v, first - 1, err) : NULL;
		fine = before && commit_back(v, after, before, err);
		v->t.where.note = NULL;
	}
	buf_release(&was);
	buf_release(&now);
	version_put(after);
	version_put(before);
	return fine;
}

/* ---- one view ---- */

/* The texts of a view in all versions, as digests. */
struct view_versions {
	struct versions *v;
	struct history_digest *said;
	enum { UNKNOWN, SAID, NOT_THERE } * known;
};

static bool know_version(struct view_versions *w, size_t i)
{
	struct err err = {.code = ERR_NONE};
	struct buf text = BUF_INIT;

	if (w->known[i] == UNKNOWN) {
		bool fine = versions_have(w->v, i) && versions_text(w->v, i, &text, &err);

		w->known[i] = fine ? SAID : NOT_THERE;
		w->said[i] = history_digest_of(buf_bytes(&text));
		buf_release(&text);
	}
	return w->known[i] == SAID;
}

static bool same_view(void *closure, size_t i)
{
	struct view_versions *w = closure;
	size_t last = w->v->book.log.count - 1;

	return know_version(w, i) && know_version(w, last) &&
	       history_digest_same(&w->said[i], &w->said[last]);
}

static bool has_view(void *closure, size_t i)
{
	return know_version(closure, i);
}

static bool undo_find_version(const struct undo *u, struct versions *v, size_t *i, struct err *err)
{
	size_t count = v->book.log.count;
	struct view_versions w = {v, calloc(count, sizeof(*w.said)),
				  calloc(count, sizeof(*w.known))};
	struct history_scope scope = {v->t.inside, same_view, has_view, &w};

	if (u->number) {
		free(w.said);
		free(w.known);
		return versions_number(v, u->number, i, err);
	}
	*i = !w.said || !w.known ? SIZE_MAX
	     : u->forth          ? history_redo(&v->book.log, &scope)
				 : history_undo(&v->book.log, &scope);
	free(w.said);
	free(w.known);
	if (*i != SIZE_MAX)
		return true;
	if (!versions_check_view(v, err))
		return false;
	err_set(err, ERR_TEXT, "%s", undo_reason_of(u, ENODATA));
	err->number = ENODATA;
	return false;
}

/* Saves like `animfs put`. */
static bool undo_save_text(struct target *now, struct buf *text, struct err *err)
{
	struct attempt attempt = {.text = text_new(text), .event = DRAFT_SAVE};
	enum verdict verdict = VERDICT_REFUSED;

	attempt.base = version_get(now->version);
	attempt.place = now->place;
	if (attempt.text)
		verdict = attempt_commit(&attempt, now->source, &now->where, err);
	else
		err_memory(err);
	attempt_release(&attempt);
	return verdict != VERDICT_REFUSED;
}

static bool print_view_changes(struct versions *v, size_t i, struct err *err)
{
	struct buf was = BUF_INIT, now = BUF_INIT;
	bool fine = versions_bytes(v, i, &now, err);

	buf_add(&was, v->live.data, v->live.size);
	/* Prints the changes of the whole file; animfs diff can print fewer. */
	if (fine)
		print_changes(v, v->t.inside, &was, &now);
	buf_release(&was);
	buf_release(&now);
	return fine;
}

static bool restore_view(const struct undo *u, struct versions *v, const char *path,
			 struct err *err)
{
	struct history_note note = u->command.note;
	struct buf text = BUF_INIT;
	struct target now = {.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}};
	size_t i;
	bool fine = undo_find_version(u, v, &i, err);

	if (fine && u->dry_run)
		return print_view_changes(v, i, err);
	note.what = u->forth ? "redo" : u->number ? "back" : "undo";
	note.step = !u->number;
	note.view = v->t.inside;
	if (fine) {
		note.back = v->book.log.list[i].number;
		fine = target_read(&now, path, &u->command, TARGET_ANY | TARGET_WRITE, err) &&
		       target_find(&now, err);
		now.where.note = &note;
	}
	/* If the place no longer exists, the error says why, if that is known. */
	if (!fine && err->code == ERR_OPERAND) {
		struct err why = {.code = ERR_NONE};

		if (!versions_check_view(v, &why))
			*err = why;
	}
	if (fine && !versions_text(v, i, &text, err))
		fine = err_set(err, ERR_OPERAND, "there was no such view in version %" PRIu64,
			       note.back);
	fine = fine && undo_save_text(&now, &text, err);
	target_release(&now);
	buf_release(&text);
	return fine;
}

/* ---- one operand ---- */

static bool undo_is_current(struct versions *v, struct err *err)
{
	return versions_current(v) || (versions_settle(v, err) && versions_current(v));
}

static int undo_opened(const struct undo *u, struct versions *v, const char *path)
{
	struct err err = {.code = ERR_NONE};
	bool fine;

	if (u->merge && !*v->t.inside)
		fine = undo_take_back(u, v, path, &err);
	else if (!*v->t.inside || u->batch)
		return restore_version(u, v, path);
	else if (!u->number && !u->merge && !undo_is_current(v, &err))
		return err.code ? report_error(u, path, &err) : report_errno(u, path, ESTALE);
	else
		fine = restore_view(u, v, path, &err);
	return fine ? STATUS_FINE : report_error(u, path, &err);
}

static int undo_list_versions(struct versions *v)
{
	for (size_t i = v->book.log.count; i-- > 0;) {
		if (i + 1 == v->book.log.count || versions_have(v, i))
			versions_print(v, i);
	}
	return STATUS_FINE;
}

static int undo_file(const struct undo *u, const char *path)
{
	struct err err = {.code = ERR_NONE};
	struct versions v;
	int status;

	/*
	 * The last change may be the removal of a clip's folder (rm -r), while the clip is still in
	 * the file.
	 */
	if (!u->list && !u->dry_run)
		mounted_settle(path);
	if (!versions_open(&v, path, &u->command, &err))
		status = report_error(u, path, &err);
	else
		status = u->list ? undo_list_versions(&v) : undo_opened(u, &v, path);
	versions_release(&v);
	return status;
}

/* ---- all files of a batch ---- */

struct batch {
	const struct undo *u;
	const struct target *t;
	struct buf paths; /* the batch's files, each with a NUL */
	size_t files;
	int status;
};

static bool undo_is_of_batch(const struct batch *b, const struct history_log *log)
{
	for (size_t i = 0; i < log->count; i++) {
		if (log->list[i].batch == b->u->batch_id)
			return true;
	}
	return false;
}

static char *undo_folder_of(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	return strndup(path, slash ? (size_t)(slash - path) : 0);
}

static bool undo_is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !length || (strncmp(path, folder, length) == 0 && path[length] == '/');
}

static void undo_note_file(void *closure, const char *path)
{
	struct batch *b = closure;
	const char *name = "";
	char *folder = undo_is_below(path, b->t->site.folder) ? undo_folder_of(path, &name) : NULL;
	struct history_file file = {.dir = -1, .folder = folder, .name = name};
	struct history_book book = HISTORY_BOOK_INIT;

	if (folder && !history_open(b->t->site.state, &file, &book) &&
	    undo_is_of_batch(b, &book.log)) {
		buf_text(&b->paths, path);
		buf_char(&b->paths, '\0');
		b->files++;
	}
	history_release(&book);
	free(folder);
}

static void undo_path(struct batch *b, const char *path)
{
	char link[64], source[PATH_MAX], whole[2 * PATH_MAX];
	bool unchanged = false;
	struct undo u = *b->u;
	ssize_t length;
	int status;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", b->t->site.root);
	length = readlink(link, source, sizeof(source) - 1);
	source[length > 0 ? length : 0] = '\0';
	snprintf(whole, sizeof(whole), "%s/%s", source, path);
	u.unchanged = &unchanged;
	status = undo_file(&u, whole);
	if (status == STATUS_FINE && !unchanged && !u.dry_run)
		printf("undone %s\n", path);
	if (status > b->status)
		b->status = status;
}

static bool locate_folder(struct undo *u, const struct mounted *m, struct target *t,
			  struct err *err)
{
	char *inner;
	bool fine;

	if (m->source && !u->command.source)
		u->command.source = m->source;
	if (m->state && !u->command.state)
		u->command.state = m->state;
	/* Use a name in the folder, so that the folder itself is not taken for a file. */
	if (asprintf(&inner, "%s/.", m->path) < 0)
		return err_memory(err);
	fine = target_locate(t, inner, &u->command, err);
	free(inner);
	return fine;
}

static int undo_batch(struct undo *u, const char *path)
{
	struct err err = {.code = ERR_NONE};
	struct target t = {.arena = ARENA_INIT, .folder = -1, .site = {.root = -1}};
	struct batch b = {.u = u, .t = &t, .paths = BUF_INIT, .status = STATUS_FINE};
	struct mounted m;
	int error = 0;

	if (!mounted_find(path, &m, &err) || !locate_folder(u, &m, &t, &err)) {
		command_error(path, &err);
		b.status = STATUS_TROUBLE;
	} else {
		error = history_for_each(t.site.state, undo_note_file, &b);
	}
	if (error)
		b.status = report_errno(u, path, error);
	else if (b.status == STATUS_FINE && !b.files)
		b.status = report_errno(u, path, ENOENT);
	for (const uint8_t *at = b.paths.data; at && at < b.paths.data + b.paths.size;
	     at += strlen((const char *)at) + 1)
		undo_path(&b, (const char *)at);
	buf_release(&b.paths);
	target_release(&t);
	mounted_release(&m);
	return b.status;
}

/* ---- the commands ---- */

static const char undo_usage[] =
	"Usage: animfs undo [OPTION]... FILE[/PATH]\n"
	"  or:  animfs undo [OPTION]... --batch=ID FOLDER\n"
	"Restore the previous version of an animation file, or of one view of it\n"
	"(FILE/PATH). Repeat it to go back further; animfs redo goes forward again. FILE\n"
	"may be in a mount, and it may have been removed. Owner, mode and times stay.\n"
	"With --batch, take back everything that one run of a program saved (such as an\n"
	"import) in all files below FOLDER.\n"
	"\n"
	"Options:\n"
	"      --batch=ID          take back the changes of that batch (see animfs log)\n"
	"      --number=N          restore version N\n"
	"      --merge             take back only the changes of the last version (or N,\n"
	"                            or ID), and keep later ones\n"
	"      --dry-run           change nothing; print the changes\n"
	"      --list              list the versions, as animfs log does\n"
	/* clang-format off: a line for each */
	HELP_READS HELP_TIMES HELP_HISTORY HELP_SITE HELP_COLOR HELP_END
	/* clang-format on */
	"\n"
	"Exit status:\n"
	"  0  done\n"
	"  1  nothing to restore, or refused; the file has not changed\n"
	"  2  usage or I/O error\n";

static const char redo_usage[] =
	"Usage: animfs redo [OPTION]... FILE[/PATH]\n"
	"Take back the last animfs undo of an animation file, or of one view of it.\n"
	"Repeat it to go forward further, up to the state before the first undo.\n"
	"\n"
	"Options:\n"
	"      --dry-run           change nothing; print the changes\n" HELP_READS HELP_TIMES
		HELP_HISTORY HELP_SITE HELP_COLOR HELP_END "\n"
	"Exit status:\n"
	"  0  done\n"
	"  1  nothing to redo, or refused; the file has not changed\n"
	"  2  usage or I/O error\n";

/* Parses the options' values; false and *status if one is wrong. */
static bool read_options(struct undo *u, int *status)
{
	char *end = NULL;

	if (u->batch) {
		u->batch_id = strtoull(u->batch, &end, 16);
		if (end == u->batch || *end || !u->batch_id) {
			*status = command_misuse(&u->command, "--batch takes an ID of animfs log");
			return false;
		}
	}
	if (u->number && (!*u->number || u->number[strspn(u->number, "0123456789")])) {
		*status = command_misuse(&u->command, "--number takes a number");
		return false;
	}
	if (u->number && u->batch) {
		*status = command_misuse(&u->command, "--number and --batch exclude each other");
		return false;
	}
	return true;
}

static bool undo_is_folder(const char *path)
{
	struct mounted m;
	struct stat st;
	bool folder = mounted_find(path, &m, NULL) && stat(m.path, &st) == 0 && S_ISDIR(st.st_mode);

	mounted_release(&m);
	return folder;
}

static int run_undo(struct undo *u, int argc, char **argv)
{
	int status = STATUS_TROUBLE;

	if (!read_options(u, &status) || !command_operands(&u->command, argc, argv, 1, 1))
		return status;
	return u->batch && undo_is_folder(argv[0]) ? undo_batch(u, argv[0]) : undo_file(u, argv[0]);
}

int cmd_undo(int argc, char **argv)
{
	struct undo u = {.forth = false};
	const struct command_option own[] = {
		{"batch", NULL, &u.batch}, {"number", NULL, &u.number},
		{"merge", &u.merge, NULL}, {"dry-run", &u.dry_run, NULL},
		{"list", &u.list, NULL},   {NULL, NULL, NULL}};
	int status;

	if (!command_begin(&argc, &argv, &u.command, own, undo_usage, &status))
		return status;
	return command_end(&u.command, run_undo(&u, argc, argv));
}

int cmd_redo(int argc, char **argv)
{
	struct undo u = {.forth = true};
	const struct command_option own[] = {{"dry-run", &u.dry_run, NULL}, {NULL, NULL, NULL}};
	int status;

	if (!command_begin(&argc, &argv, &u.command, own, redo_usage, &status))
		return status;
	return command_end(&u.command, run_undo(&u, argc, argv));
}
