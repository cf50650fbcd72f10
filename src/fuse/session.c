/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session.h"

#include "confinement.h"
#include "kernel.h"
#include "loop.h"
#include "ops.h"
#include "sandbox/confine.h"
#include "sandbox/enclose.h"
#include "unmounter.h"
#include "vfs/deadline.h"
#include "vfs/diagnostics.h"
#include "vfs/vfs.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

struct session {
	const struct mount_options *options;
	struct fuse_session *fuse;
	struct kernel kernel;
	struct served served;
	int root; /* descriptor of SOURCE */
	struct state *state;
	int unmounter; /* a pipe to the unmounter process; -1: there is none */
};

/* ---- the INIT request ---- */

/* Set while the reply to INIT is to be changed: see send_answer. */
static _Atomic bool answering_init;

/*
 * Returns whether the mount shows ACLs: they only matter if other users are let in, and no option
 * overrides owners or modes.
 */
static bool has_acls(const struct mount_options *o)
{
	return o->allow_other && o->uid < 0 && o->gid < 0 && o->umask < 0;
}

static void op_init(void *user, struct fuse_conn_info *conn)
{
	struct vfs *v = ((struct served *)user)->vfs;

	conn->time_gran = 1;
	v->unopened_folders = v->watched && (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
	v->unopened_files =
		v->watched && v->read_only && (conn->capable & FUSE_CAP_NO_OPEN_SUPPORT);
	/*
	 * Splicing requests in costs two more calls for each, and only saves a copy of large
	 * writes.
	 */
	conn->want &= ~(unsigned)FUSE_CAP_SPLICE_READ;
	/*
	 * Not with ThreadSanitizer, which does not see that a spliced file is closed only after the
	 * reply.
	 */
#ifndef __SANITIZE_THREAD__
	conn->want |= conn->capable & FUSE_CAP_SPLICE_WRITE;
#endif
	v->acls = has_acls(v->options) && (conn->capable & FUSE_CAP_POSIX_ACL);
	if (v->acls)
		conn->want |= FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK;
	/*
	 * Without FUSE_CAP_PARALLEL_DIROPS the kernel sends the lookups in a folder one by one, and
	 * all of them wait while a file is decoded.
	 */
	conn->want |= conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	answering_init = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
}

/* ---- reading and replying ---- */

#ifdef COUNTS_RELEASES
/*
 * The header of this thread's request, in libfuse's buffer, if the kernel sends it only once
 * (forget, release); else NULL.
 */
static _Thread_local const struct fuse_in_header *final;

static pthread_mutex_t one_reads = PTHREAD_MUTEX_INITIALIZER;

static void let_others_read(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static ssize_t read_request(int fd, void *request, size_t size, struct vfs *v)
{
	ssize_t got = read(fd, request, size);

	if (got >= (ssize_t)sizeof(struct fuse_in_header) && request_is_release(request))
		v->releases++;
	return got;
}

/*
 * Reads a request while no other thread reads. Used if the clock is stopped, so that no request
 * overtakes a release that was sent before. A thread may be cancelled while it reads; it then
 * unlocks the mutex.
 */
static ssize_t read_in_turn(int fd, void *request, size_t size, struct vfs *v)
{
	ssize_t got;

	pthread_mutex_lock(&one_reads);
	pthread_cleanup_push(let_others_read, &one_reads);
	got = read_request(fd, request, size, v);
	pthread_cleanup_pop(true);
	return got;
}

static ssize_t receive(int fd, void *request, size_t size, void *user)
{
	struct vfs *v = ((struct served *)user)->vfs;
	ssize_t got = clock_is_stopped() ? read_in_turn(fd, request, size, v)
					 : read_request(fd, request, size, v);

	/*
	 * ECONNABORTED: the connection ended while the kernel was handing over a request. libfuse
	 * takes ENODEV for the end.
	 */
	if (got < 0 && errno == ECONNABORTED)
		errno = ENODEV;
	final = got >= (ssize_t)sizeof(*final) && request_is_final(request) ? request : NULL;
	return got;
}

/*
 * Sends a reply to the kernel, with two corrections. libfuse before 3.17 claims that
 * FUSE_CAP_PARALLEL_DIROPS is its default, but never sends the flag, so it is added to the reply to
 * INIT. If libfuse has no memory for a forget or release, it refuses the request, and the kernel
 * does not repeat it, so it is executed here; otherwise the node or handle would never be freed.
 */
static ssize_t send_answer(int fd, struct iovec *parts, int count, void *user)
{
	const struct fuse_out_header *out = parts[0].iov_base;
	struct served *served = user;

	if (final && out->unique == final->unique && out->error == -ENOMEM)
		request_finish(served->vfs, final);
	if (answering_init && out->unique) {
		answering_init = false;
		if (count > 1 && parts[1].iov_len >= offsetof(struct fuse_init_out, unused))
			((struct fuse_init_out *)parts[1].iov_base)->flags |= FUSE_PARALLEL_DIROPS;
	}
	return writev(fd, parts, count);
}

static ssize_t splice_answer(int in, off_t *in_at, int out, off_t *out_at, size_t size,
			     unsigned flags, void *user)
{
	(void)user;
	return splice(in, in_at, out, out_at, size, flags);
}

static bool carry_ourselves(struct fuse_session *fuse)
{
	static const struct fuse_custom_io io = {
		.writev = send_answer, .read = receive, .splice_send = splice_answer};

	return fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse)) == 0;
}
#else
static bool carry_ourselves(struct fuse_session *fuse)
{
	(void)fuse;
	return true;
}
#endif

