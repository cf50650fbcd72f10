/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replacing.h"
#include "scratch.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

/*
 * Another program that acts just before a rename of ours. `meddle` is called before each rename,
 * with the number of renames so far; if it returns an errno, the rename fails with it.
 */
static int (*meddle)(unsigned flags, int before);
static int renames;
/* number of the rename after which nothing in the folder can be seen until the next one */
static int blind_after = -1;
static int blind;         /* a descriptor of that folder */
bool renames_lack_flags;  /* also used in test_dirfd.c and test_source.c */
extern bool coarse_times; /* defined in test_source.c */

static void see(bool clearly)
{
	int folder = open(clearly ? "." : "/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(dup3(folder, blind, O_CLOEXEC), blind);
	close(folder);
}

static int rename_blindly(int from, const char *old, int to, const char *new, unsigned flags)
{
	int failed;

	see(true);
	failed = (int)syscall(SYS_renameat2, from, old, to, new, flags);
	if (renames == blind_after + 1)
		see(false);
	return failed;
}

void (*before_rename)(void); /* called once, before the next rename; used in test_staging.c */

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	void (*before)(void) = before_rename;
	int error;

	before_rename = NULL;
	if (before)
		before();
	error = meddle ? meddle(flags, renames++) : 0;

	if (!error && renames_lack_flags && flags)
		error = EINVAL;
	if (error) {
		errno = error;
		return -1;
	}
	return blind_after >= 0 ? rename_blindly(from, old, to, new, flags)
				: (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

/* errno of fchown; 0: it works. Also used in test_attributes.c, test_history.c and test_source.c */
int chown_error;

int fchown(int fd, uid_t uid, gid_t gid)
{
	if (!chown_error)
		return (int)syscall(SYS_fchown, fd, uid, gid);
	errno = chown_error;
	return -1;
}

int folder_sync_error; /* errno of fsync of a folder; 0: it works. Also used in test_source.c */
void (*when_synced)(
	void); /* acts as another program once a file is written; used in test_refusal.c */

static void put_fifo_in_place(void)
{
	when_synced = NULL;
	ck_assert_int_eq(unlink("tmp"), 0);
	ck_assert_int_eq(mkfifo("tmp", 0600), 0);
}

int fsync(int fd)
{
	struct stat st;

	if (when_synced)
		when_synced();
	if (!folder_sync_error || fstat(fd, &st) || !S_ISDIR(st.st_mode))
		return (int)syscall(SYS_fsync, fd);
	errno = folder_sync_error;
	return -1;
}

static void begin(void)
{
	scratch_begin();
	umask(022);
	meddle = NULL;
	chown_error = folder_sync_error = 0;
	coarse_times = false;
	when_synced = NULL;
	renames = 0;
	blind_after = -1;
	put("file", "old");
}

static struct file_version version(const char *path)
{
	struct stat st = stat_of(path);

	return file_version_of(&st);
}

static struct replacement file_to_replace(const struct file_version *expect,
					  const struct bytes *was)
{
	return (struct replacement){
		.dir = scratch_root, .name = "file", .expect = expect, .was = was};
}

static int replace(const struct file_version *expect, const char *text, struct file_version *now)
{
	return replace_now(file_to_replace(expect, NULL), bytes_of(text), now, NULL);
}

static void ck_refused(int error, const char *there)
{
	struct file_version was = version("file"), now;

	ck_assert_int_eq(replace(&was, "new", &now), error);
	ck_text("file", there);
	ck_assert(!is_there("tmp"));
}

START_TEST(new_bytes_take_the_place)
{
	struct file_version was = version("file"), now, seen;

	ck_assert_int_eq(replace(&was, "new bytes", &now), 0);
	ck_text("file", "new bytes");
	ck_assert_int_eq(count_entries("."), 1);
	seen = version("file");
	ck_assert(file_version_same(&seen, &now));
	ck_assert_uint_ne(seen.ino, was.ino);
	ck_assert_int_eq(replace(&now, "", &now), 0);
	ck_text("file", "");
}
END_TEST

/* Even a change within the same tick of the clock that stamps files is noticed. */
START_TEST(what_is_prepared_waits_for_its_check)
{
	struct file_version was = version("file"), now;
	const struct bytes old = bytes_of("old");
	struct replacement r = {.dir = scratch_root,
				.via = scratch_root,
				.name = "file",
				.temporary = "tmp",
				.expect = &was,
				.was = &old};

	ck_assert_int_eq(replace_prepare(&r, bytes_of("new")), 0);
	ck_text("file", "old");
	ck_text("tmp", "new");
	put("file", "others");
	ck_assert_int_eq(replace_place(&r, &now, NULL), EAGAIN);
	replace_end(&r);
	ck_assert(!is_there("tmp"));
	ck_text("file", "others");

	put("file", "old");
	was = version("file");
	ck_assert_int_eq(replace_prepare(&r, bytes_of("new")), 0);
	ck_assert_int_eq(replace_place(&r, &now, NULL), 0);
	replace_end(&r);
	ck_text("file", "new");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(a_write_right_after_shows)
{
	struct file_version now = version("file"), later;
	unsigned settled_count = 0;
	bool settled;

	for (int i = 0; i < 100; i++) {
		struct file_version was = now;
		int fd = -1;

		ck_assert_int_eq(
			replace_now(file_to_replace(&was, NULL), bytes_of("new"), &now, &settled),
			0);
		fd = open("file", O_WRONLY | O_CLOEXEC);
		ck_assert_int_eq(pwrite(fd, "now", 3, 0), 3);
		close(fd);
		later = version("file");
		settled_count += settled;
		ck_assert(!settled || !file_version_same(&now, &later));
		now = later;
	}
	/* On filesystems that keep times to the nanosecond. */
	ck_assert(settled_count == 0 || settled_count > 90);
}
END_TEST

START_TEST(a_reader_keeps_what_it_opened)
{
	struct file_version was = version("file"), now;
	int fd = open("file", O_RDONLY | O_CLOEXEC);
	char got[8] = "";

	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_assert_int_eq(read(fd, got, sizeof(got)), 3);
	ck_assert_str_eq(got, "old");
	close(fd);
}
END_TEST

START_TEST(mode_and_owner_stay)
{
	struct file_version was, now;
	struct stat before, after;

	if (geteuid() == 0)
		ck_assert_int_eq(chown("file", 1234, 4321), 0);
	ck_assert_int_eq(chmod("file", 06751), 0);
	before = stat_of("file");
	was = version("file");
	umask(0077);
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	after = stat_of("file");
	ck_assert_uint_eq(after.st_mode, before.st_mode);
	ck_assert_uint_eq(after.st_uid, before.st_uid);
	ck_assert_uint_eq(after.st_gid, before.st_gid);
}
END_TEST

/* As a write() does, saving removes set-id bits; and a capability that root gave. */
START_TEST(set_id_bits_do_not_stay_if_others_write)
{
	static const uid_t writers[] = {0, 1234, 1235};
	static const uint32_t capability[5] = {0x02000000, 1};
	const mode_t modes[] = {06751, 06751, 0751};
	struct file_version was, now;
	struct replacement r;
	bool has;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown("file", 1234, 4321), 0);
	ck_assert_int_eq(chmod("file", 06751), 0);
	has = setxattr("file", "security.capability", capability, sizeof(capability), 0) == 0;
	was = version("file");
	r = file_to_replace(&was, NULL);
	r.writer = &writers[_i];
	ck_assert_int_eq(replace_now(r, bytes_of("new"), &now, NULL), 0);
	ck_assert_uint_eq(stat_of("file").st_mode & 07777, modes[_i]);
	ck_assert_uint_eq(stat_of("file").st_uid, 1234);
	if (has)
		ck_assert_int_eq(getxattr("file", "security.capability", NULL, 0) > 0, _i < 2);
}
END_TEST

/*
 * Runs `body` in a child, for steps that cannot be undone. The child exits with another status if
 * body fails.
 */
static void in_a_child(void (*body)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

/* If the tests run as root, switches to the user "nobody". */
static void become_unprivileged(void)
{
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		_exit(2);
}

static void replace_a_file_of_others(void)
{
	struct file_version was = version("file"), now;

	become_unprivileged();
	if (replace(&was, "new", &now))
		_exit(1);
}

START_TEST(what_cannot_be_kept_gives_no_rights)
{
	struct stat st;

	if (geteuid() != 0)
		return; /* only root can make files of other users */
	ck_assert_int_eq(chmod(".", 0777), 0);
	ck_assert_int_eq(chmod("file", 06774), 0);
	in_a_child(replace_a_file_of_others);
	ck_text("file", "new");
	st = stat_of("file");
	ck_assert_uint_eq(st.st_uid, 65534);
	ck_assert_uint_eq(st.st_mode & 07777, 0744);
}
END_TEST

/* A copy in the name of another user, whose quota has room, would not be the owner's file. */
START_TEST(a_full_quota_of_the_owner_is_an_error)
{
	struct file_version was;
	struct replacement r;

	if (geteuid() == 0)
		ck_assert_int_eq(chown("file", 1234, 4321), 0);
	was = version("file");
	r = file_to_replace(&was, NULL);
	r.via = r.dir;
	r.temporary = "tmp";
	chown_error = EDQUOT;
	ck_assert_int_eq(replace_prepare(&r, bytes_of("new")), EDQUOT);
	replace_end(&r);
	ck_assert_uint_eq(r.payer, stat_of("file").st_uid);
	ck_text("file", "old");
	ck_assert(!is_there("tmp"));
	chown_error = EPERM;
	ck_refused(0, "new");
	chown_error = 0;
}
END_TEST

struct acl_entry {
	uint16_t tag, rights;
	uint32_t id;
};

/* The ACL user::rw- user:65534:r-- group::r-- mask::rw- other::--- in the kernel's form. */
static const struct {
	uint32_t version;
	struct acl_entry entries[5];
} acl = {
	2,
	{{0x01, 6, UINT32_MAX},
	 {0x02, 4, 65534},
	 {0x04, 4, UINT32_MAX},
	 {0x10, 6, UINT32_MAX},
	 {0x20, 0, UINT32_MAX}},
};

/* Sets an xattr. Returns false, and prints a line, if the filesystem lacks it. */
static bool set_xattr(const char *path, const char *name, const void *value, size_t size)
{
	if (!setxattr(path, name, value, size, 0))
		return true;
	ck_assert_msg(errno == ENOTSUP, "%s: %s", name, strerror(errno));
	printf("not tested: this filesystem has no %s\n", name);
	return false;
}

START_TEST(xattrs_stay)
{
	struct file_version was, now;
	char long_value[3000], got[4000];

	memset(long_value, 'v', sizeof(long_value));
	if (!set_xattr("file", "user.long", long_value, sizeof(long_value)) ||
	    !set_xattr("file", "user.empty", "", 0))
		return;
	was = version("file");
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_assert_int_eq(getxattr("file", "user.long", got, sizeof(got)), sizeof(long_value));
	ck_assert_mem_eq(got, long_value, sizeof(long_value));
	ck_assert_int_eq(getxattr("file", "user.empty", got, sizeof(got)), 0);
}
END_TEST

START_TEST(acls_stay)
{
	struct file_version was, now;
	char got[sizeof(acl) + 1];

	if (!set_xattr("file", ACL, &acl, sizeof(acl)))
		return;
	was = version("file");
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_assert_int_eq(getxattr("file", ACL, got, sizeof(got)), sizeof(acl));
	ck_assert_mem_eq(got, &acl, sizeof(acl));
	ck_assert_uint_eq(stat_of("file").st_mode & 07777, 0660);
}
END_TEST

START_TEST(a_folders_default_acl_gives_nothing_more)
{
	struct file_version was = version("file"), now;
	char got[sizeof(acl)];

	if (!set_xattr(".", DEFAULT_ACL, &acl, sizeof(acl)))
		return;
	ck_assert_int_eq(chmod("file", 0640), 0);
	was = version("file");
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_assert_int_eq(getxattr("file", ACL, got, sizeof(got)), -1);
	ck_assert_int_eq(errno, ENODATA);
	ck_assert_uint_eq(stat_of("file").st_mode & 07777, 0640);
}
END_TEST

START_TEST(another_version_is_not_replaced)
{
	struct file_version was = version("file"), now;

	put("file", "theirs");
	ck_assert_int_eq(replace(&was, "new", &now), EAGAIN);
	ck_text("file", "theirs");
	was = version("file");
	put("other", "theirs");
	ck_assert_int_eq(rename("other", "file"), 0);
	ck_assert_int_eq(replace(&was, "new", &now), EAGAIN);
	ck_text("file", "theirs");
	was = version("file");
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(replace(&was, "new", &now), EAGAIN);
	ck_assert_int_eq(count_entries("."), 0);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	struct file_version was, now;

	ck_assert_int_eq(rename("file", "target"), 0);
	ck_assert_int_eq(symlink("target", "file"), 0);
	was = version("target");
	ck_assert_int_eq(replace(&was, "new", &now), EAGAIN);
	ck_assert_int_eq(replace(NULL, "new", &now), EAGAIN);
	was = version("file");
	ck_assert_int_eq(replace(&was, "new", &now), ELOOP);
	ck_text("target", "old");
	ck_assert_int_eq(count_entries("."), 2);
}
END_TEST

START_TEST(names_never_leave_the_folder)
{
	struct file_version was = version("file"), now;
	int dir;

	ck_assert_int_eq(mkdir("in", 0700), 0);
	dir = open("in", O_PATH | O_CLOEXEC);
	ck_assert_int_eq(replace_now((struct replacement){.dir = dir,
							  .name = "../file",
							  .expect = &was,
							  .temporary = "tmp"},
				     bytes_of("new"), &now, NULL),
			 EINVAL);
	ck_assert_int_eq(replace_now((struct replacement){.dir = dir,
							  .name = "../made",
							  .expect = NULL,
							  .temporary = "tmp"},
				     bytes_of("new"), &now, NULL),
			 EINVAL);
	ck_assert_int_eq(replace_now((struct replacement){.dir = dir,
							  .name = "made",
							  .expect = NULL,
							  .temporary = "../tmp"},
				     bytes_of("new"), &now, NULL),
			 EINVAL);
	close(dir);
	ck_text("file", "old");
	ck_assert_int_eq(count_entries("."), 2);
	ck_assert_int_eq(count_entries("in"), 0);
}
END_TEST

START_TEST(a_temporary_of_others_stays)
{
	struct file_version was = version("file"), now;

	put("tmp", "theirs");
	ck_assert_int_eq(replace(&was, "new", &now), EEXIST);
	ck_text("tmp", "theirs");
	ck_text("file", "old");
}
END_TEST

START_TEST(a_new_file_is_made_only_where_none_is)
{
	struct file_version now, seen;

	ck_assert_int_eq(replace(NULL, "new", &now), EAGAIN);
	ck_text("file", "old");
	ck_assert_int_eq(unlink("file"), 0);
	umask(0026);
	ck_assert_int_eq(replace(NULL, "new", &now), 0);
	seen = version("file");
	ck_assert(file_version_same(&seen, &now));
	ck_text("file", "new");
	ck_assert_uint_eq(stat_of("file").st_mode & 07777, 0640);
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(a_writer_is_waited_for)
{
	struct file_version was = version("file"), now;
	int fd = open("file", O_WRONLY | O_CLOEXEC);

	ck_refused(EBUSY, "old");
	close(fd);
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_text("file", "new");
}
END_TEST

/* A lease for reading is refused while any process has the file open for writing. */
START_TEST(the_new_file_is_not_being_written)
{
	struct file_version was = version("file"), now;
	struct replacement r = file_to_replace(&was, NULL);
	int fd;

	r.via = r.dir;
	r.temporary = "tmp";
	ck_assert_int_eq(replace_prepare(&r, bytes_of("new")), 0);
	ck_assert_int_eq(replace_place(&r, &now, NULL), 0);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
	close(fd);
	replace_end(&r);
}
END_TEST

/* An open that waits for a FIFO fails the test (test_dirfd.c). */
START_TEST(a_fifo_in_place_of_the_new_file_blocks_nothing)
{
	struct file_version was = version("file"), now;

	when_synced = put_fifo_in_place;
	ck_refused(EAGAIN, "old");
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_text("file", "new");
}
END_TEST

static void write_more_than_fits(void)
{
	static char large[100000];
	struct file_version was = version("file"), now;
	struct rlimit limit = {sizeof(large) / 2, sizeof(large) / 2};

	signal(SIGXFSZ, SIG_IGN);
	memset(large, 'x', sizeof(large) - 1);
	if (setrlimit(RLIMIT_FSIZE, &limit) || replace(&was, large, &now) != EFBIG)
		_exit(1);
}

START_TEST(a_write_that_fails_half_way_leaves_the_old_file)
{
	in_a_child(write_more_than_fits);
	ck_text("file", "old");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

static void slip_in(const char *text)
{
	put("theirs", text);
	ck_assert_int_eq(rename("theirs", "file"), 0);
}

static int slip_in_a_file(unsigned flags, int before)
{
	if (before == 0) {
		ck_assert_uint_eq(flags, RENAME_EXCHANGE);
		slip_in("theirs");
	}
	return 0;
}

static int slip_in_twice(unsigned flags, int before)
{
	ck_assert_uint_eq(flags, RENAME_EXCHANGE);
	if (before < 2)
		slip_in(before == 0 ? "theirs" : "theirs, later");
	return 0;
}

static int plain; /* errno of renames without flags */

static int slip_in_a_write(unsigned flags, int before)
{
	if (flags == RENAME_EXCHANGE && before == 0)
		put("file", "written in place");
	return 0;
}

/*
 * Replaces the file, before our rename, by one of the same size with the same times, except for the
 * one that a rename changes.
 */
static int slip_in_unseen(unsigned flags, int before)
{
	struct stat st = stat_of("file");
	int fd;

	if (before > 0)
		return flags ? plain : 0;
	fd = open("file", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "OLD", 3, 0), 3);
	ck_assert_int_eq(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
	close(fd);
	return flags ? plain : 0;
}

static int slip_in_a_removal(unsigned flags, int before)
{
	if (flags == RENAME_EXCHANGE && before == 0)
		unlink("file");
	return 0;
}

static int late_writer;

static int slip_in_a_writer(unsigned flags, int before)
{
	if (flags == RENAME_EXCHANGE && before == 0)
		late_writer = open("file", O_WRONLY | O_CLOEXEC);
	return 0;
}

START_TEST(who_slips_in_at_the_last_moment_stays)
{
	meddle = slip_in_a_file;
	ck_refused(EAGAIN, "theirs");
	ck_assert_int_eq(renames, 2);
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(the_latest_who_slips_in_stays)
{
	meddle = slip_in_twice;
	ck_refused(EAGAIN, "theirs, later");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(a_write_in_place_at_the_last_moment_stays)
{
	ino_t was = stat_of("file").st_ino;

	meddle = slip_in_a_write;
	ck_refused(EAGAIN, "written in place");
	ck_assert_uint_eq(stat_of("file").st_ino, was);
}
END_TEST

static int replace_these(const char *was, const char *text)
{
	struct bytes bytes = bytes_of(was);
	struct file_version there, now;
	struct stat st;

	ck_assert_int_eq(fstatat(AT_FDCWD, "file", &st, 0), 0);
	there = file_version_of(&st);
	return replace_now(file_to_replace(&there, &bytes), bytes_of(text), &now, NULL);
}

static void ck_unseen_stays(void)
{
	coarse_times = true;
	meddle = slip_in_unseen;
	ck_assert_int_eq(replace_these("old", "new"), EAGAIN);
	ck_text("file", "OLD");
	ck_assert_int_eq(count_entries("."), 1);
	meddle = NULL;
}

START_TEST(only_the_bytes_that_were_read_are_replaced)
{
	ck_assert_int_eq(replace_these("OLD", "new"), EAGAIN);
	ck_assert_int_eq(replace_these("older", "new"), EAGAIN);
	ck_text("file", "old");
	ck_assert_int_eq(count_entries("."), 1);
	ck_assert_int_eq(replace_these("old", "new"), 0);
	ck_text("file", "new");
}
END_TEST

START_TEST(a_write_that_times_do_not_show_stays)
{
	plain = 0;
	ck_unseen_stays();
}
END_TEST

START_TEST(a_write_that_times_do_not_show_stays_without_exchange)
{
	plain = EOPNOTSUPP;
	ck_unseen_stays();
}
END_TEST

START_TEST(a_removal_at_the_last_moment_is_kept)
{
	struct file_version was = version("file"), now;

	meddle = slip_in_a_removal;
	ck_assert_int_eq(replace(&was, "new", &now), EAGAIN);
	ck_assert_int_eq(count_entries("."), 0);
}
END_TEST

START_TEST(a_writer_that_opens_at_the_last_moment_is_not_cut_off)
{
	meddle = slip_in_a_writer;
	ck_refused(EBUSY, "old");
	ck_assert_int_eq(write(late_writer, "OLD", 3), 3);
	close(late_writer);
	ck_text("file", "OLD");
}
END_TEST

static int plain_only(unsigned flags, int before)
{
	(void)before;
	return flags ? EINVAL : 0;
}

static int plain_only_and_slip_in(unsigned flags, int before)
{
	if (before == 0)
		slip_in("theirs");
	return flags ? ENOSYS : 0;
}

START_TEST(a_filesystem_without_exchange_gets_a_plain_rename)
{
	struct file_version was = version("file"), now, seen;

	meddle = plain_only;
	ck_assert_int_eq(replace(&was, "new", &now), 0);
	ck_text("file", "new");
	seen = version("file");
	ck_assert(file_version_same(&seen, &now));
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(replace(NULL, "newer", &now), 0);
	ck_text("file", "newer");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(a_plain_rename_too_checks_first)
{
	meddle = plain_only_and_slip_in;
	ck_refused(EAGAIN, "theirs");
}
END_TEST

START_TEST(a_folder_that_cannot_be_synced_keeps_the_old_file)
{
	struct file_version now;

	folder_sync_error = EIO;
	ck_refused(EIO, "old");
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(replace(NULL, "new", &now), EIO);
	ck_assert_int_eq(count_entries("."), 0);
	folder_sync_error = 0;
}
END_TEST

/* A power cut may undo the rename. */
START_TEST(what_cannot_be_taken_back_is_an_error)
{
	struct file_version was = version("file"), now;

	meddle = plain_only;
	folder_sync_error = EIO;
	ck_assert_int_eq(replace(&was, "new", &now), EIO);
	ck_text("file", "new");
	ck_assert_int_eq(count_entries("."), 1);
	folder_sync_error = 0;
}
END_TEST

static int fail_to_go_back(unsigned flags, int before)
{
	(void)flags;
	return before == 1 ? EIO : 0;
}

START_TEST(what_cannot_be_exchanged_back_is_an_error)
{
	struct file_version was = version("file"), now;

	meddle = fail_to_go_back;
	folder_sync_error = EIO;
	ck_assert_int_eq(replace(&was, "new", &now), EIO);
	ck_text("file", "new");
	ck_text("file.~1~", "old");
	ck_assert_int_eq(count_entries("."), 2);
	folder_sync_error = 0;
}
END_TEST

static int count_only(unsigned flags, int before)
{
	(void)flags, (void)before;
	return 0;
}

/*
 * Replaces a file, when nothing in the folder can be seen after the rename `after` until the next
 * rename.
 */
static int replace_blindly(const struct file_version *expect, int after)
{
	struct file_version now;
	struct replacement r = {.name = "file", .expect = expect};
	int error;

	blind = r.dir = open(".", O_RDONLY | O_CLOEXEC);
	blind_after = after;
	meddle = count_only;
	renames = 0;
	error = replace_now(r, bytes_of("new"), &now, NULL);
	close(blind);
	blind_after = -1;
	folder_sync_error = 0;
	return error;
}

START_TEST(what_comes_out_unseen_goes_back)
{
	struct file_version was = version("file");

	ck_assert_int_eq(replace_blindly(&was, 0), ENOTDIR);
	ck_text("file", "old");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

START_TEST(what_is_taken_back_unseen_is_an_error)
{
	struct file_version was = version("file");

	folder_sync_error = EIO;
	ck_assert_int_eq(replace_blindly(&was, 1), EIO);
	ck_text("file", "old");
	ck_text("file.~1~", "new");
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(unlink("file.~1~"), 0);
	folder_sync_error = EIO;
	ck_assert_int_eq(replace_blindly(NULL, 1), EIO);
	ck_text("file", "new");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

static int remove_before_it_goes_back(unsigned flags, int before)
{
	if (flags == RENAME_EXCHANGE && before == 1)
		unlink("file");
	return 0;
}

START_TEST(a_removal_before_it_is_taken_back_is_kept)
{
	struct file_version was = version("file"), now;

	meddle = remove_before_it_goes_back;
	folder_sync_error = EIO;
	ck_assert_int_eq(replace(&was, "new", &now), EIO);
	ck_text("file.~1~", "old");
	ck_assert_int_eq(count_entries("."), 1);
	folder_sync_error = 0;
}
END_TEST

START_TEST(a_copy_that_fails_after_its_rename_is_removed)
{
	folder_sync_error = EIO;
	ck_assert_int_eq(replace_copy(scratch_root, "copy", "tmp", -1, NULL, bytes_of("new")), EIO);
	ck_assert_int_eq(count_entries("."), 1);
	folder_sync_error = 0;
	ck_assert_int_eq(replace_copy(scratch_root, "copy", "tmp", -1, NULL, bytes_of("new")), 0);
	ck_text("copy", "new");
	ck_assert_int_eq(replace_copy(scratch_root, "copy", "tmp", -1, NULL, bytes_of("newer")),
			 EAGAIN);
	ck_text("copy", "new");
	ck_assert_int_eq(count_entries("."), 2);
}
END_TEST

/* Puts a file of another program in place before the rename that takes the new file back. */
static int slip_in_a_file_later(unsigned flags, int before)
{
	(void)flags;
	if (before == 1)
		slip_in("theirs");
	return 0;
}

START_TEST(who_slips_in_before_it_is_taken_back_stays)
{
	struct file_version now;

	meddle = slip_in_a_file_later;
	folder_sync_error = EIO;
	ck_refused(EIO, "theirs");
	ck_assert_int_eq(unlink("file"), 0);
	renames = 0;
	ck_assert_int_eq(replace(NULL, "new", &now), EIO);
	ck_text("file", "theirs");
	ck_assert_int_eq(count_entries("."), 1);
	folder_sync_error = 0;
}
END_TEST

static int fail_to_rename(unsigned flags, int before)
{
	(void)flags, (void)before;
	return EIO;
}

START_TEST(a_rename_that_fails_leaves_nothing_behind)
{
	meddle = fail_to_rename;
	ck_refused(EIO, "old");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

/* An open that breaks our lease sends a signal, which must not end the process. */
START_TEST(writers_that_come_and_go_do_no_harm)
{
	pid_t child = fork();
	int done = 0, status;

	if (child == 0) {
		for (;;) {
			int fd = open("file", O_WRONLY);

			if (fd >= 0)
				close(fd);
		}
	}
	for (int i = 0; done < 20 && i < 20000; i++) {
		struct file_version was = version("file"), now;
		int error = replace(&was, "new", &now);

		ck_assert(error == 0 || error == EBUSY);
		done += !error;
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_text("file", done ? "new" : "old");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

static void try_in_a_closed_folder(void)
{
	struct file_version was = version("file"), now;

	become_unprivileged();
	if (replace(&was, "new", &now) != EACCES)
		_exit(1);
}

START_TEST(a_folder_that_cannot_be_written_says_so)
{
	ck_assert_int_eq(chmod(".", 0555), 0);
	in_a_child(try_in_a_closed_folder);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_text("file", "old");
	ck_assert_int_eq(count_entries("."), 1);
}
END_TEST

static void add_meddlers(TCase *tc)
{
	tcase_add_test(tc, what_is_prepared_waits_for_its_check);
	tcase_add_test(tc, a_write_right_after_shows);
	tcase_add_test(tc, who_slips_in_at_the_last_moment_stays);
	tcase_add_test(tc, the_latest_who_slips_in_stays);
	tcase_add_test(tc, a_write_in_place_at_the_last_moment_stays);
	tcase_add_test(tc, only_the_bytes_that_were_read_are_replaced);
	tcase_add_test(tc, a_write_that_times_do_not_show_stays);
	tcase_add_test(tc, a_write_that_times_do_not_show_stays_without_exchange);
	tcase_add_test(tc, a_removal_at_the_last_moment_is_kept);
	tcase_add_test(tc, a_writer_that_opens_at_the_last_moment_is_not_cut_off);
	tcase_add_test(tc, a_filesystem_without_exchange_gets_a_plain_rename);
	tcase_add_test(tc, a_plain_rename_too_checks_first);
	tcase_add_test(tc, a_folder_that_cannot_be_synced_keeps_the_old_file);
	tcase_add_test(tc, what_cannot_be_taken_back_is_an_error);
	tcase_add_test(tc, what_cannot_be_exchanged_back_is_an_error);
	tcase_add_test(tc, what_comes_out_unseen_goes_back);
	tcase_add_test(tc, what_is_taken_back_unseen_is_an_error);
	tcase_add_test(tc, a_removal_before_it_is_taken_back_is_kept);
	tcase_add_test(tc, a_copy_that_fails_after_its_rename_is_removed);
	tcase_add_test(tc, who_slips_in_before_it_is_taken_back_stays);
	tcase_add_test(tc, a_rename_that_fails_leaves_nothing_behind);
	tcase_add_test(tc, writers_that_come_and_go_do_no_harm);
}

Suite *replace_suite(void);
Suite *replace_suite(void)
{
	Suite *s = suite_create("replace");
	TCase *tc = tcase_create("replace");

	tcase_add_checked_fixture(tc, begin, scratch_end);
	tcase_add_test(tc, new_bytes_take_the_place);
	tcase_add_test(tc, a_reader_keeps_what_it_opened);
	tcase_add_test(tc, mode_and_owner_stay);
	tcase_add_loop_test(tc, set_id_bits_do_not_stay_if_others_write, 0, 3);
	tcase_add_test(tc, what_cannot_be_kept_gives_no_rights);
	tcase_add_test(tc, a_full_quota_of_the_owner_is_an_error);
	tcase_add_test(tc, xattrs_stay);
	tcase_add_test(tc, acls_stay);
	tcase_add_test(tc, a_folders_default_acl_gives_nothing_more);
	tcase_add_test(tc, another_version_is_not_replaced);
	tcase_add_test(tc, a_link_is_not_followed);
	tcase_add_test(tc, names_never_leave_the_folder);
	tcase_add_test(tc, a_temporary_of_others_stays);
	tcase_add_test(tc, a_new_file_is_made_only_where_none_is);
	tcase_add_test(tc, a_writer_is_waited_for);
	tcase_add_test(tc, the_new_file_is_not_being_written);
	tcase_add_test(tc, a_fifo_in_place_of_the_new_file_blocks_nothing);
	tcase_add_test(tc, a_write_that_fails_half_way_leaves_the_old_file);
	tcase_add_test(tc, a_folder_that_cannot_be_written_says_so);
	add_meddlers(tc);
	suite_add_tcase(s, tc);
	return s;
}
