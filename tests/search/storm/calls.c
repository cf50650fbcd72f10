/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.c - each call of a worker notes its kind and its begin for the watchdog, and each errno is
 * counted by worker, by call, and whether a bare filesystem would have said it.
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

/* May a name be missing at this time? */
static bool may_be_missing(const char *path, const struct task *task)
{
	if (below_any(&now.moved, path))
		return true;
	/*
	 * No other worker takes its names; but where a save is refused, the file that it moved away
	 * stays away.
	 */
	if (my_habit)
		return my_habit->flags & GAP &&
		       (below_any(&now.voided, path) || below_any(&now.stirred, path));
	if (!known_name(path)) /* a temporary of another program */
		return true;
	return task && task->habit->flags & GAP;
}

/* A bone's JSON says the name of its clip: where that has another name now, it is another's. */
bool may_refuse(const char *path)
{
	const char *end = strrchr(path, '.');

	return below_any(&now.voided, path) || below_any(&now.stirred, path) ||
	       my_text_is_partial ||
	       (end && strncmp(end, ".json", 5) == 0 && below_any(&now.moved, path));
}

/* A copy that comes back may be written in place, whatever the habit. */
bool is_written_in_place(const struct task *task)
{
	return task->habit->flags & IN_PLACE || below_any(&now.stirred, task_path(task));
}

/*
 * May another worker truncate the file that a reader has mapped? Under the name by which it was
 * opened, or under the one that the structure has given it since.
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
 * Is this errno no error? A bare filesystem could return it for this call at this time, or animfs
 * must, as the structure makes it refuse the text.
 */
static bool is_bare(enum op op, const char *path, int number)
{
	const struct task *task = task_of(path);

	/* A refused text, where the structure makes it one: the only errno that is animfs' own. */
	if (number == EBADMSG && may_refuse(path))
		return true;
	/* Of such texts only so many are kept beside a view; then the text stays in it instead. */
	if (number == ENOSPC && my_text_is_partial)
		return true;
	if (op == OP_XATTR && (number == ENODATA || number == EOPNOTSUPP))
		return true;
	if (op >= OP_BY_HANDLE)
		return number == NUMBER_SIGBUS && may_shrink(path);
	/* It finds the file, waits for the folder, and by then the file has lost its last name. */
	if (op == OP_LINK && number == ENOENT &&
	    (below_any(&now.onto, path) || below_any(&now.stirred, path)))
		return true;
	/* mv copies, then. */
	if (op == OP_RENAME && number == EXDEV && !my_habit)
		return true;
	/* A file that a saver could not remove, since its folder had another name then. */
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
