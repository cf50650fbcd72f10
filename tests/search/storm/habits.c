/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * habits.c - how programs save a text, as the system calls that they make (seen with strace).
 *
 * A habit returns whether the program would say that it has saved: calls whose result the program
 * ignores do not count. In the comments, F is the file at `path`. A habit removes the files that it
 * leaves behind before its next save; leave_nothing() removes it in the end.
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static unsigned serial;

/* Makes a name beside F: %s in FORMAT stands for F's own name. */
__attribute__((format(printf, 3, 0))) static const char *
beside(char name[PATH_MAX], const char *path, const char *format)
{
	const char *slash = strrchr(path, '/');
	char last[NAME_MAX + 1];

	snprintf(last, sizeof(last), format, slash + 1);
	snprintf(name, PATH_MAX, "%.*s%s", (int)(slash + 1 - path), path, last);
	return name;
}

/* Makes a name beside F that does not exist yet. */
static const char *fresh(char name[PATH_MAX], const char *path, const char *format)
{
	char numbered[64];

	snprintf(numbered, sizeof(numbered), "%s.%d-%u", format, (int)getpid(), serial++);
	return beside(name, path, numbered);
}

/* ---- calls ---- */

static int open_file(const char *path, int flags, mode_t mode)
{
	return (int)CALL(OP_OPEN, path, open(path, flags | O_CLOEXEC, mode));
}

static bool close_file(int fd, const char *path)
{
	return CALL(OP_CLOSE, path, close(fd)) == 0;
}

static bool write_bytes(int fd, const char *path, const char *bytes, size_t length)
{
	return CALL(OP_WRITE, path, write(fd, bytes, length)) == (long)length;
}

static bool write_text(int fd, const char *path, const struct text *text)
{
	return write_bytes(fd, path, text->bytes, text->length);
}

static bool sync_file(int fd, const char *path)
{
	return CALL(OP_SYNC, path, fsync(fd)) == 0;
}

/* Renames a file. `path` is the one of `from` and `to` that is F. */
static bool move(const char *from, const char *to, const char *path)
{
	return CALL(OP_RENAME, path, rename(from, to)) == 0;
}

static bool remove_file(const char *path)
{
	return CALL(OP_UNLINK, path, unlink(path)) == 0;
}

/* Removes files of an earlier save. */
static void clear_away(const char *path)
{
	if (access(path, F_OK) == 0)
		remove_file(path);
}

/* Copies the ACL of F to a new file, as programs do. */
static void copy_acl(int fd, const char *path)
{
	static const char name[] = "system.posix_acl_access";
	char acl[256];
	long size = CALL(OP_XATTR, path, getxattr(path, name, acl, sizeof(acl)));

	if (size > 0)
		CALL(OP_XATTR, path, fsetxattr(fd, name, acl, (size_t)size, 0));
}

static void own(int fd, const char *path, mode_t mode)
{
	CALL(OP_FCHMOD, path, fchown(fd, getuid(), getgid()));
	CALL(OP_FCHMOD, path, fchmod(fd, mode));
}

/* Ends a habit that fails after it opened something. */
static bool give_up(int fd, const char *path, const char *temporary)
{
	close_file(fd, path);
	if (temporary)
		clear_away(temporary);
	return false;
}

static bool write_and_close(int fd, const char *path, const struct text *text, bool sync)
{
	bool saved = write_text(fd, path, text);

	if (saved && sync)
		saved = sync_file(fd, path);
	return close_file(fd, path) && saved;
}

/* Makes a temporary file with the text. Returns false on failure. */
static bool make_temporary(const char *name, const struct text *text, mode_t mode, bool sync)
{
	int fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode);

	if (fd >= 0 && write_and_close(fd, name, text, sync))
		return true;
	if (fd >= 0)
		clear_away(name);
	return false;
}

static bool over(const char *temporary, const char *path)
{
	if (move(temporary, path, path))
		return true;
	clear_away(temporary);
	return false;
}

/* ---- shells ---- */

/* Saves like `echo x > F`: the descriptor is moved, which closes the empty file once. */
static bool save_sh(const char *path, const struct text *text)
{
	int first = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int fd;

	if (first < 0)
		return false;
	fd = fcntl(first, F_DUPFD_CLOEXEC, 10);
	if (!close_file(first, path))
		return give_up(fd, path, NULL);
	return write_and_close(fd, path, text, false);
}

