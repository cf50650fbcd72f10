/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fault.c - LD_PRELOAD=fault.so FAULT=FILE animfs ...: system calls and allocations that fail, and
 * processes that are killed, for tests of mounts under such faults.
 *
 * FILE has one line and is read at every call, while it is there:
 *
 *   CALL WHAT FOLDER [NTH [ANYTHING]]
 *
 * CALL is create, open, list (of a folder), read, write, fsync, syncdir (fsync of a folder),
 * truncate, attribute, rename, unlink, mkdir, or "any", or "change": all of these but open, list
 * and read, so all that leave something behind. WHAT is an errno, with which each such call below
 * FOLDER fails and does nothing; or kill, which kills the process in the place of the call; or
 * tear, which lets a write write one half of its bytes first; or hold, with which it waits until
 * FILE has another line, and FILE.held exists once a call waits; or 0, which only counts. With NTH
 * it applies only to the n-th of these calls, counted since FILE got this line.
 *
 * CALL may also be unmount, which the others do not include and FOLDER is the mountpoint of; or
 * unwatch, of any folder, where FOLDER is "/"; or entry, the reply to a look-up of the kernel, or
 * notify, what the kernel is told unasked, where FOLDER is "/dev"; or buffer, an allocation of a
 * mebibyte or more, as each thread of libfuse makes one for the requests that it reads, where
 * FOLDER is "/".
 *
 * Two more CALLs, which the others do not include, make a filesystem below FOLDER poorer:
 *
 *   flags WHAT FOLDER    renameat2() with flags ends with that errno
 *   poor WHAT FOLDER     that; links are refused with EPERM; times have whole seconds, and ctime is
 *                        mtime, so that it can be set back
 *
 * The program must not be confined (-o unconfined), so that it can read FILE; the process that
 * unmounts can, in any case.
 *
 * FAULT_BOARD=FILE is a file of the size of struct board, for counting and for allocations. The
 * allocations of a process that is forked without exec, such as the unmounter, neither count nor
 * fail: it runs beside the one that is tested, and need not free what it has when it ends.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define TRACE 32
#define BUFFER_SIZE (1 << 20)

/* Numbers in the machine's byte order, shared with the test. */
struct board {
	/* number of calls that FILE's line matches, since FILE has that line */
	_Atomic uint64_t calls;
	/* number of calls that failed, or before which the process was killed */
	_Atomic uint64_t fired;
	_Atomic uint64_t allocations; /* number of allocations, counted while fail_at is not 0 */
	_Atomic uint64_t fail_at;     /* number of the allocation that fails; UINT64_MAX: none */
	_Atomic uint64_t live;        /* blocks allocated and not freed yet */
	uint64_t trace[TRACE];        /* callers of the last failed call, for addr2line */
};

static struct board own_board;
static struct board *board = &own_board;
static struct board *memory = &own_board; /* the one whose allocations count */

static void fork_memory(void)
{
	own_board.fail_at = 0;
	memory = &own_board;
}

/*
 * Maps the board. Like the other functions of this file, it uses the real calls, so that they do
 * not count.
 */
__attribute__((constructor)) static void find_board(void)
{
	const char *file = getenv("FAULT_BOARD");
	void *shared;
	int fd;

	if (!file)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	shared = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (shared == MAP_FAILED)
		return;
	board = memory = shared;
	memory->live += own_board.live;
	pthread_atfork(NULL, NULL, fork_memory);
}

/*
 * Records the callers of a call, without those in libraries. The constructor makes the first call
 * of backtrace(), which allocates.
 */
__attribute__((constructor)) static void note_trace(void)
{
	void *frames[TRACE];
	Dl_info program, one;
	int count = backtrace(frames, TRACE), kept = 0;

	dladdr((void *)getauxval(AT_ENTRY), &program);
	for (int i = 0; i < count; i++) {
		if (dladdr(frames[i], &one) && one.dli_fbase == program.dli_fbase)
			board->trace[kept++] = (uintptr_t)frames[i] - (uintptr_t)one.dli_fbase - 1;
	}
	if (kept < TRACE)
		board->trace[kept] = 0;
}

