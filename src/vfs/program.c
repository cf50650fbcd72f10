/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program.h"
#include "vfs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* marks the stop event in the epoll set; an event of a program has the program's id instead */
#define STOP 0

/*
 * The programs that are referenced or have a pidfd, in a list with the newest first. An
 * unreferenced program stays as long as it has a pidfd: its next request will probably come soon,
 * and program_put may be called under locks that forbid closing files.
 */
struct programs {
	struct deadlines *deadlines;
	int end; /* limit of descriptor numbers, from descriptors_end */
	int ready, stop;
	bool started;
	pthread_t thread;
	struct lock lock;
	struct program *first GUARDED_BY(program_class);
	uint64_t last_id GUARDED_BY(program_class);
	unsigned watched GUARDED_BY(program_class); /* number of programs with a pidfd */
};

/* ---- descriptors of processes ---- */

static void unwatch(struct programs *list, struct program *p) REQUIRES(program_class)
{
	close(p->pidfd); /* this also removes it from the epoll set */
	p->pidfd = -1;
	list->watched--;
}

static void watch(struct programs *list, struct program *p) REQUIRES(program_class)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = p->id};
	int fd;

	if (!list->started || !p->process.pid || list->watched >= WATCHED_MAX ||
	    process_open(&p->process, &fd) != 0)
		return;
	p->pidfd = fd;
	list->watched++;
	if (fd >= list->end || epoll_ctl(list->ready, EPOLL_CTL_ADD, fd, &event) != 0)
		unwatch(list, p);
}

/* ---- the list ---- */

static struct program *find_program(const struct programs *list, uid_t uid,
				    const struct process *process) REQUIRES(program_class)
{
	struct program *p = list->first;

	while (p && (p->ended || p->uid != uid || !process_same(&p->process, process)))
		p = p->next;
	return p;
}

static void unlist(struct program *p) REQUIRES(program_class)
{
	if (!p->back)
		return;
	*p->back = p->next;
	if (p->next)
		p->next->back = p->back;
	p->back = NULL;
}

/*
 * Frees the oldest unreferenced program if no more pidfds are allowed, to make room for another
 * one.
 */
static void drop_idle(struct programs *list) REQUIRES(program_class)
{
	struct program *idle = NULL;

	if (list->watched < WATCHED_MAX)
		return;
	for (struct program *p = list->first; p; p = p->next) {
		if (!p->references)
			idle = p;
	}
	if (!idle)
		return;
	unwatch(list, idle);
	unlist(idle);
	free(idle);
}

static struct program *add_program(struct programs *list, uid_t uid, const struct process *process)
	REQUIRES(program_class)
{
	struct program *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	drop_idle(list);
	*p = (struct program){.uid = uid,
			      .process = *process,
			      .list = list,
			      .id = ++list->last_id,
			      .pidfd = -1,
			      .next = list->first,
			      .back = &list->first};
	/* No use after free: drop_idle unlinks the programs that it frees. */
	if (p->next)
		p->next->back = &p->next; /* NOLINT(clang-analyzer-unix.Malloc) */
	list->first = p;
	watch(list, p);
	return p;
}

struct program *program_of(struct vfs *v, const struct request *who)
{
	struct programs *list = v->programs;
	struct process process;
	struct program *p;

	process_of_thread(who->pid, &process);
	lock_acquire(&list->lock, &program_class);
	p = find_program(list, who->uid, &process);
	if (!p)
		p = add_program(list, who->uid, &process);
	if (p)
		p->references++;
	lock_release(&list->lock, &program_class);
	return p;
}

struct program *program_get(struct program *p)
{
	lock_acquire(&p->list->lock, &program_class);
	p->references++;
	lock_release(&p->list->lock, &program_class);
	return p;
}

/* Drops a reference. Returns whether the program is to be freed. */
static bool program_let_go(struct program *p) REQUIRES(program_class)
{
	bool gone = --p->references == 0 && p->pidfd < 0;

	if (gone)
		unlist(p);
	return gone;
}

