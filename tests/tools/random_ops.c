/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_ops.c - random_ops A B [OPERATIONS [SEED]]
 *
 * Does the same random operations in two empty folders, one on a bare filesystem and one that must
 * behave like it. Each call must have the same result on both sides (value, errno, bytes read), and
 * from time to time both trees are compared: names, types, modes, owners, sizes, links, contents,
 * extended attributes, times that were given, and which names are the same file. Root does them as
 * several users. Ends with 1 and the call at the first difference; the seed, printed first, repeats
 * it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SIDES 2
#define OPEN_FILES 12
#define DATA_MAX 20000
#define SIZE_MAX_USED 200000
#define COMPARE_EVERY 250
#define PATH_SIZE 64
/* times that a call sets are before this; those of the clock are after it */
#define GIVEN_TIME 1000000

static int top[SIDES];
static struct open_file {
	bool used;
	int fd[SIDES];
} files[OPEN_FILES];
static char call[256]; /* the current call, for messages */
static unsigned long done;
static long picked;  /* index of the open file that the call uses */
static bool verbose; /* V=1: prints each call, and compares the trees after each */

static unsigned below(unsigned limit)
{
	return (unsigned)random() % limit;
}

static void differ(const char *what, long long a, long long b)
{
	printf("call %lu: %s: %s: %lld and %lld\n", done, call, what, a, b);
	fflush(stdout);
	exit(1);
}

/* Picks one of few names in few folders, so that calls meet. */
static void pick_path(char path[PATH_SIZE])
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	unsigned depth = below(4);

	path[0] = '\0';
	for (unsigned i = 0; i <= depth; i++) {
		if (i)
			strcat(path, "/");
		strcat(path, names[below(6)]);
	}
}

/*
 * Picks a mode that leaves the file usable. Set-group-id without execution is left out: Linux
 * removes it when a user outside the group writes, and FUSE in Linux does not.
 */
static mode_t pick_mode(void)
{
	mode_t mode = (mode_t)(0700 | below(07777 + 1));

	return mode & S_ISGID ? mode | S_IXGRP : mode;
}

static struct open_file *pick_file(void)
{
	struct open_file *file = &files[below(OPEN_FILES)];

	picked = file - files;
	return file->used ? file : NULL;
}

/* ---- both sides ---- */

static void enter(int side)
{
	if (fchdir(top[side]) != 0)
		abort();
}

static long long value[SIDES];
static int number[SIDES];

static void ended(int side, long long result)
{
	value[side] = result;
	number[side] = result < 0 ? errno : 0;
}

/* Evaluates a call in the top folder of each side in turn. */
#define BOTH(...)                                                                                  \
	for (int side = 0; side < SIDES; side++) {                                                 \
		enter(side);                                                                       \
		errno = 0;                                                                         \
		ended(side, (long long)(__VA_ARGS__));                                             \
	}

static void same_end(void)
{
	if (number[0] != number[1])
		differ("errno", number[0], number[1]);
	if (value[0] != value[1])
		differ("value", value[0], value[1]);
}

static void same_errno(void)
{
	if (number[0] != number[1])
		differ("errno", number[0], number[1]);
}

/* ---- visible results ---- */

static void same_time(const char *what, const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec >= GIVEN_TIME && b->tv_sec >= GIVEN_TIME)
		return;
	if (a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec)
		differ(what, a->tv_sec, b->tv_sec);
}

static void same_stat(const struct stat st[SIDES])
{
	/* A write into a FIFO does not reach the filesystem, so its times may differ. */
	if (!S_ISFIFO(st[0].st_mode))
		same_time("mtime", &st[0].st_mtim, &st[1].st_mtim);
	if (st[0].st_mode != st[1].st_mode)
		differ("mode", st[0].st_mode, st[1].st_mode);
	if (st[0].st_uid != st[1].st_uid || st[0].st_gid != st[1].st_gid)
		differ("owner", st[0].st_uid, st[1].st_uid);
	if (S_ISDIR(st[0].st_mode))
		return;
	if (st[0].st_size != st[1].st_size)
		differ("size", st[0].st_size, st[1].st_size);
	if (st[0].st_nlink != st[1].st_nlink)
		differ("links", (long long)st[0].st_nlink, (long long)st[1].st_nlink);
}

