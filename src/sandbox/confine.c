/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "confine.h"
#include "enclose.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool confine_is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

bool confine_descriptors(struct err *err)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (confine_is_folder(fd))
			close(fd);
	}
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return err_system(err, errno, "/dev/null");
	closefrom(STDERR_FILENO + 1);
	return true;
}

static bool limit_core(void)
{
	const struct rlimit none = {0, 0};

	return setrlimit(RLIMIT_CORE, &none) == 0;
}

/*
 * Files: landlock
 */

/* Rights that older kernel headers lack, each with the version of landlock that introduced it. */
#define ACCESS_REFER (UINT64_C(1) << 13)     /* moving files between folders: landlock version 2 */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)  /* truncating files: landlock version 3 */
#define ACCESS_IOCTL_DEV (UINT64_C(1) << 15) /* ioctl on devices: landlock version 5 */
#define SCOPE_ABSTRACT_UNIX_SOCKET 1 /* connecting to abstract sockets: landlock version 6 */
#define SCOPE_SIGNAL 2

#define ACCESS_FILE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | ACCESS_TRUNCATE)
#define ACCESS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                               \
	(ACCESS_READ | ACCESS_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                            \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                              \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | ACCESS_REFER)
#define ACCESS_ALL                                                                                 \
	(ACCESS_WRITE | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |                \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | ACCESS_IOCTL_DEV)

/*
 * The rules of landlock version 6; older kernels accept the struct if the fields that they do not
 * know are 0.
 */
struct rules {
	uint64_t files, network, scoped;
};

static struct rules rules_of(long version)
{
	struct rules rules = {.files = ACCESS_ALL};

	if (version < 5)
		rules.files &= ~ACCESS_IOCTL_DEV;
	if (version < 3)
		rules.files &= ~ACCESS_TRUNCATE;
	if (version >= 6)
		rules.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	return rules;
}

static int confine_add_place(int ruleset, const struct rules *rules,
			     const struct confine_place *place)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = place->fd};
	struct stat st;

	if (place->fd < 0)
		return 0;
	if (fstat(place->fd, &st) != 0)
		return errno;
	rule.allowed_access = place->writable ? ACCESS_WRITE : ACCESS_READ;
	rule.allowed_access &= rules->files;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= ACCESS_FILE;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0
		       ? 0
		       : errno;
}

/* Allows accesses below a path. Skips a path that does not exist. */
static int confine_add_path(int ruleset, const struct rules *rules, const char *path, bool writable)
{
	struct confine_place place = {open(path, O_PATH | O_CLOEXEC), writable};
	int error = confine_add_place(ruleset, rules, &place);

	if (place.fd >= 0)
		close(place.fd);
	return error;
}

/*
 * Allows what a mount needs from the system: /dev/null, which becomes standard input in the
 * background; the number of processors, for threads; /proc, where libfuse reads the groups of
 * callers. Other secrets in /proc are out of reach anyway. An enclosed process only has the /proc
 * of enclose.h.
 */
static int add_system(int ruleset, const struct rules *rules)
{
	const struct confine_place proc = {enclose_proc(), false};
	int error;

	if (proc.fd >= 0)
		return confine_add_place(ruleset, rules, &proc);
	error = confine_add_path(ruleset, rules, "/dev/null", true);

	if (!error)
		error = confine_add_path(ruleset, rules, "/sys/devices/system/cpu", false);
	if (!error)
		error = confine_add_path(ruleset, rules, "/proc", false);
	return error;
}

/*
 * Confines file accesses by landlock. ENOSYS if the kernel lacks landlock, or has version 1, which
 * forbids all renames between folders.
 */
static int limit_files(const struct confine_place *places, size_t count)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const struct rules rules = rules_of(version);
	int ruleset, error;

	if (version < 2)
		return ENOSYS;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (ruleset < 0)
		return errno;
	error = add_system(ruleset, &rules);
	for (size_t i = 0; i < count && !error; i++)
		error = confine_add_place(ruleset, &rules, &places[i]);
	if (!error && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
		error = errno;
	close(ruleset);
	return error;
}

/*
 * The tree
 */

