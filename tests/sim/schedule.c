/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedule.c - threads, locks, waits and time, by a seed.
 *
 * Every simulated thread is a real one that sleeps until it gets the baton; whoever has it runs
 * until its next step and there passes it on, or keeps it. Locks and conditions are what the tables
 * in here say; the real mutexes are taken as well, and are always free then.
 *
 * Virtual time moves a little with each step, now and then by a lot (somebody else had the
 * processor), and when all sleep to the next deadline. When all sleep without one, that is a
 * deadlock.
 *
 * The linker puts the __wrap_ functions in the place of the C library's (-Wl,--wrap).
 */
#include "sim.h"

#include <errno.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 96
#define LOCKS_MAX 4096 /* a power of two */
#define HELD_MAX 16
#define CLASSES_MAX 64
#define HANG_SECONDS 60      /* of real time without a step */
#define STUCK (300 * SECOND) /* of virtual time in one wait for a lock or an answer */

struct lock {
	const pthread_mutex_t *mutex;
	int owner; /* a thread's number, or -1 */
	unsigned depth;
	unsigned number; /* in the order of creation */
	void *made;      /* where: its class */
};

struct thread {
	char name[24];
	pthread_t real;
	uint32_t go; /* the futex */
	bool used, program, done, blocked;
	const void *channel;
	int64_t deadline;
	struct pollfd *fds; /* also awake when one of them is ready */
	unsigned fd_count;
	bool woken, busy; /* busy: somebody else has what it waits for */
	int64_t since;
	const char *what;
	void *where;
	uint64_t frozen; /* until this step, if others can run */
	struct {
		struct lock *lock;
		void *where;
	} held[HELD_MAX];
	unsigned held_count;
	void *(*start)(void *);
	void (*run)(void *);
	void *closure, *result;
};

static struct thread threads[THREADS_MAX];
static int thread_count;
static int current = -1; /* -1: no simulation yet, or not any more */
static uint64_t step, hash = 0xcbf29ce484222325;
static int64_t now_ns;
static unsigned held_back;                                     /* sched_hold */
static unsigned stickiness = 4, pace_ns = 1000, pauses = 1000; /* by the seed */
static uint64_t random_state;
static _Thread_local int self = -1;

unsigned known_count[KNOWN_COUNT];
const char *const known_names[KNOWN_COUNT] = {
	"errors of names that are being renamed",
	"ESTALE",
	"refused saves",
	"mixed texts",
	"sizes that are not the text's",
	"old texts of what others have open to save",
	"texts that could not be read when their clip was made"};

/* ---- the seed ---- */

uint64_t rnd(void)
{
	uint64_t z = random_state += 0x9E3779B97F4A7C15;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
	return z ^ (z >> 31);
}

unsigned rnd_below(unsigned limit)
{
	return limit ? (unsigned)(rnd() % limit) : 0;
}

bool rnd_one_in(unsigned n)
{
	return rnd_below(n) == 0;
}

/* ---- reports ---- */

extern char __executable_start;

static void print_place(void *place)
{
	char command[160];

	if (!place)
		return;
	snprintf(command, sizeof(command), "addr2line -s -p -f -e /proc/%d/exe 0x%lx 1>&2",
		 (int)syscall(SYS_getpid),
		 (unsigned long)((char *)place - &__executable_start - 1));
	if (system(command) != 0)
		fprintf(stderr, "%p\n", place);
}

static void print_threads(void)
{
	for (int i = 0; i < thread_count; i++) {
		struct thread *t = &threads[i];

		if (t->done)
			continue;
		fprintf(stderr, "  %2d %-12s %s%s", i, t->name,
			t->blocked ? "waits: " : "at: ", t->what ? t->what : "");
		if (t->deadline != NEVER && t->blocked)
			fprintf(stderr, " until %lld ms", (long long)(t->deadline / MS));
		fputs(t->where ? " in " : "\n", stderr);
		print_place(t->where);
		for (unsigned n = 0; n < t->held_count; n++) {
			fprintf(stderr, "       holds lock %u, taken in ", t->held[n].lock->number);
			print_place(t->held[n].where);
		}
	}
}

static void print_stack(void)
{
	void *places[32];
	int count = backtrace(places, 32);

	for (int i = 2; i < count; i++) {
		if ((char *)places[i] > &__executable_start &&
		    (char *)places[i] < (char *)__builtin_return_address(0) + (64 << 20)) {
			fputs("    ", stderr);
			print_place(places[i]);
		}
	}
}

