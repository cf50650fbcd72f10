/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - identifies the program that makes a request, and notices when it ends.
 *
 * A program is a process of a user while it runs one command: exec starts another. Requests whose
 * process is unknown (process.h) count as one program per user, whose end is never known.
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
	/* Constant. */
	uid_t uid;
	struct process process; /* pid 0: unknown */
	struct programs *list;
	uint64_t id; /* never 0 */
	/* Private to program.c. */
	uint32_t references GUARDED_BY(program_class);
	int pidfd GUARDED_BY(program_class); /* -1: none, or the process has ended */
	bool ended GUARDED_BY(program_class);
	enum process_end how GUARDED_BY(program_class); /* how it ended */
	uint64_t run GUARDED_BY(program_class);         /* see program_run */
	int64_t run_last GUARDED_BY(program_class);     /* when it was asked for (clock_ms) */
	struct program_end *ends GUARDED_BY(program_class);
	struct program *next GUARDED_BY(program_class), **back GUARDED_BY(program_class);
};

struct programs;
/* `end`: see descriptors_end. Starts no thread; NULL: no memory. */
struct programs *programs_new(struct deadlines *deadlines, int end);
/* Starts the thread; false if that fails. Before this, no program's end is noticed. */
bool programs_watch(struct programs *list);
void programs_stop(struct programs *list);
/* Notes the end of each program that has ended by now; the thread would do so soon. */
void programs_settle(struct programs *list);
void programs_free(struct programs *list); /* when no program is referenced; NULL is fine */

/*
 * The program that makes this request, which must not have been answered yet. Reads /proc. Returns
 * a reference; NULL: no memory.
 */
struct program *program_of(struct vfs *v, const struct request *who) EXCLUDES(vfs_class);
struct program *program_get(struct program *p);
void program_put(struct program *p); /* NULL is fine */

/* Is it known to have ended? *how: the way it ended, if the kernel has reported that yet. */
bool program_has_ended(struct program *p, enum process_end *how);

/*
 * The id of the batch in history that the program's saves belong to now: the same for all files, as
 * long as less than END_MS pass between two calls, or the program has ended. NULL: a new one.
 */
uint64_t program_run(struct program *p);
/*
 * For history: the program saves something that makes a version of its own. Valid as long as the
 * program; NULL: the program is unknown.
 */
struct history_note program_note(struct program *p);

/* Hastens a deadline when a program ends. Embedded in the same struct as the deadline. */
struct program_end {
	/* Guarded by the lock of the programs. */
	struct program *program; /* referenced; NULL: not waiting */
	struct deadline *deadline;
	struct program_end *next, **back;
};
/* Starts waiting for a program. The deadline need not be set; it is only hastened, never set. */
void program_end_await(struct program_end *end, struct program *p, struct deadline *deadline);
/*
 * Call it after setting the deadline: makes it due now if the program has already ended. Does
 * nothing if not waiting.
 */
void program_end_hasten(struct program_end *end);
/* Is it waiting for a program that is known to have ended? */
bool program_end_has_come(const struct program_end *end);
/* Stops waiting. Does nothing if not waiting. */
void program_end_clear(struct program_end *end);

/* Renders the programs that are referenced, as lines of .animfs/status. */
void programs_render(struct programs *list, struct buf *out);

#endif
