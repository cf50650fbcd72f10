/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.h - the progress of a command over many files: a bar on a terminal, elsewhere a line now
 * and then; and its interruption by signals. All of it on stderr. Thread-safe.
 *
 *	struct progress p;
 *	progress_begin(&p, "export", count);
 *	... jobs: while (!progress_stopped(&p)) ... progress_step(&p, bytes); ...
 *	progress_end(&p);
 */
#ifndef ANIMFS_CMD_PROGRESS_H
#define ANIMFS_CMD_PROGRESS_H

#include "animfs/base.h"
#include <pthread.h>

struct progress {
	const char *verb;
	size_t count, done;
	uint64_t bytes;
	int64_t began, shown; /* times in milliseconds */
	bool terminal;
	_Atomic bool stop;
	pthread_mutex_t lock;
};

/*
 * Begins showing progress. Until the end, SIGINT, SIGTERM and SIGHUP stop the work; a second signal
 * kills.
 */
void progress_begin(struct progress *p, const char *verb, size_t count);
/* Counts one more finished file, with this many bytes of text. */
void progress_step(struct progress *p, size_t bytes);
/* Prints "animfs: " and a message, without disturbing the bar. */
void progress_message(struct progress *p, const char *message);
/* Prints lines unchanged: to stderr, and to standard output. */
void progress_print(struct progress *p, struct bytes lines);
void progress_output(struct progress *p, struct bytes lines);
/* Stops the work, as the remaining files would fail in the same way. */
void progress_stop(struct progress *p);
/* Should the work stop? */
bool progress_stopped(const struct progress *p);
/* Removes the bar. Returns true if a signal stopped the work. */
bool progress_end(struct progress *p);

#endif