/* ---- the log ---- */

static void log_to_system(const char *line)
{
	syslog(LOG_WARNING, "%s", line);
}

static void libfuse_to_system(enum fuse_log_level level, const char *format, va_list args)
{
	vsyslog((int)level, format, args);
}

/* Opens the system log and loads the time zone now, since a confined process can do neither. */
static void open_log(void)
{
	tzset();
	openlog("animfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

/* ---- serving ---- */

static int session_out_of_memory(void)
{
	fprintf(stderr, "animfs: out of memory\n");
	return 1;
}

/*
 * Returns the exit status after a failed mount. libfuse has printed the reason, if it had memory
 * for that.
 */
static int not_mounted(const struct mount_options *o)
{
	fprintf(stderr, "animfs: %s: not mounted\n", o->mountpoint);
	return 1;
}

/*
 * Blocks the signals that end the session, also in threads that are started from now on: only the
 * main thread receives them, while it is in the loop.
 */
static void block_signals(sigset_t *before)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ending, before);
}

/*
 * Makes malloc use one heap for all threads. Any thread may decode and save a large file: with a
 * heap for each thread, no thread could reuse memory that another has freed, and memory would grow
 * with the number of threads.
 */
static void keep_one_heap(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}

/*
 * Loads libgcc_s, which glibc needs to cancel threads: the session's threads are cancelled at the
 * end, when the confined process can no longer open the library.
 */
static void load_unwinder(void)
{
#ifdef __GLIBC__
	void *frame;

	backtrace(&frame, 1);
#endif
}

/*
 * Reports why the session ended. libfuse has logged why the connection failed, but not why a thread
 * could not be started.
 */
static int not_served(int error)
{
	log_warning("requests are not answered any more: %s", strerror(-error));
	return 1;
}

