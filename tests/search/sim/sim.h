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
#define MS ((int64_t)1000000) /* virtual time is in ns */
#define SECOND (1000 * MS)

struct sim_options {
	uint64_t seed;
	uint64_t steps; /* number of steps after which programs begin nothing new */
	uint64_t stop;  /* the step at which the run ends with a report; 0: it does not */
	bool trace;
	bool no_faults;
	bool faults; /* disk calls fail in this run */
	bool slow;   /* disk calls are slow now and then */
	const char *dir;
};

extern struct sim_options sim;

/* ---- schedule.c ---- */

/* Makes the calling thread the first simulated thread. */
void sched_start(void);
/* Makes a step: another thread may run before this returns. `what` must stay in memory. */
void sched_point(const char *what);
/*
 * Sleeps until another thread wakes the channel or until the deadline (virtual ns). Returns false
 * at the deadline. Check the condition again in either case.
 */
bool sched_wait(const void *channel, int64_t deadline, const char *what);
void sched_wake(const void *channel);
void sched_sleep(int64_t ns);
/* Sleeps on a channel without a deadline, as a thread that has nothing to do. */
void sched_idle(const void *channel, const char *what);
/* Starts a thread of the simulation. `program`: it makes the calls of the program under test. */
void sched_spawn(const char *name, void (*run)(void *), void *closure, bool program);
void sched_pass(int64_t ns); /* lets time pass without a step */
int64_t sched_now(void);     /* returns the virtual time since the start, in ns */
uint64_t sched_step(void);
bool sched_is_over(void); /* returns whether the steps are used up */
bool sched_is_program(void);
int sched_thread(void); /* returns the number of the running thread */
/* Returns whether the running thread holds a lock of this class. */
bool sched_holds(const char *class);
/* Keeps all other threads from running until the matching sched_resume. */
void sched_hold(void);
void sched_resume(void);
uint64_t sched_hash(void);
void sched_end(void);

/* rnd returns the next random number of the seed; rnd_below(0) returns 0. */
uint64_t rnd(void);
unsigned rnd_below(unsigned limit);
bool rnd_one_in(unsigned n);

/* Prints a line if --trace was given. */
__attribute__((format(printf, 1, 2))) void trace(const char *format, ...);
/* Reports something that must not happen, with the step, and ends the process. */
_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
/* ---- disk.c ---- */

/* Makes calls of the program fail from now on, where the seed chooses. */
void disk_set_faults(bool on);
extern unsigned disk_faults; /* number of calls that failed */

/* ---- kernel.c ---- */

struct kernel;
struct kfile;
struct vfs;

extern const struct kernel sim_kernel; /* receives the notifications */
void kernel_start(struct vfs *v);
/* Drops the whole tree from the caches: the kernel forgets all names. */
void kernel_drop_caches(void);
/* Drops an unused dentry, if there is one. */
void kernel_shrink(void);
/*
 * Checks that the program does not know any number that was forgotten, unless it is the number of a
 * name that is found when all are looked up: attributes given to a view keep its node.
 */
void kernel_check_forgotten(void (*look_up_all)(void));
void kernel_unmount(void);
/* Makes the calling thread another process, which has nothing open. */
void kernel_process_ends(void);
/* Returns the number of the calling process, which no other process has. */
int kernel_process(void);
/*
 * Returns how long the process's system calls, together, have waited for a thread of the mount to
 * take their requests, or for others in the kernel. The program under test cannot know that time.
 */
int64_t kernel_delay(void);

/* System calls on paths below the mount: 0 or an errno. */
int k_open(const char *path, int flags, mode_t mode, struct kfile **file);
int k_close(struct kfile *file);
/*
 * Closes a file that is mapped, writes through the mapping, and unmaps it. EFAULT stands for
 * SIGBUS. The result of saving comes with the RELEASE, so no program gets it.
 */
int k_close_mapped(struct kfile *file, const char *data, size_t size);
/*
 * Waits until the program has got the RELEASE of each closed file: close() does not wait for that.
 */
void k_await_releases(void);
/* Returns what read(2) does, or a negated errno. */
long k_read(struct kfile *file, void *data, size_t size);
/* Reads through a mapping: pages only, without asking for the size. */
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
/* Calls `each` for every name in a folder but "." and "..". */
int k_list(const char *path, void (*each)(void *closure, const char *name, unsigned type),
	   void *closure);

/* ---- programs.c ---- */

/* Makes the first contents of SOURCE, with make_game. */
void programs_make_source(const char *source);
void programs_start(const char *source);
void programs_await(void);
/*
 * Checks, once all programs rest, that every acknowledged save is in the views and on the disk, and
 * that saves that others replaced are in the history.
 */
void programs_check(void);
/* Looks up all names of the mount. */
void programs_walk(void);
void programs_end(void);
extern unsigned programs_saved, programs_refused, programs_read, programs_moved;

#endif
