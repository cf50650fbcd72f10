/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedule.c - threads, locks, waits and time, by a seed.
 *
 * Every simulated thread is a real one that sleeps until it gets the baton; the thread that has it
 * runs until its next step and there passes it on, or keeps it. Locks and conditions are in the
 * tables of this file; the real mutexes are taken as well, and are always free then.
 *
 * Virtual time moves a little with each step, now and then by a lot (as if another process had the
 * processor), and to the next deadline when all threads sleep. If all sleep without a deadline,
 * that is a deadlock.
 *
 * The linker puts the __wrap_ functions in the place of the C library's (-Wl,--wrap).
 */
#include "sim.h"

#include "util/lock.h"

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
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 96
#define LOCKS_MAX 4096 /* a power of two */
#define LOCKED_MAX 16
#define HANG_SECONDS 60      /* real time without a step after which the run counts as hung */
#define STUCK (300 * SECOND) /* longest virtual time of one wait for a lock or an answer */

struct mutex {
	const pthread_mutex_t *real;
	int owner; /* number of the thread that has the lock, or -1 */
};

struct thread {
	char name[24];
	pthread_t real;
	uint32_t go; /* futex that wakes the thread */
	bool used, program, done, blocked;
	bool detached; /* no thread joins this one: when it is done, another may take its slot */
	const void *channel;
	int64_t deadline;
	struct pollfd *fds; /* descriptors whose readiness also wakes the thread */
	unsigned fd_count;
	bool woken, busy; /* busy: the thread waits for a lock that another thread has */
	int64_t since;
	const char *what;
	void *where;
	uint64_t frozen; /* the thread does not run until this step if others can run */
	struct {
		struct mutex *mutex;
		const char *class; /* class of the lock, or NULL */
		void *where;
	} locked[LOCKED_MAX];
	unsigned locked_count;
	void *(*start)(void *);
	void (*run)(void *);
	void *closure;
};

static struct thread threads[THREADS_MAX];
static int thread_count;
static int current = -1; /* the running thread; -1: outside of a simulation */
static uint64_t step, hash = 0xcbf29ce484222325;
static int64_t now_ns;
static unsigned alone; /* number of sched_hold calls without their sched_resume */
static unsigned stickiness = 4, pace_ns = 1000, pauses = 1000; /* chosen by the seed */
static uint64_t random_state;
static _Thread_local int self = -1;

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
		for (unsigned n = 0; n < t->locked_count; n++) {
			fprintf(stderr, "       holds %s, taken in ",
				t->locked[n].class ? t->locked[n].class : "a mutex");
			print_place(t->locked[n].where);
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
		"sim: seed %llu failed at step %llu; again: build/sim --seed %llu --steps %llu%s "
		"--stop %llu --trace\n",
		(unsigned long long)sim.seed, (unsigned long long)step,
		(unsigned long long)sim.seed, (unsigned long long)sim.steps,
		sim.no_faults ? " --no-faults" : "", (unsigned long long)step);
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

static void on_alarm(int signal_number)
{
	(void)signal_number;
	fprintf(stderr, "sim: no step for %d s\n", HANG_SECONDS);
	die_with_report();
}

/* Reports a crash of the program, or a sanitizer's end of it. */
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

/*
 * UBSan ends a process in a way that the sanitizer's death callback does not see; this option makes
 * it abort.
 */
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

/*
 * Ends the run if a thread waits too long. While some threads wait for each other, others may go
 * on, so this is no deadlock of all.
 */
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

/* Passes the baton to the next thread. The calling thread sleeps until it gets the baton again. */
static void pass_on(void)
{
	int me = self, next;
	bool done = threads[me].done; /* read now: another thread may take the slot at any moment */

	while ((next = choose()) < 0)
		advance_to_deadline();
	if (next == me)
		return;
	pass_to(next);
	if (!done)
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
	if (!alone && rnd_one_in(stickiness))
		pass_on();
	errno = error;
}