static _Noreturn void die_with_report(void)
{
	fflush(stdout);
	fprintf(stderr, "threads:\n");
	print_threads();
	if (current >= 0) {
		fprintf(stderr, "stack of %s:\n", threads[current].name);
		print_stack();
	}
	fprintf(stderr,
		"sim: seed %llu failed at step %llu; again: build/sim --seed %llu --steps %llu%s%s "
		"--stop %llu --trace\n",
		(unsigned long long)sim.seed, (unsigned long long)step,
		(unsigned long long)sim.seed, (unsigned long long)sim.steps,
		sim.strict ? " --strict" : "", sim.no_faults ? " --no-faults" : "",
		(unsigned long long)step);
	fflush(stderr);
	_exit(1);
}

void trace(const char *format, ...)
{
	va_list args;

	if (!sim.trace)
		return;
	printf("%8llu %10.3f ms %-12s ", (unsigned long long)step, (double)now_ns / 1e6,
	       current >= 0 ? threads[current].name : "-");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void fail(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "sim: seed %llu, step %llu, %s: ", (unsigned long long)sim.seed,
		(unsigned long long)step, current >= 0 ? threads[current].name : "-");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	die_with_report();
}

void known(enum known kind, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (sim.strict)
		fail("%s", text);
	trace("KNOWN: %s", text);
	known_count[kind]++;
}

static void on_alarm(int signal_number)
{
	(void)signal_number;
	fprintf(stderr, "sim: no step for %d s\n", HANG_SECONDS);
	die_with_report();
}

/* The program crashed, or a sanitizer ends it. */
static void on_crash(int signal_number)
{
	fflush(stdout);
	fprintf(stderr, "sim: seed %llu, step %llu, %s: %s\n", (unsigned long long)sim.seed,
		(unsigned long long)step, current >= 0 ? threads[current].name : "-",
		strsignal(signal_number));
	die_with_report();
}

static void on_death(void)
{
	die_with_report();
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* UBSan ends a process in its own way, which that does not see. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:abort_on_error=1";
}

static void catch_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	struct sigaction crash = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
	struct sigaction hang = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &hang, NULL);
	sigaction(SIGABRT, &crash, NULL);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(on_death);
		return;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &crash, NULL);
}

/* ---- the baton ---- */

