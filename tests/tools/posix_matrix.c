/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * posix_matrix.c - posix_matrix A B [AREA...]
 *
 * Tests the areas of POSIX file test suites in all combinations: each call on each type of file, of
 * each mode and owner, in folders of each mode and owner, by each caller, with each set of flags.
 * The program makes each call in two empty folders, one on a bare filesystem and one that must
 * behave like it; value and errno must be the same, and afterwards the stat of all files. It needs
 * root. Ends with 1 after the first differences, which are printed, and else with the number of
 * calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SIDES 2
#define SHOWN_MAX 20 /* number of differences that are printed */
#define LINE_MAX_SIZE 600
/* times that a call sets are before this; those of the clock are after it */
#define GIVEN_TIME 1000000

/* ---- the dimensions ---- */

enum type { NOTHING, FILE_, FOLDER, FULL_FOLDER, LINK, LOOSE_LINK, FIFO, TYPES };

static const char *const type_names[TYPES] = {"nothing", "file",       "folder", "full folder",
					      "link",    "loose link", "fifo"};

/* The users that call, each with a group, and another group that the user is in. */
struct caller {
	uid_t uid;
	gid_t gid, other;
};

static const struct caller callers[] = {{0, 0, 0}, {1001, 1001, 1003}, {1002, 1002, 1001}};

static const mode_t modes[] = {0644, 0600, 0777, 0070, 0007, 04755, 06777};
static const mode_t folder_modes[] = {0777, 0755, 01777, 02777, 0555, 0111};
static const uid_t owners[] = {0, 1001};

struct setting {
	const struct caller *caller;
	enum type type; /* type of the file "f/a" */
	mode_t mode;    /* mode of the file "f/a" */
	uid_t owner;    /* owner of the file "f/a"; the group has the same number */
	mode_t folder_mode;
	uid_t folder_owner;
	bool wide; /* make more folders, for calls that take two */
};

/* ---- both sides ---- */

static int top[SIDES];
static unsigned long calls, differences;

static void enter(int side)
{
	if (fchdir(top[side]) != 0)
		abort();
}

static void become(const struct caller *caller)
{
	if (seteuid(0) != 0 || setgroups(caller->uid ? 1 : 0, &caller->other) != 0 ||
	    setegid(caller->gid) != 0 || seteuid(caller->uid) != 0)
		abort();
}

static void must(int result)
{
	if (result != 0) {
		perror("posix_matrix: making the folder");
		exit(2);
	}
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, mode);

	must(fd < 0 || write(fd, "content", 7) != 7 || close(fd) != 0);
}

static void make_type(const char *name, const struct setting *s)
{
	switch (s->type) {
	case FILE_:
		make_file(name, 0600);
		break;
	case FOLDER:
	case FULL_FOLDER:
		must(mkdir(name, 0700));
		if (s->type == FULL_FOLDER)
			must(mkdirat(AT_FDCWD, "f/a/in", 0700));
		break;
	case LINK:
		must(symlink("b", name));
		break;
	case LOOSE_LINK:
		must(symlink("missing", name));
		break;
	case FIFO:
		must(mkfifo(name, 0600));
		break;
	default:
		return;
	}
	must(lchown(name, s->owner, s->owner));
	if (s->type != LINK && s->type != LOOSE_LINK)
		must(chmod(name, s->mode));
}

/*
 * Makes the folder f, with a file `a` of the wanted type and a file b; if `wide`, also a folder d
 * and an empty folder g.
 */
static void make_all(const struct setting *s)
{
	must(mkdir("f", 0700));
	make_type("f/a", s);
	make_file("f/b", 0666);
	must(chown("f/b", 1001, 1001));
	if (s->wide) {
		must(mkdir("f/d", 0777));
		make_file("f/d/x", 0666);
		must(mkdir("f/g", 0777));
	}
	must(chown("f", s->folder_owner, s->folder_owner));
	must(chmod("f", s->folder_mode));
}

/* Names that may exist, in the order in which their status is printed. */
static const char *const names[] = {"f/a/in", "f/a/c", "f/a/x",     "f/a", "f/b",
				    "f/c",    "f/d/x", "f/d/c",     "f/d", "f/g/c",
				    "f/g/x",  "f/g",   "f/missing", "c",   "f"};

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *place)
{
	(void)st, (void)type, (void)place;
	return remove(name);
}