static bool block(const void *channel, int64_t deadline, struct pollfd *fds, unsigned count,
		  const char *what, void *where, bool busy)
{
	struct thread *t = &threads[self];
	bool woken;

	if (alone)
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

void sched_idle(const void *channel, const char *what)
{
	block(channel, NEVER, NULL, 0, what, __builtin_return_address(0), false);
}

void sched_wake(const void *channel)
{
	for (int i = 0; i < thread_count; i++) {
		if (threads[i].blocked && threads[i].channel == channel)
			threads[i].woken = true;
	}
}

/* Wakes one thread that waits for the channel, chosen by the seed. */
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

bool sched_holds(const char *class)
{
	for (unsigned i = 0; self >= 0 && i < threads[self].locked_count; i++) {
		const char *locked = threads[self].locked[i].class;

		if (locked && strcmp(locked, class) == 0)
			return true;
	}
	return false;
}

void sched_hold(void)
{
	alone++;
}

void sched_resume(void)
{
	alone--;
}

uint64_t sched_hash(void)
{
	return hash;
}

/* ---- threads ---- */

static struct thread *new_thread(const char *name, bool program)
{
	struct thread *t = threads;

	while (t < &threads[thread_count] && t->used)
		t++;
	if (t == &threads[THREADS_MAX])
		fail("more than %d threads", THREADS_MAX);
	*t = (struct thread){.used = true, .program = program, .deadline = NEVER, .what = "start"};
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (t == &threads[thread_count])
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
	void *result = NULL;

	self = (int)(t - threads);
	await_baton(self);
	if (t->run)
		t->run(t->closure);
	else
		result = t->start(t->closure);
	t->done = true;
	t->used = !t->detached;
	sched_wake(t);
	count_step("end");
	pass_on();
	return result;
}

static int begin(struct thread *t)
{
	int error = __real_pthread_create(&t->real, NULL, trampoline, t);

	if (error)
		fail("no thread: %s", strerror(error));
	return 0;
}

void sched_spawn(const char *name, void (*run)(void *), void *closure, bool program)
{
	struct thread *t = new_thread(name, program);

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

static struct thread *find_thread(pthread_t real)
{
	for (int i = 0; self >= 0 && i < thread_count; i++) {
		if (threads[i].used && pthread_equal(threads[i].real, real))
			return &threads[i];
	}
	return NULL;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	struct thread *t = find_thread(thread);

	while (t && !t->done)
		block(t, NEVER, NULL, 0, "pthread_join", __builtin_return_address(0), false);
	if (t)
		t->used = false;
	return __real_pthread_join(thread, result);
}

int __real_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread)
{
	struct thread *t = find_thread(thread);

	if (t) {
		t->detached = true;
		t->used = !t->done;
	}
	return __real_pthread_detach(thread);
}

/* ---- locks ---- */

static struct mutex mutexes[LOCKS_MAX];
/* The class of the lock that the thread is acquiring by lock_acquire. */
static _Thread_local const struct lock_class *asked_class;
static _Thread_local void *asked_where;

static struct mutex *find_mutex(const pthread_mutex_t *real)
{
	size_t at = ((uintptr_t)real >> 4) * 0x9E3779B1 % LOCKS_MAX;

	for (size_t tries = 0; tries < LOCKS_MAX; tries++) {
		struct mutex *m = &mutexes[(at + tries) % LOCKS_MAX];

		if (m->real && m->real != real)
			continue;
		if (!m->real)
			*m = (struct mutex){real, -1};
		return m;
	}
	fail("more than %d mutexes", LOCKS_MAX);
}

int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

/* The mutex's record stays in the table: records of other mutexes may follow it. */
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	struct mutex *m = self >= 0 ? find_mutex(mutex) : NULL;

	if (m && m->owner >= 0)
		fail("a mutex ends that %s holds", threads[m->owner].name);
	for (int i = 0; m && i < thread_count; i++) {
		if (threads[i].blocked && threads[i].channel == m)
			fail("a mutex ends that %s waits for", threads[i].name);
	}
	return __real_pthread_mutex_destroy(mutex);
}

