/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.c - each call of a worker notes its kind and its begin for the watchdog, and each errno is
 * counted by worker, by call, and by whether a bare filesystem would return it.
 */
#include "storm.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct shared *shared;
struct worker *me;
const struct habit *my_habit;
bool my_text_is_partial;

long milliseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

const char *op_name(enum op op)
{
	static const char *const names[OPS] = {
		[OP_OPEN] = "open",          [OP_STAT] = "stat",        [OP_RENAME] = "rename",
		[OP_UNLINK] = "unlink",      [OP_LINK] = "link",        [OP_SYMLINK] = "symlink",
		[OP_MKDIR] = "mkdir",        [OP_OPENDIR] = "opendir",  [OP_CHMOD] = "chmod",
		[OP_XATTR] = "xattr",        [OP_READ] = "read",        [OP_WRITE] = "write",
		[OP_TRUNCATE] = "ftruncate", [OP_FSTAT] = "fstat",      [OP_CLOSE] = "close",
		[OP_MMAP] = "mmap",          [OP_MAPPED] = "a mapping", [OP_READDIR] = "readdir",
		[OP_LOCK] = "lock",          [OP_FCHMOD] = "fchmod",    [OP_UTIMES] = "utimes",
		[OP_SYNC] = "fsync",
	};
	return names[op];
}

const char *number_name(int number)
{
	if (number == NUMBER_SIGBUS)
		return "SIGBUS";
	return number ? strerrorname_np(number) : "no error";
}

/* ---- errors of a bare filesystem ---- */

/* Returns whether a name may be missing at this time. */
static bool may_be_missing(const char *path, const struct task *task)
{
	if (below_any(&now.moved, path))
		return true;
	/*
	 * No other worker removes a saver's names; but a saver may move its file away, and where
	 * its save is refused, the file stays away.
	 */
	if (my_habit)
		return my_habit->flags & GAP &&
		       (below_any(&now.voided, path) || below_any(&now.stirred, path));
	if (!known_name(path)) /* a temporary of another program */
		return true;
	return task && task->habit->flags & GAP;
}

/*
 * Returns whether a save at the path may be refused. A bone's JSON names its clip: if that clip has
 * another name meanwhile, the text is that of another clip.
 */
bool may_refuse(const char *path)
{
	const char *end = strrchr(path, '.');

	return below_any(&now.voided, path) || below_any(&now.stirred, path) ||
	       my_text_is_partial ||
	       (end && strncmp(end, ".json", 5) == 0 && below_any(&now.moved, path));
}

/*
 * Returns whether a task writes in place. A copy of a folder that comes back may do so, whatever
 * the task's habit.
 */
bool is_written_in_place(const struct task *task)
{
	return task->habit->flags & IN_PLACE || below_any(&now.stirred, task_path(task));
}

/*
 * Returns whether another worker may truncate the file that a reader has mapped, under the name
 * that the reader opened, or a name that the structure has given the file since.
 */
static bool may_shrink(const char *path)
{
	const struct task *task = task_of(path);
	bool shrinks = task && is_written_in_place(task);

	for (unsigned i = 0; i < now.onto.count && below_any(&now.moved, path); i++) {
		task = task_of(now.onto.path[i]);
		shrinks |= task && is_written_in_place(task);
	}
	return shrinks;
}

/*
 * Returns whether an errno is no error: a bare filesystem could return it for this call at this
 * time, or animfs must, because the structure makes it refuse the text.
 */