/*
 * Writes a part of the text in a child process, which inherits the descriptor, as a command of `{
 * a; b; } > F` does.
 */
static bool child_writes(int fd, const char *path, const char *bytes, size_t length)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		_exit(write_bytes(fd, path, bytes, length) && close_file(fd, path) ? 0 : 1);
	waitpid(child, &status, 0);
	return status == 0;
}

static size_t first_lines(const struct text *text, unsigned lines)
{
	const char *at = text->bytes;

	while (lines-- > 0 && *at)
		at = strchrnul(at, '\n') + 1;
	return (size_t)(at - text->bytes);
}

/* Saves like `{ head -n 2 x; tail -n +3 x; } > F`. */
static bool save_group(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	size_t head = first_lines(text, 2);
	bool saved;

	if (fd < 0)
		return false;
	/* The first part may be refused as incomplete; the program ignores the result. */
	my_text_is_partial = true;
	child_writes(fd, path, text->bytes, head);
	my_text_is_partial = false;
	saved = child_writes(fd, path, text->bytes + head, text->length - head);
	return close_file(fd, path) && saved;
}

static bool append_row(const char *path, const char *row, size_t length)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (fd < 0)
		return false;
	bool saved = write_bytes(fd, path, row, length);
	return close_file(fd, path) && saved;
}

static bool append_rows(const char *path, const struct text *text)
{
	const char *row = text->bytes, *end;
	bool saved = true;

	for (; *row; row = end) {
		end = strchrnul(row, '\n');
		end += *end == '\n';
		saved = append_row(path, row, (size_t)(end - row)) && saved;
	}
	return saved;
}

/* Saves like `: > F; while read row; do echo "$row" >> F; done`. */
static bool save_rows(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	my_text_is_partial = true;
	bool saved = fd >= 0 && close_file(fd, path) && append_rows(path, text);
	my_text_is_partial = false;
	return saved;
}

/* Writes row by row to a file beside F, then renames it like mv. */
static bool save_rows_beside(const char *path, const struct text *text)
{
	char name[PATH_MAX];

	fresh(name, path, "%s.rows");
	if (append_rows(name, text))
		return over(name, path);
	clear_away(name);
	return false;
}

/* Saves like `head -n 1 x > F; tail -n +2 x >> F`. */
static bool save_append(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	size_t head = first_lines(text, 1);
	bool saved;

	if (fd < 0)
		return false;
	saved = child_writes(fd, path, text->bytes, head);
	saved = close_file(fd, path) && saved; /* a header without rows is not refused */
	return append_row(path, text->bytes + head, text->length - head) && saved;
}

/* ---- in place ---- */

/* Saves like tee, open(F, "w") or nano. */
static bool save_tee(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	return fd >= 0 && write_and_close(fd, path, text, false);
}

static bool save_nano(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	return fd >= 0 && write_and_close(fd, path, text, true);
}

/* Saves like `cp x F`, which tries copy_file_range first. */
static bool save_cp(const char *path, const struct text *text)
{
	int from = memfd_create("text", MFD_CLOEXEC);
	int fd = open_file(path, O_WRONLY | O_TRUNC, 0);
	ssize_t copied = -1;

	if (fd >= 0 && write(from, text->bytes, text->length) == (ssize_t)text->length) {
		lseek(from, 0, SEEK_SET);
		copied = copy_file_range(from, NULL, fd, NULL, text->length, 0);
	}
	close(from);
	if (fd < 0 || copied == (ssize_t)text->length)
		return fd >= 0 && close_file(fd, path);
	return write_and_close(fd, path, text, false);
}

/*
 * Saves like VS Code, which ignores the result of fdatasync; if that refused the text, close saves
 * nothing either.
 */
static bool save_vscode(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool saved;

	if (fd < 0)
		return false;
	saved = write_text(fd, path, text);
	saved = CALL(OP_SYNC, path, fdatasync(fd)) == 0 && saved;
	return close_file(fd, path) && saved;
}