static void remove_all(void)
{
	nftw("f", remove_one, 8, FTW_DEPTH | FTW_PHYS);
	nftw("c", remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- results ---- */

static int say(char *at, size_t size, const char *name)
{
	struct stat st;
	char target[64] = "";

	if (lstat(name, &st) != 0)
		return 0;
	if (S_ISLNK(st.st_mode) && readlink(name, target, sizeof(target) - 1) < 0)
		return snprintf(at, size, " %s unread", name);
	return snprintf(at, size, " %s:%o,%d,%d,%lld,%lld,%lld,%u%s", name, st.st_mode,
			(int)st.st_uid, (int)st.st_gid,
			S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_size,
			S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_nlink,
			st.st_mtim.tv_sec < GIVEN_TIME ? (long long)st.st_mtim.tv_sec : -1LL,
			(unsigned)st.st_rdev, target);
}

static void look(char line[LINE_MAX_SIZE], bool wide)
{
	static const char *const few[] = {"f", "f/a", "f/b", "f/c", "f/missing"};
	size_t used = strlen(line), count = wide ? COUNT(names) : COUNT(few);

	for (size_t i = 0; i < count && used < LINE_MAX_SIZE; i++)
		used += (size_t)say(line + used, LINE_MAX_SIZE - used, wide ? names[i] : few[i]);
}

/* ---- the calls ---- */

/* Makes a call with the n-th of its sets of arguments. Returns false if it has fewer. */
struct area {
	const char *name;
	bool (*call)(unsigned n, long long *value);
	bool (*wants)(
		const struct setting *s); /* returns whether a setting is tested; NULL: all are */
	bool wide;
};

static bool result(long long *value, long long got)
{
	*value = got;
	return true;
}

/* Closes a descriptor, and replaces the value of a call by 0, since descriptors may differ. */
static bool closed(long long *value, int fd)
{
	if (fd >= 0)
		close(fd);
	return result(value, fd >= 0 ? 0 : -1);
}

static bool call_chmod(unsigned n, long long *value)
{
	static const mode_t wanted[] = {0, 0644, 0777, 04755, 02755, 06711, 01755, 07777};

	return n < COUNT(wanted) && result(value, chmod("f/a", wanted[n]));
}

static bool call_chown(unsigned n, long long *value)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		int flags;
	} wanted[] = {{(uid_t)-1, (gid_t)-1, 0},
		      {1001, (gid_t)-1, 0},
		      {1002, 1002, 0},
		      {(uid_t)-1, 1001, 0},
		      {(uid_t)-1, 1003, 0},
		      {0, 0, 0},
		      {1001, 1001, AT_SYMLINK_NOFOLLOW},
		      {(uid_t)-1, 1003, AT_SYMLINK_NOFOLLOW},
		      {(uid_t)-1, (gid_t)-1, AT_SYMLINK_NOFOLLOW}};

	return n < COUNT(wanted) && result(value, fchownat(AT_FDCWD, "f/a", wanted[n].uid,
							   wanted[n].gid, wanted[n].flags));
}

static bool call_truncate(unsigned n, long long *value)
{
	static const off_t sizes[] = {0, 7, 3, 100000, -1};

	return n < COUNT(sizes) && result(value, truncate("f/a", sizes[n]));
}

static int by_descriptor(int flags, int (*call)(int fd))
{
	int fd = open("f/a", flags | O_NONBLOCK), number, got;

	if (fd < 0)
		return -1;
	errno = 0;
	got = call(fd);
	number = errno;
	close(fd);
	errno = number;
	return got;
}

