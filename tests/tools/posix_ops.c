/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * posix_ops.c - posix_ops list | posix_ops DIR CASE
 *
 * Makes the calls of a case in DIR, an empty folder, and writes down the result of each call and
 * the files afterwards, without details that may differ between two filesystems (inode numbers,
 * times of day, sizes of folders). tests/mount/posix.sh compares the output of the same case on the
 * bare filesystem and through a mount. Run by root, it also acts as another user.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OTHER 65534  /* another user and group, for acting without root's rights */
#define BESIDES 5432 /* another group that this user is in */

static char pattern[1 << 16]; /* bytes to write */
static char big[1 << 16];     /* room to read into */

/* ---- output ---- */

static void result(const char *call, long long value, bool number)
{
	if (value < 0)
		printf("%s: %s\n", call, strerrorname_np(errno));
	else if (number)
		printf("%s: %lld\n", call, value);
	else
		printf("%s: ok\n", call);
}

#define OK(call) result(#call, (long long)(call), false)
#define NUM(call) result(#call, (long long)(call), true)
/* Opens a file, and prints the result; the value is the descriptor. */
#define OPEN(...) opened("open " #__VA_ARGS__, open(__VA_ARGS__))

static int opened(const char *call, int fd)
{
	result(call, fd, false);
	return fd;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints the extended attributes, sorted, since no filesystem promises an order. */
static void show_xattrs(const char *path)
{
	char list[4096], value[4096], *names[64];
	ssize_t size = llistxattr(path, list, sizeof(list));
	size_t count = 0;

	for (char *at = list; size > 0 && at < list + size && count < COUNT(names);
	     at += strlen(at) + 1)
		names[count++] = at;
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		ssize_t length = lgetxattr(path, names[i], value, sizeof(value));

		printf("  %s=%.*s\n", names[i], length > 64 ? 64 : (int)length, value);
	}
}

static unsigned checksum(int fd)
{
	unsigned sum = 5381;
	char buffer[4096];
	ssize_t got;
	off_t at = 0;

	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sum = sum * 33 + (unsigned char)buffer[i];
		at += got;
	}
	return sum;
}

static void show_stat(const char *what, const struct stat *st)
{
	bool folder = S_ISDIR(st->st_mode);

	printf("%s: mode %o nlink %ld uid %d gid %d size %lld rdev %u:%u\n", what, st->st_mode,
	       folder ? (long)(st->st_nlink > 0) : (long)st->st_nlink, (int)st->st_uid,
	       (int)st->st_gid, folder ? 0LL : (long long)st->st_size, major(st->st_rdev),
	       minor(st->st_rdev));
}

static void show_fd(const char *what, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		result(what, -1, false);
		return;
	}
	show_stat(what, &st);
	if (S_ISREG(st.st_mode))
		printf("  content %08x\n", checksum(fd));
}

/* Prints all that stat and the xattr calls show of a name. */
static void show(const char *path)
{
	char target[4200];
	struct stat st;
	ssize_t size;
	int fd;

	if (lstat(path, &st) != 0) {
		result(path, -1, false);
		return;
	}
	show_stat(path, &st);
	if (S_ISLNK(st.st_mode)) {
		size = readlink(path, target, sizeof(target));
		printf("  -> %.*s\n", (int)(size > 80 ? 80 : size), target);
	}
	if (S_ISREG(st.st_mode) && (fd = open(path, O_RDONLY)) >= 0) {
		printf("  content %08x\n", checksum(fd));
		close(fd);
	}
	show_xattrs(path);
}

static void list_folder(DIR *dir)
{
	char *names[2048];
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(dir)) && count < COUNT(names)) {
		char text[300];

		snprintf(text, sizeof(text), "%s type %d", entry->d_name, entry->d_type);
		names[count++] = strdup(text);
	}
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		printf("  %s\n", names[i]);
		free(names[i]);
	}
}

static void list(const char *path)
{
	DIR *dir = opendir(path);

	result(path, dir ? 0 : -1, false);
	if (!dir)
		return;
	list_folder(dir);
	closedir(dir);
}

/* ---- short forms ---- */

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t size = (ssize_t)strlen(text);

	if (fd < 0)
		return -1;
	if (write(fd, text, (size_t)size) != size)
		return -1;
	return close(fd);
}

static int rename_at(const char *from, const char *to, unsigned flags)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

/*
 * Runs `act` as another user, in a process of its own. Returns false if this process may not do
 * that.
 */
static bool as_other(void (*act)(void))
{
	const gid_t besides = BESIDES;
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		return false;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setgroups(1, &besides) || setgid(OTHER) || setuid(OTHER))
			_exit(1);
		act();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("as other: %d\n", status);
	return true;
}

/* ---- cases ---- */