static void same_content(const int fd[SIDES], off_t size)
{
	static char data[SIDES][1 << 16];
	ssize_t got[SIDES];

	for (off_t at = 0; at < size; at += got[0]) {
		for (int side = 0; side < SIDES; side++)
			got[side] = pread(fd[side], data[side], sizeof(data[side]), at);
		if (got[0] != got[1])
			differ("bytes read", got[0], got[1]);
		if (got[0] <= 0)
			return;
		for (ssize_t i = 0; i < got[0]; i++) {
			if (data[0][i] != data[1][i])
				differ("byte at", at + i, (unsigned char)data[1][i]);
		}
	}
}

static void same_file(const char *path, const struct stat *st)
{
	int fd[SIDES];

	BOTH(fd[side] = openat(top[side], path, O_RDONLY | O_NOFOLLOW));
	same_errno();
	if (fd[0] < 0)
		return;
	same_content(fd, st->st_size);
	close(fd[0]);
	close(fd[1]);
}

static void same_target(const char *path)
{
	char target[SIDES][PATH_SIZE * 2] = {"", ""};

	BOTH(readlinkat(top[side], path, target[side], sizeof(target[side])));
	same_end();
	if (memcmp(target[0], target[1], sizeof(target[0])) != 0)
		differ("target", 0, 0);
}

static void same_xattr(const char *path)
{
	char text[SIDES][64] = {"", ""};

	BOTH(llistxattr(path, text[side], sizeof(text[side])));
	same_end();
	BOTH(lgetxattr(path, "user.x", text[side], sizeof(text[side])));
	same_end();
	if (memcmp(text[0], text[1], sizeof(text[0])) != 0)
		differ("attribute", 0, 0);
}

/*
 * Files that were seen, to check that names that are one file on one side are one file on the
 * other.
 */
struct seen {
	ino_t ino[SIDES];
};

static struct seen *seen;
static size_t seen_count, seen_capacity;

static void same_identity(const struct stat st[SIDES])
{
	for (size_t i = 0; i < seen_count; i++) {
		bool a = seen[i].ino[0] == st[0].st_ino, b = seen[i].ino[1] == st[1].st_ino;

		if (a != b)
			differ("inode", (long long)st[0].st_ino, (long long)st[1].st_ino);
		if (a)
			return;
	}
	if (seen_count == seen_capacity) {
		seen_capacity = seen_capacity ? 2 * seen_capacity : 64;
		seen = realloc(seen, seen_capacity * sizeof(*seen));
		if (!seen)
			abort();
	}
	seen[seen_count++] = (struct seen){{st[0].st_ino, st[1].st_ino}};
}

static size_t read_names(int side, const char *path, char names[256][NAME_MAX + 1])
{
	int fd = openat(top[side], path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t count = 0;

	if (!dir) {
		differ("folder cannot be read", side, errno);
		return 0;
	}
	while ((entry = readdir(dir)) && count < 256) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			strcpy(names[count++], entry->d_name);
	}
	closedir(dir);
	qsort(names, count, NAME_MAX + 1, (int (*)(const void *, const void *))strcmp);
	return count;
}

static void same_tree(const char *path);

static void same_thing(const char *path)
{
	struct stat st[SIDES];

	snprintf(call, sizeof(call), "look at %s", path);
	BOTH(fstatat(top[side], path, &st[side], AT_SYMLINK_NOFOLLOW));
	same_end();
	if (number[0])
		return;
	same_stat(st);
	same_identity(st);
	if (S_ISREG(st[0].st_mode))
		same_file(path, &st[0]);
	if (S_ISLNK(st[0].st_mode))
		same_target(path);
	if (!S_ISLNK(st[0].st_mode))
		same_xattr(path);
	if (S_ISDIR(st[0].st_mode))
		same_tree(path);
}

static void same_tree(const char *path)
{
	char(*names)[256][NAME_MAX + 1] = malloc(SIDES * sizeof(*names));
	size_t count[SIDES];

	if (!names)
		abort();
	for (int side = 0; side < SIDES; side++)
		count[side] = read_names(side, path, names[side]);
	if (count[0] != count[1])
		differ("entries", (long long)count[0], (long long)count[1]);
	for (size_t i = 0; i < count[0]; i++) {
		char *below_path;

		if (strcmp(names[0][i], names[1][i]) != 0)
			differ(names[0][i], 0, 1);
		if (asprintf(&below_path, "%s/%s", path, names[0][i]) < 0)
			abort();
		same_thing(below_path);
		free(below_path);
	}
	free(names);
}

static uid_t user; /* the acting user: see op_become() */

static void become(uid_t uid)
{
	const gid_t group = uid + 10; /* another group that the user is in */

	if (geteuid() != 0 && seteuid(0) != 0)
		abort();
	if (setgroups(uid ? 1 : 0, &group) != 0 || setegid(uid) != 0 || seteuid(uid) != 0)
		abort();
	user = uid;
}