static int cut(int fd)
{
	return ftruncate(fd, 3);
}
static int grow(int fd)
{
	return ftruncate(fd, 5000);
}
static int allocate(int fd)
{
	return posix_fallocate(fd, 0, 9000) ? -1 : 0;
}
static int allocate_behind(int fd)
{
	return posix_fallocate(fd, 4000, 100) ? -1 : 0;
}
static int allocate_none(int fd)
{
	return posix_fallocate(fd, 0, 0) ? -1 : 0;
}
static int unname(int fd)
{
	struct stat st;

	return unlink("f/a") == 0 && ftruncate(fd, 1) == 0 && fchmod(fd, 0600) == 0 &&
			       fstat(fd, &st) == 0
		       ? (int)(st.st_nlink * 100 + (unsigned)st.st_size)
		       : -1;
}
static int change(int fd)
{
	return fchmod(fd, 06755) | fchown(fd, (uid_t)-1, 1001);
}
static int note(int fd)
{
	return fsetxattr(fd, "user.x", "1", 1, 0) | fremovexattr(fd, "user.x");
}
static int add(int fd)
{
	return (int)write(fd, "0123456789", 10);
}

static bool call_descriptor(unsigned n, long long *value)
{
	static int (*const done[])(int) = {
		cut, grow, allocate, allocate_behind, allocate_none, unname, change, note, add};
	static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR | O_APPEND};

	return n < COUNT(done) * COUNT(flags) &&
	       result(value, by_descriptor(flags[n % COUNT(flags)], done[n / COUNT(flags)]));
}

static bool call_link(unsigned n, long long *value)
{
	static const struct {
		const char *from, *to;
		int flags;
	} wanted[] = {{"f/a", "f/c", 0},      {"f/a", "f/b", 0},
		      {"f/b", "f/a", 0},      {"f/a", "f/g/c", 0},
		      {"f/b", "f/a/c", 0},    {"f/a", "f/c", AT_SYMLINK_FOLLOW},
		      {"f/missing", "f/c", 0}};

	return n < COUNT(wanted) && result(value, linkat(AT_FDCWD, wanted[n].from, AT_FDCWD,
							 wanted[n].to, wanted[n].flags));
}

static bool call_mkdir(unsigned n, long long *value)
{
	static const struct {
		const char *name;
		mode_t mode;
	} wanted[] = {{"f/a", 0755}, {"f/c", 0755}, {"f/c", 07777}, {"f/a/c", 0700}, {"f/c/", 0}};

	return n < COUNT(wanted) && result(value, mkdir(wanted[n].name, wanted[n].mode));
}

static bool call_mknod(unsigned n, long long *value)
{
	static const struct {
		const char *name;
		mode_t mode;
		unsigned device;
	} wanted[] = {{"f/c", S_IFIFO | 0644, 0},     {"f/c", S_IFREG | 06755, 0},
		      {"f/c", S_IFSOCK | 0600, 0},    {"f/c", S_IFCHR | 0644, 0x103},
		      {"f/c", S_IFBLK | 0644, 0x701}, {"f/a", S_IFIFO | 0644, 0},
		      {"f/a/c", S_IFREG | 0644, 0}};

	return n < COUNT(wanted) &&
	       result(value, mknod(wanted[n].name, wanted[n].mode,
				   makedev(wanted[n].device >> 8, wanted[n].device & 255)));
}

static bool call_open(unsigned n, long long *value)
{
	static const int more[] = {0,           O_CREAT,           O_CREAT | O_EXCL,
				   O_TRUNC,     O_CREAT | O_TRUNC, O_APPEND,
				   O_DIRECTORY, O_NOFOLLOW,        O_CREAT | O_DIRECTORY,
				   O_PATH,      O_NOATIME};
	static const int accesses[] = {O_RDONLY, O_WRONLY, O_RDWR};
	static const char *const opened[] = {"f/a", "f/c", "f/a/c", "f/a/"};
	unsigned name = n / (COUNT(more) * COUNT(accesses));

	n %= COUNT(more) * COUNT(accesses);
	return name < COUNT(opened) &&
	       closed(value,
		      open(opened[name],
			   more[n / COUNT(accesses)] | accesses[n % COUNT(accesses)] | O_NONBLOCK,
			   02766));
}

