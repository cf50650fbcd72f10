/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * storm.c - storm [OPTION]... TOP
 *
 * Runs programs that save, programs that read and a program that renames, all at once, in the views
 * of animation files below TOP. It knows the layout of a mount and nothing of the program behind
 * it: TOP may be a bare filesystem with a copy of a mount's texts, where it must find nothing
 * wrong.
 *
 * The matrix. In each round up to --savers processes save, each in a view of its own and each with
 * one habit of habits.c; one process for each of readers.c reads what they save; and one does what
 * structure.c has: renames a clip, its file or its folder, moves a view onto another, removes the
 * file, replaces the binary in SOURCE, copies the file's folder, copies its texts as they were at
 * the start back with one edit in them, or undoes (programs.c). Habits are dealt like cards, and
 * structures too: none comes again before all have come.
 *
 * The oracle. Each save writes a value that was never written, larger than all before, into x of
 * all rows of one translation curve. A program that opens a view by its name reads at least the
 * value whose save was the last to be acknowledged before; if a text is only ever replaced by a
 * rename, the program reads it whole. After a round, when no program saves, all three views of a
 * curve (CSV and JSON of the bone, curves.csv of the clip) hold such a value, and no name is
 * missing. --state and --verify check the same after the mount was mounted again. Where a structure
 * may undo or refuse saves (those that add to now.voided), they are saved once more first, which
 * must succeed. While old copies come back (now.stirred), what is read may be old and a save may be
 * refused, but in the end no save that was acknowledged is lost.
 *
 * With --second, another mount of the same SOURCE, some savers and the readers of their texts
 * use that one, in every second round whose structure moves none of their names. After each round
 * it must show what the first one shows.
 *
 * With --forget, in every second round one more process makes the kernel forget all names and files
 * that no program uses, again and again. Only root can, and it does so to all mounts of the
 * machine.
 *
 * Errors. Each errno is judged (calls.c): would a bare filesystem have given it to this call, with
 * what the other processes do at this time? Other errnos are counted by process, the habit that it
 * ran beside, structure, call and errno; ENOENT and ESTALE once more, of how many calls.
 *
 * Hangs. A call that lasts longer than --hang seconds (60) ends the storm with status 3, after the
 * calls that all workers are in were printed and --on-hang COMMAND was run. Status 4: the daemon is
 * dead; 1: something was wrong; 2: usage.
 *
 * Again. What a round does follows from --seed and its number, which each complaint names:
 * --seed=S --first=N --rounds=1 repeats it. When its calls meet is the machine's choice, so it may
 * take several tries; --habits, --readers, --structures (lists of names) and --view narrow it down.
 *
 * A new habit is a function in habits.c and a line in its table. The flags say what readers may see
 * of it on a bare filesystem; run it there first (`storm --bare DIR`, with a copy of a mount in
 * DIR).
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct round now;
struct options options = {
	.seed = 1,
	.hang = 60,
	.savers = 6,
	.each = 40,
	.kind = -1,
	.saves = 5000,
};
static unsigned long saves_done;
static unsigned worker_count, both_count;
static long began;

/* ---- small things ---- */

static uint64_t state;

/* Returns a random number below `limit`, by xorshift64*. */
unsigned below(unsigned limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 0x2545F4914F6CDD1DULL) >> 33) % limit;
}

static void seed(unsigned a, unsigned b)
{
	state = ((uint64_t)a * 1000003 + b + 1) * 0x9E3779B97F4A7C15ULL;
	for (unsigned i = 0; i < 4; i++)
		below(2);
}

void add_prefix(struct prefixes *prefixes, const char *path)
{
	if (prefixes->count < PREFIXES_MAX)
		snprintf(prefixes->path[prefixes->count++], PATH_MAX, "%s", path);
}

const char *first_path(const char *path)
{
	static char first[PATH_MAX];
	size_t length = options.second ? strlen(options.second) : 0;

	if (!length || strncmp(path, options.second, length) != 0 || path[length] != '/')
		return path;
	if (snprintf(first, sizeof(first), "%s%s", options.top, path + length) >= PATH_MAX)
		die("a name is too long");
	return first;
}