static void case_create(void)
{
	int fd;

	fd = OPEN("a", O_WRONLY | O_CREAT | O_EXCL, 0640);
	NUM(write(fd, "text", 4));
	OK(close(fd));
	OPEN("a", O_WRONLY | O_CREAT | O_EXCL, 0640);
	show("a");
	umask(027);
	close(OPEN("masked", O_RDWR | O_CREAT, 0777));
	OK(mkdir("folder", 0777));
	OK(mkfifo("fifo", 0666));
	umask(022);
	show("masked");
	show("folder");
	show("fifo");
	fd = OPEN("a", O_WRONLY | O_TRUNC);
	show_fd("truncated", fd);
	close(fd);
	put("a", "again");
	/* POSIX leaves this undefined; Linux truncates. */
	fd = OPEN("a", O_RDONLY | O_TRUNC);
	show_fd("truncated for reading", fd);
	close(fd);
	OPEN("folder", O_WRONLY);
	OPEN("folder", O_RDWR | O_CREAT, 0644);
	OPEN("a", O_RDONLY | O_DIRECTORY);
	OPEN("a/b", O_WRONLY | O_CREAT, 0644);
	OPEN("none/b", O_WRONLY | O_CREAT, 0644);
	OPEN("a/", O_RDONLY);
	OPEN("new/", O_WRONLY | O_CREAT, 0644);
	OPEN("", O_RDONLY);
	OK(symlink("target", "dangling"));
	OPEN("dangling", O_WRONLY | O_CREAT | O_EXCL, 0644);
	OPEN("dangling", O_WRONLY | O_CREAT | O_NOFOLLOW, 0644);
	close(OPEN("dangling", O_WRONLY | O_CREAT, 0600));
	show("target");
	close(OPEN("closed", O_WRONLY | O_CREAT | O_EXCL, 0));
	fd = OPEN("readonly", O_RDWR | O_CREAT | O_EXCL, 0444);
	NUM(write(fd, "may", 3));
	OK(ftruncate(fd, 2));
	close(fd);
	show("readonly");
	show("closed");
	list(".");
}

static void case_names(void)
{
	char name[301];

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	OK(put(name, "longest"));
	show(name);
	OK(rename(name, "short"));
	OK(rename("short", name));
	OK(unlink(name));
	OK(mkdir(name, 0755));
	OK(rmdir(name));
	name[255] = 'n';
	name[256] = '\0';
	OK(put(name, "too long"));
	OK(mkdir(name, 0755));
	OK(access(name, F_OK));
	OK(put("short", ""));
	OK(rename("short", name));
	OK(link("short", name));
	OK(symlink("short", name));
	for (size_t i = 0; i < 85; i++)
		memcpy(name + 3 * i, "\343\201\202", 3);
	name[255] = '\0';
	OK(put(name, "in three bytes each"));
	OK(put("\xff\xfe not UTF-8", "bytes"));
	OK(put(" ", "space"));
	OK(put("new\nline", "line"));
	OK(put("...", "dots"));
	list(".");
}

static void case_write(void)
{
	char buffer[64] = "";
	int fd = OPEN("a", O_RDWR | O_CREAT, 0644), append, both;
	struct iovec parts[] = {{buffer, 3}, {buffer + 8, 5}};

	NUM(write(fd, "0123456789", 10));
	NUM(pwrite(fd, "XY", 2, 4));
	NUM(pwrite(fd, "far", 3, 100000));
	NUM(pread(fd, buffer, 20, 99990));
	NUM(pread(fd, buffer, 20, 200000));
	NUM(lseek(fd, 0, SEEK_SET));
	NUM(readv(fd, parts, 2));
	printf("%.3s %.5s\n", buffer, buffer + 8);
	show_fd("a", fd);
	append = OPEN("a", O_WRONLY | O_APPEND);
	both = OPEN("a", O_RDWR | O_APPEND);
	NUM(write(append, "one", 3));
	NUM(write(both, "two", 3));
	NUM(pwrite(append, "at its end all the same", 23, 0));
	NUM(lseek(fd, 0, SEEK_END));
	show_fd("a", fd);
	OK(fcntl(fd, F_SETFL, O_APPEND));
	NUM(pwrite(fd, "appends now", 11, 0));
	OK(fcntl(fd, F_SETFL, 0));
	NUM(pwrite(fd, "not any more", 12, 0));
	NUM(write(append, pattern, sizeof(pattern)));
	NUM(pwrite(fd, pattern, sizeof(pattern), 4095));
	NUM(pwritev(fd, parts, 2, 70000));
	OK(fsync(fd));
	OK(fdatasync(fd));
	OK(syncfs(fd));
	NUM(read(append, buffer, 1));
	OK(pwrite(fd, "", 0, 0));
	show("a");
	close(fd);
	NUM(write(fd, "x", 1));
	fd = OPEN("a", O_RDONLY);
	NUM(write(fd, "x", 1));
	OK(ftruncate(fd, 3));
	close(fd);
	close(append);
	close(both);
}