static void compare(void)
{
	uid_t before = user;

	if (before)
		become(0);
	seen_count = 0;
	strcpy(call, "look at all");
	same_tree(".");
	for (struct open_file *file = files; file < files + OPEN_FILES; file++) {
		struct stat st[SIDES];

		if (!file->used)
			continue;
		strcpy(call, "look at an open file");
		BOTH(fstat(file->fd[side], &st[side]));
		same_end();
		same_stat(st);
	}
	if (before)
		become(before);
}

/* ---- operations on names ---- */

static void op_open(void)
{
	static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR};
	static const int more[] = {0,
				   O_CREAT,
				   O_CREAT | O_EXCL,
				   O_TRUNC,
				   O_CREAT | O_TRUNC,
				   O_APPEND,
				   O_CREAT | O_APPEND,
				   O_APPEND | O_TRUNC,
				   O_DIRECTORY,
				   O_NOFOLLOW};
	struct open_file *file = &files[below(OPEN_FILES)];
	int flags = modes[below(4)] | more[below(10)];
	mode_t mode = (mode_t)(0600 | below(0200));
	char path[PATH_SIZE];

	if (file->used)
		return;
	pick_path(path);
	snprintf(call, sizeof(call), "open %s flags 0%o", path, flags);
	BOTH(file->fd[side] = openat(top[side], path, flags | O_NONBLOCK, mode));
	same_errno();
	file->used = file->fd[0] >= 0;
}

static void op_make(void)
{
	unsigned kind = below(8);
	mode_t mode = (mode_t)(0700 | below(0100));
	char path[PATH_SIZE], target[PATH_SIZE];

	pick_path(path);
	pick_path(target);
	snprintf(call, sizeof(call), "make %s, kind %u", path, kind);
	if (kind == 0) {
		BOTH(symlinkat(target, top[side], path));
	} else if (kind == 1) {
		BOTH(mknodat(top[side], path, S_IFIFO | mode, 0));
	} else if (kind == 2) {
		BOTH(mknodat(top[side], path, S_IFREG | mode, 0));
	} else {
		BOTH(mkdirat(top[side], path, mode));
	}
	same_end();
}

static void op_remove(void)
{
	int flags = below(2) ? AT_REMOVEDIR : 0;
	char path[PATH_SIZE];

	pick_path(path);
	snprintf(call, sizeof(call), "remove %s flags %d", path, flags);
	BOTH(unlinkat(top[side], path, flags));
	same_end();
}

static void op_rename(void)
{
	static const unsigned flags[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE};
	unsigned flag = flags[below(5)];
	char path[PATH_SIZE], other[PATH_SIZE];

	pick_path(path);
	pick_path(other);
	snprintf(call, sizeof(call), "rename %s to %s flags %u", path, other, flag);
	BOTH(renameat2(top[side], path, top[side], other, flag));
	same_end();
}

static void op_link(void)
{
	char path[PATH_SIZE], other[PATH_SIZE];
	int flags = below(4) ? 0 : AT_SYMLINK_FOLLOW;

	pick_path(path);
	pick_path(other);
	snprintf(call, sizeof(call), "link %s to %s flags %d", path, other, flags);
	BOTH(linkat(top[side], path, top[side], other, flags));
	same_end();
}

static void op_attributes(void)
{
	mode_t mode = pick_mode();
	char path[PATH_SIZE];
	unsigned kind = below(4);

	pick_path(path);
	snprintf(call, sizeof(call), "attributes of %s, kind %u, mode 0%o", path, kind, mode);
	if (kind == 0) {
		BOTH(fchmodat(top[side], path, mode, 0));
	} else if (kind == 1) {
		struct timespec times[2] = {{below(GIVEN_TIME), 5}, {below(GIVEN_TIME), 6}};

		BOTH(utimensat(top[side], path, times, AT_SYMLINK_NOFOLLOW));
	} else if (kind == 2) {
		int wanted = (int)below(8);

		BOTH(faccessat(top[side], path, wanted, AT_EACCESS));
	} else if (getuid() == 0) {
		uid_t uid = below(3);

		BOTH(fchownat(top[side], path, uid, uid + 1, AT_SYMLINK_NOFOLLOW));
	} else {
		return;
	}
	same_end();
}

static void op_truncate(void)
{
	off_t size = below(SIZE_MAX_USED);
	char path[PATH_SIZE];

	pick_path(path);
	snprintf(call, sizeof(call), "truncate %s to %lld", path, (long long)size);
	BOTH(truncate(path, size));
	same_end();
}