static int limit_tree(const struct confine_place *places, size_t count, unsigned *confined)
{
	struct enclosed folders[CONFINE_PLACES_MAX];
	bool apart;
	int error;

	if (CONFINE_SANITIZED)
		return ENOSYS;
	for (size_t i = 0; i < count; i++)
		folders[i] = (struct enclosed){places[i].fd, places[i].writable};
	error = enclose(folders, count, &apart);
	if (!error && apart)
		*confined |= CONFINED_NAMESPACE;
	return error > 0 ? ENOSYS : -error;
}

/*
 * Capabilities
 */

/*
 * The capabilities of a mount by root, which opens, changes and chowns files of all users, and
 * takes leases on them (replace.h).
 */
static const cap_value_t of_daemon[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
					CAP_FOWNER, CAP_FSETID,       CAP_LEASE};
/*
 * The capabilities of the process that unmounts for root. The mountpoint may be in folders whose
 * mode gives root no rights.
 */
static const cap_value_t of_unmounter[] = {CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH};

static bool keep_capability(cap_t to, cap_t from, cap_value_t capability)
{
	cap_flag_value_t has;

	return cap_get_flag(from, capability, CAP_PERMITTED, &has) == 0 &&
	       cap_set_flag(to, CAP_PERMITTED, 1, &capability, has) == 0 &&
	       cap_set_flag(to, CAP_EFFECTIVE, 1, &capability, has) == 0;
}

static int limit_capabilities(const cap_value_t *kept, size_t count)
{
	cap_t now = cap_get_proc(), then = cap_init();
	bool fine = now && then;
	int error;

	for (size_t i = 0; i < count && fine; i++)
		fine = keep_capability(then, now, kept[i]);
	error = fine && cap_set_proc(then) == 0 ? 0 : errno;
	cap_free(now);
	cap_free(then);
	return error;
}

/*
 * Calls: seccomp
 */

static const int refused[] = {
	/*
	 * Calls on other programs and processes; ptrace too, unless sanitized. pidfd_open is
	 * allowed: its descriptor only shows when the process ends.
	 */
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ioprio_set),
	SCMP_SYS(kcmp),
	SCMP_SYS(kill),
	SCMP_SYS(migrate_pages),
	SCMP_SYS(move_pages),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(process_madvise),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_setattr),
	SCMP_SYS(sched_setparam),
	SCMP_SYS(sched_setscheduler),
	SCMP_SYS(setpriority),
	SCMP_SYS(tkill),
	/* Calls for the network, and for services behind sockets. */
	SCMP_SYS(connect),
	SCMP_SYS(socket),
	SCMP_SYS(socketpair),
	/* Calls for mounts, namespaces, and files by handle. */
	SCMP_SYS(chroot),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fsopen),
	SCMP_SYS(fspick),
	SCMP_SYS(mount),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(open_tree),
	SCMP_SYS(pivot_root),
	SCMP_SYS(quotactl),
	SCMP_SYS(quotactl_fd),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	/* Calls for administration, and calls that kernel exploits have used. */
	SCMP_SYS(acct),
	SCMP_SYS(add_key),
	SCMP_SYS(adjtimex),
	SCMP_SYS(bpf),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(clock_settime),
	SCMP_SYS(delete_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(init_module),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(ioperm),
	SCMP_SYS(iopl),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(kexec_load),
	SCMP_SYS(keyctl),
	SCMP_SYS(modify_ldt),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(personality),
	SCMP_SYS(reboot),
	SCMP_SYS(request_key),
	SCMP_SYS(setdomainname),
	SCMP_SYS(sethostname),
	SCMP_SYS(settimeofday),
	SCMP_SYS(swapoff),
	SCMP_SYS(swapon),
	SCMP_SYS(syslog),
	SCMP_SYS(uselib),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(vhangup),
};