static void case_size(void)
{
	int fd = OPEN("a", O_RDWR | O_CREAT, 0644);

	NUM(write(fd, "0123456789", 10));
	OK(truncate("a", 5));
	show_fd("shorter", fd);
	OK(ftruncate(fd, 20000));
	show_fd("longer", fd);
	OK(ftruncate(fd, -1));
	OK(truncate("none", 0));
	OK(truncate(".", 0));
	OK(fallocate(fd, 0, 0, 50000));
	show_fd("allocated", fd);
	OK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 50000, 50000));
	show_fd("allocated behind its end", fd);
	NUM(pwrite(fd, pattern, 40000, 0));
	OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192));
	OK(fallocate(fd, FALLOC_FL_ZERO_RANGE, 20000, 100));
	OK(fallocate(fd, 0, 0, 0));
	OK(fallocate(fd, 0, -1, 10));
	show_fd("with holes", fd);
	OK(ftruncate(fd, 0));
	OK(posix_fallocate(fd, 10, 10));
	show_fd("a", fd);
	close(fd);
}

static void case_seek(void)
{
	int fd = OPEN("a", O_RDWR | O_CREAT, 0644);

	OK(ftruncate(fd, 4 << 20));
	NUM(pwrite(fd, pattern, 4096, 1 << 20));
	OK(fsync(fd));
	NUM(lseek(fd, 0, SEEK_DATA));
	NUM(lseek(fd, 0, SEEK_HOLE));
	NUM(lseek(fd, 1 << 20, SEEK_HOLE));
	NUM(lseek(fd, 2 << 20, SEEK_DATA));
	NUM(lseek(fd, 5 << 20, SEEK_HOLE));
	NUM(lseek(fd, 7, SEEK_SET));
	NUM(lseek(fd, 7, SEEK_CUR));
	NUM(lseek(fd, -7, SEEK_END));
	NUM(lseek(fd, -7, SEEK_SET));
	close(fd);
}

static void make_pair(void)
{
	put("f", "file");
	put("g", "other file");
	mkdir("d", 0755);
	mkdir("full", 0755);
	put("full/inside", "inside");
}

static void case_rename(void)
{
	int fd, folder;

	make_pair();
	OK(rename("f", "f2"));
	OK(rename("f2", "full/f"));
	OK(rename("full/f", "f"));
	OK(rename("none", "x"));
	OK(rename("f", "d"));
	OK(rename("d", "f"));
	OK(rename("d", "full"));
	OK(rename("full", "d"));
	OK(rename("d", "d/inside/deeper"));
	OK(rename("d", "d/inside"));
	OK(rename("d/inside", "d"));
	OK(rename("d", "d"));
	OK(rename("f", "none/x"));
	OK(rename("f", "g/x"));
	OK(rename("d", "."));
	OK(rename("d/..", "x"));
	OK(rename_at("f", "g", RENAME_NOREPLACE));
	OK(rename_at("f", "fresh", RENAME_NOREPLACE));
	OK(rename_at("fresh", "g", RENAME_EXCHANGE));
	show("g");
	show("fresh");
	OK(rename_at("g", "d", RENAME_EXCHANGE));
	show("g");
	show("g/inside");
	show("d");
	OK(put("g/new", "made in a folder that moved"));
	OK(rename_at("g", "d", RENAME_EXCHANGE));
	list("d");
	OK(rename_at("g", "none", RENAME_EXCHANGE));
	OK(rename_at("g", "fresh", RENAME_EXCHANGE | RENAME_NOREPLACE));
	/* Replace a file that is open. */
	fd = OPEN("fresh", O_RDWR);
	OK(rename("g", "fresh"));
	show_fd("what was replaced", fd);
	NUM(pwrite(fd, "still there", 11, 0));
	show_fd("what was replaced", fd);
	show("fresh");
	close(fd);
	/* Remove the file while it is open. */
	fd = OPEN("fresh", O_RDWR);
	OK(rename("fresh", "d/moved"));
	NUM(write(fd, "after", 5));
	OK(fchmod(fd, 0600));
	show_fd("moved", fd);
	show("d/moved");
	close(fd);
	folder = OPEN("d", O_RDONLY | O_DIRECTORY);
	OK(rename("d", "e"));
	OK(mkdirat(folder, "sub", 0755));
	OK(renameat(folder, "moved", folder, "sub/moved"));
	OK(fchmod(folder, 0711));
	close(folder);
	list("e");
	list("e/sub");
	show("e");
	OK(symlink("e", "l"));
	OK(rename("l", "l2"));
	OK(rename("l2/sub", "sub"));
	list(".");
}

static bool same_inode(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino;
}

static void case_link(void)
{
	int fd;

	make_pair();
	OK(link("f", "second"));
	OK(link("f", "full/third"));
	NUM(same_inode("f", "full/third"));
	show("f");
	fd = OPEN("second", O_WRONLY | O_APPEND);
	NUM(write(fd, " more", 5));
	close(fd);
	show("f");
	show("full/third");
	OK(chmod("full/third", 0600));
	show("second");
	OK(rename("f", "second"));
	show("f");
	OK(unlink("f"));
	show("second");
	OK(link("second", "g"));
	OK(link("d", "x"));
	OK(link("none", "x"));
	OK(link("second", "none/x"));
	OK(symlink("second", "l"));
	OK(link("l", "link to link"));
	OK(linkat(AT_FDCWD, "l", AT_FDCWD, "fourth", AT_SYMLINK_FOLLOW));
	show("link to link");
	show("fourth");
	OK(unlink("second"));
	OK(truncate("fourth", 3));
	show("full/third");
	OK(rename_at("fourth", "g", RENAME_EXCHANGE));
	show("g");
	NUM(same_inode("g", "full/third"));
	OK(unlink("d"));
	OK(unlink("none"));
	list(".");
}