void program_put(struct program *p)
{
	struct programs *list = p ? p->list : NULL;
	bool gone;

	if (!p)
		return;
	lock_acquire(&list->lock, &program_class);
	gone = program_let_go(p);
	lock_release(&list->lock, &program_class);
	if (gone)
		free(p);
}

/* Finds out how the program ended; then closes its pidfd, which is no longer needed. */
static void find_how(struct program *p) REQUIRES(program_class)
{
	if (!p->ended || p->pidfd < 0)
		return;
	p->how = process_how_ended(p->pidfd);
	if (p->how != PROCESS_UNKNOWN)
		unwatch(p->list, p);
}

bool program_has_ended(struct program *p, enum process_end *how)
{
	bool ended;

	lock_acquire(&p->list->lock, &program_class);
	find_how(p);
	ended = p->ended;
	*how = p->how;
	lock_release(&p->list->lock, &program_class);
	return ended;
}

/* ---- runs: batches of a program's saves ---- */

static uint64_t program_random_run(void)
{
	uint64_t id = 0;

	while (!id && getrandom(&id, sizeof(id), 0) > 0)
		;
	return id;
}

uint64_t program_run(struct program *p)
{
	const int64_t now = clock_ms();
	uint64_t run;

	if (!p)
		return program_random_run();
	lock_acquire(&p->list->lock, &program_class);
	if (!p->run || (!p->ended && now - p->run_last >= END_MS))
		p->run = program_random_run();
	p->run_last = now;
	run = p->run;
	lock_release(&p->list->lock, &program_class);
	return run;
}

struct history_note program_note(struct program *p)
{
	return (struct history_note){.batch = p ? program_run(p) : 0,
				     .apart = true,
				     .program = p && p->process.pid ? p->process.name : NULL};
}

/* ---- deadlines that end with a program ---- */

static void hasten_deadline(const struct program_end *end, int64_t now)
{
	deadline_hasten(end->program->list->deadlines, end->deadline, now);
}

void program_end_await(struct program_end *end, struct program *p, struct deadline *deadline)
{
	*end = (struct program_end){.program = program_get(p), .deadline = deadline};
	lock_acquire(&p->list->lock, &program_class);
	end->next = p->ends;
	end->back = &p->ends;
	if (end->next)
		end->next->back = &end->next;
	p->ends = end;
	lock_release(&p->list->lock, &program_class);
}

void program_end_hasten(struct program_end *end)
{
	struct program *p = end->program;

	if (!p)
		return;
	lock_acquire(&p->list->lock, &program_class);
	if (p->ended)
		hasten_deadline(end, clock_ms());
	lock_release(&p->list->lock, &program_class);
}

bool program_end_has_come(const struct program_end *end)
{
	struct program *p = end->program;
	bool ended;

	if (!p)
		return false;
	lock_acquire(&p->list->lock, &program_class);
	ended = p->ended;
	lock_release(&p->list->lock, &program_class);
	return ended;
}

void program_end_clear(struct program_end *end)
{
	struct program *p = end->program;

	if (!p)
		return;
	lock_acquire(&p->list->lock, &program_class);
	*end->back = end->next;
	if (end->next)
		end->next->back = end->back;
	lock_release(&p->list->lock, &program_class);
	end->program = NULL;
	program_put(p);
}

static struct program *find_id(const struct programs *list, uint64_t id) REQUIRES(program_class)
{
	struct program *p = list->first;

	while (p && p->id != id)
		p = p->next;
	return p;
}

