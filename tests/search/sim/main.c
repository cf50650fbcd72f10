/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - sim [--seed N] [--steps N] [--runs N | --total N] [--jobs N] [--stop STEP] [--trace]
 *              [--no-faults] [--twice]
 *
 * Runs the mount by seeds N, N + 1, ... (sim.h says how), each in a process of its own, and ends
 * with "sim: N passed, N failed". A failure prints the seed, the step, the call that every thread
 * was in, and the command that goes there again:
 *
 *   build/sim --seed 17 --stop 8123 --trace
 *
 * --steps   after so many no program begins anything new (50000)
 * --runs    how many seeds (1)
 * --total   as many as take that many steps
 * --jobs    how many runs at a time (1)
 * --stop    ends at this step, with the same report as a failure
 * --trace   prints every request, notification, fault, and what programs do
 * --no-faults  disk calls never fail; otherwise they do for one seed in three
 * --twice   every seed twice: both must take the same steps
 *
 * A report names the lock or the answer that each thread waits for and what it holds. A build with
 * sanitizers takes the same steps.
 *
 * Faults that it must find, and has found: a rename that changes the thing of a node in place,
 * while a reader uses it; a node that only its draft kept, used after the draft was dropped; a
 * lookup between a commit and its publication, which takes a renamed clip for a removed one; text
 * that is written while its clip becomes another file's; an answer that is older than what another
 * program has written. planted/ has patches that restore such faults, each with a seed that finds
 * it; `make test-sim-planted` proves it.
 */
#include "sim.h"

#include "../../tools/own_mounts.h"
#include "vfs/vfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY ((size_t)256 << 20)

struct sim_options sim = {.seed = 1, .steps = 50000};

static char work[64] = "/tmp/animfs-sim.XXXXXX";

/* The result of a run, which the child process sends to its parent. */
struct result {
	uint64_t hash, steps;
	unsigned saved, refused, read, moved, faults;
};

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/*
 * Mounts a new tmpfs, which ends with the process. Returns false if the machine does not allow it.
 */
static bool mount_disk(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS) != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
			return false;
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		write_file("/proc/self/gid_map", map);
	}
	return own_mounts() && mount("sim", work, "tmpfs", 0, "mode=0755") == 0;
}

/*
 * Makes a folder for the disk, without a tmpfs, as in a container or a chroot. The parent removes
 * it.
 */