static bool is_bare(enum op op, const char *path, int number)
{
	const struct task *task = task_of(path);

	/*
	 * A refused text, if the structure causes the refusal: EBADMSG is the only errno of animfs'
	 * own.
	 */
	if (number == EBADMSG && may_refuse(path))
		return true;
	/*
	 * Only a few refused texts are kept beside a view; with more, the text stays in the view.
	 */
	if (number == ENOSPC && my_text_is_partial)
		return true;
	if (op == OP_XATTR && (number == ENODATA || number == EOPNOTSUPP))
		return true;
	if (op >= OP_BY_HANDLE)
		return number == NUMBER_SIGBUS && may_shrink(path);
	/*
	 * The link finds the file, waits for the folder, and by then the file has lost its last
	 * name.
	 */
	if (op == OP_LINK && number == ENOENT &&
	    (below_any(&now.onto, path) || below_any(&now.stirred, path)))
		return true;
	/* Programs like mv copy the file on this error. */
	if (op == OP_RENAME && number == EXDEV && !my_habit)
		return true;
	/* A saver could not remove the file, since the file's folder had another name then. */
	if (number == EEXIST && below_any(&now.moved, path))
		return true;
	return number == ENOENT && may_be_missing(path, task);
}

/* ---- counting ---- */

static void name_who(char who[96], const char *path)
{
	const struct task *task = task_of(path);

	snprintf(who, 96, "%s%s%s, structure %s", me ? me->role : "the check",
		 task && !my_habit ? " beside " : "", task && !my_habit ? task->habit->name : "",
		 now.structure->name);
}

static struct count *find_count(const char *who, enum op op, int number, bool wrong)
{
	struct count *count = shared->counts;

	for (; count < shared->counts + shared->count_count; count++) {
		if (count->op == op && count->number == number && count->wrong == wrong &&
		    strcmp(count->who, who) == 0)
			return count;
	}
	if (shared->count_count == COUNTS_MAX)
		return &shared->counts[COUNTS_MAX - 1];
	shared->count_count++;
	count->op = op;
	count->number = number;
	count->wrong = wrong;
	strcpy(count->who, who);
	count->round = now.number;
	return count;
}

void account(enum op op, const char *path, int number)
{
	bool wrong = !is_bare(op, path, number);
	struct count *count;
	char who[96];

	name_who(who, path);
	while (atomic_flag_test_and_set(&shared->lock))
		;
	count = find_count(who, op, number, wrong);
	if (count->times++ == 0)
		snprintf(count->path, sizeof(count->path), "%s",
			 path + (strncmp(path, options.top, strlen(options.top))
					 ? 0
					 : strlen(options.top) + 1));
	atomic_flag_clear(&shared->lock);
}

void call_begins(enum op op, const char *path)
{
	if (!me)
		return;
	snprintf(me->path, sizeof(me->path), "%s", path);
	atomic_store(&me->op, (int)op);
	atomic_store(&me->since, milliseconds());
}

void call_ends(enum op op, const char *path, long result)
{
	int number = errno;

	atomic_fetch_add(&shared->calls[op], 1);
	if (me)
		atomic_store(&me->since, 0);
	if (result == -1 && (number == ENOTCONN || number == ECONNABORTED)) {
		atomic_store(&shared->dead, true);
		if (me)
			_exit(0);
	} else if (result == -1) {
		account(op, path, number);
	}
	errno = number;
}

void complain(const char *format, ...)
{
	va_list args;

	atomic_fetch_add(&shared->complaints, 1);
	printf("WRONG: round %u (%s): %s: ", now.number,
	       now.structure ? now.structure->name : "none", me ? me->role : "the check");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

void die(const char *format, ...)
{
	va_list args;

	printf("storm: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(2);
}

/* ---- mappings ---- */

static sigjmp_buf after_sigbus;

static void on_sigbus(int number)
{
	(void)number;
	siglongjmp(after_sigbus, 1);
}

bool without_sigbus(void (*body)(void *), void *context)
{
	struct sigaction action = {.sa_handler = on_sigbus}, old;
	bool whole = false;

	sigaction(SIGBUS, &action, &old);
	if (sigsetjmp(after_sigbus, 1) == 0) {
		body(context);
		whole = true;
	}
	sigaction(SIGBUS, &old, NULL);
	return whole;
}
