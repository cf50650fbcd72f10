/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - `animfs check`: decodes, encodes, compares; prints a line for each file that fails. */
#include "check_file.h"
#include "check_list.h"

#include "disk/refusal.h"
#include "options.h"
#include "util/jobs.h"
#include "view/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice {
	bool json, null;
	int jobs;
	const char *files;
	struct shard shard;
};

/* ---- the report of a file ---- */

/* Writes the failure with line and column if the file is text, else with the byte offset. */
static void explain_file(const char *path, const struct checked *c, struct buf *out)
{
	struct err err = c->err;

	if (c->text.size) {
		err.code = ERR_TEXT;
		refusal_explain(path, buf_bytes(&c->text), &err, NULL, out);
		return;
	}
	command_describe(path, &err, out);
	buf_char(out, '\n');
	if (*err.accepted)
		buf_format(out, "accepted here: %s\n", err.accepted);
}

static void check_write_place(const struct checked *c, struct buf *out)
{
	struct position where;

	if (c->text.size) {
		where = err_locate(buf_bytes(&c->text), c->err.at);
		buf_format(out, ", \"line\": %zu, \"column\": %zu", where.line, where.column);
	} else if (c->err.placed) {
		buf_format(out, ", \"byte\": %zu", c->err.at);
	}
}

static void check_write_json(const char *path, const struct checked *c, struct buf *out)
{
	static const char *const words[] = {
		[CHECK_FINE] = "true", [CHECK_FAILED] = "false", [CHECK_TROUBLE] = "null"};

	buf_text(out, "{\"format\": \"animfs.check/1\", \"path\": ");
	json_write_name(out, path);
	if (c->format)
		buf_format(out, ", \"type\": \"%s\"", c->format);
	buf_format(out, ", \"ok\": %s", words[c->outcome]);
	if (c->outcome != CHECK_FINE) {
		check_write_place(c, out);
		buf_text(out, ", \"message\": ");
		json_write_name(out, command_message(path, &c->err));
	}
	if (*c->err.accepted) {
		buf_text(out, ", \"accepted\": ");
		json_write_name(out, c->err.accepted);
	}
	buf_text(out, "}\n");
}

static void check_write_line(const struct choice *choice, const char *path, const struct checked *c,
			     struct buf *out)
{
	if (choice->json && c->outcome != CHECK_NONE)
		check_write_json(path, c, out);
	else if (c->outcome == CHECK_FAILED && choice->null)
		buf_add(out, path, strlen(path) + 1);
	else if (c->outcome == CHECK_FAILED)
		explain_file(path, c, out);
}

/* ---- all files, in their order ---- */

/* The output about one file, held back until all earlier files are printed. */
struct said {
	bool done;
	enum check_outcome outcome;
	struct buf lines, notes; /* output to standard output and to standard error */
};

struct tally {
	const struct command *command;
	const struct choice *choice;
	const struct check_list *list;
	struct said *said; /* output about each file of the list */
	pthread_mutex_t lock;
	size_t next; /* index of the first file whose output is not printed yet */
	size_t counts[CHECK_TROUBLE + 1];
	struct buf printed; /* notes printed last, so that files of one folder do not repeat them */
	struct checker **idle;
	size_t idle_count;
	bool memory; /* an allocation failed */
};

static void print_notes(struct tally *t, struct buf *notes)
{
	if (notes->size && !bytes_equal(buf_bytes(notes), buf_bytes(&t->printed))) {
		fwrite(notes->data, 1, notes->size, stderr);
		buf_release(&t->printed);
		t->printed = *notes;
		*notes = (struct buf)BUF_INIT;
	}
	buf_release(notes);
}

/* Prints the output of finished files in order. Call it with the lock held. */
static void print_finished(struct tally *t)
{
	for (; t->next < t->list->count && t->said[t->next].done; t->next++) {
		struct said *said = &t->said[t->next];

		t->counts[said->outcome]++;
		t->memory |= said->lines.failed || said->notes.failed;
		command_print(&said->lines);
		print_notes(t, &said->notes);
		buf_release(&said->lines);
	}
	fflush(stdout); /* show progress to readers of a pipe */
}

/*
 * Takes an idle checker, preferably the one used last, which has probably read the next file's
 * folder.
 */
static struct checker *take_checker(struct tally *t)
{
	struct checker *c = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->idle_count > 0)
		c = t->idle[--t->idle_count];
	pthread_mutex_unlock(&t->lock);
	return c ? c : checker_new(t->command);
}

static void describe_trouble(const char *path, const struct err *err, struct buf *out)
{
	buf_text(out, "animfs: ");
	command_describe(path, err, out);
	buf_char(out, '\n');
}

static void check_item(struct tally *t, struct checker *checker, const struct check_item *item,
		       struct said *said)
{
	struct checked c = {.outcome = CHECK_TROUBLE, .text = BUF_INIT, .notes = BUF_INIT};

	if (item->missing)
		err_set(&c.err, ERR_SYSTEM, "%s", strerror(item->missing));
	else if (item->err)
		c.err = *item->err;
	else if (!checker)
		err_memory(&c.err);
	else if (item->target)
		checker_check(checker, item->target, item->target_inside, &c);
	else
		checker_check(checker, item->path, item->inside, &c);
	if (item->err && command_status(item->err) == STATUS_REFUSED)
		c.outcome = CHECK_FAILED;
	/* A file found in a folder need not be an animation; an operand must be one. */
	if (c.outcome == CHECK_NONE && item->named)
		c.outcome = CHECK_TROUBLE;
	check_write_line(t->choice, item->path, &c, &said->lines);
	said->outcome = c.outcome;
	if (c.outcome == CHECK_TROUBLE)
		describe_trouble(item->path, &c.err, &said->notes);
	else
		buf_add(&said->notes, c.notes.data, c.notes.size);
	checked_release(&c);
}

