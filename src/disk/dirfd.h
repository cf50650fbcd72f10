/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer disk: files, by the descriptor of their folder and one name, never by a path. Atomic and
 * durable replacement, attributes, the state directory, history, refused texts, inotify. It moves
 * bytes and knows no format: codec reads them, and store decides when they change.
 *
 * Start reading here; then replace.h and state.h.
 *
 * May use: util
 */
/*
 * dirfd.h - files by a directory descriptor and one name, so that no path can lead out of a root.
 *
 * Every function returns 0 or an errno. Descriptors are O_CLOEXEC. A folder that is only used for
 * look-ups may be an O_PATH descriptor. A name with '/' in it, "." and ".." are EINVAL.
 */
#ifndef ANIMFS_DISK_DIRFD_H
#define ANIMFS_DISK_DIRFD_H

#include "animfs/base.h"
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

/*
 * Is `name` a valid name of one file in a folder? (The empty name is left to the kernel to
 * refuse.)
 */
bool dirfd_is_name(const char *name);
/*
 * Returns the size in bytes of the longest prefix of `name` with at most `room` bytes that does not
 * cut a UTF-8 character.
 */
int dirfd_name_head(const char *name, size_t room);
/* Do both descriptors refer to the same file or folder? */
bool dirfd_same_file(int a, int b);
/* Opens the entry `name` of the folder `dir`; never follows a symbolic link. */
int dirfd_open(int dir, const char *name, int flags, mode_t mode, int *fd);
/*
 * Makes a new file for writing. Anything else of that name (a FIFO, a link, a leftover of a killed
 * program) is unlinked, not truncated. EEXIST if it is a folder.
 */
int dirfd_make(int dir, const char *name, mode_t mode, int *fd);
/*
 * Opens a relative path below root, component by component, without following links; "" is root
 * itself. O_PATH works, O_CREAT does not. A link on the way is ENOTDIR, at the end ELOOP (or the
 * link itself with O_PATH).
 */
int dirfd_walk(int root, const char *path, int flags, int *fd);
/*
 * Makes the missing folders of a relative path (mode 0700 less umask) and opens the last with
 * O_PATH.
 */
int dirfd_make_folders(int root, const char *path, int *fd);
/* Opens the folder at a relative path (dirfd_walk) for listing; close it with closedir. */
int dirfd_list(int root, const char *path, DIR **out);
/*
 * Returns the next entry of the directory except "." and ".."; NULL at the end (errno 0) or on an
 * error (errno not 0).
 */
struct dirent *dirfd_next(DIR *dir);
/*
 * Returns the size of a folder's content: the bytes of all files below it, plus `file` for each
 * file or link and `folder` for each folder. Folders that are too deep or cannot be read count as
 * empty.
 */
uint64_t dirfd_size(int root, const char *path, uint64_t file, uint64_t folder);
/*
 * Appends all of a regular file to `out`; EFBIG past `limit`. Anything but a regular file is EISDIR
 * or EINVAL; a FIFO never blocks. The stat is taken before the first byte is read, so that a change
 * during the read shows as another version.
 */
int dirfd_read(int dir, const char *name, size_t limit, struct buf *out, struct stat *st);
/* Like dirfd_read, for an open file. */
int dirfd_read_open(int fd, size_t limit, struct buf *out, struct stat *st);
/* Writes all bytes at the descriptor's offset, in as many calls as needed. */
int dirfd_write(int fd, struct bytes data);
/* Copies the rest of one file to the offset of another. */
int dirfd_copy(int from, int to);
/*
 * Makes the names in a folder durable. Folders that can be written but not read, and some
 * filesystems, cannot be synced; that is no error.
 */
int dirfd_sync_folder(int dir);
/* Compares the content of a file with `data`; EAGAIN if they differ. */
int dirfd_compare(int fd, struct bytes data);

/*
 * Uses the current folder of the process as /proc from now on (enclose.h). Code of a process that
 * serves a mount uses /proc only through dirfd_proc_path() and dirfd_proc_open().
 */
void dirfd_proc_is_here(void);
/*
 * Opens a file of /proc read-only, such as "PID/status". ESRCH if /proc is not that of our PID
 * namespace.
 */
int dirfd_proc_open(const char *path, int *fd);

/*
 * Like renameat2(), also on filesystems without its flags. There RENAME_NOREPLACE is emulated: a
 * link or an empty folder reserves the new name; a file that cannot be linked is renamed after a
 * check. RENAME_EXCHANGE is not emulated: see dirfd_lacks_flags.
 */
int dirfd_rename(int from, const char *name, int to, const char *new_name, unsigned flags);
/*
 * Renames to an unused name: `like`.~1~, `like`.~2~ and so on, and stores that name in `as`.
 * EEXIST: the first thousand names are in use.
 */
int dirfd_rename_apart(int from, const char *name, int to, const char *like, char as[NAME_MAX + 1]);
/*
 * Is the existing name `name` only another spelling of an entry? True on filesystems that ignore
 * case.
 */
bool dirfd_is_respelled(int folder, const char *name);
/* Is `error` the error of renameat2() on a filesystem that does not support its flags? */
bool dirfd_lacks_flags(int error);

/*
 * "/proc/self/fd/N/NAME", for calls that have no *at form (use lgetxattr and the like); "." is the
 * folder. With name NULL "/proc/self/fd/N", the file of the descriptor itself (use getxattr and the
 * like, since that is a link). On failure out is "", which every call refuses. DIRFD_PROC_SIZE has
 * room for any name (some filesystems count 255 characters, not bytes).
 */
#define DIRFD_PROC_SIZE 1100
int dirfd_proc_path(int dir, const char *name, char *out, size_t size);

/* Identifies a version of a file: differs after every replacement and every write in place. */
struct file_version {
	uint64_t dev, ino;
	int64_t size;
	struct timespec mtime, ctime;
};
struct file_version file_version_of(const struct stat *st);
bool file_version_same(const struct file_version *a, const struct file_version *b);
/* Gets the version of the file, or symbolic link, with a name. Returns false if it cannot. */
bool file_version_at(int dir, const char *name, struct file_version *out);
/* Returns whether the file with the name still has this version. */
bool file_version_is_at(int dir, const char *name, const struct file_version *version);
/* Like file_version_same, but ignores the ctime, which renames and hard links change. */
bool file_version_alike(const struct file_version *a, const struct file_version *b);
/*
 * Returns whether any write after `now` gives the file another version. Take `now` before reading
 * the file. False if the file changed less than two ticks before `now`, of the clock or of a
 * filesystem that keeps whole seconds.
 */
bool file_version_settled(const struct file_version *version, const struct timespec *now);
/*
 * Is the version from a filesystem that keeps whole seconds? By chance rarely true on other
 * filesystems.
 */
bool file_version_coarse(const struct file_version *version);

#endif