bool below_any(const struct prefixes *prefixes, const char *path)
{
	path = first_path(path);
	for (unsigned i = 0; i < prefixes->count; i++) {
		size_t length = strlen(prefixes->path[i]);

		if (strncmp(path, prefixes->path[i], length) == 0 &&
		    (path[length] == '/' || path[length] == '\0'))
			return true;
	}
	return false;
}

const struct task *task_of(const char *path)
{
	path = first_path(path);
	for (unsigned i = 0; i < now.task_count; i++) {
		const struct task *task = &now.tasks[i];

		if (strcmp(curves[task->curve].path[task->kind], path) == 0)
			return task;
	}
	return NULL;
}

/* Returns whether `name` is in the list "a,b,c". A list that was not given (NULL) has all names. */
static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	}
	return !list;
}

/* ---- dealing ---- */

struct deck {
	unsigned count, next, card[64];
};

static struct deck habit_deck, structure_deck;

static unsigned draw(struct deck *deck)
{
	if (deck->next == 0) {
		for (unsigned i = deck->count; i > 1; i--) {
			unsigned j = below(i), card = deck->card[j];

			deck->card[j] = deck->card[i - 1];
			deck->card[i - 1] = card;
		}
	}
	unsigned card = deck->card[deck->next];

	deck->next = (deck->next + 1) % deck->count;
	return card;
}

static void make_decks(void)
{
	for (unsigned i = 0; habits[i].name; i++) {
		if (listed(options.habits, habits[i].name))
			habit_deck.card[habit_deck.count++] = i;
	}
	for (unsigned i = 0; structures[i].name; i++) {
		if (listed(options.structures, structures[i].name))
			structure_deck.card[structure_deck.count++] = i;
	}
	if (!habit_deck.count || !structure_deck.count)
		die("no such habit or structure");
}

static bool clip_has_task(unsigned clip, enum kind kind)
{
	for (unsigned i = 0; i < now.task_count; i++) {
		if (curves[now.tasks[i].curve].clip == clip &&
		    (kind == KIND_CURVES || now.tasks[i].kind == KIND_CURVES))
			return true;
	}
	return false;
}

static bool curve_has_task(unsigned curve)
{
	for (unsigned i = 0; i < now.task_count; i++) {
		if (now.tasks[i].curve == curve)
			return true;
	}
	return false;
}

/* Returns the first curve of the clip: curves.csv is the text of all its curves. */
static unsigned first_of_clip(unsigned curve)
{
	while (curve > 0 && curves[curve - 1].clip == curves[curve].clip)
		curve--;
	return curve;
}

/*
 * Deals a task to a saver. Only one saver at a time may save a curve, so that the oracle knows
 * which save was the last.
 */
static void deal_task(void)
{
	struct task task = {.curve = below(curve_count),
			    .kind = options.kind < 0 ? below(KINDS) : (enum kind)options.kind};

	if (clip_has_task(curves[task.curve].clip, task.kind))
		return;
	if (task.kind == KIND_CURVES)
		task.curve = first_of_clip(task.curve);
	if (curve_has_task(task.curve))
		return;
	task.habit = &habits[draw(&habit_deck)];
	if (task.habit->flags & ROWS && task.kind == KIND_JSON)
		task.kind = KIND_CSV;
	now.tasks[now.task_count++] = task;
}

static void deal_tasks(void)
{
	now.task_count = 0;
	for (unsigned i = 0; i < 20 * options.savers && now.task_count < options.savers; i++)
		deal_task();
}

/*
 * Chooses a structure. Returns false if, with these tasks, none of the structures drawn has
 * anything to change.
 */
static bool deal_structure(void)
{
	for (unsigned i = 0; i < 20 * structure_deck.count; i++) {
		now.structure = &structures[draw(&structure_deck)];
		now.moved.count = now.onto.count = now.voided.count = now.stirred.count = 0;
		if (now.structure->deal())
			return true;
	}
	return false;
}