static void program_ended(struct programs *list, struct program *p) REQUIRES(program_class)
{
	int64_t now = clock_ms();

	p->ended = true;
	/*
	 * How the program ended may only be known later: if it is referenced, keep the pidfd, but
	 * poll it no longer.
	 */
	if (p->references && epoll_ctl(list->ready, EPOLL_CTL_DEL, p->pidfd, NULL) == 0) {
		for (const struct program_end *end = p->ends; end; end = end->next)
			hasten_deadline(end, now);
		return;
	}
	unwatch(list, p);
	unlist(p);
	if (!p->references)
		free(p);
}

/* ---- the watching thread ---- */

/*
 * Handles events of the epoll set. Returns false if the thread must stop. Events are taken under
 * the lock, so that none is handled twice.
 */
static bool take_events(struct programs *list)
{
	struct epoll_event events[16];
	bool goes_on = true;
	int count;

	lock_acquire(&list->lock, &program_class);
	count = epoll_wait(list->ready, events, ARRAY_SIZE(events), 0);
	for (int i = 0; i < count; i++) {
		/* NULL for the stop event, or if the program was dropped meanwhile (drop_idle). */
		struct program *p = find_id(list, events[i].data.u64);

		if (p)
			program_ended(list, p);
		goes_on = goes_on && events[i].data.u64 != STOP;
	}
	lock_release(&list->lock, &program_class);
	return goes_on;
}

/*
 * Handles all events that are there. Calls take_events even if there is none: the watching thread
 * may be handling one, under the lock.
 */
void programs_settle(struct programs *list)
{
	struct pollfd ready = {list->ready, POLLIN, 0};

	while (list->started && take_events(list) && poll(&ready, 1, 0) > 0)
		;
}

static void *run_watcher(void *closure)
{
	struct programs *list = closure;
	struct pollfd ready = {list->ready, POLLIN, 0};

	while (poll(&ready, 1, -1) >= 0 || errno == EINTR) {
		if (!take_events(list))
			break;
	}
	return NULL;
}

/* Starts the thread with all signals blocked. */
static bool start_thread(struct programs *list)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&list->thread, NULL, run_watcher, list) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* ---- start and end ---- */

struct programs *programs_new(struct deadlines *deadlines, int end)
{
	struct programs *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->deadlines = deadlines;
	list->end = end;
	list->ready = list->stop = -1;
	lock_init(&list->lock);
	return list;
}

bool programs_watch(struct programs *list)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = STOP};

	list->ready = epoll_create1(EPOLL_CLOEXEC);
	list->stop = eventfd(0, EFD_CLOEXEC);
	list->started = list->ready >= 0 && list->stop >= 0 &&
			epoll_ctl(list->ready, EPOLL_CTL_ADD, list->stop, &event) == 0 &&
			start_thread(list);
	return list->started;
}

void programs_stop(struct programs *list)
{
	if (!list->started)
		return;
	list->started = false;
	eventfd_write(list->stop, 1);
	pthread_join(list->thread, NULL);
}

UNSHARED void programs_free(struct programs *list)
{
	if (!list)
		return;
	programs_stop(list);
	while (list->first) {
		struct program *p = list->first;

		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): unlist unlinks the freed program */
		if (p->pidfd >= 0)
			unwatch(list, p);
		unlist(p);
		free(p);
	}
	if (list->ready >= 0)
		close(list->ready);
	if (list->stop >= 0)
		close(list->stop);
	lock_destroy(&list->lock);
	free(list);
}

/* ---- .animfs/status ---- */

/*
 * Renders one line for each program. A program can name itself anything, so line breaks in its name
 * are replaced.
 */
void programs_render(struct programs *list, struct buf *out)
{
	size_t begin;

	lock_acquire(&list->lock, &program_class);
	for (const struct program *p = list->first; p; p = p->next) {
		if (!p->references)
			continue;
		buf_format(out, "program %d %u ", (int)p->process.pid, (unsigned)p->uid);
		begin = out->size;
		buf_text(out, p->process.pid ? p->process.name : "-");
		buf_one_line(out, begin);
		buf_char(out, '\n');
	}
	lock_release(&list->lock, &program_class);
}