static bool call_rename(unsigned n, long long *value)
{
	static const struct {
		const char *from, *to;
		unsigned flags;
	} wanted[] = {{"f/a", "f/c", 0},
		      {"f/a", "f/b", 0},
		      {"f/b", "f/a", 0},
		      {"f/a", "f/d", 0},
		      {"f/d", "f/a", 0},
		      {"f/a", "f/g", 0},
		      {"f/a", "f/g/c", 0},
		      {"f/a", "c", 0},
		      {"f/d/x", "f/a", 0},
		      {"f/a", "f/a", 0},
		      {"f/a", "f/a/c", 0},
		      {"f/a", "f/b", RENAME_NOREPLACE},
		      {"f/a", "f/c", RENAME_NOREPLACE},
		      {"f/a", "f/d/x", RENAME_EXCHANGE},
		      {"f/a", "f/c", RENAME_EXCHANGE},
		      {"f/a", "f/g", RENAME_EXCHANGE},
		      {"f/missing", "f/c", 0}};

	return n < COUNT(wanted) && result(value, renameat2(AT_FDCWD, wanted[n].from, AT_FDCWD,
							    wanted[n].to, wanted[n].flags));
}

static bool call_remove(unsigned n, long long *value)
{
	static const struct {
		const char *name;
		int flags;
	} wanted[] = {{"f/a", 0},
		      {"f/a", AT_REMOVEDIR},
		      {"f/a/", 0},
		      {"f/a/.", AT_REMOVEDIR},
		      {"f/a/in", AT_REMOVEDIR},
		      {"f/a/c", 0},
		      {"f/missing", AT_REMOVEDIR}};

	return n < COUNT(wanted) &&
	       result(value, unlinkat(AT_FDCWD, wanted[n].name, wanted[n].flags));
}

static bool call_symlink(unsigned n, long long *value)
{
	static const char *const wanted[][2] = {
		{"b", "f/c"}, {"missing", "f/c"}, {"b", "f/a"}, {"b", "f/a/c"}, {"", "f/c"}};

	return n < COUNT(wanted) && result(value, symlink(wanted[n][0], wanted[n][1]));
}

static bool call_utimensat(unsigned n, long long *value)
{
	static const struct timespec wanted[][2] = {
		{{1, 2}, {3, 4}},          {{0, UTIME_NOW}, {0, UTIME_NOW}},
		{{0, UTIME_OMIT}, {5, 0}}, {{0, UTIME_OMIT}, {0, UTIME_OMIT}},
		{{6, 0}, {0, UTIME_OMIT}}, {{0, UTIME_NOW}, {7, 0}},
		{{0, 1000000000}, {7, 0}}};
	int flags = n % 2 ? AT_SYMLINK_NOFOLLOW : 0;

	return n / 2 < COUNT(wanted) &&
	       result(value, utimensat(AT_FDCWD, "f/a", wanted[n / 2], flags));
}

static bool call_access(unsigned n, long long *value)
{
	return n < 8 && result(value, faccessat(AT_FDCWD, "f/a", (int)n, AT_EACCESS));
}

static bool call_xattr(unsigned n, long long *value)
{
	static const int flags[] = {0, XATTR_CREATE, XATTR_REPLACE};
	char got[16];

	switch (n) {
	case 0:
	case 1:
	case 2:
		return result(value, lsetxattr("f/a", "user.x", "1", 1, flags[n]));
	case 3:
		return result(value, lremovexattr("f/a", "user.x"));
	case 4:
		return result(value, lgetxattr("f/a", "user.x", got, sizeof(got)));
	case 5:
		return result(value, lsetxattr("f/a", "trusted.x", "1", 1, 0));
	case 6:
		return result(value, llistxattr("f/a", got, sizeof(got)));
	default:
		return false;
	}
}

static bool is_regular(const struct setting *s)
{
	return s->type == FILE_ || s->type == FOLDER || s->type == NOTHING || s->type == LINK;
}

static const struct area areas[] = {
	{"chmod", call_chmod, NULL, false},       {"chown", call_chown, NULL, false},
	{"truncate", call_truncate, NULL, false}, {"ftruncate", call_descriptor, is_regular, false},
	{"link", call_link, NULL, true},          {"mkdir", call_mkdir, NULL, false},
	{"mknod", call_mknod, NULL, false},       {"open", call_open, NULL, false},
	{"rename", call_rename, NULL, true},      {"unlink", call_remove, NULL, false},
	{"symlink", call_symlink, NULL, false},   {"utimensat", call_utimensat, NULL, false},
	{"access", call_access, NULL, false},     {"xattr", call_xattr, NULL, false},
};

