/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sim.h - the mount's own code in one process without a kernel mount, and models of the rest.
 *
 *   main.c      options; one child process for each run; counts those that passed and failed
 *   schedule.c  one thread runs at a time; a seed decides which one goes on at each step
 *   disk.c      the calls that reach the disk: a step each, stamped with virtual time, and failing
 *               where the seed says so
 *   kernel.c    the kernel's side of the mount: names, attributes and pages as Linux keeps them
 *   programs.c  programs using the mount: savers, readers, movers; and the texts that they may see
 *
 * The border is vfs.h: kernel.c makes the calls that libfuse makes of the kernel's requests, and is
 * the struct kernel that the mount notifies. Nothing of src/fuse is in it.
 *
 * A run is a function of its seed: virtual time, random numbers, process ids and inode numbers come
 * from here, and the disk is a new tmpfs. The same seed gives the same steps, so that
 * "sim --seed N --stop STEP --trace" arrives at the step that failed.
 */
#ifndef ANIMFS_TESTS_SEARCH_SIM_SIM_H
#define ANIMFS_TESTS_SEARCH_SIM_SIM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define NEVER INT64_MAX
#define MS ((int64_t)1000000) /* in ns */
#define SECOND (1000 * MS)

struct sim_options {
	uint64_t seed;
	uint64_t steps; /* after which programs begin nothing new */
	uint64_t stop;  /* ends the run there, with a report; 0: never */
	bool trace;
	bool no_faults;
	bool faults; /* disk calls fail in this run */
	bool slow;   /* and are slow, now and then */
	const char *dir;
};

extern struct sim_options sim;

/* ---- schedule.c ---- */

/* The calling thread becomes the first of the simulated ones. */
void sched_start(void);
/* A step: another thread may run before this returns. `what` stays in memory. */
void sched_point(const char *what);
/*
 * Sleeps until another thread wakes the channel or until the deadline (virtual ns). False: the
 * deadline. The condition waited for must be checked again.
 */
bool sched_wait(const void *channel, int64_t deadline, const char *what);
void sched_wake(const void *channel);
void sched_sleep(int64_t ns);
/* Sleeps on the channel without a deadline, as a thread that has nothing to do. */
void sched_idle(const void *channel, const char *what);
/* A thread of the simulation itself; `program`: it makes the calls of the program under test. */
void sched_spawn(const char *name, void (*run)(void *), void *closure, bool program);
void sched_pass(int64_t ns); /* time goes on, without a step */
int64_t sched_now(void);     /* virtual ns since the start */
uint64_t sched_step(void);
bool sched_is_over(void); /* the steps are used up */
bool sched_is_program(void);
int sched_thread(void); /* the number of the running thread */
/* Does the running thread hold a lock of this class? */
bool sched_holds(const char *class);
/* Until the matching sched_resume no other thread runs. */
void sched_hold(void);
void sched_resume(void);
uint64_t sched_hash(void);
void sched_end(void);

/* The next number of the seed; below(0) is 0. */
uint64_t rnd(void);
unsigned rnd_below(unsigned limit);
bool rnd_one_in(unsigned n);

/* Printed with --trace. */
__attribute__((format(printf, 1, 2))) void trace(const char *format, ...);
/* Something that must not happen: says so with the step and ends the process. */
_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
/* ---- disk.c ---- */

/* From here on calls that the program makes fail where the seed says so. */
void disk_set_faults(bool on);
extern unsigned disk_faults; /* how many did */

/* ---- kernel.c ---- */

struct kernel;
struct kfile;
struct vfs;

extern const struct kernel sim_kernel; /* gets the notifications */
void kernel_start(struct vfs *v);
/* The whole tree is dropped from the caches, and the kernel forgets all names. */
void kernel_drop_caches(void);
/* Drops an unused dentry, if there is one. */
void kernel_shrink(void);
/*
 * Every number that was ever forgotten must be unknown to the program, unless it is the number of a
 * name that is found when all are looked up: attributes given to a view keep its node.
 */
void kernel_check_forgotten(void (*look_up_all)(void));
void kernel_unmount(void);
/* The calling thread is another process from here on. It has nothing open. */
void kernel_process_ends(void);
/* The number of that process, which no other has. */
int kernel_process(void);
/*
 * How long its system calls, together, have waited for a thread of the mount that takes the
 * request, or for others in the kernel. The program under test cannot know of that.
 */
int64_t kernel_delay(void);

/* System calls on paths below the mount: 0 or an errno. */
int k_open(const char *path, int flags, mode_t mode, struct kfile **file);
int k_close(struct kfile *file);
/*
 * Closes a file that is mapped, writes through the mapping, and unmaps it. EFAULT: SIGBUS. The
 * verdict comes with the RELEASE, so that no program gets it.
 */
int k_close_mapped(struct kfile *file, const char *data, size_t size);
/* Until the program knows of all that is closed: close() does not wait for that. */
void k_await_releases(void);
/* Returns what read(2) does, or a negated errno. */
long k_read(struct kfile *file, void *data, size_t size);
/* Through a mapping: pages only, no look at the size. */
long k_read_mapped(struct kfile *file, int64_t offset, void *data, size_t size);
long k_write(struct kfile *file, const void *data, size_t size);
int k_seek(struct kfile *file, int64_t offset);
int k_truncate(struct kfile *file, int64_t size);
int k_fsync(struct kfile *file);
int k_fstat(struct kfile *file, struct stat *st);
int k_stat(const char *path, struct stat *st);
int k_unlink(const char *path);
int k_rmdir(const char *path);
int k_mkdir(const char *path, mode_t mode);
int k_rename(const char *from, const char *to, unsigned flags);
int k_link(const char *from, const char *to);
int k_chmod(const char *path, mode_t mode);
/* Calls for each name but "." and "..". */
int k_list(const char *path, void (*each)(void *closure, const char *name, unsigned type),
	   void *closure);

/* ---- programs.c ---- */

/* Makes the first contents of SOURCE, with make_game. */
void programs_make_source(const char *source);
void programs_start(const char *source);
void programs_await(void);
/*
 * Once all is at rest: every acknowledged save is there, in the views and on the disk; and those
 * that others replaced are in the history.
 */
void programs_check(void);
/* Looks up every name there is. */
void programs_walk(void);
void programs_end(void);
extern unsigned programs_saved, programs_refused, programs_read, programs_moved;

#endif