static bool make_disk(void)
{
	snprintf(work + strlen(work), sizeof(work) - strlen(work), "/%llu",
		 (unsigned long long)sim.seed);
	return mkdir(work, 0755) == 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_disk(uint64_t seed)
{
	char path[sizeof(work) + 24];

	snprintf(path, sizeof(path), "%s/%llu", work, (unsigned long long)seed);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the mount ---- */

struct mount {
	struct mount_options options;
	int root;
	struct state *state;
	struct vfs *vfs;
};

/* Begins a mount in the way src/fuse/session.c does. */
static void begin_mount(struct mount *m, char *source)
{
	struct err err = {.code = ERR_NONE};

	*m = (struct mount){
		.options = {.source = source,
			    .listed = VIEW_SET_ALL,
			    .store = {.cache = MEMORY, .max_file = MEMORY, .history = MEMORY},
			    .max_text = MEMORY,
			    .upper_max = MEMORY,
			    .drafts_max = MEMORY,
			    .rejected_max = MEMORY,
			    .pinned_max = MEMORY,
			    .uid = -1,
			    .gid = -1,
			    .umask = -1}};
	m->root = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m->state = m->root >= 0 ? state_new(m->root, NULL, false, &err) : NULL;
	if (m->state)
		m->vfs = vfs_new(&m->options, &sim_kernel, m->root, m->state, false);
	if (!m->vfs || !vfs_watch(m->vfs))
		fail("nothing is mounted: %s", err.message);
	vfs_resume(m->vfs);
}

static void end_mount(struct mount *m)
{
	vfs_silence(m->vfs);
	vfs_finish(m->vfs);
	vfs_free(m->vfs);
	state_free(m->state);
	close(m->root);
}

/* ---- a run ---- */

static void run(struct result *result)
{
	char source[sizeof(work) + 8];
	struct mount mount;

	snprintf(source, sizeof(source), "%s/source", work);
	mkdir(source, 0755);
	programs_make_source(source);
	umask(0);
	sched_start();
	/* draw in any case, so that later numbers are the same with --no-faults */
	sim.faults = rnd_one_in(3) && !sim.no_faults;
	sim.slow = rnd_one_in(4);
	begin_mount(&mount, source);
	kernel_start(mount.vfs);
	programs_start(source);
	programs_await();
	disk_set_faults(false);
	trace("all programs have ended");
	sched_sleep(20 * SECOND); /* wait until all deadlines have passed */
	programs_check();
	kernel_drop_caches();
	sched_sleep(20 * SECOND);
	kernel_check_forgotten(programs_walk);
	trace("unmount");
	kernel_unmount();
	end_mount(&mount);
	programs_end();
	*result = (struct result){.hash = sched_hash(),
				  .steps = sched_step(),
				  .saved = programs_saved,
				  .refused = programs_refused,
				  .read = programs_read,
				  .moved = programs_moved,
				  .faults = disk_faults};
	sched_end();
}

/*
 * Runs one seed in a process of its own. The exit status shows the result; leaks are reported by
 * LeakSanitizer.
 */
static _Noreturn void run_child(int log, int results)
{
	struct result result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (log >= 0) {
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
	}
	if (sim.trace)
		setvbuf(stdout, NULL, _IOLBF, 0); /* so that no output is lost in a crash */
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
	if (!mount_disk() && !make_disk()) {
		perror(work);
		_exit(2);
	}
	run(&result);
	(void)!write(results, &result, sizeof(result));
	exit(0);
}

struct job {
	pid_t pid;
	uint64_t seed;
	int log, results;
};

static void start_job(struct job *job, uint64_t seed, bool quiet)
{
	int ends[2];

	sim.seed = seed;
	job->seed = seed;
	job->log = quiet ? memfd_create("log", MFD_CLOEXEC) : -1;
	if (pipe2(ends, O_CLOEXEC) != 0)
		exit(2);
	fflush(NULL);
	job->pid = fork();
	if (job->pid == 0) {
		close(ends[0]);
		run_child(job->log, ends[1]);
	}
	close(ends[1]);
	job->results = ends[0];
	if (job->pid < 0)
		exit(2);
}

static void print_log(int log)
{
	char data[4096];
	ssize_t got;

	lseek(log, 0, SEEK_SET);
	while ((got = read(log, data, sizeof(data))) > 0)
		(void)!write(STDOUT_FILENO, data, (size_t)got);
}

/* Collects the result of a job. Returns 0 if it passed; any other status is a failure. */
static int end_job(struct job *job, struct result *result)
{
	int status;

	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 && read(job->results, result, sizeof(*result)) != sizeof(*result))
		status = 1;
	close(job->results);
	remove_disk(job->seed);
	if (status != 0 && job->log >= 0) {
		fflush(stdout);
		print_log(job->log);
	}
	if (job->log >= 0)
		close(job->log);
	if (WIFSIGNALED(status))
		printf("sim: seed %llu: killed by %s\n", (unsigned long long)job->seed,
		       strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "sim: %s is no number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", 1, NULL, 's'},  {"steps", 1, NULL, 'n'},     {"runs", 1, NULL, 'r'},
		{"stop", 1, NULL, 'p'},  {"trace", 0, NULL, 't'},     {"total", 1, NULL, 'T'},
		{"twice", 0, NULL, '2'}, {"no-faults", 0, NULL, 'f'}, {"jobs", 1, NULL, 'j'},
		{NULL, 0, NULL, 0}};
	uint64_t runs = 1, total = 0, first, passed = 0, failed = 0;
	struct result sum = {.hash = 0};
	struct job jobs[64];
	unsigned parallel = 1;
	bool twice = false;
	int option;

	/*
	 * The addresses of the heap must not matter; in case they do, keep them the same in each
	 * run.
	 */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) &&
	    personality((unsigned)personality(0xffffffff) | ADDR_NO_RANDOMIZE) != -1)
		execv("/proc/self/exe", argv);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			sim.seed = number(optarg);
			break;
		case 'n':
			sim.steps = number(optarg);
			break;
		case 'r':
			runs = number(optarg);
			break;
		case 'T':
			total = number(optarg);
			break;
		case 'j':
			parallel = (unsigned)number(optarg);
			break;
		case 'p':
			sim.stop = number(optarg);
			break;
		case 't':
			sim.trace = true;
			break;
		case 'f':
			sim.no_faults = true;
			break;
		case '2':
			twice = true;
			break;
		default:
			return 2;
		}
	}
	if (total)
		runs = (total + sim.steps - 1) / sim.steps;
	if (parallel < 1 || parallel > 64)
		parallel = 1;
	if (!mkdtemp(work)) {
		perror(work);
		return 2;
	}
	first = sim.seed;
	for (uint64_t i = 0; i < runs; i += parallel) {
		unsigned count = runs - i < parallel ? (unsigned)(runs - i) : parallel;

		for (unsigned j = 0; j < count; j++)
			start_job(&jobs[j], first + i + j, runs > 1 || twice);
		for (unsigned j = 0; j < count; j++) {
			struct result one = {.hash = 0}, other = {.hash = 0};
			int status = end_job(&jobs[j], &one);

			if (status == 0 && twice) {
				start_job(&jobs[j], jobs[j].seed, true);
				status = end_job(&jobs[j], &other);
				if (status == 0 && one.hash != other.hash) {
					printf("sim: seed %llu took other steps the second time\n",
					       (unsigned long long)jobs[j].seed);
					status = 1;
				}
			}
			passed += status == 0;
			failed += status != 0;
			sum.steps += one.steps;
			sum.saved += one.saved;
			sum.refused += one.refused;
			sum.read += one.read;
			sum.moved += one.moved;
			sum.faults += one.faults;
		}
	}
	rmdir(work);
	printf("%llu steps: %u saves, %u refused, %u reads, %u moves, %u faults\n",
	       (unsigned long long)sum.steps, sum.saved, sum.refused, sum.read, sum.moved,
	       sum.faults);
	printf("sim: %llu passed, %llu failed\n", (unsigned long long)passed,
	       (unsigned long long)failed);
	return failed != 0;
}