/* ---- all of it ---- */

static void differ(const struct area *area, unsigned n, const struct setting *s,
		   char line[SIDES][LINE_MAX_SIZE])
{
	printf("%s %u of %s, mode %o, of %u, in a folder of mode %o, of %u, by %u:\n  %s\n  %s\n",
	       area->name, n, type_names[s->type], s->mode, s->owner, s->folder_mode,
	       s->folder_owner, s->caller->uid, line[0], line[1]);
	if (++differences == SHOWN_MAX)
		exit(1);
}

/* The state of each side as it was made; valid as long as no call has changed the side. */
static char made[SIDES][LINE_MAX_SIZE];

static void make_anew(int side, const struct setting *s)
{
	remove_all();
	make_all(s);
	made[side][0] = '\0';
	look(made[side], s->wide);
}

/*
 * Makes the call on one side, and writes value, errno and the files afterwards. Returns false if
 * there is no such call.
 */
static bool call_side(int side, const struct area *area, unsigned n, const struct setting *s,
		      char line[LINE_MAX_SIZE])
{
	char now[LINE_MAX_SIZE] = "";
	long long value = 0;
	bool there;
	int number;

	enter(side);
	become(s->caller);
	errno = 0;
	there = area->call(n, &value);
	number = value < 0 ? errno : 0;
	become(&callers[0]);
	look(now, s->wide);
	snprintf(line, LINE_MAX_SIZE, "%lld %s%s", value, strerrorname_np(number), now);
	if (strcmp(now, made[side]) != 0)
		make_anew(side, s);
	return there;
}

static bool one(const struct area *area, unsigned n, const struct setting *s)
{
	char line[SIDES][LINE_MAX_SIZE];

	for (int side = 0; side < SIDES; side++) {
		if (!call_side(side, area, n, s, line[side]))
			return false;
	}
	calls++;
	if (strcmp(line[0], line[1]) != 0)
		differ(area, n, s, line);
	return true;
}

static void every_call(const struct area *area, const struct setting *s)
{
	unsigned n = 0;

	if (area->wants && !area->wants(s))
		return;
	for (int side = 0; side < SIDES; side++) {
		enter(side);
		make_anew(side, s);
	}
	while (one(area, n, s))
		n++;
}

/*
 * Runs an area in every setting: all modes in the plainest folder, and all folders with the
 * plainest mode.
 */
static void every_setting(const struct area *area, const struct caller *caller, enum type type)
{
	bool has_mode = type != NOTHING && type != LINK && type != LOOSE_LINK;

	for (size_t owner = 0; owner < (type == NOTHING ? 1 : COUNT(owners)); owner++) {
		struct setting s = {caller, type, 0644, owners[owner], 0777, 0, area->wide};

		for (size_t i = 0; i < (has_mode ? COUNT(modes) : 1); i++) {
			s.mode = modes[i];
			every_call(area, &s);
		}
		s.mode = type == FOLDER || type == FULL_FOLDER ? 0755 : 0644;
		for (size_t i = 1; i < COUNT(folder_modes) * COUNT(owners); i++) {
			s.folder_mode = folder_modes[i / COUNT(owners)];
			s.folder_owner = owners[i % COUNT(owners)];
			every_call(area, &s);
		}
	}
}

static void every_area(const struct area *area)
{
	unsigned long before = calls;

	for (size_t caller = 0; caller < COUNT(callers); caller++) {
		for (int type = 0; type < TYPES; type++)
			every_setting(area, &callers[caller], (enum type)type);
	}
	printf("%s: %lu calls\n", area->name, calls - before);
	fflush(stdout);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return true;
	}
	return argc <= 3;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: posix_matrix A B [AREA...]\n", stderr);
		return 2;
	}
	umask(0);
	for (int side = 0; side < SIDES; side++) {
		top[side] = open(argv[1 + side], O_RDONLY | O_DIRECTORY);
		must(top[side] < 0 || fchmod(top[side], 0777) != 0);
	}
	for (size_t i = 0; i < COUNT(areas); i++) {
		if (is_wanted(areas[i].name, argc, argv))
			every_area(&areas[i]);
	}
	printf("%lu calls, %lu of them different\n", calls, differences);
	return differences > 0;
}