static void note_fault(void)
{
	board->fired++;
	note_trace();
}

/* ---- which call ---- */

enum what { PASS, FAIL, KILL, TEAR };

struct fault {
	char call[16];
	char what[16];
	char folder[PATH_MAX];
	unsigned long nth;
};

static ssize_t read_line(char *line, size_t size)
{
	const char *file = getenv("FAULT");
	ssize_t got;
	int fd;

	if (!file)
		return -1;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	got = syscall(SYS_read, fd, line, size - 1);
	syscall(SYS_close, fd);
	line[got > 0 ? got : 0] = '\0';
	return got;
}

static bool parse(const char *line, struct fault *f)
{
	f->nth = 0;
	return sscanf(line, "%15s %15s %4095s %lu", f->call, f->what, f->folder, &f->nth) >= 3;
}

static bool is_meant(const struct fault *f, const char *call)
{
	static const char *const harmless[] = {"open", "list", "read"};
	static const char *const apart[] = {"flags", "poor",   "unmount", "unwatch",
					    "entry", "notify", "buffer"};

	for (size_t i = 0; i < sizeof(apart) / sizeof(*apart); i++) {
		if (strcmp(call, apart[i]) == 0)
			return strcmp(f->call, call) == 0;
	}
	if (strcmp(f->call, "change") != 0)
		return strcmp(f->call, call) == 0 || strcmp(f->call, "any") == 0;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++) {
		if (strcmp(call, harmless[i]) == 0)
			return false;
	}
	return true;
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool fd_below(int fd, const char *folder)
{
	char link[64], path[PATH_MAX];
	ssize_t size;

	snprintf(link, sizeof(link), fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
	size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (size < 0)
		return false;
	path[size] = '\0';
	return is_below(path, folder);
}

/* Counts a call that the line matches. Returns whether the line applies to this one. */
static bool is_its_turn(const struct fault *f, const char *line)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char last[PATH_MAX + 64];
	uint64_t count;

	pthread_mutex_lock(&lock);
	if (strcmp(line, last) != 0) {
		strcpy(last, line);
		board->calls = 0;
	}
	count = ++board->calls;
	pthread_mutex_unlock(&lock);
	return !f->nth || count == f->nth;
}