static void case_symlink(void)
{
	static char target[4200];
	char buffer[10];

	memset(target, 't', 4095);
	OK(symlink(target, "longest"));
	NUM(readlink("longest", big, sizeof(big)));
	memset(target, 't', 4096);
	OK(symlink(target, "too long"));
	OK(symlink("", "empty"));
	OK(symlink("/etc/passwd", "outside"));
	OK(symlink("loop", "loop"));
	OK(symlink("../..", "up"));
	NUM(readlink("outside", buffer, sizeof(buffer)));
	OK(symlink("x", "outside"));
	OPEN("loop", O_RDONLY);
	OPEN("outside", O_RDONLY | O_NOFOLLOW);
	OK(lchown("loop", (uid_t)-1, (gid_t)-1));
	OK(chmod("loop", 0600));
	OK(fchmodat(AT_FDCWD, "outside", 0600, AT_SYMLINK_NOFOLLOW));
	put("f", "");
	NUM(readlink("f", buffer, sizeof(buffer)));
	NUM(readlink(".", buffer, sizeof(buffer)));
	show("outside");
	show("loop");
	OK(unlink("loop"));
	OK(rmdir("up"));
	OK(unlink("up"));
	list(".");
}

static void case_unlinked_file(void)
{
	char path[64];
	int fd, again;

	put("a", "some text");
	fd = OPEN("a", O_RDWR);
	OK(unlink("a"));
	OK(unlink("a"));
	show_fd("unlinked", fd);
	NUM(pwrite(fd, "more", 4, 5));
	OK(fchmod(fd, 0600));
	OK(fchown(fd, (uid_t)-1, (gid_t)-1));
	OK(futimens(fd, (struct timespec[]){{1, 0}, {2, 0}}));
	OK(ftruncate(fd, 7));
	OK(fsetxattr(fd, "user.test", "value", 5, 0));
	NUM(fgetxattr(fd, "user.test", big, sizeof(big)));
	NUM(flistxattr(fd, big, sizeof(big)));
	OK(fremovexattr(fd, "user.test"));
	show_fd("changed", fd);
	OK(fsync(fd));
	OK(fallocate(fd, 0, 0, 9000));
	NUM(lseek(fd, 0, SEEK_HOLE));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = opened("open again", open(path, O_WRONLY | O_APPEND));
	NUM(write(again, "!", 1));
	OK(close(again));
	OK(linkat(AT_FDCWD, path, AT_FDCWD, "b", AT_SYMLINK_FOLLOW));
	put("a", "another of the name");
	show_fd("the old one", fd);
	OK(ftruncate(fd, 1));
	OK(fchmod(fd, 0640));
	show_fd("the old one", fd);
	show("a");
	close(fd);
}

static void case_unlinked_folder(void)
{
	int fd, inner;
	DIR *dir;

	mkdir("d", 0755);
	mkdir("d/e", 0755);
	put("d/e/f", "");
	fd = OPEN("d", O_RDONLY | O_DIRECTORY);
	dir = opendir("d/e");
	inner = openat(fd, "e/f", O_RDWR);
	OK(unlinkat(fd, "e/f", 0));
	OK(unlinkat(fd, "e", AT_REMOVEDIR));
	OK(rmdir("d"));
	show_fd("removed", fd);
	OK(fchmod(fd, 0700));
	OK(fsetxattr(fd, "user.test", "value", 5, 0));
	NUM(fgetxattr(fd, "user.test", big, sizeof(big)));
	show_fd("changed", fd);
	OK(openat(fd, "new", O_WRONLY | O_CREAT, 0644));
	OK(mkdirat(fd, "new", 0755));
	OK(symlinkat("x", fd, "new"));
	OK(faccessat(fd, "e", F_OK, 0));
	OK(fchdir(fd));
	OK(put("new", ""));
	OK(chdir("/"));
	list_folder(dir);
	rewinddir(dir);
	list_folder(dir);
	NUM(pwrite(inner, "x", 1, 0));
	show_fd("file in it", inner);
	closedir(dir);
	close(inner);
	close(fd);
}

/*
 * Removes files that are in use without an ordinary open: a FIFO, files with O_PATH descriptors,
 * the working folder.
 */
static void case_unlinked_other(void)
{
	int fifo, path, folder;

	OK(mkfifo("fifo", 0644));
	put("f", "text");
	OK(link("f", "second"));
	OK(mkdir("d", 0755));
	fifo = OPEN("fifo", O_RDWR | O_NONBLOCK);
	path = OPEN("f", O_PATH);
	folder = OPEN("d", O_PATH);
	OK(chdir("d"));
	OK(unlink("../fifo"));
	OK(rmdir("../d"));
	OK(fchmod(fifo, 0600));
	show_fd("fifo", fifo);
	OK(futimens(fifo, (struct timespec[]){{1, 0}, {2, 0}}));
	show_fd("fifo", fifo);
	OK(chmod(".", 0700));
	show(".");
	show_fd("folder", folder);
	OK(chdir(".."));
	OK(unlink("f"));
	OK(chmod("second", 0600));
	show_fd("file", path);
	OK(put("f", "new"));
	OK(rename("f", "second"));
	show_fd("file", path);
	show("second");
	list(".");
	close(fifo);
	close(path);
	close(folder);
}

