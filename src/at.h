/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * at.h - files by a directory descriptor and one name, so that nothing can lead out of a root.
 *
 * Every function returns 0 or an errno. Descriptors are O_CLOEXEC. Folders that are only walked
 * through may be O_PATH descriptors. What has '/' in it, "." and ".." are no names: EINVAL.
 */
#ifndef ANIMFS_AT_H
#define ANIMFS_AT_H

#include "animfs/base.h"
#include <sys/stat.h>

/* Can it be the name of one file in a folder? (An empty one is left to the kernel to refuse.) */
bool at_is_name(const char *name);
/* One name below dir: never "..", never a path, never through a symbolic link. */
int at_open(int dir, const char *name, int flags, mode_t mode, int *fd);
/*
 * A new file, to be written: what had the name (a FIFO, a link, what was left by a killed program)
 * loses it and stays as it is. EEXIST where that is a folder.
 */
int at_make(int dir, const char *name, mode_t mode, int *fd);
/*
 * A relative path below root, component by component, each without following links; "" is root
 * itself. O_PATH works, O_CREAT does not. A link on the way is ENOTDIR, at the end ELOOP (or the
 * link itself with O_PATH).
 */
int at_walk(int root, const char *path, int flags, int *fd);
/* The folders of a relative path, made where missing (mode 0700 less umask), opened with O_PATH. */
int at_make_folders(int root, const char *path, int *fd);
/*
 * All of a regular file, appended to `out`, or EFBIG past `limit`. What is not a regular file is
 * EISDIR or EINVAL; a FIFO never blocks. The stat is from before the first byte was read: whatever
 * happened to the file since then shows as another version.
 */
int at_read(int dir, const char *name, size_t limit, struct buf *out, struct stat *st);
/* All of the bytes to the descriptor's place, however many calls it takes. */
int at_write(int fd, struct bytes data);
/* Does the file hold these bytes and no others? EAGAIN if not. */
int at_compare(int fd, struct bytes data);

/*
 * From here on the process's current folder is a /proc, and it has no other (enclose.h). Nothing in
 * a process that serves a mount may say "/proc" but by at_proc_path() and at_proc_open().
 */
void at_proc_is_here(void);
/* Opens a file of /proc for reading: "PID/status". */
int at_proc_open(const char *path, int *fd);

/*
 * renameat2(). RENAME_NOREPLACE works on every filesystem; where the kernel cannot do it there, a
 * link or an empty folder takes the new name first, and a file that cannot be linked is renamed
 * right after a look. RENAME_EXCHANGE has no such way: see at_lacks_flags.
 */
int at_rename(int from, const char *name, int to, const char *new_name, unsigned flags);
/* Is this what renameat2() returns where the filesystem does not know the flags? */
bool at_lacks_flags(int error);

/*
 * "/proc/self/fd/N/NAME" for calls that have no *at form (use lgetxattr and its like), where "." is
 * the folder; name NULL: whatever the descriptor is of, "/proc/self/fd/N" (use getxattr and its
 * like, since that is a link). On failure out is "", which every call refuses. AT_PROC_SIZE has
 * room for any name (some filesystems count 255 characters, not bytes).
 */
#define AT_PROC_SIZE 1100
int at_proc_path(int dir, const char *name, char *out, size_t size);

/* Which version of a file: changes with every replacement and with every write in place. */
struct file_version {
	uint64_t dev, ino;
	int64_t size;
	struct timespec mtime, ctime;
};
struct file_version file_version_of(const struct stat *st);
bool file_version_same(const struct file_version *a, const struct file_version *b);
/*
 * Would any write after `now` show as another version? Read the file after that time. Not if the
 * file changed less than two ticks before: of the clock, or of the filesystem where it keeps whole
 * seconds only.
 */
bool file_version_settled(const struct file_version *version, const struct timespec *now);
/* Does it come from a filesystem that keeps whole seconds only? Rarely true of another, by chance.
 */
bool file_version_coarse(const struct file_version *version);

#endif