static int refuse_call(scmp_filter_ctx filter, int call)
{
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

/* The position of clone's flags among its arguments: first, on s390 second. */
#ifdef __s390__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

static const int unmounting[] = {SCMP_SYS(umount), SCMP_SYS(umount2)};

/*
 * Refuses some calls depending on their arguments. A filter cannot read the flags of clone3, which
 * are in memory; on ENOSYS the C library uses clone instead. TIOCSTI would put text into the
 * terminal's input. prlimit is only allowed on the process itself (0).
 */
static int refuse_some(scmp_filter_ctx filter)
{
	int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	if (!error)
		error = seccomp_rule_add(
			filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			SCMP_CMP(CLONE_FLAGS, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
	if (!error)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
					 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, TIOCSTI));
	if (!error)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
					 SCMP_A0(SCMP_CMP_NE, 0, 0));
	if (!error && !CONFINE_SANITIZED)
		error = refuse_call(filter, SCMP_SYS(ptrace));
	return error;
}

/* Loads the filter of system calls. Returns 0 or a negated errno, as libseccomp does. */
static int load_calls(scmp_filter_ctx filter, bool may_unmount)
{
	/* Kill the process on system calls of another architecture, which have other numbers. */
	int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; i < ARRAY_SIZE(refused) && !error; i++)
		error = refuse_call(filter, refused[i]);
	for (size_t i = 0; i < ARRAY_SIZE(unmounting) && !error && !may_unmount; i++)
		error = refuse_call(filter, unmounting[i]);
	if (!error)
		error = refuse_some(filter);
	return error ? error : seccomp_load(filter);
}

/*
 * Confines system calls by seccomp. Whether the kernel supports filters is tested with an invalid
 * one: EFAULT means that it does.
 */
static int limit_calls(bool may_unmount)
{
	scmp_filter_ctx filter;
	int error;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno != EFAULT)
		return ENOSYS;
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return ENOMEM;
	error = -load_calls(filter, may_unmount);
	seccomp_release(filter);
	return error;
}

/*
 * All together
 */

#define SET_MDWE 65 /* PR_SET_MDWE, since Linux 6.3 */
#define MDWE_REFUSE_EXEC 1

static int limit_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

/*
 * Adds `what` to *confined unless there was an error. Returns false on errors other than missing
 * support.
 */
static bool confine_note(int error, unsigned what, unsigned *confined, const char *name,
			 struct err *err)
{
	if (!error)
		*confined |= what;
	return !error || error == ENOSYS || error == EOPNOTSUPP || err_system(err, error, name);
}

bool confine(const struct confine_place *places, size_t count, unsigned *confined, struct err *err)
{
	*confined = 0;
	if (limit_core())
		*confined |= CONFINED_CORE;
	if (prctl(SET_MDWE, MDWE_REFUSE_EXEC, 0, 0, 0) == 0)
		*confined |= CONFINED_MEMORY;
	return confine_note(limit_privileges(), CONFINED_PRIVILEGES, confined, "no_new_privs",
			    err) &&
	       confine_note(limit_tree(places, count, confined), CONFINED_TREE, confined,
			    "namespace", err) &&
	       confine_note(limit_files(places, count), CONFINED_FILES, confined, "landlock",
			    err) &&
	       confine_note(limit_capabilities(of_daemon, ARRAY_SIZE(of_daemon)),
			    CONFINED_CAPABILITIES, confined, "capabilities", err) &&
	       confine_note(limit_calls(false), CONFINED_CALLS, confined, "seccomp", err);
}

bool confine_unmounter(struct err *err)
{
	bool root = geteuid() == 0;
	unsigned confined = 0;

	limit_core();
	return (!root || confine_note(limit_privileges(), CONFINED_PRIVILEGES, &confined,
				      "no_new_privs", err)) &&
	       confine_note(limit_capabilities(of_unmounter, root ? ARRAY_SIZE(of_unmounter) : 0),
			    CONFINED_CAPABILITIES, &confined, "capabilities", err) &&
	       (!root ||
		confine_note(limit_calls(true), CONFINED_CALLS, &confined, "seccomp", err));
}

void confine_describe(unsigned confined, struct buf *out)
{
	static const char *const words[] = {"files",  "calls", "capabilities", "privileges",
					    "memory", "core",  "tree",         "namespace"};

	if (!confined)
		buf_text(out, "no");
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		if (confined & (1U << i))
			buf_format(out, "%s%s", confined & ((1U << i) - 1) ? " " : "", words[i]);
	}
}
