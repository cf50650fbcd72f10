/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/dirfd.h"
#include "scratch.h"
#include <limits.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * Replaces openat() in all unit tests: an open that would wait for the other end of a FIFO fails
 * the test.
 */
int openat(int dir, const char *name, int flags, ...)
{
	struct stat st;
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (!(flags & (O_NONBLOCK | O_PATH | O_RDWR | O_EXCL)) &&
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		ck_assert_msg(!S_ISFIFO(st.st_mode), "%s would block", name);
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

/* in/ is the root of the tests; secret and out/ lie outside of it, and links in it lead there. */
static int root;

static void begin(void)
{
	scratch_begin();
	put("secret", "secret");
	ck_assert_int_eq(mkdir("out", 0755), 0);
	put("out/file", "outside");
	ck_assert_int_eq(mkdir("in", 0755), 0);
	ck_assert_int_eq(mkdir("in/a", 0755), 0);
	ck_assert_int_eq(mkdir("in/a/b", 0755), 0);
	put("in/file", "0123456789");
	put("in/a/b/deep", "deep");
	ck_assert_int_eq(symlink("../secret", "in/link"), 0);
	ck_assert_int_eq(symlink("../out", "in/outlink"), 0);
	ck_assert_int_eq(symlink("b", "in/a/inlink"), 0);
	ck_assert_int_eq(symlink("../made", "in/dangling"), 0);
	root = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
	close(root);
	scratch_end();
}

static ino_t inode(int fd)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	return st.st_ino;
}

START_TEST(open_takes_one_name_and_follows_nothing)
{
	static const struct {
		const char *name;
		int flags, error;
	} refused[] = {
		{"..", O_RDONLY, EINVAL},
		{".", O_RDONLY, EINVAL},
		{"../secret", O_RDONLY, EINVAL},
		{"/etc/passwd", O_RDONLY, EINVAL},
		{"a/b", O_RDONLY, EINVAL},
		{"a/", O_RDONLY, EINVAL},
		{"", O_RDONLY, ENOENT},
		{"nothing", O_RDONLY, ENOENT},
		{"link", O_RDONLY, ELOOP},
		{"link", O_WRONLY | O_TRUNC, ELOOP},
		{"dangling", O_WRONLY | O_CREAT, ELOOP},
		{"outlink", O_PATH | O_DIRECTORY, ENOTDIR},
	};
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int error = dirfd_open(root, refused[i].name, refused[i].flags, 0600, &fd);

		ck_assert_msg(error == refused[i].error && fd == -1, "%s: %s", refused[i].name,
			      strerror(error));
	}
	ck_text("secret", "secret");
	ck_assert(!is_there("made"));
}
END_TEST