static void case_folders(void)
{
	OK(mkdir("d", 0755));
	OK(mkdir("d", 0755));
	OK(mkdir("none/d", 0755));
	put("f", "");
	OK(mkdir("f", 0755));
	OK(mkdir("f/d", 0755));
	OK(put("d/inside", ""));
	OK(rmdir("d"));
	OK(rmdir("f"));
	OK(rmdir("none"));
	OK(rmdir("d/."));
	OK(rmdir("d/.."));
	OK(unlink("d"));
	OK(unlink("d/inside"));
	OK(mkdir("d/e/", 01777));
	show("d/e");
	OK(rmdir("d/e/"));
	OK(rmdir("d"));
	OK(mkdir("d", 0700));
	OK(chdir("d"));
	OK(rmdir("../d"));
	OK(put("x", ""));
	NUM(getcwd(big, sizeof(big)) ? 1 : -1);
	OK(chdir(".."));
	OK(chdir("/"));
}

static void case_nodes(void)
{
	struct sockaddr_un name = {AF_UNIX, "socket"};
	int fd, writer, listener = socket(AF_UNIX, SOCK_STREAM, 0);
	char buffer[8] = "";

	OK(mknod("regular", S_IFREG | 0640, 0));
	OK(mknod("regular", S_IFREG | 0640, 0));
	OK(mkfifo("fifo", 0600));
	OK(mknod("socket file", S_IFSOCK | 0600, 0));
	OK(bind(listener, (struct sockaddr *)&name, sizeof(name)));
	OK(listen(listener, 1));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	OK(connect(fd, (struct sockaddr *)&name, sizeof(name)));
	close(fd);
	close(listener);
	fd = OPEN("fifo", O_RDONLY | O_NONBLOCK);
	writer = OPEN("fifo", O_WRONLY);
	NUM(write(writer, "through", 7));
	NUM(read(fd, buffer, sizeof(buffer)));
	printf("%.7s\n", buffer);
	close(fd);
	close(writer);
	OPEN("socket", O_RDONLY);
	OK(rename("fifo", "pipe"));
	OK(link("pipe", "pipe2"));
	OK(chmod("socket", 0755));
	show("regular");
	show("pipe2");
	show("socket");
	list(".");
	OK(unlink("socket"));
}

/* Makes calls for which a confined daemon lacks the privilege. */
static void case_privileged(void)
{
	make_pair();
	OK(mknod("device", S_IFCHR | 0600, makedev(1, 3)));
	OK(mknod("block", S_IFBLK | 0600, makedev(7, 200)));
	OK(setxattr("f", "trusted.t", "root's", 6, 0));
	OK(setxattr("d", "trusted.t", "root's", 6, 0));
	show("device");
	show("block");
	show("f");
	show("d");
	list(".");
	OK(removexattr("f", "trusted.t"));
	OK(unlink("device"));
	show("f");
}