static void pass_to(int number)
{
	current = number;
	__atomic_store_n(&threads[number].go, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &threads[number].go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_baton(int number)
{
	while (!__atomic_load_n(&threads[number].go, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &threads[number].go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__atomic_store_n(&threads[number].go, 0, __ATOMIC_SEQ_CST);
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);

static bool is_runnable(struct thread *t)
{
	if (t->done)
		return false;
	return !t->blocked || t->woken || t->deadline <= now_ns ||
	       (t->fd_count && __real_poll(t->fds, t->fd_count, 0) > 0);
}

static int choose(void)
{
	int runnable[THREADS_MAX], warm[THREADS_MAX], count = 0, warm_count = 0;

	for (int i = 0; i < thread_count; i++) {
		if (!is_runnable(&threads[i]))
			continue;
		runnable[count++] = i;
		if (threads[i].frozen <= step)
			warm[warm_count++] = i;
	}
	if (warm_count)
		return warm[rnd_below((unsigned)warm_count)];
	return count ? runnable[rnd_below((unsigned)count)] : -1;
}

static void advance_to_deadline(void)
{
	int64_t next = NEVER;

	for (int i = 0; i < thread_count; i++) {
		if (!threads[i].done && threads[i].blocked && threads[i].deadline < next)
			next = threads[i].deadline;
	}
	if (next == NEVER)
		fail("deadlock: every thread waits, and no time ends that");
	if (next > now_ns)
		now_ns = next;
}

/* Others may go on while some wait for each other. */
static void check_stuck(void)
{
	for (int i = 0; i < thread_count; i++) {
		struct thread *t = &threads[i];

		if (!t->done && t->blocked && t->busy && !t->woken && now_ns - t->since > STUCK)
			fail("%s waits for %s, and nobody lets it go on", t->name, t->what);
	}
}

static void count_step(const char *what)
{
	step++;
	now_ns += 1 + rnd_below(pace_ns);
	if (rnd_one_in(pauses))
		now_ns += rnd_below(60) * MS;
	if (rnd_one_in(1000) && thread_count > 0)
		threads[rnd_below((unsigned)thread_count)].frozen = step + rnd_below(400);
	hash = (hash ^ (uint64_t)self) * 0x100000001b3;
	for (const char *c = what; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3;
	hash = (hash ^ random_state) * 0x100000001b3;
	if (step % 1024 == 0) {
		alarm(HANG_SECONDS);
		check_stuck();
	}
	if (sim.stop && step >= sim.stop)
		fail("stopped here: %s", what);
}

/* Whoever is next; the caller sleeps until it is that again. */
static void pass_on(void)
{
	int me = self, next;

	while ((next = choose()) < 0)
		advance_to_deadline();
	if (next == me)
		return;
	pass_to(next);
	if (!threads[me].done)
		await_baton(me);
}

__attribute__((noinline)) void sched_point(const char *what)
{
	int error = errno;

	if (self < 0 || current < 0)
		return;
	if (self != current)
		fail("thread %d runs without the baton", self);
	threads[self].what = what;
	threads[self].where = __builtin_return_address(0);
	count_step(what);
	if (!held_back && rnd_one_in(stickiness))
		pass_on();
	errno = error;
}

static bool block(const void *channel, int64_t deadline, struct pollfd *fds, unsigned count,
		  const char *what, void *where, bool busy)
{
	struct thread *t = &threads[self];
	bool woken;

	if (held_back)
		fail("waits for %s where nobody else may run", what);
	t->what = what;
	t->where = where;
	count_step(what);
	t->channel = channel;
	t->deadline = deadline;
	t->fds = fds;
	t->fd_count = count;
	t->woken = false;
	t->blocked = true;
	t->busy = busy;
	t->since = now_ns;
	pass_on();
	woken = t->woken;
	t->blocked = t->woken = false;
	t->channel = NULL;
	t->fd_count = 0;
	t->deadline = NEVER;
	return woken;
}

bool sched_wait(const void *channel, int64_t deadline, const char *what)
{
	return block(channel, deadline, NULL, 0, what, __builtin_return_address(0),
		     deadline == NEVER);
}

void sched_wake(const void *channel)
{
	for (int i = 0; i < thread_count; i++) {
		if (threads[i].blocked && threads[i].channel == channel)
			threads[i].woken = true;
	}
}

/* One of them, whichever the seed likes. */
static void wake_one(const void *channel)
{
	int waiting[THREADS_MAX], count = 0;

	for (int i = 0; i < thread_count; i++) {
		if (threads[i].blocked && !threads[i].woken && threads[i].channel == channel)
			waiting[count++] = i;
	}
	if (count)
		threads[waiting[rnd_below((unsigned)count)]].woken = true;
}

void sched_sleep(int64_t ns)
{
	block(NULL, now_ns + ns, NULL, 0, "sleep", __builtin_return_address(0), false);
}

void sched_pass(int64_t ns)
{
	now_ns += ns;
}

int64_t sched_now(void)
{
	return now_ns;
}

uint64_t sched_step(void)
{
	return step;
}

bool sched_is_over(void)
{
	return step >= sim.steps;
}

bool sched_is_program(void)
{
	return self >= 0 && threads[self].program;
}

int sched_thread(void)
{
	return self;
}

void sched_hold(void)
{
	held_back++;
}

void sched_resume(void)
{
	held_back--;
}

uint64_t sched_hash(void)
{
	return hash;
}

/* ---- threads ---- */

static struct thread *new_thread(const char *name, bool program)
{
	struct thread *t = &threads[thread_count];

	if (thread_count == THREADS_MAX)
		fail("more than %d threads", THREADS_MAX);
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->used = true;
	t->program = program;
	t->deadline = NEVER;
	t->what = "start";
	thread_count++;
	return t;
}

void sched_start(void)
{
	random_state = sim.seed * 0x2545F4914F6CDD1D + 1;
	stickiness = 1U << rnd_below(5);
	pace_ns = 100U << rnd_below(9);
	pauses = 400U << rnd_below(6);
	catch_crashes();
	alarm(HANG_SECONDS);
	new_thread("main", false);
	self = current = 0;
}

void sched_end(void)
{
	alarm(0);
	current = -1;
	self = -1;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			  void *closure);
int __real_pthread_join(pthread_t thread, void **result);

static void *trampoline(void *thread)
{
	struct thread *t = thread;

	self = (int)(t - threads);
	await_baton(self);
	if (t->run)
		t->run(t->closure);
	else
		t->result = t->start(t->closure);
	t->done = true;
	sched_wake(t);
	count_step("end");
	pass_on();
	return t->result;
}

static int begin(struct thread *t)
{
	int error = __real_pthread_create(&t->real, NULL, trampoline, t);

	if (error)
		fail("no thread: %s", strerror(error));
	return 0;
}

void sched_spawn(const char *name, void (*run)(void *), void *closure)
{
	struct thread *t = new_thread(name, false);

	t->run = run;
	t->closure = closure;
	begin(t);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			  void *closure);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			  void *closure)
{
	static unsigned serial;
	struct thread *t;
	char name[24];

	if (self < 0)
		return __real_pthread_create(thread, attr, start, closure);
	snprintf(name, sizeof(name), "animfs%u", ++serial);
	t = new_thread(name, true);
	t->start = start;
	t->closure = closure;
	begin(t);
	*thread = t->real;
	sched_point("pthread_create");
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	for (int i = 0; self >= 0 && i < thread_count; i++) {
		if (threads[i].used && pthread_equal(threads[i].real, thread)) {
			while (!threads[i].done)
				block(&threads[i], NEVER, NULL, 0, "pthread_join",
				      __builtin_return_address(0), false);
			threads[i].used = false;
			break;
		}
	}
	return __real_pthread_join(thread, result);
}

/* ---- locks ---- */

static struct lock locks[LOCKS_MAX];
static unsigned lock_serial;

static struct lock *find_lock(const pthread_mutex_t *mutex, bool make)
{
	size_t at = ((uintptr_t)mutex >> 4) * 0x9E3779B1 % LOCKS_MAX;

	for (size_t tries = 0; tries < LOCKS_MAX; tries++) {
		struct lock *l = &locks[(at + tries) % LOCKS_MAX];

		if (l->mutex == mutex)
			return l;
		if (l->mutex)
			continue;
		if (!make)
			return NULL;
		*l = (struct lock){mutex, -1, 0, ++lock_serial, (void *)mutex};
		return l;
	}
	fail("more than %d locks", LOCKS_MAX);
}

/* A record stays in its place when the mutex ends: others may lie behind it. */
static void renew_lock(struct lock *l, void *made)
{
	*l = (struct lock){l->mutex, -1, 0, ++lock_serial, made};
}

/*
 * The order of locks: which class was taken while which other was held. Within a class the order of
 * creation stands for the lock. What is only tried for cannot wait for anything, and makes no
 * order.
 */
static struct {
	void *made;
	const char *name;
} classes[CLASSES_MAX];
static unsigned class_count;
static struct {
	bool seen, inner;
	void *outer_taken, *inner_taken;
} order[CLASSES_MAX][CLASSES_MAX];
static struct {
	unsigned outer, inner;
	void *outer_taken, *inner_taken;
} nested[LOCKS_MAX]; /* of one class */
static unsigned nested_count;

static unsigned class_of(const struct lock *l)
{
	for (unsigned i = 0; i < class_count; i++) {
		if (classes[i].made == l->made)
			return i;
	}
	if (class_count == CLASSES_MAX)
		fail("more than %d classes of locks", CLASSES_MAX);
	classes[class_count].made = l->made;
	return class_count++;
}

static void note_nested(const struct lock *outer, void *outer_taken, const struct lock *inner,
			void *inner_taken)
{
	for (unsigned i = 0; i < nested_count; i++) {
		if (nested[i].outer == outer->number && nested[i].inner == inner->number)
			return;
	}
	if (nested_count == LOCKS_MAX)
		return;
	nested[nested_count].outer = outer->number;
	nested[nested_count].inner = inner->number;
	nested[nested_count].outer_taken = outer_taken;
	nested[nested_count++].inner_taken = inner_taken;
}

static void note_order(const struct thread *t, const struct lock *inner, void *where)
{
	unsigned to = class_of(inner);

	for (unsigned i = 0; i < t->held_count; i++) {
		unsigned from = class_of(t->held[i].lock);

		if (t->held[i].lock == inner)
			return;
		if (from == to) {
			note_nested(t->held[i].lock, t->held[i].where, inner, where);
		} else if (!order[from][to].seen) {
			order[from][to].seen = true;
			order[from][to].outer_taken = t->held[i].where;
			order[from][to].inner_taken = where;
		}
	}
}

static void print_order(void *outer, void *inner)
{
	fputs("  taken in ", stderr);
	print_place(outer);
	fputs("    and then in ", stderr);
	print_place(inner);
}

static bool reaches(unsigned from, unsigned to, bool *passed)
{
	if (order[from][to].seen)
		return true;
	passed[from] = true;
	for (unsigned next = 0; next < class_count; next++) {
		if (order[from][next].seen && !passed[next] && reaches(next, to, passed))
			return true;
	}
	return false;
}

void sched_check_locks(void)
{
	for (unsigned a = 0; a < class_count; a++) {
		for (unsigned b = 0; b < class_count; b++) {
			bool passed[CLASSES_MAX] = {false};

			if (a == b || !order[a][b].seen || !reaches(b, a, passed))
				continue;
			if (a < b || !order[b][a].seen) {
				fputs("sim: a circle of locks:\n", stderr);
				print_order(order[a][b].outer_taken, order[a][b].inner_taken);
				if (order[b][a].seen)
					print_order(order[b][a].outer_taken,
						    order[b][a].inner_taken);
				fail("locks are taken in a circle");
			}
		}
	}
	for (unsigned i = 0; i < nested_count; i++) {
		for (unsigned j = i + 1; j < nested_count; j++) {
			if (nested[i].outer != nested[j].inner ||
			    nested[i].inner != nested[j].outer)
				continue;
			fputs("sim: two locks of a kind, in both orders:\n", stderr);
			print_order(nested[i].outer_taken, nested[i].inner_taken);
			print_order(nested[j].outer_taken, nested[j].inner_taken);
			fail("locks of a kind are taken in both orders");
		}
	}
}

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	if (self >= 0)
		renew_lock(find_lock(mutex, true), __builtin_return_address(0));
	return __real_pthread_mutex_init(mutex, attr);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	struct lock *l = self >= 0 ? find_lock(mutex, false) : NULL;

	if (l && l->owner >= 0)
		fail("a mutex ends that %s holds", threads[l->owner].name);
	for (int i = 0; l && i < thread_count; i++) {
		if (threads[i].blocked && threads[i].channel == l)
			fail("a mutex ends that %s waits for", threads[i].name);
	}
	return __real_pthread_mutex_destroy(mutex);
}

static void own(struct lock *l, void *where)
{
	struct thread *t = &threads[self];

	l->owner = self;
	if (l->depth++)
		return;
	if (t->held_count == HELD_MAX)
		fail("holds more than %d locks", HELD_MAX);
	t->held[t->held_count].lock = l;
	t->held[t->held_count++].where = where;
}

static int take(pthread_mutex_t *mutex, void *where)
{
	struct lock *l = find_lock(mutex, true);

	note_order(&threads[self], l, where);
	/* A recursive one can be had again. */
	if (l->owner == self && __real_pthread_mutex_trylock(mutex) != 0)
		fail("takes a lock that it holds");
	if (l->owner == self) {
		l->depth++;
		return 0;
	}
	while (l->owner >= 0)
		block(l, NEVER, NULL, 0, "a lock", where, true);
	own(l, where);
	return __real_pthread_mutex_lock(mutex);
}

static int leave(pthread_mutex_t *mutex)
{
	struct lock *l = find_lock(mutex, true);
	struct thread *t = &threads[self];
	unsigned at = t->held_count;

	if (l->owner != self)
		fail("unlocks what it does not hold");
	if (--l->depth == 0) {
		while (at > 0 && t->held[at - 1].lock != l)
			at--;
		t->held_count--;
		memmove(&t->held[at - 1], &t->held[at],
			(t->held_count - (at - 1)) * sizeof(t->held[0]));
		l->owner = -1;
		sched_wake(l);
	}
	return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (self < 0)
		return __real_pthread_mutex_lock(mutex);
	sched_point("lock");
	threads[self].where = __builtin_return_address(0);
	return take(mutex, __builtin_return_address(0));
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	struct lock *l;
	int error;

	if (self < 0)
		return __real_pthread_mutex_trylock(mutex);
	sched_point("trylock");
	l = find_lock(mutex, true);
	if (l->owner >= 0 && l->owner != self)
		return EBUSY;
	error = __real_pthread_mutex_trylock(mutex);
	if (!error)
		own(l, __builtin_return_address(0));
	return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int result;

	if (self < 0)
		return __real_pthread_mutex_unlock(mutex);
	result = leave(mutex);
	sched_point("unlock");
	return result;
}

int __real_pthread_once(pthread_once_t *once, void (*init)(void));
int __wrap_pthread_once(pthread_once_t *once, void (*init)(void));
int __wrap_pthread_once(pthread_once_t *once, void (*init)(void))
{
	int result;

	sched_hold();
	result = __real_pthread_once(once, init);
	sched_resume();
	return result;
}

/* ---- conditions ---- */

static int64_t monotonic_base = 1000 * SECOND;
static int64_t realtime_base = 1700000000 * SECOND;

/* The program's conditions all go by the monotonic clock; one by the other would be far away. */
static int64_t deadline_of(const struct timespec *until)
{
	int64_t at = until->tv_sec * SECOND + until->tv_nsec;

	return at > realtime_base / 2 ? at - realtime_base : at - monotonic_base;
}

int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	struct lock *l;

	if (self < 0)
		return __real_pthread_mutex_timedlock(mutex, until);
	sched_point("timedlock");
	l = find_lock(mutex, true);
	note_order(&threads[self], l, __builtin_return_address(0));
	while (l->owner >= 0 && now_ns < deadline_of(until))
		block(l, deadline_of(until), NULL, 0, "a lock, for a while",
		      __builtin_return_address(0), true);
	if (l->owner >= 0)
		return ETIMEDOUT;
	own(l, __builtin_return_address(0));
	return __real_pthread_mutex_lock(mutex);
}

/* Waits end early now and then, as POSIX allows. */
static int wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline, void *where)
{
	bool woken, early = rnd_one_in(50);

	leave(mutex);
	woken = block(cond, early ? now_ns : deadline, NULL, 0, "a condition", where, false);
	take(mutex, where);
	return woken || early || deadline > now_ns ? 0 : ETIMEDOUT;
}

int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (self < 0)
		return __real_pthread_cond_wait(cond, mutex);
	return wait_on(cond, mutex, NEVER, __builtin_return_address(0));
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	if (self < 0)
		return __real_pthread_cond_timedwait(cond, mutex, until);
	return wait_on(cond, mutex, deadline_of(until), __builtin_return_address(0));
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	if (self < 0)
		return __real_pthread_cond_signal(cond);
	wake_one(cond);
	sched_point("signal");
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (self < 0)
		return __real_pthread_cond_broadcast(cond);
	sched_wake(cond);
	sched_point("broadcast");
	return 0;
}