/* Deals the mounts to savers, in every second round whose structure allows the second mount. */
static void deal_mounts(void)
{
	if (!options.second || !now.structure->both || below(2))
		return;
	for (unsigned i = 0; i < now.task_count; i++) {
		now.tasks[i].second = below(2);
		now.both |= now.tasks[i].second;
	}
}

#define DEALS 1000

static void deal(unsigned number)
{
	unsigned deals = 0;

	memset(&now, 0, sizeof(now));
	now.number = number;
	seed(options.seed, number);
	do {
		if (deals++ == DEALS)
			die("there is nothing for any of these structures to change");
		deal_tasks();
	} while (!deal_structure());
	deal_mounts();
}

/* ---- savers ---- */

static void each_curve(const struct task *task, atomic_long *values, long value)
{
	unsigned clip = curves[task->curve].clip;

	for (unsigned i = 0; i < curve_count; i++) {
		if (i == task->curve || (task->kind == KIND_CURVES && curves[i].clip == clip))
			atomic_store(&values[i], value);
	}
}

static long largest_issued(const struct task *task)
{
	long value = 0, here;

	for (unsigned i = 0; i < curve_count; i++) {
		here = atomic_load(&shared->issued[i]);
		if (curves[i].clip == curves[task->curve].clip && here > value)
			value = here;
	}
	return value;
}

/* Reads the view after a save, as programs read their own saves. */
static void look_again(const struct task *task, long value)
{
	static struct text text;
	long seen;

	if (below_any(&now.moved, task_path(task)) || below_any(&now.voided, task_path(task)) ||
	    below_any(&now.stirred, task_path(task)))
		return;
	if (!read_text(task_path(task), &text)) {
		complain("what was just saved cannot be read: %s: %s", task_path(task),
			 strerror(errno));
		return;
	}
	seen = text_value(&text, NULL);
	if (seen != value)
		complain("%s (%s) reads %ld after %ld was saved", task_path(task),
			 task->habit->name, seen, value);
}

/*
 * Returns how often the structure has begun or ended to save the same view. Odd: it is saving the
 * view now.
 */
static unsigned long crossings(const struct task *task)
{
	return atomic_load(&shared->crossed[task - now.tasks]);
}

/*
 * Returns whether another program saved the same file during a save. Either may lose its text then,
 * on any filesystem; if both write in place, the result may be a mixture of both texts.
 */
static bool was_crossed(const struct task *task, unsigned long before)
{
	if (before % 2 == 0 && crossings(task) == before)
		return false;
	if (task->habit->flags & IN_PLACE && atomic_load(&shared->copies_in_place))
		atomic_store(&shared->slow, true);
	return true;
}

static void save_once(const struct task *task, const struct text *template, long value)
{
	static struct text text;
	unsigned which = (unsigned)(task->habit - habits);
	unsigned long before = crossings(task);
	bool saved, crossed;

	text_set(&text, template, value);
	each_curve(task, shared->issued, value);
	saved = task->habit->save(task_path(task), &text);
	crossed = was_crossed(task, before);
	atomic_fetch_add(&shared->saved[which], 1);
	if (!saved)
		return;
	atomic_fetch_add(&shared->acknowledged[which], 1);
	if (task->habit->flags & UNSURE || crossed)
		return;
	each_curve(task, shared->sure, value);
	if (task->habit->flags & EVENTUAL)
		return;
	each_curve(task, shared->least, value);
	if (below(8) == 0)
		look_again(task, value);
}

static void saver(const void *context)
{
	const struct task *task = context;
	const struct text *template = curves[task->curve].text[task->kind];
	long value = largest_issued(task);

	my_habit = task->habit;
	for (unsigned i = 0; i < options.each && !atomic_load(&shared->stop); i++)
		save_once(task, template, ++value);
}

static void reader(const void *context)
{
	const struct reader *how = context;

	while (!atomic_load(&shared->stop)) {
		how->read();
		atomic_fetch_add(&shared->reads[how - readers], 1);
	}
}

static void changer(const void *context)
{
	const struct structure *what = context;

	do {
		what->change();
		atomic_fetch_add(&shared->changes[what - structures], 1);
	} while (!atomic_load(&shared->stop));
}