static void show_times(const char *path)
{
	struct stat st;

	lstat(path, &st);
	printf("%s: %lld.%09ld %lld.%09ld\n", path, (long long)st.st_atim.tv_sec,
	       st.st_atim.tv_nsec, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void case_attributes(void)
{
	struct stat before, after;
	int fd;

	make_pair();
	OK(symlink("f", "l"));
	for (mode_t mode = 0; mode <= 07777; mode += 0111)
		OK(chmod("f", mode));
	OK(chmod("f", 06755));
	OK(chmod("d", 03775));
	show("f");
	show("d");
	OK(chmod("none", 0644));
	OK(chmod("l", 0604));
	show("f");
	OK(chown("f", 1234, 2345));
	OK(lchown("l", 77, 88));
	OK(chown("d", (uid_t)-1, 99));
	OK(chmod("f", 06755));
	OK(chown("f", 1234, (gid_t)-1));
	show("f");
	show("l");
	show("d");
	OK(utimensat(AT_FDCWD, "f", (struct timespec[]){{11, 12}, {13, 14}}, 0));
	OK(utimensat(AT_FDCWD, "l", (struct timespec[]){{21, 0}, {22, 999999999}},
		     AT_SYMLINK_NOFOLLOW));
	show_times("f");
	show_times("l");
	OK(utimensat(AT_FDCWD, "f", (struct timespec[]){{31, 0}, {0, UTIME_OMIT}}, 0));
	show_times("f");
	OK(utimensat(AT_FDCWD, "d", (struct timespec[]){{-5, 0}, {5000000000, 1}}, 0));
	show_times("d");
	fd = OPEN("f", O_RDWR);
	OK(futimens(fd, (struct timespec[]){{41, 1}, {42, 2}}));
	show_times("f");
	NUM(pread(fd, big, 4, 0));
	NUM(pwrite(fd, "F", 1, 0));
	fstat(fd, &after);
	NUM(after.st_mtim.tv_sec > 42);
	OK(futimens(fd, (struct timespec[]){{0, UTIME_OMIT}, {50, 0}}));
	close(fd);
	stat("f", &before);
	OK(truncate("f", before.st_size));
	stat("f", &after);
	NUM(after.st_mtim.tv_sec > 50);
	OK(chmod("g", 0600));
	stat("g", &before);
	OK(utimensat(AT_FDCWD, "g", NULL, 0));
	stat("g", &after);
	NUM(after.st_mtim.tv_sec >= before.st_mtim.tv_sec);
	NUM(before.st_blksize > 0);
}

static void case_xattr(void)
{
	static const char *const names[] = {"f", "d", "l", "pipe"};

	make_pair();
	OK(symlink("f", "l"));
	OK(mkfifo("pipe", 0644));
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *name = names[i];

		puts(name);
		OK(lsetxattr(name, "user.a", "1", 1, 0));
		OK(lsetxattr(name, "user.a", "22", 2, XATTR_CREATE));
		OK(lsetxattr(name, "user.b", "22", 2, XATTR_REPLACE));
		OK(lsetxattr(name, "user.a", "333", 3, XATTR_REPLACE));
		OK(lsetxattr(name, "user.empty", "", 0, 0));
		OK(lsetxattr(name, "unknown.t", "x", 1, 0));
		OK(lsetxattr(name, "user.big", pattern, 1500, 0));
		NUM(lgetxattr(name, "user.a", big, 2));
		NUM(lgetxattr(name, "user.a", NULL, 0));
		NUM(lgetxattr(name, "user.none", big, sizeof(big)));
		NUM(llistxattr(name, NULL, 0));
		NUM(llistxattr(name, big, 5));
		show(name);
		OK(lremovexattr(name, "user.a"));
		OK(lremovexattr(name, "user.a"));
		show(name);
	}
	OK(setxattr("l", "user.followed", "yes", 3, 0));
	NUM(getxattr("f", "user.followed", big, sizeof(big)));
	OK(setxattr("none", "user.a", "1", 1, 0));
	OK(link("f", "h"));
	show("h");
}

static void case_mmap(void)
{
	int fd = OPEN("a", O_RDWR | O_CREAT, 0644), append;
	char *map;

	OK(ftruncate(fd, 10000));
	map = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NUM(map != MAP_FAILED);
	memcpy(map + 5000, "by mapping", 10);
	NUM(pread(fd, big, 10, 5000));
	printf("%.10s\n", big);
	NUM(pwrite(fd, "by write", 8, 6000));
	printf("%.8s\n", map + 6000);
	OK(msync(map, 10000, MS_SYNC));
	/*
	 * Make the mapping's pages dirty: the kernel may write them through any descriptor open for
	 * writing.
	 */
	append = OPEN("a", O_RDWR | O_APPEND);
	NUM(write(append, "appended", 8));
	memcpy(map + 100, "then mapped", 11);
	OK(close(fd));
	OK(msync(map, 10000, MS_SYNC));
	OK(close(append));
	memcpy(map + 200, "after close", 11);
	OK(munmap(map, 10000));
	show("a");
	fd = OPEN("a", O_RDONLY);
	NUM(mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	map = mmap(NULL, 10008, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	printf("%.10s %.8s\n", map + 5000, map + 10000);
	map[0] = 'x';
	OK(munmap(map, 10008));
	close(fd);
	show("a");
}

static void case_copy(void)
{
	loff_t from = 5, to = 3;
	int in, out, append;

	put("a", "0123456789abcdef");
	in = OPEN("a", O_RDWR);
	out = OPEN("b", O_RDWR | O_CREAT, 0644);
	NUM(copy_file_range(in, NULL, out, NULL, 10, 0));
	NUM(copy_file_range(in, &from, out, &to, 100, 0));
	NUM(copy_file_range(in, NULL, out, NULL, 100, 0));
	NUM(copy_file_range(in, NULL, out, NULL, 100, 0));
	from = 0;
	to = 8;
	NUM(copy_file_range(in, &from, in, &to, 4, 0));
	from = 0;
	to = 2;
	NUM(copy_file_range(in, &from, in, &to, 4, 0));
	append = OPEN("b", O_WRONLY | O_APPEND);
	from = 0;
	NUM(copy_file_range(in, &from, append, NULL, 4, 0));
	NUM(copy_file_range(append, NULL, out, NULL, 4, 0));
	from = 0;
	NUM(sendfile(out, in, &from, 8));
	show("a");
	show("b");
	close(in);
	close(out);
	close(append);
}

static void case_listing(void)
{
	struct dirent *entry;
	char name[32];
	long place = 0;
	unsigned seen = 0;
	DIR *dir;

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "entry number %u", i);
		put(name, "");
	}
	dir = opendir(".");
	for (unsigned i = 0; i < 500; i++)
		entry = readdir(dir);
	place = telldir(dir);
	entry = readdir(dir);
	snprintf(name, sizeof(name), "%.31s", entry->d_name);
	while (readdir(dir))
		seen++;
	printf("behind the middle: %u\n", seen);
	seekdir(dir, place);
	NUM(strcmp(readdir(dir)->d_name, name) == 0);
	put("made later", "");
	rewinddir(dir);
	for (seen = 0; readdir(dir); seen++)
		;
	printf("after rewinddir: %u\n", seen);
	/* Every entry must be read once, though entries are removed meanwhile. */
	rewinddir(dir);
	for (seen = 0; (entry = readdir(dir));) {
		if (unlink(entry->d_name) == 0)
			seen++;
	}
	printf("removed while reading: %u\n", seen);
	closedir(dir);
	list(".");
}

static void case_deep(void)
{
	char name[251];
	int top = open(".", O_RDONLY), fd;
	unsigned depth = 0;

	memset(name, 'd', 250);
	name[250] = '\0';
	for (; depth < 60; depth++) {
		if (mkdir(name, 0755) || chdir(name))
			break;
	}
	printf("depth %u: %s\n", depth, strerrorname_np(errno));
	OK(put("bottom", "far beyond PATH_MAX"));
	show("bottom");
	OK(link("bottom", "second"));
	OK(rename("second", "third"));
	fd = OPEN("bottom", O_RDWR);
	OK(fchdir(top));
	OK(rename(name, "renamed"));
	NUM(pwrite(fd, "FAR", 3, 0));
	show_fd("bottom", fd);
	OK(chdir("renamed"));
	for (unsigned i = 1; i < depth; i++) {
		if (chdir(name))
			break;
	}
	show("bottom");
	OK(unlink("bottom"));
	OK(unlink("third"));
	for (unsigned i = 1; i < depth; i++) {
		if (chdir("..") || rmdir(name))
			break;
	}
	OK(fchdir(top));
	OK(rmdir("renamed"));
	list(".");
	close(fd);
	close(top);
}

static void case_locks(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	int a, b;

	put("f", "0123456789");
	a = OPEN("f", O_RDWR);
	b = OPEN("f", O_RDWR);
	OK(flock(a, LOCK_EX | LOCK_NB));
	OK(flock(b, LOCK_EX | LOCK_NB));
	OK(flock(a, LOCK_UN));
	OK(flock(b, LOCK_SH | LOCK_NB));
	OK(fcntl(a, F_OFD_SETLK, &lock));
	OK(fcntl(b, F_OFD_SETLK, &lock));
	OK(fcntl(b, F_OFD_GETLK, &lock));
	printf("type %d\n", lock.l_type);
	close(a);
	lock.l_type = F_WRLCK;
	lock.l_pid = 0;
	OK(fcntl(b, F_OFD_SETLK, &lock));
	close(b);
}

static void case_setgid(void)
{
	OK(mkdir("d", 0755));
	OK(chown("d", 0, 4321));
	OK(chmod("d", 02777));
	OK(put("d/f", ""));
	OK(mkdir("d/e", 0700));
	OK(mkdir("d/e/g", 0755));
	OK(symlink("x", "d/l"));
	OK(mkfifo("d/p", 0600));
	show("d/f");
	show("d/e");
	show("d/e/g");
	show("d/l");
	show("d/p");
}

static void act_in_setgid(void)
{
	int fd;

	umask(0);
	fd = OPEN("d/other", O_WRONLY | O_CREAT, 0644);
	close(fd);
	OK(mkdir("d/folder", 0755));
	OK(symlink("x", "d/link"));
	OK(mkfifo("d/pipe", 0666));
	fd = OPEN("d/setuid", O_WRONLY | O_CREAT, 04755);
	close(fd);
	fd = OPEN("d/setgid", O_WRONLY | O_CREAT, 02755);
	close(fd);
	fd = OPEN("d/lockable", O_WRONLY | O_CREAT, 02745);
	close(fd);
	fd = OPEN("ours/setgid", O_WRONLY | O_CREAT, 02755);
	close(fd);
	OK(mknod("ours/made", S_IFREG | 06755, 0));
	fd = OPEN("free/setgid", O_WRONLY | O_CREAT, 06755);
	close(fd);
	OK(mkdir("free/folder", 02755));
	show("d/other");
	show("d/folder");
	show("d/link");
	show("d/pipe");
	show("d/setuid");
	show("d/setgid");
	show("d/lockable");
	show("ours/setgid");
	show("ours/made");
	show("free/setgid");
	show("free/folder");
	OK(chmod("d/other", 02755));
	show("d/other");
}

static void case_other_in_setgid(void)
{
	mkdir("d", 0755);
	OK(chown("d", 0, 4321));
	OK(chmod("d", 02777));
	mkdir("ours", 0755);
	OK(chown("ours", 0, BESIDES));
	OK(chmod("ours", 02777));
	mkdir("free", 0755);
	OK(chmod("free", 0777));
	as_other(act_in_setgid);
}

static void act_as_other(void)
{
	int fd;

	OK(put("new", "mine"));
	show("new");
	OK(mkdir("folder", 0755));
	show("folder");
	OK(symlink("x", "link"));
	show("link");
	OK(link("shared", "second"));
	OK(link("set", "third"));
	OPEN("secret", O_RDONLY);
	OPEN("shared", O_WRONLY);
	OPEN("closed/f", O_RDONLY);
	OPEN("closed/none", O_WRONLY | O_CREAT, 0644);
	OK(access("secret", R_OK));
	OK(access("shared", R_OK));
	OK(access("shared", W_OK));
	OK(chmod("shared", 0777));
	OK(chown("new", 0, (gid_t)-1));
	OK(chown("new", (uid_t)-1, 0));
	OK(truncate("shared", 0));
	OK(utimensat(AT_FDCWD, "shared", NULL, 0));
	OK(setxattr("shared", "user.a", "1", 1, 0));
	OK(setxattr("new", "user.a", "1", 1, 0));
	OK(setxattr("new", "trusted.a", "1", 1, 0));
	OK(unlink("sticky/f"));
	OK(rename("sticky/f", "sticky/g"));
	OK(put("sticky/own", ""));
	OK(unlink("sticky/own"));
	OK(unlink("shut/f"));
	OK(put("shut/new", ""));
	OK(mknod("device", S_IFCHR | 0600, makedev(1, 3)));
	/* A write by another user removes the set-id bits. */
	fd = OPEN("set", O_WRONLY);
	NUM(write(fd, "x", 1));
	close(fd);
	show("set");
	fd = OPEN("set too", O_WRONLY | O_TRUNC);
	close(fd);
	show("set too");
	OK(truncate("set three", 1));
	show("set three");
	list(".");
}

static void case_other(void)
{
	static const char *const set[] = {"set", "set too", "set three"};

	OK(chmod(".", 0777));
	put("secret", "root's");
	chmod("secret", 0600);
	put("shared", "for all to read");
	mkdir("closed", 0700);
	put("closed/f", "");
	mkdir("sticky", 0755);
	put("sticky/f", "");
	chmod("sticky", 01777);
	mkdir("shut", 0755);
	put("shut/f", "");
	for (size_t i = 0; i < COUNT(set); i++) {
		put(set[i], "");
		chmod(set[i], 06777);
	}
	as_other(act_as_other);
	/* A write by root removes none. */
	chmod("set", 06777);
	put("set", "root wrote it");
	show("set");
}

static void case_other_things(void)
{
	struct statvfs st;
	int path, fd;

	make_pair();
	OK(statvfs("f", &st));
	printf("names %lu, blocks of %lu\n", st.f_namemax, st.f_bsize);
	path = OPEN("f", O_PATH);
	show_fd("O_PATH", path);
	NUM(read(path, big, 1));
	close(path);
	path = OPEN("d", O_PATH | O_DIRECTORY);
	fd = openat(path, "by descriptor", O_RDWR | O_CREAT, 0644);
	OK(fd);
	OK(fstatat(path, "", &(struct stat){0}, AT_EMPTY_PATH));
	OK(fchdir(path));
	show("by descriptor");
	OK(chdir(".."));
	close(path);
	close(fd);
	OK(put("script", "#!/bin/sh\nexit 7\n"));
	OK(chmod("script", 0755));
	NUM(system("./script") >> 8);
	fd = OPEN("script", O_WRONLY);
	close(fd);
	fd = OPEN("d", O_RDONLY);
	OK(fsync(fd));
	OK(fdatasync(fd));
	NUM(read(fd, big, 1));
	OK(ftruncate(fd, 0));
	close(fd);
	NUM(pathconf("f", _PC_NAME_MAX));
	list(".");
	list("f");
	list("none");
}

static const struct {
	const char *name;
	void (*run)(void);
	bool root; /* the case needs root */
} cases[] = {
	{"create", case_create, false},
	{"names", case_names, false},
	{"write", case_write, false},
	{"size", case_size, false},
	{"seek", case_seek, false},
	{"rename", case_rename, false},
	{"link", case_link, false},
	{"symlink", case_symlink, false},
	{"unlinked_file", case_unlinked_file, false},
	{"unlinked_folder", case_unlinked_folder, false},
	{"unlinked_other", case_unlinked_other, false},
	{"folders", case_folders, false},
	{"nodes", case_nodes, true},
	{"privileged", case_privileged, true},
	{"attributes", case_attributes, true},
	{"xattr", case_xattr, true},
	{"mmap", case_mmap, false},
	{"copy", case_copy, false},
	{"listing", case_listing, false},
	{"deep", case_deep, false},
	{"locks", case_locks, false},
	{"setgid", case_setgid, true},
	{"other_in_setgid", case_other_in_setgid, true},
	{"other", case_other, true},
	{"other_things", case_other_things, false},
};

static int usage(void)
{
	fputs("usage: posix_ops list | posix_ops DIR CASE\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	umask(022);
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (char)('a' + i % 23);
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < COUNT(cases); i++) {
			if (!cases[i].root || geteuid() == 0)
				puts(cases[i].name);
		}
		return 0;
	}
	if (argc != 3 || chdir(argv[1]) != 0)
		return usage();
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (strcmp(cases[i].name, argv[2]) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return usage();
}
