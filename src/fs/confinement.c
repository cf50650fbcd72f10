/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confinement.c - the mount keeps what serving it takes: SOURCE, the state directory, and the log.
 */
#include "fs.h"

#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/*
 * In SOURCE it is one of its folders. Elsewhere it is made now, since it cannot be later; where
 * only others may make it, what is above it can be read.
 */
static int hold_state(struct fs *fs, int *fd)
{
	int error = state_hold(fs->state, fd);

	if (error != ENOENT)
		return error;
	*fd = fcntl(state_above(fs->state), F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? errno : 0;
}

static bool limit(struct fs *fs, struct err *err)
{
	struct confine_place places[2] = {{fs->root, !fs->read_only}, {-1, !fs->read_only}};
	int error = fs->options->state ? hold_state(fs, &places[1].fd) : 0;
	bool fine;

	if (error)
		return err_system(err, error, fs->options->state);
	fine = confine(places, ARRAY_SIZE(places), &fs->confined, err);
	if (places[1].fd >= 0)
		close(places[1].fd);
	return fine;
}

/* The system log's socket, and its time zone: neither can be opened later. */
static void hold_log(void)
{
	tzset();
	openlog("animfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

bool fs_confine(struct fs *fs, bool background)
{
	struct err err = {.code = ERR_NONE};
	int error;

	if (background)
		hold_log();
	if (fs->options->unconfined)
		return true;
	error = unmounter_start(fs->session, fs->options->mountpoint, &fs->unmounter);
	if (error)
		err_system(&err, error, "the unmounter");
	else if (limit(fs, &err))
		return true;
	fprintf(stderr, "animfs: cannot be confined: %s\n", err.message);
	return false;
}