static int run_session(const struct session *s, bool background)
{
	struct vfs *v = s->served.vfs;
	sigset_t before, ignored;
	int result;

	if (fuse_daemonize(!background) != 0)
		return 1;
	enclose_settle(background);
	if (background) {
		log_write = log_to_system;
		fuse_set_log_func(libfuse_to_system);
	}
	keep_one_heap();
	block_signals(&before);
	if (s->unmounter >= 0)
		unmounter_watch(s->unmounter);
	if (!vfs_watch(v))
		return session_out_of_memory();
	vfs_resume(v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	result = loop_run(s->fuse, (unsigned)s->options->threads);
	block_signals(&ignored);
	vfs_silence(v);
	vfs_finish(v);
	return result < 0 ? not_served(result) : 0;
}

static bool confine_session(struct session *s, bool background)
{
	const struct mount_options *o = s->options;
	struct err err = {.code = ERR_NONE};
	int error;

	if (background)
		open_log();
	if (!o->unconfined)
		load_unwinder();
	error = unmounter_start(s->fuse, o->mountpoint, s->root, &s->unmounter);
	if (!error && o->unconfined)
		return true;
	if (error)
		err_system(&err, error, "the unmounter");
	else if (mount_confine(o, s->root, s->state, vfs_overlay_above(s->served.vfs),
			       &s->served.vfs->confined, &err))
		return true;
	fprintf(stderr, "animfs: cannot be confined: %s\n", err.message);
	return false;
}

/* Mounts, serves and unmounts. When it returns, the connection is closed. */
static int serve_mounted(struct session *s)
{
	bool background = !s->options->foreground && !s->options->debug;
	int status = 1;

	if (fuse_session_mount(s->fuse, s->options->mountpoint) != 0)
		return not_mounted(s->options);
	if (carry_ourselves(s->fuse) && confine_session(s, background))
		status = run_session(s, background);
	if (s->unmounter >= 0)
		unmounter_end(s->fuse, s->unmounter);
	else
		fuse_session_unmount(s->fuse);
	return status;
}

/* ---- arguments for libfuse ---- */

/*
 * Adds the options for libfuse. Ours follow those of mount(8), such as "rw", since the last option
 * wins.
 */
static bool add_options(struct fuse_args *args, const struct mount_options *o)
{
	char *list = NULL, *name = NULL;
	bool fine = asprintf(&name, "fsname=%s", o->source) >= 0 &&
		    (!o->passed || fuse_opt_add_opt(&list, o->passed) == 0) &&
		    fuse_opt_add_opt(&list, "default_permissions") == 0 &&
		    fuse_opt_add_opt(&list, "subtype=animfs") == 0 &&
		    fuse_opt_add_opt_escaped(&list, name) == 0 &&
		    (!o->read_only || fuse_opt_add_opt(&list, "ro") == 0) &&
		    (!o->allow_other || fuse_opt_add_opt(&list, "allow_other") == 0) &&
		    fuse_opt_add_arg(args, "animfs") == 0 && fuse_opt_add_arg(args, "-o") == 0 &&
		    fuse_opt_add_arg(args, list) == 0 &&
		    (!o->debug || fuse_opt_add_arg(args, "-d") == 0);

	free(name);
	free(list);
	return fine;
}

static struct fuse_session *make_session(const struct mount_options *o, struct served *served)
{
	struct fuse_lowlevel_ops operations = vfs_operations;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *fuse = NULL;

	operations.init = op_init;
	if (add_options(&args, o))
		fuse = fuse_session_new(&args, &operations, sizeof(operations), served);
	fuse_opt_free_args(&args);
	return fuse;
}

static int serve_requests(struct session *s)
{
	int status = 1;

	s->kernel = kernel_of(&s->fuse);
	s->served.vfs = vfs_new(s->options, &s->kernel, s->root, s->state, s->options->read_only);
	if (!s->served.vfs)
		return 1;
	if (getrandom(&s->served.stamp, sizeof(s->served.stamp), 0) < 0)
		s->served.stamp = (uint32_t)clock_real_ms();
	s->fuse = make_session(s->options, &s->served);
	if (!s->fuse) {
		not_mounted(s->options);
	} else if (fuse_set_signal_handlers(s->fuse) == 0) {
		status = serve_mounted(s);
		fuse_remove_signal_handlers(s->fuse);
	}
	/*
	 * This ends the mount's threads, before the number of the connection's descriptor can be
	 * reused for another file.
	 */
	vfs_free(s->served.vfs);
	if (s->fuse) {
		fuse_session_unmount(s->fuse);
		fuse_session_destroy(s->fuse);
	}
	return status;
}

/* ---- SOURCE and the state ---- */

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void check_writable(struct mount_options *o, struct state *state)
{
	int error = o->read_only ? 0 : state_writable(state);

	if (!error)
		return;
	fprintf(stderr,
		"animfs: %s cannot be written (%s) and there is no --state: the mount is "
		"read-only\n",
		o->source, strerror(error));
	o->read_only = true;
}

int mount_serve(struct mount_options *o)
{
	struct session s = {.options = o, .unmounter = -1};
	struct err err = {.code = ERR_NONE};
	int status = 1;

	if (!o->unconfined && !confine_descriptors(&err)) {
		fprintf(stderr, "animfs: %s\n", err.message);
		return 1;
	}
	s.root = open(o->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.root < 0) {
		fprintf(stderr, "animfs: %s: %s\n", o->source, strerror(errno));
		return 1;
	}
	s.state = state_new(s.root, o->state, o->read_only, &err);
	if (s.state) {
		check_writable(o, s.state);
		umask(0);
		raise_descriptor_limit();
		status = serve_requests(&s);
		state_free(s.state);
	} else {
		fprintf(stderr, "animfs: %s\n", err.message);
	}
	close(s.root);
	return status;
}

const char *mount_library(void)
{
	return fuse_pkgversion();
}