#define DROP_CACHES "/proc/sys/vm/drop_caches"

static void forgetter(const void *unused)
{
	int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);

	(void)unused;
	if (fd < 0)
		die(DROP_CACHES ": %s", strerror(errno));
	while (!atomic_load(&shared->stop)) {
		if (write(fd, "2", 1) != 1)
			die(DROP_CACHES ": %s", strerror(errno));
		usleep(below(50000));
	}
}

/* ---- workers ---- */

static void start(const char *role, void (*body)(const void *), const void *context)
{
	struct worker *worker = &shared->workers[worker_count];

	fflush(stdout);
	memset(worker, 0, sizeof(*worker));
	snprintf(worker->role, sizeof(worker->role), "%s", role);
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		me = worker;
		seed(options.seed + 7919 * worker_count, now.number);
		body(context);
		fflush(stdout);
		_exit(0);
	}
	worker->pid = pid; /* set in the parent only: the child shares `worker` */
	worker_count++;
}

static void start_all(void)
{
	worker_count = 0;
	for (unsigned i = 0; i < now.task_count; i++)
		start(now.tasks[i].habit->name, saver, &now.tasks[i]);
	for (const struct reader *how = readers; how->name; how++) {
		if (listed(options.readers, how->name))
			start(how->name, reader, how);
	}
	start(now.structure->name, changer, now.structure);
	if (options.forget && now.number % 2 == 0)
		start("forget", forgetter, NULL);
}

/* Returns how many of the first `count` workers are still running. */
static unsigned still_there(unsigned count)
{
	unsigned left = 0;
	int status;

	for (unsigned i = 0; i < count; i++) {
		struct worker *worker = &shared->workers[i];

		if (worker->pid == 0)
			continue;
		if (waitpid(worker->pid, &status, WNOHANG) != worker->pid) {
			left++;
			continue;
		}
		worker->pid = 0;
		if (status != 0)
			complain("%s ended with wait status %#x", worker->role, (unsigned)status);
	}
	return left;
}

static void print_workers(void)
{
	for (unsigned i = 0; i < worker_count; i++) {
		struct worker *worker = &shared->workers[i];
		long since = atomic_load(&worker->since);

		if (worker->pid && since)
			printf("  %s (process %d): %s of %s for %.1f s\n", worker->role,
			       (int)worker->pid, op_name((enum op)atomic_load(&worker->op)),
			       worker->path, (double)(milliseconds() - since) / 1000);
	}
}

/*
 * Kills all workers, without waiting for them: a worker that hangs in a call ends with the daemon.
 */
static void abandon(void)
{
	for (unsigned i = 0; i < worker_count; i++) {
		if (shared->workers[i].pid)
			kill(shared->workers[i].pid, SIGKILL);
	}
}

static void report(void);

__attribute__((noreturn)) static void leave(int status)
{
	abandon();
	report();
	fflush(stdout);
	_exit(status);
}

static void hangs(void)
{
	printf("HANG: round %u, structure %s, after %ld s, seed %u\n", now.number,
	       now.structure->name, (milliseconds() - began) / 1000, options.seed);
	print_workers();
	fflush(stdout);
	if (options.on_hang && system(options.on_hang) != 0)
		printf("  %s failed\n", options.on_hang);
	leave(3);
}

static void look_after(void)
{
	for (unsigned i = 0; i < worker_count; i++) {
		long since = atomic_load(&shared->workers[i].since);

		if (shared->workers[i].pid && since &&
		    milliseconds() - since > options.hang * 1000L)
			hangs();
	}
	if (atomic_load(&shared->dead) || (options.daemon && kill(options.daemon, 0) != 0)) {
		printf("DEAD: the daemon, in round %u, structure %s, after %ld s, seed %u\n",
		       now.number, now.structure->name, (milliseconds() - began) / 1000,
		       options.seed);
		leave(4);
	}
}

static void wait_for(unsigned count)
{
	while (still_there(count)) {
		look_after();
		usleep(2000);
	}
}

/* Checks the mount between rounds, in a worker, since the calls may hang. */
static void calm(const void *context)
{
	(void)context;
	model_check();
}