static void own(struct mutex *m, void *where)
{
	struct thread *t = &threads[self];

	m->owner = self;
	if (t->locked_count == LOCKED_MAX)
		fail("holds more than %d locks", LOCKED_MAX);
	t->locked[t->locked_count].mutex = m;
	t->locked[t->locked_count].class = asked_class ? asked_class->name : NULL;
	t->locked[t->locked_count++].where = where;
}

static int take(pthread_mutex_t *mutex, void *where)
{
	struct mutex *m = find_mutex(mutex);

	if (m->owner == self)
		fail("takes a lock that it holds");
	while (m->owner >= 0)
		block(m, NEVER, NULL, 0, asked_class ? asked_class->name : "a mutex", where, true);
	own(m, where);
	return __real_pthread_mutex_lock(mutex);
}

static int leave(pthread_mutex_t *mutex)
{
	struct mutex *m = find_mutex(mutex);
	struct thread *t = &threads[self];
	unsigned at = t->locked_count;

	if (m->owner != self)
		fail("unlocks what it does not hold");
	while (at > 0 && t->locked[at - 1].mutex != m)
		at--;
	t->locked_count--;
	memmove(&t->locked[at - 1], &t->locked[at],
		(t->locked_count - (at - 1)) * sizeof(t->locked[0]));
	m->owner = -1;
	sched_wake(m);
	return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	void *where = asked_class ? asked_where : __builtin_return_address(0);

	if (self < 0)
		return __real_pthread_mutex_lock(mutex);
	sched_point("lock");
	threads[self].where = where;
	return take(mutex, where);
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	struct mutex *m;
	int error;

	if (self < 0)
		return __real_pthread_mutex_trylock(mutex);
	sched_point("trylock");
	m = find_mutex(mutex);
	if (m->owner >= 0)
		return EBUSY;
	error = __real_pthread_mutex_trylock(mutex);
	if (!error)
		own(m, __builtin_return_address(0));
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

/*
 * Defines a wrapper that notes the class of lock and its caller, so that reports name them and not
 * a line of lock.c.
 */
#define ASKS(name, parameters, arguments)                                                          \
	void __real_lock_##name parameters;                                                        \
	void __wrap_lock_##name parameters;                                                        \
	void __wrap_lock_##name parameters                                                         \
	{                                                                                          \
		asked_class = class;                                                               \
		asked_where = __builtin_return_address(0);                                         \
		__real_lock_##name arguments;                                                      \
		asked_class = NULL;                                                                \
	}

ASKS(acquire, (struct lock * l, struct lock_class *class), (l, class))
ASKS(acquire_pair, (struct lock * a, struct lock *b, struct lock_class *class), (a, b, class))

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

/*
 * Returns the deadline of a wait. All conditions of the program use the monotonic clock; a deadline
 * by another clock would be far away.
 */
static int64_t deadline_of(const struct timespec *until)
{
	int64_t at = until->tv_sec * SECOND + until->tv_nsec;

	return at > realtime_base / 2 ? at - realtime_base : at - monotonic_base;
}

/* Waits for a condition. Waits end early now and then, as POSIX allows. */
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

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int64_t deadline = after(timeout);
	int ready;

	if (self < 0)
		return __real_poll(fds, count, timeout);
	sched_point("poll");
	while ((ready = __real_poll(fds, count, 0)) == 0 && now_ns < deadline)
		block(NULL, deadline, fds, (unsigned)count, "poll", __builtin_return_address(0),
		      false);
	return ready;
}

/* ---- sources of differences between machines ---- */

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

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (size_t i = 0; i < 4; i++)
		CPU_SET(i, set);
	return 0;
}