START_TEST(open_takes_odd_names)
{
	char name[NAME_MAX + 2];
	int fd;

	ck_assert_int_eq(dirfd_open(root, "...", O_WRONLY | O_CREAT, 0600, &fd), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	ck_assert_int_eq(dirfd_open(root, "..a\n", O_WRONLY | O_CREAT, 0600, &fd), 0);
	close(fd);
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	ck_assert_int_eq(dirfd_open(root, name, O_WRONLY | O_CREAT, 0600, &fd), ENAMETOOLONG);
	name[NAME_MAX] = '\0';
	ck_assert_int_eq(dirfd_open(root, name, O_WRONLY | O_CREAT, 0600, &fd), 0);
	close(fd);
}
END_TEST

START_TEST(walk_reaches_what_is_below)
{
	int fd;

	ck_assert_int_eq(dirfd_walk(root, "", O_PATH, &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in").st_ino);
	ck_assert_int_eq(dirfd_walk(root, "a", O_RDONLY | O_DIRECTORY, &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in/a").st_ino);
	ck_assert_int_eq(dirfd_walk(root, "a/b/deep", O_RDONLY, &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in/a/b/deep").st_ino);
	ck_assert_int_eq(dirfd_walk(root, "a/inlink", O_PATH, &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in/a/inlink").st_ino);
	ck_assert_int_eq(fcntl(root, F_GETFD), FD_CLOEXEC); /* the descriptor is still open */
}
END_TEST

START_TEST(walk_never_leaves)
{
	static const struct {
		const char *path;
		int error;
	} refused[] = {
		{"..", EINVAL},
		{".", EINVAL},
		{"../secret", EINVAL},
		{"a/../../secret", EINVAL},
		{"a/./b", EINVAL},
		{"a/b/..", EINVAL},
		{"/etc/passwd", ENOENT},
		{"a//b", ENOENT},
		{"outlink/file", ENOTDIR},
		{"a/inlink/deep", ENOTDIR},
		{"file/deep", ENOTDIR},
		{"a/inlink", ELOOP},
		{"link", ELOOP},
		{"a/nothing", ENOENT},
	};
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int error = dirfd_walk(root, refused[i].path, O_RDONLY, &fd);

		ck_assert_msg(error == refused[i].error && fd == -1, "%s: %s", refused[i].path,
			      strerror(error));
	}
}
END_TEST

START_TEST(walk_refuses_long_components)
{
	static const size_t lengths[] = {NAME_MAX + 1, PATH_MAX, PATH_MAX + 1, 3 * PATH_MAX};
	char path[3 * PATH_MAX + 8];
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(path, 'n', lengths[i]);
		strcpy(path + lengths[i], "/x");
		ck_assert_int_eq(dirfd_walk(root, path, O_PATH, &fd), ENAMETOOLONG);
		ck_assert_int_eq(dirfd_make_folders(root, path, &fd), ENAMETOOLONG);
	}
}
END_TEST

START_TEST(folders_are_made_where_missing)
{
	int fd;

	ck_assert_int_eq(dirfd_make_folders(root, "", &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in").st_ino);
	ck_assert_int_eq(dirfd_make_folders(root, "a/new/two", &fd), 0);
	ck_assert_uint_eq(inode(fd), stat_of("in/a/new/two").st_ino);
	ck_assert_int_eq(stat_of("in/a/new").st_mode & 07777, 0700);
	ck_assert_int_eq(stat_of("in/a").st_mode & 07777, 0755);
	ck_assert_int_eq(dirfd_make_folders(root, "a/new/two", &fd), 0);
	close(fd);
}
END_TEST

START_TEST(folders_are_never_made_outside)
{
	static const struct {
		const char *path;
		int error;
	} refused[] = {
		{"../made", EINVAL},       {"a/../../made", EINVAL}, {"/made", ENOENT},
		{"outlink/made", ENOTDIR}, {"dangling", ENOTDIR},    {"dangling/x", ENOTDIR},
		{"file/made", ENOTDIR},    {"a/./made", EINVAL},
	};
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int error = dirfd_make_folders(root, refused[i].path, &fd);

		ck_assert_msg(error == refused[i].error && fd == -1, "%s: %s", refused[i].path,
			      strerror(error));
	}
	ck_assert(!is_there("made"));
	ck_assert(!is_there("in/a/made"));
	ck_assert_int_eq(count_entries("out"), 1);
}
END_TEST

/* A new file never writes to, or waits for, an object that has its name already. */
START_TEST(a_new_file_is_new)
{
	static const char *const names[] = {"hard", "link", "dangling", "fifo", "none"};
	int fd;

	ck_assert_int_eq(linkat(root, "file", root, "hard", 0), 0);
	ck_assert_int_eq(mkfifoat(root, "fifo", 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat st;

		ck_assert_int_eq(dirfd_make(root, names[i], 0600, &fd), 0);
		ck_assert_int_eq(fstat(fd, &st), 0);
		ck_assert(S_ISREG(st.st_mode) && st.st_size == 0 && st.st_nlink == 1);
		close(fd);
	}
	ck_assert_int_eq(dirfd_make(root, "a", 0600, &fd), EEXIST);
	ck_assert_int_eq(fd, -1);
	ck_assert(!is_there("made"));
	ck_text("in/file", "0123456789");
	ck_text("secret", "secret");
}
END_TEST

START_TEST(read_appends_a_whole_file)
{
	struct buf out = BUF_INIT;
	struct stat st;

	buf_text(&out, "before ");
	ck_assert_int_eq(dirfd_read(root, "file", 10, &out, &st), 0);
	ck_assert_uint_eq(out.size, 17);
	ck_assert_mem_eq(out.data, "before 0123456789", 17);
	ck_assert_uint_eq(st.st_ino, stat_of("in/file").st_ino);
	buf_release(&out);
}
END_TEST

START_TEST(read_keeps_to_its_limit)
{
	struct buf out = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(dirfd_read(root, "file", 9, &out, &st), EFBIG);
	put("in/empty", "");
	buf_clear(&out);
	ck_assert_int_eq(dirfd_read(root, "empty", 0, &out, &st), 0);
	ck_assert_uint_eq(out.size, 0);
	buf_release(&out);
}
END_TEST

START_TEST(read_trusts_no_size)
{
	int proc = open("/proc/self", O_PATH | O_CLOEXEC);
	struct buf out = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(dirfd_read(proc, "status", 65536, &out, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_uint_gt(out.size, 16);
	ck_assert_mem_eq(out.data, "Name:", 5);
	buf_clear(&out);
	ck_assert_int_eq(dirfd_read(proc, "status", 16, &out, &st), EFBIG);
	buf_release(&out);
	close(proc);
}
END_TEST

START_TEST(read_takes_regular_files_only)
{
	struct buf out = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(mkfifo("in/fifo", 0600), 0);
	ck_assert_int_eq(dirfd_read(root, "fifo", 100, &out, &st), EINVAL);
	ck_assert_int_eq(dirfd_read(root, "a", 100, &out, &st), EISDIR);
	ck_assert_int_eq(dirfd_read(root, "link", 100, &out, &st), ELOOP);
	ck_assert_int_eq(dirfd_read(root, "../secret", 100, &out, &st), EINVAL);
	ck_assert_uint_eq(out.size, 0);
	buf_release(&out);
}
END_TEST

START_TEST(write_reports_what_fails)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(dirfd_write(full, bytes_of("x")), ENOSPC);
	ck_assert_int_eq(dirfd_write(full, bytes_of("")), 0);
	close(full);
}
END_TEST

START_TEST(write_goes_on_after_a_short_write)
{
	static char data[300000];
	struct buf got = BUF_INIT;
	int ends[2], status;
	pid_t child;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 / 3);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		_exit(dirfd_write(ends[1], (struct bytes){(uint8_t *)data, sizeof(data)}));
	close(ends[1]);
	while (buf_reserve(&got, 1000)) {
		ssize_t size = read(ends[0], got.data + got.size, 1000);

		if (size <= 0)
			break;
		got.size += (size_t)size;
	}
	ck_assert_uint_eq(got.size, sizeof(data));
	ck_assert_mem_eq(got.data, data, sizeof(data));
	buf_release(&got);
	close(ends[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(proc_path_names_the_file_itself)
{
	char path[DIRFD_PROC_SIZE];
	struct stat st;

	ck_assert_int_eq(dirfd_proc_path(root, "link", path, sizeof(path)), 0);
	ck_assert_uint_eq(stat_of(path).st_ino, stat_of("in/link").st_ino);
	ck_assert_int_eq(dirfd_proc_path(root, ".", path, sizeof(path)), 0);
	ck_assert_uint_eq(stat_of(path).st_ino, stat_of("in").st_ino);
	ck_assert_int_eq(dirfd_proc_path(root, NULL, path, sizeof(path)), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_ino, stat_of("in").st_ino);
}
END_TEST

START_TEST(proc_path_never_leaves)
{
	static const char *const refused[] = {"..", "../secret", "a/b", "/etc"};
	char path[DIRFD_PROC_SIZE] = "x";

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		strcpy(path, "x");
		ck_assert_int_eq(dirfd_proc_path(root, refused[i], path, sizeof(path)), EINVAL);
		ck_assert_str_eq(path, "");
	}
	strcpy(path, "x");
	ck_assert_int_eq(dirfd_proc_path(root, "file", path, 8), ENAMETOOLONG);
	ck_assert_str_eq(path, "");
}
END_TEST

static struct file_version version(const char *path)
{
	struct stat st = stat_of(path);

	return file_version_of(&st);
}

START_TEST(version_tells_files_and_writes_apart)
{
	struct file_version was = version("in/file"), now;
	const struct timespec times[] = {{1, 2}, {3, 4}};

	now = version("in/file");
	ck_assert(file_version_same(&was, &now));
	now = version("secret");
	ck_assert(!file_version_same(&was, &now));
	put("in/file", "012345678");
	now = version("in/file");
	ck_assert(!file_version_same(&was, &now));
	was = now;
	ck_assert_int_eq(utimensat(AT_FDCWD, "in/file", times, 0), 0);
	now = version("in/file");
	ck_assert(!file_version_same(&was, &now));
	was = now;
	now.ctime.tv_nsec ^= 1;
	ck_assert(!file_version_same(&was, &now));
	now = was;
	now.mtime.tv_nsec ^= 1;
	ck_assert(!file_version_same(&was, &now));
}
END_TEST

START_TEST(compare_wants_these_bytes_and_no_others)
{
	char *large = malloc(50001);
	int fd;

	memset(large, 'x', 50000);
	large[50000] = '\0';
	put("large", large);
	fd = open("large", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(dirfd_compare(fd, bytes_of(large)), 0);
	ck_assert_int_eq(dirfd_compare(fd, (struct bytes){(uint8_t *)large, 49999}), EAGAIN);
	ck_assert_int_eq(dirfd_compare(fd, (struct bytes){(uint8_t *)large, 50001}), EAGAIN);
	ck_assert_int_eq(dirfd_compare(fd, (struct bytes){NULL, 0}), EAGAIN);
	large[49999] = 'y';
	ck_assert_int_eq(dirfd_compare(fd, bytes_of(large)), EAGAIN);
	large[49999] = 'x';
	large[0] = 'y';
	ck_assert_int_eq(dirfd_compare(fd, bytes_of(large)), EAGAIN);
	close(fd);
	free(large);
	ck_assert_int_eq(dirfd_compare(-1, bytes_of("")), EBADF);
}
END_TEST

START_TEST(a_version_is_settled_two_ticks_later)
{
	static const struct {
		long nsec;
		int64_t ms; /* age of a time in milliseconds */
		bool settled;
	} cases[] = {
		{1, 0, false},    {1, 19, false},    {1, 21, true},     {1, -19, false},
		{1, -21, true},   {1, 1000, true},   {0, 0, false},     {0, 21, false},
		{0, 999, false},  {0, 3999, false},  {0, 4001, true},   {0, -3999, false},
		{0, -4001, true}, {0, 100000, true}, {0, -60000, true}, {500000000, 21, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct file_version of = {.ctime = {1000000, cases[i].nsec}};
		int64_t ns = 1000000 * INT64_C(1000000000) + cases[i].nsec +
			     cases[i].ms * INT64_C(1000000);
		struct timespec now = {ns / 1000000000, ns % 1000000000};

		ck_assert_msg(file_version_settled(&of, &now) == cases[i].settled, "case %zu", i);
	}
}
END_TEST

/* ---- renames ---- */

extern bool renames_lack_flags; /* defined in test_replace.c */
static bool links_are_refused;

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	if (links_are_refused) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_linkat, from, old, to, new, flags);
}

/*
 * Makes renames behave: 0: as in the kernel; 1: as if the filesystem had no flags; 2: and no links
 * either.
 */
static void set_filesystem(int poor)
{
	renames_lack_flags = poor > 0;
	links_are_refused = poor > 1;
}

static int rename_new(const char *from, const char *to)
{
	return dirfd_rename(scratch_root, from, scratch_root, to, RENAME_NOREPLACE);
}

START_TEST(a_rename_replaces_nothing)
{
	ino_t was;

	set_filesystem(_i);
	put("theirs", "theirs");
	put("ours", "ours");
	was = stat_of("ours").st_ino;
	ck_assert_int_eq(rename_new("ours", "theirs"), EEXIST);
	ck_assert_int_eq(rename_new("ours", "in"), EEXIST);
	ck_assert_int_eq(rename_new("ours", "ours"), EEXIST);
	ck_assert_int_eq(rename_new("none", "new"), ENOENT);
	ck_assert_int_eq(rename_new("ours", "none/new"), ENOENT);
	ck_text("theirs", "theirs");
	ck_text("ours", "ours");
	ck_assert_int_eq(rename_new("ours", "new"), 0);
	ck_text("new", "ours");
	ck_assert_uint_eq(stat_of("new").st_ino, was);
	ck_assert_uint_eq(stat_of("new").st_nlink, 1);
	ck_assert(!is_there("ours"));
	set_filesystem(0);
}
END_TEST

START_TEST(a_folder_s_rename_replaces_nothing)
{
	int before = count_entries(".");

	set_filesystem(_i);
	ck_assert_int_eq(mkdir("empty", 0700), 0);
	ck_assert_int_eq(mkdir("ours", 0750), 0);
	put("ours/file", "text");
	ck_assert_int_eq(rename_new("ours", "empty"), EEXIST);
	ck_assert_int_eq(rename_new("ours", "secret"), EEXIST);
	ck_assert_int_eq(rename_new("ours", "ours/below"), EINVAL);
	ck_assert_int_eq(rename_new("ours", "new"), 0);
	ck_text("new/file", "text");
	ck_assert_uint_eq(stat_of("new").st_mode & 0777, 0750);
	ck_assert_int_eq(count_entries("empty"), 0);
	ck_assert_int_eq(count_entries("new"), 1);
	ck_assert_int_eq(count_entries("."), before + 2);
	set_filesystem(0);
}
END_TEST

START_TEST(a_link_is_renamed_itself)
{
	set_filesystem(_i);
	ck_assert_int_eq(symlink("nowhere", "link"), 0);
	ck_assert_int_eq(symlink("nowhere", "theirs"), 0);
	ck_assert_int_eq(rename_new("link", "theirs"), EEXIST);
	ck_assert_int_eq(rename_new("link", "new"), 0);
	ck_assert(S_ISLNK(stat_of("new").st_mode) && !is_there("link"));
	set_filesystem(0);
}
END_TEST

START_TEST(flags_that_have_no_other_way_are_refused)
{
	set_filesystem(_i);
	put("a", "a");
	put("b", "b");
	ck_assert_int_eq(dirfd_rename(scratch_root, "a", scratch_root, "b", RENAME_EXCHANGE),
			 _i ? EINVAL : 0);
	ck_text("a", _i ? "a" : "b");
	ck_assert_int_eq(dirfd_rename(scratch_root, "a", scratch_root, "b",
				      RENAME_EXCHANGE | RENAME_NOREPLACE),
			 EINVAL);
	ck_assert_int_eq(dirfd_rename(scratch_root, "a", scratch_root, "b", 0), 0);
	ck_assert(!is_there("a"));
	set_filesystem(0);
}
END_TEST

/*
 * The folder has a/b/deep (4 bytes), a/inlink, file (10 bytes), link, outlink and dangling. Links
 * count with their own size.
 */
START_TEST(a_folder_is_listed_and_counted_without_following)
{
	unsigned names = 0;
	struct stat st;
	uint64_t links = 0;
	DIR *dir;

	ck_assert_int_eq(dirfd_list(root, "", &dir), 0);
	for (const struct dirent *e; (e = dirfd_next(dir)); names++)
		ck_assert_ptr_null(strstr("..", e->d_name));
	ck_assert_int_eq(errno, 0);
	closedir(dir);
	ck_assert_uint_eq(names, 5);
	ck_assert_int_eq(dirfd_list(root, "outlink", &dir), ENOTDIR);
	ck_assert_int_eq(dirfd_list(root, "../out", &dir), EINVAL);
	ck_assert_int_eq(dirfd_list(root, "file", &dir), ENOTDIR);
	ck_assert_int_eq(lstat("in/link", &st), 0);
	links += (uint64_t)st.st_size;
	ck_assert_int_eq(lstat("in/outlink", &st), 0);
	links += (uint64_t)st.st_size;
	ck_assert_int_eq(lstat("in/dangling", &st), 0);
	links += (uint64_t)st.st_size + 1; /* adds the size of the link to "b" */
	ck_assert_uint_eq(dirfd_size(root, "", 0, 0), 14 + links);
	ck_assert_uint_eq(dirfd_size(root, "", 100, 1000), 14 + links + 600 + 2000);
	ck_assert_uint_eq(dirfd_size(root, "a/b", 100, 1000), 104);
	ck_assert_uint_eq(dirfd_size(root, "outlink", 100, 1000), 0);
}
END_TEST

Suite *dirfd_suite(void);
Suite *dirfd_suite(void)
{
	Suite *s = suite_create("dirfd");
	TCase *tc = tcase_create("at");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, open_takes_one_name_and_follows_nothing);
	tcase_add_test(tc, open_takes_odd_names);
	tcase_add_test(tc, walk_reaches_what_is_below);
	tcase_add_test(tc, walk_never_leaves);
	tcase_add_test(tc, walk_refuses_long_components);
	tcase_add_test(tc, folders_are_made_where_missing);
	tcase_add_test(tc, folders_are_never_made_outside);
	tcase_add_test(tc, a_folder_is_listed_and_counted_without_following);
	tcase_add_test(tc, a_new_file_is_new);
	tcase_add_test(tc, read_appends_a_whole_file);
	tcase_add_test(tc, read_keeps_to_its_limit);
	tcase_add_test(tc, read_trusts_no_size);
	tcase_add_test(tc, read_takes_regular_files_only);
	tcase_add_test(tc, write_reports_what_fails);
	tcase_add_test(tc, write_goes_on_after_a_short_write);
	tcase_add_test(tc, proc_path_names_the_file_itself);
	tcase_add_test(tc, proc_path_never_leaves);
	tcase_add_test(tc, version_tells_files_and_writes_apart);
	tcase_add_test(tc, a_version_is_settled_two_ticks_later);
	tcase_add_test(tc, compare_wants_these_bytes_and_no_others);
	tcase_add_loop_test(tc, a_rename_replaces_nothing, 0, 3);
	tcase_add_loop_test(tc, a_folder_s_rename_replaces_nothing, 0, 3);
	tcase_add_loop_test(tc, a_link_is_renamed_itself, 0, 3);
	tcase_add_loop_test(tc, flags_that_have_no_other_way_are_refused, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