static void run_round(unsigned number)
{
	deal(number);
	both_count += now.both;
	atomic_store(&shared->stop, false);
	atomic_store(&shared->slow, false);
	atomic_store(&shared->copies_in_place, false);
	start_all();
	wait_for(now.task_count);
	atomic_store(&shared->stop, true);
	wait_for(worker_count);
	if (now.structure->end)
		now.structure->end();
	worker_count = 0;
	start("the check", calm, NULL);
	wait_for(worker_count);
}

/* ---- the report ---- */

static void print_numbers(void)
{
	for (unsigned i = 0; habits[i].name; i++) {
		if (atomic_load(&shared->saved[i]))
			printf("habit %s: %lu saves, %lu acknowledged\n", habits[i].name,
			       atomic_load(&shared->saved[i]),
			       atomic_load(&shared->acknowledged[i]));
	}
	for (unsigned i = 0; readers[i].name; i++)
		printf("reader %s: %lu times\n", readers[i].name, atomic_load(&shared->reads[i]));
	for (unsigned i = 0; structures[i].name; i++)
		printf("structure %s: %lu times\n", structures[i].name,
		       atomic_load(&shared->changes[i]));
}

static unsigned long print_counts(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < shared->count_count; i++) {
		const struct count *count = &shared->counts[i];

		if (count->wrong)
			sum += count->times;
		printf("%s: %s: %s: %s: %lu times, first in round %u: %s\n",
		       count->wrong ? "wrong" : "bare", count->who, op_name(count->op),
		       number_name(count->number), count->times, count->round, count->path);
	}
	return sum;
}

/*
 * Prints how many of the calls from `first` to before `end` got an ENOENT or ESTALE that was wrong.
 */
static void print_missing(const char *name, enum op first, enum op end)
{
	unsigned long calls = 0, times = 0;

	for (unsigned op = first; op < end; op++)
		calls += atomic_load(&shared->calls[op]);
	for (unsigned i = 0; i < shared->count_count; i++) {
		const struct count *count = &shared->counts[i];

		if (count->wrong && count->op >= first && count->op < end &&
		    (count->number == ENOENT || count->number == ESTALE))
			times += count->times;
	}
	printf("%s: %lu of %lu\n", name, times, calls);
}

static unsigned long wrong;

static void report(void)
{
	print_numbers();
	printf("both mounts: %u rounds\n", both_count);
	print_missing("open", OP_OPEN, OP_OPEN + 1);
	print_missing("by-name", 0, OP_BY_HANDLE);
	print_missing("by-handle", OP_BY_HANDLE, OPS);
	print_missing("fsync", OP_SYNC, OP_SYNC + 1);
	wrong = print_counts() + atomic_load(&shared->complaints);
	saves_done = 0;
	for (unsigned i = 0; habits[i].name; i++)
		saves_done += atomic_load(&shared->saved[i]);
	printf("storm: %lu saves in %u rounds and %ld s, seed %u: %lu wrong\n", saves_done,
	       now.number - options.first + 1, (milliseconds() - began) / 1000, options.seed,
	       wrong);
}

/* ---- the whole ---- */

static unsigned long count_saves(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; habits[i].name; i++)
		sum += atomic_load(&shared->saved[i]);
	return sum;
}

static bool goes_on(unsigned round)
{
	if (options.rounds)
		return round < options.first + options.rounds;
	if (options.seconds && milliseconds() - began > options.seconds * 1000L)
		return false;
	return count_saves() < options.saves && atomic_load(&shared->complaints) < 20;
}

static void storm(void)
{
	unsigned round = options.first;

	/* Put the decks in the state that they would have after the earlier rounds. */
	make_decks();
	for (unsigned i = 0; i < options.first; i++)
		deal(i);
	while (goes_on(round))
		run_round(round++);
}

