/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.h - how far a command over many files is: a bar on a terminal, elsewhere a line now and
 * then; and whether it is to stop. All of it on stderr. Thread-safe.
 *
 *	struct progress p;
 *	progress_begin(&p, "export", count);
 *	... jobs: while (!progress_stopped(&p)) ... progress_step(&p, bytes); ...
 *	progress_end(&p);
 */
#ifndef ANIMFS_PROGRESS_H
#define ANIMFS_PROGRESS_H

#include "animfs/base.h"
#include <pthread.h>

struct progress {
	const char *verb;
	size_t count, done;
	uint64_t bytes;
	int64_t began, told; /* ms */
	bool terminal;
	_Atomic bool stop;
	pthread_mutex_t lock;
};

/* From here to the end SIGINT, SIGTERM and SIGHUP stop the work, and a second one kills. */
void progress_begin(struct progress *p, const char *verb, size_t count);
/* One of them is done, and so many bytes more of text. */
void progress_step(struct progress *p, size_t bytes);
/* A message, on a line of its own behind "animfs: ". */
void progress_tell(struct progress *p, const char *message);
/* Lines as they are; and such on standard output. */
void progress_print(struct progress *p, struct bytes lines);
void progress_output(struct progress *p, struct bytes lines);
/* Ends the work, since the rest would fail as this did. */
void progress_stop(struct progress *p);
/* Is there to be no more work? */
bool progress_stopped(const struct progress *p);
/* Takes the bar away. True when a signal ended the work. */
bool progress_end(struct progress *p);

#endif
