/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "enclose.h"
#include "disk/dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDERS_MAX 4

static int proc = -1, null = -1;

int enclose_proc(void)
{
	return proc;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/*
 * Detached mounts
 */

static int configure_proc(int context)
{
	/* This option fails before Linux 5.8; all of /proc is visible then. */
	fsconfig(context, FSCONFIG_SET_STRING, "subset", "pid", 0);
	return fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

static int mount_proc(int *fd)
{
	int context = fsopen("proc", FSOPEN_CLOEXEC), error = 0;

	if (context < 0)
		return errno;
	*fd = configure_proc(context) == 0 ? fsmount(context, FSMOUNT_CLOEXEC,
						     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
							     MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
					   : -1;
	if (*fd < 0)
		error = errno;
	close(context);
	return error;
}

/*
 * Sets the propagation and access of a copied mount. The copy of a shared mount still receives
 * mounts made in the original; any other copy is private.
 */
static int set_mount(int fd, bool read_only)
{
	struct mount_attr attr = {.attr_set = read_only ? MOUNT_ATTR_RDONLY : 0,
				  .propagation = MS_SLAVE};

	return mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0
		       ? 0
		       : errno;
}

static int copy_mount(int folder, unsigned recursive, bool read_only, int *fd)
{
	int error;

	*fd = open_tree(folder, "",
			AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);
	if (*fd < 0)
		return errno;
	error = set_mount(*fd, read_only);
	if (error) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

/*
 * The namespace
 */

static unsigned long long mount_id(int dir, const char *path)
{
	struct statx st;

	return statx(dir, path, AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_MNT_ID,
		     &st) == 0 &&
			       st.stx_mask & STATX_MNT_ID
		       ? st.stx_mnt_id
		       : 0;
}

/*
 * Returns whether the folder is on a shared mount: a copy of such a mount receives mounts that are
 * made later.
 */
static bool is_shared(int folder)
{
	unsigned long long id, wanted = mount_id(folder, "");
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	bool shared = false;
	char *line = NULL;
	size_t size = 0;

	while (wanted && mounts && !shared && getline(&line, &size, mounts) >= 0) {
		char *fields_end = strstr(line, " - ");

		if (fields_end)
			*fields_end = '\0';
		shared = sscanf(line, "%llu", &id) == 1 && id == wanted && strstr(line, " shared:");
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return shared;
}

/*
 * Unmounts everything that covers the new root: the old root, and animfs's own mount if SOURCE is
 * its mountpoint. "/.." leads to the topmost mount.
 */
static int uncover_root(void)
{
	while (mount_id(AT_FDCWD, "/..") != mount_id(AT_FDCWD, "/")) {
		if (umount2("/..", MNT_DETACH) != 0)
			return errno;
	}
	return 0;
}

/* Makes `tree` the root and detaches all other mounts. */
static int change_root(int tree)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0 ||
	    move_mount(tree, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0 ||
	    fchdir(tree) != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
		return errno;
	return uncover_root();
}

/* Returns to the original namespace, and to `top`: setns() resets the root to the namespace's. */
static int go_back(int home, int top)
{
	return setns(home, CLONE_NEWNS) == 0 && fchdir(top) == 0 && chroot(".") == 0 ? 0 : errno;
}

static int enter_namespace(int tree, int home, int top)
{
	int error, stuck;

	if (unshare(CLONE_NEWNS) != 0)
		return errno;
	error = change_root(tree);
	stuck = error ? go_back(home, top) : 0;
	return stuck ? -stuck : error;
}

/*
 * Moves the process to a new mount namespace that has only the folder. *root is the folder, opened
 * in it.
 */
static int own_namespace(int folder, int *root)
{
	enum { TREE, HOME, TOP, FDS };
	int fd[FDS] = {-1, open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC),
		       open("/", O_PATH | O_CLOEXEC)};
	int error = fd[HOME] < 0 || fd[TOP] < 0
			    ? errno
			    : copy_mount(folder, AT_RECURSIVE, false, &fd[TREE]);

	if (!error) {
		*root = openat(fd[TREE], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = *root < 0 ? errno : enter_namespace(fd[TREE], fd[HOME], fd[TOP]);
	}
	if (error && *root >= 0) {
		close(*root);
		*root = -1;
	}
	close_all(fd, FDS);
	return error;
}

/*
 * All together
 */

static int change_to(int folder)
{
	int before = open(".", O_PATH | O_CLOEXEC), error = 0;

	if (fchdir(folder) != 0)
		return errno;
	if (chroot(".") != 0) {
		error = errno;
		(void)!fchdir(before);
	}
	if (before >= 0)
		close(before);
	return error;
}

/*
 * Makes the first folder the root of the process. If possible, the process gets a mount namespace:
 * *apart is true then, and *fd is the folder in it. Otherwise chroot is used, and *fd stays -1.
 */
static int enclose_enter_folder(const struct enclosed *first, int *fd, bool *apart)
{
	int error = is_shared(first->fd) ? own_namespace(first->fd, fd) : ENOTSUP;

	*apart = !error;
	return error > 0 ? change_to(first->fd) : error;
}

static int copy_others(const struct enclosed *folders, size_t count, int *fd)
{
	int error = 0;

	for (size_t i = 1; i < count && !error; i++) {
		if (folders[i].fd >= 0)
			error = copy_mount(folders[i].fd, 0, !folders[i].writable, &fd[i]);
	}
	return error;
}

static void exchange_descriptors(struct enclosed *folders, size_t count, int *fd)
{
	for (size_t i = 0; i < count; i++) {
		if (fd[i] >= 0)
			dup3(fd[i], folders[i].fd, O_CLOEXEC);
	}
	close_all(fd, count);
}

int enclose(struct enclosed *folders, size_t count, bool *apart)
{
	int fd[FOLDERS_MAX] = {-1, -1, -1, -1}, error = mount_proc(&proc);

	*apart = false;
	if (error)
		return error;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		error = errno;
	if (!error)
		error = copy_others(folders, count, fd);
	if (!error)
		error = enclose_enter_folder(&folders[0], fd, apart);
	if (!error) {
		exchange_descriptors(folders, count, fd);
		enclose_settle(false);
		return 0;
	}
	close_all(fd, count);
	close(proc);
	if (null >= 0)
		close(null);
	proc = null = -1;
	return error;
}

void enclose_settle(bool background)
{
	if (proc < 0)
		return;
	(void)!fchdir(proc);
	dirfd_proc_is_here();
	for (int fd = STDIN_FILENO; background && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
}