static int kind_named(const char *name)
{
	static const char *const names[KINDS] = {"csv", "json", "curves"};

	for (int i = 0; i < KINDS; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	die("no view %s", name);
}

static void list_all(void)
{
	for (unsigned i = 0; habits[i].name; i++)
		printf("habit %s\n", habits[i].name);
	for (unsigned i = 0; readers[i].name; i++)
		printf("reader %s\n", readers[i].name);
	for (unsigned i = 0; structures[i].name; i++)
		printf("structure %s\n", structures[i].name);
	exit(0);
}

static const struct option long_options[] = {
	{"habits", required_argument, NULL, 'h'},
	{"readers", required_argument, NULL, 'r'},
	{"structures", required_argument, NULL, 's'},
	{"view", required_argument, NULL, 'v'},
	{"saves", required_argument, NULL, 'n'},   /* number of saves in all rounds */
	{"each", required_argument, NULL, 'e'},    /* number of saves of one saver in a round */
	{"savers", required_argument, NULL, 'w'},  /* number of savers at a time */
	{"seconds", required_argument, NULL, 'S'}, /* no round begins after this time */
	{"seed", required_argument, NULL, 'x'},
	{"first", required_argument, NULL, 'f'},
	{"rounds", required_argument, NULL, 'R'}, /* number of rounds, instead of --saves */
	{"hang", required_argument, NULL, 'H'},
	{"on-hang", required_argument, NULL, 'O'},
	/* process id of the daemon, to notice its death */
	{"daemon", required_argument, NULL, 'p'},
	{"source", required_argument, NULL, 'D'}, /* folder of the binaries */
	{"second", required_argument, NULL, '2'}, /* another mount of the same SOURCE */
	{"animfs", required_argument, NULL, 'A'}, /* path of the program animfs, for undo */
	/* writes the final values of the views to a file */
	{"state", required_argument, NULL, 'o'},
	{"verify", required_argument, NULL, 'c'}, /* only checks the values in such a file */
	{"forget", no_argument, NULL, 'F'},       /* makes the kernel forget names; needs root */
	{"bare", no_argument, NULL, 'b'}, /* TOP is no mount: its texts are ordinary files */
	{"list", no_argument, NULL, 'l'},
	{NULL, 0, NULL, 0},
};

static const char *verify;

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value > UINT_MAX)
		die("%s is no number", text);
	return (unsigned)value;
}

static void set_number(int letter, unsigned value)
{
	switch (letter) {
	case 'n':
		options.saves = value;
		break;
	case 'e':
		options.each = value;
		break;
	case 'w':
		options.savers = value < TASKS_MAX ? value : TASKS_MAX;
		break;
	case 'S':
		options.seconds = value;
		break;
	case 'x':
		options.seed = value;
		break;
	case 'f':
		options.first = value;
		break;
	case 'R':
		options.rounds = value;
		break;
	case 'H':
		options.hang = value;
		break;
	case 'p':
		options.daemon = (pid_t)value;
		break;
	default:
		exit(2);
	}
}

static void set_option(int letter)
{
	switch (letter) {
	case 'h':
		options.habits = optarg;
		break;
	case 'r':
		options.readers = optarg;
		break;
	case 's':
		options.structures = optarg;
		break;
	case 'v':
		options.kind = kind_named(optarg);
		break;
	case 'O':
		options.on_hang = optarg;
		break;
	case 'D':
		options.source = optarg;
		break;
	case '2':
		options.second = optarg;
		break;
	case 'A':
		options.animfs = optarg;
		break;
	case 'o':
		options.state = optarg;
		break;
	case 'c':
		verify = optarg;
		break;
	case 'b':
		options.bare = true;
		break;
	case 'F':
		options.forget = true;
		break;
	case 'l':
		list_all();
		break;
	case '?':
		exit(2);
	default:
		set_number(letter, number(optarg));
	}
}

int main(int argc, char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		set_option(letter);
	if (optind != argc - 1)
		die("usage: storm [OPTION]... TOP");
	options.top = argv[optind];
	if (options.bare)
		options.kind = KIND_CSV;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("no memory");
	if (verify)
		return model_verify(verify, options.top) ? 1 : 0;
	began = milliseconds();
	now.structure = structures;
	model_find(options.top);
	storm();
	if (options.state)
		model_write(options.state);
	report();
	return wrong ? 1 : 0;
}