/* ---- time ---- */

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
	int64_t at = now_ns + (real ? realtime_base : monotonic_base);

	if (self < 0)
		return __real_clock_gettime(clock, time);
	*time = (struct timespec){at / SECOND, at % SECOND};
	return 0;
}

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (self < 0)
		return __real_nanosleep(time, left);
	block(NULL, now_ns + time->tv_sec * SECOND + time->tv_nsec, NULL, 0, "nanosleep",
	      __builtin_return_address(0), false);
	return 0;
}

/* ---- descriptors that are waited for ---- */

static int64_t after(int timeout_ms)
{
	return timeout_ms < 0 ? NEVER : now_ns + timeout_ms * MS;
}

static int wait_for_any(struct pollfd *fds, unsigned count, int64_t deadline, const char *what,
			void *where)
{
	int ready;

	sched_point(what);
	while ((ready = __real_poll(fds, count, 0)) == 0 && now_ns < deadline)
		block(NULL, deadline, fds, count, what, where, false);
	return ready;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (self < 0)
		return __real_poll(fds, count, timeout);
	return wait_for_any(fds, (unsigned)count, after(timeout), "poll",
			    __builtin_return_address(0));
}

int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	int64_t until = timeout ? now_ns + timeout->tv_sec * SECOND + timeout->tv_nsec : NEVER;

	if (self < 0)
		return __real_ppoll(fds, count, timeout, mask);
	return wait_for_any(fds, (unsigned)count, until, "ppoll", __builtin_return_address(0));
}

int __real_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
	struct pollfd fd = {.fd = epoll, .events = POLLIN};
	int64_t deadline = after(timeout);
	int ready;

	if (self < 0)
		return __real_epoll_wait(epoll, events, count, timeout);
	sched_point("epoll_wait");
	while ((ready = __real_epoll_wait(epoll, events, count, 0)) == 0 && now_ns < deadline)
		block(NULL, deadline, &fd, 1, "epoll_wait", __builtin_return_address(0), false);
	return ready;
}

/* ---- what differs between machines ---- */

ssize_t __wrap_getrandom(void *data, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *data, size_t size, unsigned flags)
{
	(void)flags;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)data)[i] = (uint8_t)rnd();
	return (ssize_t)size;
}

pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
	return 4242;
}

long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 4
									    : __real_sysconf(name);
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (size_t i = 0; i < 4; i++)
		CPU_SET(i, set);
	return 0;
}