static void op_xattr(void)
{
	static const int flags[] = {0, 0, XATTR_CREATE, XATTR_REPLACE};
	int flag = flags[below(4)];
	char path[PATH_SIZE], text[32];
	bool set = below(3) != 0;

	pick_path(path);
	snprintf(text, sizeof(text), "%u", below(1000));
	snprintf(call, sizeof(call), "%s user.x of %s", set ? "set" : "remove", path);
	if (set) {
		BOTH(lsetxattr(path, "user.x", text, strlen(text), flag));
	} else {
		BOTH(lremovexattr(path, "user.x"));
	}
	same_end();
}

static void op_stat(void)
{
	struct stat st[SIDES];
	char path[PATH_SIZE];

	pick_path(path);
	snprintf(call, sizeof(call), "stat %s", path);
	BOTH(fstatat(top[side], path, &st[side], 0));
	same_end();
	if (!number[0])
		same_stat(st);
}

/* ---- operations on open files ---- */

static void op_close(void)
{
	struct open_file *file = pick_file();

	if (!file)
		return;
	strcpy(call, "close");
	BOTH(close(file->fd[side]));
	same_end();
	file->used = false;
}

static void fill(char *at, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(i * 7 + seed);
}

static void op_write(void)
{
	static char data[DATA_MAX];
	struct open_file *file = pick_file();
	size_t size = below(DATA_MAX);
	off_t at = below(SIZE_MAX_USED);
	unsigned seed = below(256);
	bool here = below(2);

	if (!file)
		return;
	fill(data, size, seed);
	snprintf(call, sizeof(call), "write %zu at %lld", size, here ? -1LL : (long long)at);
	if (here) {
		BOTH(write(file->fd[side], data, size));
	} else {
		BOTH(pwrite(file->fd[side], data, size, at));
	}
	same_end();
}

static void op_read(void)
{
	static char data[SIDES][DATA_MAX];
	struct open_file *file = pick_file();
	size_t size = below(DATA_MAX);
	off_t at = below(SIZE_MAX_USED);
	bool here = below(2);

	if (!file)
		return;
	snprintf(call, sizeof(call), "read %zu at %lld", size, here ? -1LL : (long long)at);
	if (here) {
		BOTH(read(file->fd[side], data[side], size));
	} else {
		BOTH(pread(file->fd[side], data[side], size, at));
	}
	same_end();
	if (value[0] > 0 && memcmp(data[0], data[1], (size_t)value[0]) != 0)
		differ("bytes", value[0], value[1]);
}

static void op_resize(void)
{
	static const int modes[] = {0, FALLOC_FL_KEEP_SIZE,
				    FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
				    FALLOC_FL_ZERO_RANGE};
	struct open_file *file = pick_file();
	off_t size = below(SIZE_MAX_USED), at = below(100000);
	int mode = modes[below(4)];
	bool allocate = below(2);

	if (!file)
		return;
	snprintf(call, sizeof(call), "%s %lld mode %d", allocate ? "fallocate" : "ftruncate",
		 (long long)size, mode);
	if (allocate) {
		BOTH(fallocate(file->fd[side], mode, at, size));
	} else {
		BOTH(ftruncate(file->fd[side], size));
	}
	same_errno();
}

