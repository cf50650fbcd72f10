/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - identifies the program that makes a request, and notices when it ends.
 *
 * A program is a process of a user while it runs one command: exec starts another. Requests whose
 * process is unknown (process.h) count as one program per user, the end of which is never known.
 *
 * Programs are reference-counted. Each has one struct as long as there are references to it, so
 * pointers can be compared.
 *
 * A thread polls pidfds to learn when processes end. There are at most WATCHED_MAX pidfds, and none
 * that would use up DESCRIPTORS_RESERVED: the end of further programs goes unnoticed. So waiting
 * for the end of a program always means waiting for a deadline, which is hastened if the program is
 * seen to end earlier.
 */
#ifndef ANIMFS_VFS_PROGRAM_H
#define ANIMFS_VFS_PROGRAM_H

#include "deadline.h"
#include "disk/history.h"
#include "disk/process.h"

struct vfs;
struct request;
struct buf;

#define WATCHED_MAX 128

struct program {
	/* The fields up to `id` are constant. */
	uid_t uid;
	struct process process; /* pid 0: the process is unknown */
	struct programs *list;
	uint64_t id; /* distinct for each program; never 0 */
	/* These fields are private to program.c. */
	uint32_t references GUARDED_BY(program_class);
	int pidfd GUARDED_BY(program_class); /* -1: there is none, or the process has ended */
	bool ended GUARDED_BY(program_class);
	enum process_end how GUARDED_BY(program_class); /* how the process ended */
	uint64_t run GUARDED_BY(program_class);         /* id that program_run returns */
	/* when `run` was last asked for (clock_ms) */
	int64_t run_last GUARDED_BY(program_class);
	struct program_end *ends GUARDED_BY(program_class);
	struct program *next GUARDED_BY(program_class), **back GUARDED_BY(program_class);
};

struct programs;
/*
 * Makes a list of programs. `end`: as descriptors_end returns. Starts no thread. NULL: no memory.
 */
struct programs *programs_new(struct deadlines *deadlines, int end);
/*
 * Starts the thread that notices the end of programs; returns false if that fails. Before this, no
 * program's end is noticed.
 */
bool programs_watch(struct programs *list);
void programs_stop(struct programs *list);
/* Notes the end of each program that has ended by now, without waiting for the watching thread. */
void programs_settle(struct programs *list);
void programs_free(struct programs *list); /* call it when no program is referenced; NULL is fine */

/*
 * Returns the program that makes this request, with a reference; NULL: no memory. The request must
 * not have been answered yet, since this reads /proc.
 */
struct program *program_of(struct vfs *v, const struct request *who) EXCLUDES(vfs_class);
struct program *program_get(struct program *p);
void program_put(struct program *p); /* NULL is fine */

/*
 * Returns whether the program is known to have ended. *how: the way it ended, if the kernel has
 * reported that yet.
 */
bool program_has_ended(struct program *p, enum process_end *how);

/*
 * Returns the id of the batch in history that the program's saves belong to now. It is the same for
 * all files, as long as less than END_MS pass between two calls, or the program has ended. NULL:
 * returns a new id.
 */
uint64_t program_run(struct program *p);
/*
 * Returns a note for history, for something that the program saves as a version of its own. The
 * note is valid as long as the program is referenced. NULL: the program is unknown.
 */
struct history_note program_note(struct program *p);

/* Hastens a deadline when a program ends. Embedded in the struct that has the deadline. */
struct program_end {
	/* These fields are guarded by the lock of struct programs. */
	struct program *program; /* the awaited program; referenced; NULL: not waiting */
	struct deadline *deadline;
	struct program_end *next, **back;
};
/*
 * Starts waiting for the end of a program, which makes the deadline due if it is set, but never
 * sets it.
 */
void program_end_await(struct program_end *end, struct program *p, struct deadline *deadline);
/*
 * Makes the deadline due now if the program has already ended; call it after setting the deadline.
 * Does nothing if not waiting.
 */
void program_end_hasten(struct program_end *end);
/* Returns whether `end` waits for a program that is known to have ended. */
bool program_end_has_come(const struct program_end *end);
/* Stops waiting. Does nothing if not waiting. */
void program_end_clear(struct program_end *end);

/* Renders the programs that are referenced, as lines of .animfs/status. */
void programs_render(struct programs *list, struct buf *out);

#endif