static bool save_rsync_inplace(const char *path, const struct text *text)
{
	int fd = open_file(path, O_WRONLY | O_CREAT, 0600);
	size_t half = text->length / 2;
	bool saved;

	if (fd < 0)
		return false;
	saved = write_bytes(fd, path, text->bytes, half) &&
		write_bytes(fd, path, text->bytes + half, text->length - half) &&
		CALL(OP_TRUNCATE, path, ftruncate(fd, (off_t)text->length)) == 0;
	CALL(OP_UTIMES, path, futimens(fd, NULL));
	return close_file(fd, path) && saved;
}

/* ---- a temporary, renamed over F ---- */

static bool save_sed(const char *path, const struct text *text)
{
	char name[PATH_MAX];
	int fd = open_file(fresh(name, path, "sed"), O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return false;
	own(fd, name, 0644);
	copy_acl(fd, path);
	return write_and_close(fd, name, text, false) && over(name, path);
}

/* Saves like sed -i.bak: F is renamed away before. */
static bool save_sed_bak(const char *path, const struct text *text)
{
	char name[PATH_MAX], backup[PATH_MAX];

	if (!make_temporary(fresh(name, path, "sed"), text, 0600, false))
		return false;
	if (!move(path, beside(backup, path, "%s.bak"), path)) {
		clear_away(name);
		return false;
	}
	return over(name, path);
}

/* Saves like perl -pi.bak: F is linked before. */
static bool save_perl_bak(const char *path, const struct text *text)
{
	char name[PATH_MAX], backup[PATH_MAX];

	clear_away(beside(backup, path, "%s.link"));
	if (!make_temporary(fresh(name, path, "perl"), text, 0600, false))
		return false;
	CALL(OP_LINK, path, link(path, backup));
	return over(name, path);
}

static bool save_perl(const char *path, const struct text *text)
{
	char name[PATH_MAX];
	int fd = open_file(fresh(name, path, "perl"), O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return false;
	CALL(OP_FCHMOD, name, fchmod(fd, 0644));
	return write_and_close(fd, name, text, false) && over(name, path);
}

static bool save_rsync(const char *path, const struct text *text)
{
	char name[PATH_MAX];
	int fd = open_file(fresh(name, path, ".%s"), O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return false;
	CALL(OP_FCHMOD, name, fchmod(fd, 0600));
	if (!write_and_close(fd, name, text, false))
		return false;
	CALL(OP_CHMOD, name, utimensat(AT_FDCWD, name, NULL, AT_SYMLINK_NOFOLLOW));
	CALL(OP_CHMOD, name, chmod(name, 0644));
	return over(name, path);
}

/* Saves like mv or patch, which try first not to replace an existing file. */
static bool save_mv(const char *path, const struct text *text)
{
	char name[PATH_MAX];

	if (!make_temporary(fresh(name, path, "%s.new"), text, 0666, false))
		return false;
	if (renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
		/* F exists, so this rename must fail, unless the structure has moved F. */
		if (!below_any(&now.moved, path))
			account(OP_RENAME, path, 0);
		return true;
	}
	if (errno != EEXIST)
		account(OP_RENAME, path, errno);
	return over(name, path);
}

/* Saves like gedit and gio save: the new file is renamed while it is open. */
static bool save_glib(const char *path, const struct text *text)
{
	char name[PATH_MAX], backup[PATH_MAX];
	int looked = open_file(path, O_WRONLY, 0);
	int fd;
	bool saved;

	if (looked < 0)
		return false;
	fd = open_file(fresh(name, path, ".goutputstream"), O_RDWR | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return give_up(looked, path, NULL);
	own(fd, name, 0644);
	saved = write_text(fd, name, text) && sync_file(fd, name);
	clear_away(beside(backup, path, "%s~"));
	CALL(OP_LINK, path, link(path, backup));
	saved = saved && move(name, path, path);
	if (!saved)
		clear_away(name);
	saved = close_file(fd, path) && saved;
	close_file(looked, path);
	return saved;
}

static int lock_file(int fd, const char *path, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	return (int)CALL(OP_LOCK, path, fcntl(fd, F_SETLK, &lock));
}

static bool office_temporary(const char *name, const struct text *text)
{
	int fd = open_file(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || !close_file(fd, name))
		return false;
	fd = open_file(name, O_RDWR, 0);
	if (fd < 0)
		return false;
	bool saved = CALL(OP_WRITE, name, pwrite(fd, text->bytes, text->length, 0)) ==
		     (long)text->length;
	return close_file(fd, name) && saved;
}

/* Syncs F without writing anything, as LibreOffice does after a save. */
static bool office_afterwards(const char *path)
{
	int fd;
	bool saved;

	CALL(OP_CHMOD, path, chown(path, (uid_t)-1, (gid_t)-1));
	CALL(OP_CHMOD, path, chmod(path, 0644));
	fd = open_file(path, O_RDWR, 0);
	if (fd < 0)
		return false;
	lock_file(fd, path, F_WRLCK);
	saved = sync_file(fd, path);
	return close_file(fd, path) && saved;
}

static bool save_office(const char *path, const struct text *text)
{
	char name[PATH_MAX], lock[PATH_MAX];
	int fd = open_file(path, O_RDWR, 0);
	bool saved;

	if (fd < 0)
		return false;
	lock_file(fd, path, F_WRLCK);
	clear_away(beside(lock, path, ".~lock.%s#"));
	make_temporary(lock, &(struct text){5, "lock\n"}, 0644, false);
	saved = office_temporary(fresh(name, path, "lu"), text) && over(name, path);
	saved = saved && office_afterwards(path);
	close_file(fd, path);
	clear_away(lock);
	return saved;
}

/* ---- F is renamed away or unlinked, and made anew ---- */

static bool make_anew(const char *path, const struct text *text, bool sync, bool acl)
{
	int fd = open_file(path, O_WRONLY | O_CREAT, 0644);
	bool saved;

	if (fd < 0)
		return false;
	saved = CALL(OP_TRUNCATE, path, ftruncate(fd, 0)) == 0 && write_text(fd, path, text);
	if (saved && sync)
		saved = sync_file(fd, path);
	CALL(OP_FCHMOD, path, fchmod(fd, 0644));
	if (acl)
		copy_acl(fd, path);
	return close_file(fd, path) && saved;
}

/* Makes the swap file, and tests whether files can be made in the folder. */
static void vim_begins(char swap[PATH_MAX], const char *path)
{
	char probe[PATH_MAX];
	int fd;

	clear_away(beside(swap, path, ".%s.swp"));
	fd = open_file(swap, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0)
		close_file(fd, swap);
	fd = open_file(fresh(probe, path, "4913"), O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return;
	own(fd, probe, 0644);
	close_file(fd, probe);
	remove_file(probe);
}

static bool vim(const char *path, const struct text *text, bool sync)
{
	char swap[PATH_MAX], backup[PATH_MAX];
	bool saved;

	vim_begins(swap, path);
	saved = move(path, beside(backup, path, "%s~"), path) && make_anew(path, text, sync, true);
	if (saved)
		remove_file(backup);
	clear_away(swap);
	return saved;
}

static bool save_vim(const char *path, const struct text *text)
{
	return vim(path, text, true);
}

static bool save_nvim(const char *path, const struct text *text)
{
	return vim(path, text, false);
}

/* Saves like vim with :set backupcopy=yes. */
static bool save_vim_copy(const char *path, const struct text *text)
{
	char backup[PATH_MAX];
	bool saved;

	clear_away(beside(backup, path, "%s~"));
	if (!make_temporary(backup, text, 0644, false))
		return false;
	saved = make_anew(path, text, true, false);
	clear_away(backup);
	return saved;
}

static bool save_emacs(const char *path, const struct text *text)
{
	char lock[PATH_MAX], backup[PATH_MAX];
	bool saved;

	clear_away(beside(lock, path, ".#%s"));
	unlink(lock); /* access() follows a link that leads nowhere */
	CALL(OP_SYMLINK, lock, symlink("user@host.1:2", lock));
	saved = move(path, beside(backup, path, "%s~"), path) && make_anew(path, text, true, true);
	CALL(OP_UNLINK, lock, unlink(lock));
	return saved;
}

/* Saves like cp --remove-destination, install and git checkout. */
static bool save_install(const char *path, const struct text *text)
{
	int fd;
	bool saved;

	if (!remove_file(path))
		return false;
	fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return false;
	saved = write_text(fd, path, text);
	CALL(OP_FCHMOD, path, fchmod(fd, 0644));
	CALL(OP_UTIMES, path, futimens(fd, NULL));
	return close_file(fd, path) && saved;
}

/* ---- through a mapping ---- */

struct mapping {
	char *at;
	const struct text *text;
};

static void fill_mapping(void *context)
{
	const struct mapping *mapping = context;

	memcpy(mapping->at, mapping->text->bytes, mapping->text->length);
}

/* Opens F, sets the size of the text, and maps F. Returns -1 if one of these fails. */
static int map_file(struct mapping *mapping, const char *path)
{
	size_t length = mapping->text->length;
	int fd = open_file(path, O_RDWR, 0);
	void *at;

	if (fd < 0)
		return -1;
	if (CALL(OP_TRUNCATE, path, ftruncate(fd, (off_t)length)) == 0) {
		at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED) {
			mapping->at = at;
			return fd;
		}
		account(OP_MMAP, path, errno);
	}
	close_file(fd, path);
	return -1;
}

static bool fill(struct mapping *mapping, const char *path)
{
	call_begins(OP_MAPPED, path);
	bool whole = without_sigbus(fill_mapping, mapping);
	call_ends(OP_MAPPED, path, 0);
	if (!whole)
		account(OP_MAPPED, path, NUMBER_SIGBUS);
	return whole;
}

static bool save_mmap(const char *path, const struct text *text)
{
	struct mapping mapping = {.text = text};
	int fd = map_file(&mapping, path);
	bool saved;

	if (fd < 0)
		return false;
	saved = fill(&mapping, path);
	munmap(mapping.at, text->length);
	return close_file(fd, path) && saved;
}

static bool save_mmap_close_first(const char *path, const struct text *text)
{
	struct mapping mapping = {.text = text};
	int fd = map_file(&mapping, path);
	bool saved;

	if (fd < 0)
		return false;
	close_file(fd, path);
	saved = fill(&mapping, path);
	munmap(mapping.at, text->length);
	return saved;
}

static bool save_msync(const char *path, const struct text *text)
{
	struct mapping mapping = {.text = text};
	int fd = map_file(&mapping, path);
	bool saved;

	if (fd < 0)
		return false;
	saved = fill(&mapping, path) &&
		CALL(OP_SYNC, path, msync(mapping.at, text->length, MS_SYNC)) == 0;
	munmap(mapping.at, text->length);
	return close_file(fd, path) && saved;
}

const struct habit habits[] = {
	{"sh", save_sh, IN_PLACE},
	{"group", save_group, IN_PLACE},
	{"append", save_append, IN_PLACE},
	{"rows", save_rows, IN_PLACE | EVENTUAL | UNSURE | ROWS},
	{"rows-beside", save_rows_beside, REPLACES},
	{"tee", save_tee, IN_PLACE},
	{"cp", save_cp, IN_PLACE},
	{"nano", save_nano, IN_PLACE},
	{"vscode", save_vscode, IN_PLACE},
	{"rsync-inplace", save_rsync_inplace, IN_PLACE},
	{"sed", save_sed, REPLACES},
	{"sed-bak", save_sed_bak, REPLACES | GAP},
	{"perl", save_perl, REPLACES},
	{"perl-bak", save_perl_bak, REPLACES},
	{"rsync", save_rsync, REPLACES},
	{"mv", save_mv, REPLACES},
	{"glib", save_glib, REPLACES},
	{"office", save_office, REPLACES},
	{"vim", save_vim, GAP | IN_PLACE},
	{"nvim", save_nvim, GAP | IN_PLACE},
	{"vim-copy", save_vim_copy, IN_PLACE},
	{"emacs", save_emacs, GAP | IN_PLACE},
	{"install", save_install, GAP | IN_PLACE},
	{"mmap", save_mmap, IN_PLACE},
	{"mmap-close-first", save_mmap_close_first, IN_PLACE | EVENTUAL},
	{"msync", save_msync, IN_PLACE},
	{NULL, NULL, 0},
};