/* Compares the contents of a mapping, and writes through it, sometimes across the end of a page. */
static void op_map(void)
{
	struct open_file *file = pick_file();
	int protection = below(3) ? PROT_READ | PROT_WRITE : PROT_READ;
	size_t size, at, length;
	char *map[SIDES];
	struct stat st;

	if (!file || fstat(file->fd[0], &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return;
	size = (size_t)st.st_size;
	at = below((unsigned)size);
	length = below(DATA_MAX) < size - at ? below((unsigned)(size - at)) : size - at;
	snprintf(call, sizeof(call), "map, %zu bytes at %zu", length, at);
	BOTH((map[side] = mmap(NULL, size, protection, MAP_SHARED, file->fd[side], 0)) == MAP_FAILED
		     ? -1
		     : 0);
	same_end();
	if (number[0])
		return;
	if (memcmp(map[0], map[1], size) != 0)
		differ("mapped bytes", 0, 0);
	for (int side = 0; side < SIDES && (protection & PROT_WRITE); side++) {
		fill(map[side] + at, length, (unsigned)size);
		if (at % 2)
			msync(map[side], size, MS_SYNC);
	}
	munmap(map[0], size);
	munmap(map[1], size);
}

static void op_seek(void)
{
	static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	struct open_file *file = pick_file();
	int whence = whences[below(3)];
	struct stat st;
	off_t at = (off_t)below(SIZE_MAX_USED) - (whence == SEEK_CUR ? SIZE_MAX_USED / 2 : 0);

	/* Skip folders, in which each filesystem has offsets of its own. */
	if (!file || fstat(file->fd[0], &st) != 0 || S_ISDIR(st.st_mode))
		return;
	snprintf(call, sizeof(call), "seek %lld, whence %d", (long long)at, whence);
	BOTH(lseek(file->fd[side], at, whence));
	same_end();
}

static void op_sync(void)
{
	struct open_file *file = pick_file();
	bool data = below(2);

	if (!file)
		return;
	snprintf(call, sizeof(call), "sync, data %d", data);
	BOTH(data ? fdatasync(file->fd[side]) : fsync(file->fd[side]));
	same_end();
}

static void op_open_attributes(void)
{
	struct timespec times[2] = {{below(GIVEN_TIME), 7}, {below(GIVEN_TIME), 8}};
	struct open_file *file = pick_file();
	mode_t mode = pick_mode();
	uid_t uid = below(3);

	if (!file)
		return;
	snprintf(call, sizeof(call), "fchmod 0%o", mode);
	BOTH(fchmod(file->fd[side], mode));
	same_end();
	strcpy(call, "fsetxattr");
	BOTH(fsetxattr(file->fd[side], "user.x", "open", 4, 0));
	same_end();
	strcpy(call, "fremovexattr");
	BOTH(fremovexattr(file->fd[side], "user.y"));
	same_end();
	strcpy(call, "futimens");
	BOTH(futimens(file->fd[side], times));
	same_end();
	snprintf(call, sizeof(call), "fchown %u", uid);
	BOTH(fchown(file->fd[side], uid, (gid_t)-1));
	same_end();
}

static void op_copy(void)
{
	struct open_file *from = pick_file(), *to = pick_file();
	off_t in = below(1000), out = below(SIZE_MAX_USED);
	size_t size = below(DATA_MAX);

	if (!from || !to)
		return;
	snprintf(call, sizeof(call), "copy %zu bytes", size);
	for (int side = 0; side < SIDES; side++) {
		off_t at = in, there = out;

		errno = 0;
		ended(side, copy_file_range(from->fd[side], &at, to->fd[side], &there, size, 0));
	}
	same_end();
}

/* Makes the next calls those of another user; only if root runs the program. */
static void op_become(void)
{
	if (getuid() == 0)
		become(below(2) ? 0 : below(3));
}

static const struct {
	void (*run)(void);
	unsigned weight;
} operations[] = {
	{op_open, 20},
	{op_make, 12},
	{op_remove, 8},
	{op_rename, 12},
	{op_link, 6},
	{op_stat, 8},
	{op_xattr, 5},
	{op_attributes, 8},
	{op_truncate, 4},
	{op_close, 8},
	{op_write, 14},
	{op_read, 10},
	{op_open_attributes, 4},
	{op_resize, 6},
	{op_map, 4},
	{op_copy, 4},
	{op_seek, 5},
	{op_sync, 2},
	{op_become, 5},
};

static void one(void)
{
	unsigned total = 0, at;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		total += operations[i].weight;
	at = below(total);
	for (size_t i = 0;; i++) {
		if (at < operations[i].weight) {
			operations[i].run();
			return;
		}
		at -= operations[i].weight;
	}
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 5000;
	unsigned seed = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : (unsigned)time(NULL);

	if (argc < 3) {
		fputs("usage: random_ops A B [OPERATIONS [SEED]]\n", stderr);
		return 2;
	}
	for (int side = 0; side < SIDES; side++) {
		top[side] = open(argv[1 + side], O_RDONLY | O_DIRECTORY);
		if (top[side] < 0) {
			perror(argv[1 + side]);
			return 2;
		}
		if (fchmod(top[side], 0777) != 0)
			return 2;
	}
	verbose = getenv("V") != NULL;
	umask(0);
	signal(SIGPIPE, SIG_IGN); /* a write to a FIFO without a reader must not end the program */
	srandom(seed);
	printf("seed %u\n", seed);
	fflush(stdout);
	for (done = 1; done <= count; done++) {
		one();
		if (verbose)
			printf("%lu: %s (%ld): %lld and %lld, by %u\n", done, call, picked,
			       value[0], value[1], user);
		if (verbose || done % COMPARE_EVERY == 0 || done == count)
			compare();
	}
	if (user)
		become(0); /* LeakSanitizer traces this process, which only root may */
	printf("%lu operations, both the same\n", count);
	return 0;
}