static void check_one(void *closure, size_t i)
{
	struct tally *t = closure;
	struct checker *checker = take_checker(t);

	check_item(t, checker, &t->list->items[i], &t->said[i]);
	pthread_mutex_lock(&t->lock);
	if (checker)
		t->idle[t->idle_count++] = checker;
	t->said[i].done = true;
	print_finished(t);
	pthread_mutex_unlock(&t->lock);
}

static void check_print_sum(const struct tally *t)
{
	size_t failed = t->counts[CHECK_FAILED], checked = failed + t->counts[CHECK_FINE];

	if (t->choice->json)
		printf("{\"format\": \"animfs.check/1\", \"checked\": %zu, \"failed\": %zu, "
		       "\"unreadable\": %zu}\n",
		       checked, failed, t->counts[CHECK_TROUBLE]);
	else if (t->counts[CHECK_TROUBLE])
		fprintf(stderr, "%zu checked, %zu failed, %zu not read\n", checked, failed,
			t->counts[CHECK_TROUBLE]);
	else
		fprintf(stderr, "%zu checked, %zu failed\n", checked, failed);
}

static int check_all(struct tally *t)
{
	size_t count = t->list->count;
	bool fine;

	t->said = calloc(count + 1, sizeof(*t->said));
	t->idle = calloc(count + 1, sizeof(struct checker *));
	fine = t->said && t->idle && jobs_run((unsigned)t->choice->jobs, count, check_one, t);
	while (t->idle_count > 0)
		checker_free(t->idle[--t->idle_count]);
	if (fine)
		check_print_sum(t);
	free(t->said);
	free(t->idle);
	buf_release(&t->printed);
	if (!fine || t->memory)
		command_fail("check", strerror(ENOMEM));
	if (!fine || t->memory || t->counts[CHECK_TROUBLE] || !t->list->fine)
		return STATUS_TROUBLE;
	return t->counts[CHECK_FAILED] ? STATUS_REFUSED : STATUS_FINE;
}

/* ---- the command ---- */

static bool list_files(struct check_list *list, char **paths, const struct command *command,
		       const struct choice *choice)
{
	struct store *store = store_new(&command->store, NULL);
	bool fine = store != NULL;

	if (fine && choice->files && !check_list_read(list, choice->files, store, &choice->shard)) {
		store_free(store);
		return false;
	}
	for (; fine && *paths; paths++)
		fine = check_list_add(list, *paths, store, &choice->shard);
	store_free(store);
	return fine || command_fail("check", strerror(ENOMEM));
}

static int run_check(const struct command *command, char **paths, const struct choice *choice)
{
	struct check_list list = {.fine = true};
	struct tally tally = {.command = command,
			      .choice = choice,
			      .list = &list,
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .printed = BUF_INIT};
	int status = STATUS_TROUBLE;

	if (list_files(&list, paths, command, choice))
		status = check_all(&tally);
	check_list_release(&list);
	return status;
}

static bool read_choice(const struct command *command, struct choice *choice, const char *jobs,
			const char *shard)
{
	struct err err = {.code = ERR_NONE};

	if (choice->json && choice->null)
		command_misuse(command, "--json and --null cannot be used together");
	else if (!option_jobs(jobs, &choice->jobs, &err) ||
		 !shard_parse(&choice->shard, shard, &err))
		command_misuse(command, "%s", err.message);
	else
		return true;
	return false;
}

static const char usage[] =
	"Usage: animfs check [OPTION]... PATH...\n"
	"  or:  animfs check [OPTION]... --files0-from=FILE\n"
	"Decode every animation file below the PATHs, in archives too, encode it again,\n"
	"and compare.\n"
	"Print a line for each file that fails, sorted by name, with the place in it. The\n"
	"total is printed on standard error.\n"
	"\n"
	"Options:\n"
	"  -0, --null              print only the paths that fail, each ended by NUL\n"
	"      --files0-from=FILE  read PATHs, ended by NUL, from FILE; - is standard\n"
	"                            input\n"
	"  -j, --jobs=N            process N files in parallel (default: all CPUs)\n"
	"      --json              one JSON object per line for each file, and a last one\n"
	"                            with the totals: animfs.check/1, see animfs(1)\n"
	"      --shard=I/N         only part I of N, by the paths of files below PATH, so\n"
	"                            that N machines that share the work agree\n" HELP_READS
		HELP_SITE HELP_END "\n"
	"Exit status:\n"
	"  0  no file fails\n"
	"  1  a file fails\n"
	"  2  usage or I/O error\n";

int cmd_check(int argc, char **argv)
{
	struct choice choice = {.json = false};
	const char *jobs = NULL, *shard = NULL;
	const struct command_option own[] = {
		{"0,null", &choice.null, NULL}, {"files0-from", NULL, &choice.files},
		{"j,jobs", NULL, &jobs},        {"json", &choice.json, NULL},
		{"shard", NULL, &shard},        {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (choice.files && argc > 0)
		command_misuse(&command, "extra operand '%s': --files0-from gives all paths",
			       argv[0]);
	else if ((choice.files || command_operands(&command, argc, argv, 1, argc)) &&
		 read_choice(&command, &choice, jobs, shard))
		status = run_check(&command, argv, &choice);
	return command_end(&command, status);
}