static void end_here(void)
{
	board->fired++;
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Waits until FILE has another line. */
static void hold(const char *line)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	char now[PATH_MAX + 64];

	snprintf(now, sizeof(now), "%s.held", getenv("FAULT"));
	syscall(SYS_close,
		syscall(SYS_openat, AT_FDCWD, now, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (read_line(now, sizeof(now)) > 0 && strcmp(now, line) == 0)
		nanosleep(&pause, NULL);
}

/*
 * Returns what happens to a call, by a descriptor of the file or of its folder, or by a whole path.
 */
static enum what outcome(const char *call, int fd, const char *path)
{
	char line[PATH_MAX + 64];
	struct fault f;

	if (read_line(line, sizeof(line)) <= 0 || !parse(line, &f) || !is_meant(&f, call) ||
	    !(path ? is_below(path, f.folder) : fd_below(fd, f.folder)) || !is_its_turn(&f, line) ||
	    strcmp(f.what, "0") == 0)
		return PASS;
	if (strcmp(f.what, "hold") == 0) {
		hold(line);
		return PASS;
	}
	if (strcmp(f.what, "tear") == 0)
		return TEAR;
	if (strcmp(f.what, "kill") == 0)
		return KILL;
	note_fault();
	errno = atoi(f.what);
	return FAIL;
}

static bool fails_at(const char *call, int fd, const char *path)
{
	int before = errno;
	enum what what = outcome(call, fd, path);

	if (what == KILL || what == TEAR)
		end_here();
	if (what == PASS)
		errno = before;
	return what == FAIL;
}

/* Returns whether a call on the file of `fd`, or on a file in that folder, should fail. */
static bool fails(const char *call, int fd)
{
	return fails_at(call, fd, NULL);
}

/* ---- the calls ---- */

/* The function of that name that this file's function replaces. */
#define REAL(name, symbol) ((__typeof__(&name))dlsym(RTLD_NEXT, symbol))

static bool open_fails(int dir, const char *path, int flags)
{
	const char *call = flags & O_CREAT ? "create" : "open";
	int fd;

	/* The path is that of a descriptor, whose file is opened anew: use the descriptor. */
	if (sscanf(path, "/proc/self/fd/%d", &fd) == 1)
		return fails(call, fd);
	return fails_at(call, dir, *path == '/' ? path : NULL);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (open_fails(dir, path, flags))
		return -1;
	return REAL(openat, "openat64")(dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (open_fails(AT_FDCWD, path, flags))
		return -1;
	return REAL(open, "open64")(path, flags, mode);
}

/* Checking headers of the C library call these functions for an open without a mode. */
int __openat64_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags)
{
	return openat(dir, path, flags);
}

int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return open(path, flags);
}

int umount2(const char *path, int flags)
{
	bool failed;
	int fd;

	if (sscanf(path, "/proc/self/fd/%d", &fd) == 1)
		failed = fails("unmount", fd);
	else
		failed = fails_at("unmount", AT_FDCWD, path);
	return failed ? -1 : REAL(umount2, "umount2")(path, flags);
}

int inotify_rm_watch(int fd, int watch)
{
	return fails_at("unwatch", AT_FDCWD, "/")
		       ? -1
		       : REAL(inotify_rm_watch, "inotify_rm_watch")(fd, watch);
}

DIR *fdopendir(int fd)
{
	return fails("list", fd) ? NULL : REAL(fdopendir, "fdopendir")(fd);
}

ssize_t read(int fd, void *data, size_t size)
{
	return fails("read", fd) ? -1 : REAL(read, "read")(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	return fails("read", fd) ? -1 : REAL(pread, "pread64")(fd, data, size, at);
}

/* Writes one half of the bytes, and kills the process. */
static void tear(int fd, const void *data, size_t size, off_t at)
{
	if (at < 0)
		syscall(SYS_write, fd, data, size / 2);
	else
		syscall(SYS_pwrite64, fd, data, size / 2, at);
	end_here();
}

static bool write_fails(int fd, const void *data, size_t size, off_t at)
{
	int before = errno;
	enum what what = outcome("write", fd, NULL);

	if (what == TEAR)
		tear(fd, data, size, at);
	if (what == KILL)
		end_here();
	if (what == PASS)
		errno = before;
	return what == FAIL;
}

ssize_t write(int fd, const void *data, size_t size)
{
	return write_fails(fd, data, size, -1) ? -1 : REAL(write, "write")(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return write_fails(fd, data, size, at) ? -1 : REAL(pwrite, "pwrite64")(fd, data, size, at);
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
	if (write_fails(fd, parts->iov_base, parts->iov_len, at))
		return -1;
	return REAL(pwritev2, "pwritev64v2")(fd, parts, count, at, flags);
}

/* libfuse sends replies by this call. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
	const struct fuse_out_header *header = parts->iov_base;

	if (parts->iov_len == sizeof(*header) &&
	    header->len == sizeof(*header) + sizeof(struct fuse_entry_out) && fails("entry", fd))
		return -1;
	if (parts->iov_len == sizeof(*header) && !header->unique && fails("notify", fd))
		return -1;
	return REAL(writev, "writev")(fd, parts, count);
}

/* splice() between a file and a pipe: one direction counts as read, the other as write. */
ssize_t splice(int in, off_t *in_at, int out, off_t *out_at, size_t size, unsigned flags)
{
	if (fails("read", in) || fails("write", out))
		return -1;
	return REAL(splice, "splice")(in, in_at, out, out_at, size, flags);
}

ssize_t copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t size, unsigned flags)
{
	if (fails("write", out))
		return -1;
	return REAL(copy_file_range, "copy_file_range")(in, in_at, out, out_at, size, flags);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
	return fails("write", fd) ? -1 : REAL(fallocate, "fallocate64")(fd, mode, at, size);
}

int ftruncate(int fd, off_t size)
{
	return fails("truncate", fd) ? -1 : REAL(ftruncate, "ftruncate64")(fd, size);
}

int fsync(int fd)
{
	struct stat st;
	bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);

	return fails(folder ? "syncdir" : "fsync", fd) ? -1 : REAL(fsync, "fsync")(fd);
}

int fdatasync(int fd)
{
	return fails("fsync", fd) ? -1 : REAL(fdatasync, "fdatasync")(fd);
}

int fchmod(int fd, mode_t mode)
{
	return fails("attribute", fd) ? -1 : REAL(fchmod, "fchmod")(fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
	return fails("attribute", fd) ? -1 : REAL(fchown, "fchown")(fd, owner, group);
}

int futimens(int fd, const struct timespec times[2])
{
	return fails("attribute", fd) ? -1 : REAL(futimens, "futimens")(fd, times);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	if (fails("attribute", fd))
		return -1;
	return REAL(fsetxattr, "fsetxattr")(fd, name, value, size, flags);
}

/* ---- poorer filesystems ---- */

static bool is_poor(int fd, const char *path)
{
	int before = errno;
	bool poor = fails_at("poor", fd, path);

	errno = before;
	return poor;
}

static void make_coarse(struct stat *st)
{
	st->st_atim.tv_nsec = st->st_mtim.tv_nsec = 0;
	st->st_ctim = st->st_mtim;
}

int fstatat(int dir, const char *name, struct stat *st, int flags)
{
	int result = REAL(fstatat, "fstatat64")(dir, name, st, flags);

	if (result == 0 && is_poor(dir, *name == '/' ? name : NULL))
		make_coarse(st);
	return result;
}

int fstat(int fd, struct stat *st)
{
	int result = REAL(fstat, "fstat64")(fd, st);

	if (result == 0 && is_poor(fd, NULL))
		make_coarse(st);
	return result;
}

int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	if (flags && (fails("flags", to) || fails("poor", to)))
		return -1;
	return fails("rename", to) ? -1 : REAL(renameat2, "renameat2")(from, a, to, b, flags);
}

int renameat(int from, const char *a, int to, const char *b)
{
	return fails("rename", to) ? -1 : REAL(renameat, "renameat")(from, a, to, b);
}

int linkat(int from, const char *a, int to, const char *b, int flags)
{
	if (is_poor(to, NULL)) {
		errno = EPERM;
		return -1;
	}
	return fails("create", to) ? -1 : REAL(linkat, "linkat")(from, a, to, b, flags);
}

int symlinkat(const char *target, int dir, const char *name)
{
	return fails("create", dir) ? -1 : REAL(symlinkat, "symlinkat")(target, dir, name);
}

int unlinkat(int dir, const char *name, int flags)
{
	return fails("unlink", dir) ? -1 : REAL(unlinkat, "unlinkat")(dir, name, flags);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	return fails("mkdir", dir) ? -1 : REAL(mkdirat, "mkdirat")(dir, name, mode);
}

/* ---- allocations ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool allocation_fails(void)
{
	uint64_t fail_at = memory->fail_at;

	if (!fail_at || ++memory->allocations != fail_at)
		return false;
	note_fault();
	errno = ENOMEM;
	return true;
}

static void *counted(void *block)
{
	memory->live += block != NULL;
	return block;
}

void *malloc(size_t size)
{
	bool fails =
		allocation_fails() || (size >= BUFFER_SIZE && fails_at("buffer", AT_FDCWD, "/"));

	return fails ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
	void *moved;

	if (!block)
		return malloc(size);
	if (size && allocation_fails())
		return NULL;
	moved = __libc_realloc(block, size);
	memory->live -= !moved && !size;
	return moved;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
	return allocation_fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *block = memalign(alignment, size);

	if (block)
		*out = block;
	return block ? 0 : ENOMEM;
}

void free(void *block)
{
	memory->live -= block != NULL;
	__libc_free(block);
}
